"""One project for each table: what a command printed is read by several tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from matrix.project import Project
from matrix.tables import TABLES


@pytest.fixture(scope="session", params=TABLES)  # the tests of one table are run after each other, in all modules
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Path]:
    """A folder of its own with a table, its plan and an open budget."""
    folder = tmp_path_factory.mktemp(str(request.param))
    made = Project(str(request.param))
    with chdir(folder):
        made.start()
        made.open_budget()
    return made, folder


@pytest.fixture
def project(prepared: tuple[Project, Path]) -> Iterator[Project]:
    """The same, in its folder."""
    made, folder = prepared
    with chdir(folder):
        yield made
