"""From wishes and a schema to the text of a first plan."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from guessproof.errors import LEFT_OUT, ParameterError, PriorError, SourceError
from guessproof.names import suggest_name
from guessproof.outputs import check_output, write_output
from guessproof.starting.helpers import ATTACKERS, PRESETS, believed, chosen
from guessproof.starting.origin import Table, is_told, name_data, own_file, write_origin
from guessproof.starting.templates import TEMPLATES, Draft, Template
from guessproof.starting.writing import note

MOST_NAMES = 40  # of tables, in one message
_NAMING = re.compile(r"(^|_)(id|ID|key)$|[a-z]I[dD]$")  # a number that says whose a row is, and no more
_EXAMPLES = ("NAME", "NAME2")  # stand for columns whose names are not known
_FITTING = {"number": ("number",), "label": ("text", "boolean", "time", "other")}


@dataclass(frozen=True)
class Wishes:
    """What a steward asks `guessproof init` for; everything has a usual value."""

    template: str | None = None
    columns: tuple[str, ...] = ()
    attacker: str | None = None
    preset: str = "middle"
    prior: str | None = None
    person: str | None = None  # the column that says whose row it is, where a person may have several


def pick_table(source: Table, wanted: str | None) -> str:
    """What the query calls the table. Which one of a database it is, its owner says; the names are shown for it."""
    if wanted is not None:
        return _usable(wanted, "table")
    from guessproof.engines.base import list_tables

    names = list_tables(source)
    if names is None:
        return "t"
    if not names:
        raise SourceError(_nothing(source))
    if own_file(source) is not None and (len(names) == 1 or "t" in names):  # one that needs not be named
        return "t" if "t" in names else _usable(names[0], "table")
    shown = ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")
    raise ParameterError("table", LEFT_OUT, f"the database has {shown}", f"say which one: --table {quote(names[0])}")


def _nothing(source: Table) -> str:
    if isinstance(source, str):
        return (
            f"source {source!r}: it has no table that this role may read; its owner can GRANT USAGE on a schema and "
            "SELECT on a table"
        )
    where = "on this machine" if source.remote is None else f"of {source.remote!r}"
    return f"engine 'spark': the catalogue {where} shows no table; name files or a folder of them, or --table"


def read_schema(source: Table, opener: Callable[[Any, str], Any] | None = None, *, table: str = "t") -> dict[str, str]:
    """Names and kinds of a table's columns. No value is asked for."""
    if opener is None:
        from guessproof.engines import open_engine

        opener = open_engine
    with opener(source, table) as engine:
        return dict(engine.schema())


def first_plan(
    wishes: Wishes,
    *,
    table: Table | None = None,
    schema: Mapping[str, str] | None = None,
    plan: Path = Path("plan.toml"),
    called: str = "t",
) -> str:
    """The text of a plan, with a blank wherever only the owner can answer; `called` is the table in the query."""
    template = _template(wishes, schema)
    preset = chosen("preset", wishes.preset, PRESETS)
    if template.from_paper:
        _refuse(template, "attacker", wishes.attacker, "has the attacker of its paper")
        _refuse(template, "column", wishes.columns or None, "has the columns of its paper")
    attacker = chosen("attacker", wishes.attacker or template.attacker, ATTACKERS)
    if template.name == "membership" and attacker.name == "knows you took part":
        problem = "leaves nothing to hide where being in the table is the secret"
        raise ParameterError("attacker", attacker.name, problem, 'use the template "survey", or another attacker')
    if template.from_paper or template.name == "location":
        _refuse(template, "person", wishes.person, "is about one row of each person")
    if not template.believes or wishes.person is not None:
        whose = "" if wishes.person is None else "of persons with several rows "
        _refuse(template, "prior", wishes.prior, f"{whose}limits ratios, for every prior, and takes none")
    belief = None if wishes.prior is None else believed(wishes.prior)
    if belief is not None and "label" in template.kinds:
        problem = "speaks of numbers, and this template counts answers"
        raise PriorError("prior", wishes.prior, problem, "leave it out and fill in the shares of the answers")
    if belief is not None and template.name == "location" and belief.toml == '"unknown"':
        problem = "a location is judged by where people are likely to be"
        raise PriorError("prior", wishes.prior, problem, 'say "half between 10 and 30", or leave it out')
    told = is_told(table)
    unnamed = lacks_names(wishes, table, schema)
    columns = template.usual if template.from_paper else _EXAMPLES[: len(template.kinds)]
    if not (unnamed or template.from_paper):
        named = _columns(template, wishes.columns, schema, told)
        unnamed, columns = named is None, named or columns
    name = name_data(table, called, template.name)
    person = None if wishes.person is None else _person(wishes.person, columns, schema, told)
    times = frozenset(column for column, kind in (schema or {}).items() if kind == "time")
    draft = Draft(
        name, write_origin(table, name, plan), columns, attacker, preset, belief, called, times, person, unnamed
    )
    return _text(template, draft, schema if told else None, plan)


def lacks_names(wishes: Wishes, table: Table | None, schema: Mapping[str, str] | None) -> bool:
    """Whether a column would have to be picked from the first line of a text file, which may be a record."""
    template = _template(wishes, schema)
    if template.from_paper or wishes.columns or schema is None or is_told(table):
        return False
    return not all(name in schema for name in template.usual)


def write_plan(path: Path, text: str, *, force: bool = False, table: Table | None = None) -> None:
    """Write a plan; never over the table, and over another plan only if that is asked for."""
    write_output(check_plan_path(path, force=force, table=table), text.encode(), replaces=force)


def check_plan_path(path: Path, *, force: bool = False, table: Table | None = None) -> Path:
    """Where a plan may be written."""
    file = own_file(table)
    kept = [] if file is None else [("the table itself", file)]
    target = check_output("output", path, kept=kept)
    if not force and os.path.lexists(target):
        problem, remedy = "there is a file already", "choose another name with -o, or replace it with --force"
        raise ParameterError("output", str(path), problem, remedy)
    return target


def _template(wishes: Wishes, schema: Mapping[str, str] | None) -> Template:
    if wishes.template is not None:
        return chosen("template", wishes.template, TEMPLATES)
    # a column that holds labels is counted, one that holds numbers is averaged
    if schema and wishes.columns:
        kind = schema.get(wishes.columns[0])
        typed = any(other != "text" for other in schema.values())  # a csv file tells no kinds
        return TEMPLATES["count" if kind == "boolean" or (kind == "text" and typed) else "average"]
    return TEMPLATES["average"]


def _refuse(template: Template, field: str, value: Any, why: str) -> None:
    if value is not None:
        raise ParameterError(field, value, f"the template {template.name} {why}", "leave it out")


def _columns(
    template: Template, wanted: Sequence[str], schema: Mapping[str, str] | None, told: bool
) -> tuple[str, ...] | None:
    """The columns that are asked about; None where several would do. A text file's are not `told`: not repeated."""
    needed = len(template.kinds)
    if wanted and len(wanted) != needed:
        problem = f"the template {template.name} is about {needed} column{'s' if needed > 1 else ''}"
        raise ParameterError("column", list(wanted), problem, f"give --column {needed} times")
    if schema is None:
        return tuple(_usable(name) for name in wanted or template.usual)
    if wanted:
        return tuple(_usable(named_column(name, schema, told)) for name in wanted)
    if all(name in schema for name in template.usual):
        return template.usual
    fitting = [name for name, kind in schema.items() if kind in _FITTING[template.kinds[0]]]
    fitting.sort(key=lambda name: _NAMING.search(name) is not None)
    every = list(schema)
    found = fitting if len(fitting) >= needed else every
    if len(found) < needed:
        raise ParameterError("table", every, f"has fewer than {needed} columns", "choose another template")
    if len(found) > needed and not (template.kinds[0] == "number" and fitting):
        return None  # a csv file does not say what its columns hold, and labels are rarely all alike
    return tuple(_usable(name) for name in found[:needed])


def named_column(name: str, schema: Mapping[str, str], told: bool, field: str = "column") -> str:
    """A column of the table by its name; where the first line may be a record it is not `told`, and not repeated."""
    if name in schema:
        return name
    folded = [known for known in schema if known.casefold() == name.casefold()]
    if len(folded) == 1:
        return folded[0]
    hint = suggest_name(name, schema, f"it has {', '.join(list(schema)[:12])}") if told else "look at its first line"
    raise ParameterError(field, name, "the table has no such column", hint)


def _person(name: str, columns: Sequence[str], schema: Mapping[str, str] | None, told: bool) -> str:
    """The column that says whose row it is: one of the table, and another than those that are asked about."""
    found = _usable(name if schema is None else named_column(name, schema, told, "person"), "person")
    if found in columns:
        problem = "is the column that is asked about, and cannot say whose row it is as well"
        raise ParameterError("person", found, problem, "name another column")
    return found


def _usable(name: str, what: str = "column") -> str:
    if not name.strip() or name != name.strip() or not name.isprintable():
        raise ParameterError(what, name, "is not a name that a plan can hold", f"rename the {what}")
    return name


def _text(template: Template, draft: Draft, schema: Mapping[str, str] | None, plan: Path) -> str:
    opening = [
        note(f"A guessproof plan: {template.title}. Every “?” is a question to you; answer it from public knowledge."),
        note("Nothing in this file may come from the table itself: what is written here is not protected."),
        note(f"Then run: guessproof choose {plan.name}"),
    ]
    if draft.unnamed and schema is None:
        opening.append(
            note("No column is named here: line 1 of a text file may hold names or a record, so it is not copied.")
        )
    others = [name for name in schema or {} if draft.unnamed or name not in draft.columns]
    if others:
        shown = ", ".join(others[:20]) + (", …" if len(others) > 20 else "")
        opening.append(note(f"{'Columns' if draft.unnamed else 'Other columns'} of the table: {shown}."))
    return "\n\n".join(["\n".join(opening), *template.write(draft)]) + "\n"
