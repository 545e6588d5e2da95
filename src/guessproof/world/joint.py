"""Attributes that depend on each other: one prior for several of them.

A joint prior is stated once and gives its attributes, which carry it along:

>>> pets = joint_table(("sex", "colour"), {("M", "black"): 0.5, ("F", "black"): 0.2, ("F", "calico"): 0.3})
>>> sex, colour = pets.attributes()
>>> sex
Attribute('sex', categorical({'M': 0.5, 'F': 0.5}))
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from guessproof.errors import KnowledgeError, PriorError, UnknownAttributeError
from guessproof.world.attributes import Attribute, is_pair
from guessproof.world.checks import Array, frozen, numbers, ordered, weights
from guessproof.world.finite import Finite
from guessproof.world.line import Normal
from guessproof.world.line_form import Metric
from guessproof.world.pieces import Histogram


class Joint(ABC):
    """A prior on several named attributes at once."""

    names: tuple[str, ...]

    @abstractmethod
    def marginal(self, name: str) -> FiniteMarginal | HistogramMarginal | NormalMarginal:
        """What is believed of one attribute alone; it remembers the joint prior that it comes from."""

    @abstractmethod
    def given(self, knows: Mapping[str, Any]) -> Joint:
        """This prior for an attacker who knows some of the attributes to lie in an interval or a set."""

    def attribute(
        self,
        name: str,
        *,
        scale: float = 1.0,
        metric: Metric | None = None,
        bounds: tuple[float, float] | None = None,
    ) -> Attribute:
        """One of the attributes, with its own distance."""
        return Attribute(name, self.marginal(name), scale, metric, bounds)

    def attributes(self) -> tuple[Attribute, ...]:
        """All of them, at their usual distances."""
        return tuple(self.attribute(name) for name in self.names)

    def axis(self, name: str) -> int:
        """The position of an attribute."""
        if name not in self.names:
            raise UnknownAttributeError("joint prior", name, "is not one of its attributes", f"use one of {self.names}")
        return self.names.index(name)


@dataclass(frozen=True, repr=False)
class FiniteMarginal(Finite):
    """One attribute of a table of combinations."""

    joint: JointTable
    column: str


@dataclass(frozen=True, repr=False)
class HistogramMarginal(Histogram):
    """One attribute of a two-dimensional histogram."""

    joint: JointHistogram
    column: str


@dataclass(frozen=True, repr=False)
class JointTable(Joint):
    """Probability weights[i] on the combination rows[i] of values."""

    names: tuple[str, ...]
    rows: tuple[tuple[Hashable, ...], ...]
    weights: tuple[float, ...]
    sampled: bool = False  # rows are only some of the combinations that people can have

    def __post_init__(self) -> None:
        _check_names(self.names)
        if not self.rows:
            raise PriorError("rows", self.rows, "the table is empty", "give at least one combination")
        for row in self.rows:
            if len(row) != len(self.names):
                raise PriorError("rows", row, f"does not name {len(self.names)} values", "give one per attribute")
        mass = weights("weights", list(self.weights))
        object.__setattr__(self, "weights", tuple(mass.tolist()))
        if len(set(self.rows)) < len(self.rows):
            raise PriorError("rows", len(self.rows), "a combination is repeated", "name each combination once")

    def __repr__(self) -> str:
        return f"joint prior of {', '.join(self.names)} on {len(self.rows)} combinations"

    @cached_property
    def mass(self) -> Array:
        """The weights as an array."""
        return frozen(np.asarray(self.weights, dtype=np.float64))

    def marginal(self, name: str) -> FiniteMarginal:
        axis = self.axis(name)
        table: dict[Hashable, float] = {}
        for row, weight in zip(self.rows, self.weights, strict=True):
            table[row[axis]] = table.get(row[axis], 0.0) + weight
        plain = Finite.of(table)
        hull = (float(plain.points[0]), float(plain.points[-1])) if self.sampled and plain.is_line else None
        return FiniteMarginal(plain.values, plain.weights, self, name, between=hull)

    def given(self, knows: Mapping[str, Any]) -> JointTable:
        allowed = {self.axis(name): set(_known(self.marginal(name), known)) for name, known in knows.items()}
        kept = [
            (row, weight)
            for row, weight in zip(self.rows, self.weights, strict=True)
            if weight > 0 and all(row[axis] in values for axis, values in allowed.items())
        ]
        total = sum(weight for _, weight in kept)
        if total <= 0:
            raise KnowledgeError(
                "knows", dict(knows), "the joint prior gives this no probability", "check the combination"
            )
        return JointTable(self.names, tuple(r for r, _ in kept), tuple(w / total for _, w in kept), self.sampled)


@dataclass(frozen=True, repr=False)
class JointHistogram(Joint):
    """Probability weights[i, j] spread evenly over the rectangle between two pairs of edges."""

    names: tuple[str, str]
    edges: tuple[tuple[float, ...], tuple[float, ...]]
    weights: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        _check_names(self.names)
        if len(self.names) != 2 or len(self.edges) != 2:
            raise PriorError("names", self.names, "a joint histogram has two attributes", "use joint_table for more")
        sides = [numbers(PriorError, f"edges[{i}]", e) for i, e in enumerate(self.edges)]
        for i, side in enumerate(sides):
            if side.size < 2 or np.any(np.diff(side) <= 0):
                raise PriorError(f"edges[{i}]", self.edges[i], "they do not rise", "sort them and drop repetitions")
        shape = tuple(side.size - 1 for side in sides)
        if len(self.weights) != shape[0] or any(len(row) != shape[1] for row in self.weights):
            raise PriorError("weights", self.weights, f"is not a table of {shape}", "give one row per first interval")
        mass = weights("weights", [w for row in self.weights for w in row]).reshape(shape)
        object.__setattr__(self, "edges", tuple(tuple(side.tolist()) for side in sides))
        object.__setattr__(self, "weights", tuple(tuple(row) for row in mass.tolist()))

    def __repr__(self) -> str:
        size = " × ".join(str(len(e) - 1) for e in self.edges)
        return f"joint prior of {', '.join(self.names)}, a histogram of {size} cells"

    @cached_property
    def mass(self) -> Array:
        """The weights as an array, first attribute first."""
        return frozen(np.asarray(self.weights, dtype=np.float64))

    def marginal(self, name: str) -> HistogramMarginal:
        axis = self.axis(name)
        side = self.mass.sum(axis=1 - axis)
        return HistogramMarginal(self.edges[axis], tuple((side / side.sum()).tolist()), self, name)

    def box_mass(self, low: tuple[Array, Array], high: tuple[Array, Array]) -> Array:
        """The probability of boxes."""
        at, share, inside = list[Any](), list[Array](), np.ones(low[0].shape, dtype=bool)
        for edges, a, b in zip(self.edges, low, high, strict=True):
            side = np.asarray(edges)
            place = np.clip(np.searchsorted(side, a, side="right") - 1, 0, side.size - 2)
            inside &= (a >= side[place]) & (b <= side[place + 1])
            at.append(place)
            share.append((b - a) / np.diff(side)[place])
        with np.errstate(invalid="ignore"):  # boxes without end are told below
            found = np.asarray(share[0] * share[1] * self.mass[at[0], at[1]])
        if not inside.all():
            wide = ~inside
            found[wide] = self._wide_mass(tuple(a[wide] for a in low), tuple(b[wide] for b in high))
        return found

    def _wide_mass(self, low: tuple[Array, ...], high: tuple[Array, ...]) -> Array:
        """The probability of boxes that lie in several of its own, or reach beyond them."""
        shares: list[Array] = []
        for edges, a, b in zip(self.edges, low, high, strict=True):
            side = np.asarray(edges)
            start, end = np.maximum(a[:, None], side[:-1]), np.minimum(b[:, None], side[1:])
            shares.append(np.maximum(end - start, 0.0) / np.diff(side))
        return np.sum((shares[0] @ self.mass) * shares[1], axis=1)

    def slice_mass(self, name: str, x: Array, low: Array, high: Array) -> Array:
        """P(low ≤ the other attribute ≤ high), one row of ends for each value x of the named one."""
        axis = self.axis(name)
        mass = self.mass if axis == 0 else self.mass.T
        own, other = (np.asarray(self.edges[i]) for i in (axis, 1 - axis))
        rows = mass[np.clip(np.searchsorted(own, x, side="right") - 1, 0, own.size - 2)]
        with np.errstate(invalid="ignore", divide="ignore"):
            rows = np.nan_to_num(rows / np.sum(rows, axis=1, keepdims=True))
        below = np.concatenate([np.zeros((rows.shape[0], 1)), np.cumsum(rows, axis=1)], axis=1)

        def up_to(y: Array) -> Array:
            y = np.clip(y, other[0], other[-1])
            at = np.clip(np.searchsorted(other, y, side="right") - 1, 0, other.size - 2)
            share = (y - other[at]) / np.diff(other)[at]
            start, end = (np.take_along_axis(below, at + i, axis=1) for i in (0, 1))
            return start + share * (end - start)

        return up_to(high) - up_to(low)

    def given(self, knows: Mapping[str, Any]) -> JointHistogram:
        mass, sides = np.array(self.mass), [np.asarray(e) for e in self.edges]
        for name, known in knows.items():
            axis = self.axis(name)
            if not (isinstance(known, (tuple, list)) and len(known) == 2):
                raise KnowledgeError("knows", known, "a histogram is conditioned on an interval", "give (low, high)")
            low, high = ordered(KnowledgeError, "knows", *known)
            side = sides[axis]
            start, end = np.clip(side[:-1], low, high), np.clip(side[1:], low, high)
            share = (end - start) / np.diff(side)
            keep = share > 0
            if not keep.any():
                raise KnowledgeError("knows", known, "the joint prior gives this no probability", "widen it")
            mass = np.compress(keep, mass, axis=axis) * (share[keep][:, None] if axis == 0 else share[keep])
            sides[axis] = np.append(start[keep], end[keep][-1])
        if not mass.sum() > 0:
            raise KnowledgeError("knows", dict(knows), "the joint prior gives this no probability", "widen it")
        mass = mass / mass.sum()
        edges = (tuple(sides[0].tolist()), tuple(sides[1].tolist()))
        return JointHistogram(self.names, edges, tuple(tuple(row) for row in mass.tolist()))


@dataclass(frozen=True, repr=False)
class NormalMarginal(Normal):
    """One attribute of two that are jointly normal."""

    joint: JointNormal
    column: str

    def stretched(self, factor: float) -> NormalMarginal:
        first, second = (factor * sd for sd in self.joint.sd)
        return replace(self.joint, sd=(first, second)).marginal(self.column)


@dataclass(frozen=True, repr=False)
class JointNormal(Joint):
    """Two numbers that are jointly normal, with means, standard deviations and a correlation."""

    names: tuple[str, str]
    mean: tuple[float, float]
    sd: tuple[float, float]
    correlation: float

    def __post_init__(self) -> None:
        _check_names(self.names)
        if not len(self.names) == len(self.mean) == len(self.sd) == 2:
            raise PriorError("names", self.names, "a joint normal prior has two attributes", "give two of each")
        for field, values in (("mean", self.mean), ("sd", self.sd)):
            pair = numbers(PriorError, field, list(values))
            if field == "sd" and np.any(pair <= 0):
                raise PriorError("sd", values, "is not positive", "give two positive numbers")
            object.__setattr__(self, field, tuple(pair.tolist()))
        (rho,) = numbers(PriorError, "correlation", [self.correlation]).tolist()
        if not -1 < rho < 1:
            raise PriorError("correlation", rho, "does not lie between −1 and 1", "give a number in between, as 0.6")
        object.__setattr__(self, "correlation", rho)

    def __repr__(self) -> str:
        return f"joint prior of {', '.join(self.names)}, normal with correlation {self.correlation:g}"

    def apart(self, name: str) -> tuple[Normal, Normal, float]:
        """One attribute, what is left of the other without its part in that one, and how large that part is."""
        order = slice(None) if self.axis(name) == 0 else slice(None, None, -1)
        (a, b), (s, u), rho = self.mean[order], self.sd[order], self.correlation
        tilt = rho * u / s
        return Normal(a, s), Normal(b - tilt * a, u * float(np.sqrt((1 - rho) * (1 + rho)))), tilt

    def marginal(self, name: str) -> NormalMarginal:
        axis = self.axis(name)
        return NormalMarginal(self.mean[axis], self.sd[axis], self, name)

    def slice_mass(self, name: str, x: Array, low: Array, high: Array) -> Array:
        """P(low ≤ the other attribute ≤ high), one row of ends for each value x of the named one."""
        axis = self.axis(name)
        (a, b), (s, u) = ((values[axis], values[1 - axis]) for values in (self.mean, self.sd))
        middle = (b + self.correlation * u / s * (x - a))[:, None]
        left = Normal(0.0, u * float(np.sqrt((1 - self.correlation) * (1 + self.correlation))))
        return left.quick_mass(low - middle, high - middle)

    def given(self, knows: Mapping[str, Any]) -> JointNormal:
        problem = "a joint normal prior is not conditioned on an interval"
        raise KnowledgeError("knows", dict(knows), problem, "give the prior as a joint histogram, or leave it out")


def joint_normal(names: Iterable[str], mean: Iterable[float], sd: Iterable[float], correlation: float) -> JointNormal:
    """Two dependent numbers that are jointly normal.

    >>> lon, lat = joint_normal(("lon", "lat"), mean=(0, 0), sd=(3, 4), correlation=0.6).attributes()
    >>> lat
    Attribute('lat', normal(mean=0, sd=4))
    """
    try:
        return JointNormal(_names(names), tuple(mean), tuple(sd), correlation)  # pyright: ignore[reportArgumentType]
    except TypeError:
        raise PriorError("mean, sd", (mean, sd), "are not pairs of numbers", "give two of each") from None


def joint_table(names: Iterable[str], table: Mapping[Any, float]) -> JointTable:
    """Dependent attributes as a table of combination → probability."""
    if not isinstance(table, Mapping) or not table:
        raise PriorError("table", table, "is not a table of combination → probability", "give a non-empty dict")
    rows = tuple(_row(r) for r in table)
    return JointTable(_names(names), rows, tuple(numbers(PriorError, "weights", list(table.values())).tolist()))


def joint_sample(names: Iterable[str], rows: Iterable[Any]) -> JointTable:
    """Dependent attributes as a public sample of combinations, each equally likely; repetitions add up.

    >>> joint_sample(("lon", "lat"), [(0, 1), (0, 1), (2, 3)]).weights
    (0.6666666666666666, 0.3333333333333333)
    """
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        raise PriorError("rows", rows, "is not a list of combinations", "give one tuple per observation")
    counts: dict[tuple[Hashable, ...], int] = {}
    for row in rows:
        key = _row(row)
        counts[key] = counts.get(key, 0) + 1
    total = sum(counts.values())
    return JointTable(_names(names), tuple(counts), tuple(c / total for c in counts.values()), sampled=True)


def joint_histogram(names: Iterable[str], edges: Iterable[Any], weights: Any) -> JointHistogram:
    """Two dependent numbers as a histogram: weights[i][j] between edges[0][i], …[i+1] and edges[1][j], …[j+1]."""
    try:
        sides = tuple(tuple(numbers(PriorError, "edges", e).tolist()) for e in edges)
        table = tuple(tuple(numbers(PriorError, "weights", row).tolist()) for row in weights)
    except TypeError:
        raise PriorError("edges, weights", edges, "are not lists", "give two lists of edges and a table") from None
    return JointHistogram(_names(names), sides, table)  # pyright: ignore[reportArgumentType]


def _names(names: Any) -> Any:
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise PriorError("names", names, "is not a list of names", "name each attribute, as ('lon', 'lat')")
    return tuple(names)


def _check_names(names: tuple[str, ...]) -> None:
    if len(names) < 2 or not all(isinstance(n, str) and n for n in names) or len(set(names)) < len(names):
        raise PriorError("names", names, "are not two or more different names", "name each attribute once")


def _row(row: Any) -> tuple[Hashable, ...]:
    if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
        raise PriorError("rows", row, "is not a combination of values", "give a tuple, one value per attribute")
    values = tuple(v.item() if isinstance(v, np.generic) else v for v in row)
    if not all(isinstance(v, Hashable) for v in values) or any(v != v for v in values):
        raise PriorError("rows", row, "holds a value that cannot be named", "give numbers or strings")
    return values


def _known(prior: Finite, known: Any) -> tuple[Hashable, ...]:
    return (prior.given(*known) if is_pair(known) else prior.given(known)).values
