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

Edge = Indices | np.intp | int

STEEPEST = 600.0  # ln E beyond which it counts as infinite: e^x and sums of it stay doubles
CELLS = 500  # by probability, and as many evenly: chords in cells are off by a share of a thousandth
KNOTS = 48  # edges of cells inside a goal, so that its peaks and thresholds lie on edges
OUTERMOST = 1e-9  # quantile up to which a goal without an end is divided
TRUTHS, MOST_TRUTHS = (
    96,
    2500,
)  # true values whose goals end at edges of cells: more of them where goals are narrow
BULK = 1e-3, 1e-7  # quantiles between which true values are close to each other
TAILS = 10 ** -(
    2.0 ** np.arange(1.5, 8.5)
)  # of quantiles, to 1e-181; all true values beyond are one box


@dataclass(frozen=True, eq=False)
class Side:
    """Cells on the left of peaks, in order; tents have E = e^ψ there (sign 1), valleys e^{−ψ} (sign −1)."""

    sign: int
    psi: Array  # ε·ψ of the atoms, two for each cell
    mass: (
        Array  # cumulative probability of atoms, with the lower and the upper bound of the tilt
    )
    tilt: Array  # cumulative ∫ E f, likewise; summed from where E is small

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
        return self.mass[0, ::2]

    def sums(self, first: Edge, last: Edge, upper: Edge) -> tuple[Array, Array]:
        """Probability and ∫ E f over atoms first … last − 1, with the tilt bounded from above (1) or below (0)."""
        tilt = np.where(last > first, self.tilt[upper, last] - self.tilt[upper, first], 0.0)
        return self.mass[upper, last] - self.mass[upper, first], tilt


def sides_of(question: LineQuestion, epsilon: float, sign: int) -> tuple[Side, Side]:
    """What lies left of a peak, and what lies right of it in the mirror, with −ψ for ψ."""
    left, start, stop = (
        epsilon * place for place in (question.position[0], *ends_of(question))
    )
    mass, rate = np.exp(question.pieces.log_mass), sign * epsilon * question.rate
    tilts = [np.stack(question.pieces.end_tilt(k, at_left=True)) for k in (rate, -rate)]
    mirrored = _side(
        sign, -stop[::-1], -start[::-1], mass[::-1], (tilts[1] - sign * left)[:, ::-1]
    )
    return _side(sign, start, stop, mass, tilts[0] + sign * left), mirrored


def ends_of(question: LineQuestion) -> tuple[Array, Array]:
    """ψ at the ends of each piece, infinite where a tail is."""
    pieces, (left, right) = question.pieces, question.position
    start = np.where(np.isneginf(pieces.left) & (question.rate > 0), -np.inf, left)
    return start, np.where(np.isposinf(pieces.right) & (question.rate > 0), np.inf, right)


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
        at_first = np.where(
            first == last, 1.0 - at_last, np.clip((last - mean) / (last - first), 0.0, 1.0)
        )
    masses = _paired(mass * np.nan_to_num(at_first), mass * at_last)
    tilts = masses * _paired(first, last)
    tilts[np.repeat(steep, 2, axis=1)] = np.inf
    return Side(
        sign, _paired(start, stop), _summed(masses), sign * _summed(tilts[:, ::sign])[:, ::sign]
    )


def _paired(first: Array, last: Array) -> Array:
    """Both in turn, along the last axis."""
    return np.stack([first, last], axis=-1).reshape(*first.shape[:-1], -1)


def _summed(values: Array) -> Array:
    """Cumulative sums that begin with 0, along the last axis."""
    return np.concatenate(
        [np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)], axis=-1
    )


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
    intervals = np.array(
        [[float(a), float(b)] for a, b in goal.edges(0.0 if at is None else float(at))]
    )
    low, high = np.clip(intervals.T, prior.quantile(OUTERMOST), prior.upper_quantile(OUTERMOST))
    inner = np.linspace(low, high, KNOTS).ravel()
    return parts_of(
        density_question(prior, form, intervals, np.concatenate([inner, _grid(prior, form)])),
        at,
    )


def parts_of(question: LineQuestion, at: Any) -> tuple[LineGoals, ...]:
    """Parts whose rises add up to that of a goal: its intervals, or those it lacks."""
    first, last = question.runs
    inside, outside = (
        np.flatnonzero(question.goal[first]),
        np.flatnonzero(~question.goal[first]),
    )
    turned = outside.size < inside.size
    runs = outside if turned else inside
    return tuple(
        LineGoals(question, first[[i]], last[[i]] + 1, np.array([at]), turned) for i in runs
    )


def goals_in_range(
    prior: LinePrior, form: LineForm, goal: Goal, bounds: tuple[float, float]
) -> LineGoals:
    """The goals, each one interval, of all true values in a range; at infinity they are empty."""
    truths = _truths(prior, goal, bounds)
    low, high = (np.where(np.isfinite(truths), end, truths) for end in goal.edges(truths)[0])
    some = truths.size // 2
    knots = np.concatenate([low, truths, high, _grid(prior, form)])
    pieces = (
        question := density_question(prior, form, [[low[some], high[some]]], knots)
    ).pieces
    first, last = (
        np.searchsorted(pieces.right, low, side="right"),
        np.searchsorted(pieces.left, high),
    )
    return LineGoals(question, first, last, truths, continuous=True)


def listed_goals(prior: Finite, form: LineForm, goal: Goal, truths: list[float]) -> LineGoals:
    """The goals of some true values, in order, beside finitely many numbers."""
    rows = np.array([goal.chosen(prior, truth)[prior.mass > 0] for truth in truths]) > 0.5
    some = rows.any(axis=1)
    first, last = rows.argmax(axis=1), rows.shape[1] - rows[:, ::-1].argmax(axis=1)
    question = atom_question(prior, form, goal.chosen(prior, np.array(truths)[some][0]))
    return LineGoals(question, first[some], last[some], np.array(truths)[some])


def _grid(prior: LinePrior, form: LineForm) -> Array:
    """Edges of cells by probability, and evenly in the distance."""
    even = prior.quantile((np.arange(CELLS) + 0.5) / CELLS)
    low, high = form.psi(even[[0, -1]])
    return np.concatenate([even, form.inverse(np.linspace(low, high, CELLS))])


def _truths(prior: LinePrior, goal: Goal, bounds: tuple[float, float]) -> Array:
    """True values over the whole range, with a grid fine enough for boxes between them."""
    found = [*bounds, *prior.quantile(TAILS), *prior.upper_quantile(TAILS)]
    found += prior.quantile((np.arange(TRUTHS) + 0.5) / TRUTHS).tolist()
    for share in BULK:
        first, last = np.clip([prior.quantile(share), prior.upper_quantile(share)], *bounds)
        low, high = goal.edges(0.5 * first + 0.5 * last)[0]
        count = np.clip(KNOTS * (last - first) / (high - low), TRUTHS, MOST_TRUTHS)
        found += np.linspace(first, last, int(count)).tolist()
    return np.unique(
        np.clip([truth for truth in found if np.isfinite(truth) or truth in bounds], *bounds)
    )
