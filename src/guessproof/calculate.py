"""Choosing ε without data: an attribute, a prior, a goal and a limit are enough."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from guessproof.errors import GuessproofError, InfeasibleError
from guessproof.risk import Attack, Bracket
from guessproof.rounded import down
from guessproof.world import Attribute, Goal, PartlyKnown, Unknown


@dataclass(frozen=True)
class Limits:
    """What the attacker may gain."""

    advantage: float | None = None
    posterior: float | None = None
    both: bool = False


@dataclass(frozen=True)
class Calculation:
    """The ε that keeps the limits, what it lets an attacker reach, and how it hangs on the prior."""

    feasible: bool
    epsilon: float
    noise_scale: float
    prior: float | None
    belief: Bracket | None
    advantage: Bracket | None
    prior_free_epsilon: float | None
    narrower_prior_epsilon: float | None
    wider_prior_epsilon: float | None
    explanation: str

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; an infinite ε is null, with the explanation beside it."""
        table = asdict(replace(self, belief=None, advantage=None))
        table["belief"] = None if self.belief is None else self.belief.to_dict()
        table["advantage"] = None if self.advantage is None else self.advantage.to_dict()
        return {k: None if isinstance(v, float) and math.isinf(v) else v for k, v in table.items()}


def calculate(attack: Attack, limits: Limits) -> Calculation:
    """The largest ε (per unit of the attribute's distance) that keeps every limit."""
    try:
        epsilon = _epsilon(attack, limits)
        if epsilon <= 0:
            raise InfeasibleError("limits: no ε above 0 keeps them; give the prior a range, or allow more")
    except InfeasibleError as error:
        return Calculation(
            feasible=False,
            epsilon=0.0,
            noise_scale=math.inf,
            prior=None,
            belief=None,
            advantage=None,
            prior_free_epsilon=None,
            narrower_prior_epsilon=None,
            wider_prior_epsilon=None,
            explanation=str(error),
        )
    finite = math.isfinite(epsilon)
    known = not isinstance(attack.attribute.prior, (PartlyKnown, Unknown))
    stated = known and attack.at is not None
    belief = attack.posterior(epsilon=epsilon) if finite and known else None
    gained = attack.advantage(epsilon=epsilon, both=limits.both) if finite else None
    return Calculation(
        feasible=True,
        epsilon=epsilon,
        noise_scale=1 / epsilon if epsilon > 0 else math.inf,
        prior=attack.prior if stated else None,
        belief=belief,
        advantage=gained,
        prior_free_epsilon=_prior_free(attack, limits),
        narrower_prior_epsilon=_with_prior(attack, limits, 0.75),
        wider_prior_epsilon=_with_prior(attack, limits, 1.25),
        explanation=_words(attack, limits, epsilon, gained),
    )


def _epsilon(attack: Attack, limits: Limits) -> float:
    return float(attack.epsilon(advantage=limits.advantage, posterior=limits.posterior, both=limits.both))


def _prior_free(attack: Attack, limits: Limits) -> float | None:
    """4·artanh η over the declared range, where there is one."""
    low, high = attack.attribute.bounds or (-np.inf, np.inf)
    if attack.several is not None:
        return None
    if limits.advantage is None or not math.isfinite(high - low):
        return None
    return _asked_again(replace(attack, at=None), Unknown(low, high), replace(limits, posterior=None))


def _with_prior(attack: Attack, limits: Limits, factor: float) -> float | None:
    if attack.several is not None:  # of which prior?
        return None
    prior = attack.attribute.prior.stretched(factor)
    return None if prior is None else _asked_again(attack, prior, limits)


def _asked_again(attack: Attack, prior: Any, limits: Limits) -> float | None:
    """The same question under another prior; None where it has no answer there."""
    try:
        attribute = replace(attack.attribute, prior=prior)
        goal = _with_attribute(attack.goal, attribute)
        return _epsilon(Attack(goal, at=attack.at), limits)
    except GuessproofError:
        return None


def _with_attribute(goal: Goal, attribute: Attribute) -> Goal:
    return replace(goal, attribute=attribute)  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownVariableType]


def _words(attack: Attack, limits: Limits, epsilon: float, gained: Bracket | None) -> str:
    if math.isinf(epsilon):
        return "No noisy answer can break these limits, however large ε is: they do not decide on it."
    where = "" if attack.at else ", whichever value is true"
    parts: list[str] = []
    if limits.advantage is not None:
        direction = "move" if limits.both else "rise"
        parts.append(f"the belief in “{attack.goal!r}” can {direction} by at most {limits.advantage:g}{where}")
    if limits.posterior is not None:
        parts.append(f"the belief in “{attack.goal!r}” stays at or below {limits.posterior:g}{where}")
    status = "" if gained is None else f" This is {gained.status}: {gained.how}."
    return f"At ε = {down(epsilon)} per unit of distance {' and '.join(parts)}.{status}"
