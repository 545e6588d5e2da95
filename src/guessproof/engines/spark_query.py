"""What may be sent to Spark: one SELECT over the plan's table, of functions that compute and nothing else.

Spark has functions that read files, call Java and reach the network; sqlglot's tree is looked at, and whatever is not
known to be harmless is refused. What a session runs is a SELECT, so that nothing is written.
"""

from __future__ import annotations

from sqlglot import exp

from guessproof.engines.allowed import COMPUTING, REFUSED, Allowed

SPARK = Allowed(
    name="Spark",
    dialect="spark",
    own=frozenset({"rint", "replace"}),
    known=(*COMPUTING, exp.TryCast, exp.Mod, exp.Rint, exp.UnixMicros, exp.UnixDate, exp.Trim),
    refused=(*REFUSED, exp.QueryTransform, exp.Hint, exp.Lateral, exp.Unnest, exp.TableSample),
)


def find_fault(sql: str, *tables: str) -> str | None:
    """What is wrong with a query, or None where it is one SELECT over these tables.

    >>> find_fault("SELECT COUNT(*) FROM `t`", "t") is None
    True
    >>> find_fault("SELECT reflect('java.lang.System', 'exit', 1)", "t")
    'it calls a function that is not known to be harmless'
    """
    return SPARK.find_fault(sql, *tables)
