"""A Boolean goal as a tree over independent blocks.

NOT is pushed down to the blocks. Parts of a gate that share an attribute, or attributes of one joint prior, become
one block, so that different blocks of a tree are always independent and the tree names each of them once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Literal

from guessproof.world.attributes import joint_of
from guessproof.world.formulas import within
from guessproof.world.goals import And, Goal, Near, Not, Or

Kind = Literal["and", "or"]


@dataclass(frozen=True)
class GoalBlock:
    """A part of the goal that cannot be divided into independent ones."""

    goal: Goal

    @property
    def is_single(self) -> bool:
        """Whether it speaks of one attribute only, so that an exact engine answers."""
        return len(self.goal.attributes) == 1

    def __repr__(self) -> str:
        return repr(self.goal)


@dataclass(frozen=True)
class Gate:
    """All ("and") or at least one ("or") of several independent parts."""

    kind: Kind
    parts: tuple[Tree, ...]

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(map(repr, self.parts))})"


Tree = GoalBlock | Gate


def normal(goal: Goal, negated: bool = False) -> Tree:
    """The tree of a goal.

    >>> from guessproof.world.attributes import Attribute
    >>> from guessproof.world.priors import normal as bell
    >>> x, y = (within(Attribute(n, bell(0, 1)), 1) for n in "xy")
    >>> normal(~(x & ~y))
    or(~(x within 1), y within 1)
    >>> normal((x & y) | (~x & y))
    (x within 1 & y within 1) | (~(x within 1) & y within 1)
    """
    if isinstance(goal, Near) and goal.by == "linf":
        return normal(And(tuple(within(a, goal.radius) for a in goal.members)), negated)
    if isinstance(goal, Not):
        return normal(goal.part, not negated)
    if isinstance(goal, (And, Or)):
        kind: Kind = "and" if isinstance(goal, And) is not negated else "or"
        return gate(kind, [normal(part, negated) for part in goal.parts])
    return GoalBlock(~goal if negated else goal)


def gate(kind: Kind, parts: Iterable[Tree]) -> Tree:
    """A gate over parts, those that hang together merged into blocks."""
    flat: list[Tree] = []
    for part in parts:
        flat += part.parts if isinstance(part, Gate) and part.kind == kind else (part,)
    groups: list[tuple[set[object], list[Tree]]] = []
    for part in flat:
        keys, members = ties(part), [part]
        for other in [g for g in groups if g[0] & keys]:
            groups.remove(other)
            keys, members = keys | other[0], other[1] + members
        groups.append((keys, members))
    merged = [m[0] if len(m) == 1 else _as_block(kind, m) for _, m in groups]
    return merged[0] if len(merged) == 1 else Gate(kind, tuple(merged))


def _as_block(kind: Kind, parts: list[Tree]) -> GoalBlock:
    goals = tuple(as_goal(p) for p in parts)
    return GoalBlock(And(goals) if kind == "and" else Or(goals))


def as_goal(tree: Tree) -> Goal:
    """The goal that a tree stands for."""
    if isinstance(tree, GoalBlock):
        return tree.goal
    goals = tuple(as_goal(p) for p in tree.parts)
    return And(goals) if tree.kind == "and" else Or(goals)


def ties(tree: Tree) -> set[object]:
    """What a tree depends on: names of attributes, or of all attributes of a joint prior together."""
    found: set[object] = set()
    for attribute in as_goal(tree).attributes:
        joint = joint_of(attribute)
        found.add(attribute.name if joint is None else joint.names)
    return found


def negated(tree: Tree) -> Tree:
    """The tree of the complement."""
    if isinstance(tree, GoalBlock):
        return GoalBlock(~tree.goal)
    return Gate("or" if tree.kind == "and" else "and", tuple(negated(p) for p in tree.parts))


def blocks(tree: Tree) -> tuple[GoalBlock, ...]:
    """The blocks of a tree, from left to right."""
    return (
        (tree,)
        if isinstance(tree, GoalBlock)
        else tuple(b for part in tree.parts for b in blocks(part))
    )


def alternatives(goal: Goal) -> tuple[Goal, ...]:
    """The goals that reach the whole, each on its own: an OR taken apart, wherever it stands."""
    return tuple(dict.fromkeys(_alternatives(goal, False)))


def _alternatives(goal: Goal, negated: bool) -> list[Goal]:
    if isinstance(goal, Not):
        return _alternatives(goal.part, not negated)
    if isinstance(goal, (And, Or)):
        found = [_alternatives(part, negated) for part in goal.parts]
        if isinstance(goal, Or) is not negated:
            return [alternative for part in found for alternative in part]
        return [And(tuple(choice)) for choice in product(*found)]
    return [~goal if negated else goal]
