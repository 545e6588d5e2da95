"""What a bound on a person's rows likely cuts off: from what is declared, never from the table.

Noise is on both sides and is stated exactly; what lies beyond a bound is lost on one side, and how much that is depends
on the data. So it is worked out on persons drawn from the declared numbers of rows and the declared priors, always the
same ones, as if every row passed the filters. Where nothing is declared nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from guessproof.sql.measurement import Measurement, OncePresent
from guessproof.sql.rules.values import NumberColumn
from guessproof.world.attributes import Attribute
from guessproof.world.finite import Finite
from guessproof.world.line import LinePrior

if TYPE_CHECKING:
    from guessproof.choosing.choice import Choice

PERSONS, MOST_ROWS = 20_000, 2_000_000


def likely_bias(choice: Choice) -> dict[str, float | None]:
    """For each output that a bound can cut the share of it that is likely lost; None where that cannot be said."""
    found: dict[str, float | None] = {}
    for output in choice.asked.outputs:
        measurement = choice.asked.measurements[output.measured[0]] if output.measured else None
        if measurement is None or measurement.total is None or not _is_cut(measurement):
            continue
        each, nested = choice.plan.data.rows_each, any(part.query.inner is not None for part in choice.asked.parts)
        if nested and measurement.kind == "count":  # each person once
            continue
        if each is not None and not nested and all(rows <= (choice.plan.data.max_rows or 1) for rows, _ in each):
            found[output.name] = 0.0  # nobody has more rows than may count
            continue
        told = output.is_plain and each is not None and not nested
        found[output.name] = _lost(measurement, each or (), choice.plan.attributes()) if told else None
    return found


def describe_bias(lost: float | None) -> str:
    """What is likely lost, in words."""
    if lost is None:
        return "cannot be said: declare rows_each and the column's prior, or pay for it: guessproof bounds"
    return "nothing, by what is declared" if lost == 0 else f"about {100 * lost:.2g} % of it, by what is declared"


def _is_cut(measurement: Measurement) -> bool:
    """An extreme is never cut, and one who counts once counts."""
    return measurement.kind in ("count", "sum") and not isinstance(measurement.contribution.term, OncePresent)


def _lost(
    measurement: Measurement, each: tuple[tuple[int, float], ...], attributes: Mapping[str, Attribute]
) -> float | None:
    rows = np.array([number for number, _ in each], dtype=float)
    shares = np.array([share for _, share in each])
    total = measurement.total
    assert total is not None
    if measurement.kind == "count":
        most = total.presence
        return float(shares @ np.maximum(rows - most, 0.0) / (shares @ rows))
    term = measurement.contribution.term
    attribute = attributes.get(term.column.name) if isinstance(term, NumberColumn) else None
    if attribute is None or not isinstance(term, NumberColumn):
        return None
    drawn = np.random.default_rng(0)
    persons = int(min(PERSONS, MOST_ROWS / max(float(shares @ rows), 1.0)))
    counts = drawn.choice(rows.astype(int), size=persons, p=shares / shares.sum())
    values = _draw(attribute.prior, int(counts.sum()), drawn)
    if values is None:
        return None
    sums = np.add.reduceat(np.clip(values, term.low, term.high), np.append(0, np.cumsum(counts)[:-1]))
    ends = (-total.most, total.most) if total.most is not None else (total.low, total.high)
    size = float(np.abs(sums).sum())
    return float(np.abs(sums - np.clip(sums, *ends)).sum() / size) if size else 0.0


def _draw(prior: Any, count: int, drawn: np.random.Generator) -> Any:
    if isinstance(prior, Finite) and prior.is_line:
        return drawn.choice(np.asarray(prior.points, dtype=float), size=count, p=np.asarray(prior.weights))
    return np.asarray(prior.quantile(drawn.random(count)), dtype=float) if isinstance(prior, LinePrior) else None
