"""Counting over many batches, on one machine or on several, gives what counting all at once gives."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from guessproof.scanning.columns import MISSING, OUTSIDE, SPECIAL, ListedColumn
from guessproof.scanning.judged import Judged
from guessproof.scanning.tally import CellCounts, Classes, Groups, RowCounter, Top

LEVELS = 700  # more than the classes that groups are counted in


def judged() -> tuple[tuple[ListedColumn, ...], Judged]:
    column = ListedColumn("x", tuple(float(v) for v in range(LEVELS)), "number")
    upper = np.random.default_rng(1).permutation(np.linspace(0.01, 0.4, LEVELS))
    node = np.arange(LEVELS + SPECIAL)
    return (column,), Judged(("x",), (column,), (node,), (LEVELS,), upper * 0.99, upper, False, "")


def cut(whole: pa.RecordBatch, width: int) -> Iterator[pa.RecordBatch]:
    return (whole.slice(start, width) for start in range(0, whole.num_rows, width))


@pytest.mark.parametrize("machines", [1, 4])
def test_batches_add_up(machines: int) -> None:
    columns, table = judged()
    random = np.random.default_rng(2)
    x = random.integers(-5, LEVELS, 3000).astype(float)
    x[::97] = np.nan
    group = random.integers(0, 3, 3000)
    whole = pa.RecordBatch.from_pydict(
        {"x": pa.array(x), "g": pa.array([f"g{v}" for v in group]), "id": pa.array([f"r{i}" for i in range(3000)])}
    )
    groups = Groups("g", Classes.from_judged(table), 1)
    top = Top(15, np.append(table.upper, np.full(SPECIAL, -1.0)), ("x",), 2)
    counter = RowCounter(CellCounts(columns, table), groups, top)
    cells = counter.cells
    if machines == 1:
        for batch in cut(whole, 130):
            counter.add(batch)
    else:
        sent = pickle.dumps(counter)
        parts = [pickle.loads(sent).count(cut(part, 130)) for part in cut(whole, 3000 // machines)]
        assert sum(counter.merge(pickle.loads(pickle.dumps(part))) for part in parts) == 3000
    possible = (x >= 0) & ~np.isnan(x)
    assert cells.counts[:-SPECIAL].tolist() == np.bincount(x[possible].astype(int), minlength=LEVELS).tolist()
    assert cells.counts[LEVELS + MISSING] == np.isnan(x).sum()
    assert cells.counts[LEVELS + OUTSIDE] == (x < 0).sum()
    own = np.where(possible, table.upper[np.where(possible, x, 0).astype(int)], -1.0)
    order = np.argsort(-own, kind="stable")[:15]
    assert [kept[1] for kept in top.kept] == [f"r{i}" for i in order]
    assert [kept[2]["x"] for kept in top.kept] == x[order].tolist()
    for name, number in groups.names.items():
        mine = group == int(name[1:])
        counts = groups.counts[number]
        assert counts.sum() == mine.sum()
        total = own[mine & possible].sum()
        held = counts[:-SPECIAL]
        assert groups.classes.lower @ held <= total <= groups.classes.upper @ held
        assert groups.classes.upper @ held <= 1.02 * total
