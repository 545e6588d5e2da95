"""Beliefs whose odds are wrong by a factor: what that makes of them, and how large the factor may be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from guessproof.risk.bracket import Bracket
from guessproof.world.line import expit

LARGEST_FACTOR = 1e9  # a larger one is no longer told from any prior at all


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


def with_odds_of(belief: Any, factor: float) -> Any:
    """A belief whose odds are multiplied."""
    p = np.asarray(belief, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return expit(np.log(p) - np.log1p(-p) + np.log(factor))


def posterior_before(posterior: Any, factor: float) -> Any:
    """The belief that becomes this one when its odds are multiplied."""
    return with_odds_of(posterior, 1 / factor)


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
