"""What the attacker learns from a query: never less than the best attack on that very query's distance."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from choosing.plans import plan
from depth import cases
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import linear_program

from guessproof.choosing import Chooser, asked, attacker_of
from guessproof.errors import GuessproofError
from guessproof.exposure import Exposure
from guessproof.guarantee import (
    VALUES,
    Guarantee,
    guarantee_from_dict,
    guarantee_to_dict,
    metric_from_dict,
    metric_to_dict,
)
from guessproof.plan import Plan
from guessproof.world.distances import Discrete, Matrix, Outcome

NUMBERS = [0.0, 5.0, 10.0, 10.5, 20.0, 40.0]
LABELS = ["a", "b", "c"]

TERMS = ["x", "x + x", "ABS(x - 10)", "POWER(x, 2) / 10", "CASE WHEN x > 10 THEN 20 ELSE x END", "LEAST(x, 15)"]
FILTERS = [
    "TRUE",
    "x > 10",
    "x BETWEEN 5 AND 15",
    "g = 'a'",
    "g IN ('a', 'b') AND x <= 10",
    "NOT (x < 10 OR g = 'c')",
    "x + 1 > 11",
    "x = 10",
]
GOALS = ["x within 6", "g exactly", "x within 6 and g exactly", "x within 6 or g exactly", "not g exactly"]


def _plan(query: str, counts: list[int], shares: list[float], goal: str, at: tuple[float, str] | None) -> Plan:
    sample = ", ".join(f"{v:g}" for v, count in zip(NUMBERS, counts, strict=True) for _ in range(count))
    labels = ", ".join(f"{v} = {w!r}" for v, w in zip(LABELS, shares, strict=True))
    truth = [] if at is None else [n for n in ("x", "g") if n in goal.replace("exactly", "").split()]
    values = {} if at is None else {"x": f"{at[0]:g}", "g": f'"{at[1]}"'}
    stated = "" if at is None else "at = { " + ", ".join(f"{n} = {values[n]}" for n in truth) + " }"
    return plan(
        query,
        {
            "x": f"bounds = [0, 40]\nmissing = false\nprior = {{ empirical = [{sample}] }}",
            "g": f"missing = false\nprior = {{ categorical = {{ {labels} }} }}",
        },
        f'[attacker]\ngoal = "{goal}"\nadvantage = 0.1\n{stated}',
    )


def _normal(raw: list[int]) -> list[float]:
    exact = [r / sum(raw) for r in raw]
    exact[-1] = 1 - sum(exact[:-1])
    return exact


queries = st.one_of(
    st.builds("SELECT SUM({}) AS y FROM t WHERE {}".format, st.sampled_from(TERMS), st.sampled_from(FILTERS)),
    st.builds("SELECT COUNT(*) AS y FROM t WHERE {}".format, st.sampled_from(FILTERS[1:])),
    st.builds("SELECT MAX({}) AS y FROM t WHERE {}".format, st.sampled_from(TERMS), st.sampled_from(FILTERS)),
    st.builds(
        "SELECT COUNT(*) AS n, SUM({}) AS y FROM t WHERE {}".format,
        st.sampled_from(TERMS),
        st.sampled_from(FILTERS[1:]),
    ),
)


@settings(max_examples=cases(30))
@given(
    queries,
    st.lists(st.integers(1, 9), min_size=6, max_size=6),
    st.lists(st.integers(1, 9), min_size=3, max_size=3).map(_normal),
    st.sampled_from(GOALS),
    st.tuples(st.sampled_from(NUMBERS), st.sampled_from(LABELS)),
    st.sampled_from([0.3, 1.0, 3.0]),
)
def test_the_bound_dominates_the_best_attack_on_the_query_itself(
    query: str, counts: list[int], shares: list[float], goal: str, at: tuple[float, str], epsilon: float
) -> None:
    """Every combination of values, the query's own distance, all constraints written down: a linear program."""
    asked_plan = _plan(query, counts, shares, goal, at)
    weights = _normal(counts)
    chooser = Chooser(asked_plan, asked(asked_plan), None, False)
    exposure = chooser.exposure()
    assert exposure is not None
    states = list(itertools.product(NUMBERS, LABELS))
    mass = np.asarray([w * s for w, s in itertools.product(weights, shares)])
    scales = [
        s / m.guarantee.sensitivity for s, m in zip(chooser.budget_shares, chooser.asked.measurements, strict=True)
    ]
    terms = [m.contribution for m in chooser.asked.measurements]
    moved = [[scale * abs(t.at(_row(a)) - t.at(_row(b))) for scale, t in zip(scales, terms, strict=True)]
             for a in states for b in states]  # fmt: skip
    distance = np.asarray(moved).sum(axis=1).reshape(len(states), len(states))
    mask = np.asarray([_correct(goal, s, at) for s in states], dtype=float)
    if not 0 < mask @ mass < 1 - 1e-12:
        return
    best = linear_program.posterior(mass, distance, mask, epsilon)
    bracket = exposure.posterior(epsilon)
    assert float(bracket.bound) >= best - 1e-7
    if bracket.status == "exact":  # over all releases that keep the promise, which may be a little more than the query
        promised = np.asarray([exposure.guarantee.between(_row(a), _row(b)) for a in states for b in states])
        most = linear_program.posterior(mass, promised.reshape(distance.shape), mask, epsilon)
        assert float(bracket.bound) <= most + 1e-6


def _row(state: tuple[float, str]) -> dict[str, Any]:
    return {"x": state[0], "g": state[1]}


def _correct(goal: str, state: tuple[float, str], truth: tuple[float, str]) -> bool:
    near, same = abs(state[0] - truth[0]) <= 6, state[1] == truth[1]
    return {
        "x within 6": near,
        "g exactly": same,
        "x within 6 and g exactly": near and same,
        "x within 6 or g exactly": near or same,
        "not g exactly": not same,
    }[goal]


@settings(max_examples=cases(20))
@given(queries, st.sampled_from(GOALS[:4]), st.floats(0.02, 0.3))
def test_the_epsilon_keeps_the_limit_and_no_larger_one_would_need_to_be_refused(
    query: str, goal: str, limit: float
) -> None:
    asked_plan = _plan(query, [1, 2, 3, 3, 2, 1], _normal([5, 3, 2]), goal, (10.0, "a"))
    exposure = Chooser(asked_plan, asked(asked_plan), None, False).exposure()
    assert exposure is not None
    limits = asked_plan.limits.__class__(advantage=limit)
    epsilon = exposure.epsilon(limits)
    if np.isfinite(epsilon):
        assert float(exposure.advantage(epsilon).bound) <= limit * (1 + 1e-9)
        assert float(exposure.advantage(epsilon * 1.01).bound) >= limit * (1 - 1e-6)


def test_dependent_columns_outside_the_goal_are_not_forgotten() -> None:
    """The query reads b only, the goal is about a, but a and b go together: the release tells of a."""
    table = '{ table = [["u", "v", 0.45], ["u", "w", 0.05], ["z", "v", 0.05], ["z", "w", 0.45]] }'
    found = plan(
        "SELECT COUNT(*) AS n FROM t WHERE b = 'v'",
        {"a": "missing = false", "b": "missing = false"},
        f'[prior]\n"(a, b)" = {table}',
        '[attacker]\ngoal = "a exactly"\nadvantage = 0.1\nat = { a = "u" }',
    )
    exposure = Chooser(found, asked(found), None, False).exposure()
    assert exposure is not None
    mass = [0.45, 0.05, 0.05, 0.45]
    distance = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    best = linear_program.posterior(mass, distance, [1, 1, 0, 0], 1.0)
    assert float(exposure.posterior(1.0).bound) == pytest.approx(best, abs=1e-7)
    assert best > 0.55


def test_a_column_that_the_query_does_not_read_tells_nothing() -> None:
    found = plan(
        "SELECT SUM(x) AS y FROM t",
        {
            "x": "bounds = [0, 10]\nprior = { uniform = { low = 0, high = 10 } }",
            "z": "prior = { normal = { mean = 0, sd = 1 } }",
        },
        '[attacker]\ngoal = "z within 1"\nadvantage = 0.1\nat = { z = 0 }',
    )
    exposure = Exposure(attacker_of(found), Chooser(found, asked(found), None, False).guarantee)  # pyright: ignore[reportArgumentType]
    assert float(exposure.advantage(50.0).bound) == pytest.approx(0.0, abs=1e-12)


def test_guarantees_survive_the_ledger_and_add_up() -> None:
    found = plan(
        "SELECT SUM(x) AS y, COUNT(*) AS n FROM t WHERE g = 'a' AND x BETWEEN 2 AND 5",
        {
            "x": "bounds = [0, 10]\nprior = { uniform = { low = 0, high = 10 } }",
            "g": "prior = { categorical = { a = 0.5, b = 0.5 } }",
        },
        '[attacker]\ngoal = "x within 1"\nadvantage = 0.1\nat = { x = 3 }',
    )
    guarantee = Chooser(found, asked(found), None, False).guarantee.scaled(0.7).rounded(1e-9)
    kept = guarantee_from_dict(guarantee_to_dict(guarantee))
    assert guarantee_to_dict(kept) == guarantee_to_dict(guarantee)
    attacker = attacker_of(found)
    assert attacker is not None
    once, twice = Exposure(attacker, kept), Exposure(attacker, kept + kept)
    assert float(once.advantage(1.0).bound) == pytest.approx(
        float(Exposure(attacker, guarantee).advantage(1.0).bound), rel=1e-9
    )
    assert float(twice.advantage(1.0).bound) == pytest.approx(float(once.advantage(2.0).bound), rel=1e-6)
    assert (guarantee + guarantee).change == pytest.approx(2 * guarantee.change)


@pytest.mark.parametrize(
    "metric", [2.0 * Discrete(), Outcome((1, 2), (5, float("inf"))), Matrix(["a", "b"], [[0, 1], [1, 0]])]
)
def test_metrics_survive_the_ledger(metric: Any) -> None:
    back = metric_from_dict(metric_to_dict(metric))
    points = ["a", "b"] if isinstance(metric, Matrix) else [0.0, 1.5, 3.0, 7.0]
    for a, b in itertools.product(points, points):
        assert back.distance(a, b) == metric.distance(a, b)


@pytest.mark.parametrize("table", [{}, {"columns": {}}, {"columns": {"x": {"code": "1+1"}}, "lines": {}, "limit": 1}])
def test_a_guarantee_that_is_none_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(GuessproofError):
        guarantee_from_dict(table)


def test_an_empty_guarantee_says_nothing() -> None:
    assert Guarantee(VALUES, {}, {}, 0.0, 0.0).between({"x": 1}, {"x": 2}) == 0


def test_the_key_of_a_group_is_told_by_the_groups() -> None:
    """Where records are protected, moving from one group to another shows in both."""
    found = plan(
        "SELECT g, COUNT(*) AS n FROM t GROUP BY g",
        {"g": 'levels = ["a", "b", "c"]\nprior = { categorical = { a = 0.5, b = 0.3, c = 0.2 } }'},
        '[attacker]\ngoal = "g exactly"\nadvantage = 0.1\nat = { g = "a" }',
        protects="records",
    )
    exposure = Chooser(found, asked(found), None, False).exposure()
    assert exposure is not None
    # Two groups move by 1 each: distance 2 of a change of 2, so ε itself.
    best = linear_program.posterior([0.5, 0.3, 0.2], 1.0 - np.eye(3), [1, 0, 0], 1.5)
    assert float(exposure.posterior(1.5).bound) == pytest.approx(best, abs=1e-9)
