"""When is a request the same as one before? The ledger gives the recorded answer then, and charges nothing.

A request is its plan, as far as the plan can change the answer, and nothing that is computed from it: a version that
chooses another ε for the same plan, or writes its mechanisms down differently, still finds the answer that was paid
for. Its text holds only what was written: a key at its default is left out, so that keys which come later change
nothing for the plans of today; names of columns count without regard to case. Beside it stands the text of the first
version, so that what was paid for then is found as well.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from guessproof.names import folded
from guessproof.plan import prior_tables, tables
from guessproof.plan.table import PlanTable

if TYPE_CHECKING:
    from guessproof.ledger import Charge
    from guessproof.plan.plan import Plan

FORMAT = "guessproof request 2"

# How the first version wrote down the noise that it drew.
_FIRST_GAMMA = 3.8588653134923234
_FIRST_ROOM = 1 - 2.0**-20
LATER = (
    ("data", "copies"),
    ("data", "engine"),
    ("data", "remote"),
    ("data", "max_groups"),
    ("data", "linked_records"),
    ("attacker", "failure"),
    ("data", "rows_each"),
    ("data", "rows_at_least"),
    ("accuracy", "ranks"),
    ("release", "ranks_inside"),
    ("release", "smooth"),
    ("release", "times"),
)  # keys that came later: left out at their default, so that older requests keep their name
SILENT = (("release", "ledger"), ("data", "engine"), ("data", "rows_each"), ("labels",))  # what can change no answer
NAMED = (("columns",), ("prior",), ("attacker", "at"), ("attacker", "knows"))  # tables whose keys are columns

# The keys of the first version. Its text held all of them, at their defaults too; never add to this.
FIRST: dict[type[PlanTable], tuple[str, ...]] = {
    tables.PlanFile: ("data", "query", "columns", "prior", "attacker", "risk", "accuracy", "release"),
    tables.DataTable: ("name", "source", "table", "protects", "rows", "person", "max_rows"),
    tables.QueryTable: ("sql",),
    tables.ColumnTable: ("bounds", "levels", "prior", "missing", "public"),
    tables.AttackerTable: ("goal", "advantage", "posterior", "odds", "both", "or_", "at", "knows"),
    tables.RiskTable: ("constant", "box", "fixed_inclusion", "fixed_value", "points"),
    tables.BoxTable: ("relative", "p", "q"),
    tables.FixedInclusionTable: ("p", "absolute", "relative"),
    tables.FixedValueTable: ("q", "absolute", "relative"),
    tables.PointsTable: ("pairs", "p", "q"),
    tables.TargetTable: ("within", "relative", "magnitude", "confidence"),
    tables.AccuracyTable: ("within", "relative", "magnitude", "confidence"),
    tables.ReleaseTable: ("mechanism", "ledger", "epsilon", "delta"),
    prior_tables.PriorTable: (
        *("normal", "uniform", "exponential", "laplace", "histogram", "categorical", "empirical", "from_", "column"),
        *("unknown", "partly_known"),
    ),
    prior_tables.NormalPriorTable: ("mean", "sd"),
    prior_tables.UniformPriorTable: ("low", "high"),
    prior_tables.ExponentialPriorTable: ("scale",),
    prior_tables.LaplacePriorTable: ("mean", "scale"),
    prior_tables.HistogramPriorTable: ("edges", "weights"),
    prior_tables.UnknownPriorTable: ("low", "high"),
    prior_tables.PartlyKnownPriorTable: ("radius", "probability", "low", "high"),
    prior_tables.JointPriorTable: ("table", "histogram", "sample", "from_"),
    prior_tables.JointHistogramTable: ("edges", "weights"),
}


def request_of(plan: Plan, epsilon: float | None = None, number: int | None = None) -> str:
    """The digest of a request; `epsilon` where a choice, rather than the plan alone, decided on it.

    `number` says which of the plan's releases is meant, where there are several.
    """
    parts = [FORMAT, plan.data.name, identity_text(plan.file, {**plan.digests, **plan.stored_digests})]
    parts += [] if epsilon is None else [epsilon.hex()]
    return _digest(parts if plan.release.times == 1 else [*parts, f"number {number}"])


def requests_of(plan: Plan) -> frozenset[str]:
    """The digests of all releases of a plan."""
    return frozenset(request_of(plan, number=number) for number in range(1, plan.release.times + 1))


def first_requests(plan: Plan, charges: Iterable[Charge]) -> frozenset[str]:
    """The names under which the first version charged this very plan, if one of these charges is its."""
    text = first_text(plan.file, plan.digests)
    if text is None:
        return frozenset()
    return frozenset(c.request for c in charges if c.request == _first_request(plan, text, c))


def _first_request(plan: Plan, text: str, charge: Charge) -> str | None:
    """The name that the first version gave to this plan with the noise that a charge describes."""
    try:
        noise = [_first_noise(plan, table, len(charge.describe["noise"])) for table in charge.describe["noise"]]
    except (KeyError, TypeError, ValueError):
        return None
    return _digest([plan.data.name, text, plan.query.sql, noise])


def _first_noise(plan: Plan, table: Mapping[str, Any], count: int) -> list[Any]:
    rows = float(plan.data.rows or 1) if str(table["measurement"]).startswith("AVG(") else 1.0
    kind, epsilon, most = table["mechanism"], float(table["epsilon"]), float(table["sensitivity"]) * rows
    if kind == "geometric":
        most = float(round(most))
    more = {
        "gaussian": f", delta={(plan.release.delta or 0.0) / count * _FIRST_ROOM!r}",
        "cauchy": f", gamma={_FIRST_GAMMA!r}, beta=0.0",
    }.get(kind, "")
    return [kind, f"{str(kind).capitalize()}(sensitivity={most!r}, epsilon={epsilon!r}{more})", table["grid"]]


def identity_text(file: tables.PlanFile, digests: Mapping[str, str]) -> str:
    """The same for every plan that asks for the same answer; public files count by their content."""
    table = file.model_dump(by_alias=True, exclude_defaults=True)
    for *path, key in SILENT:
        _inner(table, path).pop(key, None)
    columns = (("tables", name, "columns") for name in table.get("tables", {}))
    for *path, key in (*NAMED, *columns, ("tables",)):
        inner = _inner(table, path)
        if inner.get(key):
            inner[key] = {folded(str(name)): value for name, value in inner[key].items()}
    found = {name: value for name, value in table.items() if value != {}}  # an empty table says nothing
    return _json({**found, "public files": dict(digests)})


def first_text(file: tables.PlanFile, digests: Mapping[str, str]) -> str | None:
    """What the first version wrote for this plan; None for a plan that it could not have read."""
    try:
        return _json({**_first(file), "public files": dict(digests)})
    except _LaterError:
        return None


class _LaterError(Exception):
    """A key that came later has a value."""


def _first(value: Any) -> Any:
    """A table with the keys of its time, all of them."""
    if isinstance(value, PlanTable):
        kinds, found = type(value).__mro__, dict[str, Any]()
        keys = next((FIRST[kind] for kind in kinds if kind in FIRST), None)
        for name, declared in type(value).model_fields.items():
            inner = getattr(value, name)
            if (name,) in SILENT:
                continue
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


def canonical_text(file: tables.PlanFile, digests: Mapping[str, str]) -> str:
    """JSON with sorted keys, every default filled in, numbers in one spelling, public files by their content."""
    table = file.model_dump(by_alias=True)
    for place, key in LATER:
        if table[place] is not None and table[place][key] == type(getattr(file, place)).model_fields[key].default:
            del table[place][key]
    for column in table["columns"].values():
        if column["step"] is None:
            del column["step"]
    for columns in (table["columns"], *(beside["columns"] for beside in table["tables"].values())):
        for column in columns.values():
            if column["edges"] is None:
                del column["edges"]
    for key in ("tables", "queries", "query", "labels"):  # what is not there says nothing
        if not table[key]:
            del table[key]
    table["public files"] = dict(digests)
    return _json(table)


def _json(table: dict[str, Any]) -> str:
    return json.dumps(_one_spelling(table), sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def _one_spelling(value: Any) -> Any:
    """Whole numbers as integers, so that 1, 1.0 and 1e0 are the same.

    >>> _one_spelling([1.0, 0.5, -0.0, True, "1"])
    [1, 0.5, 0, True, '1']
    """
    if isinstance(value, dict):
        return {str(key): _one_spelling(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_one_spelling(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # only what is known may be an endless interval
    return value


def _digest(parts: Iterable[Any]) -> str:
    return hashlib.sha256(json.dumps(list(parts), ensure_ascii=False).encode()).hexdigest()
