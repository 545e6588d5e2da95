"""Choosing ε from a plan: the papers' examples, all bounds together, and changes that really help."""

from __future__ import annotations

import math
import re

import pytest

import guessproof as gp
from choosing.plans import CAFETERIA, plan
from guessproof.choosing import Choice, choose
from guessproof.errors import InfeasibleError, PlanError, QueryError
from guessproof.meaning import meaning
from guessproof.plan import Plan, load_plan, loads_plan
from guessproof.world.distances import Clamped

ATTACKER = '[attacker]\ngoal = "time within 2"\nadvantage = 0.05'
AT = ATTACKER + "\nat = { time = 20 }"


def cafeteria(*more: str, rows: int | None = 120) -> Plan:
    return plan(*CAFETERIA, *more, **({} if rows is None else {"rows": rows}))


def test_the_average_has_the_distance_of_a_clamped_column_over_its_count() -> None:
    choice = choose(cafeteria(AT))
    time = gp.Attribute("time", prior=gp.normal(20, 6.28), metric=Clamped(0, 120, scale=120))
    exact = gp.Attack(gp.within(time, 2), at={"time": 20}).epsilon(advantage=0.05)
    assert choice.epsilon == pytest.approx(exact, rel=1e-9)
    assert choice.epsilon <= exact
    assert choice.noise_scale == pytest.approx(1 / exact, rel=1e-9)
    assert choice.epsilon_per_unit["time"] == pytest.approx(exact / 120, rel=1e-9)
    assert choice.binding == "attacker"
    assert choice.prior == pytest.approx(0.24987, abs=1e-5)
    assert choice.cost <= choice.epsilon


def test_the_papers_salaries() -> None:
    """theory §7: near 1772.6 or its mirror image, ε = 0.0019252 per unit."""
    columns = {"salary": "bounds = [1000, 3000]\nmissing = false\nprior = { normal = { mean = 2000, sd = 235.7 } }"}
    choice = choose(
        plan("SELECT SUM(salary) AS total FROM t", columns, '[attacker]\ngoal = "salary within 100"\nadvantage = 0.1')
    )
    assert 0.999 * 0.0019252 <= choice.epsilon_per_unit["salary"] <= 0.0019253  # proven within 0.1 %
    assert choice.advantage is not None
    assert min(abs(choice.advantage.worst_at - t) for t in (1772.6, 2227.4)) < 0.5  # pyright: ignore[reportOptionalOperand]
    assert choice.epsilon == pytest.approx(2000 * choice.epsilon_per_unit["salary"])


def test_the_papers_cats() -> None:
    """theory §12: 0/1 on the filter's outcome allows 0.709 instead of 0.539."""
    choice = choose(load_plan("examples/cats/plan.toml"))
    assert choice.epsilon == pytest.approx(0.70915, abs=5e-6)
    assert choice.noises[0].name == "geometric"
    assert choice.advantage is not None
    assert choice.advantage.status == "exact"


@pytest.mark.parametrize(("absolute", "epsilon"), [(0.025, 1.09), (0.15, 1.21), (0.3, 2.10)])
def test_the_papers_survey(absolute: float, epsilon: float) -> None:
    """[KR] Table 4, in ε for adding or removing a record."""
    profile = f"[risk]\nfixed_inclusion = {{ p = 0.05, absolute = {absolute}, relative = 3.0 }}"
    columns = {"had_covid": 'levels = ["yes", "no"]'}
    choice = choose(
        plan("SELECT had_covid, COUNT(*) AS n FROM t GROUP BY had_covid", columns, profile, protects="records")
    )
    assert choice.epsilon_add_remove == pytest.approx(epsilon, abs=0.005)
    assert choice.epsilon == pytest.approx(2 * choice.epsilon_add_remove)
    assert choice.binding == "risk"


def test_the_least_epsilon_that_is_accurate_enough_is_recommended() -> None:
    choice = choose(cafeteria(AT, "[accuracy]\nwithin = 1.5\nconfidence = 0.95"))
    assert choice.feasible
    assert choice.epsilon == pytest.approx(-math.log(0.05) / 1.5)
    assert choice.errors()["mean_time"] == pytest.approx(1.5)
    assert choice.errors()["mean_time"] <= 1.5  # pyright: ignore[reportOperatorIssue]
    assert choice.interval[0] == choice.epsilon < choice.interval[1]
    assert choice.binding == "accuracy"


TIGHT = ("[accuracy]\nwithin = 0.05\nconfidence = 0.95",)


def test_what_cannot_be_met_says_by_how_much_and_the_cheapest_way_out() -> None:
    choice = choose(cafeteria(AT, *TIGHT))
    assert not choice.feasible
    assert not choice.noises
    needed, allowed = choice.interval
    assert needed > allowed
    assert "times less" in choice.explanation
    assert choice.changes
    best = min(choice.changes, key=lambda c: c.factor)
    assert best.then in choice.explanation


def _applied(choice: Choice, what: str, then: str) -> Choice:
    text = {"advantage": "0.05", "within": "0.05"}
    key = what.rsplit(" ", 1)[-1].rstrip(":")
    text[key] = then
    attacker = AT.replace("advantage = 0.05", f"advantage = {text['advantage']}")
    accuracy = f"[accuracy]\nwithin = {text['within']}\nconfidence = 0.95"
    return choose(cafeteria(attacker, accuracy))


def test_every_change_that_is_named_is_enough_by_itself() -> None:
    choice = choose(cafeteria(AT, *TIGHT))
    assert {re.sub(r".*[ .]", "", c.what) for c in choice.changes} == {"within", "advantage"}
    for change in choice.changes:
        assert _applied(choice, change.what, change.then).feasible, change


def test_a_wrong_prior_is_shown_beside_the_answer() -> None:
    choice = choose(cafeteria(AT))
    assert choice.prior_free_epsilon == pytest.approx(4 * math.atanh(0.05))
    assert choice.narrower_prior_epsilon is not None
    assert choice.wider_prior_epsilon is not None
    assert choice.narrower_prior_epsilon > choice.epsilon > choice.wider_prior_epsilon > choice.prior_free_epsilon


def test_an_unknown_prior_has_the_prior_free_answer() -> None:
    columns = {"time": 'bounds = [0, 120]\nmissing = false\nprior = "unknown"'}
    choice = choose(plan("SELECT SUM(time) AS s FROM t", columns, ATTACKER))
    assert choice.epsilon == pytest.approx(4 * math.atanh(0.05), rel=1e-9)
    assert choice.posterior is None


@pytest.mark.parametrize(
    ("column", "query", "goal"),
    [
        ("levels = [0, 1]", "SELECT COUNT(*) AS n FROM t WHERE smoker = 1", "smoker exactly"),
        ("levels = [0, 1, 2]", "SELECT COUNT(*) AS n FROM t WHERE smoker = 0", "smoker exactly"),
        ("bounds = [0, 100]", "SELECT COUNT(*) AS n FROM t WHERE smoker BETWEEN 30 AND 40", "smoker within 5"),
    ],
)
def test_numbers_that_nothing_is_known_of_are_as_far_apart_as_a_filter_tells(
    column: str, query: str, goal: str
) -> None:
    columns = {"smoker": f'{column}\nprior = "unknown"'}
    found = choose(plan(query, columns, f'[attacker]\ngoal = "{goal}"\nadvantage = 0.1'))
    assert found.epsilon == pytest.approx(4 * math.atanh(0.1), rel=1e-9)
    assert found.epsilon <= 4 * math.atanh(0.1)


def test_the_budget_is_a_bound_as_well() -> None:
    choice = choose(cafeteria(AT), remaining=0.25)
    assert (choice.epsilon, choice.binding) == (0.25, "budget")


def test_a_fixed_epsilon_must_keep_the_limits() -> None:
    assert choose(cafeteria(AT, "[release]\nepsilon = 0.5")).feasible
    broken = choose(cafeteria(AT, "[release]\nepsilon = 50.0"))
    assert not broken.feasible
    assert "release.epsilon" in broken.explanation


def test_several_answers_share_epsilon_as_their_targets_need() -> None:
    sql = "SELECT COUNT(time) AS n, SUM(time) AS s FROM t"
    targets = "[accuracy.n]\nwithin = 10\n[accuracy.s]\nwithin = 500\nconfidence = 0.9"
    choice = choose(plan(sql, CAFETERIA[1], targets))
    errors = choice.errors()
    assert errors["n"] <= 10  # pyright: ignore[reportOperatorIssue]
    assert errors["s"] == pytest.approx(500)
    assert choice.cost == pytest.approx(choice.epsilon, rel=1e-9)
    assert choice.noise_scale is None


def test_an_average_without_a_public_count_charges_sum_and_count() -> None:
    choice = choose(cafeteria(AT, rows=None))
    assert [n.measurement.kind for n in choice.noises] == ["sum", "count"]
    assert choice.cost == pytest.approx(sum(n.mechanism.epsilon for n in choice.noises), rel=1e-9)
    both = meaning(cafeteria(AT, rows=None), 1.0).advantage
    half = meaning(plan("SELECT SUM(time) AS s FROM t", CAFETERIA[1], AT), 0.5).advantage
    assert both is not None
    assert half is not None
    assert float(both.bound) >= float(half.bound)


def test_a_limit_that_the_prior_breaks_already_is_infeasible() -> None:
    with pytest.raises(InfeasibleError, match="before any release"):
        choose(cafeteria('[attacker]\ngoal = "time within 2"\nposterior = 0.1\nat = { time = 20 }'))


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        ((), PlanError, "nothing to choose from"),
        ((AT, "[accuracy.mean]\nwithin = 1"), PlanError, "mean_time"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_line(
    more: tuple[str, ...], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        choose(cafeteria(*more))


def test_a_query_that_is_not_understood_underlines_the_place() -> None:
    with pytest.raises(QueryError, match=r"\^\^\^"):
        choose(plan("SELECT MEDIAN(time) AS m FROM t", CAFETERIA[1], AT))


def test_gaussian_noise_without_an_attacker() -> None:
    choice = choose(cafeteria('[release]\nmechanism = "gaussian"\ndelta = 1e-6\nepsilon = 0.5'))
    assert choice.delta == pytest.approx(1e-6, rel=1e-6)
    assert choice.noises[0].name == "gaussian"


def test_cauchy_noise_keeps_the_same_limit() -> None:
    choice = choose(cafeteria(AT, '[release]\nmechanism = "cauchy"'))
    assert choice.epsilon == pytest.approx(choose(cafeteria(AT)).epsilon)
    assert choice.errors()["mean_time"] > choose(cafeteria(AT)).errors()["mean_time"]  # pyright: ignore[reportOperatorIssue]


def test_json_has_what_the_product_promises() -> None:
    found = choose(cafeteria(AT)).to_dict()
    for key in (
        "feasible",
        "epsilon",
        "epsilon_add_remove",
        "epsilon_per_unit",
        "noise_scale",
        "interval",
        "binding",
        "prior_free_epsilon",
        "explanation",
    ):
        assert key in found
    assert any("assumed known" in text for text in found["assumptions"])


def test_a_profile_for_one_who_took_part_under_values() -> None:
    """p = 1: change-one ε, bounded DP."""
    profile = "[risk]\nbox = { relative = 3.0, p = [1.0, 1.0], q = [0.1, 1.0] }"
    choice = choose(plan(*CAFETERIA, profile, rows=120))
    expected = gp.RiskProfile.box(3, p=(1, 1), q=(0.1, 1)).epsilon(bounded=True)
    assert choice.epsilon == pytest.approx(expected)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("constant = 3", ["3 times", "whatever is believed"]),
        ("box = { relative = 3, p = [0, 0.2], q = 0.1 }", ["3 times", "from 0 to 20 %", "of 10 %"]),
        ("fixed_inclusion = { p = 0.05, absolute = 0.15, relative = 3 }", ["0.05", "15 %", "3 times", "allows more"]),
        ("fixed_value = { q = 1, absolute = 0.25, relative = 3 }", ["would be known", "25 %", "3 times"]),
        ("points = { pairs = [[0.001, 10], [0.4, 1.2]], p = 1 }", ["10 times", "1.2 times", "in the data of 100 %"]),
        ("points = [" + ", ".join(f"[0.0{i}, {11 - i}]" for i in range(1, 9)) + "]", ["10 times", "at 2 more"]),
    ],
)
def test_a_profile_is_said_in_words(written: str, said: list[str]) -> None:
    choice = choose(plan("SELECT COUNT(*) AS n FROM t", {}, f"[risk]\n{written}", protects="records"))
    words = next(limit.how for limit in choice.limits if limit.name == "risk")
    assert "RiskProfile" not in str(choice.to_dict())
    assert all(part in words for part in said), words


def test_a_missing_value_counts_unless_declared_impossible() -> None:
    base = "bounds = [1000, 3000]\nprior = { normal = { mean = 2000, sd = 235.7 } }"
    goal = '[attacker]\ngoal = "salary within 100"\nadvantage = 0.1\nat = { salary = 2000 }'
    maybe = choose(plan("SELECT SUM(salary) AS s FROM t", {"salary": base}, goal))
    never = choose(plan("SELECT SUM(salary) AS s FROM t", {"salary": base + "\nmissing = false"}, goal))
    assert maybe.noise_scale == pytest.approx(never.noise_scale)
    assert maybe.epsilon == pytest.approx(1.5 * never.epsilon)


def test_plans_in_text_have_no_path() -> None:
    assert loads_plan(
        'data = { name = "a", source = "b.csv", protects = "records" }\nquery.sql = "SELECT COUNT(*) AS n FROM t"\n'
        "release = { epsilon = 1 }"
    ).path is None  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [
        "",
        "[accuracy]\nwithin = 5",
        AT,
        ATTACKER,
        '[attacker]\ngoal = "time within 60"\nposterior = 0.3\nat = { time = 20 }',  # believed more before
        '[attacker]\ngoal = "time within 2"\nadvantage = 0.99',  # no noise is needed
    ],
)
def test_noise_that_does_not_fit_is_refused_for_its_own_sake(more: str) -> None:
    """Whatever else the plan says: the mechanism is named, with its line, and not the goal."""
    release = '[release]\nmechanism = "geometric"' + ("" if more else "\nepsilon = 1")
    with pytest.raises(PlanError, match=r"release.mechanism: .* no whole number") as caught:
        choose(cafeteria(more, release))
    assert caught.value.line is not None
