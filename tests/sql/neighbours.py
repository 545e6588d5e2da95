"""Every variant of one record, through the query that is really run: the brute force behind the guarantee.

One table holds every combination of nasty values, one variant a row; the rewritten query is run once with the
variant as one more key. The answers come back as an array with one axis a column, so that "every way in which a
protected value can change" is the whole length of an axis.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import sqlglot
from sqlglot import exp

from guessproof.sql import Declared, Question, rewrite
from sql.grammar import POOL

AXES = ("x", "y", "c", "f", "p", "g")
KINDS = {"x": "number", "y": "number", "p": "number", "c": "text", "g": "text", "f": "boolean"}
ARROW = {"x": pa.float64(), "y": pa.float64(), "p": pa.float64(), "c": pa.string(), "g": pa.string(), "f": pa.bool_()}
EXPONENT = -20
Array = np.ndarray[Any, np.dtype[np.float64]]


class Bench:
    """Runs rewritten queries on all variants at once."""

    def __init__(self, stored: dict[str, str] | None = None) -> None:
        self.con = duckdb.connect(":memory:", config={"threads": 1})
        self.stored = stored or {}  # columns that are stored as another type than their own
        self.made: set[tuple[str, ...]] = set()

    def answers(self, question: Question) -> tuple[tuple[str, ...], list[Array]]:
        """The axes, and for each measurement the whole number of every variant (what no row gives is filled in)."""
        used = tuple(a for a in AXES if a in question.columns)
        sql = rewrite(question, [EXPONENT] * len(question.measurements), KINDS).sql
        tree = sqlglot.parse_one(sql, dialect="duckdb")
        assert isinstance(tree, exp.Select)
        tree = tree.select("variant", append=True).group_by("variant")
        tree.find(exp.Table).set("this", exp.to_identifier(self._table(used), quoted=True))  # type: ignore[union-attr]
        found = self.con.execute(tree.sql("duckdb")).fetchnumpy()
        shape = tuple(len(POOL[a]) for a in used)
        results: list[Array] = []
        for index, measurement in enumerate(question.measurements):
            values = np.full(math.prod(shape), round(measurement.contribution.absent * 2.0**-EXPONENT), dtype=float)
            column = found[f"m{index}"]
            numbers = np.ma.filled(np.ma.asarray(column, dtype=float), np.nan)
            known = ~np.isnan(numbers)
            values[found["variant"][known]] = numbers[known]
            results.append(values.reshape(shape))
        return used, results

    def _table(self, used: tuple[str, ...]) -> str:
        name = "v_" + "".join(used)
        if used not in self.made:
            self.made.add(used)
            rows = list(itertools.product(*(POOL[a] for a in used)))
            columns = {a: pa.array([row[i] for row in rows], ARROW[a]) for i, a in enumerate(used)}
            table = pa.table({**columns, "variant": pa.array(range(len(rows)), pa.int64())})
            self.con.register("arriving", table)
            kept = [f'CAST({a} AS {self.stored[a]}) AS {a}' if a in self.stored else a for a in used]
            self.con.execute(f"CREATE TABLE {name} AS SELECT {', '.join([*kept, 'variant'])} FROM arriving")
            self.con.unregister("arriving")
        return name


def allowed(declared: Declared, used: tuple[str, ...], *, complete: bool = False) -> list[list[int]]:
    """For each axis the values that its column may hold: nothing missing where that is declared."""

    def fits(name: str, value: Any) -> bool:
        column = declared.column(name)
        may_miss = column.missing and not (complete and column.protected)
        return may_miss or not (value is None or value != value)

    return [[i for i, v in enumerate(POOL[a]) if fits(a, v)] for a in used]
