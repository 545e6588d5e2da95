"""Three of the tables go on: an audit, a report with its entry for the registry of deployments, and a scan."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import guessproof as gp
from guessproof.reporting.facts import gather
from guessproof.reporting.registry import registry_entry, registry_text
from matrix.project import UNKNOWN_BIAS, Project, assert_readable, visible

THREE = ("quarters", "found_groups", "gaussian")
TRIALS = ("--trials", "2000", "--seconds", "100000")
ENTRY = json.loads((Path(__file__).parents[1] / "data" / "deployments-schema.json").read_text(encoding="utf-8"))


def check_audit(project: Project) -> None:
    """An audit finds nothing more than was promised, at the ε that was charged."""
    assert "do not release" not in project.read("audit", *TRIALS)


def check_report(project: Project) -> None:
    """The report, its JSON and its entry for the registry name the charged ε, and can be read."""
    choice, charged = project.document("choose"), project.document("release")["epsilon"]
    assert project.read("report", "--registry", "entry.yaml")
    document = project.document("report")
    assert document["choice"]["epsilon"] == choice["epsilon"]
    page = visible(Path("report.html").read_text(encoding="utf-8"))
    assert_readable(page)
    assert [key for key in project.table.says if key not in page] == []
    assert (UNKNOWN_BIAS in page) is project.table.bias_unknown
    facts, written = gather(gp.load_plan("plan.toml")), Path("entry.yaml").read_text(encoding="utf-8")
    entry = registry_entry(facts)
    assert written == registry_text(facts)
    assert_readable(written)
    assert (UNKNOWN_BIAS in " ".join(written.split())) is project.table.bias_unknown
    jsonschema.Draft202012Validator(ENTRY).validate(entry)
    parameters = entry["deployment"]["privacy_loss"]["privacy_parameters"]
    assert charged <= parameters["epsilon"] <= charged * (1 + 1e-5)


@pytest.mark.parametrize("prepared", THREE, indirect=True)
def test_audit_report_and_scan_are_done_and_can_be_read(project: Project) -> None:
    check_report(project)
    check_audit(project)
    project.read("scan")
