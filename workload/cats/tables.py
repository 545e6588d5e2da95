"""A register of cats, and the towns that they live in."""

from __future__ import annotations

import numpy as np

from workload.making import Tables, labels, numbers, scaled

COLOURS = {"red": 0.2, "white": 0.1, "tabby": 0.25, "black": 0.4, "tortoise": 0.05}
TOWNS = ("Aru", "Elva", "Keila", "Paide", "Tapa", "Valga")
COUNTIES = ("north", "south", "north", "middle", "middle", "south")


def make(rng: np.random.Generator, size: float) -> Tables:
    """Cats of all ages; towns with a county and a number of vets."""
    count = scaled(4000, size)
    cats = {
        "id": np.arange(count),
        "colour": labels(rng, COLOURS, count),
        "gender": labels(rng, {"M": 0.5, "F": 0.5}, count),
        "age": rng.integers(0, 21, count),
        "weight": numbers(rng, 4.3, 1.1, (0.5, 12), count),
        "town": rng.choice(TOWNS, count),
    }
    return {"cats": cats, "towns": {"town": list(TOWNS), "county": list(COUNTIES), "vets": [2, 3, 1, 2, 4, 2]}}
