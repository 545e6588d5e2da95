"""Every view of a guarantee bounds the best attack on it, and each adds the step that comes on top."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from reference import linear_program

import guessproof as gp
from guessproof.calculate import Limits
from guessproof.errors import GoalError, InfeasibleError
from guessproof.exposure import Attacker, Exposure
from guessproof.exposure.views import AttackView, CombinationView, views
from guessproof.guarantee import VALUES, Guarantee
from guessproof.world.distances import Matrix

G, H = "abc", "uv"
PRIORS = {"g": {"a": 0.5, "b": 0.3, "c": 0.2}, "h": {"u": 0.6, "v": 0.4}}
STATES = [dict(zip("gh", pair, strict=True)) for pair in itertools.product(G, H)]
MASS = [PRIORS["g"][s["g"]] * PRIORS["h"][s["h"]] for s in STATES]


@dataclass(frozen=True)
class Scores:
    """A query that adds a number for each value, and may be off by `rounding` where it moves."""

    of: Any
    rounding: float = 0.0

    def at(self, values: Any) -> float:
        return sum(self.of[name][values[name]] for name in self.of if name in values)

    def between(self, before: Any, after: Any) -> float:
        return abs(self.at(before) - self.at(after)) + self.rounding

    def guarantee(self, *, at_hand: bool = True) -> Guarantee:
        columns = {n: Matrix(list(v), [[abs(v[a] - v[b]) for b in v] for a in v]) for n, v in self.of.items()}
        change = sum(max(v.values()) - min(v.values()) for v in self.of.values())
        responses = ((1.0, self),) if at_hand else None
        return Guarantee(VALUES, columns, {}, change, change, None, self.rounding, responses)  # fmt: skip


QUERY = Scores({"g": {"a": 0.0, "b": 1.0, "c": 0.25}, "h": {"u": 0.0, "v": 0.5}})


def attacker(at: Any = None, goal: Any = None, **more: Any) -> Attacker:
    parts = {n: gp.Attribute(n, prior=gp.categorical(p)) for n, p in PRIORS.items()}
    return Attacker(parts, goal or (lambda p: gp.exactly(p["g"]) & gp.exactly(p["h"])), at, **more)


def best(query: Scores, correct: list[bool], epsilon: float) -> float:
    """A linear program with every pair of combinations, on the query's own distances."""
    distance = [[query.between(a, b) for b in STATES] for a in STATES]
    return float(linear_program.posterior(MASS, distance, correct, epsilon))


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("truth", [{"g": "a", "h": "u"}, {"g": "c", "h": "v"}])
def test_every_view_bounds_the_best_attack_and_combinations_meet_it(epsilon: float, truth: Any) -> None:
    wanted = best(QUERY, [s == truth for s in STATES], epsilon)
    found = list(views(attacker(truth), QUERY.guarantee()))
    assert isinstance(found[0], CombinationView)
    assert found[0].tight
    assert float(found[0].posterior(epsilon).bound) == pytest.approx(wanted, abs=1e-7)
    assert all(float(view.posterior(epsilon).bound) > wanted - 1e-7 for view in found[1:])


def test_a_query_that_tells_two_classes_apart_has_the_formula_of_two_values() -> None:
    """g = 'a' or not: posterior odds change by at most e^ε, and for the goal "g = a" by exactly that."""
    query = Scores({"g": {"a": 1.0, "b": 0.0, "c": 0.0}})
    (view, *_) = views(attacker({"g": "a"}, lambda p: gp.exactly(p["g"])), query.guarantee())
    assert isinstance(view, CombinationView)
    for epsilon in (1e-9, 0.3, 2.0, 50.0, 5e3):
        odds = 0.5 / 0.5 * math.exp(min(epsilon, 700.0))
        assert float(view.posterior(epsilon).bound) == pytest.approx(odds / (1 + odds), rel=1e-12)
    gained = float(view.advantage(1e-9, both=False).bound)
    assert gained == pytest.approx(0.25e-9, rel=1e-6)  # p·q·ε: nothing cancels


def test_what_is_known_conditions_every_combination() -> None:
    truth = {"g": "a", "h": "u"}
    known = attacker(truth, knows={"g": {"a", "c"}})
    mass = [0.0 if s["g"] == "b" else m for s, m in zip(STATES, MASS, strict=True)]
    kept = [i for i, m in enumerate(mass) if m]
    distance = [[QUERY.between(STATES[i], STATES[j]) for j in kept] for i in kept]
    share = np.array([mass[i] for i in kept]) / sum(mass)
    wanted = linear_program.posterior(share, distance, [STATES[i] == truth for i in kept], 1.5)
    assert float(next(views(known, QUERY.guarantee())).posterior(1.5).bound) == pytest.approx(float(wanted), abs=1e-7)


def test_without_a_truth_the_worst_one_counts_and_is_named() -> None:
    found = next(views(attacker(), QUERY.guarantee())).advantage(1.0, both=False)
    gains = [best(QUERY, [s == t for s in STATES], 1.0) - m for t, m in zip(STATES, MASS, strict=True)]
    assert found.worst_at == STATES[gains.index(max(gains))]
    assert float(found.bound) == pytest.approx(max(gains), abs=1e-7)


def test_rounding_comes_on_top_and_is_kept_within_the_limit() -> None:
    sharp, blurred = (next(views(attacker(STATES[0]), Scores(QUERY.of, r).guarantee())) for r in (0.0, 1e-3))
    extra = float(blurred.advantage(1.0, both=False).bound) - float(sharp.advantage(1.0, both=False).bound)
    assert 0 < extra <= 2e-3 / 4 + 1e-12
    limits = Limits(advantage=0.1)
    epsilon = blurred.epsilon(limits)
    assert epsilon < sharp.epsilon(limits)
    assert float(blurred.advantage(epsilon, both=False).bound) <= 0.1


def test_a_query_that_is_no_longer_at_hand_has_no_combinations() -> None:
    found = list(views(attacker(STATES[0]), QUERY.guarantee(at_hand=False)))
    assert not any(isinstance(view, CombinationView) for view in found)
    wanted = best(QUERY, [s == STATES[0] for s in STATES], 1.0)
    assert all(float(view.posterior(1.0).bound) > wanted - 1e-7 for view in found)


def test_goals_that_are_certain() -> None:
    anything = attacker(goal=lambda p: gp.among(p["g"], list(G)) & gp.among(p["h"], list(H)))
    with pytest.raises(GoalError):
        list(views(anything, QUERY.guarantee()))
    # Certain at one truth only: "g is right, or it is not b" at g = b.
    partly = attacker(goal=lambda p: gp.exactly(p["g"]) | gp.among(p["g"], ["a", "c"]))
    view = next(views(partly, QUERY.guarantee()))
    assert isinstance(view, CombinationView)
    assert float(view.posterior(0.1).bound) == 1.0
    with pytest.raises(InfeasibleError):
        view.epsilon(Limits(posterior=0.95))


def test_the_prior_is_told_where_it_does_not_hang_on_an_unknown_truth() -> None:
    assert Exposure(attacker({"g": "b", "h": "v"}), QUERY.guarantee()).prior == pytest.approx(0.3 * 0.4)
    assert Exposure(attacker(), QUERY.guarantee()).prior is None
    fixed = attacker(goal=lambda p: gp.among(p["g"], ["a", "b"]))
    assert Exposure(fixed, QUERY.guarantee()).prior == pytest.approx(0.8)
    each = attacker({"g": "b", "h": "v"}, lambda p: gp.exactly(p["g"]) | gp.exactly(p["h"]), or_="each")
    assert Exposure(each, QUERY.guarantee()).prior is None


def test_of_alternatives_that_are_each_protected_the_most_exposed_counts() -> None:
    goals = (lambda p: gp.exactly(p["g"]), lambda p: gp.exactly(p["h"]))
    truth = {"g": "b", "h": "v"}
    alone = [Exposure(attacker({n: truth[n]}, goal), QUERY.guarantee()) for n, goal in zip("gh", goals, strict=True)]
    each = attacker(truth, lambda p: gp.exactly(p["g"]) | gp.exactly(p["h"]), or_="each")
    both = Exposure(each, QUERY.guarantee())
    assert float(both.posterior(1.0).bound) == max(float(one.posterior(1.0).bound) for one in alone)
    limits = Limits(advantage=0.05)
    assert both.epsilon(limits) == min(one.epsilon(limits) for one in alone)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("rounding", [0.0, 1e-2])
@pytest.mark.parametrize("wide", [1, 5])
def test_limits_are_kept_just_where_the_bound_says_so(wide: float, rounding: float, both: bool) -> None:
    x, y = gp.Attribute("x", gp.normal(0, 2)), gp.Attribute("y", gp.normal(0, 3))
    goal = gp.within(x, wide) & gp.within(y, wide)  # a belief in the wide one falls further than it rises
    view = AttackView(False, rounding, gp.Attack(goal, at={"x": 0.5, "y": 0}), 0.7)
    rise, high = (float(b.bound) for b in (view.advantage(0.4, both), view.posterior(0.4)))
    for room, kept in ((1e-7, True), (-1e-7, False)):
        assert view.keeps(0.4, Limits(advantage=rise * (1 + room), both=both)) is kept
        assert view.keeps(0.4, Limits(posterior=high * (1 + room))) is kept
        assert view.keeps(0.4, Limits(advantage=1.0, posterior=high * (1 + room), both=both)) is kept
