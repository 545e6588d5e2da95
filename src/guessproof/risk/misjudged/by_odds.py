"""Where no engine is made for a wrong prior: what the declared one gains, widened by what a wrong one can add."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from guessproof.risk.limits import Belief, advantage_of
from guessproof.risk.misjudged.apart import Apart, most_moved
from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.wrong_prior import ProvenDirectly
from guessproof.world.checks import Array


def _unknown() -> None:
    """Nothing is known of pairs."""


def _no_closer(_epsilon: float, _factor: float, _move: Move, _enough: float, _seconds: float) -> float:
    return 1.0


def _no_attack(_epsilon: float, _factor: float, _move: Move) -> float:
    return 0.0


@dataclass(frozen=True)
class OddsRange(ProvenDirectly):
    """Any engine's gain, widened by what a wrong prior can add to it.

    Where L varies by a factor R within the goal, weights between 1 and κ raise its mean there by at most
    (1 + √(κR))²/(√κ + √R)², and lower the mean outside by as much (with R from there). The prior odds are anything
    between o/κ and o·κ, the posterior odds are at most κ times the declared ones. With a two-valued distance the gain
    is already all that the distance allows, and this is exact. `pairs` says how far two values of the goal, and two of
    the rest, are apart: another bound on how unevenly L lies there.
    """

    belief: Belief
    pairs: Callable[[], tuple[Apart, Apart] | None] = _unknown
    attack: Callable[[float, float, Move], float] = _no_attack  # of an ε, a factor and a move
    closer: Callable[[float, float, Move, float, float], float] = _no_closer  # also of what is enough, and of seconds
    climb: Callable[[float, float, Move], float] = _no_attack  # an attack that takes its time

    @property
    def relative(self) -> float:
        return self.belief.relative

    @property
    def start(self) -> float:
        return 1.0

    def reached(self, epsilon: float, move: Move) -> float:
        gain, _ = self.belief.gain(np.asarray(move * epsilon))
        found = self._moved(abs(float(gain)), abs(float(gain)), move)
        return found if math.isinf(self.factor) or epsilon == 0 else max(found, self.attack(epsilon, self.factor, move))

    def limit(self, epsilon: float, move: Move) -> float:
        if epsilon == 0:
            return 0.0
        gain = abs(float(self.belief.gain(np.asarray(move * epsilon))[1]))
        room = math.log(self.factor)
        more = _more(room, epsilon * self.widths.inside) + _more(room, epsilon * self.widths.outside)
        found = self._moved(min(gain + more, epsilon * self.widths.across), gain, move)
        apart = None if more == 0 or math.isinf(room) or math.isinf(gain) else self.pairs()
        if apart is None:
            return found
        apart = apart if move > 0 else (apart[1], apart[0])
        return min(found, most_moved(apart, epsilon, self.factor, gain, move * self.widths.log_odds))

    def climbed(self, epsilon: float, move: Move) -> float:
        reached = self.reached(epsilon, move)
        slow = 0.0 if epsilon == 0 or math.isinf(self.factor) else self.climb(epsilon, self.factor, move)
        return max(reached, slow)

    def narrowed(self, epsilon: float, move: Move, enough: float, seconds: float) -> float:
        limit = self.limit(epsilon, move)
        if limit <= enough or epsilon == 0 or math.isinf(self.factor):
            return limit
        return min(limit, self.closer(epsilon, self.factor, move, enough, seconds))

    def _moved(self, gain: float, declared: float, move: Move) -> float:
        """The largest move over all prior odds; the odds after it are at most κ times those of the declared gain."""
        room, odds = math.log(self.factor), move * self.widths.log_odds
        if math.isinf(gain) or math.isinf(room):
            return 1.0 if math.isinf(gain) else math.tanh(gain / 4)
        before = min(max(min(-gain / 2, odds + room + declared - gain), odds - room), odds + room)
        after = min(before + gain, odds + room + declared)
        log_p, log_q = -np.logaddexp(0.0, -before), -np.logaddexp(0.0, before)
        return float(advantage_of(log_p, log_q, after - before))


def _more(room: float, spread: float) -> float:
    """2·ln((1 + √(κR))/(√κ + √R)) with ln κ = room and ln R = spread."""
    if math.isinf(spread) or math.isinf(room):
        return min(room, spread)
    half: Array = np.logaddexp(0.0, (room + spread) / 2) - np.logaddexp(room / 2, spread / 2)
    return 2 * float(half)
