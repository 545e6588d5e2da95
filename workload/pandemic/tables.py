"""People with a state of health, the cities they live in, and the places they were at: several visits each."""

from __future__ import annotations

import numpy as np

from workload.making import Tables, days, labels, scaled

HEALTH = {"well": 0.6, "exposed": 0.2, "ill": 0.15, "immune": 0.05}
CITIES = ("Arle", "Bree", "Cove", "Dune", "Eyre", "Fell")


def make(rng: np.random.Generator, size: float) -> Tables:
    """One row a person; up to six visits a person, one for most."""
    count = scaled(3000, size)
    persons = {
        "person": np.arange(count),
        "health": labels(rng, HEALTH, count),
        "age": rng.integers(0, 100, count),
        "city": rng.choice(CITIES, count),
    }
    often = np.minimum(rng.geometric(0.4, count), 6)
    visitor = np.repeat(np.arange(count), often)
    visits = {
        "person": visitor,
        "place": [f"pl{i}" for i in rng.integers(0, 12, len(visitor))],
        "hours": np.round(rng.uniform(0, 8, len(visitor)), 1),
        "day": days(rng, "2024-03-01", "2024-03-31", len(visitor)),
    }
    return {
        "persons": persons,
        "visits": visits,
        "cities": {"city": list(CITIES), "region": ["n", "n", "s", "s", "e", "e"], "people": [90, 40, 70, 20, 55, 30]},
        "regions": {"region": ["n", "s", "e"], "land": ["upper", "lower", "lower"], "beds": [120.0, 80.0, 60.0]},
        "places": {
            "place": [f"pl{i}" for i in range(12)],
            "sort": [("shop", "school", "gym")[i % 3] for i in range(12)],
            "risk": [1 + (i % 4) / 2 for i in range(12)],
        },
    }
