"""A place to draw for the most exposed true value: of a formula only its value is known, which many places have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from guessproof.charts.numbers import typical
from guessproof.world import Attribute, FormulaGoal, Goal, LinePrior

_HALVINGS = 60
_FAR = 1e-9  # of a prior: no place is looked for beyond
_CLOSE = 1e-6


def exposed_place(goal: Goal, worst: Any) -> dict[str, Any] | None:
    """The true values that are the worst; of a formula, those with its worst value that are as usual as can be.

    >>> import guessproof as gp
    >>> rent, loan = gp.Attribute("rent", prior=gp.normal(700, 200)), gp.Attribute("loan", prior=gp.normal(300, 150))
    >>> {n: round(v) for n, v in exposed_place(gp.within(rent - loan, 50), {"rent - loan": 610.0}).items()}
    {'rent': 820, 'loan': 210}
    """
    names = [a.name for a in goal.attributes]
    if worst is None:
        return None
    if not isinstance(worst, Mapping):
        return {names[0]: worst} if len(names) == 1 else None
    if set(names) <= set(worst):
        return {name: worst[name] for name in names}
    if isinstance(goal, FormulaGoal) and len(worst) == 1:
        return _with_value(goal, next(iter(worst.values())))
    return None


def _with_value(goal: FormulaGoal, value: Any) -> dict[str, Any] | None:
    """All members moved from the middle by the same share of their priors, each the way that the value moves."""
    members = goal.members
    if not isinstance(value, (int, float)) or not all(isinstance(a.prior, LinePrior) for a in members):
        return None
    middle = [typical(a) for a in members]
    ways = [_way(goal, middle, i) for i in range(len(members))]

    def place(share: float) -> list[float]:
        return [_quantile(a, share if way >= 0 else 1 - share) for a, way in zip(members, ways, strict=True)]

    low, high = _FAR, 1 - _FAR
    for _ in range(_HALVINGS):
        share = 0.5 * (low + high)
        low, high = (share, high) if float(goal.values_at(place(share))) < value else (low, share)
    found = place(0.5 * (low + high))
    near = abs(float(goal.values_at(found)) - value) <= _CLOSE * max(abs(value), 1.0)
    return dict(zip((a.name for a in members), found, strict=True)) if near else None


def _way(goal: FormulaGoal, middle: list[Any], index: int) -> float:
    """Whether the value rises or falls with one member."""
    ends = [[*middle[:index], _quantile(goal.members[index], u), *middle[index + 1 :]] for u in (0.25, 0.75)]
    return float(np.sign(float(goal.values_at(ends[1])) - float(goal.values_at(ends[0]))))


def _quantile(attribute: Attribute, share: float) -> float:
    prior: Any = attribute.prior
    return float(prior.quantile(share))
