"""What is wrong with a table of a plan, or still blank, in plain words and with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from guessproof.errors import PlanError
from guessproof.names import suggest_name
from guessproof.plan.checks import BLANK, UNNAMED, list_blanks
from guessproof.plan.places import Key, Place, find_lines, spell_key
from guessproof.plan.table import PlanTable
from guessproof.plan.tables import PlanFile

_EXAMPLE = re.compile(r"""\bas: (["'])?(?P<own>.*?)\1?$""")
_MEASURED = re.compile(r"\s*(?P<number>[-+]?(?:[0-9]+(?:[.,][0-9]+)?|[.,][0-9]+))\s*(?P<unit>%|[^0-9\s.,][^0-9]*)\Z")
_QUOTED_NUMBER = re.compile(r"\s*[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*\Z")
_KINDS = {
    "float_type": ("is not a number", "write a number"),
    "int_type": ("is not a whole number", "write a whole number"),
    "string_type": ("is not a text", "write it in quotes"),
    "bool_type": ("is neither true nor false", "write true or false, without quotes"),
    "tuple_type": ("is not a list", "write it in brackets, as [0, 120]"),
    "dict_type": ("is not a table", "write { key = value }, or a table of its own"),
    "model_type": ("is not a table", "write { key = value }, or a table of its own"),
    "finite_number": ("is not finite", "give a finite number"),
    "string_too_short": ("is empty", "fill it in"),
}
_SEVERAL = {
    "levels": ("is not a value", "write texts in quotes, numbers, true or false"),
    "at": ("is not a value", "write a text in quotes, a number, true or false"),
    "table": ("is not a row of values and a probability", 'write for instance ["F", "black", 0.2]'),
    "sample": ("is not a row of values", 'write for instance ["F", "black"]'),
    "categorical": (
        "is not a table of value = probability",
        "write { yes = 0.1, no = 0.9 } or [[0, 0.9], [1, 0.1]]",
    ),
}
_LIMITS = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
_WRITTEN = {
    "prior": 'write for instance { normal = { mean = 20, sd = 6 } }, or "unknown"',
    "at": "write for instance { time = 20 }",
    "knows": "write for instance { time = [10, 40] }",
    "levels": 'write for instance ["yes", "no"]',
    "edges": "write for instance [0, 10, 20]",
    "mixture": "write it in brackets, as [{ … }, { … }]",
}


def explain_refusal(error: ValidationError, raw: Mapping[str, Any], place: Place) -> PlanError:
    """The first thing that is wrong; a misspelt key before what is missing because of it."""
    found: dict[Key, list[Any]] = {}
    for each in error.errors(include_url=False):
        found.setdefault(_real(each["loc"], raw, each["type"]), []).append(each)
    unknown = [path for path, errors in found.items() if _is_unknown(path, errors[0])]
    # where a value may take two forms, the form that it nearly has is the one that goes deeper
    shallower = {path[:length] for path in found for length in range(len(path))}
    deepest = [path for path in found if path not in shallower]
    path = min(unknown or deepest, key=lambda p: (place.lines.find(p) or 0, len(p)))
    value = _value_at(raw, path)
    if unknown:
        table = _table_at(path[:-1])
        keys = _keys(table)
        where = f"is not a key of [{spell_key(path[:-1])}]" if path[:-1] else "is not a table of a plan"
        elsewhere = _elsewhere(str(path[-1])) if len(path) == 2 else None
        remedy = elsewhere or suggest_name(str(path[-1]), keys, f"its keys are {', '.join(keys)}")
        return place.error(path, value, where, remedy)
    if found[path][0]["loc"][-1] == "[key]":  # only a table made in Python has such keys
        return place.error(path[:-1], path[-1], "has a key that is not a text", "write the key in quotes")
    words = _words(path, found[path], value)
    there: Any = value if value is not None else list(_value_at(raw, path[:-1]))  # what is there, where a key is not
    return place.error(path, there, *words)


def _words(path: Key, errors: Sequence[Any], value: Any) -> tuple[str, str]:
    first, context = errors[0], errors[0].get("ctx", {})
    kind: str = first["type"]
    if isinstance(value, (list, tuple)) and kind in ("too_long", "missing"):
        return f"holds {len(value)} value{'s' if len(value) > 1 else ''} instead of 2", "write two"
    if kind == "missing":
        return "is missing", _wanted(path)
    name = next((str(key) for key in reversed(path) if key in _SEVERAL), None)
    if name is not None and len(errors) > 1:
        return _SEVERAL[name]
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", context["expected"])
        shown = " or ".join(f'"{choice}"' for choice in choices)
        return "is not one of its values", suggest_name(str(value), choices, f"write {shown}")
    if kind == "spoken":
        return context["problem"], context["remedy"]
    for limit, words in _LIMITS.items():
        if limit in context:
            of = "of " if words.startswith("at") else ""
            in_percent = limit in ("le", "lt") and context[limit] == 1
            if in_percent and isinstance(value, (int, float)) and 1 < value <= 100:
                return f"must be {words} 1", f"for {value:g} % write {value / 100:g}"
            return f"must be {words} {context[limit]:g}", f"give a number {of}{words} {context[limit]:g}"
    problem, remedy = _KINDS.get(kind, ("is not understood", _wanted(path)))
    if "number" in problem and isinstance(value, str) and _QUOTED_NUMBER.match(value):
        remedy = "write it without quotes"
    elif "number" in problem and isinstance(value, str) and (said := _MEASURED.match(value)):
        number = said["number"].replace(",", ".")
        share = f"for {value.strip()} write {float(number) / 100:g}"
        remedy = share if said["unit"] == "%" else f"write {number}, without a unit"
    elif "number" in problem and isinstance(value, int) and not isinstance(value, bool):
        problem, remedy = "is too large to compute with", "change the unit"
    if kind == "string_type" and isinstance(value, (Mapping, list)):
        remedy = f'write one text instead: {path[-1]} = "…"'
    if kind == "tuple_type" and isinstance(value, str):
        remedy = f'write it in brackets, as ["{value}"]'
    if kind in ("model_type", "dict_type", "tuple_type"):
        remedy = _WRITTEN.get(str(path[-1]), remedy)
    return problem, remedy


def _wanted(path: Key) -> str:
    """What a key means, for whoever left it out."""
    table, name = _table_at(path[:-1]), str(path[-1])
    info = _fields(table).get(name)
    if info is None:
        return "give one"
    if not path[:-1]:
        return f"add the table [{name}]: {info.description}"
    example = f", as {_shown(info.examples[0])}" if info.examples else ""
    return f"add {name}{example}: {info.description}"


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _is_unknown(path: Key, error: Any) -> bool:
    if error["type"] == "extra_forbidden":
        return True
    # [accuracy] takes tables of any name; what is no table there is a misspelt key of its own
    own = path[-2:-1] == ("accuracy",) and path[-1] not in _fields(_table_at(path[:-1]))
    return own and error["type"] == "model_type"


def _real(location: tuple[str | int, ...], raw: Any, kind: str) -> Key:
    """The path of an error, without the steps that exist in our models only."""
    path: Key = ()
    for i, key in enumerate(location):
        last = i == len(location) - 1
        found = _value_at(raw, (key,))
        if found is not None:
            raw, path = found, (*path, key)
        elif last and kind == "missing" and isinstance(raw, Mapping):
            path = (*path, key)
    return path


def _value_at(raw: Any, path: Key) -> Any:
    for key in path:
        if isinstance(raw, str):
            return None
        try:
            raw = raw[key]
        except (KeyError, IndexError, TypeError):
            return None
    return raw


def _table_at(path: Key) -> type[PlanTable] | None:
    """The model that describes a table of the plan."""
    steps = [key for key in path if isinstance(key, str)]
    if steps and steps[0] in ("columns", "prior", "tables", "queries"):
        del steps[1:2]  # a name that the owner chose
    if steps[:2] == ["tables", "columns"]:
        del steps[2:3]
    found: type[PlanTable] | None = PlanFile
    for key in steps:
        info = _fields(found).get(key)  # none for the name of an output in [accuracy]
        if info is not None:
            tables = _tables_in(info.annotation)
            found = tables[0] if tables else None
    return found


def _tables_in(annotation: Any) -> list[type[PlanTable]]:
    parts = get_args(annotation)
    if not parts and isinstance(annotation, type) and issubclass(annotation, PlanTable):
        return [annotation]
    return [table for part in parts for table in _tables_in(part)]


def _fields(table: type[PlanTable] | None) -> dict[str, FieldInfo]:
    if table is None:
        return {}
    return {info.alias or name: info for name, info in table.model_fields.items()}


def _keys(table: type[PlanTable] | None) -> list[str]:
    return list(_fields(table))


def _elsewhere(name: str) -> str | None:
    """Where a key belongs that stands in the wrong table."""
    if name in _keys(PlanFile) and name != "prior":  # of one column, which stands elsewhere
        return f"it is a table of its own: write [{name}{'.NAME' * (name in ('columns', 'tables', 'queries'))}]"
    tables = [key for key in _keys(PlanFile) if name in _fields(_table_at((key,)))]
    own = [table for table in tables if table not in ("columns", "prior", "tables", "queries")]
    return f"it is a key of [{own[0]}]: move it there" if len(own) == 1 else None


def describe_blank(path: Key) -> str:
    """What is asked for at a place of the plan.

    >>> describe_blank(("columns", "time", "bounds"))
    'the smallest and largest time that can occur, from public knowledge'
    """
    name = "".join(map(str, path[1:2]))
    key = next((str(part) for part in reversed(path) if isinstance(part, str)), "")
    if path[:1] == ("columns",):
        if path[1] in UNNAMED:
            name = "value"
        if len(path) == 2:
            return "the name of a column that is asked about, in place of the ?"
        if "bounds" in path:
            return f"the smallest and largest {name} that can occur, from public knowledge"
        if "levels" in path:
            return f"every {name} that can occur, from public knowledge and not from the table"
        if "prior" in path:
            return f"what an attacker believes about {name} before the release, from public knowledge"
    if path[:2] in (("attacker", "at"), ("attacker", "knows")):
        return f"a hypothetical true value of {key}" if name == "at" else f"what he knows about {key}"
    return _QUESTIONS.get(key, "a value for it")


_QUESTIONS = {
    "rows": "how many rows the query reads; it must be public knowledge, otherwise delete the line",
    "goal": "which guesses count as correct, as: time within 2",
    "sql": "the question, as: SELECT AVG(time) AS mean_time FROM t",
    "p": "the probability that a person is in the data, as 0.05 if one in twenty was asked",
    "q": "the probability that the person has the value, given that the person is in the data",
    "within": "how far the answer may be off",
    "source": "the file that holds the table, or env:NAME",
    "name": "the ledger's name for this data",
    "person": "the column that names the person",
    "max_rows": "with how many rows one person may count at most",
}


def find_blanks(text: str) -> list[tuple[int | None, str, str]]:
    """Line, key and question of every blank of a plan's text.

    >>> find_blanks('[columns.time]\\nbounds = "?"')
    [(2, 'columns.time.bounds', 'the smallest and largest time that can occur, from public knowledge')]
    """
    where = find_lines(text)
    blanks = [(where.find(path), path) for path in list_blanks(tomllib.loads(text))]
    found = [(line, spell_key(path), _question(path, line, text)) for line, path in blanks]
    return sorted(found, key=lambda blank: blank[0] or 0)


def _question(path: Key, line: int | None, text: str) -> str:
    """What is asked for, with the example of this plan where a comment above the blank has one."""
    asked, _, usual = describe_blank(path).partition(", as: ")
    above = text.replace("\r\n", "\n").split("\n")[: (line or 1) - 1]
    while usual and above and above[-1].startswith("#"):
        own = _EXAMPLE.search(above.pop())
        if own is not None:
            return f"{asked}, as: {own['own']}"
    return f"{asked}, as: {usual}" if usual else asked


def explain_blanks(blanks: Sequence[Key], place: Place) -> PlanError:
    """One error that lists every blank."""
    first, *others = sorted(blanks, key=lambda path: place.lines.find(path) or 0)
    asked = {path: _question(path, place.lines.find(path), place.text) for path in blanks}
    more = "".join(f"\n  line {place.lines.find(p)}: fill in {spell_key(p)}: {asked[p]}" for p in others)
    return place.error(first, BLANK, "is blank", f"fill in {first[-1]}: {asked[first]}{more}")
