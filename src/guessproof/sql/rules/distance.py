"""The distance of two points: POINT(a, b) <@> POINT(c, d), or SQRT(POWER(a - c, 2) + POWER(b - d, 2))."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sqlglot import Expr, exp

from guessproof.intervals import Interval, outward
from guessproof.sql.movement import ChangeBounds, Neighbours, carry_through
from guessproof.sql.rules.addition import Addition
from guessproof.sql.rules.values import parse_number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Node, Reader, Row, Rule, Term

LONGEST = 1e150  # beyond it squares overflow
SHORTEST = 2.0**-500  # below it squares vanish


@dataclass(frozen=True)
class Distance(Term):
    """√(a² + b²): slopes between −1 and 1 everywhere, and of Euclidean length at most 1 together."""

    across: Term
    along: Term

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.across, self.along

    def at(self, row: Row) -> float | None:
        a, b = self.across.at(row), self.along.at(row)
        return None if a is None or b is None else math.hypot(a, b)

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a, b = self.across.follow(neighbours), self.along.follow(neighbours)
        if max(a.hull.size, b.hull.size) > LONGEST:
            raise ArithmeticError("the square of a number leaves the range of arithmetic")
        # ∇√(a²+b²) = (a∇a + b∇b)/√(a²+b²): over different columns they are orthogonal, so the longer one bounds it.
        apart = not self.across.columns & self.along.columns
        steep = max(a.steep, b.steep) if apart else a.steep + b.steep
        parts = [(_partial(a.hull, b.hull), a), (_partial(b.hull, a.hull), b)]
        bounds = carry_through(parts, _length(a.before, b.before), _length(a.after, b.after), steep=steep, ulps=4)
        return replace(bounds, error=bounds.error + SHORTEST)

    def write(self, target: SqlTarget) -> Expr:
        squares = [target.times(t.write(target), t.write(target)) for t in (self.across, self.along)]
        return exp.Sqrt(this=exp.Add(this=squares[0], expression=squares[1]))


def _length(a: Interval, b: Interval) -> Interval:
    across, along = a.absolute(), b.absolute()
    return outward(math.hypot(across.low, along.low), math.hypot(across.high, along.high), 8)


def _partial(a: Interval, b: Interval) -> Interval:
    """The range of a/√(a²+b²): it rises in a, and a nearer b makes it steeper."""
    near, far = b.absolute()
    low = _cosine(a.low, near if a.low < 0 else far)
    high = _cosine(a.high, near if a.high > 0 else far)
    return Interval(max(-1.0, low - 2.0**-50), min(1.0, high + 2.0**-50))


def _cosine(x: float, y: float) -> float:
    return x / math.hypot(x, y) if x else 0.0


def read_distance(expression: Expr, reader: Reader) -> Distance:
    """POINT(a, b) <@> POINT(c, d)."""
    (a, b), (c, d) = (_read_point(side, reader) for side in (expression.this, expression.expression))
    return Distance(Addition(a, c, -1), Addition(b, d, -1))


def _read_point(expression: Expr, reader: Reader) -> tuple[Term, Term]:
    if isinstance(expression, exp.Paren):
        return _read_point(expression.this, reader)
    if (
        isinstance(expression, exp.Anonymous)
        and str(expression.this).upper() == "POINT"
        and len(expression.expressions) == 2
    ):
        first, second = expression.expressions
        return reader.term(first), reader.term(second)
    raise reader.refuse("a point is needed here", expression, "write POINT(x, y) <@> POINT(3, 4)")


def read_squares(expression: Expr, reader: Reader) -> Distance | None:
    """a² + b² in any spelling; None where it is something else."""
    while isinstance(expression, exp.Paren):
        expression = expression.this
    if not isinstance(expression, exp.Add):
        return None
    sides = [_read_square(side) for side in (expression.this, expression.expression)]
    if sides[0] is None or sides[1] is None:
        return None
    return Distance(reader.term(sides[0]), reader.term(sides[1]))


def _read_square(expression: Expr) -> Expr | None:
    while isinstance(expression, exp.Paren):
        expression = expression.this
    if isinstance(expression, exp.Pow) and parse_number(expression.expression) == 2:
        return expression.this
    if isinstance(expression, exp.Mul) and expression.this == expression.expression:
        return expression.this
    return None


RULE = Rule(
    "POINT(a, b) <@> POINT(c, d)",
    (exp.Distance,),
    read_distance,
    ("MIN(POINT(lon, lat) <@> POINT(3, 4))", "MIN(SQRT(POWER(lon - 3, 2) + POWER(lat - 4, 2)))"),
)
