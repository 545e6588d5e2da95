"""A risk profile in words; only plans with [risk] enter this file."""

from __future__ import annotations

from collections.abc import Sequence

from guessproof.plan.tables import FixedInclusionTable, FixedValueTable, PointsTable, RiskTable
from guessproof.rounded import near

SHOWN_POINTS = 6


def profile_words(risk: RiskTable) -> str:
    """What a risk profile demands.

    >>> profile_words(RiskTable(constant=3))
    'a release makes nothing more than 3 times as probable, whatever is believed beforehand'
    >>> profile_words(RiskTable(fixed_value=FixedValueTable(q=1, absolute=0.25)))
    'for people whose value would be known if they were known to be in the data, a disclosure ends at 25 % at most'
    """
    parts: list[str] = []
    if risk.constant is not None:
        parts.append(f"{_raises(risk.constant)}, whatever is believed beforehand")
    if risk.box is not None:
        parts.append(f"{_raises(risk.box.relative)}{_where(risk.box.p, risk.box.q)}")
    if risk.fixed_inclusion is not None:
        parts.append(_fixed(_held_inside(risk.fixed_inclusion.p), risk.fixed_inclusion))
    if risk.fixed_value is not None:
        parts.append(_fixed(_held_value(risk.fixed_value.q), risk.fixed_value))
    if risk.points is not None:
        parts.append(_points(risk.points))
    return "; and ".join(parts)


def _raises(ratio: float) -> str:
    return f"a release makes nothing more than {times_words(ratio)} as probable"


def _fixed(who: str, given: FixedInclusionTable | FixedValueTable) -> str:
    ends = [f"ends at {100 * given.absolute:g} % at most"] if given.absolute is not None else []
    ends += [f"becomes {times_words(given.relative)} as probable at most"] if given.relative is not None else []
    more = ", whichever allows more" if len(ends) == 2 else ""
    return f"{who}, a disclosure {' or '.join(ends)}{more}"


def times_words(ratio: float) -> str:
    """How many times, before “as probable”.

    >>> times_words(2.0), times_words(1e6)
    ('twice', '1,000,000 times')
    """
    return "twice" if ratio == 2 else f"{near(ratio, 6)} times"


def _points(given: PointsTable) -> str:
    pairs = [f"{times_words(ratio)} as probable as a prior of {prior:g}" for prior, ratio in given.pairs[:SHOWN_POINTS]]
    left = len(given.pairs) - SHOWN_POINTS
    pairs += [f"so on at {left} more"] if left > 0 else []
    return f"a disclosure becomes at most {_listed(pairs)}, and between these accordingly{_where(given.p, given.q)}"


def _where(p: float | tuple[float, float], q: float | tuple[float, float]) -> str:
    """The beliefs that are meant, where not all are."""
    spans = [
        f"{what} {_span(span)}"
        for what, span in (("that somebody is in the data", p), ("of the value, given that,", q))
        if span != (0.0, 1.0)
    ]
    return f", for beliefs {' and '.join(spans)}" if spans else ", whatever is believed beforehand"


def _held_inside(share: float) -> str:
    if share == 1:
        return "for people known to be in the data"
    return f"for people held in the data with probability {share:g}"


def _held_value(share: float) -> str:
    if share == 1:
        return "for people whose value would be known if they were known to be in the data"
    return f"for people held to have the value in question with probability {share:g}, if in the data"


def _span(span: float | tuple[float, float]) -> str:
    low, high = span if isinstance(span, tuple) else (span, span)
    return f"of {100 * low:g} %" if low == high else f"from {100 * low:g} to {100 * high:g} %"


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
