"""How far a record can move a contribution at all: by changing, and by coming or going."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

from guessproof.sql.contribution import Contribution
from guessproof.sql.declared import Declared
from guessproof.sql.moves import Column, Scene, Side
from guessproof.sql.pieces import cuts_of, leaves, pieces_of
from guessproof.sql.ranges import point
from guessproof.sql.term import Condition, Term

MOST_PIECES = 8  # a filter and a sum of one column are followed together, piece by piece, up to this many


@dataclass(frozen=True)
class Reach:
    """At most this: by changing protected values, by coming or going; and what floating point adds on one side."""

    change: float
    presence: float
    error: float


def reach(contribution: Contribution, declared: Declared) -> Reach:
    """The largest moves of a contribution, every protected column free."""
    scene = declared.in_motion(contribution.columns)
    whole = contribution.follow(scene)
    change, presence = whole.change, away(contribution, scene)
    for name in sorted(contribution.columns):
        sides = _sides(contribution, declared, name)
        if sides:
            # A filter on the column rules out values of it: each piece is followed with what the filter lets through.
            pairs = [Column(a, b, moves=True) for a, b in combinations_with_replacement(sides, 2)]
            change = min(change, max(contribution.follow({**scene, name: pair}).change for pair in pairs))
            presence = min(presence, max(away(contribution, {**scene, name: Column(s, s)}) for s in sides))
    return Reach(change, presence, whole.error)


def away(contribution: Contribution, scene: Scene) -> float:
    """How far from what is there without the record."""
    absent = point(contribution.absent)
    return ((contribution.follow(scene).hull | absent) - absent).size


def _sides(contribution: Contribution, declared: Declared, name: str) -> list[Side]:
    """What a column that is both tested and added up can hold, piece by piece; none where that is of no use."""
    column = declared.column(name)
    read = [node for node in leaves(contribution) if name in node.columns]
    tested, added = (any(isinstance(node, kind) for node in read) for kind in (Condition, Term))
    if not (column.protected and column.is_number and tested and added):
        return []
    found = [Side(piece) for piece in pieces_of(cuts_of(contribution, name))]
    if len(found) > MOST_PIECES:
        return []
    return [*found, Side(missing="yes")] if column.missing else found
