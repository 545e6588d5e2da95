"""The commands. Heavy rooms are imported inside them, so that --help answers at once."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from guessproof.cli.audit import audit
from guessproof.cli.bounds import bounds
from guessproof.cli.check import check
from guessproof.cli.choosing import choose, explain
from guessproof.cli.doctor import doctor
from guessproof.cli.init import init
from guessproof.cli.ledger import ledger_app
from guessproof.cli.printing import AsJson
from guessproof.cli.refusing import WholeGroup, explain_failure
from guessproof.cli.releasing import release
from guessproof.cli.report import report
from guessproof.cli.scan import scan
from guessproof.cli.serve import serve

app = typer.Typer(
    name="guessproof",
    cls=WholeGroup,
    help="Choose the ε of differential privacy from what people can judge; release, account, attack and report.",
    epilog="Exit codes: 0 done, 1 something unexpected, 2 a value that cannot be meant, 3 no ε keeps the limits, "
    "4 the ledger refuses, 5 something failed after the charge, 6 the ledger was edited, "
    "7 the audit found more than promised.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (init, check, choose, explain, bounds, release, audit, scan, report, serve, doctor):
    app.command()(command)
app.add_typer(ledger_app)


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
) -> None: ...


@app.command()
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


@app.command()
def demo(folder: Annotated[str, typer.Option(help="Where everything is written.")] = "output") -> None:
    """The cafeteria story from end to end: choose, release, audit, report.

    Example: guessproof demo
    """
    from guessproof.cli.story import main as story

    story(folder)


def main() -> None:
    """Run, with every refusal in a few words and never a traceback; under --json also as JSON."""
    try:
        code = app(standalone_mode=False)
    except Exception as error:
        sys.exit(explain_failure(error, as_json="--json" in sys.argv))
    sys.exit(code if isinstance(code, int) else 0)
