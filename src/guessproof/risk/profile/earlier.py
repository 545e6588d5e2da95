"""Lee & Clifton's and Wood et al.'s limits as calls: what the published formula says, and what is true beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

import numpy as np

from guessproof.errors import ParameterError
from guessproof.risk.finite import FiniteWorld
from guessproof.risk.limits import largest_epsilon
from guessproof.risk.profile.checks import Array
from guessproof.risk.profile.formulas import ULP
from guessproof.risk.profile.neighbours import (
    Statistic,
    lee_clifton_differences,
    lee_clifton_epsilon,
    statistic_without,
    wood_epsilon,
    wood_posterior,
)

Word = Literal["tight", "sound but loose", "unsound"]
CLOSE = 1e-6  # relative
NOTHING = 1e-9  # an ε or a probability below this is rounding


@dataclass(frozen=True)
class Published:
    """A published limit with its verdict: `value` is what the formula says, `truth` what is so in its setting."""

    what: Literal["epsilon", "posterior"]
    value: float
    truth: float
    """The largest ε that keeps the limit, on the private side; or the largest posterior that can be reached."""
    source: str
    assumes: tuple[str, ...]

    @property
    def factor(self) -> float:
        """How many times too careful the formula is: 1 where it is exact, below 1 where it breaks its promise."""
        above, below = (self.truth, self.value) if self.what == "epsilon" else (self.value, self.truth)
        if above == below or abs(above - below) <= NOTHING:
            return 1.0
        return above / below if below else math.inf

    @property
    def verdict(self) -> Word:
        """Follows from the two numbers alone."""
        if self.factor < 1 - CLOSE:
            return "unsound"
        return "tight" if self.factor <= 1 + CLOSE else "sound but loose"

    def __str__(self) -> str:
        name = "ε" if self.what == "epsilon" else "posterior"
        return f"{name} = {self.value:.6g} (published, {self.verdict}: {self.truth:.6g} is exact); {self.source}"


def lee_clifton(
    population: Iterable[float],
    *,
    posterior: float,
    statistic: Literal["sum", "mean"] | Statistic = "sum",
) -> Published:
    """The ε after which nobody is believed to be the one missing with more than `posterior`.

    The population is public, one of its people is missing from the data, each as likely, and the statistic is
    released with Laplace noise of scale ΔT/ε, [KR] (42) to (44). `statistic` may be any function of a list of numbers.

    >>> print(lee_clifton([1, 2, 3, 4], posterior=1 / 3, statistic="mean"))
    ε = 0.337888 (published, sound but loose: 0.52515 is exact); Lee & Clifton 2011, as [KR] (42) to (44) tell it
    """
    people = list(population) if isinstance(population, Iterable) else population
    differences = lee_clifton_differences(people, statistic)
    without = statistic_without(people, statistic)
    return Published(
        "epsilon",
        lee_clifton_epsilon(len(without), posterior, differences),
        _largest(np.sort(without), differences.removal, float(posterior)),
        "Lee & Clifton 2011, as [KR] (42) to (44) tell it",
        (
            "the population is public, and exactly one of its people is missing, each as likely",
            "the release is the statistic with Laplace noise of scale ΔT/ε",
        ),
    )


def wood(*, absent: float, epsilon: float | None = None, present: float | None = None) -> Published:
    """How far taking part can raise a posterior that would be `absent` without, or the ε that keeps it to `present`.

    >>> print(wood(absent=0.25, epsilon=0.5))
    posterior = 0.475367 (published, tight: 0.475367 is exact); Wood et al. 2018, as [KR] (45) tells it
    >>> print(wood(absent=0.25, present=0.5))
    ε = 0.549306 (published, tight: 0.549306 is exact); Wood et al. 2018, as [KR] (45) tells it
    """
    source = "Wood et al. 2018, as [KR] (45) tells it"
    assumes = ("ε bounds the effect of taking part, so that two values of a participant are two steps apart",)
    if (epsilon is None) == (present is None):
        given = "neither" if epsilon is None else "both"
        raise ParameterError("epsilon, present", given, "one of the two is asked for", "give epsilon or present")
    if present is None:
        value = wood_posterior(absent, epsilon)  # pyright: ignore[reportArgumentType]
        truth = value if value in (0, 1) else _two_steps(absent).posterior([1, 0], epsilon).attack
        return Published("posterior", value, float(np.asarray(truth)), source, assumes)
    value = wood_epsilon(absent, present)
    open_ = 0 < float(absent) < float(present) < 1
    truth = _two_steps(absent).epsilon([1, 0], posterior=present) if open_ else value
    return Published("epsilon", value, float(truth), source, assumes)


def _two_steps(absent: float) -> FiniteWorld:
    return FiniteWorld(prior=[absent, 1 - absent], distance=[[0, 2], [2, 0]])


def _largest(without: Array, removal: float, posterior: float) -> float:
    """The largest ε with max_i 1/Σ_j e^{−ε|Tᵢ−Tⱼ|/ΔT} ≤ posterior: one answer each if one is missing (theory §9).

    The worst release points at the answer without i, and a tent around one point is exact.
    """
    size = len(without)
    if removal == 0:
        return math.inf
    gaps = np.diff(without) / removal

    def gained(epsilon: Array) -> Array:
        return np.vectorize(lambda e: _belief(gaps, float(e)) - 1 / size)(epsilon)

    return float(largest_epsilon(gained, np.asarray(posterior - 1 / size)))


def _belief(gaps: Array, epsilon: float) -> float:
    """The largest belief in one of the points of a line, equally likely before; never below the true one."""
    shrink = np.exp(-epsilon * gaps).tolist()
    step: Callable[[Any, Any], Any] = lambda seen, factor: (seen + 1) * factor  # noqa: E731
    left = np.array(list(accumulate(shrink, step, initial=0.0)))
    right = np.array(list(accumulate(reversed(shrink), step, initial=0.0)))[::-1]
    return min(float(np.max(1 / (1 + left + right))) * (1 + 4 * (len(gaps) + 4) * ULP), 1.0)
