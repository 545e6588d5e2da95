"""The ledger within one transaction: read from its last checkpoint on, checked, and, where it writes, growing."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

from guessproof.errors import EditedError, LedgerError
from guessproof.ledger.account import Account, Charge
from guessproof.ledger.book import (
    CHECKPOINT,
    START,
    Book,
    Defect,
    Entry,
    Row,
    became,
    keys_of_charge,
    next_entry,
    own_defects,
    read_chain,
    read_charge,
    read_entry,
    row_of,
    settling_key,
)
from guessproof.ledger.store import Transaction

Clock = Callable[[], datetime]

CHECKPOINT_EVERY = 32  # entries, at least


@dataclass(frozen=True)
class Contents:
    """A ledger that fits: its entries, all or those from a checkpoint on, and what they add up to."""

    path: Path
    entries: list[Entry]
    book: Book

    @property
    def head(self) -> str:
        """The digest of the last entry."""
        return self.entries[-1].digest if self.entries else START

    def account(self, name: str) -> Account:
        """One name's account, or a refusal that says what is open."""
        accounts = self.book.accounts
        if name not in accounts:
            raise LedgerError(
                f"{self.path}: no budget is open for {name!r} (open: {', '.join(accounts) or 'none'}); the owner of "
                f"the data opens it, once: guessproof ledger open {quote(name)} --budget 1.0 --ledger "
                f"{quote(str(self.path))} (guessproof choose PLAN says which budget the plan needs)"
            )
        return accounts[name]


@dataclass(frozen=True)
class Session(Contents):
    """Contents within a transaction; where it writes, they can grow while nobody else writes."""

    transaction: Transaction
    key: bytes | None
    clock: Clock

    def charges(self, name: str, keys: Collection[str]) -> list[Charge]:
        """The charges of a name that are found under these keys, with what became of them, in order."""
        found: dict[int, Charge] = {}
        if self.book.past is not None:
            rows = [row for key in keys for row in self.transaction.found(key) if row[0] < self.entries[0].seq]
            earlier = (self.book.past(name, row[0]) for row in rows)
            found = {charge.seq: charge for charge in earlier if charge is not None}
        found.update(self.account(name).charges)
        ordered = sorted(found.values(), key=lambda charge: charge.seq)
        return [c for c in ordered if not set(keys).isdisjoint(keys_of_charge(name, c))]

    def append(self, kind: str, name: str, body: dict[str, Any]) -> Entry:
        """Write the next entry, after the book has agreed to it; before it a checkpoint, where one is due."""
        since = list(itertools.takewhile(lambda entry: entry.kind != "checkpoint", reversed(self.entries)))
        if len(since) >= CHECKPOINT_EVERY:
            from guessproof.ledger.checkpoint import due_body

            checkpoint = due_body(self.book.accounts, since)
            if checkpoint is not None:
                self._append("checkpoint", "", checkpoint)
        return self._append(kind, name, body)

    def _append(self, kind: str, name: str, body: dict[str, Any]) -> Entry:
        time = self.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        last = self.entries[-1] if self.entries else None
        entry = next_entry(last, time=time, name=name, kind=kind, body=body, key=self.key)
        self.book.add(entry)
        if self.book.defects:
            raise LedgerError(f"{self.path}: refused, since {self.book.defects[0]}; nothing was written")
        self.transaction.append(entry)
        self.entries.append(entry)
        return entry


def open_session(
    path: Path,
    transaction: Transaction,
    key: bytes | None,
    clock: Clock,
    known: Contents | None = None,
    *,
    whole: bool = False,
) -> Session:
    """The ledger within a transaction, checked from its last checkpoint on, or whole; what is `known` only grows."""
    refuse_defects(path, transaction.schema_defects())
    contents, rows, last = _begun(path, transaction, known, whole=whole)
    past = contents.book.past
    if past is not None:
        first = contents.entries[0].seq if contents.entries else rows[0][0]
        contents.book.past = partial(_past, transaction, key, first)
    entries, broken = read_chain(rows, key, last)
    refuse_defects(path, broken)
    for entry in entries:
        contents.book.add(entry)
    contents.entries.extend(entries)
    refuse_defects(path, contents.book.defects)
    return Session(contents.path, contents.entries, contents.book, transaction, key, clock)


def _begun(
    path: Path, transaction: Transaction, known: Contents | None, *, whole: bool
) -> tuple[Contents, list[Row], Entry | None]:
    """Where reading begins: what is there already, the rows to read, and the entry that they must follow."""
    if known is not None and known.entries:
        last = known.entries[-1]
        rows = transaction.rows(last.seq)
        if not rows or rows[0] != row_of(last):
            raise EditedError(f"{path}: entry {last.seq} is gone: the ledger was truncated or replaced meanwhile")
        return known, rows[1:], last
    checkpoint = None if whole else transaction.last_found(CHECKPOINT)
    before = None if checkpoint is None else transaction.row(checkpoint[0] - 1)
    last = None if before is None else read_entry(before)[0]
    if checkpoint is None or last is None:
        return Contents(path, [], Book()), transaction.rows(), None
    return Contents(path, [], Book(past=_nothing)), transaction.rows(checkpoint[0]), last


def _nothing(_name: str, _seq: int) -> None:
    """No past: it is set when the transaction is known."""


def _past(transaction: Transaction, key: bytes | None, first: int, name: str, seq: int) -> Charge | None:
    """A charge from before the entry `first`, with what had become of it by then; its entries are checked."""
    entry = _checked(transaction.row(seq) if seq < first else None, key)
    if entry is None or entry.kind != "charge" or entry.name != name:
        return None
    charge = read_charge(entry, entry.content)
    for row in transaction.found(settling_key(seq)):
        settling = _checked(row if row[0] < first else None, key)
        if settling is not None and settling.content.get("charge") == seq:
            return became(charge, settling)
    return charge


def _checked(row: Row | None, key: bytes | None) -> Entry | None:
    """An entry by itself: its digest and its seal; what stands beside it was checked when a checkpoint was made."""
    if row is None:
        return None
    entry, problem = read_entry(row)
    defects = [Defect(None, problem)] if entry is None else own_defects(entry, key)
    if defects:
        raise EditedError(f"entry {row[0]}: {defects[0]}; nothing was charged. Run: guessproof ledger verify")
    return entry


def refuse_defects(path: Path, defects: Sequence[Defect]) -> None:
    """Refuse to read or write a ledger in which anything does not fit."""
    if defects:
        if all(defect.is_unread for defect in defects):
            raise LedgerError(f"{path}: {defects[0]}")
        more = f" (and {len(defects) - 1} more)" if len(defects) > 1 else ""
        raise EditedError(
            f"{path}: {defects[0]}{more}; nothing was charged. Run: guessproof ledger verify --ledger {path}"
        )
