"""Choosing ε for a plan: every limit and every target is a bound on the noise, and they are compared there.

The table is never opened. The unknown is the noise scale; all of it is told in ε = sup D/b, the ordinary ε for
changing one record, so that limits on an attacker, risk profiles, accuracy and what is left of the budget are numbers
on one line.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from guessproof.errors import GuessproofError, InfeasibleError, PlanError
from guessproof.exposure import Aim, Exposure, Pledge
from guessproof.noise import Noise, epsilon_needed, noise_for
from guessproof.plan import Plan
from guessproof.risk.bracket import Bracket
from guessproof.risk.profile.aware import aware_epsilon
from guessproof.sql import Declared, DeclaredColumn, Measurement, Question, ask
from guessproof.world.finite import Finite
from guessproof.world.line_metric import LineMetric
from guessproof.world.metrics import Discrete, LineForm, Metric, Multiple, Sum

ASSUMPTIONS = {
    "values": "The declared columns of one record are protected. Everything else, who is in the table and how many "
    "rows it has included, is assumed known to the attacker.",
    "records": "The presence of one row is protected, and with it everything in that row.",
    "independence": "Records are independent of each other given what the attacker knows; columns with separate "
    "priors are independent of each other.",
    "mechanism": "The attacker knows the query, the mechanism and its noise scale.",
    "prior": "The prior is what the attacker believes; a wrong prior is the largest real risk, so the ε without any "
    "prior and with narrower and wider ones stand beside the answer.",
    "others": "The attacker may know every other record; knowing less leaves him a smaller belief, though his gain "
    "from a lower start can be larger.",
}


ROUNDING = 2.0**-38  # what the noise's grid adds to one answer, in log-likelihood; checked against the noise itself


@dataclass(frozen=True)
class Limit:
    """A bound on ε: from above (risk, budget) or from below (accuracy)."""

    name: str
    epsilon: float
    side: str  # "at most" or "at least"
    how: str


@dataclass(frozen=True)
class Change:
    """One change of the plan, and the interval that it would open."""

    what: str
    now: str
    then: str
    factor: float  # how large the change is, as a ratio; for ordering


@dataclass(frozen=True)
class Choice:
    """What was chosen and why. `noises` hold the noise of each measurement at the recommended ε."""

    plan: Plan
    question: Question
    feasible: bool
    epsilon: float
    interval: tuple[float, float]
    limits: tuple[Limit, ...]
    binding: str
    noises: tuple[Noise, ...]
    targets: Mapping[str, tuple[float, float]]
    advantage: Bracket | None
    posterior: Bracket | None
    prior: float | None
    query_aware_epsilon: float | None
    changes: tuple[Change, ...]
    explanation: str
    data_dependent: bool = False
    exposure: Exposure | None = field(default=None, repr=False, compare=False)

    @property
    def prior_free_epsilon(self) -> float | None:
        """4·artanh η: the ε that keeps an advantage whatever the attacker believes beforehand."""
        advantage = self.plan.limits.advantage
        if advantage is None or advantage >= 1:
            return None
        return 4 * math.atanh(advantage) * (1 - 1e-15)

    @cached_property
    def narrower_prior_epsilon(self) -> float | None:
        """The largest ε if the attacker's prior were 25 % narrower."""
        return self._with_prior(0.75)

    @cached_property
    def wider_prior_epsilon(self) -> float | None:
        """The largest ε if it were 25 % wider."""
        return self._with_prior(1.25)

    def _with_prior(self, factor: float) -> float | None:
        exposure = self.exposure
        aim = None if exposure is None else exposure.aim.stretched(factor)
        if exposure is None or aim is None:
            return None
        try:
            return Exposure(aim, exposure.pledge, exposure.step).epsilon(self.plan.limits)
        except GuessproofError:
            return None

    @property
    def delta(self) -> float:
        """The δ of the whole release."""
        return math.fsum(n.cost[1] for n in self.noises)

    @property
    def exact_cost(self) -> Fraction:
        """The ε that is charged: as the noise is really drawn, rounding included."""
        return sum((Fraction(n.cost[0]) for n in self.noises), Fraction(0))

    @property
    def cost(self) -> float:
        """The same as a float, rounded up."""
        total = float(self.exact_cost)
        return total if Fraction(total) >= self.exact_cost else math.nextafter(total, math.inf)

    @property
    def epsilon_add_remove(self) -> float | None:
        """For adding or removing one record, where records are protected."""
        if self.plan.data.protects != "records" or not self.noises:
            return None
        return math.fsum(n.mechanism.epsilon * n.measurement.presence / n.measurement.sensitivity for n in self.noises)

    @property
    def epsilon_per_unit(self) -> dict[str, float]:
        """For one unit of each column of numbers."""
        found: dict[str, float] = {}
        for noise in self.noises:
            per = noise.mechanism.epsilon / (noise.measurement.sensitivity * noise.measurement.divisor)
            for name, slope in noise.measurement.guarantee.slopes.items():
                found[name] = found.get(name, 0.0) + slope * per
        return found

    @property
    def noise_scale(self) -> float | None:
        """The scale b of the noise, in units of the answer; None where several answers have their own."""
        return self.noises[0].scale if len(self.noises) == 1 else None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must hold for the numbers to mean what they say."""
        keys = [self.plan.data.protects, "mechanism", "independence", "others"]
        keys += ["prior"] if self.plan.attacker is not None else []
        return tuple(ASSUMPTIONS[key] for key in keys)

    def errors(self, confidence: float = 0.95) -> dict[str, float | None]:
        """The a-priori error of each output at a confidence; None where it depends on the answer."""
        found: dict[str, float | None] = {}
        for output in self.question.outputs:
            if not output.measured:
                continue
            level = self.targets.get(output.name, (0.0, confidence))[1]
            found[output.name] = (
                self.noises[output.measured[0]].error(level) if output.is_plain and self.noises else None
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; an infinite number is null."""
        return _finite(
            {
                "feasible": self.feasible,
                "epsilon": self.epsilon if self.feasible else None,
                "epsilon_charged": self.cost if self.noises else None,
                "delta": self.delta,
                "epsilon_add_remove": self.epsilon_add_remove,
                "epsilon_per_unit": self.epsilon_per_unit,
                "noise_scale": self.noise_scale,
                "noise": [n.to_dict() for n in self.noises],
                "interval": list(self.interval),
                "binding": self.binding,
                "limits": [{"name": b.name, "side": b.side, "epsilon": b.epsilon, "how": b.how} for b in self.limits],
                "targets": {n: {"within": w, "confidence": c} for n, (w, c) in self.targets.items()},
                "errors": self.errors(),
                "prior": self.prior,
                "advantage": None if self.advantage is None else self.advantage.to_dict(),
                "posterior": None if self.posterior is None else self.posterior.to_dict(),
                "prior_free_epsilon": self.prior_free_epsilon,
                "narrower_prior_epsilon": self.narrower_prior_epsilon,
                "wider_prior_epsilon": self.wider_prior_epsilon,
                "query_aware_epsilon": self.query_aware_epsilon,
                "changes": [{"what": c.what, "now": c.now, "then": c.then} for c in self.changes],
                "data_dependent": self.data_dependent,
                "assumptions": list(self.assumptions),
                "explanation": self.explanation,
            }
        )


def choose(plan: Plan, *, remaining: float | None = None, data_dependent: bool = False) -> Choice:
    """The feasible interval of ε, the recommendation and its reasons. Never opens the table.

    `remaining` is what is left of the budget, where a ledger is at hand.
    """
    return Chooser(plan, asked(plan), remaining, data_dependent).choice()


def asked(plan: Plan) -> Question:
    """The plan's query, understood."""
    return ask(plan.query.sql, declared(plan))


def declared(plan: Plan) -> Declared:
    """What the plan says of its table, as the query reader needs it."""
    protects = plan.data.protects
    if protects == "persons":
        problem = "several rows of one person are not supported yet"
        raise plan.error(("data", "protects"), protects, problem, 'use "records" or "values"')
    columns = {name: _column(plan, name) for name in plan.columns}
    return Declared(plan.data.table, columns, protects, plan.data.rows)


def _column(plan: Plan, name: str) -> DeclaredColumn:
    column, attribute = plan.columns[name], plan.attributes().get(name)
    values: list[Any] = list(column.levels or ())
    if attribute is not None and isinstance(attribute.prior, Finite) and not attribute.prior.is_line:
        values += [v for v in attribute.prior.values if v not in values]
    levels = tuple(_label(v) for v in values) or None
    public = column.public and plan.data.protects == "values"
    return DeclaredColumn(name, column.bounds, levels, plan.is_number(name), column.missing, not public)


def _label(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Chooser:
    """Collects bounds on ε and picks."""

    def __init__(self, plan: Plan, question: Question, remaining: float | None, data_dependent: bool) -> None:
        self.plan = plan
        self.question = question
        self.remaining = remaining
        self.data_dependent = data_dependent
        self.mechanism = plan.release.mechanism
        self.delta = (plan.release.delta or 0.0) / len(question.measurements)
        self.targets = self._targets()
        self.needs = self._needs()
        self.shares = self._shares()

    # Accuracy.

    def _targets(self) -> dict[str, tuple[float, float]]:
        names = [o.name for o in self.question.outputs if o.measured]
        targets = self.plan.accuracy.targets(names)
        for output in self.question.outputs:
            if output.name in targets and not output.is_plain:
                spot = ("accuracy", output.name) if output.name in self.plan.accuracy.outputs else ("accuracy",)
                problem = f"the error of {output.name} depends on its answer, so no target can be promised for it"
                remedy = 'declare data.rows with protects = "values", or set targets for SUM and COUNT as outputs'
                raise self.plan.error(spot, output.name, problem, remedy)
        return targets

    def _needs(self) -> dict[int, float]:
        """The least ε of each measurement that has a target."""
        found: dict[int, float] = {}
        for output in self.question.outputs:
            if output.name in self.targets:
                index = output.measured[0]
                within, confidence = self.targets[output.name]
                need = epsilon_needed(self.question.measurements[index], within, confidence, self.mechanism, self.delta)
                found[index] = max(need, found.get(index, 0.0))
        return found

    def _shares(self) -> list[float]:
        """Each measurement's part of ε: in proportion to what the targets need, equal parts without targets."""
        count = len(self.question.measurements)
        if not self.needs:
            return [1 / count] * count
        typical = math.fsum(self.needs.values()) / len(self.needs)
        parts = [self.needs.get(j, typical) for j in range(count)]
        return [p / math.fsum(parts) for p in parts]

    @property
    def needed(self) -> float:
        """The least ε at which every target is met."""
        if not self.needs:
            return 0.0
        return max(need / self.shares[j] for j, need in self.needs.items())

    # Risk.

    def pledge(self) -> Pledge:
        """What the whole release promises per unit of ε."""
        parts = [
            (s / (m.sensitivity * m.divisor), m) for s, m in zip(self.shares, self.question.measurements, strict=True)
        ]
        moved = self._moved_groups(parts)
        names = sorted({n for _, m in parts for n in m.guarantee.columns} | set(moved))
        columns = {
            n: _summed([(f, m.guarantee.columns[n]) for f, m in parts if n in m.guarantee.columns] + moved.get(n, []))
            for n in names
        }
        numbers = sorted({n for _, m in parts for n in m.guarantee.lines})
        numbers = [n for n in numbers if n not in moved]
        lines = {n: _lined([(f, m.guarantee.lines[n]) for f, m in parts if n in m.guarantee.lines]) for n in numbers}
        slopes = [m.guarantee.euclidean for _, m in parts]
        steep = (
            None if None in slopes else math.fsum(f * float(s or 0.0) for (f, _), s in zip(parts, slopes, strict=True))
        )
        error = math.fsum(f * m.guarantee.error for f, m in parts)
        limit = math.fsum(f * m.divisor * m.change for f, m in parts) * (1 + 1e-14)

        def between(before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
            if any(before.get(key) != after.get(key) for key in moved):
                return math.fsum(f * m.divisor * m.change for f, m in parts)
            return math.fsum(f * m.guarantee.between(before, after) for f, m in parts)

        alone = len(parts) == 1 and len(names) == 1  # nothing else that the attacker might be unsure of is read
        tight = frozenset(n for n, m in lines.items() if alone and _is_tight(n, m, between))
        return Pledge(columns, lines, limit, steep, error, tight, between)

    def _moved_groups(self, parts: list[tuple[float, Measurement]]) -> dict[str, list[tuple[float, Metric]]]:
        """A record whose key changes leaves one group and enters another: the whole change, whatever its key was."""
        keys = [k.column for k in self.question.keys if self.question.declared.column(k.column).protected]
        return {key: [(f * m.divisor * m.change, Discrete()) for f, m in parts] for key in keys}

    def noises(self, epsilon: float) -> tuple[Noise, ...]:
        """The noise of every measurement when all of it costs ε, the rounding to a grid included.

        Where a target asks for the least ε, rounding comes on top instead, or the target would be missed by a hair.
        """
        found: list[Noise] = []
        for share, measurement in zip(self.shares, self.question.measurements, strict=True):
            noise = noise_for(measurement, share * epsilon, self.mechanism, delta=self.delta)
            inside = min(share * epsilon - 2 * noise.step, math.nextafter(share * epsilon, 0.0))
            if not self.needs and inside > 0:  # below the typed decimal too, which a float may exceed by a hair
                noise = noise_for(measurement, inside, self.mechanism, delta=self.delta)
            found.append(noise)
        return tuple(found)

    def exposure(self) -> Exposure | None:
        """What the plan's attacker learns from this release."""
        aim = aim_of(self.plan)
        if aim is None:
            return None
        if self.mechanism == "gaussian":
            raise self.plan.error(
                ("release", "mechanism"),
                "gaussian",
                "no limit on an attacker holds for every output of Gaussian noise",
                "use laplace, geometric or cauchy with [attacker]",
            )
        return Exposure(aim, self.pledge(), ROUNDING * len(self.shares))

    def limits(self, exposure: Exposure | None) -> list[Limit]:
        """Every bound on ε from above."""
        found: list[Limit] = []
        if exposure is not None:
            epsilon = self._attacker(exposure)
            found.append(Limit("attacker", epsilon, "at most", _limit_words(self.plan)))
        if self.plan.risk is not None:
            found.append(self._risk())
        if self.remaining is not None:
            found.append(Limit("budget", self.remaining, "at most", "what the ledger has left for this data"))
        return found

    def _attacker(self, exposure: Exposure) -> float:
        try:
            found = exposure.epsilon(self.plan.limits)
            # A small noise scale may need a coarser grid; the step it really has is then charged instead.
            step = math.fsum(n.step for n in self.noises(min(found, 1e9))) if found > 0 else 0.0
            return found if step <= exposure.step else replace(exposure, step=step).epsilon(self.plan.limits)
        except (InfeasibleError, PlanError):
            raise
        except GuessproofError as error:
            attacker = self.plan.attacker
            assert attacker is not None
            problem = getattr(error, "problem", str(error))
            remedy = getattr(error, "remedy", "give the true value: at = { … }")
            raise self.plan.error(("attacker", "goal"), attacker.goal, problem, remedy) from None

    def _risk(self) -> Limit:
        profile = self.plan.risk
        assert profile is not None
        if self.plan.data.protects == "values":
            return Limit("risk", profile.epsilon(bounded=True), "at most", f"{profile!r}, for one who took part")
        presence = math.fsum(
            s * m.presence / m.sensitivity for s, m in zip(self.shares, self.question.measurements, strict=True)
        )
        return Limit(
            "risk", profile.epsilon() / presence * (1 - 1e-14), "at most", f"{profile!r} in the three-point world"
        )

    def bounds(self, exposure: Exposure | None = None) -> list[Limit]:
        """Every bound on ε, from above and from below."""
        found = self.limits(exposure or self.exposure())
        if self.needs:
            found.append(Limit("accuracy", self.needed, "at least", _target_words(self.targets)))
        if self.plan.release.epsilon is not None:
            found.append(Limit("fixed", self.plan.release.epsilon, "at most", "release.epsilon of the plan"))
        return found

    # The choice.

    def choice(self) -> Choice:
        """All bounds together."""
        exposure = self.exposure()
        bounds = self.bounds(exposure)
        fixed, needed = self.plan.release.epsilon, self.needed
        highest = min((b.epsilon for b in bounds if b.side == "at most" and b.name != "fixed"), default=math.inf)
        if not bounds:
            problem = "the plan limits nothing and asks for no accuracy, so there is nothing to choose from"
            raise self.plan.error((), None, problem, "add [attacker], [risk], [accuracy] or release.epsilon")
        epsilon, feasible = self._recommended(fixed, needed, highest)
        noises = self.noises(epsilon) if feasible and math.isfinite(epsilon) and epsilon > 0 else ()
        return self._described(exposure, bounds, epsilon, feasible, (needed, highest), noises)

    def _recommended(self, fixed: float | None, needed: float, highest: float) -> tuple[float, bool]:
        if fixed is not None:
            return fixed, fixed <= highest and fixed >= needed * (1 - 1e-12)
        if highest <= 0:
            return 0.0, False
        if needed:
            return needed, needed <= highest
        return highest, True

    def _described(
        self,
        exposure: Exposure | None,
        bounds: list[Limit],
        epsilon: float,
        feasible: bool,
        interval: tuple[float, float],
        noises: tuple[Noise, ...],
    ) -> Choice:
        asked_at = epsilon if feasible else interval[1]
        askable = exposure is not None and math.isfinite(asked_at)
        advantage = exposure.advantage(asked_at, self.plan.limits.both) if askable and exposure else None
        believed = exposure is not None and askable and _has_belief(exposure.aim)
        posterior = exposure.posterior(asked_at) if believed and exposure else None
        binding = _binding(bounds, feasible, self.plan.release.epsilon)
        changes = tuple(self._changes(exposure, interval))
        return Choice(
            self.plan,
            self.question,
            feasible,
            epsilon,
            interval,
            tuple(bounds),
            binding,
            noises,
            self.targets,
            advantage,
            posterior,
            exposure.prior if exposure is not None else None,
            self._query_aware(),
            changes,
            _explained(self.plan, bounds, epsilon, feasible, interval, noises, advantage, changes),
            self.data_dependent,
            exposure,
        )

    def _query_aware(self) -> float | None:
        """The profile's ε with this query's own distances: changing a record may cost less than twice adding one."""
        profile = self.plan.risk
        if profile is None or self.plan.data.protects != "records":
            return None
        parts = list(zip(self.shares, self.question.measurements, strict=True))
        change = math.fsum(s * m.change / m.sensitivity for s, m in parts)
        presence = math.fsum(s * m.presence / m.sensitivity for s, m in parts)
        return aware_epsilon(profile, change, presence)

    # What one change would do.

    def _changes(self, exposure: Exposure | None, interval: tuple[float, float]) -> Any:
        needed, highest = interval
        if not self.needs or not math.isfinite(highest) or highest <= 0:
            return
        ratio = needed / highest
        noises = self.noises(highest)
        for output in self.question.outputs:
            if output.name in self.targets:
                yield from self._accuracy_changes(output.name, noises[output.measured[0]], ratio)
        if self.plan.data.rows is not None and all(m.divisor != 1 for m in self.question.measurements):
            rows = math.ceil(self.plan.data.rows * ratio)
            yield Change("data.rows", f"{self.plan.data.rows}", f"{rows}", ratio)
        if exposure is not None:
            yield from self._risk_changes(exposure, needed)

    def _accuracy_changes(self, name: str, noise: Noise, ratio: float) -> Any:
        within, confidence = self.targets[name]
        there = noise.error(confidence)
        yield Change(f"accuracy of {name}: within", f"{within:g}", f"{_up(there)}", max(there / within, within / there))
        surely = noise.confidence(within)
        if surely > 0.01:
            yield Change(
                f"accuracy of {name}: confidence",
                f"{confidence:g}",
                f"{_down(surely)}",
                _odds_ratio(confidence, surely),
            )

    def _risk_changes(self, exposure: Exposure, needed: float) -> Any:
        limits = self.plan.limits
        try:
            if limits.advantage is not None:
                there = float(exposure.advantage(needed, limits.both).bound)
                yield Change("attacker: advantage", f"{limits.advantage:g}", _up(there), there / limits.advantage)
            if limits.posterior is not None:
                there = float(exposure.posterior(needed).bound)
                yield Change("attacker: posterior", f"{limits.posterior:g}", _up(there), there / limits.posterior)
        except GuessproofError:
            return


def _is_tight(name: str, metric: LineMetric, between: Callable[[Mapping[str, Any], Mapping[str, Any]], float]) -> bool:
    """Whether a distance on the line is what the query does, at every cut, beside it and between."""
    cuts = [*metric.form.cuts]
    if not cuts:
        return False
    points = [cuts[0] - 1.0, *cuts, *(math.nextafter(c, math.inf) for c in cuts), cuts[-1] + 1.0]
    points += [(a + b) / 2 for a, b in itertools.pairwise(cuts)]
    if len(points) > 60:
        points = points[:: len(points) // 60 + 1]
    for a, b in itertools.combinations(points, 2):
        moved = between({name: a}, {name: b})
        if abs(float(metric.distance(a, b)) - moved) > 1e-9 * (1e-3 + moved):
            return False
    return True


def aim_of(plan: Plan) -> Aim | None:
    """The plan's attacker, if it has one with limits."""
    attacker, limits = plan.attacker, plan.limits
    if attacker is None or (limits.advantage is None and limits.posterior is None):
        return None
    return Aim(plan.attributes(), plan.goal, attacker.at, attacker.knows, attacker.or_)


def _has_belief(aim: Aim) -> bool:
    from guessproof.exposure import knows_no_prior

    return not knows_no_prior(aim)


def _summed(parts: list[tuple[float, Metric]]) -> Metric:
    scaled = [Multiple(factor, metric) for factor, metric in parts]
    return scaled[0] if len(scaled) == 1 else Sum(tuple(scaled))


def _lined(parts: list[tuple[float, LineMetric]]) -> LineMetric:
    """The sum of distances on the line, caps left out where they would leave this form."""
    if len(parts) == 1:
        return LineMetric(parts[0][1].form.times(parts[0][0]))
    total = LineForm()
    for factor, metric in parts:
        form = metric.form
        added = total.plus(LineForm(form.cuts, form.slopes, form.jumps, form.step).times(factor))
        assert added is not None
        total = added
    return LineMetric(total)


def _binding(bounds: list[Limit], feasible: bool, fixed: float | None) -> str:
    if fixed is not None and feasible:
        return "fixed"
    above = [b for b in bounds if b.side == "at most"]
    below = [b for b in bounds if b.side == "at least"]
    if not feasible:
        return " and ".join(b.name for b in [*below, min(above, key=lambda b: b.epsilon)]) if above else "accuracy"
    return below[0].name if below else min(above, key=lambda b: b.epsilon).name


def _limit_words(plan: Plan) -> str:
    attacker, limits = plan.attacker, plan.limits
    assert attacker is not None
    parts: list[str] = []
    if limits.advantage is not None:
        parts.append(f"the belief in “{attacker.goal}” may {'move' if limits.both else 'rise'} by {limits.advantage:g}")
    if limits.posterior is not None:
        parts.append(f"the belief in “{attacker.goal}” may reach {limits.posterior:g}")
    return " and ".join(parts)


def _target_words(targets: Mapping[str, tuple[float, float]]) -> str:
    return "; ".join(f"{name} within {w:g} with {c:.0%} confidence" for name, (w, c) in targets.items())


def _explained(
    plan: Plan,
    bounds: list[Limit],
    epsilon: float,
    feasible: bool,
    interval: tuple[float, float],
    noises: tuple[Noise, ...],
    advantage: Bracket | None,
    changes: tuple[Change, ...],
) -> str:
    above = [b for b in bounds if b.side == "at most"]
    if not feasible:
        return _way_out(above, interval, changes, plan.release.epsilon)
    if not math.isfinite(epsilon):
        return "No release can break these limits: any ε will do. Set an accuracy target or release.epsilon."
    parts = [_reason(bounds, epsilon, interval, plan.release.epsilon)]
    if advantage is not None:
        parts.append(f"The attacker's belief then rises by at most {_up(float(advantage.bound))} ({advantage.status}).")
    if len(noises) == 1:
        parts.append(f"Noise of scale {noises[0].scale:.6g} ({noises[0].name}).")
    return " ".join(parts)


def _reason(bounds: list[Limit], epsilon: float, interval: tuple[float, float], fixed: float | None) -> str:
    shown = _down(epsilon)
    if fixed is not None:
        return f"ε = {shown}, as the plan fixes it."
    if interval[0]:
        room = "" if math.isinf(interval[1]) else f"; the limits would allow {_down(interval[1])}"
        return f"ε = {shown}: the least that meets the accuracy{room}."
    name = min((b for b in bounds if b.side == "at most"), key=lambda b: b.epsilon).name
    text = f"ε = {shown}: the most that the limits allow ({name} binds), as no accuracy is asked for."
    if name == "budget":  # a release never follows what happens to be left, or asking again would cost again
        text += f" To release with what is left, write epsilon = {shown} under [release]."
    return text


def _way_out(
    above: list[Limit], interval: tuple[float, float], changes: tuple[Change, ...], fixed: float | None
) -> str:
    needed, highest = interval
    if fixed is not None:
        allowed = f"{_down(needed)} … {_down(highest)}"
        return f"release.epsilon = {fixed:g} lies outside what the limits and targets allow, {allowed}."
    if highest <= 0:
        return "No noise is enough: the limit is already reached before any release."
    name = min(above, key=lambda b: b.epsilon).name
    text = (
        f"Nothing is feasible: the accuracy needs ε ≥ {_up(needed)}, but {name} allows at most {_down(highest)}, "
        f"{_up(needed / highest)} times less."
    )
    if changes:
        best = min(changes, key=lambda c: c.factor)
        text += f" The smallest change that helps: {best.what} {best.then} instead of {best.now}."
    return text


def _odds_ratio(a: float, b: float) -> float:
    one, other = a / (1 - a), b / (1 - b) if b < 1 else math.inf
    return max(one / other, other / one)


def _down(value: float) -> str:
    """Six digits, rounded towards zero."""
    return _rounded(value, math.floor)


def _up(value: float) -> str:
    """Six digits, rounded away from zero."""
    return _rounded(value, math.ceil)


def _rounded(value: float, towards: Any) -> str:
    if not math.isfinite(value) or value <= 0:
        return f"{value:g}"
    digits = 5 - math.floor(math.log10(value))
    if abs(digits) > 290:
        return f"{value:g}"
    return f"{towards(value * 10.0**digits * (1 - 1e-12 if towards is math.ceil else 1)) / 10.0**digits:.6g}"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list) else value
