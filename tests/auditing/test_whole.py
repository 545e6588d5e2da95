"""Questions of every form are audited as a whole; each planted mistake is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import guessproof.noise
from auditing.forms import FORMS, WARDS, believed
from guessproof.auditing import Audit, audit_choice, databases, neighbours, whole, whole_beliefs
from guessproof.choosing import Choice, choose
from guessproof.choosing.frequent import GroupThreshold
from guessproof.errors import InfeasibleError
from guessproof.mechanisms.sampling import pick, sampler
from guessproof.plan import loads_plan
from guessproof.sql import aggregate_reader


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer databases than an audit makes: enough for these plans."""
    monkeypatch.setattr(neighbours, "CASES", 4)
    monkeypatch.setattr(whole, "ANSWERS", 200)
    monkeypatch.setattr(whole_beliefs, "POINTS", (60, 24, 324))
    monkeypatch.setattr(whole_beliefs, "BASES", 1)


# How much of what is promised the attacker reaches, at least, in the forms that are played with one.
BELIEVED = {"left join of values": 0.98, "nested": 0.9, "median": 0.25, "median of persons": 0.15, "several": 0.4}


def choose_form(name: str, folder: Path) -> Choice:
    (folder / "wards.csv").write_text(WARDS)
    return choose(loads_plan(believed(name) if name in BELIEVED else FORMS[name], folder=folder))


def play(choice: Choice) -> Audit:
    return audit_choice(choice, trials=2000, seconds=1e5, seed=2)


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_played_and_keeps_its_promise(name: str, tmp_path: Path) -> None:
    found = play(choose_form(name, tmp_path))
    assert found.passed, found.failures
    moved = [check.measured for check in found.checks if check.name.startswith(("movement", "together"))]
    assert all(share is not None and share > 0.4 for share in moved), moved  # nothing of it is vacuous
    assert {"noise", "ledger"} <= {check.name.split(",")[0] for check in found.checks}
    assert ("found groups" in {check.name for check in found.checks}) == (name == "found")
    beliefs = [check for check in found.checks if check.name == "advantage"]
    assert len(beliefs) == (name in BELIEVED)
    for check in beliefs:
        assert check.measured is not None
        assert check.expected is not None
        assert check.measured >= BELIEVED[name] * check.expected


def fails(choice: Choice, name: str) -> bool:
    return any(check.name.startswith(name) for check in play(choice).failures)


def test_matches_that_are_forgotten_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aggregate_reader, "count_matches", lambda joins: 1)
    assert fails(choose_form("join", tmp_path), "movement, COUNT")


def test_half_of_the_noise_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def halved(mechanism: Any, grid: Any) -> Any:
        return replace(sampler(mechanism, grid), measurement=lambda zeros: [n // 2 for n in true(zeros)])  # type: ignore[arg-type]

    choice = choose_form("nested", tmp_path)
    true = sampler(choice.noises[0].mechanism, choice.noises[0].grid).measurement  # type: ignore[union-attr]
    monkeypatch.setattr(guessproof.noise, "sampler", halved)
    assert fails(choice, "noise, MAX(s)")


def test_a_sharper_choice_of_ranks_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guessproof.noise, "pick", lambda scale, scores: pick(scale / 3, scores))
    assert fails(choose_form("median of persons", tmp_path), "noise, MEDIAN")


def test_groups_of_one_that_are_shown_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GroupThreshold, "least", 1)
    assert fails(choose_form("found", tmp_path), "found groups")


def test_a_second_way_to_join_one_table_is_refused(tmp_path: Path) -> None:
    text = FORMS["join"].replace("query.sql", "queries.one.sql")
    more = 'queries.two.sql = "SELECT SUM(t.x) AS s FROM t JOIN wards w ON t.g = w.ward"\n'
    place = text.index("[tables.wards]")
    (tmp_path / "wards.csv").write_text(WARDS)
    with pytest.raises(InfeasibleError, match="plan of its own"):
        databases.read_schema(choose(loads_plan(text[:place] + more + text[place:], folder=tmp_path)))


def test_a_bound_on_beliefs_that_is_too_low_is_found(tmp_path: Path) -> None:
    choice = choose_form("left join of values", tmp_path)
    assert choice.advantage is not None
    lower = replace(choice.advantage, bound=0.5 * choice.advantage.bound)
    assert fails(replace(choice, advantage=lower), "advantage")
