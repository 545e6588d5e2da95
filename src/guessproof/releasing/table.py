"""An answer as a table: one row for each group, and beside each number its error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from guessproof.errors import MissingExtraError

if TYPE_CHECKING:
    import pyarrow as pa

    from guessproof.releasing.answer import Released

ERROR = "_error"


def arrow_of(answers: Sequence[Released]) -> pa.Table:
    """Keys of groups, then every output with its error at the confidence that was asked for; groups in their order."""
    import pyarrow as pa

    rows: dict[tuple[tuple[str, str | None], ...], dict[str, Any]] = {}
    for answer in answers:
        row = rows.setdefault(tuple(answer.group.items()), dict(answer.group))
        row |= {answer.name: answer.value, answer.name + ERROR: answer.error}
    keys = [] if not answers else list(answers[0].group)
    numbers = dict.fromkeys(name for row in rows.values() for name in row if name not in keys)
    fields = [pa.field(key, pa.string()) for key in keys] + [pa.field(name, pa.float64()) for name in numbers]
    return pa.Table.from_pylist(list(rows.values()), pa.schema(fields))


def pandas_of(answers: Sequence[Released]) -> Any:
    """The same as a pandas frame."""
    _need("pandas")
    return arrow_of(answers).to_pandas()


def polars_of(answers: Sequence[Released]) -> Any:
    """The same as a polars frame."""
    return _need("polars").from_arrow(arrow_of(answers))


def _need(library: str) -> Any:
    from importlib import import_module

    try:
        return import_module(library)
    except ImportError:
        raise MissingExtraError(library, "frames") from None
