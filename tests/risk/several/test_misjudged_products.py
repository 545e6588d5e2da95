"""Products of a wrong prior and a likelihood: no prior and no likelihood exceed what the linear program proves."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import guessproof as gp
from guessproof.auditing.wrong_priors import worst_beliefs
from guessproof.risk.misjudged import alternating, answer
from guessproof.risk.misjudged import products as module
from guessproof.risk.misjudged.cell_shares import lines_above
from guessproof.risk.misjudged.products import PricedBelief, Products, Search, products, stage_by_stage
from guessproof.risk.several.cells import cut
from guessproof.risk.several.lattice import Lattice, edges_between, goal_shares

X, Y = (gp.Attribute(name, prior=gp.uniform(-2, 2)) for name in "xy")
MIDDLE = {"x": 0.0, "y": 0.0}


def cells_of(goal: Any, at: dict[str, Any], epsilon: float, target: int, norm: Any = "linf") -> tuple[Lattice, Any]:
    several = gp.Attack(goal, at=at, norm=norm).several
    assert several is not None
    world = several.engine.joint_attack
    cells, _ = cut(world, goal, epsilon, target)
    return cells, goal_shares(cells, goal, world)[0] > 0.5


def program_of(
    goal: Any, at: dict[str, Any], epsilon: float, factor: float, target: int, *, fall: bool = False, norm: Any = "linf"
) -> Products:
    cells, correct = cells_of(goal, at, epsilon, target, norm)
    return products(cells, edges_between(cells, epsilon), correct ^ fall, epsilon, factor, ((1, 2), (1,)))


def proven(program: Products, enough: float = 0.0) -> float:
    return Search(program, 60.0, time.monotonic, *program.beliefs).most_risen(enough)


@pytest.mark.parametrize("seed", range(5))
def test_it_lies_above_the_exact_answer_of_small_tables(seed: int) -> None:
    """Two attributes with three or four values: every corner likelihood with its worst prior is known there."""
    draw = np.random.default_rng(seed)
    sizes, norm = draw.integers(2, 4, size=2), ("linf", "l1")[seed % 2]
    values = [np.cumsum(draw.uniform(0.3, 2.0, size=n)).round(3).tolist() for n in sizes]
    tables = [dict(zip(v, draw.dirichlet(np.full(len(v), 2.0)), strict=True)) for v in values]
    a, b = (
        gp.Attribute(name, prior=gp.categorical(table), metric=gp.Absolute(1.0))
        for name, table in zip("ab", tables, strict=True)
    )
    goal = gp.exactly(a) | gp.exactly(b) if seed % 3 else gp.exactly(a) & gp.exactly(b)
    epsilon, factor = float(draw.choice([0.1, 0.5, 2.0])), float(1 + 2 * draw.random())
    at = {"a": values[0][0], "b": values[1][1]}
    exact = gp.Attack(goal, at=at, norm=norm, prior_factor=factor)
    for fall in (False, True):
        engine: Any = exact._misjudged.engines[()]  # pyright: ignore[reportPrivateUsage]
        reached = engine.reached(epsilon, -1 if fall else 1)
        found = proven(program_of(goal, at, epsilon, factor, 100, fall=fall, norm=norm), 1.1 * reached)
        assert reached <= found <= 1.25 * reached + 1e-6


@pytest.mark.parametrize(
    ("both", "at", "fall"), [(False, (0.0, 0.0), True), (True, (0.0, 0.0), False), (False, (0.0, -1.0), False)]
)
def test_no_likelihood_exceeds_it(both: bool, at: tuple[float, float], fall: bool) -> None:
    """Drawn likelihoods, as steep as privacy allows, each with the prior that favours it most, on a fine grid."""
    x, y = gp.within(X, 1), gp.within(Y, 1)
    epsilon, factor, draw = 0.8, 3.0, np.random.default_rng(11)
    found = proven(
        program_of(x & y if both else x | y, dict(zip("xy", at, strict=True)), epsilon, factor, 25, fall=fall)
    )
    line = np.linspace(-2, 2, 81)[:-1] + 0.025
    places = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    near = np.abs(places - at) <= 1
    fits = (near.all(axis=1) if both else near.any(axis=1)).astype(float)
    mass, best = np.full(len(places), 1 / len(places)), 0.0
    for _ in range(60):
        peaks = draw.uniform(-2, 2, size=(int(draw.integers(1, 6)), 2))
        height = draw.uniform(0, 2, size=len(peaks))
        levels = np.max(height - np.abs(places[:, None] - peaks[None]).max(axis=-1), axis=1)
        for sign in (1, -1):
            after, before = worst_beliefs(mass * np.exp(sign * epsilon * levels), mass, fits, factor)[int(fall)]
            best = max(best, abs(after - before))
    assert best <= found <= 1.8 * best


@pytest.mark.parametrize("seed", range(4))
def test_no_share_of_a_cell_holds_more(seed: int) -> None:
    """Drawn likelihoods on one cell of a normal prior: lines lie above what its shares hold, and some are near."""
    draw = np.random.default_rng(seed)
    pair = [gp.Attribute(name, prior=gp.normal(0, sd)) for name, sd in (("x", 1), ("y", 2))]
    epsilon = float(draw.choice([0.5, 2.0]))
    cells, _ = cells_of(gp.within(pair[0], 1) | gp.within(pair[1], 1), MIDDLE, epsilon, 60)
    lines = lines_above(cells, epsilon)
    sized = np.flatnonzero(np.isfinite(cells.diameter))
    assert all(np.all(a[~np.isfinite(cells.diameter)] == 1) for a, _ in lines)
    gaps: list[float] = []
    for cell in draw.choice(sized, size=4, replace=False).tolist():
        x: list[Any] = []
        for axis, index in zip(cells.axes, cells.index, strict=True):
            prior: Any = axis.attribute.prior
            low, high = prior.cdf([axis.left[index[cell]], axis.right[index[cell]]])
            x.append(np.asarray(prior.quantile(draw.uniform(low, high, 4000))))
        for way in (x[0], x[1], np.maximum(x[0], x[1]), np.abs(x[0] - np.median(x[0]))):
            told = np.sort(np.exp(epsilon * way))[::-1]
            shares, held = np.arange(1, told.size + 1) / told.size, np.cumsum(told) / told.sum()
            above = np.min([a[cell] + b[cell] * shares for a, b in lines], axis=0)
            assert np.all(held <= above + 0.01)  # what 4000 draws leave open
            gaps.append(float(np.max((held - shares) / np.maximum(above - shares, 1e-9))))
    assert max(gaps) > 0.6


def test_a_cell_of_two_values_is_met() -> None:
    """Half of the values at either end of a line: what a share holds is what the lines say, where they touch."""
    pair = gp.Attribute("x", prior=gp.uniform(0, 1)), gp.Attribute("y", prior=gp.uniform(0, 1))
    goal = gp.within(pair[0], 0.25) & gp.within(pair[1], 0.25)
    cells, _ = cells_of(goal, {"x": 0.25, "y": 0.25}, 1.0, 4)
    ratio = np.exp(1.0 * cells.diameter[0])
    least, most = (np.min([a[0] + b[0] * s for a, b in lines_above(cells, 1.0)]) for s in (0.0, 0.5))
    assert least < 0.02
    assert 0.5 + 0.25 * 0.5 * (np.sqrt(ratio) - 1) / np.sqrt(ratio) < most < ratio / (1 + ratio)


def test_mirror_images_save_work_and_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    goal = gp.within(X, 1) | gp.within(Y, 1)
    program = program_of(goal, MIDDLE, 0.8, 3.0, 36)
    answers = [program.at(p, 0.7, 60.0) for p in (0.7, 0.8)]
    monkeypatch.setattr(module, "_alike", lambda *_: False)
    whole = program_of(goal, MIDDLE, 0.8, 3.0, 36)
    assert whole.goal.size > 2.5 * program.goal.size
    for p, one in zip((0.7, 0.8), answers, strict=True):
        other = whole.at(p, 0.7, 60.0)
        assert one is not None
        assert other is not None
        assert one.bound == pytest.approx(other.bound, rel=1e-6)


def test_no_price_of_a_solver_is_trusted() -> None:
    """Whatever prices are handed in, and whatever value is claimed: what is certified lies above the value."""
    program = program_of(gp.within(X, 1) | gp.within(Y, 1), MIDDLE, 0.8, 3.0, 16)
    gain = program.goal + 0.7 * (0.75 * program.whole_before - program.goal_before)
    rows, zeros, whole = program.rows, np.zeros(program.rows.shape[0]), program.whole[None, :]
    value = -linprog(-gain, A_ub=rows, b_ub=zeros, A_eq=whole, b_eq=[1.0], bounds=(0, None)).fun
    found = program.at(0.75, 0.7, 60.0)
    assert found is not None
    assert value <= found.bound <= value * (1 + 1e-6)
    draw = np.random.default_rng(0)
    for size, guess in itertools.product((0.0, 1e-3, 1.0), (0.0, 0.5, value)):
        prices = size * draw.random(program.rows.shape[0])
        assert program.certified(gain, prices, guess) >= value * (1 - 1e-9)
    for unknown in (0, 1, program.goal.size // 2):
        aim = np.zeros(program.goal.size)
        aim[unknown] = 1.0
        most = -linprog(-aim, A_ub=rows, b_ub=zeros, A_eq=whole, b_eq=[1.0], bounds=(0, None)).fun
        assert program.most[unknown] >= most * (1 - 1e-9)
        assert unknown > 1 or program.most[unknown] <= 2.5 * most  # for a cell itself it is what a peak there reaches


@pytest.mark.parametrize("at", [(0.0, 0.0), (0.0, -1.0)], ids=["mirrored", "not"])
def test_products_around_a_cell_prove_more(at: tuple[float, float]) -> None:
    goal, place = gp.within(X, 1) | gp.within(Y, 1), dict(zip("xy", at, strict=True))
    cells, correct = cells_of(goal, place, 0.8, 36)
    edges, rises = edges_between(cells, 0.8), list[float]()
    for rings in (((), ()), ((1,), (1,))):
        found = products(cells, edges, correct, 0.8, 3.0, rings).best(0.7, 60.0)
        assert found is not None
        rises.append(found.rise)
    assert rises[1] < 0.99 * rises[0]


def test_the_best_price_is_the_best() -> None:
    program = program_of(gp.within(X, 1) | gp.within(Y, 1), MIDDLE, 0.8, 3.0, 16)
    best = program.best(0.78, 60.0)
    assert best is not None
    for factor in (0.7, 0.95, 1.0, 1.05, 1.4):
        other = program.at(0.78, best.price * factor, 60.0)
        assert other is not None
        assert best.bound <= other.bound * (1 + 1e-9)
        assert factor != 1 or best.bound == pytest.approx(other.bound, rel=1e-6)


def test_both_ends_prove_what_lies_between() -> None:
    """Nodes with different prices, against the program's own answer at beliefs between them."""
    program = program_of(gp.within(X, 1) | gp.within(Y, 1), MIDDLE, 0.8, 3.0, 16)
    low, high = program.best(0.7, 60.0), program.best(0.86, 60.0)
    assert low is not None
    assert high is not None
    assert low.price > 1.2 * high.price
    inner = [program.best(p, 60.0) for p in (0.74, 0.78, 0.82)]
    most, _ = low.between(high)
    rises = [node.rise for node in inner if node is not None]
    assert len(rises) == 3
    assert max(rises) <= most <= 1.2 * max(rises)
    part = Search(program, 60.0, time.monotonic, 0.7, 0.75).most_risen(0.0)
    assert rises[0] <= part <= proven(program) * 1.01


@pytest.mark.parametrize("seed", range(8))
def test_two_nodes_say_no_more_than_they_know(seed: int) -> None:
    """after + π·(q − p)·z ≤ B at both, for any z: the largest after − p of all such is what is said, and where."""
    draw = np.random.default_rng(seed)
    first = PricedBelief(0.4, float(draw.uniform(0.1, 3)), float(draw.uniform(0.45, 0.6)))
    second = PricedBelief(0.6, float(draw.uniform(0.1, 3)), float(draw.uniform(0.5, 0.85)))
    most, at = first.between(second)
    p, z = np.linspace(0.4, 0.6, 401)[:, None], np.concatenate([-np.logspace(4, -4, 3000), np.logspace(-4, 4, 3000)])
    allowed = [node.bound + node.price * (p - node.belief) * z for node in (first, second)]
    after = np.max(np.minimum(*allowed), axis=1)
    rises = after - p[:, 0]
    assert float(np.max(rises)) == pytest.approx(most, abs=2e-3)
    assert np.max(rises) <= most
    assert rises[np.argmin(np.abs(p[:, 0] - at))] == pytest.approx(most, abs=4e-3)


def test_a_finer_program_is_asked_only_where_it_is_needed() -> None:
    """What is proven of some beliefs stays; the others are named, and both together are all."""
    program = program_of(gp.within(X, 1) | gp.within(Y, 1), MIDDLE, 0.8, 3.0, 16)
    search = Search(program, 60.0, time.monotonic, *program.beliefs)
    whole = proven(program)
    enough = 0.95 * whole
    most = search.most_risen(enough, finer=True)
    left, rest = search.above(enough)
    assert left is not None
    assert program.beliefs[0] <= left[0] < left[1] <= program.beliefs[1]
    assert left[1] - left[0] < 0.8 * (program.beliefs[1] - program.beliefs[0])
    assert rest <= enough < whole <= most * 1.01
    beside = [node.rise for node in search.nodes if not left[0] <= node.belief <= left[1]]
    assert 0 < max(beside) <= rest
    assert Search(program, 60.0, time.monotonic, *left).most_risen(0.0) == pytest.approx(whole, rel=0.02)
    assert search.above(1.0) == (None, most)


def test_a_bracket_is_narrowed_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Either number near its truth: by odds alone the bound is far above what is reached; a limit allows a larger ε."""
    monkeypatch.setattr(answer, "_CELLS", (100, 100))
    monkeypatch.setattr(alternating, "_CELLS", 100)
    monkeypatch.setattr(alternating, "_FINER", 4)
    monkeypatch.setattr(alternating, "_BOXES", 20_000)
    x, y = (gp.Attribute(name, prior=gp.normal(0, sd)) for name, sd in (("x", 2), ("y", 3)))
    strict = gp.Attack(gp.within(x, 1) | gp.within(y, 1), at=MIDDLE, prior_factor=1.5)
    quick = strict.advantage(0.3)
    close = strict.advantage(0.3, tolerance=0.25, time_limit=60)
    assert 1.04 * float(quick.attack) < float(close.attack) < float(close.bound) < 0.87 * float(quick.bound)


@pytest.mark.parametrize("fall", [False, True], ids=["rise", "fall"])
def test_taking_turns_reaches_what_it_says(fall: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack's own likelihood and prior, on a grid of points: they reach no less than is said, and hardly more."""
    monkeypatch.setattr(alternating, "_CELLS", 36)
    seen: list[Any] = []
    means = alternating.box_means
    monkeypatch.setattr(alternating, "box_means", lambda peaks, *rest: seen.append(peaks) or means(peaks, *rest))
    goal = gp.within(X, 1) | gp.within(Y, 1)
    several = gp.Attack(goal, at=MIDDLE).several
    assert several is not None
    said = alternating.alternating_rise(several.engine.joint_attack, ~goal if fall else goal, 0.8, 3.0)
    line = np.linspace(-2, 2, 201)[:-1] + 0.01
    places = [part.ravel() for part in np.meshgrid(line, line, indexing="ij")]
    fits = ((np.abs(places[0]) <= 1) | (np.abs(places[1]) <= 1)) ^ fall
    mass = np.full(fits.size, 1 / fits.size)
    reached: list[float] = []
    for peaks in seen:  # of coarse cells, and of fine ones
        after, before = worst_beliefs(mass * np.exp(peaks.log_likelihood(places)), mass, fits.astype(float), 3.0)[0]
        reached.append(after - before)
    assert len(reached) == 2
    assert 0.98 * max(reached) <= said <= max(reached) * (1 + 2e-3)


def test_cells_on_a_mirror_count_once() -> None:
    """Three values on either axis, the middle one its own mirror image: the exact answer is met as closely as any."""
    pair = [
        gp.Attribute(name, prior=gp.categorical({-1.0: side, 0.0: 1 - 2 * side, 1.0: side}), metric=gp.Absolute(1.0))
        for name, side in (("x", 0.45), ("y", 0.4))
    ]
    goal = gp.exactly(pair[0]) | gp.exactly(pair[1])
    engine: Any = gp.Attack(goal, at=MIDDLE, prior_factor=2.0)._misjudged.engines[()]  # pyright: ignore[reportPrivateUsage]
    program, reached = program_of(goal, MIDDLE, 0.5, 2.0, 100), engine.reached(0.5, 1)
    assert program.beliefs[0] == pytest.approx(engine.widths.beliefs(2.0)[0])
    assert np.count_nonzero(program.goal) == 6  # three orbits, each with its mean and its product
    assert reached <= proven(program) <= 1.1 * reached


@dataclass
class Stub:
    """A program whose answers are known: the largest of a few lines, at any p and price."""

    lines: Any
    beliefs: tuple[float, float] = (0.3, 0.7)

    def at(self, p: float, price: float, _seconds: float) -> PricedBelief:
        goal, before, whole = self.lines.T
        return PricedBelief(p, price, float(np.max(goal + price * (p * whole - before))))

    def best(self, p: float, seconds: float) -> PricedBelief | None:
        if p in self.beliefs:
            return None
        return min((self.at(p, price, seconds) for price in np.linspace(0.05, 8, 400)), key=lambda node: node.bound)


@pytest.mark.parametrize("seed", range(30))
def test_intervals_and_prices_lose_nothing(seed: int) -> None:
    """Points (belief before, after) that a program allows: the largest rise of any of them is found, from above."""
    draw = np.random.default_rng(seed)
    before, whole = draw.uniform(0.3, 0.7, size=12), draw.uniform(0.8, 1.5, size=12)
    rise = draw.uniform(0.02, 0.05, size=12)
    rise[draw.integers(12)] = 0.1
    lines = np.stack([before + rise, before * whole, whole], axis=1)
    stub: Any = Stub(lines)
    found = Search(stub, 60.0, time.monotonic, *stub.beliefs).most_risen(0.0)
    assert 0.1 * (1 - 1e-9) <= found <= 0.11


def test_what_one_stage_settles_is_no_less_after_the_next() -> None:
    """Two attacks, from 0.5 and from 0.35: the finer program knows better of the first, and is not asked of the other.

    It claims that nothing rises at all; what the coarse one proved of the other still counts.
    """
    lines = np.array([[0.7, 0.5, 1.0], [0.42, 0.35, 1.0], [0.3, 0.3, 1.0], [0.7, 0.7, 1.0]])
    coarse, fine, asked = Stub(lines), Stub(lines[2:]), list[float]()
    best = fine.best
    fine.best = lambda p, seconds: asked.append(p) or best(p, seconds)
    stages: Any = [(coarse, False), (fine, True)]
    found = stage_by_stage(stages, 0.15, 60.0, time.monotonic)
    assert 0.07 <= found <= 0.15
    assert min(asked) > 0.3
    assert stage_by_stage(stages[:1], 0.15, 60.0, time.monotonic) >= 0.2
    assert stage_by_stage([], 0.15, 60.0, time.monotonic) == 1.0


def test_without_time_nothing_is_proven() -> None:
    stub: Any = Stub(np.array([[0.6, 0.5, 1.0]]))
    clock = iter(range(100))
    late = Search(stub, 2.5, lambda: float(next(clock)), *stub.beliefs)
    assert late.most_risen(0.0) == 1.0
    assert late.nodes == []


def test_a_fall_is_the_rest_that_rises(monkeypatch: pytest.MonkeyPatch) -> None:
    """A goal that is believed in already hardly rises, but falls far."""
    for room in (answer, alternating):
        monkeypatch.setattr(room, "_CELLS", (25, 25) if room is answer else 25)
    several = gp.Attack(gp.within(X, 1.5) | gp.within(Y, 1.5), at=MIDDLE).several
    assert several is not None
    engine = answer.misjudged_several(several.engine, 3.0).engines[()]
    reached = engine.climbed(1.0, -1)
    assert reached > 0.1
    assert reached <= engine.narrowed(1.0, -1, reached, 20.0)
