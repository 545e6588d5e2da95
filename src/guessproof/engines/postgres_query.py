"""What may be sent to PostgreSQL: one SELECT over the plan's table, of functions that compute and nothing else.

The transaction cannot write, and one text is one statement.
"""

from __future__ import annotations

from sqlglot import exp

from guessproof.engines.allowed import COMPUTING, REFUSED, Allowed

POSTGRES = Allowed(
    name="PostgreSQL",
    dialect="postgres",
    own=frozenset({"pg_input_is_valid", "replace", "trunc", "div"}),
    known=COMPUTING,
    refused=(exp.TryCast, *REFUSED),
)


def find_fault(sql: str, *tables: str) -> str | None:
    """What is wrong with a query, or None where it is one SELECT over these tables.

    >>> find_fault('SELECT COUNT(*) FROM "t"', "t") is None
    True
    >>> find_fault("SELECT pg_sleep(9)", "t")
    'it calls a function that is not known to be harmless'
    """
    return POSTGRES.find_fault(sql, *tables)
