"""From gains to beliefs, and from limits on belief back to ε.

Engines differ in how they find the gain, ln(posterior odds / prior odds); what follows from it is the same for all and
stands here. Throughout, p is the prior probability of the goal and q = 1 − p, computed on its own, so that it keeps its
digits when p is close to 1: nothing cancels for tiny or nearly certain priors. The way back is a monotone search that
ends on the private side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import GoalError, InfeasibleError, ParameterError
from guessproof.risk.bracket import Bracket
from guessproof.risk.roots import next_fraction
from guessproof.world.checks import LARGEST, Array, Mask, real
from guessproof.world.line import expit

RELATIVE = 1e-11  # how close to the true root the answer is driven
_BACK = 4e-12  # taken off at the end: more than rounding in the limit itself can hide
_LEVEL = 1e-12  # a rise, as a share of the limit, that is none
_LARGEST = 1e100  # a limit that holds even here is one that nothing can break
_LEAST = 1e-200  # one that is broken even here is kept by 0 alone: some bounds stay above what is believed before
_STUCK = 0.01  # a fall, as a share of the bound, that is hardly one where ε is halved
_DOWN = 1e-20  # the step that is tried then

_COSTLY, _LOOKS = (1e-4, 3e-3), 12  # how close bounds that take long are looked for: more would be noise, less is quick
_ENOUGH = 4  # looks after which what is asked for is enough, and no more is hoped for
_POWER = 0.7  # of ε in a bound, before two looks tell
_SHY = 0.05  # how far below the limit a look stays, as a share of how close the answer is wanted

Excess = Callable[[Array], Array]
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
            raise GoalError("goal", "P(goal) = 0", "the goal is empty under the prior", "choose a goal that can be met")
        if np.any(np.isneginf(self.log_q)):
            raise GoalError("goal", "P(goal) = 1", "the goal is certain under the prior", "choose a narrower goal")

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
    p, q, size = np.exp(log_p), np.exp(log_q), np.abs(np.asarray(gain, dtype=np.float64))
    rise = -np.expm1(-size)
    with np.errstate(invalid="ignore"):  # p/(p + q·e^{−|gain|}), and the same with p and q exchanged
        up = q * rise * expit(np.subtract(log_p, log_q) + size)
        down = -p * rise * expit(np.subtract(log_q, log_p) + size)
    return np.where(np.asarray(gain) >= 0, up, down)


def gain_of_advantage(log_p: ArrayLike, log_q: ArrayLike, advantage: ArrayLike) -> Array:
    """The gain that raises the belief by exactly this much; +inf where no gain does.

    >>> float(np.exp(gain_of_advantage(np.log(0.25), np.log(0.75), 0.25)).round(12))
    3.0
    """
    p, q, rise = np.exp(log_p), np.exp(log_q), np.asarray(advantage, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.log1p(rise / p) - np.log1p(-np.minimum(rise / q, 1.0))
    return np.where(rise >= q, np.inf, gain)


def posterior_bracket(belief: Belief, epsilon: Array, side: str) -> Bracket:
    """The largest or smallest belief at each ε."""
    if side not in ("upper", "lower"):
        raise ParameterError("side", side, "is not a side", "say 'upper' or 'lower'")
    attack, bound = belief.gain(epsilon if side == "upper" else -epsilon)
    attack, bound = (posterior_of(belief.log_p, belief.log_q, g) for g in (attack, bound))
    return Bracket.meet(attack, bound, belief.how)


def advantage_bracket(belief: Belief, epsilon: Array, both: bool) -> Bracket:
    """How far the belief can rise, or with both=True move either way."""
    attack, bound = (advantage_of(belief.log_p, belief.log_q, g) for g in belief.gain(epsilon))
    if both:
        down = [-advantage_of(belief.log_p, belief.log_q, g) for g in belief.gain(-epsilon)]
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
        answers.append(_invert(belief, +1, gain_of_advantage(belief.log_p, belief.log_q, advantage), start))
        if both:
            answers.append(_invert(belief, -1, gain_of_advantage(belief.log_q, belief.log_p, advantage), start))
    epsilon = np.min(np.broadcast_arrays(*answers), axis=0)
    return float(epsilon) if epsilon.ndim == 0 else epsilon


def _invert(belief: Belief, sign: int, limit: Array, start: float) -> Array:
    shape = np.broadcast_shapes(np.shape(limit), np.shape(belief.log_p))

    def bound(epsilon: Array) -> Array:
        return sign * belief.gain(sign * epsilon)[1]

    return largest_epsilon(bound, np.broadcast_to(limit, shape), start=start, relative=belief.relative)


def checked_epsilon(epsilon: Any) -> Array:
    """ε ≥ 0, one number or an array."""
    value = _array("epsilon", epsilon)
    if np.any(value < 0) or not np.all(value <= LARGEST):
        raise ParameterError("epsilon", epsilon, "is negative or not finite", "give an ε of 0 or more, below 1e100")
    return value


def checked_factor(factor: Any) -> float:
    """How wrong a prior may be: 1 or more, math.inf for any."""
    if factor == math.inf:
        return math.inf
    value = real(ParameterError, "prior_factor", factor)
    if value < 1:
        raise ParameterError("prior_factor", factor, "is below 1", "give the factor on odds, 1 for the declared prior")
    return value


def checked_limits(advantage: Any, posterior: Any) -> tuple[Array | None, Array | None]:
    """At least one limit, each a probability."""
    if advantage is None and posterior is None:
        raise ParameterError("limit", None, "no limit was given", "give an advantage, as 0.05, or a posterior, as 0.3")
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
    if isinstance(value, (bool, str, bytes)):
        raise ParameterError(field, value, "is not a number", "give a number or an array of numbers")
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(field, value, "is not a number", "give a number or an array of numbers") from None
    if np.any(np.isnan(array)):
        raise ParameterError(field, value, "is not a number", "give a number, not NaN")
    return array


def largest_epsilon(
    bound: Callable[[Array], Array], limit: Array, *, start: float = 1.0, relative: float = RELATIVE
) -> Array:
    """The largest ε with bound(ε) ≤ limit, elementwise, never above the true one; inf if nothing breaks it.

    `bound` rises from 0 in ε; it is called with arrays of the limit's shape.

    >>> largest_epsilon(lambda e: 2 * e, np.array([1.0, 3.0])).round(9)
    array([0.5, 1.5])
    """
    shape, limit = limit.shape, limit.ravel()

    def excess(epsilon: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return bound(epsilon.reshape(shape)).ravel() - limit

    ready = (limit > 0) & np.isfinite(limit)
    if _COSTLY[0] <= relative <= _COSTLY[1] and limit.size == 1 and ready.all():
        found = by_few_looks(lambda e: float(bound(np.full(shape, e)).item()), float(limit[0]), start, relative)
        if found is not None:
            return np.full(shape, found * (1 - _BACK))
    low, high, f_low, f_high = _bracket(excess, limit, ready, start)
    broken = ready & (high <= _LEAST)
    closed = ready & np.isfinite(high) & ~broken
    low = _close_in(excess, low, high, f_low, f_high, closed, relative)
    epsilon = np.where(closed, low * (1 - _BACK), np.where((limit > 0) & ~broken, np.inf, 0.0))
    return epsilon.reshape(shape)


def by_few_looks(bound: Callable[[float], float], limit: float, start: float, relative: float) -> float | None:
    """An ε that keeps the limit, about as close to the largest as asked for; None where looks do not lead there.

    Over short ways a bound is about a power of ε: the last two looks say which, and where it reaches the limit. The
    next look goes a little below, so that it is the last one if that is right.
    """
    low, high, looks = 0.0, math.inf, list[tuple[float, float]]()
    for _ in range(_LOOKS):
        at = start if not looks else math.exp(_reached(looks) - _SHY * relative)
        if low and (at <= low * (1 + _SHY * relative) or high <= low):
            return low
        if low and len(looks) >= _ENOUGH and high <= low * (1 + relative):  # a bound that is rough is no power of ε
            return low
        if not low < at < high:
            at = math.sqrt(low * high)
        if not 0 < at < math.inf:
            return None
        found = bound(at)
        if not 0 < found < math.inf:
            return None
        low, high = (max(low, at), high) if found <= limit else (low, min(high, at))
        looks.append((math.log(at), math.log(found / limit)))
    return None


def _reached(looks: list[tuple[float, float]]) -> float:
    """Where a power of ε reaches the limit, as ln ε: through the nearest looks on both sides of it, or on one."""
    kept, broken = ([look for look in looks if (look[1] <= 0) == below] for below in (True, False))
    nearest = [*sorted(kept)[-1:], *sorted(broken)[:1]]
    if len(nearest) == 1:
        nearest = sorted(looks, key=lambda look: abs(look[1]))[:2]
    (x, y), *other = nearest
    power = (other[0][1] - y) / (other[0][0] - x) if other and other[0][0] != x else _POWER
    return x - float(np.clip(y / min(max(power, 0.2), 5.0), -2.0, 2.0))


def _bracket(excess: Excess, limit: Array, ready: Mask, start: float) -> tuple[Array, Array, Array, Array]:
    """Two values of ε between which the limit is crossed; the upper one infinite where it never is."""
    low, high = np.zeros(limit.shape), np.full(limit.shape, np.inf)
    f_low, f_high = -limit, np.full(limit.shape, np.inf)
    trial = np.full(limit.shape, start)
    for _ in range(200):
        open_ = ready & (np.isinf(high) | (low == 0)) & (low < _LARGEST) & (high > _LEAST)
        if not open_.any():
            break
        f = excess(trial)
        kept, broken = open_ & (f <= 0), open_ & ~(f <= 0)
        # The bound is roughly proportional to ε at first, which tells about where the limit is reached.
        with np.errstate(divide="ignore", invalid="ignore"):
            level = kept & (low > 0) & (f - f_low <= _LEVEL * limit)
            stuck = broken & np.isfinite(high) & (f_high - f <= _STUCK * (f + limit))
            share = np.nan_to_num(limit / (f + limit), nan=1.0, posinf=1e6)
        # One that stands still will hardly move again.
        up = np.minimum(np.where(level, 1e6, np.clip(1.3 * share, 2.0, 1e6)) * trial, _LARGEST)
        low, f_low = np.where(kept, trial, low), np.where(kept, f, f_low)
        high, f_high = np.where(broken, trial, high), np.where(broken, f, f_high)
        down = np.where(stuck, _DOWN, np.clip(0.7 * share, 1e-9, 0.5)) * trial
        trial = np.where(open_, np.where(np.isinf(high), up, down), trial)
    return low, high, f_low, f_high


def _close_in(
    excess: Excess, low: Array, high: Array, f_low: Array, f_high: Array, todo: Mask, relative: float
) -> Array:
    """Chandrupatla's method on all elements at once; returns the end at which the limit is kept.

    Not SciPy's elementwise find_root: it asks both ends again and drops finished elements, which takes a third longer
    for one limit and cannot follow a bound of a fixed shape.
    """
    a, fa = np.where(todo, low, 1.0), np.where(todo, f_low, -1.0)
    b, fb = np.where(todo, high, 2.0), np.where(todo, np.minimum(f_high, 1e300), 1.0)
    c, fc = a, fa
    t = np.full(a.shape, 0.5)
    for _ in range(200):
        if not todo.any():
            break
        x = a + t * (b - a)
        f = np.nan_to_num(excess(x), nan=1e300, posinf=1e300)
        same = (f <= 0) == (fa <= 0)
        c, fc = np.where(todo, np.where(same, a, b), c), np.where(todo, np.where(same, fa, fb), fc)
        b, fb = np.where(todo & ~same, a, b), np.where(todo & ~same, fa, fb)
        a, fa = np.where(todo, x, a), np.where(todo, f, fa)
        width = np.abs(b - a)
        todo = todo & (width > relative * np.maximum(np.abs(a), np.abs(b)))
        t = next_fraction(a, b, c, fa, fb, fc, 0.25 * relative * np.abs(a) / np.maximum(width, 1e-300))
    return np.where(fa <= 0, a, b)
