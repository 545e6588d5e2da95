"""What may be sent to PostgreSQL: one SELECT over the plan's table, of functions that compute and nothing else.

The server has no door to its own parser, so sqlglot's tree is looked at. It lets pass what it knows to be harmless, and
refuses whatever else there is; the transaction cannot write, and one text is one statement.
"""

from __future__ import annotations

import sqlglot
from sqlglot import Expr, exp
from sqlglot.errors import SqlglotError

OWN = {"pg_input_is_valid", "replace", "trunc", "div"}  # functions that sqlglot does not know
KNOWN = (
    *(exp.Abs, exp.Sqrt, exp.Exp, exp.Ln, exp.Pow, exp.Sign, exp.Trunc, exp.Round, exp.Floor, exp.Ceil, exp.Replace),
    *(exp.Least, exp.Greatest, exp.Coalesce, exp.Nullif, exp.Case, exp.If, exp.Cast, exp.RegexpLike, exp.Extract),
    exp.TimestampTrunc,
    *(exp.Count, exp.Sum, exp.Min, exp.Max, exp.Avg, exp.And, exp.Or, exp.Lower, exp.Upper, exp.Length, exp.Collate),
    *(exp.IntDiv, exp.RowNumber),
)
REFUSED = (
    exp.TryCast,
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


def find_fault(sql: str, *tables: str) -> str | None:
    """What is wrong with a query, or None where it is one SELECT over these tables.

    >>> find_fault('SELECT COUNT(*) FROM "t"', "t") is None
    True
    >>> find_fault("SELECT pg_sleep(9)", "t")
    'it calls a function that is not known to be harmless'
    """
    if "\0" in sql:  # a text may end there for one reader and go on for the next
        return "it holds a character that no query has"
    try:
        trees = sqlglot.parse(sql, dialect="postgres")
    except (SqlglotError, RecursionError):
        return "it is not one SELECT that PostgreSQL understands"
    if len(trees) != 1:
        return "it has more than one statement"
    tree = trees[0]
    if not isinstance(tree, (exp.Select, exp.SetOperation)):
        return "only SELECT is allowed"
    known = {table.lower() for table in tables} | {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    return next((fault for node in tree.walk() if (fault := _node_fault(node, known))), None)


def _node_fault(node: Expr, known: set[str]) -> str | None:
    if isinstance(node, exp.Table):
        if not isinstance(node.this, exp.Identifier):
            return "only the table itself may stand after FROM"
        if node.args.get("db") or node.name.lower() not in known:
            return "it names another table than the plan's"
    if isinstance(node, exp.Anonymous):
        return None if str(node.this).lower() in OWN else "it calls a function that is not known to be harmless"
    if isinstance(node, REFUSED):
        return "it is not one SELECT that PostgreSQL understands"
    if isinstance(node, exp.Func) and not isinstance(node, KNOWN):
        return "it calls a function that is not known to be harmless"
    if isinstance(node, exp.Dot):
        return "it calls a function of another schema"
    return None
