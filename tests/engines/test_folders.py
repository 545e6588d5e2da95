"""Folders of Parquet files whose columns differ: one table where types agree, refused before any charge where not."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from depth import cases

from guessproof.engines import open_engine
from guessproof.engines.base import SparkSource
from guessproof.errors import SourceError

TYPES: dict[str, tuple[pa.DataType, tuple[Any, ...]]] = {
    "double": (pa.float64(), (1.5, -2.0, None)),
    "int": (pa.int32(), (1, 7, None)),
    "long": (pa.int64(), (2**40, 3, None)),
    "text": (pa.string(), ("s3cr3t", "4", None)),
    "day": (pa.date32(), (0, 18000, None)),
}
Drawn = list[dict[str, tuple[str, list[Any]]]]


def draw_files(random: Random, folder: Path) -> Drawn:
    """Files with some of the columns a, b and c, now and then by another type or in other letters, in any order."""
    usual, files = {name: random.choice([*TYPES]) for name in "abc"}, Drawn()
    for number in range(random.randint(2, 4)):
        file: dict[str, tuple[str, list[Any]]] = {}
        rows = random.randint(0, 3)
        for name in random.sample("abc", random.randint(1, 3)):
            kind = random.choice([*TYPES]) if random.random() < 0.15 else usual[name]
            file[name] = kind, [random.choice(TYPES[kind][1]) for _ in range(rows)]
        place = folder / ("below" if random.random() < 0.3 else "") / f"{number}.parquet"
        place.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({n: pa.array(held, TYPES[k][0]) for n, (k, held) in file.items()}), place)
        files.append(file)
    return files


def find_fault(source: Any, files: Drawn) -> str | None:
    """What an engine makes of a folder otherwise than plain loops do."""
    kinds: dict[str, set[str]] = {}
    for file in files:
        for name, (kind, _) in file.items():
            kinds.setdefault(name, set()).add(kind)
    mixed = sorted(name for name, found in kinds.items() if len(found) > 1)
    try:
        with open_engine(source, "t") as engine:
            if mixed:
                return f"{mixed} have several types, and are opened as {engine.types()}"
            sql = "SELECT COUNT(*), " + ", ".join(f"COUNT({name})" for name in sorted(kinds)) + " FROM t"
            engine.prepare(sql)
            (found,) = engine.aggregates(sql)
    except SourceError as error:
        return None if mixed and "same types" in str(error) and "s3cr3t" not in str(error) else f"refused: {error}"
    rows = sum(len(next(iter(file.values()))[1]) for file in files)
    held = [sum(v is not None for file in files if n in file for v in file[n][1]) for n in sorted(kinds)]
    return None if found == (rows, *held) else f"{found} instead of {(rows, *held)}"


def test_files_of_a_folder_are_one_table_or_refused(tmp_path: Path) -> None:
    refused = 0
    for seed in range(cases(30)):
        files = draw_files(Random(seed), tmp_path / str(seed))
        assert find_fault(str(tmp_path / str(seed)), files) is None, (seed, files)
        refused += len({(n, k) for file in files for n, (k, _) in file.items()}) > len({n for f in files for n in f})
    assert cases(5) < refused < cases(25)


def test_files_of_a_folder_are_the_same_on_spark(spark: str, tmp_path: Path) -> None:
    for seed in range(cases(3)):
        files = draw_files(Random(seed), tmp_path / str(seed))
        assert find_fault(SparkSource(str(tmp_path / str(seed)), "env:SPARK_REMOTE"), files) is None, (seed, files)


def test_whether_a_value_fits_another_type_is_not_told_by_a_failure(tmp_path: Path) -> None:
    """What was charged and failed for 2^40, and was answered for 3."""
    for value in (3, 2**40):
        folder = tmp_path / str(value)
        folder.mkdir()
        pq.write_table(pa.table({"x": pa.array([1], pa.int32())}), folder / "a.parquet")
        pq.write_table(pa.table({"x": pa.array([value], pa.int64())}), folder / "b.parquet")
        with pytest.raises(SourceError, match="column 'x' is INTEGER in one of its files and BIGINT in another"):
            open_engine(str(folder), "t")


def test_spark_says_why_it_does_not_read_a_file(spark: str, tmp_path: Path) -> None:
    for words, table in {
        "same name": pa.table([pa.array([1.0]), pa.array([2.0])], names=["x", "X"]),
        "does not read": pa.table({"x": pa.array([1.0]), "t": pa.array([1], pa.time64("us"))}),
    }.items():
        pq.write_table(table, tmp_path / "t.parquet")
        with pytest.raises(SourceError, match=words):
            open_engine(SparkSource(str(tmp_path / "t.parquet"), "env:SPARK_REMOTE"), "t")
