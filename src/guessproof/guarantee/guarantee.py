"""What one protected unit can do to an answer: the one value that is made, scaled, added, stored and read.

The query makes it for each number that gets noise, noise of scale b divides it by b, several answers and several
releases add up, the ledger keeps it, and what an attacker can learn is computed from nothing else. Every part of it
is an upper bound on the same thing, the change of the log-likelihood (before noise: of the answer itself).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

from guessproof.guarantee.unit import PrivacyUnit
from guessproof.names import likeness
from guessproof.world import Discrete, LineForm, LineMetric, Matrix, Metric, Multiple, Sum

MOST_POINTS = 80  # beyond this a curve is not compared point by point
Values = Mapping[str, Any]
Cost = TypeVar("Cost")


class Response(Protocol):
    """How a query answers one unit: what is known beyond the metrics, while the query is at hand."""

    def between(self, before: Values, after: Values) -> float:
        """How far the answer moves when the named columns go from one set of values to another, at most."""
        ...

    @property
    def reads(self) -> frozenset[str] | None:
        """The columns of the unit that move it, each by itself known; None where others may."""
        ...


NOTHING = Multiple(0.0, Discrete())


@dataclass(frozen=True)
class LinkedResponse:
    """What linked records do: the most that they can, whenever anything of the unit differs."""

    most: float

    def between(self, before: Values, after: Values) -> float:
        """All of it between any two different sets of values."""
        return self.most if before != after else 0.0

    @property
    def reads(self) -> None:
        """Whatever the unit has."""
        return None


@dataclass(frozen=True)
class Guarantee:
    """What one protected unit can do, in several sound forms; each is an upper bound by itself.

    `columns`: by changing this column alone, the others at their worst; `lines`: a simpler, never smaller form of the
    same, for searches over true values. `change`: by changing any protected values, also to NULL; `presence`: by
    coming or going. `slope`: per unit of straight-line distance over all protected numbers, None where something
    jumps. `rounding`: what floating-point arithmetic and grids can add to any change; all but `slope` include it.
    `linked`: up to so many records tell of each other, and all forms count them together.
    `responses`: with their factors, the exact moves; None where the query is no longer at hand.
    """

    unit: PrivacyUnit
    columns: Mapping[str, Metric]
    lines: Mapping[str, LineMetric]
    change: float
    presence: float
    slope: float | None = 0.0
    rounding: float = 0.0
    responses: tuple[tuple[float, Response], ...] | None = field(default=None, compare=False)
    linked: int = 1

    @property
    def sensitivity(self) -> float:
        """By whatever is protected: at most this."""
        return self.unit.sensitivity(self.change, self.presence)

    @property
    def slopes(self) -> dict[str, float]:
        """The largest change per unit of each column of numbers."""
        return {name: max(metric.form.slopes) for name, metric in self.lines.items()}

    def between(self, before: Values, after: Values) -> float:
        """The move from one set of values to another, while the query is at hand; at most the whole change later."""
        if self.responses is None:
            return self.change if before != after else 0.0
        return math.fsum(factor * response.between(before, after) for factor, response in self.responses)

    @cached_property
    def tight(self) -> frozenset[str]:
        """Columns whose metric is the query's own change at every point, not only a bound on it."""
        alone = self.responses is not None and len(self.responses) == 1 and len(self.columns) == 1
        return frozenset(n for n, m in self.lines.items() if alone and self._is_met(n, m))

    def adds_up(self, names: Sequence[str]) -> bool:
        """Whether the query's own change is the sum of these columns' metrics: each number of it reads one of them."""
        if self.responses is None or not set(names) <= set(self.lines):
            return False
        read = [response.reads for _, response in self.responses]
        alone = all(r is not None and len(r & set(self.columns)) == 1 for r in read)
        return alone and all(self._is_met(n, self.lines[n]) for n in names)

    def scaled(self, factor: float) -> Guarantee:
        """The same for an answer that is multiplied; noise of scale b multiplies by 1/b."""
        if factor == 1:
            return self
        made = self.responses
        return Guarantee(
            unit=self.unit,
            columns={name: _times(factor, metric) for name, metric in self.columns.items()},
            lines={name: LineMetric(metric.form.times(factor)) for name, metric in self.lines.items()},
            change=factor * self.change,
            presence=factor * self.presence,
            slope=None if self.slope is None else factor * self.slope,
            rounding=factor * self.rounding,
            linked=self.linked,
            responses=None if made is None else tuple((factor * known, response) for known, response in made),
        )

    def repeated(self, times: int) -> Guarantee:
        """What so many such releases promise together, on the same record in all of them: metrics add."""
        # A hair above: a product of floats must not fall below their sum.
        return self.scaled(1 if times == 1 else times * (1 + 1e-14))

    def rounded(self, step: float) -> Guarantee:
        """The same when values are rounded to a grid first: `step` more between any two that differ."""
        if not step:
            return self
        return replace(
            self,
            columns={name: Sum((metric, Multiple(step, Discrete()))) for name, metric in self.columns.items()},
            lines={name: LineMetric(replace(m.form, step=m.form.step + step)) for name, m in self.lines.items()},
            change=self.change + step,
            presence=self.presence + step,
            rounding=self.rounding + step,
            responses=None,
        )

    def linked_with(self, count: int, numbers: Sequence[str] = (), labels: Sequence[str] = ()) -> Guarantee:
        """The same where up to `count` records tell of each other: if one differs, the others may in all they can.

        The others need not move as the unit does, so each adds the most that one can do, between any two values of any
        column: `numbers` and `labels` are those that the query does not read, which may tell of the others as well.
        """
        if count <= self.linked:
            return self
        extra = (count - self.linked) * self.sensitivity / self.linked * (1 + 1e-14)
        known = {**dict.fromkeys(labels, NOTHING), **dict.fromkeys(numbers, LineMetric(LineForm())), **self.columns}
        lines = {**dict.fromkeys(numbers, LineMetric(LineForm())), **self.lines}
        step = Multiple(extra, Discrete())
        made = self.responses
        return replace(
            self,
            columns={name: step if metric is NOTHING else Sum((metric, step)) for name, metric in known.items()},
            lines={name: LineMetric(replace(m.form, step=m.form.step + extra)) for name, m in lines.items()},
            change=self.change + extra,
            presence=self.presence + extra,
            slope=None,
            rounding=self.rounding * count / self.linked,
            linked=count,
            responses=None if made is None else (*made, (1.0, LinkedResponse(extra))),
        )

    def regrouped(
        self, leaving: Mapping[str, Metric], change: float, known: Mapping[str, LineMetric] | None = None
    ) -> Guarantee:
        """The same over groups by protected keys: a unit whose key changes moves two groups, so far by each key.

        `known` are line forms of keys that are bins of a number: there the answer jumps, and has no slope.
        """
        lines = {name: metric for name, metric in self.lines.items() if name not in leaving} | dict(known or {})
        slope = None if known else self.slope
        return replace(self, columns={**self.columns, **leaving}, lines=lines, change=change, slope=slope)

    def merged(self) -> Guarantee:
        """The same with one name for all columns whose names look alike, as several plans may spell one column."""
        alike: dict[str, list[str]] = {}
        for name in self.columns:
            alike.setdefault(likeness(name), []).append(name)
        columns = {key: _sum([self.columns[n] for n in names]) for key, names in alike.items()}
        known = {key: names for key, names in alike.items() if all(n in self.lines for n in names)}
        lines = {key: _line_sum([self.lines[n] for n in names]) for key, names in known.items()}
        return replace(self, columns=columns, lines=lines, responses=None)

    def spelled(self, names: Sequence[str]) -> Guarantee:
        """A merged guarantee about columns as these names spell them. What looks like one column counts as one."""
        columns = {n: m for key, m in self.columns.items() for n in _spellings(key, names)}
        lines = {n: m for key, m in self.lines.items() for n in _spellings(key, names)}
        return replace(self, columns=columns, lines=lines)

    def __add__(self, other: Guarantee) -> Guarantee:
        return total((self, other))

    def _is_met(self, name: str, metric: LineMetric) -> bool:
        """Whether a distance on the line is what the query does, at every cut, beside it and between."""
        cuts = [*metric.form.cuts]
        if not cuts:
            return False
        points = [cuts[0] - 1.0, *cuts, *(math.nextafter(c, math.inf) for c in cuts), cuts[-1] + 1.0]
        points += [(a + b) / 2 for a, b in itertools.pairwise(cuts)]
        if len(points) > MOST_POINTS:
            return False
        for a, b in itertools.combinations(points, 2):
            moved = self.between({name: a}, {name: b})
            # Beside the move itself: a fixed hair would hide moves that are small beside a jump elsewhere.
            if abs(float(metric.distance(a, b)) - moved) > 1e-9 * moved + 1e-15 * self.change:
                return False
        return True


def total_of_families(parts: Sequence[Guarantee], families: Sequence[Sequence[int]]) -> Guarantee:
    """Several answers of one query, of which some, a family, never get anything from one unit together.

    Coming or going moves one of a family, a change at most two: it is taken from one and given to another. Of linked
    records one may come or go while the others change; what each form adds for them is the most of so many records.
    """
    whole = total(parts)
    presence, change = whole.presence, whole.change
    for family in families:
        own = [parts[i] for i in family]
        pair = math.fsum(sorted(min(part.presence, part.change) for part in own)[-2:])
        if whole.linked == 1:
            furthest, coming = max(part.change for part in own), max(part.presence for part in own)
        else:
            furthest = coming = max(pair, *(part.sensitivity for part in own))
        presence -= math.fsum(part.presence for part in own) - coming
        change -= max(math.fsum(part.change for part in own) - max(pair, furthest), 0.0)
    room = 1 + 1e-13  # what subtracting rounded away
    return replace(whole, presence=min(presence * room, whole.presence), change=min(change * room, whole.change))


def list_moved(costs: Sequence[Cost], families: Sequence[Sequence[int]], key: Callable[[Cost], Any]) -> list[Cost]:
    """Of what each answer costs, all that one unit can make add up: of a family the two largest, by the key."""
    apart = sorted(set(range(len(costs))).difference(*families))
    moved = [sorted((costs[i] for i in family), key=key)[-2:] for family in families]
    return [*(costs[i] for i in apart), *itertools.chain.from_iterable(moved)]


def total(parts: Sequence[Guarantee]) -> Guarantee:
    """Several answers, or several releases: metrics add. A column that one of them does not read adds nothing."""
    if len(parts) == 1:
        return parts[0]
    names = sorted({name for part in parts for name in part.columns})
    numbers = [n for n in names if all(n in part.lines or n not in part.columns for part in parts)]
    slopes = [part.slope for part in parts]
    known = [part.responses for part in parts]
    return Guarantee(
        unit=parts[0].unit,
        columns={name: _sum([part.columns[name] for part in parts if name in part.columns]) for name in names},
        lines={name: _line_sum([part.lines[name] for part in parts if name in part.lines]) for name in numbers},
        change=math.fsum(part.change for part in parts) * (1 + 1e-14),
        presence=math.fsum(part.presence for part in parts) * (1 + 1e-14),
        slope=None if None in slopes else math.fsum(slope or 0.0 for slope in slopes),
        rounding=math.fsum(part.rounding for part in parts),
        linked=min(part.linked for part in parts),
        responses=None if None in known else tuple(itertools.chain.from_iterable(made or () for made in known)),
    )


def _spellings(key: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if likeness(name) == key] or [key]


def _times(factor: float, metric: Metric) -> Metric:
    """The same distance, multiplied; in its own form."""
    match metric:
        case LineMetric(form):
            return LineMetric(form.times(factor))
        case Multiple(known, inner):
            return Multiple(factor * known, inner)
        case Matrix():
            return Matrix(metric.values, factor * metric.distances)
        case _:
            return Multiple(factor, metric)


def _sum(metrics: list[Metric]) -> Metric:
    return metrics[0] if len(metrics) == 1 else Sum(tuple(metrics))


def _line_sum(metrics: list[LineMetric]) -> LineMetric:
    """The sum of distances on the line, caps left out where they would leave this form."""
    if len(metrics) == 1:
        return metrics[0]
    whole = LineForm()
    for metric in metrics:
        added = whole.plus(replace(metric.form, cap=math.inf))
        assert added is not None
        whole = added
    return LineMetric(whole)
