"""Rows of the values that make queries fail, for a dry run: extremes, zeros, NaN, infinities, words, NULL.

They depend on the types of the columns alone. A query that fails on them could fail on the table after the charge,
and its failure would tell something; it is refused before. The reverse does not hold (a WHERE may hide every hostile
row), so the rules of `sql` must not lean on this.
"""

from __future__ import annotations

from collections.abc import Sequence

BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
FLOATS = ("nan", "inf", "-inf", "0", "-0.0", "1e-40", "1")
WORDS = ("x", "", "nan", "1e400", "-1", "0", "9" * 40, "'")
DAYS = ("infinity", "-infinity", "epoch")
EDGES = {"DATE": ("5881580-07-10", "0001-01-01"), "TIMESTAMP_NS": ("2262-04-11", "1677-09-22")}


def rows(types: Sequence[str]) -> str:
    """The rows of a VALUES list for columns of these types, as texts that the table casts, in several mixtures."""
    columns = [["NULL", *map(_quoted, _values(stored))] for stored in types]
    mixtures = [(row, shift) for shift in (0, 1, 3) for row in range(max(map(len, columns)))]
    return ", ".join(
        f"({', '.join(column[(row + shift * place) % len(column)] for place, column in enumerate(columns))})"
        for row, shift in mixtures
    )


def is_known(stored: str) -> bool:
    """Whether this module knows hard values of the type.

    >>> is_known("DECIMAL(18,2)"), is_known("STRUCT(a INTEGER)")
    (True, False)
    """
    return bool(_values(stored))


def _values(stored: str) -> Sequence[str]:
    """Values of one type that are hard to compute with.

    >>> _values("TINYINT")
    ('-128', '127', '0', '-1')
    """
    if bits := BITS.get(stored):
        return str(-(1 << bits - 1)), str((1 << bits - 1) - 1), "0", "-1"
    if bits := BITS.get(stored.removeprefix("U")):
        return "0", str((1 << bits) - 1)
    if stored.startswith("DECIMAL("):
        digits, places = map(int, stored[8:-1].split(","))
        most = "9" * (digits - places) + "." + "9" * places
        return most, "-" + most, "0"
    if stored in ("FLOAT", "DOUBLE"):
        most = "3.4e38" if stored == "FLOAT" else "1.7e308"
        return (*FLOATS, most, "-" + most)
    if stored.startswith(("DATE", "TIMESTAMP")):
        return *DAYS, *EDGES.get(stored, ("290000-12-31", "0001-01-01"))
    return {"VARCHAR": WORDS, "BOOLEAN": ("true", "false"), "TIME": ("00:00:00", "23:59:59")}.get(stored, ())


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
