"""The certificate over boxes of true values: it proves nothing that an attack reaches, and what lies a little above."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.misjudged import wrong_curve
from guessproof.risk.misjudged.over_truths import TruthQuestion, is_kept, is_proven_over
from guessproof.risk.misjudged.tents import MisjudgedGoal, Move, best_tent
from guessproof.risk.misjudged.wrong_prior import WrongPrior
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.truth_search import TruthSearch
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

STRAIGHT, BENT = LineForm(slopes=(1.0,)), LineForm((-1.0, 0.5), (0.0, 1.0, 0.4), (0.2, 0.0), 0.3)
CASES = [
    (gp.normal(0, 1), STRAIGHT, 1),
    (gp.normal(0, 1), BENT, -1),
    (gp.exponential(1.0), STRAIGHT, -1),
    (gp.histogram([-2, -1, 0.5, 1, 4], [0.2, 0.5, 0.1, 0.2]), STRAIGHT, 1),
    (gp.uniform(-2, 3), BENT, 1),
    (gp.beta(0.5, 0.7), LineForm((0.2, 0.8), (0.0, 1.0, 0.0), (0.0, 0.0)), -1),  # its density is infinite at both ends
]
CLAMPED = [  # prior, bounds of the column, radius, ε, move: the distance bends at the bounds
    (gp.normal(0, 1), (-1.5, 1.5), 0.4, 0.7, 1),
    (gp.normal(0, 1), (-4.0, 1.0), 0.4, 3.0, -1),
    (gp.normal(0, 1), (-4.0, 4.0), 0.4, 0.7, 1),  # hardly anybody is beyond: proven with a straight distance
    (gp.exponential(1.0), (0.0, 2.0), 0.3, 0.7, 1),  # worst where the goal's edge meets the end of the support
    (gp.uniform(0, 1), (0.0, 1.0), 0.1, 3.0, -1),
]


def drawn(prior: LinePrior, form: LineForm, seed: int) -> tuple[MisjudgedGoal, float]:
    draw = np.random.default_rng(seed)
    radius, factor, epsilon = 0.2 + draw.random(), 1.2 + 3 * draw.random(), 0.2 + draw.random()
    left = float(prior.quantile(0.1 + 0.5 * draw.random()))
    edges = TiltedIntegrals(prior, form), lambda t: (t - radius, t + radius)
    return MisjudgedGoal(*edges, left, left + 0.3, factor), epsilon


@pytest.mark.parametrize(("prior", "form", "move"), CASES[:-1])
def test_it_proves_what_no_attack_reaches_and_nothing_else(prior: LinePrior, form: LineForm, move: Move) -> None:
    goal, epsilon = drawn(prior, form, len(repr(prior)))
    reached = best_tent(goal, epsilon, move).value
    truths = np.linspace(goal.low, goal.high, 3)
    assert not is_proven_over(goal, epsilon, reached * (1 - 1e-3), move, (truths[:-1], truths[1:]))
    assert is_proven_over(goal, epsilon, reached * 1.01, move, (truths[:-1], truths[1:]))


@pytest.mark.parametrize(("prior", "form", "move"), CASES)
def test_boxes_lie_above_what_is_said_of_them(prior: LinePrior, form: LineForm, move: Move) -> None:
    """At drawn true values, peaks and beliefs of a box, with its own multipliers."""
    goal, epsilon = drawn(prior, form, len(repr(prior)))
    question, draw = TruthQuestion(goal, epsilon, 0.1, move), np.random.default_rng(1)
    first, count = draw.random((5, 200)), 200
    share, p, t = 0.9 * first[0], 0.15 + 0.5 * first[1], goal.low + 0.2 * first[2]
    price = first[3:] * 1.6 - 0.8
    boxes = np.stack([share, share + 0.1, p, p + 0.05, *price, 0 * p, t, t + 0.1])
    least = question.least(boxes, price).least
    for _ in range(20):
        way = draw.random((3, count))
        value = question.at(t + 0.1 * way[0], boxes, share + 0.1 * way[1], p + 0.05 * way[2], price)[0]
        assert np.all(value >= least - 1e-12)
    assert np.median(question.at(t, boxes, share, p, price)[0] - least) < 0.1  # and it is near


@pytest.mark.parametrize(("prior", "form", "move"), CASES)
def test_slopes_lie_within_what_is_said_of_them(prior: LinePrior, form: LineForm, move: Move) -> None:
    """Differences of g between true values a little apart: those of a narrow box leave hardly any room."""
    goal, epsilon = drawn(prior, form, len(repr(prior)))
    question, draw = TruthQuestion(goal, epsilon, 0.1, move), np.random.default_rng(2)
    first = draw.random((5, 300))
    share, p, t, price = first[0], 0.15 + 0.5 * first[1], goal.low + 0.2 * first[2], first[3:] * 1.6 - 0.8
    boxes = np.stack([share, share, p, p, *price, 0 * p, t, t + 1e-3])
    down, up, left, right = question.slope(boxes, share, p, price)
    rise = [question.at(end, boxes, share, p, price)[0] for end in (t, t + 1e-3)]
    change = rise[1] - rise[0]
    assert np.all((1e-3 * down - left - 1e-12 <= change) & (change <= 1e-3 * up + right + 1e-12))
    assert np.quantile(up - down + (left + right) / 1e-3, 0.5) < 0.01


@pytest.mark.parametrize(("prior", "bounds", "radius", "epsilon", "move"), CLAMPED)
def test_bounds_of_a_column_leave_the_proof_within_a_hundredth(
    prior: LinePrior, bounds: tuple[float, float], radius: float, epsilon: float, move: Move
) -> None:
    form = LineForm(bounds, (0.0, 1.0, 0.0), (0.0, 0.0))
    search = TruthSearch(prior, form, lambda t: (t - radius, t + radius), *bounds, True)
    goal = MisjudgedGoal(TiltedIntegrals(prior, form), search.edges, *bounds, 1.5)
    reached = best_tent(goal, epsilon, move).value
    assert is_kept(search, goal, epsilon, reached * 1.01, move, by_boxes=True)
    assert not is_kept(search, goal, epsilon, reached * (1 - 1e-3), move, by_boxes=True)


def test_edges_that_bend_at_a_true_value_are_told_by_masses() -> None:
    """Within a share of the true value: both edges turn at 0, where their speed is no longer that of a box."""
    prior, draw = gp.normal(0, 1), np.random.default_rng(3)
    goal = MisjudgedGoal(
        TiltedIntegrals(prior, STRAIGHT), lambda t: (t - 0.9 * np.abs(t), t + 0.9 * np.abs(t)), -1, 1, 1.5
    )
    question, first = TruthQuestion(goal, 0.7, 0.05, 1), draw.random((6, 300))
    t1, t2, p, price = -first[0], first[1], 0.05 + 0.3 * first[2], first[3:5] * 1.6 - 0.8
    boxes = np.stack([first[5], first[5], p, p, *price, 0 * p, t1, t2])
    least = question.least(boxes, price).least
    for way in np.linspace(0, 1, 21):
        assert np.all(question.at(t1 + way * (t2 - t1), boxes, first[5], p, price)[0] >= least - 1e-12)


@pytest.mark.parametrize(
    ("prior", "bounds", "radius"),
    [
        (gp.normal(20, 6.28), None, 2.0),
        (gp.gamma(3, 1), (0, 20), 0.5),
        (gp.lognormal(1, 0.5), (0.05, 10), 0.3),
    ],
    ids=["normal", "gamma", "log-normal"],
)
def test_one_answer_is_looked_up_on_the_curve_that_boxes_prove(prior: Any, bounds: Any, radius: float) -> None:
    """What a curve answers lies above attacks at every true value, and below what boxes prove at this ε alone."""
    goal = gp.within(gp.Attribute("x", prior=prior, bounds=bounds), radius)
    attack = gp.Attack(goal, prior_factor=2.0)
    for limit in (0.05, 0.2):
        epsilon = attack.epsilon(advantage=limit)
        found = attack.advantage(epsilon=epsilon)
        assert found.bound == pytest.approx(limit, rel=1e-6)
        assert found.attack <= found.bound <= found.attack * (1 + 3e-3)
        truths = prior.quantile(np.linspace(0.01, 0.99, 9))
        each = [gp.Attack(goal, at={"x": float(t)}, prior_factor=2.0).advantage(epsilon=epsilon).attack for t in truths]
        assert max(each) <= found.bound
        assert max(each) >= 0.9 * limit


def test_curves_that_answer_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made, really = list[float | None](), wrong_curve.curve_of_truths

    def counted(*arguments: Any, **options: Any) -> Any:
        made.append(options["after"])
        return really(*arguments, **options)

    monkeypatch.setattr(wrong_curve, "curve_of_truths", counted)
    attack = gp.Attack(gp.within(gp.Attribute("x", gp.uniform(0, 1)), 0.1), prior_factor=1.5)
    found = [attack.epsilon(advantage=limit) for limit in (0.05, 0.1, 0.2)]
    assert found == sorted(found)
    assert made == [None]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("limit", [0.8, 0.9])
def test_limits_that_no_true_value_lets_anybody_break(limit: float) -> None:
    """Within their bounds all true values are believed in as much that no belief is left to rise as far."""
    prior = gp.lognormal(1.0, 0.57)
    attack = gp.Attack(gp.within(gp.Attribute("x", prior, bounds=(0.2, 2.7)), 1.5), prior_factor=2)
    assert attack.epsilon(advantage=limit) == math.inf
    least = min(float(prior.mass(t - 1.5, t + 1.5)) for t in np.linspace(0.2, 2.7, 400))
    assert 1 - least / (least + 2 * (1 - least)) < 0.8
    assert attack.epsilon(advantage=0.5) < math.inf


def test_a_limit_that_no_attack_found_breaks_is_answered_with_what_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where attacks are not the best ones they may level below a limit that is not proven to be free."""
    engine = gp.Attack(gp.within(gp.Attribute("x", gp.normal(0, 1)), 0.5), prior_factor=2)._misjudged.engines.flat[0]
    monkeypatch.setattr(type(engine), "reached", lambda *_: 0.1)
    assert WrongPrior.epsilon(engine, 0.5, 1) == engine.whatever(0.5)


@pytest.mark.filterwarnings("error")
def test_a_price_beyond_all_numbers_says_nothing() -> None:
    """Far from a peak one may be tried: terms that are infinite both ways cancel to nothing that is known."""
    goal = MisjudgedGoal(TiltedIntegrals(gp.normal(0, 1), STRAIGHT), lambda t: (t - 0.5, t + 0.5), -1, 1, 1.5)
    edges, c, p = (np.array([-0.5]), np.array([0.5])), np.zeros(1), np.array([0.3])
    value, size = TruthQuestion(goal, 0.7, 0.05, 1)._functional(edges, c, p, np.array([[0.0], [800.0]]))
    assert not value > 0
    assert not size < np.inf
