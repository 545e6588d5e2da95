"""The questions of an attack whose prior may be wrong by a factor: which bound answers, and the searches over it.

| world                                                  | bound                                                     |
|--------------------------------------------------------|-----------------------------------------------------------|
| one attribute (or finite world) on a line               | `certificate` by boxes, `attack` by tents                 |
| labels, other finite worlds, several attributes         | `odds`: the declared gain, and what the factor adds to it |

A goal of several intervals rises by at most the sum of what its parts rise. A step of the distance multiplies odds by
e^{ε·step}, which moves a belief by at most tanh(ε·step/4). A cap counts for one true value; for the worst of many it is
left out, which makes attacks stronger.
An ε, or a factor, is looked for where the attack reaches the limit, and proven a little on the private side of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from guessproof.errors import ParameterError
from guessproof.risk.bracket import Bracket
from guessproof.risk.joint.joint_attack import span
from guessproof.risk.limits import Belief, largest_epsilon
from guessproof.risk.line.capped import binding_form
from guessproof.risk.line.recursion import atom_question
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
from guessproof.risk.prior_error.certificate import certificate_of
from guessproof.risk.prior_error.odds import largest_rise, left_to_move, log_odds
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.distances import LineForm
from guessproof.world.finite import Finite
from guessproof.world.goals import Exactly, Goal, Within
from guessproof.world.line import LinePrior, expit

BeliefOf = Callable[[Attribute, Goal, Any], Belief]

STATED = (
    2e-3,
    0.04,
    0.2,
)  # by how much more than the attack is proven, tried in turn, for one true value
CAPPED = (
    0.01,
    0.04,
    0.1,
    0.2,
)  # under a cap: plateaus need more boxes, and between numbers they are not tried
WORST = 0.035, 0.1, 0.4  # and for all of them: boxes of true values are harder
SEARCHED = 3e-4  # how closely a root in ln ε or ln κ is found: well within the first margin
LARGEST_ROOM = (
    20.0  # ln of the largest factor: a larger one is no longer told from any prior at all
)
LINE_UP_TO = 200  # points of a finite world whose distances are compared with those of numbers
MOST_KEPT = 8  # questions whose cells and attacks are kept, since several are asked of one ε
ROUNDING = 1e-12  # of limits, bounds and an ε in closed form


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
class PriorEngine:
    """A goal whose rise (or fall) is asked for where the prior may be wrong; of one true value, or the worst one."""

    log_odds: tuple[float, float]  # declared, of what rises: least and most
    across: float  # the largest distance, per unit of ε
    belief: Belief | None  # declared, in what rises; None for the worst of many true values
    line: Sequence[LineGoals] = ()  # parts whose moves add up to the goal's
    at: Any = None
    falls: bool = False

    @cached_property
    def turned(self) -> PriorEngine:
        """The same for the fall of the goal, which is the rise of all else."""
        least, most = self.log_odds
        belief = None if self.belief is None else self.belief.turned
        return replace(self, log_odds=(-most, -least), belief=belief, falls=not self.falls)

    @property
    def margins(self) -> tuple[float, ...]:
        """By how much more than the attack is proven, tried in turn."""
        if not self.line:
            return (0.0,)
        if self.belief is None:
            return WORST
        return STATED if math.isinf(self.cap(1.0)) else CAPPED

    @property
    def how(self) -> str:
        """Which bound answers."""
        return (
            "tents and priors that favour them, proven by boxes" if self.line else "odds bound"
        )

    def cap(self, epsilon: float) -> float:
        """The largest ln of a ratio of likelihoods that is taken into account: only of one true value."""
        return math.inf if self.belief is None else epsilon * self.line[0].question.form.cap

    def bound(self, epsilon: float, factor: float) -> float:
        """A proven limit of every rise, near the attack."""
        solved = _solved(self, epsilon, factor)
        limits = (solved.estimate * (1 + margin) for margin in self.margins)
        proven = (
            limit
            for limit in limits
            if limit < solved.bound and self.keeps(epsilon, factor, limit)
        )
        return next(proven, solved.bound)

    def keeps(self, epsilon: float, factor: float, limit: float) -> bool:
        """Whether it is proven that no belief rises further than the limit."""
        solved = _solved(self, epsilon, factor)
        if solved.bound <= limit:
            return True
        if solved.sides is None:
            return False
        room = (limit - math.tanh(epsilon * self.line[0].question.form.step / 4)) * (
            1 - ROUNDING
        )
        total = sum(solved.parts)
        return room > total > 0 and all(
            certificate_of(
                solved.sides, goals, factor, room * part / total, self.cap(epsilon)
            ).holds()
            for goals, part in zip(self.line, solved.parts, strict=True)
        )


@lru_cache(MOST_KEPT)
def _solved(engine: PriorEngine, epsilon: float, factor: float) -> Solved:
    """The best attack, and what needs no certificate: any prior's bound, what is left to believe, the odds bound."""
    least, most = engine.log_odds
    width = epsilon * engine.across if epsilon else 0.0
    always = math.tanh(width / 4)
    reached = always if math.isinf(factor) else 0.0
    bound = min(always * (1 + ROUNDING), left_to_move(least, factor), 1.0)
    if engine.belief is not None and epsilon:
        attack, gain = (float(value) for value in engine.belief.gain(np.asarray(epsilon)))
        reached = max(reached, largest_rise(least, attack, factor))
        bound = min(bound, largest_rise(least, gain, factor, width))
    at, prior = engine.at, float(expit(-most if engine.falls else least))
    if not engine.line or epsilon == 0 or math.isinf(factor):
        return Solved(reached, bound, bound, at, prior)
    first, question = engine.line[0], engine.line[0].question
    sides = sides_of(question, epsilon, -1 if first.turned != engine.falls else 1)
    cap = engine.cap(epsilon)
    found = [best_attack(sides, goals, factor, cap) for goals in engine.line]
    parts = [value for value, _ in found]
    estimate = min(
        max(sum(parts), reached) + math.tanh(epsilon * question.form.step / 4), bound
    )
    if (
        parts[0] > reached
        and len(parts) == 1
        and (math.isinf(question.form.cap) or math.isfinite(cap))
    ):
        i = found[0][1]
        reached, at, prior = parts[0], first.truths[i], float(first.prior[i])
    return Solved(reached, bound, estimate, at, prior, sides, parts)


@dataclass(frozen=True)
class MisspecifiedPrior:
    """One engine for each stated true value (an array of their shape), or for several of which the worst counts."""

    engines: Any
    factor: float
    worst: bool = False

    def advantage(self, epsilon: Array, both: bool) -> Bracket:
        """How far the belief can rise, or move either way, for each ε and true value."""

        def one(engine: PriorEngine, value: float) -> tuple[Solved, float, float]:
            solved = [_solved(side, value, self.factor) for side in _sides(engine, both)]
            best = max(solved, key=lambda side: side.reached)
            return (
                best,
                best.reached,
                max(side.bound(value, self.factor) for side in _sides(engine, both)),
            )

        how = f"prior wrong by up to ×{self.factor:g}: {self.engines.ravel()[0].how}"
        found, attack, bound = np.vectorize(one, otypes=[object, np.float64, np.float64])(
            *self._pairs(epsilon)
        )
        bound = np.maximum(attack, bound)
        if not self.worst:
            return Bracket.meet(attack, bound, how)
        most = np.max(attack, axis=0), np.max(bound, axis=0)
        if epsilon.ndim:
            return Bracket.meet(*most, how)
        best: Solved = found[int(np.argmax(attack))]
        return Bracket.meet(*most, how, worst_at=best.at, worst_prior=best.prior)

    def epsilon(self, advantage: Array, both: bool) -> Array:
        """The largest ε that is proven to keep a limit."""

        def one(engine: PriorEngine, limit: float) -> float:
            return min(
                _largest_epsilon(side, self.factor, limit) for side in _sides(engine, both)
            )

        found = np.asarray(np.vectorize(one, otypes=[np.float64])(*self._pairs(advantage)))
        return np.min(found, axis=0) if self.worst else found

    def largest_factor(self, epsilon: float, limit: float, both: bool) -> float:
        """The largest factor at which the limit is proven, for every true value."""
        engines = [side for engine in self.engines.ravel() for side in _sides(engine, both)]
        return min(_largest_factor(engine, epsilon, limit) for engine in engines)

    def _pairs(self, asked: Array) -> tuple[Any, Array]:
        """Engines and what is asked of them, to be broadcast."""
        return (
            self.engines.reshape(-1, *[1] * asked.ndim) if self.worst else self.engines
        ), asked


def _sides(engine: PriorEngine, both: bool) -> list[PriorEngine]:
    return [engine, engine.turned] if both else [engine]


def _largest_epsilon(engine: PriorEngine, factor: float, limit: float) -> float:
    """The largest ε at which the limit is proven; inf where no ε breaks it, 0 where none is proven."""
    if not 0 < limit < left_to_move(engine.log_odds[0], factor):
        return math.inf if limit > 0 else 0.0
    # Whatever the prior is, this ε keeps the limit.
    always = (
        4 * math.atanh(limit) / engine.across * (1 - ROUNDING) if engine.across else math.inf
    )
    if not always < math.inf > factor:
        return always
    scale = engine.line[0].question.reach if engine.line else engine.across
    return _proven(
        engine, limit, lambda x: (x, factor), always, 1 / scale if 0 < scale < math.inf else 1.0
    )


def _largest_factor(engine: PriorEngine, epsilon: float, limit: float) -> float:
    """The largest factor at which the limit is proven at this ε; inf where no prior breaks it."""
    if math.isinf(engine.log_odds[1]):
        return 1.0  # nothing is known of a goal whose probability is 0 or 1 in doubles
    if engine.keeps(epsilon, math.inf, limit):
        return math.inf
    return math.exp(
        _proven(
            engine,
            limit,
            lambda x: (epsilon, math.exp(x) if x < LARGEST_ROOM else math.inf),
            0.0,
            1.0,
        )
    )


def _proven(
    engine: PriorEngine,
    limit: float,
    question: Callable[[float], tuple[float, float]],
    least: float,
    start: float,
) -> float:
    """The largest number found whose ε and factor are proven to keep the limit, or the least one, which does."""

    def estimate(x: Array) -> Array:
        return np.asarray(_solved(engine, *question(float(x))).estimate)

    for margin in engine.margins:
        found = float(
            largest_epsilon(
                estimate, np.asarray(limit / (1 + margin)), start=start, relative=SEARCHED
            )
        )
        if not least < found < math.inf:
            break
        if engine.keeps(*question(found), limit):
            return found
    return least


def prior_error_at(
    attribute: Attribute, goal: Goal, at: Any, factor: float, belief_of: BeliefOf
) -> MisspecifiedPrior:
    """A goal about one attribute at one true value, or at each of an array of them."""

    def one(truth: Any) -> PriorEngine:
        return _stated_engine(attribute, goal, truth, belief_of)

    return MisspecifiedPrior(np.asarray(np.vectorize(one, otypes=[object])(at)), factor)


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
        engines = np.array([_stated_engine(attribute, goal, t, belief_of) for t in truths])
        return MisspecifiedPrior(engines, factor, worst=True)
    odds, across = log_odds(line.prior), float(form.distance(*prior.support))
    engine = PriorEngine((float(np.min(odds)), float(np.max(odds))), across, None, (line,))
    return MisspecifiedPrior(np.array([engine]), factor, worst=True)


def prior_error_of(belief: Belief, across: float, factor: float) -> MisspecifiedPrior:
    """Any other world, from its belief under the declared prior and the largest distance."""
    return MisspecifiedPrior(np.array(_engine(belief, across)), factor)


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
    across, rows = float(np.max(paths)), goals.reshape(-1, mass.size)
    beliefs = [finite_belief(mass, distance, row) for row in rows]
    lines = [_on_a_line(mass[some], paths, row[some], i) for i, row in enumerate(rows)]
    engines = [
        _engine(belief, across, i, line)
        for i, (belief, line) in enumerate(zip(beliefs, lines, strict=True))
    ]
    return MisspecifiedPrior(
        np.array(engines).reshape(goals.shape[:-1]), factor, worst=goals.ndim > 1
    )


def _on_a_line(mass: Array, paths: Array, marks: Array, at: int) -> Sequence[LineGoals]:
    """The parts of a goal where distances are those of numbers; none where they are not."""
    place = paths[np.argmax(paths[0])]  # from one end
    order = np.argsort(place)
    numbers = np.unique(place)
    gaps = np.abs(place[:, None] - place) * (1 + ROUNDING)
    is_line = (
        numbers.size == mass.size and math.isfinite(numbers[-1]) and bool(np.all(gaps >= paths))
    )
    if not is_line or np.any((marks > 0) & (marks < 1)):
        return ()
    prior = Finite(tuple(numbers.tolist()), tuple(mass[order].tolist()))
    return parts_of(atom_question(prior, LineForm(slopes=(1 + ROUNDING,)), marks[order]), at)


def _stated_engine(
    attribute: Attribute, goal: Goal, at: Any, belief_of: BeliefOf
) -> PriorEngine:
    """The engine for one true value."""
    prior, belief, form = attribute.prior, belief_of(attribute, goal, at), _line_form(attribute)
    if form is None or not isinstance(prior, (Finite, LinePrior)):
        return _engine(belief, span(attribute), at)
    return _engine(
        belief, float(form.distance(*prior.support)), at, stated_goals(prior, form, goal, at)
    )


def _line_form(attribute: Attribute) -> LineForm | None:
    """The distance as one along a line, without a cap that nothing reaches; None where it is not."""
    form, prior = attribute.distance.line_form, attribute.prior
    if form is None or form.is_flat or not isinstance(prior, (LinePrior, Finite)):
        return None
    return binding_form(prior, form) if isinstance(prior, LinePrior) or prior.is_line else None


def _engine(
    belief: Belief, across: float, at: Any = None, line: Sequence[LineGoals] = ()
) -> PriorEngine:
    """The engine of one belief."""
    odds = float(belief.log_p - belief.log_q)
    return PriorEngine((odds, odds), across, belief, line, at)
