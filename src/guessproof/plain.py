"""Text from outside made harmless: the one door to terminals, messages and JSON.

Names, labels, queries and file names are other people's words. Some characters steer a terminal (ESC and the C1 set),
turn the direction of writing or hide themselves; none of them leaves the program as such.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

BREAKS = "\n\r\t\v\f\x85\u2028\u2029"
UNSEEN = "\N{REPLACEMENT CHARACTER}"


def plain(text: object) -> str:
    """One line of characters that can be seen; as many of them as there were.

    >>> print(plain("name\\x1b[31m\\nnext line \\u202e"))
    name�[31m next line �
    """
    said = str(text)
    return said if said.isprintable() else "".join(map(_shown, said))


def _shown(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    return " " if character in BREAKS else UNSEEN


def plain_lines(text: object) -> str:
    """The same for text of several lines that are our own."""
    return "\n".join(map(plain, str(text).split("\n")))


def table_html(caption: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A small table for notebooks; nothing in it is taken for markup.

    >>> table_html("a < b", ["x"], [["<i>"]])
    '<table><caption>a &lt; b</caption><tr><th>x</th></tr><tr><td>&lt;i&gt;</td></tr></table>'
    """
    lines = [_row("th", heads), *(_row("td", row) for row in rows)]
    return f"<table><caption>{escape(plain(caption))}</caption>{''.join(lines)}</table>"


def _row(tag: str, cells: Sequence[object]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(plain(cell))}</{tag}>" for cell in cells) + "</tr>"


def json_text(table: Any) -> str:
    """JSON that any parser reads and any terminal can show: numbers that are none are null.

    >>> json_text({"name": "a\\u202eb\\x7f", "value": float("nan"), "ε": 1})
    '{\\n  "name": "a\\\\u202eb\\\\u007f",\\n  "value": null,\\n  "ε": 1\\n}'
    """
    text = json.dumps(_finite(table), indent=2, ensure_ascii=False, default=str, allow_nan=False)
    return text if text.isascii() and "\x7f" not in text else _UNPRINTABLE.sub(_escaped, text)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value


_UNPRINTABLE = re.compile(r"[^\n -~]")


def _escaped(match: re.Match[str]) -> str:
    character = match.group()
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))
