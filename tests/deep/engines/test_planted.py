"""Mistakes in an engine or in what stands behind it, planted one at a time: the contract sees each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from guessproof.engines import duckdb as room
from guessproof.engines.duckdb import DuckDB
from guessproof.errors import EngineError
from guessproof.sql import aggregate_reader, units
from guessproof.testing import CHECKS, DuckDBHarness, EngineCheck

HELD = {check.name: check for check in CHECKS}
Planting = Callable[[pytest.MonkeyPatch], None]


def talkative(patch: pytest.MonkeyPatch) -> None:
    """The database's own message is passed on."""
    real: Any = DuckDB.aggregates

    def aggregates(self: Any, sql: str) -> Any:
        try:
            return real(self, sql)
        except EngineError:
            con: Any = next(v for v in vars(self).values() if hasattr(v, "cursor"))
            return con.cursor().execute(sql).fetchall()

    patch.setattr(DuckDB, "aggregates", aggregates)


def trusting(patch: pytest.MonkeyPatch) -> None:
    """Nothing is tried before the charge."""
    patch.setattr(DuckDB, "prepare", lambda self, sql: None)


def without_hard_values(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(room, "hostile_rows", lambda types: "(" + ", ".join(["NULL"] * len(types)) + ")")


def wordy(patch: pytest.MonkeyPatch) -> None:
    """Numbers come back as texts."""
    real: Any = DuckDB.aggregates
    patch.setattr(DuckDB, "aggregates", lambda self, sql: [tuple(map(str, row)) for row in real(self, sql)])


def one_match(patch: pytest.MonkeyPatch) -> None:
    """How often a record is joined is forgotten."""
    patch.setattr(aggregate_reader, "count_matches", lambda _: 1)


def unbounded(patch: pytest.MonkeyPatch) -> None:
    """What a person adds up to is not bounded."""
    patch.setattr(units.UnitBound, "_clamp", lambda self, found, target: found)


@pytest.mark.parametrize(
    ("plant", "check"),
    [
        (talkative, "silent_failures"),
        (trusting, "refused_queries"),
        (trusting, "hidden_failures"),
        (without_hard_values, "hidden_failures"),
        (wordy, "good_queries"),
        (one_match, "joins"),
        (unbounded, "persons"),
    ],
)
def test_a_planted_mistake_is_seen(plant: Planting, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found: EngineCheck = HELD[check]
    plant(monkeypatch)
    with pytest.raises(Exception):  # noqa: B017
        found.hold(DuckDBHarness("duckdb"))
