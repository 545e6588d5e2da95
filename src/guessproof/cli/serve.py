"""`guessproof serve`. Heavy rooms are imported inside the command."""

from __future__ import annotations

from typing import Annotated

import typer

from guessproof.cli.printing import say


def serve(
    plan: Annotated[str | None, typer.Argument(help="A plan to begin with; left out: an empty page.")] = None,
    port: Annotated[int | None, typer.Option(help="Where it listens; left out: 8733, or any that is free.")] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Open no browser; print the address only.")] = False,
    host: Annotated[
        str, typer.Option(help="Another address than 127.0.0.1 lets other machines in, with a token.")
    ] = "127.0.0.1",
) -> None:
    """The whole job in a local page that updates while you drag: risk, ε, accuracy, release, audit, report.

    It touches files of the plan's folder only (of this folder, without a plan). Uploads are deleted at the end.

    Example: guessproof serve plan.toml
    """
    from guessproof.web.serving import Wanted
    from guessproof.web.serving import serve as served

    served(Wanted(plan, port, host, not no_open), say)
