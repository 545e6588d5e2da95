"""A column of numbers in pieces: between two neighbouring cuts nothing jumps or bends that is known to."""

from __future__ import annotations

import math
from collections.abc import Iterator

from guessproof.sql.ranges import Range
from guessproof.sql.term import Node


def cuts_of(node: Node, name: str) -> tuple[float, ...]:
    """Where the node may jump or bend as a function of this column, in order."""
    return tuple(sorted(c for c in node.cuts(name) if math.isfinite(c)))


def pieces_of(cuts: tuple[float, ...]) -> list[Range]:
    """All numbers, in pieces that end at a cut and begin just above one.

    >>> pieces_of((0.0,)) == [Range(-math.inf, 0.0), Range(5e-324, math.inf)]
    True
    """
    lows = [-math.inf, *(math.nextafter(c, math.inf) for c in cuts)]
    return [Range(low, high) for low, high in zip(lows, [*cuts, math.inf], strict=True)]


def leaves(node: Node) -> Iterator[Node]:
    """The parts that are made of nothing else."""
    if not node.parts:
        yield node
    for part in node.parts:
        yield from leaves(part)
