"""A scan of a column of times: the same as one of its days, shown as dates."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from guessproof.ledger import Budget, Ledger
from guessproof.plan import load_plan
from guessproof.scanning import Scan, scan
from guessproof.world.checks import days_of

DATES = [datetime.date(1930 + i % 80, 1 + i % 12, 1 + i % 28) for i in range(240)]
PLAN = """
[data]
name = "test"
source = "t.csv"
table = "t"
protects = "values"

[query]
sql = "{sql}"

[columns.born]
bounds = {bounds}
missing = false
prior = {{ normal = {{ mean = {mean}, sd = {sd} }} }}

[attacker]
goal = "born within {radius}"
advantage = 0.1

[release]
epsilon = 0.5
"""


def scanned(folder: Path, values: list[str], **words: str) -> Scan:
    folder.mkdir()
    (folder / "t.csv").write_text("born\n" + "\n".join(values) + "\n", encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN.format(**words), encoding="utf-8")
    Ledger.create(folder / "guessproof.ledger", "test", Budget("10"))
    return scan(load_plan(folder / "plan.toml"))


def test_dates_are_scanned_as_their_days(tmp_path: Path) -> None:
    middle = days_of(datetime.date(1980, 1, 1))
    dated = scanned(
        tmp_path / "dates",
        [date.isoformat() for date in DATES],
        sql="SELECT COUNT(*) AS n FROM t WHERE born < DATE '1980-01-01'",
        bounds="[1920-01-01, 2025-12-31]", mean="1980-01-01", sd='"10 years"', radius="5 years",
    )  # fmt: skip
    days = scanned(
        tmp_path / "days",
        [str(days_of(date)) for date in DATES],
        sql=f"SELECT COUNT(*) AS n FROM t WHERE born < {middle}",
        bounds=f"[{days_of(datetime.date(1920, 1, 1))}, {days_of(datetime.date(2025, 12, 31))}]",
        mean=f"{middle}", sd="3652.5", radius="1826.25",
    )  # fmt: skip
    assert (dated.rows, dated.missing, dated.outside) == (240, 0, 0)
    assert dated.mean == pytest.approx(days.mean)
    assert list(dated.quantiles.values()) == [pytest.approx(pair) for pair in days.quantiles.values()]
    assert [e.count for e in dated.exposed] == [e.count for e in days.exposed]
    assert len(dated.exposed) > 1
    for one, other in zip(dated.exposed, days.exposed, strict=True):
        ends = [days_of(datetime.datetime.fromisoformat(text)) for text in one.values["born"]]
        assert ends == pytest.approx(list(other.values["born"]), abs=1e-4)
    assert dated.to_dict()["exposed"][0]["values"]["born"][0][:2] in ("19", "20")
