"""Groups that are found in the table: what neighbours can tell of each other, exactly, and the road of such a plan."""

from __future__ import annotations

import itertools
import json
import math
import random
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import commands
import pyarrow as pa
import pytest
from servers import Place
from sql.running import run

import guessproof as gp
from guessproof.choosing import Choice, choose
from guessproof.choosing import frequent as thresholds
from guessproof.errors import BudgetError, EngineError, GuessproofError, PlanError, QueryError
from guessproof.ledger import Budget, Ledger
from guessproof.mechanisms.thresholds import Reach, least_threshold, tail
from guessproof.plan import Plan, loads_plan
from guessproof.releasing import release
from guessproof.releasing.frequent import draw_frequent
from guessproof.sql import RewrittenQuery, find_target, rewrite

PERSONS: dict[str, Any] = {"protects": "persons", "person": "id", "max_rows": 3, "max_groups": 2}
STORED = {"id": "BIGINT", "town": "VARCHAR", "age": "DOUBLE", "x": "DOUBLE"}
ARROW = {"id": pa.int64(), "town": pa.string(), "age": pa.float64(), "x": pa.float64()}
Table = list[dict[str, Any]]


def text(sql: str, *more: str, epsilon: float = 1.0, delta: float = 0.01, **data: Any) -> str:
    settings = {"name": "test", "source": "t.parquet", "table": "t", "protects": "records", **data}
    head = "\n".join(f"{k} = {v!r}" if isinstance(v, str) else f"{k} = {v}" for k, v in settings.items())
    fixed = f"[release]\nepsilon = {epsilon}\ndelta = {delta}\n"
    return "\n".join((f'[data]\n{head}\n[query]\nsql = """{sql}"""\n[columns.x]\nbounds = [0, 10]\n{fixed}', *more))


def plan(sql: str, *more: str, folder: Path | str = ".", **settings: Any) -> Plan:
    return loads_plan(text(sql, *more, **settings), folder=folder)


def frame(rows: Table) -> Any:
    return pa.Table.from_pylist(rows, pa.schema(ARROW))


# Neighbours, exactly --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exact:
    """What a release shows of a table, as probabilities: each group of the table is shown, or it is not."""

    choice: Choice

    def counts(self, rows: Table) -> dict[Any, int]:
        """The groups that the engine finds, and their counts in steps of the noise's grid."""
        threshold = self.choice.threshold
        assert threshold is not None
        query = self.query
        found = map(query.read_row, run(query.sql, rows, ARROW))
        return {group: int(cells[threshold.index][0] or 0) for group, cells in found}

    @cached_property
    def query(self) -> RewrittenQuery:
        exponents = [n.grid.exponent for n in self.choice.noises]
        return rewrite(self.choice.question, exponents, find_target("duckdb", STORED))

    def beyond(self, here: dict[Any, int], there: dict[Any, int], epsilon: float) -> float:
        """The least δ with P(S | here) ≤ e^ε·P(S | there) + δ for every set S of answers: it is a sum over all.

        No count reaches the threshold, so whatever number is shown, it is e^((n − n′)/s) times as likely here.
        """
        threshold = self.choice.threshold
        assert threshold is not None
        least, scale = threshold.least, threshold.scale
        assert all(n < least for n in (*here.values(), *there.values()))
        moved = [group for group in {**here, **there} if here.get(group) != there.get(group)]
        shown = [
            [float(tail(scale, least - side[group])) if group in side else 0.0 for side in (here, there)]
            for group in moved
        ]
        total = 0.0
        for seen in itertools.product((True, False), repeat=len(moved)):
            p, q = (
                math.prod(s[side] if is_shown else 1 - s[side] for s, is_shown in zip(shown, seen, strict=True))
                for side in (0, 1)
            )
            total += max(p - math.exp(epsilon) * q, 0.0)
        return total


def all_tables(towns: tuple[str | None, ...], most: int) -> list[Table]:
    found = (itertools.combinations_with_replacement(towns, size) for size in range(most + 1))
    return [[{"town": town} for town in chosen] for chosen in itertools.chain.from_iterable(found)]


def by_records(choice: Choice) -> float:
    """By how much the worst pair of small tables exceeds δ: a record comes, goes or changes."""
    exact, worst = Exact(choice), -math.inf
    tables = [exact.counts(rows) for rows in all_tables((None, "a", "b"), 3)]
    for here, there in itertools.permutations(tables, 2):
        apart = sum(abs(here.get(g, 0) - there.get(g, 0)) for g in {**here, **there})
        sizes = sum(here.values()) - sum(there.values())
        if apart == 1 or (apart == 2 and sizes == 0):
            epsilon = choice.cost / 2 if apart == 1 else choice.cost
            worst = max(worst, exact.beyond(here, there, epsilon) - choice.delta)
    return worst


def draw_person(rng: random.Random, person: int) -> Table:
    towns = ["a", "b", "c", "d", None]
    return [{"id": person, "town": rng.choice(towns)} for _ in range(rng.choice([0, 1, 2, 2, 3, 7]))]


def by_persons(choice: Choice, cases: int = 25, seed: int = 3) -> float:
    """The same where a whole person comes, goes or changes; some of the tables hold nobody else."""
    exact, worst, rng = Exact(choice), -math.inf, random.Random(seed)
    alone = [[], [{"id": 1, "town": "a"}, {"id": 1, "town": "b"}], [{"id": 1, "town": "a"}] * 7]
    for case in range(cases):
        others = [row for person in range(2, 2 + case % 3) for row in draw_person(rng, person)]
        own = [draw_person(rng, 1), draw_person(rng, 1)] if case else [alone[0], alone[1]]
        own = [alone[0], alone[2]] if case == 1 else own
        sides = [exact.counts([*others, *rows]) for rows in own]
        part = choice.cost if all(own) else choice.epsilon_add_remove
        assert part is not None
        worst = max(worst, *(exact.beyond(a, b, part) - choice.delta for a, b in (sides, sides[::-1])))
    return worst


RECORDS = "SELECT town, COUNT(*) AS n FROM t GROUP BY town"
QUERIES = ["COUNT(DISTINCT id) AS n", "COUNT(*) AS n", "SUM(x) AS s"]


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.01), (0.3, 0.2), (4.0, 1e-3)])
def test_no_record_is_told_beyond_delta(epsilon: float, delta: float) -> None:
    choice = choose(plan(RECORDS, epsilon=epsilon, delta=delta))
    assert -1.0 < by_records(choice) <= 1e-12 * delta


@pytest.mark.parametrize("what", QUERIES)
@pytest.mark.parametrize("bounds", [{}, {"max_rows": 1, "max_groups": 3}])
def test_no_person_is_told_beyond_delta(what: str, bounds: dict[str, Any]) -> None:
    choice = choose(plan(f"SELECT town, {what} FROM t GROUP BY town", **{**PERSONS, **bounds}))
    assert by_persons(choice) <= 1e-12


def test_the_threshold_cannot_be_lower() -> None:
    """One step less, and a key that one record has is shown too often: for a record the proof has no slack."""
    choice = choose(plan(RECORDS))
    threshold = choice.threshold
    assert threshold is not None
    assert tail(threshold.scale, threshold.least - 1) <= 0.01 < tail(threshold.scale, threshold.least - 2)


def plant(monkeypatch: pytest.MonkeyPatch, mistake: str) -> None:
    true = thresholds.reach_of

    def wrong_reach(measurement: Any, step: float) -> Reach:
        found = true(measurement, step)
        if mistake == "max_groups forgotten":
            return replace(found, groups=1)
        if mistake == "rows of a person forgotten":
            return replace(found, cell=math.ceil(1 / step), whole=math.ceil(1 / step))
        return found

    monkeypatch.setattr(thresholds, "reach_of", wrong_reach)
    if mistake == "off by one":
        monkeypatch.setattr(thresholds, "least_threshold", lambda *args: least_threshold(*args) - 1)
    if mistake == "δ doubled":
        monkeypatch.setattr(thresholds, "least_threshold", lambda s, r, delta: least_threshold(s, r, 2 * delta))


@pytest.mark.parametrize("mistake", ["off by one", "δ doubled", "max_groups forgotten", "rows of a person forgotten"])
def test_planted_mistakes_are_found(monkeypatch: pytest.MonkeyPatch, mistake: str) -> None:
    plant(monkeypatch, mistake)
    if mistake in ("off by one", "δ doubled"):
        assert by_records(choose(plan(RECORDS))) > 1e-4
    else:
        asked = plan("SELECT town, COUNT(DISTINCT id) AS n FROM t GROUP BY town", **PERSONS)
        if mistake.startswith("rows"):
            bounds: dict[str, Any] = {"max_rows": 6, "max_groups": 1, "epsilon": 4.0}
            asked = plan(RECORDS, **{**PERSONS, **bounds})
        assert by_persons(choose(asked)) > 1e-4


def test_a_linked_record_counts_as_well() -> None:
    alone, linked = (choose(plan(RECORDS, linked_records=k)).threshold for k in (1, 2))
    assert alone is not None
    assert linked is not None
    assert (linked.reach.cell, linked.reach.groups) == (2, 2)
    assert tail(linked.scale, linked.least - 2) <= 0.01


def test_what_is_drawn_is_what_was_worked_out() -> None:
    """The sampler shows a group as often as its exact probability says, within six deviations."""
    choice = choose(plan(RECORDS, delta=0.2))
    threshold = choice.threshold
    assert threshold is not None
    trials, size = 20_000, threshold.least - 1
    rows = draw_frequent(choice, threshold, [((str(i),), [(size, None)]) for i in range(trials)])
    expected = float(tail(threshold.scale, 1))
    assert abs(len(rows) / trials - expected) < 6 * math.sqrt(expected * (1 - expected) / trials)
    assert min(numbers[0] for _, numbers in rows) == threshold.value


# The road -----------------------------------------------------------------------------------------------------------

MANY: Table = [
    *({"id": i, "town": "Köln", "age": 30.0, "x": 2.0} for i in range(400)),
    *({"id": 1000 + i, "town": "Aachen", "age": 4.5, "x": 3.0} for i in range(300)),
    *({"id": 2000 + i, "town": None, "age": None, "x": 4.0} for i in range(200)),
    *({"id": 3000 + i, "town": f"secret{i}", "age": 900.0 + i, "x": 10.0} for i in range(40)),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    import pyarrow.parquet as parquet

    parquet.write_table(frame(MANY), tmp_path / "t.parquet")
    Ledger.create(tmp_path / "guessproof.ledger", "test", Budget("1000", "1e-3"))
    return tmp_path


def test_the_frequent_groups_are_shown_and_nothing_of_the_others(folder: Path) -> None:
    asked = plan(
        "SELECT town, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m FROM t GROUP BY town",
        folder=folder,
        epsilon=40.0,
        delta=1e-6,
    )
    answer = release(asked)
    found = {(a.group["town"], a.name): a.value for a in answer.answers}
    assert [a.group["town"] for a in answer.answers][::3] == ["Aachen", "Köln", None]  # by name, what is missing last
    assert found["Köln", "n"] == pytest.approx(400, abs=10)
    assert found["Aachen", "s"] == pytest.approx(900, abs=60)
    assert found[None, "m"] == pytest.approx(4, abs=0.5)
    assert "secret" not in json.dumps(answer.to_dict())
    again = release(asked)
    assert again.replayed
    assert again.answers == answer.answers
    assert answer.delta == 1e-6
    assert answer.remaining["delta"] == pytest.approx(1e-3 - 1e-6, rel=1e-9)
    assert answer.to_pandas()["town"].isna().tolist() == [False, False, True]


def test_what_follows_the_noise_sees_only_what_is_shown(folder: Path) -> None:
    sql = "SELECT town, COUNT(*) AS n FROM t GROUP BY town HAVING town <> 'x' ORDER BY n LIMIT 5"
    answer = release(plan(sql, folder=folder, epsilon=40.0, delta=1e-6))
    assert [a.group["town"] for a in answer.answers] == ["Aachen", "Köln"]
    falling = "SELECT town, COUNT(*) AS n FROM t GROUP BY town ORDER BY town DESC LIMIT 2"
    answer = release(plan(falling, folder=folder, epsilon=40.0, delta=1e-6))
    assert [a.group["town"] for a in answer.answers] == [None, "Köln"]


def test_a_count_is_made_where_none_is_asked_for(folder: Path) -> None:
    choice = choose(plan("SELECT age, SUM(x) AS s FROM t GROUP BY age", folder=folder, epsilon=40.0, delta=1e-6))
    assert [m.text for m in choice.question.measurements] == ["SUM(x)", "COUNT(*)"]
    answer = release(choice.plan, choice=choice)
    assert [a.group["age"] for a in answer.answers] == ["4.5", "30", None]  # numbers by size
    persons = plan("SELECT town, SUM(x) AS s FROM t GROUP BY town", folder=folder, epsilon=40.0, delta=1e-6, **PERSONS)
    assert [m.text for m in choose(persons).question.measurements] == ["SUM(x)", "COUNT(DISTINCT id)"]


def test_persons_may_count_in_two_groups(folder: Path) -> None:
    asked = plan(
        "SELECT town, COUNT(DISTINCT id) AS n FROM t GROUP BY town", folder=folder, epsilon=40.0, delta=1e-6, **PERSONS
    )
    answer = release(asked)
    assert {a.group["town"] for a in answer.answers} == {"Aachen", "Köln", None}


def test_a_declared_key_may_stand_beside_one_that_is_found(folder: Path) -> None:
    sql = "SELECT age, town, COUNT(*) AS n FROM t GROUP BY age, town"
    levels = '[columns.town]\nlevels = ["Köln", "Bonn"]'
    answer = release(plan(sql, levels, folder=folder, epsilon=40.0, delta=1e-6))
    assert [a.group for a in answer.answers] == [{"age": "30", "town": "Köln"}]


def test_choose_says_which_groups_will_be_seen(folder: Path) -> None:
    written = text(RECORDS, delta=1e-6)
    asked = loads_plan(written, folder=folder)
    told = choose(asked).to_dict()
    assert told["delta"] == 1e-6
    assert told["groups_shown"]["threshold"] == 28
    assert told["groups_shown"]["hidden_to"] < 28 < told["groups_shown"]["shown_from"]
    (folder / "plan.toml").write_text(written, encoding="utf-8")
    shown = commands.run("choose", str(folder / "plan.toml"), "--full")
    assert shown.returncode == 0
    assert "at least 28" in " ".join(shown.output.split())
    paid = commands.run("release", str(folder / "plan.toml"))
    assert "(missing)" in paid.output
    page = folder / "report.html"
    gp.report(asked, page)
    assert "of which the frequent groups are shown" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("sql", "more", "data", "expected"),
    [
        (RECORDS, ['[attacker]\ngoal = "x within 1"\nadvantage = 0.1'], {}, "attacker"),
        (RECORDS, ["[risk]\nfixed_value = { q = 1.0, absolute = 0.25, relative = 3.0 }"], {}, "risk"),
        (RECORDS, [], {**PERSONS, "max_groups": None}, "declare max_groups"),
        ("SELECT id, COUNT(*) AS n FROM t GROUP BY id", [], PERSONS, "group of its own"),
        ("SELECT town, COUNT(*) AS n, MEDIAN(x) AS m FROM t GROUP BY town", [], {}, "MEDIAN"),
        ("SELECT MAX(n) AS m FROM (SELECT town, COUNT(*) AS n FROM t GROUP BY town)", [], {}, "not declared"),
        ("SELECT COUNT(*) AS n FROM t", [], {}, "takes no delta"),
        (RECORDS, [], {"protects": "values"}, "not declared"),
    ],
)
def test_what_cannot_be_promised_is_refused(sql: str, more: list[str], data: dict[str, Any], expected: str) -> None:
    given = {name: value for name, value in data.items() if value is not None}
    steps = "step = 1\n" if "MEDIAN" in sql else ""
    with pytest.raises((QueryError, PlanError), match=expected):
        choose(loads_plan(text(sql, *more, **given).replace("[0, 10]\n", f"[0, 10]\n{steps}")))


def test_other_noise_is_refused() -> None:
    for mechanism in ("gaussian", "cauchy"):
        with pytest.raises(GuessproofError, match="laplace or geometric"):
            choose(plan(RECORDS, f'mechanism = "{mechanism}"'))


def test_a_budget_without_delta_is_no_budget_for_it(folder: Path) -> None:
    Ledger.create(folder / "other.ledger", "test", Budget("10"))
    with pytest.raises(BudgetError, match="δ"):
        release(plan(RECORDS, folder=folder), ledger=folder / "other.ledger")


def test_a_failure_of_the_stream_says_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from guessproof.engines.duckdb import DuckDB

    def broken(self: DuckDB, sql: str, size: int = 1) -> Any:
        raise RuntimeError("secret7")

    monkeypatch.setattr(DuckDB, "batches", broken)
    with pytest.raises(EngineError) as caught:
        release(plan(RECORDS, folder=folder, delta=1e-6))
    assert str(caught.value) == str(EngineError())
    assert caught.value.__cause__ is None


def test_the_same_on_postgres(postgres: Place, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    postgres.con.execute("CREATE TABLE t (id int, town text, age float8, x numeric, born date, seen timestamp)")
    with postgres.con.cursor() as cursor:
        values = [(r["id"], r["town"], r["age"], r["x"], "1980-05-17", "2024-01-01 10:00") for r in MANY]
        cursor.executemany("INSERT INTO t VALUES (%s, %s, %s, %s, %s, %s)", values)
    monkeypatch.setenv("DATABASE_URL", postgres.url)
    expected = {
        "town": ["Aachen", "Köln", None],
        "age": ["4.5", "30", None],
        "born": ["1980-05-17"],
        "seen": ["2024-01-01 10:00:00"],
    }
    for column, groups in expected.items():
        sql = f"SELECT {column}, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY {column}"
        answer = release(plan(sql, folder=folder, epsilon=40.0, delta=1e-6, source="env:DATABASE_URL"))
        assert [a.group[column] for a in answer.answers][::2] == groups


@pytest.mark.parametrize("kind", ["us", "ns"])
def test_a_time_that_cannot_be_written_is_missing_instead_of_a_failure(folder: Path, kind: str) -> None:
    """One row whose time the engine stores and cannot print would otherwise decide whether there is an answer."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    days = pa.array([*[1_000_000] * 300, -(2**63) + 2], pa.int64()).cast(pa.timestamp(kind))
    parquet.write_table(pa.table({"town": days, "x": pa.array([1.0] * 301)}), folder / "t.parquet")
    answer = release(plan("SELECT town, COUNT(*) AS n FROM t GROUP BY town", folder=folder, epsilon=40.0, delta=1e-6))
    assert [a.value for a in answer.answers] == [pytest.approx(300, abs=10)]
