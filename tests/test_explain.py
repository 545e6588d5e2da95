"""What an ε means, against every prior tried one by one and every likelihood of two values."""

from __future__ import annotations

import json
import math

import pytest

from guessproof.deployments import DEPLOYMENTS
from guessproof.errors import ParameterError
from guessproof.explain import PRIORS, explain

EPSILONS = (0.01, 0.5, 1.0, math.log(3), 4.0, 12.0)


def slow_belief(prior: float, epsilon: float) -> float:
    """Bayes on two values whose likelihoods differ by the factor e^ε."""
    right, wrong = prior * math.exp(epsilon), 1 - prior
    return right / (right + wrong)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_beliefs_are_bayes_on_two_values(epsilon: float) -> None:
    found = explain(epsilon)
    assert [row.prior for row in found.rows] == list(PRIORS)
    for row in found.rows:
        assert row.highest == pytest.approx(slow_belief(row.prior, epsilon), rel=1e-12)
        assert row.lowest == pytest.approx(slow_belief(row.prior, -epsilon), rel=1e-12)
        assert row.ratio == pytest.approx(slow_belief(row.prior, epsilon) / row.prior, rel=1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_records_that_come_and_go_are_two_steps_apart(epsilon: float) -> None:
    for row in explain(epsilon).rows:
        assert row.ratio_add_remove == pytest.approx(slow_belief(row.prior, 2 * epsilon) / row.prior, rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_prior_gains_more_than_the_worst(epsilon: float) -> None:
    found = explain(epsilon)
    assert found.odds_factor == pytest.approx(math.exp(epsilon), rel=1e-12)
    rises = [slow_belief(i / 10_000, epsilon) - i / 10_000 for i in range(10_001)]
    assert max(rises) <= found.worst_advantage * (1 + 1e-12)
    assert max(rises) == pytest.approx(found.worst_advantage, rel=1e-3)
    at = found.worst_prior
    assert slow_belief(at, epsilon) - at == pytest.approx(found.worst_advantage, rel=1e-9)


def test_an_enormous_epsilon_overflows_nowhere() -> None:
    found = explain(5000.0)
    assert math.isinf(found.odds_factor)
    assert found.worst_advantage == pytest.approx(1.0)
    assert all(row.highest == pytest.approx(1.0) for row in found.rows)
    assert all(row.lowest == 0.0 for row in found.rows)


@pytest.mark.parametrize("epsilon", [0.001, 0.7, 3.0, 100.0])
def test_the_nearest_deployments_are_the_nearest(epsilon: float) -> None:
    found = explain(epsilon).deployments
    far = max(abs(math.log(d.epsilon / epsilon)) for d in found)
    assert all(abs(math.log(d.epsilon / epsilon)) >= far * (1 - 1e-12) for d in DEPLOYMENTS if d not in found)
    assert [d.epsilon for d in found] == sorted(d.epsilon for d in found)
    assert len(found) == 3


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, "1"])
def test_what_is_no_epsilon_is_refused(epsilon: float) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        explain(epsilon)


def test_it_is_ready_for_json() -> None:
    table = json.loads(json.dumps(explain(1.0).to_dict()))
    assert table["rows"][0]["prior"] == PRIORS[0]
    assert table["deployments"][0]["source"]
