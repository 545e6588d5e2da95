"""The curve of an attack: never above the safe ε, never more than its knots are apart below, for any attack."""

from __future__ import annotations

import math
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.errors import InfeasibleError, ParameterError

ROOM = 0.021  # knots are 2 % apart, and what is exact is known to 0.1 %
DENSITIES: dict[str, Any] = {
    "normal": gp.normal(2, 3),
    "uniform": gp.uniform(-4, 7),
    "exponential": gp.exponential(2),
    "laplace": gp.laplace(1, 2),
    "histogram": gp.histogram([-3, -1, 0, 4, 5], [0.1, 0.4, 0.2, 0.3]),
}


def drawn_attack(name: str, rng: np.random.Generator, **more: Any) -> gp.Attack:
    x = gp.Attribute("x", prior=DENSITIES[name], scale=float(rng.choice([1.0, 2.5])))
    return gp.Attack(gp.within(x, float(rng.uniform(0.3, 1.5))), at={"x": float(rng.uniform(0.1, 3.5))}, **more)


def check_limits(curve: gp.Curve, limits: dict[str, Any], room: float = ROOM) -> None:
    try:
        exact = curve.attack.epsilon(**limits)
    except InfeasibleError:
        with pytest.raises(InfeasibleError):
            curve.epsilon(**limits)
        return
    found = curve.epsilon(**limits)
    assert found <= exact, limits
    assert found >= (1 - room) * exact or (math.isinf(exact) and math.isinf(found)), (limits, found, exact)


def check_found(curve: gp.Curve, asked: str, limit: float) -> None:
    """The same of a worst true value, whose exact ε is a long search: the limit holds, and is broken just above."""
    attack, both = curve.attack, asked == "both"
    limits: dict[str, Any] = {"advantage": limit, "both": True} if both else {asked: limit}
    found = curve.epsilon(**limits)

    def measured(epsilon: float) -> gp.Bracket:
        return attack.posterior(epsilon) if asked == "posterior" else attack.advantage(epsilon, both)

    assert measured(found).bound <= limit * (1 + 1e-9), (limits, found)
    assert measured(found * (1 + ROOM)).attack > limit, (limits, found)


@pytest.mark.parametrize("name", DENSITIES)
def test_a_stated_true_value(name: str) -> None:
    numbers = np.random.default_rng(len(name))
    attack = drawn_attack(name, numbers)
    curve = gp.Curve(attack)
    for limit in numbers.uniform(0, 1, 6) ** 2:
        check_limits(curve, {"advantage": limit})
        check_limits(curve, {"advantage": limit, "both": True})
        check_limits(curve, {"posterior": limit})
        check_limits(curve, {"posterior": limit, "advantage": limit / 3})
    epsilons = attack.attribute.scale * 10.0 ** numbers.uniform(-5, 2, 40)
    exact, after = attack.advantage(epsilons).bound, attack.posterior(epsilons).bound
    for epsilon, rise, belief in zip(epsilons, np.asarray(exact), np.asarray(after), strict=True):
        assert curve.advantage(epsilon) >= rise * (1 - 1e-12)
        assert curve.posterior(epsilon) >= belief * (1 - 1e-12)


@pytest.mark.parametrize("name", ["normal", "uniform", "exponential", "laplace"])
def test_the_worst_true_value(name: str) -> None:
    """Of exponential tails it lies at infinity for a large ε."""
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=DENSITIES[name]), 0.7))
    curve = gp.Curve(attack)
    tells_slowly = name in ("exponential", "laplace")  # there the search for one ε is slow, what a curve says is not
    for limit in (0.003, 0.1) if tells_slowly else (0.003, 0.1, 0.5):
        check_found(curve, "advantage", limit)
    check_found(curve, "posterior", 0.6 if tells_slowly else 0.7)
    if name in ("normal", "uniform"):
        check_found(curve, "both", 0.1)
    for epsilon in (0.11, 0.9):
        assert curve.advantage(epsilon) >= attack.advantage(epsilon).attack


def test_the_worst_true_value_of_a_percentage_and_of_a_clamped_distance() -> None:
    x = gp.Attribute("x", prior=gp.normal(20, 6.28), metric=gp.Clamped(0, 40, 1.0))
    for goal, limit in ((gp.within(x, 2), 0.15), (gp.within(x, percent=10), 0.02)):
        check_found(gp.Curve(gp.Attack(goal)), "advantage", limit)


def test_other_engines() -> None:
    faculty = gp.Attribute("faculty", prior=gp.categorical({"math": 0.5, "cs": 0.3, "law": 0.2}))
    places = gp.Attribute("place", prior=gp.empirical([1, 2, 2, 5, 9, 9.5, 14]))
    range_only = gp.Attribute("x", prior=gp.unknown(0, 10))
    for attack in (
        gp.Attack(gp.exactly(faculty), at={"faculty": "cs"}),
        gp.Attack(gp.exactly(faculty)),
        gp.Attack(gp.within(places, 1)),
        gp.Attack(gp.within(range_only, 1)),
    ):
        curve = gp.Curve(attack)
        for limit in (0.01, 0.1, 0.3):
            check_limits(curve, {"advantage": limit})


def test_a_prior_that_may_be_wrong() -> None:
    faculty = gp.Attribute("faculty", prior=gp.categorical({"math": 0.5, "cs": 0.3, "law": 0.2}))
    attack = gp.Attack(gp.exactly(faculty), at={"faculty": "cs"}, prior_factor=1.5)
    curve = gp.Curve(attack)
    for limit in (0.03, 0.2):
        check_limits(curve, {"advantage": limit})
    check_limits(curve, {"posterior": 0.6})
    assert curve.posterior(0.3) >= attack.posterior(0.3).bound * (1 - 1e-9)


def test_several_attributes_say_how_near_they_are() -> None:
    colour = gp.Attribute("colour", prior=gp.categorical({"red": 0.2, "white": 0.8}))
    sex = gp.Attribute("sex", prior=gp.categorical({"M": 0.5, "F": 0.5}))
    attack = gp.Attack(gp.exactly(colour) | gp.exactly(sex), at={"colour": "red", "sex": "M"})
    curve = gp.Curve(attack)
    check_limits(curve, {"advantage": 0.1})
    each = gp.Curve(gp.Attack(attack.goal, attack.at, or_="each"))
    check_limits(each, {"advantage": 0.1})


def test_it_is_a_value() -> None:
    curve = gp.Curve(drawn_attack("normal", np.random.default_rng(4)))
    again = pickle.loads(pickle.dumps(curve))
    assert again.epsilon(advantage=0.1) == curve.epsilon(advantage=0.1)
    points = curve.points(50)
    assert all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(points))
    with pytest.raises(AttributeError):
        curve.attack = None  # pyright: ignore[reportAttributeAccessIssue]


def test_what_has_no_curve_is_refused() -> None:
    x = gp.Attribute("x", prior=gp.normal(0, 1))
    with pytest.raises(ParameterError, match="one curve for each"):
        gp.Curve(gp.Attack(gp.within(x, 1), at={"x": [0, 1]}))
    with pytest.raises(ParameterError, match="is not an attack"):
        gp.Curve(x)  # pyright: ignore[reportArgumentType]
    curve = gp.Curve(gp.Attack(gp.within(x, 1), at={"x": 0}))
    for wrong in (-1, math.nan, [1, 2]):
        with pytest.raises(ParameterError):
            curve.advantage(wrong)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("limit", [0.3, 0.5019558178528393, 0.6, 0.6453717658107934])
def test_knots_are_near_enough_where_a_curve_levels_slowly(limit: float) -> None:
    """How it bends before a wide interval says too much of how it bends in it."""
    x = gp.Attribute("x", prior=gp.laplace(1.637, 0.333), metric=gp.Clamped(0.297, 1.826))
    curve = gp.Curve(gp.Attack(gp.inside(x, (1.826, 4.118))))
    check_limits(curve, {"advantage": limit})


@pytest.mark.parametrize("name", ["normal", "exponential", "laplace"])
@pytest.mark.parametrize("ends", [(1.5, math.inf), (-math.inf, 2.5)])
def test_a_goal_without_an_end_needs_no_more_knots(name: str, ends: tuple[float, float]) -> None:
    attack = gp.Attack(gp.inside(gp.Attribute("x", prior=DENSITIES[name], scale=2.5), ends))
    curve = gp.Curve(attack)
    for share in (0.01, 0.3, 0.8, 0.99):
        for both in (False, True):
            check_limits(curve, {"advantage": share * (1 - attack.prior), "both": both})


def test_a_curve_is_asked_of_one_limit_at_a_time() -> None:
    curve = gp.Curve(drawn_attack("normal", np.random.default_rng(1)))
    several: list[Any] = [np.array([0.1, 0.2]), [0.1]]
    for limit in several:
        with pytest.raises(ParameterError, match="one at a time"):
            curve.epsilon(advantage=limit)
        with pytest.raises(ParameterError, match="one at a time"):
            curve.epsilon(posterior=limit)


@pytest.mark.parametrize("both", [False, True])
def test_a_huge_epsilon_is_answered_without_a_warning(both: bool) -> None:
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(0, 1)), 0.3), at={"x": 0.5}, prior_factor=1.5)
    found = [attack.advantage(epsilon, both) for epsilon in (1e3, 1e8)]
    assert found[0].bound - 1e-15 <= found[1].bound  # but for the last digit
    assert found[1].bound <= 1 - attack.prior / (1.5 - 0.5 * attack.prior) + 1e-6


def test_a_limit_within_reach_of_the_smallest_epsilons_is_kept() -> None:
    """What `within` says holds of every ε, the smallest ones included."""
    curve = gp.Curve(drawn_attack("normal", np.random.default_rng(2)))
    for limit in (1e-12, 1e-7, 1e-4):
        exact = curve.epsilon(advantage=limit, exact=True)
        assert (1 - curve.within) * (1 - 1e-3) * exact <= curve.epsilon(advantage=limit) <= exact


def test_a_curve_says_what_an_attack_reaches() -> None:
    attack = drawn_attack("laplace", np.random.default_rng(3))
    curve = gp.Curve(attack)
    for epsilon in (1e-9, 0.03, 0.7, 40.0):
        exact = float(attack.advantage(epsilon).attack)
        assert 0.97 * exact <= curve.rise.reached(epsilon) <= exact * (1 + 1e-9)


def test_brackets_and_curves_can_be_sent_to_another_process() -> None:
    attack = gp.Attack(gp.within(gp.Attribute("x", gp.normal(0, 1)), 1), at={"x": 0.5})
    curve = gp.Curve(attack)
    belief = curve.posterior(0.3)
    assert pickle.loads(pickle.dumps(curve)).posterior(0.3) == belief
    sent = pickle.loads(pickle.dumps(attack.posterior(0.3)))
    assert sent == attack.posterior(0.3)
    assert sent.certificate().check()
