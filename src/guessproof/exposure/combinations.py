"""All combinations of finitely many values, exactly.

A query tells combinations apart only as far as it moves for them. Where it splits them into two classes (a count
with a filter), the answer is a formula; otherwise it is a linear program.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.errors import GoalError
from guessproof.exposure.attacker import Attacker
from guessproof.guarantee import Guarantee
from guessproof.risk.finite import signed_gain
from guessproof.risk.limits import Belief
from guessproof.risk.truths import true_combinations
from guessproof.world.attributes import conditioned, joint_of
from guessproof.world.checks import Array
from guessproof.world.finite import Finite
from guessproof.world.goals import And, Compound, Goal, Near, Not
from guessproof.world.joint import JointTable

FAR = 500.0  # beyond this a likelihood ratio leaves the range of a linear program
MOST_STATES = 250  # combinations of values for which the exact table is built


@dataclass(frozen=True)
class Combinations:
    """Combinations with their probabilities and distances, and the goal of every true combination that may be asked."""

    rows: list[dict[str, Any]]
    mass: Array
    distance: Array
    truths: list[dict[str, Any]]
    goals: Array  # one row per truth: which combinations are correct guesses
    certain: dict[str, Any] | None  # a truth at which every combination is a correct guess
    complete: bool  # nothing protected is read beside them, so that the distances are the query's own

    @cached_property
    def belief(self) -> Belief:
        """The prior and the gain of every truth's goal."""
        with np.errstate(divide="ignore"):
            log_p, log_q = np.log(self.goals @ self.mass), np.log((1 - self.goals) @ self.mass)
        split = self._two_classes()
        if split is not None:
            return Belief(log_p, log_q, self._split_gain(*split), "two classes of values: a formula")
        count = len(self.rows)
        how = f"linear program on {count} combinations, bound re-checked from its dual"
        return Belief(log_p, log_q, self._program_gain(), how)

    def _two_classes(self) -> tuple[Array, float] | None:
        """Which combinations the query tells apart from the first, and how far; None where there are more classes."""
        apart = self.distance[0] > 0
        gaps = self.distance[np.ix_(apart, ~apart)]
        same = not np.any(self.distance[np.ix_(apart, apart)]) and not np.any(self.distance[np.ix_(~apart, ~apart)])
        if not same or gaps.size == 0 or np.min(gaps) != np.max(gaps):
            return None
        return apart.astype(np.float64), float(gaps.flat[0])

    def _split_gain(self, second: Array, gap: float) -> Callable[[Array], tuple[Array, Array]]:
        """Posterior odds (a₁ + r·a₂)/(b₁ + r·b₂) are monotone in the ratio r of likelihoods, so an end of its range."""
        with np.errstate(divide="ignore"):
            good = [np.log(self.goals @ (self.mass * part)) for part in (1 - second, second)]
            bad = [np.log((1 - self.goals) @ (self.mass * part)) for part in (1 - second, second)]

        def odds(log_ratio: Array) -> Array:
            # Relative to the likelier class: a large ratio added to both sides would swallow what they differ by.
            first, second = np.minimum(-log_ratio, 0.0), np.minimum(log_ratio, 0.0)
            return np.logaddexp(good[0] + first, good[1] + second) - np.logaddexp(bad[0] + first, bad[1] + second)

        def gain(k: Array) -> tuple[Array, Array]:
            reach = np.abs(k) * gap
            ends = (odds(reach) - odds(np.zeros(())), odds(-reach) - odds(np.zeros(())))
            found = np.where(k >= 0, np.maximum(*ends), np.minimum(*ends))
            return found, found

        return gain

    def _program_gain(self) -> Callable[[Array], tuple[Array, Array]]:
        """One point per class that the query tells apart; a share of its mass counts as correct."""
        label = np.unique(self.distance == 0, axis=0, return_inverse=True)[1].ravel()
        first = np.unique(label, return_index=True)[1]
        mass = np.bincount(label, self.mass).astype(np.float64)
        distance = self.distance[np.ix_(first, first)]
        shares = [np.bincount(label, self.mass * goal) / mass for goal in self.goals]
        nearest = float(np.min(distance[distance > 0], initial=np.inf))
        ends = [_told_all(mass, share) for share in shares]

        def one(k: float, row: int) -> tuple[float, float]:
            lowest, highest = ends[row]
            if abs(k) * nearest > FAR:  # the class is as good as told
                return (highest, highest) if k > 0 else (lowest, lowest)
            attack, bound = signed_gain(mass, shares[row], distance, k)
            return (attack, min(bound, highest)) if k >= 0 else (attack, max(bound, lowest))

        each = np.vectorize(one, otypes=[np.float64, np.float64])

        def gain(k: Array) -> tuple[Array, Array]:
            attack, bound = each(k, np.arange(len(self.goals)))
            return np.asarray(attack), np.asarray(bound)

        return gain


def _told_all(mass: Array, share: Array) -> tuple[float, float]:
    """The smallest and the largest gain of one who is told the class itself: no release tells more."""
    with np.errstate(divide="ignore"):
        odds = np.log(share) - np.log1p(-share)
        before = np.log(mass @ share) - np.log(mass @ (1 - share))
    return float(np.min(odds) - before), float(np.max(odds) - before)


def combinations(attacker: Attacker, guarantee: Guarantee) -> Combinations | None:
    """The world of a goal about several finite columns; None where it is not one, or too large."""
    tied = attacker.tied
    names = [*attacker.names, *sorted(tied | _read(attacker, guarantee))]
    if guarantee.responses is None or isinstance(attacker.goal, Near):
        return None
    if not tied and not any(n in guarantee.columns for n in attacker.names):
        return None  # the query reads nothing that tells of the goal
    if len(names) == 1 and names[0] in guarantee.tight:
        return None  # the distance on the line says it all, and faster
    if not all(n in attacker.attributes and isinstance(attacker.attributes[n].prior, Finite) for n in names):
        return None
    states = _states(attacker, names)
    if states is None or len(states) > MOST_STATES:
        return None
    rows = [dict(zip(names, values, strict=True)) for values, _ in states]
    mass = np.asarray([weight for _, weight in states])
    mass = mass / mass.sum()
    complete = set(guarantee.columns) <= set(names)
    return Combinations(rows, mass, _table(rows, guarantee), *_goals(attacker, rows, mass), complete)


def _read(attacker: Attacker, guarantee: Guarantee) -> set[str]:
    """Columns that the query reads beside the goal's, of which the attacker has a belief as well."""
    known = [n for n in guarantee.columns if n not in attacker.names and n in attacker.attributes]
    return {n for n in known if isinstance(attacker.attributes[n].prior, Finite)}


def _states(attacker: Attacker, names: list[str]) -> list[tuple[tuple[Any, ...], float]] | None:
    """Combinations with their probabilities, dependent ones by their joint table; what is known conditions them."""
    blocks: list[list[tuple[dict[str, Any], float]]] = []
    seen: set[str] = set()
    for name in names:
        if name not in seen:
            block = _block(attacker, name, names)
            if block is None:
                return None
            blocks.append(block)
            seen.update(block[0][0])
    if math.prod(len(b) for b in blocks) > 4 * MOST_STATES:
        return None
    found: list[tuple[tuple[Any, ...], float]] = []
    for combination in itertools.product(*blocks):
        values = {k: v for part, _ in combination for k, v in part.items()}
        if all(_allowed(values[n], known) for n, known in (attacker.knows or {}).items() if n in values):
            found.append((tuple(values[n] for n in names), math.prod(w for _, w in combination)))
    return found or None


def _block(attacker: Attacker, name: str, names: list[str]) -> list[tuple[dict[str, Any], float]] | None:
    """The values of one column, or the rows of the joint table that it belongs to."""
    joint = joint_of(attacker.attributes[name])
    if joint is None:
        prior = attacker.attributes[name].prior
        assert isinstance(prior, Finite)
        return [({name: v}, float(w)) for v, w in zip(prior.values, prior.mass, strict=True) if w > 0]
    if not isinstance(joint, JointTable) or not set(joint.names) <= set(names):
        return None
    pairs = zip(joint.rows, joint.weights, strict=True)
    return [(dict(zip(joint.names, row, strict=True)), w / sum(joint.weights)) for row, w in pairs if w > 0]


def _allowed(value: Any, known: Any) -> bool:
    if isinstance(known, (list, tuple)) and len(known) == 2 and all(isinstance(k, (int, float)) for k in known):
        return float(known[0]) <= float(value) <= float(known[1])
    return value in known if isinstance(known, (set, frozenset, list, tuple)) else value == known


def _table(rows: list[dict[str, Any]], guarantee: Guarantee) -> Array:
    """Distances without what floating point adds to any change; up to twice `rounding` is to be charged apart."""
    table, between, rounding = np.zeros((len(rows), len(rows))), guarantee.between, guarantee.rounding
    for i, j in itertools.combinations(range(len(rows)), 2):
        table[i, j] = table[j, i] = max(between(rows[i], rows[j]), between(rows[j], rows[i])) - rounding
    return np.where(table <= rounding, 0.0, table)


def _goals(
    attacker: Attacker, rows: list[dict[str, Any]], mass: Array
) -> tuple[list[dict[str, Any]], Array, dict[str, Any] | None]:
    """The goal as sets of combinations, for the stated truth or every possible one; a truth at which it is certain."""
    known = {n: v for n, v in (attacker.knows or {}).items() if v is not None}
    possible = conditioned(attacker.goal.attributes, known)
    truths = [dict(attacker.at)] if attacker.at is not None else true_combinations(possible, attacker.goal)
    unique: dict[bytes, tuple[dict[str, Any], Array]] = {}
    certain: dict[str, Any] | None = None
    for truth in truths:
        mask = np.asarray([_met(attacker.goal, row, truth) for row in rows], dtype=np.float64)
        if (1 - mask) @ mass <= 0:
            certain = certain or truth
        elif mask @ mass > 0:
            unique.setdefault(mask.tobytes(), (truth, mask))
    if not unique:
        raise GoalError("goal", attacker.goal, "is empty or certain for every true value", "choose another goal")
    return [t for t, _ in unique.values()], np.asarray([m for _, m in unique.values()]), certain


def _met(goal: Goal, row: Mapping[str, Any], truth: Mapping[str, Any]) -> bool:
    if isinstance(goal, Not):
        return not _met(goal.part, row, truth)
    if isinstance(goal, Compound):
        met = [_met(part, row, truth) for part in goal.parts]
        return all(met) if isinstance(goal, And) else any(met)
    attribute = goal.attributes[0]
    prior = attribute.prior
    assert isinstance(prior, Finite)
    return bool(goal.chosen(prior, truth.get(attribute.name))[prior.index(row[attribute.name])])
