"""A prior's distribution function sketched, fast enough for searches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from guessproof.world.checks import Array
from guessproof.world.line import LinePrior

FAR = 1e-11  # probability beyond what a sketch looks at
_POINTS = 3000
_BULK = (1e-9, 1e-6, 1e-4, 1e-2, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-4, 1 - 1e-6, 1 - 1e-9)
_LEVELS = np.concatenate(
    [10.0 ** -np.arange(11, 3, -0.5), np.linspace(1e-3, 1 - 1e-3, 64), 1 - 10.0 ** -np.arange(3.5, 11.5, 0.5)]
)


@dataclass(frozen=True)
class Sketch:
    """A prior's distribution function at a few thousand points, straight in between: for searches only."""

    x: Array
    below: Array
    above: Array
    support: tuple[float, float]
    ends: tuple[float, float]
    breaks: tuple[float, ...]
    middle: float

    @cached_property
    def bulk(self) -> tuple[float, ...]:
        """Where most people are, and how they thin out: between these places a distribution function is smooth."""
        return tuple(np.interp(_BULK, self.below, self.x).tolist())

    def mass(self, a: ArrayLike, b: ArrayLike) -> Array:
        a, b = np.broadcast_arrays(a, b)
        left = np.interp(b, self.x, self.below) - np.interp(a, self.x, self.below)
        right = np.interp(a, self.x, self.above) - np.interp(b, self.x, self.above)
        return np.maximum(np.where(a > self.middle, right, left), 0.0)


@lru_cache(maxsize=256)
def sketch(prior: LinePrior) -> Sketch:
    """The sketch of a prior, made once."""
    marks = np.asarray(prior.quantile(_LEVELS), dtype=np.float64)
    marks = np.unique(marks[np.isfinite(marks)])
    parts = np.interp(np.linspace(0, marks.size - 1, _POINTS), np.arange(marks.size), marks)
    x = np.unique(np.concatenate([parts, marks]))
    edge = np.full(x.shape, np.inf)
    below, above = (np.array(prior.quick_mass(*pair)) for pair in ((-edge, x), (x, edge)))
    below[0], below[-1], above[0], above[-1] = 0.0, 1.0, 1.0, 0.0  # what lies beyond joins the last pieces
    ends, middle = (float(marks[0]), float(marks[-1])), float(prior.quantile(0.5))
    return Sketch(x, below, above, prior.support, ends, prior.breaks, middle)
