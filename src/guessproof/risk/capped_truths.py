"""Mountains of all true values between two: what they are at the edges of the goal, enclosed.

For odds λ the left end u of the best flat part is where I(u)/O(e) = λ (`capped`); it rises with λ and with the edge lo,
since I/O falls as lo rises. The right end v rises with hi and falls as λ rises. So wherever odds stay between λ₁ and λ₂
while edges move from lo₁ to lo₂ and from hi₁ to hi₂,

    u(λ₁, lo₁) ≤ u ≤ u(λ₂, lo₂)     and     v(λ₂, hi₁) ≤ v ≤ v(λ₁, hi₂),

and a place is known to lie below such a root, or above it, by the ratio there: guesses are looked at, and what is not
shown by them is replaced by an end of the goal. Z = ∫Lf, with L = 1 on the flat part, changes by no more than a factor
e^{ε·(what ψ(u) and ψ(v) change by)}, and with it the likelihood at the edges is enclosed.

That odds stay there follows from the same. Let the range be that of beliefs within s of the one at t₁. As long as it is
kept, the belief changes no faster than the density at the edges times L/Z there. If at this pace it changes by no more
than s on the way from t₁ to t₂, it never leaves the range: it is continuous in t, and would have had to get there first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from guessproof.risk.capped import Hills
from guessproof.world.checks import Array

if TYPE_CHECKING:
    from guessproof.risk.worst_case import Ends, TruthSearch

Range = tuple[Array, Array]

_WIDER = 1.5  # than what the ends of a box let expect
_FURTHER = 2.0  # than what a ratio's slope lets expect


def ratios_of_hills(goal: TruthSearch, left: Ends, right: Ends, k: Array) -> tuple[Range, Range]:
    """Enclosures of L/Z at the lower and at the upper edges, for the best mountains of all true values of each box."""
    box = _Box(Hills.of(goal.prior, goal.form), goal, left, right, np.broadcast_to(k, left.t.shape))
    with np.errstate(all="ignore"):
        return box.ratios()


class _Box:
    """True values from `left` to `right`."""

    def __init__(self, hills: Hills, goal: TruthSearch, left: Ends, right: Ends, k: Array) -> None:
        self.hills, self.goal, self.left, self.right, self.k = hills, goal, left, right, k
        self.psi, support = goal.form.psi, goal.prior.support
        self.first, self.last = (
            tuple(np.clip(e, *support) for e in goal.edges(t)) for t in (left.t, right.t)
        )

    def ratios(self) -> tuple[Range, Range]:
        k, psi = self.k, self.psi
        slack = self._slack()
        odds = self._odds(slack)
        u, v = self._flat(odds)
        log_z = self._log_z(u, v)
        (lo1, hi1), (lo2, hi2) = self.first, self.last
        drops = (
            (np.maximum(psi(u[0]) - psi(lo2), 0.0), psi(u[1]) - psi(lo1)),
            (np.maximum(psi(hi1) - psi(v[1]), 0.0), psi(hi2) - psi(v[0])),
        )
        found: list[Range] = []
        for least, most in drops:
            climb = (k * least, k * most)
            found.append((np.exp(-np.maximum(*climb) - log_z[1]), np.exp(-np.minimum(*climb) - log_z[0])))
        moved = self._moved((found[0][1], found[1][1]))
        ok = moved <= slack
        nothing, whatever = np.zeros(k.shape), np.full(k.shape, np.inf)
        at_lo, at_hi = (
            (np.where(ok, a, nothing), np.where(ok & ~np.isnan(b), b, whatever)) for a, b in found
        )
        return at_lo, at_hi

    def _slack(self) -> Array:
        """How far a belief may go beyond those of the two ends: what their own mountains let expect, and some more."""
        ratios: list[tuple[Array, Array]] = []
        for end, (lo, hi) in ((self.left, self.first), (self.right, self.last)):
            u, v = self._flat_of(end, lo, hi)
            ratios.append((
                np.exp(-self.k * (self.psi(u) - self.psi(lo)) - end.log_z),
                np.exp(-self.k * (self.psi(hi) - self.psi(v)) - end.log_z),
            ))
        return _WIDER * self._moved((np.fmax(ratios[0][0], ratios[1][0]), np.fmax(ratios[0][1], ratios[1][1])))

    def _moved(self, ratios: Range) -> Array:
        """How far a belief goes from one end to the other at most, with such L/Z at the edges."""
        (lo1, hi1), (lo2, hi2) = self.first, self.last
        density = self.goal.prior.density_range
        at_lo, at_hi = ((b - a) * density(a, b)[1] for a, b in ((lo1, lo2), (hi1, hi2)))
        lost, won = (np.where(m > 0, m * r, 0.0) for m, r in ((at_lo, ratios[0]), (at_hi, ratios[1])))
        return np.maximum(lost, won)

    def _odds(self, slack: Array) -> Range:
        """ln of the odds, without the step, at least and at most: around those of the left end."""
        end = self.left
        step = np.exp(np.abs(self.k) * self.goal.form.step)
        low = end.plain - step * (end.bound - end.value) - slack
        return _log_odds(np.maximum(low, 0.0)), _log_odds(np.minimum(end.plain + slack, 1.0))

    def _flat_of(self, end: Ends, lo: Array, hi: Array) -> Range:
        """Where a mountain is flat."""
        pairs = self.hills.pairs
        u, v = pairs.at(end.hill[:, 0])[1], pairs.at(end.hill[:, 1])[0]
        return np.clip(u, lo, hi), np.clip(v, lo, hi)

    def _flat(self, odds: Range) -> tuple[Range, Range]:
        """Between which values flat parts begin, and between which they end."""
        (lo1, hi1), (lo2, hi2) = self.first, self.last
        low, high = odds
        first, last = _log_odds(self.left.plain), _log_odds(self.right.plain)
        u = self._left(self.left, lo1, low, first, -1), self._left(self.right, lo2, high, last, 1)
        v = self._right(self.left, hi1, high, first, -1), self._right(self.right, hi2, low, last, 1)
        return (
            (np.where(np.isnan(u[0]), lo1, np.clip(u[0], lo1, hi2)), np.where(np.isnan(u[1]), hi2, np.clip(u[1], lo1, hi2))),
            (np.where(np.isnan(v[0]), lo1, np.clip(v[0], lo1, hi2)), np.where(np.isnan(v[1]), hi2, np.clip(v[1], lo1, hi2))),
        )

    def _left(self, end: Ends, lo: Array, odds: Array, here: Array, way: int) -> Array:
        """A value below (way −1) or above the left ends that have such odds; NaN where it is not shown to be."""
        place = end.hill[:, 0] + _FURTHER * (odds - here) / end.hill[:, 2]
        below, u = self.hills.pairs.at(place)
        tilt = self.hills.world.log_tilt
        e = np.minimum(below, lo)
        inside, outside = tilt(np.stack([self.k, self.k]), np.stack([lo, e]), np.stack([np.maximum(u, lo), lo]), np.stack([lo, lo]))
        return np.where(way * (inside - outside - odds) >= 0, u, np.nan)

    def _right(self, end: Ends, hi: Array, odds: Array, here: Array, way: int) -> Array:
        """The same of right ends: their ratio falls along the line."""
        place = end.hill[:, 1] + _FURTHER * (odds - here) / end.hill[:, 3]
        v, above = self.hills.pairs.at(place)
        tilt = self.hills.world.log_tilt
        e = np.maximum(above, hi)
        inside, outside = tilt(-np.stack([self.k, self.k]), np.stack([np.minimum(v, hi), hi]), np.stack([hi, e]), np.stack([hi, hi]))
        return np.where(way * (inside - outside - odds) <= 0, v, np.nan)

    def _log_z(self, u: Range, v: Range) -> Range:
        """ln Z at least and at most: it changes with both ends of the flat part, by ε times as much as ψ there."""
        low, high = np.full(self.k.shape, -np.inf), np.full(self.k.shape, np.inf)
        for end, (lo, hi) in ((self.left, self.first), (self.right, self.last)):
            at = self._flat_of(end, lo, hi)
            wider, narrower = np.zeros(self.k.shape), np.zeros(self.k.shape)
            for here, (least, most), side in ((at[0], u, 1), (at[1], v, -1)):
                down, up = (np.maximum(self.psi(here) - self.psi(least), 0.0), np.maximum(self.psi(most) - self.psi(here), 0.0))
                wider, narrower = wider + (down if side > 0 else up), narrower + (up if side > 0 else down)
            # A mountain holds more where it is wider, a basin less.
            more, less = np.where(self.k > 0, wider, narrower), np.where(self.k > 0, narrower, wider)
            low = np.fmax(low, end.log_z - np.abs(self.k) * less)
            high = np.fmin(high, end.log_z + np.abs(self.k) * more)
        return low, high


def _log_odds(belief: Array) -> Array:
    return np.log(belief) - np.log1p(-belief)
