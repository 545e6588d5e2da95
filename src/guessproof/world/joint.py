"""Attributes that depend on each other: one prior for several of them.

A joint prior is stated once and gives its attributes, which carry it along:

>>> pets = joint_table(("sex", "colour"), {("M", "black"): 0.5, ("F", "black"): 0.2, ("F", "calico"): 0.3})
>>> sex, colour = pets.attributes()
>>> sex
Attribute('sex', categorical({'M': 0.5, 'F': 0.5}))
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from guessproof.errors import KnowledgeError, PriorError, UnknownAttributeError
from guessproof.world.attributes import Attribute, conditioned_prior
from guessproof.world.checks import (
    Array,
    Floats,
    Pair,
    frozen,
    listed,
    numbers,
    quiet,
    real,
    rising,
    weights,
)
from guessproof.world.finite import Finite
from guessproof.world.priors import Histogram, Normal, function


@dataclass(frozen=True, repr=False)
class Joint(ABC):
    """A prior on several named attributes at once."""

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        names = listed(
            PriorError,
            "names",
            self.names,
            "is not a list of names",
            "name each attribute, as ('lon', 'lat')",
        )
        different = {name for name in names if isinstance(name, str) and name}
        if not 2 <= len(names) == len(different):
            raise PriorError(
                "names",
                names,
                "are not two or more different names",
                "name each attribute once",
            )
        vars(self).update(names=names)

    @abstractmethod
    def marginal(self, name: str) -> FiniteMarginal | HistogramMarginal | NormalMarginal:
        """What is believed of one attribute alone; it remembers the joint prior that it comes from."""

    def given(self, knows: Mapping[str, Any]) -> Joint:
        """This prior for an attacker who knows some of the attributes to lie in an interval or a set."""
        raise KnowledgeError(
            "knows",
            dict(knows),
            "a joint normal prior is not conditioned on an interval",
            "give the prior as a joint histogram, or leave it out",
        )

    def attributes(self) -> tuple[Attribute, ...]:
        """All of them, at their usual distances."""
        return tuple(Attribute(name, self.marginal(name)) for name in self.names)

    def axis(self, name: str) -> int:
        """The position of an attribute."""
        if name not in self.names:
            raise UnknownAttributeError(
                "joint prior", name, "is not one of its attributes", f"use one of {self.names}"
            )
        return self.names.index(name)


@dataclass(frozen=True, repr=False)
class FiniteMarginal(Finite):
    """One attribute of a table of combinations."""

    joint: JointTable


@dataclass(frozen=True, repr=False)
class HistogramMarginal(Histogram):
    """One attribute of a two-dimensional histogram."""

    joint: JointHistogram


@dataclass(frozen=True)
class JointTable(Joint):
    """Probability weights[i] on the combination rows[i] of values."""

    rows: tuple[tuple[Hashable, ...], ...]
    weights: Floats
    sampled: bool = False  # rows are only some of the combinations that people can have
    mass: Array = field(init=False, compare=False)  # the weights as an array

    def __post_init__(self) -> None:
        super().__post_init__()
        for row in self.rows:
            if len(row) != len(self.names):
                raise PriorError(
                    "rows",
                    row,
                    f"does not name {len(self.names)} values",
                    "give one per attribute",
                )
        mass = frozen(weights("weights", list(self.weights), counts=True))
        vars(self).update(weights=tuple(mass.tolist()), mass=mass)

    def __repr__(self) -> str:
        return f"joint prior of {', '.join(self.names)} on {len(self.rows)} combinations"

    def marginal(self, name: str) -> FiniteMarginal:
        axis, table = self.axis(name), Counter[Hashable]()
        for row, weight in zip(self.rows, self.weights, strict=True):
            table[row[axis]] += weight  # pyright: ignore[reportArgumentType]
        plain = Finite.of(table)
        hull = plain.support if self.sampled and plain.is_line else None
        return FiniteMarginal(plain.values, plain.weights, self, between=hull)

    def given(self, knows: Mapping[str, Any]) -> JointTable:
        kept = dict(zip(self.rows, self.weights, strict=True))
        for name, known in knows.items():
            axis, values = self.axis(name), conditioned_prior(self.marginal(name), known).values
            kept = {row: weight for row, weight in kept.items() if row[axis] in values}
        total = sum(kept.values())
        if total <= 0:
            raise KnowledgeError(
                "knows",
                dict(knows),
                "the joint prior gives this no probability",
                "check the combination",
            )
        shares = {row: weight / total for row, weight in kept.items() if weight > 0}
        return JointTable(self.names, tuple(shares), tuple(shares.values()), self.sampled)


@dataclass(frozen=True)
class JointHistogram(Joint):
    """Probability weights[i][j] spread evenly between edges[0][i], …[i+1] and edges[1][j], …[j+1]."""

    edges: tuple[Floats, Floats]
    weights: tuple[Floats, ...]
    mass: Array = field(
        init=False, compare=False
    )  # the weights as an array, first attribute first

    def __post_init__(self) -> None:
        super().__post_init__()
        remedy = "give two lists of edges and a table"
        edges = listed(PriorError, "edges", self.edges, "is not two lists", remedy)
        rows = listed(PriorError, "weights", self.weights, "is not a table", remedy)
        if len(self.names) != 2 or len(edges) != 2:
            raise PriorError(
                "names",
                self.names,
                "a joint histogram has two attributes",
                "use joint_table for more",
            )
        sides = [rising(f"edges[{i}]", side) for i, side in enumerate(edges)]
        shape = tuple(side.size - 1 for side in sides)
        table = [numbers(PriorError, "weights", row) for row in rows]
        if (len(table), *{row.size for row in table}) != shape:
            raise PriorError(
                "weights",
                self.weights,
                f"is not a table of {shape}",
                "give one row per first interval",
            )
        mass = frozen(weights("weights", np.concatenate(table), counts=True).reshape(shape))
        edges = tuple(tuple(side.tolist()) for side in sides)
        vars(self).update(edges=edges, weights=tuple(map(tuple, mass.tolist())), mass=mass)

    def __repr__(self) -> str:
        size = " × ".join(str(len(e) - 1) for e in self.edges)
        return f"joint prior of {', '.join(self.names)}, a histogram of {size} cells"

    def marginal(self, name: str) -> HistogramMarginal:
        axis = self.axis(name)
        side = self.mass.sum(axis=1 - axis)
        return HistogramMarginal(self.edges[axis], tuple(side.tolist()), self)

    def slice_mass(self, name: str, x: Array, low: Array, high: Array) -> Array:
        """P(low ≤ the other attribute ≤ high), one row of ends for each value x of the named one."""
        axis = self.axis(name)
        own, other = np.asarray(self.edges[axis]), np.asarray(self.edges[1 - axis])
        at = np.clip(np.searchsorted(own, x, side="right") - 1, 0, own.size - 2)
        rows = np.moveaxis(self.mass, axis, 0)[at][:, None]
        length = np.minimum(high[..., None], other[1:]) - np.maximum(low[..., None], other[:-1])
        share = np.maximum(length, 0.0) / np.diff(other)
        with quiet():
            return np.nan_to_num(np.sum(share * rows, axis=-1) / np.sum(rows, axis=-1))

    def given(self, knows: Mapping[str, Any]) -> JointHistogram:
        mass, sides = self.mass, list(self.edges)
        for name, known in knows.items():
            axis, side = self.axis(name), np.asarray(sides[self.axis(name)])
            ends = np.clip(side, *conditioned_prior(self.marginal(name), known).support)
            shares = np.diff(ends) / np.diff(side)
            mass = np.compress(shares > 0, mass * np.expand_dims(shares, 1 - axis), axis=axis)
            sides[axis] = tuple(np.unique(ends).tolist())
        total = mass.sum()
        if not total > 0:
            raise KnowledgeError(
                "knows", dict(knows), "the joint prior gives this no probability", "widen it"
            )
        return JointHistogram(self.names, (sides[0], sides[1]), (mass / total).tolist())


@dataclass(frozen=True, repr=False)
class NormalMarginal(Normal):
    """One attribute of two that are jointly normal."""

    joint: JointNormal
    column: str

    def stretched(self, factor: float) -> NormalMarginal:
        first, second = (factor * sd for sd in self.joint.sd)
        return replace(self.joint, sd=(first, second)).marginal(self.column)


@dataclass(frozen=True)
class JointNormal(Joint):
    """Two numbers that are jointly normal, with means, standard deviations and a correlation.

    >>> lon, lat = joint_normal(("lon", "lat"), mean=(0, 0), sd=(3, 4), correlation=0.6).attributes()
    >>> lat
    Attribute('lat', normal(mean=0, sd=4))
    """

    mean: Pair
    sd: Pair
    correlation: float

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("mean", "sd"):
            found = numbers(PriorError, name, getattr(self, name))
            vars(self)[name] = tuple(found.tolist())
        if not len(self.names) == len(self.mean) == len(self.sd) == 2:
            raise PriorError(
                "names",
                self.names,
                "a joint normal prior has two attributes",
                "give two of each",
            )
        if not -1 < real(PriorError, "correlation", self.correlation) < 1:
            raise PriorError(
                "correlation",
                self.correlation,
                "does not lie between −1 and 1",
                "give a number in between, as 0.6",
            )
        self.attributes()  # which look at each of the means and standard deviations

    def __repr__(self) -> str:
        return f"joint prior of {', '.join(self.names)}, normal with correlation {self.correlation:g}"

    def apart(self, name: str) -> tuple[Normal, Normal, float]:
        """One attribute, what is left of the other without its part in that one, and how large that part is."""
        own = self.axis(name)
        other = 1 - own
        tilt = self.correlation * self.sd[other] / self.sd[own]
        share = np.sqrt((1 - self.correlation) * (1 + self.correlation))
        rest = Normal(self.mean[other] - tilt * self.mean[own], self.sd[other] * float(share))
        return Normal(self.mean[own], self.sd[own]), rest, tilt

    def marginal(self, name: str) -> NormalMarginal:
        axis = self.axis(name)
        return NormalMarginal(self.mean[axis], self.sd[axis], self, name)

    def slice_mass(self, name: str, x: Array, low: Array, high: Array) -> Array:
        """P(low ≤ the other attribute ≤ high), one row of ends for each value x of the named one."""
        _, rest, tilt = self.apart(name)
        middle = (tilt * x)[:, None]
        return rest.mass(low - middle, high - middle)


joint_normal, joint_histogram = function(JointNormal), function(JointHistogram)


def joint_table(names: Iterable[str], table: Mapping[Any, float]) -> JointTable:
    """Dependent attributes as a table of combination → probability."""
    if not isinstance(table, Mapping) or not table:
        raise PriorError(
            "table",
            table,
            "is not a table of combination → probability",
            "give a non-empty dict",
        )
    return JointTable(names, tuple(map(_row, table)), tuple(table.values()))  # pyright: ignore[reportArgumentType]


def joint_sample(names: Iterable[str], rows: Iterable[Any]) -> JointTable:
    """Dependent attributes as a public sample of combinations, each equally likely; repetitions add up.

    >>> joint_sample(("lon", "lat"), [(0, 1), (0, 1), (2, 3)]).weights
    (0.6666666666666666, 0.3333333333333333)
    """
    rows = listed(
        PriorError,
        "rows",
        rows,
        "is not a list of combinations",
        "give one tuple per observation",
    )
    counts = Counter(map(_row, rows))
    return JointTable(names, tuple(counts), tuple(counts.values()), sampled=True)  # pyright: ignore[reportArgumentType]


def _row(row: Any) -> tuple[Hashable, ...]:
    found = listed(
        PriorError,
        "rows",
        row,
        "is not a combination of values",
        "give a tuple, one value per attribute",
    )
    values = tuple(v.item() if isinstance(v, np.generic) else v for v in found)
    if not all(isinstance(v, Hashable) for v in values) or any(v != v for v in values):
        raise PriorError(
            "rows", row, "holds a value that cannot be named", "give numbers or strings"
        )
    return values
