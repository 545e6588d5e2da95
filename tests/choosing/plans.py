"""Plans in short form for tests. Their tables do not exist: choosing never opens one."""

from __future__ import annotations

from typing import Any

from guessproof.plan import Plan, loads_plan


def plan(sql: str, columns: dict[str, str], *more: str, **data: Any) -> Plan:
    """A plan from a query, columns as TOML inline tables, and further tables as text."""
    settings = {"name": "test", "source": "nowhere.csv", "protects": "values", **data}
    head = "\n".join(f"{k} = {_toml(v)}" for k, v in settings.items())
    body = "\n".join(f"[columns.{name}]\n{text}" for name, text in columns.items())
    return loads_plan(f"[data]\n{head}\n[query]\nsql = {_toml(sql)}\n{body}\n" + "\n".join(more))


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value).lower() if isinstance(value, bool) else str(value)


CAFETERIA = (
    "SELECT AVG(time) AS mean_time FROM t WHERE faculty = 'math'",
    {"time": "bounds = [0, 120]\nprior = { normal = { mean = 20, sd = 6.28 } }"},
)
