"""A run of finitely many numbers under a prior that may be wrong, at many ε at once: `along` for samples.

The best tent peaks at one of the numbers in the goal, whatever the prior is. For one peak, ∫Lhf inside is a concave
function of ∫hf and outside a convex one, both made of straight pieces, one for each number. Tangents at few radii bound
them, as for densities; and chords between the same radii are reached, by an h between 1 and κ on what lies between two
of them. So the same edges of the same cells give a bound and an attack, which meet where radii lie around the best
turns. Peaks between two others are bounded by these, if what the numbers strictly between them hold is added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.atoms import Atoms, Places
from guessproof.risk.misjudged.along import best_levels, bound_with_more, most_between, row_blocks
from guessproof.risk.misjudged.rows import Rows
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.turns import TurnedPart, dense
from guessproof.world.checks import Array

_LITTLE_OF_EPSILON = 2.5e-4  # how far above an attack a bound may be, as what it loses of ε
_CLOSEST = 1e-6  # the same as a share of the attack, at least
_PEAKS = 17  # where a search begins
_RADII, _NARROW = 9, (1.0, 0.15, 0.02)  # radii of a peak, and the share of their range in which they are even
_NARROWER = (0.005, 0.001)  # where that is not close
_ROUNDS = 12  # of looking closer, and of cutting between peaks
_SMALL = 40  # numbers of which each may be the one at which h turns
_VAIN = 0.5  # of what is allowed: cutting between peaks for less than this is in vain
_MOST = 600.0  # ε times the width of a goal: as far as exponentials reach
_AT_ONCE = 1 << 21  # numbers in sums that are kept together


@dataclass(frozen=True, eq=False)
class MisjudgedRun:
    """The correct ones of finitely many numbers, under |ψ(x) − ψ(x')| and a step, and a prior wrong by a factor."""

    atoms: Atoms
    run: tuple[int, int]
    step: float
    factor: float
    move: Move

    def measure(self, epsilon: Array) -> tuple[Array, Array]:
        """(attack, bound) for each ε."""
        return self._in_blocks(epsilon, exact=True)

    def rough(self, epsilon: Array) -> Array:
        """What attacks reach, about."""
        return self._in_blocks(epsilon, exact=False)[0]

    def _in_blocks(self, epsilon: Array, *, exact: bool) -> tuple[Array, Array]:
        size = max(1, _AT_ONCE // self.atoms.mass.size)
        blocks = [epsilon[i : i + size] for i in range(0, epsilon.size, size)]
        found = [_Tilted(self, block).searched(exact=exact) for block in blocks]
        value, bound = (np.concatenate(part) for part in zip(*found, strict=True))
        far = epsilon * self.width > _MOST  # exponentials would end
        return np.where(far, 0.0, np.minimum(np.maximum(value, 0.0), bound)), np.where(far, 1.0, bound)

    @property
    def width(self) -> float:
        """How far apart two correct numbers are."""
        return float(self.atoms.psi[self.run[1]] - self.atoms.psi[self.run[0]])

    @property
    def is_small(self) -> bool:
        """Whether a turn at every number can be tried."""
        return self.atoms.mass.size <= _SMALL

    @property
    def corners(self) -> tuple[int, int]:
        """How many corners what is known of the goal has, and of the rest."""
        inside = self.run[1] - self.run[0] + 1
        return (inside + 1, self.atoms.mass.size - inside + 1) if self.is_small else (_RADII + 1, _RADII + 2)

    @property
    def rounding(self) -> float:
        """Of beliefs that are made of so many masses."""
        return 1e-15 * (64 + self.atoms.mass.size)


@dataclass(frozen=True, eq=False)
class _Tilted:
    """Sums of masses times e^{∓εψ} towards both sides, for several ε."""

    goal: MisjudgedRun
    epsilon: Array

    def searched(self, *, exact: bool) -> tuple[Array, Array]:
        """(attack, bound): peaks are added and radii narrowed until bounds are close to attacks."""
        i, j = self.goal.run
        places = np.unique(np.linspace(i, j, min(_PEAKS, j - i + 1)).astype(np.int64))
        which = np.repeat(np.arange(self.epsilon.size), places.size)
        rows = self._rows(which, np.tile(places, self.epsilon.size))
        if not exact:
            return rows.most(rows.value, self.epsilon.size), np.ones(self.epsilon.size)
        allowed = self._more_allowed(rows)
        rows = self._with_gaps(rows, allowed * rows.most(rows.value, self.epsilon.size))
        for _ in range(_ROUNDS):
            value = rows.most(rows.value, self.epsilon.size)
            enough = allowed * value
            loose = (rows.bound > enough[rows.which]) & (rows.looks < len(_NARROW + _NARROWER))
            # What bounds the peaks themselves is not lowered by cutting between them.
            high = np.maximum(enough, rows.most(rows.bound, self.epsilon.size) + _VAIN * (enough - value))
            wide = np.flatnonzero(rows.between > high[rows.which])
            if not loose.any() and not wide.size:
                break
            new = self._rows(rows.which[wide], (rows.place[wide] + rows.place[wide + 1]) // 2)
            again = self._closer(rows.pick(np.flatnonzero(loose)))
            rows = _AtomRows.joined([rows.pick(np.flatnonzero(~loose)), again, new])
            rows = self._with_gaps(rows.pick(np.lexsort((rows.place, rows.which))), enough)
        bound = rows.most(np.maximum(rows.bound, rows.between), self.epsilon.size)
        return rows.most(rows.value, self.epsilon.size), np.minimum(bound, 1.0)

    def _more_allowed(self, rows: _AtomRows) -> Array:
        """How much more than the best attack is close enough, as a factor: what a little more of ε adds to it."""
        order = np.lexsort((rows.value, rows.which))
        best = rows.pick(order[np.searchsorted(rows.which[order], np.arange(self.epsilon.size), side="right") - 1])
        ahead = _Tilted(self.goal, self.epsilon * (1 + _LITTLE_OF_EPSILON))
        for _ in () if self.goal.is_small else _NARROWER:
            best = self._closer(best)
        further = ahead._closer(replace(best, looks=best.looks - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.fmax(further.value / best.value, 1 + _CLOSEST)

    def _rows(self, which: NDArray[np.int64], place: Places) -> _AtomRows:
        """Peaks, with radii that come closer to the best turns."""
        none, turns = np.zeros(which.size), np.full((2, which.size), 0.5)
        upper, lower = (np.zeros((2, which.size, n)) for n in self.goal.corners[:: self.goal.move])
        rows = _AtomRows(which, place, none, none, none + 1, turns, upper, lower, np.zeros(which.size, dtype=np.int64))
        for _ in (1.0,) if self.goal.is_small else _NARROW:
            rows = self._closer(rows)
        return rows

    def _closer(self, rows: _AtomRows) -> _AtomRows:
        """The same with radii that are denser around the best turns."""
        parts = [self._looked(rows.pick(part)) for part in row_blocks(np.arange(rows.which.size))]
        return _AtomRows.joined([rows.pick(np.arange(0)), *parts])

    def _looked(self, rows: _AtomRows) -> _AtomRows:
        """The same for some of them."""
        if self.goal.is_small:
            return self._settled(rows)
        narrow = np.array(_NARROW + _NARROWER)[rows.looks]
        inside, outside = (dense(t, _RADII, narrow) for t in rows.turns)
        target, rest = self._parts(rows, inside, outside[:, ::-1])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            upper, lower = target.polygon(1), rest.polygon(-1)
            value, levels = best_levels(target, rest)
        none, error = np.zeros((2, rows.which.size)), self.goal.rounding
        bound = most_between(upper, lower, none) + error
        lower_bound = bound < rows.bound
        return replace(
            rows,
            bound=np.where(lower_bound, bound, rows.bound),
            value=np.maximum(rows.value, value - error),
            turns=self._turns(rows, levels),
            upper=np.where(lower_bound[:, None], upper, rows.upper),
            lower=np.where(lower_bound[:, None], lower, rows.lower),
            looks=rows.looks + 1,
        )

    def _settled(self, rows: _AtomRows) -> _AtomRows:
        """Few numbers: with a turn at each of them chords are all there is, and bound and attack are one."""
        parts = self._all_parts(rows)
        upper, lower = (np.stack([part.mass, part.told]) for part in parts)
        found, error = most_between(upper, lower, np.zeros((2, rows.which.size))), self.goal.rounding
        looks = rows.looks + len(_NARROW + _NARROWER)
        value = np.where(found < 1, found - 2 * error, 0.0)  # 1 is said where a sum is no number
        return replace(rows, bound=found + error, value=value, upper=upper, lower=lower, looks=looks)

    def _all_parts(self, rows: _AtomRows) -> tuple[TurnedPart, TurnedPart]:
        """What is raised and what it is compared with, h turning at each number in the order of their distances."""
        (i, j), psi, k = self.goal.run, self.goal.atoms.psi, self.goal.move * self.epsilon[rows.which][:, None]
        inside = (np.arange(psi.size) >= i) & (np.arange(psi.size) <= j)
        log_l, found = self._units(rows.which, rows.place)[2][:, None], list[TurnedPart]()
        for some, way in ((inside, 1), (~inside, -1)):
            away = np.abs(psi[some] - psi[rows.place][:, None])
            order = np.argsort(way * away, axis=1)
            mass, slope = self.goal.atoms.mass[some][order], np.exp(log_l - k * np.take_along_axis(away, order, axis=1))
            sums = (np.cumsum(np.insert(v, 0, 0.0, axis=1), axis=1) for v in (mass, mass * slope))
            own, told = (v[:, -1:] + (self.goal.factor - 1) * v for v in sums)
            found.append(TurnedPart(own, told, slope))
        target, rest = found if self.goal.move > 0 else found[::-1]
        return target.raised(np.exp(self.epsilon[rows.which] * self.goal.step)[:, None]), rest

    def _turns(self, rows: _AtomRows, levels: Array) -> Array:
        """The shares of radii at which ln L is so much, for target and rest; the last ones where that is no number."""
        at, k = self.goal.atoms.psi[rows.place], self.goal.move * self.epsilon[rows.which]
        near, inside, far = self._reach(at)
        inner, outer = levels[:: self.goal.move]
        peak = self._units(rows.which, rows.place)[2]
        step = self.epsilon[rows.which] * self.goal.step  # of the target, which is the first of the two
        inner, outer = (inner - step, outer) if self.goal.move > 0 else (inner, outer - step)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.stack([(peak - inner) / k / inside, ((peak - outer) / k - near) / (far - near)])
        return np.where(np.isnan(shares), rows.turns, np.clip(shares, 0.0, 1.0))

    def _reach(self, at: Array) -> tuple[Array, Array, Array]:
        """From a peak: to where the goal ends on the nearer side, and on the other, and to the furthest number."""
        (i, j), psi = self.goal.run, self.goal.atoms.psi
        sides = psi[j] - at, at - psi[i]
        return np.minimum(*sides), np.maximum(*sides), np.maximum(psi[-1] - at, at - psi[0])

    def _with_gaps(self, rows: _AtomRows, enough: Array) -> _AtomRows:
        """What bounds all peaks from some rows to the next of the same ε."""
        first = np.arange(rows.which.size - 1)
        first = first[(rows.which[first + 1] == rows.which[first]) & (rows.place[first + 1] > rows.place[first] + 1)]
        psi, below = self.goal.atoms.psi, self._below
        left, right, epsilon = rows.place[first], rows.place[first + 1], self.epsilon[rows.which[first]]
        mass = (below[right] - below[left + 1]) * (1 + 1e-12) + self.goal.rounding
        with np.errstate(over="ignore"):
            more = self.goal.factor * np.sinh(0.5 * epsilon * (psi[right] - psi[left])) * mass
        more = more * (np.exp(epsilon * self.goal.step) if self.goal.move > 0 else 1.0)
        between, close = np.zeros(rows.which.size), enough[rows.which[first]]
        for side in (first, first + 1):
            unit = more * np.exp(self._units(rows.which[side], rows.place[side])[2])
            added = np.stack([unit, 0 * unit]) if self.goal.move > 0 else np.stack([0 * unit, -unit])
            found = bound_with_more(rows.bound[side], rows.upper[:, side], rows.lower[:, side], added)
            for part in row_blocks(np.flatnonzero(found > close)):
                corners = rows.upper[:, side[part]], rows.lower[:, side[part]]
                found[part] = np.minimum(found[part], most_between(*corners, added[:, part]) + self.goal.rounding)
            between[first] = np.maximum(between[first], found)
        return replace(rows, between=between)

    # Sums of runs of numbers, a row for each ε, are added up from where terms are small: what two of them differ by has
    # lost no more than what is added to it anyway.

    @cached_property
    def _below(self) -> Array:
        return np.append(0.0, np.cumsum(self.goal.atoms.mass))

    @cached_property
    def _sums(self) -> tuple[Array, Array]:
        """Σ mass·e^{kψ} up to each place, for what lies left of a peak, and Σ mass·e^{−kψ} for what lies right of it.

        In units of the goal's far end for tents, and of the last number on that side for valleys.
        """
        (i, j), psi = self.goal.run, self.goal.atoms.psi
        left, right = psi[: j + 1], psi[i:]
        if self.goal.move > 0:
            return self._summed(slice(j + 1), left - psi[j], 1), self._summed(slice(i, None), psi[i] - right, -1)
        return self._summed(slice(j + 1), psi[0] - left, -1), self._summed(slice(i, None), right - psi[-1], 1)

    def _summed(self, some: slice, x: Array, way: Move) -> Array:
        terms = self.goal.atoms.mass[some] * np.exp(self.epsilon[:, None] * x)
        nothing = np.zeros((self.epsilon.size, 1))
        if way > 0:
            return np.concatenate([nothing, np.cumsum(terms, axis=1)], axis=1)
        return np.concatenate([-np.cumsum(terms[:, ::-1], axis=1)[:, ::-1], nothing], axis=1)

    def _units(self, which: NDArray[np.int64], place: Places) -> tuple[Array, Array, Array]:
        """What the sums on both sides are worth, seen from a peak, and what ln L is there: 0, or less for valleys."""
        (i, j), psi, epsilon = self.goal.run, self.goal.atoms.psi, self.epsilon[which]
        if self.goal.move > 0:
            return np.exp(epsilon * (psi[j] - psi[place])), np.exp(epsilon * (psi[place] - psi[i])), 0 * epsilon
        left, right = epsilon * (psi[place] - psi[0]), epsilon * (psi[-1] - psi[place])
        top = np.maximum(left, right)  # L is 1 where it is largest
        return np.exp(left - top), np.exp(right - top), -top

    def _parts(self, rows: _AtomRows, inside: Array, outside: Array) -> tuple[TurnedPart, TurnedPart]:
        """What is raised and what it is compared with, along radii that are shares of how far they can reach."""
        (i, j), psi, last = self.goal.run, self.goal.atoms.psi, self.goal.atoms.psi.size
        c, k = rows.place[:, None], self.goal.move * self.epsilon[rows.which][:, None]
        at, log_l = psi[c], self._units(rows.which, rows.place)[2][:, None]
        near, reach, far = self._reach(at)
        cut = reach * inside
        turned = (
            np.clip(np.searchsorted(psi, at - cut), i, c),
            np.clip(np.searchsorted(psi, at + cut, "right"), c + 1, j + 1),
        )
        goal = self._turned(rows, (turned[0], c + 1), (c + 1, turned[1]), (i, j + 1))
        goal = TurnedPart(*goal, np.exp(log_l - k * cut))
        cut = np.concatenate([far, near + (far - near) * outside], axis=1)  # at first h is 1 everywhere outside
        turned = (
            np.minimum(np.searchsorted(psi, at - cut, "right"), i),
            np.maximum(np.searchsorted(psi, at + cut), j + 1),
        )
        rest = self._turned(rows, (0 * c, turned[0]), (turned[1], 0 * c + last), (i, j + 1), outside=True)
        rest = TurnedPart(*rest, np.exp(log_l - k * cut))
        target, rest = (goal, rest) if self.goal.move > 0 else (rest, goal)
        return target.raised(np.exp(self.epsilon[rows.which] * self.goal.step)[:, None]), rest

    def _turned(
        self,
        rows: _AtomRows,
        left: tuple[Places, Places],
        right: tuple[Places, Places],
        goal: tuple[int, int],
        *,
        outside: bool = False,
    ) -> tuple[Array, Array]:
        """Σ hf and Σ Lhf, with h = κ from place to place on both sides of the peaks, and 1 elsewhere in the same part.

        Along the radii h is 1 everywhere at first and κ everywhere at last.
        """
        c, n = rows.place[:, None], self.goal.atoms.psi.size
        whole = (
            ((0 * c, 0 * c + goal[0]), (0 * c + goal[1], 0 * c + n))
            if outside
            else ((0 * c + goal[0], c + 1), (c + 1, 0 * c + goal[1]))
        )
        found: list[Array] = []
        for tilted in (False, True):
            part = self._added(rows, *whole, tilted=tilted)
            more = self._added(rows, left, right, tilted=tilted)
            more[:, 0], more[:, -1] = 0.0, part[:, 0]
            found.append(part + (self.goal.factor - 1) * more)
        return found[0], found[1]

    def _added(
        self, rows: _AtomRows, left: tuple[Places, Places], right: tuple[Places, Places], *, tilted: bool
    ) -> Array:
        """Masses from place to place on both sides, plain or tilted; a place after its end is none."""
        if not tilted:
            below = self._below
            return np.maximum(below[left[1]] - below[left[0]], 0.0) + np.maximum(below[right[1]] - below[right[0]], 0.0)
        sums, start, which = self._sums, self.goal.run[0], rows.which[:, None]
        units = (u[:, None] for u in self._units(rows.which, rows.place)[:2])
        first = np.maximum(sums[0][which, left[1]] - sums[0][which, left[0]], 0.0)
        second = np.maximum(sums[1][which, right[1] - start] - sums[1][which, right[0] - start], 0.0)
        by_left, by_right = units
        return by_left * first + by_right * second


@dataclass(frozen=True, eq=False)
class _AtomRows(Rows):
    """Peaks of several ε, in order: what bounds each and all up to the next, attacks, their turns, the polygons."""

    which: NDArray[np.int64]
    place: Places
    between: Array
    value: Array
    bound: Array
    turns: Array
    upper: Array
    lower: Array
    looks: NDArray[np.int64]

    def most(self, values: Array, count: int) -> Array:
        """The largest for each ε."""
        found = np.zeros(count)
        np.maximum.at(found, self.which, values)
        return found
