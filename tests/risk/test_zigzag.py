"""Several intervals: limits in which the answer is known, and likelihoods that must not do better."""

from __future__ import annotations

import numpy as np
import pytest

import guessproof as gp

PRIORS = {"normal": gp.normal(0.3, 1.2), "laplace": gp.laplace(0, 1), "uniform": gp.uniform(-3, 4)}


def gains(prior: str, *intervals: tuple[float, float], epsilon: float, side: str) -> tuple[float, float]:
    bracket = gp.Attack(gp.inside(gp.Attribute("x", prior=PRIORS[prior]), *intervals)).posterior(epsilon, side=side)
    return bracket.attack, bracket.bound


@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("prior", PRIORS)
def test_a_hairline_gap_changes_nothing(prior: str, epsilon: float, side: str) -> None:
    whole = gains(prior, (-0.5, 1.5), epsilon=epsilon, side=side)
    for cuts in ([0.1], [-0.2, 0.9], [0.1, 0.2, 1.4]):
        ends = [-0.5, *[e for c in cuts for e in (c, c + 1e-9)], 1.5]
        pieces = list(zip(ends[::2], ends[1::2], strict=True))
        assert gains(prior, *pieces, epsilon=epsilon, side=side) == pytest.approx(whole, rel=1e-6)


@pytest.mark.parametrize("prior", PRIORS)
def test_goals_far_apart_do_not_see_each_other(prior: str) -> None:
    """With a huge ε each interval is judged by its own surroundings, and any of them suffices to be certain."""
    attack, bound = gains(prior, (-2, -1.5), (1, 1.5), epsilon=60.0, side="upper")
    assert attack > 0.999999
    assert bound <= 1


@pytest.mark.parametrize("prior", PRIORS)
def test_no_zigzag_beats_the_bound(prior: str) -> None:
    """Random 1-Lipschitz shapes are private likelihoods; the bound holds for all, the attack beats them all."""
    rng, epsilon = np.random.default_rng(5), 0.9
    intervals = [(-1.7, -1.2), (-1.1, -0.3), (0.4, 0.6), (1.0, 2.2)]
    x = np.linspace(-12, 12, 24001)
    mass = np.exp(PRIORS[prior].log_density(x))
    goal = np.any([(x >= a) & (x <= b) for a, b in intervals], axis=0)
    for side, sign in (("upper", 1), ("lower", -1)):
        attack, bound = gains(prior, *intervals, epsilon=epsilon, side=side)
        for _ in range(300):
            knots = np.sort(rng.uniform(-4, 4, rng.integers(1, 9)))
            heights = rng.uniform(-1, 1, knots.size) * rng.uniform(0, 2)
            shape = np.max(heights[:, None] - np.abs(x - knots[:, None]), axis=0) * rng.choice([-1, 1])
            likelihood = mass * np.exp(epsilon * shape)
            belief = likelihood[goal].sum() / likelihood.sum()
            assert sign * belief <= sign * bound + 1e-3  # the grid's own error
            assert sign * belief <= sign * attack + 1e-3


def test_an_interval_inside_another_adds_nothing() -> None:
    whole = gains("normal", (-0.5, 1.5), epsilon=1.0, side="upper")
    assert gains("normal", (-0.5, 1.5), (0.1, 0.3), epsilon=1.0, side="upper") == whole
    assert gains("normal", (0.1, 0.3), (-0.5, 0.2), (0.2, 1.5), epsilon=1.0, side="upper") == whole
