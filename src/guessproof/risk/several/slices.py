"""The prior of goals about several numbers together: slices along one attribute, quadrature over the others.

On a slice the goal is a union of intervals, whose ends are found by bisection, and the slice's mass there is exact; the
others are summed over Gauss nodes. Of two numbers panels are halved until their halves say the same, and slices are cut
by enclosures (`slice_pieces`): nothing lies unseen between nodes. Of three, a slice can overlook a sliver between two
of its own nodes: the answer is therefore held inside the bracket that cells prove (`belief.block_part`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.slice_pieces import LEAST, Slices, leaf_goals, marks, meets
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.formulas import FormulaGoal
from guessproof.world.goals import Goal, Together
from guessproof.world.line import LinePrior

_NODES, _WEIGHTS = (np.asarray(part) for part in np.polynomial.legendre.leggauss(8))
_LEVELS = {1: 96, 2: 20}  # panels of each attribute that is summed over, by their number
_SCAN = 64  # pieces of a slice in which an end is looked for
_HALVINGS = 60
_FAR = 1e-13
_BULK = (1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999)
_SETTLED, _BENT = 1e-11, 1e-9  # of a region's probability
_BEYOND = 0.02  # of a panel, which lies between its end and the nearest node
_ENDS = (1e-7, 1 - 1e-7)  # of a panel: what a region holds there may jump at its very end
_MOST_HALVES, _MOST_PANELS = 30, 2000

_TO_ENDS = np.stack([[np.prod([(2 * e - 1 - m) / (n - m) for m in _NODES if m != n]) for n in _NODES] for e in _ENDS])
Mass = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class SliceNodes:
    """Points of the attributes that are summed over, with their weights, and the mass of the last on each slice."""

    points: list[Array]
    weight: Array
    mass: Mass  # of the sliced attribute between two ends, one row per point


def region_probabilities(joint_attack: JointAttack, regions: tuple[Goal, ...]) -> list[float] | None:
    """The prior probability of regions of at most three attributes; None where they cannot be sliced."""
    members = joint_attack.members(regions[0])
    lines = [a for a in members if isinstance(a.prior, LinePrior)]
    joints = {id(j) for a in members if (j := joint_of(a)) is not None}
    if not lines or len(members) > 3 or (joints and len(members) != 2):
        return None
    last = lines[-1]
    others = [a for a in members if a.name != last.name]
    jumps = {a.name: marks(joint_attack, regions, a) for a in others}

    def summed(nodes: SliceNodes) -> Array:
        """What the regions hold, and what all slices hold, at each node."""
        cuts, met = sections(joint_attack, regions, others, last, nodes.points)
        mass = nodes.weight[:, None] * np.maximum(nodes.mass(cuts[:, :-1], cuts[:, 1:]), 0.0)
        return np.stack([np.sum(mass * inside, axis=1) for inside in (*met, np.ones(mass.shape))])

    if len(others) == 1 and isinstance(others[0].prior, LinePrior):
        edges = [*jumps[others[0].name], *_crossings(joint_attack, regions, others[0], last)]
        curved = any(isinstance(leaf, FormulaGoal) for region in regions for leaf in leaf_goals(region))
        found = _by_halves((Slices if curved else _Plain)(joint_attack, regions, others[0], last), edges)
    else:
        found = np.sum(summed(_nodes(others, last, jumps)), axis=1)
    return [float(part / found[-1]) for part in found[:-1]]


def _crossings(joint_attack: JointAttack, regions: tuple[Goal, ...], other: Attribute, last: Attribute) -> list[float]:
    """Where the other attribute enters and leaves regions, the last one being where it is for most people.

    A strip between two nodes of a panel far out would be seen by none of them.
    """
    prior: Any = last.prior
    points = np.concatenate([np.asarray(prior.quantile(list(_BULK)), dtype=np.float64), prior.support, prior.breaks])
    points = points[np.isfinite(points)]  # where a density ends or breaks, so do slopes of what slices hold
    cuts = _cuts(joint_attack, regions, [last], other, [points])
    return np.unique(cuts[np.isfinite(cuts)]).tolist()


class _Plain(Slices):
    """Slices of discs and intervals: they hold the true value, which is a node, and begin where panels do."""

    def held(self, points: Array) -> Array:
        cuts, met = sections(self.joint_attack, self.regions, [self.other], self.last, [points])
        prior: Any = self.last.prior
        joint: Any = joint_of(self.other)
        ends = cuts[:, :-1], cuts[:, 1:]
        mass = np.maximum(
            prior.quick_mass(*ends) if joint is None else joint.slice_mass(self.other.name, points, *ends), 0
        )
        return np.stack([np.sum(mass * inside, axis=1) for inside in (*met, np.ones(mass.shape))])


def _by_halves(slices: Slices, jumps: list[float]) -> Array:
    """Sums over one attribute, panels of which are halved as long as their halves say something else.

    Nodes of halves can agree where a bend lies between the end of a panel and the first of them: what a polynomial
    through them says of the end has to be so, too. Where they see all or nothing, something may lie between any two:
    an enclosure of the panel has to agree.
    """

    def in_panels(left: Array, right: Array) -> tuple[Array, Array, Any]:
        """What panels hold; what that misses by if their nodes see too little; and where they see all or nothing."""
        points, weight = _weighed(slices.other, left, right)
        if isinstance(slices, _Plain):
            found = np.sum((weight * slices.held(points)).reshape(-1, left.size, _NODES.size), axis=2)
            return found, np.zeros(found.shape), np.zeros(left.size, dtype=bool)
        held = slices.held(np.concatenate([points, *(left + share * (right - left) for share in _ENDS)]))
        nodes, ends = np.split(held, [points.size], axis=1)
        nodes, ends = nodes.reshape(len(held), left.size, -1), ends.reshape(len(held), len(_ENDS), left.size)
        found = np.sum(weight.reshape(left.size, -1) * nodes, axis=2)
        bent = np.max(np.abs(np.einsum("rpn,en->rep", nodes, _TO_ENDS) - ends), axis=1)
        flat = np.all((nodes[:-1] == 0) | (nodes[:-1] == nodes[-1]), axis=(0, 2)) & (found[-1] > LEAST)
        return found, _BEYOND * found[-1] * bent, flat

    edges = _panels(slices.other, _LEVELS[1], jumps)
    left, right = edges[:-1], edges[1:]
    whole, done = in_panels(left, right)[0], 0.0
    for _ in range(_MOST_HALVES):
        middle = 0.5 * (left + right)
        halves, bent, flat = in_panels(np.concatenate([left, middle]), np.concatenate([middle, right]))
        first, second = np.split(halves, 2, axis=1)
        both = first + second
        off = np.any(np.abs(both - whole) > _SETTLED * (done + np.sum(both, axis=1))[:, None], axis=0)
        off |= np.any(
            np.sum(bent.reshape(len(bent), 2, -1), axis=1) > _BENT * (done + np.sum(both, axis=1))[:, None], axis=0
        )
        dull = np.flatnonzero(~off & np.all(flat.reshape(2, -1), axis=0))
        off[dull] = slices.is_open(left[dull], right[dull])
        done = done + np.sum(both[:, ~off], axis=1)
        left, right = np.concatenate([left[off], middle[off]]), np.concatenate([middle[off], right[off]])
        whole = np.concatenate([first[:, off], second[:, off]], axis=1)
        if not 0 < left.size <= _MOST_PANELS:  # more differ only by rounding
            break
    return done + np.sum(whole, axis=1)


def sections(
    joint_attack: JointAttack, regions: Iterable[Goal], others: list[Attribute], last: Attribute, points: list[Array]
) -> tuple[Array, list[Array]]:
    """Slices along the last attribute, one for each point of the others, cut where they enter and leave regions.

    Gives the cuts of each slice, and for each region which of the pieces between them it holds.
    """
    regions = tuple(regions)
    cuts = _cuts(joint_attack, regions, others, last, points)
    with np.errstate(invalid="ignore"):  # beyond the last places at which ends are looked for next to nobody is left
        middle = np.where(np.isinf(cuts[:, :-1]), cuts[:, 1:], np.where(np.isinf(cuts[:, 1:]), cuts[:, :-1],
                          0.5 * (cuts[:, :-1] + cuts[:, 1:])))  # fmt: skip
    values = {a.name: p[:, None] for a, p in zip(others, points, strict=True)} | {last.name: middle}
    return cuts, [np.broadcast_to(meets(joint_attack, region, values), middle.shape) for region in regions]


def _nodes(others: list[Attribute], last: Attribute, jumps: dict[str, list[float]]) -> SliceNodes:
    parts = [_points(a, _LEVELS[len(others)], jumps[a.name]) for a in others]
    grid = np.meshgrid(*(p for p, _ in parts), indexing="ij")
    weight = np.ones(grid[0].shape)
    for i, (_, w) in enumerate(parts):
        weight = weight * np.reshape(w, [-1 if j == i else 1 for j in range(len(parts))])
    prior = last.prior
    assert isinstance(prior, LinePrior)
    return SliceNodes([g.ravel() for g in grid], weight.ravel(), prior.quick_mass)


def _points(attribute: Attribute, panels: int, jumps: list[float]) -> tuple[Array, Array]:
    """SliceNodes of one attribute, and what each weighs."""
    prior = attribute.prior
    if isinstance(prior, Finite):
        return np.asarray(prior.points) if prior.is_line else np.arange(prior.mass.size, dtype=np.float64), prior.mass
    edges = _panels(attribute, panels, jumps)
    return _weighed(attribute, edges[:-1], edges[1:])


def _panels(attribute: Attribute, panels: int, jumps: list[float]) -> Array:
    """Edges of panels of a number, about as many people in each, finer far out."""
    prior = attribute.prior
    assert isinstance(prior, LinePrior)
    levels = np.concatenate([[_FAR, 1e-9, 1e-6, 1e-4, 1e-3], np.linspace(0, 1, panels + 1)[1:-1]])
    levels = np.unique(np.concatenate([levels, 1 - levels[:5]]))
    edges = np.concatenate([np.asarray(prior.quantile(levels)), np.asarray(prior.breaks, dtype=np.float64)])
    low, high = prior.support
    edges = np.concatenate([edges, [e for e in (low, high, *jumps) if np.isfinite(e) and low <= e <= high]])
    return np.unique(edges[np.isfinite(edges)])


def _weighed(attribute: Attribute, left: Array, right: Array) -> tuple[Array, Array]:
    """Nodes of panels, and what each weighs."""
    prior = attribute.prior
    assert isinstance(prior, LinePrior)
    share = (1 + _NODES) / 2
    x = left[:, None] + (right - left)[:, None] * share
    with np.errstate(all="ignore"):
        density = np.exp(prior.log_density(x)) * _WEIGHTS
    density = np.where(np.isfinite(density), density, 0.0)
    whole = np.sum(density, axis=1, keepdims=True)
    # Each panel has its own mass, whatever its nodes make of it.
    weight = np.where(whole > 0, density / np.where(whole > 0, whole, 1.0), _WEIGHTS / 2)
    return x.ravel(), (weight * prior.quick_mass(left, right)[:, None]).ravel()


def _cuts(
    joint_attack: JointAttack, regions: Iterable[Goal], others: list[Attribute], last: Attribute, points: list[Array]
) -> Array:
    """On every slice the ends of all the goals that the regions are made of."""
    prior = last.prior
    assert isinstance(prior, LinePrior)
    low, high = prior.support
    count = points[0].size
    inner = np.asarray(prior.quantile(np.concatenate([[1e-12, 1e-6, 1e-3], np.linspace(0, 1, _SCAN + 1)[1:-1],
                                                      [1 - 1e-3, 1 - 1e-6, 1 - 1e-12]])))  # fmt: skip
    true = joint_attack.truth.get(last.name)  # a goal around it may be too narrow to hold another node
    inner = np.unique(np.append(inner[np.isfinite(inner)], [] if true is None else [float(true)]))
    found = [np.full((count, 1), end) for end in (low, inner[0], inner[-1], high)]
    for goal in dict.fromkeys(leaf for region in regions for leaf in leaf_goals(region)):
        if isinstance(goal, Together):
            found += _together_ends(joint_attack, goal, others, last, points, inner)
        elif goal.attributes[0].name == last.name:
            found += [np.full((count, 1), e) for pair in joint_attack.intervals(goal) for e in pair]
    return np.sort(np.clip(np.concatenate(found, axis=1), low, high), axis=1)


def _together_ends(
    joint_attack: JointAttack,
    goal: Together,
    others: list[Attribute],
    last: Attribute,
    points: list[Array],
    inner: Array,
) -> list[Array]:
    """Where slices enter and leave a goal about several numbers: sign changes between nodes, halved."""
    t = joint_attack.point(goal)
    names = [a.name for a in goal.members]
    own = {a.name: p for a, p in zip(others, points, strict=True)}
    if last.name not in names:
        return []

    def gaps(y: Array) -> list[Array]:
        values = [y if n == last.name else own[n].reshape([-1] + [1] * (y.ndim - 1)) for n in names]
        if isinstance(goal, FormulaGoal):
            v = goal.values_at(values)
            return [v - end for end in goal.ends(t)]
        return [np.where(goal.holds(values, t), 1.0, -1.0)]

    found: list[Array] = []
    grid = np.broadcast_to(inner, (points[0].size, inner.size))
    for which, gap in enumerate(gaps(grid)):
        turn = (gap[:, :-1] < 0) != (gap[:, 1:] < 0)
        most = int(np.max(np.sum(turn, axis=1), initial=0))
        if not most:
            continue
        order = np.argsort(~turn, axis=1, kind="stable")[:, :most]
        real = np.take_along_axis(turn, order, axis=1)
        a, b = inner[order], inner[order + 1]
        below = np.take_along_axis(gap[:, :-1] < 0, order, axis=1)
        for _ in range(_HALVINGS):
            c = 0.5 * (a + b)
            same = (gaps(c)[which] < 0) == below
            a, b = np.where(same, c, a), np.where(same, b, c)
        found.append(np.where(real, 0.5 * (a + b), inner[0]))
    return found
