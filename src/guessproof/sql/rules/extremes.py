"""LEAST and GREATEST of several expressions; what is NULL is left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import Expr, exp

from guessproof.intervals import ZERO, Interval
from guessproof.sql.movement import NEVER, ChangeBounds, Neighbours, choose_branch, combine_and
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Node, Reader, Row, Rule, Term


@dataclass(frozen=True)
class Extreme(Term):
    """The smallest or the largest: no further than its parts move."""

    terms: tuple[Term, ...]
    largest: bool

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.terms

    def at(self, row: Row) -> float | None:
        values = [v for t in self.terms if (v := t.at(row)) is not None]
        return None if not values else (max if self.largest else min)(values)

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        return reduce(self._pair, (t.follow(neighbours) for t in self.terms))

    def _pair(self, a: ChangeBounds, b: ChangeBounds) -> ChangeBounds:
        present_a, present_b = replace(a, null=NEVER), replace(b, null=NEVER)
        both = self._present(present_a, present_b)
        found = choose_branch(a.null, present_b, choose_branch(b.null, present_a, both))
        return replace(found, null=combine_and((a.null, b.null)))

    def _present(self, a: ChangeBounds, b: ChangeBounds) -> ChangeBounds:
        wins_a, wins_b = (a.hull.low >= b.hull.high, b.hull.low >= a.hull.high)
        if not self.largest:
            wins_a, wins_b = a.hull.high <= b.hull.low, b.hull.high <= a.hull.low
        if wins_a or wins_b:
            return a if wins_a else b
        pick = Interval.maximum if self.largest else Interval.minimum
        before, after = pick(a.before, b.before), pick(a.after, b.after)
        # Δ lies between Δa and Δb: a straight line from one pair to the other passes each tie with a convex weight.
        slope, gap = a.slope | b.slope, a.gap | b.gap
        return ChangeBounds(
            before,
            after,
            slope,
            gap & (after - before) if slope == ZERO else gap,
            max(a.steep, b.steep),
            max(a.error, b.error),
            moves=a.moves or b.moves,
        )

    def write(self, target: SqlTarget) -> Expr:
        return target.extreme([t.write(target) for t in self.terms], self.largest)

    @property
    def is_whole(self) -> bool:
        return all(t.is_whole for t in self.terms)


def read_extreme(expression: Expr, reader: Reader) -> Extreme:
    """LEAST(a, b, …), GREATEST(a, b, …)."""
    terms = tuple(reader.term(e) for e in (expression.this, *expression.expressions))
    return Extreme(terms, isinstance(expression, exp.Greatest))


RULE = Rule(
    "LEAST and GREATEST", (exp.Least, exp.Greatest), read_extreme, ("SUM(LEAST(time, 60))", "SUM(GREATEST(time, age))")
)
