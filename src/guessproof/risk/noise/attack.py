"""An attacker who sees an answer with Gaussian noise: from σ to what can be believed, and from a limit to σ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.errors import GoalError, InfeasibleError, MetricError, ParameterError
from guessproof.risk.attack import Attack
from guessproof.risk.bracket import Bracket
from guessproof.risk.limits import checked_limits, largest_epsilon
from guessproof.risk.noise.reading import GaussianReading
from guessproof.world import Finite, Goal
from guessproof.world.checks import Array, positive, real

NARROW = 1e-4  # relative, of the least noise
HOPELESS = 1e6  # noise, in units of the first guess, that no limit needs
LEAST_FAILURE = 1e-30
LEAST = 1e-300  # a limit that is as good as 0


@dataclass(frozen=True)
class GaussianAttack:
    """One attribute, and an answer that is linear in it but for what its metric clamps, plus normal noise.

    σ is in units of the attribute's distance. No figure holds for every answer where the goal holds an end of what the
    answer can be; `failure` then says how probable an answer that breaks it may be, given the worst true value.

    >>> from guessproof.world import Attribute, normal, within
    >>> alice = GaussianAttack(within(Attribute("time", prior=normal(20, 6.28)), 2), at={"time": 20})
    >>> round(alice.sigma(advantage=0.05), 3)
    9.238
    >>> round(alice.failure(sigma=3.73, advantage=0.05).bound, 2)
    0.76
    """

    goal: Goal
    at: Mapping[str, Any] | None = None
    knows: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if len(self.goal.attributes) > 1:
            problem = "speaks of several attributes, and Gaussian noise is judged for one"
            raise GoalError(
                "goal", self.goal, problem, "ask for one at a time, or use an ε (gp.Attack)"
            )
        if any(
            isinstance(a.prior, Finite) and not a.prior.is_line for a in self.goal.attributes
        ):
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
        return self._reading(sigma).posterior(_checked_failure(failure))

    def advantage(self, *, sigma: float, failure: float = 0.0, both: bool = False) -> Bracket:
        """How far the belief can rise, or with both move."""
        return self._reading(sigma).advantage(_checked_failure(failure), both=both)

    def failure(self, *, sigma: float, advantage: float, under_prior: bool = False) -> Bracket:
        """How probable an answer is that lifts the belief by more than `advantage`, given the true value of `at`.

        `under_prior`: the truth is drawn from the prior, while the goal stays.
        """
        gain = real(ParameterError, "advantage", advantage)
        return self._reading(sigma).failure(advantage=gain, under_prior=under_prior)

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
        if (
            advantage is not None
            and self.at is not None
            and not both
            and advantage >= 1 - self.prior
        ):
            advantage = 1.0  # no belief rises further
        limits = GainLimits(advantage, posterior, both, _checked_failure(failure))
        if posterior is not None and self.at is not None and self.prior >= posterior:
            raise InfeasibleError(
                f"posterior: the belief before any release is {self.prior:.6g}; allow more"
            )
        prior: Any = self._attack.attribute.prior
        likely = (
            prior.points[[0, -1]]
            if isinstance(prior, Finite)
            else prior.quantile(np.array([0.1, 0.9]))
        )
        low, high = self._reading(1.0).response.psi(likely)
        return least_noise(self._reading, limits, max(float(high - low), LEAST))

    def _reading(self, sigma: Any) -> GaussianReading:
        attribute, at = self._attack.attribute, self.at
        form = attribute.distance.line_form
        if form is None or form.step or np.isfinite(form.cap):
            problem = "Gaussian noise needs an answer that is a rising function of the number"
            raise MetricError(
                "metric", attribute.distance, problem, "use Absolute(…) or Clamped(…)"
            )
        truth = None if at is None else at.get(attribute.name)
        if truth is None and at and not self.goal.depends_on_truth:
            truth = next(iter(at.values()))
        if truth is not None:
            truth = real(ParameterError, f"at[{attribute.name!r}]", truth)
        return GaussianReading(
            attribute,
            self.goal,
            truth,
            form.times(1 / positive(ParameterError, "sigma", sigma)),
        )


def _checked_failure(value: Any) -> float:
    """A probability of failing: 0, or between 0 and 1."""
    number = real(ParameterError, "failure", value)
    if not 0 <= number < 1 or 0 < number < LEAST_FAILURE:
        raise ParameterError(
            "failure",
            value,
            "is no probability from 1e-30, or 0, to 1",
            "give for instance 1e-6",
        )
    return number


@dataclass(frozen=True)
class GainLimits:
    """What the attacker may gain, and with which probability an answer may break that."""

    advantage: float | None = None
    posterior: float | None = None
    both: bool = False
    failure: float = 0.0

    def broken(self, seen: GaussianReading) -> float:
        """The proven figures over the limits."""
        found = [0.0]
        if self.advantage is not None:
            found.append(
                float(seen.advantage(self.failure, both=self.both).bound)
                / max(self.advantage, LEAST)
            )
        if self.posterior is not None:
            found.append(float(seen.posterior(self.failure).bound) / max(self.posterior, LEAST))
        return max(found)


def least_noise(
    reading: Callable[[float], GaussianReading], limits: GainLimits, start: float
) -> float:
    """The least noise, near enough and on the private side; `reading` says what the attacker sees at one."""
    if all(limit is None or limit >= 1 for limit in (limits.advantage, limits.posterior)):
        return 0.0

    def broken(epsilon: Array) -> Array:
        noise = 1 / float(epsilon)
        if noise > HOPELESS * start:
            raise InfeasibleError(
                "no amount of Gaussian noise keeps these limits; say how probable an answer that breaks them may be "
                "(failure = 1e-6) or allow a larger failure, state the true value (at), or loosen the limit"
            )
        if noise * HOPELESS < start:
            return np.asarray(2.0)  # more noise than that is no loss
        return np.asarray(limits.broken(reading(noise)))

    epsilon = largest_epsilon(broken, np.asarray(1.0), start=1 / start, relative=NARROW)
    return 1 / float(epsilon)
