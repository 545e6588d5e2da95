"""A prior that may be wrong beside a distance with a cap, at many ε at once: attacks, and what nothing exceeds.

For one mountain the bound for all h is a closed form (`along`, `hills`). Between mountains: with s = e^{−εψ(u)} the left
slope at x is min(1, max(e^{−W}, s·e^{εψ(x)})), so between u₁ and u₂ it is a mixture of the two but for x between them,
where it is higher by tanh(Δ/4) at most, Δ = ε(ψ(u₂) − ψ(u₁)), and for x between the feet of the two slopes, where it is
lower by e^{−W}·tanh(Δ/4) at most. The right slope likewise, and L = left + right − 1, since u ≤ v. So a cell of u and v
is a mixture of its four corners but for that, and its bound is that of the best corner with a little more in the goal and
a little less outside.

Where u and v are in the same interval [g₁, g₂], L is w₁ and w₂ times the tents that peak at its ends, as far as it lies
outside of it and above the floor: w₁ + w₂ ≥ 1/cosh(Δ/2), and between g₁ and g₂ it is no higher above that than a tent
(`along`). Below the feet, where L is e^{−W}, the mixture over w₁ + w₂ is no larger than e^{Δ} times that.

For a fall all is turned: basins are lower between u₁ and u₂ and higher, by e^W as much, between the feet.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.along import bound_with_more, most_between, row_blocks
from guessproof.risk.misjudged.hills import HillGoal, HillRows
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.turns import dense
from guessproof.world.checks import Array

_LITTLE_OF_EPSILON = 2.5e-4  # how far above an attack a bound may be, as what it loses of ε
_AHEAD = 1e-2  # of ε: for that
_POINTS, _RADII = 9, 7
_NARROW, _NARROWER = 0.3, 0.02  # in which share of its range a grid is even: of mountains, and of radii
_ZOOMS, _SHRINK, _REACH = 7, 0.35, 0.12
_STEPS = 2  # of Newton's method for turns
_ROUNDS, _MOST = 9, 400  # of cutting cells, and how many of one ε at once
_ROUNDING = 4e-14

Pair = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class _Looked:
    """Mountains: what bounds each, the best attack on it, its turns, and the polygons."""

    bound: Array
    value: Array
    turns: Array
    upper: Array
    lower: Array


@dataclass(frozen=True, eq=False)
class _Cells:
    """Ranges of u and of v, each with its ε; both the same range where u and v are in it together."""

    which: NDArray[np.int64]
    u: Pair
    v: Pair

    @property
    def joint(self) -> NDArray[np.bool_]:
        return self.u[0] == self.v[0]

    def pick(self, some: NDArray[np.bool_]) -> _Cells:
        return _Cells(self.which[some], (self.u[0][some], self.u[1][some]), (self.v[0][some], self.v[1][some]))

    def cut(self) -> _Cells:
        """Each into four, or where both are in one range into three."""
        middle = 0.5 * (self.u[0] + self.u[1]), 0.5 * (self.v[0] + self.v[1])
        halves = [[(s[0], m), (m, s[1])] for s, m in zip((self.u, self.v), middle, strict=True)]
        parts = [(self.which, u, v, i <= j) for i, u in enumerate(halves[0]) for j, v in enumerate(halves[1])]
        kept = [~self.joint | ordered for *_, ordered in parts]
        which = np.concatenate([p[0][k] for p, k in zip(parts, kept, strict=True)])
        ends = [
            np.concatenate([p[side][end][k] for p, k in zip(parts, kept, strict=True)])
            for side in (1, 2)
            for end in (0, 1)
        ]
        return _Cells(which, (ends[0], ends[1]), (ends[2], ends[3]))

    @property
    def corners(self) -> tuple[Array, Array, Array]:
        """All corners, one after the other: which cell, u and v."""
        every = np.arange(self.which.size)
        apart, joint = every[~self.joint], every[self.joint]
        cell = np.concatenate([apart, apart, apart, apart, joint, joint])
        u = [self.u[i][apart] for i in (0, 0, 1, 1)] + [self.u[i][joint] for i in (0, 1)]
        v = [self.v[i][apart] for i in (0, 1, 0, 1)] + [self.u[i][joint] for i in (0, 1)]
        return cell, np.concatenate(u), np.concatenate(v)


@dataclass(frozen=True, eq=False)
class MisjudgedHills:
    """One interval at one true value, under a distance with a cap and a prior that may be wrong by a factor."""

    goal: HillGoal
    move: Move
    known: dict[float, Array] = field(default_factory=dict[float, Array], repr=False)  # attacks by ε

    def measure(self, epsilon: Array) -> Pair:
        """(attack, bound) for each ε."""
        with np.errstate(all="ignore"):
            value, best = self._climbed(epsilon)
            value, bound = self._proven(epsilon, value, best)
        return np.minimum(np.maximum(value, 0.0), bound), bound

    def rough(self, epsilon: Array) -> Array:
        """About what attacks reach."""
        with np.errstate(all="ignore"):
            return self._climbed(epsilon)[0]

    def _climbed(self, epsilon: Array) -> tuple[Array, Array]:
        """The best attacks that a grid of flat parts finds, looked at closer and closer; u, v and both turns."""
        lo, hi = self.goal.lo, self.goal.hi
        shares = np.linspace(0.0, 1.0, _POINTS)
        i, j = np.triu_indices(_POINTS)
        places = [np.broadcast_to(lo + (hi - lo) * shares[at], (epsilon.size, i.size)) for at in (i, j)]
        turns, reach = np.full((2, epsilon.size), 0.5), _REACH * (hi - lo)
        best, value = np.zeros((4, epsilon.size)), np.full(epsilon.size, -np.inf)
        for zoom in range(_ZOOMS):
            u, v = self._allowed(*places)
            which = np.repeat(np.arange(epsilon.size), u.shape[1])
            narrow = 1.0 if zoom == 0 else _NARROW * _SHRINK ** (zoom - 1)
            looked = self._looked(epsilon[which], u.ravel(), v.ravel(), turns[:, which], narrow, climbs=_STEPS)
            found = looked.value.reshape(u.shape)
            top = np.argmax(found, axis=1)
            row = np.arange(epsilon.size) * u.shape[1] + top
            better = found[np.arange(epsilon.size), top] > value
            there = np.stack([u.ravel()[row], v.ravel()[row], *looked.turns[:, row]])
            best, value = np.where(better, there, best), np.maximum(value, looked.value[row])
            turns = best[2:]
            around = reach * np.array([-1.0, 0.0, 1.0])
            a, b = np.meshgrid(around, around, indexing="ij")
            places = [best[0][:, None] + a.ravel(), best[1][:, None] + b.ravel()]
            reach *= _SHRINK
        return value, best

    def _allowed(self, u: Array, v: Array) -> Pair:
        """Flat parts within the goal, with something of the rest on their slopes."""
        most, least = self.goal.ends
        u, v = np.clip(u, self.goal.lo, most), np.clip(v, least, self.goal.hi)
        cross = u > v
        middle = np.clip(0.5 * (u + v), least, most)
        return np.where(cross, middle, u), np.where(cross, middle, v)

    def _looked(self, epsilon: Array, u: Array, v: Array, turns: Array, narrow: float, climbs: int) -> _Looked:
        blocks = row_blocks(np.arange(u.size))
        found = [self._block(epsilon[b], u[b], v[b], turns[:, b], narrow, climbs) for b in blocks]
        joined = ((f.bound, f.value, f.turns, f.upper, f.lower) for f in found)
        return _Looked(*(np.concatenate(each, axis=min(each[0].ndim - 1, 1)) for each in zip(*joined, strict=True)))

    def _block(self, epsilon: Array, u: Array, v: Array, turns: Array, narrow: float, climbs: int) -> _Looked:
        rows = HillRows(self.goal, self.move, epsilon, u, v)
        turns = rows.nearer(turns, climbs)
        inside, outside = rows.with_ties(*(dense(t, _RADII, min(narrow, 1.0)) for t in turns))
        target, rest = rows.parts(inside, outside[:, ::-1], whole=True)
        upper, lower, none = target.polygon(1), rest.polygon(-1), np.zeros((2, u.size))
        reached = most_between(np.stack([target.mass, target.told]), np.stack([rest.mass, rest.told]), none)
        return _Looked(most_between(upper, lower, none), reached - 2 * _ROUNDING, turns, upper, lower)

    def _proven(self, epsilon: Array, value: Array, best: Array) -> Pair:
        """What no mountain and no wrong prior exceeds: cells are cut until that is close to an attack."""
        ahead = HillRows(self.goal, self.move, epsilon * (1 + _AHEAD), best[0], best[1])
        more = self._looked(ahead.epsilon, ahead.u, ahead.v, best[2:], _NARROWER, 1).value - value
        close = np.maximum(more * _LITTLE_OF_EPSILON / _AHEAD, 1e-6 * value)
        bound, cells = np.zeros(epsilon.size), self._first_cells(best)
        for i in range(_ROUNDS + 1):
            found, reached = self._cells(cells, epsilon, best[2:])
            np.maximum.at(value, cells.which, reached)
            wide = found > (value + close)[cells.which]
            many = np.bincount(cells.which[wide], minlength=epsilon.size) > _MOST
            wide &= ~many[cells.which]
            if i == _ROUNDS:
                wide[:] = False
            np.maximum.at(bound, cells.which[~wide], found[~wide])
            if not wide.any():
                break
            cells = cells.pick(wide).cut()
        return value, np.minimum(np.maximum(bound, value), 1.0)

    def _first_cells(self, best: Array) -> _Cells:
        """A grid in common for u and v, dense around those of an attack."""
        lo, hi, (most, least) = self.goal.lo, self.goal.hi, self.goal.ends
        grids = [dense((b - lo) / (hi - lo), _POINTS, 0.1) for b in best[:2]]
        ends = np.broadcast_to(np.clip((np.array([most, least]) - lo) / (hi - lo), 0.0, 1.0), (best.shape[1], 2))
        grid = lo + (hi - lo) * np.sort(np.concatenate([*grids, ends], axis=1), axis=1)
        i, j = np.triu_indices(grid.shape[1] - 1)
        which = np.repeat(np.arange(best.shape[1]), i.size)
        u, v = (grid[:, i].ravel(), grid[:, i + 1].ravel()), (grid[:, j].ravel(), grid[:, j + 1].ravel())
        some = (u[1] > u[0]) & (v[1] > v[0]) & (u[1] <= most) & (v[0] >= least)
        return _Cells(which, u, v).pick(some)

    def _cells(self, cells: _Cells, epsilon: Array, turns: Array) -> Pair:
        """What bounds each cell, and what is reached at its corners."""
        cell, u, v = cells.corners
        key, places = np.unique(np.stack([cells.which[cell].astype(np.float64), u, v]), axis=1, return_inverse=True)
        which = key[0].astype(np.int64)
        looked = self._looked(epsilon[which], key[1], key[2], turns[:, which], _NARROWER, 1)
        places = places.ravel()
        more = self._more(cells, epsilon[cells.which])[:, cell]
        bound = bound_with_more(looked.bound[places], looked.upper[:, places], looked.lower[:, places], more)
        most, reached = np.zeros(cells.which.size), np.zeros(cells.which.size)
        np.maximum.at(most, cell, bound)
        np.maximum.at(reached, cell, looked.value[places])
        return most, reached

    def _more(self, cells: _Cells, epsilon: Array) -> Array:
        """How much mountains of a cell hold more of target and of rest than a mixture of its corners."""
        world, cap, factor = self.goal.hills.world, self.goal.hills.cap, self.goal.factor
        psi, inverse, mass = world.form.psi, world.form.inverse, world.prior.mass
        inner, outer = np.zeros(epsilon.size), np.zeros(epsilon.size)
        for (first, last), side in ((cells.u, -1), (cells.v, 1)):
            size = np.tanh(0.25 * epsilon * (psi(last) - psi(first)))
            feet = inverse(psi(first) + side * cap), inverse(psi(last) + side * cap)
            inner, outer = inner + size * mass(first, last), outer + size * mass(*feet)
        apart = epsilon * (psi(cells.u[1]) - psi(cells.u[0]))
        ends = np.full(epsilon.size, np.inf)
        far = mass(-ends, inverse(psi(cells.u[1]) - cap)) + mass(inverse(psi(cells.u[0]) + cap), ends)
        joint = np.sinh(0.5 * apart) * mass(*cells.u) * (1.0 if self.move > 0 else np.exp(0.5 * apart))
        beyond = (-np.expm1(-apart) if self.move > 0 else np.expm1(2 * apart)) * far
        inner, outer = np.where(cells.joint, joint, inner), np.where(cells.joint, beyond, outer)
        outer = factor * outer * np.exp(-self.move * epsilon * cap)
        raised = np.exp(epsilon * self.goal.step)
        if self.move > 0:
            return np.stack([factor * inner * raised, -outer])
        return np.stack([outer * raised, -factor * inner])
