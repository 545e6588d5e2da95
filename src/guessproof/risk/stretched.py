"""A prior under a distance that bends and jumps: its tilted integrals, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from guessproof.world.checks import Array
from guessproof.world.line import LinePrior
from guessproof.world.line_form import LineForm
from guessproof.world.pieces import log_sum


@dataclass(frozen=True)
class Stretched:
    """A prior seen through ψ: its tilted integrals in the metric's own units."""

    prior: LinePrior
    form: LineForm

    def log_tilt(self, k: Array, a: Array, b: Array, ref: Array) -> Array:
        """ln ∫_a^b e^{k(ψ(x)−ψ(ref))} f."""
        if self.form.is_straight:
            return self.prior.log_tilt(k * self.form.slopes[0], a, b, ref)
        k, a, b, ref = np.broadcast_arrays(k, a, b, ref)
        return log_sum(
            np.stack(
                [
                    offset + self.prior.log_tilt(rate, lo, hi, at)
                    for rate, lo, hi, at, offset in self._parts(k, a, b, ref)
                ],
                axis=-1,
            )
        )

    def excess(self, k: Array, a: Array, b: Array, ref: Array) -> Array:
        """∫_a^b (e^{k(ψ(x)−ψ(ref))} − 1) f."""
        if self.form.is_straight:
            return self.prior.excess(k * self.form.slopes[0], a, b, ref)
        k, a, b, ref = np.broadcast_arrays(k, a, b, ref)
        total = np.zeros(k.shape)
        for rate, lo, hi, at, offset in self._parts(k, a, b, ref):
            with np.errstate(over="ignore", invalid="ignore"):
                part = np.exp(offset) * self.prior.excess(rate, lo, hi, at) + np.expm1(offset) * self.prior.mass(lo, hi)
            total = total + np.where(hi > lo, part, 0.0)
        return total

    def log_density(self, x: Array) -> Array:
        return self.prior.log_density(x)

    def _parts(self, k: Array, a: Array, b: Array, ref: Array):
        """[a, b] cut where ψ bends: rate, ends, a reference point inside, and k(ψ there − ψ(ref))."""
        ends = (-np.inf, *self.form.cuts, np.inf)
        base = self.form.psi(ref)
        for slope, start, end in zip(self.form.slopes, ends[:-1], ends[1:], strict=True):
            lo, hi = np.maximum(a, start), np.minimum(b, end)
            at = np.clip(ref, np.where(np.isfinite(lo), lo, hi), np.where(np.isfinite(hi), hi, lo))
            at = np.where(hi > lo, np.where(np.isfinite(at), at, 0.0), 0.0)
            # ψ just inside the part: a jump at its left end has been taken, one at its right end has not.
            inner = self.form.psi(at) + _jump_at(self.form, start) * (at == start)
            offset = np.where(hi > lo, k * (inner - base), 0.0)
            yield k * slope, lo, hi, at, offset


def _jump_at(form: LineForm, cut: float) -> float:
    return form.jumps[form.cuts.index(cut)] if cut in form.cuts else 0.0
