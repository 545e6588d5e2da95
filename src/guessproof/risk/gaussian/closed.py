"""A normal prior, an answer that is linear in the secret, Gaussian noise: everything in closed form.

After the answer the belief is normal with variance v = 1/(1/σ₀² + 1/σ²) whatever the answer was; only its centre moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtr, ndtri

from guessproof.world.line import Normal


@dataclass(frozen=True)
class NormalPair:
    """A normal prior and Gaussian noise of standard deviation `noise`, in the secret's own units; a goal."""

    prior: Normal
    noise: float
    low: float
    high: float

    @property
    def sd(self) -> float:
        """The standard deviation of the belief after the answer."""
        return 1 / math.hypot(1 / self.prior.sd, 1 / self.noise)

    @property
    def before(self) -> float:
        """The belief before."""
        return float(self.prior.mass(self.low, self.high))

    @property
    def largest(self) -> float:
        """The largest belief after any answer: the centre falls into the middle of the goal."""
        return math.erf((self.high - self.low) / 2 / (self.sd * math.sqrt(2)))

    def failure(self, belief: float, at: float | None) -> float:
        """How probable an answer is that lifts the belief above a level, given the truth or (None) under the prior."""
        if belief >= self.largest:
            return 0.0
        half, middle = (self.high - self.low) / 2, (self.high + self.low) / 2
        near = self._offset(half, belief)
        share = (self.sd / self.noise) ** 2  # of the answer in the new centre
        if at is None:
            centre, spread = self.prior.mean, math.sqrt(share) * self.prior.sd
        else:
            centre, spread = share * at + (1 - share) * self.prior.mean, share * self.noise
        below, above = (middle - near - centre) / spread, (middle + near - centre) / spread
        return float(ndtr(above) - ndtr(below)) if below < 0 else float(ndtr(-below) - ndtr(-above))

    def _offset(self, half: float, belief: float) -> float:
        """How far from the goal's middle the centre may fall at which the belief is still this high."""
        low, high = 0.0, half + 40 * self.sd
        for _ in range(200):
            offset = 0.5 * (low + high)
            if not low < offset < high:
                break
            there = float(ndtr((half - offset) / self.sd) - ndtr((-half - offset) / self.sd))
            low, high = (offset, high) if there > belief else (low, offset)
        return high


def noise_for_largest(prior: Normal, low: float, high: float, belief: float) -> float:
    """The least noise whose largest belief stays at or below a level; math.inf where the prior is above it already.

    >>> round(noise_for_largest(Normal(20, 6.28), 18, 22, float(Normal(20, 6.28).mass(18, 22)) + 0.05), 4)
    9.2336
    """
    if belief >= 1:
        return 0.0
    precision = (float(ndtri(0.5 + 0.5 * belief)) / ((high - low) / 2)) ** 2 - prior.sd**-2
    if precision <= 0:
        return math.inf
    noise = 1 / math.sqrt(precision)
    while NormalPair(prior, noise, low, high).largest > belief:
        noise *= 1 + 2.0**-50
    return noise
