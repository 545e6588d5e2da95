"""Cells of several attributes: a bound on the odds of any goal, certified by a linear program.

Cells are products of the axes' cells. The unknowns are their means M_k = E[L | cell k], so the mass of the goal is an
exact sum wherever its faces lie on cell ends. Between cells hold the steps of one attribute (`axes`), and of several
moving at once M_k <= e^c M_k' with

    c = eps·E[d] + tau(eps·diam_k, eps·osc d),    tau as in `world.pieces`,

d the norm of the coupled displacements, E[d] bounded at the corners of their ranges with product weights that keep the
means (Edmundson-Madansky), diam_k of cell k along the moving attributes. A cell of which the goal holds the share alpha
(from above) puts at most min(alpha e^w/(alpha e^w + 1 - alpha), alpha + e^w (eps/2) sqrt(2 alpha (1 - alpha)) rms d) of
its likelihood on the goal, w = eps·diam_k, and the rest off it. Leaving a step out only loosens the bound.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product
from typing import Any

import numpy as np

from guessproof.risk.finite.linear import Couplings, ProgramBound, best_odds
from guessproof.risk.joint.axes import (
    LABELS,
    AxisStep,
    GridAxis,
    Index,
    LineAxis,
    label_axis,
    line_axis,
    ruler,
)
from guessproof.risk.joint.frame import Frame, frame_of, leaves
from guessproof.risk.joint.joint_attack import JointAttack
from guessproof.risk.joint.regions import Boxes, kinds, shares
from guessproof.world.checks import Array, quiet
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal, Together
from guessproof.world.pieces import spread

STEPS = 1, 2  # cells that a step of several attributes passes
BESIDE_LABELS = (
    1,
    2,
    3,
    5,
    8,
    13,
    21,
)  # the same beside a change of label, which a longer way on the line costs nothing
ROUNDS = 4  # in which a cell that the goal cuts is divided, at most
MOST_BOXES = 60_000  # parts of cells in one round; more would take longer than the program

PAD_SHARE = 1e-11  # rounding of the sum of a cell's parts
CELLS = 400  # about: beside a box
CELLS_OF_THREE = 2500  # the same for three numbers
CELLS_CURVED = 1300  # the same where the goal cuts cells
TAIL_OF_THREE = 4e-2  # the same of three numbers, of which more cells near the goal matter more
GROWTH = 0.15  # by which a cell is longer for each unit of distance from the goal
BEYOND = 1e-9  # the same of one more cell, where the goal cuts cells
TAIL = 4e-3  # probability beyond the usual cells of an axis
WIDTHS = np.geomspace(1e-3, 2.0, 200)  # of the widest attribute: widths of cells


Shares = tuple[Array, Array]  # bounds on the share of each cell that meets a goal


@dataclass(frozen=True, eq=False)
class CellGrid:
    """All cells with some mass, flattened."""

    axes: tuple[GridAxis, ...]
    frame: Frame

    @cached_property
    def _masses(self) -> Array:
        """Masses of all cells; those of a joint histogram lie in one of its rectangles each."""
        joint, shape = self.frame.histogram, tuple(axis.mass.size for axis in self.axes)
        if joint is None:
            return reduce(np.multiply.outer, [axis.mass for axis in self.axes])
        one, two = self.axes
        ends = np.broadcast_to(two.low, shape), np.broadcast_to(two.high, shape)
        return one.mass[:, None] * joint.slice_mass(one.attribute.name, one.centre, *ends)

    @cached_property
    def index(self) -> tuple[Any, ...]:
        """The positions on every axis of the cells with some mass."""
        return np.nonzero(self._masses > 0)

    @cached_property
    def mass(self) -> Array:
        """Their masses."""
        return self._masses[self.index]

    def along(self, column: str) -> list[Array]:
        """A column of each axis, for every cell."""
        return [getattr(axis, column)[i] for axis, i in zip(self.axes, self.index, strict=True)]

    @cached_property
    def diameter(self) -> Array:
        """The largest distance between two points of a cell."""
        return self.frame.reach(self.along("diameter"))


def cut_grid(question: JointAttack, goal: Goal, finer: float = 1) -> CellGrid:
    """Return the space cut into cells, `finer` times as many as are usual."""
    frame = frame_of(question, goal)
    labels: dict[str, GridAxis] = {}
    for a in frame.axes:
        if isinstance(a.prior, Finite) and not (
            a.prior.is_line and len(a.prior.values) > LABELS
        ):
            labels[a.name] = label_axis(a)
    curved = frame.tilts or any(isinstance(leaf, Together) for leaf in leaves(goal))
    tails, count = [TAIL / finer], CELLS
    if curved:
        tails, count = [TAIL / finer, BEYOND], CELLS_CURVED
    elif len(frame.axes) - len(labels) > 2:
        tails, count = [TAIL_OF_THREE / finer], CELLS_OF_THREE
    rulers: dict[str, Any] = {}
    for attribute in frame.axes:
        name, joint = attribute.name, frame.histogram
        edges = joint.edges[joint.axis(name)] if joint else ()
        if name not in labels:
            marks = np.array(frame.marks(goal, name))
            rulers[name] = ruler(attribute, marks, edges, tails, GROWTH / finer**0.5)
    lines = list(rulers.values())
    widths = WIDTHS * (max([length for length, _ in lines], default=0.0) or 1.0)
    count *= finer / np.prod([axis.mass.size for axis in labels.values()])

    def excess(width: float) -> float:
        return count - float(np.prod([cuts(width).size + 1.0 for _, cuts in lines]))

    width = widths[min(bisect_left(widths, 0.0, key=excess), widths.size - 1)]
    axes = [labels.get(a.name) or line_axis(a, rulers[a.name][1](width)) for a in frame.axes]
    return CellGrid(tuple(axes), frame)


def couplings(grid: CellGrid, epsilon: float) -> Couplings:
    """Return all steps: of one attribute, and of several at once where the norm makes that cheaper."""
    position = np.full(tuple(axis.mass.size for axis in grid.axes), -1)
    position[grid.index] = np.arange(grid.mass.size)
    stay = [(np.arange(axis.mass.size),) * 2 for axis in grid.axes]
    found: list[tuple[Any, Any, Any]] = []

    def add(moves: dict[int, tuple[Index, Index]], cost: Array) -> None:
        """Edges between all cells that differ by these moves."""
        ends = [moves.get(i, pair) for i, pair in enumerate(stay)]
        rows, cols = (position[np.ix_(*side)] for side in zip(*ends, strict=True))
        cost = np.broadcast_to(cost, rows.shape)
        some = (rows >= 0) & (cols >= 0) & np.isfinite(cost)
        found.append((rows[some], cols[some], cost[some]))

    for i, axis in enumerate(grid.axes):
        rows, cols, cost = axis.neighbours(epsilon)
        add({i: (rows, cols)}, _along(cost, i, len(grid.axes)))
    for steps in _joint_steps(grid):
        moves = {i: (step.source, step.target) for i, step in steps.items()}
        add(moves, _cost(grid, steps, epsilon))
    return Couplings(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _along(values: Array, axis: int, count: int) -> Array:
    """A column of one axis, shaped to be joined with those of the others."""
    return np.reshape(values, [-1 if i == axis else 1 for i in range(count)])


def _joint_steps(grid: CellGrid) -> list[dict[int, AxisStep]]:
    """Steps of several attributes at once that are worth an edge."""
    if grid.frame.question.norm == "l1" and not grid.frame.tilts:
        return []
    lines = sum(isinstance(axis, LineAxis) for axis in grid.axes)
    offsets = STEPS[:1] if lines > 2 else STEPS
    if lines == 1:
        offsets = BESIDE_LABELS
    choices = product(*([None, *axis.steps(offsets)] for axis in grid.axes))
    steps = [{i: step for i, step in enumerate(choice) if step} for choice in choices]
    return [
        some for some in steps if len(some) > 1 and all(s.source.size for s in some.values())
    ]


def _cost(grid: CellGrid, steps: dict[int, AxisStep], epsilon: float) -> Array:
    """How far means of cells can differ that steps of several attributes at once lead between."""
    size, frame = len(grid.axes), grid.frame
    bounds = np.zeros((4, size), dtype=object)  # 0 where an attribute stays
    for i, step in steps.items():
        sign = np.sign(step.offset or 1)
        columns = (
            step.least * sign,
            step.most * sign,
            step.mean * sign,
            grid.axes[i].diameter[step.source],
        )
        bounds[:, i] = [_along(column, i, size) for column in columns]
    least, most, mean, diameter = bounds
    total: Any = 0.0
    for corner in product((0, 1), repeat=len(steps)):
        parts, weight = list(least), 1.0
        for i, is_most in zip(steps, corner, strict=True):
            gap = most[i] - least[i]
            share = np.divide(mean[i] - least[i], gap, out=np.ones_like(gap), where=gap != 0)
            weight = weight * np.clip(share if is_most else 1 - share, 0, 1)
            parts[i] = most[i] if is_most else least[i]
        total = total + weight * frame.distance(parts)
    far = frame.reach([np.abs(part) for part in most])
    near = 0.0 if frame.tilts else frame.distance(list(least))
    with quiet():
        cost = epsilon * total + spread(
            epsilon * frame.reach(list(diameter)), epsilon * (far - near)
        )
    return np.minimum(cost, epsilon * far)


def cell_shares(
    question: JointAttack, goal: Goal, finer: float
) -> tuple[CellGrid, list[Shares]]:
    """Return the cells and the shares of them that each kind of guess has; they are the same at every epsilon."""

    def compute() -> tuple[CellGrid, list[Shares]]:
        grid = cut_grid(question, goal, finer)
        return grid, [shares_of(grid, kind) for kind in kinds(goal)]

    return question.once(("cells", goal, finer), compute)


def shares_of(grid: CellGrid, goal: Goal) -> Shares:
    """Return bounds on the share of each cell that meets a goal; cells that it cuts are divided."""
    size = grid.mass.size
    ends = np.stack([grid.along("low"), grid.along("high")], axis=1)
    boxes = Boxes(np.arange(size), np.ones(size), ends)
    low, high = shares(grid.frame, goal, boxes, grid.frame.lines, ROUNDS, MOST_BOXES)
    pad = PAD_SHARE * (high > low)
    return np.maximum(low - pad, 0.0), np.minimum(high + pad, 1.0)


def _most_inside(share: Array, w: Array, move: Any) -> Array:
    """The most of a cell's likelihood that a share of it can hold."""
    with quiet():
        two_valued = share / (share + (1 - share) * np.exp(-w))
        smooth = share + np.exp(w) * move / 2 * np.sqrt(2 * share * (1 - share))
    most = np.where(np.isfinite(w), np.fmin(two_valued, smooth), 1.0)
    return np.where((share > 0) & (share < 1), np.minimum(most, 1.0), share)


@dataclass(frozen=True, eq=False)
class CellBound:
    """A grid, the program's answer for it (log-odds that no likelihood exceeds), and what cells weigh in that."""

    grid: CellGrid
    program: ProgramBound
    weight: Array


def cell_bound(
    question: JointAttack,
    goal: Goal,
    epsilon: float,
    finer: float = 1,
) -> CellBound:
    """Return the odds of a goal that no likelihood of rate epsilon exceeds, by `finer` times the usual cells."""
    grid, parts = cell_shares(question, goal, finer)
    w = epsilon * grid.diameter
    move = epsilon * grid.frame.rms(grid.along("rms"))
    inside = grid.mass * _most_inside(parts[0][1], w, move)
    outside = grid.mass - inside
    if len(parts) > 1:  # what is surely wrong has the least weight that the rest leaves it
        wrong = 1 - _most_inside(1 - parts[1][0], w, np.inf)
        outside = np.minimum(grid.mass * wrong, outside)
    found = best_odds(inside, outside, couplings(grid, epsilon))
    return CellBound(grid, found, inside + outside)
