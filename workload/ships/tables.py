"""Ships on their way: the register (kind, speed, port of destination) is public, place and cargo are not."""

from __future__ import annotations

import numpy as np

from workload.making import Tables, labels, numbers, scaled

KINDS = {"tanker": 0.2, "ferry": 0.3, "bulk": 0.35, "tug": 0.15}


def make(rng: np.random.Generator, size: float) -> Tables:
    """Ships around the origin; ports with a place, a harbour and a fee; kinds with a rate; pilots of some ports."""
    count = scaled(2000, size)
    ships = {
        "ship": np.arange(count),
        "kind": labels(rng, KINDS, count),
        "port": rng.choice(["p1", "p2", "p3", "p4", "p5"], count),
        "longitude": numbers(rng, 150, 35, (0, 300), count),
        "latitude": numbers(rng, 150, 35, (0, 300), count),
        "speed": np.round(rng.uniform(20, 80, count), 1),
        "cargo": numbers(rng, 60, 25, (0, 120), count),
    }
    ports = {
        "port": ["p1", "p2", "p3", "p4", "p5"],
        "plon": [0.0, 100, 300, 150, 220],
        "plat": [0.0, 0, 120, 300, 10],
        "harbour": ["west", "west", "east", "east", "east"],
        "fee": [1.5, 0.5, 1.0, 2.0, 1.25],
    }
    kinds = {"kind": list(KINDS), "rate": [2.0, 1.0, 1.5, 0.5], "crewed": [True, True, True, False]}
    pilots = {"port": ["p1", "p1", "p3", "p4", "p4", "p4"], "pilot": ["a", "b", "c", "d", "e", "f"]}
    return {"ships": ships, "ports": ports, "kinds": kinds, "pilots": pilots}
