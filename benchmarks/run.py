"""Measured speed. Machines are noisy: what counts are the ratios within one run.

make bench
python benchmarks/run.py --against REF
"""

from __future__ import annotations

import argparse
import importlib
import platform
import sys
from pathlib import Path

import numpy as np
import scipy
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent))
ROOMS = (
    "core", "curves", "choosing", "several", "profiles", "mechanisms", "release", "growth", "shapes", "scan", "spark",
    "ledger", "soak",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the speed of this version.")
    parser.add_argument("--against", metavar="REF", help="ask another version the same questions in turn")
    reference = parser.parse_args().against
    console = Console()
    console.print(f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}")
    if reference:
        table = Table(title=f"{reference} → this version")
        for name, side in (("question", "left"), ("answers", "left"), ("CPU time", "right")):
            table.add_column(name, justify=side, no_wrap=True)
        for row in importlib.import_module("against").rows(reference):
            table.add_row(*row)
        console.print(table)
        return
    for room in ROOMS:
        table = Table(title=room)
        for name, side in (("work", "left"), ("measured", "right"), ("target", "right")):
            table.add_column(name, justify=side)
        for what, measured, target in importlib.import_module(room).rows():
            table.add_row(what, measured, target)
        console.print(table)


if __name__ == "__main__":
    main()
