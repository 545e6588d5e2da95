"""Quantiles: exact distributions of neighbours against the guarantee, the model against the engine."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from guessproof.guarantee import unit_named
from guessproof.mechanisms.sampling import pick
from guessproof.mechanisms.selection import Selection
from guessproof.noise import noise_for
from guessproof.sql import AnalyzedQuery, DeclaredColumn, DeclaredTable, analyze, find_target, rewrite
from guessproof.sql.places import Aim, PlaceGrid, RankContribution, grid_of_steps
from sql.running import run

SCALE = 1.5
PLACES = 4
AIMS = [Aim(Fraction(1, 2)), Aim(Fraction(1, 10)), Aim(Fraction(3, 4)), Aim(Fraction(1), -2), Aim(Fraction(0), 1)]


def chances(aim: Aim, counts: Any, scale: float = SCALE) -> Any:
    """The exact probability of every value."""
    parts = aim.level.denominator
    return Selection(scale, 1.0, len(counts)).chances([s / parts for s in aim.scores(tuple(counts))])


def tables(most: int) -> list[tuple[int, ...]]:
    """Every way in which up to so many records stand at the places."""
    return [c for c in itertools.product(range(most + 1), repeat=PLACES) if sum(c) <= most]


def furthest(aim: Aim, most: int = 5) -> tuple[Any, float]:
    """places × places: the largest change of ln P by a move from one to another; and by coming."""
    moved, came = np.zeros((PLACES, PLACES)), 0.0
    for others in tables(most):
        alone = np.log(chances(aim, others))
        there = [np.log(chances(aim, np.add(others, np.eye(PLACES, dtype=int)[k]))) for k in range(PLACES)]
        came = max(came, *(float(np.abs(t - alone).max()) for t in there))
        for i, j in itertools.combinations(range(PLACES), 2):
            moved[i, j] = moved[j, i] = max(moved[i, j], float(np.abs(there[i] - there[j]).max()))
    return moved, came


@pytest.mark.parametrize("aim", AIMS)
def test_no_neighbours_are_told_apart_better_than_promised_and_some_as_well(aim: Aim) -> None:
    moved, came = furthest(aim)
    apart = np.minimum(np.abs(np.subtract.outer(range(PLACES), range(PLACES))), 2)
    assert (moved * SCALE <= apart + 1e-9).all()
    assert came * SCALE <= aim.presence + 1e-9
    assert moved[0, 1] * SCALE > 0.99  # what is promised is needed


@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(1, 10), Fraction(3, 4)])
def test_on_a_wide_grid_all_that_is_promised_is_needed(level: Fraction) -> None:
    """Half of it would be broken, and min(α, 1 − α) in place of max."""
    places, aim = 400, Aim(level)
    for first in (False, True):  # one value on one side of the quantile, all others on the other
        counts = [0] * places
        total, middle = 400, 2 if not first else places - 3
        counts[0], counts[middle] = int(level * total) - 2, 4
        counts[-1] = total - sum(counts)
        told = {}
        for name, place in (("none", None), ("low", 0), ("high", places - 1)):
            with_him = [c + (k == place) for k, c in enumerate(counts)]
            told[name] = np.log(chances(aim, with_him))
        moved = np.abs(told["low"] - told["high"]).max() * SCALE
        came = max(np.abs(told[end] - told["none"]).max() for end in ("low", "high")) * SCALE
        assert moved <= 2 + 1e-9
        assert came <= aim.presence + 1e-9
        if not first:
            assert moved > 1.9
            assert came > 0.9 * aim.presence


def test_the_sampler_follows_the_exact_law() -> None:
    scores = [0, -1, -1, -4, -9]
    law, draws = Selection(2.0, 1.0, 5).chances(scores), 3000
    seen = np.bincount([pick(2.0, scores) for _ in range(draws)], minlength=5)
    statistic = float(((seen - draws * law) ** 2 / (draws * law)).sum())
    assert statistic < 40  # four degrees of freedom: p < 1e-7


def test_the_error_is_that_of_the_worst_scores() -> None:
    noise = Selection(2.0, 1.0, 101)
    error = noise.error(confidence=0.95)
    assert error <= 15.3  # what the exponential mechanism would need: 2·ln(101 / 0.05)
    worst = noise.chances([0.0] + [-error] * 100)
    assert 1 - worst[0] == pytest.approx(0.05, abs=1e-9)
    rng = np.random.default_rng(7)
    for _ in range(50):
        scores = -rng.exponential(error, 101) * rng.integers(0, 2, 101)
        scores[rng.integers(101)] = 0.0
        assert noise.chances(scores)[scores < -error].sum() <= 0.05 + 1e-9


def test_a_target_in_ranks_is_met_and_no_more() -> None:
    epsilon = Selection.epsilon_for(sensitivity=2, within=10, confidence=0.9, candidates=21)
    assert Selection(2, epsilon, 21).error(confidence=0.9) <= 10 * (1 + 1e-12)
    assert Selection(2, epsilon * 0.999, 21).error(confidence=0.9) > 10


COLUMNS = {
    "x": DeclaredColumn("x", bounds=(-1, 2), step=0.1),
    "w": DeclaredColumn("w", bounds=(0, 5), step=1, missing=False),
    "l": DeclaredColumn("l", levels=("1", "2.5", "10"), kind="number"),
    "c": DeclaredColumn("c", levels=("a", "b")),
    "g": DeclaredColumn("g", levels=("u", "v"), protected=False),
}
DECLARED = DeclaredTable("t", COLUMNS)
TYPES = {"x": "DOUBLE", "w": "DOUBLE", "l": "DOUBLE", "c": "VARCHAR", "g": "VARCHAR"}
ARROW = {n: pa.string() if kind == "VARCHAR" else pa.float64() for n, kind in TYPES.items()}
QUERIES = [
    "SELECT MEDIAN(x) AS q FROM t",
    "SELECT QUANTILE(w, 0.9) AS q FROM t WHERE c = 'a'",
    "SELECT PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY l DESC) AS q FROM t WHERE x > 0",
    "SELECT g, MEDIAN(l) FILTER (WHERE w > 1) AS q, QUANTILE(l, 0.1) FILTER (WHERE w > 1) AS r FROM t GROUP BY g",
    "SELECT MEDIAN(ROUND(w * 2)) AS q, COUNT(*) FILTER (WHERE c = 'b') AS n FROM t",
]


def hard_numbers(grid: PlaceGrid) -> list[float]:
    """Cuts, what lies just above and below, and beyond every bound."""
    near = [v for cut in grid.cuts for v in (cut, math.nextafter(cut, -9.0), math.nextafter(cut, 9e9))]
    return [*near, *grid.values, -math.inf, math.inf, math.nan, 5e-324, -0.0]


def rows_of(question: AnalyzedQuery, count: int, seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    grids = [m.contribution.grid for m in question.measurements if isinstance(m.contribution, RankContribution)]
    pool = [None, *(v for grid in grids for v in hard_numbers(grid)), 0.0, 1.0, 2.0, 3.0]

    def one(name: str) -> Any:
        values: list[Any] = pool if ARROW[name] == pa.float64() else [None, "a", "b", "u", "v", "z"]
        return values[int(rng.integers(len(values)))]

    return [{name: one(name) for name in TYPES} for _ in range(count)]


def model(question: AnalyzedQuery, rows: list[dict[str, Any]], index: int) -> dict[tuple[str, ...], tuple[int, ...]]:
    """What the engine has to count, by plain arithmetic."""
    contribution: Any = question.measurements[index].contribution
    found: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        group = tuple(str(row[k.column]) for k in question.keys)
        place = contribution.term.at(row) if contribution.condition.at(row) else None
        if place is not None and all(row[k.column] in k.levels for k in question.keys):
            found.setdefault(group, [0] * len(contribution.grid.values))[int(place)] += 1
    return {group: tuple(counts) for group, counts in found.items()}


def check_counts(question: AnalyzedQuery, rows: list[dict[str, Any]], found: dict[Any, list[Any]]) -> None:
    for index, measurement in enumerate(question.measurements):
        if measurement.picks:
            counted = {g: cells[index][0] for g, cells in found.items() if cells[index][0] is not None}
            assert counted == model(question, rows, index)


@pytest.mark.parametrize("sql", QUERIES)
def test_duckdb_counts_every_place_as_the_model_does(sql: str) -> None:
    question = analyze(sql, DECLARED)
    rewritten = rewrite(question, [0] * len(question.measurements), find_target("duckdb", TYPES))
    for seed in range(3):
        rows = rows_of(question, 400, seed)
        check_counts(question, rows, rewritten.run(lambda text, rows=rows: run(text, rows, ARROW)))


def test_postgres_counts_every_place_as_the_model_does(postgres: Any) -> None:
    types = {n: "double precision" if kind == "DOUBLE" else "text" for n, kind in TYPES.items()}
    columns = ", ".join(f'"{n}" {kind}' for n, kind in types.items())
    for sql in QUERIES:
        question = analyze(sql, DECLARED)
        rows = rows_of(question, 300, 5)
        postgres.con.execute("DROP TABLE IF EXISTS t")
        postgres.con.execute(f"CREATE TABLE t ({columns})")
        with postgres.con.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO t VALUES (%s, %s, %s, %s, %s)", [tuple(row[n] for n in types) for row in rows]
            )
        rewritten = rewrite(question, [0] * len(question.measurements), find_target("postgres", types))
        check_counts(question, rows, rewritten.run(lambda text: postgres.con.execute(text).fetchall()))


@pytest.mark.parametrize("unit", ["values", "records"])
@pytest.mark.parametrize("sql", QUERIES)
def test_no_form_of_the_guarantee_is_below_what_neighbours_do(sql: str, unit: str) -> None:
    declared = DeclaredTable("t", COLUMNS, unit_named(unit))
    question = analyze(sql, declared)
    rng = np.random.default_rng(3)
    for index, measurement in enumerate(question.measurements):
        if not measurement.picks:
            continue
        aim, guarantee = measurement.contribution.aim, measurement.guarantee  # type: ignore[attr-defined]
        for turn in range(60):
            others = rows_of(question, int(rng.integers(0, 6)), turn)
            before, after = rows_of(question, 2, 1000 + turn)
            after["g"] = before["g"] if unit == "values" else after["g"]
            told = [exact_logs(question, [*others, *more], index, aim) for more in ([before], [after], [])]
            moved = distance(told[0], told[1]) * SCALE
            secret = {n: v for n, v in before.items() if declared.column(n).protected}
            assert moved <= guarantee.change + 1e-9
            if before["g"] == after["g"]:
                assert moved <= guarantee.between(secret, {n: after[n] for n in secret}) + 1e-9
            if unit == "records":
                assert distance(told[0], told[2]) * SCALE <= guarantee.presence + 1e-9
            for name in ("x", "w", "l"):
                if name in guarantee.columns and isinstance(before[name], float) and not math.isnan(before[name]):
                    other = rows_of(question, 1, 2000 + turn)[0][name]
                    if isinstance(other, float) and not math.isnan(other):
                        changed = exact_logs(question, [*others, {**before, name: other}], index, aim)
                        allowed = float(guarantee.columns[name].distance(before[name], other))
                        assert distance(told[0], changed) * SCALE <= allowed + 1e-9


def exact_logs(question: AnalyzedQuery, rows: list[dict[str, Any]], index: int, aim: Aim) -> dict[Any, Any]:
    counted = model(question, rows, index)
    groups = [tuple(g) for g in itertools.product(*(k.levels for k in question.keys))]
    width = len(question.measurements[index].contribution.grid.values)  # type: ignore[attr-defined]
    return {g: np.log(chances(aim, counted.get(g, (0,) * width))) for g in groups}


def distance(one: dict[Any, Any], other: dict[Any, Any]) -> float:
    """Over all groups, whose answers are drawn independently."""
    return math.fsum(float(np.abs(one[g] - other[g]).max()) for g in one)


def test_the_promised_numbers() -> None:
    ages = DeclaredTable("t", {"age": DeclaredColumn("age", bounds=(0, 100), step=1, missing=False)})
    noise = noise_for(analyze("SELECT MEDIAN(age) FROM t", ages).measurements[0], 1.0)
    assert (noise.scale, noise.unit) == (2.0, "ranks")
    assert noise.error(0.95) == pytest.approx(13.7478, abs=1e-4)
    secret = DeclaredTable("t", ages.columns, unit_named("records"))
    found = analyze("SELECT QUANTILE(age, 0.9) FROM t", secret).measurements[0].guarantee
    assert (found.change, round(found.presence, 12)) == (2.0, 1.8)
    copied = DeclaredTable("t", ages.columns, copies=3)
    assert analyze("SELECT MEDIAN(age) FROM t", copied).measurements[0].guarantee.change == 6.0


def test_a_grid_that_is_off_by_one_place_is_seen() -> None:
    grid = PlaceGrid((0.0, 1.0, 2.0), 1.0)
    near = (-5.0, 0.5, math.nextafter(0.5, 1), math.nextafter(1.5, 0), 1.5, 9.0)
    assert [grid.place(x) for x in near] == [0, 0, 1, 1, 2, 2]
    assert Aim(Fraction(1, 2)).scores((3, 1, 0)) == [0, -2, -4]
    assert Aim(Fraction(9, 10)).scores((9, 1, 0)) == [0, 0, -10]


def test_a_place_rises_with_the_number_and_its_cuts_are_exact() -> None:
    rng = np.random.default_rng(11)
    for _ in range(40):
        step = Fraction(repr(float(rng.choice([0.1, 0.25, 1 / 3, 1.0, 7.0, 1e-3, 1e6]))))
        low = Fraction(repr(float(rng.choice([0.0, -1.0, 0.1, -1e9, 12345.678]))))
        grid = grid_of_steps(low, low + step * int(rng.integers(1, 40)), step)
        if not grid.is_sound:
            continue
        assert [grid.place(value) for value in grid.values] == [*range(len(grid.values))]
        for k, cut in enumerate(grid.cuts):
            assert (grid.place(cut), grid.place(math.nextafter(cut, math.inf))) == (k, k + 1)
        drawn = sorted(map(float, rng.uniform(grid.values[0] - 1, grid.values[-1] + 1, 200)))
        places = [grid.place(x) for x in drawn]
        assert places == sorted(places) == [bisect_left(grid.cuts, x) for x in drawn]
