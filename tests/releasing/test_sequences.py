"""Drawn sequences of plans under one ledger, against a slow model that adds up what a record did to each answer.

The model knows the table's true columns, what each query computes from a record, and the scale of the noise that was
drawn. For two records it adds |φ(x) − φ(x')|/b over everything that was charged: that is the log-likelihood ratio that
somebody who sees all answers can reach. Whatever any accepted plan promised must hold for that sum.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pytest
from depth import cases
from ledger.making import Clock

from guessproof.engines.duckdb import DuckDB
from guessproof.errors import BudgetError, EngineError, GuessproofError, LedgerError, RowsError
from guessproof.ledger import Account, Budget, Ledger, verify
from guessproof.plan import Plan, loads_plan
from guessproof.releasing import Answer, release

Record = dict[str, float | None]
COLUMNS = ("time", "age")
VALUES: tuple[float | None, ...] = (None, 0.0, 10.0)
ROWS = 12
LIMIT = 0.3


def _number(x: float | None) -> float:
    return 0.0 if x is None else min(max(x, 0.0), 10.0)


# What a query adds up for one record; {0} and {1} are columns. The last one divides by how many values there are.
QUERIES: dict[str, Callable[[float | None, float | None], float]] = {
    "SELECT SUM({0}) AS y FROM t": lambda x, _: _number(x),
    "SELECT COUNT(*) AS y FROM t WHERE {0} > 5": lambda x, _: float(x is not None and x > 5),
    "SELECT COUNT({0}) AS y FROM t WHERE {1} >= 0": lambda x, z: float(x is not None and z is not None),
    "SELECT SUM({0} + 20 * {1}) AS y FROM t": lambda x, z: (
        0.0 if x is None or z is None else _number(x) + 20 * _number(z)
    ),
    "SELECT SUM({0} - 50 * {1}) AS y FROM t": lambda x, z: (
        0.0 if x is None or z is None else _number(x) - 50 * _number(z)
    ),
    "SELECT AVG({0}) AS y FROM t": lambda x, _: _number(x),
}
AVERAGE = "SELECT AVG({0}) AS y FROM t"
WEIGHTS = (2, 1, 1, 3, 3, 2)
ROLES = (("protected", "protected"), ("protected", "public"), ("public", "protected"), ("protected", "none"))


@dataclass(frozen=True)
class Drawn:
    """A plan by its true meaning, and its text."""

    name: str
    unit: str
    query: str
    read: tuple[str, str]
    protected: frozenset[str]
    present: frozenset[str]  # declared never to be missing
    wanted: str
    rows: int | None
    text: str

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(self.read if "{1}" in self.query else self.read[:1])

    @property
    def counts(self) -> bool:
        """Whether it divides by a number of values that is taken to be known."""
        return self.query == AVERAGE and self.rows is not None

    def distance(self, a: Record | None, b: Record | None, scale: float) -> float:
        """How far the answer's likelihoods move apart; None is a record that is not there."""
        x, z = self.read
        known = [None if r is None else r[x] is None for r in (a, b)]
        if self.counts and known[0] != known[1]:
            return math.inf
        added = [0.0 if r is None else QUERIES[self.query](r[x], r[z]) for r in (a, b)]
        return abs(added[0] - added[1]) / scale


def draw(dice: random.Random, names: tuple[str, ...]) -> Drawn:
    name, unit = dice.choice(names), dice.choice(["values", "values", "values", "records"])
    spelled = {c: dice.choice([c, c.upper(), c.capitalize()]) for c in COLUMNS}
    roles = dict(zip(dice.sample(COLUMNS, 2), dice.choice(ROLES), strict=True))
    present = frozenset(c for c in COLUMNS if dice.random() < 0.15)
    query, read = dice.choices(list(QUERIES), WEIGHTS)[0], tuple(dice.sample(COLUMNS, 2))
    rows = dice.choice([None, ROWS - 4, ROWS + 1]) if unit == "values" and query == AVERAGE else None
    wanted = dice.choice([c for c in COLUMNS if roles[c] == "protected"])
    lines = [f"[data]\nname = '{name}'\nsource = 't.duckdb'\nprotects = '{unit}'"]
    lines += [f"rows = {rows}"] if rows is not None else []
    sql = query.format(*(dice.choice([c, c.upper(), spelled[c]]) for c in read))
    lines.append(f'[query]\nsql = "{sql}"\n[release]\nepsilon = {dice.choice([0.2, 0.5, 1.0])}')
    for c, role in roles.items():
        if role != "none":
            lines.append(f"[columns.{spelled[c]}]\nbounds = [0, 10]")
            lines += ["missing = false"] if c in present else []
            lines += ["public = true"] if role == "public" and unit == "values" else []
            lines += ["prior = { empirical = [0, 10] }"] if c == wanted else []
    lines.append(f"[attacker]\ngoal = '{spelled[wanted]} exactly'\nadvantage = 0.49\nat = {{ {spelled[wanted]} = 10 }}")
    declared = frozenset(c for c, role in roles.items() if role == "protected")
    protected = declared if unit == "values" else frozenset(COLUMNS)
    present &= frozenset(c for c, role in roles.items() if role != "none")
    return Drawn(name, unit, query, (read[0], read[1]), protected, present, wanted, rows, "\n".join(lines))


@dataclass
class Model:
    """One name, as an obvious list of what was charged for and what was promised."""

    paid: list[tuple[Drawn, float]] = field(default_factory=list[tuple[Drawn, float]])
    widened: set[str] = field(default_factory=set[str])
    gaps: dict[str, bool] = field(default_factory=dict[str, bool])  # whether they are known, by the first that reads

    def add(self, drawn: Drawn, scale: float) -> None:
        self.paid.append((drawn, scale))
        for column in drawn.reads & drawn.protected:
            self.gaps.setdefault(column, column in drawn.present or drawn.counts)

    def apart(self, a: Record | None, b: Record | None) -> float:
        return math.fsum(drawn.distance(a, b, scale) for drawn, scale in self.paid)

    def records(self) -> Iterator[Record]:
        """Records whose gaps are hidden, as far as anybody was promised that."""
        choices = [VALUES if self.gaps.get(c) is False else VALUES[1:] for c in COLUMNS]
        return (dict(zip(COLUMNS, values, strict=True)) for values in itertools.product(*choices))

    def promises(self) -> set[tuple[str, frozenset[str]]]:
        made = {(drawn.unit, drawn.protected) for drawn, _ in self.paid}
        return made | ({("values", frozenset(self.widened))} if self.widened and self.paid else set())

    def check(self, account: Account) -> None:
        spent = float(account.epsilon) * (1 + 1e-9)
        everyone = list(self.records())
        for unit, protected in self.promises():
            for a, b in itertools.combinations(everyone, 2):
                if all(a[c] == b[c] for c in COLUMNS if c not in protected):
                    assert self.apart(a, b) <= spent, (unit, protected, a, b)
            if unit == "records":
                assert all(self.apart(a, None) <= spent for a in everyone), unit

    def rise(self, column: str) -> float:
        """The belief in one of two values, each as likely before: of who sees every answer, with the rest known."""
        far = max(
            self.apart({**record, column: 0.0}, {**record, column: 10.0})
            for record in self.records()
            if record[column] is not None
        )
        return 1 / (1 + math.exp(-far)) - 0.5


class Killed(BaseException):
    """A run that ends without a word."""


class World:
    """The table, the ledger with its clock, and the model of each name."""

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.folder, self.dice, self.clock = folder, dice, Clock()
        with duckdb.connect(str(folder / "t.duckdb")) as con:
            con.execute("CREATE TABLE t (time DOUBLE, age DOUBLE)")
            con.execute(f"INSERT INTO t SELECT i % 11, i % 7 FROM range({ROWS}) r(i)")
        path = folder / "guessproof.ledger"
        for name, limit in (("one", LIMIT), ("two", None)):
            self.ledger = Ledger.create(path, name, Budget(9, advantage=limit), clock=self.clock)
        self.models = {"one": Model(), "two": Model()}
        self.done: dict[str, tuple[str, Any]] = {}  # what became of each text: (outcome, answer)
        self.count = 0

    def charges(self) -> int:
        return sum(len(account.charges) for account in self.ledger.accounts().values())

    def ask(self, drawn: Drawn, patch: pytest.MonkeyPatch) -> None:
        """One release; what the ledger charged must be what the model expects."""
        plan = loads_plan(drawn.text, folder=self.folder)
        before, was = self.charges(), self.done.get(drawn.text, ("new", None))
        fate = self.dice.choice(["run", "run", "run", "break", "kill"])
        outcome, answer = self._asked(plan, fate, patch)
        paid = self.charges() - before
        assert paid <= 1
        if was[0] == "answered":
            assert (outcome, paid) == ("answered", 0)
            assert answer is not None
            assert answer.replayed
            assert answer.answers == was[1].answers
        elif was[0] == "short":
            assert (outcome, paid) == ("short", 0)
        elif outcome == "refused":
            assert paid == 0
            self._expect_refusal(drawn)
        else:
            assert paid == 1
            self._learn(drawn)
            self.done[drawn.text] = (outcome, answer)

    def _asked(self, plan: Plan, fate: str, patch: pytest.MonkeyPatch) -> tuple[str, Answer | None]:
        def broken(self: DuckDB, sql: str) -> list[Any]:
            raise Killed if fate == "kill" else ValueError("SECRET")

        with patch.context() as patched:
            if fate != "run":
                patched.setattr(DuckDB, "aggregates", broken)
            try:
                return "answered", release(plan, ledger=self.ledger)
            except RowsError:
                return "short", None
            except EngineError:
                return "broken", None
            except Killed:
                return "killed", None
            except GuessproofError as error:
                self.refusal = error
                return "refused", None

    def _expect_refusal(self, drawn: Drawn) -> None:
        """What protects the same as every plan before it is refused for want of budget only, or while it runs."""
        model = self.models[drawn.name]
        plain = not model.widened and not drawn.counts and not drawn.present
        alike = all((d.unit, d.protected) == (drawn.unit, drawn.protected) for d, _ in model.paid)
        if isinstance(self.refusal, LedgerError) and not isinstance(self.refusal, BudgetError) and plain and alike:
            assert "being answered" in str(self.refusal), self.refusal

    def _learn(self, drawn: Drawn) -> None:
        account = self.ledger.account(drawn.name)
        noise = list(account.charges.values())[-1].describe["noise"]
        scale = min(float(n["noise_scale"]) for n in noise) * (drawn.rows or 1 if drawn.counts else 1)
        self.models[drawn.name].add(drawn, scale)
        self.count += 1
        if account.budget.advantage is not None:  # a limit for the goal of each plan, over all releases up to its own
            assert self.models[drawn.name].rise(drawn.wanted) <= LIMIT * (1 + 1e-9), drawn.text

    def amend(self) -> None:
        name, column = self.dice.choice(["one", "two"]), self.dice.choice(COLUMNS)
        try:
            self.ledger.amend(name, protect=[self.dice.choice([column, column.upper()])])
        except LedgerError:
            return
        self.models[name].widened.add(column)

    def check(self) -> None:
        for name, model in self.models.items():
            account = self.ledger.account(name)
            assert account.epsilon <= account.budget.epsilon
            model.check(account)


def played(folder: Path, seed: int, patch: pytest.MonkeyPatch, steps: int = 14) -> int:
    """Play one sequence; how many releases were charged."""
    dice = random.Random(seed)
    world = World(folder, dice)
    asked: list[Drawn] = []
    for _ in range(steps):
        kind = dice.choice(["new", "new", "new", "new", "again", "like", "amend", "later"])
        if kind == "amend":
            world.amend()
        elif kind == "later":
            world.clock.move(100)
        elif kind == "again" and asked:
            world.ask(dice.choice(asked), patch)
        else:
            drawn = draw(dice, ("one", "two"))
            if kind == "like" or dice.random() < 0.3:  # protects as one before it did, or nothing would ever follow
                alike = [d for d in asked if d.name == drawn.name]
                for _ in range(200 if alike else 0):
                    if (drawn.unit, drawn.protected, drawn.name) == (alike[0].unit, alike[0].protected, alike[0].name):
                        break
                    drawn = draw(dice, (drawn.name,))
            if drawn.query == AVERAGE and drawn.rows is None:
                continue  # two measurements; their sum is what the other tests are about
            asked.append(drawn)
            world.ask(drawn, patch)
            if dice.random() < 0.3:
                world.ask(drawn, patch)
        world.check()
    assert verify(world.ledger.path).ok
    return world.count


@pytest.mark.parametrize("seed", range(cases(7)))
def test_what_was_promised_holds_for_all_releases_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    played(tmp_path, seed, monkeypatch)


def test_the_sequences_do_release_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    for seed in range(16, 19):
        (tmp_path / str(seed)).mkdir()
        counts.append(played(tmp_path / str(seed), seed, monkeypatch))
    assert sum(counts) >= 5
