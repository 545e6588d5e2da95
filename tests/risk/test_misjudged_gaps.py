"""How far below a chord along ε beliefs may lie, if the prior may be wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk import gaps
from guessproof.risk.gaps import gap_of_boxes, gap_of_tents
from guessproof.risk.misjudged.truth_boxes import MovedPolygon, most_risen
from guessproof.risk.misjudged.truth_curve import CurveBoxes, ProvenLine
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.line_form import LineForm
from risk.misjudged_worlds import STRAIGHT, drawn


def test_what_a_wrong_prior_makes_of_gaps() -> None:
    """Drawn wrong priors, peaks of a box and parts of the values: none has a larger gap, and some nearly as large."""
    rng, share = np.random.default_rng(9), np.linspace(0, 1, 9)[1:-1]
    x = (np.arange(6000) + 0.5) / 6000 * 24 - 12
    tight = dict.fromkeys((1.5, 16.0), 0.0)
    for prior in (gp.normal(0, 2), gp.laplace(0, 1.5), gp.uniform(-5, 6)):
        world, f = TiltedIntegrals(prior, STRAIGHT), np.exp(prior.log_density(x))
        for factor in tight:
            for width in (0.0, 0.2):
                c, (first, second) = float(rng.uniform(-2, 2)), np.sort(rng.uniform(0.05, 0.6, 2))
                low, high = c - rng.uniform(0.2, 1), c + rng.uniform(0.2, 1)
                peaks, rates = (np.array([c]), np.array([c + width])), (np.array([first]), np.array([second]))
                ends = np.array([-np.inf]), np.array([np.inf])
                parts = [(ends[0], np.array([low + width])), (np.array([high]), ends[1])], [
                    (ends[0], np.array([low])), (np.array([high + width]), ends[1])]  # fmt: skip
                every = [(ends[0], ends[1])]
                for pieces, at_least, at_most in (((every, every), 1.0, -1.0), (parts, low, high)):
                    gap, alone = (float(g[0]) for g in gap_of_boxes(world, pieces, peaks, rates, factor))
                    assert alone <= gap
                    for peak in (c, c + width / 2, c + width):
                        move = rng.uniform(0, width)
                        part = (x <= at_least + move) | (x >= at_most + move)
                        far = np.abs(np.abs(x - peak) - rng.uniform(0, 6, (40, 1)))
                        wrong = np.where(far > rng.uniform(0, 4, (40, 1)), factor, 1.0)
                        epsilon = np.concatenate([[first, second], (1 - share) * first + share * second])
                        weight = np.exp(-np.multiply.outer(epsilon, np.abs(x - peak))) * f * part
                        logs = np.log(wrong @ weight.T)
                        below = np.expm1((1 - share) * logs[:, :1] + share * logs[:, 1:2] - logs[:, 2:])
                        assert np.all(below <= 4 * share * (1 - share) * gap * (1 + 1e-6))
                        if width == 0:
                            tight[factor] = max(tight[factor], float(np.max(below / (4 * share * (1 - share) * gap))))
    assert tight[1.5] > 0.7
    assert tight[16.0] > 0.5


def test_a_weight_above_an_exponential() -> None:
    x = np.linspace(0, 30, 300_001)
    assert np.all(gaps._WEIGHT[0] + gaps._WEIGHT[1] * np.cosh(2 * x) >= np.exp(x))


def test_the_gap_below_a_chord_is_enough_at_every_place_of_it() -> None:
    """One peak: what is allowed for, and what is nearly all of it; lopsided, and with wide intervals."""
    share = np.linspace(0, 1, 21)[1:-1]
    for prior in (gp.normal(0, 1), gp.exponential(1), gp.uniform(0, 3)):
        world = TiltedIntegrals(prior, STRAIGHT)
        for peak in (0.1, 2.0):
            for first, second in ((0.3, 0.34), (0.3, 0.5), (0.5, 2.0), (1.0, 4.0)):
                at, ends = np.array([peak]), (np.array([first]), np.array([second]))
                gap = float(gap_of_tents(world, at, at, *ends, 1)[0])
                total = log_totals(world, peak, np.concatenate([[first, second], (1 - share) * first + share * second]))
                below = np.expm1((1 - share) * total[0] + share * total[1] - total[2:])
                assert np.all(below <= 4 * share * (1 - share) * gap)
                assert second > 0.5 or gap <= 1.16 * below[9] + 1e-9


def log_totals(world: TiltedIntegrals, peak: float, k: Any) -> Any:
    at, ends = np.full(k.size, peak), np.full(k.size, np.inf)
    return np.logaddexp(world.log_tilt(k, -ends, at, at), world.log_tilt(-k, at, ends, at))


def test_what_a_chord_lies_above_in_terms_of_a_hyperbolic_sine() -> None:
    """(xeˣ − sinh x)/2 bounds what is left of cosh x + τ·sinh x − e^{τx} after 1 − τ², and 0.566·sinh²x bounds that."""
    x = np.linspace(1e-3, 30, 30_000)
    most = 0.5 * (x * np.exp(x) - np.sinh(x))
    assert np.max(most / np.sinh(x) ** 2) == pytest.approx(2 * gaps.OF_SINH, rel=1e-4)
    assert np.all(most <= 2 * gaps.OF_SINH * np.sinh(x) ** 2)
    for tau in (-0.999, -0.5, 0.0, 0.7, 0.999):
        for way in (1, -1):
            above = np.cosh(x) + tau * way * np.sinh(x) - np.exp(tau * way * x)
            assert np.all(above <= (1 - tau**2) * most * (1 + 1e-9) + 1e-12)


def test_rooms_are_enough_for_every_belief_before() -> None:
    """Beliefs along a chord of logarithms, with 4θ(1−θ)g above it, from any belief up to some: below a parabola."""
    rng, share = np.random.default_rng(6), np.linspace(0, 1, 101)
    tight = 0.0
    for _ in range(300):
        before, gap = float(rng.uniform(0, 0.6)), float(rng.choice([0.0, 1e-4, 1e-2]))
        climbs = np.sort(rng.uniform(0, 0.4, 2) * rng.choice([1.0, 0.05]))
        room = float(gaps.room_by_ratio(np.array(gap), before, (np.array(climbs[0]), np.array(climbs[1]))))
        for p in np.linspace(0, before, 4):
            belief = (p + climbs[0]) ** (1 - share) * (p + climbs[1]) ** share * (1 + 4 * share * (1 - share) * gap)
            above = belief - p - (1 - share) * climbs[0] - share * climbs[1]
            assert np.all(above <= 4 * share * (1 - share) * room + 1e-15)
            tight = max(tight, float(np.max(above)) / max(room, 1e-9))
    assert tight > 0.9


def test_what_the_rest_lacks_lowers_what_all_is_divided_by() -> None:
    """Corners that do not move: A/(A + B − q') is reached midway, to the last digit."""
    upper = MovedPolygon(np.array([1.0, 1.0])[:, None, None, None] * np.ones((1, 2, 1, 2)), np.zeros((1, 1)))
    lower = MovedPolygon(np.array([3.0, 0.1])[:, None, None, None] * np.ones((1, 2, 1, 2)), np.full((1, 1), 0.09))
    assert most_risen(upper, lower, np.zeros((2, 1)))[0] == pytest.approx(1 / 1.01 - 1 / 4, abs=1e-12)


def test_a_step_is_part_of_what_a_ratio_is_compared_with() -> None:
    """Far larger than all that the prior spreads by: the belief leaves its chord by what the step does."""
    form = LineForm(slopes=(1.0,), step=60.0)
    along = drawn("normal", 2.0, 1.2, 1, form)
    line, t = ProvenLine(along, np.array([0.01, 0.1])), np.array([2.0])
    turns, nodes = np.repeat(line.places[2:, [0]][None], 2, axis=0), np.array([[0], [line.epsilon.size - 1]])
    ends = np.stack([t, t])
    boxes = line._looked(CurveBoxes.new(nodes, ends, ends, turns, np.zeros(1, dtype=np.int64)))
    line.height[:] = 1.0
    room = line._by_ratio(boxes, line._climbs(boxes))[0][0]
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        rows = along._rows((1 - share) * line.epsilon[:1] + share * line.epsilon[-1:], (t, t), t)
        above = rows.reached(rows.nearer(turns[0], 4))[0] - (1 - share) * boxes.most[0, 0] - share * boxes.most[1, 0]
        assert above <= 4 * share * (1 - share) * room


def test_what_a_smaller_part_has_less_divides_its_gap() -> None:
    """Most of the larger part is equally far from the peak; without it s varies much more."""
    prior = gp.histogram([-8, -7, -1.01, -1, 1, 1.01, 7, 8], [0.003, 0, 0.003, 0.01, 0.98, 0, 0.004])
    world, share = TiltedIntegrals(prior, STRAIGHT), np.linspace(0, 1, 9)[1:-1]
    ends, (lo, hi1, hi2) = (np.array([-np.inf]), np.array([np.inf])), (np.array([v]) for v in (-1.0, 1.0, 1.01))
    parts = [(ends[0], lo), (hi1, ends[1])], [(ends[0], lo), (hi2, ends[1])]
    first, second, c = np.array([0.1]), np.array([0.2]), np.zeros(1)
    gap = float(gap_of_boxes(world, parts, (c, c), (first, second), 1.0)[0][0])
    rates = np.concatenate([first, second, (1 - share) * first + share * second])
    logs = np.array([gaps._log_part(world, parts[1], c, np.array([k]))[0] for k in rates])
    below = np.expm1((1 - share) * logs[0] + share * logs[1] - logs[2:])
    assert np.all(below <= 4 * share * (1 - share) * gap)


def test_what_the_square_of_a_gap_is_at_most() -> None:
    """E[φ²] as it is, for tents and valleys at one peak: never more than said, and not much less."""
    x, share, tight = (np.arange(6000) + 0.5) / 6000 * 24 - 12, np.linspace(0, 1, 9)[1:-1], 0.0
    for prior in (gp.normal(0, 2), gp.laplace(0, 1.5).given(-9, 9), gp.uniform(-5, 6)):
        f = np.exp(prior.log_density(x))
        for sign, c, (first, second) in ((1, 0.3, (0.2, 0.25)), (1, -2.0, (0.1, 0.5)), (-1, 1.0, (0.05, 0.1))):
            s, middle, half = -np.abs(x - c), sign * 0.5 * (first + second), 0.5 * (second - first)
            logs = np.log([[np.sum(np.exp((middle + n * half) * s) * f)] for n in (0, -2, 2, -4, 4, -6, 6)])
            spread = float(gaps._spread_near(logs, 0.0, 0.0, 0.0)[0])
            weight = np.exp(middle * s) * f
            u = s - np.sum(s * weight) / np.sum(weight)
            for theta in share:
                change = 2 * half * u
                phi = (1 - theta) * np.exp(-theta * change) + theta * np.exp((1 - theta) * change) - 1
                at = np.exp((middle + (2 * theta - 1) * half) * s) * f
                found = np.sum(np.square(phi) * at) / np.sum(at) / (4 * theta * (1 - theta)) ** 2
                assert found <= spread
                tight = max(tight, found / spread)
    assert tight > 0.6


@pytest.mark.parametrize("factor", [1.5, 40.0])
def test_what_bounds_a_gap_solves_its_equation(factor: float) -> None:
    """v² = e·v + (κ−1)·E[φ²]/4, with e and E[φ²] as they are bounded without a wrong prior."""
    world, every = TiltedIntegrals(gp.normal(0, 2), STRAIGHT), [(np.array([-np.inf]), np.array([np.inf]))]
    c, first, second = np.array([0.5]), np.array([0.2]), np.array([0.24])
    plain, wrong = (float(gap_of_boxes(world, (every, every), (c, c), (first, second), k)[0][0]) for k in (1.0, factor))
    logs = np.stack([gaps._log_part(world, every, c, np.array([0.22 + n * 0.02])) for n in (0, -2, 2, -4, 4, -6, 6)])
    spread = float(gaps._spread_near(logs, 0.0, 0.0, 0.0)[0])
    solved = wrong * wrong - plain * wrong - (factor - 1) * spread / 4
    assert solved == pytest.approx(0, abs=1e-3 * wrong * wrong) or wrong == pytest.approx(factor * plain)
    assert factor < 2 or wrong < 0.9 * factor * plain
