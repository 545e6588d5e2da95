"""A plan file as a state: TOML as JSON. It is checked when something is asked of it, like any state."""

from __future__ import annotations

import datetime
from typing import Any

from guessproof.plan.plan import read_tables
from guessproof.web.states import DATE, Tables


def read_toml(text: str) -> Tables:
    """The tables of a plan; a date is a table of its own, since JSON has none."""
    return _plain(read_tables(text))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return {DATE: value.isoformat()} if isinstance(value, (datetime.date, datetime.time)) else value
