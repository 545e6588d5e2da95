"""Laud & Pankova, sections 4.2 to 6 (several attributes, several outputs, the examples), judged."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from guessproof.mechanisms.laplace import Laplace
from guessproof.papers import laud_pankova as lp
from guessproof.papers import laud_pankova_examples as examples
from guessproof.papers.judges.truth import ball, salary, square_world, two_values
from guessproof.papers.verdict import LP, Docket, Finding, judge_bounds, judge_epsilons, judge_print, judge_promise
from guessproof.risk.attack import Attack
from guessproof.risk.finite import FiniteWorld
from guessproof.world.attributes import Attribute
from guessproof.world.goals import within
from guessproof.world.priors import normal

DOCKET = Docket(LP)
LIMIT = 0.1


@DOCKET.enter("lp-thm1", "Theorem 1 (AND)")
def theorem_1() -> Finding:
    values, weights = [1.0, -2.0], [0.5, 0.5]
    g = ball(values, weights)
    published = lp.theorem_1([g(1.0)] * 2, [g(2.0)] * 2, [2.0, 2.0], LIMIT)
    world, x, y = square_world(values, weights)
    goal = ((np.abs(x) <= 1) & (np.abs(y) <= 1)).astype(float)
    exact, delivered = world.epsilon(goal, advantage=LIMIT), world.advantage(goal, published).attack
    return Finding(
        "For independent attributes multiply the weights g(rᵢ) and g(aᵢ), and use eq. (1) with a = max aᵢ.",
        judge_epsilons(published, exact),
        "The theorem inherits g(a) − g(r) from §4.1: values within a of t are up to a + r from a correct guess. Two "
        "attributes, each 1 or −2 with probability ½, t = 0, r = 1, a = 2, δ = 0.1: at the published ε the advantage "
        f"is {delivered:.3f}. With g(aᵢ − rᵢ) in the place of g(aᵢ) it is sound.",
        {"published ε": published, "exact ε": exact, "advantage delivered": delivered, "advantage promised": LIMIT},
        "ℓ∞ makes the AND of intervals a ball, and independence makes its weight a product.",
    )


@DOCKET.enter("lp-thm1-independence", "Theorems 1 and 2, 'pairwise independent'")
def pairwise() -> Finding:
    # Three fair bits of which any two are independent and whose sum is even: four equally likely triples.
    product, true = 0.5**3, 0.25
    published = lp.epsilon_for(product, 1 - product, 1.0, LIMIT)
    world = FiniteWorld(prior=[0.25] * 4, distance=1 - np.eye(4))
    delivered = world.advantage([1, 0, 0, 0], published).attack
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
        "g(a) − g(r) is meant where g(a − r) is written; they are equal only for uniform priors in the middle. For "
        f"N(0, 2²) and N(0, 3²), r = 1, a = 8 the formula gives {published:.3f}, the truth is {exact:.3f}: "
        "Πg(aᵢ) − Π(g(aᵢ) − g(rᵢ)).",
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
    exact, delivered = world.epsilon(goal, advantage=d), world.advantage(goal, published).attack
    halved = world.advantage(goal, published / 2).attack
    return Finding(
        "For an OR take the least of ε₀ (the block around the true value) and ε₁ … εₙ (each attribute alone).",
        judge_epsilons(published, exact),
        "Two slips. ε₀ rests on the prior of lp-4.3-prior (here 0, so ε₀ is infinite). And the theorem divides by "
        "max aᵢ, where its own blocks are 2·max aᵢ wide, as the section says before it. Two attributes, 0 with "
        f"probability 0.1 and ±4 with 0.45 each, r = 1, a = 4: the theorem allows ε = {published:.3f}, at which the "
        f"advantage is {delivered:.3f} instead of 0.1.",
        {
            "ε₀": parts[0],
            "published ε": published,
            "exact ε": exact,
            "advantage delivered": delivered,
            "advantage at half that ε": halved,
        },
        "Comparing block by block is a sound way to treat an OR; with 2a and the right prior the argument goes "
        "through.",
        "",
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
    bound = two_values(p).posterior(lp.theorem_3([first, second])).bound
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


@DOCKET.enter("lp-6.1-and", "§6.1, cats, AND: ε = 0.539, Laplace scale 1.86")
def cats_and() -> Finding:
    priors = list(examples.cats_and().values())
    world = FiniteWorld(prior=priors, distance=1 - np.eye(len(priors)))
    goals = np.eye(len(priors))
    exact = min(world.epsilon(goal, advantage=LIMIT) for goal in goals[[0, 2, 4, 6, 8]])
    published = examples.cats_and_epsilon()
    counted = np.array([name == "tabby F" for name in examples.cats_and()], dtype=float)
    aware = FiniteWorld(prior=priors, distance=np.abs(counted[:, None] - counted))
    query = min(aware.epsilon(goal, advantage=LIMIT) for goal in goals[[0, 5, 6]])
    return Finding(
        "Colour and gender, distance 0 or 1, advantage 0.1: ε = 0.539 from the black cats, noise of scale 1.86.",
        judge_epsilons(published, exact),
        "Right, to the digits printed, for every mechanism that hides the change of one cat. For this very COUNT, "
        f"where only 'tabby female or not' matters, {query:.3f} would do.",
        {
            "published ε": published,
            "exact ε": exact,
            "Laplace scale": examples.laplace_scale(published),
            "exact ε for this query": query,
        },
        "Everything in this example.",
    )


@DOCKET.enter("lp-6.1-or", "§6.1, cats, OR: ε = 0.402, Laplace scale 2.49")
def cats_or() -> Finding:
    priors = sorted({round(p, 12) for p in examples.cats_or().values()})
    exact = min(two_values(p).epsilon(advantage=LIMIT, both=True) for p in priors)
    one = min(two_values(p).epsilon(advantage=LIMIT) for p in priors)
    published = examples.cats_or_epsilon()
    delivered = max(two_values(p).advantage(published, both=True).attack for p in priors)
    return Finding(
        "Colour or gender: the tortoise cats (0.525) are nearest the worst prior, so ε = 0.402 and noise of scale "
        "2.49.",
        judge_epsilons(published, exact),
        "By a hair: both directions are meant, and there white cats (0.55, so 1−p = 0.45) are worst, with ε = "
        f"{exact:.5f}. At the published ε the advantage is {delivered:.5f}. One direction alone would allow {one:.4f}.",
        {
            "published ε": published,
            "exact ε, both directions": exact,
            "exact ε, one direction": one,
            "advantage delivered": delivered,
            "Laplace scale, published": examples.laplace_scale(published),
            "Laplace scale, exact": 1 / exact,
        },
        "The scale of the noise, 2.49, is right to the digits printed, and the method is right.",
        "Most ∨ of the list are transcribed as ∧, and p ≤ 1−p is said of 0.525.",
    )


@DOCKET.enter("lp-6.1-or-step", "§6.1, cats, OR: 0.475/0.425")
def cats_or_step() -> Finding:
    printed, corrected = examples.cats_or_second_step(), -math.log(0.475 / 0.525 * (0.425 / 0.575))
    return Finding(
        "The second expression has 0.475/0.425 · 0.425/0.575.",
        judge_print(printed, corrected, two_values(0.475).epsilon(advantage=LIMIT)),
        f"0.475/0.525: as printed the result would be {printed:.3f}, not {corrected:.3f}.",
        {"printed": printed, "corrected": corrected},
        "The expression before it and the result after it.",
        "A digit may have been lost in transcription.",
    )


@DOCKET.enter("lp-6.2", "§6.2, salaries: ε = 0.0038")
def salaries() -> Finding:
    attack = salary()
    exact = attack.epsilon(advantage=LIMIT)
    rounded = attack.advantage(examples.SALARY_EPSILON).attack
    unrounded = attack.advantage(examples.SALARY_RESCALED / 200).attack
    return Finding(
        "A normal salary, guessed to within 100: prior 0.42, and with a = 200 an ε of 0.767/200 = 0.0038 for an "
        "advantage of 0.1.",
        judge_epsilons(examples.SALARY_EPSILON, exact),
        f"The prior is erf(0.3) = {attack.prior:.4f}; the printed logarithm is {examples.salary_logarithm():.3f}, "
        "with the other sign, so a = 200 gives no ε at all. At 0.0038 a Laplace release gives an advantage of "
        f"{rounded:.3f}. Safe for t = 2000: ε = {exact:.7f}.",
        {
            "printed prior": 0.42,
            "prior by the printed expression": examples.salary_prior(),
            "exact prior": attack.prior,
            "printed logarithm": examples.SALARY_RESCALED,
            "the same, evaluated": examples.salary_logarithm(),
            "published ε": examples.SALARY_EPSILON,
            "exact ε, t = 2000": exact,
            "advantage delivered at 0.0038": rounded,
            "advantage delivered at 0.767/200": unrounded,
        },
        "The question, the expression for the prior, and q = erf(a/(σ√2)) ≈ 0.6 for a = 200.",
    )


@DOCKET.enter("lp-6.2-worst", "§6.2, the worst salary is the mean")
def salaries_worst() -> Finding:
    found = minimize_scalar(
        lambda t: salary(float(t)).epsilon(advantage=LIMIT),
        bounds=(1500, 2000),
        method="bounded",
        options={"xatol": 1e-3},
    )
    exact = float(found.fun)  # no more is safe at this salary; that it is safe at every other is certified below
    certified = salary(None).advantage(exact * (1 - 1e-6)).bound
    at_mean = salary().epsilon(advantage=LIMIT)
    worst = salary(None).advantage(at_mean)
    place = float(np.asarray(worst.worst_at))
    return Finding(
        "Without a known salary, take the one whose prior is nearest to (1−δ)/2: the mean.",
        judge_epsilons(at_mean, exact),
        f"That rule is for values all equally far apart. On a line a salary about {abs(place - 2000):.0f} from the "
        "mean gains more: with the ε that is right for the mean its advantage is "
        f"{float(np.asarray(worst.attack)):.3f}. Safe for every salary: ε = {exact:.7f}.",
        {
            "ε that is exact at the mean": at_mean,
            "exact ε, worst salary": exact,
            "certified largest advantage at 0.999999 of it": np.asarray(certified),
            "worst salary's distance from the mean": round(abs(float(found.x) - 2000), 1),
            "largest advantage at the mean's ε": np.asarray(worst.attack),
        },
        "That the worst true value must be looked for when none is given.",
    )


@DOCKET.enter("lp-6.2-scale", "§6.2, Laplace scale 1.3")
def salaries_scale() -> Finding:
    scale = examples.laplace_scale(examples.SALARY_RESCALED)
    delivered = salary().advantage(1 / scale).attack
    needed = 1 / salary().epsilon(advantage=LIMIT)
    return Finding(
        "Rescaled by 200 the same ε is 0.767, and noise of scale 1.3 on the sum of salaries is enough.",
        judge_promise(delivered, LIMIT),
        "Rescaling the distance rescales the sensitivity: one new unit is 200 in currency. Noise of 1.3 in currency "
        f"gives an advantage of {delivered:.2f}; 1.3 new units are {200 * scale:.0f} in currency; what is needed is "
        f"{needed:.0f}.",
        {
            "printed scale": scale,
            "the same in currency": 200 * scale,
            "exact scale in currency, t = 2000": needed,
            "advantage delivered by the printed scale": delivered,
        },
        "ε is meaningless without its unit, which is the point of the paragraph.",
        "If the sum itself is meant in units of 200, the scale is that of ε = 0.0038.",
    )


def _ship() -> Attack:
    goal = within(Attribute("distance", prior=normal(0.0, math.sqrt(examples.SHIP_VARIANCE))), examples.SHIP_RADIUS)
    return Attack(goal, at={"distance": 0.0})


@DOCKET.enter("lp-6.3", "§6.3, ships: ε = 0.063")
def ships() -> Finding:
    attack = _ship()
    exact, delivered = attack.epsilon(advantage=LIMIT), attack.advantage(examples.SHIP_EPSILON).attack
    return Finding(
        "A location within 10, prior 0.22; with a = 20 an ε of 1.25/20 = 0.063 for an advantage of 0.1.",
        judge_epsilons(examples.SHIP_EPSILON, exact),
        f"The printed logarithm is {examples.ship_logarithm():.2f}, not 1.25, and is divided by 10 once and by 20 "
        f"once. At 0.063 a release centred on the port gives an advantage of {delivered:.3f}; safe there: ε = "
        f"{exact:.5f}.",
        {
            "printed logarithm": examples.SHIP_RESCALED,
            "the same, evaluated": examples.ship_logarithm(),
            "prior": examples.ship_ball(10.0),
            "published ε": examples.SHIP_EPSILON,
            "exact ε, t = 0": exact,
            "advantage delivered": delivered,
        },
        "The two weights, 0.22 and 0.43; and that the joint distribution of x and y is all that is needed.",
        "The bound for a general location keeps the variable (x, y) in its result; probably a slip of print.",
    )


@DOCKET.enter("lp-6.3-scale", "§6.3, Laplace scale 0.8")
def ships_scale() -> Finding:
    scale = examples.laplace_scale(examples.SHIP_RESCALED)
    delivered, needed = _ship().advantage(1 / scale).attack, 1 / _ship().epsilon(advantage=LIMIT)
    return Finding(
        "Rescaled by 20 the ε is 1.25, and for ships of speed 1 or more noise of scale 0.8 on the arrival time is "
        "enough.",
        judge_promise(delivered, LIMIT),
        f"As in §6.2: one new unit is 20 old ones. Noise of scale 0.8 gives an advantage of {delivered:.2f}; 0.8 new "
        f"units are {20 * scale:.0f}; what is needed is {needed:.0f}.",
        {
            "printed scale": scale,
            "the same in distance units": 20 * scale,
            "exact scale, t = 0": needed,
            "advantage delivered by the printed scale": delivered,
        },
        "The sensitivity of the minimum, 1/v, and the remark that noise must be judged against the answer's size.",
        "If time too is meant in units of 20/v, the scale is that of ε = 0.063.",
    )
