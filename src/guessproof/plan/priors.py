"""From the tables of a plan to what the attacker believes: priors and attributes of the world."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from guessproof.errors import InputError, ParameterError, PriorError
from guessproof.names import suggest_name
from guessproof.plan.grammar import Misread, read_names
from guessproof.plan.places import Key, Place, spell_key, underline
from guessproof.plan.prior_tables import DensityTable, FamilyTable, JointPriorTable, PriorTable
from guessproof.plan.public import PublicFile, numbers_or_texts, read_public
from guessproof.plan.table import given_keys
from guessproof.plan.tables import ColumnTable, PlanFile
from guessproof.world import joint, priors
from guessproof.world.attributes import Attribute
from guessproof.world.finite import Finite
from guessproof.world.kinds import label_of, spells
from guessproof.world.line import LinePrior

_BOUNDS = "give the column bounds, or low and high"


@dataclass(frozen=True)
class Beliefs:
    """Builds the attributes of a plan. Public files are read once each."""

    file: PlanFile
    place: Place
    folder: Path
    source: Path | None
    tables: dict[str, PublicFile] = field(default_factory=dict[str, PublicFile])

    def attributes(self) -> dict[str, Attribute]:
        """Every column that has a prior, in the order of the plan."""
        joined = self._joints()
        found: dict[str, Attribute] = {}
        for name, column in self.file.columns.items():
            path: Key = ("columns", name)
            if name in joined:
                if column.prior is not None:
                    problem = "the column has a prior of its own and one together with others"
                    raise self.place.error((*path, "prior"), name, problem, "leave one of them out")
                found[name] = self._attribute(path, name, column, joined[name])
            elif column.prior is not None:
                found[name] = self._attribute(path, name, column, self._prior(name, column, column.prior))
        return found

    def _attribute(self, path: Key, name: str, column: ColumnTable, prior: priors.Prior) -> Attribute:
        if column.bounds is not None and isinstance(prior, Finite) and not prior.is_line:
            problem = "bounds are for numbers, and the prior holds categories"
            raise self.place.error((*path, "bounds"), list(column.bounds), problem, "leave them out, or use levels")
        try:
            attribute = Attribute(name, prior, bounds=column.bounds, is_time=column.kind == "time")
            if column.bounds is not None:
                _ = attribute.range
        except InputError as error:
            raise self.place.about(path, error) from None
        return attribute

    def _prior(self, name: str, column: ColumnTable, prior: PriorTable) -> priors.Prior:
        path: Key = ("columns", name, "prior")
        self._one_of(path, prior, prior.kinds())
        if prior.column is not None and prior.from_ is None:
            raise self.place.error((*path, "column"), prior.column, "names a column of no file", "add from = …")
        try:
            made = self._made(name, column, prior)
        except InputError as error:
            raise self.place.about((*path, _alias(prior.kind)), error) from None
        if isinstance(made, Finite) and column.levels is not None:
            return self._levelled(path, made, column.levels)
        return made

    def _made(self, name: str, column: ColumnTable, prior: PriorTable) -> priors.Prior:
        """A family makes its prior from its keys; the other ways to write one each need something beside them."""
        table = getattr(prior, prior.kind)
        if isinstance(table, FamilyTable):
            return _family(table)
        return _MAKERS[prior.kind](self, name, column, prior)

    def _one_of(self, path: Key, table: DensityTable | JointPriorTable, kinds: tuple[str, ...]) -> None:
        names = [_alias(kind) for kind in given_keys(table, kinds)]
        if not names:
            remedy = f"give one of {', '.join(_alias(kind) for kind in kinds)}"
            raise self.place.error(path, {}, "says nothing", remedy)
        if len(names) > 1:
            raise self.place.error((*path, names[1]), " and ".join(names), "two priors are given", "leave one out")

    def _levelled(self, path: Key, prior: Finite, levels: tuple[Any, ...]) -> Finite:
        """The same prior: all its values are levels, and people have no others."""
        for value in prior.values:
            if value not in levels:
                hint = suggest_name(label_of(value), [label_of(level) for level in levels], "add it to levels")
                raise self.place.error(path, value, "the prior holds a value that is not among the levels", hint)
        return replace(prior, between=None)

    def _public(self, name: str) -> PublicFile:
        if name not in self.tables:
            self.tables[name] = read_public(name, self.folder, self.source)
        return self.tables[name]

    # One maker for each key of a prior.

    def _categorical(self, name: str, column: ColumnTable, prior: PriorTable) -> Finite:
        weights = prior.categorical
        assert weights is not None
        pairs = list(weights.items()) if isinstance(weights, dict) else list(weights)
        table: dict[Hashable, float] = {}
        for value, weight in pairs:
            value = _level(value, column.levels)
            if value in table:
                raise PriorError("categorical", value, "is named twice", "name each value once")
            table[value] = weight
        return priors.categorical(table)

    def _from(self, name: str, column: ColumnTable, prior: PriorTable) -> Finite:
        assert prior.from_ is not None
        values = self._public(prior.from_).column(prior.column or name)
        return _frequencies(_levelled(values, column.levels), prior.from_)

    def _mixture(self, name: str, column: ColumnTable, prior: PriorTable) -> priors.Prior:
        parts = prior.mixture or ()
        return priors.mixture(*((part.weight, self._density(name, part.prior)) for part in parts))

    def _truncated(self, name: str, column: ColumnTable, prior: PriorTable) -> priors.Prior:
        table = prior.truncated
        assert table is not None
        base = self._density(name, table.prior)
        low, high = base.support
        return priors.truncated(
            base, low if table.low is None else table.low, high if table.high is None else table.high
        )

    def _density(self, name: str, prior: DensityTable) -> LinePrior:
        """A prior inside another."""
        self._one_of(("columns", name, "prior"), prior, prior.kinds())
        return _family(getattr(prior, prior.kind))

    def _unknown(self, name: str, column: ColumnTable, prior: PriorTable) -> priors.Unknown:
        assert prior.unknown is not None
        return priors.unknown(*_ends(prior.unknown.low, prior.unknown.high, column))

    def _partly_known(self, name: str, column: ColumnTable, prior: PriorTable) -> priors.PartlyKnown:
        known = prior.partly_known
        assert known is not None
        return priors.partly_known(known.radius, known.probability, *_ends(known.low, known.high, column))

    # Joint priors.

    def _joints(self) -> dict[str, priors.Prior]:
        found: dict[str, priors.Prior] = {}
        for key, table in self.file.prior.items():
            path: Key = ("prior", key)
            names = self._names(path, key)
            self._one_of(path, table, table.kinds())
            try:
                together = self._joint(names, table)
            except InputError as error:
                raise self.place.about((*path, _alias(table.kind)), error) from None
            for name in names:
                if name in found:
                    raise self.place.error(path, name, "is joined with others twice", "join it once")
                found[name] = marginal = together.marginal(name)
                levels = self.file.columns[name].levels
                if isinstance(marginal, Finite) and levels is not None:
                    found[name] = self._levelled(path, marginal, levels)
        return found

    def _names(self, path: Key, key: str) -> tuple[str, ...]:
        try:
            names = read_names(key)
        except Misread as error:
            remedy = 'write the columns as [prior."(lon, lat)"]' + underline(key, error.start, error.end)
            raise self.place.error(path, key, "is not a list of columns", remedy) from None
        if len(names) < 2:
            remedy = f"put it into [{spell_key(('columns', *names))}], or join several as (a, b)"
            raise self.place.error(path, key, "a joint prior is about several columns", remedy)
        for name in names:
            if name not in self.file.columns:
                hint = suggest_name(name, self.file.columns, f"declare it as [{spell_key(('columns', name))}]")
                raise self.place.error(path, name, "is not a declared column", hint)
        return names

    def _joint(self, names: tuple[str, ...], table: JointPriorTable) -> joint.Joint:
        if table.histogram is not None:
            return joint.joint_histogram(names, table.histogram.edges, table.histogram.weights)
        if table.normal is not None:
            return joint.joint_normal(names, table.normal.mean, table.normal.sd, table.normal.correlation)
        if table.from_ is not None:
            public = self._public(table.from_)
            columns = [public.column(name) for name in names]
            rows = [row for row in zip(*columns, strict=True) if all(value is not None for value in row)]
            sides = [
                _levelled([row[i] for row in rows], self.file.columns[name].levels) for i, name in enumerate(names)
            ]
            if not rows:
                raise PriorError("from", table.from_, "holds no complete row", "give at least one")
            return joint.joint_sample(names, zip(*sides, strict=True))
        levels = [self.file.columns[name].levels for name in names]
        rows = table.table if table.table is not None else table.sample
        assert rows is not None
        width = len(names) + (table.table is not None)
        for row in rows:
            if len(row) != width:
                raise PriorError(table.kind, list(row), f"holds {len(row)} entries instead of {width}", _row(names))
        values = [tuple(_level(v, lv) for v, lv in zip(row, levels, strict=False)) for row in rows]
        if table.sample is not None:
            if not values:
                raise PriorError("sample", [], "holds no rows", "give at least one")
            return joint.joint_sample(names, values)
        weights = [_weight(row[-1]) for row in rows]
        if len(set(values)) < len(values):
            raise PriorError("table", len(values), "a combination is named twice", "name each combination once")
        return joint.joint_table(names, dict(zip(values, weights, strict=True)))


_Maker = Callable[[Beliefs, str, ColumnTable, Any], priors.Prior]
_MAKERS: dict[str, _Maker] = {
    "empirical": lambda b, n, c, p: priors.empirical(p.empirical),
    "categorical": Beliefs._categorical,  # pyright: ignore[reportPrivateUsage]
    "from_": Beliefs._from,  # pyright: ignore[reportPrivateUsage]
    "mixture": Beliefs._mixture,  # pyright: ignore[reportPrivateUsage]
    "truncated": Beliefs._truncated,  # pyright: ignore[reportPrivateUsage]
    "unknown": Beliefs._unknown,  # pyright: ignore[reportPrivateUsage]
    "partly_known": Beliefs._partly_known,  # pyright: ignore[reportPrivateUsage]
}


def _family(table: FamilyTable) -> LinePrior:
    return table.makes(**dict(table))


def _alias(kind: str) -> str:
    return "from" if kind == "from_" else kind


def _ends(low: float | None, high: float | None, column: ColumnTable) -> tuple[float, float]:
    bounds = column.bounds or (None, None)
    low, high = bounds[0] if low is None else low, bounds[1] if high is None else high
    if low is None or high is None:
        remedy = _BOUNDS if column.levels is None else "for categories, give { categorical = … }"
        raise ParameterError("prior", "unknown", "an unknown prior needs a range, and the column has no bounds", remedy)
    return low, high


def _level(value: Any, levels: Iterable[Any] | None) -> Any:
    """The declared level that a value spells; TOML keys are always texts."""
    if isinstance(value, str) and levels is not None:
        return next((level for level in levels if spells(value, level)), value)
    return value


def _levelled(values: list[Any], levels: tuple[Any, ...] | None) -> list[Any]:
    if levels is None:
        return numbers_or_texts(values)
    return [
        _level(value if isinstance(value, str) else label_of(value), levels) for value in values if value is not None
    ]


def _frequencies(values: list[Any], name: str) -> Finite:
    """Numbers as a sample, categories by how often they occur."""
    if not values:
        raise PriorError("from", name, "the column holds no value", "give at least one")
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return priors.empirical(values)
    counts: dict[Hashable, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return priors.categorical({value: count / len(values) for value, count in counts.items()})


def _weight(value: Any) -> float:
    if isinstance(value, (str, bool)) or not math.isfinite(value):
        raise PriorError("table", value, "is not a probability", "end each row with a number between 0 and 1")
    return float(value)


def _row(names: tuple[str, ...]) -> str:
    return f"write one value for each of {', '.join(names)}, and in a table the probability last"
