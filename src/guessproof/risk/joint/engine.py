"""What bounds a goal about several attributes, and what reaches it, at stated true values.

| goal                                       | bound                                    | attack                       |
|--------------------------------------------|------------------------------------------|------------------------------|
| finite attributes, joint tables            | linear program over all combinations     | the same: exact              |
| independent parts in l1                    | product rule                             | product of attacks: exact    |
| a sum of normal numbers                    | one number, or cells                     | one number, or cells'        |
| jointly normal attributes, formulas        | certified cells                          | cells'                       |
| anything else about up to three attributes | certified cells, product rule            | cells', signed distance      |
| more attributes                            | product rule over independent parts      | shares of epsilon, signed d. |

All of them are taken where several answer, and the least bound and the best attack are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from guessproof.errors import GoalError, KnowledgeError
from guessproof.risk.bracket import Effort, Progress, agreed, width_in_odds
from guessproof.risk.joint.attack import cell_attack, signed_attack
from guessproof.risk.joint.cells import BOX, cell_bound
from guessproof.risk.joint.formula import Gate, GoalBlock, Tree, as_goal, blocks, normal
from guessproof.risk.joint.frame import frame_of, shared_joints
from guessproof.risk.joint.joint_attack import JointAttack, Pair, Part
from guessproof.risk.joint.one_number import one_number
from guessproof.risk.joint.product import BeliefShift, join, product_shift, widened
from guessproof.risk.joint.regions import region_probability
from guessproof.risk.joint.tables import finite_part, is_finite
from guessproof.risk.limits import Belief
from guessproof.world.checks import Array
from guessproof.world.goals import Goal, power_of
from guessproof.world.joint import JointHistogram, JointNormal

MOST_ATTRIBUTES = 3  # that cells are cut for: of more they would be too coarse to say anything
ROUGH = 0.1  # times as many cells where a search for epsilon starts
FINER = 4  # times as many cells at each stage of a refinement
MOST_CELLS = 2_000  # a program over 6,400 takes 20 s and narrows by less than a percent
SEARCHED = (
    5e-4  # relative error of a search for epsilon: a bound by cells takes a tenth of a second
)
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class JointBounds:
    """Bounds and attacks of one goal."""

    question: JointAttack
    goal: Goal
    finer: float = 1  # times as many cells
    _kept: dict[Any, Any] = field(default_factory=dict[Any, Any], repr=False)

    @property
    def tree(self) -> Tree:
        """The goal over independent blocks."""
        return self._once("tree", lambda: normal(self.goal))

    @property
    def whole(self) -> Part | None:
        """All combinations of values, where there are finitely many."""
        single = all(block.is_single for block in blocks(self.tree))
        if (single and self.question.norm == "l1") or not is_finite(self.question, self.goal):
            return None
        return self._once("whole", lambda: finite_part(self.question, self.goal))

    def _once(self, key: Any, compute: Any) -> Any:
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]

    def prior(self) -> BeliefShift:
        """The goal's probability before the release."""
        return self._once("prior", self._prior)

    def _prior(self) -> BeliefShift:
        if self.whole is not None:
            return self.whole.shift(0.0, 0)
        if isinstance(self.tree, Gate):
            return product_shift(
                self.tree, 0.0, lambda block, k: self.part(block.goal).shift(k, 0)
            )
        return BeliefShift(*_log_prior(self.question, self.goal))

    def part(self, goal: Goal) -> Part:
        """One independent block of the goal on its own."""
        if len(goal.attributes) == 1:
            return self.question.single(goal)
        engine: JointBounds = self._once(
            ("part", goal), lambda: JointBounds(self.question, goal, self.finer)
        )
        prior = engine.prior()
        return Part(prior.log_p, prior.log_q, engine.gain, lambda k: engine.gain(k, False)[1])

    def gain(self, k: float, attack: bool = True) -> Pair:
        """(attack, bound) of the signed change of log-odds at k = +-epsilon."""
        if k == 0:
            return 0.0, 0.0
        return self._once(
            (k, attack),
            lambda: self._gain(k, attack) if self.whole is None else self.whole.gain(k),
        )

    def _gain(self, k: float, attack: bool) -> Pair:
        sign, goal, prior = (
            (1.0, self.goal, self.prior())
            if k > 0
            else (-1.0, ~self.goal, self.prior().flipped())
        )
        reached, bound = 0.0, abs(k) * self.question.diameter(goal)
        if isinstance(self.tree, Gate):
            bound = min(
                bound,
                sign
                * product_shift(self.tree, k, lambda b, k: self._bounded(b, k, attack)).gain,
            )
            reached = max(0.0, sign * self._divided(k)) if attack else 0.0
        if prior.log_p > -np.inf and prior.log_q > -np.inf and not self.is_product:
            low, high = self._odds(goal, abs(k), float(np.exp(prior.log_p)), attack)
            odds = prior.log_p - prior.log_q
            reached, bound = (
                max(reached, low - odds),
                max(min(bound, high - odds + ROUNDING), 0.0),
            )
        elif attack and self.question.norm != "l1":
            reached = max(
                reached,
                signed_attack(self.question, normal(goal), abs(k)) - prior.log_p + prior.log_q,
            )
        reached, bound = agreed(reached, bound)
        return widened(sign * reached, sign * bound, k)

    def _bounded(self, block: GoalBlock, k: float, attack: bool) -> BeliefShift:
        part = self.part(block.goal)
        return part.shift(k, 1) if attack else part.bounded(k)

    def _odds(self, goal: Goal, epsilon: float, probability: float, attack: bool) -> Pair:
        """Log-odds of a goal about several attributes that are reached, and that nothing exceeds."""
        reached, bound, odds = (
            -np.inf,
            np.inf,
            float(np.log(probability) - np.log1p(-probability)),
        )
        alone = one_number(self.question.attributes, goal, self.question.norm)
        if alone is not None:
            low, high = alone.gain(epsilon, alone.truth(self.question.truth))
            reached, bound = odds + low, odds + high
        if isinstance(self.tree, Gate) and attack:
            reached = max(reached, signed_attack(self.question, normal(goal), epsilon))
        if not can_cut(self.question, goal):
            return reached, min(bound, self._of_groups(epsilon, normal(goal)))
        if bound - reached > ROUNDING:
            known = None if isinstance(self.tree, Gate) else probability
            found = cell_bound(self.question, goal, epsilon, self.finer, probability=known)
            bound = min(bound, found.program.bound)
            reached = (
                max(reached, cell_attack(found, self.question, goal, epsilon))
                if attack
                else reached
            )
        return reached, bound

    def _of_groups(self, epsilon: float, tree: Tree) -> float:
        """Log-odds by the product rule over pairs of parts, each pair bounded as a whole."""
        if not isinstance(tree, Gate) or len(tree.parts) < 3:
            return np.inf
        shifts: list[BeliefShift] = []
        for pair in (tree.parts[i : i + 2] for i in range(0, len(tree.parts), 2)):
            goal = as_goal(pair[0] if len(pair) == 1 else Gate(tree.kind, pair))
            shifts.append(self.part(goal).bounded(epsilon))
        whole = join(tree, shifts)
        return whole.log_p - whole.log_q + whole.gain

    def _divided(self, k: float) -> float:
        """The best of a few divisions of epsilon among the blocks: each block has a likelihood of its own."""
        own, power = blocks(self.tree), power_of(self.question.norm)
        shares = [np.full(len(own), len(own) ** (1 / power - 1))]
        shares += [] if power == 1 else list(np.eye(len(own)))
        gains: list[float] = []
        for row in shares:
            of = dict(zip(own, row.tolist(), strict=True))
            gains.append(
                product_shift(
                    self.tree, k, lambda b, k, of=of: self.part(b.goal).shift(k * of[b], 0)
                ).gain
            )
        return max(gains) if k > 0 else min(gains)

    def refined(self, k: float, effort: Effort) -> Pair:
        """The same with more and more cells, until attack and bound are close or cells are too many."""
        reached, bound = self.gain(k)
        finer, sign = self.finer, 1.0 if k > 0 else -1.0
        while k and self.whole is None and can_cut(self.question, self.goal):
            if effort.progress is not None:
                effort.progress(Progress(int(BOX.cells * finer), width_in_odds(reached, bound)))
            finer *= FINER
            if (
                width_in_odds(reached, bound) <= effort.tolerance
                or BOX.cells * finer > MOST_CELLS
            ):
                break
            low, high = JointBounds(self.question, self.goal, finer).gain(k)
            reached, bound = (
                sign * max(sign * reached, sign * low),
                sign * min(sign * bound, sign * high),
            )
        return reached, bound

    def rough(self) -> JointBounds:
        """The same by few cells: at once, and a start for a search."""
        return JointBounds(self.question, self.goal, self.finer * ROUGH)

    def belief(self, effort: Effort | None = None, *, attack: bool = True) -> Belief:
        """The goal's prior and gains, in the form that limits are computed from."""
        prior = self.prior()

        def gain(k: Array) -> tuple[Array, Array]:
            pairs = [
                self.gain(v, attack) if effort is None else self.refined(v, effort)
                for v in k.ravel().tolist()
            ]
            found = np.array(pairs).reshape((*k.shape, 2))
            return found[..., 0], found[..., 1]

        worth = {} if self.whole is not None or self.is_product else {"relative": SEARCHED}
        return Belief(np.asarray(prior.log_p), np.asarray(prior.log_q), gain, self.how, **worth)

    @property
    def is_product(self) -> bool:
        """Whether the product rule alone answers."""
        single = all(block.is_single for block in blocks(self.tree))
        few = (
            can_cut(self.question, self.goal)
            or len(self.tree.parts if isinstance(self.tree, Gate) else ()) > 2
        )
        return single and (self.question.norm == "l1" or not few)

    @property
    def how(self) -> str:
        """How the answer was found."""
        if self.whole is not None:
            return (
                "linear program over all combinations of values, bound re-checked from its dual"
            )
        if self.is_product:
            return (
                "product rule"
                if self.question.norm == "l1"
                else "product rule; attack by signed distance"
            )
        if one_number(self.question.attributes, self.goal, self.question.norm) is not None:
            return "the sum's value as one number, and certified cells"
        return "certified cells, bound re-checked from the dual"


def can_cut(question: JointAttack, goal: Goal) -> bool:
    """Whether cells can answer: at most three attributes, tables of combinations excepted."""
    members = question.members(goal)
    few = len(members) <= MOST_ATTRIBUTES
    return few and all(
        isinstance(joint, JointNormal)
        or (isinstance(joint, JointHistogram) and len(members) == 2)
        for joint in shared_joints(members)
    )


def _log_prior(question: JointAttack, goal: Goal) -> Pair:
    """ln P and ln(1 - P) of a goal about several attributes, given what is known."""
    key = (goal, "prior")
    if key not in question.shares:
        found = region_probability(
            question, goal, frame_of(question.members(goal), question.norm)
        )
        if found is None or not can_cut(question, goal):
            raise GoalError(
                "goal",
                goal,
                "combines too many values that depend on each other",
                "ask about fewer",
            )
        right, wrong = found
        if not right + wrong > 0:
            raise KnowledgeError(
                "knows", goal, "the prior gives this no probability", "widen it"
            )
        with np.errstate(divide="ignore"):
            question.shares[key] = (
                float(np.log(right / (right + wrong))),
                float(np.log(wrong / (right + wrong))),
            )
    return question.shares[key]
