"""A risk profile: the posterior-to-prior ratio that a data holder accepts, and the ε that keeps it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from guessproof.errors import ParameterError
from guessproof.risk.profile.answer import Binding, ProfileAnswer, Shape, Status
from guessproof.risk.profile.checks import EVERYTHING, Array, number, plain, together
from guessproof.risk.profile.custom import Custom
from guessproof.risk.profile.formulas import implied_epsilon
from guessproof.risk.profile.points import PointProfile, written
from guessproof.risk.profile.shapes import Box, FixedInclusion, FixedValue, Stricter

_MOST_RELEASES = 1_000_000


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
    (0.1627, 'exact')
    """

    shape: Shape

    @classmethod
    def constant(cls, relative: float) -> RiskProfile:
        """One ratio for every attacker, [KR] (10): ε = ½ ln r, the naive choice.

        >>> RiskProfile.constant(3)
        RiskProfile.constant(3)
        """
        return cls(Box(relative))

    @classmethod
    def box(cls, relative: float, p: Any = EVERYTHING, q: Any = EVERYTHING) -> RiskProfile:
        """One ratio for attackers with p and q in given ranges, [KR] (11) and (12).

        >>> round(RiskProfile.box(3, p=(0, 0.2), q=(0.1, 1)).epsilon(), 6)
        1.015679
        >>> RiskProfile.box(3, p=(0.5, 1), q=(0.8, 1)).epsilon()  # 3 × 0.4 is above certainty
        inf
        """
        return cls(Box(relative, p, q))

    @classmethod
    def fixed_inclusion(cls, p: float, absolute: float | None = None, relative: float | None = None) -> RiskProfile:
        """Attackers with one p and any q: a limit on the posterior or on the ratio, [KR] (13).

        Whichever of the two allows more applies; with one of them alone, that one.

        >>> [round(RiskProfile.fixed_inclusion(p=0.05, absolute=a, relative=3).epsilon(), 2)
        ...  for a in (0.025, 0.15, 0.3)]  # [KR] Table 4
        [1.09, 1.21, 2.1]
        """
        return cls(FixedInclusion(p, absolute, relative))

    @classmethod
    def fixed_value(cls, q: float, absolute: float | None = None, relative: float | None = None) -> RiskProfile:
        """Attackers with one q and any p: a limit on the posterior or on the ratio, [KR] (15).

        >>> [round(RiskProfile.fixed_value(q=1, absolute=0.25, relative=r).epsilon(), 2)
        ...  for r in (1.5, 3, 6)]  # [KR] Table 3
        [0.51, 1.3, 2.04]
        """
        return cls(FixedValue(q, absolute, relative))

    @classmethod
    def custom(
        cls,
        function: Callable[[Any, Any], Any],
        p: Any = EVERYTHING,
        q: Any = EVERYTHING,
        lipschitz: float | tuple[float, float] | None = None,
    ) -> RiskProfile:
        """Any function r*(p, q) on a rectangle of priors; return ``math.inf`` where nothing is promised.

        ``status`` tells what the answer is worth. A formula in p and q (arithmetic, ``if``, ``min``,
        ``max``, numpy's exp, log, sqrt, where, select, clip, interp) is followed over whole cells and
        proven. Anything else (``math.exp``, a table, a loop over records) is proven if you state by how
        much ln r* can change per unit of p and of q (``lipschitz``), and has no ε if you do not: points alone
        prove nothing. Smooth formulas end within 1e-6 of the infimum; ``gap`` bounds the distance.

        >>> profile = RiskProfile.custom(lambda p, q: 1.2 + 9 * np.exp(-6 * p * q))
        >>> round(profile.epsilon(), 5), profile.status, profile.gap < 1e-6
        (0.73311, 'proven', True)
        """
        return cls(Custom(function, p, q, lipschitz))

    @classmethod
    def points(cls, points: Iterable[Sequence[float]], p: Any = EVERYTHING, q: Any = EVERYTHING) -> RiskProfile:
        """Pairs (prior, ratio): an attacker with prior pq may end with at most ratio times that.

        Between two points the ratio falls along a straight line on logarithmic axes, the strictest of the
        usual ways to join them; where ratios rise, the lower one holds up to the next point; outside, the
        nearest ratio holds.

        >>> profile = RiskProfile.points([(0.001, 10), (0.4, 1.2)])
        >>> round(profile.allowed(0.02, 1.0), 3)  # half way, on logarithmic axes
        3.464
        """
        return cls(PointProfile(written(points), p, q))

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
        if self.shape.inclusion[0] < 1:
            raise ParameterError(
                "p",
                self.shape.inclusion,
                "ε that counts changes of a record says nothing about its presence",
                "limit the profile to p = 1",
            )
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

    @overload
    def allowed(self, p: float, q: float) -> float: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def allowed(self, p: ArrayLike, q: ArrayLike) -> Array: ...
    def allowed(self, p: Any, q: Any) -> Any:
        """r*(p, q); ∞ where the profile promises nothing."""
        p, q = together(p=(p, 0, 1), q=(q, 0, 1))
        return plain(np.asarray(self.shape.allowed(p, q)))

    @overload
    def implied(self, p: float, q: float) -> float: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def implied(self, p: ArrayLike, q: ArrayLike) -> Array: ...
    def implied(self, p: Any, q: Any) -> Any:
        """The ε that the profile allows for attackers with one (p, q).

        >>> round(RiskProfile.constant(3).implied(p=1.0, q=0.25), 6)  # ½ ln((1-q)/(1/3-q))
        1.098612
        """
        p, q = together(p=(p, 0, 1), q=(q, 0, 1))
        return plain(np.maximum(implied_epsilon(p, q, np.asarray(self.shape.allowed(p, q))), 0.0))

    def stricter(self, other: RiskProfile) -> RiskProfile:
        """The profile that keeps both: at each (p, q) the smaller ratio. Also written ``a & b``.

        >>> both = RiskProfile.constant(6) & RiskProfile.box(2, p=(0.9, 1), q=(0.1, 1))
        >>> round(both.epsilon(), 6), both.binding().ratio
        (0.405465, 2.0)
        """
        if not isinstance(other, RiskProfile):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ParameterError("other", other, "is not a risk profile", "combine two risk profiles")
        return RiskProfile(Stricter((*self._parts, *other._parts)))

    def __and__(self, other: RiskProfile) -> RiskProfile:
        return self.stricter(other)

    @property
    def _parts(self) -> tuple[Shape, ...]:
        return self.shape.parts if isinstance(self.shape, Stricter) else (self.shape,)

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
            if not 1 <= releases <= _MOST_RELEASES:
                raise ParameterError("releases", releases, "is not a number of releases", f"give 1 to {_MOST_RELEASES}")
            share = limit / int(releases) * (1 - 2.0**-50)
            return Releases((share,) * int(releases), limit)
        return Releases(_spent("releases", releases), limit)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with None for ∞: an ε of None is a profile that never binds.

        >>> RiskProfile.box(2, p=(0.5, 1), q=1).to_dict()["epsilon"] is None
        True
        """
        answer, binding = self.answer, self.answer.binding
        return _without_infinity(
            self.shape.to_dict()
            | {
                "binds": binding is not None,
                "epsilon": answer.epsilon,
                "status": answer.status,
                "how": answer.how,
                "gap": answer.gap,
                "binding": None if binding is None else asdict(binding),
            }
        )

    def __repr__(self) -> str:
        return self.shape.describe()


@dataclass(frozen=True)
class Releases:
    """Several releases about the same people. Their metrics add, so in the three worlds their ε add."""

    epsilons: tuple[float, ...]
    limit: float
    """The ε of the profile that they share."""

    @property
    def total(self) -> float:
        """Their sum, rounded up."""
        return _sum_up(self.epsilons)

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


def remaining(profile: RiskProfile, spent: Iterable[float] | float) -> float:
    """The ε that is left under a profile after releases that have spent some; 0 where none is left.

    >>> round(remaining(RiskProfile.constant(3), [0.2, 0.1]), 6)
    0.249306
    """
    return profile.releases(_spent("spent", spent)).remaining


def _without_infinity(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_infinity(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_infinity(item) for item in value]
    return None if value == math.inf else value


def _spent(field: str, spent: Any) -> tuple[float, ...]:
    if isinstance(spent, (str, bytes)):
        raise ParameterError(field, spent, "is not a list of ε", "give the ε of each release")
    try:
        values = list(spent)
    except TypeError:
        values = [spent]
    checked = tuple(number(field, value, infinite=True) for value in values)
    if any(value < 0 for value in checked):
        raise ParameterError(field, spent, "holds a negative ε", "give an ε of 0 or more for each release")
    return checked


def _sum_up(values: tuple[float, ...]) -> float:
    total = math.fsum(values)
    return total if len(values) < 2 else math.nextafter(total, math.inf)
