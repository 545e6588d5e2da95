"""What commands say to people who begin: what is missing, and what to write."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from guessproof.cli.app import app

PLAN = """
[data]
name = "visits"
source = "visits.csv"
protects = "persons"
person = "patient"
max_rows = 3
[query]
sql = "SELECT AVG(days) AS mean_days FROM t"
[columns.days]
bounds = [0, 60]
[risk]
constant = 3
"""


def told(folder: Path, text: str) -> tuple[int, str]:
    """What `choose` says of a plan, without the frames of its tables."""
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    done = CliRunner(env={"COLUMNS": "300"}).invoke(app, ["choose", str(path)])
    return done.exit_code, " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("change", "code", "words", "not_said"),
    [
        (("", ""), 0, "mean_days: 95% of answers within depends on the answer; with a public rows_at_least", "± "),
        (("max_rows = 3", "max_rows = 3\nrows_at_least = 5000"), 0, "mean_days: 95% of answers within ± ", "depends"),
        (("constant = 3", "constant = 1"), 3, "Allow more: under [risk] a ratio above 1", "would still do"),
    ],
)
def test_what_is_missing_is_said_with_what_to_write(
    tmp_path: Path, change: tuple[str, str], code: int, words: str, not_said: str
) -> None:
    found, said = told(tmp_path, PLAN.replace(*change))
    assert found == code, said
    assert words in said
    assert not_said not in said
