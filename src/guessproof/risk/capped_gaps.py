"""How far a belief can lie above its chord between two ε, told from the mountains that the best likelihoods are.

As in `gaps`: e^{εs} with s = 0 on the flat part [u, v], falling with ψ on both sides of it down to −cap. What lies to
the left of u knows nothing of v, and the other way round, so a few u and a few v give all pairs of them. Mountains
between those looked at have an s that differs by no more than ψ does: the same bound carries to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from guessproof.risk.capped import Hills
from guessproof.risk.gaps import gap_near
from guessproof.world.checks import Array

Part = Literal["all", "rest", "goal"]  # of all values
Pair = tuple[Array, Array]

_FEWEST, _MOST = 9, 33  # ends of flat parts that are looked at
_NEAR = 4.0  # how many for each unit of ε times distance


@dataclass(frozen=True, eq=False)
class FlatEnds:
    """Flat parts that begin and end at some values, for two rates in each row; goals as far as they matter."""

    hills: Hills
    at: Array  # rows of values
    goal: Pair
    part: Part

    def left(self, k: Array) -> Array:
        """ln ∫e^{ks}f of what lies to the left of each."""
        lo = self.goal[0][:, None] + 0 * self.at
        psi, inverse = self.hills.world.form.psi, self.hills.world.form.inverse
        foot = inverse(psi(self.at) - self.hills.cap)
        none = np.full(self.at.shape, -np.inf)
        start, end = {"all": (none, self.at), "rest": (none, np.minimum(lo, self.at)), "goal": (lo, self.at)}[self.part]
        return self._sum(k, (np.maximum(start, foot), end), (start, np.minimum(foot, end)), 1)

    def right(self, k: Array) -> Array:
        """The same to the right."""
        hi = self.goal[1][:, None] + 0 * self.at
        psi, inverse = self.hills.world.form.psi, self.hills.world.form.inverse
        foot = inverse(psi(self.at) + self.hills.cap)
        none = np.full(self.at.shape, np.inf)
        start, end = {"all": (self.at, none), "rest": (np.maximum(hi, self.at), none), "goal": (self.at, hi)}[self.part]
        return self._sum(k, (start, np.minimum(end, foot)), (np.maximum(foot, start), end), -1)

    def _sum(self, k: Array, slope: Pair, far: Pair, side: int) -> Array:
        tilt, none = self.hills.world.log_tilt, np.zeros(k.shape)
        a, b = np.stack([slope[0], far[0]]), np.stack([slope[1], far[1]])
        logs = tilt(np.stack([side * k, none]), a + 0 * k, np.maximum(a, b) + 0 * k, self.at + 0 * k)
        return np.logaddexp(logs[0], logs[1] - k * self.hills.cap)


def gap_of_hills(
    hills: Hills,
    flat: Pair,
    rates: Pair,
    sign: int,
    part: Part = "all",
    goal: Pair | None = None,
) -> Array:
    """g, with e^γ − 1 ≤ 4θ(1−θ)·g, for mountains (sign +1) or basins (−1) with flat parts within `flat`, in rows."""
    psi, (first, second) = hills.world.form.psi, rates
    wide = psi(flat[1]) - psi(flat[0])
    enough = np.clip(np.ceil(_NEAR * second * wide), _FEWEST, _MOST)
    found = np.full(first.shape, np.inf)
    for count in (_FEWEST, 17, _MOST):
        rows = np.flatnonzero((enough <= count) & np.isinf(found))
        if rows.size:
            ends = flat[0][rows], flat[1][rows]
            there = ends if goal is None else (goal[0][rows], goal[1][rows])
            found[rows] = _of_rows(hills, ends, (sign * first[rows], sign * second[rows]), count, part, there)
    return found


def _of_rows(hills: Hills, flat: Pair, rates: Pair, count: int, part: Part, goal: Pair) -> Array:
    world, (first, second) = hills.world, rates
    share = np.linspace(0.0, 1.0, count)
    psi = world.form.psi
    low, high = psi(flat[0])[:, None], psi(flat[1])[:, None]
    at = np.clip(world.form.inverse(low + share * (high - low)), flat[0][:, None], flat[1][:, None])
    apart = 0.5 * np.max(np.diff(psi(at), axis=1), axis=1)
    middle, half = 0.5 * (first + second), 0.5 * (second - first)
    ends, logs = FlatEnds(hills, at, goal, part), list[Array]()
    with np.errstate(all="ignore"):
        mass = np.full((1, 1, 1), -np.inf) if part == "rest" else _log_mass(hills, at)
        for k in (middle - 2 * half, middle + 2 * half, middle):
            rate = k[:, None] + 0 * at
            logs.append(np.logaddexp(np.logaddexp(ends.left(rate)[:, :, None], ends.right(rate)[:, None, :]), mass))
        # Both ends of a flat part are within half a step of some that are looked at.
        reach, widened = 2 * np.abs(half) * apart, 2 * np.maximum(np.abs(first), np.abs(second)) * apart
        gaps = gap_near(np.stack(logs), reach[:, None, None], widened[:, None, None])
    pairs = np.arange(count)[:, None] <= np.arange(count)[None, :]
    return np.max(np.where(pairs, gaps, 0.0), axis=(1, 2))


def _log_mass(hills: Hills, at: Array) -> Array:
    a, b = np.broadcast_arrays(at[:, :, None], at[:, None, :])
    return np.asarray(hills.world.prior.log_tilt(0.0, a, np.maximum(a, b)))
