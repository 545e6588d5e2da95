"""How far one protected unit can move an aggregate: its guarantee (theory §16).

A record contributes φ(x) to a sum, a count, a smallest or a largest value, and what it contributes when it is
filtered out (0, or the end of the range that leaves MIN or MAX alone). Sums, counts and extremes move no further than
φ does: D(x, x') = |φ(x) − φ(x')|, with every other record and every column that is not protected as it is. Where a
record is in several rows, as in a view, a sum moves by that many times as much.

Three distances come out: how far a record moves φ at all (its `Sensitivity`), how far one column alone does, every
other at its worst (a metric on that column), and how far between two given sets of values (`ContributionResponse`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import combinations_with_replacement, pairwise
from typing import Any, ClassVar

from sqlglot import Expr

from guessproof.guarantee import Guarantee, PrivacyUnit, UnitTotal
from guessproof.intervals import EVERYTHING, Interval, point
from guessproof.names import folded
from guessproof.sql.declared import DeclaredColumn, DeclaredTable
from guessproof.sql.formula import Key
from guessproof.sql.movement import (
    NOTHING,
    ChangeBounds,
    ColumnChange,
    ColumnState,
    Neighbours,
    Outcome,
    choose_branch,
    fill_nulls,
)
from guessproof.sql.relation import PublicJoin, carry_along, find_roots
from guessproof.sql.target import SqlTarget
from guessproof.sql.terms import Condition, Node, Row, Term
from guessproof.world import Discrete, LineForm, LineMetric, Matrix, Metric, Multiple
from guessproof.world import Outcome as Outside

MOST_SIDES = 8  # a filter and a sum of one column are followed together, piece by piece, up to this many
FINER = 16  # pieces into which a stretch of varying slope is cut
MOST_CUTS = 130  # a list of 64 numbers; beyond it any two values are taken to be furthest apart
MOST_PIECES = 16  # for the exact distance of a filter, every pair of pieces is followed
FURTHEST = 1e100  # cuts beyond this are left to the line form
MOST_LEVELS = 1000
MOST_CLASSES = 40  # all pairs of kinds of levels are followed; beyond this any two are taken to be furthest apart


@dataclass(frozen=True)
class Contribution(Term):
    """φ(x): the term where the filter holds and there is a number, `absent` elsewhere."""

    picks: ClassVar[bool] = False  # one of several values is picked by scores, instead of noise on a number
    apart: ClassVar[bool] = False  # the engine tells more of it than one number: by a statement of its own
    follows: ClassVar[bool] = False  # the scale of its noise follows the data

    condition: Condition
    term: Term
    absent: float
    joins: tuple[PublicJoin, ...] = ()  # what is looked up there moves with its key
    weighted: bool = field(default=False, kw_only=True)  # behind an average: all rows of a unit count for few

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.condition, self.term

    def at(self, row: Row) -> float:
        value = self.term.at(row) if self.condition.at(row) else None
        return self.absent if value is None else value

    def follow(self, neighbours: Neighbours) -> ChangeBounds:
        neighbours = carry_along(self.joins, neighbours) if self.joins else neighbours
        inside = choose_branch(self.condition.follow(neighbours), self.term.follow(neighbours), NOTHING)
        return fill_nulls(inside, self.absent)

    def write(self, target: SqlTarget) -> Expr:
        return self.term.write(target)

    @property
    def ranks_inside(self) -> int:
        """How many ranks inside the outermost value one is picked; 0 where none is, or another one."""
        return 0

    @property
    def is_whole(self) -> bool:
        return self.term.is_whole

    def bound_unit(self, declared: DeclaredTable, groups: int, *, adds: bool, once: bool) -> UnitTotal | None:
        """What all rows of one unit may do together, where it has several."""
        row = bound_range(self, declared)
        return declared.unit.bound_total(row, groups, adds=adds, once=once, weighted=self.weighted)

    def distances(self, levels: Sequence[str]) -> Metric | None:
        """The distances of the levels of the one column that it reads, where these are known as a table."""
        return None


def list_cuts(node: Node, name: str) -> tuple[float, ...]:
    """Where the node may jump or bend as a function of this column, in order."""
    return tuple(sorted(c for c in node.cuts(name) if math.isfinite(c)))


def split_line(cuts: tuple[float, ...]) -> list[Interval]:
    """All numbers, in pieces that end at a cut and begin just above one.

    >>> split_line((0.0,)) == [Interval(-math.inf, 0.0), Interval(5e-324, math.inf)]
    True
    """
    lows = [-math.inf, *(math.nextafter(c, math.inf) for c in cuts)]
    return [Interval(low, high) for low, high in zip(lows, [*cuts, math.inf], strict=True)]


def iterate_leaves(node: Node) -> Iterator[Node]:
    """The parts that are made of nothing else."""
    if not node.parts:
        yield node
    for part in node.parts:
        yield from iterate_leaves(part)


@dataclass(frozen=True)
class Sensitivity:
    """At most this: by changing protected values, by coming or going; and what floating point adds on one side."""

    change: float
    presence: float
    error: float


def bound_sensitivity(contribution: Contribution, declared: DeclaredTable) -> Sensitivity:
    """The largest moves of a contribution, every protected column free."""
    neighbours = declared.in_motion(contribution.columns)
    whole = contribution.follow(neighbours)
    change, presence = whole.change, bound_presence(contribution, neighbours)
    for name in sorted(contribution.columns):
        sides = _list_states(contribution, declared, name)
        if sides:
            # A filter on the column rules out values of it: each piece is followed with what the filter lets through.
            pairs = [ColumnChange(a, b, moves=True) for a, b in combinations_with_replacement(sides, 2)]
            change = min(change, max(contribution.follow({**neighbours, name: pair}).change for pair in pairs))
            presence = min(
                presence, max(bound_presence(contribution, {**neighbours, name: ColumnChange(s, s)}) for s in sides)
            )
    return Sensitivity(change, presence, whole.error)


def bound_range(contribution: Contribution, declared: DeclaredTable) -> Interval:
    """Everything that one row can contribute, what a filter on the added column rules out left out."""
    neighbours = declared.at_rest(contribution.columns)
    found = contribution.follow(neighbours).hull
    for name in sorted(contribution.columns):
        if sides := _list_states(contribution, declared, name):
            pieces = [contribution.follow({**neighbours, name: ColumnChange(s, s)}).hull for s in sides]
            found = found & reduce(Interval.__or__, pieces)
    return found


def bound_presence(contribution: Contribution, neighbours: Neighbours) -> float:
    """How far from what is there without the record."""
    absent = point(contribution.absent)
    return ((contribution.follow(neighbours).hull | absent) - absent).size


def _list_states(contribution: Contribution, declared: DeclaredTable, name: str) -> list[ColumnState]:
    """What a column that is both tested and added up can hold, piece by piece; none where that is of no use."""
    column = declared.column(name)
    read = [node for node in iterate_leaves(contribution) if name in node.columns]
    tested, added = (any(isinstance(node, kind) for node in read) for kind in (Condition, Term))
    if not (column.protected and column.is_on_line and tested and added):
        return []
    found = [ColumnState(piece) for piece in split_line(list_cuts(contribution, name))]
    if len(found) > MOST_SIDES:
        return []
    return [*found, ColumnState(missing="yes")] if column.missing else found


def measure_numbers(contribution: Contribution, declared: DeclaredTable, name: str) -> tuple[Metric, LineMetric]:
    """The distance of a column of numbers, and the same or a larger one as a line form."""
    rest = declared.at_rest(contribution.columns)
    line = measure_line(contribution, rest, name)
    return _measure_filter(contribution, rest, name) or line, line


def measure_line(contribution: Contribution, rest: Neighbours, name: str) -> LineMetric:
    """How far a column of numbers moves the contribution: slopes between cuts, jumps at them."""
    free = contribution.follow(
        {**rest, name: ColumnChange(ColumnState(EVERYTHING), ColumnState(EVERYTHING), moves=True)}
    ).change
    cuts = list_cuts(contribution, name)
    if len(cuts) > MOST_CUTS:
        return LineMetric(LineForm(step=free))
    cuts = _refine(contribution, rest, name, cuts)
    pieces = [contribution.follow({**rest, name: _slide_along(piece)}) for piece in split_line(cuts)]
    jumps = tuple(contribution.follow({**rest, name: _cross(cut)}).gap.size for cut in cuts)
    slopes = tuple(piece.slope.size for piece in pieces)
    step = sum(piece.gap.size for piece in pieces) + 2 * max(piece.error for piece in pieces)
    if not all(map(math.isfinite, (*slopes, *jumps, step))):
        return LineMetric(LineForm(step=free))
    form = LineForm(cuts, slopes, jumps, step)
    return LineMetric(form if free >= _sum_variation(form) + step else form.capped(free))


def _refine(contribution: Contribution, rest: Neighbours, name: str, cuts: tuple[float, ...]) -> tuple[float, ...]:
    """More cuts where the slope varies along a piece, as on a square: ψ then follows the curve."""
    found = set(cuts)
    for low, high in pairwise(cuts):
        bounds = contribution.follow({**rest, name: _slide_along(Interval(low, high))})
        if bounds.gap.size or bounds.slope.width <= 1e-9 * bounds.slope.size:
            continue
        edges = [low + (high - low) * k / FINER for k in range(FINER + 1)]
        parts = [contribution.follow({**rest, name: _slide_along(Interval(a, b))}) for a, b in pairwise(edges)]
        slopes = [part.slope.size for part in parts]
        if max(slopes) > min(slopes) * (1 + 1e-9):
            found.update(edges[1:-1])
    return tuple(sorted(found))


def _sum_variation(form: LineForm) -> float:
    """The whole rise of ψ."""
    runs = zip(form.cuts, form.cuts[1:], form.slopes[1:], strict=False)
    inner = sum(slope * (b - a) for a, b, slope in runs if slope)
    return math.inf if form.slopes[0] or form.slopes[-1] else inner + sum(form.jumps)


def _measure_filter(contribution: Contribution, rest: Neighbours, name: str) -> Metric | None:
    """The exact distance of a filter whose true pieces lie between false ones: 0/1 on its outcome."""
    pieces = split_line(list_cuts(contribution, name))
    if not 3 <= len(pieces) <= MOST_PIECES or max(abs(p.high) for p in pieces[:-1]) > FURTHEST:
        return None
    places = [ColumnState(piece) for piece in pieces]
    stays = [contribution.follow({**rest, name: ColumnChange(s, s, moves=True)}) for s in places]
    if any(m.change for m in stays) or any(m.error for m in stays):
        return None
    gaps = {
        (i, j): contribution.follow({**rest, name: ColumnChange(places[i], places[j], moves=True)}).change
        for i in range(len(pieces))
        for j in range(i)
    }
    first = [i for i in range(len(pieces)) if i == 0 or gaps[(i, 0)] == 0]
    second = [i for i in range(len(pieces)) if i not in first]
    across = {gaps[(max(i, j), min(i, j))] for i in first for j in second}
    within = {gaps[(i, j)] for group in (first, second) for i in group for j in group if j < i}
    if len(across) != 1 or within - {0.0}:
        return None
    if len(first) == 1 or (len(second) == 1 and second[0] == len(pieces) - 1):
        return None  # a single threshold is a line form already, which has exact answers for every question
    return Multiple(across.pop(), Outside(*_list_intervals(pieces, first, second)))


def _list_intervals(pieces: list[Interval], first: list[int], second: list[int]) -> list[tuple[float, float]]:
    """The pieces of one outcome, merged: of the shorter list, unless a single number cannot be written as one."""
    options = [_merge([pieces[i] for i in group]) for group in (first, second)]
    return min(options, key=lambda found: (any(low == high for low, high in found), len(found)))


def _merge(ranges: list[Interval]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for r in ranges:
        if merged and math.nextafter(merged[-1][1], math.inf) >= r.low:
            merged[-1] = (merged[-1][0], r.high)
        else:
            merged.append((r.low, r.high))
    return merged


def measure_labels(contribution: Contribution, declared: DeclaredTable, column: DeclaredColumn) -> Metric:
    """How far a column of labels moves the contribution: every pair of levels that some condition tells apart."""
    rest = declared.at_rest(contribution.columns)

    def gap(before: ColumnState, after: ColumnState) -> float:
        return contribution.follow({**rest, column.name: ColumnChange(before, after, moves=True)}).change

    anything = ColumnState(numbers=EVERYTHING if column.kind is None else None)
    levels = column.levels
    if levels is None or len(levels) > MOST_LEVELS:
        return Multiple(gap(anything, anything), Discrete())
    known = contribution.distances(levels)
    if known is not None:
        return known
    kinds = _classify_levels(contribution, column.name, levels)
    if max(kinds) >= MOST_CLASSES:
        return Multiple(gap(anything, anything), Discrete())
    ends = [ColumnState(labels=frozenset((levels[kinds.index(k)],))) for k in range(max(kinds) + 1)]
    table = [[gap(a, b) for b in ends] for a in ends]
    pairs = [[0.0 if i == j else max(table[i][j], table[j][i]) for j in kinds] for i in kinds]
    return Matrix(levels, [[0.0 if a == b else d for b, d in enumerate(row)] for a, row in enumerate(pairs)])


def _classify_levels(contribution: Contribution, name: str, levels: tuple[str, ...]) -> list[int]:
    """For each level a number: the same for levels on which every part is known to come out the same."""
    if any(name in join.columns for join in contribution.joins):  # each may find another row
        return list(range(len(levels)))
    tests = [node for node in iterate_leaves(contribution) if name in node.columns]
    rest = {n: ColumnChange(ColumnState(EVERYTHING), ColumnState(EVERYTHING)) for n in contribution.columns}
    known: dict[tuple[object, ...], int] = {}
    found: list[int] = []
    for level in levels:
        side = ColumnState(labels=frozenset((level,)))
        outcomes = tuple(_list_outcomes(test, {**rest, name: ColumnChange(side, side)}) for test in tests)
        sure = all(len(outcome) == 1 for outcome in outcomes)
        found.append(known.setdefault(outcomes if sure else (level,), len(known)))
    return found


def _list_outcomes(node: Node, neighbours: Neighbours) -> frozenset[Outcome]:
    """How a condition can come out; for a number, whether there is one."""
    if isinstance(node, Condition):
        return node.follow(neighbours).before
    assert isinstance(node, Term)
    return node.follow(neighbours).null.before


def _slide_along(piece: Interval) -> ColumnChange:
    return ColumnChange(ColumnState(piece), ColumnState(piece), moves=True, slides=True)


def _cross(cut: float) -> ColumnChange:
    return ColumnChange(
        ColumnState(point(cut)), ColumnState(point(math.nextafter(cut, math.inf))), moves=True, slides=True
    )


def bound_gradient(contribution: Contribution, declared: DeclaredTable) -> float | None:
    """The largest gradient over all protected numbers together; None where something jumps."""
    neighbours: dict[str, ColumnChange] = {}
    for name, column in declared.at_rest(contribution.columns).items():
        known = declared.column(name)
        free = known.protected and known.is_on_line
        # One that does not move may be missing all the same, and then another branch is taken.
        neighbours[name] = replace(column, moves=True, slides=True) if free else column
    bounds = contribution.follow(neighbours)
    return bounds.steep if bounds.gap.size == 0 and math.isfinite(bounds.steep) else None


def bound_euclidean(contribution: Contribution, declared: DeclaredTable) -> float:
    """How far a record that may leave one group and enter another moves all groups, by straight-line distance."""
    furthest = bound_sensitivity(contribution, declared)
    return max(furthest.change, math.sqrt(2) * (1 + 1e-15) * furthest.presence)


def build_guarantee(
    contribution: Contribution, declared: DeclaredTable, keys: Sequence[Key], copies: int = 1
) -> Guarantee:
    """The guarantee of a contribution that is made up to `copies` times; `keys` are those of GROUP BY."""
    furthest = bound_sensitivity(contribution, declared)
    unit = declared.unit
    repeated = declared.copies is not None
    secret = list_secret_keys(keys, declared, contribution.joins)
    response = ContributionResponse(contribution, declared, secret)
    furthest = _narrow(furthest, response)
    change = unit.whole_change(furthest.change, furthest.presence, grouped=bool(secret), repeated=repeated)
    lines: dict[str, LineMetric] = {}
    columns: dict[str, Metric] = {}
    for name in sorted(contribution.columns):
        column = declared.column(name)
        if column.protected and column.is_on_line:
            columns[name], lines[name] = measure_numbers(contribution, declared, name)
        elif column.protected:
            columns[name] = measure_labels(contribution, declared, column)
    deciding = {name for key in secret for name in _list_deciding(key, declared, contribution.joins)}
    jumps = any(declared.column(name).is_on_line for name in deciding)  # a number that decides on the group
    slope, rounding = None if jumps else bound_gradient(contribution, declared), 2 * furthest.error
    alone = Guarantee(unit, columns, lines, furthest.change, furthest.presence, slope, rounding, ((1.0, response),))
    leaving: dict[str, Metric] = {}
    known: dict[str, LineMetric] = {}
    for key in secret:
        for name in _list_deciding(key, declared, contribution.joins):
            if key.bins is None or name != key.column:
                leaving[name] = _measure_leaving(response, key, declared.column(name), change)
            else:
                from guessproof.sql.bins import measure_bins

                inside = lines[name].form if name in lines else LineForm()
                leaving[name], known[name] = measure_bins(response, key.bins, inside, change)
    return alone.regrouped(leaving, change, known).scaled(copies)


def _narrow(furthest: Sensitivity, response: ContributionResponse) -> Sensitivity:
    """The same where only what lies in a bin of a key counts: it moves a group by no more than it is worth there."""
    for key in response.keys:
        if key.bins is not None and key.column in response.contribution.columns:
            presence = min(furthest.presence, max(response.worths(key.column, key.bins.cuts)[1:-1]))
            furthest = replace(furthest, presence=presence, change=min(furthest.change, 2 * presence))
    return furthest


def list_secret_keys(keys: Sequence[Key], declared: DeclaredTable, joins: Sequence[PublicJoin]) -> tuple[Key, ...]:
    """The keys of GROUP BY that a record may change: it then leaves one group and enters another."""
    return tuple(key for key in keys if _list_deciding(key, declared, joins))


def _list_deciding(key: Key, declared: DeclaredTable, joins: Sequence[PublicJoin]) -> list[str]:
    """The protected columns that decide on the group: the key, or what its public table is looked up by."""
    return [name for name in sorted(find_roots(joins, key.column)) if declared.column(name).protected]


def _measure_leaving(response: ContributionResponse, key: Key, column: DeclaredColumn, change: float) -> Metric:
    """How far a record moves two groups together when this column changes: what it is worth in each of them."""
    levels, looked_up = column.levels, column.name != key.column
    if looked_up or column.is_on_line or levels is None or len(levels) > MOST_LEVELS:
        return Multiple(change, Discrete())
    if column.name not in response.contribution.columns:  # it is worth the same in every group
        return Multiple(min(2 * response.alone({}), change), Discrete())
    worth = {level: response.alone({column.name: level}) for level in levels}
    return Matrix(levels, [[0.0 if a == b else min(worth[a] + worth[b], change) for b in levels] for a in levels])


def build_unit_guarantee(total: UnitTotal, unit: PrivacyUnit, read: frozenset[str]) -> Guarantee:
    """The guarantee of an answer in which all rows of one unit are bounded together: any change moves it as far."""
    whole = Multiple(total.change, Discrete())
    return Guarantee(unit, dict.fromkeys(sorted(read), whole), {}, total.change, total.presence, None)


@dataclass(frozen=True)
class ContributionResponse:
    """The exact move of an aggregate between two sets of values of one record."""

    contribution: Contribution
    declared: DeclaredTable
    keys: tuple[Key, ...]  # protected ones of GROUP BY: whoever changes one leaves a group and enters another

    def between(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
        """How far the number can move when the named columns go from one set of values to another, at most."""
        if any(self._decide(key, before) != self._decide(key, after) for key in self.keys):
            return math.fsum(self.alone(values) for values in (before, after) if self._is_shown(values))
        neighbours = dict(self.declared.at_rest(self.contribution.columns))
        read = {folded(name): name for name in neighbours}
        for name in before:
            column = self.declared.column(name)
            moves = column.read(before[name]) != column.read(after[name])
            sides = _make_state(column, before[name]), _make_state(column, after[name])
            if folded(name) in read:  # one that stays is known all the same, which rules out most outcomes
                neighbours[read[folded(name)]] = ColumnChange(*sides, moves=moves or sides[0] != sides[1])
        return self.contribution.follow(neighbours).change

    @property
    def reads(self) -> frozenset[str] | None:
        """The columns that the number is made of; None where a record may change its group."""
        return None if self.keys else frozenset(self.contribution.columns)

    def alone(self, values: Mapping[str, Any]) -> float:
        """How far the number can move when a record with these values comes or goes, at most."""
        neighbours = dict(self.declared.at_rest(self.contribution.columns))
        known = {folded(name): value for name, value in values.items()}
        for name in neighbours:
            if folded(name) in known:
                side = _make_state(self.declared.column(name), known[folded(name)])
                neighbours[name] = ColumnChange(side, side)
        return bound_presence(self.contribution, neighbours)

    def worths(self, name: str, cuts: tuple[float, ...]) -> list[float]:
        """How far the number can move when a record comes or goes whose column lies in a piece, at most: for each."""
        neighbours = dict(self.declared.at_rest(self.contribution.columns))
        if name not in neighbours:
            return [self.alone({})] * (len(cuts) + 1)
        sides = [ColumnState(piece) for piece in split_line(cuts)]
        return [bound_presence(self.contribution, {**neighbours, name: ColumnChange(s, s)}) for s in sides]

    def _decide(self, key: Key, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """What decides on a record's group: the bin, or every value that the key is or is looked up by."""
        if key.bins is not None and not self.declared.is_joined(key.column):
            return (key.bins.find_stored(values.get(key.column)),)
        return tuple(values.get(name) for name in sorted(find_roots(self.contribution.joins, key.column)))

    def _is_shown(self, values: Mapping[str, Any]) -> bool:
        """Whether a record can be in a group of the answer: one whose key is no level is in none."""
        placed = [key.bins.find_stored(values[key.column]) for key in self.keys if key.bins and key.column in values]
        if None in placed:
            return False
        listed = [key for key in self.keys if key.bins is None and not key.is_found]  # a found key may be anything
        given = [(values[key.column], key.levels) for key in listed if key.column in values]
        return not any(value is None or (isinstance(value, str) and value not in levels) for value, levels in given)


def _make_state(column: DeclaredColumn, value: Any) -> ColumnState:
    if column.is_on_line:
        spot = column.place(value)
        return ColumnState(missing="yes") if spot is None else ColumnState(numbers=point(spot))
    seen = column.read(value)
    if column.is_textual:
        gone = value is None and column.missing
        return ColumnState(missing="yes") if gone else ColumnState(labels=frozenset((column.label(value),)))
    return ColumnState(missing="yes") if seen is None else ColumnState()
