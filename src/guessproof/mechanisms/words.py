"""The field's other words for the same releases: trade-off curve, TPR at FPR, membership advantage, GDP, zCDP.

All of them are about telling two neighbouring tables apart, with no prior. The trade-off curve f(α) is the least false
negative rate of a test with false positive rate α (f-DP, Dong, Roth & Su 2019); it is the convex dual of δ(ε),
f(α) = sup over ε of max(0, 1 − δ(ε) − e^ε·α, e^{−ε}(1 − δ(ε) − α)), so that any points of δ(ε) bound it from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.errors import GuessproofError, ParameterError
from guessproof.mechanisms.base import Mechanism, checked_nonnegative
from guessproof.mechanisms.gaussian import gdp_delta
from guessproof.world import special

SHOWN = (0.001, 0.01, 0.05, 0.1)  # false positive rates that people look at
POINTS = 600  # of the curve δ(ε)


@dataclass(frozen=True)
class OtherWords:
    """One release, or several: what a test that tells two neighbouring tables apart can reach.

    `pure` is the ε of each release without a δ, `mu` what the Gaussian ones amount to; `curve` is δ(ε) where a single
    mechanism has its own; `paid` is what the pure ones cost together where that is less than their sum.

    >>> from guessproof.mechanisms.gaussian import Gaussian
    >>> from guessproof.mechanisms.laplace import Laplace
    >>> words = other_words([Laplace(1, 1.0)])
    >>> round(words.advantage, 4), round(words.tpr(0.05), 4), words.zcdp
    (0.3935, 0.1359, 0.5)
    >>> round(other_words([Gaussian(1, 1, 1e-5)] * 4).gdp, 4)
    0.5361
    """

    pure: tuple[float, ...] = ()
    mu: float = 0.0
    curve: Callable[[float], float] | None = None
    paid: float = math.inf

    @cached_property
    def epsilon(self) -> float:
        """What the pure releases cost together."""
        return min(math.fsum(self.pure), self.paid)

    @cached_property
    def gdp(self) -> float:
        """The releases are μ-GDP: ε alone is, for μ = 2Φ⁻¹(e^ε/(1+e^ε)), since a convex curve lies below its chords."""
        together, each = gdp_of_epsilon(self.epsilon), math.hypot(0.0, *(gdp_of_epsilon(e) for e in self.pure))
        return math.hypot(self.mu, min(together, each))

    @property
    def zcdp(self) -> float:
        """The releases are ρ-zCDP: μ²/2 for Gaussian noise, ε²/2 for pure releases (Bun & Steinke 2016), added up."""
        return 0.5 * math.fsum([self.mu**2, *(e**2 for e in self.pure)])

    @property
    def advantage(self) -> float:
        """The largest TPR − FPR, as riskcal defines advantage: δ at ε = 0."""
        return min(self._delta(0.0), self._gdp_advantage)

    @property
    def _gdp_advantage(self) -> float:
        return float(2 * special.ndtr(self.gdp / 2) - 1)

    def tradeoff(self, fpr: float) -> float:
        """The least false negative rate at a false positive rate, never above the true one."""
        alpha = float(fpr)
        if not 0 <= alpha <= 1:
            raise ParameterError("fpr", fpr, "is no probability", "give a number from 0 to 1")
        e, delta = self._points
        with np.errstate(over="ignore"):
            rises, falls = 1 - delta - np.exp(e) * alpha, np.exp(-e) * (1 - delta - alpha)
        dual = max(0.0, float(np.max(rises)), float(np.max(falls)))
        return min(max(dual, self._gdp_tradeoff(alpha)), 1 - alpha)

    def tpr(self, fpr: float) -> float:
        """The largest true positive rate at a false positive rate."""
        return 1 - self.tradeoff(fpr)

    def _gdp_tradeoff(self, alpha: float) -> float:
        if alpha in (0.0, 1.0):
            return 1 - alpha
        return float(special.ndtr(-special.ndtri(alpha) - self.gdp)) * (1 - 1e-12)

    def _delta(self, epsilon: float) -> float:
        """δ(ε) of everything together: of a single mechanism its own, else Gaussian noise after the pure part."""
        if self.curve is not None:
            return self.curve(epsilon)
        if self.mu:
            # Below the pure ε: what the whole says as μ-GDP.
            return (
                gdp_delta(self.mu, epsilon - self.epsilon) if epsilon >= self.epsilon else gdp_delta(self.gdp, epsilon)
            )
        if epsilon >= self.epsilon:
            return 0.0
        return -math.expm1(epsilon - self.epsilon) / (1 + math.exp(-self.epsilon))

    @cached_property
    def _points(self) -> tuple[Any, Any]:
        far = self.epsilon + (self.mu * (self.mu / 2 + 8) if self.mu else 0.0)
        points = np.linspace(0.0, max(far, 1e-9), POINTS)
        return points, np.array([self._delta(float(p)) for p in points])

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "advantage": self.advantage,
            "tpr_at_fpr": {f"{fpr:g}": self.tpr(fpr) for fpr in SHOWN},
            "gdp_mu": self.gdp,
            "zcdp_rho": self.zcdp,
        }


def other_words(releases: Sequence[Mechanism]) -> OtherWords:
    """Releases on the same data, in the words of hypothesis testing; each mechanism for its own sensitivity."""
    if not releases:
        raise ParameterError("releases", releases, "is empty", "give at least one mechanism")
    bells = [r.mu for r in releases if r.mu is not None]
    pure = tuple(r.epsilon for r in releases if r.mu is None)
    return OtherWords(pure, math.hypot(0.0, *bells), _own_curve(releases[0]) if len(releases) == 1 else None)


def _own_curve(mechanism: Mechanism) -> Callable[[float], float] | None:
    """δ(ε) of a mechanism that has it."""
    try:
        mechanism.delta_at(0.0)
    except GuessproofError:
        return None
    return mechanism.delta_at


def words_of_noise(tables: Iterable[Mapping[str, Any]], paid: float = math.inf) -> OtherWords:
    """The same for noises as a ledger describes them: of a whole ledger, if it is given all of them."""
    noises = list(tables)
    pure: list[float] = []
    bells: list[float] = []
    for table in noises:
        if float(table.get("delta") or 0.0) > 0:
            bells.append(float(table["sensitivity"]) / float(table["noise_scale"]))
        else:
            pure.append(_paid(table))
    return OtherWords(tuple(pure), math.hypot(0.0, *bells), _curve_of(noises[0]) if len(noises) == 1 else None, paid)


def words_of_charges(charges: Iterable[tuple[Sequence[Mapping[str, Any]], float]]) -> OtherWords:
    """The same for charges: their noises, and the ε that was charged for each.

    Filters of which a record meets few at a time cost less than their noises add up to.
    """
    noises: list[Mapping[str, Any]] = []
    paid: list[float] = []
    for tables, epsilon in charges:
        noises += tables
        pure = [_paid(t) for t in tables if not float(t.get("delta") or 0.0) > 0]
        paid.append(min(math.fsum(pure), epsilon * (1 + 1e-9)) if len(pure) == len(tables) else math.fsum(pure))
    return words_of_noise(noises, math.fsum(paid))


def _paid(table: Mapping[str, Any]) -> float:
    return float(table["epsilon"]) * (1 + 1e-9)  # and what the noise's grid adds


def _curve_of(table: Mapping[str, Any]) -> Callable[[float], float] | None:
    """δ(ε) of the only noise of a ledger, where the mechanism that it names has it and costs what was charged."""
    from guessproof.mechanisms import MECHANISMS  # the list stands above this file

    kind, epsilon = MECHANISMS.get(str(table.get("mechanism"))), float(table["epsilon"]) * (1 + 1e-9)
    if kind is None or kind.has_delta:
        return None
    try:
        mechanism = kind(float(table["sensitivity"]), epsilon)  # pyright: ignore[reportCallIssue]
    except (GuessproofError, TypeError):
        return None
    return _own_curve(mechanism) if mechanism.epsilon <= epsilon * (1 + 1e-9) else None


def gdp_of_epsilon(epsilon: float) -> float:
    """The μ for which ε-privacy is μ-GDP: 2Φ⁻¹(e^ε/(1+e^ε)), rounded up.

    >>> round(gdp_of_epsilon(1.0), 4)
    1.232
    """
    value = checked_nonnegative("epsilon", epsilon)
    if value == 0:
        return 0.0
    if value > 30:  # the tail of Φ⁻¹ from the logarithm
        low, high = 0.0, 2 * math.sqrt(2 * value) + 2
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if float(special.log_ndtr(-middle / 2)) > -value else (low, middle)
        return high * (1 + 1e-12)
    return -2 * float(special.ndtri(1 / (1 + math.exp(value)))) * (1 + 1e-12)


def relative_risk_between(*, p: float, q: float, before: float, then: float) -> float:
    """The largest ratio of the belief after further releases (ε = `then`) to that after earlier ones (ε = `before`).

    Kazan & Reiter compare with the prior; metrics add, so beliefs can be compared with each other too. The earlier
    releases can have moved the belief as far as they may: e^{ε} to "not included", e^{2ε} to "included, not in S".

    >>> round(relative_risk_between(p=0.5, q=0.2, before=0.0, then=1.0), 4)
    2.9579
    """
    for name, value in (("p", p), ("q", q)):
        if not 0 <= float(value) <= 1:
            raise ParameterError(name, value, "is no probability", "give a number from 0 to 1")
    first, second = checked_nonnegative("before", before), checked_nonnegative("then", then)
    inside, other, absent = p * q, p * (1 - q), 1 - p
    weights = inside * math.exp(-2 * first), other, absent * math.exp(-first)
    total = math.fsum(weights)
    after = weights[0] + math.exp(-2 * second) * weights[1] + math.exp(-second) * weights[2]
    return total / after if total > 0 else math.exp(2 * second)
