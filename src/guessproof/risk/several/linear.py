"""A formula that is a weighted sum of independent numbers with log-concave densities: one number.

Let v = c + Σ aᵢxᵢ with normal xᵢ, a normal number with variance V = Σ aᵢ²σᵢ². Given v, the xᵢ are what they are given
v' moved by (v − v')·aᵢσᵢ²/V each, and otherwise alike. So M(v) = E[L | v] is Lipschitz in v, with ε times the length of
that move per unit of v: no likelihood on the plane tells more of v than one on a line with this distance. The other way
round, e^{−ε·ρ·|v − v₀|} is private on the plane for ρ = 1/‖a/s‖ in the dual norm, s the distances per unit. Where all
aᵢ/sᵢ are equal and the norm is ℓ1 (or σᵢ suit the norm) both rates agree, and so do bound and attack.

Of other log-concave numbers Efron's theorem says that given v each aᵢxᵢ grows with v: there is a coupling in which a
larger v makes no aᵢxᵢ smaller, so that what all of them move adds up to the move of v. In any ℓp that is no further
than if the dearest of them moved alone. Normal numbers count as one part, with the rate above. The prior of v is worked
out at knots for two parts (`world.sums`), and what log-odds may be off for that, before and after, is added to bounds
and taken from attacks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.intervals import spread
from guessproof.risk.limits import Belief
from guessproof.risk.single import belief_of
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.checks import Array
from guessproof.world.formulas import FormulaGoal, FormulaInside, FormulaWithin
from guessproof.world.goals import Goal, Inside, Norm, Not, Within, combine, power_of
from guessproof.world.line import LinePrior, Normal
from guessproof.world.metrics import Absolute
from guessproof.world.sums import SumPrior, sum_of


@dataclass(frozen=True)
class OneNumber:
    """The formula's value as an attribute: with the distance that bounds, and with the one that is reached."""

    goal: FormulaGoal
    bounding: Attribute
    reaching: Attribute | None  # None where nothing is known to be reached
    rate: float  # how dear it is at most to move the value by one
    is_missed: bool = False  # the goal is that the formula's value is missed

    @property
    def is_exact(self) -> bool:
        """Whether the prior of the value is known as it is, and not at knots only."""
        return not isinstance(self.bounding.prior, SumPrior)

    def on(self, attribute: Attribute) -> Goal:
        """The goal about the value alone."""
        goal = self.goal
        if isinstance(goal, FormulaWithin):
            found: Goal = Within(attribute, goal.radius, goal.percent)
        else:
            assert isinstance(goal, FormulaInside)
            found = Inside(attribute, ((goal.low, goal.high),))
        return ~found if self.is_missed else found

    def truth(self, values: Mapping[str, Any]) -> float | None:
        """The formula's true value."""
        if not self.goal.depends_on_truth:
            return None
        return float(self.goal.values_at([values[a.name] for a in self.goal.members]))

    def gain(self, epsilon: float, truth: float | None) -> tuple[float, float]:
        """The largest gain that is reached and that is never exceeded."""
        slack = self._slack(0.0, truth) + self._slack(epsilon * self.rate, truth)
        if not math.isfinite(slack):
            return 0.0, math.inf
        bound = float(self._belief(self.bounding, truth).gain(np.asarray(epsilon))[1]) + slack
        if self.reaching is None:
            return 0.0, bound
        reached = float(self._belief(self.reaching, truth).gain(np.asarray(epsilon))[0]) - slack
        return max(reached, 0.0), bound

    def _slack(self, rate: float, truth: float | None) -> float:
        """What log-odds may be off by, for likelihoods of this slope."""
        prior, goal = self.bounding.prior, self.on(self.bounding)
        if not isinstance(prior, SumPrior):
            return 0.0
        inner = goal.part if isinstance(goal, Not) else goal
        assert isinstance(inner, (Within, Inside))
        edges = [(float(a), float(b)) for a, b in inner.edges(math.nan if truth is None else truth)]
        return prior.slack(rate, edges, peaked=not self.is_missed)  # whatever raises a belief most is a tent

    def _belief(self, attribute: Attribute, truth: float | None) -> Belief:
        return belief_of(attribute, self.on(attribute), truth)


def one_number(attributes: Mapping[str, Attribute], goal: Goal, norm: Norm) -> OneNumber | None:
    """The value of a weighted sum of independent log-concave numbers; None where the goal is about anything else."""
    inner = goal.part if isinstance(goal, Not) else goal
    if not isinstance(inner, FormulaGoal) or inner.formula.linear is None:
        return None
    members = [attributes[a.name] for a in inner.members]
    priors = [a.prior for a in members if isinstance(a.prior, LinePrior) and joint_of(a) is None]
    forms = [f for a in members if (f := a.distance.line_form) is not None and not f.step and not any(f.jumps)]
    if len(priors) < len(members) or len(forms) < len(members):
        return None
    start, weights = inner.formula.linear
    a = np.array([weights[m.name] for m in members])
    # A distance that is cut off or bent is never longer than its steepest part; what is reached needs a straight one.
    slope = np.array([max(f.slopes) for f in forms])
    straight = np.array([f.slopes[0] if f.is_straight and np.isinf(f.cap) else 0.0 for f in forms])
    if not np.any(a) or not np.any(slope[a != 0] > 0):
        return None
    found = _value(priors, a, start, slope, norm)
    if found is None:
        return None
    prior, move = found
    with np.errstate(divide="ignore", invalid="ignore"):
        steep = float(combine(dual(norm), list(np.where(a == 0, 0.0, np.abs(a) / straight))))
    bounds = _bounds(inner, members)
    return OneNumber(
        inner,
        _attribute(inner, prior, move * (1 + 1e-13), bounds),
        _attribute(inner, prior, (1 - 1e-13) / steep, bounds) if np.isfinite(steep) else None,
        move * (1 + 1e-13),
        isinstance(goal, Not),
    )


def _value(
    priors: list[LinePrior], a: Array, start: float, slope: Array, norm: Norm
) -> tuple[Normal | SumPrior, float] | None:
    """The prior of the formula's value, and how dear it is to move it by one."""
    bells = [p.normal_form for p in priors]
    own = np.array([bell is not None for bell in bells])
    mean, sd = (np.array([getattr(n, key) for n in bells if n is not None]) for key in ("mean", "sd"))
    variance = float(np.sum((a[own] * sd) ** 2))
    middle = start + float(a[own] @ mean)
    rate = float(combine(norm, list(np.abs(a[own]) * sd**2 / variance * slope[own]))) if variance > 0 else 0.0
    rest = ~own & (a != 0)
    if not rest.any():
        return (Normal(middle, math.sqrt(variance)), rate) if variance > 0 else None
    others = [p for p, used in zip(priors, rest, strict=True) if used]
    if variance > 0:
        prior = sum_of([*others, Normal(middle, math.sqrt(variance))], [*a[rest].tolist(), 1.0])
    else:
        prior = sum_of(others, a[rest].tolist(), start)
    return None if prior is None else (prior, max(rate, float(np.max(slope[rest] / np.abs(a[rest])))))


def dual(norm: Norm) -> Norm:
    """The norm whose unit ball holds what the other one's ball allows as slopes.

    >>> dual("l1"), dual("l2"), dual("linf"), dual("l3")
    ('linf', 'l2', 'l1', 'l1.5')
    """
    power = power_of(norm)
    return "l1" if np.isinf(power) else "linf" if power == 1 else f"l{power / (power - 1):.17g}"


def _attribute(goal: FormulaGoal, prior: Any, rate: float, bounds: tuple[float, float] | None) -> Attribute:
    return Attribute(repr(goal.formula), prior, metric=Absolute(1 / rate), bounds=bounds)


def _bounds(goal: FormulaGoal, members: list[Attribute]) -> tuple[float, float] | None:
    """Between which values the formula lies for all true values that people can have."""
    boxes = {m.name: spread(np.array([m.range[0]]), np.array([m.range[1]])) for m in members}
    found = goal.formula.enclose(boxes)
    low, high = float(found.low[0]), float(found.high[0])
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None
