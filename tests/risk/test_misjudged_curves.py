"""The worst true value under a prior that may be wrong: lines and curves bound all attacks at every ε."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.misjudged import truth_curve
from guessproof.risk.misjudged.along_truths import MisjudgedAlongTruths
from guessproof.risk.misjudged.tents import MisjudgedGoal, TentRanges
from guessproof.risk.misjudged.truth_curve import CurveBoxes, ProvenLine
from guessproof.risk.rising import Further, Rising, bound_of, inverse_of
from risk.misjudged_worlds import BENT, PRIORS, STEP, STRAIGHT, drawn, proven


@pytest.mark.parametrize("move", [1, -1])
def test_no_true_value_peak_or_wrong_prior_exceeds_a_line_and_it_is_close(move: Any) -> None:
    """At nodes and between them, which are far apart: what is looked up there is never below an attack."""
    rng = np.random.default_rng(3)
    drawn_from = ("normal", STEP), ("bounded", STRAIGHT), ("uniform", STRAIGHT), ("normal", BENT), ("beta", STRAIGHT)
    for name, form in (*drawn_from, ("lognormal", STRAIGHT)) if move > 0 else drawn_from:
        factor, radius = float(rng.choice([1.2, 1.5, 4.0])), float(rng.uniform(0.5, 1.5))
        along = drawn(name, radius, factor, move, form)
        line = proven(along, 10.0 ** rng.uniform(-2.5, -0.3) * np.array([1.0, 1.01, 1.03, 1.05]))
        assert np.all(line.value <= line.height)
        assert np.all(line.height <= along.reached(line.places, line.epsilon * 1.001)), (name, factor)
        goal = MisjudgedGoal(along.world, along.search.edges, *along.attacked, factor)
        for _ in range(6):
            epsilon = float(rng.uniform(line.epsilon[0], line.epsilon[-1]))
            axes = [rng.uniform(0, 1, n) for n in (21, 7, 7, 7)]
            axes[2][:2], axes[3][:2] = (0.0, 1.0), (0.0, 1.0)
            reached = np.max(TentRanges.of(goal).advantages(axes, epsilon, move))
            known = along.nearer(line.places, np.full(line.epsilon.size, epsilon))[0]
            assert max(reached, np.max(known)) <= np.interp(epsilon, line.epsilon, line.height)


@pytest.mark.parametrize("name", ["bounded", "uniform", "histogram"])
def test_an_attack_at_a_kink_is_found_there(name: str) -> None:
    """Beside it, boxes would stay open."""
    along = drawn(name, 0.7, 1.5, 1)
    for epsilon in (0.01, 0.2):
        line = proven(along, [epsilon, 1.02 * epsilon])
        assert np.min(np.abs(along._kinks - line.places[0, 0])) <= 1e-12


def test_a_better_attack_that_boxes_come_upon_raises_the_line() -> None:
    """From attacks at a wrong place everything is proven as from the best ones."""
    along = drawn("normal", 0.7, 2.0, 1)
    epsilon = np.array([0.2, 0.21, 0.22])
    line, best = ProvenLine(along, epsilon), proven(along, epsilon)
    line.places[0] = 8.0
    line.value = along.reached(line.places, epsilon)
    line.height[:] = 0.0
    line._lift(np.arange(3))
    assert np.all(line.height < 0.8 * best.value)
    line.prove()
    assert not line.open.any()
    assert line.value == pytest.approx(best.value, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "factor", "high"), [("normal", 2.0, 0.38), ("uniform", 16.0, 0.38), ("laplace", 1.5, 0.35)]
)
def test_a_curve_for_the_worst_true_value_of_a_wrong_prior(name: str, factor: float, high: float) -> None:
    """Up to usual limits and beyond: within its share of ε of what an attack reaches, at and between nodes."""
    curve = gp.Curve(gp.Attack(gp.within(gp.Attribute("x", PRIORS[name]), 1.0), prior_factor=factor))
    rise, along = curve.rise, drawn(name, 1.0, factor, 1)
    assert curve.within <= 1e-3
    assert rise.bound[0] < 1e-4
    assert rise.bound[-1] > high
    epsilon = np.geomspace(2 * rise.epsilon[0], rise.epsilon[-1], 23)[:-1]
    value = along.climbed(along._first(epsilon)[1], epsilon)[0]
    for e, reached in zip(epsilon, value, strict=True):
        assert reached <= curve.advantage(float(e))
        assert e * 0.999 <= curve.epsilon(advantage=float(reached)) <= e * (1 + 1e-6)


def test_where_an_attack_becomes_another_one_a_node_is_put() -> None:
    """A chord across the kink would lose more than its share of ε."""
    attack = gp.Attack(gp.within(gp.Attribute("x", gp.laplace(0, 2)), 1.0), prior_factor=1.5)
    along = MisjudgedAlongTruths(attack.truth_search, 1.5, 1)
    epsilon = np.linspace(0.3, 0.5, 31)
    kinks = np.setdiff1d(ProvenLine(along, epsilon).epsilon, epsilon)
    assert kinks.size == 1
    beside = kinks[0] * np.array([0.99, 1.01])
    truths = along.climbed(along._first(beside)[1], beside)[1][0]
    assert truths[0] == pytest.approx(0.0, abs=1e-6)
    assert truths[1] > 1.0


def test_high_limits_are_answered_from_a_part_that_is_made_when_they_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on where the first part ends, rises, and is never below an attack; what is not proven is not kept."""
    attack = gp.Attack(gp.within(gp.Attribute("x", PRIORS["histogram"]), 1.0), prior_factor=1.5)
    curve, along = gp.Curve(attack), drawn("histogram", 1.0, 1.5, 1)
    assert not curve._made_further
    end = float(curve.rise.bound[-1])
    found = [curve.epsilon(advantage=limit) for limit in (0.9 * end, 1.05 * end, 1.2 * end)]
    assert set(curve._made_further) == {"rise"}
    further = curve._further("rise")
    assert further is not None
    assert further.parts
    for limit, epsilon in zip((1.05 * end, 1.2 * end), found[1:], strict=True):
        at = np.array([epsilon, 1.001 * epsilon])
        below, above = along.climbed(along._first(at)[1], at)[0]
        assert below <= limit <= above
    inner = np.linspace(found[0], found[2], 200)
    assert np.all(np.diff([curve.advantage(float(e)) for e in inner]) >= 0)
    monkeypatch.setattr(MisjudgedAlongTruths, "most_open", 0)
    assert truth_curve.curve_of_truths(along.search, 1.5, 1, 0.3, after=0.0) is None


def test_of_a_line_only_what_is_proven_is_kept() -> None:
    """A node is proven by an interval beside it; an open interval between two such nodes by the right one."""
    line = ProvenLine(drawn("normal", 0.7, 2.0, 1), 0.1 + 0.01 * np.arange(8))
    for is_open, nodes in (("0000000", (0, 7)), ("0011000", (4, 7)), ("0010111", (0, 4)), ("1101111", (2, 3))):
        line.open = np.array([mark == "1" for mark in is_open])
        kept = line.proven
        assert kept is not None
        assert (kept.epsilon[0], kept.epsilon[-1]) == (line.epsilon[nodes[0]], line.epsilon[nodes[1]]), is_open
    line.open[:] = True
    assert line.proven is None


def test_a_curve_of_which_nothing_is_proven_asks_the_attack(monkeypatch: pytest.MonkeyPatch) -> None:
    """What attacks reach, a little above it, is no bound."""
    attack = gp.Attack(gp.within(gp.Attribute("x", PRIORS["normal"]), 0.7), prior_factor=2.0)
    monkeypatch.setattr(truth_curve, "_ROUNDS", 0)
    curve = gp.Curve(attack)
    assert curve.rise.at(0.2) is None
    assert curve.within == 0
    assert curve.advantage(0.2) == attack.advantage(0.2).bound


def test_attacks_turn_among_values_beyond_a_bound() -> None:
    """Where ψ is flat the best wrong prior is κ on some of what is equally far, which no distance tells: 0.6 % more."""
    cells, weights = [0, 10.4, 36.5, 183.6, 208.6, 216.1, 219.7], [0.44, 0.16, 0.39, 0, 0.002, 0.008]
    prior, clamped = gp.histogram(cells, weights), gp.Clamped(6.3, 171.2)
    attack = gp.Attack(gp.within(gp.Attribute("x", prior, metric=clamped), 4.74), prior_factor=4.0)
    rise, epsilon, lo, hi = gp.Curve(attack).rise, 0.006, 0.14, 9.62
    bound, most = rise.at(epsilon), 0.0
    assert bound is not None
    x = (np.arange(40_000) + 0.5) / 40_000 * 219.7
    f, is_in = np.exp(prior.log_density(x)), (x >= lo) & (x <= hi)
    likely = np.exp(-epsilon * (np.clip(x, 6.3, 171.2) - 6.3))
    for part in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        for far in np.linspace(10, 160, 16):
            h = np.where(is_in & (x <= lo + part * (6.3 - lo)) | ~is_in & (x >= far), 4.0, 1.0)
            before, after = (np.sum((w * h * f)[is_in]) / np.sum(w * h * f) for w in (np.ones_like(x), likely))
            most = max(most, float(after - before))
    assert most <= np.interp(epsilon, rise.epsilon, rise.value) <= bound <= 1.01 * most
    assert rise.loose <= 1e-3


def test_a_parabola_is_compared_with_a_line_between_nodes_too() -> None:
    """At nodes it may lie on the line and yet exceed it between them."""
    line = ProvenLine(drawn("normal", 0.7, 2.0, 1), np.array([0.1, 0.2, 0.3]))
    none, nodes = np.zeros((2, 1)), np.array([[0], [2]])
    boxes = replace(CurveBoxes.new(nodes, none, none, np.zeros((2, 2, 1)), np.zeros(1, dtype=np.int64)), most=none)
    for above, is_below in ((0.0, False), (0.0249, False), (0.0251, True)):
        line.height = np.array([0.0, 0.1, 0.0]) + above
        assert (line._compared(boxes, np.array([0.1]))[0][0] <= 0) == is_below
    line.height = np.array([0.1, -0.1, 0.1])
    assert line._compared(boxes, np.zeros(1))[0][0] > 0


@pytest.mark.filterwarnings("error")
def test_a_curve_that_has_levelled_has_no_second_part() -> None:
    """Goals that nearly everybody meets: no advantage is left that a higher limit would allow."""
    prior = gp.histogram([-110, -80, -60, -20], [0.3, 0.4, 0.3])
    column = gp.Attribute("x", prior, metric=gp.Clamped(-72, -40, 13), bounds=(-74, -35))
    curve = gp.Curve(gp.Attack(gp.within(column, 90), prior_factor=100))
    further = curve._further("rise")
    assert further is not None
    assert not list(further.each())


def parts_with_gaps() -> tuple[Rising, Rising]:
    """The first ends at ε = 2, the second begins at 3; both lie above ε/10."""
    first = Rising(np.array([1.0, 2.0]), np.array([0.1, 0.2]), np.array([0.11, 0.22]), np.zeros(1))
    return first, Rising(np.array([3.0, 4.0]), np.array([0.3, 0.4]), np.array([0.31, 0.42]), np.zeros(1))


def test_between_parts_others_may_say_no_less_than_the_last_and_no_more_than_the_next() -> None:
    parts = parts_with_gaps()
    for limit, least, most in ((0.05, 0.0, 0.11), (0.22, 2.0, 0.31), (0.3, 2.0, 0.31)):
        assert inverse_of(parts, limit) == (least, inverse_of(parts, most)[1])
    for limit, epsilon in ((0.11, 1.0), (0.31, 3.0)):
        assert inverse_of(parts, limit)[0] == inverse_of(parts, limit)[1] == pytest.approx(epsilon)
    assert [inverse_of(parts, limit) for limit in (0.42, 0.9)] == [(4.0, np.inf)] * 2
    assert bound_of(parts, 0.5) == (0.0, 0.11)
    assert bound_of(parts, 2.0) == (0.22, 0.22)
    assert bound_of(parts, 2.5) == (0.22, 0.31)
    assert bound_of(parts, 5.0) == (0.42, np.inf)
    higher = parts[0], replace(parts[1], epsilon=np.array([2.0, 4.0]))  # no ε lies between them
    assert inverse_of(higher, 0.25) == (2.0, 2.0)


@pytest.mark.parametrize("off", [0.5, 0.99, 1.0, 1.2])
def test_a_curve_rises_across_what_is_asked_of_the_attack(monkeypatch: pytest.MonkeyPatch, off: float) -> None:
    """What the attack proves may be looser, or closer, than what the parts before and after it do."""
    attack = gp.Attack(gp.within(gp.Attribute("x", PRIORS["normal"]), 1.0), prior_factor=1.5)
    curve, (first, second) = gp.Curve(attack), parts_with_gaps()
    further = Further(2.0, lambda _: None, [second], is_whole=True)
    curve.__dict__.update(rise=first, _made_further={"rise": further})
    monkeypatch.setattr(gp.Attack, "epsilon", lambda *_, advantage, **__: 10 * advantage * off)
    monkeypatch.setattr(gp.Attack, "advantage", lambda _, e, __: gp.Bracket.meet(0.0, min(0.1 * e / off, 1.0), "drawn"))
    limits, epsilons = np.linspace(0.01, 0.9, 300), np.linspace(0.1, 9.0, 300)
    assert np.all(np.diff([curve.epsilon(advantage=float(v)) for v in limits]) >= 0)
    assert np.all(np.diff([curve.advantage(float(e)) for e in epsilons]) >= 0)
    assert curve.epsilon(advantage=0.22) == max(2.0, 2.2 * off)


def test_what_is_proven_stays_proven_where_a_line_is_loosened_beside_it() -> None:
    """Looks that are too many for some nodes are no reason to give up others that nothing is left to ask of."""
    line = ProvenLine(drawn("normal", 1.0, 1.5, 1), np.geomspace(0.05, 0.2, 24))
    line.prove()
    assert not line.open.any()
    before, line.open[10:12], line.looks = line.height.copy(), True, 0
    line.loosen()
    assert np.flatnonzero(line.open).tolist() == [10, 11]
    assert np.all(line.height >= before)
    assert np.all(np.diff(line.height) >= 0)
    line.looks = 10**6
    line.loosen()
    assert not line.open.any()


def test_a_belief_that_falls_all_the_way_at_any_epsilon_has_a_curve() -> None:
    """Beyond a tail that falls slower than any likelihood climbs: there is no ε at which knots would begin."""
    attribute = gp.Attribute("x", gp.student_t(4, -2.2, 0.54))
    attack = gp.Attack(gp.within(attribute, 0.5), at={"x": -0.87}, prior_factor=100.0)
    curve = gp.Curve(attack)
    odds = 100 * attack.prior / (1 - attack.prior)
    for epsilon in (0.01, 1.0):
        assert odds / (1 + odds) <= curve.advantage(epsilon, both=True) <= 1
