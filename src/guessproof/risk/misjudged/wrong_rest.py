"""A goal of two parts with one interval between them: what is believed of it rises as that interval's belief falls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from guessproof.risk.misjudged.tents import Move
from guessproof.risk.misjudged.wrong_prior import WrongPrior


def _other(move: Move) -> Move:
    return -1 if move > 0 else 1


@dataclass(frozen=True)
class WrongRest(WrongPrior):
    """What is not in a goal: every question is asked of the goal, the other way."""

    goal: WrongPrior

    @classmethod
    def of(cls, goal: WrongPrior) -> WrongRest:
        widths = goal.widths
        turned = replace(widths, inside=widths.outside, outside=widths.inside, log_odds=-widths.log_odds)
        return cls(goal.factor, turned, goal)

    def wrong_by(self, factor: float) -> Self:
        return replace(self, factor=factor, goal=self.goal.wrong_by(factor))

    def reached(self, epsilon: float, move: Move) -> float:
        return self.goal.reached(epsilon, _other(move))

    def limit(self, epsilon: float, move: Move) -> float:
        return self.goal.limit(epsilon, _other(move))

    def climbed(self, epsilon: float, move: Move) -> float:
        return self.goal.climbed(epsilon, _other(move))

    def narrowed(self, epsilon: float, move: Move, enough: float, seconds: float) -> float:
        return self.goal.narrowed(epsilon, _other(move), enough, seconds)

    def keeps(self, epsilon: float, limit: float, move: Move) -> bool:
        return self.goal.keeps(epsilon, limit, _other(move))

    def is_free(self, limit: float, move: Move) -> bool:
        return self.goal.is_free(limit, _other(move))

    @property
    def start(self) -> float:
        return self.goal.start

    def epsilon(self, limit: float, move: Move) -> float:
        return self.goal.epsilon(limit, _other(move))

    def largest_factor(self, epsilon: float, limit: float, move: Move) -> float:
        return self.goal.largest_factor(epsilon, limit, _other(move))

    def quick_factor(self, epsilon: float, limit: float, move: Move) -> float:
        return self.goal.quick_factor(epsilon, limit, _other(move))
