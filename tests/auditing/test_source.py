"""The plan's table is never opened, its ledger never touched, and nothing is left behind."""

from __future__ import annotations

import ctypes
import os
import sqlite3
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pytest

from auditing.plans import SALARIES, fast
from guessproof.auditing import audit, run
from guessproof.auditing import tables as written
from guessproof.auditing.plan import make_audit_plan
from guessproof.noise import Noise
from guessproof.plan import Plan, loads_plan


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Noise, "draw", fast(2))


def plan_in(folder: Path, source: str = "salaries.csv") -> Plan:
    return loads_plan(SALARIES.replace("nowhere/salaries.duckdb", source), folder=folder)


def test_it_runs_where_the_table_is_absent(tmp_path: Path) -> None:
    assert audit(plan_in(tmp_path), trials=2000, seconds=1e5, seed=1).passed
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("source", ["salaries.csv", "salaries.parquet", "salaries.duckdb"])
def test_it_runs_where_the_table_cannot_be_read(source: str, tmp_path: Path) -> None:
    (tmp_path / source).mkdir(mode=0)  # nobody reads a folder as a table, not even root
    assert audit(plan_in(tmp_path, source), trials=2000, seconds=1e5, seed=1).passed


@pytest.mark.parametrize("ask", ["a, COUNT(*) AS n FROM t GROUP BY a", "COUNT(*) AS n FROM t WHERE a = {}"])
@pytest.mark.parametrize(
    ("stored", "levels", "one"),
    [
        ("INTEGER", '["0", "1"]', "'1'"),
        ("INTEGER", "[0, 1]", "1"),
        ("BOOLEAN", '["true", "false"]', "'true'"),
        ("BOOLEAN", "[true, false]", "true"),
        ("DATE", '["2020-01-01", "2021-01-01"]', "'2020-01-01'"),
        ("VARCHAR", '["007", "7", " 7"]', "'7'"),
        (None, '["0", "1"]', "'1'"),
        (None, '["true", "false"]', "'true'"),
    ],
)
def test_a_level_and_a_stored_value_have_one_reading(
    stored: str | None, levels: str, one: str, ask: str, tmp_path: Path
) -> None:
    """What is stored is compared, not how it was written: '1 ' in a column of whole numbers is 1."""
    if stored is not None:
        with duckdb.connect(str(tmp_path / "t.duckdb")) as con:
            con.execute(f"CREATE TABLE t (a {stored})")
    data = 'data = { name = "d", source = "t.duckdb", table = "t", protects = "values", rows = 20 }'
    column = f"columns.a = {{ levels = {levels} }}"
    text = f'{data}\nquery.sql = "SELECT {ask.format(one)}"\n{column}\nrelease.epsilon = 1.0\n'
    found = audit(loads_plan(text, folder=tmp_path), trials=2000, seconds=1e5, seed=1)
    assert found.failures == ()
    (storage,) = [check for check in found.checks if check.name == "storage"]
    assert storage.measured is not None
    assert storage.measured > 0.4
    if stored is not None:
        assert f"a {stored}: " in storage.words


def test_only_made_up_tables_are_given_to_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = written.open_engine

    def recording(source: str, *rest: Any, **named: Any) -> Any:
        opened.append(source)
        return real(source, *rest, **named)

    monkeypatch.setattr(written, "open_engine", recording)
    (tmp_path / "salaries.csv").write_text("salary\n1234\n")
    assert audit(plan_in(tmp_path), trials=2000, seconds=1e5, seed=1).passed
    assert {Path(source).stem.rstrip("0123456789") for source in opened} >= {
        "case",
        "near0-",
        "far0-",
        "storage",
        "crowd",
    }
    assert all(Path(source).parent.name.startswith("guessproof-audit-") for source in opened)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="watches the file with inotify")
def test_the_kernel_sees_nobody_open_the_table(tmp_path: Path) -> None:
    table = tmp_path / "salaries.csv"
    table.write_text("salary\n1234\n")
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    assert watch >= 0
    assert libc.inotify_add_watch(watch, os.fsencode(table), 0x20 | 0x1) >= 0  # opened, read
    try:
        assert audit(plan_in(tmp_path), trials=2000, seconds=1e5, seed=1).passed
        with pytest.raises(BlockingIOError):
            os.read(watch, 4096)
        table.read_text()
        assert os.read(watch, 4096)  # the trap works
    finally:
        os.close(watch)


def test_the_folder_is_private_and_deleted_and_the_ledger_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}
    real, check = make_audit_plan, run.ledger_check

    def watching(choice: Any, folder: Path, *rest: Any) -> Any:
        seen["folder"], seen["mode"] = folder, stat.S_IMODE(folder.stat().st_mode)
        return real(choice, folder, *rest)

    def looking(choice: Any, played: Any, folder: Path) -> Any:
        found = check(choice, played, folder)
        seen["files"] = sorted(p.name for p in folder.iterdir())
        with sqlite3.connect(folder / "audit.ledger") as book:
            assert book.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0] > 0
        return found

    monkeypatch.setattr(run, "make_audit_plan", watching)
    monkeypatch.setattr(run, "ledger_check", looking)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    plan = plan_in(tmp_path / "elsewhere")
    assert audit(plan, trials=2000, seconds=1e5, seed=1).passed
    assert seen["mode"] == 0o700
    assert {"audit.ledger", "far0-0.csv", "near0-0.csv", "case0.csv"} <= set(seen["files"])
    assert not seen["folder"].exists()
    assert list(tmp_path.iterdir()) == []
    assert not plan.ledger_path.exists()


def test_the_folder_is_deleted_when_something_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("planted")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(run, "ledger_check", broken)
    with pytest.raises(RuntimeError, match="planted"):
        audit(plan_in(tmp_path / "elsewhere"), trials=2000, seconds=1e5, seed=1)
    assert list(tmp_path.iterdir()) == []
