"""Several runs of correct guesses along a line, as lumps: what a likelihood adds up to from one end of each on.

The line is cut into stretches that belong wholly to the goal, or wholly to the rest, and each of them into cells
between places that are evenly far apart (but for the first and the last cell, in which hardly anybody is). Nothing else
is known of a prior than how much every cell holds, and how much it holds of e^{±ε·distance}: densities and numbers are
the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.atoms import Atoms
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.zigzag import Component, components
from guessproof.risk.zigzag_atoms import runs_of
from guessproof.world.checks import Array, Mask

Cells = NDArray[np.int64]

_CELLS = 160, 320  # of a stretch, and where one of so many would hold too much
_MOST = 0.006  # of the prior in a cell
_TAIL = 1e-13  # of the prior beyond which cells are not even
NOBODY = 1e-15  # of the prior
_STRETCHES = 3  # at least: one of them lies between two others
_STEEPEST = 300.0  # ε times how far all of it reaches: beyond it exponents are too large
_HARDLY_ANY = 1e-300


@dataclass(frozen=True, eq=False)
class ToldHalf:
    """A stretch seen from one of its ends, for one ε."""

    rate: (
        float  # ε in the goal, −ε in the rest: a likelihood rises in the one, and falls in the other, from its ends on
    )
    far: Array  # ψ from that end to each place
    mass: Array  # ∫f up to each place
    told: Array  # ∫e^{rate·far}f up to each place
    dense: Array | None = None  # the most of f in each cell, by ψ, where that is known

    def under_tents(self, places: Cells) -> Array:
        """∫f·tent between each two places, at most: 0 at both, convex on both sides of its peak, and 1 at most."""
        mass = np.diff(self.mass[places])
        if self.dense is None:
            return mass
        with np.errstate(invalid="ignore"):
            return np.fmin(mass, 0.5 * np.diff(self.far[places]) * np.maximum.reduceat(self.dense, places[:-1]))

    @cached_property
    def height(self) -> Array:
        """e^{rate·far} at each place."""
        with np.errstate(over="ignore"):
            return np.exp(self.rate * self.far)

    def cells_up_to(self, far: Array) -> Cells:
        """How many cells begin within that distance from the end."""
        step = self.far[2] - self.far[1] if self.far.size > 3 else 0.0
        place = np.clip((far - self.far[1]) / max(step, _HARDLY_ANY), -1.0, self.far.size - 3) + 2
        return np.where(far < self.far[1], far >= 0, place + (far >= self.far[-1])).astype(np.int64)

    @cached_property
    def after(self) -> tuple[Array, Array]:
        """`mass` and `told` after so many cells, less what the last of them holds of its end.

        A concave function of e^{rate·far} lies above its chord in a cell: its mean there is at least that of its values
        at both places, weighed by where the mean of e^{rate·far} is. Here it is 0 at the nearer one.
        """
        cell, told, height = np.diff(self.mass), np.diff(self.told), self.height
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            beyond = told - cell * height[:-1]
            share = np.clip(beyond / (height[1:] - height[:-1]), 0.0, cell)
            share = np.where(np.isnan(share), cell, share)
            ends = np.where(np.isinf(height[1:]), beyond, share * height[1:])
        mass, told = self.mass[1:] - share, self.told[1:] - ends
        return np.concatenate([[0.0], mass, [0.0]]), np.concatenate([[0.0], told, [0.0]])


@dataclass(frozen=True, eq=False)
class ToldStretch:
    """A part of goal or rest from its left end and from its right one; only one of them where the line ends there."""

    goal: bool
    left: ToldHalf | None
    right: ToldHalf | None

    @property
    def is_told(self) -> bool:
        """Whether integrals end: where a tail outweighs ε, some likelihood makes all of the goal believed."""
        return all(bool(np.isfinite(half.told[-1])) for half in (self.left, self.right) if half is not None)

    @property
    def width(self) -> float:
        half = self.left or self.right
        assert half is not None
        return float(half.far[-1])


def _half(rate: float, places: Array, mass: Array, told: Array, dense: Array | None = None) -> ToldHalf:
    """From cells in order, the nearest first; `told` counts each from its nearer place."""
    with np.errstate(over="ignore", invalid="ignore"):
        weighed = np.where(told > 0, told * np.exp(rate * places[:-1]), 0.0)
    up_to = [np.concatenate([[0.0], np.cumsum(part)]) for part in (mass, weighed)]
    return ToldHalf(rate, places, up_to[0], up_to[1], dense)


def _without_gaps(pieces: list[Component]) -> list[Component]:
    """Stretches that begin where the one before ends, goal and rest in turn: a likelihood may change where nobody is,
    too, and what holds nobody may belong to either.
    """
    found = pieces[:1]
    for _, end, goal in pieces[1:]:
        start, last, before = found[-1]
        found[-1:] = [(start, end, goal)] if goal == before else [found[-1], (last, end, goal)]
    return found


@dataclass(frozen=True, eq=False)
class DensityStretches:
    """Goal and rest beside a density."""

    world: TiltedIntegrals
    every: tuple[Component, ...]

    @classmethod
    def of(cls, world: TiltedIntegrals, intervals: list[tuple[float, float]]) -> DensityStretches | None:
        """None where ψ jumps, or fewer than three stretches are left: between those nothing turns."""
        pieces = _without_gaps(components(world.prior, intervals))
        return None if any(world.form.jumps) or len(pieces) < _STRETCHES else cls(world, tuple(pieces))

    @property
    def turned(self) -> DensityStretches:
        """The same with all others correct."""
        return replace(self, every=tuple((a, b, not goal) for a, b, goal in self.every))

    @property
    def count(self) -> int:
        """How many stretches there are."""
        return len(self.pieces)

    @cached_property
    def pieces(self) -> tuple[Component, ...]:
        """Those that count: an outer part of the rest adds −κp times what it holds, or more."""
        first, *inner, last = self.every
        few = [goal or float(self.world.prior.mass(a, b)) > NOBODY for a, b, goal in (first, last)]
        return (*([first] * few[0]), *inner, *([last] * few[1])) if len(inner) > 1 else self.every

    @cached_property
    def _places(self) -> list[Array]:
        """The ends of cells; outer stretches begin or end where the prior does."""
        low, high = (
            float(q) for q in np.clip(self.world.prior.quantile([_TAIL, 1 - _TAIL]), *self.world.prior.support)
        )
        found: list[Array] = []
        for start, end, _ in self.pieces:
            psi = self.world.form.psi(np.clip([start, end], low, high))
            few, many = (self._between(start, end, np.linspace(psi[0], psi[1], cells + 1)) for cells in _CELLS)
            found.append(few if np.max(self.world.prior.mass(few[:-1], few[1:])) <= _MOST else many)
        return found

    def _between(self, start: float, end: float, psi: Array) -> Array:
        """From start to end, by way of these ψ."""
        inner = np.clip(self.world.form.inverse(psi), start, end)
        return np.concatenate([[start], inner, [end]])

    @cached_property
    def masses(self) -> list[Array]:
        return [np.asarray(self.world.prior.mass(x[:-1], x[1:])) for x in self._places]

    @cached_property
    def _dense(self) -> list[Array] | None:
        """The most of the density in each cell, in units of ψ; None where the distance bends."""
        if not self.world.form.is_straight:
            return None
        return [self.world.prior.density_range(x[:-1], x[1:])[1] / self.world.form.slopes[0] for x in self._places]

    def at(self, epsilon: float) -> list[ToldStretch] | None:
        """All stretches from left to right; None where ε is too large."""
        psi = self.world.form.psi
        if epsilon * float(psi(self.pieces[-1][0]) - psi(self.pieces[0][1])) > _STEEPEST:
            return None
        found: list[ToldStretch] = []
        for i, ((start, end, goal), x, mass) in enumerate(zip(self.pieces, self._places, self.masses, strict=True)):
            rate, dense = epsilon if goal else -epsilon, None if self._dense is None else self._dense[i]
            halves: list[ToldHalf | None] = [None, None]
            with np.errstate(all="ignore"):
                if i > 0:
                    told = np.exp(self.world.log_tilt(np.asarray(rate), x[:-1], x[1:], x[:-1]))
                    halves[0] = _half(rate, psi(x) - psi(start), mass, told, dense)
                if i < len(self.pieces) - 1:
                    told = np.exp(self.world.log_tilt(np.asarray(-rate), x[:-1], x[1:], x[1:]))
                    halves[1] = _half(
                        rate, (psi(end) - psi(x))[::-1], mass[::-1], told[::-1], None if dense is None else dense[::-1]
                    )
            found.append(ToldStretch(goal, *halves))
        return found


@dataclass(frozen=True, eq=False)
class AtomStretches:
    """The same among finitely many numbers."""

    atoms: Atoms
    marks: Mask
    cells: int = _CELLS[1]  # of a stretch

    @property
    def turned(self) -> AtomStretches:
        """The same with all others correct."""
        return replace(self, marks=~self.marks)

    @property
    def count(self) -> int:
        """How many stretches there are."""
        return len(self._runs)

    @cached_property
    def _runs(self) -> Sequence[slice]:
        return runs_of(self.marks)

    @cached_property
    def _ends(self) -> list[tuple[float, float]]:
        """ψ at the ends of each stretch: what lies between two runs belongs to the rest."""
        psi, found = self.atoms.psi, list[tuple[float, float]]()
        for run in self._runs:
            first, last = float(psi[run.start]), float(psi[run.stop - 1])
            if not self.marks[run.start]:
                first = float(psi[run.start - 1]) if run.start else first
                last = float(psi[run.stop]) if run.stop < psi.size else last
            found.append((first, last))
        return found

    @cached_property
    def masses(self) -> list[Array]:
        return [self._in_cells(run, self.atoms.mass[run]) for run in self._runs]

    @cached_property
    def _places(self) -> list[Array]:
        return [np.concatenate([[a], np.linspace(a, b, self.cells + 1), [b]]) for a, b in self._ends]

    def _in_cells(self, run: slice, held: Array) -> Array:
        """What each cell of a stretch holds in all."""
        return np.bincount(self._cell[run], held, self.cells + 2).astype(np.float64)

    @cached_property
    def _cell(self) -> Cells:
        """In which cell of its stretch each number lies."""
        found = [
            np.clip(np.searchsorted(places, self.atoms.psi[run], side="right") - 1, 1, self.cells)
            for places, run in zip(self._places, self._runs, strict=True)
        ]
        return np.concatenate(found)

    def at(self, epsilon: float) -> list[ToldStretch] | None:
        psi, mass, last = self.atoms.psi, self.atoms.mass, len(self._runs) - 1
        if epsilon * float(psi[-1] - psi[0]) > _STEEPEST:
            return None
        found: list[ToldStretch] = []
        for i, (run, places, total) in enumerate(zip(self._runs, self._places, self.masses, strict=True)):
            goal, cell = bool(self.marks[run.start]), self._cell[run]
            rate = epsilon if goal else -epsilon
            halves: list[ToldHalf | None] = [None, None]
            if i > 0:
                told = self._in_cells(run, mass[run] * np.exp(rate * (psi[run] - places[cell])))
                halves[0] = _half(rate, places - places[0], total, told)
            if i < last:
                told = self._in_cells(run, mass[run] * np.exp(rate * (places[cell + 1] - psi[run])))
                halves[1] = _half(rate, (places[-1] - places)[::-1], total[::-1], told[::-1])
            found.append(ToldStretch(goal, *halves))
        return found
