"""What the rewritten query gives without noise, and how far it moved beside the noise that it gets."""

from __future__ import annotations

from dataclasses import dataclass

from guessproof.choosing import Choice
from guessproof.engines import open_engine
from guessproof.noise import Noise
from guessproof.releasing import prepare_query
from guessproof.releasing.answer import Found, list_groups
from guessproof.sql import RewrittenQuery
from guessproof.sql.places import RankContribution


@dataclass(frozen=True)
class Moved:
    """One measurement: how far all groups together moved, and how far one unit may move them."""

    text: str
    by: float
    scale: float
    change: float
    presence: float
    rounding: float


def prepared(choice: Choice) -> RewrittenQuery:
    """The query that a release would run, tried as a release would try it."""
    plan = choice.plan
    beside = plan.public_sources if choice.question.joins else {}
    with open_engine(plan.source, plan.data.table, public=beside) as engine:
        return prepare_query(engine, choice.question, [n.grid.exponent for n in choice.noises])


def moved(choice: Choice, before: Found, after: Found) -> list[Moved]:
    """The movement of each measurement between two states of the database, over all groups together."""
    groups = list_groups(choice.question)
    return [_moved(noise, index, groups, before, after) for index, noise in enumerate(choice.noises)]


def _moved(noise: Noise, index: int, groups: list[tuple[str, ...]], before: Found, after: Found) -> Moved:
    measurement = noise.measurement
    by = _ranks if measurement.picks else _units
    total = sum(by(noise, *(state[g][index][0] if g in state else None for state in (before, after))) for g in groups)
    promise, rounding = measurement.guarantee, 0.0 if measurement.picks else noise.grid.step * measurement.copies
    return Moved(measurement.text, total, noise.mechanism.scale, promise.change, promise.presence, rounding)


def _units(noise: Noise, before: int | None, after: int | None) -> float:
    """How far a number moved; nothing is what nothing adds up to."""
    empty = noise.grid.units(noise.measurement.contribution.absent)
    return abs((empty if after is None else after) - (empty if before is None else before)) * noise.grid.step


def _ranks(noise: Noise, before: tuple[int, ...] | None, after: tuple[int, ...] | None) -> float:
    """How far apart the scores of two values of the grid moved: the largest rise less the smallest."""
    places = noise.measurement.contribution
    assert isinstance(places, RankContribution)
    nobody = (0,) * len(places.grid.values)
    pairs = zip(places.aim.scores(before or nobody), places.aim.scores(after or nobody), strict=True)
    rises = [b - a for a, b in pairs]
    return (max(rises) - min(rises)) / places.aim.level.denominator
