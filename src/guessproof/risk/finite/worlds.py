"""Finite worlds: finitely many possible secrets, their prior, and a distance between any two.

The largest odds of a goal under L_i <= e^{D_ij} L_j (D = epsilon·distance) are a linear program. Up to a few hundred
points it is solved exactly in logarithms, whatever the distances; more points are each compared with near ones, by
HiGHS (both in `linear`). The attack is a likelihood that keeps every constraint to the last bit, L_i <- min_j e^{D_ij}
L_j; the bound is recomputed from the program's prices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.errors import GoalError
from guessproof.risk.bracket import Bracket
from guessproof.risk.finite.linear import Couplings, best_odds, largest_gain
from guessproof.risk.limits import (
    Belief,
    checked_epsilon,
    checked_factor,
    checked_limits,
    least_of,
)
from guessproof.risk.prior_error.odds import posterior_before, rounded_down, with_factor
from guessproof.world.checks import Array, frozen, numbers, weights
from guessproof.world.distances import check_matrix
from guessproof.world.line import log_sum

if TYPE_CHECKING:
    from guessproof.risk.prior_error.answer import MisspecifiedPrior

EXACT_UP_TO = 400  # classes, solved in a few seconds at most
NEIGHBOURS = 20  # nearest classes that each of more is compared with; leaving pairs out only loosens the bound
EPS = 1e-15  # rounding of a gain


@dataclass(frozen=True)
class FiniteWorld:
    """Finitely many possible secrets: their prior and the distance between any two.

    >>> world = FiniteWorld(prior=[0.25, 0.75], distance=[[0, 1], [1, 0]])
    >>> print(world.posterior(goal=[1, 0], epsilon=np.log(3)))
    0.5 (exact); two classes: a formula
    """

    prior: Any
    distance: Any
    prior_factor: float = (
        1.0  # by how much the odds of any two points may differ from the prior's
    )

    def __post_init__(self) -> None:
        mass, factor = weights("prior", self.prior), checked_factor(self.prior_factor)
        distance = frozen(check_matrix(self.distance, mass.size))
        vars(self).update(prior=frozen(mass), distance=distance, prior_factor=factor)

    def posterior(self, goal: Any, epsilon: Any, side: str = "upper") -> Bracket:
        """The largest (or smallest) belief in the goal after any ε·d-private release."""
        found = self.belief(goal).posterior(checked_epsilon(epsilon), side)
        if self.prior_factor == 1:
            return found
        return with_factor(
            found, self.prior_factor if side == "upper" else 1 / self.prior_factor
        )

    def advantage(self, goal: Any, epsilon: Any, both: bool = False) -> Bracket:
        """How far the belief in the goal can rise (or move, with both=True)."""
        if self.prior_factor > 1:
            return self._misspecified(goal).advantage(checked_epsilon(epsilon), both)
        return self.belief(goal).advantage(checked_epsilon(epsilon), both)

    def epsilon(
        self, goal: Any, *, advantage: Any = None, posterior: Any = None, both: bool = False
    ) -> Any:
        """The largest ε that keeps the limit, on the private side."""
        rise, most = checked_limits(advantage, posterior)
        if self.prior_factor == 1:
            return self.belief(goal).epsilon(rise, both, most)
        found: list[Any] = []
        if most is not None:
            before = posterior_before(most, self.prior_factor)
            found.append(self.belief(goal).epsilon(posterior=before))
        if rise is not None:
            found.append(self._misspecified(goal).epsilon(rise, both))
        return least_of(found)

    def largest_prior_factor(
        self, goal: Any, *, epsilon: float, advantage: float, both: bool = False
    ) -> float:
        """How wrong the prior may be while the limit is proven at this ε, rounded down; 0 where it is broken."""
        bracket = self.belief(goal).advantage(checked_epsilon(epsilon), both)
        if float(bracket) > advantage:
            return 0.0
        return rounded_down(self._misspecified(goal).largest_factor(epsilon, advantage, both))

    def _misspecified(self, goal: Any) -> MisspecifiedPrior:
        # Only where a prior may be wrong.
        from guessproof.risk.prior_error.answer import prior_error_in

        marks = check_goal(goal, self.prior.size)
        return prior_error_in(self.prior, self.distance, marks, self.prior_factor)

    def belief(self, goal: Any) -> Belief:
        """The goal's prior and gains."""
        return finite_belief(self.prior, self.distance, check_goal(goal, self.prior.size))


@dataclass(frozen=True)
class GoalClasses:
    """Goals in one finite world, by classes of points that no release tells apart: what of them is correct and wrong.

    The last axis of both masses is that of the classes; there may be a row for each of several goals.
    """

    inside: Array
    outside: Array
    distance: Array  # shortest ways
    label: Any  # the class of each point that can occur

    @classmethod
    def of(cls, prior: Array, distance: Array, goals: Array) -> GoalClasses:
        """Classes of the points that can occur."""
        keep = prior > 0
        label, distance = _classes(distance[np.ix_(keep, keep)])
        members = np.eye(len(distance))[label] * prior[keep, None]
        inside, outside = (marks[..., keep] @ members for marks in (goals, 1 - goals))
        return cls(inside, outside, shortest_paths(distance), label)

    def solve(self, k: float, row: int = 0) -> tuple[float, float, Array]:
        """(attack, bound) of a goal's largest gain at ε = k, and ln L of the attack in each class.

        For k < 0 of the complement's at ε = −k.
        """
        size, distance = len(self.distance), abs(k) * self.distance
        parts = [part.reshape(-1, size)[row] for part in (self.inside, self.outside)]
        inside, outside = (part / part.sum() for part in parts[:: 1 if k > 0 else -1])
        with np.errstate(divide="ignore"):
            log_in, log_out = np.log(inside), np.log(outside)
        # The gain of an attacker who learns the class itself, and what the distances allow.
        told, width = float(np.max(log_in - log_out)), float(np.max(distance, initial=0.0))
        most = min(told * (1 + EPS) + EPS, width)
        likelihood, bound = np.zeros(size), width
        if size == 2:
            # The odds are monotone in the ratio of both likelihoods: the class that holds less of the goal is unlikely.
            low = int(inside[0] > outside[0])
            likelihood[low] = -distance[1 - low, low]
            bound = _gain_at(inside, outside, likelihood)[1]
        elif size <= EXACT_UP_TO:
            # A class that is partly correct is a point on either side.
            goals, rests = np.flatnonzero(inside > 0), np.flatnonzero(outside > 0)
            between = distance[np.ix_(goals, rests)]
            bound, heights = largest_gain(log_in[goals], log_out[rests], between)
            likelihood = np.min(distance[:, rests] + heights, axis=1)
        else:
            found = best_odds(inside, outside, near_pairs(distance))
            likelihood, bound = np.min(distance + found.log_m, axis=1), min(found.bound, width)
        attack = _gain_at(inside, outside, likelihood)[0]
        bound = max(min(bound, most), 0.0)
        return max(min(attack, bound), 0.0), bound, likelihood

    def gain(self, k: float, row: int = 0) -> tuple[float, float]:
        """(attack, bound) of the gain at k = +ε, or of minus the complement's gain at k = −ε."""
        if not k:
            return 0.0, 0.0
        attack, bound, _ = self.solve(k, row)
        return (attack, bound) if k > 0 else (0.0 - attack, 0.0 - bound)

    def gains(self, k: Array) -> tuple[Array, Array]:
        """The same for every goal."""
        shape = self.inside.shape[:-1]
        rows = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
        attack, bound = np.vectorize(self.gain, otypes=[np.float64, np.float64])(k, rows)
        return np.asarray(attack), np.asarray(bound)


def finite_belief(prior: Array, distance: Array, goals: Array) -> Belief:
    """The prior and the gains of goals (marks on the last axis) about finitely many points."""
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(goals @ prior), np.log((1 - goals) @ prior)
    classes = GoalClasses.of(prior, distance, goals)
    count = len(classes.distance)
    how = f"linear program on {count} points, bound re-checked from its dual"
    few = {1: "one class: nothing is told", 2: "two classes: a formula"}
    return Belief(log_p, log_q, classes.gains, few.get(count, how))


def check_goal(goal: Any, size: int) -> Array:
    """Which points count as correct (1), which do not (0), or the fraction of a point that does."""
    chosen = numbers(GoalError, "goal", goal)
    if chosen.size != size:
        problem = f"has {chosen.size} entries for {size} points"
        raise GoalError("goal", goal, problem, "give one entry per point")
    if np.any((chosen < 0) | (chosen > 1)):
        problem, remedy = "has an entry outside 0 … 1", "use 1 for correct and 0 for wrong"
        raise GoalError("goal", goal, problem, remedy)
    return chosen


def solve(prior: Array, goal: Array, distance: Array) -> tuple[float, float, Array]:
    """(attack, bound) of the largest gain, and ln L of the attack; every point must have prior > 0 for the latter."""
    classes = GoalClasses.of(prior, distance, goal)
    attack, bound, likelihood = classes.solve(1.0)
    return attack, bound, likelihood[classes.label]


def _gain_at(inside: Array, outside: Array, likelihood: Array) -> tuple[float, float]:
    """The gain of a likelihood, rounded down and up; small ones from L − 1, so that they keep their digits."""
    likelihood = likelihood - float(np.max(likelihood))
    logs: list[float] = []
    for part in (inside, outside):
        fall = float(part @ np.expm1(likelihood))
        if fall > -0.5:
            logs.append(float(np.log1p(fall)))
        else:
            with np.errstate(divide="ignore"):
                logs.append(float(log_sum(np.log(part) + likelihood)))
    rounding = EPS * inside.size * sum(abs(value) for value in logs if np.isfinite(value))
    return logs[0] - logs[1] - rounding, logs[0] - logs[1] + rounding


def _classes(distance: Array) -> tuple[Any, Array]:
    """Points that no release may tell apart count as one: the class of each point, and distances between classes."""
    alike = (distance == 0) & (distance.T == 0)
    first, label = np.unique(np.argmax(alike, axis=1), return_inverse=True)
    between = np.full((first.size, first.size), np.inf)
    np.minimum.at(between, (label[:, None], label), distance)
    return label, between


def shortest_paths(distance: Array) -> Array:
    """The same distances with every detour that is shorter taken: what the constraints imply together."""
    distance = np.array(distance, dtype=np.float64)
    for k in range(len(distance)):
        np.minimum(distance, distance[:, k, None] + distance[None, k, :], out=distance)
    return distance


def near_pairs(distance: Array) -> Couplings:
    """Each point with its nearest others, and every point with the one that is nearest to all."""
    size = len(distance)
    count = min(NEIGHBOURS, size - 1)
    others = distance + np.diag(np.full(size, np.inf))
    near = np.argpartition(others, count - 1, axis=1)[:, :count]
    chosen = np.zeros((size, size), dtype=bool)
    np.put_along_axis(chosen, near, True, axis=1)
    chosen[int(np.argmin(np.max(distance, axis=1)))] = True
    rows, cols = np.nonzero((chosen | chosen.T) & np.isfinite(others))
    return Couplings(rows, cols, distance[rows, cols])
