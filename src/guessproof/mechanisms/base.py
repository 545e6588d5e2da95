"""What every noise mechanism offers, and the few numeric habits that they share.

A mechanism is a frozen value: what one record can change (``sensitivity``), the guarantee (``epsilon``,
for some also ``delta``), and nothing else. Its noise scale follows, rounded to the private side: the scale
is never too small for the guarantee that the value names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from scipy.optimize import brentq

from guessproof.errors import ParameterError


@runtime_checkable
class Mechanism(Protocol):
    """Additive noise with a known law (MATHEMATICS 5).

    ``epsilon_for(sensitivity=, within=, confidence=, …)`` completes the protocol; its options differ, so it
    is not spelled out here.
    """

    @property
    def sensitivity(self) -> float:
        """The largest change of the answer that one record can make."""
        ...

    @property
    def epsilon(self) -> float:
        """The ε of the guarantee."""
        ...

    @property
    def scale(self) -> float:
        """The noise is ``scale`` times a standard variable."""
        ...

    @property
    def standard_deviation(self) -> float:
        """Of the noise; infinite where it does not exist."""
        ...

    def cdf(self, z: Any) -> Any:
        """P(noise ≤ z); numbers or arrays."""
        ...

    def error(self, *, confidence: float) -> float:
        """The smallest c with P(|noise| ≤ c) ≥ confidence."""
        ...

    def confidence(self, *, within: float) -> float:
        """P(|noise| ≤ within)."""
        ...

    def delta_at(self, epsilon: float) -> float:
        """The δ that the noise delivers at another ε (hockey-stick divergence at full sensitivity)."""
        ...

    def epsilon_at(self, delta: float = 0.0) -> float:
        """The ε that the noise delivers at a given δ."""
        ...


def checked_positive(field: str, value: Any) -> float:
    """A finite number above zero.

    >>> checked_positive("epsilon", -1)
    Traceback (most recent call last):
    ...
    guessproof.errors.ParameterError: epsilon: it must be above 0 (got -1); give a positive number
    """
    number = checked_finite(field, value)
    if number <= 0:
        raise ParameterError(field, value, "it must be above 0", "give a positive number")
    return number


def checked_nonnegative(field: str, value: Any) -> float:
    """A finite number, zero included."""
    number = checked_finite(field, value)
    if number < 0:
        raise ParameterError(field, value, "it must not be negative", "give zero or a positive number")
    return number


def checked_probability(field: str, value: Any) -> float:
    """A probability strictly between 0 and 1.

    >>> checked_probability("confidence", 95)
    Traceback (most recent call last):
    ...
    guessproof.errors.ParameterError: confidence: it must lie strictly between 0 and 1 (got 95);
        give a probability such as 0.95
    """
    number = checked_finite(field, value)
    if not 0 < number < 1:
        problem = "it must lie strictly between 0 and 1"
        raise ParameterError(field, value, problem, "give a probability such as 0.95")
    return number


def checked_delta(value: Any) -> float:
    """A δ from 0 (included) to 1 (excluded)."""
    number = checked_finite("delta", value)
    if not 0 <= number < 1:
        raise ParameterError("delta", value, "it must lie in [0, 1)", "give a small probability such as 1e-6")
    return number


def checked_finite(field: str, value: Any) -> float:
    """A number that is neither NaN nor infinite; text and booleans are refused."""
    if isinstance(value, (str, bytes, bool)):
        raise ParameterError(field, value, "it is not a number", "give a number")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(field, value, "it is not a number", "give a finite number") from None
    if not math.isfinite(number):
        raise ParameterError(field, value, "it is not a finite number", "give a finite number")
    return number


def store(mechanism: object, **values: float) -> None:
    """Write validated fields into a frozen dataclass while it is being made."""
    for name, value in values.items():
        object.__setattr__(mechanism, name, value)


def ratio_up(numerator: float, denominator: float) -> float:
    """The smallest float that is at least numerator/denominator (the private side of a noise scale).

    >>> from fractions import Fraction
    >>> Fraction(ratio_up(1.0, 0.1)) * Fraction(0.1) >= 1
    True
    """
    quotient = numerator / denominator
    if not 0 < quotient < math.inf:
        problem = "sensitivity divided by epsilon leaves the range of floating point"
        raise ParameterError("epsilon", denominator, problem, "choose units in which both are moderate")
    while Fraction(quotient) * Fraction(denominator) < Fraction(numerator):
        quotient = math.nextafter(quotient, math.inf)
    return quotient


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a continuous function changes its sign, to the last digits of a float.

    >>> round(root(lambda x: x * x - 2, 1.0, 2.0), 12)
    1.414213562373
    """
    solve: Any = brentq
    return float(solve(function, low, high, xtol=1e-300, rtol=8.9e-16))


def raised_until(good: Callable[[float], bool], start: float) -> float:
    """The first number at or just above ``start`` that is good: undoes the rounding of a closed form.

    >>> raised_until(lambda x: x * x >= 2, 2**0.5) ** 2 >= 2
    True
    """
    if good(start):
        return start
    step = 2.0**-52
    while step < 1e-6:
        if good(start * (1 + step)):
            return start * (1 + step)
        step *= 2
    remedy = "ask for a confidence further from 0 and 1"
    raise ParameterError("epsilon", start, "no number near it reaches the accuracy in floating point", remedy)


def largest_good(good: Callable[[float], bool], low: float, high: float, steps: int = 200) -> float:
    """Bisection for a monotone question: the largest number known to be good.

    ``low`` must be good; if ``high`` is good as well, it is the answer.

    >>> largest_good(lambda x: x * x <= 2, 1.0, 2.0) ** 2 <= 2
    True
    """
    if good(high):
        return high
    for _ in range(steps):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if good(middle) else (low, middle)
    return low


def smallest_good(good: Callable[[float], bool], low: float, high: float, steps: int = 200) -> float:
    """The mirror of :func:`largest_good`: ``high`` must be good.

    >>> smallest_good(lambda x: x * x >= 2, 1.0, 2.0) ** 2 >= 2
    True
    """
    return -largest_good(lambda x: good(-x), -high, -low, steps)
