"""One goal seen through noise: its log-odds at outputs, between outputs, and beyond them.

Outputs are cut into cells, and a cell is divided where its bounds matter and are not yet close. Beyond the last output,
noise with a log-concave density gives the goal ever smaller odds against what lies beyond it on that side. Cauchy noise
tells ever less there: further out each answer's likelihood rises in proportion to that of the goal's nearest answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from guessproof.risk.noise.cells import FURTHEST, ROWS, Cells, NoiseLaw, Tilt, tabled
from guessproof.world.checks import Array, Mask
from guessproof.world.special import expit

DENSE = 8.0  # outputs in a unit, within the answers at first
MOST_OUTPUTS = 12_000  # what is open then stays in the bound
OUTER = 40  # outputs on either side at first, for each doubling of the distance
NEAREST = 0.05  # the first of them, in units
# How far beyond the goal outputs go, in units; further where that decides.
REACHES = 8.0, 32.0, 128.0, FURTHEST
SURE = 25.0  # log-odds at which a belief is 1 for all that matters
STEEP = 3.0  # beyond this distance the slope of a density with heavy tails falls
ROUNDS = 30  # of halving cells of outputs
CLOSE = 4e-3  # relative width of a quantile that is narrow enough
RESOLVED = 1.5  # times what is not known of the log-odds at an output; narrower cells of outputs do not help
LEFT_OUT = 1e-3  # of a failure probability: noise further out is taken to tell everything
LIKELY = 1e-7  # cells of outputs less likely than this are not divided


class OutputBeliefs(NamedTuple):
    """Cells of outputs: the least and the largest log-odds in each, and the same at its ends; its probability."""

    left: Array
    right: Array
    low: Array
    high: Array
    reached: Array
    gap: Array  # how well the log-odds at the ends are known
    mass: Array

    @property
    def beyond(self) -> float:
        """The probability of all other outputs."""
        return max(0.0, 1 - float(np.sum(self.mass)))


Interest = Callable[[OutputBeliefs], Mask]


@dataclass(frozen=True, eq=False)
class View:
    """One goal (the cells from `first` to before `past`), seen through noise and tilted by other releases.

    Of several tilts the worst counts, and `room` is how much more the log-odds may be between them.
    """

    law: NoiseLaw
    cells: Cells
    first: int
    past: int
    tilts: tuple[Tilt, ...] = (0.0,)
    room: float = 0.0

    @cached_property
    def inside(self) -> Mask:
        """Which cells are in the goal."""
        place = np.arange(len(self.cells.left))
        return (place >= self.first) & (place < self.past)

    @property
    def prior(self) -> float:
        """The belief before the output."""
        return float(self.cells.mass((self.first, self.past)))

    def largest(self, tolerance: float) -> tuple[float, float]:
        """The largest log-odds over all outputs: reached, and never exceeded."""
        low, high = np.min(self.cells.node), np.max(self.cells.node)
        goal = np.min(self.cells.low[self.inside]), np.max(self.cells.high[self.inside])
        best = bound = beyond = np.inf
        for reach in REACHES:
            ends = outputs_over(np.clip(goal, low, high), reach, self.cells.unit)
            if self.law.is_proportional:  # beyond all answers nothing changes
                ends = np.clip(ends, low, max(high, low + self.cells.unit))
            left = self._beyond(ends[0], goal[0], -1, low)
            least = max(left, self._beyond(ends[-1], goal[1], 1, high))
            found = self._divided(
                ends, lambda b, least=least: b.high > max(*b.reached, least) + tolerance, 0.0
            )
            best, bound, beyond = float(np.max(found.reached)), float(np.max(found.high)), least
            if beyond <= best + tolerance or best > SURE:
                break
        return best, max(best, bound, beyond + self.room)

    def exceeded(self, failure: float, at: float | None) -> tuple[float, float]:
        """The smallest v with P(belief − prior > v) ≤ failure, from below and from above.

        Outputs are drawn for an answer `at` without noise, or with the truth drawn from the prior.
        """

        def beliefs(found: OutputBeliefs) -> tuple[Array, Array, float, float]:
            low, high = expit(found.low), expit(found.high)
            masses = np.append(found.mass, found.beyond)
            least = quantile(np.append(low, 0.0), masses, failure)
            return low, high, least, quantile(np.append(high, 1.0), masses, failure)

        def is_open(found: OutputBeliefs) -> Mask:
            low, high, least, most = beliefs(found)
            near = (high > least) & (low <= most) & (found.mass > LIKELY * failure)
            near &= high - low > CLOSE * np.abs(high - self.prior)
            return near & (most - least > CLOSE * abs(most - self.prior))

        *_, low, high = beliefs(self._divided(self._drawn(LEFT_OUT * failure, at), is_open, at))
        return low - self.prior, high - self.prior

    def failing(
        self, level: float, at: float | None, slack: float = 0.0
    ) -> tuple[float, float]:
        """P(belief > level), from below and from above; outputs drawn as in `exceeded`, `slack` is of the belief."""

        def sure(found: OutputBeliefs) -> Mask:
            return expit(found.low) > level + slack

        def possible(found: OutputBeliefs) -> Mask:
            return expit(found.high) > level - slack

        found = self._divided(
            self._drawn(LIKELY, at), lambda b: possible(b) & ~sure(b) & (b.mass > LIKELY), at
        )
        high = float(np.sum(found.mass[possible(found)])) + found.beyond
        return float(np.sum(found.mass[sure(found)])), min(high, 1.0)

    def _divided(self, ends: Array, is_open: Interest, at: float | None) -> OutputBeliefs:
        """Cells of outputs, halved where they are of interest."""
        ends = np.unique(ends)
        found = self._beliefs(ends[:-1], ends[1:], at)
        for _ in range(ROUNDS):
            with np.errstate(invalid="ignore"):
                wide = is_open(found) & (found.high - found.low > RESOLVED * found.gap)
            if not wide.any() or wide.size > MOST_OUTPUTS:
                break
            left, right = found.left[wide], found.right[wide]
            middle = left / 2 + right / 2
            fresh = self._beliefs(np.append(left, middle), np.append(middle, right), at)
            kept = (side[~wide] for side in found)
            found = OutputBeliefs(*(np.append(*pair) for pair in zip(kept, fresh, strict=True)))
        return found

    def _beliefs(self, left: Array, right: Array, at: float | None) -> OutputBeliefs:
        outputs, where = np.unique(np.append(left, right), return_inverse=True)
        i, j = where.reshape(2, -1)
        goal = self.first, self.past
        low, high = np.full((2, 3, left.size), -np.inf)
        for tilt in self.tilts:
            table = tabled(self.law, self.cells, outputs, goal, tilt)
            for k, pair in enumerate(((i, j), (i, i), (j, j))):
                low[k] = np.maximum(low[k], table.lower(*pair, goal)[0])
                high[k] = np.maximum(high[k], table.upper(*pair, goal)[0] + self.room)
        with np.errstate(invalid="ignore"):
            gap = np.nan_to_num(np.max(high[1:] - low[1:], axis=0), posinf=0.0)
        mass = (
            self._mass(left, right) if at is None else self.law.between(left - at, right - at)
        )
        return OutputBeliefs(left, right, low[0], high[0], np.max(low[1:], axis=0), gap, mass)

    def _drawn(self, left_out: float, at: float | None) -> Array:
        """Outputs that are drawn but for a small probability."""
        likely = self.cells.likely(left_out / 4) if at is None else (at, at)
        return outputs_over(likely, self.law.reach(left_out), 1.0)

    def _beyond(self, output: float, near: float, side: int, end: float) -> float:
        """The largest log-odds that outputs beyond this one on one side can give; `near` is the goal's last answer."""
        cells, law = self.cells, self.law
        if law.is_proportional and side * (output - end) >= 0:
            return -np.inf
        if not law.is_log_concave and side * (output - near) < STEEP:
            return np.inf
        inside = self.inside
        found = -np.inf
        with np.errstate(all="ignore"):
            if not law.is_log_concave:
                ends = [law.log_likelihood(output, a, 0.0) for a in (cells.low, cells.high)]
                nearest = law.log_likelihood(output, near, 0.0)
                rest = cells.log_mass + np.minimum(np.minimum(*ends) - nearest, 0.0)
                return _log_sum(cells.log_mass[inside]) - _log_sum(rest[~inside])
            outer = (cells.low >= near if side > 0 else cells.high <= near) & ~inside
            every = np.arange(outer.size)
            for tilt in self.tilts:
                table = tabled(law, cells, np.array([output]), every, tilt)
                goal, other = np.log(np.diff(table.high[0])), np.log(np.diff(table.low[0]))
                found = max(found, _log_sum(goal[inside]) - _log_sum(other[outer]))
        return found

    def _mass(self, left: Array, right: Array) -> Array:
        """P(output in each cell) with the truth drawn from the prior."""
        weight, answers = np.exp(self.cells.log_weight).ravel(), self.cells.node.ravel()
        parts = max(1, left.size * answers.size // ROWS)
        rows = zip(np.array_split(left, parts), np.array_split(right, parts), strict=True)
        masses = [
            self.law.between(a[:, None] - answers, b[:, None] - answers) @ weight
            for a, b in rows
        ]
        return np.concatenate(masses)


def _log_sum(logs: Array) -> float:
    """ln of a sum."""
    return float(np.logaddexp.reduce(logs, initial=-np.inf))


def outputs_over(answers: Any, reach: float, unit: float) -> Array:
    """Outputs from the first to the last of two answers, and beyond them up to a distance, in units."""
    low, high = answers
    beyond = unit * np.geomspace(NEAREST, reach, int(OUTER * np.log2(max(reach, 2.0))))
    many = int(np.clip((high - low) * DENSE / unit, 2, MOST_OUTPUTS / 4))
    return np.concatenate([low - beyond[::-1], np.linspace(low, high, many), high + beyond])


def quantile(values: Array, masses: Array, failure: float) -> Any:
    """The smallest v of the values (of each column) with P(value > v) ≤ failure."""
    order = np.argsort(-values, axis=0)
    above = np.cumsum(np.take_along_axis(masses, order, axis=0), axis=0)
    place = np.minimum(np.sum(above <= failure, axis=0), len(values) - 1)
    return np.take_along_axis(values, np.take_along_axis(order, place[None], axis=0), axis=0)[0]
