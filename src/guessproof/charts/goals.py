"""The goal drawn on the prior: an AND is a box, an OR is a cross, a location is a disc."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from guessproof.risk.attack import Attack
from guessproof.world.attributes import joint_of
from guessproof.world.finite import Finite
from guessproof.world.goals import And, Compound, Goal, Not, Together
from guessproof.world.joint import JointTable
from guessproof.world.line import LinePrior

INK, QUIET, GOAL = "#1f3a5f", "#8a94a3", "#d1495b"
_POINTS = 240
_LEVELS = 40


def goal_on_prior(attack: Attack, *, title: str, points: int = _POINTS) -> Any:
    """Two attributes: how likely each combination is, and which combinations count as a correct guess.

    Finite attributes give a table with the goal's cells framed, numbers a map with the goal's region drawn in, a number
    and a label a strip for each label.
    """
    names = [a.name for a in attack.goal.attributes]
    if len(names) != 2:
        raise ValueError(f"a goal is drawn for two attributes, this one has {len(names)}")
    if all(isinstance(a.prior, Finite) for a in attack.goal.attributes):
        return _table(attack, title)
    if any(isinstance(a.prior, Finite) for a in attack.goal.attributes):
        return _strips(attack, title, points)
    return _map(attack, title, points)


def _table(attack: Attack, title: str) -> Any:
    first, second = attack.goal.attributes
    rows = [
        {
            "x": str(x),
            "y": str(y),
            "probability": _joint_weight(attack, x, y),
            "correct": bool(_met(attack.goal, {first.name: x, second.name: y}, dict(attack.at or {}))),
        }
        for x in _values(first)
        for y in _values(second)
    ]
    x = alt.X("x:N", title=first.name, sort=None, axis=alt.Axis(labelAngle=0, orient="top", domain=False, ticks=False))
    y = alt.Y("y:N", title=second.name, sort=None, axis=alt.Axis(domain=False, ticks=False, labelPadding=8))
    base = alt.Chart(alt.Data(values=rows))
    cells = base.mark_rect(stroke="white", strokeWidth=3).encode(
        x=x,
        y=y,
        color=alt.Color(
            "probability:Q",
            title="prior",
            scale=alt.Scale(range=["#f3f6fa", "#6f8fb5"], domainMin=0, interpolate="rgb"),
            legend=alt.Legend(format=".0%", tickCount=4),
        ),
    )
    frames = (
        base.transform_filter(alt.datum.correct).mark_rect(fillOpacity=0, stroke=GOAL, strokeWidth=3.5).encode(x=x, y=y)
    )
    words = base.mark_text(color=INK, fontSize=13).encode(x=x, y=y, text=alt.Text("probability:Q", format=".1%"))
    picture = (cells + frames + words).properties(
        width=120 * len({r["x"] for r in rows}), height=46 * len({r["y"] for r in rows})
    )
    return _finished(picture, title, attack)


def _map(attack: Attack, title: str, points: int) -> Any:
    first, second = attack.goal.attributes
    windows = [_window(a, attack) for a in (first, second)]
    edges = [np.linspace(low, high, points + 1) for low, high in windows]
    middles = [(e[1:] + e[:-1]) / 2 for e in edges]
    height = _heights(first, second, middles, edges[1])
    gx, gy = np.meshgrid(*middles, indexing="ij")
    inside = np.broadcast_to(_met(attack.goal, {first.name: gx, second.name: gy}, dict(attack.at or {})), gx.shape)
    x = alt.X("x:Q", title=first.name, scale=alt.Scale(domain=list(windows[0]), nice=False, clamp=True))
    y = alt.Y("y:Q", title=second.name, scale=alt.Scale(domain=list(windows[1]), nice=False, clamp=True))
    shade = (
        alt.Chart(alt.Data(values=_runs(edges, np.rint(height * _LEVELS).astype(int), inside)))
        .mark_rect(strokeWidth=0)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=alt.Color("colour:N", scale=None))
    )
    layers = [shade]
    if attack.at:
        truth = [{"x": float(attack.at[first.name]), "y": float(attack.at[second.name])}]
        mark = alt.Chart(alt.Data(values=truth)).mark_point(shape="cross", color=INK, filled=True, opacity=1, size=90)
        layers.append(mark.encode(x=x, y=y))
    return _finished(alt.layer(*layers).properties(width=380, height=380), title, attack)


def _strips(attack: Attack, title: str, points: int) -> Any:
    """A number along the strips, a strip for each label: as dark as it is likely, red where a guess is right."""
    number, label = sorted(attack.goal.attributes, key=lambda a: isinstance(a.prior, Finite))
    low, high = _window(number, attack)
    edges = np.linspace(low, high, points + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    values, truth = _values(label), dict(attack.at or {})
    finite: Any = label.prior
    weights = np.array([finite.weights[finite.index(v)] for v in values])
    height = np.multiply.outer(np.exp(_line(number).log_density(middles)), weights)
    level = np.rint(height / height.max() * _LEVELS).astype(int)
    met = [_met(attack.goal, {number.name: middles, label.name: v}, truth) for v in values]
    inside = np.stack([np.broadcast_to(row, middles.shape) for row in met], axis=1)
    rows = [
        {"label": str(values[round(row["y"])]), **{k: v for k, v in row.items() if k not in ("y", "y2")}}
        for row in _runs([edges, np.arange(len(values) + 1.0)], level, inside)
    ]
    x = alt.X("x:Q", title=number.name, scale=alt.Scale(domain=[low, high], nice=False, clamp=True))
    y = alt.Y("label:N", title=label.name, sort=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=110))
    shade = alt.Chart(alt.Data(values=rows)).mark_rect(strokeWidth=0)
    drawn = shade.encode(x=x, x2="x2:Q", y=y, color=alt.Color("colour:N", scale=None))
    layers = [drawn]
    if number.name in truth and label.name in truth:
        point = [{"x": float(truth[number.name]), "label": str(truth[label.name])}]
        mark = alt.Chart(alt.Data(values=point)).mark_point(shape="cross", color=INK, filled=True, opacity=1, size=90)
        layers.append(mark.encode(x=x, y=y))
    return _finished(alt.layer(*layers).properties(width=380, height=44 * len(values)), title, attack)


def _heights(first: Any, second: Any, middles: list[Any], edges: Any) -> Any:
    """The density over the map, 1 where it is largest."""
    density = [np.exp(_line(a).log_density(m)) for a, m in zip((first, second), middles, strict=True)]
    joint: Any = joint_of(first)
    if joint is not None and second.name in joint.names:
        ends = (np.broadcast_to(e, (middles[0].size, middles[1].size)) for e in (edges[:-1], edges[1:]))
        height = density[0][:, None] * joint.slice_mass(first.name, middles[0], *ends)
    else:
        height = np.multiply.outer(*density)
    return height / height.max()


def _runs(edges: list[Any], level: Any, inside: Any) -> list[dict[str, Any]]:
    """Neighbouring cells of one colour as one rectangle; a hair of overlap hides the seams between them."""
    hair = [0.4 * float(e[1] - e[0]) for e in edges]
    rows: list[dict[str, Any]] = []
    for j in range(level.shape[1]):
        code = 2 * level[:, j] + inside[:, j]
        starts = [0, *(np.flatnonzero(np.diff(code)) + 1).tolist()]
        for a, b in zip(starts, [*starts[1:], code.size], strict=True):
            rows.append(
                {
                    "x": float(edges[0][a]),
                    "x2": float(edges[0][b]) + hair[0],
                    "y": float(edges[1][j]),
                    "y2": float(edges[1][j + 1]) + hair[1],
                    "height": float(level[a, j]) / _LEVELS,
                    "inside": bool(inside[a, j]),
                    "colour": _colour(level[a, j] / _LEVELS, bool(inside[a, j])),
                }
            )
    return rows


def _colour(share: float, correct: bool) -> str:
    """White to blue with the density, mixed with red inside the goal."""
    shade = (1 - share) * np.array([255, 255, 255]) + share * np.array([95, 130, 175])
    if correct:
        shade = 0.55 * shade + 0.45 * np.array([209, 73, 91])
    return "#" + "".join(f"{round(float(c)):02x}" for c in shade)


def _finished(picture: Any, title: str, attack: Attack) -> Any:
    note = f"Red, prior {attack.prior:.1%}: {attack.goal!r}"
    heading = alt.TitleParams(title, subtitle=note, anchor="start", color=INK, subtitleColor=QUIET, offset=14)
    return picture.properties(title=heading).configure_view(stroke=None).configure_axis(grid=False)


def _met(goal: Goal, point: dict[str, Any], truth: dict[str, Any]) -> Any:
    """Where a goal is met, for single values or whole arrays."""
    if isinstance(goal, Compound):
        parts = np.broadcast_arrays(*[_met(part, point, truth) for part in goal.parts])
        if isinstance(goal, Not):
            return np.logical_not(parts[0])
        return np.all(parts, axis=0) if isinstance(goal, And) else np.any(parts, axis=0)
    names = [a.name for a in goal.attributes]
    if isinstance(goal, Together):
        t = [float(truth[n]) for n in names] if goal.depends_on_truth else None
        return goal.holds([point[n] for n in names], t)
    prior, value = goal.attributes[0].prior, point[names[0]]
    if isinstance(prior, Finite):
        return goal.chosen(prior, truth.get(names[0]))[prior.index(value)] > 0
    edges = goal.edges(float(truth.get(names[0], 0.0)))
    return np.any([(value >= lo) & (value <= hi) for lo, hi in edges], axis=0)


def _values(attribute: Any) -> list[Any]:
    return [v for v, w in zip(attribute.prior.values, attribute.prior.weights, strict=True) if w > 0]


def _joint_weight(attack: Attack, x: Any, y: Any) -> float:
    first, second = attack.goal.attributes
    joint = joint_of(first)
    if isinstance(joint, JointTable) and joint_of(second) is not None:
        return sum(
            weight
            for row, weight in zip(joint.rows, joint.weights, strict=True)
            if row[joint.axis(first.name)] == x and row[joint.axis(second.name)] == y
        )
    one, two = first.prior, second.prior
    assert isinstance(one, Finite)
    assert isinstance(two, Finite)
    return one.weights[one.index(x)] * two.weights[two.index(y)]


def _line(attribute: Any) -> LinePrior:
    if not isinstance(attribute.prior, LinePrior):
        raise ValueError(f"{attribute.name} has no density that could be drawn")
    return attribute.prior


def _window(attribute: Any, attack: Attack) -> tuple[float, float]:
    low, high = (float(e) for e in _line(attribute).quantile([0.003, 0.997]))
    t = (attack.at or {}).get(attribute.name)
    room = 0.1 * (high - low)
    return (low, high) if t is None else (min(low, float(t) - room), max(high, float(t) + room))
