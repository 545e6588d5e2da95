"""`guessproof papers`. Heavy rooms are imported inside the command."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from guessproof.cli.printing import AsJson


def papers(
    name: Annotated[str | None, typer.Option("--id", help="One result in full, as lp-thm1.")] = None,
    figures: Annotated[
        str | None, typer.Option("--figures", help="Draw the works' figures into this folder (SVG and PNG) and stop.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Every result of the works guessproof stands on, recomputed: what it says, what is true.

    Example: guessproof papers --id lp-6.2
    """
    from guessproof.cli.screen import Screen

    if figures is not None:
        from guessproof.charts.papers import save

        with Screen(stderr=True).status("drawing …"):
            files = [str(path) for path in save(figures)]
        typer.echo(json.dumps({"figures": files}, indent=2, ensure_ascii=False) if as_json else "\n".join(files))
        return

    from guessproof.papers.render import show

    with Screen(stderr=True).status("recomputing every published result …"):
        show(name=name, as_text=not as_json)
