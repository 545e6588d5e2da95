"""The probability of a goal about two numbers that is no product of intervals: places, sums, formulas, what is known.

One number is summed over panels. At each of its values, the other is cut into pieces, which are halved while interval
arithmetic leaves open whether they are correct, so that the mass of a slice is right but for rounding. Panels are
halved until a rule with their ends and its halves agree; where all nodes see nothing, or all of it, an enclosure of
the panel has to agree as well, or a sliver between them would be overlooked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.polynomial.legendre import Legendre
from numpy.typing import NDArray

from guessproof.risk.joint.cells import decided, leaves
from guessproof.risk.joint.frame import Box, Frame
from guessproof.risk.joint.joint_attack import JointAttack
from guessproof.world.checks import Array, Mask
from guessproof.world.finite import Finite
from guessproof.world.goals import Conditional, Goal
from guessproof.world.line import LinePrior

ORDER = 8  # nodes of a panel
_RULE = Legendre.basis(ORDER - 1)
_INNER = np.real(_RULE.deriv().roots())
ENDS = 1 - 1e-7  # of a panel: what a goal holds there may jump at its very end
NODES = np.concatenate([[-1.0], _INNER, [1.0]]) * ENDS
WEIGHTS = 2 / (ORDER * (ORDER - 1) * _RULE(np.concatenate([[-1.0], _INNER, [1.0]])) ** 2)
LEVELS = np.concatenate(
    [[1e-13, 1e-9, 1e-6, 1e-4, 1e-3], np.linspace(0, 1, 17)[1:-1]]
)  # where panels and pieces end
SETTLED = 1e-10  # of the whole: what a panel and its halves may differ by
HALVINGS = 46  # of a piece: to rounding
ENCLOSED = 6  # halvings of pieces after which a panel without correct nodes is taken for empty if nothing is open
CROWDED = 64  # open pieces of a slice, more than a goal has ends: it touches an edge, and rounding leaves them open
ROUNDS = 30  # halvings of panels
MOST_AXES = 3
MOST_BOXES = (
    30_000_000  # pieces of slices of three attributes or of large samples: some seconds
)
CHUNK = 1_000_000  # of them at once, for memory
MOST_PANELS = 1_000  # in one round: more differ by rounding only


def region_probability(
    question: JointAttack, goal: Goal, frame: Frame
) -> tuple[float, float] | None:
    """Return the probabilities of right and of wrong guesses, of all that is not ruled out; None if there are too many.

    Checked to about 1e-9 of either for two attributes, not proven.
    """
    lines = [i for i, axis in enumerate(frame.axes) if isinstance(axis.prior, LinePrior)]
    last = lines[-1] if lines else len(frame.axes) - 1
    others = tuple(i for i in range(len(frame.axes)) if i != last)
    slices = _Slices(question, goal, frame, others, last)
    first = frame.axes[others[0]].prior
    if len(others) == 1 and isinstance(first, LinePrior):
        right, wrong = _by_halves(slices, first)
        return float(right), float(wrong)
    nodes = [slices.nodes(axis) for axis in others]
    points = [np.ravel(x) for x in np.meshgrid(*(x for x, _ in nodes), indexing="ij")]
    weight = reduce(np.multiply.outer, [w for _, w in nodes]).ravel()
    if len(frame.axes) > MOST_AXES or weight.size * slices.pieces[0].size > MOST_BOXES:
        return None
    found = np.zeros(2)
    for part in np.array_split(
        np.arange(weight.size), 1 + weight.size * slices.pieces[0].size // CHUNK
    ):
        found += slices.at([x[part] for x in points]) @ weight[part]
    return float(found[0]), float(found[1])


@dataclass(frozen=True)
class _Slices:
    """Slices along axis `last`, at values of the other axes."""

    question: JointAttack
    goal: Goal
    frame: Frame
    others: tuple[int, ...]
    last: int

    def prior(self, axis: int) -> Any:
        """The prior of an axis."""
        return self.frame.axes[axis].prior

    def ends(self, axis: int) -> Array:
        """Where the first panels or pieces of an axis end."""
        name, prior = self.frame.axes[axis].name, self.prior(axis)
        own = [
            *np.asarray(prior.quantile(LEVELS)),
            *prior.upper_quantile(LEVELS[:5]),
            *prior.breaks,
        ]
        for leaf in [] if self.frame.tilts else leaves(self.goal):
            if name in [a.name for a in leaf.attributes]:
                own += self.question.marks(leaf, name)
                own += [float(self.question.truth[name])] if leaf.depends_on_truth else []
        histogram = self.frame.histogram
        if histogram is not None:
            own += histogram.edges[histogram.axis(name)]
        low, high = prior.support
        return np.unique([x for x in (low, high, *own) if np.isfinite(x) and low <= x <= high])

    def nodes(self, axis: int) -> tuple[Array, Array]:
        """Values of an axis and what they weigh: all that a finite one has."""
        prior = self.prior(axis)
        if isinstance(prior, Finite):
            return _places(prior), prior.mass
        ends = self.ends(axis)
        x, share = _panels(prior, ends[:-1], ends[1:])
        return x.ravel(), (share * prior.mass(ends[:-1], ends[1:])[:, None]).ravel()

    @cached_property
    def pieces(self) -> Box:
        """The pieces that all slices begin with."""
        prior = self.prior(self.last)
        if isinstance(prior, Finite):
            return _places(prior), _places(prior)
        low, high = prior.support
        ends = np.unique([low, *self.ends(self.last), high])
        return ends[:-1], ends[1:]

    def at(self, points: list[Array]) -> Array:
        """The probability of right and of wrong guesses in slices."""
        held = self.held([(x, x) for x in points], HALVINGS)
        if isinstance(self.prior(self.last), Finite):
            return held[:2] + np.stack([held[2], np.zeros(held[2].size)])  # the edge counts
        return held[:2] + (0 if isinstance(self.goal, Conditional) else held[2] / 2)

    def held(self, sides: list[Box], rounds: int) -> Array:
        """Of each slice the probability of right and of wrong guesses, and of what is left open."""
        size, (low, high) = sides[0][0].size, self.pieces
        home = np.repeat(np.arange(size), low.size)
        low, high = np.tile(low, size), np.tile(high, size)
        found = np.zeros((3, size))
        for rest in reversed(range(rounds)):
            right, wrong, known = self._decided(
                [(a[home], b[home]) for a, b in sides], (low, high)
            )
            crowded = np.bincount(home[~known], minlength=size)[home] > CROWDED
            left = (
                ~known
                & np.isfinite(low)
                & (low < high)
                & np.isfinite(high)
                & ~crowded
                & (rest > 0)
            )
            mass = self._mass(sides[0][0][home[~left]], low[~left], high[~left])
            for row, kind in enumerate((right, wrong, ~known)):
                found[row] += np.bincount(home[~left], mass * kind[~left], size)
            home, low, high = home[left], low[left], high[left]
            if not home.size:
                break
            middle = 0.5 * (low + high)
            home, low, high = (
                np.tile(home, 2),
                np.concatenate([low, middle]),
                np.concatenate([middle, high]),
            )
        return found

    def _decided(self, sides: list[Box], last: Box) -> tuple[Mask, Mask, Mask]:
        """Which boxes are right, which are wrong, and of which it is known what they are."""
        boxes = [*sides[: self.last], last, *sides[self.last :]]
        if isinstance(self.goal, Conditional):
            allowed = decided(self.question, self.goal.region, self.frame, boxes)
            correct = decided(self.question, self.goal.goal, self.frame, boxes)
            right, wrong = allowed[0] & correct[0], allowed[0] & ~correct[1]
            return right, wrong, right | wrong | ~allowed[1]
        wholly, partly = decided(self.question, self.goal, self.frame, boxes)
        return wholly, ~partly, wholly | ~partly

    def _mass(self, x: Array, low: Array, high: Array) -> Array:
        """The probability of pieces of slices at x."""
        prior, joint = self.prior(self.last), self.frame.histogram
        if isinstance(prior, Finite):
            return prior.mass[np.searchsorted(_places(prior), low)]
        if joint is None:
            return np.maximum(prior.mass(low, high), 0.0)
        name = self.frame.axes[self.others[0]].name
        return joint.slice_mass(name, x, low[:, None], high[:, None])[:, 0]


def _places(prior: Finite) -> Array:
    """The numbers of a finite prior, or the positions of its labels."""
    return (
        np.asarray(prior.points)
        if prior.is_line
        else np.arange(prior.mass.size, dtype=np.float64)
    )


def _by_halves(slices: _Slices, prior: LinePrior) -> Array:
    """The sums over all panels, of which those are halved whose halves say something else."""
    ends = slices.ends(slices.others[0])
    left, right = ends[:-1], ends[1:]
    whole, _ = _in_panels(slices, prior, left, right)
    done = np.zeros(2)
    for _ in range(ROUNDS):
        middle = 0.5 * (left + right)
        halves, flat = _in_panels(
            slices, prior, np.concatenate([left, middle]), np.concatenate([middle, right])
        )
        one, two = np.split(halves, 2, axis=1)
        most = done + np.sum(one + two, axis=1)
        is_open = np.any(np.abs(one + two - whole) > SETTLED * most[:, None], axis=0)
        same = np.flatnonzero(~is_open & np.all(np.split(flat, 2), axis=0))
        is_open[same] = slices.held([(left[same], right[same])], ENCLOSED)[2] > SETTLED
        done = done + np.sum((one + two)[:, ~is_open], axis=1)
        whole = np.concatenate([one[:, is_open], two[:, is_open]], axis=1)
        ends = left[is_open], middle[is_open], right[is_open]
        left, right = np.concatenate(ends[:2]), np.concatenate(ends[1:])
        if not 0 < left.size <= MOST_PANELS:
            break
    return done + np.sum(whole, axis=1)


def _in_panels(
    slices: _Slices, prior: LinePrior, left: Array, right: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """The probability of right and of wrong guesses in panels, and where all nodes see the same."""
    x, share = _panels(prior, left, right)
    held = slices.at([x.ravel()]).reshape(2, *x.shape)
    flat = np.any(np.all(held == 0, axis=2), axis=0)
    return np.sum(held * share, axis=2) * prior.mass(left, right), flat


def _panels(prior: LinePrior, left: Array, right: Array) -> tuple[Array, Array]:
    """The nodes of panels, and their shares of each."""
    x = left[:, None] + (right - left)[:, None] * (1 + NODES) / 2
    with np.errstate(all="ignore"):
        density = np.exp(prior.log_density(x)) * WEIGHTS
    density = np.where(np.isfinite(density), density, 0.0)
    total = np.sum(density, axis=1, keepdims=True)
    return x, np.where(total > 0, density / np.where(total > 0, total, 1.0), WEIGHTS / 2)
