"""A plan about dates: its pages and tables speak of dates and days, never of the numbers behind them."""

from __future__ import annotations

import re
from pathlib import Path

import commands

from guessproof.charts.plan import inline
from guessproof.charts.truths import Truths, by_truth

PLAN = (Path(__file__).parents[1] / "plan" / "good" / "dates.toml").read_text(encoding="utf-8")


def said(folder: Path, *arguments: str) -> str:
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    found = commands.run(arguments[0], str(folder / "plan.toml"), *arguments[1:], COLUMNS="200")
    assert found.returncode == 0, found.output
    return found.output


def test_errors_of_times_are_in_days(tmp_path: Path) -> None:
    assert re.search(r"middle: 95% of answers within.*± [0-9.]+ days", said(tmp_path, "choose", "--full"))
    assert re.search(r"older: 95% of answers within *│ ± [0-9.]+ *│", said(tmp_path, "choose", "--full"))
    assert re.search(r"middle: answers usually within.*± [0-9.]+ days", said(tmp_path, "explain", "--epsilon", "1"))


def test_the_axis_of_true_values_shows_dates() -> None:
    drawn = by_truth(
        Truths("born", (3000.0, 3789.0, 4000.0), (0.1, 0.2, 0.1), (0.2, 0.3, 0.2), is_time=True), None, 600
    )
    labels = re.findall(r">(\d{4}-\d{2}-\d{2})</text>", inline(drawn, "born", "dates"))
    assert len(labels) >= 3
