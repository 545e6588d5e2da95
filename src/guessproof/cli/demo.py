"""`guessproof demo`. Heavy rooms are imported inside the command."""

from __future__ import annotations

from typing import Annotated

import typer


def demo(folder: Annotated[str, typer.Option(help="Where everything is written.")] = "output") -> None:
    """The cafeteria story from end to end: choose, release, audit, report.

    Example: guessproof demo
    """
    from guessproof.cli.story import main as story

    story(folder)
