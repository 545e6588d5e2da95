"""A goal that reaches to an end of what is possible: one likelihood tells most of it, whatever the prior is.

Let T be the goal (or the rest, where a belief falls), all of it on one side of an edge, and R what lies on the other:
ψ is larger on T, say. For any likelihood L let μ be the least of ln L − εψ on R. Then L ≥ e^{μ+εψ} on R, and on T, as
no two values differ by more than their distance allows, L ≤ e^{μ+εψ+ε·step}. So the odds of T are largest, for every
prior, with the ramp e^{εψ} that is raised by the step on T: no peak is to be looked for, and s = ψ + step·1_T is the
same for every ε.

A goal that ends where hardly anybody is beyond is nearly such a one: whatever the likelihood is, beliefs in the two
differ by no more than what is believed to lie beyond its end, of which again a ramp tells most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from guessproof.risk.gaps import gap_of_logs, rates_around
from guessproof.risk.tent import TiltedIntegrals
from guessproof.world.checks import Array
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm

Side = Literal[1, -1]

_HARDLY_ANYBODY = 1e-15  # of the prior


@dataclass(frozen=True)
class Ramp:
    """What lies above an edge (side 1) or below it (−1), as far as the prior reaches."""

    world: TiltedIntegrals
    edge: float
    side: Side
    beyond: Ramp | None = None  # where the goal ends, if hardly anybody is beyond

    @classmethod
    def of(cls, prior: LinePrior, form: LineForm, lo: float, hi: float) -> Ramp | None:
        """All from one value to another, if hardly anybody is beyond one of them, and some are beyond the other."""
        if math.isfinite(form.cap) or not any(form.slopes):
            return None
        world = TiltedIntegrals(prior, form)
        below, above = Ramp(world, lo, -1), Ramp(world, hi, 1)
        few = [np.exp(part.log_tilt(np.zeros(1))[0]) <= _HARDLY_ANYBODY for part in (below, above)]
        if few[0] == few[1]:
            return None
        past, goal = (below, Ramp(world, hi, -1)) if few[0] else (above, Ramp(world, lo, 1))
        low, high = prior.support
        return replace(goal, beyond=past) if low < past.edge < high else goal

    @property
    def rest(self) -> Ramp:
        """What lies on the other side."""
        return replace(self, side=-1 if self.side > 0 else 1)

    @property
    def interval(self) -> tuple[float, float]:
        return (self.edge, np.inf) if self.side > 0 else (-np.inf, self.edge)

    def log_tilt(self, rate: Array, turn: Array | None = None) -> Array:
        """ln ∫ e^{rate·(ψ − ψ(edge))} f over all of it, or from some value outwards."""
        edge, end = np.asarray(self.edge), np.asarray(self.side * np.inf)
        turn = edge if turn is None else turn
        a, b = (turn, end) if self.side > 0 else (end, turn)
        return self.world.log_tilt(*np.broadcast_arrays(rate, a, b, edge))

    def log_odds(self, epsilon: Array) -> Array:
        """What the odds of it are at most, as a logarithm, whatever the likelihood is."""
        rate = self.side * epsilon
        return self.log_tilt(rate) - self.rest.log_tilt(rate) + epsilon * self.world.form.step

    def gaps(self, first: Array, second: Array, factor: float) -> tuple[Array, Array]:
        """g of all values, and g of the rest, between each two ε, for a belief in this that rises (`gaps`)."""
        rates = rates_around(first, second, factor)
        with np.errstate(all="ignore"):
            rest = self.rest.log_tilt(self.side * rates)
            raised = self.log_tilt(self.side * rates) + rates * self.world.form.step
            whole, rest = (
                gap_of_logs(logs, logs[0], (0.0, 0.0), (first, second), factor)[0]
                for logs in (np.logaddexp(raised, rest), rest)
            )
        return whole, rest
