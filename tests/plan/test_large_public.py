"""Long lists: a prior `from` a public file of 100,000 rows, against sums over all of them, and many levels."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from counting import calls

import guessproof as gp
from guessproof.plan import loads_plan

PLAN = """
[data]
name = "d"
source = "t.csv"
protects = "values"
[query]
sql = "SELECT SUM(x) AS s FROM t"
[columns.x]
bounds = [0, 200]
prior = { from = "public.csv" }
[attacker]
goal = "x within 0.02"
posterior = 0.5
at = { x = 50 }
"""


def test_a_hundred_thousand_rows_agree_with_plain_sums(tmp_path: Path) -> None:
    rows = np.round(np.clip(np.random.default_rng(4).normal(50, 12, 100_000), 0, 200), 4)
    (tmp_path / "public.csv").write_text("x\n" + "\n".join(map(str, rows.tolist())) + "\n", encoding="utf-8")
    prior = loads_plan(PLAN, folder=tmp_path).attributes()["x"].prior
    attack = gp.Attack(gp.within(gp.Attribute("x", prior=prior), 0.02), at={"x": 50})
    inside = np.abs(rows - 50) <= 0.02
    assert attack.prior == pytest.approx(inside.mean(), rel=1e-12)
    for epsilon in (0.05, 1.0, 20.0):
        peaks = np.unique(rows[inside])
        likelihoods = (np.exp(-epsilon * np.abs(rows - c)) for c in peaks)
        best = max(float(one[inside].sum() / one.sum()) for one in likelihoods)
        found = attack.posterior(epsilon)
        assert found.status == "exact"
        assert float(found.bound) == pytest.approx(best, rel=1e-9)


LEVELS = """
[data]
name = "d"
source = "t.csv"
protects = "values"
[query]
sql = "SELECT COUNT(*) AS n FROM t WHERE x = 'v1'"
[columns.x]
levels = [{levels}]
{prior}
"""


def test_many_levels_and_their_shares_are_read_in_one_pass() -> None:
    levels = [f"v{number}" for number in range(2000)]
    shares = ", ".join(f"{level} = 1" for level in levels)
    text = LEVELS.format(levels=str(levels)[1:-1], prior=f"prior = {{ categorical = {{ {shares} }} }}")
    plan = loads_plan(text.replace("prior =", "# prior ="))
    assert calls(lambda: loads_plan(text).attributes(), limit=600_000)  # each share with each level: four million
    assert plan.columns["x"].levels == tuple(levels)


def test_a_plan_of_a_megabyte_of_levels_takes_no_minutes() -> None:
    text = LEVELS.format(levels=str(list(range(100_000)))[1:-1], prior="")
    begun = time.process_time()
    loads_plan(text)
    assert time.process_time() - begun < 20  # half a second; each level with all before it takes a minute
