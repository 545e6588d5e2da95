"""One canonical text for all plans that mean the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from guessproof.plan import Plan, load_plan, loads_plan
from guessproof.plan.identity import request_of
from plan.texts import ATTACKER, BASE, GOOD

SPELLINGS = [
    BASE,
    "# a comment\n" + BASE.replace("[0, 10]", "[\n 0.0, # low\n 1e1,\n]"),
    BASE.replace("mean = 5, sd = 2", "sd = 2.0, mean = 5.0"),
    BASE.replace('name = "x"', "name = 'x'") + "[release]\nledger = 'guessproof.ledger'\n[accuracy]\n",
    """query = { sql = "SELECT SUM(a) AS s FROM t" }
    columns.a.prior.normal.mean = 5
    columns.a.prior.normal.sd = 2
    columns."a".bounds = [-0.0, 10]
    data = { protects = "values", source = "x.csv", name = "x", table = "t" }""",
]


def test_the_canonical_text_does_not_depend_on_the_order_of_columns() -> None:
    one, two = "[columns.b]\nbounds = [0, 1]\n", "[columns.c]\nmissing = false\n"
    assert loads_plan(BASE + one + two).canonical() == loads_plan(BASE + two + one).canonical()


@pytest.mark.parametrize("text", SPELLINGS)
def test_the_canonical_text_does_not_depend_on_spelling(text: str) -> None:
    assert loads_plan(text).canonical() == loads_plan(BASE).canonical()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "x"', 'name = "y"'),
        ("x.csv", "y.csv"),
        ("SUM(a)", "AVG(a)"),
        ("[0, 10]", "[0, 11]"),
        ("sd = 2", "sd = 2.0000001"),
        ("bounds", "missing = false\nbounds"),
        ("[columns.a]", "[columns.b]\n[columns.a]"),
        ('protects = "values"', 'protects = "values"\nrows = 3'),
        ("[query]", "[release]\nepsilon = 1\n[query]"),
        ("[query]", "[risk]\nbox = { relative = 3, p = 1 }\n[query]"),
    ],
)
def test_the_canonical_text_changes_with_the_meaning(old: str, new: str) -> None:
    assert loads_plan(BASE.replace(old, new)).canonical() != loads_plan(BASE).canonical()


def test_the_canonical_text_is_json_with_the_name_of_the_variable_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:hunter2@host/db")
    plan = load_plan(GOOD / "salaries.toml")
    text = plan.canonical()
    assert "hunter2" not in text + repr(plan)
    assert json.loads(text)["data"]["source"] == "env:DATABASE_URL"


def test_what_is_known_may_be_an_endless_interval() -> None:
    def knowing(low: str) -> str:
        return loads_plan(BASE + ATTACKER + f"advantage = 0.1\nknows = {{ a = [{low}, inf] }}").canonical()

    assert knowing("4") == knowing("4.0") != knowing("3")


def test_a_public_file_counts_by_its_content(tmp_path: Path) -> None:
    def made(content: str) -> Plan:
        (tmp_path / "p.csv").write_text(content)
        return loads_plan(BASE.replace("{ normal = { mean = 5, sd = 2 } }", '{ from = "p.csv" }'), folder=tmp_path)

    assert made("a\n1\n2\n").canonical() == made("a\n1\n2\n").canonical()
    assert made("a\n1\n2\n").canonical() != made("a\n1\n3\n").canonical()


def test_a_request_is_another_one_when_a_public_file_changes(tmp_path: Path) -> None:
    found = set[str]()
    for values in ("1\n2\n", "1\n3\n", "1\n2\n"):
        (tmp_path / "p.csv").write_text("a\n" + values)
        text = BASE.replace("{ normal = { mean = 5, sd = 2 } }", '{ from = "p.csv" }')
        found.add(request_of(loads_plan(text, folder=tmp_path)))
    assert len(found) == 2
