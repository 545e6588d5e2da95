"""The attack: a goal, what is true, what is known; and the three questions that can be asked of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof import _clock
from guessproof.errors import (
    GoalError,
    ParameterError,
    TrueValueError,
    UnknownAttributeError,
)
from guessproof.risk.bracket import Bracket, Effort, Progress, checked_effort, joined
from guessproof.risk.limits import (
    Belief,
    advantage_bracket,
    checked_epsilon,
    checked_factor,
    checked_limits,
    posterior_bracket,
    safe_epsilon,
)
from guessproof.risk.misjudged.odds import factor_between, posterior_before, rounded_down, with_odds
from guessproof.risk.several.formula import alternatives
from guessproof.risk.single import belief_of
from guessproof.risk.truth_search import Direction, TruthSearch
from guessproof.risk.worst_truth import WorstTruth
from guessproof.world.attributes import Arithmetic, Attribute, conditioned, joint_of
from guessproof.world.checks import Array, in_days
from guessproof.world.finite import Finite
from guessproof.world.goals import Compound, Goal, Norm, is_norm
from guessproof.world.line import LinePrior
from guessproof.world.priors import PartlyKnown, Unknown

if TYPE_CHECKING:  # rooms that only some attacks enter; whoever does imports them
    from guessproof.risk.misjudged.answer import Misjudged
    from guessproof.risk.misjudged.tents import Move
    from guessproof.risk.priorless import Priorless
    from guessproof.risk.several.answer import Several
    from guessproof.risk.several.unknown import UnknownSeveral
    from guessproof.risk.worst_atoms import Runs


@dataclass(frozen=True)
class Attack:
    """An attacker who knows every other record and wants to meet a goal about one.

    `at` names the true value (or an array of them); without it answers hold for the worst one.
    `knows` conditions the prior on what the attacker knows already: an interval or a set of values of an attribute, or
    an interval of a formula of several, as knows={rent + loan: (900, 1000)}.
    Several attributes: their distances are joined by `norm`; an OR is met by any alternative (`or_="any"`), or each
    alternative is protected on its own (`or_="each"`). Answers then are a cheap bracket, unless a `tolerance` in odds
    or a `time_limit` in seconds asks to refine it; `progress` is called while that takes time.
    `prior_factor`: the odds of any two values may differ from the declared ones by this factor; 1 trusts the prior.

    >>> from guessproof.world.priors import normal
    >>> from guessproof.world.goals import within
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
            raise GoalError("goal", self.goal, "is not a goal", "use within(…), exactly(…), …, joined by &, | and ~")
        if not is_norm(self.norm):
            remedy = "say 'l1', 'l2', 'linf', or l and a number as 'l3'"
            raise ParameterError("norm", self.norm, "is not a norm", remedy)
        if self.or_ not in ("any", "each"):
            raise ParameterError("or_", self.or_, "is not a reading of OR", "say 'any' or 'each'")
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
            raise ParameterError(field, table, "is not a table of attribute → value", f"write {{{names[0]!r}: …}}")
        joints = [joint_of(a) for a in self.goal.attributes] if field == "knows" else []
        allowed = {*names, *(name for joint in joints if joint is not None for name in joint.names)}
        if field == "knows":
            allowed |= {a.name for formula in table if isinstance(formula, Arithmetic) for a in formula.attributes}
        for name in table:
            if name not in allowed and not (field == "knows" and isinstance(name, Arithmetic) and name.attributes):
                raise UnknownAttributeError(
                    field, name, "no attribute of the goal has this name", f"use one of {names}"
                )

    def _on_line(self, table: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """Dates as days, but where they are labels."""
        priors = {a.name: a.prior for a in self.goal.attributes}
        labels = {name for name, prior in priors.items() if isinstance(prior, Finite) and not prior.is_line}
        return table and {name: value if name in labels else in_days(value) for name, value in table.items()}

    @cached_property
    def attribute(self) -> Attribute:
        """The goal's attribute, with its prior conditioned on what the attacker knows."""
        return self.conditioned[self.goal.attributes[0].name]

    @cached_property
    def conditioned(self) -> dict[str, Attribute]:
        """The goal's attributes, with their priors given what the attacker knows."""
        known = {n: value for n, value in (self.knows or {}).items() if value is not None and isinstance(n, str)}
        return conditioned(self.asked.attributes, known)

    @cached_property
    def asked(self) -> Goal:
        """The goal, given what the attacker knows of formulas of several attributes."""
        known = {n: value for n, value in (self.knows or {}).items() if value is not None and not isinstance(n, str)}
        if not known:
            return self.goal
        from guessproof.world.formulas import Given, formula_of, known_formula  # only such knowledge needs it

        return Given(self.goal, tuple(known_formula(formula_of(n), value) for n, value in known.items()))

    @cached_property
    def several(self) -> Several | None:
        """Who answers where the goal speaks of several attributes."""
        if len(self.asked.attributes) == 1:
            return None
        given = {name: value for name, value in (self.at or {}).items() if value is not None}
        needed = [a.name for a in _truths(self.goal)]
        missing = [name for name in needed if name not in given]
        if given and missing:
            raise TrueValueError("at", dict(given), f"the true value of {missing[0]} is missing", "give all or none")
        from guessproof.risk.several.answer import Several

        return Several(self.asked, self.conditioned, None if missing else given, self.norm)

    @cached_property
    def _unknown(self) -> UnknownSeveral | None:
        """Who answers where one of several attributes has no prior."""
        several = self.several
        if several is None:
            return None
        from guessproof.risk.several.unknown import UnknownSeveral, lacks_prior

        if not any(lacks_prior(a) for a in several.attributes.values()):
            return None
        return UnknownSeveral(self.goal, several.attributes, several.truth, self.norm)

    @cached_property
    def alternatives(self) -> list[Attack]:
        """The alternatives of an OR that are to be protected each on its own; empty for the usual reading."""
        goals = alternatives(self.goal) if self.or_ == "each" else ()
        if len(goals) < 2:
            return []
        found: list[Attack] = []
        for goal in goals:
            names = {a.name for a in goal.attributes}
            ties = names | {n for a in goal.attributes if (j := joint_of(a)) is not None for n in j.names}
            at = {n: v for n, v in (self.at or {}).items() if n in names}
            knows = {n: v for n, v in (self.knows or {}).items() if n in ties or not isinstance(n, str)}
            found.append(Attack(goal, at or None, knows or None, self.norm, prior_factor=self.prior_factor))
        return found

    @property
    def prior(self) -> Any:
        """P(goal) before the release."""
        if self.alternatives:
            raise ParameterError("or_", self.or_, "each alternative has a prior of its own", "ask each, or or_='any'")
        if self.several is not None:
            return self.several.prior
        value = np.exp(self._belief("prior").log_p)
        return float(value) if value.ndim == 0 else value

    def posterior(
        self,
        epsilon: Any,
        side: str = "upper",
        *,
        tolerance: float | None = None,
        time_limit: float | None = None,
        progress: Callable[[Progress], Any] | None = None,
    ) -> Bracket:
        """The largest (or, with side="lower", the smallest) belief in the goal after the worst output."""
        epsilon, effort = checked_epsilon(epsilon), checked_effort(tolerance, time_limit, progress, _clock.now)
        if side not in ("upper", "lower"):
            raise ParameterError("side", side, "is not a side", "say 'upper' or 'lower'")
        if self.alternatives:
            options = {"tolerance": tolerance, "time_limit": time_limit, "progress": progress}
            return joined([a.posterior(epsilon, side, **options) for a in self.alternatives], side)  # pyright: ignore[reportArgumentType]
        found = self._declared_posterior(epsilon, side, effort)
        return (
            found
            if self.prior_factor == 1
            else with_odds(found, self.prior_factor if side == "upper" else 1 / self.prior_factor)
        )

    def _declared_posterior(self, epsilon: Array, side: str, effort: Effort | None) -> Bracket:
        if self.several is not None:
            return self.several.posterior(epsilon, side, effort)
        if self.known_truth:
            return posterior_bracket(self._belief("posterior"), epsilon, side)
        if isinstance(self.attribute.prior, (Unknown, PartlyKnown)):
            self._belief("posterior")  # says that there is none
        if side != "upper":
            raise ParameterError("side", side, "needs a true value", "give at={…}")
        return self._anywhere.bracket(epsilon, "posterior")

    def advantage(
        self,
        epsilon: Any,
        both: bool = False,
        *,
        tolerance: float | None = None,
        time_limit: float | None = None,
        progress: Callable[[Progress], Any] | None = None,
    ) -> Bracket:
        """How far the belief can rise after the worst output; with both=True, move in either direction."""
        epsilon, effort = checked_epsilon(epsilon), checked_effort(tolerance, time_limit, progress, _clock.now)
        if self.alternatives:
            options = {"tolerance": tolerance, "time_limit": time_limit, "progress": progress}
            return joined([a.advantage(epsilon, both, **options) for a in self.alternatives])  # pyright: ignore[reportArgumentType]
        if self._free is not None:
            return self._free.advantage(epsilon, both)
        if self.prior_factor > 1:
            return self._misjudged.advantage(epsilon, both, effort)
        if self._unknown is not None:
            return self._unknown.advantage(epsilon, both)
        if self.several is not None:
            return self.several.advantage(epsilon, both, effort)
        if isinstance(self.attribute.prior, (Unknown, PartlyKnown)):
            return self._priorless.advantage(epsilon, both)
        if self.known_truth:
            return advantage_bracket(self._belief("advantage"), epsilon, both)
        rise = self._anywhere.bracket(epsilon, "rise")
        if not both:
            return rise
        fall = self._anywhere.bracket(epsilon, "fall")
        return rise if np.all(np.asarray(rise.bound) >= np.asarray(fall.bound)) else _larger(rise, fall)

    def epsilon(
        self,
        *,
        advantage: Any = None,
        posterior: Any = None,
        both: bool = False,
        tolerance: float | None = None,
        time_limit: float | None = None,
        progress: Callable[[Progress], Any] | None = None,
    ) -> Any:
        """The largest ε at which every limit is proven to hold; math.inf where nothing can break it."""
        effort = checked_effort(tolerance, time_limit, progress, _clock.now)
        if self.alternatives:
            limits = {"advantage": advantage, "posterior": posterior, "both": both}
            options = {"tolerance": tolerance, "time_limit": time_limit, "progress": progress}
            least = np.min(np.broadcast_arrays(*(a.epsilon(**limits, **options) for a in self.alternatives)), axis=0)  # pyright: ignore[reportArgumentType]
            return float(least) if least.ndim == 0 else least
        if self.prior_factor > 1:
            return self._misjudged_epsilon(*checked_limits(advantage, posterior), both, effort)
        if self._unknown is not None:
            if posterior is not None or advantage is None:
                raise ParameterError("posterior", posterior, "is undefined without a prior", "limit the advantage")
            return self._unknown.epsilon(checked_limits(advantage, None)[0], both)
        if self.several is not None:
            return self.several.epsilon(advantage, posterior, both, effort)
        if isinstance(self.attribute.prior, (Unknown, PartlyKnown)):
            if posterior is not None or advantage is None:
                raise ParameterError("posterior", posterior, "is undefined without a prior", "limit the advantage")
            return self._priorless.epsilon(checked_limits(advantage, None)[0], both)
        if self.known_truth:
            return safe_epsilon(self._belief("epsilon"), advantage=advantage, posterior=posterior, both=both)
        return self._anywhere.epsilon(*checked_limits(advantage, posterior), both)

    @property
    def bounds_only(self) -> Belief | None:
        """Prior and bounds of a goal about several attributes, without attacks beside them; None where none are."""
        if self.alternatives or self.prior_factor > 1 or self.several is None or self._unknown is not None:
            return None
        return self.several.bounds_only

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
            asked = {"advantage": advantage, "posterior": posterior, "both": both, "quick": quick}
            return min(a.largest_prior_factor(epsilon=epsilon, **asked) for a in self.alternatives)  # pyright: ignore[reportArgumentType]
        found = [math.inf]
        if posterior is not None:
            declared = replace(self, prior_factor=1.0).posterior(epsilon)
            found.append(factor_between(float(declared.bound), posterior))
        if advantage is not None and not isinstance(self.attribute.prior, (Unknown, PartlyKnown)):
            factor = self._proven_factor(epsilon, advantage, both, quick)
            # A factor above 1 is proven for the declared prior as well.
            found.append(factor if factor > 1 or self._keeps(epsilon, advantage, both) else 0.0)
        elif advantage is not None:
            kept = float(self._priorless.advantage(checked_epsilon(epsilon), both).bound) <= advantage
            found.append(0.0 if not kept else math.inf if isinstance(self.attribute.prior, Unknown) else 1.0)
        return rounded_down(min(found))

    def _proven_factor(self, epsilon: float, advantage: float, both: bool, quick: bool) -> float:
        """A factor at which a limit is proven, the largest or what is proven at once; refuses what has no answer."""
        if not quick:
            return self._misjudged.largest_factor(epsilon, advantage, both)
        if self.several is not None or self.known_truth or not isinstance(self.attribute.prior, LinePrior):
            return self._misjudged.quick_factor(epsilon, advantage, both)
        if math.isfinite(self.truth_search.form.cap):
            return self._misjudged.quick_factor(epsilon, advantage, both)
        from guessproof.risk.misjudged.quick import aim, quick_factor  # only where a factor is asked for

        moves: tuple[Move, ...] = (1, -1) if both else (1,)
        known = {aim(move): self._anywhere.last.get(aim(move)) for move in moves}
        at = {direction: last[1].at for direction, last in known.items() if last is not None and last[0] == epsilon}
        return min(quick_factor(self.truth_search, epsilon, advantage, move, at.get(aim(move))) for move in moves)

    def _keeps(self, epsilon: float, advantage: float, both: bool) -> bool:
        """Whether a limit is proven for the declared prior."""
        return float(np.max(replace(self, prior_factor=1.0).advantage(epsilon, both).bound)) <= advantage

    def _misjudged_epsilon(
        self, advantage: Array | None, posterior: Array | None, both: bool, effort: Effort | None
    ) -> Any:
        found: list[Any] = []
        if posterior is not None:
            declared = replace(self, prior_factor=1.0)
            found.append(declared.epsilon(posterior=posterior_before(posterior, self.prior_factor)))
        if advantage is not None and self._free is not None:
            found.append(self._free.epsilon(advantage, both))
        elif advantage is not None:
            found.append(self._misjudged.epsilon(advantage, both, effort))
        least = np.min(np.broadcast_arrays(*found), axis=0)
        return float(least) if least.ndim == 0 else least

    @cached_property
    def _misjudged(self) -> Misjudged:
        """Who answers where the prior may be wrong."""
        from guessproof.risk.misjudged.answer import misjudged_anywhere, misjudged_at, misjudged_several

        if isinstance(self.attribute.prior, PartlyKnown):
            problem, remedy = "needs a whole prior, of which this knows one probability", "leave prior_factor out"
            raise ParameterError("prior_factor", self.prior_factor, problem, remedy)
        if self.several is not None:
            return misjudged_several(self.several.engine, self.prior_factor)
        if self.known_truth:
            return misjudged_at(self.attribute, self.goal, self.true_value, self.prior_factor)
        return misjudged_anywhere(self.attribute, self.goal, lambda: self.truth_search, self.prior_factor)

    @cached_property
    def _free(self) -> Priorless | None:
        """Who answers where the prior may be anything on its range."""
        if self.several is not None or self.prior_factor == 1:
            return None
        if isinstance(self.attribute.prior, Unknown):
            return self._priorless
        if not math.isinf(self.prior_factor) or not isinstance(self.attribute.prior, LinePrior):
            return None
        from guessproof.risk.priorless import Priorless

        low, high = self.attribute.prior.support
        return Priorless(replace(self.attribute, prior=Unknown(low, high)), self.goal, self.true_value)

    @property
    def known_truth(self) -> bool:
        """Whether the true value is stated, or does not matter."""
        return not self.goal.depends_on_truth or self.true_value is not None

    @property
    def states_truth(self) -> bool:
        """Whether P(goal) before the release is one number: all true values are stated, and there is a prior."""
        if self.several is not None:
            return self.several.truth is not None and self._unknown is None
        return self.known_truth and not isinstance(self.attribute.prior, (Unknown, PartlyKnown))

    @property
    def true_value(self) -> Any:
        """The stated true value of the goal's attribute, if there is one."""
        return (self.at or {}).get(self.goal.attributes[0].name)

    @cached_property
    def _known_belief(self) -> Belief:
        return belief_of(self.attribute, self.goal, self.true_value)

    def _belief(self, asked: str) -> Belief:
        if isinstance(self.attribute.prior, (Unknown, PartlyKnown)):
            raise ParameterError(asked, self.attribute.prior, "is undefined without a prior", "ask for the advantage")
        if not self.known_truth:
            raise ParameterError(asked, None, "depends on the true value", "give at={…}, or ask for the advantage")
        return self._known_belief

    @cached_property
    def _priorless(self) -> Priorless:
        from guessproof.risk.priorless import Priorless

        return Priorless(self.attribute, self.goal, self.true_value)

    # Without a true value: the worst one.

    @cached_property
    def _anywhere(self) -> WorstTruth:
        return WorstTruth(self.attribute, self.goal)

    def worst(self, epsilon: float, direction: Direction) -> Bracket:
        """What no true value of one attribute exceeds at one ε, in one direction."""
        return self._anywhere.bracket(np.asarray(float(epsilon)), direction)

    @property
    def runs(self) -> Runs | None:
        """All true values beside finitely many numbers, where the goals of these are runs of them."""
        return self._anywhere.runs

    @property
    def truth_search(self) -> TruthSearch:
        """The search for the worst true value."""
        return self._anywhere.search

    @property
    def typical(self) -> float:
        """An ε at which the bulk of the prior is about one unit wide: where a search may start."""
        return self._anywhere.typical


def _truths(goal: Goal) -> list[Attribute]:
    """The attributes whose true values the goal depends on."""
    if isinstance(goal, Compound):
        return [a for part in goal.parts for a in _truths(part)]
    return list(goal.attributes) if goal.depends_on_truth else []


def _larger(one: Bracket, other: Bracket) -> Bracket:
    """The larger of two brackets, elementwise."""
    first = np.asarray(one.bound) >= np.asarray(other.bound)

    def pick(a: Any, b: Any) -> Any:
        chosen = np.where(first, a, b)
        return chosen if chosen.ndim else chosen.item()

    return Bracket.meet(
        np.maximum(one.attack, other.attack),
        np.maximum(one.bound, other.bound),
        one.how,
        worst_at=pick(one.worst_at, other.worst_at),
        worst_prior=pick(one.worst_prior, other.worst_prior),
    )
