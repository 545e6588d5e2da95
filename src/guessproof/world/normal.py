"""The normal prior, with its tilted integral in a form that neither overflows nor cancels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, ndtr, ndtri

from guessproof.errors import PriorError
from guessproof.world.checks import Array, positive, real
from guessproof.world.line import LinePrior, Tail, split

_GL_NODES, _GL_WEIGHTS = (np.asarray(part) for part in np.polynomial.legendre.leggauss(8))
_GL_FRACTIONS = (1 + _GL_NODES) / 2
_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
_SQRT_HALF = np.sqrt(0.5)
_NARROW = 0.1  # below this width a difference of two tails would lose digits


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

    def quantile(self, u: ArrayLike) -> Array:
        return self.mean + self.sd * ndtri(u)

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
        for pick, rest in ((narrow & ~empty, _log_narrow), (~narrow & ~central & ~empty, _log_tail)):
            if pick.any():
                end, nu = np.where(from_right, b, a)[pick], np.where(from_right, beta, alpha)[pick]
                signed = np.where(from_right, -width, width)[pick]
                out[pick] = k[pick] * (end - ref[pick]) - 0.5 * nu * nu + rest(near[pick], signed)
        if central.any():
            m = central & ~empty
            out[m] = k[m] * (self.mean - ref[m]) + 0.5 * kappa[m] ** 2 + np.log(ndtr(high[m]) - ndtr(low[m]))
        return out


def _log_narrow(near: Array, width: Array) -> Array:
    """ln of |∫ e^{−(z²−near²)/2} dz| / √(2π) over the short way from `near` by `width` (signed)."""
    step = width[..., None] * _GL_FRACTIONS
    total = np.exp(-step * (near[..., None] + 0.5 * step)) @ _GL_WEIGHTS
    return np.log(np.abs(width) / 2 * total) - _LOG_SQRT_2PI


def _log_tail(near: Array, width: Array) -> Array:
    """The same for an interval that leads away from 0, by the scaled complementary error function."""
    start, length = np.abs(near), np.abs(width)
    first = erfcx(start * _SQRT_HALF)
    with np.errstate(over="ignore"):
        rest = np.exp(-length * (start + 0.5 * length)) * erfcx((start + length) * _SQRT_HALF)
    return np.log(0.5 * (first - rest))
