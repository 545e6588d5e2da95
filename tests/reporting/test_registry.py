"""The release as an entry of the registry of deployments, and the questions of NIST SP 800-226."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import commands
import pytest
from jsonschema import Draft202012Validator

import guessproof as gp
from guessproof.errors import ParameterError
from guessproof.ledger import Budget, Ledger
from guessproof.reporting.facts import gather
from guessproof.reporting.page import PARTS
from guessproof.reporting.registry import registry_entry, registry_text

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "tests" / "data" / "deployments-schema.json").read_text(encoding="utf-8"))
SALARIES = """
[data]
name = "salaries"
source = "salaries.csv"
protects = "values"
rows = 100
[query]
sql = "SELECT AVG(salary) AS mean_salary FROM t"
[columns.salary]
bounds = [0, 100000000]
missing = false
prior = { normal = { mean = 52000, sd = 15100 } }
[attacker]
goal = "salary within 2000"
advantage = 0.05
"""


@pytest.fixture
def cats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> gp.Plan:
    shutil.copytree(ROOT / "examples" / "cats", tmp_path / "cats")
    monkeypatch.chdir(tmp_path / "cats")
    Ledger.create("guessproof.ledger", "cats", Budget("20"))
    return gp.load_plan("either.toml")


def test_an_entry_holds_what_is_public_and_nothing_else(cats: gp.Plan, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="has released nothing"):
        registry_entry(gather(cats))
    answer = gp.release(cats)
    facts = gather(cats)
    entry: dict[str, Any] = registry_entry(facts)["deployment"]
    assert entry["privacy_loss"]["privacy_parameters"]["epsilon"] >= answer.epsilon
    text = registry_text(facts)
    assert str(tmp_path) not in text
    assert "cats.csv" not in text
    assert "guessproof.ledger" not in text
    assert not re.search(rf"(?<![\d.]){answer.value:g}(?![\d.])", re.sub(r"\d{4}-\d\d-\d\d|-\d{4}", "", text))
    done = commands.run("report", "either.toml", "--registry", "entry.yaml")
    assert done.returncode == 0, done.output
    assert Path("entry.yaml").read_text(encoding="utf-8") == text
    page = Path("report.html").read_text(encoding="utf-8")
    assert "NIST SP 800-226" in page
    names = {name for name, _, _ in PARTS}
    section = page[page.index('<section id="nist"') : page.index('<section id="guarantee"')]
    assert set(re.findall(r'href="#([a-z]+)"', section)) <= names


def test_an_average_of_large_numbers_is_reported_and_its_entry_fits_the_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{30000 + 400 * i}\n" for i in range(100))
    Path("salaries.csv").write_text(f"salary\n{rows}", encoding="utf-8")
    Path("plan.toml").write_text(SALARIES, encoding="utf-8")
    Ledger.create("guessproof.ledger", "salaries", Budget("1000000"))
    plan = gp.load_plan("plan.toml")
    gp.release(plan)
    gp.report(plan, "report.html")
    page = re.sub(r"<[^>]*>", "", Path("report.html").read_text(encoding="utf-8"))
    assert "± 2,960" in page.replace("\xa0", " ")  # 1.96 · 15,100 / √100, rounded up
    facts = gather(plan)
    entry = registry_entry(facts)
    assert entry["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"] > 1000
    assert list(Draft202012Validator(SCHEMA).iter_errors(entry)) == []
    text = registry_text(facts)
    assert "# To add under deployment_model: data_source_type, one of Static, Dynamic." in text


def test_every_line_is_yaml_that_json_could_read(cats: gp.Plan) -> None:
    gp.release(cats)
    for line in registry_text(gather(cats)).splitlines():
        assert line.startswith("# ") or re.fullmatch(r' *(- )?("[^\n]*"|[a-z_]+:( ("[^\n]*"|[0-9.e+-]+))?)', line), line


def test_the_last_verdict_of_an_audit_stands_in_the_report_with_its_date(cats: gp.Plan) -> None:
    gp.release(cats)
    assert gather(cats).audited is None
    done = commands.run("audit", "either.toml", "--trials", "2000", "--seconds", "100000", "--note")
    assert done.returncode == 0, done.output
    note = gather(cats).audited
    assert note is not None
    assert note.text.startswith("audit passed: ")
    gp.report(cats, "report.html")
    page = re.sub(r"</?span[^>]*>", "", Path("report.html").read_text(encoding="utf-8"))  # which keeps a date whole
    assert f"{note.time[:10]} {note.time[11:19]} UTC: passed" in page
    changed = Path("either.toml").read_text(encoding="utf-8").replace("advantage = 0.1", "advantage = 0.2")
    Path("changed.toml").write_text(changed, encoding="utf-8")
    assert gather(gp.load_plan("changed.toml")).audited is None  # another request was not audited
