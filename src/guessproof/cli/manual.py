"""The page of all commands, made from their own help: `python -m guessproof.cli.manual > docs/commands.md`."""

from __future__ import annotations

from typing import Any

import typer

HEAD = """# Commands

Every command answers `--help`, and prints JSON with `--json` ([what it holds](json.md)). This page is made from the
help texts; a test keeps it current.

| exit code | means |
|---|---|
| 0 | done |
| 1 | something unexpected; its text is not shown, since it might quote data. Or stopped from outside, as by Ctrl+C |
| 2 | a value, plan, query or table that cannot be meant |
| 3 | no ε keeps the limits |
| 4 | the ledger refuses: no budget, nothing left, not opened |
| 5 | something failed after the charge, whatever it was |
| 6 | the ledger was edited |
| 7 | the audit found more than promised |

Under `--json` a refusal is JSON as well, on standard output:
`{"error": {"kind", "field", "line", "problem", "remedy", "charged"}}`.
[What can fail](failures.md) lists every failure with its code and words.

Shell completion: `guessproof --install-completion`.
"""


def manual() -> str:
    """Markdown: one section per command, in the order of the list."""
    from guessproof.cli.app import app

    root: Any = typer.main.get_command(app)
    parts = [HEAD, _section("guessproof", root)]
    for name, command in root.commands.items():
        parts.append(_section(f"guessproof {name}", command))
        for inner, child in getattr(command, "commands", {}).items():
            parts.append(_section(f"guessproof {name} {inner}", child))
    return "\n".join(parts)


def _section(path: str, command: Any) -> str:
    context = command.context_class(command, info_name=path, terminal_width=100, max_content_width=100)
    return f"## {path}\n\n```text\n{command.get_help(context).strip()}\n```\n"


if __name__ == "__main__":
    print(manual(), end="")
