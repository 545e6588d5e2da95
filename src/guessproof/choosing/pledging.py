"""What a whole release promises about one record, per unit of ε."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from guessproof.exposure import Pledge
from guessproof.sql import Measurement, Question
from guessproof.world.line_form import LineForm
from guessproof.world.line_metric import LineMetric
from guessproof.world.metrics import Discrete, Metric, Multiple, Sum

MOST_POINTS = 80


def pledge(question: Question, shares: Sequence[float]) -> Pledge:
    """What a release promises per unit of ε, of which each measurement has its share."""
    parts = [(s / (m.sensitivity * m.divisor), m) for s, m in zip(shares, question.measurements, strict=True)]
    moved = _moved_groups(question, parts)
    names = sorted({n for _, m in parts for n in m.guarantee.columns} | set(moved))
    columns = {
        n: _summed([(f, m.guarantee.columns[n]) for f, m in parts if n in m.guarantee.columns] + moved.get(n, []))
        for n in names
    }
    numbers = sorted({n for _, m in parts for n in m.guarantee.lines})
    numbers = [n for n in numbers if n not in moved]
    lines = {n: _lined([(f, m.guarantee.lines[n]) for f, m in parts if n in m.guarantee.lines]) for n in numbers}
    slopes = [m.guarantee.euclidean for _, m in parts]
    steep = None if None in slopes else math.fsum(f * float(s or 0.0) for (f, _), s in zip(parts, slopes, strict=True))
    error = math.fsum(f * m.guarantee.error for f, m in parts)
    limit = math.fsum(f * m.divisor * m.change for f, m in parts) * (1 + 1e-14)

    def between(before: Mapping[str, Any], after: Mapping[str, Any]) -> float:
        if all(before.get(key) == after.get(key) for key in moved):
            return math.fsum(f * m.guarantee.between(before, after) for f, m in parts)
        shown = [values for values in (before, after) if _is_shown(values, question)]
        return math.fsum(f * m.guarantee.alone(values) for f, m in parts for values in shown)

    alone = len(parts) == 1 and len(names) == 1  # nothing else that the attacker might be unsure of is read
    tight = frozenset(n for n, m in lines.items() if alone and _is_tight(n, m, between))
    return Pledge(columns, lines, limit, steep, error, tight, between)


def _is_shown(values: Mapping[str, Any], question: Question) -> bool:
    """Whether a record can be in a group of the answer: one whose key is no level is in none."""
    given = [(values[key.column], key.levels) for key in question.keys if key.column in values]
    return not any(value is None or (isinstance(value, str) and value not in levels) for value, levels in given)


def _moved_groups(question: Question, parts: list[tuple[float, Measurement]]) -> dict[str, list[tuple[float, Metric]]]:
    """A record whose key changes leaves one group and enters another: the whole change, whatever its key was."""
    keys = [k.column for k in question.keys if question.declared.column(k.column).protected]
    return {key: [(f * m.divisor * m.change, Discrete()) for f, m in parts] for key in keys}


def _is_tight(name: str, metric: LineMetric, between: Callable[[Mapping[str, Any], Mapping[str, Any]], float]) -> bool:
    """Whether a distance on the line is what the query does, at every cut, beside it and between."""
    cuts = [*metric.form.cuts]
    if not cuts:
        return False
    points = [cuts[0] - 1.0, *cuts, *(math.nextafter(c, math.inf) for c in cuts), cuts[-1] + 1.0]
    points += [(a + b) / 2 for a, b in itertools.pairwise(cuts)]
    if len(points) > MOST_POINTS:
        return False  # a curve cut into many pieces; whether it is met everywhere is not looked into
    for a, b in itertools.combinations(points, 2):
        moved = between({name: a}, {name: b})
        if abs(float(metric.distance(a, b)) - moved) > 1e-9 * (1e-3 + moved):
            return False
    return True


def _summed(parts: list[tuple[float, Metric]]) -> Metric:
    scaled = [Multiple(factor, metric) for factor, metric in parts]
    return scaled[0] if len(scaled) == 1 else Sum(tuple(scaled))


def _lined(parts: list[tuple[float, LineMetric]]) -> LineMetric:
    """The sum of distances on the line, caps left out where they would leave this form."""
    if len(parts) == 1:
        return LineMetric(parts[0][1].form.times(parts[0][0]))
    total = LineForm()
    for factor, metric in parts:
        form = metric.form
        added = total.plus(LineForm(form.cuts, form.slopes, form.jumps, form.step).times(factor))
        assert added is not None
        total = added
    return LineMetric(total)
