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
_SAME = 1e-13  # of heights: what rounding may keep apart
_BY_LENGTH = 0.1  # of how far places are apart: the length of the line beside the prior on it
_SHARES = np.linspace(0.0, 1.0, 17)[1:-1]  # of values that are equally far, by which they are passed


@dataclass(frozen=True)
class StraightPairs:
    """Along a straight line: the place is that of the upper one."""

    width: float
    slope: float
    start: float = -np.inf
    end: float = np.inf
    first: float = -np.inf
    last: float = np.inf

    def at(self, place: Array) -> Pair:
        """The lower and the upper value."""
        return place - self.width, place

    def heights(self, place: Array) -> Pair:
        """ψ of both."""
        return self.slope * (place - self.width), self.slope * place

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
    height: Array  # ψ of the upper one: where ψ jumps, a value has many
    cap: float
    start: float  # from here on there is a lower one, and up to the end an upper one: elsewhere the line is too short
    end: float

    @classmethod
    def of(cls, prior: LinePrior, form: LineForm) -> BentPairs:
        """All pairs, by those at which one of the two comes to a bend or a jump."""
        x, height = _vertices(prior, form)
        path: list[tuple[float, float, float]] = []
        for at in np.unique(np.concatenate([height, height + form.cap])).tolist():
            below, above = _values_at(x, height, at - form.cap), _values_at(x, height, at)
            # The upper one passes values that are equally far before the lower one does.
            path += [(below[0], up, at) for up in above] + [(low, above[-1], at) for low in below[1:]]
        lower, upper, heights = np.array(path).T
        place = np.cumsum(np.append(0.0, _passed(prior, lower) + _passed(prior, upper) + _share_of(heights)))
        some = np.append(True, np.diff(place) > 0)
        start, end = np.min(place[heights >= height[0] + form.cap]), np.max(place[heights <= height[-1]])
        return cls(place[some], lower[some], upper[some], heights[some], form.cap, float(start), float(end))

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

    def heights(self, place: Array) -> Pair:
        """ψ of both."""
        upper = np.interp(place, self.place, self.height)
        return upper - self.cap, upper

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
    x, height = [float(first)], [float(form.psi(first)) + form.jump_at(float(first))]
    for slope, start, end in zip(form.slopes, *form.ends, strict=True):
        start, end = max(float(start), x[0]), min(float(end), float(last))
        if start >= end:
            continue
        if not slope:  # passed by what lies there, not by how long it is
            before, within = float(prior.mass(first, start)), float(prior.mass(start, end))
            inner = np.clip(prior.quantile(before + _SHARES * within), start, end)
            x, height = [*x, *inner.tolist()], [*height, *[height[-1]] * inner.size]
        jump = form.jump_at(end) if end < last else 0.0
        top = height[-1] + slope * (end - start)
        x, height = [*x, end, end] if jump else [*x, end], [*height, top, top + jump] if jump else [*height, top]
    return np.array(x), np.array(height)


def _values_at(x: Array, height: Array, wanted: float) -> list[float]:
    """The values at which ψ has a height, with those of the graph that are equally far; an end where it has none."""
    same = np.flatnonzero(np.abs(height - wanted) <= _SAME * (abs(wanted) + np.max(np.abs(height))))
    return x[same].tolist() if same.size else [float(np.interp(wanted, height, x))]


def _passed(prior: LinePrior, x: Array) -> Array:
    """How far it is from each value to the next: mostly by what lies between them."""
    return np.asarray(prior.mass(x[:-1], x[1:])) + _share_of(x)


def _share_of(x: Array) -> Array:
    return _BY_LENGTH * np.diff(x) / max(float(x[-1] - x[0]), 1e-300)


def pairs_of(prior: LinePrior, form: LineForm) -> StraightPairs | BentPairs:
    """All pairs of a distance with a cap."""
    return StraightPairs(form.cap / form.slopes[0], form.slopes[0]) if form.is_straight else BentPairs.of(prior, form)
