"""A bracket that is narrowed until it is as narrow as was asked for, or until the time is up, and not before.

Goals with a short edge, and those of two numbers with a curved one, are narrowed by tiles and anchors (`narrowing`),
all others by more and more certified cells, and by tiles in the time that is left where the next program would take
too long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guessproof.risk.bracket import Effort, Progress, agreed, width_in_odds
from guessproof.risk.several.cells import Certified, can_cut, certified_cells, climbed_further, cut
from guessproof.risk.several.formula import is_round
from guessproof.risk.several.joint_attack import JointAttack, Pair
from guessproof.risk.several.narrowing import Narrowing, is_slanted, narrowing
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal

_FIRST, _FIRST_OF_FEW = 1000, 160  # cells, and where at most one attribute has a density
_LARGEST = 100_000  # cells that a machine can hold the program of
_MOST_PAIRS = 20_000_000  # of tiles and anchors, whose distances it can hold
_DEARER = 1.4  # a round with twice as many tiles takes a little more than twice as long
_WORTH_A_ROUND = 1.1
_DEARER_CELLS = (1.5, 1.25)  # powers of the number of cells by which time grows: as is likely, and at least
_DEARER_ROUND = (1.8, 1.5)  # the same where cells have edges in many directions, by norms other than ℓ1 and ℓ∞
_MORE, _ASK_MORE = 1.15, 3.0  # cells beside those before that are worth a program; as many may be asked for
_LATE, _LATE_SECONDS = 0.2, 1.0  # of the time, and seconds, for which another way is worth being begun
_LAST = 0.7  # of it: what comes after a program, its attack, takes time of its own
_SAFE = 0.8  # of the time that is left: a program that is not solved in time proves nothing
_UNASKED = 4  # rounds
_NEAR = 3.0  # in log-odds


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

    def is_near(self, bound: float) -> bool:
        """Whether a first bound on log-odds is near enough to what is known for rounds to bring it below that.

        Where a likelihood makes tails of the goal count, whose edge the first tiles do not resolve, it is not.
        """
        return bound - self.base <= self.bound + _NEAR

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

    def by_what_is_left(self, found: Certified) -> None:
        """A better attack than the last program's; then tiles, or one program that may take longer than anybody waits.

        It takes about as long as the attack before it, a fraction of what the program took.
        """
        cells = found.cells
        if not self.is_done and self.left > 0:
            self.meet(climbed_further(found, self.joint_attack, self.goal).attack, np.inf, cells)
        before = self.left
        if self.is_done or before < max(_LATE * self.effort.seconds, _LATE_SECONDS):
            return
        tiles = narrowing(self.joint_attack, self.goal, self.epsilon)
        if tiles is not None and tiles.bound < np.inf:  # not where tails of the goal are heavier than anchors can hold
            self.by_tiles(tiles, before)
        elif size := self._next_size(cells, 2.0 * cells, _LARGEST):
            found = certified_cells(self.joint_attack, self.goal, self.epsilon, size, _LAST * self.left)
            self.meet(found.attack, found.bound, found.cells)

    def by_cells(self) -> Certified:
        """Programs of more and more cells; the last that was solved, or the first."""
        lines = sum(not isinstance(a.prior, Finite) for a in self.joint_attack.members(self.goal))
        edgy = self.joint_attack.norm in ("l1", "linf")
        size = _FIRST_OF_FEW if lines <= 1 else (_FIRST if edgy else _FIRST // 2)
        solved: Certified | None = None
        while True:
            start = self.left
            found = certified_cells(self.joint_attack, self.goal, self.epsilon, size, 0.9 * start)
            solved = found if solved is None or found.bound < np.inf else solved
            self.meet(found.attack, found.bound, found.cells)
            spent = start - self.left
            # The width falls with the number of cells.
            wanted = max(1.5 * found.cells * self.width / self.effort.tolerance, 1.6 * found.cells, 1.3 * size)
            longer = _SAFE * max(self.left, 0.0) / max(spent, 1e-3)
            likely, most = (
                min(found.cells * longer ** (1 / power), _LARGEST)
                for power in (_DEARER_CELLS if edgy else _DEARER_ROUND)
            )
            # As many as are likely to be solved in time; more only where there is no such number.
            sizes = (
                (0,) if self.is_done else (self._next_size(found.cells, min(wanted, likely), n) for n in (likely, most))
            )
            size = next(filter(None, sizes), 0)
            if not size:
                return solved

    def _next_size(self, cells: int, wanted: float, most: float) -> int:
        """How many cells to ask for next; 0 where there are no more that can be paid for.

        Cells that divide a goal evenly come in few numbers: who asks for a few more may get the same again.
        """
        size, step = wanted, 1.0
        while _MORE * cells <= most and size <= _ASK_MORE * most:
            count = cut(self.joint_attack, self.goal, self.epsilon, int(size))[0].mass.size
            if _MORE * cells <= count <= most:
                return int(size)
            turn = _MORE if count < _MORE * cells else 1 / _MORE
            if abs(step * turn - 1) < 1e-9 and step != 1:  # what lies between these two numbers of cells is neither
                return 0
            size, step = size * turn, turn
        return 0


def refined(
    joint_attack: JointAttack, goal: Goal, k: float, known: Pair, base: float, effort: Effort, began: float
) -> Pair:
    """What is known of a signed gain, narrowed."""
    sign, goal = (1.0, goal) if k > 0 else (-1.0, ~goal)
    state = Refining(joint_attack, goal, abs(k), sign * base, sign * known[0], sign * known[1], effort, began)
    if not state.is_done:
        before = state.left
        tiles = narrowing(joint_attack, goal, abs(k)) if is_round(goal) or is_slanted(goal) else None
        if tiles is not None and (is_round(goal) or state.is_near(tiles.bound)):
            state.by_tiles(tiles, before)
        elif can_cut(joint_attack, goal):
            state.by_what_is_left(state.by_cells())
    return sign * state.attack, sign * state.bound


def looked_at_twice(joint_attack: JointAttack, goal: Goal, epsilon: float, wide: float) -> Pair:
    """Log-odds from a few rounds of tiles and anchors, where that is worth it without being asked."""
    state, rounds = narrowing(joint_attack, goal, epsilon), 0
    if state is None:
        return -np.inf, np.inf
    # Where tails of the goal are heavier than anchors can hold, there is nothing to narrow.
    while state.bound < np.inf and width_in_odds(state.attack, state.bound) > wide and rounds < _UNASKED:
        state, rounds = state.narrowed(2.0), rounds + 1
    return state.attack, state.bound + 1e-12
