"""How a query's aggregates are read: each becomes measurements, and a formula of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from sqlglot import Expr, exp

from guessproof.intervals import Interval
from guessproof.names import folded
from guessproof.sql import formula
from guessproof.sql.aggregates import AGGREGATES
from guessproof.sql.distances import (
    Contribution,
    bound_sensitivity,
    build_guarantee,
    build_unit_guarantee,
    list_secret_keys,
)
from guessproof.sql.formula import Key
from guessproof.sql.measurement import (
    EXTREMES,
    AggregateKind,
    ColumnPresence,
    Measurement,
    OncePresent,
    count_presence,
    describe,
    link_records,
)
from guessproof.sql.parse import name_construct
from guessproof.sql.relation import Match, PublicJoin, count_matches
from guessproof.sql.rules.addition import Addition
from guessproof.sql.rules.logic import Conjunction
from guessproof.sql.rules.values import Number, parse_number
from guessproof.sql.terms import Condition, NoFilter, Reader, Term

LARGEST = 1e15  # what one record may add: in steps of 2^-10 still far from the largest whole number of an engine
REMEDY = "use COUNT, SUM, AVG, MIN, MAX, MEDIAN, QUANTILE, VARIANCE or STDDEV"
KINDS: dict[type[Expr], AggregateKind] = {exp.Sum: "sum", exp.Min: "min", exp.Max: "max"}


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
        away = Addition(term, Number(centre), -1) if centre else term
        total = self.measure_mean(shown, "sum", away, own, call)
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
        """The place of how many values there are behind an average."""
        return self.measure_mean(text, "count", count_presence(term), own, call)

    def measure_mean(self, text: str, kind: AggregateKind, term: Term, own: Condition, call: Expr) -> Expr:
        """The place of a sum or a count behind an average: both weight the rows of a unit in the same way."""
        weighted = self.reader.declared.unit.weights_rows
        return self.measure(f"weighted {text}" if weighted else text, kind, term, own, call, weighted=weighted)

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
        self,
        text: str,
        kind: AggregateKind,
        term: Term,
        own: Condition,
        call: Expr,
        *,
        divisor: float = 1.0,
        weighted: bool = False,
    ) -> Expr:
        seen = term.follow(self.reader.declared.at_rest(term.columns)).hull
        if not seen.size <= LARGEST:
            raise self.reader.refuse("this can become too large to be added exactly", call, "narrow the bounds")
        absent = seen.high if kind == "min" else seen.low if kind == "max" else 0.0
        added = Contribution(self.condition(own), term, absent, self.joins, weighted=weighted)
        return self.add(text, kind, added, own, call, divisor=divisor)

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


def read_filter(expression: Expr, reader: Reader) -> Condition:
    """The condition of a WHERE or a FILTER, which sees one row at a time."""
    found = expression.find(exp.AggFunc, exp.Window, exp.Query)
    if found is not None:
        raise reader.refuse("an aggregate or a subquery in a filter", found, "compare with a constant")
    return reader.condition(expression)
