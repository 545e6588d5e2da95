"""What an attacker can learn from releases whose guarantee metric is known.

A guarantee on several columns can be read in more than one sound way: column by column (their changes add up), by
straight-line distance, as one distance between any two records, or exactly on a table of all combinations. Every
reading bounds the attacker; the least bound counts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from guessproof.calculate import Limits
from guessproof.errors import GuessproofError, InfeasibleError, NotCertifiedError, ParameterError
from guessproof.risk.attack import Attack
from guessproof.risk.bracket import Bracket
from guessproof.risk.finite import FiniteWorld
from guessproof.risk.limits import checked_epsilon
from guessproof.world.attributes import Attribute
from guessproof.world.finite import Finite
from guessproof.world.goals import And, Compound, Goal, Near, Norm, Not
from guessproof.world.joint import JointTable, joint_of
from guessproof.world.line_metric import LineMetric
from guessproof.world.metrics import Absolute, Discrete, LineForm, Matrix, Metric, Multiple
from guessproof.world.priors import Unknown, stretched

Answer = TypeVar("Answer")
MOST_STATES = 250  # combinations of values for which the exact table is built


@dataclass(frozen=True)
class Pledge:
    """What releases promise about one record: a metric per column, and at most `limit` however it changes.

    Everything is per unit of ε. `between` gives the exact change from one set of values to another, where it is
    known; `euclidean` the change per unit of straight-line distance over all columns of numbers.
    """

    columns: Mapping[str, Metric]
    lines: Mapping[str, LineMetric]
    limit: float
    euclidean: float | None = None
    error: float = 0.0
    between: Callable[[Mapping[str, Any], Mapping[str, Any]], float] | None = None


@dataclass(frozen=True)
class Aim:
    """The attacker of a plan: how his goal is built on attributes, the truth, and what he knows."""

    attributes: Mapping[str, Attribute]
    build: Callable[[Mapping[str, Attribute]], Goal]
    at: Mapping[str, Any] | None = None
    knows: Mapping[str, Any] | None = None
    or_: str = "any"

    @cached_property
    def goal(self) -> Goal:
        """The goal on the attributes as they were declared."""
        return self.build(self.attributes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns that the goal speaks of."""
        return tuple(a.name for a in self.goal.attributes)

    def stretched(self, factor: float) -> Aim | None:
        """The same attacker with narrower or wider priors; None where no prior of the goal has a width."""
        found = {n: stretched(a.prior, factor) for n, a in self.attributes.items() if n in self.names}
        if not any(p is not None for p in found.values()):
            return None
        changed = {n: replace(a, prior=p) if (p := found.get(n)) is not None else a for n, a in self.attributes.items()}
        return replace(self, attributes=changed)


@dataclass(frozen=True)
class Reading:
    """One sound reading of a pledge: questions at a given ε. `tight`: no smaller metric is promised."""

    advantage: Callable[[float, bool], Bracket]
    posterior: Callable[[float], Bracket]
    epsilon: Callable[[Limits], float]
    tight: bool


@dataclass(frozen=True)
class Exposure:
    """What the attacker learns, whichever reading shows least."""

    aim: Aim
    pledge: Pledge
    step: float = 0.0  # what rounding to a grid adds between any two different values, whatever ε is

    @cached_property
    def readings(self) -> list[Reading]:
        """Every reading that this goal allows."""
        return list(_readings(self.aim, self.pledge))

    def advantage(self, epsilon: float, both: bool = False) -> Bracket:
        """How far his belief can rise (or, with both, move) after releases of this ε in all."""
        return self._least(lambda r: r.advantage(epsilon, both))

    def posterior(self, epsilon: float) -> Bracket:
        """How high his belief can get."""
        return self._least(lambda r: r.posterior(epsilon))

    @property
    def prior(self) -> float | None:
        """His belief before, where the truth is stated or does not matter; None for the worst truth."""
        try:
            return float(Attack(self.aim.goal, self.aim.at, self.aim.knows, or_=self.aim.or_).prior)
        except GuessproofError:
            return None

    def epsilon(self, limits: Limits) -> float:
        """The largest ε at which every limit is proven to hold, rounding included; math.inf where none can break."""
        inner = _lowered(limits, self.step)
        return max(found for _, found in self._answers(lambda r: r.epsilon(inner)))

    def _least(self, question: Callable[[Reading], Bracket]) -> Bracket:
        answers = self._answers(question)
        best = min((b for _, b in answers), key=lambda b: float(b.bound))
        attacks = [float(b.attack) for r, b in answers if r.tight]
        attack = min(max(attacks, default=0.0), float(best.bound))
        bound = min(float(best.bound) + self.step / 4, 1.0)
        return Bracket.meet(attack, bound, best.how, worst_at=best.worst_at, worst_prior=best.worst_prior)

    def _answers(self, question: Callable[[Reading], Answer]) -> list[tuple[Reading, Answer]]:
        """What each reading says, up to the first that no other can beat."""
        found: list[tuple[Reading, Answer]] = []
        refusal: GuessproofError | None = None
        for reading in self.readings:
            try:
                found.append((reading, question(reading)))
            except InfeasibleError:
                raise
            except GuessproofError as error:
                refusal = refusal or error
                continue
            if reading.tight:
                break
        if not found:
            raise refusal or NotCertifiedError("no reading of this goal could be certified; give the true value: at")
        return found


def _lowered(limits: Limits, step: float) -> Limits:
    """Limits that leave room for a step in log-odds: it moves a belief by a quarter of itself at most."""
    room = step / 4

    def lower(limit: float | None) -> float | None:
        return None if limit is None else limit if limit >= 1 else max(limit - room, 0.0)

    return replace(limits, advantage=lower(limits.advantage), posterior=lower(limits.posterior))


def _readings(aim: Aim, pledge: Pledge) -> Iterator[Reading]:
    """Every sound reading of a pledge for a goal, the tight one first."""
    tied = _tied(aim)
    world = _world(aim, pledge, tied)
    if world is not None:
        yield world
    # A column that depends on one outside the goal is reached through it: only the whole change bounds that.
    if not tied:
        yield from _by_column(aim, pledge)
    yield _whole(aim, pledge)


def _by_column(aim: Aim, pledge: Pledge) -> Iterator[Reading]:
    touched = [n for n in aim.names if n in pledge.columns]
    single, numbers = len(aim.names) == 1, [n for n in touched if n in pledge.lines]
    if not single and pledge.euclidean is not None and len(numbers) == len(aim.names):
        slopes: dict[str, Metric] = {n: Absolute(1 / pledge.euclidean) for n in numbers} if pledge.euclidean else {}
        yield _attacked(aim, slopes, "l2", tight=False, error=pledge.error)
        if isinstance(aim.goal, Near):
            return
    yield _attacked(aim, {n: pledge.columns[n] for n in touched}, "l1", tight=single)
    if len(numbers) == len(touched) and any(_is_capped(pledge.columns[n]) for n in touched):
        yield _attacked(aim, {n: _uncapped(pledge.lines[n]) for n in numbers}, "l1", tight=False)


def _is_capped(metric: Metric) -> bool:
    form = metric.line_form
    return form is None or not np.isinf(form.cap)


def _uncapped(metric: LineMetric) -> LineMetric:
    form = metric.form
    return LineMetric(LineForm(form.cuts, form.slopes, form.jumps, form.step))


def _attacked(aim: Aim, metrics: Mapping[str, Metric], norm: Norm, *, tight: bool, error: float = 0.0) -> Reading:
    """An attack whose distances are those of the query; `error` is a step per unit of ε beside them."""
    parts: dict[str, Attribute] = {}
    for name, attribute in aim.attributes.items():
        metric = metrics.get(name, Multiple(0.0, Discrete()))
        parts[name] = replace(attribute, metric=_fitting(metric, attribute), scale=1.0)
    attack = Attack(aim.build(parts), aim.at, aim.knows, norm=norm, or_=aim.or_)

    def epsilon(limits: Limits) -> float:
        found = _inverted(attack, limits)
        return _inverted(attack, _lowered(limits, found * error)) if error and math.isfinite(found) else found

    def widened(bracket: Bracket, epsilon: float) -> Bracket:
        return replace(bracket, bound=min(float(bracket.bound) + epsilon * error / 4, 1.0))

    return Reading(
        lambda e, both: widened(attack.advantage(epsilon=e, both=both), e),
        lambda e: widened(attack.posterior(epsilon=e), e),
        epsilon,
        tight,
    )


def _inverted(attack: Attack, limits: Limits) -> float:
    return float(attack.epsilon(advantage=limits.advantage, posterior=limits.posterior, both=limits.both))


def _fitting(metric: Metric, attribute: Attribute) -> Metric:
    """Labels need a table that names them all, and a table needs labels."""
    prior = attribute.prior
    if not isinstance(prior, Finite):
        return metric
    values = list(prior.values)
    labels = np.empty(len(values), dtype=object)
    labels[:] = [float(v) if prior.is_line else str(v) for v in values]  # pyright: ignore[reportArgumentType]
    try:
        table = metric.distance(labels[:, None], labels[None, :])
    except (GuessproofError, TypeError, ValueError):
        return metric
    return (
        metric
        if prior.is_line and metric.line_form is not None
        else Matrix(values, np.asarray(table, dtype=np.float64))
    )


def _whole(aim: Aim, pledge: Pledge) -> Reading:
    """Any two records are at most `limit` apart: only the goal's own probability matters."""
    parts = {n: replace(a, metric=_fitting(Discrete(), a), scale=1.0) for n, a in aim.attributes.items()}
    attack = Attack(aim.build(parts), aim.at, aim.knows, norm="linf", or_=aim.or_)
    limit = pledge.limit
    return Reading(
        lambda e, both: attack.advantage(epsilon=limit * e, both=both),
        lambda e: attack.posterior(epsilon=limit * e),
        lambda limits: _inverted(attack, limits) / limit if limit else math.inf,
        tight=False,
    )


def _tied(aim: Aim) -> set[str]:
    """Columns outside the goal on which one inside depends."""
    joints = [joint_of(aim.attributes[n]) for n in aim.names if n in aim.attributes]
    return {name for joint in joints if joint is not None for name in joint.names if name not in aim.names}


# All combinations of finitely many values, exactly.


def _world(aim: Aim, pledge: Pledge, tied: set[str]) -> Reading | None:
    names = [*aim.names, *sorted(tied)]
    if pledge.between is None or len(names) < 2 or aim.or_ == "each":
        return None
    if isinstance(aim.goal, Near) or not all(isinstance(aim.attributes[n].prior, Finite) for n in names):
        return None
    states = _states(aim, names)
    if states is None or len(states) > MOST_STATES:
        return None
    between = pledge.between
    rows = [dict(zip(names, values, strict=True)) for values, _ in states]
    table = _table(rows, between)
    weights = np.asarray([w for _, w in states])
    world = FiniteWorld(prior=weights / weights.sum(), distance=table)
    goals = _goals(aim, rows, weights)

    def worst(question: Callable[[Any], Bracket]) -> Bracket:
        answers = [(truth, question(goal)) for truth, goal in goals]
        truth, best = max(answers, key=lambda a: float(a[1].bound))
        prior = float(np.asarray(dict(_keyed(goals))[_key(truth)], dtype=np.float64) @ world.prior)
        at = None if aim.at is not None else ", ".join(f"{n} = {truth[n]}" for n in aim.names)
        return replace(best, worst_at=at, worst_prior=prior if at else None)

    return Reading(
        lambda e, both: worst(lambda g: world.advantage(g, checked_epsilon(e), both)),
        lambda e: worst(lambda g: world.posterior(g, checked_epsilon(e))),
        lambda limits: min(
            float(world.epsilon(g, advantage=limits.advantage, posterior=limits.posterior, both=limits.both))
            for _, g in goals
        ),
        tight=True,
    )


def _key(truth: Mapping[str, Any]) -> str:
    return repr(sorted(truth.items(), key=lambda kv: kv[0]))


def _keyed(goals: list[tuple[dict[str, Any], Any]]) -> list[tuple[str, Any]]:
    return [(_key(truth), goal) for truth, goal in goals]


def _states(aim: Aim, names: list[str]) -> list[tuple[tuple[Any, ...], float]] | None:
    """Combinations with their probabilities, dependent ones by their joint table; what is known conditions them."""
    blocks: list[list[tuple[dict[str, Any], float]]] = []
    seen: set[str] = set()
    for name in names:
        if name in seen:
            continue
        joint = joint_of(aim.attributes[name])
        if joint is None:
            prior = aim.attributes[name].prior
            assert isinstance(prior, Finite)
            blocks.append([({name: v}, float(w)) for v, w in zip(prior.values, prior.mass, strict=True) if w > 0])
            seen.add(name)
            continue
        if not isinstance(joint, JointTable) or not set(joint.names) <= set(names):
            return None
        total = sum(joint.weights)
        blocks.append(
            [
                (dict(zip(joint.names, r, strict=True)), w / total)
                for r, w in zip(joint.rows, joint.weights, strict=True)
                if w > 0
            ]
        )
        seen.update(joint.names)
    if math.prod(len(b) for b in blocks) > 4 * MOST_STATES:
        return None
    found: list[tuple[tuple[Any, ...], float]] = []
    for combination in itertools.product(*blocks):
        values = {k: v for part, _ in combination for k, v in part.items()}
        weight = math.prod(w for _, w in combination)
        if all(_allowed(values[n], known) for n, known in (aim.knows or {}).items() if n in values):
            found.append((tuple(values[n] for n in names), weight))
    return found or None


def _allowed(value: Any, known: Any) -> bool:
    if isinstance(known, (list, tuple)) and len(known) == 2 and all(isinstance(k, (int, float)) for k in known):
        return float(known[0]) <= float(value) <= float(known[1])
    return value in known if isinstance(known, (set, frozenset, list, tuple)) else value == known


def _table(rows: list[dict[str, Any]], between: Callable[[Mapping[str, Any], Mapping[str, Any]], float]) -> Any:
    table = np.zeros((len(rows), len(rows)))
    for i, j in itertools.combinations(range(len(rows)), 2):
        table[i, j] = table[j, i] = max(between(rows[i], rows[j]), between(rows[j], rows[i]))
    return table


def _goals(aim: Aim, rows: list[dict[str, Any]], weights: Any) -> list[tuple[dict[str, Any], Any]]:
    """The goal as a set of combinations, for the stated truth or for every possible one."""
    truths = [dict(aim.at)] if aim.at is not None else [{n: row[n] for n in aim.names} for row in rows]
    unique = {_key(t): t for t in truths}
    found: list[tuple[dict[str, Any], Any]] = []
    for truth in unique.values():
        mask = np.asarray([_met(aim.goal, row, truth) for row in rows], dtype=np.float64)
        if 0 < mask @ weights < weights.sum() * (1 - 1e-15):
            found.append((truth, mask))
    if not found:
        raise ParameterError("goal", aim.goal, "is empty or certain for every true value", "choose another goal")
    return found


def _met(goal: Goal, row: Mapping[str, Any], truth: Mapping[str, Any]) -> bool:
    if isinstance(goal, Not):
        return not _met(goal.part, row, truth)
    if isinstance(goal, Compound):
        met = [_met(part, row, truth) for part in goal.parts]
        return all(met) if isinstance(goal, And) else any(met)
    attribute = goal.attributes[0]
    prior = attribute.prior
    assert isinstance(prior, Finite)
    return bool(goal.chosen(prior, truth.get(attribute.name))[prior.index(row[attribute.name])])


def knows_no_prior(aim: Aim) -> bool:
    """Whether nothing but a range is known of the goal's columns."""
    return any(isinstance(aim.attributes[n].prior, Unknown) for n in aim.names)
