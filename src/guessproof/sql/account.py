"""The guarantee in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from guessproof.rounded import up
from guessproof.sql.reach import reach
from guessproof.world.line_form import LineForm, LineMetric, Metric, Multiple
from guessproof.world.metrics import Matrix

if TYPE_CHECKING:
    from guessproof.sql.measurement import Measurement


def account(measurement: Measurement) -> str:
    """What one record can do to a number, and why.

    >>> from guessproof.sql.declared import Declared, DeclaredColumn
    >>> from guessproof.sql.question import ask
    >>> t = Declared("t", {"salary": DeclaredColumn("salary", bounds=(1000, 4000), missing=False)})
    >>> ask("SELECT SUM(salary) FROM t", t).measurements[0].account
    "SUM(salary): one person moves it by at most |x − x'|, at most 3000"
    """
    answer = measurement.per_answer
    if answer.unit.hides_presence:
        return (
            f"{measurement.text}: adding or removing one record moves it by at most {up(answer.presence)}, "
            f"changing one by at most {up(answer.change)}"
        )
    metrics = {n: m for n, m in measurement.guarantee.columns.items() if _matters(m)}
    largest = f"{up(answer.change)}{_hint(measurement)}"
    per = f" (over {measurement.divisor:g} rows or more, known to have a value)" if measurement.divisor != 1 else ""
    start = f"{measurement.text}: one person moves it by at most"
    if not metrics:
        return f"{start} {up(answer.change)}, when a value goes missing{per}"
    if not any(isinstance(m, LineMetric) and any(m.form.slopes) for m in metrics.values()):
        return f"{start} {largest}, when {' or '.join(metrics)} changes the outcome of a test{per}"
    parts = [_column(name, metric, measurement.divisor, len(metrics) == 1) for name, metric in metrics.items()]
    return f"{start} {' + '.join(parts)}, at most {largest}{per}"


def _matters(metric: Metric) -> bool:
    """Whether the column alone can move anything."""
    if isinstance(metric, Matrix):
        return bool(metric.distances.max())
    if isinstance(metric, Multiple):
        return metric.factor > 0
    assert isinstance(metric, LineMetric)
    return not metric.form.is_flat or metric.form.step > 0


def _hint(measurement: Measurement) -> str:
    """What it would help to know that no value is missing."""
    declared = measurement.declared
    complete = declared.complete()
    if complete == declared:
        return ""
    present = measurement.copies * reach(measurement.contribution, complete).change / measurement.divisor
    if measurement.per_answer.change <= present * (1 + 1e-9):
        return ""
    return f" ({up(present)} if no value can be missing: say missing = false)"


def _column(name: str, metric: Metric, divisor: float, alone: bool) -> str:
    if isinstance(metric, LineMetric):
        return _line(name, metric.form, divisor, alone)
    largest = metric.factor if isinstance(metric, Multiple) else 0.0
    largest = float(metric.distances.max()) if isinstance(metric, Matrix) else largest
    return f"{up(largest / divisor)} when {name} changes the outcome of a test"


def _line(name: str, form: LineForm, divisor: float, alone: bool) -> str:
    """x stands for the column where there is only one; otherwise each is called by its name."""
    slope, jump, step = max(form.slopes) / divisor, max(form.jumps, default=0.0) / divisor, form.step / divisor
    parts: list[str] = []
    if slope:
        moved = "|x − x'|" if alone else f"|{name} − {name}'|"
        parts.append(moved if math.isclose(slope, 1) else f"{up(slope)}·{moved}")
    if jump > 1e-9 * (slope + jump + step):
        parts.append(f"{up(jump)} where a test of {name} changes its outcome")
    if step > 1e-9 * (slope + jump + step):
        parts.append(f"{up(step)} for any change of {name}")
    return " + ".join(parts)
