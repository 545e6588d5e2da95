"""Laud & Pankova, appendices A and B, as published."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import lambertw

from guessproof.mechanisms.base import root

Density = Callable[[float], float]


# --- A: the best radius for a uniform prior on a ball of radius R ---


def best_a(epsilon: float, r: float) -> float:
    """[LP] A, n = 1: a = 1/ε + r."""
    return 1 / epsilon + r


def uniform_posterior(epsilon: float, r: float) -> float:
    """[LP] A, n = 1: 1/(1 + (e^{εr+1}·εr)⁻¹)."""
    return 1 / (1 + 1 / (math.exp(epsilon * r + 1) * epsilon * r))


def lambert_epsilon(r: float, radius: float, advantage: float) -> float:
    """[LP] A, n = 1: W((r/R+δ)/(e·(1−(r/R+δ))))/r.

    >>> round(lambert_epsilon(1.0, 2.0, 0.01), 4)
    0.2873
    """
    share = r / radius + advantage
    if share >= 1:
        return math.inf
    return float(lambertw(share / (math.e * (1 - share))).real) / r


def lambert_iteration(y: float, steps: int) -> list[float]:
    """[LP] A: w_{n+1} = w_{n−1} − (w_{n−1}e^{w_n} − y)/((w_n+1)e^{w_n}), w₀ = 1 (and w₋₁ = 1, which is not given)."""
    w = [1.0, 1.0]
    for _ in range(steps):
        growth = math.exp(w[-1])
        w.append(w[-2] - (w[-2] * growth - y) / ((w[-1] + 1) * growth))
    return w[1:]


def equation_2(epsilon: float, r: float, n: int, a: float | None = None) -> float:
    """[LP] (2): e^{aε}·(r/a)ⁿ; at a = n/ε it is (εer/n)ⁿ.

    >>> round(equation_2(0.1, 1.0, 1), 4)
    0.2718
    """
    a = n / epsilon if a is None else a
    return math.exp(a * epsilon) * (r / a) ** n


# --- A.1: how probable it is that noise stays below a bound ---


def laplace_bound(epsilon: float, confidence: float) -> float:
    """[LP] A.1: a = −ln(1−p)/ε.

    >>> round(laplace_bound(0.5, 0.95), 4)
    5.9915
    """
    return -math.log(1 - confidence) / epsilon


def cauchy_density(z: float) -> float:
    """[LP] A.1: √2/π · 1/(1+z⁴)."""
    return math.sqrt(2) / math.pi / (1 + z**4)


CAUCHY_CONFIDENCE = 0.78
"""[LP] A.1: the printed probability that |z| ≤ 1."""


def cauchy_b(epsilon: float, gamma: float = 4.0, beta: float = 0.0) -> float:
    """[LP] A.1: b = ε/γ − β for generalised Cauchy noise.

    >>> cauchy_b(1.0)
    0.25
    """
    return epsilon / gamma - beta


def rescaled_density(density: Density, scale: float) -> Density:
    """[LP] A.1, last line: the density of scaled noise, printed as f(ξx)/ξ."""
    return lambda x: density(scale * x) / scale


# --- B: (ε, δ) ---


def average_advantage(gain: float, success: float) -> float:
    """[LP] B: Δ = ε'δ' + (1−δ') = 1 + (ε'−1)δ', δ' the probability that the gain stays below ε'.

    >>> round(average_advantage(0.1, 0.99), 4)
    0.109
    """
    return 1 + (gain - 1) * success


def approximate_gain(p: float, q: float, epsilon: float, delta: float, least_density: float) -> float:
    """[LP] B.1: ε' = 1/(1 + (e^ε + δ/χ)⁻¹·q/p) − p, χ the least density of the output outside the goal."""
    return 1 / (1 + q / (p * (math.exp(epsilon) + delta / least_density))) - p


def needed_density(p: float, q: float, epsilon: float, delta: float, gain: float) -> float:
    """[LP] B.1: χ ≥ δ/((p+ε')/(1−(p+ε'))·q/p − e^ε) for a wanted gain ε'; ∞ where none is enough."""
    room = (p + gain) / (1 - p - gain) * q / p - math.exp(epsilon)
    return delta / room if room > 0 else math.inf


def success_for_gain(density: Density, confidence: Density, moved: float, needed: float) -> float:
    """[LP] B.1, ε' fixed: δ' = P(|noise| ≤ d) with f(c(t) + d) = χ, `moved` for c(t); 0 where there is no such d."""
    if density(moved) <= needed:
        return 0.0
    far = moved
    while density(moved + far) > needed:
        far *= 2
    return confidence(root(lambda d: density(moved + d) - needed, 0.0, far))


def probabilistic_gain(p: float, epsilon: float) -> float:
    """[LP] B.2 with Definition 7: the gain under ε alone, said to hold with probability 1−δ."""
    return p / (p + math.exp(-epsilon) * (1 - p)) - p


def approximate_posterior(p: float, q: float, epsilon: float, delta: float, largest_density: float) -> float:
    """[LP] B.2 with Definition 6: 1/(1 + e^{−ε}(1 − δ/χ̄)·q/p), χ̄ the largest density of the output."""
    return 1 / (1 + math.exp(-epsilon) * (1 - delta / largest_density) * q / p)


def smooth_delta(epsilon: float, b: float, beta: float) -> float:
    """[LP] B.2: δ = 2e^{ε−1−(ε−b)/β} for Laplace noise on a β-smooth sensitivity, b + β ≤ ε."""
    return 2 * math.exp(epsilon - 1 - (epsilon - b) / beta)


def smooth_beta(epsilon: float, b: float, most: float = 1.0) -> float:
    """[LP] B.2: β = (ε−b)/(ε−1−ln(b/(4C))), which makes 4e^{ε−1−(ε−b)/β}·c/b at most c/C."""
    return (epsilon - b) / (epsilon - 1 - math.log(b / (4 * most)))


def smooth_loss(epsilon: float, alpha: float, b: float, beta: float, sensitivity: float) -> float:
    """[LP] B.2: 1 − 4e^{ε−α−1−(ε−α−b')/β}·c/b', which must not fall below e^{−α}."""
    return 1 - 4 * math.exp(epsilon - alpha - 1 - (epsilon - alpha - b) / beta) * sensitivity / b


def smooth_b(epsilon: float, alpha: float, beta: float, sensitivity: float, branch: int = 0) -> float:
    """[LP] B.2: b' = −β·W(−4c·e^{ε−α−1−(ε−α)/β}/((1−e^{−α})β)); NaN where W is not real.

    The paper names no branch of W: 0 is the usual one, −1 the other.
    """
    y = 4 * sensitivity * math.exp(epsilon - alpha - 1 - (epsilon - alpha) / beta) / (-math.expm1(-alpha) * beta)
    if y > 1 / math.e:
        return math.nan
    return -beta * float(lambertw(-y, branch).real)


def smooth_search(
    epsilon: float, beta: float, sensitivity: float, alphas: int = 60, steps: int = 400
) -> tuple[float, float]:
    """[LP] B.2, the parameter search: (α, b') with the largest b' on grids of α ∈ (0, ε) and b' ∈ (0, ε−α−β]."""
    best = (0.0, 0.0)
    for alpha in np.linspace(0, epsilon, alphas + 2)[1:-1]:
        most = epsilon - float(alpha) - beta
        if most <= 0:
            break
        for b in np.linspace(most, 0, steps, endpoint=False):
            if b <= best[1]:
                break
            if smooth_loss(epsilon, float(alpha), float(b), beta, sensitivity) >= math.exp(-alpha):
                best = (float(alpha), float(b))
                break
    return best
