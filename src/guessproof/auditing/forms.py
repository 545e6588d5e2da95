"""Every form in which a guarantee is printed, kept or used: what each allows for one change of one record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from guessproof.errors import GuessproofError
from guessproof.guarantee import Guarantee
from guessproof.world.line_form import Metric

Values = Mapping[str, Any]


def forms(guarantee: Guarantee, before: Values, after: Values) -> Iterator[tuple[str, float]]:
    """(form, most) for a change of these columns, each to a value that is there; forms that say nothing are left out.

    A column that a guarantee does not name is one that it says nothing can be learnt of.
    """
    moved = [n for n in before if before[n] != after[n]]
    if any(before[n] is None or after[n] is None for n in moved):
        return
    apart = {n: _distance(guarantee.columns.get(n), before[n], after[n]) for n in moved}
    if None not in apart.values():
        yield "column by column", math.fsum(d for d in apart.values() if d is not None)
    along = {
        n: _distance(guarantee.lines.get(n), before[n], after[n]) if n in guarantee.lines else apart[n] for n in moved
    }
    if any(n in guarantee.lines for n in moved) and None not in along.values():
        yield "on the line", math.fsum(d for d in along.values() if d is not None)
    if guarantee.slope is not None and all(isinstance(before[n], float) for n in moved):
        far = math.hypot(*(before[n] - after[n] for n in moved))
        yield "straight-line", guarantee.slope * far + guarantee.rounding


def _distance(metric: Metric | None, before: Any, after: Any) -> float | None:
    """How far two values are apart; None where the metric does not know one of them."""
    if metric is None:
        return 0.0
    try:
        found = metric.distance(np.asarray(before, dtype=_kind(before)), np.asarray(after, dtype=_kind(after)))
        return float(np.asarray(found))
    except (GuessproofError, TypeError, ValueError):
        return None


def _kind(value: Any) -> Any:
    return float if isinstance(value, float) else object
