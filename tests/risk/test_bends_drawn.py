"""Any prior on the line, distances that bend and jump anywhere, ε from 0.1 to 1000: against the reference.

Jumps are drawn on, beside and far from the ends of the goal, down to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from depth import cases
from mpmath import mp, mpf
from numpy.random import Generator
from reference import bent, tent
from reference.cases import random_parameters, random_true_value, reference_prior

import guessproof as gp
from risk.asking import product_prior

KINDS = ("normal", "uniform", "exponential", "laplace", "histogram")


@dataclass(frozen=True)
class Bent:
    """A prior, a goal of intervals, cuts with the slope before each and the jump at each, and an ε."""

    kind: str
    parameters: tuple[Any, ...]
    intervals: tuple[tuple[float, float], ...]
    form: bent.Form
    epsilon: float

    def attack(self) -> gp.Attack:
        form = self.form
        metric: Any = 0.0 * gp.Absolute()
        for cut, jump in zip(form.cuts, form.jumps, strict=True):
            metric = metric + jump * gp.Threshold(cut)
        for low, high, slope in zip(form.cuts[:-1], form.cuts[1:], form.slopes[1:-1], strict=True):
            metric = metric + slope * gp.Clamped(low, high)
        attribute = gp.Attribute("x", prior=product_prior(self.kind, self.parameters), metric=metric)
        return gp.Attack(gp.inside(attribute, *self.intervals))

    def prior(self) -> Any:
        return reference_prior(self.kind, self.parameters)


def moved(parameters: tuple[Any, ...], kind: str, rng: Generator) -> tuple[Any, ...]:
    """The same prior, sometimes as far from zero and as wide as dates, incomes and distances are."""
    size = float(rng.choice([1.0, 1.0, 365.0, 1e4]))
    by = float(rng.choice([0.0, 0.0, 20.0, 500.0])) if kind != "exponential" else 0.0
    if kind == "exponential":
        return (size * parameters[0],)
    if kind == "histogram":
        return tuple(size * (e + by) for e in parameters[0]), parameters[1]
    if kind == "uniform":
        return size * (parameters[0] + by), size * (parameters[1] + by)
    return size * (parameters[0] + by), size * parameters[1]


def near(end: float, width: float, rng: Generator) -> float:
    """On an end, beside it, or somewhere around."""
    match int(rng.integers(6)):
        case 0:
            return end
        case 1:
            return float(np.nextafter(end, rng.choice([-np.inf, np.inf])))
        case 2:
            return end + width * float(rng.choice([-1, 1]) * 10 ** rng.uniform(-12, -1))
        case _:
            return end + width * float(rng.uniform(-2, 2))


def drawn(kind: str, rng: Generator, *, intervals: int, sloped: bool) -> Bent:
    while True:
        parameters = moved(random_parameters(kind, rng), kind, rng)
        prior = product_prior(kind, parameters)
        spread = float(np.diff(prior.quantile([0.25, 0.75]))[0])
        centre = random_true_value(kind, parameters, rng)
        goal = []
        for _ in range(intervals):
            radius = spread * float(10 ** rng.uniform(-2.5, 0.3))
            goal.append((centre - radius, centre + radius))
            centre = centre + radius + spread * float(10 ** rng.uniform(-3, 0))
        ends = [e for pair in goal for e in pair]
        some = int(rng.integers(2 if sloped else 1, 4))
        cuts = sorted({near(float(rng.choice(ends)), ends[-1] - ends[0], rng) for _ in range(some)})
        jumps = [float(rng.choice([0.0, 1.0, 1.0, 2.5])) for _ in cuts]
        if not sloped and not any(jumps):
            jumps[0] = 1.0
        slopes = [float(rng.choice([0, 1]) * 10 ** rng.uniform(-1, 1) / spread) if sloped else 0.0 for _ in cuts[1:]]
        epsilon = float(10 ** rng.uniform(-1, 3 if not sloped else 1.8))
        found = Bent(kind, parameters, tuple(goal), bent.Form(cuts, [0.0, *slopes, 0.0], jumps), epsilon)
        if all(a < b for a, b in pairwise(ends)) and _is_open(found):
            return found


def _is_open(case: Bent) -> bool:
    """Whether the goal is neither impossible nor certain."""
    mass = mp.fsum(case.prior().tilted(mpf(0), mpf(a), mpf(b)) for a, b in case.intervals)
    return bool(1e-12 < mass < 1 - mpf("1e-12"))


def agrees(case: Bent, truth: Any, tight: float) -> None:
    """Attack ≤ truth ≤ bound on both sides, and the bound no further above than `tight`."""
    attack = case.attack()
    before, after = truth(case, "upper")
    rise = attack.advantage(case.epsilon)
    gain = float(after - before)
    assert rise.attack <= gain * (1 + 1e-8) + 1e-15, (case, rise, gain)
    assert gain * (1 - 1e-8) - 1e-15 <= rise.bound, (case, rise, gain)
    assert rise.bound - rise.attack <= tight * gain + 1e-11, (case, rise, gain)
    before, after = truth(case, "lower")
    fall = attack.posterior(case.epsilon, side="lower")
    least = float(after)
    assert fall.bound <= least * (1 + 1e-8) + 1e-15, (case, fall, least)
    assert least * (1 - 1e-8) - 1e-15 <= fall.attack, (case, fall, least)
    assert fall.attack - fall.bound <= tight * float(before) + 1e-11, (case, fall, least)


def by_classes(case: Bent, side: str) -> tuple[Any, Any]:
    return bent.by_classes(case.prior(), case.form, case.intervals, case.epsilon, side)


def by_tents(case: Bent, side: str) -> tuple[Any, Any]:
    return bent.by_tents(case.prior(), case.form, case.intervals[0], case.epsilon, side)


@pytest.mark.parametrize("intervals", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_jumps_reveal_what_the_classes_between_them_do(kind: str, intervals: int) -> None:
    rng = np.random.default_rng([41, KINDS.index(kind), intervals])
    for _ in range(cases(14 if intervals == 1 else 4)):
        agrees(drawn(kind, rng, intervals=intervals, sloped=False), by_classes, tight=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_jumps_and_slopes_reveal_what_the_best_tent_does(kind: str) -> None:
    rng = np.random.default_rng([42, KINDS.index(kind)])
    for _ in range(cases(4)):
        agrees(drawn(kind, rng, intervals=1, sloped=True), by_tents, tight=1e-4)


def test_both_references_agree_where_both_speak() -> None:
    rng = np.random.default_rng(43)
    for kind in KINDS:
        case = drawn(kind, rng, intervals=1, sloped=False)
        for side in ("upper", "lower"):
            for one, other in zip(by_classes(case, side), by_tents(case, side), strict=True):
                assert float(one) == pytest.approx(float(other), rel=1e-12)


def test_tents_without_a_bend_are_the_plain_reference() -> None:
    prior, form = tent.Normal(0.3, 1.2), bent.Form([-9.0, 9.0], [0.0, 1.0, 0.0], [0.0, 0.0])
    truth = tent.posterior(tent.Clamped(prior, -9, 9), -0.2, 0.8, 1.3, "upper", 20)
    assert float(bent.by_tents(prior, form, (-0.2, 0.8), 1.3, "upper")[1]) == pytest.approx(float(truth), rel=1e-12)
