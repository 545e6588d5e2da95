"""The columns of a plan, and values of each that are worth trying: beyond bounds, at cuts, named by the query."""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from guessproof.plan import Plan
from guessproof.sql import AnalyzedQuery
from guessproof.sql.rules.matching import Like
from guessproof.sql.terms import Node
from guessproof.world.finite import Finite
from guessproof.world.kinds import label_of
from guessproof.world.line import LinePrior

Row = dict[str, Any]
ROW = "guessproof_row"  # the only column of a table whose rows are merely counted
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

    def stored(self, value: Any) -> Any:
        """A value as the plan writes it: a number, or the text of a label. The table's own types come later."""
        if value is None:
            return None
        if self.kind == "number":
            return float(value)
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
        if name in keys:
            values: Iterable[Any] = keys[name].levels
        elif kind == "number":
            values = _numbers(plan, name, column.bounds, nodes)
        elif kind == "truth":
            values = (*(column.levels or (*column.trues[:1], *column.falses[:1])), OTHER)
        else:
            values = _labels(plan, name, column.levels, nodes, kind)
        blank = Field(name, kind, column.protected and name not in keys, column.missing, ())
        listed = tuple(dict.fromkeys(blank.stored(v) for v in values))
        found[name] = Field(name, kind, blank.secret, column.missing, listed, name in keys)
    return found or {ROW: Field(ROW, "label", False, False, ("x",))}


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
