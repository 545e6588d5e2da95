"""Laud & Pankova, appendix B ((ε, δ)-privacy), judged."""

from __future__ import annotations

import math

import numpy as np

from guessproof.mechanisms.awareness import Awareness
from guessproof.mechanisms.gaussian import Gaussian
from guessproof.mechanisms.smooth import smooth_laplace_delta
from guessproof.papers import laud_pankova as lp
from guessproof.papers import laud_pankova_appendix as ap
from guessproof.papers.judges.truth import reached_by
from guessproof.papers.verdict import LP, Docket, Finding, judge_bounds, judge_epsilons, judge_print, judge_promise
from guessproof.world import empirical

DOCKET = Docket(LP)


def _two_points(unit: float) -> tuple[Gaussian, Awareness]:
    """x = 0 (the goal) or 1, in a unit that makes them `unit` apart; Gaussian noise that is (0.5, 0.1)-private."""
    noise = Gaussian(unit, 0.5, 0.1)
    return noise, Awareness(noise, empirical([0.0, unit]), goal=(-0.5 * unit, 0.5 * unit))


@DOCKET.enter("lp-B-average", "Appendix B, the average Δ = 1 + (ε'−1)δ'")
def average() -> Finding:
    p, success, ratio = 0.3, 0.99, 1.6
    gain = p * ratio / (p * ratio + 1 - p) - p
    published = ap.average_advantage(gain, success)
    # True value in the goal: one output with probability `success` and likelihood ratio 1.6, else full disclosure.
    reached = success * gain + (1 - success) * (1 - p)
    return Finding(
        "If the advantage stays below ε' with probability δ' and is at most 1 otherwise, its average is at most 1 + "
        "(ε'−1)δ'.",
        judge_bounds(published, reached),
        f"Sound; 1 can be replaced by 1−p, which a mechanism reaches: {reached:.4f} instead of {published:.4f} at p = "
        f"{p}, δ' = {success}.",
        {"published": published, "exact": reached, "factor": published / reached},
        "That a bound which may fail can be turned into one number, with its failure counted in full.",
    )


@DOCKET.enter("lp-B-success", "Appendix B, δ' = 0")
def success_or_failure() -> Finding:
    gain = 0.1
    printed, corrected = ap.average_advantage(gain, 0.0), ap.average_advantage(gain, 1.0)
    return Finding(
        "δ' is the probability that the bound holds (B.1); for Laplace noise one can reach δ' = 0 and is back at the "
        "old definition.",
        judge_print(printed, corrected, gain),
        f"With B.1's meaning δ' = 1 is the good case: Δ at δ' = 0 is {printed:g}. In B.2 δ' has become the "
        "probability of failure.",
        {"Δ at δ' = 0": printed, "Δ at δ' = 1": corrected, "advantage wanted": gain},
        "Either meaning works when it is kept.",
    )


@DOCKET.enter("lp-B1", "Appendix B.1, ε' from a density")
def approximate_gain() -> Finding:
    success, figures, claims, failures = 0.99, {}, [], []
    for unit in (1.0, 1e-3):
        noise, view = _two_points(unit)
        reach = noise.error(confidence=success)
        claim = ap.approximate_gain(0.5, 0.5, 0.5, 0.1, float(noise.density(unit + reach)))
        failed = reached_by(view.failure(gain=claim, at=0.0)) if claim < 0.5 else 0.0
        claims.append(claim)
        failures.append(failed)
        figures[f"gain promised with probability 0.99, unit {unit:g}"] = claim
        figures[f"probability that it is exceeded, unit {unit:g}"] = failed
    return Finding(
        "For an (ε, δ)-private release the gain is at most 1/(1 + (e^ε + δ/χ)⁻¹q/p) − p, χ the least density of the "
        "output, with the probability that the density is at least χ.",
        judge_promise(failures, 1 - success),
        "δ is a probability and χ a density: the result changes with the unit of the data. For x = 0 or 1 and "
        f"Gaussian noise at (0.5, 0.1) the promised gain is {claims[0]:.3f} in one unit and {claims[1]:.3f} in "
        f"another, where it is exceeded with probability {failures[1]:.2f}, not 0.01. (ε, δ)-privacy does not bound "
        "densities by e^ε f + δ. The posterior of the mechanism itself does answer the question.",
        figures,
        "That for δ > 0 a bound can hold only with some probability, and that the mechanism must then be looked at.",
        "δ in the numerator of the inner fraction is lost in parts of the transcription; it is put back here.",
    )


@DOCKET.enter("lp-B1-converse", "Appendix B.1, the converse: δ' from a fixed ε'")
def success_for_gain() -> Finding:
    gain, claimed, failed, figures = 0.15, [], [], {}
    for unit in (1.0, 0.1, 1e-3):
        noise, view = _two_points(unit)
        needed = ap.needed_density(0.5, 0.5, 0.5, 0.1, gain)
        success = ap.success_for_gain(
            lambda z, noise=noise: float(noise.density(z)),
            lambda d, noise=noise: float(noise.confidence(within=d)),
            unit,
            needed,
        )
        claimed.append(success)
        failed.append(reached_by(view.failure(gain=gain, at=0.0)))
        figures[f"probability promised, unit {unit:g}"] = success
        figures[f"true probability, unit {unit:g}"] = 1 - failed[-1]
    return Finding(
        "For a wanted gain ε' the density must be at least χ = δ/((p+ε')/(1−(p+ε'))·q/p − e^ε); the probability δ' "
        "that it is follows from the noise, and there may be none.",
        judge_promise(failed, [1 - success for success in claimed]),
        "The same confusion backwards: χ is a density, δ a probability. For x = 0 or 1 and Gaussian noise at (0.5, "
        f"0.1) a gain of at most {gain} is promised with probability {claimed[1]:.3f} in one unit and "
        f"{claimed[2]:.4f} in another, and refused in a third; it holds with probability {1 - failed[0]:.3f} in all "
        f"of them.",
        figures,
        "Solved for χ without a slip, and it is said that for some ε' no δ' exists.",
    )


@DOCKET.enter("lp-B2-def7", "Appendix B.2, Definition 7 (probabilistic DP)")
def probabilistic() -> Finding:
    delta, n = 0.05, 3
    # With probability δ each the release names one of the other values as impossible; otherwise it says nothing.
    likelihood = np.full((n, n), delta) * (1 - np.eye(n))
    posterior = likelihood[:, 1] / likelihood[:, 1].sum()
    gained = float(posterior[0] - 1 / n)
    promised = ap.probabilistic_gain(1 / n, 0.0)
    failure = (n - 1) * delta
    return Finding(
        "If a release is (ε, δ)-probabilistically private, the ε-bound on the advantage holds with probability 1−δ.",
        judge_promise(failure, delta),
        "Definition 7 has a bad set for each pair of values; a guess is compared with all of them. A release that "
        "names, with probability δ each, one of the other values as impossible is (0, δ)-private in this sense. With "
        f"{n} values it gives an advantage of {gained:.3f} (promised {promised:g}) with probability {failure:g}, not "
        f"{delta:g}.",
        {
            "advantage promised": promised,
            "advantage reached": gained,
            "failure promised": delta,
            "failure": failure,
        },
        "Right when the attacker decides between two values, or when one bad set serves all pairs.",
    )


@DOCKET.enter("lp-B2-def6", "Appendix B.2, Definition 6 (approximate DP)")
def approximate() -> Finding:
    published, exact, figures = [], [], {}
    for unit in (1.0, 1e-3):
        noise, view = _two_points(unit)
        y = -3 * noise.scale
        density = float(noise.density(y - unit))
        published.append(ap.approximate_posterior(0.5, 0.5, 0.5, 0.1, density) if density > 0.1 else 1.0)
        exact.append(float(view.posterior(y)))
        figures[f"published posterior, unit {unit:g}"] = published[-1]
        figures[f"true posterior, unit {unit:g}"] = exact[-1]
    return Finding(
        "For an (ε, δ)-private release the posterior is at most 1/(1 + e^{−ε}(1 − δ/χ̄)q/p), χ̄ the largest density "
        "of the output.",
        judge_bounds(published, exact),
        "Again a probability is compared with a density. Three standard deviations below 0 the posterior for x = 0 "
        f"against x = 1 is {exact[1]:.3f} in every unit; the formula says {published[0]:.3f} in one unit and "
        f"{published[1]:.3f} in another.",
        figures,
        "That δ must be small against something for a bound to remain, and that ε and δ must be chosen together.",
    )


@DOCKET.enter("lp-B2-delta", "Appendix B.2, δ = 2e^{ε−1−(ε−b)/β}")
def smooth_delta() -> Finding:
    cases = [(0.5, 0.05, 1.0), (0.2, 0.1, 1.0), (0.9, 0.1, 1.0), (0.1, 0.2, 0.5)]
    published = [ap.smooth_delta(e, b, beta) for b, beta, e in cases]
    exact = [smooth_laplace_delta(b, beta, e) for b, beta, e in cases]
    factors = np.divide(published, exact)
    return Finding(
        "Laplace noise on a β-smooth sensitivity is (ε, δ)-private with δ = 2e^{ε−1−(ε−b)/β} if b + β ≤ ε.",
        judge_bounds(published, exact),
        f"Sound: {factors.min():.3g} to {factors.max():.3g} times the exact δ on four cases.",
        {"published δ (b = 0.5, β = 0.05, ε = 1)": published[0], "exact δ": exact[0], "factor": factors[0]},
        "All of it (a result that the paper cites).",
    )


@DOCKET.enter("lp-B2-beta", "Appendix B.2, the choice of β")
def smooth_beta() -> Finding:
    cases = [(1.0, 0.5, 1.0), (0.539, 0.3, 1.0), (1.0, 0.5, 7.0), (2.0, 1.9, 0.5)]
    wanted = [1 / most for *_, most in cases]
    reached = []
    for e, b, most in cases:
        beta = ap.smooth_beta(e, b, most)
        reached.append(4 * math.exp(e - 1 - (e - b) / beta) / b)
    return Finding(
        "With β ≤ (ε−b)/(ε−1−ln(b/(4C))) the loss 4e^{ε−1−(ε−b)/β}·c/b is at most c/C.",
        judge_bounds(wanted, reached),
        "As algebra exactly so, with equality at the largest β. What it is used for compares a density with a "
        "probability (lp-B2-def6).",
        {"C = 7: wanted 1/C": wanted[2], "C = 7: reached": reached[2]},
        "The algebra.",
    )


@DOCKET.enter("lp-B2-condition", "Appendix B.2, the condition on b'")
def smooth_condition() -> Finding:
    epsilon, alpha, beta, c = 0.539, 0.1, 0.02, 1.0
    b = ap.smooth_b(epsilon, alpha, beta, c, branch=-1)
    reached = ap.smooth_loss(epsilon, alpha, b, beta, c)
    printed, corrected = math.exp(-alpha * epsilon), math.exp(-alpha)
    return Finding(
        "b' must satisfy 1 − 4e^{…}c/b' ≥ e^{−αε}, and is found by Lambert's W.",
        judge_print(printed, corrected, reached),
        f"The bound that is set up, and that W solves, is e^{{−α}}: at its solution the left side is {reached:.4f} = "
        f"e^{{−α}}, not e^{{−αε}} = {printed:.4f}.",
        {"e^{−αε}": printed, "e^{−α}": corrected, "left side at b'": reached},
        "The equation that is then solved, and its solution.",
        "Minus signs are lost nearby (εα where ε − α is meant), so this exponent too may have suffered.",
    )


@DOCKET.enter("lp-B2-lambert", "Appendix B.2, b' by Lambert's W")
def smooth_lambert() -> Finding:
    epsilon, alpha, beta, c = 0.539, 0.1, 0.02, 1.0
    published = ap.smooth_b(epsilon, alpha, beta, c)
    best = min(ap.smooth_b(epsilon, alpha, beta, c, branch=-1), epsilon - alpha - beta)
    return Finding(
        "b' = −β·W(…) satisfies the condition; a search over b' may give less noise.",
        judge_epsilons(published, best),
        "The condition holds on an interval of b', whose lower end is the usual branch of W and whose upper end, the "
        f"least noise, is the branch −1: {best:.4f} instead of {published:.2g} for ε = 0.539, α = 0.1, β = 0.02, c = "
        "1. No search is needed.",
        {"usual branch": published, "branch −1": best, "factor": best / published},
        "The paper says itself that its solution need not be the best.",
    )


@DOCKET.enter("lp-B2-search", "Appendix B.2, the parameter search for smooth Laplace noise")
def smooth_search() -> Finding:
    p, limit, beta = 0.2, 0.1, 0.05
    epsilon = lp.epsilon_lb(p, limit)
    figures, scales = {}, {}
    for c in (1e-3, 1.0, 1e3):
        _, b = ap.smooth_search(epsilon, beta, c)
        scales[c] = b
        figures[f"b' for c = {c:g}"] = b
    b = scales[1e-3]
    # Two values one step apart, q = 0 for both; at the true one the sensitivity is e^β times larger.
    wide, narrow = math.exp(beta) / b, 1 / b

    def posterior(y: float) -> float:
        log_ratio = math.log(narrow / wide) - y / wide + y / narrow
        return p / (p + (1 - p) * math.exp(-log_ratio))

    y = 20 * wide * beta / -math.expm1(-beta)
    figures["advantage for a far output"] = posterior(y) - p
    figures["advantage promised"] = limit
    figures["probability of outputs at least as far"] = math.exp(-y / wide)
    return Finding(
        "A search over α and b' gives Laplace noise c/b' on a smooth sensitivity that keeps the advantage for every "
        "output.",
        judge_promise(figures["advantage for a far output"], limit),
        "No such noise can: where the scale is larger at the true value, far outputs speak for it without limit. "
        f"With the search's own b' the advantage reaches {figures['advantage for a far output']:.2f} far out (rarely: "
        f"probability {figures['probability of outputs at least as far']:.1g}). Also b' depends on the unit in which "
        "c is measured. State a probability of failure, and take it from the mechanism itself.",
        figures,
        "The search is well described and quick, and its outputs are nearly always harmless in this example.",
    )
