"""Several intervals of correct guesses beside a density: what the sweep asks of it.

The line is cut wherever ψ bends or jumps, so that a stretch is a tilted integral: however much dearer the other side of
a jump is, nothing depends on a point that is nearer to it than floating point can say.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from guessproof.risk.sweep import Line, Memories, Memory, Places, of_both_signs, zigzag
from guessproof.world.checks import Array
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


_ULPS = 4.5e-16  # the share of a number within which no two steps lead to different ones
_TRUSTED, _STEPS = 8, 200  # steps that may all be Newton's, of those after them every other one halves what is left
# The share by which capacity and what it serves may differ at a turn, for formulas and for quadratures: λ is off by no
# larger one for each turn.
_NEAR, _NEAR_BY_QUADRATURE = 1e-14, 1e-13


@dataclass(frozen=True)
class DensityStretch:
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

    def amounts(self, k: Array) -> Integrals:
        """What it amounts to for these k."""
        return Integrals(self, k)

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


@dataclass(frozen=True, eq=False)
class Integrals:
    """What a stretch of a density amounts to."""

    part: DensityStretch
    k: Array

    def whole(self) -> tuple[Array, Array]:
        """All of it; a first stretch is only counted at its end."""
        part, k = self.part, self.k
        at_start = np.full(k.shape, -np.inf) if np.isinf(part.start) else part.from_start(k, part.end)
        return at_start, part.to_end(k, part.start)

    def turned(self, some: Places, target: Array, guess: Array) -> tuple[Array, Array]:
        """Where it turns, and what is left."""
        at = self.part.where(self.k[some], target, guess)
        return at, self.part.to_end(self.k[some], at)


def density_line(prior: LinePrior, form: LineForm, pieces: list[Component]) -> Line:
    """Goal and complement as they are marked in `pieces`."""
    parts = stretches(prior, form, pieces)
    inside, outside = (_log_mass(prior, pieces, goal) for goal in (True, False))
    low, high = prior.quantile([0.1, 0.9])
    reach = float(high - low) * max(p.slope for p in parts) + max(p.before for p in parts)
    return Line(parts, inside - outside, reach)


def stretches(prior: LinePrior, form: LineForm, pieces: list[Component]) -> list[DensityStretch]:
    """The pieces cut where ψ bends or jumps, in order, without empty ones."""
    found: list[DensityStretch] = []
    for start, end, goal in pieces:
        ends = [start, *(c for c in form.cuts if start < c < end), end]
        for a, b in pairwise(ends):
            if float(prior.log_tilt(0.0, a, b)) == -np.inf:
                continue
            before = form.rise(found[-1].end, a) if found else 0.0
            found.append(DensityStretch(prior, a, b, goal, form.slope_at(a), before))
    return found


def _log_mass(prior: LinePrior, pieces: list[Component], goal: bool) -> float:
    return float(np.logaddexp.reduce([float(prior.log_tilt(0.0, a, b)) for a, b, g in pieces if g is goal]))


def signed_zigzag(
    prior: LinePrior,
    form: LineForm,
    intervals: list[tuple[float, float]],
    k: Array,
    memories: Memories | None = None,
) -> tuple[Array, Array]:
    """(attack, bound) of the signed gain at each k; a loss is the gain of the complement."""
    pieces = components(prior, intervals)

    def gain(sign: int, k: Array, memory: Memory | None) -> tuple[Array, Array]:
        marked = pieces if sign > 0 else [(a, b, not goal) for a, b, goal in pieces]
        return zigzag(density_line(prior, form, marked), k, memory)

    return of_both_signs(gain, k, memories)


def region_log_prior(prior: LinePrior, intervals: list[tuple[float, float]]) -> tuple[Array, Array]:
    """ln P and ln(1 − P) of a union of intervals."""
    pieces = components(prior, intervals)
    inside = [float(prior.log_tilt(0.0, a, b)) for a, b, goal in pieces if goal]
    outside = [float(prior.log_tilt(0.0, a, b)) for a, b, goal in pieces if not goal]
    log_p, log_q = (np.asarray(np.logaddexp.reduce(part) if part else -np.inf) for part in (inside, outside))
    return log_p, log_q
