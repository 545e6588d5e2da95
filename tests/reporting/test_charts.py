"""The pictures show the numbers of the plan, and are the same whenever they are drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from guessproof.charts import plan as charts
from guessproof.charts.truths import Truths, by_truth, truths
from guessproof.reporting import Report
from guessproof.rounded import base_for, count, count_up

Make = Callable[[str], Report]


def test_drawing_twice_gives_the_same_text_and_own_ids(made: Make) -> None:
    profile = made("covid").facts.plan.risk
    assert profile is not None
    chart = charts.fitted(charts.profile(profile), 500, 80)
    first, second = (charts.inline(chart, "one", "a label") for _ in range(2))
    assert first == second
    ids = re.findall(r' id="([^"]+)"', first)
    assert ids
    assert all(name.startswith("one-") for name in ids)
    assert set(re.findall(r"url\(#([^)]+)\)", first)) <= set(ids)


def test_a_dot_is_drawn_for_each_guess() -> None:
    for before, after, base in ((25, 30, 100), (194, 200, 1000), (0, 0, 100), (100, 100, 100)):
        drawn = charts.dots(before, after, base, 716, "a label")
        paths = re.findall(r'<path d="([^"]*)" stroke="([^"]*)"', drawn)
        counted = dict.fromkeys((charts.FORMER, charts.ACCENT, charts.PALE), 0)
        for path, colour in paths:
            counted[colour] += path.count("h0")
        rest = (base - before) + (base - after)
        assert counted == {charts.FORMER: 2 * before, charts.ACCENT: after - before, charts.PALE: rest}


def test_beliefs_by_true_value_are_those_of_the_attack(made: Make) -> None:
    choice = made("cafeteria").facts.choice
    found = truths(choice)
    assert found is not None
    assert found.is_line
    nearest = min(range(len(found.values)), key=lambda i: abs(found.values[i] - 20))
    assert choice.prior is not None
    assert choice.posterior is not None
    assert found.before[nearest] == pytest.approx(choice.prior, rel=0.01)
    assert found.after[nearest] == pytest.approx(float(choice.posterior.bound), rel=0.01)
    table = truths(made("or").facts.choice)
    assert table is not None
    assert not table.is_line
    advantage = made("or").facts.choice.advantage
    assert advantage is not None
    rises = [a - b for a, b in zip(table.after, table.before, strict=True)]
    assert max(rises) <= float(advantage.bound) + 1e-9
    assert truths(made("unknown").facts.choice) is None
    assert truths(made("infeasible").facts.choice) is None


def test_the_rise_is_drawn_with_its_limit_and_without_far_tails(made: Make) -> None:
    choice = made("cafeteria").facts.choice
    found = truths(choice)
    assert found is not None
    assert choice.exposure is not None
    prior = choice.exposure.attacker.attributes["time"].prior
    assert (found.values[0], found.values[-1]) == pytest.approx((prior.quantile(0.005), prior.quantile(0.995)))
    spec = by_truth(found, None, 716).to_dict()
    rises = [100 * (a - b) for a, b in zip(found.after, found.before, strict=True)]
    assert _drawn_rises(spec)[0] == pytest.approx(rises)
    assert found.limit == choice.plan.limits.advantage
    few = Truths("x", (0.0, 1.0), (0.1, 0.1), (0.14, 0.12), title="minutes at lunch", limit=0.05)
    drawn = by_truth(few, None, 330).to_dict()
    assert _drawn_rises(drawn) == [[pytest.approx(4.0), pytest.approx(2.0)], [5.0]]  # each true value, and the limit
    assert "minutes at lunch" in str(drawn)


def _drawn_rises(spec: Any) -> list[list[float]]:
    """Every list of rises in a chart, in the order in which they are drawn."""
    if isinstance(spec, list):
        own = [row["rise"] for row in spec if isinstance(row, dict) and "rise" in row]
        return [own] if own else [found for part in spec for found in _drawn_rises(part)]
    return [found for part in spec.values() for found in _drawn_rises(part)] if isinstance(spec, dict) else []


def test_the_spread_of_an_average_is_in_units_of_the_answer(made: Make) -> None:
    noise = made("cafeteria").facts.choice.noises[0]
    spec = charts.error_spread(noise, 0.95, "mean")
    ends = [layer["encoding"]["x"]["scale"]["domain"] for layer in spec["layer"]]
    assert all(end == pytest.approx([-1.9 * noise.error(0.95), 1.9 * noise.error(0.95)]) for end in ends)


def test_spans_reach_from_limit_to_limit() -> None:
    rows = [charts.Span("risk", 0.0, 2.0), charts.Span("accuracy", 0.5, float("inf"))]
    spec = charts.spans(rows, 0.5, 716).to_dict()
    bars = spec["layer"][0]["data"]["values"]
    assert (bars[0]["to"], bars[1]["from"]) == (2.0, 0.5)
    assert {edge["from"] for edge in spec["layer"][1]["data"]["values"]} == {0.5, 2.0}


@pytest.mark.parametrize(
    ("before", "after"), [(0.25, 0.3), (0.2499, 0.2559), (0.0001, 0.00012), (0.5, 0.5), (0.0, 1.0)]
)
def test_the_base_tells_the_difference_truly(before: float, after: float) -> None:
    base = base_for(before, after)
    told = count_up(after, base) - count(before, base)
    assert told == pytest.approx((after - before) * base, rel=0.25, abs=1e-6)
    assert count_up(after, base) >= after * base - 1e-6
