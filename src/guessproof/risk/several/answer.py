"""The questions of an attack on several attributes, answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.errors import InfeasibleError, NotCertifiedError, ParameterError, TrueValueError
from guessproof.risk.bracket import Bracket, Effort
from guessproof.risk.combinations import OpenTruths
from guessproof.risk.limits import (
    Belief,
    advantage_bracket,
    advantage_of,
    checked_limits,
    gain_of_advantage,
    largest_epsilon,
    posterior_bracket,
    posterior_of,
    safe_epsilon,
)
from guessproof.risk.several.belief import JointEngine, several_belief
from guessproof.risk.several.formula import GoalBlock
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.worst import Boxes, all_truths
from guessproof.risk.truth_search import Direction
from guessproof.world.attributes import Attribute
from guessproof.world.checks import LARGEST, Array
from guessproof.world.goals import And, Goal, Near, Norm, Together
from guessproof.world.line import LinePrior

if TYPE_CHECKING:
    from guessproof.risk.several.linear import OneNumber
    from guessproof.risk.several.worst_place import WorstPlace

_ROUGHLY = 0.02  # of the ε at which an attack breaks a limit
_LOOSE = 1.1  # times what is reached: a bound that another rule may bring down
_NEXT_TO = 0.2  # of the tolerance: where an attack that breaks the limit makes a search for more needless


@dataclass(frozen=True)
class Several:
    """A goal about several attributes; `truth` is None where the true values are unknown."""

    goal: Goal
    attributes: Mapping[str, Attribute]
    truth: Mapping[str, Any] | None
    norm: Norm
    _cache: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    @cached_property
    def engine(self) -> JointEngine:
        """The engine at the stated true values."""
        if self.truth is None:
            raise ParameterError("at", None, "the answer depends on the true values", "give at={…}")
        return JointEngine(JointAttack(self.attributes, self.truth, self.norm), self.goal)

    @property
    def prior(self) -> float:
        """P(goal) before the release."""
        return float(np.exp(several_belief(self.engine, None).log_p))

    def posterior(self, epsilon: Array, side: str, effort: Effort | None) -> Bracket:
        """The largest or smallest belief after the worst output."""
        if self.truth is not None:
            return posterior_bracket(several_belief(self.engine, effort), epsilon, side)
        if side != "upper":
            raise ParameterError("side", side, "needs true values", "give at={…}")
        return self._worst(epsilon, "posterior", effort)

    def advantage(self, epsilon: Array, both: bool, effort: Effort | None) -> Bracket:
        """How far the belief can rise, or move."""
        if self.truth is not None:
            return advantage_bracket(several_belief(self.engine, effort), epsilon, both)
        rise = self._worst(epsilon, "rise", effort)
        return _larger(rise, self._worst(epsilon, "fall", effort)) if both else rise

    @property
    def bounds_only(self) -> Belief | None:
        """The goal's prior and bounds on its gains, without attacks, which take longer; None without true values."""
        return None if self.truth is None else several_belief(self.engine, None, attack=False)

    def epsilon(self, advantage: Any, posterior: Any, both: bool, effort: Effort | None) -> Any:
        """The largest ε that is proven to keep the limits."""
        if self.truth is None:
            return self._worst_epsilon(advantage, posterior, both, effort)
        cheap = self.bounds_only
        assert cheap is not None
        limits: dict[str, Any] = {"advantage": advantage, "posterior": posterior, "both": both}
        began = 0.0 if effort is None else effort.clock()
        start = safe_epsilon(cheap, **limits, start=self._near(limits))
        if effort is None or np.ndim(start) or not 0 < start < np.inf or self.engine.whole is not None:
            return start
        return self._refined_epsilon(start, *checked_limits(advantage, posterior), both, effort, began)

    def _refined_epsilon(
        self,
        start: float,
        advantage: Array | None,
        posterior: Array | None,
        both: bool,
        effort: Effort,
        began: float,
    ) -> float:
        """A larger ε where better bounds allow it; every step up is proven before it is taken."""
        from guessproof.risk.several.larger import Limited, larger_epsilon  # only who waits needs it

        engine, prior = self.engine, self.engine.prior()
        base, gains = prior.log_p - prior.log_q, list[tuple[int, float]]()
        if posterior is not None:
            with np.errstate(divide="ignore"):
                gains.append((+1, float(np.log(posterior) - np.log1p(-posterior)) - base))
        if advantage is not None:
            gains.append((+1, float(gain_of_advantage(prior.log_p, prior.log_q, advantage))))
            if both:
                gains.append((-1, float(gain_of_advantage(prior.log_q, prior.log_p, advantage))))
        least = {sign: min(gain for other, gain in gains if other == sign) for sign, _ in gains}
        high, next_to = np.inf, start * (1 + _NEXT_TO * effort.tolerance)
        if not engine.is_bent:  # there an attack takes as long as a look that tells more
            broken = any(sign * engine.cheap(sign * next_to)[0] > gain for sign, gain in least.items())
            high = next_to if broken else high
        limits = [Limited.of(engine.joint_attack, self.goal, sign, gain, base) for sign, gain in least.items()]
        return larger_epsilon(limits, start, effort, began, high) * (1 - 4e-12)

    def _near(self, limits: dict[str, Any]) -> float:
        """Where the search for an ε whose bounds take long begins: where an attack that is quick breaks the limits."""
        if not isinstance(self.engine.tree, GoalBlock) or self.engine.whole is not None:
            return self.typical
        prior = self.engine.prior()
        attacked = Belief(np.asarray(prior.log_p), np.asarray(prior.log_q), self._reached, "", _ROUGHLY)
        found = safe_epsilon(attacked, **limits, start=self.typical)
        return found if np.ndim(found) == 0 and 0 < found < LARGEST else self.typical

    def _reached(self, k: Array) -> tuple[Array, Array]:
        gains = np.reshape([self.engine.quick_attack(v) for v in k.ravel().tolist()], k.shape)
        return gains, gains

    @property
    def typical(self) -> float:
        """An ε at which the bulk of the widest prior is about one unit wide: where a search may start."""
        widths = [1e-300]
        for attribute in self.attributes.values():
            prior, form = attribute.prior, attribute.distance.line_form
            if isinstance(prior, LinePrior) and form is not None:
                low, high = form.psi(prior.quantile([0.1, 0.9]))
                widths.append(float(high - low))
        return 1 / max(widths) if max(widths) > 1e-290 else 1.0

    # Without true values: the worst ones.

    @cached_property
    def _truths(self) -> OpenTruths | None:
        return all_truths(self.attributes, self.goal, self.norm)

    @cached_property
    def _each(self) -> list[tuple[dict[str, Any], Several]] | None:
        if self._truths is None:
            return None
        if not self._truths.truths:
            raise TrueValueError("at", None, "the goal is certain for every true value", "choose a narrower goal")
        return [(row, Several(self.goal, self.attributes, row, self.norm)) for row in self._truths.truths]

    @property
    def _certain(self) -> dict[str, Any] | None:
        """True values at which the goal is certain before any release."""
        return None if self._truths is None else self._truths.certain

    @cached_property
    def _alone(self) -> OneNumber | None:
        """The value of a weighted sum of normal numbers, whose worst true value is that of one number."""
        if not isinstance(self.goal, Together) or isinstance(self.goal, Near):
            return None
        from guessproof.risk.several.linear import one_number  # only formulas need it

        found = one_number(self.attributes, self.goal, self.norm)
        return found if found is not None and found.is_exact else None  # far out a density at knots says too little

    def _worst_sum(
        self, alone: OneNumber, epsilon: float, aim: Direction
    ) -> tuple[float, float, dict[str, Any], float]:
        """Attack, bound, where (as the formula's value), and the prior there."""
        from guessproof.risk.attack import Attack  # it asks this very question of one number

        def asked(attribute: Attribute) -> Bracket:
            attack = Attack(alone.on(attribute))
            return attack.posterior(epsilon) if aim == "posterior" else attack.worst(epsilon, aim)

        bound = asked(alone.bounding)
        reached = bound if alone.reaching is None else asked(alone.reaching)
        most = float(bound.bound)
        gained = 0.0 if alone.reaching is None else min(float(reached.attack), most)
        where, prior = {alone.bounding.name: reached.worst_at}, float(np.asarray(reached.worst_prior))
        return gained, most, where, prior

    @cached_property
    def _places(self) -> WorstPlace | None:
        """Where numbers may be, for goals that lie around them."""
        if not isinstance(self.goal, (Near, And)):
            return None
        from guessproof.risk.several.worst_place import WorstPlace  # only unknown places need it

        return WorstPlace.of(self.attributes, self.goal, self.norm)

    @cached_property
    def _product(self) -> Boxes | None:
        """The product rule, where it may say more than boxes of places: beside tails that ε outweighs."""
        if not isinstance(self.goal, And) or self._places is None or self._places.world.is_normal:
            return None
        try:
            return self._boxes
        except NotCertifiedError:
            return None

    @cached_property
    def _boxes(self) -> Boxes:
        return Boxes(self.attributes, self.goal, self.norm)

    def _worst(self, epsilon: Array, aim: Direction, effort: Effort | None) -> Bracket:
        found = [self._worst_one(float(e), aim, effort) for e in epsilon.ravel()]

        def shaped(position: int) -> Any:
            values = [f[position] for f in found]
            if epsilon.ndim == 0:
                return values[0]
            array = np.empty(len(values), dtype=object if position == 2 else np.float64)
            array[:] = values
            return array.reshape(epsilon.shape)

        how = (
            "worst value of the formula, as one number" if self._alone is not None
            else "worst of all combinations of true values" if self._each is not None
            else "worst place by boxes of places, with anchors at their corners" if self._places is not None
            else "worst true values by boxes and the product rule"
        )  # fmt: skip
        return Bracket.meet(shaped(0), shaped(1), how, worst_at=shaped(2), worst_prior=shaped(3))

    def _worst_one(
        self, epsilon: float, aim: Direction, effort: Effort | None
    ) -> tuple[float, float, dict[str, Any], float]:
        """Attack, bound, where, and the prior there."""
        if self._alone is not None:
            return self._worst_sum(self._alone, epsilon, aim)
        if self._each is None and self._places is not None:
            found = self._places.worst(epsilon, aim, effort)
            value, place, prior = self._places.reached(epsilon, aim, found)
            bound = found.bound
            if bound > _LOOSE * value and self._product is not None:
                bound = min(bound, self._product.worst(epsilon, aim)[0])
            return min(value, bound), bound, self._places.told(place), prior
        if self._each is None:
            bound, where = self._boxes.worst(epsilon, aim)
            value, prior = self._boxes.reached(epsilon, aim, where)
            return min(value, bound), bound, where, prior
        if aim == "posterior" and self._certain is not None:
            return 1.0, 1.0, self._certain, 1.0
        best: tuple[float, float, dict[str, Any], float] | None = None
        for row, one in self._each:
            k = np.asarray(-epsilon if aim == "fall" else epsilon)
            belief = several_belief(one.engine, effort)
            if aim == "posterior":
                attack, bound = (float(posterior_of(belief.log_p, belief.log_q, g)) for g in belief.gain(k))
            else:
                attack, bound = (float(abs(advantage_of(belief.log_p, belief.log_q, g))) for g in belief.gain(k))
            most = bound if best is None else max(bound, best[1])
            if best is None or attack > best[0]:
                best = (attack, most, row, float(np.exp(belief.log_p)))
            best = (best[0], most, best[2], best[3])
        assert best is not None
        return best

    def _worst_epsilon(self, advantage: Any, posterior: Any, both: bool, effort: Effort | None) -> Any:
        limits = checked_limits(advantage, posterior)
        if self._alone is not None:
            from guessproof.risk.attack import Attack  # it asks this very question of one number

            attack = Attack(self._alone.on(self._alone.bounding))
            return attack.epsilon(advantage=advantage, posterior=posterior, both=both)
        if self._each is not None:
            if limits[1] is not None and self._certain is not None and np.any(limits[1] < 1):
                raise InfeasibleError(
                    f"posterior: at the true value {self._certain} the goal is certain before any release, above the "
                    f"limit {float(np.min(limits[1])):.6g}; choose a narrower goal"
                )
            answers = [one.epsilon(advantage, posterior, both, effort) for _, one in self._each]
            least = np.min(np.broadcast_arrays(*answers), axis=0)
            return float(least) if least.ndim == 0 else least
        aims: list[tuple[Array, Direction]] = []
        if limits[1] is not None:
            aims.append((limits[1], "posterior"))
        if limits[0] is not None:
            aims.append((limits[0], "rise"))
            if both:
                aims.append((limits[0], "fall"))
        found = [self._searched(limit, aim, effort) for limit, aim in aims]
        least = np.min(np.broadcast_arrays(*found), axis=0)
        return float(least) if least.ndim == 0 else least

    def _searched(self, limit: Array, aim: Direction, effort: Effort | None) -> Array:
        return np.array([self._search(float(v), aim, effort) for v in limit.ravel()]).reshape(limit.shape)

    def _search(self, limit: float, aim: Direction, effort: Effort | None) -> float:
        """ε for one limit on a bound that starts above 0: boxes keep a little slack even at ε = 0."""
        at_zero = self._worst_one(0.0, aim, None)[1]
        if limit >= 1:
            return np.inf
        if limit <= at_zero:
            if aim == "posterior":
                raise InfeasibleError(
                    f"posterior: some true value has a belief of {at_zero:.6g} before any release, above the limit "
                    f"{limit:.6g}; allow a higher belief or a narrower goal"
                )
            return 0.0
        if self._places is not None:
            found = self._places.epsilon(limit, aim, self.typical, effort)
            if self._product is None or self._product.worst(found * (1 + _ROUGHLY), aim)[0] > limit:
                return found
        rise = np.asarray(limit - at_zero)
        return float(
            largest_epsilon(lambda e: np.asarray(self._boxes.worst(float(e), aim)[0] - at_zero), rise, relative=1e-6)
        )


def _larger(one: Bracket, other: Bracket) -> Bracket:
    first = np.asarray(one.attack) >= np.asarray(other.attack)
    where = np.where(first, one.worst_at, other.worst_at)
    prior = np.where(first, np.asarray(one.worst_prior), np.asarray(other.worst_prior))
    return Bracket.meet(
        np.maximum(one.attack, other.attack),
        np.maximum(one.bound, other.bound),
        one.how,
        worst_at=where if where.ndim else where.item(),
        worst_prior=prior if prior.ndim else prior.item(),
    )
