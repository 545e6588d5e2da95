"""The audit plays the worst of the priors that a plan allows for, and finds a bound that forgot them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from auditing.plans import CAFETERIA, CATS, chosen, fast

from guessproof.auditing import audit_choice
from guessproof.auditing.wrong_priors import worst_beliefs
from guessproof.noise import Noise


def test_no_prior_of_two_levels_does_better() -> None:
    """All priors with h in {1, κ} on few points: one of them is what the thresholds find."""
    draw = np.random.default_rng(0)
    for _ in range(20):
        size, factor = int(draw.integers(2, 8)), float(1 + 3 * draw.random())
        weights, told = draw.dirichlet(np.ones(size)), draw.random(size)
        fits = (np.arange(size) < draw.integers(1, size)).astype(float)
        best = {"rise": -1.0, "fall": -1.0, "belief": 0.0}
        for h in itertools.product([1.0, factor], repeat=size):
            prior, after = np.array(h) * weights, np.array(h) * told
            after_goal, before = float(after @ fits / after.sum()), float(prior @ fits / prior.sum())
            best = {
                "rise": max(best["rise"], after_goal - before),
                "fall": max(best["fall"], before - after_goal),
                "belief": max(best["belief"], after_goal),
            }
        rise, fall, belief = worst_beliefs(told, weights, fits, factor)
        assert rise[0] - rise[1] == pytest.approx(best["rise"], abs=0.01)  # which has no value between
        assert fall[1] - fall[0] == pytest.approx(best["fall"], abs=0.01)
        assert belief[0] == pytest.approx(best["belief"], abs=1e-12)


@pytest.mark.parametrize(
    ("text", "check"), [(CAFETERIA.split("[accuracy]")[0], "advantage"), (CATS, "exact advantage")]
)
def test_the_worst_prior_stays_below_the_bound_and_above_the_declared_one(
    text: str, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Noise, "draw", fast(7))
    wrong = chosen(text.replace("at = {", "prior_factor = 1.5\nat = {"))

    def checked(choice: Any) -> Any:
        found = audit_choice(choice, trials=3000, seconds=1e5, seed=5, false_alarm=1e-7)
        return next(c for c in found.checks if c.name == check)

    played = checked(wrong)
    assert played.verdict == "pass"
    assert played.measured > 0.9 * played.expected
    # A choice whose ε forgot the factor is found, although it is right for the declared prior.
    forgot = replace(chosen(text), advantage=None)
    assert forgot.epsilon > wrong.epsilon
    larger = replace(wrong, epsilon=forgot.epsilon, noises=forgot.noises)
    assert checked(larger).verdict == "fail"
