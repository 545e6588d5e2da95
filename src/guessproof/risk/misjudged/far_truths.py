"""True values that need no boxes: a belief is bounded there whatever the peak of a tent, if the prior is wrong, too.

The most that is believed after a release with the declared prior bounds it with every other one: odds are κ times as
large at most. Far out little is believed, or in a tail without memory less and less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from guessproof.risk.gaps import gap_of_tents, room_by_odds
from guessproof.risk.misjudged.odds import most_moved, with_odds_of
from guessproof.risk.misjudged.quick import aim
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.truth_search import TruthSearch
from guessproof.world.checks import Array

_TAILS = (3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-6, 1e-8, 1e-11, 1e-14)  # of the prior: where true values may end
_OUTWARDS = (0.3, 0.1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-11, 1e-14)  # the same without memory
_WIDE, _SLICES, _SOME = 12.0, 64, 9  # times half a goal: a range that is cut into slices, looked at for some ε
_WELL_BELOW = 0.5  # of an attack: what is left beyond such an end
_ROUNDING = 1e-12  # of beliefs before a release


@dataclass(frozen=True)
class FarTruths:
    """One interval around a true value that may be any, and what is told of it without looking at tents."""

    search: TruthSearch
    world: TiltedIntegrals
    factor: float
    move: Move

    def range_of(self, epsilon: Array, line: Array) -> tuple[float, float] | None:
        """Between which true values there may be more than a line, at some ε and between them; None if without end."""
        ends = [self.search.low, self.search.high]
        for side in (0, 1):
            if np.isfinite(ends[side]):
                continue
            kind = self.search.prior.tails[side]
            for far in _TAILS if kind in ("light", "memoryless") else ():
                ends[side] = float(self.search.prior.quantile(far if side == 0 else 1 - far))
                if self._is_below(ends[side], side, kind, float(epsilon[-1]), float(line[0])):
                    break
            else:
                forgotten = self._forgotten(side, epsilon, line)
                if forgotten is None:
                    low, high, beyond = self.search.tails(float(epsilon[-1]), aim(self.move))
                    return self._trimmed(low, high, epsilon, line) if self._believed(beyond) <= line[0] else None
                ends[side] = forgotten
        return self._trimmed(ends[0], ends[1], epsilon, line)

    def _trimmed(self, low: float, high: float, epsilon: Array, line: Array) -> tuple[float, float]:
        """A range of true values without those at its ends that nobody believes in as much as the line asks for.

        What is believed after rises with ε, as the line does: between two ε it is at most that at the second.
        """
        if self.move < 0 or not high - low > _WIDE * self.search.reach:
            return low, high
        t = np.linspace(low, high, _SLICES + 1)
        some = np.unique(np.linspace(0, epsilon.size - 1, _SOME).astype(np.int64))
        t1, t2 = (np.repeat(ends, some.size - 1) for ends in (t[:-1], t[1:]))
        after = self._believed_between(t1, t2, np.tile(epsilon[some[1:]], _SLICES))
        settled = np.all(after.reshape(_SLICES, -1) <= line[some[:-1]], axis=1)
        if settled.all():
            return low, high
        first, last = int(np.argmin(settled)), _SLICES - int(np.argmin(settled[::-1]))
        return float(t[first]), float(t[last])

    def _believed_between(self, t1: Array, t2: Array, epsilon: Array) -> Array:
        """What is believed after at most, for all true values between two, whatever the prior."""
        with np.errstate(all="ignore"):
            return np.fmin(with_odds_of(self._tabled.box(t1, t2, epsilon, "posterior"), self.factor), 1.0)

    @cached_property
    def _tabled(self) -> TruthSearch:
        """The same true values, with beliefs from tables."""
        return replace(self.search, by_tables=True)

    def _is_below(self, t: float, side: int, kind: str, epsilon: float, line: float) -> bool:
        """Whether all true values beyond some t are well below the line."""
        return self._believed(self.search.beyond(t, side, kind, epsilon, aim(self.move))) <= _WELL_BELOW * line

    def _forgotten(self, side: int, epsilon: Array, line: Array) -> float | None:
        """From where on no true value of a tail without memory exceeds a line; None if none is known.

        There nothing needs to be known of what is believed before.
        """
        for far in _OUTWARDS:
            t = float(self.search.prior.quantile(far if side == 0 else 1 - far))
            if self.search.forgets(t, side, aim(self.move)) and self._rises_below(t, epsilon, line):
                return t
        return None

    def _rises_below(self, t: float, epsilon: Array, line: Array) -> bool:
        """Whether what is believed after at t, where the tail is without memory, lies below a line, between ε too."""
        found = with_odds_of(self.search.beyond_forgotten(t, epsilon, aim(self.move)), self.factor)
        below, (lo, hi) = line - found, (float(e) for e in self.search.edges(np.asarray(t)))
        if np.any(below < 0):
            return False
        climbs, peaks = (found[:-1], found[1:]), [np.full(epsilon.size - 1, end) for end in (lo, hi)]
        gap = gap_of_tents(self.world, peaks[0], peaks[1], epsilon[:-1], epsilon[1:], 1, 1.0, (lo, hi))
        none = np.zeros(1)
        room = room_by_odds(gap, (none, none), climbs, climbs)
        return bool(np.all(room <= np.minimum(below[:-1], below[1:])))

    def _believed(self, declared: float) -> float:
        """What a belief is at most if the prior is wrong."""
        return float(with_odds_of(declared, self.factor)) if declared > 0 else 0.0

    def left(self, t1: Array, t2: Array, epsilon: Array, *, closely: bool) -> Array:
        """How far a belief can rise, or fall, at most, told without polygons.

        They say nothing where a goal is nearly certain. In a tail without memory, where attacks follow the true value
        and reach about as much everywhere, it takes many of them to say what one belief does. So it does at high ε,
        where it is worth the time that it takes.
        """
        (lo1, hi1), (lo2, hi2) = self.search.edges(t1), self.search.edges(t2)
        ends = (lo1, hi2) if self.move < 0 else (lo2, np.maximum(lo2, hi1))
        declared = np.clip(self.search.prior.mass(*ends), 0.0, 1.0)
        if self.move < 0:
            return with_odds_of(declared, self.factor) + _ROUNDING
        after = self._believed_between(t1, t2, epsilon) if closely else 1.0
        most = after - with_odds_of(declared, 1 / self.factor) + _ROUNDING
        for side, near, far in ((0, t2, t1), (1, t1, t2)):
            some = np.flatnonzero(self.search.forgets(near, side, aim(self.move)))
            if some.size:
                most[some] = np.fmin(most[some], self._left_in_tail(near[some], far[some], epsilon[some]))
        return most

    def _left_in_tail(self, near: Array, far: Array, epsilon: Array) -> Array:
        """The same for true values in a tail without memory: farther out a belief is less, before and after.

        So between two of them, whatever the prior, the one after is at most that of the nearer and the one before at
        least that of the farther. At infinity nothing is believed before, and often more is reached nowhere else.
        """
        lo, hi = self.search.edges(far)
        across = self.search.form.psi(hi) - self.search.form.psi(lo)  # a step raises all of a goal alike
        after = self.search.beyond_forgotten(near, epsilon, aim(self.move))
        return most_moved(self.search.prior.mass(lo, hi), after, np.exp(-epsilon * across), self.factor) + _ROUNDING
