"""An attack on several attributes under a wrong prior: a signed distance, and the priors that favour it.

How probable each level of the likelihood is, in the goal and outside of it, is known in closed form for independent
attributes. So are the best thresholds, then: κ times as much where the level is high in the goal, and where it is low
outside. Levels are taken in thin layers, each at its end that is worse for the attack.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from guessproof.risk.misjudged.tents import Move
from guessproof.risk.several.formula import Tree, negated
from guessproof.risk.several.joint_attack import JointAttack
from guessproof.risk.several.signed import signed_attack
from guessproof.world.checks import Array

_LAYERS = 600
_CUTS = 61


def signed_rise(world: JointAttack, tree: Tree, epsilon: float, factor: float, move: Move) -> float:
    """How far such an attack moves the belief; 0 where there is none."""
    found = signed_attack(world, tree if move > 0 else negated(tree), epsilon)
    if found is None or not found[1].start.size:
        return 0.0
    _, climb, theta = found
    levels, inner, outer = climb.layers(theta, _LAYERS)
    high = np.exp(epsilon * (levels - levels[-1]))
    low = np.append(high[0], high[:-1])  # a layer's likelihood lies between these
    cuts = np.unique(np.linspace(0, inner.size, _CUTS).astype(int))
    mass, told = (_raised(v[::-1], factor, cuts) for v in (inner, inner * low))
    other, held = (_raised(v, factor, cuts) for v in (outer, outer * high))
    rise = told[:, None] / (told[:, None] + held) - mass[:, None] / (mass[:, None] + other)
    return max(float(np.max(rise)) - 1e-9, 0.0)


def _raised(part: Array, factor: float, cuts: Any) -> Array:
    """The sum with κ times as much of the first layers."""
    sums = np.concatenate([[0.0], np.cumsum(part)])
    return sums[-1] + (factor - 1) * sums[cuts]
