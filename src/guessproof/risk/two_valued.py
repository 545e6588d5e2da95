"""Closed forms when only the largest distance R is known: ordinary differential privacy, or an unknown prior."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from guessproof.world.checks import Array


def worst_advantage(distance: ArrayLike) -> Array:
    """The largest advantage over all priors when values are at most `distance` = ε·R apart: tanh(εR/4).

    >>> float(worst_advantage(0.4013413909243025).round(12))
    0.1
    """
    return np.tanh(np.asarray(distance, dtype=np.float64) / 4)


def worst_distance(advantage: ArrayLike) -> Array:
    """The εR at which some prior reaches this advantage: 4·artanh(η).

    >>> float(worst_distance(0.1).round(12))
    0.401341390924
    """
    with np.errstate(divide="ignore"):
        return 4 * np.arctanh(np.asarray(advantage, dtype=np.float64))


def worst_prior(distance: ArrayLike) -> Array:
    """The prior probability that gains most: 1/(1 + e^{εR/2})."""
    with np.errstate(over="ignore"):  # which is 0 then
        return 1 / (1 + np.exp(np.asarray(distance, dtype=np.float64) / 2))


def partly_known_advantage(
    ball: Array,
    far: Array,
    q: float,
    *,
    goal_holds_ball: bool,
    down: bool,
    only_ball: bool = False,
) -> Array:
    """The largest advantage when P(ball around t) = q and nothing else is known.

    The goal's mass p sits at one point, q − p at distance `ball` = ε·(r + R') from it, 1 − q at distance `far`.
    With K = q·e^{−ball} + (1−q)·e^{−far} the posterior is p/(p(1 − e^{−ball}) + K), and the advantage is largest at
    p = (√K − K)/(1 − e^{−ball}), or at the nearest p that the ball allows. Falling beliefs: the same with e^{+…}.
    Everything is written in 1 − e^{−…}, so that small ε keep their digits. `only_ball`: the goal is just the ball.
    """
    ball, low, high, weight = (ball, 0.0, q, q)
    if (
        goal_holds_ball
    ):  # all of the ball counts as correct: p ranges from q to 1 and the rest is far away
        ball, low, high, weight = far, q, q if only_ball else 1.0, 1.0
    sign = -1.0 if down else 1.0
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        near, away = (
            -sign * np.expm1(-sign * d) for d in (ball, far)
        )  # 1 − e^{−d}, or e^{d} − 1 for falling beliefs
        change = weight * near + (1 - weight) * away
        k = 1 - sign * change
        root = np.sqrt(np.maximum(k, 0.0))
        p = root * change / ((1 + root) * near)
        p = np.clip(np.where(np.isfinite(p), p, high if down else low), low, high)
        shift = change - p * near
        scaled = shift / (1 - sign * shift)
    # All the rest infinitely far away: a rising belief becomes certain, a falling one vanishes.
    scaled = np.where(np.isfinite(shift), scaled, 1.0)
    return np.where((k <= 0) & (not down), 1 - p, p * scaled)
