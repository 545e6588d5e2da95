"""Radii that pass values beyond a bound one by one, and curves of goals and columns that need them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from depth import cases

import guessproof as gp
from guessproof.risk.misjudged.radii import Radii
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array
from guessproof.world.line_form import LineForm

PRIORS = (
    gp.normal(50, 10),
    gp.uniform(20, 80),
    gp.gamma(6, 8),
    gp.histogram([20, 40, 50, 80], [0.2, 0.5, 0.3]),
    gp.lognormal(45, 0.3),
)


def _worlds() -> list[TiltedIntegrals]:
    one_sided = LineForm((0.4,), (0.0, 1.0), (0.0,))
    return [
        TiltedIntegrals(gp.normal(0, 1), gp.Clamped(-0.5, 1).line_form),
        TiltedIntegrals(gp.uniform(0, 1), gp.Clamped(0.2, 0.8).line_form),
        TiltedIntegrals(gp.histogram([0, 1, 2, 5], [0.2, 0.5, 0.3]), gp.Clamped(0.5, 2.5).line_form),
        TiltedIntegrals(gp.uniform(0, 1), one_sided),
        TiltedIntegrals(gp.normal(0, 1), gp.Absolute().line_form),
    ]


@pytest.mark.parametrize("which", range(5))
def test_larger_radii_hold_more_and_what_is_farther_comes_later(which: int) -> None:
    world = _worlds()[which]
    radii, psi = Radii(world), world.form.psi
    ends = psi(world.prior.quantile([1e-6, 1 - 1e-6]))
    c = np.linspace(*world.prior.quantile([0.25, 0.75]), 5)[:, None]
    radius = np.linspace(0.0, 1.2 * (ends[1] - ends[0]) + world.spread, 400)
    left, right = radii.around(c, radius + 0 * c)
    away = radii.distance(c, radius + 0 * c)
    assert np.all(left[:, 1:] <= left[:, :-1])
    assert np.all(right[:, 1:] >= right[:, :-1])
    assert np.all(np.diff(away) >= 0)
    assert np.all(np.diff(away) <= np.diff(radius) + 1e-12)
    for x in world.prior.quantile(np.linspace(0.001, 0.999, 41)):
        held = (x >= left - 1e-12) & (x <= right + 1e-12)
        first, last = radii.nearest(c, x + 0 * c), radii.farthest(c, x + 0 * c)
        assert np.all(held[(radius > last + 1e-9) & held.any(axis=1)[:, None]])
        assert not np.any(held & (radius < first - 1e-9))
        distance = np.abs(psi(x) - psi(c))
        enters = np.argmax(held, axis=1)[:, None]
        at = np.take_along_axis(away, enters, axis=1)
        assert at == pytest.approx(distance, abs=2 * float(np.diff(radius)[0]))


def test_beyond_a_bound_values_are_passed_one_by_one() -> None:
    radii = Radii(_worlds()[1])
    c = np.array([0.5])
    (first, last), (second, end) = radii.stretches(c)
    stretch = float(last[0] - first[0])
    assert first[0] == pytest.approx(0.3)  # both bounds are equally far: the lower one's come first
    assert (last[0], end[0]) == pytest.approx((second[0], 0.3 + 2 * stretch))
    for share in (0.25, 0.5, 0.75):
        left, right = radii.around(c, first + share * stretch)
        assert (left[0], right[0]) == pytest.approx((0.2 * (1 - share), 0.8), abs=5e-3)
        left, right = radii.around(c, second + share * stretch)
        assert (left[0], right[0]) == pytest.approx((0.0, 0.8 + 0.2 * share), abs=5e-3)
        assert radii.distance(c, second + share * stretch)[0] == pytest.approx(0.3)


def _brute(prior: Any, psi: Any, goal: Any, truths: Array, factor: float, epsilon: float, move: int) -> float:
    """The best tent (or valley) and wrong prior on a grid of values: for every tent all thresholds on both sides."""
    x = prior.quantile((np.arange(5000) + 0.5) / 5000)
    f, best = np.full(x.size, 1 / x.size), 0.0
    for t in truths:
        lo, hi = goal(t)
        inside = (x >= lo) & (x <= hi)
        if not inside.any() or inside.all():
            continue
        for c in np.linspace(lo, hi, 5):
            like = np.exp(-move * epsilon * np.abs(psi(x) - psi(c)))
            raised, rest = (inside, ~inside) if move > 0 else (~inside, inside)
            parts = list[tuple[Array, Array]]()
            for side, order in ((raised, -like), (rest, like)):
                some = np.argsort(order[side], kind="stable")
                weight, told = f[side][some], (f * like)[side][some]
                added = [np.concatenate([[0.0], np.cumsum((factor - 1) * v)]) for v in (weight, told)]
                few = np.unique(np.linspace(0, weight.size, 40).astype(int))
                parts.append((weight.sum() + added[0][few], told.sum() + added[1][few]))
            (a, into), (b, out) = parts
            values = into[:, None] / (into[:, None] + out) - a[:, None] / (a[:, None] + b)
            best = max(best, float(values.max()))
    return best


def _drawn(seed: int) -> tuple[gp.Attack, Any, Any, Any]:
    rng = np.random.default_rng(seed)
    kind = seed % 5
    factor = float(rng.choice([1.5, 3.0, 4.0]))
    prior: Any = PRIORS[int(rng.integers(len(PRIORS)))]
    if kind < 2:  # a goal in percent
        low, high = (float(q) for q in prior.quantile([0.02, 0.98]))
        column, percent = gp.Attribute("x", prior, bounds=(low, high)), float(rng.uniform(4, 25))
        attack = gp.Attack(gp.within(column, percent=percent), prior_factor=factor)
        return attack, prior, lambda x: x, lambda t: (t * (1 - percent / 100), t * (1 + percent / 100))
    low, high = (float(q) for q in prior.quantile([rng.choice([1e-3, 0.05, 0.2]), 1 - rng.choice([1e-3, 0.1])]))
    radius = float(rng.uniform(0.03, 0.12) * (high - low))
    column = gp.Attribute("x", prior, metric=gp.Clamped(low, high), bounds=(low, high))
    attack = gp.Attack(gp.within(column, radius), prior_factor=factor)
    return attack, prior, lambda x: np.clip(x, low, high), lambda t: (t - radius, t + radius)


@pytest.mark.parametrize("seed", range(cases(15)))
def test_no_wrong_prior_exceeds_a_curve(seed: int) -> None:
    """Clamped columns and goals in percent, against a grid of values that knows neither integrals nor radii."""
    attack, prior, psi, goal = _drawn(seed)
    assert attack.attribute.bounds is not None
    move = 1 if seed % 4 else -1
    curve = gp.Curve(attack)
    piece = curve.rise if move > 0 else curve.fall
    low, high = attack.attribute.bounds
    assert piece.loose <= 1e-3
    for share in (0.15, 0.6):
        epsilon = float(np.interp(share, np.linspace(0, 1, piece.epsilon.size), piece.epsilon))
        bound, reached = piece.at(epsilon), float(np.interp(epsilon, piece.epsilon, piece.value))
        found = _brute(prior, psi, goal, np.linspace(low, high, 17), attack.prior_factor, epsilon, move)
        assert bound is not None
        assert found <= bound * (1 + 2e-3) + 2e-4  # what a grid of 5000 values may be off by
        assert found >= 0.95 * reached - 1e-3  # and the attack is one that the grid knows, too


def test_a_straight_distance_that_is_nowhere_shorter() -> None:
    clamped = gp.Clamped(0, 120).line_form
    assert clamped is not None
    straight = clamped.straightened
    assert straight is not None
    x, y = np.random.default_rng(0).uniform(-50, 200, (2, 500))
    assert np.all(np.abs(clamped.psi(x) - clamped.psi(y)) <= np.abs(straight.psi(x) - straight.psi(y)) + 1e-12)
    assert LineForm((0.0,), (1.0, 1.0), (0.5,)).straightened is None
    few, many = (TiltedIntegrals(gp.normal(mean, 6.28), clamped).straightened for mean in (20, 5))
    assert few is not None
    assert few.form.is_straight
    assert many is None  # a fifth of all people are where it bends


def test_what_is_proven_with_a_straight_distance_is_close_to_attacks_with_the_clamped_one() -> None:
    time = gp.Attribute("time", gp.normal(20, 6.28), metric=gp.Clamped(0, 120), bounds=(0, 120))
    attack = gp.Attack(gp.within(time, 2), prior_factor=2.0)
    curve = gp.Curve(attack)
    assert curve.within <= 1e-3
    for limit in (0.01, 0.1, 0.3):
        close, exact = curve.epsilon(advantage=limit), attack.epsilon(advantage=limit)
        assert 0.995 * close <= exact <= 1.002 * close
    plain = gp.Curve(replace(attack, goal=gp.within(replace(time, metric=None), 2)))
    assert plain.epsilon(advantage=0.1) <= curve.epsilon(advantage=0.1) * (1 + 1e-3)
