"""The guarantee metric of an aggregate: how far one record can move it (MATHEMATICS 6).

A record contributes φ(x) to a sum, a count, a smallest or a largest value, and what it contributes when it is
filtered out (0, or the end of the range that leaves MIN or MAX alone). Sums, counts and extremes move no further than
φ does: D(x, x') = |φ(x) − φ(x')|, with every other record and every column that is not protected as it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import Expr, exp

from guessproof.sql.declared import Declared, DeclaredColumn
from guessproof.sql.moves import Column, Moved, Scene, Side, chosen, settled
from guessproof.sql.ranges import EVERYTHING, Range, point
from guessproof.sql.rules.choice import Nothing
from guessproof.sql.term import Condition, Node, Row, Term, Types
from guessproof.world.line_metric import LineMetric
from guessproof.world.metrics import Discrete, LineForm, Matrix, Metric, Multiple, Outcome

FINER = 16  # pieces into which a stretch of varying slope is cut
MOST_LEVELS = 60  # all pairs of levels are followed; beyond this any two are taken to be furthest apart


@dataclass(frozen=True)
class Contribution(Term):
    """φ(x): the term where the filter holds and there is a number, `absent` elsewhere."""

    condition: Condition
    term: Term
    absent: float

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.condition, self.term

    def at(self, row: Row) -> float:
        value = self.term.at(row) if self.condition.at(row) else None
        return self.absent if value is None else value

    def follow(self, scene: Scene) -> Moved:
        inside = chosen(self.condition.follow(scene), self.term.follow(scene), Nothing().follow(scene))
        return settled(inside, self.absent)

    def write(self, types: Types) -> Expr:
        return self.term.write(types)

    @property
    def is_whole(self) -> bool:
        return self.term.is_whole


@dataclass(frozen=True)
class Guarantee:
    """What one record can do to one number, per unit of noise.

    `columns`: by changing this column alone, the others at their worst. `change`: by changing any protected values,
    also to NULL. `presence`: by coming or going. `euclidean`: per unit of straight-line distance over all protected
    numbers, None where there are jumps. `error`: what floating-point arithmetic can add to any change; all but
    `euclidean` include it.
    """

    columns: Mapping[str, Metric]
    lines: Mapping[str, LineMetric]  # a simpler, never smaller form of the same, for searches over true values
    change: float
    presence: float
    euclidean: float | None
    error: float
    contribution: Contribution
    declared: Declared

    @property
    def slopes(self) -> dict[str, float]:
        """The largest change per unit of each column of numbers."""
        return {name: max(metric.form.slopes) for name, metric in self.lines.items()}

    def between(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
        """How far the number can move when the named columns go from one set of values to another, at most."""
        scene = dict(self.declared.at_rest(self.contribution.columns))
        for name in before:
            column = self.declared.column(name)
            if column.name in scene and before[name] != after[name]:
                scene[column.name] = Column(_side(column, before[name]), _side(column, after[name]), moves=True)
        return self.contribution.follow(scene).change


def guarantee(contribution: Contribution, declared: Declared) -> Guarantee:
    """The guarantee of a contribution, for every protected column."""
    protected = [c for n in sorted(contribution.columns) if (c := declared.column(n)).protected]
    whole = contribution.follow(declared.in_motion(contribution.columns))
    lines = {c.name: line_metric(contribution, declared, c.name) for c in protected if c.is_number}
    columns: dict[str, Metric] = {}
    for column in protected:
        if column.name in lines:
            columns[column.name] = _outcome(contribution, declared, column.name) or lines[column.name]
        else:
            columns[column.name] = _label_metric(contribution, declared, column)
    away = (whole.hull | point(contribution.absent)) - point(contribution.absent)
    presence = away.size + 2 * whole.error
    euclidean = _euclidean(contribution, declared)
    return Guarantee(columns, lines, whole.change, presence, euclidean, 2 * whole.error, contribution, declared)


def line_metric(contribution: Contribution, declared: Declared, name: str) -> LineMetric:
    """How far a column of numbers moves the contribution: slopes between cuts, jumps at them."""
    rest = dict(declared.at_rest(contribution.columns))
    cuts = _finer(contribution, rest, name, tuple(sorted(c for c in contribution.cuts(name) if math.isfinite(c))))
    pieces = [contribution.follow({**rest, name: _sliding(piece)}) for piece in _pieces(cuts)]
    jumps = tuple(contribution.follow({**rest, name: _crossing(cut)}).gap.size for cut in cuts)
    slopes = tuple(piece.slope.size for piece in pieces)
    step = sum(piece.gap.size for piece in pieces) + 2 * max(piece.error for piece in pieces)
    free = contribution.follow({**rest, name: Column(Side(EVERYTHING), Side(EVERYTHING), moves=True)})
    form = LineForm(cuts, slopes, jumps, step)
    return LineMetric(form if free.change >= _variation(form) + step else form.capped(free.change))


def _finer(contribution: Contribution, rest: Scene, name: str, cuts: tuple[float, ...]) -> tuple[float, ...]:
    """More cuts where the slope varies along a piece, as on a square: ψ then follows the curve."""
    found = list(cuts)
    for low, high in zip(cuts, cuts[1:], strict=False):
        edges = [low + (high - low) * k / FINER for k in range(FINER + 1)]
        parts = [
            contribution.follow({**rest, name: _sliding(Range(a, b))}) for a, b in zip(edges, edges[1:], strict=False)
        ]
        slopes = [part.slope.size for part in parts]
        if any(part.gap.size for part in parts) or max(slopes) <= min(slopes) * (1 + 1e-9):
            continue
        found.extend(edges[1:-1])
    return tuple(sorted(set(found)))


def _variation(form: LineForm) -> float:
    """The whole rise of ψ."""
    runs = zip(form.cuts, form.cuts[1:], form.slopes[1:], strict=False)
    inner = sum(slope * (b - a) for a, b, slope in runs if slope)
    return math.inf if form.slopes[0] or form.slopes[-1] else inner + sum(form.jumps)


def _outcome(contribution: Contribution, declared: Declared, name: str) -> Metric | None:
    """The exact distance of a filter whose true pieces lie between false ones: 0/1 on its outcome."""
    rest = dict(declared.at_rest(contribution.columns))
    cuts = tuple(sorted(c for c in contribution.cuts(name) if math.isfinite(c)))
    pieces = _pieces(cuts)
    if not 3 <= len(pieces) <= 12:
        return None
    sides = [Side(piece) for piece in pieces]
    stays = [contribution.follow({**rest, name: Column(s, s, moves=True)}) for s in sides]
    if any(m.change for m in stays) or any(m.error for m in stays):
        return None
    gaps = {
        (i, j): contribution.follow({**rest, name: Column(sides[i], sides[j], moves=True)}).change
        for i in range(len(pieces))
        for j in range(i)
    }
    first = [i for i in range(len(pieces)) if i == 0 or gaps[(i, 0)] == 0]
    second = [i for i in range(len(pieces)) if i not in first]
    across = {gaps[(max(i, j), min(i, j))] for i in first for j in second}
    within = {gaps[(i, j)] for group in (first, second) for i in group for j in group if j < i}
    if len(across) != 1 or within - {0.0}:
        return None
    smaller = first if len(first) < len(second) else second
    intervals = _merged([pieces[i] for i in smaller])
    if len(intervals) == 1 and not (math.isfinite(intervals[0][0]) and math.isfinite(intervals[0][1])):
        return None  # a single threshold is a line form already, which has exact answers for every question
    return Multiple(across.pop(), Outcome(*intervals))


def _merged(ranges: list[Range]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for r in ranges:
        if merged and math.nextafter(merged[-1][1], math.inf) >= r.low:
            merged[-1] = (merged[-1][0], r.high)
        else:
            merged.append((r.low, r.high))
    return merged


def _label_metric(contribution: Contribution, declared: Declared, column: DeclaredColumn) -> Metric:
    """How far a column of labels moves the contribution: every pair of levels."""
    rest = dict(declared.at_rest(contribution.columns))

    def gap(before: Side, after: Side) -> float:
        return contribution.follow({**rest, column.name: Column(before, after, moves=True)}).change

    anything = Side(numbers=EVERYTHING if column.is_number is None else None)
    if column.levels is None or len(column.levels) > MOST_LEVELS:
        return Multiple(gap(anything, anything), Discrete())
    sides = [Side(labels=frozenset((level,))) for level in column.levels]
    table = [[gap(a, b) if a != b else 0.0 for b in sides] for a in sides]
    even = [[max(table[i][j], table[j][i]) for j in range(len(sides))] for i in range(len(sides))]
    return Matrix(column.levels, even)


def _euclidean(contribution: Contribution, declared: Declared) -> float | None:
    """The largest gradient over all protected numbers together; None where something jumps."""
    scene: dict[str, Column] = {}
    for name, column in declared.at_rest(contribution.columns).items():
        known = declared.column(name)
        slides = known.protected and bool(known.is_number)
        scene[name] = _sliding(EVERYTHING) if slides else column
    moved = contribution.follow(scene)
    return moved.steep if moved.gap.size == 0 and math.isfinite(moved.steep) else None


def _side(column: DeclaredColumn, value: Any) -> Side:
    if value is None:
        return Side(missing="yes")
    return Side(numbers=point(float(value))) if column.is_number else Side(labels=frozenset((str(value),)))


def _sliding(piece: Range) -> Column:
    return Column(Side(piece), Side(piece), moves=True, slides=True)


def _crossing(cut: float) -> Column:
    return Column(Side(point(cut)), Side(point(math.nextafter(cut, math.inf))), moves=True, slides=True)


def _pieces(cuts: tuple[float, ...]) -> list[Range]:
    lows = [-math.inf, *(math.nextafter(c, math.inf) for c in cuts)]
    return [Range(low, high) for low, high in zip(lows, [*cuts, math.inf], strict=True)]
