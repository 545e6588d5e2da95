"""A Boolean goal as a tree over independent blocks.

NOT is pushed down to the blocks. Parts of a gate that share an attribute, or attributes of one joint prior, become
one block, so that different blocks of a tree are always independent and the tree names each of them once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from guessproof.world.attributes import joint_of
from guessproof.world.formulas import within
from guessproof.world.goals import And, Goal, Near, Not, Or


@dataclass(frozen=True)
class GoalBlock:
    """A part of the goal that cannot be divided into independent ones."""

    goal: Goal

    @property
    def is_single(self) -> bool:
        """Whether it is about one attribute only, so that an exact engine answers."""
        return len(self.goal.attributes) == 1

    def __repr__(self) -> str:
        return repr(self.goal)


@dataclass(frozen=True)
class Gate:
    """All ("and") or at least one ("or") of several independent parts."""

    kind: str
    parts: tuple[Tree, ...]

    @property
    def goal(self) -> Goal:
        """The goal that the tree stands for."""
        goals = tuple(part.goal for part in self.parts)
        return And(goals) if self.kind == "and" else Or(goals)

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(map(repr, self.parts))})"


Tree = GoalBlock | Gate


def normal(goal: Goal, negated: bool = False) -> Tree:
    """Return the tree of a goal, or of its complement.

    >>> from guessproof.world.attributes import Attribute
    >>> from guessproof.world.priors import normal as bell
    >>> x, y = (within(Attribute(n, bell(0, 1)), 1) for n in "xy")
    >>> normal(~(x & ~y))
    or(~(x within 1), y within 1)
    >>> normal((x & y) | (~x & y))
    (x within 1 & y within 1) | (~(x within 1) & y within 1)
    """
    if isinstance(goal, Near) and goal.by == "linf":
        goal = And(tuple(within(a, goal.radius) for a in goal.members))
    if isinstance(goal, Not):
        return normal(goal.part, not negated)
    if isinstance(goal, (And, Or)):
        kind = "and" if isinstance(goal, And) is not negated else "or"
        return _gate(kind, [normal(part, negated) for part in goal.parts])
    return GoalBlock(~goal if negated else goal)


def _gate(kind: str, parts: list[Tree]) -> Tree:
    """A gate over parts, those that depend on each other merged into blocks."""
    groups: list[tuple[set[object], list[Tree]]] = []
    for part in parts:
        for tree in part.parts if isinstance(part, Gate) and part.kind == kind else [part]:
            keys, members = _ties(tree), [tree]
            for other in [g for g in groups if g[0] & keys]:
                groups.remove(other)
                keys, members = keys | other[0], other[1] + members
            groups.append((keys, members))
    merged = [
        members[0] if len(members) == 1 else GoalBlock(Gate(kind, tuple(members)).goal)
        for _, members in groups
    ]
    return merged[0] if len(merged) == 1 else Gate(kind, tuple(merged))


def _ties(tree: Tree) -> set[object]:
    """What a tree depends on: names of attributes, or of all attributes of a joint prior together."""
    joints = [(a.name, joint_of(a)) for a in tree.goal.attributes]
    return {name if joint is None else joint.names for name, joint in joints}


def negated(tree: Tree) -> Tree:
    """Return the tree of the complement."""
    return normal(~tree.goal)


def blocks(tree: Tree) -> tuple[GoalBlock, ...]:
    """Return the blocks of a tree, from left to right."""
    if isinstance(tree, GoalBlock):
        return (tree,)
    return tuple(block for part in tree.parts for block in blocks(part))


def alternatives(goal: Goal) -> tuple[Goal, ...]:
    """Return the goals that reach the whole, each on its own: an OR taken apart, wherever it stands."""
    return tuple(dict.fromkeys(_alternatives(goal, False)))


def _alternatives(goal: Goal, negated: bool) -> list[Goal]:
    if isinstance(goal, Not):
        return _alternatives(goal.part, not negated)
    if isinstance(goal, (And, Or)):
        found = [_alternatives(part, negated) for part in goal.parts]
        if isinstance(goal, Or) is not negated:
            return [alternative for part in found for alternative in part]
        return [And(choice) for choice in product(*found)]
    return [~goal if negated else goal]
