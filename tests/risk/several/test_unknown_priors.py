"""Several attributes without priors: the answer over their ranges, which no prior that was tried exceeds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import guessproof as gp
from guessproof.errors import GoalError, ParameterError

A, B = (gp.Attribute(name, prior=gp.unknown(0, 1)) for name in "ab")
KNOWN = gp.Attribute("b", prior=gp.normal(0, 1))


def test_two_unknown_attributes_have_the_answer_of_their_range() -> None:
    for goal in (gp.within(A, 0.05) & gp.within(B, 0.05), gp.within(A, 0.05) | gp.within(B, 0.05)):
        assert gp.Attack(goal).epsilon(advantage=0.1) == pytest.approx(4 * math.atanh(0.1), rel=1e-12)
    both = gp.Attack(gp.within(A, 0.05) & gp.within(B, 0.05))
    assert both.epsilon(advantage=0.1) == pytest.approx(0.40134, abs=5e-6)
    assert both.advantage(0.4).status == "exact"
    assert gp.Attack(both.goal, norm="l1").epsilon(advantage=0.1) == pytest.approx(2 * math.atanh(0.1), rel=1e-12)
    assert gp.Attack(both.goal, norm="l2").epsilon(advantage=0.1) == pytest.approx(4 * math.atanh(0.1) / 2**0.5)


def _best(prior: np.ndarray, distance: np.ndarray, goal: np.ndarray) -> float:
    """The largest belief over all private likelihoods, as a linear program."""
    n = len(prior)
    rows = [(i, j) for i in range(n) for j in range(n) if i != j]
    matrix = np.zeros((len(rows), n))
    for k, (i, j) in enumerate(rows):
        matrix[k, i], matrix[k, j] = 1.0, -math.exp(distance[i, j])
    found = linprog(-(prior * goal), matrix, np.zeros(len(rows)), prior[None, :], [1.0], bounds=(0, None))
    return float(-found.fun)


@pytest.mark.parametrize("joined", ["and", "or"])
@pytest.mark.parametrize("both", [False, True])
def test_no_prior_of_the_unknown_one_gains_more(joined: str, both: bool) -> None:
    """Drawn priors of the unknown attribute beside a known list, every likelihood by linear program."""
    rng = np.random.default_rng(11)
    values, weights = [0.0, 1.0, 2.5], [0.2, 0.5, 0.3]
    known = gp.Attribute("b", prior=gp.categorical(dict(zip(values, weights, strict=True))))
    parts = gp.within(A, 0.05), gp.within(known, 0.5)
    goal = parts[0] & parts[1] if joined == "and" else parts[0] | parts[1]
    best = 0.0
    for epsilon in (0.5, 1.5):
        bound = float(gp.Attack(goal, at={"a": 0.0, "b": 1.0}).advantage(epsilon, both).bound)
        for _ in range(25):
            points = np.array([0.0, 1.0, rng.random()])
            mass = rng.dirichlet([0.5, 0.5, 0.1])
            x, y = (g.ravel() for g in np.meshgrid(points, values, indexing="ij"))
            prior = np.outer(mass, weights).ravel()
            apart = np.maximum(np.abs(x[:, None] - x), np.abs(y[:, None] - y))
            hits = [x <= 0.05, np.abs(y - 1.0) <= 0.5]
            inside = (hits[0] & hits[1] if joined == "and" else hits[0] | hits[1]).astype(float)
            rise = _best(prior, epsilon * apart, inside) - prior @ inside
            fall = _best(prior, epsilon * apart, 1 - inside) - prior @ (1 - inside)
            reached = max(rise, fall) if both else rise
            assert reached <= bound + 1e-9
            best = max(best, reached / bound)
    assert best > 0.6


def test_one_unknown_and_one_known() -> None:
    attack = gp.Attack(gp.within(A, 0.05) & gp.within(KNOWN, 0.5), at={"a": 0.3, "b": 0.0})
    epsilon = attack.epsilon(advantage=0.1)
    assert float(attack.advantage(epsilon).bound) <= 0.1
    assert float(attack.advantage(epsilon * 1.001).bound) > 0.1
    sure = gp.Attribute("b", prior=gp.uniform(0, 1))  # a part that is nearly sure leaves the unknown one alone
    near = gp.Attack(gp.within(A, 0.05) & gp.within(sure, 0.999), at={"a": 0.3, "b": 0.0}).epsilon(advantage=0.1)
    assert near == pytest.approx(4 * math.atanh(0.1), rel=5e-3)


def test_what_needs_a_prior_or_a_true_value_says_so() -> None:
    mixed = gp.within(A, 0.05) & gp.within(KNOWN, 0.5)
    with pytest.raises(ParameterError, match="true value of b"):
        gp.Attack(mixed).epsilon(advantage=0.1)
    with pytest.raises(ParameterError, match="undefined without a prior"):
        gp.Attack(mixed, at={"a": 0.3, "b": 0.0}).epsilon(posterior=0.5)
    with pytest.raises(GoalError, match="needs a prior"):
        gp.Attack(gp.within(A, 0.05) & ~gp.within(KNOWN, 0.5), at={"a": 0.3, "b": 0.0}).epsilon(advantage=0.1)
