"""The attacker whose prior differs from the plan's: the worst one of those that `prior_factor` allows, for one output.

What an output says of each point is known, so the worst prior is as well: κ times as much on the correct points that it
favours most and on the others that it favours least (docs/theory). A grid of both thresholds finds one; what it reaches
is reached, whatever the best one would.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_CUTS = 65  # of either threshold


def worst_beliefs(told: Any, weights: Any, fits: Any, factor: float) -> list[tuple[float, float]]:
    """(after, before) of a wrong prior's largest rise, largest fall and largest belief.

    `told` is the belief in each point after the output under the plan's prior, up to a factor.
    """
    likelihood = np.where(weights > 0, told / np.where(weights > 0, weights, 1.0), 0.0)
    inside, outside = weights * fits, weights * (1 - fits)
    if not inside.any() or not outside.any():
        return []
    rise = _largest_rise(likelihood, inside, outside, factor)
    fall = _largest_rise(likelihood, outside, inside, factor)
    after = factor * float(likelihood @ inside)
    before = factor * float(inside.sum())
    whole = after / (after + float(likelihood @ outside)), before / (before + float(outside.sum()))
    return [rise, (1 - fall[0], 1 - fall[1]), whole]


def _largest_rise(likelihood: Any, inside: Any, outside: Any, factor: float) -> tuple[float, float]:
    """(after, before) of the belief in what lies inside, where it rises most."""
    order = np.argsort(-likelihood, kind="stable")
    mass, told = _raised(inside, likelihood, order, factor)
    other, rest = _raised(outside, likelihood, order[::-1], factor)
    after = told[:, None] / (told[:, None] + rest)
    before = mass[:, None] / (mass[:, None] + other)
    best = np.unravel_index(int(np.argmax(after - before)), after.shape)
    return float(after[best]), float(before[best])


def _raised(part: Any, likelihood: Any, order: Any, factor: float) -> tuple[Any, Any]:
    """Masses before and after, with κ times as much of the first points of an order, for some numbers of them."""
    sums = [np.concatenate([[0.0], np.cumsum(v[order])]) for v in (part, part * likelihood)]
    wanted = np.linspace(0.0, sums[0][-1], _CUTS)
    cuts = np.arange(sums[0].size) if sums[0].size <= _CUTS else np.unique(np.searchsorted(sums[0], wanted))
    return tuple(v[-1] + (factor - 1) * v[cuts.clip(0, v.size - 1)] for v in sums)  # pyright: ignore[reportReturnType]
