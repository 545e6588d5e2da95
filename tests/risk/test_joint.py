"""Several attributes: what bounds a belief is above every attack, and agrees with a fine finite world."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import pytest

import guessproof as gp

PRIORS = {
    "normal": gp.normal(0, 1),
    "uniform": gp.uniform(-2, 2),
    "laplace": gp.laplace(0, 1),
    "exponential": gp.exponential(1),
    "student": gp.student_t(4, 0, 1),
}


def _pair(first: str, second: str, kind: str, norm: str) -> gp.Attack:
    x, y = gp.Attribute("x", prior=PRIORS[first]), gp.Attribute("y", prior=PRIORS[second])
    goals: dict[str, Any] = {
        "and": gp.within(x, 0.6) & gp.within(y, 0.8),
        "or": gp.within(x, 0.4) | gp.within(y, 0.3),
        "not": ~(gp.within(x, 0.6) | gp.within(y, 0.5)),
        "place": gp.near((x, y), 0.8),
        "sum": gp.within(x + y, 0.7),
    }
    return gp.Attack(goals[kind], at={"x": 0.3, "y": 0.9}, norm=norm)


@pytest.mark.parametrize("norm", ["linf", "l2", "l1", "l3"])
@pytest.mark.parametrize("kind", ["and", "or", "not", "place", "sum"])
def test_a_bound_is_above_its_attack_and_grows_with_epsilon(kind: str, norm: str) -> None:
    attack = _pair("normal", "uniform", kind, norm)
    found = [attack.advantage(epsilon) for epsilon in (0.05, 0.3, 1.0)]
    assert all(0 < float(f.attack) <= float(f.bound) for f in found)
    assert float(found[0].bound) < float(found[1].bound) < float(found[2].bound)
    assert float(found[1].attack) > 0.55 * float(found[1].bound)


@pytest.mark.parametrize("kind", ["and", "or", "not"])
def test_cells_are_never_above_the_product_rule(kind: str) -> None:
    by_product = _pair("normal", "exponential", kind, "l1").advantage(0.4)
    for norm in ("l2", "linf"):
        assert float(_pair("normal", "exponential", kind, norm).advantage(0.4).bound) <= float(by_product.bound) + 1e-9


def test_no_laplace_release_tells_more_than_the_bound() -> None:
    rng = np.random.default_rng(7)
    attack, epsilon = _pair("normal", "normal", "and", "linf"), 0.6
    points = rng.normal(size=(200_000, 2))
    inside = (np.abs(points[:, 0] - 0.3) <= 0.6) & (np.abs(points[:, 1] - 0.9) <= 0.8)
    bound = float(attack.posterior(epsilon).bound)
    for _ in range(40):
        centre, fan = rng.normal(size=2), rng.uniform(0.2, 1)
        far = fan * np.abs(points - centre).max(axis=1) + (1 - fan) * np.abs(points[:, 0])
        likelihood = np.exp(-epsilon * far)
        assert float(likelihood[inside].sum() / likelihood.sum()) <= bound + 0.01


def test_epsilon_keeps_its_limit_and_more_cells_allow_more() -> None:
    attack = _pair("normal", "uniform", "and", "l2")
    epsilon = attack.epsilon(advantage=0.03)
    assert 0.029 < float(attack.advantage(epsilon).bound) <= 0.03
    seen: list[Any] = []
    finer = attack.advantage(0.5, tolerance=1e-3, progress=seen.append)
    assert seen
    assert float(finer.bound) <= float(attack.advantage(0.5).bound)


@pytest.mark.parametrize("names", ["abcd", "abcde"])
def test_four_and_five_attributes_are_bounded_by_pairs_of_them(names: str) -> None:
    goals = [gp.within(gp.Attribute(n, prior=gp.normal(0, 1)), 0.5) for n in names]
    attack = gp.Attack(functools.reduce(operator.and_, goals), at=dict.fromkeys(names, 0.2))
    found = attack.advantage(0.5)
    alone = gp.Attack(attack.goal, at=attack.at, norm="l1").advantage(0.5)
    assert 0 < float(found.attack) <= float(found.bound) < float(alone.bound)


def test_a_joint_histogram_of_independent_parts_is_the_product_of_its_margins() -> None:
    edges, rows, columns = [[0.0, 1, 2, 4], [0.0, 1, 3]], [0.2, 0.5, 0.3], [0.6, 0.4]
    joint = gp.joint_histogram(("x", "y"), edges, np.outer(rows, columns).tolist()).attributes()
    apart = [gp.Attribute(n, prior=gp.histogram(e, w)) for n, e, w in zip("xy", edges, (rows, columns), strict=True)]
    found = [
        gp.Attack(gp.within(a, 0.5) & gp.within(b, 0.6), at={"x": 1.2, "y": 1.4}).advantage(0.7)
        for a, b in (joint, apart)
    ]
    assert float(found[0].bound) == pytest.approx(float(found[1].bound), rel=0.08)
    assert float(found[0].attack) == pytest.approx(float(found[1].attack), rel=0.15)


@pytest.mark.parametrize("norm", ["linf", "l1"])
@pytest.mark.parametrize("kind", ["and", "place", "known"])
def test_jointly_normal_attributes_agree_with_independent_ones_where_they_are(kind: str, norm: str) -> None:
    """Without correlation the bound is that of independent attributes, and a little more where cells are cut."""
    joint = gp.joint_normal(("x", "y"), mean=(0, 0), sd=(1, 2), correlation=1e-9).attributes()
    apart = tuple(gp.Attribute(n, prior=gp.normal(0, sd)) for n, sd in (("x", 1), ("y", 2)))
    found: list[gp.Bracket] = []
    for x, y in (joint, apart):
        goals: dict[str, Any] = {
            "and": gp.within(x, 0.6) & gp.within(y, 1.5),
            "place": gp.near((x, y), 1.2),
            "known": gp.within(x - y, 0.6),
        }
        knows: Any = {x + y: (0, 3)} if kind == "known" else None
        found.append(gp.Attack(goals[kind], at={"x": 0.3, "y": 0.9}, knows=knows, norm=norm).advantage(0.4))
    own, other = found
    assert float(own.attack) <= float(other.bound) * (1 + 1e-9)
    assert float(own.bound) == pytest.approx(float(other.bound), rel=0.12)


def test_correlated_normal_numbers_have_the_probability_and_the_bound_of_their_sum() -> None:
    """A sum of them is one normal number: its own attack is private in l1, and below the bound for the pair."""
    x, y = gp.joint_normal(("x", "y"), mean=(1, 2), sd=(1, 2), correlation=0.7).attributes()
    alone = gp.Attack(gp.within(gp.Attribute("sum", prior=gp.normal(3, (1 + 4 + 2.8) ** 0.5)), 0.8), at={"sum": 3.5})
    pair = gp.Attack(gp.within(x + y, 0.8), at={"x": 1.5, "y": 2}, norm="l1")
    assert pair.prior == pytest.approx(alone.prior, rel=1e-8)
    assert float(alone.posterior(0.3).attack) <= float(pair.posterior(0.3).bound)
    assert float(pair.posterior(0.3).attack) <= float(pair.posterior(0.3).bound)


@pytest.mark.parametrize("epsilon", [1.5, 5.0])
def test_rounding_far_out_is_no_attack(epsilon: float) -> None:
    """A probability that is known up to 1e-16 says nothing where a likelihood is e^50 times larger."""
    weights = [0.79249694921106, 0.1886265475099072, 0.013345626918820939, 0.0, 0.005530876360211889]
    prior = gp.histogram([341.5103227349864, 617.54, 836.67, 886.74, 913.79, 941.8], weights)
    x = gp.Attribute("x", prior=prior, metric=gp.Absolute(119.8))
    y = gp.Attribute("y", prior=gp.exponential(0.138), metric=gp.Absolute(0.05424))
    attack = gp.Attack(gp.within(x, 12) & ~gp.within(y, 0.0108), at={"x": 492.8, "y": 0.2289}, norm="l3")
    found = attack.posterior(epsilon, side="lower")
    assert 0 < found.bound <= found.attack < attack.prior
