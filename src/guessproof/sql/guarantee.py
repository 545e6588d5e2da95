"""The guarantee of an aggregate: how far one protected unit can move it (MATHEMATICS 6).

A record contributes φ(x) to a sum, a count, a smallest or a largest value, and what it contributes when it is
filtered out (0, or the end of the range that leaves MIN or MAX alone). Sums, counts and extremes move no further than
φ does: D(x, x') = |φ(x) − φ(x')|, with every other record and every column that is not protected as it is. Where a
record is in several rows, as in a view, a sum moves by that many times as much.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guessproof.guarantee import Guarantee
from guessproof.names import folded
from guessproof.sql.by_column import euclidean, label_metric, number_metric
from guessproof.sql.contribution import Contribution
from guessproof.sql.declared import Declared, DeclaredColumn
from guessproof.sql.moves import Column, Side
from guessproof.sql.output import Key
from guessproof.sql.ranges import point
from guessproof.sql.reach import away, reach
from guessproof.world.line_form import LineMetric, Metric


def guarantee_of(contribution: Contribution, declared: Declared, keys: Sequence[Key], copies: int = 1) -> Guarantee:
    """The guarantee of a contribution that is made up to `copies` times; `keys` are those of GROUP BY."""
    furthest = reach(contribution, declared)
    unit = declared.unit
    repeated = declared.copies is not None
    change = unit.whole_change(furthest.change, furthest.presence, grouped=bool(keys), repeated=repeated)
    secret = tuple(key for key in keys if declared.column(key.column).protected)
    lines: dict[str, LineMetric] = {}
    columns: dict[str, Metric] = {}
    for name in sorted(contribution.columns):
        column = declared.column(name)
        if column.protected and column.is_number:
            columns[name], lines[name] = number_metric(contribution, declared, name)
        elif column.protected:
            columns[name] = label_metric(contribution, declared, column)
    response = ContributionResponse(contribution, declared, secret)
    slope, rounding = euclidean(contribution, declared), 2 * furthest.error
    alone = Guarantee(unit, columns, lines, furthest.change, furthest.presence, slope, rounding, ((1.0, response),))
    return alone.regrouped([key.column for key in secret], change).scaled(copies)


@dataclass(frozen=True)
class ContributionResponse:
    """The exact move of an aggregate between two sets of values of one record."""

    contribution: Contribution
    declared: Declared
    keys: tuple[Key, ...]  # protected ones of GROUP BY: whoever changes one leaves a group and enters another

    def between(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
        """How far the number can move when the named columns go from one set of values to another, at most."""
        if any(before.get(key.column) != after.get(key.column) for key in self.keys):
            return math.fsum(self.alone(values) for values in (before, after) if self._is_shown(values))
        scene = dict(self.declared.at_rest(self.contribution.columns))
        read = {folded(name): name for name in scene}
        for name in before:
            column = self.declared.column(name)
            moves = column.read(before[name]) != column.read(after[name])
            sides = _side(column, before[name]), _side(column, after[name])
            if folded(name) in read:  # one that stays is known all the same, which rules out most outcomes
                scene[read[folded(name)]] = Column(*sides, moves=moves or sides[0] != sides[1])
        return self.contribution.follow(scene).change

    def alone(self, values: Mapping[str, Any]) -> float:
        """How far the number can move when a record with these values comes or goes, at most."""
        scene = dict(self.declared.at_rest(self.contribution.columns))
        known = {folded(name): value for name, value in values.items()}
        for name in scene:
            if folded(name) in known:
                side = _side(self.declared.column(name), known[folded(name)])
                scene[name] = Column(side, side)
        return away(self.contribution, scene)

    def _is_shown(self, values: Mapping[str, Any]) -> bool:
        """Whether a record can be in a group of the answer: one whose key is no level is in none."""
        given = [(values[key.column], key.levels) for key in self.keys if key.column in values]
        return not any(value is None or (isinstance(value, str) and value not in levels) for value, levels in given)


def _side(column: DeclaredColumn, value: Any) -> Side:
    seen = column.read(value)
    if column.is_number:
        return Side(missing="yes") if seen is None else Side(numbers=point(seen))
    if column.is_textual:
        gone = value is None and column.missing
        return Side(missing="yes") if gone else Side(labels=frozenset((column.label(value),)))
    return Side(missing="yes") if seen is None else Side()
