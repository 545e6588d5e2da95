"""`guessproof bounds`. Heavy rooms are imported inside the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from guessproof.cli.printing import AsJson, PlanArgument, print_json
from guessproof.rounded import down, margin, percent_near, up

if TYPE_CHECKING:
    from guessproof.releasing.row_bounds import RowsBound


def bounds(
    plan: PlanArgument,
    epsilon: Annotated[float, typer.Option(help="What the counts may cost; charged to the ledger.")],
    share: Annotated[float, typer.Option(help="The share of persons who are to lose nothing.")] = 0.95,
    candidates: Annotated[
        str | None, typer.Option(help="Numbers of rows to choose from, as 1,2,5,10; from public knowledge.")
    ] = None,
    key_file: Annotated[str | None, typer.Option("--key-file", help="The key of a sealed ledger.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds after which the query is stopped.")] = None,
    as_json: AsJson = False,
) -> None:
    """Choose max_rows from the table itself: a step of its own, charged to the ledger and answered with noise.

    Only where persons are protected. Persons are counted by how many of their rows the query reads; the same request
    gives the recorded counts without a new charge.

    Example: guessproof bounds plan.toml --epsilon 0.1
    """
    from contextlib import nullcontext

    from guessproof.cli.screen import Screen
    from guessproof.ledger import read_key
    from guessproof.mechanisms.base import checked_probability
    from guessproof.plan import load_plan
    from guessproof.releasing.row_bounds import CANDIDATES, bound_rows
    from guessproof.releasing.run import after_charge

    rows = CANDIDATES if candidates is None else _read(candidates)
    checked_probability("share", share)  # before anything is charged
    loaded = load_plan(plan)
    with Screen(stderr=True).status("charging, counting persons, adding noise …"):
        found = bound_rows(loaded, epsilon=epsilon, candidates=rows, key=read_key(key_file), timeout=timeout)
    with nullcontext() if found.replayed else after_charge():
        print_json(found.to_dict(share)) if as_json else _show(found, share)


def _read(text: str) -> tuple[int, ...]:
    from guessproof.errors import ParameterError

    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ParameterError("candidates", text, "are not numbers of rows", "write for instance 1,2,5,10") from None


def _show(found: RowsBound, share: float) -> None:
    from rich.table import Table

    from guessproof.cli.screen import Screen
    from guessproof.releasing.row_bounds import describe_bound

    console = Screen()
    if found.replayed:
        console.print("\nThis very request was answered before: the same answer, no new charge.", style="yellow")
    table = Table(title=f"\nPersons by number of rows, each {margin(found.error)} (95%)", title_justify="left")
    for column in ("rows", "persons", "with more rows"):
        table.add_column(column, justify="right")
    for rows, count, more in zip(found.candidates, found.persons, found.beyond(), strict=False):
        table.add_row(f"up to {rows}", str(count), percent_near(more))
    table.add_row("more", str(found.persons[-1]), "")
    console.print(table)
    if min(found.persons) < 0:
        console.print("Counts below 0 are as likely as others where hardly anybody is: the noise goes both ways.")
    console.print(describe_bound(found, share))
    charged = "Charged" if not found.replayed else "Cost"
    console.print(
        f"{charged} ε = {up(found.epsilon)} ({up(found.epsilon_add_remove)} for adding or removing a person); left: "
        f"ε = {down(found.remaining['epsilon'])}."
    )
    console.print(f"Ledger head {found.head}")
