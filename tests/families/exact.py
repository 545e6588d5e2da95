"""What the rewritten query gives without noise, and how far it moved beside the noise that it gets."""

from __future__ import annotations

from dataclasses import dataclass

from guessproof.choosing import Choice
from guessproof.engines import open_engine
from guessproof.releasing import prepare_query
from guessproof.releasing.answer import Found, list_groups
from guessproof.sql import RewrittenQuery


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
    with open_engine(plan.source, plan.data.table) as engine:
        return prepare_query(engine, choice.question, [n.grid.exponent for n in choice.noises])


def moved(choice: Choice, before: Found, after: Found) -> list[Moved]:
    """The movement of each measurement between two states of the database."""
    found: list[Moved] = []
    for index, noise in enumerate(choice.noises):
        empty = noise.grid.units(noise.measurement.contribution.absent)

        def units(state: Found, group: tuple[str, ...], index: int = index, empty: int = empty) -> int:
            whole = state[group][index][0] if group in state else None
            return empty if whole is None else whole

        total = sum(abs(units(after, g) - units(before, g)) for g in list_groups(choice.question))
        promise = noise.measurement.guarantee
        rounding = noise.grid.step * noise.measurement.copies
        found.append(
            Moved(
                noise.measurement.text,
                total * noise.grid.step,
                noise.mechanism.scale,
                promise.change,
                promise.presence,
                rounding,
            )
        )
    return found
