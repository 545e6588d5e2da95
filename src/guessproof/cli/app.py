"""The program: its commands, and every failure in a few words."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from guessproof.cli.commands import DEBUG, CommandGroup
from guessproof.cli.refusing import explain_failure

app = typer.Typer(
    name="guessproof",
    cls=CommandGroup,
    help="Choose the ε of differential privacy from what people can judge; release, account, attack and report.",
    epilog="Exit codes: 0 done, 1 something unexpected, 2 a value that cannot be meant, 3 no ε keeps the limits, "
    "4 the ledger refuses, 5 something failed after the charge, 6 the ledger was edited, "
    "7 the audit found more than promised.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from guessproof import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _version(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_print_version)
    ] = False,
    debug: Annotated[
        bool,
        typer.Option(DEBUG, help="With any command: show where it failed unexpectedly. This may quote data."),
    ] = False,
) -> None: ...


def main() -> None:
    """Run, with every refusal in a few words and no traceback but with --debug; under --json also as JSON."""
    try:
        code = app(standalone_mode=False)
    except Exception as error:
        sys.exit(explain_failure(error, as_json="--json" in sys.argv, debug=DEBUG in sys.argv))
    sys.exit(code if isinstance(code, int) else 0)
