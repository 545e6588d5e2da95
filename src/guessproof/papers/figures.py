"""The data of the works' figures: rows of plain numbers, drawn by `guessproof.charts.papers`."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from guessproof.mechanisms.laplace import Laplace
from guessproof.papers import kazan_reiter_profiles as kp
from guessproof.papers import mugunthan, slides
from guessproof.papers.kazan_reiter_profiles import fixed_inclusion_profile, fixed_value_profile
from guessproof.risk import RiskProfile, epsilon_for_relative_risk

Row = dict[str, Any]


def slides_plot(points: int = 199) -> list[Row]:
    """[slides] the largest ε against the advantage, for priors 0.01 … 0.3 and the worst case (R = 1).

    >>> rows = slides_plot(19)
    >>> sorted({row["prior"] for row in rows})
    ['0.01', '0.05', '0.1', '0.2', '0.3', 'worst-case']
    """
    # finely towards 1 − p, where a prior's curve rises without bound
    ends = [1 - p - np.geomspace(1e-5, 0.02, 12) for p in (*slides.PLOT_PRIORS, 0.0)]
    advantages = np.unique(np.concatenate([np.linspace(0, 1, points + 2)[1:-1], *ends]))
    return [
        {"advantage": float(n), "epsilon": float(e), "prior": prior}
        for prior, curve in slides.plot_curves(advantages).items()
        for n, e in zip(advantages, curve, strict=True)
        if math.isfinite(e)
    ]


def _box(x: float, y: float, width: float, height: float, part: str, **more: Any) -> Row:
    return {"x": x, "x2": x + width, "y": y, "y2": y + height, "part": part, **more}


def lp_figure_1(a: float = 0.25, r: float = 0.08) -> dict[str, list[Row]]:
    """[LP] Figure 1: a uniform prior on a square, the true value in the middle and in a corner.

    In the middle the square of half-width a fits. In the corner the same weight is a square of side 2a whose far end is
    2a away from the true value.

    >>> [row["distance"] for row in lp_figure_1()["points"]]
    [0.25, 0.5]
    """
    boxes: list[Row] = []
    points: list[Row] = []
    for place, at, low in (("in the middle", 0.5, 0.5 - a), ("in a corner", 0.0, 0.0)):
        goal = max(at - r, 0.0)
        boxes += [
            _box(0, 0, 1, 1, "all values", place=place),
            _box(low, low, 2 * a, 2 * a, "values compared with", place=place),
            _box(goal, goal, at + r - goal, at + r - goal, "correct guesses", place=place),
        ]
        points.append(
            {"x": at, "y": at, "far": low + 2 * a, "distance": max(low + 2 * a - at, at - low), "place": place}
        )
    return {"boxes": boxes, "points": points}


def lp_figure_2a(r: float = 1.0, size: float = 4.0) -> list[Row]:
    """[LP] Figure 2a: the correct guesses of an AND (a square) and of an OR (a cross) of two approximations."""
    return [
        _box(-size, -size, 2 * size, 2 * size, "all values", goal="AND"),
        _box(-r, -r, 2 * r, 2 * r, "correct guesses", goal="AND"),
        _box(-size, -size, 2 * size, 2 * size, "all values", goal="OR"),
        _box(-r, -size, 2 * r, 2 * size, "correct guesses", goal="OR"),
        _box(-size, -r, size - r, 2 * r, "correct guesses", goal="OR"),
        _box(r, -r, size - r, 2 * r, "correct guesses", goal="OR"),
    ]


def lp_figure_2b(r: float = 1.0, a: float = 3.0) -> list[Row]:
    """[LP] Figure 2b: the cross of an OR cut into blocks of side 2a, correct guesses and their neighbours.

    Blocks that hold no correct guess are drawn as the rest.

    >>> sum(row["part"] == "correct guesses" for row in lp_figure_2b())
    7
    """
    rows: list[Row] = []
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            x, y = (2 * i - 1) * a, (2 * j - 1) * a
            if i and j:
                rows.append(_box(x, y, 2 * a, 2 * a, "not needed", block=f"{i},{j}"))
                continue
            rows.append(_box(x, y, 2 * a, 2 * a, "their neighbours", block=f"{i},{j}"))
            if i == 0:
                rows.append(_box(-r, y, 2 * r, 2 * a, "correct guesses", block=f"{i},{j}"))
            if j == 0 and i == 0:
                rows.append(_box(x, -r, a - r, 2 * r, "correct guesses", block="0,0"))
                rows.append(_box(r, -r, a - r, 2 * r, "correct guesses", block="0,0"))
            elif j == 0:
                rows.append(_box(x, -r, 2 * a, 2 * r, "correct guesses", block=f"{i},{j}"))
    return rows


def kr_figure_1(points: int = 400) -> dict[str, list[Row]]:
    """[KR] Figure 1: two agencies' profiles, the ε that each point implies, and the point that binds.

    >>> [round(row["epsilon"], 3) for row in kr_figure_1(50)["binding"]]
    [1.158, 1.17]
    """
    curves: list[Row] = []
    binding: list[Row] = []
    for agency, of, meets in (
        ("agency 1: p = 0.05, posterior ≤ 0.1 or ratio ≤ 3", "q", 0.1 / (0.05 * 3)),
        ("agency 2: q = 1, posterior ≤ 0.1 or ratio ≤ 3", "p", 0.1 / 3),
    ):
        grid = np.unique(np.append(np.geomspace(0.001, 1.0, points), meets))
        for prior in grid:
            x = float(prior)
            p, q = (0.05, x) if of == "q" else (x, 1.0)
            ratio = fixed_inclusion_profile(q, 0.05, 0.1, 3.0) if of == "q" else fixed_value_profile(p, 1.0, 0.1, 3.0)
            epsilon = epsilon_for_relative_risk(p, q, ratio)
            curves.append(
                {"agency": agency, "prior": x, "ratio": ratio, "epsilon": epsilon if math.isfinite(epsilon) else None}
            )
        profile = (
            RiskProfile.fixed_inclusion(p=0.05, absolute=0.1, relative=3.0)
            if of == "q"
            else RiskProfile.fixed_value(q=1.0, absolute=0.1, relative=3.0)
        )
        binding.append({"agency": agency, "prior": meets, "ratio": 3.0, "epsilon": profile.epsilon()})
    return {"curves": curves, "binding": binding}


def kr_figure_2(points: int = 200) -> dict[str, list[Row]]:
    """[KR] Figure 2: Example 1's three profiles at q = 1, the ε of every point, and the binding points of Table 3.

    >>> [(round(row["prior"], 4), round(row["epsilon"], 2)) for row in kr_figure_2(20)["binding"]]
    [(0.1667, 0.51), (0.0833, 1.3), (0.0417, 2.04)]
    """
    agencies = [(line, kp.figure_2()[line.parameter][0]) for line in kp.table_3()]
    return _coloured(agencies, lambda p, relative: (p, 1.0, kp.equation_18(p, relative)), points)


def kr_figure_3(points: int = 200) -> dict[str, list[Row]]:
    """[KR] Figure 3: Example 2's three profiles at p = 0.05, the ε of every point, and the binding points of Table 4.

    >>> [(round(row["prior"], 4), round(row["epsilon"], 2)) for row in kr_figure_3(20)["binding"]]
    [(0.1667, 1.09), (1.0, 1.21), (1.0, 2.1)]
    """
    agencies = [(line, kp.figure_3()[line.parameter][0]) for line in kp.table_4()]
    return _coloured(agencies, lambda q, absolute: (0.05, q, kp.equation_19(q, absolute)), points)


Curve = Callable[[float, float], tuple[float, float, float]]
"""The prior that runs and the agency's parameter → (p, q, ratio allowed)."""


def _coloured(agencies: list[tuple[kp.Row, float]], curve: Curve, points: int) -> dict[str, list[Row]]:
    """Short pieces of each curve with the ε that their beginning implies; None where nothing is asked for."""
    pieces: list[Row] = []
    binding: list[Row] = []
    for number, (line, meets) in enumerate(agencies, start=1):
        agency = f"agency {number}"
        grid = np.unique(np.append(np.geomspace(0.01, 1.0, points), meets)).tolist()
        for start, end in pairwise(grid):
            p, q, ratio = curve(start, line.parameter)
            epsilon = epsilon_for_relative_risk(p, q, ratio)
            pieces.append(
                {
                    "agency": agency,
                    "prior": start,
                    "end": end,
                    "ratio": ratio,
                    "to": curve(end, line.parameter)[2],
                    "epsilon": epsilon if math.isfinite(epsilon) else None,
                }
            )
        binding.append(
            {
                "agency": agency,
                "prior": meets,
                "ratio": curve(meets, line.parameter)[2],
                "parameter": line.parameter,
                "epsilon": line.epsilon,
                "standard_deviation": line.standard_deviation,
                "exact_probability": line.exact_probability,
            }
        )
    return {"curves": pieces, "binding": binding}


def mxk_figure_1(points: int = 300) -> dict[str, list[Row]]:
    """[MXK] Figure 1: ε₂/ε₃ against p with its threshold, and what Theorem 3 delivers for Laplace noise.

    >>> round(mxk_figure_1(10)["threshold"][0]["p"], 4)
    0.9215
    """
    levels = np.linspace(0.005, 0.995, points)
    ratio = [{"p": float(p), "ratio": mugunthan.ratio(float(p))} for p in levels]
    delivered = [
        {
            "p": float(p),
            "delivered": Laplace(1, mugunthan.theorem_3_laplace(1.0, 1.0, float(p))).confidence(within=1),
        }
        for p in levels
    ]
    return {"ratio": ratio, "delivered": delivered, "threshold": [{"p": mugunthan.threshold(), "ratio": 1.0}]}
