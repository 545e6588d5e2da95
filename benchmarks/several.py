"""Two attributes: the eight examples of the theory, cheap and refined, with the width of each bracket in odds."""

from __future__ import annotations

from time import perf_counter

from timing import seconds, shown

import guessproof as gp

X = gp.Attribute("x", gp.normal(0, 2))
Y = gp.Attribute("y", gp.normal(0, 3))
GOALS = {"AND": gp.within(X, 1) & gp.within(Y, 1), "OR": gp.within(X, 1) | gp.within(Y, 1)}


def rows() -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for t in ((0.0, 0.0), (1.5, 2.0)):
        for epsilon in (0.3, 1.0):
            for name, goal in GOALS.items():
                attack = gp.Attack(goal, at={"x": t[0], "y": t[1]})
                found += _example(f"{name}, t = {t}, ε = {epsilon}", attack, epsilon)
    return found


def _example(name: str, attack: gp.Attack, epsilon: float) -> list[tuple[str, str, str]]:
    cheap = attack.posterior(epsilon)
    taken = seconds(lambda: attack.posterior(epsilon), repeats=3)
    start = perf_counter()
    refined = attack.posterior(epsilon, tolerance=0.02, time_limit=5)
    spent = perf_counter() - start
    return [
        (f"{name}: cheap, width {_width(cheap):.1%}", shown(taken), "≤ 20 ms"),
        (f"{name}: refined, {refined.attack:.5f} … {refined.bound:.5f}", shown(spent), "≤ 5 s"),
        (f"{name}: refined, width", f"{_width(refined):.2%}", "≤ 2 %"),
    ]


def _width(bracket: gp.Bracket) -> float:
    low, high = (p / (1 - p) for p in (float(bracket.attack), float(bracket.bound)))
    return high / low - 1
