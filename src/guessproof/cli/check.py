"""`guessproof check`. Heavy rooms are imported inside the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from guessproof.cli.printing import AsJson, PlanArgument, command, print_json, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guessproof.checking import Concern

Strict = Annotated[bool, typer.Option("--strict", help="Take warnings for errors: exit with 2.")]


def check(plan: PlanArgument, strict: Strict = False, as_json: AsJson = False) -> None:
    """Modelling mistakes, before anything is spent. Of the table, nothing but its column names is read.

    Example: guessproof check plan.toml
    """
    from guessproof.checking import check as checked
    from guessproof.plan import load_plan

    found = checked(load_plan(plan))
    if as_json:
        print_json({"ok": not found, "warnings": [concern.to_dict() for concern in found]})
    elif found:
        show_concerns(found, plan)
    else:
        say(f"{plan}: nothing to mend. Next: {command('choose', plan)}")
    refuse_strictly(found, strict)


def show_concerns(found: Sequence[Concern], plan: str, *, err: bool = False) -> None:
    """One line each."""
    for concern in found:
        say(f"warning: {plan}, {concern}", err=err)


def refuse_strictly(found: Sequence[Concern], strict: bool) -> None:
    """What is only a warning otherwise."""
    if strict and found:
        raise typer.Exit(2)
