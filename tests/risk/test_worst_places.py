"""The worst true values of several attributes: no stated ones exceed them, and what is exact is met."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.errors import NotCertifiedError

NORMAL = gp.Attribute("x", prior=gp.normal(0, 2))
UNIFORM = gp.Attribute("y", prior=gp.uniform(0, 3))
LAPLACE = gp.Attribute("y", prior=gp.laplace(1, 1.5))
BINS = gp.Attribute("x", prior=gp.histogram([0, 1, 2, 4], [0.5, 0.1, 0.4]))
CUT = gp.Attribute("y", prior=gp.truncated(gp.normal(0, 1), -1, 2))
LABEL = gp.Attribute("z", prior=gp.categorical({"a": 0.3, "b": 0.7}))

QUESTIONS: list[tuple[gp.Goal, str, float]] = [
    (gp.within(NORMAL, 0.8) & gp.within(UNIFORM, 0.4), "linf", 0.3),
    (gp.within(BINS, 0.5) & gp.within(CUT, 0.4), "l2", 0.4),
    (gp.near((NORMAL, LAPLACE), 1, by="l1"), "l3", 0.2),
    (gp.near((NORMAL, CUT), 0.7, by="l2"), "l2", 0.3),
    (gp.within(NORMAL, 0.8) | gp.within(LAPLACE, 0.4), "linf", 0.3),
    (gp.within(NORMAL, 0.8) & ~gp.within(UNIFORM, 0.4), "linf", 0.5),
    (gp.within(NORMAL, 0.8) & gp.within(UNIFORM, 0.4) & gp.exactly(LABEL), "l2", 0.3),
]


def _drawn(goal: gp.Goal, rng: np.random.Generator) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for a in goal.attributes:
        found[a.name] = "a" if a is LABEL else float(a.prior.quantile(rng.uniform(0.05, 0.95)))
    return found


@pytest.mark.parametrize(("goal", "norm", "epsilon"), QUESTIONS, ids=repr)
def test_no_stated_true_values_exceed_the_worst(goal: gp.Goal, norm: Any, epsilon: float) -> None:
    rng = np.random.default_rng(3)
    worst = gp.Attack(goal, norm=norm).advantage(epsilon)
    assert worst.attack <= worst.bound < 3 * worst.attack
    for at in [_drawn(goal, rng) for _ in range(2)]:
        assert gp.Attack(goal, at=at, norm=norm).advantage(epsilon).attack <= worst.bound


@pytest.mark.parametrize("aim", ["rise", "fall", "posterior"])
def test_the_product_rule_is_sharp_where_distances_add_up(aim: str) -> None:
    goal = gp.within(NORMAL, 0.8) & gp.within(UNIFORM, 0.4)

    def ask(at: Any = None) -> gp.Bracket:
        attack = gp.Attack(goal, at=at, norm="l1")
        return attack.posterior(0.4) if aim == "posterior" else attack.advantage(0.4, both=aim == "fall")

    grid = [{"x": x, "y": y} for x in np.linspace(0, 3, 7) for y in (0.0, 0.4, 1.0, 1.5)]
    found = max(float(ask(at).attack) for at in grid)
    assert found <= ask().bound <= 1.03 * found


@pytest.mark.parametrize("number", [0, 4])
def test_epsilon_keeps_its_limit_at_the_worst_place(number: int) -> None:
    goal, norm, _ = QUESTIONS[number]
    attack: Any = gp.Attack(goal, norm=norm)  # pyright: ignore[reportArgumentType]
    epsilon = attack.epsilon(advantage=0.05)
    kept = attack.advantage(epsilon)
    assert kept.attack <= 0.05
    assert attack.advantage(2 * epsilon).attack > 0.05


def test_bounds_say_where_people_are() -> None:
    x = gp.Attribute("x", prior=gp.normal(0, 2), bounds=(3, 5))
    goal = gp.within(x, 0.8) & gp.within(UNIFORM, 0.4)
    far, anywhere = (gp.Attack(g, norm="l1").advantage(0.3) for g in (goal, QUESTIONS[0][0]))
    assert far.bound < 0.8 * anywhere.bound
    assert 3 <= far.worst_at["x"] <= 5


def test_a_place_on_a_disc_of_ships() -> None:
    east, north = (gp.Attribute(name, prior=gp.normal(0, 35.36), bounds=(-150, 150)) for name in ("e", "n"))
    worst = gp.Attack(gp.near((east, north), 10, by="l2"), norm="l2").advantage(0.047)
    assert 0.105 < worst.bound < 0.135  # 0.1051 is reached at the mean
    assert abs(worst.worst_at["e"]) <= 150


def test_what_proves_nothing_is_refused_with_a_remedy() -> None:
    heavy = gp.Attribute("y", prior=gp.student_t(2, 0, 1))
    tied = gp.joint_normal(("x", "y"), mean=(0, 0), sd=(1, 2), correlation=0.5).attributes()
    for goal in (gp.near((NORMAL, heavy), 1), gp.within(NORMAL, 1) & gp.within(heavy, 1), gp.near(tied, 1)):
        with pytest.raises(NotCertifiedError, match="give"):
            gp.Attack(goal).advantage(0.3)
