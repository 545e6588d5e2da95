"""The attacker who reckons exactly: the plan's prior, the engine's own answers as centres, the best output there is.

Between two neighbouring centres e^(−|y − c|/b) is a multiple of e^(y/b) or of e^(−y/b) for every value, so a belief is
monotone in each output there, and constant beyond the last: over all outputs of Laplace or geometric noise it is
largest, and smallest, at a point of the grid of centres. With other noise the grid gives outputs that can occur.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from guessproof.auditing.beliefs import BeliefBlock, BeliefPoints, blocks_of, goals_of, holds, log_likelihood, points_of
from guessproof.auditing.columns import Row, Storage
from guessproof.auditing.movement import companies, linked_rows, record_of, units_of
from guessproof.auditing.result import Check
from guessproof.auditing.tables import TableFactory
from guessproof.auditing.wrong_priors import worst_beliefs
from guessproof.choosing import Choice
from guessproof.errors import SourceError
from guessproof.exposure import Attacker
from guessproof.noise import Noise

MOST_POINTS, MOST_OUTPUTS = 400, 4096
SURROUNDINGS = 3


@dataclass(frozen=True)
class Believed:
    """The belief in one goal after the best output, and before."""

    after: float
    before: float
    guess: Mapping[str, Any]
    storage: str


def certain_beliefs(
    choice: Choice, attacker: Attacker, factory: TableFactory, stored: Sequence[Storage], rng: Any
) -> list[Believed] | None:
    """The largest and smallest beliefs on every storage; None where the prior has a density or is not stated."""
    blocks = finite_blocks(choice, attacker)
    if blocks is None:
        return None
    points = points_of(blocks, MOST_POINTS, rng, {})
    found: list[Believed] = []
    for number, storage in enumerate(stored):
        try:
            found += _on(
                choice, attacker, replace(factory, form="duckdb", types=storage.types), storage, points, rng, number
            )
        except SourceError:  # a release would refuse this storage before any charge
            if storage.is_sources:
                raise
    return found


def finite_blocks(choice: Choice, attacker: Attacker) -> list[BeliefBlock] | None:
    """What is believed of the protected columns, if that is a list of values that is not too long."""
    declared = choice.question.declared
    read = frozenset(n for n in choice.question.columns if declared.column(n).protected and n in attacker.attributes)
    blocks = blocks_of(attacker, read)
    if not blocks or any(b.size is None for b in blocks):
        return None
    return blocks if math.prod(b.size or 1 for b in blocks) <= MOST_POINTS else None


def _on(
    choice: Choice,
    attacker: Attacker,
    factory: TableFactory,
    storage: Storage,
    points: BeliefPoints,
    rng: Any,
    number: int,
) -> Iterator[Believed]:
    """One storage: what the attacker knows of the victim and of the others is varied."""
    believed = [
        {n: factory.fields[n].to_stored(v) for n, v in row.items() if n in factory.fields} for row in points.rows()
    ]
    tables: list[list[Row]] = []
    copies = factory.question.declared.copies or 1
    for company in companies(factory.fields, storage, rng):
        for _ in range(SURROUNDINGS):
            base = record_of(factory.fields, storage, rng, own=True)
            mine = [{**base, **values} for values in believed]
            tables += [
                [*[row] * copies, *linked_rows(factory.question.declared, mine, place), *company]
                for place, row in enumerate(mine)
            ]
    asked = factory.ask_each(tables, f"bayes{number}")
    groups = sorted({group for answer in asked for group in answer})
    units = np.array([units_of(answer, groups, choice.noises) for answer in asked], dtype=object)
    for start in range(0, len(tables), len(believed)):
        yield from _largest(choice, attacker, points, units[start : start + len(believed)], storage)


def _largest(
    choice: Choice, attacker: Attacker, points: BeliefPoints, units: Any, storage: Storage
) -> Iterator[Believed]:
    after = _posteriors(choice.noises, units, points.weights)
    truths = [dict(attacker.at)] if attacker.at is not None else points.rows()
    for goal in goals_of(attacker):
        for truth in truths if goal.depends_on_truth else truths[:1]:
            fits = np.asarray(holds(goal, points.values, truth), dtype=float)
            before, seen = float(points.weights @ fits), after @ fits
            told = truth if goal.depends_on_truth else {}
            for place in {int(seen.argmax()), int(seen.argmin())}:
                yield Believed(float(seen[place]), before, told, storage.shown)
                if attacker.prior_factor > 1:
                    wrong = worst_beliefs(after[place], points.weights, fits, attacker.prior_factor)
                    yield from (Believed(*pair, told, storage.shown) for pair in wrong)


def _posteriors(noises: Sequence[Noise], units: Any, weights: Any) -> Any:
    """outputs × points: beliefs after each output of the grid of centres."""
    logs = np.zeros((1, len(weights)))
    axes = [(j, g) for j, g in itertools.product(*map(range, units.shape[1:])) if len(set(units[:, j, g])) > 1]
    outputs = [sorted(set(units[:, j, g])) for j, g in axes]
    whole = math.prod(map(len, outputs)) <= MOST_OUTPUTS
    chosen = list(itertools.product(*outputs)) if whole else [tuple(u[j, g] for j, g in axes) for u in units]
    for place, (j, g) in enumerate(axes):
        noise, first = noises[j], outputs[place][0]  # counted from the first centre, so that nothing is lost
        centres = np.array([float(u - first) for u in units[:, j, g]]) * noise.grid.step
        seen = np.array([float(y[place] - first) for y in chosen]) * noise.grid.step
        logs = logs + log_likelihood(noise.mechanism, seen, centres)
    joint = np.exp(logs - logs.max(axis=1, keepdims=True)) * weights
    return joint / joint.sum(axis=1, keepdims=True)


def belief_checks(choice: Choice, seen: Sequence[Believed]) -> Iterator[Check]:
    """The largest rise, and the largest belief, against the bounds that were printed."""
    if choice.exposure is not None and choice.exposure.may_fail:  # some answer may tell more, and how often is counted
        return
    if choice.advantage is not None:
        size = abs if choice.plan.limits.both else float
        best = max(seen, key=lambda s: size(s.after - s.before))
        yield _compare("exact advantage", size(best.after - best.before), best, float(choice.advantage.bound))
    if choice.posterior is not None:
        best = max(seen, key=lambda s: s.after)
        yield _compare("exact belief", best.after, best, float(choice.posterior.bound))


def _compare(name: str, measured: float, seen: Believed, bound: float) -> Check:
    where = f" in the goal around {', '.join(f'{k} = {v}' for k, v in seen.guess.items())}" if seen.guess else ""
    words = (
        f"stored as {seen.storage}, the belief{where} went from {seen.before:.6g} to {seen.after:.6g} after the output "
        f"that tells most; the bound is {bound:.6g}, {bound - measured:+.3g} away"
    )
    return Check(name, measured, None, bound, "pass" if measured <= bound + 1e-9 else "fail", words)
