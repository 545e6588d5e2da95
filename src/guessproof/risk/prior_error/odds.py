"""Beliefs whose odds are wrong by a factor: what that makes of them, and a bound for any world.

Under a prior h·f with 1 ≤ h ≤ κ the prior odds are anything between o/κ and o·κ. Within the goal, where ln L varies
by at most w, h changes the mean of L by a factor of at most e^{τ(w, ln κ)} (`pieces.spread`), outside likewise: so the
gain in ln odds is at most the declared one plus both, and posterior odds are at most κ times the declared ones.
"""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context
from typing import Any

import numpy as np

from guessproof.risk.bracket import Bracket
from guessproof.risk.limits import advantage_of
from guessproof.world.checks import Array
from guessproof.world.line import expit
from guessproof.world.pieces import spread

ROUNDING = 1e-12  # of beliefs and factors in closed form
DIGITS = 4  # of a factor that is shown: more would say more than anybody knows of a prior


def log_odds(p: Any) -> Array:
    """ln p/(1−p)."""
    with np.errstate(divide="ignore"):
        return np.log(p) - np.log1p(-np.asarray(p))


def with_factor(bracket: Bracket, factor: float) -> Bracket:
    """Beliefs whose odds are multiplied: what the worst wrong prior makes of them, exactly."""
    how = f"{bracket.how}; odds times {factor:g}" if bracket.how else f"odds times {factor:g}"
    attack, bound = (
        posterior_before(belief, 1 / factor) for belief in (bracket.attack, bracket.bound)
    )
    return Bracket.meet(
        attack, bound, how, worst_at=bracket.worst_at, worst_prior=bracket.worst_prior
    )


def posterior_before(posterior: Any, factor: float) -> Any:
    """The belief that becomes this one when its odds are multiplied."""
    return expit(log_odds(posterior) - np.log(factor))


def as_declared(worst: float, factor: float) -> float:
    """A belief of the worst prior as one of the declared prior, to be shown beside such a one; the same without an end.

    >>> round(as_declared(0.353, 1.5), 4), as_declared(0.353, 1.0)
    (0.2667, 0.353)
    """
    return float(posterior_before(worst, factor)) if 1 < factor < math.inf else worst


def factor_between(belief: float, limit: float) -> float:
    """By what the odds of a belief may be multiplied until it reaches a limit; 0 where it is above it already."""
    if limit >= 1:
        return math.inf
    if belief > limit:
        return 0.0
    return (
        math.inf
        if belief == 0
        else max(1.0, float(np.exp(log_odds(limit) - log_odds(belief))) * (1 - ROUNDING))
    )


def rounded_down(factor: float) -> float:
    """Four digits, never more than what was proven."""
    context = Context(prec=DIGITS, rounding=ROUND_FLOOR)
    return max(min(factor, 1.0), float(context.create_decimal_from_float(factor)))


def left_to_move(least: float, factor: float) -> float:
    """How far a belief can rise at most, from the least declared ln odds."""
    return min(float(expit(math.log(factor) - least)) * (1 + ROUNDING), 1.0)


def largest_rise(log_odds: float, gain: float, factor: float, width: float = 0.0) -> float:
    """The largest rise from prior odds within the factor, to at most it times the declared odds after.

    `gain` is the declared one; where ln L varies by up to `width`, what the factor adds to it comes on top.
    """
    room = math.log(factor)
    larger = max(
        gain, min(gain + 2 * float(spread(np.asarray(width), np.asarray(room))), width)
    )
    if math.isinf(room):
        return math.tanh(larger / 4)
    if math.isinf(gain):
        return float(expit(room - log_odds))
    highest = log_odds + room + gain  # after
    before = min(max(min(-larger / 2, highest - larger), log_odds - room), log_odds + room)
    rise = min(before + larger, highest) - before
    return float(advantage_of(-np.logaddexp(0.0, -before), -np.logaddexp(0.0, before), rise))
