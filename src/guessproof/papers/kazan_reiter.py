"""Kazan & Reiter, "Prior-itizing Privacy", draft of 23 April 2023, as published: sections 2, 4 and the appendix.

[KR] is read as a transcription; later versions were not checked. p is the prior probability of being in the data, q
that of a value in S given that. NaN stands where a printed formula has no value. The closed forms of section 3.1 are in
`kazan_reiter_profiles`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations

Profile = Callable[[float, float], float]
Statistic = Callable[[Sequence[float]], float]


def log_or_nan(value: float) -> float:
    """ln, with NaN (not an error) where there is none and +∞ for an infinite argument."""
    return math.log(value) if value > 0 else math.nan


def definition_1(included: float, absent: float, epsilon: float) -> bool:
    """[KR] Definition 1 (1): e^{−ε} ≤ P(t*|included)/P(t*|absent) ≤ e^{ε}, to rounding."""
    return abs(math.log(included) - math.log(absent)) <= epsilon * (1 + 1e-12) + 1e-12


def unbounded_to_bounded(epsilon: float) -> float:
    """[KR] below Definition 1: unbounded ε is bounded 2ε."""
    return 2 * epsilon


def geometric_mass(noise: int, epsilon: float) -> float:
    """[KR] Definition 2 (2): (1−e^{−ε})/(1+e^{−ε})·e^{−ε|k|}.

    >>> round(geometric_mass(0, 1.3), 2)
    0.57
    """
    return (1 - math.exp(-epsilon)) / (1 + math.exp(-epsilon)) * math.exp(-epsilon * abs(noise))


def geometric_variance(epsilon: float) -> float:
    """[KR] (3): 2e^{−ε}/(1−e^{−ε})².

    >>> round(geometric_variance(1.0), 4)
    1.8413
    """
    return 2 * math.exp(-epsilon) / (1 - math.exp(-epsilon)) ** 2


def relative_risk(posterior: float, p: float, q: float) -> float:
    """[KR] Definition 3 (5): posterior over prior, r = a/(pq)."""
    return posterior / (p * q)


def split_relative_risk(value_after: float, q: float, inclusion_after: float, p: float) -> float:
    """[KR] (6): the value's ratio times the inclusion's ratio."""
    return value_after / q * (inclusion_after / p)


def absolute_risk(relative: float, p: float, q: float) -> float:
    """[KR] Definition 4 (7), by r = a/(pq)."""
    return relative * p * q


def corollary_1(epsilon: float) -> float:
    """[KR] (8), Corollary 1 (47): r ≤ e^{2ε}."""
    return math.exp(2 * epsilon)


def corollary_1_middle(p: float, q: float, epsilon: float) -> tuple[float, float]:
    """[KR] (83): the two fractions in the middle of Corollary 1's proof, the first said to be at most the second."""
    shrink = math.exp(-2 * epsilon)
    return 1 / (q * p + shrink * (1 - q) * p), 1 / (shrink + q * p * (1 - shrink))


def lemma_1(epsilon: float) -> tuple[float, float]:
    """[KR] Lemma 1 (20), Lemma 2 (25): the range of P(t*|included, value)/P(t*|absent)."""
    return math.exp(-epsilon), math.exp(epsilon)


def lemma_2(epsilon: float) -> tuple[float, float]:
    """[KR] Lemma 2 (26): the range of P(t*|value in S)/P(t*|value not in S)."""
    return math.exp(-2 * epsilon), math.exp(2 * epsilon)


def theorem_1(p: float, q: float, epsilon: float) -> float:
    """[KR] Theorem 1 (27): 1/(qp + e^{−2ε}(1−q)p + e^{−ε}(1−p)).

    >>> round(theorem_1(0.05, 0.3, 1.0), 6)
    2.708396
    """
    return 1 / (q * p + math.exp(-2 * epsilon) * (1 - q) * p + math.exp(-epsilon) * (1 - p))


def theorem_2(p: float, q: float, ratio: float) -> float:
    """[KR] Theorem 2 (35), (49), (50), (68): the ε that keeps r ≤ ratio at one (p, q), in the printed form.

    The transcription of (35) and (36) ends the root before its last factor; (17), (49) and (68) do not, and are used.

    >>> round(theorem_2(0.05, 1.0, 3.0), 6)
    1.209838
    """
    inverse = 0.0 if math.isinf(ratio) else 1 / ratio
    if q == 1:
        return _log_ratio(1 - p, inverse - p)
    square = (1 - p) ** 2 + 4 * p * (1 - q) * (inverse - p * q)
    if square < 0:
        return math.nan
    return _log_ratio(2 * p * (1 - q), math.sqrt(square) - (1 - p))


def corollary_2(q: float, ratio: float) -> float:
    """[KR] Corollary 2 (48): ½ ln((1−q)/(1/r*−q)) for p = 1."""
    return 0.5 * _log_ratio(1 - q, 1 / ratio - q)


def lemma_3(p: float, q: float, absolute: float) -> float:
    """[KR] Lemma 3 (49): ε for r* = ã/(pq), said to fall in p and in q."""
    return theorem_2(p, q, absolute / (p * q))


def lemma_4(p: float, q: float, relative: float) -> float:
    """[KR] Lemma 4 (50): ε for r* = r̃; rises in q; in p it falls, stays or rises as q is below, at, above 1/(r̃+1)."""
    return theorem_2(p, q, relative)


def equation_17(profile: Profile, p: Iterable[float], q: Iterable[float]) -> float:
    """[KR] (17), (36): the least ε over (p, q), here over given points; points without a value are passed over."""
    second = list(q)
    values = (theorem_2(a, b, profile(a, b)) for a in p for b in second)
    return min((v for v in values if not math.isnan(v)), default=math.inf)


def assumption_2(worlds: Iterable[tuple[float, bool, Hashable]]) -> float:
    """[KR] Assumption 2: how far the others' distributions with and without i are apart, 0 where it holds.

    Each world has a prior, whether i is in the data, and the other records. The distance is total variation.

    >>> assumption_2([(0.2, True, "a"), (0.2, True, "b"), (0.3, False, "a"), (0.3, False, "b")])
    0.0
    """
    with_i: Counter[Hashable] = Counter()
    without: Counter[Hashable] = Counter()
    for prior, included, others in worlds:
        (with_i if included else without)[others] += prior  # pyright: ignore[reportArgumentType]
    total, rest = sum(with_i.values()), sum(without.values())
    return sum(abs(with_i[key] / total - without[key] / rest) for key in {*with_i, *without}) / 2


# --- section 5: earlier work ---


def redefined_risks(missing: float, posterior: float) -> tuple[float, float, float]:
    """[KR] (37) to (39): p, r and a for the event that i is *not* in the data, with q = 1."""
    return missing, posterior / missing, posterior


def equation_40(n: int, absolute: float) -> float:
    """[KR] (40): a limit ã on the posterior at p = 1/n, q = 1 is the ratio nã.

    >>> round(equation_40(4, 1 / 3), 6)
    1.333333
    """
    return n * absolute


LEE_CLIFTON_RANGE = (0.34, 1.62)
"""[KR] §5.1: 'as low as 0.34 and as high as 1.62 in the authors' examples'."""


def equation_41(n: int, absolute: float) -> float:
    """[KR] (41): ln((n−1)ã/(1−ã)), the framework's ε for Lee & Clifton's question.

    >>> round(equation_41(4, 1 / 3), 2)
    0.41
    """
    return math.log((n - 1) * absolute / (1 - absolute))


def delta_t(population: Sequence[float], statistic: Statistic) -> float:
    """[KR] (43): the most that leaving out one more person changes the statistic, one being left out already."""
    size = len(population)
    larger = [[population[i] for i in kept] for kept in combinations(range(size), size - 1)]
    return max(abs(statistic(one) - statistic([*one[:k], *one[k + 1 :]])) for one in larger for k in range(size - 1))


def delta_v(population: Sequence[float], statistic: Statistic) -> float:
    """[KR] (44): the most by which the statistic tells apart two people left out."""
    values = [statistic(list(kept)) for kept in combinations(population, len(population) - 1)]
    return max(values) - min(values)


def equation_42(n: int, absolute: float, removal: float, exchange: float) -> float:
    """[KR] (42), after Lee & Clifton: (ΔT/Δv)·ln((n−1)ã/(1−ã))."""
    return removal / exchange * equation_41(n, absolute)


def equation_45(absent: float, epsilon: float) -> float:
    """[KR] (45), after Wood et al.: a₁ ≤ a₀/(a₀ + e^{−2ε}(1−a₀))."""
    return absent / (absent + math.exp(-2 * epsilon) * (1 - absent))


def equation_46(q: float, epsilon: float) -> float:
    """[KR] (46): a(1, q) ≤ q/(q + e^{−2ε}(1−q))."""
    return q / (q + math.exp(-2 * epsilon) * (1 - q))


def _log_ratio(above: float, below: float) -> float:
    if below == 0:
        return math.inf if above > 0 else math.nan
    return log_or_nan(above / below)
