"""Answers while something is dragged: from a curve that was made once, always on the private side.

A curve says at least what an attacker gains at an ε, and at most the ε that keeps a limit. It is made in the
background; until it is there, there is no quick answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np

from guessproof.calculate import Limits
from guessproof.choosing import Chooser
from guessproof.errors import GuessproofError, InfeasibleError, ParameterError
from guessproof.exposure import Exposure
from guessproof.exposure.views import AttackView, lowered
from guessproof.plan import Plan
from guessproof.risk import Bracket, Curve

HOW = "read off a curve that errs on the safe side; the final number follows"
FIRST, KNOTS = 14, 36  # knots of a ladder: when it is first shown, and when it is done
POINTS = 41  # where a curve is drawn
ENOUGH, BELIEVED = 0.7, 0.85  # a chart ends where so much is gained or believed
LITTLE = 1e-4  # of the ε at the first point: nothing is learnt there yet
PAST = 1.02  # how far a chart goes on
FLAT, HIGH, SURE = 1e-3, 0.5, 0.85  # gains too small to tell apart; a gain and a belief beyond which nobody asks
LEAST, MOST = 1e-4, 200.0  # ε between which a ladder is looked for
LOW_GAINS = 0.1  # how much a ratio of two gains counts beside their difference: limits are dragged by ratios
Climbed = Callable[["Ladder", float], None]


@dataclass(frozen=True)
class Knot:
    """What is proven at one ε, and what an attack reaches there."""

    epsilon: float
    rise: float
    move: float
    belief: float | None
    reached: float = 0.0


@dataclass(frozen=True)
class Ladder:
    """What is proven at some ε, rising; between two of them the next one counts."""

    epsilon: tuple[float, ...]
    rise: tuple[float, ...]
    move: tuple[float, ...]
    belief: tuple[float, ...] | None
    reached: tuple[float, ...] = ()

    @classmethod
    def of(cls, exposure: Exposure, both: bool, told: Climbed | None = None) -> Ladder:
        """Climb: the exact bound at each knot. Each further knot halves the step that loses most.

        `told` hears of every knot: the ladder so far, once it can be looked at, and the share that is done.
        """
        knots: dict[float, Knot] = {}
        for epsilon in _next(knots):
            knots[epsilon] = _knot(exposure, epsilon, both)
            if told is not None:
                told(cls.through(knots), len(knots) / KNOTS)
        return cls.through(knots)

    @classmethod
    def through(cls, knots: Mapping[float, Knot]) -> Ladder:
        """The ladder through some knots: more ε never mean less, neither for a bound nor for an attack."""
        found = [knots[e] for e in sorted(knots)]
        beliefs = [k.belief for k in found if k.belief is not None]
        return cls(
            tuple(k.epsilon for k in found),
            _rising([k.rise for k in found]),
            _rising([k.move for k in found]),
            _rising(beliefs) if len(beliefs) == len(found) else None,
            _rising([k.reached for k in found]),
        )

    def advantage(self, epsilon: float, both: bool) -> float:
        """At most so much is gained."""
        return self._above(self.move if both else self.rise, epsilon)

    def posterior(self, epsilon: float) -> float:
        """At most so much is believed."""
        return 1.0 if self.belief is None else self._above(self.belief, epsilon)

    def attack(self, epsilon: float) -> float | None:
        """What an attack reaches at this ε or a smaller one; None where none was found at any."""
        if not any(self.reached):
            return None
        place = int(np.searchsorted(np.asarray(self.epsilon), epsilon, side="right"))
        return self.reached[place - 1] if place else 0.0

    def largest(self, limits: Limits) -> float:
        """An ε that keeps the limits; the largest knot that does."""
        found: list[float] = []
        for limit, values in (
            (limits.advantage, self.move if limits.both else self.rise),
            (limits.posterior, self.belief),
        ):
            if limit is not None and values is not None:
                count = int(np.searchsorted(np.asarray(values), limit, side="right"))
                if count == 0:
                    raise InfeasibleError("the exact answer follows")
                found.append(self.epsilon[count - 1])
        return min(found)

    def _above(self, values: tuple[float, ...], epsilon: float) -> float:
        place = int(np.searchsorted(np.asarray(self.epsilon), epsilon))
        return values[place] if place < len(values) else 1.0


def _next(knots: Mapping[float, Knot]) -> Iterator[float]:
    """The ε to look at next: first where gains begin and end, then the middle of the step that loses most."""
    low = high = 1.0
    yield high
    while high < MOST and knots[high].move < HIGH and (knots[high].belief or 0.0) < SURE:
        high *= 2
        yield high
    while low > LEAST and knots[low].move > FLAT:
        low /= 4
        yield low
    while len(knots) < KNOTS:
        cost, middle = max((_lost(knots[a], knots[b]), math.sqrt(a * b)) for a, b in pairwise(sorted(knots)))
        if cost <= 0 or middle in knots:
            return
        yield middle


def _lost(below: Knot, above: Knot) -> float:
    """What a step costs those who look at the curve, and those who drag a limit along it."""
    first, last = (min(max(knot.move, FLAT), HIGH) for knot in (below, above))
    return last - first + LOW_GAINS * math.log(last / first)


def _knot(exposure: Exposure, epsilon: float, both: bool) -> Knot:
    risen = exposure.advantage(epsilon)
    rise = float(risen.bound)
    move = float(exposure.advantage(epsilon, both=True).bound) if both else rise
    belief = float(exposure.posterior(epsilon).bound) if exposure.attacker.has_prior else None
    return Knot(epsilon, rise, move, belief, float(risen.attack))


def _rising(values: list[float]) -> tuple[float, ...]:
    return tuple(float(v) for v in np.maximum.accumulate(values))


@dataclass(frozen=True)
class Scaled:
    """A curve whose distances are `factor` to one unit of ε."""

    curve: Curve
    factor: float = 1.0

    def advantage(self, epsilon: float, both: bool) -> float:
        """At most so much is gained."""
        return self.curve.advantage(self.factor * epsilon, both)

    def posterior(self, epsilon: float) -> float:
        """At most so much is believed."""
        return self.curve.posterior(self.factor * epsilon)

    def reached(self, epsilon: float) -> float:
        """What an attack reaches at this ε."""
        return self.curve.rise.reached(self.factor * epsilon) if epsilon else 0.0

    @cached_property
    def places(self) -> list[float]:
        """Where the curve is drawn: evenly, up to where most is gained or believed."""
        ends = [self.curve.epsilon(advantage=ENOUGH)]
        with suppress(GuessproofError):  # without a prior there is no belief, and some beliefs are high from the start
            ends.append(self.curve.epsilon(posterior=BELIEVED))
        found = [end for end in ends if 0 < end < math.inf]
        end = min(found) * PAST if found else self.curve.points(2)[-1][0]
        return np.linspace(0, end / self.factor, POINTS).tolist()

    def largest(self, limits: Limits) -> float:
        """An ε that keeps the limits."""
        found = self.curve.epsilon(advantage=limits.advantage, posterior=limits.posterior, both=limits.both)
        return found / self.factor * (1 - 1e-12)


Beliefs = Ladder | Scaled


def beliefs_of(exposure: Exposure, both: bool, told: Climbed | None = None) -> Beliefs:
    """The curve of an exposure where one view says it all; else a ladder of exact answers."""
    curve = curve_of(exposure)
    return Ladder.of(exposure, both, told) if curve is None else prepared(curve, both)


def curve_of(exposure: Exposure) -> Scaled | None:
    """The curve where one view says it all, not yet made."""
    first = exposure.views[0] if not exposure.attacker.alternatives else None
    if isinstance(first, AttackView) and first.tight and not first.rounding and first.factor > 0:
        with suppress(ParameterError):  # a partly known prior has no curve beside bounds
            return Scaled(Curve(first.attack), first.factor)
    return None


def prepared(found: Scaled, both: bool) -> Scaled:
    """The answers of a curve that are drawn, found now, where they are waited for anyway."""
    for epsilon in found.places:
        found.advantage(epsilon, False)
        if both:
            found.advantage(epsilon, True)
        with suppress(GuessproofError):  # without a prior there is no belief
            found.posterior(epsilon)
    return found


@dataclass(frozen=True)
class LiveExposure(Exposure):
    """An exposure that looks its answers up."""

    beliefs: Beliefs | None = field(default=None, repr=False, compare=False)

    def advantage(self, epsilon: float, both: bool = False) -> Bracket:
        """How far his belief can rise at most."""
        assert self.beliefs is not None
        return _bracket(self.beliefs.advantage(epsilon, both) + self.step / 4)

    def posterior(self, epsilon: float) -> Bracket:
        """How high his belief can get at most."""
        assert self.beliefs is not None
        return _bracket(self.beliefs.posterior(epsilon) + self.step / 4)

    def epsilon(self, limits: Limits) -> float:
        """An ε at which every limit holds."""
        assert self.beliefs is not None
        return self.beliefs.largest(lowered(limits, self.step))


class LiveChooser(Chooser):
    """A chooser whose attacker is looked up; everything else is chosen as always."""

    beliefs: Beliefs | None = None

    def tried(self, plan: Plan, remaining: float | None, targets: dict[str, tuple[float, float]]) -> Self:
        """The same after one change; its curve still holds unless the number of releases is another."""
        found = super().tried(plan, remaining, targets)
        found.beliefs = self.beliefs if found.times == self.times else None
        return found

    def exposure(self) -> Any:
        """The attacker, looked up."""
        exact = super().exposure()
        if exact is None or self.beliefs is None:
            return exact
        return LiveExposure(exact.attacker, exact.guarantee, exact.step, self.beliefs)


def _bracket(bound: float) -> Bracket:
    return Bracket(attack=0.0, bound=min(bound, 1.0), status="proven", how=HOW)
