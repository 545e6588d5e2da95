"""One attribute: exact answers, ε, a million true values; beside riskcal's Laplace privacy-loss distribution."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from timing import seconds, shown

import guessproof as gp

PRIORS = {
    "normal": gp.normal(0, 1),
    "uniform": gp.uniform(-2, 2),
    "exponential": gp.exponential(1),
    "Laplace": gp.laplace(0, 1),
    "histogram of 10 cells": gp.histogram(range(-5, 6), [0.1] * 10),
}


def rows() -> Iterator[tuple[str, str, str]]:
    slowest = 0.0
    for name, prior in PRIORS.items():
        attack = gp.Attack(gp.within(gp.Attribute("x", prior=prior), 0.3), at={"x": 1})
        answer = seconds(lambda attack=attack: attack.posterior(epsilon=0.5))
        inverse = seconds(lambda attack=attack: attack.epsilon(advantage=0.05))
        slowest = max(slowest, answer)
        yield f"{name}: exact posterior", shown(answer), "≤ 1 ms"
        yield f"{name}: ε for an advantage", shown(inverse), "≤ 10 ms"
    yield from _many()
    worst = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(2000, 235.7)), 100))
    yield "worst true value, certified to 1e-9: advantage", shown(seconds(lambda: worst.advantage(epsilon=0.002))), ""
    yield "worst true value: ε", shown(seconds(lambda: worst.epsilon(advantage=0.1), repeats=3)), ""
    yield from _samples()
    yield from _capped()
    yield from _riskcal(slowest)


def _samples() -> Iterator[tuple[str, str, str]]:
    """Without a true value, beside a sample: all true values between its smallest and its largest."""
    rng = np.random.default_rng(0)
    samples = {
        "normal": rng.normal(0, 10, 100_000),
        "even": np.arange(100_000.0),
        "income-like, with outliers": np.exp(rng.normal(10, 1, 100_000)),
    }
    for name, values in samples.items():
        radius = float(np.std(values)) / 5

        def asked(values: Any = values, radius: float = radius) -> float:
            x = gp.Attribute("x", prior=gp.empirical(values))
            return gp.Attack(gp.within(x, radius)).epsilon(advantage=0.05)

        taken, part = seconds(asked, repeats=3), seconds(partial(asked, values[::10]), repeats=3)
        yield f"worst true value beside 100,000 values, {name}: ε", shown(taken), "≤ 1 s"
        yield "the same against 10,000 of them", f"{taken / part:.1f} ×", "about 10 ×"


def _capped() -> Iterator[tuple[str, str, str]]:
    """Numbers under a distance that a cap ends: the worst true value beside a sample, which took 30 s."""
    values = np.random.default_rng(1).normal(0, 10, 800)
    x = gp.Attribute("x", prior=gp.empirical(values), metric=gp.minimum(gp.Absolute(1.0), 5.0))

    def asked() -> float:
        return gp.Attack(gp.within(x, 2.0)).epsilon(advantage=0.05)

    taken = seconds(asked, repeats=1)
    yield "worst true value beside 800 values, capped distance: ε", shown(taken), "≤ 0.5 s"
    yield "30 s against that", f"{30 / taken:.0f} ×", "≥ 60 ×"


def _many() -> Iterator[tuple[str, str, str]]:
    t = np.random.default_rng(0).normal(size=1_000_000)
    many = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(0, 1)), 0.3), at={"x": t})
    yield "10⁶ true values, normal prior", shown(seconds(lambda: many.posterior(epsilon=0.5), repeats=3)), "≤ 2 s"


def _riskcal(slowest: float) -> Iterator[tuple[str, str, str]]:
    try:
        from dp_accounting.pld import privacy_loss_distribution as pld
        from riskcal.analysis import get_advantage_from_pld
    except ImportError:
        yield "riskcal", "not installed", ""
        return

    def peer() -> float:
        return get_advantage_from_pld(pld.from_laplace_mechanism(parameter=1.0))

    taken = seconds(peer, repeats=3)
    yield "peer: riskcal's advantage of one Laplace release", shown(taken), ""
    yield "peer / our slowest exact answer", f"{taken / slowest:.0f} ×", "> 1"
