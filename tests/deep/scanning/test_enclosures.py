"""Every cell's enclosure holds for every true value in it, and is as narrow as promised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import guessproof as gp
from guessproof.risk import Attack
from guessproof.scanning.cells import RELATIVE, SHARE, enclosed
from guessproof.scanning.columns import INFINITE, MISSING, OUTSIDE, GridColumn, ListedColumn
from guessproof.scanning.curve import CellBounds, IntervalCurve, at_most_apart
from guessproof.world.distances import LineForm, LineMetric

PRIORS = {
    "normal": gp.normal(20, 6.28),
    "far away": gp.normal(1e7, 0.01),
    "uniform": gp.uniform(0, 60),
    "exponential": gp.exponential(15),
    "laplace": gp.laplace(20, 4),
    "histogram": gp.histogram([0, 10, 30, 60, 120], [0.3, 0.0, 0.6, 0.1]),
}
FORMS = {
    "straight": LineForm(slopes=(1.0,)),
    "clamped": LineForm((0.0, 40.0), (0.0, 1.0, 0.0), (0.0, 0.0)),
    "jump and step": LineForm((15.0,), (0.5, 0.5), (3.0,), step=0.2),
}


def world(
    prior: Any, form: LineForm, epsilon: float, radius: float, both: bool = False
) -> tuple[GridColumn, IntervalCurve, Any]:
    attribute = gp.Attribute("x", prior=prior, metric=LineMetric(form))
    goal = gp.within(attribute, radius)
    curve = IntervalCurve(Attack(goal), epsilon, both)
    grid = GridColumn.of("x", prior, None)

    def exact(t: float) -> tuple[float, float]:
        try:
            bracket = Attack(goal, at={"x": t}).advantage(epsilon, both)
        except gp.errors.GoalError:
            return 0.0, 0.0
        return float(bracket.attack), float(bracket.bound)

    return grid, curve, exact


@settings(max_examples=18, deadline=None)
@given(
    st.sampled_from([*PRIORS]),
    st.sampled_from([*FORMS]),
    st.floats(1e-3, 3.0),
    st.floats(0.02, 1.5),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_random_true_values_lie_inside(
    name: str, form: str, epsilon: float, radius: float, both: bool, seed: int
) -> None:
    prior: Any = PRIORS[name]
    width = float(prior.quantile(0.8) - prior.quantile(0.2))
    shape = FORMS[form]
    if name == "far away":
        shape = LineForm(slopes=(1.0,))
    grid, curve, exact = world(prior, shape.times(10 / width), epsilon, radius * width / 3, both)
    random = np.random.default_rng(seed)
    some = prior.quantile(random.uniform(size=12))
    tails = prior.quantile(np.array([1e-11, 1e-7, 1 - 1e-7, 1 - 1e-11]))
    edges = grid.edges()[random.integers(1, grid.count, 8)]
    t = np.concatenate([some, tails, edges])
    t = t[grid.possible(t)]
    codes = grid.codes(pa.array(t)).copy()
    occupied = np.bincount(codes, minlength=grid.size + 3)[:-3] > 0
    cells = enclosed(grid, curve, occupied)
    for value, cell in zip(t.tolist(), cells.node[codes].tolist(), strict=True):
        attack, bound = exact(value)
        assert (
            cells.lower[cell] <= bound + 1e-11
        )  # where the two meet, which is nearly everywhere, this is an enclosure
        assert attack <= cells.upper[cell] + 1e-11


def test_a_percentage_bends_at_zero() -> None:
    goal = gp.within(gp.Attribute("x", prior=gp.normal(0.3, 2)), percent=90)
    curve = IntervalCurve(Attack(goal), 2.0, both=False)
    ends = np.asarray([-1.0, -0.3, -0.01, 0.0, 0.01, 0.3, 1.0])
    pairs = [(a, b) for a in ends for b in ends if a < b]
    found = [curve.over(np.asarray(pair)) for pair in pairs]
    over = CellBounds(*(np.asarray([getattr(one, side)[0] for one in found]) for side in ("lower", "upper")))
    for t in (-0.9, -0.2, -0.005, -1e-9, 1e-9, 0.005, 0.2, 0.9):
        bracket = Attack(goal, at={"x": t}).advantage(2.0)
        for (a, b), low, high in zip(pairs, over.lower, over.upper, strict=True):
            if a <= t <= b:
                assert low <= bracket.bound + 1e-12
                assert bracket.attack <= high + 1e-12


def test_enclosures_are_as_narrow_as_promised() -> None:
    for both in (False, True):
        grid, curve, _ = world(gp.normal(20, 6.28), FORMS["straight"], 0.05, 2.0, both)
        cells = enclosed(grid, curve)
        equal = cells.node[grid.count - 1] + 1  # those beyond the grid are as wide as they are
        lower, upper = cells.lower[:equal], cells.upper[:equal]
        assert np.all(upper - lower <= np.maximum(RELATIVE * upper, SHARE * upper.max()) + 1e-9)
        assert equal < 2000
        assert upper.max() < 0.06


def test_a_limit_is_decided_where_it_can_be() -> None:
    grid, curve, exact = world(gp.normal(20, 6.28), FORMS["straight"], 0.05, 2.0)
    limit = exact(18.0)[1]
    cells = enclosed(grid, curve, limit=limit)
    open_ = (cells.lower <= limit) & (cells.upper > limit * (1 + 1e-6))
    assert cells.upper[cells.node[grid.count] :].max() < 1e-6  # far out there is nothing to be learnt
    width = (cells.last - cells.first)[open_]
    assert 1 <= open_.sum() <= 8
    assert np.all(width <= 2 * grid.width)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True), st.floats(-50, 150)),
        max_size=40,
    )
)
def test_codes_place_every_float(values: list[float | None]) -> None:
    for prior in (gp.normal(20, 6.28), gp.uniform(0, 60), PRIORS["histogram"]):
        grid = GridColumn.of("x", prior, (0, 120))
        codes = grid.codes(pa.array(values, pa.float64())).copy()
        first, last = grid.edges()[:-1], grid.edges()[1:]
        far_first, far_last = grid.beyond()
        first, last = np.append(first, far_first), np.append(last, far_last)
        for value, code in zip(values, codes.tolist(), strict=True):
            if value is None or np.isnan(value):
                assert code == grid.size + MISSING
            elif np.isinf(value):
                assert code == grid.size + INFINITE
            elif abs(value) > 1e100 or not grid.possible(np.asarray([value]))[0]:
                assert code == grid.size + OUTSIDE
            else:
                assert first[code] - grid.slack <= value <= last[code] + grid.slack


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "", "A", "ü"])), max_size=30))
def test_codes_of_labels(values: list[str | None]) -> None:
    column = ListedColumn("f", ("b", "a", "ü"), "text")
    plain = column.codes(pa.array(values, pa.string())).tolist()
    assert plain == column.codes(pa.array(values, pa.string()).dictionary_encode()).tolist()
    assert plain == [
        3 + MISSING if v is None else column.values.index(v) if v in column.values else 3 + OUTSIDE for v in values
    ]


def test_truth_values_are_labels() -> None:
    column = ListedColumn("f", (True, False), "text")
    assert column.codes(pa.array([True, False, None])).tolist() == [0, 1, 2 + MISSING]


def test_other_kinds_of_numbers_are_read_as_numbers() -> None:
    grid = GridColumn.of("x", gp.normal(20, 6.28), None)
    plain = grid.codes(pa.array([20.0, 7.0, None])).tolist()
    for kind in (pa.int32(), pa.uint8(), pa.float32(), pa.decimal128(22, 2)):
        assert grid.codes(pa.array([20, 7, None], pa.int64()).cast(kind)).tolist() == plain


def test_two_records_at_most_so_far_apart() -> None:
    for least, most, change in ((0.0, 1.0, 2.0), (0.1, 0.2, 2.0), (0.5, 0.9, 1.0), (0.3, 0.3, 40.0)):
        p = np.linspace(least, most, 2001)
        slow = p * np.exp(change) / (1 - p + p * np.exp(change)) - p
        found = at_most_apart(np.asarray(least), np.asarray(most), change)
        assert found == pytest.approx(slow.max(), rel=1e-5)
        assert found >= slow.max() - 1e-15
