"""An attack on the query itself, for goals whose bound rests on distances that are larger than its own.

A bound may take a larger distance than the query's: by the straight line, column by column, or the whole change. An
attack in such a distance is none on this query. Here the distance is the query's own, b(x, x') (`Guarantee.between`),
how far the answer can move between two sets of values, the rest of the table at its worst for that. It obeys the
triangle inequality, so that for any values c the likelihoods e^{±ε·|b(x, c) − u|} are private in it, whatever u is; and
so they are with how far x is from the nearest of several c, which are spread over what is correct where distances of
columns add up to the query's own and are told quickly.

Their masses are summed over tiles by two rules, the mean of the corners and what lies at the tile's mean, both off by
second order in the tiles' size: the one that suits the attacker less is taken, and of tiles on the goal's edge the
least that can be what he is after. What lies beyond the tiles counts against him, as likely as anything can be there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.guarantee import Guarantee
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.goals import Goal
from guessproof.world.line import LinePrior
from guessproof.world.metrics import Metric

if TYPE_CHECKING:
    from guessproof.exposure.exposure import Attacker

_PEAKS = 48  # values of u that are tried
_PIECES = (4, 1, 0.15, 1.4)  # of a plane: every corner is a question to the query
_FINER = (12, 2, 0.05, 1.15)  # unless distances of columns answer for it
_FAR, _PARTS = 1e-7, 160  # of a line
_ANCHORS = 300  # values c that are spread over what is correct
_DEEP = 0.5, 0.8  # of how far the deepest is from the goal's edge: values that are in its middle
_AT_ONCE = 1 << 20  # distances
_INSIDE = 1e-9  # of a piece: its ends are looked at from within, since an answer may jump there


@dataclass(frozen=True)
class OwnAttack:
    """Tiles, and how far from c, or from the nearest c, their corners are by the query's own distance at ε = 1."""

    right: tuple[Array, Array]  # the least and the most that is correct, as probabilities
    wrong: tuple[Array, Array]
    weight: Array  # tile × corner, at the tile's mean
    ways: Array  # each for one choice of c: tile × corner
    beyond: float  # the probability of values in no tile
    most: float  # no way is longer

    @cached_property
    def _turned(self) -> list[tuple[Array, float]]:
        """Ways, and where a likelihood along them may turn: where correct guesses are."""
        shares = np.linspace(0.0, 1.0, _PEAKS)
        turns = (np.unique(np.quantile(way[self.right[1] > 0], shares)) for way in self.ways)
        return [(way, peak) for way, peaks in zip(self.ways, turns, strict=True) for peak in peaks.tolist()]

    def belief(self, epsilon: float) -> float:
        """The largest belief in the goal that was found."""
        return max(self._reached(-epsilon, way, peak, self.right[0], self.wrong[1]) for way, peak in self._turned)

    def advantage(self, epsilon: float, both: bool, prior: float | None) -> float:
        """The largest rise of it that was found, or with both the largest move."""
        least, most = (float(np.sum(side)) for side in self.right) if prior is None else (prior, prior)
        rise = self.belief(epsilon) - (most if prior is not None else most + self.beyond)
        if not both:
            return max(rise, 0.0)
        missed = max(self._reached(epsilon, way, peak, self.wrong[0], self.right[1]) for way, peak in self._turned)
        return max(rise, missed - (1 - least), 0.0)

    def _reached(self, slope: float, way: Array, peak: float, sought: Array, rest: Array) -> float:
        logs = slope * np.abs(way - peak)
        far = slope * max(peak, self.most - peak) if slope > 0 else 0.0  # ln of the largest likelihood that there is
        if far == np.inf:
            return 0.0
        logs, far = logs - np.max(logs), far - float(np.max(logs))
        rules = np.sum(self.weight * np.exp(logs), axis=1), np.exp(np.sum(self.weight * logs, axis=1))
        with np.errstate(over="ignore"):
            against = self.beyond * float(np.exp(far))
        inside, outside = float(sought @ np.minimum(*rules)), float(rest @ np.maximum(*rules)) + against
        return inside / (inside + outside) if inside else 0.0


def own_attack(attacker: Attacker, guarantee: Guarantee, at: Any) -> OwnAttack | None:
    """The attack where `at` is true; None where the query says nothing, or the goal is not about one or two numbers.

    It is of the declared prior, which is one of those that a factor allows.
    """
    names = attacker.names
    if guarantee.responses is None or attacker.knows or attacker.tied or len(names) > 2:
        return None
    truth = _truth(attacker, at)
    parts = {n: replace(attacker.attributes[n], metric=None, scale=1.0) for n in names}
    plain = all(isinstance(a.prior, LinePrior) and joint_of(a) is None for a in parts.values())
    if truth is None or not plain or not set(names) <= set(guarantee.columns):
        return None
    goal = attacker.build({**attacker.attributes, **parts})
    if len(names) == 1:
        return _on_line(goal, parts[names[0]], guarantee, truth)
    return _on_plane(goal, parts, guarantee, truth)


def _truth(attacker: Attacker, at: Any) -> dict[str, float] | None:
    """True values as numbers, stated or found to be the worst; 0 where the goal is the same for all."""
    if not attacker.goal.depends_on_truth:
        return {n: float((attacker.at or {}).get(n) or 0.0) for n in attacker.names}
    at = attacker.at if attacker.at is not None else at
    table = at if isinstance(at, Mapping) else {attacker.names[0]: at} if len(attacker.names) == 1 else {}
    found = {n: table.get(n) for n in attacker.names}
    if not all(isinstance(v, (int, float)) and np.isfinite(v) for v in found.values()):
        return None
    return {n: float(v) for n, v in found.items() if v is not None}


def _on_line(goal: Goal, attribute: Attribute, guarantee: Guarantee, truth: dict[str, float]) -> OwnAttack | None:
    prior, name = attribute.prior, attribute.name
    assert isinstance(prior, LinePrior)
    if name not in guarantee.lines:
        return None
    (low, high), line = prior.support, JointAttack({name: attribute}, truth, "l1")
    ends = line.intervals(goal)
    inner = prior.quantile(np.concatenate([[_FAR], np.linspace(0, 1, _PARTS + 1)[1:-1], [1 - _FAR]]))
    marks = [e for pair in ends for e in pair] + [*guarantee.lines[name].form.cuts, *prior.breaks]
    edges = np.unique(np.clip(np.concatenate([np.asarray(inner), marks]), low, high))
    edges = edges[np.isfinite(edges)]
    left, right = edges[:-1], edges[1:]
    mass = prior.quick_mass(left, right)
    middle = 0.5 * (left + right)
    correct = np.any([(middle > a) & (middle < b) for a, b in ends], axis=0) * mass
    inside = (right - left) * _INSIDE
    places = np.stack([left + inside, right - inside], axis=1)[..., None]
    wrong, weight = mass - correct, np.full((mass.size, 2), 0.5)
    way = _ways(guarantee, [name], truth, places)
    return OwnAttack((correct, correct), (wrong, wrong), weight, way[None], _beyond(mass), guarantee.change)


def _on_plane(
    goal: Goal, parts: dict[str, Attribute], guarantee: Guarantee, truth: dict[str, float]
) -> OwnAttack | None:
    from guessproof.risk.several.plane import plane_of  # only places need it
    from guessproof.risk.several.tiles import Detail, cut_in_boxes

    joint_attack = JointAttack({a.name: parts[a.name] for a in goal.attributes}, truth, "l2")
    plane = plane_of(joint_attack, goal)
    if plane is None or guarantee.slope is None:  # where an answer jumps tiles say too little
        return None
    names = [a.name for a in plane.members]
    metrics = [guarantee.columns[n] for n in names] if guarantee.adds_up(names) else None
    pieces = _PIECES if metrics is None else _FINER
    tiles, boxes = plane.still(*cut_in_boxes(joint_attack, goal, plane, Detail(*pieces)))
    some = boxes.is_finite  # of the others nothing is known but where they begin
    mass, corners = tiles.mass[some], tiles.corners[some]
    right, wrong = ((mass * least[some], mass * most[some]) for least, most in (tiles.right, tiles.wrong))
    if metrics is None:
        ways = _ways(guarantee, names, truth, corners)[None]
    else:
        chosen = [np.array([[truth[n] for n in names]])]
        edge, inner = (right[1] > 0) & (wrong[1] > 0), (wrong[1] == 0) & (right[1] > 0)
        if edge.any() and inner.any():
            chosen += _middles(metrics, *(np.unique(corners[t].reshape(-1, 2), axis=0) for t in (inner, edge)))
        ways = np.stack([_to_nearest(metrics, corners, places) for places in chosen])
    return OwnAttack(right, wrong, tiles.weight[some], ways, _beyond(mass), guarantee.change)


def _beyond(mass: Array) -> float:
    """The probability that is left beside tiles, rounding included."""
    return max(1.0 - float(np.sum(mass)), 0.0) + 1e-12


def _ways(guarantee: Guarantee, names: list[str], truth: dict[str, float], places: Array) -> Array:
    """b(x, the truth) at places; neighbours share corners, which are asked for once."""
    points, where = np.unique(places.reshape(-1, len(names)), axis=0, return_inverse=True)
    found = [guarantee.between(truth, dict(zip(names, point, strict=True))) for point in points.tolist()]
    return np.array(found)[np.ravel(where)].reshape(places.shape[:-1])


def _middles(metrics: list[Metric], inner: Array, edge: Array) -> list[Array]:
    """Of values inside a goal those that are far from its edge; the longer it is, the less far in some of it."""
    depth = np.full(inner.shape[0], np.inf)
    for some in np.array_split(edge, max(inner.shape[0] * edge.shape[0] // _AT_ONCE, 1)):
        away = [m.distance(inner[:, None, i], some[None, :, i]) for i, m in enumerate(metrics)]
        depth = np.minimum(depth, np.min(np.sum(away, axis=0), axis=1))
    return [inner[depth >= share * np.max(depth)] for share in _DEEP]


def _to_nearest(metrics: list[Metric], corners: Array, places: Array) -> Array:
    """How far corners of tiles are from the nearest of some places, of many from those that are furthest apart."""
    points, among = (each.reshape(-1, len(metrics)) for each in (corners, places))
    found, left, place = np.full(points.shape[0], np.inf), np.full(among.shape[0], np.inf), among[0]
    for _ in range(min(_ANCHORS, among.shape[0])):
        for nearest, there in ((found, points), (left, among)):
            away = sum(np.asarray(m.distance(there[:, i], place[i])) for i, m in enumerate(metrics))
            np.minimum(nearest, away, out=nearest)
        place = among[np.argmax(left)]
    return found.reshape(corners.shape[:-1])
