"""What an attacker believes: every prior of a plan is the library's own."""

from __future__ import annotations

import guessproof as gp
from guessproof.plan import load_plan
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
