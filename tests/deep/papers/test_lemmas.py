"""Lemmas 1 to 4 of Kazan & Reiter on random values; the draft omits the proofs of 3 and 4."""

from __future__ import annotations

import math

import numpy as np

from guessproof.papers import kazan_reiter as kr


def test_lemmas_1_and_2_on_random_mechanisms() -> None:
    """Any likelihoods within e^{±ε} of those without the record, mixed over any independent others and values."""
    rng = np.random.default_rng(31)
    for _ in range(2000):
        others, values = int(rng.integers(1, 6)), int(rng.integers(2, 6))
        epsilon = float(rng.uniform(0.01, 3))
        absent = rng.uniform(0.01, 1, others)
        present = absent * np.exp(rng.uniform(-epsilon, epsilon, (values, others)))
        weight, prior = rng.dirichlet(np.ones(others)), rng.dirichlet(np.ones(values))
        assert all(kr.definition_1(a, b, epsilon) for row in present for a, b in zip(row, absent, strict=True))
        without, each = weight @ absent, present @ weight
        low, high = (1 - 1e-12) * kr.lemma_1(epsilon)[0], (1 + 1e-12) * kr.lemma_1(epsilon)[1]
        assert np.all((each >= low * without) & (each <= high * without))
        inside = np.zeros(values, dtype=bool)
        inside[: int(rng.integers(1, values))] = True
        in_set = prior[inside] @ each[inside] / prior[inside].sum()
        outside = prior[~inside] @ each[~inside] / prior[~inside].sum()
        assert low <= in_set / without <= high
        assert kr.lemma_2(epsilon)[0] * (1 - 1e-12) <= in_set / outside <= kr.lemma_2(epsilon)[1] * (1 + 1e-12)


def test_lemma_3_epsilon_falls_in_both_priors() -> None:
    rng = np.random.default_rng(32)
    for p, q, absolute, step in zip(*rng.uniform(0.01, 0.98, (3, 3000)), rng.uniform(1e-3, 1e-2, 3000), strict=True):
        here = kr.lemma_3(p, q, absolute)
        assert kr.lemma_3(p + step, q, absolute) < here
        assert kr.lemma_3(p, q + step, absolute) < here


def test_lemma_4_epsilon_rises_in_q_and_turns_in_p() -> None:
    rng = np.random.default_rng(33)
    kinds = {"falls": 0, "rises": 0}
    for p, q, power, step in zip(
        *rng.uniform(0.01, 0.98, (2, 4000)), rng.uniform(-1, 1.5, 4000), rng.uniform(1e-3, 1e-2, 4000), strict=True
    ):
        relative = 1 + 10**power
        turn = 1 / (relative + 1)
        if (p + step) * (q + step) * relative >= 0.999:
            continue
        here = kr.lemma_4(p, q, relative)
        assert kr.lemma_4(p, q + step, relative) > here
        moved = kr.lemma_4(p + step, q, relative)
        if abs(q - turn) > 1e-3:
            assert (moved > here) == (q > turn)
            kinds["rises" if moved > here else "falls"] += 1
        assert abs(kr.lemma_4(p, turn, relative) - math.log(relative)) < 1e-8
    assert min(kinds.values()) > 200
