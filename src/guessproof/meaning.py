"""What a given ε means for a plan: what the attacker could learn, how accurate the answer is, which limits hold."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from guessproof.calculate import Limits
from guessproof.choosing import Chooser, asked
from guessproof.choosing.choice import Choice, Limit, label_measurements
from guessproof.errors import GuessproofError, ParameterError
from guessproof.explain import Explanation, explain
from guessproof.exposure import Exposure
from guessproof.guarantee import list_moved
from guessproof.mechanisms.words import OtherWords, other_words
from guessproof.noise import Noise
from guessproof.plan import Plan
from guessproof.risk import Bracket
from guessproof.world import real


@dataclass(frozen=True)
class Kept:
    """A limit or target of the plan, and whether this ε keeps it."""

    name: str
    epsilon: float
    side: str
    how: str
    kept: bool


@dataclass(frozen=True)
class Meaning:
    """ε in the terms of one plan; `general` is what it means for any data."""

    epsilon: float
    noises: tuple[Noise, ...]
    prior: float | None
    advantage: Bracket | None
    posterior: Bracket | None
    errors: dict[str, float | None]
    rank_errors: dict[str, float]
    limits: tuple[Kept, ...]
    general: Explanation
    times: int = 1  # how often the plan is released; beliefs are after all of them
    exposure: Exposure | None = field(default=None, repr=False, compare=False)
    promise: Limits = field(default_factory=Limits, repr=False, compare=False)
    timely: frozenset[str] = frozenset()  # outputs that are times: their errors are in days
    labels: tuple[str, ...] = ()  # what each noise is on
    families: tuple[tuple[int, ...], ...] = ()  # noises of which one unit moves two at most
    choice: Choice | None = field(default=None, repr=False)  # the plan's own, where it is of this ε

    @cached_property
    def largest_prior_factor(self) -> float | None:
        """By what factor the odds of any two values may be misjudged while the attacker's limits hold at this ε."""
        if self.exposure is None or not all(k.kept for k in self.limits if k.name == "attacker"):
            return None
        if self.choice is not None:
            return self.choice.largest_prior_factor
        found = self.exposure.largest_prior_factor(self.epsilon, self.promise)
        return None if found is None else max(found, self.exposure.attacker.prior_factor)

    @cached_property
    def words(self) -> OtherWords:
        """The same release in the words of hypothesis testing: trade-off curve, TPR at FPR, GDP, zCDP."""
        return other_words(list_moved([n.mechanism for n in self.noises], self.families, key=lambda m: m.epsilon))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "epsilon": self.epsilon,
            "times": self.times,
            "noise": [n.to_dict() for n in self.noises],
            "prior": self.prior,
            "advantage": None if self.advantage is None else self.advantage.to_dict(),
            "posterior": None if self.posterior is None else self.posterior.to_dict(),
            "largest_prior_factor": "any" if self.largest_prior_factor == math.inf else self.largest_prior_factor,
            "errors": self.errors,
            "other_words": self.words.to_dict(),
            "rank_errors": self.rank_errors,
            "limits": [{**vars(k), "epsilon": k.epsilon if math.isfinite(k.epsilon) else None} for k in self.limits],
            "general": self.general.to_dict(),
        }


def _learnt(exposure: Exposure | None, epsilon: float, both: bool) -> tuple[Bracket | None, Bracket | None]:
    """How far the attacker's belief rises, and how high it gets."""
    if exposure is None:
        return None, None
    try:
        posterior = exposure.posterior(epsilon)
    except GuessproofError:  # without a prior there is no belief, only its change
        posterior = None
    return exposure.advantage(epsilon, both), posterior


def meaning(plan: Plan, epsilon: float, chooser: Chooser | None = None, choice: Choice | None = None) -> Meaning:
    """What ε means for a plan. Never opens the table. A `chooser` of this plan looks its answers up in its own way.

    The plan's own `choice`, where it is of this ε, has what the attacker learns and the limits already.
    """
    epsilon = real(ParameterError, "epsilon", epsilon)
    if epsilon <= 0:
        raise ParameterError("epsilon", epsilon, "must be positive", "give an ε above 0")
    chooser = chooser or Chooser(plan, asked(plan), None, False)
    exposure = chooser.exposure()
    exposure = None if exposure is None else chooser.rounded(exposure, epsilon)
    noises = chooser.noises(epsilon)
    errors: dict[str, float | None] = {}
    ranks: dict[str, float] = {}
    for output in chooser.asked.outputs:
        if output.measured:
            noise, level = noises[output.measured[0]], chooser.targets.get(output.name, (0.0, 0.95))[1]
            errors[output.name] = noise.error(level) if output.is_plain and not noise.unit else None
            if output.is_plain and noise.unit:
                ranks[output.name] = noise.error(level)
    known = choice if choice is not None and choice.feasible and choice.epsilon == epsilon else None
    if known is not None:
        advantage, posterior, bounds = known.advantage, known.posterior, known.limits
    else:
        (advantage, posterior), bounds = _learnt(exposure, epsilon, plan.limits.both), chooser.bounds()
    return Meaning(
        epsilon=epsilon,
        noises=noises,
        prior=None if exposure is None else exposure.prior,
        advantage=advantage,
        posterior=posterior,
        errors=errors,
        rank_errors=ranks,
        limits=tuple(_kept(bounds, epsilon)),
        general=explain(epsilon),
        times=plan.release.times,
        exposure=exposure,
        promise=plan.limits,
        timely=frozenset(o.name for o in chooser.asked.outputs if o.is_time),
        labels=label_measurements(chooser.asked),
        families=chooser.asked.families,
        choice=known,
    )


def _kept(bounds: Iterable[Limit], epsilon: float) -> list[Kept]:
    found: list[Kept] = []
    for bound in bounds:
        kept = epsilon <= bound.epsilon if bound.side == "at most" else epsilon >= bound.epsilon * (1 - 1e-12)
        found.append(Kept(bound.name, bound.epsilon, bound.side, bound.how, kept))
    return found
