"""Laud & Pankova, Theorems 1 to 4 and section 5 (several attributes, several outputs), judged."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from guessproof.mechanisms.composition import split_budget
from guessproof.mechanisms.laplace import Laplace
from guessproof.papers import laud_pankova as lp
from guessproof.papers.judges.truth import ball, bound_of, reached_by, square_world, two_values
from guessproof.papers.verdict import LP, Docket, Finding, judge_bounds, judge_epsilons, judge_print
from guessproof.risk import FiniteWorld
from guessproof.world import normal

DOCKET = Docket(LP)
LIMIT = 0.1


@DOCKET.enter("lp-thm1", "Theorem 1 (AND)")
def theorem_1() -> Finding:
    values, weights = [0.0, 1.0, -2.0], [0.05, 0.45, 0.5]
    g = ball(values, weights)
    published = lp.theorem_1([g(1.0)] * 2, [g(2.0)] * 2, [2.0, 2.0], LIMIT)
    world, x, y = square_world(values, weights)
    goal = ((np.abs(x) <= 1) & (np.abs(y) <= 1)).astype(float)
    exact, delivered = world.epsilon(goal, advantage=LIMIT), reached_by(world.advantage(goal, published))
    return Finding(
        "For independent attributes multiply the weights g(rᵢ) and g(aᵢ), and use eq. (1) with a = max aᵢ.",
        judge_epsilons(published, exact),
        "The theorem inherits g(a) − g(r) from §4.1: values within a of t are up to a + r from a correct guess. Two "
        "attributes, each 0, 1 or −2 with probability 0.05, 0.45, 0.5, t = 0, r = 1, a = 2, δ = 0.1: at the published "
        f"ε the advantage is {delivered:.3f}. With g(aᵢ − rᵢ) in the place of g(aᵢ) it is sound.",
        {"published ε": published, "exact ε": exact, "advantage delivered": delivered, "advantage promised": LIMIT},
        "ℓ∞ makes the AND of intervals a ball, and independence makes its weight a product.",
    )


@DOCKET.enter("lp-thm1-independence", "Theorems 1 and 2, 'pairwise independent'")
def pairwise() -> Finding:
    triples = [bits for bits in itertools.product((0, 1), repeat=3) if sum(bits) % 2 == 0]
    single = [sum(bits[i] == 0 for bits in triples) / len(triples) for i in range(3)]
    product = math.prod(single)
    true = sum(bits == (0, 0, 0) for bits in triples) / len(triples)
    published = lp.epsilon_for(product, 1 - product, 1.0, LIMIT)
    world = FiniteWorld(prior=np.full(len(triples), 1 / len(triples)), distance=1 - np.eye(len(triples)))
    delivered = reached_by(world.advantage([1, 0, 0, 0], published))
    return Finding(
        "The product of the weights is used for attributes that are pairwise independent.",
        judge_print(product, true, float(world.prior[0])),
        "Mutual independence is needed and is what the proof uses. Three fair bits with an even sum are pairwise "
        f"independent: all three are guessed with probability {true:g}, not {product:g}, and the ε for {product:g} "
        f"lets the advantage reach {delivered:.3f} instead of 0.1. Read 'mutually independent'.",
        {"product": product, "true prior": true, "published ε": published, "advantage delivered": delivered},
        "For two attributes the two notions are the same; §4.2 itself says 'independent'.",
    )


@DOCKET.enter("lp-4.3-prior", "§4.3 and Theorem 2, the prior of an OR")
def or_prior() -> Finding:
    first, second, a, r = normal(0.0, 2.0), normal(0.0, 3.0), 8.0, 1.0

    def g(prior: object, z: float) -> float:
        return float(prior.mass(-z, z))  # pyright: ignore[reportAttributeAccessIssue]

    published = lp.or_prior([g(first, a), g(second, a)], [g(first, a - r), g(second, a - r)])
    exact = g(first, a) * g(second, a) - (g(first, a) - g(first, r)) * (g(second, a) - g(second, r))
    flat = lp.or_prior([1.0, 1.0], [1 - 0.2, 1 - 0.2])
    return Finding(
        "The prior of guessing at least one attribute is Πg(aᵢ) − Πg(aᵢ − rᵢ).",
        judge_bounds(published, exact),
        "g(a) − g(r) is meant where g(a − r) is written (Theorem 2: g(a − 1), r being 1); they are equal only for "
        f"uniform priors in the middle. For N(0, 2²) and N(0, 3²), r = 1, a = 8 the formula gives {published:.3f}, "
        f"the truth is {exact:.3f}: Πg(aᵢ) − Π(g(aᵢ) − g(rᵢ)).",
        {
            "published prior": published,
            "exact prior": exact,
            "uniform, g(r) = 0.2: published": flat,
            "uniform, g(r) = 0.2: exact": 1 - 0.8**2,
        },
        "Right for uniform priors.",
    )


@DOCKET.enter("lp-thm2", "Theorem 2 (OR)")
def theorem_2() -> Finding:
    values, weights, d = [0.0, 4.0, -4.0], [0.1, 0.45, 0.45], 0.1
    g = ball(values, weights)
    parts = lp.theorem_2([g, g], [1.0, 1.0], [4.0, 4.0], d)
    published = min(parts)
    world, x, y = square_world(values, weights)
    goal = ((x == 0) | (y == 0)).astype(float)
    exact, delivered = world.epsilon(goal, advantage=d), reached_by(world.advantage(goal, published))
    halved = reached_by(world.advantage(goal, published / 2))
    printed, true = lp.or_prior([g(4.0)] * 2, [g(3.0)] * 2), float(goal @ world.prior)
    return Finding(
        "For an OR take the least of ε₀ (the block around the true value) and ε₁ … εₙ (each attribute alone).",
        judge_epsilons(published, exact),
        f"Two slips. ε₀ rests on the prior of lp-4.3-prior, here {printed:.2f} where the truth is {true:.2f}: with δ "
        "it exceeds 1, so that ε₀ is infinite. And the theorem divides by max aᵢ, where its own blocks are 2·max aᵢ "
        "wide, as the section says before it. Two attributes, 0 with probability 0.1 and ±4 with 0.45 each, r = 1, a "
        f"= 4: the theorem allows ε = {published:.3f}, at which the advantage is {delivered:.3f} instead of 0.1.",
        {
            "printed prior of the OR": printed,
            "true prior of the OR": true,
            "ε₀": parts[0],
            "published ε": published,
            "exact ε": exact,
            "advantage delivered": delivered,
            "advantage at half that ε": halved,
        },
        "Comparing block by block is a sound way to treat an OR; with 2a and the right prior the argument goes "
        "through.",
        "Properties 2 and 3 of the blocks are printed for posteriors; priors are meant. The theorem's gᵢ is a maximum "
        "over tᵢ, which the section does not have; here it makes no difference.",
    )


@DOCKET.enter("lp-fig2a", "Figure 2a and §4.3, the sets of an AND and of an OR")
def figure_2a() -> Finding:
    r, size = 1.0, 8.0
    square = np.array([[x, y] for x in (-r, r) for y in (-r, r)])
    diameter = float(np.max(np.abs(square[:, None] - square)))
    cross = np.array([[r, size], [r, -size], [size, r], [-size, r]])
    cross_diameter = float(np.max(np.abs(cross[:, None] - cross)))
    return Finding(
        "Correct guesses of an AND are within r of each other; those of an OR can be as far apart as the whole space.",
        judge_print(r, 2 * r, diameter),
        f"Within r of the true value, so within 2r of each other (r = 1: {diameter:g}). For the OR the figure is "
        f"right: {cross_diameter:g} in a space of {2 * size:g}.",
        {"printed diameter of AND": r, "corrected": 2 * r, "computed": diameter, "diameter of OR": cross_diameter},
        "The picture: a square against a cross, and why the cross is harder.",
    )


@DOCKET.enter("lp-fig2b", "Figure 2b and §4.3, blocks")
def figure_2b() -> Finding:
    r, a = 1.0, 4.0
    side = np.linspace(-a, a, 33)
    x, y = (part.ravel() for part in np.meshgrid(side, side))
    goal = (np.abs(x) <= r) | (np.abs(y) <= r)
    apart = np.maximum(np.abs(x[goal][:, None] - x[~goal]), np.abs(y[goal][:, None] - y[~goal])).max()
    return Finding(
        "Each block of correct guesses has a neighbour block of other values, no further than a from it.",
        judge_print(max(a, a), lp.theorem_2_distance([a, a]), apart),
        f"With blocks of half-width aᵢ a point and its neighbour can be 2·max aᵢ apart ({apart:g} for a = {a:g}): "
        "that is the a of the section, and Theorem 2 should use it instead of max aᵢ. The neighbour of a block is "
        "the block without its correct guesses (printed: without X̂₀').",
        {"a in Theorem 2": max(a, a), "a in §4.3": lp.theorem_2_distance([a, a]), "largest distance on a grid": apart},
        "The idea of the figure: an unbounded OR is cut into pairs that are near each other.",
        "The subtracted set in the definition of X̂ may be a transcription error.",
    )


@DOCKET.enter("lp-thm3", "Theorem 3 (sequential composition)")
def theorem_3() -> Finding:
    first, second, p = 0.3, 0.5, 0.2
    y = np.array([-5.0, -5.0])
    likelihood = [float(Laplace(1, first).density(y[0] - x) * Laplace(1, second).density(y[1] - x)) for x in (0.0, 1.0)]
    posterior = p * likelihood[0] / (p * likelihood[0] + (1 - p) * likelihood[1])
    bound = bound_of(two_values(p).posterior(lp.theorem_3([first, second])))
    return Finding(
        "Releases on the same data: their ε add up.",
        judge_bounds(bound, posterior),
        "Tight: two Laplace releases attain it for outputs beyond both true answers.",
        {"posterior allowed by ε₁ + ε₂": bound, "posterior reached by two releases": posterior},
        "A known result, correctly used.",
    )


@DOCKET.enter("lp-thm4", "Theorem 4 (dual norms)")
def theorem_4() -> Finding:
    epsilons = np.array([0.2, 0.5, 0.9])
    published, reached = [], []
    for p in (1.0, 1.5, 2.0, 4.0, math.inf):
        published.append(lp.theorem_4(epsilons.tolist(), p))
        if p == 1:
            step = (epsilons == epsilons.max()).astype(float)
        elif math.isinf(p):
            step = np.ones(3)
        else:
            step = epsilons ** (1 / (p - 1))
            step = step / np.sum(step**p) ** (1 / p)
        outputs = [Laplace(1, float(e)) for e in epsilons]
        ratio = sum(math.log(m.density(-20.0) / m.density(-20.0 - s)) for m, s in zip(outputs, step, strict=True))
        reached.append(ratio)
    return Finding(
        "Queries that each see their own component, distance an ℓp norm: together they cost the dual norm of their ε.",
        judge_bounds(published, reached),
        "Tight: Laplace releases reach it when the components move in the direction that Hölder's inequality names. "
        "ℓ1 gives the largest ε (parallel), ℓ∞ the sum (sequential).",
        {
            "‖ε‖ for ℓ2, published": published[2],
            "log-ratio reached": reached[2],
            "ℓ1": published[0],
            "ℓ∞": published[4],
        },
        "A neat generalisation that contains both classical rules. How to split a budget under it, left open in the "
        "paper, has a closed form.",
    )


def _cost(split: Sequence[float], sensitivities: Sequence[float]) -> float:
    """The total squared error of Laplace noise."""
    return math.fsum((d / e) ** 2 for d, e in zip(sensitivities, split, strict=True))


@DOCKET.enter("lp-5-split", "§5, how to divide ε over the queries")
def equal_split() -> Finding:
    alike = [1.0] * 3
    published, exact = [], []
    for norm in (1.0, 2.0, math.inf):
        others = [np.array([x, y, 1.0]) for x in np.geomspace(0.05, 20, 41) for y in np.geomspace(0.05, 20, 41)]
        tried = [split / lp.theorem_4(split.tolist(), norm) for split in others]
        published.append(_cost(lp.equal_split(1.0, 3, norm), alike))
        exact.append(min(_cost(split.tolist(), alike) for split in tried))
    uneven = [1.0, 10.0]
    best = split_budget(epsilon=1, sensitivities=uneven)
    factor = _cost(lp.equal_split(1.0, 2, math.inf), uneven) / _cost(best, uneven)
    rises = best[1] > best[0]
    return Finding(
        "Larger εᵢ for more sensitive queries; if the queries are similar, as the groups of a GROUP BY, the same εᵢ "
        "for all. The best division is left open.",
        judge_bounds(published, exact) if rises else "unsound",
        "Exactly so: with equal sensitivities and weights no other division of the same total has a smaller squared "
        "error, for ℓ1, ℓ2 and ℓ∞. In general εᵢ ∝ (wᵢΔᵢᵏ)^{1/(q+k)} minimises Σwᵢ(Δᵢ/εᵢ)ᵏ; for sensitivities 1 and 10 "
        f"equal shares cost {factor:.3g} times the squared error of the best ones. Groups that a record cannot change "
        "need no division at all (ℓ1).",
        {
            "ℓ∞, three alike: error of equal shares": published[2],
            "ℓ∞: least of 1681 divisions": exact[2],
            "ℓ2: equal shares": published[1],
            "ℓ2: least of 1681 divisions": exact[1],
            "share of sensitivity 10 against 1": best[1],
            "equal shares there, factor in squared error": factor,
        },
        "Both remarks.",
    )
