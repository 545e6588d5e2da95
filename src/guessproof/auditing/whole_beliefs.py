"""What an attacker comes to believe from a release of any form: made-up databases that differ in what is believed.

The engine answers for every value that the victim may have. What a release tells of them is then the product of the
likelihoods of all its numbers, and the outputs that tell most are looked for one number after the other: whatever they
reach is reached, and has to stay below what was promised.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guessproof.auditing.beliefs import (
    BeliefBlock,
    BeliefPoints,
    blocks_of,
    goal_edges,
    goals_of,
    grid_guesses,
    holds,
    log_likelihood,
    points_of,
    truths_of,
)
from guessproof.auditing.databases import Answers, DatabaseFactory, Unit, UnitMaker
from guessproof.auditing.largest_belief import LargestBelief, exposure_checks, unevenness
from guessproof.auditing.neighbours import NeighbourCase, cells_of, centre_of, measure_move
from guessproof.auditing.plan import Progress
from guessproof.auditing.result import Check
from guessproof.auditing.wrong_priors import worst_beliefs
from guessproof.choosing import attacker_of
from guessproof.errors import GoalError
from guessproof.exposure import Attacker
from guessproof.noise import FollowingNoise, Noise
from guessproof.sql.places import RankContribution
from guessproof.sql.rewrite import Cell
from guessproof.world import Goal

POINTS = (60, 40, 324)  # values of the victim, by the dimension of the continuum that they stand for
BASES, TRIED, TRUTHS = 2, 6, 3  # surroundings that are played, of so many; values that are guessed
SWEEPS = 3  # turns in which each number's output is chosen again
REACH = np.array([-30.0, -1.0, 0.0, 1.0, 30.0])  # outputs of noise that follows the data, in its scales
OUTPUTS = "the outputs that tell most"


def whole_belief_checks(
    factory: DatabaseFactory, cases: Sequence[NeighbourCase], rng: Any, progress: Progress
) -> list[Check]:
    """The largest rise and the largest belief that was found, against what the plan's choice promises."""
    choice, attacker = factory.choice, attacker_of(factory.choice.plan)
    if attacker is None:
        return []
    if choice.exposure is not None and choice.exposure.may_fail:
        return [_not_played("some answers may tell more, and only how often is promised")]
    try:
        blocks = blocks_of(attacker, frozenset(factory.schema.secret))
    except GoalError as error:
        return [_not_played(error.problem)]
    if not blocks or not set(attacker.names) & set(factory.schema.secret):
        return [_not_played("the plan states no belief about a column that the questions read")]
    if sum(block.lines for block in blocks) >= len(POINTS):
        return [_not_played("the values of three and more lines are too many databases")]
    victims = BelievedVictims(factory, attacker, blocks, UnitMaker(factory.schema, rng))
    seen: list[LargestBelief] = []
    for number, base in enumerate(victims.telling_bases(cases)):
        progress(number / BASES, "asking the engine what every value of the victim would give")
        for goal in goals_of(attacker):
            seen += _largest(victims, base, goal, _truths(attacker, goal, blocks), rng)
    return exposure_checks(choice, seen, "over all databases", OUTPUTS)


def _not_played(why: str) -> Check:
    return Check("belief", None, None, None, "not computed", f"not played: {why}")


def _truths(attacker: Attacker, goal: Goal, blocks: Sequence[BeliefBlock]) -> list[Mapping[str, Any]]:
    if attacker.at is not None or not goal.depends_on_truth:
        return [dict(attacker.at or {})]
    found = truths_of(attacker, blocks, 9)
    return [found[i] for i in grid_guesses(TRUTHS, len(found))]


@dataclass(frozen=True)
class Surroundings:
    """What the attacker knows: everything else of the victim, and everybody else."""

    victim: Unit
    others: tuple[Unit, ...]


@dataclass(frozen=True)
class BelievedVictims:
    """Databases in which the victim's values are one or another of those that the attacker holds for possible."""

    factory: DatabaseFactory
    attacker: Attacker
    blocks: Sequence[BeliefBlock]
    maker: UnitMaker
    known: dict[str, Answers] = field(default_factory=dict[str, Answers])

    def telling_bases(self, cases: Sequence[NeighbourCase]) -> list[Surroundings]:
        """Of the victims that moved something, those of whose values the answers tell most."""
        units = [unit for case in cases for unit in case.victims if unit and unit.get(self._table)]
        bases = [
            Surroundings(unit, tuple(self.maker.draw() for _ in range(number % 3)))
            for number, unit in enumerate(units[:: max(1, len(units) // TRIED)])
        ]
        ends = points_of(self.blocks, 12, self.maker.rng, {}).rows()
        return sorted(bases, key=lambda base: -self._movement(base, (ends[0], ends[-1])))[:BASES]

    def answers(self, base: Surroundings, values: Mapping[str, Any], partner: Mapping[str, Any]) -> Answers:
        """What the engine finds where the victim has these values, and those who tell of him have theirs."""
        declared = self.factory.schema.declared
        copies = declared.copies or 1
        mine = [self._with(base.victim, values)] * copies
        linked = [self._with(base.victim, partner)] * (declared.linked - 1) * copies
        units = [*base.others, *mine, *linked]
        key = repr(units)
        if key not in self.known:
            self.known[key] = self.factory.ask(units)
        return self.known[key]

    @property
    def _table(self) -> str:
        return self.factory.schema.declared.table

    def _with(self, unit: Unit, values: Mapping[str, Any]) -> Unit:
        own = self.factory.schema.own
        stored = {name: own[name].to_stored(value) for name, value in values.items() if name in own}
        return {**unit, self._table: tuple({**row, **stored} for row in unit[self._table])}

    def _movement(self, base: Surroundings, ends: Sequence[Mapping[str, Any]]) -> float:
        choice = self.factory.choice
        one, other = (self.answers(base, end, end) for end in ends)
        return sum(
            measure_move(noise, cells_of(choice, one, j), cells_of(choice, other, j))
            * noise.mechanism.epsilon
            / noise.mechanism.sensitivity
            for j, noise in enumerate(choice.noises)
        )


def _largest(
    victims: BelievedVictims, base: Surroundings, goal: Goal, truths: Sequence[Mapping[str, Any]], rng: Any
) -> Iterator[LargestBelief]:
    """The belief in the goal after the outputs that raise it most, and those that lower it most."""
    points, factor = _points(victims, goal, truths, rng), victims.attacker.prior_factor
    told: list[Any] | None = None
    for truth in truths:
        fits = np.asarray(holds(goal, points.values, truth), dtype=float)
        if told is None or victims.factory.schema.declared.linked > 1:  # others know whether the goal is met
            told = _likelihoods(victims, base, points, fits)
        for wanted in (fits, 1 - fits):
            after = _most_telling(told, points.weights, wanted)
            tolerance = points.tolerance + unevenness(after, points.weights)
            yield LargestBelief(float(after @ fits), float(points.weights @ fits), tolerance, truth, ())
            if factor > 1:
                wrong = worst_beliefs(after, points.weights, fits, factor)
                yield from (LargestBelief(*pair, tolerance, truth, ()) for pair in wrong)


def _points(victims: BelievedVictims, goal: Goal, truths: Sequence[Mapping[str, Any]], rng: Any) -> BeliefPoints:
    """Cells that end where the goal does, around each value that is guessed, and where an answer may bend."""
    edges: dict[str, set[float]] = {name: set() for block in victims.blocks for name in block.names}
    for truth in truths:
        for name, ends in goal_edges(goal, truth).items():
            edges[name] |= set(ends)
    for name, noise in itertools.product(edges, victims.factory.choice.noises):
        edges[name] |= {c for c in noise.measurement.contribution.cuts(name) if math.isfinite(c)}
    most = POINTS[sum(block.lines for block in victims.blocks)]
    return points_of(victims.blocks, most, rng, {name: sorted(ends) for name, ends in edges.items()})


def _likelihoods(victims: BelievedVictims, base: Surroundings, points: BeliefPoints, fits: Any) -> list[Any]:
    """For each number that is released: candidates of its output × points, the logarithms of their likelihoods."""
    rows, choice = points.rows(), victims.factory.choice
    partners = rows[0], rows[-1]  # those who tell of the victim are as far apart as any two
    asked = [victims.answers(base, row, partners[int(fit)]) for row, fit in zip(rows, fits, strict=True)]
    found: list[Any] = []
    for j, noise in enumerate(choice.noises):
        cells = [cells_of(choice, answers, j) for answers in asked]
        for group in dict.fromkeys(g for told in cells for g in told):
            held = [told.get(group, (None, None)) for told in cells]
            if any(cell[0] != held[0][0] for cell in held):
                found.append(_of_number(noise, held))
    return found


def _of_number(noise: Noise, held: Sequence[Cell]) -> Any:
    """outputs × points of one number."""
    if isinstance(noise, FollowingNoise):
        laws = [centre_of(noise, cell[0]) for cell in held]
        outputs = np.unique(np.concatenate([centre + law.scale * REACH for centre, law in laws]))
        with np.errstate(divide="ignore"):
            return np.stack([np.log(law.density(outputs - centre)) for centre, law in laws], axis=1)
    if noise.measurement.picks:
        places, fine = noise.measurement.contribution, noise.measurement.fine
        assert isinstance(places, RankContribution)
        nobody, parts = (0,) * len(places.grid.values), places.aim.level.denominator * fine
        scores = [np.array(places.aim.scores(cell[0] or nobody, fine), dtype=float) / parts for cell in held]
        mechanism: Any = noise.mechanism
        with np.errstate(divide="ignore"):
            return np.stack([np.log(mechanism.chances(score)) for score in scores], axis=1)
    absent = noise.grid.units(noise.measurement.contribution.absent)
    units = [absent if cell[0] is None else int(cell[0]) for cell in held]
    centres = np.array([float(unit - units[0]) for unit in units]) * noise.grid.step
    return log_likelihood(noise.mechanism, np.unique(centres), centres)


def _most_telling(told: Sequence[Any], weights: Any, wanted: Any) -> Any:
    """The belief in each point after the outputs that favour the wanted ones, chosen number by number."""
    total, chosen = np.zeros(len(weights)), [np.zeros(len(weights)) for _ in told]
    for _ in range(SWEEPS):
        for place, number in enumerate(told):
            without = total - chosen[place]
            after = _beliefs(without + number, weights)
            chosen[place] = number[int(np.argmax(after @ wanted))]
            total = without + chosen[place]
    return _beliefs(total[None, :], weights)[0]


def _beliefs(logs: Any, weights: Any) -> Any:
    joint = np.exp(logs - np.max(logs, axis=1, keepdims=True)) * weights
    return joint / joint.sum(axis=1, keepdims=True)
