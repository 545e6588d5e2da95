"""What the entries add up to: budgets, charges, answers, what is left. Pure: no file, no clock.

Every charge counts, whatever became of it: answered, failed, or lost in a crash.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from guessproof.errors import BudgetError, LedgerError, ParameterError
from guessproof.ledger.amounts import ZERO, Budget, Cost, Left, advantage_of, minus, plus, shown
from guessproof.ledger.chain import Defect
from guessproof.ledger.entry import Entry
from guessproof.ledger.protection import Pins, Protection, implied

OPEN, ANSWERED, FAILED = "no answer", "answered", "failed"


@dataclass(frozen=True)
class Charge:
    """One charge and what became of it: "answered", "failed" or "no answer".

    `is_final`: it failed in a way in which the same request would fail again.
    """

    seq: int
    time: str
    digest: str
    request: str
    cost: Cost
    guarantee: dict[str, Any]
    describe: dict[str, Any]
    advantage: Decimal | None
    outcome: str = OPEN
    answer: dict[str, Any] | None = None
    protection: Protection | None = None
    is_final: bool = False


@dataclass(frozen=True)
class Amendment:
    """What the owner changed: columns that are protected from here on, and the budget where it was raised."""

    seq: int
    time: str
    protect: tuple[str, ...]
    budget: Budget | None


@dataclass(frozen=True)
class Note:
    """A remark; ``scan`` says that the records' exposure was looked at."""

    seq: int
    time: str
    text: str
    scan: bool


@dataclass
class Account:
    """One name: its budget, what was spent of it, and on what. Only :class:`Book` changes it."""

    name: str
    opened: str
    budget: Budget
    epsilon: Decimal = ZERO
    delta: Decimal = ZERO
    advantage: Decimal = ZERO  # the largest cumulative advantage that was judged so far
    charges: dict[int, Charge] = field(default_factory=dict[int, Charge])  # by the number of the entry, in order
    notes: list[Note] = field(default_factory=list[Note])
    amendments: list[Amendment] = field(default_factory=list[Amendment])
    pins: Pins = field(default_factory=Pins)

    @property
    def left(self) -> Left:
        """What is left of the budget."""
        limit = self.budget.advantage
        rest = None if limit is None else minus(limit, self.advantage)
        return Left(minus(self.budget.epsilon, self.epsilon), minus(self.budget.delta, self.delta), rest)

    def answered(self, *requests: str) -> Charge | None:
        """The first charge of one of these requests that has an answer."""
        return next((c for c in self.charges.values() if c.request in requests and c.outcome == ANSWERED), None)

    def settled(self, requests: Collection[str]) -> Charge | None:
        """The charge that says what one of these requests gets without a new one: its answer, or that it must fail."""
        final = (c for c in self.charges.values() if c.request in requests and c.is_final)
        return self.answered(*requests) or next(final, None)

    def in_work(self, requests: Collection[str], now: datetime, patience: float) -> Charge | None:
        """A charge of one of these requests without an answer that is younger than `patience` seconds."""
        for charge in self.charges.values():
            if charge.request not in requests or charge.outcome != OPEN:
                continue
            # A clock that was set back makes ages negative; these must not block for ever.
            if abs(now - datetime.fromisoformat(charge.time)) < timedelta(seconds=patience):
                return charge
        return None

    def refuse_beyond_budget(self, cost: Cost) -> None:
        """Raise where this cost is more than what is left."""
        left = self.left
        for symbol, asked, rest, whole in (
            ("ε", cost.epsilon, left.epsilon, self.budget.epsilon),
            ("δ", cost.delta, left.delta, self.budget.delta),
        ):
            if asked > rest:
                raise BudgetError(
                    f"{self.name}: this release costs {symbol} = {_compared(asked, rest)} of the budget of {whole} is "
                    f"left; nothing was charged{_hint(asked, rest)}"
                )

    def refuse_lower_budget(self, raised: Budget | None) -> None:
        """Raise where an amended budget takes anything back: what was promised to others stays promised."""
        if raised is None:
            return
        now = self.budget
        same = (raised.advantage is None) == (now.advantage is None)
        parts = [(raised.epsilon, now.epsilon), (raised.delta, now.delta)]
        parts += [(raised.advantage, now.advantage)] if raised.advantage and now.advantage else []
        if not same or any(new < old for new, old in parts) or all(new == old for new, old in parts):
            raise LedgerError(
                f"{self.name}: an amended budget must allow more and take nothing back (now {_said(now)}, "
                f"asked {_said(raised)})"
            )

    def refuse_beyond_advantage(self, judged: Decimal | None) -> None:
        """Raise where the attacker's cumulative advantage passes its limit, or nobody judged it."""
        limit = self.budget.advantage
        if limit is None:
            return
        if judged is None:
            raise LedgerError(
                f"{self.name}: its budget limits the attacker's cumulative advantage to {limit}, and this release has "
                "no attacker to judge it by; give the plan an [attacker]. Nothing was charged"
            )
        if judged > limit:
            raise BudgetError(
                f"{self.name}: with this release the attacker's cumulative advantage could reach "
                f"{shown(judged, up=True)}, and the budget allows {limit} ({shown(self.advantage, up=True)} is used, "
                f"ε = {self.left.epsilon} is left); nothing was charged"
            )


def copied(account: Account) -> Account:
    """The account as it is now, whatever is booked later."""
    return replace(
        account,
        charges=dict(account.charges),
        notes=list(account.notes),
        amendments=list(account.amendments),
        pins=deepcopy(account.pins),
    )


class Book:
    """The accounts that a list of entries makes. An entry that breaks the rules is a defect and changes nothing."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._accounts: dict[str, Account] = {}
        self.defects: list[Defect] = []
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
                "answer": self._answer,
                "failed": self._failed,
                "amend": self._amend,
            }
            rule.get(entry.kind, self._note)(entry, entry.content)
        except _BrokenError as broken:
            self.defects.append(Defect(entry.seq, str(broken)))
        except (KeyError, TypeError, ValueError, RecursionError) as error:  # a ParameterError is a ValueError
            what = f"{error.field}: {error.problem}" if isinstance(error, ParameterError) else "a part of it is missing"
            self.defects.append(Defect(entry.seq, f"is not what a ledger writes ({what})"))

    def _open(self, entry: Entry, body: dict[str, Any]) -> None:
        if entry.name in self._accounts:
            raise _BrokenError(f"opens {entry.name} a second time")
        if _part(body, "sealed", bool) != (entry.seal is not None):
            raise _BrokenError("says that it is sealed and is not, or the reverse")
        self._accounts[entry.name] = Account(entry.name, _time(entry), Budget(**_part(body, "budget", dict)))

    def _charge(self, entry: Entry, body: dict[str, Any]) -> None:
        account = self._account(entry)
        judged = body["advantage"]
        said = Protection.from_dict(_part(body, "protection", dict)) if "protection" in body else None
        charge = Charge(
            entry.seq,
            _time(entry),
            entry.digest,
            _part(body, "request", str),
            Cost(**_part(body, "cost", dict)),
            _part(body, "guarantee", dict),
            _part(body, "describe", dict),
            None if judged is None else advantage_of(float(judged)),
            protection=said,
        )
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
        account.epsilon = plus(account.epsilon, charge.cost.epsilon)
        account.delta = plus(account.delta, charge.cost.delta)
        account.advantage = max(account.advantage, charge.advantage or ZERO)
        account.charges[entry.seq] = charge

    def _answer(self, entry: Entry, body: dict[str, Any]) -> None:
        self._settle(entry, _part(body, "charge", int), ANSWERED, _part(body, "answer", dict))

    def _failed(self, entry: Entry, body: dict[str, Any]) -> None:
        final = _part(body, "final", bool) if "final" in body else False
        self._settle(entry, _part(body, "charge", int), FAILED, None, is_final=final)

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

    def _settle(
        self, entry: Entry, seq: int, outcome: str, answer: dict[str, Any] | None, *, is_final: bool = False
    ) -> None:
        charges = self._account(entry).charges
        charge = charges.get(seq)
        if charge is None:
            raise _BrokenError(f"settles entry {seq}, which is no charge of {entry.name}")
        if charge.outcome != OPEN:
            raise _BrokenError(f"settles entry {seq}, which is settled already ({charge.outcome})")
        charges[seq] = replace(charge, outcome=outcome, answer=answer, is_final=is_final)

    def _note(self, entry: Entry, body: dict[str, Any]) -> None:
        if entry.kind != "note":
            raise _BrokenError(f"is of an unknown kind, {entry.kind!r}")
        note = Note(entry.seq, _time(entry), _part(body, "text", str), _part(body, "scan", bool))
        self._account(entry).notes.append(note)

    def _account(self, entry: Entry) -> Account:
        if entry.name not in self._accounts:
            raise _BrokenError(f"belongs to {entry.name}, which was not opened before it")
        return self._accounts[entry.name]


class _BrokenError(Exception):
    """An entry that the ledger itself would never have written."""


def _part(body: dict[str, Any], name: str, kind: type) -> Any:
    """A part of a body, of the type it must have."""
    if not isinstance(body[name], kind):
        raise TypeError(name)
    return body[name]


def _time(entry: Entry) -> str:
    if datetime.fromisoformat(entry.time).tzinfo is None:
        raise ValueError(entry.time)
    return entry.time


def _said(budget: Budget) -> str:
    extra = "" if budget.advantage is None else f", advantage = {budget.advantage}"
    return f"ε = {budget.epsilon}, δ = {budget.delta}{extra}"


def _compared(asked: Decimal, rest: Decimal) -> str:
    """Short numbers where they tell the difference, else all digits."""
    short, shorter = shown(asked, up=True), shown(rest, up=False)
    return f"{asked}, and {rest}" if short == shorter else f"{short}, and {shorter}"


def _hint(asked: Decimal, rest: Decimal) -> str:
    """Why a cost that looks like what is left is not: 0.1 as a float is above 0.1."""
    if asked <= rest * (1 + Decimal("1e-12")):
        return '. A float costs its exact value: give an ε that was typed as text ("0.1") or as an exact quotient'
    return ""
