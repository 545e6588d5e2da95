"""Best beliefs in one interval where distances have a cap: for many true values at once, and for atoms.

A likelihood L obeys |ln L(x) − ln L(x′)| ≤ ε·min(|ψ(x) − ψ(x′)|, C). For a goal [lo, hi], W = ε·C, and any four places
a_L ≤ lo ≤ b_L, b_R ≤ hi ≤ a_R the odds are at most the largest of

    left ramp   ∫_lo^{b_L} e^{εψ} f / ∫_{a_L}^lo e^{εψ} f      right ramp   ∫_{b_R}^hi e^{−εψ} f / ∫_hi^{a_R} e^{−εψ} f
    plateau     e^W·P(b_L, b_R) / (P(below a_L) + P(above a_R))                                            0/0 = 0

because a private L lies below the ramps' exponentials on their parts of the goal and above them outside. The likelihood
that is 1 from b_L to b_R, falls at rate ε and stays at e^{−W} reaches a weighted mean of the three where ψ(b_L) −
ψ(a_L) = C = ψ(a_R) − ψ(b_R), so the answer is exact where they are equal. Two pointers a cap apart move along the line
together; one of them passes an atom, or a piece on which ψ is flat, while the other stays, and any share of a piece may
be counted as passed. Beliefs fall to the same expressions with e^{−ε…} and the smallest of the three, where b_L ≤ b_R,
so that the goal is not counted twice (theory §6).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from guessproof.risk.line.recursion import (
    Attained,
    Likelihood,
    LineQuestion,
    LineSolver,
    attained,
)
from guessproof.risk.line.tent import DOWN, PLAIN, UP, Indices, Tilts, crossing
from guessproof.world.checks import Array, Mask
from guessproof.world.distances import LineForm
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior

HOW = "flat and sloped parts of the best likelihood under a cap"
CLOSE = 1e-9  # of a cap: how much further out than it tails begin
MET = 1e-13  # of a difference of logarithms, where rounding begins; any odds and places give a bound


def binding_form(prior: LinePrior | Finite, form: LineForm) -> LineForm:
    """The same distance without a cap that no two values reach.

    >>> from guessproof.world import uniform
    >>> binding_form(uniform(0, 10), LineForm(slopes=(1.0,), cap=10.0)).cap
    inf
    """
    if np.isinf(form.cap):
        return form
    ends = prior.points[[0, -1]] if isinstance(prior, Finite) else np.asarray(prior.support)
    wide = np.subtract(*form.psi(ends[::-1])) if np.all(np.isfinite(ends)) else np.inf
    return LineForm(form.cuts, form.slopes, form.jumps, form.step) if wide <= form.cap else form


def capped_ends(form: LineForm, edges: Array) -> Array:
    """Knots that pieces need, so that an infinite tail is further from all these edges than the cap."""
    finite = np.append(edges[np.isfinite(edges)], form.cuts)
    if np.isinf(form.cap) or not finite.size:
        return np.empty(0)
    reach = [
        form.cap * (1 + CLOSE) / slope if slope > 0 else 0.0
        for slope in (form.slopes[0], form.slopes[-1])
    ]
    return np.array([finite.min() - reach[0], finite.max() + reach[1]])


@dataclass(frozen=True, eq=False)
class CappedTilts(Tilts):
    """Bounds under a cap for any runs of pieces; a place is the number of pieces to its left, the last one in shares.

    The pieces must have knots at `capped_ends` of all edges; a cap that no two values reach should be dropped first by
    `binding_form`, since `Tilts` is faster.
    """

    met: float = MET  # differences of logarithms that searches leave open

    @property
    def cap(self) -> float:
        return self.epsilon * self.question.form.cap

    @cached_property
    def path(self) -> tuple[Array, Array, Array]:
        """Levels of ψ of the upper pointer at every step, and where the lower and the upper one are."""
        left, right = self.question.position
        keys = np.stack([left, right], axis=-1).ravel()
        both = np.concatenate(
            [keys, keys + self.question.form.cap]
        )  # ties: the upper pointer first
        order = np.argsort(both, kind="stable")
        level, upper = both[order], order < keys.size

        def travelled(own: Mask, shift: float) -> Array:
            count = np.cumsum(own)
            piece = np.minimum(count // 2, left.size - 1)
            share = np.clip((level - shift - left[piece]) / (right - left)[piece], 0.0, 1.0)
            whole = (count // 2).astype(np.float64)
            return whole + np.where((count % 2 == 1) & (right > left)[piece], share, 0.0)

        with np.errstate(all="ignore"):
            lower, higher = travelled(~upper, self.question.form.cap), travelled(upper, 0.0)
        return np.append(level[0], level), np.append(0.0, lower), np.append(0.0, higher)

    def odds(self, first: Indices, last: Indices, rises: bool, bound: bool) -> Array:
        """ln of odds that pieces `first` … `last` − 1 do not exceed (or fall below); nothing else is told."""
        if not bound:
            return np.full(first.shape, -np.inf if rises else np.inf)
        with np.errstate(all="ignore"):  # of nothing over nothing
            return self.solve(first, last, rises)[0]

    def solve(self, first: Indices, last: Indices, rises: bool) -> tuple[Array, Array]:
        """The same, and between which levels of ψ the best likelihood is flat."""
        sign, n = (1 if rises else -1), self.question.goal.size
        level, low, high = self.path
        mass, goal, tilt = self.masses.between, int(rises), (UP if rises else DOWN)
        inner = np.array(
            [[tilt + goal], [DOWN - tilt + goal]]
        )  # rows of the masses in the goal, by side
        outer = np.array([[tilt + 1 - goal], [DOWN - tilt + 1 - goal]])
        ends = np.zeros(first.size), np.full(first.size, float(n))
        edge = np.stack([first, last]).astype(np.float64)
        rest = np.array([PLAIN + 1 - goal])
        beyond = np.stack([mass(rest, ends[0], edge[0]), mass(rest, edge[1], ends[1])])
        dead = np.isneginf(beyond)  # nothing lies beyond this end of the goal
        start = np.stack(
            [np.searchsorted(high, edge[0]), np.searchsorted(low, edge[1], "right") - 1]
        )
        stop = np.stack([
            np.minimum(np.searchsorted(low, edge[0], "right"), np.searchsorted(high, edge[1], "right")) - 1,
            np.maximum(np.searchsorted(high, edge[1]), np.searchsorted(low, edge[0])),
        ])  # fmt: skip
        stop = np.where(
            dead,
            start,
            np.stack([np.maximum(stop[0], start[0]), np.minimum(stop[1], start[1])]),
        )

        def pointers(at: Array) -> tuple[Array, Array]:
            """Where both pointers are, both sides in rows; those of an end without mass stay at it."""
            m = np.minimum(at.astype(np.int64), level.size - 2)
            share = at - m
            found = (
                np.where(dead, edge, x[m] + share * (x[m + 1] - x[m])) for x in (low, high)
            )
            a, b = found
            return a, b

        def ramps(at: Array) -> Array:
            """ln of the odds of both ramps; −inf where neither has a mass."""
            a, b = pointers(at)
            (lo, hi), (a_left, b_right), (b_left, a_right) = edge, a, b
            met = mass(inner, np.stack([lo, b_right]), np.stack([b_left, hi]))
            missed = mass(outer, np.stack([a_left, hi]), np.stack([lo, a_right]))
            return np.where(np.isneginf(met), -np.inf, met - missed)

        known = start, stop

        def places(odds: Array) -> Array:
            """Where on the path both ramps have these odds."""
            nonlocal known
            near, far = known  # odds rise from near to far
            there = (near != far) & (ramps(1.0 * near) <= odds) & (ramps(1.0 * far) > odds)
            near, far = np.where(there, near, start), np.where(there, far, stop)
            while np.any(np.abs(far - near) > 1):
                middle = (near + far) // 2
                short = ramps(middle.astype(np.float64)) <= odds
                near, far = np.where(short, middle, near), np.where(short, far, middle)
            known = near, far
            a, b = crossing(
                lambda x: ramps(near + x * (far - near)) - odds, near.shape, self.met
            )
            return near + (a if sign > 0 else b) * (far - near)

        def plateau(at: Array) -> Array:
            (a_left, b_right), (b_left, a_right) = pointers(at)
            outside = np.logaddexp(mass(rest, ends[0], a_left), mass(rest, a_right, ends[1]))
            flat = mass(np.array([PLAIN + goal]), b_left, b_right)
            if sign > 0:
                return np.where(np.isneginf(flat), -np.inf, self.cap + flat - outside)
            return np.where(
                b_left > b_right,
                -np.inf,
                np.where(np.isneginf(outside), np.inf, flat - outside - self.cap),
            )

        before = mass(np.array([PLAIN + goal]), *edge) - np.logaddexp(*beyond)
        shift = before - (0.0 if sign > 0 else self.cap)
        found = crossing(
            lambda x: (odds := shift + x * self.cap) - plateau(places(odds)),
            before.shape,
            self.met,
        )
        best = np.full(before.shape, np.inf)
        flat = np.zeros((2, before.size))
        for x in found:
            at = places(shift + x * self.cap)
            three = sign * np.stack(
                [*np.where(dead & (sign < 0), np.inf, ramps(at)), plateau(at)]
            )
            odds = np.max(three, axis=0)
            m = np.minimum(at.astype(np.int64), level.size - 2)
            height = (
                level[m]
                + (at - m) * (level[m + 1] - level[m])
                - np.array([[0.0], [self.question.form.cap]])
            )
            position = self.question.position
            height = np.where(
                dead, [position[0][np.minimum(first, n - 1)], position[1][last - 1]], height
            )
            best, flat = np.where(odds < best, odds, best), np.where(odds < best, height, flat)
        return sign * np.clip(best, sign * before - np.inf, sign * before + self.cap), flat

    def best(self, first: int, last: int, rises: bool) -> tuple[float, Attained]:
        """ln of the odds in favour of a run of pieces (or of all others) that none exceed, and what some reach."""
        question = self.question
        run = np.zeros(question.goal.size, dtype=np.bool_)
        run[first:last] = True
        with np.errstate(all="ignore"):
            odds, (low, high) = self.solve(np.array([first]), np.array([last]), rises)
        u, v = (low[0], high[0]) if low[0] <= high[0] else (0.5 * (low[0] + high[0]),) * 2
        turns = np.array([u - question.form.cap, u, v, v + question.form.cap])
        sign = 1 if rises else -1
        asked = LineQuestion(question.pieces, run == rises, question.form)
        turns += (
            asked.position[0][first] - question.position[0][first]
        )  # each measures ψ from its own goal
        likelihood = Likelihood(turns, sign * self.cap * np.array([-1.0, 0.0, 0.0, -1.0]))
        return sign * float(odds[0]), attained(asked, likelihood)


class CappedSolver(LineSolver):
    """One interval, or all but one, asked at many ε."""

    def _best(self, epsilon: float) -> tuple[float, Attained]:
        rises = is_run(self.question.goal)
        marks = np.flatnonzero(self.question.goal == rises)
        return CappedTilts(self.question, epsilon).best(
            int(marks[0]), int(marks[-1]) + 1, rises
        )


def is_run(goal: Mask) -> bool:
    """Whether the goal is one run of pieces."""
    marks = np.flatnonzero(goal)
    return marks.size > 0 and int(marks[-1] - marks[0]) + 1 == marks.size
