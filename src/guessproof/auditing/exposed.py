"""The largest belief that the trials gave the attacker, with everything he saw, against the bound that was promised."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.auditing.beliefs import goal_edges, goals_of, holds, points_of, truths_of
from guessproof.auditing.groups import beliefs_over_groups, has_goal_about_groups
from guessproof.auditing.guesser import beliefs, grid_guesses, log_likelihood
from guessproof.auditing.playing import Played
from guessproof.auditing.result import Check
from guessproof.auditing.stage import Act, Stage, completed, cuts_of, expected_of
from guessproof.choosing import Choice
from guessproof.exposure import Attacker
from guessproof.world.goals import Goal

FINE, PLANE, ASKED = 6000, 40_000, 1200
GUESSES, KEPT = 80, 6


@dataclass(frozen=True)
class Seen:
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


def exposed(stage: Stage, played: Played, rng: Any) -> list[Check]:
    """The checks of belief and of advantage."""
    choice, attacker = stage.choice, stage.attacker
    if attacker is not None and has_goal_about_groups(attacker, stage.fields):
        over_groups = beliefs_over_groups(stage, attacker, rng)
        return _checks(choice, [Seen(after, before, 0.0, guess, ()) for after, before, guess in over_groups])
    if attacker is None or not stage.has_belief:
        return [_even_odds(stage, played)]
    seen: list[Seen] = []
    for number in range(len(stage.acts)):
        seen += _largest(stage, attacker, number, played.outputs[number], rng)
    return _checks(choice, seen)


def _checks(choice: Choice, seen: Sequence[Seen]) -> list[Check]:
    found: list[Check] = []
    if not seen:
        return found
    if choice.advantage is not None:
        size = abs if choice.plan.limits.both else float
        best = max(seen, key=lambda s: size(s.gain))
        found.append(_compared("advantage", size(best.gain), best, float(choice.advantage.bound)))
    if choice.posterior is not None:
        best = max(seen, key=lambda s: s.after)
        found.append(_compared("belief", best.after, best, float(choice.posterior.bound)))
    return found


def _compared(name: str, measured: float, seen: Seen, bound: float) -> Check:
    holds_true = measured <= bound + seen.tolerance + 1e-9
    centre = ", ".join(f"{k} = {_short(v)}" for k, v in seen.guess.items())
    outputs = f"noisy sums {', '.join(f'{y:.6g}' for y in seen.output)}" if seen.output else "all groups together"
    what = "rose" if seen.gain >= 0 else "fell"
    where = f" in the goal around {centre}" if centre else ""
    words = (
        f"over all trials the belief{where} {what} from {seen.before:.4f} to {seen.after:.4f} at most "
        f"({outputs}); the bound is {bound:.4f}, {bound - measured:+.4f} away"
    )
    if seen.tolerance > 1e-6:
        words += f"; reckoned to about {seen.tolerance:.0e}"
    return Check(name, measured, None, bound, "pass" if holds_true else "fail", words)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _largest(stage: Stage, attacker: Attacker, number: int, outputs: Any, rng: Any) -> Iterator[Seen]:
    """The largest beliefs and gains: found with the engine's answers over all trials, reckoned again on fine points."""
    choice, act = stage.choice, stage.acts[number]
    assert act.expected is not None
    points, answers = act.expected.points, act.expected.answers
    mechanisms = [n.mechanism for n in choice.noises]
    for turn, goal in enumerate(goals_of(attacker)):
        truths = (
            [dict(attacker.at or {})]
            if attacker.at is not None or not goal.depends_on_truth
            else _guesses(attacker, act)
        )
        fits = np.stack([np.asarray(holds(goal, points.values, t), dtype=float) for t in truths], axis=1)
        best = _best(mechanisms, outputs, answers, points.weights, fits, choice.plan.limits.both)
        for output, place in dict.fromkeys(best):
            yield _again(stage, act, goal, truths[place], output, rng)
        for output, place in {best[0], best[KEPT]}:  # the loudest two by the engine's answers, not by plain arithmetic
            name = f"again{number}-{turn}-{best.index((output, place))}"
            yield _again(stage, act, goal, truths[place], output, rng, name)


def _guesses(attacker: Attacker, act: Act) -> list[dict[str, Any]]:
    truths = truths_of(attacker, act.blocks, 4 * GUESSES)
    return [truths[i] for i in grid_guesses(GUESSES, len(truths))]


def _best(
    mechanisms: Sequence[Any], outputs: Any, answers: Sequence[Any], weights: Any, fits: Any, both: bool
) -> list[tuple[tuple[float, ...], int]]:
    """Outputs and guesses: first those with the largest gain, then those with the largest belief, KEPT of each."""
    top: list[tuple[float, float, tuple[float, ...], int]] = []
    for start in range(0, len(outputs), 2000):
        chunk = outputs[start : start + 2000]
        after, before = beliefs(mechanisms, chunk, answers, weights, fits)
        gain = np.abs(after - before) if both else after - before
        for score in (gain, after):
            flat = np.argsort(score, axis=None)[-KEPT:]
            for trial, guess in zip(*np.unravel_index(flat, score.shape), strict=True):
                seen = tuple(chunk[trial].tolist())
                top.append((float(gain[trial, guess]), float(after[trial, guess]), seen, int(guess)))
    ranked = (sorted(top, key=lambda e: -e[0])[:KEPT], sorted(top, key=lambda e: -e[1])[:KEPT])
    return [(entry[2], entry[3]) for side in ranked for entry in side]


def _again(
    stage: Stage,
    act: Act,
    goal: Goal,
    truth: Mapping[str, Any],
    output: tuple[float, ...],
    rng: Any,
    asked: str | None = None,
) -> Seen:
    """One belief on points whose edges are those of the goal and of the query: fine ones, or the engine is asked."""
    choice = stage.choice
    edges = cuts_of(act.scene, act.blocks)
    for name, ends in goal_edges(goal, truth).items():
        edges[name] = [*edges.get(name, []), *ends]
    lines = sum(b.lines for b in act.blocks)
    points = points_of(act.blocks, ASKED if asked else FINE if lines < 2 else PLANE, rng, edges)
    if asked:
        answers = expected_of(choice, act.scene, stage.shop, points, act.base, asked).answers
    else:
        rows = completed(points, act.base, stage.fields)
        answers = [act.scene.answers(j, rows) for j in range(len(choice.noises))]
    fits = np.asarray(holds(goal, points.values, truth), dtype=float)[:, None]
    seen = np.array([output])
    after, before = beliefs([n.mechanism for n in choice.noises], seen, answers, points.weights, fits)
    return Seen(float(after[0, 0]), float(before[0]), points.tolerance, truth, output)


# Without a prior: two tables at even odds.


def _even_odds(stage: Stage, played: Played) -> Check:
    """The largest belief of one who thought two tables equally likely, against e^ε/(1+e^ε)."""
    choice = stage.choice
    if any(n.mechanism.has_delta for n in choice.noises):
        words = "not computed: with noise that has a δ no bound on a belief holds for every output"
        return Check("belief", None, None, None, "not computed", words)
    largest = 0.0
    for number, act in enumerate(stage.acts):
        for place in range(0, len(act.victims), 2):
            logs = [
                log_likelihood(n.mechanism, played.outputs[number][:, j], act.plain[j][place : place + 2])
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
