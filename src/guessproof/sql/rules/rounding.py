"""ROUND, FLOOR and CEIL."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import Expr, exp

from guessproof.intervals import ONE, ZERO, Interval, outward
from guessproof.sql.movement import ChangeBounds, Neighbours, carry_through
from guessproof.sql.rules.values import parse_number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import OfOne, Reader, Rule

Way = Literal["nearest", "down", "up"]


@dataclass(frozen=True)
class Rounded(OfOne):
    """a to `digits` decimals: two numbers end at most one step further apart than they were."""

    digits: int
    way: Way = "nearest"

    @property
    def step(self) -> float:
        """The distance of two neighbouring results."""
        return 10.0**-self.digits

    def value(self, a: float) -> float:
        return self._nearest(a)

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a = self.inner.follow(neighbours)
        before, after = self._range(a.before, a.error), self._range(a.after, a.error)
        bounds = carry_through([(ONE, a)], a.before, a.after, ulps=0)
        # Two computed numbers differ by what the inner ones do, with their errors, plus one step.
        changes = a.moves and (a.slope != ZERO or a.gap != ZERO or a.error > 0)
        gap = bounds.gap + outward(-self.step, self.step, exact=self.digits == 0) if changes else bounds.gap
        if a.slope == ZERO:
            gap = gap & (after - before) if a.moves else ZERO
        error = a.error + (4 * 2.0**-52 * (before | after).size if self.digits else 0.0)
        return replace(bounds, before=before, after=after, gap=gap, error=error, steep=math.inf if a.moves else 0.0)

    def _range(self, r: Interval, error: float) -> Interval:
        """Rounding rises: the ends, rounded, are the ends."""
        wide = outward(r.low - error, r.high + error, 4)
        ends = self._nearest(wide.low), self._nearest(wide.high)
        return outward(*ends, exact=self.digits == 0)

    def _nearest(self, a: float) -> float:
        """Halves go away from zero, as engines round."""
        if self.way != "nearest":
            return float(math.floor(a) if self.way == "down" else math.ceil(a))
        return math.copysign(math.floor(abs(a) * 10.0**self.digits + 0.5) / 10.0**self.digits, a)

    def write(self, target: SqlTarget) -> Expr:
        inner = self.inner.write(target)
        if self.way == "nearest":
            return target.rounded(inner, self.digits)
        return target.floor(inner) if self.way == "down" else target.ceiling(inner)

    @property
    def is_whole(self) -> bool:
        return self.digits <= 0


def read_rounded(expression: Expr, reader: Reader) -> Rounded:
    """ROUND(a), ROUND(a, 2)."""
    decimals = expression.args.get("decimals")
    digits = 0.0 if decimals is None else parse_number(decimals)
    if digits is None or digits != math.floor(digits) or not 0 <= digits <= 9 or expression.args.get("truncate"):
        raise reader.refuse("the number of digits is not understood", decimals or expression, "write ROUND(x, 0…9)")
    return Rounded(reader.term(expression.this), int(digits))


def read_whole(expression: Expr, reader: Reader) -> Rounded:
    """FLOOR(a), CEIL(a)."""
    if any(value for name, value in expression.args.items() if name != "this"):
        raise reader.refuse("only FLOOR(x) and CEIL(x) are understood", expression, "write FLOOR(x * 10) / 10")
    return Rounded(reader.term(expression.this), 0, "down" if isinstance(expression, exp.Floor) else "up")


WHOLE_RULE = Rule("FLOOR and CEIL", (exp.Floor, exp.Ceil), read_whole, ("SUM(FLOOR(time / 10))", "SUM(CEIL(time))"))
RULE = Rule("ROUND", (exp.Round,), read_rounded, ("SUM(ROUND(time))", "SUM(ROUND(time / 7, 1))"))
