"""How to say what the attacker believes before the release."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import numpy as np

from guessproof.errors import PriorError
from guessproof.world.checks import Pair, floats, ordered, positive, quiet, real, weights
from guessproof.world.families import (
    Beta,
    ExponentialPrior,
    FrozenScipy,
    Gamma,
    Histogram,
    LaplacePrior,
    LogNormal,
    Normal,
    StudentT,
    Uniform,
)
from guessproof.world.finite import Finite, is_number
from guessproof.world.line import LinePrior, Mixture


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
P = ParamSpec("P")
R = TypeVar("R")


# Half of a normal distribution lies within this many standard deviations of its mean.
QUARTILE = 0.6744897501960817
MOST_VALUES = 10_000_000  # of a discrete distribution: more do not fit into memory
STEPS = 1.5 ** np.arange(
    43
)  # from its median outwards, until there are too many values between
LEAST_LOG = -700.0  # ln of a probability: smaller ones do not exist in floating point
_HALF = re.compile(r"half\b.*?\bbetween\s+(\S+)\s+and\s+(\S+)\s*\Z", re.IGNORECASE)


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


def _function(make: Callable[P, R]) -> Callable[P, R]:
    """Return a function that makes a value of a class."""

    @functools.wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> R:
        return make(*args, **kwargs)

    return made


normal = _function(Normal)
uniform = _function(Uniform)
exponential = _function(ExponentialPrior)
laplace = _function(LaplacePrior)
lognormal = _function(LogNormal)
gamma = _function(Gamma)
beta = _function(Beta)
student_t = _function(StudentT)
partly_known = _function(PartlyKnown)


def half_between(low: float, high: float) -> Normal:
    """A normal prior of which half lies between two numbers, a quarter on each side.

    >>> half_between(10, 30)
    normal(mean=20, sd=14.826)
    """
    low, high = ordered(PriorError, "prior", low, high)
    return Normal((low + high) / 2, (high - low) / (2 * QUARTILE))


def histogram(edges: Any, weights: Any) -> Histogram:
    """Probability weights[i], summing to one, spread evenly between edges[i] and edges[i+1]."""
    return Histogram(edges, weights)


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


def empirical(values: Any) -> Finite:
    """Each of the given public numbers equally likely."""
    return Finite.sample(values)


def categorical(table: Mapping[Hashable, float]) -> Finite:
    """A table of value → probability."""
    return Finite.of(table)


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
    with quiet():
        if np.isnan(distribution.cdf(0.0)):
            raise PriorError(
                "from_scipy", distribution, "its parameters are out of range", "check them"
            )
    if hasattr(distribution, "pmf"):
        return _atoms(distribution)
    return _known_family(distribution) or FrozenScipy(distribution)


def _known_family(distribution: Any) -> LinePrior | None:
    """A family of ours that scipy knows by another name: its density's turns are known, and it is quicker."""
    known: dict[str, Callable[..., LinePrior | None]] = {
        "beta": lambda a, b, loc, scale: Beta(a, b, loc, loc + scale),
        "t": StudentT,
        "gamma": lambda shape, loc, scale: Gamma(shape, scale) if loc == 0 else None,
        "lognorm": lambda sd_log, loc, scale: LogNormal(scale, sd_log) if loc == 0 else None,
    }
    make = known.get(distribution.dist.name)
    if make is None:
        return None
    shapes, loc, scale = distribution.dist._parse_args(*distribution.args, **distribution.kwds)
    try:
        return make(*shapes, loc, scale)
    except PriorError:
        return None


def _atoms(distribution: Any) -> Finite:
    """A discrete distribution as a table; what lies beyond e^{−700} does not exist in floating point."""
    ends = zip(distribution.support(), (-1, 1), strict=True)
    low, high = (end if np.isfinite(end) else _last(distribution, side) for end, side in ends)
    if high - low > MOST_VALUES:
        raise PriorError(
            "from_scipy",
            distribution,
            "has too many values",
            "give a histogram or an empirical prior",
        )
    points = np.arange(low, high + 1)
    mass = weights("weights", distribution.pmf(points))
    some = mass > 0
    return Finite(tuple(floats(points[some]).tolist()), tuple(mass[some].tolist()))


def _last(distribution: Any, direction: int) -> float:
    places = distribution.ppf(0.5) + direction * np.ceil(STEPS)
    gone = distribution.logpmf(places) <= LEAST_LOG
    return float(places[np.argmax(gone) if gone.any() else -1])
