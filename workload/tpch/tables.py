"""The eight tables of TPC-H in the same shapes: orders of customers, their lines, parts and who supplies them.

Names, value ranges and dependencies (return flag and line status follow from dates, prices from parts) are those of
the benchmark's public description; the numbers come from a seed of our own and are far fewer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workload.making import Columns, Tables, days, scaled

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
MODES = ("AIR", "AIR REG", "FOB", "MAIL", "RAIL", "SHIP", "TRUCK")
INSTRUCTIONS = ("COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN")
BRANDS = tuple(f"Brand#{i}{j}" for i in range(1, 4) for j in range(1, 4))
SIZES = ("SM", "MED", "LG", "JUMBO")
PACKS = ("BAG", "BOX", "CASE", "PACK", "PKG")
FINISHES = ("BRUSHED", "POLISHED", "PLATED")
METALS = ("BRASS", "STEEL", "TIN")
TODAY = np.datetime64("1995-06-17", "D")


def make(rng: np.random.Generator, size: float) -> Tables:
    """All eight tables."""
    parts, suppliers, customers = scaled(300, size), scaled(30, size, 6), scaled(1200, size)
    part = _part(rng, parts)
    orders, lines = _orders(rng, customers, part, suppliers)
    supplied = np.repeat(np.arange(parts), 2)
    nations = [f"NATION {i:02d}" for i in range(25)]
    return {
        "region": {"r_regionkey": list(range(5)), "r_name": list(REGIONS)},
        "nation": {"n_nationkey": list(range(25)), "n_name": nations, "n_regionkey": [i % 5 for i in range(25)]},
        "supplier": {
            "s_suppkey": np.arange(suppliers),
            "s_nationkey": rng.integers(0, 25, suppliers),
            "s_acctbal": np.round(rng.uniform(-999, 9999, suppliers), 2),
            "s_comment": ["Customer Complaints" if i % 10 == 3 else "carefully" for i in range(suppliers)],
        },
        "customer": {
            "c_custkey": np.arange(customers),
            "c_nationkey": rng.integers(0, 25, customers),
            "c_mktsegment": rng.choice(SEGMENTS, customers),
            "c_acctbal": np.round(rng.uniform(-999, 9999, customers), 2),
        },
        "part": part,
        "partsupp": {
            "ps_partkey": supplied,
            "ps_suppkey": (supplied + np.tile([0, 1 + suppliers // 3], parts)) % suppliers,
            "ps_availqty": rng.integers(1, 10_000, 2 * parts),
            "ps_supplycost": np.round(rng.uniform(1, 1000, 2 * parts), 2),
        },
        "orders": orders,
        "lineitem": lines,
    }


def _part(rng: np.random.Generator, parts: int) -> Columns:
    return {
        "p_partkey": np.arange(parts),
        "p_brand": rng.choice(BRANDS, parts),
        "p_type": [f"{a} {b}" for a, b in zip(rng.choice(FINISHES, parts), rng.choice(METALS, parts), strict=True)],
        "p_size": rng.integers(1, 51, parts),
        "p_container": [f"{a} {b}" for a, b in zip(rng.choice(SIZES, parts), rng.choice(PACKS, parts), strict=True)],
        "p_retailprice": np.round(900 + rng.uniform(0, 1200, parts), 2),
    }


def _orders(rng: np.random.Generator, customers: int, part: Any, suppliers: int) -> tuple[Columns, Columns]:
    buyer = np.repeat(np.arange(customers), rng.integers(0, 6, customers))
    count = len(buyer)
    ordered = days(rng, "1992-01-01", "1998-08-02", count)
    orders = {
        "o_orderkey": np.arange(count),
        "o_custkey": buyer,
        "o_orderstatus": rng.choice(["F", "O", "P"], count),
        "o_orderdate": ordered,
        "o_orderpriority": rng.choice(PRIORITIES, count),
        "o_shippriority": np.zeros(count, int),
    }
    return orders, _lines(rng, np.repeat(np.arange(count), rng.integers(1, 8, count)), ordered, part, suppliers)


def _lines(rng: np.random.Generator, order: Any, ordered: Any, part: Any, suppliers: int) -> Columns:
    count = len(order)
    partkey = rng.integers(0, len(part["p_partkey"]), count)
    quantity = rng.integers(1, 51, count)
    shipped = ordered[order] + rng.integers(1, 122, count).astype("timedelta64[D]")
    received = shipped + rng.integers(1, 31, count).astype("timedelta64[D]")
    return {
        "l_orderkey": order,
        "l_partkey": partkey,
        "l_suppkey": partkey % suppliers,
        "l_quantity": quantity,
        "l_extendedprice": np.round(quantity * part["p_retailprice"][partkey], 2),
        "l_discount": rng.integers(0, 11, count) / 100,
        "l_tax": rng.integers(0, 9, count) / 100,
        "l_returnflag": np.where(received > TODAY, "N", rng.choice(["R", "A"], count)),
        "l_linestatus": np.where(shipped > TODAY, "O", "F"),
        "l_shipdate": shipped,
        "l_commitdate": ordered[order] + rng.integers(30, 91, count).astype("timedelta64[D]"),
        "l_receiptdate": received,
        "l_shipinstruct": rng.choice(INSTRUCTIONS, count),
        "l_shipmode": rng.choice(MODES, count),
    }
