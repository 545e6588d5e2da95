"""A bracket that is narrowed until it is as narrow as was asked for, or until the time is up, and not before.

Goals with a short edge are narrowed by tiles and anchors (`narrowing`), all others by more and more certified cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guessproof.risk.bracket import Effort, Progress, agreed, width_in_odds
from guessproof.risk.several.cells import can_cut, certified_cells
from guessproof.risk.several.formula import is_round
from guessproof.risk.several.joint_attack import JointAttack, Pair
from guessproof.risk.several.narrowing import Narrowing, narrowing
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal

_FIRST, _FIRST_OF_FEW = 1000, 160  # cells, and where at most one attribute has a density
_LARGEST = 100_000  # cells that a machine can hold the program of
_MOST_PAIRS = 20_000_000  # of tiles and anchors, whose distances it can hold
_DEARER = 1.4  # a round with twice as many tiles takes a little more than twice as long
_WORTH_A_ROUND = 1.1
_SAFE = 0.8  # of the time that is left: a program that is not solved in time proves nothing
_UNASKED = 4  # rounds


@dataclass
class Refining:
    """A bracket of the gain (of the goal where k > 0, of missing it where k < 0), and the time it may take."""

    joint_attack: JointAttack
    goal: Goal
    epsilon: float
    base: float  # ln odds before
    attack: float
    bound: float
    effort: Effort
    began: float

    @property
    def left(self) -> float:
        """Seconds."""
        return self.effort.seconds - (self.effort.clock() - self.began)

    @property
    def width(self) -> float:
        """In odds."""
        return width_in_odds(self.attack, self.bound)

    @property
    def is_done(self) -> bool:
        """Whether it is as narrow as was asked for."""
        return self.width <= self.effort.tolerance

    def meet(self, attack: float, bound: float, cells: int) -> None:
        """What a round has shown of the log-odds, taken together with what was known."""
        self.attack, self.bound = agreed(max(self.attack, attack - self.base), min(self.bound, bound - self.base))
        if self.effort.progress is not None:
            self.effort.progress(Progress(cells, self.effort.seconds - self.left, self.width))

    def by_tiles(self, state: Narrowing, before: float) -> None:
        """Rounds of tiles and anchors, each as large as the time that is left allows."""
        while True:
            self.meet(state.attack, state.bound + 1e-12, state.size)
            left = self.left
            growth = min(2.0, left / (_DEARER * max(before - left, 1e-3)))
            if self.is_done or growth < _WORTH_A_ROUND or state.size * len(state.anchors) > _MOST_PAIRS:
                return
            state, before = state.narrowed(growth), left

    def by_cells(self) -> None:
        """Programs of more and more cells."""
        lines = sum(not isinstance(a.prior, Finite) for a in self.joint_attack.members(self.goal))
        size = _FIRST_OF_FEW if lines <= 1 else (_FIRST if self.joint_attack.norm in ("l1", "linf") else _FIRST // 2)
        while not self.is_done:
            start = self.left
            found = certified_cells(self.joint_attack, self.goal, self.epsilon, size, 0.9 * start)
            self.meet(found.attack, found.bound, found.cells)
            spent = start - self.left
            # The width falls with the number of cells, the time grows with nearly its square. Cells that divide a goal
            # evenly come in few numbers: who asks for a few more may get the same again.
            wanted = max(1.5 * found.cells * self.width / self.effort.tolerance, 1.6 * found.cells, 1.3 * size)
            affordable = found.cells * (_SAFE * max(self.left, 0.0) / max(spent, 1e-3)) ** 0.5
            size = int(min(wanted, affordable, _LARGEST))
            if size < 1.3 * found.cells:
                return


def refined(
    joint_attack: JointAttack, goal: Goal, k: float, known: Pair, base: float, effort: Effort, began: float
) -> Pair:
    """What is known of a signed gain, narrowed."""
    sign, goal = (1.0, goal) if k > 0 else (-1.0, ~goal)
    state = Refining(joint_attack, goal, abs(k), sign * base, sign * known[0], sign * known[1], effort, began)
    if not state.is_done:
        before = state.left
        tiles = narrowing(joint_attack, goal, abs(k)) if is_round(goal) else None
        if tiles is not None:
            state.by_tiles(tiles, before)
        elif can_cut(joint_attack, goal):
            state.by_cells()
    return sign * state.attack, sign * state.bound


def looked_at_twice(joint_attack: JointAttack, goal: Goal, epsilon: float, wide: float) -> Pair:
    """Log-odds from a few rounds of tiles and anchors, where that is worth it without being asked."""
    state, rounds = narrowing(joint_attack, goal, epsilon), 0
    if state is None:
        return -np.inf, np.inf
    while width_in_odds(state.attack, state.bound) > wide and rounds < _UNASKED:
        state, rounds = state.narrowed(2.0), rounds + 1
    return state.attack, state.bound + 1e-12
