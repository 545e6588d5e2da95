"""Several runs of correct guesses under a prior that may be wrong, at one true value: attacks, and what bounds them.

The best likelihood for any prior is a zigzag (theory §4): one turn in every stretch of goal or rest. For one zigzag the
worst h is κ where L is above one level in the goal, and below another in the rest; both are told by what they lead to.
What bounds all zigzags (`zigzag_proof`) finds, on its way, the one that comes nearest to the bound: if that is a better
attack, the bound is looked for again from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from guessproof.risk.misjudged.odds import with_odds_of
from guessproof.risk.misjudged.stretches import NOBODY, AtomStretches, DensityStretches, ToldStretch
from guessproof.risk.misjudged.zigzag_proof import BeliefPairs, Levels, TurnedAt, Turns, Walk
from guessproof.world.checks import Array

_STARTS, _ROUNDS, _BETTER = 3, 8, 1e-6  # of better attacks, and by how much they are
_PAIRS, _CLOSER = 8, 6.0  # of where a prior turns: numbers on either side, and how much closer they are each time
_BELIEFS = 13  # of those before
_BESIDE = 1.2  # as a logarithm: how much further than turns lead levels are looked at
_BEND_LEVELS, _BEND_TURNS, _BEND_BELIEFS = 5.0, 4.0, 2.5  # how much denser in the middle
_HALVINGS = 4  # of gaps between beliefs
_GOOD_SPLITS = 2  # that are tried where all of them failed closer to the attack
_STEPS, _NEAR_STEPS = (8, 4, 2, 1), (1,)  # of turns that are moved
_OF_EPSILON, _OF_ATTACK = 2.5e-4, 1e-6  # how far above the attack a bound may be
_ROUNDING = 1e-12


class Grain(NamedTuple):
    """How many turns in each stretch, dense around one of them or not, and levels at each edge are looked at."""

    turns: int | None  # all, where it is not said
    levels: int
    around: bool = True

    def places(self, turn: int, last: int) -> Turns:
        """Of so many in a stretch, the first and the last among them."""
        if self.turns is None:
            return np.arange(last + 1)
        even = np.linspace(0.0, last, self.turns)
        found = _dense(float(turn), 0.0, float(last), self.turns, _BEND_TURNS) if self.around else even
        return np.unique(np.round(found)).astype(np.int64)


_ROUGH, _COARSE, _FINE = Grain(25, 41, around=False), Grain(41, 41), Grain(None, 61)
HAIRS_OF_CURVES = 1.0, 1.5, 2.0, 3.0  # times as far above the attack as is close enough
_NEAR = HAIRS_OF_CURVES[-1]  # up to here it is worth many turns, and better attacks
HAIRS = (*HAIRS_OF_CURVES, *(2.0**n for n in range(2, 14)))


@dataclass(frozen=True, eq=False)
class ZigzagAttack:
    """A likelihood by its turns, with the prior that favours it."""

    turns: Turns  # a place of each inner stretch
    value: float
    before: float
    typical: Array  # ln of L at each edge, as a share of its mean
    steep: float  # how fast the belief rises with ln ε


@dataclass(frozen=True, eq=False)
class MisjudgedZigzags:
    """Several runs of correct guesses under a prior that may be wrong by a factor: a belief in the goal that rises."""

    cut: DensityStretches | AtomStretches
    step: float  # of the distance, between any two values
    factor: float
    hairs: tuple[float, ...] = HAIRS_OF_CURVES
    known: dict[float, Turns] = field(default_factory=dict[float, Turns], repr=False)  # by ε
    splits: list[TurnedAt] = field(default_factory=list[TurnedAt], repr=False)  # those that proved most first

    def measure(self, epsilon: Array) -> tuple[Array, Array]:
        """(attack, bound) for each ε."""
        found = np.array([self._one(float(e), self.hairs) for e in epsilon]).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def rough(self, epsilon: Array) -> Array:
        """About what attacks reach."""
        return np.array([self._one(float(e), ())[0] for e in epsilon])

    def _one(self, epsilon: float, hairs: tuple[float, ...]) -> tuple[float, float]:
        stretches = self.cut.at(epsilon)
        if stretches is None:
            return 0.0, 1.0
        if not self.splits:
            self.splits.extend(_splits(stretches))
        world = ZigzagWorld(stretches, epsilon, np.exp(epsilon * self.step), self.factor, self.splits)
        if not all(stretch.is_told for stretch in stretches):
            return 0.0, world.whatever
        near = min(self.known, key=lambda e: abs(np.log(e / epsilon)), default=None)
        attack, bound = world.measured(None if near is None else self.known[near], hairs)
        self.known[epsilon] = attack.turns
        return min(attack.value, bound), bound


@dataclass(frozen=True, eq=False)
class ZigzagWorld:
    """All of it at one ε."""

    stretches: Sequence[ToldStretch]
    epsilon: float
    raised: float
    factor: float
    splits: list[TurnedAt]  # that are tried, one after the other

    def measured(self, turns: Turns | None, hairs: tuple[float, ...] = HAIRS) -> tuple[ZigzagAttack, float]:
        """The best attack from these turns on, and a bound."""
        attack = self._searched() if turns is None else self._polished(self.attack(turns), _NEAR_STEPS)
        for hair in hairs:
            for _ in range(_ROUNDS):
                better = self._kept(attack, hair)
                if better is None:
                    return attack, self._enough(attack, hair)
                if hair > _NEAR:  # what is far above an attack says little of better ones
                    break
                better = self._polished(better, _STEPS)
                if better.value <= attack.value * (1 + _BETTER):
                    break
                attack = better
        return attack, self.whatever

    @property
    def whatever(self) -> float:
        """How far a belief rises at most that is all there is in the end."""
        return 1 - self._before[0]

    def _searched(self) -> ZigzagAttack:
        """The best of what all places and beliefs lead to, again and again."""
        attack = self.attack(np.array(self._cells_of[1:-1]) // 2)
        for _ in range(_ROUNDS):
            walk = self._walk(
                attack, self._enough(attack, 1.0), self._beliefs(attack, attack.value), _ROUGH, self.splits[0]
            )
            found = [self.attack(turns) for turns in walk.likely(walk.worst)]
            best = sorted(found, key=lambda each: -each.value)[:_STARTS]
            better = max((self._polished(each, _STEPS) for each in best), key=lambda each: each.value)
            if better.value <= attack.value * (1 + _BETTER):
                break
            attack = better
        return attack

    def _polished(self, attack: ZigzagAttack, steps: Sequence[int]) -> ZigzagAttack:
        """Turns moved one by one as long as that is better."""
        for step in steps:
            for i, way in product(range(attack.turns.size), (-step, step)):
                turns = attack.turns.copy()
                turns[i] = np.clip(turns[i] + way, 0, self._cells_of[i + 1])
                moved = self.attack(turns)
                attack = moved if moved.value > attack.value else attack
        return attack

    def attack(self, turns: Turns) -> ZigzagAttack:
        """What a zigzag reaches with the prior that favours it most; h is the same all over a cell."""
        edges, mass, told = self._told(turns)
        n = self._correct
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.nan_to_num(np.log(told / mass), nan=0.0, neginf=0.0)
        goal, rest = np.argsort(-level[:n], kind="stable"), n + np.argsort(level[n:], kind="stable")
        sums = [self._summed(part[order]) for order in (goal, rest) for part in (mass, told, told * level)]
        i, j = _best_pair(*sums[:2], *sums[3:5])
        (a, into, inner), (b, out, outer) = ([part[at] for part in some] for some, at in ((sums[:3], i), (sums[3:], j)))
        after = into / (into + out)
        steep = after * (1 - after) * (inner / into - outer / out)
        typical = edges + np.log((a + b) / (into + out))
        return ZigzagAttack(turns, float(after - a / (a + b)), float(a / (a + b)), typical, float(steep))

    def _summed(self, part: Array) -> Array:
        """All cells, of which more and more count κ times."""
        more = np.concatenate([[0.0], np.cumsum(part)])
        return more[-1] + (self.factor - 1) * more

    @cached_property
    def _cells(self) -> list[tuple[Array, Array, Array, Array]]:
        """By stretch ∫f of cells, and ∫Lf where L is 1 at the left edge, or at the right one, in the goal raised."""
        found: list[tuple[Array, Array, Array, Array]] = []
        for stretch in self.stretches:
            raised, none = self.raised if stretch.goal else 1.0, np.zeros(0)
            left, right = stretch.left, stretch.right
            first = (none, none) if left is None else (np.diff(left.mass), raised * np.diff(left.told))
            second = (none, none) if right is None else (np.diff(right.mass), raised * np.diff(right.told))
            found.append((first[0], first[1], second[0], second[1]))
        return found

    def _told(self, turns: Turns) -> tuple[Array, Array, Array]:
        """ln L at each edge; by cell ∫f and ∫Lf, of the goal and then of the rest."""
        halves = [s.left for s in self.stretches[1:-1]]
        ahead = [h.rate * (2 * h.far[turn] - h.far[-1]) for h, turn in zip(halves, turns, strict=True) if h is not None]
        edges = np.concatenate([[0.0], np.cumsum(ahead)])
        level, places = np.exp(edges), [0, *(int(turn) for turn in turns), self._cells_of[-1]]
        mass, told = list[Array](), list[Array]()
        for i in self._order:
            left_mass, left_told, right_mass, right_told = self._cells[i]
            left, right = places[i], self._cells_of[i] - places[i]
            mass += [left_mass[:left], right_mass[:right]]
            told += [level[i - 1] * left_told[:left], level[min(i, edges.size - 1)] * right_told[:right]]
        return edges, np.concatenate(mass), np.concatenate(told)

    @cached_property
    def _cells_of(self) -> list[int]:
        """How many cells each stretch has."""
        halves = [stretch.left or stretch.right for stretch in self.stretches]
        return [half.far.size - 1 for half in halves if half is not None]

    @cached_property
    def _order(self) -> list[int]:
        """The goal's stretches, and then all others."""
        return sorted(range(len(self.stretches)), key=lambda i: not self.stretches[i].goal)

    @cached_property
    def _correct(self) -> int:
        """How many cells are the goal's."""
        return sum(n for n, stretch in zip(self._cells_of, self.stretches, strict=True) if stretch.goal)

    def _enough(self, attack: ZigzagAttack, hair: float) -> float:
        return attack.value + hair * max(_OF_EPSILON * attack.steep, _OF_ATTACK * attack.value, _ROUNDING)

    def _kept(self, attack: ZigzagAttack, hair: float) -> ZigzagAttack | None:
        """None if no belief rises by more than enough; else an attack that may come nearer to it."""
        rise = self._enough(attack, hair)
        if self._before[0] + rise >= 1:
            return None
        ends = self._beliefs(attack, rise)
        open_, walks = np.stack([ends[:-1], ends[1:]]), dict[TurnedAt, Walk]()
        for split in self.splits if hair == 1 else self.splits[:_GOOD_SPLITS]:
            open_, walks[split] = self._left_open(attack, rise, open_, split, fine=hair <= _NEAR)
            if not open_.size:
                self._prefer([split])
                return None
        if hair == 1:
            self._prefer(sorted(walks, key=lambda split: -walks[split].least))
        walk = max(walks.values(), key=lambda walk: walk.least)
        found = [self.attack(turns) for turns in walk.likely(walk.worst)[:_STARTS]]
        return max(found, key=lambda each: each.value)

    def _prefer(self, splits: Sequence[TurnedAt]) -> None:
        """Those that proved most come first: the next ε will need them, too."""
        self.splits[:] = [*splits, *(split for split in self.splits if split not in splits)]

    def _left_open(
        self, attack: ZigzagAttack, rise: float, open_: Array, split: TurnedAt, *, fine: bool
    ) -> tuple[Array, Walk]:
        """Pairs of beliefs (2, …) between which it is not proven, and the last walk.

        Those that few turns do not prove are looked at with many. Where two beliefs have no level in common that proves
        both, one between them is looked at.
        """
        looks = 0
        while True:
            grain, (before, which) = _FINE if fine and looks else _COARSE, np.unique(open_, return_inverse=True)
            walk = self._walk(attack, rise, before, grain, split)
            open_ = open_[:, ~(walk.excluded(which.reshape(open_.shape)) > self._nothing)]
            again = fine and grain is _COARSE
            if not open_.size or not (again or walk.least > self._nothing) or looks == _HALVINGS:
                return open_, walk
            looks += 1
            if not again:
                middle = 0.5 * (open_[0] + open_[1])
                open_ = np.concatenate([np.stack([open_[0], middle]), np.stack([middle, open_[1]])], axis=1)

    @property
    def _nothing(self) -> float:
        """What rounding may add, and outer parts of the rest that were left out may take away."""
        return _ROUNDING + 2 * NOBODY * self.factor

    def _beliefs(self, attack: ZigzagAttack, rise: float) -> Array:
        """From where a belief may rise so far, close to each other where the attack does."""
        low, high = self._before
        return _dense(attack.before, low, max(min(high, 1 - rise), low), _BELIEFS, _BEND_BELIEFS)

    def _walk(self, attack: ZigzagAttack, rise: float, before: Array, grain: Grain, split: TurnedAt) -> Walk:
        """All likelihoods around an attack, from some beliefs."""
        beliefs = BeliefPairs(before, np.minimum(before + rise, 1 - _ROUNDING), self.factor, self.raised)
        edge = split.edge
        # A level is fixed at one edge: at others it is off by no more than what lies between.
        widths = self.epsilon * np.array([s.width for s in self.stretches[1:-1]])
        far = np.concatenate([np.cumsum(widths[:edge][::-1])[::-1], [0.0], np.cumsum(widths[edge:])])
        total = float(np.sum(widths))
        reach = far + total + min(_BESIDE, 0.5 * total)
        levels = Levels(attack.typical, np.stack([_dense(0.0, -r, r, grain.levels, _BEND_LEVELS) for r in reach]))
        turns = [grain.places(int(turn), n) for turn, n in zip(attack.turns, self._cells_of[1:-1], strict=True)]
        return Walk(self.stretches, turns, levels, beliefs, split)

    @cached_property
    def _before(self) -> tuple[float, float]:
        """Between which beliefs a rise starts."""
        mass = {True: 0.0, False: 0.0}
        for stretch in self.stretches:
            half = stretch.left or stretch.right
            assert half is not None
            mass[stretch.goal] += float(half.mass[-1])
        # Of the rest, outer parts in which hardly anybody is were left out.
        declared = (mass[True] / (mass[True] + mass[False] + out) for out in (2 * NOBODY, 0.0))
        low, high = (float(with_odds_of(d, f)) for d, f in zip(declared, (1 / self.factor, self.factor), strict=True))
        return low * (1 - _ROUNDING), min(high * (1 + _ROUNDING), 1.0)


def _splits(stretches: Sequence[ToldStretch]) -> list[TurnedAt]:
    """Inner stretches from the middle on, at either edge."""
    count = len(stretches) - 2
    order = sorted(range(count), key=lambda i: abs(i - (count - 1) / 2))
    return [TurnedAt(i, way) for way in (1, -1) for i in order]


def _dense(centre: float, low: float, high: float, count: int, bend: float) -> Array:
    """Numbers from low to high, close to each other around one of them."""
    steps = np.linspace(-1.0, 1.0, count | 1)
    beside = np.sinh(bend * steps) / np.sinh(bend)
    return np.where(steps < 0, centre + beside * (centre - low), centre + beside * (high - centre))


def _best_pair(a: Array, into: Array, b: Array, out: Array) -> tuple[int, int]:
    """Of how many cells of goal and rest h is κ where the belief rises most: looked for closer and closer."""
    sizes = np.array([a.size - 1, b.size - 1])
    at, step = sizes // 2, np.maximum(sizes / (2 * _PAIRS), 1.0)
    while True:
        beside = np.arange(-_PAIRS, _PAIRS + 1)
        i, j = (
            np.clip(np.round(p + beside * s), 0, n).astype(np.int64) for p, s, n in zip(at, step, sizes, strict=True)
        )
        told, mass = into[i][:, None], a[i][:, None]
        rise = told / (told + out[j]) - mass / (mass + b[j])
        row, column = np.unravel_index(np.argmax(rise), rise.shape)
        at = np.array([i[row], j[column]])
        if np.all(step <= 1):
            return int(at[0]), int(at[1])
        step = np.maximum(step / _CLOSER, 1.0)
