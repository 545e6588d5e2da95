"""One attribute cut into cells: their masses, and how far a coupling moves from one cell to another.

Two cells of a line are coupled quantile to quantile; nothing moves further than sup_u d(Q_a(u), Q_b(u)), which is
bounded on a grid of u by the spread of each step (quantile functions rise). A cell that reaches to infinity is joined
to its neighbour by the exponential moments of the tail.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.combinations import axis_labels
from guessproof.risk.several.joint_attack import is_untouched
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal
from guessproof.world.line import LinePrior
from guessproof.world.line_form import Metric

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]
_GRID = 512  # steps of u
TAILS = (1e-4, 3e-4, 1e-3, 3e-3)  # probabilities that may be left to a cell that reaches to infinity
_THIN = 1e-9  # below this mass quantiles have too few digits, and a cell is coupled as a whole


@dataclass(frozen=True)
class CellMove:
    """Coupled steps from cells `source` to cells `target`: M_source ≤ e^{ε·way} M_target."""

    source: Index
    target: Index
    way: Array
    offset: int  # how many cells further, 0 between categories


@dataclass(frozen=True)
class Axis:
    """The cells of one attribute. `place` is ψ of a typical point (an index for finite attributes)."""

    attribute: Attribute
    left: Array
    right: Array
    mass: Array
    place: Array
    moves: tuple[CellMove, ...]
    tail_moves: tuple[CellMove, ...]
    even: bool = False  # the density is constant in each cell
    table: Array | None = None  # distances between the cells of a finite attribute
    marks: Mapping[Goal, Array] = field(default_factory=dict[Goal, Array])  # which of those cells meet a goal

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.mass.size

    @property
    def is_finite(self) -> bool:
        """Whether the cells are single values, or sets of values that nothing tells apart."""
        return self.table is not None

    @property
    def diameter(self) -> Array:
        """How far two points of a cell can be apart."""
        if self.is_finite:
            return np.zeros(self.size)
        with np.errstate(invalid="ignore"):
            reach = self.attribute.distance.spread((self.left, self.right), (self.left, self.right))
        return np.where(np.isnan(reach), np.inf, reach)


def edges_of(attribute: Attribute, fixed: list[float], width: float, even: bool, tail: float = TAILS[-1]) -> Array:
    """Edges of a line's cells, about `width` apart as distances, with every fixed point and break on an edge."""
    prior, metric = attribute.prior, attribute.distance
    assert isinstance(prior, LinePrior)
    low, high = prior.support
    marks = [*fixed, *metric.breaks, *(prior.breaks if even or len(prior.breaks) <= 12 else ())]
    knots = sorted({float(m) for m in marks if low < m < high and np.isfinite(m)})
    if not knots:
        knots = [float(prior.quantile(0.5))]
    inner = [_evenly(metric, a, b, width) for a, b in pairwise(knots)]
    middle = np.concatenate([[knots[0]], *(e[1:] for e in inner)])
    near, far = (float(e) for e in prior.quantile([tail, 1 - tail]))
    before = _outward(metric, knots[0], near, low, width, -1)
    after = _outward(metric, knots[-1], far, high, width, +1)
    return np.concatenate([before[::-1], middle, after])


def _evenly(metric: Metric, a: float, b: float, width: float) -> Array:
    length = _length(metric, a, b)
    return np.linspace(a, b, max(1, round(length / width)) + 1)


def _length(metric: Metric, a: float, b: float) -> float:
    slope, _ = metric.tail
    one, two = np.asarray(a), np.asarray(b)
    return max(float(metric.spread((one, two), (one, two))), slope * (b - a))


def _outward(metric: Metric, start: float, reach: float, end: float, width: float, sign: int) -> Array:
    """Edges from the last fixed point to beyond `reach`, then the end of the support."""
    unit = _length(metric, start, start + 1.0) if sign > 0 else _length(metric, start - 1.0, start)
    step = width / unit if unit > 0 else np.inf
    edges: list[float] = []
    at = start
    while sign * (reach - at) > 1e-9 * abs(reach) and np.isfinite(step) and len(edges) < 400:
        at = at + sign * step * max(1.0, 1.1 ** (len(edges) - 120))
        if np.isfinite(end) and sign * (end - at) < 0.5 * step:
            break
        edges.append(at)
    return np.array([*edges, end])


def line_axis(attribute: Attribute, edges: Array, epsilon: float, offsets: int, even: bool) -> Axis:
    """A line cut at the given edges."""
    prior, metric = attribute.prior, attribute.distance
    assert isinstance(prior, LinePrior)
    left, right = edges[:-1], edges[1:]
    mass = prior.quick_mass(left, right)
    keep = mass > 0
    left, right, mass = left[keep], right[keep], mass[keep]
    quantiles = _quantiles(prior, left, right, mass, even)
    inner = np.isfinite(left) & np.isfinite(right)
    thin = mass < _THIN
    moves = [m for o in range(1, offsets + 1) for m in _coupled(metric, quantiles, left, right, inner, thin, o)]
    tails = _tails(prior, metric, left, right, epsilon)
    middle = quantiles[:, _GRID // 2]
    form = metric.line_form
    place = middle if form is None else form.psi(middle)
    return Axis(
        attribute=attribute,
        left=left,
        right=right,
        mass=mass,
        place=np.asarray(place),
        moves=tuple(moves),
        tail_moves=tuple(tails),
        even=even,
    )


def finite_axis(attribute: Attribute, goals: dict[Goal, Array]) -> Axis:
    """A finite attribute, value by value."""
    prior = attribute.prior
    assert isinstance(prior, Finite)
    labels = axis_labels(prior)
    table = attribute.distance.distance(labels[:, None], labels[None, :])
    return _table_axis(attribute, prior.mass, table, goals)


def class_axis(attribute: Attribute, mass: Array, goals: dict[Goal, Array]) -> Axis:
    """An attribute whose values are all one step apart: those that no goal tells apart are one value."""
    if goals:
        rows = np.stack(list(goals.values()))
        kinds, inverse = np.unique(rows, axis=1, return_inverse=True)
        mass = np.asarray(np.bincount(inverse.ravel(), mass), dtype=np.float64)
        goals = {goal: kinds[i] for i, goal in enumerate(goals)}
    else:
        mass = np.array([float(mass.sum())])
    form = attribute.distance.line_form
    step = 0.0 if is_untouched(attribute.distance) or form is None else form.step
    return _table_axis(attribute, mass, step * (1 - np.eye(mass.size)), goals)


def _table_axis(attribute: Attribute, mass: Array, table: Array, goals: dict[Goal, Array]) -> Axis:
    source, target = np.nonzero(~np.eye(mass.size, dtype=bool) & np.isfinite(table))
    moves = (CellMove(source, target, table[source, target], 0),) if source.size else ()
    none, place = np.full(mass.size, np.nan), np.arange(mass.size, dtype=np.float64)
    return Axis(attribute, none, none, np.asarray(mass), place, moves, (), table=table, marks=goals)


def _quantiles(prior: LinePrior, left: Array, right: Array, mass: Array, even: bool) -> Array:
    """The conditional quantiles of each cell, one row a cell."""
    u = np.linspace(0, 1, _GRID + 1)
    with np.errstate(invalid="ignore", over="ignore"):
        if even:
            return left[:, None] + (right - left)[:, None] * u
        below = prior.quick_mass(np.full(left.shape, -np.inf), left)[:, None]
        x = np.asarray(prior.quantile(np.clip(below + mass[:, None] * u, 0.0, 1.0)))
    x = np.clip(x, left[:, None], right[:, None])
    x[:, 0], x[:, -1] = left, right
    return x


def _coupled(
    metric: Metric, q: Array, left: Array, right: Array, inner: Flags, thin: Flags, offset: int
) -> list[CellMove]:
    """Both directions of the coupling of cells `offset` apart; cells that reach to infinity are left out."""
    n = len(left)
    if n <= offset:
        return []
    first = np.arange(n - offset)
    first = first[inner[:-offset] & inner[offset:]]
    second = first + offset
    way = np.zeros(first.size)
    if first.size:
        ends = []
        for cells in (first, second):
            size = 1e-9 * (right[cells] - left[cells])[:, None]
            a = np.maximum(q[cells, :-1] - size, left[cells][:, None])
            b = np.minimum(q[cells, 1:] + size, right[cells][:, None])
            ends.append((a, b))
        way = np.max(metric.spread(ends[0], ends[1]), axis=1)
        whole = metric.spread((left[first], right[first]), (left[second], right[second]))
        way = np.where(thin[first] | thin[second], whole, np.minimum(way, whole)) * (1 + 1e-12)
    return [CellMove(first, second, way, offset), CellMove(second, first, way, -offset)]


def _tails(prior: LinePrior, metric: Metric, left: Array, right: Array, epsilon: float) -> list[CellMove]:
    """Steps into and out of a cell that reaches to infinity, through its finite edge."""
    slope, extra = metric.tail
    moves: list[CellMove] = []
    n = len(left)
    for t, other, edge, sign in ((0, 1, right[0], -1), (n - 1, n - 2, left[-1], +1)):
        if n < 2 or (np.isfinite(left[t]) and np.isfinite(right[t])):
            continue
        if not (np.isfinite(left[other]) and np.isfinite(right[other])):
            continue
        # From just inside the tail: the edge itself may lie on the other side of a break.
        here = np.asarray(np.nextafter(edge, sign * np.inf))
        to_edge = float(metric.spread((left[other], right[other]), (here, here))) + extra
        whole = float(prior.log_tilt(0.0, left[t], right[t]))
        up, down = (
            float(prior.log_tilt(s * epsilon * slope * sign, left[t], right[t], edge)) - whole for s in (+1, -1)
        )
        tail, near = np.array([t]), np.array([other])
        if np.isfinite(down):
            moves.append(CellMove(near, tail, np.array([to_edge - down / epsilon]), other - t))
        if np.isfinite(up):
            moves.append(CellMove(tail, near, np.array([to_edge + up / epsilon]), t - other))
    return moves
