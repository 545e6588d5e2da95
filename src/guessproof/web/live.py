"""Answers while something is dragged: from a curve that was made once, always on the private side.

A curve says at least what an attacker gains at an ε, and at most the ε that keeps a limit. It is made in the
background; until it is there, there is no quick answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from guessproof.calculate import Limits
from guessproof.choosing import Chooser
from guessproof.errors import GuessproofError, InfeasibleError
from guessproof.exposure import Exposure
from guessproof.exposure.exposure import Learnt
from guessproof.exposure.views import AttackView, lowered
from guessproof.plan import Plan
from guessproof.risk.bracket import Bracket
from guessproof.risk.curve import Curve

HOW = "from a certified curve; the exact number follows"
KNOTS = 72  # of a ladder; an answer loses one step at most
WIDE = (1e-3, 30.0)  # ε at which a ladder begins and ends


@dataclass(frozen=True)
class Ladder:
    """What is proven at some ε, rising; between two of them the next one counts."""

    epsilon: tuple[float, ...]
    rise: tuple[float, ...]
    move: tuple[float, ...]
    belief: tuple[float, ...] | None

    @classmethod
    def of(cls, exposure: Exposure, both: bool) -> Ladder:
        """Climb: the exact bound at each knot."""
        grid = [float(e) for e in np.geomspace(*WIDE, KNOTS)]
        rise = [float(exposure.advantage(e).bound) for e in grid]
        move = [float(exposure.advantage(e, both=True).bound) for e in grid] if both else rise
        belief = [float(exposure.posterior(e).bound) for e in grid] if exposure.attacker.has_prior else None
        return cls(tuple(grid), _rising(rise), _rising(move), None if belief is None else _rising(belief))

    def advantage(self, epsilon: float, both: bool) -> float:
        """At most so much is gained."""
        return self._above(self.move if both else self.rise, epsilon)

    def posterior(self, epsilon: float) -> float:
        """At most so much is believed."""
        return 1.0 if self.belief is None else self._above(self.belief, epsilon)

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

    def largest(self, limits: Limits) -> float:
        """An ε that keeps the limits."""
        found = self.curve.epsilon(advantage=limits.advantage, posterior=limits.posterior, both=limits.both)
        return found / self.factor * (1 - 1e-12)


Beliefs = Ladder | Scaled


def beliefs_of(exposure: Exposure, both: bool) -> Beliefs:
    """The curve of an exposure where one view says it all; else a ladder of exact answers."""
    first = exposure.views[0] if not exposure.attacker.alternatives else None
    if isinstance(first, AttackView) and first.tight and not first.rounding and first.factor > 0:
        return prepared(Scaled(Curve(first.attack), first.factor), both)
    return Ladder.of(exposure, both)


def prepared(found: Scaled, both: bool) -> Scaled:
    """The pieces of a curve made now, where they are waited for anyway."""
    for piece in ("rise", "believed", *(("fall",) if both else ())):
        try:
            getattr(found.curve, piece)
        except GuessproofError:  # without a prior there is no belief
            continue
    return found


@dataclass(frozen=True)
class LiveExposure(Exposure):
    """An exposure that looks its answers up."""

    beliefs: Beliefs | None = field(default=None, repr=False, compare=False)

    def attacked(self, epsilon: float, both: bool, risen: Bracket, believed: Bracket | None) -> Learnt:
        """As they are: whoever drags does not wait for an attack."""
        return risen, believed

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
