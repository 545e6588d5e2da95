"""Synthetic tables: written to a file, asked by the real engine and by plain arithmetic."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from guessproof.auditing.columns import TEXT, UNIT_ROWS, Field, Row, count_rows, quote_text, scratch
from guessproof.engines import open_engine
from guessproof.releasing import prepare_query
from guessproof.sql import AnalyzedQuery
from guessproof.sql.formula import Key
from guessproof.sql.measurement import Measurement
from guessproof.world import label_of

Cell = tuple[int | None, int | None]  # a whole number of grid steps and, behind an average, the rows counted
Group = tuple[str, ...]
NUMBERS = itertools.count()
COPY = "guessproof_copy"  # the column that tells apart the copies of a table that are asked in one go


@dataclass(frozen=True)
class TableFactory:
    """Where tables are written and asked: a private folder, the plan's kind of file, the query and its grids."""

    folder: Path
    form: str
    table: str
    fields: Mapping[str, Field]
    types: Mapping[str, str]
    question: AnalyzedQuery
    exponents: tuple[int, ...]

    def ask(self, rows: Sequence[Row], name: str) -> dict[Group, list[Cell]]:
        """One table through the query as a release runs it."""
        path = self._write(rows, list(self.fields.values()), name)
        return self._ask_engine(path, self.question)

    def ask_all(self, others: Sequence[Row], victims: Sequence[Row | None], name: str) -> list[dict[Group, list[Cell]]]:
        """Many tables that differ in the victim: `ask_each` with the victim last."""
        return self.ask_each([[*others, *([] if v is None else [v])] for v in victims], name)

    def ask_each(self, tables: Sequence[Sequence[Row]], name: str) -> list[dict[Group, list[Cell]]]:
        """Many tables in one file: the same query with one more key to group by."""
        levels = tuple(f"copy{index}" for index in range(len(tables)))
        kept = [{**row, COPY: level} for level, rows in zip(levels, tables, strict=True) for row in rows]
        question = replace(self.question, keys=(Key(COPY, COPY, levels), *self.question.keys))
        marked = [*self.fields.values(), Field(COPY, "label", False, False, levels)]
        found = self._ask_engine(self._write(kept, marked, name), question)
        by_copy: dict[str, dict[Group, list[Cell]]] = {level: {} for level in levels}
        for group, cells in found.items():
            by_copy[group[0]][group[1:]] = cells
        return list(by_copy.values())

    def ask_crowd(self, row: Row, rows: int, name: str) -> dict[Group, list[Cell]]:
        """A table of very many equal rows, made by DuckDB itself."""
        path = self.folder / f"{name}.duckdb"
        kept, fields = self._stored([row], list(self.fields.values()))
        identity = self.question.declared.unit.identity
        column = "" if identity is None else _name(identity)
        every = f"t.* REPLACE (t.{column} || more.range AS {column})" if column else "t.*"  # units of their own
        with _writing(str(path)) as con:
            _fill(con, self.table, _arrow(kept, fields), [self.types.get(f.name, TEXT) for f in fields])
            name = _name(self.table)
            con.execute(f"INSERT INTO {name} SELECT {every} FROM {name} AS t, range(?) AS more", [rows - 1])  # noqa: S608
        return self._ask_engine(path, self.question)

    def _stored(self, rows: Sequence[Row], fields: Sequence[Field]) -> tuple[Sequence[Row], Sequence[Field]]:
        """Rows as the table holds them: each made-up one is a unit of its own, with as many rows as it says."""
        identity = self.question.declared.unit.identity
        if identity is None:
            return rows, fields
        named = ({**row, identity: f"unit{place}"} for place, row in enumerate(rows))
        kept = [row for row in named for _ in range(count_rows(row))]
        return kept, [*(f for f in fields if f.name != UNIT_ROWS), Field(identity, "label", False, False, ())]

    def _ask_engine(self, path: Path, question: AnalyzedQuery) -> dict[Group, list[Cell]]:
        with open_engine(str(path), self.table) as engine:
            rewritten = prepare_query(engine, question, self.exponents)
            return rewritten.run(engine.aggregates)

    def _write(self, made_up: Sequence[Row], made_fields: Sequence[Field], name: str) -> Path:
        rows, fields = self._stored(made_up, made_fields)
        path = self.folder / f"{name}.{self.form}"
        if self.form == "csv":
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow([f.name for f in fields])
                writer.writerows([[_to_csv(row.get(f.name)) for f in fields] for row in rows])
            return path
        types = [self.types.get(f.name, TEXT) for f in fields]
        with _writing(str(path) if self.form == "duckdb" else ":memory:") as con:
            _fill(con, self.table, _arrow(rows, fields), types)
            if self.form == "parquet":
                con.execute(f"COPY {_name(self.table)} TO {quote_text(str(path))} (FORMAT parquet)")
        return path


@contextmanager
def _writing(place: str) -> Generator[duckdb.DuckDBPyConnection]:
    """A new file or a place in memory; one DuckDB has them all, since opening another takes longer than to write."""
    name = f"guessproof_made_up_{next(NUMBERS)}"
    with scratch().cursor() as con:
        con.execute(f"ATTACH {quote_text(place)} AS {name}")
        try:
            con.execute(f"USE {name}")
            yield con
        finally:
            con.execute("USE memory")
            con.execute(f"DETACH {name}")


def form_of(source: str) -> str:
    """The kind of file that a plan's source is, from its name alone."""
    name = source.lower().removesuffix(".gz")
    if name.endswith((".csv", ".tsv")):
        return "csv"
    return "duckdb" if name.endswith((".duckdb", ".db")) else "parquet"


def _to_csv(value: Any) -> Any:
    return repr(value) if isinstance(value, float) else "" if value is None else value


def _arrow(rows: Sequence[Row], fields: Sequence[Field]) -> Any:
    import pyarrow as pa

    kinds = [pa.float64() if f.kind == "number" else pa.string() for f in fields]
    columns = [
        pa.array([r.get(f.name) for r in rows], k, from_pandas=False) for f, k in zip(fields, kinds, strict=True)
    ]
    return pa.table(dict(zip((f.name for f in fields), columns, strict=True)))


def _fill(con: duckdb.DuckDBPyConnection, table: str, rows: Any, types: Sequence[str]) -> None:
    """A table of these very types, in the order of the rows; what a type cannot hold is NULL."""
    names = [_name(name) for name in rows.column_names]
    declared = ", ".join(f"{name} {kind}" for name, kind in zip(names, types, strict=True))
    con.execute(f"CREATE TABLE {_name(table)} ({declared})")
    casts = (f"TRY_CAST({n} AS {k.split(' COLLATE ', maxsplit=1)[0]})" for n, k in zip(names, types, strict=True))
    con.register("guessproof_made_up", rows)
    con.execute(f"INSERT INTO {_name(table)} SELECT {', '.join(casts)} FROM guessproof_made_up")  # noqa: S608
    con.unregister("guessproof_made_up")


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# The same by plain arithmetic: what the attacker expects, and what the engine is held to.


@dataclass(frozen=True)
class PlainAnswer:
    """What a table's answer is without noise, and how far rounding to the grid may take it."""

    value: float
    count: int
    slack: float


def contributes(measurement: Measurement, row: Row) -> float:
    """What a made-up row adds: where a unit has several rows, all of them within its bound."""
    own, total = measurement.contribution.at(row), measurement.total
    if total is None or measurement.kind not in ("count", "sum"):
        return own
    if total.weights is not None:
        return own * min(count_rows(row), total.weights.most)
    whole = own * count_rows(row)
    if total.high is not None:
        whole = min(whole, total.high)
    if total.low is not None:
        whole = max(whole, total.low)
    return whole if total.most is None else min(max(whole, -total.most), total.most)


def plain_answer(measurement: Measurement, rows: Sequence[Row], step: float) -> PlainAnswer:
    """The measurement of one group's rows."""
    contribution = measurement.contribution
    counted = [r for r in rows if contribution.condition.at(r) and contribution.term.at(r) is not None]
    values = [contributes(measurement, row) for row in counted]
    if measurement.kind == "distinct":
        (name,) = contribution.term.columns
        column = measurement.declared.column(name)
        value, moved = float(len({column.read(row.get(name)) for row in counted})), 1
    elif measurement.kind in ("count", "sum"):
        value, moved = math.fsum(values), sum(map(count_rows, counted))
    else:
        pick = min if measurement.kind == "min" else max
        value, moved = pick(values, default=contribution.absent), 1
    if measurement.contribution.is_whole:
        return PlainAnswer(value, len(counted), 0.25)
    slack = (moved + 1) * (step + measurement.guarantee.rounding) + 1e-14 * abs(value)
    return PlainAnswer(value, len(counted), slack)


def in_group(question: AnalyzedQuery, group: Group, row: Row) -> bool:
    """Whether a row is counted in a group; without groups, always."""
    return all(level_of(key, row.get(key.column)) == level for key, level in zip(question.keys, group, strict=True))


def level_of(key: Key, value: Any) -> str | None:
    """The level of a key that a stored value is, or the bin that it lies in."""
    if key.bins is not None:
        place = key.bins.find_stored(value)
        return None if place is None else key.levels[place]
    return next((level for level in key.levels if is_level(value, level)), None)


def is_level(value: Any, level: str) -> bool:
    """Whether a stored value is this level of a key."""
    if isinstance(value, float):
        return str(value) == level or (value.is_integer() and str(int(value)) == level)
    return value is not None and label_of(value) == level
