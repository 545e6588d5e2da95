"""kill -9 at every step of a release: an answer may be lost, never a charge."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from guessproof.ledger import Ledger
from releasing.tables import budget, table

STEPS = {
    "before the charge": ("guessproof.ledger.ledger.Ledger.charge", "before", 0),
    "after the charge": ("guessproof.ledger.ledger.Ledger.charge", "after", 1),
    "after the run": ("guessproof.engines.duckdb.DuckDB.aggregates", "after", 1),
    "before the record": ("guessproof.ledger.ledger.Ledger.record", "before", 1),
    "after the record": ("guessproof.ledger.ledger.Ledger.record", "after", 1),
}
SCRIPT = """
import os, signal, sys
from importlib import import_module
from pathlib import Path
sys.path.insert(0, {tests!r})
from releasing.tables import plan
from guessproof.releasing import release
target, when = {target!r}, {when!r}
if target:
    module, kind, name = target.rsplit(".", 2)
    owner = getattr(import_module(module), kind)
    real = getattr(owner, name)
    def dying(*given, **named):
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        real(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(owner, name, dying)
answer = release(plan(Path({folder!r}), "SELECT COUNT(*) AS y FROM t", epsilon=0.5))
print(answer.value, answer.replayed)
"""


def _run(folder: Path, target: str, when: str) -> subprocess.CompletedProcess[str]:
    tests = str(Path(__file__).parents[1])
    script = SCRIPT.format(tests=tests, target=target, when=when, folder=str(folder))
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("step", STEPS)
def test_a_charge_is_never_lost(tmp_path: Path, step: str) -> None:
    target, when, charges = STEPS[step]
    table(tmp_path)
    budget(tmp_path, "10")
    died = _run(tmp_path, target, when)
    assert died.returncode == -9, died.stderr
    assert died.stdout == ""
    left = Ledger(tmp_path / "guessproof.ledger").remaining("test").epsilon
    assert abs(Decimal(10) - left - charges * Decimal("0.5")) < Decimal("1e-9")
    if step == "after the record":
        again = _run(tmp_path, "", "")
        assert again.stdout.endswith("True\n")
