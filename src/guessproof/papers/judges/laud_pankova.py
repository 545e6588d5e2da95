"""Laud & Pankova, section 3 (definitions, the bound, eq. 1), judged."""

from __future__ import annotations

import numpy as np

from guessproof.papers import laud_pankova as lp
from guessproof.papers.judges.truth import SALARY, bound_of, interval, two_values
from guessproof.papers.verdict import LP, Docket, Finding, judge_bounds, judge_epsilons, judge_print
from guessproof.world import exponential, normal

DOCKET = Docket(LP)
LIMIT = 0.1


@DOCKET.enter("lp-def", "Definitions 3 to 5, guessing advantage")
def definitions() -> Finding:
    p, epsilon = 0.25, 0.4
    attack = two_values(p)
    rise = bound_of(attack.posterior(epsilon)) - p
    fall = p - bound_of(attack.posterior(epsilon, side="lower"))
    published, exact = max(rise, fall), bound_of(attack.advantage(epsilon, both=True))
    return Finding(
        "The advantage is the change of belief in the correct guesses, up or down, for the output that was seen.",
        judge_bounds(published, exact),
        "A definition that can be computed exactly; the slides use its upper half. It bounds the gain of an attacker "
        "who makes his best guess only if it holds for every true value.",
        {"rise": rise, "fall": fall, "two-sided advantage": exact},
        "A measure that people can judge, independent of the mechanism, with precision r for numbers.",
    )


@DOCKET.enter("lp-3.2", "§3.2, posterior bound and ε_lb")
def posterior_bound() -> Finding:
    cases = [(p, e, r) for p in (0.01, 0.2, 0.5, 0.9) for e in (0.1, 1.0) for r in (1.0, 3.0)]
    published = [lp.posterior_bound(p, e, r) for p, e, r in cases]
    exact = [bound_of(two_values(p).posterior(e * r)) for p, e, r in cases]
    epsilon, best = lp.epsilon_lb(0.2, LIMIT), two_values(0.2).epsilon(advantage=LIMIT)
    return Finding(
        "If no two values are further apart than R, a belief p can rise to p/(p + e^{−εR}(1−p)) at most; solved for ε.",
        judge_bounds(published, exact),
        "Exactly so when the diameter R is all that is known of the distance: two values R apart attain it. "
        "Where more is known of the distance (a line), far larger ε are safe; see the slides' simplification.",
        {
            "published ε (p = 0.2, δ = 0.1, R = 1)": epsilon,
            "exact ε": best,
            "largest difference in posterior, 16 cases": np.max(np.abs(np.subtract(published, exact))),
        },
        "The central idea of the paper: ε can be read off from a prior and an advantage, without any mechanism.",
        "R is printed as a supremum over x alone, x' being left free; it is meant over both.",
    )


@DOCKET.enter("lp-3.2-chain", "§3.2, third line of the derivation")
def derivation() -> Finding:
    inside, outside = 0.2, 0.8
    printed, corrected = lp.derivation_third_line(inside, outside), inside / (inside + outside)
    true = bound_of(two_values(inside).posterior(0.0))
    return Finding(
        "A posterior is written as (inside + outside)/inside in the middle of its derivation.",
        judge_print(printed, corrected, true),
        f"It is the reciprocal, inside/(inside + outside): at ε = 0 the printed line gives {printed:g} for a belief of "
        f"{true:g}. The lines before and after are right.",
        {"printed": printed, "corrected": corrected, "exact": true},
        "The result of the derivation.",
        "The fraction may have been turned over in transcription.",
    )


@DOCKET.enter("lp-3.2-both", "§3.2, ε = min(ε_lb, ε_ub)")
def both_directions() -> Finding:
    cases = [(p, d) for p in (0.05, 0.2, 0.45, 0.5, 0.55, 0.8, 0.95) for d in (0.01, 0.04)]
    published = [lp.epsilon_both(p, d) for p, d in cases]
    exact = [two_values(p).epsilon(advantage=d, both=True) for p, d in cases]
    return Finding(
        "For a belief that may neither rise nor fall by more than δ, take the smaller of two ε; for p ≤ ½ it is the "
        "one against rising, otherwise the one against falling.",
        judge_epsilons(published, exact),
        "Exactly so: ε_lb ≤ ε_ub if and only if p ≤ 1−p.",
        {
            "published ε (p = 0.55, δ = 0.1)": lp.epsilon_both(0.55, LIMIT),
            "exact ε": two_values(0.55).epsilon(advantage=LIMIT, both=True),
            "largest relative difference, 14 cases": np.max(np.abs(np.divide(published, exact) - 1)),
        },
        "Both the formula and the remark that only one of the two has to be computed.",
    )


def _equation_1_cases() -> list[tuple[str, object, float, float, float]]:
    """Name, prior, true value, radius, largest a to try."""
    return [
        ("salaries", SALARY, 2000.0, 100.0, 1500.0),
        ("exponential(1), t = 1, r = 0.3", exponential(1.0), 1.0, 0.3, 8.0),
        ("N(0, 1), t = 1, r = 0.5", normal(0.0, 1.0), 1.0, 0.5, 8.0),
    ]


@DOCKET.enter("lp-eq1", "eq. (1), with X̂_a as §3.2 defines it")
def equation_1() -> Finding:
    published, exact, figures = [], [], {}
    for name, prior, at, r, most in _equation_1_cases():
        attack = interval(prior, at - r, at + r)
        g = lp.cdf_ball(lambda x, prior=prior: float(prior.cdf(x)), at)  # pyright: ignore[reportAttributeAccessIssue]
        epsilon = lp.best_over_a(
            lambda a, g=g, r=r: lp.equation_1(g(r), lp.others_near_all(g, r, a), a, LIMIT), 2 * r, most
        )
        published.append(epsilon)
        exact.append(attack.epsilon(advantage=LIMIT))
        figures[f"{name}: published ε, best a"] = published[-1]
        figures[f"{name}: exact ε"] = exact[-1]
        figures[f"{name}: factor"] = exact[-1] / published[-1]
    return Finding(
        "Choose a set of other values, each within a of every correct guess; its prior weight and a give an ε.",
        judge_epsilons(published, exact),
        "Sound, since leaving out the remaining values only helps the attacker; it costs "
        f"{figures['salaries: factor']:.2g} times the noise that is needed for the salaries of §6.2, because every "
        "other value is treated as if it were a away.",
        figures,
        "That values further away may be left out, which makes priors without bounds tractable.",
        "In §3.2 the x' of the set's definition is free; §4.1 says 'for all x' in X'', which is the reading used here.",
    )
