"""From gains to beliefs, and from limits on belief back to ε.

Engines differ in how they find the gain; what follows from it is the same for all and stands here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.errors import GoalError, InfeasibleError, ParameterError
from guessproof.risk import odds
from guessproof.risk.bracket import Bracket
from guessproof.risk.invert import largest_epsilon
from guessproof.world.checks import LARGEST, Array

Gain = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Belief:
    """A goal's prior (ln p, ln(1−p)) and its signed gain: k = ±ε → (attack, bound)."""

    log_p: Array
    log_q: Array
    gain: Gain
    how: str

    def __post_init__(self) -> None:
        if np.any(np.isneginf(self.log_p)):
            raise GoalError("goal", "P(goal) = 0", "the goal is empty under the prior", "choose a goal that can be met")
        if np.any(np.isneginf(self.log_q)):
            raise GoalError("goal", "P(goal) = 1", "the goal is certain under the prior", "choose a narrower goal")


def posterior_bracket(belief: Belief, epsilon: Array, side: str) -> Bracket:
    """The largest or smallest belief at each ε."""
    if side not in ("upper", "lower"):
        raise ParameterError("side", side, "is not a side", "say 'upper' or 'lower'")
    attack, bound = belief.gain(epsilon if side == "upper" else -epsilon)
    attack, bound = (odds.posterior(belief.log_p, belief.log_q, g) for g in (attack, bound))
    return Bracket.meet(attack, bound, belief.how)


def advantage_bracket(belief: Belief, epsilon: Array, both: bool) -> Bracket:
    """How far the belief can rise, or with both=True move either way."""
    attack, bound = (odds.advantage(belief.log_p, belief.log_q, g) for g in belief.gain(epsilon))
    if both:
        down = [-odds.advantage(belief.log_p, belief.log_q, g) for g in belief.gain(-epsilon)]
        attack, bound = np.maximum(attack, down[0]), np.maximum(bound, down[1])
    return Bracket.meet(attack, bound, belief.how)


def safe_epsilon(
    belief: Belief, *, advantage: Any = None, posterior: Any = None, both: bool = False, start: float = 1.0
) -> Any:
    """The largest ε at which every limit is proven to hold; `start` is where the search begins."""
    advantage, posterior = checked_limits(advantage, posterior)
    answers: list[Array] = []
    if posterior is not None:
        log_prior_odds = belief.log_p - belief.log_q
        with np.errstate(divide="ignore"):
            limit = np.log(posterior) - np.log1p(-posterior) - log_prior_odds
        if np.any(limit < -1e-12):
            raise InfeasibleError(
                f"posterior: the belief is {float(np.max(np.exp(belief.log_p))):.6g} before any release, above the "
                f"limit {float(np.min(posterior)):.6g}; allow a higher belief or a narrower goal"
            )
        answers.append(_invert(belief, +1, np.maximum(limit, 0.0), start))
    if advantage is not None:
        answers.append(_invert(belief, +1, odds.gain_of_advantage(belief.log_p, belief.log_q, advantage), start))
        if both:
            answers.append(_invert(belief, -1, odds.gain_of_advantage(belief.log_q, belief.log_p, advantage), start))
    epsilon = np.min(np.broadcast_arrays(*answers), axis=0)
    return float(epsilon) if epsilon.ndim == 0 else epsilon


def _invert(belief: Belief, sign: int, limit: Array, start: float) -> Array:
    shape = np.broadcast_shapes(np.shape(limit), np.shape(belief.log_p))

    def bound(epsilon: Array) -> Array:
        return sign * belief.gain(sign * epsilon)[1]

    return largest_epsilon(bound, np.broadcast_to(limit, shape), start=start)


def checked_epsilon(epsilon: Any) -> Array:
    """ε ≥ 0, one number or an array."""
    value = _array("epsilon", epsilon)
    if np.any(value < 0) or not np.all(value <= LARGEST):
        raise ParameterError("epsilon", epsilon, "is negative or not finite", "give an ε of 0 or more, below 1e100")
    return value


def checked_limits(advantage: Any, posterior: Any) -> tuple[Array | None, Array | None]:
    """At least one limit, each a probability."""
    if advantage is None and posterior is None:
        raise ParameterError("limit", None, "no limit was given", "give advantage=… or posterior=…")
    checked: list[Array | None] = []
    for field, value in (("advantage", advantage), ("posterior", posterior)):
        array = None if value is None else _array(field, value)
        if array is not None and not np.all((array >= 0) & (array <= 1)):
            raise ParameterError(field, value, "is not between 0 and 1", "give a difference of probabilities, as 0.1")
        checked.append(array)
    return checked[0], checked[1]


def _array(field: str, value: Any) -> Array:
    if isinstance(value, (bool, str, bytes)):
        raise ParameterError(field, value, "is not a number", "give a number or an array of numbers")
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(field, value, "is not a number", "give a number or an array of numbers") from None
    if np.any(np.isnan(array)):
        raise ParameterError(field, value, "is not a number", "give a number, not NaN")
    return array
