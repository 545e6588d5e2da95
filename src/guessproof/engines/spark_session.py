"""Sessions of Spark: a local one, one by Spark Connect, or that of a frame; with settings that fix what a query means.

Nothing that Spark says is passed on: its messages quote values and addresses. A failure is remembered as its condition
or the name of its class, and ours is raised after the `except` block has ended.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import shutil
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from guessproof.addresses import Address
from guessproof.errors import GuessproofError, SourceError

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

INSTALL = "pip install 'guessproof[spark]'"
PATIENCE = 4  # tries, with pauses that grow to some seconds, until a server must have answered
OLDEST_JAVA = 17
INSTALL_JAVA = "on Debian or Ubuntu with: apt-get install openjdk-17-jre-headless"
GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
# What a text of SQL, a cast, a sum and a file mean, whatever the cluster's own habits are.
SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.caseSensitive": "false",
    "spark.sql.variable.substitute": "false",  # ${…} in a text is that text
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "false",
    "spark.sql.legacy.literal.pickMinimumPrecision": "true",
    "spark.sql.legacy.ctePrecedencePolicy": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # Statistics in files leave NaN out, which is above every number here: rows would be passed over that count.
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.orc.filterPushdown": "false",
}
LOCAL = {
    "spark.master": "local[*]",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.app.name": "guessproof",
}


class SettledSession:
    """One session with our settings, the views that were made in it, and how it is left."""

    def __init__(self, session: Any, leave: Callable[[], None], tried: set[str] | None = None) -> None:
        self.session = session
        self.tried: set[str] = set() if tried is None else tried  # what ran here without a fault and reads no table
        self._leave, self._views, self._left = leave, list[str](), False

    def view(self, frame: Any) -> str:
        """A frame under a name that nobody guesses, until this is closed."""
        name = f"gp_{uuid4().hex}"
        frame.createTempView(name)
        self._views.append(name)
        return name

    def close(self) -> None:
        """Leave it; twice does nothing."""
        if not self._left:
            self._left = True
            for name in self._views:
                attempt_quietly(lambda view=name: self.session.catalog.dropTempView(view))
            attempt_quietly(self._leave)

    def ask(self, sql: str, timeout: float | None) -> pa.Table:
        """The rows of one SELECT, stopped when its time is over."""
        with stopped_after(self.session, timeout):
            return _frame(self.session, sql).toArrow()


def _frame(session: Any, sql: str) -> Any:
    """What a SELECT gives. Over a wire, `sql` of a session asks the server once more, in case it were a command."""
    if not _is_remote(session):
        return session.sql(sql)
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.plan import SQL

    return DataFrame(SQL(sql), session)


def open_local() -> SettledSession:
    """A session of this process: ours from before, one of a Spark that runs already, or of one on this machine."""
    kept, _ = attempt_quietly(_find_kept)
    if kept is not None:
        return kept
    _need_pyspark("source")
    _need_java()
    found, failure = attempt_quietly(_local_session)
    if failure or found is None:
        raise SourceError(
            "engine 'spark': Spark does not start on this machine; check that java runs (Java 17 or 21), that there is "
            "room in memory, and that JAVA_HOME and SPARK_HOME, where they are set, are right"
        )
    settled = settle(SettledSession(found, lambda: None), "engine 'spark'")
    _KEPT[:] = [settled]
    return settled


_KEPT: list[SettledSession] = []  # the local one that was settled last; nobody but us has its session


def _find_kept() -> SettledSession | None:
    """Another one of the same session, where its Spark still runs and it is as it was settled; None elsewhere."""
    if not _KEPT:
        return None
    from pyspark.core.context import SparkContext

    (kept,) = _KEPT
    running: Any = SparkContext._active_spark_context  # pyright: ignore[reportPrivateUsage]
    if kept.session.sparkContext is not running or _find_wrong(_held(kept.session)):
        return None
    return SettledSession(kept.session, lambda: None, kept.tried)


def open_remote(address: Address) -> SettledSession:
    """A session on a cluster, by Spark Connect."""
    said = f"remote 'env:{address.variable}'"
    _need_pyspark(said, connect=True)
    found, failure = attempt_quietly(lambda: _remote_session(address.url))
    if failure or found is None:
        raise SourceError(
            f"{said}: the Spark server cannot be reached, or does not let you in; check that it runs, and the host, "
            "the port and the token in the variable (sc://host:15002)"
        )
    return settle(SettledSession(found, lambda: _leave(found)), said)


def settle(session: SettledSession, said: str) -> SettledSession:
    """Set what fixes the meaning of a query, and look whether it is so."""
    _, failure = attempt_quietly(lambda: _set(session.session, SETTINGS))
    held, broken = attempt_quietly(lambda: _held(session.session))
    wrong = _find_wrong(held or {})
    if failure or broken or wrong:
        session.close()
        shown = f" {wrong[0]} = {SETTINGS[wrong[0]]}" if wrong else ""
        raise SourceError(
            f"{said}: Spark does not take the settings that fix what a query means{shown}; use Spark 4.0 or later, and "
            "a cluster where a session may set them"
        )
    return session


def borrow(frame: Any) -> SettledSession:
    """The session of a frame, not yet settled: its settings are its own again when it is left."""
    session = frame.sparkSession
    before, failure = attempt_quietly(lambda: _all(session))
    if failure or before is None:
        raise SourceError("source: the session of this Spark frame has ended; make the frame in one that runs")

    def give_back() -> None:
        _set(session, {key: before[key] for key in SETTINGS if key in before})
        for key in SETTINGS.keys() - before.keys():
            session.conf.unset(key)

    return SettledSession(session, give_back)


def _local_session() -> Any:
    """A session of its own on the one Spark that a process can have; started where there is none."""
    from pyspark.core.context import SparkContext
    from pyspark.sql.session import SparkSession as Classic

    running: Any = SparkContext._active_spark_context  # pyright: ignore[reportPrivateUsage]
    if running is None:
        running = _start()
    return Classic(running).newSession()


def _start() -> Any:
    from pyspark.conf import SparkConf
    from pyspark.core.context import SparkContext
    from pyspark.java_gateway import launch_gateway

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    conf = SparkConf().setAll([*LOCAL.items()])
    # Its log quotes values: nobody hears it.
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    gateway = launch_gateway(conf, silent)
    return SparkContext(gateway=gateway, conf=conf)


def _remote_session(url: str) -> Any:
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession as Remote

    session: Any = Remote(url)
    # Sessions of one process share the threads by which streams are taken up again, and one that ends can lock them.
    session.client.disable_reattachable_execute()
    session.client.set_retry_policies([DefaultPolicy(max_retries=PATIENCE, max_backoff=2000)])
    try:
        session.version  # noqa: B018 - asks the server
    except BaseException:
        attempt_quietly(lambda: _leave(session))
        raise
    return session


def _leave(session: Any) -> None:
    """End one session. Its own `stop` would also end what other sessions of the process share."""
    try:
        session.client.release_session()
    finally:
        session.client._channel.close()
        session.client._closed = True


def _set(session: Any, settings: Mapping[str, str]) -> None:
    """All of them; over a wire in one message where the client can."""
    together = getattr(session.conf, "_set_all", None) if _is_remote(session) else None
    if together is not None:
        together(dict(settings), False)
        return
    for key, value in settings.items():
        session.conf.set(key, value)


def _is_remote(session: Any) -> bool:
    """By its class: a classic session raises errors of its own where it is asked for what only the other has."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def _find_wrong(held: Mapping[str, str]) -> list[str]:
    """The settings that are not as they must be."""
    return [key for key, value in SETTINGS.items() if held.get(key, "").lower() != value.lower()]


def _held(session: Any) -> dict[str, str]:
    """Our settings as a session holds them: over a wire in one message; of Java's own map every step is a call."""
    if _is_remote(session):
        return _all(session)
    return {key: str(session.conf.get(key)) for key in SETTINGS}


def _all(session: Any) -> dict[str, str]:
    """Every setting of a session, in one message."""
    found: Any = session.conf.getAll  # a property; in some versions a method
    held: Any = found() if callable(found) else found
    return dict(held)


def _need_pyspark(said: str, *, connect: bool = False) -> None:
    needed = ("pyspark", "pandas", "pyarrow", *(("grpc", "google.protobuf") if connect else ()))
    if any(not _is_there(name) for name in needed):
        raise SourceError(f"{said}: Spark needs pyspark; install it with {INSTALL}")


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _need_java() -> None:
    found = find_java()
    if found is None:
        needed = f"a local Spark needs Java {OLDEST_JAVA} or 21, and none is found"
        raise SourceError(f"engine 'spark': {needed}; install one, {INSTALL_JAVA}")
    if found < OLDEST_JAVA:
        needed = f"Java {found} is too old, a local Spark needs {OLDEST_JAVA} or 21"
        raise SourceError(f"engine 'spark': {needed}; install one, {INSTALL_JAVA}")


def find_java() -> int | None:
    """The version of the Java that a local Spark would run on; None where there is none."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    return _java_version(java) if java else None


def _java_version(java: str) -> int | None:
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return None if found is None else int(found[1])


@contextmanager
def stopped_after(session: Any, seconds: float | None) -> Generator[None]:
    """What is run inside is cancelled when its time is over, and when it fails: a wire that broke leaves it running."""
    if seconds is None and hasattr(session, "_jsparkSession"):
        yield
        return
    with _marked(session, f"gp{uuid4().hex}") as cancel, _cancelled_after(cancel, seconds):
        try:
            yield
        except BaseException:
            attempt_quietly(cancel)
            raise


@contextmanager
def _cancelled_after(cancel: Callable[[], Any], seconds: float | None) -> Generator[None]:
    """Jobs that have begun, and those that begin late."""
    if seconds is None:
        yield
        return
    done = threading.Event()

    def stop() -> None:
        wait: float = seconds
        while not done.wait(wait):
            wait = 0.2
            attempt_quietly(cancel)

    clock = threading.Thread(target=stop, daemon=True)
    clock.start()
    try:
        yield
    finally:
        done.set()
        clock.join()


@contextmanager
def _marked(session: Any, mark: str) -> Generator[Callable[[], Any]]:
    """Jobs of this thread bear a mark, and what is given cancels them; tags do not reach those of a classic session."""
    if not hasattr(session, "_jsparkSession"):
        session.addTag(mark)
        try:
            yield lambda: session.interruptTag(mark)
        finally:
            session.removeTag(mark)
        return
    context = session.sparkContext
    before = {key: context.getLocalProperty(key) for key in GROUP}
    context.setJobGroup(mark, "guessproof", True)
    try:
        yield lambda: context.cancelJobGroup(mark)
    finally:
        for key, value in before.items():
            context.setLocalProperty(key, value)


def attempt_quietly(work: Callable[[], T]) -> tuple[T | None, str | None]:
    """The result, or the condition of the failure (or its class) and nothing more of it. Our own errors pass."""
    with _silence():
        try:
            return work(), None
        except GuessproofError:
            raise
        except Exception as error:
            return None, _condition(error)


def _condition(error: Exception) -> str:
    found = getattr(error, "getCondition", lambda: None)()
    return found if isinstance(found, str) else type(error).__name__


@contextmanager
def _silence() -> Generator[None]:
    """pyspark writes what fails to the log, values and all."""
    loggers = _loggers()
    before = [logger.disabled for logger in loggers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.disabled = True
        try:
            yield
        finally:
            for logger, disabled in zip(loggers, before, strict=True):
                logger.disabled = disabled


def _loggers() -> list[logging.Logger]:
    """Those that pyspark writes to: of a class of its own, which they must have from the first time they are named."""
    try:
        from pyspark.logger import PySparkLogger
        from pyspark.sql.connect.logging import logger  # the import makes it silent, unless somebody asked for it
    except ImportError:
        return []
    return [logger, *(PySparkLogger.getLogger(name) for name in LOGGERS)]
