"""A plan: everything that was decided before the table is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from guessproof.calculate import Limits
from guessproof.errors import InputError, PlanError
from guessproof.guarantee.unit import UNITS, PrivacyUnit
from guessproof.plan.canonical import canonical_text
from guessproof.plan.goals import GoalText
from guessproof.plan.kinds import kind_of
from guessproof.plan.model import Accuracy, Attacker, Column, Data, PlanFile, Query, Release
from guessproof.plan.positions import Key
from guessproof.plan.refusals import Place
from guessproof.risk.profile import RiskProfile
from guessproof.world.attributes import Attribute
from guessproof.world.goals import Goal
from guessproof.world.kinds import Kind


@dataclass(frozen=True, eq=False)
class Plan:
    """The tables of a plan file, checked, with what they mean in the world of attackers."""

    file: PlanFile
    place: Place
    path: Path | None
    folder: Path
    risk: RiskProfile | None
    attacker: Attacker | None
    limits: Limits
    believed: Mapping[str, Attribute]
    wanted: GoalText | None
    digests: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Plan({self.data.name!r}, protects={self.data.protects!r}, {self.query.sql!r})"

    @property
    def data(self) -> Data:
        """The table and what is protected in it."""
        return self.file.data

    @property
    def unit(self) -> PrivacyUnit:
        """What is protected."""
        if self.data.protects not in UNITS:
            problem = "several rows of one person are not supported yet"
            raise self.error(("data", "protects"), self.data.protects, problem, 'use "records" or "values"')
        return UNITS[self.data.protects]

    @property
    def query(self) -> Query:
        """The question."""
        return self.file.query

    @property
    def columns(self) -> Mapping[str, Column]:
        """The declared columns."""
        return MappingProxyType(self.file.columns)

    @property
    def accuracy(self) -> Accuracy:
        """How near the answer must be; empty where nothing is asked."""
        return self.file.accuracy

    @property
    def release(self) -> Release:
        """Noise and ledger."""
        return self.file.release

    @property
    def source(self) -> str:
        """The source as an engine opens it: a path beside the plan, or env:NAME as it stands."""
        source = self.data.source
        return source if is_elsewhere(source) else str(self.folder / source)

    @property
    def ledger_path(self) -> Path:
        """The ledger's file, beside the plan unless it is absolute."""
        return self.folder / self.release.ledger

    def attributes(self) -> dict[str, Attribute]:
        """Every column that has a prior, with its bounds; the metric comes from the query."""
        return dict(self.believed)

    def kind(self, name: str) -> Kind | None:
        """What a column holds, as far as the plan tells; None where the query may say it."""
        column = self.file.columns.get(name)
        if column is None:
            return None
        return kind_of(column, self.believed.get(name))

    def goal(self, attributes: Mapping[str, Attribute] | None = None) -> Goal:
        """The attacker's goal on the given attributes, or on the plan's own."""
        if self.wanted is None:
            raise self.error(("attacker",), None, "the plan has no attacker", 'add [attacker] with goal = "…"')
        try:
            return self.wanted.build(self.believed if attributes is None else attributes)
        except InputError as error:
            raise self.error(("attacker", "goal"), self.wanted.text, error.problem, error.remedy) from None

    def canonical(self) -> str:
        """The same text for every plan that means the same; public files count by their content."""
        return canonical_text(self.file, self.digests)

    def error(self, path: Key, value: Any, problem: str, remedy: str) -> PlanError:
        """An error about a key of this plan, with its file and line."""
        return self.place.error(path, value, problem, remedy)


def is_elsewhere(source: str) -> bool:
    """Whether a source is named by something else than a path."""
    return source.startswith(("env:", "spark:"))
