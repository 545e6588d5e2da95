"""COUNT, SUM, AVG, MIN, MAX: what is measured, what one record does to it, its place in the outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeGuard, TypeVar

from sqlglot import Expr, exp

from guessproof.guarantee import Guarantee, UnitTotal
from guessproof.intervals import Interval
from guessproof.names import folded
from guessproof.rounded import up
from guessproof.sql import formula
from guessproof.sql.aggregates import AGGREGATES
from guessproof.sql.declared import DeclaredColumn, DeclaredTable
from guessproof.sql.distances import (
    Contribution,
    bound_euclidean,
    bound_sensitivity,
    build_guarantee,
    build_unit_guarantee,
    list_secret_keys,
)
from guessproof.sql.formula import Key
from guessproof.sql.movement import ChangeBounds, Neighbours, constant
from guessproof.sql.parse import name_construct
from guessproof.sql.relation import Match, PublicJoin, count_matches
from guessproof.sql.rules.addition import Addition
from guessproof.sql.rules.logic import Conjunction
from guessproof.sql.rules.missing import write_presence
from guessproof.sql.rules.values import Number, NumberColumn, parse_number
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, NoFilter, Reader, Row, Term
from guessproof.world.binned import Binned
from guessproof.world.line_form import LineForm, LineMetric, Metric, Multiple
from guessproof.world.metrics import Matrix

AnyMeasurement = TypeVar("AnyMeasurement", bound="Measurement")
AggregateKind = Literal["count", "sum", "min", "max", "quantile", "distinct"]
EXTREMES = ("min", "max")
PARTS_OF_ROW = 1 << 10
LARGEST = 1e15  # what one record may add: in steps of 2^-10 still far from the largest whole number of an engine
REMEDY = "use COUNT, SUM, AVG, MIN, MAX, MEDIAN, QUANTILE, VARIANCE or STDDEV"
KINDS: dict[type[Expr], AggregateKind] = {exp.Sum: "sum", exp.Min: "min", exp.Max: "max"}


@dataclass(frozen=True)
class ColumnPresence(Term):
    """1 where the column holds something of its kind. No bounds are needed."""

    column: DeclaredColumn

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset((self.column.name,))

    def at(self, row: Row) -> float | None:
        return None if self.column.read(row.get(self.column.name)) is None else 1.0

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        column = neighbours[self.column.name]
        return replace(constant(1.0), null=self.column.holds_nothing(column), moves=column.moves)

    def write(self, target: SqlTarget) -> Expr:
        if not self.column.may_be_null:
            return exp.Literal.number(1)
        if self.column.is_number:
            return exp.case().when(target.is_number(self.column), exp.Literal.number(1))
        return write_presence(self.column, target)  # COUNT looks at nothing but whether it is NULL

    @property
    def is_whole(self) -> bool:
        return True


def count_presence(term: Term) -> Term:
    """What COUNT of an expression adds."""
    return ColumnPresence(term.column) if isinstance(term, NumberColumn) else TermPresence(term)


@dataclass(frozen=True)
class TermPresence(Term):
    """1 where the expression has a value, nothing elsewhere."""

    inner: Term

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.inner,)

    def at(self, row: Row) -> float | None:
        return None if self.inner.at(row) is None else 1.0

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        inner = self.inner.follow(neighbours)
        return replace(constant(1.0), null=inner.null, moves=inner.moves)

    def write(self, target: SqlTarget) -> Expr:
        return exp.case().when(self.inner.present(target), exp.Literal.number(1))

    @property
    def is_whole(self) -> bool:
        return True


@dataclass(frozen=True)
class OncePresent(Number):
    """1 for each unit that has a row at all, however many it has."""


@dataclass(frozen=True)
class Measurement:
    """One aggregate that gets noise, and the guarantee of one protected unit for what the engine adds up.

    `divisor` is the public count behind an average: the answer is the noisy sum over it.
    `filter` is the aggregate's own FILTER, beside the query's WHERE. `total` is what the rows of one unit may add up
    to, where it has several: the engine sees to it.
    """

    text: str
    kind: AggregateKind
    contribution: Contribution
    filter: Condition
    guarantee: Guarantee
    declared: DeclaredTable
    divisor: float
    copies: int = 1  # how many rows of one record are added up in it, or numbers that it moves
    keys: tuple[Key, ...] = ()  # protected ones of GROUP BY: a record may leave one group and enter another
    account: str = ""
    total: UnitTotal | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the answer is a whole number, so that whole noise fits."""
        scaled = self.total is not None and self.total.most is not None
        return self.contribution.is_whole and self.divisor == 1 and not scaled

    @property
    def euclidean(self) -> float:
        """How far a record can move all groups by straight-line distance, which normal noise hides: at most this."""
        most = self.guarantee.sensitivity
        if self.total is not None:
            return min(most, self.declared.linked * self.total.euclidean)
        if not self.keys:
            return most
        return min(most, self.copies * self.declared.linked * bound_euclidean(self.contribution, self.declared))

    @cached_property
    def range(self) -> Interval:
        """What one row can contribute, rounding of floating-point arithmetic included."""
        return self.contribution.follow(self.declared.at_rest(self.contribution.columns)).hull

    @property
    def size(self) -> float:
        """The largest number that a row or a unit contributes."""
        return self.range.size if self.total is None else max(self.range.size, self.total.presence)

    @property
    def is_rounded(self) -> bool:
        """Whether rounding to a grid can add to a move. What was bounded after it moves no further than the bound."""
        return self.total is None or self.kind not in ("count", "sum")

    @property
    def picks(self) -> bool:
        """Whether a value is picked by its rank, instead of noise on a number."""
        return self.contribution.picks

    @property
    def is_apart(self) -> bool:
        """Whether the engine tells more of it than one number: by a statement of its own."""
        return self.contribution.apart

    @property
    def follows(self) -> bool:
        """Whether the scale of its noise follows the data."""
        return self.contribution.follows

    @property
    def fine(self) -> int:
        """Into how many parts a row is divided where the rows of one unit are scaled and counted by places."""
        return 1 if self.total is None else PARTS_OF_ROW

    @property
    def per_answer(self) -> Guarantee:
        """The guarantee in units of the answer."""
        return self.guarantee.scaled(1 / self.divisor)


def describe(measurement: Measurement) -> str:
    """What one record can do to a number, and why.

    >>> from guessproof.sql.declared import DeclaredColumn, DeclaredTable
    >>> from guessproof.sql.query import analyze
    >>> t = DeclaredTable("t", {"salary": DeclaredColumn("salary", bounds=(1000, 4000), missing=False)})
    >>> analyze("SELECT SUM(salary) FROM t", t).measurements[0].account
    "SUM(salary): one person moves it by at most |x − x'|, at most 3000"
    """
    if measurement.picks:
        return _describe_pick(measurement)
    answer = measurement.per_answer
    if answer.unit.hides_presence:
        return (
            f"{measurement.text}: adding or removing one {answer.unit.noun} moves it by at most {up(answer.presence)}, "
            f"changing one by at most {up(answer.change)}"
        )
    metrics = {n: m for n, m in measurement.guarantee.columns.items() if _matters(m)}
    largest = f"{up(answer.change)}{_describe_remedy(measurement)}"
    per = f" (over {measurement.divisor:g} rows or more, known to have a value)" if measurement.divisor != 1 else ""
    start = f"{measurement.text}: one person moves it by at most"
    if not metrics:
        return f"{start} {up(answer.change)}, when a value goes missing{per}"
    if measurement.keys:
        return f"{start} {largest}, in both groups together, when {_list_keys(measurement)} changes{per}"
    if not any(isinstance(m, LineMetric) and any(m.form.slopes) for m in metrics.values()):
        return f"{start} {largest}, when {' or '.join(metrics)} changes the outcome of a test{per}"
    parts = [_describe_column(name, metric, measurement.divisor, len(metrics) == 1) for name, metric in metrics.items()]
    return f"{start} {' + '.join(parts)}, at most {largest}{per}"


def _list_keys(measurement: Measurement) -> str:
    return " or ".join(key.column for key in measurement.keys)


def _describe_pick(measurement: Measurement) -> str:
    """What one record can do to the odds of two values, in ranks."""
    found = measurement.guarantee
    inside = measurement.contribution.ranks_inside
    start = f"{measurement.text}: a value is picked by its rank" + (f", {inside} inside" if inside else "")
    if found.unit.hides_presence:
        return (
            f"{start}; adding or removing one {found.unit.noun} moves the ranks of two values apart by at most "
            f"{up(found.presence)}, changing one by at most {up(found.change)}"
        )
    return f"{start}; one person moves the ranks of two values apart by at most {up(found.change)}"


def _matters(metric: Metric) -> bool:
    """Whether the column alone can move anything."""
    if isinstance(metric, Matrix):
        return bool(metric.distances.max())
    if isinstance(metric, Multiple):
        return metric.factor > 0
    if isinstance(metric, Binned):
        return any(metric.worth)
    assert isinstance(metric, LineMetric)
    return not metric.form.is_flat or metric.form.step > 0


def _describe_remedy(measurement: Measurement) -> str:
    """What it would help to know that no value is missing."""
    declared = measurement.declared
    complete = declared.complete()
    if complete == declared or measurement.keys:  # whoever changes the group moves both, missing or not
        return ""
    present = measurement.copies * bound_sensitivity(measurement.contribution, complete).change / measurement.divisor
    if measurement.per_answer.change <= present * (1 + 1e-9):
        return ""
    return f" ({up(present)} if no value can be missing: say missing = false)"


def _describe_column(name: str, metric: Metric, divisor: float, alone: bool) -> str:
    if isinstance(metric, LineMetric):
        return _describe_line(name, metric.form, divisor, alone)
    largest = metric.factor if isinstance(metric, Multiple) else 0.0
    largest = float(metric.distances.max()) if isinstance(metric, Matrix) else largest
    return f"{up(largest / divisor)} when {name} changes the outcome of a test"


def _describe_line(name: str, form: LineForm, divisor: float, alone: bool) -> str:
    """x stands for the column where there is only one; otherwise each is called by its name."""
    slope, jump, step = max(form.slopes) / divisor, max(form.jumps, default=0.0) / divisor, form.step / divisor
    parts: list[str] = []
    if slope:
        moved = "|x − x'|" if alone else f"|{name} − {name}'|"
        parts.append(moved if math.isclose(slope, 1) else f"{up(slope)}·{moved}")
    if jump > 1e-9 * (slope + jump + step):
        parts.append(f"{up(jump)} where a test of {name} changes its outcome")
    if step > 1e-9 * (slope + jump + step):
        parts.append(f"{up(step)} for any change of {name}")
    return " + ".join(parts)


@dataclass(frozen=True)
class AggregateReader:
    """Collects the measurements of a query; what is asked twice is measured once."""

    reader: Reader
    where: Condition
    keys: tuple[Key, ...]  # of GROUP BY
    joins: tuple[PublicJoin, ...] = ()
    measurements: dict[tuple[AggregateKind, Contribution, float], Measurement] = field(
        default_factory=dict[tuple[AggregateKind, Contribution, float], Measurement]
    )

    def read(self, node: Expr) -> Expr:
        """The formula of an aggregate, with or without a FILTER."""
        own: Condition = NoFilter()
        call = node
        if isinstance(node, exp.Filter):
            call = node.this
            own = read_filter(node.expression.this, self.reader)
        text = spell(node)
        if self._counts_units(call):
            return self.measure(text, "count", OncePresent(1.0), own, call)
        if self._is_plain(call):
            return self._plain(call, own, text)
        if type(call) not in AGGREGATES:
            raise self.reader.refuse(f"{name_construct(call, self.reader.sql)} is not supported", call, REMEDY)
        return AGGREGATES[type(call)](self, call, own, text)

    def _is_plain(self, call: Expr) -> TypeGuard[exp.AggFunc]:
        """Whether rows are counted or added up, or a bound extreme is found; levels and ranks are read elsewhere."""
        if isinstance(call, exp.Count):
            return not isinstance(call.this, exp.Distinct)
        if isinstance(call, (exp.Min, exp.Max)):
            return self.reader.declared.ranks_inside is None and not self.reader.declared.smooth
        return isinstance(call, (exp.Sum, exp.Avg))

    def _plain(self, call: exp.AggFunc, own: Condition, text: str) -> Expr:
        inner = self.argument(call)
        if isinstance(call, exp.Avg):
            return self._average(call, inner, own, text)
        if isinstance(call, exp.Count):
            return self.measure(text, "count", self._counted(inner), own, call)
        read = self.reader.term if isinstance(call, exp.Sum) else self.reader.value  # the first and last of times
        return self.measure(text, KINDS[type(call)], read(inner), own, call)

    def is_time(self, node: Expr) -> bool:
        """Whether what an aggregate tells is a time: the first, the last, or the middle one of some."""
        call = node.this if isinstance(node, exp.Filter) else node
        timely = isinstance(call, (exp.Min, exp.Max, exp.Avg))
        return timely and self.reader.value(self.argument(call)).is_time

    def _counts_units(self, call: Expr) -> bool:
        """COUNT(DISTINCT person): each unit once."""
        identity, inner = self.reader.declared.unit.identity, call.this
        if identity is None or not isinstance(call, exp.Count) or not isinstance(inner, exp.Distinct):
            return False
        named = inner.expressions[0] if len(inner.expressions) == 1 and not inner.args.get("on") else None
        while isinstance(named, exp.Paren):
            named = named.this
        return isinstance(named, exp.Column) and folded(self.reader.column(named).name) == folded(identity)

    def argument(self, call: exp.AggFunc) -> Expr:
        """What the one argument of an aggregate is."""
        inner = call.this
        if isinstance(inner, exp.Distinct):
            remedy = "leave it out, or ask for COUNT(DISTINCT column) of a column with levels"
            raise self.reader.refuse("DISTINCT is not supported here", call, remedy)
        extra = [v for k, v in call.args.items() if k not in ("this", "big_int") and v]
        if inner is None and isinstance(call, exp.Count) and not extra:
            return exp.Star()
        if extra or inner is None:
            raise self.reader.refuse("this aggregate takes one argument", call, "name one column or expression")
        self.check_plain(inner)
        if isinstance(inner, exp.Star) and (any(inner.args.values()) or not isinstance(call, exp.Count)):
            raise self.reader.refuse("this star is not understood", call, "write COUNT(*), or name a column")
        return inner

    def check_plain(self, inner: Expr) -> None:
        """Refuse what does not see one row at a time."""
        nested = inner.find(exp.AggFunc, exp.Window, exp.Query)
        if nested is not None:
            raise self.reader.refuse("an aggregate or a subquery inside an aggregate", nested, "aggregate once")

    def _counted(self, inner: Expr) -> Term:
        """What COUNT adds for a row: a bare column needs no bounds, only whether there is a value."""
        if isinstance(inner, exp.Star) or parse_number(inner) is not None:
            return Number(1.0)
        while isinstance(inner, exp.Paren):
            inner = inner.this
        if isinstance(inner, exp.Column):
            return ColumnPresence(self.reader.column(inner))
        return count_presence(self.reader.value(inner))

    def _average(self, call: exp.Avg, inner: Expr, own: Condition, text: str) -> Expr:
        term, declared = self.reader.value(inner), self.reader.declared
        rows = self.public_rows(term, own, call, text)
        if rows is not None:
            return self.measure(text, "sum", term, own, call, divisor=float(rows))
        seen = term.follow(declared.at_rest(term.columns)).hull
        centre = self._centre(seen, term)
        shown = text.replace("AVG(", "SUM(", 1)
        if centre:
            inner_text = inner.sql("duckdb").replace(" <-> ", " <@> ")
            shown = shown.replace(f"SUM({inner_text})", f"SUM({inner_text} - {centre:g})", 1)
        total = self.measure(shown, "sum", Addition(term, Number(centre), -1) if centre else term, own, call)
        count = self.count(text.replace("AVG(", "COUNT(", 1), term, own, call)
        return formula.mark_ratio(formula.read_index(total), formula.read_index(count), seen.low, seen.high, centre)

    def public_rows(self, term: Term, own: Condition, call: Expr, text: str) -> int | None:
        """The public number of values behind an average, where nothing that is protected may change it."""
        declared = self.reader.declared
        counted = Contribution(self.condition(own), count_presence(term), 0.0, self.joins)
        if not self._is_count_public(counted):
            return None
        if declared.rows is None and bound_sensitivity(counted, declared).change == 0:
            problem = f"{text} is over a number of rows that is public, and was not declared"
            raise self.reader.refuse(problem, call, "declare rows = how many there are at least")
        return declared.rows

    def count(self, text: str, term: Term, own: Condition, call: Expr) -> Expr:
        """The place of how many values there are."""
        return self.measure(text, "count", count_presence(term), own, call)

    def _centre(self, seen: Interval, term: Term) -> float:
        """Deviations from the middle add up to half as much: less noise where all rows of a unit are bounded.

        Times have no 0 that means anything, so they are always counted from the middle.
        """
        bounded = self.reader.declared.unit.identity is not None
        return seen.low / 2 + seen.high / 2 if bounded or term.is_time else 0.0

    def _is_count_public(self, counted: Contribution) -> bool:
        """Whether nothing that is protected changes how many values there are in a group."""
        declared = self.reader.declared
        if declared.unit.hides_presence or list_secret_keys(self.keys, declared, self.joins):
            return False
        return bound_sensitivity(counted, declared.complete()).change == 0

    def condition(self, own: Condition) -> Condition:
        """What must hold for a row to be added: that there is such a row, WHERE, and its own FILTER."""
        found: Condition = NoFilter()
        for condition in (*map(Match, self.joins), self.where, own):
            if not isinstance(condition, NoFilter):
                found = condition if isinstance(found, NoFilter) else Conjunction(found, condition)
        return found

    def measure(
        self, text: str, kind: AggregateKind, term: Term, own: Condition, call: Expr, *, divisor: float = 1.0
    ) -> Expr:
        seen = term.follow(self.reader.declared.at_rest(term.columns)).hull
        if not seen.size <= LARGEST:
            raise self.reader.refuse("this can become too large to be added exactly", call, "narrow the bounds")
        absent = seen.high if kind == "min" else seen.low if kind == "max" else 0.0
        return self.add(
            text, kind, Contribution(self.condition(own), term, absent, self.joins), own, call, divisor=divisor
        )

    def add(
        self,
        text: str,
        kind: AggregateKind,
        contribution: Contribution,
        own: Condition,
        call: Expr,
        *,
        divisor: float = 1.0,
    ) -> Expr:
        """The place of a measurement, which is made unless it is there already."""
        known = (kind, contribution, divisor)
        if known not in self.measurements:
            self.measurements[known] = self._measurement(text, kind, contribution, own, call, divisor)
        return formula.mark_measured(list(self.measurements).index(known))

    def _copies(self, kind: AggregateKind, contribution: Contribution) -> int:
        """How many rows of one record can move the answers. In one group an extreme moves by one of them at most."""
        declared, once = self.reader.declared, self._moves_once(kind, contribution)
        copies = 1 if once and not self.keys else declared.copies or 1
        spread = any(declared.is_joined(key.column) for key in self.keys)  # matches in several groups
        if not self.joins or (once and not spread):
            return copies
        return copies * count_matches(self.joins)

    def _moves_once(self, kind: AggregateKind, contribution: Contribution) -> bool:
        """Whether in one group several rows of a record move it no further than one: levels, if all hold the same."""
        counted = contribution.term.columns
        same = kind == "distinct" and all(self.reader.declared.column(name).protected for name in counted)
        return same or kind in EXTREMES

    def _look_up(self, kind: AggregateKind, contribution: Contribution) -> Contribution | None:
        """The same as a table of a protected key, matches included, where nothing else of the record enters."""
        if not self.joins or self.keys or contribution.apart or kind not in ("count", "sum", "min", "max"):
            return None
        from guessproof.sql.lookup import combine_of, look_up

        return look_up(contribution, self.reader.declared, combine_of(kind, contribution.absent))

    def _measurement(
        self, text: str, kind: AggregateKind, contribution: Contribution, own: Condition, call: Expr, divisor: float
    ) -> Measurement:
        declared = self.reader.declared
        # A public count says how many values there are: whether one is missing is then assumed known.
        declared = declared if divisor == 1 else declared.complete()
        if not math.isfinite(contribution.follow(declared.in_motion(contribution.columns)).change):
            raise self.reader.refuse("one record could move this by any amount", call, "narrow the bounds")
        copies = self._copies(kind, contribution)
        groups = formula.count_groups(self.keys) if self.keys else 0
        once = isinstance(contribution.term, OncePresent)
        total = contribution.bound_unit(declared, groups, adds=kind in ("count", "sum"), once=once)
        if total is None:
            looked = self._look_up(kind, contribution)
            times = copies if looked is None else (declared.copies or 1) if kind in ("count", "sum") else 1
            found = build_guarantee(looked or contribution, declared, self.keys, times)
        else:
            copies = total.cells
            found = build_unit_guarantee(total, declared.unit, contribution.columns | {key.column for key in self.keys})
        if found.sensitivity == 0:
            raise self.reader.refuse(
                f"{text} depends on nothing that is protected, so it needs no noise",
                call,
                'ask the database itself, or protect the presence of a row with protects = "records"',
            )
        secret = list_secret_keys(self.keys, declared, self.joins) if total is None else ()
        measurement = Measurement(text, kind, contribution, own, found, declared, divisor, copies, secret, total=total)
        return link_records(replace(measurement, account=describe(measurement)))


def spell(node: Expr) -> str:
    """An aggregate as its text is shown."""
    dialect = "postgres" if node.find(exp.WithinGroup) else "duckdb"  # DuckDB's writer has a form of its own for these
    return node.sql(dialect).replace(" <-> ", " <@> ")


def link_records(measurement: AnyMeasurement) -> AnyMeasurement:
    """The same where records tell of each other; also columns that the query does not read may tell of the others."""
    declared, guarantee = measurement.declared, measurement.guarantee
    if declared.linked == 1:
        return measurement
    unread = [c for n, c in declared.columns.items() if c.protected and n not in guarantee.columns]
    numbers, labels = ([c.name for c in unread if c.is_number == wanted] for wanted in (True, False))
    linked = guarantee.linked_with(declared.linked, numbers, labels)
    most = up(linked.scaled(1 / measurement.divisor).sensitivity)
    account = f"{measurement.account}; {declared.linked} records that tell of each other by at most {most}"
    return replace(measurement, guarantee=linked, account=account)


def read_filter(expression: Expr, reader: Reader) -> Condition:
    """The condition of a WHERE or a FILTER, which sees one row at a time."""
    found = expression.find(exp.AggFunc, exp.Window, exp.Query)
    if found is not None:
        raise reader.refuse("an aggregate or a subquery in a filter", found, "compare with a constant")
    return reader.condition(expression)
