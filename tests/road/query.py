"""A small language of queries: each piece as SQL text, and as Python that evaluates it on a list of rows.

Nothing here is taken from the library: the same words twice, once for it and once against it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A declared column: the values that its prior knows, and what else can occur in it."""

    name: str
    values: tuple[Any, ...]
    weights: tuple[int, ...]
    bounds: tuple[float, float] | None = None
    missing: bool = False
    believed: bool = True

    @property
    def is_number(self) -> bool:
        return self.bounds is not None

    @property
    def possible(self) -> list[Any]:
        """Everything that a victim may have: also what the attacker does not believe in."""
        more = [*self.bounds, self.bounds[0] - 7, self.bounds[1] + 7] if self.bounds else ["elsewhere"]
        return list(dict.fromkeys([*self.values, *more, *([None] if self.missing else [])]))

    def clamped(self, row: Row) -> float | None:
        assert self.bounds is not None
        value = row[self.name]
        return None if value is None else min(max(value, self.bounds[0]), self.bounds[1])


@dataclass(frozen=True)
class Term:
    """A number for each row, or nothing; `low` and `high` are the ends of its range."""

    sql: str
    of: Callable[[Row], float | None]
    columns: tuple[Column, ...]
    kinks: tuple[float, ...] = ()
    smooth: bool = True  # no jumps: a small change of a column is a small change of the term

    def ends(self) -> tuple[float, float]:
        axes = [
            [*c.bounds, *(k for k in self.kinks if c.bounds[0] < k < c.bounds[1])] for c in self.columns if c.bounds
        ]
        names = [c.name for c in self.columns]
        found = [self.of(dict(zip(names, values, strict=True))) for values in itertools.product(*axes)]
        return min(f for f in found if f is not None), max(f for f in found if f is not None)


@dataclass(frozen=True)
class Test:
    """True, False or unknown for each row."""

    __test__ = False  # not one of pytest's
    sql: str
    of: Callable[[Row], bool | None]
    columns: tuple[str, ...]


ALWAYS = Test("TRUE", lambda row: True, ())


@dataclass(frozen=True)
class Item:
    """One output: COUNT, SUM, AVG, MIN or MAX of a term, over the rows that pass its FILTER."""

    name: str
    kind: str
    term: Term | None
    test: Test = ALWAYS

    @property
    def sql(self) -> str:
        inner = "*" if self.term is None else self.term.sql
        only = "" if self.test is ALWAYS else f" FILTER (WHERE {self.test.sql})"
        return f"{self.kind.upper()}({inner}){only}"

    def parts(self, public_count: bool) -> list[Item]:
        """What is measured: an average without a public count is a sum and a count."""
        if self.kind != "avg" or public_count:
            return [self]
        return [Item(self.name, kind, self.term, self.test) for kind in ("sum", "count")]

    def contributions(self, rows: Sequence[Row], where: Test) -> list[float]:
        """What each row that counts hands to the aggregate."""
        kept = [row for row in rows if where.of(row) and self.test.of(row)]
        if self.term is None:
            return [1.0] * len(kept)
        found = [self.term.of(row) for row in kept]
        return [1.0 if self.kind == "count" else f for f in found if f is not None]

    def units(self, rows: Sequence[Row], where: Test, exponent: int) -> int:
        """The aggregate in whole steps of a grid, each contribution rounded to it; of nothing: where nothing stands."""
        found = [_rounded(c, exponent) for c in self.contributions(rows, where)]
        if self.kind in ("count", "sum", "avg"):
            return sum(found)
        assert self.term is not None
        low, high = self.term.ends()
        if self.kind == "min":
            return min(found, default=_rounded(high, exponent))
        return max(found, default=_rounded(low, exponent))

    def value(self, rows: Sequence[Row], where: Test) -> float | None:
        """The plain answer, without any grid."""
        found = self.contributions(rows, where)
        if self.kind == "avg":
            return sum(found) / len(found) if found else None
        if self.kind in ("count", "sum"):
            return float(sum(found))
        assert self.term is not None
        low, high = self.term.ends()
        return min(found, default=high) if self.kind == "min" else max(found, default=low)


def _rounded(value: float, exponent: int) -> int:
    return round(value * 2.0**-exponent)


def literal(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else repr(float(value))


# Terms.


def plain(c: Column) -> Term:
    return Term(c.name, c.clamped, (c,))


def twice(c: Column) -> Term:
    return Term(f"{c.name} + {c.name}", lambda r: _lift(lambda v: v + v, c.clamped(r)), (c,))


def shifted(c: Column) -> Term:
    return Term(f"2 * {c.name} - 3", lambda r: _lift(lambda v: 2 * v - 3, c.clamped(r)), (c,))


def far(c: Column) -> Term:
    """So large that doubles are coarse there."""
    return Term(f"{c.name} + 1e14", lambda r: _lift(lambda v: v + 1e14, c.clamped(r)), (c,))


def bent(c: Column) -> Term:
    middle = _middle(c)
    of = lambda r: _lift(lambda v: abs(v - middle), c.clamped(r))  # noqa: E731
    return Term(f"ABS({c.name} - {literal(middle)})", of, (c,), (middle,))


def capped(c: Column) -> Term:
    middle = _middle(c)

    def of(row: Row) -> float:
        value = c.clamped(row)
        return middle if value is None else min(value, middle)

    return Term(f"LEAST({c.name}, {literal(middle)})", of, (c,), (middle,))


def filled(c: Column) -> Term:
    low = c.bounds[0] if c.bounds else 0.0

    def of(row: Row) -> float:
        value = c.clamped(row)
        return low if value is None else value

    return Term(f"COALESCE({c.name}, {literal(low)})", of, (c,))


def summed(a: Column, b: Column) -> Term:
    return Term(f"{a.name} + {b.name}", lambda r: _lift(lambda v, w: v + w, a.clamped(r), b.clamped(r)), (a, b))


def cased(test: Test, c: Column) -> Term:
    """A test decides between the column and the lower end of its range."""
    low = c.bounds[0] if c.bounds else 0.0
    of = lambda r: c.clamped(r) if test.of(r) else low  # noqa: E731
    return Term(f"CASE WHEN {test.sql} THEN {c.name} ELSE {literal(low)} END", of, (c,), smooth=False)


def _middle(c: Column) -> float:
    assert c.bounds is not None
    return c.bounds[0] + 10


def _lift(of: Callable[..., float], *values: float | None) -> float | None:
    return None if any(v is None for v in values) else of(*values)


# Tests.


def above(c: Column, cut: float) -> Test:
    return Test(f"{c.name} > {literal(cut)}", lambda r: None if r[c.name] is None else r[c.name] > cut, (c.name,))


def between(c: Column, low: float, high: float) -> Test:
    sql = f"{c.name} BETWEEN {literal(low)} AND {literal(high)}"
    return Test(sql, lambda r: None if r[c.name] is None else low <= r[c.name] <= high, (c.name,))


def one_of(c: Column, values: Sequence[str]) -> Test:
    names = ", ".join(literal(v) for v in values)
    return Test(f"{c.name} IN ({names})", lambda r: None if r[c.name] is None else r[c.name] in values, (c.name,))


def unlike(c: Column, value: str) -> Test:
    return Test(f"{c.name} <> {literal(value)}", lambda r: None if r[c.name] is None else r[c.name] != value, (c.name,))


def given(c: Column) -> Test:
    return Test(f"{c.name} IS NOT NULL", lambda r: r[c.name] is not None, (c.name,))


def negated(test: Test) -> Test:
    return Test(f"NOT ({test.sql})", lambda r: None if test.of(r) is None else not test.of(r), test.columns)


def all_of(a: Test, b: Test) -> Test:
    def of(row: Row) -> bool | None:
        both = (a.of(row), b.of(row))
        return False if False in both else None if None in both else True

    return Test(f"({a.sql}) AND ({b.sql})", of, a.columns + b.columns)


def any_of(a: Test, b: Test) -> Test:
    def of(row: Row) -> bool | None:
        both = (a.of(row), b.of(row))
        return True if True in both else None if None in both else False

    return Test(f"({a.sql}) OR ({b.sql})", of, a.columns + b.columns)
