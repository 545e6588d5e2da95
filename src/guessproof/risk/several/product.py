"""The product rule: independent blocks multiply, at any norm.

P(G₂ | G₁, y) is itself a posterior: the likelihood of x₂ averaged over x₁ ∈ G₁ is as Lipschitz as before, because
moving x₂ alone costs d₂ in every ℓp. So AND never exceeds the product of what each block allows, and OR never falls
below it for the complements. In ℓ1 the product of the blocks' own attacks is a feasible likelihood: then it is exact.
Averaging needs independence: on dependent attributes the rule is refused.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from guessproof.errors import NotCertifiedError
from guessproof.risk.several.formula import Gate, GoalBlock, Tree, blocks, ties
from guessproof.risk.several.joint_attack import JointAttack, Pair, join
from guessproof.risk.several.shift import NOISE, BeliefShift

BlockGain = Callable[[GoalBlock, float], BeliefShift]
GateGain = Callable[[Gate, list[BeliefShift], float], float | None]


def product_rule(joint_attack: JointAttack, tree: Tree, k: float) -> Pair:
    """(attack, bound) of a tree of single blocks at k = ±ε; the attack is feasible for ℓ1 only."""
    check_independent(tree)
    attack, bound = (product_shift(tree, k, _single(joint_attack, which)).gain for which in (0, 1))
    return widened(attack, bound, k)


def product_shift(tree: Tree, k: float, block: BlockGain, better: GateGain | None = None) -> BeliefShift:
    """The whole's shift from the blocks' own; `better` may improve on a gate's product."""
    if isinstance(tree, GoalBlock):
        return block(tree, k)
    parts = [product_shift(part, k, block, better) for part in tree.parts]
    whole = join(tree, parts)
    other = None if better is None or k == 0 else better(tree, parts, k)
    if other is None:
        return whole
    return BeliefShift(whole.log_p, whole.log_q, min(whole.gain, other) if k > 0 else max(whole.gain, other))


def check_independent(tree: Tree) -> None:
    """Refuse a tree whose blocks share an attribute or a joint prior, or hold several attributes."""
    seen: set[object] = set()
    for block in blocks(tree):
        keys = ties(block)
        if seen & keys or not block.is_single:
            raise NotCertifiedError(
                f"the product rule needs independent attributes that occur once each, and {block!r} is not; "
                "bound such a block as a whole, by cells or by a linear program"
            )
        seen |= keys


def widened(attack: float, bound: float, k: float) -> Pair:
    """Room for rounding, outward from the truth."""
    sign = 1.0 if k >= 0 else -1.0
    noise = [NOISE * min(abs(g), 1.0) + 8e-15 * abs(g) if np.isfinite(g) else 0.0 for g in (attack, bound)]
    return attack - sign * noise[0], bound + sign * noise[1]


def _single(joint_attack: JointAttack, which: int) -> BlockGain:
    return lambda block, k: joint_attack.single(block.goal).shift(k, which)
