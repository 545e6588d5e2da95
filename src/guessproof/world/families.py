"""Priors that people have: log-normal, gamma, beta and Student's t. Their tilted integrals are sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import PriorError
from guessproof.world import special
from guessproof.world.checks import Array, ordered, positive, real
from guessproof.world.quadrature import QuadraturePrior


@dataclass(frozen=True)
class LogNormal(QuadraturePrior):
    """A number whose logarithm is normal: incomes, waiting times, sizes.

    >>> LogNormal(median=2000, sd_log=0.5).below(2000.0)
    array(0.5)
    """

    median: float
    sd_log: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "median", positive(PriorError, "median", self.median))
        object.__setattr__(self, "sd_log", positive(PriorError, "sd_log", self.sd_log))

    def __repr__(self) -> str:
        return f"lognormal(median={self.median:g}, sd_log={self.sd_log:g})"

    @property
    def name(self) -> str:
        return "lognormal"

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, np.inf

    @property
    def turns(self) -> tuple[float, ...]:
        return (self.median * float(np.exp(-(self.sd_log**2))),)

    @property
    def bends(self) -> tuple[float, ...]:
        # With u = 1 + z/sd_log the slope of ln f is −u/x, and f'' = 0 where u² + u = 1/sd_log².
        root = float(np.sqrt(0.25 + self.sd_log**-2.0))
        low, high = (self.median * float(np.exp(self.sd_log**2 * (u - 1))) for u in (-0.5 - root, -0.5 + root))
        return low, high

    @cached_property
    def tail_rates(self) -> tuple[float, float]:
        return np.inf, 0.0  # it falls ever more slowly

    def log_slope(self, x: Array) -> Array:
        return -(1 + self._z(x) / self.sd_log) / x

    def _z(self, x: ArrayLike) -> Array:
        with np.errstate(divide="ignore"):
            return (np.log(np.maximum(x, 0.0)) - np.log(self.median)) / self.sd_log

    def log_density(self, x: ArrayLike) -> Array:
        x = np.asarray(x, dtype=np.float64)
        z, scale = self._z(x), np.log(self.sd_log) + 0.5 * np.log(2 * np.pi)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            value = -0.5 * z * z - np.log(np.maximum(x, 0.0)) - scale
        return np.where((x > 0) & (x < np.inf), value, -np.inf)

    def below(self, x: ArrayLike) -> Array:
        return np.asarray(special.ndtr(self._z(x)))

    def above(self, x: ArrayLike) -> Array:
        return np.asarray(special.ndtr(-self._z(x)))

    def quantile(self, u: ArrayLike) -> Array:
        return self.median * np.exp(self.sd_log * special.ndtri(u))

    def upper_quantile(self, u: ArrayLike) -> Array:
        return self.median * np.exp(-self.sd_log * special.ndtri(u))

    def stretched(self, factor: float) -> LogNormal:
        return LogNormal(self.median, self.sd_log * factor)


@dataclass(frozen=True)
class Gamma(QuadraturePrior):
    """A gamma prior: waiting for `shape` events, each `scale` long on average; infinite at 0 for a shape below 1."""

    shape: float
    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _between("shape", self.shape))
        object.__setattr__(self, "scale", positive(PriorError, "scale", self.scale))

    def __repr__(self) -> str:
        return f"gamma(shape={self.shape:g}, scale={self.scale:g})"

    @property
    def name(self) -> str:
        return "gamma"

    @property
    def is_log_concave(self) -> bool:
        return self.shape >= 1

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, np.inf

    @property
    def turns(self) -> tuple[float, ...]:
        return ((self.shape - 1) * self.scale,) if self.shape > 1 else ()

    @property
    def bends(self) -> tuple[float, ...]:
        more = self.shape - 1
        return () if more <= 0 else tuple(self.scale * (more + side * float(np.sqrt(more))) for side in (-1, 1))

    def log_slope(self, x: Array) -> Array:
        return (self.shape - 1) / x - 1 / self.scale

    def log_density(self, x: ArrayLike) -> Array:
        z = np.asarray(x, dtype=np.float64) / self.scale
        with np.errstate(divide="ignore", invalid="ignore"):
            value = _power(self.shape - 1, np.maximum(z, 0.0)) - z
        return np.where((z >= 0) & (z < np.inf), value - special.gammaln(self.shape) - np.log(self.scale), -np.inf)

    def below(self, x: ArrayLike) -> Array:
        return np.asarray(special.gammainc(self.shape, np.maximum(x, 0.0) / self.scale))

    def above(self, x: ArrayLike) -> Array:
        return np.asarray(special.gammaincc(self.shape, np.maximum(x, 0.0) / self.scale))

    def quantile(self, u: ArrayLike) -> Array:
        return self.scale * np.asarray(special.gammaincinv(self.shape, u))

    def upper_quantile(self, u: ArrayLike) -> Array:
        return self.scale * np.asarray(special.gammainccinv(self.shape, u))

    def stretched(self, factor: float) -> Gamma:
        """The same mean, the standard deviation times the factor."""
        return Gamma(self.shape / factor**2, self.scale * factor**2)


@dataclass(frozen=True)
class Beta(QuadraturePrior):
    """A beta prior between `low` and `high`; infinite at an end whose exponent is below 1."""

    a: float
    b: float
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", _between("a", self.a))
        object.__setattr__(self, "b", _between("b", self.b))
        low, high = real(PriorError, "low", self.low), real(PriorError, "high", self.high)
        ordered(PriorError, "low, high", low, high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def __repr__(self) -> str:
        return f"beta(a={self.a:g}, b={self.b:g}, low={self.low:g}, high={self.high:g})"

    @property
    def name(self) -> str:
        return "beta"

    @property
    def is_log_concave(self) -> bool:
        return self.a >= 1 and self.b >= 1

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def mirror(self) -> float | None:
        return self.low / 2 + self.high / 2 if self.a == self.b else None

    @property
    def turns(self) -> tuple[float, ...]:
        if (self.a > 1) != (self.b > 1) or self.a + self.b == 2:
            return ()
        return (self.low + (self.high - self.low) * (self.a - 1) / (self.a + self.b - 2),)

    @property
    def bends(self) -> tuple[float, ...]:
        # f'' = 0 where p(p−1)(1−z)² − 2pq·z(1−z) + q(q−1)z² = 0, with p = a − 1, q = b − 1 and z from 0 to 1.
        p, q = self.a - 1, self.b - 1
        roots = np.roots([p * (p - 1) + 2 * p * q + q * (q - 1), -2 * p * (p - 1) - 2 * p * q, p * (p - 1)])
        inside = [float(z.real) for z in roots if abs(z.imag) <= 1e-9 and 0 < z.real < 1]
        return tuple(self.low + (self.high - self.low) * z for z in inside)

    def log_slope(self, x: Array) -> Array:
        left, right = self._shares(x)
        with np.errstate(divide="ignore", invalid="ignore"):
            return ((self.a - 1) / left - (self.b - 1) / right) / (self.high - self.low)

    def _shares(self, x: ArrayLike) -> tuple[Array, Array]:
        x, width = np.asarray(x, dtype=np.float64), self.high - self.low
        return np.clip((x - self.low) / width, 0.0, 1.0), np.clip((self.high - x) / width, 0.0, 1.0)

    def log_density(self, x: ArrayLike) -> Array:
        left, right = self._shares(x)
        with np.errstate(divide="ignore"):
            value = _power(self.a - 1, left) + _power(self.b - 1, right)
        inside = (np.asarray(x) >= self.low) & (np.asarray(x) <= self.high)
        return np.where(inside, value - special.betaln(self.a, self.b) - np.log(self.high - self.low), -np.inf)

    def below(self, x: ArrayLike) -> Array:
        return np.asarray(special.betainc(self.a, self.b, self._shares(x)[0]))

    def above(self, x: ArrayLike) -> Array:
        return np.asarray(special.betainc(self.b, self.a, self._shares(x)[1]))

    def quantile(self, u: ArrayLike) -> Array:
        return self.low + (self.high - self.low) * np.asarray(special.betaincinv(self.a, self.b, u))

    def upper_quantile(self, u: ArrayLike) -> Array:
        return self.high - (self.high - self.low) * np.asarray(special.betaincinv(self.b, self.a, u))

    def stretched(self, factor: float) -> Beta | None:
        """The same mean, the standard deviation times the factor; None where the ends leave no room for it."""
        total = self.a + self.b
        wider = (total + 1) / factor**2 - 1
        if wider <= 0:
            return None
        return Beta(self.a / total * wider, self.b / total * wider, self.low, self.high)


@dataclass(frozen=True)
class StudentT(QuadraturePrior):
    """Student's t: like a normal prior, with tails that allow for surprises."""

    df: float
    mean: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "df", _between("df", self.df, least=0.5))
        object.__setattr__(self, "mean", real(PriorError, "mean", self.mean))
        object.__setattr__(self, "scale", positive(PriorError, "scale", self.scale))

    def __repr__(self) -> str:
        return f"student_t(df={self.df:g}, mean={self.mean:g}, scale={self.scale:g})"

    @property
    def name(self) -> str:
        return "student_t"

    @property
    def support(self) -> tuple[float, float]:
        return -np.inf, np.inf

    @property
    def mirror(self) -> float:
        return self.mean

    @property
    def turns(self) -> tuple[float, ...]:
        return (self.mean,)

    @property
    def bends(self) -> tuple[float, ...]:
        away = self.scale * float(np.sqrt(self.df / (self.df + 2)))
        return self.mean - away, self.mean + away

    @cached_property
    def tail_rates(self) -> tuple[float, float]:
        return 0.0, 0.0  # both fall like a power

    def log_slope(self, x: Array) -> Array:
        z = self._z(x)
        with np.errstate(over="ignore", invalid="ignore"):
            return -(self.df + 1) * z / (self.df + z * z) / self.scale

    def _z(self, x: ArrayLike) -> Array:
        return (np.asarray(x, dtype=np.float64) - self.mean) / self.scale

    def log_density(self, x: ArrayLike) -> Array:
        z, half = self._z(x), 0.5 * (self.df + 1)
        with np.errstate(over="ignore"):
            value = -half * np.log(1 + z * z / self.df)
        size = special.gammaln(half) - special.gammaln(0.5 * self.df) - 0.5 * np.log(self.df * np.pi)
        return value + size - np.log(self.scale)

    def below(self, x: ArrayLike) -> Array:
        return np.asarray(special.stdtr(self.df, self._z(x)))

    def above(self, x: ArrayLike) -> Array:
        return np.asarray(special.stdtr(self.df, -self._z(x)))

    def quantile(self, u: ArrayLike) -> Array:
        return self.mean + self.scale * np.asarray(special.stdtrit(self.df, u))

    def upper_quantile(self, u: ArrayLike) -> Array:
        return self.mean - self.scale * np.asarray(special.stdtrit(self.df, u))

    def stretched(self, factor: float) -> StudentT:
        return StudentT(self.df, self.mean, self.scale * factor)


def _power(exponent: float, x: Array) -> Array:
    """ln of a power, 0 for the exponent 0 also at 0: NumPy's logarithm takes a tenth of what SciPy's xlogy does."""
    return exponent * np.log(x) if exponent else np.zeros_like(x)


def _between(field: str, value: float, least: float = 0.05) -> float:
    """A shape that quadrature follows."""
    number = positive(PriorError, field, value)
    if not least <= number <= 1e4:
        raise PriorError(field, value, f"is outside {least:g} … 10000", "give a histogram, or a normal prior")
    return number
