"""What was counted, and how surely it speaks against a promise.

All tests are exact or conservative, and decided before anything is drawn: their number is known, so each gets an equal
share of the false-alarm rate (Bonferroni), and together they fail a correct release no more often than that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv


@dataclass(frozen=True)
class Counted:
    """How often an event of known probability was seen.

    `probability` may be the mean of different ones: sums of such events stray no further than a binomial count with
    the mean probability (Hoeffding 1956, Theorem 4), so the same test holds.
    """

    name: str
    hits: int
    trials: int
    probability: float

    def p_value(self) -> float:
        """Two-sided."""
        lower = float(bdtr(self.hits, self.trials, self.probability))
        upper = 1.0 if self.hits == 0 else float(bdtrc(self.hits - 1, self.trials, self.probability))
        return min(1.0, 2 * min(lower, upper))

    def interval(self, level: float) -> tuple[float, float]:
        """Clopper–Pearson, both sides together wrong with probability `level` at most."""
        return clopper_pearson(self.hits, self.trials, level)


@dataclass(frozen=True)
class Compared:
    """The same event on two neighbouring tables: P(here) ≤ e^epsilon·P(there) + delta was promised."""

    name: str
    here: int
    there: int
    trials: tuple[int, int]
    epsilon: float
    delta: float = 0.0

    def least_ratio(self, level: float) -> float:
        """ln of the ratio, surely (but for `level`) no smaller."""
        low = clopper_pearson(self.here, self.trials[0], level)[0] - self.delta
        high = clopper_pearson(self.there, self.trials[1], level)[1]
        return math.log(low / high) if low > 0 else -math.inf

    def most_ratio(self, level: float) -> float:
        """ln of the ratio, surely (but for `level`) no larger."""
        high = clopper_pearson(self.here, self.trials[0], level)[1] - self.delta
        low = clopper_pearson(self.there, self.trials[1], level)[0]
        return math.log(high / low) if low > 0 and high > 0 else math.inf

    def is_broken(self, level: float) -> bool:
        """Whether the promise is broken, wrongly said with probability `level` at most.

        Each interval errs to the side that matters with half of `level`.
        """
        return self.least_ratio(level) > self.epsilon + 1e-9

    @property
    def ratio(self) -> float | None:
        """The measured logarithm of the ratio; None where the event was not seen on both."""
        if not self.here or not self.there:
            return None
        return math.log(self.here / self.trials[0]) - math.log(self.there / self.trials[1])


@dataclass(frozen=True)
class Fitted:
    """The largest gap between the noise seen and its declared distribution (Kolmogorov–Smirnov)."""

    name: str
    gap: float
    trials: int

    def p_value(self) -> float:
        """At most 2·e^(−2·trials·gap²), whatever the distribution (Massart 1990)."""
        return min(1.0, 2 * math.exp(-2 * self.trials * self.gap**2))

    def allowed(self, level: float) -> float:
        """A gap that is exceeded with probability `level` at most."""
        return math.sqrt(math.log(2 / level) / (2 * self.trials))


def clopper_pearson(hits: int, trials: int, level: float) -> tuple[float, float]:
    """The exact interval of a probability; each end errs with probability level/2 at most.

    >>> [round(end, 4) for end in clopper_pearson(0, 100, 0.05)]
    [0.0, 0.0362]
    """
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, level / 2))
    high = 1.0 if hits == trials else 1 - float(betaincinv(trials - hits, hits + 1, level / 2))
    return low, high


def measure_fit(name: str, noise: Any, mechanism: Any, whole: bool) -> Fitted:
    """The gap of a sample of noise to its mechanism's distribution."""
    values, counts = np.unique(np.asarray(noise, dtype=float), return_counts=True)
    total = int(counts.sum())
    upto = np.cumsum(counts) / total
    cdf = np.asarray(mechanism.cdf(values), dtype=float)
    if whole:  # both are steps: right ends, and left ends just before the value
        before = np.asarray(mechanism.cdf(values - 1), dtype=float)
        gap = max(np.max(np.abs(upto - cdf)), np.max(np.abs(upto - counts / total - before)))
    else:
        gap = max(np.max(upto - cdf), np.max(cdf - (upto - counts / total)))
    return Fitted(name, float(gap), total)


def worst(facts: Sequence[Counted]) -> Counted:
    """The one that speaks loudest against its probability."""
    return min(facts, key=lambda f: f.p_value())
