"""What a release does, and when it pays: seen by an engine that keeps a diary and fails on demand."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from guessproof.errors import EngineError, GuessproofError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import Plan, loads_plan
from guessproof.releasing import release
from guessproof.scanning import scan
from guessproof.testing import FakeEngine, opening

PLAN = """
[data]
name = "horses"
source = "fake.db"
table = "t"
protects = "values"
[query]
sql = "SELECT SUM(x) AS total FROM t"
[columns.x]
bounds = [0, 10]
prior = { uniform = { low = 0, high = 10 } }
[attacker]
goal = "x within 1"
at = { x = 5 }
posterior = 0.9
"""
TABLE = pa.table({"x": [4.0, 99.0, None]})


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    Ledger.create(tmp_path / "guessproof.ledger", "horses", Budget("1e9"))
    return loads_plan(PLAN.split("[attacker]")[0] + "[release]\nepsilon = 1e6\n", folder=tmp_path)


def charges(plan: Plan) -> int:
    return len(Ledger(plan.ledger_path).account("horses").charges)


def test_what_is_run_was_tried_before_and_asked_once(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = FakeEngine(TABLE)
    real = Ledger.charge

    def charge(self: Ledger, *given: object, **named: object) -> object:
        engine.diary.append(("charge", ""))
        return real(self, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Ledger, "charge", charge)
    with opening(engine):
        assert release(plan).value == pytest.approx(14, abs=0.01)
    calls = [call for call, _ in engine.diary]
    assert calls == ["check", "prepare", "charge", "aggregates", "close"]
    assert engine.diary[1][1] == engine.diary[3][1]


@pytest.mark.parametrize(("failing", "paid"), [("check", 0), ("prepare", 0), ("aggregates", 1)])
def test_only_what_fails_after_the_charge_has_cost_something(plan: Plan, failing: str, paid: int) -> None:
    with opening(FakeEngine(TABLE, failing=failing)), pytest.raises(GuessproofError) as caught:
        release(plan)
    assert charges(plan) == paid
    assert isinstance(caught.value, EngineError) == bool(paid)


def test_a_replay_opens_nothing(plan: Plan) -> None:
    with opening(FakeEngine(TABLE)):
        first = release(plan)
    engine = FakeEngine(TABLE)
    with opening(engine):
        assert release(plan).value == first.value
    assert engine.diary == []
    assert charges(plan) == 1


def test_the_owner_s_scan_streams_through_it(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "guessproof.ledger", "horses", Budget("1e9"))
    engine = FakeEngine(pa.table({"x": [4.0, 9.0, 5.0]}))
    with opening(engine):
        found = scan(loads_plan(PLAN, folder=tmp_path))
    assert found.rows == 3
    assert "batches" in [call for call, _ in engine.diary]
    assert "aggregates" not in [call for call, _ in engine.diary]
