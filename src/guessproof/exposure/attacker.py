"""Who attacks: what he believes, what he wants to know, and what he knows already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from guessproof.risk.several.formula import alternatives
from guessproof.world.attributes import Attribute, joint_of
from guessproof.world.finite import Finite
from guessproof.world.goals import Goal
from guessproof.world.priors import Unknown


@dataclass(frozen=True)
class Attacker:
    """The attacker of a plan: how his goal is built on attributes, the truth, and what he knows."""

    attributes: Mapping[str, Attribute]
    build: Callable[[Mapping[str, Attribute]], Goal]
    at: Mapping[str, Any] | None = None
    knows: Mapping[str, Any] | None = None
    or_: str = "any"
    prior_factor: float = 1.0

    @cached_property
    def goal(self) -> Goal:
        """The goal on the attributes as they were declared."""
        return self.build(self.attributes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns that the goal speaks of."""
        return tuple(a.name for a in self.goal.attributes)

    @cached_property
    def tied(self) -> frozenset[str]:
        """Columns outside the goal on which one inside depends."""
        joints = [joint_of(self.attributes[n]) for n in self.names if n in self.attributes]
        return frozenset(name for joint in joints if joint for name in joint.names if name not in self.names)

    @cached_property
    def alternatives(self) -> tuple[Attacker, ...]:
        """Those who are judged one by one where every alternative of an OR is protected; empty otherwise.

        Each has his own goal, and with it his own ties to columns outside of it.
        """
        goals = alternatives(self.goal) if self.or_ == "each" else ()
        return tuple(self._only(place, goal) for place, goal in enumerate(goals)) if len(goals) > 1 else ()

    def _only(self, place: int, goal: Goal) -> Attacker:
        names = {a.name for a in goal.attributes}
        joints = [joint_of(a) for a in goal.attributes]
        ties = names.union(*(joint.names for joint in joints if joint is not None))
        at = {n: v for n, v in (self.at or {}).items() if n in names}
        knows = {n: v for n, v in (self.knows or {}).items() if n in ties}
        return Attacker(
            self.attributes,
            lambda parts: alternatives(self.build(parts))[place],
            at or None,
            knows or None,
            prior_factor=self.prior_factor,
        )

    @property
    def has_prior(self) -> bool:
        """Whether more than a range is known of the goal's columns."""
        return not any(isinstance(self.attributes[n].prior, Unknown) for n in self.names)

    @property
    def has_listed_values(self) -> bool:
        """Whether every value that the goal's columns can have is listed, so that their combinations can be."""
        return all(isinstance(self.attributes[n].prior, Finite) for n in self.names)

    def stretched(self, factor: float) -> Attacker | None:
        """The same attacker with narrower or wider priors; None where no prior of the goal has a width."""
        found = {n: a.prior.stretched(factor) for n, a in self.attributes.items() if n in self.names}
        if not any(p is not None for p in found.values()):
            return None
        changed = {n: replace(a, prior=p) if (p := found.get(n)) is not None else a for n, a in self.attributes.items()}
        return replace(self, attributes=changed)
