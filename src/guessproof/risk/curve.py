"""The whole curve of one attack: what no attacker exceeds at every ε, made once and then only looked up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.errors import ParameterError
from guessproof.risk.attack import Attack
from guessproof.risk.limits import advantage_bracket, checked_epsilon, checked_limits, posterior_bracket
from guessproof.risk.misjudged.answer import farthest, hill_goal, stretches_of
from guessproof.risk.misjudged.odds import posterior_before, with_odds_of
from guessproof.risk.misjudged.tents import MisjudgedGoal, Move, TentRanges
from guessproof.risk.rising import Further, Measure, Rising, Rough, bound_of, inverse_of
from guessproof.risk.rooms import by_hills, by_tents, peaks_of, ramp_of, room_of, run_of, zigzags_of
from guessproof.risk.single import belief_of
from guessproof.risk.truth_search import Direction
from guessproof.risk.worst_curve import WorstTruths
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior

if TYPE_CHECKING:
    from guessproof.risk.misjudged.hills import HillGoal
    from guessproof.risk.misjudged.ramps import MisjudgedRamp
    from guessproof.risk.misjudged.stretches import AtomStretches, DensityStretches

_MANY, _FEW, _LEAST = 1500, 96, 24  # knots, by what one costs: less than a millisecond, tens of them, or hundreds
_CLOSE = 1e-3  # where more of ε may be lost than this, such a curve ends
_MANY_NUMBERS = 20_000  # of a sample, from which on all true values are bounded together whatever the prior
_TWO_INTERVALS = 5  # stretches of goal and rest: of more, bounds are some percent above attacks
_SOME, _SOME_BY_QUADRATURE = 128, 72  # knots of a prior that may be wrong, at one true value


@dataclass(frozen=True)
class Curve:
    """Advantage and belief of one attack over all ε, the worst true value and a wrong prior included.

    Making it takes a fraction of a second (for one attribute), an answer microseconds. Answers are proven: an ε never
    exceeds the exact one (`attack.epsilon` finds it, or with a prior factor comes within 0.1 % of it, from below, too),
    and an advantage or belief is never below the exact one. `within` says how far below an ε may lie: 0.1 % for one
    attribute; more for several. With a prior factor it ends where it would not be as close, above usual limits unless
    the factor is large; what lies further up is made in parts when a high limit is first asked, which takes as long
    once more or some seconds, and is as close but for a few stretches. Where no part of it would be as close, all that
    is proven is kept, and `within` says so. Limits and ε far outside the usual range, or of which nothing is proven,
    and `exact=True`, ask the attack itself.

    >>> import guessproof as gp
    >>> time = gp.Attribute("time", prior=gp.normal(mean=20, sd=6.28))
    >>> curve = gp.Curve(gp.Attack(gp.within(time, 2), at={"time": 20}))
    >>> exact = curve.epsilon(advantage=0.05, exact=True)
    >>> 0.999 * exact <= curve.epsilon(advantage=0.05) <= exact
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
        _ = self._alternatives or self.rise

    def epsilon(
        self, *, advantage: Any = None, posterior: Any = None, both: bool = False, exact: bool = False
    ) -> float:
        """An ε at which every limit is proven to hold, near the largest one; math.inf where none breaks."""
        for name, limit in zip(("advantage", "posterior"), checked_limits(advantage, posterior), strict=True):
            if limit is not None and limit.ndim:
                raise ParameterError(name, limit, "is not one number", "ask one at a time")
        if exact:
            return float(self.attack.epsilon(advantage=advantage, posterior=posterior, both=both))
        if self._alternatives:
            return min(c.epsilon(advantage=advantage, posterior=posterior, both=both) for c in self._alternatives)
        found: list[float] = []
        if advantage is not None:
            ways: tuple[Direction, ...] = ("rise", "fall") if both else ("rise",)
            found += [self._inverted(way, float(advantage), {"advantage": advantage, "both": both}) for way in ways]
        if posterior is not None:
            before = float(posterior_before(float(posterior), self.attack.prior_factor))
            if before < self.believed.bound[0] or before >= self.believed.bound[-1]:
                found.append(float(self.attack.epsilon(posterior=posterior)))
            else:
                found.append(self._inverted("posterior", before, {"posterior": posterior}))
        return min(found)

    def _inverted(self, way: Direction, limit: float, limits: dict[str, Any]) -> float:
        least, most = inverse_of(self._each(way), limit)
        return least if least == most else min(max(float(self.attack.epsilon(**limits)), least), most)

    def _each(self, way: Direction) -> Iterator[Rising]:
        yield self._piece(way)
        further = self._further(way)
        if further is not None:
            yield from further.each()

    def _piece(self, way: Direction) -> Rising:
        return {"rise": lambda: self.rise, "fall": lambda: self.fall, "posterior": lambda: self.believed}[way]()

    def advantage(self, epsilon: float, both: bool = False, *, exact: bool = False) -> float:
        """How far the belief can rise (or move, with both=True) at most."""
        value = _one(epsilon)
        if self._alternatives and not exact:
            return max(one.advantage(value, both) for one in self._alternatives)
        if value == 0:
            return 0.0
        ways: tuple[Direction, ...] = ("rise", "fall") if both else ("rise",)
        found = [(0.0, math.inf)] if exact else [bound_of(self._each(way), value) for way in ways]
        if all(least == most for least, most in found):
            return max(least for least, _ in found)
        asked = float(self.attack.advantage(value, both).bound)
        return max(min(max(asked, least), most) for least, most in found)

    def posterior(self, epsilon: float, *, exact: bool = False) -> float:
        """How high the belief can get at most."""
        value = _one(epsilon)
        if self._alternatives and not exact:
            return max(one.posterior(value) for one in self._alternatives)
        found = None if exact else self.believed.at(value)
        if found is None:
            return float(self.attack.posterior(value).bound)
        return float(with_odds_of(found, self.attack.prior_factor))

    def points(self, count: int = 100) -> list[tuple[float, float]]:
        """Pairs (ε, advantage at most) for a chart, evenly in the advantage."""
        if count < 2:
            raise ParameterError("count", count, "a line needs two points", "ask for 2 or more")
        if self._alternatives:
            chosen = np.geomspace(*self._range, count)
            return [(float(e), self.advantage(float(e))) for e in chosen]
        rise = self.rise
        heights = np.linspace(rise.bound[0], rise.bound[-1], count)
        chosen = np.unique(np.interp(heights, rise.bound, rise.epsilon))
        return [(float(e), self.advantage(float(e))) for e in chosen]

    @property
    def within(self) -> float:
        """How much of ε an answer can lose at most, as a share: 0.001 or less, but for several attributes.

        That is said of advantages that are looked up; not of what is asked of the attack, beyond all knots or where
        nothing is proven.
        """
        curves = self._alternatives or [self]
        return max(curve.rise.loose for curve in curves)

    @property
    def _range(self) -> tuple[float, float]:
        curves = self._alternatives or [self]
        return min(c.rise.epsilon[0] for c in curves), max(c.rise.epsilon[-1] for c in curves)

    @cached_property
    def _alternatives(self) -> list[Curve]:
        return [Curve(one) for one in self.attack.alternatives]

    # The pieces, each made once.

    @cached_property
    def rise(self) -> Rising:
        """The advantage upwards."""
        return self._made(self.attack, "rise")

    @cached_property
    def fall(self) -> Rising:
        """The advantage downwards."""
        return self._made(self.attack, "fall")

    @cached_property
    def believed(self) -> Rising:
        """The belief, with the prior as it is declared: a wrong one multiplies its odds, exactly."""
        declared = replace(self.attack, prior_factor=1.0)
        if declared == self.attack and self.attack.states_truth:
            return self.rise.shifted(float(self.attack.prior))
        return self._made(declared, "posterior")

    @cached_property
    def _made_further(self) -> dict[Direction, Further | None]:
        return {}

    def _further(self, direction: Direction) -> Further | None:
        """Where a curve ends early, what comes after it: made when it is first asked for."""
        if direction not in self._made_further:
            self._made_further.setdefault(direction, self._new_further(direction))  # threads share one
        return self._made_further[direction]

    def _new_further(self, direction: Direction) -> Further | None:
        by_boxes, by_hill_boxes = _by_boxes(self.attack, direction), _by_hill_boxes(self.attack)
        if direction == "posterior" or not (by_boxes or by_hill_boxes or _is_planned(self.attack, direction)):
            return None
        of = _of_hill_truths if by_hill_boxes else _of_wrong_truths if by_boxes else _of_wrong_truth
        make = partial(of, self.attack, direction)
        return Further(float(self._piece(direction).epsilon[-1]), make)

    def _made(self, attack: Attack, direction: Direction) -> Rising:
        typical = _typical(attack)
        if by_tents(attack) and not attack.known_truth and attack.prior_factor == 1:
            worst = WorstTruths(attack.truth_search, direction, typical)
            return Rising.through(worst.measure, worst.room, typical, _MANY)
        if by_hills(attack) and not attack.known_truth and attack.prior_factor == 1:
            worst = WorstTruths(attack.truth_search, direction, typical)
            apart = room_of(attack, direction)  # by how far two values are apart

            def least(first: Array, second: Array, bounds: tuple[Array, Array]) -> Array:
                return np.minimum(worst.room(first, second, bounds), apart(first, second, bounds))

            return Rising.through(worst.measure, least, typical, _MANY, worst.rough)
        misjudged = attack.prior_factor > 1 and direction != "posterior"
        if misjudged and _by_hill_boxes(attack):
            return _of_hill_truths(attack, direction)
        if _by_boxes(attack, direction):
            found = _of_wrong_truths(attack, direction)
            return Rising.unknown() if found is None else found
        if misjudged and _is_planned(attack, direction):
            found = _of_wrong_truth(attack, direction)
            assert found is not None
            return found
        most = _LEAST if misjudged and not _by_formula(attack) else _MANY if attack.several is None else _FEW
        return Rising.through(_measure(attack, direction), room_of(attack, direction), typical, most)


def _of_wrong_truths(attack: Attack, direction: Direction, after: float | None = None) -> Rising | None:
    from guessproof.risk.misjudged.truth_curve import curve_of_truths, proven_curve  # only where a prior may be wrong

    move: Move = -1 if direction == "fall" else 1
    if isinstance(attack.attribute.prior, Finite):
        from guessproof.risk.misjudged.along_runs import MisjudgedAlongRuns

        assert attack.runs is not None
        along = MisjudgedAlongRuns(attack.runs, attack.prior_factor, move)
        found = proven_curve(along, None, _typical(attack), after=after)
    else:
        found = curve_of_truths(attack.truth_search, attack.prior_factor, move, _typical(attack), after=after)
    return found.close(_CLOSE) if found is not None and after is None else found


def _of_hill_truths(attack: Attack, direction: Direction, after: float | None = None) -> Rising:
    from guessproof.risk.misjudged.hill_truths import HillTruths  # few distances have a cap
    from guessproof.risk.misjudged.wrong_capped import HillCurve

    truths = HillTruths(attack.truth_search, attack.prior_factor, -1 if direction == "fall" else 1)
    return HillCurve(truths, _typical(attack)).made(after)


def _by_hill_boxes(attack: Attack) -> bool:
    """Whether boxes of true values prove the curve under a cap, beside a prior that may be wrong."""
    if attack.prior_factor == 1 or attack.known_truth or not math.isfinite(attack.prior_factor) or not by_hills(attack):
        return False
    from guessproof.risk.misjudged.wrong_capped import cuts_hills

    return cuts_hills(attack.truth_search)


def _of_wrong_truth(attack: Attack, direction: Direction, after: float | None = None) -> Rising | None:
    """The curve of one true value, up to where so many knots are enough, or after an ε."""
    measures = _measures_misjudged(attack, direction)
    assert measures is not None
    measure, rough = measures
    room, prior = room_of(attack, direction), attack.attribute.prior
    some = _SOME_BY_QUADRATURE if isinstance(prior, LinePrior) and prior.by_quadrature else _SOME
    return Rising.planned(measure, room, rough, room, _typical(attack), some, _CLOSE, after)


def _is_planned(attack: Attack, direction: Direction) -> bool:
    """Whether a prior may be wrong and all ε of one true value are looked at together."""
    if attack.prior_factor == 1 or attack.several is not None:
        return False
    return _measures_misjudged(attack, direction) is not None


def _one(epsilon: Any) -> float:
    value = checked_epsilon(epsilon)
    if value.ndim:
        raise ParameterError("epsilon", epsilon, "is not one number", "ask one at a time")
    return float(value)


def _by_formula(attack: Attack) -> bool:
    """Whether a formula answers: any two values of one attribute are equally far apart, or nothing else counts."""
    if attack.several is None and math.isinf(attack.prior_factor):
        return True
    form = attack.attribute.distance.line_form
    return attack.several is None and form is not None and form.is_flat


def _by_boxes(attack: Attack, direction: Direction) -> bool:
    """Whether boxes of true values prove the curve: under a prior that may be wrong, or beside very many numbers."""
    if direction == "posterior":
        return False
    prior = attack.attribute.prior
    many = attack.several is None and isinstance(prior, Finite) and int(np.count_nonzero(prior.mass)) > _MANY_NUMBERS
    return (attack.prior_factor > 1 or many) and _moves_on_a_line(attack, direction)


def _moves_on_a_line(attack: Attack, direction: Direction) -> bool:
    """Whether the true value is unknown and moves the edges of a goal, beside a sample or a density."""
    if attack.known_truth or attack.several is not None or math.isinf(attack.prior_factor):
        return False
    if isinstance(attack.attribute.prior, Finite):
        return attack.runs is not None and attack.runs.rise
    if not by_tents(attack):
        return False
    from guessproof.risk.misjudged.wrong_curve import moves_on_a_line  # only where a prior may be wrong

    return moves_on_a_line(attack.truth_search, -1 if direction == "fall" else 1)


def _typical(attack: Attack) -> float:
    """An ε in the middle of the curve."""
    parts = [attack] if attack.several is None else []
    if parts and isinstance(attack.attribute.prior, LinePrior):
        return attack.typical
    across = [farthest(a) for a in attack.conditioned.values()]
    sizes = [a for a in across if math.isfinite(a) and a > 0]
    spans = [_span(a.prior, a.distance.line_form) for a in attack.conditioned.values()]
    known = [s for s in (*spans, *sizes) if s is not None and s > 0]
    return 1 / min(known) if known else 1.0


def _span(prior: Any, form: Any) -> float | None:
    """How wide the bulk of a prior is, in units of distance."""
    if form is None or not (isinstance(prior, LinePrior) or (isinstance(prior, Finite) and prior.is_line)):
        return None
    if isinstance(prior, Finite):
        below = np.cumsum(prior.mass)
        ends = prior.points[np.minimum(np.searchsorted(below, [0.1, 0.9]), below.size - 1)]
    else:
        ends = prior.quantile([0.1, 0.9])
    low, high = form.psi(ends)
    return float(high - low)


def _measure(attack: Attack, direction: Direction) -> Measure:
    if attack.prior_factor == 1 and zigzags_of(attack) is not None:
        return _measure_of_zigzags(attack, direction)
    questions: dict[Direction, Any] = {
        "rise": attack.advantage,
        "posterior": attack.posterior,
        "fall": lambda epsilon: attack.advantage(epsilon, both=True),  # the rise beside it is asked anyway
    }

    def measure(epsilon: Array) -> tuple[Array, Array]:
        with np.errstate(all="ignore"):  # far out, integrals end at 0 or infinity, as they should
            found = questions[direction](epsilon)
        return np.asarray(found.attack), np.asarray(found.bound)

    return measure


def _measure_of_zigzags(attack: Attack, direction: Direction) -> Measure:
    """The same where each ε is answered from those around it."""
    belief = belief_of(attack.attribute, attack.goal, attack.true_value, remembers=True)

    def measure(epsilon: Array) -> tuple[Array, Array]:
        if direction == "posterior":
            found = posterior_bracket(belief, epsilon, "upper")
        else:
            found = advantage_bracket(belief, epsilon, direction == "fall")
        return np.asarray(found.attack), np.asarray(found.bound)

    return measure


def _hills_of(attack: Attack) -> HillGoal | None:
    """A goal whose best likelihoods are mountains, at one true value; None elsewhere."""
    if not by_hills(attack) or not attack.known_truth or not math.isfinite(attack.prior_factor):
        return None
    return hill_goal(attack.attribute, attack.goal, attack.true_value, attack.prior_factor)


def _ramps_of(attack: Attack, moves: tuple[Move, ...]) -> list[MisjudgedRamp] | None:
    """The same where a goal reaches to an end of what is possible."""
    from guessproof.risk.misjudged.ramps import MisjudgedRamp  # only where a prior may be wrong

    ramp = ramp_of(attack)
    if ramp is None:
        return None
    found = [MisjudgedRamp.of(ramp, attack.prior_factor, move) for move in moves]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else None


def _zigzags_beside(attack: Attack) -> DensityStretches | AtomStretches | None:
    """The same for a goal of several intervals."""
    if not attack.known_truth or attack.several is not None or zigzags_of(attack) is None:
        return None
    found = stretches_of(attack.attribute, attack.goal, attack.true_value)
    return None if found is None or found.count > _TWO_INTERVALS else found


def _moved(move: Move, way: Move) -> Move:
    """How a belief in an interval moves where that in the goal does: the other way if the goal is all but that."""
    return 1 if move == way else -1


def _measures_misjudged(attack: Attack, direction: Direction) -> tuple[Measure, Rough] | None:
    """The same for one interval at one true value, under a prior that may be wrong: all ε in one go; and roughly.

    None where some of the goal lies further out than peaks are looked for, or where a formula answers.
    """
    if math.isinf(attack.prior_factor):
        return None
    from guessproof.risk.misjudged.along import MisjudgedAlong  # only where a prior may be wrong

    moves: tuple[Move, ...] = (1, -1) if direction == "fall" else (1,)
    peaks, run, ramps = peaks_of(attack), run_of(attack), _ramps_of(attack, moves)
    if peaks is not None or run is not None or ramps is not None:
        _ = attack.prior  # refuses a goal that is empty or certain
    if ramps is not None:
        along = ramps
    elif run is not None:
        from guessproof.risk.misjudged.along_atoms import MisjudgedRun

        form = attack.attribute.distance.line_form
        known = run.atoms, run.ends, 0.0 if form is None else form.step, attack.prior_factor
        along = [MisjudgedRun(*known, _moved(move, run.way)) for move in moves]
    elif peaks is not None:
        lo, hi = peaks.ends
        goal = MisjudgedGoal(peaks.world, lambda t: (lo + 0 * t, hi + 0 * t), lo, lo, attack.prior_factor)
        first, last = TentRanges.of(goal).bulk
        if lo < first or hi > last:
            return None
        along = [MisjudgedAlong(goal, _moved(move, peaks.way)) for move in moves]
    elif (hills := _hills_of(attack)) is not None:
        from guessproof.risk.misjudged.along_hills import MisjudgedHills  # few distances have a cap

        _ = attack.prior
        along = [MisjudgedHills(hills, move) for move in moves]
    elif (cut := _zigzags_beside(attack)) is not None:
        from guessproof.risk.misjudged.along_zigzags import MisjudgedZigzags  # only goals of several intervals

        _ = attack.prior
        form = attack.attribute.distance.line_form
        known = 0.0 if form is None else form.step, attack.prior_factor
        along = [MisjudgedZigzags(cut if move > 0 else cut.turned, *known) for move in moves]
    else:
        return None

    def measure(epsilon: Array) -> tuple[Array, Array]:
        found = [each.measure(epsilon) for each in along]
        return np.max([f[0] for f in found], axis=0), np.max([f[1] for f in found], axis=0)

    return measure, lambda epsilon: np.max([each.rough(epsilon) for each in along], axis=0)
