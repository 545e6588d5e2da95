"""The ledger inside one transaction: read, checked as a whole, and written only as the book allows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from guessproof.errors import EditedError, LedgerError
from guessproof.ledger.book import Account, Book
from guessproof.ledger.chain import read_chain
from guessproof.ledger.entry import COLUMNS, START, Entry, next_entry
from guessproof.ledger.store_sqlite import Page, SqliteStore

Clock = Callable[[], datetime]


@dataclass(frozen=True)
class Contents:
    """A ledger that fits: its entries and what they add up to."""

    path: Path
    entries: list[Entry]
    book: Book

    @property
    def head(self) -> str:
        """The digest of the last entry."""
        return self.entries[-1].digest if self.entries else START

    def account(self, name: str) -> Account:
        """One name's account, or a refusal that says what is open."""
        return account_of(self.book.accounts, name, self.path)


@dataclass(frozen=True)
class Session(Contents):
    """Contents that can grow, while nobody else writes."""

    page: Page
    key: bytes | None
    clock: Clock

    def append(self, kind: str, name: str, body: dict[str, Any]) -> Entry:
        """Write the next entry, after the book has agreed to it."""
        time = self.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        last = self.entries[-1] if self.entries else None
        entry = next_entry(last, time=time, name=name, kind=kind, body=body, key=self.key)
        self.book.add(entry)
        if self.book.defects:
            raise LedgerError(f"{self.path}: refused, since {self.book.defects[0]}; nothing was written")
        self.page.append(entry)
        self.entries.append(entry)
        return entry


def read(store: SqliteStore, key: bytes | None, known: Contents | None = None) -> Contents:
    """The whole ledger, checked; what is `known` was checked before and is taken over, to grow by what came since."""
    with store.reading() as page:
        return _fitting(page, key, store.path, known)


@contextmanager
def writing(
    store: SqliteStore, key: bytes | None, clock: Clock, known: Contents | None = None, *, new: bool = False
) -> Generator[Session]:
    """The whole ledger, checked, with the only right to write until the block ends."""
    with store.writing(new=new) as page:
        found = _fitting(page, key, store.path, known)
        yield Session(found.path, found.entries, found.book, page, key, clock)


def account_of(accounts: Mapping[str, Account], name: str, path: Path) -> Account:
    """One name's account, or a refusal that says what is open."""
    if name not in accounts:
        raise LedgerError(
            f"{path}: no budget is open for {name!r} (open: {', '.join(accounts) or 'none'}); the owner of the data "
            f"opens it, once: guessproof ledger open {name} --budget 1.0 --ledger {path}"
        )
    return accounts[name]


def _fitting(page: Page, key: bytes | None, path: Path, known: Contents | None) -> Contents:
    """Refuse to read or write a ledger in which anything does not fit."""
    contents = known or Contents(path, [], Book())
    last = contents.entries[-1] if contents.entries else None
    rows = page.rows(None if last is None else last.seq)
    if last is not None:
        if not rows or rows[0] != tuple(getattr(last, column) for column in COLUMNS):
            raise EditedError(f"{path}: entry {last.seq} is gone: the ledger was truncated or replaced meanwhile")
        rows = rows[1:]
    defects = page.schema_defects()
    entries, broken = ([], []) if defects else read_chain(rows, key, last)
    for entry in entries:
        contents.book.add(entry)
    contents.entries.extend(entries)
    defects = [*defects, *broken, *contents.book.defects]
    if defects:
        more = f" (and {len(defects) - 1} more)" if len(defects) > 1 else ""
        raise EditedError(
            f"{path}: {defects[0]}{more}; nothing was charged. Run: guessproof ledger verify --ledger {path}"
        )
    return contents
