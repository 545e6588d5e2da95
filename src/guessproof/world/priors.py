"""How to say what the attacker believes before the release.

Priors by name: normal, Student's t, log-normal, gamma, beta, those with straight log-densities, and SciPy's. The names
of their fields are keys of plans. And those without a density: samples, tables, a range, one probability.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import PriorError
from guessproof.world import special
from guessproof.world.checks import (
    Array,
    Floats,
    Pair,
    floats,
    ordered,
    positive,
    quiet,
    real,
    rising,
    scaled,
    weights,
)
from guessproof.world.finite import Finite, is_number
from guessproof.world.line import LinePrior, Mixture

Facts = dict[str, Any]
P = ParamSpec("P")
R = TypeVar("R")
# Half of a normal distribution lies within this many standard deviations of its mean.
QUARTILE = 0.6744897501960817
MOST_VALUES = 200_000  # of a discrete distribution, on either side of its median
_HALF = re.compile(r"half\b.*?\bbetween\s+(\S+)\s+and\s+(\S+)\s*\Z", re.IGNORECASE)
LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
LEAST_SHAPE, MOST_SHAPE = (
    0.05,
    1e4,
)  # of a gamma or beta density: sharper ones are atoms in floating point
LEAST_DF = 0.5  # of Student's t: heavier tails leave the range of numbers


def _shape(error: type[PriorError], field: str, value: Any) -> float:
    """A shape that pieces can follow."""
    number, least = positive(error, field, value), LEAST_DF if field == "df" else LEAST_SHAPE
    if not least <= number <= MOST_SHAPE:
        raise error(
            field,
            value,
            f"is outside {least:g} … {MOST_SHAPE:.0f}",
            "give a histogram, or a normal prior",
        )
    return number


CHECKS = {
    **dict.fromkeys(("df", "shape", "a", "b"), _shape),
    **dict.fromkeys(("mean", "low", "high"), real),
    **dict.fromkeys(("sd", "sd_log", "scale", "median"), positive),
}


class Family(LinePrior):
    """A prior that is written by its name and its fields.

    Its standard variable is z = (x − centre)/unit. `functions` of `source` are its distribution function and the
    inverse of it, and unless z is distributed as −z, its survival function and the inverse of that.
    """

    __match_args__: tuple[str, ...]
    source: Any = special  # of the functions
    functions: tuple[str, ...]
    shapes: Floats = ()  # that the functions take before z
    support = (-np.inf, np.inf)
    inflections = ()
    is_even: bool = False  # whether z is distributed as −z
    centre: float
    unit: float
    widths: tuple[tuple[str, int], ...] = (
        ("scale", 1),
    )  # fields, and their powers of its width

    def __post_init__(self) -> None:
        fields = vars(self)
        for name in self.__match_args__:
            if name in CHECKS:
                fields[name] = CHECKS[name](PriorError, name, fields[name])
        fields.update(
            centre=fields.get("mean", 0.0),
            unit=fields.get(self.widths[-1][0], 1.0),
            mirror=fields.get("mean"),
        )
        fields.update(self._facts())

    def _facts(self) -> Facts:
        """What follows from the fields."""
        return {}

    def __repr__(self) -> str:
        words = [
            f"{name}={value:g}"
            for name in self.__match_args__
            if isinstance(value := getattr(self, name), float)
        ]
        return f"{self.name}({', '.join(words)})"

    def stretched(self, factor: float) -> LinePrior | None:
        changed = {name: getattr(self, name) * factor**power for name, power in self.widths}
        return replace(self, **changed)  # pyright: ignore[reportArgumentType]

    def _z(self, x: Any) -> Array:
        """The standard variable."""
        return (floats(x) - self.centre) / self.unit

    def _x(self, z: Array) -> Array:
        """The way back."""
        return self.centre + self.unit * z

    def _log_f(self, x: Array, z: Array) -> Array:
        """ln of the density of z where it is positive."""
        raise NotImplementedError

    def log_density(self, x: ArrayLike) -> Array:
        x, (low, high) = floats(x), self.support
        with quiet():
            value = self._log_f(x, self._z(x)) - np.log(self.unit)
        return np.where((x >= low) & (x <= high) & ~np.isnan(value), value, -np.inf)

    def cdf(self, x: ArrayLike, from_right: bool = False) -> Array:
        z = self._z(np.clip(x, *self.support))
        return self._ask(0, -z if from_right and self.is_even else z, from_right)

    def quantile(self, u: ArrayLike, from_right: bool = False) -> Array:
        z = self._ask(1, floats(u), from_right)
        return self._x(-z if from_right and self.is_even else z)

    def _ask(self, inverse: int, value: Array, from_right: bool) -> Array:
        name = self.functions[inverse if self.is_even else inverse + 2 * from_right]
        with quiet():
            return floats(getattr(self.source, name)(*self.shapes, value))


@dataclass(frozen=True, repr=False)
class Normal(Family):
    """A normal prior.

    >>> Normal(20, 6.28).mass(18, 22).round(4)
    np.float64(0.2499)
    """

    mean: float
    sd: float

    name = "normal"
    is_log_concave = True
    functions = "ndtr", "ndtri"
    is_even = True
    widths = (("sd", 1),)

    def _log_f(self, x: Array, z: Array) -> Array:
        return -0.5 * z**2 - LOG_SQRT_2PI


@dataclass(frozen=True, repr=False)
class StudentT(Family):
    """Student's t: like a normal prior, with tails that allow for surprises."""

    df: float
    mean: float = 0.0
    scale: float = 1.0

    name = "student_t"
    tail_rates = (0.0, 0.0)  # both fall like a power
    functions = "stdtr", "stdtrit"
    is_even = True

    def _facts(self) -> Facts:
        away = self.scale * float(np.sqrt(self.df))
        return {"shapes": (self.df,), "inflections": (self.mean - away, self.mean + away)}

    def _log_f(self, x: Array, z: Array) -> Array:
        size = special.betaln(0.5, 0.5 * self.df) + 0.5 * np.log(self.df)
        # z² may be too large for a number, √(1 + z²/df) is not.
        return -(self.df + 1) * np.log(np.hypot(1.0, z / np.sqrt(self.df))) - size


@dataclass(frozen=True, repr=False)
class LogNormal(Family):
    """A number whose logarithm is normal: incomes, waiting times, sizes.

    >>> float(LogNormal(median=2000, sd_log=0.5).cdf(2000.0))
    0.5
    """

    median: float
    sd_log: float

    name = "lognormal"
    support = (0.0, np.inf)
    tail_rates = (np.inf, 0.0)  # it falls ever more slowly
    functions = Normal.functions
    is_even = True
    widths = (("sd_log", 1),)

    def _facts(self) -> Facts:
        turn = self.median * float(np.exp(1 - self.sd_log**2))
        return {"centre": np.log(self.median), "inflections": (turn,)}

    def _z(self, x: Any) -> Array:
        with quiet():
            return super()._z(np.log(np.maximum(x, 0.0)))

    def _x(self, z: Array) -> Array:
        return self.median * np.exp(self.sd_log * z)

    def _log_f(self, x: Array, z: Array) -> Array:
        return -0.5 * z**2 - LOG_SQRT_2PI - np.log(x)


@dataclass(frozen=True, repr=False)
class Gamma(Family):
    """A gamma prior: waiting for `shape` events, each `scale` long on average; infinite at 0 for a shape below 1."""

    shape: float
    scale: float

    name = "gamma"
    support = (0.0, np.inf)
    functions = "gammainc", "gammaincinv", "gammaincc", "gammainccinv"
    widths = (("shape", -2), ("scale", 2))  # the mean remains

    def _facts(self) -> Facts:
        rates = np.inf, 1 / self.scale
        return {"shapes": (self.shape,), "tail_rates": rates, "is_log_concave": self.shape >= 1}

    def _log_f(self, x: Array, z: Array) -> Array:
        return special.xlogy(self.shape - 1, z) - z - special.gammaln(self.shape)


@dataclass(frozen=True, repr=False)
class ExponentialPrior(Gamma):
    """Density e^{−x/scale}/scale on x ≥ 0."""

    shape: float = field(default=1.0, init=False)
    name = "exponential"
    is_log_linear = True
    widths = Family.widths


@dataclass(frozen=True, repr=False)
class LaplacePrior(Family):
    """Density e^{−|x−mean|/scale}/(2·scale)."""

    mean: float
    scale: float

    name = "laplace"
    is_log_concave = True
    is_log_linear = True
    is_even = True

    def _facts(self) -> Facts:
        return {"breaks": (self.mean,), "tail_rates": (1 / self.scale, 1 / self.scale)}

    def _log_f(self, x: Array, z: Array) -> Array:
        return -np.abs(z) - np.log(2)

    def _ask(self, inverse: int, value: Array, from_right: bool) -> Array:
        with quiet():
            if inverse:
                return np.where(value < 0.5, np.log(2 * value), -np.log(2 * (1 - value)))
            tail = np.exp(-np.abs(value)) / 2
            return np.where(value < 0, tail, 1 - tail)


@dataclass(frozen=True, repr=False)
class Beta(Family):
    """A beta prior between `low` and `high`; infinite at an end whose exponent is below 1."""

    a: float
    b: float
    low: float = 0.0
    high: float = 1.0

    name = "beta"
    functions = "betainc", "betaincinv", "betaincc", "betainccinv"
    widths = (("a", -2), ("b", -2))  # the mean remains

    def _facts(self) -> Facts:
        low, high = ordered(PriorError, "low, high", self.low, self.high)
        a, b = self.a - 1, self.b - 1
        turns = (low + (high - low) / (1 + float(np.sqrt(-b / a))),) if a * b < 0 else ()
        return {
            "support": (low, high),
            "centre": low,
            "unit": high - low,
            "shapes": (self.a, self.b),
            "inflections": turns,
            "is_log_concave": min(a, b) >= 0,
        }

    def _log_f(self, x: Array, z: Array) -> Array:
        left, right = (
            special.xlogy(self.a - 1, z),
            special.xlogy(self.b - 1, (self.high - x) / self.unit),
        )
        return left + right - special.betaln(self.a, self.b)


class Steps(Family):
    """A density that is constant between edges."""

    is_log_linear = True
    ends: Array
    density: Array
    outside: tuple[Array, Array]  # the mass on either side of each edge

    def _steps(self, ends: Array, shares: Array) -> Facts:
        low, *inner, high = ends.tolist()
        outside = np.append(0.0, np.cumsum(shares)), np.append(0.0, np.cumsum(shares[::-1]))
        return {
            "ends": ends,
            "outside": (outside[0], outside[1][::-1]),
            "density": shares / np.diff(ends),
            "support": (low, high),
            "breaks": tuple(inner),
        }

    def _log_f(self, x: Array, z: Array) -> Array:
        """At an edge, that of the denser side: a value is possible if either side of it is."""
        height = np.pad(self.density, 1)
        at = [np.searchsorted(self.ends, x), np.searchsorted(self.ends, x, side="right")]
        return np.log(np.max(height[at], axis=0))

    def cdf(self, x: ArrayLike, from_right: bool = False) -> Array:
        return np.interp(floats(x), self.ends, self.outside[from_right])

    def quantile(self, u: ArrayLike, from_right: bool = False) -> Array:
        order = slice(None, None, -1 if from_right else 1)
        return np.interp(floats(u), self.outside[from_right][order], self.ends[order])

    def stretched(self, factor: float) -> Histogram:
        shares = np.diff(self.ends) * self.density
        middle = float((self.ends[1:] + self.ends[:-1]) @ shares) / 2
        return Histogram(scaled(self.ends, factor, middle), tuple(shares.tolist()))


@dataclass(frozen=True, repr=False)
class Uniform(Steps):
    """Every value between low and high alike."""

    low: float
    high: float

    name = "uniform"
    is_log_concave = True

    def _facts(self) -> Facts:
        ends = np.asarray(ordered(PriorError, "low, high", self.low, self.high))
        return {**self._steps(ends, np.ones(1)), "mirror": float(ends.mean())}


@dataclass(frozen=True)
class Histogram(Steps):
    """Probability weights[i] spread evenly over edges[i] … edges[i+1]."""

    edges: Floats
    weights: Floats

    name = "histogram"

    def _facts(self) -> Facts:
        edges, mass = rising("edges", self.edges), weights("weights", self.weights, counts=True)
        if edges.size != mass.size + 1:
            raise PriorError(
                "edges",
                self.edges,
                f"{mass.size} weights need {mass.size + 1} edges",
                "give one edge more than weights",
            )
        some = np.flatnonzero(mass)
        first, last = some[0], some[-1] + 1  # empty cells at either end are outside the support
        facts = self._steps(edges[first : last + 1], mass[first:last])
        return {"edges": tuple(edges.tolist()), "weights": tuple(mass.tolist()), **facts}

    def __repr__(self) -> str:
        return (
            f"histogram({len(self.weights)} cells from {self.edges[0]:g} to {self.edges[-1]:g})"
        )


@dataclass(frozen=True, repr=False)
class FrozenScipy(Family):
    """A frozen distribution of SciPy, for instance ``scipy.stats.weibull_min(1.5)``; its density is only checked."""

    distribution: Any

    name = "from_scipy"
    functions = "cdf", "ppf", "sf", "isf"
    inflections = None
    stretched = LinePrior.stretched

    def _facts(self) -> Facts:
        frozen = self.distribution
        if not np.all(np.isfinite(frozen.ppf([0.25, 0.5, 0.75]))):
            raise PriorError(
                "from_scipy", frozen, "has no finite quartiles", "check its parameters"
            )
        return {"source": frozen, "support": tuple(map(float, frozen.support()))}

    def __repr__(self) -> str:
        frozen = self.distribution
        words = [f"{name}={value}" for name, value in frozen.kwds.items()]
        return f"from_scipy({frozen.dist.name}({', '.join([*map(str, frozen.args), *words])}))"

    def _log_f(self, x: Array, z: Array) -> Array:
        return floats(self.distribution.logpdf(x))


@dataclass(frozen=True)
class Unknown:
    """Nothing is known but the range: answers hold for every prior on it.

    With `values` these are the categories that can occur; `low` and `high` are the first and the last index of them.
    """

    low: float
    high: float
    values: tuple[Hashable, ...] = ()

    def __post_init__(self) -> None:
        low, high = ordered(PriorError, "low, high", self.low, self.high)
        vars(self).update(low=low, high=high)

    def __repr__(self) -> str:
        return (
            f"unknown(values={list(self.values)})"
            if self.values
            else f"unknown({self.low:g}, {self.high:g})"
        )

    name = "unknown"

    @property
    def support(self) -> Pair:
        """The range."""
        return self.low, self.high

    def stretched(self, factor: float) -> None:
        """Nothing is known that could be wider or narrower."""


@dataclass(frozen=True)
class PartlyKnown:
    """P(|x − t| ≤ radius) = probability around the true value t, and nothing else but the range."""

    radius: float
    probability: float
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        radius = positive(PriorError, "radius", self.radius)
        if not 0 < real(PriorError, "probability", self.probability) <= 1:
            raise PriorError(
                "probability",
                self.probability,
                "is not a probability of what can be",
                "give a number above 0 and at most 1",
            )
        low, high = ordered(PriorError, "low, high", self.low, self.high)
        vars(self).update(radius=radius, low=low, high=high)

    def __repr__(self) -> str:
        return f"partly_known(radius={self.radius:g}, probability={self.probability:g}, {self.low:g}, {self.high:g})"

    name = "partly_known"
    support = Unknown.support

    def stretched(self, factor: float) -> None:
        """Nothing is known that could be wider or narrower."""


Prior = LinePrior | Finite | Unknown | PartlyKnown


def read_half(text: str) -> Pair | None:
    """The two numbers of "half of people lie between 10 and 30"; None for other words.

    >>> read_half("half between 10 and 30"), read_half("unknown")
    ((10.0, 30.0), None)
    """
    found = _HALF.match(" ".join(text.split()))
    if found is None:
        return None
    remedy = 'say "half between 10 and 30"'
    try:
        low, high = (float(end) for end in found.groups())
    except ValueError:
        raise PriorError("prior", text, "does not name two numbers", remedy) from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise PriorError("prior", text, "the first number must be below the second", remedy)
    return low, high


def function(make: Callable[P, R]) -> Callable[P, R]:
    """Return a function that makes a value of a class."""

    @functools.wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> R:
        return make(*args, **kwargs)

    return made


normal = function(Normal)
uniform = function(Uniform)
exponential = function(ExponentialPrior)
laplace = function(LaplacePrior)
lognormal = function(LogNormal)
gamma = function(Gamma)
beta = function(Beta)
student_t = function(StudentT)
histogram = function(Histogram)
partly_known = function(PartlyKnown)
empirical, categorical = Finite.sample, Finite.of


def half_between(low: float, high: float) -> Normal:
    """A normal prior of which half lies between two numbers, a quarter on each side.

    >>> half_between(10, 30)
    normal(mean=20, sd=14.826)
    """
    low, high = ordered(PriorError, "prior", low, high)
    return Normal((low + high) / 2, (high - low) / (2 * QUARTILE))


def mixture(*parts: tuple[float, LinePrior]) -> Mixture:
    """Several priors, each as (weight, prior); the weights sum to one.

    >>> mixture((0.7, normal(20, 5)), (0.3, uniform(0, 60))).mass(0, 60).round(3)
    np.float64(1.0)
    """
    try:
        shares, priors = zip(*parts, strict=True)
    except (TypeError, ValueError):
        raise PriorError(
            "mixture",
            parts,
            "is not a list of (weight, prior)",
            "write (0.7, normal(20, 5)), …",
        ) from None
    return Mixture(priors, shares)


def truncated(prior: LinePrior, low: float, high: float) -> LinePrior:
    """A prior of which only the part between low and high can be."""
    if not isinstance(prior, LinePrior):
        raise PriorError(
            "truncated", prior, "is not a prior with a density", "truncate densities only"
        )
    return prior.given(low, high)


def unknown(
    low: float | None = None,
    high: float | None = None,
    *,
    values: Iterable[Hashable] | None = None,
) -> Unknown:
    """Nothing is known but the range; of categories nothing but the values that can occur."""
    if values is None:
        return Unknown(low, high)  # pyright: ignore[reportArgumentType] - a missing end is refused there
    listed = tuple(values)
    if low is not None or high is not None:
        raise PriorError(
            "values", list(listed), "stand beside a range", "give a range, or values"
        )
    if all(map(is_number, listed)) and listed:
        raise PriorError(
            "values", list(listed), "are numbers", "give their range, as unknown(0, 120)"
        )
    if len(set(listed)) < max(2, len(listed)):
        raise PriorError(
            "values", list(listed), "are not different values", "name two or more, each once"
        )
    return Unknown(0, len(listed) - 1, listed)


def from_scipy(distribution: Any) -> LinePrior | Finite:
    """Any frozen distribution of scipy.stats, continuous (by quadrature) or discrete (by its atoms)."""
    if not hasattr(distribution, "dist") or not hasattr(distribution, "ppf"):
        raise PriorError(
            "from_scipy",
            distribution,
            "is not a frozen distribution",
            "give for instance scipy.stats.gamma(3)",
        )
    if hasattr(distribution, "pmf"):
        return _atoms(distribution)
    return FrozenScipy(distribution)


def _atoms(distribution: Any) -> Finite:
    """A discrete distribution as a table of all that exists in floating point."""
    support, median = np.array(distribution.support()), distribution.ppf(0.5)
    ends = np.clip(support, median - MOST_VALUES, median + MOST_VALUES)
    points = np.arange(ends[0], ends[1] + 1)
    found = distribution.pmf(points)
    if np.any((ends != support) & (found[[0, -1]] > 0)):
        raise PriorError(
            "from_scipy",
            distribution,
            "has too many values",
            "give a histogram or an empirical prior",
        )
    mass = weights("weights", found)
    return Finite(tuple(points[mass > 0].tolist()), tuple(mass[mass > 0].tolist()))
