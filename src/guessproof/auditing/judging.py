"""From what was counted to verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from guessproof.auditing.facts import Compared, Counted, worst
from guessproof.auditing.playing import Played
from guessproof.auditing.result import Check, Point
from guessproof.auditing.stage import Act, Stage, value_of
from guessproof.auditing.tables import Cell, Plain
from guessproof.noise import Noise

SHOWN = 0.01  # intervals of the plot hold the truth with probability 99 % each
PAIRS = 60  # pairs of victims whose distance is compared with the guarantee


# The engine: no chance is involved.


def engine_check(stage: Stage) -> Check:
    """The real engine's whole numbers against plain arithmetic."""
    off, strained, where = 0.0, 0.0, ""
    for act in stage.acts:
        for j, noise in enumerate(stage.choice.noises):
            for (unit, count), plain in _answers(act, j):
                difference = abs(value_of(noise, (unit, count)) - plain.value)
                if count is not None and count != plain.count:
                    difference = math.inf
                if difference / plain.slack > strained:
                    off, strained, where = difference, difference / plain.slack, noise.measurement.text
    done = f"{stage.tables} synthetic tables, {stage.rows} rows in all, as {stage.form} files through the real engine"
    if strained <= 1:
        return Check("engine", off, None, 0.0, "pass", f"{done}: every answer is what plain arithmetic gives")
    said = "counts other rows" if math.isinf(off) else f"is off by {off:.6g}"
    return Check("engine", off, None, 0.0, "fail", f"{done}: {where} {said}")


def _answers(act: Act, j: int) -> Iterator[tuple[Cell, Plain]]:
    yield from zip((cells[j] for cells in act.cells), act.truths[j], strict=True)
    for index, tables in act.pairs.items():
        for cells, victim in zip(tables, act.scene.pairs[index], strict=True):
            yield cells[j], act.scene.plain(j, victim)
    if act.expected is not None:
        for cells, row in zip(act.expected.alone, act.expected.rows, strict=True):
            yield cells[j], replace(act.scene, others=()).plain(j, row)


def _unit(noise: Noise, unit: int | None) -> int:
    return noise.grid.units(noise.measurement.contribution.absent) if unit is None else unit


def movement_check(stage: Stage) -> Check:
    """How far the victim moved the engine's answers, as a share of what the guarantee allows."""
    share, where, moved, allowed = 0.0, "", 0.0, 0.0
    for act in stage.acts:
        for j, noise in enumerate(stage.choice.noises):
            for distance, promised in _moves(stage, act, j):
                rounding = 0.0 if noise.measurement.is_whole else 2 * noise.grid.step
                part = max(0.0, distance - rounding) / promised if promised else math.inf * (distance > rounding)
                if part > share:
                    share, where, moved, allowed = float(part), noise.measurement.text, distance, promised
    verdict = "pass" if share <= 1 + 1e-9 else "fail"
    words = (
        f"one record moved {where} by {moved:.6g} where at most {allowed:.6g} was promised"
        if where
        else "no victim moved any answer"
    )
    return Check("movement", share, None, 1.0, verdict, words)


def _moves(stage: Stage, act: Act, j: int) -> Iterator[tuple[float, float]]:
    """Distances between the engine's answers, and what the guarantee allows for them."""
    noise = stage.choice.noises[j]
    measurement = noise.measurement
    whole = measurement.guarantee.sensitivity
    units = [_unit(noise, cells[j][0]) for cells in act.cells]
    yield (max(units) - min(units)) * noise.grid.step, whole
    for tables in act.pairs.values():
        ends = [_unit(noise, cells[j][0]) for cells in tables]
        yield abs(ends[0] - ends[1]) * noise.grid.step, whole
    if measurement.declared.unit.hides_presence:
        return
    secret = [f.name for f in stage.fields.values() if f.secret]
    for i in range(min(PAIRS, len(act.victims) - 1)):
        one, other = act.victims[i], act.victims[i + 1]
        if one is not None and other is not None:
            before, after = ({n: row.get(n) for n in secret} for row in (one, other))
            distance = abs(units[i] - units[i + 1]) * noise.grid.step
            yield distance, measurement.guarantee.between(before, after)


# What chance decides: each test at its share of the false-alarm rate.


def chance_checks(stage: Stage, played: Played, level: float) -> Iterator[Check]:
    """(a) and (c), by measurement, and the independence of all noise."""
    texts = [n.measurement.text for n in stage.choice.noises]
    for index in sorted(played.guesses):
        yield _success(stage, index, texts[index], played.guesses[index], level)
    for index in sorted(played.told):
        yield _told(texts[index], played.told[index], level)
    for index in sorted(played.ratios):
        yield _ratio(texts[index], played.ratios[index], level)
    for index in sorted(played.bins):
        yield _law(stage.choice.noises[index], played, index, level)
    yield _independence(played.apart, level)


def _success(stage: Stage, index: int, text: str, counted: Counted, level: float) -> Check:
    low, high = counted.interval(level)
    fails = counted.p_value() <= level
    rate = counted.hits / counted.trials
    role = next(act.roles[index] for act in stage.acts if index in act.roles)
    who = "the best guesser" if stage.has_belief else "who had to name one of the two most distant tables"
    words = (
        f"{who} was right in {counted.hits} of {counted.trials} trials; exactly {counted.probability:.5f} was expected "
        f"for these victims ({role.overall:.5f} over the whole prior)"
    )
    if len(np.unique(role.guesser.guess)) == 1:
        words += "; his best guess is the same whatever the answer is, so this says nothing of the noise"
    if fails:
        side = "more" if rate > counted.probability else "less"
        words += f": {side} often than the declared noise allows"
    return Check(f"guesser, {text}", rate, (low, high), counted.probability, "fail" if fails else "pass", words)


def _told(text: str, counted: Counted, level: float) -> Check:
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


def _law(noise: Noise, played: Played, index: int, level: float) -> Check:
    name = f"noise, {noise.measurement.text}"
    fit = max(played.fits[index], key=lambda f: f.gap / f.allowed(level))
    counted = worst([*played.bins[index], *played.bits[index]])
    low, high = counted.interval(level)
    seen = f"{counted.hits / counted.trials:.5f} of the draws, {counted.probability:.5f} expected"
    gap = f"largest gap to the distribution {fit.gap:.5f} ({fit.name}), {fit.allowed(level):.5f} allowed"
    law = f"{noise.name} noise of scale {noise.mechanism.scale:.6g} on the sum"
    fails = fit.p_value() <= level or counted.p_value() <= level
    words = f"{law}, {counted.trials} draws: {gap}; {counted.name}: {seen}"
    return Check(
        name, counted.hits / counted.trials, (low, high), counted.probability, "fail" if fails else "pass", words
    )


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


def points_of_plot(stage: Stage, played: Played) -> tuple[Point, ...]:
    """Predicted against measured: the guesser by groups of victims, and how often the noise exceeds its quantiles."""
    found: list[Point] = []
    for index, groups in sorted(played.groups.items()):
        found += [_point(f"guesser, {stage.choice.noises[index].measurement.text}", g) for g in groups]
    for index, bins in sorted(played.bins.items()):
        found += [_point(f"noise, {stage.choice.noises[index].measurement.text}", c) for c in _below(bins)]
    return tuple(found)


def _below(bins: list[Counted]) -> list[Counted]:
    """P(noise ≤ edge), from the bins."""
    hits = np.cumsum([b.hits for b in bins])[:-1]
    chances = np.cumsum([b.probability for b in bins])[:-1]
    return [Counted("", int(h), bins[0].trials, float(p)) for h, p in zip(hits, chances, strict=True)]


def _point(series: str, counted: Counted) -> Point:
    low, high = counted.interval(SHOWN)
    return Point(series, counted.probability, counted.hits / counted.trials, low, high, counted.trials)
