"""True values between two that were looked at: their beliefs lie near the straight line between theirs.

As the true value moves from t₁ to t₂, the goal gains a strip at its upper edge and loses one at its lower edge. Of the
prior's mass of a strip, it has gained a share θ at some t; of what is believed after an answer y, a share σ. Within a
strip the two densities have a ratio that varies by e^v at most, v = (how far the answers of the strip are apart) ·
(how far y is from them), so |σ − θ| ≤ tanh(v/4). Where the density itself varies by a factor e^u, θ is within tanh(u/4)
of how far t has come; so the shares of both strips, θ and θ', are within δ of each other. Then, with Q for what is
believed of a strip and M for what was,

    P_y(t) − P(t) ≤ max over t₁, t₂ + tanh(v/4)·Q + tanh(v'/4)·Q' + δ·|Q' − M'|:

all that is added is of second order in the distance of t₁ and t₂. The same holds with all signs turned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.risk.gaussian.nodes import Nodes, Places
from guessproof.risk.gaussian.outputs import BeliefCells
from guessproof.world.checks import Array
from guessproof.world.goals import Goal
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm


@dataclass(frozen=True)
class Strips:
    """Cells of true values, one a column: the goals at both ends, and the strips at the lower and the upper edge.

    `first` and `past` hold the places of all four, one after the other.
    """

    first: Places
    past: Places
    before: tuple[Array, Array]  # beliefs at either end
    masses: tuple[Array, Array]  # of the strips
    answers: tuple[tuple[Array, Array], tuple[Array, Array]]  # of a strip's values: from, to
    uneven: Array  # δ

    @classmethod
    def of(cls, goal: Goal, prior: LinePrior, response: LineForm, nodes: Nodes, low: Array, high: Array) -> Strips:
        (a, b), (c, d) = (goal.edges(t)[0] for t in (low, high))
        lines = ((a, b), (c, d), (a, c), (b, d))
        places = [nodes.positions(np.minimum(*line), np.maximum(*line)) for line in lines]
        parts = [np.asarray(prior.mass(start, np.maximum(start, end))) for start, end in lines]
        middle = goal.edges(0.5 * (low + high))[0]
        straight = [
            np.abs(0.5 * (start + end) - at) <= 1e-12 * (np.abs(start) + np.abs(end))
            for (start, end), at in zip(lines[2:], middle, strict=True)
        ]
        bent = [_bent(prior, start, end) for start, end in lines[2:]]
        uneven = np.where(straight[0] & straight[1] & (a <= c) & (b <= d), np.minimum(bent[0] + bent[1], 1.0), np.nan)
        lower, upper = ((response.psi(start), response.psi(end)) for start, end in lines[2:])
        return cls(
            np.concatenate([p[0] for p in places]),
            np.concatenate([p[1] for p in places]),
            (parts[0], parts[1]),
            (parts[2], parts[3]),
            (lower, upper),
            uneven,
        )

    def rises(self, found: BeliefCells) -> Array:
        """How far beliefs can rise, in cells of outputs (rows)."""
        one, other, _, _ = np.split(found.high, 4, axis=1)
        return np.maximum(one - self.before[0], other - self.before[1]) + self._more(found, since=True)

    def falls(self, found: BeliefCells) -> Array:
        """How far they can fall."""
        one, other, _, _ = np.split(found.low, 4, axis=1)
        return np.maximum(self.before[0] - one, self.before[1] - other) + self._more(found, since=True)

    def beliefs(self, found: BeliefCells) -> Array:
        """How high they can be."""
        one, other, _, _ = np.split(found.high, 4, axis=1)
        return np.maximum(one, other) + self._more(found, since=False)

    def _more(self, found: BeliefCells, *, since: bool) -> Array:
        """What may lie above the straight line; nothing is known (inf) where the edges do not move straight."""
        low, high = (np.split(side, 4, axis=1)[2:] for side in (found.low, found.high))
        more, moved = np.zeros(low[0].shape), list[Array]()
        for i, answers in enumerate(self.answers):
            more = more + np.tanh(0.25 * self._varies(found.ends, *answers)) * high[i]
            mass = self.masses[i]
            moved.append(np.maximum(high[i] - mass, mass - low[i]) if since else high[i])
        more = more + self.uneven * np.minimum(*moved)
        return np.where(np.isnan(more), np.inf, more)

    def _varies(self, ends: Array, start: Array, end: Array) -> Array:
        """v: how much ln of the density's ratio varies within a strip, for every output of a cell."""
        away = np.maximum(ends[1:, None] - start, end - ends[:-1, None])
        return (end - start) * np.maximum(away, 0.0)


def _bent(prior: LinePrior, start: Array, end: Array) -> Any:
    """tanh(u/4) of a strip: 1 where nothing is known of its density, 0 where there is none."""
    least, most = prior.density_range(start, end)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(np.asarray(most) / np.asarray(least))
        found = (ratio - 1) / (ratio + 1)
    return np.where(np.asarray(most) == 0, 0.0, np.where(np.isnan(found), 1.0, found))
