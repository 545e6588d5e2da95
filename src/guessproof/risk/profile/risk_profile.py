"""A risk profile: the posterior-to-prior ratio that a data holder accepts, and the ε that keeps it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from guessproof.errors import ParameterError
from guessproof.risk.limits import largest_epsilon
from guessproof.risk.profile.formulas import (
    EVERYTHING,
    NO_PRESENCE,
    ROUNDING,
    ULP,
    Span,
    at_least_one,
    implied_epsilon,
    number,
    pair,
    plain,
    probability,
    span,
    together,
)
from guessproof.risk.profile.shapes import (
    Binding,
    Custom,
    Direction,
    PointProfile,
    ProfileAnswer,
    ProfileLimits,
    Shape,
    Status,
    Stricter,
)
from guessproof.world.checks import Array

SAME = 1e-9  # relative: priors as close are one
SLACK = 1e-15  # of 1 − 1/ratio: rounding counts as risk
MOST_RELEASES = 10**6  # a tuple of more would not fit in anybody's plan


@dataclass(frozen=True, repr=False)
class RiskProfile:
    """r*(p, q): how far a release may raise an attacker's probability of a disclosure, relatively.

    p is the attacker's prior probability that a person is in the data, q that the person's value lies in
    the set to be protected, given that. The ε of a profile is the infimum over its region of the ε that
    each (p, q) allows ([KR] (17)); ``epsilon()`` is never above it.

    >>> round(RiskProfile.constant(3).epsilon(), 6)  # ½ ln 3
    0.549306
    >>> round(RiskProfile.fixed_value(q=1, absolute=0.25, relative=3).epsilon(), 2)  # [KR] Table 3
    1.3
    >>> profile = RiskProfile.points([(0.001, 10), (0.4, 1.2)])
    >>> round(profile.epsilon(), 4), profile.status
    (0.1627, 'proven')
    """

    shape: Shape

    @classmethod
    def constant(cls, relative: float) -> RiskProfile:
        """One ratio for every attacker, [KR] (10): ε = ½ ln r, the naive choice.

        >>> RiskProfile.constant(3)
        RiskProfile.constant(3)
        """
        return cls.box(relative)

    @classmethod
    def box(cls, relative: float, p: Any = EVERYTHING, q: Any = EVERYTHING) -> RiskProfile:
        """One ratio for attackers with p and q in given ranges, [KR] (11) and (12).

        >>> round(RiskProfile.box(3, p=(0, 0.2), q=(0.1, 1)).epsilon(), 6)
        1.015679
        >>> RiskProfile.box(3, p=(0.5, 1), q=(0.8, 1)).epsilon()  # 3 × 0.4 is above certainty
        inf
        """
        p, q, words, region = _region(p, q)
        ratio = at_least_one("relative", relative)
        kind = "box" if words else "constant"
        plain = {"kind": kind, "relative": finite(ratio)} | region
        text = f"RiskProfile.{kind}({ratio:g}{words})"
        return cls(ProfileLimits(p, q, text, plain, ratio))

    @classmethod
    def fixed_inclusion(
        cls, p: float, absolute: float | None = None, relative: float | None = None
    ) -> RiskProfile:
        """Attackers with one p and any q: a limit on the posterior or on the ratio, [KR] (13).

        Whichever of the two allows more applies; with one of them alone, that one.

        >>> [round(RiskProfile.fixed_inclusion(p=0.05, absolute=a, relative=3).epsilon(), 2)
        ...  for a in (0.025, 0.15, 0.3)]  # [KR] Table 4
        [1.09, 1.21, 2.1]
        """
        return cls._fixed("p", p, absolute, relative)

    @classmethod
    def fixed_value(
        cls, q: float, absolute: float | None = None, relative: float | None = None
    ) -> RiskProfile:
        """Attackers with one q and any p: a limit on the posterior or on the ratio, [KR] (15).

        >>> [round(RiskProfile.fixed_value(q=1, absolute=0.25, relative=r).epsilon(), 2)
        ...  for r in (1.5, 3, 6)]  # [KR] Table 3
        [0.51, 1.3, 2.04]
        """
        return cls._fixed("q", q, absolute, relative)

    @classmethod
    def _fixed(
        cls, fixed: Literal["p", "q"], prior: Any, absolute: Any, relative: Any
    ) -> RiskProfile:
        """Limits at one prior: at least one, and none that a prior in the profile exceeds already."""
        at = probability(fixed, prior, zero=False)
        posterior = None if absolute is None else probability("absolute", absolute)
        ratio = None if relative is None else at_least_one("relative", relative)
        if ratio is None and posterior is None:
            remedy = "give absolute, relative or both"
            raise ParameterError("absolute", None, "no limit is given", remedy)
        if posterior is not None and ratio is None and posterior < at * (1 - ROUNDING):
            problem = f"priors up to {at:g} are in the profile and are above it already"
            remedy = f"allow at least {at:g}, or give relative as well"
            raise ParameterError("absolute", absolute, problem, remedy)
        p, q = ((at, at), EVERYTHING) if fixed == "p" else (EVERYTHING, (at, at))
        kind = "fixed_inclusion" if fixed == "p" else "fixed_value"
        limits = {fixed: at, "absolute": posterior, "relative": ratio}
        given = {name: value for name, value in limits.items() if value is not None}
        text = ", ".join(f"{name}={value:g}" for name, value in given.items())
        plain = {"kind": kind} | {name: finite(value) for name, value in given.items()}
        return cls(
            ProfileLimits(p, q, f"RiskProfile.{kind}({text})", plain, ratio, posterior, fixed)
        )

    @classmethod
    def custom(
        cls,
        function: Callable[[Any, Any], Any],
        p: Any = EVERYTHING,
        q: Any = EVERYTHING,
        lipschitz: float | tuple[float, float] | None = None,
        monotone: Direction | tuple[Direction, Direction] | None = None,
    ) -> RiskProfile:
        """Any function r*(p, q) on a rectangle of priors; return ``math.inf`` where nothing is promised.

        No number of points rules out a dip between two, so something must be stated of the function: by how much ln r*
        changes at most per unit of p and of q (``lipschitz``), or that r* is "falling" or "rising" in p and in q
        (``monotone``; jumps are allowed). One statement holds for both priors, a pair for p and for q. Without either
        there is no ε. ``gap`` bounds the distance from the infimum.

        >>> profile = RiskProfile.custom(lambda p, q: 1.2 + 9 * np.exp(-6 * p * q), monotone="falling")
        >>> round(profile.epsilon(), 5), profile.status, profile.gap < 1e-6
        (0.73311, 'proven', True)
        """
        if not callable(function):
            raise ParameterError(
                "function", function, "cannot be called", "give a function of p and q"
            )
        slopes = directions = None
        if lipschitz is not None:
            slopes = tuple(number("lipschitz", slope) for slope in pair("lipschitz", lipschitz))
            if min(slopes) < 0:
                raise ParameterError(
                    "lipschitz", lipschitz, "is negative", "give bounds of 0 or more"
                )
        if monotone is not None:
            directions = pair("monotone", monotone)
            if any(direction not in ("falling", "rising") for direction in directions):
                raise ParameterError(
                    "monotone", monotone, "is no direction", "say 'falling' or 'rising'"
                )
        p, q, words, region = _region(p, q)
        name = getattr(function, "__name__", type(function).__name__)
        stated = {"lipschitz": slopes, "monotone": directions}
        plain = {"kind": "custom", "function": name} | region
        plain |= {key: value and list(value) for key, value in stated.items()}
        shown = "function" if name == "<lambda>" else name
        text = f"RiskProfile.custom({shown}{words})"
        return cls(Custom(p, q, text, plain, function, slopes, directions))

    @classmethod
    def points(
        cls, points: Iterable[Sequence[float]], p: Any = EVERYTHING, q: Any = EVERYTHING
    ) -> RiskProfile:
        """Pairs (prior, ratio): an attacker with prior pq may end with at most ratio times that.

        Between two points the ratio falls along a straight line on logarithmic axes, the strictest of the
        usual ways to join them; where ratios rise, the lower one holds up to the next point; outside, the
        nearest ratio holds.

        >>> profile = RiskProfile.points([(0.001, 10), (0.4, 1.2)])
        >>> round(profile.allowed(0.02, 1.0), 3)  # half way, on logarithmic axes
        3.464
        """
        try:
            pairs = [(prior, ratio) for prior, ratio in points]
        except (TypeError, ValueError):
            pairs = []
        if not pairs:
            raise ParameterError(
                "points", points, "is not a list of pairs", "give [(prior, ratio), …]"
            )
        result = sorted(
            (
                probability("prior", prior, zero=False),
                at_least_one("ratio", number("ratio", ratio)),
            )
            for prior, ratio in pairs
        )
        if any(high[0] <= low[0] * (1 + SAME) for low, high in pairwise(result)):
            raise ParameterError(
                "points", points, "one prior has two ratios", "keep the smaller of the two"
            )
        p, q, words, region = _region(p, q)
        pairs = ", ".join(f"({prior:g}, {ratio:g})" for prior, ratio in result)
        plain = {"kind": "points", "points": [list(point) for point in result]} | region
        text = f"RiskProfile.points([{pairs}]{words})"
        return cls(PointProfile(p, q, text, plain, tuple(result)))

    @cached_property
    def answer(self) -> ProfileAnswer:
        """ε, how it is known, and where it binds; computed once."""
        return self.shape.solve()

    def epsilon(self, *, bounded: bool = False) -> float:
        """The largest ε for adding or removing one record that keeps the profile; never above the infimum.

        With ``bounded`` ε counts the change of a record, whose presence the attacker must then know: twice
        as much, for profiles with p = 1 only.

        >>> round(RiskProfile.box(2, p=1, q=0.25).epsilon(bounded=True), 6)  # ln 3, as 1/(1/4 + 3/4/3) = 2
        1.098612
        """
        if not bounded:
            return self.answer.epsilon
        if self.shape.p[0] < 1:
            raise ParameterError("p", self.shape.p, NO_PRESENCE, "limit the profile to p = 1")
        return 2 * self.answer.epsilon

    @property
    def status(self) -> Status:
        """exact or proven: see ``ProfileAnswer``."""
        return self.answer.status

    @property
    def how(self) -> str:
        """The method behind ``epsilon()``, in words."""
        return self.answer.how

    @property
    def gap(self) -> float:
        """The most that ``epsilon()`` falls short of the infimum, but for rounding."""
        return self.answer.gap

    def binding(self) -> Binding | None:
        """The priors that decide ε with the ratio allowed there; None if nothing binds.

        >>> at = RiskProfile.fixed_value(q=1, absolute=0.25, relative=3).binding()
        >>> round(at.p, 4), at.q, round(at.ratio, 4)  # where 0.25/p falls to 3
        (0.0833, 1.0, 3.0)
        """
        return self.answer.binding

    def allowed(self, p: Any, q: Any) -> Any:
        """r*(p, q); ∞ where the profile promises nothing."""
        p, q = together(p=(p, 0, 1), q=(q, 0, 1))
        return plain(self.shape.allowed(p, q))

    def implied(self, p: Any, q: Any) -> Any:
        """The ε that the profile allows for attackers with one (p, q).

        >>> round(RiskProfile.constant(3).implied(p=1.0, q=0.25), 6)  # ½ ln((1-q)/(1/3-q))
        1.098612
        """
        p, q = together(p=(p, 0, 1), q=(q, 0, 1))
        return plain(implied_epsilon(p, q, self.shape.allowed(p, q)))

    def stricter(self, other: RiskProfile) -> RiskProfile:
        """The profile that keeps both: at each (p, q) the smaller ratio. Also written ``a & b``.

        >>> both = RiskProfile.constant(6) & RiskProfile.box(2, p=(0.9, 1), q=(0.1, 1))
        >>> round(both.epsilon(), 6), both.binding().ratio
        (0.405465, 2.0)
        """
        if not isinstance(other, RiskProfile):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ParameterError(
                "other", other, "is not a risk profile", "combine two risk profiles"
            )
        parts = [
            part
            for shape in (self.shape, other.shape)
            for part in getattr(shape, "parts", (shape,))
        ]
        ends = [end for part in parts for end in part.p]
        text = " & ".join(part.text for part in parts)
        plain = {"kind": "stricter", "of": [part.plain for part in parts]}
        both = Stricter((min(ends), max(ends)), EVERYTHING, text, plain, tuple(parts))
        return RiskProfile(both)

    __and__ = stricter

    def releases(self, releases: int | Iterable[float]) -> Releases:
        """Several releases under one profile: a number of equal ones, or the ε of each.

        >>> plan = RiskProfile.constant(3).releases(4)
        >>> [round(e, 4) for e in plan.epsilons], plan.kept
        ([0.1373, 0.1373, 0.1373, 0.1373], True)
        >>> RiskProfile.constant(3).releases([0.3, 0.3]).kept
        False
        """
        limit = self.epsilon()
        if isinstance(releases, (int, np.integer)) and not isinstance(releases, bool):
            if not 1 <= releases <= MOST_RELEASES:
                raise ParameterError(
                    "releases",
                    releases,
                    "is not a number of releases",
                    f"give 1 to {MOST_RELEASES}",
                )
            return Releases((limit / int(releases) * (1 - 8 * ULP),) * int(releases), limit)
        values: Any = releases if np.ndim(releases) else [releases]  # pyright: ignore[reportArgumentType]
        spent = tuple(number("releases", value, infinite=True) for value in values)
        if any(value < 0 for value in spent):
            raise ParameterError(
                "releases",
                releases,
                "holds a negative ε",
                "give an ε of 0 or more for each release",
            )
        return Releases(spent, limit)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with None for ∞: an ε of None is a profile that never binds.

        >>> RiskProfile.box(2, p=(0.5, 1), q=1).to_dict()["epsilon"] is None
        True
        """
        answer = asdict(self.answer) | {"epsilon": finite(self.epsilon())}
        return (
            self.shape.plain | answer | {"binds": self.binding() is not None, "gap": self.gap}
        )

    def __repr__(self) -> str:
        return self.shape.text


def _region(p: Any, q: Any) -> tuple[Span, Span, str, dict[str, Any]]:
    """Ranges of both priors, in words (none for all priors) and for JSON."""
    p, q = span("p", p), span("q", q)
    words = ", p=({:g}, {:g}), q=({:g}, {:g})".format(*p, *q)
    return p, q, "" if p == q == EVERYTHING else words, {"p": list(p), "q": list(q)}


def finite(value: float) -> float | None:
    """Return the number for JSON, which has no ∞."""
    return None if value == math.inf else value


def aware_epsilon(profile: RiskProfile, change: float, presence: float) -> float | None:
    """The largest ε that keeps a profile at these distances per unit of ε; None for profiles given as points or code.

    The generic three-point world puts two values of a present record 2ε apart and each of them ε from absence. A query
    that moves by `change` when a record changes and by `presence` when it comes or goes has the risk
    1/(pq + p(1−q)·X + (1−p)·Y) with X = e^{−change·ε}, Y = e^{−presence·ε}, by the same argument
    ([KR] (5), theory §13).
    For a constant r* the reciprocal is bilinear in p and q: corners decide. Where r* = ã/pq, safe means
    p(1−q)X + (1−p)Y ≥ pq(1/ã − 1): hardest for the largest q, and linear in p with slack at p = 0.

    >>> round(aware_epsilon(RiskProfile.constant(3), change=2.0, presence=1.0), 6)  # the generic world: ½ ln 3
    0.549306
    >>> round(aware_epsilon(RiskProfile.constant(3), change=1.0, presence=1.0), 6)  # a count: ln 3
    1.098612
    """
    candidates = profile.shape.candidates
    if not candidates:
        return None
    p, q, ratio, generic = np.array([astuple(at) for at in candidates]).T

    def risk(epsilon: Array) -> Array:
        return -p * (1 - q) * np.expm1(-change * epsilon) - (1 - p) * np.expm1(
            -presence * epsilon
        )

    limit = np.where(np.isinf(generic), np.inf, np.maximum(1 - 1 / ratio - SLACK, 0.0))
    return float(np.min(largest_epsilon(risk, limit)))


@dataclass(frozen=True)
class Releases:
    """Several releases about the same people. Their metrics add, so in the three worlds their ε add."""

    epsilons: tuple[float, ...]
    limit: float
    """The ε of the profile that they share."""

    @property
    def total(self) -> float:
        """Their sum, rounded up."""
        total = math.fsum(self.epsilons)
        return total if len(self.epsilons) < 2 else math.nextafter(total, math.inf)

    @property
    def remaining(self) -> float:
        """What a further release may still spend; 0 where the limit is reached or passed."""
        if math.isinf(self.limit):
            return self.limit
        return max(0.0, math.nextafter(self.limit - self.total, -math.inf))

    @property
    def kept(self) -> bool:
        """Whether all of them together keep the profile."""
        return self.total <= self.limit
