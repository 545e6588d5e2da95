"""The declared prior cut into cells, for one distance and one ε: what the attack and the certificate add up.

Each cell has its exact probability, the range of ε·ψ in it and bounds of the tilted integral ∫ e^{±εψ} f. A concave
function of E = e^{±εψ} has its least mean over a cell, given the mean of E, where all of the cell lies at its two ends:
so two atoms stand for each cell, and sums over runs of cells are differences of cumulative sums. At an infinite end E
is 0, or so large that the atom has no probability but what is left of the tilt. The right side of a peak is the left
side in the mirror image.
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

STEEPEST = 600.0  # ln E beyond which it counts as infinite: e^x and sums of it stay doubles
CELLS = 500  # by probability, and as many evenly: chords in cells are off by a share of a thousandth
KNOTS = 48  # edges of cells inside a goal, so that its peaks and thresholds lie on edges
OUTERMOST = 1e-9  # quantile up to which a goal without an end is divided
FEWEST, MOST = 96, 2500  # true values whose goals end at cell edges: more for narrow goals
BULK, FURTHER = 1e-3, 1e-7  # quantiles between which true values are close to each other
# Quantiles to 1e-181 of further ones; all true values beyond are one box.
TAILS = 10 ** -(2.0 ** np.arange(1.5, 8.5))


@dataclass(frozen=True, eq=False)
class Side:
    """Cells on the left of peaks, in order; tents have E = e^ψ there (sign 1), valleys e^{−ψ} (sign −1)."""

    sign: int
    psi: Array  # ε·ψ of the atoms, two for each cell
    totals: Array  # cumulative probability and ∫ E f of atoms, each with the lower and the upper bound of the tilt

    @cached_property
    def edges(self) -> Array:
        """ε·ψ at the edges between cells, midway where ψ jumps; one more than cells."""
        inner = 0.5 * (self.psi[1:-1:2] + self.psi[2::2])
        return np.concatenate([self.psi[:1], inner, self.psi[-1:]])

    @cached_property
    def finite_edges(self) -> Array:
        """The same with the nearest finite one in place of an infinite end."""
        return np.clip(self.edges, *self.edges[np.isfinite(self.edges)][[0, -1]])

    @property
    def below(self) -> Array:
        """The probability below each edge."""
        return self.totals[0, 0, ::2]

    def atoms(self, first: Any, last: Any, upper: Any) -> Array:
        """Probability and ∫ E f over atoms first … last − 1, with the tilt bounded from above (1) or below (0)."""
        total = self.totals[:, upper, last] - self.totals[:, upper, first]
        return np.where(last > first, total, 0.0)

    def sums(self, first: Any, last: Any, upper: Any) -> Array:
        """The same over cells."""
        return self.atoms(2 * first, 2 * last, upper)


def sides_of(question: LineQuestion, epsilon: float, sign: int) -> tuple[Side, Side]:
    """What lies left of a peak, and what lies right of it in the mirror, with −ψ for ψ."""
    pieces, (left, right) = question.pieces, question.position
    start = np.where(np.isneginf(pieces.left) & (question.rate > 0), -np.inf, epsilon * left)
    stop = np.where(np.isposinf(pieces.right) & (question.rate > 0), np.inf, epsilon * right)
    mass, rate, shift = (
        np.exp(pieces.log_mass),
        sign * epsilon * question.rate,
        sign * epsilon * left,
    )
    tilts = [np.stack(pieces.end_tilt(k)) for k in (rate, -rate)]
    mirrored = -stop[::-1], -start[::-1], mass[::-1], (tilts[1] - shift)[:, ::-1]
    return _side(sign, start, stop, mass, tilts[0] + shift), _side(sign, *mirrored)


def _side(sign: int, start: Array, stop: Array, mass: Array, log_tilt: Array) -> Side:
    """Two atoms for each cell, with its probability and either bound of its tilt."""
    tilt, first, last = (
        np.exp(np.minimum(x, STEEPEST)) for x in (log_tilt, sign * start, sign * stop)
    )
    tilt = np.clip(tilt, mass * np.minimum(first, last), mass * np.maximum(first, last))
    with np.errstate(all="ignore"):
        mean, steep = tilt / mass, np.isposinf(log_tilt)
        steep[1] |= log_tilt[1] - np.log(mass) > STEEPEST
        at_last = np.nan_to_num(np.clip((mean - first) / (last - first), 0.0, 1.0))
        at_first = np.clip((last - mean) / (last - first), 0.0, 1.0)
    at_first = np.where(first == last, 1.0 - at_last, np.nan_to_num(at_first))
    masses = _paired(mass * at_first, mass * at_last)
    tilts = masses * _paired(first, last)
    tilts[np.repeat(steep, 2, axis=1)] = np.inf
    # Tilts are summed from where E is small.
    tilts = sign * _summed(tilts[:, ::sign])[:, ::sign]
    return Side(sign, _paired(start, stop), np.stack([_summed(masses), tilts]))


def _paired(first: Array, last: Array) -> Array:
    """Both in turn, along the last axis."""
    return np.stack([first, last], axis=-1).reshape(*first.shape[:-1], -1)


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
    """The parts of the goal of one true value (or of none)."""
    if isinstance(prior, Finite):
        return parts_of(atom_question(prior, form, goal.chosen(prior, at)), at)
    intervals = np.array(goal.edges(0.0 if at is None else float(at)), dtype=np.float64)
    low, high = np.clip(intervals.T, prior.quantile(OUTERMOST), prior.quantile(OUTERMOST, True))
    knots = np.append(np.linspace(low, high, KNOTS), _grid(prior, form))
    return parts_of(density_question(prior, form, intervals, knots), at)


def parts_of(question: LineQuestion, at: Any) -> tuple[LineGoals, ...]:
    """Parts whose rises add up to that of a goal: its intervals, or those it lacks."""
    first, last = question.runs
    inside = question.goal[first]
    turned = 2 * int(np.sum(inside)) > inside.size
    truths = np.array([at])
    return tuple(
        LineGoals(question, first[[i]], last[[i]] + 1, truths, turned)
        for i in np.flatnonzero(inside != turned)
    )


def goals_in_range(
    prior: LinePrior, form: LineForm, goal: Goal, bounds: tuple[float, float]
) -> LineGoals:
    """The goals, each one interval, of all true values in a range; at infinity they are empty."""
    truths = _truths(prior, goal, bounds)
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
    return np.append(even, form.inverse(np.linspace(low, high, CELLS)))


def _truths(prior: LinePrior, goal: Goal, bounds: tuple[float, float]) -> Array:
    """True values over the whole range, with a grid fine enough for boxes between them."""
    found = [bounds, prior.quantile(TAILS), prior.quantile(TAILS, True)]
    for share in BULK, FURTHER:
        first, last = np.clip([prior.quantile(share), prior.quantile(share, True)], *bounds)
        low, high = goal.edges(0.5 * (first + last))[0]
        count = np.clip(KNOTS * (last - first) / (high - low), FEWEST, MOST)
        found.append(np.linspace(first, last, int(count)))
    return np.unique(np.clip(np.concatenate(found), *bounds))
