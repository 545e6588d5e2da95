"""What an audit finds without chance: storage, every form of the guarantee, many rows, two spellings, exact beliefs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from depth import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from auditing.plans import CAFETERIA, CATS, SALARIES, SHIPS, SURVEY, TWO_SUMS, chosen, fast
from guessproof.auditing import audit_choice, certain, columns
from guessproof.auditing.certain import crowd_check
from guessproof.auditing.columns import respell, stored_types
from guessproof.auditing.exact_belief import Believed, _posteriors, belief_checks, certain_beliefs
from guessproof.auditing.movement import FamilyAnswers, ask_families, storage_check, together_check
from guessproof.auditing.plan import AuditPlan, make_audit_plan
from guessproof.auditing.result import Check
from guessproof.choosing import Choice, choose
from guessproof.engines import open_engine
from guessproof.engines.duckdb import DuckDB
from guessproof.errors import EngineError
from guessproof.mechanisms.base import Grid
from guessproof.noise import Noise
from guessproof.plan import loads_plan
from guessproof.sql.measurement import Measurement
from guessproof.sql.rules.label import LabelTest
from guessproof.world.distances import LineMetric, Multiple

LAPLACE_COUNT = """
[data]
name = "visits"
source = "nowhere/visits.duckdb"
protects = "records"
[query]
sql = "SELECT COUNT(*) AS n FROM t"
[release]
epsilon = {epsilon}
mechanism = "laplace"
"""
GROUPS = """
[data]
name = "visits"
source = "nowhere/visits.duckdb"
protects = "records"
[query]
sql = "SELECT ward, COUNT(*) AS n, SUM(days) AS s FROM t GROUP BY ward"
[columns.ward]
levels = ["a", "b"]
[columns.days]
bounds = [0, 30]
[release]
epsilon = 1.0
"""


def quietly(_share: float, _words: str) -> None:
    return


@pytest.fixture
def plan_in_folder(tmp_path: Path) -> Callable[..., AuditPlan]:
    def make(choice: Choice | str) -> AuditPlan:
        made = chosen(choice) if isinstance(choice, str) else choice
        folder = tmp_path / f"audit_plan{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        return make_audit_plan(made, folder, np.random.default_rng(4), quietly)

    return make


def asked(audit_plan: AuditPlan, most: int = 1) -> list[FamilyAnswers]:
    rng, found = np.random.default_rng(5), []
    for number, kept in enumerate(audit_plan.storages[:most]):
        found += ask_families(
            audit_plan.factory, kept, audit_plan.choice.noises, audit_plan.protected, rng, f"asked{number}"
        )
    return found


def moved(audit_plan: AuditPlan, most: int = 1) -> Check:
    return storage_check(audit_plan.choice, asked(audit_plan, most))


def with_guarantee(choice: Choice, change: Callable[[Measurement], Measurement]) -> Choice:
    noises = tuple(replace(n, measurement=change(n.measurement)) for n in choice.noises)
    question = replace(choice.question, measurements=tuple(n.measurement for n in noises))
    return replace(choice, noises=noises, asked=question)


# Every form of the guarantee, for each column.


@pytest.mark.parametrize("text", [CAFETERIA, CATS, SALARIES, SHIPS, SURVEY, TWO_SUMS, GROUPS])
def test_what_is_right_reaches_its_guarantee_and_no_more(text: str, plan_in_folder: Any) -> None:
    found = moved(plan_in_folder(text))
    assert found.verdict == "pass", found.words
    assert found.measured == pytest.approx(1.0, abs=1e-6)


def test_who_leaves_a_group_for_another_moves_both(plan_in_folder: Any) -> None:
    audit_plan = plan_in_folder(GROUPS)
    furthest = max(float(a.moved[one, other, 0]) for a in asked(audit_plan) for one, other in a.pairs)
    assert furthest == 2.0


def _less(form: str, column: str) -> Callable[[Measurement], Measurement]:
    """The guarantee with one form of it a tenth too small."""

    def change(m: Measurement) -> Measurement:
        g = m.guarantee
        if form == "columns" and column in g.columns:
            return replace(m, guarantee=replace(g, columns={**g.columns, column: Multiple(0.9, g.columns[column])}))
        if form == "lines" and column in g.lines:
            less = LineMetric(g.lines[column].form.times(0.9))
            return replace(m, guarantee=replace(g, lines={**g.lines, column: less}))
        if form == "slope" and g.slope:
            return replace(m, guarantee=replace(g, slope=0.9 * g.slope))
        return (
            replace(m, guarantee=replace(g, **{form: 0.9 * getattr(g, form)})) if form in ("change", "presence") else m
        )

    return change


@pytest.mark.parametrize(
    ("text", "form", "column", "said"),
    [
        (SALARIES, "columns", "salary", "column by column"),
        (SALARIES, "lines", "salary", "on the line"),
        (SALARIES, "slope", "salary", "straight-line"),
        (SALARIES, "change", "", "any change"),
        (CATS, "columns", "colour", "column by column"),
        (CATS, "columns", "gender", "column by column"),
        (TWO_SUMS, "columns", "a", "column by column"),
        (TWO_SUMS, "columns", "b", "column by column"),
        (TWO_SUMS, "lines", "b", "on the line"),
        (SHIPS, "slope", "", "straight-line"),
        (GROUPS, "presence", "", "presence"),
    ],
)
def test_a_form_that_says_too_little_is_found(
    text: str, form: str, column: str, said: str, plan_in_folder: Any
) -> None:
    found = moved(plan_in_folder(with_guarantee(chosen(text), _less(form, column))))
    assert found.verdict == "fail"
    assert said in found.words
    assert found.measured is not None
    assert found.measured > 1.05


@pytest.mark.parametrize("text", [SALARIES, CATS, GROUPS])
def test_a_record_in_several_rows_of_a_view_moves_all_of_them(text: str, plan_in_folder: Any) -> None:
    """With the guarantee of one row the same table would fail."""
    viewed = choose(loads_plan(text.replace("protects =", "copies = 3\nprotects =")))
    found = moved(plan_in_folder(viewed))
    assert found.verdict == "pass", found.words
    assert found.measured == pytest.approx(1.0, abs=1e-6)
    careless = with_guarantee(viewed, lambda m: replace(m, guarantee=chosen(text).noises[0].measurement.guarantee))
    assert moved(plan_in_folder(careless)).verdict == "fail"


def test_what_the_ledger_keeps_is_held_to_the_same(plan_in_folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guarantee that forgets a column, though every measurement is right."""
    audit_plan = plan_in_folder(TWO_SUMS)
    played = asked(audit_plan)
    whole = audit_plan.choice.guarantee
    less = replace(whole, columns={"a": whole.columns["a"]}, lines={"a": whole.lines["a"]}, slope=None)
    monkeypatch.setitem(vars(audit_plan.choice), "guarantee", less)
    found = storage_check(audit_plan.choice, played)
    assert found.verdict == "fail"
    assert "the answer when b went" in found.words


def test_a_record_that_changes_the_rows_behind_an_average_is_found(
    plan_in_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit_plan = plan_in_folder(CAFETERIA)
    played = asked(audit_plan)
    assert storage_check(audit_plan.choice, played).verdict == "pass"
    one = played[0]
    counts = one.counts.copy()
    counts[0, 1, 0] += 1
    found = storage_check(audit_plan.choice, [replace(one, counts=counts)])
    assert found.verdict == "fail"
    assert "the rows behind AVG(time)" in found.words


# Storage.


def test_spellings_are_what_a_careless_reader_takes_for_the_same() -> None:
    assert respell("ab") == ["AB", "Ab", "áb", "ab ", " ab"]
    assert respell("É") == ["é", "E", "É ", " É"]
    assert respell("18-44") == ["18-44 ", " 18-44"]


def test_every_label_is_stored_in_every_way_it_can_be(plan_in_folder: Any) -> None:
    kinds = {k.split("(")[0] for s in plan_in_folder(CATS).storages for k in s.types.values()}
    assert kinds == {"VARCHAR", "VARCHAR COLLATE NOCASE", "VARCHAR COLLATE NOACCENT", "ENUM"}
    flagged = CATS.replace("{ M = 0.5, F = 0.5 }", "{ true = 0.5, false = 0.5 }").replace(
        "gender = 'F'", "gender = 'true'"
    )
    flagged = flagged.replace('gender = "F"', 'gender = "true"')
    assert any(s.types["gender"] == "BOOLEAN" for s in plan_in_folder(choose(loads_plan(flagged))).storages)
    assert {s.types["salary"] for s in plan_in_folder(SALARIES).storages} == {*columns.NUMBERS}


def _source(folder: Path, declared: str, form: str = "duckdb") -> Path:
    """A table of these types with rows that nobody may read."""
    path = folder / f"cats.{form}"
    with duckdb.connect(str(path) if form == "duckdb" else ":memory:") as con:
        con.execute(f"CREATE TABLE cats ({declared})")
        con.execute("INSERT INTO cats SELECT 'canary', 'canary' FROM range(3000)")
        if form == "parquet":
            con.execute(f"COPY cats TO '{path}' (FORMAT parquet)")
    return path


def cats_at(path: Path) -> Choice:
    return choose(loads_plan(CATS.replace("nowhere/cats.parquet", path.name), folder=path.parent))


def test_the_sources_own_types_are_played_on(tmp_path: Path, plan_in_folder: Any) -> None:
    source = _source(tmp_path, "colour VARCHAR COLLATE NOCASE, gender VARCHAR COLLATE NOACCENT.NOCASE")
    (audit_plan,) = [plan_in_folder(cats_at(source))]
    (only,) = audit_plan.storages
    assert only.is_sources
    assert {n: k.upper() for n, k in only.types.items()} == {
        "colour": "VARCHAR COLLATE NOCASE",
        "gender": "VARCHAR COLLATE NOACCENT.NOCASE",
    }
    assert audit_plan.factory.types == only.types
    with open_engine(str(next((tmp_path).glob("audit_plan*/case0.duckdb"))), "cats") as made:
        assert {n: made.stored()[n] for n in only.types} == dict(only.types)


def test_a_list_of_labels_is_never_read_from_the_source(tmp_path: Path, plan_in_folder: Any) -> None:
    source = _source(tmp_path, "colour ENUM('canary', 'tabby'), gender VARCHAR")
    found = stored_types(cats_at(source).plan)
    assert found == {"colour": "ENUM", "gender": "VARCHAR"}
    (only,) = plan_in_folder(cats_at(source)).storages
    assert "canary" not in repr(only)
    assert "'tabby'" in only.types["colour"]


@pytest.mark.parametrize("form", ["duckdb", "parquet"])
def test_the_types_are_read_and_no_value(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way to the rows is closed for the source; a Parquet file has none that can be read at all."""
    source = _source(tmp_path, "colour VARCHAR, gender VARCHAR", form)
    choice = cats_at(source)
    if form == "parquet":
        content = bytearray(source.read_bytes())
        footer = int.from_bytes(content[-8:-4], "little") + 8
        content[4 : len(content) - footer] = bytes(len(content) - footer - 4)
        source.write_bytes(content)
    opened: list[Any] = []
    real = DuckDB.__init__

    def watched(self: DuckDB, found: Any, *rest: Any, **named: Any) -> None:
        real(self, found, *rest, **named)
        if found.paths[0] == source:
            opened.append(self)

    def refused(name: str) -> Any:
        inner = getattr(DuckDB, name)

        def method(self: DuckDB, *rest: Any, **named: Any) -> Any:
            assert self not in opened, name
            return inner(self, *rest, **named)

        return method

    monkeypatch.setattr(DuckDB, "__init__", watched)
    for name in ("check", "aggregates", "batches", "prepare"):
        monkeypatch.setattr(DuckDB, name, refused(name))
    monkeypatch.setattr(Noise, "draw", fast(3))
    found = audit_choice(choice, trials=2000, seconds=1e5, seed=1, false_alarm=1e-7)
    assert len(opened) == 1
    assert "canary" not in repr(found)
    assert found.passed, found.failures


def test_a_source_without_types_is_not_opened(tmp_path: Path) -> None:
    plan = loads_plan(CATS.replace("nowhere/cats.parquet", "cats.csv"), folder=tmp_path)
    (tmp_path / "cats.csv").mkdir()
    assert stored_types(plan) is None


# Faults of the query's writer and of the engine.


def test_a_comparison_that_ignores_capitals_is_found(plan_in_folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    audit_plan = plan_in_folder(CATS)
    assert moved(audit_plan).verdict == "pass"
    honest = LabelTest.write

    def careless(self: LabelTest, *rest: Any) -> Any:
        from sqlglot import exp

        return honest(self, *rest).transform(
            lambda node: exp.Lower(this=node) if isinstance(node, (exp.Column, exp.Literal)) else node
        )

    monkeypatch.setattr(LabelTest, "write", careless)
    monkeypatch.setattr(LabelTest, "keeps", careless)
    found = moved(plan_in_folder(CATS))
    assert found.verdict == "fail"
    assert "went from" in found.words


def test_noise_on_a_count_of_many_rows_is_looked_at(plan_in_folder: Any) -> None:
    """As many rows as leave 64 bits where that can be built: at ε = 1 the grid of a Laplace count has 2^40 steps."""
    choice = chosen(LAPLACE_COUNT.format(epsilon=1.0))
    assert certain.size_of(choice.noises) == 2**23 + 1
    assert certain.size_of(chosen(LAPLACE_COUNT.format(epsilon=1000.0)).noises) == certain.FEW
    fine = replace(choice.noises[0], grid=Grid(-20))
    assert certain.size_of((fine,)) == certain.FEW
    audit_plan = plan_in_folder(choice)
    cases = [attack.case for attack in audit_plan.attacks]
    assert crowd_check(choice.noises, cases, audit_plan.factory).verdict == "pass"


@pytest.mark.parametrize("text", [LAPLACE_COUNT.format(epsilon=1000.0), SALARIES, CAFETERIA, SHIPS, GROUPS])
def test_many_equal_rows_add_up(text: str, plan_in_folder: Any) -> None:
    audit_plan = plan_in_folder(text)
    found = crowd_check(audit_plan.choice.noises, [attack.case for attack in audit_plan.attacks], audit_plan.factory)
    assert found.verdict == "pass", found.words
    assert "100,000" in found.words


@pytest.mark.parametrize("off", [1, None])
def test_an_engine_that_fails_or_errs_on_many_rows_is_found(
    off: int | None, plan_in_folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit_plan = plan_in_folder(SALARIES)
    honest = DuckDB.aggregates

    def wrong(self: DuckDB, sql: str) -> Any:
        rows = honest(self, sql)
        if "crowd" not in str(self._source.paths[0]):
            return rows
        if off is None:
            raise EngineError
        return [(rows[0][0] + off, *rows[0][1:])]

    monkeypatch.setattr(DuckDB, "aggregates", wrong)
    found = crowd_check(audit_plan.choice.noises, [attack.case for attack in audit_plan.attacks], audit_plan.factory)
    assert found.verdict == "fail"
    assert ("failed" in found.words) is (off is None)


# Two spellings in one ledger.


def test_two_spellings_of_a_column_are_one(plan_in_folder: Any) -> None:
    for text in (CAFETERIA, TWO_SUMS, CATS, GROUPS):
        audit_plan = plan_in_folder(text)
        found = together_check(audit_plan.choice, certain.guarantee_of_both(audit_plan.choice), asked(audit_plan))
        assert found.verdict == "pass", found.words
        assert found.measured == pytest.approx(1.0, abs=1e-6)


def test_two_columns_made_of_one_are_found(plan_in_folder: Any) -> None:
    audit_plan = plan_in_folder(TWO_SUMS)
    once = audit_plan.choice.guarantee
    apart = replace(
        once,
        columns={**once.columns, **{n.upper(): m for n, m in once.columns.items()}},
        lines={**once.lines, **{n.upper(): m for n, m in once.lines.items()}},
        change=2 * once.change,
        slope=None if once.slope is None else 2 * once.slope,
        rounding=2 * once.rounding,
    )
    found = together_check(audit_plan.choice, apart, asked(audit_plan))
    assert found.verdict == "fail"
    assert found.measured == pytest.approx(2.0, rel=1e-6)


def test_a_respelt_plan_asks_the_same(plan_in_folder: Any) -> None:
    joint = CATS.split("[columns.colour]")[0] + (
        '[columns.colour]\nmissing = false\n[columns.gender]\nmissing = false\n[prior."(colour, gender)"]\n'
        'table = [["red", "M", 0.5], ["tabby", "F", 0.3], ["tabby", "M", 0.2]]\n'
        '[attacker]\ngoal = "colour exactly"\nadvantage = 0.1\n'
    )
    for text in (CAFETERIA, TWO_SUMS, SHIPS, joint):
        choice = choose(loads_plan(text)) if text is joint else chosen(text)
        one, both = choice.guarantee, certain.guarantee_of_both(choice)
        assert both.change == pytest.approx(2 * one.change)


# Exact beliefs.


@settings(max_examples=cases(20))
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(1, 2), st.sampled_from([0.2, 1.0, 4.0]))
def test_no_output_tells_more_than_the_best_centre(seed: int, points: int, answers: int, epsilon: float) -> None:
    """A fine grid of outputs, far beyond the centres, against the grid of centres alone."""
    rng = np.random.default_rng(seed)
    noise = replace(chosen(SALARIES).noises[0], grid=Grid(0))
    noise = replace(noise, mechanism=replace(noise.mechanism, sensitivity=1.0, epsilon=epsilon))
    units = np.array(rng.integers(-5, 6, (points, answers, 1)), dtype=object)
    weights = rng.dirichlet(np.ones(points))
    fits = rng.random(points) < 0.5
    best = _posteriors([noise] * answers, units, weights) @ fits
    line = np.linspace(-12, 12, 97)
    outputs = np.stack([g.ravel() for g in np.meshgrid(*[line] * answers)], axis=1)
    gaps = np.abs(outputs[:, None, :] - units[None, :, :, 0].astype(float)).sum(axis=2)
    joint = np.exp(-epsilon * (gaps - gaps.min(axis=1, keepdims=True))) * weights
    seen = (joint / joint.sum(axis=1, keepdims=True)) @ fits
    assert seen.max() <= best.max() + 1e-12
    assert seen.min() >= best.min() - 1e-12


def test_the_exact_belief_is_the_exact_bound(plan_in_folder: Any) -> None:
    audit_plan = plan_in_folder(CATS)
    found = certain_beliefs(
        audit_plan.choice, audit_plan.attacker, audit_plan.factory, audit_plan.storages[:1], np.random.default_rng(1)
    )
    assert found
    for check in belief_checks(audit_plan.choice, found):
        assert check.verdict == "pass"
        assert check.measured == pytest.approx(check.expected, abs=1e-6)


@pytest.mark.parametrize("name", ["posterior", "advantage"])
def test_a_belief_above_its_bound_fails_exactly(name: str, plan_in_folder: Any) -> None:
    audit_plan = plan_in_folder(CATS)
    found = certain_beliefs(
        audit_plan.choice, audit_plan.attacker, audit_plan.factory, audit_plan.storages[:1], np.random.default_rng(1)
    )
    assert found
    bracket = getattr(audit_plan.choice, name)
    low = replace(audit_plan.choice, **{name: replace(bracket, bound=bracket.bound - 1e-3, attack=0.0)})
    failed = [c.name for c in belief_checks(low, found) if c.verdict == "fail"]
    assert failed == ["exact belief" if name == "posterior" else "exact advantage"]


def test_a_belief_that_falls_counts_where_both_directions_do() -> None:
    choice = chosen(CATS)
    assert choice.advantage is not None
    limit = float(choice.advantage.bound)
    seen = [Believed(0.2 + limit / 2, 0.2, {}, ""), Believed(0.5 - 2 * limit, 0.5, {}, "")]
    both = choose(loads_plan(CATS.replace("advantage = 0.1", "advantage = 0.1\nboth = true")))
    for judged, measured, verdict in ((choice, limit / 2, "pass"), (both, 2 * limit, "fail")):
        check = next(c for c in belief_checks(judged, seen) if c.name == "exact advantage")
        assert check.measured == pytest.approx(measured)
        assert check.verdict == verdict


def test_every_output_is_looked_at_in_both_directions(plan_in_folder: Any) -> None:
    audit_plan = plan_in_folder(CATS)
    found = certain_beliefs(
        audit_plan.choice, audit_plan.attacker, audit_plan.factory, audit_plan.storages[:1], np.random.default_rng(1)
    )
    assert found
    assert max(b.after - b.before for b in found) > 0.05
    assert max(b.before - b.after for b in found) > 0.02


def test_each_alternative_is_a_goal_of_its_own(plan_in_folder: Any) -> None:
    goal = CATS.replace("colour exactly and gender exactly", "colour exactly or gender exactly")
    for or_, before in (("any", {0.625}), ("each", {0.25, 0.5})):
        audit_plan = plan_in_folder(
            choose(loads_plan(goal.replace("advantage = 0.1", f'advantage = 0.1\nor = "{or_}"')))
        )
        found = certain_beliefs(
            audit_plan.choice,
            audit_plan.attacker,
            audit_plan.factory,
            audit_plan.storages[:1],
            np.random.default_rng(1),
        )
        assert found
        assert {round(b.before, 9) for b in found} == before
        assert all(check.verdict == "pass" for check in belief_checks(audit_plan.choice, found))


def test_a_list_too_long_and_a_density_are_left_to_the_trials(plan_in_folder: Any) -> None:
    audit_plan = plan_in_folder(SALARIES)
    assert (
        certain_beliefs(
            audit_plan.choice,
            audit_plan.attacker,
            audit_plan.factory,
            audit_plan.storages[:1],
            np.random.default_rng(1),
        )
        is None
    )
