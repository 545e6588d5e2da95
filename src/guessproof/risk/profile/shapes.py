"""Risk profiles with a closed form: constant, box, and absolute-or-relative limits at a fixed p or q.

Each minimum is found with two facts about the ε that a ratio allows at (p, q): for a fixed ratio it rises
with q and is monotone in p ([KR] Lemma 4); for a fixed posterior it falls in both ([KR] Lemma 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from guessproof.errors import ParameterError
from guessproof.risk.profile.answer import Binding, ProfileAnswer, Shape, from_bindings, stricter
from guessproof.risk.profile.checks import (
    EVERYTHING,
    ROUNDING,
    Array,
    Flags,
    Span,
    at_least_one,
    probability,
    span,
)
from guessproof.risk.profile.formulas import ULP, implied_epsilon, solve

_Crossing = tuple[float, float, float]


@dataclass(frozen=True)
class Box:
    """The ratio may not exceed ``relative`` for p and q in given ranges, [KR] (11); elsewhere no limit."""

    relative: float
    p: Span = EVERYTHING
    q: Span = EVERYTHING

    def __post_init__(self) -> None:
        object.__setattr__(self, "relative", at_least_one("relative", self.relative))
        object.__setattr__(self, "p", span("p", self.p))
        object.__setattr__(self, "q", span("q", self.q))

    @property
    def inclusion(self) -> Span:
        return self.p

    def allowed(self, p: Array, q: Array) -> Array:
        inside = (p >= self.p[0]) & (p <= self.p[1]) & (q >= self.q[0]) & (q <= self.q[1])
        return np.where(inside, self.relative, np.inf)

    def solve(self) -> ProfileAnswer:
        """The smallest q, and whichever end of p allows less: (12) without its cases, ∞ where vacuous."""
        q = self.q[0]
        corners = [_bind(p, q, self.relative) for p in sorted(set(self.p), reverse=True)]
        return from_bindings("closed form, Kazan & Reiter (12)", corners)

    def describe(self) -> str:
        if (self.p, self.q) == (EVERYTHING, EVERYTHING):
            return f"RiskProfile.constant({self.relative:g})"
        return f"RiskProfile.box({self.relative:g}, p={_text(self.p)}, q={_text(self.q)})"

    def to_dict(self) -> dict[str, Any]:
        kind = "constant" if (self.p, self.q) == (EVERYTHING, EVERYTHING) else "box"
        return {"kind": kind, "relative": self.relative, "p": list(self.p), "q": list(self.q)}


@dataclass(frozen=True)
class _FixedPrior:
    """r* = max(absolute/pq, relative) with one of the two priors fixed and the other anything in (0, 1]."""

    at: float
    absolute: float | None = None
    relative: float | None = None

    _fixed = "p"
    _name = "fixed_inclusion"

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", probability(self._fixed, self.at, zero=False))
        if self.absolute is not None:
            object.__setattr__(self, "absolute", probability("absolute", self.absolute))
        if self.relative is not None:
            object.__setattr__(self, "relative", at_least_one("relative", self.relative))
        if self.absolute is None and self.relative is None:
            raise ParameterError("absolute", None, "no limit is given", "give absolute, relative or both")
        if self.relative is None and self._posterior < self.at * (1 - ROUNDING):
            raise ParameterError(
                "absolute",
                self.absolute,
                f"priors up to {self.at:g} are in the profile and are above it already",
                f"allow at least {self.at:g}, or give relative as well",
            )

    @property
    def _posterior(self) -> float:
        return 0.0 if self.absolute is None else self.absolute

    @property
    def _ratio(self) -> float:
        return 1.0 if self.relative is None else self.relative

    @property
    def _crossing(self) -> _Crossing:
        """The prior pq up to which the posterior is limited, and 1/r* and 1 − 1/r* there.

        Comparing the priors ã/r̃ and p̃, not the ratios ã/p̃ and r̃, keeps the answer continuous where
        the two meet up to rounding, as they do for the second agency of [KR] Table 4.
        """
        prior, ratio = self._posterior / self._ratio, self._ratio
        if prior < self.at:
            return prior, 1 / ratio, 1.0 if math.isinf(ratio) else (ratio - 1) / ratio
        return self.at, self.at / self._posterior, (self._posterior - self.at) / self._posterior

    def _limit(self, prior: Array) -> Array:
        with np.errstate(all="ignore"):
            share = np.where(prior > 0, self._posterior / prior, math.inf if self._posterior else 0.0)
        return np.maximum(share, self._ratio)

    def describe(self) -> str:
        limits = {"absolute": self.absolute, "relative": self.relative}
        given = "".join(f", {name}={value:g}" for name, value in limits.items() if value is not None)
        return f"RiskProfile.{self._name}({self._fixed}={self.at:g}{given})"

    def to_dict(self) -> dict[str, Any]:
        given = {"absolute": self.absolute, "relative": self.relative}
        return {"kind": self._name, self._fixed: self.at} | {k: v for k, v in given.items() if v is not None}


@dataclass(frozen=True)
class FixedInclusion(_FixedPrior):
    """For attackers who give probability p to inclusion and any q to the value, [KR] (13)."""

    @property
    def inclusion(self) -> Span:
        return self.at, self.at

    def allowed(self, p: Array, q: Array) -> Array:
        return np.where(_same(p, self.at), self._limit(self.at * q), np.inf)

    def solve(self) -> ProfileAnswer:
        """At the prior where the two limits meet, or at q = 1: (14) without its cases."""
        return from_bindings("closed form, Kazan & Reiter (14)", [self._meeting()])

    def _meeting(self) -> Binding:
        prior, inverse, rise = self._crossing
        room = inverse * (1 - self._posterior)
        epsilon = solve(
            absent=1 - self.at,
            other=self.at - prior,
            room=room,
            rise=rise,
            room_error=6 * ULP * room,
            other_error=2 * ULP * self.at,
        )
        return Binding(self.at, prior / self.at, _inverse(inverse), float(epsilon))


@dataclass(frozen=True)
class FixedValue(_FixedPrior):
    """For attackers who give probability q to the value and any p to inclusion, [KR] (15)."""

    _fixed = "q"
    _name = "fixed_value"

    @property
    def inclusion(self) -> Span:
        return EVERYTHING

    def allowed(self, p: Array, q: Array) -> Array:
        return np.where(_same(q, self.at), self._limit(self.at * p), np.inf)

    def solve(self) -> ProfileAnswer:
        """At the p where the two limits meet or at p = 1, whichever allows less: (16) and (54) corrected."""
        how = "closed form, Kazan & Reiter (16) corrected"
        certain = float(self._limit(np.asarray(self.at)))
        return from_bindings(how, [self._meeting(), _bind(1.0, self.at, certain)])

    def _meeting(self) -> Binding:
        prior, inverse, rise = self._crossing
        p, room = prior / self.at, inverse * (1 - self._posterior)
        epsilon = solve(
            absent=1 - p,
            other=p * (1 - self.at),
            room=room,
            rise=rise,
            room_error=6 * ULP * room,
            absent_error=3 * ULP * p if prior < self.at else 0.0,
        )
        return Binding(p, self.at, _inverse(inverse), float(epsilon))


@dataclass(frozen=True)
class Stricter:
    """Several profiles that must all hold: at each (p, q) the smallest of their ratios.

    ε rises with the ratio, so the infimum of the smallest ratio is the smallest of the infima.
    """

    parts: tuple[Shape, ...]

    @property
    def inclusion(self) -> Span:
        spans = [part.inclusion for part in self.parts]
        return min(low for low, _ in spans), max(high for _, high in spans)

    def allowed(self, p: Array, q: Array) -> Array:
        return np.minimum.reduce([part.allowed(p, q) for part in self.parts])

    def solve(self) -> ProfileAnswer:
        return reduce(stricter, (part.solve() for part in self.parts))

    def describe(self) -> str:
        return " & ".join(part.describe() for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "stricter", "of": [part.to_dict() for part in self.parts]}


def _bind(p: float, q: float, ratio: float) -> Binding:
    return Binding(p, q, ratio, float(implied_epsilon(np.asarray(p), np.asarray(q), np.asarray(ratio))))


def _inverse(value: float) -> float:
    return 1 / value if value else math.inf


def _same(value: Array, fixed: float) -> Flags:
    return np.abs(value - fixed) <= ROUNDING * fixed


def _text(ends: Span) -> str:
    return f"({ends[0]:g}, {ends[1]:g})"
