"""The worst true value under a finite prior: the engine of stated true values, asked about those that matter.

True values with the same correct guesses count as one. A few of them, and goals that are no interval on a line, are all
asked. Of many on a line the correct guesses are runs of atoms. With U the union and I the intersection of some runs,

    P(G | y) − P(G) ≤ (rise of the belief in U) + P(U∖I)        P(G) − P(G | y) ≤ (fall of the belief in I) + P(U∖I)

for each run G between (and P(G | y) ≤ P(U | y)); tents on prefix sums (`line.tent`) bound many of these at once. Blocks
of runs that cannot exceed the best run found are left alone, others are divided, and the last contenders are asked one
by one. For small ε gains are scaled: L^θ is private at θε, and ln E L^θ ≥ θ(ln E L − w²/8) where ln L varies by at most
w (Hoeffding's lemma).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.errors import GoalError, NotCertifiedError
from guessproof.risk.bracket import Direction, Worst
from guessproof.risk.combinations import possible_values, true_values_of, values_along
from guessproof.risk.limits import (
    COSTLY,
    Belief,
    advantage_of,
    largest_epsilon,
    posterior_of,
    safe_epsilon,
)
from guessproof.risk.line.recursion import LineQuestion
from guessproof.risk.line.tent import Indices, Tilts
from guessproof.risk.single import belief_of
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Exactly, Goal, Within
from guessproof.world.pieces import pieces_of

FEW = 60  # true values that are all asked: about what a search among them costs
MOST = 20_000  # true values without an order; more take minutes
CONTENDERS = 4  # runs that are asked one by one at the end; of further ones the bound of their tents stays
START = 128  # blocks of runs at first
PARTS = 8  # into which a block is divided
CLOSE = 1e-9  # relative: by what a block may exceed the best run and is left alone
SMALL = 3e-5  # of ln L over all atoms: below it differences of logarithms lose digits, and gains are scaled
ROUNDING = 1e-15  # of a sum, for each of its terms
LARGE = 20_000  # atoms from which on a look at one ε takes a tenth of a second
CLOSELY = 1e-7  # relative: how closely an ε is looked for
BULK = 0.1, 0.9  # quantiles between which the bulk of a prior lies


@dataclass(frozen=True, eq=False)
class WorstFinite:
    """A goal about one attribute with finitely many values, at every true value that people can have."""

    attribute: Attribute
    goal: Goal

    def worst(self, epsilon: float, direction: Direction) -> Worst:
        """The worst true value found, and what none exceeds."""
        open_, certain = self.truths
        if certain is not None and direction == "posterior":
            return Worst(certain, 1.0, 1.0, 1.0)
        if not open_:
            problem = (
                "is empty for every true value"
                if certain is None
                else "is certain for every true value"
            )
            raise GoalError("goal", "P(goal) = 0 or 1", problem, "choose another radius")
        if self.runs is None or len(open_) <= FEW:
            return self._asked(self._all, open_, epsilon, direction)
        rows, bounds, others = RunSearch.of(self.runs, epsilon, direction).contenders()
        asked = rows[np.argsort(-bounds, kind="stable")[:CONTENDERS]]
        others = float(np.max(bounds[~np.isin(rows, asked)], initial=others))
        found = [
            self._asked(self._one(row), open_[row : row + 1], epsilon, direction)
            for row in asked
        ]
        best = max(found, key=lambda one: one.value)
        return Worst(
            best.at, best.value, max(others, *(one.bound for one in found)), best.prior
        )

    def epsilon(self, limit: float, direction: Direction) -> float:
        """The largest ε at which no true value exceeds a limit."""
        open_, certain = self.truths
        if limit >= 1:
            return math.inf
        if limit <= 0 or (certain is not None and direction == "posterior"):
            return 0.0
        if self.runs is None or len(open_) <= FEW:
            return self._epsilon_of(self._all, limit, direction)
        before = self.worst(0.0, direction).bound if direction == "posterior" else 0.0
        relative = CLOSELY if self.runs.mass.size < LARGE else COSTLY

        def rise(epsilon: Array) -> Array:
            return np.asarray(self.worst(float(epsilon), direction).bound - before)

        aimed = np.asarray(limit - before)
        return float(largest_epsilon(rise, aimed, start=self.runs.typical, relative=relative))

    @cached_property
    def runs(self) -> Runs | None:
        """True values whose correct guesses are runs of atoms; None for other goals and distances."""
        return Runs.of(self.attribute, self.goal)

    @cached_property
    def truths(self) -> tuple[list[Any], Any]:
        """True values at which the goal is open, one for each set of guesses, and one at which it is certain."""
        if self.runs is not None:
            return self.runs.at.tolist(), self.runs.certain
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
        return list(open_.values()), certain

    @cached_property
    def _all(self) -> Belief:
        return self._belief(self.truths[0])

    @cached_property
    def _kept(self) -> dict[int, Belief]:
        return {}

    def _one(self, row: int) -> Belief:
        """The belief at one true value, kept for the next ε."""
        if row not in self._kept:
            self._kept[row] = self._belief(self.truths[0][row : row + 1])
        return self._kept[row]

    def _belief(self, truths: list[Any]) -> Belief:
        labels = np.empty(len(truths), dtype=object)
        labels[:] = truths
        return belief_of(self.attribute, self.goal, labels)

    @staticmethod
    def _asked(
        belief: Belief, truths: list[Any], epsilon: float, direction: Direction
    ) -> Worst:
        """The worst of some true values."""
        pair = belief.gain(np.asarray(-epsilon if direction == "fall" else epsilon))
        attack, bound = (
            change_of(belief.log_p, belief.log_q, gain, direction) for gain in pair
        )
        best = int(np.argmax(attack))
        return Worst(
            truths[best],
            float(attack[best]),
            float(np.max(bound)),
            float(np.exp(belief.log_p[best])),
        )

    @staticmethod
    def _epsilon_of(belief: Belief, limit: float, direction: Direction) -> float:
        """The largest ε at which no true value exceeds the limit."""
        if direction == "posterior":
            found = safe_epsilon(
                belief, posterior=max(limit, float(np.exp(np.max(belief.log_p))))
            )
        else:
            found = safe_epsilon(
                belief.turned if direction == "fall" else belief, advantage=limit
            )
        return float(np.min(found))


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
        if (
            form is None
            or np.isfinite(form.cap)
            or not prior.is_line
            or not isinstance(goal, (Within, Exactly))
        ):
            return None
        mass, points = prior.mass[prior.mass > 0], prior.points[prior.mass > 0]
        if isinstance(goal, Within) and prior.between is not None:
            t = values_along(attribute, goal)
        else:
            t = np.asarray(possible_values(attribute), dtype=np.float64)
        first, last = (
            goal.window(points, t)
            if isinstance(goal, Within)
            else [np.searchsorted(points, t)] * 2
        )
        starts = np.flatnonzero(
            np.append(True, (np.diff(first) != 0) | (np.diff(last) != 0))[: t.size]
        )
        middle = (
            starts + np.append(starts[1:], t.size) - 1
        ) // 2  # stands for all that share a run
        t, first, after = t[middle], first[middle], last[middle] + 1
        whole = (first == 0) & (after == points.size)
        certain = float(t[whole][0]) if whole.any() else None
        some = (after > first) & ~whole
        question = LineQuestion(
            pieces_of(prior), np.arange(points.size) >= points.size // 2, form
        )
        return Runs(question, mass, t[some], first[some], after[some], certain)

    @property
    def typical(self) -> float:
        """An ε at which the bulk of the prior is about one unit wide."""
        at = np.searchsorted(self.below, BULK).clip(1, self.mass.size) - 1
        low, high = self.question.position[0][at]
        return 1 / float(high - low) if high > low else 1.0

    @property
    def width(self) -> float:
        """How far the outermost atoms are apart."""
        return float(np.ptp(self.question.position[0]))

    @cached_property
    def below(self) -> Array:
        """The mass of the atoms before each one."""
        return np.append(0.0, np.cumsum(self.mass))

    @cached_property
    def above(self) -> Array:
        """The mass of each atom and those after it."""
        return np.append(np.cumsum(self.mass[::-1])[::-1], 0.0)

    @cached_property
    def rising(self) -> bool:
        """Whether both ends of the runs rise with the true value."""
        return bool(np.all(np.diff(self.first) >= 0) and np.all(np.diff(self.after) >= 0))


@dataclass(frozen=True, eq=False)
class RunSearch:
    """Many runs at one ε. Gains are those of `tilts`, whose ε may be larger, times `share`."""

    runs: Runs
    tilts: Tilts
    share: float
    step: float
    direction: Direction

    @staticmethod
    def of(runs: Runs, epsilon: float, direction: Direction) -> RunSearch:
        """Tilts at ε, or at a larger one where differences of logarithms keep their digits."""
        share = min(1.0, epsilon * runs.width / SMALL)
        tilts = Tilts(runs.question, epsilon / share if share > 0 else 0.0)
        return RunSearch(runs, tilts, share, epsilon * runs.question.form.step, direction)

    def contenders(self) -> tuple[Indices, Array, float]:
        """Runs that may be the worst, the best among them, what each cannot exceed, and what no other run exceeds."""
        size = self.runs.at.size
        cuts = np.linspace(
            0, size, (min(START, size) if self.runs.rising else size) + 1
        ).astype(np.int64)
        left, right = cuts[:-1], cuts[1:]
        best, others = -1.0, 0.0
        rows, bounds = list[Indices](), list[Array]()
        while left.size:
            middle = (left + right) // 2
            reached = self._changes(middle, middle + 1, bound=False)
            if np.max(reached) > best:
                best, row = float(np.max(reached)), middle[np.argmax(reached)][None]
                rows, bounds = [*rows, row], [*bounds, self._changes(row, row + 1, bound=True)]
            bound = self._changes(left, right, bound=True)
            open_, one = bound > best * (1 + CLOSE), right - left == 1
            others = max(others, float(np.max(bound[~open_], initial=0.0)))
            rows.append(left[open_ & one])
            bounds.append(bound[open_ & one])
            left, right = left[open_ & ~one], right[open_ & ~one]
            divided = left[:, None] + (np.arange(PARTS + 1) * (right - left)[:, None]) // PARTS
            left, right = divided[:, :-1].ravel(), divided[:, 1:].ravel()
            left, right = left[right > left], right[right > left]
        return np.concatenate(rows), np.concatenate(bounds), others

    def _changes(self, left: Indices, right: Indices, bound: bool) -> Array:
        """What no run of each block left … right − 1 exceeds, or what its only run reaches."""
        runs, rises = self.runs, self.direction != "fall"
        union = runs.first[left], runs.after[right - 1]
        inner = runs.first[right - 1], np.maximum(runs.after[left], runs.first[right - 1])
        first, after = union if rises else inner
        p, q = runs.below[after] - runs.below[first], runs.below[first] + runs.above[after]
        some = (after > first) & (p > 0) & (q > 0)
        with np.errstate(divide="ignore"):
            log_p, log_q = np.log(np.where(after > first, p, 0.0)), np.log(q)
        gain, sign = np.zeros(p.size), 1 if rises else -1
        if self.share > 0:
            odds = self.tilts.odds(first[some], after[some], rises, bound)
            doubt = ROUNDING * runs.mass.size / (p * q)[some] + (
                SMALL**2 / 8 if self.share < 1 else 0.0
            )
            gain[some] = sign * (odds - (log_p - log_q)[some]) + (doubt if bound else -doubt)
        gain = sign * (np.maximum(self.share * gain, 0.0) + self.step)
        found = change_of(log_p, log_q, gain, self.direction)
        if not bound or self.direction == "posterior":
            return found
        return (
            found
            + (runs.below[union[1]] - runs.below[union[0]])
            - (runs.below[inner[1]] - runs.below[inner[0]])
        )


def change_of(log_p: Array, log_q: Array, gain: Array, direction: Direction) -> Array:
    """A belief after a gain, or how far it moved; where a goal is certain or empty nothing is learned."""
    with np.errstate(invalid="ignore"):
        if direction == "posterior":
            after = posterior_of(log_p, log_q, gain)
            return np.where(np.isneginf(log_q), 1.0, np.where(np.isneginf(log_p), 0.0, after))
        moved = np.abs(advantage_of(log_p, log_q, gain))
    return np.where(np.isneginf(log_q) | np.isneginf(log_p), 0.0, moved)
