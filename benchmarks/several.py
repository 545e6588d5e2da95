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
    return [*found, *_places(), *_totals()]


def _places() -> list[tuple[str, str, str]]:
    """Where a ship is, off the port; and two numbers that hang together."""
    east, north = (gp.Attribute(n, gp.normal(0, 1250**0.5)) for n in ("east", "north"))
    at_sea = gp.Attack(gp.near((east, north), 10), at={"east": 20.0, "north": 30.0}, norm="l2")
    start = perf_counter()
    epsilon = at_sea.epsilon(advantage=0.1)
    found = [
        (
            f"ships at sea: ε = {epsilon:.5f} (before: 0.0420; best attack 0.0475)",
            shown(perf_counter() - start),
            "≤ 10 s",
        )
    ]
    start = perf_counter()
    epsilon = gp.Attack(gp.near((east, north), 10), norm="l2").epsilon(advantage=0.1)
    found.append(
        (
            f"ships anywhere: ε = {epsilon:.5f} (before: refused; the worst place found allows 0.0452)",
            shown(perf_counter() - start),
            "≤ 10 s",
        )
    )
    start = perf_counter()
    pair = gp.Attack(GOALS["AND"]).advantage(0.3)
    found.append(
        (
            f"AND, worst pair: {pair.attack:.4f} … {pair.bound:.4f} (before: 0.077 … 0.113)",
            shown(perf_counter() - start),
            "≤ 10 s",
        )
    )
    lon, lat = gp.joint_normal(("lon", "lat"), mean=(0, 0), sd=(30, 40), correlation=0.6).attributes()
    start = perf_counter()
    bracket = gp.Attack(gp.near((lon, lat), 10), at={"lon": 20.0, "lat": 30.0}, norm="l2").posterior(0.05)
    return [
        *found,
        (f"correlated place: width {_width(bracket):.1%} (before: refused)", shown(perf_counter() - start), "≤ 5 s"),
    ]


def _totals() -> list[tuple[str, str, str]]:
    """A formula of two numbers, and its worst true value."""
    rent, loan = gp.Attribute("rent", gp.normal(700, 200)), gp.Attribute("loan", gp.normal(300, 150))
    attack = gp.Attack(gp.within(rent + loan, 50), norm="l1")
    start = perf_counter()
    epsilon = attack.epsilon(advantage=0.05)
    return [
        (
            f"rent + loan within 50, worst total: ε = {epsilon:.6f} (before: refused)",
            shown(perf_counter() - start),
            "≤ 1 s",
        )
    ]


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
