"""Answers at the worst true values, of one attribute or of several.

Upper bounds on what no true value exceeds, attacks that one of them reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from guessproof.errors import ParameterError
from guessproof.risk.bracket import Bracket, Effort, larger
from guessproof.world.checks import Array


@dataclass(frozen=True)
class LeftOpen:
    """The questions of an attack whose true values are not stated; `worst` bounds them in one direction."""

    worst: Any

    def posterior(self, epsilon: Array, side: str, effort: Effort | None) -> Bracket:
        """The largest belief in the goal; the smallest depends on the true value."""
        if side != "upper":
            raise ParameterError("side", side, "needs a true value", "give at={…}")
        return self.worst.bracket(epsilon, "posterior")

    def advantage(self, epsilon: Array, both: bool, effort: Effort | None) -> Bracket:
        """How far the belief rises, or with both=True moves."""
        rise = self.worst.bracket(epsilon, "rise")
        return larger(rise, self.worst.bracket(epsilon, "fall")) if both else rise

    def epsilon(self, advantage: Any, posterior: Any, both: bool, effort: Effort | None) -> Any:
        """The largest ε that is proven to keep the limits."""
        return self.worst.epsilon(advantage, posterior, both)
