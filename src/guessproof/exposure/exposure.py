"""What an attacker can learn from releases whose guarantee metric is known.

A guarantee on several columns can be read in more than one sound way: column by column (their changes add up), by
straight-line distance, as one distance between any two records, or exactly on a table of all combinations. Every
reading bounds the attacker; the least bound counts. Where every alternative of an OR is protected on its own, each is
an attacker of his own, and the most exposed counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from guessproof.calculate import Limits
from guessproof.errors import GuessproofError, InfeasibleError, NotCertifiedError
from guessproof.exposure.aim import Aim, Pledge
from guessproof.exposure.readings import Reading, lowered, readings
from guessproof.risk.attack import Attack
from guessproof.risk.bracket import Bracket
from guessproof.risk.several.answer import joined

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Exposure:
    """What the attacker learns, whichever reading shows least."""

    aim: Aim
    pledge: Pledge
    step: float = 0.0  # what rounding to a grid adds between any two different values, whatever ε is

    @cached_property
    def readings(self) -> list[Reading]:
        """Every reading that this goal allows."""
        return list(readings(self.aim, self.pledge))

    def advantage(self, epsilon: float, both: bool = False) -> Bracket:
        """How far his belief can rise (or, with both, move) after releases of this ε in all."""
        if self._alternatives:
            return joined([one.advantage(epsilon, both) for one in self._alternatives])
        return self._least(lambda r: r.advantage(epsilon, both))

    def posterior(self, epsilon: float) -> Bracket:
        """How high his belief can get."""
        if self._alternatives:
            return joined([one.posterior(epsilon) for one in self._alternatives])
        return self._least(lambda r: r.posterior(epsilon))

    @property
    def prior(self) -> float | None:
        """His belief before, where the truth is stated or does not matter; None for the worst truth."""
        try:
            return float(Attack(self.aim.goal, self.aim.at, self.aim.knows, or_=self.aim.or_).prior)
        except GuessproofError:
            return None

    def epsilon(self, limits: Limits) -> float:
        """The largest ε at which every limit is proven to hold, rounding included; math.inf where none can break."""
        if self._alternatives:
            return min(one.epsilon(limits) for one in self._alternatives)
        inner = lowered(limits, self.step)
        return max(found for _, found in self._answers(lambda r: r.epsilon(inner)))

    @cached_property
    def _alternatives(self) -> list[Exposure]:
        """Each alternative of an OR on its own, where the plan says so."""
        return [replace(self, aim=aim) for aim in self.aim.alternatives]

    def _least(self, question: Callable[[Reading], Bracket]) -> Bracket:
        answers = self._answers(question)
        best = min((b for _, b in answers), key=lambda b: float(b.bound))
        attacks = [float(b.attack) for r, b in answers if r.tight]
        attack = min(max(attacks, default=0.0), float(best.bound))
        bound = min(float(best.bound) + self.step / 4, 1.0)
        return Bracket.meet(attack, bound, best.how, worst_at=best.worst_at, worst_prior=best.worst_prior)

    def _answers(self, question: Callable[[Reading], Answer]) -> list[tuple[Reading, Answer]]:
        """What each reading says, up to the first that no other can beat."""
        found: list[tuple[Reading, Answer]] = []
        refusal: GuessproofError | None = None
        for reading in self.readings:
            try:
                found.append((reading, question(reading)))
            except InfeasibleError:
                raise
            except GuessproofError as error:
                refusal = refusal or error
                continue
            if reading.tight:
                break
        if not found:
            raise refusal or NotCertifiedError("no reading of this goal could be certified; give the true value: at")
        return found
