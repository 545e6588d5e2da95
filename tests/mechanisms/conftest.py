"""What the tests of this room share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def papers() -> dict:
    """The figures printed in the papers."""
    return json.loads((Path(__file__).parents[1] / "data" / "papers.json").read_text(encoding="utf-8"))
