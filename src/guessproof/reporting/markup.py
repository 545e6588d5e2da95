"""HTML from plain functions: everything that is text is escaped, unless it is markup already."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

EMPTY = frozenset({"meta", "br", "hr", "img"})
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_GLUED = re.compile(r" ?± (?=\d)|[εδ] [=≤≥] (?=\d)")
SHORT = 12  # rows up to which a table is not torn apart in print


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Piece = Markup | str | None


def text(value: Any) -> Markup:
    """A value as text; what no document may hold becomes a visible mark.

    >>> text("a < b & \\x00")
    'a &lt; b &amp; �'
    """
    if isinstance(value, Markup):
        return value
    shown = "".join(c if _allowed(c) else "�" for c in str(value))
    return Markup(escape(shown, quote=True))


def _allowed(character: str) -> bool:
    """No control characters, no halves of pairs, and nothing that turns the direction of the text around."""
    code = ord(character)
    if code < 0x20 or 0x7F <= code < 0xA0:
        return character in "\n\t"
    steering = 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069 or code in (0x200E, 0x200F)
    return not (0xD800 <= code <= 0xDFFF or code & 0xFFFE == 0xFFFE or steering)


def tag(name: str, /, *content: Piece, **attributes: str | bool | None) -> Markup:
    """One element. ``class_`` is class, ``aria_label`` is aria-label; None and False leave an attribute out.

    >>> tag("p", "1 < 2", tag("br"), class_="note")
    '<p class="note">1 &lt; 2<br></p>'
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        spelled = key.rstrip("_").replace("_", "-")
        parts.append(f" {spelled}" if value is True else f' {spelled}="{text(value)}"')
    parts.append(">")
    if name in EMPTY:
        return Markup("".join(parts))
    return Markup("".join(parts) + join(content) + f"</{name}>")


def join(pieces: Iterable[Piece], between: str = "") -> Markup:
    """Pieces one after the other; None is nothing."""
    return Markup(between.join(text(piece) for piece in pieces if piece is not None))


def prose(piece: Piece) -> Piece:
    """Running text in which no line ends within a date, before an error, or around an equals sign of a number.

    >>> prose("on 2030-01-02: 4 ± 1, at ε = 2")
    'on <span class="whole">2030-01-02</span>: 4\xa0±\xa01, at ε\xa0=\xa02'
    """
    if piece is None or isinstance(piece, Markup):
        return piece
    glued = _GLUED.sub(lambda found: found[0].replace(" ", "\xa0"), piece)
    return Markup(_DATE.sub(r'<span class="whole">\g<0></span>', text(glued)))


def paragraph(*content: Piece, class_: str | None = None) -> Markup:
    """A paragraph."""
    return tag("p", *map(prose, content), class_=class_)


def bullets(items: Iterable[Piece]) -> Markup:
    """A list."""
    return tag("ul", *(tag("li", prose(item)) for item in items))


def table(
    caption: Piece, heads: Sequence[Piece], rows: Iterable[Sequence[Piece]], *, numbers: Sequence[int] = ()
) -> Markup:
    """A table with a caption; the first cell of a row is its header, columns in `numbers` are set to the right.

    On a narrow screen each row becomes a block in which every cell is preceded by the head of its column.
    """
    kinds = ["number" if index in numbers else None for index in range(len(heads))]
    top = tag("tr", *(tag("th", head, scope="col", class_=kind) for head, kind in zip(heads, kinds, strict=True)))
    body: list[Markup] = []
    for row in rows:
        cells = [
            tag("th", prose(cell), scope="row", class_=kind)
            if index == 0
            else tag("td", prose(cell), class_=kind, data_head=_plain(heads[index]))
            for index, (cell, kind) in enumerate(zip(row, kinds, strict=True))
        ]
        body.append(tag("tr", *cells))
    inner = [tag("caption", caption) if caption else None, tag("thead", top), tag("tbody", *body)]
    return tag("table", *inner, class_="short" if len(body) <= SHORT else None)


def _plain(head: Piece) -> str:
    return "" if head is None else str(head)


def data_block(value: Any, name: str) -> Markup:
    """A block of JSON that no text inside it can end.

    >>> data_block({"a": "</script>"}, "x")
    '<script type="application/json" id="x">{"a":"\\\\u003c/script\\\\u003e"}</script>'
    """
    plain = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        plain = plain.replace(character, f"\\u{ord(character):04x}")
    return tag("script", Markup(plain), type="application/json", id=name)
