"""Other libraries with persons of several rows: COUNT and SUM by ten public groups at ε = 1. Runs under any Python:

python benchmarks/peers_persons.py table.parquet CAP...

One JSON line for each work: the peer, the work, the cap, seconds (the best of two), and the answers by group.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

EPSILON, TIMES = 1.0, 2
LOW, HIGH = 0.0, 100.0
LEVELS = [f"g{i}" for i in range(10)]
Works = dict[str, Callable[[], dict[str, float]]]


def smartnoise(path: str, cap: int) -> Works:
    import pandas as pd
    from snsql import Privacy, from_df

    table = {"max_ids": cap, "censor_dims": False, "clamp_counts": False, "person": {"type": "int", "private_id": True}}
    table |= {"g": {"type": "string"}, "x": {"type": "float", "lower": LOW, "upper": HIGH}}
    privacy = Privacy(epsilon=EPSILON, delta=1e-9)
    reader = from_df(pd.read_parquet(path), privacy=privacy, metadata={"": {"main": {"t": table}}})

    def asked(what: str) -> dict[str, float]:
        rows = reader.execute(f"SELECT g, {what} AS a FROM main.t GROUP BY g")
        return {g: float(a) for g, a in rows[1:]}

    return {"COUNT": lambda: asked("COUNT(*)"), "SUM": lambda: asked("SUM(x)")}


def opendp_polars(path: str, cap: int) -> Works:
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    keys = pl.LazyFrame({"g": LEVELS})

    def asked(what: Any) -> dict[str, float]:
        context = dp.Context.compositor(
            data=pl.scan_parquet(path),
            privacy_unit=dp.unit_of(contributions=1, identifier="person"),
            privacy_loss=dp.loss_of(epsilon=EPSILON),
            split_evenly_over=1,
            margins=[dp.polars.Margin(max_length=2_000_000)],
        )
        query = context.query().truncate_per_group(cap).group_by("g").agg(what.alias("a")).with_keys(keys)
        return dict(query.release().collect().select("g", "a").iter_rows())

    total = pl.col("x").fill_nan(LOW).fill_null(LOW).dp.sum((LOW, HIGH))
    return {"COUNT": lambda: asked(dp.len()), "SUM": lambda: asked(total)}


def qrlew(path: str, cap: int) -> Works:
    """Its SQL runs on DuckDB; sizes are those that it finds itself in a copy of the table. Gaussian, δ = 1e-9."""
    import duckdb
    import pyqrlew as qrl
    import sqlalchemy as sa

    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS SELECT person, g, x FROM read_parquet('{path}')")
    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    con.execute("SELECT * FROM t").df().to_sql("t", engine, index=False, chunksize=100_000)
    dataset = qrl.Dataset.from_database("d", engine).with_range(None, "t", "x", LOW, HIGH)
    dataset = dataset.with_possible_values(None, "t", "g", LEVELS)

    def asked(what: str) -> dict[str, float]:
        relation = dataset.relation(f"SELECT g, {what} AS a FROM t GROUP BY g")
        limits = {"max_multiplicity": float(cap), "max_privacy_unit_groups": min(cap, len(LEVELS))}
        budget = {"epsilon": EPSILON, "delta": 1e-9}
        found = relation.rewrite_with_differential_privacy(dataset, [("t", [], "person")], budget, **limits)
        return dict(con.execute(found.relation().to_query(qrl.Dialect.PostgreSql)).fetchall())

    return {"COUNT": lambda: asked("COUNT(*)"), "SUM": lambda: asked("SUM(x)")}


def tumult(path: str, cap: int) -> Works:
    """On a local Spark of its own; budgets without end, of which each query takes ε."""
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddRowsWithID, KeySet, MaxRowsPerID, PureDPBudget, QueryBuilder, Session

    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    frame = spark.read.parquet(path).select("person", "g", "x")
    session = Session.from_dataframe(
        PureDPBudget(float("inf")), "t", frame, protected_change=AddRowsWithID(id_column="person")
    )
    kept = QueryBuilder("t").enforce(MaxRowsPerID(cap)).groupby(KeySet.from_dict({"g": LEVELS}))

    def asked(query: Any) -> dict[str, float]:
        return {row["g"]: float(row["a"]) for row in session.evaluate(query, PureDPBudget(EPSILON)).collect()}

    return {
        "COUNT": lambda: asked(kept.count(name="a")),
        "SUM": lambda: asked(kept.sum("x", low=LOW, high=HIGH, name="a")),
    }


PEERS = {
    "SmartNoise SQL": smartnoise,
    "OpenDP on Polars": opendp_polars,
    "Qrlew on DuckDB": qrlew,
    "Tumult on Spark": tumult,
}


def main() -> None:
    warnings.simplefilter("ignore")
    for cap in map(int, sys.argv[2:]):
        for peer, prepare in PEERS.items():
            for work in ("COUNT", "SUM"):
                line = {"peer": peer, "work": work, "cap": cap}
                print(json.dumps(line | _answered(prepare, sys.argv[1], cap, work)), flush=True)


def _answered(prepare: Callable[[str, int], Works], path: str, cap: int, work: str) -> dict[str, Any]:
    try:
        ask = prepare(path, cap)[work]
        rounds, answers = [], []
        for _ in range(TIMES):
            start = time.perf_counter()
            answers.append(ask())
            rounds.append(time.perf_counter() - start)
    except Exception as error:  # a peer that cannot is left out, and says why
        return {"reason": f"{type(error).__name__}: {str(error)[:200]}"}
    return {"seconds": min(rounds), "answers": answers}


if __name__ == "__main__":
    main()
