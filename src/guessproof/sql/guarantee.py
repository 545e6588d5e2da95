"""The guarantee of an aggregate: how far one protected unit can move it (MATHEMATICS 6).

A record contributes φ(x) to a sum, a count, a smallest or a largest value, and what it contributes when it is
filtered out (0, or the end of the range that leaves MIN or MAX alone). Sums, counts and extremes move no further than
φ does: D(x, x') = |φ(x) − φ(x')|, with every other record and every column that is not protected as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guessproof.guarantee import Guarantee
from guessproof.sql.by_column import euclidean, label_metric, number_metric
from guessproof.sql.contribution import Contribution
from guessproof.sql.declared import Declared, DeclaredColumn
from guessproof.sql.moves import Column, Side
from guessproof.sql.ranges import point
from guessproof.sql.reach import reach
from guessproof.sql.rules.column import plain_number
from guessproof.sql.rules.label import plain_label
from guessproof.world.line_metric import LineMetric
from guessproof.world.metrics import Metric


def guarantee_of(contribution: Contribution, declared: Declared, keys: Sequence[str] | None) -> Guarantee:
    """The guarantee of a contribution; `keys` are the columns of GROUP BY, None without one."""
    furthest = reach(contribution, declared)
    change = declared.unit.whole_change(furthest.change, furthest.presence, grouped=keys is not None)
    secret = tuple(key for key in keys or () if declared.column(key).protected)
    lines: dict[str, LineMetric] = {}
    columns: dict[str, Metric] = {}
    for name in sorted(contribution.columns):
        column = declared.column(name)
        if column.protected and column.is_number:
            columns[name], lines[name] = number_metric(contribution, declared, name)
        elif column.protected:
            columns[name] = label_metric(contribution, declared, column)
    response = ContributionResponse(contribution, declared, secret, change)
    slope, rounding = euclidean(contribution, declared), 2 * furthest.error
    found = Guarantee(
        declared.unit, columns, lines, furthest.change, furthest.presence, slope, rounding, ((1.0, response),)
    )
    return found.regrouped(secret, change)


@dataclass(frozen=True)
class ContributionResponse:
    """The exact move of an aggregate between two sets of values of one record."""

    contribution: Contribution
    declared: Declared
    keys: tuple[str, ...]  # protected columns of GROUP BY: whoever changes one leaves a group and enters another
    regrouped: float

    def between(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
        """How far the number can move when the named columns go from one set of values to another, at most."""
        if any(before.get(key) != after.get(key) for key in self.keys):
            return self.regrouped
        scene = dict(self.declared.at_rest(self.contribution.columns))
        read = {name.casefold(): name for name in scene}
        for name in before:
            column = self.declared.column(name)
            sides = _side(column, before[name]), _side(column, after[name])
            if name.casefold() in read:  # one that stays is known all the same, which rules out most outcomes
                scene[read[name.casefold()]] = Column(*sides, moves=sides[0] != sides[1])
        return self.contribution.follow(scene).change


def _side(column: DeclaredColumn, value: Any) -> Side:
    if column.is_number:
        number = plain_number(value)
        return Side(missing="yes") if number is None else Side(numbers=point(number))
    return Side(missing="yes") if value is None else Side(labels=frozenset((plain_label(value),)))
