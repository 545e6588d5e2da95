"""The tables of the example plans: invented people, cats and ships, the same on every machine.

python examples/make_tables.py
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent


def main() -> None:
    draw = np.random.default_rng(20260)
    colours = draw.choice(["red", "white", "tabby", "black", "tortoise"], 500, p=[0.2, 0.1, 0.25, 0.4, 0.05])
    write("cats", ("id", "colour", "gender"), zip(range(1, 501), colours, draw.choice(["M", "F"], 500), strict=True))
    salaries = np.clip(draw.normal(2000, 55556**0.5, 300), 1000, 3000).round()
    write("salaries", ("id", "salary"), zip(range(1, 301), salaries.astype(int), strict=True))
    ages = draw.choice(["18-44", "45-64", "65-74", "75+"], 2000, p=[0.45, 0.33, 0.13, 0.09])
    had = draw.choice(["yes", "no"], 2000, p=[0.16, 0.84])
    write("survey", ("id", "age_group", "had_covid"), zip(range(1, 2001), ages, had, strict=True))
    east, north = draw.normal(0, 1250**0.5, (2, 40)).round(2)
    speed = draw.uniform(10, 30, 40).round(1)
    write("ships", ("ship", "east", "north", "speed"), zip(range(1, 41), east, north, speed, strict=True))
    days = np.clip(draw.lognormal(1.5, 0.75, 1000), 0, 60).round(1)
    wards = draw.choice(["surgery", "medicine", "children", "births"], 1000, p=[0.3, 0.4, 0.18, 0.12])
    write("clinic", ("id", "days", "ward"), zip(range(1, 1001), days, wards, strict=True))
    grades = draw.choice(["A", "B", "C", "D"], 300, p=[0.4, 0.3, 0.2, 0.1])
    hours = np.clip(draw.normal(150, 20, 300), 0, 240).round(1)
    write("payroll", ("id", "grade", "hours"), zip(range(1, 301), grades, hours, strict=True))
    write("payroll", ("grade", "rate"), [("A", 22), ("B", 29.5), ("C", 41), ("D", 56)], "grades")
    often = draw.choice([1, 2, 4, 9], 3000, p=[0.6, 0.2, 0.15, 0.05])
    who = np.repeat(np.arange(1, 3001), often)
    where = draw.choice(["north", "south", "east"], len(who), p=[0.5, 0.3, 0.2])
    write("visits", ("patient", "ward"), zip(who, where, strict=True))
    born = np.datetime64("1980-01-01") + np.clip(draw.normal(0, 15 * 365.25, 450), -20000, 11000).astype(int)
    write("births", ("id", "born"), zip(range(1, 451), born, strict=True))


def write(name: str, header: tuple[str, ...], rows: Any, file_name: str = "") -> None:
    with (HERE / name / f"{file_name or name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
