"""Best beliefs in one interval for many true values at once, on prefix sums over the prior's pieces.

For a goal [lo, hi] and a peak c in it, with tilted masses A = ∫_lo^c e^{εψ} f, C = ∫_{x<lo} e^{εψ} f on the left and
B, D likewise on the right, the odds are at most max(A/C, B/D) for any c, and L = e^{−ε|ψ−ψ(c)|} attains the mediant
(A + B)/(C + D). The two meet where both ratios are equal; a peak at an atom shares its mass between both sides (theory
§5). Beliefs fall to the same expressions with e^{−εψ} and the smaller of the two ratios.

Under a cap |ln L(x) − ln L(x′)| ≤ ε·min(|ψ(x) − ψ(x′)|, C). With W = ε·C and any four places
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

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.line.recursion import (
    DOWN,
    EPS,
    PLAIN,
    UP,
    LineQuestion,
    log_share,
    tilted_masses,
)
from guessproof.world.checks import Array, Mask, quiet
from guessproof.world.distances import LineForm
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior

Indices = NDArray[np.int64]
STEPS = (
    40  # of a search at most, each fourth one a bisection; any place of the peak gives a bound
)
MET = 1e-13  # of a difference of logarithms, where rounding begins; any place and odds give a bound
CANCELS = 16 * EPS  # of a cumulative sum: rounding that a difference of two of them may show
CLOSE = 1e-9  # of a cap: how much further out than it tails begin


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
class Tilts:
    """Tents over runs of a question's pieces; a place is the number of pieces to its left, the last one in shares."""

    question: LineQuestion
    epsilon: float
    met: float = MET  # differences of logarithms that searches leave open

    @cached_property
    def level(self) -> tuple[Array, Array]:
        """ε·ψ at the left and right end of each piece."""
        left, right = self.question.position
        return self.epsilon * left, self.epsilon * right

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """The places of both ends of all pieces, and ψ there."""
        number = np.arange(self.question.goal.size, dtype=np.float64)
        places = np.stack([number, number + 1], axis=-1).ravel()
        return places, np.stack(self.question.position, axis=-1).ravel()

    @cached_property
    def masses(self) -> tuple[Array, Array, Array, Array]:
        """Tilted masses (rows) of pieces, their tilts, and sums of them from both ends."""
        own = tilted_masses(self.question, self.epsilon)
        pad, tilt = np.full((6, 1), -np.inf), np.repeat([1.0, -1.0, 0.0], 2)[:, None]
        pieces, (left, right) = self.question.pieces, self.level
        bend = pieces.slope * pieces.width + tilt * (right - left)
        forward, backward = (
            np.append(pad, np.logaddexp.accumulate(part, axis=1), axis=1)
            for part in (own, own[:, ::-1])
        )
        own, bend = np.append(own, pad, axis=1), np.append(bend, np.zeros((6, 1)), axis=1)
        return own, bend, forward, backward[:, ::-1]

    def between(self, row: Indices | int, start: Array, stop: Array) -> Array:
        """ln of a mass between two places, rounded to the row's side; −inf where they are not in order."""
        own, bend, forward, backward = self.masses
        p, q = start.astype(np.int64), stop.astype(np.int64)
        x, y = start - p, stop - q

        def part(piece: Indices, low: Array, high: Array) -> Array:
            """ln of the mass between two shares of a piece, which may be infinite as a whole."""
            share = log_share(bend[row, piece], low, high)
            return np.where(low < high, own[row, piece] + share, -np.inf)

        with quiet():
            first = part(p, x, np.where(p == q, y, 1.0))
            last = part(q, 0 * y, np.where(p == q, 0.0, y))
            p = np.minimum(p + 1, own.shape[1] - 1)
            # The difference of two sums, of those that lose fewer digits.
            ahead = forward[row, q] <= backward[row, p]
            base = np.where(ahead, forward[row, q], backward[row, p])
            other = np.where(ahead, forward[row, p], backward[row, q])
            slack = np.where(np.asarray(row) % 2 == 1, CANCELS, -CANCELS)
            whole = base + np.log(np.maximum(slack - np.expm1(other - base), 0.0))
            whole = np.where(base < np.inf, whole, np.inf)
            whole = np.where((p < q) & (base > -np.inf), whole, -np.inf)
            found = np.logaddexp(np.logaddexp(first, last), whole)
        return np.where(start < stop, found, -np.inf)

    def bracket(self, first: Indices, last: Indices, rises: bool) -> tuple[Array, Array]:
        """ln of odds that are reached for pieces `first` … `last` − 1, and that nothing exceeds (or falls below)."""
        up, sign = int(rises), 1 if rises else -1  # a goal that rises is rounded up for a bound
        rows = np.array([[UP], [DOWN]])[::sign]
        lo, hi = edge = np.stack([first, last]).astype(np.float64)

        def inside(peak: Array, rounded: int) -> Array:
            """ln A and ln B for a peak."""
            return self.between(rows + rounded, np.stack([lo, peak]), np.stack([peak, hi]))

        beyond, others = (self._outside(rows + rounded, edge) for rounded in (1 - up, up))
        dead = np.isneginf(beyond)  # a goal that reaches an end has one ratio only

        def excess(peak: Array) -> Array:
            """How far a peak lies behind the place where both ratios are equal."""
            left, right = inside(peak, up) - beyond
            return left - right

        attacks: list[Array] = []
        bounds: list[Array] = []
        with quiet():
            # Both ends of what is left: where almost nothing lies on one side the peak is needed very closely there.
            for near in crossing(excess, lo, hi, self.met):
                peak = np.where(dead[0], lo, np.where(dead[1], hi, near))
                place = sign * self.epsilon * np.interp(peak, *self.ends)
                shift = np.stack([-place, place])
                ratios = np.where(dead, -np.inf, sign * (inside(peak, up) - beyond))
                bounds.append(np.max(ratios, axis=0))
                met = np.logaddexp.reduce(inside(peak, 1 - up) + shift)
                attacks.append(sign * (met - np.logaddexp.reduce(others + shift)))
        attack, bound = sign * np.max(attacks, axis=0), sign * np.min(bounds, axis=0)
        # Beliefs fall to 0 where what lies beyond outweighs everything.
        return (
            np.where(np.isposinf(others).any(axis=0), -np.inf, attack),
            np.where(np.isposinf(beyond).any(axis=0), -np.inf, bound),
        )

    def _outside(self, rows: Indices | int, edge: Array) -> Array:
        """ln of the masses left and right of a goal."""
        starts, stops = 0 * edge, edge.copy()
        starts[1], stops[1] = edge[1], self.question.goal.size
        return self.between(rows, starts, stops)

    def log_extreme(self, rises: bool) -> Array:
        """At every knot ln of the largest value (or of 1/the smallest) of a likelihood whose mean is 1."""
        (_, _, forward, backward), side = self.masses, int(not rises)
        sign = 1 if rises else -1
        before, after = (UP, DOWN)[::sign]
        place = sign * np.append(self.level[0], self.level[1][-1])
        found = np.logaddexp(forward[before + side] - place, backward[after + side] + place)
        return -sign * found


@dataclass(frozen=True, eq=False)
class CappedTilts(Tilts):
    """The same under a cap.

    The pieces must have knots at `capped_ends` of all edges; a cap that no two values reach should be dropped first by
    `binding_form`, since `Tilts` is faster.
    """

    @cached_property
    def path(self) -> tuple[Array, Array, Array]:
        """Levels of ψ of the upper pointer at every step, and where the lower and the upper one are."""
        places, keys = self.ends
        shifted = keys + self.question.form.cap
        levels = np.concatenate([keys, shifted])
        # Ties: the upper pointer first.
        behind = np.interp(-keys, -shifted[::-1], places[::-1])
        ahead = np.interp(shifted, keys, places)
        order = np.argsort(levels, kind="stable")
        lower, upper = np.stack([np.append(behind, places), np.append(places, ahead)])[:, order]
        levels, lower, upper = levels[order], np.append(0.0, lower), np.append(0.0, upper)
        pointers = np.maximum.accumulate(lower), np.maximum.accumulate(upper)
        return np.append(levels[0], levels), *pointers

    def bracket(self, first: Indices, last: Indices, rises: bool) -> tuple[Array, Array]:
        """ln of odds that are reached for pieces `first` … `last` − 1, and that nothing exceeds (or falls below)."""
        up, sign = int(rises), 1 if rises else -1
        rows = np.array([[UP], [DOWN]])[::sign]
        cap, (level, low, high) = self.epsilon * self.question.form.cap, self.path
        steps = np.arange(level.size)
        lo, hi = edge = np.stack([first, last]).astype(np.float64)
        near = np.stack([0 * lo, 0 * hi + steps[-1]])

        def pointers(at: Array) -> tuple[Array, Array, Array, Array]:
            """a_L, b_L, b_R and a_R where the pointers are, which stop at the goal's ends."""
            a, b = (np.interp(at, steps, pointer) for pointer in (low, high))
            outer = np.minimum(a[0], lo), np.maximum(b[1], hi)
            return outer[0], np.clip(b[0], lo, hi), np.clip(a[1], lo, hi), outer[1]

        def ramps(at: Array) -> Array:
            """ln of the odds of both ramps; −inf where they have nothing of the goal."""
            a_left, b_left, b_right, a_right = pointers(at)
            met = self.between(rows + up, np.stack([lo, b_right]), np.stack([b_left, hi]))
            ends = np.stack([a_left, hi]), np.stack([lo, a_right])
            missed = self.between(rows + 1 - up, *ends)
            return np.where(np.isneginf(met), -np.inf, met - missed)

        def places(odds: Array) -> Array:
            """Where on the path both ramps have these odds."""
            return crossing(lambda at: ramps(at) - odds, near, near[::-1], self.met)[1 - up]

        def plateau(at: Array) -> Array:
            """ln of the odds of the plateau."""
            a_left, b_left, b_right, a_right = pointers(at)
            outside = np.logaddexp.reduce(
                self._outside(PLAIN + 1 - up, np.stack([a_left, a_right]))
            )
            odds = self.between(PLAIN + up, b_left, b_right) - outside + sign * cap
            odds = np.where(np.isnan(odds), -sign * np.inf, odds)
            return np.where((b_left > b_right) & (not rises), -np.inf, odds)

        attacks: list[Array] = []
        bounds: list[Array] = []
        with quiet():  # of nothing over nothing
            beyond = self._outside(PLAIN + 1 - up, edge)
            before = self.between(PLAIN + up, lo, hi) - np.logaddexp.reduce(beyond)
            nearest = before - (0.0 if rises else cap)

            def excess(share: Array) -> Array:
                """How far odds lie above those of the plateau between their ramps."""
                odds = nearest + share * cap
                return odds - plateau(places(odds))

            for share in crossing(excess, 0 * before, 0 * before + 1, self.met):
                at = places(nearest + share * cap)
                bounds.append(sign * np.stack([*ramps(at), plateau(at)]))
                flat = np.interp(at, steps, level) - [[0.0], [self.question.form.cap]]
                attacks.append(sign * self._reached(flat, edge, rises))
        bound = np.minimum(np.min(np.max(bounds, axis=1), axis=0), sign * before + cap)
        return sign * np.max(attacks, axis=0), sign * bound

    def _reached(self, levels: Array, edge: Array, rises: bool) -> Array:
        """ln of the odds that likelihoods reach which are flat between two levels of ψ."""
        cap, rate = self.question.form.cap, self.epsilon * (1 if rises else -1)
        low, high = np.where(levels[0] <= levels[1], levels, np.mean(levels, axis=0))
        places, keys = self.ends
        turns = np.interp(np.stack([low - cap, low, high, high + cap]), keys, places)
        start, stop = np.zeros((2, *low.shape))
        stop = stop + self.question.goal.size
        starts, stops = np.stack([start, *turns]), np.stack([*turns, stop])
        region = np.stack([start, *edge]), np.stack([*edge, stop])
        side = np.array([[int(rises)], [int(not rises)], [int(rises)]])
        rows = np.array([PLAIN, UP, PLAIN, DOWN, PLAIN])[:: 1 if rises else -1]
        floor = 0 * low - rate * cap
        height = np.stack([floor, -rate * low, 0 * low, rate * high, floor])
        inside = np.maximum(starts[:, None], region[0]), np.minimum(stops[:, None], region[1])
        found = height[:, None] + self.between(rows[:, None, None] + side, *inside)
        left, met, right = (np.logaddexp.reduce(found[:, i]) for i in range(3))
        return met - np.logaddexp(left, right)


def crossing(
    rising: Callable[[Array], Array], low: Array, high: Array, enough: float
) -> tuple[Array, Array]:
    """Between which places functions that rise from `low` to `high` cross 0, up to `enough`; or the nearer end.

    Whole numbers first; from each to the next they are smooth.
    """

    def value(u: Array) -> Array:
        with quiet():
            return np.nan_to_num(np.tanh(0.5 * rising(low + u * (high - low))))

    while np.any(np.abs(high - low) > 1):
        middle = (low + high) // 2
        with quiet():
            late = rising(middle) > 0
        low, high = np.where(late, low, middle), np.where(late, middle, high)
    below, above, last_side = np.zeros(low.shape), np.ones(low.shape), np.zeros(low.shape)
    f_below, f_above = value(below), value(above)
    above = np.where(f_below >= 0, 0.0, above)
    below = np.where(f_above <= 0, 1.0, below)
    for i in range(STEPS):
        with np.errstate(invalid="ignore", divide="ignore"):
            share = f_below / (f_below - f_above)
        inner = (share > 0) & (share < 1) & (i % 4 < 3)
        u = below + np.where(inner, share, 0.5) * (above - below)
        f = value(u)
        side = np.where(f > 0, 1.0, -1.0)
        kept = np.where(
            side == last_side, 0.5, 1.0
        )  # Illinois: an end that stays twice counts half
        f_below, f_above = (
            np.where(f > 0, kept * f_below, f),
            np.where(f > 0, f, kept * f_above),
        )
        met = np.abs(f) <= enough
        below, above = np.where((f <= 0) | met, u, below), np.where((f > 0) | met, u, above)
        last_side = side
        if np.all(below >= above):
            break
    return low + below * (high - low), low + above * (high - low)
