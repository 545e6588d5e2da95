"""Relative and absolute disclosure risk at one pair of priors, and the ε that a ratio allows.

The attacker sees three worlds: the person is in the data with a value in S, in the data with another
value, or not in the data, with prior (pq, p(1−q), 1−p). Adding or removing one record moves ln L by at
most ε, so the first two are 2ε apart and each is ε from the third. The worst release has
L = (1, e^{−2ε}, e^{−ε}), and everything below is Bayes' rule with that L.

[KR] is Kazan & Reiter, draft of 23 April 2023. Its Assumptions 1 and 2 are needed throughout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import ParameterError
from guessproof.risk.profile.checks import ROUNDING, Array, at_least_one, number, plain, probability, together

ASSUMPTIONS = (
    "the attacker knows the mechanism, and knows of its output only what the data say (Assumption 1)",
    "the attacker believes the other records to be independent of this one (Assumption 2)",
)
"""What every number of this package presupposes, for whoever prints one."""

ULP = 2.0**-53


@overload
def relative_risk(p: float, q: float, epsilon: float, bounded: bool = False) -> float: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def relative_risk(p: ArrayLike, q: ArrayLike, epsilon: ArrayLike, bounded: bool = False) -> Array: ...
def relative_risk(p: Any, q: Any, epsilon: Any, bounded: bool = False) -> Any:
    """The largest posterior-to-prior ratio that ε permits, [KR] Theorem 1 (27); attained, to rounding.

    p is the prior probability of being in the data, q that of a value in S given that. With ``bounded``
    ε counts the change of a record instead of its presence, which the attacker then knows: p must be 1.

    >>> round(relative_risk(p=0.05, q=0.3, epsilon=1.0), 6)
    2.708396
    >>> round(relative_risk(1, 0.25, math.log(3), bounded=True), 6)  # 1/(1/4 + 3/4/3)
    2.0
    """
    p, q, epsilon = _priors_and_epsilon(p, q, epsilon, bounded)
    with np.errstate(all="ignore"):
        return plain(1 / _total(p, q, np.exp(-epsilon / 2 if bounded else -epsilon)))


@overload
def absolute_risk(p: float, q: float, epsilon: float, bounded: bool = False) -> float: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def absolute_risk(p: ArrayLike, q: ArrayLike, epsilon: ArrayLike, bounded: bool = False) -> Array: ...
def absolute_risk(p: Any, q: Any, epsilon: Any, bounded: bool = False) -> Any:
    """The largest posterior probability of the disclosure, [KR] Definition 4 at the worst output.

    >>> round(absolute_risk(p=0.05, q=0.3, epsilon=1.0), 6)
    0.040626
    """
    p, q, epsilon = _priors_and_epsilon(p, q, epsilon, bounded)
    with np.errstate(all="ignore"):
        total = _total(p, q, np.exp(-epsilon / 2 if bounded else -epsilon))
        # Where total is 0 the prior is 0 too, and stays 0.
        return plain(np.minimum(p * q / np.where(total > 0, total, 1.0), 1.0))


@dataclass(frozen=True)
class RiskSplit:
    """[KR] eq. (6): how much of a relative risk comes from each question about a person."""

    inclusion: float
    """Posterior-to-prior ratio of being in the data; can be below 1."""
    value: float
    """Posterior-to-prior ratio of having a value in S, given being in the data."""

    @property
    def relative(self) -> float:
        """The product of the two: the relative risk itself."""
        return self.inclusion * self.value


def split_risk(p: float, q: float, epsilon: float) -> RiskSplit:
    """The worst relative risk, split into inclusion and value, [KR] eq. (6).

    >>> split = split_risk(p=0.05, q=0.3, epsilon=1.0)
    >>> round(split.inclusion, 4), round(split.value, 4), round(split.relative, 4)
    (1.0691, 2.5333, 2.7084)
    """
    p, q = probability("p", p), probability("q", q)
    shrink = math.exp(-_epsilon(epsilon))
    # P(this output | in the data), relative to the output's probability when the value is in S
    included = q + (1 - q) * shrink**2
    total = p * included + (1 - p) * shrink
    if included == 0 or total == 0:
        raise ParameterError("q", q, "what has prior 0 has no ratio at an infinite ε", "give a q above 0")
    return RiskSplit(inclusion=included / total, value=1 / included)


@overload
def epsilon_for_relative_risk(p: float, q: float, ratio: float, bounded: bool = False) -> float: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def epsilon_for_relative_risk(p: ArrayLike, q: ArrayLike, ratio: ArrayLike, bounded: bool = False) -> Array: ...
def epsilon_for_relative_risk(p: Any, q: Any, ratio: Any, bounded: bool = False) -> Any:
    """The largest ε that keeps the posterior-to-prior ratio, [KR] Theorem 2 (35), in a form without cases.

    With c = 1/ratio − pq it is ln(((1−p) + √((1−p)² + 4p(1−q)c)) / 2c), and +∞ where c ≤ 0: there even
    certainty keeps the ratio. Returned on the private side: never above the true value of these inputs,
    and short of it by rounding only. A ratio that means certainty up to rounding (1/ratio within 5e-16
    of pq, relatively) counts as certainty.

    >>> round(epsilon_for_relative_risk(p=0.05, q=1.0, ratio=3.0), 6)  # ln(0.95 / (1/3 - 0.05))
    1.209838
    >>> round(float(np.exp(epsilon_for_relative_risk(p=1e-9, q=0.5, ratio=4.0))), 6)  # p → 0: ε = ln(ratio)
    4.0
    >>> epsilon_for_relative_risk(p=0.5, q=1.0, ratio=2.0)
    inf
    """
    p, q, limit = together(p=(p, 0, 1), q=(q, 0, 1), ratio=(ratio, 1 - ROUNDING, np.inf))
    limit = np.maximum(limit, 1.0)
    if bounded:
        _require_certain_inclusion(p)
    with np.errstate(all="ignore"):
        return plain(implied_epsilon(p, q, limit) * (2 if bounded else 1))


def implied_epsilon(p: Array, q: Array, limit: Array) -> Array:
    """``epsilon_for_relative_risk`` without its checks; negative where the limit is below 1."""
    with np.errstate(all="ignore"):
        inverse = 1 / limit
        room = inverse - p * q
        # 1/limit and p·q each carry one rounding, and the smaller is below the larger.
        lost = 2 * ULP * inverse
        room = np.where(room <= 2 * lost, 0.0, room)
        rise = np.where(np.isinf(limit), 1.0, (limit - 1) / limit)
        return solve(absent=1 - p, other=p * (1 - q), room=room, rise=rise, room_error=lost)


def solve(
    *,
    absent: ArrayLike,
    other: ArrayLike,
    room: ArrayLike,
    rise: ArrayLike,
    room_error: ArrayLike,
    absent_error: ArrayLike = 0.0,
    other_error: ArrayLike = 0.0,
) -> Array:
    """−ln x for the positive root of other·x² + absent·x = room, rounded down; +∞ where room is 0.

    ``absent`` is 1−p, ``other`` p(1−q), ``room`` 1/r − pq and ``rise`` 1 − 1/r. For ε > ln 2 the root is
    taken as in theory §9; below, y = 1 − x is found from rise = (absent + 2·other)·y − other·y², which
    keeps a small ε accurate. What rounding can have moved is subtracted, by the implicit function theorem;
    the errors are those that the arguments carry beyond a few roundings relative to themselves.
    """
    absent, other, room, rise, room_error, absent_error, other_error = (
        np.asarray(value, dtype=np.float64)
        for value in (absent, other, room, rise, room_error, absent_error, other_error)
    )
    with np.errstate(all="ignore"):
        root = np.sqrt(absent**2 + 4 * other * room)
        large = np.log((absent + root) / (2 * room))
        x = np.exp(-large)
        # x·root is at least room, which does not underflow
        moved = (room_error + x**2 * other_error + x * absent_error) / np.maximum(x * root, room)
        lowered = np.fmax(large - 2 * moved - 16 * ULP * (1 + np.abs(large)), 0.0)

        slope = absent + 2 * other
        y = 2 * rise / (slope + np.sqrt(np.maximum(slope**2 - 4 * other * rise, 0.0)))
        small = -np.log1p(-y)
        moved = 2 * np.abs(y) * (absent_error + 2 * other_error) / ((1 - y) * (slope - 2 * other * y))
        small = small - moved - 64 * ULP * np.abs(small)
        # Where rounding could have eaten all of it, ε = 0 is the safe answer to a ratio of 1 or more.
        small = np.where(rise >= 0, np.fmax(small, 0.0), small)
    return np.where(room > 0, np.where(large < math.log(2), small, lowered), np.inf)


def absolute_from_relative(p: Any, q: Any, relative: Any) -> Any:
    """The posterior that a ratio allows, [KR] below (7): pq·r, and no more than 1.

    >>> round(absolute_from_relative(p=0.05, q=0.3, relative=3.0), 9)
    0.045
    """
    p, q, limit = together(p=(p, 0, 1), q=(q, 0, 1), relative=(relative, 0, np.inf))
    prior = p * q
    with np.errstate(all="ignore"):
        return plain(np.where(prior > 0, np.minimum(prior * limit, 1.0), 0.0))


def relative_from_absolute(p: Any, q: Any, absolute: Any) -> Any:
    """The ratio that a limit on the posterior allows, [KR] below (7): a/(pq). Below 1 it cannot be kept.

    >>> round(relative_from_absolute(p=0.05, q=0.3, absolute=0.1), 6)
    6.666667
    """
    p, q, posterior = together(p=(p, 0, 1), q=(q, 0, 1), absolute=(absolute, 0, 1))
    prior = p * q
    if np.any(prior == 0):
        raise ParameterError("p", plain(p), "a prior of 0 has no ratio", "give p and q above 0")
    with np.errstate(all="ignore"):
        return plain(np.asarray(posterior / prior))


def survey_inclusion(n: float, N: float) -> float:
    """The prior probability of being in a simple random sample of n out of N people, [KR] below (12).

    >>> survey_inclusion(n=500, N=10_000)
    0.05
    """
    size, population = number("n", n), number("N", N)
    if size <= 0:
        raise ParameterError("n", n, "an empty survey includes nobody", "give the number of people surveyed")
    if population < size:
        raise ParameterError("N", N, "the population is smaller than the survey", f"give at least {size:g}")
    return size / population


def naive_epsilon(relative: float) -> float:
    """½ ln r: what (8) and Corollary 1 of [KR] allow when the priors are not looked at.

    >>> [round(naive_epsilon(r), 2) for r in (1.5, 3, 6)]
    [0.2, 0.55, 0.9]
    """
    return _down(0.5 * math.log(at_least_one("relative", relative)))


def _down(value: float) -> float:
    """A little below, by more than the rounding of a logarithm; 0 and ∞ stay."""
    return value * (1 - 4 * ULP) if math.isfinite(value) else value


def _total(p: Array, q: Array, shrink: Array) -> Array:
    """The probability of the worst output, relative to its probability in the world to be disclosed."""
    return p * q + p * (1 - q) * shrink**2 + (1 - p) * shrink


def _priors_and_epsilon(p: Any, q: Any, epsilon: Any, bounded: bool) -> tuple[Array, Array, Array]:
    p, q, epsilon = together(p=(p, 0, 1), q=(q, 0, 1), epsilon=(epsilon, 0, np.inf))
    if bounded:
        _require_certain_inclusion(p)
    return p, q, epsilon


def _require_certain_inclusion(p: Array) -> None:
    if np.any(p != 1):
        raise ParameterError(
            "p", plain(p), "ε that counts changes of a record says nothing about its presence", "give p = 1"
        )


def _epsilon(value: Any) -> float:
    result = number("epsilon", value, infinite=True)
    if result < 0:
        raise ParameterError("epsilon", value, "is negative", "give an ε of 0 or more")
    return result
