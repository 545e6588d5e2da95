"""What cannot be meant is refused by name: the field, the value, the remedy. Nothing else ever escapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from depth import cases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import guessproof as gp
from guessproof.errors import (
    GoalError,
    GuessproofError,
    InfeasibleError,
    InputError,
    KnowledgeError,
    MetricError,
    ParameterError,
    PriorError,
    TrueValueError,
    UnknownAttributeError,
)

NAN, INF = math.nan, math.inf


def time() -> Any:
    return gp.Attribute("time", prior=gp.normal(20, 6))


def age() -> Any:
    return gp.Attribute("age", prior=gp.uniform(0, 100))


def faculty() -> Any:
    return gp.Attribute("faculty", prior=gp.categorical({"math": 0.5, "cs": 0.3, "law": 0.2}))


def ask(goal: Any, **options: Any) -> Any:
    """Describe the attack and put a question: an error may come at either step."""
    return gp.Attack(goal, **options).posterior(epsilon=0.5)


def question() -> Any:
    return gp.Attack(gp.within(time(), 2), at={"time": 20})


def world() -> Any:
    return gp.FiniteWorld(prior=[0.2, 0.8], distance=[[0, 1], [1, 0]])


Bad = tuple[str, type[InputError], str, Callable[[], Any]]

PRIORS: list[Bad] = [
    ("weights above one", PriorError, "", lambda: gp.categorical({"a": 0.5, "b": 0.6})),
    ("weights below one", PriorError, "", lambda: gp.categorical({"a": 0.5, "b": 0.4})),
    ("weights just off one", PriorError, "", lambda: gp.categorical({"a": 0.5, "b": 0.5 + 1e-6})),
    ("a negative weight", PriorError, "", lambda: gp.categorical({"a": 1.5, "b": -0.5})),
    ("a NaN weight", PriorError, "", lambda: gp.categorical({"a": NAN, "b": 0.5})),
    ("no category", PriorError, "", lambda: gp.categorical({})),
    ("counts beside parts", PriorError, "", lambda: gp.categorical({"a": 3, "b": 0.5})),
    ("counts of shares", PriorError, "weights", lambda: gp.mixture((2, gp.normal(0, 1)), (3, gp.normal(5, 1)))),
    ("cells above one", PriorError, "weights", lambda: gp.histogram([0, 1, 2], [0.5, 0.6])),
    ("a negative cell", PriorError, "weights", lambda: gp.histogram([0, 1, 2], [1.5, -0.5])),
    ("a NaN cell", PriorError, "weights", lambda: gp.histogram([0, 1, 2], [NAN, 0.5])),
    ("edges out of order", PriorError, "edges", lambda: gp.histogram([0, 2, 1], [0.5, 0.5])),
    ("a repeated edge", PriorError, "edges", lambda: gp.histogram([0, 1, 1], [0.5, 0.5])),
    ("a NaN edge", PriorError, "edges", lambda: gp.histogram([0, NAN, 1], [0.5, 0.5])),
    ("an infinite edge", PriorError, "edges", lambda: gp.histogram([0, 1, INF], [0.5, 0.5])),
    ("too few weights", PriorError, "weights", lambda: gp.histogram([0, 1, 2], [1.0])),
    ("no cell", PriorError, "", lambda: gp.histogram([], [])),
    ("a negative sd", PriorError, "sd", lambda: gp.normal(0, -1)),
    ("a zero sd", PriorError, "sd", lambda: gp.normal(0, 0)),
    ("a NaN sd", PriorError, "sd", lambda: gp.normal(0, NAN)),
    ("an infinite sd", PriorError, "sd", lambda: gp.normal(0, INF)),
    ("a NaN mean", PriorError, "mean", lambda: gp.normal(NAN, 1)),
    ("an infinite mean", PriorError, "mean", lambda: gp.normal(INF, 1)),
    ("ends exchanged", PriorError, "", lambda: gp.uniform(1, 0)),
    ("equal ends", PriorError, "", lambda: gp.uniform(1, 1)),
    ("a NaN end", PriorError, "low", lambda: gp.uniform(NAN, 1)),
    ("an infinite end", PriorError, "high", lambda: gp.uniform(0, INF)),
    ("a negative scale", PriorError, "scale", lambda: gp.exponential(-1)),
    ("a zero scale", PriorError, "scale", lambda: gp.exponential(0)),
    ("a NaN scale", PriorError, "scale", lambda: gp.exponential(NAN)),
    ("a negative laplace scale", PriorError, "scale", lambda: gp.laplace(0, -1)),
    ("a NaN laplace mean", PriorError, "mean", lambda: gp.laplace(NAN, 1)),
    ("no sample", PriorError, "values", lambda: gp.empirical([])),
    ("a NaN sample", PriorError, "values", lambda: gp.empirical([1, NAN])),
    ("an infinite sample", PriorError, "values", lambda: gp.empirical([1, INF])),
    ("an unknown range exchanged", PriorError, "", lambda: gp.unknown(3, 1)),
    ("an unknown range with NaN", PriorError, "", lambda: gp.unknown(NAN, 1)),
    ("a negative known radius", PriorError, "radius", lambda: gp.partly_known(-1, 0.5)),
    ("a NaN known radius", PriorError, "radius", lambda: gp.partly_known(NAN, 0.5)),
    ("a known probability above one", PriorError, "probability", lambda: gp.partly_known(1, 1.5)),
    ("a NaN known probability", PriorError, "probability", lambda: gp.partly_known(1, NAN)),
    ("a finite world above one", PriorError, "prior", lambda: gp.FiniteWorld([0.5, 0.6], [[0, 1], [1, 0]])),
    ("a negative finite world", PriorError, "prior", lambda: gp.FiniteWorld([1.5, -0.5], [[0, 1], [1, 0]])),
    ("a NaN finite world", PriorError, "prior", lambda: gp.FiniteWorld([NAN, 0.5], [[0, 1], [1, 0]])),
    ("an empty finite world", InputError, "", lambda: gp.FiniteWorld([], [])),
]

METRICS: list[Bad] = [
    ("a negative scale", MetricError, "scale", lambda: gp.Absolute(scale=-1)),
    ("a zero scale", MetricError, "scale", lambda: gp.Absolute(scale=0)),
    ("a NaN scale", MetricError, "scale", lambda: gp.Absolute(scale=NAN)),
    ("clamps exchanged", MetricError, "", lambda: gp.Clamped(3, 1)),
    ("a NaN clamp", MetricError, "", lambda: gp.Clamped(NAN, 1)),
    ("no cut", MetricError, "", lambda: gp.Threshold()),
    ("a NaN cut", MetricError, "", lambda: gp.Threshold(1, NAN)),
    ("an outcome exchanged", MetricError, "", lambda: gp.Outcome((2, 1))),
    ("no outcome", MetricError, "", lambda: gp.Outcome()),
    ("not symmetric", MetricError, "", lambda: gp.Matrix(["a", "b"], [[0, 1], [2, 0]])),
    ("a negative distance", MetricError, "", lambda: gp.Matrix(["a", "b"], [[0, -1], [-1, 0]])),
    ("far from itself", MetricError, "", lambda: gp.Matrix(["a", "b"], [[1, 1], [1, 0]])),
    ("a NaN distance", MetricError, "", lambda: gp.Matrix(["a", "b"], [[0, NAN], [NAN, 0]])),
    ("the wrong size", MetricError, "", lambda: gp.Matrix(["a", "b", "c"], [[0, 1], [1, 0]])),
    ("a negative multiple", MetricError, "", lambda: -3 * gp.Absolute()),
    ("a NaN multiple", MetricError, "", lambda: NAN * gp.Absolute()),
    ("a negative cap", MetricError, "", lambda: gp.minimum(gp.Absolute(), -1)),
    ("a NaN cap", MetricError, "", lambda: gp.minimum(gp.Absolute(), NAN)),
    (
        "a finite world's size",
        MetricError,
        "distance",
        lambda: gp.FiniteWorld([0.5, 0.5], [[0, 1, 2], [1, 0, 1]]),
    ),
    (
        "a finite world's asymmetry",
        MetricError,
        "distance",
        lambda: gp.FiniteWorld([0.5, 0.5], [[0, 1], [2, 0]]),
    ),
    (
        "a finite world's sign",
        MetricError,
        "distance",
        lambda: gp.FiniteWorld([0.5, 0.5], [[0, -1], [-1, 0]]),
    ),
    (
        "a finite world's NaN",
        MetricError,
        "distance",
        lambda: gp.FiniteWorld([0.5, 0.5], [[0, NAN], [NAN, 0]]),
    ),
    (
        "an attribute's negative scale",
        InputError,
        "scale",
        lambda: gp.Attribute("x", prior=gp.normal(0, 1), scale=-1),
    ),
    (
        "an attribute's zero scale",
        InputError,
        "scale",
        lambda: gp.Attribute("x", prior=gp.normal(0, 1), scale=0),
    ),
    (
        "an attribute's NaN scale",
        InputError,
        "scale",
        lambda: gp.Attribute("x", prior=gp.normal(0, 1), scale=NAN),
    ),
    (
        "bounds exchanged",
        InputError,
        "bounds",
        lambda: gp.Attribute("x", prior=gp.normal(0, 1), bounds=(2, 1)),
    ),
]

GOALS: list[Bad] = [
    ("a negative radius", GoalError, "radius", lambda: gp.within(time(), -1)),
    ("a zero radius", GoalError, "radius", lambda: gp.within(time(), 0)),
    ("a NaN radius", GoalError, "radius", lambda: gp.within(time(), NAN)),
    ("a negative percentage", GoalError, "percent", lambda: gp.within(time(), percent=-5)),
    ("a NaN percentage", GoalError, "percent", lambda: gp.within(time(), percent=NAN)),
    ("radius and percentage", GoalError, "", lambda: gp.within(time(), 2, percent=5)),
    ("neither radius nor percentage", GoalError, "", lambda: gp.within(time())),
    ("no value", GoalError, "values", lambda: gp.among(faculty(), [])),
    ("no interval", GoalError, "", lambda: gp.inside(time())),
    ("an interval exchanged", GoalError, "", lambda: gp.inside(time(), (2, 1))),
    ("a NaN interval", GoalError, "", lambda: gp.inside(time(), (NAN, 1))),
    ("a goal that cannot happen", GoalError, "", lambda: ask(gp.inside(age(), (200, 300)))),
    ("values that cannot happen", GoalError, "", lambda: ask(gp.among(faculty(), ["art"]))),
    ("a certain interval", GoalError, "", lambda: ask(gp.inside(age(), (-1, 101)))),
    ("a certain radius", GoalError, "", lambda: ask(gp.within(age(), 500), at={"age": 50})),
    ("certain values", GoalError, "", lambda: ask(gp.among(faculty(), ["math", "cs", "law"]))),
    ("a radius of categories", GoalError, "", lambda: ask(gp.within(faculty(), 1), at={"faculty": "cs"})),
    ("exactly one point of a line", GoalError, "", lambda: ask(gp.exactly(time()), at={"time": 20})),
    ("an empty finite goal", GoalError, "goal", lambda: world().posterior(goal=[0, 0], epsilon=1)),
    ("a certain finite goal", GoalError, "goal", lambda: world().posterior(goal=[1, 1], epsilon=1)),
    (
        "a finite goal of the wrong size",
        GoalError,
        "goal",
        lambda: world().posterior(goal=[1, 0, 0], epsilon=1),
    ),
    ("a finite goal above one", GoalError, "goal", lambda: world().posterior(goal=[2, 0], epsilon=1)),
    ("a NaN finite goal", GoalError, "goal", lambda: world().posterior(goal=[NAN, 0], epsilon=1)),
]

TRUE_VALUES: list[Bad] = [
    ("outside an interval", TrueValueError, "at", lambda: ask(gp.within(age(), 2), at={"age": 107})),
    (
        "one of many outside",
        TrueValueError,
        "at",
        lambda: ask(gp.within(age(), 2), at={"age": np.array([7, 107])}),
    ),
    ("not a category", TrueValueError, "at", lambda: ask(gp.exactly(faculty()), at={"faculty": "art"})),
    ("a NaN", TrueValueError, "at", lambda: ask(gp.within(time(), 2), at={"time": NAN})),
    ("infinite", TrueValueError, "at", lambda: ask(gp.within(time(), 2), at={"time": INF})),
    ("beyond the sample", TrueValueError, "at", lambda: ask(gp.within(_sample(), 2), at={"x": 30.5})),
    ("below the sample", TrueValueError, "at", lambda: ask(gp.within(_sample(), 2), at={"x": 0.5})),
    ("no number beside a sample", TrueValueError, "at", lambda: ask(gp.within(_sample(), 2), at={"x": "one"})),
    ("not in the table", TrueValueError, "at", lambda: ask(gp.within(_table(), 2), at={"x": 1.5})),
    ("a misspelt name", UnknownAttributeError, "tme", lambda: ask(gp.within(time(), 2), at={"tme": 20})),
    (
        "one name too many",
        UnknownAttributeError,
        "age",
        lambda: ask(gp.within(time(), 2), at={"time": 20, "age": 3}),
    ),
]


def _table() -> Any:
    return gp.Attribute("x", prior=gp.categorical({1: 0.5, 2: 0.5}))


def _sample() -> Any:
    return gp.Attribute("x", prior=gp.empirical([1, 2, 30]))


KNOWLEDGE: list[Bad] = [
    (
        "an interval without mass",
        KnowledgeError,
        "300",
        lambda: ask(_age_goal(), at={"age": 50}, knows={"age": (200, 300)}),
    ),
    (
        "an interval exchanged",
        KnowledgeError,
        "knows",
        lambda: ask(_age_goal(), at={"age": 50}, knows={"age": (60, 40)}),
    ),
    (
        "a NaN interval",
        KnowledgeError,
        "knows",
        lambda: ask(_age_goal(), at={"age": 50}, knows={"age": (NAN, 60)}),
    ),
    (
        "an impossible value",
        KnowledgeError,
        "knows",
        lambda: ask(_law(), at={"faculty": "law"}, knows={"faculty": {"art"}}),
    ),
    (
        "no value",
        KnowledgeError,
        "knows",
        lambda: ask(_law(), at={"faculty": "law"}, knows={"faculty": set()}),
    ),
    (
        "the truth excluded",
        InputError,
        "",
        lambda: ask(_age_goal(), at={"age": 50}, knows={"age": (60, 90)}),
    ),
    (
        "the true value excluded",
        InputError,
        "",
        lambda: ask(_law(), at={"faculty": "law"}, knows={"faculty": {"cs", "math"}}),
    ),
    (
        "a misspelt name",
        UnknownAttributeError,
        "agee",
        lambda: ask(_age_goal(), at={"age": 50}, knows={"agee": (0, 9)}),
    ),
    ("a prior given nothing", KnowledgeError, "", lambda: gp.uniform(0, 1).given(5, 6)),
    ("a prior given an exchanged interval", KnowledgeError, "", lambda: gp.normal(0, 1).given(2, 1)),
    (
        "a category given nothing",
        KnowledgeError,
        "",
        lambda: gp.categorical({"a": 0.5, "b": 0.5}).given({"c"}),
    ),
    (
        "a certain goal afterwards",
        GoalError,
        "",
        lambda: ask(_age_goal(), at={"age": 50}, knows={"age": (49, 51)}),
    ),
]


def _age_goal() -> Any:
    return gp.within(age(), 2)


def _law() -> Any:
    return gp.exactly(faculty())


PARAMETERS: list[Bad] = [
    ("a negative ε", ParameterError, "epsilon", lambda: question().posterior(epsilon=-1)),
    ("a NaN ε", ParameterError, "epsilon", lambda: question().posterior(epsilon=NAN)),
    (
        "one NaN of many",
        ParameterError,
        "epsilon",
        lambda: question().posterior(epsilon=np.array([1.0, NAN])),
    ),
    ("a negative ε of an advantage", ParameterError, "epsilon", lambda: question().advantage(epsilon=-1)),
    ("an unknown side", ParameterError, "side", lambda: question().posterior(epsilon=1, side="middle")),
    ("a negative limit", ParameterError, "advantage", lambda: question().epsilon(advantage=-0.1)),
    ("a NaN limit", ParameterError, "advantage", lambda: question().epsilon(advantage=NAN)),
    ("a NaN posterior", ParameterError, "posterior", lambda: question().epsilon(posterior=NAN)),
    ("a posterior above one", ParameterError, "posterior", lambda: question().epsilon(posterior=1.5)),
    ("a negative posterior", ParameterError, "posterior", lambda: question().epsilon(posterior=-0.5)),
    ("no limit", ParameterError, "", lambda: question().epsilon()),
    ("a finite world's ε", ParameterError, "epsilon", lambda: world().posterior(goal=[1, 0], epsilon=-1)),
    (
        "a finite world's NaN ε",
        ParameterError,
        "epsilon",
        lambda: world().posterior(goal=[1, 0], epsilon=NAN),
    ),
    (
        "a finite world's side",
        ParameterError,
        "side",
        lambda: world().posterior(goal=[1, 0], epsilon=1, side="up"),
    ),
    (
        "a finite world's limit",
        ParameterError,
        "advantage",
        lambda: world().epsilon(goal=[1, 0], advantage=-1),
    ),
    ("a finite world without limit", ParameterError, "", lambda: world().epsilon(goal=[1, 0])),
]

EVERYTHING = [*PRIORS, *METRICS, *GOALS, *TRUE_VALUES, *KNOWLEDGE, *PARAMETERS]


@pytest.mark.parametrize(
    ("expected", "field", "make"), [bad[1:] for bad in EVERYTHING], ids=[bad[0] for bad in EVERYTHING]
)
def test_bad_input_is_refused_by_name(expected: type[InputError], field: str, make: Callable[[], Any]) -> None:
    with pytest.raises(expected) as caught:
        make()
    error, message = caught.value, str(caught.value)
    assert isinstance(error, ValueError)
    assert field in message
    assert error.field
    assert error.field in message
    assert error.problem.strip()
    assert error.problem in message
    assert error.remedy.strip()
    assert error.remedy in message
    assert "\n" not in message


def test_a_misspelt_name_is_met_with_the_right_one() -> None:
    with pytest.raises(UnknownAttributeError, match="time"):
        ask(gp.within(time(), 2), at={"tme": 20})


def test_a_limit_below_the_prior_is_infeasible() -> None:
    with pytest.raises(InfeasibleError):
        question().epsilon(posterior=0.01)
    with pytest.raises(InfeasibleError):
        world().epsilon(goal=[1, 0], posterior=0.1)


def test_two_limits_are_both_kept() -> None:
    limits = {"advantage": 0.05, "posterior": 0.5}
    alone = [question().epsilon(**{name: limit}) for name, limit in limits.items()]
    assert question().epsilon(**limits) == pytest.approx(min(alone), rel=1e-9)


def test_a_prior_without_a_true_value_is_refused() -> None:
    with pytest.raises(GuessproofError):
        _ = gp.Attack(gp.within(time(), 2)).prior


@pytest.mark.parametrize(
    "ask_it", [lambda q: q.prior, lambda q: q.posterior(epsilon=1), lambda q: q.epsilon(posterior=0.5)]
)
def test_an_unknown_prior_has_advantages_only(ask_it: Callable[[Any], Any]) -> None:
    unknown = gp.Attack(gp.within(gp.Attribute("x", prior=gp.unknown(0, 10)), 1), at={"x": 5})
    with pytest.raises(GuessproofError):
        ask_it(unknown)


@pytest.mark.parametrize("change", ["name", "prior", "scale"])
def test_what_was_described_stays_as_it_was(change: str) -> None:
    with pytest.raises((AttributeError, TypeError)):
        setattr(time(), change, 3)


# --- fuzz: whatever is asked, an answer in range or an error of ours ---

ORDINARY = st.floats(-10, 10, allow_nan=False)
ANY_NUMBER = st.one_of(
    ORDINARY,
    ORDINARY,
    st.floats(),
    st.sampled_from([0.0, -0.0, 1e-300, 5e-324, 1e300, 1.7e308, NAN, INF, -INF, 1e-12, 1e4]),
    st.integers(-3, 3),
)
NO_NUMBER = st.sampled_from([None, "three", [], {}, (1, 2), b"x", object(), 1j, 10**400, True, np.array([1.0, 2.0])])
ANYTHING = st.one_of(ANY_NUMBER, NO_NUMBER)

fuzz = settings(
    max_examples=cases(80),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def priors(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Callable[[], Any]]:
    many = st.lists(value, max_size=5)
    return st.one_of(
        st.tuples(st.just("normal"), st.tuples(value, value)),
        st.tuples(st.just("uniform"), st.tuples(value, value)),
        st.tuples(st.just("exponential"), st.tuples(value)),
        st.tuples(st.just("laplace"), st.tuples(value, value)),
        st.tuples(st.just("histogram"), st.tuples(many, many)),
        st.tuples(st.just("empirical"), st.tuples(many)),
        st.tuples(st.just("categorical"), st.tuples(st.dictionaries(st.sampled_from("abc"), value, max_size=3))),
        st.tuples(st.just("unknown"), st.tuples(value, value)),
        st.tuples(st.just("partly_known"), st.tuples(value, value, value, value)),
    ).map(lambda named: lambda: getattr(gp, named[0])(*named[1]))


def sane_priors() -> st.SearchStrategy[Callable[[], Any]]:
    """Priors that exist, so that the fuzz also gets past them."""
    return st.sampled_from(
        [
            lambda: gp.normal(0, 1),
            lambda: gp.uniform(-2, 3),
            lambda: gp.exponential(1.5),
            lambda: gp.laplace(0, 1),
            lambda: gp.histogram([-2, 0, 1, 4], [0.5, 0.0, 0.5]),
            lambda: gp.empirical([0, 1, 1, 3]),
            lambda: gp.categorical({"a": 0.4, "b": 0.6}),
            lambda: gp.unknown(-3, 3),
            lambda: gp.partly_known(2, 0.7, -5, 5),
        ]
    )


def metrics(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Callable[[], Any]]:
    return st.one_of(
        st.just(lambda: None),
        value.map(lambda v: lambda: gp.Absolute(scale=v)),
        value.map(lambda v: lambda: gp.minimum(gp.Absolute(), v)),
        value.map(lambda v: lambda: gp.Threshold(v)),
        value.map(lambda v: lambda: v * gp.Discrete()),
        st.tuples(value, value).map(lambda v: lambda: gp.Clamped(*v)),
        st.tuples(value, value).map(lambda v: lambda: gp.Outcome(v)),
        value.map(lambda v: lambda: gp.Absolute() + v * gp.Discrete()),
    )


def goals(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Callable[[Any], Any]]:
    return st.one_of(
        value.map(lambda v: lambda a: gp.within(a, v)),
        value.map(lambda v: lambda a: gp.within(a, percent=v)),
        st.just(lambda a: gp.exactly(a)),
        st.lists(value, max_size=3).map(lambda v: lambda a: gp.among(a, v)),
        st.lists(st.tuples(value, value), max_size=2).map(lambda v: lambda a: gp.inside(a, *v)),
    )


def options(value: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    at = st.one_of(value, st.sampled_from("abc"))
    return st.fixed_dictionaries(
        {},
        optional={
            "at": st.one_of(at.map(lambda v: {"x": v}), st.just({}), at.map(lambda v: {"y": v})),
            "knows": st.one_of(
                st.tuples(value, value).map(lambda v: {"x": v}),
                st.sets(st.sampled_from("abc")).map(lambda v: {"x": v}),
                st.just({}),
            ),
        },
    )


def questions(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Callable[[Any], Any]]:
    return st.one_of(
        st.just(lambda q: q.prior),
        st.tuples(value, st.sampled_from(["upper", "lower", "both"])).map(
            lambda v: lambda q: q.posterior(epsilon=v[0], side=v[1])
        ),
        st.tuples(value, st.booleans()).map(lambda v: lambda q: q.advantage(epsilon=v[0], both=v[1])),
        st.tuples(value, st.booleans()).map(lambda v: lambda q: q.epsilon(advantage=v[0], both=v[1])),
        value.map(lambda v: lambda q: q.epsilon(posterior=v)),
    )


def answer_or_refusal(make: Callable[[], Any]) -> None:
    try:
        answer = make()
    except GuessproofError:
        return
    if isinstance(answer, gp.Bracket):
        for number in (answer.attack, answer.bound):
            assert np.all((np.asarray(number) >= 0) & (np.asarray(number) <= 1))
    else:
        assert np.all(np.asarray(answer) >= 0)


def describe(prior: Any, metric: Any, goal: Any, options: dict[str, Any], query: Any) -> Any:
    made = metric()
    attribute = gp.Attribute("x", prior=prior(), **({} if made is None else {"metric": made}))
    return query(gp.Attack(goal(attribute), **options))


@fuzz
@given(priors(ANY_NUMBER), metrics(ORDINARY), goals(ORDINARY), options(ORDINARY), questions(st.floats(0, 5)))
def test_no_prior_of_any_numbers_breaks_out(prior, metric, goal, options, query) -> None:
    answer_or_refusal(lambda: describe(prior, metric, goal, options, query))


@fuzz
@given(sane_priors(), metrics(ANY_NUMBER), goals(ANY_NUMBER), options(ANY_NUMBER), questions(ANY_NUMBER))
def test_no_question_of_any_numbers_breaks_out(prior, metric, goal, options, query) -> None:
    answer_or_refusal(lambda: describe(prior, metric, goal, options, query))


@fuzz
@given(
    st.one_of(priors(ANYTHING), sane_priors()),
    metrics(ANYTHING),
    goals(ANYTHING),
    options(ANYTHING),
    questions(ANYTHING),
)
def test_nothing_that_is_no_number_breaks_out(prior, metric, goal, options, query) -> None:
    answer_or_refusal(lambda: describe(prior, metric, goal, options, query))


@fuzz
@given(
    st.lists(ANYTHING, max_size=3),
    st.lists(st.lists(ANYTHING, max_size=3), max_size=3),
    st.lists(ANYTHING, max_size=3),
    ANYTHING,
)
def test_no_finite_world_breaks_out(prior, distance, goal, epsilon) -> None:
    answer_or_refusal(lambda: gp.FiniteWorld(prior=prior, distance=distance).posterior(goal=goal, epsilon=epsilon))


@fuzz
@given(
    st.lists(st.floats(0.01, 1), min_size=2, max_size=4),
    st.lists(ANY_NUMBER, min_size=6, max_size=6),
    st.lists(st.sampled_from([0, 1]), min_size=2, max_size=4),
    ANY_NUMBER,
)
def test_no_finite_world_of_the_right_shape_breaks_out(weights, distances, goal, epsilon) -> None:
    size = len(weights)
    distance = np.zeros((size, size))
    above = np.triu_indices(size, 1)
    distance[above] = [float(d) for d in distances[: len(above[0])]]
    prior = (np.array(weights) / np.sum(weights)).tolist()
    world = lambda: gp.FiniteWorld(prior=prior, distance=(distance + distance.T).tolist())  # noqa: E731
    answer_or_refusal(lambda: world().posterior(goal=goal, epsilon=epsilon))
    answer_or_refusal(lambda: world().epsilon(goal=goal, advantage=epsilon))
