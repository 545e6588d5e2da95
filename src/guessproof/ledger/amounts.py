"""Amounts that add up exactly: what a release costs, what a budget allows, what is left.

Amounts are decimals, and sums of them are never rounded.

- What was **typed** ("0.1", a Decimal, an int) is that decimal. Ten costs of "0.1" fill a budget of "1.0".
- A **cost** given as a float is the float's exact value, rounded up to 17 digits: 0.1 is
  0.1000000000000000055… and costs 0.10000000000000001. A quotient (a Fraction) is exact where it ends within
  17 digits and is rounded up otherwise, so ``Cost(Fraction(1) / Fraction(10.0))`` is the decimal 0.1.
- A **budget** given as a float is the decimal that Python prints for it, which is what its owner typed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    Overflow,
)
from fractions import Fraction
from typing import Any

from guessproof.errors import ParameterError
from guessproof.rounded import DIGITS, round_digits

Amount = float | int | str | Decimal | Fraction

ZERO = Decimal(0)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_EXACT = Context(prec=2000, traps=[Inexact, Overflow, InvalidOperation, DivisionByZero])  # raises instead of rounding
CRUMB = 1000  # less than one part in so many is no budget that anything could be asked for
_TYPED = Decimal("5e-15")  # what a float may be off from the decimal that was typed
_SMALLEST, _LARGEST = Decimal("1e-300"), Decimal("1e12")


@dataclass(frozen=True, init=False)
class Cost:
    """What one release costs.

    >>> Cost("0.1").epsilon, Cost(0.1).epsilon, Cost(0.5).epsilon
    (Decimal('0.1'), Decimal('0.10000000000000001'), Decimal('0.5'))
    """

    epsilon: Decimal
    delta: Decimal

    def __init__(self, epsilon: Amount, delta: Amount = 0) -> None:
        object.__setattr__(self, "epsilon", _positive("cost.epsilon", epsilon, ROUND_CEILING))
        object.__setattr__(self, "delta", _probability("cost.delta", delta, ROUND_CEILING, zero=True))

    def to_dict(self) -> dict[str, Any]:
        """As the ledger writes it."""
        return {"epsilon": str(self.epsilon), "delta": str(self.delta)}


@dataclass(frozen=True, init=False)
class Budget:
    """What all releases of one name may cost together, set once. No δ means that none is allowed.

    ``advantage`` limits the attacker's cumulative advantage over all releases.

    >>> Budget("1.0", advantage=0.05)
    Budget(epsilon=Decimal('1.0'), delta=Decimal('0'), advantage=Decimal('0.05'))
    """

    epsilon: Decimal
    delta: Decimal
    advantage: Decimal | None

    def __init__(self, epsilon: Amount, delta: Amount = 0, advantage: Amount | None = None) -> None:
        object.__setattr__(self, "epsilon", _positive("budget.epsilon", epsilon, ROUND_FLOOR))
        object.__setattr__(self, "delta", _probability("budget.delta", delta, ROUND_FLOOR, zero=True))
        limit = None if advantage is None else _probability("budget.advantage", advantage, ROUND_FLOOR, zero=False)
        object.__setattr__(self, "advantage", limit)

    def to_dict(self) -> dict[str, Any]:
        """As the ledger writes it."""
        limit = None if self.advantage is None else str(self.advantage)
        return {"epsilon": str(self.epsilon), "delta": str(self.delta), "advantage": limit}


@dataclass(frozen=True)
class Left:
    """What is left of a budget, exactly; zero when it is spent. ``advantage`` is None where it is not limited."""

    epsilon: Decimal
    delta: Decimal
    advantage: Decimal | None

    def to_dict(self) -> dict[str, Any]:
        """As floats, none above what is left."""
        limit = None if self.advantage is None else float_below(self.advantage)
        return {"epsilon": float_below(self.epsilon), "delta": float_below(self.delta), "advantage": limit}


def plus(a: Decimal, b: Decimal) -> Decimal:
    """The exact sum.

    >>> plus(Decimal("1e-300"), Decimal("0.1")) > Decimal("0.1")
    True
    """
    return _EXACT.add(a, b)


def minus(a: Decimal, b: Decimal) -> Decimal:
    """The exact difference."""
    return _EXACT.subtract(a, b)


def float_below(amount: Decimal) -> float:
    """The largest float that is not above the amount.

    >>> float_below(Decimal("0.1"))
    0.09999999999999999
    """
    near = float(amount)
    return math.nextafter(near, -math.inf) if Decimal(near) > amount else near


def advantage_of(value: Any) -> Decimal:
    """A judge's number, read as it prints: it is compared with a limit, never summed."""
    if isinstance(value, float | int) and not isinstance(value, bool) and 0 <= value <= 1:
        return Decimal(repr(float(value)))
    raise ParameterError(
        "judge", value, "the attacker's cumulative advantage is no probability", "return a number from 0 to 1"
    )


def shown(amount: Decimal, *, up: bool) -> str:
    """For people: as typed where that is short, else six digits, rounded to the private side.

    >>> shown(Decimal("0.10000000000000001"), up=True), shown(Decimal("0.12345678"), up=False)
    ('0.1', '0.123456')
    >>> shown(Decimal(10**9), up=True), typed(Decimal(10**9))
    ('1000000000', '1000000000')
    """
    return _spell(round_digits(amount, DIGITS, "up" if up else "down", _TYPED))


def rest_of(amount: Decimal, budget: Decimal) -> str:
    """What is left of a budget, for people; a crumb, as rounding leaves it behind, is called so.

    >>> rest_of(Decimal("0.5"), Decimal(2)), rest_of(Decimal("4.78e-7"), Decimal(1)), rest_of(Decimal(0), Decimal(1))
    ('0.5', 'hardly anything', 'nothing')
    """
    if amount <= 0:
        return "nothing"
    return "hardly anything" if amount * CRUMB < budget else shown(amount, up=False)


def typed(amount: Decimal) -> str:
    """A few digits to type in as a budget: never below the amount, and no hair of it is forgiven.

    >>> typed(Decimal("0.10000000000000001")), typed(Decimal("2.5")), typed(Decimal("1.23456789e-7"))
    ('0.100001', '2.5', '1.23457e-7')
    """
    return _spell(round_digits(amount, DIGITS, "up", ZERO))


def _spell(amount: Decimal) -> str:
    """In full, unless it is very small."""
    short = amount.normalize()
    return f"{short:f}" if short.adjusted() > -7 else str(short).replace("E", "e")


def _positive(field: str, value: Any, rounding: str) -> Decimal:
    amount = _decimal(field, value, rounding)
    if amount <= 0:
        raise ParameterError(field, value, "it is not positive", "use a positive number, as 1.0")
    if not _SMALLEST <= amount <= _LARGEST:
        raise ParameterError(field, value, "it is out of range", f"use a number from {_SMALLEST} to {_LARGEST}")
    return amount


def _probability(field: str, value: Any, rounding: str, *, zero: bool) -> Decimal:
    amount = _decimal(field, value, rounding)
    if amount == 0 and zero:
        return ZERO
    if not _SMALLEST <= amount < 1:
        span = "0 or a number between 0 and 1" if zero else "a number between 0 and 1"
        raise ParameterError(field, value, "it is out of range", f"use {span}")
    return amount


def _decimal(field: str, value: Any, rounding: str) -> Decimal:
    """The value as a decimal: exact where it was typed, to the private side where it was computed."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return Context(prec=40, rounding=rounding).plus(Decimal(value))
    if isinstance(value, Decimal) and value.is_finite():
        return Context(prec=40, rounding=rounding).plus(value)
    if isinstance(value, float) and math.isfinite(value):
        exact = Decimal(float(value)) if rounding == ROUND_CEILING else Decimal(repr(float(value)))
        return Context(prec=17, rounding=rounding).plus(exact)
    if isinstance(value, int | Fraction) and not isinstance(value, bool) and abs(value) <= _LARGEST * 2:
        return Context(prec=17, rounding=rounding).divide(Decimal(value.numerator), Decimal(value.denominator))
    raise ParameterError(field, value, "it is not a finite number", "write a number, as 1.0 or 1e-6")
