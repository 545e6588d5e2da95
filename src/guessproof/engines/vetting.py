"""The engine's own look at a query, after the rules of `sql` and before anything runs: one SELECT over one table.

DuckDB calls `WITH a AS (INSERT …) SELECT …` and `SUMMARIZE t` a SELECT, so its statement type is not enough:
what counts is the tree of its own parser.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

QUERIES = {"SELECT_NODE", "SET_OPERATION_NODE", "CTE_NODE"}
TABLES = {"BASE_TABLE", "SUBQUERY", "JOIN", "EMPTY", "EXPRESSION_LIST"}


def fault(serialized: str, table: str) -> str | None:
    """What is wrong with a query (as DuckDB's json_serialize_sql writes it), or None."""
    tree = json.loads(serialized)
    if tree["error"]:
        return "it is not one SELECT that DuckDB understands"
    if len(tree["statements"]) != 1:
        return "it has more than one statement"
    nodes = list(_nodes(tree))
    known = {table.lower()} | {entry["key"].lower() for node in nodes for entry in _ctes(node)}
    return next((problem for node in nodes if (problem := _problem(node, known))), None)


def _problem(node: dict[str, Any], known: set[str]) -> str | None:
    kind = str(node.get("type", ""))
    if "class" in node:
        return _function(node) if "function_name" in node else None
    if kind.endswith("_NODE") and kind not in QUERIES:
        return "only SELECT is allowed"
    if "alias" in node and "sample" in node:  # what stands after FROM
        if kind not in TABLES:
            return "only the table itself may stand after FROM"
        if kind == "BASE_TABLE" and (node["table_name"].lower() not in known or node["qualified_name"]["path"][1:]):
            return "it names another table than the plan's"
    return None


def _function(node: dict[str, Any]) -> str | None:
    """A function of another database would be a macro, which can read its tables."""
    if node.get("catalog") or node.get("schema"):
        return "it calls a function of another database"
    return None


def _ctes(node: dict[str, Any]) -> list[dict[str, Any]]:
    found = node.get("cte_map")
    return found["map"] if isinstance(found, dict) else []


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object of the tree, without recursion: queries can be nested as deeply as DuckDB reads them."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
