"""The ways of writing a risk profile r*(p, q), and the infimum of the ε that each allows.

Two facts about the ε that a ratio allows at (p, q): for a fixed ratio it rises with q and is monotone in p ([KR] Lemma
4): 1/r = pq + p(1−q)x² + (1−p)x with x = e^{−ε} rises with q and is linear in p. For a fixed posterior it falls in both
([KR] Lemma 3). So for boxes and fixed priors a few candidates decide, at any two distances of change and presence. Of
functions and points, the least ratio of a cell of priors, with the smallest q and either end of p, bounds the ε of the
whole cell from below. Cells whose bound is not close to the least ε seen are divided; whatever is left at the end
counts with its bound, so the answer is never above the infimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise, product
from typing import Any, Literal

import numpy as np

from guessproof.errors import InfeasibleError, NotCertifiedError, ParameterError
from guessproof.risk.profile.formulas import (
    ROUNDING,
    ULP,
    Span,
    implied_epsilon,
    number,
)
from guessproof.world.checks import Array

Status = Literal["exact", "proven"]
Direction = Literal["falling", "rising"]

SOURCES = {
    None: "(12)",
    "p": "(14)",
    "q": "(16) corrected",
}  # without its cases, ∞ where vacuous
NUDGE = 4 * ULP  # relative: a computed prior or ratio is moved so far to the private side
TOLERANCE = 1e-7  # of ε, relative and absolute: far below what anybody states a ratio to
ROUNDS = 90  # halvings of both axes: 2^-90 is below every prior that a table of priors holds
MOST_CELLS = (
    100_000  # open ones, where the search ends: a function is then called half a million times
)
NEAR_ZERO = 1e-13  # a prior that stands for the limit at 0
AT_LIMIT = 1e-6  # a binding prior below this, in a region that reaches to 0, is the limit at 0
CERTAIN = (
    1e-8  # 1 − r·pq below this: rounding of a function would decide whether anything binds
)
GRID = 25  # points an axis where a statement about a function is checked
SLACK = 1e-9  # of ln r*, by which neighbouring points may contradict a statement: rounding of the function


@dataclass(frozen=True)
class Binding:
    """The pair of priors that decides a profile's ε. A prior of 0 is a limit that is approached."""

    p: float
    q: float
    ratio: float
    """The posterior-to-prior ratio allowed there."""
    epsilon: float
    """The ε allowed there, never below the profile's own."""

    @property
    def prior(self) -> float:
        """Prior probability of the disclosure, pq."""
        return self.p * self.q

    @property
    def posterior(self) -> float:
        """Posterior probability allowed there."""
        return min(1.0, self.prior * self.ratio)


@dataclass(frozen=True)
class ProfileAnswer:
    """The infimum of the ε that a profile allows, from below."""

    epsilon: float
    """At most the true infimum; ∞ where the profile never binds."""
    status: Status
    """exact: a closed form, short of the infimum by rounding only. proven: a certificate covers the whole region."""
    how: str
    binding: Binding | None
    """None where nothing binds."""

    @property
    def gap(self) -> float:
        """How far the infimum can lie above ``epsilon``, judged by the best point seen."""
        return 0.0 if self.binding is None else max(0.0, self.binding.epsilon - self.epsilon)


@dataclass(frozen=True)
class Shape:
    """One way of writing r*(p, q) for p and q in ranges; nothing is promised outside of them."""

    p: Span
    q: Span
    text: str
    """The call that makes this profile."""
    plain: dict[str, Any] = field(compare=False)
    """The same as plain values for JSON."""

    @property
    def candidates(self) -> list[Binding]:
        """The priors at which a closed form can bind, at any distances; none for points and functions."""
        return []

    def allowed(self, p: Array, q: Array) -> Array:
        """r*(p, q) for two arrays of one shape, ∞ where nothing is promised."""
        low, high = np.transpose([self.p, self.q])
        priors = np.stack([p, q], axis=-1)
        inside = np.all(
            (priors >= low * (1 - ROUNDING)) & (priors <= high * (1 + ROUNDING)), axis=-1
        )
        result = np.full(p.shape, np.inf)
        if np.any(inside):
            result[inside] = self._ratio(p[inside], q[inside])
        return result

    def _ratio(self, p: Array, q: Array) -> Array:
        """r*(p, q) in the region."""
        raise NotImplementedError

    def _least(self, cells: Array) -> tuple[Array, Array]:
        """The least ratio in each cell of priors, from below, and (p, q, ratio) at a point of each."""
        raise NotImplementedError

    def solve(self) -> ProfileAnswer:
        """The infimum of the ε over the region."""
        raise NotImplementedError

    def _searched(self, region: list[tuple[float, ...]], how: str) -> ProfileAnswer:
        """A lower bound on the ε allowed in cells (p₀, p₁, q₀, q₁) of priors, with the lowest point that was seen."""
        best, floor, lower = (
            np.array([math.nan, math.nan, math.inf, math.inf]),
            math.inf,
            np.zeros(1),
        )
        cells = np.array(region).T
        for _ in range(ROUNDS):
            ratio, point = self._least(cells)
            lower = np.minimum(*(implied_epsilon(p, cells[2], ratio) for p in cells[:2]))
            seen = np.array([*point, implied_epsilon(*point)])
            best = min(best, seen[:, np.argmin(seen[3])], key=lambda column: column[3])
            is_open = lower < best[3] * (1 - TOLERANCE) - TOLERANCE
            if not 0 < np.sum(is_open) <= MOST_CELLS:
                break
            floor = min(floor, np.min(lower[~is_open], initial=math.inf))
            cells = _halved(cells[:, is_open])
        *at, ratio, highest = best.tolist()
        epsilon = float(min(floor, np.min(lower), highest))
        if math.isinf(epsilon):
            return ProfileAnswer(epsilon, "proven", how, None)
        if math.isinf(highest):
            raise NotCertifiedError(
                f"{self.text} is so near to certainty that rounding decides whether it binds: no ε is known "
                "to keep it; leave these priors out of the region, or allow less there"
            )
        # Priors that were followed down to 0 are the limit there.
        is_limit = (np.array(at) < AT_LIMIT) & (np.array([self.p[0], self.q[0]]) == 0)
        p, q = np.where(is_limit, 0.0, at).tolist()
        return ProfileAnswer(epsilon, "proven", how, Binding(p, q, ratio, highest))


def _halved(cells: Array) -> Array:
    """Halve each cell along each axis that has a width."""
    for first in (0, 2):
        low, high = cells[first : first + 2]
        middle = low + (high - low) / 2
        is_wide = (low < middle) & (middle < high)
        upper = cells[:, is_wide]
        upper[first] = cells[first + 1, is_wide] = middle[is_wide]
        cells = np.append(cells, upper, axis=1)
    return cells


@dataclass(frozen=True)
class ProfileLimits(Shape):
    """r* = max(absolute/pq, relative): on a box without the former, [KR] (11), or with p, (13), or q, (15), fixed."""

    relative: float | None
    absolute: float | None = None
    fixed: Literal["p", "q"] | None = None

    @property
    def at(self) -> float:
        """The fixed prior; of a box the largest pq."""
        return self.p[1] * self.q[1]

    def _ratio(self, p: Array, q: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.fmax((self.absolute or 0.0) / (p * q), self.relative or 1.0)

    @property
    def candidates(self) -> list[Binding]:
        """The corners, and where the two limits meet: (12), (14), and (16) with (54) corrected.

        For one ratio ε and the risk are monotone in p and in q, for one posterior they are so too. Comparing the
        priors ã/r̃ and p̃, not the ratios ã/p̃ and r̃, keeps the answer continuous where the two meet up to rounding,
        as they do for the second agency of [KR] Table 4.
        """
        places = list(product(reversed(self.p), self.q))
        if self.fixed:
            meeting = (self.absolute or 0.0) / (self.relative or 1.0) / self.at
            around = (min(meeting * (1 + step), 1.0) for step in (-NUDGE, NUDGE))
            places += [
                (self.at, prior) if self.fixed == "p" else (prior, self.at) for prior in around
            ]
        p, q = np.transpose(places)
        ratio = np.maximum(self._ratio(p, q) * (1 - NUDGE), self.relative or 1.0)
        return [
            Binding(*row)
            for row in np.transpose([p, q, ratio, implied_epsilon(p, q, ratio)]).tolist()
        ]

    def solve(self) -> ProfileAnswer:
        """The least of a few candidates."""
        least = min(self.candidates, key=lambda binding: binding.epsilon)
        how = f"closed form, Kazan & Reiter {SOURCES[self.fixed]}"
        return ProfileAnswer(
            least.epsilon, "exact", how, None if math.isinf(least.epsilon) else least
        )


@dataclass(frozen=True)
class Stricter(Shape):
    """Several profiles that must all hold: at each (p, q) the smallest of their ratios.

    ε rises with the ratio, so the infimum of the smallest ratio is the smallest of the infima.
    """

    parts: tuple[Shape, ...]

    @property
    def candidates(self) -> list[Binding]:
        lists = [part.candidates for part in self.parts]
        return list(chain.from_iterable(lists)) if all(lists) else []

    def _ratio(self, p: Array, q: Array) -> Array:
        return np.minimum.reduce([part.allowed(p, q) for part in self.parts])

    def solve(self) -> ProfileAnswer:
        """The smaller ε, as trustworthy as the weakest."""
        answers = [part.solve() for part in self.parts]
        least = min(answers, key=lambda answer: answer.epsilon)
        status = "exact" if self.candidates else "proven"
        return replace(
            least,
            status=status,
            how="; and ".join(dict.fromkeys(answer.how for answer in answers)),
        )


@dataclass(frozen=True)
class Custom(Shape):
    """Any function of p and q, ∞ where it promises nothing.

    Points alone prove nothing: what is stated of the function between them is taken on the caller's word.
    """

    function: Callable[[Any, Any], Any]
    lipschitz: tuple[float, ...] | None
    monotone: tuple[Direction, Direction] | None

    def _ratio(self, p: Array, q: Array) -> Array:
        """r* at each point, in calls with numbers; a prior of 0 stands for its limit."""
        p, q = np.maximum(p, NEAR_ZERO), np.maximum(q, NEAR_ZERO)
        with np.errstate(all="ignore"):
            ratio = np.array([self._one(*point) for point in np.transpose([p, q]).tolist()])
        lowest = int(np.argmax(~(ratio >= 1 - ROUNDING)))
        value, where = ratio[lowest], f"at p={p[lowest]:.6g}, q={q[lowest]:.6g}"
        if not value >= 0:
            raise ParameterError(
                "function",
                float(value),
                f"is not a ratio, {where}",
                "return a ratio of at least 1",
            )
        if value < 1 - ROUNDING:
            raise InfeasibleError(
                f"function: allows a posterior below the prior {where} (got {value:.6g}); "
                "no release can promise that, return a ratio of at least 1"
            )
        return ratio

    def _one(self, p: float, q: float) -> float:
        try:
            value = self.function(p, q)
        except Exception as error:
            problem = f"raised {type(error).__name__}: {error}"
            raise ParameterError(
                "function", (p, q), problem, "let it return a ratio for every p and q"
            ) from error
        return number("function", value, infinite=True)

    def solve(self) -> ProfileAnswer:
        """The bound of the search, after a look at a grid for what contradicts the statements."""
        axes = [
            np.linspace(max(low, NEAR_ZERO), high, GRID if low < high else 1)
            for low, high in (self.p, self.q)
        ]
        p, q = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
        ratio = self._ratio(p, q)
        if self.lipschitz is None and self.monotone is None:
            epsilon = implied_epsilon(p, q, _clear(p, q, ratio))
            lowest = int(np.argmin(epsilon))
            raise NotCertifiedError(
                f"{self.text} is known at points only: the smallest ε seen is {epsilon[lowest]:.6g} at "
                f"p={p[lowest]:.6g}, q={q[lowest]:.6g}, and between the points it may allow less; state how fast ln r* "
                "changes with lipschitz=…, or that r* is 'falling' or 'rising' in p and in q with monotone=…"
            )
        with np.errstate(all="ignore"):
            log_ratio = np.log(ratio).reshape([axis.size for axis in axes])
            for i, axis in enumerate(axes):
                self._check_statements(
                    i, np.nan_to_num(np.diff(log_ratio, axis=i)), np.diff(axis)
                )
        how = "direction of r*" if self.lipschitz is None else "slope of ln r*"
        return self._searched([(*self.p, *self.q)], f"branch and bound with the stated {how}")

    def _check_statements(self, i: int, step: Array, widths: Array) -> None:
        """Refuse a statement that two neighbours on an axis of the grid contradict."""
        along = f"along {'pq'[i]} between points of a grid"
        widths = widths[:, None] if i == 0 else widths
        if self.lipschitz is not None and np.any(
            np.abs(step) > self.lipschitz[i] * widths + SLACK
        ):
            problem = f"ln r* changes faster {along}"
            raise ParameterError("lipschitz", self.lipschitz, problem, "state a larger bound")
        if self.monotone is not None and np.any(
            (step if self.monotone[i] == "falling" else -step) > SLACK
        ):
            problem = f"r* goes the other way {along}"
            raise ParameterError(
                "monotone", self.monotone, problem, "state lipschitz=… instead"
            )

    def _least(self, cells: Array) -> tuple[Array, Array]:
        """The ratio at the middle less what a slope can take away, or at the corner where a direction leads."""
        low, high = cells[::2], cells[1::2]
        if self.lipschitz is not None:
            p, q = low + (high - low) / 2
            away = np.array(self.lipschitz) @ (high - low) / 2
        else:
            p, q = np.where(np.array([self.monotone]).T == "falling", high, low)
            away = 0.0
        ratio = self._ratio(p, q)
        return ratio * np.exp(-away) * (1 - ROUNDING), np.array([p, q, _clear(p, q, ratio)])


def _clear(p: Array, q: Array, ratio: Array) -> Array:
    """The ratio, ∞ where it is so near to certainty that rounding of the function would decide."""
    with np.errstate(invalid="ignore"):
        return np.where(1 - ratio * p * q > CERTAIN, ratio, np.inf)


@dataclass(frozen=True)
class PointProfile(Shape):
    """Allowed posterior-to-prior ratios at some prior probabilities π = pq of the disclosure.

    An attacker with prior π may end with at most r·π. Between two points whose ratios fall, the ratio follows the
    straight line on logarithmic axes, so that equal steps of prior odds cost equal steps of ratio; of the four ways to
    join two points (either axis linear or logarithmic) it is the strictest. Where ratios rise, the lower one holds up
    to the next point; below the first and above the last, the nearest: nothing is allowed that was not written down.
    """

    points: tuple[tuple[float, float], ...]

    def _ratio(self, p: Array, q: Array) -> Array:
        at, ratio = np.log(self.points).T
        place = np.log(np.maximum(p * q, self.points[0][0]))
        slopes = np.append(np.minimum(np.diff(ratio), 0.0) / np.diff(at), 0.0)
        last = np.searchsorted(at, place, side="right") - 1
        return np.exp(ratio[last] + slopes[last] * (place - at[last]))

    def solve(self) -> ProfileAnswer:
        """For a given prior and ratio ε falls in p, so only p = p₁ and, for smaller priors, q = q₀ matter."""
        (p0, p1), (q0, q1) = self.p, self.q
        edges = [(p1, p1, q0, q1), (p0, p1, q0, q0)]
        return self._searched(edges, "branch and bound along the edges of the region")

    def _least(self, cells: Array) -> tuple[Array, Array]:
        low, high = cells[::2], cells[1::2]
        ratio = least = self._ratio(*high)
        for (_, before), (at, _) in pairwise(
            self.points
        ):  # just below a point where the ratio rises
            is_passed = (low[0] * low[1] < at) & (at <= high[0] * high[1])
            least = np.where(is_passed, np.minimum(least, before), least)
        return least * (1 - ROUNDING / 4), np.array([*high, ratio])
