"""A risk profile for a query whose distances are known: two values of a record may be nearer than twice its presence.

The generic three-point world puts two values of a present record 2ε apart and each of them ε from absence. A query
that moves by `change` when a record changes and by `presence` when it comes or goes has the risk
1/(pq + p(1−q)·e^{−change·ε} + (1−p)·e^{−presence·ε}) instead, by the same argument ([KR] (5), theory §9).
"""

from __future__ import annotations

import math

from guessproof.risk.profile.answer import Shape
from guessproof.risk.profile.risk_profile import RiskProfile
from guessproof.risk.profile.shapes import Box, FixedInclusion, FixedValue, Stricter

_LARGEST = 1e6


def aware_epsilon(profile: RiskProfile, change: float, presence: float) -> float | None:
    """The largest ε that keeps a profile at these distances per unit of ε; None for profiles given as points or code.

    >>> round(aware_epsilon(RiskProfile.constant(3), change=2.0, presence=1.0), 6)  # the generic world: ½ ln 3
    0.549306
    >>> round(aware_epsilon(RiskProfile.constant(3), change=1.0, presence=1.0), 6)  # a count: ln 3
    1.098612
    """
    corners = _corners(profile.shape)
    if corners is None:
        return None
    return min(_largest(p, q, ratio, change, presence) for p, q, ratio in corners)


def _corners(shape: Shape) -> list[tuple[float, float, float]] | None:
    """The priors at which a profile can bind, with the ratio allowed there, whatever the two distances are.

    With X, Y the two shrunken likelihoods, safe means pq + p(1−q)X + (1−p)Y ≥ 1/r*. For a constant r* the left side is
    bilinear: corners. Where r* = ã/pq it reads p(1−q)X + (1−p)Y ≥ pq(1/ã − 1), which is hardest for the largest q, and
    linear in p with room at p = 0: so where the two limits meet, and for a fixed q at p = 1 as well.
    """
    if isinstance(shape, Stricter):
        parts = [_corners(part) for part in shape.parts]
        return None if None in parts else [corner for part in parts for corner in part or []]
    if isinstance(shape, Box):
        return [(p, q, shape.relative) for p in shape.p for q in shape.q]
    if not isinstance(shape, (FixedInclusion, FixedValue)):
        return None
    absolute, relative = shape.absolute or 0.0, shape.relative or 1.0
    meeting = min(1.0, absolute / relative / shape.at)
    ratio = max(relative, absolute / (shape.at * meeting)) if meeting else relative
    if isinstance(shape, FixedInclusion):
        return [(shape.at, meeting, ratio)]
    return [(meeting, shape.at, ratio), (1.0, shape.at, max(relative, absolute / shape.at))]


def _largest(p: float, q: float, ratio: float, change: float, presence: float) -> float:
    """The largest ε that is safe at one pair of priors, by bisection from the safe side; ∞ where nothing binds."""
    room = 1 / ratio - p * q

    def safe(epsilon: float) -> bool:
        left = p * (1 - q) * math.exp(-change * epsilon) + (1 - p) * math.exp(-presence * epsilon)
        return left >= room + 1e-15  # rounding counts as risk

    if room <= 0 or safe(_LARGEST):
        return math.inf
    low, high = 0.0, _LARGEST
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if safe(middle) else (low, middle)
    return low
