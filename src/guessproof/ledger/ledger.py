"""The ledger: charge, then run, then record, then show.

A charge is on disk before :meth:`Ledger.charge` returns. Whatever happens after that, it stays: an answer may be
lost, never a charge.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from guessproof.errors import EditedError, LedgerError, ParameterError
from guessproof.ledger.account import Account, Charge, Protection, copied
from guessproof.ledger.amounts import Budget, Cost, Left, advantage_of
from guessproof.ledger.book import COLUMNS, START, Book, Entry, canonical, checked_key, next_entry, read_chain
from guessproof.ledger.store import Stamp, Store, Transaction
from guessproof.ledger.store_sqlite import SqliteStore

Clock = Callable[[], datetime]
Judge = Callable[[list[dict[str, Any]]], float]

FAILURE = "the engine failed after the charge; the charge stays"
FINAL = "the table does not fit the plan, as it was found after the charge; the charge stays"


@dataclass(frozen=True)
class Charged:
    """A charge that is on disk: the release may now run. ``head`` is the charge's own digest."""

    name: str
    seq: int
    head: str
    cost: Cost
    remaining: Left


@dataclass(frozen=True)
class Recorded:
    """The same request was answered before: its answer, free. ``seq``, ``cost`` and ``time`` are of its charge."""

    name: str
    seq: int
    head: str
    cost: Cost
    remaining: Left
    time: str
    answer: dict[str, Any]


@dataclass(frozen=True)
class Failed:
    """The same request failed before in a way in which it would fail again: it is neither run nor charged."""

    name: str
    seq: int
    head: str
    cost: Cost
    remaining: Left
    time: str


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
        accounts = self.book.accounts
        if name not in accounts:
            raise LedgerError(
                f"{self.path}: no budget is open for {name!r} (open: {', '.join(accounts) or 'none'}); the owner of "
                f"the data opens it, once: guessproof ledger open {name} --budget 1.0 --ledger {self.path}"
            )
        return accounts[name]


@dataclass(frozen=True)
class Session(Contents):
    """Contents that can grow, while nobody else writes."""

    transaction: Transaction
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
        self.transaction.append(entry)
        self.entries.append(entry)
        return entry


def open_store(path: Path, timeout: float) -> Store:
    """The store that keeps the ledger of this place."""
    return SqliteStore(path, timeout)


def utc_now() -> datetime:
    """The clock; a test gives its own."""
    return datetime.now(UTC)


class Ledger:
    """An existing ledger file. With a key every entry is sealed.

    For `patience` seconds a charge without an answer counts as in work, and the same request is refused; after that
    its answer counts as lost, and the same request is charged again. It is never drawn a second time for free.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        key: bytes | None = None,
        *,
        clock: Clock = utc_now,
        patience: float = 60.0,
        timeout: float = 30.0,
    ) -> None:
        self.path = Path(path)
        self.patience = patience
        self._key = checked_key(key)
        self._clock = clock
        self._store = open_store(self.path, timeout)
        self._seen: Entry | None = None
        self._known: tuple[Stamp, Contents] | None = None  # what was verified, and the file's looks at that time
        self._read()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        name: str,
        budget: Budget,
        key: bytes | None = None,
        *,
        clock: Clock = utc_now,
        patience: float = 60.0,
        timeout: float = 30.0,
    ) -> Ledger:
        """Open a name with its budget, once, in a new file or beside the names of an existing one."""
        _check_name(name)
        with _open_session(open_store(Path(path), timeout), checked_key(key), clock, new=True) as session:
            for other in session.book.accounts.values():
                if other.name.casefold() == name.casefold():
                    raise LedgerError(
                        f"{other.name} is already open, with a budget of ε = {other.budget.epsilon}; a budget is set "
                        "once and cannot be changed"
                    )
            session.append("open", name, {"budget": budget.to_dict(), "sealed": key is not None})
        return cls(path, key, clock=clock, patience=patience, timeout=timeout)

    def charge(
        self,
        name: str,
        request: str,
        cost: Cost,
        guarantee: dict[str, Any],
        describe: dict[str, Any],
        judge: Judge | None = None,
        *,
        protection: Protection | None = None,
        aliases: Collection[str] = (),
    ) -> Charged | Recorded | Failed:
        """Pay for one release, or get the answer that the same request was given before.

        All is decided inside one transaction; a refusal writes nothing. The judge sees the guarantees of all charges
        of this name, the new one last, and gives the attacker's cumulative advantage. `aliases` are names under which
        earlier versions charged the same request.
        """
        if not isinstance(request, str) or not request:
            raise ParameterError("request", request, "it is no text", "give the digest of the canonical request")
        body = {"request": request, "cost": cost.to_dict(), "guarantee": guarantee, "describe": describe}
        if protection is not None:
            body["protection"] = protection.to_dict()
        plain = canonical("charge", body)  # refused before the lock is taken
        requests = {request, *aliases}
        with self._session() as session:
            account = session.account(name)
            done = account.settled(requests)
            if done is not None:
                return _settled(name, done, account, session.head)
            working = account.in_work(requests, self._clock(), self.patience)
            if working is not None:
                raise _in_work(name, working, self.patience)
            account.pins.refuse(name, protection)
            account.refuse_beyond_budget(cost)
            judged = _judged(account, json.loads(plain)["guarantee"], judge)  # a copy: the judge cannot change it
            account.refuse_beyond_advantage(judged)
            entry = session.append(
                "charge", name, {**json.loads(plain), "advantage": None if judged is None else str(judged)}
            )
            left = account.left
        return Charged(name, entry.seq, entry.digest, cost, left)

    def record(self, charged: Charged, answer: dict[str, Any]) -> str:
        """Write the answer of a charge, once; the new head."""
        canonical("answer", answer)
        return self._settle(charged, "answer", {"charge": charged.seq, "answer": answer})

    def failed(self, charged: Charged, *, final: bool = False) -> str:
        """Write that the release failed, in constant words; the charge stays. The new head.

        `final`: the same request would fail again, so it will be neither run nor charged.
        """
        body: dict[str, Any] = {"charge": charged.seq, "note": FINAL if final else FAILURE}
        return self._settle(charged, "failed", {**body, "final": True} if final else body)

    def amend(self, name: str, *, protect: Iterable[str] = (), budget: Budget | None = None) -> str:
        """The owner's: protect more columns from now on, or allow a larger budget. A visible entry; the new head."""
        columns = list(protect)
        for column in columns:
            if not isinstance(column, str) or not column.strip() or not column.isprintable():
                raise ParameterError("protect", column, "it cannot name a column", "give the column's name")
        if not columns and budget is None:
            raise ParameterError("protect", columns, "nothing is amended", "name a column to protect, or a budget")
        with self._session() as session:
            account = session.account(name)
            account.refuse_lower_budget(budget)
            account.pins.refuse_widening(name, columns)
            body = {"protect": columns, "budget": None if budget is None else budget.to_dict()}
            return session.append("amend", name, body).digest

    def note(self, name: str, text: str, *, scan: bool = False) -> str:
        """Write a remark; `scan` says that the records' exposure was looked at. The new head."""
        if not isinstance(text, str) or not text:
            raise ParameterError("text", text, "it is no text", "write what is to be noted")
        with self._session() as session:
            session.account(name)
            return session.append("note", name, {"text": text, "scan": scan}).digest

    def settled(self, name: str, requests: Collection[str]) -> Recorded | Failed | None:
        """What one of these requests gets without a charge; None where it would have to be charged. Writes nothing."""
        contents = self._read()
        account = contents.account(name)
        done = account.settled(requests)
        return None if done is None else _settled(name, done, account, contents.head)

    @property
    def head(self) -> str:
        """The digest of the last entry. Kept elsewhere, it shows a truncation or a rollback later."""
        return self._read().head

    def entries(self, name: str | None = None) -> list[Entry]:
        """All entries, or those of one name."""
        return [entry for entry in self._read().entries if name in (None, entry.name)]

    def accounts(self) -> Mapping[str, Account]:
        """Every name with its budget, charges and notes."""
        return {name: copied(account) for name, account in self._read().book.accounts.items()}

    def account(self, name: str) -> Account:
        """One name with its budget, charges and notes."""
        return copied(self._read().account(name))

    def remaining(self, name: str) -> Left:
        """What is left of a name's budget."""
        return self._read().account(name).left

    def scanned(self, name: str) -> bool:
        """Whether a scan of this data was noted."""
        return any(note.scan for note in self._read().account(name).notes)

    def _settle(self, charged: Charged, kind: str, body: dict[str, Any]) -> str:
        with self._session() as session:
            charge = session.account(charged.name).charges.get(charged.seq)
            if charge is None or charge.digest != charged.head:
                raise LedgerError(f"{self.path}: it holds no charge {charged.seq} of {charged.name} with this digest")
            return session.append(kind, charged.name, body).digest

    @contextmanager
    def _session(self) -> Generator[Session]:
        with _open_session(self._store, self._key, self._clock, self._taken()) as session:
            self._refuse_rollback(session)
            yield session
        self._refuse_rollback(session)
        self._known = self._store.stamp(), Contents(session.path, session.entries, session.book)

    def _read(self) -> Contents:
        """The ledger as it is now."""
        stamp = self._store.stamp()
        contents = _read_contents(self._store, self._key, self._taken())
        self._refuse_rollback(contents)
        self._known = stamp, contents
        return contents

    def _taken(self) -> Contents | None:
        """What was verified before, for one use: while nobody else wrote to the file its chain is not read again."""
        known, self._known = self._known, None
        return known[1] if known is not None and known[0] == self._store.stamp() else None

    def _refuse_rollback(self, contents: Contents) -> None:
        """What this process has seen must still be there."""
        seen, entries = self._seen, contents.entries
        if seen is not None and (len(entries) < seen.seq or entries[seen.seq - 1].digest != seen.digest):
            raise EditedError(f"{self.path}: entry {seen.seq} is gone: the ledger was truncated or replaced meanwhile")
        self._seen = entries[-1] if entries else None


def _read_contents(store: Store, key: bytes | None, known: Contents | None = None) -> Contents:
    """The whole ledger, checked; what is `known` was checked before and is taken over, to grow by what came since."""
    with store.reading() as transaction:
        return _verify(transaction, key, store.path, known)


@contextmanager
def _open_session(
    store: Store, key: bytes | None, clock: Clock, known: Contents | None = None, *, new: bool = False
) -> Generator[Session]:
    """The whole ledger, checked, with the only right to write until the block ends."""
    with store.writing(new=new) as transaction:
        found = _verify(transaction, key, store.path, known)
        yield Session(found.path, found.entries, found.book, transaction, key, clock)


def _verify(transaction: Transaction, key: bytes | None, path: Path, known: Contents | None) -> Contents:
    """Refuse to read or write a ledger in which anything does not fit."""
    contents = known or Contents(path, [], Book())
    last = contents.entries[-1] if contents.entries else None
    rows = transaction.rows(None if last is None else last.seq)
    if last is not None:
        if not rows or rows[0] != tuple(getattr(last, column) for column in COLUMNS):
            raise EditedError(f"{path}: entry {last.seq} is gone: the ledger was truncated or replaced meanwhile")
        rows = rows[1:]
    defects = transaction.schema_defects()
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


def _judged(account: Account, guarantee: dict[str, Any], judge: Judge | None) -> Decimal | None:
    """The attacker's cumulative advantage with this release, where somebody judges it."""
    if judge is None:
        return None
    return advantage_of(judge([*(deepcopy(charge.guarantee) for charge in account.charges.values()), guarantee]))


def _settled(name: str, done: Charge, account: Account, head: str) -> Recorded | Failed:
    if done.answer is None:
        return Failed(name, done.seq, head, done.cost, account.left, done.time)
    return Recorded(name, done.seq, head, done.cost, account.left, done.time, deepcopy(done.answer))


def _in_work(name: str, charge: Charge, patience: float) -> LedgerError:
    return LedgerError(
        f"{name}: the same request was charged at {charge.time} (entry {charge.seq}) and is being answered; nothing "
        f"was charged now. Ask again later: you get its answer, or, if that run died, pay again {patience:g} seconds "
        "after its charge"
    )


def _check_name(name: str) -> None:
    """Names that look the same are the same."""
    fits = isinstance(name, str) and 0 < len(name) <= 100 and name.isprintable() and name == name.strip()
    if not fits or unicodedata.normalize("NFC", name) != name:
        raise ParameterError("name", name, "it cannot name data", "use 1 to 100 printable characters, as cafeteria")
