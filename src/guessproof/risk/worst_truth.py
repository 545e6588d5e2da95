"""One attribute without a stated true value: what the worst one lets an attacker reach, and the ε that it allows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.errors import InfeasibleError, ParameterError
from guessproof.risk.bracket import Bracket, Direction, Worst
from guessproof.risk.line.worst import WorstSearch
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal, Within
from guessproof.world.line import LinePrior

if TYPE_CHECKING:
    from guessproof.risk.finite.worst import WorstFinite

ROUNDING = 1e-9  # of a belief before any release, relative: a limit that is lower by less counts as equal


@dataclass(frozen=True, eq=False)
class WorstTruth:
    """All true values of one attribute, under the declared prior."""

    attribute: Attribute
    goal: Goal

    def bracket(self, epsilon: Array, direction: Direction) -> Bracket:
        """What no true value exceeds, for each ε."""
        prior = self.attribute.prior
        found = [self.at(float(e), direction) for e in epsilon.ravel()]
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

    def at(self, epsilon: float, direction: Direction) -> Worst:
        """The worst true value at one ε."""
        if isinstance(self.attribute.prior, Finite):
            return self._finite.worst(epsilon, direction)
        return self.search.worst(epsilon, direction)

    def epsilon(self, advantage: Array | None, posterior: Array | None, both: bool) -> Any:
        """The largest ε at which every limit holds for every true value."""
        limits: list[tuple[Array, Direction]] = []
        if posterior is not None:
            before = self.at(0.0, "posterior")
            if np.any(posterior < before.value * (1 - ROUNDING)):
                raise InfeasibleError(
                    f"posterior: at the true value {before.at} the belief is {before.value:.6g} before any release, "
                    f"above the limit {float(np.min(posterior)):.6g}; allow a higher belief or a narrower goal"
                )
            limits.append((posterior, "posterior"))
        if advantage is not None:
            limits.append((advantage, "rise"))
            if both:
                limits.append((advantage, "fall"))

        def one(limit: float, direction: Direction) -> float:
            if isinstance(self.attribute.prior, Finite):
                return self._finite.epsilon(limit, direction)
            return self.search.epsilon(limit, direction)

        found = [
            np.vectorize(one, otypes=[np.float64])(limit, direction)
            for limit, direction in limits
        ]
        least = np.min(np.broadcast_arrays(*found), axis=0)
        return float(least) if least.ndim == 0 else least

    @cached_property
    def _finite(self) -> WorstFinite:
        """All true values under a finite prior."""
        from guessproof.risk.finite.worst import WorstFinite

        return WorstFinite(self.attribute, self.goal)

    @cached_property
    def search(self) -> WorstSearch:
        """The search for the worst true value, where there is one."""
        prior, form, goal = self.attribute.prior, self.attribute.distance.line_form, self.goal
        assert isinstance(prior, LinePrior)
        if form is None or not isinstance(goal, Within):
            problem = "the worst true value is found only for |ψ(x) − ψ(x')|, with a cap or without, and one interval"
            raise ParameterError("at", None, problem, "give at={…}")
        return WorstSearch.of(prior, form, goal, *self.attribute.range)
