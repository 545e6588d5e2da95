"""A bracket that is narrowed until it is as narrow as was asked for, or until the time is up, and not before.

There are two ways: programs of more and more certified cells, and rounds of more and more tiles and anchors
(`narrowing`). Their stages come in an order that no time limit changes: always the one that is likely to take least.
So whoever waits longer gets all the stages that others got, and what each of them proved. A stage is not begun where
what its way took before tells that it would not be finished in time; one that is not finished says nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from guessproof.risk.bracket import Effort, Progress, agreed, width_in_odds
from guessproof.risk.several.cells import can_cut, certified_cells, climbed_further, cut
from guessproof.risk.several.formula import is_round
from guessproof.risk.several.joint_attack import JointAttack, Pair
from guessproof.risk.several.narrowing import Narrowing, is_slanted, narrowing
from guessproof.risk.several.plane import plane_of
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal

_FIRST, _FIRST_OF_FEW = 1000, 160  # cells, and where at most one attribute has a density
_LARGEST = 100_000  # cells that a machine can hold the program of
_MOST_PAIRS = 20_000_000  # of tiles and anchors, whose distances it can hold
_GROWTH = 1.7  # of tiles, in a round
_DEARER = (1.2, 1.6, 2.5)  # how much longer the next round takes: at least, as long as nothing tells, at most
_DEARER_CELLS = (1.0, 1.2, 2.0)  # the same as powers of the number of cells
_MORE, _ASK_MORE = 1.15, 1.5  # cells beside those before that are worth a program; those that are asked for first
_CELLS_FIRST, _FEW_CELLS_FIRST, _TILES_FIRST = 6.0, 2.5, 0.5  # what a first look takes beside one the other way
_SAFE = 0.9  # of the time that is left, for a program: its attack takes time of its own
_LATE, _LATE_SECONDS = 1.05, 0.15  # times the limit, and seconds, after which a round is left unfinished
_UNASKED = 4  # rounds
_NEAR = 3.0  # in log-odds


@dataclass(frozen=True)
class Shown:
    """What a stage has shown of log-odds: what is reached, what is never exceeded; and how many cells it took."""

    attack: float
    bound: float
    cells: int


@dataclass(frozen=True)
class Time:
    """When work began, and how long it may take."""

    effort: Effort
    began: float

    @property
    def left(self) -> float:
        """Seconds."""
        return self.effort.seconds - (self.effort.clock() - self.began)

    def is_late(self) -> bool:
        """Whether a stage that was begun in good time has to be given up."""
        return self.left < -((_LATE - 1) * self.effort.seconds + _LATE_SECONDS)


class Way(ABC):
    """One way, how many seconds its next stage is likely to take (infinitely many where there is none), and its turn.

    That comes by what a stage takes, and a little later each time: where rounds get no longer, programs have theirs.
    """

    cost: float = 0.0
    turn: float = 0.0

    def next(self, epsilon: float, time: Time) -> Shown | None:
        """The next stage at ε, its time measured; None where that ran out."""
        before = time.left
        try:
            found = self._stage(epsilon, before, time.is_late)
        except TimeoutError:
            self.cost = np.inf
            return None
        self.cost = self._expected(max(before - time.left, 1e-3), epsilon)
        self.turn = max(self.cost, _DEARER[0] * self.turn)
        return found

    @abstractmethod
    def _stage(self, epsilon: float, seconds: float, is_late: Callable[[], bool]) -> Shown: ...

    @abstractmethod
    def _expected(self, spent: float, epsilon: float) -> float: ...


@dataclass
class ByCells(Way):
    """Programs of more and more cells."""

    joint_attack: JointAttack
    goal: Goal
    cost: float = 0.0
    size: int = field(init=False)
    cells: int = 0
    last: tuple[int, float] | None = None  # cells and seconds of the program before

    def __post_init__(self) -> None:
        lines = sum(not isinstance(a.prior, Finite) for a in self.joint_attack.members(self.goal))
        edgy = self.joint_attack.norm in ("l1", "linf")  # by others cells have edges in many directions
        few = is_slanted(self.goal) or not edgy
        self.size = _FIRST_OF_FEW if lines <= 1 else _FIRST // 2 if few else _FIRST

    @property
    def is_quick(self) -> bool:
        """Whether few cells tell much beside a first round of tiles: those with few edges, where the goal's is long."""
        return is_slanted(self.goal) and self.joint_attack.norm in ("l1", "linf")

    def _stage(self, epsilon: float, seconds: float, is_late: Callable[[], bool]) -> Shown:
        """A program, and an attack that goes uphill from its own."""
        found = certified_cells(self.joint_attack, self.goal, epsilon, self.size, _SAFE * seconds)
        self.cells = found.cells
        if found.bound < np.inf and not is_late():
            found = climbed_further(found, self.joint_attack, self.goal)
        return Shown(found.attack, found.bound, found.cells)

    def _expected(self, spent: float, epsilon: float) -> float:
        least, power, most = _DEARER_CELLS
        if self.last is not None:
            power = float(np.clip(np.log(spent / self.last[1]) / np.log(self.cells / self.last[0]), least, most))
        self.last = self.cells, spent
        self.size, count = self._next_size(epsilon)
        return spent * (count / self.cells) ** power if self.size else np.inf

    def _next_size(self, epsilon: float) -> tuple[int, int]:
        """How many cells to ask for next, and how many that makes; 0 where there are no more.

        Cells that divide a goal evenly come in few numbers: who asks for a few more may get the same again.
        """
        size = max(_ASK_MORE * self.cells, 1.3 * self.size)
        while size <= _LARGEST:
            count = cut(self.joint_attack, self.goal, epsilon, int(size))[0].mass.size
            if count >= _MORE * self.cells:
                return (int(size), count) if count <= _LARGEST else (0, 0)
            size *= _MORE
        return 0, 0


@dataclass
class ByTiles(Way):
    """Rounds of tiles and anchors; those of one ε are those of the next, where a search goes from one to another."""

    joint_attack: JointAttack
    goal: Goal
    cost: float = 0.0
    near: float = np.inf  # a first bound that is larger is too far off
    state: Narrowing | None = None
    last: float = 0.0

    def _stage(self, epsilon: float, seconds: float, is_late: Callable[[], bool]) -> Shown:
        if self.state is None:
            self.state = narrowing(self.joint_attack, self.goal, epsilon, is_late)
            assert self.state is not None
        else:
            self.state = self.state.narrowed(_GROWTH, is_late, epsilon)
        return Shown(self.state.attack, self.state.bound + 1e-12, self.state.size)

    def _expected(self, spent: float, epsilon: float) -> float:
        state = self.state
        if state is None or state.size * len(state.anchors) > _MOST_PAIRS or state.bound > self.near:
            return np.inf  # the last where tails of the goal are nearly heavier than anchors can hold
        if state.is_boundless:
            return np.inf
        least, usual, most = _DEARER
        dearer = float(np.clip(spent / self.last, least, most)) if self.last else usual
        self.last, self.near = spent, np.inf
        return spent * dearer


def ways_of(joint_attack: JointAttack, goal: Goal, near: float = np.inf) -> list[Way]:
    """The ways there are, the better one first; the other begins when it is likely to take no longer."""
    found: list[Way] = []
    if can_cut(joint_attack, goal):
        found.append(ByCells(joint_attack, goal))
    if plane_of(joint_attack, goal) is not None:
        first = is_round(goal) or is_slanted(goal)
        found.insert(0 if first else len(found), ByTiles(joint_attack, goal, near=near))
    return found


@dataclass
class Refining:
    """A bracket of the gain (of the goal where k > 0, of missing it where k < 0), and the time it may take."""

    base: float  # ln odds before
    attack: float
    bound: float
    time: Time

    @property
    def width(self) -> float:
        """In odds."""
        return width_in_odds(self.attack, self.bound)

    @property
    def is_done(self) -> bool:
        """Whether it is as narrow as was asked for."""
        return self.width <= self.time.effort.tolerance

    def meet(self, shown: Shown) -> None:
        """What a stage has shown of the log-odds, taken together with what was known."""
        attack, bound = shown.attack - self.base, shown.bound - self.base
        self.attack, self.bound = agreed(max(self.attack, attack), min(self.bound, bound))
        if self.time.effort.progress is not None:
            seconds = self.time.effort.seconds - self.time.left
            self.time.effort.progress(Progress(shown.cells, seconds, self.width))


def next_stage(ways: list[Way], epsilon: float, time: Time) -> Shown | None:
    """The stage whose turn it is; None where any would take longer than is left, or this one did."""
    before = time.left
    some = [way for way in ways if way.cost <= max(before, 0.0)]
    if not some:
        return None
    way, is_first = min(some, key=lambda way: way.turn), all(other.cost == 0 for other in ways)
    found = way.next(epsilon, time)
    if is_first and len(ways) > 1:
        beside = _TILES_FIRST
        if isinstance(other := ways[1], ByCells):
            beside = _FEW_CELLS_FIRST if other.is_quick else _CELLS_FIRST
        ways[1].cost = ways[1].turn = beside * max(before - time.left, 1e-3)
    return found


def refined(
    joint_attack: JointAttack, goal: Goal, k: float, known: Pair, base: float, effort: Effort, began: float
) -> Pair:
    """What is known of a signed gain, narrowed."""
    sign, goal = (1.0, goal) if k > 0 else (-1.0, ~goal)
    state = Refining(sign * base, sign * known[0], sign * known[1], Time(effort, began))
    ways = ways_of(joint_attack, goal, np.inf if is_round(goal) else state.base + state.bound + _NEAR)
    while not state.is_done and (shown := next_stage(ways, abs(k), state.time)) is not None:
        state.meet(shown)
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
