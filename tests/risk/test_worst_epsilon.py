"""The ε that follows the worst true value: proven there, and broken by an attack a ten-millionth above."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from depth import cases

import guessproof as gp
from guessproof.risk import worst_epsilon
from guessproof.risk.worst_epsilon import epsilon_at_worst
from guessproof.world.line_form import LineForm, LineMetric

PRIORS = (
    lambda: gp.normal(0, 1),
    lambda: gp.laplace(0, 1),
    lambda: gp.normal(0, 1).given(-1, 2),
    lambda: gp.mixture((0.5, gp.normal(-2, 0.5)), (0.5, gp.normal(1, 1))),
)
METRICS = (
    None,
    LineMetric(LineForm((-1.0, 1.5), (0.0, 1.0, 0.0), (0.0, 0.0))),
    LineMetric(LineForm((0.5,), (1.0, 1.0), (0.7,))),
)


def drawn(rng: np.random.Generator) -> tuple[gp.Attack, Any, float]:
    metric, direction = METRICS[rng.integers(3)], ("rise", "fall", "posterior")[rng.integers(3)]
    told = {} if metric is None else {"metric": metric}
    x = gp.Attribute("x", prior=PRIORS[rng.integers(4)](), bounds=(-4, 4), **told)
    attack = gp.Attack(gp.within(x, float(10 ** rng.uniform(-1, 0.3))))
    before = attack.worst(0.0, "posterior").bound if direction == "posterior" else 0.0
    return attack, direction, float(before + (1 - before) * rng.uniform(0.02, 0.3))


@pytest.mark.parametrize("seed", range(cases(4)))
def test_it_is_the_largest_that_is_proven(seed: int) -> None:
    attack, direction, limit = drawn(np.random.default_rng(seed))
    found = epsilon_at_worst(attack.truth_search, limit, direction, attack.typical)
    if found is None:  # not settled, or a limit that nothing breaks
        return
    assert attack.worst(found, direction).bound <= limit
    assert attack.worst(found * (1 + 1e-7), direction).attack > limit


def test_what_is_found_is_proven_before_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=gp.normal(0, 1)), 0.3))
    true, settle = attack.epsilon(advantage=0.1), worst_epsilon._settled

    def too_far(*question: Any) -> Any:
        near = settle(*question)
        return near and replace(near, epsilon=1.001 * near.epsilon)

    monkeypatch.setattr(worst_epsilon, "_settled", too_far)
    assert epsilon_at_worst(attack.truth_search, 0.1, "rise", attack.typical) is None
    assert replace(attack).epsilon(advantage=0.1) == pytest.approx(true, rel=1e-7)
