"""Lee & Clifton's and Wood et al.'s limits: the formula, the truth beside it, and a verdict that follows from both."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from reference import linear_program

import guessproof as gp
from guessproof.errors import ParameterError
from guessproof.papers import kazan_reiter as kr
from guessproof.papers.verdict import judge_bounds, judge_epsilons

STATISTICS: list[tuple[str | Callable[[Sequence[float]], float], Callable[[Sequence[float]], float]]] = [
    ("sum", sum),
    ("mean", statistics.fmean),
    (statistics.median, statistics.median),
    (max, max),
]


def world_of(people: list[float], statistic: Callable[[Sequence[float]], float]) -> tuple[np.ndarray, float]:
    """The answers without each person, and ΔT, by trying everything."""
    answers = np.array([statistic(people[:i] + people[i + 1 :]) for i in range(len(people))])
    return answers, kr.delta_t(people, statistic)


@pytest.mark.parametrize(("named", "statistic"), STATISTICS)
def test_both_numbers_against_all_subsets_and_linear_programs(named, statistic) -> None:
    rng = np.random.default_rng(41)
    words: set[str] = set()
    for _ in range(25):
        n = int(rng.integers(3, 7))
        people = rng.integers(-4, 9, n).astype(float).tolist()
        limit = float(rng.uniform(1 / n + 0.03, 0.9))
        asked = gp.lee_clifton(people, posterior=limit, statistic=named)
        answers, removal = world_of(people, statistic)
        exchange = kr.delta_v(people, statistic)
        if exchange == 0:
            assert asked.value == asked.truth == math.inf
            continue
        assert asked.value == pytest.approx(kr.equation_42(n, limit, removal, exchange), rel=1e-9)
        distance = np.abs(answers[:, None] - answers) / removal
        prior = np.full(n, 1 / n)
        worst = max(
            linear_program.posterior(prior, distance, goal, min(asked.truth, 60.0))
            for goal in np.eye(n)  # an infinite ε: nobody can be told apart well enough even at 60
        )
        assert worst <= limit * (1 + 1e-7)
        if math.isfinite(asked.truth):
            assert worst == pytest.approx(limit, rel=1e-6)
        assert asked.verdict == judge_epsilons(asked.value, asked.truth)
        words.add(asked.verdict)
    # A largest value tells one person from all others, who are then all Δv away: the formula is exact.
    assert words == ({"tight"} if statistic is max else words & {"tight", "sound but loose"})
    assert statistic is max or "sound but loose" in words


def test_the_quoted_range() -> None:
    low = gp.lee_clifton([1, 2, 3, 4], posterior=1 / 3, statistic="mean")
    high = gp.lee_clifton([1, 2, 3, 10], posterior=1 / 3, statistic=statistics.median)
    assert (round(low.value, 2), round(high.value, 2)) == (0.34, 1.62)
    assert low.verdict == high.verdict == "sound but loose"
    assert high.truth == pytest.approx(4 * math.log(2), rel=1e-9)  # 1/(2 + 2e^{−ε/4}) = 1/3
    assert gp.lee_clifton([-1, 1, 1, 1], posterior=1 / 3).verdict == "tight"


def test_a_large_population() -> None:
    """One pass each: the belief at the exact ε is the limit, found here by the whole matrix."""
    people = np.random.default_rng(42).normal(size=1500)
    asked = gp.lee_clifton(people, posterior=0.02, statistic="mean")
    total, n = people.sum(), people.size
    means = (total - people) / (n - 1)
    twice = (total - people[:, None] - people) / (n - 2)
    np.fill_diagonal(twice, np.nan)
    distance = np.abs(means[:, None] - means) / np.nanmax(np.abs(twice - means[:, None]))
    assert np.max(1 / np.exp(-asked.truth * distance).sum(axis=1)) == pytest.approx(0.02, rel=1e-8)


@pytest.mark.parametrize("limit", [1.0, 0.25, 0.25 + 1e-15, 0.999999])
def test_limits_at_the_ends(limit: float) -> None:
    asked = gp.lee_clifton([1, 2, 3, 4], posterior=limit)
    assert asked.value <= asked.truth + 1e-9
    assert asked.verdict in ("tight", "sound but loose")
    assert (asked.truth == math.inf) == (limit == 1.0)


def test_people_who_cannot_be_told_apart() -> None:
    assert gp.lee_clifton([5, 5, 5], posterior=0.4).truth == math.inf
    assert gp.lee_clifton([0, 0, 0], posterior=0.4).truth == math.inf
    # Everybody has a twin: a belief above ½ can never be reached.
    assert gp.lee_clifton([1, 1, 7, 7], posterior=0.6).truth == math.inf
    assert gp.lee_clifton([1, 1, 7, 7], posterior=0.45).truth < math.inf


def test_a_limit_below_the_prior_and_other_nonsense_are_refused() -> None:
    for arguments in (
        {"population": [1, 2, 3, 4], "posterior": 0.2},
        {"population": [1], "posterior": 0.5},
        {"population": 3, "posterior": 0.5},
        {"population": [1, math.nan, 2], "posterior": 0.5},
        {"population": [1, 2, 3], "posterior": 1.5},
        {"population": [1, 2], "posterior": 0.7, "statistic": "mean"},
        {"population": [1, 2], "posterior": 0.7, "statistic": max},
        {"population": [1, 2, 3], "posterior": 0.7, "statistic": "mode"},
        {"population": [1, 2, 3], "posterior": 0.7, "statistic": lambda values: math.nan},
    ):
        with pytest.raises(ParameterError):
            gp.lee_clifton(**arguments)


def test_wood_is_tight_both_ways() -> None:
    rng = np.random.default_rng(43)
    for absent, epsilon in zip(rng.uniform(0.001, 0.999, 60), rng.uniform(0, 5, 60), strict=True):
        asked = gp.wood(absent=absent, epsilon=epsilon)
        assert asked.value == pytest.approx(kr.equation_45(absent, epsilon), rel=1e-12)
        truth = linear_program.posterior([absent, 1 - absent], [[0, 2], [2, 0]], [1, 0], epsilon)
        assert asked.truth == pytest.approx(truth, rel=1e-6)
        assert asked.verdict == judge_bounds(asked.value, asked.truth) == "tight"
        back = gp.wood(absent=absent, present=asked.value)
        assert back.value == pytest.approx(epsilon, rel=1e-6, abs=1e-9)
        assert back.verdict == "tight"


@pytest.mark.parametrize(
    "arguments",
    [
        {"absent": 0.0, "epsilon": 1.0},
        {"absent": 1.0, "epsilon": 1.0},
        {"absent": 0.3, "epsilon": math.inf},
        {"absent": 0.3, "epsilon": 0.0},
        {"absent": 0.3, "present": 1.0},
        {"absent": 0.3, "present": 0.3},
        {"absent": 0.0, "present": 0.3},
    ],
)
def test_wood_at_the_ends(arguments: dict[str, float]) -> None:
    assert gp.wood(**arguments).verdict == "tight"


def test_wood_refuses_what_is_not_asked_clearly() -> None:
    for arguments in ({}, {"epsilon": 1.0, "present": 0.5}, {"epsilon": -1.0}, {"present": 0.1}):
        with pytest.raises(ParameterError):
            gp.wood(absent=0.25, **arguments)


def test_the_verdict_follows_the_numbers_and_the_text_says_all() -> None:
    def made(what, value: float, truth: float) -> gp.Published:
        return gp.Published(what, value, truth, "a source", ())

    assert made("epsilon", 1.0, 2.0).verdict == "sound but loose"
    assert made("epsilon", 2.0, 1.0).verdict == "unsound"
    assert made("epsilon", math.inf, 1.0).verdict == "unsound"
    assert made("epsilon", 0.0, 1.0).verdict == "sound but loose"
    assert made("epsilon", math.inf, math.inf).verdict == "tight"
    assert made("posterior", 0.4, 0.5).verdict == "unsound"
    assert made("posterior", 0.5, 0.4).verdict == "sound but loose"
    assert made("epsilon", 1.0, 2.0).factor == 2
    text = str(gp.lee_clifton([1, 2, 3, 4], posterior=1 / 3, statistic="mean"))
    for part in ("0.337888", "0.52515", "published", "sound but loose", "Lee & Clifton"):
        assert part in text
    assert len(gp.lee_clifton([1, 2, 3], posterior=0.5).assumes) == 2
