"""The charts draw what the mechanisms compute, and render without a browser."""

from __future__ import annotations

import json
import math

import pytest
import vl_convert

from guessproof.charts.mechanisms import error_curves, feasible_interval, noise_density
from guessproof.mechanisms.cauchy import Cauchy
from guessproof.mechanisms.gaussian import Gaussian
from guessproof.mechanisms.geometric import Geometric
from guessproof.mechanisms.laplace import Laplace


@pytest.mark.parametrize(
    "mechanism", [Laplace(1, 0.5), Geometric(1, 0.5), Gaussian(1, 0.5, 1e-6), Cauchy(1, 0.5, gamma=3)], ids=repr
)
def test_noise_density_names_its_band(mechanism):
    chart = noise_density(mechanism, confidence=0.9, unit="minutes")
    assert f"±{mechanism.error(confidence=0.9):.3g} minutes" in chart.to_dict()["title"]["subtitle"]
    assert vl_convert.vegalite_to_svg(chart.to_json()).startswith("<svg")


def rows_of(chart: dict) -> list[dict]:
    """The data of the curves; equal data of several layers are written once, at the top."""
    return (chart.get("data") or chart["layer"][0]["data"])["values"]


def test_error_curves_hold_the_errors():
    chart = error_curves(within=5, points=7).to_dict()
    first = next(row for row in rows_of(chart) if row["noise"] == "Laplace")
    assert first["error"] == pytest.approx(Laplace(1, 0.05).error(confidence=0.95))
    assert "wanted: within 5" in json.dumps(chart)
    half = error_curves(sensitivity=0.5, points=7).to_dict()
    assert all("geometric" not in row["noise"] for row in rows_of(half))


@pytest.mark.parametrize(
    ("accuracy", "risk", "words"),
    [(0.2, 0.9, "will do"), (1.9, 0.5, "no ε fits: 3.8 ×"), (0.5, 0.5, "will do"), (0.3, math.inf, "will do")],
)
def test_feasible_interval_says_whether_it_fits(accuracy, risk, words):
    chart = feasible_interval(accuracy=accuracy, risk=risk, chosen=min(risk, 0.9))
    assert words in chart.to_dict()["title"]["subtitle"]
    assert vl_convert.vegalite_to_svg(chart.to_json()).startswith("<svg")
