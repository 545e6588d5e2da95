"""A guarantee as plain data, which a ledger keeps for as long as there are releases to add up.

Rules of compatibility. A written guarantee is never changed. Version 1 had no "version": its "limit" is `change`, its
"euclidean" is `slope`, its "error" is `rounding`, and its presence and unit stand beside it in the entry's
description. Version 3 is version 2 with "bells", what Gaussian noise told: its metrics hold but for a δ, so they are
not added to others. A guarantee without bells is written as version 2. A reader takes every version up to its own and
refuses later ones, since what it does not know might protect less. New keys may be added to a version only if leaving
them out is the safe reading.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from guessproof.errors import LedgerError, MetricError
from guessproof.guarantee.bells import Bell
from guessproof.guarantee.guarantee import Guarantee, total
from guessproof.guarantee.unit import VALUES, PrivacyUnit, unit_named
from guessproof.names import likeness
from guessproof.world import Binned, Discrete, LineMetric, Matrix, Metric, Multiple, Outcome, Sum

VERSION, PLAIN_VERSION = 3, 2


def guarantee_to_dict(guarantee: Guarantee) -> dict[str, Any]:
    """Ready for JSON."""
    return {
        "version": PLAIN_VERSION,
        "unit": guarantee.unit.name,
        "columns": {name: metric_to_dict(metric) for name, metric in guarantee.columns.items()},
        "lines": {name: metric.to_dict() for name, metric in guarantee.lines.items()},
        "change": guarantee.change,
        "presence": guarantee.presence,
        "slope": guarantee.slope,
        "rounding": guarantee.rounding,
        **({"linked": guarantee.linked} if guarantee.linked > 1 else {}),
    }


def with_bells(table: dict[str, Any], bells: Sequence[Bell]) -> dict[str, Any]:
    """The same with what Gaussian noise told."""
    return {**table, "version": VERSION, "bells": [bell.to_dict() for bell in bells]} if bells else table


def bells_of_dicts(tables: Sequence[Mapping[str, Any]], times: Sequence[int]) -> tuple[Bell, ...]:
    """What all releases with Gaussian noise told."""
    given = zip(tables, times, strict=True)
    return tuple(Bell.from_dict(bell, count) for table, count in given for bell in table.get("bells", ()))


def guarantee_from_dict(table: Mapping[str, Any]) -> Guarantee:
    """The guarantee that was written; nothing is executed."""
    try:
        return _read(table)
    except (KeyError, TypeError, ValueError, AttributeError, MetricError):
        raise LedgerError("a guarantee in the ledger is not understood; was it written by another program?") from None


def total_of_dicts(
    tables: Sequence[Mapping[str, Any]],
    names: Sequence[str] = (),
    times: Sequence[int] | None = None,
    linked: int = 1,
) -> Guarantee:
    """What all releases of a ledger promise together, about columns that are spelled as in `names`.

    Each plan spelled its columns in its own way. What looks like one column counts as one: that adds more, never less.
    `times` says how often each was given; left out: once. `linked`: up to so many records tell of each other, so also
    what the releases before told of the others counts.
    """
    parts = [_linked(guarantee_from_dict(table), names, linked).merged() for table in tables]
    counted = zip(parts, times or [1] * len(parts), strict=True)
    return total([part.repeated(count) for part, count in counted]).spelled(names)


def _linked(guarantee: Guarantee, names: Sequence[str], count: int) -> Guarantee:
    """What one release told of so many records. A column that it did not read may tell of them as well."""
    unread = [n for n in names if likeness(n) not in {likeness(known) for known in guarantee.columns}]
    return guarantee.linked_with(count, labels=unread)


def _read(table: Mapping[str, Any]) -> Guarantee:
    version = table.get("version", 1)
    if not isinstance(version, int) or version > VERSION:
        raise LedgerError(f"a guarantee in the ledger has version {version!r}; a later guessproof wrote it: upgrade")
    if (version > PLAIN_VERSION) != ("bells" in table):
        raise ValueError
    first = version == 1
    unit: PrivacyUnit = VALUES if first else unit_named(table["unit"])
    change = float(table["limit" if first else "change"])
    presence = change if first else float(table["presence"])
    slope = table["euclidean" if first else "slope"]
    columns = {str(name): metric_from_dict(metric) for name, metric in table["columns"].items()}
    lines = {str(name): LineMetric.from_dict(metric) for name, metric in table["lines"].items()}
    rounding = float(table["error" if first else "rounding"])
    linked = table.get("linked", 1)
    if not all(value >= 0 for value in (change, presence, rounding, slope or 0.0)):
        raise ValueError
    if not isinstance(linked, int) or linked < 1:
        raise ValueError
    steep = None if slope is None else float(slope)
    return Guarantee(unit, columns, lines, change, presence, steep, rounding, linked=linked)


def metric_to_dict(metric: Metric) -> dict[str, Any]:
    """A metric as plain data.

    >>> metric_to_dict(2.0 * Discrete())
    {'times': 2.0, 'of': {'any': 1.0}}
    """
    match metric:
        case Multiple(factor, inner):
            return {"times": factor, "of": metric_to_dict(inner)}
        case Sum(parts):
            return {"sum": [metric_to_dict(part) for part in parts]}
        case LineMetric():
            return {"line": metric.to_dict()}
        case Matrix():
            return {"levels": [str(v) for v in metric.values], "distances": metric.distances.tolist()}
        case Binned():
            return {"bins": metric.to_dict()}
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
            return Sum(tuple(metric_from_dict(part) for part in parts))
        case {"line": form}:
            return LineMetric.from_dict(form)
        case {"levels": levels, "distances": distances}:
            return Matrix([str(v) for v in levels], distances)
        case {"bins": bins}:
            return Binned.from_dict(bins)
        case {"inside": intervals}:
            return Outcome(*((_back(a, -math.inf), _back(b, math.inf)) for a, b in intervals))
        case {"any": _}:
            return Discrete()
        case _:
            raise MetricError("metric", table, "is not understood", "it must have been written by guessproof")


def _end(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _back(value: float | None, infinite: float) -> float:
    return infinite if value is None else float(value)
