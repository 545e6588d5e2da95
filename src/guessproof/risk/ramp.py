"""A goal that reaches to an end of what is possible: one likelihood tells most of it, whatever the prior is.

Let T be the goal (or the rest, where a belief falls), all of it on one side of an edge, and R what lies on the other:
ψ is larger on T, say. For any likelihood L let μ be the least of ln L − εψ on R. Then L ≥ e^{μ+εψ} on R, and on T, as
no two values differ by more than their distance allows, L ≤ e^{μ+εψ+ε·step}. So the odds of T are largest, for every
prior, with the ramp e^{εψ} that is raised by the step on T: no peak is to be looked for, and s = ψ + step·1_T is the
same for every ε.
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


@dataclass(frozen=True)
class Ramp:
    """What lies above an edge (side 1) or below it (−1), as far as the prior reaches."""

    world: TiltedIntegrals
    edge: float
    side: Side

    @classmethod
    def of(cls, prior: LinePrior, form: LineForm, lo: float, hi: float) -> Ramp | None:
        """All from one value to another, if that is an end of the prior and some lies beyond the other one."""
        if math.isfinite(form.cap) or not any(form.slopes):
            return None
        (low, high), world = prior.support, TiltedIntegrals(prior, form)
        if low < lo < high <= hi:
            return cls(world, lo, 1)
        return cls(world, hi, -1) if lo <= low < hi < high else None

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
