"""Random queries of everything that can be asked, and the tables to ask them of.

Constants come from a short list, so that the nasty values of a column (at a cut, one ulp beside it, outside the
bounds, nothing at all) hit what the queries test.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from guessproof.guarantee import unit_named
from guessproof.sql import DeclaredColumn, DeclaredTable

BOUNDS = {"x": (-2.0, 10.0), "y": (1.0, 6.5), "p": (0.0, 4.0)}
CUTS = {"x": (0.0, 3.0, 7.5), "y": (2.0, 6.5), "p": (1.0, 2.5)}
LEVELS = {"c": ("black", "white", "bay"), "g": ("north", "south"), "f": ("true", "false")}
NUMBERS = tuple(BOUNDS)


def nasty(name: str) -> list[float | None]:
    """Every value of a column at which something could go wrong."""
    low, high = BOUNDS[name]
    found = {low, high, (low + high) / 2, low - 1, high + 1, 1e300, -1e300, math.inf, -math.inf, 0.1}
    for cut in (*CUTS[name], low, high) if name != "p" else CUTS[name]:
        found |= {cut, math.nextafter(cut, math.inf), math.nextafter(cut, -math.inf)}
    return [*sorted(found), math.nan, None]


POOL: dict[str, list[float | str | bool | None]] = {
    "x": list(nasty("x")),
    "y": [-3.0, 1.0, math.nextafter(1.0, 2), 2.0, math.nextafter(2.0, 0), 4.4, 6.5, 80.0, -math.inf, math.nan, None],
    "c": ["black", "white", "bay", "Black", None],
    "f": [True, False, None],
    "p": [0.0, 1.0, math.nextafter(2.5, 9), 4.0, math.inf, None],
    "g": ["north", "south", "east"],
}


@dataclass(frozen=True)
class Setting:
    """What is declared, in one of many ways."""

    declared: DeclaredTable
    present: frozenset[str]  # the columns in which nothing is missing


def setting(random: Random) -> Setting:
    """A declaration of the columns x, y, p (numbers), c, g (labels) and f (a flag)."""
    protects = random.choice(("values", "values", "records"))
    open_to_all = protects == "records"
    present = frozenset(n for n in ("x", "y", "c", "f", "p") if random.random() < 0.4)
    hidden = {"x", "c", *(n for n in ("y", "f") if random.random() < 0.5)}
    columns: dict[str, DeclaredColumn] = {}
    for name in ("x", "y", "p", "c", "f", "g"):
        levels = LEVELS.get(name)
        if name == "c" and random.random() < 0.3:
            levels = None
        columns[name] = DeclaredColumn(
            name,
            bounds=BOUNDS.get(name),
            levels=levels,
            missing=name not in present,
            protected=open_to_all or name in hidden,
        )
    rows = random.choice((None, None, 3))
    return Setting(DeclaredTable("t", columns, unit_named(protects), rows), present)


class Maker:
    """Writes random queries."""

    def __init__(self, random: Random, *, points: bool = True) -> None:
        self.random = random
        self.points = points  # DuckDB has no <@>, so that a plain query cannot use it

    def query(self, grouped: bool | None = None) -> str:
        """One query with one to three aggregates."""
        pick = self.random
        count = pick.choice((1, 1, 1, 2, 3))
        outputs = [f"{self.aggregate()} AS o{i}" for i in range(count)]
        grouped = pick.random() < 0.2 if grouped is None else grouped
        where = f" WHERE {self.condition(2)}" if pick.random() < 0.5 else ""
        if grouped:
            return f"SELECT g, {', '.join(outputs)} FROM t{where} GROUP BY g"
        return f"SELECT {', '.join(outputs)} FROM t{where}"

    def aggregate(self) -> str:
        """An aggregate, at times with a filter of its own."""
        pick = self.random
        kind = pick.choice(("COUNT", "COUNT", "SUM", "SUM", "SUM", "AVG", "MIN", "MAX"))
        counted = pick.choice(("*", "*", "x", "y", "c", "f", self.term(2)))
        what = counted if kind == "COUNT" else self.term(3)
        own = f" FILTER (WHERE {self.condition(2)})" if pick.random() < 0.25 else ""
        return f"{kind}({what}){own}"

    def term(self, depth: int) -> str:
        """A number."""
        pick = self.random
        if depth == 0 or pick.random() < 0.2:
            return pick.choice((*NUMBERS, "x", "x", pick.choice(("1", "2", "0.5", "-3", "10"))))
        a, b = self.term(depth - 1), self.term(depth - 1)
        shapes = (
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} * {b})",
            f"({a} / 4)",
            f"({a} / y)",
            f"({a} / (y / 8))",
            f"(-{a})" if not a.startswith("-") else a,
            f"ABS({a})",
            f"SQRT(ABS({a}) + 1)",
            f"SQRT(POWER({a}, 2) + POWER({b}, 2))",
            f"(POINT({a}, {b}) <@> POINT(3, y))" if self.points else f"SQRT(POWER({a} - 3, 2) + POWER({b} - y, 2))",
            f"POWER({a}, {pick.choice((2, 3))})",
            "POWER(y, -1.5)",
            f"EXP(LEAST({a}, 3))",
            f"LN(GREATEST({a}, 0.5))",
            f"LEAST({a}, {b})",
            f"GREATEST({a}, {b}, {pick.choice((0, 2.5))})",
            f"(({a})^2 + ({b})^2 + y^2)^0.5",
            f"ROUND({a})",
            f"{pick.choice(('FLOOR', 'CEIL'))}({a})",
            f"({a} % {pick.choice((3, 2.5, 20))})",
            f"ROUND({a}, 1)",
            f"COALESCE({a}, {b})",
            f"CASE WHEN {self.condition(depth - 1)} THEN {a} ELSE {b} END",
            f"CASE WHEN {self.condition(depth - 1)} THEN {a} END",
            f"CASE c WHEN 'black' THEN {a} WHEN 'bay' THEN 1 ELSE {b} END",
        )
        return pick.choice(shapes)

    def condition(self, depth: int) -> str:
        """True, false or unknown."""
        pick = self.random
        if depth > 0 and pick.random() < 0.5:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return pick.choice((f"({a} AND {b})", f"({a} OR {b})", f"NOT ({a})", f"({a} AND NOT ({b}))"))
        name = pick.choice(("x", "x", "x", "y", "p"))
        cuts = CUTS[name]
        cut, sign = pick.choice(cuts), pick.choice(("<", "<=", ">", ">=", "=", "<>"))
        shapes = (
            f"{name} {sign} {cut}",
            f"{name} {sign} {cut}",
            f"{cut} {sign} {name}",
            f"{name} BETWEEN {min(cuts)} AND {max(cuts)}",
            f"{name} NOT BETWEEN {min(cuts)} AND {cut}",
            f"{name} IN ({', '.join(map(str, cuts))})",
            f"{name} NOT IN ({', '.join(map(str, cuts))})",
            f"{name} IS NULL",
            f"{name} IS NOT NULL",
            f"c {pick.choice(('=', '<>', '<', '>='))} '{pick.choice(('black', 'white', 'bay', 'ba', 'grey'))}'",
            f"c {pick.choice(('IN', 'NOT IN'))} ('black', 'bay')",
            f"c LIKE '{pick.choice(('b%', '%a%', '_a_', 'black', '%', 'b_a%k'))}'",
            f"c IS {pick.choice(('', 'NOT '))}NULL",
            f"c {pick.choice(('ILIKE', 'NOT ILIKE', 'NOT LIKE'))} '{pick.choice(('B%', '%A_', 'bay'))}'",
            f"({name} {sign} {cut}) IS {pick.choice(('TRUE', 'NOT TRUE', 'FALSE', 'NOT FALSE'))}",
            f"{name} IS {pick.choice(('', 'NOT '))}DISTINCT FROM {pick.choice((cut, 'NULL', 'x'))}",
            f"c IS {pick.choice(('', 'NOT '))}DISTINCT FROM 'bay'",
            "f",
            f"f = {pick.choice(('TRUE', 'FALSE'))}",
            f"{self.term(min(depth, 1))} {sign} {self.term(0)}",
            f"x + y {sign} {cut}",
            "g = 'north'",
        )
        return pick.choice(shapes)
