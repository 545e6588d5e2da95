"""What every prior on the real line can say, and the normal one that says it.

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

from guessproof.errors import KnowledgeError, PriorError
from guessproof.world import special
from guessproof.world.checks import Array, ordered, positive, real

Tail = Literal["bounded", "light", "memoryless", "unknown"]

NODES, NODE_WEIGHTS = (np.asarray(part) for part in np.polynomial.legendre.leggauss(16))
_GL_NODES, _GL_WEIGHTS = (np.asarray(part) for part in np.polynomial.legendre.leggauss(8))
_GL_FRACTIONS = (1 + _GL_NODES) / 2
_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
_SQRT_HALF = np.sqrt(0.5)
_NARROW = 0.1  # below this width a difference of two tails would lose digits


_MADE_AGAIN = ("tables", "_tables", "_known_rates")


class LinePrior(ABC):
    """A prior with a density on the real line: what it must say, and what it can say beyond that.

    Nothing else asks which prior it is: a new one is one class here and one entry where plans name priors.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """As people and plans call it."""

    @property
    def is_log_concave(self) -> bool:
        """Whether the density is known to be log-concave."""
        return False

    @property
    def bend(self) -> float:
        """How fast the slope of the log-density changes at most, everywhere on the line; inf where that is unknown."""
        return float("inf")

    @property
    def by_quadrature(self) -> bool:
        """Whether integrals are sums with an error that is checked but not proven."""
        return False

    @property
    def is_quick(self) -> bool:
        """Whether a tilted integral is one closed form, so that no table of many tells it sooner."""
        return not self.by_quadrature

    @cached_property
    def tables(self) -> dict[Any, Any]:
        """Tables of tilted integrals that were made of this prior, by the distance that they are for."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """What another process is told: not the tables, which it makes again sooner than it reads them."""
        return {name: value for name, value in self.__dict__.items() if name not in _MADE_AGAIN}

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

    def density_slopes(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        """The least and the largest slope of the density between a and b; −∞ … ∞ where it jumps or is not known."""
        shape = np.broadcast_shapes(np.shape(a), np.shape(b))
        return np.full(shape, -np.inf), np.full(shape, np.inf)

    @property
    def breaks(self) -> tuple[float, ...]:
        """Where the density jumps or bends, inside its support."""
        return ()

    @property
    def mirror(self) -> float | None:
        """Around which value the density is the same on both sides, if that is known."""
        return None

    @property
    def normal_form(self) -> Normal | None:
        """This prior as a normal one, if it is: some answers are closed forms then."""
        return None

    def stretched(self, factor: float) -> LinePrior | None:
        """The same prior, wider (factor > 1) or narrower around its own centre; None where that has no meaning."""
        return None

    def quick_mass(self, a: ArrayLike, b: ArrayLike) -> Array:
        """P(a ≤ X ≤ b), to about 1e−15 in absolute terms: enough for searches."""
        with np.errstate(invalid="ignore"):  # an empty interval at infinity
            return self.mass(a, b)

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

    @property
    def name(self) -> str:
        return self.base.name

    @property
    def is_log_concave(self) -> bool:
        return self.base.is_log_concave

    @property
    def by_quadrature(self) -> bool:
        return self.base.by_quadrature

    @property
    def is_quick(self) -> bool:
        return self.base.is_quick

    @property
    def mirror(self) -> float | None:
        centre = self.base.mirror
        return centre if centre is not None and self.high - centre == centre - self.low else None

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(b for b in self.base.breaks if self.low < b < self.high)

    def quick_mass(self, a: ArrayLike, b: ArrayLike) -> Array:
        whole = float(self.base.mass(self.low, self.high))
        return self.base.quick_mass(np.maximum(a, self.low), np.minimum(b, self.high)) / whole

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

    def density_slopes(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
        scale, apart = np.exp(-self._log_mass), (b <= self.low) | (a >= self.high)
        inside = (a >= self.low) & (b <= self.high)
        ends = np.clip(a, self.low, self.high), np.clip(b, self.low, self.high)
        slopes = (
            np.where(inside, scale * v, o)
            for v, o in zip(self.base.density_slopes(*ends), (-np.inf, np.inf), strict=True)
        )
        low, high = (np.where(apart, 0.0, v) for v in slopes)
        return low, high

    def quantile(self, u: ArrayLike) -> Array:
        below = self.base.cdf(self.low)
        return np.clip(self.base.quantile(below + np.asarray(u) * np.exp(self._log_mass)), self.low, self.high)

    def panels(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        return self.base.panels(np.maximum(a, self.low), np.minimum(b, self.high))


@dataclass(frozen=True)
class Normal(LinePrior):
    """A normal prior.

    >>> Normal(20, 6.28).mass(18, 22).round(4)
    np.float64(0.2499)
    """

    mean: float
    sd: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", real(PriorError, "mean", self.mean))
        object.__setattr__(self, "sd", positive(PriorError, "sd", self.sd))

    def __repr__(self) -> str:
        return f"normal(mean={self.mean:g}, sd={self.sd:g})"

    @property
    def name(self) -> str:
        return "normal"

    @property
    def is_log_concave(self) -> bool:
        return True

    @property
    def bend(self) -> float:
        return 1 / self.sd**2

    @property
    def mirror(self) -> float:
        return self.mean

    @property
    def normal_form(self) -> Normal:
        return self

    def stretched(self, factor: float) -> Normal:
        return Normal(self.mean, self.sd * factor)

    @property
    def support(self) -> tuple[float, float]:
        return -np.inf, np.inf

    @property
    def tails(self) -> tuple[Tail, Tail]:
        return "light", "light"

    def log_density(self, x: ArrayLike) -> Array:
        z = (np.asarray(x, dtype=np.float64) - self.mean) / self.sd
        return -0.5 * z * z - _LOG_SQRT_2PI - np.log(self.sd)

    def density_range(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        ends = np.exp(self.log_density(a)), np.exp(self.log_density(b))
        top = np.exp(self.log_density(np.clip(self.mean, a, b)))
        return np.minimum(*ends), top

    def density_slopes(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        turns = (
            np.clip(self.mean + side * self.sd, a, b) for side in (-1, 1)
        )  # beyond them it is curved the other way
        places = np.stack(np.broadcast_arrays(a, b, *turns))
        slopes = (self.mean - places) / self.sd**2 * np.exp(self.log_density(places))
        return np.min(slopes, axis=0), np.max(slopes, axis=0)

    def quantile(self, u: ArrayLike) -> Array:
        return self.mean + self.sd * special.ndtri(u)

    def panels(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        a, b = ((np.asarray(v, dtype=np.float64) - self.mean) / self.sd for v in (a, b))
        peak = np.clip(0.0, a, np.maximum(a, b))
        reach = np.sqrt(np.where(np.isfinite(peak), peak, 0.0) ** 2 + 80)
        left, right = split(np.maximum(a, -reach), np.minimum(b, reach), 8)
        return self.mean + self.sd * left, self.mean + self.sd * right

    def log_tilt(self, k: ArrayLike, a: ArrayLike, b: ArrayLike, ref: ArrayLike = 0.0) -> Array:
        # Completing the square: e^{k(x−ref)} f is a normal density around mean + k sd², and in units
        # of sd the ends lie at alpha − kappa and beta − kappa. Everything is measured from the end
        # nearer to the new centre, where the integrand is largest: k²sd²/2 is never formed there.
        k, a, b, ref = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (k, a, b, ref)))
        kappa = k * self.sd
        alpha, beta = (a - self.mean) / self.sd, (b - self.mean) / self.sd
        low, high = alpha - kappa, beta - kappa
        empty = ~(b > a)
        from_right = low <= -high
        near = np.where(from_right, high, low)
        with np.errstate(invalid="ignore"):  # an empty interval at infinity
            width = np.where(empty, 0.0, (b - a) / self.sd)
            narrow = width * np.maximum(np.abs(near), 1.0) <= _NARROW
        central = ~narrow & (low < 0) & (high > 0)

        out = np.full(k.shape, -np.inf)
        end, nu, signed = np.where(from_right, (b, beta, -width), (a, alpha, width))
        for pick, rest in ((narrow & ~empty, _log_narrow), (~narrow & ~central & ~empty, _log_tail)):
            if pick.any():
                at = nu[pick]
                out[pick] = k[pick] * (end[pick] - ref[pick]) - 0.5 * at * at + rest(near[pick], signed[pick])
        if central.any():
            m = central & ~empty
            mass = special.ndtr(high[m]) - special.ndtr(low[m])
            out[m] = k[m] * (self.mean - ref[m]) + 0.5 * kappa[m] ** 2 + np.log(mass)
        return out


def _log_narrow(near: Array, width: Array) -> Array:
    """ln of |∫ e^{−(z²−near²)/2} dz| / √(2π) over the short way from `near` by `width` (signed)."""
    step = width[..., None] * _GL_FRACTIONS
    total = np.exp(-step * (near[..., None] + 0.5 * step)) @ _GL_WEIGHTS
    return np.log(np.abs(width) / 2 * total) - _LOG_SQRT_2PI


def _log_tail(near: Array, width: Array) -> Array:
    """The same for an interval that leads away from 0, by the scaled complementary error function."""
    start, length = np.abs(near), np.abs(width)
    first = special.erfcx(start * _SQRT_HALF)
    with np.errstate(over="ignore"):
        rest = np.exp(-length * (start + 0.5 * length)) * special.erfcx((start + length) * _SQRT_HALF)
    return np.log(0.5 * (first - rest))


def split(left: Array, right: Array, parts: int) -> tuple[Array, Array]:
    """Each interval cut into equal parts, along a new last axis; empty ones stay empty."""
    right = np.maximum(left, right)
    fractions = np.arange(parts + 1) / parts
    edges = left[..., None] + (right - left)[..., None] * fractions
    return edges[..., :-1], edges[..., 1:]


def expit(x: ArrayLike) -> Any:
    """1/(1 + e^{−x}): a belief from its log-odds.

    >>> expit([0.0, -1e9, 1e9]).tolist()
    [0.5, 0.0, 1.0]
    """
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-np.asarray(x, dtype=np.float64)))


def log_sum(terms: Array) -> Array:
    """ln Σ e^{terms} over the last axis, for terms that may be ±inf."""
    if terms.shape[-1] == 1:
        return terms[..., 0]
    top = np.max(terms, axis=-1)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        return np.log(np.sum(np.exp(terms - shift[..., None]), axis=-1)) + shift
