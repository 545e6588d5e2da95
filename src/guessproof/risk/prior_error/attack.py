"""The best prior and likelihood found: how far a belief is known to rise (or fall) under a prior wrong by a factor κ.

The likelihood is a tent (for a fall a valley) with its peak c in the goal. Given the belief P it reaches and the prior
probability p, the prior is κ times the declared one where the likelihood in the goal is above (1−p)/(1−P) times its
mean, and outside where it is below p/P times its mean: near the peak and far from it (docs/theory, prior error). Peaks
and thresholds lie on edges of cells, tilts are taken from the side that makes the attack weaker: what is returned is
reached.
"""

from __future__ import annotations

import numpy as np

from guessproof.risk.prior_error.cells import BULK, LineGoals, Side
from guessproof.world.checks import Array

TRIED, ROUNDS = 40, 50  # places for each of four dimensions, and how often they are moved
SEED = 1  # the same attack for the same question


def best_attack(
    sides: tuple[Side, Side], goals: LineGoals, factor: float, cap: float = np.inf
) -> tuple[float, int]:
    """The largest move found over the goals of all true values, and the position of the true value.

    A finite cap is obeyed where there is one true value.
    """

    def loss(places: Array) -> Array:
        with np.errstate(all="ignore"):  # what is not a number counts as no attack
            return -_moves(sides, goals, places, factor, cap)

    from scipy.optimize import (
        differential_evolution,  # imported only where a prior may be wrong
    )

    found = differential_evolution(
        loss,
        [(0.0, 1.0)] * 4,
        popsize=TRIED,
        maxiter=ROUNDS,
        tol=1e-6,
        polish=False,
        vectorized=True,
        updating="deferred",
        rng=SEED,
    )
    return max(-float(found.fun), 0.0), round(found.x[0] * (goals.first.size - 1))


def _moves(
    sides: tuple[Side, Side], goals: LineGoals, places: Array, factor: float, cap: float
) -> Array:
    """How far beliefs move; true values, peaks and thresholds are shares of their ranges.

    Under a cap the first share is where a plateau begins instead, and the second where it ends. Where the likelihood is
    constant the prior's weight varies between 1 and κ instead of a threshold.
    """
    left, right = sides
    shift, share, near, far = places
    truth = np.round(shift * (goals.first.size - 1)).astype(np.intp)
    first, last = goals.first[truth], goals.last[truth]
    is_capped = np.isfinite(cap)
    begin = first + np.round((last - first) * shift * is_capped).astype(np.intp)
    end = begin + np.round((last - begin) * share).astype(np.intp)
    begin = begin if is_capped else end
    edges, size = left.finite_edges, left.edges.size - 1
    low, high = edges[first], edges[last]
    bulk = edges[np.searchsorted(left.below, [BULK, 1 - BULK])]
    width = np.maximum(high, bulk[1]) - np.minimum(low, bulk[0])
    inner = np.maximum(2 * near - 1, 0) * np.minimum(high - low, cap)
    outer = np.minimum(2 * far, 1) * np.minimum(width, cap)
    top, bottom = (1 + (factor - 1) * np.minimum(2 * part, 1) for part in (near, 1 - far))
    # A peak lies on the number to the left of the edge, which for densities is where the next cell starts.
    lower, upper = (
        np.clip(left.psi[np.clip(2 * peak - 1, 2 * first, 2 * size - 1)], *edges[[0, -1]])
        for peak in (begin, end)
    )
    falls = int(left.sign < 0)  # bounds of the likelihood that make the attack weaker
    goal, rest = top * (left.below[end] - left.below[begin]), np.zeros(1)
    for side, height, outside, peak in (
        (left, lower, first, begin),
        (right, -upper, size - last, size - end),
    ):
        capped = np.minimum(np.searchsorted(side.edges, height - cap), outside)
        turn = np.clip(np.searchsorted(side.edges, height - inner), outside, peak)
        bend = np.clip(np.searchsorted(side.edges, height - outer), capped, outside)
        scale = np.stack([np.ones(height.shape), np.exp(-side.sign * height)])
        plain, heavy = side.sums(outside, turn, falls), side.sums(turn, peak, falls)
        goal = goal + scale * (plain + factor * heavy)
        plain, heavy = side.sums(bend, outside, 1 - falls), side.sums(capped, bend, 1 - falls)
        rest = rest + scale * (plain + factor * heavy)
        # Nothing is lower than the cap allows, nor than the last cell that it reaches.
        lowest = np.maximum(-cap, side.psi[np.maximum(2 * capped - 1, 0)] - height)
        mass = bottom * side.below[capped]
        beyond = np.where(mass > 0, mass * np.exp(side.sign * lowest), 0.0)
        rest = rest + np.stack([mass, beyond])
    before, after = goal / (goal + rest)
    moves = left.sign * (np.where(np.isinf(rest[1]), 0.0, after) - before)
    # In the goal as well the likelihood is nowhere beyond the cap.
    beyond = (begin > first) & (lower - cap > left.edges[first])
    beyond |= (end < last) & (upper + cap < left.edges[last])
    return np.where(beyond, -1.0, np.nan_to_num(moves, nan=-1.0))
