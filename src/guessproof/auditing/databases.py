"""Made-up databases for questions of every form: units with rows in one table or in several, public tables beside them.

Nothing is read of the plan's own tables. Only where a join looks a protected label up in a public table, so that the
guarantee was worked out from its rows, it is that table that is asked.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from guessproof.auditing.columns import UNIT_ROWS, Field, Row, fields_of
from guessproof.choosing import Choice
from guessproof.engines import Engine, open_engine
from guessproof.engines.base import PublicSources, SecretSource
from guessproof.engines.duckdb import DuckDB
from guessproof.errors import InfeasibleError
from guessproof.names import folded
from guessproof.releasing import prepare_query
from guessproof.releasing.joins import check_matches
from guessproof.sql import AnalyzedQuery, DeclaredTable, RewrittenQuery
from guessproof.sql.relation import JoinKey, PublicJoin
from guessproof.sql.rewrite import Cell, Group

MOST_KEYS, MOST_MATCHES, MOST_LISTED = 40, 60, 200_000  # of a public table: keys, rows of one, rows that are copied
FOUND = ("here", "there", "elsewhere", "nowhere")  # values of a label of which no list is declared
EACH = (0, 1, 2)  # rows of a second protected table that belong to one row of its owner
Unit = Mapping[str, tuple[Row, ...]]  # the rows of one unit in each table; each unit of a database gets a name
Answers = dict[str, dict[Group, list[Cell]]]  # by question


@dataclass(frozen=True)
class Schema:
    """The tables that the questions read, and what each column of them may hold."""

    declared: DeclaredTable
    columns: Mapping[str, Mapping[str, Field]]  # by table
    joins: tuple[PublicJoin, ...]  # the first with each table
    complete: bool  # behind a public count everybody is known to have a value

    @property
    def own(self) -> Mapping[str, Field]:
        """The columns of the protected table, but for the one that names units."""
        return self.columns[self.declared.table]

    @property
    def secret(self) -> tuple[str, ...]:
        """The columns of the first table that a unit may change."""
        return tuple(name for name in self.own if self.declared.column(name).protected)

    @property
    def is_single(self) -> bool:
        """Whether a unit is one row of one table."""
        return self.declared.unit.identity is None


def base_of(query: AnalyzedQuery) -> AnalyzedQuery:
    """What is asked of the tables themselves."""
    return query if query.inner is None else base_of(query.inner.query)


def read_schema(choice: Choice) -> Schema:
    """The tables of all questions; a column may hold what any of them makes a difference of."""
    asked = [base_of(part.query) for part in choice.asked.parts]
    declared, tables = asked[0].declared, dict[str, dict[str, Field]]()
    joins: dict[str, PublicJoin] = {}
    for query in asked:
        for join in query.joins:
            name = join.joined.table.name
            known = joins.setdefault(name, join)
            if known is not join and _pairs(known) != _pairs(join):
                problem = f"the audit makes up one way to join {name}, and the questions join it in two"
                raise InfeasibleError(f"{problem}; audit each in a plan of its own")
        for name, found in fields_of(choice.plan, query).items():
            table, column = _place(name, query)
            held = tables.setdefault(table, {})
            values = dict.fromkeys((*(held[column].values if column in held else ()), *found.values))
            held[column] = replace(found, name=column, values=tuple(values))
        for name in (key.column for key in query.keys if key.is_found):
            table, column = _place(name, query)
            held = tables[table][column]
            more = tuple(map(float, range(4))) if held.kind == "number" else FOUND
            tables[table][column] = replace(held, values=(*held.values, *more), is_key=False)
    own = tables.setdefault(declared.table, {})
    own.pop(UNIT_ROWS, None)
    for join in joins.values():
        _share_keys(join, tables, declared.table)
    complete = any(noise.measurement.divisor != 1 for noise in choice.noises)
    return Schema(declared, tables, tuple(joins.values()), complete)


def _place(name: str, query: AnalyzedQuery) -> tuple[str, str]:
    """The table of a column, and its name there."""
    for join in query.joins:
        inside = join.joined.name_inside(name)
        if inside is not None:
            return join.joined.table.name, inside
    return query.declared.table, name


def _share_keys(join: PublicJoin, tables: dict[str, dict[str, Field]], main: str) -> None:
    """Columns that are joined on may hold the same values, or nothing would ever match."""
    for key in join.keys:
        name, inside = key.left.name.rpartition(".")[2], str(join.joined.name_inside(key.right.name))
        held = [main] if "." not in key.left.name else [t for t, columns in tables.items() if name in columns]
        sides = [(t, c) for t, c in ((held[0], name), (join.joined.table.name, inside)) if c in tables.get(t, {})]
        values = tuple(dict.fromkeys(v for t, c in sides for v in tables[t][c].values))
        if len(values) < len(FOUND):
            values += tuple(map(float, range(9))) if key.right.kind == "number" else FOUND
        for table, column in sides:
            tables[table][column] = replace(tables[table][column], values=values)


def _pairs(join: PublicJoin) -> set[tuple[str, str | None]]:
    return {(folded(key.left.name), join.joined.name_inside(key.right.name)) for key in join.keys}


# Units -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnitMaker:
    """Draws units of a schema: all values that decide something, the most extreme ones often."""

    schema: Schema
    rng: Any

    def draw(self, frame: Row | None = None) -> Unit:
        """A unit of any values; `frame` fixes what is public of it."""
        counts = self.schema.declared.unit.row_counts
        rows = [self.fill(self.schema.own) for _ in range(self._pick(counts))]
        return self._with_rest([{**row, **(frame or {})} for row in rows])

    def extreme(self, place: int, frame: Row | None = None) -> Unit:
        """One with as many rows as any, all alike, of the most extreme numbers (beyond the bounds first)."""
        row = self.fill(self.schema.own)
        row |= {n: f.values[place % len(f.values)] for n, f in self.schema.own.items() if f.kind == "number"}
        return self._with_rest([{**row, **(frame or {})}] * max(self.schema.declared.unit.row_counts))

    def vary(self, unit: Unit, place: int) -> Unit:
        """The same with the most extreme numbers wherever nothing is joined on them."""
        joined = {k.left.name.rpartition(".")[2] for join in self.schema.joins for k in join.keys}
        joined |= {k.right.name.rpartition(".")[2] for join in self.schema.joins for k in join.keys}
        found: dict[str, tuple[Row, ...]] = {}
        for table, rows in unit.items():
            held = self.schema.columns.get(table, {})
            free = [n for n in held if n not in joined and held[n].kind == "number" and self._may_change(table, n)]
            more = {n: held[n].values[place % len(held[n].values)] for n in free}
            found[table] = tuple({**row, **more} for row in rows)
        return found

    def frame(self, unit: Unit | None = None) -> Row:
        """What is public of a unit, of this one or of any, where only values are protected."""
        if self.schema.declared.unit.hides_presence:
            return {}
        open_ones = {n: f for n, f in self.schema.own.items() if n not in self.schema.secret}
        rows = () if unit is None else unit[self.schema.declared.table]
        return {n: rows[0].get(n) for n in open_ones} if rows else self.fill(open_ones)

    def _may_change(self, table: str, name: str) -> bool:
        return table != self.schema.declared.table or name in self.schema.secret

    def _with_rest(self, rows: Sequence[Row]) -> Unit:
        """Its rows in the other protected tables, each joined to a row before it by a key of its own."""
        main = self.schema.declared.table
        found: dict[str, list[Row]] = {main: [dict(row) for row in rows]}
        for join in self.schema.joins:
            table = join.joined.table
            if not table.is_secret:
                continue
            made = found.setdefault(table.name, [])
            owner = main if table.person is not None else str(table.owner)
            owner = next((name for name in found if folded(name) == folded(owner)), main)
            for number, row in enumerate(found[owner]):
                keys = self._keys(join, row, f"{owner}-{number}")
                fields = self.schema.columns.get(table.name, {})
                made += [{**self.fill(fields), **keys} for _ in range(self._pick(EACH))]
        return {name: tuple(rows) for name, rows in found.items()}

    def _keys(self, join: PublicJoin, row: Row, token: str) -> Row:
        """The columns of a joined row by which it belongs to this one; the unit's name is put in later."""
        found: Row = {}
        identity = folded(self.schema.declared.unit.identity or "")
        for key in join.keys:
            inside = str(join.joined.name_inside(key.right.name))
            name = key.left.name.rpartition(".")[2]
            if folded(name) != identity and folded(inside) != folded(join.joined.table.person or ""):
                row[name] = OwnKey(token)
            found[inside] = row.get(name, OwnKey(""))
        return found

    def fill(self, fields: Mapping[str, Field]) -> Row:
        """A value for each column."""
        return {name: self._value(name, held) for name, held in fields.items()}

    def _value(self, name: str, held: Field) -> Any:
        missing = held.missing and not (self.schema.complete and name in self.schema.secret)
        odd = [None, *([math.nan, math.inf] if held.kind == "number" else [])] if missing and not held.is_key else []
        values = [*held.values, *held.values, *odd] or [None]
        return self._pick(values)

    def _pick(self, values: Sequence[Any]) -> Any:
        return values[int(self.rng.integers(len(values)))]


@dataclass(frozen=True)
class OwnKey:
    """A key that names one row of one unit: the unit's name and this."""

    token: str


# Databases ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DatabaseFactory:
    """Where databases are made and asked: public tables are written once, protected ones for each."""

    choice: Choice
    schema: Schema
    folder: Path
    public: PublicSources
    prepared: dict[str, RewrittenQuery] = field(default_factory=dict[str, RewrittenQuery])
    standing: list[DuckDB] = field(default_factory=list[DuckDB])  # the one that is open, if any

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self.standing:
            self.standing.pop().close()

    def ask(self, units: Sequence[Unit]) -> Answers:
        """Every question of the plan, as a release runs it."""
        engine = self._open(units)
        if not self.prepared:
            self.prepared.update(self._prepare(engine))
        return {name: query.run(engine.aggregates) for name, query in self.prepared.items()}

    def _prepare(self, engine: Engine) -> Iterator[tuple[str, RewrittenQuery]]:
        for part in self.choice.asked.parts:
            if part.query.joins:
                check_matches(engine, part.query)
            yield (
                part.name,
                prepare_query(engine, part.query, [self.choice.noises[p].grid.exponent for p in part.places]),
            )

    def _open(self, units: Sequence[Unit]) -> DuckDB:
        """A database with these units. Where only one table differs from database to database it alone is exchanged."""
        declared, sources = self.schema.declared, dict(self.public)
        for join in self.schema.joins:
            table = join.joined.table
            if table.is_secret:
                rows = list(self._rows(units, table.name, table.person))
                file = self.folder / f"{table.name}.parquet"
                pq.write_table(_arrow(rows, self._fields(table.name, table.person)), file)
                sources[table.name] = SecretSource(str(file))
        rows = list(self._rows(units, declared.table, declared.unit.identity))
        frame = _arrow(rows, self._fields(declared.table, declared.unit.identity))
        if self.standing and sources == self.public:
            self.standing[0].exchange(frame)
        else:
            self.__exit__()
            engine = open_engine(frame, declared.table, public=sources)
            assert isinstance(engine, DuckDB)  # which reads all frames
            self.standing.append(engine)
        return self.standing[0]

    def _fields(self, table: str, identity: str | None) -> list[Field]:
        fields = dict(self.schema.columns.get(table, {}))
        for join in self.schema.joins:  # keys that tell rows of a unit apart are texts
            if join.joined.table.is_secret:
                names = [k.left.name.rpartition(".")[2] for k in join.keys if _owner(join, self.schema) == table]
                if join.joined.table.name == table:
                    names += [str(join.joined.name_inside(k.right.name)) for k in join.keys]
                fields |= {n: Field(n, "label", True, False, ()) for n in names}
        if identity is not None:
            fields[identity] = Field(identity, "label", False, False, ())
        return list(fields.values()) or [Field("guessproof_row", "label", False, False, ())]

    def _rows(self, units: Sequence[Unit], table: str, identity: str | None) -> Iterator[Row]:
        for number, unit in enumerate(units):
            name = str(1000 + number)
            for row in unit.get(table, ()):
                kept = {n: f"{name}{v.token}" if isinstance(v, OwnKey) else v for n, v in row.items()}
                yield kept if identity is None else {**kept, identity: name}


def _owner(join: PublicJoin, schema: Schema) -> str:
    """The table to whose rows those of a protected table are joined."""
    owner = join.joined.table.owner
    wanted = schema.declared.table if owner is None else owner
    return next((t for t in (schema.declared.table, *schema.columns) if folded(t) == folded(wanted)), wanted)


def make_factory(choice: Choice, schema: Schema, folder: Path, rng: Any) -> DatabaseFactory:
    """With the public tables in the folder."""
    maker, public = UnitMaker(schema, rng), dict[str, str | SecretSource | None]()
    for join in schema.joins:
        table = join.joined.table
        if table.is_secret:
            continue
        file = folder / f"public-{len(public)}.parquet"
        if any(_is_protected(key, schema) for key in join.keys) and table.read is not None:
            rows = list(itertools.islice(table.read(), MOST_LISTED + 1))
            if len(rows) > MOST_LISTED:
                raise InfeasibleError(f"{table.name} has more than {MOST_LISTED} rows, too many for an audit to copy")
            pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), file)
        else:
            fields = dict(schema.columns[table.name])
            pq.write_table(_arrow(list(_public_rows(join, schema, maker)), list(fields.values())), file)
        public[table.name] = str(file)
    return DatabaseFactory(choice, schema, folder, public)


def _is_protected(key: JoinKey, schema: Schema) -> bool:
    return key.left.protected and not schema.declared.unit.hides_presence


def _public_rows(join: PublicJoin, schema: Schema, maker: UnitMaker) -> Iterator[Row]:
    """As many rows for each key as the plan says that may match."""
    table, matches = join.joined.table, min(join.matches, MOST_MATCHES)
    names = [str(join.joined.name_inside(key.right.name)) for key in join.keys]
    sides = [[v for v in _left_values(key, schema) if v is not None] for key in join.keys]
    kept = itertools.islice(itertools.product(*sides), MOST_KEYS)
    fixed = join.filter.columns
    for number, keys in enumerate(kept):
        for more in range(matches):
            row = maker.fill(schema.columns[table.name])
            row |= {n: f"{number}-{more}" for n in table.key if n in row and n not in names and not fixed}
            yield {**row, **dict(zip(names, keys, strict=True))}


def _left_values(key: JoinKey, schema: Schema) -> Iterable[Any]:
    """What the column before the join may hold."""
    table, _, name = key.left.name.rpartition(".")
    for held in (schema.own if not table else {}, *schema.columns.values()):
        if name in held:
            return held[name].values
    return ()


def _arrow(rows: Sequence[Row], fields: Sequence[Field]) -> pa.Table:
    columns: dict[str, Any] = {}
    for held in fields:
        kind = pa.float64() if held.kind == "number" else pa.string()
        columns[held.name] = pa.array([row.get(held.name) for row in rows], kind, from_pandas=False)
    return pa.table(columns)
