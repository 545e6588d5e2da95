"""Kazan & Reiter, sections 2 and 4 with the corollaries, judged."""

from __future__ import annotations

import math

import numpy as np

from guessproof.mechanisms.geometric import Geometric
from guessproof.mechanisms.laplace import Laplace
from guessproof.papers import kazan_reiter as kr
from guessproof.papers.judges.truth import bound_of, three_worlds, two_values
from guessproof.papers.verdict import KR, Docket, Finding, judge_bounds, judge_epsilons, judge_print
from guessproof.risk import FiniteWorld, RiskProfile, epsilon_for_relative_risk

DOCKET = Docket(KR)
PRIORS = [(p, q) for p in (0.05, 0.5, 1.0) for q in (0.01, 0.3, 0.9, 1.0) if p * q < 1]


@DOCKET.enter("kr-def1", "Definition 1, bounded and unbounded")
def definition_1() -> Finding:
    epsilon, p = 0.7, 0.3
    unbounded = FiniteWorld(prior=[p, 1 - p, 1e-12], distance=[[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    exact = bound_of(unbounded.posterior([1, 0, 0], epsilon))
    published = bound_of(two_values(p).posterior(kr.unbounded_to_bounded(epsilon)))
    return Finding(
        "A release that hides the presence of a record with ε hides a change of the record with 2ε.",
        judge_bounds(published, exact),
        "Exactly so, and 2 cannot be improved: change means leaving and entering.",
        {"posterior allowed by 2ε": published, "exact posterior": exact},
        "All of it.",
    )


@DOCKET.enter("kr-def2", "Definition 2, (2) and (3): the geometric mechanism")
def definition_2() -> Finding:
    cases = (0.1, 0.5, 1.3, 3.0)
    published = [kr.geometric_mass(0, e) for e in cases] + [kr.geometric_variance(e) for e in cases]
    exact = [float(Geometric(1, e).mass(0)) for e in cases]
    exact += [Geometric(1, e).standard_deviation ** 2 for e in cases]
    return Finding(
        "Two-sided geometric noise has mass (1−e^{−ε})/(1+e^{−ε})·e^{−ε|k|} and variance 2e^{−ε}/(1−e^{−ε})².",
        judge_bounds(published, exact),
        "Exactly so.",
        {"P(exact), ε = 1.3": published[2], "variance, ε = 1.3": published[6]},
        "Both formulas.",
    )


@DOCKET.enter("kr-2.1-variance", "§2.1, 'variance inversely proportional to ε'")
def variance() -> Finding:
    laplace = [Laplace(1, e).standard_deviation ** 2 for e in (0.1, 0.05)]
    geometric = [kr.geometric_variance(e) for e in (0.1, 0.05)]
    return Finding(
        "Common noise distributions are said to have variance inversely proportional to ε.",
        judge_print(2.0, 4.0, laplace[1] / laplace[0]),
        f"The standard deviation is, for Laplace noise: halving ε makes the variance {laplace[1] / laplace[0]:.3g} "
        f"times as large. For the geometric mechanism it is nearly so ({geometric[1] / geometric[0]:.4f} from 0.1 to "
        "0.05), by (3).",
        {"Laplace: variance ratio": laplace[1] / laplace[0], "geometric: variance ratio": geometric[1] / geometric[0]},
        "(3) itself, from which the tables are computed.",
    )


@DOCKET.enter("kr-5-7", "Definitions 3 and 4, (5) to (7): relative and absolute risk, and the split")
def risks() -> Finding:
    epsilon, published, exact = 1.0, [], []
    for p, q in PRIORS:
        posterior = bound_of(three_worlds(p, q).posterior([1, 0, 0], epsilon))
        shrink = math.exp(-epsilon)
        included = q + (1 - q) * shrink**2  # P(worst output | in the data), relative to that with a value in S
        inclusion = p * included / (p * included + (1 - p) * shrink)
        published.append(kr.split_relative_risk(q / included, q, inclusion, p))
        exact.append(kr.relative_risk(float(np.asarray(posterior)), p, q))
    return Finding(
        "Posterior over prior is a product of the ratio for inclusion and the ratio for the value; r = a/(pq).",
        judge_bounds(published, exact),
        "Exactly so. At the worst output the ratio for inclusion can be below 1 while the product is largest.",
        {"r at p = 0.05, q = 0.3, ε = 1": published[1], "from the three-point world": exact[1]},
        "Measures that a data holder can speak about.",
    )


@DOCKET.enter("kr-lemmas", "Lemmas 1 and 2, (20), (25), (26)")
def lemmas() -> Finding:
    epsilon, others = 0.8, np.array([0.2, 0.5, 0.3])
    absent = np.array([0.1, 0.3, 0.6])
    high, low = absent * math.exp(epsilon), absent * math.exp(-epsilon)
    reached = [float(others @ high / (others @ absent)), float(others @ high / (others @ low))]
    published = [kr.lemma_1(epsilon)[1], kr.lemma_2(epsilon)[1]]
    return Finding(
        "If the other records are independent of this one, averaging over them keeps the ratio for presence within "
        "e^{±ε} and that for the value within e^{±2ε}.",
        judge_bounds(published, reached),
        "Exactly so: a mixture of likelihoods within e^ε of each other stays within e^ε, and the ends are reached.",
        {"e^ε": published[0], "reached": reached[0], "e^{2ε}": published[1], "reached by S against not S": reached[1]},
        "Both lemmas, with proofs; the step that makes the framework independent of the other records.",
    )


@DOCKET.enter("kr-thm1", "Theorem 1, (27)")
def theorem_1() -> Finding:
    cases = [(p, q, e) for p, q in PRIORS for e in (0.3, 1.5)]
    published = [kr.theorem_1(*case) for case in cases]
    exact = [bound_of(three_worlds(p, q).posterior([1, 0, 0], e)) / (p * q) for p, q, e in cases]
    return Finding(
        "r ≤ 1/(qp + e^{−2ε}(1−q)p + e^{−ε}(1−p)).",
        judge_bounds(published, exact),
        "The largest ratio that ε permits: it is the linear program of three worlds (in the data with the value, in "
        "the data with another, not in the data), and some release attains it.",
        {
            "published, p = 0.05, q = 0.3, ε = 1.5": kr.theorem_1(0.05, 0.3, 1.5),
            "largest relative difference": np.max(np.abs(np.divide(published, exact) - 1)),
        },
        "The theorem and its proof; it is best possible, which the draft does not claim.",
    )


@DOCKET.enter("kr-thm2", "Theorem 2, (35), (68)")
def theorem_2() -> Finding:
    cases = [(0.05, 0.3, 3.0), (0.5, 0.1, 2.0), (0.9, 0.4, 1.5), (0.3, 1.0, 2.5)]
    published = [kr.theorem_2(*case) for case in cases]
    exact = [three_worlds(p, q).epsilon([1, 0, 0], posterior=r * p * q) for p, q, r in cases]
    tiny = kr.theorem_2(1e-12, 0.5, 3.0)
    return Finding(
        "(27) solved for ε.",
        judge_epsilons(published, exact),
        "The largest safe ε at each (p, q) with pq < 1/r*. Where r*pq ≥ 1 the formula has no value; the answer is "
        f"+∞, as §3.1 says in words. The printed form cancels for small p: {tiny:.4f} at p = 1e-12, where ln 3 = "
        f"{math.log(3):.4f} is right; ln(((1−p)+√…)/(2(1/r*−pq))) is the same root without this.",
        {
            "published ε, p = 0.05, q = 0.3, r* = 3": published[0],
            "exact ε": exact[0],
            "printed form at p = 1e-12, q = 0.5, r* = 3": tiny,
            "stable form there": epsilon_for_relative_risk(1e-12, 0.5, 3.0),
        },
        "The theorem and its proof.",
        "In (35) and (36) the root is transcribed without its last factor; (17), (49) and (68) have it.",
    )


@DOCKET.enter("kr-17", "(17), (36): the minimisation")
def minimisation() -> Finding:
    exact = RiskProfile.constant(3).epsilon()
    grid = [float(x) for x in np.linspace(0.01, 1, 100)]
    coarse = kr.equation_17(lambda p, q: 3.0, grid, grid)
    limit = kr.theorem_2(1.0, 1e-9, 3.0)
    return Finding(
        "The ε of a profile is the least of (35) over all priors.",
        judge_epsilons(limit, exact, close=1e-6),
        "Exactly so, as an infimum over the continuous region: for r* = 3 it lies at q → 0. A grid stops short of "
        f"it: with steps of 0.01 it gives {coarse:.5f}, above {exact:.5f}.",
        {"infimum, r* = 3": exact, "value at p = 1, q = 1e-9": limit, "least on a grid of 0.01": coarse},
        "Any profile can be treated, without a closed form.",
    )


@DOCKET.enter("kr-8", "(8), Corollary 1 (47)")
def corollary_1() -> Finding:
    epsilon, p, q = 1.0, 0.05, 0.3
    published, exact = kr.corollary_1(epsilon), kr.theorem_1(p, q, epsilon)
    world = bound_of(three_worlds(p, q).posterior([1, 0, 0], epsilon)) / (p * q)
    extreme = bound_of(three_worlds(1.0, 1e-7).posterior([1, 0, 0], epsilon)) / 1e-7
    return Finding(
        "r ≤ e^{2ε} for all priors.",
        judge_bounds([published, published], [world, extreme], close=1e-5),
        "Sound, reached in the limit p = 1, q → 0, and loose elsewhere, as the draft says: at p = 0.05, q = 0.3, ε = "
        f"1 the ratio is at most {exact:.2f}, not {published:.2f}.",
        {
            "published": published,
            "exact at p = 0.05, q = 0.3": world,
            "factor": published / world,
            "exact at p = 1, q = 1e-7": extreme,
        },
        "The bound, its looseness, and that this is the reason for the framework.",
    )


@DOCKET.enter("kr-83", "(83), in the proof of Corollary 1")
def corollary_1_middle() -> Finding:
    p, q, epsilon = 0.5, 0.5, 1.0
    printed, second = kr.corollary_1_middle(p, q, epsilon)
    shrink = math.exp(-2 * epsilon)
    corrected = 1 / (q * p + shrink * (1 - q) * p + shrink * (1 - p))
    return Finding(
        "1/(qp + e^{−2ε}(1−q)p) is said to be at most 1/(e^{−2ε} + qp(1−e^{−2ε})).",
        judge_print(printed, corrected, second),
        "A term is lost: with + e^{−2ε}(1−p) in the first fraction, which (82) has, the two are equal. As printed "
        f"{printed:.3f} > {second:.3f}.",
        {"first, as printed": printed, "first, with the lost term": corrected, "second": second},
        "The corollary, and the rest of its proof.",
        "The term may have been lost in transcription.",
    )


@DOCKET.enter("kr-cor2", "Corollary 2, (48)")
def corollary_2() -> Finding:
    cases = [(0.1, 3.0), (0.3, 2.0), (0.45, 1.1)]
    published = [kr.corollary_2(q, r) for q, r in cases]
    exact = [two_values(q).epsilon(posterior=q * r) / 2 for q, r in cases]
    return Finding(
        "For p = 1: ε = ½ ln((1−q)/(1/r*−q)).",
        judge_epsilons(published, exact),
        "Exactly so where q < 1/r*; +∞ elsewhere.",
        {"published, q = 0.1, r* = 3": published[0], "exact": exact[0]},
        "All of it.",
    )


@DOCKET.enter("kr-lemma3", "Lemma 3, (49): monotone in p and q for a limit on the posterior")
def lemma_3() -> Finding:
    step, signs = 1e-5, []
    for absolute in (0.1, 0.4, 0.8):
        for p in np.linspace(0.05, 0.95, 10):
            for q in np.linspace(0.05, 0.95, 10):
                here = kr.lemma_3(float(p), float(q), absolute)
                signs.append(here - kr.lemma_3(float(p) + step, float(q), absolute))
                signs.append(here - kr.lemma_3(float(p), float(q) + step, absolute))
    least = min(signs) / step
    return Finding(
        "With r* = ã/(pq), ε falls in p and in q.",
        "tight" if least > 0 else "unsound",
        "True on all of (0,1)²: for the root x = e^{−ε} of p(1−q)x² + (1−p)x = pq(1/ã−1), the derivative in p has "
        "the sign of x/p and that in q the sign of x² + 1/ã − 1, both positive. The draft omits the proof.",
        {"least decrease per unit, 600 differences": least},
        "The lemma.",
    )


@DOCKET.enter("kr-lemma4", "Lemma 4, (50): monotone in p and q for a limit on the ratio")
def lemma_4() -> Finding:
    step, wrong, count, flat = 1e-5, 0, 0, 0.0
    for relative in (1.5, 3.0, 6.0):
        turn = 1 / (relative + 1)
        for p in np.linspace(0.05, 0.95, 10):
            flat = max(flat, abs(kr.lemma_4(float(p), turn, relative) - math.log(relative)))
            for q in np.linspace(0.03, 0.97, 12):
                if (p + step) * (q + step) * relative >= 1:
                    continue
                here = kr.lemma_4(float(p), float(q), relative)
                in_p = kr.lemma_4(float(p) + step, float(q), relative) - here
                in_q = kr.lemma_4(float(p), float(q) + step, relative) - here
                wrong += (in_p > 0) != (q > turn)
                wrong += in_q <= 0
                count += 2
    return Finding(
        "With r* = r̃, ε rises in q; in p it falls, stays or rises as q is below, at or above 1/(r̃+1).",
        "tight" if wrong == 0 and flat < 1e-9 else "unsound",
        "True wherever ε is finite (pq < 1/r̃). With x = e^{−ε} the derivative in p has the sign of (1−x)(q − "
        "(1−q)x), and at q = 1/(r̃+1) x = 1/r̃ for every p. The draft omits the proof and the condition.",
        {f"wrong signs of {count}": wrong, "largest |ε − ln r̃| at q = 1/(r̃+1)": flat},
        "The lemma, with its turning point.",
    )
