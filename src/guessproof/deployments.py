"""Published values of ε, for comparison. Units and trust models differ: read the last columns too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Deployment:
    """One documented use of differential privacy."""

    who: str
    what: str
    epsilon: float
    delta: float
    protects: str
    source: str


_APPLE = "Apple, Differential Privacy Overview; Desfontaines, A list of real-world uses of differential privacy"

DEPLOYMENTS = (
    Deployment("Google", "COVID-19 symptom search trends", 1.68, 0.0, "one user's day", "arXiv 2009.01265"),
    Deployment("Apple", "health types in use, local model", 2.0, 0.0, "one user's day", _APPLE),
    Deployment("Google", "COVID-19 vaccination searches", 2.19, 1e-5, "one user's day", "arXiv 2107.01179"),
    Deployment("Apple", "emoji suggestions, local model", 4.0, 0.0, "one user's day", _APPLE),
    Deployment("Apple", "QuickType suggestions, local model", 16.0, 0.0, "one user's day", _APPLE),
    Deployment(
        "US Census Bureau",
        "2020 redistricting data, persons",
        17.14,
        1e-10,
        "one person's record",
        "Census Bureau, Key Parameters to Protect Privacy in 2020 Census Results, 9 June 2021",
    ),
    Deployment("LinkedIn", "audience engagements, per month", 34.9, 7e-9, "one member's month", "arXiv 2002.05839"),
)


def nearest(epsilon: float, count: int = 3) -> tuple[Deployment, ...]:
    """The deployments whose ε is closest on a logarithmic scale, smallest first.

    >>> [d.epsilon for d in nearest(2.0)]
    [1.68, 2.0, 2.19]
    """
    ranked = sorted(DEPLOYMENTS, key=lambda d: max(d.epsilon / epsilon, epsilon / d.epsilon))
    return tuple(sorted(ranked[:count], key=lambda d: d.epsilon))
