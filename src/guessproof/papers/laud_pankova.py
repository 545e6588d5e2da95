"""Laud & Pankova, sections 3 to 5, as published: each function returns what the paper's formula says, right or not.

[LP] is "Interpreting Epsilon of Differential Privacy in Terms of Advantage in Guessing or Approximating Sensitive
Attributes", read as a transcription. What each formula truly achieves is said in `verdicts`, not here.
A logarithm of nothing counts as +∞ (the formula allows every ε) or −∞ (it allows none).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

Ball = Callable[[float], float]
"""g(z): the prior probability of being within z of the true value."""


def posterior_bound(p: float, epsilon: float, diameter: float = 1.0) -> float:
    """[LP] §3.2: Pr_post ≤ 1/(1 + e^{−εR}·(1−p)/p).

    >>> round(posterior_bound(0.2, 0.5389965), 6)
    0.3
    """
    return 1 / (1 + math.exp(-epsilon * diameter) * (1 - p) / p)


def derivation_third_line(inside: float, outside: float) -> float:
    """[LP] §3.2, the third fraction of the chain that starts with Pr_post = …, as printed.

    >>> derivation_third_line(0.25, 0.75)
    4.0
    """
    return (inside + outside) / inside


def epsilon_for(goal: float, others: float, distance: float, advantage: float) -> float:
    """[LP] §3.2 and (1): −ln(P[X']/P[X̂]·(1/(δ + P[X']) − 1))/distance.

    >>> round(epsilon_for(0.2, 0.8, 1.0, 0.1), 3)
    0.539
    """
    if goal <= 0 or goal + advantage >= 1:
        return math.inf
    if others <= 0:
        return -math.inf
    return -math.log(goal / others * (1 / (advantage + goal) - 1)) / distance


def epsilon_lb(p: float, advantage: float, diameter: float = 1.0) -> float:
    """[LP] §3.2: the ε that keeps a belief from rising by more than δ."""
    return epsilon_for(p, 1 - p, diameter, advantage)


def epsilon_ub(p: float, advantage: float, diameter: float = 1.0) -> float:
    """[LP] §3.2: the ε that keeps a belief from falling by more than δ."""
    return epsilon_for(1 - p, p, diameter, advantage)


def epsilon_both(p: float, advantage: float, diameter: float = 1.0) -> float:
    """[LP] §3.2: min(ε_lb, ε_ub), the first where p ≤ 1−p, the second elsewhere.

    >>> round(epsilon_both(0.55, 0.1), 5)
    0.40134
    """
    return epsilon_lb(p, advantage, diameter) if p <= 1 - p else epsilon_ub(p, advantage, diameter)


def equation_1(goal: float, others: float, a: float, advantage: float) -> float:
    """[LP] (1): the ε from a set X̂_a of others, each within a of the goal."""
    return epsilon_for(goal, others, a, advantage)


def equation_1_posterior(goal: float, others: float, a: float, epsilon: float) -> float:
    """The posterior that (1) is solved from: 1/(1 + e^{−aε}·P[X̂_a]/P[X']).

    >>> round(equation_1_posterior(0.5, 0.5, 2.0, 1.0), 3)
    0.881
    """
    return 1 / (1 + math.exp(-a * epsilon) * others / goal)


def others_near_all(ball: Ball, r: float, a: float) -> float:
    """P[X̂_a] as §3.2 and §4.1 define it: points within a of *every* point of X', so within a−r of t."""
    return max(ball(a - r) - ball(r), 0.0)


def others_as_evaluated(ball: Ball, r: float, a: float) -> float:
    """P[X̂_a] as §4.1 then computes it: g(a) − g(r)."""
    return ball(a) - ball(r)


def best_over_a(epsilon: Callable[[float], float], low: float, high: float, points: int = 801) -> float:
    """§3.2: try several a and keep the largest ε."""
    return max(epsilon(float(a)) for a in np.linspace(low, high, points))


def squeezed_epsilon(p: float, a: float, advantage: float) -> float:
    """[LP] §4.1, squeezing: X := X' ∪ X̂_a, P[X'] kept and all other weight counted as P[X̂_a]; (1) with 1 − p.

    >>> round(squeezed_epsilon(0.2, 1.0, 0.1), 3)
    0.539
    """
    return equation_1(p, 1 - p, a, advantage)


def squeezed_posterior(p: float, a: float, epsilon: float) -> float:
    """[LP] §4.1, squeezing: the posterior that `squeezed_epsilon` is solved from."""
    return equation_1_posterior(p, 1 - p, a, epsilon)


def uniform_ball(z: float, diameter: float) -> float:
    """[LP] §4.1, uniform: g(z) = 2z/R for a true value in the middle."""
    return 2 * z / diameter


def corner_ball(z: float, diameter: float) -> float:
    """[LP] §4.1, uniform, true value in a corner: with a' = 2a in the exponent, g(a') = a'/R."""
    return z / diameter


def corner_epsilon(r: float, diameter: float, a: float, advantage: float) -> float:
    """[LP] §4.1, uniform, corner: (1) with P[X'] = 2r/R and P[X̂] = (a' − 2r)/R, a' in the exponent."""
    goal = uniform_ball(r, diameter)
    return equation_1(goal, corner_ball(a, diameter) - goal, a, advantage)


def cdf_ball(cdf: Callable[[float], float], at: float) -> Ball:
    """[LP] §4.1, CDF: g(z) = F(t+z) − F(t−z) (printed with x for t, and as a set)."""
    return lambda z: cdf(at + z) - cdf(at - z)


def normal_range(mean: float, sd: float) -> float:
    """[LP] §4.1: R = μ + 3√2σ for a normal prior.

    >>> round(normal_range(2000, 235.7))
    3000
    """
    return mean + 3 * math.sqrt(2) * sd


def worst_prior(advantage: float) -> float:
    """[LP] §4.1: the prior that needs most noise for a given δ, (1−δ)/2.

    >>> worst_prior(0.1)
    0.45
    """
    return (1 - advantage) / 2


def epsilon_slope(p: float, advantage: float, diameter: float = 1.0, q: float = 1.0) -> float:
    """[LP] §4.1: the derivative of ε in p, with q − p in the place of 1 − p where only g(a) = q is known."""
    rest = q - p
    return (1 / ((p + advantage) - (p + advantage) ** 2) - 1 / (rest - rest**2)) / diameter


def partly_known_worst_prior(q: float, advantage: float) -> float:
    """[LP] §4.1: (δ(1−δ) + q(1−q))/(2(δ + q − 1)).

    >>> round(partly_known_worst_prior(0.8, 0.1), 2)
    -1.25
    """
    return (advantage * (1 - advantage) + q * (1 - q)) / (2 * (advantage + q - 1))


def worst_prior_for_epsilon(epsilon: float) -> float:
    """[LP] §4.1, discrete list: the worst prior for a given ε, printed as 1/(1 + e^{−ε/2}).

    >>> round(worst_prior_for_epsilon(1.0), 4)
    0.6225
    """
    return 1 / (1 + math.exp(-epsilon / 2))


def discrete_epsilon(priors: Sequence[float], advantage: float, diameter: float = 1.0) -> float:
    """[LP] §4.1, discrete list: the smaller ε of the nearest priors left and right of the worst one.

    >>> round(discrete_epsilon([0.1, 0.05, 0.125, 0.2, 0.025], 0.1), 3)
    0.539
    """
    worst = worst_prior(advantage)
    left = [p for p in priors if p <= worst]
    right = [p for p in priors if p >= worst]
    nearest = [max(left)] if left else []
    nearest += [min(right)] if right else []
    return min(epsilon_lb(p, advantage, diameter) for p in nearest)


def theorem_1(goal: Sequence[float], balls: Sequence[float], a: Sequence[float], advantage: float) -> float:
    """[LP] Theorem 1 (AND): (1) with Πgᵢ(rᵢ), Πgᵢ(aᵢ) − Πgᵢ(rᵢ) and a = max aᵢ. `goal` lists gᵢ(rᵢ), `balls` gᵢ(aᵢ)."""
    inside = math.prod(goal)
    return equation_1(inside, math.prod(balls) - inside, max(a), advantage)


def half_widths(a: float, ranges: Sequence[float]) -> list[float]:
    """[LP] §4.2: one a for the distance, and aᵢ = min(a, Rᵢ) for the weights.

    >>> half_widths(5.0, [4.0, 10.0])
    [4.0, 5.0]
    """
    return [min(a, most) for most in ranges]


def or_prior(balls: Sequence[float], smaller: Sequence[float]) -> float:
    """[LP] §4.3 and Theorem 2: the prior of an OR, printed as Πg(aᵢ) − Πg(aᵢ − rᵢ)."""
    return math.prod(balls) - math.prod(smaller)


def theorem_2(balls: Sequence[Ball], r: Sequence[float], a: Sequence[float], advantage: float) -> tuple[float, ...]:
    """[LP] Theorem 2 (OR): (ε₀, ε₁ … εₙ), of which the least is to be taken; a = max aᵢ as the theorem states it."""
    around = [g(x) for g, x in zip(balls, a, strict=True)]
    smaller = [g(x - y) for g, x, y in zip(balls, a, r, strict=True)]
    single = [g(y) for g, y in zip(balls, r, strict=True)]
    distance = max(a)
    first = epsilon_for(or_prior(around, smaller), math.prod(smaller), distance, advantage)
    return (first, *(epsilon_for(p, g - p, distance, advantage) for p, g in zip(single, around, strict=True)))


def theorem_2_distance(a: Sequence[float]) -> float:
    """[LP] §4.3, before the theorem: blocks are a = 2·max aᵢ wide."""
    return 2 * max(a)


def theorem_3(epsilons: Sequence[float]) -> float:
    """[LP] Theorem 3: sequential composition, Σεᵢ."""
    return math.fsum(epsilons)


def theorem_4(epsilons: Sequence[float], p: float) -> float:
    """[LP] Theorem 4: for an ℓp distance over separate components the dual norm, ‖ε‖_q.

    >>> theorem_4([0.3, 0.4], 2), theorem_4([0.3, 0.4], 1), theorem_4([0.3, 0.4], math.inf)
    (0.5, 0.4, 0.7)
    """
    if p == 1:
        return max(epsilons)
    q = 1.0 if math.isinf(p) else p / (p - 1)
    return math.fsum(e**q for e in epsilons) ** (1 / q)


def equal_split(epsilon: float, count: int, p: float) -> list[float]:
    """[LP] §5: similar queries get the same εᵢ, here as large as Theorem 4 allows for a total of ε.

    >>> equal_split(1.0, 4, math.inf), equal_split(1.0, 4, 1), equal_split(1.0, 4, 2)
    ([0.25, 0.25, 0.25, 0.25], [1.0, 1.0, 1.0, 1.0], [0.5, 0.5, 0.5, 0.5])
    """
    return [epsilon / theorem_4([1.0] * count, p)] * count
