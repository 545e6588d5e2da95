"""Private weather stations: one reading a day, the temperature in two units; which state a station is in is public."""

from __future__ import annotations

import numpy as np

from workload.making import Tables, numbers, scaled

STATES = ("Alder", "Birch", "Cedar", "Dogwood")


def make(rng: np.random.Generator, size: float) -> Tables:
    """Thirty stations, and their days of one year."""
    places, length = 30, scaled(100, size, 4)
    station = np.repeat(np.arange(places), length)
    day = np.datetime64("2024-01-01", "D") + np.tile(
        np.linspace(0, 365, length).astype(int).astype("timedelta64[D]"), places
    )
    season = -10 * np.cos((day - np.datetime64("2024-01-01", "D")).astype(int) / 366 * 2 * np.pi)
    count = len(station)
    celsius = np.clip(np.round(12 + season + rng.normal(0, 5, count), 2), -40, 50)
    readings = {
        "station": [f"s{i:02d}" for i in station],
        "day": day,
        "celsius": celsius,
        "fahrenheit": np.round(celsius * 1.8 + 32, 3),
        "rain": np.clip(np.round(rng.exponential(2.5, count), 1), 0, 100),
        "wind": numbers(rng, 18, 9, (0, 120), count),
    }
    stations = {
        "station": [f"s{i:02d}" for i in range(places)],
        "state": [STATES[i % 4] for i in range(places)],
        "altitude": rng.integers(0, 2000, places),
    }
    return {"readings": readings, "stations": stations}
