"""Several tables of the same persons: joined on the person, or along keys to their owner; anything else is refused."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pytest
from depth import cases
from servers import Place

from guessproof.choosing import asked, choose
from guessproof.engines import open_engine
from guessproof.errors import PlanError, QueryError, SourceError
from guessproof.ledger import Budget, Ledger
from guessproof.plan import Plan, loads_plan
from guessproof.releasing import prepare_query, release

TABLES = {"customers": ("c", "city"), "orders": ("o", "c", "year"), "items": ("o", "price")}
HEAD = """
[data]
name = "shop"
source = "shop.duckdb"
table = "customers"
protects = "persons"
person = "c"
max_rows = {most}
[query]
sql = "{sql}"
[columns.city]
levels = ["a", "b"]
[tables.orders]
person = "c"
[tables.orders.columns.year]
bounds = [2000, 2010]
[tables.items]
owner = "orders"
key = ["o"]
[tables.items.columns.price]
bounds = [0, 100]
[release]
epsilon = 1e6
"""
FROM = "FROM customers AS k JOIN orders AS d ON k.c = d.c JOIN items AS i ON i.o = d.o"
QUESTIONS = (
    f"SELECT COUNT(*) AS n, SUM(i.price) AS s {FROM} WHERE d.year > 2003",
    f"SELECT k.city, SUM(i.price) AS s, COUNT(DISTINCT k.c) AS p {FROM} GROUP BY k.city",
    "SELECT COUNT(*) AS n, MAX(d.year) AS m FROM customers AS k LEFT JOIN orders AS d ON d.c = k.c",
)
Rows = dict[str, list[tuple[Any, ...]]]


def draw(rng: random.Random, person: int) -> Rows:
    """One person's rows in all tables; orders have names that nobody else's have."""
    orders = [(f"o{person}-{n}", person, rng.choice([1999, 2002, 2005, 2010, None])) for n in range(rng.randint(0, 5))]
    items = [(o, rng.choice([0.0, 100.0, 37.5, 1e9, None])) for o, _, _ in orders for _ in range(rng.randint(0, 3))]
    return {
        "customers": [(person, rng.choice("aabbx"))] * rng.choice([0, 1, 1, 1, 2]),
        "orders": orders,
        "items": items,
    }


def write(folder: Path, persons: list[Rows], name: str = "shop.duckdb") -> None:
    (folder / name).unlink(missing_ok=True)
    with duckdb.connect(str(folder / name)) as con:
        con.execute("CREATE TABLE customers (c BIGINT, city VARCHAR)")
        con.execute("CREATE TABLE orders (o VARCHAR, c BIGINT, year DOUBLE)")
        con.execute("CREATE TABLE items (o VARCHAR, price DOUBLE)")
        for table in TABLES:
            for row in (row for person in persons for row in person[table]):
                con.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def plan(folder: Path, sql: str, most: int = 3, text: str = HEAD) -> Plan:
    return loads_plan(text.format(sql=sql, most=most), folder=folder)


def numbers(folder: Path, persons: list[Rows], found: Plan) -> tuple[Any, list[float]]:
    """The engine's answers for these persons, by group."""
    write(folder, persons)
    question = asked(found)
    exponents = [0 if m.is_whole else -8 for m in question.measurements]
    with open_engine(found.source, found.data.table, public=found.public_sources) as engine:
        rewritten = prepare_query(engine, question, exponents)
        cells = rewritten.read(engine.aggregates(rewritten.sql))
    steps = [2.0**e for e in exponents]
    empty = [m.contribution.absent for m in question.measurements]
    return question, [
        {g: (e if c[j][0] is None else c[j][0] * steps[j]) for g, c in cells.items()} | {None: e}  # pyright: ignore
        for j, e in enumerate(empty)
    ]


@pytest.mark.parametrize("sql", QUESTIONS)
def test_no_person_moves_an_answer_further_than_promised(sql: str, tmp_path: Path) -> None:
    rng, found = random.Random(11), plan(tmp_path, sql)
    largest = 0.0
    for _ in range(cases(3)):
        others, one, other = [draw(rng, p) for p in (1, 2)], draw(rng, 7), draw(rng, 7)
        question, before = numbers(tmp_path, [*others, one], found)
        for rest, form in (([*others, other], "change"), (others, "presence")):
            _, after = numbers(tmp_path, rest, found)
            for j, measurement in enumerate(question.measurements):
                a: Any = before[j]
                b: Any = after[j]
                moved = sum(abs(a.get(g, a[None]) - b.get(g, b[None])) for g in {*a, *b} - {None})
                most = getattr(measurement.guarantee, form)
                assert moved <= most + (2.0**-8 if measurement.is_rounded else 0), (measurement.text, form)
                largest = max(largest, moved / most)
    assert largest > 0.3


def test_the_whole_road(tmp_path: Path) -> None:
    persons = [draw(random.Random(n), n) for n in range(12)]
    write(tmp_path, persons)
    Ledger.create(tmp_path / "guessproof.ledger", "shop", Budget("1e9"))
    found = plan(tmp_path, f"SELECT COUNT(*) AS n {FROM}")
    assert any("no two rows of orders" in text for text in choose(found).assumptions)
    answer = release(found)
    counts = [len(p["customers"]) * len(p["items"]) for p in persons]
    assert answer.value == sum(min(n, 3) for n in counts)
    assert release(found).replayed


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM customers AS k JOIN orders AS d ON k.city = d.o",
        "SELECT COUNT(*) AS n FROM customers AS k, orders AS d",
        "SELECT COUNT(*) AS n FROM customers AS k JOIN items AS i ON i.o = k.city",
        "SELECT COUNT(*) AS n FROM customers AS k JOIN orders AS d ON k.c = d.c JOIN items AS i ON i.o = k.city",
    ],
)
def test_rows_of_two_persons_are_not_joined(sql: str, tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="not joined on"):
        choose(plan(tmp_path, sql))


def test_an_owner_that_is_public_owns_nobody(tmp_path: Path) -> None:
    text = HEAD.replace('[tables.orders]\nperson = "c"', '[tables.orders]\nkey = ["c"]')
    with pytest.raises(QueryError, match="not joined on"):
        choose(plan(tmp_path, f"SELECT COUNT(*) AS n {FROM}", text=text))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('owner = "orders"\n', 'owner = "nobody"\n', "no table of this plan"),
        ('owner = "orders"\nkey = ["o"]', 'owner = "orders"', "nothing says to which row"),
        ('[tables.orders]\nperson = "c"', '[tables.orders]\nperson = "c"\nmax_matches = 2', "bounded together"),
        ('person = "c"\nmax_rows = {most}\n', "", "needs person"),
    ],
)
def test_what_cannot_be_meant_is_refused(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert old in HEAD
    with pytest.raises(PlanError, match=words):
        plan(tmp_path, QUESTIONS[0], text=HEAD.replace(old, new))


def test_nothing_of_a_second_table_is_read_before_the_charge(tmp_path: Path) -> None:
    write(tmp_path, [draw(random.Random(n), n) for n in range(3)])
    found = plan(tmp_path, QUESTIONS[0])
    assert not found.digests
    assert not found.stored_digests
    with open_engine(found.source, found.data.table, public=found.public_sources) as engine:
        for table in ("orders", "items", "customers"):
            with pytest.raises(SourceError):
                engine.ask_public(f"SELECT COUNT(*) FROM {table}")


def test_postgresql_joins_them_as_well(tmp_path: Path, postgres: Place) -> None:
    persons = [draw(random.Random(n), n) for n in range(12)]
    write(tmp_path, persons)
    postgres.con.execute("CREATE TABLE customers (c bigint, city text)")
    postgres.con.execute("CREATE TABLE orders (o text, c bigint, year double precision)")
    postgres.con.execute("CREATE TABLE items (o text, price double precision)")
    for table in TABLES:
        for row in (row for person in persons for row in person[table]):
            postgres.con.execute(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(row))})", row)
    for sql in QUESTIONS:
        here = plan(tmp_path, sql)
        there = plan(tmp_path, sql, text=HEAD.replace('"shop.duckdb"', '"env:DATABASE_URL"'))
        question = asked(here)
        exponents = [0 if m.is_whole else -8 for m in question.measurements]
        found: list[Any] = []
        for one in (here, there):
            with open_engine(one.source, one.data.table, public=one.public_sources) as engine:
                rewritten = prepare_query(engine, question, exponents)
                found.append(rewritten.read(engine.aggregates(rewritten.sql)))
                with pytest.raises(SourceError):
                    engine.ask_public("SELECT COUNT(*) FROM items")
        assert found[0] == found[1]
