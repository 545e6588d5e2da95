"""An interval of correct guesses under min(k|x − x'|, cap): the exact answer.

The likelihood that raises the belief most is a table mountain: 1 on a plateau [u, v] inside G, falling at rate k on
both sides down to e^{−cap}. The one that lowers it most is a basin: e^{−cap} on [u, v], rising on both sides up to 1.
For a given gain, the best u is where the slope's mass inside G balances its mass outside, times what the gain makes
them worth, and so is the best v. If they cross (u > v) the flat part shrinks to one point. What the best shape attains
is a larger gain, from which to look again: this climbs to the answer and squares its error in each step. Masses enter
by their logarithms only, so no cap is too large.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from guessproof.risk.roots import root
from guessproof.world.line import LinePrior

_STEPS = 100
_MOST = 1e5  # a log-ratio as good as infinite, for a search that needs numbers


def capped_tent(prior: LinePrior, lo: float, hi: float, k: float, cap: float) -> tuple[float, float]:
    """(attack, bound) of the signed gain for the goal [lo, hi] at slope k = ±ε/scale and cap = ε·(largest distance)."""
    hill, gain = _Hill(prior, lo, hi, k, cap), 0.0
    for _ in range(_STEPS):
        found = hill.attained(*hill.flat_part(gain))
        done = found <= gain + 1e-13 * (1 + gain)
        gain = max(gain, found)
        if done:
            break
    noise = 1e-11 * (1 + gain)
    attack, bound = max(gain - noise, 0.0), min(gain + noise, cap)
    return (attack, bound) if k > 0 else (-attack, -bound)


class _Hill:
    """The two slopes of a mountain (k > 0) or basin (k < 0) and what they attain, for one goal."""

    def __init__(self, prior: LinePrior, lo: float, hi: float, k: float, cap: float) -> None:
        low, high = prior.support
        self.prior, self.k, self.reach = prior, k, cap / abs(k)
        self.log_flat, self.log_rest = (0.0, -cap) if k > 0 else (-cap, 0.0)
        self.lo, self.hi = max(lo, low), min(hi, high)
        self.log_p = self._mass(self.lo, self.hi)
        self.log_q = float(np.logaddexp(self._mass(-np.inf, self.lo), self._mass(self.hi, np.inf)))

    def flat_part(self, gain: float) -> tuple[float, float]:
        """The best ends of the flat part, if odds that change by e^{gain} are to be beaten."""
        worth = (-self.log_p, gain - self.log_q) if self.k > 0 else (gain - self.log_p, -self.log_q)

        def balance(x: float, side: int) -> float:
            inside, outside = self._slope(x, side)
            return _ratio(worth[0] + inside, worth[1] + outside)

        def peak(x: float) -> float:
            (in_left, out_left), (in_right, out_right) = self._slope(x, 0), self._slope(x, 1)
            left = np.logaddexp(worth[0] + in_left, worth[1] + out_right)
            return _ratio(float(left), float(np.logaddexp(worth[0] + in_right, worth[1] + out_left)))

        u = _rising(lambda x: balance(x, 0), self.lo, self.hi)
        v = -_rising(lambda y: balance(-y, 1), -self.hi, -self.lo)
        if u > v:
            u = v = _rising(peak, v, u)
        return u, v

    def attained(self, u: float, v: float) -> float:
        """The gain of the shape that is flat between u and v."""
        left, right = self._slope(u, 0), self._slope(v, 1)
        ends = u - self.reach, v + self.reach
        inside = [self._mass(u, v), left[0], right[0]]
        far_in = [self._mass(self.lo, ends[0]), self._mass(ends[1], self.hi)]
        far_out = [self._mass(-np.inf, min(ends[0], self.lo)), self._mass(max(ends[1], self.hi), np.inf)]
        met = _total([self.log_flat + m for m in inside] + [self.log_rest + m for m in far_in])
        missed = _total([self.log_flat + m for m in (left[1], right[1])] + [self.log_rest + m for m in far_out])
        gain = (met - self.log_p) - (missed - self.log_q)
        return gain if self.k > 0 else -gain

    def _slope(self, x: float, side: int) -> tuple[float, float]:
        """ln of the mass inside and outside G on the slope that starts at x, its start at height 1."""
        if side == 0:
            end = x - self.reach
            return self._tilt(max(self.lo, end), x, x, self.k), self._tilt(end, self.lo, x, self.k)
        end = x + self.reach
        return self._tilt(x, min(self.hi, end), x, -self.k), self._tilt(self.hi, end, x, -self.k)

    def _tilt(self, a: float, b: float, ref: float, k: float) -> float:
        return float(self.prior.log_tilt(k, a, b, ref)) if b > a else -np.inf

    def _mass(self, a: float, b: float) -> float:
        return self._tilt(a, b, 0.0, 0.0)


def _total(terms: list[float]) -> float:
    return float(np.logaddexp.reduce(terms))


def _ratio(x: float, y: float) -> float:
    """x − y as a finite number; nothing on either side is a balance."""
    return 0.0 if x == y else float(np.clip(x - y, -_MOST, _MOST))


def _rising(function: Callable[[float], float], low: float, high: float) -> float:
    """The root of a function that rises through zero at most once, or the end where it would be."""
    if not low < high or function(low) >= 0:
        return low
    return root(function, low, high) if function(high) > 0 else high
