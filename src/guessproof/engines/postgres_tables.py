"""Which tables of a PostgreSQL database a role may read: their names, and nothing else."""

from __future__ import annotations

from guessproof.addresses import Address, attempt, connect
from guessproof.errors import SourceError

# As a plan writes them: with the schema where the role would not find them without. Partitions are read by their table.
TABLES = r"""
SELECT CASE WHEN pg_catalog.pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%'
  AND strpos(c.relname, '.') = 0 AND strpos(n.nspname, '.') = 0
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
ORDER BY 1
"""


def names_of_tables(address: Address) -> list[str]:
    """The names, as `[data] table` takes them."""
    con = connect(address)
    try:
        rows, failure = attempt(lambda: con.execute(TABLES).fetchall())
    finally:
        attempt(con.close)
    if failure or rows is None:
        raise SourceError(f"source 'env:{address.variable}': its tables cannot be listed; check it with psql")
    return [str(name) for (name,) in rows]
