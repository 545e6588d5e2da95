"""A move: one record changes, and what that does to an expression.

Every expression is followed through a move of the record's columns. What comes out is a :class:`ChangeBounds`:

    after − before  ∈  slope · (x' − x)  +  gap

with the ranges of both sides beside it. The mean value theorem carries it through a function f of u₁, u₂, …:
Δf = Σ f_k · Δu_k, with f_k between the smallest and the largest partial derivative (theory §16). Conditions are
followed as :class:`OutcomePair`: which outcomes each side can have, and whether both sides are bound to agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal

from guessproof.intervals import EVERYTHING, EXACT, ONE, ZERO, Interval, outward, point

LARGEST = 1e300


class Unlisted(Enum):
    """A label that is not among the declared levels: one label like any other, equal to none of them."""

    OTHER = "other"


OTHER = Unlisted.OTHER
Label = str | Unlisted


Outcome = Literal["true", "false", "null"]
YES: frozenset[Outcome] = frozenset(("true",))
NO: frozenset[Outcome] = frozenset(("false",))
NULL: frozenset[Outcome] = frozenset(("null",))
EITHER: frozenset[Outcome] = YES | NO


@dataclass(frozen=True)
class OutcomePair:
    """The possible outcomes of a condition before and after the move; `same`: bound to agree."""

    before: frozenset[Outcome]
    after: frozenset[Outcome]
    same: bool

    @staticmethod
    def of(before: frozenset[Outcome], after: frozenset[Outcome], same: bool) -> OutcomePair:
        """Two sides that have only one and the same outcome agree, whatever moves."""
        return OutcomePair(before, after, same or (before == after and len(before) == 1))


NEVER = OutcomePair(NO, NO, True)
ALWAYS = OutcomePair(YES, YES, True)


@dataclass(frozen=True)
class ColumnState:
    """What a column holds on one side of a move: a number, a label, or nothing."""

    numbers: Interval | None = None  # None: nothing, or labels
    labels: frozenset[Label] | None = None  # None: any label
    missing: Literal["no", "maybe", "yes"] = "no"

    @property
    def present(self) -> bool:
        """Whether there can be a value."""
        return self.missing != "yes"

    @property
    def outcomes_of_missing(self) -> frozenset[Outcome]:
        """Whether IS NULL holds."""
        return {"no": NO, "maybe": EITHER, "yes": YES}[self.missing]


@dataclass(frozen=True)
class ColumnChange:
    """A column in a move: both sides, and whether it moves. `slides`: along one piece of the line, or across a cut."""

    before: ColumnState
    after: ColumnState
    moves: bool = False
    slides: bool = False


Neighbours = Mapping[str, ColumnChange]


@dataclass(frozen=True)
class ChangeBounds:
    """A number followed through a move.

    `steep` bounds the Euclidean length of the gradient over all columns that slide; `error` what floating-point
    arithmetic can add on one side. `null` says where there is no number at all.
    """

    before: Interval
    after: Interval
    slope: Interval = ZERO
    gap: Interval = ZERO
    steep: float = 0.0
    error: float = 0.0
    null: OutcomePair = NEVER
    moves: bool = False

    @property
    def hull(self) -> Interval:
        """Every value on either side, as floating-point arithmetic may compute it."""
        both = self.before | self.after
        return outward(both.low - self.error, both.high + self.error) if self.error else both

    @property
    def change(self) -> float:
        """How far the number can move when nothing slides."""
        return self.gap.size + 2 * self.error if self.moves else 0.0


def constant(value: float) -> ChangeBounds:
    """A number that no record changes."""
    return ChangeBounds(point(value), point(value))


NOTHING = ChangeBounds(ZERO, ZERO, null=ALWAYS)  # NULL, whatever the record holds


def clamp_column(column: ColumnChange, low: float, high: float) -> ChangeBounds:
    """A column's number between its bounds."""
    missing = find_nulls(column)
    if column.before.numbers is None or column.after.numbers is None:
        seen = column.before.numbers or column.after.numbers
        nearby = point(low) if seen is None else seen.clamp(low, high)
        return ChangeBounds(nearby, nearby, null=missing, moves=column.moves)
    before, after = column.before.numbers.clamp(low, high), column.after.numbers.clamp(low, high)
    if not column.moves:
        return ChangeBounds(before, after, null=missing)
    if column.slides:
        flat = before.is_point  # across a cut: conditions see both sides, the number itself does not jump
        return ChangeBounds(before, before, ZERO if flat else ONE, steep=0.0 if flat else 1.0, null=missing, moves=True)
    return ChangeBounds(before, after, gap=after - before, null=missing, moves=True)


def find_nulls(column: ColumnChange) -> OutcomePair:
    """Whether a column holds nothing."""
    before, after = column.before.outcomes_of_missing, column.after.outcomes_of_missing
    return OutcomePair.of(before, after, not column.moves or column.slides)


def test_both_sides(column: ColumnChange, outcomes: Callable[[ColumnState], frozenset[Outcome]]) -> OutcomePair:
    """The outcomes of a test on both sides of a move; NULL where a value can be missing."""

    def one(side: ColumnState) -> frozenset[Outcome]:
        known = outcomes(side) if side.present else frozenset[Outcome]()
        return known if side.missing == "no" else known | NULL

    return OutcomePair.of(one(column.before), one(column.after), not column.moves)


def carry_through(
    parts: Sequence[tuple[Interval, ChangeBounds]],
    before: Interval,
    after: Interval,
    *,
    steep: float | None = None,
    ulps: int = 1,
    whole: bool = False,
) -> ChangeBounds:
    """A function of numbers: its values on both sides, and its partial derivatives over everything between.

    `ulps` bounds the rounding of the operation itself; `whole` numbers that floats hold exactly have none.
    """
    slope, gap, null = ZERO, ZERO, NEVER
    error = total = 0.0
    for partial, part in parts:
        if part.slope != ZERO:
            slope = slope + _scale(partial, part.slope)
        if part.gap != ZERO:
            gap = gap + _scale(partial, part.gap)
        error += _multiply(partial.size, part.error)
        total += _multiply(partial.size, part.steep)
        null = _combine_nulls(null, part.null)
    size = (before | after).size
    error += 0.0 if whole and size < EXACT else ulps * 2.0**-52 * size
    if not size + error < LARGEST:  # an engine would go on with infinity, and then with NaN
        raise ArithmeticError("a number leaves the range of arithmetic")
    moves = any(part.moves for _, part in parts)
    if slope == ZERO:  # nothing slides: the difference of both sides bounds the gap as well
        gap = gap & (after - before) if moves else ZERO
    return ChangeBounds(before, after, slope, gap, total if steep is None else steep, error, null, moves)


def choose_branch(truth: OutcomePair, yes: ChangeBounds, no: ChangeBounds) -> ChangeBounds:
    """CASE WHEN truth THEN yes ELSE no END."""
    if ALWAYS in (yes.null, no.null) and yes.null != no.null:  # a branch that is NULL has no number of its own
        yes, no = (replace(no, null=ALWAYS), no) if yes.null == ALWAYS else (yes, replace(yes, null=ALWAYS))
    if truth.same:
        return _join([m for o, m in (("true", yes), ("rest", no)) if _can_be(truth, o == "true")])
    before = _unite([m.before for m in _list_branches(truth.before, yes, no)])
    after = _unite([m.after for m in _list_branches(truth.after, yes, no)])
    null = OutcomePair.of(
        frozenset[Outcome]().union(*(m.null.before for m in _list_branches(truth.before, yes, no))),
        frozenset[Outcome]().union(*(m.null.after for m in _list_branches(truth.after, yes, no))),
        False,
    )
    # Which branch is taken may change at an unknown place: nothing finer than both ranges can be said.
    return ChangeBounds(before, after, ZERO, after - before, float("inf"), max(yes.error, no.error), null, True)


def fill_nulls(bounds: ChangeBounds, otherwise: float) -> ChangeBounds:
    """COALESCE(number, otherwise)."""
    filled = choose_branch(bounds.null, constant(otherwise), replace(bounds, null=NEVER))
    return replace(filled, null=NEVER)


def combine_and(truths: Sequence[OutcomePair]) -> OutcomePair:
    """AND in three values."""
    return _combine(truths, "false", "true")


def combine_or(truths: Sequence[OutcomePair]) -> OutcomePair:
    """OR in three values."""
    return _combine(truths, "true", "false")


def negate(truth: OutcomePair) -> OutcomePair:
    """NOT in three values."""
    flip: dict[Outcome, Outcome] = {"true": "false", "false": "true", "null": "null"}
    return OutcomePair(frozenset(flip[o] for o in truth.before), frozenset(flip[o] for o in truth.after), truth.same)


def _combine_nulls(one: OutcomePair, other: OutcomePair) -> OutcomePair:
    """OR, without work where one never holds."""
    return other if one == NEVER else one if other == NEVER else combine_or((one, other))


def _combine(truths: Sequence[OutcomePair], decides: Outcome, neutral: Outcome) -> OutcomePair:
    total = truths[0]
    for truth in truths[1:]:
        same = total.same and truth.same
        total = OutcomePair.of(
            _combine_outcomes(total.before, truth.before, decides, neutral),
            _combine_outcomes(total.after, truth.after, decides, neutral),
            same,
        )
    return total


def _combine_outcomes(
    a: frozenset[Outcome], b: frozenset[Outcome], decides: Outcome, neutral: Outcome
) -> frozenset[Outcome]:
    found: set[Outcome] = set()
    for x in a:
        for y in b:
            found.add(decides if decides in (x, y) else "null" if "null" in (x, y) else neutral)
    return frozenset(found)


def _can_be(truth: OutcomePair, yes: bool) -> bool:
    both = truth.before | truth.after
    return "true" in both if yes else bool(both - YES)


def _list_branches(outcomes: frozenset[Outcome], yes: ChangeBounds, no: ChangeBounds) -> list[ChangeBounds]:
    return ([yes] if "true" in outcomes else []) + ([no] if outcomes - YES else [])


def _join(options: list[ChangeBounds]) -> ChangeBounds:
    """One of several, the same on both sides."""
    first = options[0]
    for other in options[1:]:
        null = OutcomePair.of(
            first.null.before | other.null.before,
            first.null.after | other.null.after,
            first.null.same and other.null.same,
        )
        first = ChangeBounds(
            first.before | other.before,
            first.after | other.after,
            first.slope | other.slope,
            first.gap | other.gap,
            max(first.steep, other.steep),
            max(first.error, other.error),
            null,
            first.moves or other.moves,
        )
    return first


def _unite(ranges: list[Interval]) -> Interval:
    total = ranges[0]
    for other in ranges[1:]:
        total = total | other
    return total


def _scale(partial: Interval, change: Interval) -> Interval:
    return EVERYTHING if partial.size == float("inf") else partial * change


def _multiply(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b
