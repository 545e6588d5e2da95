"""Several independent columns, at least one of numbers: the product rule, cell by cell.

Where the changes of columns add up, the belief in an AND is at most the product of what each column allows, and that
in an OR at most the complement of the product of complements (`risk.several.product`). With p the belief before and
a ≥ 0 the most that it rises in one column, an AND rises by Π(p + a) − Πp and an OR by Πq − Π(q − a), q = 1 − p. Both
grow in every p (or q) and a, so the largest values in a cell bound all of its records. A fall is a rise of the
complement. Any two records being at most `limit` apart gives a second bound, from the belief before alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import mul
from typing import Any

import numpy as np

from guessproof.errors import NotCertifiedError
from guessproof.exposure import Attacker, Exposure
from guessproof.risk.several.formula import Block, Tree, alternatives, blocks, negated, normal
from guessproof.risk.several.product import check_independent
from guessproof.risk.worst_case import Direction as Side
from guessproof.scan.cells import Cells, enclosed
from guessproof.scan.columns import FAR, SPECIAL, Column, Grid, Values
from guessproof.scan.curve import FlatCurve, TentCurve, at_most_apart
from guessproof.scan.judged import Judged, Records
from guessproof.scan.single import each_value, line_form_of, ranging_of
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal, Not, Within

MOST_CELLS = 1 << 20
LEAST_CELLS = 64  # of one column: fewer say nothing


@dataclass(frozen=True)
class Part:
    """In each cell: the belief before lies in low … high, and rises by at most `rise`."""

    low: Array
    high: Array
    rise: Array


def independent(exposure: Exposure, attributes: Mapping[str, Attribute], epsilon: float, both: bool) -> Records:
    """Records of several independent columns; NotCertifiedError where the rule does not hold or is too coarse."""
    columns = tuple(_column(a, exposure.attacker.goal) for a in attributes.values())
    trees = _trees(exposure.attacker, exposure.attacker.goal, both)
    for _, tree in trees:
        check_independent(tree)
    grids = [c for c in columns if isinstance(c, Grid)]
    labels = math.prod(c.size for c in columns if not isinstance(c, Grid))
    most = int((MOST_CELLS / labels) ** (1 / len(grids))) - 2 * FAR
    if most < LEAST_CELLS:
        raise NotCertifiedError("there are too many columns of numbers in one goal")
    rule = _Rule(exposure, attributes, columns, epsilon)
    for _, tree in trees:
        for block in blocks(tree):
            rule.check(block)

    def judge(occupied: Any) -> Judged:
        cells = {c.name: rule.cells(c, trees, most) for c in grids}
        upper = reduce(np.maximum, [rule.upper(key, tree, cells) for key, tree in trees])
        sizes = tuple(cells[c.name].size if isinstance(c, Grid) else c.size for c in columns)
        nodes = tuple(cells[c.name].node if isinstance(c, Grid) else np.arange(c.size + SPECIAL) for c in columns)

        def values(cell: int) -> dict[str, Any]:
            place = np.unravel_index(cell, sizes)
            return {c.name: _value(c, cells, int(i)) for c, i in zip(columns, place, strict=True)}

        flat = np.broadcast_to(upper, sizes).ravel()
        return Judged(nodes, sizes, np.zeros(flat.shape), flat, values, False, "product rule, from above only")

    return Records(columns, judge)


Key = tuple[int, bool]  # which alternative, and whether its complement is meant


def _trees(attacker: Attacker, goal: Goal, both: bool) -> list[tuple[Key, Tree]]:
    """Every tree whose rise counts: that of the goal, or of each alternative, and for falls their complements."""
    goals = alternatives(goal) if attacker.or_ == "each" else (goal,)
    found = [((i, False), normal(g)) for i, g in enumerate(goals)]
    return found + ([((i, True), negated(tree)) for (i, _), tree in found] if both else [])


def _column(attribute: Attribute, goal: Goal) -> Column:
    prior = attribute.prior
    if isinstance(prior, Finite):
        return Values.of(attribute, goal)
    return Grid.of(attribute.name, prior, attribute.bounds)


def _value(column: Column, cells: Mapping[str, Cells], place: int) -> Any:
    if isinstance(column, Values):
        return column.shown(place)
    found = cells[column.name]
    return float(found.first[place]), float(found.last[place])


@dataclass(frozen=True)
class _Rule:
    exposure: Exposure
    attributes: Mapping[str, Attribute]
    columns: tuple[Column, ...]
    epsilon: float

    def check(self, block: Block) -> None:
        """Refuse a block of numbers that is neither an interval around the truth nor fixed."""
        goal = block.goal.part if isinstance(block.goal, Not) else block.goal
        name = goal.attributes[0].name
        if isinstance(self.attributes[name].prior, Finite) or not goal.depends_on_truth:
            return
        if not isinstance(goal, Within) or self._curve(block, ("rise",)) is None:
            raise NotCertifiedError("a part of the goal is no interval around the true value")

    def cells(self, column: Grid, trees: list[tuple[Key, Tree]], most: int) -> Cells:
        """The cells of a column of numbers, fine enough for every part of the goal that moves with it."""
        moving = [b for _, tree in trees for b in blocks(tree) if _name(b) == column.name and b.goal.depends_on_truth]
        curve = self._curve(moving[0], ("rise", "fall")) if moving else None
        return enclosed(column, curve or FlatCurve(), most=most)

    def upper(self, key: Key, tree: Tree, cells: Mapping[str, Cells]) -> Array:
        """What no record of a cell exceeds."""
        order = iter(range(len(blocks(tree))))
        whole = self._joined(tree, lambda block: self._part(key, next(order), block, cells))
        apart = at_most_apart(whole.low, whole.high, self.epsilon * self.exposure.guarantee.change)
        return np.minimum(whole.rise, apart) + 1e-12

    def _joined(self, tree: Tree, part_of: Callable[[Block], Part]) -> Part:
        if isinstance(tree, Block):
            return part_of(tree)
        parts = [self._joined(part, part_of) for part in tree.parts]
        if tree.kind == "and":
            high = _times([p.high for p in parts])
            rise = _times([np.minimum(p.high + p.rise, 1.0) for p in parts]) - high
            return Part(_times([p.low for p in parts]), high, rise)
        rest = _times([1 - p.low for p in parts])
        rise = rest - _times([np.maximum(1 - p.low - p.rise, 0.0) for p in parts])
        return Part(1 - rest, 1 - _times([1 - p.high for p in parts]), rise)

    def _part(self, key: Key, place: int, block: Block, cells: Mapping[str, Cells]) -> Part:
        name = _name(block)
        axis = next(i for i, c in enumerate(self.columns) if c.name == name)
        column = self.columns[axis]
        if isinstance(column, Values):
            part = self._of_values(key, place, block, column)
        elif block.goal.depends_on_truth:
            part = self._of_cells(block, cells[name], column)
        else:
            part = self._of_fixed(key, place, block)
        shape = [1] * len(self.columns)
        shape[axis] = -1
        return Part(*(np.reshape(v, shape) for v in (part.low, part.high, part.rise)))

    def _of_values(self, key: Key, place: int, block: Block, column: Values) -> Part:
        prior = self.attributes[column.name].prior
        assert isinstance(prior, Finite)
        before = np.asarray([float(block.goal.chosen(prior, v) @ prior.mass) for v in column.values])
        _, upper = each_value(self._alone(key, place, column.name), column, self.epsilon, False)
        return Part(before, before, upper)

    def _of_cells(self, block: Block, cells: Cells, column: Column) -> Part:
        """An interval around the truth, or its complement; cells are widened by what rounding may add."""
        assert isinstance(column, Grid)
        curve = self._curve(block, ("rise",))
        assert curve is not None
        first, last = cells.first - 2 * column.slack, cells.last + 2 * column.slack
        low, high = curve.before(first, last)
        rise = curve.over(curve.at(first), curve.at(last)).upper
        return Part(1 - high, 1 - low, rise) if isinstance(block.goal, Not) else Part(low, high, rise)

    def _of_fixed(self, key: Key, place: int, block: Block) -> Part:
        alone = self._alone(key, place, _name(block))
        before = alone.prior
        known = (np.zeros(1), np.ones(1)) if before is None else (np.full(1, before), np.full(1, before))
        return Part(*known, np.full(1, float(alone.advantage(self.epsilon).bound)))

    def _curve(self, block: Block, sides: tuple[Side, ...]) -> TentCurve | None:
        """The block's own curve; a cap on the distance is left out, which only lets more through."""
        attacker, name = self.exposure.attacker, _name(block)
        goal = block.goal.part if isinstance(block.goal, Not) else block.goal
        form, _ = line_form_of(self.exposure.guarantee, name)
        if form is None or not isinstance(goal, Within):
            return None
        ranging = ranging_of(attacker.attributes[name], goal, (attacker.knows or {}).get(name), form)
        if ranging is None:
            return None
        if isinstance(block.goal, Not):
            sides = tuple("fall" if side == "rise" else "rise" for side in sides)
        return TentCurve(ranging, self.epsilon, sides, goal.radius is None)

    def _alone(self, key: Key, place: int, name: str) -> Exposure:
        """The exposure of one block by itself."""
        attacker = self.exposure.attacker

        def build(attributes: Mapping[str, Attribute]) -> Goal:
            tree = dict(_trees(attacker, attacker.build(attributes), both=True))[key]
            return blocks(tree)[place].goal

        knows = {n: v for n, v in (attacker.knows or {}).items() if n == name}
        return Exposure(
            replace(attacker, build=build, at=None, knows=knows or None, or_="any"), self.exposure.guarantee
        )


def _name(block: Block) -> str:
    return block.goal.attributes[0].name


def _times(parts: list[Array]) -> Array:
    return reduce(mul, parts)
