"""The book: entries, the chain that holds them together, and the accounts that they add up to. Pure: no file, no clock.

An entry's digest is the SHA-256 of the canonical JSON of its six fields and of the digest before it, so that
nothing in the past can change without changing every digest after it. The last digest is the *head*. With a key,
every digest is also sealed by HMAC-SHA256, and only who has the key can write a chain that fits.

Every charge counts, whatever became of it: answered, failed, or lost in a crash.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from guessproof.errors import LedgerError, ParameterError
from guessproof.ledger.account import ANSWERED, FAILED, OPEN, Account, Amendment, Charge, Note, Protection, implied
from guessproof.ledger.amounts import Budget, Cost, advantage_of

Row = tuple[Any, ...]
Past = Callable[[str, int], Charge | None]  # an earlier charge of a name, by its number

FORMAT = "guessproof ledger 1"
START = "0" * 64  # what the first entry follows
COLUMNS = ("seq", "time", "name", "kind", "body", "previous", "digest", "seal")
SHORTEST_KEY = 16
_WHERE = "put it into GUESSPROOF_LEDGER_KEY, or give --key-file"


@dataclass(frozen=True)
class Entry:
    """One line, as it is stored. ``body`` is canonical JSON."""

    seq: int
    time: str
    name: str
    kind: str
    body: str
    previous: str
    digest: str
    seal: str | None = None

    @property
    def content(self) -> dict[str, Any]:
        """The body, read; a fresh value each time."""
        return json.loads(self.body)

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with the body read."""
        return {column: self.content if column == "body" else getattr(self, column) for column in COLUMNS}


def row_of(entry: Entry) -> Row:
    """An entry as it is stored."""
    return tuple(getattr(entry, column) for column in COLUMNS)


def next_entry(
    last: Entry | None, *, time: str, name: str, kind: str, body: dict[str, Any], key: bytes | None = None
) -> Entry:
    """The entry that follows `last`, linked and, with a key, sealed.

    >>> next_entry(None, time="2030-01-01T00:00:00Z", name="cats", kind="note", body={"text": "hello"}).digest[:16]
    '785d2dca732b76f9'
    """
    seq = 1 if last is None else last.seq + 1
    previous = START if last is None else last.digest
    text = canonical(kind, body)
    digest = digest_of(seq, time, name, kind, text, previous)
    return Entry(seq, time, name, kind, text, previous, digest, None if key is None else seal_of(digest, key))


def digest_of(seq: int, time: str, name: str, kind: str, body: str, previous: str) -> str:
    """SHA-256 over a JSON array of strings and one number: no two different entries have the same text."""
    text = json.dumps([FORMAT, seq, time, name, kind, body, previous], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def seal_of(digest: str, key: bytes) -> str:
    """HMAC-SHA256 of a digest."""
    return hmac.new(key, digest.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()


def checked_key(key: bytes | None, source: str = "key") -> bytes | None:
    """The key, if it is one; the refusal never shows it."""
    if key is not None and (not isinstance(key, bytes) or len(key) < SHORTEST_KEY):
        remedy = "make one with: head -c 32 /dev/urandom | base64"
        raise ParameterError(source, "…", f"a key needs at least {SHORTEST_KEY} bytes", remedy)
    return key


def canonical(field: str, value: Any) -> str:
    """One text for one value: ASCII, keys sorted, no spaces. Refuses what JSON cannot hold exactly.

    >>> canonical("answer", {"b": 0.1, "a": [1, None, "ε"]})
    '{"a":[1,null,"\\\\u03b5"],"b":0.1}'
    """
    _plain(field, value, 0)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(field: str, value: Any, depth: int) -> None:
    """Refuse by field and type, never by value: an answer is not for error messages."""
    if depth > 50:
        raise ParameterError(field, "…", "it is nested more than 50 deep", "make it flatter")
    if isinstance(value, dict):
        for name, part in value.items():
            if not isinstance(name, str):
                raise ParameterError(field, type(name).__name__, "a key of it is not text", "use text for every key")
            _plain(f"{field}.{name}", part, depth + 1)
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            _plain(f"{field}[{index}]", part, depth + 1)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ParameterError(field, "NaN or an infinity", "JSON has no such number", "use null or text for it")
    elif isinstance(value, int):
        if abs(value) >= 2**1024:
            raise ParameterError(field, "…", "the integer is too large", "use text for it")
    elif value is not None and not isinstance(value, str):
        remedy = "use dict, list, text, plain Python numbers, booleans and None"
        raise ParameterError(field, type(value).__name__, "JSON has no such type", remedy)


@dataclass(frozen=True)
class Defect:
    """One way in which a ledger does not fit; ``seq`` is the entry's number, None for the file as a whole."""

    seq: int | None
    what: str
    is_unread: bool = False  # nothing is known to be wrong: what would show it is missing

    def __str__(self) -> str:
        return self.what if self.seq is None else f"entry {self.seq} {self.what}"


def read_chain(rows: Sequence[Row], key: bytes | None, before: Entry | None = None) -> tuple[list[Entry], list[Defect]]:
    """The entries in order, and everything that is wrong with their numbers, links, digests and seals.

    `before` is the entry that the first row must follow, where the chain up to it was read already.
    """
    entries: list[Entry] = []
    defects: list[Defect] = []
    for row in rows:
        entry, problem = read_entry(row)
        if entry is None:
            defects.append(Defect(_number(row), problem))
            continue
        last = entries[-1] if entries else before
        defects += _link_defects(last, entry)
        entries.append(entry)
    return entries, defects + _seal_defects(entries, key)


def _number(row: Row) -> int | None:
    return row[0] if row and isinstance(row[0], int) else None


def read_entry(row: Row) -> tuple[Entry | None, str]:
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
    return defects + _digest_defects(entry)


def _digest_defects(entry: Entry) -> list[Defect]:
    digest = digest_of(entry.seq, entry.time, entry.name, entry.kind, entry.body, entry.previous)
    edited = Defect(entry.seq, "was edited: its digest does not fit what it says")
    return [] if digest == entry.digest else [edited]


def own_defects(entry: Entry, key: bytes | None) -> list[Defect]:
    """What is wrong with an entry by itself: its digest and its seal."""
    return _digest_defects(entry) + _seal_defects([entry], key)


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
        return [*bare, Defect(None, f"the ledger is sealed and no key was given; {_WHERE}", is_unread=True)]
    wrong = [e for e in sealed if not _fits(e, key)]
    if len(wrong) == len(sealed):
        return [*bare, Defect(None, "no seal fits the key: the key is wrong, or every entry was forged without it")]
    return bare + [Defect(e.seq, "has a seal that does not fit: forged without the key") for e in wrong]


def _fits(entry: Entry, key: bytes) -> bool:
    written = (entry.seal or "").encode("utf-8", "surrogateescape")
    return hmac.compare_digest(written, seal_of(entry.digest, key).encode())


def key_of(*words: str | int) -> str:
    """A short text for a few words, under which an entry is found again without reading the whole chain."""
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


CHECKPOINT = key_of("checkpoint")


def request_key(name: str, request: str) -> str:
    """Where the charges of a request are found."""
    return key_of("request", name, request)


def unsaid_key(name: str, query: str) -> str:
    """Where charges of a query are found that do not say what they protect, as those of the first version."""
    return key_of("unsaid", name, query)


def settling_key(seq: int) -> str:
    """Where the entry is found that says what became of a charge."""
    return key_of("settles", seq)


def keys_of(entry: Entry) -> list[str]:
    """Where an entry is found; nowhere, if it is not what a ledger writes."""
    try:
        body = entry.content
        match entry.kind:
            case "charge":
                return _charge_keys(entry.name, body["request"], body["describe"], is_said="protection" in body)
            case "answer" | "failed":
                return [settling_key(int(body["charge"]))]
            case "checkpoint":
                return [CHECKPOINT]
            case _:
                return []
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return []


def keys_of_charge(name: str, charge: Charge) -> list[str]:
    """Where a charge is found."""
    return _charge_keys(name, charge.request, charge.describe, is_said=charge.protection is not None)


def _charge_keys(name: str, request: str, describe: Mapping[str, Any], *, is_said: bool) -> list[str]:
    found = [request_key(name, request)]
    return found if is_said else [*found, unsaid_key(name, str(describe.get("query")))]


class Book:
    """The accounts that a list of entries makes. An entry that breaks the rules is a defect and changes nothing.

    Entries from the first on make the whole accounts. A book with a `past` may begin at a checkpoint instead: then the
    accounts stand as it says, and `past` gives an earlier charge by its number.
    """

    def __init__(self, entries: Iterable[Entry] = (), past: Past | None = None) -> None:
        self._accounts: dict[str, Account] = {}
        self.defects: list[Defect] = []
        self.past = past
        for entry in entries:
            self.add(entry)

    @property
    def accounts(self) -> Mapping[str, Account]:
        """Every open name, in the order of opening."""
        return self._accounts

    def add(self, entry: Entry) -> None:
        """One more entry."""
        try:
            rule = {
                "open": self._open,
                "charge": self._charge,
                "answer": self._settle,
                "failed": self._settle,
                "amend": self._amend,
                "checkpoint": self._checkpoint,
            }
            rule.get(entry.kind, self._note)(entry, entry.content)
        except _BrokenError as broken:
            self.defects.append(Defect(entry.seq, str(broken)))
        except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
            # a ParameterError is a ValueError
            what = f"{error.field}: {error.problem}" if isinstance(error, ParameterError) else "a part of it is missing"
            self.defects.append(Defect(entry.seq, f"is not what a ledger writes ({what})"))

    def _open(self, entry: Entry, body: dict[str, Any]) -> None:
        if entry.name in self._accounts:
            raise _BrokenError(f"opens {entry.name} a second time")
        if _part(body, "sealed", bool) != (entry.seal is not None):
            raise _BrokenError("says that it is sealed and is not, or the reverse")
        self._accounts[entry.name] = Account(entry.name, _time(entry), Budget(**_part(body, "budget", dict)))

    def _charge(self, entry: Entry, body: dict[str, Any]) -> None:
        account, charge = self._account(entry), read_charge(entry, body)
        said = charge.protection
        try:
            account.refuse_beyond_budget(charge.cost)
            account.refuse_beyond_advantage(charge.advantage)
        except LedgerError:
            raise _BrokenError(f"charges more than the budget of {entry.name} allows") from None
        try:
            if said is not None:  # releases from before this was written are taken as they are
                account.pins.refuse(entry.name, said)
        except LedgerError as error:
            raise _BrokenError(f"does not protect what is pinned: {error}") from None
        account.pins.add(said or implied(charge.guarantee, charge.describe), entry.seq, is_said=said is not None)
        account.add(charge, canonical("guarantee", charge.guarantee))
        account.charges[entry.seq] = charge

    def _amend(self, entry: Entry, body: dict[str, Any]) -> None:
        account = self._account(entry)
        protect, budget = _part(body, "protect", list), body["budget"]
        raised = None if budget is None else Budget(**_part(body, "budget", dict))
        if not all(isinstance(column, str) and column for column in protect) or not (protect or raised):
            raise TypeError("protect")
        try:
            account.refuse_lower_budget(raised)
            account.pins.refuse_widening(entry.name, protect)
        except LedgerError as error:
            raise _BrokenError(str(error)) from None
        account.pins.widen(protect)
        account.budget = raised or account.budget
        account.amendments.append(Amendment(entry.seq, _time(entry), tuple(protect), raised))

    def _settle(self, entry: Entry, body: dict[str, Any]) -> None:
        seq = _part(body, "charge", int)
        account, charge = self._account(entry), self.charge(entry.name, seq)
        if charge is None:
            raise _BrokenError(f"settles entry {seq}, which is no charge of {entry.name}")
        if charge.outcome != OPEN:
            raise _BrokenError(f"settles entry {seq}, which is settled already ({charge.outcome})")
        account.charges[seq] = became(charge, entry)

    def _checkpoint(self, entry: Entry, body: dict[str, Any]) -> None:
        from guessproof.ledger.checkpoint import read_standings, standings_body

        if self.past is not None and not self._accounts:
            self._accounts = read_standings(body)
        elif canonical("checkpoint", standings_body(self._accounts)) != entry.body:
            raise _BrokenError("is a checkpoint that does not say what the entries before it add up to")

    def _note(self, entry: Entry, body: dict[str, Any]) -> None:
        if entry.kind != "note":
            raise _BrokenError(f"is of an unknown kind, {entry.kind!r}")
        note = Note(entry.seq, _time(entry), _part(body, "text", str), _part(body, "scan", bool))
        account = self._account(entry)
        account.notes.append(note)
        account.is_scanned = account.is_scanned or note.scan

    def charge(self, name: str, seq: int) -> Charge | None:
        """One charge of a name by its number, and what became of it."""
        account = self._accounts.get(name)
        found = None if account is None else account.charges.get(seq)
        if found is None and account is not None and self.past is not None:
            found = self.past(name, seq)
        return found

    def _account(self, entry: Entry) -> Account:
        if entry.name not in self._accounts:
            raise _BrokenError(f"belongs to {entry.name}, which was not opened before it")
        return self._accounts[entry.name]


class _BrokenError(Exception):
    """An entry that the ledger itself would never have written."""


def read_charge(entry: Entry, body: dict[str, Any]) -> Charge:
    """A charge as its entry says it, before anything became of it."""
    judged = body["advantage"]
    return Charge(
        entry.seq,
        _time(entry),
        entry.digest,
        _part(body, "request", str),
        Cost(**_part(body, "cost", dict)),
        _part(body, "guarantee", dict),
        _part(body, "describe", dict),
        None if judged is None else advantage_of(float(judged)),
        protection=Protection.from_dict(_part(body, "protection", dict)) if "protection" in body else None,
    )


def became(charge: Charge, entry: Entry) -> Charge:
    """The charge with what an entry says became of it."""
    body = entry.content
    if entry.kind == "answer":
        return replace(charge, outcome=ANSWERED, answer=_part(body, "answer", dict))
    return replace(charge, outcome=FAILED, is_final=_part(body, "final", bool) if "final" in body else False)


def _part(body: dict[str, Any], name: str, kind: type) -> Any:
    """A part of a body, of the type it must have."""
    if not isinstance(body[name], kind):
        raise TypeError(name)
    return body[name]


def _time(entry: Entry) -> str:
    if datetime.fromisoformat(entry.time).tzinfo is None:
        raise ValueError(entry.time)
    return entry.time
