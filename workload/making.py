"""Invented tables in a database file: the same ones from the same seed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

Columns = Mapping[str, Any]
Tables = dict[str, Columns]
SEED = 20_240_229


def make_database(path: Path, family: str, size: float = 1.0) -> Path:
    """Write the tables of a family; `size` makes them smaller or larger than usual."""
    tables: Tables = importlib.import_module(f"workload.{family}.tables").make(np.random.default_rng(SEED), size)
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as con:
        for name, columns in tables.items():
            con.register("arriving", pa.table({key: pa.array(column) for key, column in columns.items()}))
            con.execute(f'CREATE TABLE "{name}" AS SELECT * FROM arriving')
            con.unregister("arriving")
    return path


def scaled(count: int, size: float, least: int = 20) -> int:
    """How many rows a table gets."""
    return max(least, round(count * size))


def days(rng: np.random.Generator, first: str, last: str, count: int) -> Any:
    """Days between two dates, both included."""
    start, end = np.datetime64(first, "D"), np.datetime64(last, "D")
    return start + rng.integers(0, (end - start).astype(int) + 1, count).astype("timedelta64[D]")


def numbers(rng: np.random.Generator, mean: float, sd: float, bounds: tuple[float, float], count: int) -> Any:
    """Normal numbers, cut to bounds, in hundredths."""
    return np.clip(np.round(rng.normal(mean, sd, count), 2), *bounds)


def labels(rng: np.random.Generator, shares: Mapping[str, float], count: int) -> Any:
    """Labels with given shares."""
    return rng.choice(list(shares), count, p=np.array(list(shares.values())) / sum(shares.values()))
