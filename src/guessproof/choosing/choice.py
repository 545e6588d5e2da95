"""What was chosen, and why: values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from guessproof.choosing.ratios import RatioError
from guessproof.errors import GuessproofError, InfeasibleError
from guessproof.exposure import Exposure
from guessproof.guarantee import Guarantee, list_moved, total_of_families
from guessproof.noise import Noise
from guessproof.plain import table_html
from guessproof.plan import Plan
from guessproof.risk import Bracket
from guessproof.rounded import down, spelled, up, within_bounds
from guessproof.sql import AnalyzedQuery, Asked
from guessproof.sql.formula import Output
from guessproof.sql.measurement import Measurement

if TYPE_CHECKING:
    from guessproof.choosing.bias import PaidBounds
    from guessproof.choosing.frequent import GroupThreshold

OWNED = "Each row of {name} belongs to one row of {owner}: no two rows of {owner} have the key that it is joined on."
BOUNDS = "Errors are stated assuming all values lie within bounds."
BINDS = 1e-3  # an ε so near a limit leaves no room for a wrong prior
ASSUMPTIONS = {
    "times": "The plan is released {times} times. The attacker sees all {times} answers, and a record may be in all of "
    "them, with the same values: what they tell adds up, and every limit and belief is for all {times} together.",
    "independence": "Records are independent of each other given what the attacker knows; columns with separate "
    "priors are independent of each other.",
    "mechanism": "The attacker knows the query, the mechanism and its noise scale.",
    "prior": "The prior is what the attacker believes; a wrong prior is the largest real risk, so the "
    "factor by which its odds may be misjudged, and the ε without any prior, stand beside the answer.",
    "copies": "One record is in at most {copies} of the table's rows, with the same protected values in each, and "
    "which rows those are does not depend on protected values.",
    "linked": "Up to {linked} records tell of each other, as in a household: what one record does counts together with "
    "the most that the others can do. Beyond them, records are independent of each other given what the attacker "
    "knows; columns with separate priors are independent of each other.",
    "together": "All {together} questions are answered together, from one state of the table. The attacker sees all "
    "answers, and every limit and belief is for all of them.",
    "bounds": BOUNDS,
    "failure": "An answer breaks what is said of the attacker with probability {failure:g} at most, {given}.",
    "others": "The attacker may know every other record; knowing less leaves him a smaller belief, though his gain "
    "from a lower start can be larger.",
}


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
    present: float
    proposed: float  # in few digits: it is tried as it is printed
    factor: float  # how large the change is, as a ratio; for ordering

    @property
    def now(self) -> str:
        """The present value as a plan has it."""
        return spelled(self.present)

    @property
    def then(self) -> str:
        """The proposed value as a plan has it."""
        return spelled(self.proposed)

    def to_dict(self) -> dict[str, str]:
        """Ready for JSON."""
        return {"what": self.what, "now": self.now, "then": self.then}


@dataclass(frozen=True)
class Choice:
    """What was chosen and why. `noises` hold the noise of each measurement at the recommended ε."""

    plan: Plan
    asked: Asked
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
    paid_bounds: PaidBounds | None = field(default=None, repr=False, compare=False)

    @property
    def question(self) -> AnalyzedQuery:
        """The only question; refused where there are several."""
        self.plan.query  # noqa: B018
        return self.asked.parts[0].query

    @property
    def labels(self) -> tuple[str, ...]:
        """What each measurement is called."""
        return label_measurements(self.asked)

    @property
    def times(self) -> int:
        """How often the plan is released. ε, noise and cost are those of each; beliefs are after all of them."""
        return self.plan.release.times

    @property
    def cost_of_all(self) -> float:
        """The ε that all releases cost together, rounded up: what the budget needs."""
        total = float(self.exact_cost * self.times)
        return total if Fraction(total) >= self.exact_cost * self.times else math.nextafter(total, math.inf)

    @property
    def shown_epsilon(self) -> str:
        """ε for people: it still meets the targets and keeps the limits if it is typed in again."""
        return within_bounds(self.epsilon, *self.interval)

    @property
    def waits_for_budget(self) -> bool:
        """Whether what is left of the budget decided on ε: it is released once the plan itself says this ε."""
        return self.feasible and self.binding == "budget"

    @property
    def prior_free_epsilon(self) -> float | None:
        """4·artanh η, over all releases: the ε of each that keeps an advantage whatever the attacker believes."""
        advantage = self.plan.limits.advantage
        if advantage is None or advantage >= 1 or any(n.mechanism.has_delta for n in self.noises):
            return None
        return 4 * math.atanh(advantage) * (1 - 1e-15) / self.times

    @property
    def needs_no_prior(self) -> bool:
        """Whether the attacker's limits hold at this ε whatever he believes beforehand."""
        limits, exposure = self.plan.limits, self.exposure
        if self.prior_free_epsilon is None or limits.advantage is None or limits.posterior is not None:
            return False  # a belief that is high before any release stays high
        rounding = 0.0 if exposure is None else exposure.step
        return self.cost_of_all <= 4 * math.atanh(max(limits.advantage - rounding / 4, 0.0)) * (1 - 1e-15)

    @cached_property
    def narrower_prior_epsilon(self) -> float | None:
        """The largest ε if the attacker's prior were 25 % narrower."""
        return self._with_prior(0.75)

    @cached_property
    def wider_prior_epsilon(self) -> float | None:
        """The largest ε if it were 25 % wider."""
        return self._with_prior(1.25)

    @cached_property
    def largest_prior_factor(self) -> float | None:
        """By what factor the odds of any two values may be misjudged while the attacker's limits hold at this ε.

        math.inf where nothing breaks them; None where there is no prior to misjudge, or the limits do not hold.
        """
        return self._prior_factor(quick=False)

    @cached_property
    def quick_prior_factor(self) -> float | None:
        """The same, or less: what is proven at once."""
        return self._prior_factor(quick=True)

    def _prior_factor(self, *, quick: bool) -> float | None:
        exposure, limits = self.exposure, [b.epsilon for b in self.limits if b.name == "attacker"]
        if exposure is None or not exposure.attacker.has_prior or not exposure.judges_wrong_priors or not self.feasible:
            return None
        if any(self.epsilon > limit for limit in limits):
            return None
        if self.needs_no_prior:
            return math.inf
        wrong = exposure.attacker.prior_factor  # what the plan asks for was proven when ε was chosen
        if any(self.epsilon >= (1 - BINDS) * limit for limit in limits):  # no room is left
            return wrong
        found = exposure.largest_prior_factor(self.epsilon, self.plan.limits, quick=quick)
        return None if found is None else max(found, wrong)

    def _with_prior(self, factor: float) -> float | None:
        exposure = self.exposure
        attacker = None if exposure is None else exposure.attacker.stretched(factor)
        if exposure is None or attacker is None or not exposure.judges_wrong_priors:
            return None
        try:
            return replace(exposure, attacker=attacker).epsilon(self.plan.limits)
        except GuessproofError:
            return None

    @cached_property
    def guarantee(self) -> Guarantee:
        """What the whole release promises about one protected unit, as its noise is really drawn."""
        if not self.noises:
            raise InfeasibleError(self.explanation)
        step = math.fsum(n.step for n in self.noises)
        return total_of_families([n.guarantee for n in self.noises], self.asked.families).rounded(step)

    @cached_property
    def failure_under_prior(self) -> Bracket | None:
        """With Gaussian noise and a stated truth: how probable a larger rise than the limit is under the prior."""
        limit, exposure = self.plan.limits.advantage, self.exposure
        if exposure is None or not exposure.may_fail or limit is None or not self.feasible:
            return None
        return exposure.failure_under_prior(self.epsilon, limit)

    @property
    def delta(self) -> float:
        """The δ of the whole release."""
        found = 0.0 if self.threshold is None else self.threshold.delta
        return found + math.fsum(list_moved([n.cost[1] for n in self.noises], self._families, key=float))

    @cached_property
    def threshold(self) -> GroupThreshold | None:
        """How large a noisy count must be for its group to be shown, where groups are found in the table."""
        if not self.asked.finds_groups:
            return None
        from guessproof.choosing.frequent import find_threshold

        return find_threshold(self.plan, self.question, self.noises)

    @property
    def exact_cost(self) -> Fraction:
        """The ε that is charged: as the noise is really drawn, rounding included."""
        costs = [Fraction(n.cost[0]) for n in self.noises]
        return sum(list_moved(costs, self._families, key=lambda cost: cost), Fraction(0))

    @property
    def _families(self) -> tuple[tuple[int, ...], ...]:
        """Measurements of which one unit moves two at most; none where there is no noise to speak of."""
        return self.asked.families if self.noises else ()

    @property
    def cost(self) -> float:
        """The same as a float, rounded up."""
        total = float(self.exact_cost)
        return total if Fraction(total) >= self.exact_cost else math.nextafter(total, math.inf)

    @property
    def epsilon_add_remove(self) -> float | None:
        """For adding or removing one record, where records are protected."""
        if not self.noises:
            return None
        whole = total_of_families([n.guarantee for n in self.noises], self.asked.families)
        return self.plan.unit.add_remove(whole)

    @property
    def epsilon_per_unit(self) -> dict[str, float]:
        """For one unit of each column of numbers."""
        found: dict[str, float] = {}
        for noise in self.noises:
            for name, slope in noise.guarantee.slopes.items():
                found[name] = found.get(name, 0.0) + slope
        return found

    @property
    def noise_scale(self) -> float | None:
        """The scale b of the noise, in units of the answer; None where several answers have their own."""
        return self.noises[0].scale if len(self.noises) == 1 else None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must hold for the numbers to mean what they say."""
        copies = self.plan.data.copies
        keys = [*(["copies"] if copies is not None else []), "mechanism", "others"]
        linked = self.plan.data.linked_records
        keys.insert(0 if linked > 1 else 1, "linked" if linked > 1 else "independence")
        failure = None if self.plan.attacker is None else self.plan.attacker.failure
        keys += ["failure"] if failure is not None else []
        keys += ["prior"] if self.plan.attacker is not None else []
        keys += ["times"] if self.times > 1 else []
        keys += ["bounds"] if any(_is_clamped(m) for m in self.asked.measurements) else []
        together = len(self.asked.parts)
        keys += ["together"] if together > 1 else []
        owned = [j.joined.table for j in self.asked.joins if j.joined.table.owner is not None]
        unique = (OWNED.format(name=table.name, owner=table.owner) for table in owned)
        shown = () if self.threshold is None else (self.threshold.words,)
        given = given_truth(self.plan)
        words = _worded(
            keys, copies=copies, failure=failure, given=given, linked=linked, times=self.times, together=together
        )
        return self.plan.unit.assumption, *shown, *words, *unique

    @property
    def exclusions(self) -> tuple[str, ...]:
        """Which measurements exclude each other, and what that saves, in words."""
        labels, noun = self.labels, self.plan.unit.noun
        return tuple(
            f"{', '.join(labels[i] for i in family)} exclude each other: changing one {noun} moves at most two "
            "of them, and the ε of no more than two is counted."
            for family in self.asked.families
        )

    @property
    def timely(self) -> frozenset[str]:
        """Outputs that are times: their errors are in days."""
        return frozenset(output.name for output in self.asked.outputs if output.is_time)

    def errors(self, confidence: float = 0.95) -> dict[str, float | None]:
        """The a-priori error of each output at a confidence; None where it depends on the answer or on the data."""
        found = {o.name: self._ratio_error(o, confidence) for o in self.asked.outputs if o.measured}
        return {**found, **self._errors_in("", confidence)}

    def _ratio_error(self, output: Output, confidence: float) -> float | None:
        """Of an average of noisy numbers, from a public minimum of rows."""
        rows = self.plan.data.rows_at_least
        ratio = None if rows is None or not self.noises else RatioError.of(output, rows)
        if ratio is None:
            return None
        return ratio.error(self.noises, self.targets.get(output.name, (0.0, confidence))[1])

    @property
    def lacking_rows(self) -> frozenset[str]:
        """Averages whose error a public minimum of rows would tell beforehand, where the plan names none."""
        if self.plan.data.rows_at_least is not None or not self.plan.unit.hides_presence:
            return frozenset()
        return frozenset(o.name for o in self.asked.outputs if o.measured and RatioError.of(o, 1) is not None)

    def rank_errors(self, confidence: float = 0.95) -> dict[str, float]:
        """The same in ranks, for each output that is picked by its rank."""
        return self._errors_in("ranks", confidence)

    def _errors_in(self, unit: str, confidence: float) -> dict[str, float]:
        plain = [output for output in self.asked.outputs if output.is_plain and self.noises]
        noises = {output.name: self.noises[output.measured[0]] for output in plain}
        return {
            name: noise.error(self.targets.get(name, (0.0, confidence))[1])
            for name, noise in noises.items()
            if noise.unit == unit
        }

    @property
    def noise_tables(self) -> list[dict[str, Any]]:
        """Each noise, ready for JSON; with the questions that it answers where there are several."""
        found = [noise.to_dict() for noise in self.noises]
        for part in self.asked.parts:
            for table in (found[place] for place in part.places if part.name and found):
                table.setdefault("questions", []).append(part.name)
        return found

    def _questions(self) -> dict[str, Any]:
        """Of several questions what is asked, and how near each answer is, by their names."""
        errors, ranks = self.errors(), self.rank_errors()
        found: dict[str, Any] = {}
        for part in self.asked.parts if self.plan.file.queries else ():
            names = [output.name for output in part.query.outputs if output.measured]
            found[part.name] = {
                "sql": part.query.sql,
                "outputs": {n: {"error": errors[part.label(n)], "ranks": ranks.get(part.label(n))} for n in names},
            }
        return {"questions": found} if found else {}

    def _target(self, name: str) -> dict[str, float]:
        within, confidence = self.targets[name]
        return {error_units(self.asked).get(name, "within"): within, "confidence": confidence}

    def _failure(self) -> dict[str, Any]:
        """How probable an answer that breaks the limits may be, where one may."""
        if self.exposure is None or not self.exposure.may_fail or self.plan.attacker is None:
            return {}
        drawn = self.failure_under_prior
        return {
            "failure": self.plan.attacker.failure,
            "failure_under_prior": None if drawn is None else drawn.to_dict(),
        }

    @cached_property
    def bias(self) -> dict[str, float | None]:
        """The share of each output that the bounds on a person's rows likely cut off; None where nobody can say."""
        if self.plan.unit.identity is None:
            return {}
        from guessproof.choosing.bias import likely_bias

        return likely_bias(self.plan, self.asked)

    @property
    def bias_note(self) -> str | None:
        """What is said of the bias of max_rows beside every error; None where nothing needs to be said."""
        if self.plan.unit.identity is None:
            return None
        from guessproof.choosing.bias import bias_note

        return bias_note(self.plan, self.asked, self.paid_bounds)

    def __repr__(self) -> str:
        least, most = self.interval
        found = f"ε={self.shown_epsilon}, {self.binding} decides" if self.feasible else f"not feasible: {self.binding}"
        return f"Choice({self.plan.data.name!r}, {found}, between {up(least)} and {down(most)})"

    def __float__(self) -> float:
        """The ε that was chosen; NaN where there is none."""
        return self.epsilon if self.feasible else math.nan

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else repr(self)

    def _repr_html_(self) -> str:
        rows = [(limit.name, limit.side, _safe_side(limit), limit.how) for limit in self.limits]
        return table_html(self.explanation, ("from", "", "ε", "because"), rows)

    def to_dict(self, *, quick: bool = False) -> dict[str, Any]:
        """Ready for JSON; an infinite number is null. `quick`: the prior's factor is what is proven at once."""
        factor = self.quick_prior_factor if quick else self.largest_prior_factor
        return _finite(
            {
                "feasible": self.feasible,
                "epsilon": self.epsilon if self.feasible else None,
                "epsilon_charged": self.cost if self.noises else None,
                "times": self.times,
                "epsilon_charged_for_all": self.cost_of_all if self.noises else None,
                "delta": self.delta,
                **({} if self.threshold is None else {"groups_shown": self.threshold.to_dict()}),
                "epsilon_add_remove": self.epsilon_add_remove,
                "epsilon_per_unit": self.epsilon_per_unit,
                "noise_scale": self.noise_scale,
                "noise": self.noise_tables,
                **self._questions(),
                "interval": list(self.interval),
                "binding": self.binding,
                "limits": [{"name": b.name, "side": b.side, "epsilon": b.epsilon, "how": b.how} for b in self.limits],
                "targets": {n: self._target(n) for n in self.targets},
                "errors": self.errors(),
                "rank_errors": self.rank_errors(),
                "bias": self.bias,
                **({} if self.bias_note is None else {"bias_note": self.bias_note}),
                "prior": self.prior,
                "advantage": None if self.advantage is None else self.advantage.to_dict(),
                "posterior": None if self.posterior is None else self.posterior.to_dict(),
                **self._failure(),
                "prior_free_epsilon": self.prior_free_epsilon,
                "largest_prior_factor": "any" if factor == math.inf else factor,
                "narrower_prior_epsilon": self.narrower_prior_epsilon,
                "wider_prior_epsilon": self.wider_prior_epsilon,
                "query_aware_epsilon": self.query_aware_epsilon,
                "changes": [change.to_dict() for change in self.changes],
                "data_dependent": self.data_dependent,
                "assumptions": list(self.assumptions),
                "explanation": self.explanation,
            }
        )


def _safe_side(limit: Limit) -> str:
    return down(limit.epsilon) if limit.side == "at most" else up(limit.epsilon)


def label_measurements(asked: Asked) -> tuple[str, ...]:
    """What each measurement is called: its aggregate, with the questions that need it where there are several."""
    found = [list[str]() for _ in asked.measurements]
    for part in asked.parts:
        for place in part.places:
            found[place] += [part.name] if part.name else []
    pairs = zip(found, asked.measurements, strict=True)
    return tuple(f"{', '.join(names)}: {m.text}" if names else m.text for names, m in pairs)


def _is_clamped(measurement: Measurement) -> bool:
    """Whether values outside declared bounds would change what is added up."""
    read = measurement.contribution.term.columns if measurement.kind != "count" else frozenset[str]()
    return any(measurement.declared.column(name).bounds is not None for name in read)


def given_truth(plan: Plan) -> str:
    """Of which true values a failure probability speaks."""
    stated = plan.attacker is not None and plan.attacker.at is not None
    return "given the stated true value" if stated else "given any true value"


def error_units(asked: Asked) -> dict[str, str]:
    """The unit of each plain output's error, where it is not the answer's own."""
    plain = [output for output in asked.outputs if output.is_plain]
    return {o.name: "ranks" for o in plain if asked.measurements[o.measured[0]].picks}


def _worded(keys: list[str], **values: Any) -> list[str]:
    return [ASSUMPTIONS[key].format(**values) for key in keys]


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, list) else value
