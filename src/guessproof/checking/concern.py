"""A mistake that a plan probably holds, and what a check may look at to find one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from guessproof.choosing import Choice, choose
from guessproof.choosing.chooser import asked
from guessproof.errors import GuessproofError, PlanError
from guessproof.plan import Plan
from guessproof.plan.places import Key
from guessproof.sql import AnalyzedQuery, Asked


@dataclass(frozen=True)
class Concern:
    """What is probably meant otherwise: where it stands, what is wrong, and what to write instead."""

    kind: str
    field: str
    line: int | None
    value: Any
    problem: str
    remedy: str

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        return f"{place}{self.field}: {self.problem}; {self.remedy}"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "kind": self.kind,
            "field": self.field,
            "line": self.line,
            "value": self.value,
            "problem": self.problem,
            "remedy": self.remedy,
        }

    def to_error(self, file: str | None) -> PlanError:
        """The same as a refusal, for those who want none of it."""
        return PlanError(self.field, self.value, self.problem, self.remedy, line=self.line, file=file)


@dataclass(frozen=True)
class Checked:
    """A plan, and what its query and its choice tell; `made` is a choice that is at hand already."""

    plan: Plan
    opens: bool  # whether the source may be opened for its column names
    made: Choice | None = field(default=None, repr=False)

    @cached_property
    def asked(self) -> Asked:
        """All that is asked, understood."""
        return asked(self.plan) if self.made is None else self.made.asked

    @cached_property
    def _chosen(self) -> Choice | GuessproofError:
        if self.made is not None:
            return self.made
        try:
            return choose(self.plan)
        except GuessproofError as error:
            return error

    @property
    def choice(self) -> Choice | None:
        """What the plan chooses; None where nothing can be chosen, which `choose` explains."""
        return None if isinstance(self._chosen, GuessproofError) else self._chosen

    @property
    def refusal(self) -> PlanError | None:
        """Why `choose` refuses the plan's own text, if it does."""
        return self._chosen if isinstance(self._chosen, PlanError) else None

    @cached_property
    def names(self) -> Mapping[str, str] | str:
        """The columns of the table by name, or why they cannot be read. No value is asked for."""
        from guessproof.engines import open_engine

        try:
            with open_engine(self.plan.source, self.plan.data.table) as engine:
                return dict(engine.schema())
        except GuessproofError as error:
            said = f"source {self.plan.source!r}: " if isinstance(self.plan.source, str) else ""
            return str(error).removeprefix(said)

    @property
    def questions(self) -> Mapping[Key, AnalyzedQuery]:
        """Every query of the plan, by the key that holds it: subqueries stand at the same place."""
        found: dict[Key, AnalyzedQuery] = {}
        for question, part in zip(self.plan.questions, self.asked.parts, strict=True):
            path = (*question.key, "sql")
            found[path] = part.query
            if part.query.inner is not None:
                found[(*path, "inner")] = part.query.inner.query
        return found

    def concern(self, kind: str, path: Key, value: Any, problem: str, remedy: str) -> Concern:
        """A concern about a key of the plan."""
        told = self.plan.error(path, value, problem, remedy)  # finds the line, hides secrets
        return Concern(kind, told.field, told.line, told.value, problem, told.remedy)
