"""Satellites: who runs them is public, where they are is not. Coordinates in hundreds of kilometres."""

from __future__ import annotations

import numpy as np

from workload.making import Tables, days, labels, numbers, scaled

OPERATORS = {"Aster": 0.4, "Borealis": 0.3, "Corvus": 0.2, "Delphi": 0.1}


def make(rng: np.random.Generator, size: float) -> Tables:
    """A swarm around the origin, and four ground stations."""
    count = scaled(3000, size)
    satellites = {
        "id": np.arange(count),
        "operator": labels(rng, OPERATORS, count),
        "x": numbers(rng, 0, 40, (-100, 100), count),
        "y": numbers(rng, 0, 40, (-100, 100), count),
        "z": numbers(rng, 0, 40, (-100, 100), count),
        "altitude": numbers(rng, 900, 400, (160, 2000), count),
        "mass": numbers(rng, 400, 150, (1, 1000), count),
        "launched": days(rng, "2005-01-01", "2024-12-31", count),
        "active": labels(rng, {"yes": 0.7, "no": 0.3}, count),
    }
    grounds = {"ground": ["g1", "g2", "g3", "g4"], "gx": [0.0, 30, -30, 50], "gy": [0.0, 40, 10, -20]}
    programmes = {
        "operator": ["Aster", "Borealis", "Corvus", "Delphi"],
        "country": ["A", "B", "A", "C"],
        "fee": [1.0, 1.5, 0.5, 2.0],
    }
    return {"satellites": satellites, "grounds": grounds, "programmes": programmes}
