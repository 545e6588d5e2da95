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
from guessproof.world import pieces
from guessproof.world.line import LinePrior
from guessproof.world.quadrature import FrozenScipy

FAMILIES: dict[str, tuple[LinePrior, Any]] = {
    "lognormal": (gp.lognormal(2000, 0.5), stats.lognorm(0.5, scale=2000)),
    "gamma": (gp.gamma(3, 2), stats.gamma(3, scale=2)),
    "gamma, infinite at 0": (gp.gamma(0.5, 2), stats.gamma(0.5, scale=2)),
    "beta": (gp.beta(2, 5), stats.beta(2, 5)),
    "beta, infinite at both ends": (gp.beta(0.5, 0.5, 0, 10), stats.beta(0.5, 0.5, 0, 10)),
    "beta, nearly an atom at 0": (gp.beta(0.1, 3, -5, 5), stats.beta(0.1, 3, -5, 10)),
    "student_t": (gp.student_t(4, 10, 2), stats.t(4, 10, 2)),
}
MIXED = gp.mixture((0.7, gp.normal(20, 5)), (0.3, gp.uniform(0, 60)))


def tilt_of(frozen: Any, k: float, a: float, b: float, ref: float) -> float:
    """ln ∫ e^{k(x−ref)} dF as an integral over probabilities, on panels that shrink towards both ends."""
    low, high = frozen.cdf(a), frozen.cdf(b)
    halves = (high - low) * 2.0 ** -np.arange(1, 50)
    edges = np.unique(np.clip(np.concatenate([[low, high], low + halves, high - halves]), low, high))
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    u = edges[:-1, None] + half * (1 + nodes)
    return float(np.log(np.sum(half * weights * np.exp(k * (frozen.ppf(u) - ref)))))


@pytest.mark.parametrize("family", FAMILIES)
def test_tilted_integrals_agree_with_an_integral_over_probabilities(family: str) -> None:
    prior, frozen = FAMILIES[family]
    q = frozen.ppf([0.1, 0.3, 0.5, 0.9])
    spans = [(q[0], q[1]), (q[1], q[3]), (frozen.ppf(1e-6), q[0]), (q[2], frozen.ppf(1 - 1e-6))]
    if np.isfinite(prior.support[0]):
        spans.append((prior.support[0], q[0]))
    for k in np.array([1e-3, 1.0, -1.0, 15.0]) / (q[3] - q[0]):
        for a, b in spans:
            alone = float(prior.log_tilt(k, a, b, q[1]))
            among = prior.log_tilt(np.full(3, k), np.full(3, a), np.array([b, b, a]), q[1])
            assert alone == pytest.approx(tilt_of(frozen, k, a, b, q[1]), abs=2e-9), (k, a, b)
            assert among[0] == pytest.approx(alone, abs=1e-12)
            assert among[2] == -np.inf
            excess = float(prior.excess(k, a, b, q[1]))
            slack = 1e-9 if "atom" in family else 1e-12
            assert excess == pytest.approx(np.exp(alone) - float(prior.mass(a, b)), rel=1e-6, abs=slack)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_family_says_of_itself(family: str) -> None:
    prior, frozen = FAMILIES[family]
    x = frozen.ppf(np.linspace(0.01, 0.99, 23))
    assert np.allclose(prior.log_density(x), frozen.logpdf(x), rtol=1e-10)
    assert np.allclose(prior.cdf(x), frozen.cdf(x), rtol=1e-10)
    assert np.allclose(prior.quantile(frozen.cdf(x)), x, rtol=1e-8)
    assert float(prior.mass(-np.inf, np.inf)) == pytest.approx(1.0)
    for a, b in zip(x[:-3], x[3:], strict=True):
        low, high = (float(v) for v in prior.density_range(a, b))
        inside = np.exp(prior.log_density(np.linspace(a, b, 201)))
        assert low * (1 - 1e-12) <= inside.min()
        assert inside.max() <= high * (1 + 1e-12)
        assert (low, high) == pytest.approx((inside.min(), inside.max()), rel=1e-3)
    wider = prior.stretched(1.25)
    assert wider is None or float(wider.mass(x[6], x[16])) < float(prior.mass(x[6], x[16]))


@pytest.mark.parametrize("family", FAMILIES)
def test_tilts_to_thirty_digits(family: str) -> None:
    """Gamma has a closed tilt, and beta a series: the others are integrated by mpmath."""
    prior, frozen = FAMILIES[family]
    a, b = (float(v) for v in frozen.ppf([0.2, 0.6]))
    k = 1.3 / (b - a)
    with mp.workdps(30):
        exact = mp.quad(lambda x: mp.e ** (k * (x - a)) * mp.mpf(float(np.exp(prior.log_density(float(x))))), [a, b])
    assert float(prior.log_tilt(k, a, b, a)) == pytest.approx(float(mp.log(exact)), abs=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_worst_true_value_is_exact_and_dominates(family: str) -> None:
    prior, frozen = FAMILIES[family]
    low, high = (float(v) for v in frozen.ppf([0.001, 0.999]))
    radius = float(np.ptp(frozen.ppf([0.4, 0.6])))
    attribute = gp.Attribute("x", prior=prior, bounds=(low, high))
    worst = gp.Attack(gp.within(attribute, radius)).advantage(epsilon=0.3 / radius)
    assert worst.status == "exact"
    at = np.linspace(low, high, 60)
    known = gp.Attack(gp.within(attribute, radius), at={"x": at}).advantage(epsilon=0.3 / radius)
    assert np.max(known.attack) <= worst.bound + 1e-10
    assert np.max(known.attack) >= 0.98 * worst.attack


def test_a_mixture_is_the_sum_of_its_parts() -> None:
    a, b = np.array([-3.0, 10.0, 18.0]), np.array([5.0, 30.0, 22.0])
    parts = 0.7 * np.exp(gp.normal(20, 5).log_tilt(0.1, a, b, 7.0)) + 0.3 * np.exp(
        gp.uniform(0, 60).log_tilt(0.1, a, b, 7.0)
    )
    assert np.allclose(np.exp(MIXED.log_tilt(0.1, a, b, 7.0)), parts, rtol=1e-12)
    assert np.allclose(MIXED.cdf(MIXED.quantile([0.001, 0.2, 0.5, 0.999])), [0.001, 0.2, 0.5, 0.999], rtol=1e-9)
    assert MIXED.breaks == (0.0, 60.0)
    worst = gp.Attack(gp.within(gp.Attribute("x", prior=MIXED, bounds=(0, 60)), 2)).advantage(epsilon=0.06)
    assert worst.status == "exact"
    assert worst.worst_at == pytest.approx(58, abs=1e-6)


def test_truncated_is_what_an_attacker_believes_who_knows_the_ends() -> None:
    cut = gp.truncated(gp.lognormal(2000, 0.5), 1000, 4000)
    known = gp.Attack(
        gp.within(gp.Attribute("x", prior=gp.lognormal(2000, 0.5)), 100), {"x": 2000}, {"x": (1000, 4000)}
    )
    assert gp.Attack(gp.within(gp.Attribute("x", prior=cut), 100), {"x": 2000}).epsilon(advantage=0.1) == pytest.approx(
        known.epsilon(advantage=0.1)
    )


def test_scipy_names_our_families_too_and_others_turn_where_they_turn() -> None:
    assert gp.from_scipy(stats.gamma(3, scale=2)) == gp.gamma(3, 2)
    assert gp.from_scipy(stats.beta(2, 5, 1, 4)) == gp.beta(2, 5, 1, 5)
    assert isinstance(gp.from_scipy(stats.gamma(3, loc=1)), FrozenScipy)
    weibull = FrozenScipy(stats.weibull_min(3))
    assert weibull.turns == pytest.approx(((2 / 3) ** (1 / 3),), rel=1e-5)
    ours, theirs = (
        gp.Attack(gp.within(gp.Attribute("x", prior=p, bounds=(0, 20)), 0.5)).epsilon(advantage=0.1)
        for p in (gp.gamma(3, 1), FrozenScipy(stats.gamma(3)))
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


def test_few_pieces_one_by_one_say_what_all_at_once_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Infinite ends, empty intervals, empty pieces and diverging tilts included; and both agree with plain sums."""
    numbers = np.random.default_rng(11)
    ends = np.array([-np.inf, np.inf, 0.0, 0.3, 1.0, *numbers.normal(0, 3, 8)])
    rates = np.array([0.0, 1 / 1.7, -1 / 1.1, 1e-9, 50.0, -700.0, *numbers.normal(0, 2, 4)])
    shape = 2, 400
    k, a, b = numbers.choice(rates, shape), numbers.choice(ends, shape), numbers.choice(ends, shape)
    ref = numbers.normal(0, 2, shape)
    priors = (gp.uniform(-2, 3), gp.exponential(1.7), gp.laplace(0.3, 1.1), gp.histogram([0, 1, 2, 4], [0.2, 0, 0.8]))
    for prior in priors:
        one_by_one = prior.log_tilt(k, a, b, ref)
        monkeypatch.setattr(pieces, "_FEW", 0)
        assert np.allclose(one_by_one, prior.log_tilt(k, a, b, ref), rtol=1e-12, atol=1e-13)
        monkeypatch.undo()
        grid = prior.quantile((np.arange(100_000) + 0.5) / 100_000)
        plain = np.sum(np.exp(0.3 * (grid - 1.0))[(grid >= 0.2) & (grid <= 2.5)]) / grid.size
        assert float(np.exp(prior.log_tilt(0.3, 0.2, 2.5, 1.0))) == pytest.approx(plain, rel=1e-4)


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


@pytest.mark.parametrize(
    ("prior", "centre"),
    [
        (gp.student_t(3, 2, 1.5), 2.0),
        (gp.beta(1.7, 1.7, -1, 4), 1.5),
        (gp.histogram([0, 1, 3, 4], [0.3, 0.4, 0.3]), 2.0),
        (gp.mixture((0.3, gp.normal(1, 2)), (0.7, gp.laplace(1, 0.5))), 1.0),
        (gp.beta(1.7, 1.8), None),
        (gp.histogram([0, 1, 3, 4], [0.2, 0.4, 0.4]), None),
        (gp.histogram([0, 1, 2, 4], [0.3, 0.4, 0.3]), None),
        (gp.mixture((0.3, gp.normal(1, 2)), (0.7, gp.laplace(0, 0.5))), None),
        (gp.mixture((0.3, gp.exponential(1)), (0.7, gp.exponential(2))), None),
    ],
    ids=str,
)
def test_what_is_said_to_be_a_mirror_is_one(prior: LinePrior, centre: float | None) -> None:
    assert prior.mirror == centre
    if centre is not None:
        away = np.linspace(0.01, 3, 50)
        assert np.allclose(np.exp(prior.log_density(centre - away)), np.exp(prior.log_density(centre + away)))
