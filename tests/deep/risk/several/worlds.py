"""Small products of finite attributes, and the truth about them from a linear program over all pairs."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from reference import linear_program

import guessproof as gp
from guessproof.world.goals import And, Goal, Near, Not, Or, combine


def finite_attribute(rng: np.random.Generator, name: str, size: int, kind: str) -> gp.Attribute:
    weights = rng.dirichlet(np.ones(size) * 2)
    weights = weights / weights.sum()
    if kind == "line":
        points = np.cumsum(rng.uniform(0.2, 1.5, size)).round(6)
        return gp.Attribute(name, gp.categorical(dict(zip(points.tolist(), weights.tolist(), strict=True))))
    values = [f"{name}{i}" for i in range(size)]
    prior = gp.categorical(dict(zip(values, weights.tolist(), strict=True)))
    if kind == "step":
        return gp.Attribute(name, prior)
    places = rng.uniform(0, 1.5, (size, 2))
    table = np.abs(places[:, None] - places[None, :]).max(axis=2)
    return gp.Attribute(name, prior, metric=gp.Matrix(values, table))


def random_set(rng: np.random.Generator, attribute: gp.Attribute) -> Goal:
    """A fixed set of values, neither empty nor everything."""
    values = list(attribute.prior.values)
    count = int(rng.integers(1, len(values)))
    return gp.among(attribute, [values[i] for i in rng.permutation(len(values))[:count]])


def holds(goal: Goal, point: dict[str, Any], truth: dict[str, Any]) -> bool:
    if isinstance(goal, And):
        return all(holds(p, point, truth) for p in goal.parts)
    if isinstance(goal, Or):
        return any(holds(p, point, truth) for p in goal.parts)
    if isinstance(goal, Not):
        return not holds(goal.part, point, truth)
    if isinstance(goal, Near):
        names = [a.name for a in goal.members]
        return bool(goal.holds([np.asarray(point[n]) for n in names], [truth[n] for n in names]))
    name = goal.attributes[0].name
    prior = goal.attributes[0].prior
    return bool(goal.chosen(prior, truth.get(name))[list(prior.values).index(point[name])])


def exact(
    goal: Goal,
    norm: str,
    epsilon: float,
    side: str,
    truth: dict[str, Any] | None = None,
    joint: Any = None,
) -> tuple[float, float]:
    """Prior and the optimal posterior over all combinations; `joint` replaces the product of priors."""
    attributes = goal.attributes
    if joint is None:
        rows = list(product(*(a.prior.values for a in attributes)))
        mass = np.array([np.prod(w) for w in product(*(a.prior.weights for a in attributes))])
    else:
        rows, mass = list(joint.rows), np.array(joint.weights)
        attributes = tuple(next(a for a in attributes if a.name == n) for n in joint.names)
    labels = [np.array([r[i] for r in rows], dtype=object) for i in range(len(attributes))]
    parts = []
    for attribute, column in zip(attributes, labels, strict=True):
        column = column.astype(float) if attribute.prior.is_line else column
        parts.append(attribute.distance.distance(column[:, None], column[None, :]))
    names = [a.name for a in attributes]
    marks = np.array([float(holds(goal, dict(zip(names, r, strict=True)), truth or {})) for r in rows])
    value = linear_program.posterior(mass, combine(norm, parts), marks, epsilon, side)
    return float(mass @ marks), value
