"""The worst posterior under |ψ(x) − ψ(x')| where ψ bends and jumps, in as many digits as it takes.

Only jumps: the values fall into classes on a chain, and ln L either rises or falls by all that it may from one class to
the next, so every such zigzag is tried. With slopes and one interval the worst likelihood is a tent e^{∓|ψ(x)−h|}; its
height h need not be a value of ψ, and every stretch of heights between two bends is searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from mpmath import mp, mpf

from reference import tent

Interval = tuple[float, float]
_INFINITY = mpf("inf")


@dataclass(frozen=True)
class Form:
    """ψ with slopes[j] up to cuts[j], a jump just above each cut, and slopes[-1] beyond the last."""

    cuts: Sequence[float]
    slopes: Sequence[float]
    jumps: Sequence[float]

    def parts(self) -> list[tuple[mpf, mpf, mpf, mpf, mpf]]:
        """(from, to, slope, a point, ψ there) of each stretch, ψ being 0 just below the first cut."""
        ends = [-_INFINITY, *(mpf(c) for c in self.cuts), _INFINITY]
        if not self.cuts:
            return [(ends[0], ends[-1], mpf(self.slopes[0]), mpf(0), mpf(0))]
        found, height = [], mpf(0)
        for j, slope in enumerate(self.slopes):
            at = ends[1] if j == 0 else ends[j]
            if j > 0:
                height += mpf(self.jumps[j - 1])
            found.append((ends[j], ends[j + 1], mpf(slope), at, height))
            if 0 < j < len(self.slopes) - 1:
                height += mpf(slope) * (ends[j + 1] - ends[j])
        return found


def by_classes(
    prior: tent.Continuous, form: Form, intervals: Sequence[Interval], epsilon: float, side: str, digits: int = 40
) -> tuple[mpf, mpf]:
    """(P(goal), worst P(goal)) where ψ only jumps: all zigzags between neighbouring classes."""
    assert not any(form.slopes)
    with mp.workdps(digits):
        masses = [_shares(prior, low, high, intervals) for low, high, *_ in form.parts()]
        steps = [mpf(epsilon) * mpf(j) for j in form.jumps]
        posteriors = []
        for signs in product((1, -1), repeat=len(steps)):
            height, total, met = mpf(0), masses[0][1], masses[0][0]
            for sign, step, (inside, mass) in zip(signs, steps, masses[1:], strict=True):
                height += sign * step
                met, total = met + inside * mp.exp(height), total + mass * mp.exp(height)
            posteriors.append(met / total)
        before = mp.fsum(inside for inside, _ in masses) / mp.fsum(mass for _, mass in masses)
        return before, max(posteriors) if side == "upper" else min(posteriors)


def _shares(prior: tent.Continuous, low: mpf, high: mpf, intervals: Sequence[Interval]) -> tuple[mpf, mpf]:
    inside = mp.fsum(prior.tilted(mpf(0), max(low, mpf(a)), min(high, mpf(b))) for a, b in intervals)
    return inside, prior.tilted(mpf(0), low, high)


def by_tents(
    prior: tent.Continuous, form: Form, goal: Interval, epsilon: float, side: str, digits: int = 30
) -> tuple[mpf, mpf]:
    """(P(goal), worst P(goal)) for one interval, over the heights of all tents."""
    with mp.workdps(digits):
        pieces = _pieces(prior, form, goal)
        slope = mpf(-epsilon if side == "upper" else epsilon)

        def belief(height: mpf) -> mpf:
            weights = [(inside, _weigh(prior, slope, height, *rest)) for inside, *rest in pieces]
            total = mp.fsum(w for _, w in weights)
            return mpf(0) if mp.isinf(total) else mp.fsum(w for inside, w in weights if inside) / total

        met = [p for p in pieces if p[0]]
        heights = sorted({_psi(p, p[1]) for p in met} | {_psi(p, p[2]) for p in met})
        sign = 1 if side == "upper" else -1
        best = tent._maximum(lambda h: sign * belief(h), heights, refine=len(heights) > 1)
        before = mp.fsum(prior.tilted(mpf(0), a, b) for inside, a, b, *_ in met if inside)
        return before, sign * best


def _pieces(prior: tent.Continuous, form: Form, goal: Interval) -> list[tuple[bool, mpf, mpf, mpf, mpf, mpf]]:
    """The support cut at the goal's ends and where ψ bends: in the goal, from, to, slope, a point, ψ there."""
    low, high = prior.support()
    found = []
    for start, end, slope, at, height in form.parts():
        a, b = max(start, low), min(end, high)
        cuts = [a, *sorted(mpf(e) for e in goal if a < e < b), b]
        found += [
            (mpf(goal[0]) <= left and right <= mpf(goal[1]), left, right, slope, at, height)
            for left, right in pairwise(cuts)
            if left < right
        ]
    return found


def _psi(piece: tuple[bool, mpf, mpf, mpf, mpf, mpf], x: mpf) -> mpf:
    _, _, _, slope, at, height = piece
    return height + (slope * (x - at) if slope else 0)


def _weigh(prior: tent.Continuous, k: mpf, peak: mpf, low: mpf, high: mpf, slope: mpf, at: mpf, height: mpf) -> mpf:
    """∫ e^{k|ψ(x) − peak|} dF over one piece."""
    if slope == 0:
        return mp.exp(k * abs(height - peak)) * prior.tilted(mpf(0), low, high)
    turn = min(max(at + (peak - height) / slope, low), high)
    below = mp.exp(k * (peak - height + slope * at)) * prior.tilted(-k * slope, low, turn)
    above = mp.exp(-k * (peak - height + slope * at)) * prior.tilted(k * slope, turn, high)
    return (below if low < turn else 0) + (above if turn < high else 0)
