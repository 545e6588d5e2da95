"""The contract as the page on engines prints it."""

from __future__ import annotations

from guessproof.testing.contract import CHECKS
from guessproof.testing.gaps import GAPS

ENGINES = ("csv", "parquet", "duckdb", "frame", "postgres", "spark")


def write_table() -> str:
    """Every check with the engines that pass it, and a line for each that cannot."""
    lines = ["| check | what every engine does | all but |", "|---|---|---|"]
    for check in CHECKS:
        missing = ", ".join(engine for engine in ENGINES if check.name in GAPS.get(engine, {}))
        lines.append(f"| `{check.name}` | {check.says} | {missing} |")
    lines += ["", "What an engine cannot do, and why:", "", "| engine | check | reason |", "|---|---|---|"]
    lines += [
        f"| {engine} | `{check}` | {reason} |" for engine in ENGINES for check, reason in GAPS.get(engine, {}).items()
    ]
    return "\n".join(lines) + "\n"
