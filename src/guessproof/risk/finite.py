"""Any finite world: a linear program, with an attack and a bound that do not trust the solver.

The program looks for a likelihood L on the points with L_i ≤ e^{D_ij} L_j (D = ε·d) and the least mass
outside the goal for a given mass inside. Its primal solution is repaired into a likelihood that is feasible
to the last bit, L_i ← min_j e^{D_ij} L_j: an attack. Its dual solution y, with any negative entry cut off, is
turned into the largest μ for which (outside − μ·inside + Aᵀy) ≥ 0 at every point: a proof that
outside ≥ μ·inside for every feasible L, checked by these few multiplications alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from guessproof.errors import GoalError
from guessproof.risk.bracket import Bracket
from guessproof.risk.edge_program import EdgeProgram
from guessproof.risk.limits import (
    Belief,
    advantage_bracket,
    checked_epsilon,
    checked_factor,
    checked_limits,
    posterior_bracket,
    safe_epsilon,
)
from guessproof.risk.trees import largest_log_odds
from guessproof.world.checks import Array, Mask, frozen, numbers, weights
from guessproof.world.line import log_sum
from guessproof.world.metrics import check_matrix

if TYPE_CHECKING:
    from guessproof.risk.misjudged.answer import Misjudged

_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_FEW = 40  # classes of points up to which trees are faster than a solver
_TREES = 400  # classes up to which they are used where it fails
_WIDE = 30.0  # a diameter beyond which it would
_OPEN = 1e-9  # bound and attack of a solver that are further apart have failed to meet
_SMALL = 0.5  # up to this diameter the program works with L − 1 and keeps its digits


@dataclass(frozen=True)
class FiniteWorld:
    """Finitely many possible secrets: their prior and the distance between any two.

    >>> world = FiniteWorld(prior=[0.25, 0.75], distance=[[0, 1], [1, 0]])
    >>> print(world.posterior(goal=[1, 0], epsilon=np.log(3)))
    0.5 (exact); two classes: a formula
    """

    prior: Any
    distance: Any
    prior_factor: float = 1.0  # by how much the odds of any two points may differ from the prior's

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior_factor", checked_factor(self.prior_factor))
        mass = weights("prior", self.prior)
        object.__setattr__(self, "prior", frozen(mass))
        object.__setattr__(self, "distance", frozen(check_matrix(self.distance, mass.size)))

    def posterior(self, goal: Any, epsilon: Any, side: str = "upper") -> Bracket:
        """The largest (or smallest) belief in the goal after any ε·d-private release."""
        found = posterior_bracket(self.belief(goal), checked_epsilon(epsilon), side)
        if self.prior_factor == 1:
            return found
        from guessproof.risk.misjudged.odds import with_odds  # the room above, entered by those who need it

        return with_odds(found, self.prior_factor if side == "upper" else 1 / self.prior_factor)

    def advantage(self, goal: Any, epsilon: Any, both: bool = False) -> Bracket:
        """How far the belief in the goal can rise (or move, with both=True)."""
        if self.prior_factor > 1:
            return self._misjudged(goal, self.prior_factor).advantage(checked_epsilon(epsilon), both)
        return advantage_bracket(self.belief(goal), checked_epsilon(epsilon), both)

    def epsilon(self, goal: Any, *, advantage: Any = None, posterior: Any = None, both: bool = False) -> Any:
        """The largest ε that keeps the limit, on the private side."""
        if self.prior_factor == 1:
            return safe_epsilon(self.belief(goal), advantage=advantage, posterior=posterior, both=both)
        from guessproof.risk.misjudged.odds import posterior_before  # the room above, entered by those who need it

        rise, most = checked_limits(advantage, posterior)
        found: list[Any] = []
        if most is not None:
            found.append(safe_epsilon(self.belief(goal), posterior=posterior_before(most, self.prior_factor)))
        if rise is not None:
            found.append(self._misjudged(goal, self.prior_factor).epsilon(rise, both))
        least = np.min(np.broadcast_arrays(*found), axis=0)
        return float(least) if least.ndim == 0 else least

    def largest_prior_factor(self, goal: Any, *, epsilon: float, advantage: float, both: bool = False) -> float:
        """How wrong the prior may be while the limit is proven at this ε, rounded down; 0 where it is broken."""
        from guessproof.risk.misjudged.odds import rounded_down  # the room above, entered by those who need it

        kept = float(advantage_bracket(self.belief(goal), checked_epsilon(epsilon), both).bound) <= advantage
        return rounded_down(self._misjudged(goal, 1.0).largest_factor(epsilon, advantage, both)) if kept else 0.0

    def _misjudged(self, goal: Any, factor: float) -> Misjudged:
        from guessproof.risk.misjudged.answer import misjudged_world  # the room above, entered by those who need it

        marks = check_goal(goal, self.prior.size)
        return misjudged_world(self.prior, self.distance, marks, factor)

    def belief(self, goal: Any) -> Belief:
        """The goal's prior and gains, as the rest of the room expects them."""
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
        prior, goals, distance = prior[keep], goals[..., keep], distance[np.ix_(keep, keep)]
        label, distance = _classes(distance)

        def gathered(marks: Array) -> Array:
            rows = [np.bincount(label, prior * row) for row in marks.reshape(-1, prior.size)]
            return np.asarray(rows, dtype=np.float64).reshape((*marks.shape[:-1], len(distance)))

        return cls(gathered(goals), gathered(1 - goals), shortest_paths(distance), label)

    @property
    def how(self) -> str:
        """How the gains are found."""
        count = len(self.distance)
        few = {1: "one class: nothing is told", 2: "two classes: a formula"}
        return few.get(count, f"linear program on {count} points, bound re-checked from its dual")

    def solve(self, k: float, row: int = 0) -> tuple[float, float, Array]:
        """(attack, bound) of a goal's largest gain at ε = k, and ln L of the attack in each class."""
        inside, outside = (part.reshape(-1, len(self.distance))[row] for part in (self.inside, self.outside))
        return _solve_classes(inside, outside, k * self.distance)

    def gain(self, k: float, row: int = 0) -> tuple[float, float]:
        """(attack, bound) of the gain at k = +ε, or of minus the complement's gain at k = −ε."""
        if k < 0:
            attack, bound, _ = GoalClasses(self.outside, self.inside, self.distance, self.label).solve(-k, row)
            return 0.0 - attack, 0.0 - bound  # nothing is nothing, whatever its sign
        return self.solve(k, row)[:2] if k else (0.0, 0.0)

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
    return Belief(log_p, log_q, classes.gains, classes.how)


def check_goal(goal: Any, size: int) -> Array:
    """Which points count as correct (1), which do not (0), or the fraction of a point that does."""
    chosen = numbers(GoalError, "goal", goal)
    if chosen.size != size:
        raise GoalError("goal", goal, f"has {chosen.size} entries for {size} points", "give one entry per point")
    if np.any((chosen < 0) | (chosen > 1)):
        raise GoalError("goal", goal, "has an entry outside 0 … 1", "use 1 for correct and 0 for wrong")
    return chosen


def largest_gain(prior: Array, goal: Array, distance: Array) -> tuple[float, float]:
    """(attack, bound) of the largest gain under L_i ≤ e^{distance_ij} L_j."""
    return solve(prior, goal, distance)[:2]


def solve(prior: Array, goal: Array, distance: Array) -> tuple[float, float, Array]:
    """(attack, bound) of the largest gain, and ln L of the attack; every point must have prior > 0 for the latter."""
    classes = GoalClasses.of(prior, distance, goal)
    attack, bound, likelihood = classes.solve(1.0)
    return attack, bound, likelihood[classes.label]


def _solve_classes(inside: Array, outside: Array, distance: Array) -> tuple[float, float, Array]:
    mass = inside + outside
    share, size = inside / mass, mass.size
    if size == 2:
        attack, bound, likelihood = _of_two(inside, outside, distance)
    elif float(np.max(distance, initial=0.0)) <= _SMALL:
        attack, bound, likelihood = _near_one(mass, share, distance, *_edges(distance))
    elif size <= _FEW or (size <= _TREES and np.max(distance[np.isfinite(distance)]) > _WIDE):
        attack, bound, likelihood = _by_trees(inside, outside, distance)
    else:
        attack, bound, likelihood = _scaled(mass, share, distance, *_edges(distance))
        if not bound - attack <= _OPEN * (1 + bound) and size <= _TREES:
            attack, bound, likelihood = _by_trees(inside, outside, distance)
    bound = min(bound, _gain_of_one_told(inside, outside))
    return min(attack, bound), bound, likelihood


def _gain_of_one_told(inside: Array, outside: Array) -> float:
    """The gain of one who is told the class itself: no release tells more."""
    with np.errstate(divide="ignore"):
        odds = np.log(inside) - np.log(outside)
    return float(np.max(odds) - _log_odds(inside, outside)) * (1 + 1e-15) + 1e-15


def _log_odds(inside: Array, outside: Array) -> float:
    return float(np.log(inside.sum()) - np.log(outside.sum()))


def _of_two(inside: Array, outside: Array, distance: Array) -> tuple[float, float, Array]:
    """Two classes: the odds are monotone in the ratio of their likelihoods, so one end of its range is best."""
    inside, outside = inside / inside.sum(), outside / outside.sum()
    low = int(inside[0] > outside[0])  # the class that holds less of the goal than of the rest becomes unlikely
    fall = float(distance[1 - low, low])
    kept = [_log_kept(part[1 - low], part[low], fall) for part in (inside, outside)]
    rounding = 4e-16 * sum(abs(v) for v in kept if np.isfinite(v))
    likelihood = np.zeros(2)
    likelihood[low] = -fall
    gain = kept[0] - kept[1]
    return max(gain - rounding, 0.0), max(gain + rounding, 0.0), likelihood


def _log_kept(high: float, low: float, fall: float) -> float:
    """ln(high + low·e^{−fall}) for two shares of 1, with all its digits."""
    if fall < 1 or low < 0.5:
        return float(np.log1p(np.expm1(-fall) * low))
    with np.errstate(divide="ignore"):
        return float(np.logaddexp(np.log(high), np.log(low) - fall))


def _classes(distance: Array) -> tuple[Any, Array]:
    """Points that no release may tell apart count as one: the class of each point, and distances between classes."""
    alike = (distance == 0) & (distance.T == 0)
    if np.count_nonzero(alike) == np.count_nonzero(np.diagonal(alike)):  # none but each with itself
        return np.arange(len(distance)), distance
    label = _components(alike)
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(np.max(label) + 1))
    gathered = np.minimum.reduceat(np.minimum.reduceat(distance[np.ix_(order, order)], starts, axis=0), starts, axis=1)
    return label, gathered


def _components(alike: Mask) -> NDArray[np.int64]:
    """The connected part that each point lies in, by a symmetric table that tells which are alike; first come first.

    >>> _components(np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]], dtype=bool)).tolist()
    [0, 1, 0]
    """
    count = len(alike)
    first, before = np.where(np.any(alike, axis=1), np.argmax(alike, axis=1), np.arange(count)), None
    while before is None or not np.array_equal(first, before):
        before, first = first, np.min(np.where(alike, first, first[:, None]), axis=1)
    return np.unique(first, return_inverse=True)[1]


def _by_trees(inside: Array, outside: Array, distance: Array) -> tuple[float, float, Array]:
    """The same without exponentials of distances; a class that is partly correct is a point on either side."""
    goals, rests = np.flatnonzero(inside > 0), np.flatnonzero(outside > 0)
    a, c = np.log(inside[goals]), np.log(outside[rests])
    attack, bound, heights = largest_log_odds(a, c, distance[np.ix_(goals, rests)])
    likelihood = np.min(distance[:, rests] + heights, axis=1)
    base = _log_odds(inside, outside)
    bound = min(bound - base, float(np.max(distance)))
    return min(max(attack - base, 0.0), bound), bound, likelihood


def shortest_paths(distance: Array) -> Array:
    """The same distances with every detour that is shorter taken: what the constraints imply together."""
    distance = np.array(distance, dtype=np.float64)
    for k in range(len(distance)):
        np.minimum(distance, distance[:, k, None] + distance[None, k, :], out=distance)
    return distance


def _edges(distance: Array) -> tuple[Any, Any]:
    """The pairs that no third point lies between: the others follow from them."""
    n = len(distance)
    needed = ~np.eye(n, dtype=bool) & np.isfinite(distance)
    for k in range(n):
        through = distance[:, k, None] + distance[None, k, :] <= distance * (1 + 1e-13)
        through[k, :] = through[:, k] = False
        # Points at distance 0 from each other must not all stand in for one another.
        through &= (distance[:, k, None] > 0) & (distance[None, k, :] > 0)
        needed &= ~through
    rows, cols = np.nonzero(needed)
    return rows, cols


def _scaled(prior: Array, goal: Array, distance: Array, rows: Any, cols: Any) -> tuple[float, float, Array]:
    """Least mass outside per mass inside, in units of the best single tent so that nothing is tiny."""
    inside, outside = prior * goal, prior * (1 - goal)
    tents = -distance[goal > 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = _log_dot(inside, tents) - _log_dot(outside, tents)
    best = np.maximum(tents[int(np.argmax(odds))], -700.0)  # a floor keeps unconnected points in the program
    if np.max(odds) == np.inf:
        return np.inf, np.inf, best
    log_in, log_out = _log_dot(inside, best), _log_dot(outside, best)
    with np.errstate(divide="ignore"):
        a, o = np.exp(np.log(inside) + best - log_in), np.exp(np.log(outside) + best - log_out)
    ratio = np.exp(np.minimum(best[rows] - distance[rows, cols] - best[cols], 0.0))
    solution = _solve(o, a, rows, cols, ratio, np.zeros(len(rows)))
    base = np.log(inside.sum()) - np.log(outside.sum())
    if solution is None:
        return float(np.max(odds) - base), float(np.max(distance)), best
    m, y = solution
    vanished = np.any((inside > 0) & (a == 0))  # the check would not see this mass
    bound = 0.0 if vanished else _certified(o, a, rows, cols, ratio, y)
    likelihood = best + np.log(np.maximum(m, 1e-300))
    likelihood = np.min(distance + likelihood[None, :], axis=1)
    attack = max(float(_log_dot(inside, likelihood) - _log_dot(outside, likelihood)), float(np.max(odds)))
    start = float(log_in - log_out)
    proven = start - np.log(bound) if bound > 0 else np.inf
    proven = min(float(proven - base), float(np.max(distance)))
    return min(attack - float(base), proven), proven, likelihood


def _certified(o: Array, a: Array, rows: Any, cols: Any, ratio: Array, y: Array) -> float:
    """The largest μ with o − μ·a + Aᵀy ≥ 0, after shrinking y until that can hold."""
    transport = np.bincount(rows, ratio * y, o.size) - np.bincount(cols, y, o.size)
    stuck = (a == 0) & (transport < 0)
    shrink = float(np.min(o[stuck] / -transport[stuck], initial=1.0))
    some = a > 0
    return float(np.min((o + min(shrink, 1.0) * transport)[some] / a[some]))


def _near_one(prior: Array, goal: Array, distance: Array, rows: Any, cols: Any) -> tuple[float, float, Array]:
    """The advantage itself for small ε: L = 1 + τu, Σ prior·u = 0, so that nothing cancels."""
    inside = prior * goal
    p, q = float(inside.sum()), float((prior * (1 - goal)).sum())
    tau = float(np.expm1(np.max(distance)))
    if tau == 0:
        return 0.0, 0.0, np.zeros(prior.size)
    growth = np.exp(distance[rows, cols])
    room = np.expm1(distance[rows, cols]) / tau
    solution = _solve(-inside / p, prior, rows, cols, 1 / growth, room / growth, free=True)
    if solution is None:
        return 0.0, float(np.max(distance)), np.zeros(prior.size)
    u, y = solution
    transport = np.bincount(rows, y / growth, prior.size) - np.bincount(cols, y, prior.size)
    rest = inside / p - transport
    level = _weighted_median(rest / prior, prior)
    bound = p * tau * float(y @ (room / growth) + np.sum(np.abs(rest - level * prior)))
    # The solver keeps constraints to its own tolerance only: what it lets slip is pulled back below, so that the attack
    # is one. u is known to a few units; anything larger is no solution.
    likelihood = np.log1p(np.clip(tau * (u - prior @ u), -0.5, 1.0))
    likelihood = np.min(distance + likelihood[None, :], axis=1)
    excess = np.expm1(likelihood)
    mean = float(prior @ excess)
    attack = float(prior @ (goal * (excess - mean))) / (1 + mean)
    return _gain(min(attack, bound), p, q), _gain(bound, p, q), likelihood


def _weighted_median(values: Array, weight: Array) -> float:
    """The level that Σ weight·|values − level| likes best."""
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(weight[order]), 0.5 * weight.sum())])


def _gain(advantage: float, p: float, q: float) -> float:
    advantage = max(advantage, 0.0)
    return float(np.log1p(advantage / (p * (q - advantage)))) if advantage < q else np.inf


def _solve(
    cost: Array, fixed: Array, rows: Any, cols: Any, ratio: Array, room: Array, *, free: bool = False
) -> tuple[Array, Array] | None:
    """min cost·m with fixed·m = 1 (0 when free) and ratio·m_row − m_col ≤ room; (m, duals ≥ 0)."""
    program = EdgeProgram(cost, fixed, rows, cols, ratio, room, 0.0 if free else 1.0, free)
    return program.solved("choose", _OPTIONS)


def _log_dot(mass: Array, log_likelihood: Array) -> Any:
    """ln Σ mass·L over the last axis."""
    with np.errstate(divide="ignore"):
        return log_sum(np.log(mass) + log_likelihood)
