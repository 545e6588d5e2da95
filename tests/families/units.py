"""A database in which one protected unit after another is changed: each state is a neighbour of the one before."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from workload.questions import Question

Values = dict[str, Any]


@dataclass
class Step:
    """What was done to one unit: changed, or came or went."""

    presence: bool
    words: str


class Walk:
    """Changes a database in drawn ways, one unit at a time. Which one, and to what, depends on the seed alone."""

    def __init__(self, question: Question, source: Path, seed: int) -> None:
        self.question, self.con = question, duckdb.connect(str(source), config={"threads": 1})
        self.rng = np.random.default_rng(seed)
        self.table = str(question.data["table"])
        self.unit = str(question.data["protects"])

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """What the database answers as it stands."""
        return self.con.execute(sql).fetchall()

    def step(self) -> Step:
        """One more change."""
        change = {"values": self._change_values, "records": self._change_record, "persons": self._change_person}
        return change[self.unit](self.con)

    def _change_values(self, con: duckdb.DuckDBPyConnection) -> Step:
        secret = [n for n, c in self.question.columns.items() if not c.get("public")]
        row = self._pick(con, f"SELECT rowid FROM {self.table}")
        drawn = {n: self.draw(self.question.columns[n]) for n in secret if self.rng.random() < 0.7} or {
            secret[0]: self.draw(self.question.columns[secret[0]])
        }
        _update(con, self.table, drawn, row)
        return Step(False, f"values {drawn} of row {row}")

    def _change_record(self, con: duckdb.DuckDBPyConnection) -> Step:
        kind = self.rng.choice(["add", "remove", "change"])
        row = self._pick(con, f"SELECT rowid FROM {self.table}")
        model = self._pick(con, f"SELECT rowid FROM {self.table}")
        added: Values = {}
        if kind != "remove":
            added = self._mutated(con, self.table, self.question.columns, model)
            _insert(con, self.table, [added])
        if kind != "add":
            con.execute(f"DELETE FROM {self.table} WHERE rowid = {row}")
        return Step(kind != "change", f"{kind} {added}")

    def _change_person(self, con: duckdb.DuckDBPyConnection) -> Step:
        """All rows of one person, in all tables that are the person's."""
        kind = self.rng.choice(["add", "remove", "change"])
        key = str(self.question.data["person"])
        tables = self._tables()
        gone = self._pick(con, f"SELECT DISTINCT {key} FROM {self.table} ORDER BY 1")
        model = self._pick(con, f"SELECT DISTINCT {key} FROM {self.table} ORDER BY 1")
        new = int(con.execute(f"SELECT MAX({key}) + 1 FROM {self.table}").fetchone()[0])  # type: ignore[index]
        if kind != "remove":
            self._clone(con, model, gone if kind == "change" else new, tables, keep=kind != "change")
        elif kind == "remove":
            self._delete(con, gone, tables)
        return Step(kind != "change", f"{kind} person {gone}, as {model}")

    def _tables(self) -> list[tuple[str, str, str | None]]:
        """Each protected table with the column that leads to its person, and the table by which it does."""
        found: list[tuple[str, str, str | None]] = [(self.table, str(self.question.data["person"]), None)]
        for name, declared in self.question.tables.items():
            if "person" in declared:
                found.append((name, str(declared["person"]), None))
            elif "owner" in declared:
                found.append((name, str(declared["key"][0]), str(declared["owner"])))
        return found

    def _rows_of(self, con: duckdb.DuckDBPyConnection, person: Any, tables: Any) -> dict[str, list[Values]]:
        """The rows of a person by table; those of an owned table through its owner."""
        rows: dict[str, list[Values]] = {}
        for name, key, owner in tables:
            where = f"{key} = {person}"
            if owner is not None:
                up = next(k for n, k, _ in tables if n == owner)
                where = f"{key} IN (SELECT {_owner_key(owner)} FROM {owner} WHERE {up} = {person})"
            found = con.execute(f"SELECT rowid, * FROM {name} WHERE {where} ORDER BY rowid")
            names = [c[0] for c in found.description or ()]
            rows[name] = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        return rows

    def _delete(self, con: duckdb.DuckDBPyConnection, person: Any, tables: Any) -> None:
        for name, rows in self._rows_of(con, person, tables).items():
            for row in rows:
                con.execute(f"DELETE FROM {name} WHERE rowid = {row['rowid']}")

    def _clone(self, con: duckdb.DuckDBPyConnection, model: Any, person: Any, tables: Any, *, keep: bool) -> None:
        """Rows like those of a model, several times and with other values, under a person's name."""
        rows = self._rows_of(con, model, tables)
        if not keep:
            self._delete(con, person, tables)
        times = int(self.rng.integers(1, 5))
        fresh: dict[str, dict[Any, int]] = {}
        for turn in range(times):
            for name, key, owner in tables:
                if turn and name == self.table and len(tables) > 1 and len(rows[name]) == 1:
                    continue  # a person is in a list of persons once
                columns = self.question.columns if name == self.table else self.question.tables[name].get("columns", {})
                for row in rows[name]:
                    made = {k: v for k, v in row.items() if k != "rowid"}
                    made |= {c: self.draw(columns[c]) for c in columns if c in made and self.rng.random() < 0.5}
                    made[key] = person if owner is None else fresh[owner][(turn, row[key])]
                    if name in OWNERS:
                        own = OWNERS[name]
                        number = int(con.execute(f"SELECT MAX({own}) + 1 FROM {name}").fetchone()[0])  # type: ignore[index]
                        fresh.setdefault(name, {})[(turn, row[own])] = number
                        made[own] = number
                    _insert(con, name, [made])

    def _mutated(
        self, con: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, Mapping[str, Any]], row: Any
    ) -> Values:
        found = con.execute(f"SELECT * FROM {table} WHERE rowid = {row}")
        names = [c[0] for c in found.description or ()]
        made = dict(zip(names, found.fetchone() or (), strict=True))
        return made | {c: self.draw(columns[c]) for c in columns if c in made and self.rng.random() < 0.6}

    def _pick(self, con: duckdb.DuckDBPyConnection, sql: str) -> Any:
        rows = con.execute(sql).fetchall()
        return rows[int(self.rng.integers(len(rows)))][0]

    def draw(self, column: Mapping[str, Any]) -> Any:
        """A value of a column: an end of its bounds, inside, beyond; a level, or none of them; nothing."""
        chance = self.rng.random()
        if chance < 0.06:
            return None
        if "levels" in column:
            return str(self.rng.choice([*column["levels"], "no level"]))
        if "bounds" not in column:
            return None
        low, high = column["bounds"]
        if isinstance(low, datetime.date):
            choices = [low, high, low + (high - low) * float(self.rng.random()), low - datetime.timedelta(900)]
            return choices[int(self.rng.integers(len(choices)))]
        choices = [low, high, float(self.rng.uniform(low, high)), low - 3 * (high - low), high + 7 * (high - low)]
        return choices[int(self.rng.integers(len(choices)))]


OWNERS = {"orders": "o_orderkey"}  # tables whose rows own rows of others, and by which number


def _owner_key(owner: str) -> str:
    return OWNERS[owner]


def _update(con: duckdb.DuckDBPyConnection, table: str, values: Values, row: Any) -> None:
    sets = ", ".join(f"{name} = {_cast(con, table, name)}" for name in values)
    con.execute(f"UPDATE {table} SET {sets} WHERE rowid = {row}", list(values.values()))


def _insert(con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Values]) -> None:
    for row in rows:
        marks = ", ".join(_cast(con, table, name) for name in row)
        con.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))


def _cast(con: duckdb.DuckDBPyConnection, table: str, column: str) -> str:
    types = dict(row[:2] for row in con.execute(f"DESCRIBE {table}").fetchall())
    return f"CAST(? AS {types[column]})"
