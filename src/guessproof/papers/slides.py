"""The slides of Laud & Pankova's talk (7 August 2022), as published: posteriors as the slides bound them.

[slides] exists as two transcriptions of the same pages. Balls and rings are written B and A there; distances are in
units of the precision r where a ring sum is meant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from guessproof.world import Array, LinePrior, pieces_of


def tilted_mass(prior: LinePrior, k: float, a: float, b: float, ref: float) -> float:
    """∫_a^b e^{k(x − ref)} f(x) dx, to about the tolerance of pieces.

    >>> from guessproof import normal
    >>> round(tilted_mass(normal(0, 1), 1.0, -np.inf, np.inf, 0.0), 5)
    1.64872
    """
    pieces = pieces_of(prior).cut((a, b))
    inside = (pieces.left >= a) & (pieces.right <= b)
    shift = k * (np.where(np.isfinite(pieces.left), pieces.left, pieces.right) - ref)
    low, high = (np.sum(np.exp((bound + shift)[inside])) for bound in pieces.end_tilt(k))
    return float(low / 2 + high / 2)


def posterior_from(odds_against: float) -> float:
    """1/(1 + outside/inside), the frame of every bound on the slides."""
    return 1 / (1 + odds_against)


PICTURE = (0.25, 0.30)
"""[slides] the belief that Alice ate for 18 to 22 minutes, before and after the answer."""


def guessing_advantage(before: float, after: float) -> float:
    """[slides] Guessing advantage of numerical attributes: |Pr_post − Pr_pre|.

    >>> round(guessing_advantage(*PICTURE), 12)
    0.05
    """
    return abs(after - before)


def main_theorem(prior: Any, distance: Any, goal: Any, epsilon: float) -> float:
    """[slides] Main theorem, finite: 1/(1 + Σ_{x∉g} f(x)/Σ_{x'∈g} e^{εd(x,x')}f(x')).

    >>> round(main_theorem([0.25, 0.75], [[0, 1], [1, 0]], [1, 0], math.log(3)), 6)
    0.5
    """
    mass, apart = np.asarray(prior, dtype=float), np.asarray(distance, dtype=float)
    inside = np.asarray(goal, dtype=float) > 0
    seen = np.exp(epsilon * apart[np.ix_(~inside, inside)]) @ mass[inside]
    return posterior_from(float(np.sum(mass[~inside] / seen)))


def main_theorem_on_line(prior: LinePrior, low: float, high: float, epsilon: float) -> float:
    """[slides] Main theorem for |x − x'| and g = [low, high]; the inner integral splits into two factors there."""

    def side(k: float, a: float, b: float) -> float:
        return tilted_mass(prior, k, a, b, low) / tilted_mass(prior, k, low, high, low)

    return posterior_from(side(-epsilon, high, np.inf) + side(epsilon, -np.inf, low))


def simplification_sign(prior: Any, distance: Any, goal: Any, epsilon: float) -> float:
    """[slides] Simplification, first line: the main theorem with e^{−εd}, as the first transcription has it."""
    return main_theorem(prior, distance, goal, -epsilon)


def simplified(p: float, epsilon: float, diameter: float = 1.0) -> float:
    """[slides] Simplification: 1/(1 + e^{−εR}(1−p)/p)."""
    return posterior_from(math.exp(-epsilon * diameter) * (1 - p) / p)


def simplified_epsilon(p: float, advantage: float, diameter: float = 1.0) -> float:
    """[slides] Computing ε: ln((1−p)/p · 1/((p+η)⁻¹ − 1))/R; +∞ where no ε can break the limit.

    >>> round(simplified_epsilon(0.2, 0.1), 3)
    0.539
    """
    if p + advantage >= 1:
        return math.inf
    return math.log((1 - p) / p / (1 / (p + advantage) - 1)) / diameter


def ring_integral(prior: LinePrior, low: float, high: float, epsilon: float) -> float:
    """[slides] Less of a simplification: every point weighed by e^{−ε·(distance to the goal's edge)}."""
    inside = prior.mass(low, high)
    outside = tilted_mass(prior, -epsilon, high, np.inf, high) + tilted_mass(prior, epsilon, -np.inf, low, low)
    return posterior_from(float(outside / inside))


def ring_sum_from_goal(rings: Callable[[float], float], inside: float, epsilon: float, first: int, last: int) -> float:
    """[slides] Single attribute: Σ_{a≥first} e^{−εa}P(B(g,a+1)∖B(g,a)) over P(g); `rings(z)` is P(B(g,z)).

    The slide starts its second expression at a = 0 and its third, said to be equal, at a = 1.
    """
    total = sum(math.exp(-epsilon * a) * (rings(a + 1) - rings(a)) for a in range(first, last))
    return posterior_from(total / inside)


def ring_sum(ball: Callable[[float], float], epsilon: float, last: int) -> float:
    """[slides] AND, and the single attribute read alike: Σ_{a≥1} e^{−εa}P(B(x,a+1)∖B(x,a)) over P(B(x,1))."""
    total = sum(math.exp(-epsilon * a) * (ball(a + 1) - ball(a)) for a in range(1, last))
    return posterior_from(total / ball(1))


def or_sum(posteriors: Iterable[float]) -> float:
    """[slides] OR: Pr_post(g₁ ∨ g₂) ≤ Pr_post(g₁) + Pr_post(g₂)."""
    return math.fsum(posteriors)


def worst_prior_for_advantage(advantage: float) -> float:
    """[slides] Worst-case prior for a given η: (1−η)/2."""
    return (1 - advantage) / 2


def worst_prior_for_epsilon(epsilon: float, diameter: float = 1.0) -> float:
    """[slides] Worst-case prior for a given ε: 1/(1 + e^{Rε/2}).

    >>> round(worst_prior_for_epsilon(1.0), 4)
    0.3775
    """
    return 1 / (1 + math.exp(diameter * epsilon / 2))


PLOT_PRIORS = (0.01, 0.05, 0.1, 0.2, 0.3)
"""[slides] the plot of ε against advantage: one curve for each of these priors, and the worst case."""


def plot_curves(advantages: Array) -> dict[str, Array]:
    """[slides] the plot's curves: the largest ε (for R = 1) against the advantage.

    >>> curves = plot_curves(np.array([0.1]))
    >>> round(float(curves["worst-case"][0]), 4), round(float(curves["0.2"][0]), 4)
    (0.4013, 0.539)
    """
    curves = {"worst-case": [simplified_epsilon(worst_prior_for_advantage(float(n)), float(n)) for n in advantages]}
    for p in PLOT_PRIORS:
        curves[f"{p:g}"] = [simplified_epsilon(p, float(n)) for n in advantages]
    return {name: np.array(values) for name, values in curves.items()}
