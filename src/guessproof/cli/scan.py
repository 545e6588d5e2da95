"""`guessproof scan`. Heavy rooms are imported inside the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from guessproof.cli.printing import AsJson, PlanArgument, print_json
from guessproof.rounded import near, percent_down, percent_up

if TYPE_CHECKING:
    from guessproof.cli.screen import Screen
    from guessproof.scanning import Scan
    from guessproof.scanning.result import Enclosed


def scan(
    plan: PlanArgument,
    epsilon: Annotated[float | None, typer.Option(help="The ε to scan at; left out: the one the plan chooses.")] = None,
    top: Annotated[int, typer.Option(help="How many of the most exposed values (and rows) are shown.")] = 10,
    by: Annotated[str | None, typer.Option(help="A column whose groups are compared.")] = None,
    identities: Annotated[str | None, typer.Option(help="A column that names the most exposed rows.")] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Also write the result: .json, readable by you alone.")
    ] = None,
    chart: Annotated[
        str | None, typer.Option(help="Also draw the distribution: .svg, .png or .html, readable by you alone.")
    ] = None,
    key_file: Annotated[str | None, typer.Option("--key-file", help="The key of a sealed ledger.")] = None,
    as_json: AsJson = False,
) -> None:
    """INTERNAL: which records are most exposed at an ε. Reads the table without noise; never publish the result.

    The scan is noted in the ledger, and later choices are marked as depending on the data.

    Example: guessproof scan plan.toml
    """
    from guessproof.ledger import read_key
    from guessproof.outputs import check_output, write_output
    from guessproof.plain import json_text
    from guessproof.plan import load_plan
    from guessproof.plan.sources import inputs_of
    from guessproof.scanning import scan as scanned

    loaded = load_plan(plan)
    kept = inputs_of(loaded, key_file=key_file)
    target = None if output is None else check_output("output", output, (".json",), kept)
    picture = None if chart is None else check_output("chart", chart, (".svg", ".png", ".html"), kept)
    with _Bar() as bar:
        found = scanned(
            loaded,
            epsilon=epsilon,
            top=top,
            by=by,
            identities=identities,
            key=read_key(key_file),
            progress=bar.rows,
        )
    if target is not None:
        write_output(target, (json_text(found.to_dict()) + "\n").encode(), private=True)
    if picture is not None:
        from guessproof.charts.scan import drawn

        write_output(picture, drawn(found, picture.suffix.lower()), private=True, field="chart")
    print_json(found.to_dict()) if as_json else show_scan(found)


class _Bar:
    """Rows read so far, on stderr; how many there are is not known beforehand."""

    def __init__(self) -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        from guessproof.cli.screen import Screen

        words = TextColumn("{task.description}", style="progress.description", markup=False)
        rows = TextColumn("{task.completed:,} rows")
        console = Screen(stderr=True)
        self._bar = Progress(SpinnerColumn(), words, rows, TimeElapsedColumn(), console=console, transient=True)
        self._task = self._bar.add_task("scanning", total=None)

    def rows(self, count: int) -> None:
        """Show the number of rows."""
        self._bar.update(self._task, completed=count)

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def show_scan(found: Scan) -> None:
    """The banner, how many were judged, the distribution, the most exposed."""
    from guessproof.cli.screen import Screen, styled

    console = Screen()
    console.print("", styled(f" {found.banner} ", "bold white on red"), "", sep="\n")
    console.print(f"“{found.goal}” at ε = {found.epsilon:.6g}: each record's own advantage, {found.how}.")
    _show_counts(console, found)
    if found.mean is None:
        console.print("No record could be judged.\n")
        return
    _show_limit(console, found)
    _show_distribution(console, found)
    _show_exposed(console, found)
    if found.groups is not None:
        _show_groups(console, found)
    if found.identified is not None:
        _show_identified(console, found)
    console.print(f"{found.banner}\n", style="bold red")


def _show_counts(console: Screen, found: Scan) -> None:
    parts = [f"{found.rows:,} rows, {found.judged:,} judged"]
    for count, words in (
        (found.missing, "without a value"),
        (found.infinite, "with an infinite value"),
        (found.outside, "with a value that the prior says cannot occur"),
    ):
        if count:
            parts.append(f"{count:,} {words}")
    console.print("; ".join(parts) + ".")
    if found.outside:
        console.print("A prior that rules out values of real records is wrong: correct it.", style="yellow")


def _show_limit(console: Screen, found: Scan) -> None:
    from guessproof.cli.screen import styled

    if found.limit is None or found.exceeding is None:
        return
    surely, possibly = found.exceeding
    count = f"{surely:,}" if surely == possibly else f"between {surely:,} and {possibly:,}"
    style = "green" if possibly == 0 else "red"
    console.print(
        f"Records beyond the plan's limit of {found.limit:.2%}: ", styled(count, f"bold {style}"), ".", sep=""
    )


def _show_distribution(console: Screen, found: Scan) -> None:
    table = _table("Advantage", ("records", "left"), ("at least", "right"), ("at most", "right"))
    assert found.mean is not None
    table.add_row("mean", *_ends(found.mean))
    for level, pair in found.quantiles.items():
        words = "the most exposed" if level == 1 else f"{100 * level:g} % have no more than"
        table.add_row(words, *_ends(pair))
    console.print(table)


def _show_exposed(console: Screen, found: Scan) -> None:
    if not found.exposed:
        return
    columns = [(name, "right") for name in found.columns]
    table = _table("Most exposed values", *columns, ("records", "right"), ("at least", "right"), ("at most", "right"))
    for row in found.exposed:
        table.add_row(*(_value(row.values[name]) for name in found.columns), f"{row.count:,}", *_ends(row.advantage))
    console.print(table)


def _show_groups(console: Screen, found: Scan) -> None:
    columns = ((found.by or "", "left"), ("records", "right"), ("mean", "right"), ("95 %", "right"), ("most", "right"))
    table = _table("Groups, advantage at most", *columns)
    for group in found.groups or ():
        ends = [("" if p is None else _ends(p)[1]) for p in (group.mean, group.most_of_them, group.largest)]
        table.add_row(str(group.value), f"{group.rows:,}", *ends)
    console.print(table)


def _show_identified(console: Screen, found: Scan) -> None:
    table = _table("Most exposed rows", ("row", "left"), ("at least", "right"), ("at most", "right"))
    for row in found.identified or ():
        table.add_row(str(row.identity), *_ends(row.advantage))
    console.print(table)


def _table(title: str, *columns: tuple[str, str]) -> Any:
    from rich.table import Table

    table = Table(title=f"\n{title}", title_justify="left")
    for name, side in columns:
        table.add_column(name, justify=side)  # pyright: ignore[reportArgumentType]
    return table


def _ends(pair: Enclosed) -> tuple[str, str]:
    return percent_down(pair[0], 3), percent_up(pair[1], 3)


def _value(value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    ends: list[Any] = [*value]  # pyright: ignore[reportUnknownArgumentType]
    return " … ".join(end if isinstance(end, str) else near(end, 6) for end in ends)
