"""COUNT, SUM, AVG, MIN and MAX: what is measured, and the place of each measurement in the outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from sqlglot import Expr, exp

from guessproof.sql import formula
from guessproof.sql.account import account
from guessproof.sql.contribution import Contribution
from guessproof.sql.guarantee import guarantee_of
from guessproof.sql.measurement import Kind, Measurement
from guessproof.sql.output import Key
from guessproof.sql.reach import reach
from guessproof.sql.reader import Reader, said
from guessproof.sql.rules.logic import Both
from guessproof.sql.rules.number import Number, literal_number
from guessproof.sql.tally import Held, tally
from guessproof.sql.term import Condition, Everyone, Term

LARGEST = 1e15  # what one record may add: in steps of 2^-10 still far from the largest whole number of an engine
REMEDY = "use COUNT, SUM, AVG, MIN or MAX"
UNSUPPORTED: dict[type[Expr], str] = {
    exp.Variance: "VARIANCE",
    exp.VariancePop: "VARIANCE",
    exp.Stddev: "STDDEV",
    exp.StddevPop: "STDDEV",
    exp.StddevSamp: "STDDEV",
    exp.Median: "MEDIAN",
    exp.PercentileCont: "a percentile",
    exp.PercentileDisc: "a percentile",
    exp.Quantile: "a quantile",
    exp.ApproxDistinct: "COUNT DISTINCT",
}
KINDS: dict[type[Expr], Kind] = {exp.Sum: "sum", exp.Min: "min", exp.Max: "max"}


@dataclass(frozen=True)
class Aggregates:
    """Collects the measurements of a query; what is asked twice is measured once."""

    reader: Reader
    where: Condition
    keys: tuple[Key, ...]  # of GROUP BY
    measurements: dict[tuple[Kind, Contribution, float], Measurement] = field(
        default_factory=dict[tuple[Kind, Contribution, float], Measurement]
    )

    def read(self, node: Expr) -> Expr:
        """The formula of an aggregate, with or without a FILTER."""
        own: Condition = Everyone()
        call = node
        if isinstance(node, exp.Filter):
            call = node.this
            own = filtered(node.expression.this, self.reader)
        word = UNSUPPORTED.get(type(call))
        if word is not None:
            raise self.reader.refuse(f"{word} is not supported yet", call, REMEDY)
        if not isinstance(call, (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)):
            raise self.reader.refuse(f"{said(call, self.reader.sql)} is not supported", call, REMEDY)
        inner = self._argument(call)
        text = node.sql("duckdb").replace(" <-> ", " <@> ")
        if isinstance(call, exp.Avg):
            return self._average(call, inner, own, text)
        if isinstance(call, exp.Count):
            return self._measure(text, "count", self._counted(inner), own, call)
        return self._measure(text, KINDS[type(call)], self.reader.term(inner), own, call)

    def _argument(self, call: exp.AggFunc) -> Expr:
        inner = call.this
        if isinstance(inner, exp.Distinct):
            word = "COUNT DISTINCT" if isinstance(call, exp.Count) else "DISTINCT"
            remedy = "count rows, or use a declared list of groups"
            raise self.reader.refuse(f"{word} is not supported yet", call, remedy)
        extra = [v for k, v in call.args.items() if k not in ("this", "big_int") and v]
        if inner is None and isinstance(call, exp.Count) and not extra:
            return exp.Star()
        if extra or inner is None:
            raise self.reader.refuse("this aggregate takes one argument", call, "name one column or expression")
        nested = inner.find(exp.AggFunc, exp.Window, exp.Query)
        if nested is not None:
            raise self.reader.refuse("an aggregate or a subquery inside an aggregate", nested, "aggregate once")
        if isinstance(inner, exp.Star) and (any(inner.args.values()) or not isinstance(call, exp.Count)):
            raise self.reader.refuse("this star is not understood", call, "write COUNT(*), or name a column")
        return inner

    def _counted(self, inner: Expr) -> Term:
        """What COUNT adds for a row: a bare column needs no bounds, only whether there is a value."""
        if isinstance(inner, exp.Star) or literal_number(inner) is not None:
            return Number(1.0)
        while isinstance(inner, exp.Paren):
            inner = inner.this
        if isinstance(inner, exp.Column):
            return Held(self.reader.column(inner))
        return tally(self.reader.term(inner))

    def _average(self, call: exp.Avg, inner: Expr, own: Condition, text: str) -> Expr:
        term, declared = self.reader.term(inner), self.reader.declared
        counted = Contribution(self._condition(own), tally(term), 0.0)
        if not declared.unit.hides_presence and reach(counted, declared.complete()).change == 0:
            # A public count says how many values there are, so nothing that is protected may change their number.
            if declared.rows is not None:
                return self._measure(text, "sum", term, own, call, divisor=float(declared.rows))
            if reach(counted, declared).change == 0:
                problem = f"{text} is over a number of rows that is public, and was not declared"
                raise self.reader.refuse(problem, call, "declare rows = how many there are at least")
        total = self._measure(text.replace("AVG(", "SUM(", 1), "sum", term, own, call)
        count = self._measure(text.replace("AVG(", "COUNT(", 1), "count", tally(term), own, call)
        seen = term.follow(declared.at_rest(term.columns)).hull
        return formula.ratio(formula.index(total), formula.index(count), seen.low, seen.high)

    def _condition(self, own: Condition) -> Condition:
        if isinstance(own, Everyone):
            return self.where
        return own if isinstance(self.where, Everyone) else Both(self.where, own)

    def _measure(self, text: str, kind: Kind, term: Term, own: Condition, call: Expr, *, divisor: float = 1.0) -> Expr:
        seen = term.follow(self.reader.declared.at_rest(term.columns)).hull
        if not seen.size <= LARGEST:
            raise self.reader.refuse("this can become too large to be added exactly", call, "narrow the bounds")
        absent = seen.high if kind == "min" else seen.low if kind == "max" else 0.0
        contribution = Contribution(self._condition(own), term, absent)
        known = (kind, contribution, divisor)
        if known not in self.measurements:
            self.measurements[known] = self._measurement(text, kind, contribution, own, call, divisor)
        return formula.measured(list(self.measurements).index(known))

    def _copies(self, kind: Kind) -> int:
        """How many rows of one record can move the answers. In one group an extreme moves by one of them at most."""
        return (self.reader.declared.copies or 1) if kind in ("count", "sum") or self.keys else 1

    def _measurement(
        self, text: str, kind: Kind, contribution: Contribution, own: Condition, call: Expr, divisor: float
    ) -> Measurement:
        declared = self.reader.declared
        # A public count says how many values there are: whether one is missing is then assumed known.
        declared = declared if divisor == 1 else declared.complete()
        if not math.isfinite(contribution.follow(declared.in_motion(contribution.columns)).change):
            raise self.reader.refuse("one record could move this by any amount", call, "narrow the bounds")
        copies = self._copies(kind)
        found = guarantee_of(contribution, declared, self.keys, copies)
        if found.sensitivity == 0:
            raise self.reader.refuse(
                f"{text} depends on nothing that is protected, so it needs no noise",
                call,
                'ask the database itself, or protect the presence of a row with protects = "records"',
            )
        measurement = Measurement(text, kind, contribution, own, found, declared, divisor, copies)
        return replace(measurement, account=account(measurement))


def filtered(expression: Expr, reader: Reader) -> Condition:
    """The condition of a WHERE or a FILTER, which sees one row at a time."""
    found = expression.find(exp.AggFunc, exp.Window, exp.Query)
    if found is not None:
        raise reader.refuse("an aggregate or a subquery in a filter", found, "compare with a constant")
    return reader.condition(expression)
