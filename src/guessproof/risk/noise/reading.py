"""What one answer with normal noise, beside releases with a pure guarantee, lets an attacker believe of one number.

Given a true value t, answers are drawn around ψ(t). `failure` is how probable an answer may be that breaks what is
said, given the worst true value; without it everything holds for every answer. A pure guarantee |s(x) − s(x′)| of other
releases multiplies likelihoods by a tent e^{−|s(x)−s(c)|} at worst, whatever the prior; its logarithm changes the
log-odds by at most twice what s(c) does, so a grid of peaks bounds all of them.

For true values from t₁ to t₂ the belief is at most that in the union of their goals, the belief before at least that in
their intersection, and every answer at most as probable as for the true value nearest to it. Cells of true values that
cannot beat the best one found are left alone, the others divided.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from guessproof.errors import GoalError, NotCertifiedError, ParameterError
from guessproof.risk.bracket import Bracket
from guessproof.risk.noise.cells import FURTHEST, NORMAL, Cells, cells_of, tabled
from guessproof.risk.noise.outputs import LEFT_OUT, View, outputs_over, quantile
from guessproof.world import Attribute, Finite, Goal, Inside, LineForm, LinePrior, Within
from guessproof.world.checks import Array
from guessproof.world.special import expit

FLAT = LineForm()
HOW = "normal noise, outputs in cells"
FINE = 0.12  # widths of cells of values for a stated true value, in units of the noise
COARSE = 0.2  # the same for all true values
WINDOW = 14.0  # how far beyond the goal and the true answer values are in such cells
UNLIKELY = 1e-9  # probability of values that may be in wider cells
PEAKS = 24  # of the tents of a pure guarantee
PARTS = 3  # into which a cell of outputs is cut for all true values
STATED = 32  # the same for one
FIRST = 48  # cells of true values
DIVIDED = 4  # into which one is divided
MOST_CELLS = 1000  # of true values at once
CLOSE = 0.01  # relative, for the worst true value
WIDEST = 400.0  # answers that vary by more, in units of the noise: no belief is promised

What = Literal["rise", "both", "posterior"]


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
        prior = self.attribute.prior
        if not isinstance(prior, LinePrior) and not (
            isinstance(prior, Finite) and prior.is_line
        ):
            problem = "what Gaussian noise tells depends on the whole prior of a number"
            raise ParameterError(
                "prior", prior, problem, "give a full prior, or use laplace noise"
            )
        single = isinstance(self.goal, Within) or (
            isinstance(self.goal, Inside) and len(self.goal.intervals) == 1
        )
        if not single:
            problem = "with Gaussian noise only a goal that is one interval of one number can be judged"
            raise GoalError(
                "goal", self.goal, problem, "write it as within, or use laplace noise"
            )

    def advantage(self, failure: float = 0.0, *, both: bool = False) -> Bracket:
        """How far the belief rises (with both: moves) but with this probability, given the worst true value."""
        return self._measured("both" if both else "rise", failure)

    def posterior(self, failure: float = 0.0) -> Bracket:
        """How high the belief gets but with this probability, given the worst true value."""
        return self._measured("posterior", failure)

    def failure(self, *, advantage: float, under_prior: bool = False) -> Bracket:
        """How probable an answer is that lifts the belief by more: given the stated truth, or with it drawn anew."""
        if self.at is None:
            raise ParameterError(
                "at",
                None,
                "this probability is about one true value",
                "give the true value: at",
            )
        view, at = (
            self._view(everywhere=under_prior),
            None if under_prior else float(self.response.psi(self.at)),
        )
        low, high = view.failing(view.prior + advantage, at, self.slack)
        return Bracket.meet(low, max(low, high), HOW)

    def _measured(self, what: What, failure: float) -> Bracket:
        """How far the belief rises or moves, or how high it gets."""
        if self.at is None and (self.goal.depends_on_truth or failure):
            return self._worst(what, failure)
        at = np.array([self.at or 0.0])
        attack, bound = (float(side[0]) for side in self._measure(at, at, what, failure))
        return Bracket.meet(max(min(attack, bound), 0.0), bound, HOW)

    def _view(self, everywhere: bool) -> View:
        """The goal through the noise, for a stated true value."""
        (low,), (high,) = edges = self._edges(np.array([self.at or 0.0]))
        ends = [low, high, self.at or 0.0, *(self._likely if everywhere else ())]
        cells = self._cells(edges, np.array(ends), COARSE if everywhere else FINE)
        first, past = cells.positions(low, high)
        return View(NORMAL, cells, int(first), int(past), *self._tents(cells, first, past))

    @property
    def _likely(self) -> Array:
        """Where nearly all of the prior lies."""
        prior: Any = self.attribute.prior
        return (
            prior.points[[0, -1]]
            if isinstance(prior, Finite)
            else prior.quantile([UNLIKELY, 1 - UNLIKELY])
        )

    def _edges(self, truths: Array) -> tuple[Array, Array]:
        low, high = self.goal.edges(truths)[0]
        return np.broadcast_to(low, truths.shape), np.broadcast_to(high, truths.shape)

    def _cells(self, edges: Any, near: Array, width: float) -> Cells:
        """The prior, cut at edges of goals, finely where answers are near to those of some values."""
        prior: Any = self.attribute.prior
        answers = self.response.psi(np.clip(near, *self._likely))
        inside = np.clip(edges, *self._likely)
        peaks = np.linspace(np.min(inside), np.max(inside), PEAKS + 1)
        cuts = np.concatenate([*edges, peaks, self.response.cuts, self.pure.cuts])
        return cells_of(
            prior,
            self.response.psi,
            cuts,
            (np.min(answers) - WINDOW, np.max(answers) + WINDOW),
            width,
        )

    def _tents(self, cells: Cells, first: Any, past: Any) -> tuple[tuple[Array, ...], float]:
        """Tents with peaks at knots over the goal, and how much more the log-odds can be between them."""
        knots = self.pure.psi([*cells.left[first:past], *cells.right[past - 1 : past]])
        knots = np.unique(knots[np.isfinite(knots)])
        wanted = np.linspace(knots[:1], knots[-1:], PEAKS + 1)
        peaks = np.unique(knots[np.minimum(np.searchsorted(knots, wanted), knots.size - 1)])
        heights = np.asarray(self.pure.psi(cells.place))
        return tuple(-np.abs(heights - peak) for peak in peaks), float(
            np.max(np.diff(peaks), initial=0.0)
        )

    def _worst(self, what: What, failure: float) -> Bracket:
        """Branch and bound over true values: a cell that cannot beat the best one found is left alone."""
        (low, high), prior, goal = self.attribute.range, self.attribute.prior, self.goal
        if not np.isfinite(high - low):
            raise NotCertifiedError(
                "the worst true value may lie at infinity; declare bounds, or say at"
            )
        if self.response.psi(high) - self.response.psi(low) > WIDEST:
            return Bracket.meet(0.0, 1.0, HOW)
        left, right = _parts(np.array([low]), np.array([high]), FIRST)
        if (
            isinstance(prior, Finite)
            and isinstance(goal, Within)
            and len(prior.values) < MOST_CELLS
        ):
            # Between two values at which one becomes correct, or ceases to be, the goal holds the same.
            turns = np.clip(goal.turning_points(prior.points), low, high)
            turns = np.unique([low, high, *turns])
            left = right = np.append(turns, (turns[1:] + turns[:-1]) / 2)
        best, closed, at = -1.0, 0.0, low
        while left.size:
            attacks, bounds = self._measure(left, right, what, failure)
            if np.max(attacks) > best:
                best, at = float(np.max(attacks)), float(left[np.argmax(attacks)])
            is_open = (bounds > max(best * (1 + CLOSE), closed)) & (right > left)
            is_open &= DIVIDED * np.sum(is_open) <= MOST_CELLS
            closed = float(np.max(bounds[~is_open], initial=closed))
            left, right = _parts(left[is_open], right[is_open], DIVIDED)
        before = replace(self, at=at)._view(everywhere=False).prior
        return Bracket.meet(min(best, closed), closed, HOW, worst_at=at, worst_prior=before)

    def _measure(
        self, left: Array, right: Array, what: What, failure: float
    ) -> tuple[Array, Array]:
        """What is reached at each left end, and never exceeded for true values from left to right."""
        (a, b), (c, d) = self._edges(left), self._edges(right)
        answers, is_one = self.response.psi([np.min(left), np.max(right)]), left.size == 1
        edges, width, parts = (
            np.array([a, b, c, d]),
            FINE if is_one else COARSE,
            STATED if is_one else PARTS,
        )
        cells = self._cells(
            edges, np.array([np.min(a), np.max(d), np.min(left), np.max(right)]), width
        )
        own, outer, inner = cells.positions(a, b), cells.positions(a, d), cells.positions(c, b)
        if failure:
            outputs = outputs_over(answers, NORMAL.reach(LEFT_OUT * failure), 1.0)
        else:
            goal = self.response.psi(np.clip([np.min(a), np.max(d)], *self._likely))
            outputs = outputs_over(goal, FURTHEST, cells.unit)
        i, j = np.arange(len(outputs) - 1)[:, None], np.arange(1, len(outputs))[:, None]
        tilts, room = self._tents(cells, np.min(outer[0]), np.max(outer[1]))
        before, least, most = (
            0.0 if what == "posterior" else cells.mass(span) for span in (own, inner, outer)
        )
        reached = risen = np.zeros(1)
        for tilt in tilts:
            table = tabled(NORMAL, cells, outputs, tilt)
            odds = table.upper(i, j, outer, parts)
            if (
                not failure
            ):  # the odds against what lies beyond the goal on one side fall towards that side
                rows = np.arange(len(outputs))[:, None]
                weight = table.part(rows, outer)[1]
                above = np.minimum.accumulate(
                    weight - table.part(rows, (outer[1], len(cells.left)))[0]
                )
                below = np.minimum.accumulate(
                    (weight - table.part(rows, (0, outer[0]))[0])[::-1]
                )[::-1]
                odds = np.max(
                    np.minimum(odds, np.minimum(above[:-1], below[1:])),
                    axis=(0, 1),
                    keepdims=True,
                )
                odds = np.maximum(odds, np.maximum(above[-1], below[0]))
            reached = np.maximum(reached, expit(table.lower(i, j, own, parts)) - before)
            risen = np.maximum(risen, expit(odds + room) - least)
            if what == "both" and failure and self.pure.is_flat:
                reached = np.maximum(reached, before - expit(table.upper(i, j, own, parts)))
                risen = np.maximum(risen, most - expit(table.lower(i, j, inner, parts)))
            elif (
                what == "both"
            ):  # some answer, or another release, tells that the goal is missed
                risen = np.maximum(risen, most)
        risen = np.minimum(risen + self.slack, 1.0)
        if not failure:
            return np.max(reached, axis=(0, 1)), np.max(risen, axis=(0, 1))
        shares = np.arange(parts + 1)[:, None] / parts
        ends = (outputs[:-1] + shares * np.diff(outputs))[..., None]
        starts, stops = self.response.psi(left), self.response.psi(right)
        nearest = np.clip((ends[1:] + ends[:-1]) / 2, starts, stops)
        found: list[Array] = []
        for values, truths, allowed in (
            (reached, starts, failure),
            (risen, nearest, failure * (1 - LEFT_OUT)),
        ):
            masses = NORMAL.between(ends[:-1] - truths, ends[1:] - truths)
            found.append(
                quantile(values.reshape(-1, left.size), masses.reshape(-1, left.size), allowed)
            )
        return found[0], found[1]


def _parts(left: Array, right: Array, parts: int) -> tuple[Array, Array]:
    """Divide intervals."""
    corners = np.linspace(left, right, parts + 1)
    return corners[:-1].ravel(), corners[1:].ravel()
