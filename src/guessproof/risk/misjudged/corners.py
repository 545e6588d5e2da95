"""The corner likelihoods of a finite world: finitely many, and the same ones for every ε and every prior.

What an attacker gains depends on L through L_i ≤ e^{ε·d_ij}·L_j alone, i a correct value and j a wrong one: the other
constraints can be met afterwards at no loss. Write ln L = ε·x inside and ε·y outside. At a corner of
{x_i − y_j ≤ d_ij} the tight pairs join all values: they hold a spanning tree. Where no two ways around tie, each corner
has one tree, and for a correct and b wrong values there are exactly C(a+b−2, a−1) of them (the simplices of a
triangulation of a product of two simplices: Gelfand, Kapranov & Zelevinsky 1994; Develin & Sturmfels 2004). They are
found by walking: take an edge out, move one part of the tree until another pair is tight. That all were found is
checked by their number.

Ties are broken by widening distances at random by less than 1e-10 of the largest: a wider distance allows more, so that
what is bounded by these corners stays bounded. All is done in whole numbers. Values whose distances differ by a
constant only move together, and are one: on a line all that lies left of the goal is one value, all right another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from guessproof.world.checks import Array

Whole = NDArray[np.int64]

MOST_CORNERS = 13_000  # 9 correct and 9 wrong values have 12,870
_UNITS = 2**58  # the largest distance in whole numbers
_SHAKEN = 2**24  # how many of them a distance is widened by, at most
_ALIKE = 1e-12  # of the largest distance: a constant that varies less is one
_TRIES = 5
_AT_ONCE = 400_000  # pairs (tree, edge, correct, wrong) that are looked at together


@dataclass(frozen=True)
class Corners:
    """ln L of each corner for ε = 1: one row a corner, a column for each correct and for each wrong value."""

    inside: Array
    outside: Array


def corner_count(distance: Array) -> int:
    """How many corners there are for distances from correct values (rows) to wrong ones."""
    if not np.all(np.isfinite(distance)):
        return MOST_CORNERS + 1
    a, b = _moved_together(distance)[0].shape
    return math.comb(a + b - 2, a - 1)


def corners_of(distance: Array) -> Corners | None:
    """All corners; None where they are too many."""
    if corner_count(distance) > MOST_CORNERS:
        return None
    core, (row, above), (column, beside) = _moved_together(distance)
    size = float(np.max(core)) or 1.0
    for seed in range(_TRIES):
        found = _walked(_whole(core / size, seed))
        if found is not None:
            x, y = (part * (size / _UNITS) for part in found)
            return Corners(x[:, row] + above, y[:, column] - beside)
    return None


def _moved_together(distance: Array) -> tuple[Array, tuple[Any, Array], tuple[Any, Array]]:
    """Distances between groups; the group of each row and column, and what it is further away than its group."""
    rows, row, above = _groups(distance)
    columns, column, beside = _groups(distance[rows].T)
    return distance[np.ix_(rows, columns)], (row, above), (column, beside)


def _groups(distance: Array) -> tuple[list[int], Any, Array]:
    """The first row of each group, the group of each row, and the least constant by which it is at most further."""
    near = _ALIKE * float(np.max(distance))
    first: list[int] = []
    group, offset = np.zeros(len(distance), dtype=np.int64), np.zeros(len(distance))
    for i, line in enumerate(distance):
        more = line - distance[first]
        alike = np.flatnonzero(np.ptp(more, axis=1) <= near) if first else np.empty(0, dtype=np.int64)
        if alike.size:
            group[i], offset[i] = alike[0], np.max(more[alike[0]])
        else:
            group[i] = len(first)
            first.append(i)
    return first, group, offset


def _whole(core: Array, seed: int) -> Whole:
    """Distances in whole numbers, none smaller, no ties."""
    shaken = np.random.default_rng(seed).integers(1, _SHAKEN, size=core.shape)
    return np.ceil(core * _UNITS).astype(np.int64) + 256 + shaken  # 256: what a double of this size is rounded by


def _walked(distance: Whole) -> tuple[Array, Array] | None:
    """The potentials (x, y) of every corner, by walking from tree to tree; None where a tie hid some."""
    a, b = distance.shape
    wanted = math.comb(a + b - 2, a - 1)
    tree, x, y = _first_tree(distance)
    front, seen = (tree[None], x[None], y[None]), {np.packbits(tree).tobytes()}
    found = [(front[1], front[2])]
    while len(seen) <= wanted and len(front[0]):
        step = max(1, _AT_ONCE // ((a + b) * a * b))
        parts = [_neighbours(distance, *(v[i : i + step] for v in front)) for i in range(0, len(front[0]), step)]
        trees, x, y = (np.concatenate(part) for part in zip(*parts, strict=True))
        fresh: list[int] = []
        for i, key in enumerate(np.packbits(trees.reshape(len(trees), a * b), axis=1)):
            if (mark := key.tobytes()) not in seen:
                seen.add(mark)
                fresh.append(i)
        front = trees[fresh], x[fresh], y[fresh]
        found.append((front[1], front[2]))
    if len(seen) != wanted:
        return None
    return (
        np.concatenate([x for x, _ in found]).astype(np.float64),
        np.concatenate([y for _, y in found]).astype(np.float64),
    )


def _first_tree(distance: Whole) -> tuple[Any, Whole, Whole]:
    """A corner: parts that tight pairs hold together are moved until all is one."""
    a = len(distance)
    x = np.min(distance, axis=1)
    y = np.max(x[:, None] - distance, axis=0)
    while True:
        tight = x[:, None] - y == distance
        left, right = _reached(tight[None], np.arange(a)[None] == 0)
        left, right = left[0], right[0]
        if left.all() and right.all():
            return tight, x, y
        slack = (distance - x[:, None] + y)[np.ix_(~left, right)]
        x, y = x - np.where(left, slack.min(), 0), y - np.where(right, slack.min(), 0)


def _reached(trees: Any, start: Any) -> tuple[Any, Any]:
    """Which correct and which wrong values hang together with some correct ones, in each of several graphs."""
    left, right = start, np.zeros((len(trees), trees.shape[2]), dtype=bool)
    while True:
        right = np.any(trees & left[:, :, None], axis=1)
        more = left | np.any(trees & right[:, None, :], axis=2)
        if np.array_equal(more, left):
            return left, right
        left = more


def _neighbours(distance: Whole, trees: Any, x: Whole, y: Whole) -> tuple[Any, Whole, Whole]:
    """Each tree with each of its edges exchanged, where that leads to a corner."""
    tree, row, column = np.nonzero(trees)
    cut = trees[tree]
    edge = np.arange(len(tree))
    cut[edge, row, column] = False
    left, right = _reached(cut, np.arange(trees.shape[1]) == row[:, None])
    slack = distance - x[tree][:, :, None] + y[tree][:, None, :]
    open_ = ~left[:, :, None] & right[:, None, :]
    slack = np.where(open_, slack, np.iinfo(np.int64).max).reshape(len(tree), -1)
    entering = np.argmin(slack, axis=1)
    least = slack[edge, entering]
    inside = np.flatnonzero(open_.any(axis=(1, 2)))
    cut.reshape(len(tree), -1)[edge, entering] = True
    moved = least[:, None]
    new_x, new_y = x[tree] - np.where(left, moved, 0), y[tree] - np.where(right, moved, 0)
    return cut[inside], new_x[inside], new_y[inside]
