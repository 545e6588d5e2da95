"""The columns of a plan: values of each that are worth trying, and the types in which a table may store them."""

from __future__ import annotations

import datetime
import itertools
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import duckdb
import numpy as np

from guessproof.addresses import is_elsewhere
from guessproof.engines import open_engine
from guessproof.errors import SourceError
from guessproof.plan import Plan
from guessproof.sql import AnalyzedQuery
from guessproof.sql.declared import is_believed
from guessproof.sql.rules.matching import Like
from guessproof.sql.terms import Node
from guessproof.world import Finite, LinePrior, label_of, moment_of

TEXT = "VARCHAR"
NUMBERS = ("DOUBLE", TEXT, "FLOAT", "DECIMAL(38,9)", "BIGINT")
LABELS = (TEXT, "VARCHAR COLLATE NOCASE", "VARCHAR COLLATE NOACCENT", "ENUM", "BOOLEAN", "DOUBLE", "BIGINT", "DATE")
TIMES = ("TIMESTAMP", TEXT, "DATE")

Row = dict[str, Any]
ROW = "guessproof_row"  # the only column of a table whose rows are merely counted
UNIT_ROWS = "guessproof_unit_rows"  # where a unit has several rows, a made-up row stands for this many equal ones
MOST_NAMED = 6  # values of a column in one line
OTHER = "some other, with a comma"  # a label that nobody declared, and that a careless CSV would tear in two


@dataclass(frozen=True)
class Field:
    """A column: what it holds, whether it is the victim's secret, and values to try, the most extreme first."""

    name: str
    kind: str
    secret: bool
    missing: bool
    values: tuple[Any, ...]
    is_key: bool = False

    def to_stored(self, value: Any) -> Any:
        """A value as the plan writes it: a number, or the text of a label. The table's own types come later."""
        if value is None:
            return None
        if self.kind == "number":
            return float(value)
        if self.kind == "time" and is_believed(value):
            return moment_of(float(value)).isoformat(sep=" ")
        return label_of(value)


def fields_of(plan: Plan, question: AnalyzedQuery) -> dict[str, Field]:
    """Every column that the plan declares or the query reads."""
    declared, told = question.declared, question.kinds
    keys = {key.column: key for key in question.keys}
    nodes = list(question.nodes)
    found: dict[str, Field] = {}
    for name in sorted({declared.column(n).name for n in (*plan.columns, *question.columns)}):
        column = declared.column(name)
        kind = told.get(name) or column.kind or "label"
        if name in keys and not keys[name].is_found:
            values: Iterable[Any] = keys[name].levels if column.edges is None else _bin_values(column.edges)
        elif kind == "number":
            values = _numbers(plan, name, column.bounds, nodes)
        elif kind == "time" and (column.bounds is not None or name in plan.attributes()):
            days = _numbers(plan, name, column.bounds, nodes)
            values = (*days, *map(math.floor, days))  # midnights too, which a DATE can hold
        elif kind == "truth":
            values = (*(column.levels or (*column.trues[:1], *column.falses[:1])), OTHER)
        else:
            values = _labels(plan, name, column.levels, nodes, kind)
        blank = Field(name, kind, column.protected and name not in keys, column.missing, ())
        listed = tuple(dict.fromkeys(blank.to_stored(v) for v in values))
        found[name] = Field(name, kind, blank.secret, column.missing, listed, name in keys)
    unit = declared.unit
    if unit.identity is not None:
        found.pop(declared.column(unit.identity).name, None)
        found[UNIT_ROWS] = Field(UNIT_ROWS, "number", True, False, tuple(map(float, unit.row_counts)))
    return found or {ROW: Field(ROW, "label", False, False, ("x",))}


def count_rows(row: Row) -> int:
    """For how many equal rows of one unit a made-up row stands."""
    number = row.get(UNIT_ROWS)
    return int(number) if number is not None and math.isfinite(number) else 1


def _numbers(plan: Plan, name: str, bounds: tuple[float, float] | None, nodes: list[Node]) -> list[float]:
    """Beyond the bounds first: what a query that forgets to clamp would show."""
    found: list[float] = []
    if bounds is not None:
        low, high = bounds
        width = (high - low) or 1.0
        found += [high + width, low - width, high, low, low + width / 3, low + 2 * width / 3]
    cuts = sorted({c for node in nodes for c in node.cuts(name) if math.isfinite(c)})
    for cut in cuts:
        found += [cut, math.nextafter(cut, math.inf), cut + 1.0, cut - 1.0]
    found += [(a + b) / 2 for a, b in itertools.pairwise(cuts)]
    column = plan.columns.get(name)
    found += [float(v) for v in (column.levels if column and column.levels else ()) if not isinstance(v, str)]
    attribute = plan.attributes().get(name)
    prior = None if attribute is None else attribute.prior
    if isinstance(prior, Finite):
        found += [float(v) for v in prior.points]
    elif isinstance(prior, LinePrior):
        found += [float(v) for v in prior.quantile(np.array([0.01, 0.25, 0.5, 0.75, 0.99]))]
    return [v for v in found or [0.0, 1.0, 10.0] if math.isfinite(v)]


def _bin_values(edges: tuple[float, ...]) -> list[float]:
    """Both ends of each bin: a number at an edge belongs to the upper one, but for the last."""
    return [e for a, b in itertools.pairwise(edges) for e in (a, math.nextafter(b, -math.inf))] + [edges[-1]]


def _labels(plan: Plan, name: str, levels: tuple[str, ...] | None, nodes: list[Node], kind: str) -> list[Any]:
    found: list[Any] = list(levels or ())
    for node in nodes:
        if name not in node.columns:
            continue
        named = getattr(node, "value", None)
        found += [named] if isinstance(named, str) else []
        found += [named.isoformat(sep=" ")] if isinstance(named, datetime.datetime) else []
        found += sorted(str(v) for v in getattr(node, "values", ()))
        if isinstance(node, Like):
            found += [node.pattern.replace("%", ""), node.pattern.replace("%", "x").replace("_", "y")]
    if kind == "time":
        return [t for text in found for t in _times(text)] or _times("2020-01-01")
    return [v.replace("_", "y") if isinstance(v, str) and "%" in v else v for v in found] + [OTHER]


def _times(text: str) -> list[str]:
    """A time and its neighbours, written like it."""
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return []
    show = (lambda m: m.date().isoformat()) if len(text) <= 10 else (lambda m: m.isoformat(sep=text[10]))
    return [text, *(show(moment + datetime.timedelta(days=d)) for d in (-1, 1, 40))]


@dataclass(frozen=True)
class Storage:
    """Types of a table's columns, and for each column the values that such a column can hold as they are meant."""

    types: Mapping[str, str]
    values: Mapping[str, tuple[Any, ...]]
    is_sources: bool  # whether these are the types of the plan's own source

    @property
    def shown(self) -> str:
        """In words, without the labels of a list."""
        return ", ".join(f"{name} {kind.split('(')[0]}" for name, kind in sorted(self.types.items()))

    @property
    def compared(self) -> str:
        """The same with the values that were stored, the first of them."""
        return "; ".join(
            f"{name} {kind.split('(')[0]}: {', '.join(repr(v) for v in self.values[name][:MOST_NAMED])}"
            + (", …" if len(self.values[name]) > MOST_NAMED else "")
            for name, kind in sorted(self.types.items())
        )


def stored_types(plan: Plan) -> Mapping[str, str] | None:
    """The types of the source's columns, by folded name; None where it is absent or has none. Reads no values."""
    source = plan.source
    if (
        not isinstance(source, str)
        or is_elsewhere(source)
        or source.lower().removesuffix(".gz").endswith((".csv", ".tsv"))
    ):
        return None
    try:
        with open_engine(source, plan.data.table) as engine:
            return {name.casefold(): stored for name, stored in engine.stored().items()}
    except SourceError:
        return None


def natural(field: Field) -> str:
    """What a column is stored as when nothing is known of it."""
    return {"number": "DOUBLE", "time": "TIMESTAMP"}.get(field.kind, TEXT)


def own_types(fields: Mapping[str, Field], known: Mapping[str, str] | None) -> dict[str, str]:
    """The types of the tables on which the attacker is played.

    They are the source's own for columns of labels, where those hold every label as it is spelt. Numbers and times are
    drawn from priors that know nothing of digits: they are stored whole, and other types are left to `storages`.
    """
    found: dict[str, str] = {}
    for name, field in fields.items():
        stored = (known or {}).get(name.casefold())
        fits = stored is not None and field.kind in ("label", "truth") and _keeps_spelling(stored, field.values)
        found[name] = _spell_type(stored, field.values) if stored is not None and fits else natural(field)
    return found


def _keeps_spelling(kind: str, values: Sequence[Any]) -> bool:
    if kind == "ENUM":
        return True
    plain = kind.split(" COLLATE ", maxsplit=1)[0]
    return len(_passing(f"TRY_CAST(TRY_CAST(v AS {plain}) AS {TEXT}) = v", TEXT, list(values))) == len(values)


def storages(fields: Mapping[str, Field], known: Mapping[str, str] | None) -> list[Storage]:
    """The source's own storage; without one, rounds in which every column is stored in each way that it may be."""
    wanted = {name: list_values(field) for name, field in fields.items()}
    options: dict[str, list[tuple[str, tuple[Any, ...]]]] = {}
    for name, field in fields.items():
        stored = (known or {}).get(name.casefold())
        choices = _choices(field) if known is None else [stored or natural(field)]
        held = [(kind, _can_hold(kind, field, wanted[name])) for kind in choices]
        is_own = known is not None  # the source's own type is played on if it holds anything: a release may refuse it
        kept = [(_spell_type(kind, v), v) for kind, v in held if _holds_some(field, v) or (is_own and v)]
        options[name] = kept or [(natural(field), wanted[name])]
    rounds = max((len(found) for found in options.values()), default=1)
    return [
        Storage(
            {n: found[turn % len(found)][0] for n, found in options.items()},
            {n: found[turn % len(found)][1] for n, found in options.items()},
            known is not None,
        )
        for turn in range(rounds)
    ]


def list_values(field: Field) -> tuple[Any, ...]:
    """The values of a column and, for labels, other spellings of them: letters, accents, spaces."""
    if field.kind in ("number", "time"):
        return field.values
    others = [spelt for value in field.values for spelt in respell(str(value))]
    return tuple(dict.fromkeys([*field.values, *others]))


def respell(label: str) -> list[str]:
    """The same word to a careless reader.

    >>> respell("a")
    ['A', 'á', 'a ', ' a']
    """
    accent = next((i for i, c in enumerate(label) if c.isalpha() and c.isascii()), None)
    accented = "" if accent is None else label[: accent + 1] + "\u0301" + label[accent + 1 :]
    plain = "".join(c for c in unicodedata.normalize("NFD", label) if not unicodedata.combining(c))
    found = [label.upper(), label.lower(), label.capitalize(), unicodedata.normalize("NFC", accented), plain]
    return [f for f in dict.fromkeys([*found, label + " ", " " + label]) if f not in (label, "")]


def _choices(field: Field) -> Sequence[str]:
    return NUMBERS if field.kind == "number" else TIMES if field.kind == "time" else LABELS


def _holds_some(field: Field, values: tuple[Any, ...]) -> bool:
    """Whether a type is worth playing on: it tells at least two of the plan's own values apart."""
    return sum(1 for value in field.values if value in values) >= min(2, len(field.values))


def _spell_type(kind: str, values: Sequence[Any]) -> str:
    """A type as it is written; a list of labels holds those that are played with, not the source's."""
    if kind != "ENUM":
        return kind
    return f"ENUM({', '.join(quote_text(str(value)) for value in dict.fromkeys(values))})"


def _can_hold(kind: str, field: Field, values: Sequence[Any]) -> tuple[Any, ...]:
    """The values that a column of this type holds: numbers without loss, labels if the database reads them at all."""
    if kind == "ENUM":
        return tuple(values)
    plain = kind.split(" COLLATE ", maxsplit=1)[0]
    cast = f"TRY_CAST(v AS {plain})"
    if field.kind == "time":
        return _passing(f"TRY_CAST({cast} AS TIMESTAMP) = TRY_CAST(v AS TIMESTAMP)", TEXT, [str(v) for v in values])
    if field.kind != "number":
        return _stored_labels(plain, [str(v) for v in values])
    return _passing(f"TRY_CAST({cast} AS DOUBLE) = v", "DOUBLE", [v for v in values if not math.isnan(v)])


def _stored_labels(kind: str, values: list[str]) -> tuple[str, ...]:
    """The labels that a column of this type holds once these texts are in it: '1 ' is the number 1 there."""
    try:
        sql = f"SELECT TRY_CAST(v AS {kind}) FROM (SELECT UNNEST(CAST(? AS {TEXT}[])) AS v)"  # noqa: S608
        stored = [value for (value,) in scratch().execute(sql, [values]).fetchall()] if values else []
    except duckdb.Error:
        return ()
    return tuple(dict.fromkeys(label_of(value) for value in stored if value is not None))


def _passing(test: str, kind: str, values: list[Any]) -> tuple[Any, ...]:
    """The values v for which a test holds in DuckDB; none where the type is one that nothing can be written into."""
    try:
        sql = f"SELECT {test} FROM (SELECT UNNEST(CAST(? AS {kind}[])) AS v)"  # noqa: S608
        held = scratch().execute(sql, [values]).fetchall() if values else []
    except duckdb.Error:
        return ()
    return tuple(value for value, (fits,) in zip(values, held, strict=True) if fits)


@cache
def scratch() -> duckdb.DuckDBPyConnection:
    """DuckDB without any table: for what its types can hold, and for writing made-up tables elsewhere."""
    return duckdb.connect(":memory:")


def quote_text(value: str) -> str:
    """A text in SQL."""
    return "'" + value.replace("'", "''") + "'"
