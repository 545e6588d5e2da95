"""Cells of several attributes: a bound on the odds of any goal, certified by a linear program.

Cells are products of the axes' cells. The unknowns are their means M_k = E[L | cell k], so the mass of the goal is an
exact sum wherever its faces lie on cell ends. Between cells hold the steps of one attribute (`axes`), and of several
moving at once M_k <= e^c M_k' with

    c = eps·E[d] + tau(eps·diam_k, eps·osc d),    tau as in `world.pieces`,

d the norm of the coupled displacements, E[d] bounded at the corners of their ranges with product weights that keep the
means (Edmundson-Madansky), diam_k of cell k along the moving attributes; c is at most eps times the largest d.

A cell of which the goal holds the share alpha
(from above) puts at most alpha e^w/(alpha e^w + 1 - alpha) of its likelihood on the goal, w = eps·diam_k, and the rest
off it. Leaving a step out only loosens the bound.

An attack is integrated from below. From the values v_j = ln M_j of the program at the centres c_j of finite cells,

    s(x) = max_j (v_j - eps·d(x, c_j))

is eps-Lipschitz in any distance d. Outside all finite cells s is what it is at the nearest point of them, which brings
no two points further apart. On a box around c, e^s lies between e^{s(c)} times e^{-eps·r} and e^{eps·r}, r half the
diameter: right guesses count with the lower, wrong ones with the upper one.
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
from guessproof.risk.joint.joint_attack import Frame, JointAttack, frame_of, leaves
from guessproof.risk.joint.regions import Boxes, kinds, shares
from guessproof.world.checks import Array, quiet
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal, Together
from guessproof.world.pieces import spread

# Cells that a step of several attributes passes: on one line beside labels, which hide a longer way, or on two.
STEPS = {1: (1, 2, 3, 5, 8, 13, 21), 2: (1, 2)}
ROUNDS = 4  # in which a cell that the goal cuts is divided, at most
MOST_BOXES = 60_000  # parts of cells in one round; more would take longer than the program

PAD_SHARE = 1e-11  # rounding of the sum of a cell's parts
CELLS = 600  # about: beside a box
CELLS_OF_THREE = 4200  # the same for three numbers
CELLS_CURVED = 1300  # the same where the goal cuts cells
TAIL_OF_THREE = 4e-2  # the same of three numbers, of which more cells near the goal matter more
GROWTH = 0.1  # by which a cell is longer for each unit of distance from the goal
TAIL = 4e-3  # probability beyond the usual cells of an axis
WIDTHS = np.geomspace(1e-3, 2.0, 200)  # of the widest attribute: widths of cells


Shares = tuple[Array, Array]  # bounds on the share of each cell that meets a goal

BOXES = 60_000  # boxes over which an attack is integrated
NEGLIGIBLE = 1e-7  # probability of a cell whose value the program hardly fixes


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
    tail, count = TAIL / finer, CELLS
    if curved:
        count = CELLS_CURVED
    elif len(frame.axes) - len(labels) > 2:
        tail, count = TAIL_OF_THREE / finer, CELLS_OF_THREE
    rulers: dict[str, Any] = {}
    for attribute in frame.axes:
        name, joint = attribute.name, frame.histogram
        edges = joint.edges[joint.axis(name)] if joint else ()
        if name not in labels:
            marks = np.array(frame.marks(goal, name))
            rulers[name] = ruler(attribute, marks, edges, tail, GROWTH / finer**0.5)
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
        moves = {i: step[:2] for i, step in steps.items()}
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
    choices = product(*([None, *axis.steps(STEPS.get(lines, (1,)))] for axis in grid.axes))
    steps = [{i: step for i, step in enumerate(choice) if step} for choice in choices]
    return [
        some for some in steps if len(some) > 1 and all(step[0].size for step in some.values())
    ]


def _cost(grid: CellGrid, steps: dict[int, AxisStep], epsilon: float) -> Array:
    """How far means of cells can differ that steps of several attributes at once lead between."""
    size, frame = len(grid.axes), grid.frame
    ranges: list[Any] = [(0.0,)] * size  # where an attribute stays
    weights: list[Any] = [(1.0,)] * size
    diameter: list[Any] = [0.0] * size
    for i, (source, _, *columns) in steps.items():
        least, most, mean = (_along(column, i, size) for column in columns)
        with quiet():
            share = np.nan_to_num((mean - least) / (most - least))
        ranges[i], weights[i] = (least, most), (1 - share, share)
        diameter[i] = _along(grid.axes[i].diameter[source], i, size)
    corners = [frame.distance(corner) for corner in product(*ranges)]
    far = reduce(np.maximum, corners)
    if frame.tilts:  # where a larger mean along an axis may be a shorter way
        return epsilon * far
    total = sum(
        reduce(np.multiply, w) * d for w, d in zip(product(*weights), corners, strict=True)
    )
    varies = far - reduce(np.minimum, corners)
    tau = spread(epsilon * frame.reach(diameter), epsilon * varies)
    return np.minimum(epsilon * total + tau, epsilon * far)


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


def _most_inside(share: Array, w: Array) -> Array:
    """The most of a cell's likelihood that a share of it can hold."""
    with quiet():
        most = share / (share + (1 - share) * np.exp(-w))
    return np.where((share > 0) & (share < 1), np.where(np.isfinite(w), most, 1.0), share)


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
    grid, ((_, right), (wrong, _)) = cell_shares(question, goal, finer)
    w = epsilon * grid.diameter
    inside = grid.mass * _most_inside(right, w)
    # What is surely wrong has the least weight that the rest leaves it.
    outside = np.minimum(grid.mass - inside, grid.mass * (1 - _most_inside(1 - wrong, w)))
    found = best_odds(inside, outside, couplings(grid, epsilon))
    return CellBound(grid, found, inside + outside)


def cell_attack(found: CellBound, goal: Goal, epsilon: float) -> float:
    """Return log-odds that the likelihood from a program's values reaches."""
    grid, frame = found.grid, found.grid.frame
    if not frame.is_straight:
        return -np.inf
    lines, parts = len(frame.lines), 1
    while lines and grid.mass.size * (2 * parts) ** lines <= BOXES:
        parts *= 2
    boxes = CellGrid(tuple(_divided(axis, parts) for axis in grid.axes), frame)
    (right, _), (_, wrong) = (shares_of(boxes, kind) for kind in kinds(goal))
    log_l = _extended(found, boxes, epsilon)
    spans = [np.where(np.isfinite(span), span, 0.0) for span in boxes.along("radius")]
    reach, log_l = epsilon * frame.reach(spans), log_l - np.max(log_l)
    known = np.isfinite(boxes.diameter) | (not frame.tilts)
    least, most = log_l - reach, np.where(known, np.minimum(log_l + reach, 0.0), 0.0)
    with quiet():
        inside = boxes.mass * right * known @ np.exp(least)
        outside = boxes.mass * wrong @ np.exp(most)
        return float(np.log(inside) - np.log(outside))


def _divided(axis: GridAxis, parts: int) -> GridAxis:
    """Each finite cell of a density divided into equal parts."""
    if not axis.is_split:
        return axis
    inner = np.linspace(axis.low[axis.finite], axis.high[axis.finite], parts + 1)
    cuts = np.concatenate([axis.low, axis.high, inner.ravel()])
    return line_axis(axis.attribute, np.unique(cuts[np.isfinite(cuts)]))


def _extended(found: CellBound, boxes: CellGrid, epsilon: float) -> Array:
    """ln L at the centres of boxes."""
    grid = found.grid
    tables = [
        to.distances(axis.centre[:, None])
        for axis, to in zip(grid.axes, boxes.axes, strict=True)
    ]
    log_l = np.full(boxes.mass.size, -np.inf)
    for node in np.flatnonzero(np.isfinite(grid.diameter) & (found.weight > NEGLIGIBLE)):
        sides = zip(tables, grid.index, boxes.index, strict=True)
        far = boxes.frame.distance([table[own[node]][to] for table, own, to in sides])
        np.maximum(log_l, found.program.log_m[node] - epsilon * far, out=log_l)
    return log_l
