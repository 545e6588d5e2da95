"""One number whose density is exponential between its breaks: pieces, tilted masses, and beliefs in an interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from guessproof.risk.several.bends import NormalBends
from guessproof.world.checks import Array
from guessproof.world.line import LinePrior, Normal, Truncated
from guessproof.world.pieces import LogLinear


@dataclass(frozen=True)
class Pieces:
    """A density between its breaks: where pieces begin and end, the density and the slope of its logarithm there."""

    left: Array
    right: Array
    density: tuple[Array, Array]  # at the left and at the right end
    slope: tuple[Array, Array]

    @classmethod
    def of(cls, prior: LinePrior) -> Pieces | None:
        """None where the density has more than edges, or a gap, in which nobody can be."""
        base, low, high = (
            (prior.base, prior.low, prior.high) if isinstance(prior, Truncated) else (prior, -np.inf, np.inf)
        )
        if isinstance(base, LogLinear):
            some = (base.right > low) & (base.left < high)
            left, right = np.maximum(base.left[some], low), np.minimum(base.right[some], high)
            slope, height, anchor = base.slope[some], base.height[some], base.anchor[some]
            if np.isneginf(height).any():
                return None
            with np.errstate(invalid="ignore"):
                ends = [np.where(np.isinf(x), 0.0, np.exp(height + slope * (x - anchor))) for x in (left, right)]
            slopes = slope, slope
        elif isinstance(base, Normal) and np.isfinite(low) and np.isfinite(high):
            left, right = np.array([low]), np.array([high])
            ends = [np.exp(base.log_density(x)) for x in (left, right)]
            slopes = (base.mean - left) / base.sd**2, (base.mean - right) / base.sd**2
        else:
            return None
        whole = float(base.mass(low, high))
        return cls(left, right, (ends[0] / whole, ends[1] / whole), slopes)

    @cached_property
    def breaks(self) -> tuple[Array, Array, Array, Array, Array]:
        """Where the density may jump or bend: places, densities to the left and right, slopes to the left and right."""
        none = np.zeros(1)
        x = np.concatenate([self.left[:1], self.right])
        f = np.concatenate([none, self.density[1]]), np.concatenate([self.density[0], none])
        s = np.concatenate([none, self.slope[1]]), np.concatenate([self.slope[0], none])
        some = np.isfinite(x)
        return x[some], f[0][some], f[1][some], s[0][some], s[1][some]

    @property
    def most(self) -> float:
        """The largest density."""
        top = max(float(np.max(side)) for side in self.density)
        inner = (self.slope[0] > 0) & (self.slope[1] < 0)  # of a normal density, where its own summit is inside
        return np.inf if inner.any() else top

    def slopes(self, low: float, high: float) -> tuple[float, float]:
        """The least and the largest slope between two places."""
        some = (self.right > low) & (self.left < high)
        left, right, first, last = (side[some] for side in (self.left, self.right, *self.slope))
        if not left.size:
            return 0.0, 0.0
        with np.errstate(invalid="ignore"):
            turn = np.where(first == last, 0.0, (last - first) / (right - left))
            ends = [np.where(turn == 0, first, first + turn * (np.clip(e, left, right) - left)) for e in (low, high)]
        return float(np.min(ends)), float(np.max(ends))


@dataclass(frozen=True)
class EdgedAxis:
    """One number: its prior, where ways begin, how its distance rises, and how far correct guesses reach."""

    prior: LinePrior
    origin: float
    slope: float
    reach: float
    pieces: Pieces | None  # None: normal

    @property
    def normal(self) -> NormalBends:
        """As a world of its own."""
        bell = self.prior.normal_form
        assert bell is not None
        return NormalBends(np.array([[bell.sd**2]]), np.array([self.slope]), np.array([self.reach]), "l1")

    def tilted(self, sign: int, rate: float, at: Array, low: Array, high: Array) -> Array:
        """∫ e^{±rate·|x − at|} f between low and high, which lie on either side of `at`."""
        left = self.prior.log_tilt(-sign * rate, low, at, at)
        right = self.prior.log_tilt(sign * rate, at, high, at)
        return np.exp(left) + np.exp(right)

    def most_density(self) -> float:
        """No density is larger."""
        if self.pieces is not None and np.isfinite(self.pieces.most):
            return self.pieces.most
        base = self.prior.base if isinstance(self.prior, Truncated) else self.prior
        assert isinstance(base, Normal)
        whole = 1.0 if base is self.prior else float(base.mass(*self.prior.support))
        return 1 / (base.sd * np.sqrt(2 * np.pi)) / whole

    def believed(self, low: float, high: float, rate: float) -> float:
        """No belief in an interval of this number exceeds this.

        Cut it at any c. To the right of c nothing beats L = e^{−rate·x}, of what is inside against what is beyond
        `high`; to the left nothing beats e^{+rate·x}; and no belief has better odds than the better side.
        """
        a, b = max(low, self.prior.support[0]), min(high, self.prior.support[1])
        if not a < b:
            return 0.0
        if np.isinf(a) and np.isinf(b):
            return 1.0
        cuts = np.linspace(a, b, 9) if np.isfinite(b - a) else np.array([a if np.isinf(a) else b])
        ref = np.where(np.isfinite(cuts), cuts, b if np.isinf(a) else a)
        with np.errstate(divide="ignore", invalid="ignore"):
            left = self.prior.log_tilt(rate, a, cuts, ref) - self.prior.log_tilt(rate, -np.inf, a, ref)
            right = self.prior.log_tilt(-rate, cuts, b, ref) - self.prior.log_tilt(-rate, b, np.inf, ref)
            odds = np.fmax(left, right)  # a side without probability says nothing
        return float(1 / (1 + np.exp(-np.min(odds)))) * (1 + 1e-9)
