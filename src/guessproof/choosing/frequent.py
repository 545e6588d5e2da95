"""Groups that are found in the table: how large a noisy count must be for one to be shown, and what that hides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from guessproof.mechanisms import MECHANISMS
from guessproof.mechanisms.thresholds import Reach, least_tail, least_threshold
from guessproof.noise import Noise
from guessproof.rounded import up
from guessproof.sql import AnalyzedQuery
from guessproof.sql.formula import FOUND
from guessproof.sql.found import find_count
from guessproof.sql.measurement import Measurement

if TYPE_CHECKING:
    from guessproof.plan import Plan

SURE = 0.95


@dataclass(frozen=True)
class GroupThreshold:
    """A group is shown where the noisy count of its units is at least `least` steps of the noise's grid."""

    index: int  # of the measurement that counts
    noise: Noise
    delta: float

    @property
    def reach(self) -> Reach:
        """What one unit can add to groups of its own."""
        return reach_of(self.noise.measurement, self.noise.grid.step)

    @property
    def scale(self) -> Fraction:
        """The noise's scale in steps, as it is drawn."""
        return Fraction(math.ldexp(self.noise.mechanism.scale, -self.noise.grid.exponent))

    @cached_property
    def least(self) -> int:
        """The threshold in steps of the grid, proven to cost δ at most."""
        return least_threshold(self.scale, self.reach, self.delta)

    @property
    def value(self) -> float:
        """The same as a count."""
        return self.noise.grid.value(self.least)

    @property
    def shown_from(self) -> int:
        """Groups of so many are shown in 95 % of releases, at least."""
        return math.ceil(self.noise.grid.value(self.least + least_tail(self.scale, 1 - SURE)))

    @property
    def hidden_to(self) -> int:
        """Groups of so few are shown in 5 % of releases, at most."""
        return max(math.floor(self.noise.grid.value(self.least - least_tail(self.scale, 1 - SURE))), 0)

    @property
    def words(self) -> str:
        """What is shown and what is not, in words of every output."""
        count, noun = self.noise.measurement.text, self.noise.measurement.declared.unit.noun
        return (
            f"Groups are found in the table. One is shown where its noisy {count} is at least {up(self.value)}: groups "
            f"of {self.shown_from} or more are shown with 95 % probability, groups of {self.hidden_to} or fewer with "
            f"5 % at most. A value that only one {noun} has is shown with probability δ = {up(self.delta)} at most. A "
            "group that is not shown may be small, or may not be there."
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "count": self.noise.measurement.text,
            "threshold": self.value,
            "delta": self.delta,
            "shown_from": self.shown_from,
            "hidden_to": self.hidden_to,
        }


def reach_of(measurement: Measurement, step: float) -> Reach:
    """What a unit, and all that tell of it, add to groups that nobody else is in, in steps of a grid."""
    linked, total = measurement.declared.linked, measurement.total
    if total is None:
        cell = whole = Fraction(measurement.copies)  # each of its rows may be in a group of its own
        groups, smallest = measurement.copies, 1
    else:
        groups = measurement.declared.unit.bound_groups(FOUND) or 1
        cell = Fraction(total.most or 0.0) if total.high is None else Fraction(total.high)
        whole = cell * groups if total.most is None else min(cell * groups, Fraction(total.most))
        # What is scaled may be scaled to nothing; each unit that counts once counts for 1.
        smallest = int(total.most is None)
    unit = Fraction(step)
    cell, whole = linked * math.ceil(cell / unit), linked * math.ceil(whole / unit)
    return Reach(cell, whole, linked * groups, math.floor(smallest / unit))


def find_threshold(plan: Plan, question: AnalyzedQuery, noises: tuple[Noise, ...]) -> GroupThreshold | None:
    """The threshold of a plan's query, where it has one."""
    delta, index = plan.release.delta, find_count(question.measurements)
    if not noises or delta is None or index is None:
        return None
    return GroupThreshold(index, noises[index], delta)


def check_found_groups(plan: Plan) -> None:
    """Refuse what says something of every answer, and noise whose tail is another one."""
    problem = "groups without declared levels are shown by chance, and one answer in so many may show a rare one"
    remedy = "declare the levels of the column that is grouped by, or leave out"
    if plan.attacker is not None:
        raise plan.error(("attacker",), plan.attacker.goal, problem, f"{remedy} [attacker] and fix release.epsilon")
    if plan.risk is not None:
        raise plan.error(("risk",), "…", problem, f"{remedy} [risk] and fix release.epsilon")
    mechanism = plan.release.mechanism
    if mechanism is not None and MECHANISMS[mechanism].integer_noise != "laplace":
        fitting = [name for name, kind in MECHANISMS.items() if kind.integer_noise == "laplace"]
        problem = "groups without declared levels are shown by a noisy count, whose tail is worked out for others"
        raise plan.error(("release", "mechanism"), mechanism, problem, f"use {' or '.join(fitting)}")
