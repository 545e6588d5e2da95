"""Largest posterior belief in any union of intervals on a line, for a stated true value.

A likelihood L obeys |ln L(x) − ln L(x′)| ≤ ε·|ψ(x) − ψ(x′)|. Odds above λ are reachable if and only if some such L has
∫ L·w f > 0, w = 1 in the goal and −λ outside. With V(x) = sup ∫_{y≥x} L·w f / L(x), read from right to left,

    V(x−) = V(x)·e^{+ε dψ} + w f dx   while V > 0          V(x−) = V(x)·e^{−ε dψ} + w f dx   while V < 0,

and λ is reachable if and only if V is positive at the left end (theory §4). On a
stretch of the line that lies in the goal, or outside, V changes its sign at most once; cumulative tilted integrals of
the prior's pieces say where. With masses of the goal rounded up and of the rest rounded down λ is a bound, the other
way round an attack. Jumps of ψ and distances between atoms are gaps without mass. The lower side is the upper side of
the complement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from guessproof.risk.limits import largest_epsilon
from guessproof.world.checks import Array, Mask, quiet
from guessproof.world.distances import LineForm
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior
from guessproof.world.pieces import Pieces, pieces_of, spread

UP, DOWN, PLAIN = (
    0,
    2,
    4,
)  # rows of masses times e^{εψ}, e^{−εψ} and 1, from below; from above in the next row
CLOSE = 1e-12  # relative width at which the search for a gain ends
OUTWARDS = 1e-11  # relative: more than this search loses
MOST_SCALE = 30.0  # of a gain, where the search for it begins
EPS = float(np.finfo(float).eps)
STRAIGHT = 1e-12  # of a tilt: below it a density is constant in floating point


@dataclass(frozen=True, eq=False)
class LineQuestion:
    """Pieces on a line, which of them lie in the goal, and where they lie in ψ."""

    pieces: Pieces
    goal: Mask
    form: LineForm

    @property
    def complement(self) -> LineQuestion:
        """The same pieces with the goal and the rest exchanged."""
        return LineQuestion(self.pieces, ~self.goal, self.form)

    @cached_property
    def inside(self) -> tuple[Array, Array]:
        """The ends of each piece from inside, of infinite ones the finite end twice."""
        left, right = self.pieces.left, self.pieces.right
        low = np.where(np.isfinite(left), np.nextafter(left, right), right)
        return low, np.where(np.isfinite(right), right, low)

    @cached_property
    def rate(self) -> Array:
        """The slope of ψ on each piece."""
        return np.asarray(self.form.slopes)[np.searchsorted(self.form.cuts, self.inside[0])]

    @cached_property
    def position(self) -> tuple[Array, Array]:
        """ψ at the left and right end of each piece, measured from the first edge of the goal."""
        left, right = (self.form.psi(end) for end in self.inside)
        start = left[int(self.runs[0][1:2].sum())]
        return left - start, right - start

    @cached_property
    def runs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First and last piece of every stretch."""
        turns = np.flatnonzero(self.goal[1:] != self.goal[:-1])
        return np.append(0, turns + 1), np.append(turns, self.goal.size - 1)

    @cached_property
    def log_prior(self) -> tuple[float, float]:
        """ln P(goal) and ln P(not goal); the larger is the complement of the smaller."""
        log_mass = self.pieces.log_mass
        p, q = (
            float(np.logaddexp.reduce(part)) if part.size else -np.inf
            for part in (log_mass[self.goal], log_mass[~self.goal])
        )
        return (p, math.log1p(-math.exp(p))) if p < q else (math.log1p(-math.exp(q)), q)

    @cached_property
    def reach(self) -> float:
        """The mean distance from the goal's first edge in ψ: about the gain for a small ε, relative to it."""
        left, right = self.position
        away = np.minimum(np.maximum(np.abs(left), np.abs(right)), self.form.cap)
        return float(np.exp(self.pieces.log_mass) @ away)


def tilted_masses(question: LineQuestion, epsilon: float) -> Array:
    """ln of each piece's mass times e^{εψ}, e^{−εψ} and 1, in rows from below and from above."""
    pieces, rate = question.pieces, epsilon * question.rate
    level, end = (epsilon * place for place in question.position)
    up, down = (np.stack(pieces.end_tilt(k)) for k in (rate, -rate))
    tau = spread(end - level, pieces.osc)
    plain = pieces.log_mass - tau, pieces.log_mass + tau
    return np.concatenate([up + level, down - level, plain])


@dataclass(frozen=True)
class LineRun:
    """A run of pieces that all lie in the goal, or all outside, with ln of their tilted masses.

    In the goal L grows away from a sign change, outside it falls: rows hold ln ∫ e^{±ε(ψ(end)−ψ(y))} f of each piece
    from the run's right end, the same from its left end, and both summed from that end.
    """

    sign: int  # 1 in the goal, −1 outside
    length: float  # ε·ψ from its first end to its last
    gap: float  # ε·ψ to the next run on the left
    first: int
    right: Array
    left: Array
    from_right: Array
    from_left: Array


@dataclass(frozen=True, eq=False)
class LineTables:
    """The recursion of one question at one ε, with masses rounded for a bound or for an attack."""

    question: LineQuestion
    epsilon: float
    bound: bool = True

    @cached_property
    def runs(self) -> list[LineRun]:
        """From the rightmost to the leftmost."""
        goal, (left, right) = self.question.goal, self.question.position
        own = tilted_masses(self.question, self.epsilon)
        found: list[LineRun] = []
        for i, j in zip(*self.question.runs, strict=True):
            sign, side = (1 if goal[i] else -1), int(goal[i] == self.bound)
            away, ahead = (DOWN, UP)[::sign]
            start, stop = (sign * self.epsilon * float(end) for end in (left[i], right[j]))
            part = slice(i, j + 1)
            run = LineRun(
                sign,
                sign * (stop - start),
                self.epsilon * float(left[i] - right[i - 1]) if i else 0.0,
                int(i),
                own[away + side, part] + stop,
                own[ahead + side, part] - start,
                np.logaddexp.accumulate(own[away + side, part][::-1] + stop)[::-1],
                np.logaddexp.accumulate(own[ahead + side, part] - start),
            )
            found.append(run)
        return found[::-1]

    def margin(self, log_odds: float) -> float:
        """Positive if and only if these odds are reachable; falls in them."""
        sign, v = 0, -math.inf  # of V, and ln |V|
        *inner, final = self.runs
        for run in inner:
            weight = 0.0 if run.sign > 0 else log_odds
            whole = weight + float(run.from_right[0])
            if sign in (0, run.sign):
                v = float(np.logaddexp(v + run.sign * run.length, weight + run.from_left[-1]))
                sign = run.sign
            elif whole <= v:
                v = sign * run.length + _log_subtract(v, whole)
            else:
                v, sign = weight + self._beyond(run, v - weight), run.sign
            v += sign * run.gap
        if sign == final.sign:
            return sign * math.inf
        weight = 0.0 if final.sign > 0 else log_odds
        whole = weight + float(final.from_right[0])
        return final.sign * (whole - v) if math.isfinite(v) else sign * v

    def _beyond(self, run: LineRun, target: float) -> float:
        """ln of a run's mass left of where V reaches 0, tilted from its left end."""
        at = run.right.size - 1 - int(np.searchsorted(run.from_right[::-1], target))
        before = float(run.from_right[at + 1]) if at + 1 < run.right.size else -math.inf
        part = min(_log_subtract(target, before) - float(run.right[at]), 0.0)
        # The share of the piece that is left, tilted from its left end, where this share is, tilted from its right end.
        pieces, i = self.question.pieces, run.first + at
        width = float(pieces.right[i] - pieces.left[i])
        rest = _log_subtract(0.0, part)
        if 0 < width < math.inf:
            rate, slope = run.sign * self.epsilon * self.question.rate[i], pieces.slope[i]
            u = 1.0 - _inverse((rate - slope) * width, part)
            rest = float(log_share((rate + slope) * width, 0.0, u))
        earlier = run.from_left[at - 1] if at > 0 else -math.inf
        return float(np.logaddexp(earlier, run.left[at] + rest))

    def log_odds(self) -> float:
        """The largest odds that are reachable (logarithms): from above for a bound, from below for an attack."""
        log_p, log_q = self.question.log_prior

        def unreachable(gain: Array) -> Array:
            return np.exp(-np.asarray(self.margin(log_p - log_q + float(gain))))

        start = min(max(self.epsilon * self.question.reach, EPS), MOST_SCALE)
        gain = largest_epsilon(unreachable, np.asarray(1.0), start=start, relative=CLOSE)
        return log_p - log_q + float(gain) * (1 + OUTWARDS * self.bound)


def _log_subtract(a: float, b: float) -> float:
    """ln(e^a − e^b) for a ≥ b."""
    if b == -math.inf or a == math.inf:
        return a
    return a + math.log(-math.expm1(b - a)) if b < a else -math.inf


def log_share(z: ArrayLike, start: ArrayLike, stop: ArrayLike) -> Array:
    """ln of the share of [start, stop] in [0, 1] under a density proportional to e^{zx}."""
    size, wide = np.abs(z), np.maximum(np.subtract(stop, start), 0.0)
    with quiet():
        share = np.multiply(z, np.where(np.greater(z, 0), np.subtract(stop, 1), start))
        share = share + np.log(np.expm1(-size * wide) / np.expm1(-size))
        share = np.where(size < STRAIGHT, np.log(wide), share)
    return np.where(wide > 0, share, -np.inf)


def _inverse(z: float, log_share: float) -> float:
    """The u up to which this share is reached."""
    if abs(z) < EPS:
        return math.exp(log_share)
    if z < 0:
        lost = math.exp(log_share) * math.expm1(z)
        return min(1.0, math.log1p(lost) / z) if lost > -1 else 1.0
    return min(1.0, float(np.logaddexp(0.0, log_share + z + math.log(-math.expm1(-z)))) / z)


def density_question(
    prior: LinePrior, form: LineForm, intervals: ArrayLike, knots: ArrayLike = ()
) -> LineQuestion:
    """A union of intervals under a density; `knots` are further ends of pieces."""
    ends = np.asarray(intervals, dtype=np.float64)
    pieces = pieces_of(prior).cut(
        np.concatenate([ends.ravel(), np.asarray(form.cuts), np.asarray(knots)])
    )
    low, high = pieces.left, pieces.right
    goal = np.any((ends[:, :1] <= low) & (high <= ends[:, 1:]), axis=0)
    return LineQuestion(pieces, goal, form)


def atom_question(prior: Finite, form: LineForm, chosen: Array) -> LineQuestion:
    """A set of atoms; `chosen` is 1 for each value of the prior that is a correct guess."""
    return LineQuestion(pieces_of(prior), chosen[prior.mass > 0] > 0.5, form)
