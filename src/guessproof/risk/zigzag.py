"""Several intervals of correct guesses on the line: the exact answer.

The best likelihood zigzags, e^{±kψ} between peaks inside the goal and valleys outside. Dually, mass of the goal
is carried to the complement, a distance d away at a price of e^{kd}, loading no point beyond λ times its prior:
if that can be done, no posterior odds exceed λ. On a line carriers never cross, and everything left of a
point is worth one amount to it, so one sweep from left to right decides whether λ suffices:

    rising    λ·capacity left behind, worth e^{−kd} a distance d further on, serves the goal ahead until it runs out;
    waiting   goal left behind, costing e^{+kd} a distance d further on, waits for capacity ahead until it is served.

The least λ that suffices is both the bound and, through its peaks and valleys, the attack. The line is cut wherever ψ
bends or jumps, and both amounts are counted in the units of the place that the sweep has reached: however much dearer
the other side of a jump is, nothing depends on a point that is nearer to it than floating point can say.

Many k and λ are swept at once. What whole stretches amount to is the same for every λ; only the points where capacity
runs out, and where what waited is served, are looked for again, from where they were for the λ before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.roots import crossings
from guessproof.world.checks import Array, Mask
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

Component = tuple[float, float, bool]  # from, to, whether it belongs to the goal


def components(prior: LinePrior, intervals: list[tuple[float, float]]) -> list[Component]:
    """The support cut into goal and complement, in order, without empty pieces."""
    low, high = prior.support
    pieces: list[Component] = []
    at = low
    for a, b in intervals:
        a, b = max(a, low), min(b, high)
        if b <= a:
            continue
        pieces += [(at, a, False), (a, b, True)]
        at = b
    pieces.append((at, high, False))
    return [p for p in pieces if p[1] > p[0] and float(prior.log_tilt(0.0, p[0], p[1])) > -np.inf]


def left_out(prior: LinePrior, intervals: list[tuple[float, float]]) -> tuple[float, float] | None:
    """The one interval that two others, which reach to both ends of what is possible, leave between them."""
    pieces = components(prior, intervals)
    return pieces[1][:2] if [goal for *_, goal in pieces] == [True, False, True] else None


Places = NDArray[np.intp]  # of some k among all

# How close the λ that suffices and the one that does not are brought, as logarithms; and where many are to be known.
_WITHIN, _WITHIN_OF_MANY = 1e-13, 1e-10
_NEVER = 1e9  # a gain beyond which none is looked for
_ULPS = 4.5e-16  # the share of a number within which no two steps lead to different ones
_TRUSTED, _STEPS = 8, 200  # steps that may all be Newton's, of those after them every other one halves what is left
# The share by which capacity and what it serves may differ at a turn, for formulas and for quadratures: λ is off by no
# larger one for each turn.
_NEAR, _NEAR_BY_QUADRATURE = 1e-14, 1e-13


@dataclass(frozen=True)
class Stretch:
    """A part of goal or complement on which the distance has one slope."""

    prior: LinePrior
    start: float
    end: float
    goal: bool
    slope: float
    before: float  # the distance from the stretch before it

    @property
    def length(self) -> float:
        """The distance from start to end."""
        return self.slope * (self.end - self.start) if self.slope else 0.0

    @property
    def sign(self) -> int:
        """Goal is dearer, and capacity worth less, the further it is from where it is counted."""
        return 1 if self.goal else -1

    def from_start(self, k: Array, to: Array | float) -> Array:
        """ln ∫ e^{±k·(distance from the start)} f from the start up to a point."""
        return self.prior.log_tilt(self.sign * k * self.slope, self.start, to, self.start if self.slope else 0.0)

    def to_end(self, k: Array, start: Array | float) -> Array:
        """ln ∫ e^{±k·(distance from the end)} f from a point up to the end."""
        if self.slope and np.isinf(self.end):  # only asked where everything that follows is infinitely far
            return np.full(k.shape, self.sign * np.inf)
        return self.prior.log_tilt(-self.sign * k * self.slope, start, self.end, self.end if self.slope else 0.0)

    def steepness(self, k: Array, to: Array, amount: Array) -> Array:
        """How fast `from_start`, which is this amount, rises at a point."""
        return np.exp(self.sign * k * self.slope * (to - self.start) + self.prior.log_density(to) - amount)

    def where(self, k: Array, target: Array, guess: Array) -> Array:
        """The point up to which `from_start` reaches a target that all of the stretch reaches."""
        low, high = np.full(k.shape, float(self.start)), self._beyond(k, target)
        x = np.where((guess > low) & (guess < high), guess, 0.5 * low + 0.5 * high)
        open_, near = np.arange(k.size), _NEAR_BY_QUADRATURE if self.prior.by_quadrature else _NEAR
        for step in range(_STEPS):
            at, rate, wanted = x[open_], k[open_], target[open_]
            amount = self.from_start(rate, at)
            off = amount - wanted
            low[open_], high[open_] = np.where(off < 0, at, low[open_]), np.where(off < 0, high[open_], at)
            # Newton's step for the logarithm, seen from below; from above one in ln x, which never passes the start.
            steep, along = self.steepness(rate, at, amount), at - self.start
            newton = np.where(off < 0, at - off / steep, self.start + along * np.exp(-off / (steep * along)))
            halved = 0.5 * low[open_] + 0.5 * high[open_]
            inside = (newton > low[open_]) & (newton < high[open_])
            x[open_] = np.where(inside & (step < _TRUSTED or step % 2 == 0), newton, halved)
            done = (np.abs(off) <= near * (1 + np.abs(wanted))) | (np.abs(x[open_] - at) <= _ULPS * np.abs(at))
            x[open_] = np.where(done, at, x[open_])
            open_ = open_[~done]
            if not open_.size:
                break
        return x

    def _beyond(self, k: Array, target: Array) -> Array:
        """A point at which the target is reached; the end, where there is one."""
        if np.isfinite(self.end):
            return np.full(k.shape, float(self.end))
        centre, quarter, three = (float(q) for q in self.prior.quantile([0.5, 0.25, 0.75]))
        edge, step = np.full(k.shape, max(self.start, centre)), three - quarter
        while np.any(short := (self.from_start(k, edge) < target) & (edge < 1e300)):
            edge, step = np.where(short, edge + step, edge), 2 * step
        return edge


def stretches(prior: LinePrior, form: LineForm, pieces: list[Component]) -> list[Stretch]:
    """The pieces cut where ψ bends or jumps, in order, without empty ones."""
    found: list[Stretch] = []
    for start, end, goal in pieces:
        ends = [start, *(c for c in form.cuts if start < c < end), end]
        for a, b in pairwise(ends):
            if float(prior.log_tilt(0.0, a, b)) == -np.inf:
                continue
            before = form.rise(found[-1].end, a) if found else 0.0
            found.append(Stretch(prior, a, b, goal, form.slope_at(a), before))
    return found


@dataclass(eq=False)
class Memory:
    """What is known of some k: between which two λ, as gains, the least that suffices lies, and where the turns are.

    A gain rises with k: neighbours enclose it, and their turns are near.
    """

    k: Array = field(default_factory=lambda: np.empty(0))
    ends: Array = field(default_factory=lambda: np.empty((2, 0)))
    turns: Array = field(default_factory=lambda: np.empty((0, 0)))

    def around(self, k: Array, sweep: Sweep) -> tuple[Array, Array]:
        """A gain that is not reached, one that perhaps suffices; and the sweep is told where to look for turns."""
        low, high = np.zeros(k.shape), np.clip(0.3 * k * sweep.reach, _WITHIN, 1.0)
        if not self.k.size:
            return low, high
        place = np.searchsorted(self.k, k)
        before, after = np.maximum(place - 1, 0), np.minimum(place, self.k.size - 1)
        nearest = np.where(k * k < self.k[before] * self.k[after], before, after)
        for turns, known in zip(sweep.turns, self.turns, strict=True):
            turns[:] = known[nearest]
        below, above = np.where(place > 0, self.ends[0][before], 0.0), self.ends[1][after]
        above = np.where(place < self.k.size, above, above * (k / self.k[-1]))
        # What has no end is looked for again: a neighbour may have one.
        return np.where(below <= _NEVER, below, low), np.where(above <= _NEVER, above, np.maximum(high, 2 * below))

    def learn(self, k: Array, ends: Array, turns: list[Array]) -> None:
        """Keep what was found."""
        every = np.concatenate([self.k, k])
        order = np.argsort(every)
        self.k, self.ends = every[order], np.concatenate([self.ends, ends], axis=1)[:, order]
        found = np.stack(turns)
        self.turns = (np.concatenate([self.turns, found], axis=1) if self.turns.size else found)[:, order]


def zigzag(
    prior: LinePrior, form: LineForm, pieces: list[Component], k: Array, memory: Memory | None = None
) -> tuple[Array, Array]:
    """(attack, bound) of the gain at each k > 0 for the goal marked in `pieces`."""
    inside, outside = (_log_mass(prior, pieces, goal) for goal in (True, False))
    sweep = Sweep(stretches(prior, form, pieces), k, inside - outside)
    within, memory = (_WITHIN, Memory()) if memory is None else (_WITHIN_OF_MANY, memory)
    low, high = memory.around(k, sweep)
    at_low, at_high, open_ = np.full(k.shape, np.nan), np.empty(k.shape), np.arange(k.size)
    while open_.size:
        at_high[open_] = sweep.spare(high[open_], open_)
        open_ = open_[at_high[open_] < 0]
        low[open_], at_low[open_], high[open_] = high[open_], at_high[open_], 2 * high[open_]
        open_ = open_[high[open_] <= _NEVER]
    first, known = np.flatnonzero(np.isnan(at_low)), np.flatnonzero(high <= _NEVER)
    at_low[first] = np.minimum(sweep.spare(low[first], first), -1e-300)  # less gains less, whatever rounding says
    values, ends = (at_low[known], at_high[known]), np.full((2, *k.shape), np.inf)

    def spare(gain: Array, some: Places) -> Array:
        return sweep.spare(gain, known[some])

    ends[:, known] = _in_steps(spare, *crossings(spare, low[known], high[known], values, within), within)
    memory.learn(k, ends, sweep.turns)
    low, high = ends
    noise = 1e-12 * (1 + high) + 4e-15 * k * sweep.far
    return np.where(np.isinf(high), high, np.maximum(low - noise, 0.0)), high + noise


def _in_steps(spare: Callable[[Array, Places], Array], low: Array, high: Array, within: float) -> tuple[Array, Array]:
    """The same two gains moved apart to the nearest steps, so that they do not depend on how they were found.

    Else a bound might fall where k rises by less than its last digits.
    """
    step = np.exp2(np.ceil(np.log2(within * (1 + high))))
    below = np.floor(high / step) * step
    between = np.flatnonzero((low < below) & (below < high))
    enough = np.zeros(low.shape, dtype=bool)
    enough[between] = spare(below[between], between) >= 0
    below = np.where(enough | (below == high), below - step, below)
    return np.maximum(below, 0.0), below + step


def _log_mass(prior: LinePrior, pieces: list[Component], goal: bool) -> float:
    return float(np.logaddexp.reduce([float(prior.log_tilt(0.0, a, b)) for a, b, g in pieces if g is goal]))


@dataclass(frozen=True, eq=False)
class Sweep:
    """From left to right over all stretches, for some k each with its own λ; all amounts as logarithms."""

    parts: list[Stretch]
    k: Array
    before: float  # the log-odds
    turns: list[Array] = field(default_factory=list[Array])  # by stretch and k: where a peak or a valley was last

    def __post_init__(self) -> None:
        self.turns.extend(np.full(self.k.shape, np.nan) for _ in self.parts)

    @property
    def far(self) -> float:
        """The length of all stretches that are finite."""
        return sum(p.before + p.length for p in self.parts if np.isfinite(p.length))

    @property
    def reach(self) -> float:
        """About how far the bulk of the prior reaches."""
        low, high = self.parts[0].prior.quantile([0.1, 0.9])
        return float(high - low) * max(p.slope for p in self.parts) + max(p.before for p in self.parts)

    @cached_property
    def _whole(self) -> list[tuple[Array, Array]]:
        """What each stretch amounts to at its start and at its end."""
        empty = np.full(self.k.shape, -np.inf)  # a first stretch is only counted at its end
        return [
            (empty if np.isinf(p.start) else p.from_start(self.k, p.end), p.to_end(self.k, p.start)) for p in self.parts
        ]

    def spare(self, gain: Array, some: Places) -> Array:
        """Whether odds of λ, so much above the prior ones, let every piece of goal be carried: 0 or more if so.

        Between −1 and 1, rising with λ: by how much what is there exceeds what is asked for at the last stretch.
        """
        k, log_lambda = self.k[some], self.before + gain
        rising, waiting = np.full((2, *k.shape), -np.inf)
        for i, part in enumerate(self.parts[:-1]):
            rising, waiting = rising - k * part.before, _further(waiting, k * part.before)
            at_start, at_end = (whole[some] for whole in self._whole[i])
            amounts = (at_start, at_end) if part.goal else (log_lambda + at_start, log_lambda + at_end)
            through = self._through_goal if part.goal else self._through_rest
            rising, waiting = through(i, some, (rising, waiting), amounts, log_lambda)
        last, amount = self.parts[-1], self._whole[-1][0][some]
        rising, waiting = rising - k * last.before, _further(waiting, k * last.before)
        if last.goal:
            return np.where(np.isneginf(waiting), _compared(rising, amount), -1.0)
        return np.where(np.isneginf(waiting), 1.0, _compared(log_lambda + amount, waiting))

    def _through_goal(
        self, i: int, some: Places, state: tuple[Array, Array], whole: tuple[Array, Array], log_lambda: Array
    ) -> tuple[Array, Array]:
        del log_lambda
        part, k, (rising, waiting), (need, left) = self.parts[i], self.k[some], state, whole
        length = k * part.length
        served = np.isneginf(waiting) & (need <= rising) & (rising > -np.inf)
        carried = np.logaddexp(_further(waiting, length), left)
        turning = np.flatnonzero(np.isneginf(waiting) & ~served & (rising > -np.inf))
        if turning.size:
            peak = self._turn(i, some, turning, rising[turning])
            carried[turning] = part.to_end(k[turning], peak)
        rising = np.where(served, _minus(rising, need) - length, -np.inf)
        return rising, np.where(served, -np.inf, carried)

    def _through_rest(
        self, i: int, some: Places, state: tuple[Array, Array], whole: tuple[Array, Array], log_lambda: Array
    ) -> tuple[Array, Array]:
        part, k, (rising, waiting), (room, left) = self.parts[i], self.k[some], state, whole
        length = k * part.length
        idle, short = np.isneginf(waiting), room < waiting
        gained = np.logaddexp(rising - length, left)
        turning = np.flatnonzero(~idle & ~short)
        if turning.size:
            valley = self._turn(i, some, turning, (waiting - log_lambda)[turning])
            gained[turning] = log_lambda[turning] + part.to_end(k[turning], valley)
        short &= ~idle
        return np.where(short, -np.inf, gained), np.where(short, _minus(waiting, room) + length, -np.inf)

    def _turn(self, i: int, some: Places, turning: Places, target: Array) -> Array:
        places = some[turning]
        found = self.parts[i].where(self.k[places], target, self.turns[i][places])
        self.turns[i][places] = found
        return found


def _further(waiting: Array, length: Array | float) -> Array:
    """What waits, further on; nothing stays nothing however far that is."""
    return np.where(np.isneginf(waiting), -np.inf, waiting + length)


def _compared(there: Array, asked: Array) -> Array:
    """By how much there is more than is asked for, as a share of both."""
    return np.where(np.isneginf(there) | np.isposinf(asked), -1.0, np.tanh(0.5 * (there - asked)))


def _minus(x: Array, y: Array) -> Array:
    """ln(e^x − e^y), −∞ where nothing is left."""
    whole: Mask = np.isneginf(y) | np.isposinf(x)
    return np.where(whole, x, np.where(y < x, x + np.log(-np.expm1(np.minimum(y - x, 0.0))), -np.inf))


def signed_zigzag(
    prior: LinePrior,
    form: LineForm,
    intervals: list[tuple[float, float]],
    k: Array,
    memories: tuple[Memory, Memory] | None = None,
) -> tuple[Array, Array]:
    """(attack, bound) of the signed gain at each k; a loss is the gain of the complement."""
    pieces, found = components(prior, intervals), np.zeros((2, *k.shape))
    for sign, some, memory in zip((1, -1), (k > 0, k < 0), memories or (None, None), strict=True):
        if not some.any():
            continue
        marked = pieces if sign > 0 else [(a, b, not goal) for a, b, goal in pieces]
        with np.errstate(all="ignore"):  # far out, integrals end at 0 or infinity, as they should
            found[:, some] = sign * np.stack(zigzag(prior, form, marked, np.abs(k[some]), memory))
    return found[0], found[1]


def region_log_prior(prior: LinePrior, intervals: list[tuple[float, float]]) -> tuple[Array, Array]:
    """ln P and ln(1 − P) of a union of intervals."""
    pieces = components(prior, intervals)
    inside = [float(prior.log_tilt(0.0, a, b)) for a, b, goal in pieces if goal]
    outside = [float(prior.log_tilt(0.0, a, b)) for a, b, goal in pieces if not goal]
    log_p, log_q = (np.asarray(np.logaddexp.reduce(part) if part else -np.inf) for part in (inside, outside))
    return log_p, log_q
