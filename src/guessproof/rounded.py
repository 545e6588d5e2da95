"""Numbers for people, rounded to the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable

DIGITS = 6


def down(value: float | None) -> str:
    """Six digits, towards zero: the private side of an ε.

    >>> down(0.70914759), down(float("inf")), down(None)
    ('0.709147', 'inf', '')
    """
    return "" if value is None else _rounded(value, math.floor)


def up(value: float | None) -> str:
    """Six digits, away from zero: the private side of a risk or an error; rounding of floats itself is forgiven.

    >>> up(0.01793081), up(1.5000000000000002)
    ('0.0179309', '1.5')
    """
    return "" if value is None else _rounded(value * (1 - 1e-12), math.ceil)


def _rounded(value: float, towards: Callable[[float], int]) -> str:
    if not math.isfinite(value) or value <= 0:
        return f"{value:g}"
    digits = DIGITS - 1 - math.floor(math.log10(value))
    if abs(digits) > 290:
        return f"{value:g}"
    return f"{towards(value * 10.0**digits) / 10.0**digits:.6g}"
