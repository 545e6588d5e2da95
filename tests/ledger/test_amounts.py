"""Amounts are exact decimals; what was computed is rounded to the private side, what was typed is not rounded."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guessproof.errors import ParameterError
from guessproof.ledger import Budget, Cost
from guessproof.ledger.amounts import advantage_of, float_below, minus, plus, shown

positive = st.floats(min_value=1e-290, max_value=1e12, allow_subnormal=False)


@given(positive)
def test_a_float_cost_is_never_below_the_float(value: float) -> None:
    cost = Fraction(Cost(value).epsilon)
    assert Fraction(value) <= cost <= Fraction(value) * (1 + Fraction(2, 10**16))


@given(positive)
def test_a_float_budget_is_the_decimal_that_python_prints(value: float) -> None:
    assert Budget(value).epsilon == Decimal(repr(value))


@given(st.decimals(min_value="1e-20", max_value="1e12", allow_nan=False, places=20))
def test_what_was_typed_is_kept(value: Decimal) -> None:
    assert Cost(str(value)).epsilon == value == Budget(str(value)).epsilon
    assert Cost(value).epsilon == value == Budget(value).epsilon


@given(st.fractions(min_value=Fraction(1, 10**20), max_value=10**6))
def test_a_quotient_is_rounded_up_or_exact(value: Fraction) -> None:
    cost = Fraction(Cost(value).epsilon)
    assert value <= cost <= value * (1 + Fraction(1, 10**16))


def test_a_tenth_as_text_as_a_float_and_as_a_quotient() -> None:
    assert Cost("0.1").epsilon == Decimal("0.1")
    assert Cost(0.1).epsilon == Decimal("0.10000000000000001")
    assert Cost(Fraction(1) / Fraction(10.0)).epsilon == Decimal("0.1")
    assert Cost(np.float64(0.1)).epsilon == Decimal("0.10000000000000001")
    assert Cost("1" + "0" * 5 + "." + "1" * 60).epsilon > Decimal("100000." + "1" * 60)  # 40 digits, upwards
    assert Budget("1" + "0" * 5 + "." + "1" * 60).epsilon < Decimal("100000." + "1" * 60)  # downwards


BAD = [0, 0.0, "0", -1, -0.5, "-1", math.nan, math.inf, -math.inf, "nan", "inf", "", "1,5", "١", "1_0", " 1", "one"]


@pytest.mark.parametrize("value", [*BAD, None, True, [1], b"1", 1e300, "1e999", 10**400, Decimal("NaN"), "1e-301"])
@pytest.mark.parametrize("kind", [Cost, Budget])
def test_amounts_that_cannot_be_meant_are_refused(kind: Any, value: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        kind(value)


@pytest.mark.parametrize("value", [-1e-9, 1, 1.0, 2, math.nan, math.inf, "x", True])
def test_deltas_and_advantages_are_probabilities(value: Any) -> None:
    for make in (lambda: Cost(1, value), lambda: Budget(1, value), lambda: Budget(1, 0, value)):
        with pytest.raises(ParameterError):
            make()
    with pytest.raises(ParameterError, match="advantage"):
        Budget(1, 0, 0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.1, 1.1, "0.1", None, True])
def test_a_judge_gives_a_probability(value: Any) -> None:
    with pytest.raises(ParameterError, match="judge"):
        advantage_of(value)


@given(st.lists(positive, max_size=30))
def test_sums_are_never_rounded(values: list[float]) -> None:
    total = Decimal(0)
    for value in values:
        total = plus(total, Cost(value).epsilon)
    assert Fraction(total) == sum((Fraction(Cost(v).epsilon) for v in values), Fraction(0))
    assert minus(total, total) == 0


@given(positive)
def test_shown_and_floats_lie_on_the_private_side(value: float) -> None:
    amount = Cost(value).epsilon
    assert Decimal(float_below(amount)) <= amount < Decimal(math.nextafter(float_below(amount), math.inf))
    slack = amount * Decimal("1e-15")
    assert amount - slack <= Decimal(shown(amount, up=True)) <= amount * Decimal("1.00001")
    assert amount * Decimal("0.99999") <= Decimal(shown(amount, up=False)) <= amount + slack
