"""Who answers the questions of an attack.

| what is known                                  | answers                                              |
|------------------------------------------------|------------------------------------------------------|
| alternatives of an OR, each protected          | `EachAlternative`: the most exposed of them          |
| a prior that may be wrong by a factor          | `UnderPriorError`, beside the answers for the prior given |
| several attributes                             | `joint`; `joint.unknown` where one has no prior      |
| no prior, or one probability of it             | `prior_free`                                         |
| one attribute, its true value stated           | `Stated`: the belief of `single`                     |
| one attribute, its true value left open        | `WorstTruth`                                         |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from guessproof.errors import ParameterError
from guessproof.risk.bracket import Bracket, Effort, joined, larger
from guessproof.risk.limits import (
    Belief,
    advantage_bracket,
    least_of,
    posterior_bracket,
    safe_epsilon,
)
from guessproof.risk.prior_error.odds import posterior_before, with_factor
from guessproof.risk.worst_truth import WorstTruth
from guessproof.world.checks import Array

if TYPE_CHECKING:  # only some attacks need them; whoever does imports them
    from guessproof.risk.joint.unknown import UnknownSeveral
    from guessproof.risk.prior_error.answer import MisspecifiedPrior
    from guessproof.risk.prior_free import PriorFree


class Answers(Protocol):
    """What an attacker learns, and the ε at which they learn no more than limits allow. All questions are checked."""

    def posterior(self, epsilon: Array, side: str, effort: Effort | None) -> Bracket:
        """The largest belief in the goal, or with side="lower" the smallest."""
        ...

    def advantage(self, epsilon: Array, both: bool, effort: Effort | None) -> Bracket:
        """How far the belief rises, or with both=True moves."""
        ...

    def epsilon(
        self,
        advantage: Array | None,
        posterior: Array | None,
        both: bool,
        effort: Effort | None,
    ) -> Any:
        """The largest ε that is proven to keep the limits."""
        ...


@dataclass(frozen=True)
class Stated:
    """One attribute whose true value is stated, or does not matter."""

    belief: Belief

    def posterior(self, epsilon: Array, side: str, effort: Effort | None) -> Bracket:
        return posterior_bracket(self.belief, epsilon, side)

    def advantage(self, epsilon: Array, both: bool, effort: Effort | None) -> Bracket:
        return advantage_bracket(self.belief, epsilon, both)

    def epsilon(
        self,
        advantage: Array | None,
        posterior: Array | None,
        both: bool,
        effort: Effort | None,
    ) -> Any:
        return safe_epsilon(self.belief, advantage=advantage, posterior=posterior, both=both)


@dataclass(frozen=True)
class LeftOpen:
    """One attribute at its worst true value."""

    worst: WorstTruth

    def posterior(self, epsilon: Array, side: str, effort: Effort | None) -> Bracket:
        if side != "upper":
            raise ParameterError("side", side, "needs a true value", "give at={…}")
        return self.worst.bracket(epsilon, "posterior")

    def advantage(self, epsilon: Array, both: bool, effort: Effort | None) -> Bracket:
        rise = self.worst.bracket(epsilon, "rise")
        return larger(rise, self.worst.bracket(epsilon, "fall")) if both else rise

    def epsilon(
        self,
        advantage: Array | None,
        posterior: Array | None,
        both: bool,
        effort: Effort | None,
    ) -> Any:
        return self.worst.epsilon(advantage, posterior, both)


@dataclass(frozen=True)
class WithoutPrior:
    """All priors that fit what is known; only advantages can be bounded."""

    engine: PriorFree | UnknownSeveral
    prior: Any

    def posterior(self, epsilon: Array, side: str, effort: Effort | None) -> Bracket:
        raise ParameterError(
            "posterior", self.prior, "is undefined without a prior", "ask for the advantage"
        )

    def advantage(self, epsilon: Array, both: bool, effort: Effort | None) -> Bracket:
        return self.engine.advantage(epsilon, both)

    def epsilon(
        self,
        advantage: Array | None,
        posterior: Array | None,
        both: bool,
        effort: Effort | None,
    ) -> Any:
        if posterior is not None or advantage is None:
            raise ParameterError(
                "posterior", posterior, "is undefined without a prior", "limit the advantage"
            )
        return self.engine.epsilon(advantage, both)


@dataclass(frozen=True)
class UnderPriorError:
    """A prior that may be wrong by a factor: posteriors follow from the declared one, advantages do not."""

    declared: Answers
    engine: MisspecifiedPrior | PriorFree
    factor: float

    def posterior(self, epsilon: Array, side: str, effort: Effort | None) -> Bracket:
        found = self.declared.posterior(epsilon, side, effort)
        return with_factor(found, self.factor if side == "upper" else 1 / self.factor)

    def advantage(self, epsilon: Array, both: bool, effort: Effort | None) -> Bracket:
        return self.engine.advantage(epsilon, both)

    def epsilon(
        self,
        advantage: Array | None,
        posterior: Array | None,
        both: bool,
        effort: Effort | None,
    ) -> Any:
        found: list[Any] = []
        if posterior is not None:
            found.append(
                self.declared.epsilon(
                    None, posterior_before(posterior, self.factor), False, effort
                )
            )
        if advantage is not None:
            found.append(self.engine.epsilon(advantage, both))
        return least_of(found)


@dataclass(frozen=True)
class EachAlternative:
    """Alternatives of an OR that are protected each on its own."""

    each: Sequence[Answers]

    def posterior(self, epsilon: Array, side: str, effort: Effort | None) -> Bracket:
        return joined([one.posterior(epsilon, side, effort) for one in self.each], side)

    def advantage(self, epsilon: Array, both: bool, effort: Effort | None) -> Bracket:
        return joined([one.advantage(epsilon, both, effort) for one in self.each])

    def epsilon(
        self,
        advantage: Array | None,
        posterior: Array | None,
        both: bool,
        effort: Effort | None,
    ) -> Any:
        return least_of([one.epsilon(advantage, posterior, both, effort) for one in self.each])
