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
from guessproof.risk.bracket import Bracket
from guessproof.world.checks import LARGEST, Array, floats, quiet, real
from guessproof.world.line import expit

RELATIVE = 1e-11  # how close to the true root the answer is driven
ROUNDING = 1e-15  # of a bound, relative: one that does not rise may be at the limit itself
BACK = 4e-12  # taken off at the end: more than rounding in the limit itself can hide
LARGEST_EPSILON = 1e100  # a limit that holds even here is one that nothing can break
LEAST_EPSILON = (
    1e-200  # one that is broken even here is kept by 0 alone: some bounds stay above the prior
)
ROUNDS = 300  # of the search
FIRST_STEP = 4.0  # of ln epsilon while only one side of the limit is known; doubled each time
OVERSHOOT = 1.05  # so that the limit then lies between two values
MOST_LOG = 750.0  # of a ratio of floating-point numbers
COSTLY = 1e-4  # relative: who asks for no more gets an epsilon at which the limit is predicted to be reached
POWER = 0.8  # of epsilon in a bound, until two values say more
SHY = 0.1  # how far below the limit the search stays, as a share of how close the answer is wanted

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


def posterior_of(log_p: ArrayLike, log_q: ArrayLike, gain: ArrayLike) -> Array:
    """The belief after a gain.

    >>> float(posterior_of(np.log(0.25), np.log(0.75), np.log(3)).round(12))
    0.5
    """
    return expit(np.subtract(log_p, log_q) + gain)


def advantage_of(log_p: ArrayLike, log_q: ArrayLike, gain: ArrayLike) -> Array:
    """Belief after minus belief before, p·q·(ρ−1)/(q + p·ρ) with ρ = e^gain.

    >>> float(advantage_of(np.log(0.25), np.log(0.75), np.log(3)).round(12))
    0.25
    """
    size, up = np.abs(gain), np.greater_equal(gain, 0)
    with quiet():  # p/(p + q·e^{−|gain|}), and of a fall the same with p and q exchanged
        odds = np.where(up, np.subtract(log_p, log_q), np.subtract(log_q, log_p))
        moved = -np.expm1(-size) * np.exp(np.where(up, log_q, log_p)) * expit(odds + size)
    return np.where(up, moved, -moved)


def gain_of_advantage(log_p: ArrayLike, log_q: ArrayLike, advantage: ArrayLike) -> Array:
    """The gain that raises the belief by exactly this much; +inf where no gain does.

    >>> float(np.exp(gain_of_advantage(np.log(0.25), np.log(0.75), 0.25)).round(12))
    3.0
    """
    p, q, rise = np.exp(log_p), np.exp(log_q), floats(advantage)
    with quiet():
        return np.log1p(rise / p) - np.log1p(-np.minimum(rise / q, 1.0))


def posterior_bracket(belief: Belief, epsilon: Array, side: str) -> Bracket:
    """The largest or smallest belief at each ε."""
    if side not in ("upper", "lower"):
        raise ParameterError("side", side, "is not a side", "say 'upper' or 'lower'")
    gains = np.stack(belief.gain(epsilon if side == "upper" else -epsilon))
    attack, bound = posterior_of(belief.log_p, belief.log_q, gains)
    return Bracket.meet(attack, bound, belief.how)


def advantage_bracket(belief: Belief, epsilon: Array, both: bool) -> Bracket:
    """How far the belief can rise, or with both=True move either way."""
    sides = [belief, belief.turned] if both else [belief]
    moves = [advantage_of(s.log_p, s.log_q, np.stack(s.gain(epsilon))) for s in sides]
    attack, bound = np.max(moves, axis=0)
    return Bracket.meet(attack, bound, belief.how)


def safe_epsilon(
    belief: Belief,
    *,
    advantage: Any = None,
    posterior: Any = None,
    both: bool = False,
    start: float = 1.0,
) -> Any:
    """The largest ε at which every limit is proven to hold; `start` is where the search begins."""
    advantage, posterior = checked_limits(advantage, posterior)
    log_p, log_q = belief.log_p, belief.log_q
    found: list[Array] = []
    if posterior is not None:
        with quiet():
            limit = np.log(posterior) - np.log1p(-posterior) - (log_p - log_q)
        if np.any(limit < -1e-12):
            raise InfeasibleError(
                f"posterior: the belief is {float(np.max(np.exp(log_p))):.6g} before any release, above the "
                f"limit {float(np.min(posterior)):.6g}; allow a higher belief or a narrower goal"
            )
        found.append(_invert(belief, np.maximum(limit, 0.0), start))
    if advantage is not None:
        found.append(_invert(belief, gain_of_advantage(log_p, log_q, advantage), start))
        if both:
            limit = gain_of_advantage(log_q, log_p, advantage)
            found.append(_invert(belief.turned, limit, start))
    return least_of(found)


def least_of(found: Sequence[Any]) -> Any:
    """The least ε of several, elementwise."""
    least = np.min(np.broadcast_arrays(*found), axis=0)
    return float(least) if least.ndim == 0 else least


def _invert(belief: Belief, limit: Array, start: float) -> Array:
    limit = np.broadcast_to(limit, np.broadcast_shapes(limit.shape, belief.log_p.shape))
    return largest_epsilon(
        lambda epsilon: belief.gain(epsilon)[1], limit, start=start, relative=belief.relative
    )


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
    if factor == math.inf:
        return math.inf
    value = real(ParameterError, "prior_factor", factor)
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
    checked: list[Array | None] = []
    for field, value in (("advantage", advantage), ("posterior", posterior)):
        array = None if value is None else _array(field, value)
        if array is not None and not np.all((array >= 0) & (array <= 1)):
            remedy = "give a difference of probabilities, as 0.1"
            if array.ndim == 0 and 1 < array <= 100:
                remedy = f"for {float(array):g} % write {float(array) / 100:g}"
            raise ParameterError(field, value, "is not between 0 and 1", remedy)
        checked.append(array)
    return checked[0], checked[1]


def _array(field: str, value: Any) -> Array:
    problem, remedy = "is not a number", "give a number or an array of numbers"
    if isinstance(value, (bool, str, bytes)):
        raise ParameterError(field, value, problem, remedy)
    try:
        array = floats(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(field, value, problem, remedy) from None
    if np.any(np.isnan(array)):
        raise ParameterError(field, value, problem, "give a number, not NaN")
    return array


def largest_epsilon(
    bound: Callable[[Array], Array],
    limit: Array,
    *,
    start: float = 1.0,
    relative: float = RELATIVE,
) -> Array:
    """The largest ε with bound(ε) ≤ limit, elementwise, never above the true one; inf if nothing breaks it.

    `bound` rises from 0 in ε; it is called with arrays of the limit's shape. Over short ranges it is about a power of
    ε, so the search is one on logarithms: a secant between both sides of the limit, and the middle where the last look
    came less than twice as close. It ends on the side that keeps the limit.

    >>> largest_epsilon(lambda e: 2 * e, np.array([1.0, 3.0])).round(9)
    array([0.5, 1.5])
    """
    limit = floats(limit)
    todo = (limit > 0) & (limit < np.inf)
    aim = np.where(todo, limit, 1.0) * (1 + ROUNDING)
    least, most = math.log(LEAST_EPSILON), math.log(LARGEST_EPSILON)
    shy = SHY * relative if relative >= COSTLY else 0.0
    x, step, last = np.full(limit.shape, math.log(start)), FIRST_STEP, np.inf
    # ln ε on either side of the limit, with ln(bound/limit) there: NaN where there is none yet.
    low, f_low, high, f_high = np.full((4, *limit.shape), np.nan)
    was_kept = np.zeros(limit.shape, dtype=np.bool_)
    for _ in range(ROUNDS):
        with quiet():
            value = bound(np.exp(x))
            f, kept = np.clip(np.log(value / aim), -MOST_LOG, MOST_LOG), value <= aim
            # Of the other end less counts each time that it stays (Anderson and Björck 1973).
            less = 1 - f / np.where(kept, f_low, f_high)
            less = np.where(less > 0, less, 0.5)
            less = np.where(kept == was_kept, less, 1.0)
            f_low, f_high = np.where(kept, f, f_low * less), np.where(kept, f_high * less, f)
            low, high, was_kept = np.where(kept, x, low), np.where(kept, high, x), kept
            width, share = high - low, f_low / (f_low - f_high)
            closed = np.isfinite(width)
            is_quick, last = np.abs(f) < last / 2, np.where(closed, np.abs(f), np.inf)
            todo = todo & ~((width <= relative) | (low >= most) | (high <= least))
            todo &= ~(kept & (share * width < 2 * shy))
            if not todo.any():
                break
            share = np.where(is_quick & np.isfinite(share), share - shy / width, 0.5)
            edge = np.minimum(0.25 * relative / width, 0.5)
            inside = low + np.clip(share, edge, 1 - edge) * width
            away = np.clip(np.abs(f) / POWER * OVERSHOOT, 0.01 * step, step)
            outside = np.clip(x + np.where(kept, away, -away), least, most)
            x = np.where(todo, np.where(closed, inside, outside), x)
            step = 2 * step
    else:
        raise NotCertifiedError(
            "the search for the largest epsilon did not end; please report the question"
        )
    epsilon = np.where(low < most, np.exp(low) * (1 - BACK), np.inf)
    epsilon = np.where((limit > 0) & ~np.isnan(low), epsilon, 0.0)
    return np.where(limit == np.inf, np.inf, epsilon)
