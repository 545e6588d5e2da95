"""From what was counted to verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from guessproof.auditing.counts import Compared, Counted, worst
from guessproof.auditing.plan import AuditPlan, CaseAttack, value_of
from guessproof.auditing.result import Check, PlotPoint
from guessproof.auditing.tables import Cell, PlainAnswer
from guessproof.auditing.trials import TrialCounts
from guessproof.noise import Noise

SHOWN = 0.01  # intervals of the plot hold the truth with probability 99 % each
PAIRS = 60  # pairs of victims whose distance is compared with the guarantee


# The engine: no chance is involved.


def engine_check(audit_plan: AuditPlan) -> Check:
    """The real engine's whole numbers against plain arithmetic."""
    off, strained, where = 0.0, 0.0, ""
    for attack in audit_plan.attacks:
        for j, noise in enumerate(audit_plan.choice.noises):
            for (unit, count), plain in _answers(attack, j):
                difference = abs(value_of(noise, (unit, count)) - plain.value)
                if count is not None and count != plain.count:
                    difference = math.inf
                if difference / plain.slack > strained:
                    off, strained, where = difference, difference / plain.slack, noise.measurement.text
    made = f"{audit_plan.tables} synthetic tables, {audit_plan.rows} rows in all"
    done = f"{made}, as {audit_plan.form} files through {audit_plan.asked}"
    if strained <= 1:
        return Check("engine", off, None, 0.0, "pass", f"{done}: every answer is what plain arithmetic gives")
    said = "counts other rows" if math.isinf(off) else f"is off by {off:.6g}"
    return Check("engine", off, None, 0.0, "fail", f"{done}: {where} {said}")


def _answers(attack: CaseAttack, j: int) -> Iterator[tuple[Cell, PlainAnswer]]:
    yield from zip((cells[j] for cells in attack.cells), attack.truths[j], strict=True)
    for index, tables in attack.pairs.items():
        for cells, victim in zip(tables, attack.case.pairs[index], strict=True):
            yield cells[j], attack.case.plain(j, victim)
    if attack.expected is not None:
        for cells, row in zip(attack.expected.alone, attack.expected.rows, strict=True):
            yield cells[j], replace(attack.case, others=()).plain(j, row)


def _unit(noise: Noise, unit: int | None) -> int:
    return noise.grid.units(noise.measurement.contribution.absent) if unit is None else unit


def movement_check(audit_plan: AuditPlan) -> Check:
    """How far the victim moved the engine's answers, as a share of what the guarantee allows."""
    share, where, moved, allowed = 0.0, "", 0.0, 0.0
    for attack in audit_plan.attacks:
        for j, noise in enumerate(audit_plan.choice.noises):
            for distance, promised in _moves(audit_plan, attack, j):
                rounding = 0.0 if noise.measurement.is_whole else 2 * noise.grid.step
                part = max(0.0, distance - rounding) / promised if promised else math.inf * (distance > rounding)
                if part > share:
                    share, where, moved, allowed = float(part), noise.measurement.text, distance, promised
    verdict = "pass" if share <= 1 + 1e-9 else "fail"
    words = (
        f"one {audit_plan.choice.plan.unit.noun} moved {where} by {moved:.6g} where at most {allowed:.6g} was promised"
        if where
        else "no victim moved any answer"
    )
    return Check("movement", share, None, 1.0, verdict, words)


def _moves(audit_plan: AuditPlan, attack: CaseAttack, j: int) -> Iterator[tuple[float, float]]:
    """Distances between the engine's answers, and what the guarantee allows for them."""
    noise = audit_plan.choice.noises[j]
    measurement = noise.measurement
    whole = measurement.guarantee.sensitivity
    units = [_unit(noise, cells[j][0]) for cells in attack.cells]
    yield (max(units) - min(units)) * noise.grid.step, whole
    for tables in attack.pairs.values():
        ends = [_unit(noise, cells[j][0]) for cells in tables]
        yield abs(ends[0] - ends[1]) * noise.grid.step, whole
    if measurement.declared.unit.hides_presence:
        return
    secret = [f.name for f in audit_plan.fields.values() if f.secret]
    for i in range(min(PAIRS, len(attack.victims) - 1)):
        one, other = attack.victims[i], attack.victims[i + 1]
        if one is not None and other is not None:
            before, after = ({n: row.get(n) for n in secret} for row in (one, other))
            distance = abs(units[i] - units[i + 1]) * noise.grid.step
            yield distance, measurement.guarantee.between(before, after)


# What chance decides: each test at its share of the false-alarm rate.


def chance_checks(audit_plan: AuditPlan, counts: TrialCounts, level: float) -> Iterator[Check]:
    """(a) and (c), by measurement, and the independence of all noise."""
    for index in sorted(counts.guesses):
        text = audit_plan.choice.noises[index].measurement.text
        yield _success(audit_plan, index, text, counts.guesses[index], level)
    yield from pair_checks(audit_plan.choice.noises, counts, level)


def pair_checks(noises: Sequence[Noise], counts: TrialCounts, level: float) -> Iterator[Check]:
    """What noise on two neighbouring tables tells: how far they are apart, its law, its independence."""
    texts = [n.measurement.text for n in noises]
    for index in sorted(counts.distinguished):
        yield _describe_move(texts[index], counts.distinguished[index], level)
    for index in sorted(counts.ratios):
        yield _ratio(texts[index], counts.ratios[index], level)
    for index in sorted(counts.bins):
        law = _law if index in counts.fits else _picked
        yield law(noises[index], counts, index, level)
    if counts.apart:
        yield _independence(counts.apart, level)


def _success(audit_plan: AuditPlan, index: int, text: str, counted: Counted, level: float) -> Check:
    low, high = counted.interval(level)
    fails = counted.p_value() <= level
    rate = counted.hits / counted.trials
    strategy = next(attack.strategies[index] for attack in audit_plan.attacks if index in attack.strategies)
    who = "the best guesser" if audit_plan.has_belief else "who had to name one of the two most distant tables"
    words = (
        f"{who} was right in {counted.hits} of {counted.trials} trials; exactly {counted.probability:.5f} was expected "
        f"for these victims ({strategy.overall:.5f} over the whole prior)"
    )
    if len(np.unique(strategy.guesser.guess)) == 1:
        words += "; his best guess is the same whatever the answer is, so this says nothing of the noise"
    if fails:
        side = "more" if rate > counted.probability else "less"
        words += f": {side} often than the declared noise allows"
    return Check(f"guesser, {text}", rate, (low, high), counted.probability, "fail" if fails else "pass", words)


def _describe_move(text: str, counted: Counted, level: float) -> Check:
    low, high = counted.interval(level)
    fails = counted.p_value() <= level
    words = f"two neighbouring tables, equally likely: told apart in {counted.hits} of {counted.trials} answers"
    rate, verdict = counted.hits / counted.trials, "fail" if fails else "pass"
    return Check(f"two tables, {text}", rate, (low, high), counted.probability, verdict, words)


def _ratio(text: str, compared: list[Compared], level: float) -> Check:
    loudest = max(compared, key=lambda c: c.least_ratio(level) - c.epsilon)
    broken = loudest.is_broken(level)
    measured = [c for c in compared if c.ratio is not None]
    if not measured and not broken:
        words = f"not computed: the two tables never gave answers alike, as ε = {loudest.epsilon:.6g} lets expect"
        return Check(f"ratios, {text}", None, None, loudest.epsilon, "not computed", words)
    telling = loudest if broken else max(measured, key=_weighed)
    low, high = telling.least_ratio(level), telling.most_ratio(level)
    promise = f"{telling.epsilon:.6g}" + (f" (δ = {telling.delta:g})" if telling.delta else "")
    words = f"{telling.name}: ln of the ratio between two neighbouring tables; at most {promise} was promised"
    verdict = "fail" if broken else "pass"
    return Check(f"ratios, {text}", telling.ratio, (low, high), telling.epsilon, verdict, words)


def _weighed(compared: Compared) -> float:
    """The event to show: a large ratio that is well measured."""
    return (compared.ratio or 0.0) - 2 / math.sqrt(min(compared.here, compared.there))


def _law(noise: Noise, counts: TrialCounts, index: int, level: float) -> Check:
    name = f"noise, {noise.measurement.text}"
    fit = max(counts.fits[index], key=lambda f: f.gap / f.allowed(level))
    counted = worst([*counts.bins[index], *counts.bits[index]])
    low, high = counted.interval(level)
    seen = f"{counted.hits / counted.trials:.5f} of the draws, {counted.probability:.5f} expected"
    gap = f"largest gap to the distribution {fit.gap:.5f} ({fit.name}), {fit.allowed(level):.5f} allowed"
    law = f"{noise.name} noise of scale {noise.mechanism.scale:.6g} on the sum"
    fails = fit.p_value() <= level or counted.p_value() <= level
    words = f"{law}, {counted.trials} draws: {gap}; {counted.name}: {seen}"
    return Check(
        name, counted.hits / counted.trials, (low, high), counted.probability, "fail" if fails else "pass", words
    )


def _picked(noise: Noise, counts: TrialCounts, index: int, level: float) -> Check:
    counted = worst(counts.bins[index])
    low, high = counted.interval(level)
    fails, rate = counted.p_value() <= level, counted.hits / counted.trials
    words = (
        f"a value picked by its rank, scale {noise.mechanism.scale:.6g} ranks, {counted.trials} draws: {counted.name} "
        f"in {rate:.5f} of them, {counted.probability:.5f} expected"
    )
    verdict = "fail" if fails else "pass"
    return Check(f"noise, {noise.measurement.text}", rate, (low, high), counted.probability, verdict, words)


def _independence(apart: list[Counted], level: float) -> Check:
    counted = worst(apart)
    low, high = counted.interval(level)
    fails = counted.p_value() <= level
    words = f"{counted.name} in {counted.hits} of {counted.trials} pairs" + (
        ": not what independent noise around the right answers gives" if fails else ", as often as independent noise"
    )
    return Check(
        "independence",
        counted.hits / counted.trials,
        (low, high),
        counted.probability,
        "fail" if fails else "pass",
        words,
    )


# The plot.


def points_of_plot(noises: Sequence[Noise], counts: TrialCounts) -> tuple[PlotPoint, ...]:
    """Predicted against measured: the guesser by groups of victims, and how often the noise exceeds its quantiles."""
    found: list[PlotPoint] = []
    for index, groups in sorted(counts.groups.items()):
        found += [_point(f"guesser, {noises[index].measurement.text}", g) for g in groups]
    for index, bins in sorted(counts.bins.items()):
        found += [_point(f"noise, {noises[index].measurement.text}", c) for c in _below(bins)]
    return tuple(found)


def _below(bins: list[Counted]) -> list[Counted]:
    """P(noise ≤ edge), from the bins."""
    hits = np.cumsum([b.hits for b in bins])[:-1]
    chances = np.cumsum([b.probability for b in bins])[:-1]
    return [Counted("", int(h), bins[0].trials, float(p)) for h, p in zip(hits, chances, strict=True)]


def _point(series: str, counted: Counted) -> PlotPoint:
    low, high = counted.interval(SHOWN)
    return PlotPoint(series, counted.probability, counted.hits / counted.trials, low, high, counted.trials)
