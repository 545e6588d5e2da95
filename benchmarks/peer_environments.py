"""Environments for peers that do not live with our versions: made once in a temporary folder, and found there again.

    python benchmarks/peer_environments.py [opendp smartnoise qrlew tumult]

prints their Pythons with ":" between them, as GUESSPROOF_PEERS wants them; what is installed, and what cannot be, is
said meanwhile. An installation that was stopped goes on where it was.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

NEEDED = {
    "opendp": ("opendp[polars]==0.16.0", "polars==1.36.*", "pyarrow"),  # it speaks to this Polars and no other
    "smartnoise": ("smartnoise-sql", "pyarrow"),
    "qrlew": ("pyqrlew", "duckdb", "pandas", "sqlalchemy", "pyarrow"),
    "tumult": ("tmlt.analytics", "pyarrow"),  # brings a Spark of its own
}


def python_of(name: str) -> Path | None:
    """The Python of a peer's own environment; None, with a word to standard error, where it cannot be made."""
    folder = Path(tempfile.gettempdir()) / f"guessproof-peer-{name}"
    python = folder / "bin" / "python"
    if (folder / "ready").exists():
        return python
    print(f"{name}: installing in {folder} …", file=sys.stderr, flush=True)
    if not (folder / "bin" / "pip").exists():
        venv.create(folder, with_pip=True, clear=True)
    command = [str(python), "-m", "pip", "install", "--quiet", *NEEDED[name]]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip failed"]
        print(f"{name}: {said[-1]}", file=sys.stderr)
        return None
    (folder / "ready").touch()
    return python


if __name__ == "__main__":
    wanted = sys.argv[1:] or list(NEEDED)
    print(os.pathsep.join(str(python) for python in map(python_of, wanted) if python is not None))
