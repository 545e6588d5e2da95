"""Laws of the ledger hold wherever it is kept: a test that asks for `home` runs on a file and on a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import Place, place

SERVER = Path("env:LEDGER_URL")


@pytest.fixture
def ledger_server(postgres_server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Place]:
    """A schema of one's own, found by env:LEDGER_URL, from an empty folder."""
    with place(postgres_server) as found:
        monkeypatch.setenv("LEDGER_URL", found.url)
        monkeypatch.chdir(tmp_path)
        yield found


@pytest.fixture(params=["file", "server"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder for a ledger's file, or the name of a server's."""
    if request.param == "file":
        return tmp_path
    request.getfixturevalue("ledger_server")
    return SERVER
