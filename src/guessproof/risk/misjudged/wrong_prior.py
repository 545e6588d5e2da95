"""What a wrong prior lets an attacker gain: questions that every engine for it answers the same way.

An engine says what an attack reaches and whether it is proven that nothing reaches more. From these come the largest ε
for a limit, and the largest factor by which the prior may be wrong while a limit holds: both are roots of the attack,
then proven a hair on the safe side of it, or further on it where no hair is enough.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from guessproof.risk.limits import RELATIVE, largest_epsilon
from guessproof.risk.misjudged.certificate import is_proven
from guessproof.risk.misjudged.odds import LARGEST_FACTOR
from guessproof.risk.misjudged.tents import FoundTent, MisjudgedGoal, Move, best_tent
from guessproof.risk.roots import crossing
from guessproof.risk.truth_search import TruthSearch
from guessproof.world.checks import Array
from guessproof.world.line import expit

if TYPE_CHECKING:
    from guessproof.risk.misjudged.by_odds import OddsRange

_HAIRS = (4e-9, 3e-7, 3e-5, 3e-4, 3e-3, 0.03, 0.2)  # how far above the attack a proof is tried
_STEPS_ANYWHERE = (1e-3, 0.01, 0.03, 0.06, 0.1, 0.14, 0.2, 0.3, 0.6, 1.0)  # the same for every true value at once
_STEPS_BENT = (5e-3, *_STEPS_ANYWHERE[1:])  # where the distance bends, each box takes longer
_STEPS_STRAIGHTENED = (2e-3, *_STEPS_BENT)  # unless a straight one that is hardly longer proves it
_STEPS_SHARES = (0.03, 0.045, 0.06, 0.08, 0.1, 0.14, 0.2, 0.3, 0.6, 1.0)  # where shares alone prove
_SHARES = (1e-3, 0.03, 0.3)  # by how much of its logarithm a factor is lowered below an attack's, until one is proven
_BROKEN = 1e-4  # how finely the logarithm is found at which an attack breaks a limit
_FINE = 1e-5  # of a logarithm: four digits of a factor
BACK = 4.0  # times as far below the ε of the attack, so that the bound there is below the limit


@dataclass(frozen=True)
class Widths:
    """How far apart values can be, per unit of ε, within the goal, outside and across; and the declared log-odds.

    Over all true values, `log_odds` are the largest and `least` the smallest.
    """

    inside: float
    outside: float
    across: float
    log_odds: float
    least: float | None = None

    def beliefs(self, factor: float) -> tuple[float, float]:
        """Between which probabilities the goal's is, if the prior is wrong by this factor."""
        room = math.log(factor)
        least = self.log_odds if self.least is None else self.least
        return float(expit(least - room)), float(expit(self.log_odds + room))


@dataclass(frozen=True)
class WrongPrior(ABC):
    """A goal under a declared prior whose odds may be wrong by `factor`."""

    factor: float
    widths: Widths

    @abstractmethod
    def reached(self, epsilon: float, move: Move) -> float:
        """How far an attack moves the belief."""

    @abstractmethod
    def limit(self, epsilon: float, move: Move) -> float:
        """How far it is proven that nothing moves it."""

    def worst_at(self, epsilon: float) -> tuple[Any, float] | None:
        """Of all true values the one that is most exposed, and its declared prior; None at one true value."""
        del epsilon
        return None

    def climbed(self, epsilon: float, move: Move) -> float:
        """How far an attack moves the belief that may take its time."""
        return self.reached(epsilon, move)

    def narrowed(self, epsilon: float, move: Move, enough: float, seconds: float) -> float:
        """The limit, with more work where that helps, until it is `enough` or the time is up."""
        del enough, seconds
        return self.limit(epsilon, move)

    @abstractmethod
    def keeps(self, epsilon: float, limit: float, move: Move) -> bool:
        """Whether it is proven that nothing moves the belief further than a limit."""

    @abstractmethod
    def is_free(self, limit: float, move: Move) -> bool:
        """Whether nothing breaks a limit, whatever ε is."""

    @property
    @abstractmethod
    def start(self) -> float:
        """An ε at which a search may begin."""

    @property
    def hairs(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """How far above an attack, and how far below its ε, proofs are tried."""
        return _HAIRS, tuple(BACK * hair for hair in _HAIRS)

    @property
    def closely(self) -> float:
        """How closely the ε at which an attack breaks a limit is looked for: well within the first hair."""
        return 1e-10

    def wrong_by(self, factor: float) -> Self:
        """The same, wrong by another factor."""
        return replace(self, factor=factor)

    def epsilon(self, limit: float, move: Move) -> float:
        """The largest ε at which the limit is proven."""
        if limit <= 0 or self.is_free(limit, move):
            return 0.0 if limit <= 0 else math.inf

        def reached(epsilon: Array) -> Array:
            return np.asarray(self.reached(float(epsilon), move))

        broken = largest_epsilon(reached, np.asarray(limit), start=self.start, relative=self.closely)
        whatever = self.whatever(limit)
        if np.isinf(broken):  # no attack breaks it: nothing says at which ε a proof is worth its time
            return whatever
        found = (float(broken) * (1 - hair) for hair in self.hairs[1])
        return max(whatever, next((e for e in found if e <= whatever or self.keeps(e, limit, move)), 0.0))

    def whatever(self, limit: float) -> float:
        """An ε that keeps the limit whatever the prior is."""
        return 4 * math.atanh(limit) / self.widths.across * (1 - 1e-12) if self.widths.across else math.inf

    def largest_factor(self, epsilon: float, limit: float, move: Move) -> float:
        """The largest factor at which the limit is proven at this ε, for one that 1 keeps; inf where none breaks it."""
        if self.wrong_by(1.01).reached(epsilon, move) > limit:
            return 1.0
        if self.wrong_by(LARGEST_FACTOR).reached(epsilon, move) <= limit:
            free = self.wrong_by(math.inf).keeps(epsilon, limit, move)
            return math.inf if free else self._proven_factor(epsilon, limit, move, LARGEST_FACTOR)

        def excess(room: float) -> float:
            return self.wrong_by(math.exp(room)).reached(epsilon, move) - limit

        broken = crossing(excess, math.log(1.01), math.log(LARGEST_FACTOR), xtol=_BROKEN)
        return self._proven_factor(epsilon, limit, move, math.exp(broken))

    def quick_factor(self, epsilon: float, limit: float, move: Move) -> float:
        """A factor at which the limit is proven at this ε, found at once: the largest one where that is no work."""
        return self.largest_factor(epsilon, limit, move)

    def _proven_factor(self, epsilon: float, limit: float, move: Move, broken: float) -> float:
        for share in _SHARES:
            factor = math.exp(math.log(broken) * (1 - share))
            if self.wrong_by(factor).keeps(epsilon, limit, move):
                return factor
        return 1.0


@dataclass(frozen=True)
class WrongTents(WrongPrior):
    """One interval on the line under |ψ(x) − ψ(x')| with a step: attack and bound meet."""

    goal: MisjudgedGoal
    by_odds: OddsRange | None  # a bound that needs no boxes, and meets the declared prior as the factor nears 1
    seen: dict[tuple[float, float, Move], FoundTent] = field(
        default_factory=dict[tuple[float, float, Move], FoundTent], kw_only=True, repr=False, compare=False
    )  # attacks by factor, ε and move: each is asked for more than once

    @property
    def start(self) -> float:
        low, high = self.goal.world.form.psi(self.goal.world.prior.quantile([0.1, 0.9]))
        return 1 / float(high - low) if high > low else 1.0

    def reached(self, epsilon: float, move: Move) -> float:
        return self.found(epsilon, move).value

    def found(self, epsilon: float, move: Move) -> FoundTent:
        """The best attack, and the true value at which it is."""
        key = self.factor, epsilon, move
        if key not in self.seen:
            self.seen[key] = best_tent(self._world(epsilon, move), epsilon, move)
        return self.seen[key]

    def _world(self, epsilon: float, move: Move) -> MisjudgedGoal:
        """Where an attack is worth a search."""
        return replace(self.goal, factor=self.factor)

    def limit(self, epsilon: float, move: Move) -> float:
        reached = self.reached(epsilon, move)
        found = (reached * (1 + hair) for hair in self.hairs[0])
        whatever = math.tanh(epsilon * self.widths.across / 4)
        return min(whatever, next((rise for rise in found if rise >= whatever or self.keeps(epsilon, rise, move)), 1.0))

    def keeps(self, epsilon: float, limit: float, move: Move) -> bool:
        if limit >= 1 or limit >= math.tanh(epsilon * self.widths.across / 4):
            return True
        if math.isinf(self.factor) or limit <= 0:
            return False
        if self.by_odds is not None and self.by_odds.wrong_by(self.factor).keeps(epsilon, limit, move):
            return True
        return is_proven(replace(self.goal, factor=self.factor), epsilon, limit, move)

    def largest_factor(self, epsilon: float, limit: float, move: Move) -> float:
        return max(super().largest_factor(epsilon, limit, move), self.quick_factor(epsilon, limit, move))

    def quick_factor(self, epsilon: float, limit: float, move: Move) -> float:
        from guessproof.risk.misjudged.quick import quick_factor  # only where a factor is asked for

        return quick_factor(self.truths, epsilon, limit, move)

    @property
    def truths(self) -> TruthSearch:
        """Over which true values this holds."""
        goal = self.goal
        return TruthSearch(goal.world.prior, goal.world.form, goal.edges, goal.low, goal.high, True)

    def is_free(self, limit: float, move: Move) -> bool:
        low, high = self.widths.beliefs(self.factor)
        return limit >= (1 - low if move > 0 else high)


@dataclass(frozen=True)
class WrongAnywhere(WrongTents):
    """The same for the worst true value."""

    search: TruthSearch

    @property
    def hairs(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        if not self.is_cut_by_truths:
            return _STEPS_SHARES, _STEPS_SHARES[:-1]
        from guessproof.risk.misjudged.over_truths import worlds_of  # only where all true values count

        if self.search.form.is_straight:
            steps = _STEPS_ANYWHERE
        else:
            last = worlds_of(replace(self.goal, factor=self.factor))[-1]
            steps = _STEPS_STRAIGHTENED if last.form.is_straight else _STEPS_BENT
        return steps, tuple(1.5 * step for step in steps[:-1])

    @property
    def closely(self) -> float:
        return 1e-5

    def worst_at(self, epsilon: float) -> tuple[Any, float]:
        at = self.found(epsilon, 1).at
        return at, float(self.search.prior.mass(*self.search.edges(np.asarray(at))))

    @property
    def is_cut_by_truths(self) -> bool:
        """Whether boxes of true values prove what is reached."""
        return math.isinf(self.search.form.cap)

    def _world(self, epsilon: float, move: Move) -> MisjudgedGoal:
        low, high, _ = self.search.tails(epsilon, "rise" if move > 0 else "fall")
        return replace(self.goal, low=low, high=high, factor=self.factor)

    def keeps(self, epsilon: float, limit: float, move: Move) -> bool:
        if limit >= 1 or limit >= math.tanh(epsilon * self.widths.across / 4):
            return True
        if math.isinf(self.factor) or limit <= 0:
            return False
        from guessproof.risk.misjudged.over_truths import is_kept  # only where all true values count

        goal = replace(self.goal, factor=self.factor)
        return is_kept(self.search, goal, epsilon, limit, move, by_boxes=self.is_cut_by_truths)

    @property
    def truths(self) -> TruthSearch:
        return self.search

    def largest_factor(self, epsilon: float, limit: float, move: Move) -> float:
        """What is proven at once."""
        return self.quick_factor(epsilon, limit, move)


@dataclass(frozen=True)
class ProvenDirectly(WrongPrior):
    """Where the bound is a number that is worked out: searches end where it meets the limit."""

    @property
    def relative(self) -> float:
        """How closely the largest ε is looked for."""
        return RELATIVE

    def keeps(self, epsilon: float, limit: float, move: Move) -> bool:
        return self.limit(epsilon, move) <= limit

    def is_free(self, limit: float, move: Move) -> bool:
        low, high = self.widths.beliefs(self.factor)
        return limit >= (1 - low if move > 0 else high)

    def epsilon(self, limit: float, move: Move) -> float:
        """The root of the bound itself."""
        if limit <= 0 or self.is_free(limit, move):
            return 0.0 if limit <= 0 else math.inf

        def bound(epsilon: Array) -> Array:
            return np.asarray(self.limit(float(epsilon), move))

        return float(largest_epsilon(bound, np.asarray(limit), start=self.start, relative=self.relative))

    def largest_factor(self, epsilon: float, limit: float, move: Move) -> float:
        """The root of the bound itself in ln κ."""
        if self.wrong_by(math.inf).keeps(epsilon, limit, move):
            return math.inf
        low, high = 0.0, math.log(LARGEST_FACTOR)
        while high - low > _FINE:
            middle = 0.5 * (low + high)
            kept = self.wrong_by(math.exp(middle)).keeps(epsilon, limit, move)
            low, high = (middle, high) if kept else (low, middle)
        return math.exp(low)


@dataclass(frozen=True)
class MeasuredDirectly(ProvenDirectly):
    """Where attack and bound are worked out together, once for each ε, factor and move."""

    _found: dict[tuple[float, float, Move], tuple[float, float]] = field(
        default_factory=dict[tuple[float, float, Move], tuple[float, float]], kw_only=True, repr=False, compare=False
    )

    @abstractmethod
    def measured(self, epsilon: float, move: Move) -> tuple[float, float]:
        """What an attack reaches, and what nothing exceeds."""

    @property
    def start(self) -> float:
        return 1 / self.widths.across if self.widths.across else 1.0

    def reached(self, epsilon: float, move: Move) -> float:
        return self.both(epsilon, move)[0]

    def limit(self, epsilon: float, move: Move) -> float:
        return self.both(epsilon, move)[1]

    def both(self, epsilon: float, move: Move) -> tuple[float, float]:
        """The same, and no more than what holds whatever the prior is."""
        if epsilon == 0 or self.widths.across == 0:
            return 0.0, 0.0
        whatever = math.tanh(epsilon * self.widths.across / 4)
        if math.isinf(self.factor):
            return whatever, whatever
        key = (epsilon, self.factor, move)
        if key not in self._found:
            value, bound = self.measured(epsilon, move)
            self._found[key] = min(value, whatever), min(bound, whatever * (1 + 1e-15))
        return self._found[key]
