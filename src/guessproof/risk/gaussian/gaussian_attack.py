"""An attacker who sees an answer with Gaussian noise: from a limit to σ, and from σ to what he can believe."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from guessproof.errors import GoalError, InfeasibleError, MetricError, ParameterError
from guessproof.risk.attack import Attack
from guessproof.risk.bracket import Bracket
from guessproof.risk.gaussian.closed import NormalPair, noise_for_largest
from guessproof.risk.gaussian.reading import GaussianReading
from guessproof.risk.gaussian.search import GainLimits, least_noise
from guessproof.risk.limits import checked_limits
from guessproof.world.checks import positive, real
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal
from guessproof.world.line import Normal
from guessproof.world.line_form import LineForm

CLOSED = "normal prior, Gaussian noise: the belief has one variance whatever the answer"


@dataclass(frozen=True)
class GaussianAttack:
    """One attribute, and an answer that is linear in it but for what its metric clamps, plus normal noise.

    σ is in units of the attribute's distance. No figure holds for every answer where the goal holds an end of what the
    answer can be; `failure` then says how probable an answer that breaks it may be, given the worst true value.

    >>> from guessproof.world.attributes import Attribute
    >>> from guessproof.world.goals import within
    >>> from guessproof.world.priors import normal
    >>> alice = GaussianAttack(within(Attribute("time", prior=normal(20, 6.28)), 2), at={"time": 20})
    >>> round(alice.sigma(advantage=0.05), 4)
    9.2336
    >>> round(alice.failure(sigma=3.73, advantage=0.05).bound, 4)
    0.7574
    """

    goal: Goal
    at: Mapping[str, Any] | None = None
    knows: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if len(self.goal.attributes) > 1:
            problem = "speaks of several attributes, and Gaussian noise is judged for one"
            raise GoalError("goal", self.goal, problem, "ask for one at a time, or use an ε (gp.Attack)")
        if any(isinstance(a.prior, Finite) and not a.prior.is_line for a in self.goal.attributes):
            problem = "speaks of labels, and Gaussian noise is judged for numbers"
            remedy = "give each label the number that it adds to the answer, such as 0 and 1, or use an ε (gp.Attack)"
            raise GoalError("goal", self.goal, problem, remedy)
        self._reading(1.0)

    @cached_property
    def _attack(self) -> Attack:
        return Attack(self.goal, self.at, self.knows)

    @property
    def prior(self) -> float:
        """The belief before the release."""
        return float(self._attack.prior)

    def posterior(self, *, sigma: float, failure: float = 0.0) -> Bracket:
        """How high the belief can get."""
        sigma, allowed = _noise(sigma), checked_failure(failure)
        pair = self._pair(sigma)
        if pair is None:
            return self._reading(sigma).posterior(allowed)
        found = self._level(pair, allowed)
        return Bracket.meet(found, found, CLOSED)

    def advantage(self, *, sigma: float, failure: float = 0.0, both: bool = False) -> Bracket:
        """How far the belief can rise, or with both move."""
        sigma, allowed = _noise(sigma), checked_failure(failure)
        pair = None if both else self._pair(sigma)
        if pair is None:
            return self._reading(sigma).advantage(allowed, both=both)
        found = max(self._level(pair, allowed) - pair.before, 0.0)
        return Bracket.meet(found, found, CLOSED)

    def failure(self, *, sigma: float, advantage: float, under_prior: bool = False) -> Bracket:
        """How probable an answer is that lifts the belief by more than `advantage`, given the true value of `at`.

        `under_prior`: the truth is drawn from the prior, while the goal stays.
        """
        gain = real(ParameterError, "advantage", advantage)
        pair = self._pair(_noise(sigma))
        if pair is None:
            return self._reading(sigma).failure(advantage=gain, under_prior=under_prior)
        found = pair.failure(pair.before + gain, None if under_prior else self._truth)
        return Bracket.meet(found, found, CLOSED)

    def sigma(
        self,
        *,
        advantage: float | None = None,
        posterior: float | None = None,
        failure: float = 0.0,
        both: bool = False,
    ) -> float:
        """The least standard deviation at which every limit is proven to hold; 0 where no answer can break them."""
        checked_limits(advantage, posterior)
        allowed = checked_failure(failure)
        pair = None if both or allowed else self._pair(1.0)
        if pair is None:
            limits = GainLimits(advantage, posterior, both, allowed)
            if posterior is not None and (self.at is not None) and self.prior >= posterior:
                raise InfeasibleError(f"posterior: the belief before any release is {self.prior:.6g}; allow more")
            return least_noise(self._reading, limits, self._width)
        level = min(1.0 if posterior is None else posterior, 1.0 if advantage is None else pair.before + advantage)
        noise = noise_for_largest(pair.prior, pair.low, pair.high, level)
        if math.isinf(noise):
            raise InfeasibleError(
                "the goal is narrower than what the largest answer tells; allow a failure, or a looser limit"
            )
        return noise * self._form.slopes[0]

    # What they rest on.

    @property
    def _truth(self) -> float | None:
        if not self.goal.depends_on_truth:
            return None if self.at is None else float(next(iter(self.at.values())))
        name = self.goal.attribute.name
        return None if self.at is None or name not in self.at else real(ParameterError, f"at[{name!r}]", self.at[name])

    @property
    def _form(self) -> LineForm:
        attribute = self.goal.attributes[0]
        form = attribute.distance.line_form
        if form is None or form.step or math.isfinite(form.cap):
            problem = "Gaussian noise needs an answer that is a rising function of the number"
            raise MetricError("metric", attribute.distance, problem, "use Absolute(…) or Clamped(…)")
        return form

    @property
    def _width(self) -> float:
        """A first guess at the noise: how far the answer varies."""
        prior: Any = self._attack.attribute.prior
        low, high = (float(prior.quantile(u)) for u in (0.1, 0.9)) if hasattr(prior, "quantile") else self._hull(prior)
        return max(float(self._form.psi(high) - self._form.psi(low)), 1e-300)

    @staticmethod
    def _hull(prior: Any) -> tuple[float, float]:
        return float(prior.points[0]), float(prior.points[-1])

    def _reading(self, sigma: float) -> GaussianReading:
        return GaussianReading(self._attack.attribute, self.goal, self._truth, self._form.times(1 / sigma))

    def _pair(self, sigma: float) -> NormalPair | None:
        """A normal prior and a straight answer, where there is a closed form."""
        prior, form = self._attack.attribute.prior, self._form
        stated = self._truth is not None or not self.goal.depends_on_truth
        if not isinstance(prior, Normal) or not form.is_straight or not stated:
            return None
        low, high = (float(end) for end in self.goal.edges(self._truth if self._truth is not None else 0.0)[0])
        return NormalPair(prior, sigma / form.slopes[0], low, high)

    def _level(self, pair: NormalPair, failure: float) -> float:
        """The smallest belief that an answer exceeds with this probability at most."""
        if not failure:
            return pair.largest
        low, high = 0.0, pair.largest
        for _ in range(100):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            low, high = (low, middle) if pair.failure(middle, self._truth) <= failure else (middle, high)
        return high


def checked_failure(value: Any) -> float:
    """A probability of failing: 0, or between 0 and 1."""
    found = real(ParameterError, "failure", value)
    if not 0 <= found < 1 or 0 < found < 1e-30:
        raise ParameterError("failure", value, "is no probability from 1e-30, or 0, to 1", "give for instance 1e-6")
    return found


def _noise(value: Any) -> float:
    return positive(ParameterError, "sigma", value)
