"""The curve of one attack: exact answers at knots of ε, each asked when it is first needed, and then looked up.

Bounds rise in ε. So the bound at the next knot holds for every ε up to it, and an ε at which a limit holds is the last
knot that keeps it. Knots are the powers of one number: there is no first and no last one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from guessproof.errors import ParameterError
from guessproof.risk.attack import Attack
from guessproof.risk.bracket import Bracket
from guessproof.risk.limits import checked_epsilon, checked_limits
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior

STEP = 1.02  # from one knot to the next: an ε loses at most 2 %
MOST = 700  # knots on each side of a typical ε: a factor of 10⁶; further out every question is asked of the attack
STRIDE = 16  # knots, the first step of a search
SHOWN = 0.02, 20.0  # around a typical ε, where points are drawn
QUANTILES = 0.1, 0.9  # between which the bulk of a prior lies

Asked = Literal["rise", "move", "posterior"]


@dataclass(frozen=True)
class Knots:
    """Attacks and bounds at powers of `STEP`, and the searches among them."""

    attack: Attack
    asked: Asked
    typical: float
    known: dict[int, tuple[float, float]] = field(
        default_factory=dict[int, tuple[float, float]], compare=False
    )

    def at(self, knot: int) -> tuple[float, float]:
        """Attack and bound at one knot."""
        if knot not in self.known:
            found = self.ask(STEP**knot)
            self.known[knot] = float(found.attack), float(found.bound)
        return self.known[knot]

    def ask(self, epsilon: float) -> Bracket:
        """What the attack answers at any ε."""
        if self.asked == "posterior":
            return self.attack.posterior(epsilon)
        return self.attack.advantage(epsilon, self.asked == "move")

    def bound(self, epsilon: float) -> float:
        """What is not exceeded at this ε."""
        knot = self._knot(epsilon, math.ceil)
        return float(self.ask(epsilon).bound) if knot is None else self.at(knot)[1]

    def reached(self, epsilon: float) -> float:
        """What an attack reaches at this ε."""
        knot = self._knot(epsilon, math.floor)
        return float(self.ask(epsilon).attack) if knot is None else self.at(knot)[0]

    def largest(self, limit: float) -> float | None:
        """The last knot that keeps a limit; None where it lies beyond all knots."""
        low = high = self.middle
        kept = self.at(low)[1] <= limit
        step = STRIDE
        while (self.at(high)[1] <= limit) == kept:
            low = high
            high = self.middle + (step if kept else -step)
            step *= 2
            if step > 2 * MOST:
                return None
        low, high = (low, high) if kept else (high, low)
        known = sorted(knot for knot in self.known if low <= knot <= high)
        low = max((knot for knot in known if self.at(knot)[1] <= limit), default=low)
        high = min((knot for knot in known if knot > low), default=high)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.at(middle)[1] <= limit else (low, middle)
        return STEP**low

    @property
    def middle(self) -> int:
        """The knot at a typical ε."""
        return round(math.log(self.typical, STEP))

    def _knot(self, epsilon: float, rounded: Callable[[float], int]) -> int | None:
        """The knot next to an ε, on the given side of it."""
        side = 1 if rounded is math.ceil else -1
        place = math.log(epsilon, STEP) if epsilon > 0 else -math.inf
        if abs(place - self.middle) > MOST:
            return None
        knot = rounded(place)
        return (
            knot if side * (STEP**knot - epsilon) >= 0 else knot + side
        )  # rounding of the logarithm


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
        if not self._alternatives:
            self.rise.at(self.rise.middle)  # an attack without an answer is refused here

    def epsilon(
        self,
        *,
        advantage: Any = None,
        posterior: Any = None,
        both: bool = False,
        exact: bool = False,
    ) -> float:
        """An ε at which every limit is proven to hold, near the largest one; math.inf where none breaks."""
        for name, limit in zip(
            ("advantage", "posterior"), checked_limits(advantage, posterior), strict=True
        ):
            if limit is not None and limit.ndim:
                raise ParameterError(name, limit, "is not one number", "ask one at a time")
        if exact:
            return float(
                self.attack.epsilon(advantage=advantage, posterior=posterior, both=both)
            )
        if self._alternatives:
            return min(
                c.epsilon(advantage=advantage, posterior=posterior, both=both)
                for c in self._alternatives
            )
        answers: list[float] = []
        if advantage is not None:
            found = (self.move if both else self.rise).largest(float(advantage))
            answers.append(
                float(self.attack.epsilon(advantage=advantage, both=both))
                if found is None
                else found
            )
        if posterior is not None:
            found = self.believed.largest(float(posterior))
            answers.append(
                float(self.attack.epsilon(posterior=posterior)) if found is None else found
            )
        return min(answers)

    def advantage(self, epsilon: float, both: bool = False, *, exact: bool = False) -> float:
        """How far the belief can rise (or move, with both=True) at most."""
        value = _one(epsilon)
        if self._alternatives and not exact:
            return max(one.advantage(value, both) for one in self._alternatives)
        if value == 0:
            return 0.0
        return (
            float(self.attack.advantage(value, both).bound)
            if exact
            else (self.move if both else self.rise).bound(value)
        )

    def posterior(self, epsilon: float, *, exact: bool = False) -> float:
        """How high the belief can get at most."""
        value = _one(epsilon)
        if self._alternatives and not exact:
            return max(one.posterior(value) for one in self._alternatives)
        return (
            float(self.attack.posterior(value).bound) if exact else self.believed.bound(value)
        )

    def points(self, count: int = 100) -> list[tuple[float, float]]:
        """Pairs (ε, advantage at most) for a chart, around a typical ε and rising."""
        if count < 2:
            raise ParameterError("count", count, "a line needs two points", "ask for 2 or more")
        scales = [curve.rise.typical for curve in self._alternatives or [self]]
        chosen = np.geomspace(SHOWN[0] * min(scales), SHOWN[1] * max(scales), count)
        heights = np.maximum.accumulate([self.advantage(float(e)) for e in chosen])
        return list(zip(chosen.tolist(), heights.tolist(), strict=True))

    @property
    def within(self) -> float:
        """How much of ε an answer can lose at most, as a share."""
        return 1 - 1 / STEP

    @cached_property
    def _alternatives(self) -> list[Curve]:
        return [Curve(one) for one in self.attack.alternatives]

    @cached_property
    def rise(self) -> Knots:
        """How far the belief rises."""
        return Knots(self.attack, "rise", _typical(self.attack))

    @cached_property
    def move(self) -> Knots:
        """How far the belief moves in either direction."""
        return Knots(self.attack, "move", self.rise.typical)

    @cached_property
    def believed(self) -> Knots:
        """How high the belief gets."""
        return Knots(self.attack, "posterior", self.rise.typical)


def _one(epsilon: Any) -> float:
    value = checked_epsilon(epsilon)
    if value.ndim:
        raise ParameterError("epsilon", epsilon, "is not one number", "ask one at a time")
    return float(value)


def _typical(attack: Attack) -> float:
    """An ε at which the bulk of the narrowest prior is about one unit wide."""
    widths = [_width(a.prior, a.distance.line_form) for a in attack.conditioned.values()]
    return 1 / min([w for w in widths if 0 < w < math.inf], default=1.0)


def _width(prior: Any, form: Any) -> float:
    """The width of the bulk of a prior in units of distance; 0 where it has none."""
    if form is None or (isinstance(prior, Finite) and not prior.is_line):
        return 0.0
    if isinstance(prior, Finite):
        at = np.searchsorted(np.cumsum(prior.mass), QUANTILES)
        ends = prior.points[np.minimum(at, prior.mass.size - 1)]
    elif isinstance(prior, LinePrior):
        ends = prior.quantile(QUANTILES)
    else:
        ends = np.asarray(getattr(prior, "support", (0.0, 0.0)), dtype=np.float64)
    low, high = form.psi(ends)
    return float(high - low)
