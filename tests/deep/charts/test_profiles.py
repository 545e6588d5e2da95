"""The charts draw what the profiles compute, and render without a browser."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import vl_convert

from guessproof.charts.profiles import epsilon_map, profile_chart, profile_curve
from guessproof.errors import ParameterError
from guessproof.risk import RiskProfile

PROFILES = {
    "inclusion": RiskProfile.fixed_inclusion(0.05, 0.1, 3),
    "value": RiskProfile.fixed_value(1, 0.1, 3),
    "points": RiskProfile.points([(0.001, 10), (0.05, 4), (0.4, 1.2)]),
    "custom": RiskProfile.custom(lambda p, q: 1.2 + 9 * np.exp(-6 * p * q), monotone="falling"),
    "box": RiskProfile.box(3, p=(0.2, 0.8), q=(0.3, 0.9)),
    "constant": RiskProfile.constant(3),
    "both": RiskProfile.constant(5) & RiskProfile.box(2, p=(0.5, 1), q=(0.2, 1)),
    "vacuous": RiskProfile.box(3, p=(0.5, 1), q=(0.8, 1)),
}


def rendered(chart) -> str:
    svg = vl_convert.vegalite_to_svg(chart.to_json())
    assert svg.startswith("<svg")
    assert "NaN" not in svg
    return svg


def data(chart) -> list[dict]:
    """Every row of data in a chart, wherever it is kept."""
    found: list[dict] = []

    def walk(node) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("values"), list) and node["values"] and isinstance(node["values"][0], dict):
                found.extend(node["values"])
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(chart.to_dict())
    return found


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_drawn_with_its_epsilon(name: str) -> None:
    profile = PROFILES[name]
    chart = profile_chart(profile, points=60)
    svg = rendered(chart)
    if math.isinf(profile.epsilon()):
        assert "never binds" in svg
        return
    shown = profile_chart(profile, points=60).to_dict()["title"]["subtitle"]
    number = float(shown.split()[2])
    assert number <= profile.epsilon()  # what is copied from a chart must keep the profile
    assert number == pytest.approx(profile.epsilon(), rel=1e-3)
    curve = [row["epsilon"] for row in data(chart) if row.get("epsilon") is not None]
    assert min(curve) == pytest.approx(profile.epsilon(), rel=0.05)
    assert min(curve) >= profile.epsilon()
    rendered(profile_curve(profile, points=60))


def test_figure_1_has_its_two_curves() -> None:
    rows = data(profile_chart(PROFILES["inclusion"], points=100))
    half = next(row for row in rows if row.get("at") == pytest.approx(0.5))
    assert half["ratio"] == pytest.approx(0.1 / 0.025)
    assert half["epsilon"] == pytest.approx(PROFILES["inclusion"].implied(0.05, 0.5))
    marked = [row for row in rows if "ε = 1.158" in str(row.get("text"))]
    assert marked[0]["at"] == pytest.approx(2 / 3)


def test_another_line_can_be_chosen() -> None:
    chart = profile_chart(PROFILES["box"], along="p", at=0.4, title="along p")
    assert "along p" in rendered(chart)
    assert all(0.2 <= row["at"] <= 0.8 for row in data(chart))
    for along, at in (("x", None), ("p", 0.0), ("p", 1.5), ("p", 0.1)):
        with pytest.raises(ParameterError):
            profile_chart(PROFILES["box"], along=along, at=at)


@pytest.mark.parametrize("name", ["points", "custom", "box", "constant", "both", "vacuous"])
def test_the_map_holds_every_cell(name: str) -> None:
    chart = epsilon_map(PROFILES[name], count=12)
    rendered(chart)
    cells = [row for row in data(chart) if "p2" in row]
    assert len(cells) % 144 == 0
    finite = [row["epsilon"] for row in cells if row["epsilon"] is not None]
    assert all(value >= PROFILES[name].epsilon() for value in finite)


def test_the_map_refuses_a_profile_on_a_line() -> None:
    with pytest.raises(ParameterError):
        epsilon_map(PROFILES["value"])


def test_charts_are_plain_json() -> None:
    json.dumps(profile_chart(PROFILES["value"]).to_dict(), allow_nan=False)
    json.dumps(epsilon_map(PROFILES["vacuous"], count=5).to_dict(), allow_nan=False)
