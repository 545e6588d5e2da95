"""Who attacks, and what he can learn from releases whose guarantee is known.

An attacker believes something, wants to know something, and knows something already.

Every view of the guarantee bounds the attacker; the least bound counts. Where every alternative of an OR is protected
on its own, each is an attacker of his own, and the most exposed counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from guessproof.calculate import Limits
from guessproof.errors import GuessproofError, InfeasibleError, NotCertifiedError
from guessproof.exposure.views import GuaranteeView, lowered, views
from guessproof.guarantee import Guarantee
from guessproof.risk import Attack, Bracket, alternatives, joined
from guessproof.world import Arithmetic, Attribute, Finite, Goal, PartlyKnown, Unknown, joint_of

Found = TypeVar("Found")


@dataclass(frozen=True)
class Attacker:
    """The attacker of a plan: how his goal is built on attributes, the truth, and what he knows."""

    attributes: Mapping[str, Attribute]
    build: Callable[[Mapping[str, Attribute]], Goal]
    at: Mapping[str, Any] | None = None
    knows: Mapping[Any, Any] | None = None  # by column, or by a formula of several
    or_: str = "any"
    prior_factor: float = 1.0

    @cached_property
    def goal(self) -> Goal:
        """The goal on the attributes as they were declared."""
        return self.build(self.attributes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns that the goal speaks of."""
        return tuple(dict.fromkeys(a.name for a in (*self.goal.attributes, *self._known_attributes)))

    @property
    def _known_attributes(self) -> Iterator[Attribute]:
        """The attributes of formulas whose values he knows."""
        for formula in self.knows or {}:
            if isinstance(formula, Arithmetic):
                yield from formula.attributes  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def knows_formulas(self) -> bool:
        """Whether he knows more than values of single columns."""
        return any(isinstance(formula, Arithmetic) for formula in self.knows or {})

    def known_on(self, parts: Mapping[str, Attribute]) -> Mapping[Any, Any] | None:
        """What he knows, formulas of columns as formulas of these attributes."""
        if not self.knows_formulas:
            return self.knows
        known: dict[Any, Any] = dict(self.knows or {})
        return {n.on(parts) if isinstance(n, Arithmetic) else n: v for n, v in known.items()}  # pyright: ignore[reportAttributeAccessIssue]

    @cached_property
    def tied(self) -> frozenset[str]:
        """Columns outside the goal on which one inside depends."""
        joints = [joint_of(self.attributes[n]) for n in self.names if n in self.attributes]
        return frozenset(name for joint in joints if joint for name in joint.names if name not in self.names)

    @cached_property
    def alternatives(self) -> tuple[Attacker, ...]:
        """Those who are judged one by one where every alternative of an OR is protected; empty otherwise.

        Each has his own goal, and with it his own ties to columns outside of it.
        """
        goals = alternatives(self.goal) if self.or_ == "each" else ()
        return tuple(self._only(place, goal) for place, goal in enumerate(goals)) if len(goals) > 1 else ()

    def _only(self, place: int, goal: Goal) -> Attacker:
        names = {a.name for a in goal.attributes}
        joints = [joint_of(a) for a in goal.attributes]
        ties = names.union(*(joint.names for joint in joints if joint is not None))
        at = {n: v for n, v in (self.at or {}).items() if n in names}
        knows = {n: v for n, v in (self.knows or {}).items() if n in ties or not isinstance(n, str)}
        return Attacker(
            self.attributes,
            lambda parts: alternatives(self.build(parts))[place],
            at or None,
            knows or None,
            prior_factor=self.prior_factor,
        )

    @property
    def has_prior(self) -> bool:
        """Whether a whole prior is known of each of the goal's columns."""
        return not any(isinstance(self.attributes[n].prior, (PartlyKnown, Unknown)) for n in self.names)

    @property
    def has_listed_values(self) -> bool:
        """Whether every value that the goal's columns can have is listed, so that their combinations can be."""
        return all(isinstance(self.attributes[n].prior, Finite) for n in self.names)

    def stretched(self, factor: float) -> Attacker | None:
        """The same attacker with narrower or wider priors; None where no prior of the goal has a width."""
        found = {n: a.prior.stretched(factor) for n, a in self.attributes.items() if n in self.names}
        if not any(p is not None for p in found.values()):
            return None
        changed = {n: replace(a, prior=p) if (p := found.get(n)) is not None else a for n, a in self.attributes.items()}
        return replace(self, attributes=changed)


@dataclass(frozen=True)
class Exposure:
    """What the attacker learns, whichever view shows least."""

    attacker: Attacker
    guarantee: Guarantee
    step: float = 0.0  # what rounding to a grid adds between any two different values, whatever ε is

    def with_step(self, step: float) -> Exposure:
        """The same where rounding adds this much; itself, with all that it has worked out, where that is no more."""
        return self if step <= self.step else replace(self, step=step)

    @property
    def judges_wrong_priors(self) -> bool:
        """Whether it is worked out what other priors than the declared one would mean."""
        return True

    @property
    def is_shared_evenly(self) -> bool:
        """Whether each of n releases that keep a limit together has an n-th of the ε that one would have."""
        return True

    @property
    def judges_records(self) -> bool:
        """Whether each record's own exposure can be worked out: from distances, which bound every answer."""
        return True

    @property
    def may_fail(self) -> bool:
        """Whether what is said may be broken by an answer, with a stated probability."""
        return False

    @cached_property
    def views(self) -> list[GuaranteeView]:
        """Every view that this goal allows."""
        return list(views(self.attacker, self.guarantee))

    def advantage(self, epsilon: float, both: bool = False) -> Bracket:
        """How far his belief can rise (or, with both, move) after releases of this ε in all."""
        if self._alternatives:
            return joined([one.advantage(epsilon, both) for one in self._alternatives])
        return self._least(lambda view: view.advantage(epsilon, both))

    def posterior(self, epsilon: float) -> Bracket:
        """How high his belief can get."""
        if self._alternatives:
            return joined([one.posterior(epsilon) for one in self._alternatives])
        return self._least(lambda view: view.posterior(epsilon))

    @property
    def prior(self) -> float | None:
        """His belief before, where the truth is stated or does not matter; None for the worst truth."""
        attacker = self.attacker
        if self._alternatives or not attacker.has_prior or (not attacker.at and attacker.goal.depends_on_truth):
            return None
        try:
            return float(Attack(attacker.goal, attacker.at, attacker.knows).prior)
        except GuessproofError:  # the goal is certain, or a true value is missing or impossible
            return None

    def failure_under_prior(self, epsilon: float, advantage: float) -> Bracket | None:
        """How probable an answer that lifts the belief by more is, the truth drawn from the prior; None: not asked."""
        return None

    def epsilon(self, limits: Limits) -> float:
        """The largest ε at which every limit is proven to hold, rounding included; math.inf where none can break."""
        if self._alternatives:
            return min(one.epsilon(limits) for one in self._alternatives)
        inner, best = lowered(limits, self.step), 0.0

        def larger(view: GuaranteeView) -> float:
            """What this view allows, or the best so far where it allows no more: one look instead of a search."""
            nonlocal best
            if best == 0 or (best < math.inf and view.keeps(best, inner)):
                best = max(best, view.epsilon(inner))
            return best

        return max(found for _, found in self._answers(larger))

    def largest_prior_factor(self, epsilon: float, limits: Limits, *, quick: bool = False) -> float | None:
        """How wrong the priors may be while every limit is proven to hold at ε: a factor on the odds of any two values.

        math.inf where no prior breaks the limits, 1 where only the declared one is proven; None without a prior.
        `quick`: what is proven at once, which may be less.
        """
        if not self.attacker.has_prior:
            return None
        if self._alternatives:
            found = [one.largest_prior_factor(epsilon, limits, quick=quick) for one in self._alternatives]
            known = [factor for factor in found if factor is not None]
            return min(known) if len(known) == len(found) else None
        inner, most = lowered(limits, self.step), 1.0
        trusted = self.attacker.prior_factor == 1  # then what was worked out already is at hand
        declared = self if trusted else replace(self, attacker=replace(self.attacker, prior_factor=1.0))
        for view in declared.views:
            try:
                most = max(most, view.largest_prior_factor(epsilon, inner, quick=quick))
            except GuessproofError:
                continue
            if view.tight or math.isinf(most):
                break
        return most

    @cached_property
    def _alternatives(self) -> list[Exposure]:
        """Each alternative of an OR on its own, where the plan says so."""
        return [replace(self, attacker=attacker) for attacker in self.attacker.alternatives]

    def _least(self, question: Callable[[GuaranteeView], Bracket]) -> Bracket:
        answers = self._answers(question)
        best = min((b for _, b in answers), key=lambda b: float(b.bound))
        attacks = [float(b.attack) for view, b in answers if view.is_own]
        attack = min(max(attacks, default=0.0), float(best.bound))
        bound = min(float(best.bound) + self.step / 4, 1.0)
        return Bracket.meet(attack, bound, best.how, worst_at=best.worst_at, worst_prior=best.worst_prior)

    def _answers(self, question: Callable[[GuaranteeView], Found]) -> list[tuple[GuaranteeView, Found]]:
        """What each view says, up to the first that no other can beat."""
        found: list[tuple[GuaranteeView, Found]] = []
        refusal: GuessproofError | None = None
        for view in self.views:
            try:
                found.append((view, question(view)))
            except InfeasibleError:
                raise
            except GuessproofError as error:
                refusal = refusal or error
                continue
            if view.tight:
                break
        if not found:
            raise refusal or NotCertifiedError("no view of this goal could be certified; give the true value: at")
        return found
