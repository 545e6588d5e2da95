"""What a column can hold: one kind each."""

from __future__ import annotations

from typing import Any, Literal

Kind = Literal["number", "label", "truth", "time"]
KINDS: tuple[Kind, ...] = ("number", "label", "truth", "time")
HOLDS: dict[Kind, str] = {
    "number": "numbers",
    "label": "labels",
    "truth": "truth values",
    "time": "times",
}


def label_of(value: Any) -> str:
    """A value as the text that stands for it.

    >>> label_of(True), label_of(2), label_of(2.0), label_of("math")
    ('true', '2', '2', 'math')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def spells(text: str, value: Any) -> bool:
    """Whether a text names a value: the same text, or the same number however it is written."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return text == label_of(value)
