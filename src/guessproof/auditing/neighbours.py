"""Neighbouring databases: how far one unit moves every number of the plan, against what was promised of each and all.

For questions of every form: joins, several tables, groups of groups, numbers of each person, values picked by rank,
noise that follows the data, groups that are found. Answers are the engine's own; no chance is involved.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from guessproof.auditing.databases import Answers, DatabaseFactory, Schema, Unit, UnitMaker
from guessproof.auditing.movement import AnswerMove, forms
from guessproof.auditing.plan import Progress
from guessproof.auditing.result import Check
from guessproof.choosing import Choice
from guessproof.guarantee import Guarantee
from guessproof.noise import FollowingNoise, Noise
from guessproof.sql.places import RankContribution
from guessproof.sql.rewrite import Cell

CASES, VICTIMS = 9, 6
CROWD = 400  # units among which one is looked for that passes every filter
COMPANIES = (0, 1, 3, 8)  # how many others there are
WHOLE = "the log-likelihood of the whole release"
REACH = np.geomspace(1e-3, 1e6, 121)  # distances, in scales, at which two densities are compared


@dataclass(frozen=True)
class NeighbourCase:
    """Databases that differ in one unit: what it is in each (None: not there), and the engine's answers."""

    victims: tuple[Unit | None, ...]
    answers: tuple[Answers, ...]

    @property
    def pairs(self) -> Iterator[tuple[int, int]]:
        """Any two of them are neighbours."""
        return itertools.combinations(range(len(self.victims)), 2)


def play_neighbours(factory: DatabaseFactory, rng: Any, progress: Progress) -> list[NeighbourCase]:
    """Ask every question of databases that differ in one unit."""
    schema, maker = factory.schema, UnitMaker(factory.schema, rng)
    telling = list(find_telling(factory, maker))
    found: list[NeighbourCase] = []
    for number in range(CASES):
        progress(number / CASES, "making up databases, asking the engine")
        known = telling[number % len(telling)] if telling and number % 3 else None
        frame = maker.frame(known)
        victims: list[Unit | None] = [None] if schema.declared.unit.hides_presence else []
        if known is None:
            victims += [maker.extreme(place, frame) for place in (0, 1)]
        else:
            victims += [known, maker.vary(known, 0), maker.vary(known, 1)]
        victims += [maker.draw(frame) for _ in range(VICTIMS - len(victims))]
        others = [maker.draw() for _ in range(COMPANIES[number % len(COMPANIES)])]
        answers = [factory.ask([*others, *_present(schema, victims, place)]) for place in range(len(victims))]
        found.append(NeighbourCase(tuple(victims), tuple(answers)))
    return found


def find_telling(factory: DatabaseFactory, maker: UnitMaker) -> Iterator[Unit]:
    """For each number a unit that moves it by being there: of a crowd that does, half and half again.

    Filters let few through: units of any values might all be passed over, and nothing would be tried.
    """
    choice, crowd = factory.choice, [maker.draw() for _ in range(CROWD)]
    nobody = factory.ask([])

    def moves(place: int, units: Sequence[Unit]) -> bool:
        cells = cells_of(choice, factory.ask(units), place)
        return measure_move(choice.noises[place], cells, cells_of(choice, nobody, place)) > 0

    for place in range(len(choice.noises)):
        kept = crowd
        if not moves(place, kept):
            continue
        while len(kept) > 1:
            half = kept[: len(kept) // 2]
            kept = half if moves(place, half) else kept[len(kept) // 2 :]
        if moves(place, kept):
            yield kept[0]


def _present(schema: Schema, victims: Sequence[Unit | None], place: int) -> list[Unit]:
    """A unit with its copies, and those who tell of it: as far apart for one and the next as any two are."""
    copies = schema.declared.copies or 1
    mine = victims[place]
    there = [victim for victim in victims if victim is not None]
    linked = [there[0 if place % 2 else -1]] * (schema.declared.linked - 1) * copies
    return [*([] if mine is None else [mine] * copies), *linked]


# How far answers moved ---------------------------------------------------------------------------------------------


def cells_of(choice: Choice, answers: Answers, place: int) -> dict[tuple[str, Any], Cell]:
    """What the engine found for one measurement, by question and group: one that two questions share counts once."""
    part = next(part for part in choice.asked.parts if place in part.places)
    index = part.places.index(place)
    return {(part.name, group): cells[index] for group, cells in answers[part.name].items()}


def measure_move(noise: Noise, one: dict[Any, Cell], other: dict[Any, Cell]) -> float:
    """How far two answers are apart over all groups, in the units of the guarantee."""
    nothing: Cell = (None, None)
    pairs = [(one.get(group, nothing)[0], other.get(group, nothing)[0]) for group in {*one, *other}]
    if isinstance(noise, FollowingNoise):
        return sum(_log_ratio(noise, *pair) for pair in pairs) * noise.mechanism.sensitivity / noise.mechanism.epsilon
    if noise.measurement.picks:
        return sum(_rank_move(noise, *pair) for pair in pairs)
    absent = noise.grid.units(noise.measurement.contribution.absent)
    units = [[absent if unit is None else unit for unit in pair] for pair in pairs]
    return float(sum(abs(a - b) for a, b in units)) * noise.grid.step


def _rank_move(noise: Noise, one: tuple[int, ...] | None, other: tuple[int, ...] | None) -> float:
    """How far the scores of two values moved apart, in ranks."""
    places, fine = noise.measurement.contribution, noise.measurement.fine
    assert isinstance(places, RankContribution)
    nobody = (0,) * len(places.grid.values)
    before, after = (np.array(places.aim.scores(counts or nobody, fine), dtype=object) for counts in (one, other))
    moved = after - before
    return float(moved.max() - moved.min()) / (places.aim.level.denominator * fine)


def _log_ratio(noise: FollowingNoise, one: Sequence[int | None] | None, other: Sequence[int | None] | None) -> float:
    """The largest logarithm of the ratio of two densities, over outputs near and far from both centres."""
    laws = [centre_of(noise, extremes) for extremes in (one, other)]
    away = np.concatenate([-REACH[::-1], [0.0], REACH])
    outputs = np.concatenate([centre + law.scale * away for centre, law in laws])
    logs = [np.log(law.density(outputs - centre)) for centre, law in laws]
    return float(np.max(np.abs(logs[0] - logs[1])))


def centre_of(noise: FollowingNoise, extremes: Sequence[int | None] | None) -> tuple[float, Any]:
    """The extreme itself, and the noise around it."""
    largest, value = noise.measurement.kind == "max", noise.grid.value
    known = [value(x) for x in extremes or () if x is not None]
    centre = (max if largest else min)(known, default=noise.measurement.contribution.absent)
    scale = noise.scale_of([None if x is None else value(x) for x in extremes or ()], largest)
    mechanism: Any = noise.mechanism
    return centre, replace(mechanism, sensitivity=mechanism.sensitivity * scale / mechanism.scale)


# What was promised -------------------------------------------------------------------------------------------------


def _allowed(schema: Schema, guarantee: Guarantee, one: Unit | None, other: Unit | None) -> Iterator[tuple[str, float]]:
    """Every form of a guarantee that speaks of this change."""
    if one is None or other is None:
        yield "presence", guarantee.presence
        return
    yield "any change", guarantee.change
    if schema.is_single and guarantee.unit.tells_columns:
        table = schema.declared.table
        before, after = ({n: _stored(unit[table][0].get(n)) for n in schema.secret} for unit in (one, other))
        yield "between the two", guarantee.between(before, after)
        if math.inf not in (*before.values(), *after.values()):
            yield from forms(guarantee, before, after)


def _stored(value: Any) -> Any:
    """What is no number is missing."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _rounding(noise: Noise, groups: int) -> float:
    """What rounding contributions to the grid may add; whole numbers and ranks are not rounded."""
    measurement = noise.measurement
    if measurement.picks or measurement.is_whole:
        return 0.0
    if isinstance(noise, FollowingNoise):  # both its centre and its scale
        return noise.step * noise.mechanism.sensitivity / noise.mechanism.epsilon * min(groups, 2)
    return 2 * noise.grid.step * min(groups, 2) * measurement.copies * measurement.declared.linked


def _moves(choice: Choice, schema: Schema, cases: Sequence[NeighbourCase]) -> Iterator[AnswerMove]:
    """Each number by itself, and all of them together in units of their noise."""
    rates = [n.mechanism.epsilon / n.mechanism.sensitivity for n in choice.noises]
    whole = not any(n.mechanism.has_delta for n in choice.noises)
    for case in cases:
        found = [[cells_of(choice, a, j) for j in range(len(choice.noises))] for a in case.answers]
        for one, other in case.pairs:
            total = 0.0
            for j, noise in enumerate(choice.noises):
                groups = len({*found[one][j], *found[other][j]})
                apart = measure_move(noise, found[one][j], found[other][j])
                apart = max(0.0, apart - _rounding(noise, groups))
                total += apart * rates[j]
                for form, most in _allowed(schema, noise.measurement.guarantee, case.victims[one], case.victims[other]):
                    yield AnswerMove(_name(choice, j), form, apart, most, "")
            if whole:
                for form, most in _allowed(schema, choice.guarantee, case.victims[one], case.victims[other]):
                    yield AnswerMove(WHOLE, form, total, most, "")


def _name(choice: Choice, place: int) -> str:
    """A number as it is called among those of all questions."""
    part = next(part for part in choice.asked.parts if place in part.places)
    return part.label(choice.noises[place].measurement.text)


def movement_checks(choice: Choice, schema: Schema, cases: Sequence[NeighbourCase]) -> Iterator[Check]:
    """The largest share of what was promised, of any number and of the whole release."""
    moves = list(_moves(choice, schema, cases))
    noun, databases = choice.plan.unit.noun, sum(len(case.victims) for case in cases)
    pairs = sum(math.comb(len(case.victims), 2) for case in cases)
    done = f"{databases} made-up databases, {pairs} pairs of neighbours"
    for what in dict.fromkeys(m.what for m in moves):
        best = max((m for m in moves if m.what == what), key=lambda m: m.share)
        name = "together" if what == WHOLE else f"movement, {what}"
        if not best.moved:
            words = f"{done}: no {noun} that was made up moved it, so that nothing was tried"
            yield Check(name, None, None, 1.0, "not computed", words)
            continue
        verdict = "pass" if best.share <= 1 + 1e-9 else "fail"
        words = (
            f"{done}: one {noun} moved {what} by {best.moved:.6g} where at most {best.allowed:.6g} was promised "
            f"({best.form})"
        )
        yield Check(name, best.share, None, 1.0, verdict, words)
