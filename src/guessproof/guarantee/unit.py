"""What is protected: the unit whose change or presence a release must hide.

A unit owns four things, and nothing else in the program asks which unit it is: what may change, what presence means,
what everybody is taken to know, and the words for all that.
"""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from guessproof.errors import ParameterError
from guessproof.risk.profile.aware import aware_epsilon

if TYPE_CHECKING:
    from guessproof.guarantee.guarantee import Guarantee
    from guessproof.risk.profile import RiskProfile


@dataclass(frozen=True)
class PrivacyUnit(ABC):
    """What one person's part of the data is."""

    name: ClassVar[str]
    assumption: ClassVar[str]
    hides_presence: ClassVar[bool]  # otherwise who is in the table, and how many rows it has, is known
    takes_profiles: ClassVar[str]  # how a risk profile is read, in words
    needs: ClassVar[dict[str, str]] = {}  # keys of a plan's [data] that only this unit takes, each with an example

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
    hides_presence = False
    takes_profiles = ", for one who took part"
    assumption = (
        "The declared columns of one record are protected. Everything else, who is in the table and how many rows it "
        "has included, is assumed known to the attacker."
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
    hides_presence = True
    takes_profiles = " in the three-point world"
    assumption = "The presence of one row is protected, and with it everything in that row."

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
        return aware_epsilon(profile, per_epsilon.change, per_epsilon.presence)


VALUES, RECORDS = Values(), Records()
UNITS: dict[str, PrivacyUnit] = {unit.name: unit for unit in (VALUES, RECORDS)}
# What each unit needs beside its name; persons can be written into a plan, and are refused when it is used.
NEEDED_KEYS: dict[str, dict[str, str]] = {
    **{name: unit.needs for name, unit in UNITS.items()},
    "persons": {"person": '"id"', "max_rows": "3"},
}


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
