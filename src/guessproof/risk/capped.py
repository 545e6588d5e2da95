"""An interval of correct guesses under min(k|x − x'|, cap): the exact answer.

The likelihood that raises the belief most is a table mountain: 1 on a plateau [u, v] inside G, falling at rate k on
both sides down to e^{−cap}. The one that lowers it most is a basin: e^{−cap} on [u, v], rising on both sides up to 1.
For a given λ, what is to be kept below zero (∫_G Lf − λ∫_{not G} Lf for the mountain, ∫_{not G} Lf − λ∫_G Lf for the
basin) is a sum of a function of u and one of v, each with a single top: where the slope's mass inside G balances its
mass outside. If the tops cross (u > v) the flat part shrinks to one point, again with a single top. The λ at which
the best value is zero is the answer, a monotone root.
"""

from __future__ import annotations

import numpy as np

from guessproof.risk.roots import root
from guessproof.world.line import LinePrior


def capped_tent(prior: LinePrior, lo: float, hi: float, k: float, cap: float) -> tuple[float, float]:
    """(attack, bound) of the signed gain for the goal [lo, hi] at slope k = ±ε/scale and cap = ε·(largest distance)."""
    hill = _Hill(prior, lo, hi, k, cap)
    if hill.best(cap) > 0:  # only rounding can say so: a factor of e^{cap} always suffices
        return 0.0, float(np.sign(k)) * cap
    gain = root(hill.best, 0.0, cap)
    noise = 1e-11 * (1 + gain)
    attack, bound = max(gain - noise, 0.0), min(gain + noise, cap)
    return (attack, bound) if k > 0 else (-attack, -bound)


class _Hill:
    """The two slopes of a mountain (k > 0) or basin (k < 0) and what they gain, for one goal."""

    def __init__(self, prior: LinePrior, lo: float, hi: float, k: float, cap: float) -> None:
        low, high = prior.support
        self.prior, self.k, self.reach = prior, k, cap / abs(k)
        self.flat, self.rest = (1.0, np.exp(-cap)) if k > 0 else (np.exp(-cap), 1.0)
        self.log_flat = 0.0 if k > 0 else -cap
        self.lo, self.hi = max(lo, low), min(hi, high)
        self.log_p = float(prior.log_tilt(0.0, self.lo, self.hi))
        sides = [float(prior.log_tilt(0.0, -np.inf, self.lo)), float(prior.log_tilt(0.0, self.hi, np.inf))]
        self.log_q = float(np.logaddexp(sides[0], sides[1]))

    def best(self, gain: float) -> float:
        """The largest of what is to be kept below zero, if the odds may change by e^{gain}."""
        if self.k > 0:
            inside, outside = np.exp(-self.log_p), -np.exp(gain - self.log_q)
        else:
            inside, outside = -np.exp(gain - self.log_p), np.exp(-self.log_q)
        weights = float(inside), float(outside)
        u, v = (root(lambda x, s=side: self._slope(x, weights, s), self.lo, self.hi) for side in (0, 1))
        if u > v:
            u = v = root(lambda x: self._slope(x, weights, 0) - self._slope(x, weights, 1), v, u)
        plateau = self.flat * weights[0] * float(self.prior.mass(u, v))
        return self._side(u, weights, 0) + self._side(v, weights, 1) + plateau

    def _slope(self, x: float, weights: tuple[float, float], side: int) -> float:
        """What the slope that starts at x gains inside and outside G: zero at the best x."""
        if side == 0:
            end = x - self.reach
            inside, outside = self._tilt(max(self.lo, end), x, x, 0), self._tilt(end, self.lo, x, 0)
        else:
            end = x + self.reach
            inside, outside = self._tilt(x, min(self.hi, end), x, 1), self._tilt(self.hi, end, x, 1)
        return weights[0] * inside + weights[1] * outside

    def _tilt(self, a: float, b: float, ref: float, side: int) -> float:
        k = self.k if side == 0 else -self.k
        return float(np.exp(self.prior.log_tilt(k, a, b, ref) + self.log_flat)) if b > a else 0.0

    def _side(self, x: float, weights: tuple[float, float], side: int) -> float:
        """What everything on one side of x gains: the slope, and the level stretch beyond it."""
        if side == 0:
            end = x - self.reach
            outside, inside = (
                self.prior.mass(-np.inf, min(end, self.lo)),
                self.prior.mass(self.lo, max(end, self.lo)),
            )
        else:
            end = x + self.reach
            outside, inside = (
                self.prior.mass(max(end, self.hi), np.inf),
                self.prior.mass(min(end, self.hi), self.hi),
            )
        return self._slope(x, weights, side) + self.rest * float(weights[0] * inside + weights[1] * outside)
