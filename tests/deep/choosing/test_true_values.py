"""Plans without a true value: what is chosen protects everybody whose value the bounds allow.

Plans are drawn, with public files as priors; a slow search goes over all true values along the bounds, in fractions,
and over all likelihoods that keep to the query's own distance, by linear programs.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import cases
from reference import linear_program

import guessproof as gp
from guessproof.choosing import Chooser, asked
from guessproof.errors import GuessproofError, InfeasibleError
from guessproof.plan import Plan, loads_plan

LABELS = {"a": 0.5, "b": 0.3, "c": 0.2}
QUERIES = [
    "SELECT SUM(x) AS y FROM t",
    "SELECT COUNT(*) AS y FROM t WHERE x > 6",
    "SELECT SUM(x) AS y FROM t WHERE g = 'a'",
    "SELECT COUNT(*) AS y FROM t WHERE g IN ('a', 'b') AND x <= 10",
    "SELECT SUM(x) AS y, COUNT(*) AS n FROM t WHERE x > 4",
]
GOALS = ["x within {r}", "x within {r} and g exactly", "x within {r} or g exactly", "not x within {r}"]


def _plan(folder: Path, sample: list[Fraction], query: str, goal: str, more: str, bounds: tuple[int, int]) -> Plan:
    (folder / "public.csv").write_text("x\n" + "".join(f"{float(v)}\n" for v in sample))
    labels = ", ".join(f"{k} = {w}" for k, w in LABELS.items())
    return loads_plan(
        f"""
        data = {{ name = "test", source = "nowhere.csv", protects = "values" }}
        query.sql = "{query}"
        [columns.x]
        bounds = [{bounds[0]}, {bounds[1]}]
        missing = false
        prior = {{ from = "public.csv" }}
        [columns.g]
        missing = false
        prior = {{ categorical = {{ {labels} }} }}
        [attacker]
        goal = "{goal}"
        {more}
        """,
        folder=folder,
    )


def _truths(points: list[Fraction], radius: Fraction, low: Fraction, high: Fraction) -> list[Fraction]:
    turns = {p + s * radius for p in points for s in (-1, 1)}
    cuts = sorted({low, high, *(t for t in turns if low <= t <= high)})
    return [*cuts, *((a + b) / 2 for a, b in itertools.pairwise(cuts))]


def _correct(goal: str, radius: Fraction, state: Any, truth: Any) -> bool:
    near, same = abs(state[0] - truth[0]) <= radius, state[1] == truth[1]
    kind = GOALS.index(goal)
    return (near, near and same, near or same, not near)[kind]


def _worst(plan: Plan, sample: list[Fraction], goal: str, radius: Fraction, knows: Any, epsilon: float) -> list[float]:
    """The largest rise, fall and posterior that the query's own distance lets anybody suffer."""
    chooser = Chooser(plan, asked(plan), None, False)
    counts = np.unique([float(v) for v in sample], return_counts=True)[1]
    points = sorted(set(sample))
    states = list(itertools.product(points, LABELS))
    mass = np.array([c * w for c, w in itertools.product(counts, LABELS.values())], dtype=float)
    low, high = (Fraction(e) for e in plan.columns["x"].bounds or ())
    if knows is not None and "x" in knows:
        low, high = max(low, knows["x"][0]), min(high, knows["x"][1])
    keep = [
        (knows is None or "x" not in knows or knows["x"][0] <= s[0] <= knows["x"][1])
        and (knows is None or "g" not in knows or s[1] in knows["g"])
        for s in states
    ]
    states, mass = [s for s, k in zip(states, keep, strict=True) if k], mass[np.array(keep)]
    mass = mass / mass.sum()
    terms = [m.contribution for m in chooser.asked.measurements]
    scales = [
        s / m.guarantee.sensitivity for s, m in zip(chooser.budget_shares, chooser.asked.measurements, strict=True)
    ]
    value = np.array([[t.at({"x": float(x), "g": g}) for t in terms] for x, g in states])
    distance = np.abs(value[:, None, :] - value[None, :, :]) @ np.array(scales)
    near = [p for p in points if any(p == s[0] for s in states)]
    masks = {
        tuple(_correct(goal, radius, s, (t, g)) for s in states)
        for t in _truths(near, radius, low, high)
        for g in sorted({s[1] for s in states})
    }
    found = [0.0, 0.0, 0.0]
    for mask in masks:
        chosen = np.array(mask, dtype=float)
        p = float(chosen @ mass)
        if not any(mask) or all(mask):
            found[2] = max(found[2], p)
            continue
        up, down = (linear_program.posterior(mass, distance, chosen, epsilon, side) for side in ("upper", "lower"))
        found = [max(found[0], up - p), max(found[1], p - down), max(found[2], up)]
    return found


@pytest.mark.parametrize("seed", range(cases(3)))
def test_what_is_chosen_protects_every_value_within_the_bounds(tmp_path: Path, seed: int) -> None:
    rng, asked_for = np.random.default_rng(seed), 0
    while asked_for < 12:
        step = Fraction(1, int(rng.choice([1, 2, 10])))
        sample = sorted(Fraction(int(v)) * step for v in rng.integers(0, 20, int(rng.integers(2, 7))))
        radius = Fraction(int(rng.integers(1, 12 if rng.random() < 0.5 else 36))) * step / 2
        goal = str(rng.choice(GOALS, p=[0.55, 0.15, 0.15, 0.15]))
        limit, both = float(rng.choice([0.03, 0.1, 0.25])), bool(rng.random() < 0.4)
        aim = "posterior" if rng.random() < 0.5 else "advantage"
        limit = 0.6 + limit if aim == "posterior" else limit
        knows: Any = None
        if rng.random() < 0.4:
            ends = sorted(rng.choice(21, 2, replace=False))
            knows = {"x": (Fraction(int(ends[0])), Fraction(int(ends[1])))} if rng.random() < 0.5 else {"g": ("a", "c")}
        stated = "" if knows is None else (
            f"knows = {{ x = [{knows['x'][0]}, {knows['x'][1]}] }}" if "x" in knows else 'knows = { g = ["a", "c"] }'
        )  # fmt: skip
        more = f"{aim} = {limit}\nboth = {str(both).lower()}\n{stated}"
        try:
            text = goal.format(r=float(radius))
            plan = _plan(
                tmp_path,
                sample,
                str(rng.choice(QUERIES, p=[0.4, 0.3, 0.1, 0.1, 0.1])),
                text,
                more,
                (0, int(rng.choice([20, 30]))),
            )
            chosen = gp.choose(plan)
        except InfeasibleError:
            assert aim == "posterior"
            assert _worst(plan, sample, goal, radius, knows, 1e-9)[2] > limit - 1e-6
            asked_for += 1
            continue
        except GuessproofError:  # refused: certain or empty everywhere, nothing known to be there
            continue
        asked_for += 1
        epsilon = min(chosen.epsilon, 25.0)
        rise, fall, most = _worst(plan, sample, goal, radius, knows, epsilon)
        reached = most if aim == "posterior" else max(rise, fall) if both else rise
        assert reached <= limit + 1e-7, (sample, radius, goal, more, plan.file.query.sql)
        if chosen.advantage is not None and aim == "advantage":
            assert float(chosen.exposure.advantage(epsilon, both).bound) >= reached - 1e-7  # pyright: ignore[reportOptionalMemberAccess]


def test_an_impossible_posterior_is_refused(tmp_path: Path) -> None:
    """Somebody in the middle of the sample is known to be near before any release."""
    sample = [Fraction(v) for v in (0, 1, 2)]
    for goal in ("x within 1", "x within 1 or g exactly"):
        plan = _plan(tmp_path, sample, QUERIES[4], goal, "posterior = 0.9", (0, 20))
        with pytest.raises(InfeasibleError):
            gp.choose(plan)


def test_levels_say_that_nobody_is_in_between(tmp_path: Path) -> None:
    (tmp_path / "public.csv").write_text("x\n0\n1\n3\n5\n")
    text = """
        data = {{ name = "test", source = "nowhere.csv", protects = "values" }}
        query.sql = "SELECT SUM(x) AS y FROM t"
        columns.x = {{ bounds = [0, 5], missing = false, {levels} prior = {{ from = "public.csv" }} }}
        attacker = {{ goal = "x within 0.6", advantage = 0.05 }}
    """
    sampled, listed = (
        gp.choose(loads_plan(text.format(levels=levels), folder=tmp_path)).epsilon
        for levels in ("", "levels = [0, 1, 3, 5],")
    )
    assert sampled < listed


def test_what_is_known_narrows_the_true_values_of_combinations(tmp_path: Path) -> None:
    """Known to lie in 0 … 1, everybody is near both values that are left: only g is to be guessed."""
    sample = [Fraction(v) for v in (0, 1, 9, 10)]
    more = "advantage = 0.1\nknows = { x = [0, 1] }"
    goal, query = "x within 1 and g exactly", QUERIES[2]
    free = gp.choose(_plan(tmp_path, sample, query, goal, more, (0, 20)))
    each = [
        gp.choose(_plan(tmp_path, sample, query, goal, f'{more}\nat = {{ x = 0.5, g = "{g}" }}', (0, 20))).epsilon
        for g in LABELS
    ]
    assert free.epsilon == pytest.approx(min(each), rel=1e-6)
