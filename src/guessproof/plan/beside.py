"""Public tables beside the protected one: what must fit, what they hold, and a digest of it for the request.

A plan without [tables] never enters this.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from guessproof.addresses import local_path
from guessproof.engines import Engine, open_engine
from guessproof.engines.base import SecretSource
from guessproof.engines.files import find
from guessproof.errors import SourceError
from guessproof.guarantee.unit import UNITS
from guessproof.names import folded
from guessproof.outputs import Kept, find_kept
from guessproof.plan.checks import check_column, check_kind
from guessproof.plan.places import Key, Place, is_secret
from guessproof.plan.tables import ColumnTable, OtherTable, PlanFile
from guessproof.sql import find_target

if TYPE_CHECKING:
    from guessproof.plan.plan import Plan
    from guessproof.sql import AnalyzedQuery

DATABASES = (".duckdb", ".db")


def check_beside(file: PlanFile, place: Place, folder: Path, confidential: Iterable[Kept]) -> dict[str, str]:
    """Refuse what cannot be meant; gives the digests of the public files, by their names."""
    digests: dict[str, str] = {}
    seen = {folded(file.data.table): file.data.table}
    for name, table in file.tables.items():
        path: Key = ("tables", name)
        other = seen.setdefault(folded(name), name)
        if other != name or folded(name) == folded(file.data.table):
            problem = "is the name of the protected table" if other == file.data.table else f"is called as {other}"
            raise place.error(path, name, problem, "rename one of the tables")
        if table.is_secret:
            _check_secret(path, table, file, place)
        else:
            _check_matches(path, table, place)
        for column, declared in table.columns.items():
            _check_column((*path, "columns", column), column, declared, place)
        if table.source is None:
            _check_database((*path, "source"), file.data.source, place)
        elif not table.is_secret:  # what is confidential is not looked at
            digests[table.source] = _digest_file((*path, "source"), table.source, place, folder, confidential)
    return digests


def _check_secret(path: Key, table: OtherTable, file: PlanFile, place: Place) -> None:
    """A second table of the same persons: it says how its rows belong to them, and nothing else."""
    key, value = ("person", table.person) if table.person is not None else ("owner", table.owner)
    if UNITS[file.data.protects].identity is None:
        problem, remedy = "has a meaning only where persons are protected", 'leave it out, or use protects = "persons"'
        raise place.error((*path, key), value, problem, remedy)
    if table.person is not None and table.owner is not None:
        raise place.error((*path, "owner"), table.owner, "says again whose its rows are", "leave out person or owner")
    if table.max_matches is not None:
        problem = "all joined rows of a person are bounded together by max_rows"
        raise place.error((*path, "max_matches"), table.max_matches, problem, "leave it out")
    if table.owner is not None and not table.key:
        problem = "nothing says to which row its rows belong"
        raise place.error((*path, "owner"), table.owner, problem, 'add key = ["…"], its columns that name that row')
    if table.owner is not None and folded(table.owner) not in map(folded, (file.data.table, *file.tables)):
        raise place.error((*path, "owner"), table.owner, "is no table of this plan", "name one of its tables")


def _check_matches(path: Key, table: OtherTable, place: Place) -> None:
    if table.key is None and table.max_matches is None:
        problem = "nothing says how many of its rows can match one record"
        raise place.error(path, path[-1], problem, 'add key = ["…"], its columns with one row a value, or max_matches')
    if table.key is not None and len({folded(name) for name in table.key}) < len(table.key):
        raise place.error((*path, "key"), list(table.key), "names a column twice", "name it once")


def _check_column(path: Key, name: str, column: ColumnTable, place: Place) -> None:
    if column.prior is not None:
        raise place.error((*path, "prior"), name, "what is public needs no prior", "leave it out")
    check_column(path, column, place)
    check_kind(path, column, None, place)


def _check_database(path: Key, source: str | None, place: Place) -> None:
    if source is None:  # a catalogue
        return
    if not source.startswith("env:") and Path(source.lower()).suffix not in DATABASES:
        problem = "the table is in a file, so that there is no other table beside it"
        raise place.error(path, source, problem, 'name its file: source = "wards.csv"')


def _digest_file(path: Key, name: str, place: Place, folder: Path, confidential: Iterable[Kept]) -> str:
    if is_secret(name) or name.startswith("env:") or Path(name.lower()).suffix in DATABASES:
        problem = "is no public file"
        raise place.error(path, name, problem, "name a csv or parquet file, or leave source out for the same database")
    file = local_path(name, folder)  # the very file that is opened later
    if (words := find_kept(file, confidential)) is not None:
        problem = f"is {words}, which is confidential"
        raise place.error(path, name, problem, "name a public csv or parquet file")
    try:
        return digest_file(str(file))
    except SourceError as error:
        raise place.error(path, name, str(error).partition(": ")[2].partition(";")[0], "check its name") from None


def digest_file(source: str) -> str:
    """A digest of a public file; of the files of a folder, one of theirs."""
    found: list[str] = []
    for file in find(source).paths:
        with file.open("rb") as opened:
            found.append(hashlib.file_digest(opened, "sha256").hexdigest())
    return found[0] if len(found) == 1 else hashlib.sha256(" ".join(found).encode()).hexdigest()


def read_rows(plan: Plan, name: str) -> list[dict[str, Any]]:
    """The rows of a public table."""
    file = plan.public_sources[name]
    assert not isinstance(file, SecretSource)
    if file is not None:
        with open_engine(file, name) as engine:
            engine.check()
            _refuse_far(name, engine.types(), engine.aggregates, engine.dialect)
            found = engine.aggregates(_write_all(name, engine.types(), engine.dialect))
            return [dict(zip(engine.types(), row, strict=True)) for row in found]
    same = {other: s for other, s in plan.public_sources.items() if isinstance(s, SecretSource) and s.file is None}
    with open_engine(plan.source, plan.data.table, public={name: None, **same}) as engine:
        return read_from(engine, name)


def check_names(plan: Plan, path: Key, question: AnalyzedQuery) -> None:
    """Refuse a name without a table that a public table's file has, and that the plan declares elsewhere or nowhere.

    It would be taken for a column of the protected table, which is not opened before a release.
    """
    for join in question.joins:
        table, file = join.joined.table, plan.public_sources.get(join.joined.table.name)
        if not isinstance(file, str):  # in the same database, or confidential: a release tells
            continue
        with open_engine(file, table.name) as engine:
            has = {folded(name) for name in engine.types()} - {folded(name) for name in table.columns}
        for name in sorted(question.bare & has):
            problem = f"column {name} may be {join.joined.alias}.{name}, and is not declared for that table"
            raise plan.error(
                path, question.sql, problem, f"write {join.joined.alias}.{name}, or the table that is meant"
            )


def read_from(engine: Engine, name: str) -> list[dict[str, Any]]:
    """The rows of a public table that is opened beside the protected one."""
    _refuse_far(name, engine.public()[name], engine.ask_public, engine.dialect)
    return [
        dict(zip(engine.public()[name], row, strict=True))
        for row in engine.ask_public(_write_all(name, engine.public()[name], engine.dialect))
    ]


def _refuse_far(
    name: str, types: Mapping[str, str], ask: Callable[[str], Sequence[tuple[Any, ...]]], dialect: str
) -> None:
    """Python has no times before the year 1 or after 9999, and an engine may: they would be something else here."""
    low, high = (exp.cast(exp.Literal.string(str(end)), "timestamp") for end in (datetime.min, datetime.max))
    times = {column: stored for column, stored in types.items() if stored.upper().startswith(("DATE", "TIMESTAMP"))}
    if not times:
        return
    moments = [exp.column(column, quoted=True) for column in times]
    # Nanoseconds do not reach those ends.
    moments = [
        exp.cast(m, "timestamp") if "_NS" in stored else m for m, stored in zip(moments, times.values(), strict=True)
    ]
    inside = [moment.between(low, high) for moment in moments]
    counts = [exp.Count(this=exp.case().when(exp.not_(exp.paren(test)), exp.Literal.number(1))) for test in inside]
    table = exp.Table(this=exp.to_identifier(name, quoted=True))
    (found,) = ask(exp.select(*counts).from_(table).sql(dialect))
    far = next((column for column, count in zip(times, found, strict=True) if count), None)
    if far is not None:
        raise SourceError(
            f"table {name!r}: column {far} holds a time before the year 1 or after 9999, or an endless one; "
            "leave those out of the public table"
        )


def _write_all(name: str, types: Mapping[str, str], dialect: str) -> str:
    target = find_target(dialect, types)
    columns = [exp.alias_(target.told(column), column, quoted=True) for column in types]
    return target.sql(exp.select(*columns).from_(exp.Table(this=exp.to_identifier(name, quoted=True))))


def digest_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """A digest of rows in whatever order a database gives them."""
    whole = hashlib.sha256()
    for line in sorted(repr([*row.items()]) for row in rows):
        whole.update(hashlib.sha256(line.encode()).digest())
    return whole.hexdigest()


def check_unchanged(plan: Plan, engine: Engine) -> None:
    """What the engine reads is what the plan was understood with."""
    for name, source in plan.public_sources.items():
        if isinstance(source, SecretSource):
            continue
        if source is None:
            same = digest_rows(read_from(engine, name)) == plan.stored_digests[f"table {name}"]
        else:
            same = digest_file(source) == plan.digests[str(plan.file.tables[name].source)]
        if not same:
            raise SourceError(f"table {name!r}: the public table has changed since the plan was read; run it again")
