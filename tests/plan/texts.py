"""A small plan, and how it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from guessproof.errors import PlanError
from guessproof.plan import loads_plan

GOOD = Path(__file__).parent / "good"
BASE = """
[data]
name = "x"
source = "x.csv"
protects = "values"
[query]
sql = "SELECT SUM(a) AS s FROM t"
[columns.a]
bounds = [0, 10]
prior = { normal = { mean = 5, sd = 2 } }
"""


ATTACKER = '[attacker]\ngoal = "a within 1"\n'


def refused(text: str) -> PlanError:
    with pytest.raises(PlanError) as caught:
        loads_plan(text)
    return caught.value
