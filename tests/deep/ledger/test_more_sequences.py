"""Further sequences of charges, in a file and on a server."""

from __future__ import annotations

from pathlib import Path

import pytest
from ledger.test_sequences import check_sequence


@pytest.mark.parametrize("seed", range(1, 5))
def test_any_sequence_does_what_the_oracle_says(home: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check_sequence(home, seed, monkeypatch)
