"""The databases of all families, made once: as large as the page's, and small ones to walk in."""

from __future__ import annotations

from pathlib import Path

import pytest

from workload.making import make_database
from workload.questions import FAMILIES

SMALL = 0.02


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("families")
    return {family: make_database(folder / f"{family}.duckdb", family) for family in FAMILIES}


@pytest.fixture(scope="session")
def small_sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("small")
    return {family: make_database(folder / f"{family}.duckdb", family, SMALL) for family in FAMILIES}
