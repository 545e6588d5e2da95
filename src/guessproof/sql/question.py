"""A query that was understood: what is measured, what each record can do to it, and what is computed from it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sqlglot import Expr, exp

from guessproof.errors import QueryError
from guessproof.names import folded
from guessproof.sql.clauses import Clauses
from guessproof.sql.declared import Declared
from guessproof.sql.flatten import Flat, flatten
from guessproof.sql.measurement import Measurement
from guessproof.sql.output import Key, Output
from guessproof.sql.parse import parse
from guessproof.sql.reader import Reader, place
from guessproof.sql.rules import RULES
from guessproof.sql.rules.flag import read_flag
from guessproof.sql.term import Condition, Node


@dataclass(frozen=True)
class Question:
    """A query as a value: everything that is known before the table is opened."""

    sql: str
    declared: Declared
    where: Condition
    measurements: tuple[Measurement, ...]
    outputs: tuple[Output, ...]
    keys: tuple[Key, ...] = ()
    having: Expr | None = field(default=None, compare=False)
    order: tuple[tuple[Expr, bool], ...] = field(default=(), compare=False)
    limit: int | None = None

    @property
    def groups(self) -> int:
        """How many rows the answer can have."""
        return math.prod(len(k.levels) for k in self.keys)

    @property
    def columns(self) -> frozenset[str]:
        """The columns that are read."""
        used = self.where.columns.union(*(m.contribution.columns | m.filter.columns for m in self.measurements))
        return used | {k.column for k in self.keys}

    @property
    def nodes(self) -> Iterator[Node]:
        """Every term and condition in it."""
        todo: list[Node] = [self.where, *(m.contribution for m in self.measurements)]
        todo += [m.filter for m in self.measurements]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(node.parts)


def ask(sql: str, declared: Declared) -> Question:
    """Understand a query about a declared table, or refuse it.

    >>> from guessproof.sql.declared import DeclaredColumn
    >>> t = Declared("t", {"time": DeclaredColumn("time", bounds=(0, 120))}, rows=120)
    >>> question = ask("SELECT AVG(time) AS mean FROM t WHERE faculty = 'math'", t)
    >>> [m.per_answer.change for m in question.measurements]
    [1.0]
    """
    select = parse(sql)
    try:
        return _asked(sql, declared, select)
    except ArithmeticError:
        raise QueryError("these numbers leave the range of arithmetic", sql, None, "narrow the bounds") from None
    except RecursionError:
        raise QueryError("the query is nested too deeply", sql, None, "write it more simply") from None


def _asked(sql: str, declared: Declared, select: exp.Select) -> Question:
    flat = flatten(select, sql)
    if folded(flat.table) != folded(declared.table):
        spot = place(flat.select.args["from_"], sql)
        raise QueryError(f"the plan declares no table {flat.table}", sql, spot, f"write FROM {declared.table}")
    first = Reader(sql, declared, RULES, read_flag)
    question = _read(first, flat)
    if all(declared.column(name).kind is not None for name in question.columns):
        return question
    # Read again where the plan leaves kinds open: IS NULL and COUNT depend on what a column is taken for elsewhere.
    return _read(Reader(sql, replace(declared, learned=first.learned), RULES, read_flag, first.spelled), flat)


def _read(reader: Reader, flat: Flat) -> Question:
    clauses = Clauses.of(flat, reader)
    outputs = clauses.outputs()
    having, order, limit = clauses.having(outputs), tuple(clauses.order(outputs)), clauses.limit()
    measurements = tuple(clauses.aggregates.measurements.values())
    found = clauses.where, measurements, outputs, clauses.keys, having, order, limit
    return Question(reader.sql, reader.declared, *found)
