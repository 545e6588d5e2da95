"""How unevenly a likelihood can lie on a set, from how far apart its values are: no likelihood lies more so."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

import guessproof as gp
from guessproof.auditing.wrong_priors import worst_beliefs
from guessproof.risk.misjudged import apart as module
from guessproof.risk.misjudged.answer import misjudged_several
from guessproof.risk.misjudged.apart import apart_in_table, apart_of, apart_on_line, most_moved
from guessproof.world.goals import within
from guessproof.world.line_form import LineForm

X, Y = (gp.Attribute(name, prior=gp.normal(0, sd)) for name, sd in (("x", 2), ("y", 3)))
EITHER = within(X, 1) | within(Y, 1)


@pytest.mark.parametrize("seed", range(20))
def test_no_likelihood_on_a_table_exceeds_it(seed: int) -> None:
    """Drawn places, masses and likelihoods: what each gains under its own worst prior, given its own declared gain."""
    draw = np.random.default_rng(seed)
    places = draw.normal(size=(int(draw.integers(3, 14)), 2)) * draw.choice([0.3, 3.0])
    table = np.abs(places[:, None] - places[None]).max(axis=-1)
    mass = draw.dirichlet(np.full(len(places), draw.choice([0.3, 3.0])))
    correct = np.arange(len(places)) < draw.integers(1, len(places))
    apart = apart_in_table(mass, table, correct)
    assert apart is not None
    epsilon, factor = float(draw.choice([0.1, 0.5, 2.0])), float(1 + 3 * draw.random())
    near = 1.0
    for _ in range(40):
        heights = draw.normal(size=len(places)) * draw.choice([0.5, 5.0])
        log_l = epsilon * np.max(heights - table, axis=1)  # as steep as privacy allows
        told = mass * np.exp(log_l - log_l.max())
        for (after, before), part, move in zip(
            worst_beliefs(told, mass, correct.astype(float), factor)[:2], (correct, ~correct), (1, -1), strict=True
        ):
            means = [told[p].sum() / mass[p].sum() for p in (part, ~part)]
            odds = np.log(mass[part].sum()) - np.log(mass[~part].sum())
            gain = max(float(np.log(means[0] / means[1])), 0.0)
            bound = most_moved(apart if move > 0 else (apart[1], apart[0]), epsilon, factor, gain, float(odds))
            moved = move * (after - before)
            assert moved <= bound * (1 + 1e-9) + 1e-12
            near = min(near, bound - moved)
    assert near < 0.2  # and some come near it


def test_a_set_of_two_values_is_met() -> None:
    """Two values a distance apart on either side: nothing is left between the bound and the worst likelihood."""
    mass, table = np.full(4, 0.25), 2.0 * (1 - np.eye(4))
    apart = apart_in_table(mass, table, np.array([True, True, False, False]))
    assert apart is not None
    found = most_moved(apart, 0.5, 2.0, 0.0, 0.0)
    told = mass * np.exp(0.5 * np.array([2.0, 0.0, 0.0, 2.0]))
    after, before = worst_beliefs(told, mass, np.array([1.0, 1.0, 0.0, 0.0]), 2.0)[0]
    assert after - before <= found <= 1.13 * (after - before)


@pytest.mark.parametrize("kind", ["either", "both", "line"])
def test_pairs_of_numbers_are_as_far_apart_as_drawn_ones(kind: str) -> None:
    draw = np.random.default_rng(3)
    x, y = (np.asarray(a.prior.quantile(draw.random(20_000))) for a in (X, Y))  # pyright: ignore[reportAttributeAccessIssue]
    hit, beside, shares = np.abs(x - 1.5) <= 1, np.abs(y - 2) <= 1, np.array([0.1, 0.3, 0.5])
    if kind == "line":
        form, fits = LineForm((-4.0, 1.0, 5.0), (0.0, 1.0, 0.5, 0.0), (0.0, 0.7, 0.0), 0.2, 4.0), hit | (x < -1)
        pairs = apart_on_line(X.prior, form, ((-np.inf, -1.0), (0.5, 2.5)))  # pyright: ignore[reportArgumentType]
        values = form.psi(x)[:, None]
    else:
        goal = EITHER if kind == "either" else within(X, 1) & within(Y, 1)
        several = gp.Attack(goal, at={"x": 1.5, "y": 2.0}).several
        assert several is not None
        found = apart_of(several.engine.joint_attack, several.engine.tree)
        assert found is not None
        pairs, fits = found, hit | beside if kind == "either" else hit & beside
        values, form = np.stack([x, y], axis=1), None
    for part, apart in zip((fits, ~fits), pairs, strict=True):
        one, other = (values[part][draw.integers(0, part.sum(), 200_000)] for _ in range(2))
        away = np.abs(one - other).max(axis=1)
        away = away if form is None else np.minimum(away, form.cap) + form.step
        told = np.sort(np.exp(0.25 * away))[::-1]
        drawn = np.array([told[: int(2 * s * (1 - s) * told.size)].mean() for s in shares])
        ratios = apart.ratios(0.25, shares)
        assert np.all(ratios >= 0.98 * drawn)
        assert np.all(ratios <= 1.06 * drawn)


@pytest.mark.parametrize(("epsilon", "radius"), [(0.3, 20.0), (1.0, 8.0), (1.0, 30.0)])
def test_pairs_beyond_all_radii_count(epsilon: float, radius: float) -> None:
    """Differences of normal numbers are normal: E[e^{ε|Δ|}] of those beyond a radius is a formula."""
    apart = replace(apart_on_line(X.prior, LineForm(slopes=(1.0,)), ((-1.0, 1.0),))[1], within=1.0)  # pyright: ignore[reportArgumentType]
    told = apart.beyond[0].told(epsilon, radius)
    sd = 2 * np.sqrt(2)
    exact = 2 * np.exp((epsilon * sd) ** 2 / 2) * ndtr(epsilon * sd - radius / sd)
    assert exact <= told
    assert apart.ratios(epsilon, np.array([1e-9]))[0] * 2e-9 >= 2 * np.exp((epsilon * sd) ** 2 / 2) * ndtr(
        epsilon * sd - apart.distance[0] / sd
    )


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 6.0])
def test_ratios_count_pairs_that_are_further_apart_than_any_radius(epsilon: float) -> None:
    """Never below E[e^{εd}] over the furthest half of all pairs of a normal number."""
    _, rest = apart_on_line(gp.normal(0, 1), LineForm(slopes=(1.0,)), ((-1e-6, 1e-6),))
    half = float(rest.ratios(epsilon, np.array([0.5]))[0]) / 2
    median = np.sqrt(2) * 0.6744897501960817  # of |x − x'|
    upper = 2 * np.exp(epsilon**2) * (1 - ndtr((median - 2 * epsilon) / np.sqrt(2)))
    assert upper * (1 - 1e-5) <= half
    assert epsilon > 1 or half <= 1.1 * upper


def test_ratios_are_endless_where_the_mean_is() -> None:
    """Nothing within the last radius tells that e^{1.5·d} has no mean under e^{−|x|}: what lies beyond it does."""
    _, rest = apart_on_line(gp.laplace(0, 1), LineForm(slopes=(1.0,)), ((-1e-6, 1e-6),))
    assert np.isinf(rest.ratios(1.5, np.array([0.5]))[0])
    assert rest.ratios(0.5, np.array([0.5]))[0] < 10


@pytest.mark.parametrize(("epsilon", "at"), [(0.1, (0.0, 0.0)), (0.3, (1.5, 2.0))])
def test_an_or_of_two_numbers(epsilon: float, at: tuple[float, float]) -> None:
    """A bound that falls with ε, as the attack does, one way and the other; it meets the declared prior."""
    attack = gp.Attack(EITHER, at=dict(zip("xy", at, strict=True)))
    assert attack.several is not None
    engine = misjudged_several(attack.several.engine, 1.5).engines[()]
    for move in (1, -1):
        reached, limit = engine.reached(epsilon, move), engine.limit(epsilon, move)
        assert reached <= limit <= 2.1 * reached
        assert reached > 1.04 * engine.wrong_by(1.0).reached(epsilon, move)
    found = [engine.wrong_by(factor).limit(epsilon, 1) for factor in (1 + 1e-9, 1.2, 2.0, 10.0)]
    assert found[0] == pytest.approx(engine.wrong_by(1.0).reached(epsilon, 1), rel=0.06)
    assert all(a <= b * (1 + 1e-9) for a, b in itertools.pairwise(found))


def test_a_limit_on_an_or_has_an_epsilon_under_a_wrong_prior() -> None:
    strict = gp.Attack(EITHER, at={"x": 0.0, "y": 0.0}, prior_factor=1.5)
    epsilon = strict.epsilon(advantage=0.1)
    assert 0.14 < epsilon < 0.27  # what an attack needs
    assert 0.099 < float(strict.advantage(epsilon).bound) <= 0.1


@pytest.mark.parametrize("seed", range(6))
def test_steps_of_shares_lose_nothing_and_add_little(seed: int) -> None:
    """Every share, not only those at the steps: the bound lies above all of them, by a step on either side at most."""
    draw = np.random.default_rng(seed)
    mass, places = draw.dirichlet(np.full(8, 2.0)), draw.normal(size=8)
    table, correct = np.abs(places[:, None] - places), np.arange(8) < 4
    apart = apart_in_table(mass, table, correct)
    assert apart is not None
    epsilon, factor, gain = 2.0, 1.5 + draw.random(), 0.2
    odds = float(np.log(mass[correct].sum()) - np.log(mass[~correct].sum()))
    shares = np.linspace(1e-4, 1 - 1e-4, 1501)
    near, far = (part.ratios(epsilon, shares) for part in apart)
    raised = np.log1p((factor - 1) * shares / (shares + (1 - shares) / near))[:, None]
    lowered = np.log1p((factor - 1) * shares / (shares + (1 - shares) * far))[None, :]
    mean = np.log1p((factor - 1) * shares)
    before = odds + mean[:, None] - mean[None, :]
    after = np.minimum(before + gain + raised - lowered - mean[:, None] + mean[None, :], odds + gain + np.log(factor))
    worst = float(np.max(1 / (1 + np.exp(-after)) - 1 / (1 + np.exp(-before))))
    found = most_moved(apart, epsilon, factor, gain, odds)
    step = 0.25 * 2 * (factor - 1) / 160  # in beliefs: log-odds count a quarter, and both sides take a step
    assert worst <= found <= worst + 2 * step
    assert found >= worst + 0.3 * step


@pytest.mark.parametrize("steps", [1, 2, 5, 160])
@pytest.mark.parametrize("flipped", [False, True])
def test_however_few_steps_no_likelihood_exceeds_it(steps: int, flipped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rare value holds most of either side: what the rest holds jumps in the last step, at whose other end less than
    is reached would be proven.
    """
    monkeypatch.setattr(module, "_SHARES", steps)
    rare, factor, far = 1e-4, 4.0, float(np.log(2e5))
    mass = 0.5 * np.array([rare, 1 - rare, 1 - rare, rare])
    places, correct = far * np.array([0.0, 1.0, 1.0, 0.0]), np.array([True, True, False, False])
    table, likelihood = np.abs(places[:, None] - places), np.exp(-places)
    apart = apart_in_table(mass, table, correct ^ flipped)
    assert apart is not None
    fall = int(flipped)
    after, before = worst_beliefs(mass * likelihood, mass, (correct ^ flipped).astype(float), factor)[fall]
    sides = (apart[1], apart[0]) if flipped else apart
    found = most_moved(sides, 1.0, factor, 0.0, 0.0)
    assert 0.55 < abs(after - before) <= found <= 0.6 + 1e-9
