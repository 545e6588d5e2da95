"""The slides of Laud & Pankova's talk, judged."""

from __future__ import annotations

import math

import numpy as np

from guessproof.papers import slides
from guessproof.papers.judges.truth import (
    SALARY,
    ball,
    bound_of,
    interval,
    line_world,
    reached_by,
    salary,
    solve_posterior,
    square_world,
    two_values,
)
from guessproof.papers.verdict import SLIDES, Docket, Finding, judge_bounds, judge_epsilons, judge_print
from guessproof.risk import worst_advantage, worst_distance
from guessproof.world import normal

DOCKET = Docket(SLIDES)
LIMIT = 0.1


@DOCKET.enter("slides-main", "Main theorem")
def main_theorem() -> Finding:
    attack = salary()
    published = solve_posterior(lambda e: slides.main_theorem_on_line(SALARY, 1900, 2100, e), attack.prior, LIMIT)
    exact = attack.epsilon(advantage=LIMIT)
    values, weights = [0.0, 1.0, 3.0, -2.0], [0.3, 0.3, 0.2, 0.2]
    world = line_world(values, weights)
    single = slides.main_theorem(weights, world.distance, [1, 0, 0, 0], 0.7)
    exact_single = bound_of(world.posterior(goal=[1, 0, 0, 0], epsilon=0.7))
    return Finding(
        "The posterior is at most 1/(1 + ∫ f(x)/∫_g e^{εd(x,x')}f(x')dx' dx), and no better bound follows from "
        "d-privacy alone.",
        judge_epsilons(published, exact),
        "Sound. Best possible when one value is correct; for goals with width it lets each outside point choose its "
        f"own worst release, and no single release does that. Salaries: ε = {published:.5f}, exact {exact:.7f}, "
        f"{exact / published:.3g} times the noise needed.",
        {
            "published ε, salaries": published,
            "exact ε, salaries": exact,
            "factor": exact / published,
            "single value: published posterior": single,
            "single value: exact posterior": exact_single,
        },
        f"Much nearer to the truth than eq. (1) of the paper, and exact for single values ({single:.6f} both ways in "
        "an example).",
    )


@DOCKET.enter("slides-sign", "Simplification, the sign in its first line")
def sign() -> Finding:
    weights, apart, goal, epsilon = [0.25, 0.75], [[0, 1], [1, 0]], [1, 0], 1.0
    printed = slides.simplification_sign(weights, apart, goal, epsilon)
    corrected = slides.main_theorem(weights, apart, goal, epsilon)
    true = bound_of(two_values(0.25).posterior(epsilon))
    return Finding(
        "The slide repeats the main theorem with e^{−εd} inside.",
        judge_print(printed, corrected, true),
        f"e^{{+εd}}, as on the slide before: with the minus the bound would be {printed:.3f} for a posterior that "
        f"reaches {corrected:.3f}.",
        {"printed": printed, "corrected": corrected, "exact": true},
        "The main theorem's own slide.",
        "Only one of the two transcriptions has the minus.",
    )


@DOCKET.enter("slides-simplified", "Simplification, and ε from it")
def simplified() -> Finding:
    known = SALARY.given(1000.0, 3000.0)
    attack = interval(known, 1900.0, 2100.0)
    published, exact = slides.simplified_epsilon(attack.prior, LIMIT, 2000.0), attack.epsilon(advantage=LIMIT)
    two = slides.simplified_epsilon(0.2, LIMIT)
    return Finding(
        "With every two values at most R apart the posterior is at most 1/(1 + e^{−εR}(1−p)/p); solved for ε.",
        judge_epsilons([published, two], [exact, two_values(0.2).epsilon(advantage=LIMIT)]),
        "Sound, and exact for values that are all R apart. On a line it is costly: salaries known to lie in (1000, "
        f"3000) get ε = {published:.6f}, exact {exact:.7f}, {exact / published:.3g} times the noise needed.",
        {
            "published ε, salaries": published,
            "exact ε, salaries": exact,
            "factor": exact / published,
            "two values: published ε": two,
            "two values: exact ε": two_values(0.2).epsilon(advantage=LIMIT),
        },
        "The inversion is right, and so is the caveat that R need not exist.",
    )


@DOCKET.enter("slides-ring-integral", "Less of a simplification: integral over A(g(x), a)")
def ring_integral() -> Finding:
    attack = salary()
    published = solve_posterior(lambda e: slides.ring_integral(SALARY, 1900, 2100, e), attack.prior, LIMIT)
    exact, delivered = attack.epsilon(advantage=LIMIT), reached_by(attack.advantage(published))
    return Finding(
        "Weigh every outside point by e^{−ε·(its distance from the goal)}.",
        judge_epsilons(published, exact),
        "The distance to the nearest correct guess bounds the ratio for that guess only; the others are further "
        f"away. For the salaries it allows ε = {published:.5f}, at which the advantage is {delivered:.3f} instead of "
        "0.1.",
        {"published ε": published, "exact ε": exact, "advantage delivered": delivered, "advantage promised": LIMIT},
        "Right where one value is correct, or all correct guesses are at distance 0 from each other.",
    )


@DOCKET.enter("slides-ring-step", "Guessing a single attribute: from the integral to the sum")
def ring_step() -> Finding:
    attack, epsilon = salary(), 0.3  # per 100
    integral = slides.ring_integral(SALARY, 1900, 2100, epsilon / 100)

    def rings(z: float) -> float:
        return float(SALARY.mass(1900 - 100 * z, 2100 + 100 * z))

    summed = slides.ring_sum_from_goal(rings, attack.prior, epsilon, 0, 40)
    return Finding(
        "The integral over distances from the goal is bounded by a sum over whole a ≥ 0 with e^{−εa}.",
        judge_bounds(summed, integral),
        "The step goes the other way: points between a and a+1 get the weight of a, which is larger, so that the "
        f"posterior comes out smaller. Salaries, ε = 0.3 per 100: integral {integral:.4f}, sum {summed:.4f}. Round "
        "the distance up, not down.",
        {"integral": integral, "sum": summed, "exact posterior": bound_of(attack.posterior(epsilon / 100))},
        "That a sum is easier than an integral and loses little.",
    )


@DOCKET.enter("slides-ring-sum", "Guessing a single attribute: the ring sum")
def ring_sum() -> Finding:
    values, weights, epsilon = [0.0, 2.0, -2.0], [0.3, 0.35, 0.35], 0.5
    published = slides.ring_sum(ball(values, weights), epsilon, 5)
    exact = reached_by(line_world(values, weights).posterior(goal=[1, 0, 0], epsilon=epsilon))
    far = [0.0, 3.0, -3.0]
    literal = slides.ring_sum_from_goal(lambda z: ball(far, weights)(1 + z), 0.3, epsilon, 1, 5)
    exact_far = reached_by(line_world(far, weights).posterior(goal=[1, 0, 0], epsilon=epsilon))
    return Finding(
        "Σ_{a≥1} e^{−εa}·P(ring a), distances in units of r, bounds the posterior.",
        judge_bounds([published, literal], [exact, exact_far]),
        "Rings are counted from the edge of the goal, and a release can be centred on its middle. 0.3 at t, 0.35 at "
        f"±2r, ε = 0.5 per r: the sum allows {published:.3f}, a release reaches {exact:.3f}. With rings around g as "
        f"literally printed, and ±3r: {literal:.3f} against {exact_far:.3f}. Weights e^{{−ε(a+1)}} would be sound for "
        "priors symmetric about t, e^{−ε(a+2)} for all.",
        {
            "published posterior": published,
            "exact posterior": exact,
            "published, rings around g, ±3r": literal,
            "exact, ±3r": exact_far,
        },
        "Only a distribution function is needed: the exact answer, too, needs no more.",
    )


@DOCKET.enter("slides-ring-index", "Guessing a single attribute: the last equality")
def ring_index() -> Finding:
    values, weights, epsilon = [0.0, 2.0, -2.0], [0.3, 0.35, 0.35], 0.5
    g = ball(values, weights)

    def rings(z: float) -> float:
        return g(1 + z)

    second = slides.ring_sum_from_goal(rings, 0.3, epsilon, 0, 5)
    printed = slides.ring_sum_from_goal(rings, 0.3, epsilon, 1, 5)
    # Shifting the index by one turns rings around g into rings around x and divides the weights by e^{−ε}.
    total = sum(math.exp(-epsilon * (a - 1)) * (g(a + 1) - g(a)) for a in range(1, 6))
    return Finding(
        "The sum from a = 0 is said to equal the same sum from a = 1.",
        judge_print(printed, slides.posterior_from(total / 0.3), second),
        "B(g(x), a) is B(x, a+1): with the index shifted the rings are B(x, a+1)∖B(x, a) and the weights "
        f"e^{{−ε(a−1)}}. As printed the first ring is lost: {printed:.3f} against {second:.3f}.",
        {
            "second expression": second,
            "third, as printed": printed,
            "third, corrected": slides.posterior_from(total / 0.3),
        },
        "The slide on AND writes the rings around x.",
        "g(x) and x are easily confused in transcription.",
    )


@DOCKET.enter("slides-and", "Guessing AND of attributes")
def ring_and() -> Finding:
    values, weights, epsilon = [0.0, 2.0, -2.0], [0.6, 0.2, 0.2], 0.5
    g = ball(values, weights)
    published = slides.ring_sum(lambda z: g(z) ** 2, epsilon, 5)
    world, x, y = square_world(values, weights)
    exact = reached_by(world.posterior(goal=((x == 0) & (y == 0)).astype(float), epsilon=epsilon))
    return Finding(
        "With the distance max(|x₁−x₁'|/r₁, |x₂−x₂'|/r₂) the ring sum holds for an AND as well.",
        judge_bounds(published, exact),
        "It inherits the ring sum's fault. Two attributes, 0 with probability 0.6 and ±2r with 0.2 each, ε = 0.5 per "
        f"r: the sum allows {published:.3f}, a release reaches {exact:.3f}.",
        {"published posterior": published, "exact posterior": exact},
        "The distance is the right one: it turns an AND into one ball, and weights of rings multiply.",
    )


@DOCKET.enter("slides-or", "Guessing OR of attributes")
def or_sum() -> Finding:
    values, weights, epsilon = [0.0, 2.0, -2.0, 4.0, -4.0], [0.3, 0.2, 0.2, 0.15, 0.15], 0.3
    single = bound_of(line_world(values, weights).posterior(goal=[1, 0, 0, 0, 0], epsilon=epsilon))
    world, x, y = square_world(values, weights)
    exact = bound_of(world.posterior(goal=((x == 0) | (y == 0)).astype(float), epsilon=epsilon))
    published, prior = slides.or_sum([single, single]), 1 - 0.7**2
    first, second = (bound_of(interval(normal(0.0, sd), -1.0, 1.0).posterior(0.3)) for sd in (2.0, 3.0))
    normal_prior = 1 - math.prod(1 - float(normal(0.0, sd).mass(-1, 1)) for sd in (2.0, 3.0))
    product = 1 - (1 - first) * (1 - second)
    coarse = slides.or_sum(slides.simplified(float(normal(0.0, sd).mass(-1, 1)), 0.3, 16.0) for sd in (2.0, 3.0))
    return Finding(
        "The posterior of an OR is at most the sum of the posteriors, for which only the simplified bound is usable; "
        "nothing significantly better can be had.",
        judge_bounds(published, exact),
        f"Sound, and much better can be had. Two attributes with five values each: sum {published:.3f}, exact "
        f"{exact:.3f}, prior {prior:.2f}. N(0, 2²) and N(0, 3²), r = 1, ε = 0.3: sum {first + second:.3f} with exact "
        f"parts and {coarse:.2f} with simplified ones, while 1 − Π(1−uᵢ) proves {product:.3f} (prior "
        f"{normal_prior:.3f}).",
        {
            "published, five values each": published,
            "exact, five values each": exact,
            "factor in advantage, five values each": (published - prior) / (exact - prior),
            "published, normal": first + second,
            "published, normal, simplified parts on ±8": coarse,
            "proven, normal": product,
            "factor in advantage, normal, at least": (first + second - normal_prior) / (product - normal_prior),
        },
        "The sum holds even for dependent attributes, where the product rule does not.",
    )


@DOCKET.enter("slides-worst-advantage", "Worst-case prior for a given η")
def worst_for_advantage() -> Finding:
    limits = (0.01, 0.1, 0.5)
    published = [slides.simplified_epsilon(slides.worst_prior_for_advantage(n), n) for n in limits]
    exact = [float(worst_distance(n)) for n in limits]
    grid = min(slides.simplified_epsilon(float(p), LIMIT) for p in np.linspace(1e-3, 1 - LIMIT - 1e-3, 2001))
    return Finding(
        "p = (1−η)/2 is the worst prior for a given η, and the precise bound does no better when the prior is unknown.",
        judge_epsilons(published, exact),
        "Exactly so: εR = 4·artanh(η), attained by a prior on two values R apart.",
        {"published ε at η = 0.1": published[1], "exact": exact[1], "least on a grid of priors": grid},
        "Both statements.",
    )


@DOCKET.enter("slides-worst-epsilon", "Worst-case prior for a given ε")
def worst_for_epsilon() -> Finding:
    cases = [(e, r) for e in (0.1, 1.0, 4.0) for r in (1.0, 2.5)]
    published = []
    for e, r in cases:
        p = slides.worst_prior_for_epsilon(e, r)
        published.append(slides.simplified(p, e, r) - p)
    exact = [float(worst_advantage(e * r)) for e, r in cases]
    return Finding(
        "p = 1/(1+e^{Rε/2}) gains most at a given ε.",
        judge_bounds(published, exact),
        "Exactly so: the advantage is then tanh(εR/4), and no prior gains more.",
        {"advantage at that prior, εR = 1": published[2], "tanh(1/4)": exact[2]},
        "The form; [LP] §4.1 prints it with another sign.",
    )


@DOCKET.enter("slides-plot", "Plot of ε against advantage, priors 0.01 to 0.3 and worst case")
def plot() -> Finding:
    advantages = np.linspace(0.05, 0.65, 13)
    curves = slides.plot_curves(advantages)
    published, exact = [], []
    for p in slides.PLOT_PRIORS:
        published += curves[f"{p:g}"].tolist()
        exact += [two_values(p).epsilon(advantage=float(n)) for n in advantages]
    published += curves["worst-case"].tolist()
    exact += worst_distance(advantages).tolist()
    touch = 1 - 2 * 0.3
    return Finding(
        "For the simplified bound: one curve for each prior, and one for the worst case.",
        judge_epsilons(published, exact),
        "All curves are exact for values that are R = 1 apart. The worst case lies below every other curve and "
        "touches that of p at η = 1 − 2p.",
        {
            "p = 0.3 at η = 0.4": slides.simplified_epsilon(0.3, touch),
            "worst case at η = 0.4": slides.simplified_epsilon(slides.worst_prior_for_advantage(touch), touch),
            "p = 0.01 at η = 0.1": slides.simplified_epsilon(0.01, 0.1),
        },
        "The whole plot.",
        "The transcription keeps the labels but not the curves; they are recomputed from the slide's formula.",
    )
