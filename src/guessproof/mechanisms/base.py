"""What every noise mechanism offers, and the few numeric habits that they share.

A mechanism is a frozen value: what one record can change (``sensitivity``), the guarantee (``epsilon``,
for some also ``delta``), and nothing else. Its noise scale follows, rounded to the private side: the scale
is never too small for the guarantee that the value names.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Integral
from typing import Any, ClassVar, Literal, Protocol

from guessproof.errors import ParameterError

FINE = 40  # a noise scale spans about 2^40 grid steps: the rounding costs 1e-12, and 64-bit integers suffice
WIDEST = 56  # a scale of 2^56 steps leaves 64-bit integers with probability e^-128
EXPONENTS = range(-960, 961)  # of the grid: its steps and their multiples are ordinary floating-point numbers


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


class Mechanism(ABC):
    """Additive noise with a known law (theory §15): a frozen value that says all that others ask of it.

    A new one is a dataclass with `sensitivity` and `epsilon` (and its options) that fills in what is abstract here, and
    an entry in `guessproof.mechanisms`. ``epsilon_for(sensitivity=, within=, confidence=, …)`` belongs to it as well;
    its options differ, so it is not spelled out.
    """

    name: ClassVar[str]  # as plans, ledgers and reports write it
    chart_label: ClassVar[str]
    density_words: ClassVar[str]  # of the noise z, by its scale b and the grid's step g
    symbols: ClassVar[Mapping[str, str]] = {}  # how the options of `shape` are written in these words
    citation: ClassVar[tuple[str, str] | None] = None  # the work it comes from, and what that was used for
    is_whole: ClassVar[bool] = False  # its noise is whole numbers, for whole answers
    has_delta: ClassVar[bool] = False  # then no bound on a belief holds for every output
    is_euclidean: ClassVar[bool] = False  # several answers count by straight-line distance, not one by one
    is_log_concave: ClassVar[bool] = True
    # Far out two answers keep the ratio of their likelihoods, grow alike, or can be told apart ever better.
    tails: ClassVar[Literal["proportional", "alike", "apart"]] = "proportional"
    integer_noise: ClassVar[Literal["laplace", "gaussian"] | None] = None  # drawn in whole grid steps, by this sampler
    adds_noise: ClassVar[bool] = True  # otherwise it picks one of several values, and its error is one of ranks

    sensitivity: float  # the largest change of the answer that one record can make
    epsilon: float  # of the guarantee

    @classmethod
    def options(cls, *, delta: float, confidence: float) -> dict[str, float]:
        """What it takes beside sensitivity and ε, for a release with this δ whose error counts at this confidence."""
        return {}

    @property
    def shape(self) -> dict[str, float]:
        """The options that shape its noise, for records of it."""
        return {}

    @property
    def failure(self) -> float:
        """The δ of the guarantee."""
        return 0.0

    @property
    def mu(self) -> float | None:
        """The μ of the Gaussian privacy that it has exactly; such releases compose without loss."""
        return None

    @property
    def follows_data(self) -> bool:
        """Whether its scale may depend on the data."""
        return False

    @property
    @abstractmethod
    def scale(self) -> float:
        """The noise is ``scale`` times a standard variable."""

    @property
    @abstractmethod
    def standard_deviation(self) -> float:
        """Of the noise; infinite where it does not exist."""

    @abstractmethod
    def cdf(self, z: Any) -> Any:
        """P(noise ≤ z); numbers or arrays."""

    @abstractmethod
    def log_density(self, size: Any) -> Any:
        """ln of the density (of whole noise: of the probability) at |z| = ``size``, up to a constant; it falls."""

    @abstractmethod
    def error(self, *, confidence: float) -> float:
        """The smallest c with P(|noise| ≤ c) ≥ confidence."""

    @abstractmethod
    def confidence(self, *, within: float) -> float:
        """P(|noise| ≤ within)."""

    @abstractmethod
    def delta_at(self, epsilon: float) -> float:
        """The δ that the noise delivers at another ε (hockey-stick divergence at full sensitivity)."""

    @abstractmethod
    def epsilon_at(self, delta: float = 0.0) -> float:
        """The ε that the noise delivers at a given δ."""

    @property
    def law(self) -> Law:
        """Its standard distribution, for noise that is not drawn in whole steps."""
        raise ParameterError("mechanism", self.name, "it has no sampler", "use one of the named mechanisms")

    def density(self, z: Any) -> Any:
        """Density of the noise at z, where it has one."""
        raise ParameterError("mechanism", self.name, "is whole and has no density", "ask for mass")

    def mass(self, k: Any) -> Any:
        """P(noise = k), where it is whole."""
        raise ParameterError("mechanism", self.name, "is not whole", "ask for density")

    @property
    def even_chance(self) -> float | None:
        """P(noise is even), where it is whole."""
        return None

    def bend(self, z: Any) -> Any | None:
        """|(ln f)″| + (ln f)′² of the standard density f at z > 0; None where f has a kink."""
        return None

    def normal_posterior(self, prior_sd: float, slope: float, radius: float) -> float | None:
        """The largest posterior for a normal prior and a linear query, where it has a closed form."""
        return None

    def cost_on_grid(self, step: float, rounded: int, *, is_exact: bool) -> tuple[float, float]:
        """(ε, δ) of one answer as it is really drawn, on a grid with this step.

        So many numbers of one record are rounded to the grid first, each by itself; `is_exact`: they lie on it.
        """
        added = 0.0 if is_exact else step * rounded * self.epsilon / self.sensitivity
        return (math.nextafter(self.epsilon + added, math.inf) if added else self.epsilon), self.failure

    def loss_distribution(self, losses: Any, parameters: Any) -> Any:
        """As a privacy loss distribution, made by dp_accounting's module `losses`."""
        return losses.from_privacy_parameters(parameters(self.epsilon, self.failure))


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
                raise refuse_answer("the answer is not a finite number", "clamp it before noise is added")
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


def check_drawable(mechanism: Mechanism, grid: Grid) -> None:
    """Refuse noise that could not be drawn on a grid; to be asked before anything is charged.

    >>> from guessproof.mechanisms.geometric import Geometric
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
    if mechanism.integer_noise is not None and scale > math.ldexp(1.0, grid.exponent + WIDEST):
        problem = f"a scale of {scale:.3g} does not fit into 64-bit steps of {grid.step:g}"
        raise ParameterError("noise", name, problem, "use a larger epsilon or another unit")


def refuse_answer(problem: str, remedy: str) -> ParameterError:
    """A refusal that does not repeat the answer, which is confidential."""
    return ParameterError("answers", "a confidential value", problem, remedy)


def checked_positive(field: str, value: Any) -> float:
    """A finite number above zero.

    >>> checked_positive("epsilon", -1)
    Traceback (most recent call last):
    ...
    guessproof.errors.ParameterError: epsilon: it must be above 0 (got -1); give a positive number
    """
    number = checked_finite(field, value)
    if number <= 0:
        raise ParameterError(field, value, "it must be above 0", "give a positive number")
    return number


def checked_nonnegative(field: str, value: Any) -> float:
    """A finite number, zero included."""
    number = checked_finite(field, value)
    if number < 0:
        raise ParameterError(field, value, "it must not be negative", "give zero or a positive number")
    return number


def checked_probability(field: str, value: Any) -> float:
    """A probability strictly between 0 and 1.

    >>> checked_probability("confidence", 95)
    Traceback (most recent call last):
    ...
    guessproof.errors.ParameterError: confidence: it must lie strictly between 0 and 1 (got 95);
        give a probability such as 0.95
    """
    number = checked_finite(field, value)
    if not 0 < number < 1:
        problem = "it must lie strictly between 0 and 1"
        raise ParameterError(field, value, problem, "give a probability such as 0.95")
    return number


def checked_delta(value: Any) -> float:
    """A δ from 0 (included) to 1 (excluded)."""
    number = checked_finite("delta", value)
    if not 0 <= number < 1:
        raise ParameterError("delta", value, "it must lie in [0, 1)", "give a small probability such as 1e-6")
    return number


def checked_finite(field: str, value: Any) -> float:
    """A number that is neither NaN nor infinite; text and booleans are refused."""
    if isinstance(value, (str, bytes, bool)):
        raise ParameterError(field, value, "it is not a number", "give a number")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(field, value, "it is not a number", "give a finite number") from None
    if not math.isfinite(number):
        raise ParameterError(field, value, "it is not a finite number", "give a finite number")
    return number


def store(mechanism: object, **values: float) -> None:
    """Write validated fields into a frozen dataclass while it is being made."""
    for name, value in values.items():
        object.__setattr__(mechanism, name, value)


@lru_cache(maxsize=1024)  # an answer with many groups asks for the same scale a million times
def ratio_up(numerator: float, denominator: float) -> float:
    """The smallest float that is at least numerator/denominator (the private side of a noise scale).

    >>> from fractions import Fraction
    >>> Fraction(ratio_up(1.0, 0.1)) * Fraction(0.1) >= 1
    True
    """
    quotient = numerator / denominator
    if not 0 < quotient < math.inf:
        problem = "sensitivity divided by epsilon leaves the range of floating point"
        raise ParameterError("epsilon", denominator, problem, "choose units in which both are moderate")
    while Fraction(quotient) * Fraction(denominator) < Fraction(numerator):
        quotient = math.nextafter(quotient, math.inf)
    return quotient


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a continuous function changes its sign, to the last digits of a float.

    Bisection: SciPy's solvers take longer to import than a choice takes.

    >>> round(root(lambda x: x * x - 2, 1.0, 2.0), 12)
    1.414213562373
    """
    at_low, at_high = function(low), function(high)
    if at_low == 0 or at_high == 0:
        return low if at_low == 0 else high
    is_negative_below = at_low < 0
    if is_negative_below == (at_high < 0):
        raise ValueError("the function has the same sign at both ends")
    while low < (middle := 0.5 * (low + high)) < high:
        if (function(middle) < 0) == is_negative_below:
            low = middle
        else:
            high = middle
    return low


def raised_until(good: Callable[[float], bool], start: float) -> float:
    """The first number at or just above ``start`` that is good: undoes the rounding of a closed form.

    >>> raised_until(lambda x: x * x >= 2, 2**0.5) ** 2 >= 2
    True
    """
    if good(start):
        return start
    step = 2.0**-52
    while step < 1e-6:
        if good(start * (1 + step)):
            return start * (1 + step)
        step *= 2
    remedy = "ask for a confidence further from 0 and 1"
    raise ParameterError("epsilon", start, "no number near it reaches the accuracy in floating point", remedy)


def largest_good(good: Callable[[float], bool], low: float, high: float, steps: int = 200) -> float:
    """Bisection for a monotone question: the largest number known to be good.

    ``low`` must be good; if ``high`` is good as well, it is the answer.

    >>> largest_good(lambda x: x * x <= 2, 1.0, 2.0) ** 2 <= 2
    True
    """
    if good(high):
        return high
    for _ in range(steps):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if good(middle) else (low, middle)
    return low


def smallest_good(good: Callable[[float], bool], low: float, high: float, steps: int = 200) -> float:
    """The mirror of :func:`largest_good`: ``high`` must be good.

    >>> smallest_good(lambda x: x * x >= 2, 1.0, 2.0) ** 2 >= 2
    True
    """
    return -largest_good(lambda x: good(-x), -high, -low, steps)
