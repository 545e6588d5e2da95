"""The whole road, from the words of a plan to the numbers that are printed, against brute force on both sides.

Every plan is drawn as text with all that a plan can say, and every number of the answer is compared with what the
query, evaluated here, does on neighbouring tables, and with what a linear program lets the attacker learn from it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings

import guessproof as gp
from guessproof.errors import GuessproofError
from road import oracle
from road.drawing import roads
from road.oracle import Belief, Measured, Movement
from road.plans import Road

HAIR = 1e-7  # what a linear program may err
road_law = settings(max_examples=120, suppress_health_check=list(HealthCheck))


def chosen(road: Road) -> dict[str, Any] | None:
    """The printed choice; None where the plan is refused."""
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
    assert printed["advantage"]["attack"] <= reached + 1e-6
    assert printed["posterior"]["attack"] <= believed + 1e-6
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
