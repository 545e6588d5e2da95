"""Risk profiles as a steward writes them: "prior 0.001 → ×10, prior 0.4 → ×1.2".

A point (π, r) says: an attacker who gives the disclosure prior probability π = pq may end with at most
r·π. Between two points whose ratios fall, the ratio follows the straight line on logarithmic axes, so
that equal steps of prior odds cost equal steps of ratio; of the four ways to join two points (either axis
linear or logarithmic) it is the strictest. Where ratios rise with the prior, the lower one holds up to
the next point. Below the first point and above the last, the nearest ratio holds: nothing is allowed
that was not written down.

For a given prior π and ratio, ε falls as p rises (the more the attacker knows of inclusion, the more the
value tells). So only p = p₁ (its largest) and, below that curve, q = q₀ matter. On these edges the
condition is linear in π minus a power π^s/C, convex in π for s < 1 and concave for s > 1: its minimum
over a segment lies at an end or at one stationary point that is known in closed form for each ε.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from guessproof.errors import ParameterError
from guessproof.risk.profile.answer import Binding, ProfileAnswer, from_bindings
from guessproof.risk.profile.checks import EVERYTHING, Array, Span, at_least_one, number, probability, span
from guessproof.risk.profile.formulas import ULP, solve


@dataclass(frozen=True)
class _Segment:
    """Priors from ``low`` to ``high``, where the ratio falls as a power of prior/``anchor``."""

    low: float
    high: float
    anchor: float
    at_anchor: float
    fall: float = 0.0

    def ratio(self, prior: float) -> float:
        """The allowed ratio, rounded down by more than its own rounding."""
        drop = self.fall * _log_quotient(prior, self.anchor) if self.fall else 0.0
        return max(1.0, self.at_anchor * math.exp(-drop) * (1 - (4 + abs(drop)) * 2.0**-50))

    def within(self, low: float, high: float) -> _Segment | None:
        low, high = max(low, self.low), min(high, self.high)
        return replace(self, low=low, high=high) if low <= high else None


@dataclass(frozen=True)
class _Edge:
    """Part of the boundary of the region: p as a linear function of the prior, p = start + slope·prior.

    There the ε with x = e^{−ε} is safe where x² p + (1−p) x + (1−x²)·prior ≥ 1/ratio.
    """

    low: float
    high: float
    start: float
    slope: float

    def p(self, prior: float) -> float:
        return min(1.0, self.start + self.slope * prior)

    def q(self, prior: float) -> float:
        return 1 / self.slope if self.slope else min(1.0, prior / self.start)

    def steepness(self, x: float) -> float:
        """How fast the left side of the condition rises with the prior."""
        return (1 - x) * ((1 + x) - self.slope * x)


@dataclass(frozen=True)
class PointProfile:
    """Allowed posterior-to-prior ratios at some prior probabilities of the disclosure."""

    points: tuple[tuple[float, float], ...]
    p: Span = EVERYTHING
    q: Span = EVERYTHING

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", written(self.points))
        object.__setattr__(self, "p", span("p", self.p))
        object.__setattr__(self, "q", span("q", self.q))

    @property
    def inclusion(self) -> Span:
        return self.p

    def allowed(self, p: Array, q: Array) -> Array:
        prior = p * q
        ratio = np.full(prior.shape, self.points[-1][1])
        with np.errstate(all="ignore"):
            for segment in reversed(self._segments()[:-1]):
                falling = segment.at_anchor * (prior / segment.anchor) ** -segment.fall
                ratio = np.where(prior < segment.high, falling, ratio)
        for at, exactly in self.points:
            ratio = np.where(prior == at, exactly, ratio)
        inside = (p >= self.p[0]) & (p <= self.p[1]) & (q >= self.q[0]) & (q <= self.q[1])
        return np.where(inside, ratio, np.inf)

    def solve(self) -> ProfileAnswer:
        pieces = list(self._pieces())
        ends = [_bind(edge, piece, prior) for edge, piece in pieces for prior in {piece.low, piece.high}]
        best = from_bindings("closed form on each stretch between two points", ends)
        for edge, piece in pieces:
            inner = _stationary(edge, piece, best.epsilon)
            if inner is not None and inner.epsilon < best.epsilon:
                best = from_bindings(best.how, [inner])
        return best

    def _pieces(self) -> Iterator[tuple[_Edge, _Segment]]:
        (p0, p1), (q0, q1) = self.p, self.q
        edges = [_Edge(p1 * q0, p1 * q1, p1, 0.0)]
        if q0 > 0:
            edges.append(_Edge(p0 * q0, p1 * q0, 0.0, 1 / q0))
        for edge in edges:
            for segment in self._segments():
                piece = segment.within(edge.low, edge.high)
                if piece is not None:
                    yield edge, piece

    def _segments(self) -> list[_Segment]:
        first, last = self.points[0], self.points[-1]
        segments = [_Segment(0.0, first[0], *first)]
        for (low, ratio), (high, following) in pairwise(self.points):
            fall = _log_quotient(ratio, following) / _log_quotient(high, low)
            segments.append(_Segment(low, high, low, ratio, max(0.0, fall)))
        return [*segments, _Segment(last[0], 1.0, *last)]

    def describe(self) -> str:
        pairs = ", ".join(f"({prior:g}, {ratio:g})" for prior, ratio in self.points)
        region = "".join(
            f", {name}=({low:g}, {high:g})"
            for name, (low, high) in (("p", self.p), ("q", self.q))
            if (low, high) != EVERYTHING
        )
        return f"RiskProfile.points([{pairs}]{region})"

    def to_dict(self) -> dict[str, Any]:
        pairs = [list(point) for point in self.points]
        return {"kind": "points", "points": pairs, "p": list(self.p), "q": list(self.q)}


def _bind(edge: _Edge, piece: _Segment, prior: float) -> Binding:
    """The ε that one prior allows."""
    p, ratio = edge.p(prior), piece.ratio(prior)
    room, lost = 1 / ratio - prior, 4 * ULP / ratio
    epsilon = solve(
        absent=1 - p,
        other=max(0.0, p - prior),
        room=room if room > lost else 0.0,
        rise=(ratio - 1) / ratio,
        room_error=lost,
        absent_error=3 * ULP * p if edge.slope else 0.0,
        other_error=4 * ULP * p,
    )
    return Binding(p, edge.q(prior), ratio, float(epsilon))


def _stationary(edge: _Edge, piece: _Segment, above: float) -> Binding | None:
    """The smallest ε inside a piece, found by bisection from the safe side; None if none is below ``above``.

    For a given ε the left side of the condition minus 1/ratio is convex in the prior where 0 < fall < 1,
    so one stationary point decides whether that ε is safe everywhere on the piece.
    """
    if not 0 < piece.fall < 1 or piece.low == piece.high or _safe(edge, piece, above):
        return None
    low, high = 0.0, min(above, 700.0)
    while high - low > 1e-15 * (1 + high):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if _safe(edge, piece, middle) else (low, middle)
    prior = _lowest(edge, piece, math.exp(-low))
    return Binding(edge.p(prior), edge.q(prior), piece.ratio(prior), low)


def _safe(edge: _Edge, piece: _Segment, epsilon: float) -> bool:
    x = math.exp(-epsilon)
    prior = _lowest(edge, piece, x)
    p = edge.p(prior)
    return prior * (1 - x * x) + p * x * x + (1 - p) * x >= (1 + 16 * ULP) / piece.ratio(prior)


def _lowest(edge: _Edge, piece: _Segment, x: float) -> float:
    """Where the condition is tightest on the piece: its derivative in the prior vanishes there."""
    steepness = edge.steepness(x)
    if steepness <= 0:
        return piece.high
    # 1/ratio = prior^fall / scale, with ln(scale) = ln(at_anchor) + fall·ln(anchor)
    log_scale = math.log(piece.at_anchor) + piece.fall * math.log(piece.anchor)
    log_prior = (math.log(piece.fall / steepness) - log_scale) / (1 - piece.fall)
    return min(max(math.exp(min(log_prior, 0.0)), piece.low), piece.high)


def _log_quotient(above: float, below: float) -> float:
    quotient = above / below
    return math.log(quotient) if 0 < quotient < math.inf else math.log(above) - math.log(below)


def written(points: Any) -> tuple[tuple[float, float], ...]:
    """Pairs (prior, ratio), checked and in the order of the priors."""
    try:
        pairs = [tuple(point) for point in points]
    except TypeError:
        raise ParameterError("points", points, "is not a list of pairs", "give [(prior, ratio), …]") from None
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ParameterError("points", points, "is not a list of pairs", "give [(prior, ratio), …]")
    result = sorted((probability("prior", a, zero=False), at_least_one("ratio", b)) for a, b in pairs)
    for _, ratio in result:
        number("ratio", ratio)
    if any(high[0] <= low[0] * (1 + 1e-9) for low, high in pairwise(result)):
        raise ParameterError("points", points, "one prior has two ratios", "keep the smaller of the two")
    return tuple(result)
