"""MIN and MAX with noise that follows the data: some rows move the answer less than others ([LP], sections 3 and 5).

Where a row contributes φ = w·ψ + v, with w and v of public columns and ψ of protected ones, the guarantee's distance D
is at least W·|ψ − ψ'| for every weight W that the declaration allows. So one row moves by r·D at most, with its own
r = min(1, |w|/W), and with m the extreme of all rows

    c = max over rows of r·e^(−β|φ − m|/S)        S the sensitivity, sup D

is a bound on how far the extreme moves per unit of D, here and nearby: moving a row by s changes |φ − m| by s at most,
hence ln c by β·s/S, and s ≤ D. Only the row that is the extreme moves it, and c is at least its r. That is all that
generalised Cauchy noise of scale c/b asks for (theory §15, `mechanisms/cauchy.py`).

The engine tells the extreme of each class of rows, by classes of |w| between public cuts, and nothing else: weights
are public, so a class may be as coarse as one likes, if only its r is that of its largest weight.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sqlglot import Expr, exp

from guessproof.sql.aggregate_reader import KINDS, AggregateReader
from guessproof.sql.declared import DeclaredTable
from guessproof.sql.distances import Contribution, list_secret_keys
from guessproof.sql.formula import Key
from guessproof.sql.measurement import Measurement
from guessproof.sql.movement import Neighbours
from guessproof.sql.places import PlaceGrid
from guessproof.sql.relation import carry_along, count_matches
from guessproof.sql.rules.addition import Addition, Negative
from guessproof.sql.rules.multiplication import Division, Multiplication
from guessproof.sql.rules.values import Number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Row, Term

OCTAVE, OCTAVES = 8, 10  # classes of weights: eight for each factor of two, down to a thousandth of the largest
CLASSES = OCTAVE * OCTAVES + 1
ROOM = 1 + 2.0**-30  # more than the rounding of a product of weights
MOST_CORNERS = 64
REMEDY = "leave smooth out"
Spread = tuple[tuple[str, tuple[Any, ...]], ...]  # the ends or the levels of each column


@dataclass(frozen=True)
class Weight:
    """A public factor of what a row contributes, or a public divisor."""

    term: Term
    divides: bool


@dataclass(frozen=True)
class Weights:
    """The product of some."""

    factors: tuple[Weight, ...]

    @property
    def columns(self) -> frozenset[str]:
        """The columns that they read."""
        return frozenset[str]().union(*(factor.term.columns for factor in self.factors))

    def at(self, row: Row) -> float | None:
        """|w| of a row."""
        product = 1.0
        for factor in self.factors:
            value = factor.term.at(row)
            if value is None or (factor.divides and value == 0):
                return None
            product = product / value if factor.divides else product * value
        return abs(product)

    def write(self, target: SqlTarget) -> Expr:
        """The same in SQL."""
        product: Expr = target.double(1.0)
        for factor in self.factors:
            written = factor.term.write(target)
            product = target.divide(product, written) if factor.divides else target.times(product, written)
        return exp.Abs(this=product)

    def largest(self, spread: Spread) -> float:
        """The largest at a corner of what is declared: a weight that is allowed, if not always the very largest."""
        ends = {name: values for name, values in spread if name in self.columns}
        corners = itertools.islice(itertools.product(*ends.values()), MOST_CORNERS)
        found = (self.at(dict(zip(ends, corner, strict=True))) for corner in corners)
        return max((w for w in found if w is not None and math.isfinite(w)), default=0.0) / ROOM


@dataclass(frozen=True)
class SteepContribution(Contribution):
    """What a record contributes to an extreme, and the public weights by which rows differ in how far they move."""

    apart: ClassVar[bool] = True
    follows: ClassVar[bool] = True

    weights: Weights = field(kw_only=True)
    largest: float = field(kw_only=True)  # a weight that the declaration allows
    spread: Spread = field(kw_only=True)

    @cached_property
    def classes(self) -> WeightClasses:
        """Class k holds the weights up to cut k; the last all that are larger."""
        cuts = [self.largest * 2.0 ** ((k - CLASSES + 1) / OCTAVE) for k in range(CLASSES - 1)]
        return WeightClasses(tuple(cuts))

    def ratio(self, place: int) -> float:
        """r of a class: what its largest weight is of the largest allowed one, never below it."""
        return min(1.0, ROOM * 2.0 ** ((place - CLASSES + 1) / OCTAVE))

    @property
    def least(self) -> float:
        """The smallest r that a class has."""
        return self.ratio(0)

    def write_class(self, target: SqlTarget) -> Expr:
        """The class of a row."""
        return self.classes.write(self.weights.write(target), target)

    def relative(self, extremes: Sequence[float | None], falling: float, *, largest: bool) -> float:
        """c, from the extreme of each class; 1 where there are no rows. `falling` is β/S."""
        known = [(self.ratio(k), x) for k, x in enumerate(extremes) if x is not None]
        if not known:
            return 1.0
        end = max(x for _, x in known) if largest else min(x for _, x in known)
        return max(r * math.exp(-falling * abs(x - end)) for r, x in known)

    def typical(self, rows: int, tables: int = 16) -> tuple[tuple[float | None, ...], ...]:
        """The extremes of each class in made-up tables, every column spread evenly over what is declared of it."""
        known = self._typical.get((rows, tables))
        return known or self._typical.setdefault((rows, tables), tuple(self._make_up(rows, tables)))

    @cached_property
    def _typical(self) -> dict[tuple[int, int], tuple[tuple[float | None, ...], ...]]:
        return {}

    def _make_up(self, rows: int, tables: int) -> Iterator[tuple[float | None, ...]]:
        rng = np.random.default_rng(20240229)
        better = max if self.absent < self._middle else min
        for _ in range(tables):
            drawn = {name: _draw(rng, values, rows) for name, values in self.spread}
            extremes: list[float | None] = [None] * CLASSES
            for index in range(rows):
                row = {name: values[index] for name, values in drawn.items()}
                value, weight = self.term.at(row) if self.condition.at(row) else None, self.weights.at(row)
                if value is None or weight is None:
                    continue
                place = self.classes.place(weight)
                known = extremes[place]
                extremes[place] = value if known is None else better(known, value)
            yield tuple(extremes)

    @cached_property
    def _middle(self) -> float:
        """Some value inside the range: an extreme of nothing is its far end."""
        rng = np.random.default_rng(7)
        values = [self.term.at({n: _draw(rng, v, 1)[0] for n, v in self.spread}) for _ in range(32)]
        return float(np.mean([v for v in values if v is not None] or [self.absent]))


@dataclass(frozen=True)
class WeightClasses(PlaceGrid):
    """Classes by their upper ends; numbers are looked up among these themselves, not among the middles between them."""

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        return self.values


def _draw(rng: np.random.Generator, values: tuple[Any, ...], count: int) -> list[Any]:
    """Numbers between two ends, or levels."""
    if len(values) == 2 and all(isinstance(v, float) for v in values):
        return [float(x) for x in rng.uniform(values[0], values[1], count)]
    return [values[k] for k in rng.integers(0, len(values), count)]


def read_steep(aggregates: AggregateReader, call: Expr, own: Condition, text: str) -> Expr:
    """The place of an extreme whose noise follows the data."""
    assert isinstance(call, exp.AggFunc)
    reader, kind = aggregates.reader, KINDS[type(call)]
    term = reader.term(aggregates.argument(call))
    seen = term.follow(reader.declared.at_rest(term.columns)).hull
    absent = seen.high if kind == "min" else seen.low
    plain = Contribution(aggregates.condition(own), term, absent, aggregates.joins)
    secret = list_secret_keys(aggregates.keys, reader.declared, aggregates.joins)
    found = steepen(plain, reader.declared, secret)
    if isinstance(found, str):
        raise reader.refuse(f"{text}: {found}", call, REMEDY)
    return aggregates.add(text, kind, found, own, call)


def steepened(measurement: Measurement) -> Measurement | None:
    """The same extreme with noise that follows the data, where that can be."""
    found = steepen(measurement.contribution, measurement.declared, measurement.keys)
    return None if isinstance(found, str) or measurement.is_apart else replace(measurement, contribution=found)


def flattened(measurement: Measurement) -> Measurement:
    """The same extreme with noise of one scale."""
    known = measurement.contribution
    return replace(measurement, contribution=Contribution(known.condition, known.term, known.absent, known.joins))


def steepen(plain: Contribution, declared: DeclaredTable, secret: Sequence[Key]) -> SteepContribution | str:
    """The weights by which rows differ, or why there are none that help."""
    condition, term, names = plain.condition, plain.term, plain.columns
    neighbours = carry_along(plain.joins, declared.in_motion(names))
    if problem := _find_problem(plain, declared, secret, neighbours):
        return problem
    weights, rest = _peel(term, neighbours)
    if not weights.factors:
        return "every row moves it alike, so noise that follows the data would be no smaller"
    if both := weights.columns & rest.columns:
        return f"{', '.join(sorted(both))} is both a weight and inside what it weighs"
    spread = _list_spread(declared, names)
    largest = weights.largest(spread)
    if largest <= 0:
        return "its public weight can be 0 and nothing else"
    return SteepContribution(
        condition, term, plain.absent, plain.joins, weights=weights, largest=largest, spread=spread
    )


def _find_problem(
    plain: Contribution, declared: DeclaredTable, secret: Sequence[Key], neighbours: Neighbours
) -> str | None:
    """Rows must not come and go, and one record must not move two extremes."""
    if declared.unit.hides_presence:
        return f"a {declared.unit.noun} that comes or goes moves an extreme by its whole range"
    if declared.linked > 1:
        return "records that tell of each other move it together"
    if secret:
        return "a record can leave one group and enter another"
    if (declared.copies or 1) * count_matches(plain.joins) > 1:  # which may move in opposite directions
        return "a record can be in several rows, which move together"
    if not plain.condition.follow(neighbours).same or not plain.term.follow(neighbours).null.same:
        return "whether a row counts depends on what is protected, missing values included"
    return None


def _peel(term: Term, neighbours: Neighbours) -> tuple[Weights, Term]:
    """The public factors around what is protected; public summands do not matter."""

    def is_public(part: Term) -> bool:
        return not any(neighbours[name].moves for name in part.columns)

    weights: list[Weight] = []
    while True:
        if isinstance(term, Multiplication) and is_public(term.left) != is_public(term.right):
            public, term = (term.left, term.right) if is_public(term.left) else (term.right, term.left)
            weights.append(Weight(public, divides=False))
        elif isinstance(term, Division) and is_public(term.right):
            weights.append(Weight(term.right, divides=True))
            term = term.left
        elif isinstance(term, Addition) and is_public(term.left) != is_public(term.right):
            term = term.right if is_public(term.left) else term.left
        elif isinstance(term, Negative):
            term = term.inner
        else:
            break
    return Weights(tuple(w for w in weights if not isinstance(w.term, Number))), term


def _list_spread(declared: DeclaredTable, names: frozenset[str]) -> Spread:
    """What is declared of each column: its ends, or its levels."""
    found: list[tuple[str, tuple[Any, ...]]] = []
    for name in sorted(names):
        column = declared.column(name)
        if column.bounds is not None and column.is_on_line:
            found.append((name, (float(column.bounds[0]), float(column.bounds[1]))))
        else:
            found.append((name, tuple(column.levels or (None,))))
    return tuple(found)
