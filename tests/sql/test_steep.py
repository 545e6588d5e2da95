"""Extremes whose noise follows the data: two neighbours are never told apart better than their distance allows.

The law is checked on densities: whatever comes out, the logarithms of its likelihoods under two tables that differ in
one record differ by no more than (ε/S)·W·|ψ − ψ'|, W the largest weight, plus what rounding adds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pytest

from guessproof.errors import QueryError
from guessproof.guarantee.unit import RECORDS
from guessproof.mechanisms.cauchy import Cauchy
from guessproof.noise import BETAS, FollowingNoise, noise_for
from guessproof.sql import DeclaredColumn, DeclaredTable, analyze
from guessproof.sql.aggregates.steep import CLASSES, SteepContribution, flattened, steepened
from guessproof.sql.measurement import Measurement
from guessproof.sql.rewrite import find_target, rewrite

COLUMNS = {
    "x": DeclaredColumn("x", bounds=(0, 100), missing=False),
    "y": DeclaredColumn("y", bounds=(0, 50), missing=False),
    "speed": DeclaredColumn("speed", bounds=(20, 80), protected=False),
    "share": DeclaredColumn("share", bounds=(-1, 2), protected=False),
    "port": DeclaredColumn("port", levels=("a", "b"), protected=False),
}
SMOOTH = DeclaredTable("t", COLUMNS, rows=6, smooth=True)
# The query, ψ and the largest |w|.
CASES = {
    "SELECT MIN(x / speed) AS m FROM t": (lambda r: r["x"], 1 / 20),
    "SELECT MAX(x / speed) AS m FROM t": (lambda r: r["x"], 1 / 20),
    "SELECT MIN(share * (x + y) / speed + share) AS m FROM t": (lambda r: r["x"] + r["y"], 2 / 20),
    "SELECT MAX(-(x * 3) / speed) AS m FROM t": (lambda r: 3 * r["x"], 1 / 20),
    "SELECT MIN(SQRT(x * x + y * y) / speed) AS m FROM t": (lambda r: math.hypot(r["x"], r["y"]), 1 / 20),
}


def measured(sql: str, declared: DeclaredTable = SMOOTH) -> Measurement:
    (found,) = analyze(sql, declared).measurements
    return found


def drawn(rng: np.random.Generator) -> dict[str, Any]:
    wide = rng.random() < 0.5
    return {
        "x": float(rng.uniform(0, 100) if wide else rng.choice([0.0, 1.0, 100.0, 99.0])),
        "y": float(rng.uniform(0, 50)),
        "speed": float(rng.choice([20.0, 21.0, 40.0, 79.0, 80.0])),
        "share": float(rng.choice([-1.0, 0.0, 1e-4, 0.5, 2.0])),
        "port": str(rng.choice(["a", "b"])),
    }


def classed(noise: FollowingNoise, rows: Sequence[dict[str, Any]]) -> list[int | None]:
    """What an engine tells: the extreme of each class, in grid steps."""
    steep = noise.measurement.contribution
    assert isinstance(steep, SteepContribution)
    end = max if noise.measurement.kind == "max" else min
    found: list[int | None] = [None] * CLASSES
    for row in rows:
        value, weight = steep.term.at(row), steep.weights.at(row)
        assert value is not None
        assert weight is not None
        place, unit = steep.classes.place(weight), noise.grid.units(value)
        known = found[place]
        found[place] = unit if known is None else end(known, unit)
    return found


def law(noise: FollowingNoise, rows: Sequence[dict[str, Any]]) -> tuple[float, Cauchy]:
    """The centre of the answers and their noise."""
    found, largest = classed(noise, rows), noise.measurement.kind == "max"
    values = [None if unit is None else noise.grid.value(unit) for unit in found]
    known = [v for v in values if v is not None]
    scale = noise.scale_of(values, largest)
    made = noise.mechanism
    assert isinstance(made, Cauchy)
    unit = replace(made, sensitivity=made.sensitivity * scale / made.scale)
    assert unit.scale == pytest.approx(scale, rel=1e-12)
    return (max(known) if largest else min(known)), unit


def told_apart(one: tuple[float, Cauchy], other: tuple[float, Cauchy]) -> float:
    """The most by which the logarithms of two densities differ, over outputs near and far."""
    spread = np.concatenate([-np.geomspace(1e6, 1e-7, 900), np.geomspace(1e-7, 1e6, 900)])
    outputs = np.concatenate([m + noise.scale * spread for m, noise in (one, other)])
    logs = [noise.log_density(np.abs(outputs - m)) - math.log(noise.scale) for m, noise in (one, other)]
    return float(np.max(np.abs(logs[0] - logs[1])))


@pytest.mark.parametrize("share", [None, BETAS[0]])
@pytest.mark.parametrize("epsilon", [0.7, 40.0, 900.0])
@pytest.mark.parametrize("sql", CASES)
def test_no_output_tells_neighbours_further_apart_than_their_distance(
    sql: str, epsilon: float, share: float | None
) -> None:
    psi, largest = CASES[sql]
    noise = noise_for(measured(sql), epsilon)
    assert isinstance(noise, FollowingNoise)
    if share is not None:  # a scale that falls as fast as it may
        most = noise.mechanism.sensitivity
        noise = replace(noise, mechanism=Cauchy.following(most, epsilon, share=share, confidence=0.95))
    rng, tightest = np.random.default_rng(16), 0.0
    for _ in range(40):
        rows = [drawn(rng) for _ in range(int(rng.integers(1, 6)))]
        moved = {**rows[0], "x": drawn(rng)["x"], "y": drawn(rng)["y"]}
        if rng.random() < 0.5:  # a short way is where slopes count
            moved = {**rows[0], "x": min(100.0, rows[0]["x"] + float(rng.choice([1e-3, 0.1, 1.0])))}
        distance = largest * abs(psi(rows[0]) - psi(moved))
        allowed = epsilon * distance / noise.mechanism.sensitivity + noise.step
        found = told_apart(law(noise, rows), law(noise, [moved, *rows[1:]]))
        assert found <= allowed * (1 + 1e-9) + 1e-9
        tightest = max(tightest, found / allowed)
    assert tightest > 0.3  # the bound is a use of what is allowed, not of a part


def test_weights_are_what_the_declaration_allows() -> None:
    steep = measured("SELECT MIN(share * x / speed) AS m FROM t").contribution
    assert isinstance(steep, SteepContribution)
    assert steep.largest == pytest.approx(0.1, rel=1e-8)
    assert steep.largest < 0.1
    assert steep.ratio(CLASSES - 1) == 1.0
    for weight in np.geomspace(1e-6, 0.2, 500):
        place = steep.classes.place(float(weight))
        assert steep.ratio(place) >= min(1.0, weight / 0.1)


@pytest.mark.parametrize("sql", CASES)
def test_noise_is_likely_smaller_and_at_worst_what_is_stated(sql: str) -> None:
    noise = noise_for(measured(sql), 40.0)
    assert isinstance(noise, FollowingNoise)
    rng = np.random.default_rng(4)
    for _ in range(50):
        centre, law_of = law(noise, [drawn(rng) for _ in range(5)])
        assert math.isfinite(centre)
        assert law_of.scale <= noise.scale * (1 + 1e-12)
    assert noise.likely_error(0.95) < noise.error(0.95)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_engines_find_the_extreme_of_each_class_as_the_model_does(dialect: str, request: pytest.FixtureRequest) -> None:
    con: Any = request.getfixturevalue("postgres").con if dialect == "postgres" else duckdb.connect()
    types = {"x": "double precision", "y": "double precision", "speed": "double precision", "share": "double precision"}
    con.execute(f"CREATE TABLE t ({', '.join(f'{n} {kind}' for n, kind in types.items())}, port text)")
    rng = np.random.default_rng(9)
    rows = [drawn(rng) for _ in range(40)]
    mark = "%s" if dialect == "postgres" else "?"
    for row in rows:
        con.execute(f"INSERT INTO t VALUES ({', '.join([mark] * 5)})", [row[n] for n in (*types, "port")])
    con.execute("INSERT INTO t VALUES (1, 1, NULL, 1, 'a')")  # whose weight nobody knows has no place
    stored = (
        {**types, "port": "text"} if dialect == "postgres" else {**dict.fromkeys(types, "DOUBLE"), "port": "VARCHAR"}
    )
    target = find_target(dialect, stored)
    for sql in CASES:
        grouped = sql.replace(" AS m FROM t", " AS m, MIN(x / speed) FILTER (WHERE port = 'a') AS of_a, port FROM t")
        question = analyze(f"{grouped} GROUP BY port", SMOOTH)
        noises = [noise_for(m, 40.0) for m in question.measurements]
        rewritten = rewrite(question, [n.grid.exponent for n in noises], target)
        found = rewritten.run(lambda text: con.execute(text).fetchall())
        for port in ("a", "b"):
            own = [row for row in rows if row["port"] == port]
            for index, noise in enumerate(noises):
                assert isinstance(noise, FollowingNoise)
                expected = classed(noise, own if index == 0 or port == "a" else [])
                if (port,) not in found or all(unit is None for unit in expected):
                    assert found[port,][index][0] is None
                    continue
                told = found[port,][index][0]
                assert [u is None for u in told] == [u is None for u in expected]
                pairs = [(a, b) for a, b in zip(told, expected, strict=True) if b is not None]
                assert all(abs(a - b) <= 4 + 1e-12 * abs(b) for a, b in pairs)  # the last bits of a double


@pytest.mark.parametrize(
    ("sql", "declared", "reason"),
    [
        ("SELECT MIN(x) AS m FROM t", SMOOTH, "every row moves it alike"),
        ("SELECT MIN(x / speed) AS m FROM t WHERE y > 3", SMOOTH, "whether a row counts"),
        ("SELECT MIN(POWER(x + speed, 2) / speed) AS m FROM t", SMOOTH, "both a weight and inside"),
        ("SELECT MIN(x / speed) AS m FROM t", replace(SMOOTH, unit=RECORDS), "comes or goes"),
        ("SELECT MIN(x / speed) AS m FROM t", replace(SMOOTH, linked=2), "tell of each other"),
        ("SELECT MAX(share * x) AS m FROM t", replace(SMOOTH, copies=2), "in several rows"),
        (
            "SELECT MIN(x / speed) AS m FROM t",
            replace(SMOOTH, columns={**COLUMNS, "x": DeclaredColumn("x", bounds=(0, 100))}),
            "missing values included",
        ),
    ],
)
def test_refused_where_rows_come_and_go_or_move_alike(sql: str, declared: DeclaredTable, reason: str) -> None:
    with pytest.raises(QueryError, match=reason):
        analyze(sql, declared)


def test_the_two_ways_have_one_guarantee() -> None:
    sql = "SELECT MIN(x / speed) AS m FROM t"
    steep, plain = measured(sql), measured(sql, replace(SMOOTH, smooth=False))
    assert steep.guarantee == plain.guarantee == flattened(steep).guarantee
    again = steepened(plain)
    assert again is not None
    assert again.contribution == steep.contribution
    assert steepened(measured("SELECT MIN(x) AS m FROM t", replace(SMOOTH, smooth=False))) is None
