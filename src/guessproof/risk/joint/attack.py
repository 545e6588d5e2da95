"""A likelihood that reaches nearly as much as cells allow, integrated from below.

From the values v_j = ln M_j that the linear program gives to cells with centres c_j,

    s(x) = (max_j (v_j - eps·d(x, c_j)) + min_j (v_j + eps·d(x, c_j))) / 2

is eps-Lipschitz in any distance d, as either extension alone is; their mean follows ridges that each alone misses.
Only the few cells that no other one implies are kept. On a box around c the mean of e^s lies between e^{s(c)} times
bounds of E e^{-eps·d(x, c)} and E e^{eps·d(x, c)}: right guesses count with the lower, wrong ones with the upper one.
Along the tails L is cut off at its largest value elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from guessproof.risk.joint.axes import GridAxis, line_axis
from guessproof.risk.joint.cells import CellBound, CellGrid, kinds, shares_of
from guessproof.risk.joint.formula import Gate, Tree, blocks
from guessproof.risk.joint.joint_attack import JointAttack
from guessproof.world.checks import Array, quiet
from guessproof.world.goals import Goal
from guessproof.world.line import LinePrior

LEVELS = 4001  # of the signed distance: belief is off by eps times a step at most
FAR = 1e-6  # probability beyond the outermost level on each side: all of it counts as wrong
LOST = 1e-15  # of a probability that is a difference from 1, by rounding
LONGEST = 600.0  # in ln L: e^600 is below the largest number
SQRT2 = (
    2**0.5
)  # two independent values of a box are this much further apart than one is from its centre
BOXES = 60_000  # boxes over which an attack is integrated
NEGLIGIBLE = 1e-7  # probability of a cell whose value the program hardly fixes
KEPT = 80  # cells that an extension is made of
IMPLIED = 0.02  # of eps times a cell: a value this close to what others imply is left out


def cell_attack(found: CellBound, goal: Goal, epsilon: float) -> float:
    """Return log-odds that the likelihood from a program's values reaches."""
    grid, frame = found.grid, found.grid.frame
    if not frame.is_straight:
        return -np.inf
    lines, parts = len(grid.split), 1
    while lines and grid.mass.size * (2 * parts) ** lines <= BOXES:
        parts *= 2
    boxes = CellGrid(tuple(_divided(axis, parts) for axis in grid.axes), frame)
    shares = [shares_of(boxes, kind) for kind in kinds(goal)]
    right = shares[0][0]
    wrong = shares[1][1] if len(shares) > 1 else 1 - right
    # Where distances are straight the centre is half as far from all of a box as its ends are from each other.
    halves = 2 if all(map(_is_halved, boxes.axes)) else 1
    log_s, reach = _extended(found, boxes, epsilon), epsilon * boxes.diameter / halves
    mean = np.minimum(epsilon * frame.rms(boxes.along("rms")) / SQRT2, reach)
    with quiet():
        up = np.minimum(
            mean + reach**2 / 8, reach
        )  # of a bounded variable, by Hoeffding's lemma
        inner = log_s - np.where(right >= 1, mean, reach)
        outer = log_s + np.where(wrong >= 1, up, reach)
        # In tails L is cut off at its largest value elsewhere.
        outer = np.minimum(outer, np.max((log_s + reach)[np.isfinite(reach)], initial=-np.inf))
        inside = boxes.mass * right @ np.exp(inner - np.max(log_s))
        outside = boxes.mass * wrong @ np.exp(outer - np.max(log_s))
        odds = float(np.log(inside) - np.log(outside))
    return odds if outside < np.inf else -np.inf


def _is_halved(axis: GridAxis) -> bool:
    """Whether no two values of a cell have a distance that a cap or a step decides."""
    form = axis.attribute.distance.line_form
    straight = form is not None and not form.step and np.isinf(form.cap)
    return straight or not np.any(axis.diameter)


def _divided(axis: GridAxis, parts: int) -> GridAxis:
    """Each finite cell of a density divided into equal parts."""
    if not axis.is_split:
        return axis
    inner = np.linspace(axis.low[axis.finite], axis.high[axis.finite], parts + 1)
    cuts = np.concatenate([axis.low, axis.high, inner.ravel()])
    return line_axis(axis.attribute, np.unique(cuts[np.isfinite(cuts)]))


def _extended(found: CellBound, boxes: CellGrid, epsilon: float) -> Array:
    """The mean of both extensions at the centres of boxes."""
    grid, values = found.grid, np.where(found.weight > NEGLIGIBLE, found.program.log_m, np.nan)
    sides, distances = list[Array](), _distances(grid, boxes)
    for sign in (1.0, -1.0):
        best = np.full(boxes.mass.size, -np.inf)
        for node in _kept(grid, sign * values, epsilon):
            np.maximum(best, sign * values[node] - epsilon * distances(node), out=best)
        sides.append(sign * best)
    return 0.5 * (sides[0] + sides[1])


def _distances(grid: CellGrid, boxes: CellGrid) -> Callable[[int], Array]:
    """Return what measures the distances from the centre of a cell to those of boxes."""
    tables = [
        to.distances(axis.centre[:, None])
        for axis, to in zip(grid.axes, boxes.axes, strict=True)
    ]

    def measured(node: int) -> Array:
        places = zip(tables, grid.index, boxes.index, strict=True)
        return boxes.frame.distance([table[own[node]][to] for table, own, to in places])

    return measured


def _kept(grid: CellGrid, values: Array, epsilon: float) -> list[int]:
    """The cells whose values the others do not imply: an upper extension is made of these."""
    slack = (
        IMPLIED
        * epsilon
        * float(np.max(grid.diameter[np.isfinite(grid.diameter)], initial=0.0))
    )
    values, distances = np.nan_to_num(values, nan=-np.inf), _distances(grid, grid)
    node, implied, kept = int(np.argmax(values)), np.full(values.size, -np.inf), list[int]()
    while len(kept) < KEPT and values[node] - implied[node] > slack:
        kept.append(node)
        np.maximum(implied, values[node] - epsilon * distances(node), out=implied)
        node = int(np.argmax(values - implied))
    return kept


def signed_attack(question: JointAttack, tree: Tree, epsilon: float) -> float:
    """Return log-odds that e^{eps·s} reaches, s the signed distance into the goal; -inf where it has none.

    s is the least over an AND, the largest over an OR and -s under NOT: eps-Lipschitz in every lp norm, and above 0 in
    the goal alone. For independent parts P(s > a) multiplies, and E e^{eps·s} is an integral over levels a, summed
    from below for right guesses and from above for wrong ones.
    """
    reach = 0.0
    for block in blocks(tree):
        attribute, *others = question.members(block.goal)
        prior, form = attribute.prior, attribute.distance.line_form
        if others or not isinstance(prior, LinePrior):
            return -np.inf
        if not form or not form.is_straight or form.step or form.cap < np.inf or form.is_flat:
            return -np.inf
        ends = [float(prior.quantile(share)) for share in (FAR, 1 - FAR)]
        faces = [x for x in np.ravel(question.intervals(block.goal)) if np.isfinite(x)]
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
    (attribute,) = question.members(tree.goal)
    prior, form = attribute.prior, attribute.distance.line_form
    assert isinstance(prior, LinePrior)
    assert form is not None
    ends, is_inside = np.ravel(question.intervals(tree.goal)), levels[-1] >= 0
    pairs = np.reshape(ends if is_inside else [-np.inf, *ends, np.inf], (-1, 2, 1))
    gap = np.abs(levels) / form.slopes[0]
    low, high = pairs[:, 0] + gap, pairs[:, 1] - gap
    core = np.sum(prior.mass(np.minimum(low, high), high), axis=0)
    return core if is_inside else 1 - core
