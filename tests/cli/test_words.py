"""What commands say to people who begin: what is missing, and what to write."""

from __future__ import annotations

from pathlib import Path

import commands
import pytest

import guessproof as gp
from guessproof.auditing import Audit, Check
from guessproof.cli.audit import show_audit
from guessproof.cli.printing import percent
from guessproof.ledger import Budget, Ledger
from guessproof.risk import Bracket
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
    done = commands.run("choose", str(path), "--full", COLUMNS="300")
    return done.returncode, " ".join(done.output.replace("│", " ").split())


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
    return " ".join(commands.run(*words, COLUMNS="300").output.replace("│", " ").split())


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
    assert "The most exposed true value is rent + loan = 784.5 (prior 0.11)." in said
    assert "Laplace noise on the sum of each of rent, loan, scale" in said
    assert "{" not in said


def test_a_minus_without_spaces_is_told_from_a_name() -> None:
    for words in (["--goal", "rent-loan within 50"], ["--goal", "rent within 9", "--knows", "rent-loan: 1,2"]):
        refusal = commands.run(*SEVERAL, *words)
        assert refusal.returncode == 2
        assert "for a difference put spaces around it: rent - loan" in refusal.stderr


def test_a_range_completes_what_is_partly_known() -> None:
    """Without one nothing above ε = 0 is safe, and ε = 0 is no answer."""
    words = ("choose", "--prior", "partly_known(5, 0.5)", "--goal", "within 2", "--advantage", "0.05")
    assert "ε per unit of distance" in said_by(*words, "--bounds", "0,120")
    refused = commands.run(*words)
    assert refused.returncode == 3
    assert "give the prior a range" in " ".join(refused.output.split())


def test_large_factors_are_written_out() -> None:
    assert "by more than 1,447,000,000,000." in said_by("explain", "--epsilon", "28")
    assert "by more than e^700." in said_by("explain", "--epsilon", "700")


def test_an_explanation_names_the_epsilon_of_the_choice(tmp_path: Path) -> None:
    """Where what is left of the budget decides, both say so."""
    path = tmp_path / "plan.toml"
    path.write_text(CAFETERIA.partition("[accuracy]")[0], encoding="utf-8")
    Ledger.create(tmp_path / "guessproof.ledger", "cafeteria", Budget("0.123"))
    chosen = commands.run("choose", str(path), "--json")
    explained = commands.run("explain", str(path), "--json")
    assert '"epsilon": 0.123,' in chosen.stdout
    assert '"epsilon": 0.123,' in explained.stdout


def test_an_engine_may_round(capsys: pytest.CaptureFixture[str]) -> None:
    """A difference of a part in 10¹¹ passes against a promise of 0: nobody has to guess why."""
    checks = (Check("engine", 1.454e-11, None, 0.0, "pass", ""), Check("many rows", 0.0, None, 0.0, "pass", ""))
    show_audit(Audit(True, checks, 0.001, 0, 0, 0.0, 1, 1.0, (), ()))
    rows = [line.split() for line in capsys.readouterr().out.replace("│", " ").splitlines()]
    assert ["engine", "1.454e-11", "≈", "0", "pass"] in rows
    assert ["many", "rows", "0", "0", "pass"] in rows


@pytest.mark.parametrize(
    ("attack", "bound", "words"),
    [
        (0.00651, 0.00653, "0.66 % (proven; best attack found 0.65 %)"),
        (0.00655, 0.00659, "0.66 % (proven; best attack found 0.65 %)"),
        (0.0000312, 0.0000318, "0.0032 % (proven; best attack found 0.0031 %)"),
        (1e-9, 0.2, "20.00 % (proven; best attack found 0.00 %)"),
    ],
)
def test_an_attack_is_never_said_to_exceed_its_bound(attack: float, bound: float, words: str) -> None:
    assert percent(Bracket(attack, bound, "proven")) == words


def test_no_number_is_cut_off_beside_a_long_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x,y,speed\n" + "3,4,10\n" * 40)
    ends = "".join(f"[columns.{name}]\nbounds = [0, 100]\n" for name in "xy") + "[columns.speed]\nbounds = [10, 40]\n"
    asked = "SELECT MIN((POINT(x, y) <@> (0, 0)) / speed) FROM t"
    text = f'[data]\nname = "ships"\nsource = "t.csv"\nprotects = "records"\n[query]\nsql = "{asked}"\n{ends}'
    (tmp_path / "plan.toml").write_text(f"{text}[release]\nepsilon = 0.1\n")
    Ledger.create(tmp_path / "guessproof.ledger", "ships", Budget("1"))
    (row,) = gp.release(gp.load_plan("plan.toml")).answers
    shown = commands.run("release", "plan.toml", COLUMNS="80").output
    assert row.error is not None
    assert f"± {row.error:.4g}" in shown
    assert "…" not in shown.replace(" … ", "")
    assert max(map(len, shown.splitlines())) <= 81


def test_a_refused_number_is_shown_as_people_type_it() -> None:
    assert "(got 1e300)" in commands.run("explain", "--epsilon", "1e300").output
    assert "ε = 1e16 " in commands.run("explain", "--epsilon", "1e16").output
