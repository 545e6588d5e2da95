"""A whole plan as a value: written as the text that a user would write, and as the world that the text speaks of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from road.query import Column, Item, Row, Test

State = tuple[dict[str, Any], float]


@dataclass(frozen=True)
class Goal:
    """Which guesses are correct, given the truth; an OR has alternatives."""

    text: str
    met: Callable[[Row, Row], bool]
    columns: tuple[str, ...]
    moving: tuple[str, ...]  # columns whose true value it depends on
    alternatives: tuple[Goal, ...] = ()
    radii: tuple[float, ...] = ()  # of every "within"


@dataclass(frozen=True)
class Attacker:
    """What the plan says of him."""

    goal: Goal
    advantage: float | None = None
    posterior: float | None = None
    both: bool = False
    or_: str = "any"
    at: Mapping[str, Any] | None = None
    knows: Mapping[str, list[Any]] | None = None

    def allows(self, row: Row) -> bool:
        return all(_known(row[name], known) for name, known in (self.knows or {}).items())

    @property
    def goals(self) -> tuple[Goal, ...]:
        """What is judged: the goal, or with "each" every alternative on its own."""
        return self.goal.alternatives if self.or_ == "each" and self.goal.alternatives else (self.goal,)


@dataclass(frozen=True)
class Joint:
    """Columns that depend on each other."""

    columns: tuple[Column, ...]
    weights: Mapping[tuple[Any, ...], int]


@dataclass(frozen=True, repr=False)
class Road:
    """A plan from the question to the noise."""

    columns: tuple[Column, ...]
    items: tuple[Item, ...]
    where: Test
    others: tuple[Mapping[str, Any], ...]  # the rest of the table
    joint: Joint | None = None
    key: Column | None = None
    key_is_public: bool = False
    protects: str = "values"
    rows: int | None = None
    attacker: Attacker | None = None
    risk: str | None = None
    targets: Mapping[str, tuple[float, float]] | None = None
    mechanism: str | None = None
    delta: float | None = None
    epsilon: float | None = None
    name: str = "road"

    def __repr__(self) -> str:
        return f"{self.text()}# the others: {self.others}"

    @property
    def sql(self) -> str:
        outputs = ", ".join(f"{item.sql} AS {item.name}" for item in self.items)
        if self.key is None:
            return f"SELECT {outputs} FROM t WHERE {self.where.sql}"
        return f"SELECT {self.key.name}, {outputs} FROM t WHERE {self.where.sql} GROUP BY {self.key.name}"

    @property
    def read(self) -> set[str]:
        """The declared columns that the query depends on."""
        names = {n for i in self.items for n in i.test.columns} | set(self.where.columns)
        names |= {c.name for i in self.items if i.term is not None for c in i.term.columns}
        tests = [i.term.sql for i in self.items if i.term is not None]
        names |= {c.name for c in self.columns for sql in tests if f"{c.name} " in sql}  # tests inside of a CASE
        return {c.name for c in self.columns if c.name in names} | ({self.key.name} if self.key else set())

    def text(self, source: str = "t.csv") -> str:
        data = {"name": self.name, "source": source, "protects": self.protects}
        lines = ["[data]", *(f"{k} = {toml(v)}" for k, v in data.items())]
        lines += [f"rows = {self.rows}"] if self.rows is not None else []
        lines += ["[query]", f"sql = {toml(self.sql)}"]
        for column in self.columns:
            lines += self._column(column)
        if self.joint is not None:
            names = ", ".join(c.name for c in self.joint.columns)
            total = sum(self.joint.weights.values())
            rows = [[*values, weight / total] for values, weight in self.joint.weights.items()]
            lines += [f'[prior."({names})"]', f"table = {toml(rows)}"]
        lines += self._attacker() + self._targets()
        lines += ["[risk]", self.risk] if self.risk else []
        release = {"mechanism": self.mechanism, "delta": self.delta, "epsilon": self.epsilon}
        lines += ["[release]", *(f"{k} = {toml(v)}" for k, v in release.items() if v is not None)]
        return "\n".join(lines) + "\n"

    def _column(self, column: Column) -> list[str]:
        lines = [f"[columns.{column.name}]"]
        if column == self.key and self.key_is_public:
            return [*lines, f"levels = {toml(list(column.values))}", "public = true"]
        lines += [f"bounds = {toml(list(column.bounds))}"] if column.bounds else []
        lines += [f"levels = {toml(list(column.values))}"] if column == self.key else []
        lines += [] if column.missing else ["missing = false"]
        if column.believed and (self.joint is None or column not in self.joint.columns):
            total = sum(column.weights)
            pairs = list(zip(column.values, column.weights, strict=True))
            if column.is_number:
                lines.append(f"prior = {{ empirical = {toml([v for v, w in pairs for _ in range(w)])} }}")
            else:
                lines.append(f"prior = {{ categorical = {toml([[v, w / total] for v, w in pairs])} }}")
        return lines

    def _attacker(self) -> list[str]:
        attacker = self.attacker
        if attacker is None:
            return []
        keys = {"goal": attacker.goal.text, "advantage": attacker.advantage, "posterior": attacker.posterior}
        keys |= {"both": attacker.both, "or": attacker.or_, "at": attacker.at, "knows": attacker.knows}
        return ["[attacker]", *(f"{k} = {toml(v)}" for k, v in keys.items() if v is not None)]

    def _targets(self) -> list[str]:
        lines: list[str] = []
        for name, (within, confidence) in (self.targets or {}).items():
            lines += [f"[accuracy.{name}]", f"within = {within!r}", f"confidence = {confidence!r}"]
        return lines

    def states(self) -> list[State]:
        """Every combination of the columns that count and of which the attacker has a belief, after what he knows."""
        assert self.attacker is not None
        wanted = self.read | set(self.attacker.goal.columns)
        tied = {c.name for c in self.joint.columns} if self.joint else set()
        wanted |= tied if tied & wanted else set()
        blocks: list[list[State]] = []
        if self.joint is not None and tied & wanted:
            names = [c.name for c in self.joint.columns]
            blocks.append([(dict(zip(names, v, strict=True)), float(w)) for v, w in self.joint.weights.items()])
        blocks += [
            [({c.name: v}, float(w)) for v, w in zip(c.values, c.weights, strict=True)]
            for c in self.columns
            if c.believed and c.name in wanted - tied
        ]
        found = [_merged(parts) for parts in itertools.product(*blocks)]
        found = [(row, weight) for row, weight in found if self.attacker.allows(row)]
        total = math.fsum(w for _, w in found)
        return [(row, weight / total) for row, weight in found]


def _merged(parts: tuple[State, ...]) -> State:
    return {k: v for row, _ in parts for k, v in row.items()}, math.prod(w for _, w in parts)


def _known(value: Any, known: list[Any]) -> bool:
    return value in known if isinstance(known[0], str) else known[0] <= value <= known[1]


def toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    return "[" + ", ".join(toml(v) for v in value) + "]" if isinstance(value, (list, tuple)) else repr(value)
