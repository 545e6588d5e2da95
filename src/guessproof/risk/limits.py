"""From gains to beliefs, and from limits on belief back to ε.

Engines differ in how they find the gain, ln(posterior odds / prior odds); what follows from it is the same for all and
stands here. Throughout, p is the prior probability of the goal and q = 1 − p, computed on its own, so that it keeps its
digits when p is close to 1: nothing cancels for tiny or nearly certain priors. The way back is a monotone search that
ends on the private side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import GoalError, InfeasibleError, NotCertifiedError, ParameterError
from guessproof.risk.bracket import Bracket, Effort
from guessproof.world.checks import LARGEST, Array, floats, quiet, real
from guessproof.world.line import expit

RELATIVE = 1e-11  # how close to the true root the answer is driven
ROUNDING = 1e-15  # of a limit, relative: what lies closer is not told apart from it
# The ends of the search, in ln epsilon: a limit that holds at the last nothing can break, and one that is broken even
# at the first is kept by 0 alone, since some bounds stay above the prior.
FIRST, LAST = -200 * math.log(10), 100 * math.log(10)
ROUNDS = 300  # of the search
HALVED = 5  # rounds, of which one halves what is left, where a bound is flat and then jumps
MOST_LOG = 750.0  # of a ratio of floating-point numbers
COSTLY = 1e-4  # relative: close enough where a look takes long
SAME = 1e-12  # of a belief, relative: a limit below the prior by less is equal to it
LARGEST_FALL = 700.0  # in ln odds: e^x is finite
POWER = 0.8  # of epsilon in a bound, until two values say more

Gain = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Belief:
    """A goal's prior (ln p, ln(1−p)) and its signed gain: k = ±ε → (attack, bound)."""

    log_p: Array
    log_q: Array
    gain: Gain
    how: str
    relative: float = RELATIVE  # how closely an ε is worth looking for

    def __post_init__(self) -> None:
        if np.any(np.isneginf(self.log_p)):
            raise GoalError(
                "goal",
                "P(goal) = 0",
                "the goal is empty under the prior",
                "choose a goal that can be met",
            )
        if np.any(np.isneginf(self.log_q)):
            raise GoalError(
                "goal",
                "P(goal) = 1",
                "the goal is certain under the prior",
                "choose a narrower goal",
            )

    @property
    def turned(self) -> Belief:
        """The same of all that is not the goal: it gains what the goal loses."""

        def gain(k: Array) -> tuple[Array, Array]:
            attack, bound = self.gain(-k)
            return -attack, -bound

        return replace(self, log_p=self.log_q, log_q=self.log_p, gain=gain)

    def posterior(self, epsilon: Array, side: str, effort: Effort | None = None) -> Bracket:
        """The largest or smallest belief at each ε."""
        if side not in ("upper", "lower"):
            raise ParameterError("side", side, "is not a side", "say 'upper' or 'lower'")
        gains = np.stack(self.gain(epsilon if side == "upper" else -epsilon))
        attack, bound = posterior_of(self.log_p, self.log_q, gains)
        return Bracket.meet(attack, bound, self.how)

    def advantage(
        self, epsilon: Array, both: bool = False, effort: Effort | None = None
    ) -> Bracket:
        """How far the belief can rise, or with both=True move either way."""
        attack, bound = self._moves(epsilon, both)
        return Bracket.meet(attack, bound, self.how)

    def _moves(self, epsilon: Array, both: bool) -> Array:
        """The largest move that is reached, and the largest that is possible."""
        sides = [self, self.turned] if both else [self]
        moves = [advantage_of(s.log_p, s.log_q, np.stack(s.gain(epsilon))) for s in sides]
        return np.max(moves, axis=0)

    def epsilon(
        self,
        advantage: Any = None,
        both: bool = False,
        posterior: Any = None,
        effort: Effort | None = None,
        *,
        start: float = 1.0,
    ) -> Any:
        """The largest ε at which every limit is proven to hold; `start` is where the search begins."""
        found: list[Array] = []
        if posterior is not None:
            before = posterior_of(self.log_p, self.log_q, 0.0)
            if np.any(posterior < before * (1 - SAME)):
                raise InfeasibleError(
                    f"posterior: the belief is {float(np.max(before)):.6g} before any release, above the "
                    f"limit {float(np.min(posterior)):.6g}; allow a higher belief or a narrower goal"
                )
            rise = np.where(np.less(posterior, 1), posterior - before, 1.0)
            found.append(self._largest(rise, False, start))
        if advantage is not None:
            found.append(self._largest(advantage, both, start))
        return least_of(found)

    def _largest(self, limit: Any, both: bool, start: float) -> Array:
        most, rest = np.exp([self.log_q, self.log_p])
        if both:
            most, rest = np.maximum(most, rest), np.minimum(most, rest)

        def gain(move: Any) -> Array:
            """Of a move, which rises about like a power of ε; infinite where the move cannot be larger."""
            with quiet():
                return np.where(move < most, np.log1p(move / (most - move) / rest), np.inf)

        aim = np.asarray(limit) * (1 - ROUNDING)
        return largest_epsilon(
            lambda epsilon: gain(self._moves(epsilon, both)[1]),
            np.where(aim < most * (1 - 2 * ROUNDING), gain(aim), np.inf),
            start=start,
            relative=self.relative,
        )


def posterior_of(log_p: ArrayLike, log_q: ArrayLike, gain: ArrayLike) -> Array:
    """The belief after a gain.

    >>> float(posterior_of(np.log(0.25), np.log(0.75), np.log(3)).round(12))
    0.5
    """
    return expit(np.subtract(log_p, log_q) + gain)


def advantage_of(log_p: ArrayLike, log_q: ArrayLike, gain: ArrayLike) -> Array:
    """Belief after minus belief before: q·(1 − e^{−gain}) times the belief after.

    >>> float(advantage_of(np.log(0.25), np.log(0.75), np.log(3)).round(12))
    0.25
    """
    gain = np.maximum(floats(gain), -LARGEST_FALL)
    share = -np.expm1(-gain) * np.exp(floats(log_q))
    return share * posterior_of(log_p, log_q, gain)


def least_of(found: Sequence[Any]) -> Any:
    """The least ε of several, elementwise."""
    least = np.min(np.broadcast_arrays(*found), axis=0)
    return float(least) if least.ndim == 0 else least


def checked_epsilon(epsilon: Any) -> Array:
    """ε ≥ 0, one number or an array."""
    value = _array("epsilon", epsilon)
    if np.any(value < 0) or not np.all(value <= LARGEST):
        raise ParameterError(
            "epsilon",
            epsilon,
            "is negative or not finite",
            "give an ε of 0 or more, below 1e100",
        )
    return value


def checked_factor(factor: Any) -> float:
    """How wrong a prior may be: 1 or more, math.inf for any."""
    value = math.inf if factor == math.inf else real(ParameterError, "prior_factor", factor)
    if value < 1:
        raise ParameterError(
            "prior_factor",
            factor,
            "is below 1",
            "give the factor on odds, 1 for the declared prior",
        )
    return value


def checked_limits(advantage: Any, posterior: Any) -> tuple[Array | None, Array | None]:
    """At least one limit, each a probability."""
    if advantage is None and posterior is None:
        raise ParameterError(
            "limit",
            None,
            "no limit was given",
            "give an advantage, as 0.05, or a posterior, as 0.3",
        )
    return _probability("advantage", advantage), _probability("posterior", posterior)


def _probability(field: str, value: Any) -> Array | None:
    if value is None:
        return None
    array = _array(field, value)
    if not np.all((array >= 0) & (array <= 1)):
        remedy = "give a difference of probabilities, as 0.1"
        if array.ndim == 0 and 1 < array <= 100:
            remedy = f"for {array:g} % write {array / 100:g}"
        raise ParameterError(field, value, "is not between 0 and 1", remedy)
    return array


def _array(field: str, value: Any) -> Array:
    try:
        array = np.asarray(value)
        if array.dtype.kind in "iuf" and not np.any(np.isnan(array)):
            return floats(array)
    except ValueError:  # rows of different lengths
        pass
    raise ParameterError(
        field, value, "is not a number", "give a number or an array of numbers"
    )


def largest_epsilon(
    bound: Callable[[Array], Array],
    limit: Array,
    *,
    start: float = 1.0,
    relative: float = RELATIVE,
) -> Array:
    """The largest ε with bound(ε) ≤ limit, elementwise, never above the true one; inf if nothing breaks it.

    `bound` rises from 0 in ε; it is called with arrays of the limit's shape. Over short ranges it is about a power of
    ε, so the search is one on logarithms: regula falsi, in which an end that stays counts half as much each time
    (Illinois). What is returned was asked, and kept the limit.

    >>> largest_epsilon(lambda e: 2 * e, np.array([1.0, 3.0])).round(9)
    array([0.5, 1.5])
    """
    limit = floats(limit)
    todo, epsilon = (limit > 0) & (limit < np.inf), np.zeros(limit.shape)
    x = np.full(limit.shape, np.clip(math.log(start), FIRST + 1, LAST - 1))
    # ln ε on either side of the limit, with about ln(bound/limit) there.
    low, high = np.full_like(x, FIRST), np.full_like(x, LAST)
    f_low, f_high = POWER * (low - x), POWER * (high - x)
    was_kept = np.full_like(x, np.nan)
    for i in range(ROUNDS):
        asked = np.exp(x)
        with quiet():  # what is not defined breaks the limit
            value = bound(asked)
            f = np.maximum(np.fmin(np.log(value / limit), MOST_LOG), -MOST_LOG)
            kept = value <= limit
        less = np.where(kept == was_kept, 0.5, 1.0)
        f_low = np.where(kept, np.minimum(f, -ROUNDING), less * f_low)
        f_high = np.where(kept, less * f_high, f)
        low, high, was_kept = np.where(kept, x, low), np.where(kept, high, x), kept
        epsilon, width = np.where(kept, asked, epsilon), high - low
        todo = todo & (width > relative)
        if not todo.any():
            break
        edge = np.minimum(0.25 * relative / width, 0.5)
        share = np.clip(f_low / (f_low - f_high), edge, 1 - edge)
        # So that the search ends; an end that was never asked says nothing of the middle.
        halved = (i % HALVED == HALVED - 1) & (low > FIRST) & (high < LAST)
        share = np.where(halved, 0.5, share)
        x = np.where(todo, low + share * width, x)
    else:
        raise NotCertifiedError(
            "the search for the largest epsilon did not end; please report the question"
        )
    epsilon = np.where((limit == np.inf) | (high == LAST), np.inf, epsilon)
    return np.where(limit > 0, epsilon, 0.0)
