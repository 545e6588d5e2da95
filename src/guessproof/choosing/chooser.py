"""From a plan to a choice: what is asked and by whom, every bound on ε, and the pick."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

from guessproof.choosing.bias import paid_bounds
from guessproof.choosing.budgets import shared
from guessproof.choosing.choice import Choice, Limit, error_units
from guessproof.choosing.noises import check_delta, check_noise
from guessproof.choosing.ranked import check_ranked
from guessproof.choosing.ratios import RatioError
from guessproof.choosing.reasons import binding_name, changes, explain_choice, limit_words, target_words
from guessproof.errors import GuessproofError, InfeasibleError, PlanError, QueryError
from guessproof.exposure import Attacker, Exposure
from guessproof.guarantee import Guarantee, list_moved, total_of_families
from guessproof.mechanisms import MECHANISMS
from guessproof.noise import Noise, epsilon_needed, noise_for
from guessproof.plan import Plan, PlanQuestion, check_plan
from guessproof.plan.checks import kind_of
from guessproof.plan.goals import known_on
from guessproof.plan.places import spell_key
from guessproof.plan.tables import ColumnTable
from guessproof.sql import AnalyzedQuery, Asked, AskedPart, DeclaredColumn, DeclaredTable, PublicTable, analyze
from guessproof.sql.formula import Output
from guessproof.world import Finite, Kind, label_of

ROUNDING = 2.0**-38  # what the noise's grid adds to one answer, in log-likelihood; checked against the noise itself


def choose(
    plan: Plan, *, remaining: float | None = None, to_come: int | None = None, data_dependent: bool = False
) -> Choice:
    """The feasible interval of ε, the recommendation and its reasons. Never opens the table.

    Of the plan's ledger it reads what `guessproof bounds` was paid for, where persons are protected.

    ε is that of each release, where the plan has several (`times`). `remaining` is what is left of the budget, where a
    ledger is at hand, and `to_come` how many of the plan's releases it still has to pay for; left out: all.
    """
    check_plan(plan)
    count = plan.release.times if to_come is None else to_come
    share = None if remaining is None or count == 0 else shared(remaining, count)
    made = Chooser(plan, asked(plan), share, data_dependent).choice()
    return made if plan.unit.identity is None else replace(made, paid_bounds=paid_bounds(plan))


def asked(plan: Plan) -> Asked:
    """All that the plan asks, understood."""
    if plan.file.query is not None:
        return only_question(plan)
    from guessproof.sql.publication import publish

    known = declared(plan)
    return publish({q.name: _analyzed(plan, q, replace(known, rows=q.rows)) for q in plan.questions})


def only_question(plan: Plan) -> AnalyzedQuery:
    """The plan's query, for what works with one; refused where there are several."""
    _ = plan.query
    return _analyzed(plan, plan.questions[0], declared(plan))


def _analyzed(plan: Plan, question: PlanQuestion, known: DeclaredTable) -> AnalyzedQuery:
    """A query, understood; what is refused says where it stands."""
    try:
        found = analyze(question.sql, known)
    except QueryError as error:
        path = (*question.key, "sql")
        raise error.at(spell_key(path), plan.place.lines.find(path), plan.place.file) from None
    if found.joins and found.bare:
        from guessproof.plan.beside import check_names

        check_names(plan, (*question.key, "sql"), found)
    return found


def declared(plan: Plan) -> DeclaredTable:
    """What the plan says of its table, as the query reader needs it."""
    unit = plan.unit  # refused here, where there is one that cannot be protected
    columns = {name: _column(plan, name) for name in plan.columns}
    public = tuple(_public(plan, name) for name in plan.file.tables)
    data = plan.data
    known = DeclaredTable(
        data.table, columns, unit, data.rows, copies=data.copies, linked=data.linked_records, public=public
    )
    inside, smooth = plan.release.ranks_inside, plan.release.smooth
    finds = plan.release.delta is not None and unit.hides_presence
    told = {"ranks_inside": inside, "smooth": smooth, "finds_groups": finds}
    return replace(known, **told) if any(told.values()) else known


def _public(plan: Plan, name: str) -> PublicTable:
    """A public table; its rows are read where the query needs them."""
    table = plan.file.tables[name]
    columns = {n: _declare(n, c, kind_of(c, None), list(c.levels or ()), False) for n, c in table.columns.items()}
    if table.is_secret:
        return PublicTable(name, columns, table.key or (), person=table.person, owner=table.owner)
    return PublicTable(name, columns, table.key or (), table.max_matches, lambda: _read_public(plan, name))


def _read_public(plan: Plan, name: str) -> list[dict[str, Any]]:
    from guessproof.plan.beside import read_rows

    return read_rows(plan, name)


def _column(plan: Plan, name: str) -> DeclaredColumn:
    column, attribute = plan.columns[name], plan.attributes().get(name)
    values: list[Any] = list(column.levels or ())
    if attribute is not None and isinstance(attribute.prior, Finite) and not attribute.prior.is_line:
        values += [v for v in attribute.prior.values if v not in values]
    protected = plan.unit.protects(declared=True, public=bool(column.public))
    return _declare(name, column, plan.kind(name), values, protected)


def _declare(name: str, column: ColumnTable, kind: Kind | None, values: list[Any], protected: bool) -> DeclaredColumn:
    levels = tuple(label_of(v) for v in values) or None
    told = DeclaredColumn(
        name, column.bounds, levels, kind, column.missing, protected, step=column.step, edges=column.edges
    )
    if column.true is None or column.false is None:
        return told
    return replace(told, true=tuple(map(label_of, column.true)), false=tuple(map(label_of, column.false)))


def attacker_of(plan: Plan) -> Attacker | None:
    """The plan's attacker, if it has one with limits."""
    attacker, limits = plan.attacker, plan.limits
    if attacker is None or (limits.advantage is None and limits.posterior is None):
        return None
    known = known_on(attacker.knows, plan.attributes())
    return Attacker(plan.attributes(), plan.goal, attacker.at, known, attacker.or_, attacker.prior_factor)


class Chooser:
    """Collects bounds on ε and picks."""

    def __init__(
        self,
        plan: Plan,
        asked: Asked,
        remaining: float | None,
        data_dependent: bool,
        targets: dict[str, tuple[float, float]] | None = None,
    ) -> None:
        self.plan = plan
        self.asked = asked
        self.times = plan.release.times
        self.remaining = remaining
        self.data_dependent = data_dependent
        self.mechanism = plan.release.mechanism
        moved = list_moved(asked.measurements, asked.families, key=lambda m: m.guarantee.sensitivity)
        self.delta = (plan.release.delta or 0.0) / len(moved)
        release = plan.release
        if (self.mechanism, release.delta) != (None, None) or release.smooth or asked.finds_groups:
            check_noise(plan, asked)
        self.targets = self._read_targets() if targets is None else targets  # others than the plan's, to try them
        self.levels = self._pick_levels()
        self.required_epsilon = self._required_epsilons()
        self.budget_shares = self._split_budget()
        self.allowed = dict[Any, float]()  # the largest ε that the attacker's limits allow, by what it depends on

    def tried(self, plan: Plan, remaining: float | None, targets: dict[str, tuple[float, float]]) -> Self:
        """Whoever chooses after one change, in the same way: what was found already holds where nothing moves it."""
        other = type(self)(plan, self.asked, remaining, self.data_dependent, targets)
        other.allowed = self.allowed
        return other

    # Accuracy.

    def _read_targets(self) -> dict[str, tuple[float, float]]:
        found: dict[str, tuple[float, float]] = {}
        for question, part in zip(self.plan.questions, self.asked.parts, strict=True):
            targets = self._targets_of(question, part)
            found |= {part.label(name): target for name, target in targets.items()}
        return found

    def _targets_of(self, question: PlanQuestion, part: AskedPart) -> dict[str, tuple[float, float]]:
        query = part.query
        names = [o.name for o in query.outputs if o.measured]
        ranked = [o.name for o in query.outputs if o.is_plain and query.measurements[o.measured[0]].picks]
        targets = question.accuracy.targets(names, ranked)
        if ranked or question.accuracy.has_ranks:
            check_ranked(self.plan, question, ranked, targets)
        for output in query.outputs:
            if output.name in targets and not output.is_plain and self._ratio(output) is None:
                raise self._unpromised(question, output.name)
        return targets

    def _unpromised(self, question: PlanQuestion, name: str) -> PlanError:
        spot = (*question.accuracy_key, name) if name in question.accuracy.outputs else question.accuracy_key
        problem = f"the error of {name} depends on its answer, so no target can be promised for it"
        remedy = (
            'declare data.rows with protects = "values", or rows_at_least for an AVG, or set targets for SUM '
            "and COUNT as outputs"
        )
        return self.plan.error(spot, name, problem, remedy)

    @property
    def units(self) -> dict[str, str]:
        """The unit of each plain output's error, where it is not the answer's own."""
        return error_units(self.asked)

    def _asked_of(self) -> dict[int, list[tuple[float, float]]]:
        """The targets of each measurement: one number may be asked for under several names."""
        found: dict[int, list[tuple[float, float]]] = {}
        for output in self.asked.outputs:
            if output.name not in self.targets:
                continue
            ratio = self._ratio(output)
            split = {output.measured[0]: self.targets[output.name]}
            if ratio is not None:
                split = ratio.split(self.asked.measurements, *self.targets[output.name])
            for index, target in split.items():
                found.setdefault(index, []).append(target)
        return found

    def _ratio(self, output: Output) -> RatioError | None:
        rows = self.plan.data.rows_at_least
        return None if rows is None else RatioError.of(output, rows)

    def _required_epsilon(self, index: int, level: float) -> float:
        """The least ε that meets all targets of a measurement with noise that is shaped for one confidence."""
        measurement = self.asked.measurements[index]
        return max(
            epsilon_needed(measurement, within, confidence, self.mechanism, self.delta, shaped_for=level)
            for within, confidence in self._asked_of()[index]
        )

    def _pick_levels(self) -> dict[int, float]:
        """The confidence that each measurement's noise is shaped for: the one at which its targets need least."""
        asked = self._asked_of()
        return {
            j: min((c for _, c in targets), key=lambda level, j=j: self._required_epsilon(j, level))
            for j, targets in asked.items()
        }

    def _required_epsilons(self) -> dict[int, float]:
        """The least ε of each measurement that has a target."""
        return {index: self._required_epsilon(index, level) for index, level in self.levels.items()}

    def _split_budget(self) -> list[float]:
        """Each measurement's part of ε: in proportion to what the targets need, by weights where there are none.

        A measurement without a target beside others that have one gets its weight times what these need on average.
        Those to which a record contributes one at a time have parts that add up to more: it moves two of them at most.
        """
        count, families = len(self.asked.measurements), self.asked.families
        if self.required_epsilon:
            typical = math.fsum(self.required_epsilon.values()) / len(self.required_epsilon)
            parts = [self.required_epsilon.get(j, self.weights[j] * typical) for j in range(count)]
        else:
            together = {j for family in families for j in family}
            parts = [self.weights[j] * (0.5 if j in together else 1.0) for j in range(count)]
        whole = math.fsum(list_moved(parts, families, key=float))
        return [p / whole for p in parts]

    @cached_property
    def weights(self) -> list[float]:
        """The weight of each measurement: that of its question; of several that need it the largest."""
        found = [0.0] * len(self.asked.measurements)
        for question, part in zip(self.plan.questions, self.asked.parts, strict=True):
            for place in part.places:
                found[place] = max(found[place], question.weight)
        return found

    @property
    def needed(self) -> float:
        """The least ε at which every target is met."""
        if not self.required_epsilon:
            return 0.0
        return max(least / self.budget_shares[j] for j, least in self.required_epsilon.items())

    @property
    def taken(self) -> dict[str, float]:
        """The part of ε that each target takes, the largest first."""
        outputs, needed = [o for o in self.asked.outputs if o.name in self.targets], self.required_epsilon
        parts = {o.name: math.fsum(needed.get(j, 0.0) for j in o.measured) for o in outputs}
        whole = math.fsum(parts.values())
        return {name: parts[name] / whole for name in sorted(parts, key=lambda name: -parts[name])}

    # Risk.

    @cached_property
    def guarantee(self) -> Guarantee:
        """What the whole release promises per unit of ε, of which each measurement has its share."""
        parts = zip(self.budget_shares, self.asked.measurements, strict=True)
        scaled = [m.guarantee.scaled(share / m.guarantee.sensitivity) for share, m in parts]
        return total_of_families(scaled, self.asked.families)

    def noises(self, epsilon: float) -> tuple[Noise, ...]:
        """The noise of every measurement when all of it costs ε, the rounding to a grid included.

        Where a target asks for the least ε, rounding comes on top instead, or the target would be missed by a hair.
        """
        found: list[Noise] = []
        for index, (share, measurement) in enumerate(zip(self.budget_shares, self.asked.measurements, strict=True)):
            level = self.levels.get(index, 0.95)
            noise = noise_for(measurement, share * epsilon, self.mechanism, delta=self.delta, confidence=level)
            inside = min(share * epsilon - 2 * noise.step, math.nextafter(share * epsilon, 0.0))
            if (
                not self.required_epsilon and inside > 0
            ):  # below the typed decimal too, which a float may exceed by a hair
                noise = noise_for(measurement, inside, self.mechanism, delta=self.delta, confidence=level)
            found.append(noise)
        return tuple(found)

    def exposure(self) -> Exposure | None:
        """What the plan's attacker learns from all its releases together; ε is that of each of them."""
        attacker = attacker_of(self.plan)
        if attacker is None:
            return None
        if self.mechanism is not None and MECHANISMS[self.mechanism].has_delta:
            from guessproof.choosing.gaussian import gaussian_exposure

            return gaussian_exposure(self, attacker)
        step = ROUNDING * len(self.budget_shares) * self.times
        return Exposure(attacker, self.guarantee.repeated(self.times), step)

    def rounded(self, exposure: Exposure, epsilon: float) -> Exposure:
        """The same with the step that the noise really has at ε: a small scale may need a coarser grid."""
        if not 0 < epsilon < math.inf:
            return exposure
        steps = math.fsum(n.step for n in self.noises(min(epsilon, 1e9)))
        return exposure.with_step(self.times * steps)

    def limits(self, exposure: Exposure | None) -> list[Limit]:
        """Every bound on ε from above."""
        found: list[Limit] = []
        if exposure is not None:
            epsilon = self._attacker(exposure)
            found.append(Limit("attacker", epsilon, "at most", limit_words(self.plan)))
        if self.plan.risk is not None:
            found.append(self._risk())
        if self.remaining is not None:
            each = "" if self.times == 1 else ", for each of the releases to come"
            found.append(Limit("budget", self.remaining, "at most", f"what the ledger has left for this data{each}"))
        return found

    def _attacker(self, exposure: Exposure) -> float:
        """The largest ε that his limits allow: of a plan and its changes, looked for once where nothing moves it."""
        levels = tuple(sorted(self.levels.items()))
        key = self.plan.limits, self.times, tuple(self.budget_shares), levels, bool(self.required_epsilon)
        if key not in self.allowed:
            self.allowed[key] = self._allowed(exposure)
        return self.allowed[key]

    def _allowed(self, exposure: Exposure) -> float:
        try:
            found = exposure.epsilon(self.plan.limits)
            coarser = self.rounded(exposure, found)
            return found if coarser.step == exposure.step else self._on_its_grid(exposure, coarser, found)
        except PlanError:
            raise
        except InfeasibleError as error:
            raise self._located(error) from None
        except GuessproofError as error:
            attacker = self.plan.attacker
            assert attacker is not None
            problem = getattr(error, "problem", str(error))
            remedy = getattr(error, "remedy", "give the true value: at = { … }")
            raise self.plan.error(("attacker", "goal"), attacker.goal, problem, remedy) from None

    def _located(self, error: InfeasibleError) -> InfeasibleError:
        """The same refusal with the key of the limit that cannot be kept."""
        attacker, place = self.plan.attacker, self.plan.place
        given = [key for key in ("posterior", "odds", "advantage") if getattr(attacker, key) is not None]
        path = ("attacker", given[0])
        return error.at(spell_key(path), place.lines.find(path), place.file)

    def _on_its_grid(self, exposure: Exposure, coarser: Exposure, highest: float) -> float:
        """The largest ε that keeps the limits with the step of its own grid: a smaller ε has a smaller step."""
        try:
            low = coarser.epsilon(self.plan.limits)
        except InfeasibleError:  # with the step of the largest ε, not with every one
            low = 0.0
        high = highest
        for _ in range(24):
            if low >= 0.999 * high:
                break
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._keeps(self.rounded(exposure, middle), middle) else (low, middle)
        return low

    def _keeps(self, exposure: Exposure, epsilon: float) -> bool:
        limits = self.plan.limits
        if limits.advantage is not None and float(exposure.advantage(epsilon, limits.both).bound) > limits.advantage:
            return False
        return limits.posterior is None or float(exposure.posterior(epsilon).bound) <= limits.posterior

    def keeps_all(self, epsilon: float) -> bool:
        """Whether every limit holds at ε."""
        exposure = self.exposure()
        if any(limit.epsilon < epsilon for limit in self.limits(None)):
            return False
        return exposure is None or self._keeps(self.rounded(exposure, epsilon), epsilon)

    def _risk(self) -> Limit:
        profile = self.plan.risk
        assert profile is not None
        unit = self.plan.unit
        if self.mechanism is not None and MECHANISMS[self.mechanism].has_delta:
            pure = [name for name, kind in MECHANISMS.items() if not kind.has_delta]
            problem = "no ratio of a belief after to the belief before holds for every answer of such noise"
            remedy = f"use {', '.join(pure[:-1])} or {pure[-1]} with [risk]"
            raise self.plan.error(("release", "mechanism"), self.mechanism, problem, remedy)
        epsilon = shared(unit.profile_epsilon(profile, self.guarantee), self.times)
        written = self.plan.file.risk
        assert written is not None
        from guessproof.choosing.profiles import profile_words

        return Limit("risk", epsilon, "at most", f"{profile_words(written)}{unit.takes_profiles}")

    def bounds(self, exposure: Exposure | None = None) -> list[Limit]:
        """Every bound on ε, from above and from below."""
        found = self.limits(exposure or self.exposure())
        if self.required_epsilon:
            found.append(Limit("accuracy", self.needed, "at least", target_words(self.targets, self.units)))
        if self.plan.release.epsilon is not None:
            found.append(Limit("fixed", self.plan.release.epsilon, "at most", "release.epsilon of the plan"))
        return found

    # The choice.

    def choice(self) -> Choice:
        """All bounds together."""
        exposure = self.exposure()
        bounds = self.bounds(exposure)
        if not bounds:
            problem = "the plan limits nothing and asks for no accuracy, so there is nothing to choose from"
            raise self.plan.error((), None, problem, "add [attacker], [risk], [accuracy] or release.epsilon")
        needed, highest, epsilon, feasible = self.verdict(exposure, bounds)
        noises = self.noises(epsilon) if feasible and math.isfinite(epsilon) and epsilon > 0 else ()
        for noise in noises:
            noise.check()
        if self.plan.release.delta is not None:
            check_delta(self.plan, self.asked, noises)
        return self._described(exposure, bounds, epsilon, feasible, (needed, highest), noises)

    def verdict(self, exposure: Exposure | None, bounds: list[Limit]) -> tuple[float, float, float, bool]:
        """The least ε that the targets need, the largest that the limits allow, the pick, and whether it keeps all."""
        needed = self.needed
        highest = min((b.epsilon for b in bounds if b.side == "at most" and b.name != "fixed"), default=math.inf)
        epsilon, feasible = self._recommended(self.plan.release.epsilon, needed, highest)
        return needed, highest, epsilon, feasible and self._holds(exposure, epsilon, highest)

    def _holds(self, exposure: Exposure | None, epsilon: float, highest: float) -> bool:
        """Whether the limits hold at ε itself: where answers may fail, more noise does not always tell less."""
        if exposure is None or not exposure.may_fail or not 0 < epsilon < min(highest, math.inf):
            return True
        return self._keeps(exposure, epsilon)

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
        exposure = None if exposure is None else self.rounded(exposure, asked_at)
        askable = exposure is not None and math.isfinite(asked_at)
        advantage = exposure.advantage(asked_at, self.plan.limits.both) if askable and exposure else None
        believed = exposure is not None and askable and exposure.attacker.has_prior
        posterior = exposure.posterior(asked_at) if believed and exposure else None
        decides = binding_name(bounds, feasible, self.plan.release.epsilon)
        possible = tuple(changes(self, exposure, interval, (asked_at, advantage, posterior)))
        if not feasible:
            from guessproof.choosing.ways_out import ways_out

            possible = tuple(ways_out(self, possible, interval))
        profile, unit = self.plan.risk, self.plan.unit
        aware = None if profile is None else unit.query_aware_epsilon(profile, self.guarantee)
        return Choice(
            plan=self.plan,
            asked=self.asked,
            feasible=feasible,
            epsilon=epsilon,
            interval=interval,
            limits=tuple(bounds),
            binding=decides,
            noises=noises,
            targets=self.targets,
            advantage=advantage,
            posterior=posterior,
            prior=exposure.prior if exposure is not None else None,
            query_aware_epsilon=None if aware is None else shared(aware, self.times),
            changes=possible,
            explanation=explain_choice(
                plan=self.plan,
                bounds=bounds,
                epsilon=epsilon,
                feasible=feasible,
                interval=interval,
                noises=noises,
                advantage=advantage,
                changes=possible,
                taken=self.taken,
            ),
            data_dependent=self.data_dependent,
            exposure=exposure,
        )
