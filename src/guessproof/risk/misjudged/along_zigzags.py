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
from guessproof.risk.misjudged.stretches import CELLS, AtomStretches, DensityStretches, Stretch
from guessproof.risk.misjudged.zigzag_proof import Beliefs, Levels, Turns, Walk
from guessproof.world.checks import Array, Mask

_STARTS, _ROUNDS, _BETTER = 3, 8, 1e-6  # of better attacks, and by how much they are
_CHANGES = 24  # of a prior, for one likelihood
_BELIEFS = 13  # of those before
_BESIDE = 1.2  # around a typical level: where one is fixed
_BEND_LEVELS, _BEND_TURNS, _BEND_BELIEFS = 5.0, 4.0, 2.5  # how much denser in the middle
_HALVINGS = 4  # of gaps between beliefs
_STEPS, _NEAR_STEPS = (8, 4, 2, 1), (2, 1)  # of turns that are moved
_OF_EPSILON, _OF_ATTACK = 2.5e-4, 1e-6  # how far above the attack a bound may be
_ROUNDING = 1e-12


class Grain(NamedTuple):
    """How many turns in each stretch, dense around one of them or not, and levels at each edge are looked at."""

    turns: int
    levels: int
    around: bool = True

    def places(self, turn: int) -> Turns:
        last = float(CELLS + 2)
        found = _dense(float(turn), 0.0, last, self.turns, _BEND_TURNS) if self.around else np.linspace(0.0, last, self.turns)
        return np.unique(np.round(found)).astype(np.int64)


_ROUGH, _COARSE, _FINE = Grain(25, 41, around=False), Grain(41, 41), Grain(CELLS + 3, 61, around=False)
_HAIRS = tuple(2.0**n for n in range(14))  # how many times as far above the attack as is close enough
_TRIES = (*((_COARSE, hair) for hair in _HAIRS[:2]), *((_FINE, hair) for hair in _HAIRS))


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
    known: dict[float, Turns] = field(default_factory=dict[float, Turns], repr=False)  # by ε

    def measure(self, epsilon: Array) -> tuple[Array, Array]:
        """(attack, bound) for each ε."""
        found = np.array([self._one(float(e)) for e in epsilon]).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def rough(self, epsilon: Array) -> Array:
        """About what attacks reach."""
        return np.array([self._one(float(e), proven=False)[0] for e in epsilon])

    def _one(self, epsilon: float, proven: bool = True) -> tuple[float, float]:
        stretches = self.cut.at(epsilon)
        if stretches is None:
            return 0.0, 1.0
        world = ZigzagWorld(stretches, epsilon, np.exp(epsilon * self.step), self.factor)
        near = min(self.known, key=lambda e: abs(np.log(e / epsilon)), default=None)
        attack, bound = world.measured(None if near is None else self.known[near], proven)
        self.known[epsilon] = attack.turns
        return min(attack.value, bound), bound


@dataclass(frozen=True, eq=False)
class ZigzagWorld:
    """All of it at one ε."""

    stretches: Sequence[Stretch]
    epsilon: float
    raised: float
    factor: float

    def measured(self, turns: Turns | None, proven: bool = True) -> tuple[ZigzagAttack, float]:
        """The best attack from these turns on, and a bound."""
        if turns is None:
            attack = self._searched()
        else:
            attack = self._polished(self.attack(turns), _NEAR_STEPS)
        if not proven:
            return attack, 1.0
        for grain, hair in _TRIES:
            for _ in range(_ROUNDS):
                better = self._kept(attack, hair, grain)
                if better is None:
                    return attack, self._enough(attack, hair)
                better = self._polished(better, _NEAR_STEPS)
                if better.value <= attack.value * (1 + _BETTER):
                    break
                attack = better
        return attack, 1.0

    def _searched(self) -> ZigzagAttack:
        """The best of what all places and beliefs lead to, again and again."""
        attack = self.attack(np.full(len(self.stretches) - 2, CELLS // 2))
        for _ in range(_ROUNDS):
            walk = self._walk(attack, self._enough(attack, 1.0), self._beliefs(attack, attack.value), _ROUGH)
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
                turns[i] = np.clip(turns[i] + way, 0, CELLS + 2)
                moved = self.attack(turns)
                attack = moved if moved.value > attack.value else attack
        return attack

    def attack(self, turns: Turns) -> ZigzagAttack:
        """What a zigzag reaches with the prior that favours it most; h is the same all over a cell."""
        edges, mass, told, goal = self._told(turns)
        h, best = np.ones(mass.size), None
        for _ in range(_CHANGES):
            a, b = (float(np.sum((h * mass)[some])) for some in (goal, ~goal))
            into, out = (float(np.sum((h * told)[some])) for some in (goal, ~goal))
            value = into / (into + out) - a / (a + b)
            if best is None or value > best[0]:
                best = value, h, (a, b, into, out)
            level = np.square((into + out) / (a + b))
            favoured = np.where(goal, told > b / out * level * mass, told < a / into * level * mass)
            if np.array_equal(favoured, h > 1):
                break
            h = np.where(favoured, self.factor, 1.0)
        assert best is not None
        value, h, (a, b, into, out) = best
        after = into / (into + out)
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = np.where(told > 0, h * told * np.log(told / mass), 0.0)
        steep = after * (1 - after) * float(np.sum(moved[goal]) / into - np.sum(moved[~goal]) / out)
        return ZigzagAttack(turns, value, a / (a + b), edges + np.log((a + b) / (into + out)), steep)

    def _told(self, turns: Turns) -> tuple[Array, Array, Array, Mask]:
        """ln L at each edge; by cell ∫f, ∫Lf and whether it is correct."""
        edges, parts = [0.0], list[tuple[Array, Array, bool]]()
        for i, stretch in enumerate(self.stretches):
            left, right = stretch.left, stretch.right
            near = 0 if right is None else CELLS + 2
            if left is not None and right is not None:
                turn = int(turns[i - 1])
                edges.append(edges[-1] + left.rate * (2 * left.far[turn] - left.far[-1]))
                near = CELLS + 2 - turn
            raised = self.raised if stretch.goal else 1.0
            if left is not None:
                some, level = slice(0, CELLS + 2 - near), raised * np.exp(edges[i - 1])
                parts.append((np.diff(left.mass)[some], level * np.diff(left.told)[some], stretch.goal))
            if right is not None:
                some, level = slice(0, near), raised * np.exp(edges[i])
                parts.append((np.diff(right.mass)[some], level * np.diff(right.told)[some], stretch.goal))
        goal = np.concatenate([np.full(mass.size, correct) for mass, _, correct in parts])
        return np.array(edges), *(np.concatenate([part[n] for part in parts]) for n in (0, 1)), goal

    def _enough(self, attack: ZigzagAttack, hair: float) -> float:
        return attack.value + hair * max(_OF_EPSILON * attack.steep, _OF_ATTACK * attack.value, _ROUNDING)

    def _kept(self, attack: ZigzagAttack, hair: float, grain: Grain) -> ZigzagAttack | None:
        """None if no belief rises by more than enough; else what may come near to it.

        Where two beliefs have no level in common that proves both, one between them is looked at.
        """
        rise = self._enough(attack, hair)
        if self._before[0] + rise >= 1:
            return None
        before = self._beliefs(attack, rise)
        walks = [self._walk(attack, rise, before, grain)]
        for _ in range(_HALVINGS):
            walk = walks[-1]
            alone = walk.excluded(np.arange(walk.beliefs.before.size))
            if not np.all(alone > _ROUNDING):
                break
            every = np.arange(before.size - 1)
            open_ = np.flatnonzero(~(walk.excluded(np.stack([every, every + 1])) > _ROUNDING))
            if not open_.size:
                return None
            middle = 0.5 * (before[open_] + before[open_ + 1])
            before = np.unique(np.concatenate([before[open_], middle, before[open_ + 1]]))
            walks.append(self._walk(attack, rise, before, grain))
        return self.attack(walks[-1].likely(walks[-1].worst)[0])

    def _beliefs(self, attack: ZigzagAttack, rise: float) -> Array:
        """From where a belief may rise so far, close to each other where the attack does."""
        low, high = self._before
        return _dense(attack.before, low, max(min(high, 1 - rise), low), _BELIEFS, _BEND_BELIEFS)

    def _walk(self, attack: ZigzagAttack, rise: float, before: Array, grain: Grain) -> Walk:
        """All likelihoods around an attack, from some beliefs."""
        beliefs = Beliefs(before, np.minimum(before + rise, 1 - _ROUNDING), self.factor, self.raised)
        reach = self.epsilon * sum(s.width for s in self.stretches[1:-1])
        reach += min(_BESIDE, 0.5 * reach)
        levels = Levels(attack.typical, _dense(0.0, -reach, reach, grain.levels, _BEND_LEVELS))
        turns = [grain.places(int(turn)) for turn in attack.turns]
        return Walk(self.stretches, turns, levels, beliefs, attack.turns.size // 2)

    @cached_property
    def _before(self) -> tuple[float, float]:
        """Between which beliefs a rise starts."""
        mass = {True: 0.0, False: 0.0}
        for stretch in self.stretches:
            half = stretch.left or stretch.right
            assert half is not None
            mass[stretch.goal] += float(half.mass[-1])
        declared = mass[True] / (mass[True] + mass[False])
        low, high = (float(with_odds_of(declared, f)) for f in (1 / self.factor, self.factor))
        return low * (1 - _ROUNDING), min(high * (1 + _ROUNDING), 1.0)


def _dense(centre: float, low: float, high: float, count: int, bend: float) -> Array:
    """Numbers from low to high, close to each other around one of them."""
    steps = np.linspace(-1.0, 1.0, count | 1)
    beside = np.sinh(bend * steps) / np.sinh(bend)
    return np.where(steps < 0, centre + beside * (centre - low), centre + beside * (high - centre))
