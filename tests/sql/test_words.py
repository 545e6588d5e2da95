"""Words of SQL that mean one thing in several spellings, and what each does to a neighbour."""

from __future__ import annotations

import math
from random import Random

import duckdb
import pytest

from guessproof.errors import QueryError
from guessproof.guarantee import RECORDS
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, analyze, find_target, rewrite
from sql.running import whole_numbers

SPEED = DeclaredColumn("speed", bounds=(20, 80), missing=False, protected=False)
PLACES = tuple(DeclaredColumn(n, bounds=(0, 300), missing=False) for n in ("x", "y", "z"))
EXPONENT = -30


def ask(sql: str, *columns: DeclaredColumn) -> AnalyzedQuery:
    return analyze(f"SELECT {sql} FROM t", DeclaredTable("t", {c.name: c for c in columns}))


@pytest.mark.parametrize(
    "spelled",
    [
        "(x^2 + y^2)^0.5",
        "(x**2 + y * y)^(1/2)",
        "POWER(POW(x, 2) + y^2, 0.5)",
        "SQRT((x^2) + (y^2))",
        "POINT(x, y) <@> POINT(0, 0)",
    ],
)
def test_every_root_of_squares_is_a_distance(spelled: str) -> None:
    guarantee = ask(f"MIN(({spelled}) / speed)", *PLACES, SPEED).measurements[0].guarantee
    assert guarantee.slope == pytest.approx(1 / 20, rel=1e-12)  # not √2/20, which one bound an axis would give
    assert guarantee.change == pytest.approx(math.hypot(300, 300) / 20, rel=1e-9)


def test_three_squares_move_by_the_straight_line() -> None:
    question = ask("SUM(SQRT(x^2 + y^2 + z^2))", *PLACES)
    guarantee = question.measurements[0].guarantee
    assert guarantee.slope == pytest.approx(1, rel=1e-12)
    random = Random(5)
    spots = [[random.choice((0.0, 300.0, random.uniform(-5, 310))) for _ in "xyz"] for _ in range(60)]
    found = whole_numbers(question, [[dict(zip("xyz", spot, strict=True))] for spot in spots], EXPONENT)
    clamped = [[min(max(v, 0.0), 300.0) for v in spot] for spot in spots]
    steepest = 0.0
    for i, a in enumerate(clamped):
        for j, b in enumerate(clamped[:i]):
            moved, far = abs(found[i] - found[j]) * 2.0**EXPONENT, math.dist(a, b)
            assert moved <= far + 2.0**EXPONENT
            steepest = max(steepest, moved / far if far else 0.0)
    assert steepest > 0.99, "and so it moves"


def test_the_same_column_twice_is_no_straight_line() -> None:
    """√(x² + (2x)²) = √5·|x|: gradients of one column are parallel, and their lengths add up in squares."""
    guarantee = ask("SUM(SQRT(x^2 + (2 * x)^2))", *PLACES).measurements[0].guarantee
    assert guarantee.slope == pytest.approx(math.sqrt(5), rel=1e-9)


@pytest.mark.parametrize(
    ("term", "values"),
    [
        ("FLOOR(x / 7)", {0.0: 0, 6.9999: 0, 7.0: 1, 300.0: 42, 400.0: 42}),
        ("CEIL(x / 7)", {0.0: 0, 0.1: 1, 7.0: 1, 7.1: 2}),
        ("x % 7", {0.0: 0, 6.5: 6.5, 7.0: 0, 20.0: 6, 400.0: 300 % 7}),
        ("MOD(x - 10, 7)", {0.0: -3, 3.0: 0, 10.0: 0, 18.0: 1}),
        ("FLOOR(x) % 2", {0.5: 0, 1.5: 1, 299.0: 1}),
    ],
)
def test_whole_parts_and_remainders(term: str, values: dict[float, float]) -> None:
    question = ask(f"SUM({term})", *PLACES)
    found = whole_numbers(question, [[{"x": v}] for v in values], EXPONENT)
    assert [f * 2.0**EXPONENT for f in found] == pytest.approx(list(values.values()), abs=1e-8)
    model = [question.measurements[0].contribution.at({"x": v}) for v in values]
    assert model == pytest.approx(list(values.values()), abs=1e-8)


def test_a_remainder_within_one_period_moves_like_the_number() -> None:
    narrow = DeclaredColumn("x", bounds=(21, 27), missing=False)
    assert ask("SUM(x % 20)", narrow).measurements[0].guarantee.slopes["x"] == 1
    assert ask("SUM(x % 20)", narrow).measurements[0].guarantee.change == pytest.approx(6)
    assert ask("SUM(x % 5)", narrow).measurements[0].guarantee.change == pytest.approx(5)


@pytest.mark.parametrize(
    ("test", "kept"),
    [
        ("(x > 3) IS TRUE", [5.0]),
        ("(x > 3) IS NOT TRUE", [1.0, None]),
        ("(x > 3) IS FALSE", [1.0]),
        ("(x > 3) IS NOT FALSE", [5.0, None]),
        ("x IS DISTINCT FROM 5", [1.0, None]),
        ("x IS NOT DISTINCT FROM 5", [5.0]),
        ("x IS DISTINCT FROM NULL", [5.0, 1.0]),
        ("NOT (x IS NOT DISTINCT FROM y)", [1.0]),
    ],
)
def test_tests_that_are_never_unknown(test: str, kept: list[float | None]) -> None:
    columns = (DeclaredColumn("x", bounds=(0, 9)), DeclaredColumn("y", bounds=(0, 9)))
    question = ask(f"COUNT(*) FILTER (WHERE {test})", *columns)
    rows = [{"x": v, "y": None if v is None else 5.0} for v in (5.0, 1.0, None)]
    assert whole_numbers(question, [[row] for row in rows], 0) == [int(row["x"] in kept) for row in rows]
    contribution = question.measurements[0].contribution
    assert [contribution.at(row) for row in rows] == [float(row["x"] in kept) for row in rows]


def test_letters_of_any_size_need_levels() -> None:
    colour = DeclaredColumn("c", levels=("Black", "blue", "red"))
    question = ask("COUNT(*) FILTER (WHERE c NOT ILIKE 'B%')", colour)
    assert whole_numbers(question, [[{"c": v}] for v in ("Black", "blue", "red", None)], 0) == [0, 0, 1, 0]
    with pytest.raises(QueryError, match="depends on the database"):
        ask("COUNT(*) FILTER (WHERE c ILIKE 'B%')", DeclaredColumn("c"))


@pytest.mark.parametrize(("kind", "shown"), [("DOUBLE", "{}"), ("VARCHAR", "'{}'"), ("DECIMAL(9,2)", "{}")])
def test_a_group_of_numbers_is_the_level_that_it_equals(kind: str, shown: str) -> None:
    """1 may be stored as 1.0, and −0 is 0: which level a number is, is looked up once a group."""
    key = DeclaredColumn("k", levels=("0", "1", "2.5"), kind="number")
    question = analyze("SELECT k, COUNT(*) AS n FROM t GROUP BY k", DeclaredTable("t", {"k": key}, RECORDS))
    rewritten = rewrite(question, [0], find_target("duckdb", {"k": kind}))
    values = ("0", "-0.0", "0.0", "1", "1.00", "2.50", "7")
    with duckdb.connect(":memory:") as con:
        con.execute(f"CREATE TABLE t (k {kind})")
        for value in values:
            con.execute(f"INSERT INTO t VALUES ({shown.format(value)})")
        found = rewritten.read(con.execute(rewritten.sql).fetchall())
    assert {group: cells[0][0] for group, cells in found.items()} == {("0",): 3, ("1",): 2, ("2.5",): 1}
