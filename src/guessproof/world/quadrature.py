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
from numpy.typing import ArrayLike, NDArray

from guessproof.errors import PriorError
from guessproof.world.checks import Array, Mask
from guessproof.world.line import NODE_WEIGHTS, NODES, LinePrior, log_sum
from guessproof.world.panels import PanelTables
from guessproof.world.smooth import DensitySlopes

_TAIL = 10.0 ** -np.arange(14, 1, -1)
_LEVELS = np.concatenate([_TAIL, np.arange(1, 20) / 20, 1 - _TAIL[::-1]])
_HALVINGS = 2.0 ** -np.arange(1, 61)
_LOG_CONCAVE = ("norm", "expon", "uniform", "laplace", "logistic", "gumbel_r", "gumbel_l")
_REACH = 80.0  # e^{−80} of a tilted integrand is left out
_BLOCK = 128  # integrals made at a time
_WORTH = 3  # integrals at each rate for which tables are made
_MOST_RATES = 2048  # whose tables are kept


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

    @property
    def bends(self) -> tuple[float, ...] | None:
        """Where the slope of the density turns from rising to falling, or back; None where that is not known."""
        return None

    def log_slope(self, x: Array) -> Array:
        """The slope of ln f, where `bends` is known."""
        return np.full(x.shape, np.nan)

    def density_slopes(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        if self.bends is None:
            return super().density_slopes(a, b)
        a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
        start, end = self.support
        places = np.stack([a, b, *(np.clip(x, a, b) for x in self.bends)])
        with np.errstate(all="ignore"):
            slopes = np.exp(self.log_density(places)) * self.log_slope(places)
        low, high = np.min(slopes, axis=0), np.max(slopes, axis=0)
        unknown = ~(np.isfinite(low) & np.isfinite(high)) | (a < start) | (b > end)
        low, high = np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)
        beside = (b < start) | (a > end)
        return np.where(beside, 0.0, low), np.where(beside, 0.0, high)

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
        rest = self._by_tables(k, a, b, rest, out)
        out[rest] = self._slow_tilt(k[rest], a[rest], b[rest], np.zeros(rest.size))
        with np.errstate(invalid="ignore"):
            shift = np.where(tilted & ~diverges, k * ref, 0.0)
        return (out - shift).reshape(shape)

    def log_tilt_slowly(self, k: ArrayLike, a: Array, b: Array) -> Array:
        """The same without a table."""
        (k, a, b, ref), _ = self._flat(k, a, b, 0.0)
        some, diverges = b > a, self._diverges(k, a, b)
        out = np.where(some & diverges, np.inf, -np.inf)
        rest = np.flatnonzero(some & ~diverges)
        out[rest] = self._slow_tilt(k[rest], a[rest], b[rest], ref[rest])
        return out

    def _by_tables(self, k: Array, a: Array, b: Array, rest: NDArray[np.int64], out: Array) -> NDArray[np.int64]:
        """Fill in what tables tell, where there are enough integrals to make them; which ones are left."""
        rates, inverse = np.unique(k[rest], return_inverse=True)
        if rest.size < _WORTH * rates.size:
            return rest
        places = self._places(rates)
        left = [rest[(places[inverse, 0] < 0)]]
        for batch in np.unique(places[:, 0]):
            if batch < 0:
                continue
            table, own = self._tables[batch], np.flatnonzero(places[inverse, 0] == batch)
            held = table.holds(a[rest[own]], b[rest[own]])
            left.append(rest[own[~held]])
            own = own[held]
            out[rest[own]] = table.log_tilt(places[inverse[own], 1], a[rest[own]], b[rest[own]])
        return np.concatenate(left)

    def _slow_tilt(self, k: Array, a: Array, b: Array, ref: Array) -> Array:
        """Each integral on panels of its own."""
        out = np.empty(k.shape)
        for i in (slice(j, j + _BLOCK) for j in range(0, k.size, _BLOCK)):
            x, weight = self.log_terms(k[i], a[i], b[i])
            gap = k[i, None] * (x - ref[i, None])
            out[i] = log_sum(weight + np.where(np.isneginf(weight), 0.0, gap))
        return out

    @cached_property
    def _tables(self) -> list[PanelTables]:
        return []

    @cached_property
    def _known_rates(self) -> dict[float, tuple[int, int]]:
        return {}

    def _places(self, rates: Array) -> NDArray[np.int64]:
        """In which table each rate is, and where in it; −1 where it would need too many panels.

        Tables are kept: a search asks for many intervals at the same rates.
        """
        known = self._known_rates
        if len(known) + rates.size > _MOST_RATES:
            known.clear()
            self._tables.clear()
        new = np.array([rate for rate in rates if float(rate) not in known])
        widest = float(np.max(np.diff(self.panel_ends)))
        octaves = np.ceil(np.log2(np.maximum(np.abs(new) * widest / 2, 1.0)))
        for octave in np.unique(octaves):
            some = new[octaves == octave]
            table = PanelTables.build(self, self.panel_ends, some)
            if table is not None:
                self._tables.append(table)
            batch = -1 if table is None else len(self._tables) - 1
            known.update({float(rate): (batch, i) for i, rate in enumerate(some)})
        return np.array([known[float(rate)] for rate in rates], dtype=np.int64).reshape(-1, 2)

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
        value, size, before = np.empty(a.shape), np.empty(a.shape), self.below(a)
        upper = before > 0.5
        lower = ~upper
        with np.errstate(all="ignore"):
            size[upper], size[lower] = self.above(a[upper]), self.below(b[lower])
            value[upper], value[lower] = size[upper] - self.above(b[upper]), size[lower] - before[lower]
            out = np.log(value)
        close = np.flatnonzero(value < 1e-3 * size)
        close = self._by_tables(np.zeros(a.shape), a, b, close, out)
        for i in (close[j : j + _BLOCK] for j in range(0, close.size, _BLOCK)):
            out[i] = log_sum(self.log_terms(np.zeros(i.size), a[i], b[i])[1])
        return out

    def _diverges(self, k: Array, a: Array, b: Array) -> Mask:
        """Whether e^{kx} f still grows far out in an infinite end: taken as divergent, the safe reading."""
        left, right = self.tail_rates
        return ((k > 0) & np.isinf(b) & (k > right)) | ((k < 0) & np.isinf(a) & (-k > left))

    @cached_property
    def tail_rates(self) -> tuple[float, float]:
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

    def density_slopes(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
        if self._slopes is None:
            return LinePrior.density_slopes(self, a, b)
        start, end = self.support
        low, high = self._slopes.between(a, b)
        across, beside = (a < start) | (b > end), (b < start) | (a > end)
        low, high = np.where(across, -np.inf, low), np.where(across, np.inf, high)
        return np.where(beside, 0.0, low), np.where(beside, 0.0, high)

    @cached_property
    def _slopes(self) -> DensitySlopes | None:
        return DensitySlopes.of(self)

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
