"""A distance with a cap under a prior that may be wrong, at the worst true value: boxes, attacks and what is asked."""

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.capped import Hills
from guessproof.risk.misjudged.along_hills import MisjudgedHills
from guessproof.risk.misjudged.hill_boxes import BeliefLines, CappedWorld, Hull
from guessproof.risk.misjudged.hill_truths import HillBoxes, HillTruths
from guessproof.risk.misjudged.hills import HillGoal
from guessproof.risk.misjudged.odds import with_odds_of
from guessproof.world.line_form import LineForm, LineMetric
from tests.risk.test_capped import PRIORS, _form, _Grid


def _truths(prior: str, form: LineForm, radius: float, factor: float, move: int) -> HillTruths:
    x = gp.Attribute("x", prior=PRIORS[prior](), metric=LineMetric(form))
    return HillTruths(gp.Attack(gp.within(x, radius)).truth_search, factor, move)


def _phi(lines: BeliefLines, grid: _Grid, told: np.ndarray) -> float:
    """F by sums over cells: the worst h at each of them."""
    p, after, mu = (float(v[0]) for v in (lines.before, lines.after, lines.mu))
    inside = (grid.x >= lines.lo[0]) & (grid.x <= lines.hi[0])
    target = inside if lines.world.move > 0 else ~inside
    raised = np.exp(lines.epsilon[0] * lines.world.step)
    z = np.where(target, (1 - after) * raised * told - mu * (1 - p), mu * p - after * told)
    return float(np.sum(np.maximum(z, lines.world.factor * z) * grid.mass))


@pytest.mark.parametrize("move", [1, -1])
@pytest.mark.parametrize(("kind", "form"), [("normal", "straight"), ("histogram", "bent"), ("normal", "clamped")])
def test_the_integral_of_a_proof_is_what_sums_say_also_beyond_the_goal(kind: str, form: str, move: int) -> None:
    rng, (lo, hi), law, shape = np.random.default_rng(4), (0.2, 0.8), PRIORS[kind](), _form(form, 0.9)
    grid, world = _Grid(law, shape, (lo, hi), 20_000), CappedWorld(Hills.of(law, shape), 0.1, 2.5, move)
    for _ in range(25):
        p, rise, mu = rng.uniform(0.1, 0.5), rng.uniform(0.05, 0.4), np.exp(rng.uniform(-0.7, 0.7))
        lines = BeliefLines(world, *(np.array([v]) for v in (1.7, lo, hi, p, p + rise, mu)))
        u, v = np.sort(rng.uniform(lo - 0.3, hi + 0.3, 2))
        told = np.exp(move * 1.7 * grid.hill(*shape.psi(np.array([u, v])), 0.9))
        found = lines.constant + lines.side(np.array([u]), 1) + lines.side(np.array([v]), -1)
        exact, size = _phi(lines, grid, told), float(np.sum(told * grid.mass))
        assert found[0] >= exact - 3e-4 * size
        beyond = max(u - hi, 0) + max(lo - v, 0)  # there it is bounded, to second order
        assert found[0] <= exact + (3e-4 + 8 * beyond**2) * size


@pytest.mark.parametrize("move", [1, -1])
@pytest.mark.parametrize("kind", ["normal", "histogram", "exponential"])
def test_no_mountain_and_no_true_value_of_a_box_exceed_what_its_corners_say(kind: str, move: int) -> None:
    """Along slanted lines of beliefs, with multipliers that move with them."""
    rng = np.random.default_rng(9)
    truths = _truths(kind, _form("straight", 0.8), 0.3, 3.0, move)
    for wide in (0.02, 0.15):
        for _ in range(6):
            first = np.array([truths.search.prior.quantile(rng.uniform(0.2, 0.8))])
            last, p, rise, e = first + wide, rng.uniform(0.1, 0.6, 4), 0.1, np.array([rng.choice([0.3, 2.0])])
            low, high = np.sort(p.reshape(2, 2), axis=0)[:, :, None]
            mu = np.exp(rng.uniform(-0.4, 0.4, (2, 1)))
            none, one, flat = np.zeros(1), np.zeros(1, dtype=np.int64), np.full((2, 1), 0.5)
            boxes = HillBoxes(one, one, first, last, low, high, flat, flat, none, none)
            centre = np.stack([first, first])
            (_, most, _), room, bent = truths._corners(e, np.array([rise]), boxes, [*mu], centre, 33, 0.2)
            straight = float(np.max(most) + room[0])
            for _ in range(12):
                s, q = rng.uniform(0, 1, 2)
                t = (1 - s) * first + s * last
                before = (1 - q) * ((1 - s) * low[0] + s * low[1]) + q * ((1 - s) * high[0] + s * high[1])
                lines = BeliefLines(
                    truths.world, e, *truths.edges(t), before, before + rise, (1 - q) * mu[0] + q * mu[1]
                )
                u, v = np.sort(rng.uniform(float(lines.lo[0]), float(lines.hi[0]), 2))
                value = lines.constant + lines.side(np.array([u]), 1) + lines.side(np.array([v]), -1)
                assert float(value[0]) <= straight + bent[0] + 1e-12


@pytest.mark.parametrize("move", [1, -1])
def test_a_multiplier_that_falls_as_beliefs_rise_costs_what_is_said(move: int) -> None:
    """Of one true value and of one mountain: F lies above both ends by no more than that, and by some of it."""
    rng, most, truths = np.random.default_rng(5), 0.0, _truths("normal", _form("straight", 0.8), 0.3, 3.0, move)
    none, one, flat = np.zeros(1), np.zeros(1, dtype=np.int64), np.full((2, 1), 0.5)
    for _ in range(40):
        t, e, rise = rng.uniform(-1, 1, 1), np.exp(rng.uniform(-2, 1, 1)), rng.uniform(0.01, 0.2, 1)
        low, wide = rng.uniform(0.1, 0.4, 1), rng.uniform(0.05, 0.4, 1)
        mu = np.exp(rng.uniform(0.0, 0.8, 1)), np.exp(rng.uniform(-0.8, 0.0, 1))
        boxes = HillBoxes(one, one, t, t, np.stack([low, low]), np.stack([low + wide] * 2), flat, flat, none, none)
        _, room, bent = truths._corners(e, rise, boxes, [*mu], np.stack([t, t]), 9, 0.2)
        assert room[0] == 0.0
        u, v = np.sort(rng.uniform(t - 0.3, t + 0.3, (2, 1)), axis=0)

        def told(q: float, low=low, wide=wide, mu=mu, at=(e, t, u, v), rise=rise) -> float:
            p, (e, t, u, v) = low + q * wide, at
            lines = BeliefLines(truths.world, e, *truths.edges(t), p, p + rise, (1 - q) * mu[0] + q * mu[1])
            return float((lines.constant + lines.side(u, 1) + lines.side(v, -1))[0])

        above = told(0.5) - 0.5 * (told(0.0) + told(1.0))
        assert above <= bent[0] + 1e-12
        most = max(most, above / bent[0])
    assert most > 0.5


@pytest.mark.parametrize("move", [1, -1])
def test_one_mountain_lies_above_its_chord_by_no_more_than_is_said_and_by_some_of_it(move: int) -> None:
    """Between two true values, and between two ends of a flat part: what is said is needed, but for a factor."""
    rng, most = np.random.default_rng(2), [0.0, 0.0]
    truths, none, one = (
        _truths("normal", _form("straight", 0.9), 0.3, 3.0, move),
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
    )
    for _ in range(100):
        first = rng.uniform(-1.5, 1.5, 1)
        last, e, mu = first + rng.uniform(0.02, 0.2), np.exp(rng.uniform(-1.5, 2, 1)), np.exp(rng.uniform(-0.8, 0.8, 1))
        p, rise = rng.uniform(0.05, 0.6) + rng.uniform(0.0, 0.05, (2, 1)), rng.uniform(0.01, 0.3)
        goals = [truths.edges(t) for t in (first, last)]
        ends = [BeliefLines(truths.world, e, *goal, b, b + rise, mu) for goal, b in zip(goals, p, strict=True)]
        hull, flat = Hull((goals[0][0], goals[1][0]), (goals[0][1], goals[1][1])), np.full((2, 1), 0.5)
        room = float(truths._between(ends, hull, HillBoxes(one, one, first, last, p, p, flat, flat, none, none))[0])
        middle = 0.5 * (p[0] + p[1])
        inner = BeliefLines(truths.world, e, *truths.edges(0.5 * (first + last)), middle, middle + rise, mu)
        u, v = np.sort(rng.uniform(float(inner.lo[0]), float(inner.hi[0]), (2, 1)), axis=0)
        at = [float((x.constant + x.side(u, 1) + x.side(v, -1))[0]) for x in (*ends, inner)]
        u, v = np.sort(rng.uniform(float(goals[0][0][0]), float(goals[0][1][0]), (2, 1)), axis=0)
        along = [float(ends[0].side(x, 1)[0]) for x in (u, v, 0.5 * (u + v))]
        tilted = np.exp(-move * e[0] * np.array([u[0], v[0], 0.5 * (u[0] + v[0])]))  # along which a slope is straight
        share = (tilted[1] - tilted[2]) / (tilted[1] - tilted[0])
        between = float(ends[0].between(u, v, 1)[0])
        for i, (a, b, c), said, part in ((0, at, room, 0.5), (1, along, between, share)):
            above = c - part * a - (1 - part) * b
            assert above <= said + 1e-12
            most[i] = max(most[i], above / said if said > 1e-4 else 0.0)
    assert min(most) > 0.3


@pytest.mark.parametrize(
    ("kind", "cap", "factor", "move"),
    [
        ("normal", 2.0, 1.5, -1),
        ("normal", 1.0, 4.0, 1),
        ("histogram", 1.2, 2.0, 1),
        ("exponential", 1.5, 2.0, -1),
    ],
)
def test_no_true_value_exceeds_the_bound_and_it_is_close(kind: str, cap: float, factor: float, move: int) -> None:
    """Against attacks that are found at each of many true values by themselves; a line below them is never proven."""
    truths = _truths(kind, _form("straight", cap), 0.3, factor, move)
    epsilon, search = np.array([0.3, 1.5]), truths.search
    value, bound = truths.measure(epsilon)
    low, high = np.clip(search.prior.quantile([0.01, 0.99]), search.low, search.high)
    reached = np.zeros(2)
    for t in [*np.linspace(low, high, 5)[1:-1], *truths.climbed(epsilon)[1][0]]:
        lo, hi = (float(e) for e in truths.edges(np.asarray(t)))
        goal = HillGoal(Hills.of(search.prior, search.form), lo, hi, 0.0, factor)
        reached = np.maximum(reached, MisjudgedHills(goal, move).rough(epsilon))
    assert np.all(value <= bound)
    assert np.all(reached <= bound)
    assert np.all(value >= reached * (1 - 1e-4))
    assert np.all(bound <= value * (1.003 if move > 0 else 1.1))
    with np.errstate(all="ignore"):
        best = truths.climbed(epsilon)[1]
        assert not np.any(truths.holds(epsilon, 0.998 * value, best))


@pytest.mark.parametrize("move", [1, -1])
@pytest.mark.parametrize(("kind", "factor", "radius"), [("normal", 3, 0.3), ("normal", 16, 1.0), ("histogram", 16, 1)])
def test_beliefs_of_all_true_values_of_a_box_lie_between_its_lines(
    kind: str, factor: float, radius: float, move: int
) -> None:
    """Also where a line leaves 0 … 1: boxes are up to half as wide again as the goal's half."""
    rng, truths = np.random.default_rng(0), _truths(kind, _form("straight", 1.0), radius, factor, move)
    first = truths.search.prior.quantile(rng.uniform(0.02, 0.9, 120))
    last = first + rng.uniform(0.001, 1.5 * radius, 120)
    lines = truths._possible(first, last)
    low, high = truths._beliefs(np.full(120, 1e9), np.zeros(120), first, last)
    for share in np.linspace(0, 1, 11):
        declared = truths._declared((1 - share) * first + share * last)
        for way, line, flat in ((-1, lines[0], low), (1, lines[1], high)):
            belief = with_odds_of(declared, float(factor) ** way)
            assert np.all(way * ((1 - share) * line[0] + share * line[1] - belief) >= 0)
            assert np.all(way * (flat - belief) >= -1e-12)


@pytest.mark.parametrize("kind", ["normal", "histogram"])
def test_no_rise_starts_from_beliefs_that_are_left_out(kind: str) -> None:
    """Where all of the goal is κ times as likely, by sums over cells: the highest belief that there is."""
    law, shape, factor = PRIORS[kind](), _form("straight", 0.9), 2.5
    truths, t, e = _truths(kind, shape, 0.3, factor, 1), 0.4, 1.3
    grid = _Grid(law, shape, (t - 0.3, t + 0.3), 20_000)
    reached = [grid.beliefs(e * grid.hill(u, v, 0.9), np.where(grid.inside, factor, 1.0))
               for u in np.linspace(0.1, 0.7, 13) for v in np.linspace(u, 0.7, 13)]  # fmt: skip
    before, after = max(reached, key=lambda each: each[1])
    for off, kept in ((1 - 1e-3, True), (1 + 2e-3, False)):
        asked = (np.array([v]) for v in (e, off * (after - before), t, t))
        low, high = (float(v[0]) for v in truths._beliefs(*asked))
        assert low < before
        assert (before <= high + 1e-7) == kept  # by which sums over cells err


def test_little_that_is_far_on_either_side_is_not_lost_in_rounding() -> None:
    """Of a basin it may be told e^{ε·cap} times as much."""
    world = _truths("normal", _form("straight", 1.0), 0.3, 2.0, -1).world
    far = np.array([3.0, 6.0, 8.0, 12.0])
    below, above = world.mass(np.full(4, -np.inf), -far), world.mass(far, np.full(4, np.inf))
    np.testing.assert_allclose(above, below, rtol=1e-13)
    np.testing.assert_allclose(world.mass(far[:-1], far[1:]), below[:-1] - below[1:], rtol=1e-13)


def test_what_is_asked_of_an_attack_without_a_true_value() -> None:
    x = gp.Attribute("x", prior=gp.normal(0, 1), metric=gp.minimum(gp.Absolute(), 2 * gp.Discrete()))
    attack = gp.Attack(gp.within(x, 0.3), prior_factor=1.5)
    found = attack.advantage(1.0)
    assert 0.2063 < found.attack <= found.bound < 0.2070
    assert found.status == "proven"
    assert found.worst_at == pytest.approx(1.0, abs=0.1)
    epsilon = attack.epsilon(advantage=0.1)
    assert attack.advantage(epsilon).attack <= 0.1
    assert attack.advantage(1.01 * epsilon).bound > 0.1
    curve = gp.Curve(attack)
    assert curve.within <= 5e-3
    assert epsilon * 0.99 <= curve.epsilon(advantage=0.1) <= epsilon * 1.005
    assert curve.advantage(0.5) >= attack.advantage(0.5).attack
    factor = gp.Attack(gp.within(x, 0.3)).largest_prior_factor(epsilon=epsilon, advantage=0.1)
    assert 1.45 < factor < 1.52


def test_where_a_distance_jumps_what_holds_without_the_cap_bounds() -> None:
    x = gp.Attribute("x", prior=gp.normal(0, 1), metric=gp.minimum(gp.Absolute() + gp.Threshold(0.5), 2.0))
    found = gp.Attack(gp.within(x, 0.3), prior_factor=1.5).advantage(0.5)
    longer = gp.Attribute("x", prior=gp.normal(0, 1), metric=gp.Absolute() + gp.Threshold(0.5))
    assert found.attack <= found.bound <= gp.Attack(gp.within(longer, 0.3), prior_factor=1.5).advantage(0.5).bound
    assert found.attack >= gp.Attack(gp.within(x, 0.3), at={"x": 0.5}).advantage(0.5).attack * (1 - 1e-9)
