"""The questions of an attack whose prior may be wrong by a factor: which bound answers, and the searches over it.

| world                                                  | bound                                                     |
|--------------------------------------------------------|-----------------------------------------------------------|
| one attribute (or finite world) on a line               | `certificate` by boxes, `attack` by tents                 |
| labels, other finite worlds, several attributes         | `odds`: the declared gain, and what the factor adds to it |

A goal of several intervals rises by at most the sum of what its parts rise. A step of the distance multiplies odds by
e^{ε·step}, which moves a belief by at most tanh(ε·step/4). A cap counts for one true value; for the worst of many it is
left out, which makes attacks stronger.
An ε, or a factor, is looked for where the attack reaches the limit, and proven a little on the private side of it, by
the same margins as bounds: the bound at an ε that is returned keeps the limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from guessproof.errors import ParameterError
from guessproof.risk.bracket import Bracket
from guessproof.risk.joint.joint_attack import span
from guessproof.risk.limits import Belief, largest_epsilon
from guessproof.risk.line.recursion import atom_question
from guessproof.risk.line.tent import binding_form
from guessproof.risk.prior_error.attack import best_attack
from guessproof.risk.prior_error.cells import (
    LineGoals,
    Side,
    goals_in_range,
    listed_goals,
    parts_of,
    sides_of,
    stated_goals,
)
from guessproof.risk.prior_error.certificate import BoxCertificate
from guessproof.risk.prior_error.odds import largest_rise, left_to_move, log_odds
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.distances import LineForm
from guessproof.world.finite import Finite
from guessproof.world.goals import Exactly, Goal, Within
from guessproof.world.line import LinePrior, expit

BeliefOf = Callable[[Attribute, Goal, Any], Belief]

# By how much more than the attack is proven, tried in turn.
STATED = 2e-3, 0.01, 0.04, 0.1, 0.2  # for one true value
WORST = 0.035, 0.1, 0.2, 0.4  # for all of them: boxes of true values are harder
SEARCHED = 3e-4  # how closely a root in ln ε or ln κ is found: well within the first margin
LARGEST_ROOM = 20.0  # ln of the largest factor: a larger one counts as any prior at all
LINE_UP_TO = 200  # points of a finite world whose distances are compared with those of numbers
MOST_KEPT = 8  # questions whose cells and attacks are kept, since several are asked of one ε
ROUNDING = 1e-12  # of limits, bounds and an ε in closed form
EACH = "(n),()->()"  # arrays of rises beside numbers


@dataclass(frozen=True)
class Solved:
    """What is known at one ε and one factor, before a proof: a rise that is reached, and one that is never exceeded."""

    reached: float
    bound: float
    estimate: float  # about what will be proven
    at: Any  # true value
    prior: float  # declared belief in its goal
    sides: tuple[Side, Side] | None = None  # cells on a line
    parts: Sequence[float] = ()  # of the attack, one for each part of the goal


@dataclass(frozen=True, eq=False)
class Rise:
    """A goal whose rise (or fall) is asked for where the prior may be wrong; of one true value, or the worst one."""

    log_odds: tuple[float, float]  # declared, of what rises: least and most
    across: float  # the largest distance, per unit of ε
    belief: Belief | None  # declared, in what rises; None for the worst of many true values
    line: Sequence[LineGoals] = ()  # parts whose moves add up to the goal's
    at: Any = None
    falls: bool = False

    @property
    def turned(self) -> Rise:
        """The same for the fall of the goal, which is the rise of all else."""
        least, most = self.log_odds
        belief = None if self.belief is None else self.belief.turned
        return replace(self, log_odds=(-most, -least), belief=belief, falls=not self.falls)

    @property
    def margins(self) -> tuple[float, ...]:
        """By how much more than the attack is proven, tried in turn."""
        if not self.line:
            return (0.0,)
        return STATED if self.belief else WORST

    def cap(self, epsilon: float) -> float:
        """The largest ln of a ratio of likelihoods that is taken into account: only of one true value."""
        return epsilon * self.line[0].question.form.cap if self.belief else math.inf

    def bound(self, epsilon: float, factor: float) -> float:
        """A proven limit of every rise, near the attack."""
        solved = solve(self, epsilon, factor)
        if solved.sides is None:
            return solved.bound
        step, total = (
            math.tanh(epsilon * self.line[0].question.form.step / 4),
            sum(solved.parts),
        )
        for margin in self.margins:
            limit = solved.estimate * (1 + margin)
            room = (limit - step) * (1 - ROUNDING)
            if (
                limit < solved.bound
                and room > total > 0
                and all(
                    BoxCertificate(
                        solved.sides, goals, factor, room * part / total, self.cap(epsilon)
                    ).holds()
                    for goals, part in zip(self.line, solved.parts, strict=True)
                )
            ):
                return limit
        return solved.bound


@lru_cache(MOST_KEPT)
def solve(rise: Rise, epsilon: float, factor: float) -> Solved:
    """The best attack, and what needs no certificate: any prior's bound, what is left to believe, the odds bound."""
    least, most = rise.log_odds
    width = epsilon * rise.across if epsilon else 0.0
    always = math.tanh(width / 4)
    reached = always if math.isinf(factor) else 0.0
    bound = min(always * (1 + ROUNDING), left_to_move(least, factor))
    if rise.belief is not None and epsilon:
        attack, gain = (float(value) for value in rise.belief.gain(np.asarray(epsilon)))
        reached = max(reached, largest_rise(least, attack, factor))
        bound = min(bound, largest_rise(least, gain, factor, width))
    solved = Solved(
        reached, bound, bound, rise.at, float(expit(-most if rise.falls else least))
    )
    if not rise.line or epsilon == 0 or math.isinf(factor):
        return solved
    first, cap = rise.line[0], rise.cap(epsilon)
    form = first.question.form
    sides = sides_of(first.question, epsilon, -1 if first.turned != rise.falls else 1)
    found = [best_attack(sides, goals, factor, cap) for goals in rise.line]
    parts = [value for value, _ in found]
    estimate = max(sum(parts), reached) + math.tanh(epsilon * form.step / 4)
    solved = replace(solved, estimate=min(estimate, bound), sides=sides, parts=parts)
    # One part alone is an attack, unless it goes beyond a cap.
    if len(parts) == 1 and parts[0] > reached and math.isinf(form.cap) >= math.isinf(cap):
        i = found[0][1]
        at, prior = first.truths[i], float(first.prior[i])
        return replace(solved, reached=parts[0], at=at, prior=prior)
    return solved


@dataclass(frozen=True)
class MisspecifiedPrior:
    """Rises in an array: along the last axis the largest counts (of all true values), before it are stated ones."""

    rises: Any
    factor: float
    worst: bool = False

    def advantage(self, epsilon: Array, both: bool, *unused: Any) -> Bracket:
        """How far the belief can rise, or move either way, for each ε and true value."""

        def one(rises: Any, value: float) -> tuple[Solved, float, float]:
            sides = _sides(rises, both)
            solved = [solve(side, value, self.factor) for side in sides]
            best = max(solved, key=lambda side: side.reached)
            bound = max(side.bound(value, self.factor) for side in sides)
            return best, best.reached, max(bound, best.reached)

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
        if all(rise.bound(epsilon, math.inf) <= limit for rise in rises):
            return math.inf

        def factor(x: float) -> tuple[float, float]:
            return epsilon, math.exp(x) if x < LARGEST_ROOM else math.inf

        return math.exp(_proven(rises, limit, factor, 0.0, 1.0))


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
    return _proven(rises, limit, lambda x: (x, factor), always, start)


def _proven(
    rises: list[Rise],
    limit: float,
    question: Callable[[float], tuple[float, float]],
    least: float,
    start: float,
) -> float:
    """The largest number found whose ε and factor are proven to keep the limit, or the least one, which does."""

    def estimate(x: Array) -> Array:
        return np.asarray(max(solve(rise, *question(float(x))).estimate for rise in rises))

    for margin in max((rise.margins for rise in rises), key=len):
        reached = np.asarray(limit / (1 + margin))
        found = float(largest_epsilon(estimate, reached, start=start, relative=SEARCHED))
        if not least < found < math.inf:
            break
        if all(rise.bound(*question(found)) <= limit for rise in rises):
            return found
    return least


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
    odds, across = log_odds(line.prior), float(form.distance(*prior.support))
    ends = float(np.min(odds)), float(np.max(odds))
    return MisspecifiedPrior(np.array([Rise(ends, across, None, (line,))]), factor, worst=True)


def prior_error_of(belief: Belief, across: float, factor: float) -> MisspecifiedPrior:
    """Any other world, from its belief under the declared prior and the largest distance."""
    return MisspecifiedPrior(np.array([_rise(belief, across)]), factor)


def prior_error_in(
    mass: Array, distance: Array, goals: Array, factor: float
) -> MisspecifiedPrior:
    """Some points of a finite world; of several such goals (one a row) the most exposed, with the row's position."""
    from guessproof.risk.finite.worlds import (
        finite_belief,
        shortest_paths,
    )  # worlds ask for this module too

    some = mass > 0
    paths = distance[np.ix_(some, some)]
    if len(paths) <= LINE_UP_TO:
        paths = shortest_paths(paths)
    across = float(np.max(paths))
    rises: list[Rise] = []
    for i, row in enumerate(goals.reshape(-1, mass.size)):
        line = _on_a_line(mass[some], paths, row[some], i)
        rises.append(_rise(finite_belief(mass, distance, row), across, i, line))
    return MisspecifiedPrior(np.array(rises), factor, worst=goals.ndim > 1)


def _on_a_line(mass: Array, paths: Array, marks: Array, at: int) -> Sequence[LineGoals]:
    """The parts of a goal where distances are those of numbers; none where they are not."""
    place = paths[np.argmax(paths[0])]  # from one end
    order, numbers = np.argsort(place), np.unique(place)
    gaps = np.abs(place[:, None] - place) * (1 + ROUNDING)
    is_line = numbers.size == mass.size and np.isfinite(numbers[-1]) and np.all(gaps >= paths)
    if not is_line or np.any((marks > 0) & (marks < 1)):
        return ()
    prior = Finite(tuple(numbers.tolist()), tuple(mass[order].tolist()))
    return parts_of(atom_question(prior, LineForm(slopes=(1 + ROUNDING,)), marks[order]), at)


def _stated(attribute: Attribute, goal: Goal, at: Any, belief_of: BeliefOf) -> Rise:
    """The rise of a goal at one true value."""
    prior, belief, form = attribute.prior, belief_of(attribute, goal, at), _line_form(attribute)
    if form is None or not isinstance(prior, (Finite, LinePrior)):
        return _rise(belief, span(attribute), at)
    across = float(form.distance(*prior.support))
    return _rise(belief, across, at, stated_goals(prior, form, goal, at))


def _line_form(attribute: Attribute) -> LineForm | None:
    """The distance as one along a line, without a cap that nothing reaches; None where it is not."""
    form, prior = attribute.distance.line_form, attribute.prior
    if form is None or form.is_flat or not isinstance(prior, (LinePrior, Finite)):
        return None
    return binding_form(prior, form) if isinstance(prior, LinePrior) or prior.is_line else None


def _rise(
    belief: Belief, across: float, at: Any = None, line: Sequence[LineGoals] = ()
) -> Rise:
    """The rise of one belief."""
    odds = float(belief.log_p - belief.log_q)
    return Rise((odds, odds), across, belief, line, at)
