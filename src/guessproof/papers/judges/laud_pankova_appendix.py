"""Laud & Pankova, appendix A (uniform priors, noise below a bound), judged."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import quad
from scipy.special import lambertw

from guessproof.mechanisms.cauchy import cauchy_b, cauchy_confidence
from guessproof.mechanisms.laplace import Laplace
from guessproof.papers import laud_pankova_appendix as ap
from guessproof.papers.judges.truth import bound_of, interval, reached_by
from guessproof.papers.verdict import LP, Docket, Finding, judge_bounds, judge_epsilons, judge_print
from guessproof.world import uniform

DOCKET = Docket(LP)


def _centred(radius: float):
    """Uniform on [−R, R], goal |x| ≤ 1."""
    return interval(uniform(-radius, radius), -1.0, 1.0)


@DOCKET.enter("lp-A-posterior", "Appendix A, n = 1, the posterior at a = 1/ε + r")
def uniform_posterior() -> Finding:
    cases = [(e, radius) for radius in (20.0, 100.0, 1000.0) for e in (0.02, 0.1, 0.5) if ap.best_a(e, 1.0) <= radius]
    published = [ap.uniform_posterior(e, 1.0) for e, _ in cases]
    exact = [bound_of(_centred(radius).posterior(e)) for e, radius in cases]
    factors = np.divide(published, exact)
    return Finding(
        "For a uniform prior the best a is 1/ε + r, and the posterior is at most 1/(1 + (e^{εr+1}·εr)⁻¹).",
        judge_bounds(published, exact),
        "Sound where the ball of radius 1/ε + r fits into the range. There it is "
        f"{factors.min():.3g} to {factors.max():.3g} times the exact (1−e^{{−εr}})/(1−e^{{−εR}}).",
        {f"least factor, {len(cases)} cases": factors.min(), "largest factor": factors.max()},
        "The choice of a is indeed the best for eq. (1).",
    )


@DOCKET.enter("lp-A-lambert", "Appendix A, n = 1, ε by Lambert's W")
def lambert() -> Finding:
    radius, d = 2.0, 0.01
    published = ap.lambert_epsilon(1.0, radius, d)
    delivered, safe = reached_by(_centred(radius).advantage(published)), _centred(radius).epsilon(advantage=d)
    wide = [(1000.0, 0.02), (100.0, 0.05), (20.0, 0.2)]
    fits = [ap.lambert_epsilon(1.0, size, limit) for size, limit in wide]
    factors = np.divide([_centred(size).epsilon(advantage=limit) for size, limit in wide], fits)
    return Finding(
        "ε = W((r/R+δ)/(e(1−(r/R+δ))))/r keeps the advantage below δ for a uniform prior.",
        judge_epsilons([published, *fits], [safe, *(factors * fits)]),
        f"Only where a = 1/ε + r ≤ R. For r/R = ½, δ = {d} it gives ε = {published:.3f}, a = "
        f"{ap.best_a(published, 1.0):.2f} > R = {radius:g}, and the advantage is {delivered:.3f}. Where it applies it "
        f"costs {factors.min():.3g} to {factors.max():.3g} times the noise needed, never more than e. Exactly: solve "
        "(1−e^{−εr})/(1−e^{−εR}) = r/R + δ.",
        {
            "published ε (r/R = 0.5, δ = 0.01)": published,
            "exact ε": safe,
            "advantage delivered": delivered,
            "a": ap.best_a(published, 1.0),
            "least factor where a ≤ R": factors.min(),
            "largest factor where a ≤ R": factors.max(),
        },
        "A closed form for ε, valid for narrow goals.",
    )


@DOCKET.enter("lp-A-newton", "Appendix A, the iteration for W")
def newton() -> Finding:
    y, steps = 3.0, 8
    printed = ap.lambert_iteration(y, steps)[-1]
    w = 1.0
    for _ in range(steps):
        w -= (w * math.exp(w) - y) / ((w + 1) * math.exp(w))
    true = float(lambertw(y).real)
    return Finding(
        "W is found by an iteration in which two earlier iterates occur.",
        judge_print(printed, w, true),
        f"Newton's step has wₙ throughout: w ← w − (we^w − y)/((w+1)e^w). For y = {y:g}, after {steps} steps the "
        f"printed indices give {printed:.4f}, Newton {w:.10f}; W = {true:.10f}.",
        {"printed": printed, "corrected": w, "exact": true},
        "The derivative, and that the iteration is quick when its indices agree.",
        "Subscripts may have suffered in transcription; w₋₁ is not given.",
    )


@DOCKET.enter("lp-eq2", "Appendix A, eq. (2), n > 1")
def equation_2() -> Finding:
    epsilon, radius = 0.1, 2.0
    published, exact = ap.equation_2(epsilon, 1.0, 1), reached_by(_centred(radius).posterior(epsilon))

    def centred_ball(n: int, e: float, size: float) -> float:
        """The posterior of a release centred on a ball of radius 1 in a ball of radius `size` of dimension n."""
        inside, whole = (quad(lambda z: math.exp(-e * z) * z ** (n - 1), 0, end)[0] for end in (1.0, size))
        return inside / whole

    flat = ap.equation_2(0.2, 1.0, 2), centred_ball(2, 0.2, 2.0)
    fits = [(e, size) for e, size in ((0.05, 100.0), (0.02, 1000.0)) if 1 / e + 1 <= size]
    factors = [ap.equation_2(e, 1.0, 1) / bound_of(_centred(size).posterior(e)) for e, size in fits]
    return Finding(
        "In dimension n the posterior is at most e^{aε}(r/a)ⁿ, at best (εer/n)ⁿ.",
        judge_bounds([published, flat[0]], [exact, flat[1]]),
        f"Only where every ball of radius a = n/ε around a correct guess lies inside the range. ε = {epsilon}, r = 1, "
        f"R = {radius:g}, n = 1: {published:.3f}, below the prior {1 / radius:g} itself; true {exact:.3f}. n = 2, ε = "
        f"0.2: {flat[0]:.3f} against {flat[1]:.3f}. Where the balls fit it is sound, for n = 1 about {factors[0]:.3g} "
        "times the exact value.",
        {
            "published, n = 1": published,
            "exact, n = 1": exact,
            "published, n = 2": flat[0],
            "reached by a centred release, n = 2": flat[1],
            "factor where the balls fit": factors[0],
        },
        "A bound in any dimension and any ℓp that needs no integration.",
    )


@DOCKET.enter("lp-A.1-laplace", "Appendix A.1, a = −ln(1−p)/ε")
def laplace_bound() -> Finding:
    cases = [(e, p) for e in (0.1, 1.0) for p in (0.5, 0.78, 0.95, 0.999)]
    published = [ap.laplace_bound(e, p) for e, p in cases]
    exact = [Laplace(1, e).error(confidence=p) for e, p in cases]
    return Finding(
        "Laplace noise stays within −ln(1−p)/ε with probability p.",
        judge_bounds(published, exact),
        "Exactly so.",
        {"published (ε = 1, p = 0.95)": published[6], "exact": exact[6]},
        "All of it.",
    )


@DOCKET.enter("lp-A.1-cauchy", "Appendix A.1, probability 0.78")
def cauchy_confidence_078() -> Finding:
    exact = cauchy_confidence(1.0, 4.0)
    computed = 2 * quad(ap.cauchy_density, 0, 1)[0]
    return Finding(
        "Noise with density √2/π/(1+z⁴) is within ±1 with probability about 0.78.",
        judge_bounds(round(computed, 2), ap.CAUCHY_CONFIDENCE, close=1e-12),
        f"Exactly {exact:.6f}.",
        {"printed": ap.CAUCHY_CONFIDENCE, "integral": computed, "exact": exact},
        "The constant, and that any other confidence can be had by a search.",
    )


@DOCKET.enter("lp-A.1-b", "Appendix A.1, b = ε/γ − β")
def cauchy_scale() -> Finding:
    published = [ap.cauchy_b(1.0, 4.0, beta) for beta in (0.0, 0.1)]
    exact = [cauchy_b(1.0, 4.0, beta) for beta in (0.0, 0.1)]
    factors = np.divide(exact, published)
    return Finding(
        "Generalised Cauchy noise of exponent γ may have scale c/b with b = ε/γ − β.",
        judge_epsilons(published, exact),
        f"Sound; it costs {factors[0]:.3g} times the noise needed at γ = 4, β = 0, and {factors[1]:.3g} times at β = "
        "0.1ε. The loss per unit is bγz^{γ−1}/(1+z^γ) + β|γz^γ/(1+z^γ) − 1|; the rule bounds it by γ(b+β), and its "
        "maximum is smaller.",
        {
            "published b, β = 0": published[0],
            "exact b, β = 0": exact[0],
            "factor, β = 0": factors[0],
            "factor, β = 0.1": factors[1],
        },
        "That heavy tails allow pure ε with noise that follows the data.",
    )


@DOCKET.enter("lp-A.1-scaling", "Appendix A.1, the density of scaled noise")
def scaled_density() -> Finding:
    scale = 2.0
    density = ap.rescaled_density(ap.cauchy_density, scale)
    printed = 2 * quad(density, 0, scale)[0]
    corrected = 2 * quad(lambda x: ap.cauchy_density(x / scale) / scale, 0, scale)[0]
    return Finding(
        "Noise scaled by ξ has density f(ξx)/ξ and stays within aξ with probability p.",
        judge_print(printed, corrected, cauchy_confidence(1.0, 4.0)),
        f"The density is f(x/ξ)/ξ; with the printed one the probability at ξ = 2 would be {printed:.3f} instead of "
        f"{corrected:.3f}. The conclusion, aξ for a, is right.",
        {"printed": printed, "corrected": corrected, "exact": cauchy_confidence(1.0, 4.0)},
        "The conclusion.",
    )
