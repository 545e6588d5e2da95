"""What the ledger asks of the place that keeps it: rows that only grow, and one writer at a time.

A store knows nothing of budgets, chains or keys: it gives back the rows that were appended and says whether its own
structure was tampered with. Another one (a database) is one file with these two classes.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

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

    def append(self, entry: Entry) -> None:
        """Write the next entry; it is durable when the transaction has ended."""
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

    def reading(self) -> AbstractContextManager[Transaction]:
        """A consistent view."""
        ...

    def writing(self, *, new: bool = False) -> AbstractContextManager[Transaction]:
        """The only writer until the block ends: then everything is durable, or, after an exception, nothing."""
        ...

    def integrity(self) -> list[Defect]:
        """What the store itself finds wrong with what it keeps."""
        ...
