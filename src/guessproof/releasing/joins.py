"""Before the charge, for a query that joins public tables: names mean one column, and matches are as declared."""

from __future__ import annotations

from collections.abc import Mapping

from guessproof.engines import Engine
from guessproof.errors import SourceError
from guessproof.names import folded
from guessproof.sql import AnalyzedQuery, find_target
from guessproof.sql.relation import write_most_matches


def joined_types(engine: Engine, question: AnalyzedQuery) -> Mapping[str, str]:
    """The table's own columns, and those of the public tables under the names of their joins."""
    own, public = engine.types(), engine.public()
    found = dict(own)
    for join in question.joins:
        for name, stored in public[join.joined.table.name].items():
            if f"{join.joined.alias}.{name}" in own:
                raise SourceError(f"the table has a column {join.joined.alias}.{name}; name the joined table otherwise")
            found[f"{join.joined.alias}.{name}"] = stored
    _check_names(question, own, public)
    return found


def _check_names(question: AnalyzedQuery, own: Mapping[str, str], public: Mapping[str, Mapping[str, str]]) -> None:
    """A name without a table belongs to one of the tables only."""
    tables = {question.declared.table: own, **{j.joined.alias: public[j.joined.table.name] for j in question.joins}}
    for name in sorted(question.bare):
        having = [table for table, columns in tables.items() if name in map(folded, columns)]
        if len(having) > 1:
            several = " and ".join(f"{table}.{name}" for table in having)
            raise SourceError(f"column {name} may be {several}; write in the query which one is meant")


def check_matches(engine: Engine, question: AnalyzedQuery) -> None:
    """No value that is joined on stands in more rows of its public table than the plan says."""
    target = find_target(engine.dialect, joined_types(engine, question))
    for join in question.joins:
        if join.joined.table.is_secret:  # its rows are bounded with the person's, and nothing is asked of them unpaid
            continue
        ((most,),) = engine.ask_public(write_most_matches(join, question.declared, target))
        if int(most) > join.matches:
            table = join.joined.table
            on = " and ".join(str(join.joined.name_inside(key.right.name)) for key in join.keys) or "nothing"
            said = f"key = {list(table.key)}" if join.matches == 1 and table.key else f"max_matches = {join.matches}"
            raise SourceError(
                f"table {table.name!r}: {int(most)} of its rows match one record, joined on {on}, and the plan says "
                f"{said}; correct the table, or declare max_matches = {int(most)} under [tables.{table.name}]"
            )
