"""The calibration plot of an audit: what was predicted against what was measured."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import altair as alt

from guessproof.auditing import Audit
from guessproof.charts.rows import data_of
from guessproof.outputs import Kept, check_output, write_output

INK, QUIET, SAFE, ALARM = "#1f3a5f", "#8a94a3", "#2a9d8f", "#c8553d"
SHADES = [SAFE, INK, "#e9a23b", "#7a5c99", ALARM, "#5b8c5a"]
SIZE = 280
FORMS = ("svg", "png", "html")


def calibration(found: Audit, *, title: str = "") -> Any:
    """Left: measured against predicted probabilities. Right: by how much they differ, with 99 % intervals.

    A sound release has its points on the line; each interval misses it once in a hundred times by chance.
    """
    rows = [
        {
            "series": p.series,
            "predicted": p.predicted,
            "measured": p.measured,
            "low": p.low,
            "high": p.high,
            "off": p.measured - p.predicted,
            "off_low": p.low - p.predicted,
            "off_high": p.high - p.predicted,
            "trials": p.trials,
        }
        for p in found.points
    ]
    words = "measured as predicted" if found.passed else "NOT as promised: " + "; ".join(c.name for c in found.failures)
    heading = alt.TitleParams(
        title or "An attacker's success and the noise, predicted and measured",
        subtitle=f"{words} ({found.trials:,} draws, ε = {found.epsilon:.4g})",
        subtitleColor=SAFE if found.passed else ALARM,
        anchor="start",
    )
    return alt.hconcat(_against(rows), _difference(rows)).properties(title=heading)


def _colour(rows: list[dict[str, Any]]) -> Any:
    names = list(dict.fromkeys(row["series"] for row in rows))
    shades = [SHADES[i % len(SHADES)] for i in range(len(names))]
    legend = alt.Legend(orient="bottom", direction="vertical", labelLimit=2 * SIZE, symbolSize=70)
    return alt.Color("series:N", title=None, scale=alt.Scale(domain=names, range=shades), legend=legend)


def _x(title: str) -> Any:
    return alt.X("predicted:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5))


def _against(rows: list[dict[str, Any]]) -> Any:
    x, colour = _x("predicted"), _colour(rows)
    y = alt.Y("measured:Q", title="measured", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5))
    ends = data_of([{"predicted": 0, "measured": 0}, {"predicted": 1, "measured": 1}])
    line = alt.Chart(ends).mark_line(color=QUIET, strokeDash=[4, 4], strokeWidth=1).encode(x=x, y=y)
    points = alt.Chart(data_of(rows)).mark_point(filled=True, size=45, opacity=0.9).encode(x=x, y=y, color=colour)
    return (line + points).properties(width=SIZE, height=SIZE)


def _difference(rows: list[dict[str, Any]]) -> Any:
    x, colour = _x("predicted"), _colour(rows)
    reach = 1.1 * max((max(abs(r["off_low"]), abs(r["off_high"])) for r in rows), default=0.01)
    scale = alt.Scale(domain=[-reach, reach], nice=False)
    axis = alt.Axis(format="+.2~%", tickCount=6)
    title = "measured − predicted, with 99 % interval"
    y = alt.Y("off:Q", title=title, scale=scale, axis=axis)
    data = data_of(rows)
    zero = alt.Chart(data_of([{"off": 0}])).mark_rule(color=QUIET, strokeDash=[4, 4]).encode(y=y)
    bars = (
        alt.Chart(data)
        .mark_rule(strokeWidth=1.5)
        .encode(x=x, y=alt.Y("off_low:Q", scale=scale, title=title, axis=axis), y2="off_high:Q", color=colour)
    )
    points = alt.Chart(data).mark_point(filled=True, size=30, opacity=1).encode(x=x, y=y, color=colour)
    return alt.layer(zero, bars, points).properties(width=SIZE, height=SIZE)


def check_chart(path: str, kept: Iterable[Kept] = ()) -> Path:
    """Refuse a file name that no chart can have, before anything is computed."""
    return check_output("chart", path, [f".{form}" for form in FORMS], kept)


def save(found: Audit, path: str, *, title: str = "", kept: Iterable[Kept] = ()) -> None:
    """Write the plot as SVG, PNG or HTML, without a browser or a network."""
    target = check_chart(path, kept)
    form = target.suffix.lower().lstrip(".")
    picture = io.BytesIO() if form == "png" else io.StringIO()
    calibration(found, title=title).save(picture, format=form, **({"inline": True} if form == "html" else {}))
    content = picture.getvalue()
    write_output(target, content if isinstance(content, bytes) else content.encode(), field="chart")
