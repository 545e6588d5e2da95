"""Every chart of the papers renders."""

from __future__ import annotations

import math

import pytest
import vl_convert

from guessproof.charts import papers as charts
from guessproof.papers import figures


@pytest.mark.parametrize("name", charts.ALL)
def test_every_chart_renders(name: str) -> None:
    svg = vl_convert.vegalite_to_svg(charts.ALL[name]().to_json())
    assert svg.startswith("<svg")
    assert "NaN" not in svg


def test_the_plot_of_the_slides() -> None:
    rows = figures.slides_plot(49)
    worst = {row["advantage"]: row["epsilon"] for row in rows if row["prior"] == "worst-case"}
    for row in rows:
        assert row["epsilon"] >= worst[row["advantage"]] * (1 - 1e-9)
        assert worst[row["advantage"]] == pytest.approx(4 * math.atanh(row["advantage"]), rel=1e-6)


def test_figures_1_and_2_of_laud_and_pankova_tile_what_they_show() -> None:
    corner = figures.lp_figure_1(a=0.25)["boxes"]
    areas = {
        row["place"]: (row["x2"] - row["x"]) * (row["y2"] - row["y"])
        for row in corner
        if row["part"] == "values compared with"
    }
    assert areas["in the middle"] == pytest.approx(areas["in a corner"])
    cross = [
        row for row in figures.lp_figure_2a(r=1, size=4) if row["goal"] == "OR" and row["part"] == "correct guesses"
    ]
    assert sum((r["x2"] - r["x"]) * (r["y2"] - r["y"]) for r in cross) == pytest.approx(64 - 4 * 9)
    blocks = [row for row in figures.lp_figure_2b(r=1, a=3) if row["part"] == "correct guesses"]
    assert sum((r["x2"] - r["x"]) * (r["y2"] - r["y"]) for r in blocks) == pytest.approx(18**2 - 4 * 8**2)


def test_the_agencies_of_figure_1_bind_where_they_are_marked() -> None:
    data = figures.kr_figure_1(300)
    for mark in data["binding"]:
        lowest = min(
            row["epsilon"] for row in data["curves"] if row["agency"] == mark["agency"] and row["epsilon"] is not None
        )
        assert mark["epsilon"] == pytest.approx(lowest, rel=1e-9)
