"""True values that are left open: what the worst of them lets an attacker reach, and the ε that it allows.

Solvers say what no true values exceed at one ε: `line.worst` of one attribute with a density, `joint.worst` of several.
All else is the same for all of them and stands here.

Of finitely many values those with the same correct guesses count as one, and all others are asked. Where the correct
guesses are runs of atoms on a line, tents on prefix sums (`line.tent`) answer for all of them at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from guessproof.errors import GoalError, InfeasibleError, NotCertifiedError, ParameterError
from guessproof.risk.bracket import Bracket, Direction, Effort, Worst
from guessproof.risk.combinations import possible_values, true_values_of
from guessproof.risk.limits import (
    Belief,
    advantage_of,
    largest_epsilon,
    least_of,
    posterior_of,
)
from guessproof.risk.line.recursion import LineQuestion
from guessproof.risk.line.tent import Tilts, binding_form
from guessproof.risk.line.worst import TrueValues, WorstSearch
from guessproof.risk.single import belief_of
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Exactly, Goal, Within
from guessproof.world.line import LinePrior
from guessproof.world.pieces import pieces_of

if TYPE_CHECKING:
    from guessproof.risk.attack import Attack

MOST = 20_000  # true values without an order; more take minutes
SIGNS = np.array([[-1.0], [1.0]])  # of a doubt: attack and bound
SIDES: tuple[Direction, ...] = "rise", "fall"  # of a belief that moves
ROUNDING_OF_SUMS = 1e-15  # for each of their terms
ROUNDING = 1e-9  # of a belief before any release, relative: a limit that is lower by less counts as equal


class WorstSolver(Protocol):
    """Who searches for the worst true values."""

    def start(self, limit: float, direction: Direction) -> float:
        """An ε to begin a search with."""
        ...

    @property
    def relative(self) -> float:
        """How closely an ε is worth looking for."""
        ...

    def worst(self, epsilon: float, direction: Direction, attack: bool = True) -> Worst:
        """The worst true values found, and what none exceed; attacks only where asked for, if they take long."""
        ...


@dataclass(frozen=True, eq=False)
class WorstTruth:
    """All true values, under the declared prior."""

    solver: WorstSolver
    how: str

    def bracket(self, epsilon: Array, *directions: Direction) -> Bracket:
        """What no true value exceeds in any of the directions, for each ε."""
        found: list[Worst] = []
        for e in epsilon.ravel():
            each = [self.solver.worst(float(e), direction) for direction in directions]
            most = max(each, key=lambda worst: worst.bound)
            found.append(replace(most, value=max(worst.value for worst in each)))

        def shaped(name: str) -> Any:
            values = [getattr(worst, name) for worst in found]
            return np.asarray(values).reshape(epsilon.shape) if epsilon.ndim else values[0]

        where = {"worst_at": shaped("at"), "worst_prior": shaped("prior")}
        return Bracket.meet(shaped("value"), shaped("bound"), self.how, **where)

    def posterior(self, epsilon: Array, side: str, effort: Effort | None) -> Bracket:
        """The largest belief in the goal; the smallest depends on the true value."""
        if side != "upper":
            raise ParameterError("side", side, "needs a true value", "give at={…}")
        return self.bracket(epsilon, "posterior")

    def advantage(self, epsilon: Array, both: bool, effort: Effort | None) -> Bracket:
        """How far the belief rises, or with both=True moves."""
        return self.bracket(epsilon, *SIDES[: 1 + both])

    def epsilon(self, advantage: Any, both: bool, posterior: Any, effort: Effort | None) -> Any:
        """The largest ε at which every limit holds for every true value."""
        search = np.vectorize(self._largest, otypes=[np.float64])
        found: list[Array] = []
        if posterior is not None:
            before = self.solver.worst(0.0, "posterior")
            if np.any(posterior < before.value * (1 - ROUNDING)):
                raise InfeasibleError(
                    f"posterior: at the true value {before.at} the belief is {before.value:.6g} before any release, "
                    f"above the limit {float(np.min(posterior)):.6g}; allow a higher belief or a narrower goal"
                )
            found.append(search(posterior, "posterior"))
        if advantage is not None:
            found += [search(advantage, side) for side in SIDES[: 1 + both]]
        return least_of(found)

    def _largest(self, limit: float, direction: Direction) -> float:
        """The largest ε found at which no true values exceed a limit."""
        if limit >= 1:
            return math.inf
        before = self.solver.worst(0.0, direction).value

        def rise(epsilon: Array) -> Array:
            return np.asarray(
                self.solver.worst(float(epsilon), direction, False).bound - before
            )

        start, relative = self.solver.start(limit, direction), self.solver.relative
        return float(
            largest_epsilon(rise, np.asarray(limit - before), start=start, relative=relative)
        )


@dataclass(frozen=True, eq=False)
class WorstRows:
    """True values (of several attributes tables) that have an answer of their own each."""

    belief: Belief
    truths: Sequence[Any]
    certain: Any = None  # true values at which the goal is certain
    width: float = 1.0  # how far values are apart at most

    def start(self, limit: float, direction: Direction) -> float:
        """An ε to begin a search with."""
        return 1 / (self.width or 1.0)

    @property
    def relative(self) -> float:
        """How closely an ε is worth looking for."""
        return self.belief.relative

    def worst(self, epsilon: float, direction: Direction, attack: bool = True) -> Worst:
        """The worst of them, and what none exceeds."""
        if direction == "posterior" and self.certain is not None:
            return Worst(self.certain, 1.0, 1.0, 1.0)
        own = self.belief
        gains = own.gain(np.asarray(-epsilon if direction == "fall" else epsilon))
        reached, bound = (change(own.log_p, own.log_q, gain, direction) for gain in gains)
        best = int(np.argmax(reached))
        most = min(float(np.max(bound)) * (1 + 4 * ROUNDING_OF_SUMS), 1.0)
        prior = float(np.exp(own.log_p[best]))
        return Worst(self.truths[best], float(reached[best]), most, prior)


def change(log_p: Any, log_q: Any, gain: Any, direction: Direction) -> Array:
    """The belief after a gain, or how far it moves."""
    value = posterior_of if direction == "posterior" else advantage_of
    return np.abs(value(log_p, log_q, gain))


def worst_truth(attribute: Attribute, goal: Goal) -> WorstTruth:
    """All true values of one attribute."""
    if not isinstance(attribute.prior, Finite):
        return WorstTruth(
            worst_search(attribute, goal), "worst true value by strips around tents"
        )
    how = "worst over the prior's values"
    if attribute.prior.between is not None:
        how = "worst over all true values, also between those of the sample"
    form = attribute.distance.line_form
    on_line = attribute.prior.is_line and form is not None and np.isinf(form.cap)
    if on_line and isinstance(goal, (Within, Exactly)):
        return WorstTruth(_runs(attribute, attribute.prior, goal), how)
    return WorstTruth(_listed(attribute, attribute.prior, goal), how)


def _listed(attribute: Attribute, prior: Finite, goal: Goal) -> WorstRows:
    """True values with different correct guesses, each asked on its own."""
    values = true_values_of(attribute, goal)
    if len(values) > MOST:
        raise NotCertifiedError(
            f"{len(values)} true values are too many here; give one with at={{…}}"
        )
    found, certain = dict[bytes, Any](), None
    for value in values:
        chosen = goal.chosen(prior, value)
        if (1 - chosen) @ prior.mass <= 0:
            certain = value
        elif chosen @ prior.mass > 0:
            found.setdefault(chosen.tobytes(), value)
    truths = _open(list(found.values()), certain)
    labels = np.array([*truths, None], dtype=object)[:-1]
    return WorstRows(belief_of(attribute, goal, labels), truths, certain)


def _runs(attribute: Attribute, prior: Finite, goal: Within | Exactly) -> WorstRows:
    """True values whose correct guesses are runs of atoms, by tents on prefix sums."""
    form = attribute.distance.line_form
    assert form is not None
    mass, points = prior.mass[prior.mass > 0], prior.points[prior.mass > 0]
    if isinstance(goal, Exactly):
        t = np.asarray(possible_values(attribute), dtype=np.float64)
        first = last = np.searchsorted(points, t)
    else:
        t = np.asarray(true_values_of(attribute, goal), dtype=np.float64)
        first, last = goal.window(points, t)
    turns = np.append(True, (np.diff(first) != 0) | (np.diff(last) != 0))
    starts = np.append(np.flatnonzero(turns), t.size)
    middle = (starts[:-1] + starts[1:] - 1) // 2  # stands for all that share a run
    t, first, after = t[middle], first[middle], last[middle] + 1
    whole = (first == 0) & (after == points.size)
    some = (after > first) & ~whole
    certain = float(t[whole][0]) if whole.any() else None
    truths, first, after = _open(t[some].tolist(), certain), first[some], after[some]
    below = np.append(0.0, np.cumsum(mass))
    above = np.append(np.cumsum(mass[::-1])[::-1], 0.0)
    p, q = below[after] - below[first], below[first] + above[after]
    log_p, log_q = np.log(p), np.log(q)
    question = LineQuestion(pieces_of(prior), np.arange(points.size) >= points.size // 2, form)
    width = float(np.ptp(question.position[0]))

    def gain(k: Array) -> tuple[Array, Array]:
        epsilon, sign, sizes = abs(float(k)), np.sign(float(k)), np.zeros((2, p.size))
        if width and epsilon:
            odds = np.stack(Tilts(question, epsilon).bracket(first, after, sign > 0))
            doubt = ROUNDING_OF_SUMS * (mass.size / (p * q) + np.abs(odds))
            sizes = np.maximum(sign * (odds - (log_p - log_q)) + SIGNS * doubt, 0.0)
        attack, bound = sign * (sizes + epsilon * form.step)
        return attack, bound

    return WorstRows(Belief(log_p, log_q, gain, ""), truths, certain, width)


def _open(truths: list[Any], certain: Any) -> list[Any]:
    if not truths:
        problem = f"is {'empty' if certain is None else 'certain'} for every true value"
        raise GoalError("goal", "P(goal) = 0 or 1", problem, "choose another radius")
    return truths


def worst_search(attribute: Attribute, goal: Goal) -> WorstSearch:
    """The search along a line, where there is one."""
    prior, form = attribute.prior, attribute.distance.line_form
    assert isinstance(prior, LinePrior)
    if form is None or not isinstance(goal, Within):
        problem = "the worst true value is found only for |ψ(x) − ψ(x')|, with a cap or without, and one interval"
        raise ParameterError("at", None, problem, "give at={…}")
    # A cap that no two values reach is dropped.
    return WorstSearch(prior, binding_form(prior, form), goal, *attribute.range)


def advantage_over(
    attack: Attack, ends: Array, epsilon: float, both: bool = False
) -> TrueValues:
    """Enclose the advantage between each and the next of some rising true values.

    The attack's goal is one interval around a number that has a density, and its true value is left open.
    """
    search = worst_search(attack.attribute, attack.goal)
    found = search.over(ends, epsilon, "rise")
    if both:
        fall = vars(search.over(ends, epsilon, "fall"))
        found = TrueValues(
            **{name: np.maximum(x, fall[name]) for name, x in vars(found).items()}
        )
    return found
