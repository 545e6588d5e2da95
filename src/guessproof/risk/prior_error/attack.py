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
from guessproof.world.checks import Array, Indices

COUNTS = (
    33,
    9,
    6,
    8,
)  # true values, peaks in each goal, and thresholds inside and outside, that are compared at first
AGAIN = 5  # values of each of them in later rounds, around the best
SHRINK, ROUNDS = 0.6, 16  # their range becomes shorter each round: to 1e-4 of the first


def best_attack(
    sides: tuple[Side, Side], goals: LineGoals, factor: float, cap: float = np.inf
) -> tuple[float, int]:
    """The largest move found over the goals of all true values, and the position of the true value.

    A finite cap is obeyed where there is one true value.
    """
    low, high, value, best = np.zeros(4), np.ones(4), 0.0, np.zeros(4)
    counts = COUNTS
    for _ in range(ROUNDS):
        axes = [np.linspace(*ends) for ends in zip(low, high, counts, strict=True)]
        places = np.stack(np.meshgrid(*axes)).reshape(4, -1)
        with np.errstate(all="ignore"):  # what is not a number counts as no attack
            moves = _moves(sides, goals, places, factor, cap)
        top = int(np.argmax(moves))
        if moves[top] > value:
            value, best = float(moves[top]), places[:, top]
        reach = SHRINK * (high - low) / 2
        low, high = np.clip([best - reach, best + reach], 0, 1)
        counts = (AGAIN,) * 4
    return value, round(best[0] * (goals.first.size - 1))


def _moves(
    sides: tuple[Side, Side], goals: LineGoals, places: Array, factor: float, cap: float
) -> Array:
    """How far beliefs move; true values, peaks and thresholds are shares of their ranges.

    Under a cap the first share is where a plateau begins instead, and the second where it ends.
    """
    left, right = sides
    shift, share, near, far = places
    truth = np.round(shift * (goals.first.size - 1)).astype(np.intp)
    first, last = goals.first[truth], goals.last[truth]
    begin = (
        first + np.round((last - first) * shift).astype(np.intp) if np.isfinite(cap) else first
    )
    end = begin + np.round((last - begin) * share).astype(np.intp)
    begin = begin if np.isfinite(cap) else end
    edges, size = left.finite_edges, left.edges.size - 1
    low, high = edges[first], edges[last]
    bulk = edges[np.searchsorted(left.below, [BULK[0], 1 - BULK[0]])]
    widths = high - low, np.maximum(high, bulk[1]) - np.minimum(low, bulk[0])
    top = bottom = np.full(near.size, factor)
    if np.isfinite(cap):
        # Where the likelihood is constant the weight varies between 1 and κ instead of a threshold.
        top, bottom = (1 + (factor - 1) * np.minimum(2 * share, 1) for share in (near, 1 - far))
        near, far = np.maximum(2 * near - 1, 0), np.minimum(2 * far, 1)
    thresholds = near * np.minimum(widths[0], cap), far * np.minimum(widths[1], cap)
    # A peak lies on the number to the left of the edge, which for densities is where the next cell starts.
    lower, upper = (
        np.clip(
            left.psi[np.where(peak > first, 2 * peak - 1, np.minimum(2 * first, 2 * size - 1))],
            *edges[[0, -1]],
        )
        for peak in (begin, end)
    )
    goal, rest = _sums(left, lower, (first, begin), thresholds, (factor, bottom), cap) + _sums(
        right, -upper, (size - last, size - end), thresholds, (factor, bottom), cap
    )
    goal = goal + top * (left.below[end] - left.below[begin])
    before, after = goal / (goal + rest)
    moves = np.nan_to_num(
        left.sign * (np.where(np.isinf(rest[1]), 0.0, after) - before), nan=-1.0
    )
    # In the goal as well the likelihood is nowhere beyond the cap.
    beyond = ((begin > first) & (lower - cap > left.edges[first])) | (
        (end < last) & (upper + cap < left.edges[last])
    )
    return np.where(beyond, -1.0, moves)


def _sums(
    side: Side,
    height: Array,
    run: tuple[Indices, Indices],
    thresholds: tuple[Array, Array],
    weights: tuple[float, Array],
    cap: float,
) -> Array:
    """Prior and likelihood of goal and rest on one side; weights near the peak and far from it, and at the cap."""
    begin, peak = run
    capped = np.minimum(np.searchsorted(side.edges, height - cap), begin)
    inner, outer = (np.searchsorted(side.edges, height - away) for away in thresholds)
    inner, outer = np.clip(inner, begin, peak), np.clip(outer, capped, begin)
    falls = int(side.sign < 0)  # bounds of the likelihood that make the attack weaker
    sums: list[Array] = []
    for plain, heavy, upper in (
        ((begin, inner), (inner, peak), falls),
        ((outer, begin), (capped, outer), 1 - falls),
    ):
        parts = [np.stack(side.sums(2 * i, 2 * j, upper)) for i, j in (plain, heavy)]  # pyright: ignore[reportOperatorIssue]
        mass, tilt = parts[0] + weights[0] * parts[1]
        sums.append(np.stack([mass, np.exp(-side.sign * height) * tilt]))
    # Nothing is lower than the cap allows, nor than the last cell that it reaches.
    lowest = np.maximum(-cap, side.psi[np.maximum(2 * capped - 1, 0)] - height)
    mass = weights[1] * side.below[capped]
    sums[1] += np.stack([mass, np.where(mass > 0, mass * np.exp(side.sign * lowest), 0.0)])
    return np.stack(sums)
