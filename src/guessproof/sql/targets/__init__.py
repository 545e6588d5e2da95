"""One target per engine, in one tuple: the only files of `sql` that know a dialect."""

from guessproof.sql.target import Target
from guessproof.sql.targets.duckdb import DuckDBTarget

TARGETS: tuple[type[Target], ...] = (DuckDBTarget,)
