"""Noise that may break a limit with a stated probability: how often it does, given single true values.

For some true values the real sampler is drawn from; after each answer the belief in the goal is reckoned on fine
points. A share of answers that break the bound, significantly above the stated probability, fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.auditing.beliefs import goal_edges, goals_of, holds, points_of, truths_of, update_beliefs
from guessproof.auditing.counts import clopper_pearson
from guessproof.auditing.plan import AuditPlan, CaseAttack, complete_rows, cuts_of, store_row
from guessproof.auditing.result import Check
from guessproof.exposure import Attacker
from guessproof.world import Goal

TRUTHS, DRAWS, POINTS = 12, 4000, 2500
ALARM = 1e-6  # how probable a false alarm of this check is, in all


@dataclass(frozen=True)
class Broken:
    """One true value: how many answers of how many broke the bound, and the largest move."""

    truth: Mapping[str, Any]
    count: int
    draws: int


def failure_check(audit_plan: AuditPlan, attacker: Attacker, rng: Any) -> list[Check]:
    """The share of answers that tell more than was said, against the probability that was stated."""
    choice = audit_plan.choice
    bound, stated = choice.advantage, None if choice.plan.attacker is None else choice.plan.attacker.failure
    if bound is None or stated is None:
        return []
    seen = [
        broken
        for attack in audit_plan.attacks
        for goal in goals_of(attacker)
        for broken in _played(audit_plan, attack, attacker, goal, float(bound.bound), rng)
    ]
    if not seen:
        return []
    worst = max(seen, key=lambda s: s.count / s.draws)
    least = clopper_pearson(worst.count, worst.draws, 2 * ALARM / len(seen))[0]
    share = worst.count / worst.draws
    where = ", ".join(f"{k} = {v:.6g}" if isinstance(v, float) else f"{k} = {v}" for k, v in worst.truth.items())
    words = (
        f"of {worst.draws} answers {worst.count} told more than {float(bound.bound):.4f} where {where or 'it matters'} "
        f"is true, the worst of {len(seen)} true values; probability {stated:g} was stated"
    )
    return [Check("failure", share, None, stated, "pass" if least <= stated else "fail", words)]


def _played(
    audit_plan: AuditPlan, attack: CaseAttack, attacker: Attacker, goal: Goal, bound: float, rng: Any
) -> Iterator[Broken]:
    """Some true values, with answers that are really drawn."""
    choice, noises = audit_plan.choice, audit_plan.choice.noises
    for truth in _truths(audit_plan, attack, attacker, goal):
        edges = cuts_of(attack.case, attack.blocks)
        for name, ends in goal_edges(goal, truth).items():
            edges[name] = [*edges.get(name, []), *ends]
        points = points_of(attack.blocks, POINTS, rng, edges)
        rows = complete_rows(points, attack.base, audit_plan.fields)
        answers = [attack.case.answers(j, rows) for j in range(len(noises))]
        row = store_row({**attack.base, **truth}, audit_plan.fields)
        outputs = np.empty((DRAWS, len(noises)))
        for j, noise in enumerate(noises):
            plain = noise.grid.units(float(attack.case.answers(j, [row])[0]))
            outputs[:, j] = [noise.grid.value(unit) for unit in noise.draw([plain] * DRAWS)]
        fits = np.asarray(holds(goal, points.values, truth), dtype=float)[:, None]
        after, before = update_beliefs([n.mechanism for n in noises], outputs, answers, points.weights, fits)
        gain = after[:, 0] - float(before[0])
        gain = np.abs(gain) if choice.plan.limits.both else gain
        yield Broken(truth, int(np.sum(gain > bound + points.tolerance)), DRAWS)


def _truths(audit_plan: AuditPlan, attack: CaseAttack, attacker: Attacker, goal: Goal) -> list[dict[str, Any]]:
    """The stated truth; or the most exposed one, with others beside it."""
    if attacker.at is not None or not goal.depends_on_truth:
        return [dict(attacker.at or {})]
    found = truths_of(attacker, attack.blocks, TRUTHS)[:TRUTHS]
    worst = None if audit_plan.choice.advantage is None else audit_plan.choice.advantage.worst_at
    name = goal.attributes[0].name
    return [*([{name: float(worst)}] if isinstance(worst, (int, float)) else []), *({name: t[name]} for t in found)]
