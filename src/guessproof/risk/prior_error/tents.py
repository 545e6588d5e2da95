"""The best prior and likelihood found for a goal on a line, and a proof that no belief moves further.

For a peak c in the goal [lo, hi], a probability p of it under the attacker's prior and multipliers a, b, let

    g = ∫_{x<lo} w(P·E − p) f + ∫_{lo}^c w((1−p) − (1−P)·E) f + the same on the right,    w(z) = min(z, κz),

with P = p + η and E = e^{ψ−a} on the left, e^{b−ψ} on the right (ψ in units of ε). Since w(z) ≤ h·z for 1 ≤ h ≤ κ, a
prior h·f with P(goal) = p under which a tent at c reaches P has g ≤ 0. So **if every (c, p) has a, b with g > 0, no
belief rises by η** (docs/theory, prior error). A fall of the goal is a rise of its complement, whose likelihoods are
valleys: E = e^{a−ψ}, and goal and rest change their places.

g is concave in p; in c it rises, then falls; in lo it falls, then rises, least where ψ(lo) = a: so four corners at the
least lo and hi bound a whole box of (t, c, p). a and b lie on edges of cells where lo and hi vary. In a cell where z
changes its sign E counts as at the worse end.

Under a cap C on ln L (one true value), E is constant on a plateau [a, b] instead of at c, and C away from it. It
suffices to exclude lo ≤ a ≤ b ≤ hi, and for the best of these L each of three parts adds up to nothing: the left flank,
the right one, plateau and rest. So g may have a multiplier for each. Where a moves, so does the edge of the rest; in
each of both g rises, then falls: the ends of a box are its least.

The attack is such an L with the prior that is κ times the declared one where z < 0: in the goal near the peak, outside
far from it. Peaks lie on edges of cells, tilts are taken from the side that makes the attack weaker: what is returned
is reached. Boxes are divided, and attacks tried in their middles, until none of them is unproven.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.risk.prior_error.cells import ROUNDING, LineGoals, Side
from guessproof.risk.prior_error.odds import log_odds
from guessproof.world.checks import Array
from guessproof.world.line import expit

LOWEST, HIGHEST = 0.05, 200.0  # s that are tried first, from this share of the limit on
FAN, FANS = 9, 4  # values of s, and rounds: each between the neighbours of the last one's best
CLOSE, GROWTH = (
    2e-3,
    1.03,
)  # by how much more than the attack is proven, and how it grows each round
EACH = 4e-6  # and with each box, so that a proof ends
ROUNDS, MOST_BOXES = 150, 20_000  # a proof that needs more is given up
LEAST = 1e-9  # of the bound that is known: smaller moves are not looked for
STEPS = 4  # of an attack from where a box is divided
FAR = 30.0  # ln odds: beside 1, e^-30 is no longer seen
TRUTH, BEGIN, END, ODDS = 0, 1, 2, 3  # rows of a box: true value, edges of the plateau; p
WORTH = np.array([[0.05], [0.01], [0.01], [1.0]])  # of their widths: the largest is halved

Run = tuple[Any, Any]
Lines = tuple[Run, Run]


@dataclass(frozen=True, eq=False)
class Tents:
    """How far beliefs in the goals of some true values move where odds are wrong by `factor`.

    A finite cap counts for one true value.
    """

    sides: tuple[Side, Side]
    goals: LineGoals
    factor: float
    cap: float

    def solve(self, bound: float) -> tuple[float, int, float]:
        """The largest move, its true value's position, and a proven limit, or the bound that is given.

        The box of all true values, peaks and probabilities is divided until no part of it exceeds the limit, which
        follows the attack at a margin that grows.
        """
        low, high = np.zeros((4, 1)), np.full((4, 1), self.sides[0].edges.size - 1.0)
        low[ODDS], high[TRUTH], high[ODDS] = -np.inf, self.goals.first.size - 1, np.inf
        least = np.array([[self.goals.continuous], [1], [1], [0]])
        best, position, seen, limit = 0.0, 0, 0, LEAST * bound
        for margin in CLOSE * GROWTH ** np.arange(ROUNDS):
            limit = max(limit, best * (1 + margin + seen * EACH))
            if limit >= bound or seen > MOST_BOXES:
                break
            low, high = self._fitted(limit, low, high)
            if not low.size:
                return best, position, limit
            seen += low.shape[1]
            middle = 0.5 * (low + high)
            middle[:ODDS] = np.floor(middle[:ODDS])
            with np.errstate(
                all="ignore"
            ):  # what is not a number is neither reached nor proven
                g, s = self._best(limit, low, high)
                moves = self._moves(limit, middle, s)
            most = np.argmax(moves)
            if moves[most] > best:
                best, position = float(moves[most]), int(middle[TRUTH, most])
            low, high, middle = (rows[:, g <= 0] for rows in (low, high, middle))
            widths = WORTH * np.maximum(high - low - least, 0.0)
            row, column = np.argmax(widths, axis=0), np.arange(low.shape[1])
            below, above = high.copy(), low.copy()
            below[row, column] = above[row, column] = middle[row, column]
            # Neighbouring boxes share a true value where those between two count.
            above[row, column] += (row == TRUTH) & (not self.goals.continuous)
            low, high = np.hstack([low, above]), np.hstack([below, high])
        return best, position, bound

    def _fitted(self, limit: float, low: Array, high: Array) -> tuple[Array, Array]:
        """Boxes without the peaks and probabilities that no true value in them has, or that cannot rise so far."""
        goals, below = self.goals, self.sides[0].below
        i, j = (corner[TRUTH].astype(np.intp) for corner in (low, high))
        first, last = (goals.first[i], goals.first[j]), (goals.last[i], goals.last[j])
        shared = below[last[0]] - below[first[1]] - ROUNDING
        covered = below[last[1]] - below[first[0]] + ROUNDING
        odds = self.sides[0].sign * log_odds(np.clip([shared, covered], 0.0, 1.0))
        room = np.log(self.factor) + ROUNDING
        least = np.maximum(np.min(odds, axis=0) - room, -FAR)
        most = np.maximum(np.max(odds, axis=0) + room, -FAR)
        high = np.minimum(high, [j, last[1], last[1], np.minimum(most, log_odds(1 - limit))])
        low = np.maximum(low, [i, first[0], first[0], least])
        if not self._is_capped:
            high[END] = high[BEGIN] = np.minimum(high[BEGIN], high[END])
        low[END] = np.maximum(low[BEGIN], low[END])
        high[BEGIN] = np.minimum(high[BEGIN], high[END])
        kept = np.all(low <= high, axis=0)
        return low[:, kept], high[:, kept]

    @property
    def _is_capped(self) -> bool:
        return bool(np.isfinite(self.cap))

    def _lines(self, p: Array, limit: Any) -> Lines:
        """z = α + βE in the rest and in the goal."""
        outer, inner = [(-p, p + limit), (1 - p, p + limit - 1)][:: self.sides[0].sign]
        return outer, inner

    def _moves(self, limit: float, points: Array, s: Array) -> Array:
        """How far beliefs move at points of boxes, with the prior that serves the attacker there; −1 where not.

        That prior has another p and mean of E, and a move: they say which prior serves the attacker next.
        """
        (left, right), edges, sign = self.sides, self.sides[0].finite_edges, self.sides[0].sign
        truth, begin, end = points[:ODDS].astype(np.intp)
        first, last = self.goals.first[truth], self.goals.last[truth]
        ends = (left, begin, first), (right, edges.size - 1 - end, edges.size - 1 - last)
        p, move, most = expit(points[ODDS]), limit, np.full(s.shape, -1.0)
        for _ in range(STEPS):
            lines = self._lines(p, move)
            flanks = [
                self._flank(side, (top, top), (lo, lo), s, lines, is_attack=True)
                for side, top, lo in ends
            ]
            rest, goal = (np.sum(part, axis=0)[:, 0] for part in zip(*flanks, strict=True))
            before, after = goal / (goal + rest)
            move = sign * (after - before)
            most = np.fmax(most, move)
            p = before if sign > 0 else 1 - before
            s = s - sign * np.log((goal + rest)[1] / (goal + rest)[0])
        # The peak lies in the goal, where as well the likelihood is nowhere beyond the cap.
        is_valid = (first <= begin) & (begin <= end) & (end <= last)
        is_valid &= edges[begin] <= edges[first] + self.cap
        is_valid &= edges[end] >= edges[last] - self.cap
        return np.where(is_valid, most, -1.0)

    def _best(self, limit: float, low: Array, high: Array) -> tuple[Array, Array]:
        """The least g of each box for the best height of E at the peak.

        At the peak of a tent the multipliers of both sides agree (E(c) = e^{±s}), so a single number s is searched for.
        """
        rows = np.arange(low.shape[1])
        first, last = np.full(rows.size, LOWEST * limit), np.full(rows.size, HIGHEST)
        found, height = np.full((2, rows.size), -np.inf)
        for _ in range(FANS):
            fan = np.geomspace(first, last, FAN, axis=1)
            least = self._least(limit, low, high, fan)
            at = np.argmax(least, axis=1)
            height = np.where(least[rows, at] > found, fan[rows, at], height)
            found = np.maximum(found, least[rows, at])
            best = np.clip(np.argmax(least, axis=1), 1, FAN - 2)
            first, last = fan[rows, best - 1], fan[rows, best + 1]
        return found, height

    def _least(self, limit: float, low: Array, high: Array, s: Array) -> Array:
        """The least g of each box over its corners, for several s (a row each)."""
        (left, right), goals = self.sides, self.goals
        size = left.edges.size - 1
        (i, *starts), (j, *ends) = (
            corner[:ODDS, :, None].astype(np.intp) for corner in (low, high)
        )
        begins = goals.first[i], goals.first[j]
        mirrored = size - goals.last[j], size - goals.last[i]
        least = np.full(s.shape, np.inf)
        for odds in low[ODDS], high[ODDS]:
            p = np.where(odds > -FAR, expit(odds), 0.0)[:, None]
            outer, inner = self._lines(p, limit)
            rests, goal = zip(
                self._flank(left, (starts[0], ends[0]), begins, s, (outer, inner)),
                self._flank(
                    right, (size - ends[1], size - starts[1]), mirrored, s, (outer, inner)
                ),
                strict=True,
            )
            far = [np.min(_weighed(outer, rest), axis=0) for rest in rests]
            begin, end = (_weighed(inner, part) for part in goal)
            near = begin + end[::-1]
            if self._is_capped:  # both ends of the plateau are free
                near = np.min(begin, axis=0) + end
            least = np.minimum(least, far[0] + far[1] + np.min(near, axis=0))
        return np.nan_to_num(least, nan=-np.inf)

    def _flank(
        self,
        side: Side,
        tops: Run,
        begins: Run,
        s: Array,
        lines: Lines,
        is_attack: bool = False,
    ) -> tuple[Array, Array]:
        """The left part from below: probability and ∫ E f, each weighted by h, of the rest and of the goal.

        Of the rest for each place where the cap is reached, of the goal up to each of two tops, with half of the
        plateau's. The goal begins at the worst of some edges: where ψ = a. Where the peak lies before the goal, what
        is in between is taken off.
        """
        (outer, inner), edges, finite, sign = lines, side.edges, side.finite_edges, side.sign
        cells = np.minimum(tops[0], side.stop.size - 1), np.maximum(tops[1] - 1, 0)
        place = np.clip(
            0.5 * (side.start[cells[0]] + side.stop[cells[1]]), finite[0], finite[-1]
        )
        a = (finite[tops[0]] if is_attack else place) - s
        begin = np.clip(np.searchsorted(edges, a), *begins)
        a = np.where((a > edges[begins[0]]) & (a < edges[begins[1]]), edges[begin], a)
        bottoms = [
            np.searchsorted(finite, finite[tops[0]] - self.cap) - 1,
            np.searchsorted(finite, finite[tops[1]] - self.cap, side="right"),
        ]
        rest: list[Array] = []
        for bottom in bottoms[is_attack or not self._is_capped :]:
            k = np.clip(bottom, 0, begin)
            rest.append(self._run(side, a, outer, (k, begin), is_attack))
            if self._is_capped:
                height = finite[k] - a if is_attack else s - self.cap
                rest[-1] = rest[-1] + self._level(outer, side.below[k], sign * height)
        goal: list[Array] = []
        for top in tops[is_attack:]:
            run = np.minimum(begin, top), np.maximum(begin, top)
            is_ahead = begin <= top
            inside = self._run(side, a, inner, run, is_ahead != is_attack)
            goal.append(np.where(is_ahead, inside, -inside))
            if self._is_capped:
                goal[-1] = goal[-1] + self._level(inner, 0.5 - side.below[top], sign * s)
        return np.stack(rest, axis=1), np.stack(goal, axis=1)

    def _level(self, line: Run, mass: Array, height: Array) -> Array:
        """Probability and ∫ E f where E is constant, with a rounding that makes g smaller."""
        level = np.exp(height)
        z = line[0] + line[1] * level
        weighted = np.where(z < 0, self.factor, 1.0) * (mass - ROUNDING * np.sign(z))
        return np.stack([weighted, weighted * level])

    def _run(self, side: Side, a: Array, line: Run, run: Run, near: Any) -> Array:
        """Probability and ∫ E f over a run of cells where E is 1 at ψ = a, and h is κ where z < 0."""
        turn = a + side.sign * np.log(-line[0] / line[1])  # where z = 0
        begin, end = (np.clip(np.searchsorted(x, turn), *run) for x in (side.stop, side.start))
        # In the cell where z = 0 all of E is at its worse end, or only the tilt counts.
        mass, tilt = side.sums(begin, end, near)
        cell = np.minimum(begin, side.stop.size - 1)
        level = np.exp(side.sign * np.where(near, side.stop[cell], side.start[cell]))
        between = np.where(np.isfinite(level), [mass, mass * level], [0 * mass, tilt])
        total = np.zeros(1)
        for sums in side.sums(run[0], begin, near), between, side.sums(end, run[1], near):
            sums[1] *= np.exp(-side.sign * a)
            total = total + np.where(_weighed(line, sums) < 0, self.factor, 1.0) * sums
        return total


def _weighed(line: Run, sums: Array) -> Array:
    """∫ z f."""
    return line[0] * sums[0] + line[1] * sums[1]
