"""Questions drawn at random over the tables of a family: aggregates, terms, filters, keys and joins in any mixture."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from workload.questions import Question, read_family


@dataclass(frozen=True)
class Vocabulary:
    """What can be said about one family; `first` is a question whose plan is used."""

    first: str
    table: str
    numbers: tuple[str, ...]
    tests: tuple[str, ...]
    keys: tuple[str, ...]
    joins: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = field(
        default_factory=dict[str, tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]]
    )  # for each table: how it is joined, and its numbers, tests and keys


TOWNS = ("a.town = towns.town", ("towns.vets",), ("towns.county = 'north'", "towns.vets > 2"), ("towns.county",))
CITIES = (
    "a.city = cities.city",
    ("cities.people",),
    ("cities.region <> 's'", "cities.people < 50"),
    ("cities.region",),
)
PLACES = ("a.place = places.place", ("places.risk",), ("places.sort = 'gym'", "places.risk >= 2"), ("places.sort",))
MERCHANTS = (
    "a.merchant = merchants.merchant",
    (),
    ("merchants.country = 'EE'", "merchants.sector IN ('food', 'home')"),
    ("merchants.sector", "merchants.country"),
)
RATES = ("a.currency = rates.currency", ("rates.rate",), ("rates.rate < 0.95",), ())
CATS = (
    ("a.weight", "a.age", "a.weight * a.age", "CASE WHEN a.colour = 'red' THEN a.weight ELSE a.age END"),
    ("a.colour = 'black'", "a.gender <> 'F'", "a.age BETWEEN 3 AND 9", "a.weight > 4 OR a.colour IN ('red', 'white')"),
    ("a.colour", "a.gender", "a.town"),
)
PAYING = (
    ("a.amount", "a.amount / 10", "LEAST(a.amount, 100)"),
    ("a.amount > 50", "a.channel = 'card'", "NOT a.refunded", "a.currency <> 'SEK'"),
    ("a.channel", "a.currency"),
)
BOUGHT = {"merchants": MERCHANTS, "rates": RATES}
HIDDEN = ("a.city <> 'Arle'", "a.city IN ('Bree', 'Cove')")
VISITED = (("a.hours", "8 - a.hours"), ("a.hours > 2", "a.place <> 'pl3'"), ("a.place",))
ILL = (("a.age", "a.age * a.age"), ("a.health = 'ill'", "a.age < 40"), ("a.health", "a.city"))
VOCABULARIES = {
    "cats by values": Vocabulary("cats/tabby_queens", "cats", *CATS, {"towns": TOWNS}),
    "cats by records": Vocabulary("cats/weight_spread", "cats", *CATS, {"towns": TOWNS}),
    "health by values": Vocabulary("pandemic/by_health", "persons", *ILL, {"cities": CITIES}),
    "cities by values": Vocabulary("pandemic/hidden_city", "persons", (), HIDDEN, ("a.city",), {"cities": CITIES}),
    "payments by values": Vocabulary("payments/by_channel", "payments", *PAYING, BOUGHT),
    "payments by records": Vocabulary("payments/refunds", "payments", *PAYING, BOUGHT),
    "payments by clients": Vocabulary("payments/of_clients", "payments", *PAYING, BOUGHT),
    "visits by visitors": Vocabulary("pandemic/visitors", "visits", *VISITED, {"places": PLACES}),
}


def draw_question(name: str, seed: int) -> Question:
    """One question, the same for the same seed; it may well be one that is refused."""
    words, rng = VOCABULARIES[name], np.random.default_rng(seed)
    family, _ = words.first.split("/")
    asked = next(q for q in read_family(family).questions if q.title == words.first)
    joined = [t for t in words.joins if rng.random() < 0.4]
    parts = [words.joins[t] for t in joined]
    numbers = [
        *words.numbers,
        *(n for p in parts for n in p[1]),
        *(f"{n} * {m}" for p in parts for n in p[1] for m in words.numbers),
    ]
    tests = [*words.tests, *(c for p in parts for c in p[2])]
    keys = [*words.keys, *(k for p in parts for k in p[3])]
    grouped = [str(k) for k in rng.permutation(keys)[: rng.integers(0, 3)]]
    sql = _written(words, rng, joined, numbers, tests, grouped)
    tables = {t: _table(family, t) for t in joined}
    return replace(asked, name=f"{name} {seed}", sql=sql, plain=sql, tables=tables)


def _written(
    words: Vocabulary,
    rng: np.random.Generator,
    joined: list[str],
    numbers: list[str],
    tests: list[str],
    keys: list[str],
) -> str:
    def pick(some: list[str]) -> str:
        return some[int(rng.integers(len(some)))]

    calls: list[str] = []
    for index in range(int(rng.integers(1, 4))):
        kind = pick(["COUNT(*)", "SUM", "SUM", "AVG", "MIN", "MAX"]) if numbers else "COUNT(*)"
        call = kind if kind == "COUNT(*)" else f"{kind}({pick(numbers)})"
        own = f" FILTER (WHERE {pick(tests)})" if rng.random() < 0.25 else ""
        calls.append(f"{call}{own} AS o{index}")
    conditions = [str(c) for c in rng.permutation(tests)[: rng.integers(0, 3)]]
    if joined and rng.random() < 0.5:
        source = ", ".join([f"{words.table} AS a", *joined])
        conditions += [words.joins[t][0] for t in joined]
    else:
        how = [pick(["JOIN", "JOIN", "LEFT JOIN"]) for _ in joined]
        source = " ".join(
            [f"{words.table} AS a", *(f"{h} {t} ON {words.joins[t][0]}" for h, t in zip(how, joined, strict=True))]
        )
    where = f" WHERE {' AND '.join(f'({c})' for c in conditions)}" if conditions else ""
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join([*keys, *calls])} FROM {source}{where}{group}"


def _table(family: str, name: str) -> dict[str, object]:
    """A public table as some question of the family declares it."""
    return dict(next(q.tables[name] for q in read_family(family).questions if name in q.tables))
