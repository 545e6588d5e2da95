"""Promises over several releases and after a charge: spelling, what is protected, failures, old ledgers, requests."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from commands import run
from pydantic import create_model

from guessproof.engines.duckdb import DuckDB
from guessproof.errors import BudgetError, EngineError, LedgerError, RowsError
from guessproof.guarantee import VALUES, Guarantee, guarantee_to_dict, total, total_of_dicts
from guessproof.ledger import Budget, Ledger, verify
from guessproof.mechanisms import sampling
from guessproof.plan import Plan, load_plan, loads_plan, tables
from guessproof.plan.identity import first_text, identity_text, request_of
from guessproof.releasing import release
from guessproof.world.distances import Discrete, Multiple
from releasing.tables import budget, plan, table

OLD = Path(__file__).parents[1] / "data" / "old_ledger"
OLD_PLANS = ("mean", "capital", "count", "laplace", "gaussian", "cauchy")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table(tmp_path)
    return tmp_path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    shutil.copytree(OLD, tmp_path / "old")
    return tmp_path / "old"


def values(folder: Path, sql: str, columns: str, epsilon: float = 0.1, data: str = "", more: str = "") -> Plan:
    text = (
        f"[data]\nname = 'test'\nsource = 't.duckdb'\nprotects = 'values'\n{data}\n[query]\nsql = \"\"\"{sql}\"\"\"\n"
        f"{columns}\n[release]\nepsilon = {epsilon}\n{more}"
    )
    return loads_plan(text, folder=folder)


def _spelled(folder: Path, name: str, k: int) -> Plan:
    believed = f"[columns.{name}]\nbounds = [0, 120]\nprior = {{ normal = {{ mean = 20, sd = 8 }} }}\n"
    attacker = f"[attacker]\ngoal = '{name} within 5'\nadvantage = 0.5\nat = {{ {name} = 20 }}\n"
    sql = f"SELECT SUM({name}) AS y FROM t WHERE id <> {100 + k}"
    return values(folder, sql, believed, 0.4, more=attacker)


def _released(folder: Path, names: list[str]) -> int:
    for k, name in enumerate(names):
        try:
            release(_spelled(folder, name, k))
        except BudgetError:
            return k
    return len(names)


def test_however_a_column_is_spelled_its_releases_add_up(tmp_path: Path) -> None:
    many: list[int] = []
    for n, names in enumerate((["time"] * 40, ["time", "Time", "TIME", "tIME"] * 10)):
        folder = tmp_path / str(n)
        folder.mkdir()
        table(folder)
        budget(folder, "1000", advantage="0.05")
        many.append(_released(folder, names))
    assert many[0] == many[1]
    assert 1 < many[0] < 40


def _guarantee(name: str, metric: float, rounding: float) -> Guarantee:
    return Guarantee(VALUES, {name: Multiple(metric, Discrete())}, {}, metric, metric, None, rounding)


def test_what_several_releases_promise_is_added_with_all_its_parts() -> None:
    parts = [_guarantee("time", 1.0, 0.25), _guarantee("Time", 2.0, 0.5), _guarantee("TIME", 4.0, 0.125)]
    told = total_of_dicts([guarantee_to_dict(p) for p in parts], ["Time", "age"])
    assert list(told.columns) == ["Time"]
    assert float(told.columns["Time"].distance(1.0, 2.0)) == 7.0
    assert (told.change, told.rounding) == (pytest.approx(7.0), 0.875)
    assert total(parts[:2]).rounding == 0.75
    both = Guarantee(
        VALUES, {"time": Discrete(), "TIME": Discrete()}, {}, 2.0, 2.0
    )  # one query, two spellings of one column
    assert float(total_of_dicts([guarantee_to_dict(both)]).columns["time"].distance(1.0, 2.0)) == 2.0


TIME, AGE = "[columns.time]\nbounds = [0, 120]\n", "[columns.age]\nbounds = [18, 99]\n"


def test_a_later_plan_cannot_read_exactly_what_an_earlier_one_protects(folder: Path) -> None:
    ledger = budget(folder)
    release(values(folder, "SELECT SUM(time + age) AS y FROM t", TIME + AGE))
    head = ledger.head
    sum_of_both = "SELECT SUM(time + 1000000 * age) AS y FROM t"
    for columns in (TIME, TIME + AGE + "public = true", TIME.replace("time", "Time")):
        with pytest.raises(LedgerError, match="age is protected"):
            release(values(folder, sum_of_both if "public" in columns else "SELECT SUM(time) AS y FROM t", columns))
    with pytest.raises(LedgerError, match="protects records"):
        release(plan(folder, "SELECT COUNT(*) AS y FROM t"))
    with pytest.raises(LedgerError, match="missing"):
        release(values(folder, "SELECT SUM(age) AS y FROM t", TIME + AGE + "missing = false\n"))
    with pytest.raises(LedgerError, match="missing"):
        release(values(folder, "SELECT AVG(age) AS y FROM t", TIME + AGE, data="rows = 2"))
    with pytest.raises(LedgerError, match="amend test --protect smoker"):
        release(values(folder, "SELECT SUM(age) AS y FROM t", TIME + AGE + '[columns.smoker]\nlevels = ["true"]\n'))
    assert ledger.head == head
    wider = TIME.replace("time", "TIME").replace("120", "60") + AGE.replace("99", "120")  # other bounds protect as well
    assert not release(values(folder, "SELECT SUM(Age) AS y FROM t", wider)).replayed


def test_the_owner_adds_columns_that_no_release_has_read(folder: Path) -> None:
    ledger = budget(folder)
    release(values(folder, "SELECT SUM(time) AS y FROM t WHERE Faculty = 'math'", TIME))
    with pytest.raises(LedgerError, match="read faculty as public"):
        ledger.amend("test", protect=["faculty"])
    ledger.amend("test", protect=["AGE"])
    with pytest.raises(LedgerError, match="AGE is protected"):
        release(values(folder, "SELECT SUM(time) AS y FROM t WHERE id > 1", TIME))
    assert release(values(folder, "SELECT SUM(time) AS y FROM t WHERE Faculty = 'math'", TIME)).replayed
    release(values(folder, "SELECT SUM(time) AS y FROM t WHERE id > 1", TIME + AGE))


def test_too_few_rows_are_a_failure_that_is_given_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = budget(folder)
    short = values(folder, "SELECT AVG(time) AS y FROM t", TIME, data="rows = 100")
    said: list[str] = []
    for _ in range(2):
        with pytest.raises(RowsError) as caught:
            release(short)
        said.append(str(caught.value))
        monkeypatch.setattr(DuckDB, "aggregates", lambda *_: pytest.fail("it ran again"))
    account = ledger.account("test")
    assert [charge.outcome for charge in account.charges.values()] == ["failed"]
    assert said[0] == said[1] == str(RowsError())
    assert verify(ledger.path).ok


def test_too_few_rows_exit_with_5_every_time(folder: Path) -> None:
    ledger = budget(folder)
    text = (
        "[data]\nname = 'test'\nsource = 't.duckdb'\nprotects = 'values'\nrows = 100\n"
        f"[query]\nsql = 'SELECT AVG(time) AS y FROM t'\n{TIME}[release]\nepsilon = 0.5\n"
    )
    (folder / "plan.toml").write_text(text)
    for _ in range(2):
        done = run("release", str(folder / "plan.toml"))
        assert done.returncode == 5, done.stderr
        assert "fewer rows" in " ".join(done.stderr.split())
    assert len(ledger.account("test").charges) == 1


@pytest.mark.parametrize("fault", [ValueError, MemoryError, EngineError])
def test_whatever_fails_after_the_charge_is_noted_in_constant_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    ledger = budget(folder)

    def broken(*_: Any) -> list[Any]:
        raise fault() if fault is EngineError else fault("SECRET")

    monkeypatch.setattr(DuckDB, "aggregates", broken)
    with pytest.raises(EngineError) as caught:
        release(plan(folder, "SELECT COUNT(*) AS y FROM t", epsilon=1))
    assert str(caught.value) == str(EngineError())
    assert [charge.outcome for charge in ledger.account("test").charges.values()] == ["failed"]


def test_what_cannot_be_drawn_is_found_before_the_charge(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = budget(folder)
    head = ledger.head

    def missing() -> Any:
        raise ImportError("no sampler here")

    sampling._integer_sampler.cache_clear()
    monkeypatch.setattr(sampling, "_opendp", missing)
    with pytest.raises(ImportError):
        release(plan(folder, "SELECT COUNT(*) AS y FROM t", epsilon=0.123))
    assert ledger.head == head


@pytest.mark.parametrize("epsilon", [2.0**19, 2.0**20, 2.0**21, 1e9, 9e11])
def test_counts_at_any_epsilon(folder: Path, epsilon: float) -> None:
    budget(folder, "1e12")
    assert release(plan(folder, "SELECT COUNT(*) AS y FROM t", epsilon=epsilon)).value == 8
    total = release(plan(folder, "SELECT SUM(age) AS y FROM t WHERE id < 3", epsilon=epsilon / 20)).value
    assert total == pytest.approx(71, abs=0.1)


def test_an_answer_that_was_paid_for_is_given_whatever_became_of_the_table(folder: Path) -> None:
    budget(folder)
    asked = plan(folder, "SELECT COUNT(*) AS y FROM t", epsilon=0.5)
    first = release(asked)
    (folder / "t.duckdb").unlink()
    again = release(asked)
    assert (again.value, again.replayed) == (first.value, True)


@pytest.mark.parametrize("name", OLD_PLANS)
def test_an_old_ledger_gives_its_answers_without_a_charge(old: Path, name: str) -> None:
    ledger = Ledger(old / "guessproof.ledger")
    head = ledger.head
    answer = release(load_plan(old / f"{name}.toml"))
    assert answer.replayed
    assert ledger.head == head
    kept = [c.answer for c in ledger.accounts()[load_plan(old / f"{name}.toml").data.name].charges.values()]
    assert answer.record() in kept


def test_an_old_ledger_is_continued_and_pins_what_its_charges_say(old: Path) -> None:
    """Its releases protect time and read faculty as public; what they declared beside that, they do not say."""
    ledger = Ledger(old / "guessproof.ledger")
    ledger.amend("values", budget=Budget("1000", advantage="0.9"))
    text = (old / "mean.toml").read_text()
    pins = ledger.account("values").pins
    assert list(pins.protected.values()) == ["time"]
    for changed, words in (
        (text.replace('protects = "values"\nrows = 20', 'protects = "records"'), "protects records"),
        (text + '[columns.faculty]\nlevels = ["math", "law"]\n', "read faculty as public"),
    ):
        with pytest.raises(LedgerError, match=words):
            release(loads_plan(changed, folder=old))
    with pytest.raises(LedgerError, match="Faculty as public"):
        ledger.amend("values", protect=["Faculty"])
    answer = release(loads_plan(text.replace("rows = 20", "rows = 21"), folder=old))
    assert not answer.replayed
    assert sorted(ledger.account("values").pins.protected.values()) == ["age", "time"]
    assert verify(ledger.path).ok


def test_an_old_ledger_takes_how_much_one_unit_is_from_its_next_release(old: Path) -> None:
    ledger = Ledger(old / "guessproof.ledger")
    ledger.amend("values", budget=Budget("1000", advantage="0.9"))
    text = (old / "mean.toml").read_text().replace("rows = 20", "rows = 21\nlinked_records = 2")
    assert not release(loads_plan(text, folder=old)).replayed
    for changed, words in (
        (text.replace("linked_records = 2", ""), "linked_records = 2, and this plan with linked_records = 1"),
        (text.replace("rows = 21", "rows = 21\ncopies = 2"), "copies = 1, and this plan with copies = 2"),
    ):
        with pytest.raises(LedgerError, match=words):
            release(loads_plan(changed, folder=old))
    assert verify(ledger.path).ok


def test_old_guarantees_add_up_however_they_were_spelled(old: Path) -> None:
    """Time, time: the third release was judged as if the second had been about another column."""
    ledger = Ledger(old / "guessproof.ledger")
    ledger.amend("values", budget=Budget("1000", advantage="0.12"))
    text = (old / "mean.toml").read_text().replace("rows = 20", "rows = 22")
    with pytest.raises(BudgetError, match=r"could reach 0\.19"):
        release(loads_plan(text, folder=old))


def test_a_failure_of_an_old_ledger_is_charged_again_and_then_given_again(old: Path) -> None:
    ledger = Ledger(old / "guessproof.ledger")
    ledger.amend("values", budget=Budget("1000", advantage="0.9"))
    counts: list[int] = []
    for _ in range(3):
        with pytest.raises(RowsError):
            release(load_plan(old / "short.toml"))
        counts.append(len(ledger.account("values").charges))
    assert counts == [4, 4, 4]


def test_stored_plans_keep_their_requests() -> None:
    """Written down when they were first made: whatever is added to plans later, these stay."""
    kept = json.loads((OLD / "requests.json").read_text())
    for name, request in kept.items():
        assert request_of(load_plan(OLD / f"{name}.toml")) == request, name


def test_a_request_hangs_on_nothing_that_cannot_change_the_answer(tmp_path: Path) -> None:
    base = (
        "[data]\nname = 'a'\nsource = 't.csv'\nprotects = 'values'\n[query]\nsql = 'SELECT SUM(time) AS y FROM t'\n"
        "[columns.time]\nbounds = [0, 120]\n[release]\nepsilon = 0.5\n"
    )
    request = request_of(loads_plan(base))
    for same in (
        base + "ledger = 'elsewhere.ledger'\n",
        base.replace("[columns.time]", "[columns.TIME]"),
        base.replace("bounds = [0, 120]", "bounds = [0.0, 1.2e2]\nmissing = true\npublic = false"),
        base.replace("protects", "table = 't'\nprotects") + "# a remark\n",
        base.replace("epsilon = 0.5", "epsilon = 5e-1") + "[accuracy]\n",
    ):
        assert request_of(loads_plan(same, folder=tmp_path)) == request, same
    for other in (
        base.replace("0.5", "0.25"),
        base.replace("120", "121"),
        base.replace("bounds = [0, 120]", "bounds = [0, 120]\nmissing = false"),
        base.replace("t.csv", "u.csv"),
        base.replace("'a'", "'b'"),
        base + "mechanism = 'laplace'\n",
        base.replace("[release]", "[columns.age]\n[release]"),
    ):
        assert request_of(loads_plan(other)) != request, other


def test_keys_that_come_later_change_no_request() -> None:
    """New keys at their defaults: neither the request nor the first version's text moves."""
    asked = load_plan(OLD / "capital.toml")
    before = identity_text(asked.file, asked.digests), first_text(asked.file, asked.digests)
    column: Any = create_model(
        "Later", __base__=tables.ColumnTable, later=(str | None, None), others=(tuple[str, ...], ())
    )
    data: Any = create_model("Newer", __base__=tables.DataTable, newest=(int, 1))
    file: Any = create_model("PlanFile", __base__=tables.PlanFile, data=(data, ...), columns=(dict[str, column], ...))

    def texts(**used: Any) -> tuple[str, str | None]:
        columns = {name: column(**dict(old)) for name, old in asked.file.columns.items()}
        columns["age"] = column(**dict(asked.file.columns["age"]), **used)
        grown = file(**{**dict(asked.file), "data": data(**dict(asked.file.data)), "columns": columns})
        assert "newest" in grown.model_dump()["data"]
        return identity_text(grown, asked.digests), first_text(grown, asked.digests)

    assert texts() == texts(later=None) == before
    later, first = texts(later="number")
    assert later != before[0]
    assert first is None  # the first version could not have read it
