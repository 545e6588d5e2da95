"""The questions of an attack whose prior may be wrong by a factor: which bound answers, and the searches over it.

| world                                                  | bound                                                     |
|--------------------------------------------------------|-----------------------------------------------------------|
| one attribute on a line                                 | `tents`: boxes, with the best tent                        |
| labels, finite worlds, several attributes               | `odds`: the declared gain, and what the factor adds to it |

A goal of several intervals rises by at most the sum of what its parts rise. A step of the distance multiplies odds by
e^{ε·step}, which moves a belief by at most tanh(ε·step/4). A cap counts for one true value; for the worst of many it is
left out, which makes attacks stronger. An ε, or a factor, is returned only where the bound there keeps the limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.errors import ParameterError
from guessproof.risk.bracket import Bracket
from guessproof.risk.finite.worlds import finite_belief, shortest_paths
from guessproof.risk.joint.joint_attack import span
from guessproof.risk.limits import Belief, largest_epsilon
from guessproof.risk.line.tent import binding_form
from guessproof.risk.prior_error.cells import (
    LineGoals,
    goals_in_range,
    listed_goals,
    sides_of,
    stated_goals,
)
from guessproof.risk.prior_error.odds import largest_rise, left_to_move, log_odds
from guessproof.risk.prior_error.tents import Tents
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.distances import LineForm
from guessproof.world.finite import Finite
from guessproof.world.goals import Exactly, Goal, Within
from guessproof.world.line import LinePrior, expit

BeliefOf = Callable[[Attribute, Goal, Any], Belief]

SEARCHED = 3e-4  # how closely a root in ln ε or ln κ is found
MET = 1e-9  # a bound that is as close to an attack needs no proof
LARGEST_ROOM = 20.0  # ln of the largest factor: a larger one counts as any prior at all
ROUNDING = 1e-12  # of limits, bounds and an ε in closed form
EACH = "(n),()->()"  # arrays of rises beside numbers


@dataclass(frozen=True)
class Solved:
    """What is known at one ε and one factor: a rise that is reached, and one that is never exceeded."""

    reached: float
    bound: float
    at: Any  # true value
    prior: float  # declared belief in its goal


@dataclass(frozen=True, eq=False)
class Rise:
    """A goal whose rise (or fall) is asked for where the prior may be wrong; of one true value, or the worst one."""

    belief: Belief | None  # declared, in what rises; None for the worst of many true values
    across: float  # the largest distance, per unit of ε
    at: Any = None
    line: Sequence[LineGoals] = ()  # parts whose moves add up to the goal's
    falls: bool = False

    @property
    def turned(self) -> Rise:
        """The same for the fall of the goal, which is the rise of all else."""
        return replace(self, belief=self.belief and self.belief.turned, falls=not self.falls)

    @cached_property
    def log_odds(self) -> tuple[float, float]:
        """Declared, of what rises: the least and the most."""
        if self.belief:
            odds = self.belief.log_p - self.belief.log_q
        else:
            odds = log_odds(self.line[0].prior) * (-1 if self.falls else 1)
        return float(np.min(odds)), float(np.max(odds))

    def solve(self, epsilon: float, factor: float) -> Solved:
        """The best attack, and what needs no proof: any prior's bound, what is left to believe, the odds bound."""
        least, most = self.log_odds
        width = epsilon * self.across if epsilon else 0.0
        always = math.tanh(width / 4)
        reached = always if math.isinf(factor) else 0.0
        bound = min(always * (1 + ROUNDING), left_to_move(least, factor))
        if self.belief and epsilon:
            attack, gain = (float(value) for value in self.belief.gain(np.asarray(epsilon)))
            reached = max(reached, largest_rise(least, attack, factor))
            bound = min(bound, largest_rise(least, gain, factor, width))
        at, prior = self.at, float(expit(-most if self.falls else least))
        if self.line and reached * (1 + MET) < bound:
            first = self.line[0]
            form = first.question.form
            # A cap is taken into account only of one true value.
            cap = epsilon * form.cap if self.belief else math.inf
            sides = sides_of(first.question, epsilon, -1 if first.turned != self.falls else 1)
            found = [Tents(sides, goals, factor, cap).solve(bound) for goals in self.line]
            move, i, _ = found[0]
            # One part alone is an attack, unless it goes beyond a cap.
            if len(found) == 1 and move > reached and (self.belief or math.isinf(form.cap)):
                reached, at, prior = move, first.truths[i], float(first.prior[i])
            limit = sum(proven for _, _, proven in found) + math.tanh(epsilon * form.step / 4)
            bound = min(bound, max(limit * (1 + ROUNDING), reached))
        return Solved(reached, bound, at, prior)


@dataclass(frozen=True)
class MisspecifiedPrior:
    """Rises in an array: along the last axis the largest counts (of all true values), before it are stated ones."""

    rises: Any
    factor: float
    worst: bool = False

    def advantage(self, epsilon: Array, both: bool, *unused: Any) -> Bracket:
        """How far the belief can rise, or move either way, for each ε and true value."""

        def one(rises: Any, value: float) -> tuple[Solved, float, float]:
            solved = [side.solve(value, self.factor) for side in _sides(rises, both)]
            best = max(solved, key=lambda side: side.reached)
            return best, best.reached, max(best.reached, *(side.bound for side in solved))

        kinds = [object, np.float64, np.float64]
        found, attack, bound = np.vectorize(one, kinds, signature=EACH + ",(),()")(
            self.rises, epsilon
        )
        how = (
            "tents and priors that favour them, proven by boxes"
            if self.rises.flat[0].line
            else "odds bound"
        )
        how = f"prior wrong by up to ×{self.factor:g}: {how}"
        if not self.worst or epsilon.ndim:
            return Bracket.meet(attack, bound, how)
        best: Solved = found.item()
        return Bracket.meet(attack, bound, how, worst_at=best.at, worst_prior=best.prior)

    def epsilon(self, advantage: Array, both: bool, *unused: Any) -> Array:
        """The largest ε that is proven to keep a limit."""

        def one(rises: Any, limit: float) -> float:
            return _largest_epsilon(_sides(rises, both), self.factor, limit)

        return np.asarray(
            np.vectorize(one, [np.float64], signature=EACH)(self.rises, advantage)
        )

    def largest_factor(self, epsilon: float, limit: float, both: bool) -> float:
        """The largest factor at which the limit is proven, for every true value; inf where no prior breaks it."""
        rises = _sides(self.rises.ravel(), both)
        if any(math.isinf(rise.log_odds[1]) for rise in rises):
            return 1.0  # nothing is known of a goal whose probability is 0 or 1 in doubles
        if all(rise.solve(epsilon, math.inf).bound <= limit for rise in rises):
            return math.inf

        def factor(x: float) -> tuple[float, float]:
            return epsilon, math.exp(x) if x < LARGEST_ROOM else math.inf

        return math.exp(_proven(rises, limit, factor, 1.0))


def _sides(rises: Iterable[Rise], both: bool) -> list[Rise]:
    """Rises, with both also falls."""
    return [side for rise in rises for side in ([rise, rise.turned] if both else [rise])]


def _largest_epsilon(rises: list[Rise], factor: float, limit: float) -> float:
    """The largest ε at which the limit is proven; inf where no ε breaks it, 0 where none is proven."""
    if limit <= 0:
        return 0.0
    rises = [rise for rise in rises if limit < left_to_move(rise.log_odds[0], factor)]
    across = max((rise.across for rise in rises), default=0.0)
    if across == 0:
        return math.inf
    # Whatever the prior is, this ε keeps the limit.
    always = 4 * math.atanh(limit) / across * (1 - ROUNDING)
    if math.isinf(factor):
        return always
    line = rises[0].line
    scale = line[0].question.reach if line else across
    start = 1 / scale if 0 < scale < math.inf else 1.0
    return max(_proven(rises, limit, lambda x: (x, factor), start), always)


def _proven(
    rises: list[Rise],
    limit: float,
    question: Callable[[float], tuple[float, float]],
    start: float,
) -> float:
    """The largest number found whose ε and factor are proven to keep the limit."""

    def bound(x: Array) -> Array:
        return np.asarray(max(rise.solve(*question(float(x))).bound for rise in rises))

    return float(largest_epsilon(bound, np.asarray(limit), start=start, relative=SEARCHED))


def prior_error_at(
    attribute: Attribute, goal: Goal, at: Any, factor: float, belief_of: BeliefOf
) -> MisspecifiedPrior:
    """A goal about one attribute at one true value, or at each of an array of them."""

    def one(truth: Any) -> Rise:
        return _stated(attribute, goal, truth, belief_of)

    rises = np.asarray(np.vectorize(one, otypes=[object])(at))
    return MisspecifiedPrior(rises[..., None], factor)


def prior_error_worst(
    attribute: Attribute, goal: Goal, truths: list[Any], factor: float, belief_of: BeliefOf
) -> MisspecifiedPrior:
    """A goal about one attribute at the worst true value; beside a finite prior of those listed."""
    prior, form = attribute.prior, _line_form(attribute)
    if isinstance(prior, LinePrior):
        if form is None or not isinstance(goal, Within):
            problem = "the worst true value is found only for |ψ(x) − ψ(x')| and one interval"
            raise ParameterError("at", None, problem, "give at={…}")
        line = goals_in_range(prior, form, goal, attribute.range)
    elif isinstance(prior, Finite) and form is not None and isinstance(goal, (Within, Exactly)):
        line = listed_goals(prior, form, goal, truths)
    else:
        rises = [_stated(attribute, goal, truth, belief_of) for truth in truths]
        return MisspecifiedPrior(np.array(rises), factor, worst=True)
    rise = Rise(None, float(form.distance(*prior.support)), line=(line,))
    return MisspecifiedPrior(np.array([rise]), factor, worst=True)


def prior_error_of(belief: Belief, across: float, factor: float) -> MisspecifiedPrior:
    """Any other world, from its belief under the declared prior and the largest distance."""
    return MisspecifiedPrior(np.array([Rise(belief, across)]), factor)


def prior_error_in(
    mass: Array, distance: Array, goals: Array, factor: float
) -> MisspecifiedPrior:
    """Some points of a finite world; of several such goals (one a row) the most exposed, with the row's position."""
    some = mass > 0
    across = float(np.max(shortest_paths(distance[np.ix_(some, some)])))
    rises = [
        Rise(finite_belief(mass, distance, row), across, i)
        for i, row in enumerate(goals.reshape(-1, mass.size))
    ]
    return MisspecifiedPrior(np.array(rises), factor, worst=goals.ndim > 1)


def _stated(attribute: Attribute, goal: Goal, at: Any, belief_of: BeliefOf) -> Rise:
    """The rise of a goal at one true value."""
    prior, belief, form = attribute.prior, belief_of(attribute, goal, at), _line_form(attribute)
    if form is None or not isinstance(prior, (Finite, LinePrior)):
        return Rise(belief, span(attribute), at)
    across = float(form.distance(*prior.support))
    return Rise(belief, across, at, stated_goals(prior, form, goal, at))


def _line_form(attribute: Attribute) -> LineForm | None:
    """The distance as one along a line, without a cap that nothing reaches; None where it is not."""
    form, prior = attribute.distance.line_form, attribute.prior
    if form is None or form.is_flat or not isinstance(prior, (LinePrior, Finite)):
        return None
    return binding_form(prior, form) if isinstance(prior, LinePrior) or prior.is_line else None
