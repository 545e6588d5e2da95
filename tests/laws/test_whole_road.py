"""The whole road, from the words of a plan to the numbers that are printed, against brute force on both sides.

Every plan is drawn as text with all that a plan can say, and every number of the answer is compared with what the
query, evaluated here, does on neighbouring tables, and with what a linear program lets the attacker learn from it.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import cases
from hypothesis import HealthCheck, assume, currently_in_test_context, given, note, settings
from road import oracle
from road.drawing import profiled_roads, quiet_roads, roads, several_roads
from road.oracle import Belief, Measured, Movement
from road.plans import Attacker, Goal, Road
from road.query import ALWAYS, Column, Item, above, plain, summed
from road.releases import opened, released, table

import guessproof as gp
from guessproof.errors import GuessproofError

HAIR = 1e-7  # what a linear program may err
road_law = settings(max_examples=cases(30), suppress_health_check=list(HealthCheck))


def chosen(road: Road) -> dict[str, Any] | None:
    """The printed choice; None where the plan is refused."""
    if currently_in_test_context():
        note(repr(road))
    try:
        return gp.choose(gp.loads_plan(road.text())).to_dict()
    except GuessproofError:
        return None


def parted(road: Road, printed: dict[str, Any]) -> tuple[Measured, ...]:
    return tuple(oracle.measured(road, printed["noise"]))


def check_movement(road: Road, printed: dict[str, Any]) -> None:
    """No neighbour moves an answer by more than its noise was made for, nor all together by more than is charged."""
    parts = parted(road, printed)
    movement = Movement(road, parts)
    for rows in movement.victims():
        most = movement.each(rows)
        for part, moved in zip(parts, most, strict=True):
            assert moved <= part.noise["sensitivity"] * (1 + 1e-9) + 2 * 2.0 ** part.noise["grid"] / part.divisor
        assert movement.apart(rows).max() <= printed["epsilon_charged"] * (1 + 1e-9)
        if road.protects == "records":
            coming = movement.apart([oracle.ABSENT, *rows])[0]
            assert coming.max() <= printed["epsilon_charged"] * (1 + 1e-9)
            whole = all(p.noise["mechanism"] == "geometric" for p in parts)
            assert coming.max() <= printed["epsilon_add_remove"] * (1 + (1e-9 if whole else 1e-6)) + 1e-9


def check_noise(road: Road, printed: dict[str, Any]) -> None:
    """Each noise costs what is said, all of it together no more than ε and δ, and it is as exact as was asked for."""
    for noise in printed["noise"]:
        if noise["mechanism"] == "gaussian":
            assert oracle.gaussian_delta(noise) <= noise["delta"] * (1 + 1e-6)
        else:
            assert oracle.loss(noise) <= noise["epsilon"] * (1 + 1e-9)
            assert noise["delta"] == 0
    assert math.fsum(n["epsilon"] for n in printed["noise"]) <= printed["epsilon"] * (1 + 1e-12)
    assert printed["delta"] <= (road.delta or 0.0) * (1 + 1e-9)
    assert math.fsum(n["delta"] for n in printed["noise"]) <= printed["delta"] * (1 + 1e-12)
    for item in road.items:
        own = [p.noise for p in parted(road, printed) if p.item.sql == item.sql]
        level = (road.targets or {}).get(item.name, (0.0, 0.95))[1]
        error = printed["errors"][item.name]
        if error is not None:
            assert oracle.confidence(own[0], error * (1 + 1e-9)) >= level - 1e-9
        if item.name in (road.targets or {}):
            assert error <= road.targets[item.name][0] * (1 + 1e-9)  # pyright: ignore[reportOptionalSubscript]


def check_belief(road: Road, printed: dict[str, Any]) -> None:
    """The bound holds against the best attack on this query, the attack is one, and the limits are kept."""
    attacker = road.attacker
    assert attacker is not None
    belief = Belief(road, Movement(road, parted(road, printed)))
    advantage, posterior = belief.most(belief.distances, attacker.both)
    assert printed["advantage"]["bound"] >= advantage - HAIR
    assert printed["posterior"]["bound"] >= posterior - HAIR
    for found, limit in ((advantage, attacker.advantage), (posterior, attacker.posterior)):
        assert limit is None or found <= limit + HAIR
    for key, limit in (("advantage", attacker.advantage), ("posterior", attacker.posterior)):
        assert limit is None or printed[key]["bound"] <= limit * (1 + 1e-9)
    plain = Belief(road, Movement(road, tuple(p.before_rounding() for p in parted(road, printed))))
    reached, believed = plain.most([np.max(plain.distances, axis=0)], attacker.both)
    coarse = float(np.sum(plain.movement.weights))  # arithmetic itself may move a number by a few steps of its grid
    assert printed["advantage"]["attack"] <= reached + 1e-6 + coarse
    assert printed["posterior"]["attack"] <= believed + 1e-6 + coarse
    if attacker.at is not None and printed["prior"] is not None and len(attacker.goals) == 1:
        assert math.isclose(printed["prior"], belief.prior(attacker.goal, attacker.at), rel_tol=1e-9)


def check_unlimited(road: Road) -> None:
    """Where any ε is said to do, the plain answer itself keeps the limits."""
    attacker = road.attacker
    assert attacker is not None
    belief = Belief(road, Movement(road, tuple(oracle.without_noise(road))))
    advantage, posterior = belief.most(belief.distances, attacker.both)
    assert attacker.advantage is None or advantage <= attacker.advantage + HAIR
    assert attacker.posterior is None or posterior <= attacker.posterior + HAIR


@road_law
@given(roads())
def test_every_printed_number_holds_against_brute_force(road: Road) -> None:
    printed = chosen(road)
    assume(printed is not None)
    assert printed is not None
    low, high = printed["interval"]
    assert printed["feasible"] == (high is None or low <= high)
    if not printed["feasible"]:
        assert not printed["noise"]
    elif printed["noise"]:
        check_movement(road, printed)
        check_noise(road, printed)
        check_belief(road, printed)
    else:
        check_unlimited(road)


@road_law
@given(quiet_roads())
def test_noise_without_an_attacker_costs_and_errs_as_it_says(road: Road) -> None:
    printed = chosen(road)
    assume(printed is not None and printed["noise"])
    assert printed is not None
    check_noise(road, printed)
    if road.mechanism != "gaussian":
        check_movement(road, printed)


@road_law
@given(profiled_roads())
def test_a_profile_holds_for_everybody_whom_it_speaks_of(drawn: tuple[Road, list[tuple[float, float, float]]]) -> None:
    """Three worlds: in the data with the value, in it without, and not in it (Kazan & Reiter)."""
    road, allowed = drawn
    printed = chosen(road)
    assume(printed is not None and printed["noise"])
    assert printed is not None
    check_movement(road, printed)
    distance = np.asarray([[0.0, 2.0, 1.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]]) * printed["epsilon_add_remove"]
    for p, q, most in allowed[:: max(len(allowed) // 12, 1)]:
        mass = np.asarray([p * q, p * (1 - q), 1 - p])
        kept = mass > 0
        mask = np.asarray([1.0, 0.0, 0.0])[kept]
        believed = oracle.extreme(mass[kept], distance[np.ix_(kept, kept)], mask, "upper")
        assert believed <= most * p * q * (1 + 1e-7)


# Roads that are walked to their end.


@settings(road_law, max_examples=cases(8))
@given(quiet_roads())
def test_what_is_released_is_what_the_query_says(road: Road) -> None:
    """Within the noise, which is a few scales wide at the very most."""
    rows = [*road.others, *road.others, {**road.others[0]}]
    road = Road(**{**vars(road), "rows": len(rows) if road.rows else None, "name": "road"})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table(folder, road.columns, rows)
        ledger = opened(folder, road)
        try:
            answer = released(folder, road)
        except GuessproofError:
            assume(False)
            raise
        left = ledger.remaining(road.name)
    assert float(10**9 - left.epsilon) == pytest.approx(answer["epsilon"])
    parts = oracle.measured(road, answer["noise"])
    for number in answer["answers"]:
        inside = [r for r in rows if all(r[k] == v for k, v in number["group"].items())]
        item = next(i for i in road.items if i.name == number["name"])
        part = next((p for p in parts if p.item.sql == item.sql and p.item.kind == item.kind), None)
        if part is None:  # a quotient of two noisy numbers
            continue
        width = {"cauchy": 1e5}.get(part.noise["mechanism"], 40.0) * part.noise["noise_scale"]
        plain = item.value(inside, road.where)
        assert plain is not None
        assert abs(number["value"] - plain) <= width + len(rows) * 2.0 ** part.noise["grid"] + 1e-12 * abs(plain)
        assert number["error"] is not None
        assert oracle.confidence(part.noise, number["error"] * (1 + 1e-9)) >= number["confidence"] - 1e-9


def _one_after_another(roads_: list[Road], rows: list[Any]) -> tuple[float, Belief]:
    """The advantage that the ledger judges after all of them, and the attacker who has seen every answer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table(folder, roads_[0].columns, rows)
        ledger = opened(folder, roads_[0], advantage="0.999")
        answers = [released(folder, road) for road in roads_]
        judged = float(ledger.account(roads_[0].name).advantage)
    parts = [p for road, a in zip(roads_, answers, strict=True) for p in oracle.measured(road, a["noise"])]
    all_of_them = Road(**{**vars(roads_[0]), "items": tuple(i for road in roads_ for i in road.items)})
    return judged, Belief(all_of_them, Movement(all_of_them, tuple(parts)))


@settings(road_law, max_examples=cases(6))
@given(several_roads())
def test_the_ledger_judges_all_releases_together(drawn: list[Road]) -> None:
    attacker = drawn[0].attacker
    assert attacker is not None
    try:
        judged, belief = _one_after_another(drawn, [*drawn[0].others, *drawn[0].others])
    except GuessproofError:
        assume(False)
        raise
    assert judged >= belief.most(belief.distances, attacker.both)[0] - HAIR


def _beside_a_step(*names: str) -> Road:
    """Far from 0 every contribution is rounded; the believed values lie on two sides of where it changes."""
    values, bounds = (1e14 + 10.015625, 1e14 + 10.171875), (1e14, 1e14 + 40)
    columns = tuple(Column(name, values, (3, 1), bounds) for name in names)
    atoms = [_near(c, 0.05) for c in columns]
    text = " and ".join(a.text for a in atoms)
    goal = Goal(text, lambda row, truth: all(a.met(row, truth) for a in atoms), names, names)
    attacker = Attacker(goal, advantage=0.9, at=dict.fromkeys(names, values[0]))
    item = Item("o", "sum", summed(*columns) if len(columns) > 1 else plain(*columns))
    return Road(columns, (item,), ALWAYS, (dict.fromkeys(names, 1e14),), attacker=attacker)


def test_what_a_coarse_grid_adds_is_part_of_the_bound() -> None:
    road = Road(**{**vars(_beside_a_step("x")), "epsilon": 5.0})
    printed = chosen(road)
    assert printed is not None
    belief = Belief(road, Movement(road, parted(road, printed)))
    best = belief.most(belief.distances, False)[0]
    assert best > 5e-4
    assert printed["advantage"]["bound"] >= best - 1e-9


def test_what_coarse_grids_add_is_added_up() -> None:
    """Six answers tell six times as much of the side of a step on which somebody is."""
    base = _beside_a_step("x", "y")
    walked = [Road(**{**vars(base), "epsilon": 2.0 + k / 100}) for k in range(6)]
    judged, belief = _one_after_another(walked, [*base.others])
    best = belief.most(belief.distances, False)[0]
    assert best > 1e-3
    assert judged >= best - 1e-9


def test_a_limit_that_the_largest_noise_free_step_would_break_is_searched_for() -> None:
    """With next to no noise the grid would tell of the side; with a little more it need not."""
    road = _beside_a_step("x")
    attacker = Attacker(**{**vars(road.attacker), "advantage": 0.2})
    road = Road(**{**vars(road), "attacker": attacker})
    printed = chosen(road)
    assert printed is not None
    assert printed["noise"]
    check_belief(road, printed)
    assert printed["advantage"]["bound"] >= 0.19


@pytest.mark.parametrize("targets", [(50.0, 900.0), (900.0, 50.0)])
@pytest.mark.parametrize("mechanism", ["laplace", "cauchy"])
def test_one_number_under_two_names_keeps_both_targets(targets: tuple[float, float], mechanism: str) -> None:
    x = Column("x", (0.0, 40.0), (1, 1), (0.0, 40.0))
    asked = (Item("o0", "sum", plain(x)), Item("o1", "sum", plain(x)))
    both = {"o0": (targets[0], 0.9), "o1": (targets[1], 0.99)}
    road = Road((x,), asked, ALWAYS, ({"x": 0.0},), targets=both, mechanism=mechanism)
    printed = chosen(road)
    assert printed is not None
    assert len(printed["noise"]) == 1
    check_noise(road, printed)


def test_a_failure_probability_is_shared_among_all_that_may_fail() -> None:
    """Not charged more often than the plan allows, and not refused for it."""
    x = Column("x", (0.0, 40.0), (1, 1), (0.0, 40.0))
    asked = (Item("o0", "sum", plain(x)), Item("o1", "count", plain(x), above(x, 10.0)), Item("o2", "max", plain(x)))
    road = Road((x,), asked, ALWAYS, ({"x": 0.0},), mechanism="gaussian", delta=1e-6, epsilon=1.0)
    printed = chosen(road)
    assert printed is not None
    check_noise(road, printed)
    assert printed["delta"] == pytest.approx(1e-6, rel=1e-3)


def _near(column: Column, radius: float) -> Goal:
    name = column.name
    return Goal(f"{name} within {radius!r}", lambda r, t: abs(r[name] - t[name]) <= radius, (name,), (name,))
