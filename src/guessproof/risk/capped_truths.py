"""Mountains of all true values between two: what they are at the edges of the goal, enclosed.

For odds λ the left end u of the best flat part is where I(u)/O(e) = λ (`capped`); it rises with λ and with the edge
lo, since I/O falls as lo rises. The right end v rises with hi and falls as λ rises. So wherever odds stay between λ₁
and λ₂ while edges move from lo₁ to lo₂ and from hi₁ to hi₂,

    u(λ₁, lo₁) ≤ u ≤ u(λ₂, lo₂)     and     v(λ₂, hi₁) ≤ v ≤ v(λ₁, hi₂),

and a place is known to lie below such a root, or above it, by the ratio there: guesses are looked at, and what is not
shown by them is replaced by an end of the goal. ln Z, Z = ∫Lf with L = 1 on the flat part, changes by ε times a share
of what ψ(u) and ψ(v) change by, shares that add up to 1 at most: so L/Z at the edges is enclosed.

That odds stay there follows from the same. Let the range be that of beliefs within s/2 of those at t₁ and t₂. As long
as it is kept, the belief changes no faster than the density at the edges times L/Z there. If at this pace it changes
by no more than s from t₁ to t₂, it never leaves the range: it is continuous in t, and from the nearer of the two, half
the way is all that there is.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from guessproof.risk.capped import Hills
from guessproof.world.checks import Array

if TYPE_CHECKING:
    from guessproof.risk.truth_ends import Ends
    from guessproof.risk.truth_search import TruthSearch

Range = tuple[Array, Array]

_WIDER = 2.7  # than what the ends of a box let expect
_FURTHER = 1.25  # than what a ratio's slope lets expect


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
        self.first, self.last = (tuple(np.clip(e, *support) for e in goal.edges(t)) for t in (left.t, right.t))

    def ratios(self) -> tuple[Range, Range]:
        """The enclosures, and anything where odds are not known to stay where they would be."""
        (lo1, hi1), (lo2, hi2) = self._own
        slack = _WIDER * self._moved((np.fmax(lo1, lo2), np.fmax(hi1, hi2)))
        u, v = self._flat(self._odds(0.5 * slack))
        at_lo, at_hi = self._around((u, v), 0), self._around((u, v), 1)
        ok = self._moved((at_lo[1], at_hi[1])) <= slack
        found = [(np.where(ok, a, 0.0), np.where(ok & ~np.isnan(b), b, np.inf)) for a, b in (at_lo, at_hi)]
        return found[0], found[1]

    def _around(self, flat: tuple[Range, Range], side: int) -> Range:
        """L/Z at one of the edges, where flat parts begin and end within some ranges.

        A likelihood at the left edge, beside Z, falls where a mountain's flat part begins or ends further to the right,
        by ε times as much as ψ there at most, and rises with the edge; on the right it is the other way round, and so
        is it with basins.
        """
        rises, psi = (self.k > 0) == (side == 1), self.psi
        low, high = np.zeros(self.k.shape), np.full(self.k.shape, np.inf)
        for end, edges, own in zip((self.left, self.right), (self.first, self.last), self._own, strict=True):
            back, ahead = np.zeros(self.k.shape), np.zeros(self.k.shape)
            for here, (least, most) in zip(self._flat_of(end, *edges), flat, strict=True):
                back += np.maximum(psi(here) - psi(least), 0.0)
                ahead += np.maximum(psi(most) - psi(here), 0.0)
            before, after = (psi(edges[side]) - psi(self.first[side])), (psi(self.last[side]) - psi(edges[side]))
            up = np.where(rises, ahead + before, back + after)
            down = np.where(rises, back + after, ahead + before)
            size = np.abs(self.k)
            low, high = np.fmax(low, own[side] * np.exp(-size * down)), np.fmin(high, own[side] * np.exp(size * up))
        return low, high

    @cached_property
    def _own(self) -> tuple[Range, Range]:
        """L/Z at both edges of the mountains of both ends."""
        found: list[Range] = []
        for end, (lo, hi) in ((self.left, self.first), (self.right, self.last)):
            u, v = self._flat_of(end, lo, hi)
            at_lo, at_hi = self.k * (self.psi(u) - self.psi(lo)), self.k * (self.psi(hi) - self.psi(v))
            found.append((np.exp(-at_lo - end.log_z), np.exp(-at_hi - end.log_z)))
        return found[0], found[1]

    def _moved(self, ratios: Range) -> Array:
        """How far a belief goes from one end to the other at most, with such L/Z at the edges."""
        (lo1, hi1), (lo2, hi2) = self.first, self.last
        density = self.goal.prior.density_range
        at_lo, at_hi = ((b - a) * density(a, b)[1] for a, b in ((lo1, lo2), (hi1, hi2)))
        lost, won = (np.where(m > 0, m * r, 0.0) for m, r in ((at_lo, ratios[0]), (at_hi, ratios[1])))
        return np.maximum(lost, won)

    def _odds(self, slack: Array) -> Range:
        """ln of the odds, without the step, at least and at most: those of the nearer end, and some more."""
        step = np.exp(np.abs(self.k) * self.goal.form.step)
        ends = [(end.plain - step * (end.bound - end.value), end.plain) for end in (self.left, self.right)]
        low, high = np.minimum(ends[0][0], ends[1][0]) - slack, np.maximum(ends[0][1], ends[1][1]) + slack
        return _log_odds(np.maximum(low, 0.0)), _log_odds(np.minimum(high, 1.0))

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
        low, high = self.goal.prior.support
        no_left, no_right = lo2 <= low, hi1 >= high  # with nothing outside, all of the goal on that side is flat
        least = np.where(no_left, lo1, u[0]), np.where(no_right, hi1, v[0])
        most = np.where(no_left, lo2, u[1]), np.where(no_right, hi2, v[1])
        return (
            (_or(least[0], lo1, hi2, lo1), _or(most[0], lo1, hi2, hi2)),
            (_or(least[1], lo1, hi2, lo1), _or(most[1], lo1, hi2, hi2)),
        )

    def _left(self, end: Ends, lo: Array, odds: Array, here: Array, way: int) -> Array:
        """A value below (way −1) or above the left ends that have such odds; NaN where it is not shown to be."""
        place = end.hill[:, 0] + _FURTHER * (odds - here) / end.hill[:, 2]
        below, u = self.hills.pairs.at(place)
        tilt = self.hills.world.log_tilt
        e = np.minimum(below, lo)
        inside, outside = tilt(
            np.stack([self.k, self.k]), np.stack([lo, e]), np.stack([np.maximum(u, lo), lo]), np.stack([lo, lo])
        )
        return np.where(way * (inside - outside - odds) >= 0, u, np.nan)

    def _right(self, end: Ends, hi: Array, odds: Array, here: Array, way: int) -> Array:
        """The same of right ends: their ratio falls along the line."""
        place = end.hill[:, 1] + _FURTHER * (odds - here) / end.hill[:, 3]
        v, above = self.hills.pairs.at(place)
        tilt = self.hills.world.log_tilt
        e = np.maximum(above, hi)
        inside, outside = tilt(
            -np.stack([self.k, self.k]), np.stack([np.minimum(v, hi), hi]), np.stack([hi, e]), np.stack([hi, hi])
        )
        return np.where(way * (inside - outside - odds) <= 0, v, np.nan)


def _log_odds(belief: Array) -> Array:
    return np.log(belief) - np.log1p(-belief)


def _or(found: Array, low: Array, high: Array, otherwise: Array) -> Array:
    """What was found, within some limits, or something else."""
    return np.where(np.isnan(found), otherwise, np.clip(found, low, high))
