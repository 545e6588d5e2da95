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
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
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
TRUTH, PEAK, ODDS = range(
    3
)  # rows of a box: position of the true value, edge of the peak, ln odds of p
BEGIN, END = TRUTH, PEAK  # instead of the first two under a cap: edges of the plateau

Run = tuple[Any, Any]


def certificate_of(
    sides: tuple[Side, Side], goals: LineGoals, factor: float, limit: float, cap: float
) -> BoxCertificate:
    """What may prove a limit, with a cap or without."""
    if np.isinf(cap):
        return BoxCertificate(sides, goals, factor, limit)
    return CappedCertificate(sides, goals, factor, limit, cap)


@dataclass(frozen=True, eq=False)
class BoxCertificate:
    """A proof that no belief in the goals of some true values moves by `limit` where odds are wrong by `factor`."""

    sides: tuple[Side, Side]
    goals: LineGoals
    factor: float
    limit: float

    def holds(self) -> bool:
        """Whether it is proven; False where nothing is."""
        with np.errstate(all="ignore"):  # what is not a number counts as not proven
            return self.limit > 0 and self._boxes_keep()

    def _boxes_keep(self) -> bool:
        """Divide the box of all true values, peaks and probabilities until each part is proven."""
        continuous, places = self._rows
        low = np.array([[0.0], [0.0], [-np.inf]])
        high = np.array([[places[TRUTH].size - 1.0], [places[PEAK].size - 1.0], [np.inf]])
        least = np.array([[float(continuous)], [1.0], [NARROWEST]])
        unit = min(self.limit, LARGEST)
        seen = 0
        while low.size:
            low, high = self._fitted(low, high)
            seen += low.shape[1]
            unproven = self._best(low, high) <= 0
            low, high = low[:, unproven], high[:, unproven]
            moved = np.stack(
                [
                    p[j.astype(int)] - p[i.astype(int)]
                    for p, i, j in zip(places, low, high, strict=False)
                ]
            )
            widths = np.concatenate([moved / unit + NARROWEST, high[ODDS:] - low[ODDS:]])
            widths = np.where(high - low > least, widths, 0.0)
            across, columns = np.argmax(widths, axis=0), np.arange(low.shape[1])
            if seen > MOST_BOXES or np.any(widths[across, columns] <= 0):
                return False
            middle = 0.5 * (low + high)[across, columns]
            middle = np.where(across == ODDS, middle, np.floor(middle))
            below, above = high.copy(), low.copy()
            below[across, columns] = middle
            # Neighbouring boxes share a true value where those between two count.
            above[across, columns] = middle + ((across == TRUTH) & (not continuous))
            low, high = np.hstack([low, above]), np.hstack([below, high])
        return True

    @cached_property
    def _rows(self) -> tuple[bool, tuple[Array, Array]]:
        """Whether what lies between positions of the first row counts as well, and places of both rows, in units."""
        edges = self.sides[0].finite_edges
        return self.goals.continuous, (edges[self.goals.first] / GOALS, edges / PEAKS)

    def _ends(self, low: Array, high: Array) -> tuple[Indices, Indices, Any, Any]:
        """First and last true value of boxes, and the least and the last positions that count in them."""
        i, j = low[TRUTH].astype(int), high[TRUTH].astype(int)
        return i, j, [i, self.goals.first[i]], [j, self.goals.last[j]]

    def _fitted(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Boxes without the peaks and probabilities that no true value in them has, or that cannot rise so far."""
        goals, below = self.goals, self.sides[0].below
        i, j, from_, to = self._ends(low, high)
        shared = below[goals.last[i]] - below[goals.first[j]] - ROUNDING
        covered = below[goals.last[j]] - below[goals.first[i]] + ROUNDING
        ends = self.sides[0].sign * log_odds(np.clip([shared, covered], 0.0, 1.0))
        room = np.log(self.factor) + ROUNDING
        least = np.maximum(np.min(ends, axis=0) - room, -FAR)
        most = np.minimum(
            np.maximum(np.max(ends, axis=0) + room, -FAR), log_odds(1 - self.limit)
        )
        low, high = np.maximum(low, [*from_, least]), np.minimum(high, [*to, most])
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
        i, j, *peaks = (
            part.astype(int)[:, None]
            for part in (low[TRUTH], high[TRUTH], low[PEAK], high[PEAK])
        )
        first, last = np.minimum(2 * peaks[0], 2 * size - 1), np.maximum(2 * peaks[1] - 1, 0)
        height = np.clip(0.5 * (left.psi[first] + left.psi[last]), *left.finite_edges[[0, -1]])
        beliefs = np.where(low[ODDS] > -FAR, expit(low[ODDS]), 0.0), expit(high[ODDS])
        least = np.full(s.shape, np.inf)
        for c, belief in itertools.product(peaks, beliefs):
            p = belief[:, None]
            g = self._worst_left(left, height - s, c, p, (goals.first[i], goals.first[j]))
            g += self._worst_left(
                right, -height - s, size - c, p, (size - goals.last[j], size - goals.last[i])
            )
            least = np.minimum(least, np.nan_to_num(g, nan=-np.inf))
        return least

    def _worst_left(self, side: Side, a: Array, c: Indices, p: Array, begins: Run) -> Array:
        """g's left part from below, where the goal begins at the worst of some edges: where ψ = a."""
        edges = side.edges
        begin = np.clip(np.searchsorted(edges, a), *begins)
        a = np.where((a > edges[begins[0]]) & (a < edges[begins[1]]), edges[begin], a)
        # z = α + βE in the rest and in the goal; where the peak lies before the goal, what is in between is taken off.
        lines = [(-p, p + self.limit), (1 - p, p + self.limit - 1)][:: side.sign]
        runs = (
            (0 * begin, begin, 1),
            (np.minimum(begin, c), np.maximum(begin, c), np.where(begin > c, -1, 1)),
        )
        g = np.zeros(a.shape)
        for line, (first, last, sign) in zip(lines, runs, strict=True):
            g += self._run(side, a, line, first, last, sign)
        return g

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
            mass, tilt = side.sums(*ends, upper)
            z = alpha * mass + np.where(tilt == 0, 0.0, beta * unit * tilt)
            g = g + sign * np.minimum(z, self.factor * z)
        summed = (
            np.maximum(np.abs(side.tilt[1, first]), np.abs(side.tilt[1, last]))
            * unit
            * (np.abs(beta) + UNIT)
        )
        size = np.abs(alpha) * side.mass[1, last] + np.where(np.isfinite(summed), summed, 0.0)
        return g - ROUNDING * self.factor * size


@dataclass(frozen=True, eq=False)
class CappedCertificate(BoxCertificate):
    """The same for one true value under a cap C on ln L: E is constant on a plateau [a, b] and C away from it.

    It suffices to exclude lo ≤ a ≤ lo + C, a ≤ b and hi − C ≤ b ≤ hi, and for the best of these L each of three parts
    adds up to nothing: the left flank, the right one, plateau and rest. So g may have a multiplier for each. Where a
    moves, so does the edge of the rest; in each of both g rises, then falls: the ends of a box are its least.
    """

    cap: float

    @cached_property
    def _rows(self) -> tuple[bool, tuple[Array, Array]]:
        places = self.sides[0].finite_edges / PEAKS
        return True, (places, places)

    def _ends(self, low: Array, high: Array) -> tuple[Indices, Indices, Any, Any]:
        edges, first, last = (
            self.sides[0].edges,
            int(self.goals.first[0]),
            int(self.goals.last[0]),
        )
        highest = np.minimum(
            np.searchsorted(edges, edges[first] + self.cap, side="right"), last
        )
        lowest = np.maximum(np.searchsorted(edges, edges[last] - self.cap) - 1, first)
        only, one = np.zeros(low.shape[1], dtype=np.intp), np.ones(low.shape[1])
        ends = (
            [first * one, np.maximum(lowest, low[BEGIN])],
            [np.minimum(highest, high[END]), last * one],
        )
        return only, only, *ends

    def _least(self, low: Array, high: Array, s: Array) -> Array:
        (left, right), goals = self.sides, self.goals
        size = left.edges.size - 1
        begins, ends = (
            tuple(part[row].astype(int)[:, None] for part in (low, high))
            for row in (BEGIN, END)
        )
        mirrored = size - ends[1], size - ends[0]
        least = np.full(s.shape, np.inf)
        for belief in np.where(low[ODDS] > -FAR, expit(low[ODDS]), 0.0), expit(high[ODDS]):
            p = belief[:, None]
            g = self._flank(left, begins, int(goals.first[0]), p, s)
            g += self._flank(right, mirrored, size - int(goals.last[0]), p, s)
            least = np.minimum(least, np.nan_to_num(g, nan=-np.inf))
        return least

    def _flank(self, side: Side, tops: Run, begin: int, p: Array, s: Array) -> Array:
        """The least part of g left of a plateau that begins between two edges, with half of the plateau's constant."""
        ends = np.minimum(2 * tops[0], side.psi.size - 1), np.maximum(2 * tops[1] - 1, 0)
        height = np.clip(
            0.5 * (side.psi[ends[0]] + side.psi[ends[1]]), *side.finite_edges[[0, -1]]
        )
        outer, inner = [(-p, p + self.limit), (1 - p, p + self.limit - 1)][:: side.sign]
        far, plateau = (
            np.minimum(z, self.factor * z)
            for z in (
                alpha + beta * np.exp(side.sign * x)
                for (alpha, beta), x in ((outer, s - self.cap), (inner, s))
            )
        )
        bottoms = (
            np.searchsorted(side.edges, side.edges[tops[0]] - self.cap) - 1,
            np.searchsorted(side.edges, side.edges[tops[1]] - self.cap, side="right"),
        )
        a = height - s
        rest, goal = [], []
        for top, bottom in zip(tops, bottoms, strict=True):
            k = np.clip(bottom, 0, begin)
            rest.append(
                far * side.below[k] + self._run(side, a, outer, k, np.full_like(k, begin))
            )
            goal.append(
                plateau * (0.5 - side.below[top])
                + self._run(side, a, inner, np.full_like(top, begin), top)
            )
        return (
            np.minimum(*rest) + np.minimum(*goal) - ROUNDING * (np.abs(far) + np.abs(plateau))
        )
