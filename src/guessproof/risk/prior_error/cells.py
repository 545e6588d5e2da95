"""The declared prior cut into cells, for one distance and one ε: what the attack and the certificate add up.

Each cell has its exact probability, the range of ε·ψ in it and bounds of the tilted integral ∫ e^{±εψ} f; sums over
runs of cells are differences of cumulative sums. The right side of a peak is the left side in the mirror image.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.risk.line.recursion import LineQuestion, atom_question, density_question
from guessproof.world.checks import Array, Indices
from guessproof.world.distances import LineForm
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal
from guessproof.world.line import LinePrior

ROUNDING = 1e-14  # of cumulative sums: every sum over cells is rounded to a side by it
CELLS = 500  # by probability, and as many evenly
KNOTS = 48  # edges of cells inside a goal, so that its peaks and thresholds lie on edges
OUTERMOST = 1e-9  # quantile up to which a goal without an end is divided
TRUTHS = 1000  # whose goals end at cell edges, between each two of these quantiles
BULK, FURTHER = 1e-3, 1e-7  # quantiles between which true values are close to each other
# Quantiles to 1e-181 of further ones; all true values beyond are one box.
TAILS = 10 ** -(2.0 ** np.arange(1.5, 8.5))


@dataclass(frozen=True, eq=False)
class Side:
    """Cells on the left of peaks, in order; tents have E = e^ψ there (sign 1), valleys e^{−ψ} (sign −1)."""

    sign: int
    start: Array  # ε·ψ at the left end of each cell, and at the right one
    stop: Array
    edges: Array  # where peaks and goals may end, one more than cells
    totals: Array  # cumulative probability, and ∫ E f from below and from above

    @cached_property
    def finite_edges(self) -> Array:
        """The edges with the nearest finite one in place of an infinite end."""
        return np.clip(self.edges, *self.edges[np.isfinite(self.edges)][[0, -1]])

    @property
    def below(self) -> Array:
        """The probability below each edge."""
        return self.totals[0]

    def sums(self, first: Any, last: Any, near: Any) -> Array:
        """Probability and ∫ E f over cells first … last − 1, rounded as if all of a cell were nearer to the peak.

        That is the tilt of tents from above with the probability from below; with `near` False it is the other way
        round, and so it is for valleys.
        """
        before, after = self.totals[:, first], self.totals[:, last]
        slack = ROUNDING * np.maximum(np.abs(before), np.abs(after))
        slack = np.where(np.isfinite(slack), slack, 0.0)
        low, high = after - before - slack, after - before + slack
        is_upper = np.equal(near, self.sign > 0)
        found = np.where(is_upper, np.stack([low[0], high[2]]), np.stack([high[0], low[1]]))
        return np.where(last > first, found, 0.0)


def sides_of(question: LineQuestion, epsilon: float, sign: int) -> tuple[Side, Side]:
    """What lies left of a peak, and what lies right of it in the mirror, with −ψ for ψ."""
    pieces, (left, right) = question.pieces, question.position
    start = np.where(np.isneginf(pieces.left) & (question.rate > 0), -np.inf, epsilon * left)
    stop = np.where(np.isposinf(pieces.right) & (question.rate > 0), np.inf, epsilon * right)
    edges = np.append(start, stop[-1])
    rate, shift = sign * epsilon * question.rate, sign * epsilon * left
    tilts = [np.stack(pieces.end_tilt(k)) for k in (rate, -rate)]
    log_mass, back = pieces.log_mass, slice(None, None, -1)
    mirrored = -stop[back], -start[back], -edges[back], log_mass[back]
    return (
        _side(sign, start, stop, edges, log_mass, tilts[0] + shift),
        _side(sign, *mirrored, (tilts[1] - shift)[:, back]),
    )


def _side(
    sign: int, start: Array, stop: Array, edges: Array, log_mass: Array, log_tilt: Array
) -> Side:
    """Cells with their probabilities and both bounds of their tilts, which lie between those of their ends."""
    with np.errstate(all="ignore"):  # an infinite end, or no probability, bounds nothing
        ends = log_mass + np.sort(sign * np.stack([start, stop]), axis=0)
        tilts = np.exp(np.fmin(np.fmax(log_tilt, ends[0]), ends[1]))
        # Tilts are summed from where E is small.
        sums = sign * _summed(tilts[:, ::sign])[:, ::sign]
    return Side(sign, start, stop, edges, np.append(_summed(np.exp([log_mass])), sums, axis=0))


def _summed(values: Array) -> Array:
    """Cumulative sums that begin with 0, along the last axis."""
    return np.insert(np.cumsum(values, axis=-1), 0, 0.0, axis=-1)


@dataclass(frozen=True, eq=False)
class LineGoals:
    """The goals of true values in order: cells first … last − 1 of a question, or (`turned`) all cells but these.

    `continuous`: true values between two neighbours count as well, the ends of their goals lie between those of both.
    """

    question: LineQuestion
    first: Indices
    last: Indices
    truths: Array
    turned: bool = False
    continuous: bool = False

    @cached_property
    def prior(self) -> Array:
        """The declared probability of each goal."""
        below = _summed(np.exp(self.question.pieces.log_mass))
        inside = below[self.last] - below[self.first]
        return 1 - inside if self.turned else inside


def stated_goals(
    prior: LinePrior | Finite, form: LineForm, goal: Goal, at: Any
) -> tuple[LineGoals, ...]:
    """The parts of the goal of one true value (or of none), whose rises add up: its intervals, or those it lacks."""
    if isinstance(prior, Finite):
        question = atom_question(prior, form, goal.chosen(prior, at))
    else:
        intervals = np.array(goal.edges(0.0 if at is None else float(at)), dtype=np.float64)
        low, high = np.clip(
            intervals.T, prior.quantile(OUTERMOST), prior.quantile(OUTERMOST, True)
        )
        knots = np.append(np.linspace(low, high, KNOTS), _grid(prior, form))
        question = density_question(prior, form, intervals, knots)
    first, last = question.runs
    inside = question.goal[first]
    turned = 2 * int(np.sum(inside)) > inside.size
    return tuple(
        LineGoals(question, first[[i]], last[[i]] + 1, np.array([at]), turned)
        for i in np.flatnonzero(inside != turned)
    )


def goals_in_range(
    prior: LinePrior, form: LineForm, goal: Goal, bounds: tuple[float, float]
) -> LineGoals:
    """The goals, each one interval, of all true values in a range; at infinity they are empty."""
    truths = _truths(prior, bounds)
    low, high = (np.where(np.isfinite(truths), end, truths) for end in goal.edges(truths)[0])
    some = truths.size // 2
    knots = np.concatenate([low, truths, high, _grid(prior, form)])
    question = density_question(prior, form, [[low[some], high[some]]], knots)
    first = np.searchsorted(question.pieces.right, low, side="right")
    last = np.searchsorted(question.pieces.left, high)
    return LineGoals(question, first, last, truths, continuous=True)


def listed_goals(prior: Finite, form: LineForm, goal: Goal, truths: list[float]) -> LineGoals:
    """The goals of some true values, in order, beside finitely many numbers."""
    rows = np.array([goal.chosen(prior, truth)[prior.mass > 0] for truth in truths]) > 0.5
    some = rows.any(axis=1)
    first, last = rows.argmax(axis=1), rows.shape[1] - rows[:, ::-1].argmax(axis=1)
    at = np.array(truths)[some]
    question = atom_question(prior, form, goal.chosen(prior, at[0]))
    return LineGoals(question, first[some], last[some], at)


def _grid(prior: LinePrior, form: LineForm) -> Array:
    """Edges of cells by probability, and evenly in the distance."""
    even = prior.quantile((np.arange(CELLS) + 0.5) / CELLS)
    low, high = form.psi(even[[0, -1]])
    heights = np.linspace(low, high, CELLS)
    return np.append(even, np.interp(heights, form.psi(even), even))


def _truths(prior: LinePrior, bounds: tuple[float, float]) -> Array:
    """True values over the whole range, with a grid fine enough for boxes between them."""
    found = [bounds, prior.quantile(TAILS), prior.quantile(TAILS, True)]
    for share in BULK, FURTHER:
        low, high = np.clip([prior.quantile(share), prior.quantile(share, True)], *bounds)
        found.append(np.linspace(low, high, TRUTHS))
    return np.unique(np.clip(np.concatenate(found), *bounds))
