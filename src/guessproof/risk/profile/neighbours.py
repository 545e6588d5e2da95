"""Two earlier ways from a probability to ε, as [KR] section 5 tells them: Lee & Clifton, Wood et al."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from guessproof.errors import ParameterError
from guessproof.risk.profile.checks import Array, number, probability
from guessproof.risk.profile.formulas import ULP

Statistic = Callable[[Sequence[float]], float]


@dataclass(frozen=True)
class Differences:
    """How much a statistic of a public population moves, [KR] (43) and (44)."""

    removal: float
    """ΔT: the most that leaving out one person changes it, one being left out already."""
    exchange: float
    """Δv: the most by which it tells apart two people left out."""

    @property
    def factor(self) -> float:
        """ΔT/Δv, at least ½ for a sum; ∞ where no release can tell who is missing."""
        return self.removal / self.exchange if self.exchange > 0 else math.inf


def lee_clifton_differences(
    population: Iterable[float], statistic: Literal["sum", "mean"] | Statistic = "sum"
) -> Differences:
    """ΔT and Δv of a public population, [KR] (43)-(44); for a SUM or a mean without trying all subsets.

    >>> lee_clifton_differences([-1, 1, 1, 1])
    Differences(removal=1.0, exchange=2.0)
    >>> differences = lee_clifton_differences([1, 2, 3, 6], "mean")
    >>> round(differences.removal, 6), round(differences.exchange, 6)  # e.g. 11/3 - 5/2 and 11/3 - 2
    (1.5, 1.666667)
    >>> lee_clifton_differences([1, 2, 3, 10], lambda values: sorted(values)[len(values) // 2])
    Differences(removal=8.0, exchange=1.0)
    """
    values = _population(population)
    if callable(statistic):
        return _by_trying(values, statistic)
    size, spread = len(values), float(values[-1] - values[0])
    if statistic == "sum":
        return Differences(float(np.max(np.abs(values))), spread)
    _check_mean(values, statistic)
    # Without i the mean is (S − vᵢ)/(n−1), without j too it is (S − vᵢ − vⱼ)/(n−2); they differ by
    # ((n−1)vⱼ + vᵢ − S) / ((n−1)(n−2)), which is extreme where vⱼ and vᵢ are the two largest or smallest.
    total = math.fsum(values)
    extremes = [
        math.fsum([(size - 1) * first, second, -total])
        for first, second in ((values[-1], values[-2]), (values[0], values[1]))
    ]
    removal = max(abs(extreme) for extreme in extremes) / ((size - 1) * (size - 2))
    return Differences(removal, spread / (size - 1))


def statistic_without(population: Iterable[float], statistic: Literal["sum", "mean"] | Statistic) -> Array:
    """The statistic without each person in turn; for a SUM or a mean up to a constant, which no difference sees."""
    values = _population(population)
    if callable(statistic):
        listed = values.tolist()
        return np.array([_value(statistic, listed[:i] + listed[i + 1 :]) for i in range(len(listed))])
    if statistic == "sum":
        return -values
    _check_mean(values, statistic)
    return -values / (len(values) - 1)


def _by_trying(values: Array, statistic: Statistic) -> Differences:
    """(43) and (44) as they stand: every person left out, and then every other."""
    listed, removal = values.tolist(), 0.0
    if len(listed) < 3:
        raise ParameterError("population", listed, "nobody is left when two are missing", "give at least 3 people")
    without = statistic_without(listed, statistic)
    for i, one in enumerate(without):
        rest = listed[:i] + listed[i + 1 :]
        twice = [_value(statistic, rest[:k] + rest[k + 1 :]) for k in range(len(rest))]
        removal = max(removal, float(np.max(np.abs(np.array(twice) - one))))
    return Differences(removal, float(np.max(without) - np.min(without)))


def _value(statistic: Statistic, values: list[float]) -> float:
    return number("statistic", statistic(values))


def _check_mean(values: Array, statistic: Any) -> None:
    if statistic != "mean":
        raise ParameterError("statistic", statistic, "is not known", 'give "sum", "mean" or a function of a list')
    if len(values) < 3:
        raise ParameterError("population", values.tolist(), "a mean of nobody is undefined", "give at least 3 people")


def lee_clifton_epsilon(n: int, absolute: float, differences: Differences | None = None) -> float:
    """The ε after which no one of n people is believed missing with more than ``absolute``, [KR] (41), (42).

    One of n known people is missing from a release with Laplace noise of scale ΔT/ε, each as likely. With
    ``differences`` this is (42), which holds in that setting. Without, it is (41), which takes two missing
    people to be one step apart; they are up to two, so halve it where nothing else is known.

    >>> round(lee_clifton_epsilon(4, 1 / 3), 4)  # ln(3/2)
    0.4055
    >>> round(lee_clifton_epsilon(4, 1 / 3, lee_clifton_differences([-1, 1, 1, 1])), 4)
    0.2027
    """
    size, limit = number("n", n), probability("absolute", absolute)
    if size < 2 or size != int(size):
        raise ParameterError("n", n, "is not a number of people to choose from", "give a whole number from 2")
    odds = (size - 1) * limit
    if odds < (1 - limit) * (1 - 8 * ULP):
        raise ParameterError("absolute", absolute, "is below the prior 1/n", f"allow at least {1 / size:g}")
    if limit == 1:
        return math.inf
    epsilon = max(0.0, math.log(odds / (1 - limit)) - 8 * ULP)
    if differences is None:
        return epsilon
    return epsilon * differences.factor * (1 - 4 * ULP) if math.isfinite(differences.factor) else math.inf


def wood_posterior(absent: float, epsilon: float) -> float:
    """The most that taking part can make of a posterior that would be ``absent`` without, [KR] (45).

    >>> round(wood_posterior(0.25, math.log(3) / 2), 6)  # odds 1:3 become odds 1:1
    0.5
    """
    prior, spent = probability("absent", absent), number("epsilon", epsilon, infinite=True)
    if spent < 0:
        raise ParameterError("epsilon", epsilon, "is negative", "give an ε of 0 or more")
    if prior == 0:
        return 0.0
    return prior / (prior + math.exp(-2 * spent) * (1 - prior))


def wood_epsilon(absent: float, present: float) -> float:
    """The ε with which taking part raises a posterior from ``absent`` to at most ``present``: (45) inverted.

    >>> round(wood_epsilon(0.25, 0.5), 6)  # ½ ln 3
    0.549306
    """
    low, high = probability("absent", absent), probability("present", present)
    if high < low:
        raise ParameterError("present", present, "is below the posterior without", f"allow at least {low:g}")
    if high == 1 or low == 0:
        return math.inf
    # Each logarithm on its own: a quotient of tiny probabilities would underflow.
    terms = (math.log(high), -math.log1p(-high), -math.log(low), math.log1p(-low))
    return max(0.0, 0.5 * math.fsum(terms) - 8 * ULP * (1 + math.fsum(map(abs, terms))))


def _population(population: Any) -> Any:
    try:
        values = np.sort(np.asarray(list(population), dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("population", population, "is not a list of numbers", "give numbers") from None
    if values.ndim != 1 or len(values) < 2:
        raise ParameterError("population", population, "has nobody to choose from", "give at least 2 people")
    if not np.all(np.isfinite(values)):
        raise ParameterError("population", population, "holds a NaN or an infinity", "give finite numbers")
    return values
