"""Boxes of true values of several independent attributes: what no true value in a box gives the attacker.

In a box the belief before the release lies in low … high, becomes at most `most` and rises by at most `rise`. Where
the changes of attributes add up or the norm is smaller, the belief in an AND is at most the product of what each part
allows, and that in an OR at most the complement of the product of complements (`risk.several.product`). With p the
belief before and a ≥ 0 the most that it rises in one part, an AND rises by Π(p + a) − Πp and an OR by Πq − Π(q − a),
q = 1 − p. Both grow in every p (or q) and a, so the largest values in a box bound all of it; so does the difference of
the most after and the least before. A fall is a rise of the complement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import mul

import numpy as np

from guessproof.risk.several.formula import GoalBlock, Tree
from guessproof.world.checks import Array


@dataclass(frozen=True)
class BeliefBoxes:
    """In each box: the belief before lies in low … high, rises by at most `rise`, and becomes at most `most`."""

    low: Array
    high: Array
    rise: Array
    most: Array

    @classmethod
    def rising(cls, low: Array, high: Array, rise: Array) -> BeliefBoxes:
        """Where no more is known of the belief after than how far it rises."""
        return cls(low, high, rise, np.minimum(high + rise, 1.0))

    @classmethod
    def becoming(cls, low: Array, high: Array, most: Array) -> BeliefBoxes:
        """Where no more is known of the rise than where it ends."""
        return cls(low, high, most - low, most)

    def along(self, axis: int, count: int) -> BeliefBoxes:
        """The same boxes as one of `count` axes."""
        shape = [-1 if i == axis else 1 for i in range(count)]
        return BeliefBoxes(*(np.reshape(side, shape) for side in (self.low, self.high, self.rise, self.most)))


def join_boxes(tree: Tree, parts: Mapping[GoalBlock, BeliefBoxes]) -> BeliefBoxes:
    """The boxes of a whole goal from those of its independent blocks, each along an axis of its own.

    >>> from guessproof.risk.several.formula import normal
    >>> from guessproof.world.attributes import Attribute
    >>> from guessproof.world.goals import within
    >>> from guessproof.world.priors import normal as bell
    >>> tree = normal(within(Attribute("x", bell(0, 1)), 1) & within(Attribute("y", bell(0, 1)), 1))
    >>> half = BeliefBoxes.rising(np.array([0.5]), np.array([0.5]), np.array([0.25]))
    >>> whole = join_boxes(tree, {block: half for block in tree.parts})
    >>> float(whole.high[0]), float(whole.rise[0]), float(whole.most[0])
    (0.25, 0.3125, 0.5625)
    """
    if isinstance(tree, GoalBlock):
        return parts[tree]
    found = [join_boxes(part, parts) for part in tree.parts]
    if tree.kind == "and":
        low, high, most = (_times([getattr(b, side) for b in found]) for side in ("low", "high", "most"))
        rise = _times([np.minimum(b.high + b.rise, 1.0) for b in found]) - high
    else:
        low, high, most = (1 - _times([1 - getattr(b, side) for b in found]) for side in ("low", "high", "most"))
        rise = _times([1 - b.low for b in found]) - _times([np.maximum(1 - b.low - b.rise, 0.0) for b in found])
    return BeliefBoxes(low, high, np.minimum(rise, most - low), most)


def _times(parts: list[Array]) -> Array:
    return reduce(mul, parts)
