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

from guessproof.risk.line.recursion import DOWN, PLAIN, UP
from guessproof.risk.line.tent import Indices, Tilts, crossing
from guessproof.world.checks import Array, Mask
from guessproof.world.distances import LineForm
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior

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


def is_run(goal: Mask) -> bool:
    """Whether the goal is one run of pieces."""
    return int(np.count_nonzero(np.diff(goal, prepend=False, append=False))) == 2


@dataclass(frozen=True, eq=False)
class CappedTilts(Tilts):
    """Bounds under a cap for any runs of pieces; a place is the number of pieces to its left, the last one in shares.

    The pieces must have knots at `capped_ends` of all edges; a cap that no two values reach should be dropped first by
    `binding_form`, since `Tilts` is faster.
    """

    met: float = MET  # differences of logarithms that searches leave open

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
            inside = (count % 2 == 1) & (right > left)[piece]
            return (count // 2).astype(np.float64) + np.where(inside, share, 0.0)

        with np.errstate(all="ignore"):
            lower, higher = travelled(~upper, self.question.form.cap), travelled(upper, 0.0)
        return np.append(level[0], level), np.append(0.0, lower), np.append(0.0, higher)

    def bracket(self, first: Indices, last: Indices, rises: bool) -> tuple[Array, Array]:
        """ln of odds that are reached for pieces `first` … `last` − 1, and that nothing exceeds (or falls below)."""
        sign, n, cap = (
            (1 if rises else -1),
            self.question.goal.size,
            self.epsilon * self.question.form.cap,
        )
        level, low, high = self.path
        steps = np.arange(level.size)
        mass, goal = self.masses.between, int(rises)
        sides = np.array([[UP], [DOWN]]) if rises else np.array([[DOWN], [UP]])
        ends = np.zeros(first.size), np.full(first.size, float(n))
        edge = np.stack([first, last]).astype(np.float64)
        beyond = mass(
            PLAIN + 1 - goal, np.stack([ends[0], edge[1]]), np.stack([edge[0], ends[1]])
        )
        dead = np.isneginf(beyond)  # nothing lies beyond this end of the goal
        start = np.stack(
            [np.searchsorted(high, edge[0]), np.searchsorted(low, edge[1], "right") - 1]
        )
        most = (
            np.minimum(
                np.searchsorted(low, edge[0], "right"), np.searchsorted(high, edge[1], "right")
            )
            - 1
        )
        least = np.maximum(np.searchsorted(high, edge[1]), np.searchsorted(low, edge[0]))
        stop = np.stack([np.maximum(most, start[0]), np.minimum(least, start[1])])
        stop = np.where(dead, start, stop)

        def pointers(at: Array) -> tuple[Array, Array]:
            """Where both pointers are, both sides in rows; those of an end without mass stay at it."""
            a, b = (np.where(dead, edge, np.interp(at, steps, x)) for x in (low, high))
            return a, b

        def ramps(at: Array) -> Array:
            """ln of the odds of both ramps; −inf where neither has a mass."""
            (a_left, b_right), (b_left, a_right) = pointers(at)
            (lo, hi) = edge
            met = mass(sides + goal, np.stack([lo, b_right]), np.stack([b_left, hi]))
            missed = mass(sides + 1 - goal, np.stack([a_left, hi]), np.stack([lo, a_right]))
            return np.where(np.isneginf(met), -np.inf, met - missed)

        def places(odds: Array) -> Array:
            """Where on the path both ramps have these odds."""
            near, far = start, stop  # odds rise from near to far
            while np.any(np.abs(far - near) > 1):
                middle = (near + far) // 2
                short = ramps(middle.astype(np.float64)) <= odds
                near, far = np.where(short, middle, near), np.where(short, far, middle)
            shares = crossing(
                lambda x: ramps(near + x * (far - near)) - odds, near.shape, self.met
            )
            return near + shares[int(not rises)] * (far - near)

        def plateau(at: Array) -> Array:
            (a_left, b_right), (b_left, a_right) = pointers(at)
            outside = np.logaddexp(
                mass(PLAIN + 1 - goal, ends[0], a_left),
                mass(PLAIN + 1 - goal, a_right, ends[1]),
            )
            flat = mass(PLAIN + goal, b_left, b_right)
            if rises:
                return np.where(np.isneginf(flat), -np.inf, cap + flat - outside)
            odds = np.where(np.isneginf(outside), np.inf, flat - outside - cap)
            return np.where(b_left > b_right, -np.inf, odds)

        with np.errstate(all="ignore"):  # of nothing over nothing
            before = mass(PLAIN + goal, *edge) - np.logaddexp(*beyond)
            shift = before - (0.0 if rises else cap)
            shares = crossing(
                lambda x: (odds := shift + x * cap) - plateau(places(odds)),
                before.shape,
                self.met,
            )
            best, flat = np.full(before.shape, np.inf), np.zeros((2, before.size))
            outermost = np.stack(
                [
                    self.question.position[0][np.minimum(first, n - 1)],
                    self.question.position[1][last - 1],
                ]
            )
            for x in shares:
                at = places(shift + x * cap)
                sloped = np.where(dead & (not rises), np.inf, ramps(at))
                odds = np.max(sign * np.stack([*sloped, plateau(at)]), axis=0)
                height = np.interp(at, steps, level) - np.array(
                    [[0.0], [self.question.form.cap]]
                )
                height = np.where(dead, outermost, height)
                best, flat = (
                    np.where(odds < best, odds, best),
                    np.where(odds < best, height, flat),
                )
            bound = sign * np.minimum(best, sign * before + cap)
            flat = np.where(flat[0] <= flat[1], flat, np.mean(flat, axis=0))
            return self._reached(flat, edge, rises), bound

    def _reached(self, levels: Array, edge: Array, rises: bool) -> Array:
        """ln of the odds that likelihoods reach which are flat between two levels of ψ."""
        goal, n = int(not rises), self.question.goal.size
        form, rate = self.question.form, self.epsilon * (1 if rises else -1)
        turns = np.stack([levels[0] - form.cap, *levels, levels[1] + form.cap])
        keys = np.stack(self.question.position, axis=-1).ravel()
        knots = np.stack([np.arange(n), np.arange(1, n + 1)], axis=-1).ravel()
        turns = np.interp(turns, keys, knots)
        rows = (PLAIN, UP, PLAIN, DOWN, PLAIN) if rises else (PLAIN, DOWN, PLAIN, UP, PLAIN)
        heights = -rate * form.cap, -rate * levels[0], 0.0, rate * levels[1], -rate * form.cap
        starts = np.concatenate([0 * edge[:1], turns])
        stops = np.concatenate([turns, 0 * edge[:1] + n])
        found: list[Array] = []
        for row, height, start, stop in zip(rows, heights, starts, stops, strict=True):
            for own, low, high in (
                (1 - goal, 0, edge[0]),
                (goal, *edge),
                (1 - goal, edge[1], n),
            ):
                inside = np.maximum(start, low), np.minimum(stop, high)
                found.append(height + self.masses.between(row + own, *inside))
        met = np.logaddexp.reduce(found[1::3])
        return met - np.logaddexp.reduce(found[::3] + found[2::3])
