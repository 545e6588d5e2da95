"""A PostgreSQL database: the same append-only table, for several writers on several machines.

- An advisory lock for each ledger: who reads in order to write holds it while deciding, so that no two see the same
  rest. READ COMMITTED, so that every statement after the lock sees all that was committed before it.
- ``synchronous_commit``: what a commit acknowledged is on the server's disk.
- A commit whose acknowledgement is lost is looked up on a new connection, under the same lock: who gets the lock knows
  that the old transaction has ended, one way or the other. Where that cannot be found out, it counts as written.
- Triggers refuse UPDATE, DELETE, TRUNCATE and any INSERT but the next one. They stop accidents; edits by someone who
  owns the tables are found by the chain.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guessproof.addresses import Address, attempt, connect, read_address
from guessproof.errors import LedgerError, UnsureError
from guessproof.ledger.book import COLUMNS, Defect, Entry, Row, keys_of, row_of
from guessproof.ledger.store import no_ledger

if TYPE_CHECKING:
    from psycopg import Connection

MARK = "guessproof ledger, version "
LOCK = 0x67707266 << 32  # "gprf", above the number of the schema
NO_CHANGE = "BEGIN RAISE EXCEPTION 'a ledger is append-only: no %', lower(TG_OP); END"
ONLY_NEXT = """DECLARE last_seq bigint; last_digest text;
BEGIN
  EXECUTE format('SELECT seq, digest FROM %I.%I ORDER BY seq DESC LIMIT 1', TG_TABLE_SCHEMA, TG_TABLE_NAME)
    INTO last_seq, last_digest;
  IF NEW.seq IS DISTINCT FROM coalesce(last_seq, 0) + 1
    OR NEW.previous IS DISTINCT FROM coalesce(last_digest, repeat('0', 64))
  THEN RAISE EXCEPTION 'a ledger is append-only: only the next entry'; END IF;
  RETURN NEW;
END"""
# What brings a ledger from the version before to each version; the first makes it.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE guessproof_entries (seq bigint PRIMARY KEY, time text NOT NULL, name text NOT NULL, "
        "kind text NOT NULL, body text NOT NULL, previous text NOT NULL, digest text NOT NULL, seal text)",
        'CREATE TABLE guessproof_lookups (key text COLLATE "C" NOT NULL, seq bigint NOT NULL, PRIMARY KEY (key, seq))',
        f"CREATE FUNCTION guessproof_no_change() RETURNS trigger LANGUAGE plpgsql AS $gp${NO_CHANGE}$gp$",
        f"CREATE FUNCTION guessproof_only_next() RETURNS trigger LANGUAGE plpgsql AS $gp${ONLY_NEXT}$gp$",
        "CREATE TRIGGER guessproof_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON guessproof_entries "
        "FOR EACH STATEMENT EXECUTE FUNCTION guessproof_no_change()",
        "CREATE TRIGGER guessproof_only_next BEFORE INSERT ON guessproof_entries "
        "FOR EACH ROW EXECUTE FUNCTION guessproof_only_next()",
    ),
)
VERSION = len(MIGRATIONS)
# The ledger's schema, by its table where there is one in sight, and the version that the table's comment says.
FIND = """
SELECT n.oid::bigint, n.nspname::text, pg_catalog.obj_description(c.oid, 'pg_class'), c.oid IS NOT NULL
FROM pg_catalog.pg_namespace n LEFT JOIN pg_catalog.pg_class c
  ON c.oid = pg_catalog.to_regclass('guessproof_entries') AND c.relnamespace = n.oid
WHERE n.oid = coalesce(
  (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass('guessproof_entries')),
  (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = pg_catalog.current_schema()))
"""
# Columns, triggers with what they do, rules and row security of both tables, one line each.
STRUCTURE = """
WITH ours AS (SELECT c.* FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = %(schema)s AND c.relname IN ('guessproof_entries', 'guessproof_lookups'))
SELECT relname::text, 'table', concat(relkind, relrowsecurity::int, relhassubclass::int) FROM ours
UNION ALL SELECT relname::text, 'column ' || attname, concat_ws(' ', format_type(atttypid, atttypmod), attnotnull)
  FROM ours JOIN pg_catalog.pg_attribute ON attrelid = ours.oid WHERE attnum > 0 AND NOT attisdropped
UNION ALL SELECT relname::text, 'trigger ' || tgname, concat_ws(' ', tgtype, tgenabled, tgqual IS NULL, prosrc)
  FROM ours JOIN pg_catalog.pg_trigger ON tgrelid = ours.oid JOIN pg_catalog.pg_proc p ON p.oid = tgfoid
UNION ALL SELECT relname::text, 'rule ' || rulename, '' FROM ours JOIN pg_catalog.pg_rewrite ON ev_class = ours.oid
"""
_TEXT = {"column " + name: "text t" for name in COLUMNS if name not in ("seq", "seal")}
EXPECTED = {
    "guessproof_entries": {
        "table": "r00",
        **_TEXT,
        "column seq": "bigint t",
        "column seal": "text f",
        "trigger guessproof_no_change": f"58 O t {NO_CHANGE}",
        "trigger guessproof_only_next": f"7 O t {ONLY_NEXT}",
    },
    "guessproof_lookups": {"table": "r00", "column key": "text t", "column seq": "bigint t"},
}
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM guessproof_entries"  # noqa: S608
_FOUND = f"SELECT {', '.join(COLUMNS)} FROM guessproof_lookups JOIN guessproof_entries USING (seq) WHERE key = %s"  # noqa: S608
_INSERT = f"INSERT INTO guessproof_entries ({', '.join(COLUMNS)}) VALUES ({', '.join(['%s'] * len(COLUMNS))})"  # noqa: S608
BUSY = ("55P03", "40P01", "40001")  # a lock that did not come in time


class PostgresTransaction:
    """The ledger inside one transaction."""

    def __init__(self, store: PostgresStore, connection: Connection[Any], schema: str) -> None:
        self._store = store
        self._connection = connection
        self._schema = schema
        self.written: Entry | None = None  # the last entry that was appended

    def schema_defects(self) -> list[Defect]:
        """What was dropped from, changed in or added to the two tables and their triggers."""
        rows = self._asked(STRUCTURE, {"schema": self._schema})
        defects: list[Defect] = []
        for table, expected in EXPECTED.items():
            found = {str(what): str(how) for name, what, how in rows if name == table}
            defects += [
                Defect(None, f"the {what} of {table} was dropped or changed")
                for what, how in expected.items()
                if found.get(what) != how
            ]
            added = [what for what in found if what not in expected]
            defects += [Defect(None, f"{table} has a {what}, which is no part of a ledger") for what in added]
        return defects

    def rows(self, since: int | None = None) -> list[Row]:
        """Every stored row in order, or those from one number on."""
        return self._asked(f"{_SELECT} WHERE seq >= %s ORDER BY seq", [since if since is not None else -(1 << 62)])

    def row(self, seq: int) -> Row | None:
        """One stored row by its number."""
        return next(iter(self._asked(f"{_SELECT} WHERE seq = %s", [seq])), None)

    def found(self, key: str) -> list[Row]:
        """The rows that were appended under a key, in order."""
        return self._asked(f"{_FOUND} ORDER BY seq", [key])

    def last_found(self, key: str) -> Row | None:
        """The last of them."""
        return next(iter(self._asked(f"{_FOUND} ORDER BY seq DESC LIMIT 1", [key])), None)

    def keys(self) -> list[tuple[str, int]] | None:
        """Every key with the number of its row."""
        return [(key, seq) for key, seq in self._asked("SELECT key, seq FROM guessproof_lookups", None)]

    def append(self, entry: Entry) -> None:
        """Write the next entry and where it is found; both are durable when the transaction has ended."""
        self._asked(_INSERT, row_of(entry))
        for key in keys_of(entry):
            self._asked("INSERT INTO guessproof_lookups (key, seq) VALUES (%s, %s)", [key, entry.seq])
        self.written = entry

    def _asked(self, sql: str, given: Any) -> list[Row]:
        return self._store.asked(self._connection, sql, given)


class PostgresStore:
    """One ledger: the tables in sight of the role, or those made in its first schema."""

    def __init__(self, path: Path, timeout: float = 30.0) -> None:
        self.path = path
        self.timeout = timeout
        self._idle: list[tuple[int, Connection[Any]]] = []  # connections of this process that nobody uses

    def __repr__(self) -> str:
        return f"PostgresStore({str(self.path)!r})"

    def stamp(self) -> None:
        """How a server looks from outside tells nothing."""

    def find(self) -> None:
        """Refuse where there is no ledger."""
        with self.reading():
            pass

    def is_there(self) -> bool:
        """Whether its tables were made."""
        con = self._begun("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            return self._found(con)[2] is not None
        finally:
            self._end(con)

    def notes(self) -> list[str]:
        """What a verdict cannot say of a server."""
        return []

    def integrity(self) -> list[Defect]:
        """A server keeps its tables whole by itself."""
        return []

    @contextmanager
    def reading(self) -> Generator[PostgresTransaction]:
        """A consistent view."""
        con = self._begun("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            _, schema, version = self._found(con)
            if version is None:
                raise no_ledger(self.path)
            yield PostgresTransaction(self, con, schema)
        finally:
            self._end(con)

    @contextmanager
    def writing(self, *, new: bool = False) -> Generator[PostgresTransaction]:
        """The only writer until the block ends: then everything is durable, or, after an exception, nothing."""
        con = self._begun("BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE")
        try:
            schema = self._locked(con, new=new)
            transaction = PostgresTransaction(self, con, schema)
            yield transaction
            self._commit(con, transaction.written)
        finally:
            self._end(con)

    # Inside.

    def _locked(self, con: Connection[Any], *, new: bool) -> str:
        """Wait for the lock; then the schema, with its tables as this version has them."""
        self.asked(con, "SELECT set_config('lock_timeout', %s, true)", [str(max(1, round(self.timeout * 1000)))])
        self.asked(
            con,
            "SELECT set_config('synchronous_commit', 'on', true) "
            "WHERE current_setting('synchronous_commit') IN ('off', 'local')",
        )
        oid, _, _ = self._found(con)
        self.asked(con, "SELECT pg_catalog.pg_advisory_xact_lock(%s)", [LOCK | oid])
        _, schema, version = self._found(con)  # asked under the lock: of two who open the same ledger, one makes it
        if version is None and not new:
            raise no_ledger(self.path)
        for step in range(version or 0, VERSION):
            self._migrate(con, step)
        return schema

    def _migrate(self, con: Connection[Any], step: int) -> None:
        for statement in MIGRATIONS[step]:
            self.asked(con, statement)
        self.asked(con, f"COMMENT ON TABLE guessproof_entries IS '{MARK}{step + 1}'")

    def _found(self, con: Connection[Any]) -> tuple[int, str, int | None]:
        """The schema of the ledger, and its version; None where it has still to be made."""
        rows = self.asked(con, FIND)
        if not rows:
            raise LedgerError(
                f"{self.path}: this role has no schema to keep a ledger in; GRANT it USAGE and CREATE on one"
            )
        oid, schema, mark, is_there = rows[0]
        self.asked(con, "SELECT set_config('search_path', 'pg_catalog, ' || quote_ident(%s), true)", [schema])
        if not is_there:
            # what is made next goes where it was looked for, and nowhere else
            self.asked(con, "SELECT set_config('search_path', quote_ident(%s), true)", [schema])
            return oid, schema, None
        text = str(mark or "")
        if not text.startswith(MARK) or not text.removeprefix(MARK).isdecimal():
            raise LedgerError(f"{self.path}: its table guessproof_entries is not a ledger's; use another schema")
        version = int(text.removeprefix(MARK))
        if version > VERSION:
            raise LedgerError(f"{self.path}: a later guessproof made this ledger (version {version}): upgrade")
        return oid, schema, version

    def asked(self, con: Connection[Any], sql: str, given: Any = None) -> list[Row]:
        """The rows of one statement of our own; a failure says nothing that the server said."""

        def work() -> list[Row]:
            done = con.execute(sql.encode(), given, binary=True)
            return done.fetchall() if done.description else []

        rows, failure = attempt(work)
        if failure or rows is None:
            raise LedgerError(f"{self.path}: {_words(failure or '')}")
        return rows

    def _commit(self, con: Connection[Any], written: Entry | None) -> None:
        done, _ = attempt(lambda: _commit(con))
        if done == "COMMIT" or written is None:
            return
        if not self._is_written(written):
            raise LedgerError(f"{self.path}: the server was lost; nothing was written or charged; try again")

    def _is_written(self, entry: Entry) -> bool:
        """Whether an entry is there, told under the lock: its own transaction has ended then, one way or the other."""
        end = time.monotonic() + self.timeout
        while True:
            try:
                with self.writing() as transaction:
                    return transaction.row(entry.seq) == row_of(entry)
            except LedgerError:
                if time.monotonic() >= end:
                    break
            time.sleep(0.2)
        raise UnsureError(
            f"{self.path}: the server was lost while it wrote entry {entry.seq}, and does not answer; the entry counts "
            "as written. Ask again when the server is back: what was written is found again"
        )

    # Connections: one is kept between uses, for this process alone.

    def _address(self) -> Address:
        return read_address(str(self.path), LedgerError, "ledger")

    def _begun(self, begin: str) -> Connection[Any]:
        """A connection in a new transaction; one that was kept may have died meanwhile."""
        while self._idle:
            try:
                pid, con = self._idle.pop()
            except IndexError:  # another thread was faster
                break
            if pid == os.getpid() and attempt(lambda con=con: con.execute(begin.encode()))[1] is None:
                return con
            if pid == os.getpid():
                attempt(con.close)
        con = connect(self._address(), LedgerError, "ledger")
        self.asked(con, begin)
        return con

    def _end(self, con: Connection[Any]) -> None:
        """Take back what was not committed, and keep the connection if it is sound."""
        is_over = not con.closed and con.info.transaction_status == 0  # IDLE
        if not is_over and (con.closed or attempt(lambda: con.execute(b"ROLLBACK"))[1] is not None):
            attempt(con.close)
        else:
            self._idle.append((os.getpid(), con))

    def __del__(self) -> None:
        for pid, con in self._idle:
            if pid == os.getpid():
                attempt(con.close)


def _commit(con: Connection[Any]) -> str | None:
    """What the server says to COMMIT: ROLLBACK, where the transaction had failed."""
    return con.execute(b"COMMIT").statusmessage


def _words(failure: str) -> str:
    if failure in BUSY:
        return "another release is using the ledger; nothing was written; try again"
    if failure == "42501":
        return (
            "this role may not use the ledger; its owner can GRANT USAGE on the schema and SELECT, INSERT on "
            "guessproof_entries and guessproof_lookups; to open one, a role needs CREATE on the schema"
        )
    if failure == "P0001":
        return "a ledger is append-only: the entry was refused; nothing was written"
    return "the server failed or was lost; nothing was written; try again"
