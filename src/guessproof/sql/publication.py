"""Several questions that are released together: their measurements are one list, judged and paid for as one.

What one person can do to a publication is what he can do to all of its numbers. So nothing is decided for each question
by itself: guarantees add, filters that exclude each other count once wherever they stand, and what two questions both
need is measured once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from guessproof.errors import QueryError
from guessproof.names import folded
from guessproof.sql.exclusive import find_families
from guessproof.sql.formula import Output, move_measured
from guessproof.sql.measurement import Measurement
from guessproof.sql.query import AnalyzedQuery, AskedPart
from guessproof.sql.relation import PublicJoin


@dataclass(frozen=True)
class Publication:
    """Several analyzed queries of one table."""

    parts: tuple[AskedPart, ...]
    measurements: tuple[Measurement, ...]

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        """The columns of all answers, as question.output, computed from the common list of noisy numbers."""
        return tuple(
            replace(output, name=part.label(output.name), formula=move_measured(output.formula, part.places))
            for part in self.parts
            for output in part.query.outputs
        )

    @cached_property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """Measurements to which one record contributes one at a time, of whichever question.

        Columns mean the same in two questions where both read the table as it is. A join or a grouped subquery makes
        columns of its own, so these exclude nothing but what their own question holds.
        """
        plain = [part for part in self.parts if not part.query.joins and part.query.inner is None]
        places = sorted({place for part in plain for place in part.places})
        together = find_families([self.measurements[place] for place in places])
        found = [tuple(places[i] for i in family) for family in together]
        taken = set(places)
        for part in self.parts:
            if part not in plain and not taken.intersection(part.places):
                found += [tuple(part.places[i] for i in family) for family in part.query.families]
        return tuple(found)

    @property
    def columns(self) -> frozenset[str]:
        """The columns that are read."""
        return frozenset[str]().union(*(part.query.columns for part in self.parts))

    @property
    def joins(self) -> tuple[PublicJoin, ...]:
        """The tables beside the first, of all questions."""
        return tuple(join for part in self.parts for join in part.query.joins)

    @property
    def finds_groups(self) -> bool:
        """Never: each such question has a δ of its own, which is not shared out yet."""
        return False

    @property
    def groups(self) -> int:
        """How many rows the longest answer can have."""
        return max(part.query.groups for part in self.parts)


def publish(queries: Mapping[str, AnalyzedQuery]) -> Publication:
    """Queries of one table as one publication; a number that two of them need is one measurement."""
    _check_kinds(queries)
    _check_groups(queries)
    measured: list[tuple[AnalyzedQuery, Measurement]] = []
    parts: list[AskedPart] = []
    for name, query in queries.items():
        places: list[int] = []
        for measurement in query.measurements:
            mine = query, measurement
            places.append(next((i for i, known in enumerate(measured) if _is_same(known, mine)), len(measured)))
            if places[-1] == len(measured):
                measured.append(mine)
        parts.append(AskedPart(name, query, tuple(places)))
    return Publication(tuple(parts), tuple(measurement for _, measurement in measured))


def _is_same(one: tuple[AnalyzedQuery, Measurement], other: tuple[AnalyzedQuery, Measurement]) -> bool:
    """Whether two questions ask for one and the same number: of the same rows, by the same groups."""
    if any(query.joins or query.inner is not None for query, _ in (one, other)):
        return one is other
    return _what(*one) == _what(*other)


def _what(query: AnalyzedQuery, measured: Measurement) -> tuple[object, ...]:
    added = measured.contribution, measured.filter, measured.total, measured.divisor, measured.copies
    return type(measured), measured.text, measured.kind, query.where, query.keys, measured.keys, *added


def _check_groups(queries: Mapping[str, AnalyzedQuery]) -> None:
    for query in queries.values():
        found = next((key.column for key in query.keys if key.is_found), None)
        if found is not None:
            problem = f"groups of {found} would be found in the table, with a δ that several questions do not share yet"
            raise QueryError(problem, query.sql, None, "declare its levels, or ask it in a plan of its own")


def _check_kinds(queries: Mapping[str, AnalyzedQuery]) -> None:
    """One column is one kind of thing in all questions."""
    known: dict[str, tuple[str, str]] = {}
    for name, query in queries.items():
        for column, kind in query.kinds.items():
            if query.declared.is_joined(column):
                continue
            first, other = known.setdefault(folded(column), (name, kind))
            if other != kind:
                problem = f"{column} is a {kind} here, and a {other} in {first}"
                remedy = f'declare kind = "{kind}" or "{other}" under [columns.{column}]'
                raise QueryError(problem, query.sql, None, remedy)
