"""What may be sent to a database that has no door to its own parser: one SELECT over known tables, that only computes.

sqlglot's tree is looked at. It lets pass what is known to be harmless, and refuses whatever else there is.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import Expr, exp
from sqlglot.errors import SqlglotError

# Functions that compute, by sqlglot's names.
COMPUTING: tuple[type[Expr], ...] = (
    *(exp.Abs, exp.Sqrt, exp.Exp, exp.Ln, exp.Pow, exp.Sign, exp.Trunc, exp.Round, exp.Floor, exp.Ceil, exp.Replace),
    *(exp.Least, exp.Greatest, exp.Coalesce, exp.Nullif, exp.Case, exp.If, exp.Cast, exp.RegexpLike, exp.Extract),
    exp.TimestampTrunc,
    *(exp.Count, exp.Sum, exp.Min, exp.Max, exp.Avg, exp.And, exp.Or, exp.Lower, exp.Upper, exp.Length, exp.Collate),
    *(exp.IntDiv, exp.RowNumber),
)
REFUSED: tuple[type[Expr], ...] = (
    exp.Into,
    exp.Lock,
    exp.Placeholder,
    exp.Parameter,
    exp.Heredoc,
    exp.Insert,
    exp.Update,
    exp.Delete,
    exp.Merge,
)
HARMFUL = "it calls a function that is not known to be harmless"


@dataclass(frozen=True)
class Allowed:
    """What one database is sent: `own` are functions that sqlglot has no name for."""

    name: str
    dialect: str
    own: frozenset[str]
    known: tuple[type[Expr], ...]
    refused: tuple[type[Expr], ...]

    def find_fault(self, sql: str, *tables: str) -> str | None:
        """What is wrong with a query, or None where it is one SELECT over these tables."""
        if "\0" in sql:  # a text may end there for one reader and go on for the next
            return "it holds a character that no query has"
        try:
            trees = sqlglot.parse(sql, dialect=self.dialect)
        except (SqlglotError, RecursionError):
            return self._strange
        if len(trees) != 1:
            return "it has more than one statement"
        tree = trees[0]
        if not isinstance(tree, (exp.Select, exp.SetOperation)):
            return "only SELECT is allowed"
        known = {table.lower() for table in tables} | {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        return next((fault for node in tree.walk() if (fault := self._node_fault(node, known))), None)

    @property
    def _strange(self) -> str:
        return f"it is not one SELECT that {self.name} understands"

    def _node_fault(self, node: Expr, known: set[str]) -> str | None:
        if isinstance(node, exp.Table):
            if not isinstance(node.this, exp.Identifier):
                return "only the table itself may stand after FROM"
            if node.args.get("db") or node.name.lower() not in known:
                return "it names another table than the plan's"
        if isinstance(node, exp.Anonymous):
            return None if str(node.this).lower() in self.own else HARMFUL
        if isinstance(node, self.refused):
            return self._strange
        if isinstance(node, exp.Func) and not isinstance(node, self.known):
            return HARMFUL
        if isinstance(node, exp.Dot):
            return "it calls a function of another schema"
        return None
