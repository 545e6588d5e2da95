"""Does a ledger fit together, in itself and with what is remembered of it?"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guessproof.errors import LedgerError, ParameterError
from guessproof.ledger.book import START, Book, Defect, Entry, Row, checked_key, keys_of, read_chain
from guessproof.ledger.ledger import open_store
from guessproof.ledger.store import Store


@dataclass(frozen=True)
class Verification:
    """What was checked, and every way in which the ledger does not fit."""

    path: str
    entries: int
    names: tuple[str, ...]
    head: str
    sealed: bool
    checked: tuple[str, ...]
    defects: tuple[Defect, ...]
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether everything that was checked fits."""
        return not self.defects

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "ok": self.ok,
            "ledger": self.path,
            "entries": self.entries,
            "names": list(self.names),
            "head": self.head,
            "sealed": self.sealed,
            "checked": list(self.checked),
            "defects": [{"entry": defect.seq, "what": str(defect)} for defect in self.defects],
            "notes": list(self.notes),
        }


def verify(path: str | os.PathLike[str], head: str | None = None, key: bytes | None = None) -> Verification:
    """Check a ledger. A missing file is a LedgerError; everything else that is wrong is a defect of the verdict."""
    remembered = _checked_head(head)
    checked_key(key)
    where = Path(path)
    store = open_store(where)
    store.find()
    rows, keys, damage = _stored(store)
    entries, broken = read_chain(rows, key)
    book = Book(entries)
    damage += _key_defects(entries, keys)
    sealed = any(entry.seal is not None for entry in entries)
    defects = [*damage, *broken, *book.defects]
    checked = [
        "where it is kept: its tables, and the triggers that make them append-only",
        "that entries are numbered without gaps, each linked to the one before",
        "that each entry's digest fits what it says",
        "that no budget was raised or overspent, and each answer belongs to one charge",
        "that each checkpoint says what the entries before it add up to, and every entry is found by its keys",
    ]
    notes = [*_notes(sealed=sealed, remembered=remembered is not None), *store.notes()]
    if sealed and key is not None:
        checked.append("that each entry is sealed with the key")
    if remembered is not None:
        checked.append("that the remembered head is still there")
        place = next((entry.seq for entry in entries if entry.digest == remembered), None)
        if place is None and remembered != START:
            defects.append(
                Defect(None, f"the remembered head {remembered} is gone: truncated, rolled back or replaced")
            )
        elif place is not None and place < entries[-1].seq:
            notes.append(f"the remembered head is entry {place}; {entries[-1].seq - place} more came after it")
    return Verification(
        str(where),
        len(entries),
        tuple(book.accounts),
        _last(entries),
        sealed,
        tuple(checked),
        tuple(defects),
        tuple(notes),
    )


def _stored(store: Store) -> tuple[list[Row], list[tuple[str, int]] | None, list[Defect]]:
    """The rows and keys, as far as they can be read, and what is wrong with the place that holds them."""
    try:
        damage = store.integrity()
        with store.reading() as transaction:
            damage += transaction.schema_defects()
            return transaction.rows(), transaction.keys(), damage
    except LedgerError as error:
        return [], None, [Defect(None, f"the file cannot be read as a ledger: {error}")]


def _key_defects(entries: list[Entry], keys: list[tuple[str, int]] | None) -> list[Defect]:
    """A place that keeps keys keeps those of its entries: without one an answer that was paid for is not found."""
    if keys is None:
        return []
    wrong = {seq for _, seq in {(key, entry.seq) for entry in entries for key in keys_of(entry)} ^ set(keys)}
    return [Defect(seq, "is not found by its keys: these were edited") for seq in sorted(wrong)]


def _notes(*, sealed: bool, remembered: bool) -> list[str]:
    """What this verdict does not say."""
    notes: list[str] = []
    if not remembered:
        notes.append("without a remembered head (--head), entries cut off at the end do not show")
    if not sealed and not remembered:
        notes.append("without a key or a remembered head, a ledger that was rewritten as a whole does not show")
    return notes


def _last(entries: list[Entry]) -> str:
    return entries[-1].digest if entries else START


def _checked_head(head: str | None) -> str | None:
    if head is None:
        return None
    text = head.strip().lower()
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise ParameterError("head", head, "it is not a head", "give all 64 hexadecimal digits, as printed")
    return text
