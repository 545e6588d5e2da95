"""What one noisy answer, beside releases with a pure guarantee, lets an attacker believe of one number.

Given a true value t, answers are drawn around ψ(t). `failure` is how probable an answer may be that breaks what is
said, given the worst true value; without it everything holds for every answer. A pure guarantee |s(x) − s(x')| of other
releases multiplies likelihoods by a tent e^{−|s(x)−s(c)|} at worst, whatever the prior; its logarithm changes the
log-odds by at most twice what s(c) does, so a grid of peaks bounds all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit, logit, ndtr

from guessproof.errors import GoalError, NotCertifiedError, ParameterError
from guessproof.risk.bracket import Bracket
from guessproof.risk.gaussian.nodes import ROWS, Nodes, Places, nodes_of
from guessproof.risk.gaussian.outputs import (
    LEFT_OUT,
    MOST_REACH,
    BeliefCells,
    belief_cells,
    exceeded,
    largest_beliefs,
    output_ends,
    reach_of_noise,
)
from guessproof.risk.gaussian.strips import Strips
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal, Inside, Within
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

FLAT = LineForm()
PEAKS, FEW_PEAKS = 48, 12  # of the tents of a pure guarantee
FINE, COARSE = 0.02, 0.05  # widths of cells of outputs, for a stated and for the worst true value
FIRST_CELLS, MOST_CELLS, ROUNDS = 48, 400, 6
MOST_BREAKS = 100  # of a prior, at which true values are cut
TOLERANCE = 2e-3  # relative, for the worst true value


@dataclass(frozen=True)
class GoalCells:
    """True values in cells: where the answer without noise lies, beliefs before, and goals that hold all of theirs."""

    low: Array
    high: Array
    first: Places
    past: Places
    before: Array  # the least belief before
    before_most: Array
    strips: Strips | None = None  # where a cell holds more than one true value, and its edges move through a density


Measure = Callable[[GoalCells, Nodes], tuple[Array, Array]]  # (reached, never exceeded) for each cell


@dataclass(frozen=True)
class GaussianReading:
    """One number, what is believed of it, and an answer ψ(x) + normal noise of standard deviation 1."""

    attribute: Attribute
    goal: Goal
    at: float | None
    response: LineForm
    pure: LineForm = FLAT
    slack: float = 0.0  # how far rounding may move a belief

    def __post_init__(self) -> None:
        if not isinstance(self.attribute.prior, (LinePrior, Finite)) or not _is_number(self.attribute):
            problem = "what Gaussian noise tells depends on the whole prior of a number"
            raise ParameterError("prior", self.attribute.prior, problem, "give a full prior, or use laplace noise")
        single = isinstance(self.goal, Within) or (isinstance(self.goal, Inside) and len(self.goal.intervals) == 1)
        if not single:
            problem = "with Gaussian noise only a goal that is one interval of one number can be judged"
            raise GoalError("goal", self.goal, problem, "write it as within, or use laplace noise")

    # Questions.

    def advantage(self, failure: float = 0.0, *, both: bool = False) -> Bracket:
        """How far the belief rises (with both: moves) but with this probability, given the worst true value."""
        return self._worst(lambda cells, nodes: self._moved(nodes, cells, failure, both))

    def posterior(self, failure: float = 0.0) -> Bracket:
        """How high the belief gets but with this probability, given the worst true value."""
        return self._worst(lambda cells, nodes: self._beliefs(nodes, cells, failure))

    def failure(self, *, advantage: float, under_prior: bool = False) -> Bracket:
        """How probable an answer is that lifts the belief by more: given the stated truth, or with it drawn anew."""
        if self.at is None:
            raise ParameterError("at", None, "this probability is about one true value", "give the true value: at")
        nodes, cells = self._cells(np.array([self.at]), np.array([self.at]))
        level = float(cells.before[0]) + advantage
        tail = reach_of_noise(1e-12)
        middle = (float(nodes.answer[0]), float(nodes.answer[-1])) if under_prior else (float(cells.low[0]),) * 2
        found = self._tents(nodes, output_ends(middle[0] - tail, middle[1] + tail, FINE), cells)
        ends = found.ends
        mass = np.diff(_drawn_below(nodes, ends)) if under_prior else found.masses(cells.low, cells.high)[:, 0]
        low = float(np.sum(mass[found.low[:, 0] - self.slack > level]))
        high = float(np.sum(mass[found.high[:, 0] + self.slack > level])) + 1e-12
        return Bracket.meet(low, min(max(low, high), 1.0), "outputs in cells")

    # One set of cells of true values.

    def _cells(self, low: Array, high: Array) -> tuple[Nodes, GoalCells]:
        (outer_low, outer_high), (inner_low, inner_high) = self._spans(low, high)
        edges = np.concatenate([outer_low, outer_high, inner_low, inner_high])
        prior = self.attribute.prior
        assert isinstance(prior, (LinePrior, Finite))
        nodes = nodes_of(prior, self.response, self.pure, edges)
        first, past = _positions(self.goal, nodes, prior, outer_low, outer_high)
        least = _mass(nodes, prior, self.goal, inner_low, inner_high)
        most = _mass(nodes, prior, self.goal, outer_low, outer_high)
        answers = self.response.psi(low), self.response.psi(high)
        return nodes, GoalCells(*answers, first, past, least, most, self._strips(nodes, low, high))

    def _spans(self, low: Array, high: Array) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """The smallest interval that holds all goals of a cell of true values, and one that lies in each of them."""
        outer, inner = _spans(self.goal, low, high)
        if not isinstance(self.attribute.prior, Finite) or not len(self._turns):
            return outer, inner
        # Between two turns all goals of a cell hold the same of finitely many values: those of its middle.
        same = np.searchsorted(self._turns, high) <= np.searchsorted(self._turns, low, side="right")
        start, end = self.goal.edges(0.5 * (low + high))[0]
        outer, inner = ((np.where(same, start, span[0]), np.where(same, end, span[1])) for span in (outer, inner))
        return outer, inner

    def _strips(self, nodes: Nodes, low: Array, high: Array) -> Strips | None:
        prior = self.attribute.prior
        if not isinstance(prior, LinePrior) or not self.pure.is_flat or np.array_equal(low, high):
            return None
        return Strips.of(self.goal, prior, self.response, nodes, low, high)

    def _tents(self, nodes: Nodes, ends: Array, cells: GoalCells) -> BeliefCells:
        """Beliefs in cells of outputs, the pure releases at their worst."""
        if self.pure.is_flat:
            return belief_cells(nodes, ends, cells.first, cells.past)
        heights, room = self._peaks(nodes, cells)
        found = [belief_cells(nodes, ends, cells.first, cells.past, tilt) for tilt in heights]
        high = np.max([c.high for c in found], axis=0)
        low = np.max([c.low for c in found], axis=0)
        return BeliefCells(found[0].ends, low, expit(logit(np.clip(high, 0.0, 1.0)) + room))

    def _peaks(self, nodes: Nodes, cells: GoalCells) -> tuple[list[Array], float]:
        """Tents with peaks over all goals, and how much more the log-odds can be between them."""
        heights = np.asarray(self.pure.psi(nodes.x))
        low, high = heights[int(np.min(cells.first))], heights[min(int(np.max(cells.past)), len(heights)) - 1]
        count = PEAKS if len(cells.low) == 1 else FEW_PEAKS
        peaks = np.linspace(low, high, count if high > low else 1)
        return [-np.abs(heights - peak) for peak in peaks], float(high - low) / max(len(peaks) - 1, 1)

    def _beliefs(self, nodes: Nodes, cells: GoalCells, failure: float) -> tuple[Array, Array]:
        """(reached, never exceeded) beliefs but with the failure probability."""
        if nodes.reach > MOST_REACH:
            return np.zeros(len(cells.first)), np.ones(len(cells.first))
        reached, bound = self._all_outputs(nodes, cells) if not failure or len(cells.low) == 1 else (None, 1.0)
        if failure:
            found, beside, mass = self._drawn(nodes, cells, failure)
            reached, high = exceeded(found.low, mass, failure), found.high
            if cells.strips is not None and beside is not None:
                high = np.minimum(high, cells.strips.beliefs(beside))
            bound = np.minimum(bound, exceeded(high, mass, failure * (1 - LEFT_OUT)))
        assert reached is not None
        return reached, np.minimum(bound + self.slack, 1.0)

    def _all_outputs(self, nodes: Nodes, cells: GoalCells) -> tuple[Array, Array]:
        """The same over every answer."""
        if self.pure.is_flat:
            return largest_beliefs(nodes, cells.first, cells.past)
        heights, room = self._peaks(nodes, cells)
        both = [largest_beliefs(nodes, cells.first, cells.past, tilt) for tilt in heights]
        bound = expit(logit(np.max([b for _, b in both], axis=0)) + room)
        return np.max([a for a, _ in both], axis=0), bound

    def _drawn(self, nodes: Nodes, cells: GoalCells, failure: float) -> tuple[BeliefCells, BeliefCells | None, Array]:
        """Beliefs in the goals of cells, in what their strips tell, and how likely outputs are."""
        tail = reach_of_noise(failure)
        width = FINE if len(cells.low) == 1 else COARSE
        ends = output_ends(float(np.min(cells.low)) - tail, float(np.max(cells.high)) + tail, width)
        strips = cells.strips
        if strips is None:
            found = self._tents(nodes, ends, cells)
            return found, None, found.masses(cells.low, cells.high)
        count = len(cells.first)
        first = np.concatenate([cells.first, strips.first])
        past = np.concatenate([cells.past, strips.past])
        found = belief_cells(nodes, ends, first, past)
        own, beside = found.columns(slice(None, count)), found.columns(slice(count, None))
        return own, beside, found.masses(cells.low, cells.high)

    def _moved(self, nodes: Nodes, cells: GoalCells, failure: float, both: bool) -> tuple[Array, Array]:
        if not both and cells.strips is None:
            reached, bound = self._beliefs(nodes, cells, failure)
            return np.maximum(reached - cells.before_most, 0.0), np.maximum(bound - cells.before, 0.0)
        if not failure or nodes.reach > MOST_REACH or not self.pure.is_flat:
            reached, bound = self._beliefs(nodes, cells, failure)
            # Some answer makes nearly sure that the goal is missed.
            fall = cells.before_most if both else 0.0
            return np.maximum(reached - cells.before_most, 0.0), np.maximum(bound - cells.before, fall)
        found, beside, mass = self._drawn(nodes, cells, failure)
        most, least = found.high - cells.before, found.low - cells.before_most
        fall, fallen = cells.before_most - found.low, cells.before - found.high
        if cells.strips is not None and beside is not None:
            most, fall = np.minimum(most, cells.strips.rises(beside)), np.minimum(fall, cells.strips.falls(beside))
        most, least = (np.maximum(most, fall), np.maximum(least, fallen)) if both else (most, least)
        most = most + self.slack
        bound = exceeded(most, mass, failure * (1 - LEFT_OUT))
        return np.maximum(exceeded(least, mass, failure), 0.0), np.clip(bound, 0.0, 1.0)

    # The worst true value.

    def _worst(self, measure: Measure) -> Bracket:
        how = "normal noise, outputs in cells"
        if self.at is not None or not self.goal.depends_on_truth:
            place = np.array([0.0 if self.at is None else self.at])
            nodes, cells = self._cells(place, place)
            attack, bound = measure(cells, nodes)
            return Bracket.meet(min(attack[0], bound[0]), bound[0], how)
        low, high = self.attribute.range
        if not np.isfinite(high - low):
            raise NotCertifiedError("the worst true value may lie at infinity; declare bounds, or say at")
        turns = self._turns[(self._turns > low) & (self._turns < high)]
        even = np.linspace(low, high, FIRST_CELLS + 1)
        return self._searched(np.unique(np.concatenate([even, turns])), turns, measure, how)

    @cached_property
    def _turns(self) -> Array:
        """True values at which an edge of the goal meets a break of the prior, or one of its values, in order."""
        prior = self.attribute.prior
        breaks = prior.points[prior.mass > 0] if isinstance(prior, Finite) else (*prior.support, *prior.breaks)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        found = np.asarray(breaks, dtype=np.float64)
        if not isinstance(self.goal, Within) or len(found) > MOST_BREAKS:
            return np.empty(0)
        return np.unique(self.goal.turning_points(found[np.isfinite(found)]))

    def _searched(self, ends: Array, turns: Array, measure: Measure, how: str) -> Bracket:
        """Branch and bound over true values: a cell that cannot beat the best value found is left alone."""
        left, right = ends[:-1], ends[1:]
        best, at, closed = self._tried(np.concatenate([ends[[0, -1]], turns]), measure)
        rounds = ROUNDS if self.pure.is_flat else 2
        while closed < 1 - 1e-9:
            found, place, _ = self._tried(0.5 * (left + right), measure)
            best, at = max((best, at), (found, place))
            nodes, cells = self._cells(left, right)
            bounds = measure(cells, nodes)[1]
            rounds -= 1
            keep = bounds > max(best * (1 + TOLERANCE), closed)
            if not np.any(keep) or 4 * np.sum(keep) > MOST_CELLS or not rounds:
                closed = max(closed, float(np.max(bounds)))
                break
            closed = max(closed, float(np.max(bounds[~keep], initial=0.0)))
            corners = np.linspace(left[keep], right[keep], 5)
            left, right = corners[:-1].ravel(), corners[1:].ravel()
        prior = float(self._cells(np.array([at]), np.array([at]))[1].before[0])
        return Bracket.meet(best, max(closed, best), how, worst_at=at, worst_prior=prior)

    def _tried(self, truths: Array, measure: Measure) -> tuple[float, float, float]:
        """The most that one of some true values lets him gain, which one, and a bound for these."""
        nodes, points = self._cells(truths, truths)
        attacks, bounds = measure(points, nodes)
        place = int(np.argmax(attacks))
        return max(float(attacks[place]), 0.0), float(truths[place]), float(np.max(bounds))

    def likely_worst(self, failure: float, limit: str, *, both: bool = False) -> float:
        """What a coarse look at true values finds: near the answer, and cheap; proves nothing."""
        if self.at is not None or not self.goal.depends_on_truth:
            found = self.advantage(failure, both=both) if limit == "advantage" else self.posterior(failure)
            return float(found.bound)
        truths = np.linspace(*self.attribute.range, FIRST_CELLS + 1)

        def measure(cells: GoalCells, nodes: Nodes) -> tuple[Array, Array]:
            if limit == "advantage":
                return self._moved(nodes, cells, failure, both)
            return self._beliefs(nodes, cells, failure)

        return self._tried(truths, measure)[0]

    def scaled(self, factor: float) -> GaussianReading:
        """The same with the noise divided by a factor."""
        return replace(self, response=self.response.times(factor))


def _drawn_below(nodes: Nodes, outputs: Array) -> Array:
    """P(output ≤ y) with the truth drawn from the prior."""
    weight = np.exp(nodes.log_weight)
    chunk = max(1, ROWS // len(weight))
    parts = [ndtr(outputs[i : i + chunk, None] - nodes.answer) @ weight for i in range(0, len(outputs), chunk)]
    return np.concatenate(parts)


def _is_number(attribute: Attribute) -> bool:
    return not isinstance(attribute.prior, Finite) or attribute.prior.is_line


def _spans(goal: Goal, low: Array, high: Array) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """The smallest interval that holds all goals of a cell of true values, and one that lies in each of them."""
    ends = [goal.edges(t)[0] for t in (low, high)]
    (a, b), (c, d) = (tuple(np.broadcast_to(side, np.shape(low)) for side in pair) for pair in ends)
    return (np.minimum(a, c), np.maximum(b, d)), (np.maximum(a, c), np.minimum(b, d))


def _positions(goal: Goal, nodes: Nodes, prior: LinePrior | Finite, low: Array, high: Array) -> tuple[Places, Places]:
    if isinstance(prior, Finite):  # edges count up to rounding, as for every goal
        slack = 4 * np.spacing(np.maximum(np.abs(low), np.abs(high)))
        low, high = low - slack, high + slack
    return nodes.positions(low, high)


def _mass(nodes: Nodes, prior: LinePrior | Finite, goal: Goal, low: Array, high: Array) -> Array:
    if isinstance(prior, LinePrior):
        return np.where(high > low, np.asarray(prior.mass(low, np.maximum(low, high))), 0.0)
    first, past = _positions(goal, nodes, prior, low, high)
    sums = np.concatenate([[0.0], np.cumsum(np.exp(nodes.log_weight))])
    return np.maximum(sums[np.maximum(past, first)] - sums[first], 0.0)
