"""The report: one page made from a plan and its ledger, with nothing from outside and nothing of the table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guessproof.outputs import check_output, write_output
from guessproof.plan import Plan, check_plan
from guessproof.plan.sources import inputs_of
from guessproof.reporting.facts import Facts, gather
from guessproof.reporting.page import page

__all__ = ["Facts", "Report", "report"]


@dataclass(frozen=True)
class Report:
    """A page and the facts behind it."""

    facts: Facts
    html: str

    def to_dict(self) -> dict[str, Any]:
        """What the page embeds for machines."""
        return self.facts.to_dict()


def report(
    plan: Plan,
    path: str | Path | None = None,
    *,
    ledger: str | Path | None = None,
    key: bytes | None = None,
    key_file: str | Path | None = None,
    text: str | None = None,
) -> Report:
    """The report of a plan. Never opens the table.

    With a `path` the page is written there: whole or not at all, and never over the plan, the ledger, the key or the
    table. `ledger` names another ledger than the plan's; `text` is the plan as it was written, where it is in no file.
    """
    check_plan(plan)
    target = None
    if path is not None:
        target = check_output("output", path, kept=inputs_of(plan, ledger=ledger, key_file=key_file))
    facts = gather(plan, ledger=ledger, key=key, text=text)
    made = Report(facts, page(facts))
    if target is not None:
        write_output(target, made.html.encode())
    return made
