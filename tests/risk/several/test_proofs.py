"""The proofs themselves, taken out of their engines: leaves and prices that must never prove too much."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

import guessproof as gp
from guessproof.risk.several.formula import negated, normal
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.leaf_bound import LeafSide, and_leaves, or_leaves
from guessproof.risk.several.program import Edges, best_odds, certify
from guessproof.risk.several.shift import BeliefShift, all_of, any_of
from guessproof.risk.several.signed import signed_attack

PRIORS = [gp.normal(0, 2), gp.laplace(0.5, 1.5), gp.uniform(-3, 4), gp.exponential(2), gp.normal(0, 3).given(-2, 5)]


@pytest.mark.parametrize("seed", range(14))
def test_leaves_never_fall_below_an_attack(seed: int) -> None:
    rng = np.random.default_rng(seed)
    priors = [PRIORS[i] for i in rng.integers(0, len(PRIORS), 2 if seed % 3 else 3)]
    truth = [float(p.quantile(rng.uniform(0.15, 0.85))) for p in priors]
    radii = rng.uniform(0.3, 1.5, len(priors))
    attributes = [gp.Attribute(n, p) for n, p in zip("abc", priors, strict=False)]
    parts = [gp.within(a, float(r)) for a, r in zip(attributes, radii, strict=True)]
    joint_attack = JointAttack(
        {a.name: a for a in attributes}, {a.name: t for a, t in zip(attributes, truth, strict=True)}, "linf"
    )
    sides = [
        LeafSide(p, max(t - r, p.support[0]), min(t + r, p.support[1]), 1.0)
        for p, t, r in zip(priors, truth, radii, strict=True)
    ]
    for leaves, goal in ((and_leaves, parts[0] & parts[1]), (or_leaves, parts[0] | parts[1])):
        for part in parts[2:]:
            goal = goal & part if leaves is and_leaves else goal | part
        tree, epsilon = normal(goal), float(rng.uniform(0.1, 1.5))
        prior = joint_attack.prior(tree)
        base = prior.log_p - prior.log_q
        up, down = signed_attack(joint_attack, tree, epsilon), signed_attack(joint_attack, negated(tree), epsilon)
        assert up is not None
        assert down is not None
        assert leaves(sides, epsilon) >= base + up[0] - 1e-9
        assert leaves(sides, -epsilon) <= base - down[0] + 1e-9


def test_one_leaf_is_the_tent() -> None:
    bracket = gp.Attack(gp.within(gp.Attribute("x", gp.normal(0, 1)), 1), at={"x": 0.7}).posterior(0.6)
    leaf = and_leaves([LeafSide(gp.normal(0, 1), -0.3, 1.7, 1.0)], 0.6)
    assert 1 / (1 + np.exp(-leaf)) == pytest.approx(bracket.bound, rel=1e-6)


def chain(cells: int = 40) -> tuple[np.ndarray, np.ndarray, Edges]:
    """A line of cells, the goal in the middle."""
    rng = np.random.default_rng(1)
    mass = rng.dirichlet(np.ones(cells))
    goal = (np.abs(np.arange(cells) - cells / 2) < 5).astype(float)
    left = np.arange(cells - 1)
    rows, cols = np.concatenate([left, left + 1]), np.concatenate([left + 1, left])
    return mass * goal, mass * (1 - goal), Edges(rows, cols, np.full(rows.size, 0.2))


@pytest.mark.parametrize("factor", [0.5, 0.99, 1.01, 1.5, 10.0])
def test_prices_that_are_too_high_prove_nothing_false(factor: float) -> None:
    """Raising the right prices breaks the proof at cells outside the goal; the check must notice and shrink them."""
    inside, outside, edges = chain()
    n, e = inside.size, edges.rows.size
    ratio = np.exp(-edges.cost)
    index = np.arange(e)
    entries = (
        np.concatenate([ratio, -np.ones(e)]),
        (np.concatenate([index, index]), np.concatenate([edges.rows, edges.cols])),
    )
    matrix = coo_array(entries, shape=(e, n)).tocsr()
    solved = linprog(outside, A_ub=matrix, b_ub=np.zeros(e), A_eq=inside[None, :], b_eq=[1.0], bounds=(0, None))
    prices = np.maximum(-solved.ineqlin.marginals, 0.0)
    assert certify(inside, outside, edges, ratio, prices) == pytest.approx(solved.fun, rel=1e-6)
    assert certify(inside, outside, edges, ratio, factor * prices) <= solved.fun * (1 + 1e-9)
    assert best_odds(inside, outside, edges).bound == pytest.approx(-np.log(solved.fun), abs=1e-7)


def test_shifts_compose_like_probabilities() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        p, u = rng.uniform(0.01, 0.99, (2, 3))
        parts = [
            BeliefShift(float(np.log(a)), float(np.log1p(-a)), float(np.log(b / (1 - b)) - np.log(a / (1 - a))))
            for a, b in zip(p, u, strict=True)
        ]
        for whole, before, after in ((all_of(parts), np.prod(p), np.prod(u)),
                                     (any_of(parts), 1 - np.prod(1 - p), 1 - np.prod(1 - u))):  # fmt: skip
            assert np.exp(whole.log_p) == pytest.approx(before)
            assert before * np.exp(whole.ratio) == pytest.approx(after)


def test_tiny_gains_keep_their_digits() -> None:
    parts = [BeliefShift(np.log(0.3), np.log(0.7), 1e-12), BeliefShift(np.log(0.6), np.log(0.4), 2e-12)]
    # d ln odds = Σ (1−pᵢ)·gainᵢ / (1 − p) to first order
    assert all_of(parts).gain == pytest.approx((0.7e-12 + 0.8e-12) / (1 - 0.18), rel=1e-9)


@pytest.mark.parametrize("gains", [(3.0, 2.0), (12.0, 15.0), (45.0, 50.0), (45.0, 400.0), (5000.0, 6000.0)])
def test_beliefs_that_are_nearly_certain_keep_what_is_left_of_them(gains: tuple[float, float]) -> None:
    """Beyond odds of 1e16 nothing was left of 1 minus a belief, and less than attacks reach was proven."""
    with mp.workdps(6000):
        odds = [mp.mpf(p) / (1 - mp.mpf(p)) * mp.e**g for p, g in zip((0.25, 0.5), gains, strict=True)]
        both = mp.fprod(o / (1 + o) for o in odds)
        wanted = float(mp.log(both / (1 - both)) - mp.log(mp.mpf(0.125) / mp.mpf(0.875)))
    parts = [BeliefShift(np.log(p), np.log(1 - p), g) for p, g in zip((0.25, 0.5), gains, strict=True)]
    assert all_of(parts).gain == pytest.approx(wanted, rel=1e-13)
    assert any_of([part.flipped() for part in parts]).gain == pytest.approx(-wanted, rel=1e-13)


@pytest.mark.parametrize("epsilon", [50.0, 1e4, 1e90])
def test_large_epsilons_are_narrowed_without_a_contradiction(epsilon: float) -> None:
    x, y = gp.Attribute("x", gp.normal(0, 2)), gp.Attribute("y", gp.normal(0, 3))
    for goal in (gp.within(x, 1) & gp.within(y, 1), gp.near((x, y), 1)):
        attack = gp.Attack(goal, at={"x": 0.5, "y": 1.0})
        found = attack.advantage(epsilon, both=True, tolerance=1e-12, time_limit=0.3)
        assert found.attack <= found.bound <= 1 - attack.prior + 1e-12
