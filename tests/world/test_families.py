"""Log-normal, gamma, beta, Student's t, mixtures and truncated priors, against mpmath and scipy, and through plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

import guessproof as gp
from guessproof.cli.reading import read_prior
from guessproof.errors import PriorError
from guessproof.plan import loads_plan
from guessproof.world.line import LinePrior

FAMILIES: dict[str, tuple[LinePrior, Any]] = {
    "lognormal": (gp.lognormal(2000, 0.5), stats.lognorm(0.5, scale=2000)),
    "gamma": (gp.gamma(3, 2), stats.gamma(3, scale=2)),
    "gamma, infinite at 0": (gp.gamma(0.5, 2), stats.gamma(0.5, scale=2)),
    "beta": (gp.beta(2, 5), stats.beta(2, 5)),
    "beta, infinite at both ends": (gp.beta(0.5, 0.5, 0, 10), stats.beta(0.5, 0.5, 0, 10)),
    "beta, nearly an atom at 0": (gp.beta(0.1, 3, -5, 5), stats.beta(0.1, 3, -5, 10)),
    "student_t": (gp.student_t(4, 10, 2), stats.t(4, 10, 2)),
    "normal": (gp.normal(20, 5), stats.norm(20, 5)),
    "uniform": (gp.uniform(2, 5), stats.uniform(2, 3)),
    "exponential": (gp.exponential(3), stats.expon(scale=3)),
    "laplace": (gp.laplace(1, 2), stats.laplace(1, 2)),
}
MIXED = gp.mixture((0.7, gp.normal(20, 5)), (0.3, gp.uniform(0, 60)))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_agrees_with_scipy(family: str) -> None:
    prior, frozen = FAMILIES[family]
    x = frozen.ppf(np.linspace(0.01, 0.99, 23))
    assert np.allclose(prior.log_density(x), frozen.logpdf(x), rtol=1e-10, atol=1e-12)
    assert np.allclose(prior.cdf(x), frozen.cdf(x), rtol=1e-10)
    assert np.allclose(prior.cdf(x, True), frozen.sf(x), rtol=1e-10)
    assert np.allclose(prior.quantile(frozen.cdf(x)), x, rtol=1e-8)
    assert np.allclose(prior.quantile(frozen.sf(x), True), x, rtol=1e-8)
    assert float(prior.mass(-np.inf, np.inf)) == pytest.approx(1.0)
    wider = prior.stretched(1.25)
    assert wider is None or float(wider.mass(x[6], x[16])) < float(prior.mass(x[6], x[16]))


@pytest.mark.parametrize("family", FAMILIES)
def test_masses_keep_their_digits_however_narrow(family: str) -> None:
    prior, frozen = FAMILIES[family]
    for a in map(float, frozen.ppf([1e-4, 0.2, 0.5, 0.9, 1 - 1e-7])):
        for width in (1e-9, 1e-4, 1e-2):
            b = a + width * float(frozen.std())
            if not prior.support[0] < a < b < prior.support[1] or b - a < 1e6 * np.spacing(abs(a)):
                continue
            with mp.workdps(25):
                density = mp.quad(lambda x: mp.e ** mp.mpf(float(prior.log_density(float(x)))), [a, b])
            assert float(prior.mass(a, b)) == pytest.approx(float(density), rel=3e-10), (a, width)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_worst_true_value_is_exact_and_dominates(family: str) -> None:
    prior, frozen = FAMILIES[family]
    low, high = (float(v) for v in frozen.ppf([0.001, 0.999]))
    radius = float(np.ptp(frozen.ppf([0.4, 0.6])))
    attribute = gp.Attribute("x", prior=prior, bounds=(low, high))
    worst = gp.Attack(gp.within(attribute, radius)).advantage(epsilon=0.3 / radius)
    at = np.linspace(low, high, 60)
    known = gp.Attack(gp.within(attribute, radius), at={"x": at}).advantage(epsilon=0.3 / radius)
    assert np.max(known.attack) <= worst.bound + 1e-10
    assert np.max(known.attack) >= 0.98 * worst.attack


def test_a_mixture_is_the_sum_of_its_parts() -> None:
    a, b = np.array([-3.0, 10.0, 18.0]), np.array([5.0, 30.0, 22.0])
    parts = 0.7 * gp.normal(20, 5).mass(a, b) + 0.3 * gp.uniform(0, 60).mass(a, b)
    assert np.allclose(MIXED.mass(a, b), parts, rtol=1e-12)
    assert np.allclose(MIXED.cdf(MIXED.quantile([0.001, 0.2, 0.5, 0.999])), [0.001, 0.2, 0.5, 0.999], rtol=1e-9)
    assert MIXED.breaks == (0.0, 60.0)
    worst = gp.Attack(gp.within(gp.Attribute("x", prior=MIXED, bounds=(0, 60)), 2)).advantage(epsilon=0.06)
    assert worst.worst_at == pytest.approx(58, abs=0.05)


def test_truncated_is_what_an_attacker_believes_who_knows_the_ends() -> None:
    cut = gp.truncated(gp.lognormal(2000, 0.5), 1000, 4000)
    known = gp.Attack(
        gp.within(gp.Attribute("x", prior=gp.lognormal(2000, 0.5)), 100), {"x": 2000}, {"x": (1000, 4000)}
    )
    assert gp.Attack(gp.within(gp.Attribute("x", prior=cut), 100), {"x": 2000}).epsilon(advantage=0.1) == pytest.approx(
        known.epsilon(advantage=0.1)
    )


def test_a_family_of_scipy_answers_as_ours() -> None:
    ours, theirs = (
        gp.Attack(gp.within(gp.Attribute("x", prior=p, bounds=(0, 20)), 0.5)).epsilon(advantage=0.1)
        for p in (gp.gamma(3, 1), gp.from_scipy(stats.gamma(3)))
    )
    assert theirs == pytest.approx(ours, rel=1e-6)


PLAN = """
[data]
name = "canteen"
source = "t.csv"
table = "t"
protects = "values"
rows = 40
[query]
sql = "SELECT AVG(time) AS mean_time FROM t"
[columns.time]
bounds = [0, 120]
prior = {}
[attacker]
goal = "time within 2"
advantage = 0.05
"""
WRITTEN = {
    "{ lognormal = { median = 20, sd_log = 0.4 } }": "lognormal(20, 0.4)",
    "{ gamma = { shape = 4, scale = 5 } }": "gamma(4, 5)",
    "{ beta = { a = 0.5, b = 2, high = 120 } }": "beta(0.5, 2, high=120)",
    "{ student_t = { df = 4, mean = 20, scale = 5 } }": "student_t(df=4, mean=20, scale=5)",
    "{ mixture = [{ weight = 0.7, prior = { normal = { mean = 20, sd = 5 } } }, "
    "{ weight = 0.3, prior = { uniform = { low = 0, high = 60 } } }] }": (
        "mixture((0.7, normal(20, 5)), (0.3, uniform(0, 60)))"
    ),
    "{ truncated = { prior = { normal = { mean = 20, sd = 5 } }, low = 10 } }": "truncated(normal(20, 5), 10, 1e99)",
}


@pytest.mark.parametrize(("toml", "call"), WRITTEN.items())
def test_plans_and_the_command_line_write_them(toml: str, call: str, tmp_path: Path) -> None:
    plan = loads_plan(PLAN.replace("{}", toml), folder=tmp_path)
    choice = gp.choose(plan)
    attribute = gp.Attribute("time", prior=read_prior(call), bounds=(0, 120))
    safe = gp.Attack(gp.within(attribute, 2)).epsilon(advantage=0.05)
    assert choice.feasible
    slope = choice.to_dict()["epsilon_per_unit"]["time"]
    assert safe * (1 - 1e-4) <= slope <= 1.02 * safe  # the query clamps to the bounds, which hides a little more


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("{ mixture = [{ weight = 1.0, prior = { normal = { mean = 20, sd = 5 } } }] }", "two priors"),
        ("{ truncated = { prior = { categorical = { a = 1.0 } } } }", "categorical"),
        ("{ gamma = { shape = 0.001, scale = 5 } }", "shape"),
        ("{ truncated = { prior = { normal = { mean = 20, sd = 5 } }, low = 10, high = 5 } }", "below"),
    ],
)
def test_bad_ones_are_refused_in_words(toml: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(gp.errors.GuessproofError, match=words):
        loads_plan(PLAN.replace("{}", toml), folder=tmp_path)


@pytest.mark.parametrize("call", ["mixture(1, 2)", "mixture((0.5, 3), (0.5, 4))", "truncated(3, 0, 1)", "gamma(x, y)"])
def test_bad_calls_are_refused(call: str) -> None:
    with pytest.raises(PriorError):
        read_prior(call)


@pytest.mark.parametrize(("mean", "scale"), [(0.0, 1.0), (-2.15357e7, 1.45782e7), (3.0, 1e-6)])
def test_the_last_quantiles_of_a_tail_without_memory(mean: float, scale: float) -> None:
    """Masses that add up to 1 but for rounding leave the last values where they are."""
    left = np.array([0.3, 1e-9, 1e-12, 1e-15, 2.0**-53])
    upper = 1 - (1 - left)  # what a number next to 1 leaves
    found = gp.laplace(mean, scale).quantile(1 - left)
    assert found == pytest.approx(mean - scale * np.log(2 * upper), rel=1e-12, abs=1e-12 * scale)
    assert gp.exponential(scale).quantile(1 - left) == pytest.approx(-scale * np.log(upper), rel=1e-9)


@pytest.mark.parametrize(
    "prior",
    [
        MIXED,
        gp.mixture((0.2, gp.exponential(3.3)), (0.8, gp.gamma(0.435, 2.6))),
        gp.mixture((0.5, gp.student_t(3)), (0.5, gp.normal(0, 0.01))),
        gp.mixture((1e-6, gp.laplace(-40, 3)), (1 - 1e-6, gp.beta(2, 0.5))),
    ],
    ids=lambda prior: "+".join(part.name for part in prior.parts),
)
def test_quantiles_of_mixtures_hold_far_into_their_tails(prior: LinePrior) -> None:
    for tail in (1e-15, 1e-9, 1e-3, 0.4):
        assert prior.mass(-np.inf, prior.quantile(tail)) == pytest.approx(tail, rel=1e-9)
        above = 1 - (1 - tail)  # what a number near 1 tells of it
        if prior.quantile(1 - tail) < 0.999:  # nearer to 1 a density that is infinite there outruns floating point
            assert prior.mass(prior.quantile(1 - tail), np.inf) == pytest.approx(above, rel=1e-9)


@pytest.mark.parametrize("u", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_quantiles_hold_where_only_a_far_tail_is_left(u: float) -> None:
    low, high = (gp.truncated(gp.normal(0, 1), *ends) for ends in ((-12, -10), (10, 12)))
    assert high.quantile(u) == pytest.approx(float(stats.truncnorm(10, 12).ppf(u)), rel=1e-12)
    assert high.quantile(u, True) == pytest.approx(-float(low.quantile(u)), rel=1e-14)


def test_quantiles_of_heavy_mixtures_reach_the_end_of_floating_point() -> None:
    prior = gp.mixture((0.7, gp.normal(20, 5)), (0.3, gp.student_t(1)))
    for tail in (1e-140, 1e-50, 1e-10):
        assert prior.cdf(prior.quantile(tail, True), True) == pytest.approx(tail, rel=1e-9, abs=0)
        assert prior.cdf(prior.quantile(tail)) == pytest.approx(tail, rel=1e-9, abs=0)
