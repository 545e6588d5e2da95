"""The stored tables of a DuckDB database behind a view: those that its plan scans, after macros and CTEs are resolved.

The plan is read before it is optimized, so that no scan is left out of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from guessproof.engines.base import SHOWS_CONFIDENTIAL, UNTOLD

# What has rows of its own without a table.
COMPUTED = {"DUMMY_SCAN", "EXPRESSION_GET", "CHUNK_GET", "EMPTY_RESULT", "DELIM_GET", "CTE_SCAN", "RANGE", "UNNEST"}


def find_public_fault(run: Callable[[str], Any], confidential: Iterable[str], public: str) -> str | None:
    """Why a table is no public one: it shows rows of a confidential table, or may do so. Each is written after FROM."""
    run("SET explain_output = 'all'")
    known = {table for reader in confidential for table in _tables_behind(run, reader)[0]}
    tables, is_told = _tables_behind(run, public)
    if known & tables:
        return SHOWS_CONFIDENTIAL
    return None if is_told else UNTOLD


def _tables_behind(run: Callable[[str], Any], reader: str) -> tuple[set[str], bool]:
    """The stored tables, and whether there is nothing else that rows come from."""
    plans = dict(run(f"EXPLAIN (FORMAT json) SELECT * FROM {reader}").fetchall())  # noqa: S608
    waiting, tables, is_told = json.loads(plans["logical_plan"]), set[str](), True
    while waiting:
        node = waiting.pop()
        waiting += node["children"]
        if node["name"] == "SEQ_SCAN":
            tables.add(node["extra_info"]["Table"])
        elif not node["children"]:
            is_told = is_told and node["name"] in COMPUTED
    return tables, is_told
