"""The distance of two points: POINT(a, b) <@> POINT(c, d), or the root of a sum of squares in any spelling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

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
    """√(a² + b² + …): slopes between −1 and 1 everywhere, and of Euclidean length at most 1 together."""

    sides: tuple[Term, ...]

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.sides

    def at(self, row: Row) -> float | None:
        values = [side.at(row) for side in self.sides]
        known = [value for value in values if value is not None]
        return math.hypot(*known) if len(known) == len(values) else None

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        sides = [side.follow(neighbours) for side in self.sides]
        hulls = [side.hull for side in sides]
        if max(hull.size for hull in hulls) > LONGEST:
            raise ArithmeticError("the square of a number leaves the range of arithmetic")
        parts = [(_partial(hull, _length(hulls[:k] + hulls[k + 1 :])), sides[k]) for k, hull in enumerate(hulls)]
        before, after = _length([side.before for side in sides]), _length([side.after for side in sides])
        bounds = carry_through(parts, before, after, steep=self._steep(sides), ulps=2 + len(sides))
        return replace(bounds, error=bounds.error + len(sides) * SHORTEST)

    def _steep(self, sides: Sequence[ChangeBounds]) -> float:
        """∇√(a²+b²) = (a∇a + b∇b)/√(a²+b²): the weights are of length 1, so the lengths of the gradients bound it.

        Over different columns these are orthogonal, and the longest one is enough.
        """
        lengths = [side.steep for side in sides]
        read = [name for side in self.sides for name in side.columns]
        return max(lengths) if len(read) == len(set(read)) else math.hypot(*lengths) * (1 + 2.0**-50)

    def write(self, target: SqlTarget) -> Expr:
        squares: list[Expr] = [target.times(t.write(target), t.write(target)) for t in self.sides]
        return exp.Sqrt(this=reduce(_add, squares))


def _add(a: Expr, b: Expr) -> Expr:
    return exp.Add(this=a, expression=b)


def _length(sides: Sequence[Interval]) -> Interval:
    sizes = [side.absolute() for side in sides]
    return outward(math.hypot(*(s.low for s in sizes)), math.hypot(*(s.high for s in sizes)), 8)


def _partial(a: Interval, b: Interval) -> Interval:
    """The range of a/√(a²+b²): it rises in a, and a nearer b makes it steeper."""
    near, far = b.absolute()
    low = _cosine(a.low, near if a.low < 0 else far)
    high = _cosine(a.high, near if a.high > 0 else far)
    return Interval(max(-1.0, low - 2.0**-50), min(1.0, high + 2.0**-50))


def _cosine(x: float, y: float) -> float:
    return x / math.hypot(x, y) if x else 0.0


def read_distance(expression: Expr, reader: Reader) -> Distance:
    """POINT(a, b) <@> POINT(c, d); a pair in brackets is a point too."""
    (a, b), (c, d) = (_read_point(side, reader) for side in (expression.this, expression.expression))
    return Distance((Addition(a, c, -1), Addition(b, d, -1)))


def _read_point(expression: Expr, reader: Reader) -> tuple[Term, Term]:
    if isinstance(expression, exp.Paren):
        return _read_point(expression.this, reader)
    is_call = isinstance(expression, exp.Anonymous) and str(expression.this).upper() == "POINT"
    if (is_call or isinstance(expression, exp.Tuple)) and len(expression.expressions) == 2:
        first, second = expression.expressions
        return reader.term(first), reader.term(second)
    raise reader.refuse("a point is needed here", expression, "write POINT(x, y) <@> POINT(3, 4)")


def read_squares(expression: Expr, reader: Reader) -> Distance | None:
    """a² + b², or of three and more, in any spelling; None where it is something else."""
    found = [_read_square(side) for side in _list_summands(expression)]
    sides = [side for side in found if side is not None]
    if len(found) < 2 or len(sides) < len(found):
        return None
    return Distance(tuple(reader.term(side) for side in sides))


def _list_summands(expression: Expr) -> list[Expr]:
    while isinstance(expression, exp.Paren):
        expression = expression.this
    if isinstance(expression, exp.Add):
        return [*_list_summands(expression.this), *_list_summands(expression.expression)]
    return [expression]


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
    (
        "MIN(POINT(lon, lat) <@> POINT(3, 4))",
        "MIN((POINT(lon, lat) <@> (0, 0)) * 2)",
        "MIN(SQRT(POWER(lon - 3, 2) + POWER(lat - 4, 2)))",
        "MIN(((lon - 3)^2 + (lat - 4)^2)^0.5)",
        "MAX(SQRT(lon^2 + lat^2 + time^2))",
    ),
)
