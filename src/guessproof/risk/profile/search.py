"""The infimum of ε over a rectangle of priors: the best point found, and the proof that none is better.

The proof is branch and bound. ε is safe at (p, q) exactly where h = ln r*(p, q) + ln g(p, q) ≥ 0, with
g = pq + p(1−q)x² + (1−p)x and x = e^{−ε}. g is bilinear, so its range over a cell is that of the cell's
corners. A cell passes if the lowest r* times the lowest g is at least 1, or if h at the centre exceeds
what the slopes of ln r* and ln g can take away on the way to the border; the second test errs by the
square of the cell's width. Cells that fail are cut up. A cell too small to cut is taken at its lowest
value: where r* jumps, that is the lower side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from guessproof.intervals import IntervalArray
from guessproof.risk.profile.checks import Array, Flags, Span
from guessproof.risk.profile.formulas import implied_epsilon

Evaluate = Callable[[Array, Array], Array]

TOLERANCE = 2e-7
_ROUNDING = 1e-13
_FIRST_CELLS = 12
_MOST_CELLS = 40_000
_FEW_CELLS = 64
_MOST_ROUNDS = 80
_SMALLEST = 2.0**-40


@dataclass(frozen=True)
class PriorPoint:
    """A pair of priors with the ε allowed there, negative where r* is below 1."""

    p: float
    q: float
    epsilon: float


@dataclass(frozen=True)
class PriorCells:
    p: IntervalArray
    q: IntervalArray

    @property
    def centre(self) -> tuple[Array, Array]:
        return (self.p.low + self.p.high) / 2, (self.q.low + self.q.high) / 2

    @property
    def half_widths(self) -> tuple[Array, Array]:
        return (self.p.high - self.p.low) / 2, (self.q.high - self.q.low) / 2

    def __len__(self) -> int:
        return len(self.p.low)

    def __getitem__(self, kept: Flags) -> PriorCells:
        return PriorCells(_pick(self.p, kept), _pick(self.q, kept))


@dataclass(frozen=True)
class Knowledge:
    """What is certain about ln r* on each cell."""

    lowest: Array
    """A lower bound on the cell."""
    centre: Array
    """A lower bound at the centre."""
    slope_p: IntervalArray
    slope_q: IntervalArray

    def __getitem__(self, kept: Flags) -> Knowledge:
        slopes = _pick(self.slope_p, kept), _pick(self.slope_q, kept)
        return Knowledge(self.lowest[kept], self.centre[kept], *slopes)


def _pick(a: IntervalArray, kept: Flags) -> IntervalArray:
    return IntervalArray(a.low[kept], a.high[kept])


Know = Callable[[PriorCells], Knowledge]


@dataclass(frozen=True)
class Proof:
    epsilon: float
    """Proven: no point of the region allows less."""
    best: PriorPoint
    """The lowest point seen."""


def prove(evaluate: Evaluate, know: Know, p: Span, q: Span, best: PriorPoint) -> Proof | None:
    """Show that no point of the region is lower than ``best`` by more than a tolerance.

    If better points turn up on the way, the claim is lowered to them. If too many cells are left over, the
    tolerance is widened: the answer stays proven, and is further from the best point. None if nothing
    can be shown.
    """
    cells, tolerance, floor = grid_cells(p, q), TOLERANCE, math.inf
    for _ in range(_MOST_ROUNDS):
        known = know(cells)
        best = _improved(best, evaluate, cells, known, p, q)
        failed = ~_passes(cells, known, best.epsilon - tolerance)
        while -1 < best.epsilon - tolerance < math.inf and np.count_nonzero(failed) > _MOST_CELLS:
            tolerance *= 4
            failed = ~_passes(cells, known, best.epsilon - tolerance)
        cells, known = cells[failed], known[failed]
        tiny = np.maximum(*cells.half_widths) < _SMALLEST
        floor = min(floor, _lowest(evaluate, cells[tiny], known[tiny]))
        # Where nothing binds, the tolerance cannot be widened, and cells too small to cut show nothing.
        unbounded = math.isinf(best.epsilon)
        if floor < -1 or (unbounded and tiny.any()) or len(cells) > _MOST_CELLS // (20 if unbounded else 1):
            return None
        if tiny.all():
            return Proof(min(best.epsilon - tolerance, floor), best)
        cells = _cut(cells[~tiny], known[~tiny])
    return None


def _passes(cells: PriorCells, known: Knowledge, epsilon: float) -> Flags:
    """Whether ε is safe on the whole of each cell, for certain."""
    x = math.exp(-epsilon)
    (p0, p1), (q0, q1) = cells.p, cells.q
    corners = [_total(p, q, x) for p in (p0, p1) for q in (q0, q1)]
    least, most = np.minimum.reduce(corners), np.maximum.reduce(corners)
    with np.errstate(all="ignore"):
        inverse = IntervalArray(1 / most, 1 / least)
        rise_p = [end * (1 - x * x) - x * (1 - x) for end in (q0, q1)]
        rise_q = [end * (1 - x * x) for end in (p0, p1)]
        away = np.zeros(len(cells))
        for half, slope, ends in zip(cells.half_widths, (known.slope_p, known.slope_q), (rise_p, rise_q), strict=True):
            ln_g = IntervalArray(np.minimum(*ends), np.maximum(*ends)) * inverse
            away = away + np.where(half > 0, half * (slope + ln_g).size, 0.0)
        natural = known.lowest + np.log(least)
        centred = known.centre + np.log(_total(*cells.centre, x)) - away
    return (natural >= _ROUNDING) | (centred >= _ROUNDING) | (known.lowest == np.inf)


def _total(p: Array, q: Array, x: float) -> Array:
    return p * q + p * (1 - q) * (x * x) + (1 - p) * x


def _lowest(evaluate: Evaluate, cells: PriorCells, known: Knowledge) -> float:
    """The smallest ε that the lowest ratio allows anywhere in some cells: at a corner, as for a box."""
    if not len(cells):
        return math.inf
    with np.errstate(all="ignore"):
        ratio = np.exp(known.lowest)
    if np.all(ratio > 0):
        return float(np.min([implied_epsilon(p, q, ratio) for p in cells.p for q in cells.q]))
    evaluate(*cells.centre)  # names the point if the function is not a ratio there
    return -math.inf


def grid_cells(p: Span, q: Span) -> PriorCells:
    count = _FIRST_CELLS if p[0] < p[1] and q[0] < q[1] else _FIRST_CELLS**2 // 4
    edges = [np.linspace(low, high, count + 1) if low < high else np.array([low, high]) for low, high in (p, q)]
    low_p, low_q = np.meshgrid(edges[0][:-1], edges[1][:-1], indexing="ij")
    high_p, high_q = np.meshgrid(edges[0][1:], edges[1][1:], indexing="ij")
    return PriorCells(IntervalArray(low_p.ravel(), high_p.ravel()), IntervalArray(low_q.ravel(), high_q.ravel()))


def _cut(cells: PriorCells, known: Knowledge) -> PriorCells:
    """Halve each cell across, or along, or both, wherever ln r* or the size says that it varies.

    A few cells cost no more than one, so few are cut in four each way.
    """
    half_p, half_q = cells.half_widths
    varies_p = half_p * (1 + np.minimum(known.slope_p.size, 1e6))
    varies_q = half_q * (1 + np.minimum(known.slope_q.size, 1e6))
    cut = np.stack([(varies_p >= varies_q / 4) & (half_p > 0), (varies_q >= varies_p / 4) & (half_q > 0)])
    for axis in (0, 1, 0, 1) if len(cells) <= _FEW_CELLS else (0, 1):
        cells, cut = _halve(cells, cut, axis)
    return cells


def _halve(cells: PriorCells, cut: Flags, axis: int) -> tuple[PriorCells, Flags]:
    here = cut[axis]
    (low, high), kept = (cells.p, cells.q) if axis == 0 else (cells.q, cells.p)
    middle = (low + high) / 2
    halved = IntervalArray(np.append(low, middle[here]), np.append(np.where(here, middle, high), high[here]))
    other = IntervalArray(np.append(kept.low, kept.low[here]), np.append(kept.high, kept.high[here]))
    cells = PriorCells(halved, other) if axis == 0 else PriorCells(other, halved)
    return cells, np.concatenate([cut, cut[:, here]], axis=1)


def _improved(
    best: PriorPoint, evaluate: Evaluate, cells: PriorCells, known: Knowledge, p: Span, q: Span
) -> PriorPoint:
    """A better point, started from the best of the cells' centres."""
    centre = cells.centre
    with np.errstate(all="ignore"):
        found = _judged(*centre, np.exp(known.centre))
    lowest = int(np.argmin(found))
    if not found[lowest] < best.epsilon - TOLERANCE / 8:
        return best
    start = PriorPoint(float(centre[0][lowest]), float(centre[1][lowest]), math.inf)
    steps = [float(half[lowest]) for half in cells.half_widths]
    return min(best, descend(evaluate, p, q, start, steps[0], steps[1]), key=_height)


def _judged(p: Array, q: Array, ratio: Array) -> Array:
    """The ε allowed at each point; ∞ where the ratio is so near to certainty that rounding would decide."""
    epsilon = implied_epsilon(p, q, ratio)
    with np.errstate(all="ignore"):
        return np.where(1 - ratio * p * q > 1e-8, epsilon, np.inf)


def sample(evaluate: Evaluate, p: Span, q: Span, count: int = 25) -> list[PriorPoint]:
    """The local minima of ε, lowest first, on a grid that holds the region's ends and is dense towards 0."""
    axis_p, axis_q = _axis(p, count), _axis(q, count)
    grid_p, grid_q = np.meshgrid(axis_p, axis_q, indexing="ij")
    ratio = evaluate(grid_p.ravel(), grid_q.ravel()).reshape(grid_p.shape)
    epsilon = _judged(grid_p, grid_q, ratio)
    if np.all(np.isinf(epsilon)):
        epsilon = implied_epsilon(grid_p, grid_q, ratio)
    padded = np.pad(epsilon, 1, constant_values=np.inf)
    around = [
        padded[1 + i : 1 + i + len(axis_p), 1 + j : 1 + j + len(axis_q)]
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if (i, j) != (0, 0)
    ]
    minima = epsilon <= np.minimum.reduce(around)
    columns = (grid_p[minima].tolist(), grid_q[minima].tolist(), epsilon[minima].tolist())
    return sorted(map(PriorPoint, *columns), key=_height)


def _height(point: PriorPoint) -> float:
    return point.epsilon


def _axis(ends: Span, count: int) -> Array:
    low, high = ends
    if low == high:
        return np.array([low])
    even = np.linspace(low, high, count)
    if low > 0:
        return even
    return np.concatenate([high * np.logspace(-12, -1, 12) / (count - 1), even[1:]])


def descend(
    evaluate: Evaluate, p: Span, q: Span, start: PriorPoint, step_p: float, step_q: float, shrink: float = 0.25
) -> PriorPoint:
    """Walk downhill on ever finer 5 × 5 patterns around the best point so far."""
    pattern = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    offset_p, offset_q = (axis.ravel() for axis in np.meshgrid(pattern, pattern))
    best = start
    for _ in range(80):
        at_p = np.clip(best.p + step_p * offset_p, p[0], p[1])
        at_q = np.clip(best.q + step_q * offset_q, q[0], q[1])
        inside = (at_p > 0) & (at_q > 0)
        epsilon = np.full(len(at_p), np.inf)
        epsilon[inside] = _judged(at_p[inside], at_q[inside], evaluate(at_p[inside], at_q[inside]))
        lowest = int(np.argmin(epsilon))
        moved = epsilon[lowest] < best.epsilon
        if moved:
            best = PriorPoint(float(at_p[lowest]), float(at_q[lowest]), float(epsilon[lowest]))
        if not moved or max(abs(offset_p[lowest]), abs(offset_q[lowest])) < 2:
            step_p, step_q = step_p * shrink, step_q * shrink
        if max(step_p, step_q) < 1e-10:
            break
    return best
