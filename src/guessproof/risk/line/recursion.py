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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from guessproof.errors import NotCertifiedError
from guessproof.risk.limits import Belief
from guessproof.world.checks import Array, Mask
from guessproof.world.distances import LineForm
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior
from guessproof.world.pieces import Pieces, pieces_of, spread

HOW = "piecewise-exponential likelihood by a recursion along the line"
CHECKED = ", with a density that is checked at samples"
WIDTH = 1e-4  # width of a gain, relative where it is below 1, up to which pieces are not divided further
CLOSE = 1e-12  # relative width at which the search for the odds ends
LEAST_HAZARD = 1e-300  # of a tail so far out that its density is 0 in floating point
EPS = float(np.finfo(float).eps)
FIRST_STEP = 30.0  # of a gain; larger ones are found by doubling
ROUNDS = 400  # of the search; each third one halves the bracket at least
DIVISIONS = 12  # rounds of dividing pieces
MOST = 20_000  # pieces; more would be a question that no prior at hand asks
EXPANSIONS = 1100  # doublings of a gain from the smallest number to the largest


@dataclass(frozen=True)
class LineRun:
    """A run of pieces that all lie in the goal, or all outside; slices of the cumulative logarithms."""

    goal: bool
    length: float  # ε·ψ from its first end to its last
    gap: float  # ε·ψ to the next stretch on the left
    first: int
    last: int


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
    def rate(self) -> Array:
        """The slope of ψ on each piece."""
        if isinstance(self.pieces.prior, Finite):
            return np.zeros(self.goal.size)
        ends = self.pieces.left, self.pieces.right
        inside = np.where(np.isfinite(ends[0]), ends[0], np.nextafter(ends[1], -np.inf))
        return np.asarray(self.form.slopes)[
            np.searchsorted(np.asarray(self.form.cuts), inside, side="right")
        ]

    @cached_property
    def position(self) -> tuple[Array, Array]:
        """ψ at the left and right end of each piece, from inside, measured from the first edge of the goal."""
        pieces, start = self.pieces, int(self.runs[0][1:2].sum())
        if isinstance(pieces.prior, Finite):
            place = self.form.psi(pieces.left) - self.form.psi(pieces.left[start])
            return place, place
        width = pieces.right - pieces.left
        length = np.where(np.isfinite(width), self.rate, 0.0) * np.where(
            np.isfinite(width), width, 0.0
        )
        jump = np.zeros(width.size)
        for cut, size in zip(self.form.cuts, self.form.jumps, strict=True):
            jump[pieces.left == cut] = size
        # Summed outwards, so that digits are kept where far tails are wide.
        left = np.empty(width.size)
        left[start:] = np.cumsum(np.append(0.0, length[start:-1] + jump[start + 1 :]))
        left[:start] = -np.cumsum((length[:start] + jump[1 : start + 1])[::-1])[::-1]
        return left, left + length

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
        """The mean distance from the goal in ψ: about the gain for a small ε, relative to it."""
        left, right = self.position
        low, high = left[self.goal].min(), right[self.goal].max()
        away = np.maximum(np.maximum(low - left, right - high), 0.0)
        for i, tail in zip((0, -1), self.pieces.tails, strict=True):
            if tail is not None and self.rate[i] > 0:
                away[i] += self.rate[i] / max(
                    tail.low if tail.low > 0 else tail.high, LEAST_HAZARD
                )
        away = np.minimum(away, self.form.cap)
        return float(
            np.exp(self.pieces.log_mass) @ away + 0.25 * min(high - low, self.form.cap)
        )

    @cached_property
    def flat(self) -> bool:
        """Whether ψ is the same everywhere, so that nothing is learned."""
        left, right = self.position
        return left.min() == right.max() and not self.rate.any()

    def on(self, pieces: Pieces) -> LineQuestion:
        """The same question on pieces that divide its own."""
        if pieces is self.pieces:
            return self
        inherited = np.searchsorted(self.pieces.left, pieces.left, side="right") - 1
        return LineQuestion(pieces, self.goal[inherited], self.form)


@dataclass(frozen=True)
class Attained:
    """What a likelihood reaches: ln odds; pieces that end where it turns; by piece, how much of a width it causes."""

    log_odds: float
    question: LineQuestion
    errors: Array


@dataclass(frozen=True)
class Likelihood:
    """ln L as a function of ψ: values where it turns, straight between them, and its slopes before and behind."""

    turns: Array
    values: Array
    before: float = 0.0
    behind: float = 0.0

    def at(self, place: Array) -> Array:
        """ln L at some ψ."""
        early, late = (
            np.minimum(place - self.turns[0], 0.0),
            np.maximum(place - self.turns[-1], 0.0),
        )
        return (
            np.interp(place, self.turns, self.values) + self.before * early + self.behind * late
        )


def attained(question: LineQuestion, likelihood: Likelihood) -> Attained:
    """What a likelihood reaches at least."""
    if not isinstance(question.pieces.prior, Finite):
        left, right = question.pieces.left, question.pieces.right
        ends = (
            np.where(np.isfinite(left), left, right),
            np.where(np.isfinite(right), right, left),
        )
        keys, places = (np.stack(both, axis=-1).ravel() for both in (question.position, ends))
        question = question.on(question.pieces.cut(np.interp(likelihood.turns, keys, places)))
    pieces, goal, (left, right) = question.pieces, question.goal, question.position
    start, stop = likelihood.at(left), likelihood.at(right)
    with np.errstate(invalid="ignore", divide="ignore"):
        width = pieces.right - pieces.left
        rate = np.where(width > 0, (stop - start) / width, 0.0)
    for end, slope in ((0, likelihood.before), (-1, likelihood.behind)):
        if np.isinf(width[end]):
            rate[end] = slope * question.rate[end]
    low, high = (
        pieces.clip(side, rate, at_left=True) + start
        for side in pieces.end_tilt(rate, at_left=True)
    )
    met, missed = np.logaddexp.reduce(low[goal]), np.logaddexp.reduce(high[~goal])
    share = pieces.log_mass + np.maximum(start, stop)
    for some in (goal, ~goal):
        share[some] -= np.logaddexp.reduce(share[some])
    variation = np.abs(rate) * np.where(np.isfinite(width), width, 0.0)
    return Attained(
        float(met - missed), question, 2 * np.exp(share) * spread(variation, pieces.osc)
    )


@dataclass(frozen=True, eq=False)
class LineTables:
    """What a question at one ε needs for every odds: cumulative tilted masses, rounded for a bound.

    In the goal L grows away from a sign change, outside it falls: `from_right` holds ln ∫ e^{±ε(ψ(end)−ψ(y))} f from a
    stretch's right end, `from_left` the same from its left end.
    """

    question: LineQuestion
    epsilon: float

    @cached_property
    def _tilted(self) -> tuple[Array, Array]:
        question = self.question
        rate = self.epsilon * np.where(question.goal, question.rate, -question.rate)
        side = question.goal.astype(np.int64)
        right = np.choose(side, question.pieces.end_tilt(-rate, at_left=False))
        left = np.choose(side, question.pieces.end_tilt(rate, at_left=True))
        return right, left

    @cached_property
    def stretches(self) -> list[LineRun]:
        """From the rightmost to the leftmost."""
        left, right = self.question.position
        first, last = self.question.runs
        gaps = np.append(0.0, left[first[1:]] - right[last[:-1]])
        lengths = right[last] - left[first]
        found = [
            LineRun(
                bool(self.question.goal[i]),
                self.epsilon * float(d),
                self.epsilon * float(gap),
                int(i),
                int(j),
            )
            for i, j, d, gap in zip(first, last, lengths, gaps, strict=True)
        ]
        return found[::-1]

    @cached_property
    def cumulative(self) -> tuple[Array, Array]:
        """Cumulative sums within each stretch: from its right end, and from its left end."""
        left, right = self.question.position
        question = self.question
        rate = self.epsilon * np.where(question.goal, question.rate, -question.rate)
        from_right, from_left = (
            question.pieces.clip(tilted, rate, at_left=True) for tilted in self._tilted
        )
        for s in self.stretches:
            own = slice(s.first, s.last + 1)
            sign = self.epsilon if s.goal else -self.epsilon
            from_right[own] += sign * (right[s.last] - right[own])
            from_left[own] += sign * (left[own] - left[s.first])
            from_right[own] = np.logaddexp.accumulate(from_right[own][::-1])[::-1]
            from_left[own] = np.logaddexp.accumulate(from_left[own])
        return from_right, from_left

    def margin(self, log_odds: float, turns: list[float] | None = None) -> float:
        """Positive if and only if these odds are reachable; falls in them. Fills in where ln L turns, in ψ."""
        from_right, from_left = self.cumulative
        sign, v = 0, -math.inf  # of V, and ln |V|
        *inner, final = self.stretches
        for s in inner:
            own = 1 if s.goal else -1
            weight = 0.0 if s.goal else log_odds
            if sign in (0, own):
                v, sign = _log_add(v + own * s.length, weight + float(from_left[s.last])), own
            elif weight + float(from_right[s.first]) <= v:
                v = sign * s.length + _log_subtract(v, weight + float(from_right[s.first]))
            else:
                place, part = self._crossing(s, v - weight)
                v, sign = weight + part, own
                if turns is not None:
                    turns.append(place)
            v += sign * s.gap
        own = 1 if final.goal else -1
        if sign == own:
            return own * math.inf
        weight = 0.0 if final.goal else log_odds
        return (
            own * (weight + float(from_right[final.first]) - v)
            if math.isfinite(v)
            else sign * v
        )

    def _crossing(self, s: LineRun, target: float) -> tuple[float, float]:
        """Where V reaches 0 in a stretch, in ψ, and ln of the tilted mass from its left end to there."""
        from_right, from_left = self.cumulative
        run = from_right[s.first : s.last + 1]
        at = s.last - int(np.searchsorted(run[::-1], target, side="left"))
        before = float(from_right[at + 1]) if at < s.last else -math.inf
        left, right = self.question.position
        sign = self.epsilon if s.goal else -self.epsilon
        own = float(self._tilted[0][at]) + sign * float(right[s.last] - right[at])
        log_share = min(_log_subtract(target, before) - own, 0.0)
        # The share of the piece that is left, tilted from its left end, where this share is, tilted from its right end.
        pieces = self.question.pieces
        width = float(pieces.right[at] - pieces.left[at])
        if 0 < width < math.inf:
            rate = self.epsilon * float(self.question.rate[at]) * (1 if s.goal else -1)
            u = 1.0 - _inverse((rate - float(pieces.slope[at])) * width, log_share)
            rest = _log_part((float(pieces.slope[at]) + rate) * width, u)
        else:
            u, rest = 0.0, math.log(-math.expm1(log_share)) if log_share < 0 else -math.inf
        part = float(self._tilted[1][at]) + sign * float(left[at] - left[s.first]) + rest
        place = float(left[at] + u * (right[at] - left[at]))
        return place, _log_add(float(from_left[at - 1]) if at > s.first else -math.inf, part)

    def likelihood(self, log_odds: float) -> Likelihood:
        """The likelihood that reaches these odds."""
        found: list[float] = []
        self.margin(log_odds, found)
        turns = np.array(found[::-1] or [0.0])
        # ln L rises to the right where V is positive: at the right end in the goal.
        behind = self.epsilon if self.question.goal[-1] else -self.epsilon
        slopes = -behind * (-1.0) ** np.arange(turns.size - 1)[::-1]
        values = np.append(0.0, np.cumsum(slopes * np.diff(turns)))
        return Likelihood(turns, values, behind * (-1.0) ** len(found), behind)

    def solve(self, low: float, guess: float) -> tuple[float, float]:
        """Odds (logarithms) that are reachable and that are not, next to each other; `low` is known to be reachable."""
        f_low = self.margin(low)
        if not f_low > 0:
            return low, low
        start, step = low, min(guess, FIRST_STEP)
        for _ in range(EXPANSIONS):
            high = low + step
            f_high = self.margin(high)
            if not f_high > 0:
                break
            if math.isinf(high) or f_high == math.inf:
                return (
                    (math.inf, math.inf)
                    if self.margin(LARGEST_ODDS) > 0
                    else self._close(high, LARGEST_ODDS, start)
                )
            low, f_low, step = high, f_high, 2 * step
        else:
            raise NotCertifiedError(
                "no odds were found that a likelihood cannot reach; please report the question"
            )
        return self._close(low, high, start)

    def _close(self, low: float, high: float, start: float) -> tuple[float, float]:
        """Regula falsi with halved weights (Illinois) inside a kept bracket."""
        f_low, f_high = self.margin(low), self.margin(high)
        side = 0
        for i in range(ROUNDS):
            if high - low <= CLOSE * abs(high - start) + EPS * abs(high):
                return low, high
            middle = (
                low + (high - low) * f_low / (f_low - f_high)
                if math.isfinite(f_low - f_high)
                else math.nan
            )
            if i % 3 == 2 or not low < middle < high:
                middle = low + 0.5 * (high - low)
            if not low < middle < high:
                return low, high
            f = self.margin(middle)
            if f > 0:
                low, f_low = middle, f
                f_high, side = (f_high / 2 if side > 0 else f_high), 1
            else:
                high, f_high = middle, f
                f_low, side = (f_low / 2 if side < 0 else f_low), -1
        raise NotCertifiedError(
            "the search for the largest odds did not end; please report the question"
        )


LARGEST_ODDS = 1e5  # in logarithms: beyond what floating point tells from certainty


def _log_add(a: float, b: float) -> float:
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a)) if a < math.inf else a


def _log_subtract(a: float, b: float) -> float:
    """ln(e^a − e^b) for a ≥ b."""
    if b == -math.inf or a == math.inf:
        return a
    return a + math.log(-math.expm1(b - a)) if b < a else -math.inf


def _log_part(z: float, u: float) -> float:
    """ln((e^{zu} − 1)/(e^z − 1)): the share of [0, u] in [0, 1] under a density proportional to e^{zx}."""
    if u <= 0:
        return -math.inf
    if abs(z) < EPS:
        return math.log(u)
    return max(z, 0.0) * (u - 1) + math.log(math.expm1(-abs(z) * u) / math.expm1(-abs(z)))


def _inverse(z: float, log_share: float) -> float:
    """The u at which `_log_part` is reached."""
    if abs(z) < EPS:
        return math.exp(log_share)
    if z < 0:
        lost = math.exp(log_share) * math.expm1(z)
        return min(1.0, math.log1p(lost) / z) if lost > -1 else 1.0
    return min(1.0, _log_add(0.0, log_share + z + math.log(-math.expm1(-z))) / z)


class LineSolver:
    """One question asked at many ε; pieces are divided where brackets would be too wide, and stay so."""

    def __init__(self, question: LineQuestion) -> None:
        self.question = question

    def gain(self, epsilon: float) -> tuple[float, float]:
        """Attack and bound of ln(posterior odds / prior odds)."""
        return (0.0, 0.0) if epsilon == 0 or self.question.flat else self._solved(epsilon)

    def _solved(self, epsilon: float) -> tuple[float, float]:
        """Attack and bound; pieces that leave much open are divided, and those that cannot be stay as they are."""
        attack, bound, found = self._bracket(epsilon)
        for _ in range(DIVISIONS):
            room = WIDTH * min(bound, 1.0)
            if not bound - attack > room or math.isinf(bound):
                break
            allowed = 0.25 * room / max(1, int(np.count_nonzero(found.errors > EPS)))
            parts = np.clip(np.ceil(np.cbrt(found.errors / allowed)), 1, 8).astype(np.int64)
            pieces = (
                found.question.pieces.split(parts)
                if parts.sum() <= MOST
                else found.question.pieces
            )
            if pieces.left.size == found.question.pieces.left.size:
                break
            self.question = found.question.on(pieces)
            attack, bound, found = self._bracket(epsilon)
        return max(attack, 0.0), bound

    def _bracket(self, epsilon: float) -> tuple[float, float, Attained]:
        """Attack and bound of a gain, rounding included."""
        log_p, log_q = self.question.log_prior
        bound, found = self._best(epsilon)
        size = abs(log_p - log_q) + (abs(bound) if math.isfinite(bound) else 0.0)
        slack = EPS * (8 + self.question.goal.size / 8 + 4 * size)
        return found.log_odds - (log_p - log_q) - slack, bound - (log_p - log_q) + slack, found

    def _best(self, epsilon: float) -> tuple[float, Attained]:
        """ln of the odds that no likelihood exceeds, and what one reaches."""
        question = self.question
        log_p, log_q = question.log_prior
        tables = LineTables(question, epsilon)
        low, high = tables.solve(log_p - log_q, max(epsilon * question.reach, EPS))
        if math.isinf(high):
            return high, Attained(math.inf, question, np.zeros(question.goal.size))
        return high, attained(question, tables.likelihood(low))


def line_belief(
    questions: Sequence[LineQuestion],
    shape: tuple[int, ...] = (),
    solver: type[LineSolver] = LineSolver,
    how: str = HOW,
) -> Belief:
    """The belief in goals of any intervals or atoms, one for each true value; k = ±ε gives attack and bound."""
    before = np.array([question.log_prior for question in questions]).T.reshape(2, *shape)
    solvers = [(solver(question), solver(question.complement)) for question in questions]
    which = np.arange(len(questions)).reshape(shape)
    step = questions[0].form.step

    def one(k: float, i: int) -> tuple[float, float]:
        attack, bound = solvers[i][int(k < 0)].gain(abs(float(k)))
        extra = abs(k) * step
        return (attack + extra, bound + extra) if k >= 0 else (-attack - extra, -bound - extra)

    def gain(k: Array) -> tuple[Array, Array]:
        k, at = np.broadcast_arrays(k, which)
        found = np.array(
            [one(float(rate), int(i)) for rate, i in zip(k.ravel(), at.ravel(), strict=True)]
        )
        attack, bound = np.moveaxis(found.reshape(*k.shape, 2), -1, 0)
        return np.asarray(attack), np.asarray(bound)

    return Belief(
        before[0], before[1], gain, how if questions[0].pieces.proven else how + CHECKED
    )


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
