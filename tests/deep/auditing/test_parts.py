"""Intervals, tables, beliefs and rules, each on its own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from auditing.plans import CAFETERIA, SALARIES, chosen, fast
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import guessproof as gp
from guessproof.auditing.beliefs import (
    blocks_of,
    cell_chances,
    draw_victims,
    goal_edges,
    holds,
    output_edges,
    points_of,
    train_guesser,
    truths_of,
)
from guessproof.auditing.cases import make_cases
from guessproof.auditing.columns import fields_of, own_types
from guessproof.auditing.counts import Compared, Counted, clopper_pearson, measure_fit
from guessproof.auditing.plan import make_audit_plan
from guessproof.auditing.run import audit_choice
from guessproof.auditing.tables import TableFactory, form_of
from guessproof.choosing import asked, choose
from guessproof.exposure import Attacker
from guessproof.mechanisms.cauchy import Cauchy
from guessproof.mechanisms.gaussian import Gaussian
from guessproof.mechanisms.geometric import Geometric
from guessproof.mechanisms.laplace import Laplace
from guessproof.noise import Noise
from guessproof.plan import loads_plan

MECHANISMS = [Laplace(1, 0.5), Geometric(1, 0.5), Gaussian(1, 1, 1e-6), Cauchy(1, 1)]
MANY = """
[data]
name = "x"
source = "nowhere/x.{form}"
protects = "{protects}"
[query]
sql = "{sql}"
[columns.time]
bounds = [0, 120]
[columns.age]
bounds = [0, 100]
missing = false
[columns.fac]
levels = ["math", "cs", "law"]
[columns.region]
levels = ["n", "s"]
{public}
[release]
epsilon = 1.0
{noise}
"""


def many(sql: str, *, form: str = "csv", protects: str = "values", noise: str = "") -> str:
    public = "public = true" if protects == "values" else ""
    return MANY.format(sql=sql, form=form, protects=protects, noise=noise, public=public)


# Statistics.


@given(st.integers(0, 60), st.integers(1, 60), st.floats(1e-6, 0.2))
def test_intervals_are_those_of_clopper_and_pearson(hits: int, more: int, level: float) -> None:
    trials = hits + more
    low, high = clopper_pearson(hits, trials, level)
    known = binomtest(hits, trials).proportion_ci(1 - level, method="exact")
    assert (low, high) == pytest.approx((known.low, known.high), abs=1e-9)


def test_a_ratio_is_called_broken_only_when_it_surely_is() -> None:
    assert not Compared("", 500, 250, (1000, 1000), math.log(2)).is_broken(0.01)
    assert Compared("", 500, 250, (1000, 1000), math.log(1.2)).is_broken(0.01)
    assert not Compared("", 500, 250, (1000, 1000), math.log(1.2), delta=0.4).is_broken(0.01)
    assert not Compared("", 3, 0, (1000, 1000), 0.0).is_broken(0.01)
    assert Compared("", 30, 0, (1000, 1000), 0.0).is_broken(0.01)


def test_counts_speak_in_both_directions() -> None:
    assert Counted("", 50, 1000, 0.1).p_value() < 1e-6
    assert Counted("", 150, 1000, 0.1).p_value() < 1e-6
    assert Counted("", 100, 1000, 0.1).p_value() > 0.5


@pytest.mark.parametrize(
    "mechanism", [Laplace(1, 0.5), Geometric(1, 0.5), Gaussian(1, 1, 1e-6), Cauchy(1, 1)], ids=repr
)
def test_the_gap_to_a_distribution_is_small_for_its_own_noise_only(mechanism: Any) -> None:
    rng = np.random.default_rng(5)
    whole = isinstance(mechanism, Geometric)
    if whole:
        rate = 1 - math.exp(-1 / mechanism.scale)
        noise = rng.geometric(rate, 20_000) - rng.geometric(rate, 20_000)
    else:
        sizes = [mechanism.error(confidence=u) for u in rng.random(20_000)]
        noise = np.array(sizes) * rng.choice([-1, 1], 20_000)
    assert measure_fit("", noise, mechanism, whole).p_value() > 1e-3
    assert measure_fit("", noise + (1 if whole else 0.3 * mechanism.scale), mechanism, whole).p_value() < 1e-9


# Beliefs.


def attacker_with(goal: Any, **knows: Any) -> Attacker:
    attributes = {a.name: a for a in goal.attributes}
    return Attacker(attributes, lambda parts: goal, None, knows or None)


def joint_goal() -> Any:
    joint = gp.joint_histogram(("lon", "lat"), [[0, 1, 4], [0, 2, 3]], [[0.1, 0.2], [0.3, 0.4]])
    lon, lat = joint.attributes()
    return gp.near((lon, lat), 1.0)


TIME = gp.Attribute("time", prior=gp.normal(20, 6.28))
FACULTY = gp.Attribute("faculty", prior=gp.categorical({"math": 0.5, "cs": 0.3, "law": 0.2}))


@pytest.mark.parametrize(
    "attacker",
    [
        attacker_with(gp.within(TIME, 2)),
        attacker_with(gp.within(TIME, 2), time=(10, 40)),
        attacker_with(gp.within(TIME, 2) & gp.exactly(FACULTY)),
        attacker_with(gp.exactly(FACULTY), faculty=frozenset({"cs", "law"})),
        attacker_with(joint_goal()),
        attacker_with(gp.within(gp.Attribute("x", prior=gp.exponential(3)), 1)),
    ],
    ids=["normal", "knowing", "and", "some", "joint", "exponential"],
)
def test_points_and_victims_come_from_the_same_belief(attacker: Attacker) -> None:
    blocks = blocks_of(attacker, frozenset())
    assert blocks
    rng = np.random.default_rng(6)
    points, victims = points_of(blocks, 4000, rng, {}), draw_victims(blocks, 4000, rng)
    assert points.weights.sum() == pytest.approx(1)
    for name in attacker.names:
        seen = [v[name] for v in victims]
        if isinstance(seen[0], str):
            for label in set(points.values[name]):
                chance = float(points.weights[points.values[name] == label].sum())
                assert seen.count(label) / 4000 == pytest.approx(chance, abs=0.05)
        else:
            mean = float(points.weights @ points.values[name])
            spread = math.sqrt(float(points.weights @ (points.values[name] - mean) ** 2))
            assert np.mean(seen) == pytest.approx(mean, abs=0.1 * spread)
            assert np.std(seen) == pytest.approx(spread, rel=0.1)


def test_a_probability_on_cells_is_exact_where_the_goal_has_edges() -> None:
    goal = gp.within(TIME, 2)
    blocks = blocks_of(attacker_with(goal), frozenset())
    assert blocks
    truth = {"time": 17.3}
    points = points_of(blocks, 300, np.random.default_rng(0), goal_edges(goal, truth))
    chance = float(points.weights @ holds(goal, points.values, truth))
    assert chance == pytest.approx(gp.Attack(goal, at=truth).prior, abs=1e-9)


def test_goals_hold_where_they_should() -> None:
    values = {
        "time": np.array([17.0, 18.0, 22.0, 23.0]),
        "faculty": np.array(["cs", "math", "cs", "math"], dtype=object),
    }
    truth = {"time": 20.0, "faculty": "math"}
    near, same = gp.within(TIME, 2), gp.exactly(FACULTY)
    assert holds(near, values, truth).tolist() == [False, True, True, False]
    assert holds(near & same, values, truth).tolist() == [False, True, False, False]
    assert holds(near | same, values, truth).tolist() == [False, True, True, True]
    assert holds(~near, values, truth).tolist() == [True, False, False, True]
    assert holds(gp.among(FACULTY, ["cs"]), values, {}).tolist() == [True, False, True, False]
    assert holds(gp.inside(TIME, (22, 30)), values, {}).tolist() == [False, False, True, True]


def test_no_belief_no_blocks() -> None:
    assert blocks_of(attacker_with(gp.within(gp.Attribute("x", prior=gp.unknown(0, 9)), 1)), frozenset()) is None


# The rule.


@pytest.mark.parametrize(
    "mechanism", [Laplace(1, 0.5), Geometric(1, 0.5), Gaussian(1, 1, 1e-6), Cauchy(1, 1)], ids=repr
)
def test_the_rules_success_is_what_simulation_shows(mechanism: Any) -> None:
    """Independent of the library's samplers: noise by inverting the distribution function."""
    goal = gp.within(gp.Attribute("x", prior=gp.empirical(list(range(12)))), 1)
    blocks = blocks_of(attacker_with(goal), frozenset())
    assert blocks
    points = points_of(blocks, 100, np.random.default_rng(0), {})
    answers = np.asarray(points.values["x"]) * 3
    rule = train_guesser(mechanism, goal, points, answers, truths_of(attacker_with(goal), blocks, 50))
    right = rule.right(points.values)
    exact = rule.success(answers, right)
    rng = np.random.default_rng(8)
    noise = _noise(mechanism, rng, (12, 4000))
    outputs = answers[:, None] + noise
    measured = np.array([right[i, rule.cell(outputs[i])].mean() for i in range(12)])
    assert np.all(np.abs(measured - exact) < 5 * np.sqrt(0.25 / 4000))
    assert float(points.weights @ exact) > 3 / 12  # better than guessing blindly


def _noise(mechanism: Any, rng: Any, shape: tuple[int, int]) -> Any:
    if isinstance(mechanism, Geometric):
        rate = 1 - math.exp(-1 / mechanism.scale)
        return rng.geometric(rate, shape) - rng.geometric(rate, shape)
    sizes = np.vectorize(lambda u: mechanism.error(confidence=u))(rng.random(shape))
    return sizes * rng.choice([-1, 1], shape)


def test_chances_of_cells_add_up() -> None:
    mechanism = Laplace(1, 0.3)
    edges = output_edges(mechanism, 0.0, 10.0)
    chances = cell_chances(mechanism, edges, np.linspace(0, 10, 7))
    assert chances.sum(axis=1) == pytest.approx(np.ones(7))
    assert np.all(chances >= 0)


# Tables.


@pytest.mark.parametrize("form", ["csv", "parquet", "duckdb"])
def test_the_engine_and_plain_arithmetic_agree_on_odd_values(form: str, tmp_path: Path) -> None:
    plan = loads_plan(
        many("SELECT COUNT(*) AS n, SUM(time) AS s FROM t WHERE fac <> 'law' AND name LIKE 'A%'", form=form)
    )
    question = asked(plan)
    fields = fields_of(plan, question)
    case = make_cases(question, fields, (1.0, 2.0**-20), np.random.default_rng(3))[0]
    finite = [{k: 7.0 if isinstance(v, float) and math.isnan(v) else v for k, v in r.items()} for r in case.others]
    case = type(case)(question, case.steps, case.group, case.frame, tuple(finite), case.pairs)
    found = TableFactory(tmp_path, form, "t", fields, own_types(fields, None), question, (0, -20)).ask(finite, "one")[
        ()
    ]
    for index, (unit, _) in enumerate(found):
        plain = case.plain(index, None)
        assert unit is not None
        assert abs(unit * case.steps[index] - plain.value) <= plain.slack


def test_copies_in_one_file_answer_like_tables_of_their_own(tmp_path: Path) -> None:
    choice = chosen(CAFETERIA)
    fields = fields_of(choice.plan, choice.question)
    exponents = tuple(n.grid.exponent for n in choice.noises)
    case = make_cases(choice.question, fields, (2.0 ** exponents[0],), np.random.default_rng(3))[0]
    factory = TableFactory(tmp_path, "csv", "t", fields, own_types(fields, None), choice.question, exponents)
    victims = [{**case.frame, "time": t} for t in (3.25, 20.0, 500.0)]
    together = factory.ask_all(case.others, victims, "all")
    for number, victim in enumerate(victims):
        assert together[number] == factory.ask(case.rows(victim), f"one{number}")
    assert len({found[()][0] for found in together}) == 3
    assert all(found[()][0][1] == 120 for found in together)


def test_the_kind_of_file_follows_the_plan_s_source() -> None:
    kinds = {"a.csv": "csv", "b.TSV.gz": "csv", "c.parquet": "parquet", "d.db": "duckdb", "env:X": "parquet"}
    assert {source: form_of(source) for source in kinds} == kinds


def test_the_two_most_distant_victims_reach_the_guarantee() -> None:
    for sql, whole in [
        ("SELECT SUM(time * 2 - age) AS s FROM t WHERE fac = 'cs'", False),
        ("SELECT COUNT(*) AS n FROM t WHERE time BETWEEN 10 AND 20 AND region = 's'", True),
        ("SELECT MAX(ABS(time - 60)) AS m FROM t", False),
        ("SELECT MIN(time + age) AS m FROM t", False),
    ]:
        plan = loads_plan(many(sql))
        question = asked(plan)
        case = make_cases(question, fields_of(plan, question), (1.0,), np.random.default_rng(1))[0]
        near, far = (case.plain(0, victim).value for victim in case.pairs[0])
        assert abs(near - far) == pytest.approx(question.measurements[0].per_answer.change, rel=1e-9), sql
        assert question.measurements[0].is_whole is whole


@pytest.mark.parametrize(
    "text",
    [
        many("SELECT region, AVG(time) AS a FROM t WHERE age > 9 GROUP BY region HAVING AVG(time) > 3 LIMIT 1"),
        many("SELECT COUNT(*) FILTER (WHERE region = 'n' AND time > 9) AS a, MIN(age) AS m FROM t"),
        many(
            "SELECT SUM(CASE WHEN fac = 'cs' THEN time ELSE age END) AS s FROM t "
            "WHERE smoker AND born > DATE '1990-01-01'"
        ),
        many("SELECT region, MIN(time) AS a, MAX(age) AS b FROM t GROUP BY region", protects="records"),
        many("SELECT AVG(time) AS a FROM t WHERE fac = 'cs'", protects="records"),
        many("SELECT SUM(time) AS s FROM t", noise='mechanism = "cauchy"'),
        many("SELECT SUM(time) AS s FROM t", noise='mechanism = "gaussian"\ndelta = 1e-6'),
        many("SELECT COUNT(*) AS n FROM t WHERE time + age > 60", form="duckdb"),
    ],
    ids=["grouped", "filters", "case", "records", "ratio", "cauchy", "gaussian", "terms"],
)
def test_every_kind_of_query_can_be_audited(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "gaussian" not in text and "cauchy" not in text:
        monkeypatch.setattr(Noise, "draw", fast(41))
    found = audit_choice(choose(loads_plan(text)), trials=2000, seconds=1e5, seed=2, false_alarm=1e-7)
    assert found.passed, found.failures
    count = len(choose(loads_plan(text)).noises)
    for kind in ("guesser", "two tables", "ratios", "noise"):
        assert sum(c.name.startswith(kind) for c in found.checks) == count
    belief = next(c for c in found.checks if c.name == "belief")
    assert belief.verdict == ("not computed" if "gaussian" in text else "pass")


def test_a_large_public_count_is_not_built_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guessproof.auditing.cases.MOST_ROWS", 500)
    monkeypatch.setattr("guessproof.auditing.run.MOST_ROWS", 500)
    monkeypatch.setattr(Noise, "draw", fast(43))
    text = CAFETERIA.replace("rows = 120", "rows = 1000000").replace("within = 1.5", "within = 0.001")
    found = audit_choice(choose(loads_plan(text)), trials=2000, seconds=1e5, seed=2, false_alarm=1e-7)
    assert found.passed, found.failures
    assert any("1000000" in note for note in found.notes)


def test_victims_are_what_the_attacker_holds_for_possible(tmp_path: Path) -> None:
    text = SALARIES.replace("at = { salary = 2000 }", "at = { salary = 2000 }\nknows = { salary = [1900, 2300] }")
    audit_plan = make_audit_plan(choose(loads_plan(text)), tmp_path, np.random.default_rng(2), lambda _s, _w: None)
    salaries = [v["salary"] for v in audit_plan.attacks[0].victims if v is not None]
    assert len(salaries) == 200
    assert 1900 <= min(salaries) < 1950 < 2200 < max(salaries) <= 2300


def test_a_fixed_goal_is_bet_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Noise, "draw", fast(47))
    text = SALARIES.replace("salary within 100", "salary inside 2200 2600").replace("at = { salary = 2000 }", "")
    found = audit_choice(choose(loads_plan(text)), trials=6000, seconds=1e5, seed=2, false_alarm=1e-7)
    assert found.passed, found.failures
    guesser = next(c for c in found.checks if c.name.startswith("guesser"))
    assert "says nothing" not in guesser.words
