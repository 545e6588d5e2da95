"""Quantiles: every record stands at one place of a public grid, and a place is picked by its rank (theory §16).

With lt and le records below and not above a grid value, and T the rank that is aimed at (α·n for a quantile), the
value lies max(lt − T, T − le, 0) ranks off. A record that goes from one place to another moves this by one rank at
most. Up at a value and down at another it can move it at once only if the places are no neighbours: the values
between i and i + 1 see the same rank on either side of T. So scores move apart by min(|i − j|, 2) ranks, and by
nothing inside one place. One who comes or goes moves T as well: by 2·max(α, 1 − α) ranks.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from sqlglot import Expr, exp

from guessproof.guarantee import UnitTotal
from guessproof.intervals import ZERO, Interval, outward
from guessproof.sql.declared import DeclaredTable
from guessproof.sql.distances import Contribution
from guessproof.sql.movement import ChangeBounds, ColumnState, Neighbours, Outcome, OutcomePair, combine_or
from guessproof.sql.relation import carry_along
from guessproof.sql.rules.values import NumberColumn
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import OfOne

MOST_PLACES = 10_001
MOST_CUTS = 10  # beyond this any two values of a column are taken to be two places apart


@dataclass(frozen=True)
class PlaceGrid:
    """The public values of which one is the answer, in order; a number belongs to the nearest.

    `step` is their distance where it is the same everywhere: the place is computed then, and looked up elsewhere.
    """

    values: tuple[float, ...]
    step: float | None = None

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        """A number is at the place of how many of these it exceeds."""
        pairs = zip(self.values, self.values[1:], strict=False)
        if self.step is None:
            return tuple(0.5 * a + 0.5 * b for a, b in pairs)
        return tuple(self._last_at(k, a, b) for k, (a, b) in enumerate(pairs))

    def place(self, x: float) -> int:
        """Which value is nearest; of two, the smaller among levels, the one at an even place among steps."""
        if self.step is None:
            return bisect_left(self.cuts, x)
        # The very operations that an engine does; each of them rises with x.
        return round((min(max(x, self.values[0]), self.values[-1]) - self.values[0]) / self.step)

    def _last_at(self, place: int, here: float, beyond: float) -> float:
        """The largest number that is not yet at the next place, of those between two values."""
        while (middle := 0.5 * here + 0.5 * beyond) not in (here, beyond):
            here, beyond = (middle, beyond) if self.place(middle) <= place else (here, middle)
        return here

    def between(self, numbers: Interval, error: float = 0.0) -> Interval:
        """The places of all numbers in an interval."""
        wide = outward(numbers.low - error, numbers.high + error) if error else numbers
        return Interval(float(self.place(wide.low)), float(self.place(wide.high)))

    @property
    def is_sound(self) -> bool:
        """Whether floating point tells all places apart: each value stands at its own."""
        if self.step is not None:
            return all(self.place(value) == k for k, value in enumerate(self.values))
        return all(a < b for a, b in zip(self.cuts, self.cuts[1:], strict=False))

    def write(self, x: Expr, target: SqlTarget) -> Expr:
        """The place of a number between the bounds."""
        if self.step is None:
            return self._write_search(x, 0, len(self.cuts), target)
        low = self.values[0]
        away = exp.paren(exp.Sub(this=x, expression=target.double(low)), copy=False) if low else x
        return target.whole(target.divide(away, target.double(self.step)))

    def _write_search(self, x: Expr, first: int, last: int, target: SqlTarget) -> Expr:
        """Halving: a NULL must have been left out before."""
        if first == last:
            return exp.Literal.number(first)
        middle = (first + last) // 2
        above = exp.GT(this=x.copy(), expression=target.double(self.cuts[middle]))
        upper, lower = (self._write_search(x, *part, target) for part in ((middle + 1, last), (first, middle)))
        return exp.case().when(above, upper).else_(lower)


def grid_of_steps(low: Fraction, high: Fraction, step: Fraction) -> PlaceGrid:
    """Every multiple of the step from the lower end to the upper one.

    >>> grid_of_steps(Fraction(0), Fraction(1), Fraction("0.1")).values[3]
    0.3
    """
    count = int((high - low) / step)
    return PlaceGrid(tuple(float(low + k * step) for k in range(count + 1)), float(step))


@dataclass(frozen=True)
class GridPlace(OfOne):
    """At which place of the grid a number is."""

    grid: PlaceGrid

    def value(self, a: float) -> float:
        return float(self.grid.place(a))

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        inner = self.inner.follow(neighbours)
        if isinstance(self.inner, NumberColumn):  # a bare column is seen on both sides of a cut
            column = neighbours[self.inner.column.name]
            before, after = (self._of_state(state, inner.before) for state in (column.before, column.after))
        else:
            before, after = (self.grid.between(side, inner.error) for side in (inner.before, inner.after))
        gap = after - before if inner.moves else ZERO
        steep = math.inf if gap.size else 0.0
        return replace(inner, before=before, after=after, slope=ZERO, gap=gap, steep=steep, error=0.0)

    def _of_state(self, state: ColumnState, otherwise: Interval) -> Interval:
        assert isinstance(self.inner, NumberColumn)
        numbers = otherwise if state.numbers is None else state.numbers.clamp(self.inner.low, self.inner.high)
        return self.grid.between(numbers)

    def cuts(self, column: str) -> frozenset[float]:
        bare = isinstance(self.inner, NumberColumn) and column == self.inner.column.name
        # On a fine grid all but the nearest values are two places apart: told apart as if all were, and much faster.
        own = self.grid.cuts if bare and len(self.grid.values) <= MOST_CUTS + 1 else ()
        return super().cuts(column) | frozenset(own)

    def write(self, target: SqlTarget) -> Expr:
        return self.grid.write(self.inner.write(target), target)


@dataclass(frozen=True)
class Aim:
    """The rank that is asked for: level · n + offset."""

    level: Fraction
    offset: int = 0

    @property
    def presence(self) -> float:
        """How far apart one who comes or goes moves the scores of two values, in ranks."""
        return float(2 * max(self.level, 1 - self.level))

    def scores(self, counts: tuple[int, ...], fine: int = 1) -> list[int]:
        """For each value how many ranks it is off, times −(denominator of the level): whole numbers.

        `fine` of what is counted make one rank.

        >>> Aim(Fraction(1, 2)).scores((1, 1, 2))       # of 4 records: 1, 2, 3, 3
        [-2, 0, 0]
        """
        parts, total = self.level.denominator, sum(counts)
        aimed = self.level.numerator * total + parts * self.offset * fine
        found: list[int] = []
        below = 0
        for count in counts:
            found.append(-max(parts * below - aimed, aimed - parts * (below + count), 0))
            below += count
        return found


@dataclass(frozen=True)
class RankContribution(Contribution):
    """What a record does to the scores of two values, in ranks: how far it moves them apart."""

    picks = True
    apart = True

    aim: Aim = field(kw_only=True)

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        neighbours = carry_along(self.joins, neighbours) if self.joins else neighbours
        place, kept = self.term.follow(neighbours), self.condition.follow(neighbours)
        gone = combine_or((leave_out(kept), place.null))
        here = [side for side in (gone.before, gone.after) if "false" in side]
        stays = min(place.gap.size, 2.0) if place.moves and len(here) == 2 else 0.0
        leaves = not gone.same and any(
            "true" in one and "false" in other for one, other in ((gone.before, gone.after), (gone.after, gone.before))
        )
        most = max(stays, self.aim.presence if leaves else 0.0)
        ends = [Interval(*_ends(side, self.aim.presence)) for side in (gone.before, gone.after)]
        moves = place.moves or not kept.same
        return ChangeBounds(*ends, gap=Interval(-most, most), steep=math.inf if most else 0.0, moves=moves)

    def bound_unit(self, declared: DeclaredTable, groups: int, *, adds: bool, once: bool) -> UnitTotal | None:
        return declared.unit.bound_ranks(self.aim.presence, groups)

    @property
    def ranks_inside(self) -> int:
        return abs(self.aim.offset)

    @property
    def is_whole(self) -> bool:
        return False

    @property
    def grid(self) -> PlaceGrid:
        """The values of which one is picked."""
        assert isinstance(self.term, GridPlace)
        return self.term.grid


def leave_out(kept: OutcomePair) -> OutcomePair:
    """Where a filter does not hold, be it false or unknown."""

    def turned(side: frozenset[Outcome]) -> frozenset[Outcome]:
        return frozenset("false" if outcome == "true" else "true" for outcome in side)

    return OutcomePair.of(turned(kept.before), turned(kept.after), kept.same)


def _ends(gone: frozenset[Outcome], presence: float) -> tuple[float, float]:
    """What a record does by being there: nothing where it is not."""
    return (0.0 if "true" in gone else presence), (presence if "false" in gone else 0.0)
