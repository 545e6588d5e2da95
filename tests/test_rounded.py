"""What is printed for people lies on the safe side, at every magnitude, and no further away than its last digit."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from guessproof.ledger.amounts import shown
from guessproof.rounded import (
    BASES,
    HAIR,
    count_up,
    down,
    down_grouped,
    percent_down,
    percent_short,
    percent_up,
    round_digits,
    round_places,
    rounded_down,
    rounded_up,
    up,
    up_grouped,
)

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
DIGITS = st.integers(1, 12)
SHARES = st.floats(0, 1)


def exact(value: float) -> Decimal:
    """A float as it prints; every text that is read back is compared with this."""
    return Decimal(repr(value))


def unit(text: str, digits: int) -> Decimal:
    """One unit of the last of so many digits of a printed number."""
    return Decimal(1).scaleb(Decimal(text).adjusted() - digits + 1)


@given(NUMBERS, DIGITS)
@example(1.7976931348623157e308, 6)
@example(5e-324, 6)
@example(-1.7976931348623157e308, 3)
@example(999999.9999, 6)
@example(0.57, 2)
def test_down_is_never_above_and_nothing_is_forgiven(value: float, digits: int) -> None:
    text = down(value, digits)
    assert Decimal(text) <= exact(value)
    assert float(text) <= value
    assert exact(value) - Decimal(text) < unit(text, digits) or value == 0


@given(NUMBERS, DIGITS)
@example(1.7976931348623157e308, 6)
@example(5e-324, 6)
@example(999999.9999, 6)
@example(math.nextafter(1.5, 2), 6)
@example(1.5 * (1 + 2e-12), 6)
def test_up_is_never_below_but_for_a_hair(value: float, digits: int) -> None:
    text = up(value, digits)
    below = exact(value) - Decimal(text)
    assert below <= HAIR * abs(exact(value))
    assert -below < unit(text, digits) or value == 0


@given(NUMBERS, DIGITS)
def test_the_two_sides_mirror_each_other_but_for_the_hair(value: float, digits: int) -> None:
    mirrored = down(-value, digits)
    if abs(Decimal(up(value, digits)) - exact(value)) > HAIR * abs(exact(value)):
        assert Decimal(up(value, digits)) == -Decimal(mirrored)


@given(st.decimals(1, 10, places=5).filter(lambda d: d < 10), st.integers(-300, 300))
def test_what_is_short_is_printed_as_it_is(mantissa: Decimal, power: int) -> None:
    value = float(f"{mantissa}e{power}")
    assert float(up(value)) == float(down(value)) == value


@given(NUMBERS.filter(bool))
def test_words_look_like_ordinary_formatting(value: float) -> None:
    shape = re.compile(r"-?[0-9]+(\.[0-9]*[1-9])?(e-?[0-9]{2,3})?\Z")
    for text in (up(value), down(value)):
        assert shape.match(text), text
    if abs(value) < 1e308:
        assert Decimal(f"{value:.6g}") in (Decimal(up(value)), Decimal(down(value)))


@given(SHARES, st.integers(0, 4))
@example(0.1 + 0.2, 2)
@example(1e-300, 2)
def test_percentages_lie_on_their_side(share: float, places: int) -> None:
    low, high = (Decimal(text.removesuffix(" %")) for text in (percent_down(share, places), percent_up(share, places)))
    true, last = 100 * exact(share), Decimal(1).scaleb(-places)
    assert low <= true
    assert true - low <= last
    assert true - high <= HAIR * true
    assert high - true <= last


@given(NUMBERS, DIGITS)
def test_a_rounded_number_is_the_one_that_is_printed(value: float, digits: int) -> None:
    assert (rounded_up(value, digits), rounded_down(value, digits)) == (
        float(up(value, digits)),
        float(down(value, digits)),
    )


@given(NUMBERS, DIGITS)
def test_the_report_prints_the_same_numbers_in_its_own_spelling(value: float, digits: int) -> None:
    for side, ours in ((up_grouped, up), (down_grouped, down)):
        text = side(value, digits).replace(",", "").replace("−", "-")
        assert Decimal(text) == Decimal(ours(value, digits))


@given(SHARES)
def test_percentages_of_the_report_lie_on_their_side(share: float) -> None:
    true = 100 * exact(share)
    high, low = (Decimal(percent_short(share, side).removesuffix("\u202f%")) for side in ("up", "down"))
    assert low <= true * (1 + Decimal("1e-15"))
    assert true * (1 - 2 * HAIR) <= high
    assert high - low <= Decimal("0.01")


@given(SHARES, st.sampled_from(BASES))
def test_guesses_are_counted_up(share: float, base: int) -> None:
    counted = count_up(share, base)
    assert share * base * (1 - 1e-11) <= counted <= min(base, share * base + 1)


@given(st.decimals(Decimal("1e-12"), Decimal("1e12"), allow_nan=False).filter(bool))
def test_amounts_lie_on_their_side(amount: Decimal) -> None:
    near = abs(amount) * Decimal("5.1e-15")
    high, low = Decimal(shown(amount, up=True)), Decimal(shown(amount, up=False))
    assert low - near <= amount <= high + near
    assert high - low <= Decimal(1).scaleb(amount.adjusted() - 5)


@pytest.mark.parametrize(
    ("value", "high", "low"),
    [
        (0.70914759, "0.709148", "0.709147"),
        (1234567.0, "1234570", "1234560"),
        (1.234567e-5, "1.23457e-05", "1.23456e-05"),
        (0.0, "0", "0"),
        (-0.0, "0", "0"),
        (math.inf, "no limit", "no limit"),
        (999999.5, "1000000", "999999"),
        (0.05000000000000001, "0.05", "0.05"),
        (0.04999999999999999, "0.05", "0.0499999"),
        (-0.70914759, "-0.709147", "-0.709148"),
    ],
)
def test_numbers_as_they_are_printed(value: float, high: str, low: str) -> None:
    assert (up(value), down(value)) == (high, low)


def test_a_hair_is_as_wide_as_it_says() -> None:
    assert up(1.5 * (1 + 0.9e-12)) == "1.5"
    assert up(1.5 * (1 + 1.1e-12)) == "1.50001"
    assert round_digits(1.4999999999999, 2, "down", HAIR) == Decimal("1.5")
    assert round_places(2.0000000000001, 0, "up") == 2
    assert round_places(2.00000000001, 0, "up") == 3
