"""The slides' first example, and what they say of attackers who know more or less; judged."""

from __future__ import annotations

import numpy as np

from guessproof.papers import slides
from guessproof.papers.judges.truth import bound_of, two_values
from guessproof.papers.slides import tilted_mass
from guessproof.papers.verdict import SLIDES, Docket, Finding, judge_bounds
from guessproof.risk import Attack
from guessproof.world import Array, Attribute, normal, within

DOCKET = Docket(SLIDES)
TIMES = normal(20.0, 6.28)
"""A prior of eating times that gives 25 % to 18 to 22 minutes; the slides name none."""


def _pointing_at(centre: float, epsilon: float) -> float:
    """The belief in 18 to 22 minutes after a Laplace release that points at a time above 22."""
    inside = tilted_mass(TIMES, epsilon, 18.0, 22.0, centre)
    whole = tilted_mass(TIMES, epsilon, -np.inf, centre, centre) + tilted_mass(TIMES, -epsilon, centre, np.inf, centre)
    return inside / whole


@DOCKET.enter("slides-25-30", "Guessing advantage: from 25 % to 30 %")
def picture() -> Finding:
    before, after = slides.PICTURE
    gained = slides.guessing_advantage(before, after)
    epsilon = slides.simplified_epsilon(before, gained)
    exact = bound_of(two_values(before).posterior(epsilon))
    attack = Attack(within(Attribute("time", prior=TIMES), 2.0), at={"time": 20.0})
    per_minute = attack.epsilon(advantage=gained)
    far = max(_pointing_at(33.5, float(e)) for e in np.geomspace(1e-3, 1.0, 40))
    return Finding(
        "Before the answer the attacker gives 25 % to 18 to 22 minutes, after it 30 %; the difference is his "
        "advantage.",
        judge_bounds([after, gained], [exact, bound_of(two_values(before).advantage(epsilon))]),
        f"Right, and it fixes ε once a distance is named: εR = ln(9/7) = {epsilon:.4f} for values R apart, ε = "
        f"{per_minute:.4f} a minute for a normal prior with mean 20 and standard deviation 6.28, which gives "
        f"{attack.prior:.4f} to these minutes.",
        {
            "advantage": gained,
            "εR, two values": epsilon,
            "posterior at that ε": exact,
            "ε a minute, N(20, 6.28²)": per_minute,
            "prior there": attack.prior,
            "largest belief there if Alice's time seems 33.5": far,
        },
        "An advantage that anybody can read, in odds and without ε.",
        "One transcription adds AVG(time)+noise = 19.5, beside Bob's 15 and Chris's 10. As an average of three that "
        f"points at 33.5 minutes for Alice, and then no scale of Laplace noise that was tried brings the belief above "
        f"{far:.4f} under this prior; a noisy time of Alice's own is probably meant.",
    )


def _belief(y: Array, prior: float, others: tuple[Array, Array], epsilon: float) -> Array:
    """The belief in x = 0 after COUNT + Laplace noise gave y; `others`: P(others' count = 0, 1, … | x) for x = 0, 1."""
    seen: list[Array] = []
    for x, weights in zip((0, 1), others, strict=True):
        counts = np.arange(weights.size)
        seen.append(np.exp(-epsilon * np.abs(y[:, None] - x - counts)) @ weights)
    return prior * seen[0] / (prior * seen[0] + (1 - prior) * seen[1])


OUTPUTS: Array = np.linspace(-8.0, 10.0, 361)
FAIR: Array = np.array([0.5, 0.5])


@DOCKET.enter("slides-stronger", "Application to databases: a stronger attacker has the larger posterior")
def stronger() -> Finding:
    prior, epsilon = 0.3, 0.8
    alone: Array = np.array([1.0])
    weak = _belief(OUTPUTS, prior, (FAIR, FAIR), epsilon)
    strong = np.stack([_belief(OUTPUTS - z, prior, (alone, alone), epsilon) for z in (0, 1)])
    covered = bool(np.all((weak <= strong.max(axis=0) * (1 + 1e-12)) & (weak >= strong.min(axis=0) * (1 - 1e-12))))
    density = np.stack([np.exp(-epsilon * np.abs(OUTPUTS - z)) for z in (0, 1)])  # of y, given x = 0 and z
    weights = density / density.sum(axis=1, keepdims=True) / 2
    average_strong, average_weak = float(np.sum(weights * strong)), float(np.sum(weights * weak))
    misled = float(np.max(weak - strong[0]))
    right = covered and average_strong >= average_weak
    return Finding(
        "Intuitively, the posterior is larger for an attacker who knows all other records.",
        judge_bounds(float(strong.max()), float(weak.max())) if right else "unsound",
        "True where it matters, if the records are independent: for every output the belief of one who does not know "
        "the others lies between the beliefs of those who do (a mean of likelihoods), so his largest one is no "
        f"larger; and on average over outputs the true value gets {average_strong:.4f} instead of "
        f"{average_weak:.4f}. For a single output it need not hold: it can mislead the one who knows more (by "
        f"{misled:.3f} here).",
        {
            "largest posterior, knows the other record": float(strong.max()),
            "largest posterior, does not": float(weak.max()),
            "average belief in the truth, knows": average_strong,
            "average belief in the truth, does not": average_weak,
            "largest belief that he is behind by": misled,
        },
        "The reason why one may assume that all other records are known.",
    )


@DOCKET.enter("slides-weaker-advantage", "Application to databases: the advantage can be larger for who knows less")
def weaker_advantage() -> Finding:
    epsilon, less, more = 1.0, 0.3, 0.9
    advantages = {p: bound_of(two_values(p).advantage(epsilon)) for p in (less, more)}
    posteriors = {p: bound_of(two_values(p).posterior(epsilon)) for p in (less, more)}
    certain = slides.simplified(1.0, epsilon) - 1.0
    right = advantages[less] > advantages[more] and posteriors[less] < posteriors[more] and certain == 0
    return Finding(
        "The posterior is larger for the stronger attacker, but the advantage can be larger for one who knows less; it "
        "is 0 for one who knows everything.",
        "tight" if right else "unsound",
        f"So it is. Ordinary privacy at ε = 1: from a prior of {less} to {posteriors[less]:.3f}, an advantage of "
        f"{advantages[less]:.3f}; from {more} to {posteriors[more]:.3f}, an advantage of {advantages[more]:.3f}. It "
        "takes knowledge about the victim: other records that are independent of hers leave the prior as it is, and "
        "then the larger posterior is the larger advantage.",
        {
            f"advantage, prior {less}": advantages[less],
            f"advantage, prior {more}": advantages[more],
            f"posterior, prior {less}": posteriors[less],
            f"posterior, prior {more}": posteriors[more],
            "advantage, prior 1": certain,
        },
        "The warning: protecting against the strongest attacker does not bound every other one's advantage.",
    )


@DOCKET.enter("slides-weaker-independent", "Application to databases: weaker attackers and independent records")
def weaker_independent() -> Finding:
    prior, epsilon = 0.2, slides.simplified_epsilon(0.2, 0.1)
    bound = slides.simplified(prior, epsilon)
    independent = float(_belief(OUTPUTS, prior, (FAIR, FAIR), epsilon).max())
    tied: dict[int, float] = {}
    for linked in (1, 2, 5, 20):  # so many records, all equal to the victim's
        with_one = np.zeros(linked)
        with_one[-1] = 1.0
        tied[linked] = float(_belief(OUTPUTS, prior, (np.array([1.0]), with_one), epsilon).max())
    right = tied[2] > bound and tied[20] > 0.99
    return Finding(
        "The bound extends to weaker attackers if the records are independent; if they are not, differential privacy "
        "does not help much.",
        judge_bounds(bound, independent) if right else "unsound",
        "Exactly so: averaging a likelihood over independent records keeps it within e^ε, and a COUNT reaches the "
        f"bound. With records that are all equal to the victim's the same noise lets a belief of 0.2 grow to "
        f"{tied[2]:.2f} (2 records), {tied[5]:.2f} (5) and {tied[20]:.4f} (20) instead of {bound:.2f}; k tied "
        "records need k times the noise.",
        {
            "bound": bound,
            "reached, independent": independent,
            **{f"reached, records that are tied: {k}": value for k, value in tied.items()},
        },
        "Both halves; [KR]'s Assumption 2 asks for the same.",
    )
