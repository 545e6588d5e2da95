"""The largest belief that the trials gave the attacker, with everything he saw, against the bound that was promised.

Where the goal is about the group itself the victim may be in any of them, and the attacker looks at all. Other records
stay what they are, so group g answers like the others in it, and the victim's own group like the others and him. The
noise of every group is drawn by the real sampler; the answers below it are plain arithmetic, which the check of the
engine holds the engine to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from guessproof.auditing.beliefs import (
    BeliefPoints,
    blocks_of,
    draw_victims,
    goal_edges,
    goals_of,
    grid_guesses,
    holds,
    log_likelihood,
    point_beliefs,
    points_of,
    truths_of,
    update_beliefs,
)
from guessproof.auditing.cases import AuditCase
from guessproof.auditing.columns import Field, Row
from guessproof.auditing.failures import failure_check
from guessproof.auditing.plan import AuditPlan, CaseAttack, complete_rows, cuts_of, expected_of, store_row
from guessproof.auditing.result import Check
from guessproof.auditing.tables import Group, level_of
from guessproof.auditing.trials import TrialCounts
from guessproof.auditing.wrong_priors import worst_beliefs
from guessproof.choosing import Choice
from guessproof.exposure import Attacker
from guessproof.world import Goal

GROUP_TRIALS, GROUP_POINTS, GROUP_GUESSES = 300, 600, 60
GroupBelief = tuple[float, float, Mapping[str, Any]]  # belief after, before, and in which guess

FINE, PLANE, ASKED = 6000, 40_000, 1200
GUESSES, KEPT = 80, 6


@dataclass(frozen=True)
class LargestBelief:
    """Belief in one guess after one output, and before."""

    after: float
    before: float
    tolerance: float
    guess: Mapping[str, Any]
    output: tuple[float, ...]

    @property
    def gain(self) -> float:
        """How far the belief rose."""
        return self.after - self.before


def check_exposure(audit_plan: AuditPlan, counts: TrialCounts, rng: Any) -> list[Check]:
    """The checks of belief and of advantage."""
    choice, attacker = audit_plan.choice, audit_plan.attacker
    if attacker is not None and has_goal_about_groups(attacker, audit_plan.fields):
        over_groups = beliefs_over_groups(audit_plan, attacker, rng)
        return exposure_checks(
            choice, [LargestBelief(after, before, 0.0, told, ()) for after, before, told in over_groups]
        )
    if attacker is None or not audit_plan.has_belief:
        return [_even_odds(audit_plan, counts)]
    if choice.exposure is not None and choice.exposure.may_fail:
        return failure_check(audit_plan, attacker, rng)
    seen: list[LargestBelief] = []
    for number in range(len(audit_plan.attacks)):
        seen += _largest(audit_plan, attacker, number, counts.outputs[number], rng)
    return exposure_checks(choice, seen)


def exposure_checks(
    choice: Choice, seen: Sequence[LargestBelief], where: str = "over all trials", outputs: str = "all groups together"
) -> list[Check]:
    """The largest rise, and the largest belief, against the bounds that were printed; `outputs` where none is named."""
    found, words = list[Check](), (where, outputs)
    if not seen:
        return found
    wrong = 1.0 if choice.exposure is None else choice.exposure.attacker.prior_factor
    if choice.advantage is not None:
        size = abs if choice.plan.limits.both else float
        best = max(seen, key=lambda s: size(s.gain))
        found.append(
            _compare("advantage", size(best.gain), best, float(choice.advantage.bound), wrong, (where, outputs))
        )
    if choice.posterior is not None:
        best = max(seen, key=lambda s: s.after)
        found.append(_compare("belief", best.after, best, float(choice.posterior.bound), wrong, words))
    return found


def _compare(
    name: str, measured: float, seen: LargestBelief, bound: float, wrong: float, words_of: tuple[str, str]
) -> Check:
    holds_true = measured <= bound + seen.tolerance + 1e-9
    centre = ", ".join(f"{k} = {_short(v)}" for k, v in seen.guess.items())
    outputs = f"noisy sums {', '.join(f'{y:.6g}' for y in seen.output)}" if seen.output else words_of[1]
    what = "rose" if seen.gain >= 0 else "fell"
    where = f" in the goal around {centre}" if centre else ""
    words = (
        f"{words_of[0]} the belief{where} {what} from {seen.before:.4f} to {seen.after:.4f} at most "
        f"({outputs}); the bound is {bound:.4f}, {bound - measured:+.4f} away"
    )
    words += f"; the prior may be wrong by up to ×{wrong:g}" if wrong > 1 else ""
    if seen.tolerance > 1e-6:
        words += f"; reckoned to about {seen.tolerance:.0e}"
    return Check(name, measured, None, bound, "pass" if holds_true else "fail", words)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _largest(audit_plan: AuditPlan, attacker: Attacker, number: int, outputs: Any, rng: Any) -> Iterator[LargestBelief]:
    """The largest beliefs and gains: found with the engine's answers over all trials, reckoned again on fine points."""
    choice, attack = audit_plan.choice, audit_plan.attacks[number]
    assert attack.expected is not None
    points, answers = attack.expected.points, attack.expected.answers
    mechanisms = [n.mechanism for n in choice.noises]
    for turn, goal in enumerate(goals_of(attacker)):
        truths = (
            [dict(attacker.at or {})]
            if attacker.at is not None or not goal.depends_on_truth
            else _guesses(attacker, attack)
        )
        fits = np.stack([np.asarray(holds(goal, points.values, t), dtype=float) for t in truths], axis=1)
        best = _best(mechanisms, outputs, answers, points.weights, fits, choice.plan.limits.both)
        for output, place in dict.fromkeys(best):
            yield from _again(audit_plan, attack, goal, truths[place], output, rng)
        for output, place in {best[0], best[KEPT]}:  # the loudest two by the engine's answers, not by plain arithmetic
            name = f"again{number}-{turn}-{best.index((output, place))}"
            yield from _again(audit_plan, attack, goal, truths[place], output, rng, name)


def _guesses(attacker: Attacker, attack: CaseAttack) -> list[dict[str, Any]]:
    truths = truths_of(attacker, attack.blocks, 4 * GUESSES)
    return [truths[i] for i in grid_guesses(GUESSES, len(truths))]


def _best(
    mechanisms: Sequence[Any], outputs: Any, answers: Sequence[Any], weights: Any, fits: Any, both: bool
) -> list[tuple[tuple[float, ...], int]]:
    """Outputs and guesses: first those with the largest gain, then those with the largest belief, KEPT of each."""
    top: list[tuple[float, float, tuple[float, ...], int]] = []
    for start in range(0, len(outputs), 2000):
        chunk = outputs[start : start + 2000]
        after, before = update_beliefs(mechanisms, chunk, answers, weights, fits)
        gain = np.abs(after - before) if both else after - before
        for score in (gain, after):
            flat = np.argsort(score, axis=None)[-KEPT:]
            for trial, guess in zip(*np.unravel_index(flat, score.shape), strict=True):
                seen = tuple(chunk[trial].tolist())
                top.append((float(gain[trial, guess]), float(after[trial, guess]), seen, int(guess)))
    ranked = (sorted(top, key=lambda e: -e[0])[:KEPT], sorted(top, key=lambda e: -e[1])[:KEPT])
    return [(entry[2], entry[3]) for side in ranked for entry in side]


def _again(
    audit_plan: AuditPlan,
    attack: CaseAttack,
    goal: Goal,
    truth: Mapping[str, Any],
    output: tuple[float, ...],
    rng: Any,
    asked: str | None = None,
) -> Iterator[LargestBelief]:
    """One belief on points whose edges are those of the goal and of the query: fine ones, or the engine is asked.

    Then those under the worst of the priors that the plan allows for.
    """
    choice = audit_plan.choice
    edges = cuts_of(attack.case, attack.blocks)
    for name, ends in goal_edges(goal, truth).items():
        edges[name] = [*edges.get(name, []), *ends]
    lines = sum(b.lines for b in attack.blocks)
    points = points_of(attack.blocks, ASKED if asked else FINE if lines < 2 else PLANE, rng, edges)
    if asked:
        answers = expected_of(choice, attack.case, audit_plan.factory, points, attack.base, asked).answers
    else:
        rows = complete_rows(points, attack.base, audit_plan.fields)
        answers = [attack.case.answers(j, rows) for j in range(len(choice.noises))]
    fits = np.asarray(holds(goal, points.values, truth), dtype=float)
    told = point_beliefs([n.mechanism for n in choice.noises], np.array([output]), answers, points.weights)[0]
    tolerance = points.tolerance + unevenness(told, points.weights)
    yield LargestBelief(float(told @ fits), float(points.weights @ fits), tolerance, truth, output)
    factor = 1.0 if audit_plan.attacker is None else audit_plan.attacker.prior_factor
    if factor > 1:
        wrong = worst_beliefs(told, points.weights, fits, factor)
        yield from (LargestBelief(*pair, tolerance, truth, output) for pair in wrong)


def unevenness(told: Any, weights: Any) -> float:
    """How far a belief may be off because each point stands for a cell within which the likelihood is not even.

    The middle of a cell over which its logarithm rises by d misses the mean by a share of d²/24. Of the two
    neighbours of a point the nearer likelihood counts: to the other there may be a step, and cells end where it is.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.abs(np.diff(np.log(told / weights)))
    steps = np.where(np.isfinite(steps), steps, 0.0)
    around = np.minimum(np.append(steps, steps[-1:]), np.append(steps[:1], steps)) if len(steps) else np.zeros(1)
    return float(told @ np.minimum(around**2 / 24, 1.0))


# Without a prior: two tables at even odds.


def _even_odds(audit_plan: AuditPlan, counts: TrialCounts) -> Check:
    """The largest belief of one who thought two tables equally likely, against e^ε/(1+e^ε)."""
    choice = audit_plan.choice
    if any(n.mechanism.has_delta for n in choice.noises):
        words = "not computed: with noise that has a δ no bound on a belief holds for every output"
        return Check("belief", None, None, None, "not computed", words)
    largest = 0.0
    for number, attack in enumerate(audit_plan.attacks):
        for place in range(0, len(attack.victims), 2):
            logs = [
                log_likelihood(n.mechanism, counts.outputs[number][:, j], attack.plain[j][place : place + 2])
                for j, n in enumerate(choice.noises)
            ]
            total = np.sum(logs, axis=0)
            largest = max(largest, float(np.max(np.abs(total[:, 0] - total[:, 1]))))
    belief, bound = (1 / (1 + math.exp(-x)) for x in (largest, choice.cost))
    words = (
        f"who held the two most distant tables for equally likely came to believe in one of them up to {belief:.4f}; "
        f"the bound is {bound:.4f}, {bound - belief:+.4f} away"
    )
    return Check("belief", belief, None, bound, "pass" if belief <= bound + 1e-9 else "fail", words)


def beliefs_over_groups(audit_plan: AuditPlan, attacker: Attacker, rng: Any) -> list[GroupBelief]:
    """Beliefs in each guess after each trial, largest gains and largest beliefs first found."""
    choice, attack = audit_plan.choice, audit_plan.attacks[0]
    read = frozenset(n for n, f in audit_plan.fields.items() if f.secret or f.is_key)
    blocks = blocks_of(attacker, choice.question.columns & read)
    if blocks is None:
        return []
    points = points_of(blocks, GROUP_POINTS, rng, {})
    base = {**next(v for v in attack.case.pairs[min(attack.case.pairs)] if v is not None), **attack.case.frame}
    rows = complete_rows(points, base, audit_plan.fields)
    groups = sorted({g for row in rows if (g := _group(choice, row)) is not None})
    cases = {g: replace(attack.case, group=g) for g in groups}
    victims = [store_row({**base, **values}, audit_plan.fields) for values in draw_victims(blocks, GROUP_TRIALS, rng)]
    outputs = _outputs(choice, cases, victims)
    logs = _logs(choice, cases, rows, outputs)
    joint = np.exp(logs - logs.max(axis=1, keepdims=True)) * points.weights
    after = joint / joint.sum(axis=1, keepdims=True)
    return list(
        _largest_over_groups(
            attacker, points, after, truths_of(attacker, blocks, GROUP_GUESSES), choice.plan.limits.both
        )
    )


def _group(choice: Choice, row: Row) -> Group | None:
    found = [level_of(key, row.get(key.column)) for key in choice.question.keys]
    return None if None in found else tuple(x for x in found if x is not None)


def _outputs(
    choice: Choice, cases: Mapping[Group, AuditCase], victims: Sequence[Row]
) -> Mapping[tuple[Group, int], Any]:
    """Noisy sums by group and measurement, one a trial."""
    where = [_group(choice, victim) for victim in victims]
    found: dict[tuple[Group, int], Any] = {}
    for group, case in cases.items():
        for j, noise in enumerate(choice.noises):
            rest = case.plain(j, None).value
            own = case.answers(j, victims)
            plain = [float(own[i]) if where[i] == group else rest for i in range(len(victims))]
            units = noise.draw([noise.grid.units(value) for value in plain])
            found[(group, j)] = np.array([noise.grid.value(u) for u in units])
    return found


def _logs(choice: Choice, cases: Mapping[Group, AuditCase], rows: Sequence[Row], outputs: Mapping[Any, Any]) -> Any:
    """trials × points: how much likelier each point makes what was seen than a victim in no group."""
    where = [_group(choice, row) for row in rows]
    trials = len(next(iter(outputs.values())))
    total = np.zeros((trials, len(rows)))
    for group, case in cases.items():
        mine = np.array([w == group for w in where])
        for j, noise in enumerate(choice.noises):
            seen, mechanism = outputs[(group, j)], noise.mechanism
            own = case.answers(j, [row for row, yes in zip(rows, mine, strict=True) if yes])
            without = log_likelihood(mechanism, seen, np.array([case.plain(j, None).value]))
            total[:, mine] += log_likelihood(mechanism, seen, own) - without
    return total


def _largest_over_groups(
    attacker: Attacker, points: BeliefPoints, after: Any, truths: Sequence[Mapping[str, Any]], both: bool
) -> Any:
    for goal in goals_of(attacker):
        asked = [dict(attacker.at)] if attacker.at is not None else list(truths)
        for truth in asked:
            fits = np.asarray(holds(goal, points.values, truth), dtype=float)
            before = float(points.weights @ fits)
            seen = after @ fits
            yield float(seen.max()), before, truth
            if both:
                yield float(seen.min()), before, truth


def has_goal_about_groups(attacker: Attacker, fields: Mapping[str, Field]) -> bool:
    """Whether the attacker wants to know in which group the victim is."""
    return any(name in fields and fields[name].is_key for name in attacker.names)
