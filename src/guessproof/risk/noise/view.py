"""Beliefs after one noisy output, whatever the noise: a prior in cells, outputs in cells, and bounds of what they tell.

The output is y = q(x) + noise, in units of the noise's scale, and multiplies the prior by L(x) = e^{l(y, q(x))}. The
prior's pieces have exact masses and a log-linear model each; δ is the oscillation of ln f against the model. In a cell
where ln L varies by w, E L is the model's mean times e^{±τ}, tanh(τ/4) = tanh(w/4)·tanh(δ/4) (`world.pieces`). The
model's mean is a Gauss–Legendre sum of n nodes, whose relative error is at most

    (n!)⁴ / ((2n+1)·((2n)!)³) · (w + |β| + K·h)^{2n} · e^w,

β what the model's logarithm rises by, h the width of the answers, K a bound of the derivatives of L that w does not
cover. Never does a cell count less than its mass times the least L, nor more than its mass times the largest.

Cumulative sums over the cells serve all goals. Between two outputs ln of a weight is convex in y for normal noise: at
most its chord, at least the lines through the outputs on either side. For other noise it is Lipschitz. Cells of outputs
are halved where their bounds matter.

Beyond the last output on one side, noise with a log-concave density gives the goal ever smaller odds against what lies
beyond it there, and noise with exponential tails no larger ones against the rest. Cauchy noise tells ever less there:
further out each answer's likelihood rises in proportion to that of the goal's nearest answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from guessproof.errors import NotCertifiedError
from guessproof.world import Finite, LinePrior
from guessproof.world.checks import Array, Mask, quiet
from guessproof.world.pieces import Pieces, pieces_of, spread
from guessproof.world.special import logit, ndtr

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(3)
NODES, WEIGHTS = (1 + _NODES) / 2, _WEIGHTS / 2
ORDER = 6  # twice the number of nodes
QUADRATURE = 5e-7  # 3!⁴/(7·6!³)
CURVED = 6.0  # K: the sixth derivative of normal and of Cauchy densities is below 6⁶ times the density near 0
EPS = 2.0**-52  # rounding of a sum, for each of its terms

WINDOW = 14.0  # how far beyond goals and what is answered near some values cells are narrow, in units of the noise
GRADED = 0.25  # of the distance from the window, by which answers may vary more
UNLIKELY = 1e-9  # probability of values that may be in wider cells
TAIL_MASSES = 10.0 ** -np.array(
    [1, 2, 4, 8, 16, 32, 64, 128, 256]
)  # where exponential tails are cut
PARTS = 64  # into which goals are cut at least
MOST_CELLS = 60_000  # more take seconds an output
ROUNDS = 60  # of cutting cells: each at least halves them

REACH = 8.0  # how far beyond goals outputs go, in units of the noise
FURTHER = 4.0  # times as far where that decides
FURTHEST = 512.0  # and no further
DENSE = 24.0  # outputs in a unit, within the answers at first
OUTER = 72  # outputs on either side at first, for each doubling of the distance
NEAREST = 0.05  # the first of them
NARROW = 2e-4  # cells of outputs that are not halved
MOST_OUTPUTS = 12_000  # what is open then stays in the bound
ROWS = 200_000  # outputs times nodes held at once
CLOSE = 2e-3  # relative width of a rise of log-odds that is narrow enough
RARE = 1e-7  # of a failure probability: cells of outputs that are not halved
UNSURE = 1.0  # of ln of a weight: outputs that tell so little are of no use
STEEP = 3.0  # beyond this distance the slope of a density with heavy tails falls

Answer = Callable[[Any], Any]
Found = tuple[
    Array, Array, Array
]  # in cells of outputs: least and largest log-odds, probability
Rows = tuple[
    Array, ...
]  # outputs; P(below, above); ln of weights: (low, high) × (goals, others) × tilts × outputs × goals


@dataclass(frozen=True)
class NoiseLaw:
    """Noise of scale 1.

    `log_likelihood(y, q, c)` is l(y, q) up to a term that depends on y and c only; it falls in |y − q|. Far out
    (`tails`) two answers keep the ratio of their likelihoods, grow alike, or can be told apart ever better. The
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
    def likely(self) -> tuple[float, float, float]:
        """The least answer but for what is unlikely, one in the midst of the prior, and the largest one."""
        above = np.cumsum(np.exp(self.log_mass))
        some = self.node[(above > UNLIKELY) & (np.append(0.0, above[:-1]) < 1 - UNLIKELY)]
        middle = self.node[np.searchsorted(above, 0.5), 0]
        return float(np.min(some)), float(middle), float(np.max(some))

    def positions(self, low: Any, high: Any) -> tuple[Any, Any]:
        """Which cells lie in closed intervals whose ends are knots: from the first to before the second."""
        slack = np.nan_to_num(4 * np.spacing(np.maximum(np.abs(low), np.abs(high))))
        slack *= self.left[0] == self.right[0]  # edges of atoms count up to rounding
        first = np.searchsorted(self.left, low - slack)
        return first, np.maximum(first, np.searchsorted(self.right, high + slack, side="right"))


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
    peaks = np.linspace(inside[0], inside[1], PARTS + 1)
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
    return Cells(*columns)


@dataclass(frozen=True, eq=False)
class View:
    """Goals seen through noise and tilted by other releases: the cells from `first` to before `past`, or all others.

    Outputs are drawn for answers from `least` to `most`, in each cell of outputs the worst of them, or (`is_drawn`) for
    values drawn from the prior. Of several tilts the worst counts, and `room` is how much more the log-odds may be
    between them.
    """

    law: NoiseLaw
    cells: Cells
    first: Any
    past: Any
    least: Any
    most: Any
    is_drawn: bool = False
    tilts: Any = (((0.0,),),)  # tilts × cells × nodes
    room: float = 0.0
    is_missed: bool = False

    @cached_property
    def inside(self) -> Mask:
        """Which cells are in each goal."""
        place = np.arange(len(self.cells.left))[:, None]
        return ((place >= self.first) & (place < self.past)) != self.is_missed

    @property
    def prior(self) -> Array:
        """The belief before the output."""
        return np.exp(self.cells.log_mass) @ self.inside

    def exceeded(self, failure: float, close: float = CLOSE) -> Array:
        """The smallest log-odds that outputs exceed with this probability at most: from below and from above."""

        def bounds(low: Array, high: Array, mass: Array) -> Array:
            return np.array([quantile(low, mass, failure), quantile(high, mass, failure)])

        return bounds(*self._divided(bounds, RARE * failure, close))

    def failing(self, level: float, slack: float = 0.0) -> tuple[float, float]:
        """P(belief > level), from below and from above; `slack` is of the belief."""
        least, most = levels = logit(np.clip([level + slack, level - slack], 0.0, 1.0))
        low, high, mass = self._divided(lambda *_: levels[::-1], RARE, 0.0)
        return float(np.sum(mass[low > least])), min(float(np.sum(mass[high > most])), 1.0)

    def _divided(self, levels: Callable[..., Array], rare: float, close: float) -> Found:
        """The least and the largest log-odds in cells of outputs, and their probability.

        For one goal cells are halved that are not `rare`, and may or may not exceed what is said by `levels`.
        """
        reach, before = REACH, logit(self.prior)
        while True:
            rows = self._rows(self._outputs(reach))
            ends = self._beyond(rows[0][1], -1), self._beyond(rows[0][-2], 1)
            best = np.max(rows[2][0, 0] - rows[2][1, 1], axis=(0, 1)) + CLOSE
            if (
                self.law.cdf(-reach) < rare
                or reach >= FURTHEST
                or np.all(np.maximum(*ends) <= best)
            ):
                break
            reach *= FURTHER
        while True:  # cells of outputs become narrow
            y, low, high = rows[0][1:-1], *self._odds(rows)
            low = np.pad(low, ((1, 1), (0, 0)), constant_values=-np.inf)
            high = np.vstack([ends[0], high, ends[1]])
            found = low, high, self._mass(rows)
            least, most = levels(*found)
            with quiet():
                wide = (high > least) & (low <= most) & (found[2] >= rare)
                wide &= high - low > close * np.abs(most - before)
            wide = wide[1:-1] & (np.diff(y, axis=0) > NARROW)
            if wide.shape[1] > 1 or not wide.any() or wide.size > MOST_OUTPUTS:
                return found
            rows = self._rows(((y[:-1] + y[1:]) / 2)[wide], rows)

    def _outputs(self, reach: float) -> Array:
        """Outputs over the goals' answers and those that are drawn for, and so far beyond them."""
        low, _, high = self.cells.likely
        goals = np.clip(self.cells.node[np.min(self.first) : np.max(self.past)], low, high)
        if not self.is_drawn:
            ends = *np.ravel(goals), np.min(self.least), np.max(self.most)
            low, high = np.min(ends), np.max(ends)
        beyond = np.geomspace(NEAREST, reach, int(OUTER * np.log2(reach)))
        many = int(np.clip((high - low) * DENSE, 2, MOST_OUTPUTS / 4))
        return np.concatenate([low - beyond[::-1], np.linspace(low, high, many), high + beyond])

    def _rows(self, outputs: Array, *known: Rows) -> Rows:
        """What outputs tell, beside those that are known."""
        size = outputs.size * len(self.tilts) * self.cells.node.size
        parts = np.array_split(outputs, np.clip(size // ROWS, 1, outputs.size))
        found = zip(*known, *map(self._summed, parts), strict=True)
        rows = [np.concatenate(each, axis=-2) for each in found]
        # Far out tails of the prior, of which little is known, outweigh all else.
        is_known = np.any(np.ptp(rows[2], axis=0) < UNSURE, axis=(0, 1, 3))
        order: Any = np.argsort(rows[0][:, 0])
        order = order[is_known[order]]
        return tuple(row[..., order, :] for row in rows)

    def _summed(self, outputs: Array) -> Rows:
        y, tails = outputs[:, None], np.zeros((2, outputs.size, 1))
        top, low, high = self._weigh(outputs)
        rounding = low.shape[-1] * EPS * np.sum(high, axis=-1, keepdims=True)

        def sums(weights: Array) -> list[Array]:
            total = np.pad(np.cumsum(weights, axis=-1), ((0, 0), (0, 0), (1, 0)))
            goals = total[..., self.past] - total[..., self.first]
            others = total[..., -1:] - goals
            return [others, goals] if self.is_missed else [goals, others]

        weights = [np.maximum(sums(low) - rounding, 0.0), sums(high) + rounding]
        if self.is_drawn:
            away, mass = y - self.cells.node.ravel(), np.exp(self.cells.log_weight).ravel()
            tails[..., 0] = self.law.cdf(away) @ mass, self.law.cdf(-away) @ mass
        with quiet():
            return y, tails, top + np.log(weights)

    def _weigh(self, outputs: Array) -> tuple[Array, Array, Array]:
        """The weights of tilts × outputs × cells from below and from above, in units of e^top; and top."""
        cells, log_likelihood, y = self.cells, self.law.log_likelihood, outputs[:, None]
        weight, extra = cells.log_weight + self.tilts, np.ptp(self.tilts, axis=-1)[:, None]
        mass = np.logaddexp.reduce(weight, axis=-1)[:, None]
        c = cells.likely[1]
        with quiet():
            ends = [log_likelihood(y, end, c) for end in (cells.low, cells.high)]
            most = log_likelihood(y, np.clip(y, cells.low, cells.high), c) + extra
            least = np.minimum(*ends) - extra
            top = np.max(mass + most, axis=-1, keepdims=True)
            terms = log_likelihood(y[..., None], cells.node, c) - top[..., None]
            value = np.sum(np.exp(weight[:, None] + terms), axis=-1)
            varies = most - least
            size = 1 + varies + np.abs(cells.rise) + CURVED * (cells.high - cells.low)
            error = QUADRATURE * size**ORDER * np.exp(varies)
            # l may have a kink at the output.
            bent = (cells.low < y) & (y < cells.high) & (self.law.tails != "apart")
            doubt = np.exp(spread(varies, cells.osc)) / np.where(
                bent, 0.0, np.fmax(1 - error, 0.0)
            )
            low = np.fmax(value / doubt, np.exp(mass + least - top))
            return top, low, np.fmin(value * doubt, np.exp(mass + most - top))

    def _mass(self, rows: Rows) -> Array:
        """P(output in each cell), for the worst of the answers."""
        y, (below, above), _ = rows
        if self.is_drawn:
            rising = np.diff(below[1:-1], axis=0, prepend=0.0, append=1.0)
            falling = -np.diff(above[1:-1], axis=0, prepend=1.0, append=0.0)
            return np.where(below[:-1] < 0.5, rising, falling)
        ends = np.concatenate([[[-np.inf]], y[1:-1], [[np.inf]]])
        nearest = np.clip((ends[1:] + ends[:-1]) / 2, self.least, self.most)
        return self.law.between(ends[:-1] - nearest, ends[1:] - nearest)

    def _odds(self, rows: Rows) -> tuple[Array, Array]:
        """The least and the largest log-odds between outputs, but for the first and the last two."""
        y, _, ((in_low, out_low), (in_high, out_high)) = rows
        step = np.diff(y, axis=0)
        low = -self._largest(step, out_high, in_low, in_high)
        high = self._largest(step, in_high, out_low, out_high) + self.room
        return np.max(low, axis=0), np.max(high, axis=0)

    def _largest(self, step: Array, high: Array, low: Array, other: Array) -> Array:
        """The largest log-odds for what weighs at most `high` against what weighs between `low` and `other`."""
        start, end = high[..., 1:-2, :], high[..., 2:-1, :]
        before, after = low[..., 1:-2, :], low[..., 2:-1, :]
        if np.isfinite(self.law.rate):
            return 0.5 * (start - before + end - after) + self.law.rate * step[1:-1]
        with quiet():  # both lines are below what weighs against the goal, from its left and from its right
            ahead = before + (before - other[..., :-3, :]) * step[1:-1] / step[:-2]
            back = after - (other[..., 3:, :] - after) * step[1:-1] / step[2:]
            rising = np.maximum(start - before, end - ahead)
            falling = np.maximum(start - back, end - after)
            return np.nan_to_num(
                np.fmin(rising, falling), nan=np.inf, posinf=np.inf, neginf=-np.inf
            )

    def _beyond(self, output: Array, side: int) -> Array:
        """The largest log-odds that outputs beyond this one on one side can give."""
        cells, law, inside = self.cells, self.law, self.inside
        top, low, high = (part[:, 0, :, None] for part in self._weigh(output))
        ends = side * np.array([cells.low, cells.high])[..., None]
        near = np.max(np.where(inside, np.max(ends, axis=0), -np.inf), axis=0)
        is_far = (side * output >= near + STEEP) & (law.tails != "apart")
        others = ~inside & ((np.min(ends, axis=0) >= near) | is_far)
        with quiet():
            if law.tails == "alike":
                nearest = law.log_likelihood(output, side * near, cells.likely[1])
                high = np.where(is_far, np.exp(cells.log_mass[:, None] + nearest - top), np.inf)
                low = np.minimum(low, high)
            goals, rest = np.sum(high * inside, axis=1), np.sum(low * others, axis=1)
            odds = np.where(goals > 0, np.log(goals) - np.log(rest), -np.inf)
        return np.max(odds, axis=0) + self.room


def quantile(values: Array, masses: Array, failure: float) -> Any:
    """The smallest v of the values (of each column) with P(value > v) ≤ failure; for 0 the largest of all."""
    if not failure:
        return np.max(values, axis=0)
    order = np.argsort(-values, axis=0)
    above = np.cumsum(np.take_along_axis(masses, order, axis=0), axis=0)
    place = np.minimum(np.sum(above <= failure, axis=0), len(values) - 1)
    return np.take_along_axis(values, np.take_along_axis(order, place[None], axis=0), axis=0)[0]
