"""Relative and absolute disclosure risk at one pair of priors, and the ε that a ratio allows.

The attacker sees three worlds: the person is in the data with a value in S, in the data with another value, or not in
the data, with prior (pq, p(1−q), 1−p). Adding or removing one record moves ln L by at most ε, so the first two are 2ε
apart and each is ε from the third. The worst release has L = (1, e^{−2ε}, e^{−ε}); the rest is Bayes' rule with it.

[KR] is Kazan & Reiter, draft of 23 April 2023. Its Assumptions 1 and 2 are needed throughout.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import ParameterError
from guessproof.world.checks import Array, real

Span = tuple[float, float]

ASSUMPTIONS = (
    "the attacker knows the mechanism, and knows of its output only what the data say (Assumption 1)",
    "the attacker believes the other records to be independent of this one (Assumption 2)",
)
"""What every number of this package presupposes, for whoever prints one."""

ULP = 2.0**-53
ROUNDING = 1e-12  # a ratio short of 1 by no more is 1 up to the rounding of whoever computed it
ROUNDINGS = 24  # of an ε in units of ULP: more than its operations lose
CERTAIN_ULPS = 16  # of 1/ratio: a prior rounded to the private side, and the operations on it
EVERYTHING: Span = (0.0, 1.0)
NO_PRESENCE = "ε that counts changes of a record says nothing about its presence"

number = partial(real, ParameterError)


def probability(field: str, value: Any, *, zero: bool = True) -> float:
    """Return a number in [0, 1], or in (0, 1] where nothing can happen at 0."""
    result = number(field, value)
    if not 0 <= result <= 1 or (result == 0 and not zero):
        low = "0" if zero else "more than 0"
        raise ParameterError(
            field, value, "is not such a probability", f"give a number from {low} to 1"
        )
    return result


def at_least_one(field: str, value: Any) -> float:
    """Return a posterior-to-prior ratio that some release can keep: at least 1."""
    result = number(field, value, infinite=True)
    if result < 1 - ROUNDING:
        raise ParameterError(
            field,
            value,
            "no release can promise a ratio below 1",
            "allow a ratio of at least 1",
        )
    return max(result, 1.0)


def span(field: str, value: Any) -> Span:
    """Return the ends of a range of probabilities; one number means that number alone."""
    low, high = (probability(field, end) for end in pair(field, value))
    if low > high:
        raise ParameterError(
            field, value, "the region is empty", "put the smaller number first"
        )
    if high == 0:
        problem = "the region is empty: what has prior 0 cannot be disclosed"
        raise ParameterError(field, value, problem, "let it reach above 0")
    return low, high


def pair(field: str, value: Any) -> tuple[Any, Any]:
    """Return two values; one stands for both."""
    ends: tuple[Any, ...] = (
        tuple(value) if isinstance(value, (list, tuple, np.ndarray)) else (value, value)
    )
    if len(ends) != 2:
        raise ParameterError(field, value, "is not a pair", "give two")
    return ends


def together(**fields: tuple[Any, float, float]) -> tuple[Array, ...]:
    """Return several arrays, broadcast to one shape; each is given with its range."""
    arrays: list[Array] = []
    for field, (value, low, high) in fields.items():
        try:
            arrays.append(
                np.asarray(
                    None if isinstance(value, (bool, str, bytes)) else value, dtype=np.float64
                )
            )
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(
                field, value, "is not a number or a list of numbers", "give numbers"
            ) from None
        if not np.all(
            (arrays[-1] >= low) & (arrays[-1] <= high)
        ):  # written so that a NaN fails it
            raise ParameterError(
                field, value, "is out of range", f"give numbers from {low:g} to {high:g}"
            )
    try:
        return np.broadcast_arrays(*arrays)
    except ValueError:
        shapes = [each.shape for each in arrays]
        problem = "their shapes do not fit together"
        raise ParameterError(", ".join(fields), shapes, problem, "give equal shapes") from None


def plain(value: Array) -> Any:
    """Return a float for a single number, the array otherwise."""
    return float(value) if value.ndim == 0 else value


def relative_risk(p: Any, q: Any, epsilon: Any, bounded: bool = False) -> Any:
    """The largest posterior-to-prior ratio that ε permits, [KR] Theorem 1 (27); attained, to rounding.

    p is the prior probability of being in the data, q that of a value in S given that. With ``bounded``
    ε counts the change of a record instead of its presence, which the attacker then knows: p must be 1.

    >>> round(relative_risk(p=0.05, q=0.3, epsilon=1.0), 6)
    2.708396
    >>> round(relative_risk(1, 0.25, np.log(3), bounded=True), 6)  # 1/(1/4 + 3/4/3)
    2.0
    """
    p, q, epsilon = together(p=(p, 0, 1), q=(q, 0, 1), epsilon=(epsilon, 0, np.inf))
    if bounded and np.any(p != 1):
        raise ParameterError("p", plain(p), NO_PRESENCE, "give p = 1")
    shrink = np.exp(-epsilon / 2 if bounded else -epsilon)
    with np.errstate(all="ignore"):
        return plain(1 / (p * q + p * (1 - q) * shrink**2 + (1 - p) * shrink))


def absolute_risk(p: Any, q: Any, epsilon: Any, bounded: bool = False) -> Any:
    """The largest posterior probability of the disclosure, [KR] Definition 4 at the worst output.

    >>> round(absolute_risk(p=0.05, q=0.3, epsilon=1.0), 6)
    0.040626
    """
    ratio = relative_risk(p, q, epsilon, bounded)
    with np.errstate(all="ignore"):  # what has prior 0 keeps it
        return plain(np.clip(np.fmax(np.multiply(p, q) * ratio, 0.0), 0.0, 1.0))


def epsilon_for_relative_risk(p: Any, q: Any, ratio: Any) -> Any:
    """The largest ε that keeps the posterior-to-prior ratio, [KR] Theorem 2 (35), in a form without cases.

    With c = 1/ratio − pq it is ln(((1−p) + √((1−p)² + 4p(1−q)c)) / 2c), and +∞ where c ≤ 0: there even
    certainty keeps the ratio. Returned on the private side: never above the true value of these inputs,
    and short of it by rounding only. A ratio that means certainty up to rounding (1/ratio within 2e-15
    of pq, relatively) counts as certainty.

    >>> round(epsilon_for_relative_risk(p=0.05, q=1.0, ratio=3.0), 6)  # ln(0.95 / (1/3 - 0.05))
    1.209838
    >>> round(float(np.exp(epsilon_for_relative_risk(p=1e-9, q=0.5, ratio=4.0))), 6)  # p → 0: ε = ln(ratio)
    4.0
    >>> epsilon_for_relative_risk(p=0.5, q=1.0, ratio=2.0)
    inf
    """
    p, q, limit = together(p=(p, 0, 1), q=(q, 0, 1), ratio=(ratio, 1 - ROUNDING, np.inf))
    return plain(implied_epsilon(p, q, np.maximum(limit, 1.0)))


def implied_epsilon(p: ArrayLike, q: ArrayLike, ratio: ArrayLike) -> Array:
    """``epsilon_for_relative_risk`` without its checks; 0 where the ratio is below 1.

    x = e^{−ε} solves p(1−q)x² + (1−p)x = c, and y = 1 − x solves (1−p + 2p(1−q))y − p(1−q)y² = 1 − 1/ratio. Both
    have the discriminant (1−p)² + 4p(1−q)c, so ε = ln(1 + y/x) loses no digit, large or small.
    """
    p, q, ratio = (np.asarray(value, dtype=np.float64) for value in (p, q, ratio))
    with np.errstate(all="ignore"):
        absent, other, inverse = 1 - p, p * (1 - q), 1 / ratio
        room = inverse - p * q
        is_certain = room <= CERTAIN_ULPS * ULP * inverse
        room = (
            room + 2 * ULP * inverse
        )  # 1/ratio and pq carry one rounding each; ε falls with the room
        part = absent + np.sqrt(absent**2 + 4 * other * room)
        odds = (ratio - 1) * inverse / room * part / (part + 2 * other)
        return np.where(
            is_certain, np.inf, np.fmax(np.log1p(odds) * (1 - ROUNDINGS * ULP), 0.0)
        )
