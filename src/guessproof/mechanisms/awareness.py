"""What the attacker learns from this very mechanism, not from its ε alone (theory §10).

The likelihood of an output y is the noise density at y − q(x). From it follow the posterior for each output,
the supremum over outputs, and, where that is 1 (Gaussian noise at the end of a bounded support), the smallest η
that the gain exceeds only with a stated probability. This takes the place of [LP] appendix B, whose formulas
compare a density with a probability.

Bounds over a cell [y₁, y₂] of outputs: for log-concave noise and a monotone query the odds "below : goal" fall
and "above : goal" rise in y, so goal odds are at most 1/(below:goal at y₂ + above:goal at y₁). For smooth noise
the log-odds curve by at most M (twice the largest |(ln f)″| + (ln f)′²), so they exceed their values at the
ends by at most M(y₂−y₁)²/8. Otherwise the noise density is replaced by its largest value over the cell inside
the goal and its smallest outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.mechanisms.base import Mechanism, checked_positive, checked_probability
from guessproof.mechanisms.integrals import ABOVE, BELOW, GOAL, integrals
from guessproof.mechanisms.response import Linear, identity
from guessproof.risk.bracket import Bracket
from guessproof.risk.roots import lowest

MOST_CELLS = 6000


@dataclass(frozen=True)
class Awareness:
    """A mechanism, a prior, the guesses that count as correct, and how the answer depends on the secret.

    ``goal`` is an interval (low, high) of numbers, or a set of values of a categorical prior.

    >>> from guessproof.mechanisms.gaussian import Gaussian
    >>> from guessproof.world.priors import normal
    >>> view = Awareness(Gaussian(1, 1, 1e-5), normal(20, 6.28), goal=(18, 22))
    >>> round(view.prior_probability, 4), round(view.supremum().bound, 4)
    (0.2499, 0.4671)
    """

    mechanism: Mechanism
    prior: Any
    goal: Any
    response: Any = field(default_factory=identity)

    @cached_property
    def _integrals(self) -> Any:
        return integrals(self.prior, self.goal, self.response, self.mechanism.scale)

    @property
    def _log_noise(self) -> Callable[[Any], Any]:
        return self.mechanism.log_density

    @cached_property
    def prior_probability(self) -> float:
        """P(goal) before the release."""
        return float(np.exp(self._integrals.log_mass()[GOAL]))

    def posterior(self, y: Any) -> Any:
        """P(goal | output y); numbers or arrays."""
        outputs = np.atleast_1d(np.asarray(y, dtype=float))
        return (1 / (1 + np.exp(-self._log_odds(outputs))))[()].reshape(np.shape(y))[()]

    def supremum(self, tolerance: float = 1e-4) -> Bracket:
        """The largest posterior over all outputs: the best output found, and a bound within ``tolerance`` in odds.

        Status "exact" where a closed form holds or all outputs were tried.
        """
        if (closed := self._closed_form()) is not None:
            return Bracket(closed, closed, "exact", "normal prior, Gaussian noise: erf(r/√(2v))")
        if self.mechanism.is_whole:
            best = float(np.max(self.posterior(self._whole_outputs())))
            return Bracket(best, best, "exact", "all whole outputs")
        attack, bound = self._search(checked_positive("tolerance", tolerance))
        attack, bound = max(attack, self._limit()), max(bound, self._limit())
        return Bracket.meet(_probability(attack), _probability(bound), "outputs split into cells")

    def gain(self, *, failure: float, at: float | None = None) -> Bracket:
        """The smallest η with P(posterior − prior > η) ≤ failure.

        Outputs are drawn for the true value ``at``, or without it for a true value drawn from the prior. The average
        posterior is then at most prior + η(1 − failure) + failure.
        """
        allowed = checked_probability("failure", failure)
        if self.mechanism.is_whole:
            _, mass, after = self.whole_outcomes(at=at, tail=1e-3 * allowed)
            value = max(0.0, _quantile(after, mass, allowed - 1e-3 * allowed) - self.prior_probability)
            return Bracket(value, value, "exact", "all whole outputs but a thousandth of the failure")
        cells = self._outcomes(allowed, at)
        for _ in range(8):
            low, high = (_quantile(side, cells.mass, allowed) for side in (cells.low, cells.high))
            wide = (cells.high > low) & (cells.low <= high) & (cells.high - cells.low > 1e-4 * high)
            wide &= np.isfinite(cells.left)
            if not np.any(wide) or len(cells.mass) > MOST_CELLS:
                break
            cells = cells.refined(wide, self, at)
        prior = self.prior_probability
        low, high = (max(0.0, _quantile(side, cells.mass, allowed) - prior) for side in (cells.low, cells.high))
        return Bracket(low, high, "proven", "outputs split into cells")

    def failure(self, *, gain: float, at: float | None = None) -> Bracket:
        """P(posterior − prior > gain), from below and from above; outputs drawn as in :meth:`gain`."""
        level = self.prior_probability + checked_positive("gain", gain)
        if self.mechanism.is_whole:
            _, mass, after = self.whole_outcomes(at=at)
            value = float(np.sum(mass[after > level]))
            return Bracket(value, min(1.0, value + 1e-12), "exact", "all whole outputs")
        cells = self._outcomes(1e-9, at)
        for _ in range(12):
            wide = (cells.high > level) & (cells.low <= level) & (cells.mass > 1e-6) & np.isfinite(cells.left)
            if not np.any(wide) or len(cells.mass) > MOST_CELLS:
                break
            cells = cells.refined(wide, self, at)
        low, high = (float(np.sum(cells.mass[side > level])) for side in (cells.low, cells.high))
        return Bracket(low, min(high, 1.0), "proven", "outputs split into cells")

    # --- outputs ---------------------------------------------------------------------------------------------

    @property
    def _ordered(self) -> bool:
        """Whether the order argument for cells holds: log-concave noise, monotone query, interval goal."""
        return getattr(self.response, "direction", 0) != 0 and self.mechanism.is_log_concave

    @property
    def _smooth(self) -> bool:
        return self.mechanism.bend(np.array([1.0])) is not None

    @cached_property
    def _curvatures(self) -> tuple[Any, Any]:
        """z, and twice sup |(ln f)″| + (ln f)′² beyond z, for noise of scale 1."""
        z = np.geomspace(1e-6, 1e9, 6001)
        bend: Any = self.mechanism.bend(z)
        # 2 % covers what lies between the points of the grid
        return z, 2.04 * np.maximum.accumulate(bend[::-1])[::-1]

    def _sag(self, left: Any, right: Any) -> Any:
        """How far the log-odds in a cell can leave the range of their values at its ends: M·width²/8."""
        low, high = self._integrals.hull
        scale = self.mechanism.scale
        away = np.maximum(0.0, np.maximum(left - high, low - right)) / scale
        z, curvature = self._curvatures
        index = np.clip(np.searchsorted(z, away, side="right") - 1, 0, len(z) - 1)
        return curvature[index] * np.square((right - left) / scale) / 8

    def _ratios(self, y: Any) -> tuple[Any, Any]:
        """ln(below : goal) and ln(above : goal), in the order of the answers."""
        logs = self._integrals.logs(lambda q: self._log_noise(np.abs(y[:, None] - q)), y[:, None])
        below, above = logs[BELOW] - logs[GOAL], logs[ABOVE] - logs[GOAL]
        return (below, above) if getattr(self.response, "direction", 0) >= 0 else (above, below)

    def _log_odds(self, y: Any) -> Any:
        return -np.logaddexp(*self._ratios(y))

    def cell_log_odds(self, left: Any, right: Any) -> tuple[Any, Any]:
        """ln of the smallest and largest goal odds that outputs in [left, right] can give."""
        if self._ordered:
            (below, above), (below_right, above_right) = self._ratios(left), self._ratios(right)
            return -np.logaddexp(below, above_right), -np.logaddexp(below_right, above)
        if self._smooth:
            ends, sag = [self._log_odds(side) for side in (left, right)], self._sag(left, right)
            return np.minimum(*ends) - sag, np.maximum(*ends) + sag
        y1, y2 = left[:, None], right[:, None]
        bends = np.stack([left, 0.5 * (left + right), right], axis=1)
        noise, space = self._log_noise, self._integrals
        most = space.logs(lambda q: noise(np.maximum(0.0, np.maximum(y1 - q, q - y2))), bends)
        least = space.logs(lambda q: noise(np.maximum(np.abs(y1 - q), np.abs(y2 - q))), bends)
        rest_most, rest_least = (np.logaddexp(side[BELOW], side[ABOVE]) for side in (most, least))
        return least[GOAL] - rest_most, most[GOAL] - rest_least

    def _search(self, tolerance: float) -> tuple[float, float]:
        """(attack, bound) of the log-odds: cells are split until their bound is near the best output found."""
        edges = self._start()
        cells = np.stack([edges[:-1], edges[1:]])
        closed, tried, seen = self._outer_bound(edges[0], edges[-1]), 0, _SeenOutputs(self._ratios)
        while True:
            seen.add(np.unique(cells))
            if self._ordered:
                bound = seen.by_order(*cells)
            elif self._smooth:
                bound = seen.at_ends(*cells) + self._sag(*cells)
            else:
                bound = self.cell_log_odds(*cells)[1]
            keep = bound > seen.best + tolerance
            closed = max(closed, float(np.max(bound[~keep], initial=-math.inf)))
            tried += len(bound)
            if not np.any(keep) or tried > MOST_CELLS:
                closed = max(closed, float(np.max(bound[keep], initial=-math.inf)))
                break
            left, right = cells[:, keep]
            middle = 0.5 * (left + right)
            cells = np.stack([np.concatenate([left, middle]), np.concatenate([middle, right])])
        best = max(seen.best, self._polished(seen.at, edges))
        return best, max(best, closed)

    def _polished(self, at: float, edges: Any) -> float:
        """The largest log-odds near an output."""
        width = float(np.max(np.diff(edges)))

        def loss(y: float) -> float:
            return -float(self._log_odds(np.array([y]))[0])

        return -loss(lowest(loss, max(edges[0], at - width), min(edges[-1], at + width), xtol=1e-9 * width))

    def _start(self) -> Any:
        """Edges of the first cells: the answers' range, and beyond where outputs there can tell more."""
        low, high = self._integrals.hull
        scale = self.mechanism.scale
        if self.mechanism.tails == "apart":
            beyond = scale * np.geomspace(0.05, 40, 40)
        elif self.mechanism.tails == "alike":
            beyond = np.geomspace(0.02 * scale, 200 * (scale + high - low), 60)
        else:
            beyond = np.array([])
        inside = np.linspace(low, high, 65) if high > low else np.array([low - scale, low + scale])
        return np.concatenate([low - beyond[::-1], inside, high + beyond])

    def _outer_bound(self, left: float, right: float) -> float:
        """A bound on the log-odds of outputs beyond the first cells."""
        low, high = self._integrals.hull
        mass = self._integrals.log_mass()
        if self.mechanism.tails == "alike":
            # beyond the steepest part the two ends of the answers' range grow ever more alike
            near, far = right - high, right - low
            spread = float(self._log_noise(np.float64(near)) - self._log_noise(np.float64(far)))
            return float(mass[GOAL] - np.logaddexp(mass[BELOW], mass[ABOVE])) + spread
        if self.mechanism.tails == "proportional":
            return -math.inf  # likelihoods are proportional beyond the range of answers
        return -min(self._beyond_goal(left, -1), self._beyond_goal(right, 1))

    def _beyond_goal(self, y: float, sign: int) -> float:
        """ln(those outside the goal with answers beyond all of the goal's : goal); it only grows further out."""
        least, most = self._integrals.goal_hull
        edge = most if sign > 0 else least

        def beyond(q: Any) -> Any:
            return np.where(sign * (q - edge) >= 0, self._log_noise(np.abs(y - q)), -np.inf)

        bends = np.array([[y, edge]])
        rest = self._integrals.logs(beyond, bends)
        goal = self._integrals.logs(lambda q: self._log_noise(np.abs(y - q)), bends)[GOAL]
        return float((np.logaddexp(rest[BELOW], rest[ABOVE]) - goal)[0])

    def _limit(self) -> float:
        """Log-odds as the output goes to ±∞, where outputs far out tell answers apart: who has the extreme one."""
        if self.mechanism.tails != "apart":
            return -math.inf
        support = getattr(self.prior, "support", (0.0, 0.0))
        return max(self._integrals.extreme_log_odds(sign) for sign in (-1, 1)) if _finite(support) else -math.inf

    def _whole_outputs(self) -> Any:
        low, high = self._integrals.hull
        return np.arange(math.floor(low) - 1, math.ceil(high) + 2)

    def _closed_form(self) -> float | None:
        """Normal prior, Gaussian noise, linear query: the posterior has one variance whatever the output."""
        prior = getattr(self.prior, "normal_form", None)
        if prior is None or not isinstance(self.response, Linear):
            return None
        low, high = self.goal
        return self.mechanism.normal_posterior(prior.sd, self.response.slope, 0.5 * (high - low))

    # --- outputs and how likely they are ---------------------------------------------------------------------

    def _outcomes(self, failure: float, at: float | None) -> OutputCells:
        low, high = self._integrals.hull if at is None else (float(self.response(at)),) * 2
        reach = self.mechanism.error(confidence=1 - 1e-3 * failure)
        tails = np.array([self.mechanism.error(confidence=1 - p) for p in np.geomspace(1e-3 * failure, 0.9, 60)])
        inside = np.linspace(low, high, 65)[1:-1] if high > low else np.array([low])
        edges = np.unique(np.concatenate([low - tails, inside, high + tails, [low - reach, high + reach]]))
        cells = OutputCells.of(self, edges[:-1], edges[1:], at)
        outside = max(0.0, 1 - float(np.sum(cells.mass)))
        return cells.with_unknown(outside)

    def mass(self, left: Any, right: Any, at: float | None) -> Any:
        """P(left < output ≤ right), for a true value or for one drawn from the prior."""
        cdf = self.mechanism.cdf
        if at is not None:
            centre = float(self.response(at))
            return cdf(right - centre) - cdf(left - centre)
        bends = np.stack([left, right], axis=1)
        return self._integrals.sums(lambda q: cdf(right[:, None] - q) - cdf(left[:, None] - q), bends)

    def whole_outcomes(self, *, at: float | None = None, tail: float = 1e-12) -> tuple[Any, Any, Any]:
        """Whole outputs of integer noise, their probabilities, and the posterior at each."""
        low, high = self._integrals.hull if at is None else (float(self.response(at)),) * 2
        reach = self.mechanism.error(confidence=1 - tail)
        outputs = np.arange(math.floor(low - reach), math.ceil(high + reach) + 1, dtype=float)
        kernel: Callable[[Any], Any] = lambda q: self.mechanism.mass(outputs[:, None] - q)  # noqa: E731
        if at is not None:
            mass = self.mechanism.mass(outputs - float(self.response(at)))
        else:
            mass = self._integrals.sums(kernel, outputs[:, None])
        return outputs, mass, self.posterior(outputs)


class _SeenOutputs:
    """Outputs at which the odds were computed, and the best of them."""

    def __init__(self, ratios: Callable[[Any], tuple[Any, Any]]) -> None:
        self.ratios = ratios
        self.y = self.below = self.above = np.array([])
        self.best, self.at = -math.inf, 0.0

    def add(self, outputs: Any) -> None:
        """Compute what is new."""
        fresh = np.setdiff1d(outputs, self.y, assume_unique=True)
        if len(fresh) == 0:
            return
        below, above = self.ratios(fresh)
        odds = -np.logaddexp(below, above)
        if np.max(odds) > self.best:
            self.best, self.at = float(np.max(odds)), float(fresh[np.argmax(odds)])
        y = np.concatenate([self.y, fresh])
        order = np.argsort(y)
        self.y = y[order]
        self.below, self.above = (np.concatenate(pair)[order] for pair in ((self.below, below), (self.above, above)))

    def by_order(self, left: Any, right: Any) -> Any:
        """ln of the largest odds in cells between computed outputs, by the order argument."""
        i, j = np.searchsorted(self.y, left), np.searchsorted(self.y, right)
        return -np.logaddexp(self.below[j], self.above[i])

    def at_ends(self, left: Any, right: Any) -> Any:
        """The larger log-odds of the two ends of each cell."""
        odds = -np.logaddexp(self.below, self.above)
        return np.maximum(odds[np.searchsorted(self.y, left)], odds[np.searchsorted(self.y, right)])


@dataclass(frozen=True)
class OutputCells:
    """OutputCells of outputs: ends, probabilities, and the least and largest posterior in each."""

    left: Any
    right: Any
    mass: Any
    low: Any
    high: Any

    @classmethod
    def of(cls, view: Awareness, left: Any, right: Any, at: float | None) -> OutputCells:
        """Compute a row of cells."""
        low, high = view.cell_log_odds(left, right)
        return cls(left, right, view.mass(left, right, at), _probability(low), _probability(high))

    def refined(self, wide: Any, view: Awareness, at: float | None) -> OutputCells:
        """The chosen cells cut in two."""
        middle = 0.5 * (self.left[wide] + self.right[wide])
        left, right = np.concatenate([self.left[wide], middle]), np.concatenate([middle, self.right[wide]])
        return self._join(OutputCells.of(view, left, right, at), ~wide)

    def with_unknown(self, mass: float) -> OutputCells:
        """One more cell for everything further out, where the posterior may be anything."""
        rest = OutputCells(*(np.array([v]) for v in (-math.inf, math.inf, mass, 0.0, 1.0)))
        return self._join(rest, np.ones(len(self.mass), dtype=bool))

    def _join(self, other: OutputCells, keep: Any) -> OutputCells:
        names = ("left", "right", "mass", "low", "high")
        return OutputCells(*(np.concatenate([getattr(self, n)[keep], getattr(other, n)]) for n in names))


def _finite(ends: tuple[float, float]) -> bool:
    return math.isfinite(ends[0]) and math.isfinite(ends[1])


def _probability(log_odds: Any) -> Any:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-np.asarray(log_odds, dtype=float)))[()]


def _quantile(values: Any, mass: Any, failure: float) -> float:
    """The smallest v with P(value > v) ≤ failure."""
    order = np.argsort(values)[::-1]
    above = np.cumsum(mass[order])
    index = int(np.searchsorted(above, failure, side="right"))
    return float(values[order[min(index, len(order) - 1)]])
