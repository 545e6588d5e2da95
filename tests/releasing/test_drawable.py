"""Whatever passes the checks before the charge can be drawn after it: every mechanism, ε and size of an answer.

A failure after the charge costs budget and gives nothing, so a plan is refused while it is chosen for, or works.
"""

from __future__ import annotations

import json
import math
import random

import pytest
from each import check_each

from guessproof.choosing import choose
from guessproof.errors import GuessproofError
from guessproof.ledger import Cost
from guessproof.plan import loads_plan
from guessproof.releasing import add_noise

PLAN = """
[data]
name = "any"
source = "any.csv"
protects = "{protects}"
{copies}
[query]
sql = "SELECT {what} AS a FROM t"
[columns.x]
bounds = [{low!r}, {high!r}]
[release]
epsilon = {epsilon!r}
mechanism = "{mechanism}"
{delta}
"""
QUERIES = ["COUNT(*)", "COUNT(x)", "SUM(x)", "AVG(x)", "MIN(x)", "MAX(x)", "SUM(ROUND(x))", "SUM(x) / COUNT(x)"]


def drawn_plan(draw: random.Random, widest: float) -> str:
    """A plan of any size; `widest` is the largest power of ten of ε, its inverse and the bounds."""
    mechanism = draw.choice(["laplace", "geometric", "gaussian", "cauchy"])
    high = 10 ** draw.uniform(-widest, min(widest, 14))
    copies = f"copies = {draw.choice([1, 12, 10**6])}" if draw.random() < 0.3 else ""
    return PLAN.format(
        protects=draw.choice(["records", "values"]),
        copies=copies,
        what=draw.choice(QUERIES),
        low=draw.choice([0.0, -high, high / 2]),
        high=high,
        epsilon=10 ** draw.uniform(-widest, widest),
        mechanism=mechanism,
        delta=f"delta = {10 ** draw.uniform(-12, -2)!r}" if mechanism == "gaussian" else "",
    )


def tried(text: str, draw: random.Random) -> bool:
    """Whether the plan passed; then everything after the charge must work, on any answers."""
    try:
        choice = choose(loads_plan(text))
        Cost(choice.exact_cost, choice.delta)  # as the release makes it, before it charges
    except GuessproofError:
        return False
    if not choice.feasible or not choice.noises:
        return False
    assert math.isfinite(choice.cost)
    assert choice.cost > 0
    most = [2**62, -(2**62), 0, 1, 2**100]  # sums of any number of rows, in steps of the grid
    for _ in range(3):
        cells = [(draw.choice(most), draw.choice([1, 2**40])) for _ in choice.noises]
        answer = add_noise(choice, {"": draw.choice([{}, {(): cells}])})
        json.loads(json.dumps(answer.record(), allow_nan=False))
    return True


SEEDS = {str(seed): seed for seed in range(300)}


@pytest.mark.parametrize("widest", [12, 300])
def test_what_passes_can_be_drawn(widest: int) -> None:
    def check(seed: int) -> None:
        draw = random.Random(seed)
        tried(drawn_plan(draw, widest), draw)

    check_each(SEEDS, check)


def test_most_plans_of_ordinary_size_pass() -> None:
    passed = [tried(drawn_plan(draw, 6), draw) for draw in map(random.Random, range(120))]
    assert sum(passed) > 60
