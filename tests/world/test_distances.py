"""Metrics: laws for all of them, the line form against the definition, shortest paths of a minimum, JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import guessproof as gp
from guessproof.errors import MetricError
from guessproof.guarantee.stored import metric_from_dict, metric_to_dict
from guessproof.world import Binned, LineForm, LineMetric

PARTS = (
    gp.Absolute(),
    gp.Absolute(0.4),
    gp.Clamped(-1, 0.5),
    3 * gp.Clamped(-0.3, 2),
    gp.Threshold(-0.7, 0.2),
    0.4 * gp.Threshold(0.2, 1.1) + gp.Clamped(0, 1),
    0.7 * gp.Discrete(),
)
PLACES = st.sampled_from([-2.0, -1.0, -0.7, -0.3, 0.0, 0.2, 0.35, 0.5, 1.0, 1.1, 1.5, 2.0, 3.0])
BINS = Binned((-0.7, 0.2, 1.1), (0.0, 1.0, 2.5, 0.5), 3.0, LineForm((0.2,), (0.5, 1.0), (0.0,)))
SINGLE = st.sampled_from([*PARTS, gp.Outcome((-0.7, 0.2), (1.1, 2.0)), BINS])


def as_line(metric: Any) -> LineMetric:
    return LineMetric(metric.line_form)


METRICS = st.recursive(
    SINGLE,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, factor: factor * a, inner, st.sampled_from([0.0, 0.3, 2.0])),
        st.builds(lambda a, cap: gp.minimum(a, cap), inner, st.sampled_from([0.4, 1.5])),
    ),
    max_leaves=4,
)


@given(METRICS, PLACES, PLACES, PLACES)
def test_every_metric_is_symmetric_and_keeps_the_triangle(metric: Any, a: float, b: float, c: float) -> None:
    ab, bc, ac = (float(metric.distance(p, q)) for p, q in ((a, b), (b, c), (a, c)))
    assert float(metric.distance(a, a)) == 0 <= ab == float(metric.distance(b, a))
    assert metric.keeps_triangle
    assert ac <= ab + bc + 1e-12


@given(METRICS, PLACES, PLACES, PLACES, PLACES)
def test_spread_is_an_upper_bound_inside_intervals(metric: Any, a: float, b: float, c: float, d: float) -> None:
    spans = [sorted(pair) for pair in ((a, b), (c, d))]
    inside = [np.linspace(np.nextafter(low, high), np.nextafter(high, low), 50) for low, high in spans]
    most = np.max(metric.distance(inside[0][:, None], inside[1]))
    if not any(low < cut < high for low, high in spans for cut in metric.breaks):
        x, y = (tuple(np.array([end]) for end in span) for span in spans)
        assert most <= float(metric.spread(x, y)[0]) + 1e-12
    low, high = min(a, c), max(b, d)
    if low < high:
        places = np.unique([low, high, *(x for x in (a, b, c, d, *metric.breaks) if low <= x <= high)])
        assert np.max(metric.distance(places[:, None], places)) <= metric.diameter(low, high) + 1e-12


def test_a_diameter_sees_what_lies_between_the_ends() -> None:
    filtered = gp.Outcome((0, 1))  # both ends of the range lie outside
    assert filtered.diameter(-3, 3) == filtered.diameter(-np.inf, np.inf) == 1
    assert gp.minimum(gp.Absolute(), 2).diameter(-np.inf, np.inf) == 2
    assert (gp.Outcome((0, 5)) + gp.Outcome((5, 10))).diameter(-np.inf, 20) == 2  # from 5 itself


def test_bins_are_worth_both_ends_across_and_a_line_form_inside() -> None:
    ends = tuple(np.array([end]) for end in (-0.7, 0.2))
    assert float(BINS.spread(ends, ends)[0]) == pytest.approx(0.45)  # (−0.7, 0.2] at rate 0.5
    assert [float(BINS.distance(0.0, x)) for x in (-1, 0.1, 1, 2)] == pytest.approx([1, 0.05, 3, 1.5])


@example(2 * gp.minimum(gp.Absolute(), 0.4), 0.0, 3.0)
@given(METRICS, PLACES, PLACES)
def test_a_metric_agrees_with_its_form(metric: Any, a: float, b: float) -> None:
    form = metric.line_form
    if form is not None:
        expected = min(abs(float(form.psi(a) - form.psi(b))), form.cap) + form.step * (a != b)
        assert float(metric.distance(a, b)) == pytest.approx(expected, abs=1e-12)


@given(METRICS, PLACES, PLACES)
def test_between_two_breaks_the_tail_bounds_the_distance(metric: Any, a: float, b: float) -> None:
    (slope, offset), (low, high) = metric.tail, sorted((a, b))
    if not any(low < cut < high for cut in metric.breaks):
        assert float(metric.distance(np.nextafter(low, high), high)) <= slope * (high - low) + offset + 1e-12


STORED = st.sampled_from([gp.Discrete(), gp.Outcome((-0.7, 0.2), (1.1, np.inf)), BINS, *map(as_line, PARTS)])


@given(STORED, STORED, PLACES, PLACES)
def test_a_stored_metric_comes_back(one: Any, two: Any, a: float, b: float) -> None:
    metric = 0.7 * one + two
    again = metric_from_dict(json.loads(json.dumps(metric_to_dict(metric), allow_nan=False)))
    assert float(again.distance(a, b)) == pytest.approx(float(metric.distance(a, b)), abs=1e-12)


@pytest.mark.parametrize("metric", [*PARTS, gp.minimum(gp.Absolute() + 0.3 * gp.Discrete(), 1.0), 2 * gp.Absolute(3)])
def test_a_distance_and_its_form_are_one(metric: Any) -> None:
    """Also at the cuts themselves, which belong to what lies below them, and with a step under a cap."""
    form = metric.line_form
    assert form is not None
    cuts = np.array([-1, -0.7, -0.3, 0, 0.2, 0.5, 1, 1.1, 2])
    x = np.sort(np.concatenate([np.linspace(-2, 9, 23), cuts, cuts + 1e-9, cuts - 1e-9]))
    apart = (x[:, None] != x[None]).astype(float)
    by_form = np.minimum(np.abs(form.psi(x)[:, None] - form.psi(x)[None]), form.cap) + form.step * apart
    assert metric.distance(x[:, None], x[None]) == pytest.approx(by_form, abs=1e-12)


@pytest.mark.parametrize(
    "parts",
    [
        (gp.Absolute(), gp.Outcome((0, 1))),
        (gp.Absolute() + 0.3 * gp.Discrete(), 2 * gp.Clamped(0, 1)),
        (gp.Clamped(0, 10), 3 * gp.Clamped(5, 20)),
        (gp.Matrix("ab", [[0, 1], [1, 0]]), gp.Absolute()),
    ],
)
def test_unknown_shortest_ways_are_refused(parts: tuple) -> None:
    with pytest.raises(MetricError, match="detour"):
        gp.minimum(*parts)


@pytest.mark.parametrize("seed", range(4))
def test_a_table_with_detours_is_followed_along_them_among_several_attributes(seed: int) -> None:
    """Squared distances between places: however far, many small hops are shorter. The coin tells nothing of them."""
    rng = np.random.default_rng(seed)
    n, names = 100, [f"place {i}" for i in range(100)]
    x = 3 * rng.normal(size=(n, 2))
    squared = np.sum((x[:, None] - x[None]) ** 2, axis=-1)
    mass = rng.dirichlet(np.ones(n))
    places = gp.categorical(dict(zip(names, mass, strict=True)))
    place = gp.Attribute("place", prior=places, metric=gp.Matrix(names, squared))
    coin = gp.Attribute("coin", prior=gp.categorical({"h": 0.5, "t": 0.4, "lost": 0.1}), metric=0 * gp.Discrete())
    goal = gp.among(place, names[:30]) & gp.among(coin, ["h"])
    share = np.where(np.arange(n) < 30, 0.5, 0.0)
    truth = gp.FiniteWorld(np.asarray(places.mass), squared).posterior(share, 1.5)
    bracket = gp.Attack(goal).posterior(1.5)
    assert bracket.attack <= truth.bound + 1e-12
    assert truth.attack <= bracket.bound + 1e-12
