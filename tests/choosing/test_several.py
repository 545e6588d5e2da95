"""Several questions in one plan: judged as one, whatever the way in which they are written."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from choosing.plans import plan
from guessproof.choosing import Choice, Chooser, asked, choose
from guessproof.errors import PlanError, QueryError
from guessproof.exposure.gaussian import GaussianExposure
from guessproof.meaning import meaning
from guessproof.plan import Plan, loads_plan
from guessproof.plan.identity import request_of

COLUMNS = {
    "time": "bounds = [0, 120]\nprior = { normal = { mean = 20, sd = 6.28 } }\nmissing = false",
    "age": "bounds = [18, 98]\nstep = 1\nprior = { uniform = { low = 18, high = 98 } }",
    "band": 'prior = { categorical = { young = 0.25, middle = 0.25, old = 0.5 } }\nlevels = ["young", "middle", "old"]',
}
# An aggregate, and its filter: WHERE in a question of its own, FILTER in a SELECT with others.
ASKED = [
    ("SUM(time)", "age < 30"),
    ("SUM(time)", "age >= 30"),
    ("COUNT(*)", "age >= 30 AND age < 60"),
    ("COUNT(*)", "age >= 60"),
    ("COUNT(*)", "band = 'old'"),
    ("MAX(time)", ""),
    ("SUM(age - 40)", "time > 20"),
    ("COUNT(*)", "time > 20"),
]
ATTACKER = '[attacker]\ngoal = "time within 2"\nadvantage = 0.05'
FIXED = "[release]\nepsilon = 1"
VALUES = {"time": [0, 10, 20, 20.5, 60, 120], "age": [None, 18, 29, 30, 59, 60, 98], "band": [None, "young", "old"]}


def several(questions: dict[str, str], *more: str, columns: dict[str, str] = COLUMNS, **data: Any) -> Plan:
    """A plan with these tables under [queries], each given as the text of its keys."""
    text = "\n".join(f"[queries.{name}]\n{keys}" for name, keys in questions.items())
    settings = {"name": "test", "source": "nowhere.csv", "protects": "values", **data}
    head = "\n".join(f"{k} = {v!r}" if isinstance(v, str) else f"{k} = {v}" for k, v in settings.items())
    body = "\n".join(f"[columns.{name}]\n{keys}" for name, keys in columns.items())
    return loads_plan(f"[data]\n{head}\n{text}\n{body}\n" + "\n".join(more))


def apart(numbers: list[tuple[str, str]], targets: list[float | None], *more: str, **data: Any) -> Choice:
    questions: dict[str, str] = {}
    for i, ((what, where), target) in enumerate(zip(numbers, targets, strict=True)):
        questions[f"q{i}"] = f'sql = "SELECT {what} AS a FROM t{f" WHERE {where}" if where else ""}"'
        questions[f"q{i}"] += "" if target is None else f"\naccuracy = {{ within = {target} }}"
    return choose(several(questions, *more, **data))


def together(numbers: list[tuple[str, str]], targets: list[float | None], *more: str, **data: Any) -> Choice:
    outputs = [
        f"{what}{f' FILTER (WHERE {where})' if where else ''} AS a{i}" for i, (what, where) in enumerate(numbers)
    ]
    given = [f"[accuracy.a{i}]\nwithin = {target}" for i, target in enumerate(targets) if target is not None]
    return choose(plan(f"SELECT {', '.join(outputs)} FROM t", COLUMNS, *given, *more, **data))


def drawn(seed: int) -> tuple[list[tuple[str, str]], list[float | None], str, str]:
    draw = random.Random(seed)
    numbers = draw.sample(ASKED, draw.randint(2, 4))
    limit = draw.choice([FIXED, ATTACKER])
    targets = [draw.choice([None, 5.0, 40.0]) for _ in numbers]
    return numbers, targets, limit, "values" if limit == ATTACKER else draw.choice(["values", "records"])


@pytest.mark.parametrize("seed", range(1, 9))
def test_questions_are_one_select(seed: int) -> None:
    """Same ε, same noise, same guarantee, same belief as one SELECT with the same aggregates."""
    numbers, targets, limit, unit = drawn(seed)
    one, many = together(numbers, targets, limit, protects=unit), apart(numbers, targets, limit, protects=unit)
    assert many.feasible == one.feasible
    assert many.interval == pytest.approx(one.interval, rel=1e-12)
    assert many.asked.families == one.asked.families
    assert [n.scale for n in many.noises] == pytest.approx([n.scale for n in one.noises], rel=1e-12)
    if one.noises:
        assert many.exact_cost == one.exact_cost
        assert many.guarantee.change == pytest.approx(one.guarantee.change, rel=1e-12)
        assert many.guarantee.presence == pytest.approx(one.guarantee.presence, rel=1e-12)
        assert many.guarantee.slopes == pytest.approx(one.guarantee.slopes, rel=1e-12)
    if one.advantage is not None and many.advantage is not None:
        assert float(many.advantage.bound) == pytest.approx(float(one.advantage.bound), rel=1e-9)


def records() -> list[dict[str, Any]]:
    return [dict(zip(VALUES, values, strict=True)) for values in itertools.product(*VALUES.values())]


def told(choice: Choice, before: dict[str, Any] | None, after: dict[str, Any] | None) -> float:
    """By how much the log-likelihood of all answers together differs at most, worked out from the records."""
    found = 0.0
    for noise in choice.noises:
        term = noise.measurement.contribution
        values = [term.absent if record is None else float(term.at(record)) for record in (before, after)]
        found += abs(values[0] - values[1]) * noise.mechanism.epsilon / noise.mechanism.sensitivity
    return found


@pytest.mark.parametrize("unit", ["values", "records"])
@pytest.mark.parametrize("seed", range(4))
def test_no_record_tells_more_than_is_charged(seed: int, unit: str) -> None:
    draw = random.Random(seed)
    choice = apart(draw.sample(ASKED, 3), [None] * 3, FIXED, protects=unit)
    pairs = draw.sample(list(itertools.combinations(records(), 2)), 600)
    moved = max(told(choice, a, b) for a, b in pairs)
    assert moved <= choice.cost * (1 + 1e-9)
    assert moved <= choice.guarantee.change * (1 + 1e-9)
    if unit == "records":
        assert max(told(choice, a, None) for a in records()) <= (choice.epsilon_add_remove or 0.0) * (1 + 1e-9)
    for a, b in pairs:
        alone = [name for name in VALUES if a[name] != b[name]]
        if len(alone) == 1 and None not in (a[alone[0]], b[alone[0]]):
            distance = choice.guarantee.columns.get(alone[0])
            reached = 0.0 if distance is None else float(distance.distance(a[alone[0]], b[alone[0]]))
            assert told(choice, a, b) <= reached + 1e-9


# An attacker who sees all answers ------------------------------------------------------------------------------------

BANDS = {"band": COLUMNS["band"] + "\nmissing = false"}
PRIOR = {"young": 0.25, "middle": 0.25, "old": 0.5}
COUNTS = {
    "all_old": "sql = \"SELECT COUNT(*) AS n FROM t WHERE band = 'old'\"",
    "not_young": "sql = \"SELECT COUNT(*) AS n FROM t WHERE band <> 'young'\"",
    "by_band": 'sql = "SELECT band, COUNT(*) AS n FROM t GROUP BY band"',
}
GOAL = '[attacker]\ngoal = "band among young"\nadvantage = 0.1'


def answers(band: str) -> list[float]:
    """What one record adds to each number of the publication."""
    return [float(band == "old"), float(band != "young"), *(float(band == b) for b in PRIOR)]


def believed(choice: Choice) -> float:
    """The largest rise of a belief over all true values and the outputs that tell most: far out on some side."""
    scales = [choice.noises[j].mechanism.epsilon / choice.noises[j].mechanism.sensitivity for j in (0, 1, 2, 2, 2)]
    rise = 0.0
    for sides in itertools.product((-1, 1), repeat=5):
        weights = {
            band: p * math.exp(sum(s * e * x for s, e, x in zip(sides, scales, answers(band), strict=True)))
            for band, p in PRIOR.items()
        }
        rise = max(rise, weights["young"] / sum(weights.values()) - PRIOR["young"])
    return rise


def test_whoever_sees_all_answers_stays_below_the_limit() -> None:
    choice = choose(several(COUNTS, GOAL, columns=BANDS))
    rise = believed(choice)
    assert rise <= 0.1
    assert rise > 0.099  # and the limit is used: nothing is given away
    assert choice.advantage is not None
    assert rise <= float(choice.advantage.bound) * (1 + 1e-9)


def test_each_question_by_itself_would_break_it() -> None:
    """The planted mistake: every question gets the noise that it would need alone."""
    choice = choose(several(COUNTS, GOAL, columns=BANDS))
    alone = [choose(several({name: keys}, GOAL, columns=BANDS)).noises[0] for name, keys in COUNTS.items()]
    assert believed(replace(choice, noises=tuple(alone))) > 0.14


# Sharing -------------------------------------------------------------------------------------------------------------


def test_weights_share_what_has_no_target() -> None:
    questions = {
        "a": 'sql = "SELECT COUNT(*) AS n FROM t WHERE time > 20"',
        "b": 'sql = "SELECT COUNT(*) AS n FROM t WHERE time > 30"\nweight = 3',
    }
    first, second = choose(several(questions, FIXED)).noises
    assert second.mechanism.epsilon == pytest.approx(3 * first.mechanism.epsilon)
    with_target = {**questions, "a": questions["a"] + "\naccuracy = { within = 10 }"}
    choice = choose(several(with_target))
    assert choice.errors()["a.n"] == 10
    assert choice.noises[1].mechanism.epsilon == pytest.approx(3 * choice.noises[0].mechanism.epsilon)


def test_targets_that_do_not_fit_together_say_which_could_give_way() -> None:
    """Every way out that is named helps when it is written down; the one that binds is among them."""
    targets = {"all_old": 20.0, "not_young": 3.0, "by_band": 40.0}

    def made(wanted: dict[str, float], advantage: float = 0.1) -> Choice:
        questions = {n: f"{keys}\naccuracy = {{ within = {wanted[n]} }}" for n, keys in COUNTS.items()}
        return choose(several(questions, GOAL.replace("0.1", str(advantage)), columns=BANDS))

    choice = made(targets)
    assert not choice.feasible
    assert "Of the ε that is needed not_young.n takes" in choice.explanation
    helping = {change.what: float(change.then) for change in choice.changes}
    assert "accuracy of not_young.n: within" in helping
    for what, then in helping.items():
        name = what.removeprefix("accuracy of ").partition(".")[0]
        if what.startswith("attacker"):
            assert made(targets, then).feasible, what
        elif what.startswith("accuracy of every"):
            assert made({n: w * then for n, w in targets.items()}).feasible, what
        else:
            assert made({**targets, name: then}).feasible, what


def test_a_number_that_two_questions_need_is_measured_once() -> None:
    questions = {
        "mean": 'sql = "SELECT AVG(time) AS m FROM t"',
        "size": 'sql = "SELECT COUNT(time) AS n FROM t"',
        "others": 'sql = "SELECT COUNT(time) AS n FROM t WHERE age > 20"',
    }
    choice = choose(several(questions, FIXED, protects="records"))
    assert [part.places for part in choice.asked.parts] == [(0, 1), (1,), (2,)]
    assert choice.labels[1] == "mean, size: COUNT(time)"
    one = choose(plan("SELECT AVG(time) AS m, COUNT(time) AS n FROM t", COLUMNS, FIXED, protects="records"))
    assert len(one.noises) == 2


def test_the_same_number_by_other_groups_is_another() -> None:
    questions = {
        "all": 'sql = "SELECT COUNT(*) AS n FROM t"',
        "by_band": 'sql = "SELECT band, COUNT(*) AS n FROM t GROUP BY band"',
    }
    assert len(choose(several(questions, FIXED, protects="records")).noises) == 2
    asked_of = {name: keys.replace("COUNT(*)", "SUM(time)") for name, keys in questions.items()}
    public = {**COLUMNS, "band": 'levels = ["young", "middle", "old"]\npublic = true'}
    assert len(choose(several(asked_of, FIXED, columns=public)).noises) == 2


def test_columns_of_joins_exclude_nothing_elsewhere(tmp_path: Any) -> None:
    """Two questions look the same public table up by two keys: rate is another number in each."""
    (tmp_path / "wards.csv").write_text("ward,rate\na,1\nb,2\n")
    column = 'levels = ["a", "b"]\nmissing = false'
    tables = '[tables.wards]\nsource = "wards.csv"\nkey = ["ward"]\n[tables.wards.columns.rate]\nbounds = [0, 5]'
    joined = 'sql = "SELECT COUNT(*) AS n FROM t JOIN wards ON t.{} = wards.ward WHERE wards.rate {} 1.5"'
    body = "".join(f"[columns.{name}]\n{column}\n" for name in ("home", "work"))
    head = '[data]\nname = "x"\nsource = "x.csv"\nprotects = "records"\n'
    questions = f"[queries.a]\n{joined.format('home', '<')}\n[queries.b]\n{joined.format('work', '>')}\n"
    choice = choose(loads_plan(f"{head}{questions}{body}{tables}\n{FIXED}", folder=tmp_path))
    assert choice.asked.families == ()
    assert sum(n.cost[0] for n in choice.noises) == pytest.approx(1)


# What works with them ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("questions", "more", "data"),
    [
        ({"a": "SELECT AVG(time) AS m FROM t", "b": "SELECT band, COUNT(*) AS n FROM t GROUP BY band"}, [], {}),
        ({"a": "SELECT MEDIAN(age) AS m FROM t", "b": "SELECT COUNT(*) AS n FROM t"}, [], {}),
        ({"a": "SELECT COUNT(*) AS n FROM t", "b": "SELECT SUM(time) AS s FROM t"}, ["times = 12"], {}),
        (
            {"a": "SELECT COUNT(*) AS n FROM t", "b": "SELECT SUM(time) AS s FROM t"},
            [],
            {"protects": "persons", "person": "id", "max_rows": 3},
        ),
        (
            {"a": "SELECT SUM(time) AS n FROM t", "b": "SELECT SUM(age) AS s FROM t"},
            ['mechanism = "gaussian"', "delta = 1e-6"],
            {},
        ),
    ],
)
def test_every_kind_of_question_is_charged_as_a_whole(
    questions: dict[str, str], more: list[str], data: dict[str, Any]
) -> None:
    written = {name: f'sql = "{sql}"' for name, sql in questions.items()}
    release = "\n".join([FIXED, *more])
    choice = choose(several(written, release, columns=COLUMNS, **{"protects": "records", **data}))
    assert choice.feasible
    assert choice.exact_cost == sum(Fraction(n.cost[0]) for n in choice.noises)
    assert choice.cost <= 1
    assert set(choice.to_dict()["questions"]) == {"a", "b"}
    assert any("All 2 questions are answered together" in words for words in choice.assumptions)


def test_a_risk_profile_is_about_the_whole_publication() -> None:
    risk = "[risk]\nconstant = 3"
    one = choose(plan("SELECT COUNT(*) AS n FROM t", COLUMNS, risk, protects="records"))
    two = {"a": 'sql = "SELECT COUNT(*) AS n FROM t"', "b": 'sql = "SELECT SUM(time) AS s FROM t"'}
    many = choose(several(two, risk, protects="records"))
    assert many.epsilon_add_remove == pytest.approx(one.epsilon_add_remove, rel=1e-9)


def test_gaussian_noise_of_several_questions_tells_together() -> None:
    """As one SELECT: precisions add, and each number has its part of the failure."""
    gaussian = [ATTACKER + "\nfailure = 1e-6", '[release]\nmechanism = "gaussian"\ndelta = 1e-6']
    one = plan("SELECT SUM(time) AS a, SUM(time / 2) AS b FROM t", COLUMNS, *gaussian)
    apart = {"a": 'sql = "SELECT SUM(time) AS a FROM t"', "b": 'sql = "SELECT SUM(time / 2) AS b FROM t"'}
    bells: list[Any] = []
    for made in (one, several(apart, *gaussian)):
        exposure = Chooser(made, asked(made), None, False).exposure()
        assert isinstance(exposure, GaussianExposure)
        bells.append(exposure.bells(1.0))
    assert len(bells[0]) == 2
    assert bells[0] == bells[1]


def test_explain_speaks_of_all_questions() -> None:
    found = meaning(several(COUNTS, GOAL, columns=BANDS), 0.5)
    assert found.labels[0] == "all_old: COUNT(*)"
    assert set(found.errors) == {"all_old.n", "not_young.n", "by_band.n"}


# The plan ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("questions", "more", "words"),
    [
        ({"a": 'sql = "SELECT COUNT(*) FROM t"'}, '[query]\nsql = "SELECT COUNT(*) FROM t"', "stands beside"),
        ({"a": 'sql = "SELECT COUNT(*) FROM t"'}, "[accuracy]\nwithin = 3", r"write \[queries.a.accuracy\]"),
        ({'"a.b"': 'sql = "SELECT COUNT(*) FROM t"'}, "", "write a_b"),
        ({"a": 'sql = " "'}, "", "queries.a.sql: is empty"),
        ({"a": 'sql = "SELECT 1"', "A": 'sql = "SELECT 1"'}, "", "differs from a in case only"),
        ({"a": 'sql = "SELECT 1"\nrows = 3'}, "", "queries.a.rows: the number of rows is secret"),
        ({"a": 'sql = "SELECT 1"\nwieght = 3'}, "", "did you mean weight"),
        ({"a": 'sql = "SELECT 1"\n[queries.a.accuracy]\nwihtin = 3'}, "", "did you mean within"),
        ({"a": 'sql = "SELECT 1"\n[queries.a.accuracy]\nrelative = 3'}, "", "queries.a.accuracy.relative"),
    ],
)
def test_what_cannot_be_meant_is_refused(questions: dict[str, str], more: str, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        several(questions, more, protects="records")


def test_a_target_for_no_output_is_found_where_it_stands() -> None:
    questions = {"a": 'sql = "SELECT COUNT(*) AS n FROM t"\n[queries.a.accuracy.m]\nwithin = 3'}
    with pytest.raises(PlanError, match=r"line 7: queries\.a\.accuracy\.m: is not an output"):
        choose(several(questions, FIXED, protects="records"))


def test_one_column_is_one_kind_in_all_questions() -> None:
    columns = {**COLUMNS, "code": "missing = false"}
    questions = {
        "a": "sql = \"SELECT COUNT(*) AS n FROM t WHERE code = 'x'\"",
        "b": 'sql = "SELECT COUNT(*) AS n FROM t WHERE code > 3"',
    }
    with pytest.raises(QueryError, match="code is a number here, and a label in a"):
        choose(several(questions, FIXED, columns=columns, protects="records"))


OLD = """
data = { name = "test", source = "t.csv", protects = "values", rows = 120 }
query.sql = "SELECT AVG(time) AS mean FROM t"
columns.time = { bounds = [0, 120], prior = { normal = { mean = 20, sd = 6.28 } } }
attacker = { goal = "time within 2", advantage = 0.05 }
accuracy = { within = 1.5 }
"""


def test_a_plan_with_one_question_is_the_request_that_it_was() -> None:
    assert request_of(loads_plan(OLD)) == "803247aded1bd37c01072e59002ae156fc1583143dbfa345e0012905fc41f8e7"


def test_the_order_of_questions_does_not_matter_their_names_do() -> None:
    a, b = {"a": 'sql = "SELECT COUNT(*) AS n FROM t"'}, {"b": 'sql = "SELECT SUM(age) AS n FROM t"'}
    assert request_of(several({**a, **b})) == request_of(several({**b, **a}))
    assert request_of(several({**a, **b})) != request_of(several({"c": a["a"], **b}))
    assert request_of(several({**a, **b})) != request_of(several({**a, "b": b["b"] + "\nweight = 2"}))
