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
from typing import Any, Literal

import numpy as np

from guessproof.errors import NotCertifiedError
from guessproof.world import Finite, LinePrior
from guessproof.world.checks import Array, quiet
from guessproof.world.pieces import Pieces, pieces_of
from guessproof.world.special import ndtr, ndtri

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)
NODES, WEIGHTS = (1 + _NODES) / 2, _WEIGHTS / 2
ORDER = 6  # twice the number of nodes
QUADRATURE = 5e-7  # 3!⁴/(7·6!³)
CURVED = 6.0  # K: the sixth derivative of normal and of Cauchy densities is below 6⁶ times the density near 0
WINDOW = 14.0  # how far beyond goals and what is answered near some values cells are narrow, in units of the noise
UNLIKELY = 1e-9  # probability of values that may be in wider cells
PARTS = 64  # into which goals are cut at least
GRADED = 0.25  # of the distance from the window, by which answers may vary more
FURTHEST = 512.0  # how far beyond goals outputs go, and answers are told apart, in units
ROUNDS = 60  # of cutting cells: each at least halves them
MOST_CELLS = 60_000  # more take seconds an output
TAIL_MASSES = 10.0 ** -np.array(
    [1, 2, 4, 8, 16, 32, 64, 128, 256]
)  # where exponential tails are cut

Answer = Callable[[Any], Any]
Span = tuple[Any, Any]  # cells from the first to before the second; numbers or arrays


@dataclass(frozen=True)
class NoiseLaw:
    """Noise of scale 1.

    `log_likelihood(y, q, c)` is l(y, q) up to a term that depends on y and c only; it falls in |y − q|. Far out two
    answers keep the ratio of their likelihoods, grow alike, or can be told apart ever better; these are the `tails`. The
    densities of the first and the last kind are log-concave.
    """

    log_likelihood: Callable[[Any, Any, Any], Array]
    cdf: Callable[[Any], Array]
    tails: Literal["proportional", "alike", "apart"]
    rate: float  # largest slope of l

    def between(self, low: Any, high: Any) -> Array:
        """P(low < noise ≤ high), accurate in both tails."""
        flip = np.asarray(low) > 0
        return self.cdf(np.where(flip, -low, high)) - self.cdf(np.where(flip, -high, low))


def _log_normal(y: Any, q: Any, c: Any) -> Array:
    away = np.asarray(q - c)
    return away * (y - c - 0.5 * away)  # −(y − q)²/2 + (y − c)²/2, without its cancellation


NORMAL = NoiseLaw(_log_normal, ndtr, "apart", np.inf)


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

    def likely(self, left_out: float) -> Array:
        """The least and the largest answer but for so much of the prior at either end; of tails, where they begin."""
        some = self.node[(self.below[1:] > left_out) & (self.below[:-1] < 1 - left_out)]
        return np.array([np.min(some), np.max(some)])

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
    prior: LinePrior | Finite, answer: Answer, edges: Any, near: Any, cuts: Any, width: float
) -> Cells:
    """A prior cut at `edges` of goals and at `cuts`, so that answers vary by at most `width` in a cell.

    They vary by more far from the goals and from what is answered `near` some values.
    """
    if isinstance(prior, Finite):
        answers = np.asarray(answer(prior.points), dtype=np.float64)
        return atom_cells(prior.points, answers, prior.mass)
    likely = prior.quantile(np.array([UNLIKELY, 1 - UNLIKELY]))
    inside = np.clip([np.min(edges), np.max(edges)], *likely)
    peaks = np.linspace(*inside, PARTS + 1)
    answers = np.asarray(answer(np.append(peaks, np.clip(near, *likely))))
    window = np.min(answers) - WINDOW, np.max(answers) + WINDOW
    tails = prior.quantile(TAIL_MASSES), prior.quantile(TAIL_MASSES, True)
    places = np.concatenate([np.ravel(edges), np.ravel(cuts), peaks, *tails])
    pieces = pieces_of(prior).cut(places[np.isfinite(places)])
    for _ in range(ROUNDS):
        left, right = pieces.left, pieces.right
        with quiet():
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
