"""`guessproof audit`. Heavy rooms are imported inside the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from guessproof.cli.printing import AsJson, PlanArgument, command, print_json, say

if TYPE_CHECKING:
    from guessproof.auditing import Audit
    from guessproof.ledger import Ledger
    from guessproof.plan import Plan

MEANINGS = {
    "engine": "largest difference from plain arithmetic, which may come from rounding alone",
    "movement": "what one record moved, as a share of the guarantee",
    "guesser": "how often the best guess was right",
    "two tables": "how often two neighbours were told apart",
    "ratios": "ln of the likelihood ratio of two neighbours",
    "noise": "share of the draws where they fit their law least",
    "independence": "how often two noises agree",
    "advantage": "largest rise of a belief",
    "belief": "largest belief",
    "storage": "what one record moved, however it is stored, as a share of each form of the guarantee",
    "together": "what two releases tell, as a share of what the ledger adds up",
    "many rows": "difference between very many rows and as many times one",
    "exact advantage": "largest rise of a belief over all outputs",
    "exact belief": "largest belief over all outputs",
    "ledger": "ε charged",
}
STYLES = {"pass": "green", "fail": "bold red", "not computed": "dim"}


def audit(
    plan: PlanArgument,
    trials: Annotated[int, typer.Option(help="How many noises are drawn for each measurement.")] = 100_000,
    seconds: Annotated[float, typer.Option(help="Drawing stops after this time, whatever was drawn.")] = 30.0,
    seed: Annotated[
        int | None, typer.Option(help="Makes the same tables and victims again; noise is never seeded.")
    ] = None,
    chart: Annotated[str | None, typer.Option(help="Also draw the calibration plot: .svg, .png or .html.")] = None,
    note: Annotated[
        bool, typer.Option("--note", help="Write the verdict into the ledger; the report shows it with its date.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Play the attacker against the real engine and sampler, on made-up tables. The table's values are never read.

    Exits with 7 when more is found than was promised.

    Example: guessproof audit plan.toml --chart audit.svg
    """
    from guessproof.plan import load_plan
    from guessproof.plan.plan import inputs_of

    loaded = load_plan(plan)
    if chart is not None:
        from guessproof.charts.audit import check_chart

        check_chart(chart, inputs_of(loaded))
    book = _book(loaded) if note else None  # before anything is drawn
    found = audited_with_progress(loaded, trials, seconds, seed)
    if book is not None:
        from guessproof.plan.identity import request_of

        book.note(loaded.data.name, found.note(request_of(loaded)))
    if chart is not None:
        from guessproof.charts.audit import save

        save(found, chart, kept=inputs_of(loaded))
    print_json(found.to_dict()) if as_json else show_audit(found)
    if not found.passed:
        raise typer.Exit(7)
    if not as_json:
        say(f"Next: {command('report', plan, '-o', 'report.html')}")


def _book(plan: Plan) -> Ledger:
    """The plan's ledger, with a budget for its data."""
    from guessproof.ledger import Ledger, read_key

    book = Ledger(plan.ledger_path, read_key(None))
    book.account(plan.data.name)
    return book


def audited_with_progress(loaded: Plan, trials: int, seconds: float, seed: int | None) -> Audit:
    """The audit, with a bar on standard error."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from guessproof.auditing import audit as audited
    from guessproof.cli.screen import Screen

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Screen(stderr=True), transient=True) as bar:
        task = bar.add_task("choosing ε", total=1.0)

        def progress(share: float, words: str) -> None:
            bar.update(task, completed=share, description=words)

        return audited(loaded, trials=trials, seconds=seconds, seed=seed, progress=progress)


def show_audit(found: Audit) -> None:
    """One line a check; what went wrong, in words; what was real."""
    from rich.table import Table

    from guessproof.cli.screen import Screen, styled

    console = Screen()
    table = Table(title="\nWhat an attacker achieved against what was promised", title_justify="left")
    table.add_column("check", overflow="fold")
    for name in ("measured", "between", "promised"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for check in found.checks:
        between = "" if check.interval is None else f"{_number(check.interval[0])} … {_number(check.interval[1])}"
        verdict = styled(check.verdict, STYLES[check.verdict])
        promised = "≈ 0" if check.name == "engine" and check.expected == 0 else _number(check.expected)
        table.add_row(check.name, _number(check.measured), between, promised, verdict)
    console.print(table)
    kinds = dict.fromkeys(check.name.split(",")[0] for check in found.checks)
    console.print("; ".join(f"{kind}: {MEANINGS[kind]}" for kind in kinds) + ".", style="dim")
    for check in found.checks:
        if check.verdict != "pass":
            console.print(styled(check.name, STYLES[check.verdict]), f": {check.words}", sep="")
    odds = f"{found.false_alarm:g} at most, over {found.tests} tests"
    console.print(f"{found.trials:,} noises drawn in {found.seconds:.1f} s; chance of a false alarm {odds}.")
    for note in found.notes:
        console.print(note, style="dim")
    if found.passed:
        console.print("Nothing more was found than was promised.\n", style="green")
    else:
        console.print("More (or less) was found than was promised: do not release.\n", style="bold red")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
