"""Which tables of a PostgreSQL database a role may read, by name, and which stored tables stand behind one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guessproof.addresses import Address, attempt, connect
from guessproof.errors import SourceError

if TYPE_CHECKING:
    from psycopg import Connection

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
# A relation and all that its rows come from: what a view reads, the partitions and heirs of a table. Told are stored
# tables, and views that call only functions of the system, none of which reads what a text names.
BEHIND = r"""
WITH RECURSIVE edges AS (
  SELECT r.ev_class AS upper, d.refobjid AS lower FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d
  ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
    AND d.refclassid = 'pg_catalog.pg_class'::regclass
  UNION SELECT inhparent, inhrelid FROM pg_catalog.pg_inherits),
behind AS (
  SELECT %(table)s::regclass::oid AS oid UNION SELECT e.lower FROM behind b JOIN edges e ON e.upper = b.oid)
SELECT c.oid, n.nspname NOT IN ('pg_catalog', 'information_schema') AND CASE
  WHEN c.relkind IN ('v', 'm') THEN pg_catalog.pg_get_viewdef(c.oid) !~* '_to_xml|\mpg_|\mlo_|\mloread|\mts_'
    AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d
      ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
        AND d.refclassid IN ('pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_operator'::regclass)
      WHERE r.ev_class = c.oid)
  ELSE c.relkind IN ('r', 'p') END
FROM behind JOIN pg_catalog.pg_class c ON c.oid = behind.oid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
"""


def read_behind(con: Connection[Any], qualified: str) -> dict[int, bool]:
    """The relations that the rows of one come from, and whether each tells where it has its rows from."""
    return dict(con.execute(BEHIND, {"table": qualified}).fetchall())


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
