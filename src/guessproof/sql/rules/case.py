"""CASE, COALESCE and NULL."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import Expr, exp

from guessproof.sql.movement import NEVER, NOTHING, ChangeBounds, Neighbours, choose_branch
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, Reader, Row, Rule, Term


@dataclass(frozen=True)
class NullTerm(Term):
    """NULL."""

    @property
    def parts(self) -> tuple[Node, ...]:
        return ()

    def at(self, row: Row) -> None:
        return None

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        return NOTHING

    def write(self, target: SqlTarget) -> Expr:
        return target.no_number()

    @property
    def is_whole(self) -> bool:
        return True


@dataclass(frozen=True)
class CaseWhen(Term):
    """CASE WHEN condition THEN yes ELSE no END."""

    condition: Condition
    yes: Term
    no: Term

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.condition, self.yes, self.no

    def at(self, row: Row) -> float | None:
        return (self.yes if self.condition.at(row) else self.no).at(row)

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        return choose_branch(self.condition.follow(neighbours), self.yes.follow(neighbours), self.no.follow(neighbours))

    def write(self, target: SqlTarget) -> Expr:
        chosen_one = exp.case().when(self.condition.keeps(target), self.yes.write(target))
        return chosen_one if isinstance(self.no, NullTerm) else chosen_one.else_(self.no.write(target))

    @property
    def is_whole(self) -> bool:
        return self.yes.is_whole and self.no.is_whole


@dataclass(frozen=True)
class Fallback(Term):
    """COALESCE(first, second)."""

    first: Term
    second: Term

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.first, self.second

    def at(self, row: Row) -> float | None:
        a = self.first.at(row)
        return self.second.at(row) if a is None else a

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        a, b = self.first.follow(neighbours), self.second.follow(neighbours)
        return choose_branch(a.null, b, replace(a, null=NEVER))

    def write(self, target: SqlTarget) -> Expr:
        return exp.Coalesce(this=self.first.write(target), expressions=[self.second.write(target)])

    @property
    def is_whole(self) -> bool:
        return self.first.is_whole and self.second.is_whole


def read_case(expression: Expr, reader: Reader) -> Term:
    """CASE …, COALESCE(…), NULL."""
    if isinstance(expression, exp.Null):
        return NullTerm()
    if isinstance(expression, exp.Coalesce):
        terms = [reader.term(e) for e in (expression.this, *expression.expressions)]
        found = terms[-1]
        for term in reversed(terms[:-1]):
            found = Fallback(term, found)
        return found
    default = expression.args.get("default")
    found = NullTerm() if default is None else reader.term(default)
    for branch in reversed(expression.args["ifs"]):
        when = branch.this
        if expression.this is not None:
            when = exp.EQ(this=expression.this.copy(), expression=when.copy())
        found = CaseWhen(reader.condition(when), reader.term(branch.args["true"]), found)
    return found


RULE = Rule(
    "CASE and COALESCE",
    (exp.Case, exp.Coalesce, exp.Null),
    read_case,
    ("SUM(CASE WHEN time > 30 THEN 1 ELSE 0 END)", "SUM(COALESCE(time, 10))"),
)
