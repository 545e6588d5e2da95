"""Panels on which a density is a polynomial as far as floating point can say, and from them its slope.

What is found so is checked, not proven, like integrals by quadrature.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike, NDArray

from guessproof.world.checks import Array
from guessproof.world.powers import to_legendre

NODES, WEIGHTS = (np.asarray(part) for part in legendre.leggauss(12))
TO_LEGENDRE = to_legendre(NODES, WEIGHTS)
SMOOTH = 1e-14  # of its largest term: what the last terms of a density on its panel may be
MOST_PANELS = 700
_LEVELS = np.array([1e-15, 1e-6, 0.01, 0.5, 0.99, 1 - 1e-6, 1 - 1e-15])  # quantiles at which panels end at first
_MISSED = 1e-12  # of the prior: what a panel may have less of it, or more
_HALVINGS = 30  # of panels on which it is not smooth: where it has a kink, until next to nothing lies on them
_DIGITS = 1e-11  # of the largest density of a panel, per half of its width: how far off a slope may be


class Smooth(Protocol):
    """What is asked of a prior."""

    @property
    def support(self) -> tuple[float, float]: ...

    @property
    def breaks(self) -> tuple[float, ...]: ...

    def quantile(self, u: ArrayLike) -> Array: ...

    def log_density(self, x: ArrayLike) -> Array: ...

    def mass(self, a: ArrayLike, b: ArrayLike) -> Array: ...


def smooth_panels(prior: Smooth, cuts: tuple[float, ...] = ()) -> Array | None:
    """Ends of panels on which the density is smooth; None where it is infinite somewhere, or never smooth."""
    low, high = prior.support
    known = [*prior.quantile(_LEVELS), *prior.breaks, low, high, *(c for c in cuts if low < c < high)]
    ends = np.unique([float(x) for x in known if np.isfinite(x)])
    for _ in range(_HALVINGS):
        rough = ~_is_smooth(prior, ends[:-1], ends[1:])
        if not rough.any():
            return ends
        if ends.size > MOST_PANELS:
            break
        ends = np.unique(np.concatenate([ends, 0.5 * (ends[:-1] + ends[1:])[rough]]))
    return None


def _heights(prior: Smooth, left: Array, right: Array) -> Array:
    """The density at the nodes of some panels."""
    half = 0.5 * (right - left)
    with np.errstate(all="ignore"):  # a density may be infinite, and is not smooth there
        return np.exp(prior.log_density(left[:, None] + half[:, None] * (1 + NODES)))


def _is_smooth(prior: Smooth, left: Array, right: Array) -> NDArray[np.bool_]:
    """Whether the last terms of the density are nothing, beside its panel or beside all of it; and none is missed.

    Nodes tell nothing of what is narrower than the gaps between them, but the prior knows how much there is.
    """
    half, height = 0.5 * (right - left), _heights(prior, left, right)
    with np.errstate(all="ignore"):
        terms, counted = np.abs(height @ TO_LEGENDRE.T), half * (height @ WEIGHTS)
    last = np.max(terms[:, -2:], axis=1)
    smooth = (last <= SMOOTH * np.max(terms, axis=1)) | (last * half <= 0.01 * SMOOTH)
    smooth[smooth] = np.abs(counted - prior.mass(left, right))[smooth] <= _MISSED
    return smooth


@dataclass(frozen=True, eq=False)
class DensitySlopes:
    """The slope of a density between panels' ends, and where it turns."""

    edges: Array
    powers: Array  # of where on its panel a value lies, from −1 to 1: by power and panel
    off: Array  # by panel, how far off the slope may be; inf where nothing is known
    turns: Array  # from where to where it may be as much as it says beside that
    at_turns: Array

    @classmethod
    def of(cls, prior: Smooth) -> DensitySlopes | None:
        """None where the density has no smooth panels."""
        edges = smooth_panels(prior)
        if edges is None:
            return None
        half = 0.5 * np.diff(edges)
        heights = _heights(prior, edges[:-1], edges[1:])
        terms = heights @ TO_LEGENDRE.T
        known = np.max(np.abs(terms[:, -2:]), axis=1) <= 10 * SMOOTH * np.max(np.abs(terms), axis=1)
        slopes = legendre.legder(terms, axis=1) / half[:, None]
        off = _DIGITS * np.max(heights, axis=1) / half
        # A kink lies between two panels that are known: elsewhere, and towards an end of all panels, a density may rise
        # more steeply than its nodes tell.
        kinks = ~known & np.append(False, known[:-1]) & np.append(known[1:], False)
        off[~known & ~kinks] = np.inf
        each = list[tuple[Array, Array]]()
        for i, ends in enumerate(pairwise(edges)):
            if kinks[i]:
                beside = legendre.legval(1.0, slopes[i - 1]), legendre.legval(-1.0, slopes[i + 1])
                slopes[i], chords = _of_chords(heights[i], half[i], beside)
                each.append((np.tile(ends, (2, 1)), chords))
            else:
                each.append(_turns(*ends, slopes[i], off[i]))
        turns, at_turns = (np.concatenate(v) for v in zip(*each, strict=True))
        powers = np.stack([np.pad(p := legendre.leg2poly(row), (0, slopes.shape[1] - p.size)) for row in slopes])
        return cls(edges, powers.T, off, turns, at_turns)

    def between(self, a: Array, b: Array) -> tuple[Array, Array]:
        """The least and the largest slope between a and b; −∞ … ∞ where it is not known all the way."""
        last = self.off.size - 1
        first = np.clip(np.searchsorted(self.edges, a, side="right") - 1, 0, last)
        final = np.clip(np.searchsorted(self.edges, b, side="left") - 1, first, last)
        ends = self._at(first, a), self._at(final, b)
        low, high = np.minimum(*ends), np.maximum(*ends)
        for (start, end), there in zip(self.turns, self.at_turns, strict=True):
            inside = (a < end) & (b > start)
            low, high = np.where(inside, np.minimum(low, there), low), np.where(inside, np.maximum(high, there), high)
        off = np.where((a < self.edges[0]) | (b > self.edges[-1]), np.inf, self._largest_off(first, final))
        return low - off, high + off

    def _at(self, panel: NDArray[np.int64], x: Array) -> Array:
        left, right = self.edges[panel], self.edges[panel + 1]
        u = np.clip(((x - left) - (right - x)) / (right - left), -1.0, 1.0)
        value: Array = self.powers[-1].take(panel)
        for power in self.powers[-2::-1]:
            value = value * u + power.take(panel)
        return value

    def _largest_off(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> Array:
        level = np.frexp((last - first + 1).astype(np.float64))[1] - 1
        off: Array = np.maximum(self._spans[level, first], self._spans[level, last + 1 - 2**level])
        return off

    @cached_property
    def _spans(self) -> Array:
        """By power of two, what the slope is off by on as many panels from one on."""
        spans = [self.off]
        while 2 ** len(spans) <= self.off.size:
            before, step = spans[-1], 2 ** (len(spans) - 1)
            spans.append(np.maximum(before, np.append(before[step:], np.full(step, np.inf))))
        return np.stack(spans)


def _of_chords(heights: Array, half: float, beside: tuple[float, float]) -> tuple[Array, Array]:
    """On a panel with a kink: what chords between nodes climb, and slopes at both of its ends, as a slope that lies
    between them, and the least and the largest."""
    chords = np.append(np.diff(heights) / np.diff(NODES) / half, beside)
    ends = np.array([np.min(chords), np.max(chords)])
    terms = np.zeros(NODES.size - 1)
    terms[0] = np.mean(ends)
    return terms, ends


def _turns(left: float, right: float, slope: Array, off: float) -> tuple[Array, Array]:
    """Where the slope turns on one panel, if by more than it may be off, and what it is there."""
    if not np.isfinite(off) or not np.any(slope[1:]):
        return np.empty((0, 2)), np.empty(0)
    roots = legendre.legroots(np.trim_zeros(legendre.legder(slope), "b"))
    u = np.real(roots[(np.abs(np.imag(roots)) < 1e-6) & (np.abs(np.real(roots)) < 1)])
    there = np.asarray(legendre.legval(u, slope), dtype=np.float64)
    beside = [legendre.legval(np.clip(u + step, -1, 1), slope) for step in (-0.1, 0.1)]
    turns = np.maximum(*(np.abs(v - there) for v in beside)) > off
    places = left + 0.5 * (right - left) * (1 + u[turns])
    return np.stack([places, places], axis=1), there[turns]
