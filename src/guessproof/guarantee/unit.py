"""What is protected: the unit whose change or presence a release must hide.

A unit owns five things, and nothing else in the program asks which unit it is: what may change, what presence means,
what its rows may add up to, what everybody is taken to know, and the words for all that.
"""

from __future__ import annotations

import difflib
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from guessproof.errors import ParameterError

if TYPE_CHECKING:
    from guessproof.guarantee.guarantee import Guarantee
    from guessproof.intervals import Interval
    from guessproof.risk import RiskProfile


@dataclass(frozen=True)
class RowWeights:
    """All rows of a unit count with min(1, most / rows): together as no more than `most` rows.

    `low` and `high` bound what one of them adds, 0 included.
    """

    most: int
    low: float
    high: float


@dataclass(frozen=True)
class UnitTotal:
    """What all rows of one unit may add up to in an answer, and how far the unit moves it then (theory §16).

    `low` and `high` bound what it adds to one group, None where nothing is cut off; `most` bounds the sum of what it
    adds to all groups, without signs, to which its numbers are scaled down. None: nothing is scaled. `cells` is how
    many numbers of the answer a change can move. With `weights` these bounds are kept by weighting its rows.
    """

    low: float | None
    high: float | None
    most: float | None
    change: float
    presence: float
    cells: int = 1
    euclidean: float = math.inf  # the same as `change` or `presence`, by straight-line distance over all groups
    weights: RowWeights | None = None


@dataclass(frozen=True)
class PrivacyUnit(ABC):
    """What one person's part of the data is."""

    name: ClassVar[str]
    noun: ClassVar[str]  # one of it
    hides_presence: ClassVar[bool]  # otherwise who is in the table, and how many rows it has, is known
    takes_profiles: ClassVar[str]  # how a risk profile is read, in words
    needs: ClassVar[dict[str, str]] = {}  # keys of a plan's [data] that only this unit takes, each with an example
    takes: ClassVar[tuple[str, ...]] = ()  # keys that only this unit takes, and may do without
    told: ClassVar[tuple[str, ...]] = ()  # keys that say something of this unit and change no answer
    shown: ClassVar[str] = ""  # what is protected, for a board; "" where the columns are named
    open: ClassVar[str] = ""  # what nobody should read into it
    tells_columns: ClassVar[bool] = True  # whether a goal about a column is reached through that column alone

    @property
    @abstractmethod
    def assumption(self) -> str:
        """What is protected, in words of every output."""

    @property
    def identity(self) -> str | None:
        """The column that names the unit, where it has several rows."""
        return None

    def declared(self, keys: Mapping[str, Any]) -> PrivacyUnit:
        """The unit with what a plan says of it under `needs` and `takes`."""
        return self

    @property
    def weights_rows(self) -> bool:
        """Whether averages and variances weight the rows of a unit, because it may have more than may count."""
        return False

    def bound_total(self, row: Interval, groups: int, *, adds: bool, once: bool, weighted: bool) -> UnitTotal | None:
        """What its rows may add up to, where it has several; `row` is what one of them contributes.

        `groups` is how many the answer has, 0 without GROUP BY. `adds`: sums and counts, otherwise extremes.
        `once`: however many rows there are, they count as one. `weighted`: sums and counts behind an average.
        """
        return None

    def bound_ranks(self, apart: float, groups: int) -> UnitTotal | None:
        """How far its rows move the ranks of two values apart, where it has several; one that comes, by `apart`."""
        return None

    def bound_levels(self, levels: int, groups: int) -> UnitTotal | None:
        """How many levels of so many its rows hold, in all groups, where it has several."""
        return None

    def bound_groups(self, groups: int) -> int | None:
        """In how many of the groups it may count, where not in all."""
        return None

    def drop_groups(self, groups: int) -> int | None:
        """How many of its groups the engine keeps, where it may be in more than may count."""
        return self.bound_groups(groups)

    def with_one_row(self, identity: str) -> PrivacyUnit:
        """The same in a table with one row for each, named by this column."""
        return self

    @property
    def row_bound(self) -> int:
        """How many of its rows may count."""
        return 1

    @property
    def row_counts(self) -> tuple[int, ...]:
        """How many rows one may have: numbers on which its bound can be tried."""
        return (1,)

    def protects(self, *, declared: bool, public: bool) -> bool:
        """Whether a column is secret: one that the plan declares, or one that it does not name."""
        return self.hides_presence or (declared and not public)

    @abstractmethod
    def whole_change(self, change: float, presence: float, *, grouped: bool, repeated: bool) -> float:
        """How far a change of the unit moves all groups together.

        `grouped`: by a protected key, which may change; `repeated`: several rows can be one record.
        """

    @abstractmethod
    def sensitivity(self, change: float, presence: float) -> float:
        """How far the unit can move an answer, by whatever is protected."""

    @abstractmethod
    def profile_epsilon(self, profile: RiskProfile, per_epsilon: Guarantee) -> float:
        """The largest ε that keeps a risk profile; `per_epsilon` is what a release with ε = 1 promises."""

    def query_aware_epsilon(self, profile: RiskProfile, per_epsilon: Guarantee) -> float | None:
        """The same with the query's own distances, where these can differ from the generic ones."""
        return None

    def add_remove(self, guarantee: Guarantee) -> float | None:
        """ε for adding or removing one unit; None where presence is known anyway."""
        return guarantee.presence if self.hides_presence else None


@dataclass(frozen=True)
class Values(PrivacyUnit):
    """The declared columns of one record; everything else is known."""

    name = "values"
    noun = "record"
    hides_presence = False
    takes_profiles = ", for one who took part"

    @property
    def assumption(self) -> str:
        return (
            "The declared columns of one record are protected. Everything else, who is in the table and how many rows "
            "it has included, is assumed known to the attacker."
        )

    def whole_change(self, change: float, presence: float, *, grouped: bool, repeated: bool) -> float:
        return 2 * presence if grouped else change  # where its group is public it stays there

    def sensitivity(self, change: float, presence: float) -> float:
        return change

    def profile_epsilon(self, profile: RiskProfile, per_epsilon: Guarantee) -> float:
        return profile.epsilon(bounded=True)


@dataclass(frozen=True)
class Records(PrivacyUnit):
    """The presence of one row, and with it everything in it."""

    name = "records"
    noun = "record"
    hides_presence = True
    takes_profiles = ""
    shown = "Protected is the presence of each record, and with it everything in it."
    open = "A person with several rows: the presence of one row is protected, not of all rows of a person."

    @property
    def assumption(self) -> str:
        return "The presence of one row is protected, and with it everything in that row."

    def whole_change(self, change: float, presence: float, *, grouped: bool, repeated: bool) -> float:
        if grouped:
            return 2 * presence  # it may leave one group and enter another
        return max(change, presence) if repeated else change  # fewer rows may come for more

    def sensitivity(self, change: float, presence: float) -> float:
        return max(change, presence)

    def profile_epsilon(self, profile: RiskProfile, per_epsilon: Guarantee) -> float:
        return profile.epsilon() / per_epsilon.presence * (1 - 1e-14)

    def query_aware_epsilon(self, profile: RiskProfile, per_epsilon: Guarantee) -> float | None:
        """Changing a record may cost less than twice adding one."""
        from guessproof.risk import aware_epsilon  # few plans have a profile

        return aware_epsilon(profile, per_epsilon.change, per_epsilon.presence)


@dataclass(frozen=True)
class Persons(Records):
    """All rows of one person: whether there are any, how many, and everything in them."""

    name = "persons"
    noun = "person"
    needs = {"person": '"id"', "max_rows": "3"}  # noqa: RUF012 - as the parent declares it
    takes = ("max_groups",)
    told = ("rows_each",)
    shown = "Protected are all records of each person together: whether there are any, and everything in them."
    open = "Somebody who is in the table under two names: only the rows under one name are protected together."
    tells_columns = False  # a person's rows change together, in every column and in their number

    person: str = ""
    max_rows: int = 1
    max_groups: int | None = None

    @property
    def assumption(self) -> str:
        named = f" (the rows that have the same {self.person})" if self.person else ""
        return (
            f"All rows of one person{named} are protected together: their presence, their number and everything in "
            "them. What is said of an attacker holds for whatever he wants to know of a person: any two persons are "
            "equally far apart, and he gains no more by a goal that names one column. A row without a person's name "
            "is nobody's and is not counted; one person under two names is two."
        )

    @property
    def identity(self) -> str | None:
        return self.person

    def declared(self, keys: Mapping[str, Any]) -> PrivacyUnit:
        return Persons(**keys)

    @property
    def weights_rows(self) -> bool:
        return True

    def bound_total(self, row: Interval, groups: int, *, adds: bool, once: bool, weighted: bool) -> UnitTotal | None:
        if weighted:
            # With n rows after WHERE in all groups, each of weight w = min(1, C/n) and in [l, h] with l ≤ 0 ≤ h, a
            # person adds w·n_g·[l, h] at most to group g, where Σ n_g ≤ n. In one group that is within C·[l, h], for
            # w·n ≤ C: coming or going moves the weighted sum by C·max(h, −l) at most, changing by C·(h − l). Over all
            # groups it is Σ |.| ≤ w·n·max(h, −l) ≤ C·max(h, −l): coming or going moves them together by that, and a
            # change by what is left plus what is entered, twice as much. For the weighted count l = 0 and h = 1. All
            # this is what the bounds of an unweighted sum allow, so the numbers below are the same.
            total = self.bound_total(row, groups, adds=True, once=False, weighted=False)
            assert total is not None
            return replace(total, weights=RowWeights(self.max_rows, min(row.low, 0.0), max(row.high, 0.0)))
        if not adds:
            return self._bound_extremes(row.width, groups)
        if once:
            return self._bound_presence(groups)
        if groups > 1:
            # Leaving some groups and entering others moves both by all that the person adds.
            most = self.max_rows * row.size
            apart = math.sqrt(2) * (1 + 1e-15) if row.low >= 0 or row.high <= 0 else 2.0  # at right angles, or opposite
            return UnitTotal(None, None, most, 2 * most, most, euclidean=apart * most)
        low, high = self.max_rows * min(row.low, 0.0), self.max_rows * max(row.high, 0.0)
        return UnitTotal(low, high, None, high - low, max(high, -low))

    def bound_ranks(self, apart: float, groups: int) -> UnitTotal | None:
        # In one group its rows move every rank by as many as they are; some groups may be left and others entered.
        presence = self.max_rows * apart
        change = 2.0 * (presence if groups > 1 else self.max_rows)
        return UnitTotal(None, None, float(self.max_rows), change, presence)

    def bound_levels(self, levels: int, groups: int) -> UnitTotal | None:
        # In one group levels that are lost and levels that are won do not add up.
        cells = levels * max(groups, 1)
        most = min(self.max_rows, cells)
        return UnitTotal(None, None, None, float(min(2 * most, cells) if groups > 1 else most), float(most))

    def with_one_row(self, identity: str) -> PrivacyUnit:
        return OneRowPersons(identity, 1, 1)

    @property
    def row_bound(self) -> int:
        return self.max_rows

    @property
    def row_counts(self) -> tuple[int, ...]:
        return tuple(sorted({1, self.max_rows, self.max_rows + 1, 3 * self.max_rows + 2}))

    def bound_groups(self, groups: int) -> int | None:
        return self.max_groups if self.max_groups is not None and self.max_groups < groups else None

    def _bound_extremes(self, width: float, groups: int) -> UnitTotal:
        """Each group in which the person is, before or after, moves by the whole range."""
        own = self.bound_groups(groups) or max(groups, 1)
        cells = min(2 * own, max(groups, 1))
        return UnitTotal(None, None, None, cells * width, own * width, cells)

    def _bound_presence(self, groups: int) -> UnitTotal:
        """Whoever has no more rows than declared is in no more groups either; others count less in each."""
        own, groups = self.bound_groups(groups) or max(groups, 1), max(groups, 1)
        most = min(own, self.max_rows)
        scaled = None if own <= self.max_rows else float(most)
        return UnitTotal(0.0, 1.0, scaled, float(min(2 * most, groups)), float(most))


@dataclass(frozen=True)
class OneRowPersons(Persons):
    """Persons in a table that was made with one row for each: in one group each, without anything being dropped."""

    @property
    def weights_rows(self) -> bool:
        return False

    def drop_groups(self, groups: int) -> int | None:
        return None


VALUES, RECORDS, PERSONS = Values(), Records(), Persons()
UNITS: dict[str, PrivacyUnit] = {unit.name: unit for unit in (VALUES, RECORDS, PERSONS)}


def unit_named(name: str) -> PrivacyUnit:
    """The unit that a plan or a ledger names.

    >>> unit_named("records").hides_presence
    True
    """
    if name not in UNITS:
        known = difflib.get_close_matches(str(name), UNITS, n=1)
        hint = f"did you mean {known[0]}?" if known else f"use {' or '.join(map(repr, UNITS))}"
        raise ParameterError("protects", name, "is not something that can be protected here", hint)
    return UNITS[name]
