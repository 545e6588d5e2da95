"""The file: an append-only table in SQLite that is on disk before a call returns.

- ``BEGIN IMMEDIATE``: who reads in order to write holds the lock while deciding, so that no two see the same rest.
- ``synchronous = EXTRA`` (FULL, and the folder is synced too): a commit that was followed by a power cut is not
  rolled back by a journal that comes back.
- Triggers refuse UPDATE, DELETE and any INSERT but the next one. They stop accidents; edits by someone who can
  write the file are found by the chain.
- Each call opens the file anew: nothing is shared between threads or with a forked process.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from guessproof.errors import LedgerError
from guessproof.ledger.book import COLUMNS, START, Defect, Entry, Row, keys_of, read_entry
from guessproof.ledger.store import no_ledger

APPLICATION_ID = 0x67707266  # "gprf": tells the file from other SQLite files

SCHEMA = {
    "entries": """CREATE TABLE entries (
  seq INTEGER PRIMARY KEY,
  time TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  previous TEXT NOT NULL,
  digest TEXT NOT NULL,
  seal TEXT
)""",
    "no_update": """CREATE TRIGGER no_update BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'a ledger is append-only: no update'); END""",
    "no_delete": """CREATE TRIGGER no_delete BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'a ledger is append-only: no delete'); END""",
    # REPLACE deletes without firing the trigger above; only the next number, linked to the last entry, may come in.
    "only_next": f"""CREATE TRIGGER only_next BEFORE INSERT ON entries
WHEN NEW.seq IS NOT (SELECT COALESCE(MAX(seq), 0) + 1 FROM entries)
  OR NEW.previous IS NOT COALESCE((SELECT digest FROM entries ORDER BY seq DESC LIMIT 1), '{START}')
BEGIN SELECT RAISE(ABORT, 'a ledger is append-only: only the next entry'); END""",  # noqa: S608
}
# Where entries are found: made from them alone, and made anew where it is missing, as in files of earlier versions.
LOOKUPS = """CREATE TABLE lookups (
  key TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (key, seq)
) WITHOUT ROWID"""


TRIGGERS = [name for name in SCHEMA if name != "entries"]
FOUND = f"SELECT {', '.join(COLUMNS)} FROM lookups JOIN entries USING (seq) WHERE key = ?"  # noqa: S608
KEYED = "INSERT INTO lookups (key, seq) VALUES (?, ?)"


class SqliteTransaction:
    """The ledger inside one transaction."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def schema_defects(self) -> list[Defect]:
        """What was dropped from, changed in or added to the file's tables and triggers."""
        with translated(self._path):
            found = dict(self._connection.execute("SELECT name, sql FROM sqlite_master"))
        defects = [
            Defect(None, f"the {'trigger' if name in TRIGGERS else 'table'} {name} was dropped or changed")
            for name, sql in {**SCHEMA, "lookups": LOOKUPS}.items()
            if found.get(name, LOOKUPS if name == "lookups" else None) != sql
        ]
        own = {*SCHEMA, "lookups"}
        return defects + [
            Defect(None, f"the file holds {name}, which is no part of a ledger") for name in found if name not in own
        ]

    def rows(self, since: int | None = None) -> list[Row]:
        """Every stored row in order, or those from one number on."""
        some, given = ("", ()) if since is None else (" WHERE seq >= ?", (since,))
        with translated(self._path):
            sql = f"SELECT {', '.join(COLUMNS)} FROM entries{some} ORDER BY seq"  # noqa: S608
            return self._connection.execute(sql, given).fetchall()

    def row(self, seq: int) -> Row | None:
        """One stored row by its number."""
        with translated(self._path):
            sql = f"SELECT {', '.join(COLUMNS)} FROM entries WHERE seq = ?"  # noqa: S608
            return self._connection.execute(sql, (seq,)).fetchone()

    def found(self, key: str) -> list[Row]:
        """The rows that were appended under a key, in order."""
        with translated(self._path):
            return self._connection.execute(f"{FOUND} ORDER BY seq", (key,)).fetchall()

    def last_found(self, key: str) -> Row | None:
        """The last of them; None too where this file keeps no keys yet."""
        with translated(self._path):
            if not _has_lookups(self._connection):
                return None
            return self._connection.execute(f"{FOUND} ORDER BY seq DESC LIMIT 1", (key,)).fetchone()

    def keys(self) -> list[tuple[str, int]] | None:
        """Every key with the number of its row; None where this file keeps none yet."""
        with translated(self._path):
            if not _has_lookups(self._connection):
                return None
            return self._connection.execute("SELECT key, seq FROM lookups").fetchall()

    def append(self, entry: Entry) -> None:
        """Write the next entry and where it is found; both are durable when the transaction has ended."""
        values = [getattr(entry, column) for column in COLUMNS]
        with translated(self._path):
            marks = ", ".join("?" * len(values))
            done = self._connection.execute(f"INSERT INTO entries ({', '.join(COLUMNS)}) VALUES ({marks})", values)  # noqa: S608
            self._connection.executemany(KEYED, [(key, entry.seq) for key in keys_of(entry)])
        if done.rowcount != 1:
            raise LedgerError(f"{self._path}: the entry was not written; nothing was charged")


class SqliteStore:
    """Opens the file for each transaction."""

    def __init__(self, path: Path, timeout: float = 30.0) -> None:
        self.path = path
        self.timeout = timeout

    def stamp(self) -> tuple[int, int, int] | None:
        """How the file looks from outside; it changes whenever anybody writes to it."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns

    def find(self) -> None:
        """Refuse where there is no file; what is in it is another matter."""
        if not self.path.is_file():
            raise no_ledger(self.path)

    def is_there(self) -> bool:
        """Whether there is a file."""
        return self.path.exists()

    def notes(self) -> list[str]:
        """Who else can open the file."""
        if self.path.stat().st_mode & 0o077:
            return ["other users of this machine can open the file; set its mode to 0600"]
        return []

    @contextmanager
    def reading(self) -> Generator[SqliteTransaction]:
        """A consistent view of the file."""
        connection = self._connect()
        try:
            with translated(self.path):
                connection.execute("BEGIN")
            yield SqliteTransaction(connection, self.path)
        finally:
            connection.close()

    @contextmanager
    def writing(self, *, new: bool = False) -> Generator[SqliteTransaction]:
        """The only writer until the block ends: then everything is on disk, or, after an exception, nothing."""
        connection = self._connect(new=new)
        try:
            with translated(self.path):
                _begin(connection)
                if new:
                    _make_schema(connection)
                if not _has_lookups(connection):
                    _make_lookups(connection)
            yield SqliteTransaction(connection, self.path)
            with translated(self.path):
                _commit(connection)
        finally:
            connection.close()  # rolls back what was not committed

    def integrity(self) -> list[Defect]:
        """What SQLite itself finds wrong with the file."""
        connection = self._connect()
        try:
            with translated(self.path):
                lines = [str(line) for (line,) in connection.execute("PRAGMA integrity_check(10)")]
        finally:
            connection.close()
        return [] if lines == ["ok"] else [Defect(None, f"SQLite finds the file damaged: {line}") for line in lines]

    def _connect(self, *, new: bool = False) -> sqlite3.Connection:
        if new:
            _make_file(self.path)
        elif not self.path.is_file() or self.path.stat().st_size == 0:
            raise no_ledger(self.path)
        with translated(self.path):
            address = f"{self.path.absolute().as_uri()}?mode=rw"
            connection = sqlite3.connect(address, uri=True, timeout=self.timeout, isolation_level=None)
            try:
                # Bytes that are no UTF-8 must reach the chain's check, not stop the reader.
                connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.execute("PRAGMA synchronous = EXTRA")
                _identify(connection, self.path, new=new)
            except BaseException:
                connection.close()
                raise
        return connection


def _make_file(path: Path) -> None:
    """An empty file that only its owner can read; one that exists is left as it is."""
    try:
        # Never opened when it exists: closing a second handle would drop SQLite's lock within this process.
        if path.is_dir():
            raise LedgerError(f"{path}: this is a folder; name a file in it")
        if not path.exists():
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        problem = f"the ledger cannot be made here ({error.strerror}); make its folder first, or name another place"
        raise LedgerError(f"{path}: {problem}") from None


def _identify(connection: sqlite3.Connection, path: Path, *, new: bool) -> None:
    # In this order: who makes the file meanwhile writes both at once, so tables without a mark are somebody else's.
    (count,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    if mark != APPLICATION_ID and not (new and mark == 0 and count == 0):
        raise LedgerError(f"{path}: this SQLite file is not a guessproof ledger; name another file")


def _make_schema(connection: sqlite3.Connection) -> None:
    (count,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    if count == 0:  # asked under the lock: of two who open the same new file, one makes it
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for sql in SCHEMA.values():
            connection.execute(sql)


def _has_lookups(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'lookups'").fetchone() is not None


def _make_lookups(connection: sqlite3.Connection) -> None:
    """A file of an earlier version is brought up to date by its first writer; its entries stay as they are."""
    connection.execute(LOOKUPS)
    for row in connection.execute(f"SELECT {', '.join(COLUMNS)} FROM entries").fetchall():  # noqa: S608
        entry, _ = read_entry(row)
        if entry is not None:
            connection.executemany(KEYED, [(key, entry.seq) for key in keys_of(entry)])


def _begin(connection: sqlite3.Connection) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    if mode != "delete":
        raise LedgerError(f"the ledger's file is in journal mode {mode}, and it cannot be set to DELETE")
    connection.execute("BEGIN IMMEDIATE")


def _commit(connection: sqlite3.Connection) -> None:
    connection.execute("COMMIT")


@contextmanager
def translated(path: Path) -> Generator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except UnicodeDecodeError:  # a damaged schema, quoted in SQLite's own message
        raise LedgerError(
            f"{path}: SQLite cannot use the ledger (its schema is damaged); nothing was written"
        ) from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            problem = "another release is using the ledger; nothing was written; try again"
        elif code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            problem = "the ledger cannot be written; make the file and its folder writable for this user"
        elif code == sqlite3.SQLITE_NOTADB:
            problem = "this is not a ledger (or its first bytes were overwritten); name another file"
        else:
            problem = f"SQLite cannot use the ledger ({error}); nothing was written"
        raise LedgerError(f"{path}: {problem}") from None
