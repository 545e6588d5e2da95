"""Figures of the page: each drawn twice, for a wide and for a narrow screen; the page shows one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guessproof.charts.plan import NARROW, WIDE, inline
from guessproof.reporting.markup import Markup, Piece, tag

WIDTHS = {"wide": WIDE, "narrow": NARROW}


def figure(name: str, draw: Callable[[int], Any], label: str, caption: Piece) -> Markup:
    """A picture at both widths. `draw` gives a chart, or SVG that is complete already."""
    drawn = {kind: _drawn(draw(width), f"{name}-{kind}", label) for kind, width in WIDTHS.items()}
    pictures = [tag("div", Markup(svg), class_=kind) for kind, svg in drawn.items()]
    return tag("figure", *pictures, tag("figcaption", caption), id=f"figure-{name}")


def _drawn(made: Any, name: str, label: str) -> str:
    return made if isinstance(made, str) else inline(made, name, label)
