"""One attribute without a stated true value: what the worst one lets an attacker reach, and the ε that it allows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.errors import InfeasibleError, ParameterError
from guessproof.risk.bracket import Bracket, Direction
from guessproof.risk.limits import least_of
from guessproof.risk.line.worst import TrueValues, WorstSearch
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal, Within
from guessproof.world.line import LinePrior

if TYPE_CHECKING:
    from guessproof.risk.attack import Attack
    from guessproof.risk.finite.worst import WorstFinite

ROUNDING = 1e-9  # of a belief before any release, relative: a limit that is lower by less counts as equal


@dataclass(frozen=True, eq=False)
class WorstTruth:
    """All true values of one attribute, under the declared prior."""

    attribute: Attribute
    goal: Goal

    @cached_property
    def search(self) -> WorstSearch | WorstFinite:
        """The search for the worst true value, where there is one."""
        prior, form, goal = self.attribute.prior, self.attribute.distance.line_form, self.goal
        if isinstance(prior, Finite):
            from guessproof.risk.finite.worst import WorstFinite

            return WorstFinite(self.attribute, goal)
        if form is None or not isinstance(goal, Within):
            problem = "the worst true value is found only for |ψ(x) − ψ(x')|, with a cap or without, and one interval"
            raise ParameterError("at", None, problem, "give at={…}")
        assert isinstance(prior, LinePrior)
        return WorstSearch.of(prior, form, goal, *self.attribute.range)

    def bracket(self, epsilon: Array, direction: Direction) -> Bracket:
        """What no true value exceeds, for each ε."""
        prior = self.attribute.prior
        found = [self.search.worst(float(e), direction) for e in epsilon.ravel()]
        if not isinstance(prior, Finite):
            how = "worst true value by strips around tents"
        elif prior.between is not None:
            how = "worst over all true values, also between those of the sample"
        else:
            how = "worst over the prior's values"

        def shaped(name: str) -> Any:
            values = [getattr(worst, name) for worst in found]
            return np.asarray(values).reshape(epsilon.shape) if epsilon.ndim else values[0]

        where = {"worst_at": shaped("at"), "worst_prior": shaped("prior")}
        return Bracket.meet(shaped("value"), shaped("bound"), how, **where)

    def epsilon(self, advantage: Array | None, posterior: Array | None, both: bool) -> Any:
        """The largest ε at which every limit holds for every true value."""
        search = np.vectorize(self.search.epsilon, otypes=[np.float64])
        found: list[Array] = []
        if posterior is not None:
            before = self.search.worst(0.0, "posterior")
            if np.any(posterior < before.value * (1 - ROUNDING)):
                raise InfeasibleError(
                    f"posterior: at the true value {before.at} the belief is {before.value:.6g} before any release, "
                    f"above the limit {float(np.min(posterior)):.6g}; allow a higher belief or a narrower goal"
                )
            found.append(search(posterior, "posterior"))
        if advantage is not None:
            found += [search(advantage, side) for side in ("rise", "fall")[: 1 + both]]
        return least_of(found)


def advantage_over(
    attack: Attack, ends: Array, epsilon: float, both: bool = False
) -> TrueValues:
    """Enclose the advantage between each and the next of some rising true values.

    The attack's goal is one interval around a number that has a density, and its true value is left open.
    """
    search = WorstTruth(attack.attribute, attack.goal).search
    assert isinstance(search, WorstSearch)
    found = search.over(ends, epsilon, "rise")
    if both:
        fall = vars(search.over(ends, epsilon, "fall"))
        found = TrueValues(
            **{name: np.maximum(x, fall[name]) for name, x in vars(found).items()}
        )
    return found
