"""What an attacker believes: every prior of a plan is the library's own."""

from __future__ import annotations

import pytest

import guessproof as gp
from guessproof.errors import PlanError
from guessproof.plan import load_plan, loads_plan
from guessproof.world.attributes import joint_of
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
