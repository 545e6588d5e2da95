"""Five kinds of plans, whose tables exist nowhere, and samplers that are fast, honest or faulty."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from guessproof.choosing import Choice, choose
from guessproof.mechanisms.geometric import Geometric
from guessproof.noise import Noise
from guessproof.plan import Plan, loads_plan

CAFETERIA = """
[data]
name = "cafeteria"
source = "nowhere/cafeteria.csv"
protects = "values"
rows = 120
[query]
sql = "SELECT AVG(time) AS mean_time FROM t WHERE faculty = 'math'"
[columns.time]
bounds = [0, 120]
prior = { normal = { mean = 20, sd = 6.28 } }
[attacker]
goal = "time within 2"
advantage = 0.05
at = { time = 20 }
[accuracy]
within = 1.5
"""
CATS = """
[data]
name = "cats"
source = "nowhere/cats.parquet"
table = "cats"
protects = "values"
[query]
sql = "SELECT COUNT(*) AS n FROM cats WHERE colour = 'tabby' AND gender = 'F'"
[columns.colour]
missing = false
prior = { categorical = { red = 0.2, white = 0.1, tabby = 0.25, black = 0.4, tortoise = 0.05 } }
[columns.gender]
missing = false
prior = { categorical = { M = 0.5, F = 0.5 } }
[attacker]
goal = "colour exactly and gender exactly"
advantage = 0.1
at = { colour = "tabby", gender = "F" }
"""
SALARIES = """
[data]
name = "salaries"
source = "nowhere/salaries.duckdb"
table = "staff"
protects = "values"
[query]
sql = "SELECT SUM(salary) AS total FROM staff"
[columns.salary]
bounds = [1000, 3000]
missing = false
prior = { normal = { mean = 2000, sd = 235.7 } }
[attacker]
goal = "salary within 100"
advantage = 0.1
at = { salary = 2000 }
"""
SURVEY = """
[data]
name = "survey"
source = "env:SURVEY"
table = "survey"
protects = "records"
[query]
sql = "SELECT age_group, COUNT(*) AS n FROM survey WHERE had_covid = 'yes' GROUP BY age_group"
[columns.age_group]
levels = ["18-44", "45-64", "65+"]
[columns.had_covid]
levels = ["yes", "no"]
[risk]
fixed_inclusion = { p = 0.05, absolute = 0.15, relative = 3.0 }
"""
SHIPS = """
[data]
name = "ships"
source = "nowhere/ships.csv"
table = "ships"
protects = "values"
[query]
sql = "SELECT MIN((POINT(east, north) <@> POINT(0, 0)) / speed) AS hours FROM ships"
[columns.east]
bounds = [-150, 150]
missing = false
prior = { normal = { mean = 0, sd = 35.36 } }
[columns.north]
bounds = [-150, 150]
missing = false
prior = { normal = { mean = 0, sd = 35.36 } }
[columns.speed]
bounds = [10, 30]
public = true
missing = false
[attacker]
goal = "(east, north) within 10 by l2"
advantage = 0.1
at = { east = 0, north = 0 }
[release]
epsilon = 4.0
"""
TWO_SUMS = """
[data]
name = "x"
source = "nowhere/x.csv"
protects = "values"
[query]
sql = "SELECT SUM(a) AS s, SUM(b) AS u FROM t WHERE kind = 'x'"
[columns.a]
bounds = [0, 10]
[columns.b]
bounds = [-5, 5]
[release]
epsilon = 2.0
"""
KINDS = {"cafeteria": CAFETERIA, "cats": CATS, "salaries": SALARIES, "survey": SURVEY, "ships": SHIPS}
Draw = Callable[[Noise, list[int]], list[int]]


@lru_cache
def plan_of(text: str) -> Plan:
    return loads_plan(text)


@lru_cache
def chosen(text: str) -> Choice:
    """The choice is made once; nothing in these tests changes it."""
    return choose(plan_of(text))


def fast(seed: int, *, scale: float = 1.0, shift: float = 0.0, shape: str = "right") -> Draw:
    """A quick sampler of the declared noise, or of one that is wrong in a stated way (shift in noise scales)."""
    rng = np.random.default_rng(seed)

    def draw(noise: Noise, units: list[int]) -> list[int]:
        width = scale * noise.mechanism.scale / noise.grid.step
        values = (
            _whole(rng, width, len(units))
            if isinstance(noise.mechanism, Geometric)
            else _real(rng, width, units, shape)
        )
        moved = round(shift * noise.mechanism.scale / noise.grid.step)
        return [unit + moved + int(v) for unit, v in zip(units, values, strict=True)]

    return draw


def _whole(rng: Any, width: float, count: int) -> Any:
    rate = 1 - np.exp(-1 / width)
    return rng.geometric(rate, count) - rng.geometric(rate, count)


def _real(rng: Any, width: float, units: list[int], shape: str) -> Any:
    if shape == "uniform":  # of the same standard deviation
        return np.rint(rng.uniform(-np.sqrt(6) * width, np.sqrt(6) * width, len(units)))
    values = rng.laplace(0.0, width, len(units))
    if shape == "gap":  # never between 0.5 and 0.6 scales
        inside = (values > 0.5 * width) & (values < 0.6 * width)
        values = np.where(inside, values + 0.1 * width, values)
    found = np.rint(values)
    return 2 * np.rint(found / 2) if shape == "even" else found
