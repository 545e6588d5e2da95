"""The product rule against the linear program on random finite products (MATHEMATICS 2.4)."""

from __future__ import annotations

import numpy as np
import pytest

import guessproof as gp
from guessproof.errors import GuessproofError
from guessproof.risk.several.formula import Gate, GoalBlock, is_read_once, normal
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.product import product_rule
from risk.several.worlds import exact, finite_attribute, random_set

KINDS = ("line", "step", "table")


def world(seed: int):
    """Three attributes and a random read-once formula with negations."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 3)
    attributes = [finite_attribute(rng, n, int(s), KINDS[rng.integers(3)]) for n, s in zip("abc", sizes, strict=True)]
    a, b, c = (random_set(rng, x) if rng.random() < 0.6 else ~random_set(rng, x) for x in attributes)
    goal = [(a & b) | c, (a | b) & c, a & b & c, ~(a | (b & c)), a | b | c, ~(a & ~b)][seed % 6]
    return goal, float(rng.uniform(0.2, 2.5))


def scene_of(goal, norm: str) -> JointAttack:
    return JointAttack({a.name: a for a in goal.attributes}, {}, norm)


def belief(prior: float, gain: float) -> float:
    return 1 / (1 + np.exp(-(np.log(prior / (1 - prior)) + gain)))


@pytest.mark.parametrize("seed", range(18))
def test_the_rule_is_exact_for_l1_and_dominates_elsewhere(seed: int) -> None:
    goal, epsilon = world(seed)
    for norm in ("l1", "l2", "linf"):
        for side, k in (("upper", epsilon), ("lower", -epsilon)):
            prior, truth = exact(goal, norm, epsilon, side)
            attack, bound = (belief(prior, g) for g in product_rule(scene_of(goal, norm), normal(goal), k))
            if norm == "l1":
                assert attack == pytest.approx(truth, abs=3e-9)
                assert bound == pytest.approx(truth, abs=3e-9)
            sign = 1 if side == "upper" else -1
            assert sign * (bound - truth) >= -3e-9


@pytest.mark.parametrize("seed", range(12))
def test_the_public_answer_encloses_the_linear_program(seed: int) -> None:
    goal, epsilon = world(seed)
    for norm in ("l1", "l2", "linf"):
        attack = gp.Attack(goal, norm=norm)
        for side in ("upper", "lower"):
            prior, truth = exact(goal, norm, epsilon, side)
            bracket = attack.posterior(epsilon, side=side)
            assert attack.prior == pytest.approx(prior, rel=1e-12)
            assert bracket.status == "exact"
            assert bracket.bound == pytest.approx(truth, abs=1e-8)


def test_in_l1_attack_and_product_meet() -> None:
    x, y = gp.Attribute("x", gp.normal(0, 2)), gp.Attribute("y", gp.uniform(0, 5), scale=2)
    attack = gp.Attack(gp.within(x, 1) & ~gp.within(y, 1), at={"x": 0.3, "y": 2}, norm="l1")
    assert attack.posterior(0.7).status == "exact"
    assert attack.posterior(0.7, side="lower").status == "exact"


def dependent():
    """Two attributes that always agree: knowing one is knowing the other."""
    joint = gp.joint_table(("a", "b"), {("x", "x"): 0.5, ("y", "y"): 0.5})
    return joint, joint.attributes()


def test_misapplied_to_dependent_attributes_the_rule_fails() -> None:
    joint, (a, b) = dependent()
    goal, epsilon = gp.exactly(a) & gp.exactly(b), 1.0
    truth_at = {"a": "x", "b": "x"}
    _, truth = exact(goal, "linf", epsilon, "upper", truth_at, joint)
    alone = gp.Attack(gp.exactly(a), at={"a": "x"}).posterior(epsilon).bound
    assert alone**2 < truth - 0.1  # the product of what each allows is no bound here


def test_so_it_is_refused_there() -> None:
    _, (a, b) = dependent()
    joint_attack = JointAttack({"a": a, "b": b}, {"a": "x", "b": "x"}, "linf")
    tree = Gate("and", (GoalBlock(gp.exactly(a)), GoalBlock(gp.exactly(b))))
    with pytest.raises(GuessproofError, match="independent"):
        product_rule(joint_attack, tree, 1.0)
    assert isinstance(normal(gp.exactly(a) & gp.exactly(b)), GoalBlock)


def test_and_on_attributes_that_occur_twice() -> None:
    rng = np.random.default_rng(5)
    a, b = (finite_attribute(rng, n, 3, "line") for n in "ab")
    first, second = random_set(rng, a), random_set(rng, b)
    goal = (first & second) | (~first & ~second)
    assert not is_read_once(goal)
    with pytest.raises(GuessproofError):
        product_rule(scene_of(goal, "linf"), normal(goal), 1.0)
    for norm in ("l1", "l2", "linf"):
        prior, truth = exact(goal, norm, 1.0, "upper")
        assert gp.Attack(goal, norm=norm).posterior(1.0).bound == pytest.approx(truth, abs=1e-8)
        assert gp.Attack(goal, norm=norm).prior == pytest.approx(prior)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_an_untouched_attribute_multiplies_by_its_prior(norm: str) -> None:
    x = gp.Attribute("x", gp.normal(0, 2))
    still = gp.Attribute("still", gp.uniform(0, 4), metric=0 * gp.Absolute())
    word = gp.Attribute("word", gp.categorical({"u": 0.3, "v": 0.7}), metric=0 * gp.Discrete())
    alone = gp.Attack(gp.within(x, 1), at={"x": 0.5})
    at = {"x": 0.5, "still": 2, "word": "u"}
    for side in ("upper", "lower"):
        one = alone.posterior(0.8, side=side).bound
        both = gp.Attack(gp.within(x, 1) & gp.within(still, 1) & gp.exactly(word), at=at, norm=norm)
        assert both.posterior(0.8, side=side).bound == pytest.approx(one * 0.5 * 0.3, rel=1e-9)
        assert both.posterior(0.8, side=side).attack == pytest.approx(one * 0.5 * 0.3, rel=1e-6)
        either = gp.Attack(gp.within(x, 1) | gp.exactly(word), at={"x": 0.5, "word": "u"}, norm=norm)
        assert either.posterior(0.8, side=side).bound == pytest.approx(0.3 + 0.7 * one, rel=1e-9)
