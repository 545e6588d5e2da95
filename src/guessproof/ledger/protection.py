"""What the releases of one name protect: the first one pins it, and no plan changes it afterwards. Pure.

A promise about a column is worth nothing if another release under the same name reads that column as public, whether
before or after. So the unit and the protected columns are pinned by the first release. A plan that protects less is
refused; so is one that protects more, since its promise would bind nobody: only the owner widens, by an entry of its
own, and only to columns that no release has read as public.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from guessproof.errors import LedgerError
from guessproof.names import folded, likeness

EVERYTHING = ("records", "persons")  # units under which every column of a record is protected
_WORDS = re.compile(r'"((?:[^"]|"")+)"|(\w+)')


@dataclass(frozen=True)
class Protection:
    """What one release protects and what it takes to be known; columns as its plan spells them.

    `columns` are protected (where only values are). Of those that the query reads, `public` are not protected, and
    of the protected ones `hidden` may be missing without anyone seeing it, while for `known` that is taken as known.
    """

    unit: str
    columns: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As the ledger writes it."""
        return {
            "unit": self.unit,
            "columns": sorted(self.columns),
            "public": sorted(self.public),
            "hidden": sorted(self.hidden),
            "known": sorted(self.known),
        }

    @staticmethod
    def from_dict(table: Mapping[str, Any]) -> Protection:
        """As it was written."""
        unit = table["unit"]
        if not isinstance(unit, str):
            raise TypeError("unit")
        return Protection(unit, *(_texts(table[part]) for part in ("columns", "public", "hidden", "known")))


def implied(guarantee: Mapping[str, Any], describe: Mapping[str, Any]) -> Protection | None:
    """What a charge that does not say what it protects lets one conclude; None where that is nothing.

    Its guarantee names the protected columns that it read. Every other word of its query may be a column that it read
    as public.
    """
    unit, query, columns = describe.get("protects"), describe.get("query"), guarantee.get("columns")
    if not isinstance(unit, str) or not isinstance(query, str) or not isinstance(columns, Mapping):
        return None
    read: tuple[str, ...] = tuple(str(name) for name in columns)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if unit in EVERYTHING:
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
        if asked.unit not in EVERYTHING:
            self._refuse_columns(name, asked)
        for column in asked.known:
            is_known, seq = self.gaps.get(folded(column), (True, 0))
            if not is_known:
                raise _refused(
                    f"{name}: entry {seq} hides whether a value of {column} is missing, and this plan takes that as "
                    "known (missing = false, or an average over data.rows). Leave these out, or open another name"
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
            options = " ".join(f"--protect {column}" for column in new)
            raise _refused(
                f"{name}: {_listed(new)} {_is(new)} not among the columns that its releases protect "
                f"({_listed(self.protected.values())}), and a plan cannot add to them. The owner of the data can: "
                f"guessproof ledger amend {name} {options}"
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
        for column in asked.columns:
            self.protected.setdefault(folded(column), column)
        for column in asked.public:
            self.public.setdefault(folded(column), (column, seq))
        for column in asked.hidden:
            self.gaps.setdefault(folded(column), (False, seq))
        for column in asked.known:
            self.gaps.setdefault(folded(column), (True, seq))

    def refuse_widening(self, name: str, columns: Iterable[str]) -> None:
        """Raise where the owner cannot promise to protect these columns as well."""
        if self.unit in EVERYTHING:
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


def _refused(words: str) -> LedgerError:
    return LedgerError(f"{words}. Nothing was charged")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):  # pyright: ignore[reportUnknownVariableType]
        raise TypeError("columns")
    return tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
