"""Curves of priors that are known by their values only: those of the same priors with formulas, and above attacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import guessproof as gp
from guessproof.risk.misjudged.answer import _engine
from guessproof.risk.misjudged.wrong_prior import WrongTents
from guessproof.world.quadrature import FrozenScipy

PAIRS: dict[str, tuple[Any, Any, tuple[float, float], float]] = {
    "log-normal": (stats.lognorm(0.5), gp.lognormal(1, 0.5), (0.05, 10), 0.3),
    "gamma": (stats.gamma(3), gp.gamma(3, 1), (0, 20), 0.5),
    "normal": (stats.norm(20, 6.28), gp.normal(20, 6.28), (-20, 60), 2.0),
}


def _curve(prior: Any, bounds: tuple[float, float], radius: float, factor: float) -> gp.Curve:
    attribute = gp.Attribute("x", prior=prior, bounds=bounds)
    return gp.Curve(gp.Attack(gp.within(attribute, radius), prior_factor=factor))


@pytest.mark.parametrize("factor", [1.0, 1.5])
@pytest.mark.parametrize("name", PAIRS)
def test_a_prior_known_by_its_values_has_the_curve_of_its_formula(name: str, factor: float) -> None:
    frozen, known, bounds, radius = PAIRS[name]
    one, other = (_curve(prior, bounds, radius, factor) for prior in (FrozenScipy(frozen), known))
    assert max(one.within, other.within) <= 1e-3
    for limit in (0.01, 0.05, 0.12, 0.2):
        assert one.epsilon(advantage=limit) == pytest.approx(other.epsilon(advantage=limit), rel=1.5e-3)


@pytest.mark.parametrize(("sigmas", "factor"), [(0.0, 8.0), (0.4, 1.5), (2.5, 8.0)])
def test_at_one_true_value_a_grid_meets_what_boxes_prove_with_a_formula(sigmas: float, factor: float) -> None:
    """The normal by its values, on a grid, meets the normal by its formula, for which boxes alone are asked."""
    at = 20 + 6.28 * sigmas
    one, other = (
        gp.within(gp.Attribute("x", prior=prior), 2.0)
        for prior in (FrozenScipy(stats.norm(20, 6.28)), gp.normal(20, 6.28))
    )
    grid = gp.Attack(one, at={"x": at}, prior_factor=factor)
    engine: Any = _engine(other.attribute, other, at, factor)
    boxes = engine.tents
    assert isinstance(boxes, WrongTents)
    for move in (1, -1):
        for epsilon in (0.01, 0.3):
            found = _engine(one.attribute, one, at, factor)
            reached, limit = found.reached(epsilon, move), found.limit(epsilon, move)
            assert reached <= boxes.limit(epsilon, move) * (1 + 1e-9)
            assert boxes.reached(epsilon, move) * (1 - 1e-9) <= limit <= boxes.limit(epsilon, move) * (1 + 5e-4)
            # With both, a formula has the better of each.
            closer = engine.reached(epsilon, move), engine.limit(epsilon, move)
            assert max(reached, boxes.reached(epsilon, move)) <= closer[0] * (1 + 1e-6)
            assert closer[0] <= closer[1] <= min(limit * (1 + 1e-6), boxes.limit(epsilon, move))
    for limit in (0.02, 0.2):
        epsilon = grid.epsilon(advantage=limit)
        assert boxes.reached(epsilon, 1) <= limit
        assert boxes.limit(1.005 * epsilon, 1) > limit
        assert engine.epsilon(limit, 1) >= epsilon * (1 - 1e-4)


@pytest.mark.parametrize(
    ("frozen", "bounds", "radius"),
    [
        (stats.weibull_min(1.8), (0, 6), 0.3),
        (stats.triang(0.3), (0, 1), 0.1),
        (stats.logistic(), (-12, 12), 0.5),
        (stats.rayleigh(), (0, 6), 0.3),
    ],
    ids=lambda v: v.dist.name if hasattr(v, "dist") else "",
)
def test_no_true_value_and_no_wrong_prior_exceeds_such_a_curve(frozen: Any, bounds: Any, radius: float) -> None:
    """Tents on a fine grid, under priors that weigh near values in the goal and far ones outside more: all below."""
    factor, attribute = 1.5, gp.Attribute("x", prior=gp.from_scipy(frozen), bounds=bounds)
    curve = gp.Curve(gp.Attack(gp.within(attribute, radius), prior_factor=factor))
    assert curve.within <= 1e-3
    for limit in (0.03, 0.15):
        epsilon = curve.epsilon(advantage=limit)
        reached = max(
            _reached(frozen, float(t), radius, epsilon, factor) for t in frozen.ppf(np.linspace(0.002, 0.998, 60))
        )
        assert 0.97 * limit <= reached <= limit * (1 + 1e-6)


def _reached(frozen: Any, t: float, radius: float, epsilon: float, factor: float) -> float:
    """What the best of some tents and thresholds reaches at least: of each cell the end that is worse for it counts."""
    low, high = max(t - radius, frozen.support()[0]), min(t + radius, frozen.support()[1])
    ends = np.unique(np.concatenate([frozen.ppf(np.linspace(0, 1, 1500)), np.linspace(low, high, 400)]))
    a, b, f = ends[:-1], ends[1:], np.diff(frozen.cdf(ends))
    inside, best = (a >= low) & (b <= high), 0.0
    for c in np.linspace(low, high, 12)[1:-1]:
        far, near = np.maximum(np.abs(a - c), np.abs(b - c)), np.minimum(np.abs(a - c), np.abs(b - c))
        likelihood = np.exp(-epsilon * np.where(inside, far, near))
        in_goal, outside = (_upto(f, likelihood, which, sign) for which, sign in ((inside, -1), (~inside, 1)))
        # One half of a weight is κ where a likelihood favours the guess, the other where it speaks against others.
        (p, n), (q, m) = (part[:, :1] + (factor - 1) * part for part in (in_goal, outside))
        n, m, p, q = n[:, None], m[None], p[:, None], q[None]
        best = max(best, float(np.max(n / (n + m) - p / (p + q))))
    return best


def _upto(f: Any, likelihood: Any, which: Any, sign: int) -> Any:
    """Masses and likelihoods added up from the likeliest value on (or from the least likely): none of them, then all.

    The first column is all of them.
    """
    order = np.argsort(sign * likelihood[which], kind="stable")
    f, told = f[which][order], (f * likelihood)[which][order]
    sums = np.stack([np.append(0.0, np.cumsum(f)), np.append(0.0, np.cumsum(told))])
    chosen = sums[:, :: max(sums.shape[1] // 60, 1)]
    return np.concatenate([sums[:, -1:], chosen], axis=1)
