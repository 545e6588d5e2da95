"""Laud & Pankova, section 6 (the examples), judged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from guessproof.papers import laud_pankova_examples as examples
from guessproof.papers.judges.truth import bound_of, reached_by, salary, two_values
from guessproof.papers.verdict import LP, Docket, Finding, judge_epsilons, judge_print, judge_promise
from guessproof.risk import Attack, FiniteWorld
from guessproof.world import Attribute, normal, within

DOCKET = Docket(LP)
LIMIT = 0.1


@DOCKET.enter("lp-6.1-and", "§6.1, cats, AND: ε = 0.539, Laplace scale 1.86")
def cats_and() -> Finding:
    priors = list(examples.cats_and().values())
    world = FiniteWorld(prior=priors, distance=1 - np.eye(len(priors)))
    goals = np.eye(len(priors))
    exact = min(world.epsilon(goal, advantage=LIMIT) for goal in goals[[0, 2, 4, 6, 8]])
    published = examples.cats_and_epsilon()
    counted = np.array([name == "tabby F" for name in examples.cats_and()], dtype=float)
    aware = FiniteWorld(prior=priors, distance=np.abs(counted[:, None] - counted))
    query = min(aware.epsilon(goal, advantage=LIMIT) for goal in goals[[0, 5, 6]])
    return Finding(
        "Colour and gender, distance 0 or 1, advantage 0.1: ε = 0.539 from the black cats, noise of scale 1.86.",
        judge_epsilons(published, exact),
        "Right, to the digits printed, for every mechanism that hides the change of one cat. For this very COUNT, "
        f"where only 'tabby female or not' matters, {query:.3f} would do.",
        {
            "published ε": published,
            "exact ε": exact,
            "Laplace scale": examples.laplace_scale(published),
            "exact ε for this query": query,
        },
        "Everything in this example.",
    )


@DOCKET.enter("lp-6.1-or", "§6.1, cats, OR: ε = 0.402, Laplace scale 2.49")
def cats_or() -> Finding:
    priors = sorted({round(p, 12) for p in examples.cats_or().values()})
    exact = min(two_values(p).epsilon(advantage=LIMIT, both=True) for p in priors)
    one = min(two_values(p).epsilon(advantage=LIMIT) for p in priors)
    published = examples.cats_or_epsilon()
    delivered = max(reached_by(two_values(p).advantage(published, both=True)) for p in priors)
    return Finding(
        "Colour or gender: the tortoise cats (0.525) are nearest the worst prior, so ε = 0.402 and noise of scale "
        "2.49.",
        judge_epsilons(published, exact),
        "By a hair: both directions are meant, and there white cats (0.55, so 1−p = 0.45) are worst, with ε = "
        f"{exact:.5f}. At the published ε the advantage is {delivered:.5f}. One direction alone would allow {one:.4f}. "
        "(The text says p ≤ 1−p of 0.525 and rightly goes on with 0.475.)",
        {
            "published ε": published,
            "exact ε, both directions": exact,
            "exact ε, one direction": one,
            "advantage delivered": delivered,
            "Laplace scale, published": examples.laplace_scale(published),
            "Laplace scale, exact": 1 / exact,
        },
        "The scale of the noise, 2.49, is right to the digits printed, and the method is right.",
        "Most ∨ of the list are transcribed as ∧.",
    )


@DOCKET.enter("lp-6.1-or-step", "§6.1, cats, OR: 0.475/0.425")
def cats_or_step() -> Finding:
    printed, corrected = examples.cats_or_second_step(), -math.log(0.475 / 0.525 * (0.425 / 0.575))
    return Finding(
        "The second expression has 0.475/0.425 · 0.425/0.575.",
        judge_print(printed, corrected, two_values(0.475).epsilon(advantage=LIMIT)),
        f"0.475/0.525: as printed the result would be {printed:.3f}, not {corrected:.3f}.",
        {"printed": printed, "corrected": corrected},
        "The expression before it and the result after it.",
        "A digit may have been lost in transcription.",
    )


@DOCKET.enter("lp-6.2", "§6.2, salaries: ε = 0.0038")
def salaries() -> Finding:
    attack = salary()
    exact = attack.epsilon(advantage=LIMIT)
    rounded = reached_by(attack.advantage(examples.SALARY_EPSILON))
    unrounded = reached_by(attack.advantage(examples.SALARY_RESCALED / 200))
    return Finding(
        "A normal salary, guessed to within 100: prior 0.42, and with a = 200 an ε of 0.767/200 = 0.0038 for an "
        "advantage of 0.1.",
        judge_epsilons(examples.SALARY_EPSILON, exact),
        f"The prior is erf(0.3) = {attack.prior:.4f}; the printed logarithm is {examples.salary_logarithm():.3f}, "
        "with the other sign, so a = 200 gives no ε at all. At 0.0038 a Laplace release gives an advantage of "
        f"{rounded:.3f}. Safe for t = 2000: ε = {exact:.7f}.",
        {
            "printed prior": 0.42,
            "prior by the printed expression": examples.salary_prior(),
            "exact prior": attack.prior,
            "printed logarithm": examples.SALARY_RESCALED,
            "the same, evaluated": examples.salary_logarithm(),
            "published ε": examples.SALARY_EPSILON,
            "exact ε, t = 2000": exact,
            "advantage delivered at 0.0038": rounded,
            "advantage delivered at 0.767/200": unrounded,
        },
        "The question, the expression for the prior, and q = erf(a/(σ√2)) ≈ 0.6 for a = 200.",
    )


@DOCKET.enter("lp-6.2-worst", "§6.2, the worst salary is the mean")
def salaries_worst() -> Finding:
    found: Any = minimize_scalar(
        lambda t: salary(float(t)).epsilon(advantage=LIMIT),
        bounds=(1500, 2000),
        method="bounded",
        options={"xatol": 1e-3},
    )
    exact = float(found.fun)  # no more is safe at this salary; that it is safe at every other is certified below
    certified = bound_of(salary(None).advantage(exact * (1 - 1e-3)))
    at_mean = salary().epsilon(advantage=LIMIT)
    worst = salary(None).advantage(at_mean)
    place = float(np.asarray(worst.worst_at))
    return Finding(
        "Without a known salary, take the one whose prior is nearest to (1−δ)/2: the mean.",
        judge_epsilons(at_mean, exact),
        f"That rule is for values all equally far apart. On a line a salary about {abs(place - 2000):.0f} from the "
        "mean gains more: with the ε that is right for the mean its advantage is "
        f"{reached_by(worst):.3f}. Safe for every salary: ε = {exact:.7f}.",
        {
            "ε that is exact at the mean": at_mean,
            "exact ε, worst salary": exact,
            "certified largest advantage at 0.999 of it": certified,
            "worst salary's distance from the mean": round(abs(float(found.x) - 2000), 1),
            "largest advantage at the mean's ε": reached_by(worst),
        },
        "That the worst true value must be looked for when none is given.",
    )


@DOCKET.enter("lp-6.2-scale", "§6.2, Laplace scale 1.3")
def salaries_scale() -> Finding:
    scale = examples.laplace_scale(examples.SALARY_RESCALED)
    delivered = reached_by(salary().advantage(1 / scale))
    needed = 1 / salary().epsilon(advantage=LIMIT)
    return Finding(
        "Rescaled by 200 the same ε is 0.767, and noise of scale 1.3 on the sum of salaries is enough.",
        judge_promise(delivered, LIMIT),
        "Rescaling the distance rescales the sensitivity: one new unit is 200 in currency. Noise of 1.3 in currency "
        f"gives an advantage of {delivered:.2f}; 1.3 new units are {200 * scale:.0f} in currency; what is needed is "
        f"{needed:.0f}.",
        {
            "printed scale": scale,
            "the same in currency": 200 * scale,
            "exact scale in currency, t = 2000": needed,
            "advantage delivered by the printed scale": delivered,
        },
        "ε is meaningless without its unit, which is the point of the paragraph.",
        "If the sum itself is meant in units of 200, the scale is that of ε = 0.0038.",
    )


def _ship() -> Attack:
    goal = within(Attribute("distance", prior=normal(0.0, math.sqrt(examples.SHIP_VARIANCE))), examples.SHIP_RADIUS)
    return Attack(goal, at={"distance": 0.0})


@DOCKET.enter("lp-6.3", "§6.3, ships: ε = 0.063")
def ships() -> Finding:
    attack = _ship()
    exact, delivered = attack.epsilon(advantage=LIMIT), reached_by(attack.advantage(examples.SHIP_EPSILON))
    return Finding(
        "A location within 10, prior 0.22; with a = 20 an ε of 1.25/20 = 0.063 for an advantage of 0.1.",
        judge_epsilons(examples.SHIP_EPSILON, exact),
        f"The printed logarithm is {examples.ship_logarithm():.2f}, not 1.25, and is divided by 10 once and by 20 "
        f"once. At 0.063 a release centred on the port gives an advantage of {delivered:.3f}; safe there: ε = "
        f"{exact:.5f}.",
        {
            "printed logarithm": examples.SHIP_RESCALED,
            "the same, evaluated": examples.ship_logarithm(),
            "prior": examples.ship_ball(10.0),
            "published ε": examples.SHIP_EPSILON,
            "exact ε, t = 0": exact,
            "advantage delivered": delivered,
        },
        "The two weights, 0.22 and 0.43; and that the joint distribution of x and y is all that is needed.",
        "The bound for a general location keeps the variable (x, y) in its result; probably a slip of print.",
    )


@DOCKET.enter("lp-6.3-scale", "§6.3, Laplace scale 0.8")
def ships_scale() -> Finding:
    scale = examples.laplace_scale(examples.SHIP_RESCALED)
    delivered, needed = reached_by(_ship().advantage(1 / scale)), 1 / _ship().epsilon(advantage=LIMIT)
    return Finding(
        "Rescaled by 20 the ε is 1.25, and for ships of speed 1 or more noise of scale 0.8 on the arrival time is "
        "enough.",
        judge_promise(delivered, LIMIT),
        f"As in §6.2: one new unit is 20 old ones. Noise of scale 0.8 gives an advantage of {delivered:.2f}; 0.8 new "
        f"units are {20 * scale:.0f}; what is needed is {needed:.0f}.",
        {
            "printed scale": scale,
            "the same in distance units": 20 * scale,
            "exact scale, t = 0": needed,
            "advantage delivered by the printed scale": delivered,
        },
        "The sensitivity of the minimum, 1/v, and the remark that noise must be judged against the answer's size.",
        "If time too is meant in units of 20/v, the scale is that of ε = 0.063.",
    )
