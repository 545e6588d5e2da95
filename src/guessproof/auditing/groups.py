"""A goal about the group itself: the victim may be in any of them, and the attacker looks at all.

Other records stay what they are, so group g answers like the others in it, and the victim's own group like the others
and him. The noise of every group is drawn by the real sampler; the answers below it are plain arithmetic, which the
check of the engine holds the engine to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from guessproof.auditing.beliefs import Points, blocks_of, drawn, goals_of, holds, points_of, truths_of
from guessproof.auditing.columns import Field, Row
from guessproof.auditing.guesser import log_likelihood
from guessproof.auditing.scenes import Scene
from guessproof.auditing.stage import Stage, completed, stored
from guessproof.auditing.tables import Group, is_level
from guessproof.choosing import Choice
from guessproof.exposure import Attacker

TRIALS, POINTS, GUESSES = 300, 600, 60

Seen = tuple[float, float, Mapping[str, Any]]  # belief after, before, and in which guess


def beliefs_over_groups(stage: Stage, attacker: Attacker, rng: Any) -> list[Seen]:
    """Beliefs in each guess after each trial, largest gains and largest beliefs first found."""
    choice, act = stage.choice, stage.acts[0]
    read = frozenset(n for n, f in stage.fields.items() if f.secret or f.is_key)
    blocks = blocks_of(attacker, choice.question.columns & read)
    if blocks is None:
        return []
    points = points_of(blocks, POINTS, rng, {})
    base = {**next(v for v in act.scene.pairs[min(act.scene.pairs)] if v is not None), **act.scene.frame}
    rows = completed(points, base, stage.fields)
    groups = sorted({g for row in rows if (g := _group(choice, row)) is not None})
    scenes = {g: replace(act.scene, group=g) for g in groups}
    victims = [stored({**base, **values}, stage.fields) for values in drawn(blocks, TRIALS, rng)]
    outputs = _outputs(choice, scenes, victims)
    logs = _logs(choice, scenes, rows, outputs)
    joint = np.exp(logs - logs.max(axis=1, keepdims=True)) * points.weights
    after = joint / joint.sum(axis=1, keepdims=True)
    return list(_largest(attacker, points, after, truths_of(attacker, blocks, GUESSES), choice.plan.limits.both))


def _group(choice: Choice, row: Row) -> Group | None:
    found = [next((x for x in k.levels if is_level(row.get(k.column), x)), None) for k in choice.question.keys]
    return None if None in found else tuple(x for x in found if x is not None)


def _outputs(choice: Choice, scenes: Mapping[Group, Scene], victims: Sequence[Row]) -> Mapping[tuple[Group, int], Any]:
    """Noisy sums by group and measurement, one a trial."""
    where = [_group(choice, victim) for victim in victims]
    found: dict[tuple[Group, int], Any] = {}
    for group, scene in scenes.items():
        for j, noise in enumerate(choice.noises):
            rest = scene.plain(j, None).value
            own = scene.answers(j, victims)
            plain = [float(own[i]) if where[i] == group else rest for i in range(len(victims))]
            units = noise.draw([noise.grid.units(value) for value in plain])
            found[(group, j)] = np.array([noise.grid.value(u) for u in units])
    return found


def _logs(choice: Choice, scenes: Mapping[Group, Scene], rows: Sequence[Row], outputs: Mapping[Any, Any]) -> Any:
    """trials × points: how much likelier each point makes what was seen than a victim in no group."""
    where = [_group(choice, row) for row in rows]
    trials = len(next(iter(outputs.values())))
    total = np.zeros((trials, len(rows)))
    for group, scene in scenes.items():
        mine = np.array([w == group for w in where])
        for j, noise in enumerate(choice.noises):
            seen, mechanism = outputs[(group, j)], noise.mechanism
            own = scene.answers(j, [row for row, yes in zip(rows, mine, strict=True) if yes])
            without = log_likelihood(mechanism, seen, np.array([scene.plain(j, None).value]))
            total[:, mine] += log_likelihood(mechanism, seen, own) - without
    return total


def _largest(attacker: Attacker, points: Points, after: Any, truths: Sequence[Mapping[str, Any]], both: bool) -> Any:
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
