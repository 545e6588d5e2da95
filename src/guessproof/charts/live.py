"""Charts that are drawn once and then only get other rows: those of the page. Every dataset has a name.

A chart is its rows and its drawing. Rows are plain numbers and take microseconds; the drawing is an Altair chart like
any other, and `apart` parts the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import numpy as np

from guessproof.charts.rows import data_of
from guessproof.mechanisms import Mechanism

INK, QUIET, SAFE, ALARM, PALE = "#1f3a5f", "#8a94a3", "#2a9d8f", "#c8553d", "#d9dfe3"
Row = dict[str, Any]
HEIGHT = 220
_PERCENT = alt.Axis(format="~%", tickCount=5)


@dataclass(frozen=True)
class Drawing:
    """A drawing without rows, and its rows by name."""

    spec: Row
    rows: dict[str, list[Row]] = field(default_factory=dict[str, list[Row]])


def apart(chart: Any) -> Drawing:
    """Rows taken out of a chart: each dataset stays by its name, or gets one."""
    spec = chart if isinstance(chart, dict) else chart.to_dict(validate=False)
    rows: dict[str, list[Row]] = dict(spec.pop("datasets", {}))
    return Drawing(_emptied(spec, rows), rows)


def _emptied(value: Any, rows: dict[str, list[Row]]) -> Any:
    if isinstance(value, list):
        return [_emptied(item, rows) for item in value]
    if not isinstance(value, dict):
        return value
    found: Row = {}
    for key, item in value.items():
        if key == "data" and isinstance(item, dict) and "values" in item:
            name = item.get("name") or f"rows{len(rows)}"
            rows[name] = item["values"]
            found[key] = {"name": name}
        else:
            found[key] = _emptied(item, rows)
    return found


def _rows(name: str, rows: Sequence[Row]) -> Any:
    return data_of(rows, name=name)


def _chart(name: str, rows: Sequence[Row]) -> Any:
    return alt.Chart(_rows(name, rows))


def gains(curve: Sequence[Row], mark: Sequence[Row], unit: str) -> Any:
    """What an attacker can believe and gain at every ε; rows with epsilon, belief, gain and reached (by an attack)."""
    # Scales that hold still while the mark moves: only then is the mark alone drawn anew.
    end = max((row["epsilon"] for row in curve), default=1.0)
    reach = alt.param(name="reach", expr=f"length(data('mark')) ? max({end!r}, data('mark')[0].epsilon) : {end!r}")
    ends: Any = [0, alt.ExprRef("reach")]
    wide = alt.Scale(nice=False, domain=ends)
    high = alt.Scale(domain=[0, 1])
    marks = alt.Axis(tickCount=6, labelFlush=False, labelOverlap=True, labelSeparation=8)
    x = alt.X("epsilon:Q", title=f"ε {unit}".strip(), axis=marks, scale=wide)
    y = alt.Y("belief:Q", title="probability", axis=_PERCENT, scale=high)
    gain, at = alt.Y("gain:Q", scale=high), alt.X("epsilon:Q", scale=wide)
    base = _chart("curve", curve)
    tips = [
        alt.Tooltip("epsilon:Q", title="ε", format=".4~g"),
        alt.Tooltip("belief:Q", title="belief after, at most", format=".2%"),
        alt.Tooltip("gain:Q", title="advantage, at most", format=".2%"),
        alt.Tooltip("reached:Q", title="an attack reaches", format=".2%"),
    ]
    believed = base.mark_line(color=INK, strokeWidth=2.5).encode(x=x, y=y, tooltip=tips)
    gained = base.mark_line(color=SAFE, strokeWidth=2.5).encode(x=x, y=gain, tooltip=tips)
    attack = base.mark_line(color=ALARM, strokeWidth=1.2, strokeDash=[2, 3]).encode(
        x=x, y=alt.Y("reached:Q", scale=high)
    )
    chosen = _chart("mark", mark)
    others = _published(x, y)
    rule = chosen.mark_rule(color=QUIET, strokeDash=[4, 3]).encode(x=at)
    tops = chosen.mark_point(filled=True, size=80, opacity=1, color=INK).encode(x=at, y=alt.Y("belief:Q", scale=high))
    lows = chosen.mark_point(filled=True, size=80, opacity=1, color=SAFE).encode(x=at, y=gain)
    drawn = alt.layer(others, believed, gained, attack, rule, tops, lows).add_params(reach)
    return drawn.properties(width="container", height=HEIGHT)


def _published(x: Any, y: Any) -> Any:
    """Bounds of published works, laid over on demand: rows epsilon, belief, method, words, and whether they hold."""
    colour = alt.condition("datum.holds", alt.value(QUIET), alt.value(ALARM))
    tips = [
        alt.Tooltip("method:N", title="published"),
        alt.Tooltip("words:N", title="here"),
        alt.Tooltip("epsilon:Q", title="ε", format=".4~g"),
        alt.Tooltip("belief:Q", title="belief after, at most", format=".2%"),
    ]
    lines = _chart("published", []).mark_line(strokeWidth=1.6, strokeDash=[7, 4], clip=True)
    return lines.encode(x=x, y=y, detail="method:N", color=colour, tooltip=tips)


def beliefs(before: Sequence[Row], after: Sequence[Row], output: Sequence[Row], name: str) -> Any:
    """The density before (rows x, density, inside the goal or not, in which piece of it) and after one output."""
    x = alt.X("x:Q", title=name, axis=alt.Axis(tickCount=6, grid=False), scale=alt.Scale(nice=False))
    axis = alt.Axis(labels=False, ticks=False, domain=False, grid=False)
    y = alt.Y("density:Q", title=None, axis=axis, stack=None)
    tips = [alt.Tooltip("x:Q", title=name, format=".4~g"), alt.Tooltip("density:Q", format=".3~g")]
    base = _chart("before", before)
    goal = base.transform_filter("datum.inside").mark_area(color=ALARM, opacity=0.28)
    goal = goal.encode(x=x, y=y, detail="piece:N")  # two pieces of a goal are two areas
    was = base.mark_line(color=QUIET, strokeWidth=2).encode(x=x, y=y, tooltip=tips)
    now = _chart("after", after).mark_line(color=INK, strokeWidth=2.5).encode(x=x, y=y, tooltip=tips)
    seen = _chart("output", output).mark_rule(color=SAFE, strokeWidth=2).encode(x="x:Q")
    return alt.layer(goal, was, now, seen).properties(width="container", height=HEIGHT)


def shares(rows: Sequence[Row], name: str) -> Any:
    """What is believed of labels (rows value, share, inside the goal or not)."""
    y = alt.Y(
        "value:N", title=name, sort=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8, labelLimit=110)
    )
    x = alt.X("share:Q", title="believed", axis=_PERCENT)
    colour = alt.condition("datum.inside", alt.value(ALARM), alt.value(QUIET))
    tips = [alt.Tooltip("value:N", title=name), alt.Tooltip("share:Q", format=".2%")]
    drawn = _chart("before", rows).mark_bar(height=16, cornerRadius=3, opacity=0.7)
    return drawn.encode(x=x, y=y, color=colour, tooltip=tips).properties(width="container", height=alt.Step(26))


def noise(density: Sequence[Row], unit: str) -> Any:
    """How far noise moves an answer: rows z, density, inside (the usual band) or not."""
    x = alt.X("z:Q", title=f"noise{unit}", axis=alt.Axis(tickCount=7), scale=alt.Scale(nice=False, zero=False))
    y = alt.Y("density:Q", title=None, axis=alt.Axis(labels=False, ticks=False, domain=False, grid=False))
    tips = [alt.Tooltip("z:Q", title="noise", format=".4~g"), alt.Tooltip("density:Q", format=".3~g")]
    base = _chart("density", density)
    band = base.transform_filter("datum.inside").mark_area(color=SAFE, opacity=0.25).encode(x=x, y=y)
    line = base.mark_line(color=INK, strokeWidth=2.5).encode(x=x, y=y, tooltip=tips)
    return alt.layer(band, line).properties(width="container", height=HEIGHT)


def noise_rows(mechanism: Mechanism, confidence: float, points: int = 81) -> list[Row]:
    """The density of noise, in units of the answer."""
    error = mechanism.error(confidence=confidence)
    end = max(1.9 * error, 3 * mechanism.scale)
    if mechanism.is_whole:
        reach = int(np.ceil(end))
        z = np.unique(np.round(np.linspace(-reach, reach, min(points, 2 * reach + 1))))
        values = mechanism.mass(z)  # pyright: ignore[reportAttributeAccessIssue]
    else:
        half = np.sort(np.append(np.linspace(0, end, points // 2 + 1), error))  # as many at every ε
        z = np.concatenate([-half[:0:-1], half])
        values = mechanism.density(z)  # pyright: ignore[reportAttributeAccessIssue]
    return [
        {"z": float(a), "density": float(d), "inside": bool(abs(a) <= error)} for a, d in zip(z, values, strict=True)
    ]


def errors(curve: Sequence[Row], mark: Sequence[Row], wanted: Sequence[Row]) -> Any:
    """The error of an answer at every ε, the chosen one, and what is wanted (rows epsilon, error)."""
    ticks = [m * 10.0**k for k in range(-9, 12) for m in (1, 2, 5)]
    axis = alt.Axis(values=ticks, format="~g", labelOverlap=True, labelSeparation=6)
    x = alt.X("epsilon:Q", title="ε", scale=alt.Scale(type="log", nice=False), axis=axis)
    y = alt.Y("error:Q", title="error, ±", scale=alt.Scale(type="log", nice=False), axis=axis)
    tips = [alt.Tooltip("epsilon:Q", title="ε", format=".4~g"), alt.Tooltip("error:Q", title="error ±", format=".4~g")]
    line = _chart("curve", curve).mark_line(color=INK, strokeWidth=2.5).encode(x=x, y=y, tooltip=tips)
    level = _chart("wanted", wanted).mark_rule(color=QUIET, strokeDash=[4, 4]).encode(y="error:Q")
    point = (
        _chart("mark", mark).mark_point(filled=True, size=90, opacity=1, color=SAFE).encode(x="epsilon:Q", y="error:Q")
    )
    layers = [level, line, point] if wanted else [line, point]
    return alt.layer(*layers).properties(width="container", height=HEIGHT)


def room(bars: Sequence[Row], ends: Sequence[Row], chosen: Sequence[Row], count: int) -> Any:
    """What each limit and target allows on one axis of ε: rows from, to, what; ends frame the axis."""
    ticks = [m * 10.0**k for k in range(-9, 12) for m in (1, 2, 5)]
    x = alt.X(
        "from:Q",
        title="ε (larger: less noise, less protection)",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=ticks, format="~g", labelOverlap=True, labelSeparation=6),
    )
    y = alt.Y("what:N", title=None, sort=None, axis=alt.Axis(ticks=False, domain=False, labelPadding=8, labelLimit=110))
    frame = _chart("ends", ends).mark_point(opacity=0).encode(x=x)
    colour = alt.condition("datum.fits", alt.value(SAFE), alt.value(ALARM))
    tips = [
        alt.Tooltip("what:N", title="from"),
        alt.Tooltip("words:N", title="ε"),
        alt.Tooltip("how:N", title="because"),
    ]
    bar = _chart("bars", bars).mark_bar(height=16, opacity=0.45, cornerRadius=3)
    rule = _chart("chosen", chosen).mark_rule(color=INK, strokeWidth=2, strokeDash=[4, 3]).encode(x="from:Q")
    drawn = bar.encode(x=x, x2="to:Q", y=y, color=colour, tooltip=tips)
    return alt.layer(frame, drawn, rule).properties(width="container", height=max(60, 34 * count))
