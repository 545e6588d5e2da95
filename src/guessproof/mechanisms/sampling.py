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
from numbers import Integral
from typing import Any, Protocol

from guessproof.errors import MissingExtraError, ParameterError
from guessproof.mechanisms.cauchy import Cauchy, cauchy_tail_quantile
from guessproof.mechanisms.gaussian import Gaussian, gdp_delta
from guessproof.mechanisms.geometric import Geometric
from guessproof.mechanisms.laplace import Laplace
from guessproof.mechanisms.smooth import SmoothLaplace

FINE = 40  # a noise scale spans about 2^40 grid steps: the rounding costs 1e-12, and 64-bit integers suffice
WIDEST = 56  # a scale of 2^56 steps leaves 64-bit integers with probability e^-128
EXPONENTS = range(-960, 961)  # of the grid: its steps and their multiples are ordinary floating-point numbers


@dataclass(frozen=True)
class Grid:
    """The multiples of 2^exponent. The exponent must be public: chosen from declared values, not from data.

    >>> grid = Grid(-3)
    >>> grid.units(1.3), grid.value(10)
    (10, 1.25)
    """

    exponent: int

    @property
    def step(self) -> float:
        """The distance of neighbouring points."""
        return math.ldexp(1.0, self.exponent)

    def units(self, answer: float | Fraction) -> int:
        """The nearest grid point, as a whole number of steps; exact for ints, floats and fractions."""
        if isinstance(answer, float):
            if not math.isfinite(answer):
                raise _refused("the answer is not a finite number", "clamp it before noise is added")
            try:
                return round(math.ldexp(answer, -self.exponent))
            except OverflowError:
                pass
        exact = Fraction(int(answer)) if isinstance(answer, Integral) else Fraction(answer)
        return round(exact / Fraction(2) ** self.exponent)

    def value(self, units: int) -> float:
        """The float nearest to a grid point."""
        return math.ldexp(units, self.exponent)


def grid_for(scale: float, fine: int = FINE) -> Grid:
    """A grid of about 2^fine steps to a (public) noise scale.

    >>> grid_for(1.0), grid_for(1000.0)
    (Grid(exponent=-40), Grid(exponent=-31))
    """
    return Grid(math.frexp(scale)[1] - 1 - fine)


@dataclass(frozen=True)
class IntegerSampler:
    """Laplace, geometric or Gaussian noise in whole grid steps, drawn by OpenDP.

    An answer is rounded to the grid first, so two answers that differ by D end up at most D + step apart: the
    guarantee metric D/scale becomes D/scale + ``step`` for any two different values (theory §12). For
    Gaussian noise the same happens to μ. Nothing is charged where the answers are whole numbers of steps.
    """

    mechanism: Laplace | Geometric | Gaussian
    grid: Grid
    measurement: Callable[[list[int]], list[int]]

    @property
    def step(self) -> float:
        """Grid step over noise scale: add it to the guarantee metric as a 0/1 term (0 for whole answers)."""
        return 0.0 if isinstance(self.mechanism, Geometric) else self.grid.step / self.mechanism.scale

    def charged(self, rounded: int = 1) -> tuple[float, float]:
        """(ε, δ) of one answer as it is really drawn, with rounding to the grid of so many numbers of one record."""
        epsilon, step = self.mechanism.epsilon, rounded * self.step
        if isinstance(self.mechanism, Gaussian):
            mu = self.mechanism.mu + step
            return epsilon, gdp_delta(mu, epsilon) + lattice_delta(mu, self.step)
        return (math.nextafter(epsilon + step, math.inf) if step else epsilon), 0.0

    def noise(self, count: int) -> list[int]:
        """Noise alone, in grid steps."""
        return self.measurement([0] * count)

    def release_units(self, units: Sequence[int]) -> list[int]:
        """Add noise to whole numbers of grid steps, without any rounding; integers of any size."""
        return [unit + noise for unit, noise in zip(units, self.noise(len(units)), strict=True)]

    def release(self, answers: Sequence[float | Fraction]) -> list[float]:
        """Round to the grid, add noise, give floats (geometric noise: whole answers only)."""
        units, value = [self.grid.units(answer) for answer in answers], self.grid.value
        if isinstance(self.mechanism, Geometric) and units != list(answers):
            raise _refused("integer noise is for whole answers", "use Laplace, or round first and charge it")
        return [value(unit) for unit in self.release_units(units)]


@dataclass(frozen=True)
class IdealSampler:
    """Ideal real-valued noise (Cauchy, or Laplace on a smooth sensitivity), rounded after it was added.

    Rounding the output of the ideal mechanism is post-processing: there is nothing to charge, even where the
    noise scale depends on the data.
    """

    mechanism: Cauchy | SmoothLaplace
    grid: Grid
    step: float = 0.0

    def charged(self) -> tuple[float, float]:
        """(ε, δ) of one answer as it is really drawn."""
        return self.mechanism.epsilon, getattr(self.mechanism, "delta", 0.0)

    def release(self, answers: Sequence[float | Fraction], scales: Sequence[float] | None = None) -> list[float]:
        """Noisy answers; ``scales`` replaces the mechanism's where smooth sensitivity depends on the data."""
        widths = [self.mechanism.scale] * len(answers) if scales is None else scales
        law = CauchyLaw(self.mechanism.gamma) if isinstance(self.mechanism, Cauchy) else LaplaceLaw()
        return [
            self.grid.value(ideal_cell(answer, width, law, self.grid.exponent, secrets.randbits))
            for answer, width in zip(answers, widths, strict=True)
        ]


def sampler(mechanism: Any, grid: Grid | None = None) -> IntegerSampler | IdealSampler:
    """The sampler of a mechanism, built once and kept.

    >>> noisy = sampler(Geometric(sensitivity=1, epsilon=1)).release([120])
    >>> noisy[0] == round(noisy[0])
    True
    >>> 0 < sampler(Laplace(sensitivity=1, epsilon=0.5)).step < 1e-11
    True
    """
    match mechanism:
        case Laplace() | Gaussian():
            return _integer_sampler(mechanism, grid or grid_for(mechanism.scale))
        case Geometric():
            if grid not in (None, Grid(0)):
                raise ParameterError("grid", grid, "integer noise lives on the whole numbers", "leave it out")
            return _integer_sampler(mechanism, Grid(0))
        case Cauchy() | SmoothLaplace():
            if grid is None and mechanism.beta > 0:
                problem = "a scale that depends on the data must not choose the grid"
                raise ParameterError("grid", grid, problem, "give a Grid chosen from public values")
            place = grid or grid_for(mechanism.scale, fine=24)
            check_drawable(mechanism, place)
            return IdealSampler(mechanism, place)
        case _:
            name = type(mechanism).__name__
            raise ParameterError("mechanism", name, "it has no sampler", "use one of the named mechanisms")


def lattice_delta(mu: float, step: float) -> float:
    """What δ may gain when Gaussian noise lives on a grid of ``step`` standard deviations.

    The normaliser of the discrete Gaussian is at least the integral's, and a sum differs from an integral by
    at most an eighth of the total variation of the slope: δ_grid ≤ δ + (0.23 + 0.1μ)·step².

    >>> lattice_delta(1.0, 2.0**-40) < 1e-24
    True
    """
    return (0.23 + 0.1 * mu) * step * step


def check_drawable(mechanism: Any, grid: Grid) -> None:
    """Refuse noise that could not be drawn on a grid; to be asked before anything is charged.

    >>> check_drawable(Geometric(sensitivity=1, epsilon=1e12), Grid(0))
    >>> check_drawable(Geometric(sensitivity=1e6, epsilon=1e-12), Grid(0))
    Traceback (most recent call last):
    ...
    guessproof.errors.ParameterError: noise: a scale of 1e+18 does not fit into 64-bit steps of 1
        (got 'Geometric'); use a larger epsilon or another unit
    """
    name, scale = type(mechanism).__name__, mechanism.scale
    if grid.exponent not in EXPONENTS:
        problem = f"a grid of 2^{grid.exponent} leaves the range of floating point"
        raise ParameterError("noise", name, problem, "choose units in which answers and their noise are moderate")
    if scale <= 2.0**-960 or scale >= 2.0**960:
        problem = f"a scale of {scale:.3g} leaves the range of floating point"
        raise ParameterError("noise", name, problem, "choose units in which answers and their noise are moderate")
    if isinstance(mechanism, (Laplace, Geometric, Gaussian)) and scale > math.ldexp(1.0, grid.exponent + WIDEST):
        problem = f"a scale of {scale:.3g} does not fit into 64-bit steps of {grid.step:g}"
        raise ParameterError("noise", name, problem, "use a larger epsilon or another unit")


@lru_cache(maxsize=256)
def _integer_sampler(mechanism: Laplace | Geometric | Gaussian, grid: Grid) -> IntegerSampler:
    check_drawable(mechanism, grid)
    dp = _opendp()
    scale = max(math.ldexp(mechanism.scale, -grid.exponent), 2.0**-960)
    integers = dp.vector_domain(dp.atom_domain(T="i64"))
    if isinstance(mechanism, Gaussian):
        measurement = dp.m.make_gaussian(integers, dp.l2_distance(T="f64"), scale=scale)
    else:
        measurement = dp.m.make_laplace(integers, dp.l1_distance(T="i64"), scale=scale)
    return IntegerSampler(mechanism, grid, measurement)


def _opendp() -> Any:
    try:
        import opendp.prelude
    except ImportError:
        raise MissingExtraError("opendp", "noise") from None
    dp: Any = opendp.prelude
    dp.enable_features("contrib")
    return dp


def _refused(problem: str, remedy: str) -> ParameterError:
    """A refusal that does not repeat the answer, which is confidential."""
    return ParameterError("answers", "a confidential value", problem, remedy)


class Law(Protocol):
    """A standard noise distribution, symmetric about 0, as interval arithmetic needs it."""

    def central(self, flint: Any, z: Any) -> Any:
        """P(0 ≤ Z ≤ z) for a ball z ≥ 0, at the current precision."""
        ...

    def density(self, flint: Any, z: Any) -> Any:
        """The density at a ball z ≥ 0."""
        ...

    def tail_quantile(self, tail: float) -> float:
        """The c with P(|Z| > c) = tail, in floating point."""
        ...


@dataclass(frozen=True)
class LaplaceLaw:
    """Density e^(−|z|)/2."""

    def central(self, flint: Any, z: Any) -> Any:
        """(1 − e^(−z))/2."""
        return -(-z).expm1() / 2

    def density(self, flint: Any, z: Any) -> Any:
        """e^(−z)/2."""
        return (-z).exp() / 2

    def tail_quantile(self, tail: float) -> float:
        """−ln(tail)."""
        return -math.log(tail)


@dataclass(frozen=True)
class CauchyLaw:
    """Density ∝ 1/(1+|z|^γ)."""

    gamma: float

    def central(self, flint: Any, z: Any) -> Any:
        """Half the regularised incomplete beta function, from its accurate end; elementary at γ = 4."""
        if self.gamma == 4:
            return _central_quartic(flint, z)
        if z == 0:
            return flint.arb(0)
        power, inside = z ** flint.arb(self.gamma), 1 / flint.arb(self.gamma)
        if power < 1:
            return (power / (1 + power)).beta_lower(inside, 1 - inside, regularized=True) / 2
        return (1 - (1 / (1 + power)).beta_lower(1 - inside, inside, regularized=True)) / 2

    def density(self, flint: Any, z: Any) -> Any:
        """γ·sin(π/γ)/(2π) / (1+z^γ)."""
        gamma, pi = flint.arb(self.gamma), flint.arb.pi()
        return gamma * (pi / gamma).sin() / (2 * pi) / (1 + z**gamma)

    def tail_quantile(self, tail: float) -> float:
        """By the inverse incomplete beta function."""
        return cauchy_tail_quantile(tail, self.gamma)


def _central_quartic(flint: Any, z: Any) -> Any:
    """P(0 ≤ Z ≤ z) at γ = 4: (artanh(√2·z/(1+z²)) + atan(1+√2·z) − atan(1−√2·z))/(2π)."""
    rooted = flint.arb(2).sqrt() * z
    square = 1 + z * z
    logarithm = ((square + rooted) / (square - rooted)).log()
    return (logarithm / 2 + (1 + rooted).atan() - (1 - rooted).atan()) / (2 * flint.arb.pi())


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
        raise _refused("the answer or its scale is not a finite number", "clamp it before noise is added")
    return Fraction(value)


def _flint() -> Any:
    try:
        import flint
    except ImportError:
        raise MissingExtraError("python-flint", "noise") from None
    return flint
