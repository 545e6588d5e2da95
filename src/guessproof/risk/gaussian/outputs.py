"""How likely outputs are, and how far each can move a belief: proven on cells of outputs.

Along the outputs y the log-odds ℓ of a goal have the second derivative Var_inside − Var_outside of the answer, and the
logarithm of such a variance is Lipschitz in the answers' reach R. Between two outputs h apart ℓ therefore leaves the
straight line through its ends by at most e^{Rh/2}·Var·h²/8. Noise beyond the cells counts as if it told everything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr, ndtri

from guessproof.risk.gaussian.nodes import Nodes, Places, odds_of
from guessproof.world.checks import Array

FINEST, COARSEST = 0.004, 0.25  # widths of the cells of outputs, in units of the noise
SPLIT, SPLIT_MANY = 8, 2  # parts into which a cell is cut along the straight line, for few goals and for many
LEFT_OUT = 1e-3  # of a failure probability: noise further out is taken to tell everything
FURTHEST = 200.0  # beyond the answers: from there on the order of the odds decides
ROUNDING = 1e-12  # of the sums behind a belief
MOST_REACH = 400.0  # noise so small beside the answers that no belief is promised


@dataclass(frozen=True)
class BeliefCells:
    """Beliefs in each goal (columns) in cells of outputs (rows): at least, at most."""

    ends: Array  # of the cells: one more than rows
    low: Array
    high: Array

    def masses(self, centres_low: Array, centres_high: Array) -> Array:
        """How likely each cell is, at most, when the answer without noise lies in an interval."""
        middle = 0.5 * (self.ends[1:] + self.ends[:-1])[:, None]
        centre = np.clip(middle, centres_low, centres_high)
        return between(self.ends[:-1, None] - centre, self.ends[1:, None] - centre)

    def columns(self, which: slice) -> BeliefCells:
        """Some of the goals."""
        return BeliefCells(self.ends, self.low[:, which], self.high[:, which])


def between(low: Array, high: Array) -> Array:
    """P(low < Z ≤ high) for standard normal Z, accurate in both tails."""
    flip = low > 0
    return np.where(flip, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))


def reach_of_noise(failure: float) -> float:
    """How far noise strays but for a thousandth of the failure probability."""
    return float(-ndtri(0.5 * LEFT_OUT * failure))


def output_ends(low: float, high: float, width: float) -> Array:
    """Outputs from one to another in equal steps."""
    return np.linspace(low, high, max(2, int(np.ceil((high - low) / width)) + 1))


def belief_cells(nodes: Nodes, ends: Array, first: Places, past: Places, tilt: Array | None = None) -> BeliefCells:
    """Beliefs in goals between outputs."""
    odds = odds_of(nodes, ends, first, past, tilt)
    width = np.diff(ends)[:, None]
    spread = np.exp(0.5 * nodes.reach * width) * width**2 / 8
    above = spread * np.maximum(odds.outside[1:], odds.outside[:-1])
    below = spread * np.maximum(odds.inside[1:], odds.inside[:-1])
    left, right = odds.log[:-1], odds.log[1:]
    count = SPLIT if left.shape[1] <= 2 else SPLIT_MANY
    parts = np.arange(count + 1) / count
    lines = left[:, None] + (right - left)[:, None] * parts[:, None]  # cells × parts × goals
    high = expit(np.maximum(lines[:, 1:], lines[:, :-1]) + above[:, None]) + ROUNDING
    low = expit(np.minimum(lines[:, 1:], lines[:, :-1]) - below[:, None]) - ROUNDING
    fine = (ends[:-1, None] + width * parts[:-1]).ravel()
    shape = (-1, left.shape[1])
    return BeliefCells(np.append(fine, ends[-1]), low.reshape(shape), np.minimum(high, 1.0).reshape(shape))


def largest_beliefs(nodes: Nodes, first: Places, past: Places, tilt: Array | None = None) -> tuple[Array, Array]:
    """The largest belief in each goal over all outputs: reached, and never exceeded.

    "Below : goal" falls and "above : goal" rises in the output, so beyond the last output looked at only the share of
    those above it counts, and before the first that of those below.
    """
    unit = max(1.0, 2 / max(nodes.reach, 1e-300))  # wide noise: only outputs far out tell answers apart
    low, high = float(nodes.answer[0]) - FURTHEST * unit, float(nodes.answer[-1]) + FURTHEST * unit
    bound = np.maximum(_beyond(nodes, low, first, past, tilt, -1), _beyond(nodes, high, first, past, tilt, 1))
    reached, width = np.zeros(np.shape(first)), COARSEST * unit
    while True:  # only where an output can still matter is it looked at more closely
        ends = output_ends(low, high, width)
        cells = belief_cells(nodes, ends, first, past, tilt)
        reached = np.maximum(reached, np.max(cells.low, axis=0))
        open_rows = np.flatnonzero(np.any(cells.high > np.maximum(reached, bound) + 1e-9, axis=1))
        if not len(open_rows) or width <= FINEST * unit:
            return reached, np.maximum(bound, np.max(cells.high, axis=0))
        inside = np.zeros(len(cells.high), dtype=bool)
        inside[open_rows[0] : open_rows[-1] + 1] = True
        bound = np.maximum(bound, np.max(cells.high[~inside], axis=0, initial=0.0))
        low, high = float(cells.ends[open_rows[0]]), float(cells.ends[open_rows[-1] + 1])
        width = max(FINEST * unit, min(width / 4, (high - low) / 50))


def _beyond(nodes: Nodes, output: float, first: Places, past: Places, tilt: Array | None, side: int) -> Array:
    """Goal against those beyond it on one side, at one output."""
    ends = np.full_like(past, len(nodes.x))
    outer = (np.zeros_like(first), past) if side > 0 else (first, ends)
    # The odds of "goal and all on the other side" against those beyond; the goal alone has no more.
    return expit(odds_of(nodes, np.array([output]), *outer, tilt).log[0])


def exceeded(values: Array, masses: Array, failure: float) -> Array:
    """For each column the smallest number that the values exceed with this probability at most."""
    order = np.argsort(-values, axis=0)
    above = np.cumsum(np.take_along_axis(masses, order, axis=0), axis=0)
    ranked = np.take_along_axis(values, order, axis=0)
    place = np.minimum(np.sum(above <= failure, axis=0), len(values) - 1)
    return np.take_along_axis(ranked, place[None, :], axis=0)[0]
