"""The attacker's belief before a release and after it, as one pair of numbers that people can picture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from guessproof.choosing import Choice
from guessproof.errors import GuessproofError
from guessproof.explain import explain
from guessproof.mechanisms import MECHANISMS
from guessproof.reporting.words import minus
from guessproof.risk import Binding, Bracket, absolute_risk, as_declared
from guessproof.rounded import near

EXAMPLE = 0.1  # a belief to speak of where a plan names none


@dataclass(frozen=True)
class ShownShift:
    """A belief that a release can raise from `before` to at most `after`.

    `who` says for whom; `limit` is what the plan allows; `is_example` marks a start that no plan stated; `about` is
    what is guessed, where that is not the plan's goal; `is_largest_gain` says that no other true value gains more;
    `misjudged` is what it becomes if the odds of the prior are wrong by as much as the plan allows for.
    """

    before: float
    after: float
    limit: float | None
    who: str
    is_example: bool = False
    about: str | None = None
    is_largest_gain: bool = False
    misjudged: float | None = None


def shift_of(choice: Choice) -> ShownShift | None:
    """The pair to show: of the plan's attacker, else of its risk profile, else what ε means to anybody."""
    epsilon = _asked_at(choice)
    if epsilon is None:
        return None
    if choice.exposure is not None:
        return _attacked(choice, epsilon)
    if choice.plan.risk is not None:
        return _profiled(choice, epsilon)
    mechanism = choice.plan.release.mechanism
    if mechanism is not None and MECHANISMS[mechanism].has_delta:
        return None  # (ε, δ) bounds no belief after every single answer
    return ShownShift(EXAMPLE, _raised(EXAMPLE, epsilon), None, "", is_example=True)


def _asked_at(choice: Choice) -> float | None:
    """The ε that is recommended; where nothing is feasible, the one that the accuracy would need."""
    epsilon = choice.epsilon if choice.feasible else choice.interval[0]
    fixed = choice.plan.release.epsilon
    if not choice.feasible and not epsilon and fixed is not None:
        epsilon = fixed
    return epsilon if math.isfinite(epsilon) and epsilon > 0 else None


def _attacked(choice: Choice, epsilon: float) -> ShownShift | None:
    limits, exposure = choice.plan.limits, choice.exposure
    assert exposure is not None
    try:
        # Where both directions are limited the largest move may be a fall; the picture is about the rise.
        known = choice.advantage if choice.feasible and not limits.both else None
        risen = known or exposure.advantage(epsilon)
        reached = choice.posterior if choice.feasible else _belief(choice, epsilon)
    except GuessproofError:
        return None
    allowed = limits.advantage
    if choice.prior is not None and reached is not None:
        limit = min([v for v in (None if allowed is None else choice.prior + allowed, limits.posterior) if v] or [1.0])
        return _stated(choice, ShownShift(choice.prior, float(reached.bound), limit, _truth(choice)))
    # The start from which the largest rise is possible.
    if risen.worst_prior is None or not exposure.attacker.has_prior:
        before = (1 - float(risen.bound)) / 2
        limit = limits.posterior if allowed is None else before + allowed
        return ShownShift(before, before + float(risen.bound), limit, "", is_example=True)
    if allowed is not None or reached is None or reached.worst_prior is None:
        before = float(risen.worst_prior)
        limit = limits.posterior if allowed is None else min(1.0, before + allowed)
        who = _worst(choice, risen, "most can be learnt")
        return ShownShift(before, min(1.0, before + float(risen.bound)), limit, who, is_largest_gain=bool(who))
    who = _worst(choice, reached, "the belief gets highest")
    return _stated(choice, ShownShift(float(reached.worst_prior), float(reached.bound), limits.posterior, who))


def _stated(choice: Choice, worst: ShownShift) -> ShownShift:
    """Beliefs before as stated and after at worst: both of the prior that is stated, with the worst one beside."""
    after = as_declared(worst.after, choice.plan.prior_factor)
    return worst if after == worst.after else replace(worst, after=after, misjudged=worst.after)


def _belief(choice: Choice, epsilon: float) -> Bracket | None:
    assert choice.exposure is not None
    return None if choice.posterior is None else choice.exposure.posterior(epsilon)


def _truth(choice: Choice) -> str:
    attacker = choice.plan.attacker
    at = None if attacker is None else attacker.at
    if not at:
        return ""
    return "for a true value of " + ", ".join(
        f"{choice.plan.label(name)} = {choice.plan.label(name, shown(value))}" for name, value in at.items()
    )


def _worst(choice: Choice, bracket: Bracket, what: str) -> str:
    at = bracket.worst_at
    if at is None:
        return ""
    names = [a.name for a in choice.plan.goal().attributes]
    one = f"{choice.plan.label(names[0])} = " if len(names) == 1 and not isinstance(at, Mapping) else ""
    return f"for the true value at which {what}, {one}{minus(choice.plan.truth_words(at))}"


def shown(value: Any) -> str:
    """A true value, short.

    >>> shown(20.0), shown("math")
    ('20', 'math')
    """
    return near(value, 6) if isinstance(value, float) else str(value)


def _profiled(choice: Choice, epsilon: float) -> ShownShift:
    profile = choice.plan.risk
    assert profile is not None
    p, q = example_priors(profile.binding())
    bounded = not choice.plan.unit.hides_presence
    share = epsilon if bounded else added_or_removed(choice, epsilon)
    after = min(1.0, float(absolute_risk(p, q, share, bounded=bounded)))
    allowed = float(profile.allowed(p, q))
    limit = min(1.0, p * q * allowed) if math.isfinite(allowed) else None
    held = [] if p == 1 else [f"to be in the data with probability {p:.3g}"]
    held += [] if q == 1 else [f"to have the value in question with probability {q:.3g}{'' if p == 1 else ', if so'}"]
    who = f"for somebody whom the guesser holds {' and '.join(held)}" if held else ""
    about = (
        "that you are in the data"
        if q == 1
        else "at your value"
        if p == 1
        else "that you are in the data, with your value,"
    )
    return ShownShift(p * q, after, limit, who, about=about)


def example_priors(binding: Binding | None) -> tuple[float, float]:
    """Where a profile binds; near zero it is a limit that is only approached, and a small prior stands for it.

    >>> example_priors(None)
    (1.0, 0.1)
    """
    if binding is None:
        return 1.0, EXAMPLE
    p = _nearly(binding.p) if binding.p > 0 else (0.001 if binding.q > 0 else 1.0)
    q = _nearly(binding.q) if binding.q > 0 else 0.001
    return p, q


def _nearly(prior: float) -> float:
    return 1.0 if prior > 1 - 1e-6 else prior


def added_or_removed(choice: Choice, epsilon: float) -> float:
    """ε for adding or removing a record, when changing one costs `epsilon`."""
    known = choice.epsilon_add_remove
    if known is not None and choice.epsilon:
        return known * epsilon / choice.epsilon
    parts = [m.guarantee for m in choice.asked.measurements]
    return epsilon * max(g.presence / g.sensitivity for g in parts)


def _raised(prior: float, epsilon: float) -> float:
    """The belief that ε allows for a secret of two values: Bayes with odds multiplied by e^ε."""
    return next((row.highest for row in explain(epsilon).rows if row.prior == prior), prior)
