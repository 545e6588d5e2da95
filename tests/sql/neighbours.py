"""Every variant of one record, through the query that is really run: the brute force behind the guarantee.

One table holds every combination of nasty values, one variant a record, each beside the same other records; the
rewritten query is run once with the variant as one more key. The answers come back as an array with one axis a
column, so that "every way in which a protected value can change" is the whole length of an axis.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import sqlglot
from sqlglot import exp

from guessproof.sql import AnalyzedQuery, DeclaredTable, Measurement, find_target, rewrite
from sql.grammar import POOL

AXES = ("x", "y", "c", "f", "p", "g")
TYPES = {"x": "DOUBLE", "y": "DOUBLE", "p": "DOUBLE", "c": "VARCHAR", "g": "VARCHAR", "f": "BOOLEAN"}
ARROW = {"x": pa.float64(), "y": pa.float64(), "p": pa.float64(), "c": pa.string(), "g": pa.string(), "f": pa.bool_()}
EXPONENT = -20
Array = np.ndarray[Any, np.dtype[np.float64]]
Record = tuple[Any, ...]  # in the order of AXES


@dataclass(frozen=True)
class Answers:
    """Whole numbers of one measurement: an axis for each column that is read, and one for the groups."""

    used: tuple[str, ...]
    variants: Array
    without: Array  # by group, when the record is not there at all


class Bench:
    """Runs rewritten queries on all variants of a record at once."""

    def __init__(self, others: tuple[Record, ...] = (), stored: dict[str, str] | None = None) -> None:
        self.con = duckdb.connect(":memory:", config={"threads": 1})
        self.others = others
        self.stored = stored or {}  # columns that are stored as another type than their own
        self.made: set[tuple[str, ...]] = set()

    def answers(self, question: AnalyzedQuery) -> list[Answers]:
        """The answers for every variant; what no row gives is filled in."""
        used = tuple(a for a in AXES if a in question.columns)
        sql = rewrite(
            question, [EXPONENT] * len(question.measurements), find_target("duckdb", {**TYPES, **self.stored})
        ).sql
        tree = sqlglot.parse_one(sql, dialect="duckdb")
        assert isinstance(tree, exp.Select)
        table = tree.find(exp.Table)
        assert table is not None
        table.set("this", exp.to_identifier(self._table(used), quoted=True))
        found = self.con.execute(tree.select("variant").group_by("variant").sql("duckdb")).fetchnumpy()
        levels = question.keys[0].levels if question.keys else ("all",)
        keys = found[question.keys[0].name] if question.keys else np.full(len(found["variant"]), "all")
        binned = bool(question.keys) and question.keys[0].bins is not None  # a bin comes back as its place
        groups = np.array([k if binned else levels.index(k) for k in keys], dtype=int)
        return [
            self._filled(measurement, found[f"m{i}"], found["variant"], groups, len(levels), used)
            for i, measurement in enumerate(question.measurements)
        ]

    def _filled(
        self, measurement: Measurement, column: Any, variant: Any, groups: Any, width: int, used: tuple[str, ...]
    ) -> Answers:
        shape = tuple(len(POOL[a]) for a in used)
        values = np.full((math.prod(shape) + 1, width), round(measurement.contribution.absent * 2.0**-EXPONENT), float)
        numbers = np.ma.filled(np.ma.asarray(column, dtype=float), np.nan)
        numbers = numbers * 2.0**-EXPONENT if measurement.kind == "count" else numbers  # counts are scaled when read
        known = ~np.isnan(numbers)
        values[variant[known], groups[known]] = numbers[known]
        return Answers(used, values[:-1].reshape(*shape, width), values[-1])

    def _table(self, used: tuple[str, ...]) -> str:
        name = "v_" + "".join(used)
        if used in self.made:
            return name
        self.made.add(used)
        rows = list(itertools.product(*(POOL[a] for a in used)))
        beside = [tuple(r[AXES.index(a)] for a in used) for r in self.others]
        everyone = [*rows, *(r for _ in range(len(rows) + 1) for r in beside)]
        variant = [*range(len(rows)), *(v for v in range(len(rows) + 1) for _ in beside)]
        columns = {a: pa.array([row[i] for row in everyone], ARROW[a]) for i, a in enumerate(used)}
        self.con.register("arriving", pa.table({**columns, "variant": pa.array(variant, pa.int64())}))
        kept = [f"CAST({a} AS {self.stored[a]}) AS {a}" if a in self.stored else a for a in used]
        self.con.execute(f"CREATE TABLE {name} AS SELECT {', '.join([*kept, 'variant'])} FROM arriving")
        self.con.unregister("arriving")
        return name


def allowed(declared: DeclaredTable, used: tuple[str, ...], *, complete: bool = False) -> list[list[int]]:
    """For each axis the values that its column may hold: nothing missing where that is declared."""

    def fits(name: str, value: Any) -> bool:
        column = declared.column(name)
        may_miss = column.missing and not (complete and column.protected)
        return may_miss or not (value is None or value != value)

    return [[i for i, v in enumerate(POOL[a]) if fits(a, v)] for a in used]
