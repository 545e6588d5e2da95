"""Charge, run, record, show: what the ledger promises to its callers."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from guessproof.errors import BudgetError, LedgerError, ParameterError
from guessproof.ledger import Budget, Charged, Cost, Ledger, Recorded, Tally, verify
from ledger.making import DESCRIBE, GUARANTEE, KEY, Clock, copied, edit, filled, opened, pay


def test_charge_record_and_the_same_request_again(home: Path) -> None:
    ledger = opened(home)
    charged = pay(ledger, "one")
    assert charged.remaining.epsilon == Decimal("0.9")
    head = ledger.record(charged, {"value": 19.75})
    again = ledger.charge("cafeteria", "one", Cost("0.1"), GUARANTEE, DESCRIBE)
    assert isinstance(again, Recorded)
    assert (again.answer, again.head, again.seq) == ({"value": 19.75}, head, charged.seq)
    assert ledger.remaining("cafeteria").epsilon == Decimal("0.9")
    assert [entry.kind for entry in ledger.entries()] == ["open", "charge", "answer"]
    assert head == ledger.head == verify(ledger.path).head


def test_a_spent_budget_still_gives_recorded_answers(home: Path) -> None:
    ledger = opened(home)
    ledger.record(pay(ledger, "all", "1.0"), {"value": 1})
    assert ledger.remaining("cafeteria").epsilon == 0
    assert isinstance(ledger.charge("cafeteria", "all", Cost("1.0"), GUARANTEE, DESCRIBE), Recorded)
    with pytest.raises(BudgetError, match="0 of the budget of"):
        pay(ledger, "more", "1e-9")


def test_ten_tenths_fill_a_budget_of_one(home: Path) -> None:
    """As typed they fit exactly; as floats, each a little above a tenth, the tenth does not fit, and it says why."""
    ledger = opened(home)
    Ledger.create(ledger.path, "floats", Budget("1.0"))
    Ledger.create(ledger.path, "quotients", Budget("1.0"))
    for number in range(10):
        pay(ledger, f"{number}", "0.1")
        pay(ledger, f"{number}", Fraction(1) / Fraction(10.0), name="quotients")
    assert ledger.remaining("cafeteria").epsilon == 0 == ledger.remaining("quotients").epsilon
    for number in range(9):
        pay(ledger, f"{number}", 0.1, name="floats")
    with pytest.raises(BudgetError, match="A float costs its exact value"):
        pay(ledger, "9", 0.1, name="floats")


def test_a_refused_release_writes_nothing(home: Path) -> None:
    ledger = opened(home)
    pay(ledger, "one", "0.8")
    before = ledger.head
    with pytest.raises(
        BudgetError, match=r"costs ε = 0\.3, and 0\.2 of the budget of 1\.0 is left; nothing was charged$"
    ):
        pay(ledger, "two", "0.3")
    with pytest.raises(BudgetError, match=r"δ = 0\.000001"):
        ledger.charge("cafeteria", "two", Cost("0.1", "1e-6"), GUARANTEE, DESCRIBE)
    with pytest.raises(ParameterError, match="guarantee"):
        ledger.charge("cafeteria", "two", Cost("0.1"), {"cap": float("inf")}, DESCRIBE)
    with pytest.raises(ParameterError, match="request"):
        ledger.charge("cafeteria", "", Cost("0.1"), GUARANTEE, DESCRIBE)
    with pytest.raises(LedgerError):
        ledger.charge("cafeteria", "two", Cost("0.1"), [], DESCRIBE)  # type: ignore[arg-type]
    assert ledger.head == before


def test_a_failed_release_keeps_its_charge_and_speaks_in_constant_words(home: Path) -> None:
    ledger = opened(home)
    ledger.failed(pay(ledger, "one"))
    assert ledger.remaining("cafeteria").epsilon == Decimal("0.9")
    assert ledger.entries()[-1].content["note"] == "the engine failed after the charge; the charge stays"
    pay(ledger, "one")  # asked again at once: charged again
    assert ledger.remaining("cafeteria").epsilon == Decimal("0.8")


def test_a_charge_without_an_answer_is_in_work_and_then_charged_again(home: Path) -> None:
    clock = Clock()
    ledger = opened(home, clock=clock, patience=60)
    first = pay(ledger, "one")
    for seconds in (0, 59):
        clock.move(seconds)
        with pytest.raises(LedgerError, match="being answered"):
            pay(ledger, "one")
    assert ledger.remaining("cafeteria").epsilon == Decimal("0.9")
    clock.move(1)
    second = pay(ledger, "one")  # never redrawn free
    assert ledger.remaining("cafeteria").epsilon == Decimal("0.8")
    ledger.record(second, {"draw": 2})
    ledger.record(first, {"draw": 1})  # it was paid for, and came late
    again = ledger.charge("cafeteria", "one", Cost("0.1"), GUARANTEE, DESCRIBE)
    assert isinstance(again, Recorded)
    assert again.answer == {"draw": 1}  # the first charge that has an answer; both are public
    assert again.remaining.epsilon == Decimal("0.8")


def test_a_clock_set_back_does_not_block_for_ever(home: Path) -> None:
    clock = Clock()
    ledger = opened(home, clock=clock)
    pay(ledger, "one")
    clock.move(-3600)
    pay(ledger, "one")


def test_an_answer_is_recorded_once(home: Path) -> None:
    ledger = opened(home)
    charged = pay(ledger, "one")
    ledger.record(charged, {"value": 1})
    for again in (lambda: ledger.record(charged, {"value": 2}), lambda: ledger.failed(charged)):
        with pytest.raises(LedgerError, match="settled already"):
            again()
    other = Charged("cafeteria", charged.seq, "0" * 64, charged.cost, charged.remaining)
    with pytest.raises(LedgerError, match="no charge"):
        ledger.record(other, {"value": 2})


def test_the_judge_sees_every_guarantee_of_the_name_inside_the_transaction(home: Path) -> None:
    ledger = opened(home, Budget("1.0", advantage="0.2"))
    Ledger.create(ledger.path, "cats", Budget("1.0"))
    pay(ledger, "other", name="cats")
    seen: list[list[dict[str, Any]]] = []

    def judge(given: list[Tally]) -> float:
        guarantees = [tally.guarantee for tally in given for _ in range(tally.times)]
        seen.append([dict(g) for g in guarantees])
        with pytest.raises(LedgerError, match="another release is using the ledger"):
            Ledger.create(ledger.path, "meanwhile", Budget("1.0"), timeout=0.01)
        value = 0.08 * len(guarantees)
        for guarantee in guarantees:
            guarantee.clear()  # what the judge does to its copies changes nothing
        return value

    for number in (1, 2):
        ledger.charge("cafeteria", f"{number}", Cost("0.1"), {"slope": number}, DESCRIBE, judge)
    with pytest.raises(BudgetError, match=r"could reach 0\.24, and the budget allows 0\.2 \(0\.16 is used"):
        ledger.charge("cafeteria", "3", Cost("0.1"), {"slope": 3}, DESCRIBE, judge)
    assert seen == [[{"slope": 1}], [{"slope": 1}, {"slope": 2}], [{"slope": 1}, {"slope": 2}, {"slope": 3}]]
    assert ledger.remaining("cafeteria").advantage == Decimal("0.04")
    with pytest.raises(LedgerError, match="no attacker"):
        pay(ledger, "4")
    assert [c.guarantee for c in ledger.account("cafeteria").charges.values()] == [{"slope": 1}, {"slope": 2}]


def test_an_advantage_at_its_limit_is_allowed_as_it_prints(home: Path) -> None:
    ledger = opened(home, Budget("1.0", advantage="0.05"))
    ledger.charge("cafeteria", "1", Cost("0.1"), GUARANTEE, DESCRIBE, lambda _: 0.05)
    with pytest.raises(BudgetError):
        ledger.charge("cafeteria", "2", Cost("0.1"), GUARANTEE, DESCRIBE, lambda _: 0.05000000000000001)


@pytest.mark.parametrize("value", [float("nan"), -0.1, 1.5, None])
def test_a_judge_that_cannot_judge_or_fails_charges_nothing(home: Path, value: Any) -> None:
    ledger = opened(home, Budget("1.0", advantage="0.5"))
    before = ledger.head
    with pytest.raises(ParameterError, match="judge"):
        ledger.charge("cafeteria", "1", Cost("0.1"), GUARANTEE, DESCRIBE, lambda _: value)
    with pytest.raises(ZeroDivisionError):
        ledger.charge("cafeteria", "1", Cost("0.1"), GUARANTEE, DESCRIBE, lambda _: 1 / 0)
    assert ledger.head == before


def test_a_name_is_opened_once_and_no_other_name_looks_like_it(home: Path) -> None:
    ledger = opened(home)
    for name in ("cafeteria", "Cafeteria"):
        with pytest.raises(LedgerError, match=r"already open, with a budget of ε = 1\.0"):
            Ledger.create(ledger.path, name, Budget("99"))
    for name in ("", " cats", "a\nb", "\x1b[2J", "x" * 101, "cafe\u0301", 5):
        with pytest.raises(ParameterError, match="name"):
            Ledger.create(ledger.path, name, Budget("1"))  # type: ignore[arg-type]
    assert list(ledger.accounts()) == ["cafeteria"]
    assert [m for m in dir(Ledger) if "budget" in m or "raise" in m] == []


def test_missing_ledgers_and_names_say_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"guessproof ledger open NAME --budget 1\.0 --ledger .*none\.ledger"):
        Ledger(tmp_path / "none.ledger")
    assert not (tmp_path / "none.ledger").exists()
    (tmp_path / "empty.ledger").touch()
    with pytest.raises(LedgerError, match="there is no ledger here"):
        Ledger(tmp_path / "empty.ledger")
    with pytest.raises(LedgerError, match=r"\(open: cafeteria\).*ledger open cats"):
        opened(tmp_path).remaining("cats")
    with pytest.raises(LedgerError, match="cannot be made here"):
        Ledger.create(tmp_path / "no" / "folder.ledger", "cats", Budget(1))


def test_files_that_are_no_ledgers_are_left_alone(tmp_path: Path) -> None:
    text, other = tmp_path / "text", tmp_path / "other.db"
    text.write_text("a file of somebody else, longer than a header of SQLite " * 20)
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE entries (seq INTEGER)")
    connection.close()
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(LedgerError, match="not a"):
            Ledger(path)
        with pytest.raises(LedgerError, match="not a"):
            Ledger.create(path, "cats", Budget(1))
        assert path.read_bytes() == before


def test_the_file_is_for_its_owner_only_and_synced_to_disk(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        ledger = opened(tmp_path)
    finally:
        os.umask(old)
    assert ledger.path.stat().st_mode & 0o777 == 0o600
    with ledger._store.writing() as page:
        connection = page._connection
        assert connection.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert connection.in_transaction
    assert sorted(path.name for path in tmp_path.iterdir()) == ["test.ledger"]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE entries SET time = 'x' WHERE seq = 2",
        "UPDATE entries SET seq = 99 WHERE seq = 2",
        "DELETE FROM entries WHERE seq = 3",
        "DELETE FROM entries",
        "REPLACE INTO entries SELECT * FROM entries WHERE seq = 2",
        "INSERT INTO entries SELECT seq + 10, time, name, kind, body, previous, digest, seal FROM entries LIMIT 1",
        "INSERT INTO entries SELECT 99, time, name, kind, body, digest, digest, seal FROM entries WHERE seq = 9",
        "INSERT INTO entries (time, name, kind, body, previous, digest) VALUES ('t', 'n', 'note', '{}', 'p', 'd')",
    ],
)
def test_sql_that_would_change_the_past_is_refused_by_the_file(tmp_path: Path, sql: str) -> None:
    ledger = filled(tmp_path)
    connection = sqlite3.connect(ledger.path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(sql)
    connection.close()
    assert verify(ledger.path).ok


def test_an_edited_ledger_is_not_used(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    charged = pay(ledger, "before", "0.1")
    edit(ledger.path, "UPDATE entries SET body = replace(body, '0.25', '0.01')")
    for use in (
        lambda: pay(ledger, "new"),
        lambda: ledger.record(charged, {}),
        lambda: ledger.remaining("cafeteria"),
        lambda: Ledger(ledger.path),
        lambda: Ledger.create(ledger.path, "new", Budget(1)),
    ):
        with pytest.raises(LedgerError, match=r"was edited.*Run: guessproof ledger verify"):
            use()


def test_a_trigger_that_swallows_charges_is_found_before_charging(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    connection = sqlite3.connect(ledger.path)
    connection.execute("CREATE TRIGGER aside BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END")
    connection.close()
    with pytest.raises(LedgerError, match="aside, which is no part of a ledger"):
        pay(ledger, "new")


def test_a_rollback_during_a_process_is_seen(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    old = copied(ledger.path)
    pay(ledger, "one")
    os.replace(old, ledger.path)
    assert verify(ledger.path).ok  # by itself the old file fits
    with pytest.raises(LedgerError, match="truncated or replaced"):
        pay(ledger, "two")
    with pytest.raises(LedgerError, match="truncated or replaced"):
        ledger.remaining("cafeteria")


def test_a_sealed_ledger_needs_its_key(home: Path, tmp_path: Path) -> None:
    ledger = filled(home, KEY)
    assert Ledger(ledger.path, KEY).remaining("cafeteria") == ledger.remaining("cafeteria")
    with pytest.raises(LedgerError, match="no key was given"):
        Ledger(ledger.path)
    with pytest.raises(LedgerError, match="the key is wrong"):
        Ledger(ledger.path, b"another key, as long as needed")
    with pytest.raises(LedgerError, match="no key was given"):
        Ledger.create(ledger.path, "new", Budget(1))
    with pytest.raises(ParameterError, match="16 bytes"):
        Ledger(ledger.path, b"short")
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(LedgerError, match="no entry is sealed"):
        Ledger(opened(plain).path, KEY)
    assert home != tmp_path or KEY not in ledger.path.read_bytes()
    assert KEY.decode() not in repr(vars(ledger).keys()) + repr(ledger)


def test_notes_and_scans(home: Path) -> None:
    ledger = opened(home)
    ledger.note("cafeteria", "the board agreed")
    assert not ledger.scanned("cafeteria")
    assert ledger.note("cafeteria", "looked", scan=True) == ledger.head
    assert ledger.scanned("cafeteria")
    with pytest.raises(ParameterError, match="text"):
        ledger.note("cafeteria", "")
    with pytest.raises(LedgerError, match="no budget is open"):
        ledger.note("cats", "hello")


def test_times_are_utc_to_the_second(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    assert {entry.time for entry in ledger.entries()} == {"2030-01-01T00:00:00Z"}
    now = Ledger.create(tmp_path / "now.ledger", "cats", Budget(1)).entries()[0].time
    assert len(now) == 20
    assert now.endswith("Z")


def test_threads_share_one_ledger_object(home: Path) -> None:
    ledger = opened(home)
    won: list[str] = []

    def ask(number: int) -> None:
        with suppress(BudgetError):
            won.append(pay(ledger, f"{number}", "0.25").head)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(won)) == 4
    assert ledger.remaining("cafeteria").epsilon == 0


def test_left_as_floats_is_never_above_what_is_left(home: Path) -> None:
    ledger = opened(home)
    left = pay(ledger, "one", "0.9").remaining
    assert left.epsilon == Decimal("0.1")
    assert Fraction(left.to_dict()["epsilon"]) <= Fraction(1, 10)
    assert left.to_dict() == {"epsilon": 0.09999999999999999, "delta": 0.0, "advantage": None}
