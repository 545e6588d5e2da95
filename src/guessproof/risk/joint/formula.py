"""A Boolean goal as a tree over independent blocks, and the product rule over them.

NOT is pushed down to the blocks. Parts of a gate that share an attribute, or attributes of one joint prior, become
one block, so that different blocks of a tree are always independent and the tree names each of them once.

Independent blocks multiply, at any norm.

P(G₂ | G₁, y) is itself a posterior: the likelihood of x₂ averaged over x₁ ∈ G₁ is as Lipschitz as before, because
moving x₂ alone costs d₂ in every ℓp. So AND never exceeds the product of what each block allows, and OR never falls
below it for the complements. In ℓ1 the product of the blocks' own attacks is a feasible likelihood: then it is exact.
Averaging needs independence: on dependent attributes the rule is refused.

A part is its prior (ln p, ln(1−p)) and a gain, the change of its log-odds. AND multiplies beliefs, NOT swaps and
negates, OR is both. Everything is written in ratios to the prior, so that the tiny gains of a tiny ε keep their digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from guessproof.world.attributes import joint_of
from guessproof.world.formulas import within
from guessproof.world.goals import And, Goal, Near, Not, Or

_NEARLY = 0.5  # of the rest that is gone


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


@dataclass(frozen=True)
class BeliefShift:
    """A goal's prior and the change of its log-odds."""

    log_p: float
    log_q: float
    gain: float = 0.0

    @property
    def ratio(self) -> float:
        """ln(belief after / belief before)."""
        if self.gain > 1:
            return -float(np.logaddexp(self.log_p, self.log_q - self.gain))
        if self.gain < -1:
            return self.gain - float(np.logaddexp(self.log_q, self.log_p + self.gain))
        return self.gain - float(np.log1p(np.exp(self.log_p) * np.expm1(self.gain)))

    def flipped(self) -> BeliefShift:
        """The same for the complement."""
        return BeliefShift(self.log_q, self.log_p, -self.gain)


def all_of(parts: Sequence[BeliefShift]) -> BeliefShift:
    """Return the AND of independent parts.

    >>> half = BeliefShift(np.log(0.5), np.log(0.5), np.log(3))     # from 1/2 to 3/4
    >>> both = all_of([half, half])                           # from 1/4 to 9/16
    >>> round(float(np.exp(both.gain)) * 7 / 9, 12)
    3.0
    """
    log_p = sum(_log_p(part) for part in parts)
    with np.errstate(divide="ignore"):
        log_q = float(np.log(-np.expm1(log_p)))
    ratio, odds = sum(part.ratio for part in parts), log_p - log_q
    if np.isneginf([log_p, log_q]).any():
        return BeliefShift(log_p, log_q)
    with np.errstate(over="ignore"):
        fall = np.exp(odds) * np.expm1(ratio)
    if fall <= _NEARLY:
        return BeliefShift(log_p, log_q, ratio - float(np.log1p(-fall)))
    # The rest from what is left of each part: from 1 − fall it would be rounding.
    left = np.array([part.log_q - part.log_p - part.gain for part in parts])
    after = -float(np.sum(np.logaddexp(0.0, left)))
    with np.errstate(divide="ignore"):
        rest = float(np.log(-np.expm1(after)))
    return BeliefShift(log_p, log_q, after - rest - odds)


def _log_p(part: BeliefShift) -> float:
    """ln p, from 1 − p where that has more digits."""
    return float(np.log1p(-np.exp(part.log_q))) if part.log_q < -1 else part.log_p


def product_shift(
    tree: Tree, k: float, block: Callable[[GoalBlock, float], BeliefShift]
) -> BeliefShift:
    """Return the whole's shift from the blocks' own; an OR is what is left of the AND of complements."""
    if isinstance(tree, GoalBlock):
        return block(tree, k)
    return joined(tree.kind, [product_shift(part, k, block) for part in tree.parts])


def joined(kind: str, parts: Sequence[BeliefShift]) -> BeliefShift:
    """Return the shift of a gate from those of its independent parts."""
    if kind == "and":
        return all_of(parts)
    return all_of([part.flipped() for part in parts]).flipped()
