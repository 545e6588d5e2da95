"""Releases on frames at hand, and answers as frames."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import guessproof as gp
from guessproof.engines import open_engine
from guessproof.errors import MissingExtraError, SourceError
from guessproof.ledger import Budget, Ledger

PLAN = """
[data]
name = "cafeteria"
source = "cafeteria.csv"
protects = "records"
[query]
sql = "SELECT faculty, COUNT(*) AS n, SUM(time) AS minutes FROM t WHERE time > 1 GROUP BY faculty"
[columns.time]
bounds = [0, 120]
[columns.faculty]
levels = ["math", "law", "art"]
[release]
epsilon = 1e6
ledger = "frames.ledger"
"""
ROWS = {
    "faculty": ["math", "law", None, "law", "math", "law"],
    "time": [10.0, float("nan"), 20.0, float("inf"), None, 5.5],
}
TABLE = pa.table(ROWS)
TRUE = {"math": (1.0, 10.0), "law": (2.0, 125.5), "art": (0.0, 0.0)}
CONNECTION = duckdb.connect()
CONNECTION.register("rows", TABLE)
CONNECTION.execute("CREATE TABLE kept AS SELECT * FROM rows")

FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(ROWS),
    "pandas on Arrow": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas category": lambda: pd.DataFrame(ROWS).astype({"faculty": "category"}),
    "polars": lambda: pl.DataFrame(ROWS, strict=False),
    "polars lazy": lambda: pl.DataFrame(ROWS, strict=False).lazy(),
    "polars categorical": lambda: pl.DataFrame(ROWS, strict=False).with_columns(pl.col("faculty").cast(pl.Categorical)),
    "arrow": lambda: TABLE,
    "arrow batch": lambda: TABLE.to_batches()[0],
    "arrow reader": lambda: TABLE.to_reader(),
    "arrow dictionary": lambda: pa.table({**ROWS, "faculty": pa.array(ROWS["faculty"]).dictionary_encode()}),
    "duckdb": lambda: CONNECTION.table("kept"),
}


def plan_in(folder: Path) -> gp.Plan:
    Ledger.create(folder / "frames.ledger", "cafeteria", Budget(Decimal(10**7)))
    return gp.loads_plan(PLAN, folder=folder)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_gives_what_a_file_gives(kind: str, tmp_path: Path) -> None:
    answer = gp.release(plan_in(tmp_path), source=FRAMES[kind]())
    found = {a.group["faculty"]: [] for a in answer.answers}
    for a in answer.answers:
        found[a.group["faculty"]].append(a.value)
    assert {k: tuple(round(v, 1) + 0.0 for v in values) for k, values in found.items()} == TRUE


def test_the_same_plan_is_replayed_whatever_the_frame(tmp_path: Path) -> None:
    plan = plan_in(tmp_path)
    first = gp.release(plan, source=TABLE)
    again = gp.release(plan, source=TABLE.slice(0, 1))
    assert again.replayed
    assert again.answers == first.answers


def test_a_query_of_duckdb_is_a_view(tmp_path: Path) -> None:
    twice = CONNECTION.sql("SELECT * FROM kept UNION ALL SELECT * FROM kept")
    with pytest.raises(SourceError, match="copies = N"):
        gp.release(plan_in(tmp_path), source=twice)
    assert Ledger(tmp_path / "frames.ledger").remaining("cafeteria").epsilon == 10**7


BAD: dict[str, tuple[Any, str]] = {
    "mixed types": (pd.DataFrame({"faculty": ["s3cret", 4711], "time": [1, 2]}), "values of one type"),
    "a name twice": (pa.table([[1], [2]], names=["time", "Time"]), "rename one"),
    "a list": ([1, 2], "use a pandas or polars frame"),
    "a number": (3, "use a pandas or polars frame"),
    "a series": (pl.Series("time", [1.0]), "cannot be read as a table"),
    "no such column": (pa.table({"time": [1.0]}), "has no column faculty"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_table_is_refused_unpaid_and_unquoted(kind: str, tmp_path: Path) -> None:
    frame, words = BAD[kind]
    with pytest.raises(SourceError, match=words) as caught:
        gp.release(plan_in(tmp_path), source=frame)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__context__ is None
    assert Ledger(tmp_path / "frames.ledger").remaining("cafeteria").epsilon == 10**7


SCANNED = PLAN.replace('"records"', '"values"').split("[release]")[0].replace(
    "bounds = [0, 120]", "bounds = [0, 120]\nprior = { normal = { mean = 20, sd = 6.28 } }"
).replace('"art"]', '"art"]\npublic = true') + """
[attacker]
goal = "time within 2"
advantage = 0.1
[release]
ledger = "frames.ledger"
"""  # fmt: skip


def test_a_frame_is_scanned_as_a_file_is(tmp_path: Path) -> None:
    """Every kind of frame, by faculty: what is said of the file is said of each of them, and the ledger notes it."""
    Ledger.create(tmp_path / "frames.ledger", "cafeteria", Budget(Decimal(10**7)))
    plan = gp.loads_plan(SCANNED, folder=tmp_path)
    lines = [",".join("" if v is None else str(v) for v in row) for row in zip(*ROWS.values(), strict=True)]
    (tmp_path / "cafeteria.csv").write_text("\n".join([",".join(ROWS), *lines]) + "\n", encoding="utf-8")
    wanted = gp.scan(plan, by="faculty", epsilon=0.5).to_dict()
    (tmp_path / "cafeteria.csv").unlink()
    assert wanted["rows"] == 6
    for kind, frame in FRAMES.items():
        assert gp.scan(plan, by="faculty", epsilon=0.5, source=frame()).to_dict() == wanted, kind
    assert Ledger(tmp_path / "frames.ledger").account("cafeteria").is_scanned


def test_nothing_is_copied() -> None:
    column = pa.array(range(1000), pa.float64())
    with open_engine(pl.from_arrow(pa.table({"x": column})), "t") as engine:
        before = pa.total_allocated_bytes()
        assert engine.aggregates("SELECT MAX(x) FROM t") == [(999.0,)]
        assert pa.total_allocated_bytes() - before < 8 * 1000


def test_answers_as_frames(tmp_path: Path) -> None:
    answer = gp.release(plan_in(tmp_path), source=TABLE)
    columns = ["faculty", "n", "n_error", "minutes", "minutes_error"]
    table, frame, polars = answer.to_arrow(), answer.to_pandas(), answer.to_polars()
    assert table.column_names == list(frame.columns) == polars.columns == columns
    by_name = {(a.group["faculty"], a.name): a for a in answer.answers}
    for row in table.to_pylist():
        for name in ("n", "minutes"):
            released = by_name[row["faculty"], name]
            assert (row[name], row[name + "_error"]) == (released.value, released.error)
    assert frame.to_dict("records") == polars.to_dicts() == table.to_pylist()
    assert type(frame).__module__.startswith("pandas")


def test_a_missing_library_is_named_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = gp.release(plan_in(tmp_path), source=TABLE)
    for name, call in {"pandas": answer.to_pandas, "polars": answer.to_polars}.items():
        monkeypatch.setitem(__import__("sys").modules, name, None)
        with pytest.raises(MissingExtraError, match=r"guessproof\[frames\]"):
            call()


@pytest.mark.parametrize("kind", FRAMES)
def test_nan_is_compared_as_in_a_stored_table(kind: str) -> None:
    """Arrow, which may be handed a filter, says that NaN is greater than nothing; DuckDB that it is the greatest."""
    queries = ["SELECT COUNT(*) FROM t WHERE time > 15", "SELECT COUNT(*) FROM t WHERE time <= 'Infinity'::DOUBLE"]
    with open_engine(FRAMES[kind](), "t") as engine:
        missing = engine.aggregates("SELECT COUNT(*) FROM t WHERE time IS NULL")[0][0]
        assert missing in (1, 2)  # pandas takes NaN for what is missing
        assert [engine.aggregates(sql)[0][0] for sql in queries] == [4 - missing, 4]
