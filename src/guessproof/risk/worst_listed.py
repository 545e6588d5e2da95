"""The worst true value beside a finite prior, one after the other: values without an order, distances without a ψ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.errors import GoalError
from guessproof.risk.limits import Belief, advantage_of, gain_of_advantage, largest_epsilon, posterior_of
from guessproof.risk.single import belief_of
from guessproof.risk.truth_ends import Worst
from guessproof.risk.truth_search import Direction
from guessproof.risk.truths import true_values_of
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal

_FEW = 8  # true values that are searched together
_ROUNDS = 30
_BACK = 4e-12
_LARGEST = 1e100


def measure_gain(log_p: Array, log_q: Array, gain: Array, direction: Direction) -> Array:
    """What is to be as large as possible, from a gain; where the goal is certain or empty nothing can be learnt."""
    with np.errstate(invalid="ignore"):
        if direction == "posterior":
            after = posterior_of(log_p, log_q, gain)
            return np.where(np.isneginf(log_q), 1.0, np.where(np.isneginf(log_p), 0.0, after))
        value = np.abs(advantage_of(log_p, log_q, gain))
    return np.where(np.isneginf(log_q) | np.isneginf(log_p), 0.0, value)


def gain_limit(log_p: Any, log_q: Any, limit: Any, direction: Direction) -> Array:
    """The size of the gain at which a limit is reached; 0 where the belief is above it from the start."""
    if direction == "posterior":
        with np.errstate(divide="ignore"):
            return np.maximum(np.log(limit) - np.log1p(-np.asarray(limit)) - (log_p - log_q), 0.0)
    return gain_of_advantage(*((log_p, log_q) if direction == "rise" else (log_q, log_p)), limit)


@dataclass(frozen=True, eq=False)
class Listed:
    """True values tried one by one."""

    attribute: Attribute
    goal: Goal

    @cached_property
    def values(self) -> tuple[list[Any], list[Any]]:
        """True values at which the goal is open, and those at which it is certain; one for each set of guesses."""
        prior = self.attribute.prior
        assert isinstance(prior, Finite)
        open_: dict[bytes, Any] = {}
        certain: list[Any] = []
        for value in true_values_of(self.attribute, self.goal):
            chosen = self.goal.chosen(prior, value)
            if (1 - chosen) @ prior.mass <= 0:
                certain.append(value)
            elif chosen @ prior.mass > 0:
                open_.setdefault(chosen.tobytes(), value)
        return list(open_.values()), certain

    @cached_property
    def belief(self) -> Belief:
        labels = np.empty(len(self.values[0]), dtype=object)
        labels[:] = self.values[0]
        return belief_of(self.attribute, self.goal, labels)

    def worst(self, epsilon: float, direction: Direction) -> Worst:
        """The worst of all true values."""
        open_, certain = self.values
        if certain and direction == "posterior":
            return Worst(certain[0], 1.0, 1.0, 1.0)
        some_open(len(open_), bool(certain))
        pair = self.belief.gain(np.asarray(-epsilon if direction == "fall" else epsilon))
        attack, bound = (measure_gain(self.belief.log_p, self.belief.log_q, g, direction) for g in pair)
        best = int(np.argmax(attack))
        return Worst(open_[best], float(attack[best]), float(np.max(bound)), float(np.exp(self.belief.log_p[best])))

    def epsilon(self, limit: float, direction: Direction) -> float:
        """The largest ε at which no true value exceeds the limit."""
        open_, certain = self.values
        if certain and direction == "posterior" and limit < 1:
            return 0.0
        some_open(len(open_), bool(certain))
        sign = -1 if direction == "fall" else 1
        most = gain_limit(self.belief.log_p, self.belief.log_q, limit, direction)
        followed = self._followed(most, sign) if len(open_) > _FEW else None
        if followed is not None:
            return followed
        return float(np.min(largest_epsilon(lambda e: sign * self.belief.gain(sign * e)[1], most)))

    def _followed(self, most: Array, sign: int) -> float | None:
        """The same by solving for one true value after the other; None where that does not settle.

        Each is the one that exceeds what it may gain by most at the ε of the last one, and allows less than that. What
        is returned was proven for every true value.
        """
        trial, row = np.inf, int(np.argmin(most))
        for _ in range(_ROUNDS):
            alone = belief_of(self.attribute, self.goal, self.values[0][row])
            found = float(largest_epsilon(lambda e, one=alone: sign * one.gain(sign * e)[1], most[row]))
            trial = found if found < trial else trial * (1 - _BACK)  # no worse one: only rounding
            if not 0 < trial < _LARGEST:
                return None
            excess = sign * self.belief.gain(np.asarray(sign * trial))[1] - most
            if np.all(excess <= 0):
                return trial
            row = int(np.argmax(excess))
        return None


def some_open(count: int, certain: bool) -> None:
    """Refuse a goal that leaves nothing to learn about anybody."""
    if not count:
        problem = "is certain for every true value" if certain else "is empty for every true value"
        raise GoalError("goal", "P(goal) = 1" if certain else "P(goal) = 0", problem, "choose another radius")
