"""Lee & Clifton's and Wood et al.'s limits as calls: what the published formula says, and what is true beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

import numpy as np

from guessproof.errors import ParameterError
from guessproof.papers.kazan_reiter import equation_42, equation_45
from guessproof.risk import FiniteWorld, largest_epsilon
from guessproof.world import Array, real

Word = Literal["tight", "sound but loose", "unsound"]
Statistic = Callable[[Sequence[float]], float]
CLOSE = 1e-6  # relative
NOTHING = 1e-9  # an ε or a probability below this is rounding
ULP = 2.0**-53


@dataclass(frozen=True)
class Published:
    """A published limit with its verdict: `value` is what the formula says, `truth` what is so in its setting."""

    what: Literal["epsilon", "posterior"]
    value: float
    truth: float
    """The largest ε that keeps the limit, on the private side; or the largest posterior that can be reached."""
    source: str
    assumes: tuple[str, ...]

    @property
    def factor(self) -> float:
        """How many times too careful the formula is: 1 where it is exact, below 1 where it breaks its promise."""
        above, below = (self.truth, self.value) if self.what == "epsilon" else (self.value, self.truth)
        if above == below or abs(above - below) <= NOTHING:
            return 1.0
        return above / below if below else math.inf

    @property
    def verdict(self) -> Word:
        """Follows from the two numbers alone."""
        if self.factor < 1 - CLOSE:
            return "unsound"
        return "tight" if self.factor <= 1 + CLOSE else "sound but loose"

    def __str__(self) -> str:
        name = "ε" if self.what == "epsilon" else "posterior"
        return f"{name} = {self.value:.6g} (published, {self.verdict}: {self.truth:.6g} is exact); {self.source}"


def lee_clifton(
    population: Iterable[float],
    *,
    posterior: float,
    statistic: Literal["sum", "mean"] | Statistic = "sum",
) -> Published:
    """The ε after which nobody is believed to be the one missing with more than `posterior`.

    The population is public, one of its people is missing from the data, each as likely, and the statistic is
    released with Laplace noise of scale ΔT/ε, [KR] (42) to (44). `statistic` may be any function of a list of numbers.

    >>> print(lee_clifton([1, 2, 3, 4], posterior=1 / 3, statistic="mean"))
    ε = 0.337888 (published, sound but loose: 0.52515 is exact); Lee & Clifton 2011, as [KR] (42) to (44) tell it
    """
    limit, people = _probability("posterior", posterior), _population(population)
    removal, exchange, without = _differences(people, statistic)
    size = len(people)
    if (size - 1) * limit < (1 - limit) * (1 - 8 * ULP):
        raise ParameterError("posterior", posterior, "is below the prior 1/n", f"allow at least {1 / size:g}")
    value = math.inf
    if limit < 1 and exchange > 0:
        value = max(0.0, equation_42(size, limit, removal, exchange))
    return Published(
        "epsilon",
        value,
        _largest(np.sort(without), removal, limit),
        "Lee & Clifton 2011, as [KR] (42) to (44) tell it",
        (
            "the population is public, and exactly one of its people is missing, each as likely",
            "the release is the statistic with Laplace noise of scale ΔT/ε",
        ),
    )


def wood(*, absent: float, epsilon: float | None = None, present: float | None = None) -> Published:
    """How far taking part can raise a posterior that would be `absent` without, or the ε that keeps it to `present`.

    >>> print(wood(absent=0.25, epsilon=0.5))
    posterior = 0.475367 (published, tight: 0.475367 is exact); Wood et al. 2018, as [KR] (45) tells it
    >>> print(wood(absent=0.25, present=0.5))
    ε = 0.549306 (published, tight: 0.549306 is exact); Wood et al. 2018, as [KR] (45) tells it
    """
    source = "Wood et al. 2018, as [KR] (45) tells it"
    assumes = ("ε bounds the effect of taking part, so that two values of a participant are two steps apart",)
    if (epsilon is None) == (present is None):
        given = "neither" if epsilon is None else "both"
        raise ParameterError("epsilon, present", given, "one of the two is asked for", "give epsilon or present")
    prior = _probability("absent", absent)
    if present is None:
        spent = real(ParameterError, "epsilon", epsilon, infinite=True)
        if spent < 0:
            raise ParameterError("epsilon", epsilon, "is negative", "give an ε of 0 or more")
        value = equation_45(prior, spent) if prior else 0.0
        truth = value if value in (0, 1) else _two_steps(prior).posterior([1, 0], spent).attack
        return Published("posterior", value, float(np.asarray(truth)), source, assumes)
    limit = _probability("present", present)
    if limit < prior:
        raise ParameterError("present", present, "is below the posterior without", f"allow at least {prior:g}")
    value = math.inf
    if prior > 0 and limit < 1:  # (45) inverted; each logarithm on its own, since a quotient may underflow
        terms = (math.log(limit), -math.log1p(-limit), -math.log(prior), math.log1p(-prior))
        value = max(0.0, 0.5 * math.fsum(terms))
    truth = _two_steps(prior).epsilon([1, 0], posterior=limit) if 0 < prior < limit < 1 else value
    return Published("epsilon", value, float(truth), source, assumes)


def _probability(field: str, value: Any) -> float:
    result = real(ParameterError, field, value)
    if not 0 <= result <= 1:
        raise ParameterError(field, value, "is not a probability", "give a number between 0 and 1")
    return result


def _population(population: Any) -> Array:
    try:
        values = np.sort(np.asarray(list(population), dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("population", population, "is not a list of numbers", "give numbers") from None
    if values.ndim != 1 or len(values) < 2:
        raise ParameterError("population", population, "has nobody to choose from", "give at least 2 people")
    if not np.all(np.isfinite(values)):
        raise ParameterError("population", population, "holds a NaN or an infinity", "give finite numbers")
    return values


def _differences(values: Array, statistic: Any) -> tuple[float, float, Array]:
    """ΔT (43), Δv (44), and the statistic without each person in turn, up to a constant that no difference sees."""
    size, spread = len(values), float(values[-1] - values[0])
    if statistic == "sum":
        return float(np.max(np.abs(values))), spread, -values
    if size < 3:
        raise ParameterError("population", values.tolist(), "nobody is left without two", "give at least 3 people")
    if callable(statistic):
        return _by_trying(values.tolist(), statistic)  # pyright: ignore[reportArgumentType]
    if statistic != "mean":
        raise ParameterError("statistic", statistic, "is not known", 'give "sum", "mean" or a function of a list')
    # Without i the mean is (S − vᵢ)/(n−1), without j too it is (S − vᵢ − vⱼ)/(n−2); they differ by
    # ((n−1)vⱼ + vᵢ − S) / ((n−1)(n−2)), which is extreme where vⱼ and vᵢ are the two largest or smallest.
    total = math.fsum(values)
    pairs = ((values[-1], values[-2]), (values[0], values[1]))
    most = max(abs(math.fsum([(size - 1) * first, second, -total])) for first, second in pairs)
    return most / ((size - 1) * (size - 2)), spread / (size - 1), -values / (size - 1)


def _by_trying(listed: list[float], statistic: Statistic) -> tuple[float, float, Array]:
    def value(kept: list[float]) -> float:
        return real(ParameterError, "statistic", statistic(kept))

    without, removal = [value(listed[:i] + listed[i + 1 :]) for i in range(len(listed))], 0.0
    for i, one in enumerate(without):
        rest = listed[:i] + listed[i + 1 :]
        twice = [value(rest[:k] + rest[k + 1 :]) for k in range(len(rest))]
        removal = max(removal, *(abs(other - one) for other in twice))
    return removal, max(without) - min(without), np.array(without)


def _two_steps(absent: float) -> FiniteWorld:
    return FiniteWorld(prior=[absent, 1 - absent], distance=[[0, 2], [2, 0]])


def _largest(without: Array, removal: float, posterior: float) -> float:
    """The largest ε with max_i 1/Σ_j e^{−ε|Tᵢ−Tⱼ|/ΔT} ≤ posterior: one answer each if one is missing (theory §9).

    The worst release points at the answer without i, and a tent around one point is exact.
    """
    size = len(without)
    if removal == 0:
        return math.inf
    gaps = np.diff(without) / removal

    def gained(epsilon: Array) -> Array:
        return np.vectorize(lambda e: _belief(gaps, float(e)) - 1 / size)(epsilon)

    return float(largest_epsilon(gained, np.asarray(posterior - 1 / size)))


def _belief(gaps: Array, epsilon: float) -> float:
    """The largest belief in one of the points of a line, equally likely before; never below the true one."""
    shrink = np.exp(-epsilon * gaps).tolist()
    step: Callable[[Any, Any], Any] = lambda seen, factor: (seen + 1) * factor  # noqa: E731
    left = np.array(list(accumulate(shrink, step, initial=0.0)))
    right = np.array(list(accumulate(reversed(shrink), step, initial=0.0)))[::-1]
    return min(float(np.max(1 / (1 + left + right))) * (1 + 4 * (len(gaps) + 4) * ULP), 1.0)
