"""Priors with a density on the real line, and what comes of knowing an interval or of several kinds of people.

A family gives its density, its masses and its quantiles from both sides; `world.pieces` makes the rest of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import KnowledgeError, PriorError
from guessproof.world.checks import Array, Floats, Pair, floats, ordered, quiet, weights

HALVINGS = 64  # of an interval of floating-point numbers: until one is left


class LinePrior(ABC):
    """A prior with a density on the real line.

    Nothing else asks which prior it is: a new one is one class here and one entry where plans name priors. It has a
    density, and either `mass` or `cdf`.
    """

    name: str  # as people and plans call it
    support: Pair  # the smallest interval that holds all of the probability
    breaks: Floats = ()  # where the density jumps or bends, inside its support
    inflections: Floats | None = (
        None  # where ln f turns between concave and convex; None if unknown
    )
    is_log_linear: bool = False  # whether ln f is straight between breaks
    is_log_concave: bool = False  # whether this is known of the density
    mirror: float | None = (
        None  # around which value the density is the same on both sides, if that is known
    )
    tail_rates: Pair = (
        np.inf,
        np.inf,
    )  # limits of |(ln f)′| at infinite ends, if inflections are known

    @property
    def weighted(self) -> list[tuple[LinePrior, float]]:
        """The parts that it mixes, with their probabilities."""
        return [(self, 1.0)]

    @abstractmethod
    def log_density(self, x: ArrayLike) -> Array:
        """ln f(x)."""

    def quantile(self, u: ArrayLike, from_right: bool = False) -> Array:
        """The x below which probability u lies, or above which.

        By halving the floating-point numbers of the support: their bits are in order.
        """
        ends = floats(self.support)
        bits = np.abs(ends).view(np.int64) * np.sign(ends).astype(np.int64)
        low, high = (np.full(np.shape(u), end) for end in bits)
        for _ in range(HALVINGS):
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            here = np.abs(middle).view(np.float64) * np.sign(middle)
            inwards = (self.cdf(here, from_right) >= floats(u)) != from_right
            low, high = np.where(inwards, low, middle), np.where(inwards, middle, high)
        return np.abs(high).view(np.float64) * np.sign(high)

    def cdf(self, x: ArrayLike, from_right: bool = False) -> Array:
        """P(X ≤ x), or P(X ≥ x) from the right, to full relative precision."""
        return self.mass(x, np.inf) if from_right else self.mass(-np.inf, x)

    def mass(self, a: ArrayLike, b: ArrayLike) -> Array:
        """P(a ≤ X ≤ b), to nearly all digits of the smaller tail beyond its ends."""
        a, b = (np.clip(floats(end), *self.support) for end in (a, b))
        below = self.cdf(a, False)
        on_left = self.cdf(b, False) - below
        on_right = self.cdf(a, True) - self.cdf(b, True)
        return np.maximum(np.where(below > 0.5, on_right, on_left), 0.0)

    def stretched(self, factor: float) -> LinePrior | None:
        """The same prior, wider (factor > 1) or narrower around its own centre; None where that has no meaning."""
        return None

    def given(self, low: Any, high: Any = None) -> LinePrior:
        """This prior for an attacker who knows that low ≤ x ≤ high."""
        if high is None:
            raise KnowledgeError(
                "knows",
                low,
                "a continuous prior is conditioned on an interval",
                "give two ends, given(low, high)",
            )
        low, high = ordered(KnowledgeError, "knows", low, high)
        low, high = max(low, self.support[0]), min(high, self.support[1])
        if (low, high) == self.support:
            return self
        if not low < high or not self.mass(low, high) > 0:
            raise KnowledgeError(
                "knows",
                (low, high),
                "the prior gives this interval no probability",
                f"choose one inside {self.support}",
            )
        return Truncated(self, low, high)


@dataclass(frozen=True)
class Truncated(LinePrior):
    """A prior conditioned on an interval: what an attacker believes who knows low ≤ x ≤ high."""

    base: LinePrior
    low: float
    high: float

    def __post_init__(self) -> None:
        same = ("name", "inflections", "is_log_linear", "is_log_concave", "tail_rates")
        vars(self).update(
            {fact: getattr(self.base, fact) for fact in same}, support=(self.low, self.high)
        )
        vars(self).update(breaks=tuple(b for b in self.base.breaks if self.low < b < self.high))

    def __repr__(self) -> str:
        return f"{self.base!r}.given({self.low:g}, {self.high:g})"

    @cached_property
    def _whole(self) -> float:
        return float(self.base.mass(self.low, self.high))

    def log_density(self, x: ArrayLike) -> Array:
        x = floats(x)
        inside = (x >= self.low) & (x <= self.high)
        return np.where(inside, self.base.log_density(x) - np.log(self._whole), -np.inf)

    def mass(self, a: ArrayLike, b: ArrayLike) -> Array:
        return self.base.mass(np.maximum(a, self.low), np.minimum(b, self.high)) / self._whole


@dataclass(frozen=True)
class Mixture(LinePrior):
    """Prior parts[i] with probability shares[i]: two kinds of people in one column."""

    parts: tuple[LinePrior, ...]
    shares: Floats

    name = "mixture"

    def __post_init__(self) -> None:
        densities = [part for part in self.parts if isinstance(part, LinePrior)]
        if not 2 <= len(densities) == len(self.parts) == len(self.shares):
            raise PriorError(
                "mixture",
                self.parts,
                "needs two priors with densities or more, each with its weight",
                "write (0.7, normal(20, 5)), …",
            )
        given = zip(self.parts, weights("weights", np.asarray(self.shares)), strict=True)
        pairs = [(p, float(own * s)) for one, own in given for p, s in one.weighted if own > 0]
        parts, shares = zip(*pairs, strict=True)
        low, high = (
            pick(part.support[i] for part in parts) for i, pick in enumerate((min, max))
        )
        places = {x for part in parts for x in (*part.breaks, *part.support)}
        breaks = tuple(sorted(x for x in places if low < x < high))
        vars(self).update(parts=parts, shares=shares, support=(low, high), breaks=breaks)

    def __repr__(self) -> str:
        words = ", ".join(f"({share:g}, {part!r})" for part, share in self.weighted)
        return f"mixture({words})"

    @property
    def weighted(self) -> list[tuple[LinePrior, float]]:
        return list(zip(self.parts, self.shares, strict=True))

    def log_density(self, x: ArrayLike) -> Array:
        return np.logaddexp.reduce(
            [part.log_density(x) + np.log(share) for part, share in self.weighted], axis=0
        )

    def cdf(self, x: ArrayLike, from_right: bool = False) -> Array:
        masses = [share * part.cdf(x, from_right) for part, share in self.weighted]
        return np.sum(masses, axis=0)

    def stretched(self, factor: float) -> Mixture | None:
        """Each part wider or narrower around its own centre."""
        parts: Any = tuple(part.stretched(factor) for part in self.parts)
        return None if None in parts else Mixture(parts, self.shares)


def expit(x: ArrayLike) -> Any:
    """1/(1 + e^{−x}): a belief from its log-odds.

    >>> expit([0.0, -1e9, 1e9]).tolist()
    [0.5, 0.0, 1.0]
    """
    with quiet():
        return 1.0 / (1.0 + np.exp(-floats(x)))


def log_sum(terms: Array) -> Array:
    """ln Σ e^{terms} over the last axis, for terms that may be ±inf."""
    return np.logaddexp.reduce(terms, axis=-1)
