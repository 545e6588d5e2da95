"""A scan is internal: banner, files for the owner alone, a note in the ledger, identities only when asked for."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from pathlib import Path

import commands
import duckdb
import numpy as np
import pytest
from commands import Done

from guessproof.choosing import choose
from guessproof.choosing.budgets import budget_left
from guessproof.cli.scan import show_scan
from guessproof.engines.duckdb import DuckDB
from guessproof.errors import EngineError, GuessproofError, LedgerError, ParameterError, PlanError, SourceError
from guessproof.ledger import Budget, Ledger
from guessproof.outputs import check_output
from guessproof.plan import load_plan, loads_plan
from guessproof.releasing import release
from guessproof.scanning import BANNER, scan
from guessproof.scanning.records import records_of
from scanning.making import alone, exposure_of, made, text

NAMES = ["ann.canary", "bob.canary", "cyd.canary", "dan.canary", "eve.canary"]
TIMES = [20.25, 13.75, 26.5, 33.125, 7.0625]
ROWS = [[n, t, g] for n, t, g in zip(NAMES, TIMES, "aabbb", strict=True)]


def planned(folder: Path, **options: str) -> Path:
    """A plan file with its table and ledger."""
    written = text(more="advantage = 0.05\nat = { x = 20 }", tail="[accuracy]\nwithin = 400", **options)
    made(folder, written, ["name", "x", "g"], ROWS)
    (folder / "plan.toml").write_text(written, encoding="utf-8")
    return folder / "plan.toml"


def run(folder: Path, *words: str) -> Done:
    """In that folder, by somebody whose files are open to everybody by default."""
    before = os.umask(0)
    try:
        with contextlib.chdir(folder):
            return commands.run(*words)
    finally:
        os.umask(before)


def test_the_command_prints_a_banner_and_writes_for_the_owner_alone(tmp_path: Path) -> None:
    planned(tmp_path)
    (tmp_path / "old.json").write_text("{}")
    (tmp_path / "old.json").chmod(0o644)
    done = run(tmp_path, "scan", "plan.toml", "--epsilon", "3", "-o", "old.json", "--chart", "new.svg", "--by", "g")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(BANNER) == 2
    assert "canary" not in done.stdout + done.stderr
    for name in ("old.json", "new.svg"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
        assert BANNER in (tmp_path / name).read_text(encoding="utf-8")
    table = json.loads((tmp_path / "old.json").read_text(encoding="utf-8"))
    assert next(iter(table)) == "banner"
    assert {g["value"]: g["rows"] for g in table["groups"]} == {"a": 2, "b": 3}
    assert "identified" not in table


def test_identities_are_told_only_when_asked_for(tmp_path: Path) -> None:
    planned(tmp_path)
    plan = load_plan(tmp_path / "plan.toml")
    assert "canary" not in repr(scan(plan, epsilon=3.0, by="g"))
    done = run(tmp_path, "scan", "plan.toml", "--epsilon", "3", "--json", "--identities", "name", "--top", "2")
    found = json.loads(done.stdout)["identified"]
    own = {n: alone(plan, {"x": t}, 3.0) for n, t in zip(NAMES, TIMES, strict=True)}
    ranked = sorted(NAMES, key=lambda n: max(own[n]), reverse=True)
    assert [row["identity"] for row in found] == ranked[:2]
    most, least = (found[0]["advantage"][name] for name in ("at_most", "at_least"))
    assert 0 <= most - least < 1e-4 * most
    assert len(scan(plan, epsilon=3.0, identities="name", top=50).identified or ()) == 5
    assert scan(plan, epsilon=3.0, identities="name", top=0).identified == ()


def test_a_scan_is_noted_in_constant_words_and_marks_later_choices(tmp_path: Path) -> None:
    path = planned(tmp_path)
    plan, book = load_plan(path), Ledger(tmp_path / "guessproof.ledger")
    assert not book.scanned("d")
    assert budget_left(plan).is_scanned is False
    scan(plan, epsilon=3.0)
    scan(plan, epsilon=0.25, by="g", identities="name")
    assert book.scanned("d")
    assert budget_left(plan).is_scanned is True
    notes = [e for e in book.entries("d") if e.kind == "note"]
    assert len(notes) == 2
    assert notes[0].body == notes[1].body
    assert not any(c.isdigit() for c in notes[0].body)
    assert release(plan).data_dependent is True


@pytest.mark.parametrize("method", ["check", "batches"])
def test_a_scan_is_noted_before_a_row_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Whoever stops the scan half-way has seen something all the same: the note is there already."""
    plan, book = load_plan(planned(tmp_path)), Ledger(tmp_path / "guessproof.ledger")
    noted: list[bool] = []

    def stopped(*_: object, **__: object) -> object:
        noted.append(book.scanned("d"))
        raise KeyboardInterrupt

    monkeypatch.setattr(DuckDB, method, stopped)
    with pytest.raises(KeyboardInterrupt):
        scan(plan, epsilon=3.0)
    assert noted == [True]
    assert book.scanned("d")
    monkeypatch.undo()
    assert release(plan).data_dependent is True


def test_a_group_is_told_by_most_of_it_and_by_its_largest(tmp_path: Path) -> None:
    """Thirty-nine of forty hardly exposed, one most: 95 % have no more than the others have."""
    plan = made(tmp_path, text(), ["x", "g"], [*[[60.0, "a"]] * 39, [20.0, "a"], [20.0, "b"]])
    groups = {g.value: g for g in scan(plan, epsilon=3.0, by="g").groups or ()}
    most, largest = groups["a"].most_of_them, groups["a"].largest
    assert most is not None
    assert largest is not None
    assert most[1] < largest[0]
    assert groups["b"].most_of_them == groups["b"].largest == largest


def test_nothing_of_a_scan_reaches_other_outputs(tmp_path: Path) -> None:
    plan = load_plan(planned(tmp_path))
    before, files = choose(plan).to_dict(), set(tmp_path.iterdir())
    found = scan(plan, epsilon=3.0, by="g", identities="name")
    after = choose(plan, data_dependent=budget_left(plan).is_scanned).to_dict()
    assert after == {**before, "data_dependent": True}
    assert set(tmp_path.iterdir()) == files
    stored = (tmp_path / "guessproof.ledger").read_bytes() + json.dumps(after).encode()
    assert found.mean is not None
    numbers = [*found.mean, *(v for pair in found.quantiles.values() for v in pair), *TIMES]
    for secret in (*NAMES, *(f"{v:.8g}" for v in numbers)):
        assert secret.encode() not in stored


def test_without_a_ledger_that_knows_the_data_there_is_no_scan(tmp_path: Path) -> None:
    plan = made(tmp_path, text(), ["x"], [[20]], ledger=False)
    with pytest.raises(LedgerError, match="guessproof ledger open NAME"):
        scan(plan, epsilon=1.0)
    Ledger.create(tmp_path / "guessproof.ledger", "other", Budget("1"))
    with pytest.raises(LedgerError, match="guessproof ledger open d"):
        scan(plan, epsilon=1.0)


def test_a_refused_scan_reads_nothing_and_notes_nothing(tmp_path: Path) -> None:
    near = "(x, y) within 2 by l2"
    columns = dict.fromkeys("xy", "bounds = [0, 9]\nprior = { normal = { mean = 5, sd = 2 } }")
    plan = made(tmp_path, text(sql="SELECT SUM(x + y) AS s FROM t", columns=columns, goal=near), ["x", "y"], [[1, 2]])
    with pytest.raises(PlanError, match="a location, a formula"):
        scan(plan, epsilon=1.0)
    folder = tmp_path / "one"
    folder.mkdir()
    plan = made(folder, text(goal="x within 2 or x inside 40 50"), ["x"], [[1]])
    with pytest.raises(PlanError, match="several intervals"):
        scan(plan, epsilon=1.0)
    bell = text(more="advantage = 0.05\nfailure = 1e-6\n[release]\nmechanism = 'gaussian'\ndelta = 1e-6")
    plan = made(_new(tmp_path, "bell"), bell, ["x"], [[1]])
    with pytest.raises(PlanError, match="Gaussian noise bounds no answer"):
        scan(plan, epsilon=1.0)
    plan = made(_new(tmp_path, "two"), text(), ["y"], [[1]])
    with pytest.raises(SourceError, match="no column x"):
        scan(plan, epsilon=1.0)
    plan = made(_new(tmp_path, "three"), text(), ["x"], [[1]])
    for options in ({"by": "nobody"}, {"identities": "nobody"}):
        with pytest.raises(SourceError, match="no column nobody"):
            scan(plan, epsilon=1.0, **options)  # pyright: ignore[reportArgumentType]
    for epsilon in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ParameterError):
            scan(plan, epsilon=epsilon)
    with pytest.raises(ParameterError):
        scan(plan, epsilon=1.0, top=-1)
    for name in ("", "one", "bell", "two", "three"):
        assert not Ledger(tmp_path / name / "guessproof.ledger").scanned("d")


def _new(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


def test_a_plan_without_an_attacker_is_refused(tmp_path: Path) -> None:
    written = text().split("[attacker]")[0] + "[release]\nepsilon = 1.0\n"
    plan = made(tmp_path, written, ["x"], [[1]])
    for epsilon in (None, 1.0):
        with pytest.raises(PlanError, match="attacker"):
            scan(plan, epsilon=epsilon)


def test_an_engine_that_fails_says_nothing_of_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = made(tmp_path, text(), ["x"], [["canary"]])
    assert scan(plan, epsilon=1.0).missing == 1  # a text where numbers belong is no number

    def broken(*_: object, **__: object) -> object:
        raise EngineError

    monkeypatch.setattr(DuckDB, "batches", broken)
    with pytest.raises(EngineError) as caught:
        scan(plan, epsilon=1.0)
    assert "canary" not in str(caught.value)


def test_the_exit_code_of_a_missing_ledger(tmp_path: Path) -> None:
    planned(tmp_path)
    os.remove(tmp_path / "guessproof.ledger")
    done = run(tmp_path, "scan", "plan.toml", "--epsilon", "1")
    assert done.returncode == 4
    assert "canary" not in done.stdout + done.stderr
    for name in ("out.txt", "nowhere/x.json", "."):
        with pytest.raises(ParameterError):
            check_output("output", str(tmp_path / name), (".json",))


def test_none_exceeds_the_limit_where_the_worst_value_was_protected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = made(tmp_path, text(), ["x"], [[v / 4] for v in range(480)])
    choice = choose(plan)  # takes a while: the scan is given this one
    monkeypatch.setattr("guessproof.scanning.run.choose", lambda _: choice)
    found = scan(plan)
    assert found.epsilon == choice.epsilon
    assert found.exceeding == (0, 0)
    assert 0.049 < found.quantiles[1.0][0] <= found.quantiles[1.0][1] <= 0.05


def test_some_exceed_it_where_one_value_was_stated(tmp_path: Path) -> None:
    plan = made(tmp_path, text(more="advantage = 0.05\nat = { x = 20 }"), ["x"], [[v / 4] for v in range(480)])
    surely, possibly = scan(plan).exceeding or (0, 0)
    assert 0 < surely <= possibly <= surely + 2


def test_the_worst_case_bounds_records_within_the_declared_bounds_only(tmp_path: Path) -> None:
    columns = {"x": "bounds = [15, 25]\nprior = { normal = { mean = 20, sd = 6.28 } }"}
    plan = made(tmp_path, text(columns=columns), ["x"], [])
    judged = records_of(plan, exposure_of(plan), 3.0, 0.001, 0.05).judge(None)
    first, last = (np.asarray([judged.values(i)["x"][end] for i in range(judged.upper.size)]) for end in (0, 1))
    assert judged.upper[(first >= 15) & (last <= 25)].max() == 0.001
    assert judged.upper[(first < 15) & (last > 14)].min() > 0.005


@pytest.mark.parametrize("source", ["t.parquet", "t.duckdb"])
def test_other_sources_and_types(tmp_path: Path, source: str) -> None:
    rows = "SELECT i::DECIMAL(10, 2) AS x, i % 3 = 0 AS g FROM range(50) r(i) UNION ALL SELECT NULL, NULL"
    con = duckdb.connect(str(tmp_path / "t.duckdb"))
    con.execute(f"CREATE TABLE t AS {rows}")
    con.execute(f"COPY t TO '{tmp_path / 't.parquet'}' (FORMAT parquet)")
    con.close()
    Ledger.create(tmp_path / "guessproof.ledger", "d", Budget("10"))
    seen: list[int] = []
    found = scan(loads_plan(text(source=source), folder=tmp_path), epsilon=2.0, by="g", progress=seen.append)
    assert (found.rows, found.missing, found.judged, seen[-1]) == (51, 1, 50, 51)
    groups = {g.value: (g.rows, g.judged) for g in found.groups or ()}
    assert groups == {"true": (17, 17), "false": (33, 33), "(missing)": (1, 0)}
    plain = scan(loads_plan(text(source=source), folder=tmp_path), epsilon=2.0)
    assert plain.mean is not None
    assert found.mean == pytest.approx(plain.mean, rel=0.02)
    total = sum(g.judged * (g.mean[1] if g.mean else 0) for g in found.groups or ()) / 50
    assert plain.mean[0] <= total <= plain.mean[1] * 1.02


def test_an_empty_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = made(tmp_path, text(), ["x"], [])
    found = scan(plan, epsilon=1.0)
    assert (found.rows, found.mean, found.quantiles, found.histogram, found.exposed) == (0, None, {}, (), ())
    assert json.dumps(found.to_dict())
    show_scan(found)
    assert "No record could be judged" in capsys.readouterr().out


def test_too_many_groups_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from guessproof.scanning import tally

    monkeypatch.setattr(tally, "MOST_GROUPS", 3)
    plan = made(tmp_path, text(), ["x", "g"], [[20, f"canary{i}"] for i in range(5)])
    with pytest.raises(GuessproofError) as caught:
        scan(plan, epsilon=1.0, by="g")
    assert "canary" not in str(caught.value)


def test_numbers_are_not_scanned_under_a_prior_that_may_be_wrong(tmp_path: Path) -> None:
    """The declared prior alone would say too little; listed values are judged one by one, with the factor."""
    factor = "advantage = 0.05\nprior_factor = 1.5"
    plan = made(tmp_path, text(more=factor), ["x"], [[20], [30]])
    with pytest.raises(PlanError, match="prior_factor"):
        scan(plan)
