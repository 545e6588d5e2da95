"""The commands as a user types them: text, JSON, refusals and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import run

import guessproof as gp
from guessproof.cli.commands import HOMES, Commands

ROOT = Path(__file__).parents[2]
CHOOSE = ("choose", "--prior", "normal(20, 6.28)", "--goal", "within 2")


def asked(*words: str) -> dict[str, Any]:
    done = run(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_choose_gives_the_library_s_own_number() -> None:
    time = gp.Attribute("time", prior=gp.normal(20, 6.28))
    answer = asked(*CHOOSE, "--at", "20", "--advantage", "0.05", "--bounds", "0,120")
    assert answer["feasible"] is True
    assert answer["epsilon"] == gp.Attack(gp.within(time, 2), at={"time": 20}).epsilon(advantage=0.05)
    assert answer["noise_scale"] == pytest.approx(1 / answer["epsilon"])
    assert answer["prior_free_epsilon"] == pytest.approx(4 * 0.0500417292784913 / 120, rel=1e-9)  # artanh(0.05)
    assert answer["narrower_prior_epsilon"] > answer["epsilon"] > answer["wider_prior_epsilon"]
    assert answer["advantage"]["bound"] <= 0.05
    assert answer["belief"]["attack"] == pytest.approx(answer["belief"]["bound"], rel=1e-5)


def test_choose_without_a_true_value_finds_the_worst() -> None:
    answer = asked(*CHOOSE, "--advantage", "0.05")
    assert answer["epsilon"] < asked(*CHOOSE, "--at", "20", "--advantage", "0.05")["epsilon"]
    assert answer["advantage"]["worst_at"] is not None


def test_choose_reads_categories_and_knowledge() -> None:
    words = ("choose", "--prior", "categorical({'math': 0.5, 'cs': 0.3, 'law': 0.2})", "--goal", "exactly")
    plain = asked(*words, "--at", "cs", "--advantage", "0.1")
    knowing = asked(*words, "--at", "cs", "--advantage", "0.1", "--knows", "math,cs")
    assert plain["prior"] == pytest.approx(0.3)
    assert knowing["prior"] == pytest.approx(0.375)


def test_a_limit_that_cannot_be_kept_exits_with_3() -> None:
    done = run(*CHOOSE, "--at", "20", "--posterior", "0.1", "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["feasible"] is False


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("choose", "--prior", "norml(20, 6)", "--goal", "within 2", "--advantage", "0.1"), "did you mean normal"),
        (("choose", "--prior", "normal(20)", "--goal", "within 2", "--advantage", "0.1"), "write normal(mean, sd)"),
        (("choose", "--prior", "__import__('os')", "--goal", "within 2", "--advantage", "0.1"), "not a prior"),
        (("choose", "--prior", "normal(20, 6", "--goal", "within 2", "--advantage", "0.1"), "not understood"),
        ((*CHOOSE[:4], "near 2", "--advantage", "0.1"), "within"),
        ((*CHOOSE[:4], "within two", "--advantage", "0.1"), "how near? give a number"),
        ((*CHOOSE[:4], "within 2 or inside 30 40", "--advantage", "0.1"), "one wish about x alone"),
        ((*CHOOSE[:4], "time within 2", "--advantage", "0.1"), "one wish about x alone"),
        ((*CHOOSE, "--advantage", "2"), "between 0 and 1"),
        (CHOOSE, "no limit"),
        ((*CHOOSE, "--at", "noon", "--advantage", "0.1"), "not a number"),
        ((*CHOOSE, "--bounds", "0", "--advantage", "0.1"), "pair"),
        (("explain", "--epsilon", "-1"), "positive"),
        (("explain", "--epsilon", "nan"), "finite"),
    ],
)
def test_refusals_are_one_line_and_never_a_traceback(words: tuple[str, ...], hint: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert hint in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_module_is_the_same_program() -> None:
    """As a process of its own: what is printed, and the exit code of a refusal."""
    words = ("explain", "--epsilon", "1", "--json")
    for more in ((), ("--epsilon", "-1")):
        command = [sys.executable, "-m", "guessproof", *words, *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == run(*words, *more)


def test_explain_tells_odds_and_deployments() -> None:
    answer = asked("explain", "--epsilon", "1")
    assert answer["odds_factor"] == pytest.approx(2.718281828459045)
    row = next(r for r in answer["rows"] if r["prior"] == 0.25)
    world = gp.FiniteWorld(prior=[0.25, 0.75], distance=[[0, 1], [1, 0]])
    assert row["highest"] == pytest.approx(world.posterior(goal=[1, 0], epsilon=1.0).bound)
    assert row["lowest"] == pytest.approx(world.posterior(goal=[1, 0], epsilon=1.0, side="lower").bound)
    assert all(d["source"] for d in answer["deployments"])


def test_papers_gives_one_verdict_or_all() -> None:
    one = json.loads(run("papers", "--id", "lp-thm1", "--json").stdout)
    assert [v["verdict"] for v in one] == ["unsound"]
    assert "unsound" in run("papers", "--id", "lp-thm1").stdout
    done = run("papers", "--id", "lp-thm99")
    assert done.returncode == 2
    assert "lp-thm1" in done.stderr
    assert "Traceback" not in done.stderr


def test_figures_are_not_drawn_over_a_file(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("kept", encoding="utf-8")
    done = run("papers", "--figures", str(taken))
    assert done.returncode == 2
    assert "figures" in done.stderr
    assert taken.read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize("command", ["choose", "explain", "papers", "demo"])
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = run(command, "--help")
    assert done.returncode == 0
    assert command == "demo" or f"guessproof {command}" in " ".join(done.stdout.split())


def test_help_loads_no_mathematics() -> None:
    code = "import sys; from guessproof.cli import app; print([m for m in ('numpy', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_command_reads_neither_other_commands_nor_what_only_a_release_needs() -> None:
    """The cats need no SciPy, no engine, and no command but their own."""
    code = (
        "import sys; sys.argv = ['guessproof', 'choose', 'examples/cats/plan.toml', '--json']\n"
        "from guessproof.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "rooms = ('scipy', 'duckdb', 'guessproof.engines', 'guessproof.sql.targets', 'guessproof.releasing')\n"
        "commands = [f'guessproof.cli.{name}' for name in ('audit', 'init', 'ledger', 'releasing', 'report', 'scan')]\n"
        "print([m for m in (*rooms, *commands) if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stderr.strip().endswith("[]")


def test_every_command_is_listed_once_and_made_when_it_is_asked_for() -> None:
    made = Commands()
    assert list(made) == list(HOMES)
    assert all(made[name].name == name for name in made)
    assert made["choose"] is made["choose"]
    assert "no-such-command" not in made
    assert made.get("no-such-command") is None


SEVERAL = ("choose", "--prior", "rent: normal(700, 200)", "--prior", "loan: normal(300, 150)")


def test_choose_calculates_a_formula_of_several_attributes() -> None:
    words = (*SEVERAL, "--goal", "rent + loan within 50", "--advantage", "0.05")
    assert 0.999 * 0.00168046 <= asked(*words)["epsilon"] <= 0.00168047  # one normal number, sd 250; the private side
    stated = asked(*words, "--at", "rent=700,loan=300")["epsilon"]
    assert 0.999 * 0.00175191 <= stated <= 0.00175191 * (1 + 1e-5)  # found by search, on the private side
    assert f"{stated:.6g}" in run(*words, "--at", "rent=700,loan=300").stdout
    known = ("--goal", "rent within 50", "--at", "rent=650", "--knows", "rent + loan: 900,1000")
    assert asked(*SEVERAL, *known, "--advantage", "0.1")["prior"] == pytest.approx(0.316063, abs=1e-5)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (("--at", "700"), "does not say whose value it is"),
        (("--knows", "900,1000"), "does not say what is known"),
        (("--prior", "normal(0, 1)"), "does not say whose prior it is"),
    ],
)
def test_choose_of_several_attributes_says_what_is_missing(more: tuple[str, ...], problem: str) -> None:
    failed = run(*SEVERAL, "--goal", "rent + loan within 50", *more, "--advantage", "0.05")
    assert failed.returncode != 0
    assert problem in " ".join((failed.stdout + failed.stderr).split())
