"""Numbers and goals in words. Risks are rounded up, what is allowed or left is rounded down."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal

from guessproof.ledger.amounts import shown
from guessproof.plan.grammar import SIDES, Joined, Tree, Wish
from guessproof.rounded import DIGITS, THIN, down_grouped, near, percent_short, points, up_grouped


def allowed(epsilon: float) -> str:
    """An ε that is allowed, in as many digits as the ledger shows, never above it.

    >>> allowed(0.718999999), allowed(math.inf)
    ('0.718999', 'no limit')
    """
    return down_grouped(epsilon, DIGITS)


def taken(epsilon: float) -> str:
    """An ε that is needed or spent, in as many digits as the ledger shows, never below it.

    >>> taken(1.9971548)
    '1.99716'
    """
    return up_grouped(epsilon, DIGITS)


def minus(digits: str) -> str:
    """Digits with a proper sign.

    >>> minus("-6.34")
    '−6.34'
    """
    return digits.replace("-", "−", 1) if digits.startswith("-") else digits


def spent(amount: Decimal) -> str:
    """An amount of a budget that is gone, rounded up."""
    return shown(amount, up=True)


def left(amount: Decimal) -> str:
    """An amount of a budget that is there, rounded down."""
    return shown(amount, up=False)


def simple_odds(probability: float) -> str | None:
    """A fraction that everybody knows, where one is near.

    >>> simple_odds(0.2499), simple_odds(0.0101), simple_odds(0.47)
    ('1 in 4', '1 in 99', None)
    """
    for parts in (1, 2, 3):
        whole = round(parts / probability) if probability > 1e-6 else 0
        most = 100_000 if parts == 1 else 10
        if parts < whole <= most and math.gcd(parts, whole) == 1 and abs(parts / whole / probability - 1) < 0.02:
            return f"{parts} in {whole:,}"
    return None


def listed(items: Iterable[str], word: str = "and") -> str:
    """A list in a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    every = list(items)
    if len(every) < 2:
        return "".join(every)
    return f"{', '.join(every[:-1])} {word} {every[-1]}"


def times(factor: float) -> str:
    """A ratio, rounded up."""
    return f"{up_grouped(factor, 3)} times"


def goal_words(tree: Tree, whose: str = "your", label: Callable[[str], str] = str) -> str | None:
    """What a guesser wants to get right; None where only the goal's own words will do. `label` says a column in words.

    >>> from guessproof.plan.grammar import read_tree
    >>> goal_words(read_tree("time within 2"))
    'your time to within 2'
    >>> goal_words(read_tree("born within 30 days"), label={"born": "date of birth"}.get)
    'your date of birth to within 30 days'
    >>> goal_words(read_tree("time within 2"), label={"time": "time at lunch, in minutes"}.get)
    'your time at lunch, in minutes, to within 2'
    >>> goal_words(read_tree("sex exactly and colour exactly"), "somebody’s")
    'both somebody’s sex and somebody’s colour'
    >>> goal_words(read_tree("(lon, lat) within 5 by l2 or faculty among math, cs"))
    'your place (lon, lat) to within 5 or whether your faculty is math or cs (one is enough)'
    >>> goal_words(read_tree("income above 60000"))
    'whether your income is 60000 or more'
    """
    if isinstance(tree, Wish):
        return _wish(tree, whose, label)
    parts = [goal_words(part, whose, label) for part in tree.parts]
    plain = [part for part in parts if part is not None]
    if len(plain) < len(parts) or tree.word == "not" or any(isinstance(p, Joined) for p in tree.parts):
        return None
    if tree.word == "and":
        return f"both {plain[0]} and {plain[1]}" if len(plain) == 2 else f"all of: {'; '.join(plain)}"
    return f"{listed(plain, 'or')} (one is enough)"


def _wish(wish: Wish, whose: str, label: Callable[[str], str]) -> str | None:
    names = [label(column.text) for column in wish.columns]
    names = [f"{name}," if "," in name and wish.verb != "exactly" else name for name in names]  # “…, in minutes,”
    values = [value.text for value in wish.values]
    if wish.formula is not None:
        return None  # its own words are the plainest
    if wish.verb == "within":
        what = f"{whose} {names[0]}" if len(names) == 1 else f"{whose} place ({', '.join(names)})"
        unit = THIN + "%" if wish.percent else "" if wish.unit is None else f" {wish.unit.text}"
        return f"{what} to within {values[0]}{unit}"
    if wish.verb == "exactly":
        return f"{whose} {names[0]}"
    if wish.verb == "among":
        return f"whether {whose} {names[0]} is {listed(values, 'or')}"
    if wish.verb in SIDES:
        return f"whether {whose} {names[0]} is {values[0]} or {'more' if wish.verb == 'above' else 'less'}"
    spans = [f"between {low} and {high}" for low, high in zip(values[::2], values[1::2], strict=True)]
    return f"whether {whose} {names[0]} lies {listed(spans, 'or')}"


_CHANGES = {
    "release.times": "number of releases",
    "accuracy of every output: times": "every largest error, times",
    "budget: ε that is left": "what is left of the budget, ε",
    "attacker: advantage": "how far the attacker’s belief may rise",
    "attacker: posterior": "how high the attacker’s belief may get",
}


def change_name(what: str, label: Callable[[str], str] = str) -> str:
    """What a change of the plan is about. `label` says an output in words.

    >>> change_name("accuracy of mean: within"), change_name("release.times")
    ('largest error of mean', 'number of releases')
    """
    if what in _CHANGES:
        return _CHANGES[what]
    if what.startswith("accuracy of "):
        name, _, key = what.removeprefix("accuracy of ").rpartition(": ")
        return f"confidence of {label(name)}" if key == "confidence" else f"largest error of {label(name)}"
    return what


def change_value(what: str, value: float, timely: Iterable[str] = ()) -> str:
    """A value of a change as people write it; outputs in `timely` are times, and their errors days.

    >>> change_value("accuracy of cost: within", 5290.0), change_value("attacker: advantage", 0.0168)
    ('5,290', '1.68 percentage points')
    >>> change_value("accuracy of rank: ranks", 12), change_value("accuracy of born: within", 60, ["born"])
    ('12 ranks', '60 days')
    """
    if what == "attacker: advantage":
        return points(value)
    if what == "attacker: posterior" or what.endswith(": confidence"):
        return percent_short(value, "near")
    name, _, key = what.removeprefix("accuracy of ").rpartition(": ")
    unit = " ranks" if key == "ranks" else " days" if name in timely else ""
    return f"{near(value, DIGITS)}{unit}"


def when(time: str) -> str:
    """A ledger's time for people.

    >>> when("2030-01-02T03:04:05Z")
    '2030-01-02 03:04:05 UTC'
    """
    return time.replace("T", " ").replace("Z", " UTC")
