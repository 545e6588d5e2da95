"""DuckDB's SQL."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from sqlglot import Expr, exp

from guessproof.sql.declared import TIME, DeclaredColumn
from guessproof.sql.target import SqlTarget
from guessproof.world import MICROSECONDS

SIGNED = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
INTEGERS = SIGNED | {f"U{name}" for name in SIGNED} | {"BIGNUM"}
WIDE = {"HUGEINT", "UHUGEINT", "BIGNUM"}
FLOATS = {"FLOAT", "DOUBLE"}
TIMES = {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}
ZONED = {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"}
LABELS = {"VARCHAR", "ENUM", "UUID", "DATE", "BOOLEAN"} | INTEGERS
BOOLEANS = ("true", "false")
# A number with underscores between digits, as Python reads it.
SPLIT = r"[\s\v]*[+-]?(\d+(_\d+)*(\.(\d+(_\d+)*)?)?|\.\d+(_\d+)*)([eE][+-]?\d+(_\d+)*)?[\s\v]*"


class DuckDBTarget(SqlTarget):
    """DuckDB 1.x and 2.x. `DESCRIBE` does not show a column's collation, so every text is given the binary one."""

    dialect = "duckdb"
    integers = frozenset(INTEGERS)

    def number(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        kind = _strip_parameters(stored)
        x = self.name(name)
        if kind in ("VARCHAR", "ENUM"):
            return _write_parsed(x if kind == "VARCHAR" else _write_cast(x, exp.DType.VARCHAR))
        if kind not in INTEGERS | FLOATS | {"DECIMAL", "BOOLEAN"}:
            remedy = 'declare kind = "time"' if kind in TIMES | ZONED else 'declare kind = "label"'
            raise self.refusal(column, "number", remedy)
        if kind in WIDE or _is_wide(stored):  # their own cast is off by a digit at times: two equal ones are two
            x = _write_cast(x, exp.DType.VARCHAR)
        return _write_try_cast(x, exp.DType.DOUBLE)  # costs nothing where it is one already

    def is_number(self, column: DeclaredColumn) -> Expr:
        x = self.number(column)
        if _strip_parameters(self.stored(column)[1]) in INTEGERS | {"DECIMAL", "BOOLEAN"}:
            return exp.not_(exp.Is(this=x, expression=exp.null()), copy=False)
        return self.is_value(x)

    def is_value(self, x: Expr) -> Expr:
        # NaN is greater than infinity, and 'nan' is a number to DuckDB.
        return exp.LTE(this=x, expression=_write_cast(exp.Literal.string("Infinity"), exp.DType.DOUBLE))

    def label(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        kind = _strip_parameters(stored)
        if kind not in LABELS:
            raise self.refusal(column, "label", _suggest(kind))
        strange = [v for v in column.levels or () if v not in BOOLEANS] if kind == "BOOLEAN" else []
        if strange:
            remedy = f"whose labels are true and false, not {strange[0]}; declare levels = [true, false]"
            raise self.refusal(column, "label", remedy)
        x = self.name(name)
        text = x if kind == "VARCHAR" else _write_cast(x, exp.DType.VARCHAR)
        return exp.Collate(this=text, expression=exp.Identifier(this="C", quoted=False))

    def truth(self, column: DeclaredColumn) -> Expr | None:
        name, stored = self.stored(column)
        if _strip_parameters(stored) != "BOOLEAN":
            return None
        if "true" in column.trues and "false" in column.falses:
            return self.name(name)
        remedy = "whose labels are true and false: name them in levels, true and false, or leave those out"
        raise self.refusal(column, "truth", remedy)

    def time(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        kind, x = _strip_parameters(stored), self.name(name)
        if kind in TIMES:
            return _write_try_cast(x, exp.DType.TIMESTAMP)
        if kind in ZONED:  # the same moment in UTC, whatever zone a session shows it in
            x = x if kind != "TIMESTAMPTZ_NS" else _write_try_cast(x, exp.DType.TIMESTAMPTZ)
            return exp.Anonymous(this="make_timestamp", expressions=[exp.Anonymous(this="epoch_us", expressions=[x])])
        if kind != "VARCHAR":
            raise self.refusal(column, "time", 'declare the kind that it has, as kind = "number"')
        fits = exp.Anonymous(this="regexp_full_match", expressions=[x, exp.Literal.string(TIME)])
        return exp.case().when(fits, _write_try_cast(x.copy(), exp.DType.TIMESTAMP))

    def days(self, time: Expr) -> Expr:
        microseconds = self.as_double(exp.Anonymous(this="epoch_us", expressions=[time]))
        return exp.paren(exp.Div(this=microseconds, expression=self.double(float(MICROSECONDS))), copy=False)

    def double(self, value: float) -> Expr:
        # The exponent makes DuckDB read a double; 0.30000000000000004 alone is a decimal.
        text = repr(value)
        literal = exp.Literal.number(text.lstrip("-") if "e" in text else text.lstrip("-") + "e0")
        return exp.Neg(this=literal) if text.startswith("-") else literal

    def no_number(self) -> Expr:
        return _write_cast(exp.null(), exp.DType.DOUBLE)

    def moment(self, time: datetime.datetime) -> Expr:
        return _write_cast(exp.Literal.string(time.isoformat(sep=" ")), exp.DType.TIMESTAMP)

    def as_double(self, x: Expr) -> Expr:
        return _write_cast(x, exp.DType.DOUBLE)

    def whole(self, x: Expr) -> Expr:
        return _write_cast(x, exp.DType.BIGINT)  # to the nearest, halves to even

    def identity(self, column: DeclaredColumn) -> Expr:
        name, stored = self.stored(column)
        kind = _strip_parameters(stored)
        if kind == "VARCHAR":
            return self.label(column)
        if kind not in INTEGERS | {"ENUM", "UUID", "DATE", "DECIMAL"}:
            raise self.nameless(column)
        return self.name(name)

    def wide(self, x: Expr) -> Expr:
        return _write_cast(x, exp.DType.INT128)

    def share(self, x: Expr, part: int, whole: Expr) -> Expr:
        product = exp.paren(exp.Mul(this=x, expression=exp.Literal.number(part)), copy=False)
        return exp.IntDiv(this=product, expression=whole)

    def extreme(self, terms: Sequence[Expr], largest: bool) -> Expr:
        kind = exp.Greatest if largest else exp.Least
        return kind(this=terms[0], expressions=list(terms[1:]), ignore_nulls=True)

    def like(self, text: Expr, pattern: str) -> Expr:
        return exp.Like(this=text, expression=exp.Literal.string(pattern))


def _strip_parameters(stored: str) -> str:
    """A type without its parameters.

    >>> [_strip_parameters(stored) for stored in ("DECIMAL(18,2)", "ENUM('a')", "DOUBLE[]", "VARCHAR")]
    ['DECIMAL', 'ENUM', 'DOUBLE[]', 'VARCHAR']
    """
    return stored if stored.endswith("]") else stored.split("(")[0]


def _is_wide(stored: str) -> bool:
    """Whether a DECIMAL is a whole number of 128 bits.

    >>> [_is_wide(stored) for stored in ("DECIMAL(19,0)", "DECIMAL(18,0)", "DECIMAL(38,1)", "DOUBLE")]
    [True, False, False, False]
    """
    kind, _, rest = stored.partition("(")
    return kind == "DECIMAL" and rest.endswith(",0)") and int(rest.partition(",")[0]) > 18


def _suggest(kind: str) -> str:
    if kind in FLOATS | {"DECIMAL"}:
        return 'one number has several texts; declare levels as numbers, [1, 2], or kind = "number"'
    if kind in TIMES | ZONED:
        return "compare it with a time, as column >= TIMESTAMP '2020-01-01 00:00:00'"
    return "store it as a text"


# The types are built, not parsed: that is most of the time of writing a query.


def _write_cast(x: Expr, to: exp.DType) -> Expr:
    return exp.Cast(this=x, to=exp.DataType(this=to))


def _write_try_cast(x: Expr, to: exp.DType) -> Expr:
    """What does not fit is NULL, never an error."""
    return exp.TryCast(this=x, to=exp.DataType(this=to))


def _write_parsed(text: Expr) -> Expr:
    """A text as a double. To DuckDB +-24 is a number too: to nobody else, and not to what is said of public tables.

    Of a text with more than 19 digits it counts the underscores too, and is then off by a factor of ten.
    """
    odd = exp.Anonymous(this="contains", expressions=[text, exp.Literal.string("+-")])
    bare = exp.Anonymous(this="replace", expressions=[text.copy(), exp.Literal.string("_"), exp.Literal.string("")])
    split = exp.Anonymous(this="contains", expressions=[text.copy(), exp.Literal.string("_")])
    fits = exp.Anonymous(this="regexp_full_match", expressions=[text.copy(), exp.Literal.string(SPLIT)])
    length = exp.Anonymous(this="strlen", expressions=[text.copy()])
    long = exp.case().when(split, exp.case().when(fits, bare)).else_(text.copy())
    found = exp.case().when(odd, exp.null()).when(exp.GT(this=length, expression=exp.Literal.number(19)), long)
    return _write_try_cast(found.else_(text.copy()), exp.DType.DOUBLE)
