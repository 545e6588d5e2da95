"""Sound readings of a pledge: each bounds the attacker, whichever is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from guessproof.calculate import Limits
from guessproof.errors import GuessproofError
from guessproof.exposure.aim import Aim, Pledge
from guessproof.exposure.combinations import Combinations, combinations
from guessproof.risk.attack import Attack
from guessproof.risk.bracket import Bracket
from guessproof.risk.limits import advantage_bracket, posterior_bracket, safe_epsilon
from guessproof.world.attributes import Attribute
from guessproof.world.finite import Finite
from guessproof.world.goals import Near, Norm
from guessproof.world.joint import joint_of
from guessproof.world.line_form import LineForm
from guessproof.world.line_metric import LineMetric
from guessproof.world.metrics import Absolute, Discrete, Matrix, Metric, Multiple


@dataclass(frozen=True)
class Reading:
    """One sound reading of a pledge: questions at a given ε.

    `tight`: no smaller metric is promised. `error` is a step in log-likelihood, per unit of ε, that comes on top.
    """

    plain_advantage: Callable[[float, bool], Bracket]
    plain_posterior: Callable[[float], Bracket]
    invert: Callable[[Limits], float]
    tight: bool
    error: float = 0.0

    def advantage(self, epsilon: float, both: bool) -> Bracket:
        """How far the belief can rise, or with both move."""
        return self._widened(self.plain_advantage(epsilon, both), epsilon)

    def posterior(self, epsilon: float) -> Bracket:
        """How high the belief can get."""
        return self._widened(self.plain_posterior(epsilon), epsilon)

    def epsilon(self, limits: Limits) -> float:
        """The largest ε that keeps the limits: a hair less than without the error, checked, or searched for again."""
        found = self.invert(limits)
        if not self.error or not math.isfinite(found) or found <= 0:
            return found
        inside = found * (1 - 1e-9)
        return inside if self._keeps(inside, limits) else self._searched(found, limits)

    def _searched(self, too_large: float, limits: Limits) -> float:
        """Bisection from the safe side, where the error is no longer small beside the rest."""
        low, high = 0.0, too_large
        for _ in range(30):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._keeps(middle, limits) else (low, middle)
        return low

    def _keeps(self, epsilon: float, limits: Limits) -> bool:
        if limits.advantage is not None and float(self.advantage(epsilon, limits.both).bound) > limits.advantage:
            return False
        return limits.posterior is None or float(self.posterior(epsilon).bound) <= limits.posterior

    def _widened(self, bracket: Bracket, epsilon: float) -> Bracket:
        """A step in log-odds moves a belief by a quarter of itself at most."""
        room = epsilon * self.error / 4
        return replace(bracket, bound=min(float(bracket.bound) + room, 1.0)) if room else bracket


def readings(aim: Aim, pledge: Pledge) -> Iterator[Reading]:
    """Every sound reading of a pledge for a goal, the tight one first."""
    tied = _tied(aim)
    world = combinations(aim, pledge, tied)
    if world is not None:
        yield _combined(aim, world, 2 * pledge.error)
    # A column that depends on one outside the goal is reached through it: only the whole change bounds that.
    if not tied:
        yield from _by_column(aim, pledge)
    yield _whole(aim, pledge)


def _combined(aim: Aim, world: Combinations, error: float) -> Reading:
    """Every combination of values, exactly; the worst truth where none is stated."""

    def worst(bracket: Bracket) -> Bracket:
        attacks, bounds = np.atleast_1d(bracket.attack), np.atleast_1d(bracket.bound)
        most = int(np.argmax(bounds))
        if aim.at is not None:
            return replace(bracket, attack=float(attacks[most]), bound=float(bounds[most]))
        at = ", ".join(f"{n} = {world.truths[most][n]}" for n in aim.names)
        prior = float(np.exp(world.belief.log_p[most]))
        return Bracket.meet(attacks[most], bounds[most], bracket.how, worst_at=at, worst_prior=prior)

    def invert(limits: Limits) -> float:
        given = {"advantage": limits.advantage, "posterior": limits.posterior}
        return float(np.min(safe_epsilon(world.belief, **given, both=limits.both)))

    return Reading(
        lambda e, both: worst(advantage_bracket(world.belief, np.asarray(e), both)),
        lambda e: worst(posterior_bracket(world.belief, np.asarray(e), "upper")),
        invert,
        tight=world.complete,
        error=error,
    )


def _by_column(aim: Aim, pledge: Pledge) -> Iterator[Reading]:
    touched = [n for n in aim.names if n in pledge.columns]
    single, numbers = len(aim.names) == 1, [n for n in touched if n in pledge.lines]
    if not single and pledge.euclidean is not None and len(numbers) == len(aim.names):
        slopes: dict[str, Metric] = {n: Absolute(1 / pledge.euclidean) for n in numbers} if pledge.euclidean else {}
        yield _attacked(aim, slopes, "l2", tight=False, error=pledge.error)
        if isinstance(aim.goal, Near):
            return
    tight = single and pledge.tight.issuperset(touched)
    yield _attacked(aim, {n: pledge.columns[n] for n in touched}, "l1", tight=tight)
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
    attack = Attack(aim.build(parts), aim.at, aim.knows, norm=norm)

    return Reading(
        lambda e, both: attack.advantage(epsilon=e, both=both),
        lambda e: attack.posterior(epsilon=e),
        lambda limits: _inverted(attack, limits),
        tight,
        error,
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
    attack = Attack(aim.build(parts), aim.at, aim.knows, norm="linf")
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


def lowered(limits: Limits, step: float) -> Limits:
    """Limits that leave room for a step in log-odds: it moves a belief by a quarter of itself at most."""
    room = step / 4

    def lower(limit: float | None) -> float | None:
        return None if limit is None else limit if limit >= 1 else max(limit - room, 0.0)

    return replace(limits, advantage=lower(limits.advantage), posterior=lower(limits.posterior))
