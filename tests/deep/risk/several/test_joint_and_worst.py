"""Dependent attributes, what the attacker knows, unknown true values, and how goals read."""

from __future__ import annotations

import numpy as np
import pytest
from depth import cases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import guessproof as gp
from deep.risk.several.worlds import exact, finite_attribute, random_set
from guessproof.errors import GoalError, GuessproofError
from guessproof.risk.joint.formula import alternatives

PETS = gp.joint_table(("sex", "colour"), {("M", "black"): 0.5, ("F", "black"): 0.2, ("F", "calico"): 0.3})
SEX, COLOUR = PETS.attributes()


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("side", ["upper", "lower"])
def test_a_joint_table_is_solved_exactly(norm: str, side: str) -> None:
    truth = {"sex": "F", "colour": "calico"}
    for goal in (gp.exactly(SEX) & gp.exactly(COLOUR), ~gp.exactly(SEX) | gp.exactly(COLOUR)):
        prior, value = exact(goal, norm, 0.9, side, truth, PETS)
        attack = gp.Attack(goal, at=truth, norm=norm)
        assert attack.prior == pytest.approx(prior)
        assert attack.posterior(0.9, side=side).bound == pytest.approx(value, abs=1e-8)


def test_knowing_one_attribute_changes_the_other() -> None:
    attack = gp.Attack(gp.exactly(SEX), at={"sex": "F"}, knows={"colour": {"black"}})
    assert attack.prior == pytest.approx(0.2 / 0.7)
    both = gp.Attack(gp.exactly(SEX) & gp.exactly(COLOUR), at={"sex": "F", "colour": "black"}, knows={"sex": {"F"}})
    assert both.prior == pytest.approx(0.4)


def test_knowledge_of_independent_attributes() -> None:
    x, y = gp.Attribute("x", gp.normal(0, 1)), gp.Attribute("y", gp.uniform(0, 4))
    goal = gp.within(x, 0.5) & gp.within(y, 0.5)
    attack = gp.Attack(goal, at={"x": 0.2, "y": 1}, knows={"x": (-1, 1), "y": (0, 2)})
    alone = gp.Attack(gp.within(x, 0.5), at={"x": 0.2}, knows={"x": (-1, 1)})
    assert attack.prior == pytest.approx(alone.prior * 0.5)


def test_a_sample_of_pairs() -> None:
    rng = np.random.default_rng(4)
    rows = rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], 60).round(2).tolist()
    sample = gp.joint_sample(("a", "b"), rows)
    a, b = sample.attributes()
    truth = dict(zip(("a", "b"), sample.rows[0], strict=True))
    for goal in (gp.within(a, 0.5) & gp.within(b, 0.5), gp.near((a, b), 0.7, by="l2")):
        _, value = exact(goal, "l2", 1.1, "upper", truth, sample)
        assert gp.Attack(goal, at=truth, norm="l2").posterior(1.1).bound == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("size", [400, 1200])
def test_larger_samples_keep_a_sound_bracket(size: int) -> None:
    rng = np.random.default_rng(5)
    rows = rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], size).round(3).tolist()
    sample = gp.joint_sample(("a", "b"), rows)
    a, b = sample.attributes()
    truth = dict(zip(("a", "b"), sample.rows[0], strict=True))
    bracket = gp.Attack(gp.within(a, 0.5) & gp.within(b, 0.5), at=truth, norm="l2").posterior(0.5)
    assert bracket.attack <= bracket.bound
    assert bracket.bound - bracket.attack < 0.05


def test_a_joint_histogram_of_independent_numbers_agrees_with_two_histograms() -> None:
    p, q = np.array([0.2, 0.5, 0.3]), np.array([0.1, 0.6, 0.3])
    joint = gp.joint_histogram(("a", "b"), ([0, 1, 2, 3], [0, 1, 2, 3]), np.outer(p, q))
    a, b = joint.attributes()
    c, d = gp.Attribute("a", gp.histogram([0, 1, 2, 3], p)), gp.Attribute("b", gp.histogram([0, 1, 2, 3], q))
    at = {"a": 1.5, "b": 1.5}
    one = gp.Attack(gp.within(a, 0.5) & gp.within(b, 0.5), at=at).posterior(0.8, tolerance=0.02)
    two = gp.Attack(gp.within(c, 0.5) & gp.within(d, 0.5), at=at).posterior(0.8, tolerance=0.02)
    assert max(one.attack, two.attack) <= min(one.bound, two.bound)


def test_dependence_matters() -> None:
    joint = gp.joint_histogram(("a", "b"), ([0, 1, 2], [0, 1, 2]), [[0.49, 0.01], [0.01, 0.49]])
    a, b = joint.attributes()
    attack = gp.Attack(gp.within(a, 0.5) & gp.within(b, 0.5), at={"a": 0.5, "b": 0.5})
    assert attack.prior == pytest.approx(0.49)
    assert attack.posterior(1.0, tolerance=0.03).bound < 0.75


def test_unknown_true_values_of_finite_attributes() -> None:
    rng = np.random.default_rng(8)
    a, b = finite_attribute(rng, "a", 3, "line"), finite_attribute(rng, "b", 3, "step")
    goal = gp.exactly(a) | gp.exactly(b)
    worst = gp.Attack(goal).advantage(0.7)
    each = [gp.Attack(goal, at={"a": s, "b": t}).advantage(0.7).bound for s in a.prior.values for t in b.prior.values]
    assert worst.bound == pytest.approx(max(each), abs=1e-9)
    assert gp.Attack(goal, at=worst.worst_at).advantage(0.7).bound == pytest.approx(worst.bound, abs=1e-9)


def test_unknown_true_values_of_numbers_are_bounded() -> None:
    x, y = gp.Attribute("x", gp.normal(0, 2)), gp.Attribute("y", gp.normal(0, 3))
    goal = gp.within(x, 1) & gp.within(y, 1)
    worst = gp.Attack(goal, norm="l1").advantage(0.3)
    assert worst.attack <= worst.bound
    rng = np.random.default_rng(0)
    for t in rng.normal(0, 2, (12, 2)):
        assert gp.Attack(goal, at={"x": t[0], "y": t[1]}, norm="l1").advantage(0.3).attack <= worst.bound
    epsilon = gp.Attack(goal, norm="l1").epsilon(advantage=0.1)
    assert gp.Attack(goal, norm="l1").advantage(epsilon).bound <= 0.1 * (1 + 1e-9)
    for t in rng.normal(0, 2, (6, 2)):
        assert gp.Attack(goal, at={"x": t[0], "y": t[1]}, norm="l1").advantage(epsilon).attack <= 0.1


def test_unknown_true_values_fall_and_mix() -> None:
    x = gp.Attribute("x", gp.normal(0, 1))
    word = gp.Attribute("word", gp.categorical({"u": 0.4, "v": 0.6}))
    goal = gp.within(x, 1) | gp.exactly(word)
    rise, either = gp.Attack(goal).advantage(0.5), gp.Attack(goal).advantage(0.5, both=True)
    assert either.bound >= rise.bound
    for t in (-1.0, 0.0, 2.0):
        known = gp.Attack(goal, at={"x": t, "word": "u"}).advantage(0.5, both=True)
        assert known.attack <= either.bound
    with pytest.raises(GuessproofError):
        gp.Attack(gp.near((x, gp.Attribute("y", gp.lognormal(1, 1))), 1)).advantage(0.5)


def test_how_goals_read() -> None:
    x, y = gp.Attribute("x", gp.normal(0, 1)), gp.Attribute("y", gp.normal(0, 1))
    a, b = gp.within(x, 2), gp.within(y, 1)
    assert repr(a & ~b | gp.near((x, y), 5, by="l1")) == "(x within 2 & ~(y within 1)) | (x, y) within 5 by l1"
    assert ~~a == a
    assert (a & b) == (a & b)
    assert hash(a | b) == hash(a | b)
    assert alternatives((a | b) & ~(a & b)) == (a & ~a, a & ~b, b & ~a, b & ~b)
    with pytest.raises(GuessproofError):
        bool(a)
    with pytest.raises(GoalError):
        _ = a & 3


def test_a_compound_about_one_attribute_is_exact() -> None:
    x = gp.Attribute("x", gp.normal(0, 1))
    ring = gp.Attack(gp.within(x, 2) & ~gp.within(x, 1), at={"x": 0})
    same = gp.Attack(gp.inside(x, (-2, -1), (1, 2)))
    assert ring.posterior(0.7).bound == pytest.approx(same.posterior(0.7).bound, rel=1e-12)
    assert ring.posterior(0.7).bound == pytest.approx(ring.posterior(0.7).attack, rel=1e-5)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, y: gp.Attack(gp.within(x, 1) & gp.within(y, 1), at={"x": 0.0}).prior,
        lambda x, y: gp.Attack(gp.within(x, 1) & gp.within(y, 1), at={"x": [0.0, 1.0], "y": 0.0}).prior,
        lambda x, y: gp.Attack(gp.within(x, 1) & gp.within(y, 1), at={"x": 0.0, "z": 0.0}),
        lambda x, y: gp.Attack(gp.within(x, 1) & gp.within(y, 1)).prior,
        lambda x, y: gp.Attack(gp.within(x, 1) | gp.within(y, 1), or_="both"),
        lambda x, y: gp.Attack(gp.within(x, 1) | gp.within(y, 1), norm="l0.5"),
        lambda x, y: gp.near((x,), 1),
        lambda x, y: gp.near((x, y), 1, by="lx"),
        lambda x, y: gp.near((x, y), -1),
        lambda x, y: gp.Attack(gp.within(x, 1) & gp.within(y, 1), at={"x": 0, "y": 0}).posterior(1, tolerance=0),
        lambda x, y: gp.Attack(gp.within(x, 1) & gp.within(y, 1), at={"x": 0, "y": 0}).posterior(1, side="left"),
        lambda x, y: gp.within(x, 1) & gp.within(gp.Attribute("x", gp.normal(0, 2)), 1),
        lambda x, y: gp.joint_table(("a",), {("u",): 1.0}),
        lambda x, y: gp.joint_table(("a", "b"), {("u",): 1.0}),
        lambda x, y: gp.joint_table(("a", "b"), {("u", "v"): 0.7}),
        lambda x, y: gp.joint_histogram(("a", "b"), ([0, 1], [0, 1]), [[0.5, 0.5]]),
        lambda x, y: gp.joint_sample(("a", "b"), 3),
        lambda x, y: (
            gp.Attack(gp.within(gp.Attribute("u", gp.unknown(0, 1)), 1) & gp.within(y, 1), at={"u": 0, "y": 0}).prior
        ),
    ],
)
def test_mistakes_are_named(wrong) -> None:
    with pytest.raises(GuessproofError):
        wrong(gp.Attribute("x", gp.normal(0, 1)), gp.Attribute("y", gp.normal(0, 1)))


@st.composite
def questions(draw):
    """Any formula over a few attributes of any kind, at any ε."""
    priors = [
        gp.normal(draw(st.floats(-2, 2)), draw(st.floats(0.1, 3))),
        gp.uniform(-1, draw(st.floats(0, 4))),
        gp.exponential(draw(st.floats(0.2, 3))),
        gp.histogram([-1, 0, 2, 3], [0.2, 0.5, 0.3]),
        gp.empirical([0, 0.5, 1, 1, 2]),
        gp.categorical({"u": 0.2, "v": 0.8}),
    ]
    parts = []
    at = {}
    for name in "abcd"[: draw(st.integers(2, 4))]:
        prior = draw(st.sampled_from(priors))
        metric = draw(st.sampled_from([None, None, gp.Discrete(), 0 * gp.Discrete()]))
        attribute = gp.Attribute(name, prior, metric=metric)
        if hasattr(prior, "values"):
            parts.append(gp.exactly(attribute))
            at[name] = draw(st.sampled_from(prior.values))
        else:
            parts.append(gp.within(attribute, draw(st.floats(0.05, 3))))
            at[name] = float(prior.quantile(draw(st.floats(0.05, 0.95))))
    goal = parts[0]
    for part in parts[1:]:
        part = ~part if draw(st.booleans()) else part
        goal = goal & part if draw(st.booleans()) else goal | part
    if draw(st.integers(0, 4)) == 0:
        goal = goal | (~parts[0] & parts[1])
    return goal, at, draw(st.sampled_from(["l1", "l2", "linf"])), draw(st.sampled_from([0.0, 1e-6, 0.05, 0.7, 4.0]))


@settings(
    max_examples=cases(25),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip
@given(questions())
def test_only_our_own_exceptions_escape_and_brackets_are_ordered(question) -> None:
    goal, at, norm, epsilon = question
    try:
        attack = gp.Attack(goal, at=at, norm=norm)
        upper, lower = attack.posterior(epsilon), attack.posterior(epsilon, side="lower")
    except GuessproofError:
        return
    slack = 1e-9
    assert lower.bound - slack <= lower.attack <= attack.prior + slack
    assert attack.prior - slack <= upper.attack <= upper.bound + slack


def test_random_sets_are_drawn() -> None:
    rng = np.random.default_rng(0)
    assert random_set(rng, finite_attribute(rng, "a", 3, "table")).values
