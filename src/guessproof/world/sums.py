"""The weighted sum of independent numbers with log-concave densities, as one number.

Its density is log-concave again. It is worked out at knots, each in closed form: where one of two densities is
exp(h + βx) on pieces, ∫ f(x)·exp(h + β(s − x)) dx is a tilted integral of the other. Between two knots the logarithm is
taken as a straight line, which a concave function exceeds there and stays below beyond the last knot. How far it
exceeds it at most follows from the lines next to it, and is kept: `slack` bounds what log-odds are off by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from guessproof.world.checks import Array
from guessproof.world.line import LinePrior, log_sum
from guessproof.world.pieces import LogLinear

_KNOTS, _ROUNDS, _MOST = 80, 8, 420
_CLOSE = 4e-4  # of ln density between knots
_FAR, _FAINT = 1e-12, 1e-4  # of the largest density: where knots end, where values do not and where they do
_BEYOND = 2e-4  # what lies beyond the knots may do so much to log-odds
_CHUNK = 64
_FEW = 12  # pieces of a density that can be put to any other


@dataclass(frozen=True)
class SumPrior(LogLinear):
    """A log-concave density through knots; `slack`: how far off log-odds may be for that."""

    knots: tuple[float, ...]
    logs: tuple[float, ...]
    ends: tuple[float, float]
    slack: float
    words: str

    def __post_init__(self) -> None:
        x, y = np.asarray(self.knots), np.asarray(self.logs)
        slope = np.diff(y) / np.diff(x)
        slope = np.concatenate([slope[:1], slope, slope[-1:]])
        left, right = np.concatenate([[self.ends[0]], x]), np.concatenate([x, [self.ends[1]]])
        height = np.concatenate([[y[0]], y])  # at the left end of each piece
        height[0] = y[0] + slope[0] * (left[0] - x[0]) if np.isfinite(left[0]) else y[0]
        some = right > left
        self._set_pieces(left[some], right[some], height[some], slope[some])
        object.__setattr__(self, "height", self.height - float(self.log_tilt(0.0, -np.inf, np.inf)))

    def __repr__(self) -> str:
        return self.words

    @property
    def name(self) -> str:
        return "sum"

    @property
    def by_quadrature(self) -> bool:
        return True

    @property
    def is_log_concave(self) -> bool:
        return True


def sum_of(priors: Sequence[LinePrior], weights: Sequence[float], start: float = 0.0) -> SumPrior | None:
    """The prior of start + Σ wᵢxᵢ; None where a density is not known to be log-concave, or it would take long."""
    if not all(p.is_log_concave for p in priors):
        return None
    words = f"sum of {', '.join(map(repr, priors))}"
    parts = [_Scaled(p, w) for p, w in zip(priors, weights, strict=True) if w]
    plain = [p for p in parts if isinstance(p.prior, LogLinear) and p.prior.left.size <= _FEW]
    closed = [p for p in parts if p not in plain and not p.prior.by_quadrature]
    rest = [p for p in parts if p not in plain and p not in closed]
    if not parts or len(closed) + len(rest) > 2 or len(rest) > 1:
        return None  # integrals of many pieces by many pieces
    heavy = [_followed(p, words) for p in (*closed[1:], *rest)]
    slack = sum(p.prior.slack for p in heavy if isinstance(p.prior, SumPrior))
    first, *others = [*closed[:1], *heavy, *plain]
    whole = first
    for part in others:
        found = _convolved(whole, part, words)
        whole, slack = _Scaled(found, 1.0), slack + found.slack
    if not others:
        whole = whole if isinstance(whole.prior, SumPrior) else _followed(whole, words)
        slack = whole.prior.slack if isinstance(whole.prior, SumPrior) else slack
    prior = whole.prior
    assert isinstance(prior, SumPrior)
    knots = tuple((np.asarray(prior.knots) + start).tolist())
    return SumPrior(knots, prior.logs, (prior.ends[0] + start, prior.ends[1] + start), slack + _BEYOND, words)


@dataclass(frozen=True)
class _Scaled:
    """A number times a weight."""

    prior: LinePrior
    weight: float

    @property
    def support(self) -> tuple[float, float]:
        low, high = sorted(self.weight * e for e in self.prior.support)
        return float(low), float(high)

    @property
    def reach(self) -> tuple[float, float]:
        """Between which values nearly all lie."""
        low, high = sorted(self.weight * float(e) for e in self.prior.quantile([_FAR, 1 - _FAR]))
        return low, high

    def log_density(self, x: Array) -> Array:
        return self.prior.log_density(x / self.weight) - np.log(abs(self.weight))

    def log_tilt(self, k: Array, a: Array, b: Array) -> Array:
        """ln ∫ e^{ky} f(y) dy of the weighted number."""
        low, high = (a, b) if self.weight > 0 else (b, a)
        return self.prior.log_tilt(k * self.weight, low / self.weight, high / self.weight)


def _followed(part: _Scaled, words: str) -> _Scaled:
    """A density through knots of its own."""
    return _Scaled(_through(part.log_density, part.support, part.reach, words), 1.0)


def _convolved(one: _Scaled, other: _Scaled, words: str) -> SumPrior:
    """The density of a sum, the second of whose parts is exp(h + βx) on pieces."""
    pieces = other.prior
    assert isinstance(pieces, LogLinear)
    w = other.weight
    left, right = (w * pieces.left, w * pieces.right) if w > 0 else (w * pieces.right, w * pieces.left)
    slope, anchor, height = pieces.slope / w, w * pieces.anchor, pieces.height - np.log(abs(w))

    def density(s: Array) -> Array:
        found = np.empty(s.shape)
        for i in range(0, s.size, _CHUNK):
            at = s[i : i + _CHUNK, None]
            tilt = one.log_tilt(np.broadcast_to(-slope, (at.size, slope.size)), at - right, at - left)
            found[i : i + _CHUNK] = log_sum(height + slope * (at - anchor) + tilt)
        return found

    ends = one.support[0] + other.support[0], one.support[1] + other.support[1]
    near = one.reach[0] + other.reach[0], one.reach[1] + other.reach[1]
    return _through(density, ends, near, words)


def _through(
    density: Callable[[Array], Array], ends: tuple[float, float], near: tuple[float, float], words: str
) -> SumPrior:
    """Knots, closer where a line would leave the density."""
    low, high = max(ends[0], near[0]), min(ends[1], near[1])
    x = np.linspace(low, high, _KNOTS + 1)
    y = density(x)
    x, y = _trimmed(x, y, ends, density)
    for _ in range(_ROUNDS):
        middle = 0.5 * (x[:-1] + x[1:])
        there = density(middle)
        gaps = _gaps(x, y, middle, there)
        wide = gaps > _CLOSE
        if not wide.any() or x.size > _MOST:
            break
        order = np.argsort(np.concatenate([x, middle[wide]]))
        x, y = np.concatenate([x, middle[wide]])[order], np.concatenate([y, there[wide]])[order]
    middle = 0.5 * (x[:-1] + x[1:])
    slack = float(np.max(_gaps(x, y, middle, density(middle))[1:-1]))
    return SumPrior(tuple(x.tolist()), tuple(y.tolist()), ends, slack, words)


def _trimmed(x: Array, y: Array, ends: tuple[float, float], density: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Knots without those beyond which hardly anything lies; towards an end at which the density is 0, a few more."""
    top = float(np.max(y))
    for side in (0, -1):
        if np.isfinite(ends[side]) and y[side] < top + np.log(_FAINT):
            inner = x[1] - x[0] if side == 0 else x[-2] - x[-1]
            more = ends[side] + inner * 2.0 ** -np.arange(1, 14)
            x, y = np.concatenate([x, more]), np.concatenate([y, density(more)])
    order = np.argsort(x)
    x, y = x[order], y[order]
    keep, peak, places = np.isfinite(y), int(np.argmax(y)), np.arange(x.size)
    for end, rest in zip(ends, (places < peak, places > peak), strict=True):
        keep &= ~(rest & (y < top + np.log(_FAINT if np.isfinite(end) else _FAR)))
    return x[keep], y[keep]


def _gaps(x: Array, y: Array, middle: Array, there: Array) -> Array:
    """How far a concave function can lie above the lines between its knots, given its values in the middle as well."""
    fine_x, fine_y = np.empty(x.size + middle.size), np.empty(x.size + middle.size)
    fine_x[0::2], fine_x[1::2], fine_y[0::2], fine_y[1::2] = x, middle, y, there
    width, slope = np.diff(fine_x), np.diff(fine_y) / np.diff(fine_x)
    before, after = np.concatenate([slope[:1], slope[:-1]]), np.concatenate([slope[1:], slope[-1:]])
    bend = np.maximum(before - after, 1e-300)
    above = width * np.maximum(before - slope, 0.0) * np.maximum(slope - after, 0.0) / bend
    lifted = np.maximum(there - 0.5 * (y[:-1] + y[1:]), 0.0)
    return lifted + np.maximum(above[0::2], above[1::2])
