"""Answers without a prior, or with only one probability of it known: they hold for every prior that fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import GoalError, ParameterError, TrueValueError
from guessproof.risk.bracket import Bracket
from guessproof.risk.limits import largest_epsilon
from guessproof.risk.two_valued import partly_known_advantage, unknown_prior, worst_distance
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array, Mask
from guessproof.world.goals import Exactly, Goal, Within
from guessproof.world.line_form import LineForm
from guessproof.world.priors import PartlyKnown, Unknown


@dataclass(frozen=True)
class Priorless:
    """A goal under `unknown(…)` or `partly_known(…)`."""

    attribute: Attribute
    goal: Goal
    at: Any

    def __post_init__(self) -> None:
        if not isinstance(self.goal, (Within, Exactly)):
            raise GoalError("goal", self.goal, "needs a prior", "use within(…) or exactly(…), or give a prior")
        form = self.attribute.distance.line_form
        if form is None:
            raise ParameterError(
                "metric", self.attribute.metric, "needs a prior", "use Absolute(), Discrete(), Clamped(…)"
            )
        if isinstance(self.attribute.prior, PartlyKnown) and not form.is_straight:
            raise ParameterError(
                "metric", self.attribute.metric, "bends; a partly known prior does not", "use Absolute()"
            )
        if self.at is not None:
            low, high = self.attribute.prior.low, self.attribute.prior.high  # pyright: ignore[reportAttributeAccessIssue]
            if isinstance(self.at, str) or not np.all((np.asarray(self.at) >= low) & (np.asarray(self.at) <= high)):
                raise TrueValueError(
                    "at", self.at, "lies outside the prior's range", f"give a value in {low:g} … {high:g}"
                )

    @property
    def _form(self) -> LineForm:
        form = self.attribute.distance.line_form
        assert form is not None
        return form

    def advantage(self, epsilon: Array, both: bool) -> Bracket:
        """The largest advantage over every prior that fits."""
        if isinstance(self.attribute.prior, Unknown):
            with np.errstate(invalid="ignore"):  # with ε = 0 nothing is learned, however far apart values are
                apart = np.where(epsilon == 0, 0.0, epsilon * self._diameter)
            return unknown_prior(apart)
        sides = (False, True) if both else (False,)
        bound = np.max([self._partly(epsilon, down=down) for down in sides], axis=0)
        reached = np.max([self._reached(epsilon, down=down) for down in sides], axis=0)
        return Bracket.meet(
            np.minimum(reached, bound), bound, "partly known prior: three regions, the worst split in closed form"
        )

    def epsilon(self, advantage: Array | None, both: bool) -> Any:
        """The largest ε that keeps the advantage below a limit for every prior that fits."""
        assert advantage is not None
        if isinstance(self.attribute.prior, Unknown):
            with np.errstate(divide="ignore", invalid="ignore"):
                value = worst_distance(advantage) / self._diameter * (1 - 1e-15)
            value = np.where(np.isnan(value), 0.0 if np.isinf(self._diameter).all() else np.inf, value)
        else:
            sides = (False, True) if both else (False,)
            value = largest_epsilon(lambda e: np.max([self._partly(e, down=s) for s in sides], axis=0), advantage)
        return float(value) if value.ndim == 0 else value

    @property
    def _diameter(self) -> Array:
        """The largest distance between a correct and a wrong value of the range, for the worst true value."""
        if self.at is not None:
            return self._across(np.asarray(self.at, dtype=np.float64))
        # Both ends of the goal rise with the true value: nobody is further from the upper end than the lowest.
        low, high = self.attribute.range
        return np.max([self._across(np.asarray(t)) for t in (low, high)], axis=0)

    def _across(self, t: Array) -> Array:
        prior = self.attribute.prior
        assert isinstance(prior, (Unknown, PartlyKnown))
        low, high = np.asarray(prior.low), np.asarray(prior.high)
        lo, hi = self._goal(t)
        if np.all((lo <= low) & (hi >= high)):
            raise GoalError("goal", self.goal, "is certain: it covers the whole range", "choose a smaller radius")
        right = np.where(hi < high, self._apart(lo, high), 0.0)
        left = np.where(lo > low, self._apart(low, hi), 0.0)
        return np.maximum(left, right)

    def _goal(self, t: Array) -> tuple[Array, Array]:
        """The goal's ends within the range; around an infinite true value only that end."""
        prior = self.attribute.prior
        assert isinstance(prior, (Unknown, PartlyKnown))
        lo, hi = self.goal.edges(np.where(np.isinf(t), 0.0, t))[0]
        lo, hi = (np.where(np.isinf(t), t, end) for end in (lo, hi))
        return np.clip(lo, prior.low, prior.high), np.clip(hi, prior.low, prior.high)

    def _apart(self, x: Array, y: Array) -> Array:
        form = self._form
        with np.errstate(invalid="ignore"):
            return np.minimum(np.abs(form.psi(y) - form.psi(x)), form.cap) + form.step

    def _partly(self, epsilon: Array, *, down: bool) -> Array:
        prior, form = self.attribute.prior, self._form
        assert isinstance(prior, PartlyKnown)
        radius = self._radius
        ball = np.minimum(form.slopes[0] * (radius + prior.radius), form.cap) + form.step
        far = self._diameter
        ball = np.minimum(ball, far)
        with np.errstate(invalid="ignore"):
            ball, far = (np.nan_to_num(epsilon * d, nan=0.0, posinf=np.inf) for d in (ball, far))
        return partly_known_advantage(ball, far, prior.probability, goal_holds_ball=radius >= prior.radius, down=down)

    def _reached(self, epsilon: Array, *, down: bool) -> Array:
        """What priors with one value in each region reach, wherever the range leaves room for them."""
        prior = self.attribute.prior
        assert isinstance(prior, PartlyKnown)
        low, high = self.attribute.range
        near = [end + s * r for end in (low, high) for s in (-1, 1) for r in (0.0, self._radius, prior.radius)]
        truths = [np.clip(t, low, high) for t in near if np.isfinite(t)] or [np.asarray(0.0)]
        if self.at is not None:
            truths = [np.asarray(self.at, dtype=np.float64)]
        found = [self._reached_at(epsilon, t, a, down=down) for t in truths for a in self._goal(np.asarray(t))]
        return np.max(np.broadcast_arrays(*found), axis=0)

    def _reached_at(self, epsilon: Array, t: Array, a: Array, *, down: bool) -> Array:
        """The advantage with the goal's mass at `a` and each other region's at its furthest value from there."""
        prior = self.attribute.prior
        assert isinstance(prior, PartlyKnown)
        lo, hi = self._goal(t)
        ball = np.maximum(t - prior.radius, prior.low), np.minimum(t + prior.radius, prior.high)
        beyond = np.minimum(ball[0], lo), np.maximum(ball[1], hi)
        near, has_near = self._furthest(a, ball, (lo, hi))
        far, has_far = self._furthest(a, (prior.low, prior.high), beyond)
        # Where all of the ball is correct, its mass is the goal's, and lies in the ball.
        held, _ = self._furthest(np.clip(a, *ball), (prior.low, prior.high), beyond)
        with np.errstate(invalid="ignore"):
            near, far, held = (np.nan_to_num(epsilon * d, nan=0.0, posinf=np.inf) for d in (near, far, held))
        q = prior.probability
        three = partly_known_advantage(near, far, q, goal_holds_ball=False, down=down)
        two = partly_known_advantage(held, held, q, goal_holds_ball=True, down=down, only_ball=True)
        return np.where(has_far | (q == 1), np.where(has_near, three, two), 0.0)

    def _furthest(self, a: Array, ends: tuple[Any, Any], limits: tuple[Array, Array]) -> tuple[Array, Mask]:
        """The largest distance from `a` to an end that lies beyond its limit, and whether there is one."""
        left, right = np.asarray(ends[0]), np.asarray(ends[1])
        has_left, has_right = left < limits[0], right > limits[1]
        gaps = np.where(has_left, self._apart(left, a), 0.0), np.where(has_right, self._apart(a, right), 0.0)
        return np.maximum(*gaps), has_left | has_right

    @property
    def _radius(self) -> float:
        if isinstance(self.goal, Within):
            if self.goal.radius is None:
                raise GoalError("goal", self.goal, "a percentage needs a prior", "give a radius")
            return self.goal.radius
        return 0.0
