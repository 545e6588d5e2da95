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
from shlex import quote
from typing import Any

from guessproof.errors import EditedError, LedgerError, ParameterError
from guessproof.ledger.account import Account, Charge, Protection, Standing, Tally, copied, in_work, settled
from guessproof.ledger.amounts import Budget, Cost, Left, advantage_of
from guessproof.ledger.book import Entry, canonical, checked_key, request_key, row_of, unsaid_key
from guessproof.ledger.session import CHECKPOINT_EVERY, Clock, Contents, Session, open_session
from guessproof.ledger.store import Stamp, Store
from guessproof.ledger.store_sqlite import SqliteStore

Judge = Callable[[list[Tally]], float]

MOST_KEPT = 4 * CHECKPOINT_EVERY  # entries that a process keeps in mind between two uses

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


def open_store(path: Path, timeout: float = 30.0) -> Store:
    """The store that keeps the ledger of this place: a file, or the server that env:NAME leads to."""
    if not is_on_server(path):
        return SqliteStore(path, timeout)
    from guessproof.ledger.store_postgres import PostgresStore

    return PostgresStore(path, timeout)


def is_on_server(path: str | os.PathLike[str]) -> bool:
    """Whether a ledger's place is no file."""
    return str(path).startswith("env:")


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether a place may hold a ledger: a file that exists, a variable that leads to a server with its tables."""
    is_unset = is_on_server(path) and not os.environ.get(str(path).removeprefix("env:"))
    return not is_unset and open_store(Path(path)).is_there()


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
        self._unsure: set[str] = set()  # charges that may have been written, by their digests; none was drawn for
        self._known: tuple[Stamp, Contents] | None = None  # what was verified, and the file's looks at that time
        with self._reading():
            pass

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
        store = open_store(Path(path), timeout)
        with store.writing(new=True) as transaction:
            session = open_session(store.path, transaction, checked_key(key), clock)
            for other in session.book.accounts.values():
                if other.name.casefold() == name.casefold():
                    raise LedgerError(
                        f"{other.name} is already open, with a budget of ε = {other.budget.epsilon}; a budget is set "
                        f"once. Its owner can raise it, by an entry that everybody sees: guessproof ledger amend "
                        f"{quote(other.name)} --budget … --ledger {quote(str(path))}"
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

        All is decided inside one transaction; a refusal writes nothing. Where the budget limits the attacker's
        cumulative advantage, the judge sees the guarantees of all charges of this name, the new one last, and gives
        it. `aliases` are names under which earlier versions charged the same request.
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
            charges = session.charges(name, [request_key(name, asked) for asked in requests])
            done = settled(charges)
            if done is not None:
                return _settled(name, done, account, session.head)
            mine = next((c for c in charges if c.digest in self._unsure), None)
            if mine is not None:
                return self._found_again(mine, account)
            working = in_work(charges, self._clock(), self.patience)
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
            self._unsure.add(entry.digest)
        self._unsure.discard(entry.digest)
        return Charged(name, entry.seq, entry.digest, cost, left)

    def _found_again(self, charge: Charge, account: Standing) -> Charged:
        """A charge whose writing nobody acknowledged: it was written, and nothing was drawn for it yet."""
        self._unsure.discard(charge.digest)
        return Charged(account.name, charge.seq, charge.digest, charge.cost, account.left)

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
        with self._reading() as session:
            account = session.account(name)
            done = settled(session.charges(name, [request_key(name, asked) for asked in requests]))
            return None if done is None else _settled(name, done, account, session.head)

    def unsaid(self, name: str, query: str) -> list[Charge]:
        """The charges of a query that do not say what they protect, as those of the first version."""
        with self._reading() as session:
            return session.charges(name, [unsaid_key(name, query)])

    @property
    def head(self) -> str:
        """The digest of the last entry. Kept elsewhere, it shows a truncation or a rollback later."""
        with self._reading() as session:
            return session.head

    @property
    def names(self) -> list[str]:
        """Every open name, in the order of opening."""
        with self._reading() as session:
            return list(session.book.accounts)

    def standing(self, name: str) -> Standing:
        """How one name stands: its budget, what was spent, what is pinned."""
        with self._reading() as session:
            return copied(session.account(name))

    def remaining(self, name: str) -> Left:
        """What is left of a name's budget."""
        return self.standing(name).left

    def scanned(self, name: str) -> bool:
        """Whether a scan of this data was noted."""
        return self.standing(name).is_scanned

    def entries(self, name: str | None = None) -> list[Entry]:
        """All entries, or those of one name. The whole chain is read and checked."""
        return [entry for entry in self._whole().entries if name in (None, entry.name)]

    def accounts(self) -> Mapping[str, Account]:
        """Every name with its budget, charges and notes. The whole chain is read and checked."""
        return {name: copied(account) for name, account in self._whole().book.accounts.items()}

    def account(self, name: str) -> Account:
        """One name with its budget, charges and notes. The whole chain is read and checked."""
        return copied(self._whole().account(name))

    def _settle(self, charged: Charged, kind: str, body: dict[str, Any]) -> str:
        with self._session() as session:
            session.account(charged.name)
            charge = session.book.charge(charged.name, charged.seq)
            if charge is None or charge.digest != charged.head:
                raise LedgerError(f"{self.path}: it holds no charge {charged.seq} of {charged.name} with this digest")
            return session.append(kind, charged.name, body).digest

    @contextmanager
    def _session(self) -> Generator[Session]:
        """The ledger, with the only right to write until the block ends."""
        known = self._taken()
        with self._store.writing() as transaction:
            session = open_session(self._store.path, transaction, self._key, self._clock, known)
            self._refuse_rollback(session)
            yield session
        self._keep(session, self._store.stamp())

    @contextmanager
    def _reading(self) -> Generator[Session]:
        """The ledger as it is now."""
        stamp = self._store.stamp()
        known = self._taken()
        with self._store.reading() as transaction:
            session = open_session(self._store.path, transaction, self._key, self._clock, known)
            self._refuse_rollback(session)
            yield session
        self._keep(session, stamp)

    def _whole(self) -> Contents:
        """The ledger from its first entry on."""
        with self._store.reading() as transaction:
            session = open_session(self._store.path, transaction, self._key, self._clock, whole=True)
            self._refuse_rollback(session)
            return session

    def _keep(self, session: Session, stamp: Stamp) -> None:
        """What was verified is taken over by the next use, unless it has grown too long."""
        self._seen = session.entries[-1] if session.entries else None
        if stamp is not None and len(session.entries) <= MOST_KEPT:
            self._known = stamp, Contents(session.path, session.entries, session.book)

    def _taken(self) -> Contents | None:
        """What was verified before, for one use: while nobody else wrote to the file its chain is not read again."""
        known, self._known = self._known, None
        return known[1] if known is not None and known[0] == self._store.stamp() else None

    def _refuse_rollback(self, session: Session) -> None:
        """What this process has seen must still be there."""
        seen = self._seen
        if seen is not None and session.transaction.row(seen.seq) != row_of(seen):
            raise EditedError(f"{self.path}: entry {seen.seq} is gone: the ledger was truncated or replaced meanwhile")


def _judged(account: Standing, guarantee: dict[str, Any], judge: Judge | None) -> Decimal | None:
    """The attacker's cumulative advantage with this release, where it is limited and somebody judges it."""
    if judge is None or account.budget.advantage is None:
        return None
    return advantage_of(judge([*account.given(), Tally(guarantee, 1)]))


def _settled(name: str, done: Charge, account: Standing, head: str) -> Recorded | Failed:
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
