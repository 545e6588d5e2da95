"""Published bounds beside the state's own attack: their curves, the ε they would allow, and whether they hold here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from guessproof.choosing import Chooser, asked, choose
from guessproof.errors import GuessproofError
from guessproof.exposure.views import AttackView
from guessproof.papers.beside import PublishedBeside, compare, published_bounds
from guessproof.papers.judges.truth import solve_posterior
from guessproof.papers.verdict import WORKS
from guessproof.papers.verdicts import verdict
from guessproof.risk import Attack
from guessproof.rounded import down
from guessproof.web.folder import Folder
from guessproof.web.states import Tables, has_data, read_calculation, read_state
from guessproof.world import LineMetric, Within

POINTS = 40
HIGH = 0.9  # curves end where a belief is so high
Json = dict[str, Any]


def published_beside(folder: Folder, state: Tables, progress: Callable[[float, str], None]) -> Json:
    """Every published bound that speaks of this attack; none where it is of another kind."""
    attack, factor, epsilon, advantage = _attack(folder, state)
    if attack is None or attack.several is not None:
        return {"at": None, "methods": []}
    name = attack.attribute.name
    at = dict(attack.at or {}).get(name)
    if at is None and attack.goal.depends_on_truth:
        at = attack.advantage(epsilon * factor).worst_at
    fixed = Attack(attack.goal, at=None if at is None else {name: at}, knows=attack.knows)
    grid = _grid(fixed, epsilon * factor)
    found = compare(attack, at, grid)
    limits = {} if advantage is None else _allowed(attack, at, float(fixed.prior), advantage)
    methods: list[Json] = []
    for count, one in enumerate(found):
        progress(count / len(found), "judging published bounds")
        methods.append(_method(one, grid, factor, limits.get(one.id)))
    return {"at": at if isinstance(at, (str, type(None))) else float(at), "name": name, "methods": methods}


def _attack(folder: Folder, state: Tables) -> tuple[Attack | None, float, float, float | None]:
    """The attack, how much distance one unit of ε is, the ε that was chosen, and the advantage allowed."""
    if not has_data(state):
        from guessproof.calculate import calculate

        calculation = read_calculation(state, folder)
        answer = calculate(calculation.attack, calculation.limits)
        return calculation.attack, 1.0, answer.epsilon if answer.feasible else 1.0, calculation.limits.advantage
    plan = read_state(state, folder)
    exposure = Chooser(plan, asked(plan), None, False).exposure()
    first = None if exposure is None else exposure.views[0]
    if exposure is None or exposure.attacker.alternatives or not isinstance(first, AttackView) or first.rounding:
        return None, 1.0, 1.0, None
    choice = choose(plan)
    attack, slope = _straight(first.attack)
    return attack, first.factor * slope, choice.epsilon if choice.feasible else 1.0, plan.limits.advantage


def _straight(attack: Attack) -> tuple[Attack, float]:
    """The works speak of |x − x'|: a distance that grows no faster than its slope is read so, which is no smaller."""
    goal, metric = attack.goal, attack.attribute.distance
    if not isinstance(goal, Within) or not isinstance(metric, LineMetric):
        return attack, 1.0
    form = metric.form
    slope = max(form.slopes)
    if slope <= 0 or any(form.jumps) or form.step:
        return attack, 1.0
    plain = replace(goal, attribute=replace(goal.attribute, metric=None))
    return Attack(plain, at=attack.at, knows=attack.knows), slope


def _grid(fixed: Attack, start: float) -> list[float]:
    end = start
    for _ in range(24):
        if float(np.asarray(fixed.posterior(end).bound)) >= HIGH:
            break
        end *= 1.5
    return np.linspace(0, end, POINTS + 1)[1:].tolist()


def _allowed(attack: Attack, at: object, prior: float, advantage: float) -> dict[str, float]:
    """The ε that each published bound would allow for the limit; where it cannot be told, it is left out."""
    found: dict[str, float] = {}
    for one in published_bounds(attack, at):
        try:
            found[one.id] = solve_posterior(one.posterior, prior, advantage)
        except (GuessproofError, ArithmeticError):
            continue
    return found


def _method(one: PublishedBeside, grid: list[float], factor: float, allowed: float | None) -> Json:
    judged = verdict(one.id)
    title = next((work.title for work in WORKS if work.key == judged.work), judged.work)
    return {
        "id": one.id,
        "work": judged.work,
        "title": title,
        "result": judged.result,
        "says": judged.says,
        "truth": judged.truth,
        "here": one.word,
        "general": judged.verdict,
        "epsilon": None if allowed is None else down(allowed / factor),
        "rows": [{"epsilon": e / factor, "belief": b} for e, b in zip(grid, one.bound, strict=True)],
    }
