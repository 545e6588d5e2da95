"""The terminal: whatever is printed through it is shown as it is written, and steers nothing.

Words from plans, labels and files are not markup: only `styled` gives colour, and no control character gets through.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from guessproof.plain import plain, plain_lines


class Screen(Console):
    """A console without markup, emoji codes or highlighting; strings become one line each."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """A string as it is written; only our own empty lines before and after it stay."""
        inner = text.strip("\n")
        before, after = text.partition(inner)[::2] if inner else (text, "")
        return super().render_str(f"{before}{plain(inner)}{after}", **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Every piece of text on its way out, whatever it was made of."""
        for segment in super().render(renderable, options):
            clean = segment.is_control or segment.text.isprintable()
            yield segment if clean else Segment(plain_lines(segment.text), segment.style)


def styled(text: object, style: str) -> Text:
    """Text of our own colour."""
    return Text(plain(text), style)
