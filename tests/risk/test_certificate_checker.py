"""Certificates: what the checker accepts is a bound, near the printed one; whatever is planted in them is rejected."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import guessproof as gp
from guessproof.errors import GuessproofError, NotCertifiedError
from guessproof.risk import Certificate

LINE_ROOM = 5e-3  # how much more than the printed posterior a certificate of one attribute may prove
PLANE_ROOM = 1e-6  # the same of two attributes: rounding of the repaired flow
CURVED_ROOM = 5e-3  # of discs: the checker knows their probability from slices only
FAMILIES: dict[str, Callable[[np.random.Generator], Any]] = {
    "normal": lambda rng: gp.normal(rng.normal(), rng.uniform(0.5, 2)),
    "uniform": lambda rng: gp.uniform(-rng.uniform(0.5, 2), rng.uniform(0.5, 3)),
    "exponential": lambda rng: gp.exponential(rng.uniform(0.5, 2)),
    "laplace": lambda rng: gp.laplace(rng.normal(), rng.uniform(0.5, 2)),
    "lognormal": lambda rng: gp.lognormal(rng.uniform(0.5, 2), rng.uniform(0.2, 1.2)),
    "gamma": lambda rng: gp.gamma(rng.uniform(0.3, 4), rng.uniform(0.3, 2)),
    "beta": lambda rng: gp.beta(rng.uniform(0.3, 4), rng.uniform(0.3, 4), -1, 3),
    "student_t": lambda rng: gp.student_t(rng.uniform(0.7, 8), rng.normal(), rng.uniform(0.5, 2)),
    "histogram": lambda rng: gp.histogram([-2, -1, 0.5, 1, 3], rng.dirichlet(np.ones(4))),
    "truncated": lambda rng: gp.truncated(gp.student_t(3), -rng.uniform(0.5, 2), rng.uniform(0.5, 2)),
    "mixture": lambda rng: gp.mixture((0.4, gp.normal(rng.normal(), 0.5)), (0.6, gp.lognormal(1, 0.5))),
    "empirical": lambda rng: gp.empirical(rng.normal(size=rng.integers(5, 60)).round(1)),
}
METRICS: dict[str, Callable[[np.random.Generator], Any]] = {
    "absolute": lambda rng: gp.Absolute(rng.uniform(0.5, 2)),
    "clamped": lambda rng: gp.Clamped(-rng.uniform(0, 2), rng.uniform(0.3, 2)),
    "threshold": lambda rng: gp.Threshold(-0.5, 0.7) + gp.Absolute(3),
    "step": lambda rng: gp.Absolute() + 0.3 * gp.Discrete(),
    "capped": lambda rng: gp.minimum(gp.Absolute(), rng.uniform(0.3, 2)),
}


def proven(bracket: gp.Bracket) -> Certificate:
    found = bracket.certificate()
    assert isinstance(found, Certificate)
    again = Certificate.from_json(found.to_json())
    assert again.check(found.question) == found.posterior
    return found


def line_attack(rng: np.random.Generator, family: str, metric: str) -> gp.Attack:
    """A random question about one attribute whose goal is neither certain nor empty."""
    while True:
        attribute = gp.Attribute("x", prior=FAMILIES[family](rng), metric=METRICS[metric](rng))
        low, high = sorted(rng.normal(0.5, 1, 2))
        kind = rng.integers(4)
        goal = gp.inside(attribute, (low, high))
        if kind == 1:
            goal = gp.inside(attribute, (low, high), (high + 0.3, high + 0.8))
        elif kind == 2:
            goal = ~gp.inside(attribute, (low, high))
        elif kind == 3:
            goal = gp.inside(attribute, (low, math.inf))
        attack = gp.Attack(goal)
        try:
            if 1e-9 < attack.prior < 1 - 1e-9:
                return attack
        except GuessproofError:
            continue


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("family", FAMILIES)
def test_line_certificates_prove_the_printed_bound(family: str, metric: str) -> None:
    rng = np.random.default_rng([list(FAMILIES).index(family), list(METRICS).index(metric)])
    attack = line_attack(rng, family, metric)
    for epsilon in (1e-3, float(rng.uniform(0.1, 1)), float(rng.uniform(2, 12))):
        bracket = attack.posterior(epsilon)
        if bracket.bound <= 1 - 1e-9:
            assert bracket.attack * (1 - 1e-12) <= proven(bracket).posterior <= bracket.bound * (1 + LINE_ROOM)


X = gp.Attribute("x", prior=gp.normal(0, 2))
Y = gp.Attribute("y", prior=gp.normal(0.5, 3), scale=1.5)
U = gp.Attribute("u", prior=gp.gamma(2, 1))
C = gp.Attribute("c", prior=gp.categorical({"a": 0.2, "b": 0.5, "c": 0.3}))
AT = {"x": 0.7, "y": -1.0, "u": 1.5, "c": "a"}


def ask(goal: Any, epsilon: float, norm: str) -> gp.Bracket:
    names = [a.name for a in goal.attributes]
    return gp.Attack(goal, at={name: AT[name] for name in names}, norm=norm).posterior(epsilon)


@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize(
    "goal",
    [
        gp.within(X, 1) & gp.within(Y, 2),
        gp.within(X, 1) | gp.within(U, 0.5),
        ~(gp.within(X, 1) & gp.within(Y, 2)),
        gp.inside(X, (-1, 0), (1, 2)) & gp.inside(U, (1, 3)),
        gp.exactly(C) & gp.within(X, 1),
    ],
    ids=repr,
)
def test_certificates_of_two_attributes_prove_the_printed_bound(goal: Any, norm: str) -> None:
    bracket = ask(goal, 0.05 if norm == "l2" else 0.6, norm)
    assert bracket.attack <= proven(bracket).posterior <= bracket.bound * (1 + PLANE_ROOM)


@pytest.mark.parametrize(("norm", "goal"), [("l3", gp.near((X, Y), 2)), ("linf", ~gp.near((X, Y), 2, by="l1"))])
def test_certificates_of_discs_prove_nearly_the_printed_bound(norm: str, goal: Any) -> None:
    bracket = ask(goal, 0.3, norm)
    assert bracket.attack <= proven(bracket).posterior <= bracket.bound * (1 + CURVED_ROOM)


def test_products_have_one_certificate_an_attribute() -> None:
    both, either = (
        (ask(goal, 0.3, "l1")) for goal in (gp.within(X, 1) & gp.within(Y, 2), gp.within(X, 1) | gp.within(Y, 2))
    )
    first, second = (c.check() for c in both.certificate())
    assert both.bound == pytest.approx(first * second, rel=2 * LINE_ROOM)
    first, second = (c.check() for c in either.certificate())
    assert either.bound == pytest.approx(1 - (1 - first) * (1 - second), rel=2 * LINE_ROOM)


def test_a_certificate_states_its_question() -> None:
    attack = gp.Attack(gp.within(X, 1), at={"x": 0.7})
    found, other = (attack.posterior(epsilon).certificate() for epsilon in (0.3, 0.31))
    assert found.question["epsilon"] == 0.3
    assert found.question["axes"][0]["prior"] == {"family": "normal", "mean": 0.0, "sd": 2.0}
    with pytest.raises(NotCertifiedError, match="another question"):
        found.check(other.question)


CAPPED = gp.Attribute("x", prior=gp.lognormal(2, 0.5), metric=gp.minimum(gp.Absolute(), 1.0))
SAMPLE = gp.Attribute("x", prior=gp.empirical([0.0, 0.5, 1.0, 1.5, 4.0]))
KINDS = {
    "recursion": gp.Attack(gp.within(X, 1), at={"x": 0.7}),
    "program": gp.Attack(gp.within(CAPPED, 1), at={"x": 2.0}),
    "atoms": gp.Attack(gp.within(SAMPLE, 0.6), at={"x": 1.0}),
    "two": gp.Attack(gp.within(X, 1) & gp.within(Y, 2), at={"x": 0.7, "y": -1.0}),
}


@functools.cache
def certificate(kind: str) -> str:
    """A certificate of each kind, as text."""
    return proven(KINDS[kind].posterior(0.7)).to_json()


def rejected(table: dict[str, Any]) -> None:
    with pytest.raises(NotCertifiedError):
        Certificate.from_json(json.dumps(table)).check()


@pytest.mark.parametrize("kind", KINDS)
def test_planted_errors_are_rejected(kind: str) -> None:
    text = certificate(kind)

    def planted(change: Callable[[dict[str, Any]], Any]) -> None:
        table = json.loads(text)
        change(table)
        assert json.dumps(table) != text
        rejected(table)

    largest = max(range(len(json.loads(text)["flow"])), key=lambda n: json.loads(text)["flow"][n][2])

    def flow(number: Callable[[list[Any]], Any]) -> Callable[[dict[str, Any]], Any]:
        def change(table: dict[str, Any]) -> None:
            table["flow"][largest] = number(table["flow"][largest])

        return change

    planted(lambda table: table.update(posterior=table["posterior"] * 0.99))
    planted(lambda table: table.update(posterior=math.nan))
    planted(lambda table: table.update(posterior=1.5))
    planted(lambda table: table["question"].update(epsilon=table["question"]["epsilon"] * 1.01))
    planted(lambda table: table["question"].update(epsilon=math.nan))
    planted(lambda table: table["question"].update(epsilon=-0.7))
    planted(flow(lambda edge: [*edge[:2], edge[2] * 1.01]))
    planted(flow(lambda edge: [*edge[:2], edge[2] * 0.99]))
    planted(flow(lambda edge: [edge[1], edge[0], edge[2]]))
    planted(flow(lambda edge: [*edge[:2], -edge[2]]))
    planted(flow(lambda edge: [*edge[:2], math.nan]))
    planted(flow(lambda edge: [edge[0], edge[0], edge[2]]))
    planted(flow(lambda edge: [edge[0], 10**6, edge[2]]))
    planted(flow(lambda edge: [edge[0], -1, edge[2]]))
    planted(flow(lambda edge: [edge[0], 0.5, edge[2]]))
    planted(lambda table: table["flow"].pop(largest))
    planted(lambda table: table["flow"].extend([*table["flow"][largest][:2], y] for y in (-1.0, 1.0)))
    planted(lambda table: table.update(flow=[]))
    planted(lambda table: table["question"].pop("goal"))
    planted(lambda table: table["cuts"].append([0.0]))
    if kind != "atoms":
        planted(lambda table: table["cuts"][0].reverse())
        planted(lambda table: table["cuts"][0].append(math.nan))
        planted(lambda table: table["cuts"][0].pop())


def axis(table: dict[str, Any]) -> dict[str, Any]:
    return table["question"]["axes"][0]


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("recursion", lambda t: axis(t)["prior"].update(mean=axis(t)["prior"]["mean"] + 0.02)),
        ("recursion", lambda t: axis(t)["prior"].update(sd=axis(t)["prior"]["sd"] * 0.99)),
        ("recursion", lambda t: axis(t)["prior"].update(sd=math.nan)),
        ("recursion", lambda t: axis(t)["prior"].update(family="unheard of")),
        ("recursion", lambda t: axis(t)["metric"].update(slopes=[1.01])),
        ("recursion", lambda t: axis(t)["metric"].update(step=0.01)),
        ("recursion", lambda t: axis(t)["metric"].update(cuts=[0.1], slopes=[1.0, 1.0], jumps=[0.0])),
        ("recursion", lambda t: t["question"]["goal"]["intervals"][0].__setitem__(1, 1.72)),
        ("recursion", lambda t: t["question"]["goal"]["intervals"][0].__setitem__(1, math.nan)),
        ("program", lambda t: axis(t)["metric"].update(cap=1.01)),
        ("program", lambda t: axis(t)["prior"].update(median=axis(t)["prior"]["median"] * 1.01)),
        ("atoms", lambda t: axis(t)["prior"]["weights"].__setitem__(2, 0.202)),
        ("atoms", lambda t: axis(t)["prior"].update(values=[0.0, 0.5, 1.0, 1.49, 4.0])),
        ("atoms", lambda t: t["question"]["goal"]["intervals"].append([4.0, 4.0])),
        ("two", lambda t: axis(t)["prior"].update(sd=axis(t)["prior"]["sd"] * 0.99)),
        ("two", lambda t: axis(t)["metric"].update(slopes=[1.01])),
        ("two", lambda t: t["question"].update(norm="l1")),
        ("two", lambda t: t["question"]["axes"].pop()),
    ],
)
def test_another_question_is_not_proven(kind: str, change: Callable[[dict[str, Any]], Any]) -> None:
    table = json.loads(certificate(kind))
    change(table)
    rejected(table)


@pytest.mark.parametrize(
    "bracket",
    [
        lambda: gp.Attack(gp.within(X, 1), at={"x": 0.7}).posterior([0.1, 0.2]),
        lambda: gp.Attack(gp.within(X, 1), at={"x": 0.7}).posterior(0.1, side="lower"),
        lambda: gp.Attack(gp.within(X, 1), at={"x": 0.7}).advantage(0.1),
        lambda: gp.Attack(gp.within(X, 1)).advantage(0.1),
        lambda: gp.Attack(gp.within(X, 1), at={"x": 0.7}, prior_factor=2).posterior(0.1),
    ],
)
def test_other_answers_have_no_certificate(bracket: Callable[[], gp.Bracket]) -> None:
    with pytest.raises(NotCertifiedError):
        bracket().certificate()


def test_a_density_that_is_only_computed_has_no_certificate() -> None:
    stats = pytest.importorskip("scipy.stats")
    attribute = gp.Attribute("x", prior=gp.from_scipy(stats.gumbel_r()))
    with pytest.raises(NotCertifiedError, match="recompute"):
        gp.Attack(gp.within(attribute, 1), at={"x": 0.5}).posterior(0.3).certificate()


def test_a_bracket_with_a_certificate_is_the_same_value() -> None:
    attack = gp.Attack(gp.within(X, 1), at={"x": 0.7})
    one, other = attack.posterior(0.3), attack.posterior(0.3)
    assert one == other
    assert "certif" not in repr(one) + str(one.to_dict())


def line_of(prior: dict[str, Any], **metric: Any) -> dict[str, Any]:
    """One axis of a question, with the distance |x − x′| unless told otherwise."""
    return {"prior": prior, "metric": {"cuts": [], "slopes": [1.0], "jumps": [], "step": 0.0, "cap": None} | metric}


def proves_no_less(question: dict[str, Any], cuts: list[list[float]], flow: Callable[[float], Any], q: float) -> None:
    """The checker agrees with the exact belief q and with nothing below it, whatever the flow is scaled for."""
    room = 1e-7 * (1 - q)
    assert Certificate(question, cuts, flow(q + room), q + room).check() == q + room
    for claimed in (q - room, q * 0.99):
        for used in (q - room, q, q + room):
            rejected(vars(Certificate(question, cuts, flow(used), claimed)))


FIRST = {"axis": 0, "intervals": [[None, 0.7]]}
DENSITIES: dict[str, tuple[dict[str, Any], float, float, Callable[[Any], Any]]] = {
    "normal": ({"family": "normal", "mean": 0.4, "sd": 1.5}, -math.inf, math.inf,
               lambda x: mp.exp(-(((x - 0.4) / 1.5) ** 2) / 2)),
    "laplace": ({"family": "laplace", "mean": 0.4, "scale": 0.3}, -math.inf, math.inf,
                lambda x: mp.exp(-abs(x - 0.4) / 0.3)),
    "exponential": ({"family": "exponential", "scale": 1.3}, 0.0, math.inf, lambda x: mp.exp(-x / 1.3)),
    "gamma": ({"family": "gamma", "shape": 2.5, "scale": 0.6}, 0.0, math.inf, lambda x: x**1.5 * mp.exp(-x / 0.6)),
    "lognormal": ({"family": "lognormal", "median": 0.8, "sd_log": 0.6}, 0.0, math.inf,
                  lambda x: mp.exp(-((mp.log(x / 0.8) / 0.6) ** 2) / 2) / x),
    "beta": ({"family": "beta", "a": 1.7, "b": 2.2, "low": -1.0, "high": 2.0}, -1.0, 2.0,
             lambda x: ((x + 1) / 3) ** 0.7 * ((2 - x) / 3) ** 1.2),
    "uniform": ({"family": "uniform", "low": -1.0, "high": 2.0}, -1.0, 2.0, lambda x: 1),
    "student_t": ({"family": "truncated", "base": {"family": "student_t", "mean": 0.1, "scale": 0.8, "df": 2.5},
                   "low": -2.0, "high": 3.0}, -2.0, 3.0, lambda x: (1 + ((x - 0.1) / 0.8) ** 2 / 2.5) ** -1.75),
    "histogram": ({"family": "histogram", "edges": [-1.0, 0.2, 2.0], "weights": [0.3, 0.7]}, -1.0, 2.0,
                  lambda x: 0.3 / 1.2 if x < 0.2 else 0.7 / 1.8),
    "mixture": ({"family": "mixture", "weights": [0.25, 0.75], "parts": [
                    {"family": "uniform", "low": -1.0, "high": 2.0}, {"family": "exponential", "scale": 0.5}]},
                -1.0, math.inf, lambda x: (0.25 / 3 if x < 2 else 0) + (0.75 * 2 * mp.exp(-2 * x) if x > 0 else 0)),
}  # fmt: skip


@pytest.mark.parametrize("epsilon", [0.02, 1.3])
@pytest.mark.parametrize("family", DENSITIES)
def test_all_below_a_cut_is_proven_exactly(family: str, epsilon: float) -> None:
    """L = e^{−εx} is the best likelihood, and one edge from cell to cell proves it: against quadrature in 30 digits."""
    prior, low, high, density = DENSITIES[family]
    with mp.workdps(30):
        inner = [x for x in (0.0, 0.2, 0.4, 2.0) if low < x < high]
        below, above = (sorted({a, *(x for x in inner if a < x < b), b}) for a, b in ((low, 0.7), (0.7, high)))
        whole = mp.quad(density, [*below, *above[1:]])
        goal = mp.quad(density, below) / whole
        likelihood = [mp.quad(lambda x: density(x) * mp.exp(-epsilon * x), part) for part in (below, above)]
        q = float(likelihood[0] / sum(likelihood))
    question = {"epsilon": epsilon, "norm": "linf", "axes": [line_of(prior)], "goal": FIRST}
    proves_no_less(question, [[0.7]], lambda level: [(0, 1, (1 - level) * float(goal) * (1 + 1e-10))], q)


@pytest.mark.parametrize(
    ("metric", "apart"),
    [
        ({}, 2.0),
        ({"slopes": [1.7]}, 3.4),
        ({"cuts": [0.5], "slopes": [0.0, 3.0], "jumps": [0.0]}, 4.5),
        ({"cuts": [0.5, 1.0], "slopes": [1.0, 0.0, 2.0], "jumps": [0.25, 0.5]}, 3.25),
        ({"step": 0.3}, 2.3),
        ({"cap": 1.1}, 1.1),
        ({"cap": 1.1, "step": 0.3}, 1.4),
        ({"table": [[0.0, 1.9], [1.9, 0.0]], "slopes": [0.0]}, 1.9),
    ],
)  # fmt: skip
@pytest.mark.parametrize("epsilon", [0.01, 0.8])
def test_two_atoms_are_proven_as_far_apart_as_they_are(metric: dict[str, Any], apart: float, epsilon: float) -> None:
    odds = 0.3 / 0.7 * math.exp(epsilon * apart)
    axis = line_of({"family": "finite", "values": [0.0, 2.0], "weights": [0.7, 0.3]}, **metric)
    question = {"epsilon": epsilon, "norm": "linf", "axes": [axis], "goal": {"axis": 0, "intervals": [[2.0, 2.0]]}}

    def flow(level: float) -> list[tuple[int, int, float]]:
        y = (1 - level) * 0.3 * math.exp(epsilon * metric.get("step", 0.0)) * (1 + 1e-10)
        return [(1, 2, y), (2, 0, y)] if "cap" in metric else [(1, 0, y)]

    proves_no_less(question, [[]], flow, odds / (1 + odds))


@pytest.mark.parametrize("epsilon", [0.01, 0.8])
@pytest.mark.parametrize("norm", ["l1", "l2", "l3", "linf"])
def test_four_cells_of_labels_are_proven_exactly(norm: str, epsilon: float) -> None:
    shares, apart = (0.2, 0.6), (1.3, 0.9)
    axes = [
        line_of({"family": "finite", "values": [0, 1], "weights": [1 - w, w]}, table=[[0.0, d], [d, 0.0]], slopes=[0.0])
        for w, d in zip(shares, apart, strict=True)
    ]
    both = {"all": [{"axis": axis, "intervals": [[1, 1]]} for axis in (0, 1)]}
    question = {"epsilon": epsilon, "norm": norm, "axes": axes, "goal": both}
    power = float(norm[1:])
    most = max(apart) if power == math.inf else sum(d**power for d in apart) ** (1 / power)
    masses = [(1 - shares[0]) * (1 - shares[1]), (1 - shares[0]) * shares[1], shares[0] * (1 - shares[1])]
    rest = [mass * math.exp(-epsilon * d) for mass, d in zip(masses, (most, *apart), strict=True)]
    goal = shares[0] * shares[1]

    def flow(level: float) -> list[tuple[int, int, float]]:
        scale = (1 - level) * goal / sum(rest) * (1 + 1e-10)
        return [(3, k, scale * share) for k, share in enumerate(rest)]

    proves_no_less(question, [[], []], flow, goal / (goal + sum(rest)))


def test_a_likelihood_may_fall_faster_beyond_a_cut() -> None:
    """The same under ψ of slope 1 below 0.7 and 2.5 above."""
    with mp.workdps(30):
        weight = [mp.quad(lambda x: mp.npdf(x) * mp.exp(0.9 * (0.7 - x)), (-mp.inf, 0.7)),
                  mp.quad(lambda x: mp.npdf(x) * mp.exp(0.9 * 2.5 * (0.7 - x)), (0.7, mp.inf))]  # fmt: skip
        q, goal = float(weight[0] / sum(weight)), float(mp.ncdf(0.7))
    axis = line_of({"family": "normal", "mean": 0.0, "sd": 1.0}, cuts=[0.7], slopes=[1.0, 2.5], jumps=[0.0])
    question = {"epsilon": 0.9, "norm": "linf", "axes": [axis], "goal": FIRST}
    proves_no_less(question, [[0.7]], lambda level: [(0, 1, (1 - level) * goal * (1 + 1e-10))], q)


SQUARE = [line_of({"family": "uniform", "low": 0.0, "high": 1.0}) for _ in range(2)]


@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_a_cell_that_the_goal_cuts_may_hold_more_of_it_after_the_release(epsilon: float) -> None:
    """A quarter of one cell: L may be e^ε times larger there than elsewhere, ε its diameter."""
    quarter = {"all": [{"axis": axis, "intervals": [[0.0, 0.5]]} for axis in (0, 1)]}
    question = {"epsilon": epsilon, "norm": "linf", "axes": SQUARE, "goal": quarter}
    q = math.exp(epsilon) / (math.exp(epsilon) + 3)
    proves_no_less(question, [[], []], lambda _: [], q)


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_cells_of_different_widths_are_coupled_with_their_spread(epsilon: float) -> None:
    """[0, 0.3]² and [0.3, 1]²: quantiles are 0.3 … 0.7 apart along either axis, the mean of the larger at most 0.6.

    The checker compares slices of a 256th, so that it knows these distances a little less closely.
    """
    corner = {"all": [{"axis": axis, "intervals": [[0.0, 0.3]]} for axis in (0, 1)]}
    question = {"epsilon": epsilon, "norm": "linf", "axes": SQUARE, "goal": corner}
    spread = 4 * math.atanh(math.tanh(epsilon * 0.3 / 4) * math.tanh(epsilon * 0.4 / 4))
    odds = 0.09 / 0.49 * math.exp(epsilon * 0.6 + spread)
    q = odds / (1 + odds)

    def proof(claimed: float) -> Certificate:
        return Certificate(question, [[0.3], [0.3]], [(0, 3, (1 - claimed) * 0.09 * (1 + 1e-10))], claimed)

    assert proof(q * 1.02).check() > q
    rejected(vars(proof(q * (1 - 1e-5))))
