"""Beliefs whose odds are wrong by a factor: what that makes of them, and how large the factor may be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from guessproof.risk.bracket import Bracket
from guessproof.world.line import expit

LARGEST_FACTOR = 1e9  # a larger one is no longer told from any prior at all
_ENDS = 2.0 ** -np.arange(10, 4, -1)
_SHARES = np.unique([*np.linspace(0.0, 1.0, 25), *_ENDS, *(1 - _ENDS)])  # of a goal, dense at both ends


def with_odds(bracket: Bracket, factor: float) -> Bracket:
    """Beliefs whose odds are multiplied: what the worst wrong prior makes of them, exactly."""

    how = f"{bracket.how}; odds times {factor:g}" if bracket.how else f"odds times {factor:g}"
    return Bracket.meet(
        with_odds_of(bracket.attack, factor),
        with_odds_of(bracket.bound, factor),
        how,
        worst_at=bracket.worst_at,
        worst_prior=bracket.worst_prior,
    )


def with_odds_of(belief: Any, factor: Any) -> Any:
    """A belief whose odds are multiplied."""
    p = np.asarray(belief, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return expit(np.log(p) - np.log1p(-p) + np.log(factor))


def most_moved(before: Any, after: Any, least: Any, factor: float) -> Any:
    """How far a belief rises at most under a wrong prior, by what it is declared before and can be declared after.

    Where the mean of h over the goal is 1 + (κ−1)m, the odds before are that by κ times the declared ones, or more.
    Those after are 1 + (κ−1)m' times as large at most, m' being the same with what the release makes of the goal: no
    more than m/(m + (1−m)·least), where the release is nowhere in the goal less likely than `least` times elsewhere in
    it. Both beliefs are concave in m: between two values the one after lies below its tangent midway, the one before
    above its chord, and their difference is largest at an end.
    """
    low, high = (shares.reshape(-1, *(1,) * np.ndim(before)) for shares in (_SHARES[:-1], _SHARES[1:]))
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    told = middle + (1 - middle) * least
    grown = 1 + (factor - 1) * middle / told
    top = with_odds_of(after, grown)
    slope = top * (1 - top) * (factor - 1) * least / np.square(told) / grown
    ends = ((top + way * half * slope, with_odds_of(before, (1 + (factor - 1) * end) / factor))
            for way, end in ((-1, low), (1, high)))  # fmt: skip
    return np.max([tangent - chord for tangent, chord in ends], axis=(0, 1))


def posterior_before(posterior: Any, factor: float) -> Any:
    """The belief that becomes this one when its odds are multiplied."""
    return with_odds_of(posterior, 1 / factor)


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
    return math.inf if belief == 0 else max(1.0, limit * (1 - belief) / (belief * (1 - limit)) * (1 - 1e-12))


def rounded_down(factor: float) -> float:
    """Four digits, never more than what was proven: more would say more than anybody knows of a prior."""
    if math.isinf(factor) or factor <= 1:
        return factor
    unit = 10.0 ** (math.floor(math.log10(factor)) - 3)
    down = math.floor(factor / unit) * unit
    return max(1.0, float(f"{down:.4g}") if float(f"{down:.4g}") <= factor else down)
