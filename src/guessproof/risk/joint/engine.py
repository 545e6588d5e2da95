"""The questions of an attack on several attributes, answered at stated true values; `worst` answers for all of them.

| goal                                       | bound                                    | attack                       |
|--------------------------------------------|------------------------------------------|------------------------------|
| finite attributes, joint tables            | linear program over all combinations     | the same: exact              |
| independent parts in l1                    | product rule                             | product of attacks: exact    |
| a sum of normal numbers                    | one number, or cells                     | one number, or cells'        |
| jointly normal attributes, formulas        | certified cells                          | cells'                       |
| anything else about up to three attributes | certified cells, product rule            | cells', shares of epsilon    |
| more attributes                            | product rule over pairs of parts         | shares of epsilon            |

All of them are taken where several answer, and the least bound and the best attack are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.errors import GoalError, KnowledgeError, ParameterError
from guessproof.risk.bracket import Bracket, Effort, Progress, agreed, width_in_odds
from guessproof.risk.joint.cells import CELLS, cell_attack, cell_bound
from guessproof.risk.joint.formula import (
    BeliefShift,
    Gate,
    Tree,
    blocks,
    joined,
    normal,
    product_shift,
)
from guessproof.risk.joint.joint_attack import JointAttack, Pair, Part, frame_of, shared_joints
from guessproof.risk.joint.one_number import OneNumber, one_number
from guessproof.risk.joint.regions import region_probability
from guessproof.risk.joint.tables import finite_part, is_finite
from guessproof.risk.limits import Belief
from guessproof.risk.worst_truth import WorstTruth
from guessproof.world.attributes import Attribute
from guessproof.world.checks import Array
from guessproof.world.goals import Goal, Norm, power_of
from guessproof.world.joint import JointHistogram, JointNormal
from guessproof.world.line import LinePrior

MOST_ATTRIBUTES = 3  # that cells are cut for: of more they would be too coarse to say anything
FINER = 4  # times as many cells at each stage of a refinement
MOST_CELLS = 2_000  # a program over 6,400 takes 20 s and narrows by less than a percent
SEARCHED = (
    5e-4  # relative error of a search for epsilon: a bound by cells takes a tenth of a second
)
ROUNDING = 1e-12
NOISE = 1e-13  # relative error of a gain composed of a few others


@dataclass(frozen=True, eq=False)
class JointBounds:
    """Bounds and attacks of one goal."""

    question: JointAttack
    goal: Goal
    finer: float = 1  # times as many cells

    def _once(self, key: Any, compute: Callable[[], Any]) -> Any:
        return self.question.once((self.goal, key), compute)

    @property
    def tree(self) -> Tree:
        """The goal over independent blocks."""
        return self._once("tree", lambda: normal(self.goal))

    @property
    def _is_single(self) -> bool:
        return all(block.is_single for block in blocks(self.tree))

    @property
    def is_product(self) -> bool:
        """Whether the product rule alone answers."""
        return self._is_single and self.question.norm == "l1"

    @property
    def whole(self) -> Part | None:
        """All combinations of values, where there are finitely many."""
        if self.is_product or not is_finite(self.question, self.goal):
            return None
        return self._once("whole", lambda: finite_part(self.question, self.goal))

    @property
    def _alone(self) -> OneNumber | None:
        return one_number(self.question.attributes, self.goal, self.question.norm)

    @property
    def _can_cut(self) -> bool:
        """Whether cells can answer: at most three attributes, tables of combinations excepted."""
        members = self.question.members(self.goal)
        return len(members) <= MOST_ATTRIBUTES and all(
            isinstance(joint, JointNormal)
            or (isinstance(joint, JointHistogram) and len(members) == 2)
            for joint in shared_joints(members)
        )

    def prior(self) -> BeliefShift:
        """The goal's probability before the release."""
        return self._once("prior", self._prior)

    def _prior(self) -> BeliefShift:
        if self.whole is not None:
            return self.whole.shift(0.0, 0)
        if isinstance(self.tree, Gate):
            return product_shift(self.tree, 0.0, lambda b, k: self.part(b.goal).shift(k, 0))
        frame = frame_of(self.question, self.goal)
        found = region_probability(frame, self.goal) if self._can_cut else None
        if found is None:
            problem = "combines too many values that depend on each other"
            raise GoalError("goal", self.goal, problem, "ask about fewer")
        if not np.sum(found) > 0:
            problem = "the prior gives this no probability"
            raise KnowledgeError("knows", self.goal, problem, "widen it")
        with np.errstate(divide="ignore"):
            log_p, log_q = np.log(found / np.sum(found)).tolist()
        return BeliefShift(log_p, log_q)

    def part(self, goal: Goal, attack: bool = True) -> Part:
        """One independent block of the goal on its own."""
        if len(goal.attributes) == 1:
            return self.question.single(goal)
        engine = self._once(
            ("part", goal), lambda: JointBounds(self.question, goal, self.finer)
        )
        prior = engine.prior()
        return Part(prior.log_p, prior.log_q, lambda k: engine.gain(k, attack))

    def gain(self, k: float, attack: bool = True) -> Pair:
        """(attack, bound) of the signed change of log-odds at k = +-epsilon; attacks only where asked for."""
        if k == 0:
            return 0.0, 0.0
        if self.whole is not None:
            return self.whole.gain(k)
        if k > 0:
            return self._once((self.finer, k, attack), lambda: self._rise(k, attack))
        other, prior = JointBounds(self.question, ~self.goal, self.finer), self.prior()
        other._once("prior", prior.flipped)
        reached, bound = other.gain(-k, attack)
        return -reached, -bound

    def _rise(self, epsilon: float, attack: bool) -> Pair:
        prior, goal, tree = self.prior(), self.goal, self.tree
        odds, is_open = prior.log_p - prior.log_q, min(prior.log_p, prior.log_q) > -np.inf
        reached, bound = [0.0], [epsilon * self.question.diameter(goal)]
        if isinstance(tree, Gate):
            whole = product_shift(
                tree, epsilon, lambda b, k: self.part(b.goal, attack).shift(k, 1)
            )
            bound.append(whole.gain)
            if attack:
                reached += self._divided(tree, epsilon)
        if is_open and self._alone is not None:
            low, high = self._alone.gain(epsilon, self._alone.truth(self.question.truth))
            reached, bound = [*reached, low], [*bound, high]
        if is_open and not self.is_product and min(bound) - max(reached) > ROUNDING:
            if self._can_cut:
                found = cell_bound(self.question, goal, epsilon, self.finer)
                bound.append(max(found.program.bound - odds + ROUNDING, 0.0))
                reached += [cell_attack(found, goal, epsilon) - odds] if attack else []
            elif isinstance(tree, Gate) and len(tree.parts) > 2:
                bound.append(self._of_groups(tree, epsilon))
        low, high = agreed(max(reached), min(bound))
        return low * (1 - NOISE), high * (1 + NOISE)

    def _of_groups(self, tree: Gate, epsilon: float) -> float:
        """The product rule over pairs of parts, each pair bounded as a whole."""
        pairs = [Gate(tree.kind, tree.parts[i : i + 2]) for i in range(0, len(tree.parts), 2)]
        parts = [self.part(pair.goal, False).shift(epsilon, 1) for pair in pairs]
        return joined(tree.kind, parts).gain

    def _divided(self, tree: Gate, epsilon: float) -> list[float]:
        """A few divisions of epsilon among the blocks: each block has a likelihood of its own."""
        own, power = blocks(tree), power_of(self.question.norm)
        rows = [np.full(len(own), len(own) ** (1 / power - 1)), *np.eye(len(own))]
        return [
            product_shift(
                tree,
                epsilon,
                lambda b, k, row=row: self.part(b.goal).shift(k * row[own.index(b)], 0),
            ).gain
            for row in rows
        ]

    def refined(self, k: float, effort: Effort) -> Pair:
        """The same with more and more cells, until attack and bound are close or cells are too many."""
        (reached, bound), finer, sign = self.gain(k), self.finer, np.sign(k)
        while k and self.whole is None and self._can_cut:
            if effort.progress is not None:
                effort.progress(Progress(int(CELLS * finer), width_in_odds(reached, bound)))
            finer *= FINER
            if width_in_odds(reached, bound) <= effort.tolerance or CELLS * finer > MOST_CELLS:
                break
            low, high = JointBounds(self.question, self.goal, finer).gain(k)
            reached = sign * max(sign * reached, sign * low)
            bound = sign * min(sign * bound, sign * high)
        return reached, bound

    def belief(self, effort: Effort | None = None, *, attack: bool = True) -> Belief:
        """The goal's prior and gains, in the form that limits are computed from."""
        prior = self.prior()

        def gain(k: Array) -> tuple[Array, Array]:
            one = np.vectorize(
                lambda v: self.refined(v, effort) if effort else self.gain(v, attack),
                otypes=[np.float64, np.float64],
            )
            return one(k)

        worth = {} if self.whole is not None or self.is_product else {"relative": SEARCHED}
        return Belief(np.asarray(prior.log_p), np.asarray(prior.log_q), gain, self.how, **worth)

    @property
    def how(self) -> str:
        """How the answer was found."""
        if self.whole is not None:
            return (
                "linear program over all combinations of values, bound re-checked from its dual"
            )
        if self.is_product:
            return "product rule"
        if self._alone is not None:
            return "the sum's value as one number, and certified cells"
        return "certified cells, bound re-checked from the dual"


def typical_epsilon(attributes: Mapping[str, Attribute]) -> float:
    """An ε at which the bulk of the widest prior is about one unit wide: where a search may start."""
    widths = [1e-290]
    for attribute in attributes.values():
        prior, form = attribute.prior, attribute.distance.line_form
        if isinstance(prior, LinePrior) and form is not None:
            low, high = form.psi(prior.quantile([0.1, 0.9]))
            widths.append(float(high - low))
    return 1 / max(widths) if max(widths) > 1e-290 else 1.0


@dataclass(frozen=True)
class JointAnswers:
    """A goal about several attributes; `truth` is None where the true values are left open."""

    goal: Goal
    attributes: Mapping[str, Attribute]
    truth: Mapping[str, Any] | None
    norm: Norm

    @cached_property
    def engine(self) -> JointBounds:
        """The engine at the stated true values."""
        if self.truth is None:
            raise ParameterError(
                "at", None, "the answer depends on the true values", "give at={…}"
            )
        return JointBounds(JointAttack(self.attributes, self.truth, self.norm), self.goal)

    @cached_property
    def _left_open(self) -> WorstTruth:
        from guessproof.risk.joint.worst import worst_truths  # which asks for this module

        return worst_truths(self.attributes, self.goal, self.norm)

    @property
    def prior(self) -> float:
        """P(goal) before the release."""
        return float(np.exp(self.engine.prior().log_p))

    def posterior(self, epsilon: Array, side: str, effort: Effort | None) -> Bracket:
        """The largest or smallest belief after the worst output."""
        if self.truth is None:
            return self._left_open.posterior(epsilon, side, effort)
        return self.engine.belief(effort).posterior(epsilon, side)

    def advantage(self, epsilon: Array, both: bool, effort: Effort | None) -> Bracket:
        """How far the belief can rise, or move."""
        if self.truth is None:
            return self._left_open.advantage(epsilon, both, effort)
        return self.engine.belief(effort).advantage(epsilon, both)

    def epsilon(self, advantage: Any, both: bool, posterior: Any, effort: Effort | None) -> Any:
        """The largest ε that is proven to keep the limits."""
        if self.truth is None:
            return self._left_open.epsilon(advantage, both, posterior, effort)
        belief = self.engine.belief(effort, attack=effort is not None)
        start = typical_epsilon(self.attributes)
        return belief.epsilon(advantage, both, posterior, start=start)
