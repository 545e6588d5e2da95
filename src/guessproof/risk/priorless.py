"""Answers without a prior, or with only one probability of it known: they hold for every prior that fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import GoalError, ParameterError, TrueValueError
from guessproof.risk.bracket import Bracket
from guessproof.risk.invert import largest_epsilon
from guessproof.risk.two_valued import partly_known_advantage, unknown_prior, worst_distance
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
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
            return unknown_prior(epsilon * self._diameter)
        value = self._partly(epsilon, down=False)
        if both:
            value = np.maximum(value, self._partly(epsilon, down=True))
        return Bracket.meet(value, value, "partly known prior: three regions, the worst split in closed form")

    def epsilon(self, advantage: Array | None, both: bool) -> Any:
        """The largest ε that keeps the advantage below a limit for every prior that fits."""
        assert advantage is not None
        if isinstance(self.attribute.prior, Unknown):
            with np.errstate(divide="ignore", invalid="ignore"):
                value = worst_distance(advantage) / self._diameter * (1 - 1e-15)
            value = np.where(np.isnan(value), 0.0 if np.isinf(self._diameter).all() else np.inf, value)
        else:
            value = largest_epsilon(lambda e: np.asarray(self.advantage(e, both).bound), advantage)
        return float(value) if value.ndim == 0 else value

    @property
    def _diameter(self) -> Array:
        """The largest distance between a correct and a wrong value of the range."""
        prior = self.attribute.prior
        assert isinstance(prior, (Unknown, PartlyKnown))
        low, high = np.asarray(prior.low), np.asarray(prior.high)
        if self.at is None:
            return self._apart(low, high)
        lo, hi = self.goal.edges(self.at)[0]
        lo, hi = np.maximum(lo, low), np.minimum(hi, high)
        if np.all((lo <= low) & (hi >= high)):
            raise GoalError("goal", self.goal, "is certain: it covers the whole range", "choose a smaller radius")
        right = np.where(hi < high, self._apart(lo, high), 0.0)
        left = np.where(lo > low, self._apart(low, hi), 0.0)
        return np.maximum(left, right)

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

    @property
    def _radius(self) -> float:
        if isinstance(self.goal, Within):
            if self.goal.radius is None:
                raise GoalError("goal", self.goal, "a percentage needs a prior", "give a radius")
            return self.goal.radius
        return 0.0
