"""Several releases about the same secret: their guarantees are metrics, and metrics add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from guessproof.errors import ParameterError
from guessproof.risk.attack import Attack
from guessproof.risk.bracket import Bracket
from guessproof.world.attributes import Attribute
from guessproof.world.distances import Metric, Sum
from guessproof.world.goals import Compound, Goal, Not


def cumulative_advantage(
    attack: Attack, guarantees: Sequence[Metric], *, both: bool = False
) -> list[Bracket]:
    """The attacker's advantage after the first, the first two, … of a list of releases.

    Each guarantee is the metric that one release promises for the attribute: ε·d, or D/b for noise of scale b. The
    answers hold for all mechanisms with these guarantees, also if later releases are chosen after earlier ones.

    >>> from guessproof.world.attributes import Attribute
    >>> from guessproof.world import within
    >>> from guessproof.world.distances import Absolute
    >>> from guessproof.world.priors import normal
    >>> alice = Attack(within(Attribute("time", prior=normal(20, 6.28)), 2), at={"time": 20})
    >>> [round(b.bound, 4) for b in cumulative_advantage(alice, [0.05 * Absolute(), 0.05 * Absolute()])]
    [0.0506, 0.1012]
    """
    if not guarantees or not all(isinstance(g, Metric) for g in guarantees):
        raise ParameterError(
            "guarantees", guarantees, "is not a list of metrics", "write [0.1 * Absolute(), …]"
        )
    goal = attack.goal
    if len(goal.attributes) > 1:
        raise ParameterError(
            "goal", goal, "speaks of several attributes", "ask one attribute at a time"
        )
    if goal.attribute.scale != 1.0:
        raise ParameterError(
            "scale",
            goal.attribute.scale,
            "has no meaning beside guarantees",
            "put it into them: Absolute(scale=…)",
        )
    answers: list[Bracket] = []
    for count in range(1, len(guarantees) + 1):
        metric = Sum(tuple(guarantees[:count])) if count > 1 else guarantees[0]
        about = _about(goal, replace(goal.attribute, metric=metric))
        answers.append(replace(attack, goal=about).advantage(epsilon=1.0, both=both))
    return answers


def _about(goal: Goal, attribute: Attribute) -> Goal:
    """The same goal about another attribute."""
    if isinstance(goal, Not):
        return Not(_about(goal.part, attribute))
    if isinstance(goal, Compound):
        return replace(goal, parts=tuple(_about(part, attribute) for part in goal.parts))
    return replace(goal, attribute=attribute)  # pyright: ignore[reportCallIssue, reportUnknownVariableType, reportArgumentType]
