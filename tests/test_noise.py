"""Noise for one measurement: which mechanism, on which grid, at which cost."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guessproof.choosing import choose
from guessproof.errors import ParameterError
from guessproof.mechanisms import BEST, BEST_WHOLE, MECHANISMS
from guessproof.noise import Noise, epsilon_needed, noise_for
from guessproof.plan import loads_plan

PLAN = """
[data]
name = "any"
source = "any.csv"
protects = "records"
{data}
[query]
sql = "SELECT {what} AS a FROM t"
[columns.x]
bounds = [0, {high}]
[release]
epsilon = 1.0
"""
WHOLE, REAL, AVERAGE = "COUNT(*)", "SUM(x)", "AVG(x)"
names = st.sampled_from(sorted(MECHANISMS))
epsilons = st.floats(1e-3, 1e3)


@cache
def measured(what: str, high: float = 120.0, data: str = "") -> Any:
    """The measurement behind one aggregate."""
    text = PLAN.format(what=what, high=high, data=data)
    if what == AVERAGE:
        text = text.replace('"records"', '"values"\nrows = 50')
    return choose(loads_plan(text)).noises[0].measurement


def made(what: str, epsilon: float, name: str | None = None, **more: Any) -> Noise:
    return noise_for(measured(what), epsilon, name, delta=1e-6, **more)


def test_without_a_name_whole_answers_get_whole_noise() -> None:
    assert isinstance(made(WHOLE, 1.0).mechanism, BEST_WHOLE)
    assert isinstance(made(REAL, 1.0).mechanism, BEST)
    assert made(WHOLE, 1.0).grid.exponent == 0


def test_whole_noise_on_another_answer_is_refused() -> None:
    for name, kind in MECHANISMS.items():
        if kind.is_whole:
            with pytest.raises(ParameterError, match="no whole number"):
                made(REAL, 1.0, name)
            with pytest.raises(ParameterError, match="no whole number"):
                epsilon_needed(measured(REAL), 5.0, 0.95, name, 0.0)


@settings(deadline=None)
@given(names, epsilons)
def test_what_is_charged_is_never_below_what_was_chosen(name: str, epsilon: float) -> None:
    what = WHOLE if MECHANISMS[name].is_whole else REAL
    noise = made(what, epsilon, name)
    cost, delta = noise.cost
    assert cost >= epsilon
    assert cost <= epsilon + noise.step * (1 + 1e-9) + 1e-15 * epsilon
    assert (delta > 0) == MECHANISMS[name].has_delta
    assert delta <= 1e-6


@settings(deadline=None)
@given(names, st.floats(0.5, 50.0), st.floats(0.5, 0.999))
def test_the_epsilon_that_an_accuracy_needs_gives_it(name: str, within: float, confidence: float) -> None:
    for what in (WHOLE,) if MECHANISMS[name].is_whole else (WHOLE, REAL, AVERAGE):
        needed = epsilon_needed(measured(what), within, confidence, name, 1e-6)
        if needed > 0:
            noise = made(what, needed, name, confidence=confidence)
            assert noise.confidence(within) >= confidence * (1 - 1e-12)
            assert noise.error(confidence) <= within * (1 + 1e-9)


def test_an_average_is_off_by_the_rows_less_than_its_sum() -> None:
    average, total = made(AVERAGE, 1.0), noise_for(measured(AVERAGE), 1.0)
    assert average.scale == pytest.approx(total.mechanism.scale / 50)
    assert average.error(0.9) == pytest.approx(total.mechanism.error(confidence=0.9) / 50)


def test_the_guarantee_is_the_measurements_over_the_noise() -> None:
    noise = made(REAL, 0.5)
    assert noise.guarantee.sensitivity == pytest.approx(0.5)
    assert noise.measurement.guarantee.sensitivity == 120


@pytest.mark.parametrize(("what", "exact"), [(WHOLE, True), ("SUM(ROUND(x))", True), (REAL, False)])
def test_only_what_is_rounded_is_charged_for_it(what: str, exact: bool) -> None:
    noise = made(what, 1.0, "laplace")
    assert (noise.step == 0) == exact
    assert (noise.cost[0] == 1.0) == exact
    assert noise.step < 1e-9


def test_each_row_of_a_record_is_rounded_by_itself() -> None:
    once = noise_for(measured(REAL), 1.0)
    often = noise_for(measured(REAL, data="copies = 7"), 7.0)
    assert often.grid.exponent == once.grid.exponent
    assert often.step == pytest.approx(7 * once.step)


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_noise_is_drawn_in_whole_steps_as_far_as_its_law_says(name: str) -> None:
    noise = made(WHOLE if MECHANISMS[name].is_whole else REAL, 1.0, name)
    start = noise.grid.units(1000)
    drawn = noise.draw([start] * 300)
    assert all(isinstance(unit, int) for unit in drawn)
    near = noise.error(0.5)
    inside = sum(abs(noise.grid.value(unit - start)) <= near for unit in drawn)
    assert 90 < inside < 270  # half of 300, or more where whole noise holds more within: nine deviations away
    assert len(set(drawn)) > 3


def test_noise_beyond_all_numbers_is_refused_before_it_is_drawn() -> None:
    with pytest.raises(ParameterError, match="64-bit"):
        made(WHOLE, 1e-18, "geometric").check()
    made(WHOLE, 1.0).check()


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_what_is_recorded_tells_the_noise(name: str) -> None:
    noise = made(WHOLE, 0.25, name)
    found = noise.to_dict()
    assert found["mechanism"] == name == noise.name
    assert (found["epsilon"], found["noise_scale"], found["grid"]) == (0.25, noise.scale, noise.grid.exponent)
    assert ("gamma" in found) == (name == "cauchy")
    assert math.isfinite(found["sensitivity"])
