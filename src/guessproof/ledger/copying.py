"""A ledger in another place: from a file to a server and back, entry by entry, with the same head."""

from __future__ import annotations

import os
from pathlib import Path

from guessproof.errors import EditedError, LedgerError
from guessproof.ledger.book import read_chain
from guessproof.ledger.ledger import open_store
from guessproof.ledger.verify import Verification, verify


def copy_ledger(
    source: str | os.PathLike[str], target: str | os.PathLike[str], key: bytes | None = None
) -> Verification:
    """Copy a whole ledger to a place where there is none; the verdict on the copy, which has the same head.

    The source is verified first, the copy afterwards; an existing ledger is never written over.
    """
    found = verify(source, key=key)
    if not found.ok:
        raise EditedError(f"{source}: {found.defects[0]}; nothing was copied. Run: guessproof ledger verify")
    with open_store(Path(source)).reading() as transaction:
        entries, _ = read_chain(transaction.rows(), key)
    with open_store(Path(target)).writing(new=True) as transaction:
        if transaction.row(1) is not None:
            raise LedgerError(
                f"{target}: there is a ledger already; nothing was copied. Name a place where there is none"
            )
        for entry in entries:
            transaction.append(entry)
    made = verify(target, entries[-1].digest if entries else None, key)
    if not made.ok or made.entries != len(entries):
        raise LedgerError(f"{target}: the copy does not fit; remove it, and copy again")
    return made
