"""Measured speed. Machines are noisy: what counts are the ratios within one run.

make bench
"""

from __future__ import annotations

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
    console = Console()
    console.print(f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}")
    for room in ROOMS:
        table = Table(title=room)
        for name, side in (("work", "left"), ("measured", "right"), ("target", "right")):
            table.add_column(name, justify=side)
        for what, measured, target in importlib.import_module(room).rows():
            table.add_row(what, measured, target)
        console.print(table)


if __name__ == "__main__":
    main()
