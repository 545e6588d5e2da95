"""An AVG without a public count: its error from a public minimum of rows, against noise as it is drawn."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from guessproof.choosing import Choice, choose
from guessproof.errors import GuessproofError
from guessproof.plan import loads_plan
from guessproof.releasing.answer import add_noise

PLAN = """
[data]
name = "visits"
source = "t.csv"
protects = "records"
{minimum}
[query]
sql = "SELECT AVG(days) AS mean FROM t"
[columns.days]
bounds = [0, 60]
missing = false
{more}
"""


def chosen(more: str, minimum: str = "rows_at_least = 500") -> Choice:
    return choose(loads_plan(PLAN.format(more=more, minimum=minimum), folder=Path()))


def test_a_target_is_met_by_noise_as_it_is_drawn() -> None:
    choice = chosen("[accuracy]\nwithin = 3")
    stated = choice.errors()["mean"]
    assert stated is not None
    assert 2.5 < stated <= 3 * (1 + 1e-9)
    exponents = [noise.grid.exponent for noise in choice.noises]
    for rows, mean in itertools.product((500, 800), (0.0, 30.0, 60.0)):
        found = {(): [(round(rows * mean * 2.0 ** -exponents[0]), None), (round(rows * 2.0 ** -exponents[1]), None)]}
        near = [abs((add_noise(choice, {"": found}).answers[0].value or 0.0) - mean) <= stated for _ in range(150)]
        assert sum(near) >= 130  # of 150 with 95 % each: fewer with probability 1e-5


def test_the_worst_noise_within_its_errors_is_no_further_off_than_stated() -> None:
    choice = chosen("[release]\nepsilon = 1")
    stated, level = choice.errors()["mean"], 0.975
    total, count = (noise.error(level) for noise in choice.noises)
    assert stated is not None
    worst = 0.0
    for mean, rows, a, c in itertools.product((0.0, 17.0, 60.0), (500, 501, 5000), (-total, total), (-count, count)):
        worst = max(worst, abs(min(max((rows * mean + a) / max(rows + c, 1), 0.0), 60.0) - mean))
    assert worst <= stated
    assert worst > 0.8 * stated  # the count forgotten, or its noise taken from the wrong side, would be below


def test_without_a_minimum_or_with_too_wide_a_count_nothing_is_promised() -> None:
    with pytest.raises(GuessproofError, match="rows_at_least"):
        chosen("[accuracy]\nwithin = 3", minimum="")
    assert chosen("[release]\nepsilon = 1", minimum="").errors() == {"mean": None}
    assert chosen("[release]\nepsilon = 0.001", minimum="rows_at_least = 10").errors() == {"mean": None}


def test_twice_as_many_rows_need_less() -> None:
    few, many = (chosen("[accuracy]\nwithin = 3", minimum=f"rows_at_least = {n}").epsilon for n in (200, 400))
    assert many < 0.6 * few
