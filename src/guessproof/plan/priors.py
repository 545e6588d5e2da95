"""From the tables of a plan to what the attacker believes: priors and attributes of the world."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from guessproof import world
from guessproof.errors import InputError, ParameterError, PriorError
from guessproof.names import suggest_name
from guessproof.outputs import Kept
from guessproof.plan.grammar import Misread, read_names
from guessproof.plan.places import Key, Place, spell_key, underline
from guessproof.plan.prior_tables import DensityTable, FamilyTable, JointPriorTable, PriorTable
from guessproof.plan.public import PublicFile, numbers_or_texts, read_public
from guessproof.plan.table import given_keys
from guessproof.plan.tables import ColumnTable, PlanFile
from guessproof.world import Attribute, Finite, LinePrior, is_number, label_of


@dataclass(frozen=True)
class Beliefs:
    """Builds the attributes of a plan. Public files are read once each."""

    file: PlanFile
    place: Place
    folder: Path
    confidential: Sequence[Kept]
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

    def _attribute(self, path: Key, name: str, column: ColumnTable, prior: world.Prior) -> Attribute:
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

    def _prior(self, name: str, column: ColumnTable, prior: PriorTable) -> world.Prior:
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

    def _made(self, name: str, column: ColumnTable, prior: PriorTable) -> world.Prior:
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
        possible = set(levels)
        for value in prior.values:
            if value not in possible:
                hint = suggest_name(label_of(value), [label_of(level) for level in levels], "add it to levels")
                raise self.place.error(path, value, "the prior holds a value that is not among the levels", hint)
        return replace(prior, between=None)

    def _public(self, name: str) -> PublicFile:
        if name not in self.tables:
            self.tables[name] = read_public(name, self.folder, self.confidential)
        return self.tables[name]

    # One maker for each key of a prior.

    def _categorical(self, name: str, column: ColumnTable, prior: PriorTable) -> Finite:
        weights = prior.categorical
        assert weights is not None
        pairs = list(weights.items()) if isinstance(weights, dict) else list(weights)
        table: dict[Hashable, float] = {}
        readings = _Readings(column.levels or ())
        for spelled, weight in pairs:
            value = readings.level(spelled)
            if value in table:
                raise PriorError("categorical", value, "is named twice", "name each value once")
            table[value] = weight
        return world.categorical(table)

    def _from(self, name: str, column: ColumnTable, prior: PriorTable) -> Finite:
        assert prior.from_ is not None
        values = self._public(prior.from_).column(prior.column or name)
        return _frequencies(_levelled(values, column.levels), prior.from_)

    def _mixture(self, name: str, column: ColumnTable, prior: PriorTable) -> world.Prior:
        parts = prior.mixture or ()
        return world.mixture(*((part.weight, self._density(name, part.prior)) for part in parts))

    def _truncated(self, name: str, column: ColumnTable, prior: PriorTable) -> world.Prior:
        table = prior.truncated
        assert table is not None
        base = self._density(name, table.prior)
        low, high = base.support
        return world.truncated(
            base, low if table.low is None else table.low, high if table.high is None else table.high
        )

    def _density(self, name: str, prior: DensityTable) -> LinePrior:
        """A prior inside another."""
        self._one_of(("columns", name, "prior"), prior, prior.kinds())
        return _family(getattr(prior, prior.kind))

    def _unknown(self, name: str, column: ColumnTable, prior: PriorTable) -> world.Unknown:
        assert prior.unknown is not None
        range_ = (prior.unknown.low, prior.unknown.high, column.bounds)
        if column.levels is not None and range_ == (None, None, None) and not all(map(is_number, column.levels)):
            return world.unknown(values=column.levels)
        return world.unknown(*_ends(prior.unknown.low, prior.unknown.high, column))

    def _partly_known(self, name: str, column: ColumnTable, prior: PriorTable) -> world.PartlyKnown:
        known = prior.partly_known
        assert known is not None
        return world.partly_known(known.radius, known.probability, *_ends(known.low, known.high, column))

    # Joint priors.

    def _joints(self) -> dict[str, world.Prior]:
        found: dict[str, world.Prior] = {}
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

    def _joint(self, names: tuple[str, ...], table: JointPriorTable) -> world.Joint:
        if table.histogram is not None:
            return world.joint_histogram(names, table.histogram.edges, table.histogram.weights)
        if table.normal is not None:
            return world.joint_normal(names, table.normal.mean, table.normal.sd, table.normal.correlation)
        if table.from_ is not None:
            public = self._public(table.from_)
            columns = [public.column(name) for name in names]
            rows = [row for row in zip(*columns, strict=True) if all(value is not None for value in row)]
            sides = [
                _levelled([row[i] for row in rows], self.file.columns[name].levels) for i, name in enumerate(names)
            ]
            if not rows:
                raise PriorError("from", table.from_, "holds no complete row", "give at least one")
            return world.joint_sample(names, zip(*sides, strict=True))
        readings = [_Readings(self.file.columns[name].levels or ()) for name in names]
        rows = table.table if table.table is not None else table.sample
        assert rows is not None
        width = len(names) + (table.table is not None)
        for row in rows:
            if len(row) != width:
                raise PriorError(table.kind, list(row), f"holds {len(row)} entries instead of {width}", _row(names))
        values = [tuple(r.level(value) for value, r in zip(row, readings, strict=False)) for row in rows]
        if table.sample is not None:
            if not values:
                raise PriorError("sample", [], "holds no rows", "give at least one")
            return world.joint_sample(names, values)
        weights = [_weight(row[-1]) for row in rows]
        if len(set(values)) < len(values):
            raise PriorError("table", len(values), "a combination is named twice", "name each combination once")
        return world.joint_table(names, dict(zip(values, weights, strict=True)))


_Maker = Callable[[Beliefs, str, ColumnTable, Any], world.Prior]
_MAKERS: dict[str, _Maker] = {
    "empirical": lambda b, n, c, p: world.empirical(p.empirical),
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
    levels: list[Any] = [level for level in column.levels or () if is_number(level)]
    bounds = column.bounds or ((min(levels), max(levels)) if levels else (None, None))
    low, high = bounds[0] if low is None else low, bounds[1] if high is None else high
    if low is None or high is None:
        problem = "an unknown prior needs a range, and the column has no bounds"
        raise ParameterError("prior", "unknown", problem, "give the column bounds or levels, or low and high")
    return low, high


class _Readings:
    """The declared levels by the texts that spell them, the first one where several do."""

    def __init__(self, levels: Iterable[Any]) -> None:
        self._texts: dict[str, tuple[int, Any]] = {}
        self._numbers: dict[float, tuple[int, Any]] = {}
        for place, level in enumerate(levels):
            if is_number(level):
                self._numbers.setdefault(level, (place, level))
            else:
                self._texts.setdefault(label_of(level), (place, level))

    def level(self, value: Any) -> Any:
        """The declared level that a value spells; TOML keys are always texts."""
        if not isinstance(value, str):
            return value
        try:
            number = self._numbers.get(float(value))
        except ValueError:
            number = None
        found = [spelled for spelled in (self._texts.get(value), number) if spelled is not None]
        return min(found, key=itemgetter(0))[1] if found else value


def _levelled(values: list[Any], levels: tuple[Any, ...] | None) -> list[Any]:
    if levels is None:
        return numbers_or_texts(values)
    readings = _Readings(levels)
    texts = [value if isinstance(value, str) else label_of(value) for value in values if value is not None]
    return [readings.level(text) for text in texts]


def _frequencies(values: list[Any], name: str) -> Finite:
    """Numbers as a sample, categories by how often they occur."""
    if not values:
        raise PriorError("from", name, "the column holds no value", "give at least one")
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return world.empirical(values)
    counts: dict[Hashable, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return world.categorical({value: count / len(values) for value, count in counts.items()})


def _weight(value: Any) -> float:
    if isinstance(value, (str, bool)) or not math.isfinite(value):
        raise PriorError("table", value, "is not a probability", "end each row with a number between 0 and 1")
    return float(value)


def _row(names: tuple[str, ...]) -> str:
    return f"write one value for each of {', '.join(names)}, and in a table the probability last"
