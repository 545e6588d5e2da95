"""Narrowing by stages: who waits longer gets no less, nothing is begun that cannot be finished, and work goes on."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.bracket import Effort, Progress
from guessproof.risk.several import refining
from guessproof.risk.several.belief import JointEngine
from guessproof.risk.several.cells import Certified
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.larger import Limited, larger_epsilon
from guessproof.risk.several.narrowing import Narrowing
from guessproof.risk.several.refining import Refining, Shown, Time, Way, next_stage
from guessproof.world.goals import Goal

X, Y = gp.Attribute("x", gp.normal(0, 2)), gp.Attribute("y", gp.normal(0, 3))
AND, OR = gp.within(X, 1) & gp.within(Y, 1), gp.within(X, 1) | gp.within(Y, 1)
FIRST, SECOND = gp.Attribute("first", gp.normal(10, 3)), gp.Attribute("second", gp.normal(5, 2))
PRODUCT = gp.within(FIRST * SECOND, 5)
PLACE = {"x": 1.5, "y": 2.0}


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that only work moves: a second for a thousand tiles of a round, or for five hundred cells."""
    time, programs, rounds = [0.0], refining.certified_cells, Narrowing.narrowed

    def program(attack: JointAttack, goal: Goal, epsilon: float, target: int, seconds: float) -> Certified:
        found = programs(attack, goal, epsilon, target, 600.0)
        time[0] += min(found.cells / 500, seconds)
        return found if found.cells / 500 <= seconds else Certified(-np.inf, np.inf, None, found.cells)

    def narrowed(self: Narrowing, growth: float, is_late: Callable[[], bool], epsilon: float) -> Narrowing:
        found = rounds(self, growth, epsilon=epsilon)
        time[0] += found.size / 1000
        if is_late():
            raise TimeoutError
        return found

    monkeypatch.setattr(refining, "certified_cells", program)
    monkeypatch.setattr(Narrowing, "narrowed", narrowed)
    return time


@pytest.mark.parametrize(
    ("goal", "k", "truth", "limits"),
    [(OR, -1.0, PLACE, (3.0, 8.0, 13.0)), (AND, -1.0, PLACE, (3.0, 5.0, 12.0)), (PRODUCT, 0.6, None, (1.0, 4.0, 8.0))],
)
def test_who_waits_longer_gets_no_wider_bracket_and_nobody_waits_much_longer(
    goal: Goal, k: float, truth: dict[str, float] | None, limits: tuple[float, ...], now: list[float]
) -> None:
    attack = JointAttack({a.name: a for a in goal.attributes}, truth or {"first": 11.0, "second": 5.5}, "linf")
    stages, brackets = list[list[int]](), list[tuple[float, float]]()
    for seconds in limits:
        now[0], seen = 0.0, list[Progress]()
        brackets.append(JointEngine(attack, goal).refined(k, Effort(1e-9, seconds, lambda: now[0], seen.append)))
        stages.append([p.cells for p in seen])
        assert now[0] <= 1.2 * seconds + 1
        assert now[0] >= 0.3 * seconds  # the next stage would have taken longer than was left
    sign = np.sign(k)
    for few, more in pairwise(stages):
        assert more[: len(few)] == few
    for before, after in pairwise(brackets):
        assert sign * after[0] >= sign * before[0]
        assert sign * after[1] <= sign * before[1]
    assert len(stages[-1]) > len(stages[0])
    assert abs(brackets[-1][1] - brackets[-1][0]) < 0.8 * abs(brackets[0][1] - brackets[0][0])


@pytest.mark.parametrize("goal", [AND, OR])
@pytest.mark.parametrize("truth", [{"x": 0.0, "y": 0.0}, PLACE])
def test_falls_of_belief_at_one_are_within_three_percent_after_few_stages(
    goal: Goal, truth: dict[str, float], now: list[float]
) -> None:
    seen = list[Progress]()
    engine = JointEngine(JointAttack({"x": X, "y": Y}, truth, "linf"), goal)
    attack, bound = engine.refined(-1.0, Effort(0.03, 30.0, lambda: now[0], seen.append))
    assert attack >= bound
    assert np.expm1(attack - bound) <= 0.03
    assert sum(p.cells for p in seen) <= 20_000


class Drawn(Way):
    """Stages whose times and brackets were drawn, around a truth of 0."""

    def __init__(self, rng: np.random.Generator, now: list[float], slip: float = 1.0) -> None:
        self.times = rng.uniform(0.05, 0.5) * np.cumprod(rng.uniform(1.25, 2.4, 40))
        self.brackets = rng.exponential(0.5 ** np.arange(40)[:, None], (40, 2))
        self.now, self.slip, self.at, self.cost, self.turn = now, slip, 0, 0.0, 0.0

    def _stage(self, epsilon: float, seconds: float, is_late: Callable[[], bool]) -> Shown:
        for _ in range(200):
            self.now[0] += self.slip * self.times[self.at] / 200
            if is_late():
                raise TimeoutError
        self.at += 1
        low, high = self.brackets[self.at - 1]
        return Shown(-low, high, self.at)

    def _expected(self, spent: float, epsilon: float) -> float:
        return float(self.times[self.at])


def drawn_bracket(seed: int, seconds: float, slip: float = 1.0) -> tuple[float, float, float]:
    now, rng = [0.0], np.random.default_rng(seed)
    ways: list[Way] = [Drawn(rng, now, slip) for _ in range(1 + seed % 2)]
    time = Time(Effort(1e-12, seconds, lambda: now[0]), 0.0)
    state = Refining(0.0, -9.0, 9.0, time)
    while (shown := next_stage(ways, 1.0, time)) is not None:
        state.meet(shown)
    return state.attack, state.bound, now[0]


@pytest.mark.parametrize("seed", range(30))
def test_stages_of_any_length_in_any_mix_narrow_with_the_time(seed: int) -> None:
    found = [drawn_bracket(seed, seconds) for seconds in np.geomspace(0.5, 60, 25)]
    for (attack, bound, _), (later_attack, later_bound, _) in pairwise(found):
        assert later_attack >= attack
        assert later_bound <= bound
    assert found[-1][1] - found[-1][0] < found[0][1] - found[0][0]
    for seconds in (20.0, 40.0, 60.0):  # what is known to take longer than is left is not begun
        assert drawn_bracket(seed, seconds)[2] <= seconds + 1.2  # a first stage, of which nothing is known


@pytest.mark.parametrize("seed", range(10))
def test_a_stage_that_takes_longer_than_expected_is_given_up_in_time(seed: int) -> None:
    for seconds in (2.0, 20.0):
        attack, bound, spent = drawn_bracket(seed, seconds, slip=4.0)
        assert attack <= bound
        assert spent <= 1.2 * seconds + 1


def test_a_search_for_epsilon_rises_with_the_time_and_stays_below_what_is_reached(now: list[float]) -> None:
    attack = JointAttack({"first": FIRST, "second": SECOND}, {"first": 11.0, "second": 5.5}, "linf")
    engine, found = JointEngine(attack, PRODUCT), list[float]()
    prior = engine.prior()
    base, start = prior.log_p - prior.log_q, 0.2
    gain = float(engine.cheap(start)[1])  # what the cheap bound allows at the start
    for seconds in (1.5, 4.0, 8.0):
        now[0] = 0.0
        limit = Limited.of(attack, PRODUCT, +1, gain, base)
        found.append(larger_epsilon([limit], start, Effort(0.01, seconds, lambda: now[0]), 0.0))
        assert now[0] <= 1.2 * seconds + 1
    assert found == sorted(found)
    assert found[-1] > 1.05 * start
    reached = JointEngine(attack, PRODUCT).cheap(found[-1])[0]
    assert reached <= gain
