"""Everything that a command reads for a plan, and so must not write over."""

from __future__ import annotations

from pathlib import Path

from guessproof.outputs import Kept
from guessproof.plan.plan import Plan, is_elsewhere

LEDGER_PARTS = ("", "-wal", "-shm", "-journal")  # SQLite keeps parts of a ledger beside it


def inputs_of(plan: Plan, *, ledger: str | Path | None = None, key_file: str | Path | None = None) -> list[Kept]:
    """The table, the plan, the ledger, the key and the public files, with words for each."""
    kept: list[Kept] = []
    if not is_elsewhere(plan.source):
        kept += [("the table", Path(plan.source)), ("a part of the table", Path(f"{plan.source}.wal"))]
    if plan.path is not None:
        kept.append(("the plan", plan.path))
    for book in (plan.ledger_path, *(() if ledger is None else (Path(ledger),))):
        kept += [("the ledger", book.with_name(book.name + part)) for part in LEDGER_PARTS]
    if key_file is not None:
        kept.append(("the key of the ledger", Path(key_file)))
    return kept + [(f"the public file {name}", plan.folder / name) for name in plan.digests]
