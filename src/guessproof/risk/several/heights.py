"""Heights of peaks or hollows that reach more: the way uphill, as far as the middles of tiles or boxes tell.

Whatever heights a landscape of peaks has (or of hollows), it is a private likelihood (`reaching`, `peak_attack`): what
is found here is a hint, and what it reaches is shown elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from guessproof.risk.several.downhill import downhill
from guessproof.world.checks import Array

NEAREST = 10  # points that count on a tile
_STRAY = 0.2  # by which a climb moves a height at most
_CLIMB = ((40.0, 30), (200.0, 30))  # how hard the largest is, and steps uphill at that


def climbed_heights(height: Array, ways: Array, masses: tuple[Array, Array], sign: int, rivals: int = NEAREST) -> Array:
    """Heights ln L of peaks (sign +1) or hollows (−1), given ε·distance of every tile from every one of them.

    Beside them the masses of what is correct and of what is wrong in each tile. Only so many rivals count on one.
    """
    near, _ = nearest(sign * height - ways, rivals)
    away = np.take_along_axis(ways, near, axis=1)
    with np.errstate(divide="ignore"):
        weights = [np.log(mass) for mass in masses]

    def loss(change: Array, sharpness: float) -> tuple[float, Array]:
        bent = np.tanh(change / _STRAY)  # never far from where those that count on a tile were picked
        own = sharpness * (sign * (height + _STRAY * bent)[near] - away)
        top = np.max(own, axis=1, keepdims=True)
        share = np.exp(own - top)
        total = np.sum(share, axis=1)
        level = sign * (top[:, 0] + np.log(total)) / sharpness
        parts = [np.exp(w + level - np.max(w + level)) for w in weights]
        value = [float(np.log(np.sum(p)) + np.max(w + level)) for p, w in zip(parts, weights, strict=True)]
        slope = (parts[1] / np.sum(parts[1]) - parts[0] / np.sum(parts[0])) / total
        moved = np.bincount(near.ravel(), (share * slope[:, None]).ravel(), height.size)
        return value[1] - value[0], np.asarray(moved * (1 - bent**2), dtype=np.float64)

    change = np.zeros(height.size)
    for sharpness, steps in _CLIMB:
        change = downhill(lambda h, s=sharpness: loss(h, s), change, steps)
    return height + _STRAY * np.tanh(change / _STRAY)


def nearest(values: Array, most: int = NEAREST) -> tuple[Any, Array]:
    """For each tile the points that count most, and what the others are at most."""
    count = values.shape[1]
    if count <= most + 1:
        return np.broadcast_to(np.arange(count), values.shape), np.full(len(values), -np.inf)
    order = np.argpartition(-values, most, axis=1)
    return order[:, :most], np.take_along_axis(values, order[:, most : most + 1], axis=1)[:, 0]
