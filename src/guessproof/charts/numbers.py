"""One number with the right guesses marked: an attribute's own, or what is computed from several.

Of three and more attributes no map can be drawn. A goal about a formula of them, or about how far a place is from the
true one, is still an interval of one number, whose distribution is drawn from evenly spread combinations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import altair as alt
import numpy as np

from guessproof.charts.live import ALARM, INK
from guessproof.charts.rows import data_of
from guessproof.errors import GuessproofError
from guessproof.risk import Attack
from guessproof.world import (
    Array,
    Attribute,
    Finite,
    FormulaGoal,
    Given,
    Goal,
    Joint,
    JointTable,
    LinePrior,
    Near,
    combine,
    joint_of,
)

_COMBINATIONS = 2**15
_BARS = 60
PLAIN = "#a3afb9"
_HALVINGS = 40
AXIS = alt.Axis(grid=False, tickCount=6, labelOverlap=True, labelSeparation=8)
Row = dict[str, Any]


def typical(attribute: Attribute) -> Any:
    """A true value to draw with, where none is stated: the middle one, or the most likely."""
    prior = attribute.prior
    if isinstance(prior, LinePrior):
        return float(prior.quantile(0.5))
    if isinstance(prior, Finite):
        return prior.values[int(np.argmax(prior.weights))]
    return None


def density_rows(attribute: Attribute, goal: Goal, at: Any, points: int = 161) -> list[Row]:
    """What is believed of a number beforehand, and which guesses are right."""
    prior = attribute.prior
    if not isinstance(prior, LinePrior):
        return []
    low, high = (float(prior.quantile(u)) for u in (0.0005, 0.9995))
    edges = _edges(goal, at)
    x = np.unique(
        np.concatenate([np.linspace(low, high, points), [e for pair in edges for e in pair if math.isfinite(e)]])
    )
    density = np.exp(prior.log_density(x))
    inside = np.any([(x >= lo) & (x <= hi) for lo, hi in edges], axis=0) if edges else np.zeros(x.shape, dtype=bool)
    piece = np.cumsum(np.diff(inside, prepend=False))  # counted on wherever a piece begins or ends
    return [
        {"x": float(a), "density": float(d), "inside": bool(i), "piece": int(p)}
        for a, d, i, p in zip(x, density, inside, piece, strict=True)
        if math.isfinite(d)
    ]


def _edges(goal: Goal, at: Any) -> list[tuple[float, float]]:
    """Where right guesses begin and end, for this true value; some have no end."""
    try:
        found = [(float(lo), float(hi)) for lo, hi in goal.edges(np.asarray(float(at)))]
    except (GuessproofError, TypeError, ValueError, AttributeError):
        return []
    return [pair for pair in found if not any(map(math.isnan, pair))]


def share_rows(attribute: Attribute, goal: Goal, at: Any) -> list[Row]:
    """What is believed of a label beforehand, and which guesses are right."""
    prior = attribute.prior
    if not isinstance(prior, Finite):
        return []
    try:
        right = goal.chosen(prior, at) if at is not None else np.zeros(len(prior.values))
    except GuessproofError:
        right = np.zeros(len(prior.values))
    pairs = zip(prior.values, prior.weights, right, strict=True)
    return [{"value": str(v), "share": float(w), "inside": bool(r)} for v, w, r in list(pairs)[:40]]


def is_one_number(goal: Goal) -> bool:
    """Whether a goal about several attributes is an interval of one number that is computed from them."""
    return isinstance(goal.goal if isinstance(goal, Given) else goal, (FormulaGoal, Near))


def value_chart(attack: Attack, width: int, height: int) -> Any:
    """How probable each value of the computed number is, as bars that end where right guesses begin and end."""
    asked = attack.asked
    goal = asked.goal if isinstance(asked, Given) else asked
    rows, truth = value_rows(attack), _true_number(goal, attack)
    x = alt.X("x:Q", title=_name(goal), axis=AXIS, scale=alt.Scale(nice=False, zero=False))
    y = alt.Y("density:Q", title=None, axis=alt.Axis(labels=False, ticks=False, domain=False, grid=False))
    colour = alt.condition("datum.inside", alt.value(ALARM), alt.value(PLAIN))
    bars = alt.Chart(data_of(rows)).mark_rect(strokeWidth=0.6)  # hides the seams between them
    layers = [bars.encode(x=x, x2="x2:Q", y=y, y2=alt.datum(0), fill=colour, stroke=colour)]
    if truth is not None:
        rule = alt.Chart(data_of([{"x": truth}])).mark_rule(color=INK, strokeWidth=2)
        layers.append(rule.encode(x="x:Q"))
    return alt.layer(*layers).properties(width=width, height=height)


def value_rows(attack: Attack) -> list[Row]:
    """Bars of the computed number: from, to, how dense, right or not."""
    asked = attack.asked
    goal = asked.goal if isinstance(asked, Given) else asked
    points = combinations(list(attack.conditioned.values()))
    value = np.asarray(_number(goal, attack, points), dtype=np.float64)
    possible = np.isfinite(value)
    if isinstance(asked, Given):
        for known in asked.known:
            possible &= np.asarray(known.holds([points[a.name] for a in known.members], None))
    value = np.sort(value[possible])
    if not value.size:
        return []
    ends = [e for e in _interval(goal, attack) if math.isfinite(e)]
    low, high = (float(e) for e in np.quantile(value, [0.003, 0.997]))
    low, high = min([low, *ends]), max([high, *ends])
    edges = np.unique(np.concatenate([np.linspace(low, high, _BARS + 1), ends]))
    edges = edges[np.append(True, np.diff(edges) > 1e-9 * (high - low))]
    share = np.diff(np.searchsorted(value, edges)) / value.size
    first, last = _interval(goal, attack)
    return [
        {"x": a, "x2": b, "density": float(s / (b - a)), "inside": first <= 0.5 * (a + b) <= last}
        for a, b, s in zip(edges[:-1].tolist(), edges[1:].tolist(), share, strict=True)
    ]


def combinations(attributes: list[Attribute]) -> dict[str, Array]:
    """Evenly spread combinations of all attributes, each as probable as the next."""
    names = [a.name for a in attributes]
    # Multiples of roots of one polynomial: no direction is spread worse than the others, and no chance is needed.
    root = 2.0
    for _ in range(60):
        root = (1 + root) ** (1 / (len(names) + 1))
    steps = np.arange(1, _COMBINATIONS + 1)
    level = {n: (0.5 + steps * root ** -(i + 1.0)) % 1.0 for i, n in enumerate(names)}
    found: dict[str, Array] = {}
    for a in attributes:
        joint = joint_of(a)
        if a.name not in found:
            found.update(_tied(joint, level) if joint is not None else {a.name: _quantiles(a, level[a.name])})
    return {n: found[n] for n in names}


def _quantiles(attribute: Attribute, level: Array) -> Array:
    prior = attribute.prior
    if isinstance(prior, Finite):
        place = np.minimum(np.searchsorted(np.cumsum(prior.mass), level), prior.mass.size - 1)
        return np.asarray(prior.points, dtype=np.float64)[place]
    if not isinstance(prior, LinePrior):
        raise ValueError(f"{attribute.name} has no prior that could be drawn")
    return np.asarray(prior.quantile(level), dtype=np.float64)


def _tied(joint: Joint, level: dict[str, Array]) -> dict[str, Array]:
    """Attributes that depend on each other: rows of their table, or the second given the first."""
    if isinstance(joint, JointTable):
        own = next(n for n in joint.names if n in level)
        place = np.minimum(np.searchsorted(np.cumsum(joint.mass), level[own]), joint.mass.size - 1)
        return {n: np.asarray([r[i] for r in joint.rows], dtype=np.float64)[place] for i, n in enumerate(joint.names)}
    first, second = joint.attributes()
    if first.name not in level or second.name not in level:
        own = first if first.name in level else second
        return {own.name: _quantiles(own, level[own.name])}
    x, both = _quantiles(first, level[first.name]), joint
    prior = second.prior
    assert isinstance(prior, LinePrior)
    low, high = (np.full(x.shape, float(e)) for e in prior.quantile([1e-12, 1 - 1e-12]))
    start = low[:, None]
    for _ in range(_HALVINGS):
        y = 0.5 * (low + high)
        below = both.slice_mass(first.name, x, start, y[:, None])[:, 0] < level[second.name]  # pyright: ignore
        low, high = np.where(below, y, low), np.where(below, high, y)
    return {first.name: x, second.name: 0.5 * (low + high)}


def _number(goal: Goal, attack: Attack, points: dict[str, Any]) -> Any:
    if isinstance(goal, FormulaGoal):
        return goal.values_at([points[a.name] for a in goal.members])
    assert isinstance(goal, Near)
    return combine(goal.by, [np.abs(points[n] - float(t)) for n, t in _truth(goal, attack)])


def _interval(goal: Goal, attack: Attack) -> tuple[float, float]:
    if isinstance(goal, FormulaGoal):
        return goal.ends([float(t) for _, t in _truth(goal, attack)] if goal.depends_on_truth else None)
    assert isinstance(goal, Near)
    return 0.0, goal.radius


def _true_number(goal: Goal, attack: Attack) -> float | None:
    if not attack.at or not isinstance(goal, FormulaGoal):
        return None
    return float(goal.values_at([t for _, t in _truth(goal, attack)]))


def _truth(goal: Goal, attack: Attack) -> Iterable[tuple[str, float]]:
    at = dict(attack.at or {})
    return [(a.name, float(at[a.name])) for a in goal.attributes]


def _name(goal: Goal) -> str:
    return repr(goal.formula) if isinstance(goal, FormulaGoal) else "distance from the true place"
