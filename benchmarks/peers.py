"""Other libraries on the same million rows. Runs under any Python, so that each can live with its own versions:

python benchmarks/peers.py table.parquet

One JSON line for each work: the peer, the work, seconds (the best of three), or why it was left out.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

EPSILON, ROWS = 1.0, 1_000_000
LOW, HIGH = 0.0, 20_000.0
SQL = {
    "COUNT": "SELECT COUNT(*) AS n FROM {t}",
    "SUM": "SELECT SUM(salary) AS s FROM {t}",
    "AVG by group": "SELECT faculty, AVG(salary) AS a FROM {t} GROUP BY faculty",
    "COUNT WHERE": "SELECT COUNT(*) AS n FROM {t} WHERE age > 40",
}


def duckdb_plain(path: str) -> dict[str, Callable[[], Any]]:
    import duckdb

    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS SELECT * FROM read_parquet('{path}')")
    return {work: lambda sql=sql: con.execute(sql.format(t="t")).fetchall() for work, sql in SQL.items()}


def diffprivlib(path: str) -> dict[str, Callable[[], Any]]:
    import pyarrow.parquet as pq
    from diffprivlib import tools

    table = pq.read_table(path)
    salary, age = table["salary"].to_numpy(), table["age"].to_numpy()
    names, places = (a.to_numpy(zero_copy_only=False) for a in _coded(table["faculty"]))
    bounds = {"epsilon": EPSILON, "bounds": (LOW, HIGH)}
    return {
        "COUNT": lambda: tools.count_nonzero(salary >= LOW, epsilon=EPSILON),
        "SUM": lambda: tools.sum(salary, **bounds),
        "AVG by group": lambda: [tools.mean(salary[places == i], **bounds) for i in range(len(names))],
        "COUNT WHERE": lambda: tools.count_nonzero(age > 40, epsilon=EPSILON),
    }


def _coded(column: Any) -> tuple[Any, Any]:
    coded = column.combine_chunks().dictionary_encode()
    return coded.dictionary, coded.indices


def smartnoise(path: str) -> dict[str, Callable[[], Any]]:
    import pandas as pd
    from snsql import Privacy, from_df

    frame = pd.read_parquet(path)
    number = {"type": "float", "lower": LOW, "upper": HIGH}
    table = {"row_privacy": True, "rows": ROWS, "faculty": {"type": "string"}, "salary": number}
    table |= {"age": {"type": "int", "lower": 0, "upper": 120}}
    reader = from_df(frame, privacy=Privacy(epsilon=EPSILON, delta=1e-9), metadata={"": {"main": {"t": table}}})
    return {work: lambda sql=sql: reader.execute(sql.format(t="main.t")) for work, sql in SQL.items()}


def opendp_polars(path: str) -> dict[str, Callable[[], Any]]:
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    faculties = ["arts", "cs", "law", "math", "physics"]

    def context() -> Any:
        return dp.Context.compositor(
            data=pl.scan_parquet(path),
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(epsilon=EPSILON),
            split_evenly_over=1,
            margins=[dp.polars.Margin(max_length=2 * ROWS)],
        )

    salary = pl.col("salary").fill_nan(LOW).fill_null(LOW).dp
    keys = pl.LazyFrame({"faculty": faculties})
    return {
        "COUNT": lambda: context().query().select(dp.len()).release().collect(),
        "SUM": lambda: context().query().select(salary.sum((LOW, HIGH))).release().collect(),
        "AVG by group": lambda: (
            context()
            .query()
            .group_by("faculty")
            .agg(salary.sum((LOW, HIGH)), dp.len())
            .with_keys(keys)
            .release()
            .collect()
        ),
        "COUNT WHERE": lambda: context().query().filter(pl.col("age") > 40).select(dp.len()).release().collect(),
    }


PEERS = {
    "DuckDB, no noise": duckdb_plain,
    "diffprivlib": diffprivlib,
    "SmartNoise SQL": smartnoise,
    "OpenDP on Polars": opendp_polars,
}


def main() -> None:
    warnings.simplefilter("ignore")
    for peer, prepare in PEERS.items():
        try:
            works = prepare(sys.argv[1])
        except ImportError as error:
            print(json.dumps({"peer": peer, "reason": f"cannot be imported: {error}"}), flush=True)
            continue
        for work, run in works.items():
            print(json.dumps({"peer": peer, "work": work, **_timed(run)}), flush=True)


def _timed(run: Callable[[], Any]) -> dict[str, Any]:
    rounds: list[float] = []
    try:
        for _ in range(3):
            start = time.perf_counter()
            run()
            rounds.append(time.perf_counter() - start)
    except Exception as error:  # another library's failure is a result too
        return {"reason": type(error).__name__ + ": " + str(error).splitlines()[0][:80]}
    return {"seconds": min(rounds)}


if __name__ == "__main__":
    main()
