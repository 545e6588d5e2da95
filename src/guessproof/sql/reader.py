"""From a parsed expression to terms and conditions, by the rules; what no rule reads is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import Expr, exp

from guessproof.errors import QueryError
from guessproof.names import folded
from guessproof.sql.declared import Declared, DeclaredColumn
from guessproof.sql.term import Condition, Node, Term
from guessproof.world.kinds import HOLDS, Kind

CALL = re.compile(r"(\w+)\s*\(\s*$")
# A bracket after one of these is no call.
WORDS = frozenset(
    {"AND", "BETWEEN", "BY", "CASE", "ELSE", "EXISTS", "FILTER", "FROM", "HAVING", "IN", "IS", "LIKE"}
) | {
    "NOT",
    "ON",
    "OR",
    "SELECT",
    "THEN",
    "WHEN",
    "WHERE",
}
NAMES: dict[type[Expr], str] = {
    exp.Mod: "%",
    exp.IntDiv: "//",
    exp.DPipe: "||",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.SimilarTo: "SIMILAR TO",
    exp.Placeholder: "a parameter",
    exp.Parameter: "a parameter",
    exp.Subquery: "a subquery",
    exp.Select: "a subquery",
    exp.Dot: "a part of a column",
    exp.Bracket: "a part of a column",
    exp.Star: "*",
}


INSTEAD: dict[type[Expr], str] = {
    exp.Cast: "leave it out: a column with bounds is read as numbers",
    exp.TryCast: "leave it out: a column with bounds is read as numbers",
    exp.Floor: "use ROUND",
    exp.Ceil: "use ROUND",
    exp.ILike: "use LIKE, which tells capitals from small letters",
    exp.Log: "use LN, as LN(x) / 0.693 for base 2",
    exp.Placeholder: "write the value itself",
    exp.Parameter: "write the value itself",
    exp.NullSafeNEQ: "write x <> 3 OR x IS NULL",
}


@dataclass(frozen=True)
class Rule:
    """One construct: which nodes it reads, and how. `examples` are shown in the docs and tried in the tests."""

    name: str
    nodes: tuple[type[Expr], ...]
    read: Callable[[Expr, Reader], Node]
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Reader:
    """Reads expressions of one query about one declared table."""

    sql: str
    declared: Declared
    rules: tuple[Rule, ...]
    flag: Callable[[Expr, Reader], Condition]  # reads a bare column where a condition is needed
    spelled: dict[str, str] = field(default_factory=dict[str, str], compare=False)  # names as first written
    learned: dict[str, Kind] = field(default_factory=dict[str, Kind], compare=False)  # kinds that the plan leaves open

    @cached_property
    def _by_node(self) -> dict[type[Expr], Rule]:
        return {node: rule for rule in self.rules for node in rule.nodes}

    def node(self, expression: Expr) -> Node:
        """A term or a condition."""
        rule = self._by_node.get(type(expression))
        if rule is None:
            remedy = INSTEAD.get(type(expression)) or self._supported()
            raise self.refuse(f"{said(expression, self.sql)} is not understood", expression, remedy)
        return rule.read(expression, self)

    def term(self, expression: Expr) -> Term:
        """A number."""
        node = self.node(expression)
        if not isinstance(node, Term):
            raise self.refuse("a number is needed here", expression, "write CASE WHEN … THEN 1 ELSE 0 END")
        return node

    def condition(self, expression: Expr) -> Condition:
        """True or false."""
        while isinstance(expression, exp.Paren):
            expression = expression.this
        node = self.flag(expression, self) if isinstance(expression, exp.Column) else self.node(expression)
        if not isinstance(node, Condition):
            raise self.refuse("a condition is needed here", expression, "compare it with something")
        return node

    def column(self, expression: Expr) -> DeclaredColumn:
        """The column that is named."""
        if not isinstance(expression, exp.Column) or not isinstance(expression.this, exp.Identifier):
            raise self.refuse("a column is needed here", expression, "name a column of the table")
        # Engines do not tell Time from time: two spellings of a column that is not declared are one column.
        name = self.spelled.setdefault(folded(expression.name), expression.name)
        found = self.declared.column(name)
        kind = found.kind or self.learned.get(folded(name))
        return replace(found, kind=kind)

    def used(self, column: DeclaredColumn, kind: Kind, place: Expr, remedy: str, needed: str = "") -> DeclaredColumn:
        """The column as one of this kind: what it is declared to be, or was taken for before, or is from now on."""
        if not column.may_be(kind):
            found = column.kind or "label"
            before = " elsewhere in the query" if folded(column.name) in self.learned else ""
            raise self.refuse(f"{column.name} holds {HOLDS[found]}{before}{needed}", place, remedy)
        if column.kind is None:
            self.learned[folded(column.name)] = kind
        return replace(column, kind=kind)

    def refuse(self, problem: str, expression: Expr | None, remedy: str) -> QueryError:
        """A refusal that underlines the place."""
        return QueryError(problem, self.sql, None if expression is None else place(expression, self.sql), remedy)

    def _supported(self) -> str:
        return "use " + ", ".join(rule.name for rule in self.rules)


def place(expression: Expr, sql: str) -> tuple[int, int] | None:
    """Where an expression stands in the text: from its first to its last known token, brackets closed."""
    spots = [n.meta for n in expression.walk() if "start" in n.meta and "end" in n.meta]
    if not spots:
        return None
    start, end = min(int(m["start"]) for m in spots), max(int(m["end"]) for m in spots) + 1
    if _is_call(expression) and "start" not in expression.meta:
        name = CALL.search(sql[:start])
        start = start if name is None or name[1].upper() in WORDS else name.start()
    if _is_call(expression) and re.fullmatch(r"\w+", sql[start:end]) and sql[end : end + 1] == "(":
        end += 1
    open_brackets = sql[start:end].count("(") - sql[start:end].count(")")
    while open_brackets > 0 and end < len(sql) and sql[end] in " )*\n\t":
        open_brackets -= sql[end] == ")"
        end += 1
    return start, end


def said(expression: Expr, sql: str) -> str:
    """The name of a function as it was written, or of what stands there."""
    spot = place(expression, sql)
    written = re.match(r"(\w+)\s*\(", sql[spot[0] :]) if spot is not None and _is_call(expression) else None
    if written is not None and written[1].upper() not in WORDS:
        return written[1].upper()
    if isinstance(expression, exp.Anonymous):
        return str(expression.this).upper()
    if isinstance(expression, exp.Func):
        return expression.sql_name()
    return NAMES.get(type(expression), type(expression).__name__.upper())


def _is_call(expression: Expr) -> bool:
    return isinstance(expression, exp.Func) and not isinstance(expression, (exp.Connector, exp.Case, exp.Cast))
