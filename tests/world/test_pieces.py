"""Pieces of a prior: exact masses, and bounds of tilted integrals that hold for every family."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import guessproof as gp
from guessproof.world.pieces import Pieces, pieces_of, spread

PRIORS = {
    "normal": gp.normal(2000, 235.7),
    "lognormal": gp.lognormal(7, 0.5),
    "lognormal, narrow": gp.lognormal(7, 0.02),
    "lognormal, wide": gp.lognormal(7, 2.0),
    "gamma, infinite at 0": gp.gamma(0.4, 2),
    "gamma": gp.gamma(3, 5),
    "beta, infinite ends": gp.beta(0.3, 0.6),
    "beta, one infinite end": gp.beta(2, 0.5),
    "beta": gp.beta(3.4, 4.4, 0, 100),
    "student": gp.student_t(3, 5, 2),
    "student, no mean": gp.student_t(0.8),
    "mixture": gp.mixture((0.7, gp.normal(20, 5)), (0.3, gp.uniform(0, 60))),
    "mixture of tails": gp.mixture((0.5, gp.gamma(0.4, 2)), (0.5, gp.laplace(1, 2))),
    "mixture of exponentials": gp.mixture((0.5, gp.exponential(1)), (0.5, gp.exponential(9))),
    "truncated": gp.truncated(gp.lognormal(5, 1), 2, 8),
    "truncated in the tail": gp.truncated(gp.normal(8.016, 18.13), 53.34, 107.7),
    "histogram": gp.histogram([0, 5, 9, 20], [0.3, 0, 0.7]),
    "weibull": gp.from_scipy(stats.weibull_min(1.5)),
    "logistic": gp.from_scipy(stats.logistic()),
}
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


def log_tilt(pieces: Pieces, k, ref: float = 0.0):
    """Bounds of ln ∫ e^{k(x−ref)} f over each piece; an array of k adds leading axes."""
    k = np.asarray(k, dtype=float)[..., None]
    low, high = pieces.end_tilt(k)
    shift = k * (np.where(np.isfinite(pieces.left), pieces.left, pieces.right) - ref)
    return low + shift, high + shift


def log_integral(prior, left: float, right: float, k: float) -> float:
    """ln ∫ e^{k(x−left)} f by Gauss–Legendre on 100 panels, graded towards both ends."""
    share = np.concatenate([[0.0], 0.5 * 2.0 ** -np.arange(50)[::-1], 1 - 0.5 * 2.0 ** -np.arange(1, 50), [1.0]])
    edges = left + share * (right - left)
    half = np.diff(edges)[:, None] / 2
    # Inside of the piece: at its ends the density may jump.
    x = np.clip(edges[:-1, None] + half * (1 + NODES), np.nextafter(left, right), np.nextafter(right, left))
    terms = prior.log_density(x) + k * (x - left)
    top = terms.max()
    return float(top + np.log(np.sum(half * WEIGHTS * np.exp(terms - top))))


@pytest.mark.parametrize("name", PRIORS)
def test_tilted_integrals_lie_within_their_bounds(name: str) -> None:
    prior, rng = PRIORS[name], np.random.default_rng(5)
    pieces = pieces_of(prior)
    pieces = pieces.cut(rng.choice(pieces.right[:-1], 9) * 0.75 + rng.choice(pieces.right[:-1], 9) * 0.25)
    assert abs(np.exp(pieces.log_mass).sum() - 1) < 1e-13
    width = pieces.right - pieces.left  # neighbouring floating-point numbers leave no room for a reference
    base = getattr(prior, "base", prior)  # masses have the digits of the smaller tail beyond them
    tail = np.minimum(base.cdf(pieces.right), base.cdf(pieces.left, True))
    whole = base.mass(pieces.left, pieces.right) > 1e-4 * tail
    inner = np.flatnonzero(
        (width > 1e-7 * np.abs(pieces.right)) & np.isfinite(pieces.osc) & (pieces.log_mass > -70) & whole
    )
    scale = pieces.prior.quantile(0.75) - pieces.prior.quantile(0.25)
    for i in rng.choice(inner, 30):
        left, right = float(pieces.left[i]), float(pieces.right[i])
        for k in (
            0.0,
            *np.clip(rng.normal(size=3) * 10.0 ** rng.uniform(-3, 1.5, 3) / scale, -30 / width[i], 30 / width[i]),
        ):
            low, high = log_tilt(pieces, [k], left)
            expected = log_integral(prior, left, right, k)
            slack = 1e-11 * max(1.0, abs(expected))
            assert low[0, i] - slack <= expected <= high[0, i] + slack


def test_bounds_are_narrow_and_shrink_with_the_rate() -> None:
    for prior in PRIORS.values():
        pieces = pieces_of(prior)
        scale = (pieces.prior.quantile(0.75) - pieces.prior.quantile(0.25)) / 1.349
        for rate in (1.0, 1e-3):
            middle = pieces.prior.quantile(0.5)
            signs = np.where(pieces.right <= middle, 1.0, -1.0)
            low, high = log_tilt(pieces.cut([middle]), np.array([rate, -rate]) / scale, middle)
            low, high = (np.where(signs > 0, *v[:, : signs.size]) for v in (low, high))
            assert np.sum(np.exp(high) - np.exp(low)) <= (2e-2 if prior == PRIORS["student, no mean"] else 1e-3) * rate


@pytest.mark.parametrize(
    ("prior", "rate", "finite"),
    [
        (gp.normal(0, 1), 30.0, True),
        (gp.exponential(2), 0.499, True),
        (gp.exponential(2), 0.5, False),
        (gp.laplace(0, 2), 0.501, False),
        (gp.gamma(3, 2), 0.4, True),
        (gp.gamma(3, 2), 0.5, False),
        (gp.lognormal(1, 1), 1e-9, False),
        (gp.student_t(3), 1e-9, False),
        (gp.from_scipy(stats.pareto(2.6)), 1e-9, False),
        (gp.mixture((0.5, gp.normal(0, 1)), (0.5, gp.exponential(2))), 0.51, False),
    ],
)
def test_a_tail_diverges_where_the_tilt_is_faster_than_it_falls(prior, rate: float, finite: bool) -> None:
    low, high = log_tilt(pieces_of(prior), rate)
    assert np.isfinite(low[-1]) == finite
    assert np.isfinite(high[-1]) == finite


@pytest.mark.parametrize("prior", [gp.exponential(2), gp.gamma(0.4, 2), gp.gamma(3, 5)])
def test_tail_bounds_hold(prior) -> None:
    pieces = pieces_of(prior).cut([9.0])
    knot = float(pieces.left[-1])
    shape = getattr(prior, "shape", 1.0)
    law = stats.gamma(shape, scale=prior.scale)
    for k in (-3.0, -0.1, 0.5 / prior.scale):
        scale = 1 / (1 / prior.scale - k)  # a tilted gamma prior is one with another scale
        exact = stats.gamma(shape, scale=scale).logsf(knot) + shape * np.log(scale / prior.scale) - k * knot
        low, high = log_tilt(pieces, k, knot)
        assert low[-1] - 1e-9 * abs(exact) <= exact <= high[-1] + 1e-9 * abs(exact)
    assert pieces.log_mass[-1] == pytest.approx(law.logsf(knot), rel=1e-9)


def test_atoms_are_pieces_without_width() -> None:
    pieces = pieces_of(gp.empirical([3, 1, 1, 7]))
    assert pieces.left.tolist() == pieces.right.tolist() == [1, 3, 7]
    low, high = log_tilt(pieces, 0.5)
    assert low.tolist() == high.tolist() == pytest.approx(np.add(np.log([0.5, 0.25, 0.25]), [0.5, 1.5, 3.5]))


def test_cutting_and_splitting_keep_the_mass() -> None:
    pieces = pieces_of(gp.gamma(3, 5))
    finer: Pieces = pieces.cut([4.0, 4.0, -1.0]).halved(np.array(True))
    assert 4.0 in finer.left
    below = np.exp(finer.log_mass)[finer.right <= 4.0].sum()
    assert below == pytest.approx(stats.gamma(3, scale=5).cdf(4.0), rel=1e-12)
    assert finer.osc[np.isfinite(finer.osc)].sum() < pieces.osc[np.isfinite(pieces.osc)].sum()


def test_a_mixture_is_proven_where_its_parts_are() -> None:
    assert pieces_of(PRIORS["mixture"]).proven
    assert not pieces_of(gp.mixture((0.5, PRIORS["weibull"]), (0.5, gp.normal(0, 1)))).proven


def test_the_lemma_is_attained_by_two_values() -> None:
    """f/model and L take two values each, at the same places: the worst share reaches e^τ and none exceeds it."""
    for variation, osc in ((0.3, 0.8), (2.0, 0.1), (4.0, 6.0)):
        share = np.linspace(0, 1, 200_001)
        odds = share * np.exp(osc) / (share * np.exp(osc) + 1 - share)  # under f, where `share` is that of the model
        ratio = (odds * np.exp(variation) + 1 - odds) / (share * np.exp(variation) + 1 - share)
        assert np.log(ratio.max()) == pytest.approx(float(spread(np.array(variation), np.array(osc))), rel=1e-8)


def test_more_cells_than_pieces_are_wanted_is_no_endless_search() -> None:
    pieces = pieces_of(gp.histogram(np.arange(2001.0), np.full(2000, 1 / 2000)))
    assert pieces.left.size == 2000
