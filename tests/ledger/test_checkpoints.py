"""Checkpoints: a charge reads from the last one on, and whoever reads all finds one that lies."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from guessproof.errors import EditedError, LedgerError
from guessproof.ledger import Budget, Charged, Cost, Ledger, Protection, Recorded, Tally, verify
from guessproof.ledger import session as sessions
from guessproof.ledger.book import COLUMNS, Book, Entry, next_entry, read_chain, request_key
from guessproof.ledger.checkpoint import read_standings, standings_body
from guessproof.ledger.store_sqlite import SCHEMA, SqliteStore, SqliteTransaction
from ledger.making import DESCRIBE, GUARANTEE, KEY, Clock, copied, edit, opened, pay

EVERY = 8


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints after fewer entries: a test need not write so many."""
    monkeypatch.setattr(sessions, "CHECKPOINT_EVERY", EVERY)


def grown(folder: Path, charges: int = 12, key: bytes | None = None, budget: Budget | str = "100") -> Ledger:
    """A ledger with at least one checkpoint; every answer is the number of its charge."""
    ledger = opened(folder, budget, key=key)
    for number in range(charges):
        ledger.record(pay(ledger, f"{number}"), {"value": number})
    assert any(entry.kind == "checkpoint" for entry in ledger.entries())
    return ledger


def rewritten(path: Path, change: Callable[[Entry], dict[str, Any]], key: bytes | None = None) -> None:
    """The whole chain anew, with bodies that somebody likes better and digests that fit."""
    connection = sqlite3.connect(path)
    rows = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM entries ORDER BY seq").fetchall()
    entries, last = read_chain(rows, key)[0], None
    changed: list[Entry] = []
    for entry in entries:
        last = next_entry(last, time=entry.time, name=entry.name, kind=entry.kind, body=change(entry), key=key)
        changed.append(last)
    connection.close()
    edit(
        path,
        *(
            f"UPDATE entries SET body = '{e.body}', previous = '{e.previous}', digest = '{e.digest}' WHERE seq = {seq}"
            for seq, e in enumerate(changed, 1)
        ),
    )
    with SqliteStore(path).writing():
        pass  # makes the keys anew


def edited(path: Path, sql: str) -> None:
    """One statement on the file, by someone who leaves everything else as it was."""
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER no_update")
    connection.execute(sql)
    assert connection.total_changes
    connection.execute(SCHEMA["no_update"])
    connection.commit()
    connection.close()


def test_a_checkpoint_comes_before_the_entry_that_makes_it_due_and_the_head_is_that_entrys(home: Path) -> None:
    ledger = opened(home, "100")
    heads = [ledger.record(pay(ledger, f"{n}"), {"value": n}) for n in range(6)]
    entries = ledger.entries()
    places = [entry.seq for entry in entries if entry.kind == "checkpoint"]
    assert places == [EVERY + 1]
    assert [entry.digest for entry in entries if entry.kind == "answer"] == heads
    assert ledger.head == heads[-1] == verify(ledger.path, heads[3]).head


def test_what_was_charged_before_a_checkpoint_is_found_after_it(home: Path) -> None:
    path = grown(home).path
    for ledger in (Ledger(path, clock=Clock()), Ledger(path, clock=Clock())):
        for number in (0, 3, 11):
            again = ledger.charge("cafeteria", f"{number}", Cost("0.1"), GUARANTEE, DESCRIBE)
            assert isinstance(again, Recorded)
            assert again.answer == {"value": number}
        assert ledger.remaining("cafeteria").epsilon == Decimal("98.8")
    assert verify(path).ok


def test_a_charge_from_before_a_checkpoint_is_settled_once_and_in_work_until_then(home: Path) -> None:
    clock = Clock()
    ledger = opened(home, "100", clock=clock)
    early, failing = pay(ledger, "early"), pay(ledger, "failing")
    for number in range(10):
        pay(ledger, f"{number}")
    other = Ledger(ledger.path, clock=clock)
    with pytest.raises(LedgerError, match="being answered"):
        pay(other, "early")
    other.record(early, {"value": 1})
    other.failed(failing, final=True)
    for number in range(10, 30):
        pay(ledger, f"{number}")
    late = Ledger(ledger.path, clock=clock)
    with pytest.raises(LedgerError, match="settled already"):
        late.record(early, {"value": 2})
    settled = late.settled("cafeteria", ["early"])
    assert isinstance(settled, Recorded)
    assert settled.answer == {"value": 1}
    assert late.settled("cafeteria", ["failing"]) is not None
    assert late.settled("cafeteria", ["nobody"]) is None
    with pytest.raises(LedgerError, match="no charge"):
        late.record(Charged("cafeteria", 1, early.head, early.cost, early.remaining), {})
    assert verify(ledger.path).ok


def test_pins_scans_amendments_and_budgets_outlive_a_checkpoint(home: Path) -> None:
    ledger = opened(home, "100")
    asked = Protection("values", ("time",), ("day",), ("time",), linked_records=2, copies=3)
    pay(ledger, "first", protection=asked)
    ledger.note("cafeteria", "looked", scan=True)
    ledger.amend("cafeteria", protect=["salary"], budget=Budget("200"))
    wide = replace(asked, columns=("time", "salary"))
    for number in range(16):
        pay(ledger, f"{number}", protection=wide)
    assert ledger.account("cafeteria").pins.sizes == {"linked_records": 2, "copies": 3}
    (kept,) = read_standings(standings_body({"cafeteria": ledger.account("cafeteria")})).values()
    assert kept.pins == ledger.account("cafeteria").pins
    late = Ledger(ledger.path, clock=Clock())
    assert late.scanned("cafeteria")
    assert late.standing("cafeteria").budget == Budget("200")
    with pytest.raises(LedgerError, match="salary is protected in every release"):
        pay(late, "less", protection=asked)
    with pytest.raises(LedgerError, match="entry 2 read day as public"):
        late.amend("cafeteria", protect=["day"])
    with pytest.raises(LedgerError, match="hides whether a value of time is missing"):
        pay(late, "known", protection=Protection("values", ("time", "salary"), (), (), ("time",)))
    for key in ("linked_records", "copies"):
        with pytest.raises(LedgerError, match=f"and this plan with {key} = 1"):
            pay(late, key, protection=replace(wide, **{key: 1}))
    with pytest.raises(LedgerError, match="already open"):
        Ledger.create(ledger.path, "Cafeteria", Budget("1"))


def test_the_judge_counts_every_guarantee_of_before_as_often_as_it_was_given(home: Path) -> None:
    ledger = opened(home, Budget("100", advantage="0.9"))
    seen: list[int] = []

    def judge(given: list[Tally]) -> float:
        seen.append(sum(tally.times * tally.guarantee["slope"] for tally in given))
        return 0.5

    for number in range(24):
        asker = Ledger(ledger.path, clock=Clock())
        asker.charge("cafeteria", f"{number}", Cost("0.1"), {"slope": number % 3}, DESCRIBE, judge)
    assert seen == [sum(n % 3 for n in range(number + 1)) for number in range(24)]
    assert verify(ledger.path).ok


def test_a_charge_reads_from_the_last_checkpoint_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in rows, not in seconds: no more after ten times as many entries."""
    path = opened(tmp_path, "100").path
    read: list[int] = []
    rows = SqliteTransaction.rows

    def counted(self: SqliteTransaction, since: int | None = None) -> Any:
        found = rows(self, since)
        read.append(len(found))
        return found

    most: list[int] = []
    monkeypatch.setattr(SqliteTransaction, "rows", counted)
    for number in range(60):
        read.clear()
        pay(Ledger(path, clock=Clock()), f"{number}")
        most.append(max(read))
    assert max(most[10:]) <= max(most[:10]) + 1 <= EVERY + 1
    assert verify(path).ok


def test_a_checkpoint_that_lies_is_found_by_whoever_reads_all(tmp_path: Path) -> None:
    """The chain fits, so that only the sum tells. This is what a use that begins at the checkpoint cannot see."""
    path = grown(tmp_path).path

    def lower(entry: Entry) -> dict[str, Any]:
        body = entry.content
        if entry.kind == "checkpoint":
            body["names"][0]["epsilon"] = "0.1"
        return body

    rewritten(path, lower)
    assert Ledger(path)  # no entry since the checkpoint contradicts it once keys are there again
    defects = verify(path).defects
    assert {str(d).partition(" is ")[2] for d in defects} == {
        "a checkpoint that does not say what the entries before it add up to"
    }
    for whole in ("accounts", "entries"):
        with pytest.raises(EditedError, match="does not say what"):
            getattr(Ledger(path), whole)()


def test_an_edited_checkpoint_is_found_at_once(tmp_path: Path) -> None:
    path = grown(tmp_path).path
    edited(path, "UPDATE entries SET body = replace(body, 'false', 'true') WHERE kind = 'checkpoint'")
    with pytest.raises(EditedError, match="was edited"):
        Ledger(path)


def test_an_old_answer_that_was_edited_is_not_given(tmp_path: Path) -> None:
    for key in (None, KEY):
        folder = tmp_path / str(key is None)
        folder.mkdir()
        path = grown(folder, key=key).path
        edited(path, "UPDATE entries SET body = replace(body, '\"value\":3}', '\"value\":4}')")
        ledger = Ledger(path, key)
        assert isinstance(ledger.settled("cafeteria", ["1"]), Recorded)
        with pytest.raises(EditedError, match="entry 10 was edited"):
            ledger.settled("cafeteria", ["3"])
        assert not verify(path, key=key).ok


def test_keys_that_were_edited_are_found_and_never_give_anothers_answer(tmp_path: Path) -> None:
    path = grown(tmp_path).path
    connection = sqlite3.connect(path)
    leads = (4, request_key("cafeteria", "0"))  # to the charge of request 1
    connection.execute("UPDATE lookups SET seq = ? WHERE key = ?", leads)
    connection.commit()
    connection.close()
    ledger = Ledger(path, clock=Clock())
    assert ledger.settled("cafeteria", ["0"]) is None
    assert isinstance(ledger.charge("cafeteria", "0", Cost("0.1"), GUARANTEE, DESCRIBE), Charged)  # paid, not free
    assert {defect.seq for defect in verify(path).defects} == {2, 4}


def test_a_ledger_of_an_earlier_version_gets_keys_from_its_first_writer_and_keeps_its_head(tmp_path: Path) -> None:
    ledger = opened(tmp_path, "100")
    ledger.record(pay(ledger, "one"), {"value": 1})
    old = copied(ledger.path)
    edit(old)  # keys dropped, as in a file of before
    late = Ledger(old, clock=Clock())
    assert late.head == ledger.head
    assert isinstance(late.settled("cafeteria", ["one"]), Recorded)
    with sqlite3.connect(old) as connection:
        assert not connection.execute("SELECT * FROM sqlite_master WHERE name = 'lookups'").fetchall()
    connection.close()
    assert pay(late, "two").head == pay(ledger, "two").head
    assert verify(old).ok
    with sqlite3.connect(old) as connection:
        assert len(connection.execute("SELECT * FROM lookups").fetchall()) == 5
    connection.close()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"version": 2, "names": []},
        {"version": 1, "names": [{}]},
        {"version": 1, "names": None},
        {"version": 1, "names": [1]},
    ],
)
def test_a_checkpoint_that_is_none_is_a_defect_and_no_crash(body: dict[str, Any]) -> None:
    entry = next_entry(None, time="2030-01-01T00:00:00Z", name="", kind="checkpoint", body=body)
    for past in (None, lambda name, seq: None):
        assert Book([entry], past=past).defects


@pytest.mark.parametrize("amount", ["-1", "NaN", "x", "101", "Infinity"])
def test_a_checkpoint_with_an_impossible_amount_is_refused(tmp_path: Path, amount: str) -> None:
    ledger = grown(tmp_path)
    body = next(entry.content for entry in ledger.entries() if entry.kind == "checkpoint")
    body["names"][0]["epsilon"] = amount
    entry = next_entry(None, time="2030-01-01T00:00:00Z", name="", kind="checkpoint", body=body)
    assert Book([entry], past=lambda name, seq: None).defects
