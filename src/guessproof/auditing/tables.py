"""Synthetic tables: written to a file, asked by the real engine and by plain arithmetic."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from guessproof.auditing.columns import Field, Row
from guessproof.engines import open_engine
from guessproof.releasing import prepared
from guessproof.sql import Question
from guessproof.sql.question import Key, Measurement
from guessproof.world.kinds import label_of

Cell = tuple[int | None, int | None]  # a whole number of grid steps and, behind an average, the rows counted
Group = tuple[str, ...]
COPY = "guessproof_copy"  # the column that tells apart the copies of a table that are asked in one go


@dataclass(frozen=True)
class Shop:
    """Where tables are written and asked: a private folder, the plan's kind of file, the query and its grids."""

    folder: Path
    form: str
    table: str
    fields: Mapping[str, Field]
    question: Question
    exponents: tuple[int, ...]

    def ask(self, rows: Sequence[Row], name: str) -> dict[Group, list[Cell]]:
        """One table through the query as a release runs it."""
        path = self._written(rows, list(self.fields.values()), name)
        return self._asked(path, self.question)

    def ask_all(self, others: Sequence[Row], victims: Sequence[Row | None], name: str) -> list[dict[Group, list[Cell]]]:
        """Many tables that differ in the victim, in one file: the same query with one more key to group by."""
        kept: list[Row] = []
        for index, victim in enumerate(victims):
            rows = others if victim is None else [*others, victim]
            kept += [{**row, COPY: f"copy{index}"} for row in rows]
        levels = tuple(f"copy{index}" for index in range(len(victims)))
        question = replace(self.question, keys=(Key(COPY, COPY, levels), *self.question.keys))
        marked = [*self.fields.values(), Field(COPY, "label", False, False, levels)]
        found = self._asked(self._written(kept, marked, name), question)
        return [{g[1:]: cells for g, cells in found.items() if g[0] == level} for level in levels]

    def _asked(self, path: Path, question: Question) -> dict[Group, list[Cell]]:
        with open_engine(str(path), self.table) as engine:
            rewritten = prepared(engine, question, self.exponents)
            return rewritten.read(engine.aggregates(rewritten.sql))

    def _written(self, rows: Sequence[Row], fields: Sequence[Field], name: str) -> Path:
        path = self.folder / f"{name}.{self.form}"
        if self.form == "csv":
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow([f.name for f in fields])
                writer.writerows([[_typed(row.get(f.name)) for f in fields] for row in rows])
            return path
        table = _arrow(rows, fields)
        if self.form == "parquet":
            import pyarrow.parquet as parquet

            parquet.write_table(table, path)
        else:
            _save_duckdb(table, path, self.table)
        return path


def form_of(source: str) -> str:
    """The kind of file that a plan's source is, from its name alone."""
    name = source.lower().removesuffix(".gz")
    if name.endswith((".csv", ".tsv")):
        return "csv"
    return "duckdb" if name.endswith((".duckdb", ".db")) else "parquet"


def _typed(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else "" if value is None else value


def _arrow(rows: Sequence[Row], fields: Sequence[Field]) -> Any:
    import pyarrow as pa

    kinds = {"number": pa.float64(), "truth": pa.string(), "label": pa.string(), "time": pa.string()}
    columns: dict[str, Any] = {}
    for field in fields:
        column = pa.array([row.get(field.name) for row in rows], kinds[field.kind], from_pandas=False)
        columns[field.name] = column.cast(pa.timestamp("us")) if field.kind == "time" else column
    return pa.table(columns)


def _save_duckdb(table: Any, path: Path, name: str) -> None:
    import duckdb

    with duckdb.connect(str(path)) as con:
        con.register("made_up", table)
        quoted = '"' + name.replace('"', '""') + '"'
        con.execute(f"CREATE TABLE {quoted} AS SELECT * FROM made_up")  # noqa: S608


# The same by plain arithmetic: what the attacker expects, and what the engine is held to.


@dataclass(frozen=True)
class Plain:
    """What a table's answer is without noise, and how far rounding to the grid may take it."""

    value: float
    count: int
    slack: float


def plain_answer(measurement: Measurement, rows: Sequence[Row], step: float) -> Plain:
    """The measurement of one group's rows."""
    contribution = measurement.contribution
    counted = [r for r in rows if contribution.condition.at(r) and contribution.term.at(r) is not None]
    values = [contribution.at(row) for row in counted]
    if measurement.kind in ("count", "sum"):
        value, moved = math.fsum(values), len(values)
    else:
        pick = min if measurement.kind == "min" else max
        value, moved = pick(values, default=contribution.absent), 1
    if measurement.contribution.is_whole:
        return Plain(value, len(counted), 0.25)
    slack = (moved + 1) * (step + measurement.guarantee.error) + 1e-14 * abs(value)
    return Plain(value, len(counted), slack)


def in_group(question: Question, group: Group, row: Row) -> bool:
    """Whether a row is counted in a group; without groups, always."""
    return all(is_level(row.get(key.column), level) for key, level in zip(question.keys, group, strict=True))


def is_level(value: Any, level: str) -> bool:
    """Whether a stored value is this level of a key."""
    if isinstance(value, float):
        return str(value) == level or (value.is_integer() and str(int(value)) == level)
    return value is not None and label_of(value) == level
