"""Certified cells: they hold the linear program of a grid, their attack is feasible, their proof is checked anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reference import linear_program

import guessproof as gp
from guessproof.risk.several import cells as cells_module
from guessproof.risk.several.cells import certified_cells, cut
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.lattice import edges_between, goal_shares
from guessproof.risk.several.program import Edges, best_odds, certify
from guessproof.world.goals import combine

X = gp.Attribute("x", gp.normal(0, 1))
Y = gp.Attribute("y", gp.laplace(0.5, 1), scale=2)
Z = gp.Attribute("z", gp.uniform(0, 4))
WORD = gp.Attribute("word", gp.categorical({"u": 0.3, "v": 0.5, "w": 0.2}))

GOALS = {
    "and": gp.within(X, 1) & gp.within(Y, 1),
    "or": gp.within(X, 1) | gp.within(Z, 1),
    "not": gp.within(X, 1) & ~gp.within(Z, 1),
    "twice": (gp.within(X, 1) & gp.within(Z, 1)) | (~gp.within(X, 1) & ~gp.within(Z, 1)),
    "disc": gp.near((X, Z), 1.2, by="l2"),
    "diamond": gp.near((X, Z), 1.2, by="l1"),
    "mixed": gp.within(X, 1) & gp.exactly(WORD),
    "either": gp.within(X, 1) | gp.exactly(WORD),
}
TRUTH = {"x": 0.4, "y": 0.1, "z": 1.7, "word": "v"}


def on_grid(goal, norm: str, epsilon: float, side: str, points: int = 27) -> float:
    """The optimal posterior when every line is replaced by a few points, all near pairs being constraints."""
    columns, masses = [], []
    for attribute in goal.attributes:
        if attribute.name == "word":
            columns.append(np.arange(3.0))
            masses.append(np.array(attribute.prior.weights))
            continue
        low, high = (float(e) for e in attribute.prior.quantile([2e-4, 1 - 2e-4]))
        t = TRUTH[attribute.name]
        marks = [m for m in (t - 1, t + 1) if low < m < high] if goal.attributes and "disc" not in str(goal) else []
        edges = np.unique(np.concatenate([np.linspace(low, high, points + 1), marks]))
        edges[0], edges[-1] = attribute.prior.support
        inner = np.where(np.isfinite(edges), edges, np.where(edges < 0, low - 1, high + 1))
        columns.append((inner[1:] + inner[:-1]) / 2)
        masses.append(np.asarray(attribute.prior.mass(edges[:-1], edges[1:])))
    grid = [g.ravel() for g in np.meshgrid(*columns, indexing="ij")]
    mass = np.multiply.outer(*masses).ravel()
    names = [a.name for a in goal.attributes]
    parts = []
    for attribute, column in zip(goal.attributes, grid, strict=True):
        gap = np.abs(column[:, None] - column[None, :]) / attribute.scale
        parts.append((gap > 0).astype(float) if attribute.name == "word" else gap)
    distance = combine(norm, parts)
    marks = meets(goal, dict(zip(names, grid, strict=True)))
    near = np.argsort(distance, axis=1)[:, 1:29]
    pairs = np.unique(np.sort(np.stack([np.repeat(np.arange(len(mass)), 28), near.ravel()], axis=1), axis=1), axis=0)
    return linear_program.posterior_on_pairs(mass / mass.sum(), distance, marks, pairs, epsilon, side)


def meets(goal, point) -> np.ndarray:
    from guessproof.world.goals import And, Near, Not, Or

    if isinstance(goal, And):
        return np.min([meets(p, point) for p in goal.parts], axis=0)
    if isinstance(goal, Or):
        return np.max([meets(p, point) for p in goal.parts], axis=0)
    if isinstance(goal, Not):
        return 1 - meets(goal.part, point)
    names = [a.name for a in goal.attributes]
    if isinstance(goal, Near):
        return goal.holds([point[n] for n in names], [TRUTH[n] for n in names]).astype(float)
    if names == ["word"]:
        return (point["word"] == 1).astype(float)
    return (np.abs(point[names[0]] - TRUTH[names[0]]) <= 1).astype(float)


def logit(p: float) -> float:
    return float(np.log(p / (1 - p)))


@pytest.mark.parametrize(
    ("name", "norm"),
    [(n, "linf") for n in GOALS]
    + [(n, "l2") for n in ("and", "disc", "mixed")]
    + [(n, "l1") for n in ("twice", "diamond")],
)
def test_the_bracket_holds_the_value_of_a_grid(name: str, norm: str) -> None:
    goal = GOALS[name]
    attack = gp.Attack(goal, at={a.name: TRUTH[a.name] for a in goal.attributes}, norm=norm)
    side, epsilon = ("upper", 0.8) if name in ("and", "twice", "disc", "mixed") else ("lower", 0.5)
    bracket = attack.posterior(epsilon, side=side, tolerance=0.06, time_limit=60)
    grid = logit(on_grid(goal, norm, epsilon, side))
    curved = 0.08 if name in ("disc", "diamond") else 0.035  # what a grid of this size is off by
    low, high = sorted((logit(bracket.attack), logit(bracket.bound)))
    assert low - curved <= grid <= high + curved
    assert abs(logit(bracket.bound) - logit(bracket.attack)) < 0.35


def scene_for(goal, norm: str = "linf") -> JointAttack:
    return JointAttack({a.name: a for a in goal.attributes}, {a.name: TRUTH[a.name] for a in goal.attributes}, norm)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("name", ["and", "or", "disc", "mixed"])
def test_the_attack_is_a_feasible_likelihood(name: str, norm: str) -> None:
    goal, epsilon = GOALS[name], 0.9
    found = certified_cells(scene_for(goal, norm), goal, epsilon, 300)
    assert found.peaks is not None
    rng = np.random.default_rng(1)
    places, points = [], []
    for attribute, axis in zip(goal.attributes, found.peaks.axes, strict=True):
        if axis.is_finite:
            own = rng.integers(0, axis.size, 300)
            places.append(own.astype(float))
            points.append(own)
        else:
            x = np.asarray(attribute.prior.quantile(rng.uniform(1e-6, 1 - 1e-6, 300)))
            places.append(np.asarray(attribute.distance.line_form.psi(x)))
            points.append(x)
    log_l = found.peaks.log_likelihood(places)
    gaps = []
    for attribute, axis, p in zip(goal.attributes, found.peaks.axes, points, strict=True):
        gap = (
            axis.table[p[:, None], p[None, :]]
            if axis.is_finite
            else attribute.distance.distance(p[:, None], p[None, :])
        )
        gaps.append(gap)
    allowed = epsilon * combine(norm, gaps)
    assert np.all(log_l[:, None] - log_l[None, :] <= allowed + 1e-9)


def test_the_attack_is_worth_what_it_claims() -> None:
    """Drawing from the prior gives the odds that the integration on boxes promises, or a little more."""
    goal, epsilon = GOALS["and"], 0.9
    found = certified_cells(scene_for(goal), goal, epsilon, 1200)
    rng = np.random.default_rng(3)
    points = [np.asarray(a.prior.quantile(rng.uniform(0, 1, 400_000))) for a in goal.attributes]
    places = [np.asarray(a.distance.line_form.psi(p)) for a, p in zip(goal.attributes, points, strict=True)]
    likelihood = np.concatenate(
        [np.exp(found.peaks.log_likelihood([p[i : i + 20_000] for p in places])) for i in range(0, 400_000, 20_000)]
    )
    inside = np.all([np.abs(p - TRUTH[a.name]) <= 1 for a, p in zip(goal.attributes, points, strict=True)], axis=0)
    drawn = np.log(likelihood[inside].sum() / likelihood[~inside].sum())
    assert found.attack <= drawn + 0.012
    assert found.attack >= drawn - 0.05


def program(goal, epsilon: float, target: int = 200):
    joint_attack = scene_for(goal)
    lattice, _ = cut(joint_attack, goal, epsilon, target)
    _, share = goal_shares(lattice, goal, joint_attack)
    return lattice, lattice.mass * share, lattice.mass * (1 - share), edges_between(lattice, epsilon)


def test_any_prices_at_all_prove_a_true_bound() -> None:
    """The certificate must not trust the solver: random prices may be weak, never wrong."""
    rng = np.random.default_rng(0)
    _, inside, outside, edges = program(GOALS["and"], 0.8)
    best = best_odds(inside, outside, edges)
    ratio = np.exp(-edges.cost)
    for scale in (0.0, 1e-4, 1e-2, 1.0):
        prices = rng.uniform(0, scale, edges.rows.size) * inside.mean()
        least = certify(inside, outside, edges, ratio, prices)
        assert least <= 0 or -np.log(least) >= best.bound - 1e-7


def test_the_bound_is_tight_for_its_own_program() -> None:
    lattice, inside, outside, edges = program(GOALS["or"], 0.8)
    found = best_odds(inside, outside, edges)
    m = np.exp(found.log_m)
    assert np.all(m[edges.rows] <= np.exp(edges.cost) * m[edges.cols] * (1 + 1e-6) + 1e-12)
    assert np.log(inside @ m / (outside @ m)) == pytest.approx(found.bound, abs=1e-6)
    assert lattice.mass.sum() == pytest.approx(1)


def test_cell_averages_of_real_likelihoods_obey_every_edge() -> None:
    """The soundness of the coupling itself: average e^{−ε|x−c|} over cells and check all constraints."""
    goal, epsilon = gp.within(X, 1) & gp.within(Y, 1), 1.3
    lattice, _, _, edges = program(goal, epsilon, 300)
    rng = np.random.default_rng(2)
    u = (np.arange(40) + 0.5) / 40
    nodes = []
    for axis in lattice.axes:
        prior = axis.attribute.prior
        with np.errstate(invalid="ignore"):
            below = np.asarray(prior.cdf(axis.left))[:, None]
        nodes.append(np.asarray(prior.quantile(below + axis.mass[:, None] * u)) / axis.attribute.scale)
    for _ in range(6):
        centre = rng.normal(0, 1.5, 2)
        gaps = [np.abs(n - c) for n, c in zip(nodes, centre, strict=True)]
        sign = 1 if rng.random() < 0.7 else -1
        far = np.maximum(gaps[0][:, None, :, None], gaps[1][None, :, None, :])
        mean = np.mean(np.exp(-sign * epsilon * np.minimum(far, 4.0)), axis=(2, 3)).ravel()[lattice.keep]
        slack = np.log(mean[edges.rows]) - edges.cost - np.log(mean[edges.cols])
        assert np.max(slack) <= 2e-3  # the sampling of the averages, not the edges


@pytest.mark.parametrize("spoil", [0.9, 0.97])
def test_shorter_edges_would_be_caught(spoil: float) -> None:
    """With every way a little too short the bound falls below what an attack reaches."""
    goal, epsilon = gp.within(X, 1) & gp.within(Z, 1), 1.0
    joint_attack = scene_for(goal)
    honest = gp.Attack(goal, at={"x": TRUTH["x"], "z": TRUTH["z"]}).posterior(epsilon)
    _, inside, outside, edges = program(goal, epsilon, 1200)
    wrong = best_odds(inside, outside, Edges(edges.rows, edges.cols, spoil * edges.cost))
    assert wrong.bound < logit(honest.attack)
    assert best_odds(inside, outside, edges).bound >= logit(honest.attack)
    assert joint_attack.norm == "linf"


def test_time_limits_are_kept() -> None:
    """Where the clock has run out nothing more is refined; the bracket is then the cheap one."""
    attack = gp.Attack(GOALS["or"], at={"x": 0.4, "z": 1.7}, norm="l2")
    rounds: list[object] = []
    bracket = attack.posterior(1.0, tolerance=1e-9, time_limit=1e-4, progress=rounds.append)
    assert len(rounds) <= 1
    assert bracket.attack <= bracket.bound


def test_three_attributes_when_coarse() -> None:
    goal = gp.within(X, 1) & (gp.within(Z, 1) | ~gp.within(Y, 1))
    attack = gp.Attack(goal, at={"x": 0.4, "y": 0.1, "z": 1.7})
    cheap, refined = attack.posterior(0.6), attack.posterior(0.6, tolerance=0.1, time_limit=60)
    assert cheap.attack <= refined.attack <= refined.bound <= cheap.bound
    assert logit(refined.bound) - logit(refined.attack) < 0.2


def test_cells_know_what_they_cannot_cut() -> None:
    many = [gp.Attribute(n, gp.normal(0, 1)) for n in "abcd"]
    goal = gp.within(many[0], 1) & gp.within(many[1], 1) & gp.within(many[2], 1) & gp.within(many[3], 1)
    at = dict.fromkeys("abcd", 0.0)
    assert not cells_module.can_cut(JointAttack({a.name: a for a in many}, at, "linf"), goal)
    attack = gp.Attack(goal, at=at)
    assert attack.posterior(0.3, tolerance=0.01) == replace(attack.posterior(0.3))


@pytest.mark.parametrize("metric", [gp.Threshold(1.0), gp.Outcome((-1.0, 1.0)), gp.Threshold(-1.5)])
@pytest.mark.parametrize("shape", ["and", "or"])
def test_a_break_at_the_edge_of_a_tail_is_crossed(metric: gp.Outcome, shape: str) -> None:
    """Beyond its last break a filter tells nothing more, so that the tail begins there, on the other side of it."""
    x, y = gp.Attribute("x", gp.normal(0, 1), metric=metric), gp.Attribute("y", gp.normal(0, 2))
    goal = gp.within(x, 1) & gp.within(y, 1) if shape == "and" else gp.within(x, 1) | gp.within(y, 1)
    for epsilon in (0.5, 1.0):
        found = gp.Attack(goal, at={"x": 0, "y": 0}).posterior(epsilon, tolerance=0.02, time_limit=1)
        assert found.attack <= found.bound, (epsilon, found)
