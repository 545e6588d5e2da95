"""One question, two engines: the same whole numbers to the last bit, over every rule's examples and hard values.

Mistakes that people make between dialects are planted at the end, and must be seen.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from servers import Place
from sql.examples import COLUMNS, PAGES, RECORDS, Example
from sqlglot import Expr, exp

from guessproof.engines import Engine, open_engine
from guessproof.errors import SourceError
from guessproof.releasing import prepare_query
from guessproof.sql import AnalyzedQuery, analyze
from guessproof.sql.targets.postgres import PostgresTarget

EXPONENT = -24
NUMBERS = ("time", "age", "salary", "lon", "lat", "speed", "grade", "income")
HARD = (
    *(None, "nan", "inf", "-inf", "-0.0", "0", "0.5", "1.5", "2.5", "-2.5", "7", "30", "60", "90.5", "1e300", "-1e300"),
    *("1e-200", "5e-324", "-1e-170", "3.0000000000000004", "0.285", "29.999999999999996", "119.99999999999999"),
)
LABELS = {
    "colour": ("black", "white", "brown", "Black", "black ", "bläck", "", "b%", None),
    "smoker": ("true", "false", "TRUE", "yes", "maybe", None),
    "faculty": ("math", "law", "Math", "other", None),
    "card": ("1", "2", "3", "a", "A", None),
}
BORN = ("1980-05-17", "2001-02-29", "1999-12-31 23:59:59.5", "0001-01-01", "x", None)
EXAMPLES = [example for page in PAGES.values() for example in page]
MORE = [
    "SELECT SUM(ROUND(time / 2)) AS a, SUM(ROUND(lon * lat, 2)) AS b FROM t",
    "SELECT SUM(POWER(time, 3)) AS a, SUM(POWER(salary, -2)) AS b FROM t",
    "SELECT SUM(EXP(lat * 8 - 720)) AS a, COUNT(*) FILTER (WHERE time * time > 0.25) AS b FROM t",
    "SELECT SUM(7 / speed) AS a, SUM(7 / 2) AS b, SUM(time / (age + 1)) AS c FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE colour > 'Z' OR colour LIKE 'b_%'",
    "SELECT SUM(CASE WHEN time > age THEN 1 ELSE 0.5 END) AS a FROM t WHERE NOT smoker",
]
# By which types the numbers are stored: in DuckDB, in PostgreSQL.
STORAGES = {"doubles": ("DOUBLE", "double precision"), "texts": ("VARCHAR", "text"), "singles": ("FLOAT", "real")}


@dataclass(frozen=True)
class Twins:
    """The same rows in two engines."""

    engines: tuple[Engine, Engine]

    def both(self, question: AnalyzedQuery, exponent: int = EXPONENT) -> list[Any]:
        """What each says, in whole numbers."""
        return [self.said(engine, question, exponent) for engine in self.engines]

    def said(self, engine: Engine, question: AnalyzedQuery, exponent: int) -> Any:
        rewritten = prepare_query(engine, question, [exponent] * len(question.measurements))
        return rewritten.run(engine.aggregates)


def drawn(fits: Callable[[str], bool]) -> list[dict[str, str | None]]:
    random = Random(14)
    hard = [v for v in HARD if v is None or fits(v)]

    def number() -> str | None:
        return random.choice(hard) if random.random() < 0.6 else repr(float(f"{random.uniform(-10, 130):.6f}"))

    labels = list(itertools.islice(itertools.cycle(itertools.product(*LABELS.values())), 300))
    return [
        {**{n: number() for n in NUMBERS}, **dict(zip(LABELS, label, strict=True)), "born": random.choice(BORN)}
        for label in labels
    ]


@contextmanager
def twins(folder: Path, place: Place, storage: str) -> Generator[Twins]:
    here, there = STORAGES[storage]
    rows = drawn(lambda v: storage != "singles" or v in ("nan", "inf", "-inf") or 1e-30 < abs(float(v)) < 1e30)
    texts = [*LABELS, "born"]
    names = [*NUMBERS, *texts]
    path = folder / f"{storage}.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute(
            f"CREATE TABLE t ({', '.join(f'{n} {here}' for n in NUMBERS)}, {', '.join(f'{n} VARCHAR' for n in texts)})"
        )
        con.register("arriving", pa.table({n: pa.array([r[n] for r in rows], pa.string()) for n in names}))
        con.execute("INSERT INTO t SELECT * FROM arriving")
    place.con.execute(
        f"CREATE TABLE t ({', '.join(f'{n} {there}' for n in NUMBERS)}, {', '.join(f'{n} text' for n in texts)})"
    )
    casts = ", ".join([f"%s::text::{there}"] * len(NUMBERS) + ["%s"] * len(texts))
    with place.con.cursor() as cursor:
        cursor.executemany(f"INSERT INTO t VALUES ({casts})", [[r[n] for n in names] for r in rows])
    with open_engine(str(path), "t") as file, open_engine("env:DATABASE_URL", "t") as database:
        yield Twins((file, database))


@pytest.mark.parametrize("storage", STORAGES)
def test_the_same_answers_to_the_last_bit(storage: str, tmp_path: Path, postgres: Place) -> None:
    with twins(tmp_path, postgres, storage) as rows:
        for example in [*EXAMPLES, *(Example(sql, RECORDS) for sql in MORE)]:
            question = analyze(example.sql, example.declared)
            for exponent in (EXPONENT, 3) if storage == "doubles" else (EXPONENT,):
                here, there = rows.both(question, exponent)
                assert here == there, (example.sql, exponent)
                assert here


# Planted: what a translation between dialects would have written.


def truncated(self: PostgresTarget, x: Expr) -> Expr:
    return exp.Cast(this=exp.Anonymous(this="TRUNC", expressions=[x]), to=exp.DataType(this=exp.DType.BIGINT))


def half_to_even(self: PostgresTarget, a: Expr, digits: int) -> Expr:
    shift = self.double(10.0**digits)
    found = exp.Round(this=exp.Mul(this=exp.paren(a), expression=shift))
    return exp.paren(exp.Div(this=found, expression=shift.copy()))


def whole_division(self: PostgresTarget, a: Expr, b: Expr) -> Expr:
    kind = exp.DataType(this=exp.DType.BIGINT)
    quotient = exp.Div(this=exp.Cast(this=a, to=kind), expression=exp.Cast(this=b, to=kind.copy()), typed=True)
    return exp.Cast(this=exp.paren(quotient), to=exp.DataType(this=exp.DType.DOUBLE))


def failing_cast(self: PostgresTarget, column: Any) -> Expr:
    return exp.TryCast(this=self.name(column.name), to=exp.DataType(this=exp.DType.DOUBLE))


def ignoring_case(self: PostgresTarget, name: str) -> Expr:
    """What a collation without case would say."""
    return exp.Lower(this=exp.Cast(this=self.name(name), to=exp.DataType(this=exp.DType.TEXT)))


def plain_product(self: PostgresTarget, a: Expr, b: Expr) -> Expr:
    return exp.paren(exp.Mul(this=a, expression=b))


def plain_exponential(self: PostgresTarget, a: Expr) -> Expr:
    return exp.Exp(this=a)


def endless_numeric(self: PostgresTarget, value: float) -> Expr:
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


PLANTED = [
    ("whole", truncated, "doubles"),
    ("rounded", half_to_even, "doubles"),
    ("divide", whole_division, "doubles"),
    ("number", failing_cast, "texts"),
    ("_text", ignoring_case, "doubles"),
    ("times", plain_product, "doubles"),
    ("exponential", plain_exponential, "doubles"),
    ("double", endless_numeric, "doubles"),
]


@pytest.mark.parametrize(("method", "mistake", "storage"), PLANTED, ids=lambda v: getattr(v, "__name__", v))
def test_a_planted_mistake_is_seen(
    method: str, mistake: Any, storage: str, tmp_path: Path, postgres: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgresTarget, method, mistake)

    def differs(rows: Twins, example: Example) -> bool:
        question = analyze(example.sql, example.declared)
        try:
            here, there = rows.both(question)
        except SourceError:  # found before any charge
            return True
        return here != there

    with twins(tmp_path, postgres, storage) as rows:
        assert any(differs(rows, example) for example in [*(Example(sql, RECORDS) for sql in MORE), *EXAMPLES])


def test_the_declaration_covers_the_table() -> None:
    assert {*COLUMNS, "card"} == {*NUMBERS, *LABELS, "born"}
