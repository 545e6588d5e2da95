"""Kazan & Reiter, section 5 (Lee & Clifton, Wood et al.), judged."""

from __future__ import annotations

import statistics

import numpy as np

from guessproof.mechanisms.laplace import Laplace
from guessproof.papers import kazan_reiter as kr
from guessproof.papers.earlier import lee_clifton
from guessproof.papers.judges.truth import bound_of, two_values
from guessproof.papers.verdict import KR, Docket, Finding, judge_applied, judge_bounds, judge_epsilons
from guessproof.risk import FiniteWorld

DOCKET = Docket(KR)


@DOCKET.enter("kr-37-40", "(37) to (40): the framework turned to a person who is missing")
def redefinition() -> Finding:
    cases = [(n, a, e) for n, a in ((2, 0.7), (4, 1 / 3), (50, 0.1)) for e in (0.1, 0.4, 2.0)]
    published, exact = [], []
    for n, _, e in cases:
        posterior = bound_of(two_values(1 / n).posterior(e))
        published.append(kr.theorem_1(1 / n, 1.0, e))
        exact.append(kr.redefined_risks(1 / n, posterior)[1])
    limits = [kr.theorem_1(1 / n, 1.0, two_values(1 / n).epsilon(posterior=a)) for n, a, _ in cases]
    return Finding(
        "With p, r and a redefined for 'i is not in the data' and q = 1, a limit ã on the posterior at p = 1/n is a "
        "limit of nã on the ratio; 4/3 for n = 4, ã = 1/3.",
        judge_bounds([*published, *(kr.equation_40(n, a) for n, a, _ in cases)], [*exact, *limits]),
        "Exactly so: presence and absence are one step apart whichever is asked about, so (27) with q = 1 stays the "
        "largest ratio, and it reaches nã at the ε that lets the posterior reach ã. ã must be at least 1/n.",
        {
            "r* for n = 4, ã = 1/3": kr.equation_40(4, 1 / 3),
            "largest ratio at the ε for ã = 1/3": limits[3],
            "(27) at p = 1/4, q = 1, ε = 0.4": published[4],
            "exact": exact[4],
        },
        "The redefinition, and the number 4/3.",
        "'q = 1 for any set S' cannot hold for a set and its complement; that the value does not matter is meant.",
    )


def _one_missing(n: int) -> list[tuple[float, bool, frozenset[int]]]:
    """Exactly one of n people is missing, each as likely: the worlds as person 0 sees them."""
    return [(1 / n, j != 0, frozenset(range(1, n)) - {j}) for j in range(n)]


@DOCKET.enter("kr-41", "(41): the framework's ε for Lee & Clifton's question")
def equation_41() -> Finding:
    people, absolute = [-1.0, 1.0, 1.0, 1.0], 1 / 3
    published = kr.equation_41(4, absolute)
    noise = Laplace(kr.delta_t(people, sum), published)
    answers = np.array([sum(people) - v for v in people])
    likelihood = noise.density(answers.max() + 1.0 - answers)
    posterior = float(likelihood[0] / likelihood.sum())
    distance = np.abs(answers[:, None] - answers) / noise.sensitivity
    exact = FiniteWorld(prior=[0.25] * 4, distance=distance).epsilon([1, 0, 0, 0], posterior=absolute)
    independent = two_values(0.25).epsilon(posterior=absolute)
    gap = kr.assumption_2(_one_missing(4))
    word = judge_applied(judge_epsilons(published, independent), gap <= 1e-9, judge_epsilons(published, exact))
    return Finding(
        "If a person is missing with prior 1/n, ε = ln((n−1)ã/(1−ã)) keeps the belief that he is below ã; ln(3/2) for "
        "Lee & Clifton's n = 4, ã = 1/3.",
        word,
        "Exact where the draft's Assumption 2 holds: the others are in the data or not independently of this one. It "
        "does not apply to Lee & Clifton's own setting, in which exactly one is missing: whoever learns of the others "
        f"learns of this one (total variation {gap:g}), and two possible data sets are two steps apart. There, with "
        f"values (−1, 1, 1, 1), SUM, Laplace noise and ε = ln 1.5, the belief that −1 is missing reaches "
        f"{posterior:.4f} > 1/3. Half that ε is safe there for every statistic.",
        {
            "published ε": published,
            "exact ε, others independent": independent,
            "exact ε, exactly one missing": exact,
            "posterior reached, exactly one missing": posterior,
            "posterior wanted": absolute,
            "distance from Assumption 2": gap,
        },
        "The formula and the number ln(3/2) ≈ 0.41 under the assumption that the draft states; it also says that its "
        "assumptions differ from Lee & Clifton's.",
    )


@DOCKET.enter("kr-lee-clifton-range", "§5.1, Lee & Clifton's examples: from 0.34 to 1.62")
def lee_clifton_range() -> Finding:
    asked = {
        "mean of (1, 2, 3, 4)": lee_clifton([1, 2, 3, 4], posterior=1 / 3, statistic="mean"),
        "median of (1, 2, 3, 10)": lee_clifton([1, 2, 3, 10], posterior=1 / 3, statistic=statistics.median),
    }
    said = [round(one.value, 2) for one in asked.values()]
    same = said == list(kr.LEE_CLIFTON_RANGE)
    word = judge_epsilons([one.value for one in asked.values()], [one.truth for one in asked.values()])
    framework = kr.equation_41(4, 1 / 3)
    low, high = asked.values()
    return Finding(
        "For the same n = 4 and ã = 1/3 Lee & Clifton's ε is between 0.34 and 1.62, by the statistic and the values; "
        "it may be larger than the framework's.",
        word if same else "misprint",
        f"The mean of (1, 2, 3, 4) gives {low.value:.4f} and the median of (1, 2, 3, 10) {high.value:.4f}, on either "
        f"side of ln(3/2) = {framework:.4f}. Both are sound and loose: {low.truth:.4f} and {high.truth:.4f} are safe, "
        f"{low.factor:.3g} and {high.factor:.3g} times as much, since not everybody is Δv away from the person asked "
        "about.",
        {
            **{f"{name}: published ε": one.value for name, one in asked.items()},
            **{f"{name}: exact ε": one.truth for name, one in asked.items()},
            **{f"{name}: factor": one.factor for name, one in asked.items()},
            "framework's ε (41)": framework,
        },
        "The two ends of the range, and that the ε depends on the population and the statistic.",
        "Lee & Clifton's own paper was not read: these populations give the quoted numbers, and may not be theirs.",
    )


@DOCKET.enter("kr-42", "(42) to (44): Lee & Clifton's ε")
def equation_42() -> Finding:
    published, exact = [], []
    for people in ([-1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 6.0]):
        removal, exchange = kr.delta_t(people, sum), kr.delta_v(people, sum)
        published.append(kr.equation_42(4, 1 / 3, removal, exchange))
        answers = np.array(people)
        world = FiniteWorld(prior=[0.25] * 4, distance=np.abs(answers[:, None] - answers) / removal)
        exact.append(min(world.epsilon(goal, posterior=1 / 3) for goal in np.eye(4)))
    return Finding(
        "With Laplace noise, scaled by ΔT/Δv: the ε that keeps the belief below ã for this population and statistic.",
        judge_epsilons(published, exact),
        f"Sound. Exact when all others differ from the person by Δv, as for (−1, 1, 1, 1); for (1, 2, 3, 6) it costs "
        f"{exact[1] / published[1]:.3g} times the noise needed.",
        {
            "(−1, 1, 1, 1): published ε": published[0],
            "(−1, 1, 1, 1): exact ε": exact[0],
            "(1, 2, 3, 6): published ε": published[1],
            "(1, 2, 3, 6): exact ε": exact[1],
            "(1, 2, 3, 6): factor": exact[1] / published[1],
        },
        "ΔT and Δv are stated correctly, and the difference in purpose is explained fairly.",
    )


@DOCKET.enter("kr-45", "(45) and (46): Wood et al.")
def wood() -> Finding:
    cases = [(a, e) for a in (0.01, 0.3, 0.8) for e in (0.2, 1.0)]
    published = [kr.equation_45(*c) for c in cases] + [kr.equation_46(*c) for c in cases]
    exact = [bound_of(two_values(a).posterior(2 * e)) for a, e in cases] * 2
    return Finding(
        "Taking part raises a posterior a₀ to at most a₀/(a₀ + e^{−2ε}(1−a₀)); the same form holds for p = 1.",
        judge_bounds(published, exact),
        "Exactly so: two worlds, two steps apart.",
        {"published, 0.3 at ε = 1": published[3], "exact": exact[3]},
        "The result, its source and the comparison.",
    )
