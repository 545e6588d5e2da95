"""An attack on two attributes under a wrong prior: the best likelihood for a prior, the best prior for it, and so on.

For a given prior the best likelihood of cells is a linear program, for a given likelihood the best prior has one
threshold in the goal and one outside. Taking turns can only climb, but may stop early: several starts are tried, priors
that favour a half or a quarter of all cells among them (the best attacks are not symmetric where goal and prior are).
What coarse cells find is climbed from once more on fine ones: one program there is worth a few per cent where ε is
large. Cells only say where to look. What is reached is integrated afresh, on small boxes from the attacker's bad side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guessproof.risk.several.cells import cut, is_straight
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.lattice import Lattice, edges_between, goal_shares
from guessproof.risk.several.peak_attack import Peaks, box_means, peak_attack
from guessproof.risk.several.program import Edges, best_odds
from guessproof.world.checks import Array, Mask
from guessproof.world.goals import Goal
from guessproof.world.joint import JointHistogram

_CELLS, _FINER, _BOXES = 300, 13, 160_000
_TURNS = 6
_CUTS = 61


def alternating_rise(world: JointAttack, goal: Goal, epsilon: float, factor: float) -> float:
    """How far such an attack lifts the belief in the goal; 0 where there is none."""
    coarse = _World.of(world, goal, epsilon, _CELLS)
    if coarse is None:
        return 0.0
    found = max((coarse.climbed(w, factor, _TURNS) for w in _starts(coarse.cells, coarse.correct, factor)), key=_rise)
    best, fine = coarse.peaks(found), _World.of(world, goal, epsilon, _FINER * _CELLS)
    rise = _integrated(best, goal, world, coarse, factor)
    if fine is None:
        return rise
    places = [axis.place[index] for axis, index in zip(fine.cells.axes, fine.cells.index, strict=True)]
    start = _favoured(fine.cells.mass, fine.correct, np.exp(best.log_likelihood(places)), factor)[1]
    return max(rise, _integrated(fine.peaks(fine.climbed(start, factor, 1)), goal, world, fine, factor))


@dataclass(frozen=True, eq=False)
class _World:
    """Cells, each correct or wrong as a whole."""

    cells: Lattice
    joint: JointHistogram | None
    edges: Edges
    correct: Mask
    epsilon: float

    @classmethod
    def of(cls, world: JointAttack, goal: Goal, epsilon: float, target: int) -> _World | None:
        """About so many cells; none where the goal cuts them, or peaks are no likelihoods."""
        cells, joint = cut(world, goal, epsilon, target)
        low, high = goal_shares(cells, goal, world)
        if not is_straight(cells) or not np.array_equal(low, high) or not 0 < np.sum(low) < low.size:
            return None
        return cls(cells, joint, edges_between(cells, epsilon), low > 0.5, epsilon)

    def climbed(self, weights: Array, factor: float, turns: int) -> tuple[float, Array]:
        """From the weights of a prior: the rise on cells, and ln of the likelihood that lifts so far."""
        best, chosen, last = -1.0, np.zeros(weights.size), -1.0
        for _ in range(turns):
            told = self.cells.mass * weights
            found = best_odds(told * self.correct, told * ~self.correct, self.edges).log_m
            rise, weights = _favoured(self.cells.mass, self.correct, np.exp(found - np.max(found)), factor)
            best, chosen = (rise, found) if rise > best else (best, chosen)
            if rise <= last * (1 + 1e-4):
                break
            last = rise
        return best, chosen

    def peaks(self, found: tuple[float, Array]) -> Peaks:
        return peak_attack(self.cells, found[1], self.correct.astype(np.float64), self.epsilon)


def _rise(found: tuple[float, Array]) -> float:
    return found[0]


def _integrated(peaks: Peaks, goal: Goal, world: JointAttack, cells: _World, factor: float) -> float:
    """What these peaks are sure to lift the belief by, with the best thresholds."""
    parts = max(1, min(12, round((_BOXES / cells.correct.size) ** 0.5)))
    mass, share, least, rest, most = box_means(peaks, goal, world, cells.joint, parts)
    inner, outer = share > 0, rest > 0
    raised, told = _raised(mass[inner] * share[inner], least[inner], factor, highest=True)
    other, held = _raised(mass[outer] * rest[outer], most[outer], factor, highest=False)
    rises = told[:, None] / (told[:, None] + held) - raised[:, None] / (raised[:, None] + other)
    return max(float(np.max(rises)) - 1e-9, 0.0)


def _starts(cells: Lattice, correct: Mask, factor: float) -> list[Array]:
    """The declared prior, and priors that favour the goal in a part of all cells, and the rest in the other."""
    below = [
        (np.cumsum(axis.mass) <= 0.5 * axis.mass.sum() * (1 + 1e-9))[index]
        for axis, index in zip(cells.axes, cells.index, strict=True)
    ]
    out = [np.abs(index / max(size - 1, 1) - 0.5) for size, index in zip(cells.shape, cells.index, strict=True)]
    parts = [*below, np.all(below, axis=0), out[0] > out[-1]]
    return [np.ones(correct.size), *(np.where(correct == part, factor, 1.0) for part in parts)]


def _favoured(mass: Array, correct: Mask, likelihood: Array, factor: float) -> tuple[float, Array]:
    """The best thresholds of one likelihood on cells: the rise, and the prior's weights."""
    order = np.argsort(-likelihood, kind="stable")
    inner, outer = order[correct[order]], order[::-1][~correct[order[::-1]]]
    values = [value for part in (inner, outer) for value in (mass[part], mass[part] * likelihood[part])]
    sums = [value.sum() + (factor - 1) * np.concatenate([[0.0], np.cumsum(value)]) for value in values]
    raised, told, other, held = sums
    rises = told[:, None] / (told[:, None] + held) - raised[:, None] / (raised[:, None] + other)
    i, j = (int(k) for k in np.unravel_index(int(np.argmax(rises)), rises.shape))
    weights = np.ones(mass.size)
    weights[inner[:i]] = weights[outer[:j]] = factor
    return float(rises[i, j]), weights


def _raised(mass: Array, likelihood: Array, factor: float, *, highest: bool) -> tuple[Array, Array]:
    """Masses before and after, with κ times as much where the likelihood is highest or lowest, for some thresholds."""
    order = np.argsort(-likelihood if highest else likelihood, kind="stable")
    cuts = np.unique(np.linspace(0, order.size, _CUTS).astype(int))
    before, after = (
        value.sum() + (factor - 1) * np.concatenate([[0.0], np.cumsum(value[order])])[cuts]
        for value in (mass, mass * likelihood)
    )
    return before, after
