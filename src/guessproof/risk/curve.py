"""The curve of one attack: exact answers at knots of ε, each asked when it is first needed, and then looked up.

Bounds rise in ε. So the bound at the next knot holds for every ε up to it, and an ε at which a limit holds is the last
knot that keeps it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from guessproof.errors import ParameterError
from guessproof.risk.attack import Attack
from guessproof.risk.bracket import Bracket
from guessproof.risk.limits import checked_epsilon, checked_limits
from guessproof.risk.single import Pair
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior

STEP = 1.02  # from one knot to the next: an ε loses at most 2 %
MOST = 350  # knots on each side of a typical ε: a factor of 1,000; further out every question is asked of the attack
SHOWN = 0.02, 20.0  # around a typical ε, where points are drawn
QUANTILES = 0.1, 0.9  # between which the bulk of a prior lies


@dataclass(frozen=True)
class Knots:
    """Brackets at rising ε around a typical one, and the searches among them."""

    ask: Callable[[float], Bracket]
    typical: float
    known: dict[int, Pair] = field(default_factory=dict[int, Pair], compare=False)

    @cached_property
    def epsilons(self) -> Array:
        """The knots."""
        return self.typical * STEP ** np.arange(-MOST, MOST + 1.0)

    def at(self, knot: int) -> Pair:
        """Attack and bound at one knot."""
        if knot not in self.known:
            found = self.ask(float(self.epsilons[knot]))
            self.known[knot] = float(found.attack), float(found.bound)
        return self.known[knot]

    def bound(self, epsilon: Any, exact: bool = False) -> float:
        """What is not exceeded at this ε."""
        value = checked_epsilon(epsilon)
        if value.ndim:
            raise ParameterError("epsilon", epsilon, "is not one number", "ask one at a time")
        knot = int(np.searchsorted(self.epsilons, value))
        inside = 0 < knot <= 2 * MOST and not exact
        return self.at(knot)[1] if inside else float(self.ask(float(value)).bound)

    def reached(self, epsilon: float) -> float:
        """What an attack reaches at this ε."""
        knot = int(np.searchsorted(self.epsilons, epsilon, "right")) - 1
        inside = 0 <= knot < 2 * MOST
        return self.at(knot)[0] if inside else float(self.ask(epsilon).attack)

    def largest(self, limit: float) -> float | None:
        """The last knot that keeps a limit; None where it lies beyond all knots."""
        knots = range(2 * MOST + 1)
        kept = bisect_right(knots, limit, key=lambda knot: self.at(knot)[1])
        return float(self.epsilons[kept - 1]) if 0 < kept < len(knots) else None


@dataclass(frozen=True)
class Curve:
    """Advantage and belief of one attack over all ε, the worst true value and a wrong prior included.

    What was asked once is looked up in microseconds. Answers are proven: an ε never exceeds the exact one, and is at
    most `within` below it; an advantage or belief is never below the exact one. With `exact=True`, and for ε far from
    typical ones, the attack is asked itself.

    >>> import guessproof as gp
    >>> time = gp.Attribute("time", prior=gp.normal(mean=20, sd=6.28))
    >>> curve = gp.Curve(gp.Attack(gp.within(time, 2), at={"time": 20}))
    >>> exact = curve.epsilon(advantage=0.05, exact=True)
    >>> (1 - curve.within) * exact <= curve.epsilon(advantage=0.05) <= exact
    True
    """

    attack: Attack

    def __post_init__(self) -> None:
        if not isinstance(self.attack, Attack):
            raise ParameterError("attack", self.attack, "is not an attack", "give a gp.Attack")
        for name, value in (self.attack.at or {}).items():
            if np.ndim(value):
                problem = "a curve is that of one true value, or of the worst one"
                raise ParameterError(f"at[{name!r}]", value, problem, "make one curve for each")
        self.rise.at(MOST)  # an attack without an answer is refused here

    def epsilon(
        self,
        *,
        advantage: Any = None,
        posterior: Any = None,
        both: bool = False,
        exact: bool = False,
    ) -> float:
        """An ε at which every limit is proven to hold, near the largest one; infinite where none breaks."""
        limits = checked_limits(advantage, posterior)
        tables = self.move if both else self.rise, self.believed
        found: list[float | None] = [None] if exact else []
        for name, limit, table in zip(("advantage", "posterior"), limits, tables, strict=True):
            if limit is not None and limit.ndim:
                raise ParameterError(name, limit, "is not one number", "ask one at a time")
            if limit is not None and not exact:
                found.append(table.largest(float(limit)))
        known = [epsilon for epsilon in found if epsilon is not None]
        if len(known) == len(found):
            return min(known)
        return float(self.attack.epsilon(advantage=advantage, posterior=posterior, both=both))

    def advantage(self, epsilon: float, both: bool = False, *, exact: bool = False) -> float:
        """How far the belief can rise (or move, with both=True) at most."""
        return (self.move if both else self.rise).bound(epsilon, exact)

    def posterior(self, epsilon: float, *, exact: bool = False) -> float:
        """How high the belief can get at most."""
        return self.believed.bound(epsilon, exact)

    def points(self, count: int = 100) -> list[tuple[float, float]]:
        """Pairs (ε, advantage at most) for a chart, around a typical ε and rising."""
        if count < 2:
            raise ParameterError("count", count, "a line needs two points", "ask for 2 or more")
        chosen = np.geomspace(*SHOWN, count) * self.rise.typical
        heights = np.maximum.accumulate([self.advantage(float(e)) for e in chosen])
        return list(zip(chosen.tolist(), heights.tolist(), strict=True))

    @property
    def within(self) -> float:
        """How much of ε an answer can lose at most, as a share."""
        return 1 - 1 / STEP

    @cached_property
    def rise(self) -> Knots:
        """How far the belief rises."""
        return Knots(self.attack.advantage, _typical(self.attack))

    @cached_property
    def move(self) -> Knots:
        """How far the belief moves in either direction."""
        return Knots(partial(self.attack.advantage, both=True), self.rise.typical)

    @cached_property
    def believed(self) -> Knots:
        """How high the belief gets."""
        return Knots(self.attack.posterior, self.rise.typical)


def _typical(attack: Attack) -> float:
    """An ε at which the bulk of the narrowest prior is about one unit wide."""
    widths: list[float] = []
    for attribute in attack.conditioned.values():
        prior, form = attribute.prior, attribute.distance.line_form
        if form is None or not isinstance(prior, (LinePrior, Finite)):
            continue
        if getattr(prior, "is_line", True):
            widths.append(float(np.diff(form.psi(prior.quantile(QUANTILES)))[0]))
    return 1 / min((width for width in widths if width > 0), default=1.0)
