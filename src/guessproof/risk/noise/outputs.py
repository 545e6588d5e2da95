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
OUTER = 16  # outputs on either side at first, for each doubling of the distance
NEAREST = 0.05  # the first of them, in units
STEEP = 3.0  # beyond this distance the slope of a density with heavy tails falls
REACHES = (
    8.0,
    32.0,
    128.0,
    FURTHEST,
)  # how far beyond the goal outputs go, in units; further where that decides
SURE = 25.0  # log-odds at which a belief is 1 for all that matters
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
        hull = np.min(self.cells.node), np.max(self.cells.node)
        goal = np.min(self.cells.low[self.inside]), np.max(self.cells.high[self.inside])
        best = bound = beyond = -np.inf
        for reach in REACHES:
            ends = outputs_over(np.clip(goal, *hull), reach, self.cells.unit)
            if self.law.is_proportional:  # beyond all answers nothing changes
                ends = np.clip(ends, hull[0], max(hull[1], hull[0] + self.cells.unit))
            sides = (ends[0], goal[0], -1, hull[0]), (ends[-1], goal[1], 1, hull[1])
            beyond = max(self._beyond(*side) for side in sides)
            found = self._divided(
                ends, lambda b, least=beyond: b.high > max(*b.reached, least) + tolerance, 0.0
            )
            best, bound = float(np.max(found.reached)), float(np.max(found.high))
            if beyond <= best + tolerance or best > SURE:
                break
        return best, max(best, bound, beyond + self.room)

    def exceeded(self, failure: float, at: float | None) -> tuple[float, float]:
        """The smallest v with P(belief − prior > v) ≤ failure, from below and from above.

        Outputs are drawn for an answer `at` without noise, or with the truth drawn from the prior.
        """

        def gains(found: OutputBeliefs) -> list[Array]:
            return [expit(side) - self.prior for side in (found.low, found.high)]

        def quantiles(found: OutputBeliefs) -> tuple[float, float]:
            masses = np.append(found.mass, found.beyond)
            low, high = gains(found)
            least = quantile(np.append(low, -self.prior), masses, failure)
            return least, quantile(np.append(high, 1 - self.prior), masses, failure)

        def is_open(found: OutputBeliefs) -> Mask:
            (low, high), (least, most) = gains(found), quantiles(found)
            near = (high > least) & (low <= most) & (found.mass > LIKELY * failure)
            return (
                near & (high - low > CLOSE * np.abs(high)) & (most - least > CLOSE * abs(most))
            )

        return quantiles(self._divided(self._drawn(LEFT_OUT * failure, at), is_open, at))

    def failing(
        self, level: float, at: float | None, slack: float = 0.0
    ) -> tuple[float, float]:
        """P(belief > level), from below and from above; outputs drawn as in `exceeded`, `slack` is of the belief."""

        def is_open(found: OutputBeliefs) -> Mask:
            return (
                (expit(found.high) > level - slack)
                & (expit(found.low) <= level + slack)
                & (found.mass > LIKELY)
            )

        found = self._divided(self._drawn(LIKELY, at), is_open, at)
        low = float(np.sum(found.mass[expit(found.low) > level + slack]))
        high = float(np.sum(found.mass[expit(found.high) > level - slack]))
        return low, min(high + found.beyond, 1.0)

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
        i, j, goal = where[: left.size], where[left.size :], (self.first, self.past)
        bounds = np.full((2, 3, left.size), -np.inf)
        for tilt in self.tilts:
            table = tabled(self.law, self.cells, outputs, tilt)
            for k, pair in enumerate(((i, j), (i, i), (j, j))):
                sides = table.lower(*pair, goal), table.upper(*pair, goal) + self.room
                bounds[:, k] = np.maximum(bounds[:, k], np.reshape(sides, (2, -1)))
        (low, *reached), (high, *most) = bounds
        with np.errstate(invalid="ignore"):
            gap = np.nan_to_num(np.max(np.subtract(most, reached), axis=0), posinf=0.0)
        mass = (
            self._mass(left, right) if at is None else self.law.between(left - at, right - at)
        )
        return OutputBeliefs(left, right, low, high, np.max(reached, axis=0), gap, mass)

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
        with np.errstate(all="ignore"):
            if law.is_log_concave:
                outer = cells.low >= near if side > 0 else cells.high <= near
                tables = [tabled(law, cells, np.array([output]), tilt) for tilt in self.tilts]
                sums = [
                    (np.diff(t.high[0])[self.inside], np.diff(t.low[0])[outer & ~self.inside])
                    for t in tables
                ]
            else:
                ends = [
                    law.log_likelihood(output, answers, 0.0)
                    for answers in (cells.low, cells.high)
                ]
                rest = np.minimum(
                    np.minimum(*ends) - law.log_likelihood(output, near, 0.0), 0.0
                )
                sums = [
                    (
                        np.exp(cells.log_mass[self.inside]),
                        np.exp(cells.log_mass + rest)[~self.inside],
                    )
                ]
            return float(
                np.max([np.log(np.sum(goal)) - np.log(np.sum(other)) for goal, other in sums])
            )

    def _mass(self, left: Array, right: Array) -> Array:
        """P(output in each cell) with the truth drawn from the prior."""
        weight, answers = np.exp(self.cells.log_weight).ravel(), self.cells.node.ravel()
        chunk = max(1, ROWS // answers.size)
        rows = [slice(i, i + chunk) for i in range(0, left.size, chunk)]
        parts = [
            self.law.between(left[row, None] - answers, right[row, None] - answers) @ weight
            for row in rows
        ]
        return np.concatenate(parts)


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
