"""Pledges as the ledger keeps them: what each release promised, so that several can be added up later."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from guessproof.errors import LedgerError, MetricError
from guessproof.exposure.aim import Pledge
from guessproof.names import likeness
from guessproof.world.line_form import LineForm
from guessproof.world.line_metric import LineMetric
from guessproof.world.metrics import Discrete, Matrix, Metric, Multiple, Outcome, Sum


def times(pledge: Pledge, epsilon: float, step: float = 0.0) -> Pledge:
    """A pledge at a given ε; `step` is what rounding adds between any two different values."""
    columns: dict[str, Metric] = {n: _plus_step(Multiple(epsilon, m), step) for n, m in pledge.columns.items()}
    lines = {n: LineMetric(_stepped(m.form.times(epsilon), step)) for n, m in pledge.lines.items()}
    steep = None if pledge.euclidean is None else pledge.euclidean * epsilon
    return Pledge(columns, lines, pledge.limit * epsilon + step, steep, pledge.error * epsilon + step)


def added(pledges: Sequence[Pledge]) -> Pledge:
    """Several releases: metrics add. A column that a release does not touch adds nothing."""
    names = sorted({n for p in pledges for n in p.columns})
    numbers = [n for n in names if all(n in p.lines or n not in p.columns for p in pledges)]
    columns: dict[str, Metric] = {}
    for name in names:
        columns[name] = _together([p.columns[name] for p in pledges if name in p.columns])
    lines = {n: LineMetric(_lines([p.lines[n].form for p in pledges if n in p.lines])) for n in numbers}
    slopes = [p.euclidean for p in pledges]
    steep = None if None in slopes else math.fsum(float(s or 0.0) for s in slopes)
    return Pledge(columns, lines, math.fsum(p.limit for p in pledges), steep, math.fsum(p.error for p in pledges))


def pledge_to_dict(pledge: Pledge) -> dict[str, Any]:
    """Ready for JSON."""
    return {
        "columns": {n: metric_to_dict(m) for n, m in pledge.columns.items()},
        "lines": {n: m.to_dict() for n, m in pledge.lines.items()},
        "limit": pledge.limit,
        "euclidean": pledge.euclidean,
        "error": pledge.error,
    }


def pledge_from(guarantees: Sequence[Mapping[str, Any]], names: Collection[str] = ()) -> Pledge:
    """What all releases of a ledger promise together, about columns that are spelled as in `names`.

    Each plan spelled its columns in its own way. What looks like one column counts as one: that adds more, never less.
    """
    try:
        total = added([_folded(_pledge(g)) for g in guarantees])
    except (KeyError, TypeError, ValueError, MetricError):
        raise LedgerError("a guarantee in the ledger is not understood; was it written by another program?") from None
    spelled = {key: [n for n in names if likeness(n) == key] or [key] for key in total.columns}
    columns = {n: m for key, m in total.columns.items() for n in spelled[key]}
    lines = {n: m for key, m in total.lines.items() for n in spelled[key]}
    return replace(total, columns=columns, lines=lines)


def _folded(pledge: Pledge) -> Pledge:
    """The same with one name for all spellings of a column."""
    groups: dict[str, list[str]] = {}
    for name in pledge.columns:
        groups.setdefault(likeness(name), []).append(name)
    columns = {key: _together([pledge.columns[n] for n in group]) for key, group in groups.items()}
    lines = {
        key: pledge.lines[group[0]] if len(group) == 1 else LineMetric(_lines([pledge.lines[n].form for n in group]))
        for key, group in groups.items()
        if all(n in pledge.lines for n in group)
    }
    return replace(pledge, columns=columns, lines=lines)


def _pledge(table: Mapping[str, Any]) -> Pledge:
    columns = {n: metric_from_dict(m) for n, m in table["columns"].items()}
    lines = {n: LineMetric.from_dict(m) for n, m in table["lines"].items()}
    steep = table["euclidean"]
    return Pledge(columns, lines, float(table["limit"]), None if steep is None else float(steep), float(table["error"]))


def metric_to_dict(metric: Metric) -> dict[str, Any]:
    """A metric as plain data.

    >>> metric_to_dict(2.0 * Discrete())
    {'times': 2.0, 'of': {'any': 1.0}}
    """
    match metric:
        case Multiple(factor, inner):
            return {"times": factor, "of": metric_to_dict(inner)}
        case Sum(parts):
            return {"sum": [metric_to_dict(p) for p in parts]}
        case LineMetric():
            return {"line": metric.to_dict()}
        case Matrix():
            return {"levels": [str(v) for v in metric.values], "distances": metric.distances.tolist()}
        case Outcome():
            return {"inside": [[_end(a), _end(b)] for a, b in metric.intervals]}
        case Discrete():
            return {"any": 1.0}
        case _:
            raise MetricError("metric", metric, "cannot be kept in a ledger", "use a metric that a query gives rise to")


def metric_from_dict(table: Mapping[str, Any]) -> Metric:
    """The metric that was written; nothing is executed."""
    match dict(table):
        case {"times": factor, "of": inner}:
            return Multiple(float(factor), metric_from_dict(inner))
        case {"sum": parts}:
            return Sum(tuple(metric_from_dict(p) for p in parts))
        case {"line": form}:
            return LineMetric.from_dict(form)
        case {"levels": levels, "distances": distances}:
            return Matrix([str(v) for v in levels], distances)
        case {"inside": intervals}:
            return Outcome(*((_back(a, -math.inf), _back(b, math.inf)) for a, b in intervals))
        case {"any": _}:
            return Discrete()
        case _:
            raise MetricError("metric", table, "is not understood", "it must have been written by guessproof")


def _together(parts: Sequence[Metric]) -> Metric:
    return parts[0] if len(parts) == 1 else Sum(tuple(parts))


def _end(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _back(value: float | None, infinite: float) -> float:
    return infinite if value is None else float(value)


def _plus_step(metric: Metric, step: float) -> Metric:
    return Sum((metric, Multiple(step, Discrete()))) if step else metric


def _stepped(form: LineForm, step: float) -> LineForm:
    return LineForm(form.cuts, form.slopes, form.jumps, form.step + step, form.cap)


def _lines(forms: Sequence[LineForm]) -> LineForm:
    """The sum, caps left out."""
    total = LineForm()
    for form in forms:
        found = total.plus(LineForm(form.cuts, form.slopes, form.jumps, form.step))
        assert found is not None
        total = found
    return total
