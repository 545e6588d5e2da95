"""The questions of an attack whose prior may be wrong by a factor, answered by the engine that fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from guessproof import _clock
from guessproof.errors import GoalError, NotCertifiedError
from guessproof.risk.atoms import Atoms, correct_run
from guessproof.risk.bracket import Bracket, Effort
from guessproof.risk.capped import Hills
from guessproof.risk.combinations import Combinations, axis_labels, count_combinations
from guessproof.risk.finite import finite_belief, shortest_paths
from guessproof.risk.limits import Belief, Gain
from guessproof.risk.misjudged.apart import apart_in_table, apart_of, apart_on_line
from guessproof.risk.misjudged.box import GoalBox, WrongBox
from guessproof.risk.misjudged.by_odds import OddsRange
from guessproof.risk.misjudged.hills import HillGoal
from guessproof.risk.misjudged.stretches import AtomStretches, DensityStretches
from guessproof.risk.misjudged.tents import MisjudgedGoal, Move
from guessproof.risk.misjudged.thresholds import MOST_PAIRS, WrongListed
from guessproof.risk.misjudged.wrong_along import WrongAlong
from guessproof.risk.misjudged.wrong_curve import WrongCurve
from guessproof.risk.misjudged.wrong_hills import WrongHills
from guessproof.risk.misjudged.wrong_prior import Widths, WrongPrior, WrongTents
from guessproof.risk.misjudged.wrong_ramp import WrongRamp
from guessproof.risk.misjudged.wrong_rest import WrongRest
from guessproof.risk.misjudged.wrong_zigzags import WrongZigzags
from guessproof.risk.ramp import Ramp
from guessproof.risk.several.belief import JointEngine, several_belief
from guessproof.risk.several.cells import can_cut, cut
from guessproof.risk.several.formula import GoalBlock, blocks
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.lattice import Lattice, edges_between, goal_shares
from guessproof.risk.single import belief_of, true_values
from guessproof.risk.tent import TiltedIntegrals
from guessproof.risk.truth_search import TruthSearch
from guessproof.risk.truths import possible_values, true_value, values_along
from guessproof.risk.worst_atoms import Runs
from guessproof.risk.worst_case import worst_true_value
from guessproof.risk.zigzag import left_out
from guessproof.risk.zigzag_atoms import runs_of
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array, Mask
from guessproof.world.finite import Finite
from guessproof.world.goals import Conditional, Goal, Not
from guessproof.world.line import LinePrior, expit
from guessproof.world.line_form import LineForm

MOST_TRUTHS = 300  # true values that are asked one by one
_MOST_COMBINATIONS = 400  # of which all distances are looked at
_UP, _ROUNDS = 1.25, 6  # of searches for a larger ε
_CELLS = (250, 800)  # of a program of products, and of a finer one
_RINGS = ((1, 2), (1,)), ((2, 4), (2, 4))  # of its products, with mirror images and without
_MORE_RINGS = (1, 2), (1, 2)  # where finer cells would take too long
_SLICES = 512  # of a range of true values, for what is believed before
_ONE_RUN, _MOST_STRETCHES = 3, 17  # of goal and rest along a line: eight intervals
_SMALL = 15_000  # rows of the first, so that finer cells do not


@dataclass(frozen=True)
class Misjudged:
    """Several true values, or one, each with its engine; the answer is the worst of them, or one for each."""

    engines: Any  # an array of WrongPrior, of the shape of the true values
    how: str
    worst: bool = False
    truths: tuple[Any, ...] = ()

    def advantage(self, epsilon: Array, both: bool, effort: Effort | None = None) -> Bracket:
        """How far the belief can rise, or move either way, for each ε and true value."""
        share = 1 / max(1, np.broadcast(*self._each(epsilon)).size * (2 if both else 1))

        def one(engine: WrongPrior, value: float) -> tuple[float, float]:
            if value == 0:
                return 0.0, 0.0
            found: list[tuple[float, float]] = []
            for move in _moves(both):
                if effort is None:
                    found.append((engine.reached(value, move), engine.limit(value, move)))
                else:
                    found.append(_narrowed(engine, value, move, effort, share))
            bound = max(b for _, b in found)
            return min(max(a for a, _ in found), bound), bound

        attack, bound = np.vectorize(one, otypes=[np.float64, np.float64])(*self._each(epsilon))
        at, prior = self._worst_at(epsilon, bound)
        return Bracket.meet(self._most(attack), self._most(bound), self.how, worst_at=at, worst_prior=prior)

    def epsilon(self, advantage: Array, both: bool, effort: Effort | None = None) -> Array:
        """The largest ε that is proven to keep a limit."""

        def one(engine: WrongPrior, limit: float) -> float:
            least = min(engine.epsilon(limit, move) for move in _moves(both))
            return least if effort is None else _larger_epsilon(engine, least, limit, _moves(both), effort)

        def worst(limit: float) -> float:
            least = math.inf
            for engine in self.engines.ravel():
                if not all(least < math.inf and engine.keeps(least, limit, move) for move in _moves(both)):
                    least = min(least, one(engine, limit))
            return least

        if self.worst:
            return np.asarray(np.vectorize(worst, otypes=[np.float64])(advantage))
        return np.asarray(np.vectorize(one, otypes=[np.float64])(self.engines, advantage))

    def largest_factor(self, epsilon: float, limit: float, both: bool) -> float:
        """The largest factor at which the limit is proven, for every true value."""
        engines: Iterable[WrongPrior] = self.engines.ravel()
        least = math.inf
        for engine, move in product(engines, _moves(both)):
            if not engine.wrong_by(least).keeps(epsilon, limit, move):
                least = min(least, engine.largest_factor(epsilon, limit, move))
        return least

    def quick_factor(self, epsilon: float, limit: float, both: bool) -> float:
        """The same, or less, at once."""
        engines: Iterable[WrongPrior] = self.engines.ravel()
        return min(engine.quick_factor(epsilon, limit, move) for engine, move in product(engines, _moves(both)))

    def _each(self, values: Array) -> tuple[Array, Array]:
        if not self.worst:
            return self.engines, values
        return self.engines.reshape((-1, *[1] * values.ndim)), values

    def _most(self, found: Any) -> Any:
        return np.max(found, axis=0) if self.worst else found

    def _worst_at(self, epsilon: Array, bound: Array) -> tuple[Any, float | None]:
        """The true value that is most exposed, and its declared prior."""
        if not self.worst or epsilon.ndim:
            return None, None
        place = int(np.argmax(bound))
        engine: WrongPrior = self.engines.ravel()[place]
        among = engine.worst_at(float(epsilon))
        if among is not None:
            return among
        return self.truths[place] if self.truths else place, float(expit(engine.widths.log_odds))


def _narrowed(engine: WrongPrior, epsilon: float, move: Move, effort: Effort, share: float) -> tuple[float, float]:
    """A better attack, and a limit within the tolerance of it, in odds at the declared prior; or after all the work."""
    p, reached = float(expit(move * engine.widths.log_odds)), engine.climbed(epsilon, move)
    after = min(p + reached, 1.0)
    enough = after * math.exp(effort.tolerance) / (1 - after + after * math.exp(effort.tolerance)) - p
    return reached, engine.narrowed(epsilon, move, enough, effort.seconds * share)


def _larger_epsilon(engine: WrongPrior, start: float, limit: float, moves: tuple[Move, ...], effort: Effort) -> float:
    """A larger ε where more work proves the limit there; every step up is proven before it is taken."""
    if not 0 < start < math.inf:
        return start
    began, low, high, trial = effort.clock(), start, math.inf, start * _UP
    for _ in range(_ROUNDS):
        left = effort.seconds - (effort.clock() - began)
        if left <= 0 or high / low - 1 < 0.5 * effort.tolerance:
            break
        moved = max(engine.narrowed(trial, move, limit, left / (2 * len(moves))) for move in moves)
        low, high = (trial, high) if moved <= limit else (low, trial)
        guess = trial * limit / moved * 0.995
        trial = guess if low * 1.005 < guess < high else math.sqrt(low * high) if high < math.inf else low * _UP
    return low


def _moves(both: bool) -> tuple[Move, ...]:
    return (1, -1) if both else (1,)


def misjudged_at(attribute: Attribute, goal: Goal, at: Any, factor: float) -> Misjudged:
    """A goal about one attribute at one true value, or at each of an array of them."""
    truths = np.asarray(at) if isinstance(at, (list, np.ndarray)) else None
    if truths is None:
        engine = _engine(attribute, goal, at, factor)
        return Misjudged(_array([engine], ()), _how(engine))
    engines = [_engine(attribute, goal, t, factor) for t in truths.ravel().tolist()]
    return Misjudged(_array(engines, truths.shape), _how(engines[0]))


def misjudged_anywhere(attribute: Attribute, goal: Goal, search: Callable[[], TruthSearch], factor: float) -> Misjudged:
    """A goal about one attribute at the worst true value."""
    if isinstance(attribute.prior, Finite):
        return _over_listed(attribute, attribute.prior, goal, factor)
    truths = search()
    if truths.form.is_flat:
        raise NotCertifiedError("the worst true value of a two-valued distance needs a finite prior; give at={…}")
    engine = _anywhere_on_line(truths, factor)
    if math.isfinite(truths.form.cap):
        from guessproof.risk.misjudged.wrong_capped import WrongCapped, cuts_hills  # few distances have a cap

        uncapped = _anywhere_on_line(replace(truths, form=replace(truths.form, cap=np.inf)), factor)
        across = truths.form.cap + truths.form.step
        capped = WrongCapped(factor, replace(engine.widths, across=across), truths, uncapped)
        boxes = "mountains and the priors that favour them, proven by boxes of true values"
        how = boxes if cuts_hills(truths) else "what is proven without the cap"
        return Misjudged(_array([capped], (1,)), f"prior wrong by up to ×{factor:g}: {how}", worst=True)
    return Misjudged(_array([engine], (1,)), f"{_how(engine)} of true values", worst=True)


def _anywhere_on_line(truths: TruthSearch, factor: float) -> WrongCurve:
    """One interval around the worst true value, under a distance that is taken to have no cap."""
    world = MisjudgedGoal(TiltedIntegrals(truths.prior, truths.form), truths.edges, truths.low, truths.high, factor)
    most, least = worst_true_value(truths, 0.0, "posterior").bound, _least_declared(truths)
    with np.errstate(divide="ignore"):
        log_odds, least_odds = (float(np.log(p) - np.log1p(-min(p, 1.0))) for p in (most, least))
    widths = replace(_widths_on(truths.prior, truths.form, *truths.prior.support, log_odds), least=least_odds)
    return WrongCurve(factor, widths, world, None, truths)


def _least_declared(truths: TruthSearch) -> float:
    """What is believed before at least, whichever true value it is: all goals of a slice hold what its ends share."""
    if not (truths.moves_forwards and math.isfinite(truths.low) and math.isfinite(truths.high)):
        return 0.0
    t = np.linspace(truths.low, truths.high, _SLICES + 1)
    t1, t2 = (e[truths.prior.mass(t[:-1], t[1:]) > 0] for e in (t[:-1], t[1:]))
    lo, hi = truths.edges(t2)[0], truths.edges(t1)[1]
    return float(np.min(np.clip(truths.prior.mass(lo, np.maximum(lo, hi)), 0.0, 1.0), initial=1.0)) * (1 - 1e-9)


def misjudged_world(mass: Array, distance: Array, goals: Array, factor: float) -> Misjudged:
    """Some points of a finite world, or shares of points; of several such goals (one a row) the most exposed."""
    distance = shortest_paths(distance)
    rows = goals.reshape(-1, mass.size)
    beliefs = [finite_belief(mass, distance, marks) for marks in rows]
    engines = [
        _on_table(factor, mass, distance, m, b, detours=False, among=len(rows))
        for m, b in zip(rows, beliefs, strict=True)
    ]
    return Misjudged(_array(engines, goals.shape[:-1]), _how(engines[0]), worst=goals.ndim > 1)


def misjudged_several(engine: JointEngine, factor: float) -> Misjudged:
    """A goal about several attributes at stated true values."""
    world, goal, belief = engine.joint_attack, engine.goal, several_belief(engine, None, closer=True)
    members = world.members(goal)
    if count_combinations(members) <= _MOST_COMBINATIONS:
        table = Combinations.of(members)
        everyone, detours = np.arange(table.size), not all(a.distance.keeps_triangle for a in members)
        distance, marks = table.distances(world.norm, everyone, everyone), table.correct(goal, world.truth)
        found = _on_table(factor, table.mass, distance, marks, belief, detours=detours)
        return Misjudged(_array([found], ()), _how(found))
    across = world.diameter(goal)
    widths = Widths(across, across, across, float(belief.log_p - belief.log_q))
    pairs = cache(lambda: apart_of(world, engine.tree))
    gain = _remembered(belief.gain)
    belief, more = replace(belief, gain=gain), (_by_products(engine), _alternating(engine))
    by_odds = OddsRange(factor, widths, belief, pairs, _signed(engine), *more)
    box = _box_of(engine)
    found = by_odds if box is None else WrongBox(factor, widths, by_odds, box)
    return Misjudged(_array([found], ()), _how(found))


def _signed(engine: JointEngine) -> Callable[[float, float, Move], float]:
    """Attacks by signed distances, where all blocks have one attribute."""

    def attack(epsilon: float, factor: float, move: Move) -> float:
        from guessproof.risk.misjudged.levels import signed_rise  # only where an attack is asked for

        alone = all(b.is_single for b in blocks(engine.tree))
        return signed_rise(engine.joint_attack, engine.tree, epsilon, factor, move) if alone else 0.0

    return attack


def _by_products(engine: JointEngine) -> Callable[[float, float, Move, float, float], float]:
    """The bound by products of cells, for goals about two attributes whose edges lie on edges of cells."""

    def closer(epsilon: float, factor: float, move: Move, enough: float, seconds: float) -> float:
        world, goal = engine.joint_attack, engine.goal
        if factor <= 1 or len(world.members(goal)) != 2 or not can_cut(world, goal) or isinstance(goal, Conditional):
            return 1.0
        from guessproof.risk.misjudged.products import Products, products, stage_by_stage  # only to narrow a bracket

        def program(target: int, rings: tuple[tuple[int, ...], tuple[int, ...]]) -> Products | None:
            cells, _ = cut(world, goal, epsilon, target)
            correct = _wholly(cells, goal, world, move)
            if correct is None:
                return None
            return products(cells, edges_between(cells, epsilon), correct, epsilon, factor, rings)

        def programs() -> Iterator[tuple[Products, bool]]:
            first = program(_CELLS[0], _RINGS[0])
            if first is None:
                return
            yield first, False
            large = first.rows.shape[0] > _SMALL
            second = program(_CELLS[0], _MORE_RINGS) if large else program(_CELLS[1], _RINGS[1])
            if second is not None:
                yield second, True

        return stage_by_stage(programs(), enough, seconds, _clock.now)

    return closer


def _wholly(cells: Lattice, goal: Goal, world: JointAttack, move: Move) -> Mask | None:
    """Which cells are believed in, where none is cut; None otherwise."""
    low, high = goal_shares(cells, goal, world)
    if not np.array_equal(low, high) or not np.all((low == 0) | (low == 1)) or not 0 < low.sum() < low.size:
        return None
    return low > 0 if move > 0 else low == 0


def _alternating(engine: JointEngine) -> Callable[[float, float, Move], float]:
    """Attacks that take turns, where cells can be cut."""

    def attack(epsilon: float, factor: float, move: Move) -> float:
        world, goal = engine.joint_attack, engine.goal
        if len(world.members(goal)) != 2 or not can_cut(world, goal) or isinstance(goal, Conditional):
            return 0.0
        from guessproof.risk.misjudged.alternating import alternating_rise  # only where a bracket is narrowed

        return alternating_rise(world, goal if move > 0 else ~goal, epsilon, factor)

    return attack


def _box_of(engine: JointEngine) -> GoalBox | None:
    """The goal as an AND of one finite interval for each of two or three attributes with densities; else None."""
    world, tree = engine.joint_attack, engine.tree
    if isinstance(tree, GoalBlock) or tree.kind != "and" or world.norm != "linf" or not 2 <= len(tree.parts) <= 3:
        return None
    parts: list[tuple[TiltedIntegrals, tuple[float, float]]] = []
    for block in tree.parts:
        if not isinstance(block, GoalBlock) or not block.is_single or isinstance(block.goal, Not):
            return None
        attribute = world.attributes[block.goal.attributes[0].name]
        prior, form = attribute.prior, attribute.distance.line_form
        if not isinstance(prior, LinePrior) or form is None or form.step or any(form.jumps) or not np.isinf(form.cap):
            return None
        if form.is_flat:
            return None
        intervals = block.goal.edges(np.asarray(true_value(block.goal, world.truth), dtype=np.float64))
        if len(intervals) != 1:
            return None
        lo, hi = (float(np.clip(end, *prior.support)) for end in intervals[0])
        if not (np.isfinite(lo) and np.isfinite(hi) and lo < hi):
            return None
        parts.append((TiltedIntegrals(prior, form), (lo, hi)))
    return GoalBox(tuple(w for w, _ in parts), tuple(e for _, e in parts))


def _remembered(gain: Gain) -> Gain:
    """A gain that is worked out once for each ε: it knows nothing of the factor."""
    found: dict[float, tuple[Array, Array]] = {}

    def again(k: Array) -> tuple[Array, Array]:
        if float(k) not in found:
            found[float(k)] = gain(k)
        return found[float(k)]

    return again


def _over_listed(attribute: Attribute, prior: Finite, goal: Goal, factor: float) -> Misjudged:
    sample = prior.is_line and prior.between is not None
    truths = list(values_along(attribute, goal)) if sample else possible_values(attribute)
    if len(truths) > MOST_TRUTHS:
        runs = Runs.of(attribute, goal)
        if runs is None or not runs.rise:
            problem = f"{len(truths)} true values are too many beside a prior that may be wrong"
            raise NotCertifiedError(f"{problem}; give a true value with at={{…}}")
        from guessproof.risk.misjudged.wrong_runs import WrongRuns  # large samples only

        engine = WrongRuns.of(factor, runs)
        return Misjudged(_array([engine], (1,)), f"{_how(engine)}, by boxes of true values", worst=True)
    engines: list[WrongPrior] = []
    kept: list[Any] = []
    for truth in truths:
        try:
            engines.append(_engine(attribute, goal, truth, factor, len(truths)))
        except GoalError:  # certain or empty there: nothing can be learned
            continue
        kept.append(truth)
    if not engines:
        raise GoalError("goal", goal, "is empty or certain for every true value", "choose another goal")
    return Misjudged(_array(engines, (len(engines),)), _how(engines[0]), worst=True, truths=tuple(kept))


def _engine(attribute: Attribute, goal: Goal, at: Any, factor: float, among: int = 1) -> WrongPrior:
    belief, form, prior = belief_of(attribute, goal, at), attribute.distance.line_form, attribute.prior
    log_odds = float(np.asarray(belief.log_p - belief.log_q).reshape(()))
    if isinstance(prior, LinePrior):
        t = np.asarray(0.0) if at is None else true_values(attribute, prior, at)
        intervals, place = goal.edges(t), float(np.clip(t, *attribute.range))
        region = [(float(a), float(b)) for a, b in intervals]
        if form is not None and np.isinf(form.cap) and not form.is_flat:
            if len(intervals) == 1:
                return _on_line(prior, form, region[0], place, factor, belief)
            between = left_out(prior, region)
            if between is not None:
                return WrongRest.of(_on_line(prior, form, between, place, factor, belief.turned))
        across = farthest(attribute)
        hills = hill_goal(attribute, goal, at, factor)
        if hills is not None:
            return WrongHills(factor, Widths(across, across, across, log_odds), hills)
        pairs = (lambda: None) if form is None else cache(lambda: apart_on_line(prior, form, tuple(region)))
        widths = Widths(across, across, across, log_odds)
        by_odds = OddsRange(factor, widths, replace(belief, gain=_remembered(belief.gain)), pairs)
        cut = stretches_of(attribute, goal, at)
        return by_odds if cut is None or form is None else WrongZigzags(factor, widths, cut, form.step, by_odds)
    assert isinstance(prior, Finite)
    marks = np.asarray(goal.chosen(prior, at))
    many = _many_numbers(factor, prior, form, marks, log_odds, among)
    if many is not None:
        return many
    cut = stretches_of(attribute, goal, at)
    if cut is not None and form is not None and np.count_nonzero(prior.mass) > _MOST_COMBINATIONS:
        across = farthest(attribute)
        widths = Widths(across, across, across, log_odds)
        by_odds = OddsRange(factor, widths, replace(belief, gain=_remembered(belief.gain)))
        return WrongZigzags(factor, widths, cut, form.step, by_odds)
    labels = axis_labels(prior)
    table = attribute.distance.distance(labels[:, None], labels[None, :])
    detours = not attribute.distance.keeps_triangle
    found = _on_table(factor, prior.mass, table, marks, belief, detours=detours, among=among)
    if cut is None or form is None or not isinstance(found, OddsRange):
        return found
    return WrongZigzags(factor, found.widths, cut, form.step, found)


def stretches_of(attribute: Attribute, goal: Goal, at: Any) -> DensityStretches | AtomStretches | None:
    """Several runs of correct guesses under a distance without a cap; None elsewhere, or where they are many."""
    prior, form = attribute.prior, attribute.distance.line_form
    if form is None or form.is_flat or not np.isinf(form.cap):
        return None
    if isinstance(prior, LinePrior):
        t = np.asarray(0.0) if at is None else true_values(attribute, prior, at)
        world = TiltedIntegrals(prior, form)
        cut = DensityStretches.of(world, [(float(a), float(b)) for a, b in goal.edges(t)])
        return cut if cut is None or len(cut.every) <= _MOST_STRETCHES else None
    if not isinstance(prior, Finite) or not prior.is_line:
        return None
    marks = np.asarray(goal.chosen(prior, at))[prior.mass > 0]
    if not np.all((marks == 0) | (marks == 1)) or not 0 < np.count_nonzero(marks) < marks.size:
        return None
    correct = marks > 0
    several = _ONE_RUN < len(runs_of(correct)) <= _MOST_STRETCHES
    return AtomStretches(Atoms.of(prior, form), correct) if several else None


def _on_line(
    prior: LinePrior, form: LineForm, ends: tuple[float, float], place: float, factor: float, belief: Belief
) -> WrongPrior:
    """One interval under a distance without a cap, beside a density."""
    lo, hi = (float(end) for end in np.clip(ends, *prior.support))  # beyond it nobody is: what ends there is whole
    widths = _widths_on(prior, form, lo, hi, float(np.asarray(belief.log_p - belief.log_q).reshape(())))
    ramp = Ramp.of(prior, form, lo, hi)
    found = None if ramp is None else WrongRamp.of(factor, widths, ramp)
    if found is not None:
        return found
    world = MisjudgedGoal(TiltedIntegrals(prior, form), lambda x: (lo + 0 * x, hi + 0 * x), place, place, factor)
    tents = WrongTents(factor, widths, world, OddsRange(factor, widths, belief))
    return WrongAlong(factor, widths, tents) if WrongAlong.suits(world) else tents


def hill_goal(attribute: Attribute, goal: Goal, at: Any, factor: float) -> HillGoal | None:
    """One finite interval under a distance with a cap that does not jump; None elsewhere."""
    prior, form = attribute.prior, attribute.distance.line_form
    if not isinstance(prior, LinePrior) or form is None or form.is_flat or any(form.jumps) or np.isinf(form.cap):
        return None
    intervals = goal.edges(np.asarray(0.0) if at is None else true_values(attribute, prior, at))
    lo, hi = (float(np.clip(end, *prior.support)) for end in intervals[0])
    if len(intervals) > 1 or not (math.isfinite(lo) and math.isfinite(hi) and form.psi(lo) < form.psi(hi)):
        return None
    return HillGoal(Hills.of(prior, form), lo, hi, form.step, factor)


def _many_numbers(
    factor: float, prior: Finite, form: LineForm | None, marks: Array, log_odds: float, among: int
) -> WrongPrior | None:
    """A run of numbers of which not every turn can be tried; None where that can be done, or they are none."""
    if not prior.is_line or form is None or form.is_flat or not np.isinf(form.cap):
        return None
    run = correct_run(prior, marks)
    if run is None and correct_run(prior, 1 - marks) is not None:
        others = _many_numbers(factor, prior, form, 1 - marks, -log_odds, among)
        return None if others is None else WrongRest.of(others)
    if run is None:
        return None
    inside = run[1] - run[0] + 1
    if inside * (inside + 1) * (np.count_nonzero(prior.mass) - inside + 1) * among <= MOST_PAIRS:
        return None
    from guessproof.risk.misjudged.wrong_run import WrongRun  # large samples only

    atoms, (i, j) = Atoms.of(prior, form), run
    psi, last = atoms.psi, atoms.psi.size - 1
    sides = [psi[j] - psi[0]] * (i > 0) + [psi[last] - psi[i]] * (j < last)
    within, beside, across = (float(w) + form.step for w in (psi[j] - psi[i], psi[last] - psi[0], max(sides)))
    return WrongRun(factor, Widths(within, beside, across, log_odds), atoms, run, form.step)


def _on_table(
    factor: float, mass: Array, table: Array, marks: Array, belief: Belief, *, detours: bool, among: int = 1
) -> WrongPrior:
    """Finitely many values: exact where they are few enough (fewer `among` several goals), by odds elsewhere."""
    some = mass > 0
    mass, table, marks = mass[some], table[np.ix_(some, some)], marks[some]
    table = shortest_paths(table) if detours else table
    correct = marks > 0
    if np.all((marks == 0) | (marks == 1)):
        listed = WrongListed.of(factor, mass, table, correct, among)
        if listed is not None:
            return listed
    pairs = ((correct, correct), (~correct, ~correct), (correct, ~correct))
    within, beside, across = (float(np.max(table[np.ix_(a, b)], initial=0.0)) for a, b in pairs)
    widths = Widths(within, beside, across, float(np.asarray(belief.log_p - belief.log_q).reshape(())))
    whole = bool(np.all((marks == 0) | (marks == 1)))
    pairs = cache(lambda: apart_in_table(mass, table, correct) if whole else None)
    return OddsRange(factor, widths, replace(belief, gain=_remembered(belief.gain)), pairs)


def _widths_on(prior: LinePrior, form: LineForm, lo: float, hi: float, log_odds: float) -> Widths:
    """How far apart values can be within the goal [lo, hi], outside of it on either side, and across its edge."""
    low, high = prior.support
    lo, hi = max(lo, low), min(hi, high)
    right = float(form.psi(high) - form.psi(lo)) if hi < high or lo == low else 0.0
    left = float(form.psi(hi) - form.psi(low)) if lo > low or hi == high else 0.0
    inside, outside = (float(form.psi(b) - form.psi(a)) for a, b in ((lo, hi), (low, high)))
    return Widths(inside + form.step, outside + form.step, max(left, right) + form.step, log_odds)


def farthest(attribute: Attribute) -> float:
    """The largest distance between two possible values."""
    prior, metric = attribute.prior, attribute.distance
    if isinstance(prior, Finite) and not (prior.is_line and metric.line_form is not None):
        labels = axis_labels(prior)[prior.mass > 0]
        return float(np.max(metric.distance(labels[:, None], labels[None, :])))
    if isinstance(prior, Finite):  # on a line the first and the last one are furthest apart
        points = prior.points[prior.mass > 0]
        return float(metric.distance(points[0], points[-1]))
    ends = tuple(np.asarray(e) for e in (prior.support if isinstance(prior, LinePrior) else (prior.low, prior.high)))
    return float(metric.spread((ends[0], ends[1]), (ends[0], ends[1])))


def _array(engines: list[Any], shape: tuple[int, ...]) -> Any:
    found = np.empty(len(engines), dtype=object)
    found[:] = engines
    return found.reshape(shape)


def _how(engine: WrongPrior) -> str:
    if isinstance(engine, WrongBox):
        return f"prior wrong by up to ×{engine.factor:g}: what is declared, and the least that lies far from a peak"
    if isinstance(engine, WrongListed):
        return f"prior wrong by up to ×{engine.factor:g}: every corner likelihood with the priors that favour it"
    if isinstance(engine, WrongRest):
        return _how(engine.goal)
    if isinstance(engine, WrongZigzags):
        return f"prior wrong by up to ×{engine.factor:g}: zigzags and the priors that favour them, by one walk"
    if isinstance(engine, WrongRamp):
        return f"prior wrong by up to ×{engine.factor:g}: one ramp tells most, and the priors that favour it"
    if isinstance(engine, WrongAlong):
        return f"prior wrong by up to ×{engine.factor:g}: tents and the priors that favour them, proven on a grid"
    if isinstance(engine, WrongTents):
        return f"prior wrong by up to ×{engine.factor:g}: tents and the priors that favour them, proven by boxes"
    if isinstance(engine, WrongHills):
        return f"prior wrong by up to ×{engine.factor:g}: mountains and the priors that favour them, proven by cells"
    if isinstance(engine, OddsRange):
        return f"prior wrong by up to ×{engine.factor:g}: what the declared prior gains, widened by odds"
    return f"prior wrong by up to ×{engine.factor:g}: tents on the prior's own values, and the priors that favour them"
