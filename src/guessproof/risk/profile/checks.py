"""Validation of probabilities, ratios and regions, once, where they enter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.errors import ParameterError

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Span = tuple[float, float]

EVERYTHING: Span = (0.0, 1.0)
# A ratio that falls short of 1 by no more than this is 1 up to the rounding of whoever computed it.
ROUNDING = 1e-12


def number(field: str, value: Any, *, infinite: bool = False) -> float:
    """A real number as a float; infinite only where that means something."""
    if isinstance(value, (bool, np.bool_, str, bytes, np.complexfloating)):
        raise ParameterError(field, value, "is not a number", "give a number")
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(field, value, "is not a number", "give a number") from None
    if math.isnan(result) or (math.isinf(result) and not infinite):
        raise ParameterError(field, value, "is not finite", "give a finite number")
    return result


def probability(field: str, value: Any, *, zero: bool = True) -> float:
    """A number in [0, 1], or in (0, 1] where nothing can happen at 0."""
    result = number(field, value)
    if not 0 <= result <= 1 or (result == 0 and not zero):
        low = "0" if zero else "more than 0"
        raise ParameterError(field, value, "is not such a probability", f"give a number from {low} to 1")
    return result


def at_least_one(field: str, value: Any) -> float:
    """A posterior-to-prior ratio that some release can keep: at least 1."""
    result = number(field, value, infinite=True)
    if result < 1 - ROUNDING:
        raise ParameterError(field, value, "no release can promise a ratio below 1", "allow a ratio of at least 1")
    return max(result, 1.0)


def span(field: str, value: Any) -> Span:
    """The ends of a range of probabilities; one number means that number alone."""
    if isinstance(value, (str, bytes)):
        raise ParameterError(field, value, "is not a range", "give two probabilities (low, high)")
    try:
        ends = tuple(value)
    except TypeError:
        ends = (value, value)
    if len(ends) != 2:
        raise ParameterError(field, value, "is not a pair", "give two probabilities (low, high)")
    low, high = probability(field, ends[0]), probability(field, ends[1])
    if low > high:
        raise ParameterError(field, value, "the region is empty", "put the smaller number first")
    if high == 0:
        raise ParameterError(
            field, value, "the region is empty: what has prior 0 cannot be disclosed", "let it reach above 0"
        )
    return low, high


def array(field: str, value: Any, low: float, high: float) -> Array:
    """Numbers in [low, high] as an array of any shape."""
    try:
        given = np.asarray(value)
        result = given.astype(np.float64) if given.dtype.kind in "iufO" else None
    except (TypeError, ValueError, OverflowError):
        result = None
    if result is None:
        raise ParameterError(field, value, "is not a number or a list of numbers", "give numbers")
    # Written so that a NaN fails it.
    if not np.all((result >= low) & (result <= high)):
        raise ParameterError(field, value, "is out of range", f"give numbers from {low:g} to {high:g}")
    return result


def together(**fields: tuple[Any, float, float]) -> tuple[Array, ...]:
    """Several such arrays, broadcast to one shape; each is given with its range."""
    arrays = [array(field, value, low, high) for field, (value, low, high) in fields.items()]
    try:
        return np.broadcast_arrays(*arrays)
    except ValueError:
        shapes = [each.shape for each in arrays]
        names = ", ".join(fields)
        raise ParameterError(names, shapes, "their shapes do not fit together", "give equal shapes") from None


def plain(value: Array) -> Any:
    """A float for a single number, the array otherwise."""
    return float(value) if value.ndim == 0 else value
