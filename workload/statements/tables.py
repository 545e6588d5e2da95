"""Staff with a salary, a grade and a birthday; the departments and the scale of grades are public."""

from __future__ import annotations

import numpy as np

from workload.making import Tables, days, numbers, scaled

DEPARTMENTS = ("sales", "law", "lab", "press")


def make(rng: np.random.Generator, size: float) -> Tables:
    """Staff, absences of staff, grades, and months."""
    count = scaled(1500, size)
    staff = {
        "id": np.arange(count),
        "department": rng.choice(DEPARTMENTS, count),
        "grade": rng.choice(["g1", "g2", "g3"], count),
        "salary": numbers(rng, 2000, 400, (0, 10000), count),
        "born": days(rng, "1960-01-01", "2004-12-31", count),
        "smoker": rng.choice(["yes", "no"], count, p=[0.2, 0.8]),
    }
    away = np.repeat(np.arange(count), rng.integers(0, 4, count))
    absences = {"id": away, "days": rng.integers(1, 15, len(away)), "month": rng.integers(1, 13, len(away))}
    grades = {"grade": ["g1", "g2", "g3"], "rate": [0.5, 1.0, 2.0], "band": ["low", "low", "high"]}
    departments = {"department": list(DEPARTMENTS), "site": ["a", "b", "b", "a"]}
    return {"staff": staff, "absences": absences, "grades": grades, "departments": departments}
