"""Risk profiles: closed forms, the certified search over any function, and a grid search beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from timing import seconds, shown

from guessproof.risk import RiskProfile, epsilon_for_relative_risk, relative_risk

FORMULAS: dict[str, Callable[[Any, Any], Any]] = {
    "smooth, minimum inside an edge": lambda p, q: 1.2 + 9 * np.exp(-6 * p * q),
    "a power": lambda p, q: 1.2 * (p * q) ** -0.3,
    "a maximum": lambda p, q: np.maximum(0.25 / (p * q), 3),
    "a jump": lambda p, q: np.where(p < 0.3, 5.0, 2.0),
}


def rows() -> Iterator[tuple[str, str, str]]:
    yield "box, closed form", shown(seconds(lambda: RiskProfile.box(3, p=(0.1, 0.9)).epsilon())), ""
    yield "fixed value, closed form", shown(seconds(lambda: RiskProfile.fixed_value(0.5, 0.25, 3).epsilon())), ""
    yield "points, exact", shown(seconds(lambda: RiskProfile.points([(0.001, 10), (0.4, 1.2)]).epsilon())), ""
    slowest = 0.0
    for name, function in FORMULAS.items():
        profile = RiskProfile.custom(function, monotone="falling")
        taken = seconds(lambda function=function: RiskProfile.custom(function, monotone="falling").epsilon())
        slowest = max(slowest, taken)
        yield f"custom, {name} ({profile.status} to {profile.gap:.0e})", shown(taken), "≤ 20 ms"
    taken = seconds(lambda: RiskProfile.custom(_opaque, lipschitz=5.3).epsilon(), repeats=2)
    yield "custom, a function of numbers and how fast it changes (proven)", shown(taken), ""
    p, q = np.random.default_rng(0).random((2, 1_000_000))
    yield "10⁶ relative risks", shown(seconds(lambda: relative_risk(p, q, 1.0), repeats=3)), ""
    yield "10⁶ ε for a ratio", shown(seconds(lambda: epsilon_for_relative_risk(p, q, 3.0), repeats=3)), ""
    yield from _grid(slowest)


def _opaque(p: float, q: float) -> float:
    """A function of numbers; its logarithm changes by at most 54/10.2."""
    return 1.2 + 9 * math.exp(-6 * p * q)


def _grid(slowest: float) -> Iterator[tuple[str, str, str]]:
    """The way of the authors' script: the minimum over a grid of steps of 0.001, here vectorised."""
    axis = np.linspace(0.001, 1, 1000)
    p, q = np.meshgrid(axis, axis)
    constant = float(epsilon_for_relative_risk(p, q, 3.0).min())
    taken = seconds(lambda: epsilon_for_relative_risk(p, q, FORMULAS["a maximum"](p, q)).min(), repeats=3)
    yield "peer: minimum over a grid of 10⁶ points", shown(taken), ""
    yield "peer: its overshoot on the constant 3", f"{constant - 0.5 * math.log(3):.0e}", "0"
    yield "peer / our slowest certified answer", f"{taken / slowest:.0f} ×", "> 1"
