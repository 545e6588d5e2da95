"""The worst posterior of an interval when the guarantee is ε·min(|x − x'|, cap), in many digits.

The worst likelihood is flat on top between two places of the goal, falls (rises, for the lowest posterior)
with slope ε on both sides, and stays at e^{∓ε·cap} from there on. Every pair of places is tried, then ever
finer around the best.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from mpmath import mp, mpf

from reference.tent import GUARD_DIGITS, Number, Prior

INFINITE = mpf("inf")
STEPS = 12


def posterior(
    prior: Prior,
    low: Number,
    high: Number,
    epsilon: Number,
    cap: Number,
    side: str = "upper",
    digits: int = 20,
) -> mpf:
    sign = 1 if side == "upper" else -1
    with mp.workdps(digits + GUARD_DIGITS):
        left, right = max(mpf(low), prior.support()[0]), min(mpf(high), prior.support()[1])

        def signed(middle: mpf, share: mpf) -> mpf:
            half = share * min(middle - left, right - middle)
            shape = (middle, half, half + mpf(cap), -sign * mpf(epsilon))
            return sign * _weigh(prior, shape, mpf(low), mpf(high)) / _weigh(prior, shape, -INFINITE, INFINITE)

        return sign * _zoom(signed, (left, right), (mpf(0), mpf(1)))


def _weigh(prior: Prior, shape: tuple[mpf, mpf, mpf, mpf], low: mpf, high: mpf) -> mpf:
    """∫ of the likelihood over [low, high]: top, the two slopes, and the two levels far away."""
    middle, inner, outer, slope = shape
    far = mp.exp(slope * (outer - inner))

    def mass(rate: mpf, a: mpf, b: mpf) -> mpf:
        return prior.weigh(rate, middle, max(a, low), min(b, high)) if max(a, low) < min(b, high) else mpf(0)

    top = mass(mpf(0), middle - inner, middle + inner)
    sides = mass(slope, middle - outer, middle - inner) + mass(slope, middle + inner, middle + outer)
    ends = mass(mpf(0), -INFINITE, middle - outer) + mass(mpf(0), middle + outer, INFINITE)
    return top + mp.exp(-slope * inner) * sides + far * ends


def _zoom(value: Callable[[mpf, mpf], mpf], first: tuple[mpf, mpf], second: tuple[mpf, mpf]) -> mpf:
    """The maximum of a function of two variables, by a grid that shrinks around its best point."""
    boxes, steps, best = (first, second), STEPS, None
    for _ in range(int(1.3 * mp.dps)):
        tried = {(x, y): value(x, y) for x, y in product(*(_spread(box, steps) for box in boxes))}
        place = max(tried, key=tried.__getitem__)
        best = tried[place] if best is None else max(best, tried[place])
        boxes = tuple(_around(x, box, steps, end) for x, box, end in zip(place, boxes, (first, second), strict=True))
        steps = 4
    return best


def _spread(box: tuple[mpf, mpf], steps: int) -> list[mpf]:
    return [box[0] + (box[1] - box[0]) * k / steps for k in range(steps + 1)]


def _around(x: mpf, box: tuple[mpf, mpf], steps: int, ends: tuple[mpf, mpf]) -> tuple[mpf, mpf]:
    reach = (box[1] - box[0]) / steps * mpf("1.2")
    return max(x - reach, ends[0]), min(x + reach, ends[1])
