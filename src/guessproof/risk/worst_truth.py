"""One attribute without a stated true value: what the worst one lets an attacker reach, and the ε that it allows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.errors import InfeasibleError, ParameterError
from guessproof.risk.bracket import Bracket
from guessproof.risk.limits import largest_epsilon
from guessproof.risk.truth_ends import Worst
from guessproof.risk.truth_search import Direction, TruthSearch
from guessproof.risk.worst_case import worst_true_value
from guessproof.risk.worst_epsilon import epsilon_at_worst
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal, Within
from guessproof.world.line import LinePrior

if TYPE_CHECKING:
    from guessproof.risk.worst_atoms import Runs
    from guessproof.risk.worst_listed import Listed


@dataclass(frozen=True, eq=False)
class WorstTruth:
    """All true values of one attribute, under the declared prior."""

    attribute: Attribute
    goal: Goal

    def bracket(self, epsilon: Array, direction: Direction) -> Bracket:
        """What no true value exceeds, for each ε."""
        prior = self.attribute.prior
        if isinstance(prior, Finite) and self.runs is not None:
            found = self.runs.worst_each(epsilon.ravel(), direction)
        else:
            found = [self.at(float(e), direction) for e in epsilon.ravel()]
        sample = isinstance(prior, Finite) and prior.between is not None
        how = (
            "worst true value by branch and bound" if not isinstance(prior, Finite)
            else "worst over all true values, also between those of the sample" if sample
            else "worst over the prior's values"
        )  # fmt: skip

        def shaped(values: list[Any]) -> Any:
            return np.asarray(values).reshape(epsilon.shape) if epsilon.ndim else values[0]

        return Bracket.meet(
            shaped([w.value for w in found]),
            shaped([w.bound for w in found]),
            how,
            worst_at=shaped([w.at for w in found]),
            worst_prior=shaped([w.prior for w in found]),
        )

    def at(self, epsilon: float, direction: Direction) -> Worst:
        """The worst true value at one ε."""
        if isinstance(self.attribute.prior, Finite):
            return self._finite.worst(epsilon, direction)
        last = self.last.get(direction)
        if last is None or last[0] != epsilon:
            last = self.last[direction] = epsilon, worst_true_value(self.search, epsilon, direction)
        return last[1]

    def epsilon(self, advantage: Array | None, posterior: Array | None, both: bool) -> Any:
        """The largest ε at which every limit holds for every true value."""
        limits: list[tuple[Array, Direction]] = []
        if posterior is not None:
            before = self.at(0.0, "posterior")
            if np.any(posterior < before.value * (1 - 1e-9)):
                raise InfeasibleError(
                    f"posterior: at the true value {before.at} the belief is {before.value:.6g} before any release, "
                    f"above the limit {float(np.min(posterior)):.6g}; allow a higher belief or a narrower goal"
                )
            limits.append((posterior, "posterior"))
        if advantage is not None:
            limits.append((advantage, "rise"))
            if both:
                limits.append((advantage, "fall"))
        found = [self._each(limit, direction) for limit, direction in limits]
        least = np.min(np.broadcast_arrays(*found), axis=0)
        return float(least) if least.ndim == 0 else least

    def _each(self, limit: Array, direction: Direction) -> Array:
        """ε for each limit: followed along the worst true value where that is quick, by a plain search elsewhere."""

        def one(value: float) -> float:
            if isinstance(self.attribute.prior, Finite):
                return self._finite.epsilon(value, direction)
            followed = epsilon_at_worst(self.search, value, direction, self.typical)
            if followed is not None:
                return followed
            return float(_each_limit(np.asarray(value), partial(self._bound, direction), self.typical))

        return np.asarray(np.vectorize(one, otypes=[np.float64])(limit))

    def _bound(self, direction: Direction, epsilon: float) -> float:
        return self.at(epsilon, direction).bound

    @cached_property
    def last(self) -> dict[Direction, tuple[float, Worst]]:
        """The ε that was asked about last, and its worst true value: several questions are asked of one ε."""
        return {}

    @cached_property
    def _finite(self) -> Runs | Listed:
        """All true values beside a finite prior: as runs of numbers where they are such, else one by one."""
        from guessproof.risk.worst_atoms import Runs
        from guessproof.risk.worst_listed import Listed

        return Runs.of(self.attribute, self.goal) or Listed(self.attribute, self.goal)

    @property
    def runs(self) -> Runs | None:
        """All true values beside finitely many numbers, where the goals of these are runs of them."""
        from guessproof.risk.worst_atoms import Runs

        return self._finite if isinstance(self._finite, Runs) else None

    @cached_property
    def search(self) -> TruthSearch:
        """The search for the worst true value, where there is one."""
        prior, form, goal = self.attribute.prior, self.attribute.distance.line_form, self.goal
        assert isinstance(prior, LinePrior)
        if form is None or not isinstance(goal, Within):
            problem = "the worst true value is found only for |ψ(x) − ψ(x')|, with a cap or without, and one interval"
            raise ParameterError("at", None, problem, "give at={…}")
        found = TruthSearch(prior, form, lambda t: goal.edges(t)[0], *self.attribute.range, goal.radius is not None)
        return found.half

    @property
    def typical(self) -> float:
        """An ε at which the bulk of the prior is about one unit wide: where a search may start."""
        prior, form = self.attribute.prior, self.attribute.distance.line_form
        if not isinstance(prior, LinePrior) or form is None:
            return 1.0
        low, high = form.psi(prior.quantile([0.1, 0.9]))
        return 1 / float(high - low) if high > low else 1.0


def _each_limit(limit: Array, bound: Any, start: float) -> Array:
    """ε for each limit on a bound that does not start from 0 (a posterior starts at the prior)."""
    at_zero = bound(0.0)

    def one(value: float) -> float:
        if value >= 1 or value <= at_zero:
            return np.inf if value >= 1 else 0.0
        rise = np.asarray(value - at_zero)
        return float(largest_epsilon(lambda e: np.asarray(bound(float(e)) - at_zero), rise, start=start, relative=1e-9))

    return np.asarray(np.vectorize(one, otypes=[np.float64])(limit))
