"""How far the log-odds of a goal of several intervals lie above their chord between two ε.

As in `gaps`, for one s they lie above it by no more than ln M lies below its own, M = ∫ e^{εs}f over the rest. Given s
on the goal, the smallest s that is allowed left of the first interval and right of the last one makes M least: there s
falls away from the goal as fast as ψ. So only such s matter, the same for every ε. The rest is a few groups, M = Σ Mᵢ:
the two outer ones, which are a height Sᵢ at their edge and a known tilted integral, ln Mᵢ = εSᵢ + ln Aᵢ(ε); and what
lies between two intervals, where s is anything. Let e^γ − 1 ≤ 4θ(1−θ)·gᵢ hold for ln Mᵢ and its chord: what `gaps`
tells of two copies of ψ for an outer one, and of the width for an inner one. With wᵢ the shares of the groups on their
chords,

    M ≥ (Σ e^{chord of ln Mᵢ})·(1 − 4θ(1−θ)·Σ wᵢgᵢ),     (ln of the first bracket)'' = Var_w(Δ ln Mᵢ) in θ:

ln M lies at most 4θ(1−θ)·y below its chord, y = −ln(1 − max gᵢ) + max Var_w/8. The variance is at most a quarter of the
square of the largest difference of two Δ ln Mᵢ, and at most the sum of wᵢwⱼ(Δ ln Mᵢ − Δ ln Mⱼ)² over all pairs. Where
one group is much higher than the other, it also weighs much more. For an inner group let S be its mean height, by which
ln M climbs: Δ ln M = (ε₂ − ε₁)·S. Then ln M = εS + ln A on its chord with

    ln T(ε₂) ≤ ln A ≤ ln P:

as ln M is convex it climbs before ε₁ by no more than S for each ε, from ln P, the prior probability of the group; and
as some s(x) is S at least, s(y) ≥ S − |ψ(x) − ψ(y)|, and T is the smallest integral of a tent with a peak in the group.
So for all pairs Δ ln Mᵢ − Δ ln Mⱼ = (ε₂ − ε₁)·σ + (Δ ln Aᵢ − Δ ln Aⱼ, of outer groups), the odds wᵢ/wⱼ are e^{εσ}Aᵢ/Aⱼ,
and σ = Sᵢ − Sⱼ is at most how far apart the groups are: small boxes of σ tell the largest product.

None of this minds whether f is a density or sums over numbers: an outer group is then seen from its number next to the
goal, and tents peak at numbers. Moving each of them by h, the peak too, changes a tent by e^{2εh} at most: a few that
stand for those around them tell T.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np

from guessproof.risk.atom_gaps import AtomPeaks, log_sums
from guessproof.risk.gaps import OF_SINH, gap_across, of_two_copies
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.zigzag import Component
from guessproof.risk.zigzag_atoms import AtomZigzag, runs_of
from guessproof.world.checks import Array

_SHARES = np.linspace(-1.0, 1.0, 65)[:, None]  # of how far two groups are apart: boxes of how much higher one is
_PEAKS, _NUMBERS = 9, 65  # tents that stand for all with a peak in a group, and numbers for all others
_MOST = 16  # parts, beyond which pairs of them are too many to tell much


class ZigzagPart(Protocol):
    """A part of goal or rest, as it lies on the line."""

    @property
    def goal(self) -> bool:
        """Which of both."""
        ...

    @property
    def ends(self) -> tuple[float, float]:
        """ψ at both ends."""
        ...

    @property
    def log_mass(self) -> float:
        """ln of its prior probability."""
        ...

    def from_edge(self, rates: Array, is_right: bool) -> Array:
        """ln ∫ e^{−rate·distance} f, the distance from one of its ends."""
        ...

    def lightest_tent(self, rates: Array) -> Array:
        """No more than ln ∫ e^{−rate·distance} f for any place in it that the distance is from."""
        ...


@dataclass(frozen=True)
class DensityPart:
    """From one value of a density to another."""

    world: TiltedIntegrals
    start: float
    end: float
    goal: bool

    @property
    def ends(self) -> tuple[float, float]:
        return float(self.world.form.psi(self.start)), float(self.world.form.psi(self.end))

    @property
    def log_mass(self) -> float:
        return float(self.world.prior.log_tilt(0.0, self.start, self.end))

    def from_edge(self, rates: Array, is_right: bool) -> Array:
        edge = self.end if is_right else self.start
        a, b, ref = (np.full(rates.shape, v) for v in (self.start, self.end, edge))
        return self.world.log_tilt(rates if is_right else -rates, a, b, ref)

    def lightest_tent(self, rates: Array) -> Array:
        peaks = np.linspace(self.start, self.end, _PEAKS)
        beside = 0.5 * float(np.max(np.diff(self.world.form.psi(peaks))))  # how far any peak is from the nearest one
        k, ref = np.broadcast_arrays(rates, peaks[:, None])
        a, b = np.full(k.shape, self.start), np.full(k.shape, self.end)
        tents = np.logaddexp(self.world.log_tilt(k, a, ref, ref), self.world.log_tilt(-k, ref, b, ref))
        return np.min(tents, axis=0) - rates * beside


@dataclass(frozen=True, eq=False)
class AtomPart:
    """A run of numbers: their probabilities and ψ there."""

    mass: Array
    psi: Array
    goal: bool

    @property
    def ends(self) -> tuple[float, float]:
        return float(self.psi[0]), float(self.psi[-1])

    @property
    def log_mass(self) -> float:
        return float(np.log(np.sum(self.mass)))

    def from_edge(self, rates: Array, is_right: bool) -> Array:
        return log_sums(self.mass, self.psi - self.psi[-1] if is_right else self.psi[0] - self.psi, rates)

    def lightest_tent(self, rates: Array) -> Array:
        few = AtomPeaks.among(self.psi, _NUMBERS)
        mass, at = np.add.reduceat(self.mass, few.first), self.psi[few.places]
        tents = np.stack([log_sums(mass, -np.abs(at - peak), rates) for peak in at])
        return np.min(tents, axis=0) - 2 * rates * float(np.max(few.away))


def density_parts(world: TiltedIntegrals, pieces: list[Component]) -> list[ZigzagPart]:
    """Goal and rest beside a density, from left to right."""
    return [DensityPart(world, *piece) for piece in pieces]


def atom_parts(among: AtomZigzag) -> list[ZigzagPart]:
    """Goal and rest among finitely many numbers, from left to right."""
    mass, psi, marks = among.atoms.mass, among.atoms.psi, among.marks
    return [AtomPart(mass[run], psi[run], bool(marks[run.start])) for run in runs_of(marks)]


@dataclass(frozen=True, eq=False)
class _Group:
    """A part of the rest: between which ψ its height is told, what ln A climbs by, g, and ln A at least and most."""

    ends: tuple[float, float]
    climb: Array
    gap: Array
    weight: tuple[Array, Array]


def gap_of_zigzags(parts: list[ZigzagPart], first: Array, second: Array, sign: int = 1) -> Array:
    """g, with log-odds of the goal (or the rest, sign −1) at most ln(1 + 4θ(1−θ)·g) above their chord, for each two ε.

    Infinite where there are very many parts.
    """
    if len(parts) > _MOST:
        return np.full(first.shape, np.inf)
    groups, step = list[_Group](), second - first
    with np.errstate(all="ignore"):
        for i, part in enumerate(parts):
            if part.goal is (sign > 0):
                continue
            if i == 0 or i == len(parts) - 1:
                groups.append(_outer(part, i == 0, first, second))
            else:
                groups.append(_inner(part, first, second))
        widest = np.max([group.gap for group in groups], axis=0)
        furthest, together = np.zeros(first.shape), np.zeros(first.shape)
        for one, other in combinations(groups, 2):
            apart, product = _of_pair(one, other, first, second)
            furthest, together = np.maximum(furthest, apart), together + product
        within = -np.log1p(-np.minimum(widest, 1.0))
        found = np.expm1(within + np.fmin(np.square(furthest) / 4, together) / 8 + 1e-15 * (1 + step))
    return np.where(np.isnan(found), np.inf, found)


def _outer(part: ZigzagPart, is_left: bool, first: Array, second: Array) -> _Group:
    """What lies on one side of all intervals: s falls from its edge outwards."""
    middle, half, ends = 0.5 * (first + second), 0.5 * (second - first), part.ends
    logs = part.from_edge(np.stack([middle + n * half for n in (-2, 2, 0, -1, 1)]), is_left)
    gap = np.fmin(OF_SINH * of_two_copies(logs[:3]), gap_across(ends[1] - ends[0], first, second))
    at = ends[1] if is_left else ends[0]
    noise = 4e-15 * (1 + np.max(np.abs(logs[3:]), axis=0))
    least, most = np.minimum(logs[3], logs[4]) - noise, np.maximum(logs[3], logs[4]) + noise
    return _Group((at, at), logs[4] - logs[3], gap, (least, most))


def _inner(part: ZigzagPart, first: Array, second: Array) -> _Group:
    """What lies between two intervals."""
    low, high = part.ends
    weight = part.lightest_tent(second) - 1e-12, np.full(first.shape, part.log_mass + 1e-12)
    return _Group((low, high), np.zeros(first.shape), gap_across(high - low, first, second), weight)


def _of_pair(one: _Group, other: _Group, first: Array, second: Array) -> tuple[Array, Array]:
    """How far Δ ln M of two groups can be apart, and the largest product of their shares and its square."""
    reach, step = max(one.ends[1] - other.ends[0], other.ends[1] - one.ends[0]), second - first
    higher, more = _SHARES * reach, one.climb - other.climb
    apart = step * higher + more
    each = np.stack([first * higher, second * higher])
    lowest, highest = np.min(each, axis=0), np.max(each, axis=0)
    odds = lowest[:-1] + one.weight[0] - other.weight[1], highest[1:] + one.weight[1] - other.weight[0]
    shares = 0.25 / np.square(np.cosh(0.5 * np.clip(0.0, *odds)))
    squares = np.square(np.maximum(np.abs(apart[:-1]), np.abs(apart[1:])))
    return np.max(np.abs(apart), axis=0), np.max(shares * squares, axis=0)
