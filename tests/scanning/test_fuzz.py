"""Any table: nothing but our own exceptions, and every row is counted once."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from guessproof.charts.scan import drawn, exposure_histogram
from guessproof.scanning import scan
from scanning.making import made, text

CELLS = st.one_of(
    st.none(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.floats(0, 60),
    st.sampled_from(["", "NaN", "inf", "-Infinity", "1e999", "twelve", "a,b", 'q"uote', "é", "20"]),
)
PLANS = (
    text(),
    text(columns={"x": "bounds = [0, 60]\nprior = { uniform = { low = 0, high = 60 } }"}, goal="x within 10%"),
    text(columns={"x": "bounds = [0, 60]\nprior = { empirical = [1, 2, 20, 20, 35] }"}),
    text(
        sql="SELECT COUNT(*) AS n FROM t WHERE x = '20'",
        columns={"x": 'prior = { categorical = { "20" = 0.25, a = 0.75 } }'},
        goal="x exactly",
    ),
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(PLANS), st.lists(CELLS, max_size=12), st.floats(0, 50), st.integers(0, 4), st.booleans())
def test_every_row_is_counted_once(plan: str, cells: list[Any], epsilon: float, top: int, more: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        loaded = made(Path(folder), plan, ["x", "y"], [[c, i % 2] for i, c in enumerate(cells)])
        options = {"by": "y", "identities": "x"} if more else {}
        found = scan(loaded, epsilon=epsilon, top=top, **options)  # pyright: ignore[reportArgumentType]
    assert found.rows == len(cells)
    assert found.judged + found.missing + found.infinite + found.outside == len(cells)
    assert sum(b.count for b in found.histogram) == found.judged
    assert len(found.exposed) <= top
    for low, high in found.quantiles.values():
        assert 0 <= low <= high <= 1
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["rows"] == len(cells)
    if more:
        assert sum(g.rows for g in found.groups or ()) == len(cells)
        assert len(found.identified or ()) == min(top, found.judged) or epsilon == 0
    exposure_histogram(found).to_dict()


def test_the_chart_is_drawn_in_every_form(tmp_path: Path) -> None:
    plan = made(tmp_path, text(), ["x"], [[20 + 6 * math.sin(i)] for i in range(200)])
    found = scan(plan, epsilon=8.0)
    assert drawn(found, ".png").startswith(b"\x89PNG")
    assert b"limit 0.05" in drawn(found, ".svg")
    assert b"<svg" in drawn(found, ".html")
    layers = exposure_histogram(found).to_dict()["layer"]
    bars = layers[0]["data"]["values"]
    assert sum(b["count"] for b in bars) == 200
    assert {b["over"] for b in bars} == {b["high"] > 0.05 for b in bars}


@pytest.mark.parametrize("kind", ["records", "values"])
def test_both_kinds_of_protection(tmp_path: Path, kind: str) -> None:
    plan = made(tmp_path, text(protects=kind), ["x"], [[20], [30]])
    assert scan(plan, epsilon=1.0).judged == 2
