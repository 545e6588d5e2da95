"""The model against the engine, on drawn plans, tables and queries, and on every type that the engine can store.

Python's reading of each row gives what the engine computed, and between any two variants that differ in protected
values nothing moves further than every form of the guarantee says, also as the ledger keeps it.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from guessproof.choosing import asked
from guessproof.engines import Engine
from guessproof.errors import QueryError, SourceError
from guessproof.guarantee import RECORDS
from guessproof.plan import plan_of
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, Measurement, analyze
from guessproof.testing.drawing import NAMES, DrawnPlan, QuestionMaker, draw_plan
from guessproof.testing.guarantees import find_excesses
from guessproof.testing.harness import Cells, Harness
from guessproof.testing.values import StoredType
from guessproof.testing.variants import (
    UNIT,
    Row,
    Told,
    Variants,
    ask_variants,
    group_of,
    list_groups,
    list_rows,
    whole_number,
)

QUERIES, TRIES, PAIRS, OTHERS = 4, 12, 40, 2
Spread = Callable[[AnalyzedQuery, Row], Sequence[Row]]


def _itself(_: AnalyzedQuery, row: Row) -> Sequence[Row]:
    return [row]


def find_differences(
    question: AnalyzedQuery, table: Variants, told: Sequence[Told], spread: Spread = _itself
) -> Iterator[str]:
    """Where the engine computed something else than the model; `spread` gives the rows that a record becomes."""
    for i, (cells, variant) in enumerate(zip(told, [*table.variants, None], strict=True)):
        own = [*table.others, *([] if variant is None else [variant])]
        rows = [made for row in own for made in spread(question, row)]
        for group in list_groups(question):
            inside = [r for r in rows if group_of(question, r) == group]
            for j, measurement in enumerate(question.measurements):
                fault = _difference(measurement, inside, cells, j, group)
                if fault:
                    yield f"variant {i}, {variant}, others {table.others}, group {group}: {fault}"
                    return


def _difference(m: Measurement, rows: list[Row], told: Told, index: int, group: tuple[str, ...]) -> str | None:
    contribution = m.contribution
    counted = [r for r in rows if contribution.condition.at(r) and contribution.term.at(r) is not None]
    values = [contribution.at(r) for r in counted]
    if m.kind in ("count", "sum"):
        expected = math.fsum(values)
    else:
        expected = (min if m.kind == "min" else max)(values, default=contribution.absent)
    computed = whole_number(m, told, index, group) * UNIT
    slack = (len(rows) + 1) * (UNIT + m.guarantee.rounding) + 1e-9 * abs(expected)
    if abs(computed - expected) > slack:
        return f"{m.text}: the engine says {computed}, the model {expected}"
    count = told[group][index][1] if group in told else None
    if m.divisor != 1 and (count or 0) != len(counted):
        return f"{m.text}: the engine counts {count}, the model {len(counted)}"
    return None


# Drawn plans.


def draw_pairs(random: Random, hidden: Sequence[str], cell: Callable[[str], str | None], names: Sequence[str]) -> Any:
    """Neighbours in pairs, which differ in protected columns alone, and the others beside them; all as texts."""
    pairs: list[dict[str, str | None]] = []
    for _ in range(PAIRS):
        before = {name: cell(name) for name in names}
        moved = random.sample(sorted(hidden), random.choice((1, 1, 1, min(2, len(hidden)), len(hidden))))
        pairs += [before, {**before, **{name: cell(name) for name in moved}}]
    return pairs, [{name: cell(name) for name in names} for _ in range(OTHERS)]


def as_values(stored: Mapping[str, StoredType], row: Mapping[str, str | None]) -> Row:
    """A row as Python has it."""
    return {n: None if (text := row[n]) is None else kind.value(text) for n, kind in stored.items()}


def keep_variants(
    stored: Mapping[str, StoredType], pairs: Sequence[Any], others: Sequence[Any], texts: StoredType
) -> tuple[Variants, dict[str, str], list[Cells]]:
    """The rows as Python has them, and what is to be stored."""
    rows: list[Cells] = [(name, *(row[n] for n in stored)) for name, row in list_rows(pairs, others)]
    columns = {"variant": texts.type, **{n: kind.type for n, kind in stored.items()}}
    table = Variants([as_values(stored, r) for r in pairs], [as_values(stored, r) for r in others])
    return table, columns, rows


def _one_table(harness: Harness, seed: int, seen: Counter[str]) -> None:
    random = Random(seed)
    plan = draw_plan(random, harness.shelf)
    known = {n: [t for t in plan.stored[n].texts if t in plan.levels(n)] for n in NAMES}

    def cell(name: str) -> str | None:
        """Nothing, a level, or anything that the type can hold."""
        pick = random.random()
        return None if pick < 0.12 else random.choice((pick < 0.6 and known[name]) or plan.stored[name].texts)

    pairs, others = draw_pairs(random, sorted(plan.hidden), cell, NAMES)
    table, columns, rows = keep_variants(plan.stored, pairs, others, harness.shelf.texts)
    with harness.opened(rows, columns) as engine:
        enough = seen["asked"] + QUERIES
        for _ in range(TRIES):
            if seen["asked"] < enough:
                sql = QuestionMaker(random, plan).query()
                fault = _ask(engine, plan, table, sql, seen)
                assert fault is None, f"seed {seed}: {fault}\n{sql}\n{plan}"


def _ask(engine: Engine, plan: DrawnPlan, table: Variants, sql: str, seen: Counter[str]) -> str | None:
    try:
        (part,) = asked(plan_of({**plan.tables, "query": {"sql": sql}})).parts
        question = part.query
        told = ask_variants(engine, question, table.levels)
    except (QueryError, SourceError) as refused:
        seen[type(refused).__name__] += 1
        return None
    seen["asked"] += 1
    faults = itertools.chain(find_differences(question, table, told), find_excesses(question, table, told))
    return next(faults, None)


def hold_drawn(harness: Harness, seeds: Sequence[int]) -> None:
    """Drawn plans, tables and queries: the engine computes what the model says, and no guarantee is exceeded."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        _one_table(harness, seed, seen)
    assert seen["asked"] >= len(seeds) * QUERIES / 2, seen


def drawn_plans(harness: Harness) -> None:
    """Drawn plans, tables and queries: the engine computes what the model says, and no guarantee is exceeded."""
    hold_drawn(harness, range(harness.drawn))


def more_drawn_plans(harness: Harness) -> None:
    """The same with other plans."""
    hold_drawn(harness, range(harness.drawn, 2 * harness.drawn))


# Every type, one after the other.

ASKED = {
    "number": ("SUM({0})", "COUNT(*) FILTER (WHERE {0} > 2)", "COUNT({0})"),
    "label": ("COUNT(*) FILTER (WHERE {0} = '{1}')", "COUNT(*) FILTER (WHERE {0} <> '{1}')", "COUNT({0})"),
    "truth": ("COUNT(*) FILTER (WHERE {0})", "COUNT(*) FILTER (WHERE NOT {0})"),
    "time": ("COUNT(*) FILTER (WHERE {0} >= DATE '2020-01-31')", "COUNT({0})"),
}


def stored_types(harness: Harness) -> None:
    """Every type that it can store, with hard values in it: each is read as Python reads it."""
    for kind, asked_of in ASKED.items():
        stored = {f"c{i}": found for i, found in enumerate(harness.shelf.fits(kind))}
        declared = DeclaredTable("t", {name: _declared(name, kind, found) for name, found in stored.items()}, RECORDS)
        longest = max(len(found.texts) for found in stored.values())
        records = [{n: ([None, *s.texts] * longest)[i] for n, s in stored.items()} for i in range(longest + 1)]
        table, columns, rows = keep_variants(stored, records, [], harness.shelf.texts)
        with harness.opened(rows, columns) as engine:
            for form in asked_of:
                outputs = ", ".join(f"{form.format(name, s.texts[0])} AS o{name}" for name, s in stored.items())
                question = analyze(f"SELECT {outputs} FROM t", declared)
                told = ask_variants(engine, question, table.levels)
                fault = next(find_differences(question, table, told), None)
                assert fault is None, f"{form}: {fault}"


def _declared(name: str, kind: str, stored: StoredType) -> DeclaredColumn:
    if kind == "number":
        return DeclaredColumn(name, bounds=(-2.0, 10.0))
    if kind == "label":
        return DeclaredColumn(name, levels=stored.texts[:6], kind="label")
    return DeclaredColumn(name, levels=("true", "false")) if kind == "truth" else DeclaredColumn(name, kind="time")


CHECKS = (stored_types, drawn_plans, more_drawn_plans)
