"""Many variants of a record in one table, each beside the same others: one query asks all of them, by one more key."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from guessproof.engines import Engine
from guessproof.releasing import prepare_query
from guessproof.sql import AnalyzedQuery, Measurement
from guessproof.sql.formula import Key

EXPONENT = -16
UNIT = 2.0**EXPONENT
Row = dict[str, Any]
Told = dict[tuple[str, ...], list[tuple[int | None, int | None]]]  # by group: a number and a count for each measurement


@dataclass(frozen=True)
class Variants:
    """Rows as Python has them: neighbours in pairs (2i and 2i + 1), and the others that stand beside each."""

    variants: list[Row]
    others: list[Row]

    @property
    def levels(self) -> tuple[str, ...]:
        """How the variants are called; the last one holds nobody but the others."""
        return tuple(f"v{i}" for i in range(len(self.variants) + 1))


def list_rows(variants: Sequence[Any], others: Sequence[Any]) -> list[tuple[str, Any]]:
    """Every row of the table, with the name of its variant."""
    everyone = [(f"v{i}", row) for i, variant in enumerate(variants) for row in (*others, variant)]
    return everyone + [(f"v{len(variants)}", row) for row in others]


def ask_variants(engine: Engine, question: AnalyzedQuery, levels: Sequence[str]) -> list[Told]:
    """What the engine says of each variant, in whole numbers."""
    several = replace(question, keys=(Key("variant", "variant", tuple(levels)), *question.keys))
    rewritten = prepare_query(engine, several, [EXPONENT] * len(question.measurements))
    found: Told = rewritten.run(engine.aggregates)
    return [{group[1:]: cells for group, cells in found.items() if group[0] == level} for level in levels]


def list_groups(question: AnalyzedQuery) -> list[tuple[str, ...]]:
    """Every declared group."""
    return list(itertools.product(*(key.levels for key in question.keys)))


def group_of(question: AnalyzedQuery, row: Row) -> tuple[Any, ...]:
    """The group of a row."""
    columns = [question.declared.column(key.column) for key in question.keys]
    return tuple(None if row[c.name] is None else c.label(row[c.name]) for c in columns)


def whole_number(measurement: Measurement, told: Told, index: int, group: tuple[str, ...]) -> float:
    """One number, in units of 2^EXPONENT."""
    found = told[group][index][0] if group in told else None
    return measurement.contribution.absent / UNIT if found is None else float(found)
