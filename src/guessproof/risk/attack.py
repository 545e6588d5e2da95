"""The attack: a goal, what is true, what is known; and the three questions that can be asked of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.errors import GoalError, ParameterError, TrueValueError, UnknownAttributeError
from guessproof.risk.answers import (
    Answers,
    EachAlternative,
    LeftOpen,
    Stated,
    UnderPriorError,
    WithoutPrior,
)
from guessproof.risk.bracket import (
    Bracket,
    Direction,
    Progress,
    checked_effort,
    with_certificate,
    without_time_limit,
)
from guessproof.risk.combinations import true_values_of
from guessproof.risk.joint.formula import alternatives
from guessproof.risk.limits import Belief, checked_epsilon, checked_factor, checked_limits
from guessproof.risk.prior_error.odds import factor_between, rounded_down
from guessproof.risk.prior_free import PriorFree
from guessproof.risk.single import belief_of
from guessproof.risk.worst_truth import WorstTruth, worst_truth
from guessproof.world.attributes import Arithmetic, Attribute, conditioned, joint_of
from guessproof.world.checks import in_days
from guessproof.world.finite import Finite
from guessproof.world.goals import Compound, Given, Goal, Norm, is_norm
from guessproof.world.line import LinePrior
from guessproof.world.priors import PartlyKnown, Unknown

if TYPE_CHECKING:  # only some attacks need them; whoever does imports them
    from guessproof.risk.joint.answer import JointAnswers
    from guessproof.risk.prior_error.answer import MisspecifiedPrior


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
        if not is_norm(self.norm):
            remedy = "say 'l1', 'l2', 'linf', or l and a number as 'l3'"
            raise ParameterError("norm", self.norm, "is not a norm", remedy)
        if self.or_ not in ("any", "each"):
            raise ParameterError(
                "or_", self.or_, "is not a reading of OR", "say 'any' or 'each'"
            )
        for field in ("at", "knows"):
            self._check_names(field, getattr(self, field))
            object.__setattr__(self, field, self._on_line(getattr(self, field)))

    def __getstate__(self) -> dict[str, Any]:
        """What an attack is; what was worked out from it is worked out again."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def _check_names(self, field: str, table: Any) -> None:
        names = [a.name for a in self.goal.attributes]
        if table is None:
            return
        if not isinstance(table, Mapping):
            raise ParameterError(
                field,
                table,
                "is not a table of attribute → value",
                f"write {{{names[0]!r}: …}}",
            )
        joints = [joint_of(a) for a in self.goal.attributes] if field == "knows" else []
        allowed = {
            *names,
            *(name for joint in joints if joint is not None for name in joint.names),
        }
        if field == "knows":
            allowed |= {
                a.name
                for formula in table
                if isinstance(formula, Arithmetic)
                for a in formula.attributes
            }
        for name in table:
            if name not in allowed and not (
                field == "knows" and isinstance(name, Arithmetic) and name.attributes
            ):
                raise UnknownAttributeError(
                    field, name, "no attribute of the goal has this name", f"use one of {names}"
                )

    def _on_line(self, table: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """Dates as days, but where they are labels."""
        labels = {a.name for a in self.goal.attributes if a.is_category}
        return table and {
            name: value if name in labels else in_days(value) for name, value in table.items()
        }

    @cached_property
    def attribute(self) -> Attribute:
        """The goal's attribute, with its prior conditioned on what the attacker knows."""
        return self.conditioned[self.goal.attributes[0].name]

    @cached_property
    def conditioned(self) -> dict[str, Attribute]:
        """The goal's attributes, with their priors given what the attacker knows."""
        known = {
            n: value
            for n, value in (self.knows or {}).items()
            if value is not None and isinstance(n, str)
        }
        return conditioned(self.asked.attributes, known)

    @cached_property
    def asked(self) -> Goal:
        """The goal, given what the attacker knows of formulas of several attributes."""
        known = {
            n: value
            for n, value in (self.knows or {}).items()
            if value is not None and not isinstance(n, str)
        }
        if not known:
            return self.goal
        from guessproof.world.formulas import (
            formula_of,
            known_formula,
        )  # only such knowledge needs it

        return Given(
            self.goal, tuple(known_formula(formula_of(n), value) for n, value in known.items())
        )

    @cached_property
    def several(self) -> JointAnswers | None:
        """Who answers where the goal speaks of several attributes."""
        if len(self.asked.attributes) == 1:
            return None
        given = {name: value for name, value in (self.at or {}).items() if value is not None}
        needed = [a.name for a in _truths(self.goal)]
        missing = [name for name in needed if name not in given]
        if given and missing:
            raise TrueValueError(
                "at",
                dict(given),
                f"the true value of {missing[0]} is missing",
                "give all or none",
            )
        from guessproof.risk.joint.answer import JointAnswers

        return JointAnswers(self.asked, self.conditioned, None if missing else given, self.norm)

    @cached_property
    def alternatives(self) -> list[Attack]:
        """The alternatives of an OR that are to be protected each on its own; empty for the usual reading."""
        goals = alternatives(self.goal) if self.or_ == "each" else ()
        if len(goals) < 2:
            return []
        found: list[Attack] = []
        for goal in goals:
            names = {a.name for a in goal.attributes}
            ties = names | {
                n for a in goal.attributes if (j := joint_of(a)) is not None for n in j.names
            }
            at = {n: v for n, v in (self.at or {}).items() if n in names}
            knows = {
                n: v
                for n, v in (self.knows or {}).items()
                if n in ties or not isinstance(n, str)
            }
            found.append(
                Attack(
                    goal, at or None, knows or None, self.norm, prior_factor=self.prior_factor
                )
            )
        return found

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
        value = np.exp(self._belief("prior").log_p)
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
        epsilon, effort = checked_epsilon(epsilon), checked_effort(tolerance, progress)
        if side not in ("upper", "lower"):
            raise ParameterError("side", side, "is not a side", "say 'upper' or 'lower'")
        found = self._answers.posterior(epsilon, side, effort)
        if (
            np.ndim(found.bound)
            or side != "upper"
            or self.alternatives
            or self.prior_factor > 1
        ):
            return found
        from guessproof.risk.certificates import certificate_of  # few ask for a certificate

        return with_certificate(
            found, lambda: certificate_of(self, float(epsilon), float(found.bound))
        )

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
        return self._answers.advantage(
            checked_epsilon(epsilon), both, checked_effort(tolerance, progress)
        )

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
        return self._answers.epsilon(*checked_limits(advantage, posterior), both, effort)

    @property
    def bounds_only(self) -> Belief | None:
        """Prior and bounds of a goal about several attributes, without attacks beside them; None where none are."""
        declared = self.several is not None and self._answers is self.several
        return self.several.bounds_only if self.several is not None and declared else None

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
        `quick`: a factor that is proven at once, and may be smaller than the largest.
        """
        checked_limits(advantage, posterior)
        if self.alternatives:
            asked: dict[str, Any] = {"advantage": advantage, "posterior": posterior}
            asked |= {"both": both, "quick": quick}
            return min(
                a.largest_prior_factor(epsilon=epsilon, **asked) for a in self.alternatives
            )
        found, declared, prior = (
            [math.inf],
            replace(self, prior_factor=1.0),
            self.attribute.prior,
        )
        if posterior is not None:
            found.append(factor_between(float(declared.posterior(epsilon).bound), posterior))
        if advantage is not None:
            # Under every prior on the range; of a partly known one nothing else can be said.
            factor = math.inf if isinstance(prior, Unknown) else 1.0
            if not lacks_prior(prior):
                factor = self._misspecified.largest_factor(epsilon, advantage, both)
            # A factor above 1 is proven for the declared prior as well.
            proven = factor > 1 and not lacks_prior(prior)
            kept = proven or float(np.max(declared.advantage(epsilon, both).bound)) <= advantage
            found.append(factor if kept else 0.0)
        return rounded_down(min(found))

    # Who answers.

    @cached_property
    def _answers(self) -> Answers:
        """Who answers the questions of this attack."""
        if self.alternatives:
            return EachAlternative([one._answers for one in self.alternatives])
        if self.prior_factor > 1:
            return UnderPriorError(
                self._declared, self._any_prior or self._misspecified, self.prior_factor
            )
        return self._declared

    @property
    def _declared(self) -> Answers:
        """Who answers for the declared prior."""
        prior = self.attribute.prior
        if self.several is not None:
            from guessproof.risk.joint.unknown import UnknownSeveral

            if not any(isinstance(a.prior, Unknown) for a in self.several.attributes.values()):
                return self.several
            several = self.several
            engine = UnknownSeveral(self.goal, several.attributes, several.truth, self.norm)
            return WithoutPrior(engine, prior)
        if lacks_prior(prior):
            return WithoutPrior(PriorFree(self.attribute, self.goal, self.true_value), prior)
        return Stated(self._known_belief) if self.known_truth else LeftOpen(self._worst_truth)

    @cached_property
    def _misspecified(self) -> MisspecifiedPrior:
        """What bounds advantages where the prior may be wrong."""
        from guessproof.risk.prior_error.answer import (
            prior_error_at,
            prior_error_of,
            prior_error_worst,
        )

        if isinstance(self.attribute.prior, PartlyKnown):
            problem, remedy = (
                "needs a whole prior, of which this knows one probability",
                "leave prior_factor out",
            )
            raise ParameterError("prior_factor", self.prior_factor, problem, remedy)
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
    def _any_prior(self) -> PriorFree | None:
        """What bounds advantages where the prior may be anything on its range."""
        attribute = self.attribute
        if isinstance(attribute.prior, LinePrior) and math.isinf(self.prior_factor):
            attribute = replace(attribute, prior=Unknown(*attribute.prior.support))
        if self.several is not None or not isinstance(attribute.prior, Unknown):
            return None
        return PriorFree(attribute, self.goal, self.true_value)

    @property
    def known_truth(self) -> bool:
        """Whether the true value is stated, or does not matter."""
        return not self.goal.depends_on_truth or self.true_value is not None

    @property
    def states_truth(self) -> bool:
        """Whether P(goal) before the release is one number: all true values are stated, and there is a prior."""
        if self.several is not None:
            return self.several.truth is not None and isinstance(
                self._declared, type(self.several)
            )
        return self.known_truth and not lacks_prior(self.attribute.prior)

    @property
    def true_value(self) -> Any:
        """The stated true value of the goal's attribute, if there is one."""
        return (self.at or {}).get(self.goal.attributes[0].name)

    @cached_property
    def _known_belief(self) -> Belief:
        return belief_of(self.attribute, self.goal, self.true_value)

    def _belief(self, asked: str) -> Belief:
        if lacks_prior(self.attribute.prior):
            raise ParameterError(
                asked,
                self.attribute.prior,
                "is undefined without a prior",
                "ask for the advantage",
            )
        if not self.known_truth:
            raise ParameterError(
                asked,
                None,
                "depends on the true value",
                "give at={…}, or ask for the advantage",
            )
        return self._known_belief

    @cached_property
    def _worst_truth(self) -> WorstTruth:
        """All true values of the goal's attribute."""
        return worst_truth(self.attribute, self.goal)

    def worst(self, epsilon: float, direction: Direction) -> Bracket:
        """What no true value of one attribute exceeds at one ε, in one direction."""
        return self._worst_truth.bracket(np.asarray(float(epsilon)), direction)


def lacks_prior(prior: Any) -> bool:
    """Whether no prior is known, or only one probability of it."""
    return isinstance(prior, (Unknown, PartlyKnown))


def _truths(goal: Goal) -> list[Attribute]:
    """The attributes whose true values the goal depends on."""
    if isinstance(goal, Compound):
        return [a for part in goal.parts for a in _truths(part)]
    return list(goal.attributes) if goal.depends_on_truth else []
