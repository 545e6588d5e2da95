"""The way down a smooth function of some dozens of numbers, by few looks at it (L-BFGS, Nocedal 1980).

What it finds is a hint, never a proof. Not SciPy's: its routine hands matrices of ten numbers a side to a linear
algebra with threads, which wait for one another three times as long as the function itself takes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from guessproof.world.checks import Array

Loss = Callable[[Array], tuple[float, Array]]

_REMEMBERED = 10
_FLAT = 1e-5  # the steepest slope of a place that is low enough
_STANDS = 2e-9  # a fall, relative to the value, that is none
_ENOUGH = 1e-4  # of the fall that the slope promises (Armijo)
_TRIES = 20  # shorter and shorter steps


def downhill(loss: Loss, start: Array, steps: int) -> Array:
    """A place at most as high as the start, after so many steps or where the ground is flat.

    >>> downhill(lambda x: (float(np.sum((x - 3) ** 2)), 2 * (x - 3)), np.zeros(2), 20).round(6)
    array([3., 3.])
    """
    place = start
    height, slope = loss(place)
    past: deque[tuple[Array, Array, float]] = deque(maxlen=_REMEMBERED)
    for _ in range(steps):
        if float(np.max(np.abs(slope))) <= _FLAT:
            break
        way = _direction(slope, past)
        length = 1.0 if past else 1.0 / float(np.linalg.norm(way))
        for _ in range(_TRIES):
            lower, there = loss(place + length * way)
            promised = length * float(slope @ way)
            if lower <= height + _ENOUGH * promised:
                break
            # Where the parabola through both heights and the slope is lowest.
            length *= float(np.clip(-promised / (2 * (lower - height - promised)), 0.1, 0.5))
        else:
            break
        step, change = length * way, there - slope
        size = float(change @ change)  # 0 where a slope changes by less than squares can tell: nothing is learnt there
        if size > 0 and (bend := float(step @ change)) > 1e-12 * size:
            past.append((step, change, bend))
        fallen, place, height, slope = height - lower, place + step, lower, there
        if fallen <= _STANDS * max(abs(height), 1.0):
            break
    return place


def _direction(slope: Array, past: deque[tuple[Array, Array, float]]) -> Array:
    """Minus the slope, through the inverse curvature that the last steps showed; it always leads down."""
    way, shares = -slope, list[float]()
    for step, change, bend in reversed(past):
        shares.append(float(step @ way) / bend)
        way = way - shares[-1] * change
    if past:
        _, change, bend = past[-1]
        way = way * (bend / float(change @ change))
    for (step, change, bend), share in zip(past, reversed(shares), strict=True):
        way = way + (share - float(change @ way) / bend) * step
    return way
