"""Cells of several attributes: a bound on the odds of any goal, certified by a linear program.

Cells are products of the axes' cells. The unknowns are their means M_k = E[L | cell k], so the mass of the goal is an
exact sum wherever its faces lie on cell ends. Between cells hold the steps of one attribute (`axes`), and of several
moving at once M_k <= e^c M_k' with

    c = eps·E[d] + tau(eps·diam_k, eps·osc d),    tau as in `world.pieces`,

d the norm of the coupled displacements, E[d] bounded at the corners of their ranges with product weights that keep the
means (Edmundson-Madansky), diam_k of cell k along the moving attributes. A cell of which the goal holds the share alpha
(from above) puts at most min(alpha e^w/(alpha e^w + 1 - alpha), alpha + e^w (eps/2) sqrt(2 alpha (1 - alpha)) rms d) of
its likelihood on the goal, w = eps·diam_k, and the rest off it. Leaving a step out only loosens the bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import product
from typing import Any

import numpy as np

from guessproof.risk.finite.linear import Couplings, ProgramBound, best_odds
from guessproof.risk.joint.axes import (
    LABELS,
    AxisStep,
    GridAxis,
    Index,
    Resolution,
    cell_ends,
    label_axis,
    line_axis,
    quantile,
)
from guessproof.risk.joint.frame import Box, Frame, frame_of
from guessproof.risk.joint.joint_attack import JointAttack, span
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array, Mask
from guessproof.world.finite import Finite
from guessproof.world.goals import And, Compound, Conditional, Goal, Or, Together
from guessproof.world.pieces import spread

TAIL_OFFSETS = (
    1,
    2,
    3,
    5,
    8,
    13,
    21,
)  # steps beside a change of label, which a longer way on the line costs nothing
WORTH = 1.5  # times the way between labels up to which a step along a line beside it is tried
QUADRATURE = 1e-6  # relative error that the probability of a curved region may have
SPLIT = 4  # parts per axis and round of a cell that the goal cuts
ROUNDS = 4  # of them at most
MOST_BOXES = 60_000  # parts of cells in one round; more would take longer than the program
SEARCH_ROUNDS = 18  # bisections of the common width of cells
WIDTHS = 1e-3, 2.0  # of the widest attribute, between which that lies
PAD_SHARE = 1e-13  # rounding of the sums of shares

# Chosen so that bounds of random questions are least for the time: far cells matter little beside a box, tails less
# still where there are three axes, and all of them where a goal runs through them.
BOX = Resolution(cells=400, growth=1.2, tail=4e-3)
BOX_OF_THREE = Resolution(cells=2000, growth=1.2, tail=4e-2)
CURVED = Resolution(cells=900, growth=1.1, tail=4e-3, beyond=1e-9)


def resolution_of(members: Sequence[Attribute], goal: Goal) -> Resolution:
    """The resolution of a bound that answers at once."""
    if (
        any(isinstance(leaf, Together) for leaf in leaves(goal))
        or frame_of(members, "l1").tilts
    ):
        return CURVED
    return BOX_OF_THREE if sum(not _is_labelled(a) for a in members) > 2 else BOX


@dataclass(frozen=True, eq=False)
class CellGrid:
    """All cells with some mass, flattened."""

    axes: tuple[GridAxis, ...]
    frame: Frame

    @cached_property
    def _masses(self) -> Array:
        """Masses of all cells; those of a joint histogram lie in one of its rectangles each."""
        joint = self.frame.histogram
        if joint is None:
            return reduce(np.multiply.outer, [axis.mass for axis in self.axes]).ravel()
        shares: list[Array] = []
        for axis in self.axes:
            edges = np.asarray(joint.edges[joint.axis(axis.attribute.name)])
            inside = np.minimum(axis.high[:, None], edges[1:]) - np.maximum(
                axis.low[:, None], edges[:-1]
            )
            shares.append(np.maximum(inside, 0.0) / np.diff(edges))
        weights = joint.mass if joint.names[0] == self.axes[0].attribute.name else joint.mass.T
        return (shares[0] @ weights @ shares[1].T).ravel()

    @cached_property
    def keep(self) -> Index:
        """The cells with some mass, among all."""
        return np.flatnonzero(self._masses > 0)

    @cached_property
    def mass(self) -> Array:
        """Their masses."""
        return self._masses[self.keep]

    @cached_property
    def index(self) -> tuple[Any, ...]:
        """Their positions on every axis."""
        return np.unravel_index(self.keep, tuple(axis.size for axis in self.axes))

    def along(self, column: str) -> list[Array]:
        """A column of each axis, for every cell."""
        return [getattr(axis, column)[i] for axis, i in zip(self.axes, self.index, strict=True)]

    @cached_property
    def diameter(self) -> Array:
        """The largest distance between two points of a cell."""
        return self.frame.reach(self.along("diameter"))


def leaves(goal: Goal) -> list[Goal]:
    """The goals that a compound is made of, each once; what is known besides among them."""
    if isinstance(goal, Conditional):
        return list(dict.fromkeys([*leaves(goal.goal), *leaves(goal.region)]))
    if isinstance(goal, Compound):
        return list(dict.fromkeys(leaf for part in goal.parts for leaf in leaves(part)))
    return [goal]


def cut_grid(question: JointAttack, goal: Goal, resolution: Resolution) -> CellGrid:
    """The space cut into about as many cells as the resolution says."""
    frame = frame_of(question.members(goal), question.norm)
    fixed = _fixed_points(question, frame, leaves(goal))
    labels = {a.name: label_axis(a) for a in frame.axes if _is_labelled(a)}
    lines = [a for a in frame.axes if a.name not in labels]
    each = resolution.cells // max(1, int(np.prod([axis.size for axis in labels.values()])))
    width = _common_width(lines, fixed, replace(resolution, cells=max(each, 2)))
    return CellGrid(
        tuple(
            labels.get(a.name) or line_axis(a, cell_ends(a, fixed[a.name], width, resolution)) for a in frame.axes
        ),
        frame,
    )  # fmt: skip


def _is_labelled(attribute: Attribute) -> bool:
    prior = attribute.prior
    return isinstance(prior, Finite) and (not prior.is_line or len(prior.values) <= LABELS)


def _fixed_points(
    question: JointAttack, frame: Frame, parts: list[Goal]
) -> dict[str, list[float]]:
    """Points of every axis that must be cell ends: those of the goal, and of a joint histogram."""
    found: dict[str, set[float]] = {a.name: set() for a in frame.axes}
    for goal in parts:
        for attribute in question.members(goal):
            if not _is_labelled(attribute):
                found[attribute.name] |= set(question.marks(goal, attribute.name))
    for i, j, tilt in frame.tilts:  # the goal is not upright there, but lies about these places
        own, other = (frame.axes[k] for k in (i, j))
        beside = sorted(found[other.name]) or [quantile(other.prior, 0.5)]
        found[own.name] = {x - tilt * float(np.mean(beside)) for x in found[own.name]}
    for attribute in frame.axes:
        points = found[attribute.name]
        if frame.histogram is not None:
            points |= set(frame.histogram.edges[frame.histogram.axis(attribute.name)])
        if isinstance(
            attribute.prior, Finite
        ):  # atoms belong to one cell: its ends lie just beside them
            found[attribute.name] = {
                np.nextafter(x, side) for x in points for side in (-np.inf, np.inf)
            }
    return {name: sorted(points) for name, points in found.items()}


def _common_width(
    lines: list[Attribute], fixed: dict[str, list[float]], resolution: Resolution
) -> float:
    """The width of cells, as a distance, that makes about as many of them as wanted."""
    spans = [0.0]
    for attribute in lines:
        low, high = (np.asarray(quantile(attribute.prior, u)) for u in (BOX.tail, 1 - BOX.tail))
        spans.append(float(attribute.distance.spread((low, low), (high, high))))
    most = max((size for size in spans if np.isfinite(size)), default=0.0) or 1.0
    low, high = WIDTHS[0] * most, WIDTHS[1] * most
    for _ in range(SEARCH_ROUNDS):
        width = float(np.sqrt(low * high))
        count = np.prod(
            [cell_ends(a, fixed[a.name], width, resolution).size - 1.0 for a in lines]
        )
        low, high = (width, high) if count > resolution.cells else (low, width)
    return high


def couplings(grid: CellGrid, epsilon: float) -> Couplings:
    """All steps: of one attribute, and of several at once where the norm makes that cheaper."""
    shape = tuple(axis.size for axis in grid.axes)
    places = np.arange(int(np.prod(shape))).reshape(shape)
    position = np.full(places.size, -1, dtype=np.int64)
    position[grid.keep] = np.arange(grid.keep.size)
    found = [_together(grid, choice, epsilon) for choice in _choices(grid)]
    for i, axis in enumerate(grid.axes):
        rows, cols, cost = axis.neighbours(epsilon)
        flat = np.moveaxis(places, i, 0)
        ends = [flat[end].reshape(cost.size, -1) for end in (rows, cols)]
        found.append((ends[0].ravel(), ends[1].ravel(), np.repeat(cost, ends[0].shape[1])))
    rows, cols, cost = (np.concatenate(part) for part in zip(*found, strict=True))
    rows, cols = position[rows], position[cols]
    some = (rows >= 0) & (cols >= 0) & np.isfinite(cost)
    return Couplings(rows[some], cols[some], cost[some])


def _choices(grid: CellGrid) -> list[tuple[AxisStep | None, ...]]:
    """Which steps of several attributes at once are worth an edge."""
    if grid.frame.norm == "l1" and not grid.frame.tilts:
        return []
    lines = sum(not _is_labelled(axis.attribute) for axis in grid.axes)
    offsets = (1,) if lines > 2 else TAIL_OFFSETS[:2]
    if lines < len(grid.axes):
        offsets = TAIL_OFFSETS if lines == 1 else TAIL_OFFSETS[:2]
    found = product(
        *([None, *(s for s in axis.steps(offsets) if s.source.size)] for axis in grid.axes)
    )
    return [
        choice for choice in found if _is_worth([step for step in choice if step is not None])
    ]


def _is_worth(steps: list[AxisStep]) -> bool:
    lines = sorted(abs(step.offset) for step in steps if step.offset)
    if len(steps) < 2 or len(lines) == len(steps):
        return len(steps) > 1 and lines[0] == 1
    jump = max(float(np.max(step.mean)) for step in steps if not step.offset)
    return all(float(np.min(step.mean)) <= WORTH * jump for step in steps if step.offset)


def _together(
    grid: CellGrid, choice: tuple[AxisStep | None, ...], epsilon: float
) -> tuple[Any, Any, Array]:
    """The edges of one choice of steps, None where an attribute stays."""
    moving = [(i, step) for i, step in enumerate(choice) if step is not None]
    which, frame = [i for i, _ in moving], grid.frame

    def shaped(values: Any, i: int) -> Any:
        return np.reshape(values, [-1 if j == i else 1 for j in range(len(choice))])

    def ends(side: str) -> Any:
        places = [
            shaped(np.arange(axis.size) if step is None else getattr(step, side), i)
            for i, (axis, step) in enumerate(zip(grid.axes, choice, strict=True))
        ]
        return np.ravel_multi_index(
            np.broadcast_arrays(*places), tuple(axis.size for axis in grid.axes)
        )

    least, most, mean = (
        [shaped(np.sign(step.offset or 1) * getattr(step, side), i) for i, step in moving]
        for side in ("least", "most", "mean")
    )
    corners: dict[tuple[int, ...], Any] = {
        sides: frame.distance([(least, most)[side][i] for i, side in enumerate(sides)], which)
        for sides in product((0, 1), repeat=len(which))
    }
    far, near = reduce(np.maximum, corners.values()), corners[(0,) * len(which)]
    if (
        frame.turn is not None
    ):  # of a convex function the values at opposite points are on average above the middle's
        middle = frame.distance(
            [0.5 * (low + high) for low, high in zip(least, most, strict=True)], which
        )
        near = np.maximum(2 * middle - far, 0.0)
    diameter = frame.reach(
        [shaped(grid.axes[i].diameter[step.source], i) for i, step in moving], which
    )
    with np.errstate(invalid="ignore"):
        cost = epsilon * _mean_norm(corners, least, mean, most) + spread(
            epsilon * diameter, epsilon * (far - near)
        )
    rows = ends("source")
    return (
        rows.ravel(),
        ends("target").ravel(),
        np.broadcast_to(np.minimum(cost, epsilon * far), rows.shape).ravel(),
    )


def _mean_norm(
    corners: dict[tuple[int, ...], Any], least: list[Any], mean: list[Any], most: list[Any]
) -> Any:
    """What the mean of a norm of independent parts is at most, from their ranges and means: it is convex in each."""
    shares: list[Any] = []
    for low, middle, high in zip(least, mean, most, strict=True):
        gap = high - low
        shares.append(
            np.clip(
                np.where(gap != 0, (middle - low) / np.where(gap != 0, gap, 1.0), 1.0), 0, 1
            )
        )
    total: Any = 0.0
    for sides, value in corners.items():
        weights = [
            share if side else 1 - share for share, side in zip(shares, sides, strict=True)
        ]
        total = total + reduce(np.multiply, weights) * value
    return total


def shares_of(grid: CellGrid, question: JointAttack, goal: Goal) -> list[tuple[Array, Array]]:
    """Bounds on the shares of right guesses; and of wrong ones, where a third kind is ruled out."""
    parts: list[Goal] = [goal]
    if isinstance(goal, Conditional):
        parts = [And((part, goal.region)) for part in (goal.goal, ~goal.goal)]
    return [_region_shares(grid, question, part) for part in parts]


def _region_shares(grid: CellGrid, question: JointAttack, goal: Goal) -> tuple[Array, Array]:
    """Bounds on the share of each cell that meets a goal; cells that it cuts are divided."""
    boxes: list[Box] = list(zip(grid.along("low"), grid.along("high"), strict=True))
    wholly, partly = decided(question, goal, grid.frame, boxes)
    low, high = wholly.astype(np.float64), partly.astype(np.float64)
    split = [i for i, axis in enumerate(grid.axes) if axis.is_split]
    cut = partly & ~wholly & np.all([np.isfinite(b - a) for a, b in boxes], axis=0)
    cells = np.flatnonzero(cut & bool(split))
    high[cells] = 0.0
    weight, boxes = np.ones(cells.size), [(a[cells], b[cells]) for a, b in boxes]
    for _ in range(ROUNDS):
        if not 0 < cells.size * SPLIT ** len(split) <= MOST_BOXES:
            break
        for k in split:
            boxes, weight, cells = _divided(
                grid.axes[k].attribute.prior, k, boxes, weight, cells
            )
        wholly, partly = decided(question, goal, grid.frame, boxes)
        np.add.at(low, cells[wholly], weight[wholly])
        np.add.at(high, cells[wholly], weight[wholly])
        rest = partly & ~wholly
        cells, weight, boxes = cells[rest], weight[rest], [(a[rest], b[rest]) for a, b in boxes]
    np.add.at(high, cells, weight)
    inner = np.where(cut, np.maximum(low - PAD_SHARE, 0.0), low)
    return inner, np.where(cut, np.minimum(high + PAD_SHARE * (high > 0), 1.0), high)


def _divided(
    prior: Any, k: int, boxes: list[Box], weight: Array, cells: Index
) -> tuple[list[Box], Array, Index]:
    """Boxes divided along axis k, with their shares of the cell that each belongs to."""
    whole = np.repeat(prior.mass(*boxes[k]), SPLIT)
    boxes = [(np.repeat(a, SPLIT), np.repeat(b, SPLIT)) for a, b in boxes]
    weight, cells = np.repeat(weight, SPLIT), np.repeat(cells, SPLIT)
    low, high = boxes[k]
    place = np.arange(low.size) % SPLIT
    ends = [low + (high - low) * (place / SPLIT), low + (high - low) * ((place + 1) / SPLIT)]
    boxes[k] = ends[0], np.where(place == SPLIT - 1, high, ends[1])
    share = prior.mass(*boxes[k]) / np.where(whole > 0, whole, 1.0)
    return boxes, weight * np.where(whole > 0, share, 0.0), cells


def decided(
    question: JointAttack, goal: Goal, frame: Frame, boxes: Sequence[Box]
) -> tuple[Mask, Mask]:
    """Of boxes of the axes: which hold right guesses only, and which may hold any; labels by their positions."""
    if isinstance(goal, Compound):
        parts = [decided(question, part, frame, boxes) for part in goal.parts]
        wholly, partly = ([part[side] for part in parts] for side in (0, 1))
        if isinstance(goal, And):
            return np.all(wholly, axis=0), np.all(partly, axis=0)
        if isinstance(goal, Or):
            return np.any(wholly, axis=0), np.any(partly, axis=0)
        return ~partly[0], ~wholly[0]
    names = [a.name for a in frame.axes]
    values = frame.values(boxes)
    sides = [values[names.index(a.name)] for a in goal.attributes]
    if isinstance(goal, Together):
        wholly, partly = goal.decided(
            [low for low, _ in sides], [high for _, high in sides], question.point(goal)
        )
        return np.asarray(wholly), np.asarray(partly)
    (low, high), (attribute,) = sides[0], question.members(goal)
    prior = attribute.prior
    if isinstance(prior, Finite):
        chosen = np.asarray(goal.chosen(prior, question.at(goal))) > 0
        points = prior.points if prior.is_line else np.arange(chosen.size)
        ends = [
            np.searchsorted(points, high, side="right"),
            np.searchsorted(points, low, side="left"),
        ]
        right, wrong = (
            np.append(0, np.cumsum((prior.mass > 0) & kind))[ends] for kind in (chosen, ~chosen)
        )  # fmt: skip
        return wrong[0] == wrong[1], right[0] > right[1]
    wholly = partly = np.zeros(np.shape(low), dtype=bool)
    for a, b in question.intervals(goal):
        wholly = wholly | ((low >= a) & (high <= b))
        partly = partly | ((high > a) & (low < b))  # an end that is shared has no mass
    return wholly, partly | wholly


def _corrected(
    grid: CellGrid,
    share: tuple[Array, Array],
    inside: Array,
    epsilon: float,
    probability: float,
) -> Array:
    """Weights without what the upper bounds of shares have too much of, where that is less in all.

    Shares are too large by s = sum of mass·share - P in all, and a cell's weight e^w a / (e^w a + 1 - a) has a slope of
    e^-w at least. All M_k of cut cells are within e^{-eps·D} of each other, D the reach of these cells, so the excess
    may be taken wherever the bounds of shares are apart.
    """
    w = epsilon * grid.diameter
    low, high = share
    gap = grid.mass * np.where(np.isfinite(w), high - low, 0.0)
    excess = float(grid.mass @ np.where(np.isfinite(w), high, low)) - probability * (
        1 + QUADRATURE
    )
    cut = gap > 0
    if not 0 < excess <= float(np.sum(gap)):
        return inside
    spans: list[float] = []
    for axis, a, b in zip(grid.axes, grid.along("low"), grid.along("high"), strict=True):
        ends = np.min(a[cut]), np.max(b[cut])
        pairs = [(np.asarray(end), np.asarray(end)) for end in ends]
        spans.append(
            float(axis.attribute.distance.spread(*pairs))
            if axis.is_split
            else span(axis.attribute)
        )
    reach = epsilon * float(grid.frame.reach(spans)) + float(np.max(w[cut]))
    found = grid.mass * _most_inside(high, w, np.inf) - np.exp(-reach) * excess * gap / np.sum(
        gap
    )
    return found if np.sum(found) < np.sum(inside) else inside


def _most_inside(share: Array, w: Array, move: Any) -> Array:
    """The most of a cell's likelihood that a share of it can hold."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        two_valued = share / (share + (1 - share) * np.exp(-w))
        smooth = share + np.exp(w) * move / 2 * np.sqrt(2 * share * (1 - share))
    cut = (share > 0) & (share < 1)
    most = np.where(np.isfinite(w), np.fmin(two_valued, smooth), 1.0)
    return np.where(cut, np.minimum(most, 1.0), share)


@dataclass(frozen=True, eq=False)
class CellBound:
    """A grid, the program's answer for it (log-odds that no likelihood exceeds), and what cells weigh in that."""

    grid: CellGrid
    program: ProgramBound
    weight: Array


def cell_bound(
    question: JointAttack,
    goal: Goal,
    epsilon: float,
    finer: float = 1,
    *,
    probability: float | None = None,
) -> CellBound:
    """Return the odds of a goal that no likelihood of rate epsilon exceeds, by `finer` times the usual cells.

    `probability` of the goal, where it is known better than from the cells that the goal cuts.
    """
    key = (goal, finer)
    if key not in question.shares:  # the same at every epsilon
        grid = cut_grid(
            question, goal, resolution_of(question.members(goal), goal).finer(finer)
        )
        question.shares[key] = grid, shares_of(grid, question, goal)
    grid, shares = question.shares[key]
    w = epsilon * grid.diameter
    inside = grid.mass * _most_inside(
        shares[0][1], w, epsilon * grid.frame.rms(grid.along("rms"))
    )
    outside = grid.mass - inside
    if (
        len(shares) > 1
    ):  # a third kind is ruled out: what is surely wrong has the least weight that the rest leaves it
        outside = np.minimum(
            grid.mass * (1 - _most_inside(1 - shares[1][0], w, np.inf)), outside
        )
    elif probability is not None:
        inside = _corrected(grid, shares[0], inside, epsilon, probability)
        outside = grid.mass - inside
    return CellBound(
        grid, best_odds(inside, outside, couplings(grid, epsilon)), inside + outside
    )
