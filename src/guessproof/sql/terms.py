"""What a query is made of, once it was understood: terms (numbers) and conditions (true, false, unknown).

Each knows four things: its plain value for one row (`at`), how a move of the record changes it (`follow`), the SQL
that computes it without any error that depends on data (`write`), and where on a column it may jump (`cuts`).
A `Reader` makes them from a parsed expression, by the rules; what no rule reads is refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sqlglot import Expr, exp

from guessproof.errors import QueryError
from guessproof.names import folded, suggest_name
from guessproof.sql.declared import DeclaredColumn, DeclaredTable
from guessproof.sql.movement import ALWAYS, ChangeBounds, Neighbours, OutcomePair
from guessproof.sql.parse import locate, name_construct
from guessproof.sql.target import SqlTarget
from guessproof.world import HOLDS, Kind

CURLY = frozenset("‘’‚‛“”„‟")
MISSPELT = 0.75  # how alike two names are of which one may be the other misspelt: tiem and time

Row = Mapping[str, Any]
LARGEST = 1e300  # of any number that a query may compute on its way


class Node(ABC):
    """A term or a condition."""

    @property
    @abstractmethod
    def parts(self) -> tuple[Node, ...]:
        """What it is made of."""

    @abstractmethod
    def write(self, target: SqlTarget) -> Expr:
        """SQL that is safe to run."""

    @property
    def columns(self) -> frozenset[str]:
        """The columns it reads."""
        return frozenset[str]().union(*(p.columns for p in self.parts))

    def cuts(self, column: str) -> frozenset[float]:
        """Where, as a function of this column, it may jump or bend: x ≤ cut against x > cut."""
        return frozenset[float]().union(*(p.cuts(column) for p in self.parts))


class Term(Node):
    """A number, or NULL."""

    @abstractmethod
    def at(self, row: Row) -> float | None:
        """The plain value for one row."""

    @abstractmethod
    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        """What a move does to it."""

    def present(self, target: SqlTarget) -> Expr:
        """SQL that is true exactly where there is a number."""
        return exp.not_(exp.Is(this=exp.paren(self.write(target), copy=False), expression=exp.null()), copy=False)

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number for every row."""
        return False

    @property
    def is_time(self) -> bool:
        """Whether it is a time, in days since 1970, and no number to compute with."""
        return False


@dataclass(frozen=True)
class OfOne(Term):
    """A function of one number; of NULL it is NULL."""

    inner: Term

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.inner,)

    @abstractmethod
    def value(self, a: float) -> float:
        """The function itself."""

    def at(self, row: Row) -> float | None:
        a = self.inner.at(row)
        return None if a is None else self.value(a)


@dataclass(frozen=True)
class OfTwo(Term):
    """A function of two numbers; where one is NULL it is NULL."""

    left: Term
    right: Term

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.left, self.right

    @abstractmethod
    def value(self, a: float, b: float) -> float:
        """The function itself."""

    def at(self, row: Row) -> float | None:
        a, b = self.left.at(row), self.right.at(row)
        return None if a is None or b is None else self.value(a, b)


class Condition(Node):
    """True, false or unknown. `write` says which; `keeps` only has to tell true from the rest."""

    @abstractmethod
    def at(self, row: Row) -> bool | None:
        """The plain outcome for one row."""

    @abstractmethod
    def follow(self, neighbours: Neighbours) -> OutcomePair:
        """What a move does to it."""

    def keeps(self, target: SqlTarget) -> Expr:
        """SQL that is true exactly where the condition is: cheaper, for WHERE and WHEN."""
        return self.write(target)

    @property
    def opposite(self) -> Condition | None:
        """NOT of it, where that is as simple."""
        return None


@dataclass(frozen=True)
class NoFilter(Condition):
    """No filter at all."""

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    def at(self, row: Row) -> bool:
        return True

    def follow(self, neighbours: Neighbours) -> OutcomePair:
        return ALWAYS

    def write(self, target: SqlTarget) -> Expr:
        return exp.true()


INSTEAD: dict[type[Expr], str] = {
    exp.Log: "use LN, as LN(x) / 0.693 for base 2",
    exp.Placeholder: "write the value itself",
    exp.Parameter: "write the value itself",
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
    declared: DeclaredTable
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
            raise self.refuse(f"{name_construct(expression, self.sql)} is not understood", expression, remedy)
        return rule.read(expression, self)

    def term(self, expression: Expr) -> Term:
        """A number."""
        return self.number(self.value(expression), expression)

    def number(self, node: Term, expression: Expr) -> Term:
        """The same term, unless it is a time."""
        if node.is_time:
            remedy = "write DATEDIFF('day', a, b), a - b or YEAR(a)"
            raise self.refuse("this is a time, and a number is needed here", expression, remedy)
        return node

    def value(self, expression: Expr) -> Term:
        """A number or a time."""
        node = self.node(expression)
        if not isinstance(node, Term):
            raise self.refuse("a number is needed here", expression, "write CASE WHEN … THEN 1 ELSE 0 END")
        if node.parts and node.follow(self.declared.at_rest(node.columns)).hull.size > LARGEST:
            # Some engines give infinity and others fail, which would tell of the record that it is.
            raise self.refuse("this can leave the range of numbers", expression, "narrow the bounds")
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
        written = f"{expression.table}.{expression.name}" if expression.table else expression.name
        if not CURLY.isdisjoint(written):
            raise self.refuse("curly quotes are none in SQL", expression, "write texts as 'text', names as \"name\"")
        if not expression.table and self.declared.is_joined(written):
            raise self.refuse(f"{written} may be a column of a joined table", expression, "name that table otherwise")
        name = self.spelled.setdefault(folded(written), written)
        found = self.declared.column(name)
        kind = found.kind or self.learned.get(folded(name))
        return replace(found, kind=kind)

    def use_as(self, column: DeclaredColumn, kind: Kind, place: Expr, remedy: str, needed: str = "") -> DeclaredColumn:
        """The column as one of this kind: what it is declared to be, or was taken for before, or is from now on."""
        if not column.may_be(kind):
            found = column.kind or "label"
            before = " elsewhere in the query" if folded(column.name) in self.learned else ""
            raise self.refuse(f"{column.name} holds {HOLDS[found]}{before}{needed}", place, remedy)
        if column.kind is None:
            self.learned[folded(column.name)] = kind
        return replace(column, kind=kind)

    def where(self, column: DeclaredColumn) -> str:
        """For which column something is to be declared, and where, if that is not under [columns]."""
        for join in self.declared.joined:
            inside = join.name_inside(column.name)
            if inside is not None:
                return f"for {column.name} under [tables.{join.table.name}.columns.{inside}]"
        return f"for {column.name}"

    def meant(self, column: DeclaredColumn, remedy: str) -> str:
        """A remedy for a column that lacks something; one that is not declared at all may be a misspelt one that is."""
        names = [*self.declared.columns, *(f"{j.alias}.{n}" for j in self.declared.joined for n in j.table.columns)]
        table, _, name = column.name.rpartition(".")
        beside = [n.rpartition(".")[2] for n in names if folded(n.rpartition(".")[0]) == folded(table)]
        hint = "" if folded(name) in map(folded, beside) else suggest_name(name, beside, "", near=MISSPELT)
        return f"{hint} Otherwise {remedy}" if hint else remedy

    def refuse(self, problem: str, expression: Expr | None, remedy: str) -> QueryError:
        """A refusal that underlines the place."""
        return QueryError(problem, self.sql, None if expression is None else locate(expression, self.sql), remedy)

    def _supported(self) -> str:
        return "use " + ", ".join(rule.name for rule in self.rules)
