"""The whole road by a plan whose query groups by what is protected: choose, release, replay, audit."""

from __future__ import annotations

from pathlib import Path

import pytest

from guessproof.auditing import audit
from guessproof.choosing import choose
from guessproof.plan import load_plan
from guessproof.releasing import release
from releasing.tables import budget

PLAN = """
[data]
name = "test"
source = "t.csv"
table = "t"
protects = "values"

[query]
sql = "SELECT state, COUNT(*) AS n FROM t GROUP BY state"

[columns.state]
missing = false
prior = { categorical = { a = 0.25, b = 0.25, c = 0.25, d = 0.25 } }

[attacker]
goal = "state exactly"
advantage = 0.1

[release]
mechanism = "laplace"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text("state\n" + "a\n" * 40 + "b\n" * 30 + "elsewhere\n" * 20, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    budget(tmp_path)
    return tmp_path


def test_four_states(folder: Path) -> None:
    """Four equally likely states, advantage 0.1: ε = 0.47957 and scale 4.1704, for two groups move by 1 each."""
    plan = load_plan(folder / "plan.toml")
    choice = choose(plan)
    assert choice.epsilon == pytest.approx(0.479573, abs=5e-7)
    assert choice.noise_scale == pytest.approx(4.1704, abs=5e-5)
    answer = release(plan)
    assert [a.group["state"] for a in answer.answers] == ["a", "b", "c", "d"]
    assert answer.answers == release(plan).answers
    assert release(plan).replayed


def test_the_audit_plays_a_victim_who_changes_the_group(folder: Path) -> None:
    found = audit(load_plan(folder / "plan.toml"), trials=2000, seconds=1e5, seed=1)
    checks = {c.name: c for c in found.checks}
    assert not found.failures
    assert checks["storage"].measured == pytest.approx(1.0)  # both groups together moved as far as was promised
    assert checks["exact advantage"].measured == pytest.approx(0.1, abs=1e-6)
