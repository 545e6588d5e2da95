"""One attribute cut into cells: masses, and how much the mean of a likelihood can differ between two cells.

M_k is the mean of L over cell k. A private L obeys L(x) <= e^{eps·d(x, x')} L(x'), and all other attributes have the
same law in both cells. Through the common end e of two intervals

    M_k <= e^c M_k',   c = ln E_k e^{eps·d(x, e)} - ln E_k' e^{-eps·d(x', e)},

tilted integrals of the prior, infinite tails included. Where several attributes move at once, each is coupled quantile
to quantile: of its displacement the mean is known, and bounds hold between which it lies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.combinations import axis_labels
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.distances import LineForm, Metric
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior
from guessproof.world.pieces import Pieces, pieces_of

Index = NDArray[np.int64]
Edges = tuple[Index, Index, Array]  # M[first] <= e^third M[second]

SUBCELLS = 256  # parts of a cell at which its distribution is known: couplings are off by 1/256 of a cell at most
LABELS = 30  # values of a finite attribute up to which each is a cell of its own
INNER = 4  # least number of cells between two edges of the goal
OUTWARD = 200  # cells between the goal and a tail at most
SMALL_RATE = 1e-4  # rate per cell at which a tilted integral gives a mean, with a relative error of as much
SMALLEST = 1e-300  # stands for 0 where something is divided
PAD = 1e-12  # relative rounding of cumulative masses


@dataclass(frozen=True)
class Resolution:
    """How finely space is cut: the number of cells, their growth outwards, and the probability beyond each end."""

    cells: int
    growth: float
    tail: float
    beyond: float = (
        0.0  # the probability beyond one last cell more, for goals that run through the tails
    )

    def finer(self, factor: float) -> Resolution:
        """The same with more cells, of which as many as before serve each doubling of the distance, and less beyond."""
        growth = self.growth ** (1 / math.sqrt(factor))
        return replace(
            self, cells=int(self.cells * factor), growth=growth, tail=self.tail / factor
        )


@dataclass(frozen=True, eq=False)
class AxisStep:
    """Couplings of cells `source` with cells `target`: mean, least and most of the displacement."""

    source: Index
    target: Index
    mean: Array
    least: Array
    most: Array
    offset: int  # how many cells further; 0 between labels


@dataclass(frozen=True, eq=False)
class GridAxis:
    """The cells of one attribute; `low` and `high` are the least and the largest value of each."""

    attribute: Attribute
    low: Array
    high: Array
    mass: Array
    centre: Any  # a value in each cell
    diameter: Array
    rms: Array  # root of the mean square distance of two independent values of a cell
    table: Array | None = None  # distances between cells, where they have no form
    line: LineCells | None = None  # what is known where they have one

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.mass.size

    @property
    def is_split(self) -> bool:
        """Whether cells can be divided further."""
        return isinstance(self.attribute.prior, LinePrior)

    def neighbours(self, epsilon: float) -> Edges:
        """How far means of cells can differ where this attribute alone moves."""
        if self.table is None:
            assert self.line is not None
            return self.line.neighbours(epsilon)
        rows, cols = _pairs(self.table)
        return rows, cols, epsilon * self.table[rows, cols]

    def steps(self, offsets: Sequence[int]) -> list[AxisStep]:
        """Couplings of single cells for steps of several attributes at once."""
        if self.table is None:
            assert self.line is not None
            return [step for offset in offsets for step in self.line.step(offset)]
        rows, cols = _pairs(self.table)
        far = self.table[rows, cols]
        least = np.zeros(far.size) if np.any(self.diameter) else far
        return [AxisStep(rows, cols, far, least, far, 0)] if far.size else []


def _pairs(table: Array) -> tuple[Index, Index]:
    rows, cols = np.nonzero(~np.eye(len(table), dtype=bool) & np.isfinite(table))
    return rows.astype(np.int64), cols.astype(np.int64)


def cell_ends(
    attribute: Attribute, fixed: Sequence[float], width: float, resolution: Resolution
) -> Array:
    """Ends of a line's cells: every fixed point, cells about `width` long as distances."""
    prior, metric = attribute.prior, attribute.distance
    low, high = prior.support if isinstance(prior, LinePrior) else (-np.inf, np.inf)
    knots = sorted(
        {x for x in (*fixed, *metric.breaks) if low < x < high and np.isfinite(x)}
    ) or [quantile(prior, 0.5)]
    inner: list[Any] = [
        np.linspace(a, b, max(INNER, round(_length(metric, a, b) / width)) + 1)
        for a, b in pairwise(knots)
    ]
    for knot, sign, tail in (
        (knots[0], -1, resolution.tail),
        (knots[-1], 1, 1 - resolution.tail),
    ):
        inner.append(
            _outward(metric, knot, quantile(prior, tail), sign * width, resolution.growth)
        )
    if resolution.beyond:
        inner.append(
            np.asarray(
                [quantile(prior, resolution.beyond), quantile(prior, 1 - resolution.beyond)]
            )
        )
    found = np.unique(np.concatenate([*inner, knots]))
    return np.concatenate([[low], found[(found > low) & (found < high)], [high]])


def quantile(prior: Any, u: float) -> float:
    """The value below which probability u lies."""
    if isinstance(prior, Finite):
        return float(
            prior.points[
                min(int(np.searchsorted(np.cumsum(prior.mass), u)), prior.mass.size - 1)
            ]
        )
    return float(prior.quantile(u))


def _length(metric: Metric, a: float, b: float) -> float:
    one, two = np.asarray(a), np.asarray(b)
    return max(float(metric.spread((one, two), (one, two))), metric.tail[0] * (b - a))


def _outward(metric: Metric, start: float, reach: float, width: float, growth: float) -> Array:
    """Ends from the outermost fixed point up to beyond `reach`, each cell a little longer than the one before."""
    sign = 1 if width > 0 else -1
    unit = _length(metric, *sorted((start, start + sign)))
    if unit <= 0 or sign * (reach - start) <= 0:
        return np.empty(0)
    ends = start + np.cumsum(width / unit * growth ** np.arange(OUTWARD))
    count = int(np.searchsorted(sign * (ends - start), sign * (reach - start))) + 1
    return np.asarray(ends[:count], dtype=np.float64)


def line_axis(attribute: Attribute, ends: Array) -> GridAxis:
    """A line cut at the given ends."""
    prior, form = attribute.prior, attribute.distance.line_form
    assert isinstance(prior, (LinePrior, Finite))
    line = LineCells.of(pieces_of(prior), form or LineForm(slopes=(1.0,)), ends)
    low, high = line.low, line.high
    table, size = None, line.size
    if form is None:  # cells are compared as wholes
        table = attribute.distance.spread((low[:, None], high[:, None]), (low, high))
        table = np.where(np.isnan(table), np.inf, table)
        diameter = rms = np.diagonal(table)
    else:
        diameter = np.asarray(
            np.minimum(size, form.cap) + form.step * (size > 0), dtype=np.float64
        )
        places = np.linspace(-0.5, 0.5, SUBCELLS + 1) ** 2
        spread_of = np.sqrt(
            2 * np.diff(line.shares, axis=1) @ np.maximum(places[:-1], places[1:])
        )
        finite_size = np.where(line.finite, size, 0.0)
        rms = np.where(
            line.finite, np.minimum(spread_of * finite_size + form.step, diameter), np.inf
        )
    # The median, since wide cells have most of their mass near one end; the finite end of a tail.
    width = np.where(line.finite, high - low, 0.0)
    centre = (
        np.where(np.isfinite(low), low, high)
        + np.argmax(line.shares >= 0.5, axis=1) / SUBCELLS * width
    )
    return GridAxis(
        attribute, low, high, np.exp(line.log_mass), centre, diameter, rms, table, line
    )


@dataclass(frozen=True, eq=False)
class LineCells:
    """Pieces gathered into cells; `left` and `right` are psi at the ends, from inside."""

    pieces: Pieces
    form: LineForm
    starts: Index
    which: Index  # the cell of each piece
    some: NDArray[np.bool_]  # the cells with mass, of which all else speaks
    low: Array
    high: Array
    left: Array
    right: Array
    log_mass: Array
    shares: (
        Array  # of each cell the share up to each of its equal steps; nothing of infinite ones
    )

    @classmethod
    def of(cls, pieces: Pieces, form: LineForm, ends: Array) -> LineCells:
        """The cells between some ends."""
        pieces = pieces.cut(np.append(ends[1:-1], form.cuts))
        which = np.searchsorted(ends[1:-1], pieces.left, side="right")
        first = np.append(True, np.diff(which) > 0)
        starts = np.flatnonzero(first)
        low, high = pieces.left[starts], pieces.right[np.append(starts[1:], which.size) - 1]
        log_mass = np.logaddexp.reduceat(pieces.log_mass, starts)
        some = log_mass > -np.inf
        low, high, log_mass = low[some], high[some], log_mass[some]
        left = form.psi(low) + np.array([form.jump_at(x) for x in low.tolist()]) * (low < high)
        shares = _shares(pieces, starts[some], low, high)
        return cls(
            pieces, form, starts, np.cumsum(first) - 1, some, low, high, left, form.psi(high), log_mass, shares
        )  # fmt: skip

    @property
    def finite(self) -> NDArray[np.bool_]:
        """Which cells are finite."""
        return np.isfinite(self.low) & np.isfinite(self.high)

    @property
    def size(self) -> Array:
        """The lengths of cells."""
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(self.right - self.left, nan=0.0, posinf=np.inf)

    def log_tilt(self, rate: float, *, from_left: bool) -> tuple[Array, Array]:
        """Bounds of ln E e^{rate·|psi(x) - psi(end)|} in each cell; not a number where the end is infinite."""
        p, form = self.pieces, self.form
        sign = 1.0 if from_left else -1.0
        slope = np.asarray(form.slopes)[
            np.searchsorted(np.asarray(form.cuts), p.left, side="right")
        ]
        anchor = np.where(np.isfinite(p.left), p.left, p.right)
        jumps = np.array([form.jump_at(x) for x in anchor.tolist()]) if any(form.jumps) else 0.0
        place = form.psi(anchor) + np.where((anchor == p.left) & (p.left < p.right), jumps, 0.0)
        ends = np.zeros(self.some.size)
        ends[self.some] = self.left if from_left else self.right
        with np.errstate(invalid="ignore"):
            shift = sign * rate * (place - ends[self.which])
            low, high = (
                np.logaddexp.reduceat(side + shift, self.starts)[self.some] - self.log_mass
                for side in p.end_tilt(sign * rate * slope, at_left=True)
            )
        return low, high

    def neighbours(self, epsilon: float) -> Edges:
        """Steps between neighbouring cells, both ways; between any two where a cap or a step makes that shorter."""
        size, form = self.log_mass.size, self.form
        up_left, up_right = (
            self.log_tilt(epsilon, from_left=side)[1] for side in (True, False)
        )
        down_left, down_right = (
            -self.log_tilt(-epsilon, from_left=side)[0] for side in (True, False)
        )
        first, second = np.triu_indices(size, 1)
        if not form.step and not np.isfinite(form.cap):
            first, second = np.arange(size - 1), np.arange(1, size)
        gap = epsilon * (self.left[second] - self.right[first])
        rise = up_right[first] + gap + down_left[second]
        fall = up_left[second] + gap + down_right[first]
        rows, cols = np.concatenate([first, second]), np.concatenate([second, first])
        cost = (
            np.minimum(np.concatenate([rise, fall]), epsilon * form.cap) + epsilon * form.step
        )
        some = np.isfinite(cost)
        return rows[some], cols[some], np.maximum(cost[some], 0.0)

    def step(self, offset: int) -> tuple[AxisStep, AxisStep]:
        """Both directions of the coupling of cells `offset` apart."""
        first = np.arange(max(self.log_mass.size - offset, 0))
        first = first[self.finite[first] & self.finite[first + offset]]
        second = first + offset
        rate = SMALL_RATE / max(float(np.max(self.size[self.finite], initial=0.0)), SMALLEST)
        # Bounds of the mean distance from the left end, by Jensen's inequality: both from upper bounds of integrals.
        above = self.log_tilt(rate, from_left=True)[1] / rate
        below = -self.log_tilt(-rate, from_left=True)[1] / rate
        mean = self.left[second] - self.left[first] + above[second] - below[first]
        least, most = self._displacements(first, second)
        mean, least, most = (
            np.minimum(v, self.form.cap) + self.form.step for v in (mean, least, most)
        )
        least, most = np.minimum(least, mean), np.maximum(most, mean)
        return (
            AxisStep(first, second, mean, least, most, offset),
            AxisStep(second, first, mean, least, most, -offset),
        )

    def _displacements(self, first: Index, second: Index) -> tuple[Array, Array]:
        """Least and most that a quantile of the second cell lies above the same quantile of the first."""
        one, two = self.shares[first], self.shares[second]
        shift = 2.0 * np.arange(first.size)[:, None]  # rows kept apart in one search
        table = (two + shift).ravel()
        rows = np.arange(first.size)[:, None] * (SUBCELLS + 1)
        step = self.size[second][:, None] / SUBCELLS
        below = np.searchsorted(
            table, (one[:, :-1] - PAD + shift).ravel(), side="right"
        ).reshape(one[:, 1:].shape)
        above = np.searchsorted(table, (one[:, 1:] + PAD + shift).ravel(), side="left").reshape(
            one[:, 1:].shape
        )
        own = np.linspace(0, 1, SUBCELLS + 1) * self.size[first][:, None]
        lower = np.clip(below - rows - 1, 0, SUBCELLS) * step - own[:, 1:]
        upper = np.clip(above - rows, 0, SUBCELLS) * step - own[:, :-1]
        used = np.diff(one, axis=1) > 0
        gap = self.left[second] - self.left[first]
        least = np.min(np.where(used, lower, np.inf), axis=1, initial=np.inf)
        most = np.max(np.where(used, upper, -np.inf), axis=1, initial=-np.inf)
        return np.maximum(gap + least, 0.0), gap + most


def _shares(pieces: Pieces, starts: Index, low: Array, high: Array) -> Array:
    """The share of each finite cell up to each of its equal steps; of atoms none is below the first end."""
    finite = np.isfinite(low) & np.isfinite(high)
    a, b = np.where(finite, low, 0.0), np.where(finite, high, 0.0)
    x = a[:, None] + (b - a)[:, None] * np.linspace(0, 1, SUBCELLS + 1)
    x[:, -1] = b
    prior = pieces.prior
    if isinstance(prior, LinePrior):
        total = np.cumsum(np.maximum(prior.mass(x[:, :-1], x[:, 1:]), 0.0), axis=1)
        total = np.concatenate([np.zeros((a.size, 1)), total], axis=1)
    else:
        mass = np.append(0.0, np.cumsum(np.exp(pieces.log_mass)))
        total = mass[np.searchsorted(pieces.left, x, side="right")] - mass[starts][:, None]
        total[:, 0] = 0.0
    whole = total[:, -1:]
    return np.where((whole > 0) & finite[:, None], total / np.where(whole > 0, whole, 1.0), 0.0)


def label_axis(attribute: Attribute) -> GridAxis:
    """A finite attribute, value by value; values that are no numbers by their positions."""
    prior = attribute.prior
    assert isinstance(prior, Finite)
    labels = axis_labels(prior)
    table = attribute.distance.distance(labels[:, None], labels[None, :])
    places = labels if prior.is_line else np.arange(len(labels), dtype=np.float64)
    none = np.zeros(len(labels))
    return GridAxis(attribute, places, places, prior.mass, labels, none, none, table)
