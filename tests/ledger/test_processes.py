"""Real processes: killed at every step, and racing for the same budget, the same request, the same file."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from depth import cases

from guessproof.ledger import Budget, Cost, Ledger, Recorded, verify
from ledger.making import opened, placed

WORKER = str(Path(__file__).with_name("worker.py"))


def started(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, WORKER, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    return out


def raced(path: Path, jobs: list[tuple[object, ...]]) -> list[str]:
    """Start all, let them go at once, and collect what they say."""
    processes = [started(*job) for job in jobs]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
    Path(f"{path}.start").touch()
    return [finished(process) for process in processes]


def draws(path: Path) -> int:
    marks = Path(f"{path}.drawn")
    return marks.stat().st_size if marks.exists() else 0


@pytest.mark.parametrize(
    ("point", "charges", "drawn", "answered"),
    [
        ("before the charge is written", 0, 0, False),
        ("after the charge", 1, 0, False),
        ("after the run", 1, 1, False),
        ("before the answer is written", 1, 1, False),
        ("after the answer", 1, 1, True),
    ],
)
def test_killed_at_each_step_an_answer_may_be_lost_but_never_a_charge(
    home: Path, point: str, charges: int, drawn: int, answered: bool
) -> None:
    ledger = opened(home)
    path = ledger.path
    process = started("release", path, "question", point)
    assert process.communicate(timeout=240) == ("", "")
    assert process.returncode == -signal.SIGKILL
    assert verify(path, ledger.head).ok
    account = Ledger(path).account("cafeteria")
    assert len(account.charges) == charges
    assert account.epsilon == charges * Decimal("0.1")
    assert draws(path) == drawn <= charges
    assert (account.answered("question") is not None) == answered

    finished(started("release", path, "question", "never")) if not answered else None
    again = Ledger(path).charge("cafeteria", "question", Cost("0.1"), {"slope": 0.1}, {})
    assert isinstance(again, Recorded)
    paid = charges + (0 if answered else 1)  # what was lost is paid again before it is drawn again
    assert len(Ledger(path).account("cafeteria").charges) == paid
    assert draws(path) <= paid
    assert verify(path).ok


def test_killed_at_any_moment_whatever_was_told_is_on_disk(home: Path) -> None:
    ledger = opened(home, "1000000")
    moments = random.Random(20300101)
    told = least = 0
    for _ in range(cases(6)):
        wanted = moments.randint(2, 12)  # lines, not seconds: a busy machine tells as much as an idle one
        with started("loop", ledger.path) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(wanted)]
            time.sleep(moments.uniform(0, 0.005))
            process.kill()
            lines += process.stdout.readlines()
        entries = {(entry.kind, entry.digest) for entry in Ledger(ledger.path).entries()}
        charges = Ledger(ledger.path).account("cafeteria").charges
        for line in lines:
            if line.endswith("\n"):
                kind, seq, head = line.split()
                assert (kind.replace("charged", "charge").replace("recorded", "answer"), head) in entries
                assert int(seq) in charges
                told += 1
        least += wanted
        assert verify(ledger.path).ok
    assert told >= least > 24
    leftovers = {path.name for path in Path(ledger.path).parent.iterdir()} - {"test.ledger", "test.ledger-journal"}
    assert not leftovers


def test_what_was_half_written_is_taken_back(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    head, size = ledger.head, ledger.path.stat().st_size
    process = started("spill", ledger.path)
    assert process.communicate(timeout=240) == ("", "")
    assert process.returncode == -signal.SIGKILL
    assert ledger.path.stat().st_size > size + 1_000_000  # it was on its way
    assert Path(f"{ledger.path}-journal").stat().st_size > 0
    assert verify(ledger.path, head).head == head
    assert ledger.path.stat().st_size == size
    assert ledger.head == head


def test_exactly_as_many_win_as_the_budget_allows(home: Path) -> None:
    ledger = opened(home)
    path = ledger.path
    lines = "".join(raced(path, [("race", path, f"worker{n}", 4) for n in range(6)])).split()
    assert Counter(lines) == {"won": 10, "refused": 14}
    assert draws(path) == 10
    assert ledger.remaining("cafeteria").epsilon == 0
    assert verify(path).ok


def test_the_same_request_is_drawn_once_and_all_get_its_answer(home: Path) -> None:
    ledger = opened(home)
    path = ledger.path
    words = [said.split() for said in raced(path, [("same", path, "question") for _ in range(6)])]
    assert sum(said[0] == "drew" for said in words) == 1
    assert len({said[-1] for said in words}) == 1
    assert draws(path) == 1
    assert ledger.remaining("cafeteria").epsilon == Decimal("0.9")


def test_many_open_one_new_file_at_once(home: Path) -> None:
    path = placed(home)
    names = ["cats", "dogs", "birds", "cats", "cats"]
    words = raced(path, [("open", path, name) for name in names])
    assert Counter(words) == {"opened\n": 3, "refused\n": 2}
    assert sorted(Ledger(path).accounts()) == ["birds", "cats", "dogs"]
    assert verify(path).ok
    assert Ledger(path).account("cats").budget == Budget("1.0")
