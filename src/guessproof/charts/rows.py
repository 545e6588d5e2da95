"""The rows that a chart draws, carried along inside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt


def data_of(rows: Iterable[Mapping[str, Any]], **named: Any) -> Any:
    """Rows for a chart. Altair copies lists and what is in them with every layer and property, but no tuples.

    >>> data_of([{"x": 1}]).to_dict()
    {'values': [{'x': 1}]}
    """
    return alt.Data(values=tuple(rows), **named)
