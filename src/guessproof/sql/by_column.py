"""How far one column alone can move a contribution, every other column at its worst: a metric on that column."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

from guessproof.sql.contribution import Contribution
from guessproof.sql.declared import Declared, DeclaredColumn
from guessproof.sql.moves import Column, Outcome, Scene, Side
from guessproof.sql.pieces import cuts_of, leaves, pieces_of
from guessproof.sql.ranges import EVERYTHING, Range, point
from guessproof.sql.term import Condition, Node, Term
from guessproof.world.line_form import LineForm, LineMetric, Metric, Multiple
from guessproof.world.metrics import Discrete, Matrix
from guessproof.world.metrics import Outcome as Outside

FINER = 16  # pieces into which a stretch of varying slope is cut
MOST_CUTS = 130  # a list of 64 numbers; beyond it any two values are taken to be furthest apart
MOST_PIECES = 16  # for the exact distance of a filter, every pair of pieces is followed
FURTHEST = 1e100  # cuts beyond this are left to the line form
MOST_LEVELS = 1000
MOST_CLASSES = 40  # all pairs of kinds of levels are followed; beyond this any two are taken to be furthest apart


def number_metric(contribution: Contribution, declared: Declared, name: str) -> tuple[Metric, LineMetric]:
    """The distance of a column of numbers, and the same or a larger one as a line form."""
    rest = declared.at_rest(contribution.columns)
    line = line_metric(contribution, rest, name)
    return _outcome(contribution, rest, name) or line, line


def line_metric(contribution: Contribution, rest: Scene, name: str) -> LineMetric:
    """How far a column of numbers moves the contribution: slopes between cuts, jumps at them."""
    free = contribution.follow({**rest, name: Column(Side(EVERYTHING), Side(EVERYTHING), moves=True)}).change
    cuts = cuts_of(contribution, name)
    if len(cuts) > MOST_CUTS:
        return LineMetric(LineForm(step=free))
    cuts = _finer(contribution, rest, name, cuts)
    pieces = [contribution.follow({**rest, name: _sliding(piece)}) for piece in pieces_of(cuts)]
    jumps = tuple(contribution.follow({**rest, name: _crossing(cut)}).gap.size for cut in cuts)
    slopes = tuple(piece.slope.size for piece in pieces)
    step = sum(piece.gap.size for piece in pieces) + 2 * max(piece.error for piece in pieces)
    if not all(map(math.isfinite, (*slopes, *jumps, step))):
        return LineMetric(LineForm(step=free))
    form = LineForm(cuts, slopes, jumps, step)
    return LineMetric(form if free >= _variation(form) + step else form.capped(free))


def _finer(contribution: Contribution, rest: Scene, name: str, cuts: tuple[float, ...]) -> tuple[float, ...]:
    """More cuts where the slope varies along a piece, as on a square: ψ then follows the curve."""
    found = set(cuts)
    for low, high in pairwise(cuts):
        moved = contribution.follow({**rest, name: _sliding(Range(low, high))})
        if moved.gap.size or moved.slope.width <= 1e-9 * moved.slope.size:
            continue
        edges = [low + (high - low) * k / FINER for k in range(FINER + 1)]
        parts = [contribution.follow({**rest, name: _sliding(Range(a, b))}) for a, b in pairwise(edges)]
        slopes = [part.slope.size for part in parts]
        if max(slopes) > min(slopes) * (1 + 1e-9):
            found.update(edges[1:-1])
    return tuple(sorted(found))


def _variation(form: LineForm) -> float:
    """The whole rise of ψ."""
    runs = zip(form.cuts, form.cuts[1:], form.slopes[1:], strict=False)
    inner = sum(slope * (b - a) for a, b, slope in runs if slope)
    return math.inf if form.slopes[0] or form.slopes[-1] else inner + sum(form.jumps)


def _outcome(contribution: Contribution, rest: Scene, name: str) -> Metric | None:
    """The exact distance of a filter whose true pieces lie between false ones: 0/1 on its outcome."""
    pieces = pieces_of(cuts_of(contribution, name))
    if not 3 <= len(pieces) <= MOST_PIECES or max(abs(p.high) for p in pieces[:-1]) > FURTHEST:
        return None
    places = [Side(piece) for piece in pieces]
    stays = [contribution.follow({**rest, name: Column(s, s, moves=True)}) for s in places]
    if any(m.change for m in stays) or any(m.error for m in stays):
        return None
    gaps = {
        (i, j): contribution.follow({**rest, name: Column(places[i], places[j], moves=True)}).change
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
    return Multiple(across.pop(), Outside(*_intervals(pieces, first, second)))


def _intervals(pieces: list[Range], first: list[int], second: list[int]) -> list[tuple[float, float]]:
    """The pieces of one outcome, merged: of the shorter list, unless a single number cannot be written as one."""
    options = [_merged([pieces[i] for i in group]) for group in (first, second)]
    return min(options, key=lambda found: (any(low == high for low, high in found), len(found)))


def _merged(ranges: list[Range]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for r in ranges:
        if merged and math.nextafter(merged[-1][1], math.inf) >= r.low:
            merged[-1] = (merged[-1][0], r.high)
        else:
            merged.append((r.low, r.high))
    return merged


def label_metric(contribution: Contribution, declared: Declared, column: DeclaredColumn) -> Metric:
    """How far a column of labels moves the contribution: every pair of levels that some condition tells apart."""
    rest = declared.at_rest(contribution.columns)

    def gap(before: Side, after: Side) -> float:
        return contribution.follow({**rest, column.name: Column(before, after, moves=True)}).change

    anything = Side(numbers=EVERYTHING if column.kind is None else None)
    levels = column.levels
    if levels is None or len(levels) > MOST_LEVELS:
        return Multiple(gap(anything, anything), Discrete())
    kinds = _kinds(contribution, column.name, levels)
    if max(kinds) >= MOST_CLASSES:
        return Multiple(gap(anything, anything), Discrete())
    ends = [Side(labels=frozenset((levels[kinds.index(k)],))) for k in range(max(kinds) + 1)]
    table = [[gap(a, b) for b in ends] for a in ends]
    pairs = [[0.0 if i == j else max(table[i][j], table[j][i]) for j in kinds] for i in kinds]
    return Matrix(levels, [[0.0 if a == b else d for b, d in enumerate(row)] for a, row in enumerate(pairs)])


def _kinds(contribution: Contribution, name: str, levels: tuple[str, ...]) -> list[int]:
    """For each level a number: the same for levels on which every part is known to come out the same."""
    tests = [node for node in leaves(contribution) if name in node.columns]
    rest = {n: Column(Side(EVERYTHING), Side(EVERYTHING)) for n in contribution.columns}
    known: dict[tuple[object, ...], int] = {}
    found: list[int] = []
    for level in levels:
        side = Side(labels=frozenset((level,)))
        outcomes = tuple(_told(test, {**rest, name: Column(side, side)}) for test in tests)
        sure = all(len(outcome) == 1 for outcome in outcomes)
        found.append(known.setdefault(outcomes if sure else (level,), len(known)))
    return found


def _told(node: Node, scene: Scene) -> frozenset[Outcome]:
    """How a condition can come out; for a number, whether there is one."""
    if isinstance(node, Condition):
        return node.follow(scene).before
    assert isinstance(node, Term)
    return node.follow(scene).null.before


def _sliding(piece: Range) -> Column:
    return Column(Side(piece), Side(piece), moves=True, slides=True)


def _crossing(cut: float) -> Column:
    return Column(Side(point(cut)), Side(point(math.nextafter(cut, math.inf))), moves=True, slides=True)


def euclidean(contribution: Contribution, declared: Declared) -> float | None:
    """The largest gradient over all protected numbers together; None where something jumps."""
    scene: dict[str, Column] = {}
    for name, column in declared.at_rest(contribution.columns).items():
        known = declared.column(name)
        free = known.protected and known.is_number
        # One that does not move may be missing all the same, and then another branch is taken.
        scene[name] = replace(column, moves=True, slides=True) if free else column
    moved = contribution.follow(scene)
    return moved.steep if moved.gap.size == 0 and math.isfinite(moved.steep) else None
