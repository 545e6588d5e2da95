"""What a printed choice must keep, re-derived from the plan's own words by brute force.

The query is evaluated in Python on neighbouring tables, with the noise and the grid that were printed; the attacker is
a linear program over all combinations of values that his prior knows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from reference import linear_program
from scipy.integrate import quad
from scipy.stats import norm

from road.plans import Goal, Road
from road.query import Column, Item, Row

Floats = np.ndarray[Any, np.dtype[np.float64]]
ABSENT: Row = {}


@dataclass(frozen=True)
class Measured:
    """One printed noise and what it was added to."""

    item: Item
    noise: Mapping[str, Any]
    divisor: float

    @property
    def slope(self) -> float:
        """ε per unit of the answer: Laplace and geometric noise by their scale, others as they say."""
        if self.noise["mechanism"] in ("laplace", "geometric"):
            return 1 / self.noise["noise_scale"]
        return self.noise["epsilon"] / self.noise["sensitivity"]

    def before_rounding(self) -> Measured:
        """With the ε that the noise has before room is made for its grid."""
        room = 1 + 2 * 2.0 ** self.noise["grid"] / (self.noise["sensitivity"] * self.divisor)
        changed = {"noise_scale": self.noise["noise_scale"] / room, "epsilon": self.noise["epsilon"] * room}
        return Measured(self.item, {**self.noise, **changed}, self.divisor)


def measured(road: Road, noises: Sequence[Mapping[str, Any]]) -> list[Measured]:
    """Each printed noise with the aggregate that it belongs to, in the order of the query; each number once."""
    found: list[Measured] = []
    seen: set[tuple[str, str]] = set()
    left = list(noises)
    counted: dict[str, bool] = {}  # averages over a public count
    for item in road.items:
        whole = counted.setdefault(item.sql, bool(left) and left[0]["measurement"].startswith("AVG"))
        for part in item.parts(whole):
            if (part.sql, part.kind) not in seen:
                seen.add((part.sql, part.kind))
                divisor = float(road.rows or 1) if part.kind == "avg" else 1.0
                found.append(Measured(part, left.pop(0), divisor))
    assert not left, "more noise than there are aggregates"
    return found


def without_noise(road: Road) -> list[Measured]:
    """All that the query computes, told as it is."""
    noise = {"mechanism": "laplace", "noise_scale": 1e-12, "grid": -20}
    return [Measured(part, noise, 1.0) for item in road.items for part in item.parts(False)]


@dataclass(frozen=True)
class Movement:
    """What the answers do when one record changes, per unit of log-likelihood."""

    road: Road
    parts: tuple[Measured, ...]

    def groups(self) -> list[Any]:
        return list(self.road.key.values) if self.road.key is not None else [None]

    def numbers(self, rows: Sequence[Row]) -> list[int]:
        """Every answer in steps of its grid."""
        found: list[int] = []
        for part, group in itertools.product(self.parts, self.groups()):
            inside = [r for r in rows if self.road.key is None or r[self.road.key.name] == group]
            found.append(part.item.units(inside, self.road.where, part.noise["grid"]))
        return found

    @cached_property
    def weights(self) -> Floats:
        """Log-likelihood per grid step of each answer, at most."""
        each = [p.slope * 2.0 ** p.noise["grid"] / p.divisor for p in self.parts for _ in self.groups()]
        return np.asarray(each)

    def tables(self) -> list[tuple[Row, ...]]:
        """Tables of other people: the drawn one and, where nothing counts rows, none or any one person."""
        if self.road.rows is not None:
            return [self.road.others]
        return [self.road.others, (), *((o,) for o in self.road.others)]

    def gaps(self, rows: Sequence[Row]) -> Iterator[Floats]:
        """How far each answer lies from one row to another, in grid steps; for each table of other people."""
        for others in self.tables():
            numbers = [self.numbers([*others, *([row] if row else [])]) for row in rows]
            units = np.asarray([[n - first for n, first in zip(row, numbers[0], strict=True)] for row in numbers])
            yield np.abs(units[:, None, :] - units[None, :, :]).astype(np.float64)

    def apart(self, rows: Sequence[Row]) -> Floats:
        """The most that the answers together tell one row from another."""
        return np.max([gaps @ self.weights for gaps in self.gaps(rows)], axis=0)

    def each(self, rows: Sequence[Row]) -> Floats:
        """The most that each answer moves, in its own unit, all groups together."""
        scale = np.asarray([2.0 ** p.noise["grid"] / p.divisor for p in self.parts])
        shape = (len(rows), len(rows), len(self.parts), len(self.groups()))
        most = [gaps.reshape(shape).sum(axis=3).max(axis=(0, 1)) for gaps in self.gaps(rows)]
        return np.max(most, axis=0) * scale

    def victims(self) -> Iterator[list[Row]]:
        """All that one victim may be, whatever the attacker believes; the public part of him as it is."""
        public = self.road.key if self.road.key_is_public else None
        secret = [c for c in self.road.columns if c != public]
        counted = [c for c in secret if c.name in self.road.read] or secret[:1]
        rest = {c.name: c.values[0] for c in secret if c not in counted}
        for value in public.values if public is not None else (None,):
            known = {public.name: value} if public is not None else {}
            rows = itertools.product(*(c.possible for c in counted))
            yield [{**rest, **known, **dict(zip([c.name for c in counted], r, strict=True))} for r in rows]


@dataclass(frozen=True)
class Belief:
    """What the attacker can come to believe: the most and the least, over true values."""

    road: Road
    movement: Movement

    @cached_property
    def _states(self) -> tuple[list[dict[str, Any]], Floats]:
        found = self.road.states()
        return [row for row, _ in found], np.asarray([weight for _, weight in found])

    def _contexts(self) -> list[dict[str, Any]]:
        """Values of the columns of which he has no belief: he may know them, whatever they are."""
        rows, _ = self._states
        free = [c for c in self.road.columns if c.name not in rows[0]]
        read = [c for c in free if c.name in self.road.read]
        fixed = {c.name: c.values[0] for c in free if c not in read}
        choices = itertools.product(*(c.values if c == self.road.key else c.possible[:6] for c in read))
        return [{**fixed, **dict(zip([c.name for c in read], values, strict=True))} for values in choices]

    @cached_property
    def distances(self) -> list[Floats]:
        """One table of distances for each context."""
        rows, _ = self._states
        return [self.movement.apart([{**row, **context} for row in rows]) for context in self._contexts()]

    @cached_property
    def truths(self) -> list[dict[str, Any]]:
        assert self.road.attacker is not None
        if self.road.attacker.at is not None:
            return [dict(self.road.attacker.at)]
        names = self.road.attacker.goal.moving
        joint = {c.name for c in self.road.joint.columns} if self.road.joint is not None else set[str]()
        blocks = [[{c.name: v} for v in self._true_values(c)] for c in self.road.columns if c.name in {*names} - joint]
        listed = [{n: row[n] for n in names if n in joint} for row in self._states[0]]  # a table lists what occurs
        blocks.append([t for place, t in enumerate(listed) if t not in listed[:place]])
        return [{k: v for part in parts for k, v in part.items()} for parts in itertools.product(*blocks)]

    def _true_values(self, column: Column) -> list[Any]:
        """Everything that people can have, as far as the goal tells it apart: between the believed values as well."""
        assert self.road.attacker is not None
        attacker = self.road.attacker
        if column.bounds is None:
            return list(dict.fromkeys(row[column.name] for row in self._states[0]))
        low, high = column.bounds
        if column.name in (attacker.knows or {}):
            low, high = max(low, attacker.knows[column.name][0]), min(high, attacker.knows[column.name][1])
        ends = {v + shift for v in column.values for r in attacker.goal.radii for shift in (-r, 0.0, r)} | {low, high}
        cuts = sorted(e for e in ends if low <= e <= high)
        return [*cuts, *((a + b) / 2 for a, b in itertools.pairwise(cuts))]

    def prior(self, goal: Goal, truth: Row) -> float:
        rows, mass = self._states
        return float(sum(m for row, m in zip(rows, mass, strict=True) if goal.met(row, truth)))

    def most(self, distances: list[Floats], both: bool) -> tuple[float, float]:
        """The largest advantage and the largest belief, over contexts and true values."""
        assert self.road.attacker is not None
        rows, mass = self._states
        advantage = posterior = 0.0
        masks = {tuple(g.met(row, t) for row in rows) for g in self.road.attacker.goals for t in self.truths}
        for met in masks:
            mask = np.asarray(met, dtype=np.float64)
            before = float(mask @ mass)
            if not any(met) or all(met):  # impossible, or certain before anything is told
                posterior = max(posterior, before)
                continue
            for distance in distances:
                high = extreme(mass, distance, mask, "upper")
                posterior, advantage = max(posterior, high), max(advantage, high - before)
                if both:
                    advantage = max(advantage, before - extreme(mass, distance, mask, "lower"))
        return advantage, posterior


def extreme(mass: Floats, distance: Floats, mask: Floats, side: str) -> float:
    """The linear program, with combinations that nothing tells apart taken together."""
    label = np.unique(np.round(distance, 15), axis=0, return_inverse=True)[1].ravel()
    label = np.asarray(
        [next(j for j in range(len(label)) if label[j] == label[i] and distance[i, j] == 0) for i in range(len(label))]
    )
    kept, label = np.unique(label, return_inverse=True)
    merged = np.bincount(label, mass)
    share = np.bincount(label, mass * mask) / merged
    if len(merged) == 1:
        return float(share[0])
    inner = distance[np.ix_(kept, kept)]
    if np.min(inner[inner > 0]) > 30:  # as good as told
        return float(share.max() if side == "upper" else share.min())
    return linear_program.posterior(merged, np.minimum(inner, 30.0), share, 1.0, side)


# Noise.


def confidence(noise: Mapping[str, Any], within: float) -> float:
    """How surely the printed noise stays within a distance, in units of the answer."""
    scale = noise["noise_scale"]
    if noise["mechanism"] == "laplace":
        return -math.expm1(-within / scale)
    if noise["mechanism"] == "geometric":
        ratio, most = math.exp(-1 / scale), math.floor(within)
        return (1 - ratio) / (1 + ratio) * (1 + 2 * math.fsum(ratio**k for k in range(1, most + 1)))
    if noise["mechanism"] == "gaussian":
        return float(1 - 2 * norm.sf(within / scale))
    gamma = noise["gamma"]
    inside = quad(lambda z: 1 / (1 + z**gamma), 0, within / scale, limit=400)[0]
    return inside / (math.pi / (gamma * math.sin(math.pi / gamma)))


def loss(noise: Mapping[str, Any]) -> float:
    """The ε that the printed scale really costs for the printed sensitivity (δ apart)."""
    ratio = noise["sensitivity"] / noise["noise_scale"]
    if noise["mechanism"] in ("laplace", "geometric"):
        return ratio
    gamma = noise["gamma"]
    z = np.linspace(0, 20, 200_001)
    return ratio * float(np.max(gamma * z ** (gamma - 1) / (1 + z**gamma)))


def gaussian_delta(noise: Mapping[str, Any]) -> float:
    """Balle & Wang: δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), μ = Δ/σ."""
    mu, epsilon = noise["sensitivity"] / noise["noise_scale"], noise["epsilon"]
    return float(norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu)))
