"""Cells of several attributes: products of the axes' cells, their masses, goal shares and the edges between them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.several.axes import Axis, CellMove
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.program import Edges
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import And, Compound, Conditional, Goal, Near, Norm, Or, Together, combine, other_side
from guessproof.world.joint import JointHistogram
from guessproof.world.line import LinePrior

_STRIPS = 48  # strips of a cell over which a curved goal is measured
_KNIGHT = ((1, 2), (2, 1), (1, 3), (3, 1), (2, 3), (3, 2))  # steps that make ℓ2 rounder
_MOST_EDGES = 400_000
_FINE = {1: 64, 2: 48, 3: 12}  # parts per axis of a cell that the edge of a formula's goal cuts
_MOST_BOXES = 80_000


@dataclass(frozen=True)
class Lattice:
    """All cells with some mass, flattened; `index` gives each cell's position on every axis."""

    axes: tuple[Axis, ...]
    norm: Norm
    keep: NDArray[np.int64]
    mass: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells on every axis."""
        return tuple(a.size for a in self.axes)

    @property
    def index(self) -> tuple[Any, ...]:
        """Positions on every axis."""
        return np.unravel_index(self.keep, self.shape)

    @property
    def diameter(self) -> Array:
        """How far two points of a cell can be apart."""
        return combine(self.norm, [a.diameter[i] for a, i in zip(self.axes, self.index, strict=True)])


def lattice(axes: tuple[Axis, ...], norm: Norm, joint: JointHistogram | None) -> Lattice:
    """The product of axes; a joint histogram spreads its own weights over it."""
    if joint is None:
        mass = axes[0].mass
        for axis in axes[1:]:
            mass = np.multiply.outer(mass, axis.mass)
    else:
        shares = [_overlaps(axis, np.asarray(joint.edges[joint.axis(axis.attribute.name)])) for axis in axes]
        weights = joint.mass if joint.names[0] == axes[0].attribute.name else joint.mass.T
        mass = shares[0] @ weights @ shares[1].T
    flat = mass.ravel()
    keep = np.flatnonzero(flat > 0)
    return Lattice(axes, norm, keep, flat[keep])


def _overlaps(axis: Axis, edges: Array) -> Array:
    """The share of each of the histogram's intervals that falls into each cell."""
    start = np.maximum(axis.left[:, None], edges[None, :-1])
    end = np.minimum(axis.right[:, None], edges[None, 1:])
    return np.maximum(end - start, 0.0) / np.diff(edges)


def edges_between(cells: Lattice, epsilon: float) -> Edges:
    """Steps along one axis, and along several at once where the norm makes that cheaper."""
    position = np.full(int(np.prod(cells.shape)), -1, dtype=np.int64)
    position[cells.keep] = np.arange(cells.keep.size)
    found = [_joined(cells, steps) for steps in _steps(cells)]
    rows, cols, way = (np.concatenate(part) for part in zip(*found, strict=True))
    rows, cols = position[rows], position[cols]
    some = (rows >= 0) & (cols >= 0)
    return Edges(rows[some], cols[some], epsilon * way[some])


def _steps(cells: Lattice) -> list[tuple[CellMove | None, ...]]:
    """For each edge family one move (or none) per axis."""
    n, stay = len(cells.axes), [None] * len(cells.axes)
    found: list[tuple[CellMove | None, ...]] = []
    for i, axis in enumerate(cells.axes):
        single = [m for m in axis.moves if abs(m.offset) <= 1] + list(axis.tail_moves)
        found += [(*stay[:i], move, *stay[i + 1 :]) for move in single]
    if cells.norm == "l1" or n == 1:
        return found
    budget = _MOST_EDGES
    for choice in product(*([None, *axis.moves] for axis in cells.axes)):
        if sum(m is not None for m in choice) > 1 and _useful(cells, choice):
            budget -= int(np.prod([m.source.size if m else a.size for m, a in zip(choice, cells.axes, strict=True)]))
            if budget < 0:
                break
            found.append(choice)
    return found


def _useful(cells: Lattice, choice: tuple[CellMove | None, ...]) -> bool:
    """Which steps along several axes at once are worth an edge."""
    lines = tuple(abs(m.offset) for m in choice if m is not None and m.offset)
    if len(lines) < sum(m is not None for m in choice):  # with a change of category: any reach up to its own distance
        jump = max(float(np.max(m.way)) for m in choice if m is not None and not m.offset)
        far = min(float(np.min(m.way)) for m in choice if m is not None and m.offset) if lines else 0.0
        return far <= jump * (1 + 1e-9)
    if all(o == 1 for o in lines):
        return True
    return cells.norm != "linf" and len(cells.axes) == 2 and lines in _KNIGHT


def _joined(cells: Lattice, steps: tuple[CellMove | None, ...]) -> tuple[Any, Any, Array]:
    """The flat cells and ways of one family of edges."""
    n = len(cells.axes)

    def along(values: Any, i: int) -> Any:
        return np.asarray(values).reshape([-1 if j == i else 1 for j in range(n)])

    pairs = [
        (step.source, step.target) if step is not None else (np.arange(axis.size),) * 2
        for axis, step in zip(cells.axes, steps, strict=True)
    ]
    rows, cols = (
        np.ravel_multi_index(np.broadcast_arrays(*(along(p[end], i) for i, p in enumerate(pairs))), cells.shape)
        for end in (0, 1)
    )
    way = combine(cells.norm, [along(step.way, i) for i, step in enumerate(steps) if step is not None])
    return rows.ravel(), cols.ravel(), np.broadcast_to(way, rows.shape).ravel()


def split_shares(
    cells: Lattice, goal: Goal, joint_attack: JointAttack
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Bounds on the shares of each cell that are correct guesses and that are wrong ones; what is ruled out is none."""
    if not isinstance(goal, Conditional):
        low, high = goal_shares(cells, goal, joint_attack)
        return (low, high), (1 - high, 1 - low)
    right, wrong = (goal_shares(cells, And((part, goal.region)), joint_attack) for part in (goal.goal, ~goal.goal))
    return right, wrong


def goal_shares(cells: Lattice, goal: Goal, joint_attack: JointAttack) -> tuple[Array, Array]:
    """Bounds on the share of each cell's mass that belongs to the goal; equal wherever its faces lie on edges."""
    if isinstance(goal, Compound):
        parts = [goal_shares(cells, part, joint_attack) for part in goal.parts]
        low, high = ([p[i] for p in parts] for i in (0, 1))
        if isinstance(goal, And):
            return np.maximum(np.sum(low, axis=0) - (len(low) - 1), 0.0), np.min(high, axis=0)
        if isinstance(goal, Or):
            return np.max(low, axis=0), np.minimum(np.sum(high, axis=0), 1.0)
        return 1 - high[0], 1 - low[0]
    if isinstance(goal, Near):
        return near_shares(cells, goal, [float(joint_attack.truth[a.name]) for a in goal.members])
    if isinstance(goal, Together):
        key = (goal, cells.keep.tobytes(), *(end.tobytes() for a in cells.axes for end in (a.left, a.right)))
        kept = joint_attack.shares
        if key not in kept:  # they are the same at every ε
            kept[key] = together_shares(cells, goal, joint_attack.point(goal))
        return kept[key]
    axis = next(i for i, a in enumerate(cells.axes) if a.attribute.name == goal.attributes[0].name)
    share = _axis_share(cells.axes[axis], goal, joint_attack)[cells.index[axis]]
    return share, share


def _axis_share(axis: Axis, goal: Goal, joint_attack: JointAttack) -> Array:
    if axis.is_finite:
        return axis.marks[goal]
    inside = np.zeros(axis.size)
    for lo, hi in joint_attack.intervals(goal):
        inside[(axis.left >= lo) & (axis.right <= hi)] = 1.0
    return inside


def together_shares(cells: Lattice, goal: Together, t: list[float] | None) -> tuple[Array, Array]:
    """Bounds on the share of each cell that a goal about several numbers holds, cells that it cuts cut finer."""
    names = [a.attribute.name for a in cells.axes]
    at = [names.index(a.name) for a in goal.members]
    spans = [tuple(e[cells.index[i]] for e in _span(cells.axes[i])) for i in at]
    wholly, partly = goal.decided([s[0] for s in spans], [s[1] for s in spans], t)
    low, high = wholly.astype(np.float64), partly.astype(np.float64)
    cut = np.flatnonzero(low < high)
    cut = cut[np.all([np.isfinite(a[cut]) & np.isfinite(b[cut]) for a, b in spans], axis=0)]
    parts = max(2, int(min(_FINE[min(len(at), 3)], (_MOST_BOXES / max(cut.size, 1)) ** (1 / len(at)))))
    for some in np.array_split(cut, max(1, cut.size * parts ** len(at) // _MOST_BOXES)):
        ends = [tuple(e[some] for e in s) for s in spans]
        low[some], high[some] = _boxes_within([cells.axes[i] for i in at], ends, goal, t, parts)
    return low, high


def _boxes_within(
    axes: list[Axis], spans: list[Any], goal: Together, t: list[float] | None, parts: int
) -> tuple[Array, Array]:
    """The shares of cells that are cut into boxes, each axis into so many parts."""
    n = len(axes)
    u = np.arange(parts + 1) / parts
    lows, highs, weight = list[Any](), list[Any](), np.ones((1,) * (n + 1))
    for i, (axis, (a, b)) in enumerate(zip(axes, spans, strict=True)):
        if axis.is_finite:
            left = right = a[:, None]
            share = np.ones((a.size, 1))
        else:
            x = a[:, None] + (b - a)[:, None] * u
            left, right = x[:, :-1], np.concatenate([x[:, 1:-1], b[:, None]], axis=1)
            share = _share(axis, left, right)
            share = share / np.sum(share, axis=1, keepdims=True)
        size = [a.size, *(share.shape[1] if j == i else 1 for j in range(n))]
        lows.append(np.reshape(left, size))
        highs.append(np.reshape(right, size))
        weight = weight * np.reshape(share, size)
    wholly, partly = goal.decided(lows, highs, t)
    over = tuple(range(1, n + 1))
    low, high = np.sum(weight * wholly, axis=over), np.sum(weight * partly, axis=over)
    return np.clip(low - 1e-12, 0.0, 1.0), np.clip(high + 1e-12, 0.0, 1.0)


def near_shares(cells: Lattice, goal: Near, t: list[float]) -> tuple[Array, Array]:
    """Bounds on the share of each cell that lies near t."""
    names = [a.attribute.name for a in cells.axes]
    at = [names.index(a.name) for a in goal.members]
    spans = [tuple(e[cells.index[i]] for e in _span(cells.axes[i])) for i in at]
    with np.errstate(invalid="ignore"):
        near = [np.maximum(np.maximum(lo - c, c - hi), 0.0) for (lo, hi), c in zip(spans, t, strict=True)]
        far = [np.maximum(np.abs(lo - c), np.abs(hi - c)) for (lo, hi), c in zip(spans, t, strict=True)]
    low = np.where(combine(goal.by, far) <= goal.radius, 1.0, 0.0)
    high = np.where(combine(goal.by, near) <= goal.radius, 1.0, 0.0)
    cut = np.flatnonzero(low < high)
    finite = np.all([np.isfinite(lo[cut]) & np.isfinite(hi[cut]) for lo, hi in spans], axis=0)
    cut = cut[finite]
    if len(at) == 2 and cut.size:
        axes = [cells.axes[i] for i in at]
        low[cut], high[cut] = _strips(axes, [tuple(e[cut] for e in s) for s in spans], goal, t)
    return low, high


def _span(axis: Axis) -> tuple[Array, Array]:
    if not axis.is_finite:
        return axis.left, axis.right
    prior = axis.attribute.prior
    assert isinstance(prior, Finite)
    points = prior.points[axis.place.astype(np.int64)]
    return points, points


def _strips(axes: list[Axis], spans: list[Any], goal: Near, t: list[float]) -> tuple[Array, Array]:
    """The share of cells that a curve cuts: strips along the first axis, exact intervals on the second."""
    (x0, x1), (y0, y1) = spans
    u = np.arange(_STRIPS + 1) / _STRIPS
    x = x0[:, None] + (x1 - x0)[:, None] * u
    whole = _share(axes[0], x0[:, None], x1[:, None])
    strip = (
        _share(axes[0], x[:, :-1], x[:, 1:]) / whole if not axes[0].is_finite else np.full(x[:, 1:].shape, 1 / _STRIPS)
    )
    gaps = np.abs(x - t[0])
    farthest = np.maximum(gaps[:, :-1], gaps[:, 1:])
    nearest = np.where((x[:, :-1] - t[0]) * (x[:, 1:] - t[0]) <= 0, 0.0, np.minimum(gaps[:, :-1], gaps[:, 1:]))
    answers: list[Array] = []
    for gap in (farthest, nearest):
        reach = _reach(goal, gap)
        lo, hi = np.maximum(t[1] - reach, y0[:, None]), np.minimum(t[1] + reach, y1[:, None])
        if axes[1].is_finite:
            part = np.where((lo <= hi) & (reach >= 0), 1.0, 0.0)
        else:
            part = np.where((lo < hi) & (reach >= 0), _share(axes[1], lo, np.maximum(lo, hi)), 0.0)
            part = part / _share(axes[1], y0[:, None], y1[:, None])
        answers.append(np.sum(strip * np.clip(part, 0.0, 1.0), axis=1))
    return np.clip(answers[0] - 1e-12, 0.0, 1.0), np.clip(answers[1] + 1e-12, 0.0, 1.0)


def _reach(goal: Near, gap: Array) -> Array:
    """How far the second number may be off when the first is off by `gap`; negative where it may not at all."""
    return other_side(goal.by, goal.radius, gap)


def _share(axis: Axis, a: Array, b: Array) -> Array:
    if axis.even or axis.is_finite:
        return np.asarray(b - a)
    prior = axis.attribute.prior
    assert isinstance(prior, LinePrior)
    return prior.quick_mass(a, b)
