"""Tampering: what is found in the file itself, what only a remembered head or the key finds, and what nothing finds."""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path

import pytest

from guessproof.errors import LedgerError, ParameterError
from guessproof.ledger import Ledger, verify
from guessproof.ledger.book import COLUMNS, next_entry
from ledger.making import KEY, copied, edit, filled, opened, pay


def found(path: Path, head: str | None = None, key: bytes | None = None) -> str:
    verdict = verify(path, head, key)
    assert verdict.ok == (not verdict.defects)
    return "; ".join(str(defect) for defect in verdict.defects)


def test_a_ledger_that_fits(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    verdict = verify(ledger.path, ledger.head)
    assert verdict.ok
    assert (verdict.entries, verdict.names, verdict.sealed) == (9, ("cafeteria", "cats"), False)
    assert verdict.head == ledger.head
    assert len(verdict.checked) == 6
    assert verdict.notes == ()
    assert verify(ledger.path).notes  # it says what was not checked


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("seq", [1, 3, 4, 9])
def test_one_edited_column_is_found_in_the_file(tmp_path: Path, column: str, seq: int) -> None:
    path = filled(tmp_path).path
    value = "seq + 100" if column == "seq" else f"COALESCE({column}, '') || ' '"
    edit(path, f"UPDATE entries SET {column} = {value} WHERE seq = {seq}")
    assert found(path)


@pytest.mark.parametrize("column", [c for c in COLUMNS if c != "seq"])
def test_the_same_text_as_bytes_and_bytes_that_are_no_text_are_found(tmp_path: Path, column: str) -> None:
    path = filled(tmp_path, KEY).path
    blob, broken = copied(path, "blob.ledger"), copied(path, "broken.ledger")
    edit(blob, f"UPDATE entries SET {column} = CAST({column} AS BLOB) WHERE seq = 3")
    edit(broken, f"UPDATE entries SET {column} = CAST(x'ff41' AS TEXT) WHERE seq = 3")
    assert "stored as bytes" in found(blob, key=KEY)
    assert found(broken, key=KEY)


def test_flipped_bytes_of_the_file_are_found_or_change_nothing(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    good, entries = ledger.path.read_bytes(), ledger.entries()
    path, caught = tmp_path / "flipped.ledger", 0
    for place in range(0, len(good), 11):
        for extra in tmp_path.glob("flipped.ledger-*"):
            extra.unlink()
        path.write_bytes(good[:place] + bytes([good[place] ^ (1 << place % 8)]) + good[place + 1 :])
        if found(path):
            caught += 1
        else:
            assert Ledger(path).entries() == entries, place
    assert caught > 0.1 * len(range(0, len(good), 11))  # the rest of a page is empty


def test_damage_that_leaves_every_entry_readable_is_found(tmp_path: Path) -> None:
    path = filled(tmp_path).path
    content = bytearray(path.read_bytes())
    content[39] = 1  # the header now speaks of a free page that is not there
    path.write_bytes(content)
    assert "SQLite finds the file damaged" in found(path)
    assert len(Ledger(path).entries()) == 9


def test_reordering_deleting_and_inserting_are_found(tmp_path: Path) -> None:
    path = filled(tmp_path).path
    swapped, gone, inserted = (copied(path, f"{name}.ledger") for name in ("swapped", "gone", "inserted"))
    edit(
        swapped,
        "UPDATE entries SET seq = -3 WHERE seq = 3",
        "UPDATE entries SET seq = 3 WHERE seq = 5",
        "UPDATE entries SET seq = 5 WHERE seq = -3",
    )
    assert "entry 3 does not follow" in found(swapped)
    edit(gone, "DELETE FROM entries WHERE seq IN (5, 6)")
    assert "entries 5 to 6 are missing" in found(gone)
    edit(gone, "UPDATE entries SET seq = seq - 2 WHERE seq > 6")
    assert "entry 5 does not follow" in found(gone)
    edit(
        inserted,
        "UPDATE entries SET seq = -seq - 1 WHERE seq > 4",
        "UPDATE entries SET seq = -seq WHERE seq < 0",
        "INSERT INTO entries SELECT 5, time, name, kind, body, previous, digest, seal FROM entries WHERE seq = 4",
    )
    assert "entry 5 does not follow" in found(inserted)


def test_truncation_and_rollback_show_only_against_a_remembered_head(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    early = ledger.head
    old = copied(ledger.path)
    pay(ledger, "five")
    late = ledger.head
    grown = verify(ledger.path, early)
    assert grown.ok
    assert grown.notes == ("the remembered head is entry 9; 1 more came after it",)
    edit(ledger.path, "DELETE FROM entries WHERE seq = 10")
    for path in (ledger.path, old):
        assert found(path) == ""
        assert "truncated, rolled back or replaced" in found(path, late)
        assert found(path, early.upper()) == ""


def test_a_chain_rewritten_as_a_whole_shows_against_the_key_or_a_head(tmp_path: Path) -> None:
    (tmp_path / "forger").mkdir()
    ledger = filled(tmp_path, KEY)
    forged = opened(tmp_path / "forger", "100")
    pay(forged, "one", "99")
    assert found(forged.path) == ""
    assert "no entry is sealed" in found(forged.path, key=KEY)
    assert "the remembered head" in found(forged.path, ledger.head)


def test_an_entry_appended_by_hand_shows_against_the_key(tmp_path: Path) -> None:
    """Without a key anyone who can write the file can append what the book allows: docs/ledger.md says so."""
    for key, words in ((None, ""), (KEY, "entry 10 is not sealed")):
        folder = tmp_path / str(key is None)
        folder.mkdir()
        ledger = filled(folder, key)
        forged = next_entry(
            ledger.entries()[-1],
            time="2030-01-01T00:00:00Z",
            name="cafeteria",
            kind="answer",
            body={"charge": 9, "answer": {"value": 0}},
        )
        connection = sqlite3.connect(ledger.path)
        connection.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [getattr(forged, column) for column in COLUMNS]
        )
        connection.commit()
        assert "entry 10 is not found by its keys" in found(ledger.path, key=key)  # unless they are forged too
        connection.execute("DROP TABLE lookups")
        connection.close()
        assert words in found(ledger.path, key=key)
        assert (found(ledger.path, key=key) == "") == (key is None)


def test_rewriting_the_budget_with_a_fitting_chain_is_still_no_book(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    last = ledger.entries()[-1]
    body = {"budget": {"epsilon": "50", "delta": "0", "advantage": None}, "sealed": False}
    forged = next_entry(last, time=last.time, name="cafeteria", kind="open", body=body)
    connection = sqlite3.connect(ledger.path)
    connection.execute(
        "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [getattr(forged, column) for column in COLUMNS]
    )
    connection.commit()
    connection.close()
    assert found(ledger.path) == "entry 10 opens cafeteria a second time"


def test_dropped_changed_and_added_triggers_and_tables_are_found(tmp_path: Path) -> None:
    path = filled(tmp_path).path
    edit(path, restore=False)
    words = found(path)
    for name in ("no_update", "no_delete", "only_next"):
        assert f"the trigger {name} was dropped or changed" in words
    other = copied(filled_in(tmp_path / "b"), "other.ledger")
    connection = sqlite3.connect(other)
    connection.execute("DROP TRIGGER no_update")
    connection.execute("CREATE TRIGGER no_update BEFORE UPDATE ON entries BEGIN SELECT 1; END")
    connection.execute("CREATE TABLE aside (x)")
    connection.close()
    assert "no_update was dropped or changed" in found(other)
    assert "aside, which is no part of a ledger" in found(other)


def filled_in(folder: Path) -> Path:
    folder.mkdir()
    return filled(folder).path


def test_the_readers_own_check_in_the_docs_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text()
    (script,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    ledger = filled(tmp_path)
    ledger.path.rename(tmp_path / "guessproof.ledger")
    monkeypatch.chdir(tmp_path)
    names: dict[str, str] = {}
    exec(script, names)
    assert names["previous"] == verify("guessproof.ledger").head
    edit(Path("guessproof.ledger"), "UPDATE entries SET time = time || ' ' WHERE seq = 4")
    with pytest.raises(AssertionError, match="4"):
        exec(script, {})


def test_keys_are_reported_plainly(tmp_path: Path) -> None:
    path = filled(tmp_path, KEY).path
    verdict = verify(path, key=KEY)
    assert verdict.ok
    assert "that each entry is sealed with the key" in verdict.checked
    assert "the ledger is sealed and no key was given" in found(path)
    assert "the key is wrong" in found(path, key=b"some other key, long enough")
    edit(path, "UPDATE entries SET seal = (SELECT seal FROM entries WHERE seq = 3) WHERE seq = 4")
    assert found(path, key=KEY) == "entry 4 has a seal that does not fit: forged without the key"
    edit(path, "UPDATE entries SET seal = NULL WHERE seq = 4")
    assert "entry 4 is not sealed" in found(path, key=KEY)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="there is no ledger here"):
        verify(tmp_path / "none")
    with pytest.raises(LedgerError, match="there is no ledger here"):
        verify(tmp_path)
    for content in (b"", b"text" * 100, b"SQLite format 3\0" + b"\xff" * 4000):
        (tmp_path / "bad").write_bytes(content)
        assert "cannot be read as a ledger" in found(tmp_path / "bad")


def test_a_head_is_given_in_full(tmp_path: Path) -> None:
    ledger = filled(tmp_path)
    for head in ("", "abc", ledger.head[:63], ledger.head + "0", "x" * 64):
        with pytest.raises(ParameterError, match="64 hexadecimal"):
            verify(ledger.path, head)


def test_a_file_open_to_others_is_noted(tmp_path: Path) -> None:
    path = filled(tmp_path).path
    os.chmod(path, 0o644)
    assert any("0600" in note for note in verify(path).notes)
