"""Do the stored rows fit together? Pure: rows and a key in, entries and defects out."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from guessproof.ledger.entry import COLUMNS, START, Entry, digest_of, seal_of

Row = tuple[Any, ...]

_WHERE = "put it into GUESSPROOF_LEDGER_KEY, or give --key-file"


@dataclass(frozen=True)
class Defect:
    """One way in which a ledger does not fit; ``seq`` is the entry's number, None for the file as a whole."""

    seq: int | None
    what: str

    def __str__(self) -> str:
        return self.what if self.seq is None else f"entry {self.seq} {self.what}"


def read_chain(rows: Sequence[Row], key: bytes | None, before: Entry | None = None) -> tuple[list[Entry], list[Defect]]:
    """The entries in order, and everything that is wrong with their numbers, links, digests and seals.

    `before` is the entry that the first row must follow, where the chain up to it was read already.
    """
    entries: list[Entry] = []
    defects: list[Defect] = []
    for row in rows:
        entry, problem = _entry(row)
        if entry is None:
            defects.append(Defect(_number(row), problem))
            continue
        last = entries[-1] if entries else before
        defects += _link_defects(last, entry)
        entries.append(entry)
    return entries, defects + _seal_defects(entries, key)


def _number(row: Row) -> int | None:
    return row[0] if row and isinstance(row[0], int) else None


def _entry(row: Row) -> tuple[Entry | None, str]:
    """The row as an entry, or why it is none."""
    kinds = (int, str, str, str, str, str, str, str | None)
    for column, kind, value in zip(COLUMNS, kinds, row, strict=True):
        if not isinstance(value, kind):
            return None, f"was edited: its {column} is stored as {type(value).__name__}"
    return Entry(*row), ""


def _link_defects(last: Entry | None, entry: Entry) -> list[Defect]:
    defects: list[Defect] = []
    expected = 1 if last is None else last.seq + 1
    if entry.seq != expected:
        gap = f"entry {expected} is" if entry.seq == expected + 1 else f"entries {expected} to {entry.seq - 1} are"
        missing = Defect(None, f"{gap} missing")
        defects.append(missing if entry.seq > expected else Defect(entry.seq, "has a number that no entry can have"))
    elif entry.previous != (START if last is None else last.digest):
        defects.append(Defect(entry.seq, "does not follow the entry before it: one was edited, inserted or reordered"))
    digest = digest_of(entry.seq, entry.time, entry.name, entry.kind, entry.body, entry.previous)
    if digest != entry.digest:
        defects.append(Defect(entry.seq, "was edited: its digest does not fit what it says"))
    return defects


def _seal_defects(entries: Sequence[Entry], key: bytes | None) -> list[Defect]:
    """A sealed ledger needs its key, an unsealed one has none."""
    sealed = [entry for entry in entries if entry.seal is not None]
    if not sealed:
        return (
            []
            if key is None or not entries
            else [
                Defect(
                    None,
                    "a key was given, and no entry is sealed: an unsealed ledger has none, a sealed one was replaced",
                )
            ]
        )
    bare = [
        Defect(e.seq, "is not sealed, although others are: written without the key") for e in entries if e.seal is None
    ]
    if key is None:
        return [*bare, Defect(None, f"the ledger is sealed and no key was given; {_WHERE}")]
    wrong = [e for e in sealed if not _fits(e, key)]
    if len(wrong) == len(sealed):
        return [*bare, Defect(None, "no seal fits the key: the key is wrong, or every entry was forged without it")]
    return bare + [Defect(e.seq, "has a seal that does not fit: forged without the key") for e in wrong]


def _fits(entry: Entry, key: bytes) -> bool:
    written = (entry.seal or "").encode("utf-8", "surrogateescape")
    return hmac.compare_digest(written, seal_of(entry.digest, key).encode())
