"""One name: what it protects, its budget, and every charge. What may still be charged is decided here. Pure.

A promise about a column is worth nothing if another release under the same name reads that column as public, whether
before or after. So the unit, its size (`linked_records`, `copies`) and the protected columns are pinned by the first
release. A plan that protects less is refused; so is one that protects more, since its promise would bind nobody: only
the owner widens, by an entry of its own, and only to columns that no release has read as public.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from shlex import quote
from typing import Any

from guessproof.errors import BudgetError, LedgerError
from guessproof.ledger.amounts import ZERO, Budget, Cost, Left, minus, plus, shown
from guessproof.names import folded, likeness

OPEN, ANSWERED, FAILED = "no answer", "answered", "failed"
# Units that protect every column of a record, by name: the ledger must open without the heavy rooms below.
WHOLE_RECORD = ("records", "persons")
SIZES = ("linked_records", "copies")  # how much one unit is, beside its name
_WORDS = re.compile(r'"((?:[^"]|"")+)"|(\w+)')


@dataclass(frozen=True)
class Protection:
    """What one release protects and what it takes to be known; columns as its plan spells them.

    `columns` are protected (where only values are), or name the unit (where it has several rows). Of those that the
    query reads, `public` are not protected, and of the protected ones `hidden` may be missing without anyone seeing
    it, while for `known` that is taken as known. `linked_records` tell of each other, and a record is in `copies`
    rows; charges of earlier versions do not say so (None).
    """

    unit: str
    columns: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    linked_records: int | None = None
    copies: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As the ledger writes it."""
        sizes = {key: getattr(self, key) for key in SIZES if getattr(self, key) is not None}
        return {
            "unit": self.unit,
            "columns": sorted(self.columns),
            "public": sorted(self.public),
            "hidden": sorted(self.hidden),
            "known": sorted(self.known),
            **sizes,
        }

    @staticmethod
    def from_dict(table: Mapping[str, Any]) -> Protection:
        """As it was written."""
        unit = table["unit"]
        if not isinstance(unit, str):
            raise TypeError("unit")
        columns, public, hidden, known = (_texts(table[part]) for part in ("columns", "public", "hidden", "known"))
        linked, copies = (read_size(table[key]) if key in table else None for key in SIZES)
        return Protection(unit, columns, public, hidden, known, linked, copies)


def implied(guarantee: Mapping[str, Any], describe: Mapping[str, Any]) -> Protection | None:
    """What a charge that does not say what it protects lets one conclude; None where that is nothing.

    Its guarantee names the protected columns that it read. Every other word of its query may be a column that it read
    as public.
    """
    unit, query, columns = describe.get("protects"), describe.get("query"), guarantee.get("columns")
    if not isinstance(unit, str) or not isinstance(query, str) or not isinstance(columns, Mapping):
        return None
    read: tuple[str, ...] = tuple(str(name) for name in columns)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if unit in WHOLE_RECORD:
        return Protection(unit)
    known = {folded(name) for name in read}
    words = {(quoted or plain).replace('""', '"') for quoted, plain in _WORDS.findall(query)}
    return Protection(unit, read, tuple(sorted(word for word in words if folded(word) not in known)))


@dataclass
class Pins:
    """What is pinned for one name. Only the book changes it."""

    unit: str | None = None
    is_complete: bool = False  # whether `protected` is all that is protected, or only what is known to be
    protected: dict[str, str] = field(default_factory=dict[str, str])  # folded: as it was spelled first
    public: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])  # and the entry that read it
    gaps: dict[str, tuple[bool, int]] = field(default_factory=dict[str, tuple[bool, int]])  # known, by which entry
    sizes: dict[str, int] = field(default_factory=dict[str, int])  # linked_records and copies, once a release says them

    def refuse(self, name: str, asked: Protection | None) -> None:
        """Raise where a release does not protect what is pinned, or protects what nobody pinned."""
        if asked is None:
            if self.is_complete:
                raise _refused(f"{name}: this release does not say what it protects, as those before it do")
            return
        if self.unit is not None and asked.unit != self.unit:
            raise _refused(
                f"{name}: its releases protect {self.unit}, and this plan protects {asked.unit}. Write protects = "
                f'"{self.unit}", or open another name for it'
            )
        for key, pinned in self.sizes.items():
            value = getattr(asked, key)
            if value not in (None, pinned):
                raise _refused(
                    f"{name}: its releases protect with {key} = {pinned}, and this plan with {key} = {value}. "
                    f"Write {key} = {pinned} under [data], or open another name for it"
                )
        if asked.unit in WHOLE_RECORD:
            self._refuse_other_names(name, asked)
        else:
            self._refuse_columns(name, asked)
        for column in asked.known:
            is_known, seq = self.gaps.get(folded(column), (True, 0))
            if not is_known:
                raise _refused(
                    f"{name}: entry {seq} hides whether a value of {column} is missing, and this plan takes that as "
                    "known (missing = false, or an average over data.rows). Leave these out, or open another name"
                )

    def _refuse_other_names(self, name: str, asked: Protection) -> None:
        """Whole units are told apart by a column: another one makes other units, whose promises do not add up."""
        if self.unit is not None and {folded(column) for column in asked.columns} != set(self.protected):
            known, other = _listed(self.protected.values()), _listed(asked.columns)
            raise _refused(
                f"{name}: its releases tell {self.unit} apart by {known}, and this plan by {other}. Write person = "
                f'"{known}", or open another name for it'
            )

    def _refuse_columns(self, name: str, asked: Protection) -> None:
        self._refuse_lookalikes(name, (*asked.columns, *asked.public))
        declared = {folded(column): column for column in asked.columns}
        lost = [spelled for column, spelled in self.protected.items() if column not in declared]
        if lost:
            raise _refused(
                f"{name}: {_listed(lost)} {_is(lost)} protected in every release under this name, and this plan "
                f"declares {_it(lost)} public or not at all. Declare [columns.{lost[0]}], without public = true"
            )
        new = [spelled for column, spelled in declared.items() if column not in self.protected]
        self._refuse_read(name, new)
        if new and self.is_complete:
            options = " ".join(f"--protect {quote(column)}" for column in new)
            raise _refused(
                f"{name}: {_listed(new)} {_is(new)} not among the columns that its releases protect "
                f"({_listed(self.protected.values())}), and a plan cannot add to them. The owner of the data can: "
                f"guessproof ledger amend {quote(name)} {options}"
            )

    def _refuse_read(self, name: str, new: Iterable[str]) -> None:
        for column in new:
            if folded(column) in self.public:
                _, seq = self.public[folded(column)]
                raise _refused(
                    f"{name}: entry {seq} read {column} as public, so it cannot be protected under this name any more. "
                    "Open another name, or leave the column public"
                )

    def _refuse_lookalikes(self, name: str, columns: Iterable[str]) -> None:
        """Names that look the same and are not: whichever way they were taken, somebody could be deceived."""
        known = [*self.protected.values(), *(spelled for spelled, _ in self.public.values())]
        for column in columns:
            for other in known:
                if folded(column) != folded(other) and likeness(column) == likeness(other):
                    raise _refused(
                        f"{name}: {column} looks like {other}, which an earlier release names, and is another column "
                        "to the database. Rename one of them in the table, or open another name"
                    )

    def add(self, asked: Protection | None, seq: int, *, is_said: bool) -> None:
        """One more release; `is_said`: it says all that it protects itself."""
        if asked is None:
            return
        self.unit = self.unit or asked.unit
        self.is_complete = self.is_complete or is_said
        said = {key: getattr(asked, key) for key in SIZES}
        self.sizes = {key: size for key, size in said.items() if size is not None} | self.sizes
        for column in asked.columns:
            self.protected.setdefault(folded(column), column)
        for column in asked.public:
            self.public.setdefault(folded(column), (column, seq))
        for column in asked.hidden:
            self.gaps.setdefault(folded(column), (False, seq))
        for column in asked.known:
            self.gaps.setdefault(folded(column), (True, seq))

    def refuse_widening(self, name: str, columns: Sequence[str]) -> None:
        """Raise where the owner cannot promise to protect these columns as well; none are fine, as for a budget."""
        if columns and self.unit in WHOLE_RECORD:
            raise _refused(f"{name}: its releases protect {self.unit}, and with them every column already")
        seen = set(self.protected)
        for column in columns:
            if folded(column) in seen:
                raise _refused(f"{name}: {column} is protected already")
            seen.add(folded(column))
            self._refuse_read(name, [column])
            self._refuse_lookalikes(name, [column])

    def widen(self, columns: Iterable[str]) -> None:
        """The owner protects more from now on."""
        self.protected.update((folded(column), column) for column in columns)


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


@dataclass(frozen=True)
class Tally:
    """A guarantee that was given, and how often."""

    guarantee: dict[str, Any]
    times: int


@dataclass
class Standing:
    """What decides on the next charge of a name, all that a checkpoint keeps of it. Only :class:`Book` changes it."""

    name: str
    opened: str
    budget: Budget
    epsilon: Decimal = ZERO
    delta: Decimal = ZERO
    advantage: Decimal = ZERO  # the largest cumulative advantage that was judged so far
    pins: Pins = field(default_factory=Pins)
    is_scanned: bool = False
    # Each guarantee that was given, as canonical text, and how often; only where a cumulative advantage is limited.
    tallies: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def left(self) -> Left:
        """What is left of the budget."""
        limit = self.budget.advantage
        rest = None if limit is None else minus(limit, self.advantage)
        return Left(minus(self.budget.epsilon, self.epsilon), minus(self.budget.delta, self.delta), rest)

    def given(self) -> list[Tally]:
        """Every guarantee that a judge has to count, in the order of their first releases."""
        return [Tally(json.loads(text), times) for text, times in self.tallies.items()]

    def add(self, charge: Charge, text: str) -> None:
        """One more charge; `text` is its guarantee as canonical JSON."""
        self.epsilon = plus(self.epsilon, charge.cost.epsilon)
        self.delta = plus(self.delta, charge.cost.delta)
        self.advantage = max(self.advantage, charge.advantage or ZERO)
        if self.budget.advantage is not None:
            self.tallies[text] = self.tallies.get(text, 0) + 1

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
                f"asked {_said(raised)}); name a larger one, or leave it as it is"
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


@dataclass
class Account(Standing):
    """One name with its whole history: every charge, note and amendment."""

    charges: dict[int, Charge] = field(default_factory=dict[int, Charge])  # by the number of the entry, in order
    notes: list[Note] = field(default_factory=list[Note])
    amendments: list[Amendment] = field(default_factory=list[Amendment])

    def answered(self, *requests: str) -> Charge | None:
        """The first charge of one of these requests that has an answer."""
        return next((c for c in self.charges.values() if c.request in requests and c.outcome == ANSWERED), None)


def settled(charges: Sequence[Charge]) -> Charge | None:
    """Of the charges of one request the one that says what it gets without another: an answer, or that it fails."""
    answered = (c for c in charges if c.outcome == ANSWERED)
    return next(answered, None) or next((c for c in charges if c.is_final), None)


def in_work(charges: Sequence[Charge], now: datetime, patience: float) -> Charge | None:
    """Of the charges of one request one without an answer that is younger than `patience` seconds."""
    for charge in charges:
        # A clock that was set back makes ages negative; these must not block for ever.
        age = abs(now - datetime.fromisoformat(charge.time))
        if charge.outcome == OPEN and age < timedelta(seconds=patience):
            return charge
    return None


def copied(account: Account) -> Account:
    """The account as it is now, whatever is booked later."""
    return replace(
        account,
        charges=dict(account.charges),
        notes=list(account.notes),
        amendments=list(account.amendments),
        pins=deepcopy(account.pins),
        tallies=dict(account.tallies),
    )


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


def _refused(words: str) -> LedgerError:
    return LedgerError(f"{words}. Nothing was charged")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def read_size(value: Any) -> int:
    """A number of records or rows as it was written."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise TypeError("size")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):  # pyright: ignore[reportUnknownVariableType]
        raise TypeError("columns")
    return tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
