"""Laud & Pankova, section 6, as published: the cats, the salaries and the ships, with their Laplace scales."""

from __future__ import annotations

import math

from guessproof.papers.laud_pankova import epsilon_for, equation_1

LIMIT = 0.1
COLOURS = {"red": 0.2, "white": 0.1, "tabby": 0.25, "black": 0.4, "tortoise": 0.05}
GENDERS = {"M": 0.5, "F": 0.5}
SALARY_MEAN, SALARY_SD, SALARY_RADIUS = 2000.0, math.sqrt(55556), 100.0
SHIP_VARIANCE, SHIP_RADIUS = 1250.0, 10.0


def cats_and() -> dict[str, float]:
    """§6.1: the prior of guessing colour and gender, for each cat.

    >>> cats_and()["black M"]
    0.2
    """
    return {f"{c} {g}": p * s for c, p in COLOURS.items() for g, s in GENDERS.items()}


def cats_or() -> dict[str, float]:
    """§6.1: the prior of guessing colour or gender (the transcription prints ∧ for most of them).

    >>> round(cats_or()["tortoise F"], 3)
    0.525
    """
    return {f"{c} {g}": p + s - p * s for c, p in COLOURS.items() for g, s in GENDERS.items()}


def cats_and_epsilon() -> float:
    """§6.1 AND: −ln(0.2/0.8·(1/0.3 − 1)).

    >>> round(cats_and_epsilon(), 3), round(laplace_scale(0.539), 2)
    (0.539, 1.86)
    """
    return epsilon_for(0.2, 0.8, 1.0, LIMIT)


def cats_or_epsilon() -> float:
    """§6.1 OR, first expression: −ln(0.475/0.525·(1/0.575 − 1)).

    >>> round(cats_or_epsilon(), 3), round(laplace_scale(0.402), 2)
    (0.402, 2.49)
    """
    return epsilon_for(0.475, 0.525, 1.0, LIMIT)


def cats_or_second_step() -> float:
    """§6.1 OR, second expression as printed: −ln(0.475/0.425 · 0.425/0.575).

    >>> round(cats_or_second_step(), 3)
    0.191
    """
    return -math.log(0.475 / 0.425 * (0.425 / 0.575))


def salary_prior() -> float:
    """§6.2: P(|x − 2000| ≤ 100) by the printed expression; the paper gives 0.42 for it.

    >>> round(salary_prior(), 4)
    0.3289
    """
    return (math.erf((2000 - 1900) / 333) - math.erf((2000 - 2100) / 333)) / 2


def salary_logarithm() -> float:
    """§6.2: −ln(0.42/(0.6−0.42)·(1/0.52 − 1)); the paper gives +0.767.

    >>> round(salary_logarithm(), 3)
    -0.767
    """
    return equation_1(0.42, 0.6 - 0.42, 1.0, LIMIT)


SALARY_EPSILON = 0.0038
SALARY_RESCALED = 0.767


def ship_ball(z: float) -> float:
    """§6.3: erf(z/(σ√2)) with σ² = 1250.

    >>> round(ship_ball(10), 2), round(ship_ball(20), 2)
    (0.22, 0.43)
    """
    return math.erf(z / math.sqrt(2 * SHIP_VARIANCE))


def ship_logarithm() -> float:
    """§6.3: −ln(0.22/(0.43−0.22)·(1/0.32 − 1)); the paper gives 1.25.

    >>> round(ship_logarithm(), 2)
    -0.8
    """
    return equation_1(0.22, 0.43 - 0.22, 1.0, LIMIT)


SHIP_EPSILON = 0.063
SHIP_RESCALED = 1.25


def laplace_scale(epsilon: float, sensitivity: float = 1.0) -> float:
    """§6: Laplace noise of scale sensitivity/ε.

    >>> [round(laplace_scale(e), 2) for e in (0.539, 0.402, 0.767, 1.25)]
    [1.86, 2.49, 1.3, 0.8]
    """
    return sensitivity / epsilon
