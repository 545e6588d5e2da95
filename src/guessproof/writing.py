"""Writing answers for other programs: CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from guessproof.errors import ParameterError
from guessproof.releasing import Answer

KINDS = (".csv", ".json", ".parquet")
COLUMNS = ("name", "value", "error", "confidence", "low", "high")


def check_target(path: str) -> Path:
    """A file of a known kind in a folder that exists; found out before anything is charged."""
    target = Path(path)
    if target.suffix.lower() not in KINDS:
        raise ParameterError("output", path, "is no kind of file that can be written", f"use {', '.join(KINDS)}")
    if target.is_dir() or not target.absolute().parent.is_dir():
        raise ParameterError("output", path, "cannot be written there", "name a file in a folder that exists")
    if not os.access(target.absolute().parent, os.W_OK):
        raise ParameterError("output", path, "the folder cannot be written to", "choose another folder")
    return target


def write_answers(answer: Answer, path: str) -> None:
    """One row per answer, whole or not at all."""
    target = check_target(path)
    rows = [{**a.group, **{c: getattr(a, c) for c in COLUMNS}} for a in answer.answers]
    handle, scratch = tempfile.mkstemp(dir=target.absolute().parent, prefix=".guessproof-")
    os.close(handle)
    try:
        _write(Path(scratch), target.suffix.lower(), rows, answer)
        Path(scratch).replace(target)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def _write(path: Path, kind: str, rows: list[dict[str, Any]], answer: Answer) -> None:
    if kind == ".json":
        path.write_text(json.dumps(answer.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    elif kind == ".csv":
        keys = list(rows[0]) if rows else list(COLUMNS)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, keys)
            writer.writeheader()
            writer.writerows(rows)
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path)  # pyright: ignore[reportUnknownMemberType]
