"""Two values that are as far apart as the cap of a distance, moving along the line together.

Where one of them comes to values that are all equally far, or to a jump of ψ, it passes these while the other stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guessproof.world.checks import Array
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

Pair = tuple[Array, Array]

_FARTHEST = 1e-13  # of the prior lies beyond the ends of a line that has none


@dataclass(frozen=True)
class StraightPairs:
    """Along a straight line: the place is that of the upper one."""

    width: float
    start: float = -np.inf
    end: float = np.inf
    first: float = -np.inf
    last: float = np.inf

    def at(self, place: Array) -> Pair:
        """The lower and the upper value."""
        return place - self.width, place

    def pace(self, place: Array) -> Pair:
        """How fast both move."""
        return np.ones_like(place), np.ones_like(place)

    def where(self, x: Array, *, above: bool, last: bool) -> Array:
        """The place at which the upper (or lower) one is at a value."""
        del last
        return x if above else x + self.width


@dataclass(frozen=True, eq=False)
class BentPairs:
    """Along a line that bends, from one end of the prior to the other: places, and both values there."""

    place: Array
    below: Array
    above: Array
    start: float  # from here on there is a lower one, and up to the end an upper one: elsewhere the line is too short
    end: float

    @classmethod
    def of(cls, prior: LinePrior, form: LineForm) -> BentPairs:
        """All pairs, by those at which one of the two comes to a bend or a jump."""
        x, height = _vertices(prior, form)
        critical = np.unique(np.concatenate([height, height + form.cap]))
        below, above = (_reached(x, height, critical - back) for back in (form.cap, 0.0))
        # The upper one passes values that are equally far before the lower one does.
        lower, upper = np.stack([below[0], below[0], below[1]]), np.stack([above[0], above[1], above[1]])
        lower, upper, at = lower.T.ravel(), upper.T.ravel(), np.repeat(critical, 3)
        place = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(lower), np.diff(upper)))])
        some = np.concatenate([[True], np.diff(place) > 0])
        start, end = np.min(place[at >= height[0] + form.cap]), np.max(place[at <= height[-1]])
        return cls(place[some], lower[some], upper[some], float(start), float(end))

    @property
    def first(self) -> float:
        """Where the line begins."""
        return float(self.above[0])

    @property
    def last(self) -> float:
        """Where it ends."""
        return float(self.above[-1])

    def at(self, place: Array) -> Pair:
        """Both values; beyond the ends of the line everything."""
        below, above = np.interp(place, self.place, self.below), np.interp(place, self.place, self.above)
        return np.where(below <= self.below[0], -np.inf, below), np.where(above >= self.above[-1], np.inf, above)

    def pace(self, place: Array) -> Pair:
        """How fast both move."""
        which = np.clip(np.searchsorted(self.place, place, side="right") - 1, 0, self.place.size - 2)
        step = np.diff(self.place)
        return (np.diff(self.below) / step)[which], (np.diff(self.above) / step)[which]

    def where(self, x: Array, *, above: bool, last: bool) -> Array:
        """The first or the last place at which the upper (or lower) one is at a value."""
        values = self.above if above else self.below
        x = np.clip(x, values[0], values[-1])
        i = np.clip(np.searchsorted(values, x, side="right" if last else "left"), 1, values.size - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (x - values[i - 1]) / (values[i] - values[i - 1])
        share = np.where(np.isnan(share), 1.0 if last else 0.0, share)
        return self.place[i - 1] + share * (self.place[i] - self.place[i - 1])


def _vertices(prior: LinePrior, form: LineForm) -> Pair:
    """The graph of ψ from one end of the prior to the other, by its corners."""
    ends = np.clip(prior.quantile([_FARTHEST, 1 - _FARTHEST]), *prior.support)
    whole = np.isfinite(prior.support)
    first, last = np.where(whole, prior.support, ends)
    cuts = [(c, j) for c, j in zip(form.cuts, form.jumps, strict=True) if first < c < last]
    x = [first, *(c for c, j in cuts for _ in range(2 if j else 1)), last]
    psi = form.psi
    height = [psi(first), *(h for c, j in cuts for h in ((psi(c), psi(c) + j) if j else (psi(c),))), psi(last)]
    at_start = form.jump_at(float(first))
    return np.array(x, dtype=np.float64), np.array([float(height[0]) + at_start, *height[1:]], dtype=np.float64)


def _reached(x: Array, height: Array, wanted: Array) -> Pair:
    """Between which values ψ has a height; the ends of the line where it has none."""
    found: list[Array] = []
    for side in ("left", "right"):
        i = np.clip(np.searchsorted(height, wanted, side=side), 1, height.size - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (wanted - height[i - 1]) / (height[i] - height[i - 1])
        share = np.clip(np.where(np.isnan(share), float(side == "right"), share), 0.0, 1.0)
        found.append(np.where(share >= 1, x[i], x[i - 1] + share * (x[i] - x[i - 1])))
    return found[0], found[1]


def pairs_of(prior: LinePrior, form: LineForm) -> StraightPairs | BentPairs:
    """All pairs of a distance with a cap."""
    return StraightPairs(form.cap / form.slopes[0]) if form.is_straight else BentPairs.of(prior, form)
