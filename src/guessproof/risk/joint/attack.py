"""A likelihood that reaches nearly as much as cells allow, integrated from below.

From the values v_j = ln M_j that the linear program gives to finite cells with centres c_j,

    s(x) = max_j (v_j - eps·d(x, c_j))

is eps-Lipschitz in any distance d. Outside all finite cells s is what it is at the nearest point of them, which brings
no two points further apart. On a box around c, e^s lies between e^{s(c)} times e^{-eps·r} and e^{eps·r}, r half the
diameter: right guesses count with the lower, wrong ones with the upper one.
"""

from __future__ import annotations

import numpy as np

from guessproof.risk.joint.axes import GridAxis, line_axis
from guessproof.risk.joint.cells import CellBound, CellGrid, shares_of
from guessproof.risk.joint.regions import kinds
from guessproof.world.checks import Array, quiet
from guessproof.world.goals import Goal

BOXES = 60_000  # boxes over which an attack is integrated
NEGLIGIBLE = 1e-7  # probability of a cell whose value the program hardly fixes


def cell_attack(found: CellBound, goal: Goal, epsilon: float) -> float:
    """Return log-odds that the likelihood from a program's values reaches."""
    grid, frame = found.grid, found.grid.frame
    if not frame.is_straight:
        return -np.inf
    lines, parts = len(frame.lines), 1
    while lines and grid.mass.size * (2 * parts) ** lines <= BOXES:
        parts *= 2
    boxes = CellGrid(tuple(_divided(axis, parts) for axis in grid.axes), frame)
    shares = [shares_of(boxes, kind) for kind in kinds(goal)]
    right = shares[0][0]
    wrong = shares[1][1] if len(shares) > 1 else 1 - right
    log_l = _extended(found, boxes, epsilon)
    spans = [np.where(np.isfinite(span), span, 0.0) for span in boxes.along("diameter")]
    reach = epsilon * frame.reach(spans) / 2
    log_l -= np.max(log_l)
    with quiet():
        inside = boxes.mass * right @ np.exp(log_l - reach)
        outside = boxes.mass * wrong @ np.exp(log_l + reach)
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
