"""What one noisy output makes of a prior: a bracket of the weight of each of many small cells of values.

The output is y = q(x) + noise, in units of the noise's scale, and multiplies the prior by L(x) = e^{l(y, q(x))}. The
prior's pieces have exact masses and a log-linear model each; δ is the oscillation of ln f against the model. In a cell
where ln L varies by w, E L is the model's mean times e^{±τ}, tanh(τ/4) = tanh(w/4)·tanh(δ/4) (`world.pieces`). The
model's mean is a Gauss–Legendre sum of n nodes, whose relative error is at most

    (n!)⁴ / ((2n+1)·((2n)!)³) · (w + |β| + K·h)^{2n} · e^w,

β what the model's logarithm rises by, h the width of the answers, K a bound of the derivatives of L that w does not
cover. Never does a cell count less than its mass times the least L, nor more than its mass times the largest. The mean
answer in a cell is known up to h·tanh(δ/4) and the error of the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from guessproof.errors import NotCertifiedError
from guessproof.world import Finite, LinePrior
from guessproof.world.checks import Array
from guessproof.world.pieces import Pieces, pieces_of, spread
from guessproof.world.special import ndtr, ndtri

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)
NODES, WEIGHTS = (1 + _NODES) / 2, _WEIGHTS / 2
ORDER = 6  # twice the number of nodes
QUADRATURE = 5e-7  # 3!⁴/(7·6!³)
CURVED = 6.0  # K: the sixth derivative of normal and of Cauchy densities is below 6⁶ times the density near 0
GRADED = 0.25  # of the distance from the window, by which answers may vary more
FURTHEST = 512.0  # how far beyond goals outputs go, and answers are told apart, in units
ROUNDS = 60  # of cutting cells: each at least halves them
MOST_CELLS = 60_000  # more take seconds an output
TAIL_MASSES = 10.0 ** -np.array(
    [1, 2, 4, 8, 16, 32, 64, 128, 256]
)  # where exponential tails are cut
EPS = 2.0**-52  # rounding of a sum, for each of its terms
ROWS = 200_000  # outputs times nodes held at once

Answer = Callable[[Any], Any]
Tilt = Array | float
Span = tuple[Any, Any]  # cells from the first to before the second; numbers or arrays


@dataclass(frozen=True)
class NoiseLaw:
    """Noise of scale 1.

    `log_likelihood(y, q, c)` is l(y, q) up to a term that depends on y and c only; it falls in |y − q|. Of normal noise
    it is linear in y.
    """

    log_likelihood: Callable[[Any, Any, Any], Array]
    cdf: Callable[[Any], Array]
    reach: Callable[[float], float]  # the c with P(|noise| > c) = p
    rate: float = (
        np.inf
    )  # largest slope of l; infinite for normal noise, whose outputs are judged by moments
    is_log_concave: bool = True
    is_proportional: bool = False  # beyond all answers, outputs tell the same

    def between(self, low: Any, high: Any) -> Array:
        """P(low < noise ≤ high), accurate in both tails."""
        flip = np.asarray(low) > 0
        return self.cdf(np.where(flip, -low, high)) - self.cdf(np.where(flip, -high, low))


def _log_normal(y: Any, q: Any, c: Any) -> Array:
    away = np.asarray(q - c)
    return away * (y - c - 0.5 * away)  # −(y − q)²/2 + (y − c)²/2, without its cancellation


NORMAL = NoiseLaw(_log_normal, ndtr, lambda p: float(-ndtri(0.5 * p)))


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of values in rising order, atoms with `left` = `right`: masses, answers, nodes and what is not known."""

    left: Array
    right: Array
    log_mass: Array
    osc: Array  # δ
    rise: Array  # β
    low: Array  # the answers' range
    high: Array
    place: Array  # cells × nodes: values
    node: Array  # the same: answers
    log_weight: Array  # the same: ln of the prior weight

    @cached_property
    def below(self) -> Array:
        """The probability of all cells before each, and of all."""
        return np.append(0.0, np.cumsum(np.exp(self.log_mass)))

    @cached_property
    def middle(self) -> float:
        """An answer in the midst of most of the prior."""
        return float(np.interp(0.5, self.below[1:], self.node[:, 0]))

    def likely(self, left_out: float) -> tuple[float, float]:
        """The least and the largest answer but for so much of the prior at either end; of tails, where they begin."""
        some = self.node[(self.below[1:] > left_out) & (self.below[:-1] < 1 - left_out)]
        return float(np.min(some)), float(np.max(some))

    @cached_property
    def unit(self) -> float:
        """How far outputs must be apart to tell answers apart: 1, and more where all answers are close."""
        reach = np.ptp(self.likely(0.01)) or np.ptp(self.node)
        return max(1.0, 2 / max(float(reach), 1e-300))

    def mass(self, span: Span) -> Array:
        """The probability of cells."""
        return self.below[span[1]] - self.below[span[0]]

    def positions(self, low: Any, high: Any) -> Span:
        """Which cells lie in closed intervals whose ends are knots: from the first to before the second."""
        slack = np.where(
            self.left[0] == self.right[0], 4.0, 0.0
        )  # edges of atoms count up to rounding
        slack = slack * np.spacing(np.maximum(np.abs(low), np.abs(high)))
        first, past = (
            np.searchsorted(self.left, low - slack),
            np.searchsorted(self.right, high + slack, side="right"),
        )
        return first, np.maximum(first, past)


def atom_cells(points: Array, answers: Array, mass: Array) -> Cells:
    """Finitely many values."""
    some = mass > 0
    points, answers, log_mass = points[some], answers[some], np.log(mass[some])
    nodes = points[:, None], answers[:, None], log_mass[:, None]
    zeros = np.zeros(points.size)
    return Cells(points, points, log_mass, zeros, zeros, answers, answers, *nodes)


def cells_of(
    prior: LinePrior | Finite,
    answer: Answer,
    cuts: Any,
    window: tuple[float, float],
    width: float,
) -> Cells:
    """A prior cut at `cuts`, and so that answers vary by at most `width` in a cell, and more outside of a window."""
    if isinstance(prior, Finite):
        return atom_cells(
            prior.points, np.asarray(answer(prior.points), dtype=np.float64), prior.mass
        )
    places = np.concatenate(
        [np.ravel(cuts), prior.quantile(TAIL_MASSES), prior.quantile(TAIL_MASSES, True)]
    )
    pieces = pieces_of(prior).cut(places[np.isfinite(places)])
    for _ in range(ROUNDS):
        left, right = pieces.left, pieces.right
        with np.errstate(all="ignore"):
            ends = [answer(np.nextafter(left, right)), answer(np.nextafter(right, left))]
            low, high = np.sort(np.array(ends, dtype=np.float64), axis=0)
            away = np.maximum(np.maximum(window[0] - high, low - window[1]), 0.0)
            coarse = high - low > width + GRADED * away
        coarse &= np.isfinite(right - left) & (away <= FURTHEST)
        if not coarse.any():
            return _cells(pieces, answer, low, high)
        if left.size + np.sum(coarse) > MOST_CELLS:
            break
        pieces = pieces.halved(coarse)
    raise NotCertifiedError(
        "the noise is too small beside what the answer can be; ask for more noise"
    )


def _cells(pieces: Pieces, answer: Answer, low: Array, high: Array) -> Cells:
    """Cells with nodes; those of a tail lie at its end."""
    with np.errstate(invalid="ignore"):
        size = np.where(
            np.isfinite(pieces.right - pieces.left), pieces.right - pieces.left, 0.0
        )
    start = np.where(np.isfinite(pieces.left), pieces.left, pieces.right)
    place, rise = start[:, None] + size[:, None] * NODES, pieces.slope * size
    node = np.clip(np.asarray(answer(place), dtype=np.float64), low[:, None], high[:, None])
    share = rise[:, None] * NODES + np.log(WEIGHTS)
    share += (pieces.log_mass - np.logaddexp.reduce(share, axis=1))[:, None]
    columns = (
        pieces.left,
        pieces.right,
        pieces.log_mass,
        pieces.osc,
        rise,
        low,
        high,
        place,
        node,
        share,
    )
    return Cells(*(column[pieces.log_mass > -np.inf] for column in columns))


@dataclass(frozen=True, eq=False)
class Table:
    """For outputs (rows), sums over the cells before some (columns): weights from below and from above, with answers.

    A row is in units of e^`top`. Sums of the answers are weighed from below, with the least and the largest mean of
    each cell; they are those of normal noise.
    """

    law: NoiseLaw
    outputs: Array
    places: Array
    top: Array
    low: Array
    high: Array
    least: Array
    most: Array
    rounding: Array  # of the sums of weights, and of answers
    drift: Array

    def part(
        self, row: Any, span: Span, inside: bool = True
    ) -> tuple[Array, Array, Array, Array]:
        """Of cells, or of all others: ln of the weight, and its slope in the output.

        The weight is bounded from below and from above; the slopes are the least and the largest of its lower bound.
        """

        first, past = (np.searchsorted(self.places, place) for place in span)

        def total(sums: Array) -> Array:
            found = sums[row, past] - sums[row, first]
            return found if inside else sums[row, -1] - found

        rounding, top = self.rounding[row], self.top[row]
        low, high = np.maximum(total(self.low) - rounding, 0.0), total(self.high) + rounding
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.array([total(self.least), total(self.most)]) / low
            spare = 4 * (self.drift[row] + rounding * np.max(np.abs(slopes), axis=0)) / low
            least, most = np.where(low > 0, [slopes[0] - spare, slopes[1] + spare], 0.0)
            return np.log(low) + top, np.log(high) + top, least, most

    def upper(self, i: Any, j: Any, span: Span, parts: int = 1, inside: bool = True) -> Array:
        """The largest log-odds of cells, or of all others, for outputs between two rows, in each part of that way.

        ln of a weight is convex in y for normal noise: at most its chord, at least its tangents at both ends. For other
        noise both weights are Lipschitz.
        """
        step = self.outputs[j] - self.outputs[i]
        start, end = (self.part(row, span, inside)[1] for row in (i, j))
        before, _, slope, _ = self.part(i, span, not inside)
        after, _, _, back = self.part(j, span, not inside)
        if np.isfinite(self.law.rate):
            return (0.5 * (start - before + end - after) + self.law.rate * step)[None]

        def odds(t: Any) -> Array:
            return (
                start
                + (end - start) * t
                - np.maximum(before + slope * step * t, after - back * step * (1 - t))
            )

        with np.errstate(all="ignore"):
            cross = np.nan_to_num(
                (after - before - back * step) / ((slope - back) * step), nan=0.5
            )
        edges = np.arange(parts + 1) / parts
        return np.array(
            [
                np.max([odds(np.clip(t, *ends)) for t in (0, cross, 1)], axis=0)
                for ends in pairwise(edges)
            ]
        )

    def lower(self, i: Any, j: Any, span: Span, parts: int = 1) -> Array:
        """The least log-odds of cells, in the same way."""
        return -self.upper(i, j, span, parts, inside=False)


def tabled(law: NoiseLaw, cells: Cells, outputs: Array, places: Any, tilt: Tilt = 0.0) -> Table:
    """Weigh the cells by outputs, to be summed between some of them; `tilt` is added to ln of the nodes' weights."""
    size = len(cells.left)
    places = np.unique(np.append(places, [0, size]))

    def summed(rows: Array) -> list[Array]:
        top, *weights = _weigh(law, cells, rows, tilt)
        sums = [np.pad(np.cumsum(w, axis=1), ((0, 0), (1, 0)))[:, places] for w in weights]
        sizes = weights[1], np.maximum(np.abs(weights[2]), np.abs(weights[3]))
        return [top, *sums, *(size * EPS * np.sum(each, axis=1) for each in sizes)]

    parts = np.array_split(outputs, max(1, outputs.size * cells.node.size // ROWS))
    columns = zip(*map(summed, parts), strict=True)
    return Table(law, outputs, places, *map(np.concatenate, columns))


def _weigh(law: NoiseLaw, cells: Cells, outputs: Array, tilt: Tilt) -> tuple[Array, ...]:
    y, c, tilts = outputs[:, None], cells.middle, tilt + np.zeros(cells.node.shape)
    weight, extra = cells.log_weight + tilts, np.ptp(tilts, axis=1)
    mass, width = np.logaddexp.reduce(weight, axis=1), cells.high - cells.low
    with np.errstate(all="ignore"):
        most = law.log_likelihood(y, np.clip(y, cells.low, cells.high), c) + extra
        least = (
            np.minimum(
                law.log_likelihood(y, cells.low, c), law.log_likelihood(y, cells.high, c)
            )
            - extra
        )
        varies = most - least
        error = (
            QUADRATURE
            * (1 + varies + np.abs(cells.rise) + CURVED * width) ** ORDER
            * np.exp(varies)
        )
        if np.isfinite(law.rate):
            error = np.where(
                (cells.low < y) & (y < cells.high), np.inf, error
            )  # l may have a kink at the output
        error, factor = np.where(varies > 0, error, 0.0), np.exp(spread(varies, cells.osc))
        top = np.max(mass + most, axis=1, keepdims=True)
        terms = np.exp(
            weight + law.log_likelihood(y[..., None], cells.node, c) - top[..., None]
        )
        value = np.sum(terms, axis=2)
        high = np.fmin(value * factor * (1 + error), np.exp(mass + most - top))
        low = np.fmin(np.fmax(value / factor * (1 - error), np.exp(mass + least - top)), high)
        mean = np.nan_to_num(np.sum(terms * (cells.node - c), axis=2) / value)
        doubt = width * np.fmin(np.tanh(cells.osc / 4) + 4 * error, 1.0)
        sides = np.fmax(mean - doubt, cells.low - c), np.fmin(mean + doubt, cells.high - c)
        return top[:, 0], low, high, *(np.where(low > 0, low * side, 0.0) for side in sides)
