"""The probability of a goal about two numbers that is no product of intervals: places, sums, formulas, what is known.

One number is summed over panels. At each of its values, the other is cut into pieces, which are halved while interval
arithmetic leaves open whether they are correct, so that the mass of a slice is right but for rounding. Panels are
halved until a rule with their ends and its halves agree; where all nodes see nothing, or all of it, an enclosure of
the panel has to agree as well, or a sliver between them would be overlooked.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.polynomial.legendre import Legendre

from guessproof.risk.joint.cells import kinds
from guessproof.risk.joint.frame import Box, Frame
from guessproof.risk.joint.joint_attack import places
from guessproof.world.checks import Array, quiet
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal
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


def region_probability(frame: Frame, goal: Goal) -> Array | None:
    """Return the probabilities of right and of wrong guesses, of all that is not ruled out; None if there are too many.

    Checked to about 1e-9 of either for two attributes, not proven.
    """
    lines = [i for i, axis in enumerate(frame.axes) if isinstance(axis.prior, LinePrior)]
    last = lines[-1] if lines else len(frame.axes) - 1
    if len(frame.axes) == len(lines) == 2:
        return _by_halves(frame, goal, last)
    nodes = [_nodes(frame, goal, i) for i in range(len(frame.axes)) if i != last]
    points = [np.ravel(x) for x in np.meshgrid(*(x for x, _ in nodes), indexing="ij")]
    weight = reduce(np.multiply.outer, [w for _, w in nodes]).ravel()
    count = weight.size * _pieces(frame, goal, last)[0].size
    if len(frame.axes) > MOST_AXES or count > MOST_BOXES:
        return None
    found = np.zeros(2)
    for part in np.array_split(np.arange(weight.size), 1 + count // CHUNK):
        found += (
            _slices(frame, goal, last, [(x[part], x[part]) for x in points])[:2] @ weight[part]
        )
    return found


def _ends(frame: Frame, goal: Goal, axis: int) -> Array:
    """Where the first panels or pieces of a line end."""
    name, prior, joint = frame.axes[axis].name, frame.axes[axis].prior, frame.histogram
    assert isinstance(prior, LinePrior)
    truth = {} if frame.tilts else frame.question.truth
    found = [*prior.breaks, *frame.marks(goal, name), *prior.quantile(LEVELS[:5], True)]
    found += [*prior.quantile(LEVELS), *(float(truth[n]) for n in truth if n == name)]
    found += joint.edges[joint.axis(name)] if joint else []
    return np.unique(np.clip([x for x in found if np.isfinite(x)], *prior.support))


def _nodes(frame: Frame, goal: Goal, axis: int) -> tuple[Array, Array]:
    """Values of an axis and what they weigh: all that a finite one has."""
    prior = frame.axes[axis].prior
    if isinstance(prior, Finite):
        return places(prior), prior.mass
    ends = _ends(frame, goal, axis)
    x, weight = _panels(prior, ends[:-1], ends[1:])
    return x.ravel(), weight.ravel()


def _panels(prior: Any, left: Array, right: Array) -> tuple[Array, Array]:
    """The nodes of panels, and what they weigh."""
    left, right = left[:, None], right[:, None]
    x = left + (right - left) * (1 + NODES) / 2
    with quiet():
        density = np.exp(prior.log_density(x)) * WEIGHTS
        share = np.where(np.isfinite(density), density, 0.0)
        share = share / np.sum(share, axis=1, keepdims=True)
    return x, np.where(np.isfinite(share), share, WEIGHTS / 2) * prior.mass(left, right)


def _pieces(frame: Frame, goal: Goal, axis: int) -> tuple[Array, Array]:
    """The pieces that all slices begin with."""
    prior = frame.axes[axis].prior
    if isinstance(prior, Finite):
        return places(prior), places(prior)
    assert isinstance(prior, LinePrior)
    ends = np.unique([*prior.support, *_ends(frame, goal, axis)])
    return ends[:-1], ends[1:]


def _slices(
    frame: Frame, goal: Goal, last: int, sides: list[Box], rounds: int = HALVINGS
) -> Array:
    """The probability of right and of wrong guesses in slices, or in what panels enclose, and of what is left open."""
    size, prior, joint = sides[0][0].size, frame.axes[last].prior, frame.histogram
    low, high = _pieces(frame, goal, last)
    home, found = np.repeat(np.arange(size), low.size), np.zeros((3, size))
    low, high = np.tile(low, size), np.tile(high, size)
    for rest in reversed(range(rounds)):
        boxes = [(a[home], b[home]) for a, b in sides]
        boxes.insert(last, (low, high))
        parts = [frame.decided(kind, boxes) for kind in kinds(goal)]
        (right, may), (wrong, might) = parts[0], parts[-1]
        if len(parts) == 1:
            wrong, might = ~may, ~right
        is_open = (may | might) & ~right & ~wrong
        crowded = np.bincount(home[is_open], minlength=size)[home] > CROWDED
        left = is_open & (low < high) & np.isfinite(high - low) & ~crowded & (rest > 0)
        if isinstance(prior, Finite):
            mass = np.tile(prior.mass, size)
            right = right | is_open  # the edge counts
        elif joint is None:
            assert isinstance(prior, LinePrior)
            mass = np.maximum(prior.mass(low, high), 0.0)
        else:
            name = frame.axes[1 - last].name
            mass = joint.slice_mass(name, sides[0][0][home], low[:, None], high[:, None])[:, 0]
        for row, kind in enumerate((right, wrong, is_open)):
            found[row] += np.bincount(home, mass * (kind & ~left), size)
        home, low, high = np.tile(home[left], 2), low[left], high[left]
        middle = 0.5 * (low + high)
        low, high = np.append(low, middle), np.append(middle, high)
        if not home.size:
            break
    return found


def _by_halves(frame: Frame, goal: Goal, last: int) -> Array:
    """The sums over all panels, of which those are halved whose halves say something else."""

    def panels(left: Array, right: Array) -> tuple[Array, Array]:
        """The probability of right and of wrong guesses, and where all nodes see the same."""
        x, weight = _panels(frame.axes[1 - last].prior, left, right)
        found = _slices(frame, goal, last, [(x.ravel(), x.ravel())])[:2].reshape(2, *x.shape)
        return np.sum(found * weight, axis=2), np.any(np.all(found == 0, axis=2), axis=0)

    ends = _ends(frame, goal, 1 - last)
    left, right, done = ends[:-1], ends[1:], np.zeros((2, 1))
    whole, _ = panels(left, right)
    for _ in range(ROUNDS):
        middle = 0.5 * (left + right)
        halves, flat = panels(np.append(left, middle), np.append(middle, right))
        both = halves[:, : left.size] + halves[:, left.size :]
        most = done + np.sum(both, axis=1, keepdims=True)
        is_open = np.any(np.abs(both - whole) > SETTLED * most, axis=0)
        same = np.flatnonzero(~is_open & np.all(np.split(flat, 2), axis=0))
        enclosed = _slices(frame, goal, last, [(left[same], right[same])], ENCLOSED)
        is_open[same] = enclosed[2] > SETTLED
        done = done + np.sum(both[:, ~is_open], axis=1, keepdims=True)
        whole = halves[:, np.tile(is_open, 2)]
        left, middle, right = left[is_open], middle[is_open], right[is_open]
        left, right = np.append(left, middle), np.append(middle, right)
        if not 0 < left.size <= MOST_PANELS:
            break
    return done[:, 0] + np.sum(whole, axis=1)
