"""What commands say to people who begin: what is missing, and what to write."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import guessproof as gp
from guessproof.auditing import Audit, Check
from guessproof.cli.app import app
from guessproof.cli.audit import show_audit
from guessproof.rounded import down

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


SEVERAL = ("choose", "--prior", "rent: normal(700, 200)", "--prior", "loan: normal(300, 150)", "--advantage", "0.1")
CAFETERIA = """
[data]
name = "cafeteria"
source = "cafeteria.csv"
protects = "values"
rows = 120
[query]
sql = "SELECT AVG(time) AS mean_time FROM t WHERE faculty = 'math'"
[columns.time]
bounds = [0, 120]
prior = { normal = { mean = 20, sd = 6.28 } }
[attacker]
goal = "time within 2"
advantage = 0.05
at = { time = 20 }
[accuracy]
within = 1.5
"""


def said_by(*words: str) -> str:
    """What a command says, without frames and line ends."""
    return " ".join(CliRunner(env={"COLUMNS": "300"}).invoke(app, list(words)).output.replace("│", " ").split())


def test_other_priors_stand_beside_every_recommendation(tmp_path: Path) -> None:
    _, said = told(tmp_path, CAFETERIA)
    choice = gp.choose(gp.load_plan(tmp_path / "plan.toml"))
    assert f"largest ε if the prior were 25 % narrower {down(choice.narrower_prior_epsilon)}" in said
    assert f"largest ε if it were 25 % wider {down(choice.wider_prior_epsilon)}" in said
    said = said_by("choose", "--prior", "normal(20, 6.28)", "--goal", "within 2", "--at", "20", "--advantage", "0.05")
    time = gp.Attribute("x", prior=gp.normal(20, 6.28 * 0.75))
    narrower = gp.Attack(gp.within(time, 2), at={"x": 20}).epsilon(advantage=0.05)
    assert f"largest ε if the prior were 25 % narrower {down(narrower)}" in said


def test_one_plan_has_one_epsilon(tmp_path: Path) -> None:
    """Rounded once: what choose recommends is what explain explains, and limits are told on their safe side."""
    _, said = told(tmp_path, CAFETERIA)
    explained = said_by("explain", str(tmp_path / "plan.toml"))
    choice = gp.choose(gp.load_plan(tmp_path / "plan.toml"))
    assert float(f"{choice.epsilon:g}") < choice.epsilon <= float(choice.shown_epsilon)  # they would differ
    assert f"ε = {choice.shown_epsilon}: the least that meets the accuracy" in said
    assert f"ε = {choice.shown_epsilon} for this plan" in explained
    assert f"At ε = {choice.shown_epsilon} no output" in explained
    assert f"accuracy: ε at least {choice.shown_epsilon}" in explained
    assert "At ε = 1.23456789 no output" in said_by("explain", "--epsilon", "1.23456789")


def test_a_formula_without_a_plan_is_told_in_words() -> None:
    said = said_by(*SEVERAL, "--goal", "rent + loan within 50")
    assert "The most exposed true value is rent + loan = 1,216 (prior 0.11)." in said
    assert "Laplace noise on the sum of each of rent, loan, scale" in said
    assert "{" not in said


def test_a_minus_without_spaces_is_told_from_a_name() -> None:
    for words in (["--goal", "rent-loan within 50"], ["--goal", "rent within 9", "--knows", "rent-loan: 1,2"]):
        refusal = CliRunner().invoke(app, [*SEVERAL, *words]).exception
        assert "for a difference put spaces around it: rent - loan" in str(refusal)


def test_an_engine_may_round(capsys: pytest.CaptureFixture[str]) -> None:
    """A difference of a part in 10¹¹ passes against a promise of 0: nobody has to guess why."""
    checks = (Check("engine", 1.454e-11, None, 0.0, "pass", ""), Check("many rows", 0.0, None, 0.0, "pass", ""))
    show_audit(Audit(True, checks, 0.001, 0, 0, 0.0, 1, 1.0, (), ()))
    rows = [line.split() for line in capsys.readouterr().out.replace("│", " ").splitlines()]
    assert ["engine", "1.454e-11", "≈", "0", "pass"] in rows
    assert ["many", "rows", "0", "0", "pass"] in rows
