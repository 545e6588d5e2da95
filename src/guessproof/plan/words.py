"""Words for errors: the name that was meant, values without secrets, keys as TOML spells them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from guessproof.world.kinds import label_of

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_ADDRESS = re.compile(r"(?i)([a-z][a-z0-9+.-]*://).*@")
_LOGIN = re.compile(r"(?m)(^|[\s\"'])[^\s:/@\"']+:[^\s/@\"']+@")
_PASSWORD = re.compile(r"(?i)\b(password|passwd|pwd|token|secret)(\s*[=:]\s*)('[^']*'|[^\s;&'\"]+)")


def close_name(name: str, known: Iterable[str], otherwise: str) -> str:
    """The known name that was probably meant, as a question; otherwise a general hint.

    >>> close_name("sorce", ["name", "source"], "use one of name, source")
    'did you mean source?'
    """
    names = list(known)
    folded = {n.casefold(): n for n in reversed(names)}
    close = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.6)
    return f"did you mean {folded[close[0]]}?" if close else otherwise


def dotted(path: Iterable[str | int]) -> str:
    """A path of keys as TOML spells it.

    >>> dotted(("columns", "my time", "bounds", 1))
    'columns."my time".bounds[1]'
    """
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            shown = key if _BARE.match(key) else '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
            text += f".{shown}" if text else shown
    return text


def redacted(value: Any) -> Any:
    """The same value without what looks like a password, so that an error can show it.

    >>> redacted("postgresql://me:secret@host/db")
    'postgresql://***@host/db'
    """
    if isinstance(value, str):
        return _PASSWORD.sub(r"\1\2***", _LOGIN.sub(r"\1***@", _ADDRESS.sub(r"\1***@", value)))
    if isinstance(value, Mapping):
        return {redacted(key): redacted(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redacted(item) for item in value]
    return value


def is_secret(text: str) -> bool:
    """Whether a text looks like a connection string rather than the name of a file."""
    return "://" in text or redacted(text) != text


def underlined(text: str, start: int, end: int) -> str:
    """The line of a text that holds a place, with the place marked below it."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : len(text) if last < 0 else last]
    width = max(1, min(end, first + len(line)) - start)
    return f"\n  {line}\n  {' ' * (start - first)}{'^' * width}"


def spelling(value: Any) -> str:
    """A value as a plan spells it.

    >>> spelling(True), spelling(2.0), spelling("math")
    ('true', '2', 'math')
    """
    return label_of(value)


def spells(text: str, value: Any) -> bool:
    """Whether a text names a value: the same text, or the same number however it is written."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return text == spelling(value)
