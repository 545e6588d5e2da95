"""PostgreSQL's SQL, for a session as `engines.postgres` sets it up.

PostgreSQL raises an error where other engines give 0 (a product too small for a double), infinity (a text too large for
one) or NULL (a text that is no number, for there is no TRY_CAST): each would tell of some row. So every reading is
guarded by a CASE, and nothing here is left to a translation: sqlglot turns TRY_CAST into CAST without a word.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence

from sqlglot import Expr, exp

from guessproof.sql.declared import TIME, DeclaredColumn
from guessproof.sql.target import SqlTarget, refuse_longest
from guessproof.world import MICROSECONDS

INTEGERS = {"smallint", "integer", "bigint"}
FLOATS = {"real", "double precision"}
TEXTS = {"text", "character varying", "character", "name", "enum"}
TIMES = {"date", "timestamp without time zone"}
ZONED = "timestamp with time zone"
LABELS = TEXTS | INTEGERS | {"uuid", "date", "boolean"}
BOOLEANS = ("true", "false")

# A text that Python and DuckDB read as a number; the words of infinity too.
NUMBER = (
    r"^[ \t\n\v\f\r]*[+-]?((\d+(_\d+)*(\.(\d+(_\d+)*)?)?|\.\d+(_\d+)*)([eE][+-]?\d+(_\d+)*)?"
    r"|[iI][nN][fF]([iI][nN][iI][tT][yY])?)[ \t\n\v\f\r]*$"
)
# What is no double, and has too many digits for a numeric: too small a number has an exponent that says so, or begins
# with 0 before its point and has none that could make up for it.
NEGATIVE, SHRINKING = r"^\s*-", r"[eE]-|^[^1-9eE]*\.[^eE]*([eE]\+?\d{1,2}\s*)?$"
# Decimals beyond which a numeric has no double: above the largest by less than half a step, and half the smallest.
LARGEST, SMALLEST = "1.797693134862315807e308", "2.47032822920623273e-324"
# Added and taken away again: what is nearer to 0 than 2^-390 is rounded to a multiple of 2^-499, all else stays.
SETTLING = 2.0**-447
LEAST_EXPONENT = -700.0


class PostgresTarget(SqlTarget):
    """PostgreSQL 16 and later. The types are those of `format_type`; a domain is its base, an enumeration `enum`."""

    dialect = "postgres"
    integers = frozenset(INTEGERS)
    stored_double = "double precision"

    def number(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        kind, x = strip_parameters(stored), self.name(name)
        if kind in INTEGERS | FLOATS:
            return x if kind == "double precision" else _cast(x, exp.DType.DOUBLE)
        if kind == "boolean":
            return _cast(_cast(x, exp.DType.INT), exp.DType.DOUBLE)
        if kind == "numeric":
            return _cast(x, exp.DType.DOUBLE) if _always_fits(stored) else _read_numeric(x)
        if kind in TEXTS:
            return _read_text(self._text(name))
        remedy = 'declare kind = "time"' if kind in {*TIMES, ZONED} else 'declare kind = "label"'
        raise self.refusal(column, "number", remedy)

    def is_number(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        if strip_parameters(stored) in INTEGERS | {"boolean"}:
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
        return self._text(name)

    def told(self, name: str) -> Expr:
        # A driver gives the spaces of a character(4) too, which are none in SQL, and may give 0.1 for a real that is
        # 0.10000000149.
        kind = strip_parameters(self._stored[name])
        types = {"real": exp.DType.DOUBLE, "character": exp.DType.TEXT}
        return _cast(self.name(name), types[kind]) if kind in types else self.name(name)

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
            last, endless = (_cast(exp.Literal.string(day), exp.DType.DATE) for day in ("294276-12-31", "infinity"))
            fits = exp.or_(exp.LTE(this=x, expression=last), exp.EQ(this=x.copy(), expression=endless), copy=False)
            return exp.case().when(fits, _cast(x.copy(), exp.DType.TIMESTAMP))
        if kind in TIMES:
            return _cast(x, exp.DType.TIMESTAMP)
        if kind == ZONED:
            return exp.paren(exp.AtTimeZone(this=x, zone=exp.Literal.string("UTC")), copy=False)
        if kind not in TEXTS:
            raise self.refusal(column, "time", 'declare the kind that it has, as kind = "number"')
        text = self._text(name)
        fits = exp.and_(_matches(text, f"^({TIME})$"), _is_valid(text.copy(), "timestamp"), copy=False)
        return exp.case().when(fits, _cast(text.copy(), exp.DType.TIMESTAMP))

    def days(self, time: Expr) -> Expr:
        # A numeric, with all its digits: seconds as a double would lose the last microseconds.
        seconds = exp.Extract(this=exp.Var(this="EPOCH"), expression=time)
        microseconds = _cast(exp.Mul(this=seconds, expression=exp.Literal.number(1_000_000)), exp.DType.DOUBLE)
        return exp.paren(exp.Div(this=microseconds, expression=self.double(float(MICROSECONDS))), copy=False)

    def double(self, value: float) -> Expr:
        # As a text: a number with a point is a numeric here, whose arithmetic is another.
        words = {math.inf: "Infinity", -math.inf: "-Infinity"}
        return _cast(exp.Literal.string(words.get(value, repr(value))), exp.DType.DOUBLE)

    def no_number(self) -> Expr:
        return _cast(exp.null(), exp.DType.DOUBLE)

    def moment(self, time: datetime.datetime) -> Expr:
        return _cast(exp.Literal.string(time.isoformat(sep=" ")), exp.DType.TIMESTAMP)

    def as_double(self, x: Expr) -> Expr:
        return _cast(x, exp.DType.DOUBLE)

    def whole(self, x: Expr) -> Expr:
        return _cast(x, exp.DType.BIGINT)  # to the nearest, halves to even

    def identity(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        kind = strip_parameters(stored)
        if kind in TEXTS:
            return self._text(name)
        if kind not in INTEGERS | {"uuid", "date", "numeric"}:
            raise self.nameless(column)
        return self.name(name)

    def wide(self, x: Expr) -> Expr:
        return _cast(x, exp.DType.DECIMAL)

    def share(self, x: Expr, part: int, whole: Expr) -> Expr:
        product = exp.Mul(this=x, expression=exp.Literal.number(part))
        return exp.Anonymous(this="DIV", expressions=[product, whole])

    def extreme(self, terms: Sequence[Expr], largest: bool) -> Expr:
        kind = exp.Greatest if largest else exp.Least  # what is NULL is left out
        return kind(this=terms[0], expressions=list(terms[1:]), ignore_nulls=True)

    def like(self, text: Expr, pattern: str) -> Expr:
        found = exp.Like(this=text, expression=exp.Literal.string(pattern))
        return exp.Escape(this=found, expression=exp.Literal.string(""))  # a backslash is a backslash

    def times(self, a: Expr, b: Expr) -> Expr:
        return super().times(self._settled(a, b), self._settled(b, a))

    def divide(self, a: Expr, b: Expr) -> Expr:
        divisor = _constant(b)
        return super().divide(a if divisor is not None and abs(divisor) <= 1 else self._settled(a), b)

    def power(self, a: Expr, exponent: float) -> Expr:
        end = self.double(2.0 ** (-1000 / exponent))
        size = exp.Abs(this=_bounded(a))
        vanishes = (exp.LT if exponent > 0 else exp.GT)(this=size, expression=end)
        return exp.case().when(vanishes, self.double(0.0)).else_(super().power(a.copy(), exponent))

    def exponential(self, a: Expr) -> Expr:
        vanishes = exp.LT(this=_bounded(a), expression=self.double(LEAST_EXPONENT))
        return exp.case().when(vanishes, self.double(0.0)).else_(super().exponential(a.copy()))

    def rounded(self, a: Expr, digits: int) -> Expr:
        # ROUND of a double goes to the even one. Half less one bit, so that nothing below a half is carried over it.
        shift, below = self.double(10.0**digits), self.double(math.nextafter(0.5, 0))
        y = exp.Mul(this=exp.paren(_bounded(a), copy=False), expression=shift) if digits else _bounded(a)
        y = exp.paren(y, copy=False)
        half = exp.Mul(this=exp.Sign(this=y.copy()), expression=below)
        found = exp.Anonymous(this="TRUNC", expressions=[exp.Add(this=y, expression=half)])
        return exp.paren(exp.Div(this=found, expression=shift.copy()), copy=False) if digits else found

    def _text(self, name: str) -> Expr:
        """A column as a text, byte by byte; the blanks at the end of a character(n) are none of it."""
        return exp.Collate(
            this=_cast(self.name(name), exp.DType.TEXT), expression=exp.Identifier(this="C", quoted=True)
        )

    def _settled(self, a: Expr, other: Expr | None = None) -> Expr:
        """A factor that is 0 or far enough from it that a product does not underflow; constants need it least."""
        own, beside = _constant(a), None if other is None else _constant(other)
        if beside is not None and (beside == 0 or abs(beside) >= 1):
            return a
        if own is not None:
            return a if abs(own) >= 2.0**-499 else self.double(0.0)
        c = self.double(SETTLING)
        up = exp.paren(exp.Add(this=exp.paren(a, copy=False), expression=c), copy=False)
        return exp.paren(exp.Sub(this=up, expression=c.copy()), copy=False)


def strip_parameters(stored: str) -> str:
    """A type without its parameters.

    >>> [strip_parameters(s) for s in ("numeric(9,2)", "character(3)", "timestamp(3) without time zone", "text[]")]
    ['numeric', 'character', 'timestamp without time zone', 'text[]']
    """
    if stored.endswith("]") or "(" not in stored:
        return stored
    head, _, rest = stored.partition("(")
    return head + rest.partition(")")[2]


def numeric_parameters(stored: str) -> tuple[int, int] | None:
    """Digits and decimals of a numeric; None where it has no limits.

    >>> numeric_parameters("numeric(9,2)"), numeric_parameters("numeric")
    ((9, 2), None)
    """
    if "(" not in stored:
        return None
    digits, places = stored.partition("(")[2].rstrip(")").split(",")
    return int(digits), int(places)


def _always_fits(stored: str) -> bool:
    """Whether every numeric of the type has a double beside it that is not 0 or endless."""
    limits = numeric_parameters(stored)
    return limits is not None and limits[0] - limits[1] <= 308 and limits[1] <= 300


def _read_numeric(x: Expr) -> Expr:
    """A numeric as a double: what is too large is endless, what is too small is 0. NaN is above everything."""
    largest, smallest = exp.Literal.number(LARGEST), exp.Literal.number(SMALLEST)
    nan = _cast(exp.Literal.string("NaN"), exp.DType.DECIMAL)
    above = exp.and_(exp.GT(this=x, expression=largest), exp.LT(this=x.copy(), expression=nan), copy=False)
    return (
        exp.case()
        .when(above, _word("Infinity"))
        .when(exp.LT(this=x.copy(), expression=exp.Neg(this=largest.copy())), _word("-Infinity"))
        .when(exp.Between(this=x.copy(), low=exp.Neg(this=smallest), high=smallest.copy()), _word("0"))
        .else_(_cast(x.copy(), exp.DType.DOUBLE))
    )


def _read_text(text: Expr) -> Expr:
    """A text as a double, NULL where it is none: as Python and DuckDB read it, underscores too."""
    bare = exp.Anonymous(this="REPLACE", expressions=[text, exp.Literal.string("_"), exp.Literal.string("")])
    as_numeric = exp.Abs(this=_cast(bare.copy(), exp.DType.DECIMAL))
    shrinks = (
        exp.case()
        .when(_is_valid(bare.copy(), "numeric"), exp.LT(this=as_numeric, expression=exp.Literal.number(1)))
        .else_(_matches(text.copy(), SHRINKING))
    )
    sized = (
        exp.case()
        .when(_is_valid(bare.copy(), "float8"), _cast(bare.copy(), exp.DType.DOUBLE))
        .when(shrinks, _word("0"))
        .when(_matches(text.copy(), NEGATIVE), _word("-Infinity"))
        .else_(_word("Infinity"))
    )
    return exp.case().when(_matches(text.copy(), NUMBER), sized)


def _suggest(kind: str) -> str:
    if kind in FLOATS | {"numeric"}:
        return 'one number has several texts; declare levels as numbers, [1, 2], or kind = "number"'
    if kind in {*TIMES, ZONED}:
        return "compare it with a time, as column >= TIMESTAMP '2020-01-01 00:00:00'"
    return "store it as a text"


def _cast(x: Expr, to: exp.DType) -> Expr:
    return exp.Cast(this=x, to=exp.DataType(this=to))


def _word(value: str) -> Expr:
    return _cast(exp.Literal.string(value), exp.DType.DOUBLE)


def _matches(text: Expr, pattern: str) -> Expr:
    return exp.RegexpLike(this=text, expression=exp.Literal.string(pattern))


def _is_valid(text: Expr, kind: str) -> Expr:
    return exp.Anonymous(this="PG_INPUT_IS_VALID", expressions=[text, exp.Literal.string(kind)])


def _constant(x: Expr) -> float | None:
    """The number that `double` wrote; None for anything else."""
    while isinstance(x, exp.Paren):
        x = x.this
    if isinstance(x, exp.Cast) and isinstance(x.this, exp.Literal):
        return float(x.this.this)
    return None


def _bounded(x: Expr) -> Expr:
    return refuse_longest(x, "PostgreSQL")
