"""Several priors, one of which holds: two kinds of people in one column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import PriorError
from guessproof.world.checks import Array, weights
from guessproof.world.line import LinePrior, log_sum

_STEPS, _TRUSTED = 120, 20  # to a quantile: after so many every other one halves what is left
_NEAR, _ROUNDING = 1e-13, 1e-15  # of what lies beyond a quantile, and of itself: nothing is told nearer


@dataclass(frozen=True)
class Mixture(LinePrior):
    """Prior parts[i] with probability shares[i]."""

    parts: tuple[LinePrior, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.parts) != len(self.shares) or len(self.parts) < 2:
            raise PriorError("mixture", len(self.parts), "needs two priors or more, each with its weight", "add one")
        for part in self.parts:
            if not isinstance(part, LinePrior):
                raise PriorError("mixture", part, "is not a prior with a density", "mix densities only")
        object.__setattr__(self, "shares", tuple(weights("weights", np.asarray(self.shares)).tolist()))

    def __repr__(self) -> str:
        words = ", ".join(f"({share:g}, {part!r})" for share, part in zip(self.shares, self.parts, strict=True))
        return f"mixture({words})"

    @property
    def name(self) -> str:
        return "mixture"

    @property
    def mirror(self) -> float | None:
        centres = {part.mirror for part in self.parts}
        return centres.pop() if len(centres) == 1 else None

    @property
    def by_quadrature(self) -> bool:
        return any(part.by_quadrature for part in self.parts)

    @property
    def is_quick(self) -> bool:
        return False

    @property
    def support(self) -> tuple[float, float]:
        ends = [part.support for part in self.parts]
        return min(low for low, _ in ends), max(high for _, high in ends)

    @property
    def breaks(self) -> tuple[float, ...]:
        low, high = self.support
        places = {x for part in self.parts for x in (*part.breaks, *part.support)}
        return tuple(sorted(x for x in places if low < x < high))

    def _log_shares(self, extra: int) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(self.shares)).reshape(-1, *([1] * extra))

    def log_density(self, x: ArrayLike) -> Array:
        heights = np.stack([part.log_density(x) for part in self.parts])
        return log_sum(np.moveaxis(heights + self._log_shares(heights.ndim - 1), 0, -1))

    def density_range(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        ranges = [part.density_range(a, b) for part in self.parts]
        low, high = (
            sum(share * np.asarray(r[side]) for share, r in zip(self.shares, ranges, strict=True)) for side in (0, 1)
        )
        return np.asarray(low), np.asarray(high)

    def density_slopes(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        ranges = [part.density_slopes(a, b) for part in self.parts]
        low, high = (
            sum(share * np.asarray(r[side]) for share, r in zip(self.shares, ranges, strict=True)) for side in (0, 1)
        )
        return np.asarray(low), np.asarray(high)

    def log_tilt(self, k: ArrayLike, a: ArrayLike, b: ArrayLike, ref: ArrayLike = 0.0) -> Array:
        tilts = np.stack([part.log_tilt(k, a, b, ref) for part in self.parts])
        return log_sum(np.moveaxis(tilts + self._log_shares(tilts.ndim - 1), 0, -1))

    def excess(self, k: ArrayLike, a: ArrayLike, b: ArrayLike, ref: ArrayLike) -> Array:
        return np.asarray(
            sum(share * part.excess(k, a, b, ref) for share, part in zip(self.shares, self.parts, strict=True))
        )

    def quick_mass(self, a: ArrayLike, b: ArrayLike) -> Array:
        return np.asarray(
            sum(share * part.quick_mass(a, b) for share, part in zip(self.shares, self.parts, strict=True))
        )

    def quantile(self, u: ArrayLike) -> Array:
        """Between the parts' own quantiles, by Newton's steps, or by halving where these lead out of what is left.

        They are those of the logarithm of what lies beyond, which is nearly straight in tails.
        """
        u = np.asarray(u, dtype=np.float64)
        own = np.stack([part.quantile(u) for part in self.parts])
        low, high = np.min(own, axis=0), np.max(own, axis=0)
        with np.errstate(all="ignore"):
            here = 0.5 * low + 0.5 * high
            for i in range(_STEPS):
                beyond, ahead = self._beyond(here, u)
                low, high = np.where(ahead > 0, here, low), np.where(ahead > 0, high, here)
                near = (np.abs(ahead) <= _NEAR) | (high - low <= _ROUNDING * np.abs(here)) | (low == high)
                if near.all():
                    break
                newton = here + ahead * beyond / np.exp(self.log_density(here))
                inside = (newton > low) & (newton < high) & (i < _TRUSTED or i % 2 > 0)
                here = np.where(near, here, np.where(inside, newton, 0.5 * low + 0.5 * high))
        return np.where(np.isfinite(high), here, np.where(u < 0.5, self.support[0], self.support[1]))

    def _beyond(self, x: Array, u: Array) -> tuple[Array, Array]:
        """What lies beyond x in the nearer tail, and how far ahead u is: as a difference of logarithms."""
        below, above = self.quick_mass(-np.inf, x), self.quick_mass(x, np.inf)
        return np.where(u < 0.5, below, above), np.where(u < 0.5, np.log(u / below), np.log(above / (1 - u)))

    def panels(self, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
        a, b = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))
        sides = [part.panels(a, b) for part in self.parts]
        edges = np.sort(np.concatenate([end for pair in sides for end in pair], axis=-1), axis=-1)
        return edges[..., :-1], edges[..., 1:]

    def stretched(self, factor: float) -> Mixture | None:
        """Each part wider or narrower around its own centre."""
        parts = [part.stretched(factor) for part in self.parts]
        return Mixture(tuple(p for p in parts if p is not None), self.shares) if all(parts) else None
