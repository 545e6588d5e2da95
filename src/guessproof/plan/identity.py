"""Which plans ask for the same answer: the text behind the digest of a request, and that of the first version.

The text holds only what was written and can change the answer. A key at its default is left out, so that keys which
come later change nothing for the plans of today; names of columns count without regard to case.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from guessproof.names import folded
from guessproof.plan.canonical import plain
from guessproof.plan.model import PlanFile
from guessproof.plan.tables import Table

SILENT = (("release", "ledger"),)  # what can change no answer
NAMED = (("columns",), ("prior",), ("attacker", "at"), ("attacker", "knows"))  # tables whose keys are columns

# The keys of the first version. Its text held all of them, at their defaults too; never add to this.
FIRST: dict[str, tuple[str, ...]] = {
    "PlanFile": ("data", "query", "columns", "prior", "attacker", "risk", "accuracy", "release"),
    "Data": ("name", "source", "table", "protects", "rows", "person", "max_rows"),
    "Query": ("sql",),
    "Column": ("bounds", "levels", "prior", "missing", "public"),
    "Attacker": ("goal", "advantage", "posterior", "odds", "both", "or_", "at", "knows"),
    "Risk": ("constant", "box", "fixed_inclusion", "fixed_value", "points"),
    "Box": ("relative", "p", "q"),
    "FixedInclusion": ("p", "absolute", "relative"),
    "FixedValue": ("q", "absolute", "relative"),
    "Points": ("pairs", "p", "q"),
    "Target": ("within", "relative", "magnitude", "confidence"),
    "Accuracy": ("within", "relative", "magnitude", "confidence"),
    "Release": ("mechanism", "ledger", "epsilon", "delta"),
    "Prior": (
        *("normal", "uniform", "exponential", "laplace", "histogram", "categorical", "empirical", "from_", "column"),
        *("unknown", "partly_known"),
    ),
    "NormalPrior": ("mean", "sd"),
    "UniformPrior": ("low", "high"),
    "ExponentialPrior": ("scale",),
    "LaplacePrior": ("mean", "scale"),
    "HistogramPrior": ("edges", "weights"),
    "UnknownPrior": ("low", "high"),
    "PartlyKnownPrior": ("radius", "probability", "low", "high"),
    "JointPrior": ("table", "histogram", "sample", "from_"),
    "JointHistogram": ("edges", "weights"),
}


def identity_text(file: PlanFile, digests: Mapping[str, str]) -> str:
    """The same for every plan that asks for the same answer; public files count by their content."""
    table = file.model_dump(by_alias=True, exclude_defaults=True)
    for *path, key in SILENT:
        _inner(table, path).pop(key, None)
    for *path, key in NAMED:
        inner = _inner(table, path)
        if inner.get(key):
            inner[key] = {folded(str(name)): value for name, value in inner[key].items()}
    found = {name: value for name, value in table.items() if value != {}}  # an empty table says nothing
    return _json({**found, "public files": dict(digests)})


def first_text(file: PlanFile, digests: Mapping[str, str]) -> str | None:
    """What the first version wrote for this plan; None for a plan that it could not have read."""
    try:
        return _json({**_first(file), "public files": dict(digests)})
    except _LaterError:
        return None


class _LaterError(Exception):
    """A key that came later has a value."""


def _first(value: Any) -> Any:
    """A table with the keys of its time, all of them."""
    if isinstance(value, Table):
        keys, found = FIRST.get(type(value).__name__), dict[str, Any]()
        for name, declared in type(value).model_fields.items():
            inner = getattr(value, name)
            if keys is not None and name in keys:
                found[declared.alias or name] = _first(inner)
            elif keys is None or inner != declared.get_default(call_default_factory=True, validated_data={}):
                raise _LaterError
        return {**found, **{name: _first(inner) for name, inner in (value.model_extra or {}).items()}}
    if isinstance(value, dict):
        return {name: _first(inner) for name, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return [_first(item) for item in value] if isinstance(value, (list, tuple)) else value  # pyright: ignore[reportUnknownVariableType]


def _inner(table: dict[str, Any], path: list[str]) -> dict[str, Any]:
    for key in path:
        table = table.get(key) or {}
    return table


def _json(table: dict[str, Any]) -> str:
    return json.dumps(plain(table), sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
