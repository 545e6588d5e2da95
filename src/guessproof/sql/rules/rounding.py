"""ROUND."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sqlglot import Expr, exp

from guessproof.sql.moves import Moved, Scene, through
from guessproof.sql.ranges import ONE, ZERO, Range, outward
from guessproof.sql.reader import Reader, Rule
from guessproof.sql.rules.number import literal_number
from guessproof.sql.term import Node, Row, Term, Types


@dataclass(frozen=True)
class Rounded(Term):
    """a to `digits` decimals: two numbers end at most one step further apart than they were."""

    inner: Term
    digits: int

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.inner,)

    @property
    def step(self) -> float:
        """The distance of two neighbouring results."""
        return 10.0**-self.digits

    def at(self, row: Row) -> float | None:
        a = self.inner.at(row)
        return None if a is None else math.copysign(math.floor(abs(a) / self.step + 0.5) * self.step, a)

    def follow(self, scene: Scene) -> Moved:
        a = self.inner.follow(scene)
        moved = through([(ONE, a)], self._range(a.before), self._range(a.after), ulps=4)
        step = outward(-self.step, self.step)
        changes = a.slope != ZERO or a.gap != ZERO
        gap = moved.gap + step if changes else moved.gap
        # Two computed numbers still differ by what the inner ones do, plus one step: the inner error is enough.
        return replace(moved, gap=gap, steep=math.inf)

    def _range(self, r: Range) -> Range:
        half = self.step / 2
        return outward(r.low - half, r.high + half)

    def write(self, types: Types) -> Expr:
        return exp.Round(this=self.inner.write(types), decimals=exp.Literal.number(self.digits))

    @property
    def is_whole(self) -> bool:
        return self.digits <= 0


def read_rounded(expression: Expr, reader: Reader) -> Rounded:
    """ROUND(a), ROUND(a, 2)."""
    decimals = expression.args.get("decimals")
    digits = 0.0 if decimals is None else literal_number(decimals)
    if digits is None or digits != math.floor(digits) or not 0 <= digits <= 9 or expression.args.get("truncate"):
        raise reader.refuse("the number of digits is not understood", decimals or expression, "write ROUND(x, 0…9)")
    return Rounded(reader.term(expression.this), int(digits))


RULE = Rule("ROUND", (exp.Round,), read_rounded, ("SUM(ROUND(time))", "SUM(ROUND(time / 7, 1))"))
