"""Several independent columns, at least one of numbers: each cell is a box of true values.

What no record of a cell exceeds follows from the product rule on boxes (`risk.several.belief_boxes`). Any two records
being at most `limit` apart gives a second bound, from the belief before alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce

import numpy as np

from guessproof.errors import NotCertifiedError
from guessproof.exposure import Attacker, Exposure
from guessproof.risk.several.belief_boxes import BeliefBoxes, join_boxes
from guessproof.risk.several.formula import GoalBlock, Tree, alternatives, blocks, negated, normal
from guessproof.risk.several.product import check_independent
from guessproof.risk.truth_search import Direction as Side
from guessproof.scanning.cells import GridCells, enclosed
from guessproof.scanning.columns import FAR, SPECIAL, GridColumn, ListedColumn, Mask, ScanColumn
from guessproof.scanning.curve import FlatCurve, TentCurve, at_most_apart
from guessproof.scanning.judged import Judged, RecordJudge
from guessproof.scanning.single import each_value, line_form_of, ranging_of
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal, Not, Within

MOST_CELLS = 1 << 20
LEAST_CELLS = 64  # of one column: fewer say nothing


Key = tuple[int, bool]  # which alternative, and whether its complement is meant


def _trees(attacker: Attacker, goal: Goal, both: bool) -> list[tuple[Key, Tree]]:
    """Every tree whose rise counts: that of the goal, or of each alternative, and for falls their complements."""
    goals = alternatives(goal) if attacker.or_ == "each" else (goal,)
    found = [((i, False), normal(g)) for i, g in enumerate(goals)]
    return found + ([((i, True), negated(tree)) for (i, _), tree in found] if both else [])


def _column(attribute: Attribute, goal: Goal) -> ScanColumn:
    prior = attribute.prior
    if isinstance(prior, Finite):
        return ListedColumn.of(attribute, goal)
    return GridColumn.of(attribute.name, prior, attribute.bounds)


class ProductJudge(RecordJudge):
    """Records of several independent columns; NotCertifiedError where the rule does not hold or is too coarse."""

    def __init__(self, exposure: Exposure, attributes: Mapping[str, Attribute], epsilon: float, both: bool) -> None:
        goal = exposure.attacker.goal
        self.columns = tuple(_column(a, goal) for a in attributes.values())
        self._exposure, self._attributes, self._epsilon = exposure, attributes, epsilon
        self._trees = _trees(exposure.attacker, goal, both)
        for _, tree in self._trees:
            check_independent(tree)
        grids = sum(isinstance(c, GridColumn) for c in self.columns)
        labels = math.prod(c.size for c in self.columns if not isinstance(c, GridColumn))
        self._most = int((MOST_CELLS / labels) ** (1 / grids)) - 2 * FAR
        if self._most < LEAST_CELLS:
            raise NotCertifiedError("there are too many columns of numbers in one goal")
        for _, tree in self._trees:
            for block in blocks(tree):
                self._check(block)

    def judge(self, occupied: Mask | None) -> Judged:
        cells = {c.name: self._cells(c) for c in self.columns if isinstance(c, GridColumn)}
        upper = reduce(np.maximum, [self._upper(key, tree, cells) for key, tree in self._trees])
        own = tuple(c if isinstance(c, ListedColumn) else cells[c.name] for c in self.columns)
        sizes = tuple(c.size for c in own)
        flat = np.broadcast_to(upper, sizes).ravel()
        return Judged(
            names=tuple(c.name for c in self.columns),
            cells=own,
            nodes=tuple(c.node if isinstance(c, GridCells) else np.arange(c.size + SPECIAL) for c in own),
            sizes=sizes,
            lower=np.zeros(flat.shape),
            upper=flat,
            line=False,
            how="product rule, from above only",
        )

    def _check(self, block: GoalBlock) -> None:
        """Refuse a block of numbers that is neither an interval around the truth nor fixed."""
        goal = block.goal.part if isinstance(block.goal, Not) else block.goal
        name = goal.attributes[0].name
        if isinstance(self._attributes[name].prior, Finite) or not goal.depends_on_truth:
            return
        if not isinstance(goal, Within) or self._curve(block, ("rise",)) is None:
            raise NotCertifiedError("a part of the goal is no interval around the true value")

    def _cells(self, column: GridColumn) -> GridCells:
        """The cells of a column of numbers, fine enough for every part of the goal that moves with it."""
        moving = [
            b for _, tree in self._trees for b in blocks(tree) if _name(b) == column.name and b.goal.depends_on_truth
        ]
        curve = self._curve(moving[0], ("rise", "fall")) if moving else None
        return enclosed(column, curve or FlatCurve(), most=self._most)

    def _upper(self, key: Key, tree: Tree, cells: Mapping[str, GridCells]) -> Array:
        """What no record of a cell exceeds."""
        parts = {b: self._part(key, place, b, cells) for place, b in enumerate(blocks(tree))}
        whole = join_boxes(tree, parts)
        apart = at_most_apart(whole.low, whole.high, self._epsilon * self._exposure.guarantee.change)
        return np.minimum(whole.rise, apart) + 1e-12

    def _part(self, key: Key, place: int, block: GoalBlock, cells: Mapping[str, GridCells]) -> BeliefBoxes:
        name = _name(block)
        axis = next(i for i, c in enumerate(self.columns) if c.name == name)
        column = self.columns[axis]
        if isinstance(column, ListedColumn):
            part = self._of_values(key, place, block, column)
        elif block.goal.depends_on_truth:
            part = self._of_cells(block, cells[name], column)
        else:
            part = self._of_fixed(key, place, block)
        return part.along(axis, len(self.columns))

    def _of_values(self, key: Key, place: int, block: GoalBlock, column: ListedColumn) -> BeliefBoxes:
        prior = self._attributes[column.name].prior
        assert isinstance(prior, Finite)
        before = np.asarray([float(block.goal.chosen(prior, v) @ prior.mass) for v in column.values])
        _, upper = each_value(self._alone(key, place, column.name), column, self._epsilon, False)
        return BeliefBoxes.rising(before, before, upper)

    def _of_cells(self, block: GoalBlock, cells: GridCells, column: ScanColumn) -> BeliefBoxes:
        """An interval around the truth, or its complement; cells are widened by what rounding may add."""
        assert isinstance(column, GridColumn)
        curve = self._curve(block, ("rise",))
        assert curve is not None
        first, last = cells.first - 2 * column.slack, cells.last + 2 * column.slack
        low, high = curve.before(first, last)
        rise = curve.over(curve.at(first), curve.at(last)).upper
        if isinstance(block.goal, Not):
            low, high = 1 - high, 1 - low
        return BeliefBoxes.rising(low, high, rise)

    def _of_fixed(self, key: Key, place: int, block: GoalBlock) -> BeliefBoxes:
        alone = self._alone(key, place, _name(block))
        before = alone.prior
        known = (np.zeros(1), np.ones(1)) if before is None else (np.full(1, before), np.full(1, before))
        return BeliefBoxes.rising(*known, np.full(1, float(alone.advantage(self._epsilon).bound)))

    def _curve(self, block: GoalBlock, sides: tuple[Side, ...]) -> TentCurve | None:
        """The block's own curve; a cap on the distance is left out, which only lets more through."""
        attacker, name = self._exposure.attacker, _name(block)
        goal = block.goal.part if isinstance(block.goal, Not) else block.goal
        form, _ = line_form_of(self._exposure.guarantee, name)
        if form is None or not isinstance(goal, Within):
            return None
        ranging = ranging_of(attacker.attributes[name], goal, (attacker.knows or {}).get(name), form)
        if ranging is None:
            return None
        if isinstance(block.goal, Not):
            sides = tuple("fall" if side == "rise" else "rise" for side in sides)
        return TentCurve(ranging, self._epsilon, sides, goal.radius is None)

    def _alone(self, key: Key, place: int, name: str) -> Exposure:
        """The exposure of one block by itself."""
        attacker = self._exposure.attacker

        def build(attributes: Mapping[str, Attribute]) -> Goal:
            tree = dict(_trees(attacker, attacker.build(attributes), both=True))[key]
            return blocks(tree)[place].goal

        knows = {n: v for n, v in (attacker.knows or {}).items() if n == name}
        return Exposure(
            replace(attacker, build=build, at=None, knows=knows or None, or_="any"), self._exposure.guarantee
        )


def _name(block: GoalBlock) -> str:
    return block.goal.attributes[0].name
