"""A formula that is a weighted sum of independent normal numbers: one number.

Let v = c + Σ aᵢxᵢ with normal xᵢ, a normal number with variance V = Σ aᵢ²σᵢ². Given v, the xᵢ are what they are given
v' moved by (v − v')·aᵢσᵢ²/V each, and otherwise alike. So M(v) = E[L | v] is Lipschitz in v, with ε times the length of
that move per unit of v: no likelihood on the plane tells more of v than one on a line with this distance. The other way
round, e^{−ε·ρ·|v − v₀|} is private on the plane for ρ = 1/‖a/s‖ in the dual norm, s the distances per unit. Where all
aᵢ/sᵢ are equal and the norm is ℓ1 (or σᵢ suit the norm) both rates agree, and so do bound and attack. Sums of other
numbers have the general bound of several attributes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.intervals import spread
from guessproof.risk.single import belief_of
from guessproof.world import (
    Absolute,
    Attribute,
    FormulaGoal,
    FormulaWithin,
    Goal,
    Inside,
    Norm,
    Normal,
    Not,
    Within,
)
from guessproof.world.attributes import joint_of
from guessproof.world.goals import combine, power_of

OUTWARD = 1 + 1e-13  # rounding of a rate


@dataclass(frozen=True)
class OneNumber:
    """The goal about the formula's value alone: with the distance that bounds, and with the one that is reached."""

    goal: FormulaGoal
    bounding: Goal
    reaching: Goal | None  # None where nothing is known to be reached

    def truth(self, values: Mapping[str, Any]) -> float | None:
        """The formula's true value."""
        if not self.goal.depends_on_truth:
            return None
        return float(self.goal.values_at([values[a.name] for a in self.goal.members]))

    def gain(self, epsilon: float, truth: float | None) -> tuple[float, float]:
        """The largest gain that is reached and that is never exceeded."""
        gains = [
            belief_of(goal.attribute, goal, truth).gain(np.asarray(epsilon))
            for goal in (self.bounding, self.reaching)
            if goal is not None
        ]
        reached = float(gains[1][0]) if len(gains) > 1 else 0.0
        return max(reached, 0.0), float(gains[0][1])


def one_number(attributes: Mapping[str, Attribute], goal: Goal, norm: Norm) -> OneNumber | None:
    """The value of a weighted sum of independent normal numbers; None where the goal is about anything else."""
    inner = goal.part if isinstance(goal, Not) else goal
    if not isinstance(inner, FormulaGoal) or inner.formula.linear is None:
        return None
    start, weights = inner.formula.linear
    members = [attributes[a.name] for a in inner.members if weights.get(a.name)]
    priors = [a.prior for a in members if isinstance(a.prior, Normal) and joint_of(a) is None]
    forms = [
        f
        for a in members
        if (f := a.distance.line_form) is not None and not f.step and not any(f.jumps)
    ]
    if not members or len(priors) < len(members) or len(forms) < len(members):
        return None
    a = np.abs([weights[m.name] for m in members])
    sd = np.array([prior.sd for prior in priors])
    spread_of = float(np.sqrt(np.sum((a * sd) ** 2)))
    # A distance that is cut off or bent is never longer than its steepest part; what is reached needs a straight one.
    slope = np.array([max(f.slopes) for f in forms])
    straight = np.array(
        [f.slopes[0] if f.is_straight and np.isinf(f.cap) else 0.0 for f in forms]
    )
    rate = float(combine(norm, list(a * (sd / spread_of) ** 2 * slope))) * OUTWARD
    if not rate > 0:
        return None
    with np.errstate(divide="ignore"):
        steep = float(combine(dual(norm), list(a / straight))) * OUTWARD
    middle = start + sum(
        weights[m.name] * prior.mean for m, prior in zip(members, priors, strict=True)
    )
    prior, bounds = (
        Normal(middle, spread_of),
        _bounds(inner, [attributes[m.name] for m in inner.members]),
    )

    def alone(scale: float) -> Goal:
        value = Attribute(repr(inner.formula), prior, metric=Absolute(scale), bounds=bounds)
        if isinstance(inner, FormulaWithin):
            found: Goal = Within(value, inner.radius, inner.percent)
        else:
            found = Inside(value, (inner.ends(None),))
        return ~found if isinstance(goal, Not) else found

    reaching = alone(steep) if np.isfinite(steep) else None
    return OneNumber(inner, alone(1 / rate), reaching)


def dual(norm: Norm) -> Norm:
    """The norm whose unit ball holds what the other one's ball allows as slopes.

    >>> dual("l1"), dual("l2"), dual("linf"), dual("l3")
    ('linf', 'l2', 'l1', 'l1.5')
    """
    power = power_of(norm)
    return "l1" if np.isinf(power) else "linf" if power == 1 else f"l{power / (power - 1):.17g}"


def _bounds(goal: FormulaGoal, members: list[Attribute]) -> tuple[float, float] | None:
    """Between which values the formula lies for all true values that people can have."""
    boxes = {m.name: spread(np.array([m.range[0]]), np.array([m.range[1]])) for m in members}
    found = goal.formula.enclose(boxes)
    low, high = float(found.low[0]), float(found.high[0])
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None
