"""Hypothesis strategies for questions about one attribute and for finite worlds."""

from __future__ import annotations

from typing import Any

import depth
import numpy as np
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from reference.cases import KINDS, Case

# The same examples for everyone, unless HYPOTHESIS_PROFILE=explore; slow machines fail nothing.
law = settings(max_examples=depth.cases(30), suppress_health_check=[HealthCheck.filter_too_much])
slow_law = settings(law, max_examples=depth.cases(10))


def numbers(low: float, high: float) -> SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


def powers(low: float, high: float) -> SearchStrategy[float]:
    """Numbers spread evenly over orders of magnitude."""
    return numbers(low, high).map(lambda exponent: 10.0**exponent)


@st.composite
def priors(draw: DrawFn, kinds: tuple[str, ...] = KINDS) -> tuple[str, tuple[Any, ...]]:
    kind = draw(st.sampled_from(kinds))
    match kind:
        case "normal" | "laplace":
            return kind, (draw(numbers(-5, 5)), draw(numbers(0.2, 5)))
        case "uniform":
            low = draw(numbers(-5, 5))
            return kind, (low, low + draw(numbers(0.5, 8)))
        case "exponential":
            return kind, (draw(numbers(0.2, 5)),)
        case "histogram":
            widths = draw(st.lists(numbers(0.1, 2), min_size=2, max_size=7))
            weights = draw(st.lists(numbers(0.02, 1), min_size=len(widths), max_size=len(widths)))
            edges = np.cumsum([-3.0, *widths])
            return kind, (tuple(edges.tolist()), tuple((np.array(weights) / np.sum(weights)).tolist()))
    values = draw(st.lists(st.integers(-300, 300), min_size=2, max_size=12).filter(lambda v: len({*v}) > 1))
    return kind, (tuple(v / 100 for v in values),)


@st.composite
def cases(draw: DrawFn, kinds: tuple[str, ...] = KINDS, exponents: tuple[float, float] = (-3, 1.2)) -> Case:
    """A goal that is open, and an ε from 10^first to 10^second per unit."""
    kind, parameters = draw(priors(kinds))
    true_value = _true_value(kind, parameters, draw)
    # No atom, a multiple of 0.01, lies on the edge of such a goal.
    radius = draw(st.integers(5, 400)) / 100 + 0.004371
    case = Case(kind, parameters, true_value, radius, draw(powers(*exponents)))
    assume(1e-6 < case.probability() < 1 - 1e-6)
    return case


def _true_value(kind: str, parameters: tuple[Any, ...], draw: DrawFn) -> float:
    share = draw(numbers(0.02, 0.98))
    match kind:
        case "normal" | "laplace":
            mean, spread = parameters
            return mean + (4 * share - 2) * spread
        case "uniform":
            low, high = parameters
            return low + share * (high - low)
        case "exponential":
            return float(-np.log1p(-share) * parameters[0])
        case "histogram":
            edges = parameters[0]
            return edges[0] + share * (edges[-1] - edges[0])
    return draw(st.sampled_from(parameters[0]))


@st.composite
def worlds(draw: DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Prior, distance and goal of a few points in the plane, in the maximum norm."""
    size = draw(st.integers(2, 7))
    weights = draw(st.lists(numbers(0.05, 1), min_size=size, max_size=size))
    flat = draw(st.lists(st.integers(0, 20), min_size=2 * size, max_size=2 * size))
    places = np.array(flat, float).reshape(size, 2) / 10
    distance = np.max(abs(places[:, None] - places[None, :]), axis=2)
    count = draw(st.integers(1, size - 1))
    goal = (np.arange(size) < count).astype(float)
    assume(distance[np.ix_(goal == 1, goal == 0)].max() > 0)
    return np.array(weights) / np.sum(weights), distance, goal
