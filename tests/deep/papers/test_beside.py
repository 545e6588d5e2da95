"""Published bounds beside one attack: the formulas of the works, and a word for them that an oracle agrees with."""

from __future__ import annotations

import math

import numpy as np
import pytest

import guessproof as gp
from guessproof.papers.beside import compare, published_bounds
from guessproof.papers.verdicts import ids

EPSILONS = (0.05, 0.3, 1.0)
PRIORS = {
    "bell": gp.normal(20, 6.28),
    "flat": gp.uniform(0, 60),
    "peak": gp.laplace(20, 5),
    "two humps": gp.mixture((0.5, gp.normal(10, 3)), (0.5, gp.normal(40, 8))),
}


def reached(prior: object, low: float, high: float, epsilon: float) -> float:
    """The best output of all that point somewhere, on a fine grid: an attack, so no sound bound lies below."""
    x = np.linspace(-40, 120, 6401)
    weights = np.exp(np.nan_to_num(prior.log_density(x), nan=-np.inf))  # type: ignore[attr-defined]
    inside = (x >= low - 1e-9) & (x <= high + 1e-9)
    best = 0.0
    for output in np.linspace(low, high, 9):
        after = weights * np.exp(-epsilon * np.abs(x - output))
        best = max(best, float(after[inside].sum() / after.sum()))
    return best


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("at", [20.0, 35.0])
def test_whatever_is_called_sound_lies_above_every_attack(name: str, at: float) -> None:
    time = gp.Attribute("time", prior=PRIORS[name], bounds=(-20, 80))
    found = compare(gp.Attack(gp.within(time, 2)), at, EPSILONS)
    assert {one.id for one in found} >= {"lp-3.2", "lp-eq1", "lp-4.1-evaluated", "slides-main", "slides-ring-integral"}
    for one in found:
        attacks = [reached(time.prior, at - 2, at + 2, e) for e in EPSILONS]
        for bound, exact, attack in zip(one.bound, one.exact, attacks, strict=True):
            assert attack <= exact + 0.004  # the grid is no finer
            assert one.word == "unsound" or bound >= attack - 0.004, one.id


def test_the_word_is_what_the_numbers_say() -> None:
    time = gp.Attribute("time", prior=gp.normal(20, 6.28))
    words = {one.id: one.word for one in compare(gp.Attack(gp.within(time, 2)), 20.0, EPSILONS)}
    assert "lp-3.2" not in words  # there is no largest distance
    assert words["slides-ring-integral"] == "unsound"
    assert words["slides-main"] == words["lp-eq1"] == "sound but loose"
    label = gp.Attribute("faculty", prior=gp.categorical({"math": 0.5, "cs": 0.3, "law": 0.2}))
    found = compare(gp.Attack(gp.exactly(label)), "cs", EPSILONS)
    assert {one.id: one.word for one in found} == {"lp-3.2": "tight", "slides-main": "tight"}
    assert found[0].bound[2] == pytest.approx(0.3 / (0.3 + math.exp(-1) * 0.7))


def test_where_nothing_was_published_nothing_is_said() -> None:
    time, wait = gp.Attribute("time", prior=gp.normal(20, 6)), gp.Attribute("wait", prior=gp.normal(5, 2))
    both = gp.Attack(gp.within(time, 2) & gp.within(wait, 1))
    assert published_bounds(both, {"time": 20, "wait": 5}) == []
    scaled = gp.Attribute("time", prior=gp.normal(20, 6), scale=2.0)
    assert published_bounds(gp.Attack(gp.within(scaled, 2)), 20.0) == []
    assert published_bounds(gp.Attack(gp.within(time, 2), prior_factor=2), 20.0) == []
    assert {one.id for one in published_bounds(gp.Attack(gp.within(time, 2)), 20.0)} <= set(ids())
