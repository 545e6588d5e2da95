"""Goals seen through noise: their log-odds at outputs, between outputs, and beyond them.

Between two outputs ln of a weight is convex in y for normal noise: at most its chord, at least the lines through the
outputs on either side. For other noise it is Lipschitz. Cells of outputs are halved where their bounds matter.

Beyond the last output on one side, noise with a log-concave density gives the goal ever smaller odds against what lies
beyond it there, and noise with exponential tails no larger ones against the rest. Cauchy noise tells ever less there:
further out each answer's likelihood rises in proportion to that of the goal's nearest answer.

The mean of L over a cell is a Gauss–Legendre sum of n nodes, whose relative error is at most

    (n!)⁴ / ((2n+1)·((2n)!)³) · (w + |β| + K·h)^{2n} · e^w,

w how much ln L varies, β what the model's logarithm rises by, h the width of the answers, K a bound of the derivatives
of L that w does not cover. The model's mean is E L times e^{±τ}, tanh(τ/4) = tanh(w/4)·tanh(δ/4) (`world.pieces`).
Never does a cell count less than its mass times the least L, nor more than its mass times the largest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.risk.noise.cells import FURTHEST, UNLIKELY, Cells, NoiseLaw
from guessproof.world.checks import Array, Mask, quiet
from guessproof.world.pieces import spread
from guessproof.world.special import expit

ORDER = 6  # twice the number of nodes
QUADRATURE = 5e-7  # 3!⁴/(7·6!³)
CURVED = 6.0  # K: the sixth derivative of normal and of Cauchy densities is below 6⁶ times the density near 0
EPS = 2.0**-52  # rounding of a sum, for each of its terms
ROWS = 200_000  # outputs times nodes held at once
DENSE = 16.0  # outputs in a unit, within the answers at first
MOST_OUTPUTS = 12_000  # what is open then stays in the bound
OUTER = 36  # outputs on either side at first, for each doubling of the distance
NEAREST = 0.05  # the first of them, in units
# How far beyond goals outputs go, in units; further where that decides.
REACHES = 8.0, 32.0, 128.0, FURTHEST
NARROW = 2e-4  # cells of outputs that are not halved, in units of the noise
ROUNDS = 30  # of halving cells of outputs
CLOSE = 2e-3  # relative width of a rise of log-odds that is narrow enough
LIKELY = 1e-7  # cells of outputs less likely than this are not divided
UNSURE = 1.0  # of ln of a weight: outputs that tell so little are of no use
STEEP = 3.0  # beyond this distance the slope of a density with heavy tails falls
TINY = 1e-300  # a difference of answers that is none

Rows = tuple[Array, ...]  # of outputs: themselves; P(below, above); ln of weights: (low, high) × (goals, others) × tilts
Found = tuple[Array, Array, Array]


@dataclass(frozen=True, eq=False)
class View:
    """Goals seen through noise and tilted by other releases: the cells from `first` to before `past`, or all others.

    Outputs are drawn for answers from `least` to `most`, in each cell of outputs the worst of them, or (`is_drawn`) for
    values drawn from the prior. Of several tilts the worst counts, and `room` is how much more the log-odds may be
    between them.
    """

    law: NoiseLaw
    cells: Cells
    first: Array
    past: Array
    least: Any
    most: Any
    is_drawn: bool = False
    tilts: Any = (((0.0,),),)  # tilts × cells × nodes
    room: float = 0.0
    is_missed: bool = False

    @cached_property
    def inside(self) -> Mask:
        """Which cells are in each goal."""
        place = np.arange(len(self.cells.left))[:, None]
        return ((place >= self.first) & (place < self.past)) != self.is_missed

    @property
    def prior(self) -> Array:
        """The belief before the output."""
        mass = self.cells.mass((self.first, self.past))
        return 1 - mass if self.is_missed else mass

    def exceeded(self, failure: float, close: float = CLOSE) -> Array:
        """The smallest log-odds that outputs exceed with this probability at most: from below and from above."""

        def bounds(low: Array, high: Array, mass: Array) -> Array:
            mass = mass if failure else np.ones_like(mass)
            return np.array([quantile(low, mass, failure), quantile(high, mass, failure)])

        def is_open(found: Found) -> Mask:
            low, high, mass = found
            least, most = bounds(*found)
            enough = close * np.abs(most - before)
            near = (high > least) & (low <= most) & (high - low > enough)
            return near & (most - least > enough)

        with quiet():
            before = np.log(self.prior) - np.log1p(-self.prior)
            return bounds(*self._divided(is_open, LIKELY * failure))

    def failing(self, level: float, slack: float = 0.0) -> tuple[float, float]:
        """P(belief > level), from below and from above; `slack` is of the belief."""

        def is_open(found: Found) -> Mask:
            return (expit(found[0]) <= level + slack) & (expit(found[1]) > level - slack)

        low, high, mass = self._divided(is_open, LIKELY)
        sure, possible = expit(low) > level + slack, expit(high) > level - slack
        return float(np.sum(mass[sure])), min(float(np.sum(mass[possible])), 1.0)

    def _divided(self, is_open: Callable[[Found], Mask], rare: float) -> Found:
        """The least and the largest log-odds in cells of outputs, and their probability.

        For one goal cells are halved where they are of interest and not `rare`.
        """
        for reach in REACHES:
            rows = self._rows(self._outputs(reach))
            # Further out tails of the prior, of which little is known, outweigh all else.
            known = np.any(np.ptp(rows[2], axis=0) < UNSURE, axis=(0, 1, 3))
            rows = tuple(part[..., known, :] for part in rows)
            before, after = self._beyond(rows[0][1], -1), self._beyond(rows[0][-2], 1)
            best = np.max(rows[2][0, 0] - rows[2][1, 1], axis=(0, 1))
            if self.law.cdf(-reach) < rare or np.all(np.maximum(before, after) <= best + CLOSE):
                break
        for _ in range(ROUNDS):
            y, low, high = rows[0][1:-1], *self._odds(rows)
            unknown = np.full_like(before, -np.inf)
            low, high = np.vstack([unknown, low, unknown]), np.vstack([before, high, after])
            found = low, high, self._mass(rows)
            wide = (is_open(found) & (found[2] >= rare))[1:-1] & (np.diff(y, axis=0) > NARROW)
            if wide.shape[1] > 1 or not wide.any() or wide.size > MOST_OUTPUTS:
                break
            fresh = self._rows(((y[:-1] + y[1:]) / 2)[wide])
            rows = tuple(np.concatenate(both, axis=-2) for both in zip(rows, fresh, strict=True))
            order = np.argsort(rows[0][:, 0])
            rows = tuple(part[..., order, :] for part in rows)
        return found

    def _outputs(self, reach: float) -> Array:
        """Outputs over the goals' answers and those that are drawn for, and so far beyond them."""
        cells, likely = self.cells, self.cells.likely(UNLIKELY)
        goals = np.clip(cells.node[np.any(self.inside, axis=1)], *likely)
        ends = [*np.ravel(self.least), *np.ravel(self.most), *goals.ravel()]
        low, high = likely if self.is_drawn else (np.min(ends), np.max(ends))
        if self.law.tails == "apart":
            # Where all answers are close, only outputs far away tell them apart.
            width = np.ptp(cells.likely(0.01)) or np.ptp(cells.node)
            reach *= max(1.0, 2 / max(float(width), TINY))
        beyond = np.geomspace(NEAREST, reach, int(OUTER * np.log2(reach)))
        many = int(np.clip((high - low) * DENSE, 2, MOST_OUTPUTS / 4))
        return np.concatenate([low - beyond[::-1], np.linspace(low, high, many), high + beyond])

    def _rows(self, outputs: Array) -> Rows:
        """What outputs tell."""
        size = outputs.size * len(self.tilts) * self.cells.node.size
        parts = np.array_split(outputs, np.clip(size // ROWS, 1, outputs.size))
        found = zip(*map(self._summed, parts), strict=True)
        return tuple(np.concatenate(each, axis=-2) for each in found)

    def _summed(self, outputs: Array) -> Rows:
        y, tails = outputs[:, None], np.zeros((2, outputs.size, 1))
        top, low, high = self._weigh(outputs)
        rounding = low.shape[-1] * EPS * np.sum(high, axis=-1, keepdims=True)

        def sums(weights: Array) -> list[Array]:
            total = np.pad(np.cumsum(weights, axis=-1), ((0, 0), (0, 0), (1, 0)))
            goals = total[..., self.past] - total[..., self.first]
            others = total[..., -1:] - goals
            return [others, goals] if self.is_missed else [goals, others]

        weights = [np.maximum(sums(low) - rounding, 0.0), sums(high) + rounding]
        if self.is_drawn:
            away, mass = y - self.cells.node.ravel(), np.exp(self.cells.log_weight).ravel()
            tails[..., 0] = self.law.cdf(away) @ mass, self.law.cdf(-away) @ mass
        with quiet():
            return y, tails, top + np.log(weights)

    def _weigh(self, outputs: Array) -> tuple[Array, Array, Array]:
        """The weights of tilts × outputs × cells from below and from above, in units of e^top; and top."""
        cells, law, c, y = self.cells, self.law, self.cells.middle, outputs[:, None]
        weight, extra = cells.log_weight + self.tilts, np.ptp(self.tilts, axis=-1)[:, None]
        mass = np.logaddexp.reduce(weight, axis=-1)[:, None]
        with quiet():
            ends = [law.log_likelihood(y, end, c) for end in (cells.low, cells.high)]
            most = law.log_likelihood(y, np.clip(y, cells.low, cells.high), c) + extra
            least = np.minimum(*ends) - extra
            varies, width = most - least, cells.high - cells.low
            size = 1 + varies + np.abs(cells.rise) + CURVED * width
            error = QUADRATURE * size**ORDER * np.exp(varies)
            if law.tails != "apart":  # l may have a kink at the output
                error[:, (cells.low < y) & (y < cells.high)] = np.inf
            error, factor = np.where(varies > 0, error, 0.0), np.exp(spread(varies, cells.osc))
            top = np.max(mass + most, axis=-1, keepdims=True)
            terms = law.log_likelihood(y[..., None], cells.node, c) - top[..., None]
            value = np.sum(np.exp(weight[:, None] + terms), axis=-1)
            high = np.fmin(value * factor * (1 + error), np.exp(mass + most - top))
            low = np.fmax(value / factor * (1 - error), np.exp(mass + least - top))
        return top, np.fmin(low, high), high

    def _mass(self, rows: Rows) -> Array:
        """P(output in each cell), for the worst of the answers."""
        y, (below, above), _ = rows
        if self.is_drawn:
            below = np.concatenate([[[0.0]], below[1:-1], [[1.0]]])
            above = np.concatenate([[[1.0]], above[1:-1], [[0.0]]])
            return np.where(below[:-1] < 0.5, np.diff(below, axis=0), -np.diff(above, axis=0))
        ends = np.concatenate([[[-np.inf]], y[1:-1], [[np.inf]]])
        nearest = np.clip((ends[1:] + ends[:-1]) / 2, self.least, self.most)
        return self.law.between(ends[:-1] - nearest, ends[1:] - nearest)

    def _odds(self, rows: Rows) -> tuple[Array, Array]:
        """The least and the largest log-odds between outputs, but for the first and the last two."""
        y, _, ((in_low, out_low), (in_high, out_high)) = rows
        step = np.diff(y, axis=0)
        low = -self._largest(step, out_high, in_low, in_high)
        high = self._largest(step, in_high, out_low, out_high) + self.room
        return np.max(low, axis=0), np.max(high, axis=0)

    def _largest(self, step: Array, high: Array, low: Array, other: Array) -> Array:
        """The largest log-odds for what weighs at most `high` against what weighs between `low` and `other`."""
        start, end = high[..., 1:-2, :], high[..., 2:-1, :]
        before, after = low[..., 1:-2, :], low[..., 2:-1, :]
        if np.isfinite(self.law.rate):
            return 0.5 * (start - before + end - after) + self.law.rate * step[1:-1]

        with quiet():
            slope = (before - other[..., :-3, :]) * (step[1:-1] / step[:-2])
            back = (other[..., 3:, :] - after) * (step[1:-1] / step[2:])
            cross = np.clip((after - before - back) / (slope - back), 0, 1)
            values = [
                start + (end - start) * t - np.fmax(before + slope * t, after - back * (1 - t))
                for t in (0.0, np.nan_to_num(cross, nan=0.5), 1.0)
            ]
            return np.nan_to_num(np.max(values, axis=0), nan=np.inf, posinf=np.inf, neginf=-np.inf)

    def _beyond(self, output: Array, side: int) -> Array:
        """The largest log-odds that outputs beyond this one on one side can give."""
        cells, law, inside = self.cells, self.law, self.inside
        top, low, high = (part[:, 0, :, None] for part in self._weigh(output))
        ends = side * np.array([cells.low, cells.high])[..., None]
        near = np.max(np.where(inside, np.max(ends, axis=0), -np.inf), axis=0)
        is_far = (side * output >= near + STEEP) & (law.tails != "apart")
        others = ~inside & ((np.min(ends, axis=0) >= near) | is_far)
        with quiet():
            if law.tails == "alike":
                nearest = law.log_likelihood(output, side * near, cells.middle)
                high = np.where(is_far, np.exp(cells.log_mass[:, None] + nearest - top), np.inf)
                low = np.minimum(low, high)
            goals, rest = np.sum(high * inside, axis=1), np.sum(low * others, axis=1)
            odds = np.where(goals > 0, np.log(goals) - np.log(rest), -np.inf)
        return np.max(odds, axis=0) + self.room


def quantile(values: Array, masses: Array, failure: float) -> Any:
    """The smallest v of the values (of each column) with P(value > v) ≤ failure."""
    order = np.argsort(-values, axis=0)
    above = np.cumsum(np.take_along_axis(masses, order, axis=0), axis=0)
    place = np.minimum(np.sum(above <= failure, axis=0), len(values) - 1)
    return np.take_along_axis(values, np.take_along_axis(order, place[None], axis=0), axis=0)[0]
