"""Curves: one attack at every ε, made once. At one true value and at the worst, declared priors and wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
from scipy.stats import weibull_min
from timing import seconds, shown

import guessproof as gp


def rows() -> Iterator[tuple[str, str, str]]:
    yield from _curves(gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(2000, 235.7)), 100)))
    yield from _declared_curves()
    yield from _wrong_curves()
    yield from _other_curves()
    yield from _high_limits()


def _curves(worst: gp.Attack) -> Iterator[tuple[str, str, str]]:
    """All ε at once, beside asking for one: at one true value and at the worst."""
    known = gp.Attack(worst.goal, at={"x": 1900})
    wrong = {f"one true value, a prior wrong by {f}": replace(known, prior_factor=f) for f in (1.5, 4.0, 16.0)}
    for name, attack in {"one true value": known, "the worst true value": worst, **wrong}.items():
        made = seconds(lambda attack=attack: gp.Curve(attack), repeats=2)
        curve = gp.Curve(attack)
        looked = seconds(lambda curve=curve: curve.epsilon(advantage=0.1))
        asked = seconds(lambda attack=attack: attack.epsilon(advantage=0.1), repeats=3)
        yield f"curve of {name}: made", shown(made), "≤ 0.5 s"
        yield "an ε from it", shown(looked), "≤ 1 ms"
        yield "the attack itself against that", f"{asked / looked:.0f} ×", ""


def _clamped(prior: Any, low: float, high: float) -> gp.Attribute:
    return gp.Attribute("x", prior, metric=gp.Clamped(low, high), bounds=(low, high))


def _jumping(prior: Any) -> gp.Attribute:
    return gp.Attribute("x", prior, metric=gp.Absolute() + gp.Threshold(0.5))


def _sample(size: int) -> Any:
    return gp.empirical(np.random.default_rng(1).normal(20, 6, size))


# Priors and radii, with what a curve for the worst true value took at factors of 1.5, 4 and 16 before, CPU, idle.
WRONG = {
    "normal": (gp.Attribute("x", gp.normal(2000, 235.7)), 100, ("0.56", "0.54", "1.31")),
    "bounded normal": (gp.Attribute("x", gp.normal(2000, 235.7), bounds=(1000, 3000)), 100, ("0.53", "0.52", "1.23")),
    "uniform": (gp.Attribute("x", gp.uniform(0, 10)), 1, ("0.31", "0.24", "0.63")),
    "histogram": (
        gp.Attribute("x", gp.histogram([0, 1, 3, 5, 8, 12], [0.1, 0.3, 0.25, 0.2, 0.15])),
        1,
        ("1.23", "0.68", "2.26"),
    ),
    "exponential": (gp.Attribute("x", gp.exponential(3)), 1, ("0.62", "0.85", "1.93")),
    "Laplace": (gp.Attribute("x", gp.laplace(0, 2)), 1, ("1.42", "1.26", "2.04")),
    "clamped to 0 … 120": (_clamped(gp.normal(20, 6.28), 0, 120), 2, ("1.96", "1.28", "—")),
    "clamped to ±1": (_clamped(gp.normal(0, 1), -1, 1), 0.3, ("1.03", "1.19", "—")),
    "uniform, clamped": (_clamped(gp.uniform(0, 1), 0.2, 0.8), 0.1, ("0.48", "1.36", "—")),
    "gamma": (gp.Attribute("x", gp.gamma(3, 1), bounds=(0, 20)), 0.5, ("1.83", "2.02", "—")),
    "log-normal": (gp.Attribute("x", gp.lognormal(1, 0.5), bounds=(0.05, 10)), 0.3, ("2.59", "3.00", "—")),
    "beta": (gp.Attribute("x", gp.beta(2, 3)), 0.1, ("1.73", "2.22", "—")),
    "SciPy's Weibull": (gp.Attribute("x", gp.from_scipy(weibull_min(1.8)), bounds=(0, 6)), 0.3, ("minutes",) * 3),
    "Student's": (gp.Attribute("x", gp.student_t(4), bounds=(-10, 10)), 0.3, ("1.2", "1.0", "—")),
    "a distance that jumps": (_jumping(gp.normal(0, 1)), 0.3, ("235", "—", "—")),
    "3,000 values": (gp.Attribute("x", _sample(3000)), 1, ("refused",) * 3),
}
# Priors and radii, with what such a curve took with the declared prior.
DECLARED = {
    "clamped to 0 … 120": (_clamped(gp.normal(20, 6.28), 0, 120), 2, "1.23 s"),
    "gamma": (gp.Attribute("x", gp.gamma(3, 1), bounds=(0, 20)), 0.5, "0.87 s"),
    "log-normal": (gp.Attribute("x", gp.lognormal(1, 0.5), bounds=(0.05, 10)), 0.3, "0.73 s"),
    "beta": (gp.Attribute("x", gp.beta(2, 3)), 0.1, "0.47 s"),
    "Student's": (gp.Attribute("x", gp.student_t(4), bounds=(-10, 10)), 0.3, "1.4 s"),
    "SciPy's Weibull": (gp.Attribute("x", gp.from_scipy(weibull_min(1.8)), bounds=(0, 6)), 0.3, "1.2 s"),
    "a cap": (gp.Attribute("x", gp.normal(0, 1), metric=gp.minimum(gp.Absolute(), 2 * gp.Discrete())), 0.3, "refused"),
    "3,000 values": (gp.Attribute("x", _sample(3000)), 1, "0.5–1.2 s"),
}
# Goals and distances that were bounded by odds alone under a wrong prior, or refused.
OTHERS = {
    "two intervals (before: by odds, 70 % open)": gp.inside(gp.Attribute("x", gp.normal(50, 10)), (40, 50), (60, 70)),
    "two intervals, 3,000 values (before: by odds, 150 % open)": gp.inside(
        gp.Attribute("x", _sample(3000)), (14, 20), (26, 32)
    ),
    "the worst true value under a cap (before: refused)": gp.within(
        gp.Attribute("x", gp.normal(0, 1), metric=gp.minimum(gp.Absolute(), 2 * gp.Discrete())), 0.3
    ),
}


def _other_curves() -> Iterator[tuple[str, str, str]]:
    """The same of other goals and distances, and how near they are."""
    for name, goal in OTHERS.items():
        for factor in (1.5, 4.0):
            taken, curve = _made(gp.Attack(goal, prior_factor=factor), repeats=1)
            yield f"curve of {name}, wrong by {factor:g}, within {curve.within:.2%}", shown(taken), "≤ 0.5 s"


def _wrong_curves() -> Iterator[tuple[str, str, str]]:
    """Curves of the worst true value under a prior that may be wrong; time of computing, the least of three."""
    for name, (attribute, radius, before) in WRONG.items():
        for factor, old in zip((1.5, 4.0, 16.0), before, strict=True):
            taken, curve = _made(gp.Attack(gp.within(attribute, radius), prior_factor=factor))
            reaches = curve.rise.bound[-1]
            what = f"curve of the worst true value, {name}, wrong by {factor:g}, up to {reaches:.2f} (before: {old} s)"
            yield what, shown(taken), "≤ 0.5 s"


def _high_limits() -> Iterator[tuple[str, str, str]]:
    """A limit of 0.7 above where a curve ends at first: what makes its further parts, once, and then."""
    for name, before in {
        "normal": "7.3 s",
        "exponential": "6.8 s",
        "clamped to 0 … 120": "9.0 s",
        "gamma": "6.0 s",
    }.items():
        attribute, radius, _ = WRONG[name]
        curve = gp.Curve(gp.Attack(gp.within(attribute, radius), prior_factor=1.5))
        start = process_time()
        curve.epsilon(advantage=0.7)
        taken = process_time() - start
        again = seconds(lambda curve=curve: curve.epsilon(advantage=0.7))
        yield (
            f"a limit of 0.7, {name}, wrong by 1.5 (before: {before} each time, 2 to 5 % lost): first",
            shown(taken),
            "",
        )
        yield "then", shown(again), "≤ 1 ms"


def _declared_curves() -> Iterator[tuple[str, str, str]]:
    """Curves of the worst true value with the declared prior, and of one true value under a cap."""
    capped, radius, _ = DECLARED["a cap"]
    asked = {
        f"curve of the worst true value, {name} (before: {before})": gp.Attack(gp.within(attribute, radius))
        for name, (attribute, radius, before) in DECLARED.items()
    }
    two = gp.inside(gp.Attribute("x", gp.normal(50, 10)), (40, 50), (60, 70))
    asked["curve of two intervals (before: more than 60 s)"] = gp.Attack(two)
    asked["curve of one true value, a cap (before: 4.2 s)"] = gp.Attack(gp.within(capped, radius), at={"x": 0.5})
    for what, attack in asked.items():
        yield what, shown(_made(attack)[0]), "≤ 0.5 s"


def _made(attack: gp.Attack, repeats: int = 3) -> tuple[float, gp.Curve]:
    """A curve, and the least time of computing of some."""
    found = list[tuple[float, gp.Curve]]()
    for _ in range(repeats):
        start = process_time()
        curve = gp.Curve(attack)
        found.append((process_time() - start, curve))
    return min(found, key=lambda each: each[0])
