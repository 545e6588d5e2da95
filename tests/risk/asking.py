"""How the tests put a described question to the package, in one place."""

from __future__ import annotations

from typing import Any

from reference.cases import Case

import guessproof as gp

NAME = "x"


def product_prior(kind: str, parameters: tuple[Any, ...]) -> Any:
    return getattr(gp, kind)(*parameters)


def attribute(case: Case, **options: Any) -> Any:
    return gp.Attribute(NAME, prior=product_prior(case.kind, case.parameters), **options)


def attack(case: Case, knows: Any = None, **options: Any) -> Any:
    """The attack on |x − true value| ≤ radius."""
    goal = gp.within(attribute(case, **options), case.radius)
    if knows is None:
        return gp.Attack(goal, at={NAME: case.true_value})
    return gp.Attack(goal, at={NAME: case.true_value}, knows={NAME: knows})


def fixed_attack(prior: Any, *intervals: tuple[float, float], **options: Any) -> Any:
    """The attack on a fixed union of intervals, whatever the true value."""
    return gp.Attack(gp.inside(gp.Attribute(NAME, prior=prior, **options), *intervals))


def encloses(bracket: Any, truth: float, side: str = "upper", slack: float = 1e-11) -> bool:
    """Whether the truth lies between attack and bound, up to the rounding of the truth itself."""
    room = slack * truth + 1e-300
    if side == "upper":
        return bracket.attack <= truth + room and truth - room <= bracket.bound
    return bracket.bound <= truth + room and truth - room <= bracket.attack
