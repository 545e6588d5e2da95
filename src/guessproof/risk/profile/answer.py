"""What a risk profile answers: an ε on the private side, where it binds, and how that is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from guessproof.risk.profile.checks import Array, Span

Status = Literal["exact", "proven"]
_RANK: dict[Status, int] = {"exact": 0, "proven": 1}


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


def stricter(first: ProfileAnswer, second: ProfileAnswer) -> ProfileAnswer:
    """The answer of two profiles that must both hold: the smaller ε, as trustworthy as the weaker."""
    least = min(first, second, key=lambda answer: answer.epsilon)
    status = max(first.status, second.status, key=_RANK.__getitem__)
    how = first.how if first.how == second.how else f"{first.how}; and {second.how}"
    return ProfileAnswer(least.epsilon, status, how, least.binding)


def from_bindings(how: str, candidates: list[Binding]) -> ProfileAnswer:
    """The answer where a closed form leaves a few points to compare."""
    least = min(candidates, key=lambda binding: binding.epsilon)
    unbounded = math.isinf(least.epsilon)
    return ProfileAnswer(least.epsilon, "exact", how, None if unbounded else least)


class Shape(Protocol):
    """One way of writing r*(p, q)."""

    @property
    def inclusion(self) -> Span:
        """The smallest and largest p for which anything is promised."""
        ...

    def allowed(self, p: Array, q: Array) -> Array:
        """r*(p, q), ∞ where nothing is promised."""
        ...

    def solve(self) -> ProfileAnswer: ...

    def describe(self) -> str:
        """The call that makes this profile."""
        ...

    def to_dict(self) -> dict[str, Any]: ...
