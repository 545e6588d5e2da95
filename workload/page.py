"""docs/workload.md: the table of all questions, from what was recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from workload.judging import Verdict
from workload.questions import HERE, Family, Question, read_families

PAGE = HERE.parent / "docs" / "workload.md"
RECORD = HERE / "recorded.json"
MOST_SCALES = 4
START = """# Questions people ask

{total} questions on invented tables, in the shapes of the examples that come with Laud and Pankova's analyser (cats,
weather, satellites, ships, a pandemic, payments, several statements) and of TPC-H: {accepted} are accepted, {refused}
refused. `workload/` holds the questions as plans and makes the tables from a seed; this page is written by
`python -m workload --write` (`--json` gives the same for programs).

*Noise* is the scale of what is added to each number at ε = 1 for the whole question, in the unit of the answer (for a
median or another quantile: of its score, in ranks). *Error* is the middle one of |noisy − true| / max(|true|, 1) over
all numbers of the answer and {draws} releases; the tables are invented, so it may be shown. What `protects` means:
[plan](plan.md).
"""


def read_record() -> dict[str, Verdict]:
    """What was recorded of each question."""
    verdicts = map(Verdict.from_dict, json.loads(RECORD.read_text(encoding="utf-8")))
    return {verdict.title: verdict for verdict in verdicts}


def write_record(verdicts: Mapping[str, Verdict], path: Path = RECORD) -> None:
    """Keep the verdicts, one a line."""
    lines = (json.dumps(v.to_dict(), ensure_ascii=False) for v in verdicts.values())
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def page(verdicts: Mapping[str, Verdict], draws: int) -> str:
    """The whole page."""
    accepted = sum(v.accepted for v in verdicts.values())
    numbers = {"total": len(verdicts), "accepted": accepted, "refused": len(verdicts) - accepted, "draws": draws}
    return START.format(**numbers) + "".join(_chapter(family, verdicts) for family in read_families())


def _chapter(family: Family, verdicts: Mapping[str, Verdict]) -> str:
    rows = [_row(question, verdicts[question.title]) for question in family.questions]
    head = ["| question | protects | noise at ε = 1 | error |", "|---|---|---|---|"]
    return "\n".join(["", f"## {family.title}", "", family.about, "", *head, *rows, ""])


def _row(question: Question, verdict: Verdict) -> str:
    asked = f"{_cell(question.asks)}<br>`{_cell(question.sql)}`"
    start = f"| {asked} | {question.data['protects']} |"
    if not verdict.accepted:
        return f"{start} **refused**: {_cell(verdict.reason)} | |"
    error = "" if verdict.error is None else _percent(verdict.error)
    return f"{start} {_scales(verdict)} | {error} |"


def _scales(verdict: Verdict) -> str:
    shown = list(dict.fromkeys(f"{scale:.4g}" for _, scale in verdict.scales))
    more = f" and {len(shown) - MOST_SCALES} more" if len(shown) > MOST_SCALES else ""
    return ", ".join(shown[:MOST_SCALES]) + more


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 10 else f"{share:.2g} ×"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
