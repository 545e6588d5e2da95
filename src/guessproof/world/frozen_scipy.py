"""Any frozen continuous distribution of scipy.stats as a prior, through quadrature.

Panels shrink geometrically towards both ends of the interval, where a tilted density varies fastest,
and break at fixed quantiles, where the distribution itself may vary; each holds 16 Gauss–Legendre nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import PriorError
from guessproof.world.checks import Array
from guessproof.world.line import NODE_WEIGHTS, NODES, LinePrior

_TAIL = 10.0 ** -np.arange(14, 1, -1)
_LEVELS = np.concatenate([_TAIL, np.arange(1, 20) / 20, 1 - _TAIL[::-1]])
_LOG_CONCAVE = ("norm", "expon", "uniform", "laplace", "logistic", "gumbel_r", "gumbel_l")
_REACH = 80.0  # e^{−80} of a tilted integrand is left out


@dataclass(frozen=True)
class FrozenScipy(LinePrior):
    """A frozen scipy distribution, for instance ``scipy.stats.gamma(3, scale=2)``."""

    distribution: Any

    def __post_init__(self) -> None:
        middle = np.asarray(self.distribution.ppf([0.25, 0.5, 0.75]), dtype=np.float64)
        if not np.all(np.isfinite(middle)):
            raise PriorError("from_scipy", self.distribution, "has no finite quartiles", "check its parameters")
        total = np.exp(self.log_tilt(0.0, -np.inf, np.inf))
        quadrature = self.integral(0.0, *self.support, float(middle[1]), 0.0)
        if abs(total - 1) > 1e-9 or not abs(quadrature - 1) <= 1e-7:
            raise PriorError(
                "from_scipy",
                self.distribution,
                f"its density integrates to {quadrature:.9g}",
                "give a smooth density",
            )

    def __repr__(self) -> str:
        frozen = self.distribution
        words = [f"{v:g}" if isinstance(v, (int, float)) else repr(v) for v in frozen.args]
        words += [f"{n}={v:g}" if isinstance(v, (int, float)) else f"{n}={v!r}" for n, v in frozen.kwds.items()]
        return f"from_scipy({frozen.dist.name}({', '.join(words)}))"

    @property
    def name(self) -> str:
        return "from_scipy"

    @property
    def is_log_concave(self) -> bool:
        return self.distribution.dist.name in _LOG_CONCAVE

    @property
    def by_quadrature(self) -> bool:
        return True

    def quick_mass(self, a: ArrayLike, b: ArrayLike) -> Array:
        with np.errstate(all="ignore"):
            below, above = self.distribution.cdf, self.distribution.sf
            left, right = np.asarray(below(b)) - np.asarray(below(a)), np.asarray(above(a)) - np.asarray(above(b))
            return np.maximum(np.where(np.asarray(below(a)) > 0.5, right, left), 0.0)

    @cached_property
    def _panel_ends(self) -> Array:
        return np.unique(np.asarray(self.distribution.ppf(_LEVELS), dtype=np.float64))

    @property
    def support(self) -> tuple[float, float]:
        low, high = self.distribution.support()
        return float(low), float(high)

    def log_density(self, x: ArrayLike) -> Array:
        with np.errstate(all="ignore"):
            value = np.asarray(self.distribution.logpdf(x), dtype=np.float64)
        return np.where(np.isnan(value), -np.inf, value)

    def quantile(self, u: ArrayLike) -> Array:
        return np.asarray(self.distribution.ppf(u), dtype=np.float64)

    def panels(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        low, high = self.support
        a, b = np.maximum(a, low)[..., None], np.minimum(b, high)[..., None]
        edges = np.concatenate([a, np.clip(self._panel_ends, a, np.maximum(a, b)), np.maximum(a, b)], axis=-1)
        edges = np.where(np.isfinite(edges), edges, np.clip(edges, self._panel_ends[0], self._panel_ends[-1]))
        return edges[..., :-1], edges[..., 1:]

    def log_tilt(self, k: ArrayLike, a: ArrayLike, b: ArrayLike, ref: ArrayLike = 0.0) -> Array:
        return np.asarray(_tilt_each(self, k, a, b, ref), dtype=np.float64)

    def excess(self, k: ArrayLike, a: ArrayLike, b: ArrayLike, ref: ArrayLike) -> Array:
        return np.asarray(_excess_each(self, k, a, b, ref), dtype=np.float64)

    def probability(self, a: float, b: float) -> float:
        """P(a ≤ X ≤ b) from whichever of the two tails is the smaller."""
        frozen = self.distribution
        with np.errstate(all="ignore"):
            if frozen.cdf(a) > 0.5:
                value, size = frozen.sf(a) - frozen.sf(b), frozen.sf(a)
            else:
                value, size = frozen.cdf(b) - frozen.cdf(a), frozen.cdf(b)
        if value < 1e-3 * size:  # cancellation: integrate the density instead
            value = self.integral(0.0, a, b, a if np.isfinite(a) else b, 0.0)
        return float(value)

    def _edges(self, k: float, a: float, b: float) -> Array:
        unit = float(self._panel_ends[-1] - self._panel_ends[0]) / 64
        step = min(unit, 1 / abs(k)) if k else unit
        if k > 0 and np.isinf(a):
            a = (
                min(max(b, a) if np.isfinite(b) else float(self._panel_ends[-1]), float(self._panel_ends[0]))
                - _REACH / k
            )
        if k < 0 and np.isinf(b):
            b = max(a if np.isfinite(a) else float(self._panel_ends[0]), float(self._panel_ends[-1])) + _REACH / -k
        a, b = self._finite(a, b)
        inner = self._panel_ends[(self._panel_ends > a) & (self._panel_ends < b)]
        doubling = step * 2.0 ** np.arange(max(1, int(np.ceil(np.log2(max((b - a) / step, 2)))) + 1))
        edges = np.concatenate([[a], a + doubling, inner, b - doubling, [b]])
        return np.unique(np.clip(edges, a, b))

    def _finite(self, a: float, b: float) -> tuple[float, float]:
        """Infinite ends replaced by points beyond which the density is below e^{−700}, or the mass below 1e−300."""
        with np.errstate(all="ignore"):
            if np.isinf(a):
                a = float(self.distribution.ppf(1e-300))
                a = a if np.isfinite(a) else float(self._panel_ends[0]) - 1e6 * float(np.ptp(self._panel_ends))
            if np.isinf(b):
                b = float(self.distribution.isf(1e-300))
                b = b if np.isfinite(b) else float(self._panel_ends[-1]) + 1e6 * float(np.ptp(self._panel_ends))
        return a, b

    def log_terms(self, k: float, a: float, b: float) -> tuple[Array, Array]:
        edges = self._edges(k, a, b)
        half = np.diff(edges)[:, None] / 2
        x = edges[:-1, None] + half * (1 + NODES)
        return x, np.log(half * NODE_WEIGHTS) + self.log_density(x)

    def integral(self, k: float, a: float, b: float, ref: float, minus: float) -> float:
        """∫ (e^{k(x−ref)} − minus) f, for minus 0 or 1."""
        x, weight = self.log_terms(k, a, b)
        if minus:
            return float(np.sum(np.exp(weight) * np.expm1(k * (x - ref))))
        return float(np.sum(np.exp(weight + k * (x - ref))))


def _tilt(prior: FrozenScipy, k: float, a: float, b: float, ref: float) -> float:
    low, high = prior.support
    a, b = max(a, low), min(b, high)
    if not b > a:
        return -np.inf
    if k == 0:
        with np.errstate(divide="ignore"):
            return float(np.log(prior.probability(a, b)))
    if _diverges(prior, k, a, b):
        return np.inf
    x, weight = prior.log_terms(k, a, b)
    terms = weight + k * (x - ref)
    top = float(np.max(terms))
    if not np.isfinite(top):
        return -np.inf
    return top + float(np.log(np.sum(np.exp(terms - top))))


def _excess(prior: FrozenScipy, k: float, a: float, b: float, ref: float) -> float:
    low, high = prior.support
    a, b = max(a, low), min(b, high)
    return prior.integral(k, a, b, ref, 1.0) if b > a and k else 0.0


def _diverges(prior: FrozenScipy, k: float, a: float, b: float) -> bool:
    """Whether e^{kx} f still grows far out in an infinite end: taken as divergent, the safe reading."""
    if (k > 0 and np.isfinite(b)) or (k < 0 and np.isfinite(a)):
        return False
    far, further = prior.distribution.isf([1e-250, 1e-290]) if k > 0 else prior.distribution.ppf([1e-250, 1e-290])
    if not (np.isfinite(far) and np.isfinite(further)) or far == further:
        return True
    slope = prior.log_density(further) + k * further - prior.log_density(far) - k * far
    return bool(slope > -1.0)


_tilt_each = np.vectorize(_tilt, otypes=[np.float64])
_excess_each = np.vectorize(_excess, otypes=[np.float64])
