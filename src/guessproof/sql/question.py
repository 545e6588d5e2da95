"""A query that was understood: what is measured, what each record can do to it, and what is computed from it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import Expr, exp

from guessproof.errors import QueryError
from guessproof.sql import formula
from guessproof.sql.account import account
from guessproof.sql.declared import Declared
from guessproof.sql.flatten import Flat, flatten
from guessproof.sql.contribution import Contribution
from guessproof.sql.guarantee import Guarantee, guarantee
from guessproof.sql.parse import parse
from guessproof.sql.ranges import Range
from guessproof.sql.reader import Reader, place
from guessproof.sql.rules import RULES
from guessproof.sql.rules.flag import read_flag
from guessproof.sql.rules.choice import Choice, Nothing
from guessproof.sql.rules.logic import Both
from guessproof.sql.rules.missing import Missing
from guessproof.sql.rules.number import Number, literal_number
from guessproof.sql.tally import Tallied
from guessproof.sql.term import Condition, Everyone, Term

Kind = Literal["count", "sum", "min", "max"]
MOST_GROUPS = 10_000
UNSUPPORTED = {
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


@dataclass(frozen=True)
class Measurement:
    """One aggregate that gets noise, and the guarantee of one record for it (per unit of noise scale 1).

    `divisor` is the public count behind an average: the guarantee and the noise are those of sum/divisor.
    """

    text: str
    kind: Kind
    contribution: Contribution
    filter: Condition
    guarantee: Guarantee
    divisor: float
    grouped: bool
    account: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the answer is a whole number, so that whole noise fits."""
        return self.contribution.is_whole and self.divisor == 1

    @property
    def range(self) -> Range:
        """What one record can contribute, rounding of floating-point arithmetic included."""
        seen = self.contribution.follow(self.guarantee.declared.at_rest(self.contribution.columns))
        return Range(seen.hull.low - seen.error, seen.hull.high + seen.error)

    @property
    def change(self) -> float:
        """By changing one record's protected values: at most this."""
        protects = self.guarantee.declared.protects
        if protects == "records" and self.grouped:  # it may leave one group and enter another
            return 2 * self.guarantee.presence / self.divisor
        return self.guarantee.change / self.divisor

    @property
    def presence(self) -> float:
        """By adding or removing one record: at most this."""
        return self.guarantee.presence / self.divisor

    @property
    def sensitivity(self) -> float:
        """By whatever is protected: at most this."""
        return max(self.change, self.presence) if self.guarantee.declared.protects == "records" else self.change


@dataclass(frozen=True)
class Output:
    """One column of the answer: its name, and how it is computed from noisy numbers."""

    name: str
    formula: Expr

    @property
    def measured(self) -> tuple[int, ...]:
        """The measurements that it uses."""
        leaves = [n for n in self.formula.find_all(exp.Anonymous) if n.this in (formula.MEASURED, formula.RATIO)]
        counts = [int(p.this) for n in leaves for p in n.expressions[: 2 if n.this == formula.RATIO else 1]]
        return tuple(dict.fromkeys(counts))

    @property
    def is_plain(self) -> bool:
        """Whether it is one noisy number as it is."""
        return isinstance(self.formula, exp.Anonymous) and self.formula.this == formula.MEASURED


@dataclass(frozen=True)
class Key:
    """A column to group by, and its public list of values."""

    name: str
    column: str
    levels: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """A query as a value: everything that is known before the table is opened."""

    sql: str
    declared: Declared
    where: Condition
    measurements: tuple[Measurement, ...]
    outputs: tuple[Output, ...]
    keys: tuple[Key, ...] = ()
    having: Expr | None = field(default=None, compare=False)
    order: tuple[tuple[Expr, bool], ...] = field(default=(), compare=False)
    limit: int | None = None

    @property
    def groups(self) -> int:
        """How many rows the answer can have."""
        return math.prod(len(k.levels) for k in self.keys)

    @property
    def columns(self) -> frozenset[str]:
        """The columns that are read."""
        used = self.where.columns.union(*(m.contribution.columns | m.filter.columns for m in self.measurements))
        return used | {k.column for k in self.keys}


def ask(sql: str, declared: Declared) -> Question:
    """Understand a query about a declared table, or refuse it.

    >>> from guessproof.sql.declared import DeclaredColumn
    >>> t = Declared("t", {"time": DeclaredColumn("time", bounds=(0, 120), is_number=True)}, rows=120)
    >>> question = ask("SELECT AVG(time) AS mean FROM t WHERE faculty = 'math'", t)
    >>> [m.change for m in question.measurements]
    [1.0]
    """
    flat = flatten(parse(sql), sql)
    if flat.table.casefold() != declared.table.casefold():
        spot = place(flat.select.args["from_"], sql)
        raise QueryError(f"the plan declares no table {flat.table}", sql, spot, f"write FROM {declared.table}")
    reader = Reader(sql, declared, RULES, read_flag, flat.qualifiers)
    try:
        return _Asking(reader, flat).question()
    except (RecursionError, ArithmeticError):
        raise QueryError("these numbers leave the range of arithmetic", sql, None, "narrow the bounds") from None


class _Asking:
    """Collects measurements while the outputs are read."""

    def __init__(self, reader: Reader, flat: Flat) -> None:
        self.reader = reader
        self.flat = flat
        self.measurements: dict[str, Measurement] = {}
        self.where = self._conditions(flat.where)
        self.keys = self._keys()

    def question(self) -> Question:
        select = self.flat.select
        outputs = tuple(self._outputs(select.expressions))
        if not self.measurements:
            raise self.reader.refuse("the query asks for no aggregate", select, "use COUNT, SUM, AVG, MIN or MAX")
        self.names = {o.name.casefold(): o.formula for o in outputs}
        counted = len(self.measurements)
        having = select.args.get("having")
        condition = None if having is None else self._after(having.this, condition=True)
        order = tuple(self._order(select.args.get("order"), outputs))
        if len(self.measurements) > counted:
            raise self.reader.refuse(
                "HAVING or ORDER BY uses an aggregate that is not an output",
                having,
                "add it to SELECT and use its name",
            )
        return Question(
            self.reader.sql,
            self.reader.declared,
            self.where,
            tuple(self.measurements.values()),
            outputs,
            self.keys,
            condition,
            order,
            self._limit(select.args.get("limit")),
        )

    def _conditions(self, found: Iterable[Expr]) -> Condition:
        total: Condition = Everyone()
        for expression in found:
            self._no_aggregates(expression)
            condition = self.reader.condition(expression)
            total = condition if isinstance(total, Everyone) else Both(total, condition)
        return total

    def _no_aggregates(self, expression: Expr) -> None:
        found = expression.find(exp.AggFunc, exp.Window, exp.Query)
        if found is not None:
            raise self.reader.refuse("an aggregate or a subquery in a filter", found, "compare with a constant")

    # Groups.

    def _keys(self) -> tuple[Key, ...]:
        group = self.flat.select.args.get("group")
        if group is None:
            return ()
        if any(v for k, v in group.args.items() if k != "expressions"):
            raise self.reader.refuse("this GROUP BY is not supported", group, "group by columns with declared lists")
        keys = tuple(self._key(self._resolved(e)) for e in group.expressions)
        if math.prod(len(k.levels) for k in keys) > MOST_GROUPS:
            raise self.reader.refuse(f"more than {MOST_GROUPS} groups", group, "group by fewer columns")
        if len({k.column for k in keys}) < len(keys):
            raise self.reader.refuse("a column is grouped by twice", group, "name it once")
        return keys

    def _resolved(self, expression: Expr) -> Expr:
        """GROUP BY 1 and GROUP BY alias mean an output."""
        outputs = self.flat.select.expressions
        number = expression.this if isinstance(expression, exp.Literal) and not expression.is_string else None
        if number is not None and str(number).isdigit() and 1 <= int(number) <= len(outputs):
            return outputs[int(number) - 1].unalias()
        return expression

    def _key(self, expression: Expr) -> Key:
        column = self.reader.column(expression)
        declared = self.reader.declared
        if declared.protects == "values" and column.protected:
            problem = f"{column.name} is protected: grouping by it would tell who is in which group"
            raise self.reader.refuse(problem, expression, "group by a public column, or filter on it")
        if column.levels is None:
            problem = f"the values of {column.name} are not declared, and rare ones would be revealed"
            remedy = f'declare levels = ["…", "…"] for {column.name}, from public knowledge'
            raise self.reader.refuse(problem, expression, remedy)
        return Key(column.name, column.name, column.levels)

    # Outputs.

    def _outputs(self, expressions: list[Expr]) -> Iterable[Output]:
        seen: set[str] = set()
        for expression in expressions:
            inner = expression.unalias()
            name = expression.alias or _default_name(inner)
            if name.casefold() in seen:
                raise self.reader.refuse(f"two outputs are called {name}", expression, "name them with AS")
            seen.add(name.casefold())
            if isinstance(inner, exp.Star):
                raise self.reader.refuse("rows cannot be released", inner, "use COUNT, SUM, AVG, MIN or MAX")
            yield Output(name, self._after(inner))

    def _after(self, expression: Expr, *, condition: bool = False) -> Expr:
        """The same with aggregates, keys and names of outputs in their places."""
        replaced = self._replaced(expression)
        formula.check(replaced, self.reader.sql, condition=condition)
        return replaced

    def _replaced(self, node: Expr) -> Expr:
        if isinstance(node, (exp.AggFunc, exp.Filter)) or type(node) in UNSUPPORTED:
            return self._aggregate(node)
        if isinstance(node, (exp.Query, exp.Window, exp.WithinGroup)):
            raise self.reader.refuse("a subquery or a window is not supported here", node, "use one plain aggregate")
        if isinstance(node, exp.Column):
            return self._named(node)
        copied = node.copy()
        for part in list(copied.iter_expressions()):
            part.replace(self._replaced(part))
        return copied

    def _named(self, node: exp.Column) -> Expr:
        names: dict[str, Expr] = getattr(self, "names", {})
        if not node.table and node.name.casefold() in names:
            return names[node.name.casefold()].copy()
        for index, key in enumerate(self.keys):
            if self.reader.column(node).name == key.column:
                return formula.key(index)
        return node.copy()

    def _order(
        self, clause: Expr | None, outputs: tuple[Output, ...]
    ) -> Iterable[tuple[Expr, bool]]:
        for item in [] if clause is None else clause.expressions:
            what = item.this
            number = literal_or_none(what)
            if number is not None:
                if not 1 <= number <= len(outputs):
                    raise self.reader.refuse("there is no such output", item, f"count from 1 to {len(outputs)}")
                yield outputs[number - 1].formula, bool(item.args.get("desc"))
            else:
                yield self._after(what), bool(item.args.get("desc"))

    def _limit(self, clause: Expr | None) -> int | None:
        if clause is None:
            return None
        count = literal_or_none(clause.expression) if isinstance(clause, exp.Limit) else None
        if count is None or count < 0 or clause.args.get("offset") or clause.args.get("expressions"):
            raise self.reader.refuse("this LIMIT is not understood", clause, "write LIMIT 10")
        return count

    # Aggregates.

    def _aggregate(self, node: Expr) -> Expr:
        own: Condition = Everyone()
        call = node
        if isinstance(node, exp.Filter):
            call = node.this
            self._no_aggregates(node.expression.this)
            own = self.reader.condition(node.expression.this)
        for kind, word in UNSUPPORTED.items():
            if isinstance(call, kind):
                raise self.reader.refuse(f"{word} is not supported yet", call, "use COUNT, SUM, AVG, MIN or MAX")
        if not isinstance(call, (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)):
            raise self.reader.refuse(f"{call.sql_name()} is not supported", call, "use COUNT, SUM, AVG, MIN or MAX")
        inner = self._argument(call)
        text = node.sql("duckdb").replace(" <-> ", " <@> ")
        if isinstance(call, exp.Avg):
            return self._average(call, inner, own, text)
        if isinstance(call, exp.Count):
            return self._measure(text, "count", self._counted(inner), own, call)
        if isinstance(inner, exp.Star):
            raise self.reader.refuse(f"{call.sql_name()}(*) has no meaning", call, "name a column")
        kind: Kind = "sum" if isinstance(call, exp.Sum) else "min" if isinstance(call, exp.Min) else "max"
        return self._measure(text, kind, self.reader.term(inner), own, call)

    def _argument(self, call: Expr) -> Expr:
        inner = call.this
        if isinstance(inner, exp.Distinct):
            word = "COUNT DISTINCT" if isinstance(call, exp.Count) else "DISTINCT"
            raise self.reader.refuse(
                f"{word} is not supported yet", call, "count rows, or use a declared list of groups"
            )
        extra = [v for k, v in call.args.items() if k not in ("this", "big_int") and v]
        if inner is None and isinstance(call, exp.Count) and not extra:
            return exp.Star()
        if extra or inner is None:
            raise self.reader.refuse("this aggregate takes one argument", call, "name one column or expression")
        nested = inner.find(exp.AggFunc, exp.Window, exp.Query)
        if nested is not None:
            raise self.reader.refuse("an aggregate inside an aggregate", nested, "aggregate once")
        if isinstance(inner, exp.Star):
            if any(inner.args.values()):
                raise self.reader.refuse("this star is not understood", call, "write COUNT(*)")
            return inner
        return inner

    def _counted(self, inner: Expr) -> Term:
        """What COUNT adds for a row: a bare column needs no bounds, only whether there is a value."""
        if isinstance(inner, exp.Star) or literal_number(inner) is not None:
            return Number(1.0)
        if isinstance(inner, exp.Column):
            column = self.reader.column(inner)
            missing = Missing(column.name, bool(column.is_number) and column.protected)
            return Choice(missing, Nothing(), Number(1.0))
        return Tallied(self.reader.term(inner))

    def _average(self, call: exp.Avg, inner: Expr, own: Condition, text: str) -> Expr:
        term, declared = self.reader.term(inner), self.reader.declared
        protected = {n for n in (self.where.columns | own.columns) if declared.column(n).protected}
        if declared.protects == "values" and declared.rows is not None and not protected:
            return self._measure(text, "sum", term, own, call, divisor=float(declared.rows))
        total = self._measure(text.replace("AVG(", "SUM(", 1), "sum", term, own, call)
        count = self._measure(text.replace("AVG(", "COUNT(", 1), "count", Tallied(term), own, call)
        seen = term.follow(declared.at_rest(term.columns)).hull
        return formula.ratio(_index(total), _index(count), seen.low, seen.high)

    def _measure(
        self, text: str, kind: Kind, term: Term, own: Condition, call: Expr, *, divisor: float = 1.0
    ) -> Expr:
        known = f"{text} / {divisor:g}" if divisor != 1 else text
        if known not in self.measurements:
            self.measurements[known] = self._measurement(text, kind, term, own, call, divisor)
        return formula.measured(list(self.measurements).index(known))

    def _measurement(
        self, text: str, kind: Kind, term: Term, own: Condition, call: Expr, divisor: float
    ) -> Measurement:
        declared = self.reader.declared
        condition = (
            self.where
            if isinstance(own, Everyone)
            else own
            if isinstance(self.where, Everyone)
            else Both(self.where, own)
        )
        seen = term.follow(declared.at_rest(term.columns))
        low, high = seen.hull.low - seen.error, seen.hull.high + seen.error
        if not (math.isfinite(low) and math.isfinite(high)) or max(abs(low), abs(high)) > 1e15:
            raise self.reader.refuse("this can become too large to be added exactly", call, "narrow the bounds")
        absent = 0.0 if kind in ("count", "sum") else high if kind == "min" else low
        contribution = Contribution(condition, term, absent)
        # A public count says how many values there are: whether one is missing is then assumed known.
        found = guarantee(contribution, declared if divisor == 1 else declared.complete())
        grouped = bool(self.keys)
        measurement = Measurement(text, kind, contribution, own, found, divisor, grouped)
        if not math.isfinite(measurement.sensitivity):
            raise self.reader.refuse("one record could move this by any amount", call, "narrow the bounds")
        if measurement.sensitivity == 0:
            raise self.reader.refuse(
                f"{text} depends on nothing that is protected, so it needs no noise",
                call,
                'ask the database itself, or protect the presence of a row with protects = "records"',
            )
        return Measurement(text, kind, contribution, own, found, divisor, grouped, account(measurement))


def _index(node: Expr) -> int:
    return int(node.expressions[0].this)


def _default_name(node: Expr) -> str:
    return node.name if isinstance(node, exp.Column) else node.sql("duckdb").lower()


def literal_or_none(node: Expr | None) -> int | None:
    """A whole number that is written as such."""
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit():
        return int(node.this)
    return None
