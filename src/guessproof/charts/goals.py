"""The goal drawn on the prior: an AND is a box, an OR is a cross, a location is a disc, a formula is a band."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import numpy as np

from guessproof.charts.live import beliefs, shares
from guessproof.charts.numbers import density_rows, is_one_number, share_rows, value_chart
from guessproof.charts.places import GOAL, INK, axis_of, line_of, place_map, window
from guessproof.charts.rows import data_of
from guessproof.risk.attack import Attack
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.finite import Finite
from guessproof.world.formulas import Given
from guessproof.world.goals import And, Compound, Goal, Not, Together
from guessproof.world.joint import JointTable

QUIET = "#8a94a3"
WIDTH = 380
_POINTS = 240  # of a number along the strips of labels
_LEVELS = 40


def goal_on_prior(
    attack: Attack, *, title: str, points: int = _POINTS, width: int = WIDTH, named: Callable[[str], str] = str
) -> Any:
    """How likely the values are, and which of them count as a correct guess, for stated true values.

    One number is a curve with its intervals marked. Two numbers are a map, a number and a label a strip for each label,
    finite attributes a table with the goal's cells framed. Of three and more attributes a goal is drawn that is an
    interval of one number: a formula's value, or the distance of a place. `named` says an attribute in words.
    """
    return finished(goal_picture(attack, points=points, width=width, named=named), title, attack)


def goal_picture(
    attack: Attack, *, points: int = _POINTS, width: int = WIDTH, named: Callable[[str], str] = str
) -> Any:
    """The same without a heading."""
    attributes = [attack.conditioned[a.name] for a in attack.asked.attributes]
    if len(attributes) == 1:
        return _line(attack, attributes[0], width, named)
    if len(attributes) > 2 and is_one_number(attack.asked):
        return value_chart(attack, width, min(width, 240))
    if len(attributes) > 2:
        raise ValueError(f"a goal of {len(attributes)} attributes that is no interval of one number cannot be drawn")
    finite = [isinstance(a.prior, Finite) for a in attributes]
    if all(finite):
        return _table(attack, width, named)
    return _strips(attack, points, width, named) if any(finite) else place_map(attack, width, named)


def _line(attack: Attack, attribute: Attribute, width: int, named: Callable[[str], str]) -> Any:
    """One attribute: a curve with the right guesses under it, or a bar for each label."""
    at = (attack.at or {}).get(attribute.name)
    if isinstance(attribute.prior, Finite):
        return shares(share_rows(attribute, attack.goal, at), named(attribute.name)).properties(width=width)
    mark = [] if at is None else [{"x": float(at)}]
    rows = density_rows(attribute, attack.goal, 0.0 if at is None else at)
    return beliefs(rows, [], mark, named(attribute.name)).properties(width=width)


def _table(attack: Attack, width: int, named: Callable[[str], str]) -> Any:
    first, second = (attack.conditioned[a.name] for a in attack.asked.attributes)
    rows = [
        {
            "x": str(x),
            "y": str(y),
            "probability": _joint_weight(attack, x, y),
            "correct": bool(_met(attack.asked, {first.name: x, second.name: y}, dict(attack.at or {}))),
        }
        for x in _values(first)
        for y in _values(second)
    ]
    x = alt.X(
        "x:N", title=named(first.name), sort=None, axis=alt.Axis(labelAngle=0, orient="top", domain=False, ticks=False)
    )
    y = alt.Y("y:N", title=named(second.name), sort=None, axis=alt.Axis(domain=False, ticks=False, labelPadding=8))
    base = alt.Chart(data_of(rows))
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
    across = len({r["x"] for r in rows})
    wide = min(120 * across, max(width, 44 * across))
    return (cells + frames + words).properties(width=wide, height=46 * len({r["y"] for r in rows}))


def _strips(attack: Attack, points: int, width: int, named: Callable[[str], str]) -> Any:
    """A number along the strips, a strip for each label: as dark as it is likely, red where a guess is right."""
    number, label = sorted(attack.conditioned.values(), key=lambda a: isinstance(a.prior, Finite))
    low, high = window(number, attack)
    edges = np.linspace(low, high, points + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    values, truth = _values(label), dict(attack.at or {})
    finite: Any = label.prior
    weights = np.array([finite.weights[finite.index(v)] for v in values])
    height = np.multiply.outer(np.exp(line_of(number).log_density(middles)), weights)
    level = np.rint(height / height.max() * _LEVELS).astype(int)
    met = [_met(attack.asked, {number.name: middles, label.name: v}, truth) for v in values]
    inside = np.stack([np.broadcast_to(row, middles.shape) for row in met], axis=1)
    rows = [
        {"label": str(values[round(row["y"])]), **{k: v for k, v in row.items() if k not in ("y", "y2")}}
        for row in _runs([edges, np.arange(len(values) + 1.0)], level, inside)
    ]
    x = alt.X(
        "x:Q",
        title=named(number.name),
        axis=axis_of(number),
        scale=alt.Scale(domain=[low, high], nice=False, clamp=True),
    )
    y = alt.Y("label:N", title=named(label.name), sort=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=110))
    shade = alt.Chart(data_of(rows)).mark_rect(strokeWidth=0)
    drawn = shade.encode(x=x, x2="x2:Q", y=y, color=alt.Color("colour:N", scale=None))
    layers = [drawn]
    if number.name in truth and label.name in truth:
        point = [{"x": float(truth[number.name]), "label": str(finite.values[finite.index(truth[label.name])])}]
        mark = alt.Chart(data_of(point)).mark_point(shape="cross", color=INK, filled=True, opacity=1, size=90)
        layers.append(mark.encode(x=x, y=y))
    return alt.layer(*layers).properties(width=width, height=44 * len(values))


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


def shows_known(attack: Attack) -> bool:
    """Whether a picture greys what is ruled out: a map of two numbers of which more is known than a value each."""
    numbers = [a.prior for a in attack.conditioned.values()]
    return isinstance(attack.asked, Given) and len(numbers) == 2 and not any(isinstance(p, Finite) for p in numbers)


def finished(picture: Any, title: str, attack: Attack) -> Any:
    """A picture with its heading."""
    note = f"Red, prior {attack.prior:.1%}: {attack.asked!r}"
    if shows_known(attack):
        note += "; grey: ruled out"
    heading = alt.TitleParams(title, subtitle=note, anchor="start", color=INK, subtitleColor=QUIET, offset=14)
    return picture.properties(title=heading).configure_view(stroke=None).configure_axis(grid=False)


def _met(goal: Goal, point: dict[str, Any], truth: dict[str, Any]) -> Any:
    """Where a goal is met, for single values or whole arrays."""
    if isinstance(goal, Given):
        return np.logical_and(_met(goal.goal, point, truth), _met(goal.region, point, truth))
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
    first, second = (attack.conditioned[a.name] for a in attack.asked.attributes)
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
