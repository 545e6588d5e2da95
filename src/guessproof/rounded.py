"""Numbers for people, rounded to the safe side: the one place where digits are cut off.

What is printed is copied, compared and typed in again, so it must hold as it stands there:

- **up** is for what an attacker gains, an error, a need or a cost: never below the number. A hair of floating point, a
  part in 10¹², is forgiven: a risk of 0.05 that was computed as 0.05000000000000001 is not shown as 0.0500001.
- **down** is for what is allowed or left: never above the number, and nothing is forgiven, for an ε that is typed in
  again must still fit.
- **near** is for what has no safe side.

Neither is further away than one unit of the last digit that is printed.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Literal

Side = Literal["up", "down", "near"]
DIGITS = 6
LONGEST = 15  # digits before the point that people still read: 5290, not 5.29e+03
NO_LIMIT = "no limit"  # an infinite number, for people
THIN = "\u202f"  # a narrow space that does not break
HAIR = Decimal("1e-12")
BASES = (100, 1000, 10_000, 100_000, 1_000_000)  # of how many guesses people speak
_TOWARDS = {"up": ROUND_CEILING, "down": ROUND_FLOOR, "near": ROUND_HALF_EVEN}
_EXACT = Context(prec=2000, Emin=-10_000, Emax=10_000)


def up(value: float | None, digits: int = DIGITS) -> str:
    """A few digits, never below the number.

    >>> up(0.01793081), up(1.5000000000000002), up(-0.01793081), up(None)
    ('0.0179309', '1.5', '-0.0179308', '')
    """
    return "" if value is None else _spell(value, digits, "up")


def misjudged_words(factor: float) -> str:
    """What a promise keeps of itself if the prior is wrong by up to a factor.

    >>> misjudged_words(1.5)
    'the promise holds even if the odds of any two values are misjudged by up to ×1.5'
    """
    if math.isinf(factor):
        return "the promise holds however wrong the prior is"
    if factor <= 1:
        return "if the assumed prior is wrong, this promise may fail: it is proven for the declared prior only"
    return f"the promise holds even if the odds of any two values are misjudged by up to ×{down(factor, 4)}"


def down(value: float | None, digits: int = DIGITS) -> str:
    """A few digits, never above the number.

    >>> down(0.70914759), down(0.57), down(float("inf")), down(None)
    ('0.709147', '0.57', 'no limit', '')
    """
    return "" if value is None else _spell(value, digits, "down")


def near(value: float, digits: int = 4) -> str:
    """A few digits with separators, to the nearest: what has no safe side.

    >>> near(0.12345), near(1234567), near(-2.0), near(3e9), near(2.5e16)
    ('0.1234', '1,235,000', '−2', '3,000,000,000', '2.5e16')
    """
    return _group(value, digits, "near")


def up_grouped(value: float, digits: int = 4) -> str:
    """Digits for reading only, with separators, never below the number.

    >>> up_grouped(0.71891), up_grouped(2959.1), up_grouped(5.000000000001)
    ('0.719', '2,960', '5')
    """
    return _group(value, digits, "up")


def down_grouped(value: float, digits: int = 4) -> str:
    """Digits for reading only, with separators, never above the number.

    >>> down_grouped(0.71899), down_grouped(math.inf)
    ('0.7189', 'no limit')
    """
    return _group(value, digits, "down")


def spelled(value: float) -> str:
    """All digits of a number, written out where it is not very large or small.

    >>> spelled(5290.0), spelled(0.05), spelled(3e-9)
    ('5290', '0.05', '3e-09')
    """
    return _spell(value, 15, "near")


def rounded_up(value: float, digits: int = DIGITS) -> float:
    """The number that `up` prints.

    >>> rounded_up(1.9971548), rounded_up(2959.1, 3)
    (1.99716, 2960.0)
    """
    return float(round_digits(value, digits, "up")) if math.isfinite(value) else value


def rounded_down(value: float, digits: int = DIGITS) -> float:
    """The number that `down` prints.

    >>> rounded_down(1.9971548)
    1.99715
    """
    return float(round_digits(value, digits, "down")) if math.isfinite(value) else value


def margin(error: float, digits: int = 4) -> str:
    """An error as it stands behind a number: a few digits, never below it, and written out.

    >>> margin(1556.03), margin(0.138712), margin(1234567.8), margin(2e-9)
    ('± 1,557', '± 0.1388', '± 1,235,000', '± 2e-09')
    """
    if not math.isfinite(error) or not 1e-5 <= error < 1e15:
        return f"± {up(error, digits)}"
    return f"± {round_digits(error, digits, 'up').normalize(_EXACT):,f}"


def within_bounds(value: float, low: float, high: float, digits: int = DIGITS) -> str:
    """A few digits of a number, and more where these would leave the bounds that it keeps.

    >>> within_bounds(1.9971548, 1.9971548, 5.0), within_bounds(0.7091475, 0.0, 0.7091475)
    ('1.99716', '0.709147')
    """
    if math.isinf(value):
        return NO_LIMIT
    for count in range(digits, 18):
        for shown in (_spell(value, count, "down"), _spell(value, count, "up")):
            if low <= float(shown) <= high:
                return shown
    return repr(value)


def beside_error(value: float, error: float | None) -> str:
    """A number with the digits that its error leaves it, in full: nobody reads 2.00001e+06 ± 26.

    >>> beside_error(2000010.37, 26.0), beside_error(20.151712, 1.5), beside_error(0.001234567, None)
    ('2,000,010', '20.15', '0.00123457')
    >>> beside_error(24.0, 1.0), beside_error(-0.0, 323.0), beside_error(-0.4, 323.0)
    ('24', '0', '0')
    >>> beside_error(-1.01533e16, 3e16)
    '-1.01533e16'
    """
    shown = _beside_error(value, error)
    return shown.removeprefix("-") if not shown.strip("-0.,") else shown


def _beside_error(value: float, error: float | None) -> str:
    if not math.isfinite(value):
        return f"{value:g}"
    if abs(value) >= 1e15:
        return _spell(value, DIGITS, "near")
    if error is None or not 0 < error < math.inf:
        return f"{value:,.0f}" if value == int(value) else f"{value:,.6g}" if abs(value) < 1e5 else f"{value:,.2f}"
    if value == int(value) and error == int(error):  # a count with whole noise
        return f"{value:,.0f}"
    places = max(0, 2 - math.floor(math.log10(error)) - 1 * (error >= 10))
    return f"{value:,.{min(places, 15)}f}"


def percent_short(share: float, side: Side = "up") -> str:
    """A share in percent with at most two decimals and a thin space; a risk is rounded up.

    >>> percent_short(0.0064121), percent_short(1.0), percent_short(0.95, "near"), percent_short(1e-6)
    ('0.65\\u202f%', '100\\u202f%', '95\\u202f%', '0.0001\\u202f%')
    """
    if 0 < share < 1e-3:
        return f"{_group(100 * share, 2, side)}{THIN}%"
    return f"{round_places(100 * share, 2, side).normalize():f}{THIN}%"


def percent_up(share: float, places: int = 2) -> str:
    """A share in percent with so many decimals, never below it.

    >>> percent_up(0.0064121), percent_up(0.1 + 0.2), percent_up(0.25, 0)
    ('0.65 %', '30.00 %', '25 %')
    """
    return f"{round_places(100 * _decimal(share), places, 'up'):f} %"


def percent_down(share: float, places: int = 2) -> str:
    """A share in percent with so many decimals, never above it.

    >>> percent_down(0.0064199)
    '0.64 %'
    """
    return f"{round_places(100 * _decimal(share), places, 'down'):f} %"


def percent_near(share: float) -> str:
    """A share in percent to the nearest, written out: what has no safe side.

    >>> percent_near(0.24987), percent_near(1.0), percent_near(0.00004), percent_near(0.0)
    ('25.0 %', '100.0 %', '0.004 %', '0 %')
    """
    if share >= 0.001 or share <= 0:
        return f"{100 * share:.1f} %" if share else "0 %"
    return f"{round_digits(100 * _decimal(share), 2, 'near').normalize():f} %"


def percents(attack: float, bound: float) -> tuple[str, str]:
    """The best attack and the bound in percent, rounded down and up with the same decimals.

    >>> percents(0.00651, 0.00653), percents(0.0000312, 0.0000318)
    (('0.65 %', '0.66 %'), ('0.0031 %', '0.0032 %'))
    """
    places = min(max(2, -math.floor(math.log10(bound)) - 1), 12) if bound > 0 else 2
    return percent_down(attack, places), percent_up(bound, places)


def points(rise: float) -> str:
    """A difference of two shares in percentage points, never below it.

    >>> points(0.05), points(0.00329261), points(0.01), points(2.5e-06)
    ('5 percentage points', '0.33 percentage points', '1 percentage point', '0.00025 percentage points')
    """
    whole = 100 * _decimal(rise)
    short = round_digits(whole, 2, "up", HAIR) if 0 < rise < 1e-3 else round_places(whole, 2, "up")
    plain = f"{short.normalize():f}"
    return f"{plain} percentage point{'' if plain == '1' else 's'}"


def base_for(before: float, after: float) -> int:
    """Of how many guesses to speak, so that the difference between two beliefs is told truly.

    >>> base_for(0.25, 0.3), base_for(0.2499, 0.2559), base_for(0.0, 0.0)
    (100, 1000, 100)
    """
    for base in BASES:
        told, true = count_up(after, base) - count(before, base), (after - before) * base
        if abs(told - true) <= 0.25 * true + 1e-9:
            return base
    return BASES[-1] if after > before else BASES[0]


def count(probability: float, base: int) -> int:
    """How many of `base` guesses, to the nearest."""
    return round(probability * base)


def count_up(probability: float, base: int) -> int:
    """How many of `base` guesses at most."""
    return min(base, int(round_places(probability * base, 0, "up")))


def round_digits(value: float | Decimal, digits: int, side: Side, hair: Decimal | None = None) -> Decimal:
    """So many digits of a finite number, however large or small; `hair` is the part of it that is forgiven.

    >>> round_digits(1234.5, 2, "up"), round_digits(Decimal("0.89999999999999999"), 2, "down", HAIR)
    (Decimal('1.3E+3'), Decimal('0.90'))
    """
    exact = _decimal(value)
    near, safe = (_context(digits, _TOWARDS[s]).plus(exact) for s in ("near", side))
    return near if _is_hair(exact, near, side, hair) else safe


def round_places(value: float | Decimal, places: int, side: Side) -> Decimal:
    """So many decimals of a finite number.

    >>> round_places(2.345, 2, "down"), round_places(0.30000000000000004, 1, "up")
    (Decimal('2.34'), Decimal('0.3'))
    """
    exact, unit = _decimal(value), Decimal(1).scaleb(-places)
    near, safe = (exact.quantize(unit, _TOWARDS[s], _EXACT) for s in ("near", side))
    return near if _is_hair(exact, near, side, None) else safe


def _is_hair(exact: Decimal, near: Decimal, side: Side, hair: Decimal | None) -> bool:
    forgiven = hair if hair is not None else HAIR if side == "up" else Decimal(0)
    return _EXACT.abs(_EXACT.subtract(exact, near)) <= _EXACT.multiply(forgiven, _EXACT.abs(exact))


def _decimal(value: float | Decimal) -> Decimal:
    """A float as it prints: 0.57 is 57 hundredths, and text that is read again gives the same float."""
    return value if isinstance(value, Decimal) else Decimal(repr(float(value)))


def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=-10_000, Emax=10_000)


def _group(value: float, digits: int, side: Side) -> str:
    """The same digits as `_spell`, with separators, a proper sign and a short power."""
    sign, size = "−" if value < 0 else "", _spell(value, digits, side).removeprefix("-")
    mantissa, e, power = size.partition("e")
    if e:
        return f"{sign}{mantissa}e{int(power)}"
    return f"{sign}{Decimal(mantissa):,f}" if math.isfinite(value) and value else size


def _spell(value: float, digits: int, side: Side) -> str:
    """In full, unless it is very large or very small."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return NO_LIMIT if value > 0 else "none"
    if value == 0:
        return "0"
    short = round_digits(value, digits, side).normalize(_EXACT)
    if -5 < short.adjusted() < max(digits, LONGEST):
        return f"{short:f}"
    mantissa, _, power = f"{short:e}".partition("e")
    return f"{mantissa}e{power.removeprefix('+') if int(power) > 0 else f'{int(power):03d}'}"
