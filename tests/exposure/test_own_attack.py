"""An attack on the query itself: never above what any private answer with the query's own distance can tell."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from choosing.plans import plan
from depth import cases
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import norm

from guessproof.choosing import Chooser, asked
from guessproof.exposure import Exposure
from guessproof.exposure.own import OwnAttack, _to_nearest, own_attack
from guessproof.guarantee import Guarantee
from guessproof.world.checks import Array

SD, BOUND = (3.0, 5.0), 60.0


def _exposure(sql: str, goal: str, at: tuple[float, float]) -> Exposure:
    column = "bounds = [-60, 60]\nmissing = false\nprior = {{ normal = {{ mean = 0, sd = {} }} }}"
    stated = f"at = {{ a = {at[0]}, b = {at[1]} }}"
    asked_plan = plan(
        f"SELECT {sql} AS y FROM t",
        {name: column.format(sd) for name, sd in zip("ab", SD, strict=True)},
        f'[attacker]\ngoal = "{goal}"\nadvantage = 0.1\n{stated}',
    )
    found = Chooser(asked_plan, asked(asked_plan), None, False).exposure()
    assert found is not None
    return found


def _grid(count: int = 300) -> tuple[Array, Array, Array]:
    edges = [np.linspace(-4.5 * sd, 4.5 * sd, count + 1) for sd in SD]
    masses = [np.diff(norm.cdf(e, scale=sd)) for e, sd in zip(edges, SD, strict=True)]
    a, b = np.meshgrid(*(0.5 * (e[1:] + e[:-1]) for e in edges), indexing="ij")
    return a.ravel(), b.ravel(), np.outer(*masses).ravel()


def _largest(number: Array, right: Any, mass: Array, slope: float, bins: int = 160) -> float:
    """The largest belief over all likelihoods of one number with this slope, by a linear program over its bins."""
    edges = np.linspace(number.min(), number.max(), bins + 1)
    place = np.clip(np.searchsorted(edges, number, side="right") - 1, 0, bins - 1)
    inside, outside = (np.bincount(place, mass * some, bins) for some in (right, ~right))
    step = np.exp(-slope * (edges[1] - edges[0]))
    rows = [np.eye(bins)[:-1] * step - np.eye(bins)[1:], np.eye(bins)[1:] * step - np.eye(bins)[:-1]]
    found = linprog(-inside, A_ub=np.vstack(rows), b_ub=np.zeros(2 * bins - 2), A_eq=(inside + outside)[None], b_eq=[1])
    return -float(found.fun)


@settings(max_examples=cases(3))
@given(
    st.sampled_from(["SUM(a + 2 * b)", "SUM(b - a)", "MIN(POINT(a, b) <@> POINT(0, 0))"]),
    st.sampled_from(["a within 2 and b within 3", "(a, b) within 3 by l2"]),
    st.tuples(st.floats(0, 4), st.floats(-6, 6)),
    st.floats(0.05, 0.6),
)
def test_no_attack_exceeds_the_program_and_none_is_far_below(
    sql: str, goal: str, at: tuple[float, float], slope: float
) -> None:
    exposure = _exposure(sql, goal, at)
    attack = own_attack(exposure.attacker, exposure.guarantee, None)
    assert attack is not None
    a, b, mass = _grid()
    number = {"SUM(a + 2 * b)": a + 2 * b, "SUM(b - a)": b - a}.get(sql, np.hypot(a, b))
    box = (abs(a - at[0]) <= 2) & (abs(b - at[1]) <= 3)
    right = box if "and" in goal else np.hypot(a - at[0], b - at[1]) <= 3
    epsilon = slope / exposure.guarantee.between({"a": 0.0, "b": 0.0}, {"a": 1.0, "b": 0.0})
    most, prior = _largest(number, right, mass, slope), float(mass[right].sum())
    assert attack.belief(epsilon) <= most * (1 + 5e-3) + 1e-4
    assert attack.belief(epsilon) - prior >= 0.3 * (most - prior) - 2e-3


def test_bracket_shows_the_attack_and_keeps_the_bound() -> None:
    exposure = _exposure("SUM(a + 2 * b)", "a within 2 and b within 3", (2.0, 3.0))
    epsilon = 20.0
    risen, believed = exposure.advantage(epsilon), exposure.posterior(epsilon)
    shown, held = exposure.attacked(epsilon, False, risen, believed)
    assert risen.attack == 0
    assert held is not None
    assert 0 < float(shown.attack) < float(shown.bound) == float(risen.bound)
    assert exposure.prior is not None
    assert float(held.attack) - exposure.prior == pytest.approx(float(shown.attack), rel=1e-6)


def test_one_number_with_a_jump_is_attacked_too() -> None:
    text = "bounds = [0, 60]\nmissing = false\nprior = { lognormal = { median = 5, sd_log = 0.7 } }"
    asked_plan = plan(
        "SELECT SUM(d) AS s, COUNT(*) AS n FROM t WHERE d > 14",
        {"d": text},
        '[attacker]\ngoal = "d within 1"\nadvantage = 0.1\nat = { d = 14.5 }',
    )
    exposure = Chooser(asked_plan, asked(asked_plan), None, False).exposure()
    assert exposure is not None
    risen = exposure.advantage(2.0)
    shown, _ = exposure.attacked(2.0, False, risen, None)
    assert 0.5 * float(shown.bound) < float(shown.attack) <= float(shown.bound)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("beyond", [0.01, 0.2])
def test_what_lies_beyond_the_tiles_counts_wherever_it_is(epsilon: float, beyond: float) -> None:
    """Handed out anywhere, as correct or wrong guesses, it leaves the attacker at least what is said of him."""
    way = np.array([0.2, 0.9, 1.7, 2.6, 3.0])
    right = np.array([0.3, 0.1, 0.0, 0.0, 0.05]) * (1 - beyond)
    wrong = np.array([0.05, 0.1, 0.2, 0.1, 0.1]) * (1 - beyond)
    one = np.ones((5, 1))
    said = OwnAttack((right, right), (wrong, wrong), one, way[None, :, None], beyond, most=4.0)

    def best(sign: int, sought: np.ndarray, rest: np.ndarray, place: float) -> float:
        """Of all peaks, where what lies beyond is not what is sought."""
        found = []
        for peak in np.unique(np.quantile(way[right > 0], np.linspace(0, 1, 48))):
            likely, far = (np.exp(sign * epsilon * np.abs(w - peak)) for w in (way, place))
            found.append(float(sought @ likely / ((sought + rest) @ likely + beyond * far)))
        return max(found)

    places = np.linspace(0.0, 4.0, 401)
    assert said.belief(epsilon) <= min(best(-1, right, wrong, float(p)) for p in places) * (1 + 1e-12)
    before = float(right.sum())
    rise = min(best(-1, right, wrong, float(p)) for p in places) - (before + beyond)
    fall = min(best(+1, wrong, right, float(p)) for p in places) - (1 - before)
    assert said.advantage(epsilon, False, None) <= max(rise, 0.0) + 1e-12
    assert said.advantage(epsilon, True, None) <= max(rise, fall, 0.0) + 1e-12


def test_what_the_goals_edge_leaves_open_counts_against_the_attacker_before_and_after() -> None:
    """Tiles of which a tenth may be correct or not: neither a rise nor a fall is told larger than it may be."""
    way = np.array([0.2, 0.9, 1.7, 2.6, 3.0])
    right, wrong = np.array([0.3, 0.2, 0.0, 0.0, 0.1]), np.array([0.05, 0.1, 0.1, 0.1, 0.05])
    shares = (0.9 * right, right), (wrong, wrong + 0.1 * right)
    said = OwnAttack(*shares, np.ones((5, 1)), way[None, :, None], 0.0, most=4.0)
    for epsilon, share in itertools.product((0.3, 1.0, 2.0), (0.9, 0.95, 1.0)):
        true = share * right
        before, reached = float(true.sum()), [0.0]
        for peak, sign in itertools.product(np.quantile(way[right > 0], np.linspace(0, 1, 48)), (-1, 1)):
            likely = np.exp(sign * epsilon * np.abs(way - peak))
            after = float(true @ likely / ((right + wrong) @ likely))
            reached.append(after - before if sign < 0 else before - after)
        assert said.advantage(epsilon, True, None) <= max(reached) + 1e-12


@pytest.mark.parametrize(
    ("sql", "adds"),
    [
        ("SUM(a) AS x, SUM(b)", True),
        ("SUM(a) AS x, SUM(3 * b) AS z, SUM(b)", True),
        ("SUM(a + 2 * b)", False),
        ("SUM(a) AS x, SUM(a * b)", False),
        ("SUM(a) AS x, SUM(b) AS z, SUM(CASE WHEN a > 0 THEN b END)", False),
    ],
)
def test_columns_of_their_own_numbers_are_as_far_apart_as_the_query_says(sql: str, adds: bool) -> None:
    """There an attack in the sum of their distances is one on the query, and is shown; elsewhere it need not be."""
    exposure = _exposure(sql, "a + b within 2", (1.0, -2.0))
    guarantee, rng = exposure.guarantee, np.random.default_rng(4)
    assert guarantee.adds_up(("a", "b")) is adds
    apart = [abs(_summed(guarantee, *pair) - guarantee.between(*pair)) for pair in _pairs(rng)]
    assert (max(apart) <= 1e-9 * guarantee.change) is adds
    if adds:
        risen = exposure.advantage(20.0)
        shown, _ = exposure.attacked(20.0, False, risen, None)
        a, b, mass = _grid()
        right = abs(a + b + 1) <= 2
        rate = 20.0 * min(guarantee.between({"a": 0.0, "b": 0.0}, {n: float(n == m) for n in "ab"}) for m in "ab")
        told = _largest(a + b, right, mass, rate) - float(mass[right].sum())  # by the total alone
        assert 0.85 * told < float(shown.attack) <= float(shown.bound)
        assert float(shown.attack) > 0.9 * _cone(exposure, (a, b), mass, right)


def _cone(exposure: Exposure, places: tuple[Array, Array], mass: Array, right: Any) -> float:
    """What one answer tells that is nearest to the truth."""
    far = [
        20.0 * np.asarray(exposure.guarantee.columns[n].distance(x, t))
        for n, x, t in zip("ab", places, (1, -2), strict=True)
    ]
    weight = mass * np.exp(-far[0] - far[1])
    return float(weight[right].sum() / weight.sum() - mass[right].sum())


def test_distances_to_the_nearest_of_some_places_are_private() -> None:
    exposure, rng = _exposure("SUM(a) AS x, SUM(b)", "a + b within 2", (1.0, -2.0)), np.random.default_rng(5)
    guarantee, places = exposure.guarantee, rng.uniform(-70, 70, (500, 2))
    metrics = [guarantee.columns[n] for n in "ab"]
    pairs = _pairs(rng)
    sides = [np.array([[x["a"], x["b"]] for x in side]) for side in zip(*pairs, strict=True)]
    first, second = (_to_nearest(metrics, side[:, None], places)[:, 0] for side in sides)
    most = np.array([guarantee.between(*pair) for pair in pairs])
    assert np.all(np.abs(first - second) <= most * (1 + 1e-9) + 1e-12)
    assert np.max(np.abs(first - second) / most) > 0.2
    assert np.array_equal(_to_nearest(metrics, places[None, :1], places), np.zeros((1, 1)))
    alone = [_to_nearest(metrics, x[None, None], y[None])[0, 0] for x, y in zip(*sides, strict=True)]
    assert np.allclose(alone, most, rtol=1e-9)  # of one place: the query's own distance to it


def _pairs(rng: np.random.Generator) -> list[tuple[dict[str, float], dict[str, float]]]:
    values = rng.uniform(-70, 70, (40, 2, 2)).tolist()  # some beyond the bounds
    return [(dict(zip("ab", x, strict=True)), dict(zip("ab", y, strict=True))) for x, y in values]


def _summed(guarantee: Guarantee, x: dict[str, float], y: dict[str, float]) -> float:
    return sum(float(guarantee.columns[n].distance(x[n], y[n])) for n in x)


def test_beside_a_wrong_prior_the_attack_of_the_declared_one_is_shown() -> None:
    """It is one of those that a factor allows: nothing would be said of it as if no attack were known."""
    found = []
    for factor in ("", "prior_factor = 1.5"):
        asked_plan = plan(
            "SELECT SUM(ABS(a - 3)) AS y FROM t",
            {"a": "bounds = [-60, 60]\nmissing = false\nprior = { normal = { mean = 0, sd = 3 } }"},
            f'[attacker]\ngoal = "a within 2"\nadvantage = 0.1\nat = {{ a = 1 }}\n{factor}',
        )
        exposure = Chooser(asked_plan, asked(asked_plan), None, False).exposure()
        assert exposure is not None
        risen, _ = exposure.attacked(6.0, False, exposure.advantage(6.0), None)
        found.append(risen)
    declared, wrong = found
    assert 0 < wrong.attack <= declared.attack <= declared.bound < wrong.bound
    assert wrong.attack == pytest.approx(declared.attack, rel=1e-3)
