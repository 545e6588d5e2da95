"""The release as an entry of the registry of deployments, and the questions of NIST SP 800-226."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import guessproof as gp
from guessproof.cli.app import app
from guessproof.errors import ParameterError
from guessproof.ledger import Budget, Ledger
from guessproof.reporting.facts import gather
from guessproof.reporting.page import PARTS
from guessproof.reporting.registry import registry_entry, registry_text

ROOT = Path(__file__).parents[2]
# The tables of a record of the registry in its fullest tier, as its own records have them.
SHAPE = {
    "basic": {"name", "data_curators", "description", "intended_use", "data_product_type", "data_product_region"},
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {"privacy_unit", "privacy_unit_details", "privacy_parameters"},
    "deployment_model": {"model_name", "actors", "release_type", "data_source_type", "access_type"},
    "implementation": {"preprocessing_and_hyperparameter_tuning", "mechanisms", "composition", "justification"},
    "administrative": {"sources", "status", "registry_authors", "tier"},
}


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
    assert {table: keys <= set(entry[table]) for table, keys in SHAPE.items()} == dict.fromkeys(SHAPE, True)
    assert entry["privacy_loss"]["privacy_parameters"]["epsilon"] >= answer.epsilon
    text = registry_text(facts)
    assert str(tmp_path) not in text
    assert "cats.csv" not in text
    assert "guessproof.ledger" not in text
    assert not re.search(rf"(?<![\d.]){answer.value:g}(?![\d.])", re.sub(r"\d{4}-\d\d-\d\d|-\d{4}", "", text))
    done = CliRunner().invoke(app, ["report", "either.toml", "--registry", "entry.yaml"])
    assert done.exit_code == 0, done.output
    assert Path("entry.yaml").read_text(encoding="utf-8") == text
    page = Path("report.html").read_text(encoding="utf-8")
    assert "NIST SP 800-226" in page
    names = {name for name, _, _ in PARTS}
    section = page[page.index('<section id="nist"') : page.index('<section id="guarantee"')]
    assert set(re.findall(r'href="#([a-z]+)"', section)) <= names


def test_every_line_is_yaml_that_json_could_read(cats: gp.Plan) -> None:
    gp.release(cats)
    for line in registry_text(gather(cats)).splitlines()[1:]:
        assert re.fullmatch(r' *(- )?("[^\n]*"|[a-z_]+:( ("[^\n]*"|[0-9.e+-]+))?)', line), line


def test_the_last_verdict_of_an_audit_stands_in_the_report_with_its_date(cats: gp.Plan) -> None:
    gp.release(cats)
    assert gather(cats).audited is None
    done = CliRunner().invoke(app, ["audit", "either.toml", "--trials", "2000", "--seconds", "3", "--note"])
    assert done.exit_code == 0, done.output
    note = gather(cats).audited
    assert note is not None
    assert note.text.startswith("audit passed: ")
    gp.report(cats, "report.html")
    page = re.sub(r"</?span[^>]*>", "", Path("report.html").read_text(encoding="utf-8"))  # which keeps a date whole
    assert f"{note.time[:10]} {note.time[11:19]} UTC: passed" in page
    changed = Path("either.toml").read_text(encoding="utf-8").replace("advantage = 0.1", "advantage = 0.2")
    Path("changed.toml").write_text(changed, encoding="utf-8")
    assert gather(gp.load_plan("changed.toml")).audited is None  # another request was not audited
