"""A small table with everything that goes wrong in tables, and plans about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engines import tables

from guessproof.ledger import Budget, Ledger
from guessproof.plan import Plan, loads_plan

ROWS: list[dict[str, Any]] = [
    {"id": 1, "time": 20.0, "age": 30, "faculty": "math", "smoker": True},
    {"id": 2, "time": 15.5, "age": 41, "faculty": "math", "smoker": False},
    {"id": 3, "time": None, "age": 25, "faculty": "law", "smoker": False},
    {"id": 4, "time": float("nan"), "age": 67, "faculty": "law", "smoker": None},
    {"id": 5, "time": 80.0, "age": None, "faculty": None, "smoker": True},
    {"id": 6, "time": 5.25, "age": 19, "faculty": "cs", "smoker": False},
    {"id": 7, "time": 33.0, "age": 52, "faculty": "math", "smoker": True},
    {"id": 8, "time": 0.0, "age": 33, "faculty": "cs", "smoker": False},
]
TYPES = {"id": "BIGINT", "time": "DOUBLE", "age": "BIGINT", "faculty": "VARCHAR", "smoker": "BOOLEAN"}
COLUMNS = """
[columns.time]
bounds = [0, 120]
[columns.age]
bounds = [18, 99]
[columns.faculty]
levels = ["math", "law", "cs", "art"]
[columns.smoker]
levels = ["true", "false"]
"""


def table(folder: Path, form: str = "duckdb", rows: list[dict[str, Any]] | None = None) -> str:
    return Path(tables.write(folder, ROWS if rows is None else rows, form, types=TYPES)).name


def plan(folder: Path, sql: str, *more: str, source: str = "t.duckdb", epsilon: float = 1e6, **data: Any) -> Plan:
    settings = {"name": "test", "source": source, "protects": "records", **data}
    head = "\n".join(f"{k} = {v!r}" if isinstance(v, str) else f"{k} = {v}" for k, v in settings.items())
    columns = COLUMNS if settings["protects"] == "records" else COLUMNS.replace('"art"]', '"art"]\npublic = true')
    text = f'[data]\n{head}\n[query]\nsql = """{sql}"""\n{columns}\n[release]\nepsilon = {epsilon}\n' + "\n".join(more)
    return loads_plan(text, folder=folder)


def budget(folder: Path, epsilon: str = "1e9", **more: Any) -> Ledger:
    return Ledger.create(folder / "guessproof.ledger", "test", Budget(epsilon, **more))
