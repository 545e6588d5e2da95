"""Property tests draw the same examples every time; `make explore` looks further. A skipped test fails."""

from __future__ import annotations

import gc
import hashlib
import os
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one process a core is enough; read when numpy is imported
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from depth import PROFILE, cases
from hypothesis import Phase, settings
from servers import Place, alone, place, running, running_spark

settings.register_profile("steady", derandomize=True, deadline=None, max_examples=cases(40))
settings.register_profile("explore", derandomize=False, deadline=None, max_examples=cases(40), print_blob=True)
settings.register_profile("mutants", settings.get_profile("steady"), phases=(Phase.explicit, Phase.generate))
settings.load_profile(PROFILE)


gc.disable()  # until all is read: what modules are made of stays, and looking through it takes seconds


def pytest_collection_finish() -> None:
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: somebody always waits for Spark, PostgreSQL or a browser."""
    return (os.cpu_count() or 1) + 1


def _failed(report: Any) -> Any:
    """A part that cannot be imported must be seen, not skipped over."""
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"skipped instead of run: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    return _failed((yield))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    return report if item.get_closest_marker("skipif") else _failed(report)  # a platform without the means says so


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One PostgreSQL server for all processes of a run; a server that cannot start fails what needs it.

    The wheel's own lock between processes sees to it that one starts it and the last one stops it.
    """
    with running(_shared_folder(tmp_path_factory, "pg")) as url:
        yield url


@pytest.fixture(scope="session")
def spark_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One Spark Connect server for all processes of a run; one that cannot start fails what needs it."""
    with running_spark(_shared_folder(tmp_path_factory, "spark")) as url:
        yield url


@pytest.fixture
def spark(spark_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same, found by env:SPARK_REMOTE."""
    monkeypatch.setenv("SPARK_REMOTE", spark_server)
    return spark_server


def _shared_folder(tmp_path_factory: pytest.TempPathFactory, name: str) -> Path:
    """One for all processes of a run."""
    own = tmp_path_factory.getbasetemp()
    run = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    # Not inside it: another user may have to run the server, and pytest lets nobody else in.
    digest = hashlib.sha256(str(run).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"guessproof-{name}-{os.getuid()}-{digest}"


@pytest.fixture
def postgres(postgres_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A schema of one's own, found by env:DATABASE_URL."""
    with place(postgres_server) as found:
        monkeypatch.setenv("DATABASE_URL", found.url)
        yield found


@pytest.fixture
def postgres_alone(postgres_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A database of one's own, found by env:DATABASE_URL: for what lists all that a database has."""
    with alone(postgres_server) as found:
        monkeypatch.setenv("DATABASE_URL", found.url)
        yield found
