"""Which commands there are. A command's file is read when it is asked for, or when all are listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer

from guessproof.cli.refusing import WholeGroup

# In the order of --help: where each command is written, a function or a group of them.
HOMES = {
    "init": "init.init",
    "check": "check.check",
    "choose": "choosing.choose",
    "explain": "choosing.explain",
    "bounds": "bounds.bounds",
    "release": "releasing.release",
    "audit": "audit.audit",
    "scan": "scan.scan",
    "report": "report.report",
    "serve": "serve.serve",
    "doctor": "doctor.doctor",
    "papers": "papers.papers",
    "demo": "demo.demo",
    "ledger": "ledger.ledger_app",
}


DEBUG = "--debug"


class Commands(Mapping[str, Any]):
    """Every command by its name, made when it is first asked for: making all of them takes longer than most do."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _command(name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in HOMES

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)


def _command(name: str) -> Any:
    """The command that typer makes of a function, or of a group of them."""
    file, _, called = HOMES[name].partition(".")
    found = getattr(import_module(f"guessproof.cli.{file}"), called)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        alone.command(name)(found)
        found = alone
    return typer.main.get_command(found)


class CommandGroup(WholeGroup):
    """All commands, none of them read before it is needed."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = Commands()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments without --debug, which may stand anywhere: `main` looks for it."""
        return super().parse_args(ctx, [word for word in args if word != DEBUG])
