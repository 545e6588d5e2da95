"""A failure in a few words, as JSON where that was asked for, and its exit code. A traceback only with --debug."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from typing import Any

import typer
from typer.core import TyperGroup

from guessproof import errors
from guessproof.cli.printing import print_json
from guessproof.plain import plain_lines

USAGE = typer.BadParameter.__mro__[2]  # what click calls ClickException, wherever typer keeps it
AFTER_CHARGE = 5
UNEXPECTED = 1


class WholeGroup(TyperGroup):
    """Hands on what stopped a command: typer makes 130 of an interruption and 1 of a closed pipe, charged or not."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, BrokenPipeError) as error:
            raise typer.Abort from error


CODES: dict[type[Exception], int] = {  # the first that fits
    errors.InfeasibleError: 3,
    errors.EditedError: 6,
    errors.LedgerError: 4,
    errors.GuessproofError: 2,
    USAGE: 2,
}


def explain_failure(error: Exception, *, as_json: bool, debug: bool = False) -> int:
    """Say what failed, with `debug` also where that was unexpected; the exit code. What was charged exits with 5."""
    stopped = (error.__cause__ or error.__context__) if isinstance(error, typer.Abort) else None
    charged = bool(getattr(stopped or error, "charged", False))
    code = AFTER_CHARGE if charged else next((c for kind, c in CODES.items() if isinstance(error, kind)), UNEXPECTED)
    if isinstance(stopped, BrokenPipeError):  # nobody reads on, as with `| head`
        _silence()
        return code if charged else 0
    table = _say(error, charged)
    if debug and table["kind"] == "unexpected":
        typer.echo(plain_lines("".join(traceback.format_exception(error))), err=True)
    try:
        if as_json and not getattr(error, "answered", False):
            print_json({"error": table})
        print(end="", flush=True)
    except OSError:  # a full disk: Python would try once more at its end, and exit with 120
        _silence()
    return code


def _say(error: Exception, charged: bool) -> dict[str, Any]:
    """What failed, for people and as a table for programs."""
    if isinstance(error, errors.GuessproofError):
        typer.echo(plain_lines(f"guessproof: {error}"), err=True)
        return error.to_dict()
    if isinstance(error, typer.Abort):
        typer.echo("Stopped.", err=True)
        remedy = "the charge stays; see guessproof ledger show" if charged else "ask again: nothing was charged"
        return _table("stopped", "stopped from outside", remedy, charged)
    if isinstance(error, USAGE):
        said: Any = error
        said.show()
        return _table("usage", said.format_message(), "see --help", charged, field=_option(error))
    kind = type(error).__name__  # a traceback could quote data
    words = f"an unexpected {kind}; its text is not shown, since it might quote data"
    typer.echo(f"guessproof: {words}", err=True)
    remedy = "report the command and the version; with --debug its traceback is shown, to you alone"
    return _table("unexpected", words, remedy, charged)


def _silence() -> None:
    """Let what is still to be written to standard output go nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _option(error: Exception) -> str | None:
    """Which option a usage error is about."""
    param: Any = getattr(error, "param", None)
    return getattr(param, "name", None)


def _table(kind: str, problem: str, remedy: str, charged: bool, field: str | None = None) -> dict[str, Any]:
    return {"kind": kind, "field": field, "line": None, "problem": problem, "remedy": remedy, "charged": charged}
