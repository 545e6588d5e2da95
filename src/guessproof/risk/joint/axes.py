"""One attribute cut into cells: masses, and how much the mean of a likelihood can differ between two cells.

M_k is the mean of L over cell k. A private L obeys L(x) <= e^{eps·d(x, x')} L(x'), and all other attributes have the
same law in both cells. Through the common end e of two intervals

    M_k <= e^c M_k',   c = ln E_k e^{eps·d(x, e)} - ln E_k' e^{-eps·d(x', e)},

tilted integrals of the prior, infinite tails included. Where several attributes move at once, each is coupled quantile
to quantile: of its displacement the mean is known, and bounds hold between which it lies. Labels, and intervals under
distances of no form, are compared as wholes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.combinations import axis_labels
from guessproof.risk.joint.joint_attack import places
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array, Mask, quiet
from guessproof.world.distances import LineForm
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior
from guessproof.world.pieces import Pieces, pieces_of

Index = NDArray[np.int64]
Edges = tuple[Index, Index, Array]  # M[first] <= e^third M[second]
# Cells, those they are coupled with; least and most of the displacement, and its mean: no smaller than the true one.
AxisStep = tuple[Index, Index, Array, Array, Array]

SUBCELLS = 256  # parts of a cell at which its distribution is known: couplings are off by 1/256 of a cell at most
LABELS = 30  # values of a finite attribute up to which each is a cell of its own
INNER = 3  # least number of cells between two edges of the goal
SMALL_RATE = 1e-4  # rate per cell at which a tilted integral gives a mean, with a relative error of as much
FINE = 2000  # points of an axis between which its length is summed
PAD = 1e-12  # relative rounding of cumulative masses


@dataclass(frozen=True, eq=False)
class GridAxis:
    """The cells of one attribute, compared as wholes; `low` and `high` are the least and the largest value of each."""

    attribute: Attribute
    low: Array
    high: Array
    mass: Array
    centre: Any  # a value in each cell
    diameter: Array
    radius: Array  # the largest distance from the centre
    table: Array  # the largest distances between values of two cells, where they have no form

    @property
    def is_split(self) -> bool:
        """Whether cells can be divided further."""
        return isinstance(self.attribute.prior, LinePrior)

    @property
    def finite(self) -> Mask:
        """Which cells are finite."""
        return np.isfinite(self.high - self.low)

    def distances(self, to: Any) -> Array:
        """Signed distances of the centres from another value; labels have no sign."""
        found = self.attribute.distance.distance(self.centre, to)
        return np.where(self.centre < to, -found, found) if self.is_split else found

    def neighbours(self, epsilon: float) -> Edges:
        """How far means of cells can differ where this attribute alone moves."""
        rows, cols = np.nonzero(~np.eye(self.mass.size, dtype=bool) & np.isfinite(self.table))
        return rows, cols, epsilon * self.table[rows, cols]

    def steps(self, offsets: Sequence[int]) -> list[AxisStep]:
        """Couplings of single cells for steps of several attributes at once."""
        rows, cols, far = self.neighbours(1.0)
        least = np.zeros(far.size) if np.any(self.diameter) else far
        return [(rows, cols, least, far, far)]


@dataclass(frozen=True, eq=False)
class LineAxis(GridAxis):
    """Intervals under a distance of a form that is straight inside each; `left` and `right` are psi at their ends."""

    pieces: Pieces
    form: LineForm
    starts: Index  # the first piece of each
    left: Array
    right: Array
    shares: (
        Array  # of each cell the share up to each of its equal steps; nothing of infinite ones
    )

    def _log_tilt(self, rate: float, at_left: bool) -> Array:
        """ln E e^{rate·|psi(x) - psi(end)|} in each cell: from above for positive rates, for others from below."""
        p, form = self.pieces, self.form
        rates = rate * np.asarray(form.slopes)[np.searchsorted(form.cuts, p.left, side="right")]
        place = np.where(np.isfinite(p.left), _above(form, p.left, p.right), form.psi(p.right))
        ends, sign = (self.left, 1.0) if at_left else (self.right, -1.0)
        with quiet():  # not a number where the end is infinite
            tilted = p.end_tilt(sign * rates)[int(rate > 0)]
            cell = np.searchsorted(self.starts, np.arange(p.left.size), side="right") - 1
            shifted = tilted + sign * rate * (place - ends[np.maximum(cell, 0)])
            return np.logaddexp.reduceat(shifted, self.starts) - np.log(self.mass)

    def neighbours(self, epsilon: float) -> Edges:
        """Steps between neighbouring cells, both ways; between any two where a cap or a step makes that shorter."""
        size, form = self.mass.size, self.form
        first, second = np.triu_indices(size, 1)
        if not form.step and np.isinf(form.cap):
            first, second = np.arange(size - 1), np.arange(1, size)
        gap = epsilon * (self.left[second] - self.right[first])
        up, down = (
            [self._log_tilt(k, at_left) for at_left in (False, True)]
            for k in (epsilon, -epsilon)
        )
        rise = up[False][first] + gap - down[True][second]
        fall = up[True][second] + gap - down[False][first]
        rows, cols = np.concatenate([first, second]), np.concatenate([second, first])
        cost = (
            np.minimum(np.concatenate([rise, fall]), epsilon * form.cap) + epsilon * form.step
        )
        return rows, cols, np.maximum(cost, 0.0)

    def steps(self, offsets: Sequence[int]) -> list[AxisStep]:
        return [step for offset in offsets for step in self._couplings(offset)]

    def _couplings(self, offset: int) -> list[AxisStep]:
        """Both directions of the coupling of cells `offset` apart."""
        first = np.arange(max(self.mass.size - offset, 0))
        first = first[self.finite[first] & self.finite[first + offset]]
        second = first + offset
        gap, (low, high) = self.left[second] - self.left[first], self._quantiles
        bounds = [
            gap + np.min(low[second, :-1] - high[first, 1:], axis=1),
            gap + np.max(high[second, 1:] - low[first, :-1], axis=1),
            gap + self._means[1][second] - self._means[0][first],
        ]
        least, most, mean = np.clip(bounds, 0.0, self.form.cap) + self.form.step
        least, most = np.minimum(least, mean), np.maximum(most, mean)
        return [(first, second, least, most, mean), (second, first, -most, -least, -mean)]

    @cached_property
    def _means(self) -> tuple[Array, Array]:
        """Bounds of the mean distance of each cell's values from its left end, by Jensen's inequality."""
        rate = SMALL_RATE / max(float(np.max(self.diameter[self.finite])), PAD)
        return -self._log_tilt(-rate, True) / rate, self._log_tilt(rate, True) / rate

    @cached_property
    def _quantiles(self) -> tuple[Array, Array]:
        """Bounds of the distance of each cell's quantiles from its left end."""
        levels = np.linspace(0, 1, SUBCELLS + 1)
        below = [np.searchsorted(row, levels - PAD, side="right") - 1 for row in self.shares]
        above = [np.searchsorted(row, levels + PAD, side="left") for row in self.shares]
        step = np.where(self.finite, self.right - self.left, 0.0)[:, None] / SUBCELLS
        return np.clip(below, 0, SUBCELLS) * step, np.clip(above, 0, SUBCELLS) * step


def _above(form: LineForm, low: Array, high: Array) -> Array:
    """psi just above the low end of intervals, and at atoms."""
    inside = np.where(np.isfinite(low) & (low < high), np.nextafter(low, high), low)
    return form.psi(inside)


def ruler(
    attribute: Attribute,
    marks: Array,
    edges: Sequence[float],
    tail: float,
    growth: float,
) -> tuple[float, Callable[[float], Array]]:
    """Return the length of a line, and where to cut it into cells of about some width, longer ones far from the goal.

    The goal begins and ends at `marks`, `edges` are cut as well, each tail has this probability, and cells
    grow by a share of their distance from the goal.
    """
    prior, metric = attribute.prior, attribute.distance
    assert isinstance(prior, (LinePrior, Finite))
    form, (low, high) = metric.line_form, prior.support
    quantile = prior.quantile
    marks = np.unique(marks[(low < marks) & (marks < high)])
    if not marks.size:
        marks = np.array([quantile(0.5)])
    start = low if np.isfinite(low) else min(float(quantile(tail)), marks[0])
    end = high if np.isfinite(high) else max(float(quantile(1 - tail)), marks[-1])
    fixed = np.concatenate([marks, edges, metric.breaks, [start, end]])
    if isinstance(prior, Finite):  # atoms belong to one cell: its ends lie just beside them
        fixed = np.nextafter(fixed, [[-np.inf], [np.inf]])
    fixed, x = np.unique(fixed), np.linspace(start, end, FINE)
    height = metric.tail[0] * x if form is None else form.psi(x)
    first, last = np.interp(marks[[0, -1]], x, height)
    far = np.maximum(np.maximum(first - height[1:], height[:-1] - last), 0.0)

    def cuts(width: float) -> Array:
        number = np.append(0.0, np.cumsum(np.diff(height) / (width + growth * far)))
        at = np.interp(fixed, x, number)
        parts = np.maximum(np.round(np.diff(at)), INNER).astype(np.int64)
        interval = np.repeat(np.arange(parts.size), parts)
        part = np.arange(interval.size) - np.repeat(np.cumsum(parts) - parts, parts)
        steps = at[interval] + part / parts[interval] * np.diff(at)[interval]
        return np.unique(np.append(fixed, np.interp(steps[part > 0], number, x)))

    return float(height[-1] - height[0]), cuts


def line_axis(attribute: Attribute, cuts: Array) -> GridAxis:
    """Return a line cut at some points, among which are those where its distance bends."""
    prior, metric = attribute.prior, attribute.distance
    assert isinstance(prior, (LinePrior, Finite))
    form, pieces = metric.line_form or LineForm(slopes=(1.0,)), pieces_of(prior).cut(cuts)
    interval = np.searchsorted(cuts, pieces.left, side="right")
    starts = np.flatnonzero(np.diff(interval, prepend=-1))
    high = pieces.right[np.append(starts[1:], interval.size) - 1]
    mass = np.exp(np.logaddexp.reduceat(pieces.log_mass, starts))
    starts, high, mass = starts[mass > 0], high[mass > 0], mass[mass > 0]
    low = pieces.left[starts]
    left, right, finite = _above(form, low, high), form.psi(high), np.isfinite(high - low)
    shares = _shares(prior, np.where(finite, low, 0.0), np.where(finite, high, 0.0))
    # The middle; of a tail its end, just inside.
    half = np.where(finite, (high - low) / 2, 0.0)
    centre = np.where(np.isfinite(low), np.nextafter(low, high) + half, high)
    if metric.line_form is None:
        table = metric.spread((low[:, None], high[:, None]), (low, high))
        table = np.where(np.isnan(table), np.inf, table)
        inner = np.diagonal(table)
        return GridAxis(attribute, low, high, mass, centre, inner, inner, table)
    size = right - left
    step = form.step * (low < high)
    diameter, radius = np.minimum(np.stack([size, size / 2]), form.cap) + step
    cells = np.empty((0, 0)), pieces, form, starts, left, right, shares
    return LineAxis(attribute, low, high, mass, centre, diameter, radius, *cells)


def _shares(prior: LinePrior | Finite, low: Array, high: Array) -> Array:
    """The share of each cell up to each of its equal steps."""
    x = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, SUBCELLS + 1)
    x[:, 0], x[:, -1] = np.nextafter(low, -np.inf), high
    if isinstance(prior, Finite):
        below = np.append(0.0, np.cumsum(prior.mass))
        part = np.diff(below[np.searchsorted(prior.points, x, side="right")], axis=1)
    else:
        part = np.maximum(prior.mass(x[:, :-1], x[:, 1:]), 0.0)
    total = np.pad(np.cumsum(part, axis=1), ((0, 0), (1, 0)))
    with quiet():
        return np.nan_to_num(total / total[:, -1:])


def label_axis(attribute: Attribute) -> GridAxis:
    """Return a finite attribute, value by value; values that are no numbers by their positions."""
    prior = attribute.prior
    assert isinstance(prior, Finite)
    labels, at = axis_labels(prior), places(prior)
    table = attribute.distance.distance(labels[:, None], labels[None, :])
    none = np.zeros(len(labels))
    return GridAxis(attribute, at, at, prior.mass, labels, none, none, table)
