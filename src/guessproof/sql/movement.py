"""A move: one record changes, and what that does to an expression.

Every expression is followed through a move of the record's columns. What comes out is a :class:`Moved`:

    after − before  ∈  slope · (x' − x)  +  gap

with the ranges of both sides beside it. The mean value theorem carries it through a function f of u₁, u₂, …:
Δf = Σ f_k · Δu_k, with f_k between the smallest and the largest partial derivative (MATHEMATICS 6). Conditions are
followed as :class:`Truth`: which outcomes each side can have, and whether both sides are bound to agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal

from guessproof.sql.ranges import EVERYTHING, EXACT, ONE, ZERO, Range, outward, point

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
class Truth:
    """The possible outcomes of a condition before and after the move; `same`: bound to agree."""

    before: frozenset[Outcome]
    after: frozenset[Outcome]
    same: bool

    @staticmethod
    def of(before: frozenset[Outcome], after: frozenset[Outcome], same: bool) -> Truth:
        """Two sides that have only one and the same outcome agree, whatever moves."""
        return Truth(before, after, same or (before == after and len(before) == 1))


NEVER = Truth(NO, NO, True)
ALWAYS = Truth(YES, YES, True)


@dataclass(frozen=True)
class Side:
    """What a column holds on one side of a move: a number, a label, or nothing."""

    numbers: Range | None = None  # None: nothing, or labels
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
class Column:
    """A column in a move: both sides, and whether it moves. `slides`: along one piece of the line, or across a cut."""

    before: Side
    after: Side
    moves: bool = False
    slides: bool = False


Scene = Mapping[str, Column]


@dataclass(frozen=True)
class Moved:
    """A number followed through a move.

    `steep` bounds the Euclidean length of the gradient over all columns that slide; `error` what floating-point
    arithmetic can add on one side. `null` says where there is no number at all.
    """

    before: Range
    after: Range
    slope: Range = ZERO
    gap: Range = ZERO
    steep: float = 0.0
    error: float = 0.0
    null: Truth = NEVER
    moves: bool = False

    @property
    def hull(self) -> Range:
        """Every value on either side, as floating-point arithmetic may compute it."""
        both = self.before | self.after
        return outward(both.low - self.error, both.high + self.error) if self.error else both

    @property
    def change(self) -> float:
        """How far the number can move when nothing slides."""
        return self.gap.size + 2 * self.error if self.moves else 0.0


def constant(value: float) -> Moved:
    """A number that no record changes."""
    return Moved(point(value), point(value))


NOTHING = Moved(ZERO, ZERO, null=ALWAYS)  # NULL, whatever the record holds


def clamped(column: Column, low: float, high: float) -> Moved:
    """A column's number between its bounds."""
    missing = null_of(column)
    if column.before.numbers is None or column.after.numbers is None:
        seen = column.before.numbers or column.after.numbers
        nearby = point(low) if seen is None else seen.clamp(low, high)
        return Moved(nearby, nearby, null=missing, moves=column.moves)
    before, after = column.before.numbers.clamp(low, high), column.after.numbers.clamp(low, high)
    if not column.moves:
        return Moved(before, after, null=missing)
    if column.slides:
        flat = before.is_point  # across a cut: conditions see both sides, the number itself does not jump
        return Moved(before, before, ZERO if flat else ONE, steep=0.0 if flat else 1.0, null=missing, moves=True)
    return Moved(before, after, gap=after - before, null=missing, moves=True)


def null_of(column: Column) -> Truth:
    """Whether a column holds nothing."""
    before, after = column.before.outcomes_of_missing, column.after.outcomes_of_missing
    return Truth.of(before, after, not column.moves or column.slides)


def sides(column: Column, outcomes: Callable[[Side], frozenset[Outcome]]) -> Truth:
    """The outcomes of a test on both sides of a move; NULL where a value can be missing."""

    def one(side: Side) -> frozenset[Outcome]:
        known = outcomes(side) if side.present else frozenset[Outcome]()
        return known if side.missing == "no" else known | NULL

    return Truth.of(one(column.before), one(column.after), not column.moves)


def through(
    parts: Sequence[tuple[Range, Moved]],
    before: Range,
    after: Range,
    *,
    steep: float | None = None,
    ulps: int = 1,
    whole: bool = False,
) -> Moved:
    """A function of numbers: its values on both sides, and its partial derivatives over everything between.

    `ulps` bounds the rounding of the operation itself; `whole` numbers that floats hold exactly have none.
    """
    slope, gap, null = ZERO, ZERO, NEVER
    error = total = 0.0
    for partial, part in parts:
        if part.slope != ZERO:
            slope = slope + _scaled(partial, part.slope)
        if part.gap != ZERO:
            gap = gap + _scaled(partial, part.gap)
        error += _times(partial.size, part.error)
        total += _times(partial.size, part.steep)
        null = _either(null, part.null)
    size = (before | after).size
    error += 0.0 if whole and size < EXACT else ulps * 2.0**-52 * size
    if not size + error < LARGEST:  # an engine would go on with infinity, and then with NaN
        raise ArithmeticError("a number leaves the range of arithmetic")
    moves = any(part.moves for _, part in parts)
    if slope == ZERO:  # nothing slides: the difference of both sides bounds the gap as well
        gap = gap & (after - before) if moves else ZERO
    return Moved(before, after, slope, gap, total if steep is None else steep, error, null, moves)


def chosen(truth: Truth, yes: Moved, no: Moved) -> Moved:
    """CASE WHEN truth THEN yes ELSE no END."""
    if ALWAYS in (yes.null, no.null) and yes.null != no.null:  # a branch that is NULL has no number of its own
        yes, no = (replace(no, null=ALWAYS), no) if yes.null == ALWAYS else (yes, replace(yes, null=ALWAYS))
    if truth.same:
        return _joined([m for o, m in (("true", yes), ("rest", no)) if _possible(truth, o == "true")])
    before = _hull([m.before for m in _branches(truth.before, yes, no)])
    after = _hull([m.after for m in _branches(truth.after, yes, no)])
    null = Truth.of(
        frozenset[Outcome]().union(*(m.null.before for m in _branches(truth.before, yes, no))),
        frozenset[Outcome]().union(*(m.null.after for m in _branches(truth.after, yes, no))),
        False,
    )
    # Which branch is taken may change at an unknown place: nothing finer than both ranges can be said.
    return Moved(before, after, ZERO, after - before, float("inf"), max(yes.error, no.error), null, True)


def settled(moved: Moved, otherwise: float) -> Moved:
    """COALESCE(number, otherwise)."""
    filled = chosen(moved.null, constant(otherwise), replace(moved, null=NEVER))
    return replace(filled, null=NEVER)


def all_of(truths: Sequence[Truth]) -> Truth:
    """AND in three values."""
    return _combined(truths, "false", "true")


def any_of(truths: Sequence[Truth]) -> Truth:
    """OR in three values."""
    return _combined(truths, "true", "false")


def negated(truth: Truth) -> Truth:
    """NOT in three values."""
    flip: dict[Outcome, Outcome] = {"true": "false", "false": "true", "null": "null"}
    return Truth(frozenset(flip[o] for o in truth.before), frozenset(flip[o] for o in truth.after), truth.same)


def _either(one: Truth, other: Truth) -> Truth:
    """OR, without work where one never holds."""
    return other if one == NEVER else one if other == NEVER else any_of((one, other))


def _combined(truths: Sequence[Truth], decides: Outcome, neutral: Outcome) -> Truth:
    total = truths[0]
    for truth in truths[1:]:
        same = total.same and truth.same
        total = Truth.of(
            _pairs(total.before, truth.before, decides, neutral),
            _pairs(total.after, truth.after, decides, neutral),
            same,
        )
    return total


def _pairs(a: frozenset[Outcome], b: frozenset[Outcome], decides: Outcome, neutral: Outcome) -> frozenset[Outcome]:
    found: set[Outcome] = set()
    for x in a:
        for y in b:
            found.add(decides if decides in (x, y) else "null" if "null" in (x, y) else neutral)
    return frozenset(found)


def _possible(truth: Truth, yes: bool) -> bool:
    both = truth.before | truth.after
    return "true" in both if yes else bool(both - YES)


def _branches(outcomes: frozenset[Outcome], yes: Moved, no: Moved) -> list[Moved]:
    return ([yes] if "true" in outcomes else []) + ([no] if outcomes - YES else [])


def _joined(options: list[Moved]) -> Moved:
    """One of several, the same on both sides."""
    first = options[0]
    for other in options[1:]:
        null = Truth.of(
            first.null.before | other.null.before,
            first.null.after | other.null.after,
            first.null.same and other.null.same,
        )
        first = Moved(
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


def _hull(ranges: list[Range]) -> Range:
    total = ranges[0]
    for other in ranges[1:]:
        total = total | other
    return total


def _scaled(partial: Range, change: Range) -> Range:
    return EVERYTHING if partial.size == float("inf") else partial * change


def _times(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b
