"""Releases: the answer, the charge, the order of things, and what never gets out."""

from __future__ import annotations

import json
import math
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from guessproof.choosing import choose
from guessproof.engines import open_engine
from guessproof.engines.duckdb import DuckDB
from guessproof.errors import (
    BudgetError,
    EngineError,
    InfeasibleError,
    LedgerError,
    ParameterError,
    RowsError,
    SourceError,
)
from guessproof.mechanisms.gaussian import Gaussian, gdp_delta
from guessproof.mechanisms.sampling import sampler
from guessproof.plan import loads_plan
from guessproof.releasing import Answer, add_noise, prepare_query, release, request_digest, run
from guessproof.writing import write_answers
from releasing.tables import ROWS, budget, plan, table

# Missing and NaN times are no times, and 200 lies outside the bounds of nobody.
PLAIN = [
    "SELECT COUNT(*) AS y FROM t",
    "SELECT COUNT(time) AS y FROM t",
    "SELECT COUNT(*) AS y FROM t WHERE time > 15",
    "SELECT COUNT(*) AS y FROM t WHERE NOT time > 15",
    "SELECT COUNT(*) AS y FROM t WHERE smoker",
    "SELECT COUNT(*) AS y FROM t WHERE faculty IN ('math', 'cs') AND age BETWEEN 20 AND 45",
    "SELECT COUNT(*) AS y FROM t WHERE faculty IS NULL OR smoker IS NULL",
    "SELECT SUM(time) AS y FROM t",
    "SELECT SUM(time) AS y FROM t WHERE faculty LIKE 'm%'",
    "SELECT SUM(time * age / 60) AS y FROM t",
    "SELECT SUM(CASE WHEN age > 40 THEN time ELSE 1 END) AS y FROM t WHERE time IS NOT NULL",
    "SELECT SUM(COALESCE(time, 7)) AS y FROM t",
    "SELECT SUM(ROUND(time)) AS y FROM t",
    "SELECT AVG(time) AS y FROM t",
    "SELECT MIN(age) AS y FROM t WHERE faculty = 'math'",
    "SELECT MAX(SQRT(time + 1)) AS y FROM t",
    "SELECT MAX(LEAST(time, age)) AS y FROM t",
    "SELECT SUM(time) FILTER (WHERE smoker) AS y FROM t",
    "SELECT SUM(time) / COUNT(*) + 1 AS y FROM t",
    "WITH a AS (SELECT time * 2 AS double, faculty FROM t WHERE age > 20) SELECT SUM(double) AS y FROM a",
]


def _plain(folder: Path, sql: str) -> float:
    with duckdb.connect(str(folder / "t.duckdb"), read_only=True) as con:
        cleaned = "(SELECT id, CASE WHEN NOT isnan(time) THEN time END AS time, age, faculty, smoker FROM t)"
        found = con.execute(sql.replace("FROM t", f"FROM {cleaned} AS t")).fetchone()
    assert found is not None
    return float(found[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table(tmp_path)
    budget(tmp_path)
    return tmp_path


@pytest.mark.parametrize("sql", PLAIN)
def test_with_hardly_any_noise_the_answer_is_the_plain_one(folder: Path, sql: str) -> None:
    answer = release(plan(folder, sql))
    assert answer.value == pytest.approx(_plain(folder, sql), abs=0.02)


@pytest.mark.parametrize("form", ["csv", "parquet", "duckdb"])
def test_every_kind_of_file_gives_the_same(tmp_path: Path, form: str) -> None:
    source = table(tmp_path, form)
    budget(tmp_path)
    rows = "SELECT faculty, COUNT(*) AS n, SUM(time) AS s FROM t GROUP BY faculty ORDER BY n DESC, faculty"
    answer = release(plan(tmp_path, rows, source=source))
    shown = {(a.group["faculty"], a.name): a.value for a in answer.answers}
    truth = {"math": (3, 68.5), "cs": (2, 5.25), "law": (2, 0.0), "art": (0, 0.0)}
    assert list(shown) == [(faculty, name) for faculty in ("math", "cs", "law", "art") for name in ("n", "s")]
    for faculty, (count, total) in truth.items():
        assert shown[faculty, "n"] == count
        assert shown[faculty, "s"] == pytest.approx(total, abs=0.02)


def test_groups_that_nobody_is_in_get_noise_too(folder: Path) -> None:
    sql = "SELECT faculty, COUNT(*) AS n FROM t GROUP BY faculty"
    seen = {release(plan(folder, sql, epsilon=0.1 + k * 1e-6)).answers[3].value for k in range(12)}
    assert len(seen) > 3
    answer = release(plan(folder, sql, epsilon=0.05))
    assert [a.group["faculty"] for a in answer.answers] == ["math", "law", "cs", "art"]


def test_having_order_and_limit_act_on_the_noisy_numbers(folder: Path) -> None:
    sql = "SELECT faculty, COUNT(*) AS n FROM t GROUP BY faculty HAVING n > 1.5 ORDER BY n DESC LIMIT 2"
    assert next(a.group["faculty"] for a in release(plan(folder, sql)).answers) == "math"
    assert len(release(plan(folder, sql)).answers) == 2


def test_nothing_matches(folder: Path) -> None:
    """COUNT and SUM have noise around 0, never an exact NULL; an average stays inside the bounds."""
    for sql, low, high in (
        ("SELECT COUNT(*) AS y FROM t WHERE age > 98", -1e-9, 1e-9),
        ("SELECT SUM(time) AS y FROM t WHERE age > 98", -0.01, 0.01),
        ("SELECT AVG(time) AS y FROM t WHERE age > 98", 0, 120),
        ("SELECT MIN(time) AS y FROM t WHERE age > 98", 119.9, 120.1),
        ("SELECT MAX(time) AS y FROM t WHERE age > 98", -0.1, 0.1),
    ):
        value = release(plan(folder, sql)).value
        assert value is not None
        assert low <= value <= high, sql


def test_averages_of_noisy_counts_stay_finite_and_inside(folder: Path) -> None:
    for k in range(30):
        value = release(plan(folder, "SELECT AVG(time) AS y FROM t WHERE age > 90", epsilon=0.01 + k * 1e-5)).value
        assert value is not None
        assert 0 <= value <= 120


def test_a_stated_error_reaches_both_ends_of_an_interval(folder: Path) -> None:
    """The interval of a root is wider below: the error is the wider side."""
    found = release(plan(folder, "SELECT SQRT(SUM(time)) AS y FROM t", epsilon=20)).answers[0]
    assert found.value is not None
    assert found.error is not None
    assert found.low is not None
    assert found.high is not None
    below, above = found.value - found.low, found.high - found.value
    assert abs(below - above) > 1e-9
    assert found.error == max(below, above)


def test_a_root_of_a_noisy_number_below_0_is_none_without_an_error(folder: Path) -> None:
    """Noise around 0 is negative every other time: the answer is recorded all the same, and its JSON is valid."""
    drawn = [
        release(plan(folder, "SELECT SQRT(SUM(time)) AS y FROM t WHERE age > 98", epsilon=1 + k * 1e-5)).answers[0]
        for k in range(20)
    ]
    assert any(found.value is None for found in drawn)
    assert all(found.error is None for found in drawn if found.value is None)
    assert all(found.error is not None and found.error >= 0 for found in drawn if found.value is not None)


def test_counts_are_whole_numbers(folder: Path) -> None:
    for k in range(10):
        value = release(plan(folder, "SELECT COUNT(*) AS y FROM t", epsilon=0.3 + k * 1e-5)).value
        assert value == math.floor(value or 0.5)


def _drawn(folder: Path, sql: str, epsilon: float, trials: int) -> list[Answer]:
    """Many draws on what the engine says once: the way of a release without its ledger."""
    choice = choose(plan(folder, sql, epsilon=epsilon))
    with open_engine(choice.plan.source, "t") as engine:
        rewritten = prepare_query(engine, choice.question, [n.grid.exponent for n in choice.noises])
        found = rewritten.read(engine.aggregates(rewritten.sql))
    return [add_noise(choice, {"": found}) for _ in range(trials)]


def test_the_error_holds_as_often_as_it_says(folder: Path) -> None:
    truth, answers = _plain(folder, PLAIN[7]), _drawn(folder, PLAIN[7], 0.5, 2000)
    misses = sum(abs((a.value or 0) - truth) > (a.answers[0].error or 0) for a in answers)
    assert 55 <= misses <= 155  # 100 expected; outside with probability below 1e-6


def test_noise_has_the_scale_that_is_charged(folder: Path) -> None:
    """The mean absolute error of Laplace noise is its scale (five standard errors)."""
    truth, answers = _plain(folder, PLAIN[7]), _drawn(folder, PLAIN[7], 2.0, 4000)
    errors = [abs((a.value or 0) - truth) for a in answers]
    assert answers[0].noise_scale == pytest.approx(60, rel=1e-6)
    assert np.mean(errors) == pytest.approx(60, abs=5 * 60 / math.sqrt(len(errors)))


@pytest.mark.parametrize("mechanism", ["laplace", "geometric", "gaussian"])
@pytest.mark.parametrize("epsilon", [0.013, 1.0, 40.0])
def test_the_sampler_s_own_account_agrees_with_the_charge(folder: Path, mechanism: str, epsilon: float) -> None:
    """OpenDP's privacy map of the very measurement that draws, at the most that one record does: no statistics."""
    sql = PLAIN[2] if mechanism == "geometric" else PLAIN[9]
    delta = "delta = 1e-6\n" if mechanism == "gaussian" else ""
    text = f"mechanism = '{mechanism}'\n{delta}"
    noise = choose(plan(folder, sql, text, epsilon=epsilon)).noises[0]
    source = sampler(noise.mechanism, noise.grid)
    most = noise.measurement.per_answer.sensitivity * noise.measurement.divisor / noise.grid.step
    if isinstance(noise.mechanism, Gaussian):
        rho = source.measurement.map(most)
        assert rho == pytest.approx(noise.mechanism.mu**2 / 2, rel=1e-6)
        assert noise.cost[1] >= gdp_delta(noise.mechanism.mu, noise.cost[0])
        assert 1e-6 * (1 - 1e-5) <= noise.cost[1] <= 1e-6  # fits a budget of δ = 1e-6
    else:
        charged = source.measurement.map(math.ceil(most))
        assert charged <= noise.cost[0] * (1 + 1e-12)
        assert charged == pytest.approx(epsilon, rel=1e-6)


def test_the_same_request_is_answered_from_the_ledger(folder: Path) -> None:
    asked = plan(folder, PLAIN[0], epsilon=0.5)
    first, second = release(asked), release(asked)
    assert (first.value, first.replayed, second.replayed) == (second.value, False, True)
    assert first.remaining == second.remaining
    commented = plan(folder, PLAIN[0], "# a remark", epsilon=0.5)
    assert release(commented).replayed
    assert not release(plan(folder, PLAIN[0], epsilon=0.5000001)).replayed


def test_a_request_that_another_process_paid_meanwhile_is_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = plan(folder, PLAIN[0], epsilon=0.5)
    first = release(asked)
    monkeypatch.setattr(run, "_find_settled", lambda *_: None)  # it was not there when this process looked
    again = release(asked)
    assert again.replayed
    assert again.value == first.value


def test_a_request_is_its_plan_and_nothing_that_is_computed_from_it(folder: Path) -> None:
    """A version that chooses another noise for the same plan gives the answer that was paid for, not a second one."""
    asked = plan(folder, PLAIN[7], epsilon=0.5)
    choice, other = choose(asked), choose(plan(folder, PLAIN[7], epsilon=0.6))
    assert request_digest(asked, choice) == request_digest(asked, replace(choice, noises=other.noises))
    assert request_digest(asked, choice) != request_digest(other.plan, other)
    limited = replace(choice, binding="budget", epsilon=0.25)  # a choice that the plan alone does not decide on
    assert len({request_digest(asked, c) for c in (choice, limited, replace(limited, epsilon=0.125))}) == 3


def test_a_budget_is_kept_and_refusals_cost_nothing(tmp_path: Path) -> None:
    table(tmp_path)
    budget(tmp_path, "1.0")
    release(plan(tmp_path, PLAIN[0], epsilon=0.7))
    with pytest.raises(BudgetError, match="left"):
        release(plan(tmp_path, PLAIN[1], epsilon=0.4))
    release(plan(tmp_path, PLAIN[1], epsilon=0.3))
    with pytest.raises(BudgetError):
        release(plan(tmp_path, PLAIN[2], epsilon=0.001))


def test_both_halves_of_an_average_are_charged(folder: Path) -> None:
    answer = release(plan(folder, "SELECT AVG(time) AS y FROM t", epsilon=0.8))
    assert sum(n["epsilon"] for n in answer.noise) == pytest.approx(0.8, rel=1e-6)
    assert len(answer.noise) == 2


ATTACKER = """[attacker]
goal = "time within 5"
advantage = 0.5
at = { time = 20 }
"""
BELIEVED = ("[columns.time.prior]\nnormal = { mean = 20, sd = 8 }",)


def test_the_attackers_cumulative_advantage_is_a_budget(tmp_path: Path) -> None:
    table(tmp_path)
    budget(tmp_path, "1000", advantage="0.3")
    told: list[float] = []

    def again(k: int) -> None:
        sql = f"SELECT SUM(time) AS y FROM t WHERE id <> {100 + k}"
        answer = release(plan(tmp_path, sql, *BELIEVED, ATTACKER, epsilon=1.0, protects="values"))
        told.append(float(answer.learned["advantage"]["bound"]))

    with pytest.raises(BudgetError, match="advantage"):
        list(map(again, range(40)))
    single = told[0]
    assert 2 <= len(told) < 40
    assert single * len(told) > 0.1
    with pytest.raises(LedgerError, match="attacker"):
        release(plan(tmp_path, PLAIN[7], epsilon=0.01, protects="values"))


def test_an_average_over_a_public_count_refuses_too_few_rows(tmp_path: Path) -> None:
    table(tmp_path)
    budget(tmp_path)
    sql = "SELECT AVG(time) AS y FROM t WHERE faculty = 'math'"
    fine = release(plan(tmp_path, sql, protects="values", rows=3))
    assert fine.value == pytest.approx((20 + 15.5 + 33) / 3, abs=0.01)
    assert fine.noise[0]["sensitivity"] == pytest.approx(40)
    with pytest.raises(RowsError, match="fewer rows"):
        release(plan(tmp_path, sql, protects="values", rows=4))


def test_a_plan_that_does_not_fit_the_table_costs_nothing(folder: Path) -> None:
    for sql, words in (
        ("SELECT COUNT(height) AS y FROM t", "height"),
        ("SELECT COUNT(*) AS y FROM t WHERE tall", "tall"),
    ):
        with pytest.raises(SourceError, match=words):
            release(plan(folder, sql, epsilon=1))
    with pytest.raises(SourceError):
        release(plan(folder, PLAIN[0], source="absent.csv"))
    assert float(budget_left(folder)) == 1e9


def budget_left(folder: Path) -> Any:
    from guessproof.ledger import Ledger

    return Ledger(folder / "guessproof.ledger").remaining("test").epsilon


def test_no_ledger_no_release(tmp_path: Path) -> None:
    table(tmp_path)
    with pytest.raises(LedgerError, match="ledger open"):
        release(plan(tmp_path, PLAIN[0]))


def test_a_failure_after_the_charge_is_one_constant_message(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: DuckDB, sql: str) -> list[Any]:
        try:
            raise ValueError("Could not convert 'SECRET-VALUE'")
        except ValueError:
            pass
        raise EngineError

    monkeypatch.setattr(DuckDB, "aggregates", broken)
    before = budget_left(folder)
    with pytest.raises(EngineError) as caught:
        release(plan(folder, PLAIN[0], epsilon=1.0))
    assert str(caught.value) == str(EngineError())
    assert "SECRET" not in "".join(traceback.format_exception(caught.value))
    assert before - budget_left(folder) >= 1 - 1e-9
    monkeypatch.undo()
    assert not release(plan(folder, PLAIN[0], epsilon=1.0)).replayed  # never redrawn free: charged again
    assert before - budget_left(folder) >= 2 - 1e-9


def test_an_infeasible_plan_is_not_released(folder: Path) -> None:
    with pytest.raises(InfeasibleError):
        release(plan(folder, PLAIN[7], *BELIEVED, ATTACKER.replace("0.5", "0.001"), epsilon=50, protects="values"))


def test_nothing_of_the_table_is_in_the_ledger_but_answers(folder: Path) -> None:
    """The strange value is in the table; no release mentions it, so nor may any file."""
    rows = [*ROWS, {"id": 987654321, "time": 77.125, "age": 88, "faculty": "alchemy", "smoker": True}]
    (folder / "t.duckdb").unlink()
    table(folder, rows=rows)
    answer = release(plan(folder, "SELECT faculty, COUNT(*) AS n FROM t GROUP BY faculty", epsilon=0.1))
    written = (folder / "guessproof.ledger").read_bytes() + json.dumps(answer.to_dict()).encode()
    for secret in (b"alchemy", b"987654321", b"77.125"):
        assert secret not in written


def test_answers_can_be_written_for_other_programs(folder: Path) -> None:
    import pyarrow.parquet as pq

    answer = release(plan(folder, "SELECT faculty, COUNT(*) AS n FROM t GROUP BY faculty"))
    for name in ("a.csv", "a.json", "a.parquet"):
        write_answers(answer, str(folder / name))
    assert (folder / "a.csv").read_text().splitlines()[0] == "faculty,name,value,error,confidence,low,high"
    assert json.loads((folder / "a.json").read_text())["epsilon"] == answer.epsilon
    assert pq.read_table(folder / "a.parquet").num_rows == 4
    for name in ("a.xlsx", "none/a.csv"):
        with pytest.raises(ParameterError):
            write_answers(answer, str(folder / name))
    assert not list(folder.glob(".guessproof-*"))


def test_keys_that_are_numbers(tmp_path: Path) -> None:
    """1 may be stored as 1, 1.0 or '1'."""
    sql = "SELECT age, COUNT(*) AS n FROM t GROUP BY age"
    for form in ("csv", "parquet", "duckdb"):
        folder = tmp_path / form
        folder.mkdir()
        source = table(folder, form)
        budget(folder)
        text = plan(folder, sql, source=source)
        levels = loads_plan(
            f"[data]\nname = 'test'\nsource = '{source}'\nprotects = 'records'\n[query]\nsql = '{sql}'\n"
            "[columns.age]\nlevels = [19, 25, 30, 99]\n[release]\nepsilon = 1e6\n",
            folder=folder,
        )
        assert text.query.sql == levels.query.sql
        assert [a.value for a in release(levels).answers] == [1, 1, 1, 0]


def test_nan_in_a_parquet_file_whose_statistics_leave_it_out(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    times = pa.array([1.0, float("nan"), 20.0, 30.0])
    pq.write_table(pa.table({"time": times, "id": [1, 2, 3, 4]}), tmp_path / "n.parquet")
    budget(tmp_path)
    assert release(plan(tmp_path, "SELECT SUM(time) AS y FROM t", source="n.parquet")).value == pytest.approx(
        51, abs=0.01
    )
    assert release(plan(tmp_path, "SELECT COUNT(*) AS y FROM t WHERE time > 10", source="n.parquet")).value == 2
