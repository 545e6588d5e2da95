"""A likelihood that reaches nearly as much as cells allow, integrated from below.

From the values v_j = ln M_j that the linear program gives to cells with centres c_j,

    s(x) = (max_j (v_j - eps·d(x, c_j)) + min_j (v_j + eps·d(x, c_j))) / 2

is eps-Lipschitz in any distance d, as either extension alone is; their mean follows ridges that each alone misses.
Only the few cells that no other one implies are kept. On a box around c the mean of e^s lies between e^{s(c)} times
bounds of E e^{-eps·d(x, c)} and E e^{eps·d(x, c)}: right guesses count with the lower, wrong ones with the upper one.
Along the tail of an attribute s stays what it is at its finite end.
"""

from __future__ import annotations

import numpy as np

from guessproof.risk.joint.axes import GridAxis, line_axis, quantile
from guessproof.risk.joint.cells import CellBound, CellGrid, shares_of
from guessproof.risk.joint.formula import Gate, Tree, blocks
from guessproof.risk.joint.joint_attack import JointAttack
from guessproof.world.checks import Array
from guessproof.world.goals import Goal, Not
from guessproof.world.line import LinePrior

SQRT2 = (
    2**0.5
)  # two independent values of a box are this much further apart than one is from its centre
BOXES = 60_000  # boxes over which an attack is integrated
LEVELS = 4001  # of the signed distance: belief is off by eps times a step at most
FAR = 1e-6  # probability beyond the outermost level on each side: all of it counts as wrong
LOST = 1e-15  # of a probability that is a difference from 1, by rounding
LONGEST = 600.0  # in ln L: e^600 is below the largest number
NEGLIGIBLE = 1e-7  # probability of a cell whose value the program hardly fixes
KEPT = 80  # cells that an extension is made of
IMPLIED = 0.02  # of eps times a cell: a value this close to what others imply is left out


def cell_attack(found: CellBound, question: JointAttack, goal: Goal, epsilon: float) -> float:
    """Return log-odds that the likelihood from a program's values reaches."""
    grid = found.grid
    if not grid.frame.is_straight:
        return -np.inf
    lines = sum(axis.is_split for axis in grid.axes)
    parts = 1
    while lines and grid.mass.size * (2 * parts) ** lines <= BOXES:
        parts *= 2
    boxes = CellGrid(tuple(_divided(axis, parts) for axis in grid.axes), grid.frame)
    shares = shares_of(boxes, question, goal)
    right, wrong = shares[0][0], shares[1][1] if len(shares) > 1 else 1 - shares[0][0]
    log_s = _extended(found, boxes, epsilon)
    finite = [np.isfinite(size) for size in boxes.along("diameter")]
    half = [
        np.where(some, size / 2, 0.0)
        for some, size in zip(finite, boxes.along("diameter"), strict=True)
    ]
    rms = [
        np.where(some, size, 0.0) for some, size in zip(finite, boxes.along("rms"), strict=True)
    ]
    reach = epsilon * grid.frame.reach(half)
    mean = np.minimum(epsilon * grid.frame.rms(rms) / SQRT2, reach)
    up = np.minimum(mean + reach**2 / 8, reach)  # of a bounded variable, by Hoeffding's lemma
    inner, outer = (
        log_s + np.where(right >= 1, -mean, -reach),
        log_s + np.where(wrong >= 1, up, reach),
    )
    # Where s is not what it is at the end of a tail, L is cut off at its largest value instead.
    kept = [
        some | (axis.table is None and not grid.frame.tilts)
        for some, axis in zip(finite, boxes.axes, strict=True)
    ]
    tail = ~np.all(kept, axis=0)
    top = np.max((log_s + reach)[~tail], initial=-np.inf)
    inner, outer = np.where(tail, -np.inf, inner), np.where(tail, top, outer)
    most = float(np.max(log_s))
    with np.errstate(divide="ignore", over="ignore"):
        inside = float(boxes.mass * right @ np.exp(inner - most))
        outside = float(boxes.mass * wrong @ np.exp(np.where(wrong > 0, outer, -np.inf) - most))
        return (
            float(np.log(inside) - np.log(outside))
            if inside > 0 and np.isfinite(outside)
            else -np.inf
        )


def _divided(axis: GridAxis, parts: int) -> GridAxis:
    """Each finite cell of a density divided into equal parts."""
    if not axis.is_split:
        return axis
    finite = np.isfinite(axis.high - axis.low)
    share = np.arange(1, parts) / parts
    inner = axis.low[finite, None] + (axis.high - axis.low)[finite, None] * share
    return line_axis(
        axis.attribute, np.unique(np.concatenate([axis.low, axis.high, inner.ravel()]))
    )


def _extended(found: CellBound, boxes: CellGrid, epsilon: float) -> Array:
    """The mean of both extensions at the centres of boxes."""
    grid, values = found.grid, np.where(found.weight > NEGLIGIBLE, found.program.log_m, np.nan)
    between = [_distances(axis, axis) for axis in grid.axes]
    across = [_distances(fine, axis) for fine, axis in zip(boxes.axes, grid.axes, strict=True)]
    sides: list[Array] = []
    for sign in (1.0, -1.0):
        best = np.full(boxes.mass.size, -np.inf)
        for node in _kept(grid, between, sign * values, epsilon):
            parts = [
                table[i, own[node]]
                for table, i, own in zip(across, boxes.index, grid.index, strict=True)
            ]
            np.maximum(
                best, sign * values[node] - epsilon * grid.frame.distance(parts), out=best
            )
        sides.append(sign * best)
    return 0.5 * (sides[0] + sides[1])


def _kept(grid: CellGrid, between: list[Array], values: Array, epsilon: float) -> list[int]:
    """The cells whose values the others do not imply: an upper extension is made of these."""
    finite = np.concatenate([axis.diameter[np.isfinite(axis.diameter)] for axis in grid.axes])
    slack = IMPLIED * epsilon * float(np.max(finite, initial=0.0))
    values = np.nan_to_num(values, nan=-np.inf)
    implied, kept = np.full(values.size, -np.inf), list[int]()
    while len(kept) < KEPT:
        node = int(np.argmax(values - implied)) if kept else int(np.argmax(values))
        if kept and values[node] - implied[node] <= slack:
            break
        kept.append(node)
        parts = [table[i, i[node]] for table, i in zip(between, grid.index, strict=True)]
        np.maximum(implied, values[node] - epsilon * grid.frame.distance(parts), out=implied)
    return kept


def _distances(one: GridAxis, other: GridAxis) -> Array:
    """Signed distances between the centres of two axes of one attribute; labels have no sign."""
    a, b = one.centre[:, None], other.centre[None, :]
    found = one.attribute.distance.distance(a, b)
    return np.where(a < b, -found, found) if one.is_split else found


def signed_attack(question: JointAttack, tree: Tree, epsilon: float) -> float:
    """Return log-odds that e^{eps·s} reaches, s the signed distance into the goal; -inf where it has none.

    s is the least over an AND, the largest over an OR and -s under NOT: eps-Lipschitz in every lp norm, and above 0 in
    the goal alone. For independent parts P(s > a) multiplies, and E e^{eps·s} is an integral over levels a, summed
    from below for right guesses and from above for wrong ones.
    """
    reach = 0.0
    for block in blocks(tree):
        inner = block.goal.part if isinstance(block.goal, Not) else block.goal
        if len(inner.attributes) > 1:
            return -np.inf
        (attribute,) = question.members(inner)
        prior, form = attribute.prior, attribute.distance.line_form
        if not isinstance(prior, LinePrior) or len(question.intervals(inner)) != 1:
            return -np.inf
        if (
            form is None
            or not form.is_straight
            or form.step
            or np.isfinite(form.cap)
            or not form.slopes[0]
        ):
            return -np.inf
        ends = [quantile(prior, share) for share in (FAR, 1 - FAR)]
        faces = [x for x in question.intervals(inner)[0] if np.isfinite(x)]
        reach = max([reach, *(form.slopes[0] * abs(x - y) for x in ends for y in faces)])
    reach = min(reach, LONGEST / epsilon)
    levels = np.linspace(0.0, reach, LEVELS)
    above, below = _survival(question, tree, levels), _survival(question, tree, -levels)
    prior = float(above[0])
    with np.errstate(divide="ignore", over="ignore"):
        inside = prior + float(
            np.diff(np.exp(epsilon * levels)) @ np.maximum(above[1:] - LOST, 0.0)
        )
        steps = -np.diff(np.exp(-epsilon * levels))
        outside = np.exp(-epsilon * reach) * (1 - prior) + float(
            steps @ np.maximum(below[1:] - prior + LOST, 0.0)
        )
        return float(np.log(inside) - np.log(outside)) if np.isfinite(inside) else -np.inf


def _survival(question: JointAttack, tree: Tree, levels: Array) -> Array:
    """P(s > a) at every level."""
    if isinstance(tree, Gate):
        parts = [_survival(question, part, levels) for part in tree.parts]
        if tree.kind == "and":
            return np.prod(parts, axis=0)
        return 1 - np.prod([1 - part for part in parts], axis=0)
    inner = tree.goal.part if isinstance(tree.goal, Not) else tree.goal
    (attribute,) = question.members(inner)
    prior, form = attribute.prior, attribute.distance.line_form
    assert isinstance(prior, LinePrior)
    assert form is not None
    gap = levels / form.slopes[0] if inner is tree.goal else -levels / form.slopes[0]
    low, high = question.intervals(inner)[0]
    lows, highs = low + gap, high - gap
    core = np.where(lows < highs, prior.mass(np.minimum(lows, highs), highs), 0.0)
    return core if inner is tree.goal else 1 - core
