"""A proof that no belief rises (or falls) by more than η, whatever prior within κ and whatever private likelihood.

For a peak c in the goal [lo, hi], a probability p of it under the attacker's prior and multipliers a, b, let

    g = ∫_{x<lo} w(P·E − p) f + ∫_{lo}^c w((1−p) − (1−P)·E) f + the same on the right,    w(z) = min(z, κz),

with P = p + η and E = e^{ψ−a} on the left, e^{b−ψ} on the right (ψ in units of ε). Since w(z) ≤ h·z for 1 ≤ h ≤ κ, a
prior h·f with P(goal) = p under which a tent at c reaches P has g ≤ 0. So **if every (c, p) has a, b with g > 0, no
belief rises by η** (docs/theory, prior error). A fall of the goal is a rise of its complement, whose likelihoods are
valleys: E = e^{a−ψ}, and goal and rest change their places.

g is concave in p; in c it rises, then falls; in lo it falls, then rises, least where ψ(lo) = a: so four corners at the
least lo and hi bound a whole box of (t, c, p). All of this holds for the atoms of `cells` as well, under which g is
least for given means of E; a and b lie on edges of cells where lo and hi vary.

Under a cap C on ln L (one true value), E is constant on a plateau [a, b] instead of at c, and C away from it. It
suffices to exclude lo ≤ a ≤ lo + C, a ≤ b and hi − C ≤ b ≤ hi, and for the best of these L each of three parts adds up
to nothing: the left flank, the right one, plateau and rest. So g may have a multiplier for each. Where a moves, so does
the edge of the rest; in each of both g rises, then falls: the ends of a box are its least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.risk.prior_error.cells import LineGoals, Side
from guessproof.risk.prior_error.odds import log_odds
from guessproof.world.checks import Array, Indices
from guessproof.world.line import expit

LOWEST, HIGHEST = 0.05, 200.0  # s that are tried first, from this share of the limit on
FAN, FANS = (
    9,
    4,
)  # values of s, and rounds: each between the neighbours of the best one of the last
MOST_BOXES = 8_000  # a proof that needs more is given up
ROUNDING = 1e-14  # of cumulative sums, taken off before g counts as positive
UNIT = 0.01  # times ROUNDING: what 1 − P may be off
FAR = 30.0  # ln odds: beside 1, e^-30 is no longer seen
GOALS, PEAKS = (
    0.5,
    8.0,
)  # shifts of both, in units of ψ and of the limit, that count as 1 in ln odds
LARGEST = 0.25  # limit of which these are shares
NARROWEST = 1e-5  # of ln odds of p in a box: a proof that needs narrower ones is given up
FIRST, SECOND, ODDS = range(
    3
)  # rows of a box: true value and edge of the peak, or edges of a plateau; ln odds of p

Run = tuple[Any, Any]


@dataclass(frozen=True, eq=False)
class BoxCertificate:
    """A proof that no belief in the goals of some true values moves by `limit` where odds are wrong by `factor`.

    A finite cap counts for one true value.
    """

    sides: tuple[Side, Side]
    goals: LineGoals
    factor: float
    limit: float
    cap: float

    def holds(self) -> bool:
        """Whether it is proven; False where nothing is."""
        with np.errstate(all="ignore"):  # what is not a number counts as not proven
            return self.limit > 0 and self._boxes_keep()

    @property
    def _is_capped(self) -> bool:
        return bool(np.isfinite(self.cap))

    def _boxes_keep(self) -> bool:
        """Divide the box of all true values, peaks and probabilities until each part is proven."""
        edges, unit = self.sides[0].finite_edges, min(self.limit, LARGEST)
        first = edges / PEAKS if self._is_capped else edges[self.goals.first] / GOALS
        places = first / unit, edges / PEAKS / unit
        continuous = self._is_capped or self.goals.continuous
        low = np.array([[0.0], [0.0], [-np.inf]])
        high = np.array([[first.size - 1.0], [edges.size - 1.0], [np.inf]])
        least = np.array([[float(continuous)], [1.0], [NARROWEST]])
        seen = 0
        while low.size:
            low, high = self._fitted(low, high)
            seen += low.shape[1]
            unproven = self._best(low, high) <= 0
            low, high = low[:, unproven], high[:, unproven]
            widths = high - low
            is_wide = widths > least
            for row, place in enumerate(places):
                begin, end = low[row].astype(np.intp), high[row].astype(np.intp)
                widths[row] = place[end] - place[begin] + NARROWEST
            widths = np.where(is_wide, widths, 0.0)
            across, columns = np.argmax(widths, axis=0), np.arange(low.shape[1])
            if seen > MOST_BOXES or np.any(widths[across, columns] <= 0):
                return False
            middle = 0.5 * (low + high)[across, columns]
            middle = np.where(across == ODDS, middle, np.floor(middle))
            below, above = high.copy(), low.copy()
            below[across, columns] = middle
            # Neighbouring boxes share a true value where those between two count.
            above[across, columns] = middle + ((across == FIRST) & (not continuous))
            low, high = np.hstack([low, above]), np.hstack([below, high])
        return True

    def _parts(self, corner: Array) -> tuple[Indices, Indices, Indices]:
        """True value, and first and last edge of the plateau, at one corner of boxes."""
        first, second = corner[:ODDS].astype(np.intp)
        return (0 * first, first, second) if self._is_capped else (first, second, second)

    def _fitted(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Boxes without the peaks and probabilities that no true value in them has, or that cannot rise so far."""
        goals, below, edges = self.goals, self.sides[0].below, self.sides[0].edges
        i, j = self._parts(low)[0], self._parts(high)[0]
        first, last = (goals.first[i], goals.first[j]), (goals.last[i], goals.last[j])
        ends = [i, first[0]], [j, last[1]]
        if self._is_capped:
            lowest = np.searchsorted(edges, edges[last[0]] - self.cap) - 1
            highest = np.searchsorted(edges, edges[first[0]] + self.cap, side="right")
            ends = (
                [first[0], np.maximum(lowest, low[FIRST])],
                [np.minimum(highest, high[SECOND]), last[0]],
            )
        shared = below[last[0]] - below[first[1]] - ROUNDING
        covered = below[last[1]] - below[first[0]] + ROUNDING
        odds = self.sides[0].sign * log_odds(np.clip([shared, covered], 0.0, 1.0))
        room = np.log(self.factor) + ROUNDING
        least = np.maximum(np.min(odds, axis=0) - room, -FAR)
        most = np.maximum(np.max(odds, axis=0) + room, -FAR)
        low = np.maximum(low, [*ends[0], least])
        high = np.minimum(high, [*ends[1], np.minimum(most, log_odds(1 - self.limit))])
        kept = np.all(low <= high, axis=0)
        return low[:, kept], high[:, kept]

    def _best(self, low: Array, high: Array) -> Array:
        """The least g of each box for the best height of E at the peak.

        At the peak of a tent the multipliers of both sides agree (E(c) = e^{±s}), so a single number s is searched for.
        """
        rows = np.arange(low.shape[1])
        first, last = np.full(rows.size, LOWEST * self.limit), np.full(rows.size, HIGHEST)
        found = np.full(rows.size, -np.inf)
        for _ in range(FANS):
            fan = np.geomspace(first, last, FAN, axis=1)
            least = self._least(low, high, fan)
            found = np.maximum(found, np.max(least, axis=1))
            best = np.clip(np.argmax(least, axis=1), 1, FAN - 2)
            first, last = fan[rows, best - 1], fan[rows, best + 1]
        return found

    def _least(self, low: Array, high: Array, s: Array) -> Array:
        """The least g of each box over its corners, for several s (a row each)."""
        (left, right), goals = self.sides, self.goals
        size = left.edges.size - 1
        (i, *starts), (j, *ends) = (
            [part[:, None] for part in self._parts(corner)] for corner in (low, high)
        )
        least = np.full(s.shape, np.inf)
        for belief in np.where(low[ODDS] > -FAR, expit(low[ODDS]), 0.0), expit(high[ODDS]):
            p = belief[:, None]
            begins = goals.first[i], goals.first[j]
            mirrored = size - goals.last[j], size - goals.last[i]
            far, begin = self._flank(left, (starts[0], ends[0]), begins, p, s)
            away, end = self._flank(right, (size - ends[1], size - starts[1]), mirrored, p, s)
            near = begin + end[::-1]
            if self._is_capped:  # both ends of the plateau are free
                near = np.min(begin, axis=0) + end
            least = np.minimum(least, far + away + np.min(near, axis=0))
        return np.nan_to_num(least, nan=-np.inf)

    def _flank(
        self, side: Side, tops: Run, begins: Run, p: Array, s: Array
    ) -> tuple[Array, Array]:
        """g's left part from below: of the rest, and of the goal up to each of two tops, with half of the plateau's.

        The goal begins at the worst of some edges: where ψ = a.
        """
        edges, sign = side.edges, side.sign
        ends = np.minimum(2 * tops[0], side.psi.size - 1), np.maximum(2 * tops[1] - 1, 0)
        middle = 0.5 * (side.psi[ends[0]] + side.psi[ends[1]])
        a = np.clip(middle, *side.finite_edges[[0, -1]]) - s
        begin = np.clip(np.searchsorted(edges, a), *begins)
        a = np.where((a > edges[begins[0]]) & (a < edges[begins[1]]), edges[begin], a)
        # z = α + βE in the rest and in the goal; where the peak lies before the goal, what is in between is taken off.
        outer, inner = [(-p, p + self.limit), (1 - p, p + self.limit - 1)][::sign]
        far = plateau = np.zeros(1)
        bottoms = [np.zeros(1, dtype=np.intp)]
        if self._is_capped:
            far, plateau = (
                self._weighed(alpha + beta * np.exp(sign * x))
                for (alpha, beta), x in ((outer, s - self.cap), (inner, s))
            )
            bottoms = [
                np.searchsorted(edges, edges[tops[0]] - self.cap) - 1,
                np.searchsorted(edges, edges[tops[1]] - self.cap, side="right"),
            ]
        rest = []
        for bottom in bottoms:
            k = np.clip(bottom, 0, begin)
            rest.append(far * side.below[k] + self._run(side, a, outer, k, begin))
        goal = []
        for top in tops:
            is_before = np.where(begin > top, -1, 1)
            run = np.minimum(begin, top), np.maximum(begin, top)
            goal.append(
                plateau * (0.5 - side.below[top]) + self._run(side, a, inner, *run, is_before)
            )
        return np.min(rest, axis=0) - ROUNDING * (np.abs(far) + np.abs(plateau)), np.array(goal)

    def _run(
        self, side: Side, a: Array, line: Run, first: Indices, last: Indices, sign: Any = 1
    ) -> Array:
        """The least ∫ w(α + βE) f (or its negative) over a run of cells, where E is 1 at ψ = a."""
        alpha, beta = line
        first, last = 2 * first, 2 * last
        unit = np.exp(-side.sign * a)
        turn = np.searchsorted(side.psi, a + side.sign * np.log(-alpha / beta))  # where z = 0
        turn = np.clip(turn, first, last)
        upper = ((beta < 0) == (sign > 0)).astype(
            np.intp
        )  # the bound of the tilt that makes g least
        g = np.zeros(a.shape)
        for ends in ((first, turn), (turn, last)):
            mass, tilt = side.atoms(*ends, upper)
            g = g + sign * self._weighed(
                alpha * mass + np.where(tilt == 0, 0.0, beta * unit * tilt)
            )
        mass, tilt = np.abs(side.totals[:, 1])
        summed = np.maximum(tilt[first], tilt[last])
        summed = np.nan_to_num(summed * unit * (np.abs(beta) + UNIT), posinf=0.0)
        size = np.abs(alpha) * mass[last] + summed
        return g - ROUNDING * self.factor * size

    def _weighed(self, z: Array) -> Array:
        """The least h·z."""
        return np.minimum(z, self.factor * z)
