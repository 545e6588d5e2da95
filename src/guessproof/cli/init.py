"""`guessproof init`: a first plan. Heavy rooms are imported inside the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from guessproof.cli.printing import command, print_json, say

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from guessproof.starting import Wishes
    from guessproof.starting.origin import Table


def init(
    table: Annotated[
        str | None,
        typer.Argument(help="The table, as survey.csv or env:NAME: only its column names are read, never a value."),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="spark: Spark reads the table; without a file it is one of its catalogue.")
    ] = None,
    remote: Annotated[
        str | None, typer.Option(help="With --engine spark: env:NAME of the variable that holds a server's address.")
    ] = None,
    called: Annotated[
        str | None, typer.Option("--table", help="Which table of a database or catalogue; without it they are listed.")
    ] = None,
    template: Annotated[
        str | None,
        typer.Option(help="average, count, survey, location, membership, covid-count or covid-survey."),
    ] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="The column that is asked about; twice for a location.")
    ] = None,
    person: Annotated[
        str | None, typer.Option(help="Where a person may have several rows: the column that says whose a row is.")
    ] = None,
    attacker: Annotated[
        str | None,
        typer.Option(help="knows everyone else, stranger with public statistics, or knows you took part."),
    ] = None,
    preset: Annotated[str, typer.Option(help="How much may be learnt: cautious, middle or open.")] = "middle",
    prior: Annotated[
        str | None, typer.Option(help="What an attacker believes: half between 10 and 30, or: no idea.")
    ] = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask one question at a time, and write the plan from the answers.")
    ] = False,
    output: Annotated[str, typer.Option("--output", "-o", help="Where the plan is written.")] = "plan.toml",
    force: Annotated[bool, typer.Option("--force", help="Replace a plan that is there already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """A first plan with questions to fill in. Only the names and types of a table's columns are read.

    Example: guessproof init cafeteria.csv --column time --prior "half between 10 and 30"

    Example: guessproof init visits.csv --column days --person patient_id

    Example: guessproof init cafeteria.csv --ask

    Example: guessproof init --engine spark --remote env:SPARK_REMOTE --table clinic.visits --column days
    """
    import sys
    from pathlib import Path

    from guessproof.plan.refusals import find_blanks
    from guessproof.starting import Wishes, find_table, first_plan, lacks_names, pick_table, read_schema, write_plan

    path, found = Path(output), find_table(table, engine, remote)
    name = "t" if found is None else pick_table(found, called)
    schema = None if found is None else read_schema(found, table=name)
    wishes = Wishes(template, tuple(column or ()), attacker, preset, prior, person)
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    if ask or (on_terminal and wishes == Wishes() and lacks_names(wishes, found, schema)):
        text = _conversation(wishes, as_json, found, schema, path, name, force)
    else:
        text = first_plan(wishes, table=found, schema=schema, plan=path, called=name)
    write_plan(path, text, force=force, table=found)
    blanks = find_blanks(text)
    if as_json:
        rows = [{"line": line, "key": key, "question": question} for line, key, question in blanks]
        print_json({"plan": str(path), "blanks": rows})
        return
    say(f"Wrote {path}.")
    if found is not None and not (ask or wishes.columns):
        _say_columns(text)
    if blanks:
        say("Fill in, from public knowledge and never from the table:")
    for line, key, question in blanks:
        say(f"  line {line}: {key}: {question}")
    say(f"Then: {command('check', str(path))}")


def _say_columns(text: str) -> None:
    """Which columns were picked from the table's schema, so that none is picked silently."""
    import tomllib

    from guessproof.plan.checks import UNNAMED

    picked = [name for name in tomllib.loads(text)["columns"] if name not in UNNAMED]
    if picked:
        option = " ".join("--column NAME" for _ in picked)
        say(f"It asks about {' and '.join(picked)}; for another column add {option} --force.")


def _conversation(
    wishes: Wishes,
    as_json: bool,
    table: Table | None,
    schema: Mapping[str, str] | None,
    path: Path,
    called: str,
    force: bool,
) -> str:
    from guessproof.cli.asking import ask_for_plan
    from guessproof.starting import Wishes as Usual
    from guessproof.starting import check_plan_path

    if wishes != Usual() or as_json:
        raise typer.BadParameter("--ask asks for all of this itself; leave the other options out")
    check_plan_path(path, force=force, table=table)  # before anybody answers in vain
    return ask_for_plan(table, schema, path, called)
