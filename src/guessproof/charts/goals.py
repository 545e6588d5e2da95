"""The goal drawn on the prior: an AND is a box, an OR is a cross, a location is a disc, a formula is a band."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import numpy as np

from guessproof.charts.live import beliefs, shares
from guessproof.charts.numbers import density_rows, is_one_number, share_rows, value_chart
from guessproof.charts.rows import data_of
from guessproof.risk import Attack
from guessproof.world import (
    And,
    Attribute,
    Compound,
    Finite,
    Given,
    Goal,
    JointTable,
    LinePrior,
    Not,
    Together,
    joint_of,
)

INK, GOAL, QUIET = "#1f3a5f", "#d1495b", "#8a94a3"
WIDTH = 380
_POINTS = 240  # of a number along the strips of labels
_STRIPS = 120  # of the second of two numbers: a strip is three pixels high
_LEVELS = 40  # shades of the density beside labels
_SHADES = 12  # of the map of two numbers: fewer rectangles
_SHOWN = (0.003, 0.997)  # quantiles between which a number is drawn
_MARGIN = 0.05  # of the width: a support that ends so near is drawn to its end
_AROUND = 0.1  # of the width, drawn around the true value
_HAIR = 0.4  # of a cell, by which rectangles overlap
_RULED_OUT = np.array([138, 148, 163])
_RIGHT = np.array([209, 73, 91])
_LIKELY = np.array([95, 130, 175])


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
    return _strips(attack, points, width, named) if any(finite) else _map(attack, points, width, named)


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
    level = np.rint(height / height.max() * _LEVELS) / _LEVELS
    met = [_met(attack.asked, {number.name: middles, label.name: v}, truth) for v in values]
    inside = np.stack([np.broadcast_to(row, middles.shape) for row in met], axis=1).astype(int)
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


def _map(attack: Attack, points: int, width: int, named: Callable[[str], str]) -> Any:
    """Two numbers: strips of the second, as dark as pairs are likely, red where right, grey where ruled out."""
    pair = [attack.conditioned[a.name] for a in attack.asked.attributes]
    ends = [window(a, attack) for a in pair]
    edges = [np.linspace(*e, count + 1) for e, count in zip(ends, (points, _STRIPS), strict=True)]
    x, y = ((e[1:] + e[:-1]) / 2 for e in edges)
    truth = dict(attack.at or {})
    height = _density(pair[0], pair[1], x, edges[1])
    top = float(np.max(height[np.isfinite(height)], initial=0.0)) or 1.0
    level = np.rint(np.minimum(height / top, 1.0) * _SHADES) / _SHADES
    point = {pair[0].name: x[:, None], pair[1].name: y[None, :]}
    marks = np.zeros(level.shape, dtype=int)
    asked = attack.asked
    if truth or not asked.depends_on_truth:
        marks += np.broadcast_to(_met(asked, point, truth), level.shape)
    if isinstance(asked, Given):
        marks = np.where(np.broadcast_to(_met(asked.region, point, truth), level.shape), marks, 2)
    axes: list[Any] = [
        encoded(f"{key}:Q", title=named(a.name), axis=axis_of(a), scale=alt.Scale(domain=list(e), nice=False))
        for key, encoded, a, e in zip("xy", (alt.X, alt.Y), pair, ends, strict=True)
    ]
    rows = _runs(edges, level, marks)
    shade = alt.Chart(data_of(rows)).mark_rect(strokeWidth=0, clip=True)
    drawn = shade.encode(x=axes[0], x2="x2:Q", y=axes[1], y2="y2:Q", color=alt.Color("colour:N", scale=None))
    return alt.layer(drawn, *_truth(pair, truth, axes)).properties(width=width, height=width)


def _truth(pair: list[Attribute], truth: dict[str, Any], axes: list[Any]) -> list[Any]:
    """The true pair, or a line where only one of its numbers matters."""
    at = {key: float(truth[a.name]) for key, a in zip("xy", pair, strict=True) if truth.get(a.name) is not None}
    place = dict(zip("xy", axes, strict=True))
    if not at:
        return []
    if len(at) == len(pair):
        mark = alt.Chart(data_of([at])).mark_point(shape="cross", color=INK, filled=True, opacity=1, size=90)
        return [mark.encode(**place)]
    line = alt.Chart(data_of([at])).mark_rule(color=INK, strokeDash=[4, 3])
    return [line.encode(**{key: place[key]}) for key in at]


def _density(first: Attribute, second: Attribute, x: Any, edges: Any) -> Any:
    """How likely strips of the second number are beside values of the first, but for a factor."""
    own = np.exp(line_of(first).log_density(x))
    joint: Any = joint_of(first)
    if joint is None or second.name not in joint.names:
        return np.multiply.outer(own, line_of(second).mass(edges[:-1], edges[1:]))
    ends = (np.broadcast_to(e, (x.size, e.size)) for e in (edges[:-1], edges[1:]))
    return own[:, None] * joint.slice_mass(first.name, x, *ends)


def window(attribute: Attribute, attack: Attack) -> tuple[float, float]:
    """What is drawn of a number: where nearly all values lie, and the true one."""
    prior = line_of(attribute)
    low, high = (float(e) for e in prior.quantile(list(_SHOWN)))
    near = _MARGIN * (high - low)
    least, most = (float(e) for e in prior.support)
    low, high = least if low - least < near else low, most if most - high < near else high
    t = (attack.at or {}).get(attribute.name)
    around = _AROUND * (high - low)
    return (low, high) if t is None else (min(low, float(t) - around), max(high, float(t) + around))


def line_of(attribute: Attribute) -> LinePrior:
    """The prior of a number that has a density."""
    if not isinstance(attribute.prior, LinePrior):
        raise ValueError(f"{attribute.name} has no density that could be drawn")
    return attribute.prior


def axis_of(attribute: Attribute) -> Any:
    """An axis of numbers, or of days that are shown as dates."""
    dates: dict[str, Any] = {"labelExpr": "utcFormat(datum.value * 864e5, '%Y-%m-%d')"} if attribute.is_time else {}
    return alt.Axis(grid=False, tickCount=4 if dates else 6, labelOverlap=True, labelSeparation=8, **dates)


def _runs(edges: list[Any], level: Any, marks: Any) -> list[dict[str, Any]]:
    """Neighbouring cells of one colour as one rectangle; they overlap a little, so that no seams are seen."""
    overlap = [_HAIR * float(e[1] - e[0]) for e in edges]
    rows: list[dict[str, Any]] = []
    for j in range(level.shape[1]):
        column, mark = level[:, j], marks[:, j]
        starts = [0, *(np.flatnonzero((np.diff(column) != 0) | (np.diff(mark) != 0)) + 1).tolist()]
        for a, b in zip(starts, [*starts[1:], column.size], strict=True):
            row = {
                "x": float(edges[0][a]),
                "x2": float(edges[0][b]) + overlap[0],
                "y": float(edges[1][j]),
                "y2": float(edges[1][j + 1]) + overlap[1],
                "inside": int(mark[a]) == 1,
                "colour": _colour(float(column[a]), int(mark[a])),
            }
            if mark[a] < 2:  # the page mixes colours of its own where it knows the height
                row["height"] = float(column[a])
            rows.append(row)
    return rows


def _colour(share: float, mark: int) -> str:
    """White to blue with the density, mixed with red where a guess is right (1), and with grey where ruled out (2)."""
    shade = (1 - share) * np.array([255, 255, 255]) + share * _LIKELY
    if mark:
        shade = 0.55 * shade + 0.45 * (_RIGHT if mark == 1 else _RULED_OUT)
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
