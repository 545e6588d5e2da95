"""How well a test can tell two neighbouring tables apart: TPR against FPR, as the field draws it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from guessproof.charts.mechanisms import HEIGHT, INK, QUIET, SAFE, SHADES, WIDTH
from guessproof.charts.rows import data_of
from guessproof.mechanisms.words import OtherWords
from guessproof.rounded import percent_up

LEAST = 1e-4  # the smallest false positive rate that is drawn
MARKED = (0.001, 0.01)
POINTS = 121


def tradeoff_curves(words: Mapping[str, OtherWords], *, title: str = "", width: int = WIDTH) -> Any:
    """A curve for each entry, this release or a whole ledger: what no test exceeds; the first has its rates marked.

    >>> from guessproof.mechanisms.laplace import Laplace
    >>> from guessproof.mechanisms.words import other_words
    >>> chart = tradeoff_curves({"this release": other_words([Laplace(1, 0.5)])})
    >>> len(chart.to_dict()["layer"])
    8
    """
    rates = np.geomspace(LEAST, 1.0, POINTS)
    rows = [{"fpr": float(a), "tpr": w.tpr(float(a)), "of": n} for n, w in words.items() for a in rates]
    x, y = _axis("x", "fpr", "false positive rate"), _axis("y", "tpr", "true positive rate, at most")
    kinds = alt.Scale(domain=list(words), range=[INK, SAFE, *SHADES[2:]][: len(words)])
    legend = alt.Legend(title=None, orient="top-left", symbolType="stroke") if len(words) > 1 else None
    lines = (
        alt.Chart(data_of(rows))
        .mark_line(strokeWidth=2.5)
        .encode(x=x, y=y, color=alt.Color("of:N", scale=kinds, legend=legend))
    )
    guess = [{"fpr": LEAST, "tpr": LEAST}, {"fpr": 1.0, "tpr": 1.0}]
    blind = alt.Chart(data_of(guess)).mark_line(color=QUIET, strokeDash=[4, 4]).encode(x=x, y=y)
    named = (
        alt.Chart(data_of([{"fpr": 2 * LEAST, "tpr": 2 * LEAST, "text": "a guess without the release"}]))
        .mark_text(color=QUIET, align="left", dx=8, dy=10)
        .encode(x=x, y=y, text="text:N")
    )
    first = next(iter(words.values()))
    marks = [{"fpr": a, "tpr": first.tpr(a), "text": f"{percent_up(first.tpr(a), 2)} at {100 * a:g} %"} for a in MARKED]
    points = alt.Chart(data_of(marks)).encode(x=x, y=y).mark_point(color=INK, filled=True, size=70, opacity=1)
    labels = [layer for i, mark in enumerate(marks) for layer in _told(mark, x, y, 13 + 16 * (len(marks) - 1 - i))]
    heading = alt.TitleParams(title or "What a test can tell", anchor="start")
    layers = (blind, named, lines, *labels, points)
    return alt.layer(*layers).properties(width=width, height=HEIGHT, title=heading)


def _told(mark: dict[str, Any], x: Any, y: Any, below: int) -> tuple[Any, Any]:
    """A rate beside its point, each on a line of its own; white behind it, for the dashed line may be near."""
    base = alt.Chart(data_of([mark])).encode(x=x, y=y, text="text:N")
    place: dict[str, Any] = {"align": "left", "dx": 9, "dy": below}
    return base.mark_text(color="white", stroke="white", strokeWidth=5, **place), base.mark_text(color=INK, **place)


def _axis(channel: str, field: str, title: str) -> Any:
    make = alt.X if channel == "x" else alt.Y
    ticks = [10.0**k for k in range(-4, 1)]
    axis = alt.Axis(values=ticks, format="~%", grid=True, gridOpacity=0.3)
    return make(f"{field}:Q", title=title, scale=alt.Scale(type="log", domain=[LEAST, 1.0]), axis=axis)
