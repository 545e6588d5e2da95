"""What an attacker believes: every prior of a plan is the library's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

import guessproof as gp
from guessproof.calculate import Limits, calculate
from guessproof.errors import GoalError, PlanError, PriorError
from guessproof.plan import load_plan, loads_plan
from guessproof.world.attributes import joint_of
from guessproof.world.pieces import pieces_of
from plan.texts import GOOD


def test_every_prior_is_the_library_s_own() -> None:
    found = {name: attribute.prior for name, attribute in load_plan(GOOD / "every_prior.toml").attributes().items()}
    assert found.pop("i").joint == found.pop("j").joint == gp.joint_sample(("i", "j"), [(1, "x"), (1, "x"), (2, "y")])
    assert found == {
        "a": gp.uniform(0, 10),
        "b": gp.exponential(2),
        "c": gp.laplace(0, 1.5),
        "d": gp.histogram([0, 1, 2], [0.25, 0.75]),
        "e": gp.empirical([1, 2, 2, 3]),
        "f": gp.unknown(0, 1),
        "g": gp.unknown(-1, 1),
        "h": gp.partly_known(1, 0.5, 0, 9),
        "with space": gp.categorical({"New York": 0.5, "it's": 0.5}),
    }


def test_joint_priors_are_shared_by_their_attributes() -> None:
    plan = load_plan(GOOD / "cats.toml")
    sex, colour = (plan.attributes()[name] for name in ("sex", "colour"))
    assert joint_of(sex) is joint_of(colour) is not None
    assert sex.prior.weights == (0.5, 0.5)
    ships = load_plan(GOOD / "ships.toml").attributes()
    assert joint_of(ships["lon"]) == joint_of(ships["lat"]) is not None
    assert ships["lat"].bounds == (-100, 100)


@pytest.mark.parametrize(
    ("bounds", "written", "in_numbers"),
    [
        ("[0, 60]", '"half between 10 and 30"', "{ normal = { mean = 20, sd = 14.82602218505602 } }"),
        (
            "[0, 60]",
            '{ truncated = { prior = "half between 10 and 30", low = 0 } }',
            "{ truncated = { prior = { normal = { mean = 20, sd = 14.82602218505602 } }, low = 0 } }",
        ),
        (
            "[0, 60]",
            '{ mixture = [{ weight = 0.5, prior = "Half of people lie between 10 and 30" }, UNIFORM] }',
            "{ mixture = [{ weight = 0.5, prior = { normal = { mean = 20, sd = 14.82602218505602 } } }, UNIFORM] }",
        ),
        (
            "[1920-01-01, 2020-01-01]",
            '"half between 1970-01-11 and 1970-01-31"',
            '{ normal = { mean = 1970-01-21, sd = "14.82602218505602 days" } }',
        ),
    ],
)
def test_half_between_two_numbers_wherever_a_prior_can_be_written(bounds: str, written: str, in_numbers: str) -> None:
    spoken, spelled = (loads_plan(_with_prior(bounds, prior)) for prior in (written, in_numbers))
    assert spoken.attributes()["x"].prior == spelled.attributes()["x"].prior
    with pytest.raises(PlanError, match="half between 10 and 30"):
        loads_plan(_with_prior(bounds, written.replace(" and ", " and x")))


def _with_prior(bounds: str, prior: str) -> str:
    prior = prior.replace("UNIFORM", "{ weight = 0.5, prior = { uniform = { low = 0, high = 60 } } }")
    return (
        '[data]\nname = "x"\nsource = "x.csv"\nprotects = "values"\n[query]\nsql = "SELECT COUNT(*) AS n FROM t"\n'
        f'[columns.x]\nbounds = {bounds}\nprior = {prior}\n[attacker]\ngoal = "x within 2"\nadvantage = 0.1\n'
    )


def test_whole_numbers_are_counts_of_people() -> None:
    assert gp.histogram([0, 1, 2], [3, 1]) == gp.histogram([0, 1, 2], [0.75, 0.25])
    assert gp.categorical({"a": 3, "b": 1}) == gp.categorical({"a": 0.75, "b": 0.25})
    text = TABLE.replace('prior = "unknown"', "prior = { categorical = { black = 1, white = 2, brown = 1 } }")
    plan = loads_plan(text.replace("GOAL", "colour exactly").replace("SQL", "COUNT(*) AS n"))
    assert plan.attributes()["colour"].prior.weights == (0.25, 0.5, 0.25)


TABLE = """
[data]
name = "staff"
source = "staff.csv"
table = "t"
protects = "values"

[columns.time]
bounds = [0, 120]
prior = { partly_known = { radius = 5, probability = 0.6 } }

[columns.colour]
levels = ["black", "white", "brown"]
prior = "unknown"

[attacker]
goal = "GOAL"
advantage = 0.1

[query]
sql = "SELECT SQL FROM t"
"""


@pytest.mark.parametrize(("radius", "at"), [(5, None), (2, None), (2, 17), (9, 117)])
def test_a_partly_known_prior_gives_a_plan_the_epsilon_of_the_attack(radius: int, at: int | None) -> None:
    stated = "" if at is None else f"\nat = {{ time = {at} }}"
    plan = loads_plan(TABLE.replace('"GOAL"', f'"time within {radius}"{stated}').replace("SQL", "SUM(time) AS s"))
    time = gp.Attribute("time", prior=gp.partly_known(5, 0.6, 0, 120), bounds=(0, 120))
    attack = gp.Attack(gp.within(time, radius), at=None if at is None else {"time": at})
    alone = attack.epsilon(advantage=0.1)
    choice = gp.choose(plan)
    assert choice.epsilon == pytest.approx(alone * 120, rel=1e-9)
    assert choice.posterior is None
    limits = Limits(advantage=0.1)
    calculation = calculate(attack, limits)
    assert (calculation.epsilon, calculation.belief) == (alone, None)


@pytest.mark.parametrize("goal", ["colour exactly", "colour among black, brown"])
@pytest.mark.parametrize("at", ["", 'at = { colour = "brown" }'])
def test_an_unknown_prior_of_labels_is_judged_by_the_distance_of_its_labels(goal: str, at: str) -> None:
    text = TABLE.replace("GOAL", goal).replace("advantage", f"{at if 'exactly' in goal else ''}\nadvantage")
    plan = loads_plan(text.replace("SQL", "COUNT(*) AS n").replace("FROM t", "FROM t WHERE colour = 'black'"))
    assert gp.choose(plan).epsilon == pytest.approx(4 * math.atanh(0.1), rel=1e-9)  # 0.40134
    colour = gp.Attribute("colour", prior=gp.unknown(values=("black", "white", "brown")))
    assert plan.attributes()["colour"].prior == colour.prior
    assert gp.Attack(gp.exactly(colour)).epsilon(advantage=0.1) == pytest.approx(4 * math.atanh(0.1), rel=1e-11)


def test_an_unknown_prior_of_labels_counts_only_distances_from_right_to_wrong_guesses() -> None:
    apart = gp.Matrix(("a", "b", "c"), [[0, 1, 3], [1, 0, 2], [3, 2, 0]])
    colour = gp.Attribute("colour", prior=gp.unknown(values=("a", "b", "c")), metric=apart)
    goals = [
        (gp.exactly(colour), None, 3),
        (gp.exactly(colour), {"colour": "b"}, 2),
        (gp.among(colour, ["a", "b"]), None, 3),
    ]
    for goal, at, reach in [*goals, (gp.among(colour, ["b"]), None, 2)]:
        assert float(gp.Attack(goal, at).advantage(0.5).bound) == pytest.approx(math.tanh(0.5 * reach / 4), rel=1e-12)
    with pytest.raises(GoalError, match="names every value"):
        gp.Attack(gp.among(colour, list("abc"))).advantage(0.5)
    with pytest.raises(PriorError, match="give their range"):
        gp.unknown(values=(0, 1))


@pytest.mark.parametrize("peak", [0.134364, 0.255069, 0.472246, 0.9])
def test_a_density_with_a_kink_comes_from_scipy(peak: float) -> None:
    frozen = scipy.stats.triang(peak, 2, 10)
    pieces, top = pieces_of(gp.from_scipy(frozen)), 2 + 10 * peak
    sides = [np.linspace(2, top, 100_001), np.linspace(top, 12, 100_001)]
    tilted = sum(float(np.trapezoid(np.exp(0.3 * (x - top)) * frozen.pdf(x), x)) for x in sides)
    shift = 0.3 * (pieces.left - top)
    low, high = (float(np.sum(np.exp(side + shift))) for side in pieces.end_tilt(0.3))
    assert low * (1 - 1e-8) <= tilted <= high * (1 + 1e-8)
    assert high == pytest.approx(low, rel=1e-5)
    assert gp.from_scipy(scipy.stats.trapezoid(0.2, 0.8)).mass(0, 1) == pytest.approx(1)
