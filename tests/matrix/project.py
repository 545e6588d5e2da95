"""A folder with one of the tables, its plan and its ledger, and what every command printed there."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import commands
import duckdb

from guessproof.choosing import choose
from guessproof.engines import open_engine
from guessproof.plan import load_plan
from guessproof.releasing.answer import Answer, add_noise
from guessproof.releasing.frequent import show_frequent
from guessproof.releasing.run import prepare_queries
from matrix.tables import TABLES, Table

# What nobody should read: floating point's own words and exponents, and what nobody foresaw.
UNREADABLE = re.compile(r"\binf\b|\bnan\b|\de\+|\bunexpected\b|Traceback|RuntimeWarning", re.IGNORECASE)
UNSEEN = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
UNKNOWN_BIAS = "unknown, may exceed the stated error"
OPENING = "guessproof ledger open "
Truth = dict[tuple[str, ...], tuple[Any, ...]]  # of a quantile all values


@dataclass
class Project:
    """The commands of one table's plan; each is run once, and what it printed is kept."""

    name: str
    done: dict[tuple[str, ...], commands.Done] = field(default_factory=dict[tuple[str, ...], commands.Done])

    @property
    def table(self) -> Table:
        """The table and what is asked of it."""
        return TABLES[self.name]

    def start(self) -> None:
        """Write the table, and its plan by the command that people start with."""
        self.table.write(Path.cwd(), self.name)
        if self.table.said:
            self._keep(("init", f"{self.name}.csv", "--ask"), "\n".join(self.table.said) + "\n")
            return
        self._keep(("init", f"{self.name}.csv", *self.table.init))
        Path("plan.toml").write_text(self.table.text(self.name), encoding="utf-8")

    def open_budget(self) -> None:
        """Open the budget as `choose` advises, to the letter."""
        advised = next(line for line in self.read("choose").splitlines() if OPENING in line)
        self._keep(tuple(shlex.split(advised)[1:]))

    def read(self, *words: str) -> str:
        """What a command prints for people, on a terminal of 80 columns."""
        return self._keep(self._named(words)).output

    def document(self, *words: str) -> dict[str, Any]:
        """What a command prints for programs; it fits the published schema."""
        printed = self._keep((*self._named(words), "--json")).stdout
        found: dict[str, Any] = json.loads(printed, parse_constant=_refuse_constant)
        return found

    @property
    def refuses_scan(self) -> bool:
        """Whether the documentation says that this plan cannot be scanned."""
        plan = Path("plan.toml").read_text(encoding="utf-8")
        refused = 'mechanism = "gaussian"', 'goal = "party exactly"', 'goal = "age within 5 and smoker exactly"'
        return "[attacker]" not in plan or any(words in plan for words in refused)

    def _named(self, words: tuple[str, ...]) -> tuple[str, ...]:
        if words[0] == "ledger":
            return words
        return (words[0], "plan.toml", *words[1:])

    def _keep(self, words: tuple[str, ...], typed: str = "") -> commands.Done:
        if words not in self.done:
            done = commands.run(*words, typed=typed, COLUMNS="80")
            self.done[words] = done
            expected = 2 if words[0] == "scan" and self.refuses_scan else 0
            assert done.returncode == expected, (words, done.output)
            if "--json" not in words:
                assert_readable(done.output)
        return self.done[words]


def _refuse_constant(constant: str) -> float:
    raise AssertionError(f"{constant} is no number of JSON")


def assert_readable(text: str) -> None:
    """Fail where people would read what only a program could have meant."""
    assert [line for line in text.splitlines() if UNREADABLE.search(line)] == []


def visible(page: str) -> str:
    """The text of a page that a browser shows."""
    return UNSEEN.sub(" ", page)


def draw_answers(count: int) -> Iterator[Answer]:
    """So many answers by the release's own noise, of one choice and of what the engine found once."""
    plan = load_plan("plan.toml")
    choice = choose(plan)
    with open_engine(plan.source, plan.data.table) as engine:
        queries = prepare_queries(engine, choice)
        if choice.asked.finds_groups:
            (query,) = queries.values()
            yield from (show_frequent(engine, query, choice) for _ in range(count))
            return
        found = {name: query.run(engine.aggregates) for name, query in queries.items()}
        yield from (add_noise(choice, found) for _ in range(count))


def list_truths(project: Project, keys: int, question: str = "") -> Truth:
    """The answers without noise by the keys of their groups, as DuckDB counts them from the file."""
    truth = project.table.truth
    query = truth if isinstance(truth, str) else truth[question]
    file = f"'{project.name}.csv'"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW t AS SELECT * FROM read_csv({file}, header = true)")
        rows = connection.execute(query.replace("'t.csv'", file)).fetchall()
    return {tuple(map(str, row[:keys])): row[keys:] for row in rows}
