"""Where a wrong prior turns: what is raised and what it is compared with, along the radii at which h becomes κ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from guessproof.risk.misjudged.tents import Move
from guessproof.world.checks import Array

NEXT = 1e-4  # a share: the step of a derivative
_SAME = 1e-12  # of slopes
_FAR = 0.3  # a share: the step of Newton's method at most


@dataclass(frozen=True, eq=False)
class TurnedPart:
    """∫hf, ∫Lhf and L where h turns, for radii along which h becomes κ further and further."""

    mass: Array
    told: Array
    slope: Array

    def raised(self, by: Array) -> TurnedPart:
        return TurnedPart(self.mass, self.told * by, self.slope * by)

    def pick(self, rows: NDArray[np.int64]) -> TurnedPart:
        return TurnedPart(self.mass[rows], self.told[rows], self.slope[rows])

    def polygon(self, way: Move) -> Array:
        """Masses and values of corners whose polygon bounds ∫Lhf: above it where that is concave (1), below it (−1).

        Two tangents meet in each corner. Wherever they are said to meet, the one that says less holds for both sides.
        """
        step, climb = np.diff(self.mass), np.diff(self.told)
        bend = self.slope[:, :-1] - self.slope[:, 1:]
        meet = (climb - self.slope[:, 1:] * step) / bend
        # Where many values are equally far, tangents are the same: rounding must not say where they meet.
        same = np.isnan(meet) | (np.abs(bend) <= _SAME * np.abs(self.slope[:, 1:]))
        meet = np.clip(np.where(same, 0.0, meet), 0.0, step)
        left = self.told[:, :-1] + np.where(meet > 0, self.slope[:, :-1] * meet, 0.0)
        right = self.told[:, 1:] - np.where(meet < step, self.slope[:, 1:] * (step - meet), 0.0)
        corner = np.maximum(left, right) if way > 0 else np.minimum(left, right)
        mass = np.concatenate([self.mass[:, :1], self.mass[:, :-1] + meet, self.mass[:, -1:]], axis=1)
        return np.stack([mass, np.concatenate([self.told[:, :1], corner, self.told[:, -1:]], axis=1)])


def best_turns(target: TurnedPart, rest: TurnedPart) -> tuple[Array, tuple[NDArray[np.int64], ...]]:
    """The largest A/(A+B) − a/(a+b) at the radii themselves, in each row, and at which."""
    values = risen(target.mass[:, :, None], target.told[:, :, None], rest.mass[:, None, :], rest.told[:, None, :])
    at = np.unravel_index(best_place(values), values.shape[1:])
    found = values[np.arange(len(values)), *at]
    return np.where(np.isnan(found), -1.0, found), at


def best_place(values: Array) -> NDArray[np.int64]:
    """Where each row has its largest value."""
    flat = np.where(np.isnan(values), -1.0, values).reshape(len(values), values.shape[1] * values.shape[2])
    return np.argmax(flat, axis=1)


def levels_at_best(target: TurnedPart, rest: TurnedPart) -> tuple[Array, Array]:
    """The best attack at the radii themselves, and what ln L is where h turns if nothing is to be better."""
    value, (i, j) = best_turns(target, rest)
    every = np.arange(value.size)
    ours, theirs = ((part.mass[every, at], part.told[every, at]) for part, at in ((target, i), (rest, j)))
    return value, levels_of(*ours, *theirs)


def levels_of(a: Array, into: Array, b: Array, out: Array) -> Array:
    """What ln L is where h turns, for target and rest, if nothing is to be better than this."""
    level = 2 * np.log((into + out) / (a + b))
    return np.stack([np.log(b / out) + level, np.log(a / into) + level])


@dataclass(frozen=True, eq=False)
class TurnAhead:
    """∫hf, ∫Lhf and L at one turn, in rows, and how the first changes a little further on."""

    mass: Array
    told: Array
    slope: Array
    change: Array

    @classmethod
    def of(cls, part: TurnedPart) -> TurnAhead:
        return cls(part.mass[:, -2], part.told[:, -2], part.slope[:, -2], part.mass[:, -1] - part.mass[:, -2])


Parts = Callable[[Array, Array], tuple[TurnedPart, TurnedPart]]  # radii inside and outside → target and rest


def nearer_turns(parts: Parts, turns: Array, move: Move, steep: Array, steps: int) -> Array:
    """Turns that are nearer to the best ones of each peak: Newton's steps to where the derivatives vanish.

    That is where ln L at the turns is ln(b/B), for the target, and ln(a/A), for the rest, plus 2·ln((A+B)/(a+b)).
    `steep` is how ln L changes along a share, inside and outside.
    """
    order = slice(None, None, move)  # target and rest, or inside and outside
    for _ in range(steps):
        ahead = np.where(turns > 0.5, -NEXT, NEXT)
        own, other = (TurnAhead.of(part) for part in parts(*np.stack([turns, turns + ahead], axis=-1)))
        with np.errstate(all="ignore"):
            turns = newton_turns(own, other, turns[order], ahead[order], steep[order])[order]
    return turns


def reached_by(parts: Parts, turns: Array) -> Array:
    """How far the belief moves with such turns, or with several of each row; −∞ where that is not a number."""
    each = turns if turns.ndim == 3 else turns[..., None]
    target, rest = parts(each[0], each[1])
    last = slice(-each.shape[2], None)
    with np.errstate(all="ignore"):
        found = risen(*(v[:, last] for v in (target.mass, target.told, rest.mass, rest.told)))
    found = np.where(np.isnan(found), -np.inf, found)
    return found if turns.ndim == 3 else found[:, 0]


def newton_turns(own: TurnAhead, other: TurnAhead, turns: Array, ahead: Array, steep: Array) -> Array:
    """The turns of target and rest after a step; `steep` is how ln L changes along a share.

    Where one of them comes to an end of its range, the other goes where it is best with that.
    """
    (a, into), (b, out) = (own.mass, own.told), (other.mass, other.told)
    total, before = into + out, a + b
    level = 2 * np.log(total / before)
    off = np.log(own.slope * out / b) - level, np.log(other.slope * into / a) - level
    grows = own.change / ahead[0], other.change / ahead[1]
    pull = [2 * part.slope / total - 2 / before for part in (own, other)]
    first = steep[0] - grows[0] * pull[0], -grows[1] * (1 / b - other.slope / out + pull[1])
    second = -grows[0] * (1 / a - own.slope / into + pull[0]), steep[1] - grows[1] * pull[1]
    det = first[0] * second[1] - first[1] * second[0]
    free = _moved(
        turns, np.stack([first[1] * off[1] - second[1] * off[0], second[0] * off[0] - first[0] * off[1]]) / det
    )
    ends, step = (free <= 0) | (free >= 1), free - turns
    alone = np.stack([-(off[0] + first[1] * step[1]) / first[0], -(off[1] + second[0] * step[0]) / second[1]])
    return np.where(ends[::-1] & ~ends, _moved(turns, alone), free)


def _moved(turns: Array, step: Array) -> Array:
    return np.clip(turns + np.where(np.isfinite(step), np.clip(step, -_FAR, _FAR), 0.0), 0.0, 1.0)


def risen(a: Array, into: Array, b: Array, out: Array) -> Array:
    """A/(A+B) − a/(a+b)."""
    return (into * b - out * a) / ((into + out) * (a + b))


def dense(centre: Array, count: int, narrow: float | Array) -> Array:
    """Shares from 0 to 1 that are dense around each centre and ever wider further away, in rows, as many on each side.

    An odd number of them has the centre itself, an even number lies beside it.

    >>> dense(np.array([0.5, 0.1]), 5, 0.1).round(3).tolist()
    [[0.0, 0.357, 0.5, 0.643, 1.0], [0.0, 0.054, 0.1, 0.301, 1.0]]
    """
    narrow, centre = np.reshape(narrow, (-1, 1)), centre[:, None]
    way = np.linspace(-1.0, 1.0, count)
    side = np.where(way < 0, centre, 1 - centre)
    made = centre + np.sign(way) * narrow * np.sinh(np.abs(way) * np.arcsinh(side / narrow))
    made[:, 0], made[:, -1] = 0.0, 1.0
    return np.clip(made, 0.0, 1.0)
