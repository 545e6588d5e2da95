"""The attack: a goal, what is true, what is known; and the three questions that can be asked of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from guessproof.errors import GoalError, ParameterError, TrueValueError, UnknownAttributeError
from guessproof.risk.bracket import (
    Bracket,
    Progress,
    checked_effort,
    joined,
    without_time_limit,
)
from guessproof.risk.certificates import certificate_of
from guessproof.risk.combinations import true_values_of
from guessproof.risk.joint.engine import JointAnswers
from guessproof.risk.joint.formula import alternatives
from guessproof.risk.joint.joint_attack import leaves
from guessproof.risk.joint.unknown import UnknownSeveral
from guessproof.risk.limits import (
    Belief,
    checked_epsilon,
    checked_factor,
    checked_limits,
    least_of,
)
from guessproof.risk.prior_error.answer import (
    MisspecifiedPrior,
    prior_error_at,
    prior_error_of,
    prior_error_worst,
)
from guessproof.risk.prior_error.odds import (
    factor_between,
    posterior_before,
    rounded_down,
    with_factor,
)
from guessproof.risk.prior_free import PriorFree
from guessproof.risk.single import belief_of
from guessproof.risk.worst_truth import WorstTruth, worst_truth
from guessproof.world.attributes import Arithmetic, Attribute, conditioned, joint_of
from guessproof.world.checks import in_days
from guessproof.world.distances import Metric, Sum
from guessproof.world.finite import Finite
from guessproof.world.formulas import formula_of, known_formula
from guessproof.world.goals import Given, Goal, Norm, check_norm
from guessproof.world.line import LinePrior
from guessproof.world.priors import PartlyKnown, Unknown

Answers = Belief | JointAnswers | WorstTruth | PriorFree | UnknownSeveral | MisspecifiedPrior


@dataclass(frozen=True)
class Attack:
    """An attacker who knows every other record and wants to meet a goal about one.

    `at` names the true value (or an array of them); without it answers hold for the worst one.
    `knows` conditions the prior on what the attacker knows already: an interval or a set of values of an attribute, or
    an interval of a formula of several, as knows={rent + loan: (900, 1000)}.
    Several attributes: their distances are joined by `norm`; an OR is met by any alternative (`or_="any"`), or each
    alternative is protected on its own (`or_="each"`). Answers then are a cheap bracket, unless a `tolerance` in odds
    asks to refine it with more cells; `progress` is called after each stage.
    `prior_factor`: the odds of any two values may differ from the declared ones by this factor; 1 trusts the prior.

    >>> from guessproof.world.priors import normal
    >>> from guessproof.world import within
    >>> time = Attribute("time", prior=normal(mean=20, sd=6.28))
    >>> alice = Attack(within(time, 2), at={"time": 20})
    >>> round(alice.prior, 4), round(alice.epsilon(advantage=0.05), 4)
    (0.2499, 0.0494)
    """

    goal: Goal
    at: Mapping[str, Any] | None = None
    knows: Mapping[Any, Any] | None = None
    norm: Norm = "linf"
    or_: str = "any"
    prior_factor: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior_factor", checked_factor(self.prior_factor))
        if not isinstance(self.goal, Goal):
            raise GoalError(
                "goal",
                self.goal,
                "is not a goal",
                "use within(…), exactly(…), …, joined by &, | and ~",
            )
        check_norm(ParameterError, "norm", self.norm)
        if self.or_ not in ("any", "each"):
            raise ParameterError(
                "or_", self.or_, "is not a reading of OR", "say 'any' or 'each'"
            )
        for field in ("at", "knows"):
            table = getattr(self, field)
            if table is not None:
                self._check_names(field, table)
                object.__setattr__(self, field, self._on_line(table))

    def __getstate__(self) -> dict[str, Any]:
        """What an attack is; what was worked out from it is worked out again."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def _check_names(self, field: str, table: Any) -> None:
        names = [a.name for a in self.goal.attributes]
        if not isinstance(table, Mapping):
            raise ParameterError(
                field,
                table,
                "is not a table of attribute → value",
                f"write {{{names[0]!r}: …}}",
            )
        allowed: set[Any] = set(names)
        if field == "knows":
            formulas = [key for key in table if isinstance(key, Arithmetic) and key.attributes]
            allowed = _tied(self.goal) | {
                *formulas,
                *(a.name for f in formulas for a in f.attributes),
            }
        for name in table:
            if name not in allowed:
                raise UnknownAttributeError(
                    field, name, "no attribute of the goal has this name", f"use one of {names}"
                )

    def _on_line(self, table: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is stated, with dates as days but where they are labels."""
        labels = {a.name for a in self.goal.attributes if a.is_category}
        return {
            name: value if name in labels else in_days(value)
            for name, value in table.items()
            if value is not None
        }

    @cached_property
    def attribute(self) -> Attribute:
        """The goal's attribute, with its prior conditioned on what the attacker knows."""
        return self.conditioned[self.goal.attributes[0].name]

    @cached_property
    def conditioned(self) -> dict[str, Attribute]:
        """The goal's attributes, with their priors given what the attacker knows."""
        return conditioned(self.asked.attributes, self.knows or {})

    @cached_property
    def asked(self) -> Goal:
        """The goal, given what the attacker knows of formulas of several attributes."""
        known = tuple(
            known_formula(formula_of(part), ends)
            for part, ends in (self.knows or {}).items()
            if not isinstance(part, str)
        )
        return Given(self.goal, known) if known else self.goal

    @cached_property
    def several(self) -> JointAnswers | None:
        """Who answers where the goal speaks of several attributes."""
        if len(self.asked.attributes) == 1:
            return None
        given = self.at or {}
        open_ = (
            a.name
            for leaf in leaves(self.goal)
            if leaf.depends_on_truth
            for a in leaf.attributes
        )
        missing = [name for name in open_ if name not in given]
        if given and missing:
            raise TrueValueError(
                "at", given, f"the true value of {missing[0]} is missing", "give all or none"
            )
        return JointAnswers(self.asked, self.conditioned, None if missing else given, self.norm)

    @cached_property
    def alternatives(self) -> list[Attack]:
        """The alternatives of an OR that are to be protected each on its own; empty for the usual reading."""
        goals = alternatives(self.goal) if self.or_ == "each" else ()
        found: list[Attack] = []
        for goal in goals if len(goals) > 1 else ():
            names, ties = {a.name for a in goal.attributes}, _tied(goal)
            at = {n: v for n, v in (self.at or {}).items() if n in names}
            knows = {
                n: v
                for n, v in (self.knows or {}).items()
                if n in ties or not isinstance(n, str)
            }
            one = replace(self, goal=goal, at=at or None, knows=knows or None, or_="any")
            found.append(one)
        return found

    @property
    def _each(self) -> list[Attack]:
        """The attacks that are answered one by one."""
        return self.alternatives or [self]

    @property
    def prior(self) -> Any:
        """P(goal) before the release."""
        if self.alternatives:
            raise ParameterError(
                "or_",
                self.or_,
                "each alternative has a prior of its own",
                "ask each, or or_='any'",
            )
        if self.several is not None:
            return self.several.prior
        answers = self._believed
        if not isinstance(answers, Belief):
            raise ParameterError(
                "prior",
                None,
                "depends on the true value",
                "give at={…}, or ask for the advantage",
            )
        value = np.exp(answers.log_p)
        return float(value) if value.ndim == 0 else value

    @without_time_limit
    def posterior(
        self,
        epsilon: Any,
        side: str = "upper",
        *,
        tolerance: float | None = None,
        progress: Callable[[Progress], Any] | None = None,
    ) -> Bracket:
        """The largest (or, with side="lower", the smallest) belief in the goal after the worst output."""
        at, effort = checked_epsilon(epsilon), checked_effort(tolerance, progress)
        found = joined([one._believed.posterior(at, side, effort) for one in self._each], side)
        if self.prior_factor > 1:
            factor = self.prior_factor if side == "upper" else 1 / self.prior_factor
            return with_factor(found, factor)
        one = found.worst_at is None and not (self.alternatives or np.ndim(found.bound))
        if side == "upper" and one:
            find = partial(certificate_of, self, float(at), float(found.bound))
            vars(found).update(_certify=find)
        return found

    @without_time_limit
    def advantage(
        self,
        epsilon: Any,
        both: bool = False,
        *,
        tolerance: float | None = None,
        progress: Callable[[Progress], Any] | None = None,
    ) -> Bracket:
        """How far the belief can rise after the worst output; with both=True, move in either direction."""
        at, effort = checked_epsilon(epsilon), checked_effort(tolerance, progress)
        return joined([one._moved.advantage(at, both, effort) for one in self._each])

    @without_time_limit
    def epsilon(
        self,
        *,
        advantage: Any = None,
        posterior: Any = None,
        both: bool = False,
        tolerance: float | None = None,
        progress: Callable[[Progress], Any] | None = None,
    ) -> Any:
        """The largest ε at which every limit is proven to hold; math.inf where nothing can break it."""
        effort = checked_effort(tolerance, progress)
        advantage, posterior = checked_limits(advantage, posterior)
        found: list[Any] = []
        for one in self._each:
            if posterior is not None:
                factor = self.prior_factor
                before = posterior if factor == 1 else posterior_before(posterior, factor)
                found.append(one._believed.epsilon(None, both, before, effort))
            if advantage is not None:
                found.append(one._moved.epsilon(advantage, both, None, effort))
        return least_of(found)

    def largest_prior_factor(
        self,
        *,
        epsilon: float,
        advantage: float | None = None,
        posterior: float | None = None,
        both: bool = False,
        quick: bool = False,
    ) -> float:
        """How wrong the prior may be while every limit is proven to hold at this ε: the largest factor on the odds of
        any two values, rounded down; math.inf where nothing breaks the limits, 0 where the declared prior does.
        `quick` has no effect: the factor is found at once.
        """
        checked_limits(advantage, posterior)
        if checked_epsilon(epsilon).ndim:
            raise ParameterError("epsilon", epsilon, "is not one number", "ask one at a time")
        if self.alternatives:
            limits: Any = {"advantage": advantage, "posterior": posterior, "both": both}
            return min(
                one.largest_prior_factor(epsilon=epsilon, **limits) for one in self.alternatives
            )
        found, prior = [math.inf], self.attribute.prior
        if posterior is not None:
            belief = float(self._declared.posterior(epsilon).bound)
            found.append(factor_between(belief, posterior))
        if advantage is not None:
            # Under every prior on the range; of a partly known one nothing else can be said.
            factor, proven = math.inf if isinstance(prior, Unknown) else 1.0, False
            if not lacks_prior(prior):
                factor = self._misspecified.largest_factor(epsilon, advantage, both)
                proven = factor > 1  # then it is for the declared prior as well
            if not proven:
                rise = np.max(self._declared.advantage(epsilon, both).bound)
                factor = factor if rise <= advantage else 0.0
            found.append(factor)
        return rounded_down(min(found))

    # Who answers.

    @cached_property
    def _declared(self) -> Attack:
        """The same attack, with a prior that is trusted."""
        return replace(self, prior_factor=1.0)

    @cached_property
    def _any_prior(self) -> PriorFree | UnknownSeveral | MisspecifiedPrior | None:
        """Who bounds advantages where the prior is unknown, or may be wrong; None for a prior that is trusted."""
        attribute, several = self.attribute, self.several
        if self.prior_factor > 1:
            if isinstance(attribute.prior, LinePrior) and math.isinf(self.prior_factor):
                attribute = replace(attribute, prior=Unknown(*attribute.prior.support))
            if several is not None or not isinstance(attribute.prior, Unknown):
                return self._misspecified
        if several is None:
            lacks = lacks_prior(attribute.prior)
            return PriorFree(attribute, self.goal, self.true_value) if lacks else None
        if any(lacks_prior(a.prior) for a in several.attributes.values()):
            return UnknownSeveral(self.goal, several.attributes, several.truth, self.norm)
        return None

    @cached_property
    def _misspecified(self) -> MisspecifiedPrior:
        """What bounds advantages where the prior may be wrong."""
        if isinstance(self.attribute.prior, PartlyKnown):
            raise ParameterError(
                "prior_factor",
                self.prior_factor,
                "needs a whole prior, of which this knows one probability",
                "leave prior_factor out",
            )
        if self.several is not None:
            across = self.several.engine.question.diameter(self.several.goal)
            return prior_error_of(self.several.engine.belief(), across, self.prior_factor)
        if self.known_truth:
            return prior_error_at(
                self.attribute, self.goal, self.true_value, self.prior_factor, belief_of
            )
        finite = isinstance(self.attribute.prior, Finite)
        truths = true_values_of(self.attribute, self.goal) if finite else []
        return prior_error_worst(
            self.attribute, self.goal, truths, self.prior_factor, belief_of
        )

    @property
    def known_truth(self) -> bool:
        """Whether the true value is stated, or does not matter."""
        return not self.goal.depends_on_truth or self.true_value is not None

    @property
    def true_value(self) -> Any:
        """The stated true value of the goal's attribute, if there is one."""
        return (self.at or {}).get(self.goal.attributes[0].name)

    @cached_property
    def _believed(self) -> Belief | JointAnswers | WorstTruth:
        """Who answers under the declared prior."""
        for attribute in self.conditioned.values():
            if lacks_prior(attribute.prior):
                problem = "is unknown: a belief is undefined without a prior"
                raise ParameterError("prior", attribute.prior, problem, "ask for the advantage")
        if self.several is not None:
            return self.several
        if self.known_truth:
            return belief_of(self.attribute, self.goal, self.true_value)
        return worst_truth(self.attribute, self.goal)

    @cached_property
    def _moved(self) -> Answers:
        """Who bounds advantages."""
        return self._any_prior or self._believed


def _tied(goal: Goal) -> set[Any]:
    """The names of a goal's attributes, and of those that share a joint prior with one of them."""
    joints = [joint for a in goal.attributes if (joint := joint_of(a)) is not None]
    return {*(a.name for a in goal.attributes), *(n for joint in joints for n in joint.names)}


def lacks_prior(prior: Any) -> bool:
    """Whether no prior is known, or only one probability of it."""
    return isinstance(prior, (Unknown, PartlyKnown))


def cumulative_advantage(
    attack: Attack, guarantees: Sequence[Metric], *, both: bool = False
) -> list[Bracket]:
    """The attacker's advantage after the first, the first two, … of a list of releases.

    Each guarantee is the metric that one release promises for the attribute: ε·d, or D/b for noise of scale b. The
    answers hold for all mechanisms with these guarantees, also if later releases are chosen after earlier ones.

    >>> from guessproof.world import Absolute, normal, within
    >>> alice = Attack(within(Attribute("time", prior=normal(20, 6.28)), 2), at={"time": 20})
    >>> [round(b.bound, 4) for b in cumulative_advantage(alice, [0.05 * Absolute(), 0.05 * Absolute()])]
    [0.0506, 0.1012]
    """
    if not guarantees or not all(isinstance(g, Metric) for g in guarantees):
        raise ParameterError(
            "guarantees", guarantees, "is not a list of metrics", "write [0.1 * Absolute(), …]"
        )
    goal = attack.goal
    if len(goal.attributes) > 1:
        raise ParameterError(
            "goal", goal, "speaks of several attributes", "ask one attribute at a time"
        )
    if goal.attribute.scale != 1.0:
        raise ParameterError(
            "scale",
            goal.attribute.scale,
            "has no meaning beside guarantees",
            "put it into them: Absolute(scale=…)",
        )
    answers: list[Bracket] = []
    for count in range(1, len(guarantees) + 1):
        metric = Sum(tuple(guarantees[:count])) if count > 1 else guarantees[0]
        alone = [
            _measured(one, metric).advantage(1.0, both)
            for one in attack.alternatives or [attack]
        ]
        answers.append(joined(alone))
    return answers


def _measured(attack: Attack, metric: Metric) -> Attack:
    """The same attack on one attribute whose values are as far apart as another metric says."""
    measured, attribute = replace(attack), replace(attack.attribute, metric=metric)
    vars(measured).update(conditioned={attribute.name: attribute})
    return measured
