"""First plans: every blank asks its question, and with the blanks filled in every one of them loads."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from guessproof import sql
from guessproof.choosing import choose
from guessproof.errors import GuessproofError, ParameterError, PlanError, PriorError
from guessproof.plan import Plan, loads_plan
from guessproof.plan.refusals import find_blanks
from guessproof.starting import TEMPLATES, Wishes, first_plan
from guessproof.starting.helpers import ATTACKERS, PRESETS, believed

OWN = [name for name, template in TEMPLATES.items() if not template.from_paper]
COMBINATIONS = [
    (template, attacker, preset)
    for template, attacker, preset in itertools.product(OWN, [None, *ATTACKERS], PRESETS)
    if (template, attacker) != ("membership", "knows you took part")  # refused: nothing is left to hide
]
ODD = ["time", "my time", 'say "hi"', "it's", "group", "within", "a.b", "größe", "x]\u2028#", "1st", "a\\b", "#", "'\""]


def filled(text: str) -> str:
    """The same text as an owner would answer it."""
    for line, key, _ in reversed(find_blanks(text)):
        rows = text.split("\n")
        assert line is not None
        rows[line - 1] = rows[line - 1].replace('"?"', _answer(key, text), 1)
        text = "\n".join(rows)
    return text


def _answer(key: str, text: str) -> str:
    if key.endswith("goal"):
        return next(row for row in text.split("\n") if "Fill in, as: " in row).split("as: ")[1]
    if key.endswith("sql"):
        return next(row for row in text.split("\n") if "the question, as: " in row).split("as: ")[1]
    if key.endswith("prior"):
        labels = "categorical" in text
        return "{ categorical = { yes = 0.1, no = 0.9 } }" if labels else "{ normal = { mean = 20, sd = 6 } }"
    answers = {"bounds": "[0, 120]", "levels": '["yes", "no"]', "rows": "120", "p": "0.05", "q": "0.5"}
    return next((answer for name, answer in answers.items() if key.endswith(f".{name}")), "20")


def load(text: str) -> Plan:
    return loads_plan(filled(text))


@pytest.mark.parametrize(("template", "attacker", "preset"), COMBINATIONS)
def test_every_combination_loads_once_its_blanks_are_filled(template: str, attacker: str | None, preset: str) -> None:
    text = first_plan(Wishes(template, attacker=attacker, preset=preset))
    with pytest.raises(PlanError, match="is blank"):
        loads_plan(text)
    plan = load(text)
    if plan.attacker is not None:
        assert plan.limits.advantage == PRESETS[preset].advantage
    else:
        assert plan.risk is not None
        assert 0 < plan.risk.epsilon() < 10
    name = attacker or TEMPLATES[template].attacker
    assert f"“{name}”" in text


@pytest.mark.parametrize("attacker", [None, *ATTACKERS])
@pytest.mark.parametrize("template", ["average", "count", "survey", "membership"])
def test_several_rows_of_a_person_are_protected_together(template: str, attacker: str | None) -> None:
    wishes = Wishes(template, ("days",), attacker, person="patient id")
    if (template, attacker) == ("membership", "knows you took part"):
        return
    plan = load(first_plan(wishes))
    assert (plan.data.protects, plan.data.person, plan.data.max_rows) == ("persons", "patient id", 20)
    assert plan.risk is not None
    assert plan.attacker is None
    assert choose(plan).feasible
    assert ("AVG(" if template == "average" else 'COUNT(DISTINCT "patient id")') in plan.asked


def test_presets_rise_from_cautious_to_open() -> None:
    for template in ("survey", "membership"):
        found = [load(first_plan(Wishes(template, preset=p))).risk for p in ("cautious", "middle", "open")]
        epsilons = [profile.epsilon() for profile in found if profile is not None]
        assert len(epsilons) == 3
        assert epsilons == sorted(set(epsilons))
    assert [p.advantage for p in PRESETS.values()] == [0.02, 0.05, 0.1]


@pytest.mark.parametrize(
    ("template", "epsilons"), [("covid-count", (0.51, 1.30, 2.04)), ("covid-survey", (1.09, 1.21, 2.10))]
)
def test_the_paper_s_examples_give_the_paper_s_figures(template: str, epsilons: tuple[float, ...]) -> None:
    for preset, epsilon in zip(("cautious", "middle", "open"), epsilons, strict=True):
        text = first_plan(Wishes(template, preset=preset))
        assert not find_blanks(text)
        plan = loads_plan(text)
        assert plan.risk is not None
        assert round(plan.risk.epsilon(), 2) == epsilon
        assert plan.release.mechanism == "geometric"
        assert plan.data.protects == "records"
        for shown in epsilons:
            assert f"{shown:.2f}" in text


@pytest.mark.parametrize(("template", "column"), [*itertools.product(OWN, ODD)])
def test_odd_names_stay_names(template: str, column: str) -> None:
    """No name can end a comment, a text or a table."""
    columns = (column,) if len(TEMPLATES[template].kinds) == 1 else (column, "other")
    wishes = Wishes(template, columns, attacker="stranger")
    if not column.isprintable():
        with pytest.raises(ParameterError, match="rename"):
            first_plan(wishes)
        return
    plan = load(first_plan(wishes))
    assert list(plan.columns) == list(columns)
    if plan.attacker is not None:
        assert [a.name for a in plan.goal().attributes] == list(columns)


SMUGGLING = {"time": "number", "x\n[risk]\nconstant = 9\n#": "text", "bell\x07": "text"}


@pytest.mark.parametrize(
    "name", ["x\n[release]\nepsilon = 1e9\n#.csv", 'a"b.csv', "a\\b.csv", "tab\t.csv", ".csv", "'.csv"]
)
def test_odd_file_names_stay_names(name: str) -> None:
    text = first_plan(Wishes("average"), table=name, schema=SMUGGLING)
    text = filled(text)
    try:
        plan = loads_plan(text)
    except PlanError as error:
        assert "printed" in str(error)  # noqa: PT017 - either way nothing was smuggled in
        return
    assert plan.data.source == name
    assert plan.release.epsilon is None
    assert plan.risk is None


def test_the_question_asked_matches_the_query(tmp_path: Path) -> None:
    """The written queries are ones that the query reader accepts."""
    for template, column in itertools.product(TEMPLATES, ("time", 'say "hi"', "group")):
        own = template in OWN
        columns = ((column, "other")[: len(TEMPLATES[template].kinds)]) if own else ()
        plan = load(first_plan(Wishes(template, columns)))
        declared = {
            name: sql.DeclaredColumn(name, c.bounds, c.levels, plan.kind(name), c.missing, not c.public)
            for name, c in plan.columns.items()
        }
        table: Any = sql.DeclaredTable(plan.data.table, declared, plan.unit, plan.data.rows)
        assert sql.analyze(plan.query.sql, table).outputs, template


SCHEMA = {"name": "text", "age": "number", "height": "number", "smoker": "boolean", "day": "time"}


@pytest.mark.parametrize(
    ("wishes", "schema", "columns"),
    [
        (Wishes("average"), SCHEMA, ("age",)),
        (Wishes("location"), SCHEMA, ("age", "height")),
        (Wishes("average", ("height",)), SCHEMA, ("height",)),
        (Wishes("average", ("HEIGHT",)), SCHEMA, ("height",)),
        (Wishes("average"), {"only": "text"}, ("only",)),
        (Wishes("average"), {"id": "number", "patient_id": "number", "staffId": "number", "days": "number"}, ("days",)),
        (Wishes("average"), {"id": "number", "name": "text"}, ("id",)),
        (Wishes("average"), {"faculty": "text", "time": "text"}, ("time",)),
        (Wishes("count"), {"age": "number", "sex": "text"}, ("sex",)),
        (Wishes(None, ("smoker",)), SCHEMA, ("smoker",)),
        (Wishes(None, ("name",)), SCHEMA, ("name",)),
        (Wishes(None, ("age",)), {"age": "text", "name": "text"}, ("age",)),
    ],
)
def test_which_column_is_asked_about(wishes: Wishes, schema: dict[str, str], columns: tuple[str, ...]) -> None:
    text = first_plan(wishes, table="people.parquet", schema=schema)
    assert tuple(load(text).columns) == columns
    for other in set(schema) - set(columns):
        assert other in text.split("[data]")[0]


def test_labels_are_counted_and_numbers_averaged_where_nothing_is_said() -> None:
    assert "COUNT" in first_plan(Wishes(None, ("smoker",)), table="p.parquet", schema=SCHEMA)
    assert "COUNT" in first_plan(Wishes(None, ("name",)), table="p.parquet", schema=SCHEMA)
    assert "AVG" in first_plan(Wishes(None, ("age",)), table="p.parquet", schema=SCHEMA)
    assert "AVG" in first_plan(Wishes(None, ("age",)), table="p.csv", schema={"age": "text", "name": "text"})


@pytest.mark.parametrize(
    ("wishes", "schema", "words"),
    [
        (Wishes("avrage"), None, "did you mean average?"),
        (Wishes(attacker="nobody"), None, "choose from knows everyone else"),
        (Wishes(attacker="knows"), None, "did you mean|choose from"),
        (Wishes(preset="opn"), None, "did you mean open?"),
        (Wishes("average", ("agee",)), SCHEMA, "did you mean age?"),
        (Wishes("average", ("age", "height")), SCHEMA, "about 1 column"),
        (Wishes("location", ("age",)), SCHEMA, "about 2 columns"),
        (Wishes("location"), {"a": "number"}, "fewer than 2"),
        (Wishes("average", ("",)), None, "rename"),
        (Wishes("average", (" a",)), None, "rename"),
        (Wishes("membership", attacker="knows you took part"), None, "nothing to hide"),
        (Wishes("survey", prior="no idea"), None, "leave it out"),
        (Wishes("count", prior="no idea"), None, "shares"),
        (Wishes("location", prior="no idea"), None, "likely to be"),
        (Wishes("average", prior="half"), None, "half between 10 and 30"),
        (Wishes("covid-count", attacker="stranger"), None, "attacker of its paper"),
        (Wishes("covid-survey", ("x",)), None, "columns of its paper"),
    ],
)
def test_wishes_that_cannot_be_met(wishes: Wishes, schema: dict[str, str] | None, words: str) -> None:
    with pytest.raises(GuessproofError, match=words.replace("?", r"\?")):
        first_plan(wishes, schema=schema, table=None if schema is None else "people.parquet")


def test_half_of_people_is_the_middle_half_of_the_prior() -> None:
    for text, low, high in [
        ("half between 10 and 30", 10, 30),
        ("Half of people lie between -5 and 2.5", -5, 2.5),
        ("half of them are between 1e3 and 2e3", 1000, 2000),
    ]:
        plan = load(first_plan(Wishes("average", prior=text)))
        prior = plan.attributes()["time"].prior
        assert float(prior.mass(low, high)) == pytest.approx(0.5, abs=1e-5)
        assert float(prior.quantile(0.5)) == pytest.approx((low + high) / 2)
    assert load(first_plan(Wishes("average", prior="no idea"))).columns["time"].prior is not None
    assert believed(" No  Idea ").toml == '"unknown"'


@pytest.mark.parametrize(
    "text", ["half", "half between a and b", "half between 30 and 10", "half between 1 and inf", "a lot"]
)
def test_beliefs_that_are_not_understood(text: str) -> None:
    with pytest.raises(PriorError, match="half between 10 and 30"):
        believed(text)


def test_the_source_is_named_from_the_plan_s_folder(tmp_path: Path) -> None:
    def source(table: str, plan: str) -> str:
        return load(first_plan(Wishes(), table=table, schema={"time": "number"}, plan=Path(plan))).data.source

    assert source("data/t.csv", "plan.toml") == "data/t.csv"
    assert source("data/t.csv", "plans/plan.toml") == "../data/t.csv"
    assert source("data/t.csv", "data/plan.toml") == "t.csv"
    assert source(str(tmp_path / "t.csv"), "plans/plan.toml") == str(tmp_path / "t.csv")


def test_a_column_of_dates_is_asked_for_in_dates() -> None:
    text = first_plan(Wishes(template="average", columns=("born",)), schema={"born": "time", "x": "number"})
    rows = text.split("\n")
    bounds = next(row for row in rows if "bounds" not in row and "As: [" in row).split("As: ")[1]
    prior = next(row for row in rows if "As: { uniform" in row).split("As: ")[1]
    plan: dict[str, str] = {"bounds": bounds, "prior": prior.split("}, {")[0] + "}", "rows": "500"}
    plan["goal"] = next(row for row in rows if "as: " in row and "within" in row).split("as: ")[1]
    for key, answer in plan.items():
        text = text.replace(f'{key} = "?"', f"{key} = {answer}")
    (attribute,) = loads_plan(text).attributes().values()
    assert attribute.prior.support == (-18263.0, 20453.0)  # 1920-01-01 … 2025-12-31, in days since 1970
    assert "30 days" in plan["goal"]
