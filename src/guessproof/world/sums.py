"""The weighted sum of two independent numbers with log-concave densities, as one number.

Its density is log-concave again. It is worked out at knots, each in closed form: where one of the two densities is
exp(h + βx) on pieces, ∫ f(x)·exp(h + β(s − x)) dx is a tilted integral of the other. Between two knots the logarithm is
taken as a straight line, which a concave function exceeds there. How far it exceeds it at most follows from the lines
next to it. Of the outermost knots there is no line next to them: what lies beyond the second and the last but one is
held below the line from further inside, and counts as what may be there or not (`SumPrior.slack`).
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
_CHUNK = 64
_FEW = 12  # pieces of a density that can be put to any other


@dataclass(frozen=True)
class SumPrior(LogLinear):
    """A log-concave density through knots; `gap`: how far its logarithm may lie above the lines between them."""

    knots: tuple[float, ...]
    logs: tuple[float, ...]
    ends: tuple[float, float]
    gap: float
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

    def slack(self, rate: float, goal: Sequence[tuple[float, float]], peaked: bool = False) -> float:
        """How far off log-odds of the goal may be, for any likelihood whose logarithm has at most this slope.

        `peaked`: for those alone that rise up to a place in the goal, an interval, and fall from there on.

        Let g be this density, f the true one, T what lies beyond the second and the last but one knot, A a part of the
        rest. g ≤ f ≤ e^gap·g outside T, and on T both are at most a line that goes on from further inside. With L the
        likelihood, ∫_T fL and ∫_T gL are at most r(A)·∫_A gL: at the knot where T begins, L is as large for both, and
        from there it rises on T and falls on A by no more than its slope; one with a peak in the goal does neither, on
        the A of the same side. So ∫_G fL ≤ (e^gap + r(G))·∫_G gL and
        ∫_G gL ≤ (1 + r(G))·∫_G fL, the same outside of the goal, and odds are quotients of the two.
        """
        low, high = self.knots[1], self.knots[-2]
        inside = [(max(a, low), min(b, high)) for a, b in goal if min(b, high) > max(a, low)]
        edges = [low, *(e for part in sorted(inside) for e in part), high]
        outside = [(a, b) for a, b in zip(edges[0::2], edges[1::2], strict=True) if b > a]
        reached = any(a < low for a, _ in goal), any(b > high for _, b in goal)
        first, last = self.ends
        missed = not any(a <= first and b >= low for a, b in goal), not any(a <= high and b >= last for a, b in goal)
        whole = np.exp(self.gap)
        if peaked and len(goal) == 1 and not any(reached):
            sides = (
                ((True, False), [p for p in outside if p[0] == low]),
                ((False, True), [p for p in outside if p[1] == high]),
            )
            return float(self.gap + np.log1p(sum(self._beyond(0.0, parts, side) for side, parts in sides)))
        own = self._beyond(rate, inside, reached)
        other = self._beyond(rate, outside, missed)
        return float(np.log(max((whole + own) * (1 + other), (whole + other) * (1 + own))))

    def _beyond(self, rate: float, parts: Sequence[tuple[float, float]], sides: tuple[bool, bool]) -> float:
        """r: what may lie beyond the knots on these sides, as a share of what lies in the parts."""
        total = 0.0
        for side in (s for s in (0, 1) if sides[s]):
            sign, at, inner = (-1, 1, 2) if side == 0 else (1, -2, -3)
            x = self.knots[at]
            # The line from further inside falls; a likelihood may rise as it does.
            fall = (self.logs[inner] - self.logs[at]) / abs(self.knots[inner] - x) - rate
            width = abs(self.ends[side] - x)
            if not parts or (np.isinf(width) and fall <= 0):
                return np.inf
            with np.errstate(over="ignore"):
                tail = width if fall == 0 else -np.expm1(-fall * width) / fall
            held = log_sum(np.array([float(self.log_tilt(sign * rate, a, b)) for a, b in parts])) - sign * rate * x
            total += tail * float(np.exp(float(self.log_density(np.array(x))) - held))
        return total

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
    """The prior of start + Σ wᵢxᵢ of two numbers; None where a density is not log-concave or not in closed form."""
    parts = [_Scaled(p, w) for p, w in zip(priors, weights, strict=True) if w]
    plain = [p for p in parts if isinstance(p.prior, LogLinear) and p.prior.left.size <= _FEW]
    if len(parts) != 2 or not plain or any(p.prior.by_quadrature or not p.prior.is_log_concave for p in parts):
        return None  # of three, one would be known at knots only
    one, other = (parts[0], plain[-1]) if plain[-1] is parts[1] else (parts[1], plain[-1])
    found = _convolved(one, other, f"sum of {', '.join(map(repr, priors))}")
    knots = tuple((np.asarray(found.knots) + start).tolist())
    return SumPrior(knots, found.logs, (found.ends[0] + start, found.ends[1] + start), found.gap, found.words)


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
    gap = float(np.max(_gaps(x, y, middle, density(middle))[1:-1]))
    return SumPrior(tuple(x.tolist()), tuple(y.tolist()), ends, gap, words)


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
