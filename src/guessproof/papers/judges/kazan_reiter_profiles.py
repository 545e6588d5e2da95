"""Kazan & Reiter, section 3 (profiles, closed forms, tables, Figure 1) and Theorems 3 to 6, judged."""

from __future__ import annotations

import math

import numpy as np

from guessproof.mechanisms.geometric import Geometric
from guessproof.papers import kazan_reiter_profiles as kp
from guessproof.papers.judges.truth import three_worlds
from guessproof.papers.verdict import KR, Docket, Finding, Word, judge_epsilons, judge_print
from guessproof.risk import RiskProfile

DOCKET = Docket(KR)


def corrected_fixed_value(q: float, absolute: float, relative: float) -> float:
    """The ε of (15), in closed form: the case q̃ < ã/r̃ added, ã put back under the root.

    >>> round(corrected_fixed_value(0.5, 0.25, 3.0), 6)
    1.232706
    """
    if q == 1:
        return math.log((relative - absolute) / (1 - absolute))
    if q < absolute / relative:
        return 0.5 * math.log(absolute * (1 - q) / (q * (1 - absolute)))
    if q <= 1 / (relative + 1):
        return 0.5 * math.log((1 - q) / (1 / relative - q))
    gap = relative * q - absolute
    root = math.sqrt(gap**2 + 4 * absolute * q * (1 - q) * (1 - absolute))
    return math.log(2 * absolute * (1 - q) / (root - gap))


def _exact_fixed_value(q: float, absolute: float, relative: float) -> float:
    return RiskProfile.fixed_value(q=q, absolute=absolute, relative=relative).epsilon()


@DOCKET.enter("kr-thm3", "(10), Theorem 3 (51): a constant profile; 0.20, 0.55, 0.90")
def constant() -> Finding:
    ratios = (1.5, 3.0, 6.0)
    published, exact = (
        [kp.constant_profile(r) for r in ratios],
        [RiskProfile.constant(r).epsilon() for r in ratios],
    )
    return Finding(
        "If the ratio may be at most r̃ for every prior, ε = ½ ln r̃.",
        judge_epsilons(published, exact),
        "Exactly so.",
        {f"r̃ = {r:g}": e for r, e in zip(ratios, published, strict=True)},
        "The theorem and the three numbers.",
    )


@DOCKET.enter("kr-12", "(11), (12), Theorem 4 (52): a box of priors")
def box() -> Finding:
    boxes = [
        (3.0, (0.0, 0.2), (0.1, 1.0)),
        (3.0, (0.1, 0.5), (0.3, 0.9)),
        (1.5, (0.0, 1.0), (0.5, 1.0)),
        (6.0, (0.05, 0.1), (1.0, 1.0)),
        (2.0, (0.3, 1.0), (0.0, 0.4)),
    ]
    published = [kp.theorem_4(*b) for b in boxes]
    exact = [RiskProfile.box(r, p=p, q=q).epsilon() for r, p, q in boxes]
    return Finding(
        "The ε of a profile that asks for r̃ on a box of priors and for nothing elsewhere, in four cases.",
        judge_epsilons(published, exact),
        "Exactly so wherever the box binds.",
        {"r̃ = 3, p ≤ 0.2, q ≥ 0.1: published": published[0], "exact": exact[0]},
        "All four cases, and the case split by 1/(r̃+1).",
    )


@DOCKET.enter("kr-12-vacuous", "(12), Theorem 4 (52): boxes that never bind")
def box_vacuous() -> Finding:
    relative, p, q = 3.0, (0.5, 1.0), (0.9, 1.0)
    printed, exact = kp.theorem_4(relative, p, q), RiskProfile.box(relative, p=p, q=q).epsilon()
    return Finding(
        "(12) is stated for all boxes.",
        judge_print(printed, math.inf, exact),
        "Where r̃·p·q ≥ 1 at the binding corner, certainty itself keeps the ratio: ε = +∞ should be a fifth case. The "
        "printed formula has no value there (a logarithm or a root of a negative number).",
        {"printed, r̃ = 3, p ≥ 0.5, q ≥ 0.9": printed, "exact": exact},
        "§3.1 says in words that such regions accept an unbounded ε.",
    )


@DOCKET.enter("kr-14", "(13), (14), Theorem 5 (53): fixed inclusion")
def fixed_inclusion() -> Finding:
    cases = [(0.05, 0.025, 3.0), (0.05, 0.3, 3.0), (0.05, 0.1, 3.0), (1.0, 0.6, 1.2), (0.5, 0.9, 1.1)]
    published = [kp.theorem_5(*c) for c in cases]
    exact = [RiskProfile.fixed_inclusion(p=p, absolute=a, relative=r).epsilon() for p, a, r in cases]
    flipped = kp.theorem_5(0.05, 0.15, 3.0)
    whole = RiskProfile.fixed_inclusion(p=0.05, absolute=0.15, relative=3.0).epsilon()
    return Finding(
        "The ε of max(ã/(p̃q), r̃) at one p̃, in two cases; at least ½ ln r̃.",
        judge_epsilons(published, exact),
        "Exactly so. In floating point the printed case split is fragile: Table 4's second agency has 0.15/0.05 = "
        f"{0.15 / 0.05!r} < 3, and the first case then gives {flipped:.3f} instead of {whole:.3f}. One stable form at "
        "q = min(1, ã/(p̃r̃)) needs no split.",
        {
            "agency 1 of Figure 1: published": published[2],
            "exact": exact[2],
            "ã/p̃ = r̃: printed split in floating point": flipped,
            "ã/p̃ = r̃: exact": whole,
        },
        "The theorem and its lower bound.",
    )


@DOCKET.enter("kr-16-root", "(15), (16), Theorem 6 (54): fixed value, 1/(r̃+1) < q̃ < 1")
def fixed_value_root() -> Finding:
    cases = [(0.5, 0.25, 3.0), (0.9, 0.1, 3.0), (0.6, 0.4, 1.5)]
    printed = [kp.theorem_6(*c) for c in cases]
    corrected = [corrected_fixed_value(*c) for c in cases]
    exact = [_exact_fixed_value(*c) for c in cases]
    return Finding(
        "The ε of max(ã/(pq̃), r̃) at one q̃; its middle case has √((r̃q̃−ã)² + 4q̃(1−q̃)(1−ã)).",
        judge_print(printed, corrected, exact),
        f"ã is missing under the root: 4ãq̃(1−q̃)(1−ã). As printed q̃ = 0.5, ã = 0.25, r̃ = 3 gives {printed[0]:.4f}, a "
        f"negative ε, below the ½ ln r̃ that the text states; the right value is {corrected[0]:.6f}. The printed value "
        "is never too large.",
        {
            "printed, q̃ = 0.5, ã = 0.25, r̃ = 3": printed[0],
            "corrected": corrected[0],
            "exact": exact[0],
            "½ ln r̃": math.log(3) / 2,
        },
        "The other cases; and q̃ = 1, the only one that the examples use.",
        "(16) and (54) agree in this, so that it is not likely a transcription error.",
    )


@DOCKET.enter("kr-16-case", "(15), (16), Theorem 6 (54): fixed value, q̃ < ã/r̃")
def fixed_value_case() -> Finding:
    cases = [(0.05, 0.5, 3.0), (0.01, 0.2, 1.5), (0.1, 0.9, 2.0)]
    published = [kp.theorem_6(*c) for c in cases]
    exact = [_exact_fixed_value(*c) for c in cases]
    factors = np.divide(exact, published)
    return Finding(
        "For q̃ ≤ 1/(r̃+1): ε = ½ ln((1−q̃)/(1/r̃−q̃)).",
        judge_epsilons(published, exact),
        "Exact for ã/r̃ ≤ q̃ ≤ 1/(r̃+1). For q̃ < ã/r̃ the limit on the posterior holds for every p, and ½ "
        f"ln(ã(1−q̃)/(q̃(1−ã))) is safe: {factors.min():.3g} to {factors.max():.3g} times the printed ε on three cases.",
        {"published, q̃ = 0.05, ã = 0.5, r̃ = 3": published[0], "exact": exact[0], "factor": factors[0]},
        "Safe throughout; only larger than necessary in noise.",
    )


@DOCKET.enter("kr-16-first", "(16): r̃ − q̃ in the first case")
def fixed_value_first() -> Finding:
    case = (0.2, 0.25, 3.0)
    printed, other = kp.equation_16(*case), kp.theorem_6(*case)
    return Finding(
        "(16) has ½ ln((1−q̃)/(r̃−q̃)) where Theorem 6 has ½ ln((1−q̃)/(1/r̃−q̃)).",
        judge_print(printed, other, _exact_fixed_value(*case)),
        f"Theorem 6 is right: {other:.4f} for q̃ = 0.2, ã = 0.25, r̃ = 3; (16) would give {printed:.4f}.",
        {"(16)": printed, "(54)": other, "exact": _exact_fixed_value(*case)},
        "Theorem 6's form.",
        "1/r̃ may have lost its numerator in transcription.",
    )


@DOCKET.enter("kr-16-known", "(16), Theorem 6 (54): q̃ = 1, and Example 1's profile (18)")
def fixed_value_known() -> Finding:
    cases = [(1.0, 0.25, 1.5), (1.0, 0.25, 3.0), (1.0, 0.25, 6.0), (1.0, 0.1, 3.0)]
    published = [kp.theorem_6(*c) for c in cases]
    exact = [_exact_fixed_value(*c) for c in cases]
    return Finding(
        "For q̃ = 1: ε = ln((r̃−ã)/(1−ã)).",
        judge_epsilons(published, exact),
        "Exactly so: the two limits meet at p = ã/r̃, and that prior binds.",
        {"r̃ = 3, ã = 0.25: published": published[1], "exact": exact[1]},
        "The case that Table 3 and Figure 1 use.",
    )


PRINTED_3 = ((0.51, 2.74, 0.25), (1.30, 1.02, 0.57), (2.04, 0.59, 0.77))
PRINTED_4 = ((1.09, 1.24, 0.50), (1.21, 1.10, 0.54), (2.10, 0.56, 0.78))


def _table(rows: tuple[kp.Row, ...], printed: tuple[tuple[float, float, float], ...], exact: list[float]) -> Word:
    same = all(
        (round(row.epsilon, 2), round(row.standard_deviation, 2), round(row.exact_probability, 2)) == line
        for row, line in zip(rows, printed, strict=True)
    )
    noise = all(
        math.isclose(row.standard_deviation, Geometric(1, row.epsilon).standard_deviation, rel_tol=1e-9) for row in rows
    )
    return judge_epsilons([row.epsilon for row in rows], exact) if same and noise else "misprint"


@DOCKET.enter("kr-table3", "Table 3")
def table_3() -> Finding:
    rows = kp.table_3()
    exact = [_exact_fixed_value(1.0, 0.25, row.parameter) for row in rows]
    return Finding(
        "Three agencies, r̃ = 1.5, 3, 6: ε = 0.51, 1.30, 2.04, with the geometric noise that goes with them.",
        _table(rows, PRINTED_3, exact),
        "All nine numbers are right to the digits printed.",
        {f"r̃ = {row.parameter:g}: ε": row.epsilon for row in rows},
        "The whole table.",
    )


@DOCKET.enter("kr-table4", "Table 4, profile (19)")
def table_4() -> Finding:
    rows = kp.table_4()
    exact = [RiskProfile.fixed_inclusion(p=0.05, absolute=row.parameter, relative=3.0).epsilon() for row in rows]
    return Finding(
        "Three agencies, ã = 0.025, 0.15, 0.3: ε = 1.09, 1.21, 2.10, with the geometric noise that goes with them.",
        _table(rows, PRINTED_4, exact),
        "All nine numbers are right to the digits printed.",
        {f"ã = {row.parameter:g}: ε": row.epsilon for row in rows},
        "The whole table.",
    )


@DOCKET.enter("kr-fig1", "Figure 1: two agencies")
def figure_1() -> Finding:
    published = kp.figure_1()
    exact = [
        RiskProfile.fixed_inclusion(p=0.05, absolute=0.1, relative=3.0).epsilon(),
        RiskProfile.fixed_value(q=1.0, absolute=0.1, relative=3.0).epsilon(),
    ]
    return Finding(
        "Two profiles and, below each, the ε that every point of it implies; the lowest point is the agency's ε.",
        judge_epsilons(list(published.values()), exact),
        "Exactly so: the lowest points lie where the limit on the posterior meets the limit on the ratio, at q = 2/3 "
        "and p = 1/30. (The text calls the lower axis p for both; agency 1's is q.)",
        {
            "agency 1: ε": published["agency 1"],
            "agency 2: ε": published["agency 2"],
            "exact, 1": exact[0],
            "exact, 2": exact[1],
        },
        "The figure; it explains the framework at a glance.",
    )


def _lowest(points: list[tuple[float, float, float]]) -> tuple[int, float]:
    """Which point of a curve (p, q, ratio allowed) has the least ε, by the three-point world, and that ε."""
    implied = [
        float(three_worlds(p, q).epsilon([1, 0, 0], posterior=min(r * p * q, 1.0))) for p, q, r in points if p * q < 1
    ]
    least = int(np.argmin(implied))
    return least, implied[least]


def _curves(published: list[float], least: list[float], places: list[float], marked: list[float]) -> Word:
    """The least ε of every curve, and where it lies."""
    return judge_epsilons(published, least, close=1e-5) if np.allclose(places, marked) else "misprint"


@DOCKET.enter("kr-fig2", "Figure 2, profile (18): three agencies of Example 1")
def figure_2() -> Finding:
    drawn, least, places = kp.figure_2(), [], []
    for ratio, (binding, _) in drawn.items():
        grid = np.unique([*np.geomspace(0.01, 0.95, 25), binding]).tolist()
        index, value = _lowest([(p, 1.0, kp.equation_18(p, ratio)) for p in grid])
        least.append(value)
        places.append(grid[index])
    published = [epsilon for _, epsilon in drawn.values()]
    simple = [kp.constant_profile(r) / e for r, e in zip(drawn, published, strict=True)]
    return Finding(
        "Three curves max(0.25/p, r̃) at q = 1, coloured by the ε that each point implies; Table 3 has the least, and "
        "a constant profile would give less than half of it.",
        _curves(published, least, places, [place for place, _ in drawn.values()]),
        "Exactly so: the least ε of each curve lies where its two limits meet, at p = 0.25/r̃ = 1/6, 1/12, 1/24, and "
        f"½ ln r̃ is {min(simple):.2f} to {max(simple):.2f} of it. To the right of p = 1/r̃ the curve asks for nothing: "
        "r̃p ≥ 1.",
        {
            **{f"r̃ = {r:g}: ε at p = {p:.4f}": e for r, (p, e) in drawn.items()},
            **{f"r̃ = {r:g}: least on the curve": e for r, e in zip(drawn, least, strict=True)},
            "largest share of ½ ln r̃": max(simple),
        },
        "The figure and the comparison below it.",
        "The curves are not in the transcription; they are recomputed from (18).",
    )


@DOCKET.enter("kr-fig3", "Figure 3, profile (19): three agencies of Example 2")
def figure_3() -> Finding:
    drawn, least, places = kp.figure_3(), [], []
    for absolute, (binding, _) in drawn.items():
        grid = np.unique([*np.geomspace(0.01, 1.0, 25), binding]).tolist()
        index, value = _lowest([(0.05, q, kp.equation_19(q, absolute)) for q in grid])
        least.append(value)
        places.append(grid[index])
    published = [epsilon for _, epsilon in drawn.values()]
    idle = kp.equation_19(1.0, 0.3)
    return Finding(
        "Three curves max(ã/(0.05q), 3) at p = 0.05, coloured by the ε that each point implies; Table 4 has the least.",
        _curves(published, least, places, [place for place, _ in drawn.values()]),
        "Exactly so: the least ε lies at q = 1/6 for ã = 0.025, and at q = 1 for 0.15 and 0.3. For the third agency "
        f"the curve never falls below {idle:g}, so that its limit of 3 on the ratio never acts, and for the second "
        "only at q = 1.",
        {
            **{f"ã = {a:g}: ε at q = {q:.4f}": e for a, (q, e) in drawn.items()},
            **{f"ã = {a:g}: least on the curve": e for a, e in zip(drawn, least, strict=True)},
            "ã = 0.3: least ratio allowed": idle,
        },
        "The figure, and that sampling is what makes these ε larger than ½ ln 3.",
        "The curves are not in the transcription; they are recomputed from (19).",
    )
