"""What an engine cannot do: one line each, with its reason. A check that begins to pass must lose its line.

The page on engines prints this table.
"""

from __future__ import annotations

from collections.abc import Mapping

_TEXTS = "the columns of a CSV file are texts: a plan or a query says what they hold"
_INSIDE = "it runs inside the process: there is no connection to cut"
# engine → check → reason
GAPS: Mapping[str, Mapping[str, str]] = {
    "csv": {"kinds": _TEXTS, "exact_sums": _TEXTS, "cut_connection": _INSIDE},
    "parquet": {"cut_connection": _INSIDE},
    "duckdb": {"cut_connection": _INSIDE},
    "frame": {"cut_connection": _INSIDE},
    "spark": {"exact_sums": "a plain SUM there has 64 bits and then fails; guessproof writes sums of DECIMAL(38, 0)"},
}
