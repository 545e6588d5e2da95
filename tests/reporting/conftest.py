"""Reports are made once for each plan."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from guessproof.ledger import Budget, Ledger
from guessproof.plan import Plan, load_plan, loads_plan
from guessproof.releasing import release
from guessproof.reporting import Report, report

from .plans import CAFETERIA, DRAWN, PLANS

SECRET = 73.59182736455  # a time that occurs in the table and nowhere else


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Report]:
    """The report of a plan in a folder where there is no table and no ledger."""
    folder = tmp_path_factory.mktemp("plans")
    known: dict[str, Report] = {}

    def make(name: str) -> Report:
        if name not in known:
            path = folder / f"{name}.toml"
            path.write_text((PLANS | DRAWN)[name], encoding="utf-8")
            known[name] = report(load_plan(path))
        return known[name]

    return make


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, a ledger and one plan that released, between two others on the same data."""
    folder = tmp_path_factory.mktemp("shop")
    rows = [f"P{i},math,{20 + i % 7}" for i in range(40)] + [f"Nobody,law,{SECRET}", "Somebody,law,9"]
    (folder / "cafeteria.csv").write_text("name,faculty,time\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (folder / "plan.toml").write_text(CAFETERIA, encoding="utf-8")
    clock = lambda: datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)  # noqa: E731
    book = Ledger.create(
        folder / "guessproof.ledger", "cafeteria", Budget("20", advantage="0.5"), clock=clock, patience=0.0
    )
    plan = load_plan(folder / "plan.toml")
    release(other(folder, "within = 30"), ledger=book)
    release(plan, ledger=book)
    book.note("cafeteria", "A scan found that Nobody is most exposed, at 99 percent.", scan=False)
    return folder


def other(folder: Path, accuracy: str) -> Plan:
    """Another question about the same data."""
    return loads_plan(CAFETERIA.replace("within = 40", accuracy), folder=folder)
