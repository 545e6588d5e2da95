"""What an attacker can learn where there is Gaussian noise among the releases.

ε is a number for the ledger here, with its δ; what he learns follows from the noise itself. Given the worst true value,
an answer breaks what is said with the stated failure probability at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from guessproof.calculate import Limits
from guessproof.errors import GoalError, InfeasibleError, MetricError, ParameterError
from guessproof.exposure.exposure import Attacker, Exposure
from guessproof.guarantee.bells import Bell, joined_bell
from guessproof.guarantee.guarantee import Guarantee
from guessproof.risk import Bracket, GainLimits, GaussianReading, joined, least_noise
from guessproof.world import LineForm, conditioned, joint_of

FAR = 60.0  # how far, in units of the noise, outputs lie that are looked at: what rounding adds is multiplied by it
BellsAt = Callable[[float], tuple[Bell, ...]]


def _silent(_epsilon: float) -> tuple[Bell, ...]:
    return ()


@dataclass(frozen=True)
class GaussianExposure(Exposure):
    """The same questions as of any release; `bells` says what noise that costs ε tells, `pure` what others told."""

    bells: BellsAt = _silent
    pure: Guarantee | None = None
    failure: float = 0.0

    def __post_init__(self) -> None:
        attacker = self.attacker
        if attacker.prior_factor > 1:
            problem = "a misjudged prior is judged for noise with a bounded likelihood ratio only"
            raise ParameterError("prior_factor", attacker.prior_factor, problem, "leave it out, or use laplace noise")
        for one in self.attacker.alternatives or (self.attacker,):
            if len(one.names) > 1 or one.tied or any(joint_of(a) is not None for a in one.goal.attributes):
                problem = "Gaussian noise is judged for goals about one column that depends on no other"
                raise GoalError("goal", one.goal, problem, 'ask for one column, say or = "each", or use laplace noise')

    def with_step(self, step: float) -> Exposure:
        """Itself: what rounding adds at an ε is said by the bells."""
        return self

    @property
    def judges_wrong_priors(self) -> bool:
        return False

    @property
    def is_shared_evenly(self) -> bool:
        return False

    @property
    def judges_records(self) -> bool:
        return False

    @property
    def may_fail(self) -> bool:
        return self.failure > 0

    def advantage(self, epsilon: float, both: bool = False) -> Bracket:
        if self._alternatives:
            return joined([one.advantage(epsilon, both) for one in self._alternatives])
        return self._asked(("advantage", epsilon, both), lambda seen: seen.advantage(self.failure, both=both))

    def posterior(self, epsilon: float) -> Bracket:
        if self._alternatives:
            return joined([one.posterior(epsilon) for one in self._alternatives])
        return self._asked(("posterior", epsilon, False), lambda seen: seen.posterior(self.failure))

    def epsilon(self, limits: Limits) -> float:
        """The largest ε that is proven to keep the limits; noise is 1/ε here, as far as the search goes."""
        if self._alternatives:
            return min(one.epsilon(limits) for one in self._alternatives)
        if limits.posterior is not None and self.prior is not None and self.prior >= limits.posterior:
            raise InfeasibleError(f"posterior: the belief before any release is {self.prior:.6g}; allow more")
        asked = GainLimits(limits.advantage, limits.posterior, limits.both, self.failure)
        noise = least_noise(lambda noise: self.reading(1 / noise), asked, 1.0)
        return 1 / noise if noise else float("inf")

    def largest_prior_factor(self, epsilon: float, limits: Limits, *, quick: bool = False) -> float | None:
        """Not worked out for this noise."""
        return None

    def failure_under_prior(self, epsilon: float, advantage: float) -> Bracket | None:
        """How probable an answer is that lifts the belief by more, the truth drawn from the prior; only with `at`."""
        if self._alternatives or self.attacker.at is None:
            return None
        return self.reading(epsilon).failure(advantage=advantage, under_prior=True)

    def reading(self, epsilon: float) -> GaussianReading:
        """What he sees at an ε: all answers about his column as one, and the others' metric."""
        name = self.attacker.names[0]
        bell = joined_bell(self.bells(epsilon), name)
        if bell is None:
            problem = f"several answers with Gaussian noise depend on {name} in different ways"
            raise MetricError("query", name, problem, "ask for one of them, or use laplace noise")
        knows = {n: v for n, v in (self.attacker.knows or {}).items() if v is not None}
        attribute = conditioned([self.attacker.attributes[name]], knows)[name]
        at = None if self.attacker.at is None else float(self.attacker.at[name])
        pure, extra = self._pure(name)
        slack = 0.5 * bell.rounding * FAR + 0.25 * extra
        return GaussianReading(attribute, self.attacker.goal, at, bell.curve, pure, slack)

    def _pure(self, name: str) -> tuple[LineForm, float]:
        """The curve of the other releases on the line, and a step in log-odds beside it."""
        if self.pure is None or name not in self.pure.columns:
            return LineForm(), 0.0
        line = self.pure.lines.get(name)
        if line is None:
            problem = f"earlier releases without Gaussian noise tell of {name} in a form that is not judged beside it"
            raise MetricError("query", name, problem, "use another data name, or laplace noise")
        form = line.form
        return replace(form, step=0.0, cap=float("inf")), form.step

    @cached_property
    def _known(self) -> dict[tuple[str, float, bool], Bracket]:
        return {}

    def _asked(self, key: tuple[str, float, bool], question: Callable[[GaussianReading], Bracket]) -> Bracket:
        if key not in self._known:
            self._known[key] = question(self.reading(key[1]))
        return self._known[key]


def judged_together(attacker: Attacker, pure: Guarantee | None, bells: tuple[Bell, ...], both: bool) -> Bracket:
    """The advantage after releases of both kinds; failures add."""
    failure = sum(b.failure for b in bells)
    nothing = Guarantee(pure.unit, {}, {}, 0.0, 0.0) if pure is not None else _no_guarantee()
    return GaussianExposure(attacker, nothing, bells=lambda _e: bells, pure=pure, failure=failure).advantage(1.0, both)


def _no_guarantee() -> Guarantee:
    from guessproof.guarantee.unit import VALUES

    return Guarantee(VALUES, {}, {}, 0.0, 0.0)
