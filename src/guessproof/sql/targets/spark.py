"""Spark's SQL, for a session as `engines.spark_session` sets it up: ANSI mode, in UTC.

Spark cuts a double off where others round it to a whole number, adds whole numbers in 64 bits, rounds decimal texts of
doubles instead of doubles, takes '12d' for a number and a backslash for an escape. So every reading and every step of
arithmetic is written out here, and nothing is left to a translation.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence

from sqlglot import Expr, exp

from guessproof.sql.declared import TIME, DeclaredColumn
from guessproof.sql.target import SqlTarget, refuse_longest
from guessproof.world import MICROSECONDS

INTEGERS = {"tinyint", "smallint", "int", "bigint"}
FLOATS = {"float", "double"}
TEXTS = {"string", "varchar", "char"}
TIMES = {"date", "timestamp", "timestamp_ntz"}
LABELS = TEXTS | INTEGERS | {"date", "boolean"}
BOOLEANS = ("true", "false")

# A text that Python and DuckDB read as a number; the words of infinity too. Java's \v would be more than one character.
BLANK = r"[ \t\n\x0B\f\r]*"
NUMBER = (
    r"\A" + BLANK + r"[+-]?(([0-9]+(_[0-9]+)*(\.([0-9]+(_[0-9]+)*)?)?|\.[0-9]+(_[0-9]+)*)([eE][+-]?[0-9]+(_[0-9]+)*)?"
    r"|[iI][nN][fF]([iI][nN][iI][tT][yY])?)" + BLANK + r"\z"
)
MOMENT = r"\A(" + TIME.replace(r"\d", "[0-9]") + r")\z"
# Days from 1970 to the first and the last time that has a number of microseconds.
FIRST_DAY, LAST_DAY = -106_751_991, 106_751_990
ESCAPES = ("|", "~", "^", "!", *map(chr, range(0xE000, 0xF8FF)))  # the last ones are nobody's


class SparkTarget(SqlTarget):
    """Spark 4. The types are those of a frame's schema, of tables of the catalogue with char(n) told apart."""

    dialect = "spark"
    stored_double = "double"
    integers = frozenset(INTEGERS)

    def number(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        kind, x = strip_parameters(stored), self.name(name)
        if kind == "double":
            return x
        if kind in INTEGERS | FLOATS | {"decimal", "boolean"}:
            return _cast(x, exp.DType.DOUBLE)
        if kind in TEXTS:
            return _read_text(self._text(name, stored))
        remedy = 'declare kind = "time"' if kind in TIMES else 'declare kind = "label"'
        raise self.refusal(column, "number", remedy)

    def is_number(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        if strip_parameters(stored) in INTEGERS | {"decimal", "boolean"}:
            return exp.not_(exp.Is(this=self.name(name), expression=exp.null()), copy=False)
        return self.is_value(self.number(column))

    def is_value(self, x: Expr) -> Expr:
        return exp.LTE(this=x, expression=self.double(math.inf))  # NaN is greater than infinity

    def label(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        kind = strip_parameters(stored)
        if kind not in LABELS:
            raise self.refusal(column, "label", _suggest(kind))
        strange = [v for v in column.levels or () if v not in BOOLEANS] if kind == "boolean" else []
        if strange:
            remedy = f"whose labels are true and false, not {strange[0]}; declare levels = [true, false]"
            raise self.refusal(column, "label", remedy)
        return self._text(name, stored) if kind in TEXTS else _cast(self.name(name), exp.DType.TEXT)

    def told(self, name: str) -> Expr:
        stored = self._stored[name]
        return self._text(name, stored) if strip_parameters(stored) == "char" else self.name(name)

    def truth(self, column: DeclaredColumn) -> Expr | None:
        name, stored = self.stored(column)
        if strip_parameters(stored) != "boolean":
            return None
        if "true" in column.trues and "false" in column.falses:
            return self.name(name)
        remedy = "whose labels are true and false: name them in levels, true and false, or leave those out"
        raise self.refusal(column, "truth", remedy)

    def time(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        kind, x = strip_parameters(stored), self.name(name)
        if kind == "date":  # a date has years that a timestamp has not
            day = exp.Anonymous(this="UNIX_DATE", expressions=[x])
            fits = exp.Between(this=day, low=_whole(FIRST_DAY), high=_whole(LAST_DAY))
            return exp.case().when(fits, _cast(x.copy(), exp.DType.TIMESTAMPNTZ))
        if kind in TIMES:  # a timestamp is a moment, and the session shows it in UTC
            return x if kind == "timestamp_ntz" else _cast(x, exp.DType.TIMESTAMPNTZ)
        if kind not in TEXTS:
            raise self.refusal(column, "time", 'declare the kind that it has, as kind = "number"')
        text = self._text(name, stored)
        return exp.case().when(_matches(text, MOMENT), _try_cast(text.copy(), exp.DType.TIMESTAMPNTZ))

    def days(self, time: Expr) -> Expr:
        found = exp.Anonymous(this="UNIX_MICROS", expressions=[_cast(time, exp.DType.TIMESTAMPLTZ)])
        return exp.paren(exp.Div(this=self.as_double(found), expression=self.double(float(MICROSECONDS))), copy=False)

    def double(self, value: float) -> Expr:
        if math.isinf(value):
            return _cast(exp.Literal.string("Infinity" if value > 0 else "-Infinity"), exp.DType.DOUBLE)
        text = repr(value)  # the exponent makes Spark read a double; 0.3 alone is a decimal
        literal = exp.Literal.number(text.lstrip("-") if "e" in text else text.lstrip("-") + "e0")
        return exp.paren(exp.Neg(this=literal), copy=False) if text.startswith("-") else literal

    def no_number(self) -> Expr:
        return _cast(exp.null(), exp.DType.DOUBLE)

    def moment(self, time: datetime.datetime) -> Expr:
        return _cast(exp.Literal.string(time.isoformat(sep=" ")), exp.DType.TIMESTAMPNTZ)

    def as_double(self, x: Expr) -> Expr:
        return _cast(x, exp.DType.DOUBLE)

    def whole(self, x: Expr) -> Expr:
        return _cast(_rint(x), exp.DType.BIGINT)  # a cast alone would cut off; halves go to the even one

    def narrow(self, x: Expr) -> Expr:
        return _cast(x, exp.DType.BIGINT)

    def total(self, x: Expr) -> Expr:
        return exp.Sum(this=self.wide(x))

    def identity(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        kind = strip_parameters(stored)
        if kind in TEXTS:
            return self._text(name, stored)
        if kind not in INTEGERS | {"date", "decimal"}:
            raise self.nameless(column)
        return self.name(name)

    def wide(self, x: Expr) -> Expr:
        return exp.Cast(this=x, to=exp.DataType.build("DECIMAL(38, 0)"))

    def share(self, x: Expr, part: int, whole: Expr) -> Expr:
        product = exp.paren(exp.Mul(this=x, expression=exp.Literal.number(part)), copy=False)
        return exp.IntDiv(this=product, expression=whole)

    def extreme(self, terms: Sequence[Expr], largest: bool) -> Expr:
        kind = exp.Greatest if largest else exp.Least  # what is NULL is left out
        return kind(this=terms[0], expressions=list(terms[1:]), ignore_nulls=True)

    def like(self, text: Expr, pattern: str) -> Expr:
        found = exp.Like(this=text, expression=exp.Literal.string(pattern))
        unused = next(c for c in ESCAPES if c not in pattern)  # so that a backslash is a backslash
        return exp.Escape(this=found, expression=exp.Literal.string(unused))

    def floor(self, a: Expr) -> Expr:
        # FLOOR of a double is a whole number of 64 bits here, which not every double has.
        return self._stepped(a, exp.GT, exp.Sub)

    def ceiling(self, a: Expr) -> Expr:
        return self._stepped(a, exp.LT, exp.Add)

    def truncate(self, a: Expr) -> Expr:
        # TRUNC is one of dates here. The remainder of a double is exact, and so is what is left without it.
        a = exp.paren(refuse_longest(a, "Spark"), copy=False)
        return exp.paren(exp.Sub(this=a, expression=exp.Mod(this=a.copy(), expression=self.double(1.0))), copy=False)

    def rounded(self, a: Expr, digits: int) -> Expr:
        # ROUND rounds the decimal text of a double. Half less one bit, so that nothing below a half is carried over it.
        shift, below = self.double(10.0**digits), self.double(math.nextafter(0.5, 0))
        y = exp.paren(exp.Mul(this=exp.paren(a, copy=False), expression=shift) if digits else a, copy=False)
        size = self.truncate(exp.Add(this=exp.Abs(this=y), expression=below))
        found = exp.paren(exp.Mul(this=exp.Sign(this=y.copy()), expression=size), copy=False)
        return exp.paren(exp.Div(this=found, expression=shift.copy()), copy=False) if digits else found

    def truncated(self, time: Expr, unit: str) -> Expr:
        return _cast(super().truncated(time, unit), exp.DType.TIMESTAMPNTZ)

    def sql(self, tree: Expr) -> str:
        for cte in tree.find_all(exp.CTE):
            cte.set("materialized", None)  # a word that Spark does not have
        return super().sql(tree)

    def _text(self, name: str, stored: str) -> Expr:
        """A text that is compared byte by byte; the blanks at the end of a char(n) are none of it."""
        text = self.name(name)
        if strip_parameters(stored) == "char":
            text = exp.Anonymous(this="RTRIM", expressions=[text])
        if " collate " not in stored.lower():
            return text
        return exp.Anonymous(this="COLLATE", expressions=[text, exp.Literal.string("UTF8_BINARY")])

    def _stepped(self, a: Expr, beyond: type[exp.Binary], back: type[exp.Binary]) -> Expr:
        """The nearest whole number, one step back where it lies beyond."""
        a = exp.paren(refuse_longest(a, "Spark"), copy=False)
        nearest = _rint(a)
        step = (
            exp.case().when(beyond(this=nearest.copy(), expression=a.copy()), self.double(1.0)).else_(self.double(0.0))
        )
        return exp.paren(back(this=nearest, expression=step), copy=False)


def strip_parameters(stored: str) -> str:
    """A type without its parameters.

    >>> [strip_parameters(s) for s in ("decimal(9,2)", "char(3)", "string collate UNICODE_CI", "array<int>")]
    ['decimal', 'char', 'string', 'array<int>']
    """
    return stored.partition("(")[0].partition(" collate ")[0] if "<" not in stored else stored


def _read_text(text: Expr) -> Expr:
    """A text as a double, NULL where it is none: as Python and DuckDB read it, underscores too."""
    bare = exp.Anonymous(this="REPLACE", expressions=[text, exp.Literal.string("_"), exp.Literal.string("")])
    return exp.case().when(_matches(text.copy(), NUMBER), _try_cast(bare, exp.DType.DOUBLE))


def _suggest(kind: str) -> str:
    if kind in FLOATS | {"decimal"}:
        return 'one number has several texts; declare levels as numbers, [1, 2], or kind = "number"'
    if kind in TIMES:
        return "compare it with a time, as column >= TIMESTAMP '2020-01-01 00:00:00'"
    return "store it as a text"


def _cast(x: Expr, to: exp.DType) -> Expr:
    return exp.Cast(this=x, to=exp.DataType(this=to))


def _try_cast(x: Expr, to: exp.DType) -> Expr:
    """What does not fit is NULL, never an error; without `safe` sqlglot writes CAST, without a word."""
    return exp.TryCast(this=x, to=exp.DataType(this=to), safe=True)


def _rint(x: Expr) -> Expr:
    return exp.Anonymous(this="RINT", expressions=[x])


def _whole(value: int) -> Expr:
    return exp.Literal.number(value)


def _matches(text: Expr, pattern: str) -> Expr:
    return exp.RegexpLike(this=text, expression=exp.Literal.string(pattern))
