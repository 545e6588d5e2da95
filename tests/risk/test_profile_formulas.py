"""Relative risk and its inverse at one pair of priors."""

from __future__ import annotations

import json
import math
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from reference.profiles import allowed_epsilon, exact_epsilon, relative_risk_by_program

from guessproof.errors import ParameterError
from guessproof.risk import absolute_risk, epsilon_for_relative_risk, relative_risk

DATA = Path(__file__).parents[1] / "data"
GOLDEN = json.loads((DATA / "exact.json").read_text())["risk"]


def triples(count: int, seed: int) -> np.ndarray:
    """Priors all over (0, 1], with their awkward ends, and ε or ratio drawn log-uniformly."""
    random = np.random.default_rng(seed)
    p, q = random.random((2, count))
    for values in (p, q):
        values[random.random(count) < 0.15] = 1.0
        small = random.random(count) < 0.15
        values[small] = 10 ** random.uniform(-15, 0, small.sum())
        near = random.random(count) < 0.1
        values[near] = 1 - 10 ** random.uniform(-15, -1, near.sum())
    return np.stack([p, q, 10 ** random.uniform(-6, 1, count)])


@pytest.mark.parametrize("case", GOLDEN)
def test_golden_values(case: dict[str, float]) -> None:
    risk = relative_risk(case["p"], case["q"], case["eps"])
    assert risk == pytest.approx(case["relative_risk"], rel=1e-9)
    back = epsilon_for_relative_risk(case["p"], case["q"], case["relative_risk"])
    assert back <= case["eps"] * (1 + 1e-9)
    assert back == pytest.approx(case["eps"], rel=1e-9)


def test_risk_is_the_linear_program_of_the_three_worlds() -> None:
    random = np.random.default_rng(3)
    for _ in range(150):
        p, q = random.uniform(0.01, 1, 2)
        epsilon = random.uniform(0.01, 3)
        assert relative_risk(p, q, epsilon) == pytest.approx(relative_risk_by_program(p, q, epsilon), rel=1e-7)
    assert relative_risk(1.0, 0.3, 0.7) == pytest.approx(relative_risk_by_program(1.0, 0.3, 0.7), rel=1e-7)


def test_bounded_risk_is_that_of_two_worlds_at_half_the_distance() -> None:
    q, epsilon = np.linspace(0.01, 1, 50), 0.8
    direct = 1 / (q + math.exp(-epsilon) * (1 - q))
    assert relative_risk(1, q, epsilon, bounded=True) == pytest.approx(direct, rel=1e-14)
    assert relative_risk(1, q, epsilon / 2) == pytest.approx(direct, rel=1e-14)
    back = 2 * epsilon_for_relative_risk(1, q[:-1], direct[:-1])
    assert back == pytest.approx(np.full(49, epsilon), rel=1e-9)
    assert (back <= epsilon * (1 + 1e-12)).all()


@pytest.mark.parametrize("call", [relative_risk, absolute_risk])
def test_bounded_needs_certain_inclusion(call) -> None:
    with pytest.raises(ParameterError, match="presence") as caught:
        call(0.5, 0.5, 1.5, bounded=True)
    assert caught.value.field == "p"


def test_inverse_is_never_above_the_truth_and_misses_it_by_rounding_only() -> None:
    p, q, excess = triples(4000, 7)
    ratio = 1 + excess
    nearly = np.arange(len(p)) % 5 == 0  # close to certainty, where the condition is worst
    ratio[nearly] = np.maximum(1, (1 - 10 ** -np.random.default_rng(8).uniform(1, 13, nearly.sum())) / (p * q)[nearly])
    answers = epsilon_for_relative_risk(p, q, ratio)
    for at in range(len(p)):
        truth = exact_epsilon(p[at], q[at], ratio[at])
        if truth == mp.inf:
            assert answers[at] == math.inf
            continue
        room = 1 - float(mp.mpf(ratio[at]) * mp.mpf(p[at]) * mp.mpf(q[at]))
        assert mp.mpf(answers[at]) <= truth
        assert float(truth - mp.mpf(answers[at])) <= 4e-15 * (float(truth) + 1 / room)


def test_small_ratios_keep_their_relative_accuracy() -> None:
    for exponent in range(-15, -1):
        ratio = 1 + 10.0**exponent
        truth = float(exact_epsilon(0.3, 0.4, ratio))
        assert epsilon_for_relative_risk(0.3, 0.4, ratio) == pytest.approx(truth, rel=2e-14, abs=0)


def test_inverse_agrees_with_bisection() -> None:
    p, q, excess = triples(3000, 9)
    ratio = 1 + excess
    ours, slow = epsilon_for_relative_risk(p, q, ratio), allowed_epsilon(p, q, ratio)
    finite = np.isfinite(slow) & (ratio * p * q < 1 - 1e-9)
    assert ours[finite] == pytest.approx(slow[finite], rel=1e-6, abs=1e-12)
    assert np.isinf(ours[ratio * p * q >= 1]).all()


@pytest.mark.parametrize(
    ("p", "q", "ratio", "epsilon"),
    [
        (0.0, 0.7, 4.0, math.log(4)),  # p → 0
        (1e-300, 0.7, 4.0, math.log(4)),
        (1.0, 0.0, 4.0, math.log(2)),  # q → 0, inclusion known
        (1.0, 0.25, 3.0, 0.5 * math.log(9)),  # p = 1, q = 1/(r+1)
        (0.4, 0.25, 3.0, math.log(3)),  # q = 1/(r+1): the same ε for every p
        (0.9, 0.25, 3.0, math.log(3)),
        (0.05, 1.0, 3.0, math.log(0.95 / (1 / 3 - 0.05))),  # q = 1
        (0.5, 1.0, 2.0, math.inf),  # certainty keeps the ratio
        (1 / 3, 1.0, 3.0, math.inf),
        (1.0, 1.0, 1.0, math.inf),
        (0.3, 0.7, 1 / (0.3 * 0.7), math.inf),  # equality up to rounding
        (0.5, 0.5, math.inf, math.inf),
        (0.3, 0.3, 1.0, 0.0),
    ],
)
def test_edges(p: float, q: float, ratio: float, epsilon: float) -> None:
    assert epsilon_for_relative_risk(p, q, ratio) == pytest.approx(epsilon, rel=1e-13, abs=1e-15)


def test_risk_at_the_ends_of_epsilon() -> None:
    assert relative_risk(0.3, 0.4, 0.0) == pytest.approx(1.0, rel=1e-15)
    assert relative_risk(0.3, 0.4, math.inf) == pytest.approx(1 / 0.12)
    assert relative_risk(0.0, 0.4, math.inf) == math.inf
    assert absolute_risk(0.3, 0.4, math.inf) == 1.0
    assert absolute_risk(0.0, 0.4, math.inf) == 0.0
    assert relative_risk(1.0, 1.0, 2.0) == 1.0


def test_corollary_1_and_lemmas_on_monotonicity() -> None:
    """[KR] Corollary 1, and Lemmas 3 and 4, whose proofs the draft leaves out."""
    random = np.random.default_rng(11)
    p, q, step_p, step_q = random.uniform(0.001, 0.998, (4, 5000))
    more_p, more_q = p + (1 - p) * step_p, q + (1 - q) * step_q
    epsilon = random.uniform(0, 5, 5000)
    assert (relative_risk(p, q, epsilon) <= np.exp(2 * epsilon) * (1 + 1e-12)).all()

    a = np.maximum(p * q, 1e-9) + (1 - p * q) * random.uniform(0.01, 0.99, 5000)  # fixed posterior, Lemma 3
    here = epsilon_for_relative_risk(p, q, a / (p * q))
    with_p, with_q = more_p * q < a, p * more_q < a
    assert (epsilon_for_relative_risk(more_p, q, np.maximum(a / (more_p * q), 1)) <= here + 1e-9)[with_p].all()
    assert (epsilon_for_relative_risk(p, more_q, np.maximum(a / (p * more_q), 1)) <= here + 1e-9)[with_q].all()

    r = 1 + 10 ** random.uniform(-2, 2, 5000)  # fixed ratio, Lemma 4
    here, there = epsilon_for_relative_risk(p, q, r), epsilon_for_relative_risk(more_p, q, r)
    rare = q < 1 / (r + 1)
    assert (there[rare] <= here[rare] + 1e-12).all()
    assert (there[~rare] >= here[~rare] * (1 - 1e-12) - 1e-12).all()
    assert (epsilon_for_relative_risk(p, more_q, r) >= here * (1 - 1e-12) - 1e-12).all()


def test_lemmas_1_and_2_hold_for_a_mixture_of_values() -> None:
    """[KR] Lemmas 1, 2: what is ε apart value by value stays ε, and 2ε, apart for sets of values."""
    random = np.random.default_rng(12)
    for _ in range(300):
        epsilon = random.uniform(0.1, 2)
        absent = random.uniform(0.1, 1)
        given_value = absent * np.exp(random.uniform(-epsilon, epsilon, 6))
        prior = random.dirichlet(np.ones(6))
        inside = random.random(6) < 0.5
        inside[:2] = True, False
        set_s, rest = (given_value[m] @ prior[m] / prior[m].sum() for m in (inside, ~inside))
        assert -epsilon - 1e-12 <= math.log(set_s / absent) <= epsilon + 1e-12
        assert -2 * epsilon - 1e-12 <= math.log(set_s / rest) <= 2 * epsilon + 1e-12


def test_arrays_broadcast_and_single_numbers_stay_numbers() -> None:
    grid = relative_risk(np.linspace(0.1, 1, 4)[:, None], np.linspace(0.1, 1, 3), 1.0)
    assert grid.shape == (4, 3)
    assert isinstance(relative_risk(0.1, 0.1, 1), float)
    assert isinstance(epsilon_for_relative_risk(0.1, 0.1, 2), float)
    assert epsilon_for_relative_risk([0.1, 0.2], 0.5, 2).shape == (2,)


@pytest.mark.parametrize("bad", [math.nan, -0.1, 1.1, "0.5", None, 1j, [0.1, math.nan], {}, b"1"])
def test_bad_priors_are_refused_with_their_name(bad) -> None:
    for call in (relative_risk, absolute_risk, epsilon_for_relative_risk):
        with pytest.raises(ParameterError) as caught:
            call(bad, 0.5, 1.0)
        assert caught.value.field == "p"
        with pytest.raises(ParameterError) as caught:
            call(0.5, bad, 1.0)
        assert caught.value.field == "q"


def test_bad_limits_are_refused() -> None:
    for bad in (math.nan, -1.0, "x"):
        with pytest.raises(ParameterError):
            relative_risk(0.5, 0.5, bad)
    for bad in (math.nan, 0.99, -1.0, True):
        with pytest.raises(ParameterError):
            epsilon_for_relative_risk(0.5, 0.5, bad)
