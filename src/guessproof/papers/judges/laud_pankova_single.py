"""Laud & Pankova, section 4.1 (one attribute), judged."""

from __future__ import annotations

import math

import numpy as np

from guessproof.mechanisms.base import root
from guessproof.papers import laud_pankova as lp
from guessproof.papers.judges.truth import SALARY, ball, bound_of, interval, line_world, reached_by, salary, two_values
from guessproof.papers.verdict import LP, Docket, Finding, judge_bounds, judge_epsilons, judge_print
from guessproof.risk import Attack
from guessproof.world import Attribute, histogram, partly_known, uniform, within

DOCKET = Docket(LP)
LIMIT = 0.1


@DOCKET.enter("lp-4.1-evaluated", "§4.1, P[X̂_a] = g(a) − g(r)")
def equation_1_as_evaluated() -> Finding:
    values, weights = [1.0, -2.0], [0.5, 0.5]
    g = ball(values, weights)
    published = lp.equation_1_posterior(g(1.0), lp.others_as_evaluated(g, 1.0, 2.0), 2.0, 1.0)
    exact = reached_by(line_world(values, weights).posterior(goal=[1, 0], epsilon=1.0))
    density = histogram([-2.0, -1.99, -0.05, 0.05, 0.99, 1.0], [0.5, 0.0, 0.05, 0.0, 0.45])
    smooth = reached_by(interval(density, -1.0, 1.0).posterior(1.0))
    g_salary = lp.cdf_ball(lambda x: float(SALARY.cdf(x)), 2000.0)
    centred = lp.best_over_a(
        lambda a: lp.equation_1(g_salary(100), lp.others_as_evaluated(g_salary, 100, a), a, LIMIT), 101, 1500
    )
    best = salary().epsilon(advantage=LIMIT)
    return Finding(
        "The weight of the other values within a is computed as g(a) − g(r), all values within a of the true one.",
        judge_bounds([published, published], [exact, smooth]),
        "Such a value can be a + r away from a correct guess, and eq. (1) counts only a. Half the weight at 1, half at "
        f"−2, t = 0, r = 1, a = 2, ε = 1: the formula allows {published:.3f}, a release reaches {exact:.3f} "
        f"({smooth:.3f} with a density, 0.05 of it around t). Use g(a−r) − g(r), or a + r in the exponent.",
        {
            "published posterior": published,
            "exact posterior": exact,
            "exact posterior, with a density": smooth,
            "symmetric prior (salaries): published ε": centred,
            "symmetric prior (salaries): exact ε": best,
            "symmetric prior (salaries): factor": best / centred,
        },
        f"For a prior symmetric about the true value the formula is sound (there {best / centred:.2g} times the noise "
        "needed), since the worst release is then centred on it.",
    )


@DOCKET.enter("lp-4.1-uniform", "§4.1, uniform prior, true value in the middle")
def uniform_middle() -> Finding:
    published, exact = [], []
    cases = [(r, d) for r in (0.02, 0.1, 0.3) for d in (0.02, 0.1)]
    for r, d in cases:
        goal = lp.uniform_ball(r, 1.0)
        published.append(
            lp.best_over_a(
                lambda a, goal=goal, d=d: lp.equation_1(goal, lp.uniform_ball(a, 1.0) - goal, a, d), r + 1e-3, 0.5
            )
        )
        exact.append(interval(uniform(-0.5, 0.5), -r, r).epsilon(advantage=d))
    factors = np.divide(exact, published)
    return Finding(
        "For a uniform prior over a range R, P[X'] = 2r/R and g(a) = 2a/R.",
        judge_epsilons(published, exact),
        f"True in the middle, and eq. (1) is sound there by symmetry; it costs {factors.min():.2g} to "
        f"{factors.max():.2g} times the noise needed. Exactly: the posterior is (1−e^{{−εr}})/(1−e^{{−εR/2}}). "
        "(R is the whole range here, a radius in appendix A.)",
        {"least factor, 6 cases": factors.min(), "largest factor": factors.max()},
        "Both probabilities, and that a need not be R.",
    )


@DOCKET.enter("lp-4.1-corner", "§4.1 and Figure 1, uniform prior, true value near the edge")
def uniform_corner() -> Finding:
    published, exact = [], []
    for r, d in [(r, d) for r in (0.05, 0.2, 0.4) for d in (0.02, 0.1)]:
        published.append(lp.best_over_a(lambda a, r=r, d=d: lp.corner_epsilon(r, 1.0, a, d), 2 * r + 1e-3, 1.0))
        exact.append(interval(uniform(0.0, 1.0), 0.0, 2 * r).epsilon(advantage=d))
    factors = np.divide(exact, published)
    farthest = uniform(0.0, 1.0).quantile(2 * 0.3)  # how far from 0 weight 2a/R reaches, a = 0.3
    return Finding(
        "Where the ball does not fit around the true value, values up to 2a away are needed: put a' = 2a in the "
        "exponent, with g(a') = a'/R.",
        judge_epsilons(published, exact),
        f"Sound while the correct guesses themselves fit: {factors.min():.3g} to {factors.max():.3g} times the noise "
        "needed. Figure 1's geometry is right: from a corner, weight 2a/R reaches to distance 2a and no less.",
        {
            "least factor, 6 cases": factors.min(),
            "largest factor": factors.max(),
            "Figure 1, a = 0.3: distance reached": farthest,
        },
        "That a corner needs twice the distance, and how to keep the exponent simple.",
    )


@DOCKET.enter("lp-4.1-corner-cut", "§4.1, uniform prior, P[X'] = 2r/R at the very edge")
def uniform_corner_cut() -> Finding:
    r, at, d = 0.48, 0.12, 0.02
    published = lp.best_over_a(lambda a: lp.corner_epsilon(r, 1.0, a, d), 2 * r + 1e-4, 1.0)
    attack = interval(uniform(0.0, 1.0), 0.0, at + r)
    gained, exact = reached_by(attack.advantage(published)), attack.epsilon(advantage=d)
    return Finding(
        "In the corner P[X'] stays 2r/R.",
        judge_epsilons(published, exact),
        "Where the true value is closer than r to the edge the correct guesses are cut off and weigh less: on [0, 1] "
        f"with t = {at}, r = {r} they weigh {attack.prior:.2f}, not {2 * r:.2f}. For δ = {d} the formula allows an ε "
        f"with which the advantage is {gained:.3f}.",
        {
            "published prior": lp.uniform_ball(r, 1.0),
            "exact prior": attack.prior,
            "published ε": published,
            "exact ε": exact,
            "advantage delivered": gained,
            "advantage promised": d,
        },
        "The formula wherever the correct guesses lie inside the range.",
        "The text speaks of fitting the set of other values, not of the goal itself; the case may have been set aside.",
    )


@DOCKET.enter("lp-4.1-cdf", "§4.1, g from a distribution function")
def from_cdf() -> Finding:
    at, z = 1900.0, 100.0
    corrected = lp.cdf_ball(lambda x: float(SALARY.cdf(x)), at)(z)
    x = 2000.0  # any other point than the true one
    printed = float(SALARY.cdf(x + z) - SALARY.cdf(x - z))
    true = interval(SALARY, at - z, at + z).prior
    return Finding(
        "With g(z) written as a set, X' is said to be F(x+z) − F(x−z).",
        judge_print(printed, corrected, true),
        "The set's probability is meant, around the true value: g(z) = F(t+z) − F(t−z). "
        f"Salaries, t = {at:g}, z = {z:g}: {corrected:.4f}.",
        {"corrected": corrected, "exact": true, "with another x": printed},
        "Any prior with a distribution function can be used; §6.2 writes t.",
    )


@DOCKET.enter("lp-4.1-range", "§4.1, R = μ + 3√2σ for a normal prior")
def normal_range() -> Finding:
    mean, sd = 2000.0, 235.7
    half = 3 * math.sqrt(2) * sd
    printed, shifted = lp.normal_range(mean, sd), lp.normal_range(-mean, sd)
    covered = float(SALARY.mass(mean - half, mean + half))
    # A distance must not depend on where zero is: two priors that differ by a shift have the same R.
    word = judge_print([printed, shifted], [half, half], [half, half])
    return Finding(
        "For N(μ, σ²) take R = μ + 3√2σ, which covers erf(3) of the weight.",
        word,
        f"R is a distance and cannot contain μ: {printed:.0f} for mean 2000, {shifted:.0f} for mean −2000. The "
        f"interval μ ± 3√2σ covers {covered:.5f}; distances within it are up to 2·3√2σ, and up to 3√2σ + r from the "
        "goal at μ.",
        {
            "printed R, μ = 2000": printed,
            "printed R, μ = −2000": shifted,
            "3√2σ": half,
            "covered": covered,
            "erf(3)": math.erf(3),
        },
        "erf(3) ≈ 0.99998 is the weight within 3√2σ of the mean, as §6.2 uses it with (1000, 3000).",
        "The sentence is garbled in the transcription (the figure's caption runs into it).",
    )


@DOCKET.enter("lp-4.1-worst-prior", "§4.1, the worst prior (1−δ)/2")
def worst_prior() -> Finding:
    limits = (0.01, 0.1, 0.3, 0.6)
    published = [lp.epsilon_lb(lp.worst_prior(d), d) for d in limits]
    exact = [4 * math.atanh(d) for d in limits]
    grid = [min(lp.epsilon_lb(float(p), d) for p in np.linspace(1e-4, 1 - d - 1e-4, 4001)) for d in limits]
    slope = lp.epsilon_slope(lp.worst_prior(LIMIT), LIMIT)
    return Finding(
        "If the prior is unknown, p = (1−δ)/2 needs most noise.",
        judge_epsilons(published, exact),
        "Exactly so. In closed form εR = 4·artanh(δ). The text says that this p maximises f; f is the ε, and the p "
        "minimises it.",
        {
            "p at δ = 0.1": lp.worst_prior(LIMIT),
            "published ε at δ = 0.1": published[1],
            "4·artanh(0.1)": exact[1],
            "least ε on a grid of priors": grid[1],
            "slope at that p": slope,
        },
        "The value, its derivative, and that it holds for every prior.",
    )


@DOCKET.enter("lp-4.1-partly-known", "§4.1, the worst prior when g(a) = q < 1")
def partly_known_prior() -> Finding:
    printed = lp.partly_known_worst_prior(0.8, LIMIT)
    zero = root(lambda p: lp.epsilon_slope(p, LIMIT, 1.0, 0.8), 0.2, 0.5)
    q, reach, radius = 0.95, 1.0, 0.5
    p = lp.worst_prior(LIMIT)
    published = lp.equation_1(p, q - p, reach, LIMIT)
    attack = Attack(within(Attribute("x", prior=partly_known(reach, q, -50.0, 50.0)), radius), at={"x": 0.0})
    delivered, exact = reached_by(attack.advantage(published)), attack.epsilon(advantage=LIMIT)
    step = 1e-6
    derivative = (
        lp.equation_1(0.3 + step, q - 0.3 - step, 1.0, LIMIT) - lp.equation_1(0.3 - step, q - 0.3 + step, 1.0, LIMIT)
    ) / (2 * step)
    return Finding(
        "With q − p in the place of 1 − p the worst prior is (δ(1−δ)+q(1−q))/(2(δ+q−1)); but one can always use "
        "(1−δ)/2.",
        judge_epsilons(published, exact),
        f"The first is no probability ({printed:.3g} at q = 0.8, δ = 0.1). It has lost a sign (the printed slope is "
        f"0 at (q−δ)/2 = {zero:.2f}), and in that slope q − p was put for 1 − p after differentiating, where p was 1 "
        f"− (1−p). The second does not hold with a < R: q = {q}, a = {reach:g}, r = {radius}, range 100, δ = 0.1 "
        f"gives ε = {published:.3f}, at which the advantage is {delivered:.3f}. The worst p has a closed form: with "
        "s = e^{−ε(r+a)}, w = e^{−εR}, K = qs + (1−q)w it is (√K − K)/(1−s), or the nearest p ≤ q.",
        {
            "printed worst p (q = 0.8, δ = 0.1)": printed,
            "published ε (q = 0.95)": published,
            "exact ε": exact,
            "advantage delivered": delivered,
            "zero of the printed slope (q = 0.8, δ = 0.1)": zero,
            "printed slope at p = 0.3, q = 0.95": lp.epsilon_slope(0.3, LIMIT, 1.0, q),
            "true slope there": derivative,
        },
        "With a = R (q = 1) the ε for (1−δ)/2 is sufficient whatever the prior, as the section says.",
    )


@DOCKET.enter("lp-4.1-list-prior", "§4.1, discrete list, p' = 1/(1+e^{−ε/2})")
def list_prior() -> Finding:
    epsilon = 1.0
    printed = lp.worst_prior_for_epsilon(epsilon)
    corrected = 1 / (1 + math.exp(epsilon / 2))
    grid = np.linspace(0.001, 0.999, 9981)
    gains = grid / (grid + math.exp(-epsilon) * (1 - grid)) - grid
    true = float(grid[np.argmax(gains)])
    return Finding(
        "The prior that gains most at a given ε is 1/(1+e^{−ε/2}).",
        judge_print(printed, corrected, true, close=1e-3),
        "The sign is lost, and R: 1/(1+e^{εR/2}), as the slides have it. The printed value is the prior that can "
        "fall most.",
        {
            "printed, ε = 1": printed,
            "corrected": corrected,
            "best on a grid of priors": true,
            "advantage at the printed prior": bound_of(two_values(printed).advantage(epsilon)),
            "advantage at the corrected prior": bound_of(two_values(corrected).advantage(epsilon)),
        },
        "The slides give the right form; for falling beliefs the printed one is right at R = 1.",
        "A minus sign may have been gained in transcription.",
    )


@DOCKET.enter("lp-4.1-list", "§4.1, discrete list: only the two priors next to the worst")
def discrete_list() -> Finding:
    lists = ([0.1, 0.05, 0.125, 0.2, 0.025], [0.6, 0.3, 0.1], [0.44, 0.47, 0.09], [0.9, 0.1])
    published = [lp.discrete_epsilon(priors, LIMIT) for priors in lists]
    exact = [min(two_values(p).epsilon(advantage=LIMIT) for p in priors) for priors in lists]
    one_sided = lp.discrete_epsilon([0.525, 0.55, 0.6, 0.625, 0.7], LIMIT)
    two_sided = min(two_values(p).epsilon(advantage=LIMIT, both=True) for p in (0.525, 0.55, 0.6, 0.625, 0.7))
    return Finding(
        "For a list of possible priors it is enough to try the nearest below and the nearest above the worst one.",
        judge_epsilons(published, exact),
        "Exactly so for rising beliefs: ε falls up to (1−δ)/2 and rises after it. If beliefs may not fall either, "
        "the prior whose min(p, 1−p) is nearest to (1−δ)/2 is worst; §6.1 shows the difference.",
        {
            "published ε, cats": published[0],
            "exact ε, cats": exact[0],
            "OR-cats, one direction": one_sided,
            "OR-cats, both directions": two_sided,
        },
        "A list of any length costs two evaluations, and combinations of dependent attributes are allowed.",
    )
