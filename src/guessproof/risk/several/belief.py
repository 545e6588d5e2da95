"""Which engine answers for several attributes.

| goal                                      | bound                                       | attack                |
|-------------------------------------------|---------------------------------------------|-----------------------|
| finite attributes, few combinations       | linear program                              | the same: exact       |
| independent blocks                        | least of product rule, leaves, diameter     | signed distance       |
| the same in ℓ1                            | product rule                                | product: exact        |
| a location, or a box of two numbers       | least of anchors, rays, Fréchet, ...        | the cells' own, cone  |
| a curved formula of two numbers           | least of anchors, coarse cells              | that of more cells    |
| two numbers of which a formula is known   | least of anchors, coarse cells              | the best of both      |
| another block of 2–3 attributes           | least of coarse cells, Fréchet, ...         | the cells' own        |
| anything about 2–3 attributes, refined    | certified cells, never worse than the above | the cells' own        |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from guessproof.errors import GoalError, KnowledgeError
from guessproof.risk.bracket import Effort, agreed, width_in_odds
from guessproof.risk.limits import Belief
from guessproof.risk.several.cells import can_cut, certified_cells, cut, leaves
from guessproof.risk.several.finite import finite_part, is_finite
from guessproof.risk.several.formula import Gate, GoalBlock, Tree, blocks, is_round, negated, normal
from guessproof.risk.several.joint_attack import JointAttack, Pair, Part, join
from guessproof.risk.several.lattice import split_shares
from guessproof.risk.several.leaf_bound import leaf_bound
from guessproof.risk.several.near import cone_attack, disc_prior, ray_bound
from guessproof.risk.several.product import product_shift, widened
from guessproof.risk.several.shift import BeliefShift
from guessproof.risk.several.signed import signed_attack
from guessproof.world.attributes import joint_of
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import And, Conditional, Goal, Near, Not, Or, Together, power_of, within
from guessproof.world.joint import JointNormal

_COARSE = 160  # cells behind the cheap bracket of a block that has nothing better
_CURVED = 500  # cells behind the attack of a curved formula
_FIRST = 1000  # cells of one closer look
_CLOSE = 0.02  # in odds: as near as a bound that builds on another one needs it
_EXACT = 1e-8
_WIDE = 0.04  # in odds: what is more is looked at again where numbers hang together
_WORTH_CURVED = 3e-3  # nor is one that is a tenth above the attack, and takes a third of a second
_WORTH = 5e-4  # a bound from cells or anchors is not worth a closer search


@dataclass
class JointEngine:
    """Everything that is known of one goal in one joint attack."""

    joint_attack: JointAttack
    goal: Goal
    tree: Tree = field(init=False)
    parts: dict[Goal, Part] = field(default_factory=dict[Goal, Part])

    def __post_init__(self) -> None:
        self.tree = normal(self.goal)
        self.whole = finite_part(self.joint_attack, self.goal) if self._all_finite() else None

    def _all_finite(self) -> bool:
        return (self.joint_attack.norm != "l1" or not self._all_single) and is_finite(self.joint_attack, self.goal)

    @property
    def _all_single(self) -> bool:
        return all(b.is_single for b in blocks(self.tree))

    @property
    def is_bent(self) -> bool:
        """Whether the goal is a formula of two numbers that is no sum."""
        if not _is_formula(self.goal) or _lines(self.joint_attack, self.goal) != 2:
            return False
        from guessproof.risk.several.linear import one_number  # only formulas need it

        return one_number(self.joint_attack.attributes, self.goal, self.joint_attack.norm) is None

    def prior(self) -> BeliefShift:
        """The goal's prior."""
        if self.whole is not None:
            return self.whole.shift(0.0, 0)
        return self._prior(self.tree)

    def _prior(self, tree: Tree) -> BeliefShift:
        if isinstance(tree, GoalBlock):
            return self.part(tree.goal).shift(0.0, 0)
        return join(tree, [self._prior(p) for p in tree.parts])

    def part(self, goal: Goal) -> Part:
        """A block on its own."""
        if len(goal.attributes) == 1:
            return self.joint_attack.single(goal)
        if goal not in self.parts:
            self.parts[goal] = block_part(self.joint_attack, goal)
        return self.parts[goal]

    def cheap(self, k: float, attack: bool = True) -> Pair:
        """(attack, bound) of the signed gain without refinement."""
        if k == 0:
            return 0.0, 0.0
        if self.whole is not None:
            return self.whole.gain(k)
        return widened(self._attack(k) if attack else 0.0, self._bound(k, attack), k)

    def _bound(self, k: float, attack: bool) -> float:
        better: Any = (
            None
            if self.joint_attack.norm == "l1"
            else lambda gate, parts, k: leaf_bound(self.joint_attack, gate, parts, k)
        )

        def one(block: GoalBlock, k: float) -> BeliefShift:
            part = self.part(block.goal)
            return part.shift(k, 1) if attack else part.bounded(k)

        product = product_shift(self.tree, k, one, better).gain
        diameter = k * self.joint_attack.diameter(self.goal)
        return min(product, diameter) if k > 0 else max(product, diameter)

    def _attack(self, k: float) -> float:
        if isinstance(self.tree, GoalBlock):
            return self.part(self.tree.goal).shift(k, 0).gain
        if self.joint_attack.norm == "l1":
            return product_shift(self.tree, k, lambda b, k: self.part(b.goal).shift(k, 0)).gain
        found = [self._divided(k)]
        if self._all_single:
            signed = signed_attack(self.joint_attack, self.tree if k > 0 else negated(self.tree), abs(k))
            if signed is not None:
                found.append(signed[0] if k > 0 else -signed[0])
        return max(found) if k > 0 else min(found)

    def quick_attack(self, k: float) -> float:
        """A gain that is reached, without a look at cells: enough to find out where people are most exposed."""
        if isinstance(self.tree, Gate):
            return self._attack(k)
        prior, disc = self.prior(), self.tree.goal
        reached = cone_attack(self.joint_attack, disc, k) if isinstance(disc, Near) else -np.inf
        if reached == -np.inf:
            return 0.0
        gain = reached - (prior.log_p - prior.log_q)
        return max(gain, 0.0) if k > 0 else min(gain + 2e-9, 0.0)

    def quick_bound(self, k: float) -> float:
        """A gain that is never exceeded, without a look at cells or anchors."""
        if isinstance(self.tree, Gate) or len(self.tree.goal.attributes) == 1:
            return self._bound(k, False)
        prior, sign = self.prior(), 1.0 if k > 0 else -1.0
        goal, base = (self.tree.goal if k > 0 else ~self.tree.goal), sign * (prior.log_p - prior.log_q)
        bound = min(abs(k) * self.joint_attack.diameter(goal), _frechet(self.joint_attack, goal, abs(k), base))
        if isinstance(goal, Near):
            bound = min(bound, ray_bound(self.joint_attack, goal, k) - base)
        return sign * bound

    def _divided(self, k: float) -> float:
        """The best of a few divisions of ε among the blocks: each block has its own likelihood."""
        own = blocks(self.tree)
        shares = list(np.eye(len(own)))
        power = power_of(self.joint_attack.norm)
        if 1 < power < np.inf:
            shares.append(np.full(len(own), len(own) ** (1 / power - 1)))
        gains = [self._with_shares(dict(zip(own, share.tolist(), strict=True)), k) for share in shares]
        return max(gains) if k > 0 else min(gains)

    def _with_shares(self, shares: dict[GoalBlock, float], k: float) -> float:
        return product_shift(self.tree, k, lambda b, k: self.part(b.goal).shift(k * shares[b], 0)).gain

    def closer(self, k: float) -> Pair:
        """The cheap bracket; where it is wide, after one look at the goal's edge or at cells."""
        attack, bound = self.cheap(k)
        if k == 0 or self.whole is not None or not can_cut(self.joint_attack, self.goal):
            return attack, bound
        lines = _lines(self.joint_attack, self.goal)
        if width_in_odds(attack, bound) > _CLOSE and self._has_short_edge(k, lines):
            attack, bound = self._by_edge(k, (attack, bound))
        if width_in_odds(attack, bound) > _CLOSE:
            found = certified_cells(self.joint_attack, self._side(k), abs(k), _COARSE if lines <= 1 else _FIRST)
            attack, bound = self._narrowed(k, (attack, bound), found.attack, found.bound)
        return attack, bound

    def _side(self, k: float) -> Goal:
        """What rises: the goal, or the rest where the belief falls."""
        return self.goal if k > 0 else ~self.goal

    def _has_short_edge(self, k: float, lines: int) -> bool:
        return lines == 2 and is_round(self._side(k))

    def _by_edge(self, k: float, known: Pair) -> Pair:
        attack, bound = self._narrowed(k, known, *_by_edge(self.joint_attack, self._side(k), abs(k), True))
        sign = 1.0 if k > 0 else -1.0
        attack, bound = agreed(sign * attack, sign * bound)
        return sign * attack, sign * bound

    def _narrowed(self, k: float, known: Pair, reached: float, most: float) -> Pair:
        """With log-odds of what rises that are reached, and never exceeded."""
        prior, sign = self.prior(), 1.0 if k > 0 else -1.0
        base = sign * (prior.log_p - prior.log_q)
        return sign * max(sign * known[0], reached - base), sign * min(sign * known[1], most - base)

    def refined(self, k: float, effort: Effort) -> Pair:
        """The cheap bracket, narrowed until it is good enough or the time is up."""
        from guessproof.risk.several.refining import refined  # only who asks needs it

        began, known = effort.clock(), self._begun(k)
        if k == 0 or self.whole is not None:
            return known
        prior = self.prior()
        return refined(self.joint_attack, self.goal, k, known, prior.log_p - prior.log_q, effort, began)

    def _begun(self, k: float) -> Pair:
        """What narrowing begins with: the cheap bracket, without closer looks that its own stages take anyway."""
        if k == 0 or self.whole is not None or not isinstance(self.tree, GoalBlock) or self.tree.is_single:
            return self.cheap(k)
        part, sign = self.part(self.tree.goal), 1.0 if k > 0 else -1.0
        if not part.is_open or part.bound is None:
            return self.cheap(k)
        goal, base = self.tree.goal if k > 0 else ~self.tree.goal, sign * (part.log_p - part.log_q)
        attack, bound = _largest(self.joint_attack, goal, abs(k), base, True, closer=False)
        return widened(sign * attack, sign * bound, k)


def _lines(joint_attack: JointAttack, goal: Goal) -> int:
    """How many attributes have a density."""
    return sum(not isinstance(a.prior, Finite) for a in joint_attack.members(goal))


def several_belief(engine: JointEngine, effort: Effort | None, attack: bool = True, *, closer: bool = False) -> Belief:
    """The goal's prior and gains in the form that limits are computed from; `closer`: after one closer look."""
    prior = engine.prior()

    def one(k: float) -> Pair:
        if effort is not None:
            return engine.refined(k, effort)
        return engine.closer(k) if closer else engine.cheap(k, attack)

    def gain(k: Array) -> tuple[Array, Array]:
        pairs = [one(v) for v in k.ravel().tolist()]
        found = np.array(pairs).reshape((*k.shape, 2))
        return found[..., 0], found[..., 1]

    precise = engine.whole is not None or (isinstance(engine.tree, Gate) and not closer)
    worth = {} if precise else {"relative": _WORTH_CURVED if engine.is_bent else _WORTH}
    return Belief(np.asarray(prior.log_p), np.asarray(prior.log_q), gain, _how(engine, effort), **worth)


def _how(engine: JointEngine, effort: Effort | None) -> str:
    if engine.whole is not None:
        return "linear program over all combinations of values, bound re-checked from its dual"
    if effort is not None and can_cut(engine.joint_attack, engine.goal):
        return "certified cells, bound re-checked from the dual, with product rule, leaves and signed distance"
    if isinstance(engine.tree, Gate):
        return (
            "product rule" if engine.joint_attack.norm == "l1" else "product rule and leaves; attack by signed distance"
        )
    if _is_formula(engine.goal):
        return "the formula's value as one number where it is a sum, else anchors on its edge, and certified cells"
    if isinstance(engine.goal, Conditional):
        return "anchors on the goal's edge and coarse certified cells, bound re-checked from the dual"
    if is_round(engine.goal):
        return "rays and anchors on the goal's edge, bound re-checked from the dual"
    return "rays and coarse certified cells, bound re-checked from the dual"


def block_part(joint_attack: JointAttack, goal: Goal) -> Part:
    """A block of several attributes: its prior, and the best of what is cheap."""
    if is_finite(joint_attack, goal):
        return finite_part(joint_attack, goal)
    log_p, log_q = _block_prior(joint_attack, goal)
    base = log_p - log_q
    if _is_measured(joint_attack, goal):
        joint_attack.shares[goal, "prior"] = float(np.exp(log_p)), float(np.exp(log_q))
        joint_attack.shares[~goal, "prior"] = float(np.exp(log_q)), float(np.exp(log_p))

    def signed(k: float, attack: bool) -> Pair:
        if k < 0:
            reached, bound = _largest(joint_attack, ~goal, -k, -base, attack)
            return -reached, -bound
        return _largest(joint_attack, goal, k, base, attack)

    @cache  # attack and bound are asked apart, and advantage and belief at the same ε
    def gain(k: float) -> Pair:
        return signed(k, True)

    return Part(log_p, log_q, gain, lambda k: signed(k, False)[1])


def _largest(
    joint_attack: JointAttack, goal: Goal, epsilon: float, base: float, look: bool, *, closer: bool = True
) -> Pair:
    attack, bound = 0.0, epsilon * joint_attack.diameter(goal)
    bound = min(bound, _frechet(joint_attack, goal, epsilon, base))
    if isinstance(goal, Near):
        bound = min(bound, ray_bound(joint_attack, goal, epsilon) - base)
        attack = max(attack, cone_attack(joint_attack, goal, epsilon) - base)  # quick; where it meets, cells are spared
    curved = False
    if _is_formula(goal):
        alone = _as_one_number(joint_attack, goal, epsilon, attack, bound)
        attack, bound = alone or (attack, bound)
        curved = alone is None and _lines(joint_attack, goal) == 2
    dependent = any(joint_of(a) is not None for a in joint_attack.members(goal))
    known = isinstance(goal, Conditional) and _lines(joint_attack, goal) == 2
    if bound - attack > _EXACT and (dependent or curved or known or is_round(goal)):
        reached, most = _by_edge(joint_attack, goal, epsilon, look)
        attack, bound = max(attack, reached - base), min(bound, most - base)
        if most < np.inf and is_round(goal):
            if look and closer and dependent and width_in_odds(attack, bound) > _WIDE:
                from guessproof.risk.several.refining import looked_at_twice  # only such goals need it

                again = looked_at_twice(joint_attack, goal, epsilon, _WIDE)
                attack, bound = max(attack, again[0] - base), min(bound, again[1] - base)
            return agreed(attack, bound)
    if can_cut(joint_attack, goal) and bound - attack > _EXACT:
        finer = look and closer and curved and joint_attack.norm in ("l1", "linf")  # elsewhere many cells take long
        for size in (_COARSE, _CURVED) if finer else (_COARSE,):  # a search knows the coarse ones only
            cells = certified_cells(joint_attack, goal, epsilon, size, attack=look)
            attack, bound = max(attack, cells.attack - base), min(bound, cells.bound - base)
    return agreed(attack, bound)


def _is_measured(joint_attack: JointAttack, goal: Goal) -> bool:
    """Whether slices know the probability of a goal about two numbers well enough for a proof to build on it."""
    inner = goal.part if isinstance(goal, Not) else goal
    return _lines(joint_attack, goal) == len(goal.attributes) == 2 and not isinstance(inner, (Near, Conditional))


def _is_formula(goal: Goal) -> bool:
    inner = goal.part if isinstance(goal, Not) else goal
    return isinstance(inner, Together) and not isinstance(inner, Near)


def _as_one_number(joint_attack: JointAttack, goal: Goal, epsilon: float, attack: float, bound: float) -> Pair | None:
    """What is known of a sum; None of other formulas."""
    from guessproof.risk.several.linear import one_number  # only formulas need it

    alone = one_number(joint_attack.attributes, goal, joint_attack.norm)
    if alone is None:
        return None
    reached, most = alone.gain(epsilon, alone.truth(joint_attack.truth))
    return agreed(max(attack, reached), min(bound, most + 1e-12))


def _by_edge(joint_attack: JointAttack, goal: Goal, epsilon: float, look: bool) -> Pair:
    """Log-odds that are reached (if they are looked for) and never exceeded, by anchors."""
    from guessproof.risk.several.tiles import edge_attack, edge_bound  # only such goals need it

    found = edge_bound(joint_attack, goal, epsilon)
    if found is None:
        return -np.inf, np.inf
    return edge_attack(found, joint_attack.norm, epsilon) if look else -np.inf, found.bound + 1e-12


def _frechet(joint_attack: JointAttack, goal: Goal, epsilon: float, base: float) -> float:
    """P(all) ≤ each P and P(any) ≤ the sum, for beliefs as for any probabilities; independent attributes only."""
    if any(joint_of(a) is not None for a in goal.attributes):
        return np.inf
    most = _most(joint_attack, goal, epsilon)
    return np.inf if most >= 1 else float(np.log(most) - np.log1p(-most)) - base + 1e-12


def _most(joint_attack: JointAttack, goal: Goal, epsilon: float) -> float:
    """A bound on the belief in a goal whose parts may share attributes."""
    tree = normal(goal)
    if all(b.is_single for b in blocks(tree)):
        shift = product_shift(tree, epsilon, lambda b, k: joint_attack.single(b.goal).shift(k, 1))
        return float(np.exp(min(shift.log_p + shift.ratio, 0.0))) if np.isfinite(shift.gain) else 1.0
    if isinstance(goal, Near):  # inside its box
        return _most(joint_attack, And(tuple(within(a, goal.radius) for a in goal.members)), epsilon)
    if isinstance(goal, And):
        return min(_most(joint_attack, part, epsilon) for part in goal.parts)
    if isinstance(goal, Or):
        return min(sum(_most(joint_attack, part, epsilon) for part in goal.parts), 1.0)
    if isinstance(goal, Not) and isinstance(goal.part, (And, Or)):
        parts = tuple(~part for part in goal.part.parts)
        return _most(joint_attack, Or(parts) if isinstance(goal.part, And) else And(parts), epsilon)
    return 1.0


def _block_prior(joint_attack: JointAttack, goal: Goal) -> Pair:
    if isinstance(goal, Near) or (isinstance(goal, Not) and isinstance(goal.part, Near)):
        disc = goal if isinstance(goal, Near) else goal.part
        assert isinstance(disc, Near)
        found = disc_prior(joint_attack, disc) if not any(joint_of(a) is not None for a in goal.attributes) else None
        if found is not None:
            return found if isinstance(goal, Near) else (found[1], found[0])
    if any(isinstance(joint_of(a), JointNormal) for a in joint_attack.members(goal)):
        return _tilted_prior(joint_attack, goal)
    cells, _ = cut(joint_attack, goal, 1.0, 400 if not _is_curved(goal) else 40_000)
    right, wrong = ([cells.mass @ end for end in ends] for ends in split_shares(cells, goal, joint_attack))
    p, q = 0.5 * (right[0] + right[1]), 0.5 * (wrong[0] + wrong[1])
    sliced = _sliced(joint_attack, goal) if _is_curved(goal) else None
    if sliced is not None:  # much finer, and held inside what the cells prove
        p, q = np.clip(sliced[0], *right), np.clip(sliced[1], *wrong)
    if not p + q > 0:
        raise KnowledgeError("knows", goal, "the prior gives this no probability", "widen it")
    with np.errstate(divide="ignore"):
        return float(np.log(p / (p + q))), float(np.log(q / (p + q)))


def _tilted_prior(joint_attack: JointAttack, goal: Goal) -> Pair:
    """The prior under a joint normal one: slices, along which it is normal."""
    found = _sliced(joint_attack, goal)
    if found is None or not sum(found) > 0:
        raise GoalError("goal", goal, "jointly normal numbers are judged two at a time", "ask for both, and no others")
    with np.errstate(divide="ignore"):
        return float(np.log(found[0] / sum(found))), float(np.log(found[1] / sum(found)))


def _sliced(joint_attack: JointAttack, goal: Goal) -> list[float] | None:
    from guessproof.risk.several.slices import region_probabilities  # only such goals need it

    if isinstance(goal, Conditional):
        return region_probabilities(joint_attack, (And((goal.goal, goal.region)), And((~goal.goal, goal.region))))
    return region_probabilities(joint_attack, (goal, ~goal))


def _is_curved(goal: Goal) -> bool:
    return any(isinstance(leaf, Together) for leaf in leaves(goal))
