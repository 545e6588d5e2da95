"""All ordinary tables are audited, reported and scanned."""

from __future__ import annotations

from matrix.project import Project
from matrix.test_reports import TRIALS, check_audit, check_report


def test_audit_report_and_scan_are_done_and_can_be_read(project: Project) -> None:
    check_report(project)
    check_audit(project)
    project.read("scan")
    audit = project.document("audit", *TRIALS)
    assert audit["passed"] is True
    assert audit["epsilon"] <= project.document("release")["epsilon"] * (1 + 1e-9)
    if not project.refuses_scan:
        assert project.document("scan")["rows"] >= 0
