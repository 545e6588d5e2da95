"""What kind of values a column holds, and whether everything that a plan says of it fits that."""

from __future__ import annotations

from typing import Any

from guessproof.plan.model import Column
from guessproof.plan.positions import Key
from guessproof.plan.refusals import Place
from guessproof.plan.words import spelling
from guessproof.world.attributes import Attribute
from guessproof.world.finite import Finite
from guessproof.world.kinds import HOLDS, Kind


def kind_of(column: Column, attribute: Attribute | None) -> Kind | None:
    """The kind that is declared, or that bounds, levels and prior tell; None for texts, which may be truth values."""
    if column.kind is not None:
        return column.kind
    if column.true is not None or column.false is not None:
        return "truth"
    return _told(column, attribute)


def _told(column: Column, attribute: Attribute | None) -> Kind | None:
    if column.bounds is not None:
        return "number"
    if attribute is not None and not isinstance(attribute.prior, Finite):
        return "number"
    values = _values(column, attribute)
    if values and all(isinstance(v, bool) for v in values):
        return "truth"
    return "number" if values and all(map(_is_number, values)) else None


def _values(column: Column, attribute: Attribute | None) -> list[Any]:
    if column.levels is not None:
        return list(column.levels)
    return list(attribute.prior.values) if attribute is not None and isinstance(attribute.prior, Finite) else []


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_kind(name: str, column: Column, attribute: Attribute | None, place: Place) -> None:
    """One kind a column: what contradicts it is refused."""
    path: Key = ("columns", name)
    kind, told = kind_of(column, attribute), _told(column, attribute)
    values = _values(column, attribute)
    if (column.true is None) != (column.false is None):
        key, other = ("true", "false") if column.false is None else ("false", "true")
        raise place.error((*path, key), getattr(column, key), f"needs {other} beside it", f"list the labels of {other}")
    if column.true is not None and kind != "truth":
        problem = f"the column holds {HOLDS[kind or 'label']}"
        raise place.error(
            (*path, "true"), list(column.true), problem, 'leave out true and false, or say kind = "truth"'
        )
    if column.kind == "time" and (values or told is not None):
        remedy = "leave out bounds, levels and prior"
        raise place.error((*path, "kind"), "time", "only the query can speak of times so far", remedy)
    if column.kind == "number" and told != "number" and (values or told is not None):
        raise place.error((*path, "kind"), "number", "levels or prior hold labels", "list numbers, without quotes")
    if column.kind in ("label", "truth") and told == "number":
        remedy = 'write labels in quotes, as "1", or say kind = "number"'
        raise place.error((*path, "kind"), column.kind, "bounds, levels or prior hold numbers", remedy)
    _check_truth(path, column, values, place)


def _check_truth(path: Key, column: Column, values: list[Any], place: Place) -> None:
    """Which labels are true and which false: each once, each one that can occur."""
    known, seen = [spelling(v) for v in values], set[str]()
    for key, labels in (("true", column.true), ("false", column.false)):
        if labels == ():
            raise place.error((*path, key), [], "names no label", "list at least one")
        for i, label in enumerate(labels or ()):
            if spelling(label) in seen:
                raise place.error((*path, key, i), label, "is named twice", "name each label once")
            seen.add(spelling(label))
            if known and spelling(label) not in known:
                raise place.error((*path, key, i), label, "is not among the levels or the prior", "add it there")
