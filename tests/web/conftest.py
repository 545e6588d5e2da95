"""One page for the tests of its doors."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from web.running import Served, serving

TABLE = Path(__file__).parents[2] / "src/guessproof/cli/story/cafeteria.csv"


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page in a folder with the cafeteria's table."""
    folder = tmp_path_factory.mktemp("page")
    shutil.copy(TABLE, folder / "cafeteria.csv")
    with serving(folder) as found:
        yield found
