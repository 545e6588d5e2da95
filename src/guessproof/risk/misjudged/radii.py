"""How far from a peak values are, where bounds clamp a column: those beyond a bound one after the other.

Beyond a bound all values are equally far from any peak, and equally likely to have brought about an answer. A wrong
prior may favour some of them and not the others, which no distance can say. So radii are longer than distances: where
one comes to the values beyond a bound, it passes them one by one over a stretch of its own, while the distance stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array

Pair = tuple[Array, Array]

_STRETCH = (
    0.05,
    0.25,
)  # of how far apart most values are: what those beyond a bound take of a radius, at least and at most
_PLACES, _FARTHEST = 65, 1e-9  # values beyond a bound that are known; of the prior is left out at the end


@dataclass(frozen=True, eq=False)
class _Beyond:
    """Values beyond one bound, from it outwards."""

    bound: float
    psi: float
    values: Array
    stretch: float  # what all of them take of a radius: more where they are many

    @classmethod
    def of(cls, world: TiltedIntegrals, side: int) -> _Beyond | None:
        form, prior, (low, high) = world.form, world.prior, world.prior.support
        if form.is_straight or form.slopes[-side]:
            return None
        bound = form.cuts[-side]
        mass = float(prior.mass(low, bound) if side == 0 else prior.mass(bound, high))
        if not mass > _FARTHEST:
            return None
        left = np.linspace(mass, _FARTHEST, _PLACES)
        values = prior.quantile(left if side == 0 else 1 - left)
        values[0] = bound
        values = np.append(values, low if side == 0 else high)
        inner = np.nextafter(bound, np.inf) if side else bound  # a jump at the last bound has been taken beyond it
        wide = world.spread or float(form.psi(np.nextafter(form.cuts[-1], np.inf)) - form.psi(form.cuts[0]))
        return cls(bound, float(form.psi(inner)), values, wide * min(_STRETCH[0] + mass, _STRETCH[1]))

    def at(self, share: Array) -> Array:
        """The value up to which a share of them is passed; all of them at the end."""
        place = np.clip(share, 0.0, 1.0) * (self.values.size - 1)
        before = np.minimum(place.astype(np.int64), self.values.size - 2)
        first, second = self.values[before], self.values[before + 1]
        with np.errstate(invalid="ignore"):
            inner = first + (place - before) * (second - first)
        return np.where(np.isfinite(second), inner, np.where(share >= 1, second, first))


@dataclass(frozen=True, eq=False)
class Radii:
    """Radii around peaks of a distance that may be flat beyond bounds."""

    world: TiltedIntegrals

    @cached_property
    def _beyond(self) -> list[tuple[int, _Beyond]]:
        found = ((side, _Beyond.of(self.world, side)) for side in (0, 1))
        return [(side, each) for side, each in found if each is not None]

    def _starts(self, c: Array) -> list[tuple[int, _Beyond, Array]]:
        """Radii at which those beyond each bound begin: the nearer one's come first."""
        at = self.world.form.psi(c)
        away: list[Array] = [np.abs(at - each.psi) for _, each in self._beyond]
        if len(away) == 2:
            second, (low, high) = away[0] > away[1], (each.stretch for _, each in self._beyond)
            away = [away[0] + high * second, away[1] + low * ~second]
        return [(side, each, start) for (side, each), start in zip(self._beyond, away, strict=True)]

    def distance(self, c: Array, radius: Array) -> Array:
        """How far values at some radius are."""
        if not self._beyond:
            return radius
        return radius - sum(np.clip(radius - start, 0.0, each.stretch) for _, each, start in self._starts(c))

    def around(self, c: Array, radius: Array) -> Pair:
        """The values at some radius below and above a peak."""
        psi, inverse = self.world.form.psi, self.world.form.inverse
        away = self.distance(c, radius)
        ends = [inverse(psi(c) - away), inverse(psi(c) + away)]
        for side, each, start in self._starts(c):
            share = (radius - start) / each.stretch
            ends[side] = np.where(share >= 0, each.at(share), ends[side])
        return ends[0], ends[1]

    def nearest(self, c: Array, x: Array) -> Array:
        """The radius of a value; beyond a bound that of the first value there."""
        return self._radius(c, x, last=False)

    def farthest(self, c: Array, x: Array) -> Array:
        """The radius of a value; beyond a bound that of the last value there."""
        return self._radius(c, x, last=True)

    def _radius(self, c: Array, x: Array, *, last: bool) -> Array:
        psi, starts = self.world.form.psi, self._starts(c)
        away = np.abs(psi(x) - psi(c))
        found = away + sum(each.stretch * (away > np.abs(psi(c) - each.psi)) for _, each, _ in starts)
        for side, each, start in starts:
            beyond = (x < each.bound) if side == 0 else (x > each.bound)
            found = np.where(beyond, start + each.stretch * last, found)
        return np.asarray(found, dtype=np.float64)

    def stretches(self, c: Array) -> list[Pair]:
        """Between which radii values are equally far, for each peak."""
        return [(start, start + each.stretch) for _, each, start in self._starts(c)]

    def beside_jumps(self, c: Array) -> list[Array]:
        """The radii of what lies just before and just behind each jump of ψ."""
        cuts = self.world.form.jumped
        return [
            self._radius(c, np.full(c.shape, x), last=False) for cut in cuts for x in (cut, np.nextafter(cut, np.inf))
        ]
