"""Kazan & Reiter, draft of 23 April 2023, section 3 and Theorems 3 to 6, as published: profiles, closed forms, tables.

NaN stands where a printed formula has no value. Each closed form is evaluated as printed, floating point included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from guessproof.papers.kazan_reiter import geometric_mass, geometric_variance, log_or_nan


def constant_profile(relative: float) -> float:
    """[KR] (10), Theorem 3 (51): ½ ln r̃.

    >>> [round(constant_profile(r), 2) for r in (1.5, 3, 6)]
    [0.2, 0.55, 0.9]
    """
    return math.log(relative) / 2


def theorem_4(relative: float, p_range: tuple[float, float], q_range: tuple[float, float]) -> float:
    """[KR] (12), Theorem 4 (52): the ε of a box.

    >>> round(theorem_4(3.0, (0.0, 0.2), (0.1, 1.0)), 6)
    1.015679
    """
    (low, high), q = p_range, q_range[0]
    if q == 1:
        return log_or_nan(_over(1 - low, 1 / relative - low))
    if q > 1 / (relative + 1) and low == 0:
        return math.log(relative)
    p = high if q <= 1 / (relative + 1) else low
    return log_or_nan(_over(2 * p * (1 - q), _root(1 - p, 4 * p * (1 - q) * (1 / relative - p * q)) - (1 - p)))


def fixed_inclusion_profile(q: float, p: float, absolute: float, relative: float) -> float:
    """[KR] (13) at p = p̃: max(ã/(p̃q), r̃)."""
    return max(absolute / (p * q), relative)


def theorem_5(p: float, absolute: float, relative: float) -> float:
    """[KR] (14), Theorem 5 (53): the ε of (13); the case is chosen by comparing ã/p̃ with r̃, as printed.

    >>> round(theorem_5(0.05, 0.025, 3.0), 2), round(theorem_5(0.05, 0.3, 3.0), 2)
    (1.09, 2.1)
    """
    if absolute / p < relative:
        room = p * relative - absolute
        root = math.sqrt(relative**2 * (1 - p) ** 2 + 4 * room * (1 - absolute))
        return log_or_nan(_over(2 * room, root - relative * (1 - p)))
    return log_or_nan(_over(absolute * (1 - p), p * (1 - absolute)))


def fixed_value_profile(p: float, q: float, absolute: float, relative: float) -> float:
    """[KR] (15) at q = q̃: max(ã/(pq̃), r̃)."""
    return max(absolute / (p * q), relative)


def theorem_6(q: float, absolute: float, relative: float) -> float:
    """[KR] Theorem 6 (54): the ε of (15).

    >>> round(theorem_6(1.0, 0.25, 3.0), 2), round(theorem_6(0.5, 0.25, 3.0), 4)
    (1.3, -0.0795)
    """
    if q == 1:
        return math.log((relative - absolute) / (1 - absolute))
    if q <= 1 / (relative + 1):
        return 0.5 * log_or_nan(_over(1 - q, 1 / relative - q))
    gap = relative * q - absolute
    return log_or_nan(_over(2 * absolute * (1 - q), _root(gap, 4 * q * (1 - q) * (1 - absolute)) - gap))


def equation_16(q: float, absolute: float, relative: float) -> float:
    """[KR] (16): as (54), but with r̃ − q̃ for 1/r̃ − q̃ in its first case, as transcribed."""
    if q < 1 and q <= 1 / (relative + 1):
        return 0.5 * log_or_nan(_over(1 - q, relative - q))
    return theorem_6(q, absolute, relative)


def equation_18(p: float, relative: float) -> float:
    """[KR] (18): Example 1's profile at q = 1, max(0.25/p, r̃)."""
    return fixed_value_profile(p, 1.0, 0.25, relative)


def equation_19(q: float, absolute: float) -> float:
    """[KR] (19): Example 2's profile at p = 0.05, max(ã/(0.05q), 3)."""
    return fixed_inclusion_profile(q, 0.05, absolute, 3.0)


@dataclass(frozen=True)
class Row:
    """A row of Table 3 or 4: the agency's parameter, ε, and the geometric mechanism at that ε."""

    parameter: float
    epsilon: float
    standard_deviation: float
    exact_probability: float


def row(parameter: float, epsilon: float) -> Row:
    """[KR] Tables 3 and 4: ε with the noise of (2) and (3)."""
    return Row(parameter, epsilon, math.sqrt(geometric_variance(epsilon)), geometric_mass(0, epsilon))


def table_3() -> tuple[Row, ...]:
    """[KR] Table 3: ã = 0.25, q̃ = 1, r̃ = 1.5, 3, 6.

    >>> [(round(r.epsilon, 2), round(r.standard_deviation, 2)) for r in table_3()]
    [(0.51, 2.74), (1.3, 1.02), (2.04, 0.59)]
    """
    return tuple(row(r, theorem_6(1.0, 0.25, r)) for r in (1.5, 3.0, 6.0))


def table_4() -> tuple[Row, ...]:
    """[KR] Table 4: p̃ = 0.05, r̃ = 3, ã = 0.025, 0.15, 0.3.

    The second agency stands exactly where (14) changes case; the printed ε is that of the second case.

    >>> [(round(r.epsilon, 2), round(r.standard_deviation, 2)) for r in table_4()]
    [(1.09, 1.24), (1.21, 1.1), (2.1, 0.56)]
    """
    tie = math.log(0.15 * (1 - 0.05) / (0.05 * (1 - 0.15)))
    return tuple(row(a, tie if a == 0.15 else theorem_5(0.05, a, 3.0)) for a in (0.025, 0.15, 0.3))


def figure_1() -> dict[str, float]:
    """[KR] Figure 1: the ε at the lowest point of each agency's curve, by (14) and (16)."""
    return {"agency 1": theorem_5(0.05, 0.1, 3.0), "agency 2": theorem_6(1.0, 0.1, 3.0)}


def figure_2() -> dict[float, tuple[float, float]]:
    """[KR] Figure 2, profile (18): by r̃, the p at which the curve's ε is least, and that ε by (16).

    >>> {r: (round(p, 4), round(e, 2)) for r, (p, e) in figure_2().items()}
    {1.5: (0.1667, 0.51), 3.0: (0.0833, 1.3), 6.0: (0.0417, 2.04)}
    """
    return {r: (0.25 / r, theorem_6(1.0, 0.25, r)) for r in (1.5, 3.0, 6.0)}


def figure_3() -> dict[float, tuple[float, float]]:
    """[KR] Figure 3, profile (19): by ã, the q at which the curve's ε is least, and that ε as in Table 4.

    >>> {a: (round(q, 4), round(e, 2)) for a, (q, e) in figure_3().items()}
    {0.025: (0.1667, 1.09), 0.15: (1.0, 1.21), 0.3: (1.0, 2.1)}
    """
    return {row.parameter: (min(1.0, row.parameter / (0.05 * 3)), row.epsilon) for row in table_4()}


def _root(base: float, rest: float) -> float:
    square = base**2 + rest
    return math.sqrt(square) if square >= 0 else math.nan


def _over(above: float, below: float) -> float:
    if math.isnan(below):
        return math.nan
    if below == 0:
        return math.inf if above > 0 else math.nan
    return above / below
