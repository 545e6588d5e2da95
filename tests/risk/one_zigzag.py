"""One zigzag at one ε, stretch by stretch with plain numbers, a bisection in λ and a root for every turn.

The slow and obvious way to what `risk/zigzag.py` finds for many ε at once; it takes from there only where goal and rest
are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from guessproof.risk.roots import root
from guessproof.risk.zigzag import Component, components
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm


@dataclass(frozen=True)
class Stretch:
    """A part of goal or complement on which the distance has one slope, already multiplied by k."""

    prior: LinePrior
    start: float
    end: float
    goal: bool
    slope: float
    before: float  # the distance, times k, from the stretch before it

    @property
    def length(self) -> float:
        """The distance from start to end, times k."""
        return self.slope * (self.end - self.start) if self.slope else 0.0

    def from_start(self, sign: int, to: float) -> float:
        """ln ∫ e^{±k·(distance from the start)} f from the start up to a point."""
        return float(self.prior.log_tilt(sign * self.slope, self.start, to, self.start if self.slope else 0.0))

    def to_end(self, sign: int, start: float) -> float:
        """ln ∫ e^{±k·(distance from the end)} f from a point up to the end."""
        if self.slope and np.isinf(self.end):
            return sign * np.inf  # only asked where everything that follows is infinitely far
        return float(self.prior.log_tilt(-sign * self.slope, start, self.end, self.end if self.slope else 0.0))


def stretches(prior: LinePrior, form: LineForm, pieces: list[Component], k: float) -> list[Stretch]:
    """The pieces cut where ψ bends or jumps, in order, without empty ones."""
    found: list[Stretch] = []
    for start, end, goal in pieces:
        ends = [start, *(c for c in form.cuts if start < c < end), end]
        for a, b in pairwise(ends):
            if float(prior.log_tilt(0.0, a, b)) == -np.inf:
                continue
            before = k * (form.rise(found[-1].end, a) if found else 0.0)
            found.append(Stretch(prior, a, b, goal, k * form.slope_at(a), before))
    return found


def zigzag(prior: LinePrior, form: LineForm, pieces: list[Component], k: float) -> tuple[float, float]:
    """(attack, bound) of the gain at k > 0 for the goal marked in `pieces`."""
    parts = stretches(prior, form, pieces, k)
    inside, outside = (_log_mass(prior, pieces, goal) for goal in (True, False))
    low, high = 0.0, 1.0
    while not _suffices(parts, inside + high - outside):
        low, high = high, high * 2
        if high > 1e9:
            return np.inf, np.inf
    for _ in range(200):
        if high - low <= 1e-13 * (1 + high):
            break
        middle = 0.5 * (low + high)
        if _suffices(parts, inside + middle - outside):
            high = middle
        else:
            low = middle
    far = sum(s.before + s.length for s in parts if np.isfinite(s.length))
    noise = 1e-12 * (1 + high) + 4e-15 * far
    return max(low - noise, 0.0), high + noise


def _log_mass(prior: LinePrior, pieces: list[Component], goal: bool) -> float:
    return float(np.logaddexp.reduce([float(prior.log_tilt(0.0, a, b)) for a, b, g in pieces if g is goal]))


def _suffices(parts: list[Stretch], log_lambda: float) -> bool:
    """Whether posterior odds of λ let every piece of goal be carried; all quantities as logarithms."""
    rising, waiting = -np.inf, -np.inf
    for part in parts:
        rising, waiting = rising - part.before, waiting + part.before
        if part.goal:
            rising, waiting = _through_goal(part, rising, waiting)
        else:
            rising, waiting = _through_rest(part, rising, waiting, log_lambda)
    return waiting == -np.inf


def _through_goal(part: Stretch, rising: float, waiting: float) -> tuple[float, float]:
    if waiting > -np.inf:
        return -np.inf, float(np.logaddexp(waiting + part.length, part.to_end(+1, part.start)))
    if rising == -np.inf:
        return -np.inf, part.to_end(+1, part.start)
    need = part.from_start(+1, part.end)
    if need <= rising:
        return _minus(rising, need) - part.length, -np.inf
    peak = _where(lambda x: part.from_start(+1, x), rising, part)
    return -np.inf, part.to_end(+1, peak)


def _through_rest(part: Stretch, rising: float, waiting: float, log_lambda: float) -> tuple[float, float]:
    if waiting == -np.inf:
        return float(np.logaddexp(rising - part.length, log_lambda + part.to_end(-1, part.start))), -np.inf
    room = log_lambda + part.from_start(-1, part.end)
    if room < waiting:
        return -np.inf, _minus(waiting, room) + part.length
    valley = _where(lambda x: log_lambda + part.from_start(-1, x), waiting, part)
    return log_lambda + part.to_end(-1, valley), -np.inf


def _minus(x: float, y: float) -> float:
    """ln(e^x − e^y)."""
    if y == -np.inf or x == np.inf:
        return x
    return x + float(np.log(-np.expm1(y - x))) if y < x else -np.inf


def _where(amount: Callable[[float], float], target: float, part: Stretch) -> float:
    """The x up to which `amount`, rising in x, reaches the target; a bit short of it."""
    a, b = part.start, part.end
    if np.isinf(b):
        centre, quarter, three = (float(q) for q in part.prior.quantile([0.5, 0.25, 0.75]))
        edge, step = max(a, centre), three - quarter
        while amount(edge) < target and edge < 1e300:
            a, edge, step = edge, edge + step, 2 * step
        b = edge
    if amount(b) <= target:
        return b
    inner = np.nextafter(a, b)
    if amount(inner) >= target:
        return a
    return root(lambda x: amount(x) - target, float(inner), b)


def signed_zigzag(
    prior: LinePrior, form: LineForm, intervals: list[tuple[float, float]], k: float
) -> tuple[float, float]:
    """(attack, bound) of the signed gain; a loss is the gain of the complement."""
    if k == 0:
        return 0.0, 0.0
    pieces = components(prior, intervals)
    if k < 0:
        pieces = [(a, b, not goal) for a, b, goal in pieces]
    attack, bound = zigzag(prior, form, pieces, abs(k))
    return (attack, bound) if k > 0 else (-attack, -bound)
