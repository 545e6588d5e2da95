"""A failure in a few words, as JSON where that was asked for, and its exit code. Never a traceback."""

from __future__ import annotations

from typing import Any

import typer

from guessproof import errors
from guessproof.cli.printing import print_json
from guessproof.plain import plain_lines

USAGE = typer.BadParameter.__mro__[2]  # what click calls ClickException, wherever typer keeps it
CODES: dict[type[Exception], int] = {  # the first that fits
    errors.InfeasibleError: 3,
    errors.EditedError: 6,
    errors.LedgerError: 4,
    errors.GuessproofError: 2,
    USAGE: 2,
}
AFTER_CHARGE = 5
UNEXPECTED = 1


def explain_failure(error: Exception, *, as_json: bool) -> int:
    """Say what failed; the exit code. What was charged exits with 5, whatever it was."""
    if isinstance(error, typer.Abort):
        charged = getattr(error.__cause__ or error.__context__, "charged", False)
        typer.echo("Stopped.", err=True)
        return AFTER_CHARGE if charged else UNEXPECTED
    charged = bool(getattr(error, "charged", False))
    code = AFTER_CHARGE if charged else next((c for kind, c in CODES.items() if isinstance(error, kind)), UNEXPECTED)
    if isinstance(error, errors.GuessproofError):
        typer.echo(plain_lines(f"guessproof: {error}"), err=True)
        table = error.to_dict()
    elif isinstance(error, USAGE):
        said: Any = error
        said.show()
        table = _table("usage", said.format_message(), "see --help", charged, field=_option(error))
    else:  # a traceback could quote data
        kind = type(error).__name__
        words = f"an unexpected {kind}; its text is not shown, since it might quote data"
        typer.echo(f"guessproof: {words}", err=True)
        table = _table("unexpected", words, "report the command and the version", charged)
    if as_json and not getattr(error, "answered", False):
        print_json({"error": table})
    return code


def _option(error: Exception) -> str | None:
    """Which option a usage error is about."""
    param: Any = getattr(error, "param", None)
    return getattr(param, "name", None)


def _table(kind: str, problem: str, remedy: str, charged: bool, field: str | None = None) -> dict[str, Any]:
    return {"kind": kind, "field": field, "line": None, "problem": problem, "remedy": remedy, "charged": charged}
