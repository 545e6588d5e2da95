"""`guessproof audit`. Heavy rooms are imported inside the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from guessproof.cli.printing import AsJson, PlanArgument, command, print_json, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from guessproof.auditing import Audit
    from guessproof.auditing.result import Check
    from guessproof.cli.screen import Screen
    from guessproof.ledger import Ledger
    from guessproof.plan import Plan

MOST_COMPARED = 150  # characters, two lines, of what was stored; all of it with --full
VERDICTS = ("pass", "not computed", "fail")  # from the best to the worst
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
    full: Annotated[bool, typer.Option("--full", help="Every number that was checked, in words.")] = False,
    as_json: AsJson = False,
) -> None:
    """Play the attacker against the real engine and sampler, on made-up tables. The table's values are never read.

    Exits with 7 when more is found than was promised.

    Example: guessproof audit plan.toml --chart audit.svg
    """
    from guessproof.plan import load_plan
    from guessproof.plan.sources import inputs_of

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
    if as_json:
        print_json(found.to_dict())
    else:
        show_full_audit(found) if full else show_audit(found)
    if not found.passed:
        raise typer.Exit(7)
    if not as_json:
        if not full:
            say(f"More: {command('audit', plan, '--full')}")
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
    """One line a check and the verdict; of what failed also the words."""
    from textwrap import shorten

    from guessproof.cli.screen import Screen

    console = Screen()
    kinds = dict.fromkeys(check.kind for check in found.checks)
    checks = [[check for check in found.checks if check.kind == kind] for kind in kinds]
    table = _checks_table(
        (kind if len(same) == 1 else f"{kind} (the worst of {len(same)})", max(same, key=_strain))
        for kind, same in zip(kinds, checks, strict=True)
    )
    console.print("\nWhat an attacker achieved against what was promised")
    console.print(table)
    _show_words(console, found)
    compared = next((check.words.partition("): ")[0] for check in found.checks if check.kind == "storage"), "")
    if found.passed and compared:
        console.print(shorten(f"storage: {compared})", MOST_COMPARED, placeholder=" …"), style="dim")
    _show_verdict(console, found)


def show_full_audit(found: Audit) -> None:
    """Every number that was checked, what was compared, in words, and what was real."""
    from guessproof.cli.screen import Screen

    console = Screen()
    table = _checks_table((check.name, check) for check in found.checks)
    console.print("\nWhat an attacker achieved against what was promised")
    console.print(table)
    meanings = {check.kind: check.meaning for check in found.checks}
    console.print("; ".join(f"{kind}: {meaning}" for kind, meaning in meanings.items()) + ".", style="dim")
    _show_words(console, found, "storage")
    for note in found.notes:
        console.print(note, style="dim")
    _show_verdict(console, found)


def _checks_table(named: Iterable[tuple[str, Check]]) -> Table:
    """A line a check: what it is called may be broken, its numbers and verdict may not."""
    from rich.table import Table

    from guessproof.cli.screen import styled

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("check", overflow="fold")
    for name in ("measured", "between", "promised"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for name, check in named:
        between = "" if check.interval is None else f"{_number(check.interval[0])} … {_number(check.interval[1])}"
        promised = "≈ 0" if check.name == "engine" and check.expected == 0 else _number(check.expected)
        table.add_row(name, _number(check.measured), between, promised, styled(check.verdict, STYLES[check.verdict]))
    return table


def _strain(check: Check) -> tuple[int, float]:
    """How bad a verdict is, and how far from its promise, as a share of what chance alone may do, a number lies."""
    off = 0.0 if check.measured is None or check.expected is None else abs(check.measured - check.expected)
    width = 1.0 if check.interval is None else check.interval[1] - check.interval[0]
    return VERDICTS.index(check.verdict), off / width if width else 0.0


def _show_words(console: Screen, found: Audit, *kinds: str) -> None:
    """What was compared and what came out: of what did not pass, and of these kinds of checks."""
    from guessproof.cli.screen import styled

    for check in found.checks:
        if check.verdict != "pass" or check.kind in kinds:
            console.print(styled(check.name, STYLES[check.verdict]), f": {check.words}", sep="")


def _show_verdict(console: Screen, found: Audit) -> None:
    odds = f"{found.false_alarm:g} at most, over {found.tests} tests"
    console.print(f"{found.trials:,} noises drawn in {found.seconds:.1f} s; chance of a false alarm {odds}.")
    if found.passed:
        console.print("Nothing more was found than was promised.", style="green")
    else:
        console.print("More (or less) was found than was promised: do not release.", style="bold red")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
