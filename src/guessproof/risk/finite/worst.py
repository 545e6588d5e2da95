"""The worst true value under a finite prior: the engine of stated true values, asked about those that matter.

True values with the same correct guesses count as one. A few of them, and goals that are no interval on a line, are all
asked. Of many on a line the correct guesses are runs of atoms; tents on prefix sums (`line.tent`) bound them all at
once, and the engine is asked about those with the largest bounds. For small ε gains are scaled: L^θ is private at θε,
and ln E L^θ ≥ θ(ln E L − w²/8) where ln L varies by at most w (Hoeffding's lemma).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from guessproof.errors import GoalError, NotCertifiedError
from guessproof.risk.bracket import Direction, Worst
from guessproof.risk.combinations import possible_values, true_values_of
from guessproof.risk.limits import (
    RELATIVE,
    advantage_of,
    largest_epsilon,
    posterior_of,
)
from guessproof.risk.line.recursion import LineQuestion
from guessproof.risk.line.tent import Indices, Tilts
from guessproof.risk.single import belief_of
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Exactly, Goal, Within
from guessproof.world.pieces import pieces_of

FEW = 60  # true values that are all asked: about what a look at tents costs
MOST = 20_000  # true values without an order; more take minutes
CONTENDERS = 4  # runs that are asked in the end; of further ones the bound of their tents stays
ROUNDING = 1e-15  # of a sum, for each of its terms
EVERY = slice(None)


@dataclass(frozen=True, eq=False)
class WorstFinite:
    """A goal about one attribute with finitely many values, at every true value that people can have."""

    attribute: Attribute
    goal: Goal

    def worst(self, epsilon: float, direction: Direction) -> Worst:
        """The worst true value found, and what none exceeds."""
        (truths, certain), others = self.truths, 0.0
        if certain is not None and direction == "posterior":
            return Worst(certain, 1.0, 1.0, 1.0)
        if not len(truths):
            problem = f"is {'empty' if certain is None else 'certain'} for every true value"
            raise GoalError("goal", "P(goal) = 0 or 1", problem, "choose another radius")
        tents: Array = np.asarray(1.0)
        if self.runs is not None and len(truths) > FEW:
            tents = self.runs.bounds(epsilon, direction)
            order = np.argpartition(tents, -CONTENDERS)
            others = float(np.max(tents[order[:-CONTENDERS]]))
            truths, tents = truths[order[-CONTENDERS:]], tents[order[-CONTENDERS:]]
        belief = belief_of(self.attribute, self.goal, truths)
        pair = belief.gain(np.asarray(-epsilon if direction == "fall" else epsilon))
        attack, bound = (_change(belief.log_p, belief.log_q, gain, direction) for gain in pair)
        best = int(np.argmax(attack))
        prior = float(np.exp(belief.log_p[best]))
        most = max(others, float(np.max(np.minimum(bound, tents))))
        return Worst(truths.tolist()[best], float(attack[best]), most, prior)

    def epsilon(self, limit: float, direction: Direction) -> float:
        """The largest ε at which no true value exceeds a limit."""
        truths, certain = self.truths
        if limit >= 1:
            return math.inf
        if limit <= 0 or (certain is not None and direction == "posterior"):
            return 0.0
        before = self.worst(0.0, direction).bound if direction == "posterior" else 0.0
        aimed, runs = limit - before, self.runs
        if runs is None or len(truths) <= FEW:
            rise = partial(self._rise, direction, before)
            return float(largest_epsilon(rise, np.asarray(aimed), start=1.0, relative=RELATIVE))
        # Changes grow with epsilon: only runs that exceed the limit where some keep it can allow less than those.
        some, start = np.arange(0, len(truths), 1 + len(truths) // FEW), 1 / (runs.width or 1.0)
        rise = partial(runs.rise, direction, before)
        found = float(largest_epsilon(partial(rise, some), np.asarray(aimed), start=start))
        over = np.zeros(0, dtype=np.int64)
        if math.isfinite(found):
            over = np.flatnonzero(runs.bounds(found, direction) > limit)
        if not over.size or found == 0:
            return found
        return min(
            found, float(largest_epsilon(partial(rise, over), np.asarray(aimed), start=found))
        )

    def _rise(self, direction: Direction, before: float, epsilon: Array) -> Array:
        return np.asarray(self.worst(float(epsilon), direction).bound - before)

    @cached_property
    def runs(self) -> Runs | None:
        """True values whose correct guesses are runs of atoms; None for other goals and distances."""
        return Runs.of(self.attribute, self.goal)

    @cached_property
    def truths(self) -> tuple[Any, Any]:
        """True values at which the goal is open, one for each set of guesses, and one at which it is certain."""
        if self.runs is not None:
            return self.runs.at, self.runs.certain
        prior = self.attribute.prior
        assert isinstance(prior, Finite)
        values = true_values_of(self.attribute, self.goal)
        if len(values) > MOST:
            raise NotCertifiedError(
                f"{len(values)} true values are too many here; give one with at={{…}}"
            )
        open_, certain = dict[bytes, Any](), None
        for value in values:
            chosen = self.goal.chosen(prior, value)
            if (1 - chosen) @ prior.mass <= 0:
                certain = value
            elif chosen @ prior.mass > 0:
                open_.setdefault(chosen.tobytes(), value)
        return np.array([*open_.values(), None], dtype=object)[:-1], certain


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of atoms, each the correct guesses at a true value; `after` is the atom that follows the last one."""

    question: LineQuestion
    mass: Array
    at: Array
    first: Indices
    after: Indices
    certain: float | None

    @staticmethod
    def of(attribute: Attribute, goal: Goal) -> Runs | None:
        """The runs of a goal of one interval, each once; None for other goals and distances."""
        prior, form = attribute.prior, attribute.distance.line_form
        assert isinstance(prior, Finite)
        if form is None or np.isfinite(form.cap) or not prior.is_line:
            return None
        if not isinstance(goal, (Within, Exactly)):
            return None
        mass, points = prior.mass[prior.mass > 0], prior.points[prior.mass > 0]
        if isinstance(goal, Exactly):
            t = np.asarray(possible_values(attribute), dtype=np.float64)
            first = last = np.searchsorted(points, t)
        else:
            t = np.asarray(true_values_of(attribute, goal), dtype=np.float64)
            first, last = goal.window(points, t)
        turns = np.append(True, (np.diff(first) != 0) | (np.diff(last) != 0))
        starts = np.append(np.flatnonzero(turns), t.size)
        middle = (starts[:-1] + starts[1:] - 1) // 2  # stands for all that share a run
        t, first, after = t[middle], first[middle], last[middle] + 1
        whole = (first == 0) & (after == points.size)
        certain = float(t[whole][0]) if whole.any() else None
        some = (after > first) & ~whole
        half = np.arange(points.size) >= points.size // 2
        question = LineQuestion(pieces_of(prior), half, form)
        return Runs(question, mass, t[some], first[some], after[some], certain)

    @property
    def width(self) -> float:
        """How far the outermost atoms are apart."""
        return float(np.ptp(self.question.position[0]))

    def rise(
        self, direction: Direction, before: float, among: Indices, epsilon: Array
    ) -> Array:
        """What a belief after a release, or its change, exceeds `before` by at most in any of some runs."""
        most = float(np.max(self.bounds(float(epsilon), direction, among)))
        return np.asarray(max(most - before, 0.0))

    def bounds(self, epsilon: float, direction: Direction, among: Any = EVERY) -> Array:
        """What the change of belief in no run among some exceeds."""
        first, after = self.first[among], self.after[among]
        below = np.append(0.0, np.cumsum(self.mass))
        above = np.append(np.cumsum(self.mass[::-1])[::-1], 0.0)
        p, q = below[after] - below[first], below[first] + above[after]
        log_p, log_q, gain = np.log(p), np.log(q), np.zeros(p.size)
        sign = -1.0 if direction == "fall" else 1.0
        # Below this width of ln L differences of logarithms lose more digits than scaled gains.
        small = math.sqrt(8 * ROUNDING * self.mass.size)
        share = min(1.0, epsilon * self.width / small)
        if share > 0:
            tilts = Tilts(self.question, epsilon / share)
            odds = tilts.bracket(first, after, sign > 0)[1]
            doubt = (
                ROUNDING * (self.mass.size / (p * q) + np.abs(odds))
                + (share < 1) * small**2 / 8
            )
            gain = share * np.maximum(sign * (odds - (log_p - log_q)) + doubt, 0.0)
        gain = sign * (gain + epsilon * self.question.form.step)
        # Masses are differences of sums.
        return np.minimum(_change(log_p, log_q, gain, direction) * (1 + 4 * ROUNDING), 1.0)


def _change(log_p: Array, log_q: Array, gain: Array, direction: Direction) -> Array:
    """A belief after a gain, or how far it moved."""
    if direction == "posterior":
        return posterior_of(log_p, log_q, gain)
    return np.abs(advantage_of(log_p, log_q, gain))
