"""The form of a distance on the line that has exact answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from guessproof.world.checks import Array


@dataclass(frozen=True)
class LineForm:
    """The distance min(|ψ(x) − ψ(x')|, cap) + step·1[x ≠ x'], with ψ rising, piecewise linear.

    ψ has slope slopes[j] between cuts[j−1] and cuts[j] and rises by jumps[j] just above cuts[j].
    Most distances that queries give rise to are of this form, and it has exact answers.
    """

    cuts: tuple[float, ...] = ()
    slopes: tuple[float, ...] = (0.0,)
    jumps: tuple[float, ...] = ()
    step: float = 0.0
    cap: float = np.inf

    @property
    def is_straight(self) -> bool:
        """Whether ψ is one straight line."""
        return not self.cuts

    @property
    def is_flat(self) -> bool:
        """Whether ψ is constant, so that only the step is left."""
        return not any(self.slopes) and not any(self.jumps)

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """Where each straight piece of ψ starts and ends."""
        return np.array([-np.inf, *self.cuts]), np.array([*self.cuts, np.inf])

    def psi(self, x: ArrayLike) -> Array:
        """ψ(x), zero at the first cut (or at 0 for a straight line)."""
        x = np.asarray(x, dtype=np.float64)
        if self.is_straight:
            return times(self.slopes[0], x)
        if self._corners is not None:  # a clamped column: flat outside, no jumps
            return np.asarray(np.interp(x, *self._corners))
        total = times(self.slopes[0], np.minimum(x - self.cuts[0], 0.0))
        ends = (*self.cuts[1:], np.inf)
        for cut, end, slope, jump in zip(self.cuts, ends, self.slopes[1:], self.jumps, strict=True):
            total = total + times(slope, np.clip(x, cut, end) - cut) + jump * (x > cut)
        return total

    def rise(self, x: float, y: float) -> float:
        """How far ψ rises from just below x to just above y ≥ x."""
        between = float(self.psi(y) - self.psi(x)) if y > x else 0.0
        return between + self._jump(y)

    def slope_at(self, x: float) -> float:
        """The slope of ψ just above x."""
        return self.slopes[sum(c <= x for c in self.cuts)]

    @cached_property
    def _corners(self) -> tuple[Array, Array] | None:
        """The cuts and ψ there, where ψ is continuous and flat outside them; None elsewhere."""
        if any(self.jumps) or self.slopes[0] or self.slopes[-1]:
            return None
        cuts = np.asarray(self.cuts)
        return cuts, np.concatenate([[0.0], np.cumsum(np.asarray(self.slopes[1:-1]) * np.diff(cuts))])

    def times(self, factor: float) -> LineForm:
        """The same distance, multiplied."""
        return LineForm(
            self.cuts,
            tuple(factor * s for s in self.slopes),
            tuple(factor * j for j in self.jumps),
            factor * self.step,
            factor * self.cap if factor else np.inf,
        )

    def plus(self, other: LineForm) -> LineForm | None:
        """The sum of two distances, or None where it leaves this form."""
        if min(self.cap, other.cap) < np.inf and not (self.is_flat or other.is_flat):
            return None
        cuts = tuple(sorted({*self.cuts, *other.cuts}))
        slopes = tuple(s + t for s, t in zip(self._slopes_on(cuts), other._slopes_on(cuts), strict=True))
        jumps = tuple(self._jump(c) + other._jump(c) for c in cuts)
        return LineForm(cuts, slopes, jumps, self.step + other.step, min(self.cap, other.cap))

    def below(self, other: LineForm) -> LineForm:
        """The shortest ways if every hop may follow either of two distances without a step."""
        cuts = tuple(sorted({*self.cuts, *other.cuts}))
        slopes = tuple(min(s, t) for s, t in zip(self._slopes_on(cuts), other._slopes_on(cuts), strict=True))
        jumps = tuple(min(self._jump(c), other._jump(c)) for c in cuts)
        return LineForm(cuts, slopes, jumps, 0.0, min(self.cap, other.cap))

    def capped(self, cap: float) -> LineForm:
        """The smaller of this distance and a constant for any two different values."""
        if cap <= self.step:
            return LineForm(step=cap)
        return LineForm(self.cuts, self.slopes, self.jumps, self.step, min(self.cap, cap - self.step))

    def _slopes_on(self, cuts: tuple[float, ...]) -> list[float]:
        starts = [-np.inf, *cuts]
        return [self.slopes[sum(c <= s for c in self.cuts)] for s in starts]

    def _jump(self, cut: float) -> float:
        return self.jumps[self.cuts.index(cut)] if cut in self.cuts else 0.0


def times(factor: float, x: ArrayLike) -> Array:
    """factor·x with 0·∞ = 0."""
    x = np.asarray(x, dtype=np.float64)
    return factor * x if factor else np.zeros_like(x)
