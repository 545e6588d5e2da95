"""How far an answer is refined is stated by a tolerance, never by time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import guessproof as gp

GOAL = gp.within(gp.Attribute("x", gp.normal(0, 1)), 1)
ATTACK = gp.Attack(GOAL, at={"x": 0.5})
QUESTIONS: list[Callable[..., Any]] = [
    lambda **more: ATTACK.posterior(0.5, **more),
    lambda **more: ATTACK.advantage(0.5, both=True, **more),
    lambda **more: ATTACK.epsilon(advantage=0.1, **more),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_limit_on_time_is_refused_with_its_reason(question: Callable[..., Any]) -> None:
    with pytest.raises(gp.errors.ParameterError, match=r"must not depend on how fast a machine is.*tolerance="):
        question(time_limit=10)
    question(tolerance=0.1)
