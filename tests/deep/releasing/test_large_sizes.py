"""Tables of eight and sixteen million rows are added exactly."""

from __future__ import annotations

from pathlib import Path

import pytest
from depth import cases
from releasing.sizes import MECHANISMS, check_addition, check_count, write_tables

SIZES = [2**23 - 1, 2**23, 2**23 + 1, 2**24 + 1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tables(tmp_path_factory.mktemp("sizes"), SIZES)


@pytest.mark.parametrize("seed", range(cases(20)))
def test_every_size_is_added_exactly(folder: Path, seed: int) -> None:
    check_addition(folder, SIZES, seed)


@pytest.mark.parametrize("epsilon", [1e-6, 1e3, 1e9])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("size", [2**23, 2**24 + 1])
def test_a_count_is_released_at_every_size(folder: Path, size: int, mechanism: str, epsilon: float) -> None:
    check_count(folder, size, mechanism, epsilon)
