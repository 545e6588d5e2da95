"""The files that a plan reads or keeps, and which of them are confidential. Every check of a path asks this module."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from guessproof.addresses import is_address, is_elsewhere, local_path
from guessproof.outputs import Kept, list_files

if TYPE_CHECKING:
    from guessproof.plan.plan import Plan
    from guessproof.plan.tables import DataTable, OtherTable

LEDGER_PARTS = ("", "-wal", "-shm", "-journal")  # SQLite keeps parts of a ledger beside it


def is_remote(data: DataTable) -> bool:
    """Whether Spark finds the files of a source elsewhere: on a cluster, or by an address."""
    return data.engine == "spark" and (data.remote is not None or is_address(data.source or ""))


def file_of_source(data: DataTable, folder: Path) -> Path | None:
    """Where the table is on this machine; None for a database, a catalogue and files of a cluster."""
    if data.source is None or is_elsewhere(data.source) or is_remote(data):
        return None
    return local_path(data.source, folder)


def list_confidential(data: DataTable, tables: Mapping[str, OtherTable], folder: Path) -> list[Kept]:
    """Everything confidential that a plan reads on this machine, with words for each.

    Each name is followed by the files it stands for after links, folders and patterns are resolved. A cluster may be
    this machine, so a path of a cluster counts as well.
    """
    named = [("the table", path) for path in _paths_of(data, folder)]
    named += [
        (f"the table {name}", local_path(table.source, folder))
        for name, table in tables.items()
        if table.is_secret and table.source is not None
    ]
    found: list[Kept] = []
    for words, path in named:
        files = [path, *list_files(path)]
        found += [(words, file) for file in files]
        logs = [file.with_name(f"{file.name}.wal") for file in files]  # of DuckDB
        found += [(f"a part of {words}", log) for log in logs]
    return found


def _paths_of(data: DataTable, folder: Path) -> list[Path]:
    source = data.source
    if source is None or is_elsewhere(source) or is_address(source):
        return []
    beside = local_path(source, folder)
    return [beside] if data.remote is None else [beside, local_path(source, Path.cwd())]


def inputs_of(plan: Plan, *, ledger: str | Path | None = None, key_file: str | Path | None = None) -> list[Kept]:
    """The tables, the plan, the ledger, the key and the public files, with words for each."""
    kept = list_confidential(plan.data, plan.file.tables, plan.folder)
    if plan.path is not None:
        kept.append(("the plan", plan.path))
    books = [book for book in (plan.release.ledger, ledger) if book is not None and not is_elsewhere(str(book))]
    for book in (plan.folder / book for book in books):
        kept += [("the ledger", book.with_name(book.name + part)) for part in LEDGER_PARTS]
    if key_file is not None:
        kept.append(("the key of the ledger", Path(key_file)))
    return kept + [(f"the public file {name}", local_path(name, plan.folder)) for name in plan.digests]
