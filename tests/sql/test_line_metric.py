"""The distance that a query gives rise to on one column of numbers, and its form in JSON."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guessproof.errors import MetricError, ParameterError
from guessproof.guarantee import unit_named
from guessproof.sql import DeclaredColumn, DeclaredTable, analyze
from guessproof.world import LineForm, LineMetric

forms = st.builds(
    lambda cuts, slopes, jumps, step, cap: LineForm(
        tuple(sorted(cuts)), tuple(slopes[: len(cuts) + 1]), tuple(jumps[: len(cuts)]), step, cap
    ),
    st.sets(st.floats(-10, 10), max_size=4),
    st.lists(st.floats(0, 3), min_size=5, max_size=5),
    st.lists(st.floats(0, 3), min_size=4, max_size=4),
    st.floats(0, 1),
    st.one_of(st.just(math.inf), st.floats(0, 5)),
)
numbers = st.floats(-12, 12)


@given(forms, numbers, numbers, numbers)
def test_it_is_a_distance(form: LineForm, a: float, b: float, c: float) -> None:
    metric = LineMetric(form)
    ab, bc, ac = (float(metric.distance(p, q)) for p, q in ((a, b), (b, c), (a, c)))
    assert float(metric.distance(a, a)) == 0
    assert ab == float(metric.distance(b, a))
    assert ac <= ab + bc + 1e-9


@given(forms, numbers, numbers, numbers, numbers)
def test_spread_bounds_every_pair(form: LineForm, a: float, b: float, c: float, d: float) -> None:
    metric = LineMetric(form)
    x, y = tuple(np.array([v]) for v in sorted((a, b))), tuple(np.array([v]) for v in sorted((c, d)))
    furthest = float(metric.spread(x, y)[0])  # type: ignore[arg-type]
    inside = [(math.nextafter(low, high), high) for low, high in (sorted((a, b)), sorted((c, d)))]
    assert all(float(metric.distance(p, q)) <= furthest + 1e-9 for p in inside[0] for q in inside[1])


@given(forms)
def test_json_there_and_back(form: LineForm) -> None:
    metric = LineMetric(form)
    assert LineMetric.from_dict(json.loads(json.dumps(metric.to_dict(), allow_nan=False))) == metric


@pytest.mark.parametrize(
    "change",
    [
        {"cuts": [2.0, 1.0]},
        {"slopes": [1.0]},
        {"slopes": [0, -1, 0]},
        {"step": math.nan},
        {"cap": "x"},
        {"jumps": None},
    ],
)
def test_what_is_no_distance_is_refused(change: dict[str, object]) -> None:
    good = LineMetric(LineForm((1.0, 2.0), (0.0, 1.0, 0.0), (0.0, 1.0))).to_dict()
    with pytest.raises(MetricError):
        LineMetric.from_dict({**good, **change})


@pytest.mark.parametrize(
    "make",
    [
        lambda: DeclaredColumn("x", bounds=(5, 1)),
        lambda: DeclaredColumn("x", bounds=(0, math.inf)),
        lambda: DeclaredColumn("x", bounds=(math.nan, 1)),
        lambda: DeclaredColumn("x", bounds=(0, 1), kind="label"),
        lambda: DeclaredColumn("x", levels=("a", "a")),
        lambda: DeclaredColumn("x", levels=()),
        lambda: DeclaredTable("t", {}, unit_named("person")),
        lambda: DeclaredTable("t", {}, rows=0),
        lambda: DeclaredTable("t", {"x": DeclaredColumn("x"), "X": DeclaredColumn("X")}),
    ],
)
def test_declarations_that_cannot_be_meant(make: object) -> None:
    with pytest.raises(ParameterError):
        make()  # type: ignore[operator]


def test_a_curve_is_followed_by_pieces() -> None:
    """POWER(x, 2): two small values are closer than two large ones, and pieces never fall below the curve."""
    x = DeclaredColumn("x", bounds=(0, 100), missing=False)
    metric = (
        analyze("SELECT SUM(POWER(x, 2)) FROM t", DeclaredTable("t", {"x": x})).measurements[0].guarantee.columns["x"]
    )
    assert float(metric.distance(0, 5)) < float(metric.distance(95, 100)) / 5
    values = np.linspace(0, 100, 41)
    assert all(np.all(metric.distance(v, values) >= np.abs(v**2 - values**2)) for v in values)
