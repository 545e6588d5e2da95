"""The best guesser against one measurement: a rule that is fixed beforehand, and its exact success.

Outputs are cut into cells. For each cell the attacker names the guess whose correct values hold most of his belief,
reckoned with the exact probability of the cell for each possible victim. Whatever the victim is, the rule is right
with probability Σ P(cell | victim) over the cells whose guess fits him: a sum of differences of the noise's
distribution function, exact to the digits of a float. On average over the prior no rule does better on these cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.auditing.beliefs import Points, Values, holds
from guessproof.world.goals import Goal

MOST_CELLS = 600


@dataclass(frozen=True)
class Guesser:
    """For each cell of outputs the guess, as a place in `truths`; a goal that is fixed is bet on or against."""

    mechanism: Any
    goal: Goal | None  # None: naming one of two tables
    truths: Sequence[Mapping[str, Any]]
    edges: Any
    guess: Any
    bets: bool

    def right(self, values: Values) -> Any:
        """victims × cells: whether the cell's guess is right about the victim."""
        return correct(self.goal, values, self.truths, self.bets)[:, self.guess]

    def success(self, answers: Any, right: Any) -> Any:
        """The exact probability of being right, for each victim whose table answers this without noise."""
        return np.sum(cell_chances(self.mechanism, self.edges, answers) * right, axis=1)

    def cell(self, outputs: Any) -> Any:
        """The cell of each output; an edge belongs to the cell below it."""
        return np.searchsorted(self.edges, outputs, side="left")


def correct(goal: Goal | None, values: Values, truths: Sequence[Mapping[str, Any]], bets: bool) -> Any:
    """victims × guesses: whether the guess is right."""
    if goal is None:
        named = next(iter(values.values()))
        return np.stack([named == t["table"] for t in truths], axis=1)
    if bets:
        inside = np.asarray(holds(goal, values, truths[0]), dtype=bool)
        return np.stack([~inside, inside], axis=1)
    return np.stack([np.asarray(holds(goal, values, t), dtype=bool) for t in truths], axis=1)


def trained(
    mechanism: Any, goal: Goal | None, points: Points, answers: Any, truths: Sequence[Mapping[str, Any]]
) -> Guesser:
    """The rule that is right most often, for an attacker who believes in `points`."""
    bets = goal is not None and not goal.depends_on_truth
    edges = output_edges(mechanism, float(np.min(answers)), float(np.max(answers)))
    fits = correct(goal, points.values, truths, bets).astype(np.float32)
    chances = cell_chances(mechanism, edges, answers) * points.weights[:, None]  # points × cells
    scores = chances.T.astype(np.float32) @ fits
    if bets:  # for or against, whichever became more likely than it was: more telling than the likelier one
        scores = scores / np.maximum(points.weights @ fits, 1e-30)
    return Guesser(mechanism, goal, truths, edges, np.argmax(scores, axis=1), bets)


def output_edges(mechanism: Any, low: float, high: float) -> Any:
    """Inner edges of the cells: dense where answers lie, thinning out with the noise."""
    tails = np.array([mechanism.error(confidence=1 - p) for p in np.geomspace(1e-3, 0.9, 24)])
    count = int(np.clip(8 * (high - low) / mechanism.scale, 40, MOST_CELLS))
    edges = np.concatenate([low - tails, np.linspace(low, high, count), high + tails])
    if mechanism.is_whole:
        edges = np.floor(edges) + 0.5
    return np.unique(edges)


def cell_chances(mechanism: Any, edges: Any, answers: Any) -> Any:
    """answers × cells: the probability of each cell, the first and last without end."""
    inner = np.asarray(mechanism.cdf(edges[None, :] - np.asarray(answers, dtype=float)[:, None]), dtype=float)
    ends = np.ones((len(inner), 1))
    return np.diff(np.concatenate([0 * ends, inner, ends], axis=1), axis=1)


def log_likelihood(mechanism: Any, outputs: Any, answers: Any) -> Any:
    """outputs × answers: ln of the noise's density, but for a constant, safe far out."""
    return mechanism.log_density(np.abs(outputs[:, None] - answers[None, :]))


def beliefs(
    mechanisms: Sequence[Any], outputs: Any, answers: Sequence[Any], weights: Any, fits: Any
) -> tuple[Any, Any]:
    """Belief in each guess after each output of all measurements together, and before any."""
    logs = sum(log_likelihood(m, outputs[:, j], answers[j]) for j, m in enumerate(mechanisms))
    logs = logs - np.max(logs, axis=1, keepdims=True)
    joint = np.exp(logs) * weights
    total = joint.sum(axis=1, keepdims=True)
    return (joint @ fits) / total, weights @ fits


def grid_guesses(most: int, count: int) -> Any:
    """Places of at most `most` of `count` guesses, the first (a stated truth) among them."""
    return np.unique(np.concatenate([[0], np.linspace(0, count - 1, min(most, count)).round()]).astype(int))
