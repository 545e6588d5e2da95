"""A larger ε where narrower bounds allow it: every stage of narrowing is a look at another ε.

Tiles and anchors that were cut for one ε serve the next as well. So the search does not narrow at one ε for long: each
stage is asked at the ε that the one before it points to, and is a little finer. Every step up is proven before it is
taken, and whoever waits longer takes all the steps that others took.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guessproof.risk.bracket import Effort, Progress
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.refining import Shown, Time, Way, next_stage, ways_of
from guessproof.world.goals import Goal

_UP = 1.3  # the first step
_FINER = (0.2, 0.1)  # of the way from bound to attack that the next stage is likely to bring; after one that failed
_CLOSER, _STEP = 0.25, 0.1  # of the tolerance: where to stop, and the least step


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

    def look(self, epsilon: float, time: Time) -> tuple[Shown, float, float] | None:
        """What a stage shows at ε, and which share of the limit is reached, and may be; None without time for it."""
        shown = next_stage(self.ways, epsilon, time)
        if shown is None:
            return None
        return shown, (shown.attack - self.base) / self.gain, (shown.bound - self.base) / self.gain


def larger_epsilon(limits: list[Limited], start: float, effort: Effort, began: float, high: float = np.inf) -> float:
    """The largest ε found at which no limit is exceeded, from one where none is; at `high` one is known to be."""
    time, low = Time(effort, began), start
    trial = min(start * _UP, float(np.sqrt(start * high)))
    while high / low - 1 >= _CLOSER * effort.tolerance:
        looks = [look for limit in limits if (look := limit.look(trial, time)) is not None]
        if len(looks) < len(limits):
            break
        attack, bound = max(look[1] for look in looks), max(look[2] for look in looks)
        low = max(low, trial) if bound <= 1 - 1e-9 else low
        high = min(high, trial) if attack > 1 else high
        if effort.progress is not None:
            cells = max(look[0].cells for look in looks)
            effort.progress(Progress(cells, effort.seconds - time.left, high / low - 1))
        # Over a short way a gain is about proportional to ε, and the next stage is finer.
        likely = bound - _FINER[bound > 1] * max(bound - max(attack, 0.0), 0.0) if bound < np.inf else 1.0
        trial = max(trial / likely, low * (1 + _STEP * effort.tolerance))
        if trial >= high:
            trial = float(np.sqrt(low * high))
    return low
