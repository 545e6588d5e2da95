"""The worst true place where densities have edges: what bends, what boxes prove, and what drawn places give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import guessproof as gp
from guessproof.risk.several.edged_axis import EdgedAxis, Pieces
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.moving import BoxBeliefs, moving
from guessproof.risk.several.near import disc_prior
from guessproof.risk.several.worst import Boxes
from guessproof.risk.several.worst_place import WorstPlace
from guessproof.world.goals import combine, other_side
from guessproof.world.line import LinePrior, Truncated

PRIORS = (
    gp.uniform(0.0, 4.0),
    gp.laplace(0.5, 1.2),
    gp.exponential(1.5),
    gp.histogram([0.0, 1.0, 1.5, 3.0, 4.0], [0.2, 0.3, 0.4, 0.1]),
    gp.truncated(gp.normal(0.0, 2.0), -1.0, 3.0),
    gp.normal(0.0, 1.5),
)


def numbers(one: int, other: int) -> dict[str, gp.Attribute]:
    return {"x": gp.Attribute("x", PRIORS[one]), "y": gp.Attribute("y", PRIORS[other])}


def exact(attribute: gp.Attribute, radius: float, t: float, epsilon: float, side: str) -> tuple[float, float]:
    """The belief in one number before and after."""
    one = gp.Attack(gp.within(attribute, radius), at={attribute.name: t})
    return one.prior, float(one.posterior(epsilon, side).bound)


def drawn_box(rng: np.random.Generator, attribute: gp.Attribute, radius: float) -> tuple[float, float]:
    """True values of one number, often beside an edge of its density or where that passes an end of the goal."""
    prior: Any = attribute.prior
    low, high = (float(v) for v in prior.quantile([0.01, 0.99]))
    edges = [e for e in (*prior.support, *prior.breaks) if np.isfinite(e)]
    start = float(rng.uniform(low, high))
    if edges and rng.random() < 0.7:
        start = float(rng.choice(edges)) + float(rng.choice([-1.0, 0.0, 1.0])) * radius * float(rng.uniform(0.7, 1.05))
    low, high = max(low, prior.support[0]), min(high, prior.support[1])
    start = min(max(start, low), high)
    end = min(start + float(rng.uniform(0.05, 0.8)) * radius, high)
    return (start, end) if end > start else (start - 0.2 * radius, start)


def test_no_place_in_a_box_exceeds_what_its_corners_prove() -> None:
    """By ℓ1 the product of single beliefs is exact."""
    rng, tightest = np.random.default_rng(11), 0.0
    for turn in range(60):
        world = numbers(turn % 5, int(rng.integers(6)))
        radii = rng.uniform(0.3, 1.2, 2)
        goal = gp.within(world["x"], float(radii[0])) & gp.within(world["y"], float(radii[1]))
        moved = moving(world, goal, "l1")
        assert moved is not None
        epsilon, aim = float(rng.choice([0.1, 0.5, 1.5])), str(rng.choice(["rise", "fall", "posterior"]))
        misses, after = aim == "fall", aim == "posterior"
        ends = [drawn_box(rng, a, float(r)) for a, r in zip(world.values(), radii, strict=True)]
        if turn % 2:  # along one axis only
            ends[1] = (ends[1][0], ends[1][0])

        def both(place: Any, *, w: Any = world, r: Any = radii, e: float = epsilon, m: bool = misses) -> Any:
            side = "lower" if m else "upper"
            found = [exact(a, float(q), float(t), e, side) for a, q, t in zip(w.values(), r, place, strict=True)]
            return np.prod(found, axis=0)

        p, u = np.array([both((s, t)) for s in ends[0] for t in dict.fromkeys(ends[1])]).T
        p, u = (1 - p, 1 - u) if misses else (p, u)
        if max(u) == 1:  # a tail that ε outweighs
            continue
        low, high = (np.array([e[i] for e in ends]) - moved.mean for i in (0, 1))
        corners = BoxBeliefs(np.log(p), np.log1p(-p), np.log(u), np.log1p(-u))
        most = moved.most(corners, low, high, epsilon, misses, after)
        whole = moved.bends.within(low, high, epsilon, misses)
        for place in (0.5 * (low + high), *rng.uniform(low, high, (3, 2))):
            before, then = both(place + moved.mean)
            value = then if after else abs(then - before)
            assert value <= min(most, whole) * (1 + 1e-9)
            tightest = max(tightest, value / most)
    assert tightest > 0.97


def test_a_belief_before_may_dip_between_corners() -> None:
    """A histogram is not log-concave: in an empty middle the belief has further to rise than at either side."""
    x, y = gp.Attribute("x", gp.histogram([0, 1, 2, 3], [0.48, 0.01, 0.51])), gp.Attribute("y", gp.uniform(0, 1))
    world, epsilon = {"x": x, "y": y}, 30.0
    moved = moving(world, gp.within(x, 0.6) & gp.within(y, 0.49), "l1")
    assert moved is not None

    def both(t: float) -> Any:
        return np.prod([exact(x, 0.6, t, epsilon, "upper"), exact(y, 0.49, 0.5, epsilon, "upper")], axis=0)

    p, u = np.array([both(t) for t in (0.0, 3.0)]).T
    low, high = (np.array([t, 0.5]) - moved.mean for t in (0.0, 3.0))
    corners = BoxBeliefs(np.log(p), np.log1p(-p), np.log(u), np.log1p(-u))
    before, then = both(1.5)
    assert float(np.max(u - p)) < 0.75 < then - before <= moved.most(corners, low, high, epsilon, False, False)


@pytest.mark.parametrize(("prior", "epsilon"), [(gp.exponential(0.05), 25.0), (gp.normal(0.0, 1.0), 38.0)])
def test_a_belief_that_is_no_number_before_is_one_after(prior: Any, epsilon: float) -> None:
    """Declared bounds far out in a tail that ε outweighs: the belief before is e^−800."""
    x, y = gp.Attribute("x", prior, bounds=(40, 40.02)), gp.Attribute("y", gp.uniform(0, 1), bounds=(0.4, 0.42))
    goal = gp.within(x, 0.5) & gp.within(y, 0.3)
    there = gp.Attack(goal, norm="l1", at={"x": 40.0, "y": 0.4})
    for found, one in ((gp.Attack(goal, norm="l1").advantage(epsilon), there.advantage(epsilon)),
                       (gp.Attack(goal, norm="l1").posterior(epsilon), there.posterior(epsilon))):  # fmt: skip
        assert 0.05 < float(one.attack) <= float(found.bound) <= 1


def between(prior: Any, t: Any, reach: float, rate: float, summit: float, sign: int) -> Any:
    """ln of ∫ e^{±rate·|z − summit|} f(z + t) for z within reach."""
    at = t + summit
    sides = prior.log_tilt(-sign * rate, t - reach, at, at), prior.log_tilt(sign * rate, at, t + reach, at)
    return np.logaddexp(*sides)


@pytest.mark.parametrize("in_goal", [True, False])
def test_the_steepest_likelihoods_bend_as_much_as_is_proven(in_goal: bool) -> None:
    """Along one number, with peaks and hollows beside the edges of its density: never more, and nearly as much."""
    rng, theta = np.random.default_rng(15), np.array([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98])
    tightest = {(index, side): 0.0 for index in range(4) for side in (0, 1)}
    for turn in range(400):
        index = turn % 4
        prior: Any = PRIORS[index]
        radius, epsilon = float(rng.uniform(0.4, 1.2)), float(rng.choice([0.0, 0.3, 1.0]))
        attribute = gp.Attribute("x", prior)
        world = {"x": attribute, "y": gp.Attribute("y", PRIORS[0])}
        moved = moving(world, gp.within(attribute, radius) & gp.within(world["y"], 1.0), "linf")
        assert moved is not None
        a, b = drawn_box(rng, attribute, radius)
        b = a + (b - a) * float(rng.choice([1.0, 0.1]))
        low, high = np.array([a, 2.0]) - moved.mean, np.array([b, 2.5]) - moved.mean
        bends = (moved.bends.goal if in_goal else moved.bends.rest)(low, high, epsilon)
        edges = [e for e in (*prior.support, *prior.breaks) if np.isfinite(e)]
        reach, summit = (radius if in_goal else np.inf), float(rng.choice(edges)) - float(rng.choice([a, b]))
        summit = float(np.clip(summit, -radius, radius)) if in_goal else summit
        t, sign = np.array([a, *(a + theta * (b - a)), b]), int(rng.choice([-1, 1]))
        with np.errstate(invalid="ignore"):
            logs = between(prior, t, reach, epsilon, summit, sign)
        if not np.all(np.isfinite(logs)):  # a tail that ε outweighs
            continue
        above = logs[1:-1] - (1 - theta) * logs[0] - theta * logs[-1]
        bend = above / (0.5 * (b - a) ** 2 * theta * (1 - theta))
        error = 1e-11 / (b - a) ** 2
        assert np.all(bend <= -bends[0][0] + error)
        assert np.all(bend >= -bends[1][0] - error)
        for side, largest in ((0, np.max(bend)), (1, np.max(-bend))):
            if largest > max(1e-3, 100 * error):
                share = float(largest / ((-1, 1)[side] * bends[side][0]))
                tightest[index, side] = max(tightest[index, side], share)
    assert min(share for share in tightest.values() if share) > (0.95 if in_goal else 0.35)


def test_beliefs_after_any_likelihood_lie_where_their_corners_say() -> None:
    """What holds for the best likelihood holds for each: one that is far from the best shows more of what may bend."""
    rng, tightest = np.random.default_rng(16), dict.fromkeys(("rise", "fall", "posterior"), 0.0)
    theta = np.array([0.0, 0.3, 0.5, 0.7, 1.0])
    for turn in range(300):
        prior: Any = PRIORS[turn % 4]
        radius, epsilon = float(rng.uniform(0.4, 1.2)), float(rng.choice([0.1, 0.5, 1.0]))
        world = {"x": gp.Attribute("x", prior), "y": gp.Attribute("y", PRIORS[0])}
        moved = moving(world, gp.within(world["x"], radius) & gp.within(world["y"], 1.0), "linf")
        assert moved is not None
        a, b = drawn_box(rng, world["x"], radius)
        t, summit, sign = (
            a + theta * (b - a),
            float(rng.choice([0.0, radius, -radius, rng.normal()])),
            rng.choice([-1, 1]),
        )
        with np.errstate(invalid="ignore"):
            inside, whole = (between(prior, t, reach, epsilon, summit, int(sign)) for reach in (radius, np.inf))
        if abs(summit) > radius or not np.all(np.isfinite(whole)):
            continue
        before, after = 0.5 * prior.mass(t - radius, t + radius), 0.5 * np.exp(inside - whole)  # y lies in its half
        low, high = np.array([a, 2.0]) - moved.mean, np.array([b, 2.0]) - moved.mean
        bends = (*moved.apart(low, high, epsilon), moved.own(low, high),
                 moved.bent(low, high, epsilon, False), moved.bent(low, high, epsilon, True))  # fmt: skip
        ratio = np.log(after / before)
        for logs, bend in zip((np.log(after), -np.log(before), np.log(before), ratio, -ratio), bends, strict=True):
            above = logs - (1 - theta) * logs[0] - theta * logs[-1]
            assert np.all(above <= bend[0] * 0.5 * (b - a) ** 2 * theta * (1 - theta) * (1 + 1e-9) + 1e-11)
        p, u = (np.array([side[0], side[-1]]) for side in (before, after))
        for aim in tightest:
            misses = aim == "fall"
            logs = [np.log(v) for v in ((1 - p, p, 1 - u, u) if misses else (p, 1 - p, u, 1 - u))]
            most = moved.most(BoxBeliefs(*logs), low, high, epsilon, misses, aim == "posterior")
            found = {"rise": after - before, "fall": before - after, "posterior": after}[aim]
            assert np.all(found <= most * (1 + 1e-9) + 1e-12)
            inner = float(np.max(found[1:-1]))
            if inner > 1.01 * max(found[0], found[-1], 1e-6):  # so that what bends counts
                tightest[aim] = max(tightest[aim], inner / most)
    assert min(tightest.values()) > 0.7


def landscape(rng: np.random.Generator, x: Any, y: Any, epsilon: float, norm: Any, points: Any) -> Any:
    """A private likelihood: peaks or hollows."""
    heights = rng.uniform(-1.0, 1.0, len(points)) * epsilon
    cones = [h - epsilon * combine(norm, [abs(x - a), abs(y - b)]) for (a, b), h in zip(points, heights, strict=True)]
    return np.exp(np.max(cones, axis=0)) if rng.random() < 0.7 else np.exp(-np.max(cones, axis=0))


def test_masses_of_discs_bend_no_more_than_is_proven() -> None:
    """ln N of drawn likelihoods beside its chords; many summits lie on the rim, where an edge of the density cuts it.

    Sums over small squares, so to some digits only.
    """
    rng, parts, tightest = np.random.default_rng(12), 120, 0.0
    theta = np.array([0.0, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.0])
    for turn in range(160):
        world, radius = numbers(turn % 5, int(rng.integers(6))), float(rng.uniform(0.4, 1.2))
        norm, by = str(rng.choice(["l1", "l2", "linf"])), str(rng.choice(["l1", "l2", "l3"]))
        disc: Any = gp.near(world.values(), radius, by=by)  # pyright: ignore[reportArgumentType]
        moved = moving(world, disc, norm)  # pyright: ignore[reportArgumentType]
        assert moved is not None
        epsilon, prior, other = float(rng.choice([0.0, 0.3, 3.0])), world["x"].prior, world["y"].prior
        assert isinstance(prior, LinePrior)
        assert isinstance(other, LinePrior)
        ends = [drawn_box(rng, a, radius) for a in world.values()]
        low, high = (np.array([e[i] for e in ends]) - moved.mean for i in (0, 1))
        least, most = moved.bends.goal(low, high, epsilon)
        z = np.linspace(-radius, radius, parts + 1)
        x, y = np.meshgrid(*[0.5 * (z[1:] + z[:-1])] * 2, indexing="ij")
        cut = float(
            np.clip(
                rng.choice([e for e in (*prior.support, *prior.breaks) if np.isfinite(e)]) - ends[0][0], -radius, radius
            )
        )
        rim = cut, float(rng.choice([-1, 1]) * other_side(by, radius, abs(cut)))  # pyright: ignore[reportArgumentType]
        points = [rim] if rng.random() < 0.5 else rng.uniform(-radius, radius, (3, 2))
        inside = combine(by, [abs(x), abs(y)]) <= radius  # pyright: ignore[reportArgumentType]
        weight = landscape(rng, x, y, epsilon, norm, points) * inside
        line = weight @ np.diff(other.mass(-np.inf, z + rng.uniform(*ends[1])))
        t = ends[0][0] + theta * (ends[0][1] - ends[0][0])
        logs = np.log([line @ np.diff(prior.mass(-np.inf, z + s)) for s in t])
        if isinstance(prior, Truncated):  # its curvature cancels in beliefs
            logs = logs + 0.5 * (t / 2.0) ** 2
        above = logs - (1 - theta) * logs[0] - theta * logs[-1]
        bump = 0.5 * (ends[0][1] - ends[0][0]) ** 2 * theta * (1 - theta)
        assert np.all(above <= -least[0] * bump + 2e-3)
        assert np.all(above >= -most[0] * bump - 2e-3)
        shares = above[1:-1] / (-least[0] * bump[1:-1] + 2e-3)
        tightest = max(tightest, float(np.max(shares)))
    assert tightest > 0.6


@pytest.mark.parametrize("by", ["l1", "l1.5", "l3"])
def test_the_prior_of_a_disc_that_an_edge_cuts_bends_as_much_as_is_proven(by: Any) -> None:
    """Without a likelihood it is known to all digits."""
    rng, tightest, theta = np.random.default_rng(17), 0.0, np.array([0.02, 0.3, 0.7, 0.98])
    world = numbers(0, 0)
    disc = gp.near(world.values(), 0.9, by=by)
    moved = moving(world, disc, "l1")
    assert moved is not None

    def log_prior(t: float) -> float:
        found = disc_prior(JointAttack(world, {"x": t, "y": 2.0}, "l1"), disc)
        assert found is not None
        return found[0]

    for _ in range(40):
        a = float(rng.uniform(0, 0.9))
        b = a + float(rng.uniform(0.01, 0.4))
        least, most = moved.bends.goal(np.array([a, 2.0]) - moved.mean, np.array([b, 2.0001]) - moved.mean, 0.0)
        inner = np.array([log_prior(float(t)) for t in a + theta * (b - a)])
        above = inner - (1 - theta) * log_prior(a) - theta * log_prior(b)
        bump = 0.5 * (b - a) ** 2 * theta * (1 - theta)
        assert np.all(above <= -least[0] * bump + 1e-8)
        assert np.all(above >= -most[0] * bump - 1e-8)
        tightest = max(tightest, float(np.max(above / (-least[0] * bump + 1e-5))))
    assert tightest > 0.8


def test_beliefs_in_an_interval_are_bounded() -> None:
    rng = np.random.default_rng(13)
    for prior in PRIORS:
        attribute = gp.Attribute("x", prior)
        axis = EdgedAxis(prior, 0.0, 1.0, 1.0, Pieces.of(prior))
        for _ in range(6):
            low, high = np.sort(prior.quantile(rng.uniform(0.02, 0.98, 2))).tolist()
            epsilon = float(rng.choice([0.0, 0.4, 2.0]))
            for a, b in ((low, high), (low, np.inf), (-np.inf, high)):
                known = gp.Attack(gp.inside(attribute, (a, b))).posterior(epsilon)
                assert float(known.attack) <= axis.believed(a, b, epsilon) * (1 + 1e-9)
                assert axis.believed(a, b, epsilon) <= float(known.bound) * 1.1 + 1e-9


def test_drawn_places_stay_below_the_worst() -> None:
    rng, world = np.random.default_rng(14), numbers(0, 5)
    goal = gp.near(world.values(), 0.8, by="l3")  # pyright: ignore[reportArgumentType]
    found = WorstPlace.of(world, goal, "linf")
    assert found is not None
    worst = found.worst(0.6, "rise", enough=0.3)
    reached, best = found.reached(0.6, "rise", worst)[0], 0.0
    assert reached <= worst.bound
    for _ in range(5):
        place = [drawn_box(rng, a, 0.8)[0] for a in world.values()]
        attack = gp.Attack(goal, at=dict(zip(world, place, strict=True)))
        best = max(best, float(attack.advantage(0.6).attack))
    assert best <= worst.bound


@pytest.mark.parametrize("aim", ["rise", "fall", "posterior"])
def test_the_worst_pair_is_found_where_the_answer_is_exact(aim: str) -> None:
    """A corner of the square is not the worst place: there the edge cuts the goal."""
    world = numbers(0, 1)
    goal = gp.within(world["x"], 0.8) & gp.within(world["y"], 0.6)
    found = WorstPlace.of(world, goal, "l1")
    assert found is not None
    worst = found.worst(0.6, aim)  # pyright: ignore[reportArgumentType]
    side = "lower" if aim == "fall" else "upper"
    x, y = (
        np.array([exact(world[name], radius, float(t), 0.6, side) for t in places])
        for name, radius, places in (("x", 0.8, np.linspace(0, 4, 21)), ("y", 0.6, np.linspace(-2, 3, 21)))
    )
    before, then = (x[:, None, i] * y[None, :, i] for i in (0, 1))
    most = float(np.max(then if aim == "posterior" else abs(then - before)))
    assert most <= worst.bound <= 1.03 * most


def test_the_largest_epsilon_keeps_the_limit_at_drawn_places() -> None:
    world = numbers(0, 0)
    goal = gp.within(world["x"], 0.8) & gp.within(world["y"], 0.8)
    epsilon = gp.Attack(goal, norm="l1").epsilon(advantage=0.2)
    there = gp.Attack(goal, at={"x": 0.8, "y": 0.8}, norm="l1")
    assert 0.19 <= float(there.advantage(epsilon).attack) <= 0.2
    for place in ((0.0, 0.0), (2.0, 0.8), (3.2, 3.0)):
        one = gp.Attack(goal, at={"x": place[0], "y": place[1]}, norm="l1")
        assert float(one.advantage(epsilon).attack) <= 0.2


def test_a_disc_at_the_edge_of_a_square_is_cut_finely() -> None:
    x, y = (gp.Attribute(name, gp.uniform(0, 10)) for name in "xy")
    found = gp.Attack(gp.near((x, y), 1.5), at={"x": 1.5, "y": 1.5}, norm="l2").advantage(0.3)
    assert float(found.attack) <= float(found.bound) <= 1.04 * float(found.attack)


def test_places_that_are_mirrored_are_named_where_people_can_be() -> None:
    left = gp.Attribute("x", gp.uniform(0.0, 4.0), bounds=(0.0, 1.5))
    found = gp.Attack(gp.within(left, 0.8) & gp.within(gp.Attribute("y", PRIORS[1]), 0.6), norm="l1").advantage(0.5)
    assert found.worst_at["x"] == pytest.approx(0.8, abs=0.3)  # pyright: ignore[reportIndexIssue, reportOptionalSubscript]


def test_a_gap_in_a_histogram_is_left_to_the_product_rule() -> None:
    """Nobody can be in it."""
    gap = gp.Attribute("x", gp.histogram([0.0, 1.0, 2.0, 3.0], [0.5, 0.0, 0.5]))
    y = gp.Attribute("y", gp.uniform(0.0, 4.0))
    assert Pieces.of(gap.prior) is None  # pyright: ignore[reportArgumentType]
    assert gp.Attack(gp.within(gap, 0.5) & gp.within(y, 0.5)).advantage(0.5).how.endswith("product rule")
    with pytest.raises(gp.errors.NotCertifiedError, match="histogram"):
        gp.Attack(gp.near((gap, y), 0.5)).advantage(0.5)


def test_a_search_that_ends_early_says_no_more_than_the_product_rule() -> None:
    world = numbers(0, 3)
    goal = gp.within(world["x"], 1.0) & gp.within(world["y"], 1.0)
    found = gp.Attack(goal).advantage(0.5, time_limit=1e-3)
    assert float(found.attack) <= float(found.bound) <= Boxes(world, goal, "linf").worst(0.5, "rise")[0]
