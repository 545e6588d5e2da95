"""Drawing noise: the one file of the library that touches entropy.

Nothing here adds a float to a float. Laplace, geometric and Gaussian noise are whole numbers of a fixed-point
grid, drawn by OpenDP and added in exact integer arithmetic; the rounding of the answer to the grid is reported as
a ``step`` to be charged. Noise whose scale may depend on the data (generalised Cauchy, Laplace on a smooth
sensitivity) is the ideal real-valued noise rounded to a cell of the grid: secret bits are drawn until interval
arithmetic proves in which cell the ideal answer lies. Rounding *after* ideal noise is post-processing and costs
nothing.

In both cases every output is a multiple of the same power of two, whatever the data: neighbouring data sets have
the same possible outputs. How long a draw takes is not hidden.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from guessproof.errors import MissingExtraError, ParameterError
from guessproof.mechanisms.base import Grid, Law, Mechanism, check_drawable, grid_for, refuse_answer

DRAWING = ("domains", "measurements", "measures", "metrics", "mod")


@dataclass(frozen=True)
class IntegerSampler:
    """Laplace, geometric or Gaussian noise in whole grid steps, drawn by OpenDP.

    An answer is rounded to the grid first, so two answers that differ by D end up at most D + step apart: the
    guarantee metric D/scale becomes D/scale + ``step`` for any two different values (theory §16). For
    Gaussian noise the same happens to μ. Nothing is charged where the answers are whole numbers of steps.
    """

    mechanism: Mechanism
    grid: Grid
    measurement: Callable[[list[int]], list[int]]

    @property
    def step(self) -> float:
        """Grid step over noise scale: add it to the guarantee metric as a 0/1 term (0 for whole answers)."""
        return 0.0 if self.mechanism.is_whole else self.grid.step / self.mechanism.scale

    def charged(self, rounded: int = 1) -> tuple[float, float]:
        """(ε, δ) of one answer as it is really drawn, with rounding to the grid of so many numbers of one record."""
        return self.mechanism.cost_on_grid(self.grid.step, rounded, is_exact=self.mechanism.is_whole)

    def noise(self, count: int) -> list[int]:
        """Noise alone, in grid steps."""
        return self.measurement([0] * count)

    def release_units(self, units: Sequence[int]) -> list[int]:
        """Add noise to whole numbers of grid steps, without any rounding; integers of any size."""
        return [unit + noise for unit, noise in zip(units, self.noise(len(units)), strict=True)]

    def release(self, answers: Sequence[float | Fraction]) -> list[float]:
        """Round to the grid, add noise, give floats (geometric noise: whole answers only)."""
        units, value = [self.grid.units(answer) for answer in answers], self.grid.value
        if self.mechanism.is_whole and units != list(answers):
            raise refuse_answer("integer noise is for whole answers", "use Laplace, or round first and charge it")
        return [value(unit) for unit in self.release_units(units)]


@dataclass(frozen=True)
class IdealSampler:
    """Ideal real-valued noise (Cauchy, or Laplace on a smooth sensitivity), rounded after it was added.

    Rounding the output of the ideal mechanism is post-processing: there is nothing to charge, even where the
    noise scale depends on the data.
    """

    mechanism: Mechanism
    grid: Grid
    step: float = 0.0

    def charged(self) -> tuple[float, float]:
        """(ε, δ) of one answer as it is really drawn."""
        return self.mechanism.epsilon, self.mechanism.failure

    def release_units(self, units: Sequence[int], scales: Sequence[float] | None = None) -> list[int]:
        """Noise around whole numbers of grid steps, in whole steps again; `scales` as in :meth:`release`."""
        unit = Fraction(2) ** self.grid.exponent
        widths = [self.mechanism.scale] * len(units) if scales is None else scales
        return self._cells([number * unit for number in units], widths)

    def release(self, answers: Sequence[float | Fraction], scales: Sequence[float] | None = None) -> list[float]:
        """Noisy answers; ``scales`` replaces the mechanism's where smooth sensitivity depends on the data."""
        widths = [self.mechanism.scale] * len(answers) if scales is None else scales
        return [self.grid.value(cell) for cell in self._cells(answers, widths)]

    def _cells(self, answers: Sequence[float | Fraction], widths: Sequence[float]) -> list[int]:
        law, exponent = self.mechanism.law, self.grid.exponent
        return [
            ideal_cell(answer, width, law, exponent, secrets.randbits)
            for answer, width in zip(answers, widths, strict=True)
        ]


def pick(scale: float, scores: Sequence[int]) -> int:
    """Which of the scores plus exponential noise of this scale is largest; drawn by OpenDP, in exact arithmetic.

    >>> pick(1.0, [0, 10_000, 0])
    1
    """
    return int(_selector(scale)(list(scores)))


@lru_cache(maxsize=256)
def _selector(scale: float) -> Callable[[list[int]], int]:
    dp = _opendp()
    pure = dp.measures.max_divergence()
    return dp.measurements.make_noisy_max(_integers(dp), dp.metrics.linf_distance(T="i64"), pure, scale=scale)


def sampler(mechanism: Any, grid: Grid | None = None) -> IntegerSampler | IdealSampler:
    """The sampler of a mechanism, built once and kept.

    >>> from guessproof.mechanisms.geometric import Geometric
    >>> from guessproof.mechanisms.laplace import Laplace
    >>> noisy = sampler(Geometric(sensitivity=1, epsilon=1)).release([120])
    >>> noisy[0] == round(noisy[0])
    True
    >>> 0 < sampler(Laplace(sensitivity=1, epsilon=0.5)).step < 1e-11
    True
    """
    if not isinstance(mechanism, Mechanism):
        name = type(mechanism).__name__
        raise ParameterError("mechanism", name, "it has no sampler", "use one of the named mechanisms")
    if mechanism.is_whole and grid not in (None, Grid(0)):
        raise ParameterError("grid", grid, "integer noise lives on the whole numbers", "leave it out")
    if mechanism.integer_noise is not None:
        place = Grid(0) if mechanism.is_whole else grid or grid_for(mechanism.scale)
        return _integer_sampler(mechanism, place)
    if grid is None and mechanism.follows_data:
        problem = "a scale that depends on the data must not choose the grid"
        raise ParameterError("grid", grid, problem, "give a Grid chosen from public values")
    place = grid or grid_for(mechanism.scale, fine=24)
    check_drawable(mechanism, place)
    return IdealSampler(mechanism, place)


@lru_cache(maxsize=256)
def _integer_sampler(mechanism: Mechanism, grid: Grid) -> IntegerSampler:
    check_drawable(mechanism, grid)
    dp = _opendp()
    scale = max(math.ldexp(mechanism.scale, -grid.exponent), 2.0**-960)
    if mechanism.integer_noise == "gaussian":
        measurement = dp.measurements.make_gaussian(_integers(dp), dp.metrics.l2_distance(T="f64"), scale=scale)
    else:
        measurement = dp.measurements.make_laplace(_integers(dp), dp.metrics.l1_distance(T="i64"), scale=scale)
    return IntegerSampler(mechanism, grid, measurement)


def _integers(dp: Any) -> Any:
    return dp.domains.vector_domain(dp.domains.atom_domain(T="i64"))


def _opendp() -> SimpleNamespace:
    """The parts that draw. Its prelude would also read scikit-learn, Polars and SciPy where they are installed."""
    try:
        dp = SimpleNamespace(**{name: import_module(f"opendp.{name}") for name in DRAWING})
    except ImportError:
        raise MissingExtraError("opendp", "noise") from None
    dp.mod.enable_features("contrib")
    return dp


def ideal_cell(answer: float | Fraction, scale: float, law: Law, exponent: int, bits: Callable[[int], int]) -> int:
    """The grid point nearest to answer + scale·Z for ideal Z.

    Z is the quantile of a uniform number U of which only the first bits are known. A guess of the cell, made
    in any way, is accepted only if interval arithmetic proves F(lower edge) ≤ U ≤ F(upper edge) for *every*
    U that begins with those bits; otherwise more bits are drawn.
    """
    flint = _flint()
    unit, centre, width = Fraction(2) ** exponent, _exact(answer), _exact(scale)
    known, prefix = 64, bits(64)
    level = Fraction(2 * prefix + 1, 2 ** (known + 1))
    size = Fraction(law.tail_quantile(float(2 * min(level, 1 - level))))
    start = size if 2 * level > 1 else -size
    while True:
        with flint.ctx.workprec(known + 64):
            low, high = flint.fmpq(prefix, 2**known), flint.fmpq(prefix + 1, 2**known)
            guess = start if known == 64 else _newton(flint, start, flint.arb((low + high) / 2), law, known)
            cell = round((centre + width * guess) / unit)
            edges = [(Fraction(2 * cell + side, 2) * unit - centre) / width for side in (-1, 1)]
            below, above = (_distribution(flint, edge, law) for edge in edges)
            if below <= flint.arb(low) and flint.arb(high) <= above:
                return cell
        prefix, known = (prefix << 64) | bits(64), known + 64


def _distribution(flint: Any, z: Fraction, law: Law) -> Any:
    """F(z) as a ball."""
    half = law.central(flint, flint.arb(flint.fmpq(abs(z.numerator), z.denominator)))
    return 0.5 + half if z >= 0 else 0.5 - half


def _newton(flint: Any, start: Fraction, target: Any, law: Law, known: int) -> Fraction:
    """A better guess of the quantile; only a guess, so midpoints are enough."""
    z = start
    for _ in range(2 + (known // 64).bit_length()):
        density = law.density(flint, flint.arb(flint.fmpq(abs(z.numerator), z.denominator)))
        move = ((target - _distribution(flint, z, law)) / density).mid()
        mantissa, exponent = move.man_exp()
        z += int(mantissa) * Fraction(2) ** int(exponent)
    return z


def _exact(value: float | Fraction) -> Fraction:
    if isinstance(value, float) and not math.isfinite(value):
        raise refuse_answer("the answer or its scale is not a finite number", "clamp it before noise is added")
    return Fraction(value)


def _flint() -> Any:
    try:
        import flint
    except ImportError:
        raise MissingExtraError("python-flint", "noise") from None
    return flint
