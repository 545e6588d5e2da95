"""How large a noisy count must be for its group to be shown, so that a group of one unit's own hardly ever is.

Two neighbouring tables T and T′ have groups in common, groups A that only T has and groups B that only T′ has: in these
nobody is but the unit that differs. A group is shown with probability p = P(n + Z ≥ t), n being what the unit adds to
its count and Z the noise. Whatever is seen on T is seen on T′ as well, unless a group of A is shown, or

    P(S | T)  ≤  Σ_A p  +  e^(ε_C) · P(S | T′) / Π_B (1 − p),

where ε_C is what the groups in common tell. They move by that much less than all groups may: ε_C ≤ ε − Σ_B n/s.
So where 1 − p ≥ e^(−n/s) in every group of B, the release is (ε, δ)-private with δ = Σ_A p; where that is not known
(what a unit adds may be scaled down to nothing), with twice that. Z is a whole number of grid steps, as it is drawn:

    P(Z = k) ∝ e^(−|k|/s)        P(Z ≥ k) = e^(−k/s) / (1 + e^(−1/s))  for k ≥ 1.

All of it is computed in decimals of 60 digits and rounded up: the threshold that comes out is proven.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

UP, DOWN = Context(prec=60, rounding=ROUND_CEILING), Context(prec=60, rounding=ROUND_FLOOR)
# Far more than what rounding an exponential to 60 digits can do.
LARGER, SMALLER = UP.add(Decimal(1), Decimal("1e-50")), DOWN.subtract(Decimal(1), Decimal("1e-50"))


@dataclass(frozen=True)
class Reach:
    """What one unit adds to the counts of groups that it has to itself, in grid steps.

    `cell`: to one of them at most; `whole`: to all `groups` of them together; `smallest`: to each at least.
    """

    cell: int
    whole: int
    groups: int
    smallest: int = 0

    @property
    def shares(self) -> tuple[tuple[int, int], ...]:
        """(steps, groups): the worst way to spread a unit. The tail is convex, so it is one of the corners."""
        full = min(self.whole // self.cell, self.groups)
        rest = self.groups - full
        last = self.whole - full * self.cell
        parts = [(self.cell, full), *([(last, 1), (0, rest - 1)] if rest else [])]
        return tuple((steps, groups) for steps, groups in parts if groups)


def tail(scale: Fraction, least: int) -> Decimal:
    """P(Z ≥ least), at most: for whole noise with P(Z = k) ∝ e^(−|k|/scale).

    >>> tail(Fraction(1), 0)
    Decimal('1')
    >>> round(tail(Fraction(2), 1), 6)
    Decimal('0.377541')
    """
    if least <= 0:
        return Decimal(1)
    far = DOWN.divide(Decimal(least * scale.denominator), Decimal(scale.numerator))
    near = UP.divide(Decimal(scale.denominator), Decimal(scale.numerator))
    above = UP.multiply(DOWN.exp(-far), LARGER)
    below = DOWN.multiply(UP.exp(-near), SMALLER)
    return min(UP.divide(above, DOWN.add(Decimal(1), below)), Decimal(1))


def leak(scale: Fraction, threshold: int, reach: Reach) -> Decimal:
    """The δ of a threshold, at most."""
    parts = (UP.multiply(Decimal(groups), tail(scale, threshold - steps)) for steps, groups in reach.shares)
    total = Decimal(0)
    for part in parts:
        total = UP.add(total, part)
    # 1 − e^(−n/s) − p(n) is concave in n: where it is positive for the smallest and the largest, it is in between.
    pays = reach.smallest > 0 and all(_pays(scale, threshold, steps) for steps in (reach.smallest, reach.cell))
    return total if pays else UP.multiply(Decimal(2), total)


def _pays(scale: Fraction, threshold: int, steps: int) -> bool:
    """Whether a group that is entered tells no more than the noise allows for what is added to it."""
    allowed = UP.multiply(UP.exp(-DOWN.divide(Decimal(steps * scale.denominator), Decimal(scale.numerator))), LARGER)
    return UP.add(allowed, tail(scale, threshold - steps)) <= 1


def least_threshold(scale: Fraction, reach: Reach, delta: float) -> int:
    """The least threshold, in grid steps, that costs δ at most.

    >>> least_threshold(Fraction(2), Reach(1, 1, 1, 1), 1e-6)
    28
    """
    allowed = Decimal(delta)
    return _first(reach.cell, lambda t: leak(scale, t, reach) <= allowed)


def least_tail(scale: Fraction, chance: float) -> int:
    """The least k with P(Z ≥ k) ≤ chance, at most."""
    allowed = Decimal(chance)
    return _first(0, lambda k: tail(scale, k) <= allowed)


def _first(low: int, good: Callable[[int], bool]) -> int:
    """The first whole number above `low` from which on the question is answered with yes."""
    step = 1
    while not good(low + step):
        step *= 2
    high, low = low + step, low + step // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high
