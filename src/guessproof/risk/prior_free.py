"""Answers without a prior, or with only one probability of it known: they hold for every prior that fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.errors import GoalError, ParameterError, TrueValueError
from guessproof.risk.bracket import Bracket
from guessproof.risk.combinations import axis_labels
from guessproof.risk.limits import largest_epsilon
from guessproof.risk.two_valued import (
    partly_known_advantage,
    worst_advantage,
    worst_distance,
    worst_prior,
)
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array, Mask
from guessproof.world.finite import Finite
from guessproof.world.goals import Among, Exactly, Goal, Within
from guessproof.world.priors import PartlyKnown, Unknown

BACK = 1e-15  # relative: rounding of an ε in closed form
Span = tuple[Array, Array]


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
        if isinstance(prior, Unknown) and prior.values:
            return
        if not isinstance(self.goal, (Within, Exactly)):
            raise GoalError(
                "goal",
                self.goal,
                "needs a prior",
                "use within(…) or exactly(…), or give a prior",
            )
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
        prior = self._prior
        if isinstance(prior, Unknown):
            far = _times(epsilon, self._diameter)
            value, how = (
                worst_advantage(far),
                "unknown prior: tanh(εR/4), reached by two values a distance R apart",
            )
            return Bracket.meet(value, value, how, worst_prior=worst_prior(far))
        bound = self._bound(prior, epsilon, both)
        reached = _larger(lambda down: self._reached(prior, epsilon, down), both)
        how = "partly known prior: three regions, the worst split in closed form"
        return Bracket.meet(np.minimum(reached, bound), bound, how)

    def epsilon(self, advantage: Array, both: bool, *unused: Any) -> Any:
        """The largest ε that keeps the advantage below a limit for every prior that fits."""
        prior = self._prior
        if isinstance(prior, Unknown):
            with np.errstate(divide="ignore", invalid="ignore"):
                value = worst_distance(advantage) / self._diameter * (1 - BACK)
            value = np.where(
                np.isnan(value), 0.0 if np.isinf(self._diameter).all() else np.inf, value
            )
        else:
            value = largest_epsilon(
                lambda epsilon: self._bound(prior, epsilon, both), advantage
            )
        return float(value) if value.ndim == 0 else value

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
        if not isinstance(self.goal, (Exactly, Among)):
            raise GoalError(
                "goal",
                self.goal,
                "needs a prior",
                "use exactly(…) or among(…), or give a prior",
            )
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
        goal = self._goal(t)
        if np.all((goal[0] <= self._range[0]) & (goal[1] >= self._range[1])):
            raise GoalError(
                "goal",
                self.goal,
                "is certain: it covers the whole range",
                "choose a smaller radius",
            )
        return np.maximum(*(self._furthest(end, self._range, goal)[0] for end in goal))

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

    def _bound(self, prior: PartlyKnown, epsilon: Array, both: bool) -> Array:
        """No prior that fits exceeds this: all of each region lies as far from the goal's mass as it can."""
        radius = self._radius
        ball = self.attribute.distance.distance(0.0, radius + prior.radius)
        near = _times(epsilon, np.minimum(ball, self._diameter))
        far, q, holds = (
            _times(epsilon, self._diameter),
            prior.probability,
            radius >= prior.radius,
        )
        return _larger(
            lambda down: partly_known_advantage(near, far, q, goal_holds_ball=holds, down=down),
            both,
        )

    def _reached(self, prior: PartlyKnown, epsilon: Array, down: bool) -> Array:
        """What priors with one value in each region reach, wherever the range leaves room for them."""
        moved = [0.0, self._radius, -self._radius, prior.radius, -prior.radius]
        near = np.add.outer(self.attribute.range, moved)
        truths = list(np.clip(near[np.isfinite(near)], *self.attribute.range)) or [
            np.asarray(0.0)
        ]
        truths = truths if self.at is None else self._truths
        found = [
            self._reached_at(prior, epsilon, t, a, down)
            for t in truths
            for a in self._goal(np.asarray(t))
        ]
        return np.max(np.broadcast_arrays(*found), axis=0)

    def _reached_at(
        self, prior: PartlyKnown, epsilon: Array, t: Array, a: Array, down: bool
    ) -> Array:
        """The advantage with the goal's mass at `a` and each other region's at its furthest value from there."""
        goal, q = self._goal(t), prior.probability
        ball = np.maximum(t - prior.radius, prior.low), np.minimum(t + prior.radius, prior.high)
        beyond = np.minimum(ball[0], goal[0]), np.maximum(ball[1], goal[1])
        near, has_near = self._furthest(a, ball, goal)
        far, has_far = self._furthest(a, self._range, beyond)
        # Where all of the ball is correct, its mass is the goal's, and lies in the ball.
        held, _ = self._furthest(np.clip(a, *ball), self._range, beyond)
        near, far, held = (_times(epsilon, distance) for distance in (near, far, held))
        three = partly_known_advantage(near, far, q, goal_holds_ball=False, down=down)
        two = partly_known_advantage(
            held, held, q, goal_holds_ball=True, down=down, only_ball=True
        )
        return np.where(has_far | (q == 1), np.where(has_near, three, two), 0.0)

    def _furthest(self, a: Array, ends: Span, limits: Span) -> tuple[Array, Mask]:
        """The largest distance from `a` to an end that lies beyond its limit, and whether there is one."""
        beyond = ends[0] < limits[0], ends[1] > limits[1]
        with np.errstate(invalid="ignore"):
            left, right = (
                np.where(is_beyond, self.attribute.distance.distance(end, a), 0.0)
                for is_beyond, end in zip(beyond, ends, strict=True)
            )
        return np.maximum(left, right), beyond[0] | beyond[1]


def _larger(of: Callable[[bool], Array], both: bool) -> Array:
    """The largest rise, or with `both` move either way."""
    return np.maximum(of(False), of(True)) if both else of(False)


def _times(epsilon: Array, distance: Array) -> Array:
    """ε·d; with ε = 0 nothing is learned, however far apart values are."""
    with np.errstate(invalid="ignore"):
        return np.where(epsilon == 0, 0.0, epsilon * distance)
