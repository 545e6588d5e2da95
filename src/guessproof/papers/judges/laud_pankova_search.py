"""Laud & Pankova, the search for a: squeezing in section 4.1, one a for several attributes in 4.2; judged."""

from __future__ import annotations

import itertools
import math

import numpy as np

from guessproof.papers import laud_pankova as lp
from guessproof.papers.judges.truth import ball, line_world, reached_by
from guessproof.papers.verdict import LP, Docket, Finding, judge_epsilons, judge_promise
from guessproof.risk import FiniteWorld
from guessproof.world import Array, normal

DOCKET = Docket(LP)
LIMIT = 0.1


@DOCKET.enter("lp-4.1-squeeze", "§4.1, squeezing the other values into X̂_a")
def squeezing() -> Finding:
    p, near, a = 0.2, 0.25, 1.0
    published = lp.squeezed_epsilon(p, a, LIMIT)
    values, weights = [0.0, 1.0, -1.0, 10.0, -10.0], [p, near / 2, near / 2, 0.275, 0.275]
    goal = [1, 0, 0, 0, 0]
    whole = reached_by(line_world(values, weights).advantage(goal, published))
    known = p / (p + near)
    inside = line_world(values[:3], [known, (1 - known) / 2, (1 - known) / 2])
    knows = reached_by(inside.advantage(goal[:3], published))
    squeezed = line_world(values[:3], [p, (1 - p) / 2, (1 - p) / 2])
    moved = reached_by(squeezed.advantage(goal[:3], published))
    smaller = lp.squeezed_posterior(p, a / 100, published)
    return Finding(
        "Let the attacker know that the value lies in X' or within a of it; keep P[X'] and count all other weight as "
        "P[X̂_a]. Then distances up to a are enough, and the smaller a is, the nearer the posterior is to 1.",
        judge_promise([whole, knows], LIMIT),
        f"Whoever knows that much has the prior p/g(a), not p. Prior {p} at t, {near} at distance a = 1, the rest at "
        f"10, δ = 0.1: at the ε so found the advantage is {knows:.3f} for the attacker who knows (prior "
        f"{known:.3f}), and {whole:.3f} for the one who does not and for whom far values stay far. The promise "
        f"holds, exactly, for a prior that is itself squeezed ({moved:.3f}). With P[X'] kept a smaller a brings the "
        f"posterior to p ({smaller:.3f} at a/100), not to 1; to 1 it goes when P[X'] is rescaled or weight left out.",
        {
            "published ε": published,
            "advantage, attacker as he is": whole,
            "advantage, attacker who knows": knows,
            "his prior": known,
            "advantage, squeezed prior": moved,
            "advantage promised": LIMIT,
            "posterior at a/100": smaller,
        },
        "It is said that this changes Definition 5. Nothing is lost where all values lie within a already, and eq. "
        "(1), which leaves the far weight out instead, is sound.",
        "'We now only claim that the prior and the posterior distributions are different' for values near t: 'not "
        "different' is probably meant.",
    )


@DOCKET.enter("lp-4.2-one-a", "§4.2, aᵢ = min(a, Rᵢ)")
def one_a() -> Finding:
    ranges, r = [4.0, 10.0], 1.0
    narrow, wide = normal(0.0, 1.0).given(-2.0, 2.0), normal(0.0, 3.0).given(-5.0, 5.0)
    balls = [lambda z: float(narrow.mass(-z, z)), lambda z: float(wide.mass(-z, z))]
    goal = [g(r) for g in balls]

    def epsilon(a: list[float], distance: float) -> float:
        weights = [g(x) for g, x in zip(balls, a, strict=True)]
        return lp.equation_1(math.prod(goal), math.prod(weights) - math.prod(goal), distance, LIMIT)

    grid = np.linspace(r, 10.0, 37)[1:].tolist()
    published = max(epsilon(lp.half_widths(a, ranges), a) for a in grid)
    each = [
        epsilon([x, y], max(x, y)) for x, y in itertools.product(grid, repeat=2) if x <= ranges[0] and y <= ranges[1]
    ]
    return Finding(
        "Instead of trying all (a₁ … aₙ), try one a for the distance and take aᵢ = min(a, Rᵢ) for the weights.",
        judge_epsilons(published, max(each)),
        "Nothing is lost: weights rise in every aᵢ and only the largest aᵢ is a distance in ℓ∞, so that the best (a₁ … "
        f"aₙ) with a given maximum is min(a, Rᵢ). On a grid of {len(each)} pairs none allows more. (How Theorem 1 then "
        "uses the weights is judged in lp-thm1.)",
        {"best ε with one a": published, "best ε over all pairs": max(each), "pairs": len(each)},
        "A search in n dimensions becomes a search in one, without loss.",
    )


@DOCKET.enter("lp-4.2-norm", "§4.2, the same with another norm than ℓ∞")
def other_norms() -> Finding:
    values, weights, a = [0.0, 1.0, -1.0], [0.3, 0.35, 0.35], 1.0
    g = ball(values, weights)
    widths = lp.half_widths(a, [2.0, 2.0])
    published = lp.theorem_1([g(0.5)] * 2, [g(x) for x in widths], [a, a], LIMIT)
    points: Array = np.array(list(itertools.product(values, repeat=2)))
    mass = np.array([x * y for x, y in itertools.product(weights, repeat=2)])
    goal = (np.abs(points).max(axis=1) <= 0.5).astype(float)
    exact, delivered = {}, {}
    for norm in (2.0, math.inf):
        apart = np.linalg.norm(points[:, None] - points, ord=norm, axis=-1)
        world = FiniteWorld(prior=mass, distance=apart)
        exact[norm] = float(world.epsilon(goal, advantage=LIMIT))
        delivered[norm] = reached_by(world.advantage(goal, published))
    return Finding(
        "The distance may be any ℓp norm; one a is used for the distance and aᵢ = min(a, Rᵢ) for the weights.",
        judge_epsilons(published, exact[2.0]),
        "A box of half-widths a reaches to a·n^{1/p}. Two attributes, each 0 or ±1 with probability 0.3, 0.35, 0.35, "
        f"r = ½, a = 1, ℓ2: ε = {published:.3f} is allowed, at which the advantage is {delivered[2.0]:.3f} instead of "
        f"0.1; safe: {exact[2.0]:.3f}. With ℓ∞ the same numbers are exact. Divide by a·n^{{1/p}}, or count the "
        "weight of the ℓp ball.",
        {
            "published ε": published,
            "exact ε, ℓ2": exact[2.0],
            "advantage delivered, ℓ2": delivered[2.0],
            "exact ε, ℓ∞": exact[math.inf],
            "advantage delivered, ℓ∞": delivered[math.inf],
        },
        "Theorem 1 is stated for ℓ∞ only, and 'a = ‖a‖ₚ' stands one sentence before.",
    )
