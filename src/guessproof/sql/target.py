"""How canonical values are written in an engine's SQL. One target per engine; nothing else in `sql` knows a dialect.

A target is bound to one table: it knows by which type each column is stored, and hands the query a column of the
declared kind whatever that type is: a double, a text that is compared byte by byte, a truth value, a time. A type that
it does not know for that kind is refused. It never guesses, and never hands on the column as it is.
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import islice

from sqlglot import Expr, exp

from guessproof.errors import SourceError
from guessproof.names import folded
from guessproof.sql.declared import DeclaredColumn
from guessproof.world import HOLDS, Kind

LONGEST = 20_000  # nodes of one term: a guard repeats what it guards


def refuse_longest(x: Expr, engine: str) -> Expr:
    """The term, refused where it would grow without end: what guards it repeats it."""
    if sum(1 for _ in islice(x.walk(), LONGEST + 1)) > LONGEST:
        raise SourceError(
            f"the query is too long in {engine}'s SQL: POWER, EXP, ROUND and the like are nested too deeply; write less"
        )
    return x


class SqlTarget(ABC):
    """The SQL of one engine for one table, whose columns are stored by these types."""

    dialect: str
    stored_double = "DOUBLE"  # how the engine calls the type
    integers: frozenset[str] = frozenset()  # types of whole numbers, each of which has one spelling

    def __init__(self, stored: Mapping[str, str]) -> None:
        self._names: dict[str, list[str]] = {}
        for name in stored:
            self._names.setdefault(folded(name), []).append(name)
        self._stored = dict(stored)

    # What the query reads.

    @abstractmethod
    def number(self, column: DeclaredColumn) -> Expr:
        """A column as a double; NULL where it holds none. NaN may still be among them: see `is_number`."""

    @abstractmethod
    def is_number(self, column: DeclaredColumn) -> Expr:
        """True where `number` is neither NULL nor NaN; not true elsewhere."""

    @abstractmethod
    def is_value(self, x: Expr) -> Expr:
        """True where a double is neither NULL nor NaN; not true elsewhere."""

    @abstractmethod
    def label(self, column: DeclaredColumn) -> Expr:
        """A column as a text that is compared byte by byte."""

    @abstractmethod
    def truth(self, column: DeclaredColumn) -> Expr | None:
        """A column that is stored as truth values as it is; None where its labels say what is true."""

    @abstractmethod
    def time(self, column: DeclaredColumn) -> Expr:
        """A column as a time without a zone, in microseconds; NULL where it holds none."""

    @abstractmethod
    def days(self, time: Expr) -> Expr:
        """A time as a double: days since 1970; NULL where it is NULL."""

    # What the query computes with.

    @abstractmethod
    def double(self, value: float) -> Expr:
        """A constant as a double: no decimal type, whose digits overflow, can arise."""

    @abstractmethod
    def no_number(self) -> Expr:
        """NULL as a double."""

    @abstractmethod
    def moment(self, time: datetime.datetime) -> Expr:
        """A constant as a time."""

    @abstractmethod
    def as_double(self, x: Expr) -> Expr:
        """A whole number as a double."""

    @abstractmethod
    def whole(self, x: Expr) -> Expr:
        """A double as the nearest whole number."""

    @abstractmethod
    def extreme(self, terms: Sequence[Expr], largest: bool) -> Expr:
        """The smallest or the largest; what is NULL is left out."""

    @abstractmethod
    def like(self, text: Expr, pattern: str) -> Expr:
        """Whether a text is like a pattern of % and _, in which nothing else has a meaning."""

    # Arithmetic, as it is where numbers underflow to 0 and halves are rounded away from it.

    def times(self, a: Expr, b: Expr) -> Expr:
        """A product of doubles; too small a one is 0."""
        return exp.paren(exp.Mul(this=a, expression=b), copy=False)

    def divide(self, a: Expr, b: Expr) -> Expr:
        """A quotient of doubles; too small a one is 0."""
        # A double divisor keeps every engine from dividing whole numbers.
        return exp.paren(exp.Div(this=a, expression=self.as_double(b)), copy=False)

    def power(self, a: Expr, exponent: float) -> Expr:
        """A power of a double; too small a one is 0."""
        return exp.Pow(this=a, expression=self.double(exponent))

    def remainder(self, a: Expr, divisor: float) -> Expr:
        """a − b·trunc(a / b) of doubles: what engines call % differs in types and last digits."""
        quotient = self.truncate(self.divide(a, self.double(divisor)))
        whole = exp.Mul(this=self.double(divisor), expression=quotient)
        return exp.paren(exp.Sub(this=exp.paren(a.copy(), copy=False), expression=whole), copy=False)

    def exponential(self, a: Expr) -> Expr:
        """e to a double; too small a one is 0."""
        return exp.Exp(this=a)

    def floor(self, a: Expr) -> Expr:
        """The largest whole number that is not above a double, as a double."""
        return exp.Floor(this=a)

    def ceiling(self, a: Expr) -> Expr:
        """The smallest whole number that is not below a double, as a double."""
        return exp.Ceil(this=a)

    def truncate(self, a: Expr) -> Expr:
        """A double without its fraction, as a double."""
        return exp.Anonymous(this="TRUNC", expressions=[a])

    def total(self, x: Expr) -> Expr:
        """The sum of whole numbers, as one that has room for it however many they are."""
        return exp.Sum(this=x)

    def rounded(self, a: Expr, digits: int) -> Expr:
        """A double to so many decimals, halves away from 0."""
        return exp.Round(this=a, decimals=exp.Literal.number(digits))

    # Where a unit has several rows: only engines with whole numbers of 38 digits can bound them to the last step.

    def identity(self, column: DeclaredColumn) -> Expr:
        """What tells units apart: equal for two rows exactly where the column is stored alike. NULL where it is."""
        raise self._without_units()

    def wide(self, x: Expr) -> Expr:
        """A whole number as one with room for at least 38 digits."""
        raise self._without_units()

    def narrow(self, x: Expr) -> Expr:
        """A wide whole number that is known to have 64 bits at most, as one of those."""
        return self.whole(x)

    def share(self, x: Expr, part: int, whole: Expr) -> Expr:
        """x · part / whole in whole numbers, exactly and then cut towards 0; x is wide."""
        raise self._without_units()

    def _without_units(self) -> SourceError:
        return SourceError(f"several rows of one person are not bounded on {self.dialect}; use another engine")

    # The same for every engine.

    def truncated(self, time: Expr, unit: str) -> Expr:
        """The beginning of the day, week, month … in which a time lies."""
        return exp.Anonymous(this="DATE_TRUNC", expressions=[exp.Literal.string(unit), time])

    def calendar_part(self, time: Expr, unit: str) -> Expr:
        """The year, month, day … of a time, as a double."""
        return self.as_double(exp.Extract(this=exp.Var(this=unit.upper()), expression=time))

    def among(self, text: Expr, labels: Sequence[str], *, within: bool = True) -> Expr:
        """Whether a text is one of these (or, not `within`, none of them); NULL where there is none."""
        if not labels:
            known = exp.not_(exp.Is(this=text, expression=exp.null()), copy=False)
            return exp.case().when(known, exp.Boolean(this=not within))
        if len(labels) == 1:
            return (exp.EQ if within else exp.NEQ)(this=text, expression=exp.Literal.string(labels[0]))
        found = exp.In(this=text, expressions=[exp.Literal.string(label) for label in labels])
        return found if within else exp.not_(found, copy=False)

    def held(self, column: DeclaredColumn) -> Expr:
        """Something that is NULL exactly where the column, which the query takes for nothing in particular, is."""
        return self.name(self.stored(column)[0])

    def name(self, name: str) -> Expr:
        """A column by its own name."""
        return exp.column(name, quoted=True)

    def sql(self, tree: Expr) -> str:
        """The text of a query."""
        return tree.sql(self.dialect, identify=True)

    def stored(self, column: DeclaredColumn) -> tuple[str, str]:
        """A column's own name and type. Exact spelling wins where an engine has two names that we take for one."""
        names = self._names.get(folded(column.name), [])
        if column.name in names:
            names = [column.name]
        if not names:
            raise SourceError(f"the table has no column {column.name}; compare the plan with the names in the table")
        if len(names) > 1:
            raise SourceError(f"the table has {' and '.join(names)}; write {column.name} as one of them is written")
        return names[0], self._stored[names[0]]

    def told(self, name: str) -> Expr:
        """A column of a public table as Python is given it: the value that a query computes with, and no other."""
        return self.name(name)

    def whole_pair(self, one: DeclaredColumn, other: DeclaredColumn) -> tuple[Expr, Expr] | None:
        """Two columns of one type of whole numbers as they are: equal where their texts are, and found much faster."""
        (name, stored), (beside, stored_too) = self.stored(one), self.stored(other)
        return (self.name(name), self.name(beside)) if stored == stored_too and stored in self.integers else None

    def nameless(self, column: DeclaredColumn) -> SourceError:
        """A stored type whose values do not name anybody: they have several spellings, or are compared otherwise."""
        _, stored = self.stored(column)
        return SourceError(
            f"column {column.name} is stored as {stored}, which does not tell persons apart for sure; name a column of "
            "whole numbers, texts or identifiers"
        )

    def refusal(self, column: DeclaredColumn, kind: Kind, remedy: str) -> SourceError:
        """A stored type that does not fit the kind."""
        _, stored = self.stored(column)
        return SourceError(f"column {column.name} is stored as {stored}, which is not read as {HOLDS[kind]}; {remedy}")
