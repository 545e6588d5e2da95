"""Writing answers for other programs: CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from guessproof.outputs import check_output, write_output
from guessproof.plain import json_text
from guessproof.plan import Plan
from guessproof.plan.sources import inputs_of
from guessproof.releasing import Answer

KINDS = (".csv", ".json", ".parquet")
COLUMNS = ("name", "value", "error", "confidence", "low", "high")
RANKS = "ranks"  # a column of its own where an answer has its error in ranks


def check_target(path: str, plan: Plan | None = None, key_file: str | None = None) -> Path:
    """A file of a known kind that is nothing the release reads; found out before anything is charged."""
    return check_output("output", path, KINDS, [] if plan is None else inputs_of(plan, key_file=key_file))


def write_answers(answer: Answer, path: str, plan: Plan | None = None) -> None:
    """One row per answer, whole or not at all."""
    target = check_target(path, plan)
    write_output(target, _content(target.suffix.lower(), answer))


def _content(kind: str, answer: Answer) -> bytes:
    if kind == ".json":
        return (json_text(answer.to_dict()) + "\n").encode()
    columns = (*COLUMNS, RANKS) if any(a.ranks is not None for a in answer.answers) else COLUMNS
    columns = ("question", *columns) if answer.questions else columns
    keys = dict.fromkeys(key for a in answer.answers for key in a.group)  # of several questions each has its own
    rows = [{**{k: a.group.get(k) for k in keys}, **{c: getattr(a, c) for c in columns}} for a in answer.answers]
    return _csv(rows) if kind == ".csv" else _parquet(rows)


def _csv(rows: list[dict[str, Any]]) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(rows[0]) if rows else list(COLUMNS))
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file)  # pyright: ignore[reportUnknownMemberType]
    return file.getvalue()
