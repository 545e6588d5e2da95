"""Sound views of a guarantee: each bounds the attacker, whichever is asked.

A guarantee on several columns can be read in more than one way: column by column (their changes add up), by
straight-line distance, as one distance between any two records, or exactly on a table of all combinations.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.calculate import Limits
from guessproof.errors import GoalError, GuessproofError, InfeasibleError
from guessproof.guarantee import Guarantee
from guessproof.risk import (
    Attack,
    Belief,
    Bracket,
    Combinations,
    MisspecifiedPrior,
    OpenTruths,
    count_combinations,
    factor_between,
    finite_belief,
    open_truths,
    posterior_before,
    prior_error_in,
    rounded_down,
    true_combinations,
    with_factor,
)
from guessproof.world import (
    Absolute,
    Array,
    Attribute,
    Discrete,
    Exactly,
    Finite,
    LineMetric,
    Matrix,
    Metric,
    Multiple,
    Near,
    Norm,
    PartlyKnown,
    Unknown,
    conditioned,
    label_of,
)

if TYPE_CHECKING:
    from guessproof.exposure.exposure import Attacker

MOST_COMBINATIONS = 250  # of values for which the exact table is built


def lowered(limits: Limits, step: float) -> Limits:
    """Limits that leave room for a step in log-odds: it moves a belief by a quarter of itself at most."""
    room = step / 4

    def lower(limit: float | None) -> float | None:
        return None if limit is None else limit if limit >= 1 else max(limit - room, 0.0)

    return replace(limits, advantage=lower(limits.advantage), posterior=lower(limits.posterior))


@dataclass(frozen=True)
class GuaranteeView(ABC):
    """One sound view of a guarantee: questions at a given ε.

    `tight`: no smaller metric is promised. `rounding` is a step in log-likelihood, per unit of ε, that comes on top.
    """

    tight: bool
    rounding: float

    @property
    def is_own(self) -> bool:
        """Whether distances are the query's own, so that an attack in them is one on the query."""
        return self.tight

    @abstractmethod
    def plain_advantage(self, epsilon: float, both: bool) -> Bracket:
        """How far the belief can rise, or with both move, without rounding."""

    @abstractmethod
    def plain_posterior(self, epsilon: float) -> Bracket:
        """How high the belief can get, without rounding."""

    @abstractmethod
    def plain_epsilon(self, limits: Limits) -> float:
        """The largest ε that keeps the limits, without rounding."""

    def largest_prior_factor(self, epsilon: float, limits: Limits, *, quick: bool) -> float:
        """How wrong the prior may be while the limits are proven to hold; 0 where this view cannot say."""
        return 0.0

    def advantage(self, epsilon: float, both: bool) -> Bracket:
        """How far the belief can rise, or with both move."""
        return self._widened(self.plain_advantage(epsilon, both), epsilon)

    def posterior(self, epsilon: float) -> Bracket:
        """How high the belief can get."""
        return self._widened(self.plain_posterior(epsilon), epsilon)

    def epsilon(self, limits: Limits) -> float:
        """The largest ε that keeps the limits: a hair less than without rounding, checked, or searched for again."""
        found = self.plain_epsilon(limits)
        if not self.rounding or not math.isfinite(found) or found <= 0:
            return found
        inside = found * (1 - 1e-9)
        return inside if self.keeps(inside, limits) else self._searched(found, limits)

    def _searched(self, too_large: float, limits: Limits) -> float:
        """Bisection from the safe side, where rounding is no longer small beside the rest."""
        low, high = 0.0, too_large
        for _ in range(30):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.keeps(middle, limits) else (low, middle)
        return low

    def keeps(self, epsilon: float, limits: Limits) -> bool:
        """Whether the limits are proven to hold at this ε."""
        if limits.advantage is not None and float(self.advantage(epsilon, limits.both).bound) > limits.advantage:
            return False
        return limits.posterior is None or float(self.posterior(epsilon).bound) <= limits.posterior

    def _widened(self, bracket: Bracket, epsilon: float) -> Bracket:
        """A step in log-odds moves a belief by a quarter of itself at most."""
        room = epsilon * self.rounding / 4
        return replace(bracket, bound=min(float(bracket.bound) + room, 1.0)) if room else bracket


@dataclass(frozen=True)
class AttackView(GuaranteeView):
    """An attack with distances of its own; `factor` of them make one unit of ε."""

    attack: Attack
    factor: float = 1.0
    own: bool = False

    @property
    def is_own(self) -> bool:
        return self.tight or self.own

    def plain_advantage(self, epsilon: float, both: bool) -> Bracket:
        return self.attack.advantage(epsilon=self.factor * epsilon, both=both)

    def plain_posterior(self, epsilon: float) -> Bracket:
        return self.attack.posterior(epsilon=self.factor * epsilon)

    def plain_epsilon(self, limits: Limits) -> float:
        found = self.attack.epsilon(advantage=limits.advantage, posterior=limits.posterior, both=limits.both)
        return float(found) / self.factor if self.factor else math.inf

    def largest_prior_factor(self, epsilon: float, limits: Limits, *, quick: bool) -> float:
        limits = lowered(limits, epsilon * self.rounding)
        return self.attack.largest_prior_factor(
            epsilon=self.factor * epsilon,
            advantage=limits.advantage,
            posterior=limits.posterior,
            both=limits.both,
            quick=quick,
        )


@dataclass(frozen=True)
class CombinationView(GuaranteeView):
    """Every combination of values, exactly; the worst truth where none is stated."""

    attacker: Attacker
    belief: Belief
    world: OpenTruths
    mass: Array
    distance: Array

    @cached_property
    def _misjudged(self) -> MisspecifiedPrior:
        """The same under priors that may be wrong."""
        return prior_error_in(self.mass, self.distance, self.world.correct, self.attacker.prior_factor)

    def plain_advantage(self, epsilon: float, both: bool) -> Bracket:
        if self.attacker.prior_factor > 1:
            found = self._misjudged.advantage(np.asarray(epsilon), both)
            at = None if self.attacker.at is not None else self._said(self.world.truths[found.worst_at])
            return replace(found, worst_at=at, worst_prior=None if at is None else found.worst_prior)
        return self._worst(self.belief.advantage(np.asarray(epsilon), both))

    def plain_posterior(self, epsilon: float) -> Bracket:
        bracket = self.belief.posterior(np.asarray(epsilon), "upper")
        bracket = bracket if self.attacker.prior_factor == 1 else with_factor(bracket, self.attacker.prior_factor)
        if self.world.certain is None:
            return self._worst(bracket)
        return Bracket.meet(1.0, 1.0, bracket.how, worst_at=self._said(self.world.certain), worst_prior=1.0)

    def plain_epsilon(self, limits: Limits) -> float:
        if self.world.certain is not None and limits.posterior is not None and limits.posterior < 1:
            raise InfeasibleError(
                f"posterior: at the true value {self.world.certain} the goal is certain before any release; choose a "
                "narrower goal"
            )
        factor, found = self.attacker.prior_factor, [math.inf]
        if limits.posterior is not None:
            before = limits.posterior if factor == 1 else posterior_before(limits.posterior, factor)
            found.append(float(np.min(self.belief.epsilon(posterior=before))))
        if limits.advantage is not None and factor == 1:
            found.append(float(np.min(self.belief.epsilon(limits.advantage, limits.both))))
        elif limits.advantage is not None:
            found.append(float(self._misjudged.epsilon(np.asarray(limits.advantage), limits.both)))
        return min(found)

    def largest_prior_factor(self, epsilon: float, limits: Limits, *, quick: bool) -> float:
        limits, found = lowered(limits, epsilon * self.rounding), [math.inf]
        if not self.keeps(epsilon, limits):
            return 0.0
        if limits.posterior is not None:
            found.append(factor_between(float(self.plain_posterior(epsilon).bound), limits.posterior))
        if limits.advantage is not None:
            found.append(self._misjudged.largest_factor(epsilon, limits.advantage, limits.both))
        return rounded_down(min(found))

    def _worst(self, bracket: Bracket) -> Bracket:
        attacks, bounds = np.atleast_1d(bracket.attack), np.atleast_1d(bracket.bound)
        most = int(np.argmax(bounds))
        if self.attacker.at is not None:
            return replace(bracket, attack=float(attacks[most]), bound=float(bounds[most]))
        at, prior = self._said(self.world.truths[most]), float(np.exp(self.belief.log_p[most]))
        return Bracket.meet(attacks[most], bounds[most], bracket.how, worst_at=at, worst_prior=prior)

    def _said(self, truth: Mapping[str, Any]) -> dict[str, Any]:
        return {name: truth[name] for name in self.attacker.names}


def views(attacker: Attacker, guarantee: Guarantee) -> Iterator[GuaranteeView]:
    """Every sound view of a guarantee for a goal, the tight one first."""
    exact = _by_combination(attacker, guarantee) if attacker.has_listed_values else None
    if exact is not None:
        yield exact
    # A column that depends on one outside the goal is reached through it: only the whole change bounds that.
    if not attacker.tied and guarantee.unit.tells_columns:
        yield from _by_column(attacker, guarantee)
    yield _by_whole_change(attacker, guarantee)


def _by_combination(attacker: Attacker, guarantee: Guarantee) -> CombinationView | None:
    """All combinations of the values that tell of the goal; None where the query says nothing of them, or too many."""
    tied = attacker.tied
    names = [*attacker.names, *sorted(tied | _read(attacker, guarantee))]
    if guarantee.responses is None or isinstance(attacker.goal, Near) or attacker.knows_formulas:
        return None
    if not tied and not any(n in guarantee.columns for n in attacker.names):
        return None  # the query reads nothing that tells of the goal
    if len(names) == 1 and names[0] in guarantee.tight:
        return None  # the distance on the line says it all, and faster
    known = {n: v for n, v in (attacker.knows or {}).items() if v is not None}
    possible = conditioned([attacker.attributes[n] for n in names if n in attacker.attributes], known)
    if len(possible) < len(names) or count_combinations(possible.values()) > MOST_COMBINATIONS:
        return None
    table = Combinations.of([possible[n] for n in names])
    truths = [dict(attacker.at)] if attacker.at is not None else true_combinations(possible, attacker.goal)
    world = open_truths(table, attacker.goal, truths)
    if not world.truths:
        raise GoalError("goal", attacker.goal, "is empty or certain for every true value", "choose another goal")
    distance = _distances(table.rows, guarantee)
    belief = finite_belief(table.mass, distance, world.correct)
    # The distances are the query's own if it reads nothing protected beside these columns.
    tight = set(guarantee.columns) <= set(names)
    return CombinationView(tight, 2 * guarantee.rounding, attacker, belief, world, table.mass, distance)


def _read(attacker: Attacker, guarantee: Guarantee) -> set[str]:
    """Columns that the query reads beside the goal's, of which the attacker has a belief as well."""
    known = [n for n in guarantee.columns if n not in attacker.names and n in attacker.attributes]
    return {n for n in known if isinstance(attacker.attributes[n].prior, Finite)}


def _distances(rows: list[dict[str, Any]], guarantee: Guarantee) -> Array:
    """Distances without what floating point adds to any change; up to twice `rounding` is to be charged apart."""
    table, between, rounding = np.zeros((len(rows), len(rows))), guarantee.between, guarantee.rounding
    for i, j in itertools.combinations(range(len(rows)), 2):
        table[i, j] = table[j, i] = max(between(rows[i], rows[j]), between(rows[j], rows[i])) - rounding
    return np.where(table <= rounding, 0.0, table)


def _by_column(attacker: Attacker, guarantee: Guarantee) -> Iterator[GuaranteeView]:
    """Along a straight line, and column by column; the one with the shorter distances first, since the second is only
    searched where it allows more."""
    read = [n for n in attacker.names if n in guarantee.columns]
    single, numbers = len(attacker.names) == 1, [n for n in read if n in guarantee.lines]
    straight: list[GuaranteeView] = []
    if not single and guarantee.slope is not None and len(numbers) == len(attacker.names):
        slopes: dict[str, Metric] = {n: Absolute(1 / guarantee.slope) for n in numbers} if guarantee.slope else {}
        straight.append(_attacked(attacker, slopes, "l2", tight=False, rounding=guarantee.rounding))
    if straight and isinstance(attacker.goal, Near):
        yield from straight
        return
    flattened = any(_is_flattened(guarantee.columns[n], attacker.attributes[n]) for n in read)
    tight = single and guarantee.tight.issuperset(read) and (not flattened or isinstance(attacker.goal, Exactly))
    columns, own = {n: guarantee.columns[n] for n in read}, not single and guarantee.adds_up(read)
    apart: list[GuaranteeView] = [_attacked(attacker, columns, "l1", tight=tight, own=own)]
    if len(numbers) == len(read) and any(_is_capped(guarantee.columns[n]) for n in read):
        apart.append(_attacked(attacker, {n: _uncapped(guarantee.lines[n]) for n in numbers}, "l1", tight=False))
    # Σ cᵢ|Δᵢ| is at most ‖c‖₂·‖Δ‖₂, and as much somewhere.
    shorter = straight and math.hypot(*(guarantee.slopes[n] for n in numbers)) <= (guarantee.slope or 0.0)
    yield from (*apart, *straight) if shorter else (*straight, *apart)


def _is_capped(metric: Metric) -> bool:
    form = metric.line_form
    return form is None or not np.isinf(form.cap)


def _uncapped(metric: LineMetric) -> LineMetric:
    return LineMetric(replace(metric.form, cap=np.inf))


def _attacked(
    attacker: Attacker,
    metrics: Mapping[str, Metric],
    norm: Norm,
    *,
    tight: bool,
    rounding: float = 0.0,
    own: bool = False,
) -> AttackView:
    """An attack whose distances are those of the query; `rounding` is a step per unit of ε beside them."""
    parts: dict[str, Attribute] = {}
    for name, attribute in attacker.attributes.items():
        metric = metrics.get(name, Multiple(0.0, Discrete()))
        parts[name] = replace(attribute, metric=_fitting(metric, attribute), scale=1.0)
    known, factor = attacker.known_on(parts), attacker.prior_factor
    attack = Attack(attacker.build(parts), attacker.at, known, norm=norm, prior_factor=factor)
    return AttackView(tight, rounding, attack, own=own)


def _by_whole_change(attacker: Attacker, guarantee: Guarantee) -> AttackView:
    """Any two records are at most `change` apart: only the goal's own probability matters."""
    parts = {n: replace(a, metric=_fitting(Discrete(), a), scale=1.0) for n, a in attacker.attributes.items()}
    known, factor = attacker.known_on(parts), attacker.prior_factor
    attack = Attack(attacker.build(parts), attacker.at, known, norm="linf", prior_factor=factor)
    return AttackView(False, 0.0, attack, guarantee.change)


def _straightened(metric: Metric, low: float, high: float) -> Metric:
    """The same distances where they are a straight line on a range, as between the bounds of a query; else itself.

    Whatever is beyond the range never occurs: neither as a true value nor as another.
    """
    form = metric.line_form
    inner = form is None or any(low < cut < high for cut in form.cuts)
    if form is None or inner or form.is_straight or any(form.jump_at(cut) for cut in (low, high)):
        return metric
    return LineMetric(replace(form, cuts=(), slopes=(form.slope_at(low),), jumps=()))


def _is_flattened(metric: Metric, attribute: Attribute) -> bool:
    """Whether nothing is known of numbers but their range, and distances are no function along it."""
    prior = attribute.prior
    return isinstance(prior, Unknown) and not prior.values and metric.line_form is None


def _largest_distance(metric: Metric, low: float, high: float) -> float:
    """The largest distance of two numbers of a range, its ends included."""
    if isinstance(metric, Matrix):
        return float(np.max(metric.distances))
    span = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    return float(metric.spread(span, span))


def _fitting(metric: Metric, attribute: Attribute) -> Metric:
    """Labels need a table that names them all, and a table needs labels; a partly known prior needs a straight line.

    Without a prior only the largest distance matters, which two values that differ may have.
    """
    prior, is_line = attribute.prior, not attribute.is_category
    if isinstance(prior, Unknown) and _is_flattened(metric, attribute):
        return Multiple(_largest_distance(metric, *attribute.range), Discrete())
    if isinstance(prior, PartlyKnown) and metric.line_form is not None:
        return _straightened(metric, prior.low, prior.high)
    if not isinstance(prior, (Finite, Unknown)) or (is_line and metric.line_form is not None):
        return metric
    values = list(prior.values)
    labels = np.empty(len(values), dtype=object)
    labels[:] = [float(v) if is_line else label_of(v) for v in values]  # pyright: ignore[reportArgumentType]
    try:
        table = metric.distance(labels[:, None], labels[None, :])
    except (GuessproofError, TypeError, ValueError):
        return metric
    return Matrix(values, np.asarray(table, dtype=np.float64))
