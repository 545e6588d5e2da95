"""How often the best guesser is right, on average over outputs.

The guesser sees the output y and names a window of width 2r; he is right if the secret lies in it. His average
success is ∫ max_window P(window, y) dy. Secrets and outputs are cut into cells. From below: a guesser who sees
only the cell of y and names windows of whole cells. From above: windows one cell wider and, over each pair of
cells, the largest noise density. Both hold for symmetric noise whose density falls away from 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.mechanisms.base import checked_positive
from guessproof.mechanisms.geometric import Geometric
from guessproof.mechanisms.response import identity
from guessproof.risk.bracket import Bracket
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior

MOST_CELLS = 3000
MOST_PAIRS = 2_000_000
BEYOND = 1e-7  # probability of outputs and secrets left out at each end, counted as success from above


@dataclass(frozen=True)
class Secrets:
    """Cells of secret values: their answers' range, their mass, and windows [first, last) of cells to guess."""

    low: Any
    high: Any
    mass: Any
    windows: tuple[Any, Any]
    wider: tuple[Any, Any]


def average_success(mechanism: Any, prior: LinePrior | Finite, *, radius: float, response: Any = None) -> Bracket:
    """The best guesser's average success within ``radius`` (for categories: naming the value), as a bracket.

    >>> from guessproof.mechanisms.laplace import Laplace
    >>> from guessproof.world.priors import categorical
    >>> found = average_success(Laplace(1, 1), categorical({0: 0.5, 1: 0.5}), radius=0.25)
    >>> round(found.attack, 3), round(1 - 0.5 * math.exp(-0.5), 3)
    (0.697, 0.697)
    """
    question, reach = identity() if response is None else response, checked_positive("radius", radius)
    secrets = _atoms(prior, question, reach) if isinstance(prior, Finite) else _cells(prior, question, reach)
    count = int(np.clip(MOST_PAIRS / len(secrets.mass), 200, 6000))
    edges = _output_edges(mechanism, float(np.min(secrets.low)), float(np.max(secrets.high)), count)
    attack = _best(_least(mechanism, edges, secrets) * secrets.mass, secrets.windows)
    bound = _best(_most(mechanism, edges, secrets) * secrets.mass, secrets.wider)
    return Bracket.meet(attack, min(1.0, max(attack, bound) + 4 * BEYOND), "secrets and outputs in cells")


def _atoms(prior: Finite, response: Any, radius: float) -> Secrets:
    count = np.arange(len(prior.values))
    if prior.is_line:
        answers = np.asarray(response(prior.points), dtype=float)
        last = np.searchsorted(prior.points, prior.points + 2 * radius, side="right")
    else:
        answers = np.array([float(response(value)) for value in prior.values])
        last = count + 1
    return Secrets(answers, answers, prior.mass, (count, last), (count, last))


def _cells(prior: LinePrior, response: Any, radius: float) -> Secrets:
    """Equal cells, a whole number of them to a window, over all but a negligible part of the prior."""
    low, high = (float(prior.quantile(u)) for u in (BEYOND, 1 - BEYOND))
    per_window = max(2, min(64, int(MOST_CELLS * 2 * radius / (high - low))))
    step = 2 * radius / per_window
    count = math.ceil((high - low) / step)
    edges = low + step * np.arange(count + 1)
    ends = np.stack([_inside(response, edges[:-1], edges[1:], side) for side in (0, 1)])
    first = np.arange(count)
    windows, wider = (np.minimum(first + per_window + more, count) for more in (0, 1))
    mass = prior.mass(edges[:-1], edges[1:])
    return Secrets(np.min(ends, axis=0), np.max(ends, axis=0), mass, (first, windows), (first, wider))


def _inside(response: Any, left: Any, right: Any, side: int) -> Any:
    """The least (0) or largest (1) answer over each cell; a cell with a cut in it sees both pieces."""
    values = [response(left), response(np.nextafter(right, left))]
    for cut in getattr(response, "cuts", ()):
        holds = (left < cut) & (cut < right)
        for at in (cut, np.nextafter(cut, -np.inf)):
            values.append(np.where(holds, float(response(at)), values[0]))
    return np.max(values, axis=0) if side else np.min(values, axis=0)


def _output_edges(mechanism: Any, low: float, high: float, count: int) -> Any:
    reach = mechanism.error(confidence=1 - BEYOND)
    if isinstance(mechanism, Geometric):
        return np.arange(math.floor(low - reach), math.ceil(high + reach) + 2) - 0.5
    tails = np.array([mechanism.error(confidence=1 - p) for p in np.geomspace(BEYOND, 0.98, count // 4)])
    inside = np.linspace(low, high, count // 2) if high > low else np.array([low])
    return np.unique(np.concatenate([low - tails, inside, high + tails]))


def _least(mechanism: Any, edges: Any, secrets: Secrets) -> Any:
    """P(output cell | secret) for single values; else its width times the smallest density over both cells."""
    if secrets.low is secrets.high:
        return np.diff(mechanism.cdf(edges[:, None] - secrets.low), axis=0)
    gap = np.maximum(edges[1:, None] - secrets.low, secrets.high - edges[:-1, None])
    return np.diff(edges)[:, None] * mechanism.density(gap)


def _most(mechanism: Any, edges: Any, secrets: Secrets) -> Any:
    """Width of the output cell times the largest density over both cells."""
    if isinstance(mechanism, Geometric):
        return _least(mechanism, edges, secrets)
    gap = np.maximum(0.0, np.maximum(edges[:-1, None] - secrets.high, secrets.low - edges[1:, None]))
    return np.diff(edges)[:, None] * mechanism.density(gap)


def _best(joint: Any, windows: tuple[Any, Any]) -> float:
    """Σ over outputs of the best window's mass."""
    summed = np.concatenate([np.zeros((len(joint), 1)), np.cumsum(joint, axis=1)], axis=1)
    first, last = windows
    return float(np.sum(np.max(summed[:, last] - summed[:, first], axis=1)))
