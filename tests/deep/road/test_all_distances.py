"""Every spelling of a distance is chosen for alike."""

from __future__ import annotations

import pytest
from road.test_printed_numbers import DISTANCES, check_distance


@pytest.mark.parametrize("distance", DISTANCES[1:-1])
def test_a_distance_is_one_however_it_is_written(distance: str) -> None:
    check_distance(distance)
