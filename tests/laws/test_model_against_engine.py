"""The model against the engines, on drawn plans, tables and queries.

One table holds many variants of a record, each beside the same others, stored in every way that the engine has. The
query that is really run is asked of all of them at once, by one more key. Then

- Python's reading of each row gives what the engine computed, and
- between any two variants that differ in protected values nothing moves further than every form of the guarantee says:
  of each measurement and of the whole release, also as the ledger keeps it.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from servers import Place

from guessproof.choosing import asked
from guessproof.engines import open_engine
from guessproof.errors import MetricError, QueryError, SourceError
from guessproof.guarantee import Guarantee, guarantee_from_dict, guarantee_to_dict, total
from guessproof.plan import plan_of
from guessproof.releasing import prepare_query
from guessproof.sql import AnalyzedQuery, DeclaredColumn, Measurement
from guessproof.sql.formula import Key
from guessproof.world.line_form import Metric
from laws.plans import NAMES, Drawn, Maker, drawn
from laws.stored import DUCKDB, MOODS, POSTGRES

ROUNDS, QUERIES = 6, 8
PAIRS, OTHERS = 40, 2
EXPONENT = -16
UNIT = 2.0**EXPONENT
Row = dict[str, Any]
Cells = dict[tuple[str, ...], list[tuple[int | None, int | None]]]


@dataclass(frozen=True)
class Table:
    """Variants of a record in neighbouring pairs (2i and 2i + 1), and the others that stand beside each."""

    source: str
    variants: list[Row]
    others: list[Row]

    @property
    def levels(self) -> tuple[str, ...]:
        return tuple(f"v{i}" for i in range(len(self.variants) + 1))  # the last one holds nobody but the others


Cell = str | None
Kept = list[tuple[str, dict[str, Cell]]]


class InDuckDB:
    """Tables in files of DuckDB."""

    shelf, seeds = DUCKDB, range(36)

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, plan: Drawn, rows: Kept, name: str) -> str:
        """Store the rows, and give their source."""
        path = self.folder / f"{name}.duckdb"
        stored = ", ".join(f"{name} {plan.storages[name].type}" for name in NAMES)
        with duckdb.connect(str(path)) as con:
            con.execute(f"CREATE TABLE t (variant VARCHAR, {stored})")
            arriving = {"variant": [i for i, _ in rows], **{n: [r[n] for _, r in rows] for n in NAMES}}
            con.register("arriving", pa.table({n: pa.array(texts, pa.string()) for n, texts in arriving.items()}))
            con.execute("INSERT INTO t SELECT * FROM arriving")
        return str(path)


class InPostgres:
    """Tables of a server, one after the other in one schema."""

    shelf, seeds = POSTGRES, range(1000, 1024)

    def __init__(self, found: Place) -> None:
        self.con = found.con
        labels = ", ".join("'" + t.replace("'", "''") + "'" for t in MOODS)
        self.con.execute(f"CREATE TYPE gp_mood AS ENUM ({labels}); CREATE DOMAIN gp_domain AS text COLLATE pg_c_utf8")

    def keep(self, plan: Drawn, rows: Kept, name: str) -> str:
        """Store the rows, and give their source."""
        stored = ", ".join(f"{name} {plan.storages[name].type}" for name in NAMES)
        casts = ", ".join(f"%s::text::{plan.storages[name].type.split(' COLLATE ')[0]}" for name in NAMES)
        self.con.execute("SET client_min_messages = error")
        self.con.execute(f"DROP TABLE IF EXISTS t; CREATE TABLE t (variant text, {stored})")
        with self.con.cursor() as cursor:
            cursor.executemany(f"INSERT INTO t VALUES (%s, {casts})", [(i, *(r[n] for n in NAMES)) for i, r in rows])
        return "env:DATABASE_URL"


def written(stock: Any, plan: Drawn, random: Random) -> Table:
    """The table as the engine stores it, and its rows as Python has them."""

    known = {n: [t for t in plan.storages[n].texts if t in plan.levels(n)] for n in NAMES}

    def cell(name: str) -> str | None:
        """Nothing, a level, or anything that the type can hold."""
        pick = random.random()
        return None if pick < 0.12 else random.choice((pick < 0.6 and known[name]) or plan.storages[name].texts)

    def row() -> dict[str, str | None]:
        return {name: cell(name) for name in NAMES}

    pairs: list[dict[str, str | None]] = []
    for _ in range(PAIRS):
        before = row()
        moved = random.sample(sorted(plan.hidden), random.choice((1, 1, 1, 2, len(plan.hidden))))
        pairs += [before, {**before, **{name: cell(name) for name in moved}}]
    others = [row() for _ in range(OTHERS)]
    everyone = [(f"v{i}", r) for i, variant in enumerate(pairs) for r in (*others, variant)]
    everyone += [(f"v{len(pairs)}", r) for r in others]
    source = stock.keep(plan, everyone, f"t{random.getrandbits(60)}")

    def value(r: Mapping[str, str | None]) -> Row:
        return {n: None if (text := r[n]) is None else plan.storages[n].value(text) for n in NAMES}

    return Table(source, [value(r) for r in pairs], [value(r) for r in others])


def answers(engine: Any, question: AnalyzedQuery, table: Table) -> list[Cells]:
    """What the engine says of each variant: one query, with the variant as one more key."""
    several = replace(question, keys=(Key("variant", "variant", table.levels), *question.keys))
    rewritten = prepare_query(engine, several, [EXPONENT] * len(question.measurements))
    found = rewritten.read(engine.aggregates(rewritten.sql))
    return [{group[1:]: cells for group, cells in found.items() if group[0] == level} for level in table.levels]


def groups(question: AnalyzedQuery) -> list[tuple[str, ...]]:
    return list(itertools.product(*(key.levels for key in question.keys)))


def group_of(question: AnalyzedQuery, row: Row) -> tuple[Any, ...]:
    columns = [question.declared.column(key.column) for key in question.keys]
    return tuple(None if row[c.name] is None else c.label(row[c.name]) for c in columns)


def whole(measurement: Measurement, cells: Cells, index: int, group: tuple[str, ...]) -> float:
    found = cells[group][index][0] if group in cells else None
    return measurement.contribution.absent / UNIT if found is None else float(found)


# Python's reading of a row is the engine's.


def disagreements(question: AnalyzedQuery, table: Table, found: Sequence[Cells]) -> Iterator[str]:
    for i, (cells, variant) in enumerate(zip(found, [*table.variants, None], strict=True)):
        rows = [*table.others, *([] if variant is None else [variant])]
        for group in groups(question):
            inside = [r for r in rows if group_of(question, r) == group]
            for j, measurement in enumerate(question.measurements):
                fault = _disagreement(measurement, inside, cells, j, group)
                if fault:
                    yield f"variant {i}, {variant}, others {table.others}, group {group}: {fault}"
                    return


def _disagreement(m: Measurement, rows: list[Row], cells: Cells, index: int, group: tuple[str, ...]) -> str | None:
    contribution = m.contribution
    counted = [r for r in rows if contribution.condition.at(r) and contribution.term.at(r) is not None]
    values = [contribution.at(r) for r in counted]
    if m.kind in ("count", "sum"):
        expected = math.fsum(values)
    else:
        expected = (min if m.kind == "min" else max)(values, default=contribution.absent)
    computed = whole(m, cells, index, group) * UNIT
    slack = (len(rows) + 1) * (UNIT + m.guarantee.rounding) + 1e-9 * abs(expected)
    if abs(computed - expected) > slack:
        return f"{m.text}: the engine says {computed}, the model {expected}"
    count = cells[group][index][1] if group in cells else None
    if m.divisor != 1 and (count or 0) != len(counted):
        return f"{m.text}: the engine counts {count}, the model {len(counted)}"
    return None


# No form of the guarantee is exceeded.


def excesses(question: AnalyzedQuery, table: Table, found: Sequence[Cells]) -> Iterator[str]:
    parts = [_Seen(question, m, j, found) for j, m in enumerate(question.measurements)]
    shares = [1 / len(parts)] * len(parts)
    own = total([m.guarantee.scaled(1 / len(parts) / m.guarantee.sensitivity) for m in question.measurements])
    kept = guarantee_from_dict(guarantee_to_dict(own))
    for i in range(0, len(table.variants), 2):
        before, after = table.variants[i], table.variants[i + 1]
        for part in parts:
            yield from part.excess(i, before, after)
        weights = [s / m.guarantee.sensitivity for s, m in zip(shares, question.measurements, strict=True)]
        moved = math.fsum(w * p.moved(i, i + 1) for w, p in zip(weights, parts, strict=True))
        room = 1e-9 * moved + math.fsum(w * UNIT * 2.001 for w in weights)
        for name, pledged in (("the release", own), ("the ledger", kept)):
            for form, bound in _forms(question, pledged, before, after):
                if moved > bound + room:
                    yield f"{name}: from {before} to {after} moves by {moved}, {form} says {bound}"


class _Seen:
    """One measurement's answers."""

    def __init__(self, question: AnalyzedQuery, measurement: Measurement, index: int, found: Sequence[Cells]) -> None:
        self.question, self.measurement = question, measurement
        self.table = np.array([[whole(measurement, c, index, g) for g in groups(question)] for c in found])

    def moved(self, i: int, j: int) -> float:
        """Over all groups together, before any divisor."""
        return float(np.abs(self.table[i] - self.table[j]).sum()) * UNIT

    def excess(self, i: int, before: Row, after: Row) -> Iterator[str]:
        m, guarantee, moved = self.measurement, self.measurement.guarantee, self.moved(i, i + 1)
        keys = {key.column for key in self.question.keys}
        forms = [("change", m.per_answer.change * m.divisor)]
        if m.declared.unit.name == "records":
            forms += [("sensitivity", m.per_answer.sensitivity * m.divisor)]
            gone = max(self.moved(i, -1), self.moved(i + 1, -1))
            if gone > m.per_answer.presence * m.divisor * (1 + 1e-9) + UNIT * 1.001:
                yield f"{m.text}: coming or going moves by {gone}, presence says {m.per_answer.presence}"
        if all(before[key] == after[key] for key in keys):
            forms += [("guarantee.change", guarantee.change)]
            forms += [(f"measured {form}", bound) for form, bound in self._own(before, after)]
        assumed = m.divisor != 1 and self._misses(before, after)  # a public count: whether a value is missing is known
        for form, bound in () if assumed else forms:
            if moved > bound * (1 + 1e-9) + UNIT * 2.001:
                yield f"{m.text}: from {before} to {after} moves by {moved}, {form} says {bound}"

    def _misses(self, before: Row, after: Row) -> bool:
        return any(self.question.declared.column(n).read(r[n]) is None for n in NAMES for r in (before, after))

    def _own(self, before: Row, after: Row) -> Iterator[tuple[str, float]]:
        guarantee = self.measurement.guarantee
        moving = {
            n for n in self.measurement.contribution.columns if n in NAMES and _differ(self.question, n, before, after)
        }
        yield "between", guarantee.between({n: before[n] for n in NAMES}, {n: after[n] for n in NAMES})
        apart = _distances(self.question, guarantee.columns, moving, before, after)
        if apart is not None:
            yield "columns", apart
        apart = _distances(self.question, guarantee.lines, moving, before, after)
        if apart is not None:
            yield "lines", apart
        straight = _straight(self.question, moving, before, after)
        if guarantee.slope is not None and straight is not None:
            yield "euclidean", guarantee.slope * straight + guarantee.rounding


def _forms(question: AnalyzedQuery, pledged: Guarantee, before: Row, after: Row) -> Iterator[tuple[str, float]]:
    if any(m.divisor != 1 for m in question.measurements):
        read = [question.declared.column(n).read(r[n]) for n in NAMES for r in (before, after)]
        if None in read:
            return
    yield "change", pledged.change
    if pledged.responses is not None:
        yield "between", pledged.between({n: before[n] for n in NAMES}, {n: after[n] for n in NAMES})
    moving = {n for n in NAMES if n in question.columns and _differ(question, n, before, after)}
    apart = _distances(question, pledged.columns, moving, before, after)
    if apart is not None:
        yield "columns", apart
    apart = _distances(question, pledged.lines, moving, before, after)
    if apart is not None:
        yield "lines", apart
    straight = _straight(question, moving, before, after)
    if pledged.slope is not None and straight is not None:
        yield "euclidean", pledged.slope * straight + 2 * pledged.rounding


def _differ(question: AnalyzedQuery, name: str, before: Row, after: Row) -> bool:
    """Whether a column moves at all: labels by themselves, for a metric tells labels apart and not truth values."""
    column = question.declared.column(name)
    ends = [
        column.label(r[name]) if column.is_textual and r[name] is not None else column.read(r[name])
        for r in (before, after)
    ]
    return ends[0] != ends[1]


def _distances(
    question: AnalyzedQuery, metrics: Mapping[str, Metric], moving: set[str], before: Row, after: Row
) -> float | None:
    """The sum over columns; None where a value is none that the metrics speak of (missing, or no level)."""
    total = 0.0
    for name in moving:
        column = question.declared.column(name)
        ends = [_point(column, r[name]) for r in (before, after)]
        if name not in metrics or None in ends:
            return None
        try:
            total += float(metrics[name].distance(*ends))
        except (MetricError, TypeError):
            return None
    return total


def _point(column: DeclaredColumn, value: Any) -> Any:
    if column.is_on_line:
        return column.place(value)
    if column.is_textual:
        label = None if value is None else column.label(value)
        return label if isinstance(label, str) else None
    return None if column.read(value) is None else str(value)


def _straight(question: AnalyzedQuery, moving: set[str], before: Row, after: Row) -> float | None:
    columns = [question.declared.column(n) for n in moving]
    ends = [[c.read(r[c.name]) for c in columns] for r in (before, after)]
    if not all(c.is_number for c in columns) or any(v is None or abs(v) > 1e100 for end in ends for v in end):
        return None
    return math.dist(*ends)


@dataclass
class Run:
    """What happened to the queries of one round."""

    seen: Counter[str]

    def tried(self, stock: Any, random: Random) -> Iterator[str]:
        plan = drawn(random, stock.shelf)
        table = written(stock, plan, random)
        with open_engine(table.source, "t") as engine:
            for _ in range(QUERIES):
                sql = Maker(random, plan).query()
                yield from (f"{fault}\n{sql}\n{plan}" for fault in self._query(engine, plan, table, sql))

    def _query(self, engine: Any, plan: Drawn, table: Table, sql: str) -> Iterator[str]:
        try:
            question = asked(plan_of({**plan.tables, "query": {"sql": sql}}))
            found = answers(engine, question, table)
        except (QueryError, SourceError) as refused:
            self.seen[type(refused).__name__] += 1
            return
        self.seen["asked"] += 1
        self.seen["rows"] += len(table.variants)
        yield from disagreements(question, table, found)
        yield from itertools.islice(excesses(question, table, found), 1)


def hold(stock: Any, first: int) -> None:
    """One round of drawn tables."""
    run, seeds = Run(Counter()), stock.seeds[first::ROUNDS]
    for seed in seeds:
        for fault in run.tried(stock, Random(seed)):
            pytest.fail(f"seed {seed}: {fault}")
    assert run.seen["asked"] >= len(seeds) * QUERIES / 4, run.seen


@pytest.mark.parametrize("first", range(ROUNDS))
def test_the_model_says_what_duckdb_does_and_no_form_of_the_guarantee_is_exceeded(first: int, tmp_path: Path) -> None:
    hold(InDuckDB(tmp_path), first)


@pytest.mark.parametrize("first", range(ROUNDS))
def test_the_model_says_what_postgres_does_and_no_form_of_the_guarantee_is_exceeded(
    first: int, postgres: Place
) -> None:
    hold(InPostgres(postgres), first)
