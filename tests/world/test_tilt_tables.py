"""Tables of polynomials tell what each integral by itself does, for every prior, every distance and every rate."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy import stats

import guessproof as gp
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world import tilt_tables
from guessproof.world.line_form import LineForm
from guessproof.world.powers import antiderivatives
from guessproof.world.tilt_tables import TiltTables

PRIORS: dict[str, Any] = {
    "normal": gp.normal(20, 6.28),
    "uniform": gp.uniform(-1, 3),
    "exponential": gp.exponential(2),
    "Laplace": gp.laplace(1, 2),
    "histogram": gp.histogram([0, 1, 2, 3, 4, 7], [0.1, 0.3, 0.35, 0.05, 0.2]),
    "mixture": gp.mixture((0.6, gp.normal(0, 1)), (0.4, gp.normal(4, 0.5))),
    "truncated": gp.normal(0, 1).given(-0.5, 2),
    "lognormal": gp.lognormal(1, 0.5),
    "gamma": gp.gamma(3, 1),
    "beta": gp.beta(2, 3),
    "heavy tails": gp.student_t(4),
    "from SciPy": gp.from_scipy(stats.weibull_min(1.8)),
}
FORMS = ("straight", "clamped", "bent and jumping")


def _form(name: str, prior: Any) -> LineForm:
    low, high = (float(q) for q in prior.quantile([0.2, 0.85]))
    if name == "straight":
        return LineForm(slopes=(0.7,))
    if name == "clamped":
        return LineForm((low, high), (0.0, 1.0, 0.0), (0.0, 0.0))
    return LineForm((low, high), (0.4, 1.0, 0.2), (0.0, 0.3 * (high - low)))


def _drawn(prior: Any, rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    """Peaks with pieces on either side of them, some without end, some empty."""
    c = prior.quantile(rng.uniform(0.001, 0.999, n))
    below, above = prior.cdf(c)[:, None], 1 - prior.cdf(c)[:, None]
    left = np.minimum(prior.quantile(rng.random((n, 3)) * below), c[:, None])
    right = np.maximum(prior.quantile(1 - rng.random((n, 3)) * above), c[:, None])
    left[: n // 5], right[n // 10 : n // 3], left[-3:] = -np.inf, np.inf, c[-3:, None]
    return c, (left, c[:, None]), (c[:, None], right)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PRIORS)
def test_tables_tell_what_each_integral_does(name: str, form: str) -> None:
    rng, prior = np.random.default_rng(len(name + form)), PRIORS[name]
    world = TiltedIntegrals(prior, _form(form, prior))
    tables = TiltTables(prior, world.form, world.log_tilt)
    c, left, right = _drawn(prior, rng, 150)
    k = rng.choice(np.geomspace(1e-4, 12, 9) / world.spread * rng.choice([-1, 1], 9), c.size)
    told, known = tables.told(k, left, right, c)
    mass, direct = world._sides(k, left, right, c)
    assert tables.masses(left, right) == pytest.approx(mass, abs=2e-14)
    assert np.mean(known[k > 0]) > 0.8
    some = known[:, None] & np.isfinite(direct)
    assert np.array_equal(np.isinf(told[known]), np.isinf(direct[known]))
    assert told[some] == pytest.approx(direct[some], rel=2e-10, abs=1e-280)
    assert np.mean(np.abs(told[some] - direct[some]) <= 1e-12 * direct[some]) > 0.97


def test_whoever_asks_gets_the_rest_in_another_way() -> None:
    """Far out in a heavy tail, at a rate for which tables end before, the same comes from each integral by itself."""
    prior = gp.student_t(2.5)
    world = TiltedIntegrals(prior, gp.Absolute().line_form)
    assert world.tables is not None
    k, c = np.array([40.0, 3.0, 1e5]), np.array([300.0, -2.0, 0.5])
    left, right = (np.full((3, 1), -np.inf), c[:, None] - 0.1), (c[:, None] + 0.2, np.full((3, 1), np.inf))
    assert not world.tables.told(k, left, right, c)[1].all()
    for found, direct in zip(world.sides(k, left, right, c), world._sides(k, left, right, c), strict=True):
        assert found == pytest.approx(direct, rel=1e-9, abs=1e-14)


def test_tents_over_any_part() -> None:
    prior = gp.gamma(3, 1)
    for form in (gp.Absolute().line_form, gp.Clamped(1, 4).line_form):
        world = TiltedIntegrals(prior, form)
        rng = np.random.default_rng(4)
        c, a = rng.uniform(0.2, 8, 60), rng.uniform(-1, 6, 60)
        b, k = a + rng.uniform(0, 5, 60), rng.uniform(-0.5, 4, 60)
        a[:20], b[10:30] = -np.inf, np.inf
        turn = np.clip(c, a, b)
        direct = np.logaddexp(world.log_tilt(k, a, turn, c), world.log_tilt(-k, turn, b, c))
        assert world.log_tent(k, a, b, c) == pytest.approx(direct, rel=1e-9, abs=1e-9)


def test_where_a_density_is_infinite_there_are_no_tables() -> None:
    assert TiltedIntegrals(gp.beta(0.7, 0.7), gp.Absolute().line_form).tables is None
    assert TiltedIntegrals(gp.normal(0, 1), gp.Absolute().line_form).tables is None  # closed forms are as quick
    clamped = TiltedIntegrals(gp.normal(0, 1), gp.Clamped(-1, 1).line_form)
    assert clamped.tables is clamped.tables is not None


def test_rates_are_forgotten_when_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tilt_tables, "_MOST_RATES", 8)
    prior = gp.gamma(3, 1)
    world = TiltedIntegrals(prior, gp.Absolute().line_form)
    tables = TiltTables(prior, world.form, world.log_tilt)
    first = np.linspace(0.1, 1, 6)
    mixed = np.append(first[:3], [1.1, 1.3, 1.7])  # some are known when the others make it too many
    for rates in (first, mixed, np.linspace(0.2, 2, 6), mixed, first):
        c = np.full(6, 2.0)
        left, right = (np.full((6, 1), -np.inf), c[:, None]), (c[:, None], np.full((6, 1), np.inf))
        told, known = tables.told(rates, left, right, c)
        assert known.all()
        assert told == pytest.approx(world._sides(rates, left, right, c)[1], rel=1e-11)
        assert tables._rates.size <= 8


def test_tables_stay_where_they_were_made() -> None:
    prior = gp.gamma(3, 1)
    world = TiltedIntegrals(prior, gp.Clamped(1, 4).line_form)
    c = np.array([2.0])
    left, right = (np.array([[-np.inf]]), c[:, None]), (c[:, None], np.array([[np.inf]]))
    here = world.sides(np.array([0.7]), left, right, c)
    assert prior.tables
    copied = pickle.loads(pickle.dumps(world))
    assert copied == world
    assert not copied.prior.tables
    there = copied.sides(np.array([0.7]), left, right, c)
    assert np.array_equal(np.stack(there), np.stack(here))


def test_many_threads_share_tables() -> None:
    world = TiltedIntegrals(gp.gamma(3, 1), gp.Clamped(1, 4).line_form)
    c = np.full(4, 2.0)
    left, right = (np.full((4, 1), -np.inf), c[:, None]), (c[:, None], np.full((4, 1), np.inf))
    rates = np.random.default_rng(0).uniform(0.01, 3, (200, 4))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda k: world.sides(k, left, right, c)[1], rates))
    for k, each in zip(rates, found, strict=True):
        assert each == pytest.approx(world._sides(k, left, right, c)[1], rel=1e-11)


def test_the_polynomial_of_a_polynomial_is_exact() -> None:
    nodes, weights = (np.asarray(v) for v in np.polynomial.legendre.leggauss(7))
    rng = np.random.default_rng(2)
    powers = rng.normal(size=7)
    made = np.polynomial.polynomial.polyval(nodes, powers) @ antiderivatives(nodes, weights)
    exact = np.polynomial.polynomial.polyint(powers, lbnd=-1)
    assert made == pytest.approx(exact, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("sd", [1e-2, 1e-4, 1e-6])
def test_no_panel_misses_a_narrow_part_of_a_prior(sd: float) -> None:
    """Three of ten people at one place: nodes on both sides of it do not see them."""
    prior = gp.mixture((0.7, gp.normal(0, 1)), (0.3, gp.normal(0.701234, sd)))
    for form in (LineForm(slopes=(1.0,)), _form("clamped", prior)):
        world = TiltedIntegrals(prior, form)
        k, c = np.array([1.7]), np.array([0.5])
        left, right = (np.full((1, 1), 0.2), c[:, None]), (c[:, None], np.full((1, 1), 0.8))
        for found, direct in zip(world.sides(k, left, right, c), world._sides(k, left, right, c), strict=True):
            assert found == pytest.approx(direct, rel=1e-12)


@pytest.mark.parametrize("prior", [gp.student_t(2), gp.lognormal(1, 1.5)], ids=str)
def test_tents_that_peak_far_out_in_a_heavy_tail_are_told_to_all_digits_or_not_at_all(prior: Any) -> None:
    """Panels end somewhere: what lies beyond them may be most of a tent there."""
    world, rng, count = (
        TiltedIntegrals(prior, LineForm((-1.0, 1.5), (0.5, 1.0, 0.7), (0.0, 0.0))),
        np.random.default_rng(0),
        600,
    )
    tables = world.tables
    assert tables is not None
    k, tail, ends = 10 ** rng.uniform(-2, 2, count), 10 ** -rng.uniform(0, 8, count), np.full(count, np.inf)
    ref = prior.quantile(np.where(rng.random(count) < 0.5, tail, 1 - tail))
    left, right = ref - 10 ** rng.uniform(-2, 2, count), ref + 10 ** rng.uniform(-2, 2, count)
    left, right = np.where(rng.random(count) < 0.3, -ends, left), np.where(rng.random(count) < 0.3, ends, right)
    sides = (left[:, None], ref[:, None]), (ref[:, None], right[:, None])
    told, known = tables.told(k, *sides, ref)

    def tent(a: Any, b: Any) -> Any:
        return np.exp(world.log_tilt(k, a, ref, ref)) + np.exp(world.log_tilt(-k, ref, b, ref))

    off = np.abs(told[:, 0] - tent(left, right)) / tent(-ends, ends)
    assert 0.4 * count < np.count_nonzero(known) < count
    assert np.max(off[known]) < 1e-12
