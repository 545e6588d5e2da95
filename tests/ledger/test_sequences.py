"""Drawn sequences of all that a ledger can be asked, on a file and on a server, against a slow and obvious oracle."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from guessproof.errors import BudgetError, LedgerError
from guessproof.ledger import Budget, Charged, Cost, Failed, Ledger, Recorded, verify
from guessproof.ledger import session as sessions
from ledger.making import DESCRIBE, GUARANTEE, Clock, placed

PATIENCE = 60
STEPS = 70
NAMES = ("cats", "dogs")


@dataclass
class Paid:
    """One charge, as the oracle remembers it."""

    name: str
    request: str
    cost: Fraction
    time: datetime
    became: str = "open"
    answer: Any = None


@dataclass
class Oracle:
    """Everything that was ever charged, in a list that is read from its start each time."""

    budgets: dict[str, Fraction] = field(default_factory=dict[str, Fraction])
    paid: list[Paid] = field(default_factory=list[Paid])
    scanned: set[str] = field(default_factory=set[str])

    def left(self, name: str) -> Fraction:
        return self.budgets[name] - sum((p.cost for p in self.paid if p.name == name), Fraction(0))

    def expected(self, name: str, request: str, cost: Fraction, now: datetime) -> tuple[str, Any]:
        same = [p for p in self.paid if (p.name, p.request) == (name, request)]
        for paid in same:
            if paid.became == "answered":
                return "recorded", paid.answer
        if any(paid.became == "final" for paid in same):
            return "failed", None
        if any(p.became == "open" and abs(now - p.time) < timedelta(seconds=PATIENCE) for p in same):
            return "in work", None
        return ("charged", None) if cost <= self.left(name) else ("refused", None)


def _asked(ledger: Ledger, name: str, request: str, cost: str) -> tuple[str, Any, Charged | None]:
    try:
        found = ledger.charge(name, request, Cost(cost), GUARANTEE, DESCRIBE)
    except BudgetError:
        return "refused", None, None
    except LedgerError as error:
        return "in work" if "being answered" in str(error) else str(error), None, None
    if isinstance(found, Recorded):
        return "recorded", found.answer, None
    return ("failed", None, None) if isinstance(found, Failed) else ("charged", None, found)


def _settled(ledger: Ledger, charged: Charged, paid: Paid, how: str, draw: int) -> None:
    def settle() -> None:
        ledger.record(charged, {"draw": draw}) if how == "answered" else ledger.failed(charged, final=how == "final")

    if paid.became != "open":
        with pytest.raises(LedgerError, match="settled already"):
            settle()
        return
    settle()
    paid.became, paid.answer = how, {"draw": draw} if how == "answered" else None


def test_any_sequence_does_what_the_oracle_says(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_sequence(home, 0, monkeypatch)  # further ones are in tests/deep


def check_sequence(home: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ledgers at one place do what the oracle says."""
    monkeypatch.setattr(sessions, "CHECKPOINT_EVERY", 4)
    drawn, clock, oracle = random.Random(seed), Clock(), Oracle()
    path = placed(home)
    for name in NAMES:
        Ledger.create(path, name, Budget("2"), clock=clock)
        oracle.budgets[name] = Fraction(2)
    ledgers = [Ledger(path, clock=clock, patience=PATIENCE) for _ in range(2)]  # two processes, as it were
    charged: list[tuple[Charged, Paid]] = []
    kinds: set[str] = set()
    for step in range(STEPS):
        ledger = drawn.choice(ledgers)
        name = drawn.choice(NAMES)
        match drawn.choice(["charge"] * 5 + ["settle"] * 4 + ["move", "amend", "note", "reopen"]):
            case "charge":
                request, cost = f"{drawn.randrange(12)}", drawn.choice(["0.1", "0.25", "0.05"])
                expected = oracle.expected(name, request, Fraction(cost), clock())
                how, answer, new = _asked(ledger, name, request, cost)
                assert (how, answer) == expected
                kinds.add(how)
                if new is not None:
                    oracle.paid.append(Paid(name, request, Fraction(cost), clock()))
                    charged.append((new, oracle.paid[-1]))
            case "settle" if charged:
                how = drawn.choice(["answered"] * 3 + ["failed", "final"])
                _settled(ledger, *drawn.choice(charged), how, step)
            case "move":
                clock.move(drawn.choice([1, 30, 61]))
            case "amend":
                ledger.amend(name, budget=Budget(str(float(oracle.budgets[name]) + 0.5)))
                oracle.budgets[name] += Fraction(1, 2)
            case "note":
                is_scan = drawn.random() < 0.3
                ledger.note(name, "a remark", scan=is_scan)
                oracle.scanned |= {name} if is_scan else set()
            case _:
                ledgers[0] = Ledger(path, clock=clock, patience=PATIENCE)
        assert Fraction(ledger.remaining(name).epsilon) == oracle.left(name)
        assert ledger.scanned(name) == (name in oracle.scanned)
    words = {"open": "no answer", "answered": "answered", "failed": "failed", "final": "failed"}
    for name in NAMES:
        told = [(c.request, c.outcome, c.answer) for c in ledgers[0].account(name).charges.values()]
        assert told == [(p.request, words[p.became], p.answer) for p in oracle.paid if p.name == name]
    assert verify(path, ledgers[0].head).ok
    assert sum(entry.kind == "checkpoint" for entry in ledgers[0].entries()) >= 5
    assert {"charged", "recorded", "in work"} <= kinds
