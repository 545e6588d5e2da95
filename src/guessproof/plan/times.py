"""Dates in a plan: a column of times lies on a line of days, and so does everything that is written about it.

Before the tables are checked, dates become days since 1970 and lengths of time ("10 years") days. Only columns of times
take them: a date that stands beside a column of numbers is refused like any other value of the wrong kind.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Any

from guessproof.world import days_of, length_of

_WRITTEN_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")


def settle_times(raw: Mapping[str, Any], timely: set[str]) -> dict[str, Any]:
    """The tables of a plan with times as days, and kind = "time" for the columns that hold them."""
    columns = raw["columns"]
    settled = {name: _settle_column(column) if name in timely else column for name, column in columns.items()}
    found = {**raw, "columns": settled}
    attacker = raw.get("attacker")
    if isinstance(attacker, Mapping):
        found["attacker"] = {key: _settle_named(part, timely) for key, part in attacker.items()}
    return found


def settle_joined(raw: Mapping[str, Any], timely: Mapping[str, set[str]]) -> dict[str, Any]:
    """The same for the columns of tables that may be joined."""
    tables = raw["tables"].items()
    return {**raw, "tables": {n: settle_times(table, timely[n]) if n in timely else table for n, table in tables}}


def _settle_column(column: Mapping[str, Any]) -> dict[str, Any]:
    settled = {key: _in_days(column[key]) for key in ("bounds", "edges", "prior") if key in column}
    return {**column, "kind": "time", **settled} if column.get("kind") is None else {**column, **settled}


def _settle_named(part: Any, timely: set[str]) -> Any:
    """`at` and `knows`: values by column."""
    if not isinstance(part, Mapping):
        return part
    return {name: _in_days(value) if name in timely else value for name, value in part.items()}


def _in_days(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: inner if key in ("from", "column") else _in_days(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_in_days(inner) for inner in value]
    if isinstance(value, datetime.date):
        return days_of(value)
    length = length_of(value) if isinstance(value, str) else None
    return (_spoken_days(value) if isinstance(value, str) else value) if length is None else length


def _spoken_days(words: str) -> str:
    """Dates within words as days: "half between 1970-01-01 and 1990-12-31"."""

    def days(found: re.Match[str]) -> str:
        try:
            return repr(days_of(datetime.date.fromisoformat(found[0])))
        except ValueError:  # no day of any calendar: refused where the words are read
            return found[0]

    return _WRITTEN_DATE.sub(days, words) if words[:4].lower() == "half" else words
