"""Answers without a prior, or with only one probability of it known: they hold for every prior that fits.

Where only the largest distance R of two values is known (an unknown prior, ordinary differential privacy), the largest
advantage is tanh(εR/4), reached by two values a distance R apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import GoalError, ParameterError, TrueValueError
from guessproof.risk.bracket import Bracket
from guessproof.risk.combinations import axis_labels
from guessproof.risk.limits import largest_epsilon, least_of
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array, Pair, quiet
from guessproof.world.finite import Finite
from guessproof.world.goals import Among, Exactly, Goal, Within
from guessproof.world.priors import PartlyKnown, Unknown

Span = tuple[Array, Array]


def worst_advantage(distance: ArrayLike) -> Array:
    """The largest advantage over all priors when values are at most `distance` = ε·R apart: tanh(εR/4).

    >>> float(worst_advantage(0.4013413909243025).round(12))
    0.1
    """
    return np.tanh(np.asarray(distance, dtype=np.float64) / 4)


def worst_distance(advantage: ArrayLike) -> Array:
    """The εR at which some prior reaches this advantage: 4·artanh(η).

    >>> float(worst_distance(0.1).round(12))
    0.401341390924
    """
    with quiet():
        return 4 * np.arctanh(np.asarray(advantage, dtype=np.float64))


def worst_prior(distance: ArrayLike) -> Array:
    """The prior probability that gains most: 1/(1 + e^{εR/2})."""
    with quiet():  # 0 where e^{…} is infinite
        return 1 / (1 + np.exp(np.asarray(distance, dtype=np.float64) / 2))


@dataclass(frozen=True)
class PriorFree:
    """A goal under `unknown(…)` or `partly_known(…)`."""

    attribute: Attribute
    goal: Goal
    at: Any

    def __post_init__(self) -> None:
        prior, metric, form = (
            self._prior,
            self.attribute.metric,
            self.attribute.distance.line_form,
        )
        listed = isinstance(prior, Unknown) and bool(prior.values)
        if not isinstance(self.goal, (Exactly, Among if listed else Within)):
            words = "exactly(…) or among(…)" if listed else "within(…) or exactly(…)"
            raise GoalError("goal", self.goal, "needs a prior", f"use {words}, or give a prior")
        if listed:
            return
        if form is None:
            raise ParameterError(
                "metric", metric, "needs a prior", "use Absolute(), Discrete(), Clamped(…)"
            )
        if isinstance(prior, PartlyKnown) and not form.is_straight:
            raise ParameterError(
                "metric", metric, "bends; a partly known prior does not", "use Absolute()"
            )
        if isinstance(self.at, str) or not np.array_equal(
            at := self._truths[-1], np.clip(at, *self._range)
        ):
            remedy = f"give a value in {prior.low:g} … {prior.high:g}"
            raise TrueValueError("at", self.at, "lies outside the prior's range", remedy)

    @property
    def _truths(self) -> list[Array]:
        """The true values that stand for all: both ends of the range, or the stated one."""
        truths = self.attribute.range if self.at is None else (self.at,)
        return [np.asarray(t, dtype=np.float64) for t in truths]

    @property
    def _prior(self) -> Unknown | PartlyKnown:
        prior = self.attribute.prior
        assert isinstance(prior, (Unknown, PartlyKnown))
        return prior

    def advantage(self, epsilon: Array, both: bool, *unused: Any) -> Bracket:
        """The largest advantage over every prior that fits."""
        prior, bound = self._prior, self._bound(epsilon, both)
        if isinstance(prior, Unknown):
            before = worst_prior(_times(epsilon, self._diameter))
            how = "unknown prior: tanh(εR/4), reached by two values a distance R apart"
            return Bracket.meet(bound, bound, how, worst_prior=before)
        reached = _larger(lambda down: self._reached(prior, epsilon, down), both)
        how = "partly known prior: three regions, the worst split in closed form"
        return Bracket.meet(np.minimum(reached, bound), bound, how)

    def epsilon(self, advantage: Array, both: bool, *unused: Any) -> Any:
        """The largest ε that keeps the advantage below a limit for every prior that fits."""
        shape = np.broadcast_shapes(advantage.shape, self._diameter.shape)
        limit = np.broadcast_to(advantage, shape)
        return least_of([largest_epsilon(lambda epsilon: self._bound(epsilon, both), limit)])

    @cached_property
    def _diameter(self) -> Array:
        """The largest distance between a correct and a wrong value of the range, for the worst true value."""
        prior = self._prior
        if not isinstance(prior, Unknown) or not prior.values:
            # Both ends of the goal rise with the true value: nobody is further from the upper end than the lowest.
            return np.max([self._across(t) for t in self._truths], axis=0)
        listed = Finite.of(dict.fromkeys(prior.values, 1.0))
        labels = axis_labels(listed)
        apart = self.attribute.distance.distance(labels[:, None], labels[None, :])
        rows = [
            self.goal.chosen(listed, t) > 0
            for t in (prior.values if self.at is None else (self.at,))
        ]
        if all(row.all() for row in rows):
            raise GoalError(
                "goal", self.goal, "is certain: it names every value", "choose fewer values"
            )
        return np.asarray(np.max([np.max(apart[row][:, ~row]) for row in rows]))

    @property
    def _range(self) -> Span:
        return np.asarray(self._prior.low), np.asarray(self._prior.high)

    def _across(self, t: Array) -> Array:
        """How far a wrong value is from a correct one at most."""
        (low, high), (start, stop) = self._range, self._goal(t)
        if np.all((start <= low) & (stop >= high)):
            raise GoalError(
                "goal",
                self.goal,
                "is certain: it covers the whole range",
                "choose a smaller radius",
            )
        away = self.attribute.distance.distance
        left = np.where(start > low, away(low, stop), 0.0)
        return np.maximum(left, np.where(stop < high, away(start, high), 0.0))

    def _goal(self, t: Array) -> Span:
        """The goal's ends within the range; around an infinite true value only that end."""
        ends = self.goal.edges(np.where(np.isinf(t), 0.0, t))[0]
        low, high = (np.clip(np.where(np.isinf(t), t, end), *self._range) for end in ends)
        return low, high

    @property
    def _radius(self) -> float:
        radius = self.goal.radius if isinstance(self.goal, Within) else 0.0
        if radius is None:
            raise GoalError("goal", self.goal, "a percentage needs a prior", "give a radius")
        return radius

    def _bound(self, epsilon: Array, both: bool) -> Array:
        """No prior that fits exceeds this: all of each region lies as far from the goal's mass as it can."""
        prior, far = self._prior, _times(epsilon, self._diameter)
        if isinstance(prior, Unknown):
            return worst_advantage(far)
        q, holds = prior.probability, self._radius >= prior.radius
        ball = self.attribute.distance.distance(0.0, self._radius + prior.radius)
        near = far if holds else np.minimum(_times(epsilon, ball), far)
        goal = (q, 1.0) if holds else (0.0, q)
        return _larger(lambda down: _three_regions((near, far), q, goal, down), both)

    def _reached(self, prior: PartlyKnown, epsilon: Array, down: bool) -> Array:
        """What priors with one value in each region reach: the goal's, and both others on its other side."""
        (low, high), q, away = self._range, prior.probability, self.attribute.distance.distance
        radius, (first, last) = self._radius, self.attribute.range
        lesser, holds = min(radius, prior.radius), radius >= prior.radius
        truths = np.clip([first, first + lesser, last - lesser, last], first, last)
        truths = [*truths[np.isfinite(truths)]] or [np.zeros(())]
        found: list[Array] = []
        for t, end in product(self._truths if self.at is not None else truths, (low, high)):
            side = np.where(end > t, 1.0, -1.0)
            place = np.clip(t - side * lesser, low, high)
            ball = np.clip(t + side * prior.radius, low, high)
            far = _times(epsilon, away(place, end))
            near = far if holds else _times(epsilon, away(place, ball))
            value = _three_regions((near, far), q, (q, q) if holds else (0.0, q), down)
            exist = (q == 1) | (abs(end - t) > max(radius, prior.radius))
            found.append(np.where(exist & (holds | (abs(ball - t) > radius)), value, 0.0))
        return np.max(np.broadcast_arrays(*found), axis=0)


def _three_regions(distances: tuple[Array, Array], q: float, goal: Pair, down: bool) -> Array:
    """The largest advantage where P(ball around t) = q, and the goal's mass p is between two values.

    The goal's mass is at one point, q − p at distance `near` = ε·(r + R') from it, 1 − q at distance `far`. With K =
    q·e^{−near} + (1−q)·e^{−far} the posterior is p/(p(1 − e^{−near}) + K), and the advantage is largest at p =
    (√K − K)/(1 − e^{−near}), or at the nearest p that the goal allows. Falling beliefs: the same with e^{+…}.
    Everything is written in 1 − e^{−…}, so that small ε keep their digits. A goal that holds the ball has near = far.
    """
    sign = -1.0 if down else 1.0
    with quiet():
        # 1 − e^{−d}, or e^{d} − 1 for falling beliefs.
        near, away = (-sign * np.expm1(-sign * d) for d in distances)
        change = q * near + (1 - q) * away
        k = 1 - sign * change
        root = np.sqrt(np.maximum(k, 0.0))
        p = root * change / ((1 + root) * near)
        p = np.clip(np.where(np.isfinite(p), p, goal[int(down)]), *goal)
        shift = change - p * near
        scaled = shift / (1 - sign * shift)
    # All the rest infinitely far away: a rising belief becomes certain, a falling one vanishes.
    scaled = np.where(np.isfinite(shift), scaled, 1.0)
    return np.where((k <= 0) & (not down), 1 - p, p * scaled)


def _larger(of: Callable[[bool], Array], both: bool) -> Array:
    """The largest rise, or with `both` move either way."""
    return np.maximum(of(False), of(True)) if both else of(False)


def _times(epsilon: Array, distance: Array) -> Array:
    """ε·d; with ε = 0 nothing is learned, however far apart values are."""
    with quiet():
        return np.where(epsilon == 0, 0.0, epsilon * distance)
