"""What a given ε means, whatever the data: odds, beliefs and risks that hold for every release at that ε."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from guessproof.deployments import Deployment, nearest
from guessproof.errors import ParameterError
from guessproof.risk import relative_risk, worst_advantage, worst_prior
from guessproof.world import real

PRIORS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True)
class BeliefRange:
    """One prior belief and what ε lets it become."""

    prior: float
    highest: float
    lowest: float
    ratio: float
    ratio_add_remove: float


@dataclass(frozen=True)
class Explanation:
    """ε in words: the factor on odds, the worst advantage, a table over priors, known deployments."""

    epsilon: float
    odds_factor: float
    worst_advantage: float
    worst_prior: float
    rows: tuple[BeliefRange, ...]
    deployments: tuple[Deployment, ...]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def explain(epsilon: float) -> Explanation:
    """What ε means for a secret whose values are one unit of distance apart (change-one). Where ε counts adding or
    removing a record, two values of one record are two units apart, and a belief can grow by up to e^{2ε}.

    >>> e = explain(1.0)
    >>> round(e.odds_factor, 3), round(e.worst_advantage, 4), round(e.rows[4].highest, 3)
    (2.718, 0.2449, 0.475)
    """
    epsilon = real(ParameterError, "epsilon", epsilon)
    if epsilon <= 0:
        raise ParameterError("epsilon", epsilon, "must be positive", "give an ε above 0")
    return Explanation(
        epsilon,
        math.exp(epsilon) if epsilon < 700 else math.inf,
        float(worst_advantage(epsilon)),
        float(worst_prior(min(epsilon, 1400.0))),
        tuple(_row(p, epsilon) for p in PRIORS),
        nearest(epsilon),
    )


def _row(prior: float, epsilon: float) -> BeliefRange:
    shrink = math.exp(-epsilon)
    highest = prior / (prior + shrink * (1 - prior))
    lowest = prior * shrink / (prior * shrink + 1 - prior)
    return BeliefRange(prior, highest, lowest, highest / prior, float(relative_risk(p=1.0, q=prior, epsilon=epsilon)))
