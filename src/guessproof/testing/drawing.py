"""Plans drawn at random: what each column is declared to be, and queries of everything that can be asked of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

from guessproof.testing.values import Shelf, StoredType

NAMES = ("x", "n", "c", "f", "d", "g")
KINDS = {"x": "number", "n": "number", "c": "label", "f": "truth", "d": "time", "g": "label"}
BOUNDS = {"x": (-2.0, 10.0), "n": (1.0, 6.5)}
SHORT = ("black", "Black", "bay", "1", "true", "bläck", "2020-01-31", "0", "yes", "x'y")
FLAGS = (
    ("yes", "no"),
    ("y", "n"),
    ("t", "f"),
    ("1", "0"),
    ("true", "false"),
    ("True", "False"),
    ("yes", "no", "unknown"),
)


@dataclass(frozen=True)
class DrawnPlan:
    """A plan's tables, and how its columns are stored."""

    tables: dict[str, Any]
    stored: dict[str, StoredType]
    hidden: frozenset[str]  # protected
    flags: tuple[str, ...] | None

    def levels(self, name: str) -> list[str]:
        """What a column is declared to hold."""
        column = self.tables["columns"].get(name, {})
        return [*column.get("levels", column.get("prior", {}).get("categorical", ()))]


def draw_plan(random: Random, shelf: Shelf) -> DrawnPlan:
    """One table and what is declared of it, stored as an engine can."""
    protects = random.choice(("values", "values", "records"))
    stored = {name: _stored(random, name, shelf) for name in NAMES}
    hidden = {"x", *(n for n in ("n", "c", "f", "d") if random.random() < 0.8)}
    flags = random.choice((*FLAGS, None))
    columns = {name: _column(random, name, flags, stored[name]) for name in NAMES}
    for name in NAMES:
        columns[name]["missing"] = random.random() < 0.5
        if protects == "values" and name not in hidden:
            prior = columns[name].pop("prior", None)
            columns[name] |= {"public": True} | ({"levels": [*prior["categorical"]]} if prior else {})
    if protects == "values" and "d" not in hidden and random.random() < 0.5:
        del columns["d"]
    data: dict[str, Any] = {"name": "drawn", "source": "t.duckdb", "table": "t", "protects": protects}
    if protects == "values" and random.random() < 0.4:
        data["rows"] = 3
    tables = {"data": data, "columns": columns, "release": {"epsilon": 1.0}}
    return DrawnPlan(tables, stored, frozenset(NAMES if protects == "records" else hidden), flags)


def _stored(random: Random, name: str, shelf: Shelf) -> StoredType:
    """Mostly one that fits; now and then any at all, which must then be refused, or read as the model says."""
    if name == "x":
        return shelf.doubles
    return random.choice(shelf.fits(KINDS[name]) if random.random() < 0.85 else shelf.types)


def _column(random: Random, name: str, flags: tuple[str, ...] | None, stored: StoredType) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": KINDS[name]} if random.random() < 0.3 else {}
    if name in BOUNDS:
        found["bounds"] = BOUNDS[name]
    elif name in ("c", "g"):
        held = random.sample(stored.texts, min(2, len(stored.texts)))
        levels = list(dict.fromkeys([*held, *random.sample(SHORT, random.randint(1, 3))]))
        if name == "g" or random.random() < 0.5:
            found["levels"] = levels
        elif random.random() < 0.8:
            found["prior"] = {"categorical": dict.fromkeys(levels, 1 / len(levels))}
    elif name == "f" and flags is not None:
        found["levels"] = flags
        if random.random() < 0.3:
            found["true"], found["false"] = (flags[-2],), (flags[-1],)
    return json.loads(json.dumps(found))


class QuestionMaker:
    """Writes random queries about the columns of a drawn table."""

    def __init__(self, random: Random, plan: DrawnPlan) -> None:
        self.random, self.plan = random, plan
        self.labels = plan.levels("c") or [*SHORT]

    def query(self) -> str:
        """One query, now and then by groups; with several outputs, for on some engines a query is what takes time."""
        pick = self.random
        outputs = [f"{self.aggregate()} AS o{i}" for i in range(pick.choice((1, 2, 2)))]
        where = f" WHERE {self.condition(2)}" if pick.random() < 0.7 else ""
        if pick.random() < 0.25:
            return f"SELECT g, {', '.join(outputs)} FROM t{where} GROUP BY g"
        return f"SELECT {', '.join(outputs)} FROM t{where}"

    def aggregate(self) -> str:
        """An aggregate, at times with a filter of its own."""
        pick = self.random
        kind = pick.choice(("COUNT", "COUNT", "COUNT", "SUM", "SUM", "AVG", "MIN", "MAX"))
        counted = pick.choice(("*", "*", "n", "c", "f", "d", self.term(1)))
        own = f" FILTER (WHERE {self.condition(1)})" if pick.random() < 0.4 else ""
        return f"{kind}({counted if kind == 'COUNT' else self.term(2)}){own}"

    def term(self, depth: int) -> str:
        """A number."""
        pick = self.random
        if depth == 0 or pick.random() < 0.3:
            return pick.choice(("x", "n", "N", "n", "2", "0.5"))
        a, b = self.term(depth - 1), self.term(depth - 1)
        test = self.condition(depth - 1)
        return pick.choice(
            (
                *(f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / n)", f"ABS({a})"),
                *(f"SQRT(ABS({a}) + 1)", f"(POINT({a}, {b}) <@> POINT(3, n))", f"POWER({a}, 2)"),
                *(f"EXP(LEAST({a}, 3))", f"LN(GREATEST({a}, 0.5))", f"GREATEST({a}, {b})"),
                *(f"ROUND({a})", f"COALESCE({a}, {b})"),
                *(f"CASE WHEN {test} THEN {a} ELSE {b} END", f"CASE WHEN {test} THEN 100 END"),
                f"CASE WHEN f IS NULL THEN 50 WHEN f THEN 1 ELSE {a} END",
                f"CASE WHEN {test} THEN 1 WHEN {self.condition(0)} THEN 30 ELSE 0 END",
            )
        )

    def condition(self, depth: int) -> str:
        """True, false or unknown."""
        pick = self.random
        if depth > 0 and pick.random() < 0.5:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return pick.choice((f"({a} AND {b})", f"({a} OR {b})", f"NOT ({a})"))
        sign, name = pick.choice(("<", "<=", ">", ">=", "=", "<>")), pick.choice(("x", "n"))
        label, first = (_text(found) for found in (pick.choice(self.labels), self.labels[0]))
        number, moment = pick.choice(("1", "2", "2.5", "10")), pick.choice(("2020-01-31", "2019-12-31"))
        missing = pick.choice(("IS NULL", "IS NOT NULL"))
        like = pick.choice(("b%", "%a%", "_l%", "1__", "1._", "%", "B%", label))
        return pick.choice(
            (
                *(f"{name} {sign} {number}", f"{name} BETWEEN 1 AND {number}", f"{name} IN (1, {number})"),
                *(f"{pick.choice(NAMES)} {missing}", f"c {sign} '{label}'", f"C {sign} '{label}'"),
                *(f"c IN ('{label}', '{first}')", f"c LIKE '{like}'", "f", "F", "f = FALSE", "f <> TRUE"),
                *(f"d {sign} DATE '{moment}'", f"d IN (TIMESTAMP '{moment} 10:00:00', DATE '{moment}')"),
                *(f"{name} + 100 > n", f"n {sign} x + {number}", f"x {sign} n"),
                "c = 'true'" if self.plan.flags is None else f"f = '{self.plan.flags[0]}'",
            )
        )


def _text(label: str) -> str:
    return label.replace("'", "''")
