"""How each measurement is made noisy: the mechanism, the grid it lives on, and what that costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from guessproof.errors import ParameterError
from guessproof.guarantee import Guarantee
from guessproof.mechanisms.cauchy import Cauchy, best_gamma
from guessproof.mechanisms.gaussian import Gaussian
from guessproof.mechanisms.geometric import Geometric
from guessproof.mechanisms.laplace import Laplace
from guessproof.mechanisms.sampling import WIDEST, Grid, IntegerSampler, check_drawable, grid_for, sampler
from guessproof.sql.question import Measurement

Mechanism = Laplace | Geometric | Gaussian | Cauchy
WHOLE_BITS = 52  # a contribution in grid steps stays a whole number that a double holds exactly

GRID_ROOM = 1 - 2.0**-20  # of δ; the rest is for what the grid adds, so that what is charged is what was asked for


@dataclass(frozen=True)
class Noise:
    """Noise for one measurement, in the units of its sum; `divisor` of them make one unit of the answer."""

    measurement: Measurement
    mechanism: Mechanism
    grid: Grid

    @property
    def name(self) -> str:
        """The mechanism in one word."""
        return type(self.mechanism).__name__.lower()

    @property
    def scale(self) -> float:
        """The noise scale b in units of the answer."""
        return self.mechanism.scale / self.measurement.divisor

    @cached_property
    def guarantee(self) -> Guarantee:
        """What one protected unit can do to the log-likelihood of this answer: the measurement's, over the noise."""
        return self.measurement.guarantee.scaled(self.mechanism.epsilon / self.mechanism.sensitivity)

    @property
    def step(self) -> float:
        """What rounding contributions to the grid adds to the metric between any two different values."""
        if self.measurement.is_whole and self.grid.exponent <= 0:
            return 0.0
        rounded = self.grid.step * self.measurement.copies  # each of a record's rows is rounded by itself
        return rounded * self.mechanism.epsilon / self.mechanism.sensitivity

    @property
    def cost(self) -> tuple[float, float]:
        """(ε, δ) of one answer as it is really drawn."""
        if isinstance(self.mechanism, Gaussian):  # a grid adds to δ even where nothing is rounded
            drawing = sampler(self.mechanism, self.grid)
            assert isinstance(drawing, IntegerSampler)
            return drawing.charged(self.measurement.copies)
        epsilon = self.mechanism.epsilon
        return (math.nextafter(epsilon + self.step, math.inf) if self.step else epsilon), 0.0

    def error(self, confidence: float) -> float:
        """The a-priori error of the answer: it is exceeded with probability 1 − confidence at most."""
        return self.mechanism.error(confidence=confidence) / self.measurement.divisor

    def confidence(self, within: float) -> float:
        """How surely the answer lies this near."""
        return self.mechanism.confidence(within=within * self.measurement.divisor)

    def check(self) -> None:
        """Refuse noise that could not be drawn: before anything is charged."""
        check_drawable(self.mechanism, self.grid)

    def draw(self, units: list[int]) -> list[int]:
        """Whole numbers of grid steps with noise."""
        source = sampler(self.mechanism, self.grid)
        if isinstance(self.mechanism, Cauchy):
            values = source.release([_exact(u, self.grid) for u in units])
            return [self.grid.units(v) for v in values]
        return source.release_units(units)  # pyright: ignore[reportAttributeAccessIssue]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        shape = {"gamma": self.mechanism.gamma} if isinstance(self.mechanism, Cauchy) else {}
        return {
            "measurement": self.measurement.text,
            "account": self.measurement.account,
            "mechanism": self.name,
            "sensitivity": self.measurement.per_answer.sensitivity,
            "epsilon": self.mechanism.epsilon,
            "delta": self.cost[1],
            "noise_scale": self.scale,
            "grid": self.grid.exponent,
            **shape,
        }


def _exact(units: int, grid: Grid) -> Fraction:
    return units * Fraction(2) ** grid.exponent


def noise_for(
    measurement: Measurement,
    epsilon: float,
    mechanism: str | None = None,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> Noise:
    """Noise that costs ε for the most that one record can do to the measurement."""
    kind = mechanism or ("geometric" if measurement.is_whole else "laplace")
    most = measurement.guarantee.sensitivity
    if kind == "geometric":
        if not measurement.is_whole:
            problem, remedy = f"{measurement.text} is no whole number", 'say mechanism = "laplace"'
            raise ParameterError("mechanism", kind, problem, remedy)
        return Noise(measurement, Geometric(sensitivity=_ceiling(most), epsilon=epsilon), Grid(0))
    if kind == "gaussian":
        made: Mechanism = Gaussian(sensitivity=most, epsilon=epsilon, delta=delta * GRID_ROOM)
    elif kind == "cauchy":
        made = Cauchy(sensitivity=most, epsilon=epsilon, gamma=best_gamma(confidence))
    else:
        made = Laplace(sensitivity=most, epsilon=epsilon)
    return Noise(measurement, made, _grid(made.scale, measurement))


def epsilon_needed(
    measurement: Measurement,
    within: float,
    confidence: float,
    mechanism: str | None,
    delta: float,
    *,
    shaped_for: float | None = None,
) -> float:
    """The least ε at which one answer lies this near, this surely; `shaped_for`: Cauchy noise with a γ for that."""
    kind = mechanism or ("geometric" if measurement.is_whole else "laplace")
    most, near = measurement.guarantee.sensitivity, within * measurement.divisor
    if kind == "geometric":
        return Geometric.epsilon_for(sensitivity=_ceiling(most), within=near, confidence=confidence)
    if kind == "gaussian":
        near_delta = delta * GRID_ROOM
        return Gaussian.epsilon_for(sensitivity=most, within=near, confidence=confidence, delta=near_delta)
    if kind == "cauchy":
        gamma = best_gamma(shaped_for or confidence)
        return Cauchy.epsilon_for(sensitivity=most, within=near, confidence=confidence, gamma=gamma)
    return Laplace.epsilon_for(sensitivity=most, within=near, confidence=confidence)


def _grid(scale: float, measurement: Measurement) -> Grid:
    """A grid as fine as the noise wants and 64-bit whole numbers allow; a whole answer sits on it without rounding.

    Noise so wide that it would not fit into 64-bit steps of 1 gets a coarser grid, and the rounding is charged.
    """
    fine = grid_for(scale).exponent
    size = measurement.range.size
    coarsest = math.frexp(size)[1] - WHOLE_BITS if size else fine
    exponent = max(fine, coarsest)
    return Grid(min(exponent, 0) if measurement.is_whole and scale < 2.0**WIDEST else exponent)


def _ceiling(value: float) -> float:
    """Whole contributions move by whole numbers; what floating point added to the bound is dropped."""
    return float(round(value)) if abs(value - round(value)) < 1e-6 else float(math.ceil(value))
