"""How much of a cell, or of all, a goal holds that is no product of intervals: places, sums, formulas, what is known.

Boxes that a goal cuts are divided again and again, while interval arithmetic leaves open whether they are correct.
Shares of cells are bounded by boxes divided along all numbers. For a probability one number is summed over panels: at
each of its values the other is divided, so that the mass of a slice is right but for rounding. The nodes of a panel
crowd towards its ends, since the mass of a slice may begin there with a root.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from guessproof.risk.joint.joint_attack import Box, Frame, places
from guessproof.world.checks import Array, Indices, Mask, quiet
from guessproof.world.finite import Finite
from guessproof.world.goals import And, Conditional, Goal
from guessproof.world.line import LinePrior

_ANGLES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
NODES, WEIGHTS = np.sin(np.pi / 2 * _ANGLES), _WEIGHTS * np.cos(np.pi / 2 * _ANGLES)
TAILS = (
    1e-300,
    1e-100,
    1e-30,
    1e-13,
    1e-9,
    1e-6,
    1e-4,
    1e-3,
)  # probabilities beyond which panels and pieces end
LEVELS = np.linspace(0, 1, 17)[1:-1]  # where they end as well
SETTLED = 1e-10  # of the whole: what a panel and its halves may differ by
ROUNDS = 30  # halvings of panels
PARTS = 4  # of a box along an axis in each round
HALVINGS = 23  # rounds after which a piece of a slice is divided to rounding
MOST_BOXES = 30_000_000  # pieces of slices: some seconds
CHUNK = 1_000_000  # of them at once, for memory


@dataclass(frozen=True, eq=False)
class Boxes:
    """Parts of cells: the cell of each, its share of that, and its ends by axis and side."""

    cells: Indices
    weight: Array
    ends: Array

    def where(self, some: Mask) -> Boxes:
        """Some of them."""
        return Boxes(self.cells[some], self.weight[some], self.ends[:, :, some])

    def split(self, axis: int, prior: LinePrior) -> Boxes:
        """Each of them divided into equal parts."""
        inner = np.linspace(self.ends[axis, 0], self.ends[axis, 1], PARTS + 1, axis=1)
        share = prior.mass(inner[:, :-1], inner[:, 1:])
        ends = np.repeat(self.ends, PARTS, axis=2)
        ends[axis] = inner[:, :-1].ravel(), inner[:, 1:].ravel()
        with quiet():  # nothing of a box without mass
            share = np.nan_to_num(share / np.sum(share, axis=1, keepdims=True))
        weight = (self.weight[:, None] * share).ravel()
        return Boxes(np.repeat(self.cells, PARTS), weight, ends)


def kinds(goal: Goal) -> tuple[Goal, Goal]:
    """Return right guesses and wrong ones; a third kind may be ruled out."""
    if isinstance(goal, Conditional):
        return And((goal.goal, goal.region)), And((~goal.goal, goal.region))
    return goal, ~goal


def shares(
    frame: Frame,
    goal: Goal,
    boxes: Boxes,
    lines: Mapping[int, LinePrior],
    rounds: int,
    most: int,
) -> tuple[Array, Array]:
    """Return bounds on how much of each cell a goal holds, by at most so many boxes divided along some axes."""
    size = int(np.max(boxes.cells)) + 1
    low, rest = np.zeros(size), np.zeros(size)
    for left in reversed(range(rounds + 1)):
        wholly, partly = frame.decided(goal, boxes.ends)
        low += np.bincount(boxes.cells, boxes.weight * wholly, size)
        boxes = boxes.where(partly & ~wholly)
        is_last = not left or boxes.cells.size * PARTS ** len(lines) > most or not lines
        stays = is_last | ~np.all(np.isfinite(boxes.ends), axis=(0, 1))
        rest += np.bincount(boxes.cells, boxes.weight * stays, size)
        boxes = boxes.where(~stays)
        if not boxes.cells.size:
            break
        for axis, prior in lines.items():
            boxes = boxes.split(axis, prior)
    return low, low + rest


def region_probability(frame: Frame, goal: Goal) -> Array | None:
    """Return the probabilities of right and of wrong guesses, of all that is not ruled out; None if there are too many.

    Right to about 1e-9 of either for two attributes, not proven.
    """
    last = max(frame.lines, default=len(frame.axes) - 1)
    first, *middle = [i for i in range(len(frame.axes)) if i != last]
    pieces = [_pieces(frame, goal, i) for i in range(len(frame.axes))]
    others = [_nodes(frame.axes[i].prior, *pieces[i]) for i in middle]
    left, right = pieces[first]

    def panels(left: Array, right: Array) -> Array:
        """The probability of right and of wrong guesses in each."""
        nodes = [_nodes(frame.axes[first].prior, left, right), *others]
        points = np.meshgrid(*(x for x, _ in nodes), indexing="ij")
        weight = reduce(np.multiply.outer, [w for _, w in nodes])
        home = np.indices(weight.shape)[0] // (len(weight) // left.size)
        sides = dict(zip([first, *middle], map(np.ravel, points), strict=True))
        return _slices(frame, goal, sides, pieces[last], weight.ravel(), home.ravel())

    count = (
        np.prod([2 * NODES.size * ends[0].size for ends in pieces[:-1]]) * pieces[last][0].size
    )
    if count > MOST_BOXES:
        return None
    parts = np.array_split(np.arange(left.size), 1 + int(count) // CHUNK)
    whole, done = (
        np.concatenate([panels(left[p], right[p]) for p in parts], axis=1),
        np.zeros(2),
    )
    for _ in range(ROUNDS if len(frame.lines) == len(pieces) == 2 else 0):
        middles = 0.5 * (left + right)
        left, right = np.append(left, middles), np.append(middles, right)
        halves = panels(left, right)
        both = np.sum(np.split(halves, 2, axis=1), axis=0)
        most = SETTLED * (done + np.sum(both, axis=1))
        is_open = np.any(np.abs(both - whole) > most[:, None], axis=0)
        done += np.sum(both[:, ~is_open], axis=1)
        pairs = np.tile(is_open, 2)
        left, right, whole = left[pairs], right[pairs], halves[:, pairs]
        if not left.size:
            break
    return done + np.sum(whole, axis=1)


def _slices(
    frame: Frame,
    goal: Goal,
    sides: Mapping[int, Array],
    pieces: Box,
    weight: Array,
    home: Indices,
) -> Array:
    """The probability of right and of wrong guesses in slices through points that weigh something, for each home."""
    (last,) = set(range(len(frame.axes))) - set(sides)
    joint, (low, high) = frame.histogram, pieces
    prior: Any = frame.axes[last].prior
    ends = np.empty((len(frame.axes), 2, weight.size, low.size))
    ends[last] = np.stack(pieces)[:, None]
    for i, x in sides.items():
        ends[i] = x[:, None]
    lines = {i: prior for i, prior in frame.lines.items() if i == last}
    mass = prior.mass(low, high) if lines else prior.mass
    if joint is not None:
        mass = joint.slice_mass(
            frame.axes[1 - last].name, sides[1 - last], low[None], high[None]
        )
    parts = (mass * weight[:, None]).ravel()
    boxes = Boxes(np.repeat(home, low.size), parts, ends.reshape(-1, 2, parts.size))
    return np.array(
        [shares(frame, kind, boxes, lines, HALVINGS, MOST_BOXES)[1] for kind in kinds(goal)]
    )


def _pieces(frame: Frame, goal: Goal, axis: int) -> Box:
    """The pieces that an axis is first cut into: all values of a finite one."""
    name, prior, joint = frame.axes[axis].name, frame.axes[axis].prior, frame.histogram
    if isinstance(prior, Finite):
        return places(prior), places(prior)
    assert isinstance(prior, LinePrior)
    truth = {} if frame.tilts else frame.question.truth
    found = [*prior.breaks, *prior.support, *frame.marks(goal, name)]
    found += [*prior.quantile([*TAILS, *LEVELS]), *prior.quantile(np.array(TAILS), True)]
    found += joint.edges[joint.axis(name)] if joint else []
    found += [float(truth[n]) for n in truth if n == name]
    ends = np.unique(np.clip([x for x in found if np.isfinite(x)], *prior.support))
    return ends[:-1], ends[1:]


def _nodes(prior: Any, left: Array, right: Array) -> tuple[Array, Array]:
    """The nodes of panels, and what they weigh: all values of a finite prior."""
    if isinstance(prior, Finite):
        some = np.searchsorted(places(prior), left)
        return left, prior.mass[some]
    left, right = left[:, None], right[:, None]
    x = left + (right - left) * (1 + NODES) / 2
    with quiet():
        share = np.exp(prior.log_density(x)) * WEIGHTS
        share = np.where(np.isfinite(share), share, 0.0)
        weight = np.nan_to_num(share / np.sum(share, axis=1, keepdims=True))
    return x.ravel(), (weight * prior.mass(left, right)).ravel()
