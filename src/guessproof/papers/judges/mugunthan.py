"""Mugunthan, Xiao & Kagal, judged."""

from __future__ import annotations

import math

import numpy as np

from guessproof.mechanisms.base import root
from guessproof.mechanisms.gaussian import Gaussian
from guessproof.mechanisms.geometric import Geometric
from guessproof.mechanisms.laplace import Laplace
from guessproof.papers import mugunthan as mxk
from guessproof.papers.verdict import MXK, Docket, Finding, judge_bounds, judge_print
from guessproof.risk import worst_advantage

DOCKET = Docket(MXK)


@DOCKET.enter("mxk-lemma1", "Lemma 1")
def lemma_1() -> Finding:
    epsilons = (0.5, 2.0)
    laplace = [mxk.lemma_1_product(Laplace(1, e).standard_deviation, e) for e in epsilons]
    geometric = [mxk.lemma_1_product(Geometric(1, e).standard_deviation, e) for e in epsilons]
    gaussian = [mxk.lemma_1_product(Gaussian(1, e, 1e-5).standard_deviation, e) for e in epsilons]
    spread = max(abs(pair[1] / pair[0] - 1) for pair in (laplace, geometric, gaussian))
    return Finding(
        "For any ε- or (ε, δ)-private mechanism with additive noise, σ is proportional to 1/ε.",
        "unsound" if spread > 1e-6 else "tight",
        "True for Laplace noise. For the geometric mechanism σ = 1/(√2·sinh(ε/2)), and for Gaussian noise with its "
        "exact (ε, δ) curve σ·ε changes too.",
        {
            "Laplace σε at ε = 0.5": laplace[0],
            "at ε = 2": laplace[1],
            "geometric σε at ε = 0.5": geometric[0],
            "geometric at ε = 2": geometric[1],
            "Gaussian (δ = 1e-5) σε at ε = 0.5": gaussian[0],
            "Gaussian at ε = 2": gaussian[1],
        },
        "The Laplace case, which the rest of the poster uses; and classical Gaussian calibration, σ = √(2 "
        "ln(1.25/δ))·Δ/ε.",
    )


@DOCKET.enter("mxk-thm1", "Theorem 1, an ε that is always enough")
def theorem_1() -> Finding:
    levels = (0.5, 0.78, 0.95, 0.99)
    published = [mxk.theorem_1_laplace(1.0, 1.0, p) for p in levels]
    exact = [Laplace.epsilon_for(sensitivity=1, within=1, confidence=p) for p in levels]
    factors = np.divide(published, exact)
    return Finding(
        "For accuracy w·q(D) with probability p, ε = M/(w·q(D)·√(1−p)) by Chebyshev's inequality.",
        judge_bounds(published, exact),
        f"Sound in this sense: no larger ε is ever needed for that accuracy. For Laplace noise it is {factors[2]:.3g} "
        "times the ε needed at p = 0.95. Note that w·q(D) uses the confidential answer; a declared magnitude must "
        "take its place.",
        {
            "published ε, p = 0.95, w·q = Δ": published[2],
            "exact ε": exact[2],
            "factor at 0.95": factors[2],
            "factor at 0.99": factors[3],
        },
        "Holds for every noise distribution of the stated variance.",
        "The theorem's wording leaves open which of its statements is the assumption; both readings are judged (see "
        "mxk-thm1-ceiling).",
    )


@DOCKET.enter("mxk-thm1-ceiling", "Theorem 1, 'maximum theoretical privacy loss'")
def theorem_1_ceiling() -> Finding:
    bound = mxk.theorem_1_laplace(1.0, 1.0, 0.95)
    delivered = Laplace(1, bound / 10).confidence(within=1)
    twice = Laplace(1, 2 * bound).confidence(within=1)
    return Finding(
        "ε ≤ M/(w·q(D)·√(1−p)) goes with the accuracy, and is the largest privacy loss of such a mechanism.",
        judge_bounds([delivered, bound], [0.95, 2 * bound]),
        "Accuracy sets a floor under ε, not a ceiling. A tenth of the bound satisfies ε ≤ … and delivers the "
        f"accuracy with probability {delivered:.2f} instead of 0.95; twice the bound delivers it too ({twice:.6f}), "
        "at a larger loss.",
        {
            "bound": bound,
            "confidence at a tenth of it": delivered,
            "confidence at twice it": twice,
            "worst advantage at the bound": worst_advantage(bound),
            "worst advantage at twice it": worst_advantage(2 * bound),
        },
        "Chebyshev's inequality gives an ε that suffices; read so, the theorem is sound (mxk-thm1).",
    )


@DOCKET.enter("mxk-thm2", "Theorem 2, and its Laplace form")
def theorem_2() -> Finding:
    levels = (0.5, 0.95, 0.999)
    published = [mxk.theorem_2_laplace(1.0, 2.0, p) for p in levels]

    def density(x: float, epsilon: float) -> float:
        return float(Laplace(1, epsilon).density(x))

    published.append(mxk.theorem_2(density, 2.0, 0.95, 0.1, 5.0))
    exact = [Laplace.epsilon_for(sensitivity=1, within=2, confidence=p) for p in (*levels, 0.95)]
    return Finding(
        "Solve p = ∫_{−c}^{c} f for ε; for Laplace noise ε = −Δ ln(1−p)/c.",
        judge_bounds(published, exact),
        "Exactly so: the smallest ε with that accuracy.",
        {"published ε, c = 2Δ, p = 0.95": published[1], "by integration": published[3], "exact ε": exact[1]},
        "The theorem, for every continuous noise.",
    )


@DOCKET.enter("mxk-thm3", "Theorem 3, and its Laplace form")
def theorem_3() -> Finding:
    p = 0.95
    laplace = Laplace(1, mxk.theorem_3_laplace(1.0, 1.0, p)).confidence(within=1)
    spread = math.sqrt(math.log(2) - math.log(1 - p))
    gaussian = math.erf(spread / math.sqrt(2))  # noise of standard deviation c/spread

    def shortfall(level: float) -> float:
        return math.erf(math.sqrt(math.log(2 / (1 - level)) / 2)) - level

    fails = root(shortfall, 0.9, 0.99)
    below = Laplace(1, mxk.theorem_3_laplace(1.0, 1.0, 0.9)).confidence(within=1)
    return Finding(
        "ε = |M|/c·√(ln 2 − ln(1−p)) gives |noise| < c with probability above p, for any noise of standard deviation "
        "M/ε.",
        judge_bounds([laplace, gaussian], [p, p]),
        "McDiarmid's inequality needs bounded differences, and noise has none; a standard deviation alone gives no "
        f"such tail. Laplace noise delivers {laplace:.4f} at p = 0.95 and fails above p = {mxk.threshold():.5f}; "
        f"Gaussian noise delivers {gaussian:.4f} and fails above {fails:.5f}.",
        {
            "Laplace: delivered at 0.95": laplace,
            "Gaussian: delivered at 0.95": gaussian,
            "Laplace: fails above": mxk.threshold(),
            "Gaussian: fails above": fails,
            "Laplace: delivered at 0.9": below,
        },
        f"Below these levels it is enough for both (Laplace at 0.9: {below:.4f}); Theorem 2 is never worse.",
    )


@DOCKET.enter("mxk-fig1", "Figure 1, the ratio ε₂/ε₃ and its threshold")
def figure_1() -> Finding:
    crossing = root(lambda p: mxk.ratio(p) - 1, 0.5, 0.99)
    exact = [
        Laplace.epsilon_for(sensitivity=1, within=1, confidence=p) / mxk.theorem_3_laplace(1.0, 1.0, p)
        for p in (0.3, 0.8, 0.95)
    ]
    published = [mxk.ratio(p) for p in (0.3, 0.8, 0.95)]
    word = judge_print([*published, mxk.threshold()], [*exact, crossing], [*exact, crossing])
    return Finding(
        "The ratio of the two ε for Laplace noise, which crosses 1 at a threshold that decides which of them "
        "performs better.",
        word,
        f"The curve is right, and crosses 1 at p = {crossing:.6f} = 1 − e^{{−(1+√(1+2 ln 2))}}. Above it ε₃ is "
        "smaller because it no longer delivers the accuracy, so Theorem 2 is the one to use on both sides.",
        {"threshold": crossing, "ratio at 0.8": published[1], "ratio at 0.95": published[2]},
        "The ratio, and that a threshold exists.",
        "The threshold's value is not printed; the figure itself is not in the transcription.",
    )
