"""What every prior on the real line can say.

All of the exact theory asks a prior one thing only, its *tilted integral*

    ln ∫_a^b e^{k (x − ref)} f(x) dx,

because a likelihood that is as peaked as privacy allows is, piece by piece, an exponential.
Probability itself is the tilt k = 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import KnowledgeError
from guessproof.world.checks import Array, ordered

Tail = Literal["bounded", "light", "memoryless", "unknown"]

NODES, NODE_WEIGHTS = (np.asarray(part) for part in np.polynomial.legendre.leggauss(16))


class LinePrior(ABC):
    """A prior with a density on the real line."""

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The smallest interval that holds all of the probability."""

    @abstractmethod
    def log_density(self, x: ArrayLike) -> Array:
        """ln f(x)."""

    @abstractmethod
    def log_tilt(self, k: ArrayLike, a: ArrayLike, b: ArrayLike, ref: ArrayLike = 0.0) -> Array:
        """ln ∫_a^b e^{k(x−ref)} f(x) dx; −inf on an empty interval, +inf where it diverges."""

    @abstractmethod
    def quantile(self, u: ArrayLike) -> Array:
        """The x below which probability u lies."""

    @abstractmethod
    def panels(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        """[a, b] cut into panels (a last axis of left ends, of right ends) on which f is smooth.

        What is left out holds less than e^{−40} of the density's peak within [a, b].
        """

    @property
    def tails(self) -> tuple[Tail, Tail]:
        """How the left and the right tail behave: what a worst case at infinity needs to know."""
        low, high = self.support
        return ("unknown" if low == -np.inf else "bounded", "unknown" if high == np.inf else "bounded")

    def density_range(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        """The least and the largest density between a and b; 0 … ∞ where nothing better is known."""
        shape = np.broadcast_shapes(np.shape(a), np.shape(b))
        return np.zeros(shape), np.full(shape, np.inf)

    def mass(self, a: ArrayLike, b: ArrayLike) -> Array:
        """P(a ≤ X ≤ b), to full relative precision however small."""
        return np.exp(self.log_tilt(0.0, a, b))

    def cdf(self, x: ArrayLike) -> Array:
        """P(X ≤ x)."""
        return self.mass(-np.inf, x)

    def excess(self, k: ArrayLike, a: ArrayLike, b: ArrayLike, ref: ArrayLike) -> Array:
        """∫_a^b (e^{k(x−ref)} − 1) f(x) dx, without cancellation for tiny k."""
        k, a, b, ref = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (k, a, b, ref)))
        left, right = self.panels(a, b)
        half = (right - left)[..., None] / 2
        x = left[..., None] + half * (1 + NODES)
        inside = half > 0
        density = np.exp(self.log_density(np.where(inside, x, self.quantile(0.5))))
        gap = np.where(inside, x - ref[..., None, None], 0.0)
        return np.sum(half * NODE_WEIGHTS * density * np.expm1(k[..., None, None] * gap), axis=(-2, -1))

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
        if not low < high or not np.isfinite(self.log_tilt(0.0, low, high)):
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

    def __repr__(self) -> str:
        return f"{self.base!r}.given({self.low:g}, {self.high:g})"

    @cached_property
    def _log_mass(self) -> float:
        return float(self.base.log_tilt(0.0, self.low, self.high))

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def tails(self) -> tuple[Tail, Tail]:
        left, right = self.base.tails
        return ("bounded" if np.isfinite(self.low) else left, "bounded" if np.isfinite(self.high) else right)

    def log_density(self, x: ArrayLike) -> Array:
        x = np.asarray(x, dtype=np.float64)
        inside = (x >= self.low) & (x <= self.high)
        return np.where(inside, self.base.log_density(x) - self._log_mass, -np.inf)

    def log_tilt(self, k: ArrayLike, a: ArrayLike, b: ArrayLike, ref: ArrayLike = 0.0) -> Array:
        a, b = np.maximum(a, self.low), np.minimum(b, self.high)
        return self.base.log_tilt(k, a, b, ref) - self._log_mass

    def density_range(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
        low, high = self.base.density_range(np.clip(a, self.low, self.high), np.clip(b, self.low, self.high))
        beyond, apart = (a < self.low) | (b > self.high), (b < self.low) | (a > self.high)
        scale = np.exp(-self._log_mass)
        return np.where(beyond, 0.0, low * scale), np.where(apart, 0.0, high * scale)

    def quantile(self, u: ArrayLike) -> Array:
        below = self.base.cdf(self.low)
        return np.clip(self.base.quantile(below + np.asarray(u) * np.exp(self._log_mass)), self.low, self.high)

    def panels(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        return self.base.panels(np.maximum(a, self.low), np.minimum(b, self.high))


def split(left: Array, right: Array, parts: int) -> tuple[Array, Array]:
    """Each interval cut into equal parts, along a new last axis; empty ones stay empty."""
    right = np.maximum(left, right)
    fractions = np.arange(parts + 1) / parts
    edges = left[..., None] + (right - left)[..., None] * fractions
    return edges[..., :-1], edges[..., 1:]


def log_sum(terms: Array) -> Array:
    """ln Σ e^{terms} over the last axis, for terms that may be ±inf."""
    if terms.shape[-1] == 1:
        return terms[..., 0]
    top = np.max(terms, axis=-1)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        return np.log(np.sum(np.exp(terms - shift[..., None]), axis=-1)) + shift
