"""Random queries over joins, and the public tables behind them: keys twice or missing, -0.0, values out of bounds."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from random import Random

from guessproof.sql import DeclaredColumn, DeclaredTable, PublicTable
from sql.grammar import Maker, setting
from sql.neighbours import Bench

ROWS: dict[str, list[tuple[object, ...]]] = {
    "q": [("black", 0.5, "n"), ("white", 99.0, "s"), ("Black", 2.0, "n"), (None, 1.0, "s"), ("bay", None, "e")],
    "s": [(1.0, 1.0), (1.0, -7.0), (0.0, 2.5), (-0.0, 4.0), (math.inf, 3.0), (None, 1.0), (math.nan, 1.0), (1.0, None)],
    "z": [("n", 3.0), ("e", -1.0), (None, 2.0), ("x", 1.0)],
}
TYPES = {
    "q": {"c": "VARCHAR", "w": "DOUBLE", "r": "VARCHAR"},
    "s": {"p": "DOUBLE", "v": "DOUBLE"},
    "z": {"r": "VARCHAR", "u": "DOUBLE"},
}
PUBLIC = (
    PublicTable(
        "q", {"w": DeclaredColumn("w", bounds=(0, 5)), "r": DeclaredColumn("r", levels=("n", "s"))}, key=("c",)
    ),
    PublicTable(
        "s", {"v": DeclaredColumn("v", bounds=(-2, 3)), "p": DeclaredColumn("p", kind="number")}, max_matches=3
    ),
    PublicTable("z", {"u": DeclaredColumn("u", bounds=(-1, 3), missing=False)}, key=("r",)),
)
PUBLIC = tuple(
    replace(p, read=lambda name=p.name: [dict(zip(TYPES[name], row, strict=True)) for row in ROWS[name]])
    for p in PUBLIC
)
# After FROM; what must stand in WHERE; the numbers that come in.
JOINS = (
    ("t JOIN q ON t.c = q.c", "", ("q.w",)),
    ("t LEFT JOIN q USING (c)", "", ("q.w", "w")),
    ("t, q", "q.c = t.c", ("w",)),
    ("t JOIN s ON t.p = s.p", "", ("s.v", "v")),
    ("t LEFT JOIN s ON s.p = t.p AND s.v < 3", "", ("v",)),
    ("q JOIN t ON q.c = t.c LEFT JOIN z ON q.r = z.r", "", ("w", "u")),
    ("t JOIN q USING (c) JOIN s AS b ON b.p = t.p", "", ("w", "b.v")),
    ("t AS a LEFT JOIN (SELECT c AS k, w AS m FROM q WHERE w < 3) AS d ON a.c = d.k", "", ("d.m", "m")),
)


def generated(seed: int) -> tuple[DeclaredTable, str]:
    """A declaration with public tables, and a query that joins some."""
    random = Random(seed)
    declared = replace(setting(random).declared, public=PUBLIC)
    tables, needed, numbers = random.choice(JOINS)
    sql = Maker(random).query(grouped=False)
    sql = re.sub(r"\b[yp]\b", lambda m: random.choice((m[0], *numbers)), sql)
    if "USING" not in tables:
        sql = re.sub(r"\b([cp])\b(?!')", "a.\\1" if "AS a" in tables else "t.\\1", sql)
    else:
        sql = re.sub(r"\bp\b", "t.p", sql)
    head, _, where = sql.partition(" FROM t")
    if needed:
        where = f" WHERE {needed}" + (f" AND ({where.removeprefix(' WHERE ')})" if where else "")
    if "q" in tables and "AS a" not in tables and random.random() < 0.3:
        return declared, f"{head.replace('SELECT', 'SELECT q.r,', 1)} FROM {tables}{where} GROUP BY q.r"
    return declared, f"{head} FROM {tables}{where}"


class JoinBench(Bench):
    """A bench with the public tables beside."""

    def __init__(self, **more: object) -> None:
        super().__init__(**more)  # type: ignore[arg-type]
        for name, types in TYPES.items():
            columns = ", ".join(f"{n} {t}" for n, t in types.items())
            self.con.execute(f"CREATE TABLE {name} ({columns})")
            self.con.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(types))})", ROWS[name])
        self.stored = {**self.stored, **all_types()}


def all_types() -> dict[str, str]:
    """The columns of public tables under every alias that the queries use."""
    aliases = {"q": ("q",), "s": ("s", "b"), "z": ("z",)}
    return {f"{a}.{n}": t for name, types in TYPES.items() for a in aliases[name] for n, t in types.items()}
