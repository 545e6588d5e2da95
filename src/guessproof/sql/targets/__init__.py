"""One target per engine, in one tuple: the only files of `sql` that know a dialect."""

from guessproof.sql.target import SqlTarget
from guessproof.sql.targets.duckdb import DuckDBTarget
from guessproof.sql.targets.postgres import PostgresTarget
from guessproof.sql.targets.spark import SparkTarget

TARGETS: tuple[type[SqlTarget], ...] = (DuckDBTarget, PostgresTarget, SparkTarget)
