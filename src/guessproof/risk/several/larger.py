"""A larger ε where narrower bounds allow it: every stage of narrowing is a look at another ε.

Tiles and anchors that were cut for one ε serve the next as well. So the search does not narrow at one ε for long: each
stage is asked at the ε that the one before it points to, and is a little finer. Every step up is proven before it is
taken, and whoever waits longer takes all the steps that others took.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guessproof.risk.bracket import Effort, Progress, width_in_odds
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.refining import Time, Way, next_stage, ways_of
from guessproof.world.goals import Goal

_UP = 1.3  # the first step
_FINER = (0.1, 0.2)  # of the way from bound to attack that the next stage is likely to bring; after one that failed
_POWER = (0.7, 1.0)  # of ε in a gain: upwards, and downwards, where what is tried next is finer than what failed
_CLOSER, _STEP = 0.25, 0.1  # of the tolerance: where to stop, and the least step


@dataclass(frozen=True)
class Look:
    """Which share of a limit is reached, and which may be; how wide that is in odds; and how many cells it took."""

    attack: float
    bound: float
    width: float
    cells: int


@dataclass
class Limited:
    """A gain that must not be exceeded, of the goal or of missing it, and the ways to bound it."""

    gain: float
    base: float  # ln odds before
    ways: list[Way]

    @classmethod
    def of(cls, joint_attack: JointAttack, goal: Goal, sign: int, gain: float, base: float) -> Limited:
        """`base` are the log-odds of the goal."""
        ways = ways_of(joint_attack, goal if sign > 0 else ~goal)[:1]  # two would point to different ε
        return cls(gain, sign * base, ways)

    def look(self, epsilon: float, time: Time) -> Look | None:
        """What a stage shows at ε; None without time for it."""
        shown = next_stage(self.ways, epsilon, time)
        if shown is None:
            return None
        attack, bound = ((odds - self.base) / self.gain for odds in (shown.attack, shown.bound))
        return Look(attack, bound, width_in_odds(shown.attack, shown.bound), shown.cells)


def larger_epsilon(limits: list[Limited], start: float, effort: Effort, began: float, high: float = np.inf) -> float:
    """The largest ε found at which no limit is exceeded, from one where none is; at `high` one is known to be.

    It ends where a bracket as narrow as was asked for does not allow more.
    """
    time, low = Time(effort, began), start
    trial = min(start * _UP, float(np.sqrt(start * high)))
    while high / low - 1 >= _CLOSER * effort.tolerance:
        looks = [look for limit in limits if (look := limit.look(trial, time)) is not None]
        if len(looks) < len(limits):
            break
        attack, bound, width = (max(getattr(look, name) for look in looks) for name in ("attack", "bound", "width"))
        low = max(low, trial) if bound <= 1 - 1e-9 else low
        high = min(high, trial) if attack > 1 or (width <= effort.tolerance and low < trial) else high
        if effort.progress is not None:
            effort.progress(Progress(max(look.cells for look in looks), effort.seconds - time.left, width))
        # Over a short way a gain is about a power of ε, and the next stage is finer.
        fails = bound > 1 - 1e-9
        likely = bound - _FINER[fails] * max(bound - max(attack, 0.0), 0.0) if bound < np.inf else 1.0
        guess = trial * likely ** (-1 / _POWER[fails])
        if not fails and width <= effort.tolerance and guess <= low * (1 + _CLOSER * effort.tolerance):
            break
        trial = max(guess, low * (1 + _STEP * effort.tolerance))
        if trial >= high:
            trial = float(np.sqrt(low * high))
    return low
