"""One target per engine, in one tuple: the only files of `sql` that know a dialect."""

from guessproof.sql.target import SqlTarget
from guessproof.sql.targets.duckdb import DuckDBTarget

TARGETS: tuple[type[SqlTarget], ...] = (DuckDBTarget,)
