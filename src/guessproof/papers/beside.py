"""Published bounds beside one attack: what each says of it, and whether that is so here.

The verdicts of `verdicts` speak of a result in general; here the same formulas are put to a given attribute, goal and
true value. Bounds that need more than one attribute offers (several attributes, a joint prior) are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from guessproof.papers import laud_pankova as lp
from guessproof.papers import slides
from guessproof.papers.verdict import Word, judge_bounds
from guessproof.risk import Attack
from guessproof.world import Absolute, Discrete, Finite, LinePrior, Within

Posterior = Callable[[float], float]
STEPS = 161  # values of a that are tried


@dataclass(frozen=True)
class PublishedBound:
    """A published bound on the belief after a release, for one attack; `id` is that of its verdict."""

    id: str
    posterior: Posterior


@dataclass(frozen=True)
class PublishedBeside:
    """What a published bound says at some ε, what is exact there, and the word for the two."""

    id: str
    bound: tuple[float, ...]
    exact: tuple[float, ...]
    word: Word


def published_bounds(attack: Attack, at: object) -> list[PublishedBound]:
    """The published bounds that speak of an attack with this true value; none where none of them does."""
    if attack.several is not None or attack.prior_factor != 1:
        return []
    prior, metric = attack.attribute.prior, attack.attribute.distance
    if isinstance(prior, LinePrior) and isinstance(metric, Absolute) and metric.scale == 1:
        return _on_line(attack, prior, float(np.asarray(at, dtype=float)))
    if isinstance(prior, Finite) and isinstance(metric, Discrete):
        return _of_labels(attack, prior, at)
    return []


def _on_line(attack: Attack, prior: LinePrior, at: float) -> list[PublishedBound]:
    goal = attack.goal
    if not isinstance(goal, Within):
        return []
    low, high = (float(edge) for edge in goal.edges(at)[0])
    r, ball = (high - low) / 2, lp.cdf_ball(lambda x: float(prior.cdf(x)), at)
    far = max(abs(float(prior.quantile(u)) - at) for u in (1e-6, 1 - 1e-6))
    found = [
        PublishedBound("lp-eq1", _over_a(ball, r, far + r, lp.others_near_all)),
        PublishedBound("lp-4.1-evaluated", _over_a(ball, r, far, lp.others_as_evaluated)),
        PublishedBound("slides-main", lambda e: slides.main_theorem_on_line(prior, low, high, e)),
        PublishedBound("slides-ring-integral", lambda e: slides.ring_integral(prior, low, high, e)),
    ]
    bounds = attack.attribute.bounds
    if bounds is not None and prior.mass(*bounds) > 1 - 1e-3:  # R is the range of values, where there is one
        simple = partial(lp.posterior_bound, float(prior.mass(low, high)), diameter=bounds[1] - bounds[0])
        found.insert(0, PublishedBound("lp-3.2", simple))
    return found


def _over_a(
    ball: lp.Ball, r: float, far: float, others: Callable[[lp.Ball, float, float], float]
) -> Callable[..., float]:
    """The best that equation (1) gives over the radius a, which may be chosen freely."""
    radii = np.linspace(r, max(far, 2 * r), STEPS)[1:]
    weights = np.array([others(ball, r, float(a)) for a in radii])
    goal = ball(r)

    def posterior(epsilon: float) -> float:
        return float(np.min(1 / (1 + np.exp(-radii * epsilon) * weights / goal)))

    return posterior


def _of_labels(attack: Attack, prior: Finite, at: object) -> list[PublishedBound]:
    chosen = np.asarray(attack.goal.chosen(prior, at), dtype=float) > 0  # pyright: ignore[reportAttributeAccessIssue]
    weights = np.asarray(prior.weights, dtype=float)
    apart = 1.0 - np.eye(weights.size)
    return [
        PublishedBound("lp-3.2", partial(lp.posterior_bound, float(weights[chosen].sum()))),
        PublishedBound("slides-main", lambda e: slides.main_theorem(weights, apart, chosen, e)),
    ]


def compare(attack: Attack, at: object, epsilons: Sequence[float]) -> list[PublishedBeside]:
    """Each published bound on a grid of ε, beside what is exact there."""
    found = published_bounds(attack, at)
    if not found:
        return []
    fixed = Attack(attack.goal, at={attack.attribute.name: at}, knows=attack.knows)
    exact = tuple(float(np.asarray(fixed.posterior(e).attack)) for e in epsilons)
    return [_compared(one, epsilons, exact) for one in found]


def _compared(one: PublishedBound, epsilons: Sequence[float], exact: tuple[float, ...]) -> PublishedBeside:
    bound = tuple(float(one.posterior(e)) for e in epsilons)
    return PublishedBeside(one.id, bound, exact, judge_bounds(bound, exact))
