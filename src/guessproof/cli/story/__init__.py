"""The cafeteria story from end to end: choose, release, audit, report.

After Laud and Pankova's slides: a cafeteria publishes the average eating time of its mathematics students. Somebody
who knows all the other times would like to know Alice's, to within two minutes.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from rich.rule import Rule

from guessproof.cli.printing import command
from guessproof.cli.screen import Screen, styled
from guessproof.errors import ParameterError
from guessproof.outputs import write_output

if TYPE_CHECKING:
    from guessproof.plan import Plan

BUDGET = "5.0"
OURS = ("plan.toml", "cafeteria.csv", "guessproof.ledger", "report.html", "audit.svg")


def main(folder: str = "output") -> None:
    """Tell the story, and leave plan, table, ledger, chart and report behind."""
    from guessproof.plan import load_plan

    console = Screen()
    place = Path(folder) / "cafeteria"
    _lay_out(place)
    console.print("", styled("How long did Alice eat?", "bold"), sep="\n")
    console.print(
        "A cafeteria wants to publish the average eating time of its mathematics students. Somebody who knows everyone "
        "else's time wants Alice's, to within 2 minutes. What he believes beforehand is public: mean 20 minutes, "
        "standard deviation 6.28. He may become right 5 times in 100 more often than before, not more; and the average "
        f"should be right to within a minute and a half. All this stands in {place / 'plan.toml'}.\n"
    )
    plan = load_plan(place / "plan.toml")
    console.print(Rule("1. choose: how much noise? (the table is not opened)", align="left"))
    _choose(console, plan)
    console.print(Rule("2. release: charge, run, record, show", align="left"))
    _release(console, plan)
    console.print(Rule("3. audit: attack our own answer, on made-up tables", align="left"))
    _audit(plan, place)
    console.print(Rule("4. report: one page for the board", align="left"))
    _report(console, plan, place)


def _lay_out(place: Path) -> None:
    """A fresh folder for the story; only files of the story itself are replaced."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name in OURS:
            (place / name).unlink(missing_ok=True)
    except OSError as error:
        problem = f"cannot be written ({error.strerror or 'no reason is known'})"
        raise ParameterError("folder", str(place), problem, "name a folder that you may write to") from None
    for name in ("plan.toml", "cafeteria.csv"):
        write_output(place / name, files(__name__).joinpath(name).read_bytes())


def _choose(console: Screen, plan: Plan) -> None:
    from guessproof.choosing import choose
    from guessproof.cli.choice import show_choice

    with console.status("weighing limits and targets …"):
        choice = choose(plan)
    show_choice(choice)


def _release(console: Screen, plan: Plan) -> None:
    from guessproof.cli.releasing import show_answer
    from guessproof.ledger import Budget, Ledger
    from guessproof.releasing import release

    Ledger.create(plan.ledger_path, plan.data.name, Budget(BUDGET))
    console.print(f"The owner opens a budget once: guessproof ledger open {plan.data.name} --budget {BUDGET}")
    with console.status("charging, asking, adding noise …"):
        answer = release(plan)
    show_answer(answer, plan)


def _audit(plan: Plan, place: Path) -> None:
    from guessproof.charts.audit import save
    from guessproof.cli.audit import audited_with_progress, show_audit

    found = audited_with_progress(plan, trials=40_000, seconds=12.0, seed=1)
    save(found, str(place / "audit.svg"))
    show_audit(found)


def _report(console: Screen, plan: Plan, place: Path) -> None:
    from guessproof.reporting import report as reported

    with console.status("writing the report …"):
        reported(plan, place / "report.html")
    console.print(f"The report is in {place / 'report.html'}; the chart of the audit beside it.")
    plan_file = str(place / "plan.toml")
    console.print(f"Next, drag the limits and see what they cost: {command('serve', plan_file)}")
    console.print(f"Or ask what the ε means beside published ones: {command('explain', plan_file)}\n")
