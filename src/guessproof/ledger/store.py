"""What the ledger asks of the place that keeps it: rows that only grow, and one writer at a time.

A store knows nothing of budgets, chains or secrets: it gives back the rows that were appended, all or those under a key
(:func:`~guessproof.ledger.book.keys_of`), and says whether its own structure was tampered with.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager
from pathlib import Path
from shlex import quote
from typing import Protocol

from guessproof.errors import LedgerError
from guessproof.ledger.book import Defect, Entry, Row

Stamp = Hashable  # None where it cannot be told


class Transaction(Protocol):
    """The ledger as one transaction sees it."""

    def schema_defects(self) -> list[Defect]:
        """What was dropped from, changed in or added to the tables and the rules that make them append-only."""
        ...

    def rows(self, since: int | None = None) -> list[Row]:
        """Every stored row in order, or those from one number on."""
        ...

    def row(self, seq: int) -> Row | None:
        """One stored row by its number."""
        ...

    def found(self, key: str) -> list[Row]:
        """The rows that were appended under a key, in order."""
        ...

    def last_found(self, key: str) -> Row | None:
        """The last of them; None too where this place keeps no keys yet."""
        ...

    def keys(self) -> list[tuple[str, int]] | None:
        """Every key with the number of its row; None where this place keeps none yet."""
        ...

    def append(self, entry: Entry) -> None:
        """Write the next entry and where it is found; both are durable when the transaction has ended."""
        ...


class Store(Protocol):
    """Where a ledger is kept; failures are LedgerErrors."""

    @property
    def path(self) -> Path:
        """Its place, for messages."""
        ...

    def stamp(self) -> Stamp:
        """How it looks from outside; it changes whenever anybody writes to it."""
        ...

    def find(self) -> None:
        """Refuse where there is no ledger."""
        ...

    def is_there(self) -> bool:
        """Whether there is something to open; what is in it is another matter."""
        ...

    def notes(self) -> list[str]:
        """What whoever verifies the ledger should know of its place."""
        ...

    def reading(self) -> AbstractContextManager[Transaction]:
        """A consistent view."""
        ...

    def writing(self, *, new: bool = False) -> AbstractContextManager[Transaction]:
        """The only writer until the block ends: then everything is durable, or, after an exception, nothing."""
        ...

    def integrity(self) -> list[Defect]:
        """What the store itself finds wrong with what it keeps."""
        ...


def no_ledger(path: Path) -> LedgerError:
    """The refusal where there is none."""
    return LedgerError(
        f"{path}: there is no ledger here; the owner of the data opens one, once: guessproof ledger open NAME --budget "
        f"1.0 --ledger {quote(str(path))} (guessproof choose PLAN prints the line with the plan's name and budget)"
    )
