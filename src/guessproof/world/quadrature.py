"""Priors whose tilted integrals are sums: any density that is smooth between a few places, and scipy's distributions.

Panels double in width from both ends of the interval, where a tilted density varies fastest, and break at fixed
quantiles, where the distribution itself may vary; each holds 16 Gauss–Legendre nodes. Near an end at
which the density is infinite, panels halve, and their masses come from the distribution function.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import PriorError
from guessproof.world.checks import Array, Mask
from guessproof.world.line import NODE_WEIGHTS, NODES, LinePrior, log_sum

_TAIL = 10.0 ** -np.arange(14, 1, -1)
_LEVELS = np.concatenate([_TAIL, np.arange(1, 20) / 20, 1 - _TAIL[::-1]])
_HALVINGS = 2.0 ** -np.arange(1, 61)
_LOG_CONCAVE = ("norm", "expon", "uniform", "laplace", "logistic", "gumbel_r", "gumbel_l")
_REACH = 80.0  # e^{−80} of a tilted integrand is left out
_BLOCK = 128  # integrals made at a time
_RATES = 6  # different rates in one question for which tables are made
_WORTH = 8  # integrals at each rate for which more of them are
_MOST_TABLES = 64  # that are kept
_MOST_PANELS = 600


class QuadraturePrior(LinePrior):
    """A prior that knows its density, its distribution function from both sides, and its quantiles."""

    @property
    def by_quadrature(self) -> bool:
        return True

    @abstractmethod
    def below(self, x: ArrayLike) -> Array:
        """P(X ≤ x)."""

    @abstractmethod
    def above(self, x: ArrayLike) -> Array:
        """P(X ≥ x), to full relative precision."""

    @abstractmethod
    def upper_quantile(self, u: ArrayLike) -> Array:
        """The x above which probability u lies."""

    @property
    @abstractmethod
    def turns(self) -> tuple[float, ...]:
        """Where the density turns from rising to falling, or back."""

    def density_range(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
        start, end = self.support
        with np.errstate(over="ignore"):
            ends = [np.exp(self.log_density(np.clip(x, start, end))) for x in (a, b)]
            low, high = np.minimum(*ends), np.where((b < start) | (a > end), 0.0, np.maximum(*ends))
            low = np.where((a < start) | (b > end), 0.0, low)
            for turn in self.turns:
                inside = (a < turn) & (turn < b)
                there = np.exp(self.log_density(turn))
                low, high = (
                    np.where(inside, np.minimum(low, there), low),
                    np.where(inside, np.maximum(high, there), high),
                )
        return low, high

    def quick_mass(self, a: ArrayLike, b: ArrayLike) -> Array:
        with np.errstate(all="ignore"):
            left, right = self.below(b) - self.below(a), self.above(a) - self.above(b)
            difference = np.where(self.below(a) > 0.5, right, left)
        return np.maximum(difference, 0.0)

    @cached_property
    def panel_ends(self) -> Array:
        """Quantiles between which the density is smooth, and halvings towards an end where it is infinite."""
        ends = self.quantile(_LEVELS)
        span = float(ends[-1] - ends[0])
        for end, inwards in zip(self.support, (1.0, -1.0), strict=True):
            if np.isfinite(end) and np.isposinf(self.log_density(end)):
                least = max(span * _HALVINGS[-1], 64 * float(np.spacing(abs(end))))  # nodes must differ as numbers
                halvings = end + inwards * span * _HALVINGS[span * _HALVINGS >= least]
                ends = np.concatenate([ends[np.abs(ends - end) >= least], halvings])
        return np.unique(ends).astype(np.float64)

    def panels(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        low, high = self.support
        a, b = np.maximum(a, low)[..., None], np.minimum(b, high)[..., None]
        edges = np.concatenate([a, np.clip(self.panel_ends, a, np.maximum(a, b)), np.maximum(a, b)], axis=-1)
        edges = np.where(np.isfinite(edges), edges, np.clip(edges, self.panel_ends[0], self.panel_ends[-1]))
        return edges[..., :-1], edges[..., 1:]

    def log_tilt(self, k: ArrayLike, a: ArrayLike, b: ArrayLike, ref: ArrayLike = 0.0) -> Array:
        (k, a, b, ref), shape = self._flat(k, a, b, ref)
        out = np.full(k.shape, -np.inf)
        some = b > a
        plain, tilted = some & (k == 0), some & (k != 0)
        if plain.any():
            out[plain] = self._log_mass(a[plain], b[plain])
        diverges = tilted & self._diverges(k, a, b)
        out[diverges] = np.inf
        rest = np.flatnonzero(tilted & ~diverges)
        rates = np.unique(k[rest])
        worth = rates.size <= _RATES or rest.size >= _WORTH * rates.size
        for rate in rates if worth else ():
            table = self._table(float(rate))
            if table is not None:
                own = rest[(k[rest] == rate) & table.holds(a[rest], b[rest])]
                out[own] = table.log_tilt(a[own], b[own]) - rate * ref[own]
                rest = np.setdiff1d(rest, own, assume_unique=True)
        out[rest] = self._slow_tilt(k[rest], a[rest], b[rest], ref[rest])
        return out.reshape(shape)

    def log_tilt_slowly(self, k: float, a: Array, b: Array) -> Array:
        """The same at one rate, without a table."""
        (rates, a, b, ref), _ = self._flat(k, a, b, 0.0)
        some, diverges = b > a, self._diverges(rates, a, b)
        out = np.where(some & diverges, np.inf, -np.inf)
        rest = np.flatnonzero(some & ~diverges)
        out[rest] = self._slow_tilt(rates[rest], a[rest], b[rest], ref[rest])
        return out

    def _slow_tilt(self, k: Array, a: Array, b: Array, ref: Array) -> Array:
        """Each integral on panels of its own."""
        out = np.empty(k.shape)
        for i in (slice(j, j + _BLOCK) for j in range(0, k.size, _BLOCK)):
            x, weight = self.log_terms(k[i], a[i], b[i])
            gap = k[i, None] * (x - ref[i, None])
            out[i] = log_sum(weight + np.where(np.isneginf(weight), 0.0, gap))
        return out

    @cached_property
    def _tables(self) -> dict[float, PanelTable | None]:
        return {}

    def _table(self, k: float) -> PanelTable | None:
        """The tilted mass of every panel at one rate, kept: a search asks for many intervals at few rates."""
        if k not in self._tables:
            if len(self._tables) >= _MOST_TABLES:
                self._tables.clear()
            self._tables[k] = PanelTable.build(self, k)
        return self._tables[k]

    def excess(self, k: ArrayLike, a: ArrayLike, b: ArrayLike, ref: ArrayLike) -> Array:
        (k, a, b, ref), shape = self._flat(k, a, b, ref)
        out = np.zeros(k.shape)
        rest = np.flatnonzero((b > a) & (k != 0))
        for i in (rest[j : j + _BLOCK] for j in range(0, rest.size, _BLOCK)):
            x, weight = self.log_terms(k[i], a[i], b[i])
            with np.errstate(over="ignore", invalid="ignore"):
                out[i] = np.sum(np.exp(weight) * np.expm1(k[i, None] * (x - ref[i, None])), axis=-1)
        return out.reshape(shape)

    def _flat(self, *values: ArrayLike) -> tuple[list[Array], tuple[int, ...]]:
        k, a, b, ref = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in values))
        low, high = self.support
        return [v.ravel() for v in (k, np.maximum(a, low), np.minimum(b, high), ref)], k.shape

    def _log_mass(self, a: Array, b: Array) -> Array:
        """ln P(a ≤ X ≤ b) from whichever of the two tails is the smaller; by quadrature where both cancel."""
        with np.errstate(all="ignore"):
            upper = self.below(a) > 0.5
            value = np.where(upper, self.above(a) - self.above(b), self.below(b) - self.below(a))
            size = np.where(upper, self.above(a), self.below(b))
            out = np.log(value)
        close = np.flatnonzero(value < 1e-3 * size)
        for i in (close[j : j + _BLOCK] for j in range(0, close.size, _BLOCK)):
            out[i] = log_sum(self.log_terms(np.zeros(i.size), a[i], b[i])[1])
        return out

    def _diverges(self, k: Array, a: Array, b: Array) -> Mask:
        """Whether e^{kx} f still grows far out in an infinite end: taken as divergent, the safe reading."""
        left, right = self._steepest
        return ((k > 0) & np.isinf(b) & (k > right)) | ((k < 0) & np.isinf(a) & (-k > left))

    @cached_property
    def _steepest(self) -> tuple[float, float]:
        """The rates at which the tails fall, far out: no faster tilt has a finite integral."""
        found: list[float] = []
        with np.errstate(all="ignore"):
            for far, further in (self.quantile([1e-250, 1e-290]), self.upper_quantile([1e-250, 1e-290])):
                fall = float(self.log_density(far) - self.log_density(further)) - 1.0
                width = abs(float(further - far))
                found.append(fall / width if np.isfinite(width) and width > 0 and np.isfinite(fall) else -np.inf)
        return found[0], found[1]

    @cached_property
    def _far(self) -> tuple[float, float]:
        """Ends beyond which the mass is below 1e−300, in place of infinite ones."""
        ends, span = self.panel_ends, float(np.ptp(self.panel_ends))
        with np.errstate(all="ignore"):
            low, high = float(self.quantile(1e-300)), float(self.upper_quantile(1e-300))
        low = low if np.isfinite(low) else float(ends[0]) - 1e6 * span
        return low, high if np.isfinite(high) else float(ends[-1]) + 1e6 * span

    def _edges(self, k: Array, a: Array, b: Array) -> Array:
        """Rising edges of panels, a row for each integral."""
        ends = self.panel_ends
        unit = float(np.ptp(ends)) / 64
        with np.errstate(divide="ignore", over="ignore"):
            step = np.minimum(unit, 1 / np.abs(k))
            reach = _REACH / np.where(k == 0, np.inf, np.abs(k))
        near_b, near_a = np.where(np.isfinite(b), b, ends[-1]), np.where(np.isfinite(a), a, ends[0])
        a = np.where((k > 0) & np.isinf(a), np.minimum(near_b, ends[0]) - reach, np.where(np.isinf(a), self._far[0], a))
        b = np.where(
            (k < 0) & np.isinf(b), np.maximum(near_a, ends[-1]) + reach, np.where(np.isinf(b), self._far[1], b)
        )
        a, b, step = a[:, None], np.maximum(a, b)[:, None], step[:, None]
        count = int(np.ceil(np.log2(max(float(np.max((b - a) / step)), 2.0)))) + 2
        doubling = step * 2.0 ** np.arange(count)
        inner = np.broadcast_to(ends, (a.size, ends.size))
        return np.sort(np.clip(np.concatenate([a, a + doubling, inner, b - doubling, b], axis=1), a, b), axis=1)

    def log_terms(self, k: Array, a: Array, b: Array) -> tuple[Array, Array]:
        """The nodes of each integral, and ln(weight · density) there."""
        edges = self._edges(k, a, b)
        half = np.diff(edges, axis=1)[..., None] / 2
        x = edges[:, :-1, None] + half * (1 + NODES)
        with np.errstate(divide="ignore"):
            weight = np.log(half * NODE_WEIGHTS) + np.where(half > 0, self.log_density(x), -np.inf)
        weight = self.exact_at_ends(edges, weight)
        return x.reshape(k.size, -1), weight.reshape(k.size, -1)

    def exact_at_ends(self, edges: Array, weight: Array) -> Array:
        """Near an end at which the density is infinite, panels have their mass from the distribution function.

        Neighbouring numbers are too far apart there for nodes to measure it; they only say where on the panel it is.
        """
        near, left, right = 1e-4 * float(np.ptp(self.panel_ends)), edges[:, :-1], edges[:, 1:]
        for end, is_low in zip(self.support, (True, False), strict=True):
            if not (np.isfinite(end) and np.isposinf(self.log_density(end))):
                continue
            close = (right > left) & ((right - end <= near) if is_low else (end - left <= near))
            with np.errstate(divide="ignore", invalid="ignore"):
                mass = np.log(self.below(right) - self.below(left) if is_low else self.above(left) - self.above(right))
                shape = weight - log_sum(weight)[..., None]
            known = np.all(np.isfinite(shape), axis=-1, keepdims=True)
            shape = np.where(known, shape, np.log(NODE_WEIGHTS / 2))
            weight = np.where(close[..., None], mass[..., None] + shape, weight)
        return weight


@dataclass(frozen=True)
class PanelTable:
    """∫ e^{kx} f over panels that cover the bulk, at one rate k, and beyond them on either side."""

    prior: QuadraturePrior
    k: float
    edges: Array
    full: Array  # by panel; the first and the last are what lies beyond the edges

    @classmethod
    def build(cls, prior: QuadraturePrior, k: float) -> PanelTable | None:
        """None where the rate would need too many panels."""
        low, high = prior.support
        ends = np.unique(np.concatenate([prior.panel_ends, [e for e in (low, high) if np.isfinite(e)]]))
        parts = np.ceil(abs(k) * np.diff(ends) / 2).astype(int)
        if np.sum(np.maximum(parts, 1)) > _MOST_PANELS:
            return None
        cut = [np.linspace(a, b, max(n, 1) + 1)[:-1] for a, b, n in zip(ends[:-1], ends[1:], parts, strict=True)]
        edges = np.concatenate([*cut, ends[-1:]])
        bare = cls(prior, k, edges, np.empty(0))
        beyond = prior.log_tilt_slowly(k, np.array([-np.inf, edges[-1]]), np.array([edges[0], np.inf]))
        return cls(prior, k, edges, np.concatenate([beyond[:1], bare.panels(edges[:-1], edges[1:]), beyond[1:]]))

    def holds(self, a: Array, b: Array) -> Mask:
        """Which intervals it answers: their ends lie among the panels, or at infinity."""
        first, last = self.edges[0], self.edges[-1]
        return (np.isneginf(a) | (a >= first)) & (np.isposinf(b) | (b <= last)) & (b >= first) & (a <= last)

    def log_tilt(self, a: Array, b: Array) -> Array:
        """Whole panels from the table, and a part of one at each end."""
        i = np.searchsorted(self.edges, a, side="left")  # the first edge at or after a
        j = np.searchsorted(self.edges, b, side="right") - 1  # the last edge at or before b
        last = self.edges.size - 1
        inside = i > j  # both ends in one panel
        start, end = np.isneginf(a), np.isposinf(b)
        here = np.arange(self.full.size)
        whole = (here > np.where(start, -1, i)[:, None]) & (here <= np.where(end, last + 1, j)[:, None])
        total = log_sum(np.where(whole & ~inside[:, None], self.full, -np.inf))
        left = self.panels(
            np.where(start, b, a), np.where(start, b, np.where(inside, b, self.edges[np.minimum(i, last)]))
        )
        right = self.panels(np.where(end | inside, b, self.edges[np.maximum(j, 0)]), b)
        return log_sum(np.stack([total, left, right], axis=-1))

    def panels(self, a: Array, b: Array) -> Array:
        """ln ∫ e^{kx} f over intervals that lie in one panel each."""
        safe = np.where(b > a, a, self.edges[0]), np.where(b > a, b, self.edges[0])
        half = (safe[1] - safe[0])[:, None] / 2
        x = safe[0][:, None] + half * (1 + NODES)
        with np.errstate(divide="ignore"):
            weight = np.log(half * NODE_WEIGHTS) + np.where(half > 0, self.prior.log_density(x), -np.inf)
        weight = self.prior.exact_at_ends(np.stack(safe, axis=-1), weight[:, None, :])[:, 0]
        return log_sum(weight + self.k * x)


@dataclass(frozen=True)
class FrozenScipy(QuadraturePrior):
    """A frozen scipy distribution, for instance ``scipy.stats.weibull_min(1.5)``."""

    distribution: Any

    def __post_init__(self) -> None:
        middle = np.asarray(self.distribution.ppf([0.25, 0.5, 0.75]), dtype=np.float64)
        if not np.all(np.isfinite(middle)):
            raise PriorError("from_scipy", self.distribution, "has no finite quartiles", "check its parameters")
        total = np.exp(self.log_tilt(0.0, -np.inf, np.inf))
        _, weight = self.log_terms(np.zeros(1), *(np.asarray([end]) for end in self.support))
        quadrature = float(np.exp(log_sum(weight))[0])
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
    def support(self) -> tuple[float, float]:
        low, high = self.distribution.support()
        return float(low), float(high)

    def log_density(self, x: ArrayLike) -> Array:
        with np.errstate(all="ignore"):
            value = np.asarray(self.distribution.logpdf(x), dtype=np.float64)
        return np.where(np.isnan(value), -np.inf, value)

    def below(self, x: ArrayLike) -> Array:
        return np.asarray(self.distribution.cdf(x), dtype=np.float64)

    def above(self, x: ArrayLike) -> Array:
        return np.asarray(self.distribution.sf(x), dtype=np.float64)

    def quantile(self, u: ArrayLike) -> Array:
        return np.asarray(self.distribution.ppf(u), dtype=np.float64)

    def upper_quantile(self, u: ArrayLike) -> Array:
        return np.asarray(self.distribution.isf(u), dtype=np.float64)

    @property
    def turns(self) -> tuple[float, ...]:
        return self._found_turns

    @cached_property
    def _found_turns(self) -> tuple[float, ...]:
        """Found on a fine grid of values and refined: like the integrals checked, not proven."""
        from scipy.optimize import minimize_scalar  # heavy, and often not needed

        ends = self.panel_ends
        x = np.unique(np.concatenate([np.linspace(a, b, 17) for a, b in pairwise(ends)]))
        height = self.log_density(x)
        rising = np.diff(height) > 0
        found: list[float] = []
        for i in np.flatnonzero(rising[1:] != rising[:-1]):
            sign = -1.0 if rising[i] else 1.0
            place: Any = minimize_scalar(
                lambda v, s=sign: s * float(self.log_density(v)), bounds=(x[i], x[i + 2]), method="bounded"
            )
            found.append(float(place.x))
        return tuple(found)
