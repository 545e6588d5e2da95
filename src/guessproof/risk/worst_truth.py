"""True values that are left open: what the worst of them lets an attacker reach, and the ε that it allows.

Solvers say what no true values exceed at one ε, and which ε keeps one limit: `line.worst` and `finite.worst` of one
attribute, `joint.worst` of several. All else is the same for all of them and stands here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from guessproof.errors import InfeasibleError, ParameterError
from guessproof.risk.bracket import Bracket, Direction, Effort, Worst
from guessproof.risk.limits import least_of
from guessproof.risk.line.worst import TrueValues, WorstSearch
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal, Within
from guessproof.world.line import LinePrior

if TYPE_CHECKING:
    from guessproof.risk.attack import Attack

SIDES: tuple[Direction, ...] = "rise", "fall"  # of a belief that moves
ROUNDING = 1e-9  # of a belief before any release, relative: a limit that is lower by less counts as equal


class WorstSolver(Protocol):
    """Who searches for the worst true values."""

    def worst(self, epsilon: float, direction: Direction) -> Worst:
        """The worst true values found, and what none exceed."""
        ...

    def epsilon(self, limit: float, direction: Direction) -> float:
        """The largest ε at which no true values are proven to exceed a limit."""
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
        search = np.vectorize(self.solver.epsilon, otypes=[np.float64])
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


def worst_truth(attribute: Attribute, goal: Goal) -> WorstTruth:
    """All true values of one attribute."""
    if not isinstance(attribute.prior, Finite):
        return WorstTruth(
            worst_search(attribute, goal), "worst true value by strips around tents"
        )
    from guessproof.risk.finite.worst import WorstFinite

    how = "worst over the prior's values"
    if attribute.prior.between is not None:
        how = "worst over all true values, also between those of the sample"
    return WorstTruth(WorstFinite(attribute, goal), how)


def worst_search(attribute: Attribute, goal: Goal) -> WorstSearch:
    """The search along a line, where there is one."""
    prior, form = attribute.prior, attribute.distance.line_form
    assert isinstance(prior, LinePrior)
    if form is None or not isinstance(goal, Within):
        problem = "the worst true value is found only for |ψ(x) − ψ(x')|, with a cap or without, and one interval"
        raise ParameterError("at", None, problem, "give at={…}")
    return WorstSearch.of(prior, form, goal, *attribute.range)


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
