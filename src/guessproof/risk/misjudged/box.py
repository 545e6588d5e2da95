"""AND of intervals about independent attributes under a prior that may be wrong: a bound by shells around a peak.

Scale L so that its largest value in the goal is 1, taken at c. Then L ≤ 1 in the goal, and L ≥ e^{−ε·d(x, c)} anywhere.
Let h have the means μ within the goal and ν outside, U = E_in[L] and V = E_out[L]. The declared gain γ says
V ≥ U·e^{−γ}; further

    E_in[hL] ≤ U + (κ−1)·min(s, U − A)         E_out[hL] ≥ V + (κ−1)·B,

where s = (μ−1)/(κ−1), A is the least that a share 1−s of the goal can hold of e^{−ε·d(x, c)}, and B the least that a
share (ν−1)/(κ−1) of the rest can: what is furthest from c. For distances by the largest coordinate the share within
a of c is a product of one-dimensional ones, so A and B are sums over shells. Means are cut into small steps, peaks into
a grid, and each bound is taken at the end of its step that is worse. The attack is the tent at c itself, with h = κ up
to some shell inside and from some shell on outside.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from guessproof.risk.misjudged.by_odds import OddsRange
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.wrong_prior import ProvenDirectly
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array
from guessproof.world.line import expit

_PEAKS = {2: 17, 3: 7}  # of the grid along each axis
_SHELLS, _MEANS = 1200, 60
_CUTS = 61  # thresholds of the attack
_FAR = 1e-9


@dataclass(frozen=True, eq=False)
class GoalBox:
    """Independent attributes, each with an interval of correct values; distances by the largest coordinate."""

    worlds: tuple[TiltedIntegrals, ...]
    edges: tuple[tuple[float, float], ...]

    @cached_property
    def peaks(self) -> list[tuple[float, ...]]:
        """A grid of places in the goal."""
        count = _PEAKS[len(self.edges)]
        return list(itertools.product(*(np.linspace(lo, hi, count).tolist() for lo, hi in self.edges)))

    @cached_property
    def off(self) -> float:
        """How far a place in the goal is from the nearest of the grid, at most."""
        count = _PEAKS[len(self.edges)]
        steps = [
            np.max(np.diff(w.form.psi(np.linspace(lo, hi, count))))
            for w, (lo, hi) in zip(self.worlds, self.edges, strict=True)
        ]
        return 0.5 * float(max(steps))

    @cached_property
    def radii(self) -> Array:
        """Where shells end."""
        far = 0.0
        for world, (lo, hi) in zip(self.worlds, self.edges, strict=True):
            psi, ends = world.form.psi, world.prior.quantile([_FAR, 1 - _FAR])
            far = max(far, float(psi(ends[1]) - psi(lo)), float(psi(hi) - psi(ends[0])))
        return far * np.linspace(0.0, 1.0, _SHELLS + 1) ** 1.5

    @cached_property
    def shells(self) -> tuple[Array, Array]:
        """peaks × shells: the mass in each within the goal, and outside of it; beyond the last lies what is left."""
        own, whole = np.ones((len(self.peaks), self.radii.size)), np.ones((len(self.peaks), self.radii.size))
        for i, (world, (lo, hi)) in enumerate(zip(self.worlds, self.edges, strict=True)):
            c = np.array([peak[i] for peak in self.peaks])
            places, back = np.unique(c, return_inverse=True)
            height = world.form.psi(places)[:, None]
            low, high = world.form.inverse(height - self.radii), world.form.inverse(height + self.radii)
            whole *= world.prior.mass(low, np.maximum(low, high))[back]
            inner = np.clip(low, lo, hi), np.clip(high, lo, hi)
            own *= world.prior.mass(inner[0], np.maximum(*inner))[back]
        rest = np.maximum.accumulate(np.maximum(whole - own, 0.0), axis=1)
        return np.diff(np.maximum.accumulate(own, axis=1), axis=1), np.diff(rest, axis=1)

    def least(self, epsilon: float, log_odds: float, shares: Array) -> tuple[Array, Array]:
        """peaks × shares: the least that a share of the goal, and of the rest, holds of a tent peaking near there."""
        heights = np.exp(-epsilon * (self.radii[1:] + self.off))
        whole = (math.exp(_log_share(sign * log_odds)) for sign in (1, -1))
        goal, rest = (
            np.stack([_furthest(row, heights, mass, shares) for row in part])
            for part, mass in zip(self.shells, whole, strict=True)
        )
        return goal, rest

    def limit(self, epsilon: float, factor: float, gain: float, log_odds: float) -> float:
        """What no likelihood and no prior within the factor lets the belief rise by, given the declared gain."""
        shares = np.linspace(0.0, 1.0, _MEANS + 1)
        goal, rest = self.least(epsilon, log_odds, shares)
        least_u, least_v, kept, held = goal[:, -1], rest[:, -1], goal[:, -2::-1], rest[:, :-1]
        more, low_mean, high_mean = factor - 1, 1 + (factor - 1) * shares[:-1], 1 + (factor - 1) * shares[1:]
        u, v, b = least_u[:, None, None], least_v[:, None, None], (more * held)[:, None, :]
        s, a, found = shares[None, 1:, None], kept[:, :, None], np.zeros(())
        for candidate in (u, v * math.exp(gain), s + a, np.ones((1, 1, 1))):  # between these all is monotone in U
            x = np.clip(candidate, u, 1.0)
            top = x + more * np.minimum(s, np.maximum(x - a, 0.0))
            found = np.maximum(found, top / (np.maximum(x * math.exp(-gain), v) + b))
        room = math.log(factor)
        grown = np.log(np.max(found, axis=0)) - np.log(low_mean)[:, None] + np.log(high_mean)[None, :]
        low = log_odds + np.log(low_mean)[:, None] - np.log(high_mean)[None, :]
        high = log_odds + np.log(high_mean)[:, None] - np.log(low_mean)[None, :]
        before = np.clip(np.minimum(-grown / 2, log_odds + gain + room - grown), low, high)
        after = np.minimum(before + grown, log_odds + gain + room)
        return float(np.max(expit(after) - expit(before))) + 1e-15

    def reached(self, epsilon: float, factor: float) -> float:
        """What the best of the tents at some peaks reaches, with thresholds at shells; never more than it does."""
        own, rest = self.shells
        low, high = np.exp(-epsilon * self.radii[1:]), np.exp(-epsilon * self.radii[:-1])
        cuts = np.unique(np.linspace(0, _SHELLS, _CUTS).astype(int))
        best = 0.0
        for inner, outer in zip(own[::2], rest[::2], strict=True):
            beyond = max(1.0 - float(inner.sum() + outer.sum()), 0.0)
            mass, told = (_raised(v, factor, cuts, near=True) for v in (inner, inner * low))
            other, held = (_raised(v, factor, cuts, near=False) for v in (outer, outer * high))
            other, held = other + beyond, held + factor * beyond  # what lies further counts as told in full
            rise = told[:, None] / (told[:, None] + held) - mass[:, None] / (mass[:, None] + other)
            best = max(best, float(np.max(rise)))
        return best


def _log_share(log_odds: float) -> float:
    return -float(np.logaddexp(0.0, -log_odds))


def _furthest(rest: Array, heights: Array, outside: float, shares: Array) -> Array:
    """The least that shares of what is outside hold of e^{−εd}: the furthest, what lies beyond all shells at 0."""
    beyond = max(outside - float(rest.sum()), 0.0)
    mass = np.concatenate([[0.0, beyond], beyond + np.cumsum(rest[::-1])]) / outside
    held = np.concatenate([[0.0, 0.0], np.cumsum((rest * heights)[::-1])]) / outside
    return np.interp(shares, mass, held) * (1 - 1e-9)


def _raised(part: Array, factor: float, cuts: Any, *, near: bool) -> Array:
    """The sum with κ times as much of the first shells, or of all from one on."""
    sums = np.concatenate([[0.0], np.cumsum(part)])
    first = sums[cuts] if near else sums[-1] - sums[cuts]
    return sums[-1] + (factor - 1) * first


@dataclass(frozen=True)
class WrongBox(ProvenDirectly):
    """An AND of intervals: the bound by shells where the belief rises, by odds where that is less."""

    by_odds: OddsRange
    box: GoalBox

    def wrong_by(self, factor: float) -> Self:
        return replace(self, factor=factor, by_odds=self.by_odds.wrong_by(factor))

    @property
    def relative(self) -> float:
        return self.by_odds.relative

    @property
    def start(self) -> float:
        return self.by_odds.start

    def reached(self, epsilon: float, move: Move) -> float:
        by_odds = self.by_odds.reached(epsilon, move)
        if move < 0 or math.isinf(self.factor) or epsilon == 0:
            return by_odds
        return max(by_odds, self.box.reached(epsilon, self.factor))

    def limit(self, epsilon: float, move: Move) -> float:
        by_odds = self.by_odds.limit(epsilon, move)
        if move < 0 or math.isinf(self.factor) or epsilon == 0:
            return by_odds
        gain = abs(float(self.by_odds.belief.gain(np.asarray(epsilon))[1]))
        return min(by_odds, self.box.limit(epsilon, self.factor, gain, self.widths.log_odds))

    def climbed(self, epsilon: float, move: Move) -> float:
        return max(self.reached(epsilon, move), self.by_odds.climbed(epsilon, move))

    def narrowed(self, epsilon: float, move: Move, enough: float, seconds: float) -> float:
        limit = self.limit(epsilon, move)
        return limit if limit <= enough else min(limit, self.by_odds.narrowed(epsilon, move, enough, seconds))
