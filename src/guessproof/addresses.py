"""Addresses of databases and clusters: they stand in the environment, and no message, log or error ever holds one.

A driver's errors quote addresses and values, so none is ever passed on or chained: a failure is remembered as its
SQLSTATE, and ours is raised after the `except` block has ended.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from guessproof.errors import GuessproofError, SourceError

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

OLDEST = 160000  # PostgreSQL 16
PATIENCE = 10  # seconds until a server must have answered
INSTALL = "pip install 'guessproof[postgres]'"
Form = Literal["csv", "parquet", "duckdb", "frame"]
FORMS: dict[str, Form] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".duckdb": "duckdb",
    ".db": "duckdb",
}
_LOCAL_ADDRESS = re.compile(r"(?i)file:(?://[^/]*)?/+(?=[^/]|\Z)")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True)
class ServerKind:
    """What an address may be of: its name, how an address begins, and one for people to see."""

    name: str
    schemes: tuple[str, ...]
    shape: str


POSTGRES = ServerKind(
    "a PostgreSQL database", ("postgresql://", "postgres://"), "postgresql://user:password@host/database"
)
SPARK = ServerKind("a Spark Connect server", ("sc://",), "sc://host:15002")


@dataclass(frozen=True)
class Address:
    """Where a database is, under the name of the variable that says so; what it says is shown nowhere."""

    variable: str
    url: str = field(repr=False)


def find_form(source: str) -> tuple[Form | None, bool, bool]:
    """What the end of a name says: the form, whether tabs delimit, whether it is zipped."""
    name = source.lower()
    suffix = Path(name.removesuffix(".gz")).suffix
    return FORMS.get(suffix), suffix == ".tsv", name.endswith(".gz")


def is_elsewhere(source: str) -> bool:
    """Whether a source is named by something else than a path."""
    return source.startswith("env:")


def is_address(source: str) -> bool:
    """Whether a source is an address of files that this machine does not hold, for Spark to find.

    >>> [is_address(source) for source in ("s3a://bucket/t", "file:///srv/t.csv", "a/b://t.csv")]
    [True, False, False]
    """
    return _ADDRESS.match(source) is not None and not _LOCAL_ADDRESS.match(source)


def local_path(source: str, folder: Path) -> Path:
    """The path of a file on this machine; an address that names a local file is that file.

    >>> str(local_path("file:///srv/t.csv", Path("plans"))), str(local_path("FILE:/srv/t.csv", Path("plans")))
    ('/srv/t.csv', '/srv/t.csv')
    >>> local_path("t.csv", Path("plans")).as_posix()
    'plans/t.csv'
    """
    return folder / _LOCAL_ADDRESS.sub("/", source, count=1)


def read_address(
    source: str, kind: type[GuessproofError] = SourceError, what: str = "source", server: ServerKind = POSTGRES
) -> Address:
    """The connection string that the environment holds for env:NAME; refusals are of this kind."""
    variable = source.removeprefix("env:")
    address = Address(variable, os.environ.get(variable, ""))
    if not address.url:
        raise kind(f"{what} {source!r}: the environment variable {variable} is not set; set it to {server.shape}")
    if not address.url.startswith(server.schemes):  # its value is never repeated
        problem = f"what {variable} holds is no address of {server.name}"
        raise kind(f"{what} {source!r}: {problem}; set it to {server.shape}")
    return address


def connect(address: Address, kind: type[GuessproofError] = SourceError, what: str = "source") -> Connection[Any]:
    """A connection that commits each statement by itself; refusals are of this kind and say nothing of the address."""
    said = f"{what} 'env:{address.variable}'"
    psycopg, missing = attempt(_psycopg)
    if missing or psycopg is None:
        raise kind(f"{said}: PostgreSQL needs psycopg; install it with {INSTALL}")
    con, failure = attempt(lambda: _take_call(address.url) or _dial(address.url))
    if failure or con is None:
        raise kind(
            f"{said}: the database cannot be reached, or does not let this user in; check that it runs, and the "
            "host, the name, the user and the password in the variable"
        )
    if con.info.server_version < OLDEST:
        version = con.info.server_version // 10000
        attempt(con.close)
        raise kind(f"{said}: PostgreSQL {version} is too old; use 16 or later")
    return con


@contextmanager
def calling(address: Address) -> Generator[None]:
    """A server is called in the background, while there is other work; the first connection to it is this one."""
    call = _Call(address.url, Future())
    token = _CALLS.set(call)
    threading.Thread(target=call.make, daemon=True).start()
    try:
        yield
    finally:
        _CALLS.reset(token)
        if not call.is_taken:
            call.answer.add_done_callback(_hang_up)


@dataclass
class _Call:
    url: str = field(repr=False)
    answer: Future[Any] = field(repr=False)
    is_taken: bool = False

    def make(self) -> None:
        try:
            self.answer.set_result(_dial(self.url))
        except BaseException as error:
            self.answer.set_exception(error)


def _hang_up(answer: Future[Any]) -> None:
    if answer.exception() is None:
        attempt(answer.result().close)


_CALLS: ContextVar[_Call | None] = ContextVar("calls", default=None)


def _take_call(url: str) -> Any:
    """The connection that was made meanwhile, once; None where nobody called this server."""
    call = _CALLS.get()
    if call is None or call.is_taken or call.url != url:
        return None
    call.is_taken = True
    return call.answer.result()


def _dial(url: str) -> Any:
    return _psycopg().connect(
        url, autocommit=True, connect_timeout=PATIENCE, client_encoding="utf8", prepare_threshold=None
    )


def attempt(work: Callable[[], T]) -> tuple[T | None, str | None]:
    """The result, or the SQLSTATE of the failure (or its class) and nothing more of it. Our own errors pass."""
    try:
        return work(), None
    except GuessproofError:
        raise
    except Exception as error:
        return None, str(getattr(error, "sqlstate", None) or type(error).__name__)


def _psycopg() -> Any:
    import psycopg

    return psycopg
