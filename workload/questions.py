"""The families as they are written: each question as the plan that asks it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FAMILIES = ("cats", "weather", "satellites", "ships", "pandemic", "payments", "statements", "tpch")
Table = Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """One question: what it asks, in words and in SQL, and everything of its plan but the source."""

    family: str
    name: str
    asks: str
    sql: str
    plain: str  # the same for a database that knows nothing of plans
    data: Table
    columns: Mapping[str, Table]
    tables: Mapping[str, Table] = field(default_factory=dict[str, Table])

    @property
    def title(self) -> str:
        """A name that no other question has."""
        return f"{self.family}/{self.name}"

    def plan(self, source: Path, epsilon: float = 1.0) -> dict[str, Any]:
        """The plan that asks it of a database at a fixed ε; tables that are not declared are left out."""
        written: dict[str, Any] = {
            "data": {"name": self.family, "source": str(source), **self.data},
            "query": {"sql": self.sql},
            "columns": {name: dict(column) for name, column in self.columns.items()},
            "release": {"epsilon": epsilon, "ledger": str(source.with_suffix(".ledger"))},
        }
        return written | ({"tables": {n: dict(t) for n, t in self.tables.items()}} if self.tables else {})


@dataclass(frozen=True)
class Family:
    """Questions about the same tables."""

    name: str
    title: str
    about: str
    questions: tuple[Question, ...]


def read_family(name: str) -> Family:
    """One family, from its folder."""
    written = tomllib.loads((HERE / name / "questions.toml").read_text(encoding="utf-8"))
    asked = tuple(_question(name, key, table, written) for key, table in written["questions"].items())
    return Family(name, written["title"], written["about"], asked)


def read_families() -> tuple[Family, ...]:
    """All of them."""
    return tuple(map(read_family, FAMILIES))


def _question(family: str, name: str, asked: Table, written: Table) -> Question:
    plan = written["plans"][asked["plan"]]
    declared, public = written["columns"], plan.get("public", [])
    columns = {c: declared[c] for c in plan["columns"]} | {c: {**declared[c], "public": True} for c in public}
    columns |= {c: {**columns[c], **more} for c, more in asked.get("columns", {}).items()}
    known: Mapping[str, Table] = written.get("tables", {})
    chosen = [*plan.get("tables", (n for n, t in known.items() if "as" not in t)), *asked.get("tables", ())]
    tables = {known[n].get("as", n): {k: v for k, v in known[n].items() if k != "as"} for n in chosen}
    used = {n: t for n, t in tables.items() if re.search(rf"\b{n}\b", asked["sql"])}
    plain = asked.get("plain", asked["sql"])
    return Question(
        family, name, asked["asks"], asked["sql"], plain, plan["data"] | asked.get("data", {}), columns, used
    )
