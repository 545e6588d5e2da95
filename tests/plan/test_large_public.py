"""A prior `from` a public file of 100,000 rows, against sums over all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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
