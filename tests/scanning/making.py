"""Plans, tables and ledgers for scans, and the slow way: every record asked about by itself."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from guessproof.choosing import Chooser, asked
from guessproof.errors import GoalError, GuessproofError
from guessproof.exposure import Exposure
from guessproof.ledger import Budget, Ledger
from guessproof.plan import Plan, loads_plan

NORMAL = "{ normal = { mean = 20, sd = 6.28 } }"


def text(
    *,
    source: str = "t.csv",
    sql: str = "SELECT SUM(x) AS s FROM t",
    columns: dict[str, str] | None = None,
    goal: str = "x within 2",
    more: str = "advantage = 0.05",
    protects: str = "values",
    tail: str = "",
) -> str:
    """A plan with one column x of numbers between 0 and 120, unless told otherwise."""
    columns = columns or {"x": f"bounds = [0, 120]\nprior = {NORMAL}"}
    declared = "\n".join(f"[columns.{name}]\n{body}" for name, body in columns.items())
    return f"""
[data]
name = "d"
source = "{source}"
protects = "{protects}"
[query]
sql = "{sql}"
{declared}
{tail}
[attacker]
goal = "{goal}"
{more}
"""


def made(folder: Path, plan: str, header: Sequence[str], rows: Iterable[Sequence[Any]], *, ledger: bool = True) -> Plan:
    """The plan, its table as CSV and its ledger."""
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(["" if v is None else v for v in row] for row in rows)
    if ledger:
        Ledger.create(folder / "guessproof.ledger", "d", Budget("10"))
    return loads_plan(plan, folder=folder)


@lru_cache(maxsize=4)
def exposure_of(plan: Plan) -> Exposure:
    """What the plan's attacker learns."""
    found = Chooser(plan, asked(plan), None, False).exposure()
    assert found is not None
    return found


def alone(plan: Plan, at: dict[str, Any], epsilon: float) -> tuple[float, float] | str:
    """One record's advantage (attack, bound), or why it has none."""
    for value in at.values():
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "missing"
        if isinstance(value, float) and math.isinf(value):
            return "infinite"
    exposure = exposure_of(plan)
    try:
        bracket = replace(exposure, attacker=replace(exposure.attacker, at=at)).advantage(epsilon, plan.limits.both)
    except GoalError:
        return 0.0, 0.0
    except GuessproofError:
        return "outside"
    return float(bracket.attack), float(bracket.bound)
