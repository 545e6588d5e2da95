"""What the attacker learns from this very mechanism, not from its ε alone (theory §15).

The likelihood of an output y is the noise density at y − q(x). From it follow the posterior for each output,
the supremum over outputs, and, where that is 1 (Gaussian noise at the end of a bounded support), the smallest η
that the gain exceeds only with a stated probability. This takes the place of [LP] appendix B, whose formulas
compare a density with a probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.errors import GoalError, ParameterError
from guessproof.mechanisms.base import Mechanism, checked_positive, checked_probability
from guessproof.mechanisms.response import Linear, identity
from guessproof.risk import NORMAL, Bracket, NoiseLaw, View, atom_cells, cells_of, quantile
from guessproof.world import Finite, LinePrior, Normal

CELLS = 0.04  # width of cells of values, in units of the noise
TAIL = 1e-3  # of a failure probability: whole outputs further out are left out
MOST_WHOLE = 1e6  # whole outputs that are tried
HOW = "outputs split into cells"


@dataclass(frozen=True)
class Awareness:
    """A mechanism, a prior, the guesses that count as correct, and how the answer depends on the secret.

    ``goal`` is an interval (low, high) of numbers, or a set of values of a categorical prior.

    >>> from guessproof.mechanisms.gaussian import Gaussian
    >>> from guessproof.world import normal
    >>> view = Awareness(Gaussian(1, 1, 1e-5), normal(20, 6.28), goal=(18, 22))
    >>> round(view.prior_probability, 4), round(view.supremum().bound, 4)
    (0.2499, 0.4671)
    """

    mechanism: Mechanism
    prior: Any
    goal: Any
    response: Any = field(default_factory=identity)

    @cached_property
    def prior_probability(self) -> float:
        """P(goal) before the release."""
        return float(self._view.prior[0])

    def posterior(self, y: Any) -> Any:
        """P(goal | output y); numbers or arrays."""
        outputs = np.ravel(np.asarray(y, dtype=float)) / self.mechanism.scale
        cells, inside = self._view.cells, self._view.inside[:, 0]
        weights = [cells.log_weight + self._law.log_likelihood(output, cells.node, 0.0) for output in outputs]
        odds = [np.logaddexp.reduce(w[inside], axis=None) - np.logaddexp.reduce(w[~inside], axis=None) for w in weights]
        return _probability(np.reshape(odds, np.shape(y)))

    def supremum(self, tolerance: float = 1e-4) -> Bracket:
        """The largest posterior over all outputs: the best output found, and a bound within ``tolerance`` in odds.

        Status "exact" where a closed form holds or all outputs were tried.
        """
        if (closed := self._closed_form()) is not None:
            return Bracket(closed, closed, "exact", "normal prior, Gaussian noise: erf(r/√(2v))")
        if self.mechanism.is_whole:
            best = float(np.max(self.posterior(self._whole_outputs())))
            return Bracket(best, best, "exact", "all whole outputs")
        attack, bound = self._view.exceeded(0.0, checked_positive("tolerance", tolerance))[:, 0]
        return Bracket.meet(_probability(attack), _probability(bound), HOW)

    def gain(self, *, failure: float, at: float | None = None) -> Bracket:
        """The smallest η with P(posterior − prior > η) ≤ failure.

        Outputs are drawn for the true value ``at``, or without it for a true value drawn from the prior. The average
        posterior is then at most prior + η(1 − failure) + failure.
        """
        allowed, prior = checked_probability("failure", failure), self.prior_probability
        if self.mechanism.is_whole:
            _, mass, after = self.whole_outcomes(at=at, tail=TAIL * allowed)
            value = max(0.0, quantile(after, mass, allowed * (1 - TAIL)) - prior)
            return Bracket(value, value, "exact", "all whole outputs but a thousandth of the failure")
        low, high = _probability(self._seen(at).exceeded(allowed)[:, 0]) - prior
        return Bracket(max(low, 0.0), max(high, 0.0), "proven", HOW)

    def failure(self, *, gain: float, at: float | None = None) -> Bracket:
        """P(posterior − prior > gain), from below and from above; outputs drawn as in :meth:`gain`."""
        level = self.prior_probability + checked_positive("gain", gain)
        if self.mechanism.is_whole:
            _, mass, after = self.whole_outcomes(at=at)
            value = float(np.sum(mass[after > level]))
            return Bracket(value, min(1.0, value + 1e-12), "exact", "all whole outputs")
        low, high = self._seen(at).failing(level)
        return Bracket(low, high, "proven", HOW)

    def whole_outcomes(self, *, at: float | None = None, tail: float = 1e-12) -> tuple[Any, Any, Any]:
        """Whole outputs of integer noise, their probabilities, and the posterior at each."""
        low, high = self._hull if at is None else (float(self.response(at)),) * 2
        reach = self.mechanism.error(confidence=1 - tail)
        outputs = np.arange(math.floor(low - reach), math.ceil(high + reach) + 1, dtype=float)
        if at is not None:
            return outputs, self.mechanism.mass(outputs - low), self.posterior(outputs)
        cells = self._view.cells
        answers, weight = cells.node.ravel() * self.mechanism.scale, np.exp(cells.log_weight).ravel()
        return outputs, self.mechanism.mass(outputs[:, None] - answers) @ weight, self.posterior(outputs)

    # What the engine is given: answers in units of the noise.

    @cached_property
    def _law(self) -> NoiseLaw:
        mechanism, scale = self.mechanism, self.mechanism.scale
        if mechanism.mu is not None:
            return NORMAL
        return NoiseLaw(
            lambda y, q, _c: mechanism.log_density(np.abs(y - q) * scale),
            lambda z: mechanism.cdf(np.multiply(z, scale)),
            mechanism.tails,
            mechanism.epsilon / mechanism.sensitivity * scale,
        )

    @cached_property
    def _view(self) -> View:
        view = self._line() if isinstance(self.prior, LinePrior) else self._atoms()
        if not view.inside.any() or view.inside.all():
            raise GoalError("goal", self.goal, "it is impossible or certain before the release", "change the goal")
        return view

    def _line(self) -> View:
        goal = float(self.goal[0]), float(self.goal[1])
        scaled: Callable[[Any], Any] = lambda x: np.asarray(self.response(x)) / self.mechanism.scale  # noqa: E731
        cells = cells_of(self.prior, scaled, goal, goal, self.response.cuts, CELLS)
        first, past = cells.positions(np.array(goal[:1]), np.array(goal[1:]))
        return View(self._law, cells, first, past, cells.likely[1], cells.likely[1])

    def _atoms(self) -> View:
        prior = self.prior
        if not isinstance(prior, Finite):
            problem = "the attacker's posterior needs a full prior"
            raise ParameterError("prior", prior, problem, "use a prior with probabilities, or the ε bound")
        if isinstance(self.goal, tuple) and prior.is_line:
            inside = (prior.points >= self.goal[0]) & (prior.points <= self.goal[1])
        else:
            inside = np.array([value in self.goal for value in prior.values])
        if prior.is_line:
            answers = np.asarray(self.response(prior.points), dtype=float)
        else:
            answers = np.array([float(self.response(value)) for value in prior.values])
        order = np.argsort(~inside, kind="stable")  # the goal comes first
        mass, inside = prior.mass[order], inside[order]
        cells = atom_cells(np.arange(mass.size, dtype=float), answers[order] / self.mechanism.scale, mass)
        past = np.array([np.sum(inside & (mass > 0))])
        return View(self._law, cells, np.array([0]), past, cells.likely[1], cells.likely[1])

    @property
    def _hull(self) -> tuple[float, float]:
        answers = self._view.cells.node * self.mechanism.scale
        low, high = float(np.min(answers)), float(np.max(answers))
        if high - low > MOST_WHOLE:
            raise ParameterError("prior", self.prior, "has too many whole answers", "truncate it")
        return low, high

    def _seen(self, at: float | None) -> View:
        if at is None:
            return replace(self._view, is_drawn=True)
        answer = float(self.response(at)) / self.mechanism.scale
        return replace(self._view, least=answer, most=answer)

    def _whole_outputs(self) -> Any:
        low, high = self._hull
        return np.arange(math.floor(low) - 1, math.ceil(high) + 2)

    def _closed_form(self) -> float | None:
        """Normal prior, Gaussian noise, linear query: the posterior has one variance whatever the output."""
        if not isinstance(self.prior, Normal) or not isinstance(self.response, Linear):
            return None
        low, high = self.goal
        return self.mechanism.normal_posterior(self.prior.sd, self.response.slope, 0.5 * (high - low))


def _probability(log_odds: Any) -> Any:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-np.asarray(log_odds, dtype=float)))[()]
