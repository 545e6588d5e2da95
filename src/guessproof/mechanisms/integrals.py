"""∫ prior · likelihood below, inside and above a goal, for one output or a whole cell of outputs.

The likelihood of an output y at x is the noise density at y − q(x). Integrals are sums over panels that end
where the prior, the query or the noise bends, with Gauss–Legendre nodes inside; all in logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from guessproof.errors import GoalError, ParameterError
from guessproof.mechanisms.response import QueryResponse
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior

Kernel = Callable[[Any], Any]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
SPREAD = np.array([1.5, 4.0, 10.0, 25.0])
BELOW, GOAL, ABOVE = range(3)


@dataclass(frozen=True)
class Segment:
    """A stretch of secret values with one piece of the query, on one side of the goal."""

    group: int
    piece: int
    edges: Any

    @property
    def low(self) -> float:
        """Left end."""
        return float(self.edges[0])

    @property
    def high(self) -> float:
        """Right end."""
        return float(self.edges[-1])


@dataclass(frozen=True)
class LineIntegrals:
    """A prior with a density, an interval as goal."""

    prior: LinePrior
    goal: tuple[float, float]
    response: QueryResponse
    scale: float

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The line cut at the goal's ends and where the query changes its piece."""
        low, high = self.goal
        ends = [-math.inf, *sorted({low, high, *self.response.cuts}), math.inf]
        found = []
        for left, right in pairwise(ends):
            starts, stops = (np.ravel(side) for side in self.prior.panels(left, right))
            panels = np.unique(np.concatenate([side[stops > starts] for side in (starts, stops)]))
            if len(panels) < 2 or not self.prior.mass(left, right) > 0:
                continue
            group = BELOW if right <= low else ABOVE if left >= high else GOAL
            piece = int(np.searchsorted(self.response.cuts, 0.5 * (panels[0] + panels[-1]), side="right"))
            found.append(Segment(group, piece, panels))
        return tuple(found)

    @cached_property
    def hull(self) -> tuple[float, float]:
        """The smallest and the largest answer."""
        values = [self._curve(s)(np.array([s.low, s.high])) for s in self.segments]
        return float(np.min(values)), float(np.max(values))

    @cached_property
    def goal_hull(self) -> tuple[float, float]:
        """The same for values inside the goal."""
        values = [self._curve(s)(np.array([s.low, s.high])) for s in self.segments if s.group == GOAL]
        return float(np.min(values)), float(np.max(values))

    def extreme_log_odds(self, sign: int) -> float:
        """ln odds of the goal among those whose answer is the largest (sign = 1) or smallest (−1) of all."""
        ends = [sign * self._curve(s)(np.array([s.low, s.high])) for s in self.segments]
        best = max(float(np.max(e)) for e in ends)
        flat = [s for s, e in zip(self.segments, ends, strict=True) if np.all(e == best)]
        if flat:
            mass = [sum(float(self.prior.mass(s.low, s.high)) for s in flat if s.group == g) for g in range(3)]
            return _log_ratio(mass[GOAL], mass[BELOW] + mass[ABOVE])
        groups = {s.group for s, e in zip(self.segments, ends, strict=True) if np.max(e) == best}
        return math.inf if groups == {GOAL} else -math.inf

    def log_mass(self) -> Any:
        """ln prior of the three groups."""
        low, high = self.goal
        return self.prior.log_tilt(0.0, np.array([-np.inf, low, high]), np.array([low, high, np.inf]))

    def logs(self, kernel: Callable[[Any], Any], bends: Any) -> Any:
        """ln ∫ f(x)·e^kernel(q(x)) over the three groups; ``bends`` (rows × any) are answers where it bends."""
        total = np.full((3, len(bends)), -np.inf)
        for segment in self.segments:
            total[segment.group] = np.logaddexp(total[segment.group], self._log_integral(segment, kernel, bends))
        return total

    def sums(self, kernel: Callable[[Any], Any], bends: Any) -> Any:
        """∫ f(x)·kernel(q(x)) over everything, for a bounded kernel such as a distribution function."""
        total = np.zeros(len(bends))
        for segment in self.segments:
            q, log_weight = self._nodes(segment, bends)
            total += np.sum(np.exp(log_weight) * kernel(q), axis=1)
        return total

    def _curve(self, segment: Segment) -> Callable[[Any], Any]:
        return self.response.curves[segment.piece]

    def _log_integral(self, segment: Segment, kernel: Callable[[Any], Any], bends: Any) -> Any:
        q, log_weight = self._nodes(segment, bends)
        terms = log_weight + kernel(q)
        peak = np.max(terms, axis=1, keepdims=True)
        peak = np.where(np.isfinite(peak), peak, 0.0)
        with np.errstate(divide="ignore"):
            return np.log(np.sum(np.exp(terms - peak), axis=1)) + peak[:, 0]

    def _nodes(self, segment: Segment, bends: Any) -> tuple[Any, Any]:
        """Answers and ln(prior weight) at the nodes, one row for each row of bends."""
        curve = self._curve(segment)
        ends = np.sort(curve(np.array([segment.low, segment.high])))
        edges = np.broadcast_to(segment.edges, (len(bends), len(segment.edges)))
        if ends[0] < ends[1]:
            answers = np.sort(self._spread(bends, *ends), axis=1)
            inverse = self.response.inverse(segment.piece, segment.low, segment.high, answers)
            edges = np.sort(np.concatenate([edges, inverse], axis=1), axis=1)
        half = 0.5 * np.diff(edges, axis=1)[..., None]
        x = np.minimum(edges[:, :-1, None] + half * (1 + NODES), segment.high)
        with np.errstate(divide="ignore"):
            log_weight = self.prior.log_density(x) + np.log(half * WEIGHTS)
        rows = len(bends)
        return curve(x).reshape(rows, -1), log_weight.reshape(rows, -1)

    def _spread(self, bends: Any, low: float, high: float) -> Any:
        """The bends and points around the nearest answer, closer together where the noise falls more steeply."""
        centre = np.clip(bends, low, high)
        distance = np.abs(bends - centre) / self.scale
        width = (self.scale / np.maximum(1.0, distance))[..., None] * SPREAD
        around = np.concatenate([centre[..., None] - width, centre[..., None] + width, centre[..., None]], axis=-1)
        return np.clip(around.reshape(len(bends), -1), low, high)


@dataclass(frozen=True)
class AtomIntegrals:
    """A prior with finitely many values: sums instead of integrals."""

    prior: Finite
    goal: Any
    response: Callable[[Any], Any]
    scale: float

    @cached_property
    def groups(self) -> Any:
        """Below, inside or above the goal, for each value (of a set: only inside or not)."""
        if isinstance(self.goal, tuple) and self.prior.is_line:
            points, (low, high) = self.prior.points, self.goal
            return np.where(points < low, BELOW, np.where(points > high, ABOVE, GOAL))
        return np.array([GOAL if value in self.goal else BELOW for value in self.prior.values])

    @cached_property
    def answers(self) -> Any:
        """q at each value."""
        if self.prior.is_line:
            return np.asarray(self.response(self.prior.points), dtype=float)
        return np.array([float(self.response(value)) for value in self.prior.values])

    @property
    def hull(self) -> tuple[float, float]:
        """The smallest and the largest answer that can occur."""
        some = self.answers[self.prior.mass > 0]
        return float(np.min(some)), float(np.max(some))

    @property
    def goal_hull(self) -> tuple[float, float]:
        """The same for values inside the goal."""
        some = self.answers[(self.prior.mass > 0) & (self.groups == GOAL)]
        return float(np.min(some)), float(np.max(some))

    def extreme_log_odds(self, sign: int) -> float:
        """ln odds of the goal among those whose answer is the largest (sign = 1) or smallest (−1) of all."""
        top = np.where(self.prior.mass > 0, sign * self.answers, -np.inf)
        mass = np.where(top == np.max(top), self.prior.mass, 0.0)
        inside = float(np.sum(mass[self.groups == GOAL]))
        return _log_ratio(inside, float(np.sum(mass)) - inside)

    def log_mass(self) -> Any:
        """ln prior of the three groups."""
        with np.errstate(divide="ignore"):
            return np.log([float(np.sum(self.prior.mass[self.groups == group])) for group in range(3)])

    def logs(self, kernel: Callable[[Any], Any], bends: Any) -> Any:
        """ln Σ p(x)·e^kernel(q(x)) over the three groups."""
        terms = kernel(np.broadcast_to(self.answers, (len(bends), len(self.answers))))
        peak = np.max(terms, axis=1, keepdims=True)
        peak = np.where(np.isfinite(peak), peak, 0.0)
        weighted = np.exp(terms - peak) * self.prior.mass
        with np.errstate(divide="ignore"):
            parts = [np.log(np.sum(weighted[:, self.groups == group], axis=1)) for group in range(3)]
        return np.array(parts) + peak[:, 0]

    def sums(self, kernel: Callable[[Any], Any], bends: Any) -> Any:
        """Σ p(x)·kernel(q(x)) over everything."""
        return kernel(np.broadcast_to(self.answers, (len(bends), len(self.answers)))) @ self.prior.mass


def integrals(prior: Any, goal: Any, response: Any, scale: float) -> LineIntegrals | AtomIntegrals:
    """The integrals that belong to a prior."""
    if isinstance(prior, LinePrior):
        low, high = goal
        if not low < high or not 0 < float(prior.mass(low, high)) < 1:
            raise GoalError("goal", goal, "it is impossible or certain before the release", "move its ends")
        return LineIntegrals(prior, (float(low), float(high)), response, scale)
    if isinstance(prior, Finite):
        found = AtomIntegrals(prior, goal, response, scale)
        if not 0 < math.exp(found.log_mass()[GOAL]) < 1:
            raise GoalError("goal", goal, "it is impossible or certain before the release", "choose other values")
        return found
    problem = "the attacker's posterior needs a full prior"
    raise ParameterError("prior", prior, problem, "use a prior with probabilities, or the ε bound")


def _log_ratio(inside: float, outside: float) -> float:
    if inside <= 0:
        return -math.inf
    return math.log(inside / outside) if outside > 0 else math.inf
