"""The advantage over cells of true values: what every true value of a cell gives at least, and at most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from guessproof.risk.attack import Attack
from guessproof.risk.line.worst import TrueValues
from guessproof.risk.worst_truth import worst_search
from guessproof.world.checks import Array


def advantage_over(
    attack: Attack, ends: Array, epsilon: float, both: bool = False
) -> TrueValues:
    """Enclose the advantage between each and the next of some rising true values.

    The attack's goal is one interval around a number that has a density, and its true value is left open.
    """
    search = worst_search(attack.attribute, attack.goal)
    rise = search.over(ends, epsilon, "rise")
    if not both:
        return rise
    fall = search.over(ends, epsilon, "fall")
    sides = {
        name: np.maximum(getattr(rise, name), getattr(fall, name))
        for name in ("attack", "bound", "least", "most")
    }
    return replace(rise, **sides)
