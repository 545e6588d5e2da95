"""Checks of the table: is it there, and has it the columns? Nothing but names is read."""

from __future__ import annotations

from collections.abc import Iterator

from guessproof.checking.concern import Checked, Concern
from guessproof.names import folded, suggest_name
from guessproof.plan.places import Key
from guessproof.sql import AnalyzedQuery


def source_is_missing(case: Checked) -> Iterator[Concern]:
    """A file that is not there, a variable that is not set, a table that the database does not have."""
    plan = case.plan
    if not case.opens:
        file = plan.source_file
        if file is not None and "*" not in str(file) and not file.exists():
            problem = f"there is no such file beside the plan, in {plan.folder}"
            yield case.concern("source_missing", ("data", "source"), plan.data.source, problem, "check the path")
        return
    found = case.names
    if isinstance(found, str):
        problem, _, remedy = found.partition("; ")
        yield case.concern("source_missing", ("data", "source"), plan.data.source, problem, remedy or "check it")


def column_is_missing(case: Checked) -> Iterator[Concern]:
    """A column that the plan declares or the query reads, and the table does not have."""
    plan = case.plan
    found = case.names if case.opens else None
    if found is None or isinstance(found, str):
        return
    from guessproof.engines.files import is_text_table  # only who opens the table needs it

    known = {folded(name) for name in found}
    wanted: dict[str, Key] = {}
    for question, part in zip(plan.questions, case.asked.parts, strict=True):
        wanted |= dict.fromkeys(sorted(_read(part.query)), (*question.key, "sql"))
    wanted |= {name: ("columns", name) for name in plan.columns}
    wanted |= {} if plan.data.person is None else {plan.data.person: ("data", "person")}
    for name, path in wanted.items():
        if folded(name) not in known:
            # The first line of a text file may be a record: its words are not repeated.
            hint = "look at its first line" if is_text_table(plan.data.source or "") else suggest_name(name, found, "")
            remedy = hint or f"it has {', '.join(list(found)[:12])}"
            yield case.concern("column_missing", path, name, f"the table has no column {name}", remedy)


def _read(question: AnalyzedQuery) -> frozenset[str]:
    """What a query reads of the protected table itself."""
    own = (n for n in question.columns if not any(j.joined.name_inside(n) is not None for j in question.joins))
    return frozenset(own)
