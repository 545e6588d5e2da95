"""The remainder: a % b, MOD(a, b)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sqlglot import Expr, exp

from guessproof.intervals import ONE, ZERO, Interval, outward
from guessproof.sql.movement import ChangeBounds, Neighbours, carry_through
from guessproof.sql.rules.values import parse_number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import OfOne, Reader, Rule

LARGEST = 2.0**52  # of the whole part of a / b: beyond it a remainder has no digits left


@dataclass(frozen=True)
class Remainder(OfOne):
    """a − b·trunc(a / b), with the sign of a: between two multiples of b it moves like a, across one it may jump."""

    divisor: float

    def value(self, a: float) -> float:
        return a - self.divisor * math.trunc(a / self.divisor)

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a = self.inner.follow(neighbours)
        # Rounding may carry a / b over a whole number: the remainder then lies that far beyond its range.
        slip = 8 * 2.0**-52 * a.hull.size + a.error
        period = self._period(a.hull, slip)
        if period is not None:
            shift = Interval(self.divisor * period, self.divisor * period)
            bounds = carry_through([(ONE, a)], a.before - shift, a.after - shift, ulps=4, whole=self.is_whole)
            return bounds if self.is_whole else replace(bounds, error=bounds.error + slip)
        before, after = (self._range(side, slip) for side in (a.before, a.after))
        gap = after - before if a.moves else ZERO
        steep = math.inf if a.moves else 0.0
        return ChangeBounds(before, after, ZERO, gap, steep, slip if not self.is_whole else 0.0, a.null, a.moves)

    def _period(self, hull: Interval, slip: float) -> int | None:
        """How often b goes into everything between the ends, where that is one number."""
        ends = {math.trunc((end + side * slip) / self.divisor) for end in hull for side in (-1, 1)}
        return ends.pop() if len(ends) == 1 else None

    def _range(self, side: Interval, slip: float) -> Interval:
        low, high = max(side.low, -self.divisor), min(side.high, self.divisor)
        return outward(min(low, 0.0) - slip, max(high, 0.0) + slip, 4)

    def write(self, target: SqlTarget) -> Expr:
        return target.remainder(self.inner.write(target), self.divisor)

    @property
    def is_whole(self) -> bool:
        return self.inner.is_whole and self.divisor == math.floor(self.divisor)


def read_remainder(expression: Expr, reader: Reader) -> Remainder:
    """a % 7, MOD(a, 7)."""
    divisor = parse_number(expression.expression)
    if divisor is None or not 1e-6 <= divisor <= 1e12:
        raise reader.refuse("the divisor must be a positive number", expression.expression, "write x % 7")
    inner = reader.term(expression.this)
    seen = inner.follow(reader.declared.at_rest(inner.columns))
    if not seen.hull.size / divisor <= LARGEST:
        raise reader.refuse("this is too large beside its divisor", expression.this, "narrow the bounds")
    return Remainder(inner, divisor)


RULE = Rule("% and MOD", (exp.Mod,), read_remainder, ("SUM(time % 60)", "COUNT(*) WHERE MOD(FLOOR(time), 2) = 0"))
